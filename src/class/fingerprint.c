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

#include "btree/page.h"
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
	if (!fingerprinter->computes)
		return;
	if (shcls_index_width(index) != width)
		shbt_report_corrupted(index, SHBT_METAPAGE_BLOCK,
							  gettext_noop("index \"%s\" has fingerprints of the wrong width in the metapage, block %u"));
	fmgr_info_copy(&fingerprinter->function,
				   index_getprocinfo(index, column + 1, SIMHASH_FINGERPRINT_PROC),
				   CurrentMemoryContext);
	fingerprinter->collation = index->rd_indcollation[column];
	fingerprinter->context = AllocSetContextCreate(CurrentMemoryContext,
												   "simhash fingerprint",
												   ALLOCSET_DEFAULT_SIZES);
}

/*
 * Free what the functions have allocated, if the memory context in which
 * *fingerprinter was made lives on.
 */
void
shcls_fingerprinter_end(ShClsFingerprinter *fingerprinter)
{
	if (fingerprinter->computes)
		MemoryContextDelete(fingerprinter->context);
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
	old = MemoryContextSwitchTo(fingerprinter->context);
	InitFunctionCallInfoData(*fcinfo, &fingerprinter->function, 1, fingerprinter->collation,
							 NULL, NULL);
	fcinfo->args[0].value = value;
	fcinfo->args[0].isnull = false;
	fingerprint = FunctionCallInvoke(fcinfo);
	if (!fcinfo->isnull)
		split(fingerprinter, fingerprint, parts);
	MemoryContextSwitchTo(old);
	MemoryContextReset(fingerprinter->context);
	return !fcinfo->isnull;
}
