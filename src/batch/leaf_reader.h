/*-------------------------------------------------------------------------
 *
 * leaf_reader.h
 *	  Reading the entries of the leaves of an index.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BATCH_LEAF_READER_H
#define SIMHASH_BATCH_LEAF_READER_H

#include "postgres.h"

#include "utils/snapshot.h"

#include "batch/tables.h"
#include "btree/walk.h"

/*
 * The entries of a leaf, in order; those from next on have not been taken yet.
 */
typedef struct ShBatchReader
{
	const ShBatchTable *table;
	bool		grouped;		/* the entries have groups */
	Snapshot	snapshot;		/* of the reading query */
	ShBtWalk	walk;
	int			count;
	int			next;
	int			end;			/* of the entries that are being merged */
	uint64		first;			/* leading bits of the next one; merge.c */
	uint64		keys[SHBT_MAX_ENTRIES];
	uint64		rows[SHBT_MAX_ENTRIES];
	uint32		groups[SHBT_MAX_ENTRIES];	/* if grouped */
} ShBatchReader;

extern void shbatch_reader_start(ShBatchReader *reader, int table);
extern bool shbatch_reader_next(ShBatchReader *reader);
extern void shbatch_reader_seek(ShBatchReader *reader, ShBtKey target);

/* the groups of its entries, or NULL */
static inline const uint32 *
shbatch_reader_groups(const ShBatchReader *reader)
{
	return reader->grouped ? reader->groups : NULL;
}

/* is an entry less than a key of a group, no matter which row? */
static inline bool
shbatch_is_before(const uint64 *keys, const uint32 *groups, size_t i, ShBtKey key)
{
	return shbt_key_less(shbt_make_key(groups != NULL ? groups[i] : 0, keys[i], SHBT_MAX_TID),
						 key);
}

#endif							/* SIMHASH_BATCH_LEAF_READER_H */
