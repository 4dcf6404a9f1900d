/*-------------------------------------------------------------------------
 *
 * scheme.h
 *	  The permuted-block tables of Manku, Jain and Das Sarma, "Detecting
 *	  near-duplicates for web crawling" (WWW 2007).
 *
 * A scheme (m, k) cuts the n bits of a fingerprint, 64 or less, into m blocks;
 * block i holds the bits i*n/m .. (i+1)*n/m - 1, counted from the least
 * significant.  There is a table for each choice of m-k blocks, C(m,k) in all, in
 * lexicographic order of the choice.  A table permutes a fingerprint so that the
 * chosen blocks come first, as its prefix, in the most significant bits: the chosen
 * blocks in ascending order of their numbers, then the others, ascending as well.
 * With less than 64 bits, the rest of the permuted fingerprint is 0.  Two
 * fingerprints within k bits differ in at most k blocks, so at least one table gives
 * them one and the same prefix.
 *
 * Tables are numbered from 0.  "Fingerprint" means the original value, "key"
 * the permuted one.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BITS_SCHEME_H
#define SIMHASH_BITS_SCHEME_H

#include "bits/distance.h"

#define SHBITS_MAX_BLOCKS	16
#define SHBITS_MAX_TABLES	256

/* a wide fingerprint has several parts of at most 64 bits */
#define SHBITS_MAX_PARTS	64

/*
 * Bits of a permuted fingerprint that one rotation puts in place.  The masks
 * of a table's moves are disjoint and cover all bits that the scheme has; their
 * rotations differ.
 */
typedef struct ShBitsMove
{
	uint64		mask;			/* where they go, in the permuted fingerprint */
	int			rotate;			/* how far to rotate left, 0..63 */
} ShBitsMove;

typedef struct ShBitsTable
{
	uint8		order[SHBITS_MAX_BLOCKS];	/* blocks, most significant first */
	int			prefix_bits;	/* length of the prefix, 1..64 */
	uint64		prefix_mask;	/* bits of the fingerprint in the prefix */
	int			nmoves;			/* 1..SHBITS_MAX_BLOCKS */
	ShBitsMove	moves[SHBITS_MAX_BLOCKS];
} ShBitsTable;

typedef struct ShBitsScheme
{
	int			bits;			/* n, 1..SHBITS_WIDTH */
	int			blocks;			/* m, 1..SHBITS_MAX_BLOCKS, at most n */
	int			distance;		/* k, 0..m-1 */
	int			ntables;		/* C(m,k), 1..SHBITS_MAX_TABLES */
	ShBitsTable tables[FLEXIBLE_ARRAY_MEMBER];
} ShBitsScheme;

/*
 * Number of tables of a scheme; 0 if blocks or distance is out of range.
 * May exceed SHBITS_MAX_TABLES: such a scheme cannot be used.
 */
extern int	shbits_ntables(int blocks, int distance);

/*
 * Raise ERRCODE_INVALID_PARAMETER_VALUE, with a detail that says what is
 * allowed, if the scheme cannot be used.  The advice, sentences with two spaces
 * before them or nothing, is added to a hint about the number of blocks.
 */
extern void shbits_check_scheme(int bits, int blocks, int distance, const char *advice);

/*
 * Raise the same error if a scheme has no table of that number.
 */
extern void shbits_check_table(const ShBitsScheme *scheme, int table_no);

static inline bool
shbits_same_scheme(const ShBitsScheme *a, const ShBitsScheme *b)
{
	return a->bits == b->bits && a->blocks == b->blocks && a->distance == b->distance;
}

/*
 * Make a scheme in the current memory context.  Raises the same error if it
 * cannot be used.
 */
extern ShBitsScheme *shbits_make_scheme(int bits, int blocks, int distance);

/* Bytes of a scheme with that many tables. */
extern Size shbits_scheme_size(int ntables);

/*
 * Fill in a scheme.  bits, blocks and distance must be usable, as above, and
 * *scheme must have shbits_scheme_size() bytes, all of which are set.
 */
extern void shbits_scheme_init(ShBitsScheme *scheme, int bits, int blocks, int distance);

/* the number of parts of a fingerprint of so many bits */
static inline int
shbits_nparts(int width)
{
	return (width + SHBITS_WIDTH - 1) / SHBITS_WIDTH;
}

/*
 * The first bit of a part of fingerprints of so many bits, counted from the most
 * significant.  Parts are as long as the first one, or shorter by one bit.
 */
static inline int
shbits_part_start(int width, int part)
{
	int			nparts = shbits_nparts(width);

	return (part * width + nparts - 1) / nparts;
}

/* the number of bits of a part; the scheme of all parts has as many as the first one */
static inline int
shbits_part_bits(int width, int part)
{
	return shbits_part_start(width, part + 1) - shbits_part_start(width, part);
}

/* the least significant bit of a block; that of block m is the number of bits */
static inline int
shbits_block_start(const ShBitsScheme *scheme, int block)
{
	return block * scheme->bits / scheme->blocks;
}

static inline uint64
shbits_rotate_left(uint64 x, int n)
{
	return (x << (n & 63)) | (x >> (-n & 63));
}

/* A fingerprint as the table stores it. */
static inline ShPermuted
shbits_permute(const ShBitsTable *table, ShFingerprint fp)
{
	uint64		result = 0;

	for (int i = 0; i < table->nmoves; i++)
		result |= shbits_rotate_left(fp, table->moves[i].rotate) & table->moves[i].mask;
	return result;
}

/* The inverse of shbits_permute. */
static inline ShFingerprint
shbits_unpermute(const ShBitsTable *table, ShPermuted key)
{
	uint64		result = 0;

	for (int i = 0; i < table->nmoves; i++)
		result |= shbits_rotate_left(key & table->moves[i].mask, -table->moves[i].rotate);
	return result;
}

#endif							/* SIMHASH_BITS_SCHEME_H */
