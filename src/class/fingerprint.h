/*-------------------------------------------------------------------------
 *
 * fingerprint.h
 *	  The fingerprint of a value of the last column of an index.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_CLASS_FINGERPRINT_H
#define SIMHASH_CLASS_FINGERPRINT_H

#include "access/genam.h"

#include "class/group.h"
#include "type/operator_class.h"
#include "type/simhash.h"

/*
 * How values become fingerprints.  This is looked up once for many values.
 */
typedef struct ShClsFingerprinter
{
	bool		direct;			/* values are fingerprints of 64 bits by value */
	bool		wide;			/* fingerprints are of type simhash_bits */
	int			width;			/* of the fingerprints, in bits */
	int			nparts;			/* of 64 bits each */
	const char *index;			/* its name */

	MemoryContext home;			/* where the fingerprinter was made */
	MemoryContext context;		/* of functions of the index, for one row; or
								 * NULL */

	bool		computes;		/* they are computed of values; otherwise the
								 * rest is not set */
	FmgrInfo	function;
	Oid			collation;
} ShClsFingerprinter;

extern void shcls_fingerprinter_begin(ShClsFingerprinter *fingerprinter, Relation index,
									  int width);
extern uint32 shcls_group_of_row(ShClsFingerprinter *fingerprinter, Relation index,
								 const Datum *values, const bool *isnull);
extern bool shcls_get_parts(ShClsFingerprinter *fingerprinter, Datum value,
							ShFingerprint *parts);
extern void shcls_fingerprinter_end(ShClsFingerprinter *fingerprinter);
extern bool shcls_is_wide(Relation index);
extern int	shcls_index_width(Relation index);
extern int	shcls_stored_width(Relation index);

/*
 * The function that computes the fingerprints of an index; InvalidOid if its
 * values are fingerprints.
 */
static inline Oid
shcls_fingerprint_function(Relation index)
{
	return index_getprocid(index, shcls_fp_column(index) + 1, SIMHASH_FINGERPRINT_PROC);
}

/*
 * Does an index have fingerprints of its values, which have to be rechecked
 * with the row?
 */
static inline bool
shcls_computes_fingerprints(Relation index)
{
	return OidIsValid(shcls_fingerprint_function(index));
}

/*
 * Get the parts of the fingerprint of a value, fingerprinter->nparts <=
 * SHBITS_MAX_PARTS of them.  Returns false if it has no fingerprint.
 */
static inline bool
shcls_fingerprint(ShClsFingerprinter *fingerprinter, Datum value, bool isnull,
				  ShFingerprint *parts)
{
	if (isnull)
		return false;
	if (unlikely(!fingerprinter->direct))
		return shcls_get_parts(fingerprinter, value, parts);
	*parts = DatumGetSimhash(value);
	return true;
}

#endif							/* SIMHASH_CLASS_FINGERPRINT_H */
