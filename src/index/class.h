/*-------------------------------------------------------------------------
 *
 * class.h
 *	  What the operator classes of an index make of its columns: the group of those
 *	  before the fingerprint, and the fingerprint of the last one.
 *
 * What this declares is defined in class.c and validate.c.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_INDEX_CLASS_H
#define SIMHASH_INDEX_CLASS_H

#include "access/genam.h"
#include "fmgr.h"
#include "nodes/execnodes.h"
#include "utils/rel.h"

#include "compat.h"
#include "index/page.h"
#include "type/simhash.h"

/* what the values of the last column are */
typedef enum ShIdxKind
{
	SHIDX_NARROW,				/* fingerprints of 64 bits, by value */
	SHIDX_WIDE,					/* fingerprints of type simhash_bits */
	SHIDX_COMPUTED,				/* that of which fingerprints are computed */
	SHIDX_BANDED				/* that of which bands are computed */
} ShIdxKind;

/* what an operator asks of them */
typedef enum ShIdxAsk
{
	SHIDX_ASK_NOTHING,			/* it cannot be an operator of such values */
	SHIDX_ASK_EQUAL,
	SHIDX_ASK_BALL,				/* to lie in a ball, which has the radius */
	SHIDX_ASK_WITHIN,			/* to differ in at most so many bits */
	SHIDX_ASK_BAND,				/* to share one of the first bands */
	SHIDX_ASK_DISTANCE			/* ORDER BY */
} ShIdxAsk;

#define SHIDX_UNKNOWN_RADIUS	INT_MIN

typedef struct ShIdxMeaning
{
	ShIdxAsk	ask;
	int			radius;			/* or SHIDX_UNKNOWN_RADIUS */
	int			bands;			/* of SHIDX_ASK_BAND */
} ShIdxMeaning;

/* class.c: what the operator class says of fingerprints */
extern bool shidx_is_64_bits(Oid type);
extern ShIdxKind shidx_kind_in(Oid family, Oid type, Oid *function);
extern ShIdxMeaning shidx_meaning(int strategy, ShIdxKind kind, int width);
extern bool shidx_can_search(Oid family, Oid left, Oid right, int strategy);
extern int	shidx_fingerprint_width(Oid type, int32 typmod);
extern int	shidx_function_width(Oid function);
extern bool shidx_is_fingerprint_function(Oid function, Oid type, ShIdxKind kind);
extern Oid	shidx_fingerprint_function_in(Oid family, Oid type);
extern Oid	shidx_near_operator(Oid family, Oid type, ShIdxMeaning *nearness);
extern int	shidx_needed_bands(Oid family, Oid type, bool loose);

/*
 * How values become fingerprints.  This is looked up once for many values.
 */
typedef struct ShIdxFingerprinter
{
	ShIdxKind	kind;			/* of the values */
	bool		wide;			/* fingerprints are of type simhash_bits */
	int			width;			/* of these, in bits; tables may hold the
								 * first bands only */
	const ShIdxGeometry *geometry;
	const char *index;			/* its name */

	MemoryContext home;			/* where the fingerprinter was made */
	MemoryContext context;		/* of functions of the index, for one row; or
								 * NULL */

	/* of SHIDX_COMPUTED and SHIDX_BANDED only */
	FmgrInfo	function;
	Oid			collation;

	/* how many bands are needed, which a function may find as its context */
	struct Node *nbands;
} ShIdxFingerprinter;

/* class.c: the fingerprints of values */
extern void shidx_fingerprinter_begin(ShIdxFingerprinter *fingerprinter, Relation index,
									  const ShIdxGeometry *geometry);
extern uint32 shidx_group_of_row(ShIdxFingerprinter *fingerprinter, Relation index,
								 const Datum *values, const bool *isnull);
extern bool shidx_get_parts(ShIdxFingerprinter *fingerprinter, Datum value,
							ShFingerprint *parts);
extern void shidx_fingerprinter_end(ShIdxFingerprinter *fingerprinter);
extern bool shidx_is_wide(Relation index);
extern int	shidx_index_width(Relation index);
extern int	shidx_stored_width(Relation index);

/*
 * What the values of an index are.
 */
static inline ShIdxKind
shidx_kind(Relation index)
{
	int			column = shidx_fp_column(index);

	return OidIsValid(index_getprocid(index, column + 1, SIMHASH_FINGERPRINT_PROC)) ? SHIDX_COMPUTED :
		OidIsValid(index_getprocid(index, column + 1, SIMHASH_BANDS_PROC)) ? SHIDX_BANDED :
		TupleDescAttr(RelationGetDescr(index), column)->attbyval ? SHIDX_NARROW : SHIDX_WIDE;
}

/*
 * Does an index have fingerprints of its values, which have to be rechecked
 * with the row?
 */
static inline bool
shidx_computes_fingerprints(Relation index)
{
	return shidx_kind(index) >= SHIDX_COMPUTED;
}

/*
 * The number of the support function that computes the fingerprints of values of a kind.
 */
static inline int
shidx_proc_of(ShIdxKind kind)
{
	return kind == SHIDX_BANDED ? SIMHASH_BANDS_PROC : SIMHASH_FINGERPRINT_PROC;
}

/*
 * The function that computes the fingerprints of an index; InvalidOid if its
 * values are fingerprints.
 */
static inline Oid
shidx_fingerprint_function(Relation index)
{
	return index_getprocid(index, shidx_fp_column(index) + 1, shidx_proc_of(shidx_kind(index)));
}

/*
 * Get the parts of the fingerprint of a value, at most SHBITS_MAX_PARTS.  Returns false if it has no fingerprint.
 */
static inline bool
shidx_fingerprint(ShIdxFingerprinter *fingerprinter, Datum value, bool isnull,
				  ShFingerprint *parts)
{
	if (isnull)
		return false;
	if (unlikely(fingerprinter->kind != SHIDX_NARROW))
		return shidx_get_parts(fingerprinter, value, parts);
	*parts = DatumGetSimhash(value);
	return true;
}

/* validate.c: which operator classes, and which columns of an index, are possible? */
extern bool shidx_validate(Oid opclass);
SHCOMPAT_NORETURN extern void shidx_report_no_width(Relation index);
extern void shidx_check_operator(Relation index, Oid left, Oid right, int strategy,
								 bool orders);
extern void shidx_check_columns(Relation index, const struct IndexInfo *info);

#endif							/* SIMHASH_INDEX_CLASS_H */
