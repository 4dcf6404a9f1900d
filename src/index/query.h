/*-------------------------------------------------------------------------
 *
 * query.h
 *	  What a scan looks for: groups, and conditions, which are lists of balls.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_INDEX_QUERY_H
#define SIMHASH_INDEX_QUERY_H

#include "access/skey.h"
#include "utils/rel.h"

#include "bits/probe.h"
#include "index/class.h"
#include "index/group.h"
#include "index/plan.h"
#include "type/simhash.h"

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

/* query.c */
extern void shidx_query_begin(ShIdxQuery *query, Relation index);
extern void shidx_check_key(ShIdxQuery *query, ScanKey key);
extern void shidx_read_query(ShIdxQuery *query, ScanKey keys, int nkeys);
extern void shidx_choose(ShIdxQuery *query, double leaves_per_table, bool wants_cost);
extern int	shidx_find_reach(const ShIdxQuery *query, ShFingerprint center, bool *all);

#endif							/* SIMHASH_INDEX_QUERY_H */
