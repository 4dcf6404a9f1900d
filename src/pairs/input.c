/*-------------------------------------------------------------------------
 *
 * input.c
 *	  What is searched: the fingerprints of indexes, or of an array.
 *
 * Entries of one word are read in the order of a table (entries.c).
 *
 * An index of wide fingerprints has each word in trees of its own.  So one tree of
 * each word is read, and what it has is sorted by group and row.  Then the words of a
 * row come together, and its value is known without a visit to its table, and
 * without running the functions of an expression.
 *
 * A row that the snapshot sees has one entry in each tree all the time.  Entries
 * of others may come and go between the reading of two trees.  If some word of a
 * row is missing, it is left out.  If its words are those of two rows that had
 * the same TID one after the other, the snapshot sees neither, so that it does
 * not matter what its value is.
 *
 * An index of bands has a tree for each word, too, but these are read one after the other,
 * and the words of a row are not put together.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "pgstat.h"
#include "storage/predicate.h"
#include "utils/arrayaccess.h"
#include "utils/memutils.h"

#include "compat.h"
#include "index/index.h"
#include "index/sort.h"
#include "pairs/input.h"
#include "type/simhash.h"
#include "type/wide.h"

/* entries of several words that are returned together */
#define BATCH				256

/*
 * An item has a key of 64 bits and a value of 48, which have room for the number
 * of a row and a word: the upper bits of the word follow the row.
 */
#define ROW_SHIFT			16
#define WORD_SHIFT			48
#define LOWER_WORD_MASK		((UINT64CONST(1) << WORD_SHIFT) - 1)

/* the entries of one word of wide fingerprints, in the order of group and row */
typedef struct WordEntries
{
	ShIdxSort  *sort;
	ShIdxSortItems items;		/* returned by the sort, and not used yet */
	size_t		nitems;
} WordEntries;

/* entries of several words */
struct ShPairsWords
{
	size_t		next;			/* element of an array */

	/* or of indexes: */
	bool		at_end;
	uint32		group;			/* of the next entry */
	ShPairsRow	row;
	ShPairsRow	rows[BATCH];
	uint64	   *values;			/* BATCH values */
	WordEntries entries[FLEXIBLE_ARRAY_MEMBER];
};

static void
begin_input(ShPairsInput *input, int width)
{
	memset(input, 0, sizeof(ShPairsInput));
	input->width = width;
	input->nwords = shbits_nparts(width);
}

/*
 * The common scheme of all indexes, or NULL.
 */
static const ShBitsScheme *
common_scheme(const ShPairsIndexes *indexes)
{
	const ShBitsScheme *common = NULL;

	for (int i = 0; i < indexes->count; i++)
	{
		ShBitsScheme *scheme = shidx_get_scheme(indexes->list[i].index);

		/*
		 * all columns before the fingerprint come first in the order of
		 * entries
		 */
		if (shidx_is_grouped(indexes->list[i].index) != indexes->grouped)
			return NULL;
		if (common == NULL)
			common = scheme;
		else if (!shbits_same_scheme(scheme, common))
			return NULL;
		else
			pfree(scheme);
	}
	return common;
}

/*
 * Indexes whose fingerprints have so many bits.  They must be open, and the list of them
 * in place, until the end, and the snapshot registered.  Nothing is read yet.
 *
 * Each index is read as a whole, so a serializable transaction takes a
 * predicate lock on the whole index.
 */
void
shpairs_input_indexes(ShPairsInput *input, const ShPairsIndexes *indexes, Snapshot snapshot,
					  int width)
{
	begin_input(input, width);
	input->indexes = *indexes;
	input->snapshot = snapshot;
	input->grouped = indexes->grouped;
	input->scheme = common_scheme(indexes);
	for (int i = 0; i < indexes->count; i++)
	{
		Relation	index = indexes->list[i].index;
		ShIdxGeometry *geometry = shidx_get_geometry(index);

		PredicateLockRelation(index, snapshot);
		pgstat_count_index_scan(index);
		input->banded = geometry->prefix_bits > 0;
		input->entries += Max(index->rd_rel->reltuples, 0);
		input->most += (double) RelationGetNumberOfBlocks(index) / geometry->ntrees * SHIDX_MAX_ENTRIES;
	}
}

/*
 * An array of type simhash[], or of simhash_bits[] if wide, which must outlive the input.
 * Nulls are ignored.  If there are no wide values, the width is 0.
 *
 * Raises ERRCODE_STRING_DATA_LENGTH_MISMATCH if they differ in width.
 */
void
shpairs_input_array(ShPairsInput *input, AnyArrayType *array, bool wide)
{
	int			count = ArrayGetNItems(AARR_NDIM(array), AARR_DIMS(array));
	Datum	   *elements = MemoryContextAllocHuge(CurrentMemoryContext,
												  Max(count, 1) * sizeof(Datum));
	size_t		nelements = 0;
	int			width = wide ? 0 : SHBITS_WIDTH;
	array_iter	iterator;

	if (wide)
		shcompat_bytea_array_begin(&iterator, array);
	else
		shcompat_array_begin(&iterator, array);
	for (int i = 0; i < count; i++)
	{
		bool		is_null;
		Datum		element = wide ? shcompat_bytea_array_next(&iterator, &is_null, i) :
			shcompat_array_next(&iterator, &is_null, i);

		shcompat_check_at(i);
		if (is_null)
			continue;
		if (wide)
		{
			const bytea *value = DatumGetSimhashBits(element);

			element = PointerGetDatum(value);
			if (width == 0)
				width = shtype_bits_width(value);
			else if (shtype_bits_width(value) != width)
				shtype_report_widths(width, shtype_bits_width(value));
		}
		elements[nelements++] = element;
	}
	begin_input(input, width);
	input->elements = elements;
	input->wide_type = wide;
	input->entries = input->most = input->nelements = nelements;
}

/*
 * The bands of an array, nbands words of each of its elements.  They must outlive the input.
 */
void
shpairs_input_bands(ShPairsInput *input, const uint64 *words, size_t count, int nbands)
{
	begin_input(input, SHBITS_WIDTH);
	input->banded = true;
	input->nbands = nbands;
	input->band_words = words;
	input->entries = input->most = input->nelements = count;
}

/* the words of an element */
static inline void
element_words(const ShPairsInput *input, size_t i, uint64 *words)
{
	if (input->wide_type)
		shtype_split_bits(shtype_bits_data((bytea *) DatumGetPointer(input->elements[i])),
						  input->width, words);
	else
		*words = DatumGetSimhash(input->elements[i]);
}

/*
 * Read the first tree of a word of all indexes into a sort: by fingerprint if there is one
 * word, else by row.
 */
static void
read_word(ShPairsInput *input, int word, ShIdxSort *sort)
{
	const ShPairsIndexes *indexes = &input->indexes;
	ShPairsEntries entries;
	ShPermuted *keys;
	ShPairsRow *rows;
	uint32		group;
	int			count;

	for (int i = 0; i < indexes->count; i++)
	{
		ShBitsScheme *scheme = shidx_get_scheme(indexes->list[i].index);

		shpairs_entries_of_indexes(&entries, &indexes->list[i], 1, input->grouped, scheme,
								   input->snapshot);
		shpairs_entries_start(&entries, word * scheme->ntables);
		while ((count = shpairs_entries_next(&entries, &group, &keys, &rows)) > 0)
		{
			CHECK_FOR_INTERRUPTS();
			for (int j = 0; j < count; j++)
			{
				uint64		bits = shbits_unpermute(&scheme->tables[0], keys[j]);

				if (input->nwords == 1)
					shidx_sort_add_grouped(sort, group, bits, rows[j]);
				else
					shidx_sort_add_grouped(sort, group, rows[j] << ROW_SHIFT | bits >> WORD_SHIFT,
										   bits & LOWER_WORD_MASK);
			}
			shpairs_progress_entries(input->progress, input->progress->done + count);
		}
		shpairs_entries_end(&entries);
		pfree(scheme);
	}
}

static void
sort_elements(ShPairsInput *input)
{
	for (size_t i = 0; i < input->nelements; i++)
	{
		uint64		word;

		shcompat_check_at(i);
		element_words(input, i, &word);
		shidx_sort_add(input->sort, word, i);
	}
}

/*
 * Collect fingerprints of one word, to be sorted for each table of a scheme.
 */
void
shpairs_input_sort(ShPairsInput *input)
{
	input->sort = shidx_sort_begin_grouped(maintenance_work_mem, input->grouped);
	if (input->elements != NULL)
		sort_elements(input);
	else
		read_word(input, 0, input->sort);
	input->entries = input->most = shidx_sort_count(input->sort);
}

/*
 * Make sure that a word has a next item.  Returns false at its end.
 */
static inline bool
has_item(WordEntries *entries)
{
	if (entries->nitems == 0)
		entries->nitems = shidx_sort_next_items(entries->sort, &entries->items);
	return entries->nitems > 0;
}

static inline void
skip_item(WordEntries *entries)
{
	entries->nitems--;
	entries->items = shidx_sort_items_from(entries->items, 1);
}

/*
 * Is the next item of a word before a row of a group?
 */
static inline bool
is_before(const WordEntries *entries, uint32 group, ShPairsRow row)
{
	uint32		item_group = shidx_sort_group(entries->items, 0);

	return item_group < group ||
		(item_group == group && entries->items.items[0].key >> ROW_SHIFT < row);
}

/*
 * Move all words to the same row, from one on.  Returns false at the end.
 */
static bool
find_common_row(ShPairsWords *words, int nwords)
{
	int			agreeing = 0;

	for (int i = 0; agreeing < nwords; i = (i + 1) % nwords)
	{
		WordEntries *entries = &words->entries[i];

		CHECK_FOR_INTERRUPTS();
		if (!has_item(entries))
			return false;
		while (agreeing > 0 && is_before(entries, words->group, words->row))
		{
			skip_item(entries);
			if (!has_item(entries))
				return false;
		}
		if (agreeing == 0 || shidx_sort_group(entries->items, 0) != words->group ||
			entries->items.items[0].key >> ROW_SHIFT != words->row)
		{
			words->group = shidx_sort_group(entries->items, 0);
			words->row = entries->items.items[0].key >> ROW_SHIFT;
			agreeing = 0;
		}
		agreeing++;
	}
	return true;
}

static void
end_words(ShPairsInput *input)
{
	for (int word = 0; word < input->nwords; word++)
	{
		if (input->words->entries[word].sort != NULL)
			shidx_sort_end(input->words->entries[word].sort);
		input->words->entries[word].sort = NULL;
	}
}

/*
 * Read the words of indexes, and find the first row that has all of them.
 */
static void
begin_words(ShPairsInput *input)
{
	ShPairsWords *words = input->words;
	int			memory = Max(maintenance_work_mem / input->nwords, 64);

	shpairs_progress_begin(input->progress, SHPAIRS_SORTING, input->entries * input->nwords);
	for (int word = 0; word < input->nwords; word++)
		words->entries[word].sort = shidx_sort_begin_grouped(memory, input->grouped);
	for (int word = 0; word < input->nwords; word++)
		read_word(input, word, words->entries[word].sort);
	input->entries = input->most = shidx_sort_count(words->entries[0].sort);
	for (int word = 0; word < input->nwords; word++)
		shidx_sort_start(words->entries[word].sort);
	words->at_end = !find_common_row(words, input->nwords);
}

/*
 * Put together the next rows of a group.
 */
static void
next_words(ShPairsInput *input)
{
	ShPairsWords *words = input->words;
	int			count = 0;

	input->group = words->group;
	while (!words->at_end && words->group == input->group && count < BATCH)
	{
		for (int word = 0; word < input->nwords; word++)
		{
			WordEntries *entries = &words->entries[word];
			ShIdxSortItem item = entries->items.items[0];

			words->values[count * input->nwords + word] = item.key << WORD_SHIFT | item.value;
			skip_item(entries);
		}
		words->rows[count++] = words->row;
		words->at_end = !find_common_row(words, input->nwords);
	}
	/* the search may need the memory */
	if (words->at_end)
		end_words(input);
	input->count = count;
}

/*
 * Split the next elements of an array.
 */
static void
next_elements(ShPairsInput *input)
{
	ShPairsWords *words = input->words;
	int			count = 0;

	for (; count < BATCH && words->next < input->nelements; count++)
	{
		words->rows[count] = words->next;
		element_words(input, words->next++, words->values + count * input->nwords);
	}
	input->count = count;
}

/*
 * Sort the words of a table, where no trees have them in the wanted order.
 */
static void
sort_bands(ShPairsInput *input, int table, const ShBitsScheme *scheme)
{
	ShIdxSort  *sort = shidx_sort_begin_grouped(maintenance_work_mem, input->grouped);

	if (input->band_words == NULL)
		read_word(input, table, sort);
	for (size_t i = 0; input->band_words != NULL && i < input->nelements; i++)
	{
		shcompat_check_at(i);
		shidx_sort_add(sort, input->band_words[i * input->nbands + table], i);
	}
	shpairs_entries_end(input->entries_of);
	shpairs_entries_of_sort(input->entries_of, sort, scheme, input->grouped);
}

/* entries whose rows are elements, and some that are not yet */
struct ShPairsSettled
{
	ShPairsEntryArrays all;
	size_t		capacity;
	size_t		next;			/* the first that has not been returned, */
	size_t		end;			/* the end of those that are settled, */
	size_t		waiting;		/* and the start of those that may be followed
								 * by more of their word */
};

/* so many entries are settled together, or a few more, since their rows are looked up then */
#define SETTLED_TOGETHER	0x8000

static void
begin_settled(ShPairsInput *input)
{
	struct ShPairsSettled *settled = palloc0(sizeof(struct ShPairsSettled));

	settled->capacity = 2 * SETTLED_TOGETHER;
	settled->all.words = palloc(settled->capacity * sizeof(uint64));
	settled->all.rows = palloc(settled->capacity * sizeof(ShPairsRow));
	settled->all.groups = input->grouped ? palloc(settled->capacity * sizeof(uint32)) : NULL;
	input->settled = settled;
}

/*
 * Add the next entries of the table.  Returns false if there are none.
 */
static bool
add_unsettled(ShPairsInput *input)
{
	struct ShPairsSettled *settled = input->settled;
	ShPairsEntryArrays *all = &settled->all;
	uint32		group;
	ShPermuted *words;
	ShPairsRow *rows;
	int			count = shpairs_entries_next(input->entries_of, &group, &words, &rows);

	CHECK_FOR_INTERRUPTS();
	if (all->count + count > settled->capacity)
	{
		settled->capacity *= 2;
		all->words = repalloc_huge(all->words, settled->capacity * sizeof(uint64));
		all->rows = repalloc_huge(all->rows, settled->capacity * sizeof(ShPairsRow));
		if (input->grouped)
			all->groups = repalloc_huge(all->groups, settled->capacity * sizeof(uint32));
	}
	memcpy(all->words + all->count, words, count * sizeof(uint64));
	memcpy(all->rows + all->count, rows, count * sizeof(ShPairsRow));
	for (int i = 0; i < count && input->grouped; i++)
		all->groups[all->count + i] = group;
	all->count += count;
	return count > 0;
}

/*
 * Settle the next entries, in place of those that have been returned.  Returns false if there
 * are none.
 */
static bool
settle_entries(ShPairsInput *input)
{
	struct ShPairsSettled *settled = input->settled;
	ShPairsEntryArrays *all = &settled->all;
	ShPairsEntryArrays complete;
	bool		more = true;

	settled->next = 0;
	do
	{
		size_t		count = all->count - settled->waiting;

		memmove(all->words, all->words + settled->waiting, count * sizeof(uint64));
		memmove(all->rows, all->rows + settled->waiting, count * sizeof(ShPairsRow));
		if (input->grouped)
			memmove(all->groups, all->groups + settled->waiting, count * sizeof(uint32));
		all->count = count;
		/* the first and the last are of one word: there may be more of it */
		do
			more = add_unsettled(input);
		while (more && (all->count < SETTLED_TOGETHER || shpairs_same_word(all, 0, all->count - 1)));
		settled->waiting = all->count;
		while (more && shpairs_same_word(all, settled->waiting - 1, all->count - 1))
			settled->waiting--;
		complete = *all;
		complete.count = settled->waiting;
		shpairs_bands_settle(input->bands, &complete);
		settled->end = complete.count;
	} while (more && settled->end == 0);
	return settled->end > 0;
}

/*
 * The next settled entries, all of one group.
 */
static void
next_settled(ShPairsInput *input)
{
	struct ShPairsSettled *settled = input->settled;
	size_t		start;

	input->count = 0;
	if (settled->next == settled->end && !settle_entries(input))
		return;
	start = settled->next;
	input->group = shpairs_entry_group(&settled->all, start);
	input->values = settled->all.words + start;
	input->rows = settled->all.rows + start;
	while (settled->next < settled->end && input->count < SHIDX_MAX_ENTRIES &&
		   shpairs_entry_group(&settled->all, settled->next) == input->group)
	{
		settled->next++;
		input->count++;
	}
}

/*
 * Prepare to read entries: those of one word in the order of a scheme, others group by
 * group, once.
 */
void
shpairs_input_use(ShPairsInput *input, const ShBitsScheme *scheme)
{
	if (input->nwords > 1)
	{
		input->words = palloc0(offsetof(ShPairsWords, entries) +
							   input->nwords * sizeof(WordEntries));
		input->words->values = palloc(BATCH * input->nwords * sizeof(uint64));
		if (input->elements == NULL)
			begin_words(input);
		return;
	}
	input->entries_of = palloc(sizeof(ShPairsEntries));
	if (input->bands != NULL)
		begin_settled(input);
	if (input->sort != NULL)
		shpairs_entries_of_sort(input->entries_of, input->sort, scheme, input->grouped);
	else
		shpairs_entries_of_indexes(input->entries_of, input->indexes.list, input->indexes.count,
								   input->grouped, scheme, input->snapshot);
	input->sort = NULL;
}

/*
 * The table of the scheme that is read, or NULL with several words.
 */
const ShBitsTable *
shpairs_input_table(const ShPairsInput *input, int table)
{
	return input->nwords == 1 ? &input->entries_of->scheme->tables[input->banded ? 0 : table] : NULL;
}

/*
 * Skip entries before a key of a group when others are read.  Some of them may still be
 * returned.
 */
void
shpairs_input_seek(ShPairsInput *input, uint32 group, ShPermuted key)
{
	if (input->nwords == 1)
		shpairs_entries_seek(input->entries_of, group, key);
}

/*
 * Begin before the first entry of a table; several words have only one.
 */
void
shpairs_input_start(ShPairsInput *input, int table)
{
	bool		sorted = input->banded && input->scheme == NULL;

	if (sorted)
		sort_bands(input, table, input->entries_of->scheme);
	if (input->nwords == 1)
		shpairs_entries_start(input->entries_of, sorted ? 0 : table);
	if (input->bands != NULL)
	{
		shpairs_bands_start(input->bands, table);
		input->settled->all.count = 0;
		input->settled->next = input->settled->end = input->settled->waiting = 0;
	}
	input->count = 0;
}

/*
 * Read the next entries, all of one group, in place of the current ones: values[], with
 * one word ascending, and rows[], both of which the caller may change.  Groups ascend.
 * Returns false if there are no more.
 */
bool
shpairs_input_next(ShPairsInput *input)
{
	CHECK_FOR_INTERRUPTS();
	if (input->bands != NULL)
		next_settled(input);
	else if (input->nwords == 1)
		input->count = shpairs_entries_next(input->entries_of, &input->group, &input->values,
											&input->rows);
	else
	{
		if (input->elements != NULL)
			next_elements(input);
		else
			next_words(input);
		input->values = input->words->values;
		input->rows = input->words->rows;
	}
	return input->count > 0;
}

/*
 * Free memory and files.
 */
void
shpairs_input_end(ShPairsInput *input)
{
	if (input->settled != NULL)
	{
		pfree(input->settled->all.words);
		pfree(input->settled->all.rows);
		if (input->settled->all.groups != NULL)
			pfree(input->settled->all.groups);
		pfree(input->settled);
	}
	if (input->words != NULL)
		end_words(input);
	if (input->sort != NULL)
		shidx_sort_end(input->sort);
	if (input->entries_of != NULL)
		shpairs_entries_end(input->entries_of);
}
