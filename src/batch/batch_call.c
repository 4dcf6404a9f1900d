/*-------------------------------------------------------------------------
 *
 * batch_call.c
 *	  What the calls of the SQL functions have in common.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "funcapi.h"
#include "utils/array.h"
#include "utils/snapmgr.h"

#include "batch/batch_call.h"
#include "type/simhash.h"

/*
 * Begin a call with the arguments (index regclass, distance int).
 *
 * Opens the index, with AccessShareLock on it and its table, and prepares to
 * search it and to look up rows for the snapshot of the calling query.  Returns
 * false if the index is null, and there is nothing to do.
 */
bool
shbatch_begin_index(FunctionCallInfo fcinfo, ShBatchCommand command, ShBatchCall *call)
{
	int			distance = SHBATCH_INDEX_DISTANCE;

	InitMaterializedSRF(fcinfo, 0);
	call->result = (ReturnSetInfo *) fcinfo->resultinfo;
	if (PG_ARGISNULL(0))
		return false;

	if (!PG_ARGISNULL(1))
	{
		distance = PG_GETARG_INT32(1);
		shbatch_check_distance(distance);
	}
	shidx_open(PG_GETARG_OID(0), SHIDX_ACCESS_ROWS, &call->target);
	call->snapshot = RegisterSnapshot(GetActiveSnapshot());
	shidx_check_snapshot(call->target.index, call->snapshot);
	shbatch_progress_start(command, RelationGetRelid(call->target.heap),
						   RelationGetRelid(call->target.index));
	shbatch_rows_begin(&call->rows, call->target.heap, call->target.index, call->snapshot);
	shbatch_source_index(&call->input, call->target.index, call->snapshot, distance);
	return true;
}

/*
 * End it, and give up locks and pins.
 */
void
shbatch_end_index(ShBatchCall *call)
{
	shbatch_source_end(&call->input);
	shbatch_rows_end(&call->rows);
	shbatch_progress_end();
	UnregisterSnapshot(call->snapshot);
	shidx_close(&call->target);
}

/*
 * Begin a call with the arguments (fingerprints simhash[], distance int, blocks
 * int) and, of some functions, (table_no int).  Returns false if the array is
 * null.
 */
bool
shbatch_begin_array(FunctionCallInfo fcinfo, ShBatchCommand command, ShBatchCall *call)
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
	shbatch_progress_start(command, InvalidOid, InvalidOid);
	shbatch_source_array(&call->input, PG_GETARG_ANY_ARRAY_P(0), distance, scheme, table);
	return true;
}

void
shbatch_end_array(ShBatchCall *call)
{
	shbatch_source_end(&call->input);
	shbatch_progress_end();
}
