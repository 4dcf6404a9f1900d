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

#include "access/htup_details.h"
#include "utils/rel.h"

#include "batch/clause.h"

/*
 * the most items: the sort has two columns more, for the row and the caller's
 * number (row_order.c)
 */
#define SHBATCH_MAX_KEEP_ITEMS	(MaxTupleAttributeNumber - 2)

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
