/*-------------------------------------------------------------------------
 *
 * groups.h
 *	  All pairs within a distance, by walks over the tables of a scheme.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BATCH_GROUPS_H
#define SIMHASH_BATCH_GROUPS_H

#include "postgres.h"

#include "batch/pairs.h"
#include "batch/stream.h"

/*
 * Entries of a table that share a prefix, and the group that the index has given
 * their rows, if it has several columns.  Equal fingerprints are one, with
 * several rows.
 */
typedef struct ShBatchGroup
{
	const ShBitsTable *table;
	uint32		index_group;	/* of the entries, see index/group.h */
	bool		first_walk;
	size_t		nkeys;			/* different ones */
	size_t		nrows;
	uint64	   *keys;			/* permuted fingerprints, ascending */
	size_t	   *starts;			/* rows of key i: starts[i] to the next start */
	uint64	   *tids;
	bool		last_repeated;	/* the last key has had a repeat before */
} ShBatchGroup;

typedef struct ShBatchSink ShBatchSink;

/*
 * What is done with what a search finds.  The TIDs of the rows of a group that
 * is complete are the sink's to change.
 */
struct ShBatchSink
{
	/*
	 * Another row has the fingerprint of the last key.  Returns whether the
	 * group is to keep it.
	 */
	bool		(*repeat) (ShBatchSink *sink, const ShBatchGroup *group, uint64 tid);

	/* A group of several rows is complete; its pairs follow.  May be NULL. */
	void		(*begin) (ShBatchSink *sink, const ShBatchGroup *group);

	/* Keys i and j of the group are a pair. */
	void		(*pair) (ShBatchSink *sink, const ShBatchGroup *group, size_t i, size_t j);

	/* There are no more pairs, and the group will be gone.  May be NULL. */
	void		(*end) (ShBatchSink *sink, const ShBatchGroup *group);
};

/*
 * A walk over a table, in which entries that agree in the first prefix_bits of
 * their keys are a group.
 */
typedef struct ShBatchWalk
{
	int			table;
	int			prefix_bits;	/* 0..64 */
	uint64		mask;			/* bits of the fingerprint in the prefix */
} ShBatchWalk;

/*
 * Two fingerprints within the distance share the prefix of one of the walks.
 * Those before the first are not made: what would be found there is not wanted.
 */
typedef struct ShBatchPlan
{
	int			first;
	int			nwalks;			/* with these */
	ShBatchWalk walks[SHBITS_MAX_TABLES];
} ShBatchPlan;

extern void shbatch_plan(ShBatchPlan *plan, const ShBitsScheme *scheme, int distance,
						 double entries);
extern void shbatch_plan_whole(ShBatchPlan *plan);
extern void shbatch_plan_table(ShBatchPlan *plan, const ShBitsScheme *scheme, int table);
extern void shbatch_search(ShBatchStream *stream, const ShBatchPlan *plan, int distance,
						   ShBatchSink *sink);
extern bool shbatch_drop_repeat(ShBatchSink *sink, const ShBatchGroup *group, uint64 tid);

static inline uint64
shbatch_fingerprint(const ShBatchGroup *group, size_t i)
{
	return shbits_unpermute(group->table, group->keys[i]);
}

/* the end of the rows of key i */
static inline size_t
shbatch_group_rows_end(const ShBatchGroup *group, size_t i)
{
	return i + 1 < group->nkeys ? group->starts[i + 1] : group->nrows;
}

#endif							/* SIMHASH_BATCH_GROUPS_H */
