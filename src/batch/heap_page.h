/*-------------------------------------------------------------------------
 *
 * heap_page.h
 *	  Resolving index TIDs to the visible rows of a heap page.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BATCH_HEAP_PAGE_H
#define SIMHASH_BATCH_HEAP_PAGE_H

#include "postgres.h"

#include "executor/tuptable.h"
#include "storage/buf.h"
#include "utils/rel.h"
#include "utils/snapshot.h"

#include "sort/radix.h"

/* in place of the TID of a row that the snapshot does not see */
#define SHBATCH_INVISIBLE	0

extern bool shbatch_is_heap(Relation table);
extern void shbatch_heap_page_rows(Relation heap, Snapshot snapshot, Buffer buffer,
								   ShSortItem *items, size_t count);
extern void shbatch_heap_page_slot(Relation heap, Buffer buffer, uint64 tid,
								   TupleTableSlot *slot);

#endif							/* SIMHASH_BATCH_HEAP_PAGE_H */
