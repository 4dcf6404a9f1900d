/*-------------------------------------------------------------------------
 *
 * temp_file.h
 *	  Temporary files that are written, and then read.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_PAIRS_TEMP_FILE_H
#define SIMHASH_PAIRS_TEMP_FILE_H

#include "storage/buffile.h"

/*
 * Create a temporary file, to be written and then read.
 */
static inline BufFile *
shpairs_create_file(void)
{
	return BufFileCreateTemp(false);
}

/*
 * Go to a place of a temporary file, for reading.
 */
static inline void
shpairs_seek_file(BufFile *file, uint64 place)
{
	if (BufFileSeek(file, 0, (off_t) place, SEEK_SET) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not seek in temporary file: %m")));
}

/*
 * Read what is known to be there.
 */
static inline void
shpairs_read_file(BufFile *file, void *data, Size size)
{
	if (BufFileRead(file, data, size) != size)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not read from temporary file: %m")));
}

#endif							/* SIMHASH_PAIRS_TEMP_FILE_H */
