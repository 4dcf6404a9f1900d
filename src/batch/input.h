/*-------------------------------------------------------------------------
 *
 * input.h
 *	  What a search for pairs reads: an index, or an array.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BATCH_INPUT_H
#define SIMHASH_BATCH_INPUT_H

#include "postgres.h"

#include "utils/array.h"

#include "batch/search.h"

typedef struct ShBatchInput
{
	int			distance;
	ShBatchStream stream;
	ShBatchPlan plan;
} ShBatchInput;

extern void shbatch_check_distance(int distance);
extern void shbatch_input_index(ShBatchInput *input, Relation index, Snapshot snapshot,
								const int *distance);
extern void shbatch_input_array(ShBatchInput *input, ArrayType *array, int distance,
								const int *blocks);
extern void shbatch_input_search(ShBatchInput *input, ShBatchSink *sink);
extern void shbatch_input_end(ShBatchInput *input);

#endif							/* SIMHASH_BATCH_INPUT_H */
