/*-------------------------------------------------------------------------
 *
 * entrysort.c
 *	  Sorting entries, once for each table of a scheme.
 *
 * While they fit in memory, the entries are kept in an array, and each table
 * sorts a copy.  Beyond that they are kept on a tape, and each table has them
 * distributed over buckets (bucket.c).
 *
 * Several processes can share the work: each collects a part of the entries on
 * a tape in a shared file; then each sorts all parts for some of the tables.
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

	/* where the entries are parts that others collected */
	int			number;			/* of this one, if it is a part */
	SharedFileSet *files;
	const ShSortPart *parts;
	int			nparts;
};

static ShSort *
make_sort(int memory_kb)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "simhash sort",
												  ALLOCSET_DEFAULT_SIZES);
	ShSort	   *sort = MemoryContextAllocZero(context, sizeof(ShSort));

	sort->context = context;
	sort->memory = memory_kb * (Size) 1024;
	return sort;
}

/*
 * Begin to collect entries.  memory_kb, in kilobytes, is what may be used
 * before disk is.
 */
ShSort *
shsort_begin(int memory_kb)
{
	ShSort	   *sort = make_sort(memory_kb);

	sort->capacity = 1024;
	sort->rows = MemoryContextAlloc(sort->context, sort->capacity * sizeof(ShSortItem));
	return sort;
}

/*
 * Begin to collect a part of the entries for several processes, in a file of
 * a set that all are attached to.  The number must be unique in the set.  What
 * is returned only takes shsort_add, and shsort_end_part in the end.
 */
ShSort *
shsort_begin_part(SharedFileSet *files, int number)
{
	ShSort	   *sort = make_sort(0);
	MemoryContext old = MemoryContextSwitchTo(sort->context);

	sort->number = number;
	sort->tapes = LogicalTapeSetCreate(true, files, number);
	sort->tape = LogicalTapeCreate(sort->tapes);
	MemoryContextSwitchTo(old);
	return sort;
}

/*
 * Finish a part: describe it in *part, for others to read, and free memory.
 */
void
shsort_end_part(ShSort *sort, ShSortPart *part)
{
	part->number = sort->number;
	part->count = sort->count;
	/* an empty tape cannot be frozen, and nobody needs it */
	if (sort->count > 0)
		LogicalTapeFreeze(sort->tape, &part->tape);
	shsort_end(sort);
}

/*
 * Sort parts that several processes have finished.  What is returned only
 * takes shsort_start_table and what follows that.  parts must live as long.
 */
ShSort *
shsort_begin_whole(int memory_kb, SharedFileSet *files, const ShSortPart *parts, int nparts)
{
	ShSort	   *sort = make_sort(memory_kb);
	MemoryContext old = MemoryContextSwitchTo(sort->context);

	sort->files = files;
	sort->parts = parts;
	sort->nparts = nparts;
	for (int i = 0; i < nparts; i++)
		sort->count += parts[i].count;
	PrepareTempTablespaces();
	sort->tapes = LogicalTapeSetCreate(true, NULL, -1);
	MemoryContextSwitchTo(old);
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

/*
 * Distribute the rows of this process.
 */
static ShSortBuckets *
read_rows(ShSort *sort, const ShBitsTable *table)
{
	if (!sort->frozen)
		LogicalTapeFreeze(sort->tape, NULL);
	sort->frozen = true;
	return shsort_buckets_begin(sort->tapes, &sort->tape, 1, sort->count, table,
								sort->memory);
}

/*
 * Distribute the parts that several processes have collected.
 */
static ShSortBuckets *
read_parts(ShSort *sort, const ShBitsTable *table)
{
	LogicalTapeSet *set = LogicalTapeSetCreate(false, sort->files, -1);
	LogicalTape **tapes = palloc(Max(sort->nparts, 1) * sizeof(LogicalTape *));
	int			ntapes = 0;
	ShSortBuckets *buckets;

	/* what has been read here is not to be written over */
	LogicalTapeSetForgetFreeSpace(set);
	for (int i = 0; i < sort->nparts; i++)
	{
		TapeShare	share = sort->parts[i].tape;

		if (sort->parts[i].count > 0)
			tapes[ntapes++] = LogicalTapeImport(set, sort->parts[i].number, &share);
	}
	buckets = shsort_buckets_begin(sort->tapes, tapes, ntapes, sort->count, table,
								   sort->memory);
	for (int i = 0; i < ntapes; i++)
		LogicalTapeClose(tapes[i]);
	if (ntapes > 0)
		LogicalTapeSetClose(set);
	pfree(tapes);
	return buckets;
}

static void
start_on_tapes(ShSort *sort, const ShBitsTable *table)
{
	MemoryContext old = MemoryContextSwitchTo(sort->context);

	if (sort->buckets != NULL)
		shsort_buckets_end(sort->buckets);
	sort->buckets = NULL;
	sort->buckets = sort->files != NULL ? read_parts(sort, table) : read_rows(sort, table);
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
