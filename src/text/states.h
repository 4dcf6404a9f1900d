/*-------------------------------------------------------------------------
 *
 * states.h
 *	  Transition states of the aggregates, in the form of a bytea.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_TEXT_STATES_H
#define SIMHASH_TEXT_STATES_H

#include "compat.h"
#include "text/majority.h"
#include "text/sketch.h"

SHCOMPAT_NORETURN extern void shtext_report_invalid_state(const char *detail);

/*
 * The state of the sketch of a nonempty set, palloc'd.
 */
extern bytea *shtext_sketch_state_make(const ShTextSketch *sketch);

/*
 * Those that are passed a state raise ERRCODE_INVALID_BINARY_REPRESENTATION if it
 * is none: the first one, which gets the width of the sketch and returns its minima, by its
 * head; the others also if no set with a feature has such a sketch.
 */
extern int	shtext_sketch_state_head(const bytea *state, int *width);
extern void shtext_sketch_state_read(const bytea *state, ShTextSketch *sketch);
extern void shtext_sketch_state_add(bytea *state, uint64 hash);

/*
 * The state of no rows, palloc'd.
 */
extern bytea *shtext_counter_state_make(void);

/*
 * Check the head of a state, on which all of the following rely; and that its
 * numbers are possible, on which the last two rely.
 *
 * Raise ERRCODE_INVALID_BINARY_REPRESENTATION.
 */
extern void shtext_counter_state_check(const bytea *state);
extern void shtext_counter_state_verify(const bytea *state);

/*
 * Add a row, in place if there is room.  Returns the state; if it is a new one,
 * the caller frees the argument.
 *
 * Raises ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE if the sums become too large, as all
 * of the following do.
 */
extern bytea *shtext_counter_state_add(bytea *state, uint64 hash, int128 weight);

/* The state of the rows of both, palloc'd. */
extern bytea *shtext_counter_state_combine(const bytea *state, const bytea *other);

/* Get the fingerprint.  Returns false if no row has a weight. */
extern bool shtext_counter_state_result(const bytea *state, ShFingerprint *result);

#endif							/* SIMHASH_TEXT_STATES_H */
