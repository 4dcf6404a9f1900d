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
	const ShBitsTable *table;	/* with one word */
	uint64		first_number;	/* with more */
	size_t		nkeys;			/* different ones */
	size_t		nrows;
	uint64	   *values;
	size_t	   *starts;			/* rows of key i: starts[i] to the next start */
	ShPairsRow *rows;
	bool		last_repeated;	/* the last key has had another row */

	/*
	 * With several words, a bucket that is not complete has nrows records in
	 * values, each a value and its row, and no keys.
	 */
} ShPairsBucket;

/*
 * Receives what a search finds.  It may change the rows of buckets.
 */
typedef struct ShPairsSink
{
	/*
	 * Called with another row of the last key of a bucket that is being
	 * collected, which does not keep it; and again whenever a chunk of the
	 * bucket is read again.  NULL: buckets keep all rows, but those of one
	 * value may be of several keys in different chunks, which then are pairs
	 * at distance 0.
	 */
	void		(*repeat) (struct ShPairsSink *sink, const ShPairsBucket *bucket,
						   ShPairsRow row);

	/*
	 * Key i of bucket a and key j of b are a pair.  If a set is compared with
	 * itself, a may be b; and i may be j: then the rows of a key are pairs
	 * with each other.
	 */
	void		(*pair) (struct ShPairsSink *sink, const ShPairsBucket *a, size_t i,
						 const ShPairsBucket *b, size_t j);

	/* The buckets of the last pairs become invalid.  May be NULL. */
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

/*
 * The words of key i as they are outside of buckets, however many; *word is where a
 * single one is stored.
 */
static inline const uint64 *
shpairs_words(const ShPairsBucket *bucket, size_t i, uint64 *word)
{
	if (bucket->nwords > 1)
		return shpairs_value(bucket, i);
	*word = shpairs_key(bucket, i);
	return word;
}

/* the end of the rows of key i */
static inline size_t
shpairs_rows_end(const ShPairsBucket *bucket, size_t i)
{
	return i + 1 < bucket->nkeys ? bucket->starts[i + 1] : bucket->nrows;
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
