/*-------------------------------------------------------------------------
 *
 * append.c
 *	  Logging the one change that is too frequent for the generic WAL API.
 *
 * All changes of index pages are logged as generic WAL records, so that they
 * replay without this library.  The API makes such a record by copying each
 * page and comparing the copy with the original, byte by byte.  That is fine
 * for a split, but it would be most of the cost of an insert, which changes
 * three known places of each leaf: 100,000 inserts took 5 to 7 times as long
 * with the API (November 2026).  So the record of an insert is assembled
 * here, in the format of generic_xlog.c: for each page, fragments of an
 * offset, a length and that many bytes.  Replay, and so the check of
 * wal_consistency_checking, is the server's own.  For server versions whose
 * format is not known to be the same, the API is used instead: with each new
 * major version, compare computeRegionDelta and applyPageRedo in generic_xlog.c
 * with those of the last one before SHCOMPAT_GENERIC_WAL_FORMAT_KNOWN is set.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/generic_xlog.h"
#include "access/rmgr.h"
#include "access/xloginsert.h"
#include "miscadmin.h"

#include "btree/append.h"
#include "btree/dead.h"
#include "btree/leaf.h"
#include "compat.h"

/*
 * Add an entry to a leaf that is not full, without logging.
 */
static void
append_to_page(Page page, ShBtKey key)
{
	int			count = shbt_page_count(page);

	Assert(shbt_page_is_leaf(page) && shbt_leaf_takes(page, key));
	shbt_set_count(page, count + 1);
	shbt_set_entry(page, count, key);

	/* only corruption can have left a mark here, but it would hide the row */
	shbt_unmark_dead(page, count);
}

#if defined(SHCOMPAT_GENERIC_WAL_FORMAT_KNOWN) && !defined(SHBT_GENERIC_WAL_API)

#define FRAGMENT_HEADER		(2 * sizeof(OffsetNumber))

/* at most: the bounds of the free space, the fingerprint, the pointer */
#define APPEND_DELTA \
	(3 * FRAGMENT_HEADER + 2 * sizeof(LocationIndex) + SHBT_MAX_KEY_WIDTH + \
	 SHBT_MAX_ROW_WIDTH + sizeof(uint32))

StaticAssertDecl(offsetof(PageHeaderData, pd_upper) ==
				 offsetof(PageHeaderData, pd_lower) + sizeof(LocationIndex),
				 "the bounds of the free space are one fragment");

/*
 * Write bytes [offset, offset + length) of the page as a fragment.  Returns
 * the position after it.
 */
static char *
write_fragment(char *to, Page page, Size offset, Size length)
{
	OffsetNumber header[2] = {(OffsetNumber) offset, (OffsetNumber) length};

	memcpy(to, header, sizeof(header));
	memcpy(to + sizeof(header), page + offset, length);
	return to + sizeof(header) + length;
}

/*
 * Write the fragments for the last entry of a leaf.  Returns their length.
 */
static int
write_append_delta(char *delta, Page page)
{
	int			last = shbt_page_count(page) - 1;
	int			key_width = shbt_key_width(page);
	char	   *end;

	end = write_fragment(delta, page, offsetof(PageHeaderData, pd_lower),
						 2 * sizeof(LocationIndex));
	end = write_fragment(end, page, PageGetContents(page) + last * key_width - (char *) page,
						 key_width);
	end = write_fragment(end, page, shbt_page_pointer(page, last) - (char *) page,
						 shbt_pointer_width(page));
	Assert(end - delta <= APPEND_DELTA);
	return end - delta;
}

/*
 * Add keys[i] to leaves[i], all in one atomic change.
 *
 * The leaves are different, take the keys, and the caller has them pinned and
 * exclusively locked; they stay so.  nleaves is at most SHBT_MAX_APPEND.
 */
void
shbt_append(Relation index, int nleaves, const Buffer *leaves, const ShBtKey *keys)
{
	char		deltas[SHBT_MAX_APPEND][APPEND_DELTA];
	XLogRecPtr	lsn;

	Assert(nleaves >= 1 && nleaves <= SHBT_MAX_APPEND);

	START_CRIT_SECTION();
	for (int i = 0; i < nleaves; i++)
	{
		append_to_page(BufferGetPage(leaves[i]), keys[i]);
		MarkBufferDirty(leaves[i]);
	}
	if (RelationNeedsWAL(index))
	{
		XLogBeginInsert();
		for (int i = 0; i < nleaves; i++)
		{
			int			length = write_append_delta(deltas[i], BufferGetPage(leaves[i]));

			XLogRegisterBuffer(i, leaves[i], REGBUF_STANDARD);
			XLogRegisterBufData(i, deltas[i], length);
		}
		lsn = XLogInsert(RM_GENERIC_ID, 0);
		for (int i = 0; i < nleaves; i++)
			PageSetLSN(BufferGetPage(leaves[i]), lsn);
	}
	END_CRIT_SECTION();
}

#else

void
shbt_append(Relation index, int nleaves, const Buffer *leaves, const ShBtKey *keys)
{
	GenericXLogState *state = GenericXLogStart(index);

	for (int i = 0; i < nleaves; i++)
		append_to_page(GenericXLogRegisterBuffer(state, leaves[i], 0), keys[i]);
	GenericXLogFinish(state);
}

#endif
