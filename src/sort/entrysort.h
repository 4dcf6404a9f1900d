/*-------------------------------------------------------------------------
 *
 * entrysort.h
 *	  Sorting entries, once for each table of a scheme.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_SORT_ENTRYSORT_H
#define SIMHASH_SORT_ENTRYSORT_H

#include "postgres.h"

#include "bits/scheme.h"
#include "sort/radix.h"

/* values have 48 bits, as TIDs do */
#define SHSORT_MAX_VALUE	((UINT64CONST(1) << 48) - 1)

typedef struct ShSort ShSort;

extern ShSort *shsort_begin(int memory_kb);
extern void shsort_add(ShSort *sort, uint64 fp, uint64 value);
extern double shsort_count(const ShSort *sort);
extern void shsort_start_table(ShSort *sort, const ShBitsTable *table);
extern bool shsort_next(ShSort *sort, ShSortItem *item);
extern void shsort_end(ShSort *sort);

#endif							/* SIMHASH_SORT_ENTRYSORT_H */
