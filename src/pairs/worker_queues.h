/*-------------------------------------------------------------------------
 *
 * worker_queues.h
 *	  Parallel workers that send what they find to the leader.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_PAIRS_WORKER_QUEUES_H
#define SIMHASH_PAIRS_WORKER_QUEUES_H

#include "access/parallel.h"
#include "executor/instrument.h"
#include "storage/shm_mq.h"

/* in the leader */
typedef struct ShPairsWorkers
{
	ParallelContext *context;
	int			wanted;
	WalUsage   *wal_usage;
	BufferUsage *buffer_usage;
	Size		queue_size;
	int			nqueues;		/* that are not at their end, */
	shm_mq_handle **queues;		/* first */
	int			next_queue;
} ShPairsWorkers;

/* in a worker */
typedef struct ShPairsWorker
{
	shm_toc    *toc;
	shm_mq_handle *queue;
} ShPairsWorker;

extern void shpairs_workers_begin(ShPairsWorkers *workers, const char *function, int count,
								  Size queue_size);
extern void shpairs_workers_reserve(ShPairsWorkers *workers, Size size);
extern bool shpairs_workers_allocate(ShPairsWorkers *workers);
extern void *shpairs_workers_share(ShPairsWorkers *workers, uint64 key, Size size);
extern bool shpairs_workers_launch(ShPairsWorkers *workers);
extern bool shpairs_workers_receive(ShPairsWorkers *workers, Size *size, void **message);
extern void shpairs_workers_wait(void);
extern void shpairs_workers_finish(ShPairsWorkers *workers);
extern void shpairs_workers_end(ShPairsWorkers *workers);

extern void shpairs_worker_begin(ShPairsWorker *worker, dsm_segment *seg, shm_toc *toc);
extern void shpairs_worker_send(ShPairsWorker *worker, shm_mq_iovec *pieces, int count, bool now);
extern void shpairs_worker_end(ShPairsWorker *worker);

#endif							/* SIMHASH_PAIRS_WORKER_QUEUES_H */
