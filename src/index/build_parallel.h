/*-------------------------------------------------------------------------
 *
 * build_parallel.h
 *	  Building a simhash index with parallel workers.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_INDEX_BUILD_PARALLEL_H
#define SIMHASH_INDEX_BUILD_PARALLEL_H

#include "postgres.h"

#include "access/genam.h"
#include "nodes/execnodes.h"

#include "bits/scheme.h"

extern bool shidx_build_parallel(Relation heap, Relation index, IndexInfo *info,
								 const ShBitsScheme *scheme, int workers,
								 IndexBuildResult *result);

#endif							/* SIMHASH_INDEX_BUILD_PARALLEL_H */
