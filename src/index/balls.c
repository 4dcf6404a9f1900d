/*-------------------------------------------------------------------------
 *
 * balls.c
 *	  Reading all entries within a ball.
 *
 * A ball is read by a list of probes (bits/probe.h).  Each probe visits some
 * leaves of one table, in ascending order and each leaf once: group by group,
 * and within each group the prefixes of the probe.  A leaf is read in one
 * step: its matches are copied, and the lock is released.
 *
 * If the groups are not known, but few, a probe goes on in the group of the high fence of
 * the last leaf and, if there is nothing left of it, where a group with the next number
 * would be.  The leaf that is found there shows which group follows.
 *
 * No row is returned twice: a row has one entry in each table, a probe reads
 * each leaf once, and of the probes that meet a match only the one that owns
 * it returns it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/predicate.h"

#include "bits/distance.h"
#include "bits/probe.h"
#include "compat.h"
#include "index/leaf.h"
#include "index/matches.h"
#include "index/tree.h"

/*
 * About how many leaves a table has.
 */
static double
leaves_of_table(const ShIdxBallScan *scan)
{
	return (double) RelationGetNumberOfBlocks(scan->index) / scan->geometry->ntrees;
}

/*
 * Prepare to read balls, of the first part of the fingerprints.  The geometry must
 * live as long as *scan.
 */
void
shidx_ball_begin(ShIdxBallScan *scan, Relation index, const ShIdxGeometry *geometry)
{
	memset(scan, 0, sizeof(*scan));
	scan->index = index;
	scan->geometry = geometry;
	scan->groups = shidx_only_group;
	scan->leaves_per_table = leaves_of_table(scan);
	scan->plan_radius = -1;
	scan->allowance = PG_INT64_MAX;
	scan->pin = InvalidBuffer;
	scan->aims = palloc(Max(geometry->scheme->ntables, geometry->nparts) * sizeof(ShIdxAim));
}

/*
 * Set the groups to read from now on; the list must live as long as it is in use.  If the
 * index has groups, this counts their leaves or, if none can be left out and each is searched
 * for a condition, the groups.
 */
void
shidx_ball_set_groups(ShIdxBallScan *scan, ShIdxGroups *groups, bool has_condition)
{
	double		leaves;

	if (!shidx_is_grouped(scan->index))
		return;
	leaves = shidx_plan_groups(scan->index, groups, has_condition, leaves_of_table(scan));
	if (leaves != scan->leaves_per_table || groups->total != scan->groups.total)
		scan->plan_radius = -1;
	scan->groups = *groups;
	scan->leaves_per_table = leaves;
}

/*
 * The number of leaves of a table that the groups to read have together.
 */
double
shidx_ball_leaves(const ShIdxBallScan *scan)
{
	if (scan->groups.all || scan->groups.count == 1)
		return scan->leaves_per_table;

	/* small groups share leaves */
	return Min(scan->leaves_per_table * scan->groups.count, Max(leaves_of_table(scan), 1));
}

/*
 * Plan how to search balls of a radius >= 0, unless that plan exists already.
 */
static void
plan_ball(ShIdxBallScan *scan, int radius)
{
	if (radius == scan->plan_radius)
		return;
	if (scan->geometry->prefix_bits > 0 && radius < SHBITS_WIDTH)
		shbits_plan_band(scan->leaves_per_table, scan->groups.total, &scan->plan);
	else
		shbits_plan_probes(scan->geometry->scheme, radius, scan->leaves_per_table,
						   scan->groups.total, &scan->plan);
	scan->plan_radius = radius;
}

/*
 * Start a probe anew: none of its pages has been read yet.
 */
static void
restart(ShIdxBallScan *scan)
{
	scan->started = false;
	scan->reached = 0;
	scan->group = scan->groups.all ? &scan->reached : scan->groups.list;
	scan->groups_end = scan->group + scan->groups.count;
}

/*
 * Aim at the first leaf of each probe of a ball in the first group, except for probes
 * that read a whole table.
 */
static void
add_aims(ShIdxBallScan *scan, int part, ShFingerprint center)
{
	ShIdxAim   *aims = scan->aims;
	int			naims = scan->naims;

	for (int i = 0; i < scan->plan.nprobes; i++)
	{
		const ShBitsProbe *probe = &scan->plan.probes[i];
		ShPermuted	query = shbits_permute(&scan->geometry->scheme->tables[probe->table],
										   center);
		ShPermuted	first;

		if (probe->nbits > 0 &&
			shbits_next_in_ball(query, probe->radius, probe->nbits, 0, &first))
		{
			aims[naims].tree = shidx_tree_of(scan->geometry, part, probe->table);
			aims[naims].key = shidx_make_key(scan->groups.list[0], first, 0);
			aims[naims].last = first | ~shbits_prefix_mask(probe->nbits);
			naims++;
		}
	}
	scan->naims = naims;
}

/*
 * Prefetch the leaves of all parts at once, each of which has one ball or none.
 */
void
shidx_ball_look_ahead(ShIdxBallScan *scan, const ShIdxBalls *parts)
{
	scan->aim = 0;
	scan->naims = 0;
	scan->of_all_parts = true;
	for (int p = 0; !scan->groups.all && p < scan->geometry->nparts; p++)
	{
		if (parts[p].count == 0)
			continue;
		plan_ball(scan, parts[p].list->radius);
		add_aims(scan, p, parts[p].list->center);
	}
	shidx_look_ahead(scan->index, scan->naims, scan->aims);
}

/*
 * Read a ball from now on, beginning with the first probe of a plan.  Releases
 * the pin of the last ball.
 */
static void
set_ball(ShIdxBallScan *scan, SimhashBall ball)
{
	shidx_ball_release(scan);
	scan->ball = ball;
	scan->probe = 0;
	if (!scan->of_all_parts)
		scan->aim = scan->naims = 0;
	restart(scan);
}

/*
 * Prefetch the leaves of the ball.
 */
static void
look_ahead(ShIdxBallScan *scan)
{
	add_aims(scan, scan->part, scan->ball.center);
	shidx_look_ahead(scan->index, scan->naims, scan->aims);
}

/*
 * Start to read the entries within a ball of a radius >= 0.  Releases the pin of the last
 * ball.  Reads no page yet.
 */
void
shidx_ball_start(ShIdxBallScan *scan, SimhashBall ball)
{
	Assert(ball.radius >= 0);
	set_ball(scan, ball);
	plan_ball(scan, ball.radius);
	if (!scan->of_all_parts && !scan->groups.all)
		look_ahead(scan);
}

/*
 * Start to read, of the entries within a ball, those that the probes of a ring meet, from
 * radius inner, or -1, to radius.  Releases the pin of the last ball.  Returns false if the
 * ring is not read by probes, or takes more pages than the allowance.  Reads no page yet.
 */
bool
shidx_ball_start_ring(ShIdxBallScan *scan, SimhashBall ball, int inner, int radius,
					  double allowance)
{
	set_ball(scan, ball);
	if (scan->groups.all)
		return false;
	if (inner < 0)
		plan_ball(scan, radius);
	else
	{
		scan->plan_radius = -1;
		if (!shbits_plan_ring(scan->geometry->scheme, inner, radius, scan->leaves_per_table,
							  &scan->plan))
			return false;
	}
	if (scan->plan.probes[0].nbits == 0 || shidx_plan_charge(&scan->plan) >= allowance)
		return false;
	if (inner < 0)
		look_ahead(scan);
	return true;
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
	scan->plan_radius = -1;		/* the plan does not depend on the radius */
}

/*
 * Release the pin, if one is held.
 */
void
shidx_ball_release(ShIdxBallScan *scan)
{
	if (BufferIsValid(scan->pin))
		ReleaseBuffer(scan->pin);
	scan->pin = InvalidBuffer;
}

/*
 * Pin the leaf of an entry of fingerprints of one part, whose pin has been dropped.
 * Releases the last pin.  Returns false, with nothing pinned, if the entry is gone, and
 * so is its row.  No lock is held on return.
 */
bool
shidx_ball_pin(ShIdxBallScan *scan, ShFingerprint fp, ItemPointerData tid)
{
	ShPermuted	permuted = shbits_permute(&scan->geometry->scheme->tables[0], fp);

	shidx_ball_release(scan);

	/* pins are for index-only scans, and so not for several columns */
	if (scan->groups.all || scan->groups.count != 1)
		elog(ERROR, "groups of candidates are not known");
	return shidx_pin_entry(scan->index,
						   shidx_make_key(scan->groups.list[0], permuted, shidx_tid_to_int(&tid)),
						   scan->snapshot, &scan->pin);
}

/*
 * Find the first fingerprint >= from, in the permutation of the probe's table,
 * whose prefix belongs to the probe.  Returns false if there is none.
 */
static bool
next_prefix(const ShIdxBallScan *scan, const ShBitsProbe *probe, ShPermuted from, ShPermuted *next)
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
 * Find the first fingerprint >= from, in the permutation of the probe's table,
 * that the probe can own.  Returns false if there is none.
 *
 * It may return one that turns out not to match, but never skips one that can.
 */
static bool
next_in_probe(const ShIdxBallScan *scan, const ShBitsProbe *probe, ShPermuted from, ShPermuted *next)
{
	ShPermuted	candidate;

	if (!next_prefix(scan, probe, from, &candidate))
		return false;

	/* ranges are mostly short: jump only if this one turned out to be long */
	if (!scan->started)
	{
		*next = candidate;
		return true;
	}
	return shbits_next_in_ball(scan->query, scan->ball.radius, SHBITS_WIDTH, candidate, next);
}

/*
 * Move to the next group that is to be read, whether it exists or not.  Returns false if
 * there is none.
 */
static inline bool
next_group(ShIdxBallScan *scan)
{
	if (scan->groups.all)
		return ++scan->reached > 0;
	return ++scan->group < scan->groups_end;
}

/*
 * Move to the first of the groups of which something remains to be
 * read.  Returns false if there is none.  Otherwise *from is where the rest
 * begins: on the page to the right of the last one if *right, or at the start
 * of the group.
 */
static pg_attribute_always_inline bool
find_group(ShIdxBallScan *scan, ShPermuted *from, bool *right)
{
	*from = 0;
	*right = false;
	if (scan->started)
	{
		if (scan->groups.all)
			scan->reached = scan->high.group;
		while (*scan->group < scan->high.group)
		{
			if (!next_group(scan))
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
 * Find the first key that the probe can own, at the start or to the right of
 * the last page.  Returns false if there is none.  Sets *right if the page to
 * the right is to be read, whatever the key.
 */
static pg_attribute_always_inline bool
next_probe_key(ShIdxBallScan *scan, const ShBitsProbe *probe, ShIdxKey *next, bool *right)
{
	ShPermuted	from;
	ShPermuted	fp;

	if (scan->groups.all && !scan->plan.skips)
	{
		*next = SHIDX_LOWEST_KEY;
		*right = scan->started;
		return true;
	}
	if (!find_group(scan, &from, right))
		return false;
	while (!next_in_probe(scan, probe, from, &fp))
	{
		if (!next_group(scan))
			return false;
		from = 0;
		*right = false;
	}

	/*
	 * a key close to the end of the last page is most likely on the next one
	 */
	*right &= fp - from <= scan->width;
	scan->from = fp;
	*next = shidx_make_key(*scan->group, fp, 0);
	return true;
}

/*
 * Read the page that holds a key or, if right is true, the one to the right of
 * the last page, whose pin is released.  Locks it in share mode.
 */
static pg_attribute_always_inline Buffer
read_page(ShIdxBallScan *scan, int tree, ShIdxKey key, bool right)
{
	if (right)
	{
		Buffer		old = scan->pin;

		scan->pin = InvalidBuffer;
		return shidx_read_right(scan->index, old, scan->right, scan->high, tree, 0,
								BUFFER_LOCK_SHARE);
	}
	shidx_ball_release(scan);
	scan->allowance--;			/* a page on the way down */
	if (!scan->started)
	{
		scan->started = true;
		if (likely(scan->aim < scan->naims && scan->aims[scan->aim].tree == tree))
		{
			ShIdxAim   *aim = &scan->aims[scan->aim++];

			if (likely(shidx_key_equal(aim->key, key)))
				return shidx_leaf(scan->index, tree, key, &aim->place, BUFFER_LOCK_SHARE);
		}
	}
	return shidx_leaf(scan->index, tree, key, NULL, BUFFER_LOCK_SHARE);
}

/*
 * Move to the next page of the current probe, or the first page of the next
 * one.
 *
 * Returns its buffer, pinned and locked in share mode, or InvalidBuffer at the
 * end.  The pin of the last page is released.
 */
static Buffer
next_page(ShIdxBallScan *scan)
{
	for (; scan->probe < scan->plan.nprobes; scan->probe++, restart(scan))
	{
		const ShBitsProbe *probe = &scan->plan.probes[scan->probe];
		ShIdxKey	next;
		bool		right;

		if (!scan->started)
			scan->query = shbits_permute(&scan->geometry->scheme->tables[probe->table],
										 scan->ball.center);
		else if (!BlockNumberIsValid(scan->right))
			continue;
		if (next_probe_key(scan, probe, &next, &right))
			return read_page(scan, shidx_tree_of(scan->geometry, scan->part, probe->table), next,
							 right);
	}
	shidx_ball_release(scan);
	return InvalidBuffer;
}

/*
 * Copy entry i of a leaf, unless it is known to be dead.
 */
static void
add_match(const ShIdxBallScan *scan, ShIdxMatches *matches, ShFingerprint fp, Page page, int i)
{
	if (scan->skip_dead && shidx_is_dead(page, i))
		return;
	matches->fps[matches->count] = fp;
	shidx_int_to_tid(shidx_leaf_row(page, i), &matches->tids[matches->count]);
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
 * Of the entries found on a leaf, whose positions are relative to first, keep
 * those that belong to a wanted group.
 */
static int
keep_groups(const ShIdxBallScan *scan, Page page, int first, uint16 *found, int nfound)
{
	const ShIdxGroups *groups = &scan->groups;
	int			kept = 0;

	for (int i = 0; i < nfound; i++)
	{
		if (is_wanted(groups, shidx_page_group(page, first + found[i])))
			found[kept++] = found[i];
	}
	return kept;
}

/*
 * Copy the matches among the entries first .. end - 1 of a leaf of the current
 * probe.
 */
static void
collect_between(const ShIdxBallScan *scan, Page page, int first, int end,
				ShIdxMatches *matches)
{
	const ShBitsProbe *probe = &scan->plan.probes[scan->probe];
	const ShBitsTable *table = &scan->geometry->scheme->tables[probe->table];
	uint16		found[SHIDX_MAX_ENTRIES];
	int			nfound;
	bool		owns_all = probe->nbits == 0;

	nfound = shidx_filter_leaf(page, first, end, scan->query, scan->ball.radius, found);
	if (shidx_page_is_grouped(page) && !scan->groups.all)
		nfound = keep_groups(scan, page, first, found, nfound);
	for (int i = 0; i < nfound; i++)
	{
		ShFingerprint fp = shbits_unpermute(table, shidx_leaf_fp(page, first + found[i]));

		if (owns_all || shbits_probe_owns(&scan->plan, scan->probe, fp ^ scan->ball.center))
			add_match(scan, matches, fp, page, first + found[i]);
	}
}

/*
 * Can at most one wanted group be on a leaf?  If so, it is the current one.
 */
static bool
wants_one_group(const ShIdxBallScan *scan, Page page)
{
	if (scan->groups.all)
		return scan->plan.skips && scan->reached == shidx_page_high(page).group;
	return scan->group + 1 == scan->groups_end ||
		scan->group[1] > shidx_page_high(page).group;
}

/*
 * The entries of one prefix, or of one group, among the sorted ones of a leaf,
 * and perhaps some behind them.
 */
static void
find_one_prefix(const ShIdxBallScan *scan, const ShBitsProbe *probe, Page page, int *first, int *end)
{
	bool		grouped = shidx_page_is_grouped(page);
	int			sorted = shidx_leaf_sorted(page);
	uint32		group = *scan->group;
	uint64		prefix = shbits_prefix_mask(probe->nbits);
	ShPermuted	last = scan->query | ~prefix;
	int			step = 8;

	*first = shidx_find_sorted(page, group, scan->query & prefix);
	while (*first + step < sorted && shidx_leaf_fp(page, *first + step) <= last &&
		   (!grouped || shidx_page_group(page, *first + step) == group))
		step *= 2;
	*end = Min(*first + step, sorted);
}

/*
 * The same for a probe of several prefixes: the range that the search for this
 * leaf led to or, if another one begins on the leaf, all that follows.
 */
static void
find_prefixes(const ShIdxBallScan *scan, const ShBitsProbe *probe, Page page, int *first, int *end)
{
	ShIdxKey	high = shidx_page_high(page);
	uint32		group = *scan->group;
	ShPermuted	last = scan->from | ~shbits_prefix_mask(probe->nbits);
	ShPermuted	next;

	if (last < PG_UINT64_MAX && shidx_key_less(shidx_make_key(group, last, 0), high) &&
		next_prefix(scan, probe, last + 1, &next) &&
		shidx_key_less(shidx_make_key(group, next, 0), high))
		last = PG_UINT64_MAX;
	shidx_find_about(page, group, scan->from, last, first, end);
}

/*
 * Copy the matches on a leaf of the current probe.
 *
 * Of the sorted entries, hardly more are compared than those with the prefixes
 * of the probe, which saves memory accesses more than work.
 */
static void
collect_matches(const ShIdxBallScan *scan, Page page, ShIdxMatches *matches)
{
	const ShBitsProbe *probe = &scan->plan.probes[scan->probe];
	int			count = shidx_page_count(page);
	int			sorted = shidx_leaf_sorted(page);
	int			first = 0;
	int			end = sorted;

	if (sorted > 0 && (shidx_page_is_grouped(page) ? wants_one_group(scan, page) : probe->nbits > 0))
	{
		if (probe->radius == 0)
			find_one_prefix(scan, probe, page, &first, &end);
		else
			find_prefixes(scan, probe, page, &first, &end);
	}
	if (end == sorted)
		end = count;
	collect_between(scan, page, first, end, matches);
	if (end < sorted && sorted < count)
		collect_between(scan, page, sorted, count, matches);
}

/*
 * Read pages until one has matches, and copy them.  Returns false at the end,
 * or when the allowance of pages is used up.
 *
 * With keep_pin the page of the matches stays pinned until the next call:
 * VACUUM then waits before it removes their entries, and hence before their
 * TIDs can be reused.  No lock is held on return.
 */
bool
shidx_ball_next(ShIdxBallScan *scan, ShIdxMatches *matches)
{
	matches->count = 0;
	while (matches->count == 0)
	{
		Buffer		buffer;
		Page		page;
		ShIdxKey	low;

		CHECK_FOR_INTERRUPTS();

		if (scan->allowance <= 0)
			return false;
		buffer = next_page(scan);
		if (!BufferIsValid(buffer))
			return false;
		page = BufferGetPage(buffer);
		scan->allowance--;
		if (scan->snapshot != NULL)
		{
			PredicateLockPage(scan->index, BufferGetBlockNumber(buffer), scan->snapshot);
			shcompat_test_old_snapshot(scan->snapshot, scan->index, page);
		}
		collect_matches(scan, page, matches);
		shidx_check_tids(scan->index, BufferGetBlockNumber(buffer), matches->tids, matches->count);
		scan->block = BufferGetBlockNumber(buffer);
		if (matches->count > 0)
			scan->lsn = BufferGetLSNAtomic(buffer);
		scan->right = shidx_page_right(page);
		scan->high = shidx_page_high(page);
		scan->width = scan->high.fp;
		low = shidx_page_low(page);
		if (low.group == scan->high.group)
			scan->width -= low.fp;

		LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
		if (scan->keep_pin)
			scan->pin = buffer;
		else
			ReleaseBuffer(buffer);
	}
	return true;
}

/*
 * Mark the entries of some of the matches that were returned last as dead:
 * those whose positions in *matches are in dead[].  Their rows are dead to all
 * transactions.
 *
 * The TIDs must certainly not have been reused.  If the pin of the leaf has
 * been kept, it has held off VACUUM.  Otherwise the leaf must be unchanged,
 * which its LSN shows only if the index is WAL-logged.  Locks the leaf in
 * share mode while it is marked.
 */
void
shidx_ball_mark_dead(ShIdxBallScan *scan, const ShIdxMatches *matches,
					 const uint16 *dead, int ndead)
{
	bool		pinned = BufferIsValid(scan->pin);
	uint16		positions[SHIDX_MAX_ENTRIES];
	ItemPointerData tids[SHIDX_MAX_ENTRIES];
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
		shidx_mark_dead(buffer, positions, tids, ndead);
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	if (!pinned)
		ReleaseBuffer(buffer);
}
