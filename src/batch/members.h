/*-------------------------------------------------------------------------
 *
 * members.h
 *	  The fingerprints that have a near-duplicate, and their rows.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BATCH_MEMBERS_H
#define SIMHASH_BATCH_MEMBERS_H

#include "storage/buffile.h"

#include "batch/union_find.h"
#include "pairs/keys.h"
#include "rows/visible_rows.h"

/* a row, and the number of its fingerprint's element */
typedef struct ShBatchMember
{
	ShPairsRow row;
	uint64		element;
} ShBatchMember;

typedef struct ShBatchMembers ShBatchMembers;

/*
 * called with the elements of each pair; each has a row that the snapshot sees
 */
typedef void (*ShBatchJoinFunction) (ShBatchMembers *members, uint32 a, uint32 b);

struct ShBatchMembers
{
	ShPairsSink sink;
	ShBatchJoinFunction join;

	/* the size of an element is the number of its rows that the snapshot sees */
	ShBatchUnionFind elements;

	/* other kinds, of an index of several columns: see members.c */
	uint32		nothers;
	uint32		max_others;
	struct ShBatchOtherKind *others;

	/* rows waiting to be looked up */
	ShRows	   *rows;
	uint32	   *row_elements;

	/* visible rows of all elements */
	BufFile    *file;

	/* the last fingerprint that had several rows in a bucket */
	bool		run_is_new;		/* its rows are being collected */
	uint32		run_element;
};

extern void shbatch_members_begin(ShBatchMembers *members, ShRows *rows, double most,
								  int nwords, ShBatchJoinFunction join);
extern void shbatch_members_finish(ShBatchMembers *members);
extern bool shbatch_members_next(ShBatchMembers *members, ShBatchMember *member);
extern void shbatch_members_end(ShBatchMembers *members);
extern uint32 shbatch_find_element(ShBatchUnionFind *elements, const ShPairsBucket *bucket,
								   size_t i, bool *is_new);

#endif							/* SIMHASH_BATCH_MEMBERS_H */
