/*-------------------------------------------------------------------------
 *
 * change.h
 *	  Changing pages of trees: adding entries, splitting, rewriting leaves.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BTREE_CHANGE_H
#define SIMHASH_BTREE_CHANGE_H

#include "btree/page.h"

/* most leaves that one record can change */
#define SHBT_MAX_APPEND	MAX_GENERIC_XLOG_PAGES

extern void shbt_append(Relation index, int nleaves, const Buffer *leaves,
						const ShBtKey *keys);
extern void shbt_remove(Relation index, Buffer leaf, const uint16 *positions, int count);
extern void shbt_make_room(Relation index, int tree, int level, ShBtKey key,
						   int fillfactor);

#endif							/* SIMHASH_BTREE_CHANGE_H */
