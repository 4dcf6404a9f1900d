/*-------------------------------------------------------------------------
 *
 * partitions.h
 *	  Opening the partitions of the index that is passed to a function.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_ROWS_PARTITIONS_H
#define SIMHASH_ROWS_PARTITIONS_H

#include "rows/open_index.h"

/*
 * The index that was named, and the indexes that have its entries: those of
 * its leaf partitions, in the order of the OIDs of their tables, or the index
 * itself.
 */
typedef struct ShRowsPartitions
{
	ShRowsOpened named;
	int			count;
	ShRowsOpened *leaves;
} ShRowsPartitions;

extern void shrows_open_partitions(Oid indexoid, ShRowsPartitions *target);
extern void shrows_close_partitions(ShRowsPartitions *target);
extern Oid	shrows_named_operator(const ShRowsPartitions *target, int *radius);
extern Oid	shrows_named_fingerprint(const ShRowsPartitions *target);
extern int	shrows_width_of_wide(Relation index);
extern int	shrows_wide_width(const ShRowsPartitions *target);
extern int	shrows_named_distance(const ShRowsPartitions *target);

static inline bool
shrows_is_partitioned(const ShRowsPartitions *target)
{
	return target->named.index->rd_rel->relkind == RELKIND_PARTITIONED_INDEX;
}

#endif							/* SIMHASH_ROWS_PARTITIONS_H */
