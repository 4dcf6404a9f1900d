/*-------------------------------------------------------------------------
 *
 * open_index.h
 *	  Opening the index that is passed to a function.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_INDEX_OPEN_INDEX_H
#define SIMHASH_INDEX_OPEN_INDEX_H

#include "postgres.h"

#include "storage/lockdefs.h"
#include "utils/rel.h"
#include "utils/snapshot.h"

/* what a function reveals or does determines who may call it */
typedef enum ShIdxAccess
{
	SHIDX_ACCESS_ROWS,			/* reveals rows: SELECT, no row security */
	SHIDX_ACCESS_TABLE,			/* reveals totals: SELECT on the table */
	SHIDX_ACCESS_OWNER,			/* only the owner */
	SHIDX_ACCESS_PAGES			/* reveals stored data, visible or not:
								 * pg_read_server_files */
} ShIdxAccess;

typedef struct ShIdxOpened
{
	Relation	heap;
	Relation	index;
	LOCKMODE	release;		/* lock to release when they are closed */
} ShIdxOpened;

extern void shidx_open(Oid indexoid, ShIdxAccess access, ShIdxOpened *target);
extern void shidx_open_named(Oid indexoid, ShIdxOpened *target);
extern void shidx_close(ShIdxOpened *target);
extern void shidx_replace_invalid(Relation heap, Relation *index);
extern void shidx_check_state(Relation heap, Relation index);
extern void shidx_check_snapshot(Relation index, Snapshot snapshot);

#endif							/* SIMHASH_INDEX_OPEN_INDEX_H */
