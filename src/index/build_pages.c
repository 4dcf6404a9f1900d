/*-------------------------------------------------------------------------
 *
 * build_pages.c
 *	  Writing and logging the pages of a new index.
 *
 * The pages bypass the buffer manager: src/README.md, section 7, says why, when
 * they get their numbers, and why they are written before they are logged.  Since
 * 17, bulk_write.c of the server logs and writes the pages of a process that
 * extends a file alone; with 15 and 16, and with several processes, we have to.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xlog.h"
#include "access/xloginsert.h"
#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "storage/smgr.h"

#include "compat.h"
#include "index/build.h"
#include "index/page.h"

/* pages that are written at a time; a record can hold this many */
#define WRITE_PAGES		32

struct ShIdxPageWriter
{
	Relation	index;
	bool		logged;
	bool		alone;			/* no other process adds pages */
	BlockNumber end;			/* if so, the length of the file */
	char	   *space;			/* of the pages */
	int			count;
	Page		pages[WRITE_PAGES];
	BlockNumber blocks[WRITE_PAGES];
	BlockNumber promised;		/* the number of pages[0], if it has one */
	ShIdxPageList *level;		/* where the pages belong; NULL for the
								 * metapage */
};

/*
 * Extend an empty index by the page that will be the metapage.
 */
void
shidx_reserve_metapage(Relation index)
{
	shcompat_reserve_pages(index, SHIDX_METAPAGE_BLOCK, 1);
}

/*
 * Begin to write pages of an index that has room for its metapage.  The leader
 * of several processes decides whether to log them, since only its relcache
 * knows if the index was created in this transaction.
 */
ShIdxPageWriter *
shidx_begin_pages(Relation index, bool logged, bool alone)
{
	ShIdxPageWriter *writer = palloc0(sizeof(ShIdxPageWriter));
	char	   *aligned;

	writer->index = index;
	writer->logged = logged;
	writer->alone = alone;
	writer->end = SHIDX_METAPAGE_BLOCK + 1;
	writer->promised = InvalidBlockNumber;
	writer->space = palloc(WRITE_PAGES * BLCKSZ + SHCOMPAT_IO_ALIGNMENT);
	aligned = (char *) TYPEALIGN(SHCOMPAT_IO_ALIGNMENT, writer->space);
	for (int i = 0; i < WRITE_PAGES; i++)
		writer->pages[i] = (Page) (aligned + i * BLCKSZ);
	return writer;
}

/*
 * Numbers for new pages, in a row.  Returns the first.
 */
static BlockNumber
new_blocks(ShIdxPageWriter *writer, int count)
{
	BlockNumber first = writer->end;

	if (writer->alone)
	{
		/* before anything is logged that cannot be replayed */
		if ((BlockNumber) count > MaxBlockNumber - first)
			ereport(ERROR,
					(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					 errmsg("cannot extend index \"%s\" beyond %u blocks",
							RelationGetRelationName(writer->index), MaxBlockNumber)));
		writer->end += count;
		return first;
	}
	LockRelationForExtension(writer->index, ExclusiveLock);
	first = smgrnblocks(RelationGetSmgr(writer->index), MAIN_FORKNUM);
	shcompat_reserve_pages(writer->index, first, count);
	UnlockRelationForExtension(writer->index, ExclusiveLock);
	return first;
}

/*
 * Number the pages that have been filled, link them, and add them to the
 * current level.  If more of it follow, the next one is promised its number.
 */
static void
number_pages(ShIdxPageWriter *writer, bool more)
{
	bool		promised = BlockNumberIsValid(writer->promised);
	int			count = writer->count - promised + more;
	BlockNumber next = count > 0 ? new_blocks(writer, count) : InvalidBlockNumber;

	for (int i = 0; i < writer->count; i++)
		writer->blocks[i] = i == 0 && promised ? writer->promised : next++;
	writer->promised = more ? next : InvalidBlockNumber;
	for (int i = 0; i < writer->count; i++)
		shidx_set_right(writer->pages[i],
						i + 1 < writer->count ? writer->blocks[i + 1] : writer->promised);

	if (writer->level != NULL)
		memcpy(writer->level->blocks + writer->level->count - writer->count, writer->blocks,
			   writer->count * sizeof(BlockNumber));
}

/*
 * Write the pages to the file, and request that the next checkpoint flush it.
 */
static void
write_pages(ShIdxPageWriter *writer)
{
	SMgrRelation smgr = RelationGetSmgr(writer->index);
	XLogRecPtr	lsn = writer->logged ? GetXLogInsertRecPtr() : InvalidXLogRecPtr;

	for (int i = 0; i < writer->count; i++)
	{
		/* request the flush with the last page of each segment file */
		bool		flush = i + 1 == writer->count ||
			writer->blocks[i + 1] / RELSEG_SIZE != writer->blocks[i] / RELSEG_SIZE;

		PageSetLSN(writer->pages[i], lsn);
		shcompat_set_checksum(writer->pages[i], writer->blocks[i]);
		if (writer->alone && writer->blocks[i] != SHIDX_METAPAGE_BLOCK)
			smgrextend(smgr, MAIN_FORKNUM, writer->blocks[i], writer->pages[i], !flush);
		else
			smgrwrite(smgr, MAIN_FORKNUM, writer->blocks[i], writer->pages[i], !flush);
	}
}

/*
 * Write and log the pages that have been filled.  Do more of their level follow?
 *
 * The pages are written first, and the flush is requested.  So a checkpoint that
 * begins after the record flushes them, and a base backup copies them, without
 * either having to wait.  What they have as LSN is not after the record: it
 * tells whether the next change must log a page in full, and that is so if a
 * checkpoint has begun after the record.
 */
static void
flush_pages(ShIdxPageWriter *writer, bool more)
{
	number_pages(writer, more);
	write_pages(writer);
	if (writer->count > 0 && writer->logged)
		log_newpages(&shcompat_locator(writer->index), MAIN_FORKNUM, writer->count,
					 writer->blocks, writer->pages, true);
	writer->count = 0;
}

/*
 * Add a page to a level, which is to be filled before the next one is added.  Its
 * right link is set later.
 */
Page
shidx_add_page(ShIdxPageWriter *writer, ShIdxPageList *level, ShIdxKey low)
{
	if (writer->count == WRITE_PAGES)
	{
		flush_pages(writer, true);
		CHECK_FOR_INTERRUPTS();
	}
	shidx_list_add(level, low, InvalidBlockNumber);
	writer->level = level;
	return writer->pages[writer->count++];
}

/*
 * Write the remaining pages of the current level.
 */
void
shidx_end_level(ShIdxPageWriter *writer)
{
	flush_pages(writer, false);
	writer->level = NULL;
}

/*
 * The metapage, to be filled before the writing ends.
 */
Page
shidx_metapage(ShIdxPageWriter *writer)
{
	Assert(writer->count == 0);
	writer->promised = SHIDX_METAPAGE_BLOCK;
	return writer->pages[writer->count++];
}

/*
 * Write the remaining pages, and free memory.
 */
void
shidx_end_pages(ShIdxPageWriter *writer)
{
	flush_pages(writer, false);
	pfree(writer->space);
	pfree(writer);
}
