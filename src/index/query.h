/*-------------------------------------------------------------------------
 *
 * query.h
 *	  What a scan looks for: groups, and conditions, which are lists of balls; and what it
 *	  will read for that.
 *
 * What this declares is defined in plan.c and query.c.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_INDEX_QUERY_H
#define SIMHASH_INDEX_QUERY_H

#include "access/skey.h"
#include "nodes/pg_list.h"
#include "utils/rel.h"

#include "bits/probe.h"
#include "index/class.h"
#include "index/group.h"
#include "index/page.h"
#include "type/simhash.h"

/* balls of one radius, in a list of what a condition has */
typedef struct ShIdxTerm
{
	int			tables;			/* that have the bands; 0 if there are none */
	int			radius;
	double		balls;
} ShIdxTerm;

/* what it takes to find everything that lies in some balls */
typedef struct ShIdxCost
{
	double		balls;			/* read one after the other */
	double		ranges;
	double		pages;
	double		share;			/* fraction of random fingerprints that the
								 * search meets although they may lie in no
								 * ball; 0 if fingerprints have one part */
} ShIdxCost;

/*
 * Balls of fingerprints of one part, sorted by center; all centers differ.  Or a
 * condition: the fingerprint lies in one of the balls.  If fingerprints have several parts,
 * its list has as many elements for each ball, in no order: the part of the center, and the
 * radius around the whole.  Of bands, each has a radius of its own, -1 if it is not compared;
 * if more are compared than have tables, the first one finds all rows.
 */
typedef struct ShIdxBalls
{
	int			count;
	SimhashBall *list;
} ShIdxBalls;

typedef struct ShIdxQuery
{
	Relation	index;
	ShIdxFingerprinter fingerprinter;	/* of the arguments of keys */
	const ShIdxGeometry *geometry;

	/* what the keys say; see shidx_read_query */
	MemoryContext context;		/* of what they need */
	ShIdxGroups groups;			/* the groups of the wanted rows */
	bool		inexact;		/* some conditions must be rechecked with the
								 * row, whatever is searched for */
	bool		nulls;			/* rows with a null fingerprint are wanted */
	bool		non_nulls;		/* rows whose fingerprint meets all conditions
								 * are wanted */
	int			nconditions;
	ShIdxBalls *conditions;

	/* what to search for, to find all that is wanted; see shidx_choose */
	int			chosen;			/* the condition; -1 if there is none */
	ShIdxCost	cost;			/* of finding what meets it, if asked for */
	ShIdxBalls *parts;			/* for each part of the fingerprints */
	int64		nsearched;		/* how many balls these are */

	/* kept for the next keys: any allotment of a radius is right */
	int			allotted;		/* a radius; -1: none yet */
	double		leaves;			/* of a table, for which it is good */
	ShBitsAllotment allotment;
} ShIdxQuery;

/* plan.c: conditions */
extern List *shidx_add_term(List *terms, int tables, int radius, double balls);
extern int	shidx_plan_cheapest(const List *conditions, const ShIdxGeometry *geometry,
								double leaves_per_table, double groups, ShIdxCost *cost);

/* plan.c: orders */
extern bool shidx_plan_by_condition(const ShIdxCost *cost, double leaves_per_table);
extern double shidx_plan_for_rings(double leaves_per_table);
extern int	shidx_plan_radius(double leaves_per_table, int least, double batch);
extern double shidx_plan_charge(const ShBitsProbePlan *plan);
extern bool shidx_plan_is_ring_worth(const ShBitsScheme *scheme, double leaves_per_table, int inner,
									 int radius, int target, double allowance);
extern double shidx_plan_order(const ShBitsScheme *scheme, double leaves_per_table, ShIdxCost *first);

/* plan.c: groups */
extern double shidx_count_groups(Relation index, double leaves);
extern double shidx_plan_groups(Relation index, ShIdxGroups *groups, bool has_condition,
								double table);

/* query.c */
extern void shidx_query_begin(ShIdxQuery *query, Relation index);
extern void shidx_check_key(ShIdxQuery *query, ScanKey key);
extern void shidx_read_query(ShIdxQuery *query, ScanKey keys, int nkeys);
extern void shidx_choose(ShIdxQuery *query, double leaves_per_table, bool wants_cost);
extern int	shidx_find_reach(const ShIdxQuery *query, ShFingerprint center, bool *all);

#endif							/* SIMHASH_INDEX_QUERY_H */
