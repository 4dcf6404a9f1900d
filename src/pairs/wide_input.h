/*-------------------------------------------------------------------------
 *
 * wide_input.h
 *	  Reading the wide fingerprints of indexes, or of an array.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_PAIRS_WIDE_INPUT_H
#define SIMHASH_PAIRS_WIDE_INPUT_H

#include "utils/array.h"
#include "utils/snapshot.h"

#include "rows/heaps.h"
#include "sort/entrysort.h"

/* the entries of one part, in the order of group and row */
typedef struct ShPairsPartStream
{
	ShSort	   *sort;
	ShSortItems items;			/* returned by the sort, and not used yet */
	size_t		nitems;
} ShPairsPartStream;

typedef struct ShPairsWideInput
{
	int			width;			/* of the fingerprints, in bits */
	int			nwords;			/* of 64 bits each */
	double		entries;		/* about, */
	double		most;			/* and at most */
	double		nread;			/* that have become the next one */

	/* the next entry, unless at_end */
	bool		at_end;
	uint32		group;
	ShRowsNumber row;
	uint64	   *value;

	/* of indexes: these, and for each part what has been read */
	const ShRowsHeaps *heaps;
	Snapshot	snapshot;
	ShPairsPartStream *parts;

	/* of an array: its values in order */
	size_t		count;
	size_t		next;
	const bytea **values;
} ShPairsWideInput;

extern void shpairs_wide_heaps(ShPairsWideInput *input, const ShRowsHeaps *heaps,
							   Snapshot snapshot, int width);
extern void shpairs_wide_read(ShPairsWideInput *input);
extern void shpairs_wide_array(ShPairsWideInput *input, ArrayType *array);
extern void shpairs_wide_advance(ShPairsWideInput *input);
extern void shpairs_wide_input_end(ShPairsWideInput *input);

/*
 * The number of bits in which two wide fingerprints of so many words differ.
 */
static inline int
shpairs_wide_distance(const uint64 *a, const uint64 *b, int nwords)
{
	return shbits_kernels->bytes((const uint8 *) a, (const uint8 *) b,
								 nwords * (int) sizeof(uint64));
}

/*
 * Is a wide fingerprint of so many words less than another, equal or greater?
 */
static inline int
shpairs_compare_values(const uint64 *a, const uint64 *b, int nwords)
{
	for (int i = 0; i < nwords; i++)
	{
		if (a[i] != b[i])
			return a[i] < b[i] ? -1 : 1;
	}
	return 0;
}

#endif							/* SIMHASH_PAIRS_WIDE_INPUT_H */
