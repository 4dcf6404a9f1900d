/*-------------------------------------------------------------------------
 *
 * scan.c
 *	  Scanning a simhash index.
 *
 * A scan is a list of probes (bits/probe.h), each a walk over some leaves of
 * one table, in ascending order and each leaf once.  A leaf is read in one
 * go: what matches on it is copied, and its lock given up.
 *
 * No row is returned twice: a row has one entry in each table, each leaf of a
 * table is read once, and of the probes that come across a match only the one
 * that owns it returns it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/relscan.h"
#include "miscadmin.h"
#include "nodes/tidbitmap.h"
#include "pgstat.h"
#include "utils/snapmgr.h"

#include "bits/ball.h"
#include "bits/distance.h"
#include "bits/probe.h"
#include "index/am.h"
#include "index/page.h"
#include "index/tree.h"
#include "type/simhash.h"

#include "compat.h"

/* how many leaves are fetched ahead when a scan starts */
#define MAX_PREFETCH	8

typedef struct ShIdxScanData
{
	ShBitsScheme *scheme;
	int			null_tree;

	/* what is asked for */
	bool		nothing;		/* no row can match */
	bool		nulls;			/* rows with a null fingerprint */
	bool		non_nulls;		/* rows with a fingerprint in all the balls */
	int			nballs;
	SimhashBall *balls;			/* the first, smallest one drives the scan */

	/* how it is found; good for plan_radius */
	int			plan_radius;
	double		leaves_per_table;
	ShBitsProbePlan plan;

	/* where we are */
	int			probe;			/* nprobes: among the nulls; then at the end */
	bool		started;		/* probe has read a page */
	uint64		query;			/* driving centre, as the probe's table has it */
	BlockNumber right;			/* of the last page that was read */
	ShIdxKey	high;
	Buffer		pin;			/* page of the matches, if it must stay */

	/* matches on the last page that was read */
	int			nmatches;
	int			next_match;
	ItemPointerData matches[SHIDX_LEAF_CAPACITY];
} ShIdxScanData;

typedef ShIdxScanData *ShIdxScan;

/*
 * ambeginscan
 */
IndexScanDesc
shidx_beginscan(Relation index, int nkeys, int norderbys)
{
	IndexScanDesc scan = RelationGetIndexScan(index, nkeys, norderbys);
	ShIdxScan	so = palloc(sizeof(ShIdxScanData));

	so->scheme = shidx_get_scheme(index);
	so->null_tree = so->scheme->ntables;
	so->balls = palloc(Max(nkeys, 1) * sizeof(SimhashBall));
	so->plan_radius = -1;
	so->plan.nprobes = 0;
	so->leaves_per_table = (double) RelationGetNumberOfBlocks(index) / so->scheme->ntables;
	so->pin = InvalidBuffer;
	so->nothing = true;
	scan->opaque = so;
	return scan;
}

/*
 * Turn the scan keys into balls that all hold the fingerprints asked for.
 */
static void
read_keys(IndexScanDesc scan)
{
	ShIdxScan	so = (ShIdxScan) scan->opaque;
	bool		is_null = false;
	bool		is_not_null = false;

	so->nothing = false;
	so->nballs = 0;
	for (int i = 0; i < scan->numberOfKeys; i++)
	{
		ScanKey		key = &scan->keyData[i];
		SimhashBall *ball;

		if (key->sk_flags & SK_SEARCHNULL)
		{
			is_null = true;
			continue;
		}
		is_not_null = true;
		if (key->sk_flags & SK_SEARCHNOTNULL)
			continue;
		if (key->sk_flags & SK_ISNULL)
		{
			so->nothing = true; /* the operators are strict */
			continue;
		}

		ball = &so->balls[so->nballs++];
		if (key->sk_strategy == SHIDX_STRATEGY_BALL)
			*ball = *DatumGetSimhashBall(key->sk_argument);
		else if (key->sk_strategy <= SHIDX_MAX_WITHIN_STRATEGY)
		{
			ball->centre = DatumGetSimhash(key->sk_argument);
			ball->radius = SHIDX_RADIUS_OF_STRATEGY(key->sk_strategy);
		}
		else
			elog(ERROR, "unknown strategy %d", key->sk_strategy);

		if (ball->radius < 0)
			so->nothing = true;
		else if (ball->radius < so->balls[0].radius)
		{
			SimhashBall smallest = *ball;

			*ball = so->balls[0];
			so->balls[0] = smallest;
		}
	}

	if (so->nballs == 0)
		so->balls[0] = (SimhashBall) {0, SIMHASH_BITS, 0};
	so->nulls = !is_not_null;
	so->non_nulls = !is_null;
	if (is_null && is_not_null)
		so->nothing = true;
}

static void
release_pin(ShIdxScan so)
{
	if (BufferIsValid(so->pin))
		ReleaseBuffer(so->pin);
	so->pin = InvalidBuffer;
}

/*
 * amrescan
 */
void
shidx_rescan(IndexScanDesc scan, ScanKey keys, int nkeys, ScanKey orderbys, int norderbys)
{
	ShIdxScan	so = (ShIdxScan) scan->opaque;

	release_pin(so);
	if (keys != NULL && scan->numberOfKeys > 0)
		memmove(scan->keyData, keys, scan->numberOfKeys * sizeof(ScanKeyData));
	read_keys(scan);

	if (!so->nothing && so->non_nulls && so->balls[0].radius != so->plan_radius)
	{
		so->plan_radius = so->balls[0].radius;
		shbits_plan_probes(so->scheme, so->plan_radius, so->leaves_per_table, &so->plan);
	}
	so->probe = so->non_nulls ? 0 : so->plan.nprobes;
	so->started = false;
	so->nmatches = 0;
	so->next_match = 0;
}

/*
 * amendscan
 */
void
shidx_endscan(IndexScanDesc scan)
{
	ShIdxScan	so = (ShIdxScan) scan->opaque;

	release_pin(so);
	pfree(so->balls);
	pfree(so->scheme);
	pfree(so);
}

/*
 * The first fingerprint >= from, as the probe's table has it, that the probe
 * can own.  Returns false if there is none.
 *
 * It may return one that cannot match after all, but never skips one that can.
 */
static bool
next_in_probe(ShIdxScan so, const ShBitsProbe *probe, uint64 from, uint64 *next)
{
	uint64		candidate;

	if (!shbits_next_in_ball(so->query, probe->radius, probe->nbits, from, &candidate))
		return false;

	/* ranges are mostly short: jump only where one turned out not to be */
	if (!so->started)
	{
		*next = candidate;
		return true;
	}
	return shbits_next_in_ball(so->query, so->balls[0].radius, SIMHASH_BITS, candidate, next);
}

/*
 * Prefetch the first leaf of each of the first probes for one prefix.
 */
static void
prefetch_probes(IndexScanDesc scan)
{
	ShIdxScan	so = (ShIdxScan) scan->opaque;

	for (int i = 0; i < Min(so->plan.nprobes, MAX_PREFETCH); i++)
	{
		const ShBitsProbe *probe = &so->plan.probes[i];
		uint64		query;

		if (probe->radius > 0 || probe->nbits == 0)
			continue;
		query = shbits_permute(&so->scheme->tables[probe->table], so->balls[0].centre);
		shidx_prefetch(scan->indexRelation, probe->table,
					   (ShIdxKey) {query & (PG_UINT64_MAX << (64 - probe->nbits)), 0});
	}
}

/*
 * Copy the TIDs of what matches on a leaf of the current probe.
 */
static void
collect_matches(ShIdxScan so, Page page)
{
	const ShBitsProbe *probe = &so->plan.probes[so->probe];
	const ShBitsTable *table = &so->scheme->tables[probe->table];
	const uint64 *fps = shidx_page_fps(page);
	uint16		found[SHIDX_LEAF_CAPACITY];
	int			nfound;

	nfound = shbits_filter(fps, shidx_page_count(page), so->query,
						   so->balls[0].radius, found);
	for (int i = 0; i < nfound; i++)
	{
		uint64		fp = shbits_unpermute(table, fps[found[i]]);
		bool		match = shbits_probe_owns(&so->plan, so->probe,
											  fp ^ so->balls[0].centre);

		for (int b = 1; b < so->nballs && match; b++)
			match = shbits_distance(fp, so->balls[b].centre) <= so->balls[b].radius;
		if (match)
			so->matches[so->nmatches++] = *shidx_leaf_tid(page, found[i]);
	}
}

/*
 * Move to the next page of the current walk, or the first of the next one.
 *
 * Returns its buffer, pinned and locked in share mode, or InvalidBuffer at
 * the end of the scan.
 */
static Buffer
next_page(IndexScanDesc scan)
{
	ShIdxScan	so = (ShIdxScan) scan->opaque;
	Relation	index = scan->indexRelation;
	Buffer		old = so->pin;

	so->pin = InvalidBuffer;
	for (; so->probe <= so->plan.nprobes; so->probe++, so->started = false)
	{
		bool		null_tree = so->probe == so->plan.nprobes;
		const ShBitsProbe *probe = &so->plan.probes[so->probe];
		int			tree = null_tree ? so->null_tree : probe->table;
		uint64		from = so->started ? so->high.fp : 0;
		uint64		next = from;

		if (null_tree ? !so->nulls : !so->non_nulls)
			continue;
		if (so->started && !BlockNumberIsValid(so->right))
			continue;
		if (!null_tree)
		{
			if (!so->started)
				so->query = shbits_permute(&so->scheme->tables[tree], so->balls[0].centre);
			if (!next_in_probe(so, probe, from, &next))
				continue;
		}

		if (so->started && next == from)
			return shidx_read_right(index, old, so->right, so->high, tree, 0,
									BUFFER_LOCK_SHARE);
		so->started = true;
		if (BufferIsValid(old))
			ReleaseBuffer(old);
		return shidx_search(index, tree, 0, (ShIdxKey) {next, 0}, BUFFER_LOCK_SHARE);
	}

	if (BufferIsValid(old))
		ReleaseBuffer(old);
	return InvalidBuffer;
}

/*
 * Read pages until one has a match.  Returns false at the end of the scan.
 *
 * The page of the matches stays pinned if keep_pin: VACUUM then waits before
 * it removes their entries, and so before it makes their TIDs free for other
 * rows.  A scan whose snapshot cannot see these other rows does not need that.
 */
static bool
read_matches(IndexScanDesc scan, bool keep_pin)
{
	ShIdxScan	so = (ShIdxScan) scan->opaque;

	so->nmatches = 0;
	so->next_match = 0;
	while (!so->nothing && so->nmatches == 0)
	{
		Buffer		buffer;
		Page		page;

		CHECK_FOR_INTERRUPTS();

		buffer = next_page(scan);
		if (!BufferIsValid(buffer))
			return false;
		page = BufferGetPage(buffer);
		if (so->probe < so->plan.nprobes)
			collect_matches(so, page);
		else
		{
			for (int i = 0; i < shidx_page_count(page); i++)
				so->matches[so->nmatches++] = *shidx_leaf_tid(page, i);
		}
		so->right = ShIdxPageGetOpaque(page)->right;
		so->high = shidx_page_high(page);

		LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
		if (keep_pin)
			so->pin = buffer;
		else
			ReleaseBuffer(buffer);
	}
	return so->nmatches > 0;
}

/*
 * Before the first page is read: count the scan in the statistics, and fetch
 * ahead.
 */
static void
start_scan(IndexScanDesc scan)
{
	ShIdxScan	so = (ShIdxScan) scan->opaque;

	if (so->probe == (so->non_nulls ? 0 : so->plan.nprobes) && !so->started)
	{
		shcompat_count_index_scan(scan);
		if (so->non_nulls && !so->nothing)
			prefetch_probes(scan);
	}
}

/*
 * amgettuple
 */
bool
shidx_gettuple(IndexScanDesc scan, ScanDirection direction)
{
	ShIdxScan	so = (ShIdxScan) scan->opaque;

	Assert(ScanDirectionIsForward(direction));

	if (so->next_match >= so->nmatches)
	{
		start_scan(scan);
		if (!read_matches(scan, !IsMVCCSnapshot(scan->xs_snapshot)))
			return false;
	}
	scan->xs_heaptid = so->matches[so->next_match++];
	scan->xs_recheck = false;
	return true;
}

/*
 * amgetbitmap
 */
int64
shidx_getbitmap(IndexScanDesc scan, TIDBitmap *bitmap)
{
	ShIdxScan	so = (ShIdxScan) scan->opaque;
	int64		count = 0;

	start_scan(scan);
	while (read_matches(scan, false))
	{
		tbm_add_tuples(bitmap, so->matches, so->nmatches, false);
		count += so->nmatches;
	}
	return count;
}
