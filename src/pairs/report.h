/*-------------------------------------------------------------------------
 *
 * report.h
 *	  How far a search has come.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_PAIRS_REPORT_H
#define SIMHASH_PAIRS_REPORT_H

typedef enum ShPairsPhase
{
	SHPAIRS_SORTING,			/* reading the input of a sort */
	SHPAIRS_COMPARING			/* walking over the tables */
}			ShPairsPhase;

typedef struct ShPairsProgress
{
	ShPairsPhase phase;
	int			walks_done;
	int			nwalks;
	double		done;			/* entries of this phase */
	double		total;			/* about; 0 if unknown */

	/* Called when something has changed; or NULL. */
	void		(*report) (const struct ShPairsProgress *progress);
}			ShPairsProgress;

static inline void
shpairs_progress_report(const ShPairsProgress * progress)
{
	if (progress->report != NULL)
		progress->report(progress);
}

/*
 * Begin a phase with about so many entries; 0 if unknown.
 */
static inline void
shpairs_progress_begin(ShPairsProgress * progress, ShPairsPhase phase, double total)
{
	progress->phase = phase;
	progress->done = 0;
	progress->total = total;
	shpairs_progress_report(progress);
}

/*
 * So many entries of the phase are done.  If that are more than there should be, there are
 * at least as many.
 */
static inline void
shpairs_progress_entries(ShPairsProgress * progress, double done)
{
	progress->done = done;
	if (progress->total > 0)
		progress->total = Max(progress->total, done);
	shpairs_progress_report(progress);
}

/* so many more */
static inline void
shpairs_progress_add(ShPairsProgress * progress, double count)
{
	shpairs_progress_entries(progress, progress->done + count);
}

static inline void
shpairs_progress_walks(ShPairsProgress * progress, int done, int nwalks)
{
	progress->walks_done = done;
	progress->nwalks = nwalks;
	shpairs_progress_report(progress);
}

#endif							/* SIMHASH_PAIRS_REPORT_H */
