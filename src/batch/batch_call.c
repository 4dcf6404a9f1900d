/*-------------------------------------------------------------------------
 *
 * batch_call.c
 *	  Common code of the SQL functions.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "funcapi.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/snapmgr.h"

#include "batch/batch_call.h"
#include "type/simhash.h"

/*
 * Open the named indexes, prepare to look up rows for the snapshot of the
 * calling query, and report progress as a search of the last of them.
 *
 * With by_columns, only rows whose columns before the fingerprint are equal
 * make pairs.
 *
 * On return, AccessShareLocks are held on indexes and tables.
 */
void
shbatch_begin_tables(ShBatchCall *call, ShIdxCommand command, const Oid *indexes,
					 int nindexes, bool by_columns)
{
	const ShIdxOpened *named = &call->tables.sides[nindexes - 1].named;

	shbatch_tables_open(&call->tables, indexes, nindexes);
	call->tables.grouped &= by_columns;
	call->snapshot = RegisterSnapshot(GetActiveSnapshot());
	for (int i = 0; i < call->tables.count; i++)
		shidx_check_snapshot(call->tables.tables[i].index, call->snapshot);
	call->watched = command != SHIDX_UNWATCHED;
	if (call->watched)
		shidx_progress_start(command, RelationGetRelid(named->heap),
							 RelationGetRelid(named->index));
	shbatch_rows_begin(&call->rows, &call->tables, call->snapshot);
}

/*
 * Close and free everything, and release pins.  Locks are kept.
 */
void
shbatch_end_tables(ShBatchCall *call)
{
	shbatch_rows_end(&call->rows);
	if (call->watched)
		shidx_progress_end();
	UnregisterSnapshot(call->snapshot);
	shbatch_tables_close(&call->tables);
}

/*
 * Report an error if a distance argument is out of range.
 */
void
shbatch_check_distance_argument(FunctionCallInfo fcinfo, int arg)
{
	if (!PG_ARGISNULL(arg))
		shbatch_check_distance(PG_GETARG_INT32(arg));
}

/*
 * The distance: that argument or, if it is null, the smallest distance of the
 * named indexes.
 */
int
shbatch_get_distance(FunctionCallInfo fcinfo, int arg, const ShBatchTables *tables)
{
	int			distance = SHBITS_WIDTH;

	if (!PG_ARGISNULL(arg))
		return PG_GETARG_INT32(arg);
	for (int side = 0; side < tables->nsides; side++)
		distance = Min(distance, shidx_named_distance(&tables->sides[side]));
	return distance;
}

static Relation
named_table(const ShBatchCall *call)
{
	return call->tables.sides[0].named.heap;
}

/*
 * The argument "keep", parsed, or NULL.
 */
ShBatchKeepList *
shbatch_get_keep(FunctionCallInfo fcinfo, int arg, const ShBatchCall *call)
{
	if (PG_ARGISNULL(arg))
		return NULL;
	return shbatch_parse_keep(named_table(call), text_to_cstring(PG_GETARG_TEXT_PP(arg)));
}

/*
 * The argument "same", ready for checks of rows, or NULL.
 */
ShBatchRowCheck *
shbatch_get_same(FunctionCallInfo fcinfo, int arg, const ShBatchCall *call)
{
	ShBatchSameCondition *same;

	if (PG_ARGISNULL(arg))
		return NULL;
	same = shbatch_parse_same(named_table(call), text_to_cstring(PG_GETARG_TEXT_PP(arg)));
	return shbatch_check_begin(&call->tables, call->snapshot, same);
}

/*
 * Begin a call with the arguments (index regclass, distance int), the first of
 * which is not null.
 *
 * Opens the index, or its partitions, with AccessShareLock on them and their tables,
 * and prepares to search and to look up rows for the snapshot of the calling query.
 */
void
shbatch_open_index(FunctionCallInfo fcinfo, ShIdxCommand command, ShBatchCall *call)
{
	Oid			index = PG_GETARG_OID(0);

	shbatch_check_distance_argument(fcinfo, 1);
	shbatch_begin_tables(call, command, &index, 1, true);
	shbatch_source_tables(&call->input, &call->tables, call->snapshot,
						  shbatch_get_distance(fcinfo, 1, &call->tables));
}

/*
 * The same for a function that returns all rows at once.  Returns false if the
 * index is null, so that there is nothing to do.
 */
bool
shbatch_begin_index(FunctionCallInfo fcinfo, ShIdxCommand command, ShBatchCall *call)
{
	InitMaterializedSRF(fcinfo, 0);
	call->result = (ReturnSetInfo *) fcinfo->resultinfo;
	if (PG_ARGISNULL(0))
		return false;
	shbatch_open_index(fcinfo, command, call);
	return true;
}

/*
 * End the call, and release pins.  Locks are kept.
 */
void
shbatch_end_index(ShBatchCall *call)
{
	shbatch_source_end(&call->input);
	shbatch_end_tables(call);
}

/*
 * Begin a call with the arguments (fingerprints simhash[], distance int,
 * blocks int) and, for some functions, (table_no int).  Returns false if the
 * array is null.
 */
bool
shbatch_begin_array(FunctionCallInfo fcinfo, ShIdxCommand command, ShBatchCall *call)
{
	int			distance = PG_ARGISNULL(1) ? SIMHASH_NEAR_RADIUS : PG_GETARG_INT32(1);
	bool		has_table = PG_NARGS() > 3 && !PG_ARGISNULL(3);
	int			table = SHBATCH_ALL_TABLES;
	ShBitsScheme *scheme = NULL;

	InitMaterializedSRF(fcinfo, 0);
	call->result = (ReturnSetInfo *) fcinfo->resultinfo;
	if (PG_ARGISNULL(0))
		return false;

	shbatch_check_distance(distance);
	if (!PG_ARGISNULL(2))
		scheme = shbits_make_scheme(PG_GETARG_INT32(2), distance);
	else if (has_table)
		scheme = shbits_make_scheme(distance + 1, distance);
	if (has_table)
	{
		table = PG_GETARG_INT32(3);
		shbits_check_table(scheme, table);
	}
	shidx_progress_start(command, InvalidOid, InvalidOid);
	shbatch_source_array(&call->input, PG_GETARG_ANY_ARRAY_P(0), distance, scheme, table);
	return true;
}

void
shbatch_end_array(ShBatchCall *call)
{
	shbatch_source_end(&call->input);
	shidx_progress_end();
}
