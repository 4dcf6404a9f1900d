/*-------------------------------------------------------------------------
 *
 * index.h
 *	  What other rooms may use of an index: its pages and trees, its operator classes, its
 *	  options.
 *
 * The other face of this room is sort.h.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_INDEX_INDEX_H
#define SIMHASH_INDEX_INDEX_H

#include "index/build.h"
#include "index/cache.h"
#include "index/class.h"
#include "index/group.h"
#include "index/leaf.h"
#include "index/tree.h"

#endif							/* SIMHASH_INDEX_INDEX_H */
