/*-------------------------------------------------------------------------
 *
 * build.h
 *	  Building a simhash index.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BUILD_BUILD_H
#define SIMHASH_BUILD_BUILD_H

#include "access/genam.h"
#include "nodes/execnodes.h"

extern IndexBuildResult *shbld_build(Relation heap, Relation index, struct IndexInfo *info);
extern void shbld_buildempty(Relation index);
extern char *shbld_buildphasename(int64 phase);

#endif							/* SIMHASH_BUILD_BUILD_H */
