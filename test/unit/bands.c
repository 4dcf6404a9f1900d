/*-------------------------------------------------------------------------
 *
 * bands.c
 *	  Tests of src/pairs/bands.c without a server: made-up words of three tables become
 *	  elements with all their rows, and pairs of these, each once.
 *
 *-------------------------------------------------------------------------
 */
#include "unit.h"

#include "miscadmin.h"

#include "pairs/bands.h"
#include "server.h"

#define TABLES		3
#define GROUPS		2
#define VALUES		300
#define MANY_ROWS	10000
#define MAX_ROWS	20000
#define RADIUS		7
#define MAX_ELEMENTS 4000

/* a row of the table: its number, from 1, is its place */
typedef struct MadeRow
{
	uint32		group;
	int			value;
	bool		seen;			/* by the snapshot */
} MadeRow;

static MadeRow made[MAX_ROWS + 1];
static size_t nmade;

/* the words of a value: some values share one, or have near ones */
static uint64 words[VALUES][TABLES];

/* of how many tables pairs are found */
static int	ntables = TABLES;

/* the elements that are to be found: a row alone with its word, or the seen ones of a value */
static int	element_of[MAX_ROWS + 1];	/* or -1 */
static int	element_sizes[MAX_ELEMENTS];
static ShPairsRow element_firsts[MAX_ELEMENTS];
static int	nelements;

/* what has been found of pairs of elements */
static uint8 passed[MAX_ELEMENTS][MAX_ELEMENTS];

static void
make_row(uint32 group, int value, bool seen)
{
	made[++nmade] = (MadeRow)
	{
		group, value, seen
	};
}

/*
 * Values 0 and 1 have equal words, values 2 and 3 near ones in all tables, each tenth value
 * is near the next in one table; value 4 has many rows.
 */
static void
make_rows(void)
{
	for (int value = 0; value < VALUES; value++)
	{
		for (int table = 0; table < TABLES; table++)
			words[value][table] = next_random() >> 8;
	}
	memcpy(words[1], words[0], sizeof(words[0]));
	for (int table = 0; table < TABLES; table++)
		words[3][table] = words[2][table] ^ 5;
	for (int value = 10; value < VALUES; value += 10)
		words[value + 1][value / 10 % TABLES] = words[value][value / 10 % TABLES] ^ ((1 << RADIUS) - 1);
	nmade = 0;
	for (int i = 0; i < MANY_ROWS; i++)
		make_row(0, 4, i % 100 != 0);
	for (int i = 0; i < 3000; i++)
		make_row(next_random() % GROUPS, next_random() % VALUES, next_random() % 10 != 0);
	/* one row of a value in a group, which nobody knows to be not seen */
	make_row(GROUPS, 10, false);
	make_row(GROUPS, 11, true);
}

static bool
same_element(const MadeRow *a, const MadeRow *b)
{
	return a->group == b->group && a->value == b->value;
}

/* is any other row's word of the first table equal? */
static bool
has_company(size_t row)
{
	for (size_t i = 1; i <= nmade; i++)
	{
		if (i != row && made[i].group == made[row].group &&
			words[made[i].value][0] == words[made[row].value][0])
			return true;
	}
	return false;
}

static void
find_elements(void)
{
	nelements = 0;
	for (size_t row = 1; row <= nmade; row++)
	{
		element_of[row] = -1;
		if (!made[row].seen && has_company(row))
			continue;
		for (int e = 0; e < nelements && element_of[row] < 0; e++)
		{
			if (same_element(&made[element_firsts[e]], &made[row]))
				element_of[row] = e;
		}
		if (element_of[row] < 0)
		{
			element_firsts[nelements] = row;
			element_sizes[nelements] = 0;
			element_of[row] = nelements++;
		}
		element_sizes[element_of[row]]++;
	}
}

static bool
are_near(int a, int b)
{
	const MadeRow *x = &made[element_firsts[a]];
	const MadeRow *y = &made[element_firsts[b]];

	if (x->group != y->group || (a == b && element_sizes[a] == 1))
		return false;
	for (int table = 0; table < ntables; table++)
	{
		if (naive_distance(words[x->value][table], words[y->value][table]) <= RADIUS)
			return true;
	}
	return false;
}

/* numbers elements, as many as there is room for */
typedef struct TestSink
{
	ShPairsSink sink;
	uint32		room;
	uint32		count;
	int			elements[MAX_ELEMENTS];
	bool		is_full;
	bool		right;
} TestSink;

static uint32
number_made(ShPairsSink *base, const ShPairsElement *element, bool more)
{
	TestSink   *sink = (TestSink *) base;
	int			number = element_of[element->id];

	if (sink->count == sink->room)
	{
		sink->is_full = true;
		return SHPAIRS_NO_NUMBER;
	}
	sink->right &= !more && number >= 0 && element->nrows == element_sizes[number] &&
		element->group == made[element->id].group;
	for (size_t i = 0; sink->right && i < element->nrows; i++)
	{
		sink->right &= element_of[element->rows[i]] == number;
		/* a row that came twice would not come back */
		element->rows[i] = 0;
	}
	sink->elements[sink->count] = number;
	return sink->count++;
}

static bool
take_made(ShPairsSink *base, const ShPairsPair *pairs, size_t npairs)
{
	TestSink   *sink = (TestSink *) base;

	for (size_t i = 0; i < npairs; i++)
	{
		int			a = sink->elements[pairs[i].a];
		int			b = sink->elements[pairs[i].b];

		passed[Min(a, b)][Max(a, b)]++;
	}
	if (!sink->is_full)
		return true;
	sink->is_full = false;
	sink->count = 0;
	return false;
}

static void
divide_made(ShPairsSink *base, const uint32 *numbers, const ShPairsRow *rows, size_t nrows,
			ShPairsRow *firsts)
{
	size_t		start = 0;

	for (size_t i = 0; i < nrows; i++)
	{
		firsts[i] = 0;
		if (numbers[i] != numbers[start])
			start = i;
		for (size_t j = start; made[rows[i]].seen && j <= i && firsts[i] == 0; j++)
		{
			if (made[rows[j]].seen && same_element(&made[rows[i]], &made[rows[j]]))
				firsts[i] = rows[j];
		}
	}
}

static int
compare_rows(const void *a, const void *b, int table)
{
	const MadeRow *x = &made[*(const ShPairsRow *) a];
	const MadeRow *y = &made[*(const ShPairsRow *) b];
	uint64		x_word = words[x->value][table];
	uint64		y_word = words[y->value][table];

	if (x_word != y_word)
		return x_word < y_word ? -1 : 1;
	return *(const ShPairsRow *) a < *(const ShPairsRow *) b ? -1 : 1;
}

static int	current_table;

static int
compare_by_table(const void *a, const void *b)
{
	return compare_rows(a, b, current_table);
}

/*
 * Settle the entries of all groups in a table.
 */
static void
settle_table(ShPairsBands *bands, ShPairsEntryArrays *entries, int table)
{
	static uint32 groups[MAX_ROWS];
	static ShPairsRow rows[MAX_ROWS];
	static uint64 values[MAX_ROWS];
	size_t		start = 0;

	*entries = (ShPairsEntryArrays)
	{
		.groups = groups,.words = values,.rows = rows
	};
	current_table = table;
	for (uint32 group = 0; group <= GROUPS; group++)
	{
		for (size_t row = 1; row <= nmade; row++)
		{
			if (made[row].group == group)
				rows[entries->count++] = row;
		}
		qsort(rows + start, entries->count - start, sizeof(ShPairsRow), compare_by_table);
		for (; start < entries->count; start++)
		{
			groups[start] = group;
			values[start] = words[made[rows[start]].value][table];
		}
	}
	shpairs_bands_start(bands, table);
	shpairs_bands_settle(bands, entries);
}

/* the entries of a group from a place on, as a bucket */
static void
make_bucket(ShPairsBucket *bucket, const ShPairsEntryArrays *entries, size_t *start)
{
	static uint32 starts[MAX_ROWS];
	static uint64 values[MAX_ROWS];
	size_t		first = *start;

	*bucket = (ShPairsBucket)
	{
		.nwords = 1,.group = entries->groups[first],.rows = entries->rows + first,.starts = starts,.values = values
	};
	for (; *start < entries->count && entries->groups[*start] == bucket->group; (*start)++)
	{
		uint64		word = entries->words[*start];

		if (bucket->nkeys == 0 || values[bucket->nkeys - 1] != word)
		{
			values[bucket->nkeys] = word;
			starts[bucket->nkeys++] = bucket->nrows;
		}
		bucket->nrows++;
	}
}

static void
test_bands(uint32 room, const char *what)
{
	TestSink	sink = {
		.sink = {.number = number_made,.pairs = take_made,.divide = divide_made},
		.room = room,.right = true
	};
	ShPairsBands *bands = shpairs_bands_begin(&sink.sink, false, true);
	ShPairsProgress progress = {0};
	bool		right = true;

	memset(passed, 0, sizeof(passed));
	for (int table = 0; table < ntables; table++)
	{
		ShPairsEntryArrays entries;
		size_t		start = 0;

		settle_table(bands, &entries, table);
		while (start < entries.count)
		{
			ShPairsBucket bucket;

			make_bucket(&bucket, &entries, &start);
			for (size_t i = 0; i < bucket.nkeys; i++)
			{
				for (size_t j = i; j < bucket.nkeys; j++)
				{
					if (naive_distance(bucket.values[i], bucket.values[j]) <= RADIUS)
						shpairs_bands_add(bands, &bucket, i, &bucket, j);
				}
			}
		}
	}
	shpairs_bands_finish(bands, false, &progress);
	for (int a = 0; a < nelements; a++)
	{
		for (int b = a; b < nelements; b++)
			right &= passed[a][b] == are_near(a, b);
	}
	report(sink.right, what, "elements with their rows");
	report(right, what, "each pair once");
}

int
main(void)
{
	make_rows();
	find_elements();
	test_bands(MAX_ELEMENTS, "room for all elements");
	test_bands(2, "room for two elements");
	/* a row that is not the first of its element takes 16 bytes */
	maintenance_work_mem = 64;
	test_bands(MAX_ELEMENTS, "more rows than fit in memory");
	test_bands(2, "more rows than fit in memory, and room for two elements");
	ntables = 1;
	test_bands(MAX_ELEMENTS, "more rows than fit in memory, of one table");
	maintenance_work_mem = 65536;
	test_bands(MAX_ELEMENTS, "one table");
	return finish();
}
