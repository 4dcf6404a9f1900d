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

struct shfnd_rows_hash;

typedef struct ShFndReader
{
	const ShFndQuery *query;
	ShFndBallScan ballscan;
	uint64	   *nsearches;		/* counts searches for EXPLAIN; or NULL */

	/*
	 * what is read: the balls of a part of the query, or what the caller
	 * names
	 */
	const ShFndBallSet *balls;	/* NULL: what the caller names */
	bool		table;			/* a table is read for all of them */
	int			ball;			/* otherwise, the one that is read */
	bool		filters;		/* not all that is read is wanted */
	bool		first_part;		/* none has been read to its end */

	/*
	 * the rows that have been returned; NULL if none can be met twice, or if
	 * that does no harm
	 */
	MemoryContext rows_context;
	struct shfnd_rows_hash *rows;
	uint32		max_rows;		/* how many fit in memory */
	bool		full;			/* it is: all others are read from one table */
	ShFndBallSet others;		/* where these are */

	/* matches on the last leaf that are wanted */
	ShFndMatches matches;
	int			next;			/* the next of them, for shfnd_next_match */

	/* those of them whose rows turned out to be dead */
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

#endif							/* SIMHASH_SEARCH_READER_H */
