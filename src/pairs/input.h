/*-------------------------------------------------------------------------
 *
 * input.h
 *	  What is searched: the fingerprints of indexes, or of an array.
 *
 * What this declares is defined in input.c and entries.c.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_PAIRS_INPUT_H
#define SIMHASH_PAIRS_INPUT_H

#include "utils/array.h"
#include "utils/rel.h"
#include "utils/snapshot.h"

#include "index/sort.h"
#include "pairs/bands.h"
#include "pairs/keys.h"

/*
 * Indexes that are searched.  Each has the rows from first_row to end_row: the TIDs of its
 * entries, plus first_row.
 */
typedef struct ShPairsIndex
{
	Relation	index;
	ShPairsRow	first_row;
	ShPairsRow	end_row;
} ShPairsIndex;

typedef struct ShPairsIndexes
{
	int			count;
	ShPairsIndex *list;
	bool		grouped;		/* they have several columns */
} ShPairsIndexes;

/*
 * Either the leaves of a tree of each index are read, or entries that have been
 * collected are sorted for each table.
 */
typedef struct ShPairsEntries
{
	const ShBitsScheme *scheme;
	bool		grouped;		/* the entries have groups */

	/* for indexes */
	int			nreaders;
	struct LeafReader **readers;
	struct binaryheap *merge;	/* of readers that have entries, if there are
								 * several */

	/* for collected entries */
	ShIdxSort  *sort;
	ShIdxSortItems items;		/* returned by the sort, and not used yet */
	size_t		nitems;

	/* entries that were read together, and the next one to return */
	int			count;
	int			next;
	ShPermuted *keys;
	ShPairsRow *rows;
	uint32	   *groups;			/* if grouped */
} ShPairsEntries;

typedef struct ShPairsWords ShPairsWords;

typedef struct ShPairsInput
{
	int			width;			/* of the fingerprints, in bits */
	int			nwords;			/* parts of these, as in an index */
	bool		grouped;		/* there are columns before the fingerprint */
	double		entries;		/* about; 0 if unknown */
	double		most;			/* and at most */

	/* set for a search */
	ShPairsProgress *progress;

	/* indexes, and their scheme if they have the same */
	ShPairsIndexes indexes;
	Snapshot	snapshot;
	const ShBitsScheme *scheme;

	/* or the elements of an array; else NULL */
	Datum	   *elements;
	size_t		nelements;
	bool		wide_type;		/* of type simhash_bits */

	/* entries of bands: a table for each of the first words, which are here if
	 * they are of an array */
	bool		banded;
	int			nbands;
	const uint64 *band_words;
	ShPairsBands *bands;		/* for elements in place of rows, or NULL */
	struct ShPairsSettled *settled;

	/* fingerprints of one word: collected, or read in order */
	ShIdxSort  *sort;
	ShPairsEntries *entries_of;

	/* several words */
	ShPairsWords *words;

	/* the current entries, all of one group; none at the end */
	uint32		group;
	int			count;
	uint64	   *values;
	ShPairsRow *rows;
} ShPairsInput;

/* entries.c */
extern void shpairs_entries_of_indexes(ShPairsEntries *entries, const ShPairsIndex *list,
									   int count, bool grouped, const ShBitsScheme *scheme,
									   Snapshot snapshot);
extern void shpairs_entries_of_sort(ShPairsEntries *entries, ShIdxSort *sort,
									const ShBitsScheme *scheme, bool grouped);
extern void shpairs_entries_start(ShPairsEntries *entries, int tree);
extern void shpairs_entries_seek(ShPairsEntries *entries, uint32 group, ShPermuted key);
extern int	shpairs_entries_next(ShPairsEntries *entries, uint32 *group, ShPermuted **keys,
								 ShPairsRow **rows);
extern void shpairs_entries_end(ShPairsEntries *entries);

/* input.c */
extern void shpairs_input_indexes(ShPairsInput *input, const ShPairsIndexes *indexes,
								  Snapshot snapshot, int width);
extern void shpairs_input_array(ShPairsInput *input, AnyArrayType *array, bool wide);
extern void shpairs_input_bands(ShPairsInput *input, const uint64 *words, size_t count, int nbands);
extern void shpairs_input_sort(ShPairsInput *input);
extern void shpairs_input_use(ShPairsInput *input, const ShBitsScheme *scheme);
extern void shpairs_input_start(ShPairsInput *input, int table);
extern const ShBitsTable *shpairs_input_table(const ShPairsInput *input, int table);
extern void shpairs_input_seek(ShPairsInput *input, uint32 group, ShPermuted key);
extern bool shpairs_input_next(ShPairsInput *input);
extern void shpairs_input_end(ShPairsInput *input);

/* take some of the current entries, in order */
static inline void
shpairs_input_advance(ShPairsInput *input, int count)
{
	input->count -= count;
	input->values += count * input->nwords;
	input->rows += count;
}

#endif							/* SIMHASH_PAIRS_INPUT_H */
