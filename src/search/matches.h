/*-------------------------------------------------------------------------
 *
 * matches.h
 *	  Reading what meets the conditions of a scan, in no particular order.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_SEARCH_MATCHES_H
#define SIMHASH_SEARCH_MATCHES_H

#include "search/ballscan.h"
#include "search/conditions.h"

typedef struct ShFndReader
{
	const ShFndConditions *conditions;
	ShFndBallScan ballscan;
	uint64	   *nsearches;		/* counts searches for EXPLAIN; or NULL */

	/* what is read: the first condition, or one ball */
	bool		counts_balls;	/* each ball after the first is a search */
	bool		by_condition;
	int			ball;			/* of the first condition */

	/* matches on the last leaf that meet the conditions */
	ShFndMatches matches;
	int			next;			/* the next of them, for shfnd_next_match */

	/* those of them whose rows turned out to be dead */
	int			ndead;
	uint16		dead[SHBT_MAX_ENTRIES];
} ShFndReader;

extern void shfnd_reader_begin(ShFndReader *reader, Relation index,
							   const ShFndConditions *conditions);
extern void shfnd_reader_release(ShFndReader *reader);
extern void shfnd_count_search(ShFndReader *reader);
extern void shfnd_start_conditions(ShFndReader *reader);
extern void shfnd_start_within(ShFndReader *reader, SimhashBall ball);
extern void shfnd_start_ring(ShFndReader *reader, SimhashBall ball);
extern void shfnd_start_table(ShFndReader *reader, SimhashBall ball);
extern void shfnd_start_nulls(ShFndReader *reader);
extern bool shfnd_next_matches(ShFndReader *reader);

/*
 * Move to the next match.  Returns its position in reader->matches, or -1
 * after the last one.
 */
static inline int
shfnd_next_match(ShFndReader *reader)
{
	if (reader->next >= reader->matches.count && !shfnd_next_matches(reader))
		return -1;
	return reader->next++;
}

/*
 * Note that the row of the last match is dead to all transactions.
 */
static inline void
shfnd_match_is_dead(ShFndReader *reader)
{
	Assert(reader->next > 0 && reader->ndead < reader->next);
	reader->dead[reader->ndead++] = reader->next - 1;
}

#endif							/* SIMHASH_SEARCH_MATCHES_H */
