/*-------------------------------------------------------------------------
 *
 * wal.h
 *	  Logging the one change that is too frequent for the generic WAL API.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_INDEX_WAL_H
#define SIMHASH_INDEX_WAL_H

#include "postgres.h"

#include "index/page.h"

/* most leaves that one record can change */
#define SHIDX_MAX_APPEND	MAX_GENERIC_XLOG_PAGES

extern void shidx_append(Relation index, int nleaves, const Buffer *leaves,
						 const ShIdxKey *keys);

#endif							/* SIMHASH_INDEX_WAL_H */
