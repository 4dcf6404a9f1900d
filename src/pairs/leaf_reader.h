/*-------------------------------------------------------------------------
 *
 * leaf_reader.h
 *	  Reading the entries of the leaves of an index.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_PAIRS_LEAF_READER_H
#define SIMHASH_PAIRS_LEAF_READER_H

#include "utils/snapshot.h"

#include "btree/leaf.h"
#include "btree/walk.h"
#include "rows/heaps.h"

/*
 * The entries of a leaf, in order; those from next on have not been taken yet.
 */
typedef struct ShPairsLeafReader
{
	const ShRowsHeap *heap;
	bool		grouped;		/* the entries have groups */
	Snapshot	snapshot;		/* of the reading query */
	ShBtWalk	walk;
	int			count;
	int			next;
	int			end;			/* of the entries that are being merged */
	uint64		first;			/* leading bits of the next one; merge.c */
	ShPermuted	keys[SHBT_MAX_ENTRIES];
	ShRowsNumber rows[SHBT_MAX_ENTRIES];
	uint32		groups[SHBT_MAX_ENTRIES];	/* if grouped */
} ShPairsLeafReader;

extern void shpairs_leaf_start(ShPairsLeafReader *reader, int table);
extern bool shpairs_leaf_next(ShPairsLeafReader *reader);
extern void shpairs_leaf_seek(ShPairsLeafReader *reader, ShBtKey target);

/* the groups of its entries, or NULL */
static inline const uint32 *
shpairs_leaf_groups(const ShPairsLeafReader *reader)
{
	return reader->grouped ? reader->groups : NULL;
}

/* is an entry less than a key of a group, no matter which row? */
static inline bool
shpairs_is_before(const ShPermuted *keys, const uint32 *groups, size_t i, ShBtKey key)
{
	return shbt_key_less(shbt_make_key(groups != NULL ? groups[i] : 0, keys[i], SHBT_MAX_TID),
						 key);
}

#endif							/* SIMHASH_PAIRS_LEAF_READER_H */
