/*-------------------------------------------------------------------------
 *
 * scan.c
 *	  Scanning a simhash index.
 *
 * An unordered scan reads the balls of one condition one after the other, and
 * drops what does not meet the other conditions, or lies in an earlier ball.
 * For an ordered one see ordered.c.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/itup.h"
#include "access/relscan.h"
#include "access/xlog.h"
#include "nodes/tidbitmap.h"
#include "pgstat.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "bits/distance.h"
#include "btree/cache.h"
#include "compat.h"
#include "index/am.h"
#include "index/scan.h"

/*
 * ambeginscan
 */
IndexScanDesc
shidx_beginscan(Relation index, int nkeys, int norderbys)
{
	IndexScanDesc scan = RelationGetIndexScan(index, nkeys, norderbys);
	ShIdxScan	so = palloc0(sizeof(ShIdxScanData));

	scan->opaque = so;
	scan->xs_itupdesc = RelationGetDescr(index);
	so->conditions = palloc(Max(nkeys, 1) * sizeof(ShIdxCondition));
	so->context = AllocSetContextCreate(CurrentMemoryContext, "simhash scan keys",
										ALLOCSET_SMALL_SIZES);
	so->nothing = true;
	so->pin = InvalidBuffer;
	shidx_ball_begin(&so->ballscan, index, shbt_get_scheme(index));
	if (norderbys > 0)
		shidx_ordered_begin(scan);
	return scan;
}

static void
release_pins(ShIdxScan so)
{
	shidx_ball_release(&so->ballscan);
	shidx_ordered_release(so);
}

/*
 * amrescan
 */
void
shidx_rescan(IndexScanDesc scan, ScanKey keys, int nkeys, ScanKey orderbys, int norderbys)
{
	ShIdxScan	so = (ShIdxScan) scan->opaque;

	release_pins(so);
	if (keys != NULL && scan->numberOfKeys > 0)
		memmove(scan->keyData, keys, scan->numberOfKeys * sizeof(ScanKeyData));
	if (orderbys != NULL && scan->numberOfOrderBys > 0)
		memmove(scan->orderByData, orderbys, scan->numberOfOrderBys * sizeof(ScanKeyData));
	shidx_read_keys(scan);
	so->begun = false;
	so->ordered = false;
	so->at_nulls = false;
	so->ball = 0;
	so->matches.count = 0;
	so->next_match = 0;
}

/*
 * amendscan
 */
void
shidx_endscan(IndexScanDesc scan)
{
	ShIdxScan	so = (ShIdxScan) scan->opaque;

	release_pins(so);
	if (so->nearest != NULL)
		shidx_ordered_end(scan);
	MemoryContextDelete(so->context);
	if (so->tuple != NULL)
		pfree(so->tuple);
	if (so->null_tuple != NULL)
		pfree(so->null_tuple);
	pfree(so->conditions);
	pfree(so->ballscan.scheme);
	pfree(so);
}

/*
 * Before the first page is read.
 */
static void
begin(IndexScanDesc scan)
{
	ShIdxScan	so = (ShIdxScan) scan->opaque;

	so->begun = true;
	so->ballscan.snapshot = scan->xs_snapshot;
	shcompat_count_index_scan(scan);
	if (so->nothing)
		return;
	if (!so->non_nulls)
		return;
	so->ordered = so->nearest != NULL && shidx_ordered_start(scan);
	if (!so->ordered)
		shidx_start_matches(so);
}

/*
 * Drop the matches that do not meet the other conditions, or that an earlier
 * ball has returned.
 */
static void
filter_matches(ShIdxScan so)
{
	ShIdxMatches *matches = &so->matches;
	int			kept = 0;

	if (so->nconditions == 1 && so->ball == 0)
		return;
	for (int i = 0; i < matches->count; i++)
	{
		uint64		fp = matches->fps[i];

		if (shidx_meets(so, 1, fp) &&
			!shidx_in_balls(&so->conditions[0], so->ball, fp))
		{
			matches->fps[kept] = fp;
			matches->tids[kept] = matches->tids[i];
			kept++;
		}
	}
	matches->count = kept;
}

/*
 * Start to read the matches that have a fingerprint, in no order.
 */
void
shidx_start_matches(ShIdxScan so)
{
	so->ball = 0;
	shidx_ball_start(&so->ballscan, so->conditions[0].balls[0]);
}

/*
 * Read the next ones.  Returns false after the last.
 */
bool
shidx_next_matches(ShIdxScan so)
{
	for (;;)
	{
		while (shidx_ball_next(&so->ballscan, &so->matches))
		{
			filter_matches(so);
			if (so->matches.count > 0)
				return true;
		}
		if (++so->ball >= so->conditions[0].nballs)
			return false;
		shidx_ball_start(&so->ballscan, so->conditions[0].balls[so->ball]);
	}
}

/*
 * Read the next matches, first those with a fingerprint, then those without.
 */
static bool
read_matches(ShIdxScan so)
{
	so->next_match = 0;
	so->matches.count = 0;
	if (so->nothing)
		return false;
	if (!so->at_nulls)
	{
		if (so->non_nulls && !so->ordered && shidx_next_matches(so))
			return true;
		if (!so->nulls)
		{
			so->nothing = true;
			return false;
		}
		so->at_nulls = true;
		shidx_ball_start_nulls(&so->ballscan);
	}
	return shidx_ball_next(&so->ballscan, &so->matches);
}

/*
 * Give an index-only scan its tuple.
 */
static void
return_tuple(IndexScanDesc scan, uint64 fp, bool is_null)
{
	ShIdxScan	so = (ShIdxScan) scan->opaque;
	IndexTuple *tuple = is_null ? &so->null_tuple : &so->tuple;

	/* all tuples look alike but for the value, so one serves for all */
	if (*tuple == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(so));
		Datum		value = SimhashGetDatum(0);

		*tuple = index_form_tuple(scan->xs_itupdesc, &value, &is_null);
		MemoryContextSwitchTo(old);
	}
	if (!is_null)
		memcpy((char *) *tuple + IndexInfoFindDataOffset((*tuple)->t_info), &fp, sizeof(fp));
	scan->xs_itup = *tuple;
}

/*
 * amgettuple
 */
bool
shidx_gettuple(IndexScanDesc scan, ScanDirection direction)
{
	ShIdxScan	so = (ShIdxScan) scan->opaque;
	uint64		fp;

	Assert(ScanDirectionIsForward(direction));

	/*
	 * The pin matters to who looks at rows that may have taken over the TID
	 * of another: by a snapshot that sees rows newer than the scan, or by the
	 * visibility map alone.
	 */
	so->ballscan.keep_pin = scan->xs_want_itup || !IsMVCCSnapshot(scan->xs_snapshot);
	if (!so->begun)
		begin(scan);

	scan->xs_recheck = false;
	scan->xs_recheckorderby = false;
	if (so->ordered && !so->at_nulls &&
		shidx_ordered_next(scan, so->ballscan.keep_pin, &fp, &scan->xs_heaptid))
	{
		if (scan->xs_want_itup)
			return_tuple(scan, fp, false);
		return true;
	}
	if (so->next_match >= so->matches.count && !read_matches(so))
		return false;
	scan->xs_heaptid = so->matches.tids[so->next_match];
	if (scan->xs_want_itup)
		return_tuple(scan, so->matches.fps[so->next_match], so->at_nulls);
	so->next_match++;
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

	begin(scan);
	while (read_matches(so))
	{
		tbm_add_tuples(bitmap, so->matches.tids, so->matches.count, false);
		count += so->matches.count;
	}
	return count;
}

/*
 * amcanreturn
 *
 * Not during recovery: generic WAL removes the entries of a leaf without
 * waiting for pins, so a TID could come to belong to another row between the
 * look at the leaf and the look at the visibility map.
 */
bool
shidx_canreturn(Relation index, int column)
{
	return !RecoveryInProgress();
}
