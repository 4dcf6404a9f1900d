/*-------------------------------------------------------------------------
 *
 * conditions.h
 *	  What a scan looks for.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_INDEX_CONDITIONS_H
#define SIMHASH_INDEX_CONDITIONS_H

#include "postgres.h"

#include "access/skey.h"

#include "type/simhash.h"

/* a condition: the fingerprint lies in one of these balls */
typedef struct ShIdxCondition
{
	int			nballs;
	SimhashBall *balls;			/* by centre, which are all different */
	bool		points;			/* all radii are 0 */
} ShIdxCondition;

typedef struct ShIdxConditions
{
	bool		nulls;			/* rows with a null fingerprint are wanted */
	bool		non_nulls;		/* so are those whose fingerprint meets all of
								 * the list */
	int			count;			/* at least 1 if non_nulls */
	ShIdxCondition *list;		/* the one with the smallest balls first */
} ShIdxConditions;

extern void shidx_read_conditions(ShIdxConditions *conditions, ScanKey keys, int nkeys);
extern bool shidx_in_balls(const ShIdxCondition *condition, int nballs, uint64 fp);
extern bool shidx_meets(const ShIdxConditions *conditions, int from, uint64 fp);

#endif							/* SIMHASH_INDEX_CONDITIONS_H */
