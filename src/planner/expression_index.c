/*-------------------------------------------------------------------------
 *
 * expression_index.c
 *	  Checking whether an expression is indexed, or is a partition key.
 *
 * Expressions are simplified before the planner reads the catalogs for the
 * tables, so this does it itself.  It is used for distances only, on which few
 * tables have an index.  For most tables it reads just the list of indexes and
 * their catalog entries.
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
 * Is the expression in the list, ignoring RelabelType nodes?
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
 * Does the table of the expression have an index on it, or is it partitioned
 * by it?
 *
 * root is the query level of the expression, or NULL.  The table must be
 * locked, as the tables of a query are during planning.
 *
 * For the WHERE clause of an EXISTS that the planner tries to hash, it passes
 * the level above, and for a table constraint, the level of the query.  So the
 * table found may be another one, or none.  That may lead to a worse plan, but
 * not to a wrong result.
 *
 * To read the expressions of an index is to fold their constants, so functions
 * of the table's owner run with the privileges of whoever plans.  The planner
 * does that itself with each valid index of a table in a query, and so do we,
 * but not with others.
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

	/* as in the relation cache */
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
		result = index->rd_index->indisvalid &&
			contains_expression(RelationGetIndexExpressions(index), expr);
		index_close(index, NoLock);
	}
	list_free(indexes);
	table_close(table, NoLock);
	return result;
}
