/*-------------------------------------------------------------------------
 *
 * dead.h
 *	  Marks of entries whose rows are dead.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BTREE_DEAD_H
#define SIMHASH_BTREE_DEAD_H

#include "btree/leaf.h"

#define SHBT_DEAD_BYTES(capacity)	(((capacity) + BITS_PER_BYTE - 1) / BITS_PER_BYTE)

extern void shbt_mark_dead(Buffer leaf, const uint16 *positions,
						   const ItemPointerData *tids, int count);

/*
 * The marks lie between the end of the fingerprints and the end of the
 * pointers of a full leaf.
 */
static inline uint8 *
shbt_dead_marks(Page leaf)
{
	return (uint8 *) PageGetContents(leaf) + shbt_page_capacity(leaf) * shbt_key_width(leaf);
}

/* is entry i marked? */
static inline bool
shbt_is_dead(Page leaf, int i)
{
	return (shbt_dead_marks(leaf)[i / BITS_PER_BYTE] >> (i % BITS_PER_BYTE)) & 1;
}

/* Remove the mark of entry i. */
static inline void
shbt_unmark_dead(Page leaf, int i)
{
	shbt_dead_marks(leaf)[i / BITS_PER_BYTE] &= ~(1 << (i % BITS_PER_BYTE));
}

/*
 * Remove all marks, as is required when entries change their positions.
 */
static inline void
shbt_clear_dead(Page leaf)
{
	memset(shbt_dead_marks(leaf), 0, SHBT_DEAD_BYTES(shbt_page_capacity(leaf)));
}

#endif							/* SIMHASH_BTREE_DEAD_H */
