/*-------------------------------------------------------------------------
 *
 * values.c
 *	  Comparing rows by the columns before the fingerprint.
 *
 * Rows with equal values have the same group, but rows of a group need not
 * have equal values, since it is a hash.  So the values of rows that may be
 * pairs are read from the table and compared with those of the rows of the
 * same group that have been seen before.  Rows with equal values are of one
 * kind, and the kinds of a group are numbered from 0.  Almost all groups have
 * only one.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/index.h"
#include "catalog/pg_index.h"
#include "common/pg_prng.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/execnodes.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "dedup/open.h"
#include "dedup/rows.h"
#include "index/index.h"
#include "type/simhash.h"

/* the values of a kind */
typedef struct Kind
{
	struct Kind *next;			/* of the same group */
	Datum		values[FLEXIBLE_ARRAY_MEMBER];
} Kind;

typedef struct GroupEntry
{
	uint32		group;
	char		status;
	Kind	   *first;			/* kind 0 */
} GroupEntry;

/* how the values of a column are compared and copied */
typedef struct Column
{
	FmgrInfo	equal;
	Oid			collation;
	int16		length;
	bool		by_value;
} Column;

struct ShDupValues
{
	int			ncolumns;
	Column		columns[INDEX_MAX_KEYS];

	/*
	 * to evaluate the columns of a row, for each table; NULL if not entered
	 * yet
	 */
	IndexInfo **infos;
	EState	   *estate;

	ShDupCaller caller;

	uint64		secret;
	Size		limit;			/* of their memory, in bytes; 0: none */
	MemoryContext context;		/* of the values */
	struct kinds_hash *groups;
};

/*
 * Anybody can compute groups that collide, so their place in the hash table
 * depends on a secret.
 */
static inline uint32
hash_group(uint64 secret, uint32 group)
{
	return (uint32) ((secret | 1) * (group + (secret >> 32)) >> 32);
}

#define SH_PREFIX kinds
#define SH_ELEMENT_TYPE GroupEntry
#define SH_KEY_TYPE uint32
#define SH_KEY group
#define SH_HASH_KEY(table, key) hash_group(*(uint64 *) (table)->private_data, key)
#define SH_EQUAL(table, a, b) ((a) == (b))
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

/*
 * The expressions of the columns before the fingerprint of an index, as the catalog has
 * them.
 */
List *
shdup_values_expressions(Relation index)
{
	int			count = 0;

	for (int i = 0; i < shidx_fp_column(index); i++)
	{
		if (index->rd_index->indkey.values[i] == 0)
			count++;
	}
	if (count == 0)
		return NIL;
	return list_truncate(shdup_index_trees(index->rd_indextuple, Anum_pg_index_indexprs), count);
}

/*
 * Make an IndexInfo of what FormIndexDatum needs for the columns before the fingerprint.
 * The rest of the index may be expensive, or not allowed in parallel mode, and the
 * server's BuildIndexInfo already runs functions of it.
 */
static IndexInfo *
describe_columns(Relation index, int ncolumns)
{
	IndexInfo  *info = makeNode(IndexInfo);

	info->ii_NumIndexAttrs = info->ii_NumIndexKeyAttrs = ncolumns;
	for (int i = 0; i < ncolumns; i++)
		info->ii_IndexAttrNumbers[i] = index->rd_index->indkey.values[i];
	info->ii_Expressions = shdup_values_expressions(index);
	return info;
}

static void
init_column(Column *column, Relation index, int i)
{
	Oid			type = index->rd_opcintype[i];
	Oid			equal = get_opfamily_member(index->rd_opfamily[i], type, type,
											SIMHASH_STRATEGY_EQUAL);

	if (!OidIsValid(equal))
		elog(ERROR, "missing operator %d(%u,%u) in opfamily %u", SIMHASH_STRATEGY_EQUAL, type,
			 type, index->rd_opfamily[i]);
	fmgr_info(get_opcode(equal), &column->equal);
	column->collation = index->rd_indcollation[i];
	column->length = TupleDescAttr(RelationGetDescr(index), i)->attlen;
	column->by_value = TupleDescAttr(RelationGetDescr(index), i)->attbyval;
}

static void
start_remembering(ShDupValues *values)
{
	values->context = AllocSetContextCreate(GetMemoryChunkContext(values), "simhash values",
											ALLOCSET_DEFAULT_SIZES);
	values->groups = kinds_create(values->context, 64, &values->secret);
}

/*
 * Begin, for indexes of several columns, which have been checked to be
 * comparable (heaps.c).  All must be open until the end.
 */
ShDupValues *
shdup_values_begin(const ShDupHeaps *heaps)
{
	ShDupValues *values = palloc0(sizeof(ShDupValues));
	Relation	index = heaps->sides[0].named.index;

	values->ncolumns = shidx_fp_column(index);
	for (int i = 0; i < values->ncolumns; i++)
		init_column(&values->columns[i], index, i);
	values->infos = palloc0(heaps->count * sizeof(IndexInfo *));
	values->estate = CreateExecutorState();
	values->secret = pg_prng_uint64(&pg_global_prng_state);
	start_remembering(values);
	return values;
}

/*
 * The minimum memory for the values of a row, in bytes.
 */
Size
shdup_values_least_width(const ShDupValues *values)
{
	Size		width = 2 * sizeof(GroupEntry) + offsetof(Kind, values) + sizeof(Datum);

	for (int i = 0; i < values->ncolumns; i++)
	{
		width += sizeof(Datum);
		if (!values->columns[i].by_value)
			width += Max(values->columns[i].length, 0) + sizeof(Datum);
	}
	return width;
}

/* do all columns have values of fixed width? */
bool
shdup_values_have_fixed_width(const ShDupValues *values)
{
	for (int i = 0; i < values->ncolumns; i++)
	{
		if (values->columns[i].length < 0)
			return false;
	}
	return true;
}

/*
 * Raise ERRCODE_CONFIGURATION_LIMIT_EXCEEDED beyond this memory; for callers
 * that never forget values.
 */
void
shdup_values_set_limit(ShDupValues *values, Size limit)
{
	values->limit = limit;
}

/*
 * Prepare to evaluate columns of rows of a table, as its owner.
 */
void
shdup_values_enter(ShDupValues *values, const ShDupHeap *heap)
{
	IndexInfo **info = &values->infos[heap->number];

	shdup_become_owner(&values->caller, heap->relation);

	if (*info == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(values));

		*info = describe_columns(heap->index, values->ncolumns);
		MemoryContextSwitchTo(old);
	}
}

void
shdup_values_leave(ShDupValues *values)
{
	shdup_become_caller(&values->caller);
}

static bool
is_kind(ShDupValues *values, const Kind *kind, const Datum *datums)
{
	for (int i = 0; i < values->ncolumns; i++)
	{
		Column	   *column = &values->columns[i];

		if (!DatumGetBool(FunctionCall2Coll(&column->equal, column->collation,
											kind->values[i], datums[i])))
			return false;
	}
	return true;
}

static void
report_limit(const ShDupValues *values)
{
	ereport(ERROR,
			(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
			 errmsg("values of columns before the fingerprint do not fit into maintenance_work_mem"),
			 errdetail_plural("Values have been stored for %u group of rows with near-duplicates so far.",
							  "Values have been stored for %u groups of rows with near-duplicates so far.",
							  values->groups->members, values->groups->members),
			 errhint("Increase maintenance_work_mem, which is now %d kB.",
					 maintenance_work_mem)));
}

static Kind *
make_kind(ShDupValues *values, const Datum *datums)
{
	MemoryContext old = MemoryContextSwitchTo(values->context);
	Kind	   *kind = palloc(offsetof(Kind, values) + values->ncolumns * sizeof(Datum));

	kind->next = NULL;
	for (int i = 0; i < values->ncolumns; i++)
		kind->values[i] = datumCopy(datums[i], values->columns[i].by_value,
									values->columns[i].length);
	MemoryContextSwitchTo(old);
	if (values->limit > 0 && shdup_values_memory(values) > values->limit)
		report_limit(values);
	return kind;
}

/*
 * The head of the list of kinds of a group.
 */
static Kind **
kinds_of(ShDupValues *values, uint32 group)
{
	bool		found;
	GroupEntry *entry = kinds_insert(values->groups, group, &found);

	if (!found)
		entry->first = NULL;
	return &entry->first;
}

/*
 * Get the kind of a row of a table, given the group of its index entry.
 * Returns false if a column is null, which equals nothing.
 *
 * Must be called between shdup_values_enter and _leave.  May run functions
 * of the index, so no buffer lock may be held.
 */
bool
shdup_values_kind(ShDupValues *values, const ShDupHeap *heap, uint32 group,
				  TupleTableSlot *row, uint32 *kind)
{
	ExprContext *context = GetPerTupleExprContext(values->estate);
	Datum		datums[INDEX_MAX_KEYS];
	bool		nulls[INDEX_MAX_KEYS];
	bool		any_null = false;
	MemoryContext old;

	context->ecxt_scantuple = row;
	old = MemoryContextSwitchTo(context->ecxt_per_tuple_memory);
	FormIndexDatum(values->infos[heap->number], row, values->estate, datums, nulls);
	for (int i = 0; i < values->ncolumns; i++)
		any_null |= nulls[i];
	if (!any_null)
	{
		Kind	  **place = kinds_of(values, group);

		for (*kind = 0; *place != NULL && !is_kind(values, *place, datums); (*kind)++)
			place = &(*place)->next;
		if (*kind == SHDUP_MAX_KINDS)
			ereport(ERROR,
					(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					 errmsg("more than %d different values have the same hash",
							SHDUP_MAX_KINDS)));
		if (*place == NULL)
			*place = make_kind(values, datums);
	}
	MemoryContextSwitchTo(old);
	ResetExprContext(context);
	return !any_null;
}

/*
 * Forget all values, except those of one group if it is given.
 */
void
shdup_values_forget(ShDupValues *values, const uint32 *kept)
{
	MemoryContext old = values->context;
	GroupEntry *entry = kept != NULL ? kinds_lookup(values->groups, *kept) : NULL;
	const Kind *kind = entry != NULL ? entry->first : NULL;

	start_remembering(values);
	if (kind != NULL)
	{
		Kind	  **place = kinds_of(values, *kept);

		for (; kind != NULL; kind = kind->next)
		{
			*place = make_kind(values, kind->values);
			place = &(*place)->next;
		}
	}
	MemoryContextDelete(old);
}

/* the memory of the values, in bytes */
Size
shdup_values_memory(const ShDupValues *values)
{
	return MemoryContextMemAllocated(values->context, false);
}

void
shdup_values_end(ShDupValues *values)
{
	MemoryContextDelete(values->context);
	FreeExecutorState(values->estate);
}
