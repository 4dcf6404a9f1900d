/*-------------------------------------------------------------------------
 *
 * parallel.c
 *	  Searching for pairs with parallel workers.
 *
 * Workers only search.  They send excerpts of buckets to the leader, by a queue
 * for each worker, and the leader passes them to the sink as if it had found them
 * itself.  So whatever looks up rows, evaluates conditions or makes results does
 * not know about workers.  If no excerpt is waiting, the leader takes part in the
 * search, and looks for excerpts in between.
 *
 * Parallel mode begins before anything is found, and ends when all has been.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "optimizer/optimizer.h"
#include "storage/shm_toc.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "pairs/parallel.h"
#include "pairs/team.h"
#include "pairs/worker_queues.h"
#include "rows/progress.h"
#include "rows/workers.h"

/* keys of the objects in shared memory */
#define KEY_TEAM			UINT64CONST(0xB100000000000001)
#define KEY_SORT			UINT64CONST(0xB100000000000002)
#define KEY_HEAPS			UINT64CONST(0xB100000000000010) /* and the next */

/*
 * The size of all queues together: a share of maintenance_work_mem, and so many bytes
 * for each entry, but not so much that containers with little shared memory have none.
 * Workers go on while the leader looks up the rows of many pairs, until their queues
 * are full.
 */
#define QUEUES_SHARE		8
#define QUEUES_PER_ENTRY	64
#define MAX_QUEUES_SIZE		(16 * 1024 * 1024)
#define MIN_QUEUE_SIZE		(1024 * 1024)

/* if they are smaller, workers would have to wait for such a look-up */
#define LARGE_QUEUES		(8 * 1024 * 1024)

/* so many pairs are shown to the leader at once */
#define MANY_PAIRS			1024

/* ranges of a walk for each process */
#define RANGES				32

/* entries that the leader has collected, in shared memory */
typedef struct SharedSort
{
	SharedFileSet files;
	bool		grouped;
	ShSortShare share;
} SharedSort;

/* in the leader */
struct ShPairsParallel
{
	ShPairsWorkers workers;
	ShPairsTeam *team;
	const ShBitsScheme *scheme;
	SharedSort *sort;			/* or NULL */
	ShPairsSearcher *searcher;
	ShPairsReceived received;
	ShPairsReceived own;		/* shows excerpts of the leader */
	ShPairsSink *sink;
	ShPairsMatchSink *match_sink;

	/* buckets that are left to the leader alone */
	int			nleft;
	int			max_left;
	ShPairsTask *left;

	double		entries;		/* done by all, when all have ended */
};

PGDLLEXPORT void shpairs_worker(dsm_segment *seg, shm_toc *toc);

/* in a worker */
typedef struct Sender
{
	const ShBitsScheme *scheme;
	ShPairsWorker worker;
} Sender;

static void
send_excerpt(void *arg, ShPairsExcerpt *excerpt)
{
	Sender	   *sender = arg;
	ShPairsExcerptHead head;
	shm_mq_iovec pieces[SHPAIRS_EXCERPT_PIECES];

	shpairs_excerpt_pieces(excerpt, sender->scheme, &head, pieces);
	shpairs_worker_send(&sender->worker, pieces, lengthof(pieces), excerpt->npairs >= MANY_PAIRS);
}

/* a message of this size is a bucket that does not fit */
static void
send_bucket(void *arg, const ShPairsTask *bucket)
{
	Sender	   *sender = arg;
	shm_mq_iovec piece = {(const char *) bucket, sizeof(*bucket)};

	shpairs_worker_send(&sender->worker, &piece, 1, false);
}

StaticAssertDecl(sizeof(ShPairsTask) < sizeof(ShPairsExcerptHead),
				 "messages are told apart by their sizes");

/*
 * Begin to read what the leader has collected.
 */
static void
begin_sorted(ShPairsStream *stream, SharedSort *sort, const ShPairsTeam *team,
			 const ShBitsScheme *scheme)
{
	shpairs_stream_sort(stream, shsort_begin_whole((int) (team->memory / 1024), &sort->files,
												   &sort->share, 1, sort->grouped),
						scheme, sort->grouped);
}

/*
 * Entry point of a worker.
 */
void
shpairs_worker(dsm_segment *seg, shm_toc *toc)
{
	ShPairsTeam *team = shm_toc_lookup(toc, KEY_TEAM, false);
	SharedSort *sort = shm_toc_lookup(toc, KEY_SORT, true);
	ShRowsHeaps heaps[2];
	ShPairsStream streams[2];
	Sender		sender;

	shpairs_worker_begin(&sender.worker, seg, toc);
	sender.scheme = shbits_make_scheme(team->blocks, team->scheme_distance);
	for (int i = 0; i < team->nsides; i++)
	{
		shrows_attach_heaps(shm_toc_lookup(toc, KEY_HEAPS + i, false), &heaps[i]);
		if (sort == NULL)
			shpairs_stream_heaps(&streams[i], &heaps[i], sender.scheme, GetActiveSnapshot());
	}
	if (sort != NULL)
	{
		SharedFileSetAttach(&sort->files, seg);
		begin_sorted(&streams[0], sort, team, sender.scheme);
	}

	shpairs_searcher_run(shpairs_searcher_begin(team, &streams[0], &streams[1], send_excerpt,
												send_bucket, NULL, &sender));
	shpairs_worker_end(&sender.worker);

	for (int i = 0; i < team->nsides; i++)
	{
		shpairs_stream_end(&streams[i]);
		if (streams[i].sort != NULL)
			shsort_end(streams[i].sort);
		shrows_detach_heaps(&heaps[i]);
	}
}

/*
 * Pass the rows after the first of each key to a sink that wants these one by one,
 * as when the bucket is collected.
 */
static void
pass_repeated(ShPairsSink *sink, ShPairsBucket *bucket)
{
	size_t		nkeys = bucket->nkeys;

	for (size_t i = 0; i < nkeys; i++)
	{
		size_t		end = shpairs_bucket_rows_end(bucket, i);

		bucket->nkeys = i + 1;
		bucket->last_repeated = false;
		for (size_t row = bucket->starts[i] + 1; row < end; row++)
		{
			(void) sink->repeat(sink, bucket, bucket->rows[row]);
			bucket->last_repeated = true;
		}
		bucket->nkeys = nkeys;
	}
}

/*
 * Pass what has been found to the sink.
 */
static void
pass(ShPairsParallel *parallel, ShPairsReceived *received)
{
	ShPairsSink *sink = parallel->sink;
	ShPairsMatchSink *match_sink = parallel->match_sink;
	ShPairsBucket *buckets = received->buckets;

	if (sink != NULL && sink->repeat != NULL && buckets[0].nrows > buckets[0].nkeys)
		pass_repeated(sink, &buckets[0]);
	for (size_t i = 0; i < received->npairs; i++)
	{
		ShPairsExcerptPair pair = received->pairs[i];

		if (sink == NULL)
			match_sink->pair(match_sink, &buckets[0], pair.i, &buckets[1], pair.j);
		else if (pair.i != pair.j || sink->repeat == NULL)
			sink->pair(sink, &buckets[0], pair.i, pair.j);
	}
	if (sink == NULL)
		match_sink->leave(match_sink);
	else if (sink->leave != NULL)
		sink->leave(sink);
}

/* remember a bucket that is left to the leader alone */
static void
leave_bucket(void *arg, const ShPairsTask *bucket)
{
	ShPairsParallel *parallel = arg;

	if (parallel->nleft == parallel->max_left)
	{
		parallel->max_left *= 2;
		parallel->left = repalloc_huge(parallel->left, parallel->max_left * sizeof(ShPairsTask));
	}
	parallel->left[parallel->nleft++] = *bucket;
}

/*
 * Receive the next message, from any worker, if there is one.
 */
static bool
receive(ShPairsParallel *parallel)
{
	Size		size;
	void	   *message;

	if (!shpairs_workers_receive(&parallel->workers, &size, &message))
		return false;
	if (size == sizeof(ShPairsTask))
		leave_bucket(parallel, message);
	else
	{
		shpairs_excerpt_receive(&parallel->received, parallel->scheme, message, size);
		pass(parallel, &parallel->received);
	}
	return true;
}

/*
 * Pass on what workers have found, during a search of the leader.  The sink is
 * never called for a bucket of that search itself, but for excerpts.
 */
static void
poll_queues(void *arg)
{
	ShPairsParallel *parallel = arg;

	CHECK_FOR_INTERRUPTS();
	while (receive(parallel))
		CHECK_FOR_INTERRUPTS();
	shrows_progress_entries(shpairs_parallel_entries(parallel));
}

/* pass on what the leader has found */
static void
pass_own(void *arg, ShPairsExcerpt *excerpt)
{
	ShPairsParallel *parallel = arg;

	shpairs_excerpt_show(excerpt, &parallel->own);
	pass(parallel, &parallel->own);
	poll_queues(parallel);
}

/*
 * Reserve memory for what is shared, and allocate it.  Returns false if there is
 * none.
 */
static bool
share(ShPairsParallel *parallel, const ShPairsParallelInput *input, Size team_size)
{
	ShPairsWorkers *workers = &parallel->workers;

	shpairs_workers_reserve(workers, team_size);
	for (int i = 0; i < input->nsides; i++)
		shpairs_workers_reserve(workers, shrows_shared_size(input->heaps[i]));
	if (input->collect != NULL)
		shpairs_workers_reserve(workers, sizeof(SharedSort));
	if (!shpairs_workers_allocate(workers))
		return false;

	parallel->team = shpairs_workers_share(workers, KEY_TEAM, team_size);
	for (int i = 0; i < input->nsides; i++)
		shrows_share_heaps(input->heaps[i],
						   shpairs_workers_share(workers, KEY_HEAPS + i,
												 shrows_shared_size(input->heaps[i])));
	if (input->collect != NULL)
		parallel->sort = shpairs_workers_share(workers, KEY_SORT, sizeof(SharedSort));
	return true;
}

static void
fill_team(ShPairsTeam *team, const ShPairsParallelInput *input, int workers)
{
	team->distance = input->distance;
	team->nsides = input->nsides;
	team->memory = maintenance_work_mem * (Size) 1024 / (workers + 1);
	team->blocks = input->scheme->blocks;
	team->scheme_distance = input->scheme->distance;
	team->plan = *input->plan;
	team->sorted = input->collect != NULL;
	team->leader = MyProc;
}

/*
 * Collect the entries that all will sort.
 */
static void
collect(SharedSort *sort, dsm_segment *seg, const ShPairsParallelInput *input)
{
	ShSort	   *share;

	SharedFileSetInit(&sort->files, seg);
	sort->grouped = input->heaps[0]->grouped;
	share = shsort_begin_share(&sort->files, 0, sort->grouped);
	input->collect(input->arg, share);
	shsort_end_share(share, &sort->share);
}

/* the size of each queue */
static Size
queue_size(const ShPairsParallelInput *input, int workers)
{
	double		all = Min(maintenance_work_mem * 1024.0 / QUEUES_SHARE,
						  input->entries * QUEUES_PER_ENTRY);

	return Max(Min(all, MAX_QUEUES_SIZE) / workers, MIN_QUEUE_SIZE);
}

/*
 * Leave parallel mode.  Nothing that was shared can be used any more.
 */
void
shpairs_parallel_end(ShPairsParallel *parallel)
{
	shpairs_workers_end(&parallel->workers);
	parallel->team = NULL;
}

/*
 * Begin to search indexes with so many workers, or as many as can be started; there
 * must be at least one.  Returns NULL if none can.  What is found is passed to one
 * of the sinks.
 *
 * Enters parallel mode until shpairs_parallel_end.  Memory comes from the current
 * context.
 */
ShPairsParallel *
shpairs_parallel_begin(const ShPairsParallelInput *input, int workers, ShPairsSink *sink,
					   ShPairsMatchSink *match_sink)
{
	ShPairsParallel *parallel = palloc0(sizeof(ShPairsParallel));
	int			ntasks;
	ShPairsTask *tasks;

	tasks = shpairs_divide(input->plan, input->heaps, input->nsides,
						   input->collect != NULL ? 1 : RANGES * (workers + 1), &ntasks);
	/* a single bucket that is not large, or little more */
	if (ntasks == 1 && input->entries < SHPAIRS_LARGE)
		return NULL;
	parallel->scheme = input->scheme;
	parallel->sink = sink;
	parallel->match_sink = match_sink;
	parallel->max_left = 16;
	parallel->left = palloc(parallel->max_left * sizeof(ShPairsTask));

	shpairs_workers_begin(&parallel->workers, "shpairs_worker", workers,
						  queue_size(input, workers));
	if (share(parallel, input, shpairs_team_size(ntasks)))
	{
		fill_team(parallel->team, input, workers);
		shpairs_team_init(parallel->team, tasks, ntasks);
		if (parallel->sort != NULL)
			collect(parallel->sort, parallel->workers.context->seg, input);
	}
	pfree(tasks);
	if (!shpairs_workers_launch(&parallel->workers))
		return NULL;

	if (parallel->sort != NULL)
		begin_sorted(input->streams[0], parallel->sort, parallel->team, input->scheme);
	parallel->searcher = shpairs_searcher_begin(parallel->team, input->streams[0],
												input->streams[1], pass_own, leave_bucket,
												poll_queues, parallel);
	return parallel;
}

/*
 * All workers are done: wait until they have ended.
 */
static void
finish(ShPairsParallel *parallel)
{
	shpairs_workers_finish(&parallel->workers);
	ereport(DEBUG1,
			(errmsg_internal("parallel search of %d ranges, %d large buckets, %d left to the leader",
							 parallel->team->ntasks, parallel->team->nlarge, parallel->nleft)));
	parallel->entries = shpairs_parallel_entries(parallel);
}

/*
 * Let the sink do what nobody else can, while workers search.
 */
static bool
do_other_work(ShPairsParallel *parallel)
{
	ShPairsSink *sink = parallel->sink;
	ShPairsMatchSink *match_sink = parallel->match_sink;

	if (parallel->workers.nqueues * parallel->workers.queue_size < LARGE_QUEUES)
		return false;
	if (sink == NULL)
		return match_sink->idle != NULL && match_sink->idle(match_sink);
	return sink->idle != NULL && sink->idle(sink);
}

static void
report(ShPairsParallel *parallel)
{
	shrows_progress_entries(shpairs_parallel_entries(parallel));
	shrows_progress_table(shpairs_walks_done(parallel->team), parallel->team->plan.nwalks);
}

/*
 * Pass more of what is found to the sink.  Returns false when all but what is left
 * has been passed, and workers have ended.
 */
bool
shpairs_parallel_next(ShPairsParallel *parallel)
{
	CHECK_FOR_INTERRUPTS();
	report(parallel);
	if (receive(parallel) || do_other_work(parallel))
		return true;
	if (parallel_leader_participation && shpairs_searcher_work(parallel->searcher))
		return true;
	shpairs_excerpt_emit(&parallel->searcher->excerpt);
	report(parallel);
	if (parallel->workers.nqueues == 0)
	{
		finish(parallel);
		return false;
	}
	shpairs_workers_wait();
	return true;
}

/*
 * The buckets that are left to the leader, one for each task.
 */
ShPairsTask *
shpairs_parallel_left(ShPairsParallel *parallel, int *count)
{
	*count = parallel->nleft;
	return parallel->left;
}

/* the entries that are done, by all processes */
double
shpairs_parallel_entries(const ShPairsParallel *parallel)
{
	return parallel->team == NULL ? parallel->entries :
		(double) pg_atomic_read_u64(&parallel->team->entries);
}
