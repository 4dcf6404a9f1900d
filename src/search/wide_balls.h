/*-------------------------------------------------------------------------
 *
 * wide_balls.h
 *	  Conditions on wide fingerprints, as balls of their parts.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_SEARCH_WIDE_BALLS_H
#define SIMHASH_SEARCH_WIDE_BALLS_H

#include "access/skey.h"

#include "bits/probe.h"
#include "class/fingerprint.h"
#include "search/ballset.h"
#include "type/wide.h"

/* a condition: the fingerprint lies in one of these balls */
typedef struct ShFndWideBalls
{
	int			nballs;
	int		   *radii;			/* >= 0 */
	ShFingerprint *centers;		/* the parts of each */
} ShFndWideBalls;

/* an allotment that may be needed again */
typedef struct ShFndAllotted
{
	int			radius;			/* -1: there is none yet */
	bool		by_table;
	double		leaves;
	ShBitsAllotment allotment;
} ShFndAllotted;

typedef struct ShFndWide
{
	int			width;			/* of the fingerprints, in bits */
	int			nparts;
	int			count;			/* conditions */
	ShFndWideBalls *list;

	/* what the chosen condition searches for; see shfnd_plan_wide */
	const ShFndWideBalls *chosen;
	ShFndBallSet *sets;			/* for each part */
	int			searched;		/* how many of these have balls */
} ShFndWide;

/* the cost of finding everything that lies in some wide balls */
typedef struct ShFndWidePlan
{
	ShFndBallsPlan balls;
	double		share;			/* of random fingerprints, how many are met */
} ShFndWidePlan;

extern ShFndWide *shfnd_make_wide(int width, int max_conditions);
extern bool shfnd_add_wide(ShFndWide *wide, ShClsFingerprinter *fingerprinter, ScanKey key);
extern void shfnd_plan_wide(ShFndWide *wide, const ShBitsScheme *scheme, bool by_table,
							double leaves_per_table, ShFndAllotted *allotted);
extern void shfnd_plan_chosen(const ShFndWide *wide, const ShBitsScheme *scheme, bool by_table,
							  double leaves_per_table, ShFndWidePlan *plan);
extern ShFndBallSet shfnd_rest_of_wide(const ShFndWide *wide);
extern void shfnd_plan_wide_counts(const int *counts, int width, const ShBitsScheme *scheme,
								   bool by_table, double leaves_per_table, ShFndWidePlan *plan);

#endif							/* SIMHASH_SEARCH_WIDE_BALLS_H */
