/*-------------------------------------------------------------------------
 *
 * visible_rows.h
 *	  Where the rows are that index entries lead to.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BATCH_VISIBLE_ROWS_H
#define SIMHASH_BATCH_VISIBLE_ROWS_H

#include "postgres.h"

#include "access/tableam.h"
#include "executor/tuptable.h"
#include "utils/rel.h"
#include "utils/snapshot.h"

#include "sort/radix.h"

/* in place of the TID of a row that the snapshot does not see */
#define SHBATCH_INVISIBLE	0

/* fingerprints that are a pair, by numbers that the caller gives them */
typedef struct ShBatchNumberPair
{
	uint32		a;
	uint32		b;
} ShBatchNumberPair;

typedef struct ShBatchRows
{
	Snapshot	snapshot;
	IndexFetchTableData *fetch;
	TupleTableSlot *slot;
	size_t		enough;			/* rows, or pairs, to be looked up together */
	size_t		capacity;		/* rows, a few more than that */
	size_t		count;
	uint64	   *tids;			/* of index entries; resolved, of rows */
	ShSortItem *order;
	ShSortItem *scratch;
	size_t		npairs;			/* at most enough */
	ShBatchNumberPair *pairs;
} ShBatchRows;

/* how many rows may be added at once: so many are worth a look-up of their own */
#define SHBATCH_MANY_ROWS	4096

extern void shbatch_rows_begin(ShBatchRows *rows, Relation heap, Snapshot snapshot);
extern void shbatch_rows_add(ShBatchRows *rows, const uint64 *tids, size_t count);
extern void shbatch_rows_add_pair(ShBatchRows *rows, uint32 a, uint32 b);
extern bool shbatch_rows_full(const ShBatchRows *rows);
extern void shbatch_rows_reset(ShBatchRows *rows);
extern void shbatch_rows_resolve(ShBatchRows *rows);
extern void shbatch_rows_look_up(ShBatchRows *rows, uint64 *tids, size_t count);
extern void shbatch_rows_end(ShBatchRows *rows);

#endif							/* SIMHASH_BATCH_VISIBLE_ROWS_H */
