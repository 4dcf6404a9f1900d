/*-------------------------------------------------------------------------
 *
 * input.c
 *	  What is searched: the fingerprints of indexes, or of an array.
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
#include "pairs/finder.h"
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
		double		ntrees = (double) input->nwords * shidx_get_scheme(index)->ntables;

		PredicateLockRelation(index, snapshot);
		pgstat_count_index_scan(index);
		input->entries += Max(index->rd_rel->reltuples, 0);
		input->most += RelationGetNumberOfBlocks(index) / ntrees * SHIDX_MAX_ENTRIES;
	}
}

static void
drop_repeat(ShPairsSink *sink, const ShPairsBucket *bucket, ShPairsRow row)
{
}

/*
 * Who is passed the further rows of a key of an input, if buckets do not keep them
 * (ShPairsSink.repeat): the sink of a search, but nobody if it is an array, whose
 * values count once.
 */
ShPairsSink *
shpairs_input_sink(const ShPairsInput *input, ShPairsSink *sink)
{
	static ShPairsSink of_values = {.repeat = drop_repeat};

	return input->elements != NULL ? &of_values : sink;
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
		const ShBitsScheme *scheme = shidx_get_scheme(indexes->list[i].index);

		shpairs_entries_indexes(&entries, &indexes->list[i], 1, input->grouped, scheme,
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
			shpairs_progress_add(input->progress, count);
		}
		shpairs_entries_end(&entries);
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
	if (input->sort != NULL)
		shpairs_entries_sort(&input->entries_of, input->sort, scheme, input->grouped);
	else
		shpairs_entries_indexes(&input->entries_of, input->indexes.list, input->indexes.count,
								input->grouped, scheme, input->snapshot);
	input->sort = NULL;
	input->used = true;
}

/*
 * Begin before the first entry of a table; several words have only one.
 */
void
shpairs_input_start(ShPairsInput *input, int table)
{
	if (input->nwords == 1)
		shpairs_entries_start(&input->entries_of, table);
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
	if (input->nwords == 1)
		input->count = shpairs_entries_next(&input->entries_of, &input->group, &input->values,
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
	if (input->words != NULL)
		end_words(input);
	if (input->sort != NULL)
		shidx_sort_end(input->sort);
	if (input->used)
		shpairs_entries_end(&input->entries_of);
}
