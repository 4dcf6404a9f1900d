/*-------------------------------------------------------------------------
 *
 * row_check.h
 *	  Checking pairs of rows whose fingerprints are near.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BATCH_ROW_CHECK_H
#define SIMHASH_BATCH_ROW_CHECK_H

#include "miscadmin.h"

#include "rows/heaps.h"
#include "rows/progress.h"

/* the base of the kinds of checks */
typedef struct ShBatchRowCheck
{
	bool		(*holds) (struct ShBatchRowCheck *check, ShRowsNumber a, ShRowsNumber b);
	void		(*end) (struct ShBatchRowCheck *check);
	struct ShBatchRowCheck *next;	/* which must hold as well, or NULL */
} ShBatchRowCheck;

/*
 * Are rows a and b the same?  Unknown counts as false.  To check a row against
 * several others, call this with the same a.  Kinds of rows are ignored.  Without a
 * check they are.
 */
static inline bool
shbatch_check_rows(ShBatchRowCheck *check, ShRowsNumber a, ShRowsNumber b)
{
	bool		result = true;

	if (check == NULL)
		return true;
	CHECK_FOR_INTERRUPTS();
	for (; result && check != NULL; check = check->next)
		result = check->holds(check, a & SHBT_MAX_TID, b & SHBT_MAX_TID);
	shrows_progress_checked();
	return result;
}

static inline void
shbatch_check_end(ShBatchRowCheck *check)
{
	while (check != NULL)
	{
		ShBatchRowCheck *next = check->next;

		check->end(check);
		check = next;
	}
}

#endif							/* SIMHASH_BATCH_ROW_CHECK_H */
