/*-------------------------------------------------------------------------
 *
 * ahead.h
 *	  Prefetching leaves before they are searched.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BTREE_AHEAD_H
#define SIMHASH_BTREE_AHEAD_H

#include "btree/map.h"
#include "btree/page.h"

/* a search that will follow, and the place of its leaf, which is found here */
typedef struct ShBtAim
{
	int			tree;
	ShBtKey		key;
	ShPermuted	last;			/* fingerprint up to which entries are wanted */
	ShBtPlace	place;
} ShBtAim;

extern void shbt_look_ahead(Relation index, int naims, ShBtAim *aims);
extern void shbt_read_ahead(Relation index, int naims, ShBtAim *aims);

#endif							/* SIMHASH_BTREE_AHEAD_H */
