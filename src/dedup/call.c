/*-------------------------------------------------------------------------
 *
 * call.c
 *	  What the functions over whole tables have in common: reading arguments, opening
 *	  and closing, the choice of workers, the search, and returning rows.
 *
 * Workers compare fingerprints only.  The leader looks up rows, and compares values for
 * which the index has computed fingerprints, or of the columns before the
 * fingerprint.  It does this in parallel mode, in which functions that are not
 * marked as safe, or at least restricted, may fail.  Where an index has bands, it does so
 * outside of parallel mode.
 *
 * All rows that a call returns have the same layout, since the same columns are null
 * in all of them, and mostly no column is of variable length.  So a row is formed
 * once, and for further rows only the values are filled in.  For millions of rows,
 * forming each of them would take as long as finding them.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/parallel.h"
#include "access/tupmacs.h"
#include "access/xact.h"
#include "catalog/dependency.h"
#include "catalog/pg_am.h"
#include "catalog/pg_index.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type_d.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "parser/parse_coerce.h"
#include "storage/bufmgr.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/tuplestore.h"

#include "bits/distance.h"
#include "dedup/call.h"
#include "dedup/open.h"
#include "dedup/rows.h"
#include "index/index.h"
#include "text/similar.h"

/*
 * If the server does not choose workers for every index, however small, a search
 * must be worth some milliseconds, in which they start.  It grows with the pages
 * and with the distance.
 */
#define LEAST_WORK		10000

/*
 * Are the expressions of an index that a search evaluates allowed in parallel mode?  They
 * are taken from the catalog as they are, since simplifying them would run functions of
 * the owner of the table.
 */
static bool
expressions_are_allowed(Relation index, int ncolumns)
{
	/* the server's own check wants a query */
	Query	   *query = makeNode(Query);
	ListCell   *cell;

	query->commandType = CMD_SELECT;
	foreach(cell, shdup_index_expressions(index, ncolumns))
		query->targetList = lappend(query->targetList,
									makeTargetEntry(lfirst(cell), 1, NULL, false));
	return max_parallel_hazard(query) != PROPARALLEL_UNSAFE;
}

/*
 * May everything that a search evaluates be evaluated in parallel mode?
 */
static bool
functions_are_allowed(const ShDupHeaps *heaps)
{
	Relation	index = heaps->sides[0].named.index;
	int			ncolumns = shdup_checked_columns(heaps);

	for (int i = 0; i < ncolumns; i++)
	{
		if (func_parallel(get_opcode(shdup_column_operator(heaps, i))) == PROPARALLEL_UNSAFE)
			return false;
		if (i < shidx_fp_column(index) &&
			func_parallel(index_getprocid(index, i + 1, SHIDX_HASH_PROC)) == PROPARALLEL_UNSAFE)
			return false;
	}
	for (int side = 0; side < heaps->nsides; side++)
	{
		if (!expressions_are_allowed(heaps->sides[side].named.index, ncolumns))
			return false;
	}
	return true;
}

/*
 * The number of workers for so many pages of indexes, as the server chooses it
 * for a scan of them.
 */
static int
workers_for_pages(double pages, int distance)
{
	double		threshold = Max(min_parallel_index_scan_size, 1);
	int			workers = 1;

	if (pages == 0 || pages < min_parallel_index_scan_size ||
		(min_parallel_index_scan_size > 0 && pages * (distance + 1) < LEAST_WORK))
		return 0;
	while (pages >= threshold * 3)
	{
		workers++;
		threshold *= 3;
	}
	return workers;
}

/*
 * How many workers a search of some tables within a distance may have; 0 for none.
 *
 * parallel_workers of a table counts as in a scan of it.
 */
static int
workers_of_call(const ShDupHeaps *heaps, int distance)
{
	double		pages = 0;
	int			workers = 0;

	if (max_parallel_workers_per_gather == 0 || !IsUnderPostmaster ||
		IsInParallelMode() || IsParallelWorker())
		return 0;
	for (int i = 0; i < heaps->count; i++)
	{
		const ShDupHeap *heap = &heaps->heaps[i];
		int			wanted = RelationGetParallelWorkers(heap->relation, -1);

		/* workers cannot see the buffers of temporary tables */
		if (RelationUsesLocalBuffers(heap->relation))
			return 0;
		if (wanted < 0)
			pages += RelationGetNumberOfBlocks(heap->index);
		workers = Max(workers, wanted);
	}
	workers = Min(Max(workers, workers_for_pages(pages, distance)), max_parallel_workers_per_gather);
	return workers > 0 && (heaps->banded || functions_are_allowed(heaps)) ? workers : 0;
}

/*
 * Form the row into which values are filled, unless a column is of variable length.
 */
static void
form_row(ShDupResult *result)
{
	TupleDesc	desc = result->desc;
	Datum		values[SHDUP_RESULT_COLUMNS];
	uint64		zeros[4] = {0};
	uint32		offset = 0;

	result->tuple = NULL;
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute column = TupleDescAttr(desc, i);

		if (result->nulls[i])
			continue;
		if (column->attlen < 0)
			return;
		Assert(column->attlen <= sizeof(zeros));
		values[i] = column->attbyval ? (Datum) 0 : PointerGetDatum(zeros);
		offset = att_align_nominal(offset, column->attalign);
		result->offsets[i] = offset;
		offset += column->attlen;
	}
	result->tuple = heap_form_tuple(desc, values, result->nulls);
	Assert(result->tuple->t_len == result->tuple->t_data->t_hoff + offset);
}

/*
 * Begin to return rows in the tuplestore of the call.
 */
void
shdup_result_begin(ShDupResult *result, ReturnSetInfo *info)
{
	Assert(info->setDesc->natts <= SHDUP_RESULT_COLUMNS);
	result->store = info->setResult;
	result->desc = info->setDesc;
	memset(result->nulls, false, sizeof(result->nulls));
	form_row(result);
}

/*
 * Let a column be null in all rows, of which none has been returned.
 */
void
shdup_result_set_null(ShDupResult *result, int column)
{
	result->nulls[column] = true;
	form_row(result);
}

/*
 * Return a row.  Values of columns that are null in all rows are ignored, and those of
 * variable length are freed.
 */
void
shdup_result_add(ShDupResult *result, const Datum *values)
{
	char	   *row;

	if (result->tuple == NULL)
	{
		tuplestore_putvalues(result->store, result->desc, (Datum *) values, result->nulls);
		for (int i = 0; i < result->desc->natts; i++)
		{
			if (!result->nulls[i] && TupleDescAttr(result->desc, i)->attlen < 0)
				pfree(DatumGetPointer(values[i]));
		}
		return;
	}
	row = (char *) result->tuple->t_data + result->tuple->t_data->t_hoff;
	for (int i = 0; i < result->desc->natts; i++)
	{
		Form_pg_attribute column = TupleDescAttr(result->desc, i);
		char	   *place = row + result->offsets[i];

		if (result->nulls[i])
			continue;
		if (column->attbyval)
			store_att_byval(place, values[i], column->attlen);
		else
			memcpy(place, DatumGetPointer(values[i]), column->attlen);
	}
	tuplestore_puttuple(result->store, result->tuple);
}

/*
 * The number of bits of the fingerprints.
 */
static int
bits(const ShDupCall *call)
{
	return call->width > 0 ? call->width : SHBITS_WIDTH;
}

/*
 * Does a function have an argument, and is it not null?
 */
static bool
has_argument(FunctionCallInfo fcinfo, int argument)
{
	return argument > 0 && !PG_ARGISNULL(argument - 1);
}

/*
 * The distance: that argument, which must be in range, or, if it is null, the
 * smallest distance of the named indexes or, without indexes, that of the type.
 */
static int
get_distance(FunctionCallInfo fcinfo, const ShDupSpec *spec, const ShDupCall *call)
{
	const ShDupHeaps *heaps = &call->heaps;
	int			distance = INT_MAX;

	if (!has_argument(fcinfo, spec->distance))
	{
		if (spec->nindexes == 0)
			return spec->wide ? shtype_near_radius(call->width) : SIMHASH_NEAR_RADIUS;
		for (int side = 0; side < heaps->nsides; side++)
			distance = Min(distance, shdup_side_distance(heaps, side));
		return distance;
	}
	distance = PG_GETARG_INT32(spec->distance - 1);
	shpairs_check_distance(distance, bits(call));
	return distance;
}

/*
 * Is a function the one of the extension with this name?  Its address would not tell: the
 * server wraps a function for which somebody has set a parameter.
 */
static bool
is_member(Oid extension, Oid function, const char *name)
{
	return getExtensionOfObject(ProcedureRelationId, function) == extension &&
		strcmp(get_func_name(function), name) == 0;
}

/*
 * Can rows of an index be compared at any similarity?  That is, do the functions belong
 * to an operator class of the extension, that of its operator and the one that computes
 * bands?  Says what the documents are.
 */
static bool
has_similarity(Relation index, Oid operator, ShBitsDocuments *documents)
{
	static const struct
	{
		const char *operator;
		const char *bands;
	}			functions[] = {
		[SHBITS_TEXTS] = {"simhash_similar_op", "simhash_bands_text"},
		[SHBITS_BYTEA] = {"simhash_similar_op", "simhash_bands_bytea"},
		[SHBITS_TITLES] = {"simhash_similar_titles_op", "simhash_title_bands"},
	};
	Oid			extension = getExtensionOfObject(AccessMethodRelationId, index->rd_rel->relam);
	Oid			function = shidx_fingerprint_function(index);

	for (int i = 0; i < lengthof(functions) && OidIsValid(operator); i++)
	{
		*documents = i;
		if (is_member(extension, get_opcode(operator), functions[i].operator) &&
			is_member(extension, function, functions[i].bands))
			return true;
	}
	return false;
}

/*
 * Report an error if rows of an index cannot be compared at any similarity.
 */
static void
check_similarity(Relation index)
{
	ShIdxMeaning meaning;
	Oid			operator = shdup_near_operator(index, &meaning);
	ShBitsDocuments documents;

	if (has_similarity(index, operator, &documents))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("index \"%s\" cannot be searched by a similarity",
					RelationGetRelationName(index)),
			 OidIsValid(operator) ?
			 errdetail("The operator %s of its operator class decides which rows are near-duplicates, by fingerprints of its own or a threshold of its own.",
					   format_operator(operator)) :
			 errdetail("Only fingerprints decide which of its rows are near-duplicates."),
			 OidIsValid(operator) ? 0 : errhint("Use \"distance\".")));
}

/*
 * Report an error if rows of an index are compared by an operator: a distance would be
 * another condition, and not another threshold.
 */
static void
check_distance(Relation index)
{
	ShIdxMeaning meaning;
	Oid			operator = shdup_near_operator(index, &meaning);
	ShBitsDocuments documents;

	if (!OidIsValid(operator))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("index \"%s\" cannot be searched by a distance",
					RelationGetRelationName(index)),
			 errdetail("The operator %s of its operator class decides which rows are near-duplicates.",
					   format_operator(operator)),
			 has_similarity(index, operator, &documents) ?
			 errhint("Use \"similarity\", such as similarity => 0.9.") : 0));
}

/*
 * Report an error if an index does not have so many bands.
 */
static void
check_has_bands(const ShDupHeap *heap, int nbands)
{
	int			has = shidx_get_geometry(heap->index)->nparts;
	const char *name = RelationGetRelationName(heap->index);

	if (has < nbands)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("index \"%s\" has only %d of the %d bands that the search needs", name, has, nbands),
				 errhint("Use REINDEX after ALTER INDEX ... SET (bands = %d).", nbands)));
}

/*
 * The radius of a search of bands, and in *nbands, how many: those of the argument
 * "similarity" or of the operator class.
 */
static int
bands_of_call(FunctionCallInfo fcinfo, const ShDupSpec *spec, ShDupCall *call, int *nbands)
{
	Relation	index = call->heaps.sides[0].named.index;
	ShDupNearness *nearness = &call->nearness;
	ShIdxMeaning meaning;
	Oid			operator = shdup_near_operator(index, &meaning);

	if (!OidIsValid(operator))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("index \"%s\" cannot be searched as a whole", RelationGetRelationName(index)),
				 errdetail("Its operator class has no operator that compares two of its values.")));
	nearness->known = has_similarity(index, operator, &nearness->documents);
	if (nearness->known)
	{
		double		similarity = has_argument(fcinfo, spec->similarity) ?
			PG_GETARG_FLOAT8(spec->similarity - 1) :
			nearness->documents == SHBITS_TITLES ? SHBITS_TITLES_SHARE : SHBITS_SIMILAR_SHARE;

		meaning.bands = shtext_similar_bands(similarity, nearness->documents, &meaning.radius);
		nearness->similarity = shbits_similar_share(similarity);
	}
	for (int i = 0; i < call->heaps.count; i++)
		check_has_bands(&call->heaps.heaps[i], meaning.bands);
	*nbands = meaning.bands;
	return meaning.radius;
}

/*
 * The distance of a search of rows: that argument, for an index of fingerprints; of
 * documents, the one that the argument "similarity" or the operator class implies.  Sets
 * call->nearness, and for bands, how many.
 */
static int
get_nearness(FunctionCallInfo fcinfo, const ShDupSpec *spec, ShDupCall *call)
{
	Relation	index = call->heaps.sides[0].named.index;

	if (spec->array > 0 && !spec->texts)
		return get_distance(fcinfo, spec, call);
	if (has_argument(fcinfo, spec->similarity))
		check_similarity(index);
	if (has_argument(fcinfo, spec->distance))
		check_distance(index);
	return call->heaps.banded ? bands_of_call(fcinfo, spec, call, &call->query.nbands) :
		get_distance(fcinfo, spec, call);
}

static char *
get_text(FunctionCallInfo fcinfo, int argument)
{
	return has_argument(fcinfo, argument) ? text_to_cstring(PG_GETARG_TEXT_PP(argument - 1)) : NULL;
}

/*
 * Open the named indexes, prepare to look up rows for the snapshot of the calling query,
 * and report progress as a search of the last of them.
 *
 * If rows are compared with each other, and not with an array, only those whose columns
 * before the fingerprint are equal make pairs.
 */
static void
open_indexes(ShDupCall *call, FunctionCallInfo fcinfo, const ShDupSpec *spec)
{
	const ShDupOpened *named = &call->heaps.sides[spec->nindexes - 1].named;
	Oid			indexes[SHDUP_MAX_SIDES];

	for (int i = 0; i < spec->nindexes; i++)
		indexes[i] = PG_GETARG_OID(i);
	if (spec->nindexes > 1 && indexes[0] == indexes[1])
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("both sides are the same index"),
				 errhint("Use simhash_find_all to find the pairs of one index.")));
	shdup_heaps_open(&call->heaps, indexes, spec->nindexes);
	call->width = shdup_wide_width(&call->heaps, 0);
	call->heaps.grouped &= spec->array == 0;
	call->snapshot = RegisterSnapshot(GetActiveSnapshot());
	for (int i = 0; i < call->heaps.count; i++)
	{
		const ShDupHeap *heap = &call->heaps.heaps[i];
		const ShDupSide *side = &call->heaps.sides[shdup_side_of_heap(&call->heaps, heap)];

		shdup_check_snapshot(heap->index, call->snapshot);
		shdup_check_table(heap->relation, RelationGetRelid(side->named.heap), call->snapshot);
	}
	shdup_progress_start(spec->command, RelationGetRelid(named->heap), RelationGetRelid(named->index));
	shdup_lookup_begin(&call->lookup, &call->heaps, call->snapshot);
}

/*
 * Let an input be the tables of a named index.
 */
static void
use_side(ShDupCall *call, ShPairsInput *input, int side)
{
	const ShDupHeaps *heaps = &call->heaps;
	const ShDupHeap *heap = heaps->heaps + heaps->sides[side].first;
	ShPairsIndexes indexes = {.count = heaps->sides[side].count,.grouped = heaps->grouped};

	indexes.list = palloc(indexes.count * sizeof(ShPairsIndex));
	for (int i = 0; i < indexes.count; i++, heap++)
	{
		indexes.list[i] = (ShPairsIndex)
		{
			heap->index, heap->first_row, heap->end_row
		};
	}
	shpairs_input_indexes(input, &indexes, call->snapshot, bits(call));
}

/*
 * Report an error if the elements of an array are of another type than the fingerprints
 * of the index.
 */
static void
check_element_type(const ShDupCall *call, const ShDupSpec *spec)
{
	Relation	index = call->heaps.sides[0].named.index;
	bool		wide = spec->wide;

	if (call->heaps.banded != spec->texts ||
		(spec->texts && !IsBinaryCoercible(TEXTOID, index->rd_opcintype[shidx_fp_column(index)])))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("an array of type %s cannot be compared with index \"%s\"",
						spec->texts ? "text" : wide ? "simhash_bits" : "simhash",
						RelationGetRelationName(index)),
				 spec->texts ?
				 errdetail("This takes an index on texts whose operator class computes bands, such as simhash_text_ops.") :
				 errdetail("The index has bands of its values, and no fingerprints.")));
	if (spec->texts || wide == (call->width > 0))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("an array of type %s cannot be compared with index \"%s\"",
					wide ? "simhash_bits" : "simhash",
					RelationGetRelationName(call->heaps.sides[0].named.index)),
			 errdetail("The fingerprints of the index are of type %s.",
					   wide ? "simhash" : "simhash_bits")));
}

/*
 * Report an error if they have another width.  An array without any has none.
 */
static void
check_element_width(const ShDupCall *call, int width)
{
	if (call->width == 0 || width == 0 || width == call->width)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_STRING_DATA_LENGTH_MISMATCH),
			 errmsg("fingerprints of %d bits cannot be compared with those of index \"%s\"",
					width, RelationGetRelationName(call->heaps.sides[0].named.index)),
			 errdetail("Its fingerprints have %d bits.", call->width)));
}

/*
 * Set the scheme and the table of a search of an array.
 */
static void
choose_table(FunctionCallInfo fcinfo, const ShDupSpec *spec, ShPairsQuery *query)
{
	bool		has_blocks = has_argument(fcinfo, spec->blocks);
	bool		has_table = has_argument(fcinfo, spec->table_no);
	ShBitsScheme *scheme;

	if (!has_blocks && !has_table)
		return;
	scheme = shbits_make_scheme(SHBITS_WIDTH, has_blocks ? PG_GETARG_INT32(spec->blocks - 1) :
								query->distance + 1, query->distance);
	if (has_table)
	{
		query->table = PG_GETARG_INT32(spec->table_no - 1);
		shbits_check_table(scheme, query->table);
	}
	query->scheme = scheme;
}

/*
 * Begin to search an array alone.  Returns false if it has no values of which to know the
 * width.
 */
static bool
use_array(FunctionCallInfo fcinfo, const ShDupSpec *spec, ShDupCall *call)
{
	ShPairsQuery *query = &call->query;
	AnyArrayType *array;

	/* a large array takes a while, so errors come first where they can */
	if (!spec->wide)
	{
		query->distance = get_distance(fcinfo, spec, call);
		choose_table(fcinfo, spec, query);
	}
	shdup_progress_start(spec->command, InvalidOid, InvalidOid);
	array = PG_GETARG_ANY_ARRAY_P(spec->array - 1);
	shpairs_input_array(&query->inputs[0], array, spec->wide);
	if (query->inputs[0].width == 0)
		return false;
	if (spec->wide)
	{
		call->width = query->inputs[0].width;
		query->distance = get_distance(fcinfo, spec, call);
	}
	return true;
}

/*
 * Begin to search indexes, the last one with an array if there is one.  Returns false if that
 * has no values.
 */
static bool
use_indexes(FunctionCallInfo fcinfo, const ShDupSpec *spec, ShDupCall *call)
{
	ShPairsInput *input = call->query.inputs;

	open_indexes(call, fcinfo, spec);
	if (spec->array > 0)
		check_element_type(call, spec);
	call->query.distance = get_nearness(fcinfo, spec, call);
	if (spec->texts)
	{
		call->texts = shdup_query_texts(&call->heaps, call->query.nbands,
										PG_GETARG_ARRAYTYPE_P(spec->array - 1), input);
		if (input->nelements == 0)
			return false;
		input++;
	}
	else if (spec->array > 0)
	{
		shpairs_input_array(input, PG_GETARG_ANY_ARRAY_P(spec->array - 1), spec->wide);
		check_element_width(call, input->width);
		if (input->nelements == 0)
			return false;
		input++;
	}
	for (int side = 0; side < spec->nindexes; side++)
		use_side(call, input + side, side);
	if (spec->array > 0 && !spec->texts)
		return true;
	call->workers = workers_of_call(&call->heaps, call->query.distance);
	call->check = shdup_check_begin(&call->heaps, call->snapshot, &call->nearness, call->same);
	return true;
}

/*
 * Begin a call of a function, whose arguments the spec describes.  Returns false if there is
 * nothing to do; then it has ended.
 *
 * Opens the indexes, or their partitions, with AccessShareLock on them and their tables,
 * and prepares to search, and to look up and check rows for the snapshot of the calling
 * query.
 */
bool
shdup_call_begin(ShDupCall *call, FunctionCallInfo fcinfo, const ShDupSpec *spec)
{
	int			nsides = spec->nindexes + (spec->array > 0);
	bool		any;

	memset(call, 0, sizeof(ShDupCall));
	InitMaterializedSRF(fcinfo, 0);
	for (int i = 0; i < nsides; i++)
	{
		if (PG_ARGISNULL(i))
			return false;
	}
	call->result = (ReturnSetInfo *) fcinfo->resultinfo;
	call->same = get_text(fcinfo, spec->same);
	call->keep = get_text(fcinfo, spec->keep);
	call->query.nsides = nsides;
	call->query.table = SHPAIRS_ALL_TABLES;
	call->query.progress.report = shdup_progress_search;
	any = spec->nindexes > 0 ? use_indexes(fcinfo, spec, call) : use_array(fcinfo, spec, call);
	if (!any)
		shdup_call_end(call);
	return any;
}

/*
 * Find all pairs, and pass them to the sink.
 */
void
shdup_call_search(ShDupCall *call, ShPairsSink *sink)
{
	shpairs_find(&call->query, call->workers, sink);
}

/*
 * Close and free everything, and release pins.  Locks are kept.
 */
void
shdup_call_end(ShDupCall *call)
{
	shdup_progress_end();
	if (call->snapshot == NULL)
		return;
	shdup_check_end(call->check);
	shdup_lookup_end(&call->lookup);
	UnregisterSnapshot(call->snapshot);
	shdup_heaps_close(&call->heaps);
}
