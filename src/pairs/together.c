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

#include "access/parallel.h"
#include "access/xact.h"
#include "executor/instrument.h"
#include "miscadmin.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "pgstat.h"
#include "port/atomics.h"
#include "storage/latch.h"
#include "storage/proc.h"
#include "storage/shm_mq.h"
#include "storage/shm_toc.h"
#include "tcop/tcopprot.h"
#include "utils/wait_event.h"

#include "pairs/collector.h"
#include "pairs/together.h"

/* keys of what is in shared memory */
#define KEY_SHARED			UINT64CONST(0xB300000000000001)
#define KEY_QUEUES			UINT64CONST(0xB300000000000002)
#define KEY_QUERY_TEXT		UINT64CONST(0xB300000000000003)
#define KEY_WAL_USAGE		UINT64CONST(0xB300000000000004)
#define KEY_BUFFER_USAGE	UINT64CONST(0xB300000000000005)

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
#define QUEUES_DIVISOR		8

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
	Size		queue_size;		/* of each worker's queue */

	/*
	 * Of each task.  These deal out slices and need not order anything else:
	 * the rest is written before workers are launched, and what they find
	 * comes through queues, which have barriers of their own.
	 */
	pg_atomic_uint32 processes[SHPAIRS_MAX_WORDS];	/* that have begun it */
	pg_atomic_uint32 nslices[SHPAIRS_MAX_WORDS];	/* 0: not known yet */
	pg_atomic_uint32 next_slice[SHPAIRS_MAX_WORDS];

	uint64		values[FLEXIBLE_ARRAY_MEMBER];	/* of a, and of b unless among */
} Shared;

/* in a worker */
typedef struct Worker
{
	shm_mq_handle *queue;
	int			npairs;
	FoundPair	pairs[PAIRS_PER_MESSAGE];
} Worker;

/* in the leader */
typedef struct Leader
{
	ShPairsSearch *search;
	ParallelContext *context;
	Shared	   *shared;
	WalUsage   *wal_usage;
	BufferUsage *buffer_usage;
	int			nqueues;		/* that are not at their end, */
	shm_mq_handle **queues;		/* first */
	int			next_queue;
} Leader;

PGDLLEXPORT void shpairs_worker(dsm_segment *seg, shm_toc *toc);

/*
 * Send what has been found.  If the leader does not listen any more, the transaction is
 * about to be aborted.
 */
static void
send_pairs(Worker *worker)
{
	if (worker->npairs > 0 &&
		shm_mq_send(worker->queue, worker->npairs * sizeof(FoundPair), worker->pairs, false,
					true) == SHM_MQ_DETACHED)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the leader of a parallel search has gone")));
	worker->npairs = 0;
}

/* ShPairsSearch.found, in a worker */
static void
send_pair(void *arg, size_t i, size_t j)
{
	Worker	   *worker = arg;

	worker->pairs[worker->npairs++] = (FoundPair)
	{
		i, j
	};
	if (worker->npairs == PAIRS_PER_MESSAGE)
		send_pairs(worker);
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
	double		most = shared->plan.cost_of_helping / (shared->plan.cost / shared->ntasks);

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

/* queues follow each other */
static shm_mq *
queue_of(const Shared *shared, char *queues, int worker)
{
	return (shm_mq *) (queues + worker * shared->queue_size);
}

static Worker *
begin_worker(dsm_segment *seg, shm_toc *toc, const Shared *shared)
{
	Worker	   *worker = palloc(sizeof(Worker));
	shm_mq	   *queue = queue_of(shared, shm_toc_lookup(toc, KEY_QUEUES, false),
								 ParallelWorkerNumber);

	debug_query_string = shm_toc_lookup(toc, KEY_QUERY_TEXT, true);
	pgstat_report_activity(STATE_RUNNING, debug_query_string);
	shm_mq_set_sender(queue, MyProc);
	worker->queue = shm_mq_attach(queue, seg, NULL);
	worker->npairs = 0;
	InstrStartParallelQuery();
	return worker;
}

static void
end_worker(Worker *worker, shm_toc *toc)
{
	WalUsage   *wal_usage = shm_toc_lookup(toc, KEY_WAL_USAGE, false);
	BufferUsage *buffer_usage = shm_toc_lookup(toc, KEY_BUFFER_USAGE, false);

	send_pairs(worker);
	InstrEndParallelQuery(&buffer_usage[ParallelWorkerNumber], &wal_usage[ParallelWorkerNumber]);
	shm_mq_detach(worker->queue);
}

/*
 * Entry point of a worker.
 */
void
shpairs_worker(dsm_segment *seg, shm_toc *toc)
{
	Shared	   *shared = shm_toc_lookup(toc, KEY_SHARED, false);
	int			nwords = shbits_nparts(shared->width);
	Worker	   *worker = begin_worker(seg, toc, shared);
	ShPairsSearch *search = palloc(sizeof(ShPairsSearch));
	ShPairsBucket a = {.nwords = nwords,.nkeys = shared->na,.values = shared->values};
	ShPairsBucket b = {.nwords = nwords,.nkeys = shared->nb,.values = shared->values + shared->na * nwords};

	shpairs_search_init(search, shared->width, shared->distance, send_pair, NULL, worker);
	shpairs_search_set(search, &a, shared->among ? &a : &b);
	search->plan = shared->plan;
	search->pairs.nmasks = shared->nmasks;
	memcpy(search->pairs.masks, shared->masks, sizeof(shared->masks));
	(void) shpairs_begin_tasks(search, &shared->slices, true);
	take_part_in(search, shared);
	shpairs_end_tasks(search);
	end_worker(worker, toc);
}

/* a queue is at its end */
static void
move_to_end(Leader *leader, int number)
{
	shm_mq_handle *queue = leader->queues[number];

	leader->queues[number] = leader->queues[--leader->nqueues];
	leader->queues[leader->nqueues] = queue;
}

/*
 * Receive the next pairs of any worker, valid until the next call.  Returns how many
 * there are, 0 if there is no message now.
 */
static size_t
receive_message(Leader *leader, const FoundPair **pairs)
{
	int			empty = 0;

	while (empty < leader->nqueues)
	{
		int			number = leader->next_queue % leader->nqueues;
		Size		size;
		void	   *message;

		switch (shm_mq_receive(leader->queues[number], &size, &message, true))
		{
			case SHM_MQ_SUCCESS:
				*pairs = message;
				return size / sizeof(FoundPair);
			case SHM_MQ_DETACHED:
				move_to_end(leader, number);
				empty = 0;
				break;
			case SHM_MQ_WOULD_BLOCK:
				leader->next_queue = number + 1;
				empty++;
				break;
		}
	}
	return 0;
}

static void
report_together(Leader *leader)
{
	Shared	   *shared = leader->shared;
	double		free = 0;

	for (int task = 0; task < shared->ntasks; task++)
		free += fraction_free(shared, task);
	leader->search->report(leader->search->arg, 1 - free / shared->ntasks);
}

/*
 * Pass on what workers have found so far, and report progress.  Returns whether anything
 * was found.  Workers may find pairs faster than they are passed on, so this may last
 * until they have ended.
 */
static bool
receive(Leader *leader)
{
	const ShPairsSearch *search = leader->search;
	bool		received = false;
	const FoundPair *pairs;
	size_t		count;

	report_together(leader);
	while ((count = receive_message(leader, &pairs)) > 0)
	{
		CHECK_FOR_INTERRUPTS();
		received = true;
		for (size_t k = 0; k < count; k++)
			search->found(search->arg, pairs[k].i, pairs[k].j);
		report_together(leader);
	}
	return received;
}

/* ShPairsSearch.poll, in the leader */
static void
poll_workers(void *arg)
{
	(void) receive(arg);
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
	if (search->plan.cost / ntasks < 2 * search->plan.cost_of_helping)
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
	size_t		nkeys = shpairs_count_keys(sets);
	double		left = maintenance_work_mem * 1024.0 - size_of_values(sets) -
		shpairs_bucket_bytes(sets->nwords, nkeys, nkeys);

	if (size_of_values(sets) > MAX_VALUES || left <= 0)
		return 0;
	return Min(workers,
			   (int) (left / (nkeys * shpairs_search_bytes(sets->nwords) + MIN_QUEUE_SIZE)));
}

static void
reserve(Leader *leader, Size size)
{
	shm_toc_estimate_chunk(&leader->context->estimator, size);
	shm_toc_estimate_keys(&leader->context->estimator, 1);
}

/* allocate an object in shared memory that has been reserved */
static void *
allocate_shared(Leader *leader, uint64 key, Size size)
{
	void	   *object = shm_toc_allocate(leader->context->toc, size);

	shm_toc_insert(leader->context->toc, key, object);
	return object;
}

static void
begin_queues(Leader *leader)
{
	ParallelContext *context = leader->context;
	Size		size = leader->shared->queue_size;
	char	   *queues = allocate_shared(leader, KEY_QUEUES, mul_size(size, context->nworkers));

	leader->queues = palloc(context->nworkers * sizeof(shm_mq_handle *));
	for (int i = 0; i < context->nworkers; i++)
	{
		shm_mq	   *queue = shm_mq_create(queue_of(leader->shared, queues, i), size);

		shm_mq_set_receiver(queue, MyProc);
		leader->queues[i] = shm_mq_attach(queue, context->seg, NULL);
	}
}

/*
 * Leave parallel mode.  Nothing that was shared can be used any more.
 */
static void
end_together(Leader *leader)
{
	/* without shared memory there are neither workers nor queues */
	for (int i = 0; i < leader->context->nworkers; i++)
		shm_mq_detach(leader->queues[i]);
	DestroyParallelContext(leader->context);
	if (leader->queues != NULL)
		pfree(leader->queues);
	ExitParallelMode();
}

/*
 * Enter parallel mode, and start up to so many workers.  If there are none, leave it
 * again and return false.
 */
static bool
begin_together(Leader *leader, ShPairsSearch *search, const ShPairsSlices *slices, int ntasks, int wanted)
{
	Size		size = offsetof(Shared, values) + size_of_values(&search->sets);
	Size		queues = Min(maintenance_work_mem * (Size) 1024 / QUEUES_DIVISOR, QUEUES_SIZE);
	Size		queue_size = MAXALIGN(Max(queues / wanted, MIN_QUEUE_SIZE));
	Size		text_size = debug_query_string != NULL ? strlen(debug_query_string) + 1 : 0;
	ParallelContext *context;

	memset(leader, 0, sizeof(Leader));
	leader->search = search;
	EnterParallelMode();
	leader->context = context = CreateParallelContext("simhash", "shpairs_worker", wanted);
	reserve(leader, size);
	reserve(leader, mul_size(queue_size, wanted));
	reserve(leader, mul_size(sizeof(WalUsage), wanted));
	reserve(leader, mul_size(sizeof(BufferUsage), wanted));
	if (text_size > 0)
		reserve(leader, text_size);
	InitializeParallelDSM(context);
	if (context->seg != NULL)
	{
		leader->shared = allocate_shared(leader, KEY_SHARED, size);
		leader->shared->queue_size = queue_size;
		fill_shared(leader->shared, search, slices, ntasks);
		leader->wal_usage = allocate_shared(leader, KEY_WAL_USAGE, mul_size(sizeof(WalUsage), wanted));
		leader->buffer_usage = allocate_shared(leader, KEY_BUFFER_USAGE,
											   mul_size(sizeof(BufferUsage), wanted));
		if (text_size > 0)
			memcpy(allocate_shared(leader, KEY_QUERY_TEXT, text_size), debug_query_string, text_size);
		begin_queues(leader);
	}
	LaunchParallelWorkers(context);
	leader->nqueues = context->nworkers_launched;
	for (int i = 0; i < leader->nqueues; i++)
		shm_mq_set_handle(leader->queues[i], context->worker[i].bgwhandle);
	ereport(DEBUG1,
			(errmsg_internal("search with %d of %d parallel workers", leader->nqueues, wanted)));
	if (leader->nqueues == 0)
		end_together(leader);
	return leader->nqueues > 0;
}

/*
 * Find the pairs of a planned search with so many workers, whose tasks have begun.
 * Returns false, without having found any, if there are none to be had.
 */
static bool
search_with_workers(ShPairsSearch *search, const ShPairsSlices *slices, int ntasks, int wanted)
{
	Leader		leader;

	if (!begin_together(&leader, search, slices, ntasks, wanted))
		return false;
	search->poll = poll_workers;
	search->poll_arg = &leader;
	if (parallel_leader_participation)
		take_part_in(search, leader.shared);
	search->poll = NULL;
	while (receive(&leader) || leader.nqueues > 0)
	{
		CHECK_FOR_INTERRUPTS();
		if (leader.nqueues > 0)
		{
			(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_EXIT_ON_PM_DEATH, 0,
							 WAIT_EVENT_EXECUTE_GATHER);
			ResetLatch(MyLatch);
		}
	}
	WaitForParallelWorkersToFinish(leader.context);
	for (int i = 0; i < leader.context->nworkers_launched; i++)
		InstrAccumParallelQuery(&leader.buffer_usage[i], &leader.wal_usage[i]);
	end_together(&leader);
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
