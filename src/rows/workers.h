/*-------------------------------------------------------------------------
 *
 * workers.h
 *	  Parallel workers for a search: how many, and the tables for them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_ROWS_WORKERS_H
#define SIMHASH_ROWS_WORKERS_H

#include "rows/heaps.h"

/* a table with its index, for workers */
typedef struct ShRowsSharedHeap
{
	Oid			relation;
	Oid			index;
	ShRowsNumber first_row;
	ShRowsNumber end_row;
} ShRowsSharedHeap;

/* some tables, in shared memory */
typedef struct ShRowsSharedHeaps
{
	int			count;
	bool		grouped;
	ShRowsSharedHeap heaps[FLEXIBLE_ARRAY_MEMBER];
} ShRowsSharedHeaps;

extern int	shrows_choose_workers(const ShRowsHeaps *heaps, int distance);
extern Size shrows_shared_size(const ShRowsHeaps *heaps);
extern void shrows_share_heaps(const ShRowsHeaps *heaps, ShRowsSharedHeaps *shared);
extern void shrows_attach_heaps(const ShRowsSharedHeaps *shared, ShRowsHeaps *heaps);
extern void shrows_detach_heaps(ShRowsHeaps *heaps);

#endif							/* SIMHASH_ROWS_WORKERS_H */
