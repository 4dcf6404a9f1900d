/*-------------------------------------------------------------------------
 *
 * conditions.h
 *	  What a scan looks for.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_INDEX_CONDITIONS_H
#define SIMHASH_INDEX_CONDITIONS_H

#include "access/skey.h"

#include "index/ballset.h"
#include "index/fingerprint.h"
#include "index/group_keys.h"
#include "index/wide_balls.h"

/* an element of an array, and its fingerprint */
typedef struct ShIdxElement
{
	ShFingerprint fp;
	uint32		hash;			/* of the value */
	Datum		value;
} ShIdxElement;

/* the elements of an array whose fingerprints are computed */
typedef struct ShIdxElements
{
	ShIdxBallSet balls;			/* around their fingerprints, with one radius */
	int			count;			/* 0 if the key has no such array, or a short one */
	ShIdxElement *list;			/* sorted by fingerprint; all values differ */
} ShIdxElements;

typedef struct ShIdxConditions
{
	ShIdxGroups groups;			/* the groups of the wanted rows */
	bool		inexact;		/* some conditions must be rechecked with the
								 * row */
	bool		nulls;			/* rows with a null fingerprint are wanted */
	bool		non_nulls;		/* rows whose fingerprint meets all conditions
								 * below are wanted */

	/*
	 * a condition: the fingerprint lies in one of these balls; the first one
	 * drives the scan
	 */
	int			count;			/* at least 1 if non_nulls, unless the reader
								 * is told what to read */
	ShIdxBallSet *list;
	ShIdxWide  *wide;			/* conditions on wide fingerprints; NULL if
								 * there are none, and the list is used */
	ShIdxBallsPlan plan;		/* of the first one; see shidx_plan_conditions */

	ShIdxElements *elements;	/* for each scan key; NULL if none has any */
} ShIdxConditions;

extern void shidx_read_conditions(ShIdxConditions *conditions, Relation index,
								  ShIdxFingerprinter *fingerprinter,
								  ScanKey keys, int nkeys);
extern void shidx_plan_conditions(ShIdxConditions *conditions, const ShBitsScheme *scheme,
								  double leaves_per_table);
extern bool shidx_meets(const ShIdxConditions *conditions, int from, ShFingerprint fp);

#endif							/* SIMHASH_INDEX_CONDITIONS_H */
