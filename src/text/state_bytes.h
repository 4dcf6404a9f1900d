/*-------------------------------------------------------------------------
 *
 * state_bytes.h
 *	  What the states of aggregates have in common, as byteas.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_TEXT_STATE_BYTES_H
#define SIMHASH_TEXT_STATE_BYTES_H

#include "fmgr.h"
#include "port/pg_bswap.h"

#include "compat.h"

/* all states begin with three letters and the version of the layout */
#define SHTEXT_MAGIC_LENGTH		4

/*
 * A state of so many bytes, all 0 after its head.
 */
static inline bytea *
shtext_make_state_bytes(const char *magic, Size length)
{
	bytea	   *state = palloc0(VARHDRSZ + length);

	SET_VARSIZE(state, VARHDRSZ + length);
	memcpy(VARDATA(state), magic, SHTEXT_MAGIC_LENGTH);
	return state;
}

SHCOMPAT_NORETURN static inline void
shtext_report_invalid_state(const char *detail)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
			 errmsg("invalid state of a simhash aggregate"),
			 errdetail_internal("%s", _(detail))));
}

/*
 * Numbers in a state have their least significant byte first, and any alignment.
 */
static inline uint64
shtext_get_uint64(const char *at)
{
	uint64		x;

	memcpy(&x, at, sizeof(x));
#ifdef WORDS_BIGENDIAN
	x = pg_bswap64(x);
#endif
	return x;
}

static inline void
shtext_put_uint64(char *at, uint64 x)
{
#ifdef WORDS_BIGENDIAN
	x = pg_bswap64(x);
#endif
	memcpy(at, &x, sizeof(x));
}

static inline uint32
shtext_get_uint32(const char *at)
{
	uint32		x;

	memcpy(&x, at, sizeof(x));
#ifdef WORDS_BIGENDIAN
	x = pg_bswap32(x);
#endif
	return x;
}

static inline void
shtext_put_uint32(char *at, uint32 x)
{
#ifdef WORDS_BIGENDIAN
	x = pg_bswap32(x);
#endif
	memcpy(at, &x, sizeof(x));
}

/*
 * Check length and head of a state.
 *
 * Raises ERRCODE_INVALID_BINARY_REPRESENTATION.
 */
static inline void
shtext_check_state_head(const bytea *state, const char *magic, bool length_fits)
{
	if (unlikely(!length_fits))
		shtext_report_invalid_state(gettext_noop("It has a wrong length."));
	if (unlikely(memcmp(VARDATA_ANY(state), magic, SHTEXT_MAGIC_LENGTH) != 0))
		shtext_report_invalid_state(gettext_noop("It is of another version, or no state at all."));
}

/*
 * The state that is the first argument, which the caller may change; NULL if
 * there is none yet.
 *
 * In an aggregate, which *in_aggregate says, it is the server's copy for us alone.
 */
static inline bytea *
shtext_get_state(FunctionCallInfo fcinfo, bool *in_aggregate)
{
	*in_aggregate = AggCheckCallContext(fcinfo, NULL) != 0;
	if (PG_ARGISNULL(0))
		return NULL;
	return *in_aggregate ? PG_GETARG_BYTEA_P(0) : PG_GETARG_BYTEA_P_COPY(0);
}

#endif							/* SIMHASH_TEXT_STATE_BYTES_H */
