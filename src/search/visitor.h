/*-------------------------------------------------------------------------
 *
 * visitor.h
 *	  Looking at rows from within a scan.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_SEARCH_VISITOR_H
#define SIMHASH_SEARCH_VISITOR_H

#include "access/relscan.h"
#include "nodes/execnodes.h"

#include "search/query.h"

/* a scan key */
typedef struct ShFndKeyCheck
{
	int			narguments;
	Datum	   *arguments;
	const ShFndElements *elements;	/* NULL if there are none */
} ShFndKeyCheck;

typedef struct ShFndVisitor
{
	MemoryContext context;		/* of the scan; the rest begins with zeros */
	TupleTableSlot *slot;		/* NULL before the first row */
	IndexInfo  *info;			/* these are NULL before the first key */
	EState	   *estate;
	ShFndKeyCheck *keys;		/* set by shfnd_visitor_set_keys */
} ShFndVisitor;

extern bool shfnd_visitor_set_keys(ShFndVisitor *visitor, IndexScanDesc scan,
								   const ShFndQuery *query);
extern bool shfnd_visit(ShFndVisitor *visitor, IndexScanDesc scan, ItemPointerData tid,
						bool *dead);
extern bool shfnd_visit_and_check(ShFndVisitor *visitor, IndexScanDesc scan,
								  ShFingerprint fp, ItemPointerData tid, bool *dead);
extern void shfnd_visitor_end(ShFndVisitor *visitor);

#endif							/* SIMHASH_SEARCH_VISITOR_H */
