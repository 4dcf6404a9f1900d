/*-------------------------------------------------------------------------
 *
 * sketch_state.c
 *	  The sketch of the rows so far, as a bytea.
 *
 * A state may come from anyone who calls the functions in SQL.  It is safe to
 * add a row whatever the numbers are, so only the head is looked at then, if
 * that is enough; they are verified when a sketch is read.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "port/pg_bitutils.h"
#include "port/pg_bswap.h"

#include "compat.h"
#include "text/sketch_state.h"

#define MAGIC			"min\001"
#define MAGIC_LENGTH	4
#define EMPTY_OFFSET	MAGIC_LENGTH
#define MINIMA_OFFSET	(EMPTY_OFFSET + 8)
#define LENGTH			(MINIMA_OFFSET + SHTEXT_BINS * 4)

static void check_head(const bytea *state);
SHCOMPAT_NORETURN static void report_invalid(const char *detail);

/*
 * Between the byte order of the machine and that of states.
 */
static inline uint64
swapped64(uint64 x)
{
#ifdef WORDS_BIGENDIAN
	x = pg_bswap64(x);
#endif
	return x;
}

static inline uint32
swapped32(uint32 x)
{
#ifdef WORDS_BIGENDIAN
	x = pg_bswap32(x);
#endif
	return x;
}

/*
 * A state, whose sketch is to be written.
 */
bytea *
shtext_sketch_state_make(void)
{
	bytea	   *state = palloc0(VARHDRSZ + LENGTH);

	SET_VARSIZE(state, VARHDRSZ + LENGTH);
	memcpy(VARDATA(state), MAGIC, MAGIC_LENGTH);
	return state;
}

/*
 * The sketch of a state.
 *
 * Raises ERRCODE_INVALID_BINARY_REPRESENTATION if it has none, or one that no
 * set with a feature can have.
 */
void
shtext_sketch_state_read(const bytea *state, ShTextSketch *sketch)
{
	const char *data = VARDATA_ANY(state);

	check_head(state);
	memcpy(&sketch->empty, data + EMPTY_OFFSET, 8);
	sketch->empty = swapped64(sketch->empty);
	if (sketch->empty == PG_UINT64_MAX)
		report_invalid("It has no feature.");
	memcpy(sketch->values, data + MINIMA_OFFSET, sizeof(sketch->values));
	for (int bin = 0; bin < SHTEXT_BINS; bin++)
	{
		sketch->values[bin] = swapped32(sketch->values[bin]);
		sketch->visits[bin] = PG_UINT16_MAX;
	}
	for (uint64 bins = sketch->empty; bins != 0; bins &= bins - 1)
	{
		int			bin = pg_rightmost_one_pos64(bins);

		if (sketch->values[bin] > PG_UINT16_MAX)
			report_invalid("It has a visit at a time that does not exist.");
		sketch->visits[bin] = sketch->values[bin];
		sketch->values[bin] = PG_UINT32_MAX;
	}
}

/*
 * Write a sketch, of a set with features, to a state that has been made or
 * read.
 */
void
shtext_sketch_state_write(bytea *state, const ShTextSketch *sketch)
{
	char	   *data = VARDATA(state);
	uint64		empty = swapped64(sketch->empty);
	uint32		minima[SHTEXT_BINS];

	for (int bin = 0; bin < SHTEXT_BINS; bin++)
		minima[bin] = swapped32(sketch->values[bin]);
	for (uint64 bins = sketch->empty; bins != 0; bins &= bins - 1)
	{
		int			bin = pg_rightmost_one_pos64(bins);

		minima[bin] = swapped32(sketch->visits[bin]);
	}
	memcpy(data + EMPTY_OFFSET, &empty, 8);
	memcpy(data + MINIMA_OFFSET, minima, sizeof(minima));
}

/*
 * Add a row, in place, to a state that has been made and written, or that came
 * in.
 *
 * Raises ERRCODE_INVALID_BINARY_REPRESENTATION if it is no state.
 */
void
shtext_sketch_state_add(bytea *state, uint64 hash)
{
	char	   *data = VARDATA(state);
	uint64		empty;
	uint64		number;
	uint32		value;
	char	   *at;

	check_head(state);
	memcpy(&empty, data + EMPTY_OFFSET, 8);
	if (empty != 0)
	{
		ShTextSketch sketch;

		shtext_sketch_state_read(state, &sketch);
		shtext_sketch_add(&sketch, &hash, 1);
		shtext_sketch_state_write(state, &sketch);
		return;
	}

	/* where no bin is empty, a feature can change one minimum only */
	number = shtext_number(hash);
	at = data + MINIMA_OFFSET + shtext_bin(number) * 4;
	memcpy(&value, at, 4);
	if (shtext_value(number) < swapped32(value))
	{
		value = swapped32(shtext_value(number));
		memcpy(at, &value, 4);
	}
}

static void
check_head(const bytea *state)
{
	if (VARSIZE_ANY_EXHDR(state) != LENGTH)
		report_invalid("It has a wrong length.");
	if (memcmp(VARDATA_ANY(state), MAGIC, MAGIC_LENGTH) != 0)
		report_invalid("It is of another version, or no state at all.");
}

static void
report_invalid(const char *detail)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
			 errmsg("invalid state of a simhash aggregate"),
			 errdetail_internal("%s", detail)));
}
