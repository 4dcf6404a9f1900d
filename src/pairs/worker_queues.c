/*-------------------------------------------------------------------------
 *
 * worker_queues.c
 *	  Parallel workers that send what they find to the leader.
 *
 * Each worker has a queue, and only the leader reads it.  Parallel mode lasts from
 * shpairs_workers_begin to shpairs_workers_end.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/latch.h"
#include "storage/proc.h"
#include "storage/shm_toc.h"
#include "tcop/tcopprot.h"
#include "utils/wait_event.h"

#include "pairs/worker_queues.h"

/* keys of the objects in shared memory that every search has */
#define KEY_QUEUES			UINT64CONST(0xB200000000000001)
#define KEY_QUERY_TEXT		UINT64CONST(0xB200000000000002)
#define KEY_WAL_USAGE		UINT64CONST(0xB200000000000003)
#define KEY_BUFFER_USAGE	UINT64CONST(0xB200000000000004)

/* in shared memory, before the queues, which follow each other */
typedef struct Queues
{
	Size		size;			/* of each */
} Queues;

static Size
for_each_worker(const ShPairsWorkers *workers, Size size)
{
	return mul_size(size, workers->context->nworkers);
}

static Size
size_of_queues(const ShPairsWorkers *workers)
{
	return MAXALIGN(sizeof(Queues)) + for_each_worker(workers, workers->queue_size);
}

static shm_mq *
queue_of(Queues *queues, int worker)
{
	return (shm_mq *) ((char *) queues + MAXALIGN(sizeof(Queues)) + worker * queues->size);
}

/*
 * Reserve shared memory for an object.
 */
void
shpairs_workers_reserve(ShPairsWorkers *workers, Size size)
{
	shm_toc_estimate_chunk(&workers->context->estimator, size);
	shm_toc_estimate_keys(&workers->context->estimator, 1);
}

/*
 * Enter parallel mode, and prepare for so many workers that run a function of this
 * library.  A worker has to wait when its queue, of so many bytes, is full.
 */
void
shpairs_workers_begin(ShPairsWorkers *workers, const char *function, int count,
					  Size queue_size)
{
	memset(workers, 0, sizeof(ShPairsWorkers));
	workers->wanted = count;
	workers->queue_size = MAXALIGN(queue_size);
	EnterParallelMode();
	workers->context = CreateParallelContext("simhash", function, count);
	shpairs_workers_reserve(workers, size_of_queues(workers));
	shpairs_workers_reserve(workers, for_each_worker(workers, sizeof(WalUsage)));
	shpairs_workers_reserve(workers, for_each_worker(workers, sizeof(BufferUsage)));
	if (debug_query_string != NULL)
		shpairs_workers_reserve(workers, strlen(debug_query_string) + 1);
}

/*
 * Allocate an object in shared memory that has been reserved.
 */
void *
shpairs_workers_share(ShPairsWorkers *workers, uint64 key, Size size)
{
	shm_toc    *toc = workers->context->toc;
	void	   *object = shm_toc_allocate(toc, size);

	shm_toc_insert(toc, key, object);
	return object;
}

static void
begin_queues(ShPairsWorkers *workers)
{
	ParallelContext *context = workers->context;
	Queues	   *queues = shpairs_workers_share(workers, KEY_QUEUES, size_of_queues(workers));

	workers->queues = palloc(context->nworkers * sizeof(shm_mq_handle *));
	queues->size = workers->queue_size;
	for (int i = 0; i < context->nworkers; i++)
	{
		shm_mq	   *queue = shm_mq_create(queue_of(queues, i), queues->size);

		shm_mq_set_receiver(queue, MyProc);
		workers->queues[i] = shm_mq_attach(queue, context->seg, NULL);
	}
}

/*
 * Allocate the shared memory.  Returns false if there is none, or if the server
 * allows no workers.
 */
bool
shpairs_workers_allocate(ShPairsWorkers *workers)
{
	InitializeParallelDSM(workers->context);
	if (workers->context->seg == NULL)
		return false;
	workers->wal_usage = shpairs_workers_share(workers, KEY_WAL_USAGE,
											   for_each_worker(workers, sizeof(WalUsage)));
	workers->buffer_usage = shpairs_workers_share(workers, KEY_BUFFER_USAGE,
												  for_each_worker(workers, sizeof(BufferUsage)));
	if (debug_query_string != NULL)
		strcpy(shpairs_workers_share(workers, KEY_QUERY_TEXT, strlen(debug_query_string) + 1),
			   debug_query_string);
	begin_queues(workers);
	return true;
}

/*
 * Start the workers.  If none can be started, leave parallel mode and return false.
 */
bool
shpairs_workers_launch(ShPairsWorkers *workers)
{
	ParallelContext *context = workers->context;

	LaunchParallelWorkers(context);
	workers->nqueues = context->nworkers_launched;
	for (int i = 0; i < workers->nqueues; i++)
		shm_mq_set_handle(workers->queues[i], context->worker[i].bgwhandle);
	ereport(DEBUG1,
			(errmsg_internal("search with %d of %d parallel workers", context->nworkers_launched,
							 workers->wanted)));
	if (workers->nqueues == 0)
		shpairs_workers_end(workers);
	return workers->nqueues > 0;
}

/* a queue is at its end */
static void
move_to_end(ShPairsWorkers *workers, int number)
{
	shm_mq_handle *queue = workers->queues[number];

	workers->queues[number] = workers->queues[--workers->nqueues];
	workers->queues[workers->nqueues] = queue;
}

/*
 * Receive the next message of any worker, if there is one.  It is valid until the
 * next call.
 */
bool
shpairs_workers_receive(ShPairsWorkers *workers, Size *size, void **message)
{
	int			empty = 0;

	while (empty < workers->nqueues)
	{
		int			number = workers->next_queue % workers->nqueues;

		switch (shm_mq_receive(workers->queues[number], size, message, true))
		{
			case SHM_MQ_SUCCESS:
				return true;
			case SHM_MQ_DETACHED:
				move_to_end(workers, number);
				empty = 0;
				break;
			case SHM_MQ_WOULD_BLOCK:
				workers->next_queue = number + 1;
				empty++;
				break;
		}
	}
	return false;
}

/*
 * Wait for a message, or for the end of a worker.
 */
void
shpairs_workers_wait(void)
{
	(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_EXIT_ON_PM_DEATH, 0, WAIT_EVENT_EXECUTE_GATHER);
	ResetLatch(MyLatch);
}

/*
 * All queues are at their end: wait until the workers have ended, too.
 */
void
shpairs_workers_finish(ShPairsWorkers *workers)
{
	WaitForParallelWorkersToFinish(workers->context);
	for (int i = 0; i < workers->context->nworkers_launched; i++)
		InstrAccumParallelQuery(&workers->buffer_usage[i], &workers->wal_usage[i]);
}

/*
 * Leave parallel mode.  Nothing that was shared can be used any more.
 */
void
shpairs_workers_end(ShPairsWorkers *workers)
{
	/* without shared memory there are neither workers nor queues */
	for (int i = 0; i < workers->context->nworkers; i++)
		shm_mq_detach(workers->queues[i]);
	DestroyParallelContext(workers->context);
	if (workers->queues != NULL)
		pfree(workers->queues);
	ExitParallelMode();
}

/*
 * Begin the work of a worker.
 */
void
shpairs_worker_begin(ShPairsWorker *worker, dsm_segment *seg, shm_toc *toc)
{
	shm_mq	   *queue = queue_of(shm_toc_lookup(toc, KEY_QUEUES, false), ParallelWorkerNumber);

	debug_query_string = shm_toc_lookup(toc, KEY_QUERY_TEXT, true);
	pgstat_report_activity(STATE_RUNNING, debug_query_string);
	worker->toc = toc;
	shm_mq_set_sender(queue, MyProc);
	worker->queue = shm_mq_attach(queue, seg, NULL);
	InstrStartParallelQuery();
}

/*
 * Send a message to the leader, who is told now or when many have been sent.  If it
 * does not listen any more, the transaction is about to be aborted.
 */
void
shpairs_worker_send(ShPairsWorker *worker, shm_mq_iovec *pieces, int count, bool now)
{
	if (shm_mq_sendv(worker->queue, pieces, count, false, now) == SHM_MQ_DETACHED)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the leader of a parallel search has gone")));
}

/*
 * The worker has sent all.
 */
void
shpairs_worker_end(ShPairsWorker *worker)
{
	WalUsage   *wal_usage = shm_toc_lookup(worker->toc, KEY_WAL_USAGE, false);
	BufferUsage *buffer_usage = shm_toc_lookup(worker->toc, KEY_BUFFER_USAGE, false);

	InstrEndParallelQuery(&buffer_usage[ParallelWorkerNumber], &wal_usage[ParallelWorkerNumber]);
	shm_mq_detach(worker->queue);
}
