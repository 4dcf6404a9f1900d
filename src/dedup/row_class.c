/*-------------------------------------------------------------------------
 *
 * row_class.c
 *	  The classes of rows whose columns before the fingerprint are equal; or, to divide
 *	  entries of bands, of rows whose values are equal as well.
 *
 * Rows with equal columns have entries of one group, but rows of a group need not have equal
 * columns, since it is a hash.  Almost always they have.  So each row is compared with the
 * first one of its group, when it is looked up.  If it differs, the first row of its class
 * is found by another hash, of 64 bits and with a secret, of the columns: anybody can
 * compute groups that collide.  This only finds what to compare with.  Values are always
 * compared, and those that differ though their hashes are equal have successive hashes.
 *
 * Of the first row of a class, the values are kept as long as memory has room for them.
 * Those of others are read again.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "dedup/rows.h"
#include "dedup/union_find.h"
#include "index/index.h"

/* tests build with fewer bits, to make hashes collide */
#ifndef SHDUP_CLASS_HASH_BITS
#define SHDUP_CLASS_HASH_BITS	64
#endif

/* the fraction of maintenance_work_mem that the values of first rows may take */
#define VALUES_FRACTION	0.25

typedef struct ClassEntry
{
	ShDupKey	key;			/* group, and hash of the columns; 0 for the
								 * first class */
	uint32		number:31;		/* of the class; of the first one, how many
								 * the group has */
	uint32		status:1;
	uint64		first;			/* its first row, see ROW_BIT, or a pointer to
								 * its values */
} ClassEntry;

/* set for a row, whose number is in the bits above */
#define ROW_BIT		1

#define MAX_CLASSES	PG_INT32_MAX

StaticAssertDecl(sizeof(ClassEntry) == 24, "an entry for each class");

#define SH_PREFIX classes
#define SH_ELEMENT_TYPE ClassEntry
#define SH_KEY_TYPE ShDupKey
#define SH_KEY key
#define SH_HASH_KEY(table, key) shdup_hash_key((table)->private_data, key)
#define SH_EQUAL(table, a, b) shdup_same_key(a, b)
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

#define FIRST_CAPACITY	64

struct ShDupClasses
{
	const ShDupHeaps *heaps;
	ShDupColumns *columns;
	int			ncolumns;
	ShDupSeed  *seed;
	struct classes_hash *table;
	MemoryContext context;		/* of the table, */
	MemoryContext values;		/* and of values */
	ShDupRowReader readers[SHDUP_MAX_SIDES];	/* of first rows */
};

/*
 * Begin to compare the columns before the fingerprint of rows of the named indexes, within
 * groups, and the values of which the index has bands if with_values.  Returns NULL if there
 * is nothing to compare.
 *
 * The tables must be open until the end, and the snapshot must be registered since before
 * the rows were read from their indexes.
 */
ShDupClasses *
shdup_classes_begin(const ShDupHeaps *heaps, Snapshot snapshot, bool with_values)
{
	ShDupClasses *classes;

	if (!heaps->grouped && !with_values)
		return NULL;
	classes = palloc0(sizeof(ShDupClasses));
	classes->heaps = heaps;
	classes->ncolumns = shidx_fp_column(heaps->sides[0].named.index) + with_values;
	classes->columns = shdup_columns_begin(heaps, 0, classes->ncolumns, with_values);
	classes->seed = shdup_make_seed();
	classes->context = AllocSetContextCreate(CurrentMemoryContext, "simhash classes",
											 ALLOCSET_DEFAULT_SIZES);
	classes->values = AllocSetContextCreate(CurrentMemoryContext, "simhash values of classes",
											ALLOCSET_DEFAULT_SIZES);
	classes->table = classes_create(classes->context, FIRST_CAPACITY, classes->seed);
	for (int i = 0; i < heaps->nsides; i++)
		shdup_reader_begin(&classes->readers[i], heaps, i, snapshot);
	return classes;
}

/*
 * Let a row be the first of a class.
 */
static void
begin_class(ShDupClasses *classes, ClassEntry *entry, ShPairsRow row, const Datum *values)
{
	MemoryContext old;
	Datum	   *kept;

	if (MemoryContextMemAllocated(classes->values, false) >
		maintenance_work_mem * 1024.0 * VALUES_FRACTION)
	{
		entry->first = row << 1 | ROW_BIT;
		return;
	}
	old = MemoryContextSwitchTo(classes->values);
	kept = palloc(classes->ncolumns * sizeof(Datum));
	shdup_columns_copy(classes->columns, kept, values);
	MemoryContextSwitchTo(old);
	entry->first = (uint64) (uintptr_t) kept;
}

/*
 * Are the columns of a row equal to those of the first row of a class?
 */
static bool
is_of_class(ShDupClasses *classes, const ClassEntry *entry, const Datum *values)
{
	Datum		first[INDEX_MAX_KEYS];
	ShPairsRow	row = entry->first >> 1;
	int			side;

	if ((entry->first & ROW_BIT) == 0)
		return shdup_columns_agree(classes->columns, (const Datum *) (uintptr_t) entry->first,
								   values);
	side = shdup_side_of(classes->heaps, row);
	return shdup_columns_compute(classes->columns, side, shdup_read(&classes->readers[side], row),
								 first) &&
		shdup_columns_agree(classes->columns, first, values);
}

/*
 * The number of the class that has these values, of a row.
 */
static uint32
find_class(ShDupClasses *classes, uint32 group, ShPairsRow row, const Datum *values)
{
	ShDupKey	first_key = {.group = group};
	uint64		hash;
	bool		found;
	ClassEntry *entry = classes_insert(classes->table, first_key, &found);

	if (!found)
	{
		entry->number = 1;
		begin_class(classes, entry, row, values);
		return 1;
	}
	if (is_of_class(classes, entry, values))
		return 1;
	hash = shdup_columns_hash(classes->columns, values, classes->seed->addend) >>
		(64 - SHDUP_CLASS_HASH_BITS);
	for (;; hash++)
	{
		ShDupKey	key = {group, (uint32) (hash >> 32), (uint32) hash};

		CHECK_FOR_INTERRUPTS();
		if (hash == 0)
			continue;
		entry = classes_insert(classes->table, key, &found);
		if (!found)
		{
			uint32		number = classes_lookup(classes->table, first_key)->number;

			if (number == MAX_CLASSES)
				elog(ERROR, "too many classes of rows in group %u", group);
			classes_lookup(classes->table, first_key)->number = entry->number = number + 1;
			begin_class(classes, entry, row, values);
			return entry->number;
		}
		if (is_of_class(classes, entry, values))
			return entry->number;
	}
}

/*
 * The number of the class of a row of a side, within its group, from 1; or 0 if a column is
 * null, so that the row equals no other.
 */
uint32
shdup_class_of(ShDupClasses *classes, int side, uint32 group, ShPairsRow row, TupleTableSlot *slot)
{
	Datum		values[INDEX_MAX_KEYS];
	uint32		number = 0;

	if (shdup_columns_compute(classes->columns, side, slot, values))
		number = find_class(classes, group, row, values);
	shdup_columns_reset(classes->columns);
	return number;
}

/*
 * The number of the class of a row that has one, which is read again.
 */
uint32
shdup_class_again(ShDupClasses *classes, uint32 group, ShPairsRow row)
{
	int			side = shdup_side_of(classes->heaps, row);
	TupleTableSlot *slot = shdup_read(&classes->readers[side], row);
	TupleTableSlot *copy = MakeSingleTupleTableSlot(slot->tts_tupleDescriptor, &TTSOpsVirtual);
	uint32		number;

	/* the first row of a class may have to be read into that slot */
	ExecCopySlot(copy, slot);
	number = shdup_class_of(classes, side, group, row, copy);
	ExecDropSingleTupleTableSlot(copy);
	return number;
}

/*
 * The memory of the classes, in bytes, without values.
 */
Size
shdup_classes_bytes(const ShDupClasses *classes)
{
	return classes->table->size * sizeof(ClassEntry);
}

/*
 * Forget the classes: their numbers begin anew.
 */
void
shdup_classes_forget(ShDupClasses *classes)
{
	if (classes == NULL || classes->table->members == 0)
		return;
	MemoryContextReset(classes->context);
	MemoryContextReset(classes->values);
	classes->table = classes_create(classes->context, FIRST_CAPACITY, classes->seed);
}

/*
 * Release all pins, after some rows: the search may go on for long, and nobody should
 * wait for a pin.
 */
void
shdup_classes_release(ShDupClasses *classes)
{
	if (classes == NULL)
		return;
	for (int i = 0; i < classes->heaps->nsides; i++)
		shdup_reader_release(&classes->readers[i]);
}

void
shdup_classes_end(ShDupClasses *classes)
{
	if (classes == NULL)
		return;
	for (int i = 0; i < classes->heaps->nsides; i++)
		shdup_reader_end(&classes->readers[i]);
	shdup_columns_end(classes->columns);
	MemoryContextDelete(classes->context);
	MemoryContextDelete(classes->values);
	pfree(classes);
}
