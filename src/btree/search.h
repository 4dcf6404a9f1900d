/*-------------------------------------------------------------------------
 *
 * search.h
 *	  Going from page to page of a simhash index, to what is searched for.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BTREE_SEARCH_H
#define SIMHASH_BTREE_SEARCH_H

#include "utils/snapshot.h"

#include "btree/map.h"
#include "btree/page.h"

extern Buffer shbt_read_right(Relation index, Buffer buffer, BlockNumber right,
							  ShBtKey high, int tree, int level, int lockmode);
extern Buffer shbt_visit(Relation index, int tree, ShBtKey key, ShBtPlace *place,
						 bool linked, int lockmode);
extern void shbt_go_to_child(Relation index, ShBtKey key, ShBtPlace *place,
							 Buffer buffer, bool remember);
extern Buffer shbt_search(Relation index, int tree, int level, ShBtKey key, int lockmode);
extern Buffer shbt_search_at(Relation index, int tree, ShBtKey key, ShBtPlace *place,
							 int lockmode);
extern bool shbt_has_entry(Relation index, int tree, ShBtKey key, bool *dead);
extern bool shbt_pin_entry(Relation index, int tree, ShBtKey key,
						   Snapshot snapshot, Buffer *pin);
extern double shbt_count_leaves(Relation index, int tree, uint32 group);

#endif							/* SIMHASH_BTREE_SEARCH_H */
