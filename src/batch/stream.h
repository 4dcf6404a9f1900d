/*-------------------------------------------------------------------------
 *
 * stream.h
 *	  The entries of the tables of a scheme, in order.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BATCH_STREAM_H
#define SIMHASH_BATCH_STREAM_H

#include "postgres.h"

#include "utils/snapshot.h"

#include "batch/merge.h"
#include "batch/tables.h"
#include "bits/scheme.h"
#include "sort/entrysort.h"

/* entries that one call returns at most */
#define SHBATCH_STREAM_MAX		SHBT_MAX_ENTRIES

/*
 * Either indexes have the tables, and the stream reads their leaves; or the
 * entries were collected and are sorted for each table.
 */
typedef struct ShBatchStream
{
	const ShBitsScheme *scheme;
	bool		grouped;		/* the entries have groups */

	/* of indexes */
	int			nreaders;
	ShBatchReader **readers;
	ShBatchMerge *merge;		/* if there are several */

	/* of collected entries */
	ShSort	   *sort;
	ShSortItems items;			/* what it has returned, and was not read yet */
	size_t		nitems;

	/* what was read together, and where what was not returned begins */
	size_t		count;
	size_t		next;
	uint64	   *keys;
	uint64	   *rows;
	uint32	   *groups;			/* if grouped */
} ShBatchStream;

extern void shbatch_stream_tables(ShBatchStream *stream, const ShBatchTables *tables,
								  const ShBitsScheme *scheme, Snapshot snapshot);
extern void shbatch_stream_table(ShBatchStream *stream, const ShBatchTables *tables,
								 int number, const ShBitsScheme *scheme, Snapshot snapshot);
extern void shbatch_stream_sort(ShBatchStream *stream, ShSort *sort,
								const ShBitsScheme *scheme, bool grouped);
extern void shbatch_stream_start(ShBatchStream *stream, int table);
extern void shbatch_stream_seek(ShBatchStream *stream, uint32 group, uint64 key);
extern int	shbatch_stream_next(ShBatchStream *stream, uint32 *group, uint64 **keys,
								uint64 **rows);
extern void shbatch_stream_end(ShBatchStream *stream);

#endif							/* SIMHASH_BATCH_STREAM_H */
