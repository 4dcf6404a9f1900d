/*-------------------------------------------------------------------------
 *
 * sort.h
 *	  Sorting entries, in memory and beyond, once for each table of a scheme.
 *
 * What this declares is defined in buckets.c, radix.c and sort.c.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_INDEX_SORT_H
#define SIMHASH_INDEX_SORT_H

#include "storage/sharedfileset.h"
#include "utils/logtape.h"
#include "utils/memutils.h"

#include "bits/scheme.h"

/* sorted by key, and by value where keys are equal */
typedef struct ShIdxSortItem
{
	uint64		key;
	uint64		value;
} ShIdxSortItem;

/*
 * Items that may have groups, by which they are sorted first: the group of
 * items[i] is groups[i].  groups is NULL if there are none.
 */
typedef struct ShIdxSortItems
{
	ShIdxSortItem *items;
	uint32	   *groups;
} ShIdxSortItems;

static inline ShIdxSortItem
shidx_sort_item(uint64 key, uint64 value)
{
	ShIdxSortItem item;

	item.key = key;
	item.value = value;
	return item;
}

static inline bool
shidx_sort_item_less(ShIdxSortItem a, ShIdxSortItem b)
{
	return a.key < b.key || (a.key == b.key && a.value < b.value);
}

/* the same for items with groups */
static inline bool
shidx_sort_grouped_less(ShIdxSortItem a, uint32 group_a, ShIdxSortItem b, uint32 group_b)
{
	return group_a < group_b || (group_a == group_b && shidx_sort_item_less(a, b));
}

/* the items from the i-th on */
static inline ShIdxSortItems
shidx_sort_items_from(ShIdxSortItems items, size_t i)
{
	items.items += i;
	if (items.groups != NULL)
		items.groups += i;
	return items;
}

static inline uint32
shidx_sort_group(ShIdxSortItems items, size_t i)
{
	return items.groups != NULL ? items.groups[i] : 0;
}

/*
 * Allocate memory for items, with groups if grouped.
 */
static inline ShIdxSortItems
shidx_sort_allocate_items(MemoryContext context, size_t count, bool grouped)
{
	ShIdxSortItems items = {NULL, NULL};

	items.items = MemoryContextAllocHuge(context, count * sizeof(ShIdxSortItem));
	if (grouped)
		items.groups = MemoryContextAllocHuge(context, count * sizeof(uint32));
	return items;
}

/*
 * Free their memory, if there is any.
 */
static inline void
shidx_sort_free_items(ShIdxSortItems *items)
{
	if (items->items != NULL)
		pfree(items->items);
	if (items->groups != NULL)
		pfree(items->groups);
	items->items = NULL;
	items->groups = NULL;
}

/* the bits in which items differ from each other */
typedef struct ShIdxSortVarying
{
	uint32		groups;
	uint64		keys;
	uint64		values;
} ShIdxSortVarying;

/* radix.c: in memory */
extern ShIdxSortVarying shidx_sort_varying(ShIdxSortItems items, size_t count);
extern void shidx_sort_radix(ShIdxSortItem *items, ShIdxSortItem *sorted, size_t count);
extern void shidx_sort_radix_table(ShIdxSortItems rows, ShIdxSortItems sorted, size_t count,
								   const ShBitsTable *table, ShIdxSortVarying varying);
extern void shidx_sort_numbers(uint64 *numbers, size_t count);

/* how many items are written to a tape at a time */
#define SHIDX_SORT_WRITE_ITEMS	64

/* what is known about the items of a tape */
typedef struct ShIdxSortSummary
{
	double		count;
	ShIdxSortItem first;
	ShIdxSortItem last;
	uint32		first_group;
	uint32		last_group;
	ShIdxSortVarying varying;
	bool		ascending;		/* they came in order */
} ShIdxSortSummary;

/* a tape that is being written */
typedef struct ShIdxSortTapeWriter
{
	LogicalTape *tape;
	MemoryContext context;		/* of its memory */
	bool		grouped;		/* items have groups */
	ShIdxSortSummary summary;

	/* not on the tape yet */
	int			count;
	ShIdxSortItem items[SHIDX_SORT_WRITE_ITEMS];
	uint32		groups[SHIDX_SORT_WRITE_ITEMS];
} ShIdxSortTapeWriter;

/* buckets.c: items on tapes, and sorting more than fit in memory, by distribution */
extern void shidx_sort_tape_begin(ShIdxSortTapeWriter *writer, LogicalTape *tape, bool grouped);
extern void shidx_sort_tape_flush(ShIdxSortTapeWriter *writer);
extern void shidx_sort_add_summary(ShIdxSortSummary *to, const ShIdxSortSummary *from);

static inline void
shidx_sort_tape_put(ShIdxSortTapeWriter *writer, ShIdxSortItem item, uint32 group)
{
	writer->items[writer->count] = item;
	writer->groups[writer->count] = group;
	if (++writer->count == SHIDX_SORT_WRITE_ITEMS)
		shidx_sort_tape_flush(writer);
}

typedef struct ShIdxSortBuckets ShIdxSortBuckets;

extern ShIdxSortBuckets *shidx_sort_buckets_begin(bool grouped, Size memory);
extern void shidx_sort_buckets_start(ShIdxSortBuckets *buckets, LogicalTape **rows, int nrows,
									 ShIdxSortSummary summary, const ShBitsTable *table);
extern size_t shidx_sort_buckets_next(ShIdxSortBuckets *buckets, ShIdxSortItems *items);
extern void shidx_sort_buckets_end(ShIdxSortBuckets *buckets);

typedef struct ShIdxSort ShIdxSort;

/* entries that one process has collected for all to sort, in shared memory */
typedef struct ShIdxSortShare
{
	int			number;			/* unique within the file set */
	TapeShare	tape;
	ShIdxSortSummary summary;
} ShIdxSortShare;

/* sort.c */
extern ShIdxSort *shidx_sort_begin(int memory_kb);
extern ShIdxSort *shidx_sort_begin_distinct(int memory_kb, bool grouped);
extern ShIdxSort *shidx_sort_begin_grouped(int memory_kb, bool grouped);
extern ShIdxSort *shidx_sort_begin_share(SharedFileSet *files, int number, bool grouped);
extern void shidx_sort_end_share(ShIdxSort *sort, ShIdxSortShare *share);
extern ShIdxSort *shidx_sort_begin_whole(int memory_kb, SharedFileSet *files,
										 const ShIdxSortShare *shares, int nshares, bool grouped);
extern void shidx_sort_add(ShIdxSort *sort, ShPermuted fp, uint64 value);
extern void shidx_sort_add_grouped(ShIdxSort *sort, uint32 group, ShPermuted fp, uint64 value);
extern double shidx_sort_count(const ShIdxSort *sort);
extern void shidx_sort_start_table(ShIdxSort *sort, const ShBitsTable *table);
extern void shidx_sort_start(ShIdxSort *sort);
extern size_t shidx_sort_next_items(ShIdxSort *sort, ShIdxSortItems *items);
extern bool shidx_sort_next(ShIdxSort *sort, ShIdxSortItem *item);
extern void shidx_sort_end(ShIdxSort *sort);

#endif							/* SIMHASH_INDEX_SORT_H */
