/*-------------------------------------------------------------------------
 *
 * build_pages.h
 *	  Writing and logging the pages of a new index.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_INDEX_BUILD_PAGES_H
#define SIMHASH_INDEX_BUILD_PAGES_H

#include "postgres.h"

#include "storage/block.h"
#include "storage/bufpage.h"
#include "utils/rel.h"

typedef struct ShIdxPageWriter ShIdxPageWriter;

extern void shidx_allocate_pages(Relation index, BlockNumber count, bool in_order);
extern ShIdxPageWriter *shidx_begin_pages(Relation index, bool logged);
extern Page shidx_add_page(ShIdxPageWriter *writer, BlockNumber block);
extern void shidx_end_pages(ShIdxPageWriter *writer);

#endif							/* SIMHASH_INDEX_BUILD_PAGES_H */
