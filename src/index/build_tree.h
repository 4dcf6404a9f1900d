/*-------------------------------------------------------------------------
 *
 * build_tree.h
 *	  Writing a tree of a new index from its sorted entries.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_INDEX_BUILD_TREE_H
#define SIMHASH_INDEX_BUILD_TREE_H

#include "port/atomics.h"
#include "utils/rel.h"

#include "btree/page.h"
#include "index/build_pages.h"
#include "sort/entrysort.h"

/* one process's description of an index that is being built */
typedef struct ShIdxBuild
{
	Relation	index;
	int			width;			/* of the fingerprints, in bits */
	int			nparts;			/* of 64 bits each */
	const ShBitsScheme *scheme; /* of each part */
	int			fillfactor;		/* of leaves, in percent */
	double		rows;			/* with a fingerprint */
	double		nulls;			/* and without */
	bool		is_leader;		/* it reports progress */
	pg_atomic_uint64 *written;	/* entries, over all trees and processes */
	ShBtRoot   *roots;			/* of all trees */
	ShIdxPageWriter *pages;
} ShIdxBuild;

extern void shidx_report_writing(const ShIdxBuild *build);
extern void shidx_write_tree(ShIdxBuild *build, ShSort *sort, int tree);
extern void shidx_write_metapage(ShIdxBuild *build, bool logged);

#endif							/* SIMHASH_INDEX_BUILD_TREE_H */
