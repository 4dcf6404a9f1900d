/*-------------------------------------------------------------------------
 *
 * matches.c
 *	  Reading what meets the conditions of a scan, in no particular order.
 *
 * This reads the balls of the first condition one after the other, or a ball
 * that the caller names, or a table from end to end.  Matches that do not meet
 * the other conditions are dropped, and so are those in an earlier ball, which
 * has already returned them.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "pgstat.h"

#include "btree/cache.h"
#include "search/matches.h"

/*
 * Prepare to read.  *conditions must live as long as *reader, and may change
 * between two searches.
 *
 * Allocates in the current memory context.
 */
void
shfnd_reader_begin(ShFndReader *reader, Relation index, const ShFndConditions *conditions)
{
	reader->conditions = conditions;
	shfnd_ball_begin(&reader->ballscan, index, shbt_get_scheme(index));
	reader->nsearches = NULL;
	reader->counts_balls = true;
	reader->matches.count = 0;
	reader->next = 0;
	reader->ndead = 0;
}

/*
 * Count a search: a scan, or another element of an array in it.  How many tables
 * and pages it reads is the method's own affair.
 */
void
shfnd_count_search(ShFndReader *reader)
{
	pgstat_count_index_scan(reader->ballscan.index);
	if (reader->nsearches != NULL)
		(*reader->nsearches)++;
}

/*
 * Mark the entries that led to dead rows, while their positions are known.
 */
static void
mark_dead(ShFndReader *reader)
{
	if (reader->ndead > 0)
		shfnd_ball_mark_dead(&reader->ballscan, &reader->matches, reader->dead, reader->ndead);
	reader->ndead = 0;
}

/*
 * Forget the matches, and release the pin of their leaf.
 */
void
shfnd_reader_release(ShFndReader *reader)
{
	mark_dead(reader);
	shfnd_ball_release(&reader->ballscan);
	reader->matches.count = 0;
	reader->next = 0;
}

/*
 * Start to read the fingerprints that meet the conditions, according to their
 * plan.
 */
void
shfnd_start_conditions(ShFndReader *reader)
{
	const ShFndConditions *conditions = reader->conditions;

	shfnd_reader_release(reader);
	reader->by_condition = !conditions->plan.table;
	reader->ball = 0;
	if (reader->by_condition)
		shfnd_ball_start(&reader->ballscan, conditions->list[0].balls[0]);
	else
		shfnd_ball_start_table(&reader->ballscan, simhash_make_ball(0, SHBITS_WIDTH));
}

/*
 * Start to read those of them that lie in a ball.
 */
void
shfnd_start_within(ShFndReader *reader, SimhashBall ball)
{
	shfnd_reader_release(reader);
	reader->by_condition = false;
	shfnd_ball_start(&reader->ballscan, ball);
}

/*
 * The same for what the last planned ring finds of a ball.
 */
void
shfnd_start_ring(ShFndReader *reader, SimhashBall ball)
{
	shfnd_reader_release(reader);
	reader->by_condition = false;
	shfnd_ball_start_ring(&reader->ballscan, ball);
}

/*
 * The same, by reading one table from end to end.
 */
void
shfnd_start_table(ShFndReader *reader, SimhashBall ball)
{
	shfnd_reader_release(reader);
	reader->by_condition = false;
	shfnd_ball_start_table(&reader->ballscan, ball);
}

/*
 * Start to read the null fingerprints.
 */
void
shfnd_start_nulls(ShFndReader *reader)
{
	shfnd_reader_release(reader);
	reader->by_condition = false;
	shfnd_ball_start_nulls(&reader->ballscan);
}

/*
 * Drop matches that do not meet all conditions, or that an earlier ball has
 * already returned.
 */
static void
filter_matches(ShFndReader *reader)
{
	const ShFndConditions *conditions = reader->conditions;
	ShFndMatches *matches = &reader->matches;
	int			earlier = reader->by_condition ? reader->ball : 0;
	int			from = reader->by_condition ? 1 : 0;
	int			kept = 0;
	bool		keep = false;

	if (reader->ballscan.nulls || (earlier == 0 && from == conditions->count))
		return;
	for (int i = 0; i < matches->count; i++)
	{
		ShFingerprint fp = matches->fps[i];

		/* equal fingerprints are next to each other */
		if (i == 0 || fp != matches->fps[i - 1])
		{
			CHECK_FOR_INTERRUPTS();
			keep = shfnd_meets(conditions, from, fp) &&
				!shfnd_in_balls(&conditions->list[0], earlier, fp);
		}
		if (keep)
		{
			matches->fps[kept] = fp;
			matches->tids[kept] = matches->tids[i];
			matches->positions[kept] = matches->positions[i];
			kept++;
		}
	}
	matches->count = kept;
}

/*
 * Read the matches of the next leaf that has any.  Returns false after the
 * last one, or when the ball scan's allowance of pages is used up.
 *
 * For the pin of the leaf see shfnd_ball_next.  No lock is held on return.
 */
bool
shfnd_next_matches(ShFndReader *reader)
{
	const ShFndBallSet *first = &reader->conditions->list[0];

	mark_dead(reader);
	reader->next = 0;
	for (;;)
	{
		while (shfnd_ball_next(&reader->ballscan, &reader->matches))
		{
			filter_matches(reader);
			if (reader->matches.count > 0)
				return true;
		}
		if (!reader->by_condition || reader->ballscan.allowance <= 0 ||
			++reader->ball >= first->nballs)
			return false;
		if (reader->counts_balls)
			shfnd_count_search(reader);
		shfnd_ball_start(&reader->ballscan, first->balls[reader->ball]);
	}
}
