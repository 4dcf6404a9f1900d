/*-------------------------------------------------------------------------
 *
 * sort.h
 *	  Sorting the entries of a build, once for each table.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_INDEX_SORT_H
#define SIMHASH_INDEX_SORT_H

#include "postgres.h"

#include "bits/scheme.h"
#include "index/page.h"

typedef struct ShIdxSort ShIdxSort;

extern ShIdxSort *shidx_sort_begin(int memory_kb);
extern void shidx_sort_add(ShIdxSort *sort, uint64 fp, uint64 tid);
extern double shidx_sort_count(const ShIdxSort *sort);
extern void shidx_sort_start_table(ShIdxSort *sort, const ShBitsTable *table);
extern bool shidx_sort_next(ShIdxSort *sort, ShIdxKey *key);
extern void shidx_sort_end(ShIdxSort *sort);

/* radix.c */
extern void shidx_radix_sort(ShIdxKey *keys, ShIdxKey *sorted, size_t count);

#endif							/* SIMHASH_INDEX_SORT_H */
