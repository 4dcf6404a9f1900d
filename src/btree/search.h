/*-------------------------------------------------------------------------
 *
 * search.h
 *	  Finding pages of the trees of a simhash index.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BTREE_SEARCH_H
#define SIMHASH_BTREE_SEARCH_H

#include "utils/snapshot.h"

#include "btree/page.h"

extern Buffer shbt_search(Relation index, int tree, int level, ShBtKey key, int lockmode);
extern bool shbt_has_entry(Relation index, int tree, ShBtKey key, bool *dead);
extern bool shbt_pin_entry(Relation index, int tree, ShBtKey key,
						   Snapshot snapshot, Buffer *pin);

#endif							/* SIMHASH_BTREE_SEARCH_H */
