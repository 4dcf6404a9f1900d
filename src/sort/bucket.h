/*-------------------------------------------------------------------------
 *
 * bucket.h
 *	  Items on tapes, and sorting more than fit in memory, by distribution.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_SORT_BUCKET_H
#define SIMHASH_SORT_BUCKET_H

#include "utils/logtape.h"

#include "bits/scheme.h"
#include "sort/radix.h"

/* how many items are written to a tape at a time */
#define SHSORT_WRITE_ITEMS	64

/* what is known about the items of a tape */
typedef struct ShSortSummary
{
	double		count;
	ShSortItem	first;
	ShSortItem	last;
	uint32		first_group;
	uint32		last_group;
	ShSortVarying varying;
	bool		ascending;		/* they came in order */
} ShSortSummary;

/* a tape that is being written */
typedef struct ShSortTapeWriter
{
	LogicalTape *tape;
	bool		grouped;		/* items have groups */
	ShSortSummary summary;

	/* not on the tape yet */
	int			count;
	ShSortItem	items[SHSORT_WRITE_ITEMS];
	uint32		groups[SHSORT_WRITE_ITEMS];
} ShSortTapeWriter;

extern void shsort_tape_begin(ShSortTapeWriter *writer, LogicalTape *tape, bool grouped);
extern void shsort_tape_flush(ShSortTapeWriter *writer);
extern void shsort_add_summary(ShSortSummary *to, const ShSortSummary *from);

static inline void
shsort_tape_put(ShSortTapeWriter *writer, ShSortItem item, uint32 group)
{
	writer->items[writer->count] = item;
	writer->groups[writer->count] = group;
	if (++writer->count == SHSORT_WRITE_ITEMS)
		shsort_tape_flush(writer);
}

typedef struct ShSortBuckets ShSortBuckets;

extern ShSortBuckets *shsort_buckets_begin(LogicalTapeSet *tapes, bool grouped, Size memory);
extern void shsort_buckets_start(ShSortBuckets *buckets, LogicalTape **rows, int nrows,
								 ShSortSummary summary, const ShBitsTable *table);
extern size_t shsort_buckets_next(ShSortBuckets *buckets, ShSortItems *items);
extern void shsort_buckets_end(ShSortBuckets *buckets);

#endif							/* SIMHASH_SORT_BUCKET_H */
