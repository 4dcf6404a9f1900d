/*-------------------------------------------------------------------------
 *
 * scheme_check.c
 *	  Making schemes, and rejecting those that cannot be used.
 *
 * Separate from scheme.c, so that programs other than the server can link the
 * latter.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "bits/scheme.h"

/*
 * Add a hint about the numbers of blocks that make a scheme with the distance,
 * if there are any, and the advice of shbits_check_scheme.  Called within ereport,
 * for its side effect.
 */
static int
hint_at_blocks(int distance, const char *advice)
{
	int			least;
	int			most;

	if (distance < 0 || distance >= SHBITS_MAX_BLOCKS)
		return 0;
	/* with one block more than the distance there are "least" tables */
	least = most = distance + 1;
	while (most < SHBITS_MAX_BLOCKS &&
		   shbits_ntables(most + 1, distance) <= SHBITS_MAX_TABLES)
		most++;
	if (least == most)
		return errhint("Use blocks = %d.%s", least, advice);
	return errhint("Use blocks = %d; with distance = %d it can be at most %d.%s",
				   least, distance, most, advice);
}

void
shbits_check_scheme(int blocks, int distance, const char *advice)
{
	int			ntables;

	if (blocks < 1 || blocks > SHBITS_MAX_BLOCKS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("number of blocks %d is out of range", blocks),
				 errdetail("A scheme has 1 to %d blocks.",
						   SHBITS_MAX_BLOCKS)));

	if (distance < 0 || distance >= blocks)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg_plural("distance %d is out of range for %d block",
							   "distance %d is out of range for %d blocks",
							   blocks, distance, blocks),
				 errdetail("The distance must be at least 0 and less than the number of blocks."),
				 hint_at_blocks(distance, advice)));

	ntables = shbits_ntables(blocks, distance);
	if (ntables > SHBITS_MAX_TABLES)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%d blocks and distance %d make too many tables",
						blocks, distance),
				 errdetail("They make %d tables; at most %d are allowed.",
						   ntables, SHBITS_MAX_TABLES),
				 hint_at_blocks(distance, advice)));
}

void
shbits_check_table(const ShBitsScheme *scheme, int table_no)
{
	if (table_no < 0 || table_no >= scheme->ntables)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("table number %d is out of range", table_no),
				 errdetail("The tables of %d blocks and distance %d are numbered from 0 to %d.",
						   scheme->blocks, scheme->distance, scheme->ntables - 1)));
}

ShBitsScheme *
shbits_make_scheme(int blocks, int distance)
{
	ShBitsScheme *scheme;

	shbits_check_scheme(blocks, distance, "");
	scheme = palloc(shbits_scheme_size(shbits_ntables(blocks, distance)));
	shbits_scheme_init(scheme, blocks, distance);
	return scheme;
}
