/*-------------------------------------------------------------------------
 *
 * stream.h
 *	  Reading the entries of the tables of a scheme, in order.
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

/* the most entries that one call returns */
#define SHBATCH_STREAM_MAX		SHBT_MAX_ENTRIES

/*
 * The stream either reads the leaves of indexes, or entries that have been
 * collected and are sorted for each table.
 */
typedef struct ShBatchStream
{
	const ShBitsScheme *scheme;
	bool		grouped;		/* the entries have groups */

	/* for indexes */
	int			nreaders;
	ShBatchReader **readers;
	ShBatchMerge *merge;		/* if there are several */

	/* for collected entries */
	ShSort	   *sort;
	ShSortItems items;			/* returned by the sort, and not used yet */
	size_t		nitems;

	/* entries that were read together, and the next one to return */
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
