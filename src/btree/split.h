/*-------------------------------------------------------------------------
 *
 * split.h
 *	  Splitting full pages.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BTREE_SPLIT_H
#define SIMHASH_BTREE_SPLIT_H

#include "postgres.h"

#include "btree/page.h"

extern void shbt_split(Relation index, int tree, int level, ShBtKey key,
					   int fillfactor);

#endif							/* SIMHASH_BTREE_SPLIT_H */
