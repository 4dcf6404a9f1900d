/*-------------------------------------------------------------------------
 *
 * ballscan.c
 *	  Reading all entries within a ball.
 *
 * This is a list of probes (bits/probe.h), each a walk over some leaves of
 * one table, in ascending order and each leaf once: group by group, and in
 * each over the prefixes that the probe is for.  A leaf is read in one
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
#include "pgstat.h"
#include "storage/predicate.h"

#include "bits/distance.h"
#include "bits/hamming_ball.h"
#include "btree/ahead.h"
#include "btree/dead.h"
#include "btree/descent.h"
#include "btree/leaf_count.h"
#include "btree/search.h"
#include "compat.h"
#include "index/ballscan.h"

/* the leaves of so many groups are counted, those of others are like them */
#define MAX_COUNTED		32

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
	scan->nsearches = NULL;
	scan->groups = shidx_only_group;
	scan->leaves_per_table = (double) RelationGetNumberOfBlocks(index) / scheme->ntables;
	scan->plan_radius = -1;
	scan->allowance = PG_INT64_MAX;
	scan->nulls = false;
	scan->probe = 0;
	scan->plan.nprobes = 0;
	scan->pin = InvalidBuffer;
}

/*
 * Set in which groups is read from now on; their list must live as long as that
 * is so.  Before balls are read, shidx_ball_count_leaves has to be called.
 */
void
shidx_ball_set_groups(ShIdxBallScan *scan, const ShIdxGroups *groups)
{
	if (groups->all != scan->groups.all)
		scan->plan_radius = -1;
	scan->groups = *groups;
}

/*
 * See about how many leaves the groups have, of which there is one at least, on
 * inner pages.
 */
void
shidx_ball_count_leaves(ShIdxBallScan *scan)
{
	const ShIdxGroups *groups = &scan->groups;
	double		table = (double) RelationGetNumberOfBlocks(scan->index) / scan->scheme->ntables;
	int			counted = Min(groups->count, MAX_COUNTED);
	double		leaves = 0;

	if (groups->all)
		leaves = table;
	else
	{
		for (int i = 0; i < counted; i++)
		{
			int			place = (int) ((int64) i * groups->count / counted);

			leaves += shbt_count_leaves(scan->index, 0, groups->list[place]);
		}

		/* no more than there are, where small groups share leaves */
		leaves = Min(leaves / counted, Max(table / groups->count, 1));
	}
	if (leaves != scan->leaves_per_table)
	{
		scan->leaves_per_table = leaves;
		scan->plan_radius = -1;
	}
}

/*
 * How many leaves of a table all groups have that are read.
 */
double
shidx_ball_leaves(const ShIdxBallScan *scan)
{
	return scan->leaves_per_table * (scan->groups.all ? 1 : scan->groups.count);
}

/*
 * Plan how to search balls of a radius >= 0, unless that is planned already.
 */
void
shidx_ball_plan(ShIdxBallScan *scan, int radius)
{
	if (radius == scan->plan_radius)
		return;
	if (scan->groups.all)
		shbits_plan_table(scan->leaves_per_table, &scan->plan);
	else
		shbits_plan_probes(scan->scheme, radius, scan->leaves_per_table, &scan->plan);
	scan->plan_radius = radius;
}

/*
 * Plan how to read what the ball of a radius has beyond a smaller one, as
 * shbits_plan_ring does.  Returns false, with no plan of use, if that is not
 * done by probes.
 */
bool
shidx_ball_plan_ring(ShIdxBallScan *scan, int inner, int radius)
{
	scan->plan_radius = -1;
	return !scan->groups.all &&
		shbits_plan_ring(scan->scheme, inner, radius, scan->leaves_per_table, &scan->plan);
}

/*
 * No page of the walk has been read yet.
 */
static void
restart(ShIdxBallScan *scan)
{
	scan->started = false;
	scan->group = scan->groups.list;
	scan->groups_end = scan->group + scan->groups.count;
}

/*
 * Ask for the first leaf of each probe in the first group, but not of those that
 * read a whole table.
 */
static void
look_ahead(ShIdxBallScan *scan)
{
	ShBtAim		aims[SHBITS_MAX_TABLES];
	int			naims = 0;

	if (scan->groups.all)
		return;
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
			aims[naims].key = shbt_make_key(scan->groups.list[0], first, 0);
			aims[naims].last = first | ~shbits_prefix_mask(probe->nbits);
			naims++;
		}
	}
	shbt_look_ahead(scan->index, naims, aims);
}

/*
 * Read a ball from now on, by the first probe of a plan.  Gives up the pin of the
 * last one.
 */
static void
set_ball(ShIdxBallScan *scan, SimhashBall ball)
{
	shidx_ball_release(scan);
	scan->nulls = false;
	scan->ball = ball;
	scan->probe = 0;
	restart(scan);
}

/*
 * Start to read the entries within a ball; one of a negative radius is empty.
 * Gives up the pin of the last one.  Reads no page yet.
 */
void
shidx_ball_start(ShIdxBallScan *scan, SimhashBall ball)
{
	set_ball(scan, ball);
	if (ball.radius < 0)
	{
		scan->probe = scan->plan.nprobes;
		return;
	}
	shidx_ball_plan(scan, ball.radius);
	look_ahead(scan);
}

/*
 * Start to read, of the entries within a ball, those that the probes of the
 * ring that was planned last come across.
 */
void
shidx_ball_start_ring(ShIdxBallScan *scan, SimhashBall ball)
{
	Assert(scan->plan_radius < 0);
	set_ball(scan, ball);
}

/*
 * Start to read the entries within a ball by reading one table from end to
 * end.
 */
void
shidx_ball_start_table(ShIdxBallScan *scan, SimhashBall ball)
{
	set_ball(scan, ball);
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
	restart(scan);
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
 * The first fingerprint >= from, as the probe's table has it, whose prefix the
 * probe is for.  Returns false if there is none.
 */
static bool
next_prefix(const ShIdxBallScan *scan, const ShBitsProbe *probe, uint64 from, uint64 *next)
{
	uint64		prefix = shbits_prefix_mask(probe->nbits);

	if (probe->inner == probe->radius)
		return false;
	while (shbits_next_in_ball(scan->query, probe->radius, probe->nbits, from, next))
	{
		if (probe->inner < 0 ||
			shbits_distance((*next ^ scan->query) & prefix, 0) > probe->inner)
			return true;
		if ((*next & prefix) == prefix)
			return false;
		from = (*next | ~prefix) + 1;
	}
	return false;
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

	if (!next_prefix(scan, probe, from, &candidate))
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
 * Move to the first of the listed groups that the walk has something left of.
 * Returns false if there is none; else *from is where that begins: right of the
 * last page if *right, or else at the start of the group.
 */
static pg_attribute_always_inline bool
find_group(ShIdxBallScan *scan, uint64 *from, bool *right)
{
	*from = 0;
	*right = false;
	if (scan->started)
	{
		while (*scan->group < scan->high.group)
		{
			if (++scan->group == scan->groups_end)
				return false;
		}
		if (*scan->group == scan->high.group)
		{
			*from = scan->high.fp;
			*right = true;
		}
	}
	return true;
}

/*
 * The first key that the probe can own, at the start or right of the last page.
 * Returns false if there is none.  Sets *right if it is that page which is to be
 * read, whatever the key.
 */
static pg_attribute_always_inline bool
next_key(ShIdxBallScan *scan, const ShBitsProbe *probe, ShBtKey *next, bool *right)
{
	uint64		from;
	uint64		fp;

	if (scan->groups.all)
	{
		*next = SHBT_LOWEST_KEY;
		*right = scan->started;
		return true;
	}
	if (!find_group(scan, &from, right))
		return false;
	while (!next_in_probe(scan, probe, from, &fp))
	{
		if (++scan->group == scan->groups_end)
			return false;
		from = 0;
		*right = false;
	}

	/* what is not far from the last page is on the next one, most likely */
	*right &= fp - from <= scan->width;
	*next = shbt_make_key(*scan->group, fp, 0);
	return true;
}

/*
 * Read the page that holds a key, or the one to the right of the last, to which
 * the pin of that one passes.  Locks it in share mode.
 */
static pg_attribute_always_inline Buffer
read_page(ShIdxBallScan *scan, int tree, ShBtKey key, bool right)
{
	if (right)
	{
		Buffer		old = scan->pin;

		scan->pin = InvalidBuffer;
		return shbt_read_right(scan->index, old, scan->right, scan->high, tree, 0,
							   BUFFER_LOCK_SHARE);
	}
	shidx_ball_release(scan);
	scan->started = true;
	scan->allowance--;			/* a page on the way down */

	/* each descent counts as a search, as in nbtree */
	pgstat_count_index_scan(scan->index);
	if (scan->nsearches != NULL)
		(*scan->nsearches)++;
	return shbt_search(scan->index, tree, 0, key, BUFFER_LOCK_SHARE);
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
	for (; scan->probe < scan->plan.nprobes; scan->probe++, restart(scan))
	{
		const ShBitsProbe *probe = &scan->plan.probes[scan->probe];
		ShBtKey		next;
		bool		right;

		if (!scan->started)
			scan->query = shbits_permute(&scan->scheme->tables[probe->table],
										 scan->ball.centre);
		else if (!BlockNumberIsValid(scan->right))
			continue;
		if (next_key(scan, probe, &next, &right))
			return read_page(scan, probe->table, next, right);
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
	uint64		from;
	bool		right = scan->started;
	bool		all = scan->groups.all;

	if ((!scan->started || BlockNumberIsValid(scan->right)) &&
		(all || find_group(scan, &from, &right)))
		return read_page(scan, scan->scheme->ntables,
						 all ? SHBT_LOWEST_KEY : shbt_make_key(*scan->group, 0, 0), right);
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

/* is the group among those that are listed? */
static bool
is_wanted(const ShIdxGroups *groups, uint32 group)
{
	int			low = 0;
	int			high = groups->count - 1;

	while (low < high)
	{
		int			middle = low + (high - low) / 2;

		if (groups->list[middle] < group)
			low = middle + 1;
		else
			high = middle;
	}
	return groups->list[low] == group;
}

/*
 * Of entries of a leaf, whose places are counted from first, keep those that
 * belong to a wanted group.
 */
static int
keep_groups(const ShIdxBallScan *scan, Page page, int first, uint16 *found, int nfound)
{
	const ShIdxGroups *groups = &scan->groups;
	int			kept = 0;

	for (int i = 0; i < nfound; i++)
	{
		if (is_wanted(groups, shbt_page_group(page, first + found[i], true)))
			found[kept++] = found[i];
	}
	return kept;
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
	if (shbt_page_is_grouped(page) && !scan->groups.all)
		nfound = keep_groups(scan, page, first, found, nfound);
	for (int i = 0; i < nfound; i++)
	{
		uint64		fp = shbits_unpermute(table, fps[found[i]]);

		if (owns_all || shbits_probe_owns(&scan->plan, scan->probe, fp ^ scan->ball.centre))
			add_match(scan, matches, fp, page, first + found[i]);
	}
}

/*
 * Is there one group, at most, that can be wanted of a leaf?  Then it is that
 * in which the walk is.
 */
static bool
wants_one_group(const ShIdxBallScan *scan, Page page)
{
	const ShIdxGroups *groups = &scan->groups;

	return !groups->all &&
		(scan->group + 1 == scan->groups_end ||
		 scan->group[1] > ShBtPageGetOpaque(page)->high_group);
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
	bool		grouped = shbt_page_is_grouped(page);
	bool		one_prefix = probe->radius == 0 && probe->nbits > 0;

	if (sorted > 0 && (grouped ? wants_one_group(scan, page) : one_prefix))
	{
		uint32		group = *scan->group;
		uint64		prefix = one_prefix ? shbits_prefix_mask(probe->nbits) : 0;
		uint64		last = scan->query | ~prefix;
		int			first = shbt_find_sorted(page, group, scan->query & prefix);
		int			step = 8;

		while (first + step < sorted && fps[first + step] <= last &&
			   (!grouped || shbt_page_group(page, first + step, true) == group))
			step *= 2;
		collect_between(scan, page, first, Min(first + step, sorted), matches);
		collect_between(scan, page, sorted, count, matches);
	}
	else
		collect_between(scan, page, 0, count, matches);
}

/*
 * Copy the null fingerprints of a leaf.
 */
static void
collect_nulls(const ShIdxBallScan *scan, Page page, ShIdxMatches *matches)
{
	int			count = shbt_page_count(page);
	uint16		found[SHBT_MAX_ENTRIES];

	for (int i = 0; i < count; i++)
		found[i] = i;
	if (shbt_page_is_grouped(page) && !scan->groups.all)
		count = keep_groups(scan, page, 0, found, count);
	for (int i = 0; i < count; i++)
		add_match(scan, matches, 0, page, found[i]);
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
		if (scan->nulls)
			collect_nulls(scan, page, matches);
		else
			collect_matches(scan, page, matches);
		shbt_check_tids(scan->index, BufferGetBlockNumber(buffer), matches->tids, matches->count);
		scan->block = BufferGetBlockNumber(buffer);
		if (matches->count > 0)
			scan->lsn = BufferGetLSNAtomic(buffer);
		scan->right = ShBtPageGetOpaque(page)->right;
		scan->high = shbt_page_high(page);
		scan->width = scan->high.fp;
		if (ShBtPageGetOpaque(page)->low_group == scan->high.group)
			scan->width -= ShBtPageGetOpaque(page)->low_fp;

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
