/*-------------------------------------------------------------------------
 *
 * wide_sums.c
 *	  The distances of rows, added up from those of the parts of their
 *	  fingerprints.
 *
 * Each part has an entry of each row, but each in another order.  So there is an
 * array of sums with a place for each row, by its block and offset.  The rows at
 * a distance are found by a pass over it, in the order of the heap, and need no
 * sorting.
 *
 * If that does not fit in memory, the blocks are dealt to slices.  What is known of
 * the rows of each is written to a file; then one slice at a time is added up, and
 * written in its place.  Later passes read the slices again.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/buffile.h"
#include "utils/memutils.h"

#include "btree/leaf.h"
#include "compat.h"
#include "search/wide_sums.h"
#include "type/wide.h"

/* the buffers of the files, of one block each, are not counted as memory */
#define MAX_SLICES		256

/* the largest sum of a row that a snapshot sees; and what no such row has */
#define MAX_SUM			(SIMHASH_BITS_MAX_WIDTH + SHBITS_MAX_PARTS)
#define NOT_WANTED		(MAX_SUM + 1)

/* what is written of a row: the distance of a part, and below it the row */
#define ROW_BITS		48

/* how often interrupts are checked for, in rows */
#define CHECK_INTERVAL	4096

struct ShFndSums
{
	MemoryContext context;		/* of all that follows, and of this */
	Size		max_places;		/* how many fit in memory */
	int			nparts;
	int			reach;			/* no row that is wanted is farther away */

	/*
	 * Rows have places by block, then by offset.  A place has the distances of
	 * the parts, plus 1 for each; 0 if there is no row.
	 */
	uint64		nblocks;
	uint64		noffsets;
	Size		nplaces;		/* of a slice */
	uint16	   *places;
	uint64		counts[NOT_WANTED + 1]; /* of rows, by what their places have */

	/* if there are several slices: every so many blocks are in the same one */
	int			nslices;
	BufFile   **files;

	/* what is returned */
	int			distance;
	uint64		left;			/* how many more at this distance */
	int			slice;			/* the one that is in memory */
	Size		next;			/* the place where the next one may be */
};

/*
 * Prepare to add up the distances of fingerprints of so many parts, of rows of a
 * table of so many blocks, in so many bytes of memory.  Rows farther away than reach
 * are not wanted.
 *
 * Allocates in a child of the current memory context.
 */
ShFndSums *
shfnd_sums_begin(Size memory, BlockNumber nblocks, int nparts, int reach)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "simhash distances of rows",
												  ALLOCSET_DEFAULT_SIZES);
	ShFndSums  *sums = MemoryContextAllocZero(context, sizeof(ShFndSums));

	sums->context = context;
	sums->max_places = memory / sizeof(uint16);
	sums->nblocks = nblocks;
	sums->nparts = nparts;
	sums->reach = reach;
	sums->nslices = 1;
	sums->distance = -1;
	return sums;
}

/*
 * Free all memory and files.
 */
void
shfnd_sums_end(ShFndSums *sums)
{
	for (int i = 0; sums->files != NULL && i < sums->nslices; i++)
		BufFileClose(sums->files[i]);
	MemoryContextDelete(sums->context);
}

/*
 * The place of a row in its slice, if it is known that it has one.
 */
static inline uint16 *
place_of(const ShFndSums *sums, ShBtRow row)
{
	uint64		block = row >> 16;

	if (sums->nslices > 1)
		block /= sums->nslices;
	return &sums->places[block * sums->noffsets + (row & 0xFFFF)];
}

/*
 * The row of a place of the slice that is in memory.
 */
static ShBtRow
row_of(const ShFndSums *sums, Size place)
{
	uint64		block = place / sums->noffsets * sums->nslices + sums->slice;

	return block << 16 | place % sums->noffsets;
}

/*
 * Write to the slice of a row what is to be added to its sum.
 */
static void
write_to_slice(ShFndSums *sums, ShBtRow row, int sum)
{
	uint64		entry = (uint64) sum << ROW_BITS | row;

	BufFileWrite(sums->files[(row >> 16) % sums->nslices], &entry, sizeof(entry));
}

/*
 * Deal the blocks to slices, as there is not enough memory for so many places.
 */
static void
start_slices(ShFndSums *sums, Size nplaces)
{
	MemoryContext old = MemoryContextSwitchTo(sums->context);

	sums->nslices = Min(nplaces / sums->max_places * 2 + 2, MAX_SLICES);
	sums->files = palloc(sums->nslices * sizeof(BufFile *));
	for (int i = 0; i < sums->nslices; i++)
		sums->files[i] = BufFileCreateTemp(false);
	for (Size i = 0; i < sums->nplaces; i++)
	{
		if (i % CHECK_INTERVAL == 0)
			CHECK_FOR_INTERRUPTS();
		if (sums->places[i] != 0)
			write_to_slice(sums, i / sums->noffsets << 16 | i % sums->noffsets, sums->places[i]);
	}
	if (sums->places != NULL)
		pfree(sums->places);
	sums->places = NULL;
	MemoryContextSwitchTo(old);
}

/*
 * Make room for more blocks and offsets.
 */
static void
enlarge(ShFndSums *sums, uint64 nblocks, uint64 noffsets)
{
	Size		nplaces = nblocks * noffsets;
	uint16	   *places = sums->places;

	if (sums->nslices == 1 && nplaces > sums->max_places)
		start_slices(sums, nplaces);
	if (sums->nslices == 1)
	{
		/* in place, as it may take most of the memory */
		places = places == NULL ?
			MemoryContextAllocHuge(sums->context, nplaces * sizeof(uint16)) :
			repalloc_huge(places, nplaces * sizeof(uint16));
		memset(places + sums->nplaces, 0, (nplaces - sums->nplaces) * sizeof(uint16));
		for (uint64 i = sums->noffsets == 0 ? 0 : sums->nplaces / sums->noffsets; i-- > 0;)
		{
			memmove(places + i * noffsets, places + i * sums->noffsets,
					sums->noffsets * sizeof(uint16));
			memset(places + i * noffsets + sums->noffsets, 0,
				   (noffsets - sums->noffsets) * sizeof(uint16));
		}
		sums->places = places;
		sums->nplaces = nplaces;
	}
	sums->nblocks = nblocks;
	sums->noffsets = noffsets;
}

/*
 * Make places for some rows.
 */
static void
make_places(ShFndSums *sums, int count, const ItemPointerData *tids)
{
	uint64		nblocks = sums->nblocks;
	uint64		noffsets = sums->noffsets;

	for (int i = 0; i < count; i++)
	{
		nblocks = Max(nblocks, ItemPointerGetBlockNumberNoCheck(&tids[i]) + UINT64CONST(1));
		noffsets = Max(noffsets, ItemPointerGetOffsetNumberNoCheck(&tids[i]) + UINT64CONST(1));
	}
	if (nblocks > sums->nblocks || noffsets > sums->noffsets)
		enlarge(sums, nblocks, noffsets);
}

/*
 * Add the distances of one part of rows of a leaf from the same part of the center.
 */
void
shfnd_sums_add(ShFndSums *sums, ShFingerprint center, int count,
			   const ShFingerprint *fps, const ItemPointerData *tids)
{
	uint16	   *places[SHBT_MAX_ENTRIES];

	make_places(sums, count, tids);
	for (int i = 0; i < count && sums->nslices == 1; i++)
	{
		places[i] = place_of(sums, shbt_tid_to_int(&tids[i]));
		shcompat_prefetch(places[i]);
	}
	for (int i = 0; i < count; i++)
	{
		int			sum = shbits_distance(fps[i], center) + 1;

		if (sums->nslices == 1)
			*places[i] += sum;
		else
			write_to_slice(sums, shbt_tid_to_int(&tids[i]), sum);
	}
}

/*
 * A row is not wanted.  Called when all have been added.
 */
void
shfnd_sums_drop(ShFndSums *sums, ShBtRow row)
{
	if (sums->nslices > 1)
		write_to_slice(sums, row, NOT_WANTED);
	else if (row >> 16 < sums->nblocks && (row & 0xFFFF) < sums->noffsets)
		*place_of(sums, row) = 0;
}

static void
rewind_slice(ShFndSums *sums, int slice)
{
	if (BufFileSeek(sums->files[slice], 0, 0, SEEK_SET) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not rewind temporary file: %m")));
}

/*
 * Add up a slice, and write the sums in place of what they were added up from.
 */
static void
add_up_slice(ShFndSums *sums, int slice)
{
	uint64		entries[BLCKSZ / sizeof(uint64)];
	size_t		nread;

	memset(sums->places, 0, sums->nplaces * sizeof(uint16));
	rewind_slice(sums, slice);
	while ((nread = BufFileRead(sums->files[slice], entries, sizeof(entries))) > 0)
	{
		CHECK_FOR_INTERRUPTS();
		for (size_t i = 0; i < nread / sizeof(uint64); i++)
			*place_of(sums, entries[i] & ((UINT64CONST(1) << ROW_BITS) - 1)) += entries[i] >> ROW_BITS;
	}
	rewind_slice(sums, slice);
	BufFileWrite(sums->files[slice], sums->places, sums->nplaces * sizeof(uint16));
}

/*
 * Turn to a slice, in which everything has been added up.
 */
static void
start_slice(ShFndSums *sums, int slice)
{
	Size		size = sums->nplaces * sizeof(uint16);

	sums->next = 0;
	sums->slice = slice;
	if (sums->nslices == 1)
		return;
	rewind_slice(sums, slice);
	if (BufFileRead(sums->files[slice], sums->places, size) != size)
		elog(ERROR, "unexpected end of a file of distances");
}

/*
 * Everything has been added: from now on shfnd_sums_next returns the rows.
 *
 * If blocks or offsets turned out to be far more than when the slices were started,
 * a slice takes more memory than it should.
 */
void
shfnd_sums_sort(ShFndSums *sums)
{
	if (sums->nslices > 1)
	{
		sums->nplaces = (sums->nblocks / sums->nslices + 1) * sums->noffsets;
		sums->places = MemoryContextAllocHuge(sums->context, sums->nplaces * sizeof(uint16));
	}
	for (int slice = 0; slice < sums->nslices; slice++)
	{
		if (sums->nslices > 1)
			add_up_slice(sums, slice);
		for (Size i = 0; i < sums->nplaces; i++)
			sums->counts[Min(sums->places[i], NOT_WANTED)]++;
	}
}

/*
 * Return the next row, nearest first.  Returns false after the last.
 *
 * A row that has no entry of some part is invisible to the snapshot; its distance
 * may be too low.
 */
bool
shfnd_sums_next(ShFndSums *sums, ShBtRow *row, int *distance)
{
	while (sums->left == 0)
	{
		if (sums->distance == sums->reach)
			return false;
		sums->left = sums->counts[++sums->distance + sums->nparts];
		if (sums->left > 0)
			start_slice(sums, 0);
	}
	while (sums->places[sums->next] != sums->distance + sums->nparts)
	{
		if (++sums->next % CHECK_INTERVAL == 0)
			CHECK_FOR_INTERRUPTS();
		if (sums->next == sums->nplaces)
			start_slice(sums, sums->slice + 1);
	}
	*distance = sums->distance;
	*row = row_of(sums, sums->next++);
	sums->left--;
	if (sums->next == sums->nplaces && sums->left > 0)
		start_slice(sums, sums->slice + 1);
	return true;
}
