/*-------------------------------------------------------------------------
 *
 * conditions.h
 *	  What a scan looks for.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_SEARCH_CONDITIONS_H
#define SIMHASH_SEARCH_CONDITIONS_H

#include "access/skey.h"

#include "class/fingerprint.h"
#include "search/ballset.h"
#include "search/group_keys.h"
#include "search/wide_balls.h"

/* an element of an array, and its fingerprint */
typedef struct ShFndElement
{
	ShFingerprint fp;
	uint32		hash;			/* of the value */
	Datum		value;
} ShFndElement;

/* the elements of an array whose fingerprints are computed */
typedef struct ShFndElements
{
	ShFndBallSet balls;			/* around their fingerprints, with one radius */
	int			count;			/* 0 if the key has no such array, or a short one */
	ShFndElement *list;			/* sorted by fingerprint; all values differ */
} ShFndElements;

typedef struct ShFndConditions
{
	ShFndGroups groups;			/* the groups of the wanted rows */
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
	ShFndBallSet *list;
	ShFndWide  *wide;			/* conditions on wide fingerprints; NULL if
								 * there are none, and the list is used */
	ShFndBallsPlan plan;		/* of the first one; see shfnd_plan_conditions */

	ShFndElements *elements;	/* for each scan key; NULL if none has any */
} ShFndConditions;

extern void shfnd_read_conditions(ShFndConditions *conditions, Relation index,
								  ShClsFingerprinter *fingerprinter,
								  ScanKey keys, int nkeys);
extern void shfnd_plan_conditions(ShFndConditions *conditions, const ShBitsScheme *scheme,
								  double leaves_per_table);
extern bool shfnd_meets(const ShFndConditions *conditions, int from, ShFingerprint fp);

#endif							/* SIMHASH_SEARCH_CONDITIONS_H */
