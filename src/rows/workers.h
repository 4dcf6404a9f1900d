/*-------------------------------------------------------------------------
 *
 * workers.h
 *	  How many parallel workers a search may have.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_ROWS_WORKERS_H
#define SIMHASH_ROWS_WORKERS_H

#include "rows/heaps.h"

extern int	shrows_choose_workers(const ShRowsHeaps *heaps, int distance);

#endif							/* SIMHASH_ROWS_WORKERS_H */
