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

#include "bits/scheme.h"
#include "btree/walk.h"
#include "sort/entrysort.h"

/* entries that one call returns at most */
#define SHBATCH_STREAM_MAX		SHBT_MAX_ENTRIES

/*
 * Either an index has the tables, and the stream reads its leaves; or the
 * entries were collected and are sorted for each table.
 */
typedef struct ShBatchStream
{
	const ShBitsScheme *scheme;
	Relation	index;			/* NULL if sorted */
	Snapshot	snapshot;		/* of the reader of the index */
	ShBtWalk	walk;
	ShSort	   *sort;
	ShSortItems sorted;			/* what it has returned, and was not read yet */
	size_t		nsorted;

	/* what was read together, and where what was not returned begins */
	bool		grouped;		/* the entries have groups */
	int			count;
	int			next;
	uint64		keys[SHBATCH_STREAM_MAX];
	uint64		tids[SHBATCH_STREAM_MAX];
	uint32		groups[SHBATCH_STREAM_MAX]; /* if grouped */
} ShBatchStream;

extern void shbatch_stream_index(ShBatchStream *stream, Relation index,
								 const ShBitsScheme *scheme, Snapshot snapshot);
extern void shbatch_stream_sort(ShBatchStream *stream, ShSort *sort,
								const ShBitsScheme *scheme, bool grouped);
extern void shbatch_stream_start(ShBatchStream *stream, int table);
extern void shbatch_stream_seek(ShBatchStream *stream, uint32 group, uint64 key);
extern int	shbatch_stream_next(ShBatchStream *stream, uint32 *group, uint64 **keys,
								uint64 **tids);

#endif							/* SIMHASH_BATCH_STREAM_H */
