/*-------------------------------------------------------------------------
 *
 * descent.h
 *	  Going from page to page of a simhash index.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BTREE_DESCENT_H
#define SIMHASH_BTREE_DESCENT_H

#include "btree/map.h"
#include "btree/page.h"

extern Buffer shbt_read_right(Relation index, Buffer buffer, BlockNumber right,
							  ShBtKey high, int tree, int level, int lockmode);
extern Buffer shbt_move_right(Relation index, Buffer buffer, int lockmode);
extern Buffer shbt_visit(Relation index, int tree, ShBtKey key, ShBtPlace *place,
						 bool linked, int lockmode);
extern void shbt_go_to_child(Relation index, ShBtKey key, ShBtPlace *place,
							 Buffer buffer, bool remember);

#endif							/* SIMHASH_BTREE_DESCENT_H */
