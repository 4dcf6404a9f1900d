/*-------------------------------------------------------------------------
 *
 * heap_page.h
 *	  Resolving index TIDs to the visible rows of a heap page.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_ROWS_HEAP_PAGE_H
#define SIMHASH_ROWS_HEAP_PAGE_H

#include "executor/tuptable.h"
#include "storage/buf.h"
#include "utils/rel.h"
#include "utils/snapshot.h"

#include "btree/page.h"
#include "sort/radix.h"

/* in place of the TID of a row that the snapshot does not see */
#define SHROWS_INVISIBLE	0

extern bool shrows_is_heap(Relation table);
extern void shrows_heap_page_rows(Relation heap, Snapshot snapshot, Buffer buffer,
								  ShSortItem *items, size_t count);
extern void shrows_heap_page_settle(Relation heap, Snapshot snapshot, Buffer buffer);
extern void shrows_heap_page_slot(Relation heap, Buffer buffer, ShBtRow tid,
								  TupleTableSlot *slot);

#endif							/* SIMHASH_ROWS_HEAP_PAGE_H */
