/*-------------------------------------------------------------------------
 *
 * find_clusters.c
 *	  SQL functions that return clusters of near-duplicates.
 *
 * A cluster is a connected component of the graph whose edges are the pairs of
 * near-duplicates.  Its number is its smallest fingerprint: that does not
 * change when rows move, and is the same wherever it is computed.
 *
 * Of the fingerprints only those that have a pair are kept in memory, each
 * once; their rows are kept in a temporary file until the clusters are known.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "commands/tablespace.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "storage/buffile.h"
#include "utils/memutils.h"

#include "batch/batch_call.h"
#include "batch/result.h"
#include "batch/union_find.h"
#include "type/simhash.h"

PG_FUNCTION_INFO_V1(simhash_find_clusters);
PG_FUNCTION_INFO_V1(simhash_find_clusters_in);

/* a row, and the number of its fingerprint */
typedef struct Member
{
	uint64		tid;
	uint64		element;
} Member;

/*
 * An element of a fingerprint of which another kind of rows was seen than the
 * first.  What is collected has the element of kind 0: of what kind its rows are,
 * and whether there are any of kind 0, is known when they are looked up.
 */
typedef struct OtherKind
{
	uint32		element;
	uint32		group;
	uint32		kind;
	uint32		next;			/* of the same element of kind 0: 1 + number,
								 * or 0 */
} OtherKind;

/* finds clusters of rows */
typedef struct MemberSink
{
	ShBatchSink sink;
	ShBatchUnionFind components;

	/* other kinds, of an index of several columns */
	uint32		nothers;
	uint32		max_others;
	OtherKind  *others;

	/* waiting to be looked up */
	ShBatchRows *rows;
	uint32	   *elements;		/* of the rows */

	/* that were seen, of all elements */
	BufFile    *members;

	/* the last fingerprint that had several rows in a group */
	bool		run_is_new;		/* its rows are being collected */
	uint32		run_element;
} MemberSink;

/*
 * The element of rows of a kind that is not 0, by that of kind 0.
 */
static uint32
element_of_kind(MemberSink *sink, uint32 element, uint32 group, uint32 kind)
{
	uint64		fp = sink->components.elements[element].fp;
	bool		is_new;
	OtherKind	other;

	other.element = shbatch_union_find_add(&sink->components,
										   shbatch_element_key(group, kind, fp), &is_new);
	if (is_new)
	{
		ShBatchElement *first = &sink->components.elements[element];

		other.group = group;
		other.kind = kind;
		other.next = first->others;
		if (sink->nothers == sink->max_others)
		{
			sink->max_others = Max(1024, sink->max_others * 2);
			sink->others = sink->others == NULL ?
				palloc(sink->max_others * sizeof(OtherKind)) :
				repalloc_huge(sink->others, sink->max_others * sizeof(OtherKind));
		}
		sink->others[sink->nothers++] = other;
		first->others = sink->nothers;
	}
	return other.element;
}

/* A fingerprint that no row has must not connect others. */
static void
join_elements(MemberSink *sink, uint32 a, uint32 b)
{
	const ShBatchElement *elements = sink->components.elements;

	if (elements[a].size > 0 && elements[b].size > 0)
		shbatch_union_find_join(&sink->components, a, b);
}

/*
 * Join the fingerprints of a pair, among rows of each kind.
 */
static void
join_pair(MemberSink *sink, ShBatchNumberPair pair)
{
	uint64		fp = sink->components.elements[pair.b].fp;
	uint32		next = sink->components.elements[pair.a].others;

	join_elements(sink, pair.a, pair.b);
	while (next != 0)
	{
		OtherKind	other = sink->others[next - 1];
		uint32		b = shbatch_union_find_lookup(&sink->components,
												  shbatch_element_key(other.group, other.kind, fp));

		if (b != SHBATCH_NO_ELEMENT)
			join_elements(sink, other.element, b);
		next = other.next;
	}
}

/*
 * Look up the rows that have been collected, and join what their pairs say.
 */
static void
flush(MemberSink *sink)
{
	shbatch_rows_resolve(sink->rows);
	for (size_t i = 0; i < sink->rows->count; i++)
	{
		uint64		row = sink->rows->tids[i];
		uint32		kind = shbatch_row_kind(row);
		Member		member = {row & SHBT_MAX_TID, sink->elements[i]};

		if (row == SHBATCH_INVISIBLE)
			continue;
		if (kind != 0)
			member.element = element_of_kind(sink, sink->elements[i], sink->rows->groups[i],
											 kind);
		sink->components.elements[member.element].size++;
		BufFileWrite(sink->members, &member, sizeof(Member));
	}
	for (size_t i = 0; i < sink->rows->npairs; i++)
		join_pair(sink, sink->rows->pairs[i]);
	shbatch_rows_reset(sink->rows);
}

static void
collect_row(MemberSink *sink, const ShBatchGroup *group, uint32 element, uint64 tid)
{
	sink->elements[sink->rows->count] = element;
	shbatch_rows_add(sink->rows, group->index_group, &tid, 1);
}

/*
 * Number of the element of key i of the group, of kind 0.
 */
static uint32
find_element(ShBatchUnionFind *components, const ShBatchGroup *group, size_t i, bool *is_new)
{
	return shbatch_union_find_add(components,
								  shbatch_element_key(group->index_group, 0,
													  shbatch_fingerprint(group, i)),
								  is_new);
}

/*
 * Rows of one fingerprint: no pairs of them are needed, only the rows, and the
 * group need not keep more than one.
 *
 * An element that is there already came from an earlier walk, together with all
 * its rows.  (With all that the snapshot sees: these are in all tables.)
 */
static bool
collect_repeated(ShBatchSink *base, const ShBatchGroup *group, uint64 tid)
{
	MemberSink *sink = (MemberSink *) base;
	size_t		last = group->nkeys - 1;

	if (shbatch_rows_full(sink->rows))
		flush(sink);
	if (!group->last_repeated)
	{
		sink->run_element = find_element(&sink->components, group, last, &sink->run_is_new);
		if (sink->run_is_new)
			collect_row(sink, group, sink->run_element, group->tids[group->starts[last]]);
	}
	if (sink->run_is_new)
		collect_row(sink, group, sink->run_element, tid);
	return false;
}

/*
 * Number of the element of key i of the group.  The rows of a new one are
 * collected.
 */
static uint32
collect(MemberSink *sink, const ShBatchGroup *group, size_t i)
{
	bool		is_new;
	uint32		element = find_element(&sink->components, group, i, &is_new);

	if (is_new)
		collect_row(sink, group, element, group->tids[group->starts[i]]);
	return element;
}

static void
collect_pair(ShBatchSink *base, const ShBatchGroup *group, size_t i, size_t j)
{
	MemberSink *sink = (MemberSink *) base;
	uint32		a;
	uint32		b;

	if (shbatch_rows_full(sink->rows))
		flush(sink);
	a = collect(sink, group, i);
	b = collect(sink, group, j);
	shbatch_rows_add_pair(sink->rows, a, b);
	shbatch_progress_found();
}

/*
 * Return the members of the clusters.
 */
static void
return_members(MemberSink *sink, ReturnSetInfo *info, Oid table)
{
	ShBatchElement *elements = sink->components.elements;
	ShBatchResult result;
	Member		member;
	double		nread = 0;

	shbatch_result_begin(&result, info);
	shbatch_progress_phase(SHBATCH_PHASE_RETURN, 0);
	shbatch_union_find_sum(&sink->components);
	if (BufFileSeek(sink->members, 0, 0, SEEK_SET) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not rewind temporary file: %m")));
	while (BufFileRead(sink->members, &member, sizeof(Member)) == sizeof(Member))
	{
		const ShBatchElement *root = &elements[shbatch_union_find_root(&sink->components,
																	   member.element)];
		ItemPointerData tid;
		Datum		values[5];

		CHECK_FOR_INTERRUPTS();
		shbatch_progress_entries(++nread);
		if (root->size < 2)
			continue;
		shbt_int_to_tid(member.tid, &tid);
		values[0] = Int64GetDatum((int64) root->fp);
		values[1] = PointerGetDatum(&tid);
		values[2] = SimhashGetDatum(elements[member.element].fp);
		values[3] = Int64GetDatum(root->size);
		values[4] = ObjectIdGetDatum(table);
		shbatch_result_add(&result, values);
	}
}

/*
 * simhash_find_clusters(index regclass, distance int) -> the rows that the
 * snapshot sees that have a near-duplicate, with the cluster they belong to
 * and its size.
 */
Datum
simhash_find_clusters(PG_FUNCTION_ARGS)
{
	MemberSink	sink = {.sink = {.repeat = collect_repeated,.pair = collect_pair}};
	ShBatchCall call;

	if (!shbatch_begin_index(fcinfo, SHBATCH_FIND_CLUSTERS, &call))
		return (Datum) 0;

	sink.rows = &call.rows;
	shbatch_union_find_begin(&sink.components, call.input.most, sink.rows->values != NULL);
	shbatch_rows_remember_kinds(sink.rows);
	sink.elements = MemoryContextAllocHuge(CurrentMemoryContext,
										   sink.rows->capacity * sizeof(uint32));
	PrepareTempTablespaces();
	sink.members = BufFileCreateTemp(false);

	shbatch_source_search(&call.input, &sink.sink);
	flush(&sink);
	return_members(&sink, call.result, RelationGetRelid(call.target.heap));

	BufFileClose(sink.members);
	shbatch_end_index(&call);
	return (Datum) 0;
}

/* finds clusters of values */
typedef struct JoinSink
{
	ShBatchSink sink;
	ShBatchUnionFind components;
} JoinSink;

static void
join_values(ShBatchSink *base, const ShBatchGroup *group, size_t i, size_t j)
{
	JoinSink   *sink = (JoinSink *) base;
	bool		is_new;
	uint32		a = find_element(&sink->components, group, i, &is_new);
	uint32		b = find_element(&sink->components, group, j, &is_new);

	shbatch_union_find_join(&sink->components, a, b);
	shbatch_progress_found();
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
	shbatch_progress_phase(SHBATCH_PHASE_RETURN, sink->components.count);
	for (uint32 i = 0; i < sink->components.count; i++)
		elements[i].size = 1;
	shbatch_union_find_sum(&sink->components);

	for (uint32 i = 0; i < sink->components.count; i++)
	{
		const ShBatchElement *root = &elements[shbatch_union_find_root(&sink->components, i)];
		Datum		values[3];

		CHECK_FOR_INTERRUPTS();
		shbatch_progress_entries(i + 1);
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
	JoinSink	sink = {.sink = {.repeat = shbatch_drop_repeat,.pair = join_values}};
	ShBatchCall call;

	if (!shbatch_begin_array(fcinfo, SHBATCH_FIND_CLUSTERS, &call))
		return (Datum) 0;

	shbatch_union_find_begin(&sink.components, call.input.most, false);
	shbatch_source_search(&call.input, &sink.sink);
	return_values(&sink, call.result);

	shbatch_end_array(&call);
	return (Datum) 0;
}
