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

#include "batch/batch_call.h"
#include "batch/members.h"
#include "batch/near_rows.h"
#include "batch/result.h"
#include "batch/row_clusters.h"
#include "compat.h"
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
join_rows(ShBatchMembers *members, uint32 a, uint32 b)
{
	shbatch_union_find_join(&members->elements, a, b);
}

/* to sort elements by their values */
#define ST_SORT sort_by_value
#define ST_ELEMENT_TYPE uint32
#define ST_COMPARE(a, b, components) shbatch_compare_elements(components, *(a), *(b))
#define ST_COMPARE_ARG_TYPE const ShBatchUnionFind
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
number_clusters(ShBatchMembers *members)
{
	ShBatchUnionFind *components = &members->elements;
	ShBatchElement *elements = components->elements;
	uint32	   *roots = MemoryContextAllocHuge(CurrentMemoryContext,
											   Max(components->count, 1) * sizeof(uint32));
	uint32		count = 0;
	ShBatchMember member;

	for (uint32 i = 0; i < components->count; i++)
	{
		shcompat_check_at(i);
		elements[i].fp = PG_UINT64_MAX;
		if (elements[i].parent == i && elements[i].size > 1)
			roots[count++] = i;
	}
	while (shbatch_members_next(members, &member))
	{
		ShBatchElement *root = &elements[shbatch_union_find_root(components, member.element)];

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
return_members(ShBatchMembers *members, bool wide, ReturnSetInfo *info)
{
	ShBatchUnionFind *components = &members->elements;
	const ShBatchElement *elements = components->elements;
	ShBatchResult result;
	ShBatchMember member;
	double		nread = 0;

	shbatch_result_begin(&result, info);
	if (wide)
		shbatch_result_set_null(&result, FP);
	shrows_progress_phase(SHROWS_PHASE_RETURN, 0);
	shbatch_union_find_sum(components);
	if (wide)
		number_clusters(members);
	while (shbatch_members_next(members, &member))
	{
		const ShBatchElement *root = &elements[shbatch_union_find_root(components,
																	   member.element)];
		ItemPointerData tid;
		Datum		values[5];

		CHECK_FOR_INTERRUPTS();
		shrows_progress_entries(++nread);
		if (root->size < 2)
			continue;
		values[4] = ObjectIdGetDatum(shrows_name(members->rows->heaps, member.row, &tid));
		values[0] = Int64GetDatum((int64) root->fp);
		values[1] = PointerGetDatum(&tid);
		values[2] = SimhashGetDatum(elements[member.element].fp);
		values[3] = Int64GetDatum(root->size);
		shbatch_result_add(&result, values);
	}
}

/*
 * Find and return clusters by fingerprints.
 */
static void
cluster_by_fingerprints(ShBatchCall *call)
{
	ShBatchMembers members;

	shbatch_members_begin(&members, &call->rows, shbatch_most(call), 0, join_rows);
	shbatch_search(call, &members.sink);
	shbatch_members_finish(&members);
	return_members(&members, call->width > 0, call->result);
	shbatch_members_end(&members);
}

/*
 * Return the rows of clusters.
 */
static void
return_rows(const ShBatchNearRows *near, ShBatchRowClusters *clusters, bool wide,
			ReturnSetInfo *info)
{
	ShBatchResult result;
	ShBatchClusterRow row;
	double		nreturned = 0;

	shbatch_result_begin(&result, info);
	if (wide)
		shbatch_result_set_null(&result, FP);
	shrows_progress_phase(SHROWS_PHASE_RETURN, near->count);
	while (shbatch_row_clusters_next(clusters, &row))
	{
		ItemPointerData tid;
		Datum		values[5];

		CHECK_FOR_INTERRUPTS();
		shrows_progress_entries(++nreturned);
		values[4] = ObjectIdGetDatum(shrows_name(near->members.rows->heaps, row.row, &tid));
		values[0] = Int64GetDatum(row.cluster);
		values[1] = PointerGetDatum(&tid);
		values[2] = SimhashGetDatum(near->members.elements.elements[row.element].fp);
		values[3] = Int64GetDatum(row.size);
		shbatch_result_add(&result, values);
	}
}

/*
 * Find and return clusters of rows.
 */
static void
cluster_rows(ShBatchCall *call, ShBatchRowCheck *check)
{
	ShBatchNearRows near;
	ShBatchRowClusters *clusters;

	shbatch_near_rows_begin(&near, &call->rows, shbatch_most(call), 0, NULL);
	shbatch_search(call, &near.members.sink);
	shbatch_near_rows_sort(&near);
	clusters = shbatch_row_clusters_make(&near, check);
	shbatch_check_end(check);
	return_rows(&near, clusters, call->width > 0, call->result);
	shbatch_near_rows_end(&near);
}

/*
 * simhash_find_clusters(index regclass, distance int, same text, similarity float8) ->
 * the rows that the snapshot sees that have a near-duplicate, with the cluster they
 * belong to and its size.
 */
Datum
simhash_find_clusters(PG_FUNCTION_ARGS)
{
	ShBatchCall call;
	ShBatchRowCheck *check;

	if (!shbatch_begin_index(fcinfo, SHROWS_FIND_CLUSTERS, 3, &call))
		return (Datum) 0;
	check = shbatch_begin_checks(&call, shbatch_get_text(fcinfo, 2));
	if (check != NULL)
		cluster_rows(&call, check);
	else
		cluster_by_fingerprints(&call);
	shbatch_end_heaps(&call);
	return (Datum) 0;
}

/* finds clusters of values */
typedef struct JoinSink
{
	ShPairsSink sink;
	ShBatchUnionFind components;
} JoinSink;

static void
join_values(ShPairsSink *base, const ShPairsBucket *x, size_t i, const ShPairsBucket *y, size_t j)
{
	JoinSink   *sink = (JoinSink *) base;
	bool		is_new;
	uint32		a = shbatch_find_element(&sink->components, x, i, &is_new);
	uint32		b = shbatch_find_element(&sink->components, y, j, &is_new);

	shbatch_union_find_join(&sink->components, a, b);
	shrows_progress_found();
}

/*
 * Return the values of the clusters.
 */
static void
return_values(JoinSink *sink, ReturnSetInfo *info)
{
	ShBatchElement *elements = sink->components.elements;
	ShBatchResult result;

	shbatch_result_begin(&result, info);
	shrows_progress_phase(SHROWS_PHASE_RETURN, sink->components.count);
	for (uint32 i = 0; i < sink->components.count; i++)
	{
		shcompat_check_at(i);
		elements[i].size = 1;
	}
	shbatch_union_find_sum(&sink->components);

	for (uint32 i = 0; i < sink->components.count; i++)
	{
		const ShBatchElement *root = &elements[shbatch_union_find_root(&sink->components, i)];
		Datum		values[3];

		CHECK_FOR_INTERRUPTS();
		shrows_progress_entries(i + 1);
		values[0] = Int64GetDatum((int64) root->fp);
		values[1] = SimhashGetDatum(elements[i].fp);
		values[2] = Int64GetDatum(root->size);
		shbatch_result_add(&result, values);
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
	ShBatchCall call;

	if (!shbatch_begin_array(fcinfo, SHROWS_FIND_CLUSTERS, &call))
		return (Datum) 0;

	shbatch_union_find_begin(&sink.components, SHBATCH_VALUES, shbatch_most(&call), false);
	shbatch_search(&call, &sink.sink);
	return_values(&sink, call.result);

	shbatch_end_array(&call);
	return (Datum) 0;
}

/*
 * Return the wide values of the clusters, in their order.
 */
static void
return_wide_values(ShBatchUnionFind *components, int width, ReturnSetInfo *info)
{
	ShBatchElement *elements = components->elements;
	uint32	   *order;
	ShBatchResult result;
	uint32		nclusters = 0;

	shbatch_union_find_forget_keys(components);
	order = MemoryContextAllocHuge(CurrentMemoryContext,
								   Max(components->count, 1) * sizeof(uint32));
	shbatch_result_begin(&result, info);
	shrows_progress_phase(SHROWS_PHASE_RETURN, components->count);
	for (uint32 i = 0; i < components->count; i++)
	{
		shcompat_check_at(i);
		elements[i].size = 1;
		order[i] = i;
	}
	shbatch_union_find_sum(components);
	sort_by_value(order, components->count, components);

	for (uint32 i = 0; i < components->count; i++)
	{
		ShBatchElement *root = &elements[shbatch_union_find_root(components, order[i])];
		Datum		values[3];

		CHECK_FOR_INTERRUPTS();
		shrows_progress_entries(i + 1);
		if (root->number == 0)
			root->number = ++nclusters;
		values[0] = Int64GetDatum(root->number);
		values[1] = PointerGetDatum(shtype_join_bits(shbatch_element_value(components, order[i]),
													 width));
		values[2] = Int64GetDatum(root->size);
		shbatch_result_add(&result, values);
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
	ShBatchCall call;

	if (!shbatch_begin_wide_array(fcinfo, SHROWS_FIND_CLUSTERS, &call))
		return (Datum) 0;

	shbatch_union_find_begin(&sink.components, SHBATCH_VALUES, shbatch_most(&call), false);
	if (shbatch_nwords(&call) > 0)
		shbatch_union_find_keep_values(&sink.components, shbatch_nwords(&call));
	shbatch_search(&call, &sink.sink);
	return_wide_values(&sink.components, call.width, call.result);

	shbatch_end_array(&call);
	return (Datum) 0;
}
