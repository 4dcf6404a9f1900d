/*-------------------------------------------------------------------------
 *
 * kernels.c
 *	  Tests of src/bits without a server: every kernel of shbits_filter and its
 *	  like that this machine can run against a naive loop, and the properties of every
 *	  scheme.
 *
 *-------------------------------------------------------------------------
 */
#include "unit.h"

#include "bits/distance.h"
#include "bits/scheme.h"

#define MAX_KEYS	65536

/*
 * Does the filter agree with a naive loop?  It must find the same positions
 * and write nothing to found[] from nkeys on.
 */
static bool
filter_agrees(const uint64 *keys, int nkeys,
			  uint64 query, int radius)
{
	static uint16 found[MAX_KEYS + 1];
	int			nexpected = 0;
	int			nfound;

	found[nkeys] = 0xabcd;
	nfound = shbits_filter(keys, nkeys, query, radius, found);
	if (found[nkeys] != 0xabcd)
		return false;

	for (int i = 0; i < nkeys; i++)
	{
		if (naive_distance(keys[i], query) <= radius)
		{
			if (nexpected >= nfound || found[nexpected] != i)
				return false;
			nexpected++;
		}
	}
	return nfound == nexpected;
}

static void
test_filter(const char *name)
{
	static const int radii[] = {-2147483647 - 1, -1, 0, 1, 3, 20, 32, 63, 64, 65, 100, 2147483647};
	static uint64 keys[MAX_KEYS];
	bool		passed = true;

	/* every length around the sizes of the groups, at odd starts as well */
	for (int nkeys = 0; nkeys <= 140; nkeys++)
	{
		uint64		query = next_random();

		for (int start = 0; start < 8; start++)
		{
			/* some at each distance, the far ones most */
			for (int i = 0; i < nkeys; i++)
				keys[start + i] = flip_bits(query, next_random() % 65);
			/* what lies before and behind must not be found */
			if (start > 0)
				keys[start - 1] = query;
			keys[start + nkeys] = query;

			for (int r = 0; r < lengthof(radii); r++)
				passed &= filter_agrees(keys + start, nkeys, query, radii[r]);
		}
	}
	report(passed, name, "0 to 140 keys at any distance");

	/* one match in each place */
	passed = true;
	for (int place = 0; place < 100; place++)
	{
		uint64		query = next_random();

		for (int i = 0; i < 100; i++)
			keys[i] = flip_bits(query, i == place ? 3 : 4 + next_random() % 61);
		passed &= filter_agrees(keys, 100, query, 2);
		passed &= filter_agrees(keys, 100, query, 3);
	}
	report(passed, name, "a single match in any place");

	/* extreme values: nothing differs, everything differs, one bit differs */
	passed = true;
	for (int bit = 0; bit < 64; bit++)
	{
		uint64		query = UINT64CONST(1) << bit;

		for (int i = 0; i < 70; i++)
			keys[i] = i % 3 == 0 ? 0 : i % 3 == 1 ? PG_UINT64_MAX : query;
		for (int r = 0; r < lengthof(radii); r++)
		{
			passed &= filter_agrees(keys, 70, query, radii[r]);
			passed &= filter_agrees(keys, 70, ~query, radii[r]);
			passed &= filter_agrees(keys, 70, 0, radii[r]);
			passed &= filter_agrees(keys, 70, PG_UINT64_MAX, radii[r]);
		}
	}
	report(passed, name, "extreme values");

	/* the most keys: positions up to 65535 */
	for (int i = 0; i < MAX_KEYS; i++)
		keys[i] = flip_bits(PG_UINT64_MAX, next_random() % 65);
	passed = filter_agrees(keys, MAX_KEYS, PG_UINT64_MAX, 3) &&
		filter_agrees(keys, MAX_KEYS, PG_UINT64_MAX, 64);
	report(passed, name, "65536 keys");
}

/*
 * Keys stored in each width, in a chunk of just their size and the bytes behind
 * that may be read, so that the sanitizers see any that may not.
 */
static void
test_stored(const char *name)
{
	static const int radii[] = {-2147483647 - 1, -1, 0, 1, 3, 20, 39, 64, 100, 2147483647};
	bool		passed = true;

	for (int width = 5; width <= 8; width++)
	{
		for (int nkeys = 0; nkeys <= 140; nkeys++)
		{
			int			behind = width < 8 ? SHBITS_READ_BEHIND : 0;
			char	   *keys = malloc(nkeys * width + behind);
			uint64		query = next_random();
			uint64		mask = width == 8 ? PG_UINT64_MAX : (UINT64CONST(1) << 8 * width) - 1;
			uint16		found[141];
			uint64		plain[140];

			/* what lies behind must not be found */
			shbits_store_bytes(keys + nkeys * width, query, behind);
			for (int i = 0; i < nkeys; i++)
			{
				plain[i] = flip_bits(query, next_random() % 65);
				for (int b = 0; b < width; b++)
					keys[i * width + b] = (char) (plain[i] >> 8 * b);
			}
			for (int r = 0; r < lengthof(radii); r++)
			{
				int			nexpected = 0;
				int			nfound;

				found[nkeys] = 0xabcd;
				nfound = shbits_kernels->stored(keys, width, nkeys, query, radii[r], found);
				passed &= found[nkeys] == 0xabcd;
				for (int i = 0; i < nkeys; i++)
				{
					if (naive_distance(plain[i] & mask, query & mask) > radii[r])
						continue;
					passed &= nexpected < nfound && found[nexpected] == i;
					nexpected++;
				}
				passed &= nfound == nexpected;
			}
			for (int i = 0; i < nkeys; i++)
				passed &= shbits_load_bytes(keys + i * width, width) == (plain[i] & mask);
			free(keys);
		}
	}
	report(passed, name, "0 to 140 keys stored in 5 to 8 bytes");
}

/*
 * Do these agree with a naive loop?  They must write nothing to others[] from the
 * number of keys on, and what they write matters only of keys in a pair.
 */
static bool
tile_agrees(const uint64 *a, int na, const uint64 *b, int nb, int radius,
			uint64 found, const uint64 *others)
{
	uint64		expected = 0;
	bool		passed = others[na] == UINT64CONST(0x0123456789abcdef);

	for (int i = 0; i < na; i++)
	{
		uint64		of_this = 0;

		for (int j = a == b ? i + 1 : 0; j < nb; j++)
		{
			if (naive_distance(a[i], b[j]) <= radius)
				of_this |= UINT64CONST(1) << j;
		}
		if (of_this == 0)
			continue;
		expected |= UINT64CONST(1) << i;
		passed &= others[i] == of_this;
	}
	return passed && found == expected;
}

static bool
pairs_agree(const uint64 *keys, int nkeys, int radius)
{
	uint64		others[SHBITS_MAX_TILE + 1];

	for (int i = 0; i <= nkeys; i++)
		others[i] = UINT64CONST(0x0123456789abcdef);
	return tile_agrees(keys, nkeys, keys, nkeys, radius,
					   shbits_kernels->pairs(keys, nkeys, radius, others), others);
}

static bool
product_agrees(const uint64 *a, int na, const uint64 *b, int nb, int radius)
{
	uint64		others[SHBITS_MAX_TILE + 1];

	for (int i = 0; i <= na; i++)
		others[i] = UINT64CONST(0x0123456789abcdef);
	return tile_agrees(a, na, b, nb, radius,
					   shbits_kernels->product(a, na, b, nb, radius, others), others);
}

static void
test_product(const char *name)
{
	static const int radii[] = {-2147483647 - 1, -1, 0, 3, 10, 64, 65, 2147483647};
	uint64		a[SHBITS_MAX_TILE + 1];
	uint64		b[SHBITS_MAX_TILE + 1];
	char		what[100];
	bool		passed = true;

	/* what lies behind must not be found */
	for (int round = 0; round < 1000; round++)
	{
		int			na = round < 65 ? round : next_random() % (SHBITS_MAX_TILE + 1);
		int			nb = round < 65 ? 64 - round : next_random() % (SHBITS_MAX_TILE + 1);
		uint64		center = next_random();

		for (int i = 0; i <= SHBITS_MAX_TILE; i++)
		{
			a[i] = flip_bits(center, next_random() % (round % 30 + 1));
			b[i] = flip_bits(center, next_random() % (round % 30 + 1));
		}
		for (int r = 0; r < lengthof(radii); r++)
			passed &= product_agrees(a, na, b, nb, radii[r]);
	}
	snprintf(what, sizeof(what), "pairs of 0 to %d keys with others", SHBITS_MAX_TILE);
	report(passed, name, what);

	passed = true;
	for (int i = 0; i < SHBITS_MAX_TILE; i++)
	{
		for (int k = 0; k < SHBITS_MAX_TILE; k++)
		{
			a[k] = next_random();
			b[k] = next_random();
		}
		for (int j = 0; j < SHBITS_MAX_TILE; j++)
		{
			uint64		kept = b[j];

			b[j] = flip_bits(a[i], 3);
			passed &= product_agrees(a, SHBITS_MAX_TILE, b, SHBITS_MAX_TILE, 3);
			b[j] = kept;
		}
	}
	report(passed, name, "a single pair with another, in any places");
}

static void
test_pairs(const char *name)
{
	static const int radii[] = {-2147483647 - 1, -1, 0, 3, 10, 64, 65, 2147483647};
	uint64		keys[SHBITS_MAX_TILE + 8];
	char		what[100];
	bool		passed = true;

	/* what lies before and behind must not be found, nor matter to what is */
	for (int nkeys = 0; nkeys <= SHBITS_MAX_TILE; nkeys++)
	{
		int			start = nkeys % 4;

		for (int round = 0; round < 20; round++)
		{
			uint64		center = next_random();

			for (int i = 0; i < lengthof(keys); i++)
				keys[i] = flip_bits(center, next_random() % (round + 1));
			for (int r = 0; r < lengthof(radii); r++)
				passed &= pairs_agree(keys + start, nkeys, radii[r]);
		}
	}
	snprintf(what, sizeof(what), "pairs among 0 to %d keys", SHBITS_MAX_TILE);
	report(passed, name, what);

	/* keys that are far from each other, but for two: in any two places */
	passed = true;
	for (int nkeys = 2; nkeys <= SHBITS_MAX_TILE; nkeys += nkeys < 26 ? 1 : 19)
	{
		for (int i = 0; i < nkeys; i++)
			keys[i] = next_random();
		for (int i = 0; i < nkeys; i++)
		{
			for (int j = i + 1; j < nkeys; j++)
			{
				uint64		kept = keys[j];

				keys[j] = flip_bits(keys[i], 3);
				passed &= pairs_agree(keys, nkeys, 2);
				passed &= pairs_agree(keys, nkeys, 3);
				keys[j] = kept;
			}
		}
	}
	report(passed, name, "a single pair in any places");

	passed = true;
	for (int nkeys = 0; nkeys <= SHBITS_MAX_TILE; nkeys++)
	{
		for (int i = 0; i < nkeys; i++)
			keys[i] = i % 2 == 0 ? 0 : PG_UINT64_MAX;
		for (int r = 0; r < lengthof(radii); r++)
			passed &= pairs_agree(keys, nkeys, radii[r]);
	}
	report(passed, name, "pairs of extreme values");
}

/*
 * Byte strings of each length, that begin anywhere and are far from any others, so
 * that nothing else is counted.
 */
static void
test_bytes(const char *name)
{
	bool		passed = true;

	for (int nbytes = 0; nbytes <= 512; nbytes++)
	{
		for (int start = 0; start < 8; start++)
		{
			uint8	   *a = malloc(start + nbytes + 1);
			uint8	   *b = malloc(nbytes + 1);
			int			expected = 0;

			for (int i = 0; i < start + nbytes; i++)
				a[i] = next_random();
			for (int i = 0; i < nbytes; i++)
			{
				b[i] = start == 0 ? ~a[start + i] : start == 1 ? a[start + i] :
					start == 2 ? a[start + i] ^ 1 << i % 8 : next_random();
				expected += naive_distance(a[start + i], b[i]);
			}
			if (start > 0)
				a[start - 1] = 0;
			a[start + nbytes] = 0;
			b[nbytes] = 0xFF;
			passed &= shbits_kernels->bytes(a + start, b, nbytes) == expected &&
				shbits_kernels->bytes(b, a + start, nbytes) == expected;
			free(a);
			free(b);
		}

		/* nothing behind may be read */
		{
			uint8	   *a = allocate(nbytes + 1);
			uint8	   *b = allocate(nbytes + 1);

			memset(a, 0, nbytes + 1);
			memset(b, 0xFF, nbytes + 1);
			passed &= shbits_kernels->bytes(a + 1, b + 1, nbytes) == 8 * nbytes;
			release(a, nbytes + 1);
			release(b, nbytes + 1);
		}
	}
	report(passed, name, "0 to 512 bytes");
}

/* Is table b's choice of blocks after table a's in lexicographic order? */
static bool
choice_follows(const ShBitsTable *a, const ShBitsTable *b, int nchosen)
{
	for (int i = 0; i < nchosen; i++)
	{
		if (a->order[i] != b->order[i])
			return a->order[i] < b->order[i];
	}
	return false;
}

/* Do the structure members of a table say what scheme.h says? */
static bool
table_is_well_formed(const ShBitsScheme *scheme, const ShBitsTable *table)
{
	int			n = scheme->bits;
	int			m = scheme->blocks;
	int			nchosen = m - scheme->distance;
	uint32		seen = 0;
	uint64		covered = 0;
	uint64		prefix_mask = 0;

	for (int i = 0; i < m; i++)
	{
		/* ascending within the prefix and within the rest */
		if (i > 0 && i != nchosen && table->order[i] <= table->order[i - 1])
			return false;
		if (table->order[i] >= m)
			return false;
		seen |= 1U << table->order[i];
	}
	if (seen != (1U << m) - 1)
		return false;

	for (int i = 0; i < nchosen; i++)
	{
		int			block = table->order[i];

		for (int bit = block * n / m; bit < (block + 1) * n / m; bit++)
			prefix_mask |= UINT64CONST(1) << bit;
	}
	if (table->prefix_mask != prefix_mask ||
		table->prefix_bits != naive_distance(prefix_mask, 0))
		return false;

	if (table->nmoves < 1 || table->nmoves > m)
		return false;
	for (int i = 0; i < table->nmoves; i++)
	{
		if ((covered & table->moves[i].mask) != 0 ||
			table->moves[i].rotate < 0 || table->moves[i].rotate > 63)
			return false;
		for (int j = 0; j < i; j++)
		{
			if (table->moves[i].rotate == table->moves[j].rotate)
				return false;
		}
		covered |= table->moves[i].mask;
	}
	return covered == PG_UINT64_MAX << (64 - n);
}

/* Permute bit by bit, straight from the definition. */
static uint64
naive_permute(const ShBitsScheme *scheme, const ShBitsTable *table, uint64 fp)
{
	int			n = scheme->bits;
	int			m = scheme->blocks;
	uint64		result = 0;

	for (int i = 0; i < m; i++)
	{
		int			block = table->order[i];

		for (int bit = (block + 1) * n / m - 1; bit >= block * n / m; bit--)
			result = (result << 1) | ((fp >> bit) & 1);
	}
	return result << (64 - n);
}

static void
test_scheme(int bits, int blocks, int distance)
{
	int			ntables = shbits_ntables(blocks, distance);
	Size		size = shbits_scheme_size(ntables);
	char	   *memory = malloc(size + 1);
	ShBitsScheme *scheme = (ShBitsScheme *) memory;
	char		subject[64];
	char		what[100];
	bool		formed = true;
	bool		permutes = true;
	bool		agrees = true;

	if (memory == NULL)
		bail_out("out of memory");
	memset(memory, 0x5a, size + 1);
	shbits_scheme_init(scheme, bits, blocks, distance);

	formed &= memory[size] == 0x5a;
	formed &= scheme->bits == bits && scheme->blocks == blocks && scheme->distance == distance &&
		scheme->ntables == ntables;
	for (int t = 0; t < ntables; t++)
	{
		formed &= table_is_well_formed(scheme, &scheme->tables[t]);
		if (t > 0)
			formed &= choice_follows(&scheme->tables[t - 1], &scheme->tables[t],
									 blocks - distance);
	}

	for (int t = 0; t < ntables; t++)
	{
		const ShBitsTable *table = &scheme->tables[t];

		for (int i = 0; i < bits + 20; i++)
		{
			uint64		fp = i < bits ? UINT64CONST(1) << i : next_random() >> (64 - bits);
			uint64		key = shbits_permute(table, fp);

			permutes &= key == naive_permute(scheme, table, fp);
			permutes &= shbits_unpermute(table, key) == fp;
		}
	}

	/* what differs in at most distance bits has a prefix in common */
	for (int i = 0; i < 500; i++)
	{
		uint64		a = next_random() >> (64 - bits);
		uint64		b = flip_low_bits(a, i % (distance + 1), bits);
		bool		found = false;

		for (int t = 0; t < ntables && !found; t++)
		{
			const ShBitsTable *table = &scheme->tables[t];
			uint64		difference = shbits_permute(table, a) ^ shbits_permute(table, b);

			found = (difference >> (64 - table->prefix_bits)) == 0;
			agrees &= found == (((a ^ b) & table->prefix_mask) == 0);
		}
		agrees &= found;
	}

	snprintf(subject, sizeof(subject), "scheme (%d,%d) of %d bits", blocks, distance, bits);
	snprintf(what, sizeof(what), "%d tables, %s%s%s", ntables,
			 formed ? "well formed" : "MALFORMED",
			 permutes ? ", permute and invert" : ", DO NOT PERMUTE",
			 agrees ? ", share a prefix" : ", SHARE NO PREFIX");
	report(formed && permutes && agrees, subject, what);
	free(memory);
}

/* all loops, with the kernels that are set */
static void
test_kernels(const char *name)
{
	test_filter(name);
	test_stored(name);
	test_product(name);
	test_pairs(name);
	test_bytes(name);
}

int
main(void)
{
	static const char *const names[] = {"portable", "neon", "popcnt", "avx2", "avx512"};
	bool		passed;
	ShBitsScheme *single;

	report(shbits_kernels == shbits_kernels_named("portable"), "portable kernels",
		   "are there until others are chosen");
	report(shbits_kernels_named("nonsense") == NULL, "an unknown kernel", "is NULL");
	shbits_choose_kernels();
	test_kernels("chosen");
	for (int i = 0; i < lengthof(names); i++)
	{
		const ShBitsKernels *kernels = shbits_kernels_named(names[i]);

		if (kernels == NULL)
		{
			skip(names[i], "this machine cannot run it");
			continue;
		}
		shbits_kernels = kernels;
		test_kernels(names[i]);
	}

	passed = true;
	for (int i = 0; i < 1000; i++)
	{
		uint64		a = next_random();
		uint64		b = flip_bits(a, i % 65);

		passed &= shbits_distance(a, b) == i % 65;
	}
	report(passed, "shbits_distance", "of 0 to 64 bits");

	report(shbits_ntables(0, 0) == 0 && shbits_ntables(17, 3) == 0 &&
		   shbits_ntables(4, 4) == 0 && shbits_ntables(4, -1) == 0 &&
		   shbits_ntables(-1, -2) == 0,
		   "out of range", "no tables");
	report(shbits_ntables(1, 0) == 1 && shbits_ntables(4, 3) == 4 &&
		   shbits_ntables(6, 3) == 20 && shbits_ntables(16, 2) == 120 &&
		   shbits_ntables(16, 8) == 12870 && shbits_ntables(16, 15) == 16,
		   "schemes", "numbers of tables");

	single = malloc(shbits_scheme_size(1));
	if (single == NULL)
		bail_out("out of memory");
	shbits_scheme_init(single, SHBITS_WIDTH, 1, 0);
	report(single->tables[0].nmoves == 1 && single->tables[0].moves[0].rotate == 0 &&
		   single->tables[0].prefix_bits == 64,
		   "scheme (1,0)", "is the identity in one move");
	free(single);

	/* around whole bytes */
	for (int bits = 1; bits < SHBITS_WIDTH; bits += bits % 8 == 1 ? 6 : 1)
	{
		test_scheme(bits, 1, 0);
		test_scheme(bits, Min(bits, 4), Min(bits, 4) - 1);
		test_scheme(bits, Min(bits, 16), Min(bits, 16) / 8);
	}
	for (int blocks = 1; blocks <= SHBITS_MAX_BLOCKS; blocks++)
	{
		for (int distance = 0; distance < blocks; distance++)
		{
			if (shbits_ntables(blocks, distance) <= SHBITS_MAX_TABLES)
				test_scheme(SHBITS_WIDTH, blocks, distance);
		}
	}

	return finish();
}
