/*-------------------------------------------------------------------------
 *
 * call.c
 *	  What the functions over whole tables have in common: reading arguments, opening
 *	  and closing, the search, and returning rows.
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
#include "access/tupmacs.h"
#include "catalog/dependency.h"
#include "catalog/pg_am.h"
#include "catalog/pg_proc.h"
#include "funcapi.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/snapmgr.h"
#include "utils/tuplestore.h"

#include "dedup/call.h"
#include "dedup/rows.h"
#include "text/similar.h"
#include "type/simhash.h"
#include "type/wide.h"

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
 * Return a row.  Values of columns that are null in all rows are ignored.
 */
void
shdup_result_add(ShDupResult *result, const Datum *values)
{
	char	   *row;

	if (result->tuple == NULL)
	{
		tuplestore_putvalues(result->store, result->desc, (Datum *) values, result->nulls);
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
 * Open the named indexes, prepare to look up rows for the snapshot of the
 * calling query, and report progress as a search of the last of them.
 *
 * With by_columns, only rows whose columns before the fingerprint are equal
 * make pairs.
 *
 * On return, AccessShareLocks are held on indexes and tables.
 */
void
shdup_begin_heaps(ShDupCall *call, ShDupCommand command, const Oid *indexes,
				  int nindexes, bool by_columns)
{
	const ShDupOpened *named = &call->heaps.sides[nindexes - 1].named;

	shdup_heaps_open(&call->heaps, indexes, nindexes);
	call->width = shdup_wide_width(&call->heaps.sides[0]);
	call->heaps.grouped &= by_columns;
	call->snapshot = RegisterSnapshot(GetActiveSnapshot());
	for (int i = 0; i < call->heaps.count; i++)
		shdup_check_snapshot(call->heaps.heaps[i].index, call->snapshot);
	shdup_progress_start(command, RelationGetRelid(named->heap), RelationGetRelid(named->index));
	shdup_begin_rows(&call->rows, &call->heaps, call->snapshot);
}

/*
 * Close and free everything, and release pins.  Locks are kept.
 */
void
shdup_end_heaps(ShDupCall *call)
{
	shdup_progress_end();
	UnregisterSnapshot(call->snapshot);
	shdup_heaps_close(&call->heaps);
}

/*
 * The distance: that argument, which must be in range, or, if it is null, the
 * smallest distance of the named indexes.
 */
int
shdup_get_distance(FunctionCallInfo fcinfo, int arg, const ShDupCall *call)
{
	const ShDupHeaps *heaps = &call->heaps;
	int			distance = INT_MAX;

	if (!PG_ARGISNULL(arg))
	{
		shpairs_check_distance(PG_GETARG_INT32(arg),
							   call->width > 0 ? call->width : SHBITS_WIDTH);
		return PG_GETARG_INT32(arg);
	}
	for (int side = 0; side < heaps->nsides; side++)
		distance = Min(distance, shdup_named_distance(&heaps->sides[side]));
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
 * to simhash_text_ops or simhash_bytea_ops: that of its operator, which then takes a
 * similarity as its third argument, and the one that computes fingerprints?
 */
static bool
has_similarity(const ShDupPartitions *target)
{
	Oid			extension = getExtensionOfObject(AccessMethodRelationId,
												 target->named.index->rd_rel->relam);
	int			radius;
	Oid			operator = shdup_named_operator(target, &radius);

	return OidIsValid(operator) &&
		is_member(extension, get_opcode(operator), "simhash_similar_op") &&
		is_member(extension, shdup_named_fingerprint(target), "simhash_similar_fingerprint");
}

/*
 * Report an error if not.
 */
static void
check_similarity(const ShDupPartitions *target)
{
	int			radius;
	Oid			operator = shdup_named_operator(target, &radius);

	if (has_similarity(target))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("index \"%s\" cannot be searched by a similarity",
					RelationGetRelationName(target->named.index)),
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
check_distance(const ShDupPartitions *target)
{
	int			radius;
	Oid			operator = shdup_named_operator(target, &radius);

	if (!OidIsValid(operator))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("index \"%s\" cannot be searched by a distance",
					RelationGetRelationName(target->named.index)),
			 errdetail("The operator %s of its operator class decides which rows are near-duplicates.",
					   format_operator(operator)),
			 has_similarity(target) ?
			 errhint("Use \"similarity\", such as similarity => 0.6.") : 0));
}

/*
 * The distance of a search of rows: that argument, for an index of fingerprints; of
 * documents, the one that the argument "similarity" or the operator class implies.  Sets
 * call->similarity.
 */
int
shdup_get_nearness(FunctionCallInfo fcinfo, int distance, int similarity, ShDupCall *call)
{
	const ShDupPartitions *target = &call->heaps.sides[0];

	if (!PG_ARGISNULL(similarity))
		check_similarity(target);
	if (!PG_ARGISNULL(distance))
		check_distance(target);
	if (PG_ARGISNULL(similarity))
		return shdup_get_distance(fcinfo, distance, call);
	call->similarity = PG_GETARG_FLOAT8(similarity);
	return shtext_similar_radius(call->similarity);
}

/*
 * A text argument, or NULL.
 */
char *
shdup_get_text(FunctionCallInfo fcinfo, int arg)
{
	return PG_ARGISNULL(arg) ? NULL : text_to_cstring(PG_GETARG_TEXT_PP(arg));
}

/*
 * Begin to check the rows of pairs, by the condition "same" as well unless that is NULL.
 * Returns NULL if fingerprints alone decide.
 */
ShDupRowCheck *
shdup_begin_checks(ShDupCall *call, const char *same)
{
	call->rows.check = shdup_check_begin(&call->heaps, call->snapshot, call->similarity, same);
	return call->rows.check;
}

/*
 * Begin a call of a function.  Returns false if one of its first arguments, of so many,
 * is null, so that there is nothing to do.
 */
bool
shdup_begin(FunctionCallInfo fcinfo, int narguments, ShDupCall *call)
{
	InitMaterializedSRF(fcinfo, 0);
	call->result = (ReturnSetInfo *) fcinfo->resultinfo;
	call->workers = 0;
	call->width = 0;
	call->similarity = 0;
	for (int i = 0; i < narguments; i++)
	{
		if (PG_ARGISNULL(i))
			return false;
	}
	return true;
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
 * Begin a query of so many sides, whose inputs are to be prepared.
 */
void
shdup_begin_query(ShDupCall *call, int nsides, int distance)
{
	memset(&call->query, 0, sizeof(ShPairsQuery));
	call->query.nsides = nsides;
	call->query.distance = distance;
	call->query.table = SHPAIRS_ALL_TABLES;
	call->query.progress.report = shdup_progress_search;
}

/*
 * Let a side be some of the tables.
 */
void
shdup_use_heaps(ShDupCall *call, int side, const ShDupHeaps *heaps)
{
	ShPairsIndexes indexes = {.count = heaps->count,.grouped = heaps->grouped};

	indexes.list = palloc(heaps->count * sizeof(ShPairsIndex));
	for (int i = 0; i < heaps->count; i++)
	{
		const ShDupHeap *heap = &heaps->heaps[i];

		indexes.list[i] = (ShPairsIndex)
		{
			heap->index, heap->first_row, heap->end_row
		};
	}
	shpairs_input_indexes(&call->query.inputs[side], &indexes, call->snapshot, bits(call));
}

/*
 * Begin a call with the arguments (index regclass, distance int), and similarity float8
 * at the given place.  Returns false if the index is null.
 *
 * Opens the index, or its partitions, with AccessShareLock on them and their tables,
 * and prepares to search and to look up rows for the snapshot of the calling query.
 */
bool
shdup_begin_index(FunctionCallInfo fcinfo, ShDupCommand command, int similarity,
				  ShDupCall *call)
{
	Oid			index;

	if (!shdup_begin(fcinfo, 1, call))
		return false;
	index = PG_GETARG_OID(0);
	shdup_begin_heaps(call, command, &index, 1, true);
	shdup_begin_query(call, 1, shdup_get_nearness(fcinfo, 1, similarity, call));
	shdup_use_heaps(call, 0, &call->heaps);
	call->workers = shdup_choose_workers(&call->heaps, call->query.distance);
	return true;
}

/*
 * Find all pairs, and pass them to the sink.
 */
void
shdup_search(ShDupCall *call, ShPairsSink *sink)
{
	shpairs_find(&call->query, call->workers, sink);
}

/*
 * Begin a call with the arguments (fingerprints simhash[], distance int,
 * blocks int) and, for some functions, (table_no int).  Returns false if the
 * array is null.
 */
bool
shdup_begin_array(FunctionCallInfo fcinfo, ShDupCommand command, ShDupCall *call)
{
	int			distance = PG_ARGISNULL(1) ? SIMHASH_NEAR_RADIUS : PG_GETARG_INT32(1);
	bool		has_table = PG_NARGS() > 3 && !PG_ARGISNULL(3);
	ShBitsScheme *scheme = NULL;

	if (!shdup_begin(fcinfo, 1, call))
		return false;

	shpairs_check_distance(distance, SHBITS_WIDTH);
	shdup_begin_query(call, 1, distance);
	if (!PG_ARGISNULL(2))
		scheme = shbits_make_scheme(PG_GETARG_INT32(2), distance);
	else if (has_table)
		scheme = shbits_make_scheme(distance + 1, distance);
	if (has_table)
	{
		call->query.table = PG_GETARG_INT32(3);
		shbits_check_table(scheme, call->query.table);
	}
	call->query.scheme = scheme;
	shdup_progress_start(command, InvalidOid, InvalidOid);
	shpairs_input_array(&call->query.inputs[0], PG_GETARG_ANY_ARRAY_P(0));
	return true;
}

/*
 * Begin a call with the arguments (fingerprints simhash_bits[], distance int).
 * Returns false if the array is null, or has no values, which have no width.
 */
bool
shdup_begin_wide_array(FunctionCallInfo fcinfo, ShDupCommand command, ShDupCall *call)
{
	if (!shdup_begin(fcinfo, 1, call))
		return false;
	shdup_begin_query(call, 1, 0);
	shpairs_input_wide_array(&call->query.inputs[0], PG_GETARG_ARRAYTYPE_P(0));
	call->width = call->query.inputs[0].width;
	if (call->width == 0)
		return false;
	call->query.distance = PG_ARGISNULL(1) ? shtype_near_radius(call->width) : PG_GETARG_INT32(1);
	shpairs_check_distance(call->query.distance, call->width);
	shdup_progress_start(command, InvalidOid, InvalidOid);
	return true;
}

void
shdup_end_array(ShDupCall *call)
{
	shdup_progress_end();
}
