/*-------------------------------------------------------------------------
 *
 * handler.h
 *	  The callbacks of the access method.
 *
 * They are defined in cost.c, insert.c, scan.c and vacuum.c.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_INDEX_HANDLER_H
#define SIMHASH_INDEX_HANDLER_H

#include "access/genam.h"
#include "nodes/execnodes.h"
#include "nodes/pathnodes.h"
#include "nodes/tidbitmap.h"

/* cost.c */
extern void shidx_costestimate(struct PlannerInfo *root, struct IndexPath *path,
							   double loop_count, Cost *startup_cost,
							   Cost *total_cost, Selectivity *selectivity,
							   double *correlation, double *pages);

/* insert.c */
extern bool shidx_insert(Relation index, Datum *values, bool *isnull,
						 ItemPointer heap_tid, Relation heap,
						 IndexUniqueCheck check_unique, bool index_unchanged,
						 struct IndexInfo *info);

/* scan.c */
extern IndexScanDesc shidx_beginscan(Relation index, int nkeys, int norderbys);
extern void shidx_rescan(IndexScanDesc scan, ScanKey keys, int nkeys,
						 ScanKey orderbys, int norderbys);
extern bool shidx_gettuple(IndexScanDesc scan, ScanDirection direction);
extern int64 shidx_getbitmap(IndexScanDesc scan, TIDBitmap *bitmap);
extern void shidx_endscan(IndexScanDesc scan);
extern bool shidx_canreturn(Relation index, int column);

/* vacuum.c */
extern IndexBulkDeleteResult *shidx_bulkdelete(IndexVacuumInfo *info,
											   IndexBulkDeleteResult *stats,
											   IndexBulkDeleteCallback callback,
											   void *callback_state);
extern IndexBulkDeleteResult *shidx_vacuumcleanup(IndexVacuumInfo *info,
												  IndexBulkDeleteResult *stats);

#endif							/* SIMHASH_INDEX_HANDLER_H */
