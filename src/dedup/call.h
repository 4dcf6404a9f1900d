/*-------------------------------------------------------------------------
 *
 * call.h
 *	  What the functions over whole tables have in common.
 *
 * What this declares is defined in call.c and query_texts.c.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_DEDUP_CALL_H
#define SIMHASH_DEDUP_CALL_H

#include "access/htup.h"
#include "fmgr.h"
#include "nodes/execnodes.h"
#include "utils/array.h"

#include "dedup/heaps.h"
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

/*
 * The places of the arguments of an SQL function, from 1; 0 for an argument that the function
 * does not have.  The first arguments are indexes, or an array, or an index and an array.  If
 * one of these is null, there is nothing to do.
 */
typedef struct ShDupSpec
{
	ShDupCommand command;
	int			nindexes;
	int			array;			/* of fingerprints, or texts */
	bool		wide;			/* these are wide, */
	bool		texts;			/* or texts */
	int			distance;
	int			similarity;
	int			same;
	int			keep;
	int			blocks;
	int			table_no;
} ShDupSpec;

/* a call of a function */
typedef struct ShDupCall
{
	ReturnSetInfo *result;
	ShPairsQuery query;
	int			workers;		/* parallel workers, at most */
	int			width;			/* of wide fingerprints, in bits, or 0 */
	ShDupNearness nearness;		/* of documents */
	const char *same;			/* these arguments, or NULL */
	const char *keep;

	/* for indexes */
	ShDupHeaps	heaps;
	Snapshot	snapshot;
	ShDupLookup lookup;
	ShDupRowCheck *check;		/* of pairs of rows, or NULL */
	Datum	   *texts;			/* of an array, different ones */
} ShDupCall;

extern bool shdup_call_begin(ShDupCall *call, FunctionCallInfo fcinfo, const ShDupSpec *spec);
extern void shdup_call_search(ShDupCall *call, ShPairsSink *sink);
extern void shdup_call_end(ShDupCall *call);

/* query_texts.c */
extern Datum *shdup_query_texts(const ShDupHeaps *heaps, int nbands, ArrayType *array,
								ShPairsInput *input);

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
