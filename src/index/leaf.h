/*-------------------------------------------------------------------------
 *
 * leaf.h
 *	  The entries of a leaf, and in how many bytes they are stored.
 *
 * Fingerprints take 5 to 8 bytes: the leading ones that all between the fences of
 * the leaf have in common are read from the low fence.  Bands, whose first byte is 0, take
 * at most 7.  Rows take 3 to 6, at least as many
 * as the largest one needs (src/README.md, section 2).
 *
 * The entries are in no particular order, except that the first ones, those
 * with which the leaf was created, are sorted; the special area has their
 * number.  Even a full leaf has a hole, for the marks of dead entries.
 *
 * Everything that reads leaves, in this room or others, goes through these
 * functions.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_INDEX_LEAF_H
#define SIMHASH_INDEX_LEAF_H

#include "bits/distance.h"
#include "index/page.h"

/* in rows of less than 6 bytes, the bits of the offset */
#define SHIDX_OFFSET_BITS	9

/*
 * Entries a full leaf has in a table of 128 MB to 32 GB, for estimates.
 */
#define SHIDX_USUAL_ENTRIES	SHIDX_LEAF_CAPACITY_OF(7, 4)

/* an entry of a page, for sorting */
typedef struct ShIdxSortedEntry
{
	ShIdxKey	key;
	int			position;
} ShIdxSortedEntry;

/* bytes of a row on a leaf */
static inline int
shidx_row_width(Page leaf)
{
	return SHIDX_MAX_ROW_WIDTH - (ShIdxPageGetOpaque(leaf)->flags >> SHIDX_ROW_SHIFT);
}

/* bytes that a row needs */
static inline int
shidx_row_width_of(ShIdxRow row)
{
	uint64		block = row >> 16;

	if ((row & 0xFFFF) >> SHIDX_OFFSET_BITS != 0 || block >> 31 != 0)
		return 6;
	return block >> 15 == 0 ? 3 : block >> 23 == 0 ? 4 : 5;
}

/*
 * Bytes of a row on a leaf that is made, split or cleaned: as many as it would need in
 * a table of twice the length.  So not all leaves have to get wider at the same time.
 */
static inline int
shidx_roomy_row_width_of(ShIdxRow row)
{
	return shidx_row_width_of((row >> 16 << 17) | (row & 0xFFFF));
}

/* the leading bytes of all fingerprints of a leaf */
static inline ShPermuted
shidx_leaf_prefix(Page leaf)
{
	return ShIdxPageGetOpaque(leaf)->low_fp & ~shbits_bytes_mask(shidx_key_width(leaf));
}

/* fingerprint of entry i */
static inline ShPermuted
shidx_leaf_fp(Page leaf, int i)
{
	int			width = shidx_key_width(leaf);

	return shidx_leaf_prefix(leaf) |
		shbits_load_bytes((char *) PageGetContents(leaf) + i * width, width);
}

/* a row, from what is stored of it in so many bytes */
static inline ShIdxRow
shidx_unpack_row(uint64 stored, int width)
{
	if (width == SHIDX_MAX_ROW_WIDTH)
		return stored;
	return stored >> SHIDX_OFFSET_BITS << 16 | (stored & ((1 << SHIDX_OFFSET_BITS) - 1));
}

/* row of entry i: its TID as an integer */
static inline ShIdxRow
shidx_leaf_row(Page leaf, int i)
{
	int			width = shidx_row_width(leaf);

	return shidx_unpack_row(shbits_load_bytes(shidx_page_pointer(leaf, i), width), width);
}

static inline ShIdxKey
shidx_leaf_key(Page leaf, int i)
{
	return shidx_make_key(shidx_page_group(leaf, i), shidx_leaf_fp(leaf, i),
						  shidx_leaf_row(leaf, i));
}

/* key of entry i of a leaf or an inner page */
static inline ShIdxKey
shidx_page_key(Page page, int i)
{
	return shidx_page_is_leaf(page) ? shidx_leaf_key(page, i) : shidx_inner_key(page, i);
}

/* how many entries at the start of a leaf are sorted by group and fingerprint */
static inline int
shidx_leaf_sorted(Page leaf)
{
	return ShIdxPageGetOpaque(leaf)->sorted;
}

static inline void
shidx_set_sorted(Page leaf, int sorted)
{
	ShIdxPageGetOpaque(leaf)->sorted = sorted;
}

/*
 * Can an entry that belongs on a leaf be added without rewriting it?
 */
static inline bool
shidx_leaf_takes(Page leaf, ShIdxKey key)
{
	return !shidx_page_is_full(leaf) && shidx_row_width_of(key.tid) <= shidx_row_width(leaf);
}

#define SHIDX_DEAD_BYTES(capacity)	(((capacity) + BITS_PER_BYTE - 1) / BITS_PER_BYTE)

/*
 * The marks lie between the end of the fingerprints and the end of the
 * pointers of a full leaf.
 */
static inline uint8 *
shidx_dead_marks(Page leaf)
{
	return (uint8 *) PageGetContents(leaf) + shidx_page_capacity(leaf) * shidx_key_width(leaf);
}

/* is entry i marked? */
static inline bool
shidx_is_dead(Page leaf, int i)
{
	return (shidx_dead_marks(leaf)[i / BITS_PER_BYTE] >> (i % BITS_PER_BYTE)) & 1;
}

/* Remove the mark of entry i. */
static inline void
shidx_unmark_dead(Page leaf, int i)
{
	shidx_dead_marks(leaf)[i / BITS_PER_BYTE] &= ~(1 << (i % BITS_PER_BYTE));
}

/*
 * Remove all marks, as is required when entries change their positions.
 */
static inline void
shidx_clear_dead(Page leaf)
{
	memset(shidx_dead_marks(leaf), 0, SHIDX_DEAD_BYTES(shidx_page_capacity(leaf)));
}

/*
 * How many of count elements pass a test, those before all others.  Looks about
 * from a guess, 0 .. count - 1, doubling the step each time, and then between the
 * two that it knows.
 */
static pg_attribute_always_inline int
shidx_count_from(bool (*passes) (const void *arg, int i), const void *arg, int count,
				 int guess, int step)
{
	int			first = guess;	/* those before this one pass */
	int			end = guess;	/* from this one on they do not */

	if (passes(arg, guess))
	{
		while (end + step < count && passes(arg, end + step))
		{
			end += step;
			step *= 2;
		}
		first = end + 1;
		end = Min(end + step, count);
	}
	else
	{
		while (first - step >= 0 && !passes(arg, first - step))
		{
			first -= step;
			step *= 2;
		}
		end = first;
		first = Max(first - step + 1, 0);
	}
	while (first < end)
	{
		int			middle = (first + end) / 2;

		if (passes(arg, middle))
			first = middle + 1;
		else
			end = middle;
	}
	return first;
}

extern int	shidx_leaf_capacity(ShIdxKey low, ShIdxKey high, int row_width, uint8 contents);
extern ShIdxKey shidx_end_as_wide(ShIdxKey low, ShIdxKey high, uint8 contents);
extern void shidx_set_widths(Page leaf, int row_width);
extern bool shidx_has_widths(Page leaf, int row_width);
extern bool shidx_fits_fences(Page leaf);
extern void shidx_set_entry(Page leaf, int i, ShIdxKey key);
extern int	shidx_read_leaf(Page leaf, ShPermuted *fps, ShIdxRow *rows, uint32 *groups);
extern void shidx_write_leaf(Page leaf, const ShIdxKey *keys, int count, int row_width);
extern int	shidx_sort_entries(Page page, ShIdxSortedEntry *entries);
extern int	shidx_find_sorted(Page leaf, uint32 group, ShPermuted fp);
extern void shidx_find_about(Page leaf, uint32 group, ShPermuted low, ShPermuted high,
							 int *first, int *end);
extern int	shidx_filter_leaf(Page leaf, int first, int end, ShPermuted query, int radius,
							  uint16 *found);
extern void shidx_check_leaf_rows(Relation index, BlockNumber block, Page leaf);
extern void shidx_mark_dead(Buffer leaf, const uint16 *positions,
							const ItemPointerData *tids, int count);

#endif							/* SIMHASH_INDEX_LEAF_H */
