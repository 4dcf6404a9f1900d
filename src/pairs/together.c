/*-------------------------------------------------------------------------
 *
 * together.c
 *	  Searching buckets for pairs, with parallel workers if that is worth while.
 *
 * The leader has read the fingerprints and planned the search.  It copies them to
 * shared memory, and all processes search slices of the tasks.  Each process sorts or
 * divides the keys for itself, so it begins with a task that nobody else has, and then
 * helps where the most is left.  Workers send the numbers of keys that are pairs, and
 * nothing else: rows, values and results are the leader's.
 *
 * Parallel mode lasts for the search of a bucket.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "port/atomics.h"
#include "storage/shm_toc.h"

#include "pairs/collector.h"
#include "pairs/together.h"
#include "pairs/worker_queues.h"

/* key of what is in shared memory */
#define KEY_SHARED			UINT64CONST(0xB300000000000001)

/*
 * A search of lower cost takes only some 20 ms.  It has no workers, unless the server
 * chooses them for every index, however small.
 */
#define LEAST_COST			2e8

/*
 * The size of each queue, in bytes, and that of all if maintenance_work_mem has room for
 * it: workers go on while the leader looks up the rows of many pairs, until their queues
 * are full.
 */
#define MIN_QUEUE_SIZE		(1024 * 1024)
#define QUEUES_SIZE			(16 * 1024 * 1024)
#define QUEUES_SHARE		8

/* so many pairs are sent at once */
#define PAIRS_PER_MESSAGE	1024

/*
 * The most bytes of values.  Where shared memory for them is not to be had, the server
 * takes that of the leader, which has a limit.
 */
#define MAX_VALUES			(MaxAllocSize / 2)

/* words of values that are copied between two checks for interrupts */
#define COPIED_TOGETHER		0x100000

/* two keys, by their numbers in the sets that are searched */
typedef struct FoundPair
{
	uint32		i;
	uint32		j;
} FoundPair;

/* what the processes share */
typedef struct Shared
{
	/* does not change */
	int			width;
	int			distance;
	bool		among;
	size_t		na;
	size_t		nb;
	ShPairsWordPlan plan;
	ShPairsSlices slices;		/* with one word, */
	int			nmasks;			/* and pairs that are not wanted */
	uint64		masks[SHBITS_MAX_TABLES];
	int			ntasks;

	/* of each task */
	pg_atomic_uint32 processes[SHPAIRS_MAX_WORDS];	/* that have begun it */
	pg_atomic_uint32 nslices[SHPAIRS_MAX_WORDS];	/* 0: not known yet */
	pg_atomic_uint32 next_slice[SHPAIRS_MAX_WORDS];

	uint64		values[FLEXIBLE_ARRAY_MEMBER];	/* of a, and of b unless among */
} Shared;

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
	Shared	   *shared;
	ShPairsSearch *search;
} Leader;

PGDLLEXPORT void shpairs_worker(dsm_segment *seg, shm_toc *toc);

static void
send_pairs(Sender *sender)
{
	shm_mq_iovec piece = {(const char *) sender->pairs, sender->npairs * sizeof(FoundPair)};

	if (sender->npairs > 0)
		shpairs_worker_send(&sender->worker, &piece, 1, true);
	sender->npairs = 0;
}

/* ShPairsSearch.found, in a worker */
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

/* the fraction of the slices of a task that nobody has taken */
static double
fraction_free(Shared *shared, int task)
{
	uint32		nslices = pg_atomic_read_u32(&shared->nslices[task]);
	uint32		next = pg_atomic_read_u32(&shared->next_slice[task]);

	if (nslices == 0)
		return 1;
	return next < nslices ? 1 - (double) next / nslices : 0;
}

/*
 * Take a task that a process should search: one that nobody else has, or that of which
 * the most is left for each process, if that is worth while.  -1 if there is none.
 */
static int
take_task(Shared *shared)
{
	int			best = -1;
	double		most = shared->plan.cost_of_sharing / (shared->plan.cost / shared->ntasks);

	for (int task = 0; task < shared->ntasks; task++)
	{
		uint32		none = 0;
		double		free;

		if (pg_atomic_compare_exchange_u32(&shared->processes[task], &none, 1))
			return task;
		free = fraction_free(shared, task) / (none + 1);
		if (free > most)
		{
			most = free;
			best = task;
		}
	}
	if (best >= 0)
		pg_atomic_fetch_add_u32(&shared->processes[best], 1);
	return best;
}

/*
 * Search slices of a task, until all have been taken.
 */
static void
search_task(ShPairsSearch *search, Shared *shared, int task)
{
	uint32		nslices = shpairs_begin_task(search, task);
	uint32		known = 0;
	uint32		slice;

	if (!pg_atomic_compare_exchange_u32(&shared->nslices[task], &known, nslices) &&
		known != nslices)
		elog(ERROR, "processes have planned %u and %u slices of task %d", known, nslices, task);
	while ((slice = pg_atomic_fetch_add_u32(&shared->next_slice[task], 1)) < nslices)
	{
		shpairs_search_task(search, slice);
		if (search->poll != NULL)
			search->poll(search->poll_arg);
	}
	shpairs_end_task(search);
}

/*
 * Take part in the search, until nothing is left that is worth while.  Whoever takes
 * a task stays with it until all its slices have been taken, so none is forgotten.
 */
static void
take_part_in(ShPairsSearch *search, Shared *shared)
{
	int			task;

	while ((task = take_task(shared)) >= 0)
		search_task(search, shared, task);
}

/*
 * Entry point of a worker.
 */
void
shpairs_worker(dsm_segment *seg, shm_toc *toc)
{
	Shared	   *shared = shm_toc_lookup(toc, KEY_SHARED, false);
	int			nwords = shbits_nparts(shared->width);
	Sender	   *sender = palloc(sizeof(Sender));
	ShPairsSearch *search = palloc(sizeof(ShPairsSearch));
	ShPairsBucket a = {.nwords = nwords,.nkeys = shared->na,.values = shared->values};
	ShPairsBucket b = {.nwords = nwords,.nkeys = shared->nb,.values = shared->values + shared->na * nwords};

	sender->npairs = 0;
	shpairs_worker_begin(&sender->worker, seg, toc);
	shpairs_search_init(search, shared->width, shared->distance, send_pair, NULL, sender);
	shpairs_search_set(search, &a, shared->among ? &a : &b);
	search->plan = shared->plan;
	search->pairs.nmasks = shared->nmasks;
	memcpy(search->pairs.masks, shared->masks, sizeof(shared->masks));
	(void) shpairs_begin_tasks(search, &shared->slices, true);
	take_part_in(search, shared);
	shpairs_end_tasks(search);
	send_pairs(sender);
	shpairs_worker_end(&sender->worker);
}

/*
 * Pass on what workers have found so far.  Returns whether that was anything.
 */
static bool
receive(Leader *leader)
{
	const ShPairsSearch *search = leader->search;
	bool		received = false;
	Size		size;
	void	   *message;

	while (shpairs_workers_receive(&leader->workers, &size, &message))
	{
		const FoundPair *pairs = message;

		CHECK_FOR_INTERRUPTS();
		received = true;
		for (size_t k = 0; k < size / sizeof(FoundPair); k++)
			search->found(search->arg, pairs[k].i, pairs[k].j);
	}
	return received;
}

static void
report(Leader *leader)
{
	Shared	   *shared = leader->shared;
	double		free = 0;

	for (int task = 0; task < shared->ntasks; task++)
		free += fraction_free(shared, task);
	leader->search->report(leader->search->arg, 1 - free / shared->ntasks);
}

/* ShPairsSearch.poll, in the leader */
static void
receive_and_report(void *arg)
{
	(void) receive(arg);
	report(arg);
}

static void
copy_values(const ShPairsBucket *bucket, uint64 *values)
{
	size_t		count = bucket->nkeys * bucket->nwords;

	for (size_t done = 0; done < count; done += COPIED_TOGETHER)
	{
		CHECK_FOR_INTERRUPTS();
		memcpy(values + done, bucket->values + done,
			   Min(count - done, COPIED_TOGETHER) * sizeof(uint64));
	}
}

static void
fill_shared(Shared *shared, const ShPairsSearch *search, const ShPairsSlices *slices, int ntasks)
{
	const ShPairsSets *sets = &search->sets;

	shared->width = sets->width;
	shared->distance = sets->distance;
	shared->among = sets->a == sets->b;
	shared->na = sets->a->nkeys;
	shared->nb = sets->b->nkeys;
	shared->plan = search->plan;
	shared->slices = *slices;
	shared->nmasks = sets->nwords == 1 ? search->pairs.nmasks : 0;
	memcpy(shared->masks, search->pairs.masks, shared->nmasks * sizeof(uint64));
	shared->ntasks = ntasks;
	for (int task = 0; task < SHPAIRS_MAX_WORDS; task++)
	{
		pg_atomic_init_u32(&shared->processes[task], 0);
		pg_atomic_init_u32(&shared->nslices[task], 0);
		pg_atomic_init_u32(&shared->next_slice[task], 0);
	}
	copy_values(sets->a, shared->values);
	if (!shared->among)
		copy_values(sets->b, shared->values + shared->na * sets->nwords);
}

static Size
size_of_values(const ShPairsSets *sets)
{
	return shpairs_count_keys(sets) * sets->nwords * sizeof(uint64);
}

/*
 * How many workers could take part in so many tasks.
 */
static int
workers_of_use(const ShPairsSearch *search, int workers, int ntasks)
{
	/* is it worth while that two processes search the same task? */
	if (search->plan.cost / ntasks < 2 * search->plan.cost_of_sharing)
		workers = Min(workers, ntasks - 1);
	return workers;
}

/* is a search so long that workers should take part?  Others take some 20 ms. */
static bool
is_long(const ShPairsSearch *search)
{
	return search->plan.cost > 0 &&
		(search->plan.cost >= LEAST_COST || min_parallel_index_scan_size == 0);
}

/*
 * How many workers there is memory for, besides that of the leader.
 */
static int
workers_with_memory(const ShPairsSearch *search, int workers)
{
	const ShPairsSets *sets = &search->sets;
	double		nkeys = shpairs_count_keys(sets);
	double		left = maintenance_work_mem * 1024.0 - size_of_values(sets) -
		shpairs_bucket_bytes(sets->nwords, nkeys);

	if (size_of_values(sets) > MAX_VALUES || left <= 0)
		return 0;
	return Min(workers, (int) (left / (nkeys * shpairs_search_bytes(sets->nwords))));
}

/*
 * Start workers.  Returns whether there are any.
 */
static bool
begin(Leader *leader, ShPairsSearch *search, const ShPairsSlices *slices, int ntasks, int wanted)
{
	Size		size = offsetof(Shared, values) + size_of_values(&search->sets);
	Size		queues = Min(maintenance_work_mem * (Size) 1024 / QUEUES_SHARE, QUEUES_SIZE);

	leader->search = search;
	shpairs_workers_begin(&leader->workers, "shpairs_worker", wanted,
						  MAXALIGN(Max(queues / wanted, MIN_QUEUE_SIZE)));
	shpairs_workers_reserve(&leader->workers, size);
	if (shpairs_workers_allocate(&leader->workers))
	{
		leader->shared = shpairs_workers_share(&leader->workers, KEY_SHARED, size);
		fill_shared(leader->shared, search, slices, ntasks);
	}
	return shpairs_workers_launch(&leader->workers);
}

/*
 * Find the pairs of a planned search with so many workers, whose tasks have begun.
 * Returns false, without having found any, if there are none to be had.
 */
static bool
search_with_workers(ShPairsSearch *search, const ShPairsSlices *slices, int ntasks, int wanted)
{
	Leader		leader;

	if (!begin(&leader, search, slices, ntasks, wanted))
		return false;
	search->poll = receive_and_report;
	search->poll_arg = &leader;
	if (parallel_leader_participation)
		take_part_in(search, leader.shared);
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

/*
 * Search with up to so many workers, if that is worth while.  Returns false, without
 * having found any pair, if not.  If there are none to be had, *workers is set to 0, so
 * that the next search does not try.
 *
 * Enters parallel mode, and leaves it.
 */
static bool
search_together(ShPairsSearch *search, int *workers)
{
	int			wanted = workers_with_memory(search, *workers);
	ShPairsSlices *slices;
	int			ntasks;
	bool		done = false;

	if (wanted == 0)
		return false;
	slices = palloc0(sizeof(ShPairsSlices));
	ntasks = shpairs_begin_tasks(search, slices, false);
	wanted = ntasks == 0 ? 0 : workers_of_use(search, wanted, ntasks);
	if (wanted > 0)
	{
		done = search_with_workers(search, slices, ntasks, wanted);
		if (!done)
			*workers = 0;
	}
	shpairs_end_tasks(search);
	pfree(slices);
	return done;
}

/*
 * Find the pairs among bucket a, or of a key of a and one of b, with up to so many
 * workers.  Each is passed to what shpairs_search_init was given, once.
 */
void
shpairs_search(ShPairsSearch *search, const ShPairsBucket *a, const ShPairsBucket *b, int *workers)
{
	shpairs_search_set(search, a, b);
	if (*workers > 0 || search->sets.nwords > 1)
	{
		shpairs_plan_words(&search->plan, &search->sets);
		if (*workers > 0 && is_long(search) && search_together(search, workers))
			return;
	}
	shpairs_search_alone(search);
}
