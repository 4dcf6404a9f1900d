/*-------------------------------------------------------------------------
 *
 * build_tree.h
 *	  Writing a tree of a new index from its sorted entries.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BUILD_BUILD_TREE_H
#define SIMHASH_BUILD_BUILD_TREE_H

#include "port/atomics.h"
#include "utils/rel.h"

#include "btree/page.h"
#include "build/build_pages.h"
#include "sort/entrysort.h"

/* phases of a build, as pg_stat_progress_create_index shows them */
#define SHBLD_PHASE_SCAN			2
#define SHBLD_PHASE_WRITE			3

/* one process's description of an index that is being built */
typedef struct ShBldBuild
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
	ShBldPageWriter *pages;
} ShBldBuild;

extern void shbld_report_writing(const ShBldBuild *build);
extern void shbld_write_tree(ShBldBuild *build, ShSort *sort, int tree);
extern void shbld_write_metapage(ShBldBuild *build, bool logged);

#endif							/* SIMHASH_BUILD_BUILD_TREE_H */
