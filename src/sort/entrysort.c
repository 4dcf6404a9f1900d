/*-------------------------------------------------------------------------
 *
 * entrysort.c
 *	  Sorting entries, once for each table of a scheme.
 *
 * While they fit in memory, the entries are kept in an array, and each table
 * sorts a copy.  Beyond that they are kept on a tape, and each table has them
 * distributed over buckets (bucket.c).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "commands/tablespace.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "sort/bucket.h"
#include "sort/entrysort.h"

/* a row takes an item as it came, one permuted, and one sorted */
#define BYTES_PER_ROW	(3 * sizeof(ShSortItem))

/* how often interrupts are checked for, in items */
#define CHECK_INTERVAL	4096

struct ShSort
{
	MemoryContext context;
	Size		memory;			/* bytes */
	double		count;

	/* in memory */
	size_t		capacity;
	ShSortItem *rows;			/* as they came, fingerprints not permuted */
	ShSortItem *permuted;
	ShSortItem *sorted;
	size_t		next;

	/* beyond */
	LogicalTapeSet *tapes;		/* NULL while in memory */
	LogicalTape *tape;			/* all rows, as they came */
	bool		frozen;			/* it can be read */
	ShSortBuckets *buckets;		/* of the current table */
};

/*
 * Begin to collect entries.  memory_kb, in kilobytes, is what may be used
 * before disk is.
 */
ShSort *
shsort_begin(int memory_kb)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "simhash sort",
												  ALLOCSET_DEFAULT_SIZES);
	ShSort	   *sort = MemoryContextAllocZero(context, sizeof(ShSort));

	sort->context = context;
	sort->memory = memory_kb * (Size) 1024;
	sort->capacity = 1024;
	sort->rows = MemoryContextAlloc(context, sort->capacity * sizeof(ShSortItem));
	return sort;
}

/*
 * Memory is used up: move the entries to a tape.
 */
static void
move_to_tape(ShSort *sort)
{
	MemoryContext old = MemoryContextSwitchTo(sort->context);

	PrepareTempTablespaces();
	sort->tapes = LogicalTapeSetCreate(true, NULL, -1);
	sort->tape = LogicalTapeCreate(sort->tapes);
	for (size_t i = 0; i < sort->count; i++)
	{
		if (i % CHECK_INTERVAL == 0)
			CHECK_FOR_INTERRUPTS();
		shsort_write_item(sort->tape, sort->rows[i]);
	}
	pfree(sort->rows);
	sort->rows = NULL;
	MemoryContextSwitchTo(old);
}

/*
 * Add the entry of a row: its fingerprint and a value, mostly its TID, of at
 * most 48 bits.
 */
void
shsort_add(ShSort *sort, uint64 fp, uint64 value)
{
	Assert(value <= SHSORT_MAX_VALUE);
	Assert(sort->sorted == NULL && !sort->frozen);

	if (sort->tapes == NULL && sort->count >= sort->capacity)
	{
		size_t		more = Min(sort->capacity * 2, sort->memory / BYTES_PER_ROW);

		if (more > sort->capacity)
		{
			sort->rows = repalloc_huge(sort->rows, more * sizeof(ShSortItem));
			sort->capacity = more;
		}
		else
			move_to_tape(sort);
	}

	if (sort->tapes == NULL)
		sort->rows[(size_t) sort->count] = shsort_item(fp, value);
	else
		shsort_write_item(sort->tape, shsort_item(fp, value));
	sort->count++;
}

/* number of entries added */
double
shsort_count(const ShSort *sort)
{
	return sort->count;
}

static void
start_in_memory(ShSort *sort, const ShBitsTable *table)
{
	size_t		count = (size_t) sort->count;

	if (sort->sorted == NULL)
	{
		Size		size = Max(count, 1) * sizeof(ShSortItem);

		sort->sorted = MemoryContextAllocHuge(sort->context, size);
		sort->permuted = MemoryContextAllocHuge(sort->context, size);
	}
	for (size_t i = 0; i < count; i++)
	{
		if (i % CHECK_INTERVAL == 0)
			CHECK_FOR_INTERRUPTS();
		sort->permuted[i] = shsort_item(shbits_permute(table, sort->rows[i].key),
										sort->rows[i].value);
	}
	shsort_radix(sort->permuted, sort->sorted, count);
	sort->next = 0;
}

static void
start_on_tapes(ShSort *sort, const ShBitsTable *table)
{
	MemoryContext old = MemoryContextSwitchTo(sort->context);

	if (!sort->frozen)
		LogicalTapeFreeze(sort->tape, NULL);
	sort->frozen = true;
	if (sort->buckets != NULL)
		shsort_buckets_end(sort->buckets);
	sort->buckets = shsort_buckets_begin(sort->tapes, sort->tape, sort->count, table,
										 sort->memory);
	MemoryContextSwitchTo(old);
}

/*
 * Sort all entries for a table; shsort_next then returns them.  No more can
 * be added.
 */
void
shsort_start_table(ShSort *sort, const ShBitsTable *table)
{
	if (sort->tapes == NULL)
		start_in_memory(sort, table);
	else
		start_on_tapes(sort, table);
}

/*
 * The next item of the table, ascending: the permuted fingerprint and the
 * value.  Returns false after the last.
 */
bool
shsort_next(ShSort *sort, ShSortItem *item)
{
	if (sort->tapes != NULL)
		return shsort_buckets_next(sort->buckets, item);
	if (sort->next >= sort->count)
		return false;
	*item = sort->sorted[sort->next++];
	return true;
}

/*
 * Free all memory and files.
 */
void
shsort_end(ShSort *sort)
{
	if (sort->buckets != NULL)
		shsort_buckets_end(sort->buckets);
	if (sort->tapes != NULL)
		LogicalTapeSetClose(sort->tapes);
	MemoryContextDelete(sort->context);
}
