/*-------------------------------------------------------------------------
 *
 * excerpt.h
 *	  What one process tells another about buckets: their pairs.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_PAIRS_EXCERPT_H
#define SIMHASH_PAIRS_EXCERPT_H

#include "storage/shm_mq.h"

#include "pairs/bucket_reader.h"

/* a pair, by the numbers of its keys in the excerpt */
typedef struct ShPairsExcerptPair
{
	uint32		i;
	uint32		j;
} ShPairsExcerptPair;

/* what begins a message; all that follows is aligned to 8 bytes */
typedef struct ShPairsExcerptHead
{
	uint32		table;
	uint32		group;
	uint64		first_walk;
	uint64		npairs;
	uint64		nkeys[2];		/* of each side */
	uint64		nrows[2];
} ShPairsExcerptHead;

/* the keys of one of the two sides, or of the only one */
typedef struct ShPairsExcerptSide
{
	const ShPairsBucket *bucket;	/* the current one */
	size_t		first;			/* number of its first key in the excerpt */
	size_t		nkeys;
	size_t		max_keys;
	ShPermuted *keys;
	size_t	   *starts;			/* of the rows of each */
	uint32	   *sources;		/* its number in the bucket */
	size_t		nrows;
	size_t		nsmall;			/* rows of keys that do not have many */
	size_t		max_rows;
	ShRowsNumber *rows;
	uint32	   *numbers;		/* by number in the bucket, if sources agrees */
	size_t		max_numbers;
} ShPairsExcerptSide;

typedef struct ShPairsExcerpt ShPairsExcerpt;

/* passes a complete excerpt on, which is then emptied */
typedef void (*ShPairsEmitFunction) (void *arg, ShPairsExcerpt *excerpt);

struct ShPairsExcerpt
{
	ShPairsEmitFunction emit;
	void	   *arg;
	const ShBitsTable *table;	/* of all its buckets, */
	uint32		group;			/* as is this */
	bool		first_walk;
	ShPairsExcerptSide sides[2];
	size_t		npairs;
	ShPairsExcerptPair *pairs;
};

/* an excerpt, as buckets that have only those keys that are in pairs */
typedef struct ShPairsReceived
{
	Size		capacity;		/* of the copy of a message */
	char	   *copy;
	ShPairsBucket buckets[2];
	size_t		npairs;
	const ShPairsExcerptPair *pairs;
} ShPairsReceived;

extern void shpairs_excerpt_init(ShPairsExcerpt *excerpt, ShPairsEmitFunction emit, void *arg);
extern void shpairs_excerpt_start(ShPairsExcerpt *excerpt, const ShPairsBucket *a,
								  const ShPairsBucket *b);
extern void shpairs_excerpt_add(ShPairsExcerpt *excerpt, size_t i, size_t j);
extern void shpairs_excerpt_emit(ShPairsExcerpt *excerpt);
extern void shpairs_excerpt_pieces(const ShPairsExcerpt *excerpt, const ShBitsScheme *scheme,
								   ShPairsExcerptHead *head, shm_mq_iovec *pieces);
extern void shpairs_excerpt_show(const ShPairsExcerpt *excerpt, ShPairsReceived *received);
extern void shpairs_excerpt_receive(ShPairsReceived *received, const ShBitsScheme *scheme,
									const void *message, Size size);

/* the most pieces of a message */
#define SHPAIRS_EXCERPT_PIECES	8

#endif							/* SIMHASH_PAIRS_EXCERPT_H */
