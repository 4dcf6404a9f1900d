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
#include "pairs/finder.h"
#include "rows/progress.h"
#include "rows/heaps.h"
#include "rows/visible_rows.h"

typedef struct ShBatchCall
{
	ReturnSetInfo *result;
	ShPairsQuery query;
	int			workers;		/* parallel workers, at most */
	int			width;			/* of wide fingerprints, in bits, or 0 */
	double		similarity;		/* of documents that was asked for, or 0 */

	/* for indexes */
	ShRowsHeaps heaps;
	Snapshot	snapshot;
	ShRows		rows;
} ShBatchCall;

extern void shbatch_begin_heaps(ShBatchCall *call, ShRowsCommand command,
								const Oid *indexes, int nindexes, bool by_columns);
extern int	shbatch_get_distance(FunctionCallInfo fcinfo, int arg, const ShBatchCall *call);
extern int	shbatch_get_nearness(FunctionCallInfo fcinfo, int distance, int similarity,
								 ShBatchCall *call);
extern char *shbatch_get_text(FunctionCallInfo fcinfo, int arg);
extern ShBatchRowCheck *shbatch_begin_checks(const ShBatchCall *call, const char *same);
extern void shbatch_end_heaps(ShBatchCall *call);
extern bool shbatch_begin(FunctionCallInfo fcinfo, int narguments, ShBatchCall *call);
extern void shbatch_begin_query(ShBatchCall *call, int nsides, int distance);
extern void shbatch_use_heaps(ShBatchCall *call, int side, const ShRowsHeaps *heaps);
extern bool shbatch_begin_index(FunctionCallInfo fcinfo, ShRowsCommand command, int similarity,
								ShBatchCall *call);
extern bool shbatch_begin_array(FunctionCallInfo fcinfo, ShRowsCommand command,
								ShBatchCall *call);
extern bool shbatch_begin_wide_array(FunctionCallInfo fcinfo, ShRowsCommand command,
									 ShBatchCall *call);
extern void shbatch_end_array(ShBatchCall *call);
extern void shbatch_search(ShBatchCall *call, ShPairsSink *sink);

/*
 * How many words fingerprints have if that is more than one; else 0.
 */
static inline int
shbatch_nwords(const ShBatchCall *call)
{
	return call->width > SHBITS_WIDTH ? shbits_nparts(call->width) : 0;
}

/* the most fingerprints that are searched */
static inline double
shbatch_most(const ShBatchCall *call)
{
	return call->query.inputs[0].most;
}

#endif							/* SIMHASH_BATCH_BATCH_CALL_H */
