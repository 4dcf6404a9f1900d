/*-------------------------------------------------------------------------
 *
 * progress.h
 *	  Letting other sessions see how far a search for pairs is.
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
	SHBATCH_UNWATCHED			/* nothing is shown of it */
} ShBatchCommand;

typedef enum ShBatchPhase
{
	SHBATCH_PHASE_INITIALIZE,
	SHBATCH_PHASE_SORT,			/* reading what is to be sorted */
	SHBATCH_PHASE_COMPARE,		/* walking over the tables */
	SHBATCH_PHASE_JOIN,			/* joining the members of pairs */
	SHBATCH_PHASE_ORDER,		/* putting rows in the order of "keep" */
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
extern void shbatch_progress_end(void);

#endif							/* SIMHASH_BATCH_PROGRESS_H */
