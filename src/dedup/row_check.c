/*-------------------------------------------------------------------------
 *
 * row_check.c
 *	  Checking pairs of rows whose index entries are near, and whose columns before the last
 *	  one are equal: by the operator of the operator class of the index, and by the
 *	  condition "same".
 *
 * A row is checked against one candidate after the other.  What is needed of it is
 * read from the table, or computed by the expressions of the index, once for all of
 * them, and values stored out of line or compressed are also fetched only once.
 *
 * In an index of bands, the rows of an element have equal values.  So two elements are
 * compared once, and the condition decides on their rows.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "optimizer/optimizer.h"
#include "rewrite/rewriteManip.h"
#include "utils/memutils.h"

#include "compat.h"
#include "dedup/open.h"
#include "dedup/progress.h"
#include "dedup/rows.h"
#include "text/similar.h"

/* in place of the number of a row: none has been read */
#define NO_ROW		PG_UINT64_MAX

/* range table indexes of the two rows in the condition "same" */
#define SAME_A		1
#define SAME_B		2

struct ShDupRowCheck
{
	int			last_side;
	ShDupRowReader a;
	ShDupRowReader b;

	/* the fingerprint's column of the index, if its class has an operator */
	ShDupColumns *column;
	bool		banded;			/* elements are compared by it, and not rows */
	ShDupNearness nearness;

	/* the condition "same", unless it is NULL */
	EState	   *estate;
	ExprState  *condition;
	ShDupClause clause;
	Bitmapset  *needed;			/* columns of row a, numbers from 0 */

	/* row a; what is not in the slot is in the context */
	ShPairsRow	row;			/* or NO_ROW */
	bool		hopeful;		/* could be the same as another */
	Datum		value;			/* of the column */
	TupleTableSlot *slot;
	MemoryContext context;
};

/*
 * Keep the columns of row a that the condition needs.
 */
static void
keep_needed(ShDupRowCheck *check, TupleTableSlot *a)
{
	TupleTableSlot *kept = check->slot;
	int			column = -1;

	ExecClearTuple(kept);
	memset(kept->tts_isnull, true, kept->tts_tupleDescriptor->natts * sizeof(bool));
	while ((column = bms_next_member(check->needed, column)) >= 0)
	{
		Datum		value = slot_getattr(a, column + 1, &kept->tts_isnull[column]);

		if (!kept->tts_isnull[column])
			value = shdup_plain_value(value, TupleDescAttr(kept->tts_tupleDescriptor, column)->attlen);
		kept->tts_values[column] = value;
	}
	ExecStoreVirtualTuple(kept);
	kept->tts_tableOid = a->tts_tableOid;
	kept->tts_tid = a->tts_tid;
}

/*
 * Keep what is needed of row a.  Returns false if it is the same as no other.
 */
static bool
keep_checked_row(ShDupRowCheck *check, TupleTableSlot *a)
{
	MemoryContext old;
	Datum		value;

	if (check->column != NULL && !shdup_columns_compute(check->column, 0, a, &value))
		return false;
	old = MemoryContextSwitchTo(check->context);
	if (check->column != NULL)
		shdup_columns_copy(check->column, &check->value, &value);
	if (check->condition != NULL)
		keep_needed(check, a);
	MemoryContextSwitchTo(old);
	return true;
}

/*
 * Does the condition hold for the row that has been kept and b?
 *
 * Runs functions of the condition, as the current user.
 */
static bool
condition_holds(ShDupRowCheck *check, TupleTableSlot *b)
{
	ErrorContextCallback error_context;
	ExprContext *context = GetPerTupleExprContext(check->estate);
	bool		isnull;
	Datum		result;

	shdup_clause_start_evaluating(&error_context, &check->clause);
	context->ecxt_outertuple = check->slot;
	context->ecxt_innertuple = b;
	result = ExecEvalExprSwitchContext(check->condition, context, &isnull);
	shdup_clause_stop(&error_context);
	return !isnull && DatumGetBool(result);
}

/*
 * Is row b the same as the one that has been kept?
 */
static bool
row_holds(ShDupRowCheck *check, TupleTableSlot *b)
{
	Datum		value;

	if (check->column != NULL && !check->banded &&
		!(shdup_columns_compute(check->column, check->last_side, b, &value) &&
		  shdup_columns_agree(check->column, &check->value, &value)))
		return false;
	return check->condition == NULL || condition_holds(check, b);
}

/*
 * Does it take a pair of rows, and not of elements, to know whether rows are the same?
 */
bool
shdup_check_has_pairs(const ShDupRowCheck *check)
{
	return check != NULL && (!check->banded || check->condition != NULL);
}

/*
 * The nearness of rows that have equal values.
 */
double
shdup_check_nearest(const ShDupRowCheck *check)
{
	return check != NULL && check->banded && check->nearness.known ? 1 : 0;
}

static void
begin_checking(ShDupRowCheck *check, ShPairsRow a)
{
	CHECK_FOR_INTERRUPTS();
	if (a == check->row)
		return;
	MemoryContextReset(check->context);
	check->hopeful = keep_checked_row(check, shdup_read(&check->a, a));
	check->row = a;
}

static void
end_checking(ShDupRowCheck *check)
{
	if (check->column != NULL)
		shdup_columns_reset(check->column);
	if (check->condition != NULL)
		ResetPerTupleExprContext(check->estate);
	shdup_progress_checked();
}

/*
 * Let a value with a number, which must live until the next one, be that of row a.
 */
void
shdup_check_take(ShDupRowCheck *check, ShPairsRow number, Datum value)
{
	MemoryContextReset(check->context);
	check->hopeful = true;
	check->value = value;
	check->row = number;
}

/*
 * Is a value near that of row a?  How near is known of documents only.
 */
static bool
value_is_near(ShDupRowCheck *check, Datum value, double *nearness)
{
	struct varlena *document;
	bool		result;

	*nearness = 0;
	if (!check->nearness.known)
		return shdup_columns_agree(check->column, &check->value, &value);
	document = PG_DETOAST_DATUM_PACKED(value);
	result = shtext_similarity((struct varlena *) DatumGetPointer(check->value), document,
							   check->nearness.documents, nearness) &&
		*nearness >= check->nearness.similarity;
	if ((Pointer) document != DatumGetPointer(value))
		pfree(document);
	return result;
}

/*
 * Are elements of an index of bands near each other, given a row of each, and how near?
 * The words of their bands are.
 */
bool
shdup_check_near(ShDupRowCheck *check, ShPairsRow a, ShPairsRow b, double *nearness)
{
	Datum		value;
	bool		result;

	begin_checking(check, a);
	result = check->hopeful &&
		shdup_columns_compute(check->column, check->last_side, shdup_read(&check->b, b), &value) &&
		value_is_near(check, value, nearness);
	end_checking(check);
	return result;
}

/*
 * Are rows a and b, whose elements are near, the same?  Unknown counts as false.  To check a
 * row against several others, call this with the same a.  Without a check they are.
 */
bool
shdup_check_rows(ShDupRowCheck *check, ShPairsRow a, ShPairsRow b)
{
	bool		result;

	if (!shdup_check_has_pairs(check))
		return true;
	begin_checking(check, a);
	result = check->hopeful && row_holds(check, shdup_read(&check->b, b));
	end_checking(check);
	return result;
}

/*
 * Release all pins, after some rows: the search may go on for long, and nobody should
 * wait for a pin.
 */
void
shdup_check_release(ShDupRowCheck *check)
{
	if (check == NULL)
		return;
	/* what has been kept may point to its page */
	check->row = NO_ROW;
	shdup_reader_release(&check->a);
	shdup_reader_release(&check->b);
}

void
shdup_check_end(ShDupRowCheck *check)
{
	if (check == NULL)
		return;
	shdup_reader_end(&check->a);
	shdup_reader_end(&check->b);
	MemoryContextDelete(check->context);
	if (check->column != NULL)
		shdup_columns_end(check->column);
	if (check->condition != NULL)
	{
		ExecResetTupleTable(check->estate->es_tupleTable, false);
		FreeExecutorState(check->estate);
	}
	pfree(check);
}

static const ShDupClause same_clause = {
	.argument = "same",
	.prefix = "SELECT WHERE ",
	.kind = "a condition",
	.hint = "Write what follows WHERE in a query of the rows a and b, such as 'simhash_jaccard(a.body, b.body) >= 0.8'."
};

/*
 * Find the columns of row a that the condition needs.
 */
static Bitmapset *
find_needed(Node *condition, int natts)
{
	Bitmapset  *offset = NULL;
	Bitmapset  *needed = NULL;
	int			column = -1;

	pull_varattnos(condition, SAME_A, &offset);
	/* the whole row */
	if (bms_is_member(-FirstLowInvalidHeapAttributeNumber, offset))
		return natts > 0 ? bms_add_range(NULL, 0, natts - 1) : NULL;
	while ((column = bms_next_member(offset, column)) >= 0)
	{
		int			number = column + FirstLowInvalidHeapAttributeNumber;

		if (number > 0)
			needed = bms_add_member(needed, number - 1);
	}
	return needed;
}

/*
 * Prepare the condition in the text, which must live as long as the check: a is the row
 * that is judged, b one that comes before it.
 *
 * Reports an error if it is not such a condition, or if the current user lacks SELECT on
 * columns or EXECUTE on functions in it.
 */
static void
prepare_condition(ShDupRowCheck *check, Relation table, const char *text)
{
	ErrorContextCallback context;
	const Query *query;
	Node	   *condition;
	MemoryContext old;

	check->clause = same_clause;
	check->clause.text = text;

	check->estate = CreateExecutorState();
	query = shdup_clause_analyze(&check->clause, table, list_make2("a", "b"));
	shdup_clause_start_evaluating(&context, &check->clause);
	old = MemoryContextSwitchTo(check->estate->es_query_cxt);
	condition = (Node *) shdup_clause_plan(&check->clause, table, SAME_B, query->jointree->quals);
	check->needed = find_needed(condition, RelationGetDescr(table)->natts);
	ChangeVarNodes(condition, SAME_A, OUTER_VAR, 0);
	ChangeVarNodes(condition, SAME_B, INNER_VAR, 0);
	check->condition = ExecInitExpr((Expr *) condition, NULL);
	MemoryContextSwitchTo(old);
	shdup_clause_stop(&context);
	check->slot = ExecInitExtraTupleSlot(check->estate, RelationGetDescr(table), &TTSOpsVirtual);
}

/*
 * Begin to check rows of the first of the named indexes with those of the last: by the
 * operator of the class, or the nearness of documents, and the condition "same" unless it is
 * NULL.  Returns NULL if there is nothing to check.
 *
 * The tables must be open until the end, and the snapshot must be registered
 * since before the rows were read from their indexes.
 */
ShDupRowCheck *
shdup_check_begin(const ShDupHeaps *heaps, Snapshot snapshot, const ShDupNearness *nearness,
				  const char *same)
{
	int			fp_column = shidx_fp_column(heaps->sides[0].named.index);
	bool		has_operator = shdup_checked_columns(heaps) > fp_column;
	ShDupRowCheck *check;

	if (!has_operator && same == NULL)
		return NULL;
	check = palloc0(sizeof(ShDupRowCheck));
	check->row = NO_ROW;
	check->last_side = heaps->nsides - 1;
	check->banded = heaps->banded;
	check->nearness = *nearness;
	check->context = AllocSetContextCreate(CurrentMemoryContext, "simhash row to check",
										   ALLOCSET_DEFAULT_SIZES);
	if (same != NULL)
		prepare_condition(check, heaps->sides[0].named.heap, same);
	if (has_operator)
		check->column = shdup_columns_begin(heaps, fp_column, 1, false);
	shdup_reader_begin(&check->a, heaps, 0, snapshot);
	shdup_reader_begin(&check->b, heaps, check->last_side, snapshot);
	return check;
}
