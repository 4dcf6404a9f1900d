/*-------------------------------------------------------------------------
 *
 * open.h
 *	  The indexes that are passed to a function, and their tables.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_DEDUP_OPEN_H
#define SIMHASH_DEDUP_OPEN_H

#include "access/htup.h"
#include "nodes/pg_list.h"
#include "storage/lockdefs.h"
#include "utils/rel.h"
#include "utils/snapshot.h"

/* what a function reveals or does determines who may call it */
typedef enum ShDupAccess
{
	SHDUP_ACCESS_ROWS,			/* reveals rows: SELECT, no row security */
	SHDUP_ACCESS_TABLE,			/* reveals totals: SELECT on the table */
	SHDUP_ACCESS_OWNER			/* only the owner */
} ShDupAccess;

typedef struct ShDupOpened
{
	Relation	heap;
	Relation	index;
	LOCKMODE	release;		/* lock to release when they are closed */
} ShDupOpened;

/* the calling user and former settings */
typedef struct ShDupCaller
{
	Oid			user;
	int			security_context;
	int			guc_level;
} ShDupCaller;

extern void shdup_lock_table(Oid index);
extern void shdup_open(Oid indexoid, ShDupAccess access, ShDupOpened *target);
extern void shdup_close(ShDupOpened *target);
extern void shdup_check_state(Relation heap, Relation index);
extern List *shdup_index_trees(HeapTuple index, AttrNumber catalog_column);
extern void shdup_check_snapshot(Relation index, Snapshot snapshot);
extern void shdup_check_table(Relation heap, Oid root, Snapshot snapshot);
extern void shdup_become_owner(ShDupCaller *caller, Relation table);
extern void shdup_become_caller(const ShDupCaller *caller);

/* what catalogs say of a table, and whether Citus keeps its rows elsewhere */
extern char *shdup_written_name(Oid relation);
extern void shdup_check_not_distributed(Oid table, Oid index);

static inline bool
shdup_is_partitioned(Relation index)
{
	return index->rd_rel->relkind == RELKIND_PARTITIONED_INDEX;
}

#endif							/* SIMHASH_DEDUP_OPEN_H */
