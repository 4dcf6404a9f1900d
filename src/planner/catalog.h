/*-------------------------------------------------------------------------
 *
 * catalog.h
 *	  The extension's own database objects, and the selectivity of its operators, for
 *	  planner support.
 *
 * What this declares is defined in catalog.c and selectivity.c.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_PLANNER_CATALOG_H
#define SIMHASH_PLANNER_CATALOG_H

#include "nodes/pathnodes.h"

/*
 * OIDs of the objects for one type of fingerprints, or of documents, which are
 * compared with balls by their bands and have no distance
 */
typedef struct ShPlanType
{
	Oid			type;
	Oid			ball_type;
	Oid			hamming;
	Oid			within;			/* simhash_within, simhash_similar */
	Oid			in_ball;		/* of operator <@, =~@ */
	Oid			ball_contains;	/* of operator @> */
	Oid			make_ball;		/* simhash_ball, simhash_bits_ball,
								 * simhash_similar_ball */
	Oid			in_ball_operator;
	Oid			bands;			/* simhash_bands_text, simhash_bands_bytea */
} ShPlanType;

/* OIDs of objects of one extension, all in one schema */
typedef struct ShPlanCatalog
{
	Oid			schema;

	Oid			access_method;

	/* what there is for simhash and for simhash_bits */
	ShPlanType	simhash;
	ShPlanType	bits;

	/* and for documents: text and bytea */
	ShPlanType	documents[2];

	Oid			distance_type;

	/* what planner support recognizes or puts into a query */
	Oid			order_distance; /* of operator <~~>, which there is for
								 * simhash alone */
	Oid			order_operator; /* <~~> */
	Oid			radius;			/* simhash_radius */

	/* functions that the server calls while it plans */
	Oid			distance_support;
	Oid			within_support;
	Oid			hamming_support;
	Oid			restriction_sel;
	Oid			join_sel;
} ShPlanCatalog;

/*
 * What there is for the type of fingerprints one of whose functions is called;
 * NULL if it is none of them.
 */
static inline const ShPlanType *
shplan_type_of_within(const ShPlanCatalog *catalog, Oid function)
{
	return function == catalog->simhash.within ? &catalog->simhash :
		function == catalog->bits.within ? &catalog->bits : NULL;
}

/*
 * The same for the type of documents.
 */
static inline const ShPlanType *
shplan_type_of_documents(const ShPlanCatalog *catalog, Oid function)
{
	for (int i = 0; i < lengthof(catalog->documents); i++)
	{
		const ShPlanType *type = &catalog->documents[i];

		if (function == type->within || function == type->in_ball)
			return type;
	}
	return NULL;
}

static inline const ShPlanType *
shplan_type_of_hamming(const ShPlanCatalog *catalog, Oid function)
{
	return function == catalog->simhash.hamming || function == catalog->order_distance ?
		&catalog->simhash : function == catalog->bits.hamming ? &catalog->bits : NULL;
}

extern bool shplan_catalog(Oid entry, ShPlanCatalog *catalog);

/* selectivity.c */
extern Selectivity shplan_selectivity(PlannerInfo *root, const ShPlanCatalog *catalog,
									  Oid operator, Oid funcid, List *args, int varRelid,
									  JoinType jointype, SpecialJoinInfo *sjinfo);

#endif							/* SIMHASH_PLANNER_CATALOG_H */
