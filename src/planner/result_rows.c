/*-------------------------------------------------------------------------
 *
 * result_rows.c
 *	  Planner support: how many rows the functions over whole indexes and
 *	  arrays return.
 *
 * How many rows are near others depends on the data, so this is no more than
 * the right order of magnitude: a share of the rows that are searched.  If
 * their number is not known, the function's ROWS is used.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "nodes/supportnodes.h"
#include "optimizer/optimizer.h"
#include "utils/selfuncs.h"
#include "utils/syscache.h"

#include "compat.h"

PG_FUNCTION_INFO_V1(simhash_rows_support);

/* rows in the result for each row or element that is searched */
#define RESULT_SHARE			0.25

/* the server's assumption for the length of an unknown array */
#define UNKNOWN_ARRAY_LENGTH	10

/*
 * The rows of an index when they were last counted; 0 if it does not exist or
 * has not been counted.  A partitioned index has those of its partitions.
 */
static double
index_rows(Oid index)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(index));
	double		rows = 0;
	ListCell   *lc;

	if (!HeapTupleIsValid(tuple))
		return 0;
	if (((Form_pg_class) GETSTRUCT(tuple))->relkind == RELKIND_PARTITIONED_INDEX)
	{
		foreach(lc, find_inheritance_children(index, NoLock))
			rows += index_rows(lfirst_oid(lc));
	}
	else
		rows = Max(((Form_pg_class) GETSTRUCT(tuple))->reltuples, 0);
	ReleaseSysCache(tuple);
	return rows;
}

/*
 * The number of rows or elements of an argument that is an index or an array; 0
 * if it is not known.
 *
 * Functions in it are not called: they could fail or take long, and might
 * return something else when the query is executed.
 */
static double
count_searched(PlannerInfo *root, Node *arg)
{
	double		length;

	if (IsA(arg, Param))
		arg = estimate_expression_value(root, arg);
	if (IsA(arg, Const) && ((Const *) arg)->constisnull)
		return 0;
	if (exprType(arg) == REGCLASSOID)
		return IsA(arg, Const) ? index_rows(DatumGetObjectId(((Const *) arg)->constvalue)) : 0;

	length = shcompat_estimate_array_length(root, arg);
	return length == UNKNOWN_ARRAY_LENGTH ? 0 : length;
}

/*
 * Support function of the functions whose first argument is an index or array
 * that is searched, or whose elements are searched for.
 */
Datum
simhash_rows_support(PG_FUNCTION_ARGS)
{
	SupportRequestRows *request = (SupportRequestRows *) PG_GETARG_POINTER(0);
	double		searched;

	if (!IsA(request, SupportRequestRows) || request->root == NULL ||
		request->node == NULL || !IsA(request->node, FuncExpr))
		PG_RETURN_POINTER(NULL);

	searched = count_searched(request->root, linitial(((FuncExpr *) request->node)->args));
	if (searched <= 0)
		PG_RETURN_POINTER(NULL);
	request->rows = searched * RESULT_SHARE;
	PG_RETURN_POINTER(request);
}
