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
#include "type/wide.h"

#define MAGIC			"min\001"
#define WIDE_MAGIC		"mib\001"

/* of a part */
#define EMPTY_OFFSET	0
#define MINIMA_OFFSET	(EMPTY_OFFSET + 8)
#define PART_LENGTH		(MINIMA_OFFSET + SHTEXT_BINS * 4)

/* of a state, and of a wide one */
#define PART_OFFSET		SHTEXT_MAGIC_LENGTH
#define LENGTH			(PART_OFFSET + PART_LENGTH)
#define WIDTH_OFFSET	SHTEXT_MAGIC_LENGTH
#define PARTS_OFFSET	(WIDTH_OFFSET + 4)

/*
 * Read the sketch of a part.
 *
 * Raises ERRCODE_INVALID_BINARY_REPRESENTATION if no set with a feature can have
 * it.
 */
static void
read_part(const char *part, ShTextSketch *sketch)
{
	sketch->empty = shtext_get_uint64(part + EMPTY_OFFSET);
	if (sketch->empty == PG_UINT64_MAX)
		shtext_report_invalid_state(gettext_noop("It has no feature."));
	for (int bin = 0; bin < SHTEXT_BINS; bin++)
	{
		sketch->values[bin] = shtext_get_uint32(part + MINIMA_OFFSET + bin * 4);
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

/* Write the sketch of a nonempty set. */
static void
write_part(char *part, const ShTextSketch *sketch)
{
	shtext_put_uint64(part + EMPTY_OFFSET, sketch->empty);
	for (int bin = 0; bin < SHTEXT_BINS; bin++)
		shtext_put_uint32(part + MINIMA_OFFSET + bin * 4,
						  (sketch->empty >> bin) & 1 ? sketch->visits[bin] : sketch->values[bin]);
}

/* Add a feature in place. */
static void
add_to_part(char *part, uint64 hash)
{
	uint64		number;
	char	   *at;

	if (shtext_get_uint64(part + EMPTY_OFFSET) != 0)
	{
		ShTextSketch sketch;

		read_part(part, &sketch);
		shtext_sketch_add(&sketch, &hash, 1);
		write_part(part, &sketch);
		return;
	}

	/* if no bin is empty, a feature can change only one minimum */
	number = shtext_number(hash);
	at = part + MINIMA_OFFSET + shtext_bin(number) * 4;
	if (shtext_value(number) < shtext_get_uint32(at))
		shtext_put_uint32(at, shtext_value(number));
}

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
	check_head(state);
	read_part(VARDATA_ANY(state) + PART_OFFSET, sketch);
}

/*
 * Write the sketch of a nonempty set to a state that has been made or read.
 */
void
shtext_sketch_state_write(bytea *state, const ShTextSketch *sketch)
{
	write_part(VARDATA(state) + PART_OFFSET, sketch);
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
	check_head(state);
	add_to_part(VARDATA(state) + PART_OFFSET, hash);
}

/*
 * The same for wide sketches, of fingerprints of width bits.
 */
static Size
wide_length(int width)
{
	return PARTS_OFFSET + shtext_wide_sketch_parts(width / BITS_PER_BYTE) * PART_LENGTH;
}

bytea *
shtext_wide_state_make(int width)
{
	bytea	   *state = shtext_make_state_bytes(WIDE_MAGIC, wide_length(width));

	shtext_put_uint32(VARDATA(state) + WIDTH_OFFSET, width);
	return state;
}

/*
 * The bits of the fingerprint.
 *
 * Raises ERRCODE_INVALID_BINARY_REPRESENTATION if it is no state.
 */
int
shtext_wide_state_width(const bytea *state)
{
	Size		length = VARSIZE_ANY_EXHDR(state);
	uint32		width = 0;

	if (length >= PARTS_OFFSET)
		width = shtext_get_uint32(VARDATA_ANY(state) + WIDTH_OFFSET);
	shtext_check_state_head(state, WIDE_MAGIC,
							width >= SIMHASH_BITS_MIN_WIDTH && width <= SIMHASH_BITS_MAX_WIDTH &&
							width % BITS_PER_BYTE == 0 && length == wide_length(width));
	return width;
}

ShTextWideSketch *
shtext_wide_state_read(const bytea *state)
{
	int			width = shtext_wide_state_width(state);
	ShTextWideSketch *sketch = shtext_wide_sketch_make(width / BITS_PER_BYTE);

	for (int p = 0; p < sketch->nparts; p++)
		read_part(VARDATA_ANY(state) + PARTS_OFFSET + p * PART_LENGTH, &sketch->parts[p]);
	return sketch;
}

void
shtext_wide_state_write(bytea *state, const ShTextWideSketch *sketch)
{
	for (int p = 0; p < sketch->nparts; p++)
		write_part(VARDATA(state) + PARTS_OFFSET + p * PART_LENGTH, &sketch->parts[p]);
}

void
shtext_wide_state_add(bytea *state, uint64 hash)
{
	int			width = shtext_wide_state_width(state);
	uint64		number = shtext_number(hash);

	for (int p = 0; p < shtext_wide_sketch_parts(width / BITS_PER_BYTE); p++)
		add_to_part(VARDATA(state) + PARTS_OFFSET + p * PART_LENGTH,
					p == 0 ? hash : shtext_hash_in_part(number, p));
}
