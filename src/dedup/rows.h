/*-------------------------------------------------------------------------
 *
 * rows.h
 *	  The rows of tables that a snapshot sees: their values, conditions on them,
 *	  their order.
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

#include "dedup/open.h"
#include "index/index.h"
#include "index/sort.h"

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
extern void shdup_clause_start_parsing(ErrorContextCallback *context,
									   const ShDupClause *clause);
extern void shdup_clause_start_evaluating(ErrorContextCallback *context,
										  const ShDupClause *clause);
extern void shdup_clause_stop(const ErrorContextCallback *context);
extern SelectStmt *shdup_clause_parse(ParseState *pstate, const ShDupClause *clause);
extern void shdup_clause_refuse_rest(ParseState *pstate, const ShDupClause *clause,
									 const SelectStmt *rest);
extern void shdup_clause_refuse_subqueries(ParseState *pstate, const ShDupClause *clause,
										   Node *raw);
extern void shdup_clause_check(ParseState *pstate, const ShDupClause *clause,
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

/* the reading of rows that a snapshot sees, by their numbers */
typedef struct ShDupRowReader
{
	const ShDupHeaps *heaps;
	Snapshot	snapshot;

	/* of the last row that was read, if any */
	const ShDupHeap *heap;
	TupleTableSlot *slot;
	Buffer		buffer;			/* the last page of a heap, pinned */

	TupleTableSlot **slots;		/* by number of table; NULL if not used yet */
} ShDupRowReader;

/* row_reader.c */
extern void shdup_reader_begin(ShDupRowReader *reader, const ShDupHeaps *heaps,
							   Snapshot snapshot);
extern void shdup_read(ShDupRowReader *reader, ShPairsRow row);
extern void shdup_reader_release(ShDupRowReader *reader);
extern void shdup_reader_end(ShDupRowReader *reader);

typedef struct ShDupValues ShDupValues;

/* kinds have 16 bits */
#define SHDUP_MAX_KINDS	0x10000

/* values.c: comparing rows by the columns before the fingerprint */
extern List *shdup_values_expressions(Relation index);
extern ShDupValues *shdup_values_begin(const ShDupHeaps *heaps);
extern Size shdup_values_least_width(const ShDupValues *values);
extern bool shdup_values_have_fixed_width(const ShDupValues *values);
extern void shdup_values_set_limit(ShDupValues *values, Size limit);
extern void shdup_values_enter(ShDupValues *values, const ShDupHeap *heap);
extern void shdup_values_leave(ShDupValues *values);
extern bool shdup_values_kind(ShDupValues *values, const ShDupHeap *heap,
							  uint32 group, TupleTableSlot *row, uint32 *kind);
extern void shdup_values_forget(ShDupValues *values, const uint32 *kept);
extern Size shdup_values_memory(const ShDupValues *values);
extern void shdup_values_end(ShDupValues *values);

/* a pair of fingerprints, by the caller's numbers for them */
typedef struct ShDupNumberPair
{
	uint32		a;
	uint32		b;
} ShDupNumberPair;

/*
 * What is needed to look up rows of a table; set at the first use.
 */
typedef struct ShDupRows
{
	IndexFetchTableData *fetch; /* for a table of another access method, or
								 * NULL */
	TupleTableSlot *slot;		/* for a row, or NULL */
} ShDupRows;

/* rows of index entries that wait to be looked up, or have been */
typedef struct ShDup
{
	const ShDupHeaps *heaps;
	Snapshot	snapshot;
	ShDupRows  *of;				/* for each table, by its number */

	/* the table whose rows are being looked up, or NULL */
	const ShDupHeap *current;

	/* for indexes of several columns, or NULL */
	ShDupValues *values;
	uint32	   *groups;			/* of the rows in numbers[] */

	size_t		enough;			/* rows, or pairs, to look up together */
	size_t		most;			/* the maximum of that */
	size_t		capacity;		/* in rows, a few more than that */
	size_t		count;
	ShPairsRow *numbers;		/* rows in index entries; once resolved,
								 * visible rows with kinds */
	size_t		npairs;			/* at most enough */
	ShDupNumberPair *pairs;

	/* positions in numbers[], sorted by page: see visible_rows.c */
	uint32	   *order;
	int			range_shift;
	uint32		nranges;
	uint32	   *ends;
} ShDup;

/*
 * the most rows that may be added at once; more are worth a look-up of their
 * own
 */
#define SHDUP_MANY	4096

/* the number of a row has 48 bits */
#define SHDUP_KIND_SHIFT	48

/*
 * A row that has been looked up: its number and, in the bits above it, its
 * kind if the index has several columns (values.c).
 */
static inline uint32
shdup_kind(ShPairsRow row)
{
	return (uint32) (row >> SHDUP_KIND_SHIFT);
}

/* visible_rows.c */
extern void shdup_begin_rows(ShDup *rows, const ShDupHeaps *heaps,
							 Snapshot snapshot);
extern void shdup_add(ShDup *rows, uint32 group, const ShPairsRow *numbers,
					  size_t count);
extern void shdup_add_pair(ShDup *rows, uint32 a, uint32 b);
extern bool shdup_full(const ShDup *rows);
extern void shdup_reset(ShDup *rows);
extern void shdup_resolve(ShDup *rows);
extern void shdup_look_up(ShDup *rows, uint32 group, ShPairsRow *numbers,
						  size_t count);
extern void shdup_remember_kinds(ShDup *rows);
extern void shdup_forget_kinds(ShDup *rows, const uint32 *kept);
extern void shdup_end(ShDup *rows);

/* row_order.c: rows in the order in which they are kept */
typedef struct ShDupOrder ShDupOrder;

extern ShDupOrder *shdup_order_begin(const ShDupHeaps *heaps, Snapshot snapshot,
									 const char *keep);
extern void shdup_order_add(ShDupOrder *order, ShPairsRow row, uint32 number);
extern void shdup_order_sort(ShDupOrder *order);
extern bool shdup_order_next(ShDupOrder *order, ShPairsRow *row, uint32 *number);
extern void shdup_order_again(ShDupOrder *order);
extern void shdup_order_end(ShDupOrder *order);

/* workers.c */
extern int	shdup_choose_workers(const ShDupHeaps *heaps, int distance);

#endif							/* SIMHASH_DEDUP_ROWS_H */
