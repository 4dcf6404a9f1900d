/*-------------------------------------------------------------------------
 *
 * scheme_sql.c
 *	  SQL functions that show the tables of a scheme.
 *
 * table_no runs from 0 to C(blocks, distance) - 1, as the tables of a
 * ShBitsScheme do.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "funcapi.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"

#include "bits/scheme.h"
#include "inspect/scheme_sql.h"
#include "type/convert.h"
#include "type/simhash.h"

PG_FUNCTION_INFO_V1(simhash_tables);
PG_FUNCTION_INFO_V1(simhash_permute);
PG_FUNCTION_INFO_V1(simhash_unpermute);

/*
 * The table that arguments 1 to 3 of the calling function name: blocks,
 * distance and table_no.  Error if there is none.
 *
 * The scheme is kept for further calls by the same expression, which nearly
 * always name the same one.
 */
static const ShBitsTable *
get_table(FunctionCallInfo fcinfo)
{
	int32		blocks = PG_GETARG_INT32(1);
	int32		distance = PG_GETARG_INT32(2);
	int32		table_no = PG_GETARG_INT32(3);
	ShBitsScheme *scheme = fcinfo->flinfo->fn_extra;

	if (scheme == NULL || scheme->blocks != blocks || scheme->distance != distance)
	{
		ShBitsScheme *previous = scheme;
		MemoryContext old = MemoryContextSwitchTo(fcinfo->flinfo->fn_mcxt);

		scheme = shbits_make_scheme(blocks, distance);
		MemoryContextSwitchTo(old);
		fcinfo->flinfo->fn_extra = scheme;
		if (previous != NULL)
			pfree(previous);
	}

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
text *
shinsp_permutation(const ShBitsScheme *scheme, int table)
{
	StringInfoData buf;

	initStringInfo(&buf);
	for (int i = 0; i < scheme->blocks; i++)
	{
		if (i > 0)
			appendStringInfoChar(&buf, ' ');
		if (i == scheme->blocks - scheme->distance)
			appendStringInfoString(&buf, "| ");
		appendStringInfo(&buf, "%d", scheme->tables[table].order[i]);
	}
	return cstring_to_text_with_len(buf.data, buf.len);
}

Datum
simhash_tables(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	ShBitsScheme *scheme = shbits_make_scheme(PG_GETARG_INT32(0), PG_GETARG_INT32(1));

	InitMaterializedSRF(fcinfo, 0);

	for (int table_no = 0; table_no < scheme->ntables; table_no++)
	{
		const ShBitsTable *table = &scheme->tables[table_no];
		Datum		values[4];
		bool		nulls[4] = {false};

		values[0] = Int32GetDatum(table_no);
		values[1] = PointerGetDatum(shinsp_permutation(scheme, table_no));
		values[2] = Int32GetDatum(table->prefix_bits);
		values[3] = VarBitPGetDatum(shtype_to_bit(table->prefix_mask));
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}

	return (Datum) 0;
}
