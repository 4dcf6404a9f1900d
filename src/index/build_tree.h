/*-------------------------------------------------------------------------
 *
 * build_tree.h
 *	  Writing a tree of a new index from its sorted entries.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_INDEX_BUILD_TREE_H
#define SIMHASH_INDEX_BUILD_TREE_H

#include "postgres.h"

#include "port/atomics.h"
#include "utils/rel.h"

#include "sort/entrysort.h"

/* an index that is being built, as one process sees it */
typedef struct ShIdxBuild
{
	Relation	index;
	int			fillfactor;		/* of leaves, in percent */
	bool		is_leader;		/* it reports progress */
	pg_atomic_uint64 *written;	/* entries, over all trees and processes */
} ShIdxBuild;

extern void shidx_report_writing(const ShBitsScheme *scheme, double rows, double nulls);
extern void shidx_write_tree(ShIdxBuild *build, ShSort *sort, int tree);

#endif							/* SIMHASH_INDEX_BUILD_TREE_H */
