/*-------------------------------------------------------------------------
 *
 * find_clusters.c
 *	  SQL functions that return clusters of near-duplicates.
 *
 * The rows of the elements that have a pair are collected (members.c) until the
 * clusters are known.  Clusters are numbered in the order of their first rows: two of them
 * may have an element in common, if rows are checked.
 *
 * If rows are checked (row_check.c), rows of one element need not be the same, so the
 * elements of another union-find are rows.  They are added in their order.  Each is
 * checked against the rows before it that have its fingerprint or one near it, but not
 * against those to which it is connected already.  To pass over these together, the
 * rows of a fingerprint are kept in bunches, whose rows are connected.  If all
 * rows of many equal fingerprints are the same, a row thus takes one check.  The root of
 * a cluster is its first row.  If all rows are checked, those of a component of elements
 * are taken together, as for duplicates.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "compat.h"
#include "dedup/call.h"
#include "dedup/members.h"
#include "dedup/progress.h"
#include "pairs/keys.h"
#include "pairs/temp_file.h"

/* in place of a number of a row: there is none */
#define NO_ROW		PG_UINT32_MAX

/* a row; they are numbered in their order */
typedef struct Row
{
	ShPairsRow	row;
	uint32		element;
	uint32		parent;			/* itself for a root */
	uint32		next;			/* of its bunch, or NO_ROW */
	uint32		next_bunch;		/* if it begins a bunch: the beginning of the
								 * next one of its element, or NO_ROW */
	uint32		size;			/* of a root: rows of its cluster */
	uint32		cluster;		/* of a root: its number */
} Row;

/* at most one of two rows is a listed root */
#define BYTES_PER_CLUSTERED		(sizeof(Row) + sizeof(uint32) / 2)

typedef struct RowClusters
{
	ShDupNeighbors *neighbors;
	ShDupRowCheck *check;
	uint32		count;
	Row		   *rows;
	uint32	   *bunches;		/* the first one of each element, or NO_ROW */

} RowClusters;

static uint32
find_root(RowClusters *clusters, uint32 number)
{
	Row		   *rows = clusters->rows;

	while (rows[number].parent != number)
	{
		rows[number].parent = rows[rows[number].parent].parent;
		number = rows[number].parent;
	}
	return number;
}

static void
join(RowClusters *clusters, uint32 a, uint32 b)
{
	uint32		a_root = find_root(clusters, a);
	uint32		b_root = find_root(clusters, b);
	uint32		root = Min(a_root, b_root);
	uint32		other = Max(a_root, b_root);

	clusters->rows[other].parent = root;
	clusters->rows[root].size += clusters->rows[other].size;
}

/*
 * Connect a row with the rows of a bunch if it is the same as any of them.
 */
static void
check_bunch(RowClusters *clusters, uint32 number, uint32 bunch)
{
	const Row  *rows = clusters->rows;

	if (find_root(clusters, bunch) == find_root(clusters, number))
		return;
	for (uint32 other = bunch; other != NO_ROW; other = rows[other].next)
	{
		if (shdup_check_rows(clusters->check, rows[number].row, rows[other].row))
		{
			join(clusters, number, other);
			return;
		}
	}
}

static void
check_element(RowClusters *clusters, uint32 number, uint32 element)
{
	for (uint32 bunch = clusters->bunches[element]; bunch != NO_ROW;
		 bunch = clusters->rows[bunch].next_bunch)
	{
		CHECK_FOR_INTERRUPTS();
		check_bunch(clusters, number, bunch);
	}
}

/*
 * Add a row to a bunch of its element that is connected to it, or begin one.
 */
static void
add_to_bunch(RowClusters *clusters, uint32 number)
{
	Row		   *row = &clusters->rows[number];
	uint32		root = find_root(clusters, number);

	for (uint32 bunch = clusters->bunches[row->element]; bunch != NO_ROW;
		 bunch = clusters->rows[bunch].next_bunch)
	{
		CHECK_FOR_INTERRUPTS();
		if (find_root(clusters, bunch) == root)
		{
			row->next = clusters->rows[bunch].next;
			clusters->rows[bunch].next = number;
			return;
		}
	}
	row->next_bunch = clusters->bunches[row->element];
	clusters->bunches[row->element] = number;
}

static void
add_clustered_row(RowClusters *clusters, ShPairsRow row, uint32 element)
{
	uint32		number = clusters->count++;
	const uint32 *neighbors;
	size_t		count = shdup_neighbors_of(clusters->neighbors, element, &neighbors);

	clusters->rows[number] = (Row)
	{
		.row = row,.element = element,.parent = number,.next = NO_ROW,.next_bunch = NO_ROW,.size = 1
	};
	check_element(clusters, number, element);
	for (size_t i = 0; i < count; i++)
	{
		shcompat_check_at(i);
		check_element(clusters, number, neighbors[i]);
	}
	add_to_bunch(clusters, number);
	shdup_progress_entries(clusters->count);
}

/* to sort roots by their rows */
#define ST_SORT sort_roots
#define ST_ELEMENT_TYPE uint32
#define ST_COMPARE(a, b, rows) ((rows)[*(a)].row < (rows)[*(b)].row ? -1 : 1)
#define ST_COMPARE_ARG_TYPE const Row
#define ST_CHECK_FOR_INTERRUPTS
#define ST_SCOPE static
#define ST_DECLARE
#define ST_DEFINE
#include "lib/sort_template.h"

/*
 * Number the clusters of several rows in the order of their first rows, after all rows
 * have been added.
 */
static void
number_row_clusters(RowClusters *clusters)
{
	Row		   *rows = clusters->rows;
	uint32		nroots = 0;
	uint32	   *roots = MemoryContextAllocHuge(CurrentMemoryContext,
											   (clusters->count / 2 + 1) * sizeof(uint32));

	for (uint32 i = 0; i < clusters->count; i++)
	{
		shcompat_check_at(i);
		if (rows[i].parent == i && rows[i].size > 1)
			roots[nroots++] = i;
	}
	sort_roots(roots, nroots, rows);
	for (uint32 i = 0; i < nroots; i++)
	{
		shcompat_check_at(i);
		rows[roots[i]].cluster = i + 1;
	}
	pfree(roots);
}

static void
check_memory(double nrows)
{
	double		bytes = nrows * BYTES_PER_CLUSTERED;

	if (bytes > maintenance_work_mem * 1024.0 || nrows >= NO_ROW)
		ereport(ERROR,
				(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
				 errmsg("%.0f rows with near-duplicates do not fit into maintenance_work_mem",
						nrows),
				 errhint("Increase maintenance_work_mem from %d kB to %.0f kB.",
						 maintenance_work_mem, bytes / 1024 + 1)));
}

/*
 * Find the clusters of sorted rows that are near each other, and number them.
 * Runs the functions of the condition.
 *
 * Raises ERRCODE_CONFIGURATION_LIMIT_EXCEEDED if the rows do not fit into
 * maintenance_work_mem.  Memory is allocated in the current context.
 */
static RowClusters *
make_clusters(ShDupNearRows *near, ShDupRowCheck *check)
{
	RowClusters *clusters = palloc0(sizeof(RowClusters));
	uint32		nelements = near->members.elements.count;
	ShPairsRow	row;
	uint32		element;

	check_memory(near->count);
	clusters->neighbors = &near->neighbors;
	clusters->check = check;
	clusters->rows = MemoryContextAllocHuge(CurrentMemoryContext,
											Max(near->count, 1) * sizeof(Row));
	clusters->bunches = MemoryContextAllocHuge(CurrentMemoryContext,
											   Max(nelements, 1) * sizeof(uint32));
	for (uint32 i = 0; i < nelements; i++)
	{
		shcompat_check_at(i);
		clusters->bunches[i] = NO_ROW;
	}
	shdup_progress_phase(SHDUP_PHASE_CHECK_ROWS, near->count);
	while (shdup_order_next(near->order, &row, &element))
	{
		add_clustered_row(clusters, row, element);
		shdup_check_release(check);
	}
	number_row_clusters(clusters);
	return clusters;
}

PG_FUNCTION_INFO_V1(simhash_find_clusters);
PG_FUNCTION_INFO_V1(simhash_find_clusters_in);
PG_FUNCTION_INFO_V1(simhash_find_clusters_in_bits);

/* the column of the fingerprint */
#define FP	2

static void
join_rows(ShDupMembers *members, uint32 a, uint32 b)
{
	ShDupUnionFind *elements = &members->elements;
	double		nearness;

	if (members->near == NULL ||
		(shdup_union_find_root(elements, a) != shdup_union_find_root(elements, b) &&
		 shdup_members_near(members, a, b, &nearness)))
		shdup_union_find_join(elements, a, b);
}

/* to sort elements by their values */
#define ST_SORT sort_by_value
#define ST_ELEMENT_TYPE uint32
#define ST_COMPARE(a, b, components) shdup_compare_elements(components, *(a), *(b))
#define ST_COMPARE_ARG_TYPE const ShDupUnionFind
#define ST_CHECK_FOR_INTERRUPTS
#define ST_SCOPE static
#define ST_DECLARE
#define ST_DEFINE
#include "lib/sort_template.h"

/* to sort clusters by their first rows */
#define ST_SORT sort_firsts
#define ST_ELEMENT_TYPE ShIdxSortItem
#define ST_COMPARE(a, b) ((a)->key < (b)->key ? -1 : (a)->key > (b)->key)
#define ST_CHECK_FOR_INTERRUPTS
#define ST_SCOPE static
#define ST_DECLARE
#define ST_DEFINE
#include "lib/sort_template.h"

/* with the place of a list of neighbors, and the first bunch of an element */
StaticAssertDecl(sizeof(ShIdxSortItem) + 2 * sizeof(uint32) <= SHDUP_BYTES_TO_USE,
				 "too much memory for each element");

/*
 * Number the clusters of elements in the order of their first rows.  The number of a root
 * becomes that of its cluster.  The members are read.
 */
static void
number_clusters(ShDupMembers *members)
{
	ShDupUnionFind *components = &members->elements;
	ShDupElement *elements = components->elements;
	uint32		nroots = 0;
	ShIdxSortItem *firsts;
	ShDupMember member;

	/* until they are sorted, the number of a root is the place of its first row */
	for (uint32 i = 0; i < components->count; i++)
	{
		shcompat_check_at(i);
		if (elements[i].parent == i && elements[i].size > 1)
			elements[i].number = nroots++;
	}
	firsts = MemoryContextAllocHuge(CurrentMemoryContext, Max(nroots, 1) * sizeof(ShIdxSortItem));
	for (uint32 i = 0; i < components->count; i++)
	{
		shcompat_check_at(i);
		if (elements[i].parent == i && elements[i].size > 1)
			firsts[elements[i].number] = shidx_sort_item(PG_UINT64_MAX, i);
	}
	while (shdup_members_next(members, &member))
	{
		const ShDupElement *root = &elements[shdup_union_find_root(components, member.element)];

		CHECK_FOR_INTERRUPTS();
		if (root->size > 1)
			firsts[root->number].key = Min(firsts[root->number].key, member.row);
	}
	sort_firsts(firsts, nroots);
	for (uint32 i = 0; i < nroots; i++)
	{
		shcompat_check_at(i);
		elements[firsts[i].value].number = i + 1;
	}
	pfree(firsts);
	shpairs_seek_file(members->file, 0);
}

/* returns rows of clusters */
typedef struct ClusterFinder
{
	ShDupCall	call;
	ShDupResult result;
} ClusterFinder;

/*
 * Return a row of a cluster.
 */
static void
return_row(ClusterFinder *finder, uint64 cluster, ShPairsRow row, ShFingerprint fp, int64 size)
{
	ItemPointerData tid;
	Datum		values[SHDUP_RESULT_COLUMNS];

	values[4] = ObjectIdGetDatum(shdup_name(&finder->call.heaps, row, &tid));
	values[0] = Int64GetDatum((int64) cluster);
	values[1] = PointerGetDatum(&tid);
	values[FP] = SimhashGetDatum(fp);
	values[3] = Int64GetDatum(size);
	shdup_result_add(&finder->result, values);
}

/*
 * Return the members of clusters of elements.
 */
static void
return_cluster_members(ClusterFinder *finder, ShDupMembers *members)
{
	ShDupUnionFind *components = &members->elements;
	const ShDupElement *elements = components->elements;
	ShDupMember member;
	double		nread = 0;

	shdup_progress_phase(SHDUP_PHASE_RETURN, 0);
	shpairs_seek_file(members->file, 0);
	shdup_union_find_sum(components);
	number_clusters(members);
	while (shdup_members_next(members, &member))
	{
		const ShDupElement *root = &elements[shdup_union_find_root(components,
																   member.element)];

		CHECK_FOR_INTERRUPTS();
		shdup_progress_entries(++nread);
		if (root->size > 1)
			return_row(finder, root->number, member.row, elements[member.element].fp, root->size);
	}
}

/*
 * Find and return clusters of elements.  Those of bands are asked whether they are near
 * unless they are connected already.
 */
static void
cluster_elements(ClusterFinder *finder)
{
	ShDupMembers members;

	shdup_members_begin(&members, &finder->call.lookup, shdup_most(&finder->call), 0,
						finder->call.check, join_rows);
	shdup_call_search(&finder->call, &members.sink);
	shdup_members_finish(&members);
	return_cluster_members(finder, &members);
	shdup_members_end(&members);
}

/*
 * Return the rows of clusters of rows.
 */
static void
return_rows(ClusterFinder *finder, const ShDupNearRows *near, RowClusters *clusters)
{
	const ShDupElement *elements = near->members.elements.elements;

	shdup_progress_phase(SHDUP_PHASE_RETURN, clusters->count);
	for (uint32 i = 0; i < clusters->count; i++)
	{
		const Row  *row = &clusters->rows[i];
		const Row  *root = &clusters->rows[find_root(clusters, i)];

		CHECK_FOR_INTERRUPTS();
		shdup_progress_entries(i + 1);
		if (root->size > 1)
			return_row(finder, root->cluster, row->row, elements[row->element].fp, root->size);
	}
}

/*
 * Find and return clusters of rows.
 */
static void
cluster_rows(ClusterFinder *finder)
{
	ShDupNearRows near;

	shdup_near_rows_begin(&near, &finder->call.lookup, shdup_most(&finder->call), 0,
						  finder->call.check, true, NULL);
	shdup_call_search(&finder->call, &near.members.sink);
	shdup_members_finish(&near.members);
	shdup_near_rows_sort(&near, true);
	return_rows(finder, &near, make_clusters(&near, finder->call.check));
	shdup_near_rows_end(&near);
}

/*
 * simhash_find_clusters(index regclass, distance int, similarity float8, same text) ->
 * the rows that the snapshot sees that have a near-duplicate, with the cluster they
 * belong to and its size.
 */
Datum
simhash_find_clusters(PG_FUNCTION_ARGS)
{
	static const ShDupSpec spec = {
		.command = SHDUP_FIND_CLUSTERS,.nindexes = 1,.distance = 2,.similarity = 3,.same = 4
	};
	ClusterFinder finder;

	if (!shdup_call_begin(&finder.call, fcinfo, &spec))
		return (Datum) 0;
	shdup_result_begin(&finder.result, finder.call.result);
	if (finder.call.width > 0 || finder.call.heaps.banded)
		shdup_result_set_null(&finder.result, FP);
	if (shdup_check_has_pairs(finder.call.check))
		cluster_rows(&finder);
	else
		cluster_elements(&finder);
	shdup_call_end(&finder.call);
	return (Datum) 0;
}

/* finds clusters of values */
typedef struct JoinSink
{
	ShPairsSink sink;
	ShDupUnionFind components;
} JoinSink;

/*
 * ShPairsSink.number
 */
static uint32
number_value(ShPairsSink *sink, const ShPairsElement *element, bool more)
{
	bool		is_new;

	return shdup_find_element(&((JoinSink *) sink)->components, element, &is_new);
}

/*
 * ShPairsSink.pairs
 */
static bool
join_values(ShPairsSink *sink, const ShPairsPair *pairs, size_t npairs)
{
	for (size_t i = 0; i < npairs; i++)
	{
		shdup_union_find_join(&((JoinSink *) sink)->components, pairs[i].a, pairs[i].b);
		shdup_progress_found();
	}
	return true;
}

/*
 * Return the values of the clusters, in their order, in which the clusters are numbered.
 */
static void
return_values(ShDupUnionFind *components, int width, ReturnSetInfo *info)
{
	ShDupElement *elements = components->elements;
	uint32	   *order;
	ShDupResult result;
	uint32		nclusters = 0;

	shdup_union_find_forget_keys(components);
	order = MemoryContextAllocHuge(CurrentMemoryContext,
								   Max(components->count, 1) * sizeof(uint32));
	shdup_result_begin(&result, info);
	shdup_progress_phase(SHDUP_PHASE_RETURN, components->count);
	for (uint32 i = 0; i < components->count; i++)
	{
		shcompat_check_at(i);
		elements[i].size = 1;
		order[i] = i;
	}
	shdup_union_find_sum(components);
	sort_by_value(order, components->count, components);

	for (uint32 i = 0; i < components->count; i++)
	{
		ShDupElement *root = &elements[shdup_union_find_root(components, order[i])];
		Datum		values[SHDUP_RESULT_COLUMNS];

		CHECK_FOR_INTERRUPTS();
		shdup_progress_entries(i + 1);
		if (root->number == 0)
			root->number = ++nclusters;
		values[0] = Int64GetDatum(root->number);
		values[1] = shdup_fp_datum(width, shdup_element_value(components, order[i]));
		values[2] = Int64GetDatum(root->size);
		shdup_result_add(&result, values);
	}
	pfree(order);
}

static Datum
find_clusters_in(FunctionCallInfo fcinfo, const ShDupSpec *spec)
{
	JoinSink	sink = {.sink = {.number = number_value,.pairs = join_values}};
	ShDupCall	call;

	if (!shdup_call_begin(&call, fcinfo, spec))
		return (Datum) 0;
	shdup_union_find_begin(&sink.components, SHDUP_VALUES, shdup_most(&call), shdup_nwords(&call),
						   false);
	shdup_call_search(&call, &sink.sink);
	return_values(&sink.components, call.width, call.result);
	shdup_call_end(&call);
	return (Datum) 0;
}

/*
 * simhash_find_clusters_in(fingerprints simhash[], distance int, blocks int) ->
 * the values in the array that have another one within distance bits, with the
 * cluster they belong to and its number of values.  The clusters are numbered in the
 * order of their smallest values.
 */
Datum
simhash_find_clusters_in(PG_FUNCTION_ARGS)
{
	static const ShDupSpec spec = {.command = SHDUP_FIND_CLUSTERS,.array = 1,.distance = 2,.blocks = 3};

	return find_clusters_in(fcinfo, &spec);
}

/*
 * simhash_find_clusters_in_bits(fingerprints simhash_bits[], distance int) -> the values
 * in the array that have another one within distance bits or, if that is null, within
 * less than an eighth of their bits, with the cluster they belong to and its number
 * of values, numbered in the same way.
 */
Datum
simhash_find_clusters_in_bits(PG_FUNCTION_ARGS)
{
	static const ShDupSpec spec = {.command = SHDUP_FIND_CLUSTERS,.array = 1,.wide = true,.distance = 2};

	return find_clusters_in(fcinfo, &spec);
}
