/*-------------------------------------------------------------------------
 *
 * progress.h
 *	  Reporting the progress of a search for pairs to other sessions.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BATCH_PROGRESS_H
#define SIMHASH_BATCH_PROGRESS_H

#include "postgres.h"

typedef enum ShBatchCommand
{
	SHBATCH_FIND_ALL,
	SHBATCH_FIND_CLUSTERS,
	SHBATCH_FIND_DUPLICATES,
	SHBATCH_COMPONENTS,
	SHBATCH_FIND_MATCHES,
	SHBATCH_UNWATCHED			/* not reported */
} ShBatchCommand;

typedef enum ShBatchPhase
{
	SHBATCH_PHASE_INITIALIZE,
	SHBATCH_PHASE_SORT,			/* reading the input of a sort */
	SHBATCH_PHASE_COMPARE,		/* walking over the tables */
	SHBATCH_PHASE_JOIN,			/* joining the members of pairs */
	SHBATCH_PHASE_ORDER,		/* putting rows in the order of "keep" */
	SHBATCH_PHASE_CHECK,		/* checking pairs of rows by "same" */
	SHBATCH_PHASE_RETURN		/* returning members of clusters or
								 * components, or duplicates */
} ShBatchPhase;

extern void shbatch_progress_start(ShBatchCommand command, Oid heap, Oid index);
extern void shbatch_progress_phase(ShBatchPhase phase, double entries);
extern void shbatch_progress_table(int done, int total);
extern void shbatch_progress_entries(double count);
extern void shbatch_progress_add(double count);
extern void shbatch_progress_part(double count);
extern void shbatch_progress_found(void);
extern void shbatch_progress_checked(void);
extern void shbatch_progress_end(void);

#endif							/* SIMHASH_BATCH_PROGRESS_H */
