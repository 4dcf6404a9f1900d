/*-------------------------------------------------------------------------
 *
 * wide_ordered.h
 *	  Reading wide fingerprints in order of distance.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_SEARCH_WIDE_ORDERED_H
#define SIMHASH_SEARCH_WIDE_ORDERED_H

#include "search/reader.h"

typedef struct ShFndWideOrdered ShFndWideOrdered;

extern bool shfnd_wide_by_condition(const ShFndCost *cost, int width, double leaves_per_table);
extern void shfnd_wide_ordered_pages(int width, double leaves_per_table, ShFndCost *cost);

extern ShFndWideOrdered *shfnd_wide_ordered_begin(ShFndReader *reader);
extern void shfnd_wide_ordered_start(ShFndWideOrdered *ordered, Relation heap, Datum center);
extern bool shfnd_wide_ordered_next(ShFndWideOrdered *ordered, ItemPointer tid, int *bound);
extern void shfnd_wide_ordered_release(ShFndWideOrdered *ordered);

#endif							/* SIMHASH_SEARCH_WIDE_ORDERED_H */
