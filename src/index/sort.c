/*-------------------------------------------------------------------------
 *
 * sort.c
 *	  Sorting entries, once for each table of a scheme.
 *
 * While they fit in memory, the entries are kept in an array, and each table
 * sorts a copy.  Beyond that they are kept on a tape, and for each table they
 * are distributed to buckets (buckets.c).
 *
 * Several processes can share the work: each collects a share of the entries on
 * a tape in a shared file, and then each sorts all shares for some of the
 * tables.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "compat.h"
#include "index/page.h"
#include "index/sort.h"

struct ShIdxSort
{
	MemoryContext context;
	Size		memory;			/* bytes */
	bool		grouped;
	bool		distinct;		/* equal entries may be dropped */
	double		count;

	/* in memory */
	size_t		capacity;
	ShIdxSortItems rows;		/* as they came, fingerprints not permuted */
	ShIdxSortItems sorted;		/* for the current table */
	ShIdxSortVarying varying;	/* of the rows */

	/* beyond */
	LogicalTapeSet *tapes;		/* of the rows, NULL while in memory */
	ShIdxSortTapeWriter writer; /* all rows, as they came */
	bool		frozen;			/* their tape can be read */
	ShIdxSortBuckets *buckets;	/* of the current table */

	/* items of the current table that are sorted but not returned yet */
	ShIdxSortItems next;
	size_t		nnext;

	/* for entries that several processes have collected */
	int			number;			/* of this one, if it is a share */
	SharedFileSet *files;
	const ShIdxSortShare *shares;
	int			nshares;
};

static ShIdxSort *
make_sort(int memory_kb, bool grouped)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "simhash sort",
												  ALLOCSET_DEFAULT_SIZES);
	ShIdxSort  *sort = MemoryContextAllocZero(context, sizeof(ShIdxSort));

	sort->context = context;
	sort->memory = memory_kb * (Size) 1024;
	sort->grouped = grouped;
	return sort;
}

/* how many rows fit in memory, which needs room for two copies */
static size_t
max_in_memory(const ShIdxSort *sort)
{
	return sort->memory / (2 * (sizeof(ShIdxSortItem) + (sort->grouped ? sizeof(uint32) : 0)));
}

/*
 * Begin to collect entries.  Up to memory_kb kilobytes are used before they go
 * to disk.
 */
ShIdxSort *
shidx_sort_begin(int memory_kb)
{
	return shidx_sort_begin_grouped(memory_kb, false);
}

/*
 * The same, but if grouped is true, the entries have groups, by which they are
 * sorted first.
 */
ShIdxSort *
shidx_sort_begin_grouped(int memory_kb, bool grouped)
{
	ShIdxSort  *sort = make_sort(memory_kb, grouped);

	sort->capacity = 1024;
	sort->rows = shidx_sort_allocate_items(sort->context, sort->capacity, sort->grouped);
	return sort;
}

/*
 * The same for entries of which many are equal: equal ones are dropped before any go to
 * disk, though some may be left.
 */
ShIdxSort *
shidx_sort_begin_distinct(int memory_kb, bool grouped)
{
	ShIdxSort  *sort = shidx_sort_begin_grouped(memory_kb, grouped);

	sort->distinct = true;
	return sort;
}

/*
 * Begin to collect a share of the entries of several processes, in a file of a
 * set to which all are attached.  The number must be unique in the set.  The
 * only functions allowed for the result are those that add entries, and
 * shidx_sort_end_share.
 */
ShIdxSort *
shidx_sort_begin_share(SharedFileSet *files, int number, bool grouped)
{
	ShIdxSort  *sort = make_sort(0, grouped);
	MemoryContext old = MemoryContextSwitchTo(sort->context);

	sort->number = number;
	sort->tapes = LogicalTapeSetCreate(true, files, number);
	shidx_sort_tape_begin(&sort->writer, LogicalTapeCreate(sort->tapes), grouped);
	MemoryContextSwitchTo(old);
	return sort;
}

/*
 * Finish a share: describe it in *share, for others to read, and free memory.
 */
void
shidx_sort_end_share(ShIdxSort *sort, ShIdxSortShare *share)
{
	shidx_sort_tape_flush(&sort->writer);
	share->number = sort->number;
	share->summary = sort->writer.summary;
	/* an empty tape cannot be frozen, and is not needed */
	if (sort->count > 0)
		LogicalTapeFreeze(sort->writer.tape, &share->tape);
	shidx_sort_end(sort);
}

/*
 * Sort shares that several processes have finished.  The only functions allowed
 * for the result are shidx_sort_start_table and those that follow it.  shares must
 * live as long as the result.
 */
ShIdxSort *
shidx_sort_begin_whole(int memory_kb, SharedFileSet *files, const ShIdxSortShare *shares, int nshares,
					   bool grouped)
{
	ShIdxSort  *sort = make_sort(memory_kb, grouped);

	sort->files = files;
	sort->shares = shares;
	sort->nshares = nshares;
	for (int i = 0; i < nshares; i++)
		sort->count += shares[i].summary.count;
	return sort;
}

/*
 * Move the entries to a tape, as memory is full.
 */
static void
move_to_tape(ShIdxSort *sort)
{
	MemoryContext old = MemoryContextSwitchTo(sort->context);

	sort->tapes = LogicalTapeSetCreate(true, NULL, -1);
	shidx_sort_tape_begin(&sort->writer, LogicalTapeCreate(sort->tapes), sort->grouped);
	for (size_t i = 0; i < sort->count; i++)
	{
		shcompat_check_at(i);
		shidx_sort_tape_put(&sort->writer, sort->rows.items[i], shidx_sort_group(sort->rows, i));
	}
	shidx_sort_free_items(&sort->rows);
	MemoryContextSwitchTo(old);
}

/*
 * Drop rows that are equal to others.  Sorting all of them pays only if it makes room
 * for as many again as are left; returns whether it does.
 */
static bool
drop_equal(ShIdxSort *sort)
{
	size_t		count = (size_t) sort->count;
	ShIdxSortItems sorted = shidx_sort_allocate_items(sort->context, count, sort->grouped);
	ShIdxSortItems *rows = &sort->rows;
	size_t		left = 0;

	shidx_sort_radix_table(*rows, sorted, count, NULL, shidx_sort_varying(*rows, count));
	for (size_t i = 0; i < count; i++)
	{
		ShIdxSortItem item = sorted.items[i];
		uint32		group = shidx_sort_group(sorted, i);

		shcompat_check_at(i);
		if (left > 0 && !shidx_sort_grouped_less(rows->items[left - 1], shidx_sort_group(*rows, left - 1),
												 item, group))
			continue;
		rows->items[left] = item;
		if (sort->grouped)
			rows->groups[left] = group;
		left++;
	}
	shidx_sort_free_items(&sorted);
	sort->count = left;
	return left <= sort->capacity / 2;
}

/*
 * Make room for another row in memory, or move all to a tape.
 */
static void
enlarge_sort(ShIdxSort *sort)
{
	size_t		more = Min(sort->capacity * 2, max_in_memory(sort));

	if (more <= sort->capacity)
	{
		if (sort->distinct && drop_equal(sort))
			return;
		move_to_tape(sort);
		return;
	}
	sort->rows.items = repalloc_huge(sort->rows.items, more * sizeof(ShIdxSortItem));
	if (sort->grouped)
		sort->rows.groups = repalloc_huge(sort->rows.groups, more * sizeof(uint32));
	sort->capacity = more;
}

/*
 * Add the entry of a row: its fingerprint and a value, mostly its TID, of at
 * most 48 bits.
 */
void
shidx_sort_add(ShIdxSort *sort, ShPermuted fp, uint64 value)
{
	shidx_sort_add_grouped(sort, 0, fp, value);
}

/*
 * The same with the row's group, which is 0 unless the sort has groups.
 */
void
shidx_sort_add_grouped(ShIdxSort *sort, uint32 group, ShPermuted fp, uint64 value)
{
	Assert(value <= SHIDX_MAX_TID);
	Assert(sort->grouped || group == 0);
	Assert(sort->sorted.items == NULL && !sort->frozen);

	if (sort->tapes == NULL && sort->count >= sort->capacity)
		enlarge_sort(sort);

	if (sort->tapes == NULL)
	{
		size_t		i = (size_t) sort->count;

		sort->rows.items[i] = shidx_sort_item(fp, value);
		if (sort->grouped)
			sort->rows.groups[i] = group;
	}
	else
		shidx_sort_tape_put(&sort->writer, shidx_sort_item(fp, value), group);
	sort->count++;
}

/* number of entries added, without equal ones that were dropped */
double
shidx_sort_count(const ShIdxSort *sort)
{
	return sort->count;
}

static void
start_in_memory(ShIdxSort *sort, const ShBitsTable *table)
{
	size_t		count = (size_t) sort->count;
	ShIdxSortVarying varying;

	if (sort->sorted.items == NULL)
	{
		sort->sorted = shidx_sort_allocate_items(sort->context, Max(count, 1), sort->grouped);
		sort->varying = shidx_sort_varying(sort->rows, count);
	}
	varying = sort->varying;
	varying.keys = shbits_permute(table, varying.keys);
	shidx_sort_radix_table(sort->rows, sort->sorted, count, table, varying);
	sort->next = sort->sorted;
	sort->nnext = count;
}

/*
 * Distribute the rows of this process.
 */
static void
distribute_rows(ShIdxSort *sort, const ShBitsTable *table)
{
	if (!sort->frozen)
	{
		shidx_sort_tape_flush(&sort->writer);
		LogicalTapeFreeze(sort->writer.tape, NULL);
	}
	sort->frozen = true;
	shidx_sort_buckets_start(sort->buckets, &sort->writer.tape, 1, sort->writer.summary, table);
}

/*
 * Distribute the shares that several processes have collected.
 */
static void
distribute_shares(ShIdxSort *sort, const ShBitsTable *table)
{
	/* the set does not free the files that it joins */
	MemoryContext context = AllocSetContextCreate(sort->context, "simhash shares",
												  ALLOCSET_SMALL_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	LogicalTapeSet *set = LogicalTapeSetCreate(false, sort->files, -1);
	LogicalTape **tapes = palloc(Max(sort->nshares, 1) * sizeof(LogicalTape *));
	int			ntapes = 0;
	ShIdxSortSummary summary = {0};

	/* do not reuse the blocks that have been read */
	LogicalTapeSetForgetFreeSpace(set);
	for (int i = 0; i < sort->nshares; i++)
	{
		TapeShare	share = sort->shares[i].tape;

		shidx_sort_add_summary(&summary, &sort->shares[i].summary);
		if (sort->shares[i].summary.count > 0)
			tapes[ntapes++] = LogicalTapeImport(set, sort->shares[i].number, &share);
	}
	MemoryContextSwitchTo(old);
	shidx_sort_buckets_start(sort->buckets, tapes, ntapes, summary, table);
	for (int i = 0; i < ntapes; i++)
		LogicalTapeClose(tapes[i]);
	if (ntapes > 0)
		LogicalTapeSetClose(set);
	MemoryContextDelete(context);
}

static void
start_on_tapes(ShIdxSort *sort, const ShBitsTable *table)
{
	MemoryContext old = MemoryContextSwitchTo(sort->context);

	if (sort->buckets == NULL)
		sort->buckets = shidx_sort_buckets_begin(sort->grouped, sort->memory);
	if (sort->files != NULL)
		distribute_shares(sort, table);
	else
		distribute_rows(sort, table);
	sort->nnext = 0;
	MemoryContextSwitchTo(old);
}

/*
 * Sort all entries for a table; shidx_sort_next then returns them.  No more
 * entries can be added.
 */
void
shidx_sort_start_table(ShIdxSort *sort, const ShBitsTable *table)
{
	if (sort->tapes == NULL && sort->files == NULL)
		start_in_memory(sort, table);
	else
		start_on_tapes(sort, table);
}

/*
 * Sort all entries as they were added, without a permutation; otherwise the same.
 */
void
shidx_sort_start(ShIdxSort *sort)
{
	MemoryContext old = MemoryContextSwitchTo(sort->context);

	/* with a scheme of one block, fingerprints are not permuted */
	shidx_sort_start_table(sort, &shbits_make_scheme(SHBITS_WIDTH, 1, 0)->tables[0]);
	MemoryContextSwitchTo(old);
}

/*
 * Return the next items of the table, ascending, with permuted fingerprints as
 * keys, in *items, and their number, 0 after the last.  They are valid until
 * the next call.
 */
size_t
shidx_sort_next_items(ShIdxSort *sort, ShIdxSortItems *items)
{
	size_t		count = sort->nnext;

	if (count == 0 && sort->buckets != NULL)
		count = shidx_sort_buckets_next(sort->buckets, &sort->next);
	*items = sort->next;
	sort->nnext = 0;
	return count;
}

/*
 * Return the next item of the table.  Returns false after the last.
 */
bool
shidx_sort_next(ShIdxSort *sort, ShIdxSortItem *item)
{
	if (sort->nnext == 0)
	{
		ShIdxSortItems items;
		size_t		count = shidx_sort_next_items(sort, &items);

		if (count == 0)
			return false;
		sort->nnext = count;
	}
	*item = sort->next.items[0];
	sort->next = shidx_sort_items_from(sort->next, 1);
	sort->nnext--;
	return true;
}

/*
 * Free all memory and files.
 */
void
shidx_sort_end(ShIdxSort *sort)
{
	if (sort->buckets != NULL)
		shidx_sort_buckets_end(sort->buckets);
	if (sort->tapes != NULL)
		LogicalTapeSetClose(sort->tapes);
	MemoryContextDelete(sort->context);
}
