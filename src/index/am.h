/*-------------------------------------------------------------------------
 *
 * am.h
 *	  The functions that make up the index access method.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_INDEX_AM_H
#define SIMHASH_INDEX_AM_H

#include "access/amapi.h"
#include "nodes/execnodes.h"
#include "nodes/pathnodes.h"

#include "bits/scheme.h"
#include "type/operator_class.h"
#include "type/simhash.h"

#define SHIDX_DEFAULT_BLOCKS			4	/* of each part */
#define SHIDX_MOST_DEFAULT_BLOCKS		8	/* if there are more for a large radius */
#define SHIDX_DEFAULT_DISTANCE			SIMHASH_NEAR_RADIUS
#define SHIDX_DEFAULT_FILLFACTOR		90
#define SHIDX_MIN_FILLFACTOR			10

/* support function of columns before the fingerprint: an extended hash function */
#define SHIDX_HASH_PROC					1
#define SHIDX_NUM_PROCS					SIMHASH_FINGERPRINT_PROC

/* what CREATE INDEX ... WITH (...) sets */
typedef struct ShIdxOptions
{
	int32		vl_len_;		/* varlena header (do not touch directly!) */
	int			blocks;			/* of all parts together; 0 if not set */
	int			distance;		/* -1 if not set */
	int			fillfactor;		/* percent of a leaf filled by a build */
} ShIdxOptions;

/* phases of a build, as pg_stat_progress_create_index shows them */
#define SHIDX_BUILD_PHASE_SCAN			2
#define SHIDX_BUILD_PHASE_WRITE			3

/* options.c */
extern void shidx_init_options(void);
extern bytea *shidx_options(Datum reloptions, bool validate);
extern ShIdxOptions shidx_get_options(Relation index, int width);
extern ShBitsScheme *shidx_make_scheme(Relation index, int width);
extern int	shidx_fillfactor(Relation index);
extern bool shidx_have_same_options(Relation a, Relation b);
extern void shidx_report_pending_options(Relation index, const ShBitsScheme *scheme, int width);

/* build.c */
extern IndexBuildResult *shidx_build(Relation heap, Relation index, struct IndexInfo *info);
extern void shidx_buildempty(Relation index);
extern char *shidx_buildphasename(int64 phase);

/* insert.c */
extern bool shidx_insert(Relation index, Datum *values, bool *isnull,
						 ItemPointer heap_tid, Relation heap,
						 IndexUniqueCheck check_unique, bool index_unchanged,
						 struct IndexInfo *info);

/* vacuum.c */
extern IndexBulkDeleteResult *shidx_bulkdelete(IndexVacuumInfo *info,
											   IndexBulkDeleteResult *stats,
											   IndexBulkDeleteCallback callback,
											   void *callback_state);
extern IndexBulkDeleteResult *shidx_vacuumcleanup(IndexVacuumInfo *info,
												  IndexBulkDeleteResult *stats);

/* scan.c */
extern IndexScanDesc shidx_beginscan(Relation index, int nkeys, int norderbys);
extern void shidx_rescan(IndexScanDesc scan, ScanKey keys, int nkeys,
						 ScanKey orderbys, int norderbys);
extern bool shidx_gettuple(IndexScanDesc scan, ScanDirection direction);
extern int64 shidx_getbitmap(IndexScanDesc scan, TIDBitmap *bitmap);
extern void shidx_endscan(IndexScanDesc scan);
extern bool shidx_canreturn(Relation index, int column);

/* cost.c */
extern void shidx_costestimate(struct PlannerInfo *root, struct IndexPath *path,
							   double loop_count, Cost *startup_cost,
							   Cost *total_cost, Selectivity *selectivity,
							   double *correlation, double *pages);

/* property.c */
extern bool shidx_property(Oid index_oid, int attno, IndexAMProperty prop,
						   const char *propname, bool *res, bool *isnull);

/* validate.c */
extern bool shidx_validate(Oid opclass);
extern void shidx_adjust_members(Oid family, Oid opclass, List *operators, List *functions);
extern bool shidx_is_fingerprint_family(Oid family);

/* columns.c */
extern int	shidx_check_columns(Relation index, const struct IndexInfo *info);

#endif							/* SIMHASH_INDEX_AM_H */
