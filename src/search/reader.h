/*-------------------------------------------------------------------------
 *
 * reader.h
 *	  Reading what a query looks for, in no particular order.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_SEARCH_READER_H
#define SIMHASH_SEARCH_READER_H

#include "search/ballscan.h"
#include "search/query.h"
#include "sort/entrysort.h"

typedef struct ShFndReader
{
	const ShFndQuery *query;
	ShFndBallScan ballscan;
	uint64	   *nsearches;		/* counts searches for EXPLAIN; or NULL */

	/*
	 * what is read: the balls of a part of the query, or what the caller
	 * names
	 */
	const ShFndBalls *balls;	/* NULL: what the caller names */
	int			ball;			/* the one that is read */
	bool		first_part;		/* none has been read to its end */

	/* if a row may be met twice, all matches, to return each once */
	bool		collects;		/* they have yet to be read */
	ShSort	   *sort;			/* NULL if they are returned as they are read */
	ShSortItem	last;			/* the last one returned */

	/* matches on the last leaf, or the next ones of all */
	ShFndMatches matches;
	int			next;			/* the next of them, for shfnd_next_match */

	/* those on the last leaf whose rows turned out to be dead */
	int			ndead;
	uint16		dead[SHBT_MAX_ENTRIES];
} ShFndReader;

extern void shfnd_reader_begin(ShFndReader *reader, const ShFndQuery *query);
extern void shfnd_reader_release(ShFndReader *reader);
extern void shfnd_count_search(ShFndReader *reader);
extern void shfnd_start_query(ShFndReader *reader, bool distinct);
extern void shfnd_start_within(ShFndReader *reader, SimhashBall ball);
extern void shfnd_start_ring(ShFndReader *reader, SimhashBall ball);
extern void shfnd_start_table(ShFndReader *reader, SimhashBall ball);
extern void shfnd_start_nulls(ShFndReader *reader);
extern bool shfnd_next_matches(ShFndReader *reader);
extern bool shfnd_pin_match(ShFndReader *reader, int match);

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
	if (reader->sort == NULL)
		reader->dead[reader->ndead++] = reader->next - 1;
}

#endif							/* SIMHASH_SEARCH_READER_H */
