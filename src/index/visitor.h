/*-------------------------------------------------------------------------
 *
 * visitor.h
 *	  Looking at rows from within a scan.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_INDEX_VISITOR_H
#define SIMHASH_INDEX_VISITOR_H

#include "access/relscan.h"
#include "nodes/execnodes.h"

#include "index/conditions.h"

/* a scan key */
typedef struct ShIdxKeyCheck
{
	FmgrInfo	function;		/* of its operator */
	int			narguments;
	Datum	   *arguments;
} ShIdxKeyCheck;

typedef struct ShIdxVisitor
{
	MemoryContext context;		/* of the scan */
	TupleTableSlot *slot;		/* NULL before the first row */
	IndexInfo  *info;			/* these are NULL before the first key */
	EState	   *estate;
	ShIdxKeyCheck *keys;		/* set by shidx_visitor_set_keys */
} ShIdxVisitor;

extern void shidx_visitor_begin(ShIdxVisitor *visitor);
extern void shidx_visitor_set_keys(ShIdxVisitor *visitor, IndexScanDesc scan);
extern bool shidx_visit(ShIdxVisitor *visitor, IndexScanDesc scan, ItemPointerData tid,
						bool *dead);
extern bool shidx_visit_and_check(ShIdxVisitor *visitor, IndexScanDesc scan,
								  const ShIdxConditions *conditions, ShFingerprint fp,
								  ItemPointerData tid, bool *dead);
extern void shidx_visitor_end(ShIdxVisitor *visitor);

#endif							/* SIMHASH_INDEX_VISITOR_H */
