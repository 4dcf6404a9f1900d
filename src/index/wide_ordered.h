/*-------------------------------------------------------------------------
 *
 * wide_ordered.h
 *	  Reading wide fingerprints in order of distance.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_INDEX_WIDE_ORDERED_H
#define SIMHASH_INDEX_WIDE_ORDERED_H

#include "index/wide_scan.h"

typedef struct ShIdxWideOrdered ShIdxWideOrdered;

extern bool shidx_wide_by_condition(const ShIdxWidePlan *plan, int width, double leaves_per_table);
extern void shidx_wide_ordered_pages(int width, double leaves_per_table, ShIdxBallsPlan *plan);

extern ShIdxWideOrdered *shidx_wide_ordered_begin(ShIdxReader *reader, ShIdxConditions *conditions,
												  ShIdxWideScan *scan, int width);
extern void shidx_wide_ordered_start(ShIdxWideOrdered *ordered, Datum center);
extern bool shidx_wide_ordered_next(ShIdxWideOrdered *ordered, ItemPointer tid, int *bound);
extern void shidx_wide_ordered_release(ShIdxWideOrdered *ordered);

#endif							/* SIMHASH_INDEX_WIDE_ORDERED_H */
