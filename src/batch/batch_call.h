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
#include "pairs/wide_finder.h"
#include "rows/progress.h"
#include "rows/heaps.h"
#include "rows/visible_rows.h"

typedef struct ShBatchCall
{
	ReturnSetInfo *result;
	double		most;			/* entries that are searched, at most */
	int			workers;		/* parallel workers, at most */

	/* fingerprints of 64 bits */
	ShPairsSource input;

	/* or wide ones */
	int			width;			/* in bits, or 0 */
	int			distance;
	ShPairsWideInput wide;
	ShPairsWideFinder *wide_finder;

	/* for indexes */
	ShRowsHeaps heaps;
	Snapshot	snapshot;
	ShRows		rows;
} ShBatchCall;

extern void shbatch_begin_heaps(ShBatchCall *call, ShRowsCommand command,
								const Oid *indexes, int nindexes, bool by_columns);
extern int	shbatch_get_distance(FunctionCallInfo fcinfo, int arg, const ShBatchCall *call);
extern char *shbatch_get_text(FunctionCallInfo fcinfo, int arg);
extern ShBatchRowCheck *shbatch_get_same(FunctionCallInfo fcinfo, int arg,
										 const ShBatchCall *call);
extern void shbatch_end_heaps(ShBatchCall *call);
extern bool shbatch_begin(FunctionCallInfo fcinfo, int narguments, ShBatchCall *call);
extern bool shbatch_begin_index(FunctionCallInfo fcinfo, ShRowsCommand command,
								ShBatchCall *call);
extern void shbatch_end_index(ShBatchCall *call);
extern bool shbatch_begin_array(FunctionCallInfo fcinfo, ShRowsCommand command,
								ShBatchCall *call);
extern bool shbatch_begin_wide_array(FunctionCallInfo fcinfo, ShRowsCommand command,
									 ShBatchCall *call);
extern void shbatch_end_array(ShBatchCall *call);
extern void shbatch_search_begin(ShBatchCall *call, ShPairsSink *sink);
extern bool shbatch_search_next(ShBatchCall *call);
extern void shbatch_search(ShBatchCall *call, ShPairsSink *sink);

/* how many words wide fingerprints have; 0 if they are not wide */
static inline int
shbatch_nwords(const ShBatchCall *call)
{
	return call->width > 0 ? shbits_nparts(call->width) : 0;
}

#endif							/* SIMHASH_BATCH_BATCH_CALL_H */
