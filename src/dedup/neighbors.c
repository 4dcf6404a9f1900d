/*-------------------------------------------------------------------------
 *
 * neighbors.c
 *	  Pairs of elements, as lists of the neighbors of each.
 *
 * The pairs are written to a temporary file while they are found.  Then they
 * are turned into lists, in memory if maintenance_work_mem has room for them.
 * Otherwise the lists are written to a file, in the order in which the caller
 * will first ask for them, so that it is read from its beginning to its end
 * but for the lists that are needed again.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "bits/scheme.h"
#include "compat.h"
#include "dedup/members.h"
#include "dedup/rows.h"
#include "index/sort.h"
#include "pairs/temp_file.h"

void
shdup_neighbors_begin(ShDupNeighbors *neighbors)
{
	memset(neighbors, 0, sizeof(ShDupNeighbors));
	neighbors->pairs = shpairs_create_file();
}

/*
 * Add a pair of elements, which has not been added before.
 */
void
shdup_neighbors_add(ShDupNeighbors *neighbors, uint32 a, uint32 b)
{
	ShDupNumberPair pair = {a, b};

	BufFileWrite(neighbors->pairs, &pair, sizeof(pair));
	neighbors->npairs++;
}

/*
 * Read the next of the pairs.  Returns false after the last.
 */
bool
shdup_neighbors_next_pair(ShDupNeighbors *neighbors, ShDupNumberPair *pair)
{
	CHECK_FOR_INTERRUPTS();
	return BufFileRead(neighbors->pairs, pair, sizeof(*pair)) == sizeof(*pair);
}

/*
 * Do the lists of this many elements fit in memory?
 */
bool
shdup_neighbors_fit(const ShDupNeighbors *neighbors, uint32 nelements)
{
	double		bytes = neighbors->npairs * 2 * sizeof(uint32) +
		(nelements + 1.0) * sizeof(uint64);

	return bytes <= maintenance_work_mem * 1024.0;
}

/*
 * Make the lists in memory.
 */
void
shdup_neighbors_load(ShDupNeighbors *neighbors, uint32 nelements)
{
	ShDupNumberPair pair;
	uint64		start = 0;

	neighbors->starts = MemoryContextAllocExtended(CurrentMemoryContext,
												   (nelements + (Size) 1) * sizeof(uint64),
												   MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	neighbors->lists = MemoryContextAllocHuge(CurrentMemoryContext,
											  Max(neighbors->npairs * 2, 1) * sizeof(uint32));
	shpairs_rewind_file(neighbors->pairs);
	while (shdup_neighbors_next_pair(neighbors, &pair))
	{
		neighbors->starts[pair.a]++;
		neighbors->starts[pair.b]++;
	}
	/* turn counts into ends; placing the neighbors turns ends into starts */
	for (size_t i = 0; i <= nelements; i++)
	{
		shcompat_check_at(i);
		start = neighbors->starts[i] += start;
	}
	shpairs_rewind_file(neighbors->pairs);
	while (shdup_neighbors_next_pair(neighbors, &pair))
	{
		neighbors->lists[--neighbors->starts[pair.a]] = pair.b;
		neighbors->lists[--neighbors->starts[pair.b]] = pair.a;
	}
}

/*
 * Write a neighbor to the file, and count it for list "place".
 */
static void
write_neighbor(ShDupNeighbors *neighbors, uint64 place, uint32 neighbor)
{
	neighbors->starts[place + 1]++;
	BufFileWrite(neighbors->file, &neighbor, sizeof(neighbor));
}

/*
 * Make the lists in a file, in the order of "places", which has a place below
 * nplaces, or SHDUP_NO_PLACE, for each element that is part of a pair.  The array is kept.
 */
void
shdup_neighbors_sort(ShDupNeighbors *neighbors, uint32 *places, uint32 nplaces)
{
	ShIdxSort  *sort = shidx_sort_begin(maintenance_work_mem);
	ShDupNumberPair pair;
	ShIdxSortItem item;

	neighbors->places = places;
	neighbors->starts = MemoryContextAllocExtended(CurrentMemoryContext,
												   (nplaces + (Size) 1) * sizeof(uint64),
												   MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	shpairs_rewind_file(neighbors->pairs);
	while (shdup_neighbors_next_pair(neighbors, &pair))
	{
		if (places[pair.a] != SHDUP_NO_PLACE)
			shidx_sort_add(sort, places[pair.a], pair.b);
		if (places[pair.b] != SHDUP_NO_PLACE)
			shidx_sort_add(sort, places[pair.b], pair.a);
	}
	shidx_sort_start(sort);

	neighbors->file = shpairs_create_file();
	while (shidx_sort_next(sort, &item))
	{
		CHECK_FOR_INTERRUPTS();
		write_neighbor(neighbors, item.key, (uint32) item.value);
	}
	shidx_sort_end(sort);
	for (uint32 i = 0; i < nplaces; i++)
	{
		shcompat_check_at(i);
		neighbors->starts[i + 1] += neighbors->starts[i];
	}
}

/*
 * Read a list from the file into memory.
 */
static void
read_list(ShDupNeighbors *neighbors, uint64 start, size_t count)
{
	if (count > neighbors->capacity)
	{
		neighbors->capacity = Max(count, 2 * neighbors->capacity);
		if (neighbors->list != NULL)
			pfree(neighbors->list);
		neighbors->list = MemoryContextAllocHuge(GetMemoryChunkContext(neighbors->starts),
												 neighbors->capacity * sizeof(uint32));
	}
	if (BufFileSeek(neighbors->file, 0, (off_t) (start * sizeof(uint32)), SEEK_SET) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not seek in temporary file: %m")));
	if (BufFileRead(neighbors->file, neighbors->list, count * sizeof(uint32)) !=
		count * sizeof(uint32))
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not read from temporary file: %m")));
}

/*
 * The neighbors of an element, in no particular order.  Returns their number;
 * the list is valid until the next call.
 */
size_t
shdup_neighbors_of(ShDupNeighbors *neighbors, uint32 element, const uint32 **list)
{
	uint32		number = neighbors->places != NULL ? neighbors->places[element] : element;
	uint64		start = neighbors->starts[number];
	size_t		count = neighbors->starts[number + 1] - start;

	if (neighbors->lists != NULL)
		*list = neighbors->lists + start;
	else
	{
		if (count > 0)
			read_list(neighbors, start, count);
		*list = neighbors->list;
	}
	return count;
}

/*
 * Close the files.
 */
void
shdup_neighbors_end(ShDupNeighbors *neighbors)
{
	BufFileClose(neighbors->pairs);
	if (neighbors->file != NULL)
		BufFileClose(neighbors->file);
}
