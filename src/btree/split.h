/*-------------------------------------------------------------------------
 *
 * split.h
 *	  Splitting full pages.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BTREE_SPLIT_H
#define SIMHASH_BTREE_SPLIT_H

#include "btree/page.h"

extern void shbt_make_room(Relation index, int tree, int level, ShBtKey key,
						   int fillfactor);

#endif							/* SIMHASH_BTREE_SPLIT_H */
