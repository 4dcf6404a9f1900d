/*-------------------------------------------------------------------------
 *
 * expression_index.c
 *	  Is an expression indexed, or partitioned by?
 *
 * Simplification goes before the planner looks at tables, so this looks at
 * them itself.  It is asked about distances only, which few tables have an
 * index on: for most it reads the list of indexes, and their catalog entries.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_index.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"
#include "utils/partcache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "planner/expression_index.h"

/*
 * Is the expression in the list, but for a relabelling of its type?
 */
static bool
contains_expression(List *list, Node *expr)
{
	ListCell   *lc;

	foreach(lc, list)
	{
		Node	   *item = lfirst(lc);

		while (IsA(item, RelabelType))
			item = (Node *) ((RelabelType *) item)->arg;
		if (equal(item, expr))
			return true;
	}
	return false;
}

static bool
has_expressions(Oid index)
{
	HeapTuple	tuple = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(index));
	bool		result;

	if (!HeapTupleIsValid(tuple))
		return false;
	result = !heap_attisnull(tuple, Anum_pg_index_indexprs, NULL);
	ReleaseSysCache(tuple);
	return result;
}

/*
 * Has the table that the expression is computed from an index on it, or is it
 * partitioned by it?
 *
 * root is the query level that the expression stands in, or NULL.  The table
 * must be locked, as those of a query are while it is planned.
 *
 * The planner passes the level above for the WHERE clause of an EXISTS that it
 * tries to hash, and that of the query for a constraint of a table, so that
 * the table found may be another, or none.  That costs a plan, but no result.
 */
bool
shplan_is_indexed(PlannerInfo *root, Node *expr)
{
	int			varno;
	RangeTblEntry *rte;
	Relation	table;
	List	   *indexes;
	ListCell   *lc;
	bool		result = false;

	if (root == NULL ||
		!bms_get_singleton_member(pull_varnos(root, expr), &varno) ||
		varno > list_length(root->parse->rtable))
		return false;
	rte = rt_fetch(varno, root->parse->rtable);
	if (rte->rtekind != RTE_RELATION)
		return false;

	/* as it is in the relation cache */
	while (IsA(expr, RelabelType))
		expr = (Node *) ((RelabelType *) expr)->arg;
	expr = copyObject(expr);
	if (varno != 1)
		ChangeVarNodes(expr, varno, 1, 0);

	table = table_open(rte->relid, NoLock);
	if (table->rd_rel->relkind == RELKIND_PARTITIONED_TABLE)
		result = contains_expression(RelationGetPartitionKey(table)->partexprs,
									 expr);

	indexes = RelationGetIndexList(table);
	foreach(lc, indexes)
	{
		Relation	index;

		if (result || !has_expressions(lfirst_oid(lc)))
			continue;
		index = index_open(lfirst_oid(lc), AccessShareLock);
		result = contains_expression(RelationGetIndexExpressions(index), expr);
		index_close(index, NoLock);
	}
	list_free(indexes);
	table_close(table, NoLock);
	return result;
}
