/*-------------------------------------------------------------------------
 *
 * vacuum.h
 *	  Removing the entries of dead rows.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_INDEX_VACUUM_H
#define SIMHASH_INDEX_VACUUM_H

#include "access/genam.h"

extern IndexBulkDeleteResult *shidx_bulkdelete(IndexVacuumInfo *info,
											   IndexBulkDeleteResult *stats,
											   IndexBulkDeleteCallback callback,
											   void *callback_state);
extern IndexBulkDeleteResult *shidx_vacuumcleanup(IndexVacuumInfo *info,
												  IndexBulkDeleteResult *stats);

#endif							/* SIMHASH_INDEX_VACUUM_H */
