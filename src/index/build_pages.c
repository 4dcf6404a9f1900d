/*-------------------------------------------------------------------------
 *
 * build_pages.c
 *	  Writing and logging the pages of a new index.
 *
 * Nobody else can read the index before the build commits, so its pages do not
 * go through the buffer manager: they are filled in local memory, and a few at
 * a time are logged, in one record, and given to the operating system.  Before
 * that the file gets its full length, so that several processes can write
 * their pages in any order.
 *
 * A page that is not in a buffer is not written by a checkpoint.  So one that
 * begins after pages have been logged, and from which recovery would not
 * replay them, must wait until they have been written and it has been told to
 * flush their file.  That is what DELAY_CHKPT_START is for.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xloginsert.h"
#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "storage/proc.h"
#include "storage/smgr.h"

#include "compat.h"
#include "index/build_pages.h"

/* pages that are written at a time; a record can have as many */
#define WRITE_PAGES		32

struct ShIdxPageWriter
{
	Relation	index;
	bool		logged;
	char	   *space;			/* of the pages */
	int			count;
	Page		pages[WRITE_PAGES];
	BlockNumber blocks[WRITE_PAGES];
};

/*
 * Give an empty index its full length, in pages of zeros.
 *
 * If the pages are then written from the first to the last, they need not
 * occupy the disk yet.  Else they must: to replay a page, recovery fills the
 * file up to it.  If the disk has no room for that, the build ends with an
 * error, but after a crash the server could not start.
 */
void
shidx_allocate_pages(Relation index, BlockNumber count, bool in_order)
{
	char	   *space;
	char	   *zeros;

	if (!in_order)
	{
		shcompat_reserve_pages(index, count);
		return;
	}
	space = palloc0(BLCKSZ + SHCOMPAT_IO_ALIGNMENT);
	zeros = (char *) TYPEALIGN(SHCOMPAT_IO_ALIGNMENT, space);
	smgrextend(RelationGetSmgr(index), MAIN_FORKNUM, count - 1, zeros, true);
	pfree(space);
}

/*
 * Begin to write pages of an index that has its full length.  Several
 * processes can do so at the same time, of different pages.  Whether they are
 * to be logged is for the leader to say: its relcache alone knows if the index
 * was made in this transaction.
 */
ShIdxPageWriter *
shidx_begin_pages(Relation index, bool logged)
{
	ShIdxPageWriter *writer = palloc0(sizeof(ShIdxPageWriter));
	char	   *aligned;

	writer->index = index;
	writer->logged = logged;
	writer->space = palloc(WRITE_PAGES * BLCKSZ + SHCOMPAT_IO_ALIGNMENT);
	aligned = (char *) TYPEALIGN(SHCOMPAT_IO_ALIGNMENT, writer->space);
	for (int i = 0; i < WRITE_PAGES; i++)
		writer->pages[i] = (Page) (aligned + i * BLCKSZ);
	return writer;
}

/*
 * Write the pages to the file, and have the next checkpoint flush it.
 */
static void
write_pages(ShIdxPageWriter *writer)
{
	SMgrRelation smgr = RelationGetSmgr(writer->index);

	for (int i = 0; i < writer->count; i++)
	{
		/* the last page of each file speaks for those before */
		bool		flush = i + 1 == writer->count ||
			writer->blocks[i + 1] / RELSEG_SIZE != writer->blocks[i] / RELSEG_SIZE;

		PageSetChecksumInplace(writer->pages[i], writer->blocks[i]);
		smgrwrite(smgr, MAIN_FORKNUM, writer->blocks[i], writer->pages[i], !flush);
	}
}

/*
 * Log and write the pages that have been filled.
 */
static void
flush_pages(ShIdxPageWriter *writer)
{
	if (writer->count > 0 && writer->logged)
	{
		Assert((MyProc->delayChkptFlags & DELAY_CHKPT_START) == 0);
		MyProc->delayChkptFlags |= DELAY_CHKPT_START;
		PG_TRY();
		{
			log_newpages(&shcompat_locator(writer->index), MAIN_FORKNUM, writer->count,
						 writer->blocks, writer->pages, true);
			write_pages(writer);
		}
		PG_FINALLY();
		{
			/* the disk may be full; the abort of a subtransaction leaves this */
			MyProc->delayChkptFlags &= ~DELAY_CHKPT_START;
		}
		PG_END_TRY();
	}
	else
		write_pages(writer);
	writer->count = 0;
}

/*
 * Add a page, which is to be filled before the next one is added.
 */
Page
shidx_add_page(ShIdxPageWriter *writer, BlockNumber block)
{
	if (writer->count == WRITE_PAGES)
	{
		flush_pages(writer);
		CHECK_FOR_INTERRUPTS();
	}
	writer->blocks[writer->count] = block;
	return writer->pages[writer->count++];
}

/*
 * Write what is left, and free memory.
 */
void
shidx_end_pages(ShIdxPageWriter *writer)
{
	flush_pages(writer);
	pfree(writer->space);
	pfree(writer);
}
