/*-------------------------------------------------------------------------
 *
 * sketch_state.h
 *	  Sketches as transition states, in the form of a bytea.
 *
 * Partial states may be combined on another machine, of another architecture
 * or with another release of the extension, so the layout is fixed:
 *
 *	offset	bytes
 *		 0		3	"min"
 *		 3		1	version of the layout: 1
 *		 4		8	bins into which no feature has fallen: bit b is bin b
 *		12		256	four for each bin: the least value that has fallen into it or,
 *					if none has, the first visit
 *
 * The states of wide sketches are the same but for their head, and have what is
 * from byte 4 on for each of their parts:
 *
 *		 0		3	"mib"
 *		 3		1	version of the layout: 1
 *		 4		4	bits of the fingerprint
 *		 8			parts, of 264 bytes each
 *
 * All numbers have their least significant byte first.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_TEXT_SKETCH_STATE_H
#define SIMHASH_TEXT_SKETCH_STATE_H

#include "text/sketch.h"
#include "text/wide_sketch.h"

extern bytea *shtext_sketch_state_make(void);
extern void shtext_sketch_state_read(const bytea *state, ShTextSketch *sketch);
extern void shtext_sketch_state_write(bytea *state,
									  const ShTextSketch *sketch);
extern void shtext_sketch_state_add(bytea *state, uint64 hash);

extern bytea *shtext_wide_state_make(int width);
extern int	shtext_wide_state_width(const bytea *state);
extern ShTextWideSketch *shtext_wide_state_read(const bytea *state);
extern void shtext_wide_state_write(bytea *state, const ShTextWideSketch *sketch);
extern void shtext_wide_state_add(bytea *state, uint64 hash);

#endif							/* SIMHASH_TEXT_SKETCH_STATE_H */
