/*-------------------------------------------------------------------------
 *
 * group_estimate.c
 *	  Estimating how many groups a scan reads.
 *
 * This follows the rules by which group_keys.c finds them at execution time.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"

#include "compat.h"
#include "index/group_estimate.h"
#include "type/simhash.h"

/*
 * How many values of a column meet a condition on it; 0 if unknown.
 */
static double
count_values(PlannerInfo *root, Oid opfamily, Expr *clause)
{
	if (IsA(clause, NullTest))
		return ((NullTest *) clause)->nulltesttype == IS_NULL ? 1 : 0;
	if (IsA(clause, OpExpr))
		return get_op_opfamily_strategy(((OpExpr *) clause)->opno, opfamily) ==
			SIMHASH_STRATEGY_EQUAL ? 1 : 0;
	if (IsA(clause, ScalarArrayOpExpr))
	{
		ScalarArrayOpExpr *array = (ScalarArrayOpExpr *) clause;

		if (get_op_opfamily_strategy(array->opno, opfamily) == SIMHASH_STRATEGY_EQUAL)
			return Max(shcompat_estimate_array_length(root, lsecond(array->args)), 1);
	}
	return 0;
}

/*
 * The conditions of a path on the fingerprint, or those on the columns before
 * it, as a list of RestrictInfos.
 */
static List *
get_quals(const IndexPath *path, bool fingerprint)
{
	int			last = path->indexinfo->nkeycolumns - 1;
	List	   *quals = NIL;
	ListCell   *lc;

	foreach(lc, path->indexclauses)
	{
		IndexClause *clause = lfirst_node(IndexClause, lc);

		if ((clause->indexcol == last) == fingerprint)
			quals = list_concat(quals, clause->indexquals);
	}
	return quals;
}

/*
 * The conditions of a path on the fingerprint, as a list of RestrictInfos.
 */
List *
shidx_fp_quals(const IndexPath *path)
{
	return get_quals(path, true);
}

/*
 * Estimate the groups that the conditions of a path select.
 */
ShIdxGroupEstimate
shidx_estimate_groups(PlannerInfo *root, const IndexPath *path)
{
	const IndexOptInfo *info = path->indexinfo;
	int			columns = info->nkeycolumns - 1;
	ShIdxGroupEstimate groups = {.count = 1,.share = 1};
	double		values[INDEX_MAX_KEYS] = {0};
	ListCell   *lc;
	ListCell   *lc2;

	if (columns == 0)
		return groups;

	foreach(lc, path->indexclauses)
	{
		IndexClause *clause = lfirst_node(IndexClause, lc);
		double	   *column = &values[clause->indexcol];

		if (clause->indexcol == columns)
			continue;
		foreach(lc2, clause->indexquals)
		{
			double		count = count_values(root, info->opfamily[clause->indexcol],
											 lfirst_node(RestrictInfo, lc2)->clause);

			if (count > 0 && (*column == 0 || count < *column))
				*column = count;
		}
	}
	for (int i = 0; i < columns; i++)
	{
		groups.all |= values[i] == 0;
		groups.count *= values[i];
	}
	groups.share = clauselist_selectivity(root, get_quals(path, false), info->rel->relid,
										  JOIN_INNER, NULL);
	return groups;
}
