/*-------------------------------------------------------------------------
 *
 * progress.h
 *	  Reporting the progress of our functions to other sessions.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_ROWS_PROGRESS_H
#define SIMHASH_ROWS_PROGRESS_H

#include "pairs/progress.h"

typedef enum ShRowsCommand
{
	SHROWS_FIND_ALL,
	SHROWS_FIND_CLUSTERS,
	SHROWS_FIND_DUPLICATES,
	SHROWS_COMPONENTS,
	SHROWS_FIND_MATCHES,
	SHROWS_INDEX_CHECK
} ShRowsCommand;

typedef enum ShRowsPhase
{
	SHROWS_PHASE_INITIALIZE,
	SHROWS_PHASE_SORT,			/* reading the input of a sort */
	SHROWS_PHASE_COMPARE,		/* walking over the tables */
	SHROWS_PHASE_JOIN,			/* joining the members of pairs */
	SHROWS_PHASE_ORDER,			/* putting rows in the order of "keep" */
	SHROWS_PHASE_CHECK_ROWS,	/* checking pairs of rows by "same" */
	SHROWS_PHASE_RETURN,		/* returning members of clusters or
								 * components, or duplicates */
	SHROWS_PHASE_CHECK_TABLES,	/* verifying the structure of tables */
	SHROWS_PHASE_CHECK_SAME,	/* looking up the entries of one table in
								 * another */
	SHROWS_PHASE_CHECK_HEAP		/* looking up the rows of the heap */
} ShRowsPhase;

extern void shrows_progress_start(ShRowsCommand command, Oid heap, Oid index);
extern void shrows_progress_phase(ShRowsPhase phase, double entries);
extern void shrows_progress_table(int done, int total);
extern void shrows_progress_total(double entries);
extern void shrows_progress_entries(double count);
extern void shrows_progress_add(double count);
extern void shrows_progress_search(const ShPairsProgress *progress);
extern void shrows_progress_found(void);
extern void shrows_progress_checked(void);
extern void shrows_progress_end(void);

#endif							/* SIMHASH_ROWS_PROGRESS_H */
