/*-------------------------------------------------------------------------
 *
 * visitor.c
 *	  Looking at rows from within a scan.
 *
 * If an array is long, the row is compared here with those of its elements whose
 * fingerprints are near; the executor would compare it with all (src/README,
 * section 1).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/tableam.h"
#include "catalog/index.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "search/visitor.h"

/*
 * Set the keys that rows are checked with: those of the scan, which have been read
 * into *query.  Returns false if the executor should check them: here a value is
 * compared with all arguments of a key that has no elements, while the executor looks
 * it up in a hash table if they are constants.
 *
 * Allocates in the memory context of the query.
 */
bool
shfnd_visitor_set_keys(ShFndVisitor *visitor, IndexScanDesc scan, const ShFndQuery *query)
{
	MemoryContext old = MemoryContextSwitchTo(query->context);
	int64		ncompared = 0;
	int64		nelements = 0;

	visitor->keys = palloc0(scan->numberOfKeys * sizeof(ShFndKeyCheck));
	for (int i = 0; i < scan->numberOfKeys; i++)
	{
		ScanKey		key = &scan->keyData[i];
		ShFndKeyCheck *check = &visitor->keys[i];

		if (key->sk_flags & SK_ISNULL)
			continue;
		check->narguments = shfnd_key_arguments(key, &check->arguments);
		ncompared += check->narguments;
	}
	for (int i = 0; i < query->nconditions; i++)
	{
		const ShFndCondition *condition = &query->conditions[i];

		if (condition->nelements > 0)
		{
			visitor->keys[condition->key].condition = condition;
			nelements += condition->nelements;
			ncompared -= visitor->keys[condition->key].narguments;
		}
	}
	if (ncompared <= nelements && visitor->estate == NULL)
	{
		MemoryContextSwitchTo(visitor->context);
		visitor->info = BuildIndexInfo(scan->indexRelation);
		visitor->estate = CreateExecutorState();
	}
	MemoryContextSwitchTo(old);
	return ncompared <= nelements;
}

/*
 * Does the scan's snapshot, an MVCC one, see a row?  Sets *dead to whether no
 * transaction can see it any more.
 *
 * The slot has the row until the next one is visited, or it is cleared.
 */
bool
shfnd_visit(ShFndVisitor *visitor, IndexScanDesc scan, ItemPointerData tid, bool *dead)
{
	bool		again = false;

	CHECK_FOR_INTERRUPTS();
	if (visitor->slot == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(visitor->context);

		visitor->slot = table_slot_create(scan->heapRelation, NULL);
		MemoryContextSwitchTo(old);
	}
	return table_index_fetch_tuple(scan->xs_heapfetch, &tid, scan->xs_snapshot, visitor->slot,
								   &again, dead);
}

/* a value that is compared with the arguments of a key */
typedef struct Comparison
{
	ScanKey		key;
	const ShFndCondition *condition;
	Datum		value;
} Comparison;

static bool
is_true(const Comparison *comparison, Datum argument)
{
	LOCAL_FCINFO(fcinfo, 2);
	bool		result;

	CHECK_FOR_INTERRUPTS();
	InitFunctionCallInfoData(*fcinfo, &comparison->key->sk_func, 2,
							 comparison->key->sk_collation, NULL, NULL);
	fcinfo->args[0].value = comparison->value;
	fcinfo->args[0].isnull = false;
	fcinfo->args[1].value = argument;
	fcinfo->args[1].isnull = false;
	result = DatumGetBool(FunctionCallInvoke(fcinfo));
	return result && !fcinfo->isnull;
}

/*
 * Is the operator true for one of the elements at the center of a ball?
 */
static bool
is_true_of_ball(int ball, void *arg)
{
	const Comparison *comparison = arg;
	const ShFndCondition *condition = comparison->condition;
	ShFingerprint center = condition->balls.balls[ball].center;
	int			low = 0;
	int			high = condition->nelements;

	while (low < high)
	{
		int			middle = low + (high - low) / 2;

		if (condition->elements[middle].fp < center)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < condition->nelements && condition->elements[low].fp == center; low++)
	{
		if (is_true(comparison, condition->elements[low].value))
			return true;
	}
	return false;
}

/*
 * Does a row with these values, and with this fingerprint, meet key number i?
 */
static bool
meets_key(const ShFndVisitor *visitor, IndexScanDesc scan, int i, const Datum *values,
		  const bool *nulls, ShFingerprint fp)
{
	ScanKey		key = &scan->keyData[i];
	ShFndKeyCheck *check = &visitor->keys[i];
	int			column = key->sk_attno - 1;
	Comparison	comparison = {key, check->condition, values[column]};

	if (key->sk_flags & SK_SEARCHNULL)
		return nulls[column];
	if (nulls[column] || (key->sk_flags & SK_SEARCHNOTNULL))
		return !nulls[column];
	if (check->condition != NULL)
		return shfnd_find_ball(&check->condition->balls, check->condition->balls.nballs, fp,
							   is_true_of_ball, &comparison);
	for (int a = 0; a < check->narguments; a++)
	{
		if (is_true(&comparison, check->arguments[a]))
			return true;
	}
	return false;
}

/*
 * Does the scan's snapshot see a row, and does the row meet all keys, at least one
 * of which has elements?  fp is its fingerprint.
 *
 * Evaluates operators and expressions as the executor does, as the same user, so no
 * buffer lock may be held.
 */
bool
shfnd_visit_and_check(ShFndVisitor *visitor, IndexScanDesc scan, ShFingerprint fp,
					  ItemPointerData tid, bool *dead)
{
	EState	   *estate = visitor->estate;
	MemoryContext old;
	Datum		values[INDEX_MAX_KEYS];
	bool		nulls[INDEX_MAX_KEYS];
	bool		met = true;

	if (!shfnd_visit(visitor, scan, tid, dead))
		return false;
	GetPerTupleExprContext(estate)->ecxt_scantuple = visitor->slot;
	old = MemoryContextSwitchTo(GetPerTupleMemoryContext(estate));
	FormIndexDatum(visitor->info, visitor->slot, estate, values, nulls);
	for (int i = 0; i < scan->numberOfKeys && met; i++)
		met = meets_key(visitor, scan, i, values, nulls, fp);
	MemoryContextSwitchTo(old);
	ExecClearTuple(visitor->slot);
	ResetPerTupleExprContext(estate);
	return met;
}

/*
 * Release what is not memory.
 */
void
shfnd_visitor_end(ShFndVisitor *visitor)
{
	if (visitor->slot != NULL)
		ExecDropSingleTupleTableSlot(visitor->slot);
	if (visitor->estate != NULL)
		FreeExecutorState(visitor->estate);
}
