/*-------------------------------------------------------------------------
 *
 * wide_finder.c
 *	  Finding all pairs within a distance among wide fingerprints, or between two
 *	  sides, group by group.
 *
 * A group that fits in memory is searched at once.  A larger one is written to
 * files, and each chunk of it is searched, and compared with each later one.  So the
 * memory is bounded, but the time for the pairs of chunks grows with the square of
 * their number.
 *
 * The keys of buckets are numbers of values, which are unique among all groups.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"

#include "pairs/wide_chunks.h"
#include "pairs/wide_finder.h"
#include "pairs/wide_parallel.h"
#include "rows/progress.h"

/* chunks differ in size: how large they are on average, if this fits in memory */
#define CHUNK_SHARE(most)	((most) - (most) / 8)

struct ShPairsWideFinder
{
	ShPairsSink *sink;
	int			workers;
	ShPairsWideSearch search;
	ShPairsWideBucket wide;
	ShPairsWideChunks chunks;
	double		done;			/* entries of earlier groups */

	/* the chunks that are compared next, if first is below their number */
	int			first;
	int			second;
	double		ncompared;		/* how many have been */
};

static void
found_pair(void *arg, size_t i, size_t j)
{
	ShPairsWideFinder *finder = arg;

	finder->sink->pair(finder->sink, &finder->wide.bucket, i, j);
}

/*
 * Search, with up to so many workers, as long as there are any to be had.
 */
static void
search_sets(ShPairsWideSearch *search, int *workers, ShPairsWideSet a, ShPairsWideSet b,
			bool among)
{
	shpairs_wide_search_plan(search, a, b, among);
	if (*workers == 0 || !shpairs_wide_parallel(search, workers))
		shpairs_wide_search_run(search);
}

/*
 * Report that of a group of so many entries, after those that are done, so many
 * pairs of chunks have been compared.
 */
static void
report_chunks(double done, double entries, double compared, double pairs)
{
	shrows_progress_entries(done + entries * Min(compared / pairs, 1));
}

/* report that this fraction of the current chunks is done */
static void
report(void *arg, double part)
{
	ShPairsWideFinder *finder = arg;
	double		nchunks = finder->chunks.nchunks;

	report_chunks(finder->done, finder->chunks.count, finder->ncompared + part,
				  nchunks * (nchunks + 1) / 2);
}

static bool
pass_repeat(void *arg, const ShPairsBucket *bucket, ShRowsNumber row)
{
	ShPairsSink *sink = arg;

	return sink->repeat(sink, bucket, row);
}

/*
 * Begin to search an input for all pairs of different fingerprints that differ in
 * at most distance bits.  Each is passed to the sink once.  All arguments must outlive the search, whose memory
 * comes from the current context and is freed with it.  A bucket whose search takes
 * long has up to so many parallel workers.
 */
ShPairsWideFinder *
shpairs_wide_begin(ShPairsWideInput *input, int distance, int workers, ShPairsSink *sink)
{
	ShPairsWideFinder *finder = palloc0(sizeof(ShPairsWideFinder));

	finder->sink = sink;
	finder->workers = workers;
	shpairs_wide_bucket_init(&finder->wide, input->nwords, maintenance_work_mem * (Size) 1024);
	shpairs_wide_read(input);
	shpairs_chunks_begin(&finder->chunks, input);
	shpairs_wide_search_init(&finder->search, input->width, distance, found_pair, report, finder);
	shrows_progress_phase(SHROWS_PHASE_COMPARE, input->entries);
	return finder;
}

/*
 * Add the rows that have been read to the bucket.
 */
static void
order(ShPairsWideFinder *finder, int chunk)
{
	ShPairsWideRepeat repeat = {finder->sink->repeat != NULL ? pass_repeat : NULL, finder->sink};

	shpairs_wide_bucket_order(&finder->wide, shpairs_chunk_number(&finder->chunks, chunk), repeat);
}

/*
 * Search the bucket, which has a chunk or the whole group.
 */
static void
search_bucket(ShPairsWideFinder *finder)
{
	ShPairsBucket *bucket = &finder->wide.bucket;
	ShPairsWideSet set = {&finder->wide, 0, bucket->nkeys};

	bucket->first_walk = true;
	if (finder->sink->begin != NULL)
		finder->sink->begin(finder->sink, bucket);
	search_sets(&finder->search, &finder->workers, set, set, true);
}

/*
 * Search the next chunk, or compare two.
 */
static void
search_chunks(ShPairsWideFinder *finder)
{
	ShPairsWideBucket *wide = &finder->wide;
	ShPairsWideSet a = {wide, 0, 0};
	ShPairsWideSet b = {wide, 0, 0};

	/* what is called for a pair may have changed the rows of the bucket */
	shpairs_wide_bucket_clear(wide, wide->bucket.group);
	shpairs_wide_bucket_reserve(wide, finder->chunks.counts[finder->first] +
								(finder->second == finder->first ? 0 :
								 finder->chunks.counts[finder->second]));
	shpairs_chunks_load(&finder->chunks, finder->first, wide);
	order(finder, finder->first);
	if (finder->second == finder->first)
		search_bucket(finder);
	else
	{
		a.count = b.start = wide->bucket.nkeys;
		shpairs_chunks_load(&finder->chunks, finder->second, wide);
		order(finder, finder->second);
		b.count = wide->bucket.nkeys - b.start;
		wide->bucket.first_walk = false;
		search_sets(&finder->search, &finder->workers, a, b, false);
	}
	finder->ncompared++;
	if (++finder->second == finder->chunks.nchunks)
		finder->second = ++finder->first;
}

/*
 * Read the next group of several rows.  Returns false after the last.
 */
static bool
read_group(ShPairsWideFinder *finder)
{
	do
	{
		if (finder->chunks.input->at_end)
			return false;
		finder->done += finder->chunks.count;
		shpairs_chunks_read(&finder->chunks, &finder->wide, CHUNK_SHARE(finder->wide.most / 2));
	} while (finder->chunks.count == 1);
	finder->ncompared = 0;
	finder->first = finder->second = 0;
	return true;
}

/*
 * Search the next group of several rows, or a part of it.  The bucket is valid
 * until the next call.  Returns false after the last.
 */
bool
shpairs_wide_next(ShPairsWideFinder *finder)
{
	if (finder->chunks.files == NULL || finder->first == finder->chunks.nchunks)
	{
		if (!read_group(finder))
			return false;
		report(finder, 0);
		if (finder->chunks.files == NULL)
		{
			order(finder, 0);
			search_bucket(finder);
			return true;
		}
	}
	search_chunks(finder);
	return true;
}

void
shpairs_wide_end(ShPairsWideFinder *finder)
{
	shpairs_chunks_end(&finder->chunks);
}

/* one of two sides */
typedef struct Side
{
	ShPairsWideBucket wide;
	ShPairsWideChunks chunks;
} Side;

struct ShPairsWideMatchFinder
{
	ShPairsMatchFunction found;
	void	   *arg;
	int			workers;
	ShPairsWideSearch search;
	Side		sides[2];
	double		done;			/* entries of earlier groups */

	/* the chunks that are compared next, if first is below their number */
	int			first;
	int			second;
	double		ncompared;		/* how many have been */
};

static void
found_match(void *arg, size_t i, size_t j)
{
	ShPairsWideMatchFinder *finder = arg;

	finder->found(finder->arg, &finder->sides[0].wide.bucket, i,
				  &finder->sides[1].wide.bucket, j);
}

static void
report_match(void *arg, double part)
{
	ShPairsWideMatchFinder *finder = arg;
	const ShPairsWideChunks *a = &finder->sides[0].chunks;
	const ShPairsWideChunks *b = &finder->sides[1].chunks;

	report_chunks(finder->done, (double) a->count + b->count, finder->ncompared + part,
				  (double) a->nchunks * b->nchunks);
}

/*
 * Begin to search two inputs for all pairs of a fingerprint of a and one of b, of
 * the same width, that differ in at most distance bits.  Each is passed to found
 * once, with arg.  All arguments must outlive the search, whose memory comes from
 * the current context and is freed with it.  Two buckets whose search takes long have
 * up to so many parallel workers.
 */
ShPairsWideMatchFinder *
shpairs_wide_match_begin(ShPairsWideInput *a, ShPairsWideInput *b, int distance, int workers,
						 ShPairsMatchFunction found, void *arg)
{
	ShPairsWideMatchFinder *finder = palloc0(sizeof(ShPairsWideMatchFinder));
	ShPairsWideInput *inputs[] = {a, b};

	finder->found = found;
	finder->arg = arg;
	finder->workers = workers;
	for (int side = 0; side < lengthof(inputs); side++)
	{
		shpairs_wide_bucket_init(&finder->sides[side].wide, inputs[side]->nwords,
								 maintenance_work_mem * (Size) 1024 / 2);
		shpairs_wide_read(inputs[side]);
		shpairs_chunks_begin(&finder->sides[side].chunks, inputs[side]);
	}
	shpairs_wide_search_init(&finder->search, b->width, distance, found_match, report_match,
							 finder);
	shrows_progress_phase(SHROWS_PHASE_COMPARE, a->entries + b->entries);
	return finder;
}

static void
order_side(Side *side, int chunk)
{
	ShPairsWideRepeat repeat = {NULL, NULL};

	shpairs_wide_bucket_order(&side->wide, shpairs_chunk_number(&side->chunks, chunk), repeat);
}

static void
load_side(Side *side, int chunk)
{
	shpairs_wide_bucket_clear(&side->wide, side->wide.bucket.group);
	shpairs_wide_bucket_reserve(&side->wide, side->chunks.counts[chunk]);
	shpairs_chunks_load(&side->chunks, chunk, &side->wide);
	order_side(side, chunk);
}

static void
compare_sides(ShPairsWideMatchFinder *finder)
{
	ShPairsWideBucket *a = &finder->sides[0].wide;
	ShPairsWideBucket *b = &finder->sides[1].wide;
	ShPairsWideSet set_a = {a, 0, a->bucket.nkeys};
	ShPairsWideSet set_b = {b, 0, b->bucket.nkeys};

	search_sets(&finder->search, &finder->workers, set_a, set_b, false);
}

/*
 * Compare the next two chunks.
 */
static void
compare_chunks(ShPairsWideMatchFinder *finder)
{
	load_side(&finder->sides[0], finder->first);
	load_side(&finder->sides[1], finder->second);
	compare_sides(finder);
	finder->ncompared++;
	if (++finder->second == finder->sides[1].chunks.nchunks)
	{
		finder->second = 0;
		finder->first++;
	}
}

/*
 * Move to a group that both sides have.  Returns false at the end of either.
 */
static bool
find_common_group(ShPairsWideMatchFinder *finder)
{
	ShPairsWideInput *a = finder->sides[0].chunks.input;
	ShPairsWideInput *b = finder->sides[1].chunks.input;

	while (!a->at_end && !b->at_end)
	{
		if (a->group == b->group)
			return true;
		CHECK_FOR_INTERRUPTS();
		shpairs_wide_advance(a->group < b->group ? a : b);
		finder->done++;
	}
	return false;
}

/*
 * Read the next group that both sides have.  If either side does not fit in
 * memory, both go to files.  Returns false after the last.
 */
static bool
read_common_group(ShPairsWideMatchFinder *finder)
{
	Side	   *sides = finder->sides;

	finder->done += sides[0].chunks.count + sides[1].chunks.count;
	if (!find_common_group(finder))
		return false;
	for (int side = 0; side < lengthof(finder->sides); side++)
		shpairs_chunks_read(&sides[side].chunks, &sides[side].wide, CHUNK_SHARE(sides[side].wide.most));
	for (int side = 0; side < lengthof(finder->sides); side++)
	{
		if (sides[side].chunks.files == NULL && sides[1 - side].chunks.files != NULL)
			shpairs_chunks_write(&sides[side].chunks, &sides[side].wide, CHUNK_SHARE(sides[side].wide.most));
	}
	finder->ncompared = 0;
	finder->first = finder->second = 0;
	return true;
}

/*
 * Search the next group that both sides have, or a part of it.  The buckets are
 * valid until the next call.  Returns false after the last.
 */
bool
shpairs_wide_match_next(ShPairsWideMatchFinder *finder)
{
	Side	   *sides = finder->sides;

	if (sides[0].chunks.files == NULL || finder->first == sides[0].chunks.nchunks)
	{
		if (!read_common_group(finder))
			return false;
		report_match(finder, 0);
		if (sides[0].chunks.files == NULL)
		{
			order_side(&sides[0], 0);
			order_side(&sides[1], 0);
			compare_sides(finder);
			return true;
		}
	}
	compare_chunks(finder);
	return true;
}

void
shpairs_wide_match_end(ShPairsWideMatchFinder *finder)
{
	shpairs_chunks_end(&finder->sides[0].chunks);
	shpairs_chunks_end(&finder->sides[1].chunks);
}
