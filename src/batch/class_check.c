/*-------------------------------------------------------------------------
 *
 * class_check.c
 *	  Checking pairs of rows by the operator of an operator class.
 *
 * An operator class that computes fingerprints has an operator for the values
 * themselves.  The value of a row is read, or computed by the expression of the
 * index, once for all rows that it is compared with.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/objectaccess.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type_d.h"
#include "executor/executor.h"
#include "nodes/makefuncs.h"
#include "utils/acl.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/relcache.h"

#include "batch/checked_row.h"
#include "batch/class_check.h"
#include "compat.h"
#include "rows/as_owner.h"

/* in place of the number of a row: none has been read */
#define NO_ROW		PG_UINT64_MAX

/* one of the two rows, and where its value is */
typedef struct Operand
{
	ShBatchCheckedRow row;
	Relation	table;			/* the named one */
	AttrNumber	column;			/* of this table */
	ExprState  *expression;		/* if column is 0 */
} Operand;

typedef struct ClassCheck
{
	ShBatchRowCheck base;
	FmgrInfo	operator;
	Oid			collation;
	int16		length;			/* of a value */
	bool		by_value;
	EState	   *estate;
	Operand		a;
	Operand		b;

	/* row a, with its value */
	ShRowsNumber row;
	Datum		value;
	bool		isnull;
	MemoryContext context;		/* of the value */
} ClassCheck;

/*
 * The value of a row.  The result is valid until the next row of this side is
 * read, or until the per-tuple context is reset.
 *
 * Runs functions of the index, as the owner of the table.
 */
static Datum
read_value(ClassCheck *check, Operand *operand, ShRowsNumber row, bool *isnull)
{
	ExprContext *context = GetPerTupleExprContext(check->estate);
	TupleTableSlot *slot = shbatch_checked_row_read(&operand->row, row);
	ShRowsCaller caller;
	Datum		result;

	if (operand->column != 0)
		return slot_getattr(slot, operand->column, isnull);
	shrows_become_owner(&caller, operand->table);
	context->ecxt_scantuple = slot;
	result = ExecEvalExprSwitchContext(operand->expression, context, isnull);
	shrows_become_caller(&caller);
	return result;
}

/*
 * Read row a.
 */
static void
read_a(ClassCheck *check, ShRowsNumber row)
{
	MemoryContext old;

	MemoryContextReset(check->context);
	check->value = read_value(check, &check->a, row, &check->isnull);
	check->row = row;
	if (check->isnull)
		return;
	old = MemoryContextSwitchTo(check->context);
	check->value = shbatch_plain_value(check->value, check->length);
	if (check->a.column == 0)
		check->value = datumCopy(check->value, check->by_value, check->length);
	MemoryContextSwitchTo(old);
}

/*
 * Is the operator true for the values of rows a and b?
 */
static bool
is_true(ClassCheck *check, Datum b)
{
	LOCAL_FCINFO(fcinfo, 2);
	MemoryContext old = MemoryContextSwitchTo(GetPerTupleMemoryContext(check->estate));
	Datum		result;

	InitFunctionCallInfoData(*fcinfo, &check->operator, 2, check->collation, NULL, NULL);
	fcinfo->args[0].value = check->value;
	fcinfo->args[0].isnull = false;
	fcinfo->args[1].value = b;
	fcinfo->args[1].isnull = false;
	result = FunctionCallInvoke(fcinfo);
	MemoryContextSwitchTo(old);
	return !fcinfo->isnull && DatumGetBool(result);
}

static bool
holds(ShBatchRowCheck *base, ShRowsNumber a, ShRowsNumber b)
{
	ClassCheck *check = (ClassCheck *) base;
	bool		result = false;

	if (a != check->row)
		read_a(check, a);
	if (!check->isnull)
	{
		bool		isnull;
		Datum		value = read_value(check, &check->b, b, &isnull);

		result = !isnull && is_true(check, value);
	}
	ResetPerTupleExprContext(check->estate);
	return result;
}

static void
end(ShBatchRowCheck *base)
{
	ClassCheck *check = (ClassCheck *) base;

	shbatch_checked_row_end(&check->a.row);
	shbatch_checked_row_end(&check->b.row);
	MemoryContextDelete(check->context);
	FreeExecutorState(check->estate);
	pfree(check);
}

/*
 * Find out where the values of a side are.
 */
static void
begin_operand(ClassCheck *check, Operand *operand, const ShRowsHeaps *heaps, int side,
			  Snapshot snapshot)
{
	const ShRowsOpened *named = &heaps->sides[side].named;
	int			last = IndexRelationGetNumberOfKeyAttributes(named->index) - 1;
	ShRowsCaller caller;
	MemoryContext old;

	shbatch_checked_row_begin(&operand->row, heaps, side, snapshot);
	operand->table = named->heap;
	operand->column = named->index->rd_index->indkey.values[last];
	if (operand->column != 0)
		return;
	shrows_become_owner(&caller, named->heap);
	old = MemoryContextSwitchTo(check->estate->es_query_cxt);
	operand->expression = ExecPrepareExpr(llast(RelationGetIndexExpressions(named->index)),
										  check->estate);
	MemoryContextSwitchTo(old);
	shrows_become_caller(&caller);
}

/*
 * The function of an operator.  The caller needs the right to execute it, as in a query.
 */
static Oid
get_function(Oid operator)
{
	Oid			function = get_opcode(operator);

	if (!shcompat_may_execute(function, GetUserId()))
		aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_FUNCTION, get_func_name(function));
	InvokeFunctionExecuteHook(function);
	return function;
}

/*
 * Look up the operator, as if it belonged to an expression, of which some functions
 * ask for the types of their arguments.
 */
static void
find_operator(ClassCheck *check, Relation index, Oid operator)
{
	int			last = IndexRelationGetNumberOfKeyAttributes(index) - 1;
	Form_pg_attribute column = TupleDescAttr(RelationGetDescr(index), last);
	Expr	   *value = (Expr *) makeNullConst(column->atttypid, column->atttypmod,
											   column->attcollation);

	check->collation = index->rd_indcollation[last];
	check->length = column->attlen;
	check->by_value = column->attbyval;
	fmgr_info(get_function(operator), &check->operator);
	fmgr_info_set_expr((Node *) make_opclause(operator, BOOLOID, false, value, value,
											  InvalidOid, check->collation),
					   &check->operator);
}

/*
 * Begin to check rows of the first of the named indexes with those of the last,
 * by the operator of their operator class.  NULL if the class has none, because
 * values are fingerprints.
 *
 * The tables must be open until the end, and the snapshot must be registered
 * since before the rows were read from their indexes.
 */
ShBatchRowCheck *
shbatch_class_check_begin(const ShRowsHeaps *heaps, Snapshot snapshot)
{
	int			radius;
	Oid			operator = shrows_named_operator(&heaps->sides[0], &radius);
	ClassCheck *check;

	if (!OidIsValid(operator))
		return NULL;
	check = palloc0(sizeof(ClassCheck));
	check->base.holds = holds;
	check->base.end = end;
	check->estate = CreateExecutorState();
	find_operator(check, heaps->sides[0].named.index, operator);
	begin_operand(check, &check->a, heaps, 0, snapshot);
	begin_operand(check, &check->b, heaps, heaps->nsides - 1, snapshot);
	check->row = NO_ROW;
	check->context = AllocSetContextCreate(CurrentMemoryContext, "simhash value to check",
										   ALLOCSET_DEFAULT_SIZES);
	return &check->base;
}
