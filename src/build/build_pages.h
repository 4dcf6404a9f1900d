/*-------------------------------------------------------------------------
 *
 * build_pages.h
 *	  Writing and logging the pages of a new index.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BUILD_BUILD_PAGES_H
#define SIMHASH_BUILD_BUILD_PAGES_H

#include "btree/page.h"

typedef struct ShBldPageWriter ShBldPageWriter;

/* the pages of a level, from left to right */
typedef struct ShBldLevel
{
	size_t		count;
	size_t		max_count;
	ShBtKey    *lows;			/* low fences */
	BlockNumber *blocks;		/* of those that have been written */
} ShBldLevel;

extern void shbld_reserve_metapage(Relation index);
extern ShBldPageWriter *shbld_begin_pages(Relation index, bool logged, bool alone);
extern void shbld_begin_level(ShBldLevel *level);
extern Page shbld_add_page(ShBldPageWriter *writer, ShBldLevel *level, ShBtKey low);
extern void shbld_end_level(ShBldPageWriter *writer);
extern void shbld_free_level(ShBldLevel *level);
extern Page shbld_metapage(ShBldPageWriter *writer);
extern void shbld_end_pages(ShBldPageWriter *writer);

#endif							/* SIMHASH_BUILD_BUILD_PAGES_H */
