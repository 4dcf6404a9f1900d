/*-------------------------------------------------------------------------
 *
 * split.h
 *	  Splitting full pages.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_INDEX_SPLIT_H
#define SIMHASH_INDEX_SPLIT_H

#include "postgres.h"

#include "index/page.h"

extern void shidx_split(Relation index, int tree, int level, ShIdxKey key);

#endif							/* SIMHASH_INDEX_SPLIT_H */
