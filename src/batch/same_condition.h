/*-------------------------------------------------------------------------
 *
 * same_condition.h
 *	  The argument "same": a condition that says whether two rows are the same.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BATCH_SAME_CONDITION_H
#define SIMHASH_BATCH_SAME_CONDITION_H

#include "postgres.h"

#include "utils/rel.h"

#include "batch/clause.h"

/* range table indexes of the two rows in the expression */
#define SHBATCH_SAME_A		1
#define SHBATCH_SAME_B		2

typedef struct ShBatchSameCondition
{
	ShBatchClause clause;
	Node	   *expression;		/* of rows of the named table */
} ShBatchSameCondition;

extern ShBatchSameCondition *shbatch_parse_same(Relation table, const char *text);

#endif							/* SIMHASH_BATCH_SAME_CONDITION_H */
