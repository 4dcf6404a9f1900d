/*-------------------------------------------------------------------------
 *
 * temp_file.h
 *	  Temporary files that are written, and then read.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BATCH_TEMP_FILE_H
#define SIMHASH_BATCH_TEMP_FILE_H

#include "postgres.h"

#include "storage/buffile.h"

extern BufFile *shbatch_create_file(void);
extern void shbatch_rewind_file(BufFile *file);

#endif							/* SIMHASH_BATCH_TEMP_FILE_H */
