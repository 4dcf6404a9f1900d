/*-------------------------------------------------------------------------
 *
 * build_rows.h
 *	  Collecting the rows of a table for a new index.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BUILD_BUILD_ROWS_H
#define SIMHASH_BUILD_BUILD_ROWS_H

#include "access/tableam.h"
#include "nodes/execnodes.h"

#include "sort/entrysort.h"

extern double shbld_collect_rows(Relation heap, Relation index, IndexInfo *info, int width,
								 ShSort **rows, ShSort *nulls, bool progress,
								 TableScanDesc scan);

#endif							/* SIMHASH_BUILD_BUILD_ROWS_H */
