/*-------------------------------------------------------------------------
 *
 * state_bytes.c
 *	  What the states of aggregates have in common, as byteas.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "text/state_bytes.h"

/*
 * A state of so many bytes, all 0 after its head.
 */
bytea *
shtext_make_state_bytes(const char *magic, Size length)
{
	bytea	   *state = palloc0(VARHDRSZ + length);

	SET_VARSIZE(state, VARHDRSZ + length);
	memcpy(VARDATA(state), magic, SHTEXT_MAGIC_LENGTH);
	return state;
}

void
shtext_report_invalid_state(const char *detail)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
			 errmsg("invalid state of a simhash aggregate"),
			 errdetail_internal("%s", _(detail))));
}
