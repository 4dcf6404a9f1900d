/*-------------------------------------------------------------------------
 *
 * batch_call.h
 *	  Common code of the SQL functions.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BATCH_BATCH_CALL_H
#define SIMHASH_BATCH_BATCH_CALL_H

#include "fmgr.h"
#include "nodes/execnodes.h"

#include "batch/row_check.h"
#include "pairs/source.h"
#include "rows/progress.h"
#include "rows/heaps.h"
#include "rows/visible_rows.h"

typedef struct ShBatchCall
{
	ReturnSetInfo *result;
	ShPairsSource input;

	/* for indexes */
	ShRowsHeaps heaps;
	Snapshot	snapshot;
	bool		watched;		/* progress is reported */
	ShRows		rows;
} ShBatchCall;

extern void shbatch_begin_heaps(ShBatchCall *call, ShRowsCommand command,
								const Oid *indexes, int nindexes, bool by_columns);
extern void shbatch_check_distance_argument(FunctionCallInfo fcinfo, int arg);
extern int	shbatch_get_distance(FunctionCallInfo fcinfo, int arg, const ShRowsHeaps *heaps);
extern char *shbatch_get_text(FunctionCallInfo fcinfo, int arg);
extern ShBatchRowCheck *shbatch_get_same(FunctionCallInfo fcinfo, int arg,
										 const ShBatchCall *call);
extern void shbatch_end_heaps(ShBatchCall *call);
extern void shbatch_open_index(FunctionCallInfo fcinfo, ShRowsCommand command,
							   ShBatchCall *call);
extern bool shbatch_begin_index(FunctionCallInfo fcinfo, ShRowsCommand command,
								ShBatchCall *call);
extern void shbatch_end_index(ShBatchCall *call);
extern bool shbatch_begin_array(FunctionCallInfo fcinfo, ShRowsCommand command,
								ShBatchCall *call);
extern void shbatch_end_array(ShBatchCall *call);

#endif							/* SIMHASH_BATCH_BATCH_CALL_H */
