/*-------------------------------------------------------------------------
 *
 * keep_list.h
 *	  The argument "keep": an ORDER BY list that says which rows to keep.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BATCH_KEEP_LIST_H
#define SIMHASH_BATCH_KEEP_LIST_H

#include "postgres.h"

#include "utils/rel.h"

#include "batch/clause.h"

/* items of the list; the expressions are those of rows of the table */
typedef struct ShBatchKeepList
{
	ShBatchClause clause;
	int			nitems;
	Node	  **expressions;
	Oid		   *operators;		/* "less than" of the order */
	Oid		   *collations;
	bool	   *nulls_first;
} ShBatchKeepList;

extern ShBatchKeepList *shbatch_parse_keep(Relation table, const char *text);

#endif							/* SIMHASH_BATCH_KEEP_LIST_H */
