/*-------------------------------------------------------------------------
 *
 * find_clusters.c
 *	  SQL functions that return clusters of near-duplicates.
 *
 * The rows of the fingerprints that have a pair are collected (members.c) until the
 * clusters are known.  With a condition "same", two clusters may have a fingerprint
 * in common (row_clusters.c), so they are numbered in the order of their first rows.
 * So are those of wide fingerprints, which are too long for a number.
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
#include "pairs/collector.h"
#include "pairs/temp_file.h"
#include "type/simhash.h"
#include "type/wide.h"

PG_FUNCTION_INFO_V1(simhash_find_clusters);
PG_FUNCTION_INFO_V1(simhash_find_clusters_in);
PG_FUNCTION_INFO_V1(simhash_find_clusters_in_bits);

/* the column of the fingerprint */
#define FP	2

static void
join_rows(ShDupMembers *members, uint32 a, uint32 b)
{
	shdup_union_find_join(&members->elements, a, b);
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

/*
 * Number the clusters of wide fingerprints in the order of their first rows: these
 * numbers become the fingerprints of the roots, which were numbers of values.
 */
static void
number_clusters(ShDupMembers *members)
{
	ShDupUnionFind *components = &members->elements;
	ShDupElement *elements = components->elements;
	uint32	   *roots = MemoryContextAllocHuge(CurrentMemoryContext,
											   Max(components->count, 1) * sizeof(uint32));
	uint32		count = 0;
	ShDupMember member;

	for (uint32 i = 0; i < components->count; i++)
	{
		shcompat_check_at(i);
		elements[i].fp = PG_UINT64_MAX;
		if (elements[i].parent == i && elements[i].size > 1)
			roots[count++] = i;
	}
	while (shdup_members_next(members, &member))
	{
		ShDupElement *root = &elements[shdup_union_find_root(components, member.element)];

		CHECK_FOR_INTERRUPTS();
		root->fp = Min(root->fp, member.row);
	}
	sort_by_value(roots, count, components);
	for (uint32 i = 0; i < count; i++)
	{
		shcompat_check_at(i);
		elements[roots[i]].fp = i + 1;
	}
	pfree(roots);
	shpairs_rewind_file(members->file);
}

/*
 * Return the members of the clusters.
 */
static void
return_cluster_members(ShDupMembers *members, bool wide, ReturnSetInfo *info)
{
	ShDupUnionFind *components = &members->elements;
	const ShDupElement *elements = components->elements;
	ShDupResult result;
	ShDupMember member;
	double		nread = 0;

	shdup_result_begin(&result, info);
	if (wide)
		shdup_result_set_null(&result, FP);
	shdup_progress_phase(SHDUP_PHASE_RETURN, 0);
	shdup_union_find_sum(components);
	if (wide)
		number_clusters(members);
	while (shdup_members_next(members, &member))
	{
		const ShDupElement *root = &elements[shdup_union_find_root(components,
																   member.element)];
		ItemPointerData tid;
		Datum		values[5];

		CHECK_FOR_INTERRUPTS();
		shdup_progress_entries(++nread);
		if (root->size < 2 || (member.row & SHDUP_ODD) != 0)
			continue;
		values[4] = ObjectIdGetDatum(shdup_name(members->rows->heaps, member.row, &tid));
		values[0] = Int64GetDatum((int64) root->fp);
		values[1] = PointerGetDatum(&tid);
		values[2] = SimhashGetDatum(elements[member.element].fp);
		values[3] = Int64GetDatum(root->size);
		shdup_result_add(&result, values);
	}
}

/*
 * Find and return clusters by fingerprints.
 */
static void
cluster_by_fingerprints(ShDupCall *call)
{
	ShDupMembers members;

	shdup_members_begin(&members, &call->rows, shdup_most(call), 0, join_rows);
	shdup_search(call, &members.sink);
	shdup_members_finish(&members);
	return_cluster_members(&members, call->width > 0, call->result);
	shdup_members_end(&members);
}

/*
 * Return the rows of clusters.
 */
static void
return_rows(const ShDupNearRows *near, ShDupRowClusters *clusters, bool wide,
			ReturnSetInfo *info)
{
	ShDupResult result;
	ShDupClusterRow row;
	double		nreturned = 0;

	shdup_result_begin(&result, info);
	if (wide)
		shdup_result_set_null(&result, FP);
	shdup_progress_phase(SHDUP_PHASE_RETURN, near->count);
	while (shdup_row_clusters_next(clusters, &row))
	{
		ItemPointerData tid;
		Datum		values[5];

		CHECK_FOR_INTERRUPTS();
		shdup_progress_entries(++nreturned);
		values[4] = ObjectIdGetDatum(shdup_name(near->members.rows->heaps, row.row, &tid));
		values[0] = Int64GetDatum((int64) row.cluster);
		values[1] = PointerGetDatum(&tid);
		values[2] = SimhashGetDatum(near->members.elements.elements[row.element].fp);
		values[3] = Int64GetDatum(row.size);
		shdup_result_add(&result, values);
	}
}

/*
 * Find and return clusters of rows.
 *
 * If only the columns before the fingerprint decide, the clusters of rows that are not odd
 * are those of fingerprints, and rows that are odd are in no cluster with them.
 */
static void
cluster_rows(ShDupCall *call, ShDupRowCheck *check)
{
	bool		wide = call->width > 0;
	bool		odd_only = !wide && shdup_check_is_by_group(check);
	ShDupNearRows near;
	ShDupRowClusters *clusters;

	shdup_near_rows_begin(&near, &call->rows, shdup_most(call), 0, NULL);
	shdup_search(call, &near.members.sink);
	shdup_members_finish(&near.members);
	shdup_check_forget(check);
	if (odd_only || shdup_check_is_needless(check))
	{
		shdup_near_rows_join(&near);
		return_cluster_members(&near.members, wide, call->result);
	}
	if (!shdup_check_is_needless(check))
	{
		shdup_near_rows_sort(&near, odd_only);
		clusters = shdup_row_clusters_make(&near, check, odd_only);
		return_rows(&near, clusters, wide, call->result);
	}
	shdup_check_end(check);
	shdup_near_rows_end(&near);
}

/*
 * simhash_find_clusters(index regclass, distance int, same text, similarity float8) ->
 * the rows that the snapshot sees that have a near-duplicate, with the cluster they
 * belong to and its size.
 */
Datum
simhash_find_clusters(PG_FUNCTION_ARGS)
{
	ShDupCall	call;
	ShDupRowCheck *check;

	if (!shdup_begin_index(fcinfo, SHDUP_FIND_CLUSTERS, 3, &call))
		return (Datum) 0;
	check = shdup_begin_checks(&call, shdup_get_text(fcinfo, 2));
	if (check != NULL)
		cluster_rows(&call, check);
	else
		cluster_by_fingerprints(&call);
	shdup_end_heaps(&call);
	return (Datum) 0;
}

/* finds clusters of values */
typedef struct JoinSink
{
	ShPairsSink sink;
	ShDupUnionFind components;
} JoinSink;

static void
join_values(ShPairsSink *base, const ShPairsBucket *x, size_t i, const ShPairsBucket *y, size_t j)
{
	JoinSink   *sink = (JoinSink *) base;
	bool		is_new;
	uint32		a = shdup_find_element(&sink->components, x, i, &is_new);
	uint32		b = shdup_find_element(&sink->components, y, j, &is_new);

	shdup_union_find_join(&sink->components, a, b);
	shdup_progress_found();
}

/*
 * Return the values of the clusters.
 */
static void
return_cluster_values(JoinSink *sink, ReturnSetInfo *info)
{
	ShDupElement *elements = sink->components.elements;
	ShDupResult result;

	shdup_result_begin(&result, info);
	shdup_progress_phase(SHDUP_PHASE_RETURN, sink->components.count);
	for (uint32 i = 0; i < sink->components.count; i++)
	{
		shcompat_check_at(i);
		elements[i].size = 1;
	}
	shdup_union_find_sum(&sink->components);

	for (uint32 i = 0; i < sink->components.count; i++)
	{
		const ShDupElement *root = &elements[shdup_union_find_root(&sink->components, i)];
		Datum		values[3];

		CHECK_FOR_INTERRUPTS();
		shdup_progress_entries(i + 1);
		values[0] = Int64GetDatum((int64) root->fp);
		values[1] = SimhashGetDatum(elements[i].fp);
		values[2] = Int64GetDatum(root->size);
		shdup_result_add(&result, values);
	}
}

/*
 * simhash_find_clusters_in(fingerprints simhash[], distance int, blocks int) ->
 * the values in the array that have another one within distance bits, with the
 * cluster they belong to and its number of values.
 */
Datum
simhash_find_clusters_in(PG_FUNCTION_ARGS)
{
	JoinSink	sink = {.sink = {.pair = join_values}};
	ShDupCall	call;

	if (!shdup_begin_array(fcinfo, SHDUP_FIND_CLUSTERS, &call))
		return (Datum) 0;

	shdup_union_find_begin(&sink.components, SHDUP_VALUES, shdup_most(&call));
	shdup_search(&call, &sink.sink);
	return_cluster_values(&sink, call.result);

	shdup_end_array(&call);
	return (Datum) 0;
}

/*
 * Return the wide values of the clusters, in their order.
 */
static void
return_wide_clusters(ShDupUnionFind *components, int width, ReturnSetInfo *info)
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
		Datum		values[3];

		CHECK_FOR_INTERRUPTS();
		shdup_progress_entries(i + 1);
		if (root->number == 0)
			root->number = ++nclusters;
		values[0] = Int64GetDatum(root->number);
		values[1] = PointerGetDatum(shtype_join_bits(shdup_element_value(components, order[i]),
													 width));
		values[2] = Int64GetDatum(root->size);
		shdup_result_add(&result, values);
		pfree(DatumGetPointer(values[1]));
	}
	pfree(order);
}

/*
 * simhash_find_clusters_in(fingerprints simhash_bits[], distance int) -> the values
 * in the array that have another one within distance bits or, if that is null, within
 * less than an eighth of their bits, with the cluster they belong to and its number
 * of values.  The clusters are numbered in the order of their smallest values.
 */
Datum
simhash_find_clusters_in_bits(PG_FUNCTION_ARGS)
{
	JoinSink	sink = {.sink = {.pair = join_values}};
	ShDupCall	call;

	if (!shdup_begin_wide_array(fcinfo, SHDUP_FIND_CLUSTERS, &call))
		return (Datum) 0;

	shdup_union_find_begin(&sink.components, SHDUP_VALUES, shdup_most(&call));
	if (shdup_nwords(&call) > 0)
		shdup_union_find_keep_values(&sink.components, shdup_nwords(&call));
	shdup_search(&call, &sink.sink);
	return_wide_clusters(&sink.components, call.width, call.result);

	shdup_end_array(&call);
	return (Datum) 0;
}
