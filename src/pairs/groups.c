/*-------------------------------------------------------------------------
 *
 * groups.c
 *	  The groups of fingerprints of any width, as buckets.
 *
 * A group that does not fit in memory is divided into chunks (chunks.c).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"

#include "pairs/chunks.h"
#include "pairs/collector.h"
#include "pairs/groups.h"

/* the entries of the current group on one side */
typedef struct Side
{
	ShPairsInput *input;
	size_t		count;
	uint64		first_number;	/* of its keys */
} Side;

typedef struct GroupFeed
{
	ShPairsFeed base;
	ShPairsSink *sink;
	Side		sides[2];		/* the first one only, if there is one */
	ShPairsCollector collectors[2];
	ShPairsChunks *chunks;		/* of the current group, or NULL if it fits */
	double		done;			/* entries of earlier groups */
} GroupFeed;

/*
 * Collect the group of the next entries.  Returns false if it does not fit.
 */
static bool
collect_group(Side *side, ShPairsCollector *collector)
{
	ShPairsInput *input = side->input;
	uint32		group = input->group;

	side->first_number += side->count;
	side->count = 0;
	shpairs_collector_clear(collector, group);
	collector->bucket.first_walk = true;
	collector->bucket.first_number = side->first_number;
	while (input->count > 0 && input->group == group)
	{
		int			count = input->count;
		int			taken = shpairs_collect(collector, input->values, input->rows, count);

		side->count += taken;
		shpairs_input_advance(input, taken);
		if (taken < count)
			return false;
	}
	return true;
}

/*
 * Move what has been collected of a group into chunks, with the rest of the group.
 */
static void
add_to_chunks(GroupFeed *feed, int number, uint32 group)
{
	Side	   *side = &feed->sides[number];
	ShPairsInput *input = side->input;

	shpairs_chunks_add_bucket(feed->chunks, number, &feed->collectors[number].bucket);
	shpairs_collector_shrink(&feed->collectors[number]);
	while (input->count > 0 && input->group == group)
	{
		int			count = input->count;

		shpairs_chunks_add(feed->chunks, number, input->values, input->rows, count);
		side->count += count;
		shpairs_input_advance(input, count);
	}
}

/*
 * Move to a group that both sides have.  Returns false at the end of either.
 */
static bool
find_common_group(GroupFeed *feed)
{
	ShPairsInput *a = feed->sides[0].input;
	ShPairsInput *b = feed->sides[1].input;

	while (a->count > 0 && b->count > 0)
	{
		ShPairsInput *lower = a->group < b->group ? a : b;

		if (a->group == b->group)
			return true;
		feed->done += lower->count;
		shpairs_input_next(lower);
	}
	return false;
}

/*
 * Read the next group.  If any side does not fit in memory, all are divided into chunks.
 * Returns false after the last.
 */
static bool
read_group(GroupFeed *feed)
{
	int			nsides = feed->base.nsides;
	bool		fits = true;
	uint32		group;

	feed->done += feed->sides[0].count + (nsides > 1 ? feed->sides[1].count : 0);
	if (nsides > 1 ? !find_common_group(feed) : feed->sides[0].input->count == 0)
		return false;
	group = feed->sides[0].input->group;
	for (int i = 0; i < nsides; i++)
		fits &= collect_group(&feed->sides[i], &feed->collectors[i]);
	if (!fits)
	{
		feed->chunks = shpairs_chunks_begin(feed->base.inputs, nsides,
											&feed->collectors[0].bucket, feed->sink);
		for (int i = 0; i < nsides; i++)
			add_to_chunks(feed, i, group);
		shpairs_chunks_divide(feed->chunks);
		return true;
	}
	for (int i = 0; i < nsides; i++)
		shpairs_collector_finish(&feed->collectors[i]);
	return true;
}

static void
report_groups(ShPairsFeed *base, double fraction)
{
	GroupFeed  *feed = (GroupFeed *) base;
	double		count = feed->sides[0].count + (base->nsides > 1 ? feed->sides[1].count : 0);

	if (feed->chunks != NULL)
		fraction = shpairs_chunks_done(feed->chunks, fraction);
	shpairs_progress_entries(base->inputs[0].progress, feed->done + count * Min(fraction, 1));
}

static bool
next_group(ShPairsFeed *base, ShPairsBucket **a, ShPairsBucket **b)
{
	GroupFeed  *feed = (GroupFeed *) base;

	if (!shpairs_chunks_next(&feed->chunks, a, b))
	{
		do
		{
			if (!read_group(feed))
			{
				shpairs_progress_walks(base->inputs[0].progress, 1, 1);
				return false;
			}
		} while (base->nsides == 1 && feed->sides[0].count == 1);
		*a = &feed->collectors[0].bucket;
		*b = &feed->collectors[base->nsides - 1].bucket;
		(void) shpairs_chunks_next(&feed->chunks, a, b);
	}
	report_groups(base, 0);
	return true;
}

/*
 * Begin to read the groups of the inputs of a search.  All arguments must outlive the
 * search.
 */
ShPairsFeed *
shpairs_feed_groups(ShPairsInput *inputs, int nsides, ShPairsSink *sink)
{
	GroupFeed  *feed = palloc0(sizeof(GroupFeed));
	double		entries = 0;

	feed->base.nsides = nsides;
	feed->base.inputs = inputs;
	feed->base.next = next_group;
	feed->base.report = report_groups;
	feed->sink = sink;
	for (int i = 0; i < nsides; i++)
	{
		shpairs_input_start(&inputs[i]);
		feed->sides[i].input = &inputs[i];
		entries += inputs[i].entries;
		shpairs_collector_init(&feed->collectors[i], inputs[i].nwords,
							   shpairs_input_sink(&inputs[i], sink),
							   maintenance_work_mem * (Size) 1024 / nsides);
		if (inputs[i].nwords == 1)
			feed->collectors[i].bucket.table = &inputs[0].entries_of.scheme->tables[0];
	}
	shpairs_progress_begin(inputs[0].progress, SHPAIRS_COMPARING, entries);
	shpairs_progress_walks(inputs[0].progress, 0, 1);
	return &feed->base;
}
