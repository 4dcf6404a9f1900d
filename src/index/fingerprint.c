/*-------------------------------------------------------------------------
 *
 * fingerprint.c
 *	  The fingerprint of a value of the last column of an index.
 *
 * The values are fingerprints themselves, unless the operator class has a
 * support function that computes them.  Then the index finds candidates: the
 * operator of strategy 4 + r may be true only if the fingerprints differ in at
 * most r bits, and is evaluated with the row.  A value without a fingerprint is
 * stored like a null, and no operator may be true for it.
 *
 * A value of type simhash_bits is cut into parts of 64 bits.  If two values differ
 * in at most r bits and the parts get integers c >= 0 whose sum is r + 1, then some
 * part differs in at most c - 1 bits; otherwise r + 1 bits would differ in all.  So
 * each part is stored and searched like a fingerprint of 64 bits.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_proc.h"
#include "parser/parse_coerce.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

#include "index/fingerprint.h"
#include "type/wide.h"

/*
 * Look up how the values of an index become fingerprints, which have so many
 * bits.
 *
 * Allocates in the current memory context, which must live as long as
 * *fingerprinter.
 */
void
shidx_fingerprinter_begin(ShIdxFingerprinter *fingerprinter, Relation index, int width)
{
	int			column = shidx_fp_column(index);

	fingerprinter->width = width;
	fingerprinter->nparts = shbits_nparts(width);
	fingerprinter->index = RelationGetRelationName(index);
	fingerprinter->computes = shidx_computes_fingerprints(index);
	fingerprinter->wide = shidx_is_wide(index);
	fingerprinter->direct = !fingerprinter->computes && !fingerprinter->wide;
	if (!fingerprinter->computes)
		return;
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
shidx_fingerprinter_end(ShIdxFingerprinter *fingerprinter)
{
	if (fingerprinter->computes)
		MemoryContextDelete(fingerprinter->context);
}

/*
 * Compute the fingerprint of a value that is not null.  Returns false if it has
 * none.
 *
 * Runs the function of the operator class, so no buffer lock may be held.
 */
bool
shidx_compute_fingerprint(ShIdxFingerprinter *fingerprinter, Datum value, ShFingerprint *fp)
{
	LOCAL_FCINFO(fcinfo, 1);
	MemoryContext old = MemoryContextSwitchTo(fingerprinter->context);

	InitFunctionCallInfoData(*fcinfo, &fingerprinter->function, 1, fingerprinter->collation,
							 NULL, NULL);
	fcinfo->args[0].value = value;
	fcinfo->args[0].isnull = false;
	*fp = DatumGetSimhash(FunctionCallInvoke(fcinfo));
	MemoryContextSwitchTo(old);
	MemoryContextReset(fingerprinter->context);
	return !fcinfo->isnull;
}

/*
 * Get the parts of the fingerprint of a value that is not one of 64 bits by value,
 * as shidx_fingerprint does.
 *
 * Raises ERRCODE_STRING_DATA_LENGTH_MISMATCH if it has another width than the
 * index.
 */
bool
shidx_get_parts(ShIdxFingerprinter *fingerprinter, Datum value, ShFingerprint *parts)
{
	bytea	   *bits;

	if (fingerprinter->computes)
		return shidx_compute_fingerprint(fingerprinter, value, parts);

	bits = DatumGetSimhashBits(value);
	if (shtype_bits_width(bits) != fingerprinter->width)
		ereport(ERROR,
				(errcode(ERRCODE_STRING_DATA_LENGTH_MISMATCH),
				 errmsg("index \"%s\" cannot hold a fingerprint of %d bits",
						fingerprinter->index, shtype_bits_width(bits)),
				 errdetail("Its fingerprints have %d bits.", fingerprinter->width)));
	shtype_split_bits(shtype_bits_data(bits), fingerprinter->width, parts);
	if ((Pointer) bits != DatumGetPointer(value))
		pfree(bits);
	return true;
}

/*
 * Can a function compute the fingerprints of the values of a type?
 */
bool
shidx_is_fingerprint_function(Oid function, Oid type)
{
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	Form_pg_proc form;
	Oid			argument;
	bool		result;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for function %u", function);
	form = (Form_pg_proc) GETSTRUCT(tuple);
	argument = form->pronargs == 1 ? form->proargtypes.values[0] : InvalidOid;
	result = form->prokind == PROKIND_FUNCTION && !form->proretset &&
		shidx_is_fingerprint_type(form->prorettype) &&
		(argument == type || IsBinaryCoercible(type, argument)) &&
		form->provolatile == PROVOLATILE_IMMUTABLE;
	ReleaseSysCache(tuple);
	return result;
}
