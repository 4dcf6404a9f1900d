/*-------------------------------------------------------------------------
 *
 * catalog.h
 *	  The extension's own database objects, for planner support.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_PLANNER_CATALOG_H
#define SIMHASH_PLANNER_CATALOG_H

#include "postgres.h"

/* OIDs of objects of one extension, all in one schema */
typedef struct ShPlanCatalog
{
	Oid			schema;

	Oid			access_method;

	/* types */
	Oid			simhash_type;
	Oid			distance_type;
	Oid			ball_type;

	/* functions that planner support recognizes or calls */
	Oid			hamming;
	Oid			order_distance; /* of operator <~~> */
	Oid			within;			/* simhash_within */
	Oid			in_ball;		/* of operator <@ */
	Oid			ball_contains;	/* of operator @> */
	Oid			make_ball;		/* simhash_ball */
	Oid			radius_int2;	/* simhash_radius, by the type of the bound */
	Oid			radius_int4;
	Oid			radius_int8;
	Oid			radius_float8;

	/* functions that the server calls while it plans */
	Oid			distance_support;
	Oid			within_support;
	Oid			hamming_support;
	Oid			rows_support;
	Oid			restriction_sel;
	Oid			join_sel;

	/* operators */
	Oid			in_ball_operator;	/* simhash <@ simhash_ball */
	Oid			order_operator; /* simhash <~~> simhash */
} ShPlanCatalog;

extern bool shplan_catalog(Oid entry, ShPlanCatalog *catalog);

#endif							/* SIMHASH_PLANNER_CATALOG_H */
