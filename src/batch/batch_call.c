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

/* what is searched where no distance is given for an array */
#define DEFAULT_DISTANCE	SIMHASH_NEAR_RADIUS

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
	int			distance = PG_ARGISNULL(1) ? 0 : PG_GETARG_INT32(1);

	InitMaterializedSRF(fcinfo, 0);
	call->result = (ReturnSetInfo *) fcinfo->resultinfo;
	if (PG_ARGISNULL(0))
		return false;

	shbatch_check_distance(distance);
	shidx_open(PG_GETARG_OID(0), SHIDX_ACCESS_ROWS, &call->target);
	call->snapshot = RegisterSnapshot(GetActiveSnapshot());
	shidx_check_snapshot(call->target.index, call->snapshot);
	shbatch_progress_start(command, RelationGetRelid(call->target.heap),
						   RelationGetRelid(call->target.index));
	shbatch_rows_begin(&call->rows, call->target.heap, call->snapshot);
	shbatch_source_index(&call->input, call->target.index, call->snapshot,
						PG_ARGISNULL(1) ? NULL : &distance);
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
 * Begin a call with the arguments (hashes simhash[], distance int, blocks int).
 * Returns false if the array is null.
 */
bool
shbatch_begin_array(FunctionCallInfo fcinfo, ShBatchCommand command, ShBatchCall *call)
{
	int			distance = PG_ARGISNULL(1) ? DEFAULT_DISTANCE : PG_GETARG_INT32(1);
	int			blocks = PG_ARGISNULL(2) ? 0 : PG_GETARG_INT32(2);

	InitMaterializedSRF(fcinfo, 0);
	call->result = (ReturnSetInfo *) fcinfo->resultinfo;
	if (PG_ARGISNULL(0))
		return false;

	shbatch_check_distance(distance);
	shbatch_progress_start(command, InvalidOid, InvalidOid);
	shbatch_source_array(&call->input, PG_GETARG_ARRAYTYPE_P(0), distance,
						PG_ARGISNULL(2) ? NULL : &blocks);
	return true;
}

void
shbatch_end_array(ShBatchCall *call)
{
	shbatch_source_end(&call->input);
	shbatch_progress_end();
}
