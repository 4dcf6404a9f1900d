/*-------------------------------------------------------------------------
 *
 * keys.h
 *	  Fingerprints that are searched for pairs together, who gets the pairs, and how far
 *	  the search is.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_PAIRS_KEYS_H
#define SIMHASH_PAIRS_KEYS_H

#include "bits/distance.h"
#include "bits/scheme.h"

/*
 * The number of a row, in the lower 48 bits: its TID, or the position in an array, plus
 * the first number of its index.  The bits above are the caller's.
 */
typedef uint64 ShPairsRow;

/*
 * Different values with their rows, all of one group.  With one word, a value is a
 * fingerprint in the order of a table, and they ascend.  With more words it is a wide
 * fingerprint, and the number of key i is first_number + i.
 */
typedef struct ShPairsBucket
{
	int			nwords;			/* of a value */
	uint32		group;			/* see index/group.c */
	bool		first_walk;		/* the first search of these rows */
	bool		of_array;		/* the values are elements of an array */
	const ShBitsTable *table;	/* with one word */
	uint64		first_number;	/* with more */
	size_t		nkeys;			/* different ones */
	size_t		nrows;
	uint64	   *values;
	uint32	   *starts;			/* rows of key i: starts[i] to the next start */
	uint32	   *numbers;		/* of elements, or SHPAIRS_NO_NUMBER */
	ShPairsRow *rows;
	bool		last_repeated;	/* the last key has had another row */

	/*
	 * With several words, a bucket that is not complete has nrows records in
	 * values, each a value and its row, and no keys.
	 */
} ShPairsBucket;

/*
 * What is near others: a group, what tells it apart in this group, and its rows.
 */
typedef struct ShPairsElement
{
	uint32		group;
	uint64		id;				/* the fingerprint, the number of a wide one, or
								 * the first row */
	const uint64 *value;		/* the words of a wide one, or NULL */
	ShPairsRow *rows;			/* those of its index entries, or NULL if it is an
								 * element of an array */
	size_t		nrows;
} ShPairsElement;

/* in place of the number of an element */
#define SHPAIRS_NO_NUMBER	PG_UINT32_MAX

/* two elements, by their numbers */
typedef struct ShPairsPair
{
	uint32		a;
	uint32		b;
} ShPairsPair;

/* the most pairs that are passed at once */
#define SHPAIRS_MAX_PAIRS	4096

/*
 * Receives the pairs of elements that a search finds.
 */
typedef struct ShPairsSink
{
	/*
	 * Wants the rows of an element as soon as they are read, so that buckets
	 * do not keep them.  There must be one side, and numbers stay valid.
	 * Otherwise rows that do not fit in memory with the others of their
	 * element make another element, at distance 0.
	 */
	bool		takes_all_rows;

	/*
	 * Number an element that may be part of a pair.  The rows are valid until
	 * leave, and the sink may change them.  With "more", these are further
	 * rows of the element that was numbered last.  Returns SHPAIRS_NO_NUMBER
	 * if there is no room: then the pairs that have been found must be
	 * passed, and both elements of the next one be numbered again.
	 */
	uint32		(*number) (struct ShPairsSink *sink, const ShPairsElement *element, bool more);

	/*
	 * Take pairs of elements, SHPAIRS_MAX_PAIRS at most, and none if there was
	 * no room for the first.  An element that is paired with itself stands for
	 * the pairs of its rows, which a sink that takes all rows knows by itself.
	 * Returns false if all numbers have become invalid, as they must if there
	 * was no room.
	 */
	bool		(*pairs) (struct ShPairsSink *sink, const ShPairsPair *pairs, size_t npairs);

	/*
	 * Divide rows whose index entries are equal, which are those with one
	 * number in words[] and follow each other, into elements by their values,
	 * which the index does not have: firsts[] gets the first row of the
	 * element of each, or 0 if the snapshot does not see the row.  Needed for
	 * bands of one side only.
	 */
	void		(*divide) (struct ShPairsSink *sink, const uint32 *words, const ShPairsRow *rows,
						   size_t nrows, ShPairsRow *firsts);

	/* The rows and values of all elements become invalid.  May be NULL. */
	void		(*leave) (struct ShPairsSink *sink);
} ShPairsSink;

/*
 * What tells keys apart: the fingerprint or, if it is wide, the number of key i.
 */
static inline ShFingerprint
shpairs_key(const ShPairsBucket *bucket, size_t i)
{
	return bucket->nwords == 1 ? shbits_unpermute(bucket->table, bucket->values[i]) :
		bucket->first_number + i;
}

/* the words of key i as they are in the bucket; a single one is permuted */
static inline const uint64 *
shpairs_value(const ShPairsBucket *bucket, size_t i)
{
	return bucket->values + i * bucket->nwords;
}

/* the end of the rows of key i */
static inline size_t
shpairs_rows_end(const ShPairsBucket *bucket, size_t i)
{
	return i + 1 < bucket->nkeys ? bucket->starts[i + 1] : bucket->nrows;
}

/*
 * Key i as an element, with the rows that the bucket has of it.
 */
static inline ShPairsElement
shpairs_element(const ShPairsBucket *bucket, size_t i)
{
	ShPairsElement element = {.group = bucket->group,.id = shpairs_key(bucket, i)};

	if (bucket->nwords > 1)
		element.value = shpairs_value(bucket, i);
	if (!bucket->of_array)
	{
		element.rows = bucket->rows + bucket->starts[i];
		element.nrows = shpairs_rows_end(bucket, i) - bucket->starts[i];
	}
	return element;
}

/*
 * The number of bits in which two fingerprints of so many words differ.
 */
static inline int
shpairs_distance(const uint64 *a, const uint64 *b, int nwords)
{
	return shbits_kernels->bytes((const uint8 *) a, (const uint8 *) b,
								 nwords * (int) sizeof(uint64));
}

/*
 * Is a fingerprint of so many words less than another, equal or greater?
 */
static inline int
shpairs_compare(const uint64 *a, const uint64 *b, int nwords)
{
	for (int i = 0; i < nwords; i++)
	{
		if (a[i] != b[i])
			return a[i] < b[i] ? -1 : 1;
	}
	return 0;
}

typedef enum ShPairsPhase
{
	SHPAIRS_SORTING,			/* reading the input of a sort */
	SHPAIRS_COMPARING			/* walking over the tables */
} ShPairsPhase;

typedef struct ShPairsProgress
{
	ShPairsPhase phase;
	int			walks_done;
	int			nwalks;
	double		done;			/* entries of this phase */
	double		total;			/* about; 0 if unknown */

	/* Called when something has changed; or NULL. */
	void		(*report) (const struct ShPairsProgress *progress);
} ShPairsProgress;

static inline void
shpairs_progress_report(const ShPairsProgress *progress)
{
	if (progress->report != NULL)
		progress->report(progress);
}

/*
 * Begin a phase with about so many entries; 0 if unknown.
 */
static inline void
shpairs_progress_begin(ShPairsProgress *progress, ShPairsPhase phase, double total)
{
	progress->phase = phase;
	progress->done = 0;
	progress->total = total;
	shpairs_progress_report(progress);
}

/*
 * So many entries of the phase are done.  If that are more than there should be, there are
 * at least as many.
 */
static inline void
shpairs_progress_entries(ShPairsProgress *progress, double done)
{
	progress->done = done;
	if (progress->total > 0)
		progress->total = Max(progress->total, done);
	shpairs_progress_report(progress);
}

static inline void
shpairs_progress_walks(ShPairsProgress *progress, int done, int nwalks)
{
	progress->walks_done = done;
	progress->nwalks = nwalks;
	shpairs_progress_report(progress);
}

#endif							/* SIMHASH_PAIRS_KEYS_H */
