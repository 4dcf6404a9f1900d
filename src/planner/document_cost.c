/*-------------------------------------------------------------------------
 *
 * document_cost.c
 *	  Planner support: what it costs to compare two documents.
 *
 * The time is proportional to their length, which differs a thousandfold from
 * table to table.  The cost that the function is declared with is that of
 * documents of TYPICAL_WIDTH.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/detoast.h"
#include "access/htup_details.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_class.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type_d.h"
#include "fmgr.h"
#include "nodes/nodeFuncs.h"
#include "nodes/pathnodes.h"
#include "nodes/supportnodes.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

PG_FUNCTION_INFO_V1(simhash_similar_support);

/* bytes of a document, and the least that are assumed */
#define TYPICAL_WIDTH	4000.0
#define LEAST_WIDTH		100.0

/*
 * The bytes that the rows of a table have on average in its TOAST table, if a
 * column may be stored there.
 */
static double
toast_width(Oid table, AttrNumber column)
{
	HeapTuple	attribute = SearchSysCache2(ATTNUM, ObjectIdGetDatum(table),
											Int16GetDatum(column));
	HeapTuple	class;
	Oid			toast = InvalidOid;
	double		rows = 0;
	double		width = 0;

	if (!HeapTupleIsValid(attribute))
		return 0;
	class = SearchSysCache1(RELOID, ObjectIdGetDatum(table));
	if (HeapTupleIsValid(class))
	{
		if (((Form_pg_attribute) GETSTRUCT(attribute))->attstorage != TYPSTORAGE_PLAIN)
			toast = ((Form_pg_class) GETSTRUCT(class))->reltoastrelid;
		rows = ((Form_pg_class) GETSTRUCT(class))->reltuples;
		ReleaseSysCache(class);
	}
	ReleaseSysCache(attribute);
	if (!OidIsValid(toast) || rows < 1)
		return 0;
	class = SearchSysCache1(RELOID, ObjectIdGetDatum(toast));
	if (HeapTupleIsValid(class))
	{
		width = (double) ((Form_pg_class) GETSTRUCT(class))->relpages * BLCKSZ / rows;
		ReleaseSysCache(class);
	}
	return width;
}

/*
 * The bytes of an argument; 0 if unknown.
 */
static double
argument_width(PlannerInfo *root, Node *node)
{
	node = strip_implicit_coercions(node);
	if (IsA(node, Const))
	{
		Const	   *constant = (Const *) node;

		return constant->constisnull || constant->constlen != -1 ? 0 :
			toast_raw_datum_size(constant->constvalue);
	}
	if (IsA(node, Var) && root != NULL)
	{
		Var		   *var = (Var *) node;
		RangeTblEntry *rte;

		if (var->varlevelsup > 0 || var->varno >= root->simple_rel_array_size ||
			IS_SPECIAL_VARNO(var->varno) || var->varattno <= 0)
			return 0;
		rte = root->simple_rte_array[var->varno];
		if (rte->rtekind == RTE_RELATION)
			return get_attavgwidth(rte->relid, var->varattno) +
				toast_width(rte->relid, var->varattno);
	}
	return 0;
}

/*
 * Support function of simhash_similar.
 */
Datum
simhash_similar_support(PG_FUNCTION_ARGS)
{
	Node	   *raw_request = (Node *) PG_GETARG_POINTER(0);
	SupportRequestCost *request = (SupportRequestCost *) raw_request;
	List	   *args = NIL;
	ListCell   *lc;
	HeapTuple	tuple;
	double		width = 0;
	int			known = 0;

	if (!IsA(raw_request, SupportRequestCost))
		PG_RETURN_POINTER(NULL);
	if (request->node != NULL && IsA(request->node, OpExpr))
		args = ((OpExpr *) request->node)->args;
	else if (request->node != NULL && IsA(request->node, FuncExpr))
		args = ((FuncExpr *) request->node)->args;
	foreach(lc, args)
	{
		double		of_argument = argument_width(request->root, lfirst(lc));

		width += of_argument;
		known += of_argument > 0;
	}
	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(request->funcid));
	if (known == 0 || !HeapTupleIsValid(tuple))
	{
		if (HeapTupleIsValid(tuple))
			ReleaseSysCache(tuple);
		PG_RETURN_POINTER(NULL);
	}
	request->startup = 0;
	request->per_tuple = ((Form_pg_proc) GETSTRUCT(tuple))->procost * cpu_operator_cost *
		Max(width / known, LEAST_WIDTH) / TYPICAL_WIDTH;
	ReleaseSysCache(tuple);
	PG_RETURN_POINTER(request);
}
