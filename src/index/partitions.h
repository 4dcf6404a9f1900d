/*-------------------------------------------------------------------------
 *
 * partitions.h
 *	  Opening the partitions of the index that a function is given.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_INDEX_PARTITIONS_H
#define SIMHASH_INDEX_PARTITIONS_H

#include "postgres.h"

#include "index/open_index.h"

/*
 * An index that tells of rows, and those that have them: of its leaf partitions,
 * in the order of the OIDs of their tables, or itself.
 */
typedef struct ShIdxParts
{
	ShIdxOpened named;
	int			count;
	ShIdxOpened *parts;
} ShIdxParts;

extern void shidx_open_parts(Oid indexoid, ShIdxParts *target);
extern void shidx_close_parts(ShIdxParts *target);
extern int	shidx_named_distance(const ShIdxParts *target);

static inline bool
shidx_is_partitioned(const ShIdxParts *target)
{
	return target->named.index->rd_rel->relkind == RELKIND_PARTITIONED_INDEX;
}

#endif							/* SIMHASH_INDEX_PARTITIONS_H */
