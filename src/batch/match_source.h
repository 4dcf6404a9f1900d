/*-------------------------------------------------------------------------
 *
 * match_source.h
 *	  The input of a search for pairs between two sides.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BATCH_MATCH_SOURCE_H
#define SIMHASH_BATCH_MATCH_SOURCE_H

#include "postgres.h"

#include "utils/array.h"
#include "utils/snapshot.h"

#include "batch/match_search.h"
#include "batch/tables.h"

typedef struct ShBatchMatchSource
{
	int			distance;
	ShBatchStream a;
	ShBatchStream b;
	double		a_entries;		/* about; 0 if unknown */
	double		b_entries;
	ShBatchPlan plan;
} ShBatchMatchSource;

extern void shbatch_match_source_array(ShBatchMatchSource *input, AnyArrayType *values,
									   const ShBatchTables *tables, Snapshot snapshot,
									   int distance);
extern void shbatch_match_source_tables(ShBatchMatchSource *input,
										const ShBatchTables *tables, Snapshot snapshot,
										int distance);
extern ShBatchMatchSearch *shbatch_match_source_search(ShBatchMatchSource *input,
													   ShBatchMatchFunction found, void *arg);
extern void shbatch_match_source_end(ShBatchMatchSource *input);

#endif							/* SIMHASH_BATCH_MATCH_SOURCE_H */
