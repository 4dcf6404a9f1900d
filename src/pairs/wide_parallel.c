/*-------------------------------------------------------------------------
 *
 * wide_parallel.c
 *	  Searching for pairs of wide fingerprints with parallel workers.
 *
 * The leader has read the fingerprints and planned the search.  It copies them to
 * shared memory, and all processes search slices of the parts.  Each process sorts
 * the keys by a part for itself, so it begins with a part that nobody else has, and
 * then helps where the most is left.  Workers send the numbers of keys that are
 * pairs, and nothing else: rows, values and results are the leader's.
 *
 * Parallel mode lasts for the search of a bucket, during which the leader passes on
 * what has been found.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "port/atomics.h"
#include "storage/shm_toc.h"

#include "pairs/wide_parallel.h"
#include "pairs/worker_queues.h"

/* key of the team in shared memory */
#define KEY_TEAM			UINT64CONST(0xB300000000000001)

/*
 * A search of lower cost takes only some 20 ms.  It has no workers, unless the server
 * chooses them for every index, however small.
 */
#define LEAST_COST			2e8

/* the size of a queue, in bytes */
#define QUEUE_SIZE			(1024 * 1024)

/* so many pairs are sent at once */
#define PAIRS_PER_MESSAGE	1024

/*
 * The most bytes of values.  Where shared memory for them is not to be had, the server
 * takes that of the leader, which has a limit.
 */
#define MAX_VALUES			(MaxAllocSize / 2)

/* two keys, by their numbers in the sets that are searched */
typedef struct FoundPair
{
	uint32		i;
	uint32		j;
} FoundPair;

/* what the processes share */
typedef struct Team
{
	/* does not change */
	int			width;
	int			distance;
	bool		among;
	size_t		na;
	size_t		nb;
	ShPairsWidePlan plan;

	/* of each part */
	pg_atomic_uint32 processes[SHBITS_MAX_PARTS];	/* that have sorted keys
													 * by it */
	pg_atomic_uint32 nslices[SHBITS_MAX_PARTS]; /* 0: not known yet */
	pg_atomic_uint32 next_slice[SHBITS_MAX_PARTS];

	uint64		values[FLEXIBLE_ARRAY_MEMBER];	/* of a, and of b unless among */
} Team;

/* in a worker */
typedef struct Sender
{
	ShPairsWorker worker;
	int			npairs;
	FoundPair	pairs[PAIRS_PER_MESSAGE];
} Sender;

/* in the leader */
typedef struct Leader
{
	ShPairsWorkers workers;
	Team	   *team;
	ShPairsWideSearch *search;
} Leader;

PGDLLEXPORT void shpairs_wide_worker(dsm_segment *seg, shm_toc *toc);

static void
send_pairs(Sender *sender)
{
	shm_mq_iovec piece = {(const char *) sender->pairs, sender->npairs * sizeof(FoundPair)};

	if (sender->npairs > 0)
		shpairs_worker_send(&sender->worker, &piece, 1, true);
	sender->npairs = 0;
}

/* ShPairsWideSearch.found, in a worker */
static void
send_pair(void *arg, size_t i, size_t j)
{
	Sender	   *sender = arg;

	sender->pairs[sender->npairs++] = (FoundPair)
	{
		i, j
	};
	if (sender->npairs == PAIRS_PER_MESSAGE)
		send_pairs(sender);
}

/* the share of the slices of a part that nobody has taken, 0..1 */
static double
share_left(Team *team, int part)
{
	uint32		nslices = pg_atomic_read_u32(&team->nslices[part]);
	uint32		next = pg_atomic_read_u32(&team->next_slice[part]);

	if (nslices == 0)
		return 1;
	return next < nslices ? 1 - (double) next / nslices : 0;
}

/*
 * Take a part that a process should search: one that nobody else has, or that of which
 * the most is left for each process, if that is worth while.  -1 if there is none.
 */
static int
take_part(Team *team, int nparts)
{
	int			best = -1;
	double		most = team->plan.cost_of_sharing / (team->plan.cost / nparts);

	for (int part = 0; part < nparts; part++)
	{
		uint32		none = 0;
		double		share;

		if (pg_atomic_compare_exchange_u32(&team->processes[part], &none, 1))
			return part;
		share = share_left(team, part) / (none + 1);
		if (share > most)
		{
			most = share;
			best = part;
		}
	}
	if (best >= 0)
		pg_atomic_fetch_add_u32(&team->processes[best], 1);
	return best;
}

/*
 * Search slices of a part, until all have been taken.
 */
static void
search_part(ShPairsWideSearch *search, Team *team, int part)
{
	uint32		nslices = shpairs_wide_begin_slices(search, part);
	uint32		known = 0;
	uint32		slice;

	if (!pg_atomic_compare_exchange_u32(&team->nslices[part], &known, nslices) &&
		known != nslices)
		elog(ERROR, "processes have planned %u and %u slices of part %d", known, nslices, part);
	while ((slice = pg_atomic_fetch_add_u32(&team->next_slice[part], 1)) < nslices)
	{
		shpairs_wide_search_slice(search, slice);
		if (search->poll != NULL)
			search->poll(search->poll_arg);
	}
	shpairs_wide_end_slices(search);
}

/*
 * Take part in the search, until nothing is left that is worth while.  Whoever takes
 * a part stays with it until all its slices have been taken, so none is forgotten.
 */
static void
take_part_in(ShPairsWideSearch *search, Team *team)
{
	int			nparts = shpairs_wide_sliced_parts(search);
	int			part;

	while ((part = take_part(team, nparts)) >= 0)
		search_part(search, team, part);
}

/*
 * Entry point of a worker.
 */
void
shpairs_wide_worker(dsm_segment *seg, shm_toc *toc)
{
	Team	   *team = shm_toc_lookup(toc, KEY_TEAM, false);
	int			nwords = shbits_nparts(team->width);
	Sender	   *sender = palloc(sizeof(Sender));
	ShPairsWideSearch *search = palloc(sizeof(ShPairsWideSearch));
	ShPairsWideBucket buckets[2];
	ShPairsWideSet a = {&buckets[0], 0, team->na};
	ShPairsWideSet b = {&buckets[1], 0, team->nb};

	sender->npairs = 0;
	shpairs_worker_begin(&sender->worker, seg, toc);
	shpairs_wide_search_init(search, team->width, team->distance, send_pair, NULL, sender);
	shpairs_wide_bucket_show(&buckets[0], nwords, team->values, team->na);
	if (!team->among)
		shpairs_wide_bucket_show(&buckets[1], nwords, team->values + team->na * nwords, team->nb);
	shpairs_wide_search_use_plan(search, a, team->among ? a : b, team->among, &team->plan);
	take_part_in(search, team);
	send_pairs(sender);
	shpairs_worker_end(&sender->worker);
}

/*
 * Pass on what workers have found so far.  Returns whether that was anything.
 */
static bool
receive(Leader *leader)
{
	const ShPairsWideSearch *search = leader->search;
	bool		received = false;
	Size		size;
	void	   *message;

	while (shpairs_workers_receive(&leader->workers, &size, &message))
	{
		const FoundPair *pairs = message;

		CHECK_FOR_INTERRUPTS();
		received = true;
		for (size_t k = 0; k < size / sizeof(FoundPair); k++)
			search->found(search->arg, search->sets.a.start + pairs[k].i,
						  search->sets.b.start + pairs[k].j);
	}
	return received;
}

static void
report(Leader *leader)
{
	int			nparts = shpairs_wide_sliced_parts(leader->search);
	double		left = 0;

	for (int part = 0; part < nparts; part++)
		left += share_left(leader->team, part);
	leader->search->report(leader->search->arg, 1 - left / nparts);
}

/* ShPairsWideSearch.poll, in the leader */
static void
receive_and_report(void *arg)
{
	(void) receive(arg);
	report(arg);
}

static void
copy_values(const ShPairsWideSets *sets, const ShPairsWideSet *set, uint64 *values)
{
	for (size_t i = 0; i < set->count; i++)
	{
		if (i % 4096 == 0)
			CHECK_FOR_INTERRUPTS();
		memcpy(values + i * sets->nwords, shpairs_wide_value(set, set->start + i),
			   sets->nwords * sizeof(uint64));
	}
}

static void
fill_team(Team *team, const ShPairsWideSearch *search)
{
	const ShPairsWideSets *sets = &search->sets;

	team->width = sets->width;
	team->distance = sets->distance;
	team->among = sets->among;
	team->na = sets->a.count;
	team->nb = sets->b.count;
	team->plan = search->plan;
	for (int part = 0; part < SHBITS_MAX_PARTS; part++)
	{
		pg_atomic_init_u32(&team->processes[part], 0);
		pg_atomic_init_u32(&team->nslices[part], 0);
		pg_atomic_init_u32(&team->next_slice[part], 0);
	}
	copy_values(sets, &sets->a, team->values);
	if (!sets->among)
		copy_values(sets, &sets->b, team->values + team->na * sets->nwords);
}

static Size
size_of_values(const ShPairsWideSets *sets)
{
	return shpairs_wide_count_keys(sets) * sets->nwords * sizeof(uint64);
}

/*
 * How many workers could take part: none in a short search.
 */
static int
workers_of_use(const ShPairsWideSearch *search, int workers)
{
	const ShPairsWidePlan *plan = &search->plan;
	int			nparts = shpairs_wide_sliced_parts(search);

	if (plan->cost == 0 || (plan->cost < LEAST_COST && min_parallel_index_scan_size > 0))
		return 0;
	/* is it worth while that two processes search the same part? */
	if (plan->cost / nparts < 2 * plan->cost_of_sharing)
		workers = Min(workers, nparts - 1);
	return workers;
}

/*
 * How many workers there is memory for, besides that of the leader.
 */
static int
workers_with_memory(const ShPairsWideSearch *search, int workers)
{
	const ShPairsWideSets *sets = &search->sets;
	double		memory = maintenance_work_mem * 1024.0;
	double		taken = shpairs_wide_bucket_bytes(sets->a.wide);

	if (size_of_values(sets) > MAX_VALUES)
		return 0;
	if (sets->b.wide != sets->a.wide)
		taken += shpairs_wide_bucket_bytes(sets->b.wide);
	taken += size_of_values(sets);
	while (workers > 0 &&
		   taken + workers * (double) shpairs_wide_count_keys(sets) * SHPAIRS_WIDE_BYTES_PER_KEY > memory)
		workers--;
	return workers;
}

/*
 * Start workers.  Returns whether there are any.
 */
static bool
begin(Leader *leader, ShPairsWideSearch *search, int wanted)
{
	Size		size = offsetof(Team, values) + size_of_values(&search->sets);

	leader->search = search;
	shpairs_workers_begin(&leader->workers, "shpairs_wide_worker", wanted, QUEUE_SIZE);
	shpairs_workers_reserve(&leader->workers, size);
	if (shpairs_workers_allocate(&leader->workers))
	{
		leader->team = shpairs_workers_share(&leader->workers, KEY_TEAM, size);
		fill_team(leader->team, search);
	}
	return shpairs_workers_launch(&leader->workers);
}

/*
 * Find the pairs of a search that has been planned, as shpairs_wide_search_run does,
 * but with up to so many workers.  Returns false, without having found any, if there
 * should be no workers.  If there are none to be had, *workers is set to 0, so that
 * the next search does not try.
 *
 * Enters parallel mode, and leaves it.
 */
bool
shpairs_wide_parallel(ShPairsWideSearch *search, int *workers)
{
	int			wanted = workers_with_memory(search, workers_of_use(search, *workers));
	Leader		leader;

	if (wanted == 0)
		return false;
	if (!begin(&leader, search, wanted))
	{
		*workers = 0;
		return false;
	}
	search->poll = receive_and_report;
	search->poll_arg = &leader;
	if (parallel_leader_participation)
		take_part_in(search, leader.team);
	search->poll = NULL;
	while (receive(&leader) || leader.workers.nqueues > 0)
	{
		CHECK_FOR_INTERRUPTS();
		report(&leader);
		if (leader.workers.nqueues > 0)
			shpairs_workers_wait();
	}
	shpairs_workers_finish(&leader.workers);
	shpairs_workers_end(&leader.workers);
	return true;
}
