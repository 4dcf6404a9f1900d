/*-------------------------------------------------------------------------
 *
 * stream.c
 *	  The entries of the tables of a scheme, in order.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "pgstat.h"

#include "batch/stream.h"
#include "compat.h"

/*
 * Read the tables of an index.  All arguments must outlive the stream.
 */
void
shbatch_stream_index(ShBatchStream *stream, Relation index, const ShBitsScheme *scheme,
					 Snapshot snapshot)
{
	stream->scheme = scheme;
	stream->index = index;
	stream->snapshot = snapshot;
	stream->sort = NULL;
}

/*
 * Read entries that were added to a sort.
 */
void
shbatch_stream_sort(ShBatchStream *stream, ShSort *sort, const ShBitsScheme *scheme)
{
	stream->scheme = scheme;
	stream->index = NULL;
	stream->snapshot = NULL;
	stream->sort = sort;
}

/*
 * Begin before the first entry of a table.
 */
void
shbatch_stream_start(ShBatchStream *stream, int table)
{
	if (stream->index != NULL)
		shbt_walk_start(&stream->walk, stream->index, table, 0);
	else
		shsort_start_table(stream->sort, &stream->scheme->tables[table]);
}

static void
sort_entries(uint64 *keys, uint64 *tids, int count)
{
	ShSortItem	entries[SHBATCH_STREAM_MAX];
	ShSortItem	sorted[SHBATCH_STREAM_MAX];

	for (int i = 0; i < count; i++)
		entries[i] = shsort_item(keys[i], tids[i]);
	shsort_radix(entries, sorted, count);
	for (int i = 0; i < count; i++)
	{
		keys[i] = sorted[i].key;
		tids[i] = sorted[i].value;
	}
}

/*
 * The entries of a leaf in order.
 */
static int
read_leaf(Page page, uint64 *keys, uint64 *tids)
{
	int			count = shbt_page_count(page);

	memcpy(keys, shbt_page_fps(page), count * sizeof(uint64));
	for (int i = 0; i < count; i++)
		tids[i] = shbt_tid_to_int(shbt_leaf_tid(page, i));
	if (ShBtPageGetOpaque(page)->sorted < count)
		sort_entries(keys, tids, count);
	return count;
}

/*
 * The next entries of the table: their permuted fingerprints, ascending, and
 * their TIDs.  keys and tids have room for SHBATCH_STREAM_MAX.  Returns how
 * many there are, 0 after the last.
 *
 * Of an index, a row that is there all the time is returned exactly once,
 * whatever is inserted or vacuumed meanwhile (shbt_walk_next).  Holds no lock
 * or pin on return.
 */
int
shbatch_stream_next(ShBatchStream *stream, uint64 *keys, uint64 *tids)
{
	int			count = 0;

	if (stream->index != NULL)
	{
		/* pages that VACUUM emptied stay */
		while (count == 0 && shbt_walk_next(&stream->walk))
		{
			Page		page = (Page) stream->walk.page.data;

			shcompat_test_old_snapshot(stream->snapshot, stream->index, page);
			count = read_leaf(page, keys, tids);
			pgstat_count_index_tuples(stream->index, count);
		}
	}
	else
	{
		ShSortItem	item;

		CHECK_FOR_INTERRUPTS();
		while (count < SHBATCH_STREAM_MAX && shsort_next(stream->sort, &item))
		{
			keys[count] = item.key;
			tids[count] = item.value;
			count++;
		}
	}
	return count;
}
