/*-------------------------------------------------------------------------
 *
 * open_index.h
 *	  Opening the index that is passed to a function, and running its functions.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_ROWS_OPEN_INDEX_H
#define SIMHASH_ROWS_OPEN_INDEX_H

#include "access/htup.h"
#include "nodes/pg_list.h"
#include "storage/lockdefs.h"
#include "utils/rel.h"
#include "utils/snapshot.h"

/* what a function reveals or does determines who may call it */
typedef enum ShRowsAccess
{
	SHROWS_ACCESS_ROWS,			/* reveals rows: SELECT, no row security */
	SHROWS_ACCESS_TABLE,		/* reveals totals: SELECT on the table */
	SHROWS_ACCESS_OWNER,		/* only the owner */
	SHROWS_ACCESS_PAGES			/* reveals stored data, visible or not:
								 * pg_read_server_files */
} ShRowsAccess;

typedef struct ShRowsOpened
{
	Relation	heap;
	Relation	index;
	LOCKMODE	release;		/* lock to release when they are closed */
} ShRowsOpened;

/* the calling user and former settings */
typedef struct ShRowsCaller
{
	Oid			user;
	int			security_context;
	int			guc_level;
} ShRowsCaller;

extern void shrows_open(Oid indexoid, ShRowsAccess access, ShRowsOpened *target);
extern void shrows_open_named(Oid indexoid, ShRowsOpened *target);
extern void shrows_close(ShRowsOpened *target);
extern void shrows_replace_invalid(Relation heap, Relation *index);
extern void shrows_check_state(Relation heap, Relation index);
extern List *shrows_index_trees(HeapTuple index, AttrNumber catalog_column);
extern void shrows_check_snapshot(Relation index, Snapshot snapshot);
extern void shrows_become_owner(ShRowsCaller *caller, Relation table);
extern void shrows_become_caller(const ShRowsCaller *caller);

#endif							/* SIMHASH_ROWS_OPEN_INDEX_H */
