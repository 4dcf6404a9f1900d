/*-------------------------------------------------------------------------
 *
 * selectivity.c
 *	  Estimating how many fingerprints lie within a radius of another.
 *
 * Fingerprints come in clusters: copies, and versions that differ in few bits.
 * Fingerprints of different clusters are effectively random relative to each
 * other.  So the share of a column's rows within a radius of a center is the
 * sum of
 *
 * - the share of random fingerprints within it: the binomial
 *	 distribution, of 64 bits 2e-15 for radius 3, 1e-3 for 20, 0.55 for 32;
 *
 * - the center's own cluster: as many rows as have the average value, times a
 *	 factor for those that differ in some bits, which grows with the radius.
 *
 * If there are statistics of the column, a constant center is compared with
 * their values, which replaces the model for the share of rows that they stand
 * for.
 *
 * No default percentage is used anywhere.  In a large table it would mean
 * thousands of rows, and the planner would not use an index for a join or a
 * generic plan, where the right number is one or two.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "catalog/pg_amop.h"
#include "catalog/pg_statistic.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "utils/catcache.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"
#include "utils/syscache.h"

#include "bits/distance.h"
#include "bits/probe.h"
#include "index/index.h"
#include "planner/catalog.h"
#include "type/simhash.h"
#include "type/wide.h"

/* distinct fingerprints assumed if not even the size of the table is known */
#define UNKNOWN_NDISTINCT	10000.0

/* the most MCVs of each side that are compared for a join */
#define MAX_JOIN_MCVS		250

/* the width of wide fingerprints if nothing tells it: that of many images */
#define UNKNOWN_WIDTH			256

/* the probability that a fingerprint has a match in an unknown set */
#define UNKNOWN_MATCH			0.5

/* Statistics of a set of fingerprints, such as a column. */
typedef struct ValueStats
{
	VariableStatData vardata;
	double		notnull;		/* share of rows that are not null */
	double		ndistinct;		/* number of values */
	AttStatsSlot mcv;			/* nvalues is 0 if there are none */
	double		mcv_share;		/* share of rows that have one of mcv */
} ValueStats;

/* The two fingerprints of a clause, and the radius. */
typedef struct NearClause
{
	Node	   *fp[2];
	bool		wide;			/* of type simhash_bits */
	int			width;			/* of the fingerprints, in bits */
	int			radius;
	bool		never;			/* some operand is a null constant */
} NearClause;

PG_FUNCTION_INFO_V1(simhash_sel);
PG_FUNCTION_INFO_V1(simhash_joinsel);

/*
 * The number of rows within the radius, relative to those equal to the center.
 *
 * Among a million mixed fingerprints, of which a sixth of the draws made a
 * cluster whose members differ in 0 to 4 bits, a row has on average half
 * another row within 3 bits.  Texts that are copied verbatim have fewer, and
 * texts with many versions have more.  A quarter for each bit of 64 is in
 * between, and never far off.  Members of a cluster hardly differ in more than an
 * eighth of the bits.
 */
static double
near_factor(int radius, int width)
{
	return 1.0 + Min(16.0 * radius / width, 2.0);
}

/*
 * The share of rows within the radius of a center that has a cluster of average size
 * among so many values.
 */
static double
model_share(int radius, int width, double ndistinct)
{
	return Min(1.0, shbits_ball_share(width, radius) + near_factor(radius, width) / ndistinct);
}

/*
 * Get the value of a constant fingerprint; false if it is none.  This also
 * works for a bigint, whose bits are the same.
 */
static bool
get_const_fingerprint(const ShPlanCatalog *catalog, Node *node, ShFingerprint *value)
{
	Const	   *c = (Const *) node;
	Oid			type;

	if (!IsA(node, Const) || c->constisnull)
		return false;
	type = getBaseType(c->consttype);
	if (type != catalog->simhash.type && type != INT8OID)
		return false;
	*value = DatumGetSimhash(c->constvalue);
	return true;
}

static bool
is_null_const(Node *node)
{
	return IsA(node, Const) && ((Const *) node)->constisnull;
}

/*
 * The radius of an operator between two fingerprints, such as % or one of a
 * superuser's, since nobody else may name our estimators: its strategy number in an
 * operator family of the access method says it.  SHIDX_UNKNOWN_RADIUS if none does, or
 * if the width decides.  If the family computes fingerprints, sets the number of their
 * bits.
 */
static int
get_operator_radius(const ShPlanCatalog *catalog, Oid operator, int *width)
{
	CatCList   *members;
	int			radius = SHIDX_UNKNOWN_RADIUS;

	members = SearchSysCacheList1(AMOPOPID, ObjectIdGetDatum(operator));
	for (int i = 0; i < members->n_members && radius == SHIDX_UNKNOWN_RADIUS; i++)
	{
		Form_pg_amop member =
			(Form_pg_amop) GETSTRUCT(&members->members[i]->tuple);
		Oid			function;
		ShIdxKind	kind;
		ShIdxMeaning meaning;

		if (member->amopmethod != catalog->access_method)
			continue;
		kind = shidx_kind_in(member->amopfamily, member->amoplefttype, &function);
		meaning = shidx_meaning(member->amopstrategy, kind, 0);
		if (meaning.ask == SHIDX_ASK_BAND)
		{
			/* a cluster shares bands, and nobody else does, however far */
			*width = shidx_is_64_bits(member->amoplefttype) ? SHBITS_WIDTH : SIMHASH_BITS_MAX_WIDTH;
			radius = shtype_near_radius(*width);
		}
		if (meaning.ask != SHIDX_ASK_WITHIN)
			continue;
		radius = meaning.radius;
		if (kind == SHIDX_COMPUTED)
			*width = shidx_function_width(function);
	}
	ReleaseSysCacheList(members);
	return radius;
}

/*
 * Is a clause about wide fingerprints?
 */
static bool
is_wide(const ShPlanCatalog *catalog, Oid funcid, List *args)
{
	const ShPlanType *bits = &catalog->bits;

	return funcid == bits->within || funcid == bits->in_ball || funcid == bits->ball_contains ||
		getBaseType(exprType(linitial(args))) == bits->type;
}

/*
 * The width of an operand of type simhash_bits, in bits; 0 if nothing tells it.
 */
static int
get_width(const ShPlanCatalog *catalog, Node *node)
{
	int32		typmod = exprTypmod(node);

	if (getBaseTypeAndTypmod(exprType(node), &typmod) != catalog->bits.type)
		return 0;
	if (IsA(node, Const) && !((Const *) node)->constisnull)
		return shtype_bits_width(DatumGetSimhashBits(((Const *) node)->constvalue));
	return Max(typmod, 0);
}

/*
 * Analyze a clause that calls any of our functions.  operator is InvalidOid if
 * it is not written as an operator.
 *
 * The operands are those of the clause, except that a ball is replaced by its
 * center if that is known.
 */
static void
analyze_clause(PlannerInfo *root, const ShPlanCatalog *catalog, Oid operator,
			   Oid funcid, List *args, NearClause *clause)
{
	const ShPlanType *documents = shplan_type_of_documents(catalog, funcid);
	const ShPlanType *type;
	Node	   *radius = NULL;
	int			width = 0;

	clause->wide = documents == NULL && is_wide(catalog, funcid, args);
	type = documents != NULL ? documents : clause->wide ? &catalog->bits : &catalog->simhash;
	clause->fp[0] = linitial(args);
	clause->fp[1] = lsecond(args);
	clause->radius = SHIDX_UNKNOWN_RADIUS;
	clause->never = false;

	if (funcid == type->within && list_length(args) == 3)
		radius = estimate_expression_value(root, lthird(args));
	else if (funcid == type->in_ball || funcid == type->ball_contains)
	{
		int			side = funcid == type->in_ball ? 1 : 0;
		Node	   *ball = estimate_expression_value(root, clause->fp[side]);

		if (is_null_const(ball))
			clause->never = true;
		else if (IsA(ball, Const) && type != &catalog->simhash)
		{
			SimhashBitsBall *value = DatumGetSimhashBitsBall(((Const *) ball)->constvalue);

			clause->radius = Max(value->radius, -1);
			width = shtype_ball_bytes(value) * BITS_PER_BYTE;
		}
		else if (IsA(ball, Const))
		{
			SimhashBall *value =
				DatumGetSimhashBall(((Const *) ball)->constvalue);

			clause->radius = Max(value->radius, -1);
			clause->fp[side] = (Node *)
				makeConst(catalog->simhash.type, -1, InvalidOid,
						  sizeof(ShFingerprint), SimhashGetDatum(value->center),
						  false, true);
		}
		else if (IsA(ball, FuncExpr) &&
				 ((FuncExpr *) ball)->funcid == type->make_ball)
		{
			clause->fp[side] = linitial(((FuncExpr *) ball)->args);
			radius = estimate_expression_value(root, lsecond(((FuncExpr *) ball)->args));
		}
	}
	else if (OidIsValid(operator))
		clause->radius = get_operator_radius(catalog, operator, &width);

	if (radius != NULL)
	{
		if (is_null_const(radius))
			clause->never = true;
		else if (IsA(radius, Const) &&
				 getBaseType(((Const *) radius)->consttype) == INT4OID)
			clause->radius = Max(DatumGetInt32(((Const *) radius)->constvalue), -1);
	}

	/* a cluster shares bands, and nobody else does, however far */
	if (documents != NULL && clause->radius != -1)
	{
		width = SIMHASH_BITS_MAX_WIDTH;
		clause->radius = shtype_near_radius(width);
	}
	for (int i = 0; i < 2 && clause->wide; i++)
		width = Max(width, get_width(catalog, clause->fp[i]));
	if (width == 0)
		width = clause->wide ? UNKNOWN_WIDTH : SHBITS_WIDTH;
	clause->width = width;
	/* then it is taken to be that of % */
	if (clause->radius == SHIDX_UNKNOWN_RADIUS)
		clause->radius = clause->wide ? shtype_near_radius(width) : SIMHASH_NEAR_RADIUS;
	clause->radius = Min(clause->radius, width);
	clause->never |= clause->radius < 0;
}

/*
 * Get values of fingerprints that ANALYZE stored.  On success the caller must
 * call free_attstatsslot.
 */
static bool
get_values(const ShPlanCatalog *catalog, VariableStatData *vardata,
		   Oid funcid, int kind, int flags, AttStatsSlot *slot)
{
	Oid			type;

	if (!HeapTupleIsValid(vardata->statsTuple) ||
		!statistic_proc_security_check(vardata, funcid))
		return false;
	if (!get_attstatsslot(slot, vardata->statsTuple, kind, InvalidOid, flags))
		return false;

	type = getBaseType(slot->valuetype);
	if ((type != catalog->simhash.type && type != INT8OID) ||
		slot->nvalues < 1)
	{
		free_attstatsslot(slot);
		slot->nvalues = 0;
		return false;
	}
	return true;
}

/*
 * Collect what is known about the operand in stats->vardata, which the caller
 * has set.  Release with free_stats.
 */
static void
load_stats(const ShPlanCatalog *catalog, Oid funcid, ValueStats *stats)
{
	VariableStatData *vardata = &stats->vardata;
	bool		isdefault;

	stats->notnull = 1.0;
	stats->mcv.nvalues = 0;
	stats->mcv_share = 0;

	if (HeapTupleIsValid(vardata->statsTuple))
		stats->notnull = 1.0 -
			((Form_pg_statistic) GETSTRUCT(vardata->statsTuple))->stanullfrac;

	if (get_values(catalog, vardata, funcid, STATISTIC_KIND_MCV,
				   ATTSTATSSLOT_VALUES | ATTSTATSSLOT_NUMBERS, &stats->mcv))
	{
		for (int i = 0; i < stats->mcv.nvalues; i++)
			stats->mcv_share += stats->mcv.numbers[i];
	}

	/* without statistics, all values are assumed to be distinct */
	stats->ndistinct = get_variable_numdistinct(vardata, &isdefault);
	if (isdefault)
		stats->ndistinct = vardata->rel ? Max(vardata->rel->tuples, 1.0) : UNKNOWN_NDISTINCT;
}

static void
free_stats(ValueStats *stats)
{
	if (stats->mcv.nvalues > 0)
		free_attstatsslot(&stats->mcv);
	ReleaseVariableStats(stats->vardata);
}

/*
 * The share of a column's rows within the radius of a known center.
 */
static double
known_center_share(const ShPlanCatalog *catalog, Oid funcid,
				   ValueStats *stats, ShFingerprint center, int radius)
{
	double		found = 0;
	double		rest = stats->notnull - stats->mcv_share;
	double		share;
	AttStatsSlot histogram;

	for (int i = 0; i < stats->mcv.nvalues; i++)
	{
		if (shbits_distance(DatumGetSimhash(stats->mcv.values[i]), center) <= radius)
			found += stats->mcv.numbers[i];
	}
	if (rest <= 0)
		return found;
	share = model_share(radius, SHBITS_WIDTH, Max(stats->ndistinct - stats->mcv.nvalues, 1.0));

	/*
	 * The histogram is a sample of the rest.  A single one of its values
	 * within the radius means nothing: people look up fingerprints that they
	 * have, and this may be the very one.  More indicate a dense region that
	 * the model does not know, and hardly any that there is none.
	 */
	if (get_values(catalog, &stats->vardata, funcid,
				   STATISTIC_KIND_HISTOGRAM, ATTSTATSSLOT_VALUES, &histogram))
	{
		int			hits = 0;

		for (int i = 0; i < histogram.nvalues; i++)
			hits += shbits_distance(DatumGetSimhash(histogram.values[i]), center) <= radius;
		share = Max(hits - 1.0, Min(share * histogram.nvalues, 2.0)) / histogram.nvalues;
		free_attstatsslot(&histogram);
	}
	return found + rest * share;
}

/*
 * The share of all pairs of rows, one of each side, that lie within the
 * radius of each other, of fingerprints with so many bits.
 */
static double
pair_share(ValueStats *left, ValueStats *right, int radius, int width)
{
	int			nright = Min(right->mcv.nvalues, MAX_JOIN_MCVS);
	double		rest = left->notnull * right->notnull;
	double		found = 0;

	/* the most common values, with one another */
	for (int i = 0; i < Min(left->mcv.nvalues, MAX_JOIN_MCVS); i++)
	{
		for (int j = 0; j < nright; j++)
		{
			rest -= (double) left->mcv.numbers[i] * right->mcv.numbers[j];
			if (shbits_distance(DatumGetSimhash(left->mcv.values[i]),
								DatumGetSimhash(right->mcv.values[j])) <= radius)
				found += (double) left->mcv.numbers[i] * right->mcv.numbers[j];
		}
	}

	/*
	 * All other pairs.  As for equality, each value of the side with fewer
	 * values is assumed to have its cluster on the other side.
	 */
	return found + Max(rest, 0) *
		model_share(radius, width, Max(left->ndistinct, right->ndistinct));
}

/*
 * The number of rows of the right-hand side of a semijoin or antijoin.
 */
static double
righthand_rows(PlannerInfo *root, SpecialJoinInfo *sjinfo)
{
	Relids		relids = sjinfo->min_righthand;
	int			relid;
	RelOptInfo *rel;

	if (bms_get_singleton_member(relids, &relid))
		rel = find_base_rel(root, relid);
	else
		rel = find_join_rel(root, relids);
	return rel != NULL ? Max(rel->rows, 1.0) : 1.0;
}

/*
 * The selectivity of a clause.  operator is InvalidOid if it calls the function by
 * name.
 *
 * Of one that joins relations, with sjinfo: among all pairs of rows or, for a
 * semijoin or antijoin, among the rows of the left-hand side.  Of any other, which
 * restricts one relation: if varRelid is not 0, the other relations are taken to be
 * known.
 */
Selectivity
shplan_selectivity(PlannerInfo *root, const ShPlanCatalog *catalog, Oid operator, Oid funcid,
				   List *args, int varRelid, JoinType jointype, SpecialJoinInfo *sjinfo)
{
	NearClause	clause;
	ValueStats	stats[2];
	double		result;

	analyze_clause(root, catalog, operator, funcid, args, &clause);
	if (clause.never)
		return 0.0;
	for (int i = 0; i < 2; i++)
	{
		examine_variable(root, clause.fp[i], sjinfo == NULL ? varRelid : 0, &stats[i].vardata);
		load_stats(catalog, funcid, &stats[i]);
	}

	/* two columns of one row are assumed to be independent of each other */
	if (sjinfo != NULL || (stats[0].vardata.rel && stats[1].vardata.rel))
	{
		result = pair_share(&stats[0], &stats[1], clause.radius, clause.width);
		if (sjinfo != NULL && (jointype == JOIN_SEMI || jointype == JOIN_ANTI))
		{
			RelOptInfo *rel = stats[0].vardata.rel;
			int			left = rel && bms_is_subset(rel->relids, sjinfo->min_righthand) ? 1 : 0;

			/*
			 * Assuming that each row has its cluster on the other side gives
			 * a fair estimate of the number of pairs, but not of the number
			 * of rows without any match, which would be zero.
			 */
			result = Min(result * righthand_rows(root, sjinfo),
						 UNKNOWN_MATCH * stats[left].notnull);
		}
	}
	else if (stats[0].vardata.rel || stats[1].vardata.rel)
	{
		int			var = stats[0].vardata.rel ? 0 : 1;
		Node	   *other = estimate_expression_value(root, clause.fp[1 - var]);
		ShFingerprint center;

		if (is_null_const(other))
			result = 0;
		else if (get_const_fingerprint(catalog, other, &center))
			result = known_center_share(catalog, funcid, &stats[var], center,
										clause.radius);
		else
			result = stats[var].notnull *
				model_share(clause.radius, clause.width, stats[var].ndistinct);
	}
	else
	{
		/* no column at all: true for every row, or for none */
		result = 0.5;
	}

	free_stats(&stats[0]);
	free_stats(&stats[1]);

	CLAMP_PROBABILITY(result);
	return result;
}

/*
 * The answer of an estimator of operators: a default if it no longer belongs to the
 * extension.
 */
static float8
estimate(FunctionCallInfo fcinfo, int varRelid, JoinType jointype, SpecialJoinInfo *sjinfo)
{
	PlannerInfo *root = (PlannerInfo *) PG_GETARG_POINTER(0);
	Oid			operator = PG_GETARG_OID(1);
	List	   *args = (List *) PG_GETARG_POINTER(2);
	ShPlanCatalog catalog;

	/* the server asks for each element of an array */
	CHECK_FOR_INTERRUPTS();
	if (list_length(args) != 2 || !shplan_catalog(fcinfo->flinfo->fn_oid, &catalog))
		return DEFAULT_MATCH_SEL;
	return shplan_selectivity(root, &catalog, operator, get_opcode(operator), args, varRelid,
							  jointype, sjinfo);
}

/*
 * Restriction estimator of the operators <@, @> and =~@, and of %, <%>, <<%>> and
 * operators of a superuser for other radii.
 */
Datum
simhash_sel(PG_FUNCTION_ARGS)
{
	PG_RETURN_FLOAT8(estimate(fcinfo, PG_GETARG_INT32(3), JOIN_INNER, NULL));
}

/*
 * Join estimator of the same operators.
 */
Datum
simhash_joinsel(PG_FUNCTION_ARGS)
{
	PG_RETURN_FLOAT8(estimate(fcinfo, 0, (JoinType) PG_GETARG_INT16(3),
							  (SpecialJoinInfo *) PG_GETARG_POINTER(4)));
}
