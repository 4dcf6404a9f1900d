/*-------------------------------------------------------------------------
 *
 * finder.c
 *	  Finding all pairs within a distance, among the entries of one side or
 *	  between those of two.
 *
 * Fingerprints come in buckets, by walks over the tables of a scheme or, as whole groups,
 * by a single one (walks.c).  An index whose scheme suits the distance is
 * walked over as it is.  So the scheme of the side with more entries is used if it
 * suits, otherwise that of the other side; a side with another scheme is sorted.  If
 * none suits, groups are searched, if memory has room for them; otherwise the entries
 * are sorted for walks.
 *
 * Bands are walked over table by table, and bands.c collects the pairs.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "compat.h"
#include "pairs/bucket_search.h"
#include "pairs/collector.h"
#include "pairs/finder.h"
#include "pairs/walks.h"

StaticAssertDecl(SHPAIRS_MAX_HITS <= SHPAIRS_MAX_PAIRS, "hits are passed as they come");

typedef struct Finder
{
	ShPairsQuery *query;
	ShPairsSink *sink;
	ShPairsBands *bands;		/* or NULL */
	ShPairsSink no_sink;		/* then in place of the sink, for buckets */
	ShPairsPlan plan;
	ShPairsWalks *walks;
	ShPairsBucket *a;			/* the current buckets, */
	ShPairsBucket *b;			/* or the same */
	ShPairsSearch search;
	ShPairsPair pairs[SHPAIRS_MAX_HITS];
} Finder;

/*
 * Report an error if a distance is out of range for fingerprints of so many bits.
 */
void
shpairs_check_distance(int distance, int width)
{
	if (distance < 0 || distance > width)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("distance %d is out of range", distance),
				 errdetail("The distance must be between 0 and %d bits.", width)));
}

/* can the indexes of a side be walked over for a distance? */
static bool
suits(const ShPairsInput *side, int distance)
{
	return side->scheme != NULL && distance <= side->scheme->distance;
}

/* choose the scheme by which all sides are walked over, or NULL */
static const ShBitsScheme *
choose_scheme(const ShPairsQuery *query)
{
	const ShPairsInput *a = &query->inputs[0];
	const ShPairsInput *b = &query->inputs[query->nsides - 1];
	const ShPairsInput *larger = a->most > b->most ? a : b;
	const ShPairsInput *smaller = larger == a ? b : a;

	if (suits(larger, query->distance))
		return larger->scheme;
	return suits(smaller, query->distance) ? smaller->scheme : NULL;
}

static bool
has_scheme(const ShPairsInput *side, const ShBitsScheme *scheme)
{
	return side->scheme != NULL && scheme != NULL && shbits_same_scheme(side->scheme, scheme);
}

/*
 * Should groups be searched, with no scheme at hand?  For distances without a scheme
 * there is no other way.
 */
static bool
wants_groups(const ShPairsQuery *query)
{
	double		entries = query->inputs[0].most;

	/* assume sides of equal size: each may take half of the memory */
	if (query->nsides > 1)
		entries = 2 * Max(entries, query->inputs[1].most);
	return query->distance > 0 &&
		(query->distance >= Min(query->inputs[0].width, SHBITS_MAX_BLOCKS) ||
		 shpairs_bucket_fits(entries));
}

/*
 * Sort the sides that do not have the wanted scheme.
 */
static void
sort_sides(ShPairsQuery *query, const ShBitsScheme *scheme)
{
	double		entries = 0;
	bool		any = false;

	for (int i = 0; i < query->nsides; i++)
	{
		if (has_scheme(&query->inputs[i], scheme))
			continue;
		any = true;
		if (query->inputs[i].elements == NULL)
			entries += query->inputs[i].entries;
	}
	if (any)
		shpairs_progress_begin(&query->progress, SHPAIRS_SORTING, entries);
	for (int i = 0; i < query->nsides; i++)
	{
		if (!has_scheme(&query->inputs[i], scheme))
			shpairs_input_sort(&query->inputs[i]);
	}
}

/*
 * Prepare the sides, with fingerprints of one word, to be read in the order of one
 * scheme, and plan the walks over it, or the search of groups.
 */
static void
plan_walks(Finder *finder)
{
	ShPairsQuery *query = finder->query;
	const ShBitsScheme *scheme = query->scheme != NULL ? query->scheme : choose_scheme(query);
	int			bits = shbits_part_bits(query->inputs[0].width, 0);
	double		entries;
	bool		walks = scheme != NULL;

	/* for groups any order will do, if all sides have it */
	if (scheme == NULL && wants_groups(query) &&
		has_scheme(&query->inputs[0], query->inputs[query->nsides - 1].scheme))
		scheme = query->inputs[0].scheme;
	sort_sides(query, scheme);
	if (scheme == NULL)
	{
		walks = !wants_groups(query);
		/* the fewest sorts */
		scheme = walks ? shbits_make_scheme(bits, query->distance + 1, query->distance) :
			shbits_make_scheme(bits, 1, 0);
	}
	for (int i = 0; i < query->nsides; i++)
		shpairs_input_use(&query->inputs[i], scheme);
	entries = query->nsides * Max(query->inputs[0].most, query->inputs[query->nsides - 1].most);
	if (query->table != SHPAIRS_ALL_TABLES)
		shpairs_plan_table(&finder->plan, scheme, query->table);
	else if (walks)
		shpairs_plan_walks(&finder->plan, scheme, query->distance, entries);
	else
		shpairs_plan_groups(&finder->plan);
}

/*
 * Prepare the sides, which are bands, to be walked over.
 */
static void
plan_bands(Finder *finder)
{
	ShPairsQuery *query = finder->query;
	const ShBitsScheme *scheme = shbits_make_scheme(SHBITS_WIDTH, 1, 0);

	finder->bands = shpairs_bands_begin(finder->sink, query->nsides > 1, query->inputs[0].grouped);
	if (query->nsides == 1)
		query->inputs[0].bands = finder->bands;
	for (int i = 0; i < query->nsides; i++)
		shpairs_input_use(&query->inputs[i], scheme);
	shpairs_plan_bands(&finder->plan, query->nbands);
}

static void
forget_numbers(ShPairsBucket *bucket)
{
	for (size_t i = 0; i < bucket->nkeys; i++)
	{
		shcompat_check_at(i);
		bucket->numbers[i] = SHPAIRS_NO_NUMBER;
	}
}

static void
pass_pairs(Finder *finder, size_t npairs)
{
	if (finder->sink->pairs(finder->sink, finder->pairs, npairs))
		return;
	forget_numbers(finder->a);
	if (finder->b != finder->a)
		forget_numbers(finder->b);
}

/*
 * The number of the element of key i, or SHPAIRS_NO_NUMBER if the sink has no room.
 */
static inline uint32
number_of_key(const Finder *finder, ShPairsBucket *bucket, size_t i)
{
	if (bucket->numbers[i] == SHPAIRS_NO_NUMBER)
	{
		ShPairsElement element = shpairs_element(bucket, i);

		bucket->numbers[i] = finder->sink->number(finder->sink, &element, false);
	}
	return bucket->numbers[i];
}

static void
report_search(const Finder *finder)
{
	/* small buckets are counted when more entries are read */
	if (finder->search.pairs.done > 0)
		shpairs_walks_report(finder->walks, finder->search.pairs.done);
}

/*
 * Add pairs of words of the current buckets, and report how far the search is.
 */
static void
keep_hits(void *arg, const ShPairsHit *hits, size_t count)
{
	Finder	   *finder = arg;

	for (size_t k = 0; k < count; k++)
		shpairs_bands_add(finder->bands, finder->a, hits[k].i, finder->b, hits[k].j);
	report_search(finder);
}

/*
 * Pass pairs of keys of the current buckets to the sink, as pairs of elements, and report
 * how far the search is.
 */
static void
pass_hits(void *arg, const ShPairsHit *hits, size_t count)
{
	Finder	   *finder = arg;
	ShPairsPair *pairs = finder->pairs;
	size_t		npairs = 0;

	for (size_t k = 0; k < count; k++)
	{
		while ((pairs[npairs].a = number_of_key(finder, finder->a, hits[k].i)) == SHPAIRS_NO_NUMBER ||
			   (pairs[npairs].b = number_of_key(finder, finder->b, hits[k].j)) == SHPAIRS_NO_NUMBER)
		{
			pass_pairs(finder, npairs);
			npairs = 0;
		}
		npairs++;
	}
	if (npairs > 0)
		pass_pairs(finder, npairs);
	report_search(finder);
}

/*
 * Pass on the keys that have several rows.  Equal fingerprints share all prefixes, so
 * their pairs belong to the first search of these rows, unless they are words of bands.
 */
static void
pass_repeated(Finder *finder)
{
	const ShPairsBucket *bucket = finder->a;

	if ((!bucket->first_walk && finder->bands == NULL) || bucket->nrows == bucket->nkeys)
		return;
	for (size_t i = 0; i < bucket->nkeys; i++)
	{
		shcompat_check_at(i);
		if (shpairs_rows_end(bucket, i) - bucket->starts[i] > 1)
			shpairs_add_hit(&finder->search.hits, i, i);
	}
	shpairs_pass_hits(&finder->search.hits);
}

/*
 * Find all pairs of different keys that differ in at most the distance, and pass each to
 * the sink once; and, of a single side, the keys that have several rows.  Different keys
 * have different fingerprints, but for what keys.h says of ShPairsSink.takes_all_rows.  A
 * group whose search takes long has up to so many parallel workers.
 *
 * On return, the memory and files of the search and of the inputs are free for what
 * comes next.  The sink is called in the caller's memory context.
 */
void
shpairs_find(ShPairsQuery *query, int workers, ShPairsSink *sink)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "simhash pairs",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	Finder	   *finder = palloc0(sizeof(Finder));

	/* rows that buckets do not keep have no pairs with another side */
	Assert(query->nsides == 1 || !sink->takes_all_rows);
	finder->query = query;
	for (int i = 0; i < query->nsides; i++)
		query->inputs[i].progress = &query->progress;
	finder->sink = sink;
	shpairs_search_init(&finder->search, query->inputs[0].width, query->distance,
						query->nbands > 0 ? keep_hits : pass_hits, finder);
	if (query->nbands > 0)
		plan_bands(finder);
	else if (query->inputs[0].nwords == 1)
		plan_walks(finder);
	else
	{
		for (int i = 0; i < query->nsides; i++)
			shpairs_input_use(&query->inputs[i], NULL);
		shpairs_plan_groups(&finder->plan);
	}
	finder->walks = shpairs_walks_begin(query->inputs, query->nsides, &finder->plan,
										&finder->search.pairs,
										finder->bands != NULL ? &finder->no_sink : sink);
	MemoryContextSwitchTo(old);
	while (shpairs_walks_next(finder->walks, &finder->a, &finder->b))
	{
		finder->search.pairs.done = 0;
		if (query->nsides == 1 && finder->a == finder->b)
			pass_repeated(finder);
		shpairs_search(&finder->search, finder->a, finder->b, &workers);
		if (sink->leave != NULL && finder->bands == NULL)
			sink->leave(sink);
	}
	for (int i = 0; i < query->nsides; i++)
		shpairs_input_end(&query->inputs[i]);
	if (finder->bands != NULL)
		shpairs_bands_finish(finder->bands, query->inputs[0].band_words != NULL, &query->progress);
	MemoryContextDelete(context);
}
