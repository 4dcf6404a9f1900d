/*-------------------------------------------------------------------------
 *
 * entrysort.c
 *	  Sorting the entries of a build, once for each table.
 *
 * While they fit in memory the entries are kept in an array, and each table
 * sorts a copy.  Beyond that they are kept in one of the server's tuple
 * stores, and each table has them sorted by the server's external sort.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_operator_d.h"
#include "catalog/pg_type_d.h"
#include "executor/executor.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/tuplesort.h"
#include "utils/tuplestore.h"

#include "sort/entrysort.h"

/* a row takes a key as it came, one permuted, and one sorted */
#define BYTES_PER_ROW	(3 * sizeof(ShSortItem))

/* check for interrupts each time this many rows have been gone through */
#define CHECK_INTERVAL	0x10000

struct ShSort
{
	int			memory_kb;
	double		count;

	/* in memory */
	size_t		capacity;
	ShSortItem   *rows;			/* as they came, fingerprints not permuted */
	ShSortItem   *permuted;
	ShSortItem   *sorted;
	size_t		next;

	/* beyond */
	Tuplestorestate *store;		/* NULL while in memory */
	Tuplesortstate *tuplesort;
	TupleTableSlot *slot;
	TupleTableSlot *store_slot;
};

/*
 * Begin to collect entries.  memory_kb, in kilobytes, is what may be used
 * before disk is.
 */
ShSort *
shsort_begin(int memory_kb)
{
	ShSort  *sort = palloc0(sizeof(ShSort));

	sort->memory_kb = memory_kb;
	sort->capacity = 1024;
	sort->rows = palloc(sort->capacity * sizeof(ShSortItem));
	return sort;
}

/* the server sorts signed integers: move zero to the middle, and back */
static inline int64
to_signed(uint64 fp)
{
	return (int64) (fp ^ (UINT64CONST(1) << 63));
}

static inline uint64
from_signed(int64 value)
{
	return (uint64) value ^ (UINT64CONST(1) << 63);
}

static void
store_item(TupleTableSlot *slot, uint64 fp, uint64 tid)
{
	ExecClearTuple(slot);
	slot->tts_values[0] = Int64GetDatum(to_signed(fp));
	slot->tts_values[1] = Int64GetDatum((int64) tid);
	slot->tts_isnull[0] = false;
	slot->tts_isnull[1] = false;
	ExecStoreVirtualTuple(slot);
}

static ShSortItem
load_item(TupleTableSlot *slot)
{
	slot_getallattrs(slot);
	return shsort_item(from_signed(DatumGetInt64(slot->tts_values[0])), (uint64) DatumGetInt64(slot->tts_values[1]));
}

/*
 * Memory is used up: move the entries to a tuple store.
 */
static void
move_to_store(ShSort *sort)
{
	TupleDesc	desc = CreateTemplateTupleDesc(2);

	TupleDescInitEntry(desc, 1, "fp", INT8OID, -1, 0);
	TupleDescInitEntry(desc, 2, "tid", INT8OID, -1, 0);
	sort->slot = MakeSingleTupleTableSlot(desc, &TTSOpsMinimalTuple);
	sort->store_slot = MakeSingleTupleTableSlot(desc, &TTSOpsVirtual);

	/* a quarter of the memory, the sorts have the rest */
	sort->store = tuplestore_begin_heap(false, false, Max(sort->memory_kb / 4, 64));
	tuplestore_set_eflags(sort->store, EXEC_FLAG_REWIND);
	for (size_t i = 0; i < sort->count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		store_item(sort->store_slot, sort->rows[i].key, sort->rows[i].value);
		tuplestore_puttupleslot(sort->store, sort->store_slot);
	}
	pfree(sort->rows);
	sort->rows = NULL;
}

/*
 * Add the entry of a row: its fingerprint and its TID as an integer.
 */
void
shsort_add(ShSort *sort, uint64 fp, uint64 tid)
{
	if (sort->store == NULL && sort->count >= sort->capacity)
	{
		size_t		more = sort->capacity * 2;

		if (more * BYTES_PER_ROW > sort->memory_kb * UINT64CONST(1024))
			more = sort->memory_kb * UINT64CONST(1024) / BYTES_PER_ROW;
		if (more > sort->capacity)
		{
			sort->rows = repalloc_huge(sort->rows, more * sizeof(ShSortItem));
			sort->capacity = more;
		}
		else
			move_to_store(sort);
	}

	if (sort->store == NULL)
		sort->rows[(size_t) sort->count] = shsort_item(fp, tid);
	else
	{
		store_item(sort->store_slot, fp, tid);
		tuplestore_puttupleslot(sort->store, sort->store_slot);
	}
	sort->count++;
}

/* number of entries added */
double
shsort_count(const ShSort *sort)
{
	return sort->count;
}

static void
start_in_memory(ShSort *sort, const ShBitsTable *table)
{
	size_t		count = (size_t) sort->count;

	if (sort->sorted == NULL)
	{
		Size		size = Max(count, 1) * sizeof(ShSortItem);

		sort->sorted = MemoryContextAllocHuge(CurrentMemoryContext, size);
		sort->permuted = MemoryContextAllocHuge(CurrentMemoryContext, size);
	}
	for (size_t i = 0; i < count; i++)
	{
		if (i % CHECK_INTERVAL == 0)
			CHECK_FOR_INTERRUPTS();
		sort->permuted[i] = shsort_item(shbits_permute(table, sort->rows[i].key), sort->rows[i].value);
	}
	shsort_radix(sort->permuted, sort->sorted, count);
	sort->next = 0;
}

static void
start_external(ShSort *sort, const ShBitsTable *table)
{
	AttrNumber	columns[] = {1, 2};
	Oid			operators[] = {Int8LessOperator, Int8LessOperator};
	Oid			collations[] = {InvalidOid, InvalidOid};
	bool		nulls_first[] = {false, false};

	if (sort->tuplesort != NULL)
		tuplesort_end(sort->tuplesort);
	sort->tuplesort = tuplesort_begin_heap(sort->slot->tts_tupleDescriptor, 2, columns,
										   operators, collations, nulls_first,
										   Max(sort->memory_kb / 4 * 3, 64),
										   NULL, TUPLESORT_NONE);
	tuplestore_rescan(sort->store);
	while (tuplestore_gettupleslot(sort->store, true, false, sort->slot))
	{
		ShSortItem	item = load_item(sort->slot);

		CHECK_FOR_INTERRUPTS();
		store_item(sort->store_slot, shbits_permute(table, item.key), item.value);
		tuplesort_puttupleslot(sort->tuplesort, sort->store_slot);
	}
	tuplesort_performsort(sort->tuplesort);
}

/*
 * Sort all entries for a table; shsort_next then returns them.
 */
void
shsort_start_table(ShSort *sort, const ShBitsTable *table)
{
	if (sort->store == NULL)
		start_in_memory(sort, table);
	else
		start_external(sort, table);
}

/*
 * The next key of the table, ascending.  Returns false after the last.
 */
bool
shsort_next(ShSort *sort, ShSortItem *item)
{
	if (sort->store == NULL)
	{
		if (sort->next >= sort->count)
			return false;
		*item = sort->sorted[sort->next++];
		return true;
	}
	if (!tuplesort_gettupleslot(sort->tuplesort, true, false, sort->slot, NULL))
		return false;
	*item = load_item(sort->slot);
	return true;
}

/*
 * Free all memory and files.
 */
void
shsort_end(ShSort *sort)
{
	if (sort->tuplesort != NULL)
		tuplesort_end(sort->tuplesort);
	if (sort->store != NULL)
	{
		ExecDropSingleTupleTableSlot(sort->slot);
		ExecDropSingleTupleTableSlot(sort->store_slot);
		tuplestore_end(sort->store);
	}
	if (sort->rows != NULL)
		pfree(sort->rows);
	if (sort->sorted != NULL)
	{
		pfree(sort->sorted);
		pfree(sort->permuted);
	}
	pfree(sort);
}
