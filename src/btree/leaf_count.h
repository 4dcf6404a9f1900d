/*-------------------------------------------------------------------------
 *
 * leaf_count.h
 *	  Estimating how many leaves a tree has for a group.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BTREE_LEAF_COUNT_H
#define SIMHASH_BTREE_LEAF_COUNT_H

#include "utils/rel.h"

extern double shbt_count_leaves(Relation index, int tree, uint32 group);

#endif							/* SIMHASH_BTREE_LEAF_COUNT_H */
