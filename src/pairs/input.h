/*-------------------------------------------------------------------------
 *
 * input.h
 *	  What is searched: the fingerprints of indexes, or of an array.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_PAIRS_INPUT_H
#define SIMHASH_PAIRS_INPUT_H

#include "utils/array.h"
#include "utils/snapshot.h"

#include "pairs/entries.h"
#include "pairs/keys.h"
#include "pairs/report.h"

typedef struct ShPairsWords ShPairsWords;

typedef struct ShPairsInput
{
	int			width;			/* of the fingerprints, in bits */
	int			nwords;			/* of 64 bits each */
	bool		grouped;		/* there are columns before the fingerprint */
	double		entries;		/* about; 0 if unknown */
	double		most;			/* and at most */

	/* set for a search */
	ShPairsProgress *progress;

	/* indexes, and their scheme if they have the same */
	ShPairsIndexes indexes;
	Snapshot	snapshot;
	const ShBitsScheme *scheme;

	/* or an array, and its values if they are wide */
	AnyArrayType *array;
	const bytea **wide_values;
	size_t		nvalues;
	size_t		next;

	/* fingerprints of one word: collected, or read in order */
	ShIdxSort  *sort;
	bool		used;
	ShPairsEntries entries_of;

	/* wider ones of indexes */
	ShPairsWords *words;

	/* of groups: the current entries, all of one; none at the end */
	uint32		group;
	int			count;
	uint64	   *values;
	ShPairsRow *rows;
} ShPairsInput;

extern void shpairs_input_indexes(ShPairsInput *input, const ShPairsIndexes * indexes,
								  Snapshot snapshot, int width);
extern void shpairs_input_array(ShPairsInput *input, AnyArrayType *array);
extern void shpairs_input_wide_array(ShPairsInput *input, ArrayType *array);
extern ShPairsSink *shpairs_input_sink(const ShPairsInput *input, ShPairsSink *sink);
extern void shpairs_input_sort(ShPairsInput *input);
extern void shpairs_input_use(ShPairsInput *input, const ShBitsScheme *scheme);
extern void shpairs_input_start(ShPairsInput *input);
extern void shpairs_input_next(ShPairsInput *input);
extern void shpairs_input_advance(ShPairsInput *input, int count);
extern void shpairs_input_end(ShPairsInput *input);

#endif							/* SIMHASH_PAIRS_INPUT_H */
