/*-------------------------------------------------------------------------
 *
 * row_clusters.c
 *	  Clusters of rows that are near each other and the same.
 *
 * Rows of one fingerprint need not be the same, so the elements of this
 * union-find are rows.  They are added in their order.  Each is checked against
 * the rows before it that have its fingerprint or one near it, but not against
 * those to which it is connected already.  To pass over these together, the
 * rows of a fingerprint are kept in bunches, whose rows are connected.  If all
 * rows of many equal fingerprints are the same, a row thus takes one check.
 *
 * The root of a cluster is its first row.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "compat.h"
#include "dedup/members.h"
#include "dedup/progress.h"

/* in place of a number of a row: there is none */
#define NO_ROW		PG_UINT32_MAX

/* a row; they are numbered in their order */
typedef struct Row
{
	ShPairsRow	row;
	uint32		element;
	uint32		parent;			/* itself for a root */
	uint32		next;			/* of its bunch, or NO_ROW */
	uint32		next_bunch;		/* if it begins a bunch: the beginning of the
								 * next one of its element, or NO_ROW */
	uint32		size;			/* of a root: rows of its cluster */
	uint32		cluster;		/* of a root: its number, once returned, or
								 * the element of its smallest fingerprint */
} Row;

struct ShDupRowClusters
{
	ShDupNeighbors *neighbors;
	ShDupRowCheck *check;
	uint32		count;
	Row		   *rows;
	uint32	   *bunches;		/* the first one of each element, or NO_ROW */

	uint32		next;			/* the next row to return */
	const ShDupElement *elements;	/* if the number of a cluster is its
									 * smallest fingerprint, or NULL */
	uint32		nclusters;		/* returned */
};

static uint32
find_root(ShDupRowClusters *clusters, uint32 number)
{
	Row		   *rows = clusters->rows;

	while (rows[number].parent != number)
	{
		rows[number].parent = rows[rows[number].parent].parent;
		number = rows[number].parent;
	}
	return number;
}

static void
join(ShDupRowClusters *clusters, uint32 a, uint32 b)
{
	uint32		a_root = find_root(clusters, a);
	uint32		b_root = find_root(clusters, b);
	uint32		root = Min(a_root, b_root);
	uint32		other = Max(a_root, b_root);

	clusters->rows[other].parent = root;
	clusters->rows[root].size += clusters->rows[other].size;
}

/*
 * Connect a row with the rows of a bunch if it is the same as any of them.
 */
static void
check_bunch(ShDupRowClusters *clusters, uint32 number, uint32 bunch)
{
	const Row  *rows = clusters->rows;

	if (find_root(clusters, bunch) == find_root(clusters, number))
		return;
	for (uint32 other = bunch; other != NO_ROW; other = rows[other].next)
	{
		if (shdup_check_rows(clusters->check, rows[number].row, rows[other].row))
		{
			join(clusters, number, other);
			return;
		}
	}
}

static void
check_element(ShDupRowClusters *clusters, uint32 number, uint32 element)
{
	for (uint32 bunch = clusters->bunches[element]; bunch != NO_ROW;
		 bunch = clusters->rows[bunch].next_bunch)
	{
		CHECK_FOR_INTERRUPTS();
		check_bunch(clusters, number, bunch);
	}
}

/*
 * Add a row to a bunch of its element that is connected to it, or begin one.
 */
static void
add_to_bunch(ShDupRowClusters *clusters, uint32 number)
{
	Row		   *row = &clusters->rows[number];
	uint32		root = find_root(clusters, number);

	for (uint32 bunch = clusters->bunches[row->element]; bunch != NO_ROW;
		 bunch = clusters->rows[bunch].next_bunch)
	{
		if (find_root(clusters, bunch) == root)
		{
			row->next = clusters->rows[bunch].next;
			clusters->rows[bunch].next = number;
			return;
		}
	}
	row->next_bunch = clusters->bunches[row->element];
	clusters->bunches[row->element] = number;
}

static void
add_clustered_row(ShDupRowClusters *clusters, ShPairsRow row, uint32 element)
{
	uint32		number = clusters->count++;
	const uint32 *neighbors;
	size_t		count = shdup_neighbors_of(clusters->neighbors, element, &neighbors);

	clusters->rows[number] = (Row)
	{
		.row = row,.element = element,.parent = number,.next = NO_ROW,.next_bunch = NO_ROW,.size = 1
	};
	check_element(clusters, number, element);
	for (size_t i = 0; i < count; i++)
	{
		shcompat_check_at(i);
		check_element(clusters, number, neighbors[i]);
	}
	add_to_bunch(clusters, number);
	shdup_progress_entries(clusters->count);
}

static void
check_memory(double nrows)
{
	double		bytes = nrows * sizeof(Row);

	if (bytes > maintenance_work_mem * 1024.0 || nrows >= NO_ROW)
		ereport(ERROR,
				(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
				 errmsg("%.0f rows with near-duplicates do not fit into maintenance_work_mem",
						nrows),
				 errhint("Increase maintenance_work_mem from %d kB to %.0f kB.",
						 maintenance_work_mem, bytes / 1024 + 1)));
}

/*
 * Let the number of each cluster be its smallest fingerprint.
 */
static void
number_by_fingerprint(ShDupRowClusters *clusters, const ShDupElement *elements)
{
	clusters->elements = elements;
	for (uint32 i = 0; i < clusters->count; i++)
	{
		const Row  *row = &clusters->rows[i];
		Row		   *root = &clusters->rows[find_root(clusters, i)];

		shcompat_check_at(i);
		/* the root comes first */
		if (root == row || elements[row->element].fp < elements[root->cluster].fp)
			root->cluster = row->element;
	}
}

/*
 * Find the clusters of sorted rows that are near each other.  They are numbered by their
 * smallest fingerprints, or in the order of their first rows.  Runs the functions of
 * the condition.
 *
 * Raises ERRCODE_CONFIGURATION_LIMIT_EXCEEDED if the rows do not fit into
 * maintenance_work_mem.  Memory is allocated in the current context.
 */
ShDupRowClusters *
shdup_row_clusters_make(ShDupNearRows *near, ShDupRowCheck *check, bool by_fingerprint)
{
	ShDupRowClusters *clusters = palloc0(sizeof(ShDupRowClusters));
	uint32		nelements = near->members.elements.count;
	ShPairsRow	row;
	uint32		element;

	check_memory(near->count);
	clusters->neighbors = &near->neighbors;
	clusters->check = check;
	clusters->rows = MemoryContextAllocHuge(CurrentMemoryContext,
											Max(near->count, 1) * sizeof(Row));
	clusters->bunches = MemoryContextAllocHuge(CurrentMemoryContext,
											   Max(nelements, 1) * sizeof(uint32));
	for (uint32 i = 0; i < nelements; i++)
	{
		shcompat_check_at(i);
		clusters->bunches[i] = NO_ROW;
	}
	shdup_progress_phase(SHDUP_PHASE_CHECK_ROWS, near->count);
	while (shdup_near_rows_next(near, &row, &element))
	{
		add_clustered_row(clusters, row, element);
		shdup_check_release(check);
	}
	if (by_fingerprint)
		number_by_fingerprint(clusters, near->members.elements.elements);
	return clusters;
}

/*
 * Return the next row of a cluster of several rows.  Returns false after the
 * last.
 */
bool
shdup_row_clusters_next(ShDupRowClusters *clusters, ShDupClusterRow *result)
{
	while (clusters->next < clusters->count)
	{
		const Row  *row = &clusters->rows[clusters->next];
		Row		   *root = &clusters->rows[find_root(clusters, clusters->next++)];

		shcompat_check_at(clusters->next);
		if (root->size < 2)
			continue;
		if (root == row && clusters->elements == NULL)
			root->cluster = ++clusters->nclusters;
		result->row = row->row;
		result->element = row->element;
		result->cluster = clusters->elements == NULL ? root->cluster :
			clusters->elements[root->cluster].fp;
		result->size = root->size;
		return true;
	}
	return false;
}
