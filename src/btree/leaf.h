/*-------------------------------------------------------------------------
 *
 * leaf.h
 *	  The entries of a leaf, and in how many bytes they are stored.
 *
 * Fingerprints take 5 to 8 bytes: the leading ones that all between the fences of
 * the leaf have in common are read from the low fence.  Rows take 3 to 6, as many as
 * the largest one needs (src/README.md, section 2).
 *
 * The entries are in no particular order, except that the first ones, those
 * with which the leaf was created, are sorted; the special area has their
 * number.  Even a full leaf has a hole, for the marks of dead entries.
 *
 * Everything outside of this folder that reads leaves goes through these
 * functions.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BTREE_LEAF_H
#define SIMHASH_BTREE_LEAF_H

#include "bits/distance.h"
#include "btree/page.h"

/* in rows of less than 6 bytes, the bits of the offset */
#define SHBT_OFFSET_BITS	9

/*
 * Entries a full leaf has in a table of a million rows, for estimates.
 */
#define SHBT_USUAL_ENTRIES	SHBT_LEAF_CAPACITY_OF(7, 4)

/* an entry of a page, for sorting */
typedef struct ShBtSortedEntry
{
	ShBtKey		key;
	int			position;
} ShBtSortedEntry;

/* bytes of a row on a leaf */
static inline int
shbt_row_width(Page leaf)
{
	return SHBT_MAX_ROW_WIDTH - (ShBtPageGetOpaque(leaf)->flags >> SHBT_ROW_SHIFT);
}

/* bytes that a row needs */
static inline int
shbt_row_width_of(ShBtRow row)
{
	uint64		block = row >> 16;

	if ((row & 0xFFFF) >> SHBT_OFFSET_BITS != 0 || block >> 31 != 0)
		return 6;
	return block >> 15 == 0 ? 3 : block >> 23 == 0 ? 4 : 5;
}

/* the leading bytes of all fingerprints of a leaf */
static inline ShPermuted
shbt_leaf_prefix(Page leaf)
{
	return ShBtPageGetOpaque(leaf)->low_fp & ~shbits_bytes_mask(shbt_key_width(leaf));
}

/* fingerprint of entry i */
static inline ShPermuted
shbt_leaf_fp(Page leaf, int i)
{
	int			width = shbt_key_width(leaf);

	return shbt_leaf_prefix(leaf) |
		shbits_load_bytes((char *) PageGetContents(leaf) + i * width, width);
}

/* a row, from what is stored of it in so many bytes */
static inline ShBtRow
shbt_unpack_row(uint64 stored, int width)
{
	if (width == SHBT_MAX_ROW_WIDTH)
		return stored;
	return stored >> SHBT_OFFSET_BITS << 16 | (stored & ((1 << SHBT_OFFSET_BITS) - 1));
}

/* row of entry i: its TID as an integer */
static inline ShBtRow
shbt_leaf_row(Page leaf, int i)
{
	int			width = shbt_row_width(leaf);

	return shbt_unpack_row(shbits_load_bytes(shbt_page_pointer(leaf, i), width), width);
}

static inline ShBtKey
shbt_leaf_key(Page leaf, int i)
{
	return shbt_make_key(shbt_page_group(leaf, i), shbt_leaf_fp(leaf, i),
						 shbt_leaf_row(leaf, i));
}

/* key of entry i of a leaf or an inner page */
static inline ShBtKey
shbt_page_key(Page page, int i)
{
	return shbt_page_is_leaf(page) ? shbt_leaf_key(page, i) : shbt_inner_key(page, i);
}

/* how many entries at the start of a leaf are sorted by group and fingerprint */
static inline int
shbt_leaf_sorted(Page leaf)
{
	return ShBtPageGetOpaque(leaf)->sorted;
}

static inline void
shbt_set_sorted(Page leaf, int sorted)
{
	ShBtPageGetOpaque(leaf)->sorted = sorted;
}

/*
 * Can an entry that belongs on a leaf be added without rewriting it?
 */
static inline bool
shbt_leaf_takes(Page leaf, ShBtKey key)
{
	return !shbt_page_is_full(leaf) && shbt_row_width_of(key.tid) <= shbt_row_width(leaf);
}

#define SHBT_DEAD_BYTES(capacity)	(((capacity) + BITS_PER_BYTE - 1) / BITS_PER_BYTE)

/*
 * The marks lie between the end of the fingerprints and the end of the
 * pointers of a full leaf.
 */
static inline uint8 *
shbt_dead_marks(Page leaf)
{
	return (uint8 *) PageGetContents(leaf) + shbt_page_capacity(leaf) * shbt_key_width(leaf);
}

/* is entry i marked? */
static inline bool
shbt_is_dead(Page leaf, int i)
{
	return (shbt_dead_marks(leaf)[i / BITS_PER_BYTE] >> (i % BITS_PER_BYTE)) & 1;
}

/* Remove the mark of entry i. */
static inline void
shbt_unmark_dead(Page leaf, int i)
{
	shbt_dead_marks(leaf)[i / BITS_PER_BYTE] &= ~(1 << (i % BITS_PER_BYTE));
}

/*
 * Remove all marks, as is required when entries change their positions.
 */
static inline void
shbt_clear_dead(Page leaf)
{
	memset(shbt_dead_marks(leaf), 0, SHBT_DEAD_BYTES(shbt_page_capacity(leaf)));
}

/*
 * How many of count elements pass a test, those before all others.  Looks about
 * from a guess, 0 .. count - 1, doubling the step each time, and then between the
 * two that it knows.
 */
static pg_attribute_always_inline int
shbt_count_from(bool (*passes) (const void *arg, int i), const void *arg, int count,
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

extern int	shbt_leaf_capacity(ShBtKey low, ShBtKey high, int row_width, bool grouped);
extern ShBtKey shbt_end_as_wide(ShBtKey low, ShBtKey high, bool grouped);
extern void shbt_set_widths(Page leaf, int row_width);
extern bool shbt_has_widths(Page leaf, int row_width);
extern void shbt_set_entry(Page leaf, int i, ShBtKey key);
extern int	shbt_read_leaf(Page leaf, ShPermuted *fps, ShBtRow *rows, uint32 *groups);
extern void shbt_write_leaf(Page leaf, const ShBtKey *keys, int count, int row_width);
extern int	shbt_sort_entries(Page page, ShBtSortedEntry *entries);
extern int	shbt_find_sorted(Page leaf, uint32 group, ShPermuted fp);
extern void shbt_find_about(Page leaf, uint32 group, ShPermuted low, ShPermuted high,
							int *first, int *end);
extern int	shbt_filter_leaf(Page leaf, int first, int end, ShPermuted query, int radius,
							 uint16 *found);
extern void shbt_check_leaf_rows(Relation index, BlockNumber block, Page leaf);
extern void shbt_mark_dead(Buffer leaf, const uint16 *positions,
						   const ItemPointerData *tids, int count);

#endif							/* SIMHASH_BTREE_LEAF_H */
