/*-------------------------------------------------------------------------
 *
 * row_check.c
 *	  Checking pairs of rows whose fingerprints are near: by the operator of the
 *	  operator class of an index, and by the condition "same".
 *
 * A row is checked against one candidate after the other.  What is needed of it is
 * read from the table, or computed by the expression of the index, once for all of
 * them, and values stored out of line or compressed are also fetched only once.  All
 * rows are those of the named table: the columns of partitions may have other numbers.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/detoast.h"
#include "access/sysattr.h"
#include "access/tupconvert.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type_d.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parse_coerce.h"
#include "parser/parse_collate.h"
#include "parser/parse_expr.h"
#include "parser/parse_relation.h"
#include "rewrite/rewriteHandler.h"
#include "rewrite/rewriteManip.h"
#include "utils/acl.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/relcache.h"

#include "compat.h"
#include "dedup/checks.h"
#include "dedup/open.h"
#include "dedup/progress.h"
#include "dedup/rows.h"

/* in place of the number of a row: none has been read */
#define NO_ROW		PG_UINT64_MAX

/* range table indexes of the two rows in the condition "same" */
#define SAME_A		1
#define SAME_B		2

/* reads rows of a side, as rows of its named table */
typedef struct NamedReader
{
	ShDupRowReader reader;
	TupleDesc	desc;			/* of the named table */
	TupleConversionMap **maps;	/* by number of table; NULL if not needed */
	bool	   *mapped;			/* is the map known? */
	TupleTableSlot *converted;
} NamedReader;

/* the base of the kinds of checks */
struct ShDupRowCheck
{
	/*
	 * Keeps what is needed of row a, in check->context.  Returns false if it
	 * is the same as no other.
	 */
	bool		(*keep) (ShDupRowCheck *check, TupleTableSlot *a);

	/* is row b the same as the one that has been kept? */
	bool		(*holds) (ShDupRowCheck *check, TupleTableSlot *b);

	ShDupRowCheck *next;		/* which must hold as well, or NULL */
	EState	   *estate;
	NamedReader a;
	NamedReader b;
	ShPairsRow	row;			/* that has been kept, or NO_ROW */
	bool		hopeful;		/* what keep() has returned */
	MemoryContext context;
};

static void
begin_reader(NamedReader *reader, const ShDupHeaps *heaps, int side, Snapshot snapshot,
			 EState *estate)
{
	reader->desc = RelationGetDescr(heaps->sides[side].named.heap);
	shdup_reader_begin(&reader->reader, heaps, snapshot);
	reader->maps = palloc0(heaps->count * sizeof(TupleConversionMap *));
	reader->mapped = palloc0(heaps->count * sizeof(bool));
	reader->converted = ExecInitExtraTupleSlot(estate, reader->desc, &TTSOpsVirtual);
}

/*
 * Read a row.  The result is valid until the next one is read.
 */
static TupleTableSlot *
read_row(NamedReader *reader, ShPairsRow number)
{
	TupleTableSlot *slot;
	int			table;

	shdup_read(&reader->reader, number);
	slot = reader->reader.slot;
	table = reader->reader.heap->number;
	if (!reader->mapped[table])
	{
		MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(reader->maps));

		reader->maps[table] = convert_tuples_by_name(slot->tts_tupleDescriptor, reader->desc);
		reader->mapped[table] = true;
		MemoryContextSwitchTo(old);
	}
	if (reader->maps[table] == NULL)
		return slot;
	execute_attr_map_slot(reader->maps[table]->attrMap, slot, reader->converted);
	reader->converted->tts_tableOid = slot->tts_tableOid;
	reader->converted->tts_tid = slot->tts_tid;
	return reader->converted;
}

/*
 * Begin to check rows of the first of the named indexes with those of the last.
 */
static void
begin_check(ShDupRowCheck *check, const ShDupHeaps *heaps, Snapshot snapshot)
{
	check->estate = CreateExecutorState();
	begin_reader(&check->a, heaps, 0, snapshot, check->estate);
	begin_reader(&check->b, heaps, heaps->nsides - 1, snapshot, check->estate);
	check->row = NO_ROW;
	check->context = AllocSetContextCreate(CurrentMemoryContext, "simhash row to check",
										   ALLOCSET_DEFAULT_SIZES);
}

static bool
check_rows(ShDupRowCheck *check, ShPairsRow a, ShPairsRow b)
{
	bool		result;

	if (a != check->row)
	{
		MemoryContextReset(check->context);
		check->hopeful = check->keep(check, read_row(&check->a, a));
		check->row = a;
	}
	result = check->hopeful && check->holds(check, read_row(&check->b, b));
	ResetPerTupleExprContext(check->estate);
	return result;
}

/*
 * Are rows a and b the same?  Unknown counts as false.  To check a row against
 * several others, call this with the same a.  Kinds of rows are ignored.  Without a
 * check they are.
 */
bool
shdup_check_rows(ShDupRowCheck *check, ShPairsRow a, ShPairsRow b)
{
	bool		result = true;

	if (check == NULL)
		return true;
	CHECK_FOR_INTERRUPTS();
	for (; result && check != NULL; check = check->next)
		result = check_rows(check, a & SHIDX_MAX_TID, b & SHIDX_MAX_TID);
	shdup_progress_checked();
	return result;
}

/*
 * Release all pins, after some rows: the search may go on for long, and nobody should
 * wait for a pin.
 */
void
shdup_check_release(ShDupRowCheck *check)
{
	for (; check != NULL; check = check->next)
	{
		/* what has been kept may point to its page */
		check->row = NO_ROW;
		shdup_reader_release(&check->a.reader);
		shdup_reader_release(&check->b.reader);
	}
}

void
shdup_check_end(ShDupRowCheck *check)
{
	while (check != NULL)
	{
		ShDupRowCheck *next = check->next;

		shdup_reader_end(&check->a.reader);
		shdup_reader_end(&check->b.reader);
		MemoryContextDelete(check->context);
		ExecResetTupleTable(check->estate->es_tupleTable, false);
		FreeExecutorState(check->estate);
		pfree(check);
		check = next;
	}
}

/*
 * A value of a type of this length that is neither stored out of line nor
 * compressed, so that reading it again takes no time.
 */
static Datum
plain_value(Datum value, int16 length)
{
	if (length == -1 && VARATT_IS_EXTENDED(DatumGetPointer(value)))
		return PointerGetDatum(detoast_attr((struct varlena *) DatumGetPointer(value)));
	return value;
}

/* where the values of one of the two rows are */
typedef struct Operand
{
	Relation	table;			/* the named one */
	AttrNumber	column;			/* of this table */
	ExprState  *expression;		/* if column is 0 */
} Operand;

typedef struct ClassCheck
{
	ShDupRowCheck base;
	FmgrInfo	operator;
	double		similarity;		/* third argument of its function, or 0 if
								 * there is none */
	Oid			collation;
	int16		length;			/* of a value */
	bool		by_value;
	Operand		a;
	Operand		b;
	Datum		value;			/* of row a */
} ClassCheck;

/*
 * The value of a row, valid until another row is put into the slot, or until the
 * per-tuple context is reset.
 *
 * Runs functions of the index, as the owner of the table.
 */
static Datum
read_value(ClassCheck *check, const Operand *operand, TupleTableSlot *slot, bool *isnull)
{
	ExprContext *context = GetPerTupleExprContext(check->base.estate);
	ShDupCaller caller;
	Datum		result;

	if (operand->column != 0)
		return slot_getattr(slot, operand->column, isnull);
	shdup_become_owner(&caller, operand->table);
	context->ecxt_scantuple = slot;
	result = ExecEvalExprSwitchContext(operand->expression, context, isnull);
	shdup_become_caller(&caller);
	return result;
}

static bool
keep_value(ShDupRowCheck *base, TupleTableSlot *a)
{
	ClassCheck *check = (ClassCheck *) base;
	bool		isnull;
	Datum		value = read_value(check, &check->a, a, &isnull);
	MemoryContext old;

	if (isnull)
		return false;
	old = MemoryContextSwitchTo(base->context);
	check->value = plain_value(value, check->length);
	if (check->a.column == 0)
		check->value = datumCopy(check->value, check->by_value, check->length);
	MemoryContextSwitchTo(old);
	return true;
}

/*
 * Is the operator true for the value that has been kept and that of row b?
 */
static bool
operator_holds(ShDupRowCheck *base, TupleTableSlot *b)
{
	ClassCheck *check = (ClassCheck *) base;

	LOCAL_FCINFO(fcinfo, 3);
	bool		isnull;
	Datum		value = read_value(check, &check->b, b, &isnull);
	MemoryContext old;
	Datum		result;

	if (isnull)
		return false;
	old = MemoryContextSwitchTo(GetPerTupleMemoryContext(base->estate));
	InitFunctionCallInfoData(*fcinfo, &check->operator, check->similarity > 0 ? 3 : 2,
							 check->collation, NULL, NULL);
	fcinfo->args[0].value = check->value;
	fcinfo->args[0].isnull = false;
	fcinfo->args[1].value = value;
	fcinfo->args[1].isnull = false;
	fcinfo->args[2].value = Float8GetDatum(check->similarity);
	fcinfo->args[2].isnull = false;
	result = FunctionCallInvoke(fcinfo);
	MemoryContextSwitchTo(old);
	return !fcinfo->isnull && DatumGetBool(result);
}

/*
 * Find out where the values of a side are.
 */
static void
find_operand(ClassCheck *check, Operand *operand, const ShDupOpened *named)
{
	EState	   *estate = check->base.estate;
	int			last = IndexRelationGetNumberOfKeyAttributes(named->index) - 1;
	ShDupCaller caller;
	MemoryContext old;

	operand->table = named->heap;
	operand->column = named->index->rd_index->indkey.values[last];
	if (operand->column != 0)
		return;
	shdup_become_owner(&caller, named->heap);
	old = MemoryContextSwitchTo(estate->es_query_cxt);
	operand->expression = ExecPrepareExpr(llast(RelationGetIndexExpressions(named->index)),
										  estate);
	MemoryContextSwitchTo(old);
	shdup_become_caller(&caller);
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
find_row_operator(ClassCheck *check, Relation index, Oid operator)
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
 * by the operator of their operator class, or its function with a similarity if that is
 * not 0, and then by another check unless that is NULL.  Returns the other one if the
 * class has no operator, because values are fingerprints.
 *
 * The tables must be open until the end, and the snapshot must be registered
 * since before the rows were read from their indexes.
 */
ShDupRowCheck *
shdup_class_check_begin(const ShDupHeaps *heaps, Snapshot snapshot, double similarity,
						ShDupRowCheck *next)
{
	int			radius;
	Oid			operator = shdup_named_operator(&heaps->sides[0], &radius);
	ClassCheck *check;

	if (!OidIsValid(operator))
		return next;
	check = palloc0(sizeof(ClassCheck));
	check->similarity = similarity;
	check->base.next = next;
	check->base.keep = keep_value;
	check->base.holds = operator_holds;
	begin_check(&check->base, heaps, snapshot);
	find_row_operator(check, heaps->sides[0].named.index, operator);
	find_operand(check, &check->a, &heaps->sides[0].named);
	find_operand(check, &check->b, &heaps->sides[heaps->nsides - 1].named);
	return &check->base;
}

typedef struct SameCheck
{
	ShDupRowCheck base;
	ShDupClause clause;
	Node	   *expression;		/* of rows of the named table */
	ExprState  *condition;
	Bitmapset  *columns;		/* of row a that it needs, numbers from 0 */
	TupleTableSlot *values;		/* row a, with these */
} SameCheck;

static const ShDupClause same_clause = {
	.argument = "same",
	.prefix = "SELECT WHERE ",
	.kind = "a condition",
	.hint = "Write what follows WHERE in a query of the rows a and b, such as 'simhash_jaccard(a.body, b.body) >= 0.8'."
};

/*
 * Get the condition of the query, which must have nothing else.
 */
static Node *
parse_condition(ParseState *pstate, const ShDupClause *clause)
{
	SelectStmt *select = shdup_clause_parse(pstate, clause);
	Node	   *condition = select->whereClause;

	select->whereClause = NULL;
	shdup_clause_refuse_rest(pstate, clause, select);
	shdup_clause_refuse_subqueries(pstate, clause, condition);
	return condition;
}

/*
 * Reject system columns that rows lose when they are converted to those of a
 * partitioned table.
 */
static bool
refuse_system_columns(Node *node, void *pstate)
{
	if (node == NULL)
		return false;
	if (IsA(node, Var))
	{
		Var		   *var = (Var *) node;

		if (var->varattno < 0 && var->varattno != SelfItemPointerAttributeNumber &&
			var->varattno != TableOidAttributeNumber)
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("system columns other than ctid and tableoid are not allowed in \"same\""),
					 parser_errposition(pstate, var->location)));
	}
	return expression_tree_walker(node, refuse_system_columns, pstate);
}

static void
add_checked_row(ParseState *pstate, Relation table, const char *name)
{
	ParseNamespaceItem *item = addRangeTableEntryForRelation(pstate, table, AccessShareLock,
															 makeAlias(name, NIL), false, true);

	addNSItemToQuery(pstate, item, false, true, true);
}

static Node *
analyze_condition(ParseState *pstate, Relation table, const ShDupClause *clause, Node *condition)
{
	Node	   *expression = transformExpr(pstate, condition, EXPR_KIND_OTHER);

	shdup_clause_check(pstate, clause, expression);
	refuse_system_columns(expression, pstate);
	expression = coerce_to_boolean(pstate, expression, "\"same\"");
	assign_expr_collations(pstate, expression);
	expression = shcompat_expand_generated_columns(expression, table, SAME_A);
	return shcompat_expand_generated_columns(expression, table, SAME_B);
}

/*
 * Read the text of a condition on two rows of a table, which is open: a is the
 * row that is judged, b one that comes before it.
 *
 * Reports an error, with its position, if the text is not such a condition,
 * contains anything that is not allowed, or names columns on which the current
 * user lacks SELECT.  The text must live as long as the check.
 */
static void
parse_same(SameCheck *check, Relation table, const char *text)
{
	ErrorContextCallback context;
	ParseState *pstate = make_parsestate(NULL);
	Node	   *condition;

	check->clause = same_clause;
	check->clause.text = text;

	shdup_clause_start_parsing(&context, &check->clause);

	condition = parse_condition(pstate, &check->clause);
	add_checked_row(pstate, table, "a");
	add_checked_row(pstate, table, "b");
	check->expression = analyze_condition(pstate, table, &check->clause, condition);
	shcompat_check_permissions(pstate);

	shdup_clause_stop(&context);
	free_parsestate(pstate);
}

/*
 * Prepare the condition.  Reports an error if the current user lacks EXECUTE
 * on functions in it.
 */
static void
prepare_condition(SameCheck *check)
{
	ErrorContextCallback context;
	Expr	   *expression;
	MemoryContext old;

	shdup_clause_start_evaluating(&context, &check->clause);
	old = MemoryContextSwitchTo(check->base.estate->es_query_cxt);
	expression = expression_planner((Expr *) copyObject(check->expression));
	ChangeVarNodes((Node *) expression, SAME_A, OUTER_VAR, 0);
	ChangeVarNodes((Node *) expression, SAME_B, INNER_VAR, 0);
	check->condition = ExecInitExpr(expression, NULL);
	MemoryContextSwitchTo(old);
	shdup_clause_stop(&context);
}

/*
 * Find the columns of row a that the condition needs.
 */
static void
find_columns(SameCheck *check)
{
	int			natts = check->base.a.desc->natts;
	Bitmapset  *offset = NULL;
	int			column = -1;

	pull_varattnos(check->expression, SAME_A, &offset);
	if (bms_is_member(-FirstLowInvalidHeapAttributeNumber, offset))
	{
		/* the whole row */
		check->columns = natts > 0 ? bms_add_range(NULL, 0, natts - 1) : NULL;
		return;
	}
	while ((column = bms_next_member(offset, column)) >= 0)
	{
		int			number = column + FirstLowInvalidHeapAttributeNumber;

		if (number > 0)
			check->columns = bms_add_member(check->columns, number - 1);
	}
}

static bool
keep_columns(ShDupRowCheck *base, TupleTableSlot *a)
{
	SameCheck  *check = (SameCheck *) base;
	TupleDesc	desc = base->a.desc;
	TupleTableSlot *values = check->values;
	MemoryContext old;
	int			column = -1;

	ExecClearTuple(values);
	memset(values->tts_isnull, true, desc->natts * sizeof(bool));
	old = MemoryContextSwitchTo(base->context);
	while ((column = bms_next_member(check->columns, column)) >= 0)
	{
		Datum		value = slot_getattr(a, column + 1, &values->tts_isnull[column]);

		if (!values->tts_isnull[column])
			value = plain_value(value, TupleDescAttr(desc, column)->attlen);
		values->tts_values[column] = value;
	}
	MemoryContextSwitchTo(old);
	ExecStoreVirtualTuple(values);
	values->tts_tableOid = a->tts_tableOid;
	values->tts_tid = a->tts_tid;
	return true;
}

/*
 * Does the condition hold for the row that has been kept and b?
 *
 * Runs functions of the condition, as the current user.
 */
static bool
condition_holds(ShDupRowCheck *base, TupleTableSlot *b)
{
	SameCheck  *check = (SameCheck *) base;
	ErrorContextCallback error_context;
	ExprContext *context = GetPerTupleExprContext(base->estate);
	bool		isnull;
	Datum		result;

	shdup_clause_start_evaluating(&error_context, &check->clause);
	context->ecxt_outertuple = check->values;
	context->ecxt_innertuple = b;
	result = ExecEvalExprSwitchContext(check->condition, context, &isnull);
	shdup_clause_stop(&error_context);
	return !isnull && DatumGetBool(result);
}

/*
 * Begin to check rows of a single index by the condition in the text.  Otherwise as
 * shdup_class_check_begin.
 */
ShDupRowCheck *
shdup_same_check_begin(const ShDupHeaps *heaps, Snapshot snapshot, const char *text)
{
	SameCheck  *check = palloc0(sizeof(SameCheck));

	check->base.keep = keep_columns;
	check->base.holds = condition_holds;
	parse_same(check, heaps->sides[0].named.heap, text);
	begin_check(&check->base, heaps, snapshot);
	prepare_condition(check);
	find_columns(check);
	check->values = ExecInitExtraTupleSlot(check->base.estate, check->base.a.desc,
										   &TTSOpsVirtual);
	return &check->base;
}
