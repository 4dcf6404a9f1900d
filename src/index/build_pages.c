/*-------------------------------------------------------------------------
 *
 * build_pages.c
 *	  Writing and logging the pages of a new index.
 *
 * No other backend can read the index before the build commits, so its pages
 * bypass the buffer manager.  They are filled in local memory, logged a few at
 * a time in one record, and written to the file.  Before that the file gets
 * its full length, so that several processes can write their pages in any
 * order.
 *
 * A checkpoint does not write pages that are not in buffers.  If it begins
 * after pages have been logged, recovery from it would not replay them.  Such
 * a checkpoint must therefore wait until the pages have been written and the
 * flush of their file has been requested, which DELAY_CHKPT_START achieves.
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

/* pages that are written at a time; a record can hold this many */
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
 * If the pages are then written from the first to the last, the disk space
 * need not be allocated yet.  Otherwise it must be.  To replay a page,
 * recovery extends the file up to that page.  If the disk is too full for
 * that, the build fails with an error, but after a crash the server would be
 * unable to start.
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
 * processes can write different pages at the same time.  The leader decides
 * whether to log them, since only its relcache knows if the index was created
 * in this transaction.
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
 * Write the pages to the file, and request that the next checkpoint flush it.
 */
static void
write_pages(ShIdxPageWriter *writer)
{
	SMgrRelation smgr = RelationGetSmgr(writer->index);

	for (int i = 0; i < writer->count; i++)
	{
		/* request the flush with the last page of each segment file */
		bool		flush = i + 1 == writer->count ||
			writer->blocks[i + 1] / RELSEG_SIZE != writer->blocks[i] / RELSEG_SIZE;

		shcompat_set_checksum(writer->pages[i], writer->blocks[i]);
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
			/*
			 * the disk may be full; aborting a subtransaction does not reset
			 * this
			 */
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
 * Write the remaining pages, and free memory.
 */
void
shidx_end_pages(ShIdxPageWriter *writer)
{
	flush_pages(writer);
	pfree(writer->space);
	pfree(writer);
}
