/*-------------------------------------------------------------------------
 *
 * union_find.c
 *	  Connected components of fingerprints, or other numbers of 64 bits.
 *
 * This is union-find: each element has a parent, and the roots stand for the
 * components.  A root is linked below the root with the smaller fingerprint,
 * so the root of a component is its smallest fingerprint.  Path halving alone
 * keeps a search at amortized logarithmic cost (Tarjan and van Leeuwen, 1984).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "common/pg_prng.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "dedup/union_find.h"
#include "pairs/keys.h"

typedef struct ElementEntry
{
	ShDupKey	key;
	uint32		element:31;
	uint32		status:1;
} ElementEntry;

StaticAssertDecl(sizeof(ElementEntry) == 16, "SHDUP_BYTES_TO_USE relies on it");

/*
 * When a hash table doubles, it moves its entries without a check for interrupts.  It
 * has taken longer to find and add each of them.  A table that is large enough from the
 * start would reserve memory for elements that most searches do not have.
 */
#define SH_PREFIX element
#define SH_ELEMENT_TYPE ElementEntry
#define SH_KEY_TYPE ShDupKey
#define SH_KEY key
#define SH_HASH_KEY(table, key) shdup_hash_key((table)->private_data, key)
#define SH_EQUAL(table, a, b) shdup_same_key(a, b)
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

#define FIRST_CAPACITY	1024

/*
 * Choose the secrets of a hash table.
 */
ShDupSeed *
shdup_make_seed(void)
{
	ShDupSeed  *seed = palloc(sizeof(ShDupSeed));

	seed->addend = pg_prng_uint64(&pg_global_prng_state);
	seed->factor = pg_prng_uint64(&pg_global_prng_state) | 1;
	return seed;
}

/*
 * Begin without elements.  what and most are used for the error message if
 * memory does not suffice.  Fingerprints of several words have nwords of them, which the
 * caller sets, others 0.
 */
void
shdup_union_find_begin(ShDupUnionFind *components, ShDupElements what, double most, int nwords,
					   bool has_classes)
{
	components->what = what;
	components->count = 0;
	components->capacity = FIRST_CAPACITY;
	components->most = most;
	components->elements = palloc(FIRST_CAPACITY * sizeof(ShDupElement));
	components->nwords = nwords;
	components->values = nwords == 0 ? NULL :
		palloc((Size) FIRST_CAPACITY * nwords * sizeof(uint64));
	components->hash = element_create(CurrentMemoryContext, FIRST_CAPACITY, shdup_make_seed());
	components->next = NULL;
	components->by_class = NULL;
	components->bytes_of_classes = 0;
	if (has_classes)
	{
		components->next = palloc(FIRST_CAPACITY * sizeof(uint32));
		components->by_class = element_create(CurrentMemoryContext, 2, shdup_make_seed());
	}
}

/*
 * How near two elements are: minus the number of bits in which their fingerprints differ.
 */
double
shdup_nearness(const ShDupUnionFind *components, uint32 a, uint32 b)
{
	if (components->nwords == 0)
		return -shbits_distance(components->elements[a].fp, components->elements[b].fp);
	return -shpairs_distance(shdup_element_value(components, a),
							 shdup_element_value(components, b), components->nwords);
}

/*
 * Is the fingerprint of an element less than that of another, equal or greater?
 */
int
shdup_compare_elements(const ShDupUnionFind *components, uint32 a, uint32 b)
{
	if (components->nwords == 0)
		return components->elements[a].fp < components->elements[b].fp ? -1 :
			components->elements[a].fp > components->elements[b].fp;
	return shpairs_compare(shdup_element_value(components, a),
						   shdup_element_value(components, b), components->nwords);
}

/*
 * The memory needed, in bytes, to grow beyond a capacity.  What is later kept of each
 * element takes the place of the hash table: see shdup_union_find_forget_keys.
 *
 * The hash table doubles at about the same time as the array, and during that
 * the old and the new one are both needed.
 */
static double
bytes_beyond(const ShDupUnionFind *components, double capacity)
{
	double		doublings = capacity / components->capacity;
	Size		element = sizeof(ShDupElement) + components->nwords * sizeof(uint64);
	double		entries = components->hash->size;

	if (components->next != NULL)
	{
		element += sizeof(uint32);
		entries += components->by_class->size;
	}
	return components->bytes_of_classes +
		2 * doublings * (components->capacity * element + entries * sizeof(ElementEntry));
}

/* the maintenance_work_mem, in kB, that suffices for all possible elements */
static double
kilobytes_for_most(const ShDupUnionFind *components)
{
	double		capacity = components->capacity;

	while (capacity * 2 <= components->most)
		capacity *= 2;
	return ceil(bytes_beyond(components, capacity) / 1024);
}

/* Report that there is no room for one more element. */
static void
report_too_many(const ShDupUnionFind *components)
{
	double		enough = kilobytes_for_most(components);

	if (components->what == SHDUP_NUMBERS)
		ereport(ERROR,
				(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
				 errmsg("more than %u members of components do not fit into maintenance_work_mem",
						components->count),
				 errhint("Increase maintenance_work_mem from %d kB to %.0f kB, which is enough for any number of them.",
						 maintenance_work_mem, enough)));
	ereport(ERROR,
			(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
			 errmsg("more than %u values with near-duplicates do not fit into maintenance_work_mem",
					components->count),
			 components->what == SHDUP_ROWS ?
			 errhint("Increase maintenance_work_mem from %d kB to %.0f kB, which is enough for any number of them, or VACUUM the table if it has many dead rows.",
					 maintenance_work_mem, enough) :
			 errhint("Increase maintenance_work_mem from %d kB to %.0f kB, which is enough for any number of them.",
					 maintenance_work_mem, enough)));
}

/*
 * Make room for one more element.
 */
static void
enlarge_elements(ShDupUnionFind *components)
{
	double		limit = maintenance_work_mem * 1024.0;

	if (bytes_beyond(components, components->capacity) > limit ||
		components->capacity > PG_UINT32_MAX / 2)
		report_too_many(components);
	components->capacity *= 2;
	components->elements = repalloc_huge(components->elements,
										 components->capacity * sizeof(ShDupElement));
	if (components->values != NULL)
		components->values = repalloc_huge(components->values, (Size) components->capacity *
										   components->nwords * sizeof(uint64));
	if (components->next != NULL)
		components->next = repalloc_huge(components->next, components->capacity * sizeof(uint32));
}

/*
 * Get the number of the element of a key in one of the tables, and whether it is new: then it
 * is a component of its own, of size 0.
 */
static uint32
add_element(ShDupUnionFind *components, struct element_hash *hash, ShDupKey key, ShFingerprint fp,
			bool *is_new)
{
	bool		found;
	ElementEntry *entry;

	/* an existing one needs no room */
	if (components->count == components->capacity && element_lookup(hash, key) == NULL)
		enlarge_elements(components);
	entry = element_insert(hash, key, &found);
	*is_new = !found;
	if (!found)
	{
		uint32		number = components->count++;

		components->elements[number] = (ShDupElement)
		{
			.fp = fp,.parent = number
		};
		if (components->next != NULL)
			components->next[number] = SHDUP_NO_ELEMENT;
		entry->element = number;
	}
	return entry->element;
}

/*
 * Get the number of the element of a fingerprint.  A new one is a component of its own, of
 * size 0.  Raises ERRCODE_CONFIGURATION_LIMIT_EXCEEDED beyond maintenance_work_mem.
 */
uint32
shdup_union_find_add(ShDupUnionFind *components, uint32 group, ShFingerprint fp, bool *is_new)
{
	ShDupKey	key = {group, (uint32) (fp >> 32), (uint32) fp};

	return add_element(components, components->hash, key, fp, is_new);
}

static inline ShDupKey
key_of_class(uint32 element, uint32 number)
{
	return (ShDupKey)
	{
		.group = number,.low = element
	};
}

/*
 * The element of a class of a fingerprint, given the element of the fingerprint, which has
 * rows; or SHDUP_NO_ELEMENT.
 */
uint32
shdup_element_of_class(const ShDupUnionFind *components, uint32 element, uint32 number)
{
	ElementEntry *entry;

	if (components->elements[element].number == number)
		return element;
	entry = element_lookup(components->by_class, key_of_class(element, number));
	return entry != NULL ? entry->element : SHDUP_NO_ELEMENT;
}

/*
 * Add a row of a class, 0 if there are no classes, given the element of its fingerprint.
 * Returns the row's element.  Raises the same error.
 */
uint32
shdup_union_find_add_row(ShDupUnionFind *components, uint32 element, uint32 number)
{
	uint32		of_class = element;
	bool		is_new = components->elements[element].size == 0;

	if (!is_new && components->elements[element].number != number)
		of_class = add_element(components, components->by_class, key_of_class(element, number),
							   components->elements[element].fp, &is_new);
	if (is_new)
		components->elements[of_class].number = number;
	if (is_new && of_class != element)
	{
		components->next[of_class] = components->next[element];
		components->next[element] = of_class;
		if (components->nwords > 0)
			memcpy(shdup_element_value(components, of_class),
				   shdup_element_value(components, element), components->nwords * sizeof(uint64));
	}
	components->elements[of_class].size++;
	return of_class;
}

/*
 * No element will be added or looked up any more: free the hash table.  Then the caller
 * may allocate SHDUP_BYTES_TO_USE for each element.
 */
void
shdup_union_find_forget_keys(ShDupUnionFind *components)
{
	element_destroy(components->hash);
	components->hash = NULL;
	if (components->next != NULL)
	{
		element_destroy(components->by_class);
		pfree(components->next);
		components->next = NULL;
	}
}

/*
 * The root of the component of an element.
 */
uint32
shdup_union_find_root(ShDupUnionFind *components, uint32 element)
{
	ShDupElement *elements = components->elements;

	while (elements[element].parent != element)
	{
		elements[element].parent = elements[elements[element].parent].parent;
		element = elements[element].parent;
	}
	return element;
}

/*
 * Merge the components of two elements.
 */
void
shdup_union_find_join(ShDupUnionFind *components, uint32 a, uint32 b)
{
	ShDupElement *elements = components->elements;
	uint32		a_root = shdup_union_find_root(components, a);
	uint32		b_root = shdup_union_find_root(components, b);

	if (elements[a_root].fp < elements[b_root].fp)
		elements[b_root].parent = a_root;
	else
		elements[a_root].parent = b_root;
}

/*
 * Add the sizes of all elements to those of their roots.
 */
void
shdup_union_find_sum(ShDupUnionFind *components)
{
	for (uint32 i = 0; i < components->count; i++)
	{
		uint32		root;

		CHECK_FOR_INTERRUPTS();
		root = shdup_union_find_root(components, i);

		if (root != i)
			components->elements[root].size += components->elements[i].size;
	}
}
