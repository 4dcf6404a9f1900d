/*-------------------------------------------------------------------------
 *
 * entrysort.h
 *	  Sorting entries, once for each table of a scheme.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_SORT_ENTRYSORT_H
#define SIMHASH_SORT_ENTRYSORT_H

#include "storage/sharedfileset.h"
#include "utils/logtape.h"

#include "bits/scheme.h"
#include "sort/bucket.h"
#include "sort/radix.h"

/* values have 48 bits, as TIDs do */
#define SHSORT_MAX_VALUE	((UINT64CONST(1) << 48) - 1)

typedef struct ShSort ShSort;

/* entries that one process has collected for all to sort, in shared memory */
typedef struct ShSortShare
{
	int			number;			/* unique within the file set */
	TapeShare	tape;
	ShSortSummary summary;
} ShSortShare;

extern ShSort *shsort_begin(int memory_kb);
extern ShSort *shsort_begin_distinct(int memory_kb);
extern ShSort *shsort_begin_grouped(int memory_kb, bool grouped);
extern ShSort *shsort_begin_share(SharedFileSet *files, int number, bool grouped);
extern void shsort_end_share(ShSort *sort, ShSortShare *share);
extern ShSort *shsort_begin_whole(int memory_kb, SharedFileSet *files,
								  const ShSortShare *shares, int nshares, bool grouped);
extern void shsort_add(ShSort *sort, ShPermuted fp, uint64 value);
extern void shsort_add_grouped(ShSort *sort, uint32 group, ShPermuted fp, uint64 value);
extern double shsort_count(const ShSort *sort);
extern void shsort_start_table(ShSort *sort, const ShBitsTable *table);
extern size_t shsort_next_items(ShSort *sort, ShSortItems *items);
extern bool shsort_next(ShSort *sort, ShSortItem *item);
extern void shsort_end(ShSort *sort);

#endif							/* SIMHASH_SORT_ENTRYSORT_H */
