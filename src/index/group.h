/*-------------------------------------------------------------------------
 *
 * group.h
 *	  What the columns before the fingerprint become in a key.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_INDEX_GROUP_H
#define SIMHASH_INDEX_GROUP_H

#include "postgres.h"

#include "utils/rel.h"

/* the fingerprint's place among the columns of an index, from 0: the last */
static inline int
shidx_fp_column(Relation index)
{
	return IndexRelationGetNumberOfKeyAttributes(index) - 1;
}

extern uint32 shidx_group_of_row(Relation index, const Datum *values, const bool *isnull);

#endif							/* SIMHASH_INDEX_GROUP_H */
