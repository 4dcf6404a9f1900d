/*-------------------------------------------------------------------------
 *
 * wide_scan.h
 *	  Searching the parts of wide fingerprints, one after the other.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_INDEX_WIDE_SCAN_H
#define SIMHASH_INDEX_WIDE_SCAN_H

#include "index/matches.h"

struct shidx_rows_hash;

/* for hash tables of rows that have been met */
static inline uint32
shidx_hash_row(ShBtRow row)
{
	return (uint32) (row * UINT64CONST(0x9E3779B97F4A7C15) >> 32);
}

typedef struct ShIdxWideScan
{
	ShIdxReader *reader;
	ShIdxConditions *conditions;	/* those of the reader */
	MemoryContext context;		/* of the rows and of the rest */
	int			part;			/* the one that is searched */
	ShIdxAllotted allotted;

	/*
	 * the rows that have been returned; NULL if no row can be met twice. When
	 * they fill the memory, the rest is read from one table.
	 */
	struct shidx_rows_hash *rows;
	uint32		max_rows;
	bool		rest;
} ShIdxWideScan;

extern void shidx_wide_begin(ShIdxWideScan *scan, ShIdxReader *reader,
							 ShIdxConditions *conditions);
extern void shidx_wide_start(ShIdxWideScan *scan, bool once);
extern bool shidx_wide_next_part(ShIdxWideScan *scan);
extern bool shidx_wide_next(ShIdxWideScan *scan, ItemPointer tid);

#endif							/* SIMHASH_INDEX_WIDE_SCAN_H */
