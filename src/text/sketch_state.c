/*-------------------------------------------------------------------------
 *
 * sketch_state.c
 *	  The sketch of the rows so far, as a bytea.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "port/pg_bswap.h"

#include "compat.h"
#include "text/sketch_state.h"

#define MAGIC			"min\001"
#define MAGIC_LENGTH	4
#define LENGTH			(MAGIC_LENGTH + sizeof(ShTextSketch))

SHCOMPAT_NORETURN static void report_invalid(const char *detail);
static void swap(ShTextSketch *sketch);

/*
 * A state, whose sketch is to be written.
 */
bytea *
shtext_sketch_state_make(void)
{
	bytea	   *state = palloc(VARHDRSZ + LENGTH);

	SET_VARSIZE(state, VARHDRSZ + LENGTH);
	memcpy(VARDATA(state), MAGIC, MAGIC_LENGTH);
	return state;
}

/*
 * The sketch of a state.
 *
 * Raises ERRCODE_INVALID_BINARY_REPRESENTATION if that is none of a set with
 * elements.
 */
void
shtext_sketch_state_read(const bytea *state, ShTextSketch *sketch)
{
	if (VARSIZE_ANY_EXHDR(state) != LENGTH)
		report_invalid("It has a wrong length.");
	if (memcmp(VARDATA_ANY(state), MAGIC, MAGIC_LENGTH) != 0)
		report_invalid("It is of another version, or no state at all.");

	memcpy(sketch, VARDATA_ANY(state) + MAGIC_LENGTH, sizeof(*sketch));
	swap(sketch);
	if (!shtext_sketch_is_possible(sketch))
		report_invalid("It has minima that no hash gives.");
}

/*
 * Write the sketch of a state that has been made or read.
 */
void
shtext_sketch_state_write(bytea *state, const ShTextSketch *sketch)
{
	ShTextSketch copy = *sketch;

	swap(&copy);
	memcpy(VARDATA(state) + MAGIC_LENGTH, &copy, sizeof(copy));
}

static void
report_invalid(const char *detail)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
			 errmsg("invalid state of a simhash aggregate"),
			 errdetail_internal("%s", detail)));
}

/*
 * Between the byte order of the machine and that of states.
 */
static void
swap(ShTextSketch *sketch)
{
#ifdef WORDS_BIGENDIAN
	for (int bin = 0; bin < SHTEXT_BINS; bin++)
		sketch->minima[bin] = pg_bswap64(sketch->minima[bin]);
#endif
}
