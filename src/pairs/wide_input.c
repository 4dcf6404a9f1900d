/*-------------------------------------------------------------------------
 *
 * wide_input.c
 *	  Reading the wide fingerprints of indexes, or of an array.
 *
 * An index has the parts of a fingerprint in as many trees.  So one tree of each
 * part is read, and what it has is sorted by group and row.  Then the parts of a
 * row come together, and its value is known without a visit to its table, and
 * without running the functions of an expression.
 *
 * A row that the snapshot sees has one entry in each tree all the time.  Entries
 * of others may come and go between the reading of two trees.  If some part of a
 * row is missing, it is left out.  If its parts are those of two rows that had
 * the same TID one after the other, the snapshot sees neither, so that it does
 * not matter what its value is.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "pgstat.h"
#include "storage/predicate.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "bits/distance.h"
#include "btree/cache.h"
#include "btree/page.h"
#include "pairs/leaf_reader.h"
#include "pairs/wide_input.h"
#include "rows/progress.h"
#include "type/wide.h"

/* elements of an array between two checks for interrupts */
#define CHECK_INTERVAL		4096

/*
 * An item has a key of 64 bits and a value of 48, which have room for the number
 * of a row and a part: the upper bits of the part follow the row.
 */
#define ROW_SHIFT			16
#define PART_SHIFT			48
#define LOWER_PART_MASK		((UINT64CONST(1) << PART_SHIFT) - 1)

/*
 * Count the entries that are about to be read.
 *
 * Each index is read as a whole, so a serializable transaction takes a
 * predicate lock on the whole index.
 */
static void
count_entries(ShPairsWideInput *input, const ShRowsHeaps *heaps, Snapshot snapshot)
{
	for (int i = 0; i < heaps->count; i++)
	{
		Relation	index = heaps->heaps[i].index;
		double		ntrees = input->nwords * shbt_get_scheme(index)->ntables;

		PredicateLockRelation(index, snapshot);
		pgstat_count_index_scan(index);
		input->entries += Max(index->rd_rel->reltuples, 0);
		input->most += RelationGetNumberOfBlocks(index) / ntrees * SHBT_MAX_ENTRIES;
	}
}

/*
 * Add the entries of the first tree of a part to its sort.
 */
static void
read_part(ShPairsWideInput *input, int part, ShPairsLeafReader *reader)
{
	ShSort	   *sort = input->parts[part].sort;
	const ShBitsScheme *scheme = shbt_get_scheme(reader->heap->index);
	const uint32 *groups = shpairs_leaf_groups(reader);

	shpairs_leaf_start(reader, part * scheme->ntables);
	while (shpairs_leaf_next(reader))
	{
		CHECK_FOR_INTERRUPTS();
		for (int i = 0; i < reader->count; i++)
		{
			uint64		bits = shbits_unpermute(&scheme->tables[0], reader->keys[i]);

			shsort_add_grouped(sort, groups != NULL ? groups[i] : 0,
							   reader->rows[i] << ROW_SHIFT | bits >> PART_SHIFT,
							   bits & LOWER_PART_MASK);
		}
		shrows_progress_add(reader->count);
	}
}

/*
 * Make sure that a part has a next item.  Returns false at its end.
 */
static inline bool
has_item(ShPairsPartStream *part)
{
	if (part->nitems == 0)
		part->nitems = shsort_next_items(part->sort, &part->items);
	return part->nitems > 0;
}

static inline void
skip_item(ShPairsPartStream *part)
{
	part->nitems--;
	part->items = shsort_items_from(part->items, 1);
}

/*
 * Is the next item of a part before a row of a group?
 */
static inline bool
is_before(const ShPairsPartStream *part, uint32 group, ShRowsNumber row)
{
	uint32		item_group = shsort_group(part->items, 0);

	return item_group < group ||
		(item_group == group && part->items.items[0].key >> ROW_SHIFT < row);
}

/*
 * Move all parts to the same row, from one on.  Returns false at the end.
 */
static bool
find_common_row(ShPairsWideInput *input)
{
	int			agreeing = 0;

	for (int i = 0; agreeing < input->nwords; i = (i + 1) % input->nwords)
	{
		ShPairsPartStream *part = &input->parts[i];

		if (!has_item(part))
			return false;
		while (agreeing > 0 && is_before(part, input->group, input->row))
		{
			skip_item(part);
			if (!has_item(part))
				return false;
		}
		if (agreeing == 0 || shsort_group(part->items, 0) != input->group ||
			part->items.items[0].key >> ROW_SHIFT != input->row)
		{
			input->group = shsort_group(part->items, 0);
			input->row = part->items.items[0].key >> ROW_SHIFT;
			agreeing = 0;
		}
		agreeing++;
	}
	return true;
}

static void
end_sorts(ShPairsWideInput *input)
{
	for (int i = 0; i < input->nwords; i++)
	{
		if (input->parts[i].sort != NULL)
			shsort_end(input->parts[i].sort);
		input->parts[i].sort = NULL;
	}
}

static void
advance_parts(ShPairsWideInput *input)
{
	input->at_end = !find_common_row(input);
	if (input->at_end)
	{
		/* the search may need the memory */
		end_sorts(input);
		return;
	}
	for (int i = 0; i < input->nwords; i++)
	{
		ShPairsPartStream *part = &input->parts[i];
		ShSortItem	item = part->items.items[0];

		input->value[i] = item.key << PART_SHIFT | item.value;
		skip_item(part);
	}
}

static void
begin_input(ShPairsWideInput *input, int width)
{
	memset(input, 0, sizeof(ShPairsWideInput));
	input->width = width;
	input->nwords = shbits_nparts(width);
	input->value = palloc(input->nwords * sizeof(uint64));
}

/*
 * Prepare to read the indexes of some tables, which have so many bits, in the order of
 * groups and rows.  The tables must be open until the end, and the snapshot registered.
 */
void
shpairs_wide_heaps(ShPairsWideInput *input, const ShRowsHeaps *heaps, Snapshot snapshot,
				   int width)
{
	begin_input(input, width);
	input->heaps = heaps;
	input->snapshot = snapshot;
	count_entries(input, heaps, snapshot);
}

/*
 * Read the indexes, if there are any.  The first entry becomes the next one.
 */
void
shpairs_wide_read(ShPairsWideInput *input)
{
	const ShRowsHeaps *heaps = input->heaps;
	int			memory = Max(maintenance_work_mem / input->nwords, 64);
	ShPairsLeafReader *reader;

	if (heaps == NULL)
		return;
	shrows_progress_phase(SHROWS_PHASE_SORT, input->entries * input->nwords);
	input->parts = palloc0(input->nwords * sizeof(ShPairsPartStream));
	for (int part = 0; part < input->nwords; part++)
		input->parts[part].sort = shsort_begin_grouped(memory, heaps->grouped);
	reader = palloc(sizeof(ShPairsLeafReader));
	for (int i = 0; i < heaps->count; i++)
	{
		reader->heap = &heaps->heaps[i];
		reader->grouped = heaps->grouped;
		reader->snapshot = input->snapshot;
		for (int part = 0; part < input->nwords; part++)
			read_part(input, part, reader);
	}
	pfree(reader);

	input->entries = input->most = shsort_count(input->parts[0].sort);
	for (int part = 0; part < input->nwords; part++)
		shsort_start_table(input->parts[part].sort, &shbits_make_scheme(1, 0)->tables[0]);
	advance_parts(input);
}

static int
compare_values(const void *a, const void *b)
{
	const bytea *x = *(const bytea *const *) a;
	const bytea *y = *(const bytea *const *) b;

	CHECK_FOR_INTERRUPTS();
	return shtype_compare_bytes(shtype_bits_data(x), shtype_bits_bytes(x),
								shtype_bits_data(y), shtype_bits_bytes(y));
}

static void
advance_array(ShPairsWideInput *input)
{
	const bytea *value;

	input->at_end = input->next == input->count;
	if (input->at_end)
		return;
	value = input->values[input->next];
	input->row = input->next++;
	shtype_split_bits(shtype_bits_data(value), input->width, input->value);
}

/*
 * Drop equal ones of sorted values.  Returns the number of the others.
 */
static size_t
drop_repeated(const bytea **values, size_t count)
{
	size_t		kept = 0;

	for (size_t i = 0; i < count; i++)
	{
		if (kept == 0 || compare_values(&values[kept - 1], &values[i]) != 0)
			values[kept++] = values[i];
	}
	return kept;
}

/*
 * Read the values of an array in their order, each once.  Nulls are ignored.  The
 * width is 0 if there is none.  The first value becomes the next one.  The array must
 * outlive the input.
 *
 * Raises ERRCODE_STRING_DATA_LENGTH_MISMATCH if they differ in width.
 */
void
shpairs_wide_array(ShPairsWideInput *input, ArrayType *array)
{
	Datum	   *elements;
	bool	   *nulls;
	int			nelements;
	size_t		count = 0;
	const bytea **values;
	int			width = 0;
	int16		length;
	bool		by_value;
	char		alignment;

	get_typlenbyvalalign(ARR_ELEMTYPE(array), &length, &by_value, &alignment);
	deconstruct_array(array, ARR_ELEMTYPE(array), length, by_value, alignment, &elements, &nulls,
					  &nelements);
	values = MemoryContextAllocHuge(CurrentMemoryContext, Max(nelements, 1) * sizeof(bytea *));
	for (int i = 0; i < nelements; i++)
	{
		const bytea *value;

		if (i % CHECK_INTERVAL == 0)
			CHECK_FOR_INTERRUPTS();
		if (nulls[i])
			continue;
		value = DatumGetSimhashBits(elements[i]);
		if (width == 0)
			width = shtype_bits_width(value);
		else if (shtype_bits_width(value) != width)
			shtype_report_widths(width, shtype_bits_width(value));
		values[count++] = value;
	}
	pfree(elements);
	pfree(nulls);
	qsort(values, count, sizeof(bytea *), compare_values);
	count = drop_repeated(values, count);

	begin_input(input, width);
	input->entries = input->most = input->count = count;
	input->values = values;
	advance_array(input);
}

/*
 * Move to the next entry.
 */
void
shpairs_wide_advance(ShPairsWideInput *input)
{
	input->nread++;
	if (input->parts != NULL)
		advance_parts(input);
	else
		advance_array(input);
}

/*
 * Free memory and files.
 */
void
shpairs_wide_input_end(ShPairsWideInput *input)
{
	if (input->parts != NULL)
		end_sorts(input);
}
