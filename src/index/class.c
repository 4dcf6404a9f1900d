/*-------------------------------------------------------------------------
 *
 * class.c
 *	  What the operator class of an index says of fingerprints, and the fingerprints
 *	  of values.
 *
 * The values of the last column are fingerprints, unless the operator class has a
 * support function that computes fingerprints of them (src/README.md, section 2).  A
 * fingerprint of type simhash_bits is cut into parts of at most 64 bits, each of which is
 * stored like a fingerprint of its own.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/dependency.h"
#include "catalog/indexing.h"
#include "catalog/pg_amop.h"
#include "catalog/pg_depend.h"
#include "catalog/pg_opclass.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "nodes/value.h"
#include "parser/parse_coerce.h"
#include "utils/catcache.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

#include "index/cache.h"
#include "index/class.h"
#include "index/group.h"
#include "type/simhash.h"
#include "type/wide.h"

/* of simhash_io.c, ball.c and wide_io.c */
extern Datum simhash_in(PG_FUNCTION_ARGS);
extern Datum simhash_ball_in(PG_FUNCTION_ARGS);
extern Datum simhash_bits_ball_in(PG_FUNCTION_ARGS);

/*
 * What values of a type are in an operator family.  Sets *function, if that is asked for,
 * to the one that computes their fingerprints or bands, or to InvalidOid.
 */
ShIdxKind
shidx_kind_in(Oid family, Oid type, Oid *function)
{
	ShIdxKind	kind = SHIDX_COMPUTED;
	Oid			proc = get_opfamily_proc(family, type, type, SIMHASH_FINGERPRINT_PROC);

	if (!OidIsValid(proc))
	{
		proc = get_opfamily_proc(family, type, type, SIMHASH_BANDS_PROC);
		kind = OidIsValid(proc) ? SHIDX_BANDED : get_typbyval(type) ? SHIDX_NARROW : SHIDX_WIDE;
	}
	if (function != NULL)
		*function = proc;
	return kind;
}

/*
 * What an operator of a strategy asks of values of a kind, whose fingerprints have so
 * many bits; 0 if that is not known.  All code goes by this, whatever it wants to know.
 */
ShIdxMeaning
shidx_meaning(int strategy, ShIdxKind kind, int width)
{
	ShIdxMeaning meaning = {SHIDX_ASK_NOTHING, SHIDX_UNKNOWN_RADIUS};

	if (strategy == SIMHASH_STRATEGY_BALL)
		meaning.ask = SHIDX_ASK_BALL;
	else if (kind == SHIDX_BANDED)
	{
		meaning.bands = strategy / SIMHASH_STRATEGY_BAND;
		meaning.radius = strategy % SIMHASH_STRATEGY_BAND;
		if (meaning.bands >= 1 && meaning.radius <= SHBITS_BAND_OTHER_BITS)
			meaning.ask = SHIDX_ASK_BAND;
	}
	else if (strategy == SIMHASH_STRATEGY_EIGHTH && kind == SHIDX_WIDE)
	{
		meaning.ask = SHIDX_ASK_WITHIN;
		if (width > 0)
			meaning.radius = shtype_near_radius(width);
	}
	else if (strategy >= SIMHASH_STRATEGY_WITHIN)
	{
		meaning.ask = SHIDX_ASK_WITHIN;
		meaning.radius = strategy - SIMHASH_STRATEGY_WITHIN;
	}
	else if (strategy == SIMHASH_STRATEGY_DISTANCE && kind != SHIDX_COMPUTED)
		meaning.ask = SHIDX_ASK_DISTANCE;
	else if (strategy == SIMHASH_STRATEGY_EQUAL && kind != SHIDX_COMPUTED)
	{
		meaning.ask = SHIDX_ASK_EQUAL;
		meaning.radius = 0;
	}
	return meaning;
}

/*
 * Can values of a type be fingerprints of 64 bits, which are by value?
 */
bool
shidx_is_64_bits(Oid type)
{
	return get_typlen(type) == sizeof(uint64) && get_typbyval(type);
}

/*
 * Is the equality of a type that of its bits?  Fingerprints of a type such as float8,
 * where -0 equals 0, are found by distances only.
 */
static bool
is_equal_by_bits(Oid type)
{
	return type == INT8OID || shtype_has_input(type, sizeof(uint64), simhash_in);
}

/*
 * Can an index of values of the left type search for what is on the right side of an
 * operator of a strategy?  The values are fingerprints, unless there is a function that
 * computes those of values on both sides.  The index reads the right side as a ball, as
 * a fingerprint of the same type, or, if it is compared with a bigint, as a shorter
 * integer.
 *
 * A bigint and a simhash are the same to an index.
 */
bool
shidx_can_search(Oid family, Oid left, Oid right, int strategy)
{
	Oid			function;
	ShIdxKind	kind = shidx_kind_in(family, left, &function);
	ShIdxMeaning meaning = shidx_meaning(strategy, kind, 0);
	ShIdxAsk	ask = meaning.ask;
	bool		wide;

	if (kind >= SHIDX_COMPUTED)
	{
		if (ask == SHIDX_ASK_BAND)
			return left == right && meaning.bands * SHBITS_WIDTH <= shidx_function_width(function);
		if (ask != SHIDX_ASK_BALL)
			return left == right && ask == SHIDX_ASK_WITHIN;
		left = getBaseType(get_func_rettype(function));
	}
	wide = shtype_is_bits(left);
	if (!wide && !shidx_is_64_bits(left))
		return false;
	if (ask == SHIDX_ASK_BALL)
		return wide ? shtype_has_input(right, -1, simhash_bits_ball_in) :
			shtype_has_input(right, sizeof(SimhashBall), simhash_ball_in);
	if (wide || !is_equal_by_bits(left))
		return left == right && (wide || ask != SHIDX_ASK_EQUAL);
	return is_equal_by_bits(right) ||
		(ask == SHIDX_ASK_EQUAL && (right == INT4OID || right == INT2OID));
}

/*
 * The number of bits of fingerprints of a type: 64 of one that has 64 bits by value,
 * n of simhash_bits(n), also as a domain.  0 if the type does not say it, or has no
 * fingerprints.
 */
int
shidx_fingerprint_width(Oid type, int32 typmod)
{
	type = getBaseTypeAndTypmod(type, &typmod);
	if (shidx_is_64_bits(type))
		return SHBITS_WIDTH;
	return shtype_is_bits(type) ? Max(typmod, 0) : 0;
}

/*
 * The same of those that a function returns.  What it returns has no type modifier,
 * so wide ones need a domain.
 */
int
shidx_function_width(Oid function)
{
	return shidx_fingerprint_width(get_func_rettype(function), -1);
}

/*
 * Can a function compute the fingerprints of the values of a type, or their bands?
 */
bool
shidx_is_fingerprint_function(Oid function, Oid type, ShIdxKind kind)
{
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	Form_pg_proc form;
	Oid			argument;
	int			width;
	bool		result;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for function %u", function);
	form = (Form_pg_proc) GETSTRUCT(tuple);
	width = shidx_fingerprint_width(form->prorettype, -1);
	argument = form->pronargs == 1 ? form->proargtypes.values[0] : InvalidOid;
	result = form->prokind == PROKIND_FUNCTION && !form->proretset &&
		width > 0 && (kind != SHIDX_BANDED || (width % SHBITS_WIDTH == 0 &&
											   shtype_is_bits(getBaseType(form->prorettype)))) &&
		(argument == type || IsBinaryCoercible(type, argument)) &&
		form->provolatile == PROVOLATILE_IMMUTABLE;
	ReleaseSysCache(tuple);
	return result;
}

/*
 * The function that computes the fingerprint of a value of a type; InvalidOid
 * if values are fingerprints.
 */
Oid
shidx_fingerprint_function_in(Oid family, Oid type)
{
	Oid			function;

	shidx_kind_in(family, type, &function);
	return function;
}

/*
 * The operator of an operator family that computes fingerprints or bands of the values of a
 * type that compares two of these, and what it asks: of several operators the one with the
 * least strategy.  InvalidOid if there is none.
 */
Oid
shidx_near_operator(Oid family, Oid type, ShIdxMeaning *nearness)
{
	Oid			function;
	ShIdxKind	kind = shidx_kind_in(family, type, &function);
	CatCList   *operators = SearchSysCacheList1(AMOPSTRATEGY, ObjectIdGetDatum(family));
	int			least = INT_MAX;
	Oid			result = InvalidOid;

	for (int i = 0; i < operators->n_members; i++)
	{
		Form_pg_amop member = (Form_pg_amop) GETSTRUCT(&operators->members[i]->tuple);
		ShIdxMeaning meaning = shidx_meaning(member->amopstrategy, kind, 0);

		if (member->amoplefttype == type && member->amoprighttype == type &&
			(meaning.ask == SHIDX_ASK_WITHIN || meaning.ask == SHIDX_ASK_BAND) &&
			member->amopstrategy < least)
		{
			least = member->amopstrategy;
			*nearness = meaning;
			result = member->amopopr;
		}
	}
	ReleaseCatCacheList(operators);
	if (OidIsValid(result) && kind == SHIDX_COMPUTED)
		nearness->radius = Min(nearness->radius, shidx_function_width(function));
	return result;
}

/*
 * Has an operator been added to a family by itself, and not in an operator class?
 */
static bool
is_loose(Oid member)
{
	Relation	depend = table_open(DependRelationId, AccessShareLock);
	ScanKeyData keys[2];
	SysScanDesc scan;
	HeapTuple	tuple;
	bool		loose = true;

	ScanKeyInit(&keys[0], Anum_pg_depend_classid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(AccessMethodOperatorRelationId));
	ScanKeyInit(&keys[1], Anum_pg_depend_objid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(member));
	scan = systable_beginscan(depend, DependDependerIndexId, true, NULL, 2, keys);
	while (loose && HeapTupleIsValid(tuple = systable_getnext(scan)))
		loose = ((Form_pg_depend) GETSTRUCT(tuple))->refclassid != OperatorClassRelationId;
	systable_endscan(scan);
	table_close(depend, AccessShareLock);
	return loose;
}

/*
 * How many bands the operators of a family compare of values of a type: those that
 * belong to an operator class, or all.  0 if none names a number.
 */
int
shidx_needed_bands(Oid family, Oid type, bool loose)
{
	CatCList   *operators = SearchSysCacheList1(AMOPSTRATEGY, ObjectIdGetDatum(family));
	int			most = 0;

	for (int i = 0; i < operators->n_members; i++)
	{
		Form_pg_amop member = (Form_pg_amop) GETSTRUCT(&operators->members[i]->tuple);
		ShIdxMeaning meaning = shidx_meaning(member->amopstrategy, SHIDX_BANDED, 0);

		if (member->amoplefttype == type && meaning.ask == SHIDX_ASK_BAND && meaning.bands > most &&
			(loose || !is_loose(member->oid)))
			most = meaning.bands;
	}
	ReleaseCatCacheList(operators);
	return most;
}

/*
 * Are the fingerprints of an index of type simhash_bits?
 */
bool
shidx_is_wide(Relation index)
{
	Oid			function = shidx_fingerprint_function(index);

	if (OidIsValid(function))
		return !get_typbyval(get_func_rettype(function));
	return !TupleDescAttr(RelationGetDescr(index), shidx_fp_column(index))->attbyval;
}

/*
 * The width of the fingerprints of an index, as its operator class or its last
 * column says it; 0 if it does not.
 */
int
shidx_index_width(Relation index)
{
	Oid			function = shidx_fingerprint_function(index);
	Form_pg_attribute column = TupleDescAttr(RelationGetDescr(index), shidx_fp_column(index));

	return OidIsValid(function) ? shidx_function_width(function) :
		shidx_fingerprint_width(column->atttypid, column->atttypmod);
}

/*
 * Check the width of the fingerprints in an index.  The catalogs say the same or
 * nothing: ALTER TABLE can take the width from the type of a column, and the server
 * keeps the index.  Reports ERRCODE_INDEX_CORRUPTED.
 */
static void
check_declared_width(Relation index, int width)
{
	int			declared = shidx_index_width(index);

	if (shidx_kind(index) == SHIDX_BANDED ? declared < width : declared > 0 && declared != width)
		shidx_report_corrupted(index, SHIDX_METAPAGE_BLOCK,
							   gettext_noop("index \"%s\" has fingerprints of the wrong width in the metapage, block %u"));
}

/*
 * The width of the fingerprints in an index, from its metapage, checked as above.
 */
int
shidx_stored_width(Relation index)
{
	int			width = shidx_get_cache(index)->geometry.width;

	check_declared_width(index, width);
	return width;
}

/*
 * Look up how the values of an index become fingerprints.
 *
 * Allocates in the current memory context, which must live as long as
 * *fingerprinter, and so must *geometry.
 */
void
shidx_fingerprinter_begin(ShIdxFingerprinter *fingerprinter, Relation index,
						  const ShIdxGeometry *geometry)
{
	int			column = shidx_fp_column(index);

	fingerprinter->geometry = geometry;
	fingerprinter->index = RelationGetRelationName(index);
	fingerprinter->wide = shidx_is_wide(index);
	fingerprinter->kind = shidx_kind(index);
	fingerprinter->width = fingerprinter->kind == SHIDX_BANDED ? shidx_index_width(index) :
		geometry->width;
	if (fingerprinter->kind != SHIDX_NARROW)
		check_declared_width(index, geometry->width);
	fingerprinter->home = CurrentMemoryContext;
	fingerprinter->context = NULL;
	if (fingerprinter->kind < SHIDX_COMPUTED)
		return;
	fmgr_info_copy(&fingerprinter->function,
				   index_getprocinfo(index, column + 1, shidx_proc_of(fingerprinter->kind)),
				   CurrentMemoryContext);
	fingerprinter->collation = index->rd_indcollation[column];
	fingerprinter->nbands = fingerprinter->kind == SHIDX_BANDED ?
		(Node *) makeInteger(geometry->nparts) : NULL;
}

/*
 * Free what the functions have allocated, if the memory context in which
 * *fingerprinter was made lives on.
 */
void
shidx_fingerprinter_end(ShIdxFingerprinter *fingerprinter)
{
	if (fingerprinter->context != NULL)
		MemoryContextDelete(fingerprinter->context);
}

/*
 * Switch to the memory context in which functions of the index run for a row.
 */
static MemoryContext
enter_context(ShIdxFingerprinter *fingerprinter)
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
leave_context(ShIdxFingerprinter *fingerprinter, MemoryContext old)
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
shidx_group_of_row(ShIdxFingerprinter *fingerprinter, Relation index,
				   const Datum *values, const bool *isnull)
{
	int			columns = shidx_fp_column(index);
	uint64		hashes[INDEX_MAX_KEYS];
	MemoryContext old;

	if (columns == 0)
		return 0;
	old = enter_context(fingerprinter);
	for (int i = 0; i < columns; i++)
		hashes[i] = isnull[i] ? SHIDX_NULL_HASH :
			shidx_hash_value(index, i, index_getprocinfo(index, i + 1, SHIDX_HASH_PROC),
							 values[i]);
	leave_context(fingerprinter, old);
	return shidx_group_of_hashes(hashes, columns);
}

/*
 * Cut a fingerprint into its parts, of which tables may have the first ones only.
 */
static void
split(const ShIdxFingerprinter *fingerprinter, Datum fingerprint, ShFingerprint *parts)
{
	int			width = fingerprinter->width;
	bytea	   *bits;

	if (!fingerprinter->wide)
	{
		*parts = DatumGetSimhash(fingerprint);
		return;
	}
	bits = DatumGetSimhashBits(fingerprint);
	if (shtype_bits_width(bits) != width)
		ereport(ERROR,
				(errcode(ERRCODE_STRING_DATA_LENGTH_MISMATCH),
				 errmsg("index \"%s\" cannot hold a fingerprint of %d bits",
						fingerprinter->index, shtype_bits_width(bits)),
				 errdetail("Its fingerprints have %d bits.", width)));
	if (fingerprinter->kind == SHIDX_BANDED)
		shtype_check_bands(shtype_bits_data(bits), width / BITS_PER_BYTE, width / SHBITS_WIDTH);
	shtype_split_bits(shtype_bits_data(bits), fingerprinter->geometry->width, parts);
	if ((Pointer) bits != DatumGetPointer(fingerprint))
		pfree(bits);
}

/*
 * Get the parts of the fingerprint of a value that is not null and not one of 64
 * bits by value, as shidx_fingerprint does.
 *
 * May run the function of the operator class, so no buffer lock may be held.  Raises
 * ERRCODE_STRING_DATA_LENGTH_MISMATCH if the fingerprint has another width than those
 * of the index.
 */
bool
shidx_get_parts(ShIdxFingerprinter *fingerprinter, Datum value, ShFingerprint *parts)
{
	LOCAL_FCINFO(fcinfo, 1);
	MemoryContext old;
	Datum		fingerprint;

	if (fingerprinter->kind == SHIDX_WIDE)
	{
		split(fingerprinter, value, parts);
		return true;
	}
	old = enter_context(fingerprinter);
	InitFunctionCallInfoData(*fcinfo, &fingerprinter->function, 1, fingerprinter->collation,
							 fingerprinter->nbands, NULL);
	fcinfo->args[0].value = value;
	fcinfo->args[0].isnull = false;
	fingerprint = FunctionCallInvoke(fcinfo);
	if (!fcinfo->isnull)
		split(fingerprinter, fingerprint, parts);
	leave_context(fingerprinter, old);
	return !fcinfo->isnull;
}
