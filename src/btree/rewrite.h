/*-------------------------------------------------------------------------
 *
 * rewrite.h
 *	  Rewriting a leaf: with wider entries, or without some of them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BTREE_REWRITE_H
#define SIMHASH_BTREE_REWRITE_H

#include "btree/leaf.h"

extern bool shbt_widen(Relation index, Buffer leaf, int row_width);
extern void shbt_remove(Relation index, Buffer leaf, const uint16 *positions, int count);

#endif							/* SIMHASH_BTREE_REWRITE_H */
