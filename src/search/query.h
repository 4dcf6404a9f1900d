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

/* an element of an array, and its fingerprint */
typedef struct ShFndElement
{
	ShFingerprint fp;
	uint32		hash;			/* of the value */
	Datum		value;
} ShFndElement;

/* a condition: the fingerprint lies in one of these balls */
typedef struct ShFndCondition
{
	int			key;			/* the position of its scan key */

	/*
	 * If fingerprints have several parts, balls.balls has as many elements
	 * for each ball, in no order: the part of the center, and the radius
	 * around the whole.
	 */
	ShFndBallSet balls;

	/* a long array of values whose fingerprints are computed; or none */
	int			nelements;
	ShFndElement *elements;		/* sorted by fingerprint; all values differ */
} ShFndCondition;

/* the balls in which a part of the fingerprints is searched */
typedef struct ShFndPart
{
	ShFndBallSet balls;
	bool		table;			/* by reading a table from end to end */
} ShFndPart;

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
								 * row */
	bool		nulls;			/* rows with a null fingerprint are wanted */
	bool		non_nulls;		/* rows whose fingerprint meets all conditions
								 * are wanted */
	bool		has_elements;	/* a condition has */
	int			nconditions;
	ShFndCondition *conditions;

	/* what to search for, to find all that is wanted; see shfnd_choose */
	int			chosen;			/* the condition; -1 if there is none */
	ShFndCost	cost;			/* of finding what meets it, if asked for */
	ShFndPart  *parts;			/* one for each part of the fingerprints */
	int			nsearched;		/* how many of these have balls */

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
extern bool shfnd_meets_others(const ShFndQuery *query, int condition, ShFingerprint fp);
extern int	shfnd_find_reach(const ShFndQuery *query, ShFingerprint center);
extern ShFndBallSet shfnd_balls_of_first_part(const ShFndQuery *query);

#endif							/* SIMHASH_SEARCH_QUERY_H */
