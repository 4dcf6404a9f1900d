/*-------------------------------------------------------------------------
 *
 * scan.c
 *	  Scanning a simhash index.
 *
 * Matches come from the reader of the query or, if the scan has an order, from
 * nearest.c.  Rows with a null fingerprint come last.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/itup.h"
#include "access/relscan.h"
#include "access/tableam.h"
#include "access/xlog.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "nodes/tidbitmap.h"
#include "pgstat.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "compat.h"
#include "index/handler.h"
#include "index/matches.h"

typedef enum ShIdxScanStep
{
	SCAN_BEGIN,					/* no row has been fetched yet */
	SCAN_ORDERED,				/* fingerprints, by distance */
	SCAN_UNORDERED,				/* fingerprints, as they are read */
	SCAN_NULLS,					/* null fingerprints */
	SCAN_DONE
} ShIdxScanStep;

typedef struct ShIdxScanData
{
	MemoryContext context;		/* of all that a scan allocates, and of this */

	ShIdxQuery	query;
	ShIdxScanStep step;
	bool		inexact;		/* conditions must be rechecked with the row */
	ShIdxOrdered *ordered;		/* NULL if there are no ORDER BY keys */

	/* what an index-only scan returns */
	IndexTuple	tuple;
	IndexTuple	null_tuple;

	/* rows are visited before they are returned, as the executor may not look */
	bool		checks_visible;
	TupleTableSlot *slot;		/* NULL before the first one */

	ShIdxReader reader;			/* last, as most of it is not initialized */
} ShIdxScanData;

typedef ShIdxScanData *ShIdxScan;

/*
 * ambeginscan: allocate the state of a scan
 *
 * A statement may begin as many scans as it checks rows of an exclusion constraint,
 * in a memory context that lives as long as the statement.  So what a scan
 * allocates, ever, is in a context of its own.
 */
IndexScanDesc
shidx_beginscan(Relation index, int nkeys, int norderbys)
{
	IndexScanDesc scan = RelationGetIndexScan(index, nkeys, norderbys);
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "simhash scan",
												  ALLOCSET_SMALL_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	ShIdxScan	so = palloc(sizeof(ShIdxScanData));

	memset(so, 0, offsetof(ShIdxScanData, reader));
	scan->opaque = so;
	scan->xs_itupdesc = RelationGetDescr(index);
	so->context = context;
	so->step = SCAN_DONE;
	shidx_query_begin(&so->query, index);
	shidx_reader_begin(&so->reader, &so->query);
	if (norderbys > 0)
	{
		/* shidx_costestimate has left no order by anything else */
		if (so->query.fingerprinter.kind != SHIDX_NARROW || norderbys > 1)
			elog(ERROR, "index \"%s\" has no order by distance", RelationGetRelationName(index));
		so->ordered = shidx_ordered_begin(&so->reader);

		/* the order is exact, so nobody asks for the distances */
		scan->xs_recheckorderby = false;
		scan->xs_orderbyvals = palloc0(sizeof(Datum));
		scan->xs_orderbynulls = palloc(sizeof(bool));
		*scan->xs_orderbynulls = true;
	}
	MemoryContextSwitchTo(old);
	return scan;
}

/*
 * Release what is not memory: pins and files.
 */
static void
release_resources(ShIdxScan so)
{
	shidx_reader_release(&so->reader);
	if (so->ordered != NULL)
		shidx_ordered_release(so->ordered);
}

/*
 * amrescan: start with new keys
 */
void
shidx_rescan(IndexScanDesc scan, ScanKey keys, int nkeys, ScanKey orderbys, int norderbys)
{
	ShIdxScan	so = (ShIdxScan) scan->opaque;

	release_resources(so);
	if (keys != NULL && scan->numberOfKeys > 0)
		memmove(scan->keyData, keys, scan->numberOfKeys * sizeof(ScanKeyData));
	if (orderbys != NULL && scan->numberOfOrderBys > 0)
		memmove(scan->orderByData, orderbys, scan->numberOfOrderBys * sizeof(ScanKeyData));

	shidx_read_query(&so->query, scan->keyData, scan->numberOfKeys);
	for (int i = 0; i < scan->numberOfOrderBys; i++)
		shidx_check_key(&so->query, &scan->orderByData[i]);
	so->step = SCAN_BEGIN;
}

/*
 * amendscan: release pins, memory and files
 */
void
shidx_endscan(IndexScanDesc scan)
{
	ShIdxScan	so = (ShIdxScan) scan->opaque;

	release_resources(so);
	if (so->slot != NULL)
		ExecDropSingleTupleTableSlot(so->slot);
	MemoryContextDelete(so->context);
}

static void
start_nulls(IndexScanDesc scan)
{
	ShIdxScan	so = (ShIdxScan) scan->opaque;

	if (so->query.nulls)
	{
		so->step = SCAN_NULLS;
		shidx_start_nulls(&so->reader);
	}
	else
		so->step = SCAN_DONE;
}

/*
 * Start, before the first row is fetched.  distinct says that no row may be returned
 * twice.
 */
static void
begin_reading(IndexScanDesc scan, bool distinct)
{
	ShIdxScan	so = (ShIdxScan) scan->opaque;
	bool		exact;

	so->checks_visible = scan->xs_want_itup && RecoveryInProgress();
	shidx_reader_prepare(&so->reader, scan->xs_snapshot, scan->ignore_killed_tuples,
						 shcompat_search_counter(scan), so->ordered != NULL);
	so->inexact = so->query.inexact;
	if (!so->query.non_nulls)
	{
		start_nulls(scan);
		return;
	}
	if (so->ordered != NULL && shidx_ordered_start(so->ordered, scan->orderByData, &exact))
	{
		so->inexact |= !exact;
		so->step = SCAN_ORDERED;
	}
	else
	{
		so->step = SCAN_UNORDERED;
		shidx_start_query(&so->reader, distinct);
	}
}

/*
 * Set the tuple of an index-only scan.  If the index does not have the values,
 * shidx_canreturn allows none to be read, so all are null.
 */
static void
return_tuple(IndexScanDesc scan, ShFingerprint fp, bool is_null)
{
	ShIdxScan	so = (ShIdxScan) scan->opaque;
	IndexTuple *tuple;

	is_null |= so->query.fingerprinter.kind != SHIDX_NARROW || shidx_is_grouped(scan->indexRelation);
	tuple = is_null ? &so->null_tuple : &so->tuple;

	/* tuples differ only in the value, so reuse one */
	if (*tuple == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(so->context);
		Datum		values[INDEX_MAX_KEYS];
		bool		nulls[INDEX_MAX_KEYS];

		for (int i = 0; i < scan->xs_itupdesc->natts; i++)
		{
			values[i] = SimhashGetDatum(0);
			nulls[i] = is_null;
		}
		*tuple = index_form_tuple(scan->xs_itupdesc, values, nulls);
		MemoryContextSwitchTo(old);
	}
	if (!is_null)
		memcpy((char *) *tuple + IndexInfoFindDataOffset((*tuple)->t_info), &fp, sizeof(fp));
	scan->xs_itup = *tuple;
}

/*
 * Move to the next row.  Returns false after the last.
 */
static bool
next_row(IndexScanDesc scan, bool keep_pin, ShFingerprint *fp, ItemPointer tid)
{
	ShIdxScan	so = (ShIdxScan) scan->opaque;
	ShIdxReader *reader = &so->reader;
	int			match;

	for (;;)
	{
		switch (so->step)
		{
			case SCAN_BEGIN:
				begin_reading(scan, true);
				break;

			case SCAN_ORDERED:
				if (shidx_ordered_next(so->ordered, keep_pin, fp, tid))
					return true;
				start_nulls(scan);
				break;

			case SCAN_UNORDERED:
			case SCAN_NULLS:
				match = shidx_next_match(reader);
				if (match >= 0)
				{
					if (scan->xs_want_itup && !shidx_pin_match(reader, match))
					{
						CHECK_FOR_INTERRUPTS();
						continue;
					}
					*fp = reader->matches.fps[match];
					*tid = reader->matches.tids[match];
					return true;
				}
				if (so->step == SCAN_UNORDERED)
					start_nulls(scan);
				else
					so->step = SCAN_DONE;
				break;

			case SCAN_DONE:
				return false;
		}
	}
}

/*
 * Does the scan's snapshot, an MVCC one, see a row?
 *
 * An index-only scan asks for rows only where the visibility map does not answer.
 * During recovery it must not ask the map: replay of generic WAL removes the
 * entries of a leaf without waiting for pins, so the row of an entry that has been
 * read may be removed, and its page marked all-visible, before the executor looks.
 */
static bool
is_row_visible(IndexScanDesc scan, ItemPointerData tid)
{
	ShIdxScan	so = (ShIdxScan) scan->opaque;
	bool		again = false;
	bool		visible;

	CHECK_FOR_INTERRUPTS();
	if (so->slot == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(so->context);

		so->slot = table_slot_create(scan->heapRelation, NULL);
		MemoryContextSwitchTo(old);
	}
	visible = table_index_fetch_tuple(scan->xs_heapfetch, &tid, scan->xs_snapshot, so->slot,
									  &again, NULL);
	ExecClearTuple(so->slot);
	return visible;
}

/*
 * amgettuple: return the next row
 */
bool
shidx_gettuple(IndexScanDesc scan, ScanDirection direction)
{
	ShIdxScan	so = (ShIdxScan) scan->opaque;
	bool		keep_pin;
	ShFingerprint fp = 0;

	Assert(ScanDirectionIsForward(direction));

	/* candidates of an ordered scan have left their leaves */
	if (scan->kill_prior_tuple && so->step != SCAN_BEGIN && so->step != SCAN_ORDERED &&
		so->step != SCAN_DONE)
		shidx_match_is_dead(&so->reader);

	/*
	 * Keep the pin for scans that could take a new row for an old one with
	 * the same TID: those with a non-MVCC snapshot, and index-only scans.
	 */
	keep_pin = scan->xs_want_itup || !IsMVCCSnapshot(scan->xs_snapshot);
	shidx_reader_keep_pins(&so->reader, keep_pin);

	do
	{
		if (!next_row(scan, keep_pin, &fp, &scan->xs_heaptid))
			return false;
	} while (unlikely(so->checks_visible) && !is_row_visible(scan, scan->xs_heaptid));
	scan->xs_recheck = so->inexact;
	if (scan->xs_want_itup)
		return_tuple(scan, fp, so->step == SCAN_NULLS);
	return true;
}

/*
 * amgetbitmap: return the TIDs of all rows that match
 */
int64
shidx_getbitmap(IndexScanDesc scan, TIDBitmap *bitmap)
{
	ShIdxScan	so = (ShIdxScan) scan->opaque;
	ShIdxMatches *matches = &so->reader.matches;
	int64		count = 0;

	begin_reading(scan, false);
	while (so->step != SCAN_DONE)
	{
		while (shidx_next_matches(&so->reader))
		{
			tbm_add_tuples(bitmap, matches->tids, matches->count, so->inexact);
			count += matches->count;
		}
		if (so->step != SCAN_NULLS)
			start_nulls(scan);
		else
			so->step = SCAN_DONE;
	}
	return count;
}

/*
 * amcanreturn: can index-only scans return a column?
 *
 * An index has only a hash of all columns but the last, and parts of a wide
 * fingerprint are in different tables.  During recovery an index-only scan would
 * visit all rows (see is_row_visible) as an index scan does.
 */
bool
shidx_canreturn(Relation index, int column)
{
	return !shidx_is_grouped(index) && !shidx_computes_fingerprints(index) &&
		!shidx_is_wide(index) && !RecoveryInProgress();
}
