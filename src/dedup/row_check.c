/*-------------------------------------------------------------------------
 *
 * row_check.c
 *	  Checking pairs of rows whose fingerprints are near: by the columns before the
 *	  fingerprint, which must be equal, by the operator of the operator class of the
 *	  index, and by the condition "same".
 *
 * A row is checked against one candidate after the other.  What is needed of it is
 * read from the table, or computed by the expressions of the index, once for all of
 * them, and values stored out of line or compressed are also fetched only once.  All
 * rows are those of the named table: the columns of partitions may have other numbers.
 *
 * Rows with equal columns before the fingerprint have entries of one group, but rows of
 * a group need not have equal columns, since it is a hash.  Almost always they have.  So
 * if nothing else decides, each row is compared with the first one of its group when it
 * is looked up, page by page.  If it differs, it is odd.  Only pairs of two odd rows are
 * left to be checked.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/detoast.h"
#include "access/sysattr.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_index.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type_d.h"
#include "common/pg_prng.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "rewrite/rewriteManip.h"
#include "utils/acl.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "compat.h"
#include "dedup/open.h"
#include "dedup/progress.h"
#include "dedup/rows.h"

/* in place of the number of a row: none has been read */
#define NO_ROW		PG_UINT64_MAX

/* range table indexes of the two rows in the condition "same" */
#define SAME_A		1
#define SAME_B		2

/* the first row that was seen of a group */
typedef struct GroupEntry
{
	uint32		group;
	char		status;
	Datum	   *values;			/* of the columns */
} GroupEntry;

/*
 * Anybody can compute groups that collide, so their place in the hash table
 * depends on a secret.
 */
static inline uint32
hash_group(uint64 secret, uint32 group)
{
	return (uint32) ((secret | 1) * (group + (secret >> 32)) >> 32);
}

#define SH_PREFIX groups
#define SH_ELEMENT_TYPE GroupEntry
#define SH_KEY_TYPE uint32
#define SH_KEY group
#define SH_HASH_KEY(table, key) hash_group(*(uint64 *) (table)->private_data, key)
#define SH_EQUAL(table, a, b) ((a) == (b))
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

/* the fraction of maintenance_work_mem that first rows may take */
#define GROUPS_FRACTION	0.5

/* how the values of a column of the index are compared, and copied */
typedef struct Column
{
	FmgrInfo	operator;
	int			narguments;		/* of its function */
	Oid			collation;
	int16		length;
	bool		by_value;
} Column;

/* the columns of the index for rows of a side */
typedef struct Side
{
	ShDupRowReader reader;
	Relation	table;			/* the named one */
	AttrNumber *columns;		/* of this table; 0 for an expression */
	ExprState **expressions;
	bool		has_expressions;
} Side;

struct ShDupRowCheck
{
	EState	   *estate;
	Side		a;
	Side		b;

	/* what is compared by operators: so many columns of the index */
	int			ncolumns;
	Column	   *columns;
	double		similarity;		/* third argument of the last one */

	/* the condition "same", unless it is NULL */
	ExprState  *condition;
	ShDupClause clause;
	Bitmapset  *needed;			/* columns of row a, numbers from 0 */

	/* row a; what is not in the slot is in the context */
	ShPairsRow	row;			/* or NO_ROW */
	bool		hopeful;		/* could be the same as another */
	Datum	   *values;
	TupleTableSlot *slot;
	MemoryContext context;

	/* if only the columns before the fingerprint decide */
	bool		by_group;
	bool		has_odd;		/* some rows were odd, */
	bool		lacks_memory;	/* some of them for lack of memory */
	uint64		secret;
	struct groups_hash *groups;
	MemoryContext groups_context;
};

/*
 * Compute the columns of the index for a row of a side.  Returns false if any is null,
 * which equals nothing.  They are valid until another row is read, or until the
 * per-tuple context is reset.
 *
 * Runs functions of the index, as the owner of the table.
 */
static bool
compute_columns(ShDupRowCheck *check, const Side *side, TupleTableSlot *row, Datum *values)
{
	ExprContext *context = GetPerTupleExprContext(check->estate);
	bool		any_null = false;
	ShDupCaller caller;

	if (side->has_expressions)
		shdup_become_owner(&caller, side->table);
	context->ecxt_scantuple = row;
	for (int i = 0; i < check->ncolumns; i++)
	{
		bool		isnull;

		values[i] = side->columns[i] != 0 ? slot_getattr(row, side->columns[i], &isnull) :
			ExecEvalExprSwitchContext(side->expressions[i], context, &isnull);
		any_null |= isnull;
	}
	if (side->has_expressions)
		shdup_become_caller(&caller);
	return !any_null;
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
			value = plain_value(value, TupleDescAttr(kept->tts_tupleDescriptor, column)->attlen);
		kept->tts_values[column] = value;
	}
	ExecStoreVirtualTuple(kept);
	kept->tts_tableOid = a->tts_tableOid;
	kept->tts_tid = a->tts_tid;
}

/*
 * Copy the values of a row of a side into the current memory context.
 */
static void
copy_columns(const ShDupRowCheck *check, const Side *side, Datum *to, const Datum *from,
			 bool computed_only)
{
	for (int i = 0; i < check->ncolumns; i++)
	{
		const Column *column = &check->columns[i];
		Datum		value = from[i];

		to[i] = plain_value(value, column->length);
		/* or else it is a copy already */
		if (to[i] == value && (!computed_only || side->columns[i] == 0))
			to[i] = datumCopy(value, column->by_value, column->length);
	}
}

/*
 * Keep what is needed of row a.  Returns false if it is the same as no other.
 */
static bool
keep_checked_row(ShDupRowCheck *check, TupleTableSlot *a)
{
	MemoryContext old;

	if (!compute_columns(check, &check->a, a, check->values))
		return false;
	old = MemoryContextSwitchTo(check->context);
	copy_columns(check, &check->a, check->values, check->values, true);
	if (check->condition != NULL)
		keep_needed(check, a);
	MemoryContextSwitchTo(old);
	return true;
}

/*
 * Is the operator of a column true for the values of two rows?
 */
static bool
operator_holds(ShDupRowCheck *check, Column *column, Datum a, Datum b)
{
	LOCAL_FCINFO(fcinfo, 3);
	Datum		result;

	InitFunctionCallInfoData(*fcinfo, &column->operator, column->narguments, column->collation,
							 NULL, NULL);
	fcinfo->args[0].value = a;
	fcinfo->args[0].isnull = false;
	fcinfo->args[1].value = b;
	fcinfo->args[1].isnull = false;
	fcinfo->args[2].value = Float8GetDatum(check->similarity);
	fcinfo->args[2].isnull = false;
	result = FunctionCallInvoke(fcinfo);
	return !fcinfo->isnull && DatumGetBool(result);
}

/*
 * Do the operators hold for the columns of two rows?
 */
static bool
columns_agree(ShDupRowCheck *check, const Datum *a, const Datum *b)
{
	MemoryContext old = MemoryContextSwitchTo(GetPerTupleMemoryContext(check->estate));
	bool		result = true;

	for (int i = 0; result && i < check->ncolumns; i++)
		result = operator_holds(check, &check->columns[i], a[i], b[i]);
	MemoryContextSwitchTo(old);
	return result;
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
	Datum		values[INDEX_MAX_KEYS];

	return compute_columns(check, &check->b, b, values) &&
		columns_agree(check, check->values, values) &&
		(check->condition == NULL || condition_holds(check, b));
}

/*
 * Are rows a and b the same?  Unknown counts as false.  To check a row against
 * several others, call this with the same a.  Without a check they are.
 */
bool
shdup_check_rows(ShDupRowCheck *check, ShPairsRow a, ShPairsRow b)
{
	bool		result;

	if (check == NULL)
		return true;
	CHECK_FOR_INTERRUPTS();
	if (check->by_group && (a & b & SHDUP_ODD) == 0)
		return ((a ^ b) & SHDUP_ODD) == 0;
	a &= SHIDX_MAX_TID;
	b &= SHIDX_MAX_TID;
	if (a != check->row)
	{
		MemoryContextReset(check->context);
		check->hopeful = keep_checked_row(check, shdup_read(&check->a.reader, a));
		check->row = a;
	}
	result = check->hopeful && row_holds(check, shdup_read(&check->b.reader, b));
	ResetPerTupleExprContext(check->estate);
	shdup_progress_checked();
	return result;
}

/*
 * Do only the columns before the fingerprint decide?
 */
bool
shdup_check_is_by_group(const ShDupRowCheck *check)
{
	return check->by_group;
}

/*
 * Are rows odd since there was no room for the first rows of their groups?
 */
bool
shdup_check_lacks_memory(const ShDupRowCheck *check)
{
	return check->lacks_memory;
}

/*
 * Do fingerprints decide alone, since no row that has been entered is odd?
 */
bool
shdup_check_is_needless(const ShDupRowCheck *check)
{
	return check == NULL || (check->by_group && !check->has_odd);
}

/*
 * The first row of a group, or the given values if there is none yet.  NULL if there is no
 * room for them.
 */
static const Datum *
first_of_group(ShDupRowCheck *check, const Side *side, uint32 group, const Datum *values)
{
	bool		found = false;
	GroupEntry *entry;
	MemoryContext old;

	if (MemoryContextMemAllocated(check->groups_context, false) >
		maintenance_work_mem * 1024.0 * GROUPS_FRACTION)
	{
		entry = groups_lookup(check->groups, group);
		check->lacks_memory |= entry == NULL;
		return entry != NULL ? entry->values : NULL;
	}
	entry = groups_insert(check->groups, group, &found);
	if (found)
		return entry->values;
	old = MemoryContextSwitchTo(check->groups_context);
	entry->values = palloc(check->ncolumns * sizeof(Datum));
	copy_columns(check, side, entry->values, values, false);
	MemoryContextSwitchTo(old);
	return values;
}

/*
 * Enter a row that has been looked up, by the group of its entry.  Returns its number, with
 * SHDUP_ODD if it differs from the first row of its group, or might; or SHDUP_INVISIBLE
 * if a column before the fingerprint is null, so that it is the same as no other.
 */
ShPairsRow
shdup_check_enter(ShDupRowCheck *check, uint32 group, ShPairsRow row)
{
	Datum		values[INDEX_MAX_KEYS];
	Side	   *side;

	if (check == NULL || !check->by_group)
		return row;
	side = shdup_side_of(check->a.reader.heaps, row) == 0 ? &check->a : &check->b;
	if (!compute_columns(check, side, shdup_read(&side->reader, row), values))
		row = SHDUP_INVISIBLE;
	else
	{
		const Datum *first = first_of_group(check, side, group, values);

		if (first != values && (first == NULL || !columns_agree(check, first, values)))
		{
			row |= SHDUP_ODD;
			check->has_odd = true;
		}
	}
	ResetPerTupleExprContext(check->estate);
	return row;
}

/*
 * Forget the rows that have been entered: later ones need not be the same.
 */
void
shdup_check_forget(ShDupRowCheck *check)
{
	if (check == NULL || !check->by_group || check->groups->members == 0)
		return;
	MemoryContextReset(check->groups_context);
	check->groups = groups_create(check->groups_context, 64, &check->secret);
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
	shdup_reader_release(&check->a.reader);
	shdup_reader_release(&check->b.reader);
}

void
shdup_check_end(ShDupRowCheck *check)
{
	if (check == NULL)
		return;
	shdup_reader_end(&check->a.reader);
	shdup_reader_end(&check->b.reader);
	MemoryContextDelete(check->context);
	MemoryContextDelete(check->groups_context);
	ExecResetTupleTable(check->estate->es_tupleTable, false);
	FreeExecutorState(check->estate);
	pfree(check);
}

/*
 * The expressions among the first columns of an index, as the catalog has them: the
 * others may be expensive, or not allowed in parallel mode.
 */
List *
shdup_index_expressions(Relation index, int ncolumns)
{
	int			count = 0;

	for (int i = 0; i < ncolumns; i++)
	{
		if (index->rd_index->indkey.values[i] == 0)
			count++;
	}
	if (count == 0)
		return NIL;
	return list_truncate(shdup_index_trees(index->rd_indextuple, Anum_pg_index_indexprs), count);
}

/*
 * How many columns of the named indexes decide: those before the fingerprint and, if its
 * class has an operator, the last one.
 */
int
shdup_checked_columns(const ShDupHeaps *heaps)
{
	Relation	index = heaps->sides[0].named.index;
	int			radius;

	return shidx_fp_column(index) + OidIsValid(shdup_near_operator(index, &radius));
}

/*
 * The operator by which a column of an index is compared: an equality, or that of its
 * operator class for the last one.
 */
Oid
shdup_column_operator(const ShDupHeaps *heaps, int column)
{
	Relation	index = heaps->sides[0].named.index;
	Oid			type = index->rd_opcintype[column];
	int			radius;
	Oid			operator;

	if (column == shidx_fp_column(index))
		return shdup_near_operator(index, &radius);
	operator = get_opfamily_member(index->rd_opfamily[column], type, type,
								   SIMHASH_STRATEGY_EQUAL);
	if (!OidIsValid(operator))
		elog(ERROR, "missing operator %d(%u,%u) in opfamily %u", SIMHASH_STRATEGY_EQUAL, type,
			 type, index->rd_opfamily[column]);
	return operator;
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
 * Look up the operator of a column, as if it belonged to an expression, of which some
 * functions ask for the types of their arguments.
 */
static void
find_row_operator(ShDupRowCheck *check, const ShDupHeaps *heaps, int i)
{
	Relation	index = heaps->sides[0].named.index;
	Oid			operator = shdup_column_operator(heaps, i);
	Form_pg_attribute attribute = TupleDescAttr(RelationGetDescr(index), i);
	Expr	   *value = (Expr *) makeNullConst(attribute->atttypid, attribute->atttypmod,
											   attribute->attcollation);
	Column	   *column = &check->columns[i];

	column->narguments = i == shidx_fp_column(index) && check->similarity > 0 ? 3 : 2;
	column->collation = index->rd_indcollation[i];
	column->length = attribute->attlen;
	column->by_value = attribute->attbyval;
	fmgr_info(get_function(operator), &column->operator);
	fmgr_info_set_expr((Node *) make_opclause(operator, BOOLOID, false, value, value,
											  InvalidOid, column->collation),
					   &column->operator);
}

/*
 * Begin to read rows of a side, and to compute the columns of its index.
 */
static void
begin_side(ShDupRowCheck *check, Side *side, const ShDupHeaps *heaps, int number,
		   Snapshot snapshot)
{
	const ShDupOpened *named = &heaps->sides[number].named;
	EState	   *estate = check->estate;
	MemoryContext old;
	List	   *expressions;
	ShDupCaller caller;

	shdup_reader_begin(&side->reader, heaps, number, snapshot);
	side->table = named->heap;
	side->columns = palloc(check->ncolumns * sizeof(AttrNumber));
	side->expressions = palloc0(check->ncolumns * sizeof(ExprState *));
	shdup_become_owner(&caller, named->heap);
	old = MemoryContextSwitchTo(estate->es_query_cxt);
	expressions = shdup_index_expressions(named->index, check->ncolumns);
	side->has_expressions = expressions != NIL;
	for (int i = 0; i < check->ncolumns; i++)
	{
		side->columns[i] = named->index->rd_index->indkey.values[i];
		if (side->columns[i] != 0)
			continue;
		side->expressions[i] = ExecPrepareExpr(linitial(expressions), estate);
		expressions = list_delete_first(expressions);
	}
	MemoryContextSwitchTo(old);
	shdup_become_caller(&caller);
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
 * columns before the fingerprint, the operator of the class, which takes a similarity
 * unless that is 0, and the condition "same" unless it is NULL.  Returns NULL if
 * fingerprints alone decide.
 *
 * The tables must be open until the end, and the snapshot must be registered
 * since before the rows were read from their indexes.
 */
ShDupRowCheck *
shdup_check_begin(const ShDupHeaps *heaps, Snapshot snapshot, double similarity,
				  const char *same)
{
	int			ncolumns = shdup_checked_columns(heaps);
	ShDupRowCheck *check;

	if (ncolumns == 0 && same == NULL)
		return NULL;
	check = palloc0(sizeof(ShDupRowCheck));
	check->estate = CreateExecutorState();
	check->row = NO_ROW;
	check->context = AllocSetContextCreate(CurrentMemoryContext, "simhash row to check",
										   ALLOCSET_DEFAULT_SIZES);
	if (same != NULL)
		prepare_condition(check, heaps->sides[0].named.heap, same);
	check->similarity = similarity;
	check->ncolumns = ncolumns;
	check->columns = palloc0(ncolumns * sizeof(Column));
	check->values = palloc(ncolumns * sizeof(Datum));
	for (int i = 0; i < ncolumns; i++)
		find_row_operator(check, heaps, i);
	begin_side(check, &check->a, heaps, 0, snapshot);
	begin_side(check, &check->b, heaps, heaps->nsides - 1, snapshot);
	check->by_group = same == NULL && ncolumns == shidx_fp_column(heaps->sides[0].named.index);
	check->secret = pg_prng_uint64(&pg_global_prng_state);
	check->groups_context = AllocSetContextCreate(CurrentMemoryContext, "simhash groups",
												  ALLOCSET_DEFAULT_SIZES);
	check->groups = groups_create(check->groups_context, 64, &check->secret);
	return check;
}
