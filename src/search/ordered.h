/*-------------------------------------------------------------------------
 *
 * ordered.h
 *	  Reading what meets the conditions of a scan in order of distance.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_SEARCH_ORDERED_H
#define SIMHASH_SEARCH_ORDERED_H

#include "access/skey.h"

#include "search/reader.h"

typedef struct ShFndOrdered ShFndOrdered;

extern bool shfnd_ordered_by_condition(double pages, double leaves_per_table);
extern double shfnd_ordered_pages(const ShBitsScheme *scheme, double leaves_per_table,
								  double *first_ranges, double *first_pages);

extern ShFndOrdered *shfnd_ordered_begin(ShFndReader *reader, int norderbys);
extern bool shfnd_ordered_start(ShFndOrdered *ordered, ScanKey orderbys, int norderbys,
								bool *exact);
extern bool shfnd_ordered_next(ShFndOrdered *ordered, bool want_pin, ShFingerprint *fp,
							   ItemPointer tid);
extern void shfnd_ordered_release(ShFndOrdered *ordered);

#endif							/* SIMHASH_SEARCH_ORDERED_H */
