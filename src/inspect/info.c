/*-------------------------------------------------------------------------
 *
 * info.c
 *	  SQL functions that show the tables of a scheme, and those of an index.
 *
 * table_no runs from 0 to C(blocks, distance) - 1, like the tables of a
 * ShBitsScheme.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "funcapi.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"

#include "bits/scheme.h"
#include "dedup/open.h"
#include "index/index.h"
#include "type/simhash.h"

PG_FUNCTION_INFO_V1(simhash_index_info);
PG_FUNCTION_INFO_V1(simhash_tables);
PG_FUNCTION_INFO_V1(simhash_permute);
PG_FUNCTION_INFO_V1(simhash_unpermute);
PG_FUNCTION_INFO_V1(simhash_blocks);
PG_FUNCTION_INFO_V1(simhash_first_table);

/*
 * Make a scheme, and keep it in *kept for further calls of the same
 * expression, which nearly always have the same arguments.  Reports an error
 * if it cannot be used.
 */
static void
keep_scheme(FmgrInfo *flinfo, ShBitsScheme **kept, int blocks, int distance)
{
	ShBitsScheme *scheme = *kept;

	if (scheme == NULL || scheme->blocks != blocks || scheme->distance != distance)
	{
		ShBitsScheme *previous = scheme;
		MemoryContext old = MemoryContextSwitchTo(flinfo->fn_mcxt);

		scheme = shbits_make_scheme(SHBITS_WIDTH, blocks, distance);
		MemoryContextSwitchTo(old);
		*kept = scheme;
		if (previous != NULL)
			pfree(previous);
	}
}

/*
 * The scheme given by an argument of the calling function and the next one:
 * blocks and distance.
 */
static const ShBitsScheme *
get_scheme(FunctionCallInfo fcinfo, int arg)
{
	ShBitsScheme *scheme = fcinfo->flinfo->fn_extra;

	keep_scheme(fcinfo->flinfo, &scheme, PG_GETARG_INT32(arg), PG_GETARG_INT32(arg + 1));
	fcinfo->flinfo->fn_extra = scheme;
	return scheme;
}

/*
 * The table given by arguments 1 to 3 of the calling function: blocks,
 * distance and table_no.  Reports an error if there is none.
 */
static const ShBitsTable *
get_table(FunctionCallInfo fcinfo)
{
	const ShBitsScheme *scheme = get_scheme(fcinfo, 1);
	int32		table_no = PG_GETARG_INT32(3);

	shbits_check_table(scheme, table_no);
	return &scheme->tables[table_no];
}

Datum
simhash_permute(PG_FUNCTION_ARGS)
{
	PG_RETURN_SIMHASH(shbits_permute(get_table(fcinfo), PG_GETARG_SIMHASH(0)));
}

Datum
simhash_unpermute(PG_FUNCTION_ARGS)
{
	PG_RETURN_SIMHASH(shbits_unpermute(get_table(fcinfo), PG_GETARG_SIMHASH(0)));
}

/*
 * The numbers of the blocks in the order of a table, most significant first,
 * with a bar between prefix and rest.
 */
static text *
permutation(const ShBitsScheme *scheme, const ShBitsTable *table)
{
	StringInfoData buf;

	initStringInfo(&buf);
	for (int i = 0; i < scheme->blocks; i++)
	{
		if (i > 0)
			appendStringInfoChar(&buf, ' ');
		if (i == scheme->blocks - scheme->distance)
			appendStringInfoString(&buf, "| ");
		appendStringInfo(&buf, "%d", table->order[i]);
	}
	return cstring_to_text_with_len(buf.data, buf.len);
}

Datum
simhash_tables(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	ShBitsScheme *scheme = shbits_make_scheme(SHBITS_WIDTH, PG_GETARG_INT32(0),
											  PG_GETARG_INT32(1));

	InitMaterializedSRF(fcinfo, 0);

	for (int table_no = 0; table_no < scheme->ntables; table_no++)
	{
		const ShBitsTable *table = &scheme->tables[table_no];
		Datum		values[4];
		bool		nulls[4] = {false};

		values[0] = Int32GetDatum(table_no);
		values[1] = PointerGetDatum(permutation(scheme, table));
		values[2] = Int32GetDatum(table->prefix_bits);
		values[3] = DirectFunctionCall2(bitfromint8, UInt64GetDatum(table->prefix_mask),
										Int32GetDatum(SHBITS_WIDTH));
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}

	return (Datum) 0;
}

/*
 * State of a call of simhash_blocks in an expression.  What is needed to make
 * rows is kept from one fingerprint to the next, so this is not in the
 * FuncCallContext, which is new for each.
 */
typedef struct BlocksCall
{
	TupleDesc	desc;
	ShBitsScheme *scheme;
	int			next;			/* table; 0 if no fingerprint is in progress */
} BlocksCall;

/* callback: the remaining rows are not wanted */
static void
stop_blocks(Datum arg)
{
	((BlocksCall *) DatumGetPointer(arg))->next = 0;
}

static BlocksCall *
make_blocks_call(FunctionCallInfo fcinfo)
{
	MemoryContext old = MemoryContextSwitchTo(fcinfo->flinfo->fn_mcxt);
	BlocksCall *call = palloc0(sizeof(BlocksCall));

	if (get_call_result_type(fcinfo, NULL, &call->desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	call->desc = BlessTupleDesc(call->desc);
	MemoryContextSwitchTo(old);
	return call;
}

/*
 * simhash_blocks(fp simhash, blocks int, distance int) -> the prefix that each
 * table of the scheme gives the fingerprint.
 *
 * A prefix is a number >= 0, except for the single table of a scheme for
 * distance 0, whose prefix is the whole fingerprint: there the first of 64
 * bits is the sign.
 */
Datum
simhash_blocks(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	BlocksCall *call = fcinfo->flinfo->fn_extra;
	const ShBitsTable *table;
	Datum		values[2];
	bool		nulls[2] = {false};

	if (rsinfo == NULL || !IsA(rsinfo, ReturnSetInfo) ||
		!(rsinfo->allowedModes & SFRM_ValuePerCall))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("set-valued function called in context that cannot accept a set")));

	if (call == NULL)
		fcinfo->flinfo->fn_extra = call = make_blocks_call(fcinfo);
	keep_scheme(fcinfo->flinfo, &call->scheme, PG_GETARG_INT32(1), PG_GETARG_INT32(2));
	if (call->next == 0)
		RegisterExprContextCallback(rsinfo->econtext, stop_blocks, PointerGetDatum(call));
	else if (call->next == call->scheme->ntables)
	{
		call->next = 0;
		UnregisterExprContextCallback(rsinfo->econtext, stop_blocks, PointerGetDatum(call));
		rsinfo->isDone = ExprEndResult;
		PG_RETURN_NULL();
	}

	table = &call->scheme->tables[call->next];
	values[0] = Int32GetDatum(call->next++);
	values[1] = Int64GetDatum((int64) (shbits_permute(table, PG_GETARG_SIMHASH(0)) >>
									   (SHBITS_WIDTH - table->prefix_bits)));
	rsinfo->isDone = ExprMultipleResult;
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(call->desc, values, nulls)));
}

/*
 * simhash_first_table(a simhash, b simhash, blocks int, distance int) -> the
 * first table of the scheme in which both have the same prefix, or null.
 */
Datum
simhash_first_table(PG_FUNCTION_ARGS)
{
	const ShBitsScheme *scheme = get_scheme(fcinfo, 2);
	uint64		difference = PG_GETARG_SIMHASH(0) ^ PG_GETARG_SIMHASH(1);

	for (int table_no = 0; table_no < scheme->ntables; table_no++)
	{
		if ((difference & scheme->tables[table_no].prefix_mask) == 0)
			PG_RETURN_INT32(table_no);
	}
	PG_RETURN_NULL();
}

#define INFO_COLUMNS	9

/*
 * simhash_index_info(index regclass) -> a row for each table, and one for the
 * null fingerprints.  Reads every page; needs SELECT on the table.
 */
Datum
simhash_index_info(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	ShDupOpened target;
	Relation	index;
	const ShIdxGeometry *geometry;

	InitMaterializedSRF(fcinfo, 0);
	shdup_open(PG_GETARG_OID(0), SHDUP_ACCESS_TABLE, &target);
	index = target.index;

	/* read the index itself, not what this backend remembers */
	shidx_forget_cache(index);
	geometry = shidx_get_geometry(index);
	shidx_report_pending_options(index, geometry);

	for (int tree = 0; tree <= geometry->ntrees; tree++)
	{
		bool		is_null_tree = tree == geometry->ntrees;
		const ShBitsTable *table = shidx_table_of_tree(geometry, tree);
		int			levels = 0;
		int64		inner_pages = 0;
		int64		leaf_pages = 0;
		int64		entries = 0;
		int64		room = 0;	/* for entries, on the leaves as they are */
		ShIdxWalk	walk;
		Datum		values[INFO_COLUMNS] = {0};
		bool		nulls[INFO_COLUMNS] = {0};

		/* up to the level whose single page is the root */
		for (bool at_root = false; !at_root; levels++)
		{
			shidx_walk_start(&walk, index, tree, levels);
			while (shidx_walk_next(&walk))
			{
				at_root = shidx_page_is_root((Page) walk.page.data);
				if (levels == 0)
				{
					leaf_pages++;
					entries += shidx_page_count((Page) walk.page.data);
					room += shidx_page_capacity((Page) walk.page.data);
				}
				else
					inner_pages++;
			}
		}

		nulls[0] = nulls[1] = nulls[2] = is_null_tree;
		if (!is_null_tree && geometry->prefix_bits > 0)
		{
			values[0] = Int32GetDatum(tree);
			nulls[1] = true;	/* there are no blocks */
			values[2] = Int32GetDatum(geometry->prefix_bits);
		}
		else if (!is_null_tree)
		{
			values[0] = Int32GetDatum(tree);
			values[1] = PointerGetDatum(permutation(geometry->scheme, table));
			values[2] = Int32GetDatum(table->prefix_bits);
		}
		values[3] = Int64GetDatum(walk.block);
		values[4] = Int32GetDatum(levels);
		values[5] = Int64GetDatum(inner_pages);
		values[6] = Int64GetDatum(leaf_pages);
		values[7] = Int64GetDatum(entries);
		values[8] = Float8GetDatum((double) entries / room);
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	}

	shdup_close(&target);
	return (Datum) 0;
}
