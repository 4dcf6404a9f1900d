/*-------------------------------------------------------------------------
 *
 * advise.c
 *	  What thresholds would do to a table: how many rows of a sample have near-duplicates, for
 *	  each threshold that the index serves.
 *
 * A row of the sample is looked up by a scan of the index at the loosest threshold, and a wide
 * fingerprint first at distance 0.  Each row that a scan finds is compared once, for all
 * thresholds.  The scan stops after some matches, since a text may be stored a million times.
 * Then it may have missed what is nearer, and the row is looked up again at the loosest threshold
 * with fewer matches.  Letters of one form make each lookup compare all of them; so the sample,
 * which is in random order, ends early if there are too many comparisons.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/genam.h"
#include "access/tableam.h"
#include "catalog/pg_index.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "storage/predicate.h"
#include "utils/datum.h"
#include "utils/memutils.h"
#include "utils/sampling.h"

#include "compat.h"
#include "dedup/call.h"
#include "index/index.h"
#include "text/similar.h"

PG_FUNCTION_INFO_V1(simhash_advise);

/* rows of a sample */
#define DEFAULT_SAMPLE		10000
#define MAX_SAMPLE			1000000

/* the same sample each time */
#define BLOCKS_SEED			1
#define ROWS_SEED			2

/* rows of the index among which those of a sample are drawn, for each of them */
#define DRAWN_AMONG			4

/* matches after which a scan stops, and comparisons for each row of the sample, on average */
#define MAX_MATCHES			1000
#define MAX_COMPARISONS		1000

/* thresholds of documents: 1, .95, .9 ... .5 */
#define SIMILARITY_PARTS	20
#define SIMILARITY_STEPS	(SIMILARITY_PARTS / 2 + 1)

/* columns of the result */
enum
{
	SIMILARITY,
	DISTANCE,
	SAMPLED,
	WITH_NEAR_DUPLICATE,
	REMOVED_AT_MOST,
	LARGEST_GROUP,
	CANDIDATES,
	AT_LEAST
};

/* a threshold */
typedef struct Step
{
	int			nbands;			/* or 0: all bits are compared */
	int			radius;
	double		similarity;		/* or 0 */

	/* what the current scan has found within it */
	int			ncandidates;
	int			nmatches;

	/* totals of the rows that have been looked up */
	double		with_match;
	double		removed;
	double		candidates;
	int			most_matches;
	bool		stopped;		/* some scan has */
} Step;

typedef struct Advice
{
	ShDupCall  *call;
	int			fp_column;		/* of the index */
	bool		has_operator;	/* by which its class compares values */
	int			nsteps;			/* the strictest first */
	Step	   *steps;

	ShDupRowReader sampled;
	ShDupRowReader found;
	IndexScanDesc *scans;		/* by number of the table */
	ShIdxFingerprinter fingerprinter;
	ShDupColumns *groups;		/* of the columns before the last one, */
	ShDupColumns *last;			/* and of the last one */
	double		comparisons;	/* done */

	/* the row that is looked up */
	ShPairsRow	row;
	Datum		values[INDEX_MAX_KEYS];
	ShFingerprint parts[SHBITS_MAX_PARTS];
	MemoryContext row_context;
	MemoryContext found_context;	/* of a row that has been found */
} Advice;

/*
 * Choose the thresholds: the similarities of documents for which all tables have bands
 * enough, the distances of fingerprints, or what the operator of a class asks.
 */
static void
choose_steps(Advice *advice)
{
	const ShDupCall *call = advice->call;
	const ShDupHeaps *heaps = &call->heaps;
	int			most = call->width > 0 ? shtype_near_radius(call->width) : call->query.distance;
	int			nsteps = call->nearness.known ? SIMILARITY_STEPS : advice->has_operator ? 1 : most + 1;
	int			nbands = SHBITS_MAX_PARTS;

	for (int i = 0; heaps->banded && i < heaps->count; i++)
		nbands = Min(nbands, shidx_get_geometry(heaps->heaps[i].index)->nparts);
	advice->steps = palloc0(nsteps * sizeof(Step));
	for (int i = 0; i < nsteps; i++)
	{
		Step	   *step = &advice->steps[i];

		step->nbands = call->query.nbands;
		step->radius = advice->has_operator ? call->query.distance : i;
		if (call->nearness.known)
		{
			step->similarity = (double) (SIMILARITY_PARTS - i) / SIMILARITY_PARTS;
			step->nbands = shbits_similar_bands(step->similarity, call->nearness.documents,
												&step->radius);
			if (step->nbands == 0 || step->nbands > nbands)
				break;
		}
		advice->nsteps++;
	}
}

/*
 * Prepare to look up rows.
 */
static void
begin_lookups(Advice *advice)
{
	const ShDupHeaps *heaps = &advice->call->heaps;
	Snapshot	snapshot = advice->call->snapshot;

	shdup_reader_begin(&advice->sampled, heaps, 0, snapshot);
	shdup_reader_begin(&advice->found, heaps, 0, snapshot);
	advice->groups = shdup_columns_begin(heaps, 0, advice->fp_column, false);
	advice->last = shdup_columns_begin(heaps, advice->fp_column, 1, !advice->has_operator);
	advice->row_context = AllocSetContextCreate(CurrentMemoryContext, "simhash row to look up",
												ALLOCSET_DEFAULT_SIZES);
	advice->found_context = AllocSetContextCreate(CurrentMemoryContext, "simhash row found",
												  ALLOCSET_DEFAULT_SIZES);
	advice->scans = palloc(heaps->count * sizeof(IndexScanDesc));
	for (int i = 0; i < heaps->count; i++)
	{
		const ShDupHeap *heap = &heaps->heaps[i];

		/* scans of a range of TIDs do not see to that */
		PredicateLockRelation(heap->relation, snapshot);
		advice->scans[i] = shcompat_index_beginscan(heap->relation, heap->index, snapshot,
													advice->fp_column + 1);
	}
	if (heaps->count > 0)
		shidx_fingerprinter_begin(&advice->fingerprinter, heaps->heaps[0].index,
								  shidx_get_geometry(heaps->heaps[0].index));
}

static void
end_lookups(Advice *advice)
{
	for (int i = 0; i < advice->call->heaps.count; i++)
		index_endscan(advice->scans[i]);
	shdup_columns_end(advice->groups);
	shdup_columns_end(advice->last);
	shdup_reader_end(&advice->sampled);
	shdup_reader_end(&advice->found);
}

/*
 * Begin to read a block of a table.
 */
static TableScanDesc
scan_block(const ShDupHeap *heap, BlockNumber block, Snapshot snapshot)
{
	ItemPointerData first;
	ItemPointerData last;

	if (heap->relation->rd_tableam->scan_set_tidrange == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("table \"%s\" cannot be sampled", RelationGetRelationName(heap->relation)),
				 errdetail("Its access method cannot read a range of row identifiers.")));
	ItemPointerSet(&first, block, 0);
	ItemPointerSet(&last, block, PG_UINT16_MAX);
	return shcompat_beginscan_tidrange(heap->relation, snapshot, &first, &last);
}

/*
 * How many blocks to read for a sample: one for each row or, of a partial index, as many as
 * should have enough of its rows.
 */
static int
blocks_of_sample(const ShDupHeaps *heaps, int wanted, bool partial)
{
	double		rows = 0;

	if (!partial)
		return wanted;
	for (int i = 0; i < heaps->count; i++)
		rows += Max(heaps->heaps[i].index->rd_rel->reltuples, 0);
	rows = Min((double) DRAWN_AMONG * wanted / Max(rows, 1), 1) * heaps->nblocks;
	return (int) Min(Max(rows, wanted), INT_MAX);
}

/*
 * Draw at most the wanted number of the rows that the snapshot sees and that the index holds,
 * in random order.  Returns how many.  As in ANALYZE, blocks are drawn from those of all tables, then
 * rows from those of the blocks.
 *
 * Evaluates the predicate of the index, as the owner of the table.
 */
static int
draw_sample(Advice *advice, int wanted, ShPairsRow *rows)
{
	const ShDupHeaps *heaps = &advice->call->heaps;
	const ShDupOpened *named = &heaps->sides[0].named;
	EState	   *estate = CreateExecutorState();
	ExprContext *context = GetPerTupleExprContext(estate);
	BlockSamplerData blocks;
	pg_prng_state random;
	double		count = 0;
	int			sampled;
	ShDupCaller caller;
	List	   *conditions;
	ExprState  *predicate;

	shdup_become_owner(&caller, named->heap);
	conditions = shdup_index_trees(named->index->rd_indextuple, Anum_pg_index_indpred);
	predicate = ExecPrepareQual(make_ands_implicit((Expr *) conditions), estate);
	BlockSampler_Init(&blocks, heaps->nblocks,
					  blocks_of_sample(heaps, wanted, conditions != NIL), BLOCKS_SEED);
	sampler_random_init_state(ROWS_SEED, &random);
	while (BlockSampler_HasMore(&blocks))
	{
		ShPairsRow	first = (ShPairsRow) BlockSampler_Next(&blocks) << 16;
		const ShDupHeap *heap = shdup_heap_of(heaps, first);
		TupleTableSlot *slot = shdup_reader_slot(&advice->sampled, heap);
		TableScanDesc scan = scan_block(heap, (first - heap->first_row) >> 16, advice->call->snapshot);

		CHECK_FOR_INTERRUPTS();
		while (table_scan_getnextslot_tidrange(scan, ForwardScanDirection, slot))
		{
			double		place = count;

			ResetExprContext(context);
			context->ecxt_scantuple = shdup_reader_convert(&advice->sampled, heap);
			if (!ExecQual(predicate, context))
				continue;
			count++;
			if (place >= wanted)
				place = floor(count * sampler_random_fract(&random));
			if (place < wanted)
				rows[(int) place] = heap->first_row + shidx_tid_to_int(&slot->tts_tid);
		}
		ExecClearTuple(slot);
		table_endscan(scan);
	}
	shdup_become_caller(&caller);
	FreeExecutorState(estate);
	sampled = (int) Min(count, wanted);
	for (int i = sampled - 1; i > 0; i--)
	{
		int			other = (int) ((i + 1) * sampler_random_fract(&random));
		ShPairsRow	row = rows[i];

		rows[i] = rows[other];
		rows[other] = row;
	}
	return sampled;
}

/*
 * How similar a value that has been found is to that of the row: 1 or -1 where no threshold
 * asks for more.  Runs the operator of the class.
 */
static double
similarity_to(const Advice *advice, Datum value)
{
	const ShDupNearness *nearness = &advice->call->nearness;
	const Datum *own = &advice->values[advice->fp_column];
	double		similarity;

	if (!nearness->known)
		return !advice->has_operator || shdup_columns_agree(advice->last, own, &value) ? 1 : -1;
	return shtext_similarity((struct varlena *) DatumGetPointer(*own),
							 (struct varlena *) DatumGetPointer(value), nearness->documents,
							 &similarity) ? similarity : -1;
}

/*
 * Count a value that has been found in the first thresholds.
 */
static void
count_value(Advice *advice, Datum value, int nsteps)
{
	/* many copies of a text should take little time */
	bool		equal = advice->call->nearness.known &&
		datum_image_eq(advice->values[advice->fp_column], value, false, -1);
	double		similarity = equal ? 1 : similarity_to(advice, value);
	ShFingerprint parts[SHBITS_MAX_PARTS];
	int			distance = 0;

	if (!equal && !shidx_fingerprint(&advice->fingerprinter, value, false, parts))
		return;
	for (int i = 0; !equal && i < advice->fingerprinter.geometry->nparts; i++)
		distance += shbits_distance(advice->parts[i], parts[i]);
	for (int i = 0; i < nsteps; i++)
	{
		Step	   *step = &advice->steps[i];

		if (equal || (step->nbands == 0 ? distance <= step->radius :
					  shbits_share_band(advice->parts, parts, step->nbands, step->radius)))
		{
			step->ncandidates++;
			step->nmatches += similarity >= step->similarity;
		}
	}
}

/*
 * Count a row that has been found in the first thresholds.
 */
static void
count_found(Advice *advice, TupleTableSlot *slot, int nsteps)
{
	MemoryContext old = MemoryContextSwitchTo(advice->found_context);
	Datum		groups[INDEX_MAX_KEYS];
	Datum		value;

	if (shdup_columns_compute(advice->groups, 0, slot, groups) &&
		shdup_columns_agree(advice->groups, advice->values, groups) &&
		shdup_columns_compute(advice->last, 0, slot, &value))
	{
		shdup_columns_copy(advice->last, &value, &value);
		count_value(advice, value, nsteps);
	}
	shdup_columns_reset(advice->groups);
	shdup_columns_reset(advice->last);
	MemoryContextSwitchTo(old);
	MemoryContextReset(advice->found_context);
	advice->comparisons++;
	shdup_progress_checked();
}

/*
 * Search a table for what is near the row at a threshold, and count it at the first thresholds.
 * Returns false if there are too many matches.
 */
static bool
search_table(Advice *advice, const ShDupHeap *heap, const Step *step, int nsteps)
{
	int			fp_column = advice->fp_column;
	IndexScanDesc scan = advice->scans[heap->number];
	TupleTableSlot *slot = shdup_reader_slot(&advice->found, heap);
	ScanKeyData keys[INDEX_MAX_KEYS];

	/* the index calls no functions of operators */
	memset(keys, 0, sizeof(keys));
	for (int i = 0; i <= fp_column; i++)
	{
		keys[i].sk_attno = i + 1;
		keys[i].sk_strategy = i < fp_column ? SIMHASH_STRATEGY_EQUAL :
			step->nbands > 0 ? SIMHASH_STRATEGY_BAND * step->nbands + step->radius :
			SIMHASH_STRATEGY_WITHIN + step->radius;
		keys[i].sk_collation = heap->index->rd_indcollation[i];
		keys[i].sk_argument = advice->values[i];
	}
	index_rescan(scan, keys, fp_column + 1, NULL, 0);
	while (step->nmatches < MAX_MATCHES && index_getnext_slot(scan, ForwardScanDirection, slot))
	{
		CHECK_FOR_INTERRUPTS();
		if (heap->first_row + shidx_tid_to_int(&slot->tts_tid) != advice->row)
			count_found(advice, shdup_reader_convert(&advice->found, heap), nsteps);
	}
	ExecClearTuple(slot);
	return step->nmatches < MAX_MATCHES;
}

/*
 * Search all tables.  Returns false if there are too many matches.
 */
static bool
search_tables(Advice *advice, const Step *step, int nsteps)
{
	const ShDupHeaps *heaps = &advice->call->heaps;

	for (int i = 0; i < heaps->count; i++)
	{
		if (!search_table(advice, &heaps->heaps[i], step, nsteps))
			return false;
	}
	return true;
}

/*
 * Before the first look-up of a row: has its wide fingerprint so many equal ones that a scan
 * stops?  Then they have been counted at all thresholds, and the row need not be looked up within
 * a larger radius, where a scan reads and sorts all that it meets before it returns the first row.
 * Otherwise nothing has been counted.
 */
static bool
has_many_equal(Advice *advice, int nsteps)
{
	double		comparisons = advice->comparisons;

	if (nsteps < advice->nsteps || advice->has_operator || advice->call->heaps.banded ||
		advice->fingerprinter.geometry->nparts == 1)
		return false;
	if (!search_tables(advice, &advice->steps[0], nsteps))
		return true;
	for (int i = 0; i < nsteps; i++)
		advice->steps[i].ncandidates = advice->steps[i].nmatches = 0;
	advice->comparisons = comparisons;
	return false;
}

/*
 * Look up the row at the first thresholds.  Returns at how many of these it has to be looked
 * up again.
 */
static int
search_all(Advice *advice, int nsteps)
{
	bool		stopped = has_many_equal(advice, nsteps) ||
		!search_tables(advice, &advice->steps[nsteps - 1], nsteps);
	int			again = 0;

	for (int i = 0; i < nsteps; i++)
	{
		Step	   *step = &advice->steps[i];

		if (stopped && step->nmatches < MAX_MATCHES)
			again = i + 1;
		else
		{
			step->with_match += step->nmatches > 0;
			step->removed += 1 - 1.0 / (1 + step->nmatches);
			step->candidates += step->ncandidates;
			step->most_matches = Max(step->most_matches, step->nmatches);
			step->stopped |= stopped;
		}
		step->ncandidates = 0;
		step->nmatches = 0;
	}
	return again;
}

/*
 * Look up a row of the sample.  One with a null in a column, or without a fingerprint, has no
 * near-duplicates.
 */
static void
look_up(Advice *advice, ShPairsRow row)
{
	Datum	   *values = advice->values;
	Datum	   *value = &values[advice->fp_column];
	TupleTableSlot *slot = shdup_read(&advice->sampled, row);
	MemoryContext old = MemoryContextSwitchTo(advice->row_context);
	int			nsteps = 0;

	if (shdup_columns_compute(advice->groups, 0, slot, values) &&
		shdup_columns_compute(advice->last, 0, slot, value))
	{
		shdup_columns_copy(advice->groups, values, values);
		shdup_columns_copy(advice->last, value, value);
		if (shidx_fingerprint(&advice->fingerprinter, *value, false, advice->parts))
			nsteps = advice->nsteps;
	}
	/* a VACUUM need not wait for this page, however long the look-up takes */
	shdup_reader_release(&advice->sampled);
	MemoryContextSwitchTo(old);
	advice->row = row;
	while (nsteps > 0)
		nsteps = search_all(advice, nsteps);
	shdup_columns_reset(advice->groups);
	shdup_columns_reset(advice->last);
	MemoryContextReset(advice->row_context);
}

/*
 * A mean as a result, in multiples of a unit: more digits would say nothing.
 */
static Datum
rounded_mean(double sum, int count, double unit)
{
	return Float8GetDatum(rint(sum / Max(count, 1) / unit) / rint(1 / unit));
}

static void
return_steps(const Advice *advice, int sampled)
{
	ShDupResult result;

	shdup_result_begin(&result, advice->call->result);
	if (!advice->call->nearness.known)
		shdup_result_set_null(&result, SIMILARITY);
	if (advice->has_operator)
		shdup_result_set_null(&result, DISTANCE);
	for (int i = WITH_NEAR_DUPLICATE; sampled == 0 && i <= AT_LEAST; i++)
		shdup_result_set_null(&result, i);
	for (int i = 0; i < advice->nsteps; i++)
	{
		const Step *step = &advice->steps[i];
		Datum		values[SHDUP_RESULT_COLUMNS];

		values[SIMILARITY] = Float8GetDatum(step->similarity);
		values[DISTANCE] = Int32GetDatum(step->radius);
		values[SAMPLED] = Int64GetDatum(sampled);
		values[WITH_NEAR_DUPLICATE] = rounded_mean(step->with_match, sampled, .0001);
		values[REMOVED_AT_MOST] = rounded_mean(step->removed, sampled, .0001);
		values[LARGEST_GROUP] = Int64GetDatum(1 + step->most_matches);
		values[CANDIDATES] = rounded_mean(step->candidates, sampled, .01);
		values[AT_LEAST] = BoolGetDatum(step->stopped);
		shdup_result_add(&result, values);
	}
}

/*
 * simhash_advise(index regclass, sample int) -> for each threshold that the index serves, what
 * it would do to the table, by a sample of the rows that the snapshot sees.
 */
Datum
simhash_advise(PG_FUNCTION_ARGS)
{
	static const ShDupSpec spec = {.command = SHDUP_ADVISE,.nindexes = 1};
	int32		wanted = PG_ARGISNULL(1) ? DEFAULT_SAMPLE : PG_GETARG_INT32(1);
	Advice		advice = {0};
	ShDupCall	call;
	ShPairsRow *rows;
	int			drawn;
	int			sampled = 0;

	if (wanted < 1 || wanted > MAX_SAMPLE)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("sample of %d rows is out of range", wanted),
				 errdetail("A sample must have between 1 and %d rows.", MAX_SAMPLE)));
	if (!shdup_call_begin(&call, fcinfo, &spec))
		return (Datum) 0;
	advice.call = &call;
	advice.fp_column = shidx_fp_column(call.heaps.sides[0].named.index);
	advice.has_operator = shdup_checked_columns(&call.heaps) > advice.fp_column;
	choose_steps(&advice);
	begin_lookups(&advice);
	rows = palloc(wanted * sizeof(ShPairsRow));
	drawn = draw_sample(&advice, wanted, rows);
	shdup_progress_phase(SHDUP_PHASE_COMPARE, drawn);
	while (sampled < drawn && advice.comparisons < (double) MAX_COMPARISONS * wanted)
	{
		look_up(&advice, rows[sampled++]);
		shdup_progress_add(1);
	}
	end_lookups(&advice);
	return_steps(&advice, sampled);
	shdup_call_end(&call);
	return (Datum) 0;
}
