/*-------------------------------------------------------------------------
 *
 * find_pairs.c
 *	  SQL functions that return the pairs of near-duplicates: of one index, of two, of
 *	  an array and an index, or of one array.
 *
 * Pairs of elements are collected, with the rows of each element, until there are
 * enough rows for a lookup.  Then each visible row of one element is passed on
 * with each visible row of the other that is of the same class.
 *
 * If an element has many rows, they are looked up at once, in the bucket.  Others are looked
 * up together with many more and, if the search of the bucket continues after that, stored
 * back there, with their classes in the upper bits.  So no row is looked up twice in a bucket.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"
#include "utils/datum.h"
#include "utils/memutils.h"

#include "bits/distance.h"
#include "compat.h"
#include "dedup/call.h"
#include "dedup/progress.h"
#include "dedup/rows.h"
#include "type/simhash.h"

/* an element, whose number is its place */
typedef struct Element
{
	uint32		group;
	uint32		nrows;			/* once looked up: visible rows, which come
								 * first */
	ShPairsRow *rows;			/* by class */
	ShPairsRow *place;			/* where to store them back; NULL if they are
								 * there */
	union
	{
		ShFingerprint fp;
		const uint64 *words;	/* of a wide one */
	}			value;
	ShIdxSortItem *high;		/* rows of classes that are too high to be
								 * stored with them, if already needed */
} Element;

StaticAssertDecl(sizeof(Element) <= SHDUP_CALLER_BYTES, "too much memory for each row");

typedef struct FindPairs
{
	ShPairsSink sink;
	ShDupCall	call;
	ShDupResult result;
	ShDupLookup *lookup;
	int			nwords;			/* of wide fingerprints, or 0 */
	bool		of_array;		/* the first of two elements is of an array, */
	bool		of_texts;		/* of texts, by their places */
	double		similarity;		/* of the current elements of bands */

	uint32		count;
	uint32		capacity;
	Element    *elements;
	uint32		first;			/* element of the current buckets */
	MemoryContext context;		/* of copies of words, and rows of high
								 * classes */
	bool		refers_to_bucket;	/* some rows are there only */
	bool		is_full;
	bool		counted;		/* has a pair of rows of the current elements */
} FindPairs;

/* the fraction of maintenance_work_mem that copies of wide fingerprints may take */
#define VALUES_FRACTION	0.25

/* the fraction that elements may take */
#define ELEMENTS_FRACTION	(SHDUP_ROWS_SHARE * SHDUP_CALLER_BYTES / SHDUP_ROW_BYTES)

#define FIRST_CAPACITY	1024

/* in place of the rows of an element of an array, which counts as one */
static ShPairsRow no_row = 0;

/* the columns of pairs of rows that may be null */
#define A_FP	2
#define B_FP	3
#define DISTANCE	4
#define SIMILARITY	7

/* that of an element of an array of texts and a row */
#define TEXT_SIMILARITY	3

/*
 * Return a pair of rows: if both are of one index, the one with the lower number first.
 */
static void
return_row_pair(FindPairs *find, const Element *a, ShPairsRow a_row, const Element *b,
			ShPairsRow b_row, int distance)
{
	const ShDupHeaps *heaps = &find->call.heaps;
	bool		swap = heaps->nsides == 1 && a_row > b_row;
	ItemPointerData tids[2];
	Datum		values[SHDUP_RESULT_COLUMNS];

	values[0] = PointerGetDatum(&tids[0]);
	values[1] = PointerGetDatum(&tids[1]);
	values[A_FP] = SimhashGetDatum(swap ? b->value.fp : a->value.fp);
	values[B_FP] = SimhashGetDatum(swap ? a->value.fp : b->value.fp);
	values[DISTANCE] = Int32GetDatum(distance);
	values[SIMILARITY] = Float8GetDatum(find->similarity);
	values[5] = ObjectIdGetDatum(shdup_name(heaps, swap ? b_row : a_row, &tids[0]));
	values[6] = ObjectIdGetDatum(shdup_name(heaps, swap ? a_row : b_row, &tids[1]));
	shdup_result_add(&find->result, values);
}

/* the fingerprint of an element as a result */
static Datum
fp_of(const FindPairs *find, const Element *element)
{
	return shdup_fp_datum(find->call.width,
						  find->nwords > 0 ? element->value.words : &element->value.fp);
}

/*
 * Return an element of an array and a row.
 */
static void
return_element_and_row(FindPairs *find, const Element *a, const Element *b, ShPairsRow row,
					   int distance)
{
	ItemPointerData tid;
	Datum		values[SHDUP_RESULT_COLUMNS];

	if (find->of_texts)
	{
		values[2] = ObjectIdGetDatum(shdup_name(&find->call.heaps, row, &tid));
		values[0] = datumCopy(find->call.texts[a->value.fp], false, -1);
		values[1] = PointerGetDatum(&tid);
		values[TEXT_SIMILARITY] = Float8GetDatum(find->similarity);
		shdup_result_add(&find->result, values);
		return;
	}
	values[0] = fp_of(find, a);
	values[1] = PointerGetDatum(&tid);
	values[2] = fp_of(find, b);
	values[3] = Int32GetDatum(distance);
	values[4] = ObjectIdGetDatum(shdup_name(&find->call.heaps, row, &tid));
	shdup_result_add(&find->result, values);
}

static int
distance_of(const FindPairs *find, const Element *a, const Element *b)
{
	return find->nwords == 0 ? shbits_distance(a->value.fp, b->value.fp) :
		shpairs_distance(a->value.words, b->value.words, find->nwords);
}

/*
 * Are two elements near each other, given a row of each that is of an index?  Only of bands
 * this is not known before.
 */
static bool
are_near(FindPairs *find, const Element *a, const ShPairsRow *a_rows, const Element *b,
		 const ShPairsRow *b_rows)
{
	ShDupRowCheck *check = find->call.check;
	ShPairsRow	a_row = a_rows[0] & SHIDX_MAX_TID;

	if (!find->call.heaps.banded)
		return true;
	find->similarity = shdup_check_nearest(check);
	if (find->of_texts)
	{
		/* no row has such a number */
		a_row = a->value.fp | UINT64CONST(1) << 63;
		shdup_check_take(check, a_row, find->call.texts[a->value.fp]);
	}
	return a_rows == b_rows ||
		shdup_check_near(check, a_row, b_rows[0] & SHIDX_MAX_TID, &find->similarity);
}

/*
 * Return each of some rows of a with each of some of b, or, if they are the same, each with
 * those after it, as far as they are the same by the check.
 */
static void
return_product(FindPairs *find, const Element *a, const ShPairsRow *a_rows, size_t na,
			   const Element *b, const ShPairsRow *b_rows, size_t nb)
{
	int			distance = distance_of(find, a, b);

	if (na == 0 || nb == 0 || !are_near(find, a, a_rows, b, b_rows))
		return;
	for (size_t i = 0; i < na; i++)
	{
		ShPairsRow	a_row = a_rows[i] & SHIDX_MAX_TID;

		for (size_t j = a_rows == b_rows ? i + 1 : 0; j < nb; j++)
		{
			ShPairsRow	b_row = b_rows[j] & SHIDX_MAX_TID;

			CHECK_FOR_INTERRUPTS();
			/* one was counted when the elements were found */
			if (find->counted)
				shdup_progress_found();
			find->counted = true;
			if (find->of_array)
				return_element_and_row(find, a, b, b_row, distance);
			else if (shdup_check_rows(find->call.check, a_row, b_row))
				return_row_pair(find, a, a_row, b, b_row, distance);
		}
	}
}

/*
 * The first of some rows, from one on, whose class is not lower.
 */
static size_t
skip_to_class(const ShPairsRow *rows, size_t first, size_t count, uint64 number)
{
	size_t		step = 1;

	/* mostly it is near */
	while (first + step <= count && rows[first + step - 1] >> SHDUP_CLASS_SHIFT < number)
	{
		first += step;
		step *= 2;
	}
	for (count = Min(count, first + step - 1); first < count;)
	{
		size_t		middle = first + (count - first) / 2;

		if (rows[middle] >> SHDUP_CLASS_SHIFT < number)
			first = middle + 1;
		else
			count = middle;
	}
	return first;
}

/*
 * The same for rows with their classes.
 */
static size_t
skip_to_high_class(const ShIdxSortItem *items, size_t first, size_t count, uint64 number)
{
	while (first < count)
	{
		size_t		middle = first + (count - first) / 2;

		if (items[middle].key < number)
			first = middle + 1;
		else
			count = middle;
	}
	return first;
}

/*
 * Find the classes of rows of an element whose classes are too high to be stored with them,
 * and sort the rows by class.  They are kept until the next flush.
 */
static const ShIdxSortItem *
find_high_classes(FindPairs *find, Element *element, const ShPairsRow *rows, size_t count)
{
	ShDupClasses *classes = find->call.lookup.classes;
	ShIdxSortItem *items;

	if (element->high != NULL)
		return element->high;
	items = MemoryContextAllocHuge(find->context, count * sizeof(ShIdxSortItem));
	element->high = MemoryContextAllocHuge(find->context, count * sizeof(ShIdxSortItem));
	for (size_t i = 0; i < count; i++)
	{
		ShPairsRow	row = rows[i] & SHIDX_MAX_TID;

		CHECK_FOR_INTERRUPTS();
		items[i] = shidx_sort_item(shdup_class_again(classes, element->group, row), row);
	}
	shidx_sort_radix(items, element->high, count);
	pfree(items);
	shdup_classes_release(classes);
	return element->high;
}

/*
 * Return the pairs of rows of a and b whose classes are equal, and too high to be stored.
 */
static void
return_high_classes(FindPairs *find, Element *a, const ShPairsRow *a_rows, size_t na,
					Element *b, const ShPairsRow *b_rows, size_t nb)
{
	const ShIdxSortItem *a_items = find_high_classes(find, a, a_rows, na);
	const ShIdxSortItem *b_items = find_high_classes(find, b, b_rows, nb);
	size_t		j = 0;

	for (size_t i = 0; i < na && j < nb;)
	{
		CHECK_FOR_INTERRUPTS();
		j = skip_to_high_class(b_items, j, nb, a_items[i].key);
		for (size_t k = a == b ? i + 1 : j; k < nb && b_items[k].key == a_items[i].key; k++)
			return_product(find, a, &a_items[i].value, 1, b, &b_items[k].value, 1);
		if (j < nb && b_items[j].key == a_items[i].key)
			i++;
		else if (j < nb)
			i = skip_to_high_class(a_items, i, na, b_items[j].key);
	}
}

/*
 * Return the pairs of rows of two elements whose classes are equal; or, if they are the same
 * element, of its rows.
 */
static void
return_pair(FindPairs *find, Element *a, Element *b)
{
	size_t		i = 0;
	size_t		j = 0;

	find->counted = false;
	if (find->of_array)
		return_product(find, a, a->rows, a->nrows, b, b->rows, b->nrows);
	while (!find->of_array && i < a->nrows && j < b->nrows)
	{
		uint64		a_class = a->rows[i] >> SHDUP_CLASS_SHIFT;
		uint64		b_class = b->rows[j] >> SHDUP_CLASS_SHIFT;
		size_t		a_end = skip_to_class(a->rows, i, a->nrows, Max(a_class + 1, b_class));
		size_t		b_end = skip_to_class(b->rows, j, b->nrows, Max(b_class + 1, a_class));

		CHECK_FOR_INTERRUPTS();
		if (a_class == b_class && a_class == SHDUP_HIGH_CLASS)
			return_high_classes(find, a, a->rows + i, a_end - i, b, b->rows + j, b_end - j);
		else if (a_class == b_class)
			return_product(find, a, a->rows + i, a_end - i, b, b->rows + j, b_end - j);
		/* whichever is lower moves on, or both */
		if (a_class <= b_class)
			i = a_end;
		if (b_class <= a_class)
			j = b_end;
	}
}

/* to sort rows by class */
#define ST_SORT sort_rows
#define ST_ELEMENT_TYPE ShPairsRow
#define ST_COMPARE(a, b) (*(a) < *(b) ? -1 : *(a) > *(b))
#define ST_CHECK_FOR_INTERRUPTS
#define ST_SCOPE static
#define ST_DECLARE
#define ST_DEFINE
#include "lib/sort_template.h"

/*
 * Move the visible ones of rows that have been looked up in place to the front, by class.
 * Returns their number.
 */
static uint32
settle_rows(ShPairsRow *rows, uint32 count)
{
	uint32		visible = 0;
	bool		sorted = true;

	for (uint32 i = 0; i < count; i++)
	{
		shcompat_check_at(i);
		if (rows[i] == SHDUP_INVISIBLE)
			continue;
		sorted &= visible == 0 || rows[visible - 1] >> SHDUP_CLASS_SHIFT <= rows[i] >> SHDUP_CLASS_SHIFT;
		rows[visible++] = rows[i];
	}
	for (uint32 i = visible; i < count; i++)
	{
		shcompat_check_at(i);
		rows[i] = SHDUP_INVISIBLE;
	}
	if (!sorted)
		sort_rows(rows, visible);
	return visible;
}

/*
 * Give the rows that have been looked up together their classes, and store them back in the
 * bucket.
 */
static void
settle_elements(FindPairs *find)
{
	ShDupLookup *lookup = find->lookup;

	for (size_t i = 0; i < lookup->count; i++)
	{
		shcompat_check_at(i);
		if (lookup->numbers[i] != SHDUP_INVISIBLE)
			lookup->numbers[i] = shdup_row_of_class(lookup->numbers[i],
													lookup->classes != NULL ? lookup->groups[i] : 1);
	}
	for (uint32 i = 0; i < find->count; i++)
	{
		Element    *element = &find->elements[i];
		uint32		count = element->nrows;

		shcompat_check_at(i);
		if (element->place == NULL)
			continue;
		element->nrows = settle_rows(element->rows, count);
		if (i >= find->first)
			memcpy(element->place, element->rows, count * sizeof(ShPairsRow));
	}
}

/*
 * Look up the rows that have been collected, return the pairs, and begin anew.
 */
static void
return_all(FindPairs *find)
{
	shdup_lookup_resolve(find->lookup);
	settle_elements(find);
	for (size_t i = 0; i < find->lookup->npairs; i++)
	{
		ShPairsPair pair = find->lookup->pairs[i];

		shcompat_check_at(i);
		return_pair(find, &find->elements[pair.a], &find->elements[pair.b]);
	}
	shdup_check_release(find->call.check);
	shdup_lookup_reset(find->lookup);
	MemoryContextReset(find->context);
	find->count = find->first = 0;
	find->refers_to_bucket = false;
	find->is_full = false;
}

/*
 * Should what has been collected be returned before more is?
 *
 * There may be more elements than rows, since some have been looked up before.
 */
static bool
is_full(const FindPairs *find)
{
	double		memory = Max(maintenance_work_mem * 1024.0 * ELEMENTS_FRACTION,
							 find->lookup->most * (double) sizeof(Element));

	return shdup_lookup_is_full(find->lookup) || find->count >= find->lookup->most ||
		find->count * (double) sizeof(Element) > memory ||
		(double) find->count * find->nwords * sizeof(uint64) >
		maintenance_work_mem * 1024.0 * VALUES_FRACTION;
}

/*
 * Make room for another element.
 */
static Element *
make_element(FindPairs *find)
{
	if (find->count == find->capacity)
	{
		find->capacity = Min(find->capacity * 2, find->lookup->most + 1);
		find->elements = repalloc_huge(find->elements, find->capacity * sizeof(Element));
	}
	return &find->elements[find->count++];
}

static const uint64 *
copy_words(FindPairs *find, const uint64 *words)
{
	uint64	   *copy;

	copy = MemoryContextAlloc(find->context, find->nwords * sizeof(uint64));
	memcpy(copy, words, find->nwords * sizeof(uint64));
	return copy;
}

/* have the rows of an element been looked up in the bucket? */
static bool
is_looked_up(const ShPairsElement *element)
{
	return element->rows[0] == SHDUP_INVISIBLE || element->rows[0] >> SHDUP_CLASS_SHIFT != 0;
}

/*
 * Take the rows of an element.
 */
static void
take_element_rows(FindPairs *find, Element *to, const ShPairsElement *from)
{
	ShDupLookup *lookup = find->lookup;

	to->place = NULL;
	to->nrows = from->nrows;
	to->rows = from->rows;
	if (from->rows == NULL)
	{
		to->rows = &no_row;
		to->nrows = 1;
	}
	else if (from->nrows <= SHDUP_MANY && !is_looked_up(from))
	{
		to->place = from->rows;
		to->rows = lookup->numbers + lookup->count;
		shdup_lookup_add(lookup, from->group, from->rows, from->nrows);
	}
	else
	{
		if (!is_looked_up(from))
			shdup_look_up(lookup, from->group, from->rows, from->nrows);
		to->nrows = settle_rows(from->rows, from->nrows);
		find->refers_to_bucket = true;
	}
}

/*
 * ShPairsSink.number
 */
static uint32
number_element(ShPairsSink *sink, const ShPairsElement *from, bool more)
{
	FindPairs  *find = (FindPairs *) sink;
	Element    *element;

	Assert(!more);
	if (is_full(find))
	{
		find->is_full = true;
		return SHPAIRS_NO_NUMBER;
	}
	element = make_element(find);
	element->group = from->group;
	element->high = NULL;
	if (find->nwords == 0)
		element->value.fp = from->id;
	else
		element->value.words = copy_words(find, from->value);
	take_element_rows(find, element, from);
	return element - find->elements;
}

/*
 * ShPairsSink.pairs
 */
static bool
take_row_pairs(ShPairsSink *sink, const ShPairsPair *pairs, size_t npairs)
{
	FindPairs  *find = (FindPairs *) sink;

	shdup_lookup_add_pairs(find->lookup, pairs, npairs);
	for (size_t i = 0; i < npairs; i++)
		shdup_progress_found();
	if (!find->is_full && !shdup_lookup_is_full(find->lookup))
		return true;
	return_all(find);
	return false;
}

/*
 * ShPairsSink.leave
 */
static void
leave_buckets(ShPairsSink *sink)
{
	FindPairs  *find = (FindPairs *) sink;

	if (find->refers_to_bucket)
		return_all(find);
	find->first = find->count;
	shdup_classes_forget(find->lookup->classes);
}

/*
 * ShPairsSink.divide
 */
static void
divide_rows(ShPairsSink *sink, const uint32 *words, const ShPairsRow *rows, size_t nrows,
			ShPairsRow *firsts)
{
	shdup_divide(((FindPairs *) sink)->lookup, words, rows, nrows, firsts);
}

PG_FUNCTION_INFO_V1(simhash_find_all);
PG_FUNCTION_INFO_V1(simhash_find_all_in);
PG_FUNCTION_INFO_V1(simhash_find_all_in_bits);
PG_FUNCTION_INFO_V1(simhash_find_matches);
PG_FUNCTION_INFO_V1(simhash_find_matches_in);
PG_FUNCTION_INFO_V1(simhash_find_matches_in_bits);
PG_FUNCTION_INFO_V1(simhash_find_matches_in_texts);

/*
 * The functions of indexes: with an array, its elements come first in the pairs.
 */
static Datum
find_row_pairs(FunctionCallInfo fcinfo, const ShDupSpec *spec)
{
	FindPairs	find = {
		.sink = {.number = number_element,.pairs = take_row_pairs,.divide = divide_rows,.leave = leave_buckets}
	};
	ShDupCall  *call = &find.call;
	bool		banded;

	if (!shdup_call_begin(call, fcinfo, spec))
		return (Datum) 0;
	banded = call->heaps.banded;
	find.of_array = spec->array > 0;
	find.of_texts = spec->texts;
	find.lookup = &call->lookup;
	find.nwords = shdup_nwords(call);
	find.context = AllocSetContextCreate(CurrentMemoryContext, "simhash pairs of elements",
										 ALLOCSET_DEFAULT_SIZES);
	find.capacity = FIRST_CAPACITY;
	find.elements = palloc(FIRST_CAPACITY * sizeof(Element));
	shdup_result_begin(&find.result, call->result);
	if ((call->width > 0 || banded) && !find.of_array)
	{
		/* they cannot hold a wide one */
		shdup_result_set_null(&find.result, A_FP);
		shdup_result_set_null(&find.result, B_FP);
	}
	if (banded && !find.of_array)
		shdup_result_set_null(&find.result, DISTANCE);
	if (!call->nearness.known && (find.of_texts || !find.of_array))
		shdup_result_set_null(&find.result, find.of_texts ? TEXT_SIMILARITY : SIMILARITY);
	shdup_call_search(call, &find.sink);
	return_all(&find);
	shdup_call_end(call);
	return (Datum) 0;
}

/*
 * simhash_find_all(index regclass, distance int, similarity float8) -> every pair of
 * rows that the snapshot sees whose fingerprints differ in at most distance bits, or
 * in at most the index's own distance if that is null.  If the operator class
 * compares the values, they must be as similar, or its operator must hold.  Each pair
 * is returned once, with the first row by table and TID first.
 */
Datum
simhash_find_all(PG_FUNCTION_ARGS)
{
	static const ShDupSpec spec = {.command = SHDUP_FIND_ALL,.nindexes = 1,.distance = 2,.similarity = 3};

	return find_row_pairs(fcinfo, &spec);
}

/*
 * simhash_find_matches(a regclass, b regclass, distance int, similarity float8) ->
 * every row of index a with every row of index b, among those that the snapshot
 * sees, whose fingerprints differ in at most distance bits or, if that is null, the
 * smaller distance of the two indexes.  If the operator class of the indexes
 * compares the values, they must be as similar, or its operator must hold.
 */
Datum
simhash_find_matches(PG_FUNCTION_ARGS)
{
	static const ShDupSpec spec = {.command = SHDUP_FIND_MATCHES,.nindexes = 2,.distance = 3,.similarity = 4};

	return find_row_pairs(fcinfo, &spec);
}

/*
 * simhash_find_matches_in(index regclass, queries simhash[], distance int) ->
 * every different value of the array with every row that the snapshot sees
 * whose fingerprint differs from it in at most distance bits or, if that is
 * null, the distance of the index.  The values of the rows do not matter.
 */
Datum
simhash_find_matches_in(PG_FUNCTION_ARGS)
{
	static const ShDupSpec spec = {.command = SHDUP_FIND_MATCHES,.nindexes = 1,.array = 2,.distance = 3};

	return find_row_pairs(fcinfo, &spec);
}

/*
 * simhash_find_matches_in_bits(index regclass, queries simhash_bits[],
 * distance int) -> the same for wide fingerprints.
 */
Datum
simhash_find_matches_in_bits(PG_FUNCTION_ARGS)
{
	static const ShDupSpec spec = {
		.command = SHDUP_FIND_MATCHES,.nindexes = 1,.array = 2,.wide = true,.distance = 3
	};

	return find_row_pairs(fcinfo, &spec);
}

/*
 * simhash_find_matches_in_texts(index regclass, queries text[], similarity float8) -> every
 * different text of the array with every row that the snapshot sees that is as similar, or
 * for which the operator of the class holds.
 */
Datum
simhash_find_matches_in_texts(PG_FUNCTION_ARGS)
{
	static const ShDupSpec spec = {
		.command = SHDUP_FIND_MATCHES,.nindexes = 1,.array = 2,.texts = true,.similarity = 3
	};

	return find_row_pairs(fcinfo, &spec);
}

/* returns pairs of elements of an array, of which some are numbered at a time */
typedef struct FindPairsIn
{
	ShPairsSink sink;
	ShDupResult result;
	int			width;			/* of wide ones, or 0 */
	int			nwords;
	uint32		count;
	uint64	   *fps;			/* of MANY_ELEMENTS */
	const uint64 **words;		/* of these, in the bucket */
} FindPairsIn;

#define MANY_ELEMENTS	0x10000

/*
 * ShPairsSink.number
 */
static uint32
number_fingerprint(ShPairsSink *sink, const ShPairsElement *element, bool more)
{
	FindPairsIn *find = (FindPairsIn *) sink;

	if (find->count == MANY_ELEMENTS)
		return SHPAIRS_NO_NUMBER;
	find->fps[find->count] = element->id;
	find->words[find->count] = element->value;
	return find->count++;
}

static void
return_fingerprints(FindPairsIn *find, ShPairsPair pair)
{
	const uint64 *x = find->nwords > 1 ? find->words[pair.a] : &find->fps[pair.a];
	const uint64 *y = find->nwords > 1 ? find->words[pair.b] : &find->fps[pair.b];
	bool		swap = shpairs_compare(x, y, find->nwords) > 0;
	Datum		values[SHDUP_RESULT_COLUMNS];

	values[0] = shdup_fp_datum(find->width, swap ? y : x);
	values[1] = shdup_fp_datum(find->width, swap ? x : y);
	values[2] = Int32GetDatum(shpairs_distance(x, y, find->nwords));
	shdup_result_add(&find->result, values);
	shdup_progress_found();
}

/*
 * ShPairsSink.pairs
 */
static bool
take_value_pairs(ShPairsSink *sink, const ShPairsPair *pairs, size_t npairs)
{
	FindPairsIn *find = (FindPairsIn *) sink;

	for (size_t i = 0; i < npairs; i++)
	{
		CHECK_FOR_INTERRUPTS();
		return_fingerprints(find, pairs[i]);
	}
	if (find->count < MANY_ELEMENTS)
		return true;
	find->count = 0;
	return false;
}

/*
 * ShPairsSink.leave
 */
static void
leave_values(ShPairsSink *sink)
{
	((FindPairsIn *) sink)->count = 0;
}

static Datum
find_all_in(FunctionCallInfo fcinfo, const ShDupSpec *spec)
{
	FindPairsIn find = {.sink = {.number = number_fingerprint,.pairs = take_value_pairs,.leave = leave_values}};
	ShDupCall	call;

	if (!shdup_call_begin(&call, fcinfo, spec))
		return (Datum) 0;
	find.width = call.width;
	find.nwords = Max(shdup_nwords(&call), 1);
	find.fps = palloc(MANY_ELEMENTS * sizeof(uint64));
	find.words = palloc(MANY_ELEMENTS * sizeof(uint64 *));
	shdup_result_begin(&find.result, call.result);
	shdup_call_search(&call, &find.sink);
	shdup_call_end(&call);
	return (Datum) 0;
}

/*
 * simhash_find_all_in(fingerprints simhash[], distance int, blocks int,
 * table_no int) -> every pair of different values in the array that differ in
 * at most distance bits.  Each pair is returned once, with the smaller value
 * first.  With table_no, only those pairs are returned for which this is the
 * first table with a common prefix.
 */
Datum
simhash_find_all_in(PG_FUNCTION_ARGS)
{
	static const ShDupSpec spec = {
		.command = SHDUP_FIND_ALL,.array = 1,.distance = 2,.blocks = 3,.table_no = 4
	};

	return find_all_in(fcinfo, &spec);
}

/*
 * simhash_find_all_in_bits(fingerprints simhash_bits[], distance int) -> every pair of
 * different values in the array that differ in at most distance bits or, if that is
 * null, in less than an eighth of their bits.  Each pair is returned once, with the
 * smaller value first.
 */
Datum
simhash_find_all_in_bits(PG_FUNCTION_ARGS)
{
	static const ShDupSpec spec = {.command = SHDUP_FIND_ALL,.array = 1,.wide = true,.distance = 2};

	return find_all_in(fcinfo, &spec);
}
