/*-------------------------------------------------------------------------
 *
 * inmemory.c
 *	  All pairs of near fingerprints, and their clusters, in the memory of a
 *	  plain program: what the functions of the extension are measured against.
 *
 * This does what libraries outside a database do (simhash-cpp, for one).  For
 * each table of a scheme of m blocks and distance k: permute all values, sort
 * them, compare each two with the same prefix, and put the pairs that are near
 * into a hash set, since most are met in several tables.  The clusters are
 * found breadth first in the graph of the pairs.  The input is a set: equal
 * values count once.
 *
 * There are two ways to do it.  With -l as simhash-cpp does: bits are counted
 * one by one, and the hash set has an allocated node for each pair, as the
 * standard library of C++ has.  Else as well as it can be done: bits are counted
 * all at once, and the hash set has open addressing.  Both sort with an introsort
 * that the compiler can inline, and for the clusters have neighbours in one array
 * instead of a container for each value.  Not counted are reading the file,
 * making the set of values, and a first round.
 *
 * usage: inmemory [-l] [-c] [-s M,K] [-r ROUNDS] FILE
 *
 * FILE has a decimal number on each line; negative ones are taken modulo 2^64.
 * Prints names and numbers with a tab between; seconds are medians.  The sums,
 * modulo 2^64, are for comparing the answer with that of another program.  With -c
 * the seconds are of CPU time, which other programs on a busy machine change less.
 *
 *-------------------------------------------------------------------------
 */
#define _POSIX_C_SOURCE 200809L

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MAX_BLOCKS		16
#define MAX_TABLES		256
#define MAX_ROUNDS		1000
#define SMALL_RANGE		16		/* sorted by insertion */

typedef struct Table
{
	int			blocks;
	uint64_t	from[MAX_BLOCKS];	/* the bits of each block */
	uint64_t	to[MAX_BLOCKS]; /* where they go */
	int			rotate[MAX_BLOCKS]; /* and how far left they are rotated */
	int			prefix_bits;
} Table;

/* a < b, so b is never 0, which marks an empty slot */
typedef struct Pair
{
	uint64_t	a;
	uint64_t	b;
} Pair;

typedef struct PairSet
{
	Pair	   *slots;
	size_t		mask;			/* number of slots - 1 */
	int			shift;			/* from a hash value to a slot */
	size_t		used;
} PairSet;

/* from a value to a number from 0, in order of arrival */
typedef struct ValueMap
{
	uint64_t   *values;			/* by number; has room for as many as slots */
	uint32_t   *slots;			/* number + 1; 0 if empty */
	size_t		mask;
	int			shift;
	size_t		used;
} ValueMap;

typedef struct Clusters
{
	size_t		count;
	size_t		nmembers;
	uint64_t   *members;		/* a cluster behind the other */
	size_t	   *starts;			/* count + 1 of them */
} Clusters;

typedef enum Phase
{
	PERMUTE, SORT, COMPARE, PAIRS, GRAPH, CLUSTERS, NPHASES
} Phase;

static const char *const phase_names[NPHASES] = {
	"seconds to permute", "seconds to sort", "seconds to compare",
	"seconds for pairs", "seconds for the graph", "seconds for clusters"
};

static clockid_t clock_used = CLOCK_MONOTONIC;

static void
die(const char *message, const char *what)
{
	fprintf(stderr, "inmemory: %s%s\n", message, what);
	exit(1);
}

static void *
allocate(size_t count, size_t size)
{
	void	   *p = calloc(count > 0 ? count : 1, size);

	if (p == NULL)
		die("out of memory", "");
	return p;
}

static double
now(void)
{
	struct timespec t;

	clock_gettime(clock_used, &t);
	return (double) t.tv_sec + (double) t.tv_nsec / 1e9;
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


/* --- Sorting: quicksort, with heapsort against its worst case --- */

static void
sort_by_insertion(uint64_t *v, size_t n)
{
	for (size_t i = 1; i < n; i++)
	{
		uint64_t	x = v[i];
		size_t		j = i;

		for (; j > 0 && v[j - 1] > x; j--)
			v[j] = v[j - 1];
		v[j] = x;
	}
}

static void
sift_down(uint64_t *v, size_t i, size_t n)
{
	uint64_t	x = v[i];

	for (size_t child = 2 * i + 1; child < n; child = 2 * i + 1)
	{
		if (child + 1 < n && v[child + 1] > v[child])
			child++;
		if (v[child] <= x)
			break;
		v[i] = v[child];
		i = child;
	}
	v[i] = x;
}

static void
sort_by_heap(uint64_t *v, size_t n)
{
	for (size_t i = n / 2; i-- > 0;)
		sift_down(v, i, n);
	for (size_t i = n; i-- > 1;)
	{
		uint64_t	x = v[0];

		v[0] = v[i];
		v[i] = x;
		sift_down(v, 0, i);
	}
}

static inline uint64_t
median_of_three(uint64_t a, uint64_t b, uint64_t c)
{
	if (a < b)
		return b < c ? b : (a < c ? c : a);
	return a < c ? a : (b < c ? c : b);
}

static void
sort_values(uint64_t *v, size_t n, int depth)
{
	while (n > SMALL_RANGE)
	{
		uint64_t	pivot;
		size_t		i = 0;
		size_t		j = n - 1;

		if (depth-- == 0)
		{
			sort_by_heap(v, n);
			return;
		}
		pivot = median_of_three(v[0], v[n / 2], v[n - 1]);
		for (;;)
		{
			uint64_t	x;

			while (v[i] < pivot)
				i++;
			while (v[j] > pivot)
				j--;
			if (i >= j)
				break;
			x = v[i];
			v[i++] = v[j];
			v[j--] = x;
		}
		/* what is before i is not above the pivot, the rest not below it */
		sort_values(v + i, n - i, depth);
		n = i;
	}
	sort_by_insertion(v, n);
}

static int
sort_depth(size_t n)
{
	int			depth = 0;

	for (; n > 1; n /= 2)
		depth += 2;
	return depth;
}


/* --- The tables of a scheme --- */

/* The table that has the chosen blocks, a bit each, in its prefix. */
static void
make_table(Table *table, int blocks, unsigned chosen)
{
	int			top = 64;

	table->blocks = 0;
	table->prefix_bits = 0;
	for (int in_prefix = 1; in_prefix >= 0; in_prefix--)
	{
		for (int i = 0; i < blocks; i++)
		{
			int			low = i * 64 / blocks;
			int			width = (i + 1) * 64 / blocks - low;
			uint64_t	ones = width == 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;

			if ((int) (chosen >> i & 1) != in_prefix)
				continue;
			top -= width;
			table->from[table->blocks] = ones << low;
			table->to[table->blocks] = ones << top;
			table->rotate[table->blocks] = top - low;
			table->blocks++;
			if (in_prefix)
				table->prefix_bits += width;
		}
	}
}

static int
make_tables(Table *tables, int blocks, int distance)
{
	int			ntables = 0;

	for (unsigned chosen = 0; chosen < 1U << blocks; chosen++)
	{
		if (count_bits(chosen) != blocks - distance)
			continue;
		if (ntables == MAX_TABLES)
			die("too many tables", "");
		make_table(&tables[ntables++], blocks, chosen);
	}
	return ntables;
}

static inline uint64_t
permute(const Table *table, uint64_t value)
{
	uint64_t	key = 0;

	for (int i = 0; i < table->blocks; i++)
		key |= rotate_left(value & table->from[i], table->rotate[i]);
	return key;
}

static inline uint64_t
unpermute(const Table *table, uint64_t key)
{
	uint64_t	value = 0;

	for (int i = 0; i < table->blocks; i++)
		value |= rotate_left(key & table->to[i], -table->rotate[i]);
	return value;
}


/* --- Hash set of pairs: open addressing, at most half full --- */

static void
pairs_init(PairSet *set, int log_slots)
{
	set->slots = allocate((size_t) 1 << log_slots, sizeof(Pair));
	set->mask = ((size_t) 1 << log_slots) - 1;
	set->shift = 64 - log_slots;
	set->used = 0;
}

static inline uint64_t
pair_hash(uint64_t a, uint64_t b)
{
	return (a * UINT64_C(0x9e3779b97f4a7c15) ^ b) * UINT64_C(0xd6e8feb86659fd93);
}

static inline Pair *
pairs_slot(const PairSet *set, uint64_t a, uint64_t b)
{
	size_t		i = (size_t) (pair_hash(a, b) >> set->shift);

	while (set->slots[i].b != 0 && (set->slots[i].a != a || set->slots[i].b != b))
		i = (i + 1) & set->mask;
	return &set->slots[i];
}

static void
pairs_grow(PairSet *set)
{
	PairSet		old = *set;

	pairs_init(set, 64 - old.shift + 1);
	for (size_t i = 0; i <= old.mask; i++)
		if (old.slots[i].b != 0)
			*pairs_slot(set, old.slots[i].a, old.slots[i].b) = old.slots[i];
	set->used = old.used;
	free(old.slots);
}

static inline void
pairs_add(PairSet *set, uint64_t x, uint64_t y)
{
	uint64_t	a = x < y ? x : y;
	uint64_t	b = x < y ? y : x;
	Pair	   *slot = pairs_slot(set, a, b);

	if (slot->b != 0)
		return;
	slot->a = a;
	slot->b = b;
	if (++set->used > set->mask / 2)
		pairs_grow(set);
}


/* --- Hash set of pairs: a list of nodes for each bucket --- */

typedef struct Node
{
	Pair		pair;
	struct Node *next;
} Node;

typedef struct NodeSet
{
	Node	  **buckets;
	size_t		mask;
	int			shift;
	size_t		used;
} NodeSet;

static void
nodes_init(NodeSet *set, int log_buckets)
{
	set->buckets = allocate((size_t) 1 << log_buckets, sizeof(Node *));
	set->mask = ((size_t) 1 << log_buckets) - 1;
	set->shift = 64 - log_buckets;
	set->used = 0;
}

static inline Node **
nodes_bucket(const NodeSet *set, uint64_t a, uint64_t b)
{
	return &set->buckets[pair_hash(a, b) >> set->shift];
}

static void
nodes_link(NodeSet *set, Node *node)
{
	Node	  **bucket = nodes_bucket(set, node->pair.a, node->pair.b);

	node->next = *bucket;
	*bucket = node;
	set->used++;
}

static void
nodes_grow(NodeSet *set)
{
	NodeSet		old = *set;

	nodes_init(set, 64 - old.shift + 1);
	for (size_t i = 0; i <= old.mask; i++)
	{
		for (Node *node = old.buckets[i], *next; node != NULL; node = next)
		{
			next = node->next;
			nodes_link(set, node);
		}
	}
	free(old.buckets);
}

static inline void
nodes_add(NodeSet *set, uint64_t x, uint64_t y)
{
	uint64_t	a = x < y ? x : y;
	uint64_t	b = x < y ? y : x;
	Node	   *node;

	for (node = *nodes_bucket(set, a, b); node != NULL; node = node->next)
		if (node->pair.a == a && node->pair.b == b)
			return;
	node = allocate(1, sizeof(Node));
	node->pair.a = a;
	node->pair.b = b;
	nodes_link(set, node);
	if (set->used > set->mask)
		nodes_grow(set);
}

/* Move all pairs to a set of the other kind. */
static void
nodes_move(NodeSet *set, PairSet *pairs)
{
	for (size_t i = 0; i <= set->mask; i++)
	{
		for (Node *node = set->buckets[i], *next; node != NULL; node = next)
		{
			next = node->next;
			pairs_add(pairs, node->pair.a, node->pair.b);
			free(node);
		}
	}
	free(set->buckets);
}


/* --- Hash map from values to numbers --- */

static void
values_init(ValueMap *map, size_t most)
{
	int			log_slots = 1;

	while ((size_t) 1 << log_slots < 2 * most)
		log_slots++;
	map->values = allocate(most, sizeof(uint64_t));
	map->slots = allocate((size_t) 1 << log_slots, sizeof(uint32_t));
	map->mask = ((size_t) 1 << log_slots) - 1;
	map->shift = 64 - log_slots;
	map->used = 0;
}

static uint32_t
values_number(ValueMap *map, uint64_t value)
{
	size_t		i = (size_t) ((value * UINT64_C(0x9e3779b97f4a7c15)) >> map->shift);

	for (; map->slots[i] != 0; i = (i + 1) & map->mask)
		if (map->values[map->slots[i] - 1] == value)
			return map->slots[i] - 1;
	map->values[map->used++] = value;
	map->slots[i] = (uint32_t) map->used;
	return (uint32_t) map->used - 1;
}


/* --- What is measured --- */

static void
compare_equal_prefixes(const Table *table, const uint64_t *keys, size_t n,
					   int distance, PairSet *pairs)
{
	int			shift = 64 - table->prefix_bits;
	size_t		end;

	for (size_t start = 0; start < n; start = end)
	{
		for (end = start + 1; end < n && (keys[start] ^ keys[end]) >> shift == 0;)
			end++;
		for (size_t i = start; i < end; i++)
			for (size_t j = i + 1; j < end; j++)
				if (count_bits(keys[i] ^ keys[j]) <= distance)
					pairs_add(pairs, unpermute(table, keys[i]), unpermute(table, keys[j]));
	}
}

/* The number of bits that are set is at most some: counted one by one. */
static inline bool
few_bits(uint64_t x, int most)
{
	int			count = 0;

	for (; x != 0; x &= x - 1)
		count++;
	return count <= most;
}

static void
compare_as_library(const Table *table, const uint64_t *keys, size_t n,
				   int distance, NodeSet *pairs)
{
	int			shift = 64 - table->prefix_bits;
	size_t		end;

	for (size_t start = 0; start < n; start = end)
	{
		for (end = start + 1; end < n && (keys[start] ^ keys[end]) >> shift == 0;)
			end++;
		for (size_t i = start; i < end; i++)
			for (size_t j = i + 1; j < end; j++)
				if (few_bits(keys[i] ^ keys[j], distance))
					nodes_add(pairs, unpermute(table, keys[i]), unpermute(table, keys[j]));
	}
}

static void
find_pairs(const uint64_t *values, size_t n, const Table *tables, int ntables,
		   int distance, bool as_library, PairSet *pairs, double *took)
{
	NodeSet		nodes;
	uint64_t   *keys;
	double		time = now();
	double		then;

	took[PERMUTE] = took[SORT] = took[COMPARE] = 0;
	took[PAIRS] = -time;
	keys = allocate(n, sizeof(uint64_t));
	pairs_init(pairs, 10);
	nodes_init(&nodes, 10);
	for (int t = 0; t < ntables; t++)
	{
		for (size_t i = 0; i < n; i++)
			keys[i] = permute(&tables[t], values[i]);
		then = time;
		time = now();
		took[PERMUTE] += time - then;

		sort_values(keys, n, sort_depth(n));
		then = time;
		time = now();
		took[SORT] += time - then;

		if (as_library)
			compare_as_library(&tables[t], keys, n, distance, &nodes);
		else
			compare_equal_prefixes(&tables[t], keys, n, distance, pairs);
		then = time;
		time = now();
		took[COMPARE] += time - then;
	}
	free(keys);
	took[PAIRS] += now();
	nodes_move(&nodes, pairs);
}

static void
find_clusters(const PairSet *pairs, Clusters *clusters)
{
	ValueMap	map;
	uint32_t   *ends;			/* two numbers for each pair */
	size_t	   *first;			/* of each value's neighbours */
	uint32_t   *neighbours;
	uint32_t   *queue;
	bool	   *seen;
	size_t		nends = 0;
	size_t		queued = 0;

	values_init(&map, 2 * pairs->used);
	ends = allocate(2 * pairs->used, sizeof(uint32_t));
	for (size_t i = 0; i <= pairs->mask; i++)
	{
		if (pairs->slots[i].b == 0)
			continue;
		ends[nends++] = values_number(&map, pairs->slots[i].a);
		ends[nends++] = values_number(&map, pairs->slots[i].b);
	}

	/*
	 * first[v] is where v's neighbours end, until they are filled in
	 * backwards
	 */
	first = allocate(map.used + 1, sizeof(size_t));
	neighbours = allocate(nends, sizeof(uint32_t));
	for (size_t i = 0; i < nends; i++)
		first[ends[i]]++;
	for (size_t v = 1; v <= map.used; v++)
		first[v] += first[v - 1];
	for (size_t i = 0; i < nends; i++)
		neighbours[--first[ends[i]]] = ends[i ^ 1];

	queue = allocate(map.used, sizeof(uint32_t));
	seen = allocate(map.used, sizeof(bool));
	clusters->members = allocate(map.used, sizeof(uint64_t));
	clusters->starts = allocate(map.used + 1, sizeof(size_t));
	clusters->count = 0;
	clusters->nmembers = 0;
	for (size_t v = 0; v < map.used; v++)
	{
		if (seen[v])
			continue;
		clusters->starts[clusters->count++] = clusters->nmembers;
		seen[v] = true;
		queue[queued++] = (uint32_t) v;
		while (clusters->nmembers < queued)
		{
			uint32_t	u = queue[clusters->nmembers];

			clusters->members[clusters->nmembers++] = map.values[u];
			for (size_t i = first[u]; i < first[u + 1]; i++)
			{
				if (seen[neighbours[i]])
					continue;
				seen[neighbours[i]] = true;
				queue[queued++] = neighbours[i];
			}
		}
	}
	clusters->starts[clusters->count] = clusters->nmembers;

	free(map.values);
	free(map.slots);
	free(ends);
	free(first);
	free(neighbours);
	free(queue);
	free(seen);
}


/* --- Input and output --- */

/* The different values of a file, in order of their first appearance. */
static uint64_t *
read_values(const char *file, size_t *count, double *set_took)
{
	FILE	   *f = fopen(file, "r");
	char		line[64];
	size_t		n = 0;
	size_t		room = 1024;
	uint64_t   *values = allocate(room, sizeof(uint64_t));
	ValueMap	set;

	if (f == NULL)
		die("cannot open ", file);
	while (fgets(line, sizeof(line), f) != NULL)
	{
		char	   *end;

		if (n == room)
		{
			room *= 2;
			values = realloc(values, room * sizeof(uint64_t));
			if (values == NULL)
				die("out of memory", "");
		}
		values[n++] = strtoull(line, &end, 10);
		if (end == line || (*end != '\n' && *end != '\0'))
			die("not a number: ", line);
	}
	fclose(f);
	if (n > UINT32_MAX / 2)
		die("too many lines in ", file);

	*set_took = -now();
	values_init(&set, n);
	for (size_t i = 0; i < n; i++)
		values_number(&set, values[i]);
	*set_took += now();
	free(values);
	free(set.slots);
	*count = set.used;
	return set.values;
}

static void
print_number(const char *name, uint64_t number)
{
	printf("%s\t%" PRIu64 "\n", name, number);
}

static void
print_answer(const PairSet *pairs, const Clusters *clusters)
{
	uint64_t	sum = 0;
	uint64_t	distances = 0;

	for (size_t i = 0; i <= pairs->mask; i++)
	{
		sum += pairs->slots[i].a + pairs->slots[i].b;
		distances += (uint64_t) count_bits(pairs->slots[i].a ^ pairs->slots[i].b);
	}
	print_number("pairs", pairs->used);
	print_number("sum of the pairs", sum);
	print_number("sum of the distances", distances);

	/* a cluster is known by its smallest member */
	sum = 0;
	for (size_t c = 0; c < clusters->count; c++)
	{
		uint64_t	least = UINT64_MAX;

		for (size_t i = clusters->starts[c]; i < clusters->starts[c + 1]; i++)
			if (clusters->members[i] < least)
				least = clusters->members[i];
		sum += least * (clusters->starts[c + 1] - clusters->starts[c]);
	}
	print_number("clusters", clusters->count);
	print_number("members", clusters->nmembers);
	print_number("sum of the members' clusters", sum);
}

static int
compare_doubles(const void *a, const void *b)
{
	double		x = *(const double *) a;
	double		y = *(const double *) b;

	return (x > y) - (x < y);
}

static double
median(double *x, int n)
{
	qsort(x, (size_t) n, sizeof(double), compare_doubles);
	return n % 2 == 1 ? x[n / 2] : (x[n / 2 - 1] + x[n / 2]) / 2;
}

int
main(int argc, char **argv)
{
	static double seconds[NPHASES][MAX_ROUNDS];
	static Table tables[MAX_TABLES];
	int			blocks = 4;
	int			distance = 3;
	int			rounds = 3;
	bool		as_library = false;
	int			ntables;
	int			option;
	size_t		n;
	double		set_took;
	uint64_t   *values;

	while ((option = getopt(argc, argv, "lcs:r:")) != -1)
	{
		if (option == 'l')
		{
			as_library = true;
			continue;
		}
		if (option == 'c')
		{
			clock_used = CLOCK_PROCESS_CPUTIME_ID;
			continue;
		}
		if (option == 's' && sscanf(optarg, "%d,%d", &blocks, &distance) == 2)
			continue;
		if (option == 'r' && sscanf(optarg, "%d", &rounds) == 1)
			continue;
		die("usage: inmemory [-l] [-c] [-s M,K] [-r ROUNDS] FILE", "");
	}
	if (optind != argc - 1)
		die("usage: inmemory [-l] [-c] [-s M,K] [-r ROUNDS] FILE", "");
	if (blocks < 1 || blocks > MAX_BLOCKS || distance < 0 || distance >= blocks)
		die("no such scheme", "");
	if (rounds < 1 || rounds > MAX_ROUNDS)
		die("no such number of rounds", "");
	ntables = make_tables(tables, blocks, distance);
	values = read_values(argv[optind], &n, &set_took);

	print_number("tables", (uint64_t) ntables);
	print_number("values", n);

	/* the first round only warms up */
	for (int round = -1; round < rounds; round++)
	{
		double		took[NPHASES];
		PairSet		pairs;
		Clusters	clusters;

		find_pairs(values, n, tables, ntables, distance, as_library, &pairs, took);
		took[GRAPH] = -now();
		find_clusters(&pairs, &clusters);
		took[GRAPH] += now();
		took[CLUSTERS] = took[PAIRS] + took[GRAPH];
		if (round == -1)
			print_answer(&pairs, &clusters);
		else
			for (int i = 0; i < NPHASES; i++)
				seconds[i][round] = took[i];
		free(pairs.slots);
		free(clusters.members);
		free(clusters.starts);
	}

	printf("seconds to make the set\t%.4f\n", set_took);
	for (int i = 0; i < NPHASES; i++)
		printf("%s\t%.4f\n", phase_names[i], median(seconds[i], rounds));
	free(values);
	return 0;
}
