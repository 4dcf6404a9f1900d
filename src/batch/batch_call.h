/*-------------------------------------------------------------------------
 *
 * batch_call.h
 *	  Common code of the SQL functions.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BATCH_BATCH_CALL_H
#define SIMHASH_BATCH_BATCH_CALL_H

#include "postgres.h"

#include "fmgr.h"
#include "nodes/execnodes.h"

#include "batch/keep_list.h"
#include "batch/row_check.h"
#include "batch/source.h"
#include "batch/tables.h"
#include "batch/visible_rows.h"
#include "index/progress.h"

typedef struct ShBatchCall
{
	ReturnSetInfo *result;
	ShBatchSource input;

	/* for indexes */
	ShBatchTables tables;
	Snapshot	snapshot;
	bool		watched;		/* progress is reported */
	ShBatchRows rows;
} ShBatchCall;

extern void shbatch_begin_tables(ShBatchCall *call, ShIdxCommand command,
								 const Oid *indexes, int nindexes, bool by_columns);
extern void shbatch_check_distance_argument(FunctionCallInfo fcinfo, int arg);
extern int	shbatch_get_distance(FunctionCallInfo fcinfo, int arg, const ShBatchTables *tables);
extern ShBatchKeepList *shbatch_get_keep(FunctionCallInfo fcinfo, int arg,
										 const ShBatchCall *call);
extern ShBatchRowCheck *shbatch_get_same(FunctionCallInfo fcinfo, int arg,
										 const ShBatchCall *call);
extern void shbatch_end_tables(ShBatchCall *call);
extern void shbatch_open_index(FunctionCallInfo fcinfo, ShIdxCommand command,
							   ShBatchCall *call);
extern bool shbatch_begin_index(FunctionCallInfo fcinfo, ShIdxCommand command,
								ShBatchCall *call);
extern void shbatch_end_index(ShBatchCall *call);
extern bool shbatch_begin_array(FunctionCallInfo fcinfo, ShIdxCommand command,
								ShBatchCall *call);
extern void shbatch_end_array(ShBatchCall *call);

#endif							/* SIMHASH_BATCH_BATCH_CALL_H */
