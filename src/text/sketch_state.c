/*-------------------------------------------------------------------------
 *
 * sketch_state.c
 *	  Sketches as transition states, in the form of a bytea.
 *
 * Anyone can call the functions in SQL, with any state.  Adding a row is safe
 * with any numbers, so only the header is checked then, if that is sufficient.
 * The numbers are verified when a sketch is read.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "port/pg_bitutils.h"

#include "text/sketch_state.h"
#include "text/state_bytes.h"

#define MAGIC			"min\001"
#define EMPTY_OFFSET	SHTEXT_MAGIC_LENGTH
#define MINIMA_OFFSET	(EMPTY_OFFSET + 8)
#define LENGTH			(MINIMA_OFFSET + SHTEXT_BINS * 4)

static void
check_head(const bytea *state)
{
	shtext_check_state_head(state, MAGIC, VARSIZE_ANY_EXHDR(state) == LENGTH);
}

/*
 * Make a state whose sketch is not written yet.
 */
bytea *
shtext_sketch_state_make(void)
{
	return shtext_make_state_bytes(MAGIC, LENGTH);
}

/*
 * Read the sketch of a state.
 *
 * Raises ERRCODE_INVALID_BINARY_REPRESENTATION if it has none, or one that no
 * set with a feature can have.
 */
void
shtext_sketch_state_read(const bytea *state, ShTextSketch *sketch)
{
	const char *data = VARDATA_ANY(state);

	check_head(state);
	sketch->empty = shtext_get_uint64(data + EMPTY_OFFSET);
	if (sketch->empty == PG_UINT64_MAX)
		shtext_report_invalid_state(gettext_noop("It has no feature."));
	for (int bin = 0; bin < SHTEXT_BINS; bin++)
	{
		sketch->values[bin] = shtext_get_uint32(data + MINIMA_OFFSET + bin * 4);
		sketch->visits[bin] = PG_UINT16_MAX;
	}
	for (uint64 bins = sketch->empty; bins != 0; bins &= bins - 1)
	{
		int			bin = pg_rightmost_one_pos64(bins);

		if (sketch->values[bin] > PG_UINT16_MAX)
			shtext_report_invalid_state(gettext_noop("It has a visit at a time that does not exist."));
		sketch->visits[bin] = sketch->values[bin];
		sketch->values[bin] = PG_UINT32_MAX;
	}
}

/*
 * Write the sketch of a nonempty set to a state that has been made or read.
 */
void
shtext_sketch_state_write(bytea *state, const ShTextSketch *sketch)
{
	char	   *data = VARDATA(state);

	shtext_put_uint64(data + EMPTY_OFFSET, sketch->empty);
	for (int bin = 0; bin < SHTEXT_BINS; bin++)
		shtext_put_uint32(data + MINIMA_OFFSET + bin * 4,
						  (sketch->empty >> bin) & 1 ? sketch->visits[bin] : sketch->values[bin]);
}

/*
 * Add a row, in place, to a state that has been written, or that was passed
 * in.
 *
 * Raises ERRCODE_INVALID_BINARY_REPRESENTATION if it is no state.
 */
void
shtext_sketch_state_add(bytea *state, uint64 hash)
{
	char	   *data = VARDATA(state);
	uint64		number;
	char	   *at;

	check_head(state);
	if (shtext_get_uint64(data + EMPTY_OFFSET) != 0)
	{
		ShTextSketch sketch;

		shtext_sketch_state_read(state, &sketch);
		shtext_sketch_add(&sketch, &hash, 1);
		shtext_sketch_state_write(state, &sketch);
		return;
	}

	/* if no bin is empty, a feature can change only one minimum */
	number = shtext_number(hash);
	at = data + MINIMA_OFFSET + shtext_bin(number) * 4;
	if (shtext_value(number) < shtext_get_uint32(at))
		shtext_put_uint32(at, shtext_value(number));
}
