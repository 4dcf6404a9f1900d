/*-------------------------------------------------------------------------
 *
 * ballscan.c
 *	  Reading all entries within a ball.
 *
 * This is a list of probes (bits/probe.h), each a walk over some leaves of
 * one table, in ascending order and each leaf once.  A leaf is read in one
 * go: what matches on it is copied, and its lock given up.
 *
 * No row is met twice: a row has one entry in each table, each leaf of a table
 * is read once, and of the probes that come across a match only the one that
 * owns it returns it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/predicate.h"

#include "bits/distance.h"
#include "bits/hamming_ball.h"
#include "btree/ahead.h"
#include "btree/dead.h"
#include "btree/descent.h"
#include "btree/search.h"
#include "compat.h"
#include "index/ballscan.h"

/*
 * Prepare to read balls.  The scheme must live as long as *scan.
 */
void
shidx_ball_begin(ShIdxBallScan *scan, Relation index, ShBitsScheme *scheme)
{
	scan->index = index;
	scan->scheme = scheme;
	scan->snapshot = NULL;
	scan->keep_pin = false;
	scan->skip_dead = false;
	scan->leaves_per_table = (double) RelationGetNumberOfBlocks(index) / scheme->ntables;
	scan->plan_radius = -1;
	scan->allowance = PG_INT64_MAX;
	scan->nulls = false;
	scan->probe = 0;
	scan->plan.nprobes = 0;
	scan->pin = InvalidBuffer;
}

/*
 * Plan how to search balls of a radius >= 0, unless that is planned already.
 */
void
shidx_ball_plan(ShIdxBallScan *scan, int radius)
{
	if (radius == scan->plan_radius)
		return;
	shbits_plan_probes(scan->scheme, radius, scan->leaves_per_table, &scan->plan);
	scan->plan_radius = radius;
}

/*
 * Ask for the first leaf of each probe, but of those that read a whole table.
 */
static void
look_ahead(ShIdxBallScan *scan)
{
	ShBtAim		aims[SHBITS_MAX_TABLES];
	int			naims = 0;

	for (int i = 0; i < scan->plan.nprobes; i++)
	{
		const ShBitsProbe *probe = &scan->plan.probes[i];
		uint64		query = shbits_permute(&scan->scheme->tables[probe->table],
										   scan->ball.centre);
		uint64		first;

		if (probe->nbits > 0 &&
			shbits_next_in_ball(query, probe->radius, probe->nbits, 0, &first))
		{
			aims[naims].tree = probe->table;
			aims[naims].key = shbt_make_key(0, first, 0);
			aims[naims].last = first | ~shbits_prefix_mask(probe->nbits);
			naims++;
		}
	}
	shbt_look_ahead(scan->index, naims, aims);
}

/*
 * Start to read the entries within a ball; one of a negative radius is empty.
 * Gives up the pin of the last one.  Reads no page yet.
 */
void
shidx_ball_start(ShIdxBallScan *scan, SimhashBall ball)
{
	shidx_ball_release(scan);
	scan->nulls = false;
	scan->ball = ball;
	scan->probe = 0;
	scan->started = false;
	if (ball.radius < 0)
	{
		scan->probe = scan->plan.nprobes;
		return;
	}
	shidx_ball_plan(scan, ball.radius);
	look_ahead(scan);
}

/*
 * The same, by reading one table from end to end.
 */
void
shidx_ball_start_table(ShIdxBallScan *scan, SimhashBall ball)
{
	shidx_ball_release(scan);
	scan->nulls = false;
	scan->ball = ball;
	scan->probe = 0;
	scan->started = false;
	shbits_plan_table(scan->leaves_per_table, &scan->plan);
	scan->plan_radius = -1;		/* the plan is not what that radius gets */
}

/*
 * What lies beyond a smaller radius is no longer wanted.
 */
void
shidx_ball_narrow(ShIdxBallScan *scan, int radius)
{
	Assert(radius <= scan->ball.radius);
	scan->ball.radius = radius;
}

/*
 * Start to read the entries of the null fingerprints.  Gives up the pin of
 * the last ball.
 */
void
shidx_ball_start_nulls(ShIdxBallScan *scan)
{
	shidx_ball_release(scan);
	scan->nulls = true;
	scan->started = false;
}

/*
 * Give up the pin, if one is held.
 */
void
shidx_ball_release(ShIdxBallScan *scan)
{
	if (BufferIsValid(scan->pin))
		ReleaseBuffer(scan->pin);
	scan->pin = InvalidBuffer;
}

/*
 * The first fingerprint >= from, as the probe's table has it, that the probe
 * can own.  Returns false if there is none.
 *
 * It may return one that cannot match after all, but never skips one that can.
 */
static bool
next_in_probe(const ShIdxBallScan *scan, const ShBitsProbe *probe, uint64 from, uint64 *next)
{
	uint64		candidate;

	if (!shbits_next_in_ball(scan->query, probe->radius, probe->nbits, from, &candidate))
		return false;

	/* ranges are mostly short: jump only where one turned out not to be */
	if (!scan->started)
	{
		*next = candidate;
		return true;
	}
	return shbits_next_in_ball(scan->query, scan->ball.radius, SHBITS_WIDTH, candidate, next);
}

/*
 * Read the page to the right of the last one; its pin passes to the new one.
 */
static Buffer
read_right(ShIdxBallScan *scan, int tree)
{
	Buffer		old = scan->pin;

	scan->pin = InvalidBuffer;
	return shbt_read_right(scan->index, old, scan->right, scan->high, tree, 0,
						   BUFFER_LOCK_SHARE);
}

/*
 * Move to the next page of the current walk, or the first of the next one.
 *
 * Returns its buffer, pinned and locked in share mode, or InvalidBuffer at
 * the end.  The pin of the last page is given up.
 */
static Buffer
next_page(ShIdxBallScan *scan)
{
	for (; scan->probe < scan->plan.nprobes; scan->probe++, scan->started = false)
	{
		const ShBitsProbe *probe = &scan->plan.probes[scan->probe];
		uint64		from = scan->started ? scan->high.fp : 0;
		uint64		next;

		if (!scan->started)
			scan->query = shbits_permute(&scan->scheme->tables[probe->table],
										 scan->ball.centre);
		else if (!BlockNumberIsValid(scan->right))
			continue;
		if (!next_in_probe(scan, probe, from, &next))
			continue;

		if (scan->started && next == from)
			return read_right(scan, probe->table);
		shidx_ball_release(scan);
		scan->started = true;
		scan->allowance--;		/* a page on the way down */
		return shbt_search(scan->index, probe->table, 0, shbt_make_key(0, next, 0),
						   BUFFER_LOCK_SHARE);
	}
	shidx_ball_release(scan);
	return InvalidBuffer;
}

/*
 * The same among the null fingerprints.
 */
static Buffer
next_null_page(ShIdxBallScan *scan)
{
	int			tree = scan->scheme->ntables;

	if (!scan->started)
	{
		scan->started = true;
		return shbt_search(scan->index, tree, 0, SHBT_LOWEST_KEY, BUFFER_LOCK_SHARE);
	}
	if (BlockNumberIsValid(scan->right))
		return read_right(scan, tree);
	shidx_ball_release(scan);
	return InvalidBuffer;
}

/*
 * Copy entry i of a leaf, unless it is known to be dead.
 */
static void
add_match(const ShIdxBallScan *scan, ShIdxMatches *matches, uint64 fp, Page page, int i)
{
	if (scan->skip_dead && shbt_is_dead(page, i))
		return;
	matches->fps[matches->count] = fp;
	matches->tids[matches->count] = *shbt_leaf_tid(page, i);
	matches->positions[matches->count] = i;
	matches->count++;
}

/*
 * Copy what matches among the entries first .. end - 1 of a leaf of the
 * current probe.
 */
static void
collect_between(const ShIdxBallScan *scan, Page page, int first, int end,
				ShIdxMatches *matches)
{
	const ShBitsProbe *probe = &scan->plan.probes[scan->probe];
	const ShBitsTable *table = &scan->scheme->tables[probe->table];
	const uint64 *fps = shbt_page_fps(page) + first;
	uint16		found[SHBT_MAX_ENTRIES];
	int			nfound;
	bool		owns_all = probe->nbits == 0;

	nfound = shbits_filter(fps, end - first, scan->query, scan->ball.radius, found);
	for (int i = 0; i < nfound; i++)
	{
		uint64		fp = shbits_unpermute(table, fps[found[i]]);

		if (owns_all || shbits_probe_owns(&scan->plan, scan->probe, fp ^ scan->ball.centre))
			add_match(scan, matches, fp, page, first + found[i]);
	}
}

/*
 * Copy what matches on a leaf of the current probe.
 *
 * If the probe is for one prefix, of the sorted entries only those that have
 * it need be looked at, which saves memory traffic more than work.
 */
static void
collect_matches(const ShIdxBallScan *scan, Page page, ShIdxMatches *matches)
{
	const ShBitsProbe *probe = &scan->plan.probes[scan->probe];
	const uint64 *fps = shbt_page_fps(page);
	int			count = shbt_page_count(page);
	int			sorted = ShBtPageGetOpaque(page)->sorted;

	if (probe->radius == 0 && probe->nbits > 0 && sorted > 0)
	{
		uint64		prefix = shbits_prefix_mask(probe->nbits);
		uint64		last = scan->query | ~prefix;
		int			first = shbt_find_sorted(page, 0, scan->query & prefix);
		int			step = 8;

		while (first + step < sorted && fps[first + step] <= last)
			step *= 2;
		collect_between(scan, page, first, Min(first + step, sorted), matches);
		collect_between(scan, page, sorted, count, matches);
	}
	else
		collect_between(scan, page, 0, count, matches);
}

/*
 * Read pages until one has matches, and copy them.  Returns false at the end,
 * or when the allowance of pages is used up.
 *
 * With keep_pin the page of the matches stays pinned until the next call:
 * VACUUM then waits before it removes their entries, and so before it makes
 * their TIDs free for other rows.  No lock is held on return.
 */
bool
shidx_ball_next(ShIdxBallScan *scan, ShIdxMatches *matches)
{
	matches->count = 0;
	while (matches->count == 0)
	{
		Buffer		buffer;
		Page		page;

		CHECK_FOR_INTERRUPTS();

		if (scan->allowance <= 0)
			return false;
		buffer = scan->nulls ? next_null_page(scan) : next_page(scan);
		if (!BufferIsValid(buffer))
			return false;
		page = BufferGetPage(buffer);
		scan->allowance--;
		if (scan->snapshot != NULL)
		{
			PredicateLockPage(scan->index, BufferGetBlockNumber(buffer), scan->snapshot);
			shcompat_test_old_snapshot(scan->snapshot, scan->index, page);
		}
		if (!scan->nulls)
			collect_matches(scan, page, matches);
		else
		{
			for (int i = 0; i < shbt_page_count(page); i++)
				add_match(scan, matches, 0, page, i);
		}
		shbt_check_tids(scan->index, BufferGetBlockNumber(buffer), matches->tids, matches->count);
		scan->block = BufferGetBlockNumber(buffer);
		if (matches->count > 0)
			scan->lsn = BufferGetLSNAtomic(buffer);
		scan->right = ShBtPageGetOpaque(page)->right;
		scan->high = shbt_page_high(page);

		LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
		if (scan->keep_pin)
			scan->pin = buffer;
		else
			ReleaseBuffer(buffer);
	}
	return true;
}

/*
 * Mark the entries of some of the matches that were returned last, those whose
 * places in *matches are in dead[]: their rows are dead to everybody.
 *
 * It must be certain that the TIDs belong to no other rows by now.  The pin of
 * the leaf, if it has been kept, has held VACUUM off; else the leaf must not
 * have changed, which shows only if it is logged.  Locks the leaf in share
 * mode for the time being.
 */
void
shidx_ball_mark_dead(ShIdxBallScan *scan, const ShIdxMatches *matches,
					 const uint16 *dead, int ndead)
{
	bool		pinned = BufferIsValid(scan->pin);
	uint16		positions[SHBT_MAX_ENTRIES];
	ItemPointerData tids[SHBT_MAX_ENTRIES];
	Buffer		buffer;

	if (!pinned && !RelationNeedsWAL(scan->index))
		return;
	for (int i = 0; i < ndead; i++)
	{
		positions[i] = matches->positions[dead[i]];
		tids[i] = matches->tids[dead[i]];
	}
	buffer = pinned ? scan->pin : ReadBuffer(scan->index, scan->block);
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	if (pinned || BufferGetLSNAtomic(buffer) == scan->lsn)
		shbt_mark_dead(buffer, positions, tids, ndead);
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	if (!pinned)
		ReleaseBuffer(buffer);
}
