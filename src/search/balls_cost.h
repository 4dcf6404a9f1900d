/*-------------------------------------------------------------------------
 *
 * balls_cost.h
 *	  What it takes to find everything that lies in some balls.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_SEARCH_BALLS_COST_H
#define SIMHASH_SEARCH_BALLS_COST_H

#include "bits/probe.h"

typedef struct ShFndCost
{
	double		balls;			/* read one after the other */
	double		ranges;
	double		pages;
	double		share;			/* of random fingerprints, how many have a
								 * part that is near; 0 if all of it is known */
} ShFndCost;

extern void shfnd_cost_of_counts(const int *counts, int width, const ShBitsScheme *scheme,
								 bool by_table, double leaves_per_table, ShFndCost *cost);
extern double shfnd_cost_in_pages(const ShFndCost *cost, double leaves_per_table);

#endif							/* SIMHASH_SEARCH_BALLS_COST_H */
