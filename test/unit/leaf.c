/*-------------------------------------------------------------------------
 *
 * leaf.c
 *	  Tests of src/index/leaf.c without a server: entries of every width between
 *	  fences that have any number of bits in common, with rows at both sides of
 *	  each limit.
 *
 *-------------------------------------------------------------------------
 */
#include "unit.h"

#include "index/leaf.h"

static uint64
make_row(uint64 block, int offset)
{
	return block << 16 | offset;
}

/* the limits of each width, and what lies beyond */
static void
test_row_widths(void)
{
	static const struct
	{
		uint64		block;
		int			offset;
		int			width;
	}			rows[] = {
		{0, 1, 3}, {0, 511, 3}, {0, 512, 6}, {0, 65535, 6},
		{(1 << 15) - 1, 511, 3}, {1 << 15, 1, 4}, {(1 << 15) - 1, 512, 6},
		{(1 << 23) - 1, 511, 4}, {1 << 23, 1, 5},
		{(UINT64CONST(1) << 31) - 1, 511, 5}, {UINT64CONST(1) << 31, 1, 6},
		{UINT64CONST(0xFFFFFFFE), 1, 6}, {UINT64CONST(0xFFFFFFFE), 65535, 6}};
	bool		passed = true;

	for (int i = 0; i < lengthof(rows); i++)
		passed &= shidx_row_width_of(make_row(rows[i].block, rows[i].offset)) == rows[i].width;
	report(passed, "rows", "need 3 to 6 bytes");
}

/* an empty leaf on a page of memory of its own */
static Page
make_leaf(bool grouped, ShIdxKey low, ShIdxKey high, int row_width)
{
	Page		page = allocate(BLCKSZ);

	shidx_init_page(page, 0, 0, grouped ? SHIDX_GROUPED : 0, low, high,
				   shidx_key_equal(high, SHIDX_HIGHEST_KEY) ? InvalidBlockNumber : 7);
	shidx_set_widths(page, row_width);
	return page;
}

static uint64
random_row(int width)
{
	static const int block_bits[] = {15, 23, 31, 32};
	uint64		block = next_random() & ((UINT64CONST(1) << block_bits[width - 3]) - 1);

	return make_row(block, 1 + next_random() % (width == 6 ? 65535 : 511));
}

/*
 * Fill a leaf to the last entry between two fences; what is read must be what was
 * written, whatever the marks of dead entries.
 */
static bool
leaf_agrees(bool grouped, ShIdxKey low, ShIdxKey high, uint64 last_fp, int row_width)
{
	Page		leaf = make_leaf(grouped, low, high, row_width);
	int			capacity = shidx_page_capacity(leaf);
	static ShIdxKey keys[SHIDX_MAX_ENTRIES];
	static uint64 fps[SHIDX_MAX_ENTRIES];
	static uint64 rows[SHIDX_MAX_ENTRIES];
	static uint32 groups[SHIDX_MAX_ENTRIES];
	bool		passed = capacity <= SHIDX_MAX_ENTRIES &&
		capacity == shidx_leaf_capacity(low, high, row_width, grouped ? SHIDX_GROUPED : 0);

	for (int i = 0; i < capacity; i++)
	{
		uint64		span = last_fp - low.fp;
		uint64		above = span == PG_UINT64_MAX ? next_random() : next_random() % (span + 1);

		/* both ends as well */
		if (i < 2)
			above = i == 0 ? 0 : span;
		keys[i] = shidx_make_key(grouped ? low.group : 0, low.fp + above, random_row(row_width));
		passed &= shidx_leaf_takes(leaf, keys[i]);
		shidx_set_count(leaf, i + 1);
		shidx_set_entry(leaf, i, keys[i]);
	}
	passed &= shidx_page_is_full(leaf) && !shidx_leaf_takes(leaf, keys[0]);
	passed &= shidx_page_problem(leaf, 0, 0) == NULL && shidx_has_widths(leaf, row_width);

	/* the marks are in the hole */
	passed &= shidx_dead_marks(leaf) == (uint8 *) leaf + ((PageHeader) leaf)->pd_lower &&
		shidx_dead_marks(leaf) + SHIDX_DEAD_BYTES(capacity) <=
		(uint8 *) leaf + ((PageHeader) leaf)->pd_upper;
	memset(shidx_dead_marks(leaf), 0xFF, SHIDX_DEAD_BYTES(capacity));

	passed &= shidx_read_leaf(leaf, fps, rows, grouped ? groups : NULL) == capacity;
	for (int i = 0; i < capacity; i++)
		passed &= shidx_key_equal(shidx_leaf_key(leaf, i), keys[i]) && fps[i] == keys[i].fp &&
			rows[i] == keys[i].tid && (!grouped || groups[i] == keys[i].group);

	/* each flag that says something else about the widths is a problem */
	for (int flags = 0x10; flags <= 0xF0; flags += 0x10)
	{
		ShIdxPageGetOpaque(leaf)->flags ^= flags;
		passed &= shidx_page_problem(leaf, 0, 0) != NULL || !shidx_has_widths(leaf, row_width);
		ShIdxPageGetOpaque(leaf)->flags ^= flags;
	}
	release(leaf, BLCKSZ);
	return passed;
}

static void
test_widths(void)
{
	bool		passed = true;

	for (int shared = 0; shared <= 64; shared++)
	{
		uint64		span = shared == 64 ? 0 : PG_UINT64_MAX >> shared;

		for (int round = 0; round < 3; round++)
		{
			uint64		first = next_random() & ~span;
			int			expected = Max(8 - shared / 8, SHIDX_MIN_KEY_WIDTH);
			ShIdxKey		low = shidx_make_key(0, first, 0);
			ShIdxKey		high = first + span == PG_UINT64_MAX ? SHIDX_HIGHEST_KEY :
				shidx_make_key(0, first + span + 1, 0);

			for (int row_width = 3; row_width <= 6; row_width++)
			{
				Page		leaf = make_leaf(false, low, high, row_width);

				passed &= shidx_key_width(leaf) == expected && shidx_row_width(leaf) == row_width;
				release(leaf, BLCKSZ);
				passed &= leaf_agrees(false, low, high, first + span, row_width);
				low.group = high.group = 3000000000;
				if (!shidx_key_equal(high, shidx_make_key(3000000000, PG_UINT64_MAX, SHIDX_MAX_TID)))
					passed &= leaf_agrees(true, low, high, first + span, row_width);
				low.group = high.group = 0;
				if (first + span == PG_UINT64_MAX)
					high = SHIDX_HIGHEST_KEY;
			}
		}
	}
	report(passed, "leaves", "of all widths hold what they are given");
}

static bool
ends_at(ShIdxKey low, ShIdxKey high, bool grouped, ShIdxKey end)
{
	return shidx_key_equal(shidx_end_as_wide(low, high, grouped ? SHIDX_GROUPED : 0), end);
}

/* The bytes that fences have in common, at the edges */
static void
test_fences(void)
{
	ShIdxKey		low = shidx_make_key(5, UINT64CONST(0x1234567800000000), 0);
	ShIdxKey		late = shidx_make_key(5, UINT64CONST(0xFF00000000000000), 0);
	ShIdxKey		last = shidx_make_key(PG_UINT32_MAX, UINT64CONST(0xFFFFFF0000000000), 0);
	ShIdxKey		band = shidx_make_key(5, UINT64CONST(0x00FFFFFF00000000), 0);

	report(ends_at(low, shidx_make_key(5, low.fp, 9), true,
				   shidx_make_key(5, UINT64CONST(0x1234570000000000), 0)),
		   "fences", "one fingerprint takes five bytes");
	report(ends_at(low, shidx_make_key(5, low.fp + (UINT64CONST(1) << 48), 0), true,
				   shidx_make_key(5, UINT64CONST(0x1300000000000000), 0)) &&
		   ends_at(low, shidx_make_key(5, UINT64CONST(0x1300000000000000), 0), true,
				   shidx_make_key(5, UINT64CONST(0x1300000000000000), 0)),
		   "fences", "the high one is not among them");
	report(ends_at(low, shidx_make_key(5, UINT64CONST(0x1300000000000000), 1), true,
				   shidx_make_key(6, 0, 0)),
		   "fences", "unless it divides the rows of one fingerprint");
	report(shidx_leaf_capacity(late, shidx_make_key(6, 0, 0), 3, SHIDX_GROUPED) >
		   shidx_leaf_capacity(low, shidx_make_key(6, 0, 0), 3, SHIDX_GROUPED) &&
		   shidx_leaf_capacity(late, shidx_make_key(7, 0, 0), 3, SHIDX_GROUPED) ==
		   shidx_leaf_capacity(low, shidx_make_key(7, 0, 0), 3, SHIDX_GROUPED),
		   "fences", "of several groups have nothing in common, the end of one may");
	report(shidx_leaf_capacity(shidx_make_key(5, 7, 0), shidx_make_key(9, 0, 0), 3, SHIDX_CONTENTS) ==
		   shidx_leaf_capacity_of(7 + 3 + sizeof(uint32)) &&
		   shidx_key_equal(shidx_end_as_wide(band, shidx_make_key(5, band.fp, 9), SHIDX_CONTENTS),
						   shidx_make_key(6, 0, 0)) &&
		   shidx_key_equal(shidx_end_as_wide(band, shidx_make_key(5, band.fp, 9), SHIDX_SHORT),
						   SHIDX_HIGHEST_KEY),
		   "fences", "of bands need seven bytes, and the greatest band is followed by the next group");
	report(ends_at(late, shidx_make_key(5, PG_UINT64_MAX, SHIDX_MAX_TID), true, shidx_make_key(6, 0, 0)) &&
		   ends_at(low, shidx_make_key(6, 0, 0), true, shidx_make_key(6, 0, 0)) &&
		   ends_at(late, shidx_make_key(7, 0, 0), true, SHIDX_HIGHEST_KEY) &&
		   ends_at(last, shidx_make_key(PG_UINT32_MAX, PG_UINT64_MAX, 7), true, SHIDX_HIGHEST_KEY) &&
		   ends_at(shidx_make_key(0, last.fp, 0), shidx_make_key(0, PG_UINT64_MAX, 7), false,
				   SHIDX_HIGHEST_KEY),
		   "fences", "behind the greatest fingerprint are those of the next group, if there is one");
}

/* Reading parts of a leaf: against all its entries, one by one */
static void
test_reading(void)
{
	bool		filtered = true;
	bool		found_sorted = true;

	for (int shared = 0; shared <= 40; shared += 4)
	{
		uint64		span = PG_UINT64_MAX >> shared;
		uint64		first = next_random() & ~span;
		ShIdxKey		low = shidx_make_key(0, first, 0);
		Page		leaf = make_leaf(false, low,
									 shared == 0 ? SHIDX_HIGHEST_KEY : shidx_make_key(0, first + span, 1), 4);
		int			count = shidx_page_capacity(leaf);
		uint64		last = first;

		shidx_set_count(leaf, count);
		for (int i = 0; i < count; i++)
		{
			last = Min(last + next_random() % (span / count), first + span);
			shidx_set_entry(leaf, i, shidx_make_key(0, last, random_row(4)));
		}
		shidx_set_sorted(leaf, count);

		for (int round = 0; round < 300; round++)
		{
			uint64		query = round % 3 == 0 ? next_random() :
				shidx_leaf_fp(leaf, next_random() % count) ^ (round % 3 == 1 ? 0 : next_random() & next_random() & next_random());
			int			start = next_random() % count;
			int			end = start + next_random() % (count - start + 1);
			int			radius = round % 66;
			uint16		found[SHIDX_MAX_ENTRIES];
			int			nfound = shidx_filter_leaf(leaf, start, end, query, radius, found);
			int			nexpected = 0;
			int			at = shidx_find_sorted(leaf, 0, query);

			for (int i = start; i < end; i++)
			{
				if (naive_distance(shidx_leaf_fp(leaf, i), query) <= radius)
				{
					filtered &= nexpected < nfound && found[nexpected] == i - start;
					nexpected++;
				}
			}
			filtered &= nfound == nexpected;
			found_sorted &= (at == count || shidx_leaf_fp(leaf, at) >= query) &&
				(at == 0 || shidx_leaf_fp(leaf, at - 1) < query);
		}
		release(leaf, BLCKSZ);
	}
	report(filtered, "leaves", "are compared with queries within any radius");
	report(found_sorted, "leaves", "are searched where they are sorted");
}

/*
 * Fingerprints of a leaf, ascending: uniform, at one place, in steps, or equal.
 */
static void
fill_sorted(Page leaf, int shape, uint64 first, uint64 span, int count, uint32 group)
{
	static uint64 fps[SHIDX_MAX_ENTRIES];

	for (int i = 0; i < count; i++)
	{
		uint64		above = shape == 3 ? span / 2 : next_random() & span;

		if (shape == 1)
			above = (span / 3 * 2) + above / 1000;
		else if (shape == 2)
			above &= ~(span >> 3);
		fps[i] = first + Min(above, span);
		for (int j = i; j > 0 && fps[j] < fps[j - 1]; j--)
		{
			uint64		other = fps[j];

			fps[j] = fps[j - 1];
			fps[j - 1] = other;
		}
	}
	shidx_set_count(leaf, count);
	for (int i = 0; i < count; i++)
		shidx_set_entry(leaf, i, shidx_make_key(group, fps[i], random_row(4)));
	shidx_set_sorted(leaf, count);
}

/*
 * The part of a leaf that holds a range: nothing of the range is outside of it, and
 * little else in it if the fingerprints are uniform.
 */
static void
test_parts(void)
{
	bool		complete = true;
	bool		narrow = true;

	for (int round = 0; round < 400; round++)
	{
		bool		grouped = round % 5 == 4;
		int			shape = round % 4;
		uint32		group = grouped ? 7 : 0;
		uint64		span = PG_UINT64_MAX >> next_random() % 30;
		uint64		first = next_random() & ~span;
		bool		last_leaf = first + span == PG_UINT64_MAX;
		Page		leaf = make_leaf(grouped, shidx_make_key(group, first, 0),
									 last_leaf ? SHIDX_HIGHEST_KEY : shidx_make_key(group, first + span, 1), 4);
		int			count = shape == 3 && round % 8 == 3 ? 1 : 1 + next_random() % shidx_page_capacity(leaf);
		uint64		others = 0;

		fill_sorted(leaf, shape, first, span, count, group);
		for (int query = 0; query < 200; query++)
		{
			uint64		low = first + (next_random() & span);
			uint64		high = query % 20 == 0 ? PG_UINT64_MAX : low + (next_random() & span >> query % 20);
			int			from;
			int			end;

			if (query % 7 == 0)
				low = shidx_leaf_fp(leaf, next_random() % count);
			if (query % 11 == 0)
				high = shidx_leaf_fp(leaf, next_random() % count);
			if (query == 1)
				low = 0;
			high = Max(low, high);
			shidx_find_about(leaf, group, low, high, &from, &end);
			complete &= from >= 0 && from <= end && end <= count;
			for (int i = 0; i < count; i++)
			{
				bool		wanted = shidx_leaf_fp(leaf, i) >= low && shidx_leaf_fp(leaf, i) <= high;

				complete &= !wanted || (i >= from && i < end);
				others += !wanted && i >= from && i < end;
			}
		}
		if (shape == 0)
			narrow &= others < 200 * 100;
		release(leaf, BLCKSZ);
	}
	report(complete, "leaves", "have all of a range in the part that is read");
	report(narrow, "leaves", "have little else in that part");
}

int
main(void)
{
	test_row_widths();
	test_fences();
	test_widths();
	test_reading();
	test_parts();
	return finish();
}
