/*-------------------------------------------------------------------------
 *
 * fingerprint.c
 *	  The fingerprint of a value of the last column of an index.
 *
 * The values are fingerprints themselves, unless the operator class has a
 * support function that computes them (src/README, section 2).  A value of type
 * simhash_bits is cut into parts of 64 bits, each of which is stored like a
 * fingerprint.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "btree/cache.h"
#include "class/fingerprint.h"
#include "type/wide.h"

/*
 * Are the fingerprints of an index of type simhash_bits?
 */
bool
shcls_is_wide(Relation index)
{
	Oid			function = shcls_fingerprint_function(index);

	if (OidIsValid(function))
		return !get_typbyval(get_func_rettype(function));
	return !TupleDescAttr(RelationGetDescr(index), shcls_fp_column(index))->attbyval;
}

/*
 * The width of the fingerprints of an index, as its operator class or its last
 * column says it; 0 if it does not.
 */
int
shcls_index_width(Relation index)
{
	Oid			function = shcls_fingerprint_function(index);
	Form_pg_attribute column = TupleDescAttr(RelationGetDescr(index), shcls_fp_column(index));

	return OidIsValid(function) ? shtype_function_width(function) :
		shtype_fingerprint_width(column->atttypid, column->atttypmod);
}

/*
 * Check the width of the fingerprints in an index.  The catalogs say the same or
 * nothing: ALTER TABLE can take the width from the type of a column, and the server
 * keeps the index.  Reports ERRCODE_INDEX_CORRUPTED.
 */
static void
check_declared_width(Relation index, int width)
{
	int			declared = shcls_index_width(index);

	if (declared > 0 && declared != width)
		shbt_report_corrupted(index, SHBT_METAPAGE_BLOCK,
							  gettext_noop("index \"%s\" has fingerprints of the wrong width in the metapage, block %u"));
}

/*
 * The width of the fingerprints in an index, from its metapage, checked as above.
 */
int
shcls_stored_width(Relation index)
{
	int			width = shbt_width(index);

	check_declared_width(index, width);
	return width;
}

/*
 * Look up how the values of an index become fingerprints, which have so many
 * bits.
 *
 * Allocates in the current memory context, which must live as long as
 * *fingerprinter.
 */
void
shcls_fingerprinter_begin(ShClsFingerprinter *fingerprinter, Relation index, int width)
{
	int			column = shcls_fp_column(index);

	fingerprinter->width = width;
	fingerprinter->nparts = shbits_nparts(width);
	fingerprinter->index = RelationGetRelationName(index);
	fingerprinter->computes = shcls_computes_fingerprints(index);
	fingerprinter->wide = shcls_is_wide(index);
	fingerprinter->direct = !fingerprinter->computes && !fingerprinter->wide;
	if (!fingerprinter->direct)
		check_declared_width(index, width);
	fingerprinter->home = CurrentMemoryContext;
	fingerprinter->context = NULL;
	if (!fingerprinter->computes)
		return;
	fmgr_info_copy(&fingerprinter->function,
				   index_getprocinfo(index, column + 1, SIMHASH_FINGERPRINT_PROC),
				   CurrentMemoryContext);
	fingerprinter->collation = index->rd_indcollation[column];
}

/*
 * Free what the functions have allocated, if the memory context in which
 * *fingerprinter was made lives on.
 */
void
shcls_fingerprinter_end(ShClsFingerprinter *fingerprinter)
{
	if (fingerprinter->context != NULL)
		MemoryContextDelete(fingerprinter->context);
}

/*
 * Switch to the memory context in which functions of the index run for a row.
 */
static MemoryContext
enter_context(ShClsFingerprinter *fingerprinter)
{
	if (fingerprinter->context == NULL)
		fingerprinter->context = AllocSetContextCreate(fingerprinter->home, "simhash fingerprint",
													   ALLOCSET_DEFAULT_SIZES);
	return MemoryContextSwitchTo(fingerprinter->context);
}

/*
 * Free what they have allocated, and switch back.
 */
static void
leave_context(ShClsFingerprinter *fingerprinter, MemoryContext old)
{
	MemoryContextSwitchTo(old);
	MemoryContextReset(fingerprinter->context);
}

/*
 * The group of a row with these values in the columns of an index.  0 in an
 * index of one column.
 *
 * May run hash functions of types, so no buffer lock may be held.
 */
uint32
shcls_group_of_row(ShClsFingerprinter *fingerprinter, Relation index,
				   const Datum *values, const bool *isnull)
{
	int			columns = shcls_fp_column(index);
	uint64		hashes[INDEX_MAX_KEYS];
	MemoryContext old;

	if (columns == 0)
		return 0;
	old = enter_context(fingerprinter);
	for (int i = 0; i < columns; i++)
		hashes[i] = isnull[i] ? SHCLS_NULL_HASH :
			shcls_hash_value(index, i, index_getprocinfo(index, i + 1, SHCLS_HASH_PROC),
							 values[i]);
	leave_context(fingerprinter, old);
	return shcls_group_of_hashes(hashes, columns);
}

/*
 * Cut a fingerprint into its parts.
 */
static void
split(const ShClsFingerprinter *fingerprinter, Datum fingerprint, ShFingerprint *parts)
{
	bytea	   *bits;

	if (!fingerprinter->wide)
	{
		*parts = DatumGetSimhash(fingerprint);
		return;
	}
	bits = DatumGetSimhashBits(fingerprint);
	if (shtype_bits_width(bits) != fingerprinter->width)
		ereport(ERROR,
				(errcode(ERRCODE_STRING_DATA_LENGTH_MISMATCH),
				 errmsg("index \"%s\" cannot hold a fingerprint of %d bits",
						fingerprinter->index, shtype_bits_width(bits)),
				 errdetail("Its fingerprints have %d bits.", fingerprinter->width)));
	shtype_split_bits(shtype_bits_data(bits), fingerprinter->width, parts);
	if ((Pointer) bits != DatumGetPointer(fingerprint))
		pfree(bits);
}

/*
 * Get the parts of the fingerprint of a value that is not null and not one of 64
 * bits by value, as shcls_fingerprint does.
 *
 * May run the function of the operator class, so no buffer lock may be held.  Raises
 * ERRCODE_STRING_DATA_LENGTH_MISMATCH if the fingerprint has another width than those
 * of the index.
 */
bool
shcls_get_parts(ShClsFingerprinter *fingerprinter, Datum value, ShFingerprint *parts)
{
	LOCAL_FCINFO(fcinfo, 1);
	MemoryContext old;
	Datum		fingerprint;

	if (!fingerprinter->computes)
	{
		split(fingerprinter, value, parts);
		return true;
	}
	old = enter_context(fingerprinter);
	InitFunctionCallInfoData(*fcinfo, &fingerprinter->function, 1, fingerprinter->collation,
							 NULL, NULL);
	fcinfo->args[0].value = value;
	fcinfo->args[0].isnull = false;
	fingerprint = FunctionCallInvoke(fcinfo);
	if (!fcinfo->isnull)
		split(fingerprinter, fingerprint, parts);
	leave_context(fingerprinter, old);
	return !fcinfo->isnull;
}
