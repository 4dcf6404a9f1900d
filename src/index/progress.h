/*-------------------------------------------------------------------------
 *
 * progress.h
 *	  Reporting the progress of our functions to other sessions.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_INDEX_PROGRESS_H
#define SIMHASH_INDEX_PROGRESS_H

#include "postgres.h"

typedef enum ShIdxCommand
{
	SHIDX_FIND_ALL,
	SHIDX_FIND_CLUSTERS,
	SHIDX_FIND_DUPLICATES,
	SHIDX_COMPONENTS,
	SHIDX_FIND_MATCHES,
	SHIDX_INDEX_CHECK,
	SHIDX_UNWATCHED				/* not reported */
} ShIdxCommand;

typedef enum ShIdxPhase
{
	SHIDX_PHASE_INITIALIZE,
	SHIDX_PHASE_SORT,			/* reading the input of a sort */
	SHIDX_PHASE_COMPARE,		/* walking over the tables */
	SHIDX_PHASE_JOIN,			/* joining the members of pairs */
	SHIDX_PHASE_ORDER,			/* putting rows in the order of "keep" */
	SHIDX_PHASE_CHECK_ROWS,		/* checking pairs of rows by "same" */
	SHIDX_PHASE_RETURN,			/* returning members of clusters or
								 * components, or duplicates */
	SHIDX_PHASE_CHECK_TABLES,	/* verifying the structure of tables */
	SHIDX_PHASE_CHECK_SAME,		/* looking up the entries of one table in
								 * another */
	SHIDX_PHASE_CHECK_HEAP		/* looking up the rows of the heap */
} ShIdxPhase;

extern void shidx_progress_start(ShIdxCommand command, Oid heap, Oid index);
extern void shidx_progress_phase(ShIdxPhase phase, double entries);
extern void shidx_progress_table(int done, int total);
extern void shidx_progress_total(double entries);
extern void shidx_progress_entries(double count);
extern void shidx_progress_add(double count);
extern void shidx_progress_found(void);
extern void shidx_progress_checked(void);
extern void shidx_progress_end(void);

#endif							/* SIMHASH_INDEX_PROGRESS_H */
