/*-------------------------------------------------------------------------
 *
 * ranges.c
 *	  Dividing walks into ranges, for several processes.
 *
 * The ranges of a walk have about as many leaves each, whatever the keys are,
 * since they begin where leaves do.  They are then moved to the beginning of a
 * bucket, so that no bucket is cut.  Of ranges that begin in the same bucket,
 * one remains, which is thus as large as this bucket.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"

#include "btree/cache.h"
#include "btree/walk.h"
#include "pairs/ranges.h"

/*
 * fewer leaves are not worth a range, since the leaf where two ranges meet is read
 * twice
 */
#define LEAST_LEAVES		8

/* places that have been collected */
typedef struct Places
{
	int			count;
	int			capacity;
	ShPairsPlace *places;
} Places;

static void
add_place(Places *places, ShPairsPlace place)
{
	if (places->count == places->capacity)
	{
		places->capacity *= 2;
		places->places = repalloc_huge(places->places, places->capacity * sizeof(ShPairsPlace));
	}
	places->places[places->count++] = place;
}

/*
 * Collect where leaves of a tree begin, as the places of their buckets.
 */
static void
add_leaves(Places *places, Relation index, int tree, int prefix_bits)
{
	ShBtWalk   *walk;

	if (shbt_get_cache(index)->trees[tree].root.level == 0)
		return;
	walk = palloc(sizeof(ShBtWalk));
	shbt_walk_start(walk, index, tree, 1);
	while (shbt_walk_next(walk))
	{
		int			count = shbt_page_count((Page) walk->page.data);

		for (int i = 0; i < count; i++)
		{
			ShBtKey		key = shbt_walk_child(walk, i);

			add_place(places, shpairs_place(key.group, key.fp, prefix_bits));
		}
	}
	pfree(walk);
}

static int
compare_places(const void *a, const void *b)
{
	const ShPairsPlace *x = a;
	const ShPairsPlace *y = b;

	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	return x->key < y->key ? -1 : x->key > y->key;
}

/*
 * Collect where leaves of a table of the scheme begin, in all indexes, in order.
 */
static void
collect_leaves(Places *places, const ShRowsHeaps *const *sides, int nsides,
			   const ShPairsWalk *walk)
{
	int			nindexes = 0;

	for (int side = 0; side < nsides; side++)
	{
		nindexes += sides[side]->count;
		for (int i = 0; i < sides[side]->count; i++)
			add_leaves(places, sides[side]->heaps[i].index, walk->table, walk->prefix_bits);
	}
	if (nindexes > 1)
		qsort(places->places, places->count, sizeof(ShPairsPlace), compare_places);
}

/*
 * Divide the walks of a plan over the indexes of one or two sides, which all have
 * its scheme, into ranges: no more than most for each walk.
 */
ShPairsTask *
shpairs_divide(const ShPairsPlan *plan, const ShRowsHeaps *const *sides, int nsides, int most,
			   int *count)
{
	ShPairsTask *tasks = palloc((plan->nwalks - plan->first) * most * sizeof(ShPairsTask));
	Places		places = {0, 1024, palloc(1024 * sizeof(ShPairsPlace))};

	*count = 0;
	for (int walk = plan->first; walk < plan->nwalks; walk++)
	{
		ShPairsPlace last = {0, 0};
		int			nranges;

		places.count = 0;
		if (most > 1)
			collect_leaves(&places, sides, nsides, &plan->walks[walk]);
		nranges = Min(most, 1 + places.count / LEAST_LEAVES);
		tasks[(*count)++] = (ShPairsTask)
		{
			last, walk
		};
		for (int i = 1; i < nranges; i++)
		{
			const ShPairsPlace *place = &places.places[(int64) places.count * i / nranges];

			CHECK_FOR_INTERRUPTS();
			if (compare_places(place, &last) <= 0)
				continue;
			last = *place;
			tasks[(*count)++] = (ShPairsTask)
			{
				last, walk
			};
		}
	}
	pfree(places.places);
	return tasks;
}

ShPairsRange
shpairs_range_of_task(const ShPairsTask *tasks, int count, int number)
{
	ShPairsRange range = {.walk = tasks[number].walk,.start = tasks[number].start};

	range.has_end = number + 1 < count && tasks[number + 1].walk == range.walk;
	if (range.has_end)
		range.end = tasks[number + 1].start;
	return range;
}

/*
 * The range that has nothing but the bucket that begins at a place.
 */
ShPairsRange
shpairs_range_of_bucket(int walk, const ShPairsPlace *place, int prefix_bits)
{
	uint64		last = place->key | ~shbits_prefix_mask(prefix_bits);
	ShPairsRange range = {.walk = walk,.start = *place};

	range.has_end = last < PG_UINT64_MAX || place->group < PG_UINT32_MAX;
	range.end.key = last + 1;
	range.end.group = place->group + (last == PG_UINT64_MAX ? 1 : 0);
	return range;
}
