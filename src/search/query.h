/*-------------------------------------------------------------------------
 *
 * query.h
 *	  What a scan looks for.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_SEARCH_QUERY_H
#define SIMHASH_SEARCH_QUERY_H

#include "class/fingerprint.h"
#include "search/balls_cost.h"
#include "search/group_keys.h"
#include "type/simhash.h"

/* balls of fingerprints of one part, sorted by center; all centers differ */
typedef struct ShFndBalls
{
	int			count;
	SimhashBall *list;
} ShFndBalls;

/* a condition: the fingerprint lies in one of these balls */
typedef struct ShFndCondition
{
	/*
	 * If fingerprints have several parts, the list has as many elements for
	 * each ball, in no order: the part of the center, and the radius around
	 * the whole.
	 */
	ShFndBalls	balls;
} ShFndCondition;

typedef struct ShFndQuery
{
	Relation	index;
	ShClsFingerprinter fingerprinter;	/* of the arguments of keys */
	int			width;			/* of fingerprints, in bits */
	int			nparts;

	/* what the keys say; see shfnd_read_query */
	MemoryContext context;		/* of what they need */
	ShFndGroups groups;			/* the groups of the wanted rows */
	bool		inexact;		/* some conditions must be rechecked with the
								 * row, whatever is searched for */
	bool		nulls;			/* rows with a null fingerprint are wanted */
	bool		non_nulls;		/* rows whose fingerprint meets all conditions
								 * are wanted */
	int			nconditions;
	ShFndCondition *conditions;

	/* what to search for, to find all that is wanted; see shfnd_choose */
	int			chosen;			/* the condition; -1 if there is none */
	ShFndCost	cost;			/* of finding what meets it, if asked for */
	ShFndBalls *parts;			/* for each part of the fingerprints */
	int64		nsearched;		/* how many balls these are */

	/* kept for the next keys: such a key can be read */
	StrategyNumber checked_strategy;
	Oid			checked_type;
	bool		checked_orders;

	/* and any allotment of a radius is right */
	int			allotted;		/* a radius; -1: none yet */
	double		leaves;			/* of a table, for which it is good */
	ShBitsAllotment allotment;
} ShFndQuery;

extern void shfnd_query_begin(ShFndQuery *query, Relation index);
extern void shfnd_check_key(ShFndQuery *query, ScanKey key);
extern void shfnd_read_query(ShFndQuery *query, ScanKey keys, int nkeys);
extern void shfnd_choose(ShFndQuery *query, const ShBitsScheme *scheme,
						 double leaves_per_table, bool wants_cost);
extern int	shfnd_find_reach(const ShFndQuery *query, ShFingerprint center, bool *all);

#endif							/* SIMHASH_SEARCH_QUERY_H */
