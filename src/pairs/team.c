/*-------------------------------------------------------------------------
 *
 * team.c
 *	  Several processes that search for pairs together.
 *
 * The walks are divided into ranges (ranges.c), many more than there are
 * processes, and each process takes the next range when it is done with one.
 * A pair belongs to one walk and one bucket, whoever searches it, so nobody needs
 * to know what others find.
 *
 * A bucket with many keys could take one process longer than all the rest takes
 * the others.  So, unless it takes little more than reading it, each of the parts
 * by which it is searched is divided into slices (pairs.c).  The process that has
 * met the bucket begins.  Others that find no range left read the bucket as well,
 * and help: first with parts that nobody has begun, then with those of others.
 * Who has nothing to do waits, as long as anybody may still meet a large bucket.
 * So at the end nobody works alone for longer than a slice or a bucket
 * that is not large takes, or the reading of a bucket.
 *
 * Where entries must be sorted for each walk, a walk is one range, and others help
 * only if there is a single walk.
 *
 * Each process has its own copy of what it reads, in its share of the memory.  A
 * bucket that does not fit is left to the leader, who searches it alone after the
 * others, with all the memory, as a search without workers does.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "utils/wait_event.h"

#include "pairs/team.h"

/* keys with more rows than this would not fit in a message */
#define MOST_ROWS			(64 * 1024 * 1024)

Size
shpairs_team_size(int ntasks)
{
	return add_size(offsetof(ShPairsTeam, tasks), mul_size(ntasks, sizeof(ShPairsTask)));
}

/*
 * Initialize what changes.  The caller has set what does not.
 */
void
shpairs_team_init(ShPairsTeam *team, const ShPairsTask *tasks, int ntasks)
{
	pg_atomic_init_u64(&team->entries, 0);
	pg_atomic_init_u32(&team->next_task, 0);
	pg_atomic_init_u32(&team->reading, 0);
	ConditionVariableInit(&team->changed);
	SpinLockInit(&team->mutex);
	team->nlarge = 0;
	team->ntasks = ntasks;
	memcpy(team->tasks, tasks, ntasks * sizeof(ShPairsTask));
	for (int walk = 0; walk < team->plan.nwalks; walk++)
		pg_atomic_init_u32(&team->left[walk], 0);
	for (int i = 0; i < ntasks; i++)
		pg_atomic_fetch_add_u32(&team->left[tasks[i].walk], 1);
}

/*
 * How many walks have been made.
 */
int
shpairs_walks_done(ShPairsTeam *team)
{
	int			done = 0;

	for (int walk = 0; walk < team->plan.nwalks; walk++)
		done += pg_atomic_read_u32(&team->left[walk]) == 0;
	return done;
}

/* count the entries of the current range that are done */
static void
count_entries(ShPairsSearcher *searcher)
{
	double		passed = searcher->readers[0].passed;

	if (searcher->team->nsides > 1)
		passed += searcher->readers[1].passed;
	if (passed > searcher->counted)
	{
		pg_atomic_fetch_add_u64(&searcher->team->entries,
								(int64) passed - (int64) searcher->counted);
		searcher->counted = passed;
	}
}

static void
before_read(void *arg)
{
	ShPairsSearcher *searcher = arg;

	count_entries(searcher);
	if (searcher->poll != NULL)
		searcher->poll(searcher->arg);
}

static void
report_part(void *arg, double part)
{
	ShPairsSearcher *searcher = arg;

	if (searcher->poll != NULL)
		searcher->poll(searcher->arg);
}

static void
pair_found(void *arg, size_t i, size_t j)
{
	ShPairsSearcher *searcher = arg;

	shpairs_excerpt_add(&searcher->excerpt, i, j);
}

/*
 * Begin to take part.  Streams a and, if there are two sides, b are read.  What is
 * found is passed to emit, in excerpts, with arg.  Memory comes from the current
 * context.
 */
ShPairsSearcher *
shpairs_searcher_begin(ShPairsTeam *team, ShPairsStream *a, ShPairsStream *b,
					   ShPairsEmitFunction emit, ShPairsTooLargeFunction too_large,
					   ShPairsPollFunction poll, void *arg)
{
	ShPairsSearcher *searcher = palloc0(sizeof(ShPairsSearcher));
	ShPairsStream *streams[] = {a, b};

	searcher->team = team;
	searcher->too_large = too_large;
	searcher->poll = poll;
	searcher->arg = arg;
	shpairs_excerpt_init(&searcher->excerpt, emit, arg);
	shpairs_init(&searcher->pairs, team->distance, pair_found, report_part, searcher);
	for (int i = 0; i < team->nsides; i++)
	{
		shpairs_buckets_init(&searcher->readers[i], streams[i], team->memory / team->nsides, NULL,
							 before_read, searcher);
		searcher->readers[i].may_be_too_large = true;
	}
	return searcher;
}

static void
start_range(ShPairsSearcher *searcher, const ShPairsRange *range)
{
	const ShPairsWalk *walk = &searcher->team->plan.walks[range->walk];

	searcher->walk = range->walk;
	searcher->counted = 0;
	for (int i = 0; i < searcher->team->nsides; i++)
	{
		shpairs_buckets_start_range(&searcher->readers[i], walk->table, walk->prefix_bits,
									&range->start, range->has_end ? &range->end : NULL);
		searcher->readers[i].bucket.first_walk = range->walk == 0;
	}
	shpairs_set_masks(&searcher->team->plan, range->walk, searcher->readers[0].bucket.table,
					  &searcher->pairs);
}

/* the bucket that is being searched, and the one beside it or NULL */
static inline const ShPairsBucket *
bucket_a(const ShPairsSearcher *searcher)
{
	return &searcher->readers[0].bucket;
}

static inline const ShPairsBucket *
bucket_b(const ShPairsSearcher *searcher)
{
	return searcher->team->nsides > 1 ? &searcher->readers[1].bucket : NULL;
}

/* where the current bucket begins */
static ShPairsPlace
place_of_bucket(const ShPairsSearcher *searcher)
{
	return shpairs_place(bucket_a(searcher)->group, bucket_a(searcher)->keys[0],
						 searcher->team->plan.walks[searcher->walk].prefix_bits);
}

/*
 * What the slices of a part cost that nobody has taken, with that of dividing the
 * keys unless somebody has.
 */
static double
cost_left(ShPairsLarge *large, int part)
{
	uint32		next = pg_atomic_read_u32(&large->next_slice[part]);
	double		cost = 0;

	if (next < SHPAIRS_SLICES)
		cost = (SHPAIRS_SLICES - next) * large->slices.cost_of_slice[part];
	if (pg_atomic_read_u32(&large->processes[part]) == 0)
		cost += large->slices.cost_of_dividing;
	return cost;
}

/*
 * The part whose slices a process should search that has the keys; or -1.
 *
 * Each process divides the keys for itself.  So it takes a part that nobody else
 * has, as long as there is one, and then that of which the most is left for each
 * process, if that is worth while.
 */
static int
choose_part(ShPairsLarge *large)
{
	int			best = -1;
	double		most = 0;

	for (int part = 0; part < large->slices.nparts; part++)
	{
		uint32		processes = pg_atomic_read_u32(&large->processes[part]);
		double		share = cost_left(large, part) / (processes + 1);

		if (processes == 0)
			return part;
		if (share > Max(most, large->slices.cost_of_dividing))
		{
			most = share;
			best = part;
		}
	}
	return best;
}

/*
 * Search slices of a part of the current buckets, until all have been taken.
 */
static void
search_part(ShPairsSearcher *searcher, ShPairsLarge *large, int part)
{
	uint32		slice;

	pg_atomic_fetch_add_u32(&large->processes[part], 1);
	while ((slice = pg_atomic_fetch_add_u32(&large->next_slice[part], 1)) < SHPAIRS_SLICES)
	{
		shpairs_search_slice(&searcher->pairs, &large->slices, part, slice);
		pg_atomic_fetch_add_u64(&searcher->team->entries,
								(int64) (large->entries /
										 (SHPAIRS_SLICES * large->slices.nparts)));
		if (searcher->poll != NULL)
			searcher->poll(searcher->arg);
	}
}

/*
 * Search the current buckets, until nothing is left that is worth while.  Whoever
 * begins a part stays with it until all its slices have been taken, so none is
 * forgotten.
 */
static void
search_slices(ShPairsSearcher *searcher, ShPairsLarge *large)
{
	int			part;

	while ((part = choose_part(large)) >= 0)
		search_part(searcher, large, part);
	shpairs_end_slices(&searcher->pairs);
}

/* is enough left of a large bucket for a process that has not read it? */
static bool
is_worth_reading(ShPairsLarge *large)
{
	double		cost = 0;

	for (int part = 0; part < large->slices.nparts; part++)
		cost += cost_left(large, part);
	return cost > SHPAIRS_WORTH_READING * large->slices.cost_of_dividing;
}

static void
begin_slices(ShPairsSearcher *searcher)
{
	const ShPairsBucket *a = bucket_a(searcher);
	const ShPairsBucket *b = bucket_b(searcher);

	shpairs_begin_slices(&searcher->pairs, a->keys, a->nkeys,
						 b != NULL ? b->keys : NULL, b != NULL ? b->nkeys : 0);
}

/* tell all that there is something new, the leader, too, who may wait for results */
static void
tell_all(ShPairsTeam *team)
{
	ConditionVariableBroadcast(&team->changed);
	SetLatch(&team->leader->procLatch);
}

/*
 * Take a place for a large bucket.  NULL if there is none.
 */
static ShPairsLarge *
claim_large(ShPairsSearcher *searcher)
{
	ShPairsTeam *team = searcher->team;
	ShPairsLarge *large = NULL;

	SpinLockAcquire(&team->mutex);
	if (team->nlarge < SHPAIRS_MAX_LARGE)
	{
		searcher->tried[team->nlarge] = true;
		large = &team->large[team->nlarge++];
		large->ready = false;
	}
	SpinLockRelease(&team->mutex);
	return large;
}

/*
 * Search the current buckets, which are large, with the help of others.  Returns
 * false if these cannot help, or if there are too many large buckets.
 */
static bool
search_large(ShPairsSearcher *searcher)
{
	ShPairsTeam *team = searcher->team;
	ShPairsLarge *large;
	ShPairsSlices *slices;

	if (team->sorted && team->plan.nwalks > 1)
		return false;
	slices = palloc(sizeof(ShPairsSlices));
	begin_slices(searcher);
	large = shpairs_plan_slices(&searcher->pairs, slices) ? claim_large(searcher) : NULL;
	if (large == NULL)
	{
		shpairs_end_slices(&searcher->pairs);
		pfree(slices);
		return false;
	}

	memcpy(&large->slices, slices, sizeof(ShPairsSlices));
	large->walk = searcher->walk;
	large->place = place_of_bucket(searcher);
	large->entries = searcher->readers[0].bucket_entries;
	if (team->nsides > 1)
		large->entries += searcher->readers[1].bucket_entries;
	for (int part = 0; part < slices->nparts; part++)
	{
		pg_atomic_init_u32(&large->next_slice[part], 0);
		pg_atomic_init_u32(&large->processes[part], 0);
	}
	SpinLockAcquire(&team->mutex);
	large->ready = true;
	SpinLockRelease(&team->mutex);
	pfree(slices);
	tell_all(team);
	search_slices(searcher, large);
	/* the slices have been counted instead */
	searcher->counted += large->entries;
	return true;
}

/*
 * Add the keys that have several rows.  These share all prefixes, so their pairs
 * belong to the first walk.
 */
static void
add_repeated(ShPairsSearcher *searcher)
{
	const ShPairsBucket *bucket = bucket_a(searcher);

	if (!bucket->first_walk || bucket->nrows == bucket->nkeys)
		return;
	for (size_t i = 0; i < bucket->nkeys; i++)
	{
		if (shpairs_bucket_rows_end(bucket, i) - bucket->starts[i] > 1)
			shpairs_excerpt_add(&searcher->excerpt, i, i);
	}
}

/*
 * Search the current bucket, or the two that are side by side.
 */
static void
search_buckets(ShPairsSearcher *searcher)
{
	const ShPairsBucket *a = bucket_a(searcher);
	const ShPairsBucket *b = bucket_b(searcher);

	shpairs_excerpt_start(&searcher->excerpt, a, b);
	if (b == NULL)
	{
		add_repeated(searcher);
		if (searcher->team->distance > 0 && a->nkeys >= SHPAIRS_LARGE && search_large(searcher))
			return;
		if (a->nkeys > 1)
			shpairs_find_pairs(&searcher->pairs, a->keys, a->nkeys);
	}
	else
	{
		if (searcher->team->distance > 0 && Min(a->nkeys, b->nkeys) >= SHPAIRS_LARGE / 4 &&
			Max(a->nkeys, b->nkeys) >= SHPAIRS_LARGE && search_large(searcher))
			return;
		shpairs_find_matches(&searcher->pairs, a->keys, a->nkeys, b->keys, b->nkeys);
	}
}

/*
 * Take the next bucket of the range, or the next two that have the same prefix.
 * Returns false if there is none.  One that does not fit is left to others.
 */
static bool
next_buckets(ShPairsSearcher *searcher, bool *fits)
{
	ShPairsBucketReader *a = &searcher->readers[0];
	ShPairsBucketReader *b = &searcher->readers[1];

	if (searcher->team->nsides == 1)
	{
		if (!shpairs_buckets_next(a))
			return false;
		*fits = !a->too_large && a->bucket.nrows <= MOST_ROWS;
		return true;
	}
	if (!shpairs_buckets_meet(a, b))
		return false;
	shpairs_buckets_take_beside(a, b, searcher->team->memory);
	shpairs_buckets_take_beside(b, a, searcher->team->memory);
	*fits = !a->too_large && !b->too_large &&
		a->bucket.nrows + b->bucket.nrows <= MOST_ROWS;
	return true;
}

static void
search_task(ShPairsSearcher *searcher, int number)
{
	ShPairsTeam *team = searcher->team;
	ShPairsRange range = shpairs_range_of_task(team->tasks, team->ntasks, number);
	bool		fits;

	start_range(searcher, &range);
	while (next_buckets(searcher, &fits))
	{
		if (fits)
			search_buckets(searcher);
		else
		{
			ShPairsTask bucket = {place_of_bucket(searcher), searcher->walk};

			searcher->too_large(searcher->arg, &bucket);
		}
	}
	count_entries(searcher);
	pg_atomic_fetch_sub_u32(&team->left[range.walk], 1);
}

/*
 * Search the next range, if there is one.
 *
 * Ranges are taken only after the process has been counted, so that whoever finds
 * none left knows all that may meet large buckets.
 */
static bool
take_task(ShPairsSearcher *searcher)
{
	ShPairsTeam *team = searcher->team;
	uint32		task;

	if (pg_atomic_read_u32(&team->next_task) >= team->ntasks)
		return false;
	pg_atomic_fetch_add_u32(&team->reading, 1);
	task = pg_atomic_fetch_add_u32(&team->next_task, 1);
	if (task < team->ntasks)
		search_task(searcher, task);
	if (pg_atomic_sub_fetch_u32(&team->reading, 1) == 0)
		tell_all(team);
	return task < team->ntasks;
}

/*
 * List the large buckets that have slices and that this process has not tried to
 * search.  Returns how many there are.
 */
static int
list_large(const ShPairsSearcher *searcher, int *numbers)
{
	ShPairsTeam *team = searcher->team;
	int			count = 0;

	SpinLockAcquire(&team->mutex);
	for (int i = 0; i < team->nlarge; i++)
	{
		if (team->large[i].ready && !searcher->tried[i])
			numbers[count++] = i;
	}
	SpinLockRelease(&team->mutex);
	return count;
}

/*
 * A large bucket of which enough is left, and that this process has not tried to
 * search; or -1.
 */
static int
find_large(ShPairsSearcher *searcher)
{
	int			numbers[SHPAIRS_MAX_LARGE];
	int			count = list_large(searcher, numbers);

	for (int i = 0; i < count; i++)
	{
		if (is_worth_reading(&searcher->team->large[numbers[i]]))
			return numbers[i];
	}
	return -1;
}

/*
 * Help with a large bucket, if there is one.  What was read of it may differ from
 * what another process has read, by rows that nobody sees; or be too large by
 * these.
 */
static bool
help(ShPairsSearcher *searcher)
{
	ShPairsTeam *team = searcher->team;
	int			number = find_large(searcher);
	ShPairsLarge *large;
	ShPairsRange range;
	bool		fits;

	if (number < 0)
		return false;
	searcher->tried[number] = true;
	large = &team->large[number];
	range = shpairs_range_of_bucket(large->walk, &large->place,
									team->plan.walks[large->walk].prefix_bits);
	start_range(searcher, &range);
	/* the entries are counted by the process that has met the bucket */
	searcher->counted = INFINITY;
	if (next_buckets(searcher, &fits) && fits)
	{
		shpairs_excerpt_start(&searcher->excerpt, bucket_a(searcher), bucket_b(searcher));
		begin_slices(searcher);
		search_slices(searcher, large);
	}
	return true;
}

/*
 * Do a piece of the work, which may be long.  Returns false if there is nothing
 * to do now.
 */
bool
shpairs_searcher_work(ShPairsSearcher *searcher)
{
	return take_task(searcher) || help(searcher);
}

/*
 * Work until nothing is left to do.
 *
 * When nobody searches ranges any more, all large buckets are known.
 */
void
shpairs_searcher_run(ShPairsSearcher *searcher)
{
	for (;;)
	{
		bool		last;

		if (shpairs_searcher_work(searcher))
			continue;
		shpairs_excerpt_emit(&searcher->excerpt);
		last = pg_atomic_read_u32(&searcher->team->reading) == 0;
		if (shpairs_searcher_work(searcher))
			continue;
		if (last)
			break;
		ConditionVariableSleep(&searcher->team->changed, WAIT_EVENT_EXECUTE_GATHER);
	}
	ConditionVariableCancelSleep();
}
