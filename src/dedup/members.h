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
#include "dedup/checks.h"
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

/* the fingerprints that have a near-duplicate, as elements, and their rows */
struct ShDupMembers
{
	ShPairsSink sink;
	ShDupJoinFunction join;

	/* the size of an element is the number of its rows that the snapshot sees */
	ShDupUnionFind elements;

	/* other kinds, of an index of several columns: see members.c */
	uint32		nothers;
	uint32		max_others;
	struct ShDupOtherKind *others;

	/* rows waiting to be looked up */
	ShDup	   *rows;
	uint32	   *row_elements;

	/* visible rows of all elements */
	BufFile    *file;

	/* the last fingerprint that had several rows in a bucket */
	bool		run_is_new;		/* its rows are being collected */
	uint32		run_element;
};

/* members.c */
extern void shdup_members_begin(ShDupMembers *members, ShDup *rows, double most,
								int nwords, ShDupJoinFunction join);
extern void shdup_members_finish(ShDupMembers *members);
extern bool shdup_members_next(ShDupMembers *members, ShDupMember *member);
extern void shdup_members_end(ShDupMembers *members);
extern uint32 shdup_find_element(ShDupUnionFind *elements, const ShPairsBucket *bucket,
								 size_t i, bool *is_new);

/* pairs of elements, as lists of the neighbors of each */
typedef struct ShDupNeighbors
{
	/* pairs of elements, in the order in which they were found */
	BufFile    *pairs;
	double		npairs;

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

/* neighbors.c */
extern void shdup_neighbors_begin(ShDupNeighbors *neighbors);
extern void shdup_neighbors_add(ShDupNeighbors *neighbors, uint32 a, uint32 b);
extern bool shdup_neighbors_fit(const ShDupNeighbors *neighbors, uint32 nelements);
extern void shdup_neighbors_load(ShDupNeighbors *neighbors, uint32 nelements);
extern void shdup_neighbors_sort(ShDupNeighbors *neighbors, uint32 *places,
								 uint32 nplaces);
extern size_t shdup_neighbors_of(ShDupNeighbors *neighbors, uint32 element,
								 const uint32 **list);
extern void shdup_neighbors_end(ShDupNeighbors *neighbors);

/* rows that have a near-duplicate, in an order, and the neighbors of their fingerprints */
typedef struct ShDupNearRows
{
	ShDupMembers members;
	ShDupNeighbors neighbors;	/* of elements of the members */
	double		count;			/* of rows, once sorted */
	ShDupOrder *order;
} ShDupNearRows;

/* near_rows.c */
extern void shdup_near_rows_begin(ShDupNearRows *near, ShDup *rows, double most,
								  int nwords, const char *keep);
extern void shdup_near_rows_sort(ShDupNearRows *near);
extern bool shdup_near_rows_next(ShDupNearRows *near, ShPairsRow *row, uint32 *element);
extern void shdup_near_rows_end(ShDupNearRows *near);

/* kept_rows.c: the rows that are kept, if a check of rows decides */
typedef struct ShDupKeptRows ShDupKeptRows;

extern ShDupKeptRows *shdup_kept_begin(const ShDupUnionFind *elements,
									   ShDupNeighbors *neighbors, ShDupRowCheck *check);
extern void shdup_kept_add(ShDupKeptRows *kept, uint32 element, ShPairsRow row);
extern bool shdup_kept_find(ShDupKeptRows *kept, uint32 element, ShPairsRow row,
							ShPairsRow *keeper, int *distance);

typedef struct ShDupRowClusters ShDupRowClusters;

/* a row of a cluster */
typedef struct ShDupClusterRow
{
	ShPairsRow	row;
	uint32		element;
	uint32		cluster;		/* its number, from 1 */
	uint32		size;			/* of the cluster */
} ShDupClusterRow;

/* row_clusters.c: clusters of rows that are near each other, and the same */
extern ShDupRowClusters *shdup_row_clusters_make(ShDupNearRows *near,
												 ShDupRowCheck *check);
extern bool shdup_row_clusters_next(ShDupRowClusters *clusters, ShDupClusterRow *result);

#endif							/* SIMHASH_DEDUP_MEMBERS_H */
