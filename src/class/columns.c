/*-------------------------------------------------------------------------
 *
 * columns.c
 *	  The columns of an index: are they possible, and what can they do?
 *
 * The last one is the fingerprint, or the value of which the operator class
 * computes one.  Those before it are compared for equality.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_amop.h"
#include "catalog/pg_type_d.h"
#include "nodes/execnodes.h"
#include "parser/parse_coerce.h"
#include "utils/builtins.h"
#include "utils/catcache.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "class/columns.h"
#include "class/fingerprint.h"
#include "class/validate.h"
#include "type/wide.h"

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
 * The operator class for documents of a type, or NULL.
 */
static const char *
class_for_type(Oid type)
{
	if (type == BYTEAOID)
		return "simhash_bytea_ops";
	return IsBinaryCoercible(type, TEXTOID) ? "simhash_text_ops" : NULL;
}

/*
 * A hint for an index whose last column is not a fingerprint: at the fingerprint
 * that another column has, or that of a text, or one in another form.  Called
 * within ereport, for its effect.
 */
static int
hint_at_fingerprint(Relation index, int last)
{
	Oid			type = column_type(index, last);
	const char *name;
	const char *class;

	/* a bigint before the last is rather a number */
	for (int i = 0; i < last; i++)
	{
		if (column_type(index, i) == index->rd_opcintype[i] &&
			index->rd_opcintype[i] != INT8OID &&
			shcls_is_fingerprint_family(index->rd_opfamily[i]))
			return errhint("Put the fingerprint last.  Columns before it are compared for equality.");
	}
	if (type != BYTEAOID && TypeCategory(type) != TYPCATEGORY_STRING)
		return errhint("The last column must be a fingerprint, of type simhash or bigint.  Columns before it are compared for equality.");
	class = class_for_type(type);
	if (index->rd_index->indkey.values[last] == 0)
		return class != NULL ?
			errhint("To index texts or documents, use the operator class %s.  To index fingerprints in another form, cast them to simhash.",
					class) :
			errhint("To index texts, index their fingerprints, as simhash_minhash returns them.  To index fingerprints in another form, cast them to simhash.");
	/* the column of the table, which that of the index may not be named like */
	name = quote_identifier(get_attname(index->rd_index->indrelid,
										index->rd_index->indkey.values[last], false));
	if (type == BYTEAOID)
		return errhint("To index documents, use an operator class for them: (%s %s).  To index fingerprints of %d bytes: (%s::simhash), or (%s::simhash_bits(256)) for 32 bytes.",
					   name, class, SHBITS_WIDTH / BITS_PER_BYTE, name, name);
	return class != NULL ?
		errhint("To index texts, use an operator class for them: (%s %s).  To index fingerprints in hexadecimal digits: (('0x' || %s)::simhash), or (%s::simhash_bits(256)) for 64 digits.",
				name, class, name, name) :
		errhint("To index texts, index their fingerprints: simhash_minhash(%s).  To index fingerprints in hexadecimal digits: (('0x' || %s)::simhash), or (%s::simhash_bits(256)) for 64 digits.",
				name, name, name);
}

/*
 * Can the fingerprints of the last column be computed by the support function of
 * its operator class, and do all operators of the class imply a distance?  Reports
 * an error if not.
 */
static void
check_computed(Relation index, int last)
{
	Oid			function = shcls_fingerprint_function(index);
	Oid			type = index->rd_opcintype[last];
	CatCList   *operators;

	if (!shtype_is_fingerprint_function(function, type))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
				 errmsg("function %s cannot compute the fingerprints of column \"%s\" of index \"%s\"",
						format_procedure(function), column_name(index, last),
						RelationGetRelationName(index)),
				 errdetail("Support function %d must have one argument of type %s, return a fingerprint, and be immutable.",
						   SIMHASH_FINGERPRINT_PROC, format_type_be(type)),
				 shtype_is_bits(getBaseType(get_func_rettype(function))) ?
				 errhint("To return fingerprints of type simhash_bits, return a domain that says how many bits they have, such as CREATE DOMAIN simhash_256 AS simhash_bits(256).") : 0));

	operators = SearchSysCacheList1(AMOPSTRATEGY, ObjectIdGetDatum(index->rd_opfamily[last]));
	for (int i = 0; i < operators->n_members; i++)
	{
		Form_pg_amop member = (Form_pg_amop) GETSTRUCT(&operators->members[i]->tuple);

		if (member->amoplefttype == type &&
			(member->amoprighttype != type || member->amopstrategy < SIMHASH_STRATEGY_WITHIN))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
					 errmsg("operator %s of the operator class of column \"%s\" of index \"%s\" cannot be used with support function %d",
							format_operator(member->amopopr), column_name(index, last),
							RelationGetRelationName(index), SIMHASH_FINGERPRINT_PROC),
					 errdetail("Its operators must have the strategies %d + radius, and two arguments of type %s.",
							   SIMHASH_STRATEGY_WITHIN, format_type_be(type))));
	}
	ReleaseCatCacheList(operators);
}

/*
 * Can the last column be a fingerprint?  Reports an error if not.
 */
static void
check_last(Relation index, int last)
{
	bool		is_bits = shtype_is_bits(index->rd_opcintype[last]);
	bool		is_fingerprint = is_bits || shtype_is_64_bits(index->rd_opcintype[last]);

	if (shcls_computes_fingerprints(index))
	{
		check_computed(index, last);
		return;
	}
	if (is_fingerprint && shcls_is_fingerprint_family(index->rd_opfamily[last]))
	{
		if (is_bits && shcls_index_width(index) == 0)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
					 errmsg("column \"%s\" of index \"%s\" does not say how many bits its fingerprints have",
							column_name(index, last), RelationGetRelationName(index)),
					 errhint("Use a type with a width, such as simhash_bits(256), for the column of the table, or cast the expression to it.")));
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
									 SHCLS_HASH_PROC)))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
			 errmsg("operator class of column \"%s\" of index \"%s\" has no hash function",
					column_name(index, column), RelationGetRelationName(index)),
			 errdetail("Columns before the fingerprint are compared by their hashes."),
			 OidIsValid(index_getprocid(index, column + 1, SIMHASH_FINGERPRINT_PROC)) ?
			 errhint("Put the fingerprint last.  Columns before it are compared for equality.") :
			 errhint("Use an operator class with support function %d, an extended hash function.",
					 SHCLS_HASH_PROC)));
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
 * constraint compares a column before the last by anything but equality.  Returns
 * the width of the fingerprints, in bits.
 *
 * Reads the catalogs only.
 */
int
shcls_check_columns(Relation index, const struct IndexInfo *info)
{
	int			last = shcls_fp_column(index);

	check_last(index, last);
	for (int i = 0; i < last; i++)
	{
		check_hashed(index, i);
		if (info->ii_ExclusionStrats != NULL &&
			info->ii_ExclusionStrats[i] != SIMHASH_STRATEGY_EQUAL)
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("column \"%s\" of exclusion constraint \"%s\" is not compared for equality",
							column_name(index, i), RelationGetRelationName(index)),
					 errhint("Use WITH = for all columns but the last, which is the fingerprint.")));
	}
	if (!shcls_computes_fingerprints(index))
		check_order(index, last, index->rd_opcintype[last]);
	return shcls_index_width(index);
}

/*
 * Is a column the last one of an index, that of the fingerprint?
 */
static bool
is_last_column(Oid index, int attno)
{
	HeapTuple	tuple = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(index));
	bool		result;

	if (!HeapTupleIsValid(tuple))
		return false;
	result = attno == ((Form_pg_index) GETSTRUCT(tuple))->indnkeyatts;
	ReleaseSysCache(tuple);
	return result;
}

/*
 * amproperty: properties of a column
 *
 * The last column supports ordering by distance, if its operator family has
 * the ordering operator.
 */
bool
shcls_property(Oid index_oid, int attno, IndexAMProperty prop,
			   const char *propname, bool *res, bool *isnull)
{
	Oid			opclass;
	Oid			type;

	if (prop != AMPROP_DISTANCE_ORDERABLE || attno == 0)
		return false;

	opclass = get_index_column_opclass(index_oid, attno);
	if (!OidIsValid(opclass))
	{
		*isnull = true;
		return true;
	}
	type = get_opclass_input_type(opclass);
	*res = is_last_column(index_oid, attno) &&
		OidIsValid(get_opfamily_member(get_opclass_family(opclass), type, type,
									   SIMHASH_STRATEGY_DISTANCE));
	return true;
}
