/*-------------------------------------------------------------------------
 *
 * leaf.c
 *	  Reading and writing the entries of a leaf.
 *
 * Nothing here takes a lock.  The caller holds the appropriate buffer lock, or
 * works on a copy.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "port/pg_bitutils.h"

#include "compat.h"
#include "index/leaf.h"

StaticAssertDecl((SHIDX_MAX_KEY_WIDTH - SHIDX_MIN_KEY_WIDTH) << SHIDX_KEY_SHIFT <
				 1 << SHIDX_ROW_SHIFT &&
				 (SHIDX_MAX_ROW_WIDTH - SHIDX_MIN_ROW_WIDTH) << SHIDX_ROW_SHIFT <= PG_UINT8_MAX,
				 "the widths of a leaf fit into its flags");

#define MARKS_FIT(width) \
	(SHIDX_LEAF_CAPACITY_OF(width, 0) * (width) + \
	 SHIDX_DEAD_BYTES(SHIDX_LEAF_CAPACITY_OF(width, 0)) <= SHIDX_PAGE_SPACE)

StaticAssertDecl(MARKS_FIT(8) && MARKS_FIT(9) && MARKS_FIT(10) && MARKS_FIT(11) &&
				 MARKS_FIT(12) && MARKS_FIT(13) && MARKS_FIT(14) && MARKS_FIT(15) &&
				 MARKS_FIT(16) && MARKS_FIT(17) && MARKS_FIT(18),
				 "the marks do not overlap the pointers");

/*
 * How far a guess of the position of a fingerprint may be wrong before it is
 * corrected.  Twice the deviation that is to be expected of random ones on a full
 * leaf, half way between the fences.
 */
#define ABOUT_ENTRIES		32

/*
 * Are all keys between the fences of a leaf of one group?
 */
static inline bool
is_one_group(ShIdxKey low, ShIdxKey high, bool grouped)
{
	return !grouped || high.group == low.group ||
		(high.group - low.group == 1 && high.fp == 0 && high.tid == 0);
}

/*
 * Bytes that a fingerprint between the fences of a leaf needs.
 */
static int
key_width_between(ShIdxKey low, ShIdxKey high, uint8 contents)
{
	ShPermuted	last = high.fp;
	int			most = contents & SHIDX_SHORT ? SHBITS_BAND_BITS / BITS_PER_BYTE : SHIDX_MAX_KEY_WIDTH;
	int			shared;

	if (!is_one_group(low, high, (contents & SHIDX_GROUPED) != 0))
		return most;
	if (high.group != low.group)
		last = PG_UINT64_MAX;
	else if (high.tid == 0)
		last--;
	/* a fence may lie beyond the greatest band */
	if (contents & SHIDX_SHORT)
		last = Min(last, (UINT64CONST(1) << SHBITS_BAND_BITS) - 1);

	if (low.fp >= last)
		return SHIDX_MIN_KEY_WIDTH;
	shared = (SHBITS_WIDTH - 1 - pg_leftmost_one_pos64(low.fp ^ last)) / BITS_PER_BYTE;
	return Max(Min(SHIDX_MAX_KEY_WIDTH - shared, most), SHIDX_MIN_KEY_WIDTH);
}

/*
 * The most entries of a leaf between two fences whose rows need as many bytes.
 */
int
shidx_leaf_capacity(ShIdxKey low, ShIdxKey high, int row_width, uint8 contents)
{
	return shidx_leaf_capacity_of(key_width_between(low, high, contents) + row_width +
								  (contents & SHIDX_GROUPED ? (int) sizeof(uint32) : 0));
}

/*
 * The highest fence that a leaf with a low fence may have if its fingerprints are
 * to need no more bytes than those between that and another key.  Where no band can be
 * there is none: the next group begins.
 */
ShIdxKey
shidx_end_as_wide(ShIdxKey low, ShIdxKey high, uint8 contents)
{
	ShPermuted	last = low.fp | shbits_bytes_mask(key_width_between(low, high, contents));
	bool		grouped = (contents & SHIDX_GROUPED) != 0;

	if (contents & SHIDX_SHORT && last >> SHBITS_BAND_BITS != (last + 1) >> SHBITS_BAND_BITS)
		last = PG_UINT64_MAX;
	if (!is_one_group(low, high, grouped) || (!grouped && last == PG_UINT64_MAX))
		return SHIDX_HIGHEST_KEY;
	return shidx_key_after(low.group, last);
}

/*
 * The flags of a leaf for rows of so many bytes, and its fences.
 */
static uint8
flags_for(Page leaf, int row_width)
{
	int			key_width = key_width_between(shidx_page_low(leaf), shidx_page_high(leaf),
											  shidx_page_contents(leaf));

	return (ShIdxPageGetOpaque(leaf)->flags & ~SHIDX_WIDTHS) |
		(SHIDX_MAX_KEY_WIDTH - key_width) << SHIDX_KEY_SHIFT |
		(SHIDX_MAX_ROW_WIDTH - row_width) << SHIDX_ROW_SHIFT;
}

/*
 * Make an empty leaf store its entries in as few bytes as its fences allow, and
 * rows in as many as are given.
 */
void
shidx_set_widths(Page leaf, int row_width)
{
	Assert(shidx_page_is_leaf(leaf) && shidx_page_count(leaf) == 0);
	ShIdxPageGetOpaque(leaf)->flags = flags_for(leaf, row_width);
}

/*
 * Are these the widths that a leaf has?
 */
bool
shidx_has_widths(Page leaf, int row_width)
{
	return ShIdxPageGetOpaque(leaf)->flags == flags_for(leaf, row_width);
}

/*
 * Are the fingerprints of a leaf as wide as its fences require?  They may be wider.
 */
bool
shidx_fits_fences(Page leaf)
{
	return shidx_key_width(leaf) >= key_width_between(shidx_page_low(leaf), shidx_page_high(leaf),
													  shidx_page_contents(leaf));
}

/*
 * What is stored of a row in so many bytes.
 */
static inline uint64
pack_row(ShIdxRow row, int width)
{
	if (width == SHIDX_MAX_ROW_WIDTH)
		return row;
	return row >> 16 << SHIDX_OFFSET_BITS | (row & 0xFFFF);
}

/*
 * Overwrite entry i of a leaf, which must be wide enough.
 */
void
shidx_set_entry(Page leaf, int i, ShIdxKey key)
{
	int			key_width = shidx_key_width(leaf);
	int			row_width = shidx_row_width(leaf);

	Assert(((key.fp ^ shidx_leaf_prefix(leaf)) & ~shbits_bytes_mask(key_width)) == 0);
	Assert(shidx_row_width_of(key.tid) <= row_width);

	shbits_store_bytes((char *) PageGetContents(leaf) + i * key_width, key.fp, key_width);
	shbits_store_bytes(shidx_page_pointer(leaf, i), pack_row(key.tid, row_width), row_width);
	shidx_set_group(leaf, i, key.group);
}

/*
 * The loops over all entries of a leaf, for a width that the compiler knows: they
 * take half the time then.
 */
static pg_attribute_always_inline void
read_fps(Page leaf, int width, int count, ShPermuted *fps)
{
	const char *stored = (const char *) PageGetContents(leaf);
	uint64		prefix = shidx_leaf_prefix(leaf);

	for (int i = 0; i < count; i++)
		fps[i] = prefix | shbits_load_bytes(stored + i * width, width);
}

static pg_attribute_always_inline void
read_rows(Page leaf, int width, int count, ShIdxRow *rows)
{
	int			step = shidx_pointer_width(leaf);
	const char *stored = (const char *) ShIdxPageGetOpaque(leaf);

	for (int i = 0; i < count; i++)
	{
		stored -= step;
		rows[i] = shidx_unpack_row(shbits_load_bytes(stored, width), width);
	}
}

static pg_attribute_always_inline void
write_fps(Page leaf, int width, int count, const ShIdxKey *keys)
{
	char	   *stored = (char *) PageGetContents(leaf);

	for (int i = 0; i < count; i++)
	{
		Assert(((keys[i].fp ^ shidx_leaf_prefix(leaf)) & ~shbits_bytes_mask(width)) == 0);
		shbits_store_bytes(stored + i * width, keys[i].fp, width);
	}
}

static pg_attribute_always_inline void
write_rows(Page leaf, int width, int count, const ShIdxKey *keys)
{
	int			step = shidx_pointer_width(leaf);
	char	   *stored = (char *) ShIdxPageGetOpaque(leaf);

	for (int i = 0; i < count; i++)
	{
		Assert(shidx_row_width_of(keys[i].tid) <= width);
		stored -= step;
		shbits_store_bytes(stored, pack_row(keys[i].tid, width), width);
	}
}

/* call one of them with the width as a constant */
#define FOR_KEY_WIDTH(function, leaf, count, array) \
	switch (shidx_key_width(leaf)) \
	{ \
		case 5: function(leaf, 5, count, array); break; \
		case 6: function(leaf, 6, count, array); break; \
		case 7: function(leaf, 7, count, array); break; \
		default: function(leaf, 8, count, array); \
	}

#define FOR_ROW_WIDTH(function, leaf, count, array) \
	switch (shidx_row_width(leaf)) \
	{ \
		case 3: function(leaf, 3, count, array); break; \
		case 4: function(leaf, 4, count, array); break; \
		case 5: function(leaf, 5, count, array); break; \
		default: function(leaf, 6, count, array); \
	}

StaticAssertDecl(SHIDX_MIN_KEY_WIDTH == 5 && SHIDX_MAX_KEY_WIDTH == 8 &&
				 SHIDX_MIN_ROW_WIDTH == 3 && SHIDX_MAX_ROW_WIDTH == 6,
				 "there is a case for each width");

/*
 * Copy the entries of a leaf into arrays, in their order on the leaf, and
 * return how many there are.  The arrays must have room for SHIDX_MAX_ENTRIES;
 * groups may be NULL.
 */
int
shidx_read_leaf(Page leaf, ShPermuted *fps, ShIdxRow *rows, uint32 *groups)
{
	int			count = shidx_page_count(leaf);

	FOR_KEY_WIDTH(read_fps, leaf, count, fps);
	FOR_ROW_WIDTH(read_rows, leaf, count, rows);
	for (int i = 0; groups != NULL && i < count; i++)
		groups[i] = shidx_page_group(leaf, i);
	return count;
}

/*
 * Replace the entries of a leaf, whose fences must enclose the new ones.  No
 * row may need more bytes than are given.  The length of the sorted run remains
 * as it is.
 */
void
shidx_write_leaf(Page leaf, const ShIdxKey *keys, int count, int row_width)
{
	shidx_set_count(leaf, 0);
	shidx_set_widths(leaf, row_width);
	shidx_set_count(leaf, count);
	FOR_KEY_WIDTH(write_fps, leaf, count, keys);
	FOR_ROW_WIDTH(write_rows, leaf, count, keys);
	for (int i = 0; shidx_page_is_grouped(leaf) && i < count; i++)
		shidx_set_group(leaf, i, keys[i].group);
}

#define ST_SORT sort_entries
#define ST_ELEMENT_TYPE ShIdxSortedEntry
#define ST_COMPARE(a, b) \
	(shidx_key_less((a)->key, (b)->key) ? -1 : shidx_key_less((b)->key, (a)->key))
#define ST_SCOPE static
#define ST_DEFINE
#include "lib/sort_template.h"

/*
 * List the entries of a page, ascending.  Returns how many there are;
 * entries[] must have room for SHIDX_MAX_ENTRIES.
 */
int
shidx_sort_entries(Page page, ShIdxSortedEntry *entries)
{
	int			count = shidx_page_count(page);

	for (int i = 0; i < count; i++)
	{
		entries[i].key = shidx_page_key(page, i);
		entries[i].position = i;
	}
	sort_entries(entries, count);
	return count;
}

/* a search among the sorted entries of a leaf */
typedef struct Search
{
	Page		leaf;
	const char *keys;
	int			key_width;
	uint64		prefix;
	bool		grouped;
	uint32		group;
	ShPermuted	fp;
} Search;

/*
 * Is entry i below what is searched for?
 */
static pg_attribute_always_inline bool
is_below(const void *arg, int i)
{
	const Search *search = arg;

	if (search->grouped)
	{
		uint32		other = shidx_page_group(search->leaf, i);

		if (other != search->group)
			return other < search->group;
	}
	return (search->prefix |
			shbits_load_bytes(search->keys + i * search->key_width, search->key_width)) < search->fp;
}

/*
 * Where a fingerprint would be among the sorted entries of a leaf, if they were
 * uniformly distributed between its fences.
 */
static int
guess_position(const ShIdxOpaqueData *opaque, ShPermuted fp)
{
	if (fp <= opaque->low_fp)
		return 0;
	if (fp >= opaque->high_fp)
		return opaque->sorted;
	return (int) (opaque->sorted * ((double) (fp - opaque->low_fp) /
									(double) (opaque->high_fp - opaque->low_fp)));
}

/*
 * shidx_find_sorted, compiled for pages with groups and for others.
 */
static pg_attribute_always_inline int
find_sorted(Page leaf, bool grouped, uint32 group, ShPermuted fp)
{
	const ShIdxOpaqueData *opaque = ShIdxPageGetOpaque(leaf);
	Search		search = {leaf, (const char *) PageGetContents(leaf), shidx_key_width(leaf),
	shidx_leaf_prefix(leaf), grouped, group, fp};
	bool		many_groups = grouped && opaque->low_group != opaque->high_group;

	if (opaque->sorted == 0 || (!many_groups && fp <= opaque->low_fp))
		return 0;
	return shidx_count_from(is_below, &search, opaque->sorted,
							many_groups ? opaque->sorted / 2 :
							Min(guess_position(opaque, fp), opaque->sorted - 1), 8);
}

/*
 * Position, among the sorted entries of a leaf, of the first one that is
 * >= (group, fp); their number if there is none.
 *
 * Fingerprints are uniformly distributed, as a rule, so the position of fp
 * between the fences tells roughly where it is.  Looking there first touches
 * one or two cache lines; a binary search would wait for memory several times.
 */
int
shidx_find_sorted(Page leaf, uint32 group, ShPermuted fp)
{
	return shidx_page_is_grouped(leaf) ? find_sorted(leaf, true, group, fp) :
		find_sorted(leaf, false, group, fp);
}

/*
 * Find a part of the sorted entries of a leaf, *first .. *end - 1, that holds all
 * those of a group from low to high; others are few, as a rule.
 *
 * The exact bounds would have to be searched for, step by step, and each step
 * would wait for memory.  This looks at one entry at each end, both at once.
 */
void
shidx_find_about(Page leaf, uint32 group, ShPermuted low, ShPermuted high, int *first, int *end)
{
	const ShIdxOpaqueData *opaque = ShIdxPageGetOpaque(leaf);
	int			step = ABOUT_ENTRIES;

	if (shidx_page_is_grouped(leaf) && opaque->low_group != opaque->high_group)
	{
		ShIdxKey	after = shidx_key_after(group, high);

		*first = shidx_find_sorted(leaf, group, low);
		*end = shidx_key_equal(after, SHIDX_HIGHEST_KEY) ? opaque->sorted :
			shidx_find_sorted(leaf, after.group, after.fp);
		return;
	}
	*first = Max(guess_position(opaque, low) - step, 0);
	*end = Min(guess_position(opaque, high) + step, opaque->sorted);
	while (*first > 0 && shidx_leaf_fp(leaf, *first) >= low)
	{
		*first = Max(*first - step, 0);
		step *= 2;
	}
	step = ABOUT_ENTRIES;
	while (*end < opaque->sorted && shidx_leaf_fp(leaf, *end) <= high)
	{
		*end = Min(*end + step, opaque->sorted);
		step *= 2;
	}
}

/*
 * Find the entries first .. end - 1 of a leaf within radius bits of a query.
 *
 * Writes their positions relative to first, ascending, to found[], which must
 * have room for all of them, and returns how many there are.
 */
int
shidx_filter_leaf(Page leaf, int first, int end, ShPermuted query, int radius, uint16 *found)
{
	int			width = shidx_key_width(leaf);
	const char *keys = (const char *) PageGetContents(leaf) + first * width;
	uint64		others = (query ^ ShIdxPageGetOpaque(leaf)->low_fp) & ~shbits_bytes_mask(width);

	if (others != 0)
		radius -= shbits_distance(others, 0);
	if (radius < 0)
		return 0;
	return shbits_kernels->stored(keys, width, end - first, query, radius, found);
}

/*
 * Check that the rows of a leaf, in the given block, can be those of a table.
 * Reports ERRCODE_INDEX_CORRUPTED.
 */
void
shidx_check_leaf_rows(Relation index, BlockNumber block, Page leaf)
{
	ShIdxRow	rows[SHIDX_MAX_ENTRIES];
	int			count = shidx_page_count(leaf);
	bool		good = true;

	FOR_ROW_WIDTH(read_rows, leaf, count, rows);
	for (int i = 0; i < count; i++)
		good &= shidx_is_row(rows[i]);
	if (unlikely(!good))
		shidx_report_impossible_row(index, block);
}

/*
 * Mark entries of a leaf, given by their positions, as dead: a scan has found that
 * their rows are dead to all transactions, and later scans need not visit these.
 * As in nbtree this is a hint, and lost whenever that is convenient.
 *
 * Why the marks are in the hole, in bytes that even the arrays of a full leaf leave
 * free, and when they are cleared: src/README.md, section 5.
 *
 * The caller has the leaf pinned and locked at least in share mode, and knows
 * that no TID has been reused since its row was found dead.  An entry that has
 * since been moved by a split is left alone.
 */
void
shidx_mark_dead(Buffer leaf, const uint16 *positions, const ItemPointerData *tids, int count)
{
	Page		page = BufferGetPage(leaf);
	uint8	   *marks = shidx_dead_marks(page);
	bool		changed = false;

	for (int i = 0; i < count; i++)
	{
		int			position = positions[i];

		if (position >= shidx_page_count(page) || shidx_is_dead(page, position) ||
			shidx_leaf_row(page, position) != shidx_tid_to_int(&tids[i]))
			continue;
		if (!changed && !shcompat_begin_hints(leaf))
			return;

		/*
		 * before 19, two backends can do this at the same time, and one mark
		 * may be lost
		 */
		marks[position / BITS_PER_BYTE] |= 1 << (position % BITS_PER_BYTE);
		changed = true;
	}
	if (changed)
		shcompat_finish_hints(leaf);
}
