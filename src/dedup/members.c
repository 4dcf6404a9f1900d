/*-------------------------------------------------------------------------
 *
 * members.c
 *	  The elements that have a near-duplicate, and their rows, in an order if that is
 *	  wanted, with the neighbors of the elements.
 *
 * Only elements that have a pair are kept in memory, each once for each class of its rows.
 * Their rows are kept in a temporary file.
 *
 * Pairs of elements are written to a temporary file while they are found.  Then they
 * are turned into lists of the neighbors of each, in memory if maintenance_work_mem has
 * room for them.  Otherwise the lists are written to a file, in the order in which they
 * will first be asked for, so that it is read from its beginning to its end
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
#include "dedup/progress.h"
#include "dedup/rows.h"
#include "index/sort.h"
#include "pairs/keys.h"
#include "pairs/temp_file.h"

/* in place of the number of the list of an element, which is not needed */
#define NO_PLACE	PG_UINT32_MAX

/* pairs of elements that are compared until pins are released */
#define PAIRS_WITH_PINS	1024

/* pairs, or items of lists, between reports of progress */
#define READ_INTERVAL	4096

/*
 * Add a pair of elements, which has not been added before.
 */
static void
add_neighbor_pair(ShDupNeighbors *neighbors, uint32 a, uint32 b)
{
	ShPairsPair pair = {a, b};

	BufFileWrite(neighbors->pairs, &pair, sizeof(pair));
	neighbors->npairs++;
}

static inline void
count_read(ShDupNeighbors *neighbors)
{
	CHECK_FOR_INTERRUPTS();
	if (++neighbors->nread % READ_INTERVAL == 0)
		shdup_progress_add(READ_INTERVAL);
}

/*
 * Read the next of the pairs.  Returns false after the last.
 */
static bool
next_neighbor_pair(ShDupNeighbors *neighbors, ShPairsPair *pair)
{
	count_read(neighbors);
	return BufFileRead(neighbors->pairs, pair, sizeof(*pair)) == sizeof(*pair);
}

/*
 * Do the lists of this many elements fit in memory?
 */
static bool
neighbors_fit(const ShDupNeighbors *neighbors, uint32 nelements)
{
	double		bytes = neighbors->npairs * 2 * sizeof(uint32) +
		(nelements + 1.0) * sizeof(uint64);

	return bytes <= maintenance_work_mem * 1024.0;
}

/*
 * Make the lists in memory.
 */
static void
load_neighbors(ShDupNeighbors *neighbors, uint32 nelements)
{
	ShPairsPair pair;
	uint64		start = 0;

	neighbors->starts = MemoryContextAllocExtended(CurrentMemoryContext,
												   (nelements + (Size) 1) * sizeof(uint64),
												   MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	neighbors->lists = MemoryContextAllocHuge(CurrentMemoryContext,
											  Max(neighbors->npairs * 2, 1) * sizeof(uint32));
	shpairs_seek_file(neighbors->pairs, 0);
	while (next_neighbor_pair(neighbors, &pair))
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
	shpairs_seek_file(neighbors->pairs, 0);
	while (next_neighbor_pair(neighbors, &pair))
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
 * nplaces, or NO_PLACE, for each element that is part of a pair.  The array is kept.
 */
static void
sort_neighbors(ShDupNeighbors *neighbors, uint32 *places, uint32 nplaces)
{
	ShIdxSort  *sort = shidx_sort_begin(maintenance_work_mem);
	ShPairsPair pair;
	ShIdxSortItem item;

	neighbors->places = places;
	neighbors->starts = MemoryContextAllocExtended(CurrentMemoryContext,
												   (nplaces + (Size) 1) * sizeof(uint64),
												   MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	shpairs_seek_file(neighbors->pairs, 0);
	while (next_neighbor_pair(neighbors, &pair))
	{
		if (places[pair.a] != NO_PLACE)
			shidx_sort_add(sort, places[pair.a], pair.b);
		if (places[pair.b] != NO_PLACE)
			shidx_sort_add(sort, places[pair.b], pair.a);
	}
	shidx_sort_start(sort);

	neighbors->file = shpairs_create_file();
	while (shidx_sort_next(sort, &item))
	{
		count_read(neighbors);
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
	shpairs_seek_file(neighbors->file, start * sizeof(uint32));
	shpairs_read_file(neighbors->file, neighbors->list, count * sizeof(uint32));
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
 * The number of the element of a fingerprint, which may be new.
 */
uint32
shdup_find_element(ShDupUnionFind *elements, const ShPairsElement *from, bool *is_new)
{
	uint32		element = shdup_union_find_add(elements, from->group, from->id, is_new);

	if (*is_new && elements->nwords > 0)
		memcpy(shdup_element_value(elements, element), from->value,
			   elements->nwords * sizeof(uint64));
	return element;
}

/* does the list of the elements of a fingerprint end before that of another? */
static bool
is_shorter(const uint32 *next, uint32 a, uint32 b)
{
	while (a != SHDUP_NO_ELEMENT && b != SHDUP_NO_ELEMENT)
	{
		CHECK_FOR_INTERRUPTS();
		a = next[a];
		b = next[b];
	}
	return a == SHDUP_NO_ELEMENT;
}

/*
 * Join the elements of two fingerprints, class by class.  One without visible rows must not
 * connect others.
 */
static void
join_pair(ShDupMembers *members, ShPairsPair pair)
{
	const ShDupUnionFind *elements = &members->elements;
	bool		swap;

	if (elements->elements[pair.a].size == 0 || elements->elements[pair.b].size == 0)
		return;
	if (elements->next == NULL)
	{
		members->join(members, pair.a, pair.b);
		return;
	}
	swap = is_shorter(elements->next, pair.b, pair.a);
	for (uint32 a = swap ? pair.b : pair.a; a != SHDUP_NO_ELEMENT; a = elements->next[a])
	{
		uint32		b = shdup_element_of_class(elements, swap ? pair.a : pair.b,
											   elements->elements[a].number);

		CHECK_FOR_INTERRUPTS();
		if (b != SHDUP_NO_ELEMENT)
			members->join(members, a, b);
	}
}

/*
 * Look up the rows that have been collected, and join the elements of their
 * pairs.
 */
static void
flush(ShDupMembers *members)
{
	ShDupLookup *lookup = members->lookup;

	shdup_lookup_resolve(lookup);
	if (lookup->classes != NULL)
		members->elements.bytes_of_classes = shdup_classes_bytes(lookup->classes);
	for (size_t i = 0; i < lookup->count; i++)
	{
		ShDupMember member = {.row = lookup->numbers[i]};

		shcompat_check_at(i);
		if (member.row == SHDUP_INVISIBLE)
			continue;
		member.element = shdup_union_find_add_row(&members->elements, members->row_elements[i],
												  lookup->classes != NULL ? lookup->groups[i] : 0);
		if (members->near != NULL)
			members->elements.elements[member.element].fp = member.row;
		BufFileWrite(members->file, &member, sizeof(ShDupMember));
	}
	for (size_t i = 0; i < lookup->npairs; i++)
	{
		CHECK_FOR_INTERRUPTS();
		join_pair(members, lookup->pairs[i]);
		if (i % PAIRS_WITH_PINS == PAIRS_WITH_PINS - 1 || i + 1 == lookup->npairs)
			shdup_check_release(members->near);
	}
	shdup_lookup_reset(lookup);
}

/*
 * ShPairsSink.number.  Rows are collected if the fingerprint is new.  Otherwise it came from
 * an earlier walk, together with all its rows.  (With all that the snapshot sees; these are
 * in all tables.)
 */
static uint32
number_member(ShPairsSink *sink, const ShPairsElement *element, bool more)
{
	ShDupMembers *members = (ShDupMembers *) sink;

	if (!more)
		members->last = shdup_find_element(&members->elements, element, &members->last_is_new);
	else if (members->last_is_new)
		shdup_progress_found();
	for (size_t i = 0; members->last_is_new && i < element->nrows; i++)
	{
		if (shdup_lookup_is_full(members->lookup))
			flush(members);
		members->row_elements[members->lookup->count] = members->last;
		shdup_lookup_add(members->lookup, element->group, &element->rows[i], 1);
	}
	return members->last;
}

/*
 * ShPairsSink.pairs
 */
static bool
take_member_pairs(ShPairsSink *sink, const ShPairsPair *pairs, size_t npairs)
{
	ShDupMembers *members = (ShDupMembers *) sink;

	if (shdup_lookup_is_full(members->lookup))
		flush(members);
	shdup_lookup_add_pairs(members->lookup, pairs, npairs);
	for (size_t i = 0; i < npairs; i++)
		shdup_progress_found();
	return true;
}

/*
 * ShPairsSink.divide
 */
static void
divide_members(ShPairsSink *sink, const uint32 *words, const ShPairsRow *rows, size_t nrows,
			   ShPairsRow *firsts)
{
	shdup_divide(((ShDupMembers *) sink)->lookup, words, rows, nrows, firsts);
}

/*
 * Begin to collect what a search passes to members->sink.  The largest
 * possible number of elements is used for the error message if memory does not
 * suffice.  Fingerprints of several words have nwords of them, others 0.  The check is used
 * for bands.
 *
 * Elements and rows are allocated in the current memory context.
 */
void
shdup_members_begin(ShDupMembers *members, ShDupLookup *lookup, double most, int nwords,
					ShDupRowCheck *check, ShDupJoinFunction join)
{
	memset(members, 0, sizeof(ShDupMembers));
	members->sink.takes_all_rows = true;
	members->sink.number = number_member;
	members->sink.pairs = take_member_pairs;
	members->sink.divide = divide_members;
	members->join = join;
	members->near = lookup->heaps->banded ? check : NULL;
	members->lookup = lookup;

	shdup_union_find_begin(&members->elements, SHDUP_ROWS, most, nwords, lookup->classes != NULL);
	members->row_elements = MemoryContextAllocHuge(CurrentMemoryContext,
												   lookup->capacity * sizeof(uint32));
	members->file = shpairs_create_file();
}

/*
 * Finish after the search, so that all members can be read.
 */
void
shdup_members_finish(ShDupMembers *members)
{
	flush(members);
	shdup_classes_forget(members->lookup->classes);
	shdup_union_find_forget_keys(&members->elements);
	pfree(members->row_elements);
	shpairs_seek_file(members->file, 0);
}

/*
 * Return the next row, of any element.  Returns false after the last.
 *
 * Not all of these rows have a near-duplicate: rows that the snapshot does not
 * see are left out, and a remaining row may be alone.
 */
bool
shdup_members_next(ShDupMembers *members, ShDupMember *member)
{
	return BufFileRead(members->file, member, sizeof(ShDupMember)) == sizeof(ShDupMember);
}

void
shdup_members_end(ShDupMembers *members)
{
	BufFileClose(members->file);
}

/*
 * Are the elements of a pair near each other, and how near?
 */
bool
shdup_members_near(const ShDupMembers *members, uint32 a, uint32 b, double *nearness)
{
	const ShDupElement *elements = members->elements.elements;

	if (members->near != NULL)
		return shdup_check_near(members->near, elements[a].fp, elements[b].fp, nearness);
	*nearness = shdup_nearness(&members->elements, a, b);
	return true;
}

/* members.join: remember the pair */
static void
add_near_pair(ShDupMembers *members, uint32 a, uint32 b)
{
	ShDupNearRows *near = (ShDupNearRows *) members;
	double		nearness;

	if (a != b && near->asks && !shdup_members_near(members, a, b, &nearness))
		return;
	members->elements.elements[a].has_near = true;
	members->elements.elements[b].has_near = true;
	/* the rows of an element need no pair to be compared */
	if (a != b)
		add_neighbor_pair(&near->neighbors, a, b);
}

/*
 * Begin to collect what a search passes to near->members.sink.  The rows will
 * be in the order of the list "keep", or of their numbers if it is NULL.  The
 * largest possible number of fingerprints is used for the error message if
 * memory does not suffice.  Fingerprints of several words have nwords of them, others 0.
 * If it does not ask which elements of bands are near, the neighbors may have others.
 *
 * Reports errors in the list as shdup_order_begin does.
 */
void
shdup_near_rows_begin(ShDupNearRows *near, ShDupLookup *lookup, double most, int nwords,
					  ShDupRowCheck *check, bool asks, const char *keep)
{
	near->order = shdup_order_begin(lookup->heaps, lookup->snapshot, keep);
	near->count = 0;
	near->asks = asks;
	shdup_members_begin(&near->members, lookup, most, nwords, check, add_near_pair);
	memset(&near->neighbors, 0, sizeof(ShDupNeighbors));
	near->neighbors.pairs = shpairs_create_file();
}

/*
 * For each element, where the first row of its component is, so that sorting by this takes
 * the rows of a component together, and the components in the order of the table: the
 * upper 32 bits of the number of the row.  Components that begin on one page are taken
 * together.
 */
static uint32 *
find_first_pages(ShDupNearRows *near)
{
	ShDupUnionFind *elements = &near->members.elements;
	uint32	   *pages = MemoryContextAllocHuge(CurrentMemoryContext,
											   Max(elements->count, 1) * sizeof(uint32));
	ShDupMember member;

	for (uint32 i = 0; i < elements->count; i++)
	{
		shcompat_check_at(i);
		pages[i] = PG_UINT32_MAX;
	}
	while (shdup_members_next(&near->members, &member))
	{
		uint32		root = shdup_union_find_root(elements, (uint32) member.element);

		CHECK_FOR_INTERRUPTS();
		pages[root] = Min(pages[root], (uint32) (member.row >> 16));
	}
	for (uint32 i = 0; i < elements->count; i++)
	{
		shcompat_check_at(i);
		pages[i] = pages[shdup_union_find_root(elements, i)];
	}
	shpairs_seek_file(near->members.file, 0);
	return pages;
}

/*
 * Sort the rows that have a near-duplicate, to be read once or twice.
 */
static void
sort_near_rows(ShDupNearRows *near, bool by_component, bool twice)
{
	const ShDupElement *elements = near->members.elements.elements;
	ShDupMember member;

	shdup_progress_phase(SHDUP_PHASE_ORDER, 0);
	shdup_order_start(near->order, by_component ? find_first_pages(near) : NULL);
	while (shdup_members_next(&near->members, &member))
	{
		const ShDupElement *element = &elements[member.element];

		CHECK_FOR_INTERRUPTS();
		if (element->has_near || element->size > 1)
		{
			shdup_order_add(near->order, member.row, (uint32) member.element);
			near->count++;
		}
	}
	shdup_progress_phase(SHDUP_PHASE_ORDER, near->count);
	shdup_order_sort(near->order, twice);
}

/*
 * Read the rows in order, to number the elements by their first rows.  Returns the number
 * of each element.
 */
static uint32 *
find_places(ShDupNearRows *near, uint32 *nplaces)
{
	uint32		nelements = near->members.elements.count;
	uint32	   *places = MemoryContextAllocHuge(CurrentMemoryContext,
												Max(nelements, 1) * sizeof(uint32));
	ShPairsRow	row;
	uint32		element;

	*nplaces = 0;
	for (uint32 i = 0; i < nelements; i++)
	{
		shcompat_check_at(i);
		places[i] = NO_PLACE;
	}
	while (shdup_order_next(near->order, &row, &element))
	{
		CHECK_FOR_INTERRUPTS();
		if (places[element] == NO_PLACE)
			places[element] = (*nplaces)++;
	}
	shdup_order_again(near->order);
	return places;
}

/*
 * Join the elements of all pairs.
 */
static void
join_near_pairs(ShDupNearRows *near)
{
	ShPairsPair pair;

	shdup_progress_phase(SHDUP_PHASE_JOIN, near->neighbors.npairs);
	shpairs_seek_file(near->neighbors.pairs, 0);
	while (next_neighbor_pair(&near->neighbors, &pair))
		shdup_union_find_join(&near->members.elements, pair.a, pair.b);
}

/*
 * Sort the rows after the members have been finished, those of a component of elements
 * together if that is wanted, and make the lists of neighbors.  Runs the functions of the
 * list.
 */
void
shdup_near_rows_sort(ShDupNearRows *near, bool by_component)
{
	uint32		nelements = near->members.elements.count;
	bool		fit = neighbors_fit(&near->neighbors, nelements);

	if (by_component)
		join_near_pairs(near);
	sort_near_rows(near, by_component, !fit);
	/* pairs are read twice, or once and then both items of each */
	shdup_progress_phase(SHDUP_PHASE_JOIN, near->neighbors.npairs * (fit ? 2 : 3));
	if (fit)
		load_neighbors(&near->neighbors, nelements);
	else
	{
		uint32		nplaces;
		uint32	   *places = find_places(near, &nplaces);

		sort_neighbors(&near->neighbors, places, nplaces);
	}
}

void
shdup_near_rows_end(ShDupNearRows *near)
{
	shdup_order_end(near->order);
	BufFileClose(near->neighbors.pairs);
	if (near->neighbors.file != NULL)
		BufFileClose(near->neighbors.file);
	shdup_members_end(&near->members);
}
