/*-------------------------------------------------------------------------
 *
 * build_pages.h
 *	  Writing and logging the pages of a new index.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_INDEX_BUILD_PAGES_H
#define SIMHASH_INDEX_BUILD_PAGES_H

#include "storage/block.h"
#include "storage/bufpage.h"
#include "utils/rel.h"

typedef struct ShIdxPageWriter ShIdxPageWriter;

extern void shidx_reserve_metapage(Relation index);
extern ShIdxPageWriter *shidx_begin_pages(Relation index, bool logged, bool alone);
extern Page shidx_add_page(ShIdxPageWriter *writer);
extern const BlockNumber *shidx_end_level(ShIdxPageWriter *writer);
extern Page shidx_metapage(ShIdxPageWriter *writer);
extern void shidx_end_pages(ShIdxPageWriter *writer);

#endif							/* SIMHASH_INDEX_BUILD_PAGES_H */
