/*-------------------------------------------------------------------------
 *
 * finder.h
 *	  Finding all pairs within a distance, among the fingerprints of one side or
 *	  between those of two.  A side is some indexes, or an array.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_PAIRS_FINDER_H
#define SIMHASH_PAIRS_FINDER_H

#include "pairs/input.h"
#include "pairs/keys.h"

/* in place of a table number: all tables that are needed */
#define SHPAIRS_ALL_TABLES		(-1)

/*
 * What to find.  The caller prepares the inputs, of the same width.
 */
typedef struct ShPairsQuery
{
	int			nsides;			/* 1 or 2 */
	ShPairsInput inputs[2];
	int			distance;
	int			nbands;			/* if inputs are bands: the tables that count */

	/* the wanted scheme and table of it, or NULL and SHPAIRS_ALL_TABLES */
	const ShBitsScheme *scheme;
	int			table;
	ShPairsProgress progress;	/* begins with zeros, but for report */
} ShPairsQuery;

extern void shpairs_check_distance(int distance, int width);
extern void shpairs_find(ShPairsQuery *query, int workers, ShPairsSink *sink);

#endif							/* SIMHASH_PAIRS_FINDER_H */
