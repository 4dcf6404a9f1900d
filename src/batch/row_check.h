/*-------------------------------------------------------------------------
 *
 * row_check.h
 *	  Checking pairs of rows whose fingerprints are near.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BATCH_ROW_CHECK_H
#define SIMHASH_BATCH_ROW_CHECK_H

#include "rows/heaps.h"

/* the base of the kinds of checks */
typedef struct ShBatchRowCheck
{
	bool		(*holds) (struct ShBatchRowCheck *check, ShRowsNumber a, ShRowsNumber b);
	void		(*end) (struct ShBatchRowCheck *check);
} ShBatchRowCheck;

/*
 * Are rows a and b the same?  Unknown counts as false.  To check a row against
 * several others, call this with the same a.  Kinds of rows are ignored.  Without a
 * check they are.
 */
static inline bool
shbatch_check_rows(ShBatchRowCheck *check, ShRowsNumber a, ShRowsNumber b)
{
	return check == NULL || check->holds(check, a & SHBT_MAX_TID, b & SHBT_MAX_TID);
}

static inline void
shbatch_check_end(ShBatchRowCheck *check)
{
	if (check != NULL)
		check->end(check);
}

#endif							/* SIMHASH_BATCH_ROW_CHECK_H */
