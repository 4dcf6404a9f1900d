/*-------------------------------------------------------------------------
 *
 * search.c
 *	  All pairs within a distance, by a walk over each table of a scheme.
 *
 * In each table the entries with one prefix lie together.  They are collected,
 * equal fingerprints as one, and pairs are looked for among them (pairs.c).  A
 * pair that shares the prefix of several tables belongs to the first of these.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "batch/progress.h"
#include "batch/search.h"
#include "bits/probe.h"

/* what the arrays of a group begin with */
#define FIRST_CAPACITY		1024

/* bytes that a key and a row of a group take, and the search among the keys */
#define BYTES_PER_KEY		(sizeof(uint64) + sizeof(size_t) + SHBATCH_PAIRS_BYTES_PER_KEY)
#define BYTES_PER_ROW		sizeof(uint64)

typedef struct Search
{
	ShBatchSink *sink;
	ShBatchGroup group;
	ShBatchPairs pairs;
	int			prefix_bits;
	uint64		prefix;			/* of a permuted fingerprint */
} Search;

/*
 * Plan for an index: what a look-up of one fingerprint would read of it.  The
 * distance must not exceed that of the scheme.
 */
void
shbatch_plan_index(ShBatchPlan *plan, const ShBitsScheme *scheme, int distance,
				   double leaves_per_table)
{
	ShBitsProbePlan probes;

	Assert(distance <= scheme->distance);
	shbits_plan_probes(scheme, distance, leaves_per_table, &probes);
	plan->ntables = probes.nprobes;
	for (int i = 0; i < probes.nprobes; i++)
		plan->tables[i] = probes.probes[i].table;
	plan->whole = probes.probes[0].nbits == 0;
}

/* Plan for all tables of a scheme: for its own distance. */
void
shbatch_plan_scheme(ShBatchPlan *plan, const ShBitsScheme *scheme)
{
	plan->ntables = scheme->ntables;
	for (int i = 0; i < scheme->ntables; i++)
		plan->tables[i] = i;
	plan->whole = false;
}

/* Plan to look for pairs in the whole set at once: for any distance. */
void
shbatch_plan_whole(ShBatchPlan *plan)
{
	plan->ntables = 1;
	plan->tables[0] = 0;
	plan->whole = true;
}

static void
report_too_large(const Search *search)
{
	ereport(ERROR,
			(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
			 errmsg("more than %zu fingerprints whose first %d bits agree, in table order, do not fit into maintenance_work_mem",
					search->group.nkeys, search->prefix_bits),
			 errdetail("There are %zu rows with them so far.", search->group.nrows),
			 errhint("Increase maintenance_work_mem, which is now %d kB.",
					 maintenance_work_mem)));
}

/*
 * How many items of some size an array that is full should have room for,
 * where the other array of the group takes used bytes.
 */
static size_t
next_capacity(const Search *search, size_t capacity, Size size, Size used)
{
	Size		limit = maintenance_work_mem * (Size) 1024;
	size_t		most = limit > used ? (limit - used) / size : 0;

	if (most <= capacity)
		report_too_large(search);
	return Min(capacity * 2, most);
}

static void
enlarge_keys(Search *search)
{
	ShBatchGroup *group = &search->group;

	group->max_keys = next_capacity(search, group->max_keys, BYTES_PER_KEY,
									group->max_rows * BYTES_PER_ROW);
	group->keys = repalloc_huge(group->keys, group->max_keys * sizeof(uint64));
	group->starts = repalloc_huge(group->starts, group->max_keys * sizeof(size_t));
}

static void
enlarge_rows(Search *search)
{
	ShBatchGroup *group = &search->group;

	group->max_rows = next_capacity(search, group->max_rows, BYTES_PER_ROW,
									group->max_keys * BYTES_PER_KEY);
	group->tids = repalloc_huge(group->tids, group->max_rows * sizeof(uint64));
}

static void
pair_found(void *arg, size_t i, size_t j)
{
	Search	   *search = arg;

	search->sink->pair(search->sink, &search->group, i, j);
}

/*
 * The group is complete: look for pairs, and forget it.
 */
static void
end_group(Search *search)
{
	ShBatchGroup *group = &search->group;

	if (search->sink->group != NULL)
		search->sink->group(search->sink, group);
	if (group->nkeys > 1)
		shbatch_find_pairs(&search->pairs, group->keys, group->nkeys);
	group->nkeys = 0;
	group->nrows = 0;
}

/*
 * Add entries of a table, in order.
 */
static void
add_entries(Search *search, const uint64 *keys, const uint64 *tids, int count)
{
	ShBatchGroup *group = &search->group;

	for (int i = 0; i < count; i++)
	{
		if (group->nkeys > 0)
		{
			if (keys[i] == group->keys[group->nkeys - 1])
			{
				if (search->sink->repeat(search->sink, group, tids[i]))
				{
					if (group->nrows == group->max_rows)
						enlarge_rows(search);
					group->tids[group->nrows++] = tids[i];
				}
				group->last_repeated = true;
				continue;
			}
			if (((keys[i] ^ group->keys[0]) & search->prefix) != 0)
				end_group(search);
		}

		if (group->nkeys == group->max_keys)
			enlarge_keys(search);
		if (group->nrows == group->max_rows)
			enlarge_rows(search);
		group->keys[group->nkeys] = keys[i];
		group->starts[group->nkeys++] = group->nrows;
		group->tids[group->nrows++] = tids[i];
		group->last_repeated = false;
	}
}

/*
 * Walk over table number step of the plan.
 */
static void
search_table(Search *search, ShBatchStream *stream, const ShBatchPlan *plan, int step)
{
	const ShBitsScheme *scheme = stream->scheme;
	const ShBitsTable *table = &scheme->tables[plan->tables[step]];
	uint64		keys[SHBATCH_STREAM_MAX];
	uint64		tids[SHBATCH_STREAM_MAX];
	int			count;

	search->group.table = table;
	search->group.first_table = step == 0;
	search->prefix_bits = plan->whole ? 0 : table->prefix_bits;
	search->prefix = plan->whole ? 0 : PG_UINT64_MAX << (64 - table->prefix_bits);

	/* pairs that share a prefix of a table before belong there */
	search->pairs.nmasks = step;
	for (int i = 0; i < step; i++)
		search->pairs.masks[i] = shbits_permute(table,
												scheme->tables[plan->tables[i]].prefix_mask);

	shbatch_stream_start(stream, plan->tables[step]);
	while ((count = shbatch_stream_next(stream, keys, tids)) > 0)
	{
		add_entries(search, keys, tids, count);
		shbatch_progress_entries(count);
	}
	if (search->group.nkeys > 0)
		end_group(search);
}

/*
 * Find all pairs of different fingerprints in a stream that differ in at most
 * distance bits, by a plan for that distance, and pass them to the sink: each
 * once.
 *
 * Memory, up to maintenance_work_mem, is needed for the largest group of
 * entries with a common prefix; ERRCODE_CONFIGURATION_LIMIT_EXCEEDED if that
 * is not enough.
 */
void
shbatch_search(ShBatchStream *stream, const ShBatchPlan *plan, int distance, ShBatchSink *sink)
{
	Search	   *search = palloc0(sizeof(Search));
	ShBatchGroup *group = &search->group;

	search->sink = sink;
	group->max_keys = FIRST_CAPACITY;
	group->max_rows = FIRST_CAPACITY;
	group->keys = palloc(FIRST_CAPACITY * sizeof(uint64));
	group->starts = palloc(FIRST_CAPACITY * sizeof(size_t));
	group->tids = palloc(FIRST_CAPACITY * sizeof(uint64));
	shbatch_pairs_init(&search->pairs, distance, pair_found, search);

	for (int step = 0; step < plan->ntables; step++)
	{
		shbatch_progress_table(step, plan->ntables);
		search_table(search, stream, plan, step);
	}
	shbatch_progress_table(plan->ntables, plan->ntables);
}
