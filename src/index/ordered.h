/*-------------------------------------------------------------------------
 *
 * ordered.h
 *	  Reading what meets the conditions of a scan in order of distance.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_INDEX_ORDERED_H
#define SIMHASH_INDEX_ORDERED_H

#include "access/skey.h"

#include "index/matches.h"

typedef struct ShIdxOrdered ShIdxOrdered;

extern bool shidx_ordered_by_condition(double pages, double leaves_per_table);
extern double shidx_ordered_pages(const ShBitsScheme *scheme, double leaves_per_table,
								  double *first_ranges, double *first_pages);

extern ShIdxOrdered *shidx_ordered_begin(ShIdxReader *reader, int norderbys);
extern bool shidx_ordered_start(ShIdxOrdered *ordered, ScanKey orderbys, int norderbys);
extern bool shidx_ordered_next(ShIdxOrdered *ordered, bool want_pin, ShFingerprint *fp,
							   ItemPointer tid);
extern void shidx_ordered_release(ShIdxOrdered *ordered);

#endif							/* SIMHASH_INDEX_ORDERED_H */
