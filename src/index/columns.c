/*-------------------------------------------------------------------------
 *
 * columns.c
 *	  Checking the columns of an index.
 *
 * The last one is the fingerprint, those before it are compared for equality.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "nodes/execnodes.h"
#include "parser/parse_coerce.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "index/am.h"
#include "index/group.h"
#include "type/simhash.h"

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
 * that another column has, or that of a text, or one in another form.  Called
 * within ereport, for its effect.
 */
static int
hint_at_fingerprint(Relation index, int last)
{
	Oid			type = column_type(index, last);
	const char *name;

	/* a bigint before the last is rather a number */
	for (int i = 0; i < last; i++)
	{
		if (column_type(index, i) == index->rd_opcintype[i] &&
			index->rd_opcintype[i] != INT8OID &&
			shidx_is_fingerprint_family(index->rd_opfamily[i]))
			return errhint("Put the fingerprint last.  Columns before it are compared for equality.");
	}
	if (type != BYTEAOID && TypeCategory(type) != TYPCATEGORY_STRING)
		return errhint("The last column must be a fingerprint, of type simhash or bigint.  Columns before it are compared for equality.");
	if (index->rd_index->indkey.values[last] == 0)
		return errhint("To index texts, index their fingerprints, as simhash_minhash returns them.  To index fingerprints in another form, cast them to simhash.");
	/* the column of the table, which that of the index may not be named like */
	name = quote_identifier(get_attname(index->rd_index->indrelid,
										index->rd_index->indkey.values[last], false));
	if (type == BYTEAOID)
		return errhint("To index documents, index their fingerprints: simhash_minhash(%s).  To index fingerprints of %d bytes: (%s::simhash).",
					   name, SHBITS_WIDTH / BITS_PER_BYTE, name);
	return errhint("To index texts, index their fingerprints: simhash_minhash(%s).  To index fingerprints in hexadecimal digits: (('0x' || %s)::simhash).",
				   name, name);
}

/*
 * Can the last column be a fingerprint?  Reports an error if not.
 */
static void
check_last(Relation index, int last)
{
	bool		is_fingerprint = shidx_is_fingerprint_type(index->rd_opcintype[last]);

	if (is_fingerprint && shidx_is_fingerprint_family(index->rd_opfamily[last]))
		return;
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
			 errhint("Use an operator class with support function %d, an extended hash function.",
					 SHIDX_HASH_PROC)));
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
		if (info->ii_ExclusionStrats != NULL &&
			info->ii_ExclusionStrats[i] != SHIDX_STRATEGY_EQUAL)
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("column \"%s\" of exclusion constraint \"%s\" is not compared for equality",
							column_name(index, i), RelationGetRelationName(index)),
					 errhint("Use WITH = for all columns but the last, which is the fingerprint.")));
	}
	check_order(index, last, index->rd_opcintype[last]);
}
