/*-------------------------------------------------------------------------
 *
 * open_index.h
 *	  Opening the index that a function is given.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_INDEX_OPEN_INDEX_H
#define SIMHASH_INDEX_OPEN_INDEX_H

#include "postgres.h"

#include "storage/lockdefs.h"
#include "utils/rel.h"
#include "utils/snapshot.h"

/* what the function tells, or does, decides who may call it */
typedef enum ShIdxAccess
{
	SHIDX_ACCESS_ROWS,			/* tells of single rows: who may read these */
	SHIDX_ACCESS_TABLE,			/* tells of the whole: who may read the table */
	SHIDX_ACCESS_OWNER,			/* only the owner */
	SHIDX_ACCESS_PAGES			/* tells of what is stored, seen or not: who
								 * may read the server's files */
} ShIdxAccess;

typedef struct ShIdxOpened
{
	Relation	heap;
	Relation	index;
	LOCKMODE	release;		/* lock to give up when they are closed */
} ShIdxOpened;

extern void shidx_open(Oid indexoid, ShIdxAccess access, ShIdxOpened *target);
extern void shidx_open_named(Oid indexoid, ShIdxOpened *target);
extern void shidx_close(ShIdxOpened *target);
extern void shidx_check_state(Relation heap, Relation index);
extern void shidx_check_snapshot(Relation index, Snapshot snapshot);

#endif							/* SIMHASH_INDEX_OPEN_INDEX_H */
