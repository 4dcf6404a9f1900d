/*-------------------------------------------------------------------------
 *
 * scan.h
 *	  Scanning a simhash index.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_INDEX_SCAN_H
#define SIMHASH_INDEX_SCAN_H

#include "access/genam.h"
#include "nodes/tidbitmap.h"

extern IndexScanDesc shidx_beginscan(Relation index, int nkeys, int norderbys);
extern void shidx_rescan(IndexScanDesc scan, ScanKey keys, int nkeys,
						 ScanKey orderbys, int norderbys);
extern bool shidx_gettuple(IndexScanDesc scan, ScanDirection direction);
extern int64 shidx_getbitmap(IndexScanDesc scan, TIDBitmap *bitmap);
extern void shidx_endscan(IndexScanDesc scan);
extern bool shidx_canreturn(Relation index, int column);

#endif							/* SIMHASH_INDEX_SCAN_H */
