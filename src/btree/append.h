/*-------------------------------------------------------------------------
 *
 * append.h
 *	  Logging the one change that is too frequent for the generic WAL API.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BTREE_APPEND_H
#define SIMHASH_BTREE_APPEND_H

#include "btree/page.h"

/* most leaves that one record can change */
#define SHBT_MAX_APPEND	MAX_GENERIC_XLOG_PAGES

extern void shbt_append(Relation index, int nleaves, const Buffer *leaves,
						const ShBtKey *keys);

#endif							/* SIMHASH_BTREE_APPEND_H */
