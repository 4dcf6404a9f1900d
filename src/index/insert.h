/*-------------------------------------------------------------------------
 *
 * insert.h
 *	  Adding a row to a simhash index.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_INDEX_INSERT_H
#define SIMHASH_INDEX_INSERT_H

#include "access/genam.h"
#include "nodes/execnodes.h"

extern bool shidx_insert(Relation index, Datum *values, bool *isnull,
						 ItemPointer heap_tid, Relation heap,
						 IndexUniqueCheck check_unique, bool index_unchanged,
						 struct IndexInfo *info);

#endif							/* SIMHASH_INDEX_INSERT_H */
