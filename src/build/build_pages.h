/*-------------------------------------------------------------------------
 *
 * build_pages.h
 *	  Writing and logging the pages of a new index.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BUILD_BUILD_PAGES_H
#define SIMHASH_BUILD_BUILD_PAGES_H

#include "btree/walk.h"

typedef struct ShBldPageWriter ShBldPageWriter;

extern void shbld_reserve_metapage(Relation index);
extern ShBldPageWriter *shbld_begin_pages(Relation index, bool logged, bool alone);
extern Page shbld_add_page(ShBldPageWriter *writer, ShBtPageList *level, ShBtKey low);
extern void shbld_end_level(ShBldPageWriter *writer);
extern Page shbld_metapage(ShBldPageWriter *writer);
extern void shbld_end_pages(ShBldPageWriter *writer);

#endif							/* SIMHASH_BUILD_BUILD_PAGES_H */
