/*-------------------------------------------------------------------------
 *
 * wide_scan.h
 *	  Searching the parts of wide fingerprints, one after the other.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_SEARCH_WIDE_SCAN_H
#define SIMHASH_SEARCH_WIDE_SCAN_H

#include "search/matches.h"

struct shfnd_rows_hash;

/* for hash tables of rows that have been met */
static inline uint32
shfnd_hash_row(ShBtRow row)
{
	return (uint32) (row * UINT64CONST(0x9E3779B97F4A7C15) >> 32);
}

typedef struct ShFndWideScan
{
	ShFndReader *reader;
	ShFndConditions *conditions;	/* those of the reader */
	MemoryContext context;		/* of the rows and of the rest */
	int			part;			/* the one that is searched */
	ShFndAllotted allotted;

	/*
	 * the rows that have been returned; NULL if no row can be met twice. When
	 * they fill the memory, the rest is read from one table.
	 */
	struct shfnd_rows_hash *rows;
	uint32		max_rows;
	bool		rest;
} ShFndWideScan;

extern void shfnd_wide_begin(ShFndWideScan *scan, ShFndReader *reader,
							 ShFndConditions *conditions);
extern void shfnd_wide_start(ShFndWideScan *scan, bool once);
extern bool shfnd_wide_next_part(ShFndWideScan *scan);
extern bool shfnd_wide_next(ShFndWideScan *scan, ItemPointer tid);

#endif							/* SIMHASH_SEARCH_WIDE_SCAN_H */
