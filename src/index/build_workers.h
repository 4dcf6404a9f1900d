/*-------------------------------------------------------------------------
 *
 * build_workers.h
 *	  The number of parallel workers of a build.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_INDEX_BUILD_WORKERS_H
#define SIMHASH_INDEX_BUILD_WORKERS_H

#include "postgres.h"

#include "nodes/execnodes.h"
#include "utils/rel.h"

extern int	shidx_build_workers(Relation heap, Relation index, IndexInfo *info);

#endif							/* SIMHASH_INDEX_BUILD_WORKERS_H */
