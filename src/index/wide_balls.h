/*-------------------------------------------------------------------------
 *
 * wide_balls.h
 *	  Conditions on wide fingerprints, as balls of their parts.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_INDEX_WIDE_BALLS_H
#define SIMHASH_INDEX_WIDE_BALLS_H

#include "access/skey.h"

#include "bits/allot.h"
#include "index/ballset.h"
#include "index/fingerprint.h"
#include "type/wide.h"

/* a condition: the fingerprint lies in one of these balls */
typedef struct ShIdxWideBalls
{
	int			nballs;
	int		   *radii;			/* >= 0 */
	ShFingerprint *centers;		/* the parts of each */
} ShIdxWideBalls;

/* an allotment that may be needed again */
typedef struct ShIdxAllotted
{
	int			radius;			/* -1: there is none yet */
	bool		by_table;
	double		leaves;
	ShBitsAllotment allotment;
} ShIdxAllotted;

typedef struct ShIdxWide
{
	int			width;			/* of the fingerprints, in bits */
	int			nparts;
	int			count;			/* conditions */
	ShIdxWideBalls *list;

	/* what the chosen condition searches for; see shidx_plan_wide */
	const ShIdxWideBalls *chosen;
	ShIdxBallSet *sets;			/* for each part */
	int			searched;		/* how many of these have balls */
} ShIdxWide;

/* the cost of finding everything that lies in some wide balls */
typedef struct ShIdxWidePlan
{
	ShIdxBallsPlan balls;
	double		share;			/* of random fingerprints, how many are met */
} ShIdxWidePlan;

extern ShIdxWide *shidx_make_wide(int width, int max_conditions);
extern bool shidx_add_wide(ShIdxWide *wide, ShIdxFingerprinter *fingerprinter, ScanKey key);
extern void shidx_plan_wide(ShIdxWide *wide, const ShBitsScheme *scheme, bool by_table,
							double leaves_per_table, ShIdxAllotted *allotted);
extern void shidx_plan_chosen(const ShIdxWide *wide, const ShBitsScheme *scheme, bool by_table,
							  double leaves_per_table, ShIdxWidePlan *plan);
extern ShIdxBallSet shidx_rest_of_wide(const ShIdxWide *wide);
extern void shidx_plan_wide_counts(const int *counts, int width, const ShBitsScheme *scheme,
								   bool by_table, double leaves_per_table, ShIdxWidePlan *plan);

#endif							/* SIMHASH_INDEX_WIDE_BALLS_H */
