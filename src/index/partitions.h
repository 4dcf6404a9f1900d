/*-------------------------------------------------------------------------
 *
 * partitions.h
 *	  Opening the partitions of the index that is passed to a function.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_INDEX_PARTITIONS_H
#define SIMHASH_INDEX_PARTITIONS_H

#include "postgres.h"

#include "index/open_index.h"

/*
 * The index that was named, and the indexes that have its entries: those of
 * its leaf partitions, in the order of the OIDs of their tables, or the index
 * itself.
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
