/*-------------------------------------------------------------------------
 *
 * inmemory.cc
 *	  All pairs of near fingerprints in the memory of a plain program: what the
 *	  functions of the extension are measured against.
 *
 * For each table of a scheme of m blocks and distance k: permute all values, sort them,
 * compare each two with the same prefix, and put the pairs that are near into a hash set,
 * since most are met in several tables.  With -l as simhash-cpp does it: bits are counted
 * one by one, and the set is that of the standard library.  Else as well as it can be done:
 * bits are counted all at once, and the set has open addressing.
 *
 * usage: inmemory [-l] [-s M,K] FILE
 *
 * FILE has a decimal number on each line; equal ones count once.  Prints the number of
 * pairs and the seconds of CPU time for them, with tabs before the numbers.  Reading the
 * file and a first round are not counted.
 *
 *-------------------------------------------------------------------------
 */
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <unordered_set>
#include <utility>
#include <vector>
#include <unistd.h>

typedef std::pair<uint64_t, uint64_t> Pair;		/* the smaller one first, so the second is not 0 */

[[noreturn]] static void
die(const char *message)
{
	fprintf(stderr, "inmemory: %s\n", message);
	exit(1);
}

static inline int
count_bits(uint64_t x)
{
#ifdef __POPCNT__
	return __builtin_popcountll(x);
#else
	/* without the instruction the compiler would call a function */
	x -= (x >> 1) & UINT64_C(0x5555555555555555);
	x = (x & UINT64_C(0x3333333333333333)) + ((x >> 2) & UINT64_C(0x3333333333333333));
	x = (x + (x >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
	return (int) ((x * UINT64_C(0x0101010101010101)) >> 56);
#endif
}

static inline uint64_t
rotate_left(uint64_t x, int n)
{
	return (x << (n & 63)) | (x >> (-n & 63));
}

struct Hash
{
	size_t operator()(const Pair &p) const
	{
		return (p.first * UINT64_C(0x9e3779b97f4a7c15) ^ p.second) * UINT64_C(0xd6e8feb86659fd93);
	}
};

struct LibrarySet
{
	std::unordered_set<Pair, Hash> set;

	void insert(const Pair &p)
	{
		set.insert(p);
	}
	size_t size() const
	{
		return set.size();
	}
	static bool near(uint64_t x, int distance)
	{
		int			count = 0;

		for (; x != 0; x &= x - 1)
			count++;
		return count <= distance;
	}
};

/* Open addressing, at most half full */
struct TunedSet
{
	int			shift = 64 - 10;	/* from a hash to a slot */
	size_t		used = 0;
	std::vector<Pair> slots = std::vector<Pair>(1 << 10);

	Pair &slot(const Pair &p)
	{
		size_t		i = Hash()(p) >> shift;

		while (slots[i].second != 0 && slots[i] != p)
			i = (i + 1) & (slots.size() - 1);
		return slots[i];
	}
	void insert(const Pair &p)
	{
		Pair	   &found = slot(p);

		if (found.second != 0)
			return;
		found = p;
		if (++used >= slots.size() / 2)
			grow();
	}
	void grow()
	{
		std::vector<Pair> old(2 * slots.size());

		old.swap(slots);
		shift--;
		for (const Pair &p : old)
			if (p.second != 0)
				slot(p) = p;
	}
	size_t size() const
	{
		return used;
	}
	static bool near(uint64_t x, int distance)
	{
		return count_bits(x) <= distance;
	}
};

/* The bits of a block, and how far left they are rotated */
struct Block
{
	uint64_t	bits;
	int			rotate;
};

struct Table
{
	std::vector<Block> blocks;
	int			prefix_bits = 0;

	/* the table that has the chosen blocks, a bit each, in its prefix */
	Table(int nblocks, unsigned chosen)
	{
		int			top = 64;

		for (unsigned in_prefix : {1, 0})
		{
			for (int i = 0; i < nblocks; i++)
			{
				int			low = i * 64 / nblocks;
				int			width = (i + 1) * 64 / nblocks - low;

				if ((chosen >> i & 1) != in_prefix)
					continue;
				top -= width;
				blocks.push_back({(UINT64_MAX >> (64 - width)) << low, top - low});
				if (in_prefix)
					prefix_bits += width;
			}
		}
	}
	uint64_t permute(uint64_t value) const
	{
		uint64_t	key = 0;

		for (const Block &block : blocks)
			key |= rotate_left(value & block.bits, block.rotate);
		return key;
	}
	uint64_t unpermute(uint64_t key) const
	{
		uint64_t	value = 0;

		for (const Block &block : blocks)
			value |= rotate_left(key, -block.rotate) & block.bits;
		return value;
	}
};

/* not inlined, so that the loop that calls it is short: most values are not near */
template<typename Set> [[gnu::noinline]] static void
add_pair(Set *pairs, uint64_t a, uint64_t b)
{
	pairs->insert(a < b ? Pair(a, b) : Pair(b, a));
}

template<typename Set> static size_t
find_pairs(const std::vector<uint64_t> &values, const std::vector<Table> &tables, int distance)
{
	Set			pairs;
	std::vector<uint64_t> keys(values.size());

	for (const Table &table : tables)
	{
		std::transform(values.begin(), values.end(), keys.begin(),
					   [&](uint64_t value) { return table.permute(value); });
		std::sort(keys.begin(), keys.end());
		for (size_t start = 0, end; start < keys.size(); start = end)
		{
			for (end = start + 1; end < keys.size() && (keys[start] ^ keys[end]) >> (64 - table.prefix_bits) == 0;)
				end++;
			for (size_t i = start; i < end; i++)
				for (size_t j = i + 1; j < end; j++)
					if (__builtin_expect(Set::near(keys[i] ^ keys[j], distance), false))
						add_pair(&pairs, table.unpermute(keys[i]), table.unpermute(keys[j]));
		}
	}
	return pairs.size();
}

static std::vector<uint64_t>
read_values(const char *name)
{
	FILE	   *file = fopen(name, "r");
	std::vector<uint64_t> values;
	int64_t		value;

	if (file == NULL)
		die("cannot open the file");
	while (fscanf(file, "%" SCNd64, &value) == 1)
		values.push_back((uint64_t) value);
	if (!feof(file))
		die("there is a line that is not a number");
	fclose(file);
	std::sort(values.begin(), values.end());
	values.erase(std::unique(values.begin(), values.end()), values.end());
	/* in no order that helps */
	std::sort(values.begin(), values.end(), [](uint64_t a, uint64_t b) { return Hash()({0, a}) < Hash()({0, b}); });
	return values;
}

int
main(int argc, char **argv)
{
	int			blocks = 4;
	int			distance = 3;
	size_t		(*find) (const std::vector<uint64_t> &, const std::vector<Table> &, int) = find_pairs<TunedSet>;
	std::vector<Table> tables;
	int			option;

	while ((option = getopt(argc, argv, "ls:")) != -1)
	{
		if (option == 'l')
			find = find_pairs<LibrarySet>;
		else if (option != 's' || sscanf(optarg, "%d,%d", &blocks, &distance) != 2)
			die("usage: inmemory [-l] [-s M,K] FILE");
	}
	if (optind != argc - 1 || blocks < 2 || blocks > 16 || distance < 1 || distance >= blocks)
		die("usage: inmemory [-l] [-s M,K] FILE");
	for (unsigned chosen = 0; chosen < 1U << blocks; chosen++)
		if (count_bits(chosen) == blocks - distance)
			tables.emplace_back(blocks, chosen);

	std::vector<uint64_t> values = read_values(argv[optind]);
	size_t		count = find(values, tables, distance);
	clock_t		start = clock();

	if (find(values, tables, distance) != count)
		die("two rounds differ");
	printf("pairs\t%zu\nseconds for pairs\t%.4f\n", count, (double) (clock() - start) / CLOCKS_PER_SEC);
	return 0;
}
