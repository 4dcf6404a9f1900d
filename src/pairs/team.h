/*-------------------------------------------------------------------------
 *
 * team.h
 *	  Several processes that search for pairs together.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_PAIRS_TEAM_H
#define SIMHASH_PAIRS_TEAM_H

#include "storage/condition_variable.h"
#include "storage/proc.h"
#include "storage/spin.h"

#include "pairs/excerpt.h"
#include "pairs/ranges.h"

/* the most large buckets that are searched by several processes */
#define SHPAIRS_MAX_LARGE		64

/* from this many keys on, a bucket is large */
#define SHPAIRS_LARGE			16384

/* such a bucket */
typedef struct ShPairsLarge
{
	bool		ready;			/* the slices have been planned */
	int			walk;
	ShPairsPlace place;
	double		entries;
	pg_atomic_uint32 next_slice[SHBITS_WIDTH];	/* of each part */
	pg_atomic_uint32 processes[SHBITS_WIDTH];	/* that have divided the keys
												 * by it */
	ShPairsSlices slices;
} ShPairsLarge;

/* what the processes share */
typedef struct ShPairsTeam
{
	/* does not change */
	int			distance;
	int			nsides;
	Size		memory;			/* of each process */
	int			blocks;			/* the scheme */
	int			scheme_distance;
	ShPairsPlan plan;
	bool		sorted;			/* starting a range sorts all entries */
	PGPROC	   *leader;

	pg_atomic_uint64 entries;	/* done by all */
	pg_atomic_uint32 next_task;
	pg_atomic_uint32 reading;	/* processes that search ranges */
	pg_atomic_uint32 left[SHBITS_MAX_TABLES];	/* ranges of walks, not done */
	ConditionVariable changed;	/* fewer of them, or a large bucket */

	/* large buckets; the mutex protects their number and "ready" */
	slock_t		mutex;
	int			nlarge;
	ShPairsLarge large[SHPAIRS_MAX_LARGE];

	int			ntasks;
	ShPairsTask tasks[FLEXIBLE_ARRAY_MEMBER];
} ShPairsTeam;

/* called with a bucket that does not fit in the memory of a process */
typedef void (*ShPairsTooLargeFunction) (void *arg, const ShPairsTask *bucket);

/* one of the processes */
typedef struct ShPairsSearcher
{
	ShPairsTeam *team;
	ShPairsTooLargeFunction too_large;
	ShPairsPollFunction poll;	/* or NULL */
	void	   *arg;
	ShPairsExcerpt excerpt;		/* what has been found */
	int			walk;
	double		counted;		/* entries of the range */
	bool		tried[SHPAIRS_MAX_LARGE];	/* to help with a large bucket */
	ShPairs		pairs;
	ShPairsBucketReader readers[2];
} ShPairsSearcher;

extern Size shpairs_team_size(int ntasks);
extern void shpairs_team_init(ShPairsTeam *team, const ShPairsTask *tasks, int ntasks);
extern ShPairsSearcher *shpairs_searcher_begin(ShPairsTeam *team, ShPairsStream *a,
											   ShPairsStream *b, ShPairsEmitFunction emit,
											   ShPairsTooLargeFunction too_large,
											   ShPairsPollFunction poll, void *arg);
extern int	shpairs_walks_done(ShPairsTeam *team);
extern bool shpairs_searcher_work(ShPairsSearcher *searcher);
extern void shpairs_searcher_run(ShPairsSearcher *searcher);

#endif							/* SIMHASH_PAIRS_TEAM_H */
