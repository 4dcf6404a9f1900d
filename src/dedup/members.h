/*-------------------------------------------------------------------------
 *
 * members.h
 *	  The members of clusters, what each is near to, and which are kept.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_DEDUP_MEMBERS_H
#define SIMHASH_DEDUP_MEMBERS_H

#include "storage/buffile.h"

#include "compat.h"
#include "dedup/rows.h"
#include "dedup/union_find.h"
#include "pairs/keys.h"

/* a row, and the number of its fingerprint's element */
typedef struct ShDupMember
{
	ShPairsRow	row;
	uint64		element;
} ShDupMember;

typedef struct ShDupMembers ShDupMembers;

/*
 * called with the elements of each pair; each has a row that the snapshot sees
 */
typedef void (*ShDupJoinFunction) (ShDupMembers *members, uint32 a, uint32 b);

/*
 * the fingerprints that have a near-duplicate, and their rows: those of a fingerprint and a
 * class (row_class.c) are an element, whose size is how many of them the snapshot sees
 */
struct ShDupMembers
{
	ShPairsSink sink;
	ShDupJoinFunction join;
	ShDupUnionFind elements;

	/*
	 * Elements of bands have a visible row in place of a fingerprint, and
	 * this says whether those of a pair are near.  Else NULL.
	 */
	ShDupRowCheck *near;

	/* rows waiting to be looked up, and the elements of their fingerprints */
	ShDupLookup *lookup;
	uint32	   *row_elements;

	/* visible rows of all elements */
	BufFile    *file;

	/* the last fingerprint that was numbered */
	bool		last_is_new;	/* its rows are being collected */
	uint32		last;
};

/* members.c */
extern void shdup_members_begin(ShDupMembers *members, ShDupLookup *lookup, double most,
								int nwords, ShDupRowCheck *check, ShDupJoinFunction join);
extern bool shdup_members_near(const ShDupMembers *members, uint32 a, uint32 b, double *nearness);
extern void shdup_members_finish(ShDupMembers *members);
extern bool shdup_members_next(ShDupMembers *members, ShDupMember *member);
extern void shdup_members_end(ShDupMembers *members);

extern uint32 shdup_find_element(ShDupUnionFind *elements, const ShPairsElement *from,
								 bool *is_new);

/* pairs of elements, as lists of the neighbors of each */
typedef struct ShDupNeighbors
{
	/* pairs of elements, in the order in which they were found */
	BufFile    *pairs;
	double		npairs;
	uint64		nread;			/* of these, and of items of lists, for
								 * progress */

	/* list i: from starts[i] to the next start */
	uint64	   *starts;
	uint32	   *lists;

	/*
	 * or, if memory does not suffice, in a file; places has the number of the
	 * list of each element, and the last list that was read is here
	 */
	BufFile    *file;
	uint32	   *places;
	uint32	   *list;
	size_t		capacity;
} ShDupNeighbors;

/* the list of an element will be needed soon */
static inline void
shdup_neighbors_prefetch(const ShDupNeighbors *neighbors, uint32 element)
{
	if (neighbors->places == NULL)
		shcompat_prefetch(&neighbors->starts[element]);
}

/* rows that have a near-duplicate, in an order, and the neighbors of their fingerprints */
typedef struct ShDupNearRows
{
	ShDupMembers members;
	bool		asks;			/* which pairs are near, before it has them */
	ShDupNeighbors neighbors;	/* of elements of the members */
	double		count;			/* of rows, once sorted */
	ShDupOrder *order;			/* from which they are read, each with the
								 * number of its element */
} ShDupNearRows;

/* members.c */
extern void shdup_near_rows_begin(ShDupNearRows *near, ShDupLookup *lookup, double most,
								  int nwords, ShDupRowCheck *check, bool asks, const char *keep);
extern void shdup_near_rows_sort(ShDupNearRows *near, bool by_component);
extern void shdup_near_rows_end(ShDupNearRows *near);
extern size_t shdup_neighbors_of(ShDupNeighbors *neighbors, uint32 element,
								 const uint32 **list);

#endif							/* SIMHASH_DEDUP_MEMBERS_H */
