/*-------------------------------------------------------------------------
 *
 * validate.c
 *	  Which operator classes, and which columns of an index, are possible?
 *
 * The last column is the fingerprint, or the value of which the operator class
 * computes one.  Those before it are compared for equality.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/amvalidate.h"
#include "access/htup_details.h"
#include "catalog/index.h"
#include "catalog/pg_amop.h"
#include "catalog/pg_amproc.h"
#include "catalog/pg_opclass.h"
#include "catalog/pg_opfamily.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "nodes/execnodes.h"
#include "parser/parse_coerce.h"
#include "utils/builtins.h"
#include "utils/catcache.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/rel.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#include "index/class.h"
#include "index/group.h"
#include "type/simhash.h"
#include "type/wide.h"

/* a family that is being checked, and the requirements for its members */
typedef struct Family
{
	Oid			oid;
	const char *name;
	const char *class;			/* its name */
	bool		valid;			/* so far */
	bool		fingerprints;
	ShIdxKind	kind;			/* of its values, if so */
	bool		hashed;			/* its types need hash functions */
} Family;

/*
 * Note and report, at level INFO, that a family is not valid: what it has, or what it
 * lacks.
 */
static void
report_invalid(Family *family, const char *problem)
{
	family->valid = false;
	ereport(INFO,
			(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
			 errmsg("operator family \"%s\" of access method simhash %s", family->name, problem)));
}

/*
 * The same of the class.
 */
static void
report_class(Family *family, const char *problem)
{
	family->valid = false;
	ereport(INFO,
			(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
			 errmsg("operator class \"%s\" of access method simhash %s", family->class, problem)));
}

/*
 * Is this a family for fingerprints?  Otherwise it is one for columns before
 * the fingerprint, which has equality as its only strategy.
 *
 * Reads the catalogs only.
 */
static bool
is_fingerprint_family(Oid family)
{
	CatCList   *operators = SearchSysCacheList1(AMOPSTRATEGY, ObjectIdGetDatum(family));
	bool		result = false;

	for (int i = 0; i < operators->n_members && !result; i++)
	{
		HeapTuple	member = &operators->members[i]->tuple;

		result = ((Form_pg_amop) GETSTRUCT(member))->amopstrategy != SIMHASH_STRATEGY_EQUAL;
	}
	ReleaseCatCacheList(operators);
	return result;
}

/*
 * Can a function with an argument of one type be called with values of the
 * other?  It can if both have the same representation: the server has no hash
 * function of its own for some types, and hashes a date as an integer.
 */
static bool
accepts_type(Oid argument, Oid type)
{
	if (argument == type || IsBinaryCoercible(type, argument))
		return true;
	if (argument == INTERNALOID)
		return get_typlen(type) == -1;
	return get_typlen(type) > 0 && get_typlen(type) == get_typlen(argument) &&
		get_typbyval(type) == get_typbyval(argument);
}

/*
 * What values of a type on the left side of an operator of a family are.  If some are
 * computed of values, all have to be.
 */
static ShIdxKind
kind_of_left(const Family *family, Oid type)
{
	return family->kind < SHIDX_COMPUTED ? family->kind :
		shidx_kind_in(family->oid, type, NULL) == SHIDX_BANDED ? SHIDX_BANDED : SHIDX_COMPUTED;
}

/*
 * Can the operator of a search compare these types?  In columns before the fingerprint
 * the right side is hashed.
 */
static bool
can_be_compared(const Family *family, Form_pg_amop member)
{
	return !family->fingerprints ||
		shidx_can_search(family->oid, member->amoplefttype, member->amoprighttype,
						 member->amopstrategy);
}

static bool
has_hash(const Family *family, Oid type)
{
	return OidIsValid(get_opfamily_proc(family->oid, type, type, SHIDX_HASH_PROC));
}

/*
 * Check an operator of the family.
 */
static void
validate_operator(Family *family, Form_pg_amop member)
{
	const char *name = format_operator(member->amopopr);
	Oid			result_type = BOOLOID;
	ShIdxMeaning meaning = shidx_meaning(member->amopstrategy,
										 kind_of_left(family, member->amoplefttype), 0);
	ShIdxAsk	ask = meaning.ask;
	int			bands = ask == SHIDX_ASK_BAND ?
		shidx_function_width(shidx_fingerprint_function_in(family->oid, member->amoplefttype)) /
		SHBITS_WIDTH : 0;
	bool		valid_purpose;

	/* there is no order by wide fingerprints, and the planner sorts */
	if (ask == SHIDX_ASK_NOTHING || (!family->fingerprints && ask != SHIDX_ASK_EQUAL) ||
		(family->kind == SHIDX_WIDE && ask == SHIDX_ASK_DISTANCE))
		report_invalid(family, psprintf("contains operator %s with invalid strategy number %d",
										name, member->amopstrategy));
	if (ask == SHIDX_ASK_DISTANCE)
	{
		/* distances are sorted as integers */
		result_type = get_op_rettype(member->amopopr) == INT2OID ? INT2OID : INT4OID;
		valid_purpose = member->amoppurpose == AMOP_ORDER &&
			opfamily_can_sort_type(member->amopsortfamily, result_type);
	}
	else
		valid_purpose = member->amoppurpose == AMOP_SEARCH &&
			!OidIsValid(member->amopsortfamily);
	if (!valid_purpose)
		report_invalid(family, psprintf("contains invalid ORDER BY specification for operator %s", name));
	if (ask == SHIDX_ASK_BAND && meaning.bands > bands)
		report_invalid(family, psprintf("contains operator %s for %d bands, of which its function computes %d",
										name, meaning.bands, bands));
	else if (!check_amop_signature(member->amopopr, result_type,
								   member->amoplefttype, member->amoprighttype) ||
			 !can_be_compared(family, member))
		report_invalid(family, psprintf("contains operator %s with wrong signature", name));
	if (family->hashed && member->amopstrategy == SIMHASH_STRATEGY_EQUAL &&
		(!has_hash(family, member->amoplefttype) || !has_hash(family, member->amoprighttype)))
		report_invalid(family, psprintf("lacks support function for operator %s", name));
}

/*
 * Can a function hash the values of a type?
 */
static bool
is_hash_function(Oid proc, Oid type)
{
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(proc));
	Form_pg_proc function;
	bool		result;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for function %u", proc);
	function = (Form_pg_proc) GETSTRUCT(tuple);
	result = function->prorettype == INT8OID && !function->proretset &&
		function->pronargs == 2 && accepts_type(function->proargtypes.values[0], type) &&
		function->proargtypes.values[1] == INT8OID;
	ReleaseSysCache(tuple);
	return result;
}

/*
 * Check a support function of the family.
 */
static void
validate_function(Family *family, Form_pg_amproc member)
{
	const char *name = format_procedure(member->amproc);
	Oid			type = member->amproclefttype;
	bool		has_signature = true;

	if (member->amprocnum == SHIDX_HASH_PROC)
		has_signature = is_hash_function(member->amproc, type);
	else if (member->amprocnum == SIMHASH_FINGERPRINT_PROC)
		has_signature = shidx_is_fingerprint_function(member->amproc, type, SHIDX_COMPUTED);
	else if (member->amprocnum == SIMHASH_BANDS_PROC)
	{
		has_signature = shidx_is_fingerprint_function(member->amproc, type, SHIDX_BANDED);
		if (shidx_kind_in(family->oid, type, NULL) == SHIDX_COMPUTED)
			report_invalid(family, psprintf("contains support functions %d and %d for type %s",
											SIMHASH_FINGERPRINT_PROC, SIMHASH_BANDS_PROC,
											format_type_be(type)));
	}
	else
		report_invalid(family, psprintf("contains function %s with invalid support number %d",
										name, member->amprocnum));
	if (member->amproclefttype != member->amprocrighttype)
		report_invalid(family, psprintf("contains support function %s with different left and right input types",
										name));
	if (!has_signature)
		report_invalid(family, psprintf("contains function %s with wrong signature for support number %d",
										name, member->amprocnum));
}

/*
 * Check the class itself, of values of a type, apart from the members of its family.
 */
static void
validate_class(Family *family, Oid type)
{
	if (family->kind >= SHIDX_COMPUTED)
	{
		if (!OidIsValid(shidx_fingerprint_function_in(family->oid, type)))
			report_class(family, psprintf("is missing support function %d or %d",
										  SIMHASH_FINGERPRINT_PROC, SIMHASH_BANDS_PROC));
	}
	else if (family->fingerprints)
	{
		if (!shidx_is_64_bits(type) && family->kind != SHIDX_WIDE)
			report_class(family, psprintf("has input type %s, which is not 64 bits by value",
										  format_type_be(type)));
	}
	else if (!OidIsValid(get_opfamily_member(family->oid, type, type, SIMHASH_STRATEGY_EQUAL)))
		report_class(family, "is missing operator(s)");
	else if (!has_hash(family, type))
		report_class(family, psprintf("is missing support function %d", SHIDX_HASH_PROC));
}

/*
 * Does any of the support functions of a family compute fingerprints?
 */
static bool
computes_fingerprints(CatCList *functions)
{
	for (int i = 0; i < functions->n_members; i++)
	{
		HeapTuple	member = &functions->members[i]->tuple;

		if (((Form_pg_amproc) GETSTRUCT(member))->amprocnum >= SIMHASH_FINGERPRINT_PROC)
			return true;
	}
	return false;
}

/*
 * amvalidate: check an operator class
 *
 * There are classes for fingerprints, with any strategies, and classes for
 * columns before the fingerprint, with strategy 1 (equality) and a hash
 * function.  A class for fingerprints that has a hash function can be used for
 * both.  A class with a function that computes fingerprints, or bands, has operators that
 * imply a distance, or a shared band, or that compare with a ball, and nothing else.
 */
bool
shidx_validate(Oid opclass)
{
	HeapTuple	tuple = SearchSysCache1(CLAOID, ObjectIdGetDatum(opclass));
	Form_pg_opclass class;
	CatCList   *operators;
	CatCList   *functions;
	HeapTuple	family_tuple;
	Family		family = {.valid = true};

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for operator class %u", opclass);
	class = (Form_pg_opclass) GETSTRUCT(tuple);
	family_tuple = SearchSysCache1(OPFAMILYOID, ObjectIdGetDatum(class->opcfamily));
	if (!HeapTupleIsValid(family_tuple))
		elog(ERROR, "cache lookup failed for operator family %u", class->opcfamily);
	operators = SearchSysCacheList1(AMOPSTRATEGY, ObjectIdGetDatum(class->opcfamily));
	functions = SearchSysCacheList1(AMPROCNUM, ObjectIdGetDatum(class->opcfamily));

	family.oid = class->opcfamily;
	family.name = NameStr(((Form_pg_opfamily) GETSTRUCT(family_tuple))->opfname);
	family.class = NameStr(class->opcname);
	family.fingerprints = is_fingerprint_family(family.oid);
	family.kind = computes_fingerprints(functions) ? SHIDX_COMPUTED :
		family.fingerprints && shtype_is_bits(class->opcintype) ? SHIDX_WIDE : SHIDX_NARROW;
	family.hashed = !family.fingerprints || (family.kind < SHIDX_COMPUTED && functions->n_members > 0);

	validate_class(&family, class->opcintype);
	for (int i = 0; i < operators->n_members; i++)
		validate_operator(&family, (Form_pg_amop) GETSTRUCT(&operators->members[i]->tuple));
	for (int i = 0; i < functions->n_members; i++)
		validate_function(&family, (Form_pg_amproc) GETSTRUCT(&functions->members[i]->tuple));

	ReleaseCatCacheList(functions);
	ReleaseCatCacheList(operators);
	ReleaseSysCache(family_tuple);
	ReleaseSysCache(tuple);
	return family.valid;
}

static const char *
column_name(Relation index, int column)
{
	return NameStr(TupleDescAttr(RelationGetDescr(index), column)->attname);
}

static Oid
column_type(Relation index, int column)
{
	return getBaseType(TupleDescAttr(RelationGetDescr(index), column)->atttypid);
}

/*
 * A hint for an index whose last column is not a fingerprint: at the fingerprint
 * that another column has, or at what texts and documents need.  Called within
 * ereport, for its effect.
 */
static int
hint_at_fingerprint(Relation index, int last)
{
	Oid			type = column_type(index, last);

	/* a bigint before the last is rather a number */
	for (int i = 0; i < last; i++)
	{
		if (column_type(index, i) == index->rd_opcintype[i] &&
			index->rd_opcintype[i] != INT8OID &&
			is_fingerprint_family(index->rd_opfamily[i]))
			return errhint("Put the fingerprint last.  Columns before it are compared for equality.");
	}
	if (type == BYTEAOID)
		return errhint("To index documents, use the operator class simhash_bytea_ops.  To index fingerprints, cast them to simhash or simhash_bits(256).");
	if (TypeCategory(type) == TYPCATEGORY_STRING)
		return errhint("To index texts, use the operator class simhash_text_ops, with a cast to text if their type is another.  To index fingerprints in hexadecimal digits, cast '0x' || digits to simhash, or digits to simhash_bits(256).");
	return errhint("The last column must be a fingerprint, of type simhash, bigint or simhash_bits, or a text with the operator class simhash_text_ops.  Columns before it are compared for equality.");
}

/*
 * Report an error if the last column of an index cannot be searched, or the rows not be
 * ordered, by an operator of its operator family, which has arguments of these types.
 * Members may have been added to the family since the index was created.
 */
void
shidx_check_operator(Relation index, Oid left, Oid right, int strategy, bool orders)
{
	Oid			family = index->rd_opfamily[shidx_fp_column(index)];
	ShIdxAsk	ask = shidx_meaning(strategy, shidx_kind_in(family, left, NULL), 0).ask;

	if (orders == (ask == SHIDX_ASK_DISTANCE) && shidx_can_search(family, left, right, strategy))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
			 errmsg("index \"%s\" cannot be searched by an operator of strategy %d with arguments of types %s and %s",
					RelationGetRelationName(index), strategy, format_type_be(left),
					format_type_be(right))));
}

/*
 * Report an error if an operator of the class of the last column cannot be used.  Those
 * of the family for other types concern other indexes.
 */
static void
check_operators(Relation index, int last)
{
	CatCList   *operators = SearchSysCacheList1(AMOPSTRATEGY,
												ObjectIdGetDatum(index->rd_opfamily[last]));

	for (int i = 0; i < operators->n_members; i++)
	{
		Form_pg_amop member = (Form_pg_amop) GETSTRUCT(&operators->members[i]->tuple);

		if (member->amoplefttype == index->rd_opcintype[last])
			shidx_check_operator(index, member->amoplefttype, member->amoprighttype,
								 member->amopstrategy, member->amoppurpose == AMOP_ORDER);
	}
	ReleaseCatCacheList(operators);
}

/*
 * Can the fingerprints of the last column be computed by the support function of
 * its operator class?  Reports an error if not.
 */
static void
check_computed(Relation index, int last)
{
	Oid			function = shidx_fingerprint_function(index);
	Oid			type = index->rd_opcintype[last];
	ShIdxKind	kind = shidx_kind(index);

	if (kind == SHIDX_COMPUTED && OidIsValid(index_getprocid(index, last + 1, SIMHASH_BANDS_PROC)))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
				 errmsg("operator class of column \"%s\" of index \"%s\" has support functions %d and %d",
						column_name(index, last), RelationGetRelationName(index),
						SIMHASH_FINGERPRINT_PROC, SIMHASH_BANDS_PROC),
				 errdetail("An index has either fingerprints or bands.")));
	if (!shidx_is_fingerprint_function(function, type, kind))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
				 errmsg("function %s cannot compute the fingerprints of column \"%s\" of index \"%s\"",
						format_procedure(function), column_name(index, last),
						RelationGetRelationName(index)),
				 kind == SHIDX_BANDED ?
				 errdetail("Support function %d must have one argument of type %s, return bands, and be immutable.",
						   SIMHASH_BANDS_PROC, format_type_be(type)) :
				 errdetail("Support function %d must have one argument of type %s, return a fingerprint, and be immutable.",
						   SIMHASH_FINGERPRINT_PROC, format_type_be(type)),
				 kind == SHIDX_BANDED ?
				 errhint("Return a domain that says how many bits they have, 64 for each, such as CREATE DOMAIN bands_16 AS simhash_bits(1024).") :
				 shtype_is_bits(getBaseType(get_func_rettype(function))) ?
				 errhint("To return fingerprints of type simhash_bits, return a domain that says how many bits they have, such as CREATE DOMAIN simhash_256 AS simhash_bits(256).") : 0));
}

/*
 * Report that neither the type of the last column nor anything else says how many bits
 * the fingerprints of an index have.
 */
void
shidx_report_no_width(Relation index)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
			 errmsg("column \"%s\" of index \"%s\" does not say how many bits its fingerprints have",
					column_name(index, shidx_fp_column(index)), RelationGetRelationName(index)),
			 errhint("Use a type with a width, such as simhash_bits(256), for the column of the table, or cast the expression to it.")));
}

/*
 * Can the last column be a fingerprint?  Reports an error if not.
 */
static void
check_last(Relation index, int last)
{
	bool		is_fingerprint = shtype_is_bits(index->rd_opcintype[last]) ||
		shidx_is_64_bits(index->rd_opcintype[last]);

	if (shidx_computes_fingerprints(index))
	{
		check_computed(index, last);
		check_operators(index, last);
		return;
	}
	if (is_fingerprint && is_fingerprint_family(index->rd_opfamily[last]))
	{
		check_operators(index, last);
		return;
	}
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
			 last == 0 ?
			 errmsg("column \"%s\" of index \"%s\" is not a fingerprint",
					column_name(index, last), RelationGetRelationName(index)) :
			 errmsg("last column \"%s\" of index \"%s\" is not a fingerprint",
					column_name(index, last), RelationGetRelationName(index)),
			 is_fingerprint ?
			 errdetail("Its operator class supports only equality.") :
			 errdetail("Its type is %s, which is not 64 bits by value.",
					   format_type_be(TupleDescAttr(RelationGetDescr(index), last)->atttypid)),
			 hint_at_fingerprint(index, last)));
}

/*
 * Can values of a column before the last be hashed?  Reports an error if not.
 */
static void
check_hashed(Relation index, int column)
{
	Oid			type = index->rd_opcintype[column];

	if (OidIsValid(get_opfamily_proc(index->rd_opfamily[column], type, type,
									 SHIDX_HASH_PROC)))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
			 errmsg("operator class of column \"%s\" of index \"%s\" has no hash function",
					column_name(index, column), RelationGetRelationName(index)),
			 errdetail("Columns before the fingerprint are compared by their hashes."),
			 shidx_kind_in(index->rd_opfamily[column], type, NULL) >= SHIDX_COMPUTED ?
			 errhint("Put the fingerprint last.  Columns before it are compared for equality.") :
			 errhint("Use an operator class with support function %d, an extended hash function.",
					 SHIDX_HASH_PROC)));
}

/*
 * Is a column before the last compared as values of its type are elsewhere?  A type that
 * can be converted to another without a function gets the operator class of that, as citext
 * that of text, but its own equality may be another.  Reports an error if it is, and a
 * warning if the index exists: ALTER TABLE keeps it when a column of type text becomes citext.
 * An operator class for the type itself compares as its author wants.
 */
static void
check_equality(Relation index, int column)
{
	Oid			family = index->rd_opfamily[column];
	TypeCacheEntry *type = lookup_type_cache(column_type(index, column),
											 TYPECACHE_EQ_OPR | TYPECACHE_HASH_EXTENDED_PROC);

	/* some types have no equality, and an operator class of somebody's own */
	if (index->rd_opcintype[column] == type->type_id || !OidIsValid(type->eq_opr) ||
		op_in_opfamily(type->eq_opr, family))
		return;
	ereport(ReindexIsProcessingIndex(RelationGetRelid(index)) ? WARNING : ERROR,
			(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
			 errmsg("operator class of column \"%s\" of index \"%s\" has another equality than the type of the column",
					column_name(index, column), RelationGetRelationName(index)),
			 errdetail("Its operator family does not contain operator %s.",
					   format_operator(type->eq_opr)),
			 OidIsValid(type->hash_extended_proc) ?
			 errhint("Create the index after CREATE OPERATOR CLASS ... DEFAULT FOR TYPE %s USING simhash AS OPERATOR 1 =, FUNCTION 1 %s; or on an expression of a type that has one, such as lower(...::text).",
					 format_type_be(type->type_id), format_procedure(type->hash_extended_proc)) :
			 errhint("Create the index on an expression of another type.")));
}

/*
 * Is there a fingerprint before a number?  A number can be a fingerprint, so
 * nothing else shows that the order of the columns is wrong.
 */
static void
check_order(Relation index, int last, Oid fingerprint)
{
	if (column_type(index, last) == fingerprint)
		return;
	for (int i = 0; i < last; i++)
	{
		if (column_type(index, i) == fingerprint)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
					 errmsg("column \"%s\" of index \"%s\" is a fingerprint, but not the last column",
							column_name(index, i), RelationGetRelationName(index)),
					 errdetail("Column \"%s\" would be taken for the fingerprint.",
							   column_name(index, last)),
					 errhint("Put the fingerprint last.  Columns before it are compared for equality.")));
	}
}

/*
 * Report an error if the columns cannot make an index, or if an exclusion
 * constraint compares a column before the last by anything but equality.
 *
 * Reads the catalogs only.
 */
void
shidx_check_columns(Relation index, const struct IndexInfo *info)
{
	int			last = shidx_fp_column(index);

	check_last(index, last);
	for (int i = 0; i < last; i++)
	{
		check_hashed(index, i);
		check_equality(index, i);
		if (info->ii_ExclusionStrats != NULL &&
			info->ii_ExclusionStrats[i] != SIMHASH_STRATEGY_EQUAL)
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("column \"%s\" of exclusion constraint \"%s\" is not compared for equality",
							column_name(index, i), RelationGetRelationName(index)),
					 errhint("Use WITH = for all columns but the last, which is the fingerprint.")));
	}
	if (!shidx_computes_fingerprints(index))
		check_order(index, last, index->rd_opcintype[last]);
}
