/*-------------------------------------------------------------------------
 *
 * temp_file.h
 *	  Temporary files that are written, and then read.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_PAIRS_TEMP_FILE_H
#define SIMHASH_PAIRS_TEMP_FILE_H

#include "commands/tablespace.h"
#include "storage/buffile.h"

/*
 * Create a temporary file, to be written and then read.
 */
static inline BufFile *
shpairs_create_file(void)
{
	PrepareTempTablespaces();
	return BufFileCreateTemp(false);
}

/*
 * Rewind a temporary file for reading.
 */
static inline void
shpairs_rewind_file(BufFile *file)
{
	if (BufFileSeek(file, 0, 0, SEEK_SET) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not rewind temporary file: %m")));
}

#endif							/* SIMHASH_PAIRS_TEMP_FILE_H */
