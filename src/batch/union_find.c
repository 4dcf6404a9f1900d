/*-------------------------------------------------------------------------
 *
 * union_find.c
 *	  Connected components of fingerprints.
 *
 * Union-find: each element has a parent, the roots stand for the components.
 * A root is linked below the one with the smaller fingerprint, so the root of
 * a component is its smallest fingerprint.  Path halving alone keeps a search
 * at amortized logarithmic cost (Tarjan and van Leeuwen, 1984).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "batch/union_find.h"

typedef struct ElementEntry
{
	uint64		fp;
	uint32		element;
	char		status;
} ElementEntry;

/* the finalizer of MurmurHash3: fingerprints of users need not spread */
static inline uint32
hash_fingerprint(uint64 fp)
{
	fp ^= fp >> 33;
	fp *= UINT64CONST(0xff51afd7ed558ccd);
	fp ^= fp >> 33;
	fp *= UINT64CONST(0xc4ceb9fe1a85ec53);
	fp ^= fp >> 33;
	return (uint32) fp;
}

#define SH_PREFIX element
#define SH_ELEMENT_TYPE ElementEntry
#define SH_KEY_TYPE uint64
#define SH_KEY fp
#define SH_HASH_KEY(table, key) hash_fingerprint(key)
#define SH_EQUAL(table, a, b) ((a) == (b))
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

#define FIRST_CAPACITY	1024

void
shbatch_union_find_begin(ShBatchUnionFind *components)
{
	components->count = 0;
	components->capacity = FIRST_CAPACITY;
	components->elements = palloc(FIRST_CAPACITY * sizeof(ShBatchElement));
	components->hash = element_create(CurrentMemoryContext, FIRST_CAPACITY, NULL);
}

static Size
bytes_used(const ShBatchUnionFind *components)
{
	return components->capacity * sizeof(ShBatchElement) +
		components->hash->size * sizeof(ElementEntry);
}

/*
 * Make room for one more element.
 *
 * The hash table doubles, too, about when the array does, and then needs the
 * old and the new one.
 */
static void
enlarge(ShBatchUnionFind *components)
{
	Size		limit = maintenance_work_mem * (Size) 1024;
	Size		needed = 2 * bytes_used(components);

	if (needed > limit || components->capacity > PG_UINT32_MAX / 2)
		ereport(ERROR,
				(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
				 errmsg("more than %u fingerprints in clusters do not fit into maintenance_work_mem",
						components->count),
				 errhint("Increase maintenance_work_mem, which is now %d kB, to at least %zu kB, or VACUUM the table if it has many dead rows.",
						 maintenance_work_mem, needed / 1024 + 1)));
	components->capacity *= 2;
	components->elements = repalloc_huge(components->elements,
										 components->capacity * sizeof(ShBatchElement));
}

/*
 * Number of the element of a fingerprint.  A new one is a component of its
 * own, of size 0.  ERRCODE_CONFIGURATION_LIMIT_EXCEEDED beyond
 * maintenance_work_mem.
 */
uint32
shbatch_union_find_add(ShBatchUnionFind *components, uint64 fp, bool *is_new)
{
	bool		found;
	ElementEntry *entry;

	if (components->count == components->capacity)
		enlarge(components);
	entry = element_insert(components->hash, fp, &found);
	*is_new = !found;
	if (!found)
	{
		ShBatchElement *element = &components->elements[components->count];

		element->fp = fp;
		element->size = 0;
		element->parent = components->count;
		entry->element = components->count++;
	}
	return entry->element;
}

/*
 * The root of the component of an element.
 */
uint32
shbatch_union_find_root(ShBatchUnionFind *components, uint32 element)
{
	ShBatchElement *elements = components->elements;

	while (elements[element].parent != element)
	{
		elements[element].parent = elements[elements[element].parent].parent;
		element = elements[element].parent;
	}
	return element;
}

/*
 * Make the components of two elements one.
 */
void
shbatch_union_find_join(ShBatchUnionFind *components, uint32 a, uint32 b)
{
	ShBatchElement *elements = components->elements;
	uint32		a_root = shbatch_union_find_root(components, a);
	uint32		b_root = shbatch_union_find_root(components, b);

	if (elements[a_root].fp < elements[b_root].fp)
		elements[b_root].parent = a_root;
	else
		elements[a_root].parent = b_root;
}

/*
 * Add the sizes of all elements to those of their roots.
 */
void
shbatch_union_find_sum(ShBatchUnionFind *components)
{
	for (uint32 i = 0; i < components->count; i++)
	{
		uint32		root = shbatch_union_find_root(components, i);

		if (root != i)
			components->elements[root].size += components->elements[i].size;
	}
}
