/*-------------------------------------------------------------------------
 *
 * together.c
 *	  Searching buckets for pairs, with parallel workers if that is worth while.
 *
 * The leader has read the fingerprints and planned the search.  It copies them to
 * shared memory, and all processes search them in the same way (bucket_search.c).
 * Workers send the numbers of keys that are pairs, as they are passed on in one process,
 * and nothing else: rows, values and results are the leader's.
 *
 * Parallel mode lasts for the search of a bucket.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/parallel.h"
#include "access/xact.h"
#include "miscadmin.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "pgstat.h"
#include "storage/latch.h"
#include "storage/proc.h"
#include "storage/shm_mq.h"
#include "storage/shm_toc.h"
#include "tcop/tcopprot.h"
#include "utils/wait_event.h"

#include "index/index.h"
#include "pairs/bucket_search.h"
#include "pairs/collector.h"

/* keys of what is in shared memory */
#define KEY_SHARED			UINT64CONST(0xB300000000000001)
#define KEY_QUEUES			UINT64CONST(0xB300000000000002)
#define KEY_QUERY_TEXT		UINT64CONST(0xB300000000000003)

/*
 * A search of lower cost takes only some 20 ms.  It has no workers, unless the server
 * chooses them for every index, however small.
 */
#define LEAST_COST			2e8

/*
 * The least size of each queue, in bytes, and the most of all, an eighth of
 * maintenance_work_mem, if there is room for it: workers go on while the leader looks up the
 * rows of many pairs, until their queues are full.
 */
#define MIN_QUEUE_SIZE		(1024 * 1024)
#define QUEUES_SIZE			Min(16 * 1024 * 1024, maintenance_work_mem * 128.0)

/*
 * The most bytes of values.  Where shared memory for them is not to be had, the server
 * takes that of the leader, which has a limit.
 */
#define MAX_VALUES			(MaxAllocSize / 2)

/* words of values that are copied between two checks for interrupts */
#define COPIED_TOGETHER		0x100000

/* what the processes share */
typedef struct Shared
{
	ShIdxBuildId build_id;

	/* does not change */
	int			width;
	int			distance;
	bool		among;
	size_t		na;
	size_t		nb;
	ShPairsWordPlan plan;
	int			nmasks;			/* with one word: pairs that are not wanted */
	uint64		masks[SHBITS_MAX_TABLES];
	Size		queue_size;		/* of each worker's queue */

	ShPairsDeal deals[SHPAIRS_MAX_WORDS];	/* of the words of the plan */
	uint64		values[FLEXIBLE_ARRAY_MEMBER];	/* of a, and of b unless among */
} Shared;

/* in the leader */
typedef struct Leader
{
	ShPairsSearch *search;
	ShPairsHitsFunction pass;	/* that of the search, with its argument */
	void	   *arg;
	ParallelContext *context;
	Shared	   *shared;
	int			nqueues;		/* that are not at their end, */
	shm_mq_handle **queues;		/* first */
	int			next_queue;
} Leader;

PGDLLEXPORT void shpairs_worker(dsm_segment *seg, shm_toc *toc);

/*
 * ShPairsSearch.hits.pass, in a worker: send them.  If the leader does not listen any
 * more, the transaction is about to be aborted.
 */
static void
send_hits(void *queue, const ShPairsHit *hits, size_t count)
{
	if (count > 0 &&
		shm_mq_send(queue, count * sizeof(ShPairsHit), hits, false, true) == SHM_MQ_DETACHED)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the leader of a parallel search has gone")));
}

/* queues follow each other */
static shm_mq *
queue_of(const Shared *shared, char *queues, int worker)
{
	return (shm_mq *) (queues + worker * shared->queue_size);
}

static shm_mq_handle *
begin_worker(dsm_segment *seg, shm_toc *toc, const Shared *shared)
{
	shm_mq	   *queue = queue_of(shared, shm_toc_lookup(toc, KEY_QUEUES, false),
								 ParallelWorkerNumber);

	debug_query_string = shm_toc_lookup(toc, KEY_QUERY_TEXT, true);
	pgstat_report_activity(STATE_RUNNING, debug_query_string);
	shm_mq_set_sender(queue, MyProc);
	return shm_mq_attach(queue, seg, NULL);
}

/*
 * Entry point of a worker.
 */
void
shpairs_worker(dsm_segment *seg, shm_toc *toc)
{
	Shared	   *shared = shidx_of_this_build(shm_toc_lookup(toc, KEY_SHARED, false));
	int			nwords = shbits_nparts(shared->width);
	shm_mq_handle *queue = begin_worker(seg, toc, shared);
	ShPairsSearch *search = palloc(sizeof(ShPairsSearch));
	ShPairsBucket a = {.nwords = nwords,.nkeys = shared->na,.values = shared->values};
	ShPairsBucket b = {.nwords = nwords,.nkeys = shared->nb,.values = shared->values + shared->na * nwords};

	shpairs_search_init(search, shared->width, shared->distance, send_hits, queue);
	search->sets.a = &a;
	search->sets.b = shared->among ? &a : &b;
	search->plan = shared->plan;
	search->pairs.nmasks = shared->nmasks;
	memcpy(search->pairs.masks, shared->masks, sizeof(shared->masks));
	search->deals = shared->deals;
	shpairs_search_planned(search);
	shm_mq_detach(queue);
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
receive_message(Leader *leader, const ShPairsHit **hits)
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
				*hits = message;
				return size / sizeof(ShPairsHit);
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

/*
 * Set how far all processes are, so that this is reported when hits are passed on.
 */
static void
sum_done(Leader *leader)
{
	double		done = 0;

	for (int word = 0; word < SHPAIRS_MAX_WORDS; word++)
	{
		ShPairsDeal *deal = &leader->shared->deals[word];

		SpinLockAcquire(&deal->mutex);
		done += deal->done;
		SpinLockRelease(&deal->mutex);
	}
	leader->search->pairs.done = done;
}

/*
 * Pass on what workers have found so far.  They may find pairs faster than they are passed
 * on, so this may last until they have ended.
 */
static void
receive(Leader *leader)
{
	const ShPairsHit *hits;
	size_t		count;

	while ((count = receive_message(leader, &hits)) > 0)
	{
		CHECK_FOR_INTERRUPTS();
		sum_done(leader);
		leader->pass(leader->arg, hits, count);
	}
	sum_done(leader);
}

/* ShPairsSearch.hits.pass, in the leader */
static void
receive_and_pass(void *arg, const ShPairsHit *hits, size_t count)
{
	Leader	   *leader = arg;

	receive(leader);
	leader->pass(leader->arg, hits, count);
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
fill_shared(Shared *shared, const ShPairsSearch *search)
{
	const ShPairsSets *sets = &search->sets;

	shared->build_id = shidx_build_id;
	shared->width = sets->width;
	shared->distance = sets->distance;
	shared->among = sets->a == sets->b;
	shared->na = sets->a->nkeys;
	shared->nb = sets->b->nkeys;
	shared->plan = search->plan;
	shared->nmasks = sets->nwords == 1 ? search->pairs.nmasks : 0;
	memcpy(shared->masks, search->pairs.masks, shared->nmasks * sizeof(uint64));
	for (int word = 0; word < SHPAIRS_MAX_WORDS; word++)
		shpairs_init_deal(&shared->deals[word]);
	copy_values(sets->a, shared->values);
	if (!shared->among)
		copy_values(sets->b, shared->values + shared->na * sets->nwords);
}

static Size
size_of_values(const ShPairsSets *sets)
{
	return shpairs_count_keys(sets) * sets->nwords * sizeof(uint64);
}

/* is a search so long that workers should take part?  Others take some 20 ms. */
static bool
is_long(const ShPairsSearch *search)
{
	return search->plan.cost > 0 &&
		(search->plan.cost >= LEAST_COST || min_parallel_index_scan_size == 0);
}

/*
 * The memory for all workers, besides that of the leader.
 */
static double
memory_for_workers(const ShPairsSets *sets)
{
	return maintenance_work_mem * 1024.0 - size_of_values(sets) -
		(double) shpairs_count_keys(sets) * shpairs_entry_bytes(sets->nwords);
}

/*
 * The memory for what a worker searches, without its queue.
 */
static double
memory_of_worker(const ShPairsSets *sets)
{
	return (double) shpairs_count_keys(sets) * shpairs_search_bytes(sets->nwords);
}

/*
 * How many workers there is memory for.
 */
static int
workers_with_memory(const ShPairsSets *sets, int workers)
{
	double		memory = memory_for_workers(sets);

	if (size_of_values(sets) > MAX_VALUES || memory <= 0)
		return 0;
	return Min(workers, (int) (memory / (memory_of_worker(sets) + MIN_QUEUE_SIZE)));
}

/*
 * The size of the queue of each of so many workers: as much as is left, within the limits.
 */
static Size
size_of_queue(const ShPairsSets *sets, int workers)
{
	double		left = memory_for_workers(sets) / workers - memory_of_worker(sets);

	return MAXALIGN((Size) Max(Min(left, QUEUES_SIZE / workers), MIN_QUEUE_SIZE));
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
begin_together(Leader *leader, ShPairsSearch *search, int wanted)
{
	Size		queue_size = size_of_queue(&search->sets, wanted);
	Size		size = offsetof(Shared, values) + size_of_values(&search->sets);
	Size		text_size = debug_query_string != NULL ? strlen(debug_query_string) + 1 : 0;
	ParallelContext *context;

	memset(leader, 0, sizeof(Leader));
	EnterParallelMode();
	leader->context = context = CreateParallelContext("simhash", "shpairs_worker", wanted);
	reserve(leader, size);
	reserve(leader, mul_size(queue_size, wanted));
	if (text_size > 0)
		reserve(leader, text_size);
	InitializeParallelDSM(context);
	if (context->seg != NULL)
	{
		leader->shared = allocate_shared(leader, KEY_SHARED, size);
		leader->shared->queue_size = queue_size;
		fill_shared(leader->shared, search);
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
 * Find the pairs of a planned search with up to so many workers, if there is memory
 * for them.  Returns false, without having found any pair, if not.  If there are none
 * to be had, *workers is set to 0, so that the next search does not try.
 *
 * Enters parallel mode, and leaves it.
 */
static bool
search_together(ShPairsSearch *search, int *workers)
{
	int			wanted = workers_with_memory(&search->sets, *workers);
	Leader		leader;

	if (wanted <= 0)
		return false;
	if (!begin_together(&leader, search, wanted))
	{
		*workers = 0;
		return false;
	}
	leader.search = search;
	leader.pass = search->hits.pass;
	leader.arg = search->hits.arg;
	search->deals = leader.shared->deals;
	search->hits.pass = receive_and_pass;
	search->hits.arg = &leader;
	if (parallel_leader_participation)
		shpairs_search_planned(search);
	for (;;)
	{
		receive(&leader);
		if (leader.nqueues == 0)
			break;
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_EXIT_ON_PM_DEATH, 0,
						 WAIT_EVENT_EXECUTE_GATHER);
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
	}
	search->hits.pass = leader.pass;
	search->hits.arg = leader.arg;
	search->deals = NULL;
	WaitForParallelWorkersToFinish(leader.context);
	end_together(&leader);
	return true;
}

/*
 * Find the pairs among bucket a, or of a key of a and one of b, with up to so many
 * workers.  Each is passed on once.
 */
void
shpairs_search(ShPairsSearch *search, const ShPairsBucket *a, const ShPairsBucket *b, int *workers)
{
	search->sets.a = a;
	search->sets.b = b;
	if (*workers > 0 || search->sets.nwords > 1)
	{
		shpairs_plan_words(&search->plan, &search->sets);
		if (*workers > 0 && is_long(search) && search_together(search, workers))
			return;
	}
	shpairs_search_planned(search);
}
