/*-------------------------------------------------------------------------
 *
 * temp_file.c
 *	  Temporary files that are written, and then read.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "commands/tablespace.h"

#include "batch/temp_file.h"

/*
 * Create a temporary file, to be written and then read.
 */
BufFile *
shbatch_create_file(void)
{
	PrepareTempTablespaces();
	return BufFileCreateTemp(false);
}

/*
 * Rewind a temporary file for reading.
 */
void
shbatch_rewind_file(BufFile *file)
{
	if (BufFileSeek(file, 0, 0, SEEK_SET) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not rewind temporary file: %m")));
}
