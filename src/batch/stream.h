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

#include "batch/tables.h"
#include "bits/scheme.h"
#include "btree/walk.h"
#include "sort/entrysort.h"

/* entries that one call returns at most */
#define SHBATCH_STREAM_MAX		SHBT_MAX_ENTRIES

/*
 * What is read of an index: the entries of a leaf that were not returned yet, in
 * order.
 */
typedef struct ShBatchReader
{
	const ShBatchTable *table;
	ShBtWalk	walk;
	int			count;
	int			next;
	int			end;			/* of those that are being merged */
	uint64		first;			/* leading bits of the next one: see stream.c */
	uint64		keys[SHBATCH_STREAM_MAX];
	uint64		rows[SHBATCH_STREAM_MAX];
	uint32		groups[SHBATCH_STREAM_MAX]; /* if grouped */
} ShBatchReader;

/*
 * Either indexes have the tables, and the stream reads their leaves; or the
 * entries were collected and are sorted for each table.
 */
typedef struct ShBatchStream
{
	const ShBitsScheme *scheme;
	bool		grouped;		/* the entries have groups */

	/* of indexes */
	Snapshot	snapshot;		/* of the reader */
	int			nreaders;
	ShBatchReader **readers;
	int			nreading;		/* those that are not at their end, */
	ShBatchReader **reading;	/* in the same order */
	size_t		capacity;		/* of the arrays below, if there are several */
	uint32	   *places;			/* see stream.c */

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
