/*-------------------------------------------------------------------------
 *
 * call.h
 *	  What the functions over whole tables have in common.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_DEDUP_CALL_H
#define SIMHASH_DEDUP_CALL_H

#include "access/htup.h"
#include "fmgr.h"
#include "nodes/execnodes.h"

#include "dedup/open.h"
#include "dedup/progress.h"
#include "dedup/rows.h"
#include "pairs/finder.h"
#include "type/simhash.h"
#include "type/wide.h"

#define SHDUP_RESULT_COLUMNS	8

/* the rows that a function returns */
typedef struct ShDupResult
{
	Tuplestorestate *store;
	TupleDesc	desc;
	bool		nulls[SHDUP_RESULT_COLUMNS];	/* columns null in all rows */
	HeapTuple	tuple;			/* the last row; NULL if rows vary in layout */
	uint32		offsets[SHDUP_RESULT_COLUMNS];	/* of its columns */
} ShDupResult;

extern void shdup_result_begin(ShDupResult *result, ReturnSetInfo *info);
extern void shdup_result_set_null(ShDupResult *result, int column);
extern void shdup_result_add(ShDupResult *result, const Datum *values);

/* a call of a function */
typedef struct ShDupCall
{
	ReturnSetInfo *result;
	ShPairsQuery query;
	int			workers;		/* parallel workers, at most */
	int			width;			/* of wide fingerprints, in bits, or 0 */
	double		similarity;		/* of documents that was asked for, or 0 */

	/* for indexes */
	ShDupHeaps	heaps;
	Snapshot	snapshot;
	ShDup		rows;
} ShDupCall;

extern void shdup_begin_heaps(ShDupCall *call, ShDupCommand command,
							  const Oid *indexes, int nindexes, bool by_columns);
extern int	shdup_get_distance(FunctionCallInfo fcinfo, int arg, const ShDupCall *call);
extern char *shdup_get_text(FunctionCallInfo fcinfo, int arg);
extern ShDupRowCheck *shdup_begin_checks(ShDupCall *call, const char *same);
extern void shdup_end_heaps(ShDupCall *call);
extern bool shdup_begin(FunctionCallInfo fcinfo, int narguments, ShDupCall *call);
extern void shdup_begin_query(ShDupCall *call, int nsides, int distance);
extern void shdup_use_side(ShDupCall *call, int input, int side);
extern bool shdup_begin_indexes(FunctionCallInfo fcinfo, ShDupCommand command, int nindexes,
								int similarity, ShDupCall *call);
extern bool shdup_begin_array(FunctionCallInfo fcinfo, ShDupCommand command, bool wide,
							  ShDupCall *call);
extern void shdup_search(ShDupCall *call, ShPairsSink *sink);

/*
 * How many words fingerprints have if that is more than one; else 0.
 */
static inline int
shdup_nwords(const ShDupCall *call)
{
	return call->width > SHBITS_WIDTH ? shbits_nparts(call->width) : 0;
}

/*
 * A fingerprint as a result, given its words, and the width of a wide one or 0.
 */
static inline Datum
shdup_fp_datum(int width, const uint64 *words)
{
	return width > 0 ? PointerGetDatum(shtype_join_bits(words, width)) : SimhashGetDatum(*words);
}

/* the most fingerprints that are searched */
static inline double
shdup_most(const ShDupCall *call)
{
	return call->query.inputs[0].most;
}

#endif							/* SIMHASH_DEDUP_CALL_H */
