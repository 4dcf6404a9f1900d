/*-------------------------------------------------------------------------
 *
 * build_parallel.h
 *	  Building a simhash index with parallel workers.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BUILD_BUILD_PARALLEL_H
#define SIMHASH_BUILD_BUILD_PARALLEL_H

#include "access/genam.h"
#include "nodes/execnodes.h"

#include "bits/scheme.h"

extern int	shbld_build_workers(Relation heap, Relation index, IndexInfo *info);
extern bool shbld_build_parallel(Relation heap, Relation index, IndexInfo *info,
								 int width, const ShBitsScheme *scheme, int workers,
								 IndexBuildResult *result);

#endif							/* SIMHASH_BUILD_BUILD_PARALLEL_H */
