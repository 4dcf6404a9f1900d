/*-------------------------------------------------------------------------
 *
 * matches.h
 *	  Reading what meets the conditions of a scan, in no particular order.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_INDEX_MATCHES_H
#define SIMHASH_INDEX_MATCHES_H

#include "index/ballscan.h"
#include "index/conditions.h"

typedef struct ShIdxReader
{
	const ShIdxConditions *conditions;
	ShIdxBallScan ballscan;
	uint64	   *nsearches;		/* counts searches for EXPLAIN; or NULL */

	/* what is read: the first condition, or one ball */
	bool		counts_balls;	/* each ball after the first is a search */
	bool		by_condition;
	int			ball;			/* of the first condition */

	/* matches on the last leaf that meet the conditions */
	ShIdxMatches matches;
	int			next;			/* the next of them, for shidx_next_match */

	/* those of them whose rows turned out to be dead */
	int			ndead;
	uint16		dead[SHBT_MAX_ENTRIES];
} ShIdxReader;

extern void shidx_reader_begin(ShIdxReader *reader, Relation index,
							   const ShIdxConditions *conditions);
extern void shidx_reader_release(ShIdxReader *reader);
extern void shidx_count_search(ShIdxReader *reader);
extern void shidx_start_conditions(ShIdxReader *reader);
extern void shidx_start_within(ShIdxReader *reader, SimhashBall ball);
extern void shidx_start_ring(ShIdxReader *reader, SimhashBall ball);
extern void shidx_start_table(ShIdxReader *reader, SimhashBall ball);
extern void shidx_start_nulls(ShIdxReader *reader);
extern bool shidx_next_matches(ShIdxReader *reader);

/*
 * Move to the next match.  Returns its position in reader->matches, or -1
 * after the last one.
 */
static inline int
shidx_next_match(ShIdxReader *reader)
{
	if (reader->next >= reader->matches.count && !shidx_next_matches(reader))
		return -1;
	return reader->next++;
}

/*
 * Note that the row of the last match is dead to all transactions.
 */
static inline void
shidx_match_is_dead(ShIdxReader *reader)
{
	Assert(reader->next > 0 && reader->ndead < reader->next);
	reader->dead[reader->ndead++] = reader->next - 1;
}

#endif							/* SIMHASH_INDEX_MATCHES_H */
