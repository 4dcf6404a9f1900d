/*-------------------------------------------------------------------------
 *
 * rows.h
 *	  The rows of tables that a snapshot sees: their values, classes of equal ones,
 *	  conditions on them, their order, and whether pairs of them count.
 *
 * What this declares is defined in clause.c, row_reader.c, columns.c, row_class.c,
 * visible_rows.c, row_order.c and row_check.c.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_DEDUP_ROWS_H
#define SIMHASH_DEDUP_ROWS_H

#include "access/tableam.h"
#include "executor/tuptable.h"
#include "nodes/parsenodes.h"
#include "parser/parse_node.h"
#include "storage/buf.h"
#include "utils/rel.h"
#include "utils/snapshot.h"

#include "bits/distance.h"
#include "dedup/heaps.h"
#include "index/index.h"
#include "index/sort.h"
#include "pairs/keys.h"

/* an argument that is a clause of a query, such as an ORDER BY list */
typedef struct ShDupClause
{
	const char *argument;		/* its name */
	const char *prefix;			/* what makes it a query */
	const char *kind;			/* what it must be */
	const char *hint;			/* what to write, where the text is none of
								 * the kind */
	const char *text;			/* the argument */
} ShDupClause;

/* clause.c */
extern void shdup_clause_start_evaluating(ErrorContextCallback *context,
										  const ShDupClause *clause);
extern void shdup_clause_stop(const ErrorContextCallback *context);
extern Query *shdup_clause_analyze(const ShDupClause *clause, Relation table,
								   const List *names);
extern Expr *shdup_clause_plan(const ShDupClause *clause, Relation table, int nrows,
							   Node *expression);

/* in place of the TID of a row that the snapshot does not see */
#define SHDUP_INVISIBLE	0

/* row_reader.c */
extern bool shdup_is_heap(Relation table);
extern void shdup_heap_page_rows(Relation heap, Snapshot snapshot, Buffer buffer,
								 ShIdxSortItem *items, size_t count);
extern void shdup_heap_page_settle(Relation heap, Snapshot snapshot, Buffer buffer);
extern void shdup_heap_page_slot(Relation heap, Buffer buffer, ShIdxRow tid,
								 TupleTableSlot *slot);

/* a table that has been read from */
typedef struct ShDupReadTable
{
	TupleTableSlot *slot;		/* or NULL */
	struct TupleConversionMap *map; /* to rows of the named table, or NULL */
	TupleTableSlot *converted;	/* with a map */
} ShDupReadTable;

/* the reading of rows that a snapshot sees, by their numbers */
typedef struct ShDupRowReader
{
	const ShDupHeaps *heaps;
	Snapshot	snapshot;
	TupleDesc	desc;			/* of the named table */
	const ShDupHeap *heap;		/* of the last row that was read, if any */
	Buffer		buffer;			/* the last page of a heap, pinned */
	ShDupReadTable *tables;		/* by number */
	MemoryContext context;
} ShDupRowReader;

/* row_reader.c */
extern TupleTableSlot *shdup_reader_slot(ShDupRowReader *reader, const ShDupHeap *heap);
extern TupleTableSlot *shdup_reader_convert(ShDupRowReader *reader, const ShDupHeap *heap);
extern void shdup_reader_begin(ShDupRowReader *reader, const ShDupHeaps *heaps, int side,
							   Snapshot snapshot);
extern TupleTableSlot *shdup_read(ShDupRowReader *reader, ShPairsRow row);
extern void shdup_reader_release(ShDupRowReader *reader);
extern void shdup_reader_end(ShDupRowReader *reader);

typedef struct ShDupColumns ShDupColumns;

/* columns.c: of an index */
extern List *shdup_index_expressions(Relation index, int ncolumns);
extern int	shdup_checked_columns(const ShDupHeaps *heaps);
extern Oid	shdup_column_operator(const ShDupHeaps *heaps, int column);
extern ShDupColumns *shdup_columns_begin(const ShDupHeaps *heaps, int first, int count,
										 bool images);
extern bool shdup_columns_compute(ShDupColumns *columns, int number, TupleTableSlot *row,
								  Datum *values);
extern Datum shdup_plain_value(Datum value, int16 length);
extern void shdup_columns_copy(const ShDupColumns *columns, Datum *to, const Datum *from);
extern bool shdup_columns_agree(const ShDupColumns *columns, const Datum *a, const Datum *b);
extern uint64 shdup_columns_hash(const ShDupColumns *columns, const Datum *values, uint64 seed);
extern void shdup_columns_reset(ShDupColumns *columns);
extern void shdup_columns_end(ShDupColumns *columns);

typedef struct ShDupClasses ShDupClasses;

/* row_class.c */
extern ShDupClasses *shdup_classes_begin(const ShDupHeaps *heaps, Snapshot snapshot,
										 bool with_values);
extern uint32 shdup_class_of(ShDupClasses *classes, int side, uint32 group, ShPairsRow row,
							 TupleTableSlot *slot);
extern uint32 shdup_class_again(ShDupClasses *classes, uint32 group, ShPairsRow row);
extern Size shdup_classes_bytes(const ShDupClasses *classes);
extern void shdup_classes_forget(ShDupClasses *classes);
extern void shdup_classes_release(ShDupClasses *classes);
extern void shdup_classes_end(ShDupClasses *classes);

/* rows of index entries that wait to be looked up, or have been, and pairs of elements */
typedef struct ShDupLookup
{
	const ShDupHeaps *heaps;
	Snapshot	snapshot;
	ShDupClasses *classes;		/* or NULL: all rows are of class 1 */
	ShDupClasses *values;		/* to divide entries of bands, or NULL */
	ShDupRowReader readers[SHDUP_MAX_SIDES];	/* for their slots */

	size_t		most;			/* rows, or pairs, to look up together */
	size_t		capacity;		/* in rows, a few more than that */
	size_t		count;
	ShPairsRow *numbers;		/* rows in index entries; once resolved,
								 * visible rows */
	uint32	   *groups;			/* of the rows in numbers[]; once resolved,
								 * with classes, these */
	size_t		npairs;			/* no more than rows */
	ShPairsPair *pairs;

	/* positions in numbers[], sorted by page: see visible_rows.c */
	uint32	   *order;
	int			range_shift;
	uint32		nranges;
	uint32	   *ends;
} ShDupLookup;

/*
 * bytes of maintenance_work_mem for a row that waits, half of which is for such rows: a
 * number, a group, a position, a pair, and what callers store for it
 */
#define SHDUP_CALLER_BYTES	40
#define SHDUP_ROW_BYTES		(sizeof(ShPairsRow) + 2 * sizeof(uint32) + sizeof(ShPairsPair) + \
							 SHDUP_CALLER_BYTES)
#define SHDUP_ROWS_SHARE	0.5

/*
 * the most rows that may be added at once; more are worth a lookup of their
 * own
 */
#define SHDUP_MANY	4096

/*
 * Rows that have been looked up in place have their class in the bits above their number, or
 * the greatest value that fits, if it does not.  Tests build with a lower one.
 */
#define SHDUP_CLASS_SHIFT	48
#ifndef SHDUP_HIGH_CLASS
#define SHDUP_HIGH_CLASS	0xFFFF
#endif

static inline ShPairsRow
shdup_row_of_class(ShPairsRow row, uint32 number)
{
	return row | (ShPairsRow) Min(number, SHDUP_HIGH_CLASS) << SHDUP_CLASS_SHIFT;
}

/* visible_rows.c */
extern void shdup_lookup_begin(ShDupLookup *lookup, const ShDupHeaps *heaps, Snapshot snapshot);
extern void shdup_lookup_add(ShDupLookup *lookup, uint32 group, const ShPairsRow *numbers,
							 size_t count);
extern void shdup_lookup_add_pairs(ShDupLookup *lookup, const ShPairsPair *pairs, size_t npairs);
extern bool shdup_lookup_is_full(const ShDupLookup *lookup);
extern void shdup_lookup_reset(ShDupLookup *lookup);
extern void shdup_lookup_resolve(ShDupLookup *lookup);
extern void shdup_divide(ShDupLookup *rows, const uint32 *words, const ShPairsRow *numbers,
						 size_t count, ShPairsRow *firsts);
extern void shdup_look_up(ShDupLookup *lookup, uint32 group, ShPairsRow *numbers, size_t count);
extern void shdup_lookup_end(ShDupLookup *lookup);

/* row_order.c: rows in the order in which they are kept */

typedef struct ShDupOrder ShDupOrder;

extern ShDupOrder *shdup_order_begin(const ShDupHeaps *heaps, Snapshot snapshot,
									 const char *keep);
extern void shdup_order_start(ShDupOrder *order, const uint32 *groups);
extern void shdup_order_add(ShDupOrder *order, ShPairsRow row, uint32 number);
extern void shdup_order_sort(ShDupOrder *order, bool twice);
extern bool shdup_order_next(ShDupOrder *order, ShPairsRow *row, uint32 *number);
extern void shdup_order_again(ShDupOrder *order);
extern void shdup_order_end(ShDupOrder *order);

/* how documents are compared */
typedef struct ShDupNearness
{
	bool		known;			/* by the share of their features, */
	ShBitsDocuments documents;	/* what they are: */
	double		similarity;		/* they must share so much */
} ShDupNearness;

typedef struct ShDupRowCheck ShDupRowCheck;

/* row_check.c */
extern ShDupRowCheck *shdup_check_begin(const ShDupHeaps *heaps, Snapshot snapshot,
										const ShDupNearness *nearness, const char *same);
extern bool shdup_check_has_pairs(const ShDupRowCheck *check);
extern double shdup_check_nearest(const ShDupRowCheck *check);
extern void shdup_check_take(ShDupRowCheck *check, ShPairsRow number, Datum value);
extern bool shdup_check_near(ShDupRowCheck *check, ShPairsRow a, ShPairsRow b, double *nearness);
extern bool shdup_check_rows(ShDupRowCheck *check, ShPairsRow a, ShPairsRow b);
extern void shdup_check_release(ShDupRowCheck *check);
extern void shdup_check_end(ShDupRowCheck *check);

#endif							/* SIMHASH_DEDUP_ROWS_H */
