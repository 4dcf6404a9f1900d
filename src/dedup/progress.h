/*-------------------------------------------------------------------------
 *
 * progress.h
 *	  Reporting the progress of our functions to other sessions.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_DEDUP_PROGRESS_H
#define SIMHASH_DEDUP_PROGRESS_H

#include "pairs/keys.h"

typedef enum ShDupCommand
{
	SHDUP_FIND_ALL,
	SHDUP_FIND_CLUSTERS,
	SHDUP_FIND_DUPLICATES,
	SHDUP_COMPONENTS,
	SHDUP_FIND_MATCHES,
	SHDUP_INDEX_CHECK,

	/* new ones at the end, as another process may have an earlier library */
	SHDUP_ADVISE
} ShDupCommand;

typedef enum ShDupPhase
{
	SHDUP_PHASE_INITIALIZE,
	SHDUP_PHASE_SORT,			/* reading the input of a sort */
	SHDUP_PHASE_COMPARE,		/* walking over the tables */
	SHDUP_PHASE_JOIN,			/* joining the members of pairs */
	SHDUP_PHASE_ORDER,			/* putting rows in the order of "keep" */
	SHDUP_PHASE_CHECK_ROWS,		/* checking pairs of rows (row_check.c) */
	SHDUP_PHASE_RETURN,			/* returning members of clusters */
	SHDUP_PHASE_CHECK_TABLES,	/* verifying the structure of tables */
	SHDUP_PHASE_CHECK_SAME,		/* looking up the entries of one table in
								 * another */
	SHDUP_PHASE_CHECK_HEAP,		/* looking up the rows of the heap */

	/* new ones at the end, as another process may have an earlier library */
	SHDUP_PHASE_RETURN_DUPLICATES,
	SHDUP_PHASE_RETURN_COMPONENTS
} ShDupPhase;

extern void shdup_progress_start(ShDupCommand command, Oid heap, Oid index);
extern void shdup_progress_phase(ShDupPhase phase, double entries);
extern void shdup_progress_table(int done, int total);
extern void shdup_progress_total(double entries);
extern void shdup_progress_entries(double count);
extern void shdup_progress_add(double count);
extern void shdup_progress_search(const ShPairsProgress *progress);
extern void shdup_progress_found(void);
extern void shdup_progress_checked(void);
extern void shdup_progress_end(void);

#endif							/* SIMHASH_DEDUP_PROGRESS_H */
