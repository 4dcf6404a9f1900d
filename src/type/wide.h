/*-------------------------------------------------------------------------
 *
 * wide.h
 *	  C representation of the SQL types simhash_bits and simhash_bits_ball.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_TYPE_WIDE_H
#define SIMHASH_TYPE_WIDE_H

#include "fmgr.h"

#include "compat.h"

/*
 * Widths are in bits.  They end up in type modifiers, which are the width
 * itself.
 */
#define SIMHASH_BITS_MIN_WIDTH	BITS_PER_BYTE
#define SIMHASH_BITS_MAX_WIDTH	4096
#define SIMHASH_BITS_MAX_BYTES	(SIMHASH_BITS_MAX_WIDTH / BITS_PER_BYTE)

/* the widths there are, for the detail of an error */
#define SHTYPE_WIDTH_DETAIL	"A fingerprint of this type has 8, 16, 24 ... or 4096 bits."

/*
 * A wide fingerprint is a bytea, and what its bytes are in: the first one has
 * the most significant bits.  Its header may be short, so its bytes have no
 * alignment.
 */
#define DatumGetSimhashBits(X)		DatumGetByteaPP(X)
#define PG_GETARG_SIMHASH_BITS(n)	DatumGetSimhashBits(PG_GETARG_DATUM(n))

static inline int
shtype_bits_bytes(const bytea *fp)
{
	return VARSIZE_ANY_EXHDR(fp);
}

static inline int
shtype_bits_width(const bytea *fp)
{
	return shtype_bits_bytes(fp) * BITS_PER_BYTE;
}

static inline const uint8 *
shtype_bits_data(const bytea *fp)
{
	return (const uint8 *) VARDATA_ANY(fp);
}

/*
 * A ball holds every fingerprint of the center's width that differs from it in
 * at most radius bits: none if radius < 0.
 */
typedef struct SimhashBitsBall
{
	int32		vl_len_;		/* the server's; do not touch */
	int32		radius;
	uint8		center[FLEXIBLE_ARRAY_MEMBER];
} SimhashBitsBall;

/* never with a short header */
#define DatumGetSimhashBitsBall(X)	((SimhashBitsBall *) PG_DETOAST_DATUM(X))
#define PG_GETARG_SIMHASH_BITS_BALL(n)	DatumGetSimhashBitsBall(PG_GETARG_DATUM(n))

static inline int
shtype_ball_bytes(const SimhashBitsBall *ball)
{
	return VARSIZE(ball) - offsetof(SimhashBitsBall, center);
}

/*
 * The order of byte strings, as an integer below, equal to or above 0.  If one
 * begins with the other, it is the greater one.
 */
static inline int
shtype_compare_bytes(const uint8 *a, int a_bytes, const uint8 *b, int b_bytes)
{
	int			order = memcmp(a, b, Min(a_bytes, b_bytes));

	return order != 0 ? order : a_bytes - b_bytes;
}

/* Can fingerprints have so many bits? */
static inline bool
shtype_is_width(int width)
{
	return width >= SIMHASH_BITS_MIN_WIDTH && width <= SIMHASH_BITS_MAX_WIDTH &&
		width % BITS_PER_BYTE == 0;
}

/* the radius of % for fingerprints of so many bits */
static inline int
shtype_near_radius(int width)
{
	return width / 8 - 1;
}

/* A new fingerprint, palloc'd. */
static inline bytea *
shtype_new_bits(const void *bytes, int nbytes)
{
	bytea	   *result = palloc(VARHDRSZ + nbytes);

	SET_VARSIZE(result, VARHDRSZ + nbytes);
	memcpy(VARDATA(result), bytes, nbytes);
	return result;
}

/* A new ball, palloc'd. */
static inline SimhashBitsBall *
shtype_new_bits_ball(const uint8 *center, int nbytes, int32 radius)
{
	SimhashBitsBall *ball = palloc(offsetof(SimhashBitsBall, center) + nbytes);

	SET_VARSIZE(ball, offsetof(SimhashBitsBall, center) + nbytes);
	ball->radius = radius;
	memcpy(ball->center, center, nbytes);
	return ball;
}

/*
 * The number of bits in which two byte strings differ.
 *
 * Raises ERRCODE_STRING_DATA_LENGTH_MISMATCH if they differ in length.
 */
extern int	shtype_bits_distance(const uint8 *a, int a_bytes, const uint8 *b, int b_bytes);

/*
 * Do two fingerprints share one of their first nwords words of 64 bits, which are bands
 * (shbits_same_band)?  Each is at the address of its first byte.
 */
extern bool shtype_share_band(const uint8 *a, const uint8 *b, int nwords, int radius);

/*
 * Check that the first nwords words are bands: nothing but a prefix and other bits.
 *
 * Raises ERRCODE_INVALID_BINARY_REPRESENTATION.
 */
extern void shtype_check_bands(const uint8 *words, int nwords);

/*
 * Raise ERRCODE_STRING_DATA_LENGTH_MISMATCH: fingerprints of different widths
 * have no distance.
 */
SHCOMPAT_NORETURN extern void shtype_report_widths(int a_bits, int b_bits);

/*
 * Cut a fingerprint of so many bits into its parts (shbits_part_bits).  The first one has
 * the most significant bits.  If a part has less than 64, they are its least significant
 * ones, and the others are 0.
 */
extern void shtype_split_bits(const uint8 *bytes, int width, uint64 *parts);

/* The fingerprint that has been cut into these parts, palloc'd. */
extern bytea *shtype_join_bits(const uint64 *parts, int width);

/* The fingerprint that the first bits of words of 64 bits are, palloc'd. */
extern bytea *shtype_bits_of_words(const uint64 *words, int width);

/*
 * Is a type the one of this length with this function for input, which is one of the
 * extension's?  Reads the catalogs.
 */
extern bool shtype_has_input(Oid type, int length, PGFunction input);

/*
 * Is a type simhash_bits?  Reads the catalogs.
 */
extern bool shtype_is_bits(Oid type);

/*
 * Check a width that is an argument or a type modifier.
 *
 * Raises ERRCODE_INVALID_PARAMETER_VALUE.
 */
extern void shtype_check_width(int32 width);

#endif							/* SIMHASH_TYPE_WIDE_H */
