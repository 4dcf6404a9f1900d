/*-------------------------------------------------------------------------
 *
 * columns.c
 *	  The values that rows have for columns of an index, and whether these are equal, or
 *	  similar.
 *
 * All rows are those of the named table of a side: the columns of partitions may have other
 * numbers.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/detoast.h"
#include "access/transam.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_index.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type_d.h"
#include "common/hashfn.h"
#include "executor/executor.h"
#include "nodes/makefuncs.h"
#include "utils/acl.h"
#include "utils/datum.h"
#include "utils/expandeddatum.h"
#include "utils/lsyscache.h"

#include "compat.h"
#include "dedup/open.h"
#include "dedup/rows.h"
#include "type/hash.h"

/* how the values of a column are compared, hashed and copied */
typedef struct Column
{
	FmgrInfo	operator;
	FmgrInfo	hash;			/* of a column before the fingerprint, */
	bool		equal_bits;		/* unless equal values have equal bits */
	bool		by_image;		/* or values are compared byte by byte */
	Oid			collation;
	int16		length;
	bool		by_value;
} Column;

/* where the values come from, for rows of a side */
typedef struct Side
{
	Relation	table;			/* the named one */
	AttrNumber *columns;		/* of this table; 0 for an expression */
	ExprState **expressions;
	bool		has_expressions;
} Side;

struct ShDupColumns
{
	EState	   *estate;
	int			count;
	Column	   *columns;
	Side		sides[SHDUP_MAX_SIDES];
};

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
	ShIdxMeaning meaning;

	return shidx_fp_column(index) + OidIsValid(shdup_near_operator(index, &meaning));
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
	ShIdxMeaning meaning;
	Oid			operator;

	if (column == shidx_fp_column(index))
		return shdup_near_operator(index, &meaning);
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
find_column_operator(Column *column, const ShDupHeaps *heaps, int number)
{
	Relation	index = heaps->sides[0].named.index;
	Oid			operator;
	Form_pg_attribute attribute = TupleDescAttr(RelationGetDescr(index), number);
	Expr	   *value = (Expr *) makeNullConst(attribute->atttypid, attribute->atttypmod,
											   attribute->attcollation);

	column->collation = index->rd_indcollation[number];
	column->length = attribute->attlen;
	column->by_value = attribute->attbyval;
	if (column->by_image)
		return;
	operator = shdup_column_operator(heaps, number);
	if (number < shidx_fp_column(index))
		(void) shidx_find_hash(index, number, InvalidOid, &column->hash);
	/* the server's hash functions of such types leave differences out, whatever the seed */
	column->equal_bits = column->by_value && column->length == sizeof(uint64) &&
		index->rd_opcintype[number] < FirstGenbkiObjectId &&
		index->rd_opcintype[number] != FLOAT8OID;
	fmgr_info(get_function(operator), &column->operator);
	fmgr_info_set_expr((Node *) make_opclause(operator, BOOLOID, false, value, value,
											  InvalidOid, column->collation),
					   &column->operator);
}

/*
 * Prepare to compute the columns for rows of a side.
 */
static void
begin_side(ShDupColumns *columns, Side *side, const ShDupOpened *named, int first)
{
	EState	   *estate = columns->estate;
	MemoryContext old;
	List	   *expressions;
	ShDupCaller caller;

	side->table = named->heap;
	side->columns = palloc(columns->count * sizeof(AttrNumber));
	side->expressions = palloc0(columns->count * sizeof(ExprState *));
	shdup_become_owner(&caller, named->heap);
	old = MemoryContextSwitchTo(estate->es_query_cxt);
	expressions = shdup_index_expressions(named->index, first + columns->count);
	for (int i = -first; i < columns->count; i++)
	{
		AttrNumber	column = named->index->rd_index->indkey.values[first + i];

		if (i >= 0)
			side->columns[i] = column;
		if (column != 0)
			continue;
		if (i >= 0)
		{
			side->expressions[i] = ExecPrepareExpr(linitial(expressions), estate);
			side->has_expressions = true;
		}
		expressions = list_delete_first(expressions);
	}
	MemoryContextSwitchTo(old);
	shdup_become_caller(&caller);
}

/*
 * Begin to compute and compare so many columns of the named indexes, from one on, 0 for the
 * first.  With images, values of the last column are equal if their bytes are.  The tables
 * must be open until the end.
 */
ShDupColumns *
shdup_columns_begin(const ShDupHeaps *heaps, int first, int count, bool images)
{
	ShDupColumns *columns = palloc0(sizeof(ShDupColumns));

	columns->estate = CreateExecutorState();
	columns->count = count;
	columns->columns = palloc0(count * sizeof(Column));
	for (int i = 0; i < count; i++)
	{
		columns->columns[i].by_image = images &&
			first + i == shidx_fp_column(heaps->sides[0].named.index);
		find_column_operator(&columns->columns[i], heaps, first + i);
	}
	for (int i = 0; i < heaps->nsides; i++)
		begin_side(columns, &columns->sides[i], &heaps->sides[i].named, first);
	return columns;
}

/*
 * Compute the columns for a row of a side.  Returns false if any is null, which equals
 * nothing.  They are valid until the row is gone, or until shdup_columns_reset.
 *
 * Runs functions of the index, as the owner of the table.
 */
bool
shdup_columns_compute(ShDupColumns *columns, int number, TupleTableSlot *row, Datum *values)
{
	const Side *side = &columns->sides[number];
	ExprContext *context = GetPerTupleExprContext(columns->estate);
	bool		any_null = false;
	ShDupCaller caller;

	if (side->has_expressions)
		shdup_become_owner(&caller, side->table);
	context->ecxt_scantuple = row;
	for (int i = 0; i < columns->count; i++)
	{
		bool		isnull;

		values[i] = side->columns[i] != 0 ? slot_getattr(row, side->columns[i], &isnull) :
			ExecEvalExprSwitchContext(side->expressions[i], context, &isnull);
		/* several functions will be called with it */
		values[i] = MakeExpandedObjectReadOnly(values[i], isnull, columns->columns[i].length);
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
Datum
shdup_plain_value(Datum value, int16 length)
{
	if (length == -1 && VARATT_IS_EXTENDED(DatumGetPointer(value)))
		return PointerGetDatum(detoast_attr((struct varlena *) DatumGetPointer(value)));
	return value;
}

/*
 * Copy the columns of a row into the current memory context.
 */
void
shdup_columns_copy(const ShDupColumns *columns, Datum *to, const Datum *from)
{
	for (int i = 0; i < columns->count; i++)
	{
		const Column *column = &columns->columns[i];
		Datum		plain = shdup_plain_value(from[i], column->length);

		/* or else it is a copy already */
		if (plain == from[i])
			plain = datumCopy(from[i], column->by_value, column->length);
		to[i] = plain;
	}
}

/*
 * Is the operator of a column true for the values of two rows?
 */
static bool
operator_holds(Column *column, Datum a, Datum b)
{
	LOCAL_FCINFO(fcinfo, 2);
	Datum		result;

	InitFunctionCallInfoData(*fcinfo, &column->operator, 2, column->collation, NULL, NULL);
	fcinfo->args[0].value = a;
	fcinfo->args[0].isnull = false;
	fcinfo->args[1].value = b;
	fcinfo->args[1].isnull = false;
	result = FunctionCallInvoke(fcinfo);
	return !fcinfo->isnull && DatumGetBool(result);
}

/*
 * Do the operators hold for the columns of two rows?
 */
bool
shdup_columns_agree(const ShDupColumns *columns, const Datum *a, const Datum *b)
{
	MemoryContext old = MemoryContextSwitchTo(GetPerTupleMemoryContext(columns->estate));
	bool		result = true;

	for (int i = 0; result && i < columns->count; i++)
	{
		Column	   *column = &columns->columns[i];

		result = column->by_image ? datum_image_eq(a[i], b[i], column->by_value, column->length) :
			operator_holds(column, a[i], b[i]);
	}
	MemoryContextSwitchTo(old);
	return result;
}

/*
 * Hash the bytes of a value.
 */
static uint64
hash_image(const Column *column, Datum value, uint64 seed)
{
	if (column->by_value)
		return shtype_hash_seeded(&value, sizeof(Datum), seed);
	value = shdup_plain_value(value, column->length);
	if (column->length == -1)
		return shtype_hash_seeded(VARDATA_ANY(DatumGetPointer(value)),
								  VARSIZE_ANY_EXHDR(DatumGetPointer(value)), seed);
	return shtype_hash_seeded(DatumGetPointer(value), datumGetSize(value, false, column->length), seed);
}

/*
 * Hash the columns of a row that are compared for equality: equal ones have equal hashes.
 */
uint64
shdup_columns_hash(const ShDupColumns *columns, const Datum *values, uint64 seed)
{
	MemoryContext old = MemoryContextSwitchTo(GetPerTupleMemoryContext(columns->estate));
	uint64		hash = 0;

	for (int i = 0; i < columns->count; i++)
	{
		Column	   *column = &columns->columns[i];
		uint64		of_column = column->equal_bits || column->by_image ?
			hash_image(column, values[i], seed) :
			DatumGetUInt64(FunctionCall2Coll(&column->hash, column->collation, values[i],
											 UInt64GetDatum(seed)));

		hash = hash_combine64(hash, of_column);
	}
	MemoryContextSwitchTo(old);
	return hash;
}

/*
 * Free what has been computed.
 */
void
shdup_columns_reset(ShDupColumns *columns)
{
	ResetPerTupleExprContext(columns->estate);
}

void
shdup_columns_end(ShDupColumns *columns)
{
	FreeExecutorState(columns->estate);
	pfree(columns);
}
