/*-------------------------------------------------------------------------
 *
 * build.h
 *	  The options of an index, and building it.
 *
 * What this declares is defined in options.c, build_pages.c, build_tree.c and build.c, and the
 * name of the build in handler.c.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_INDEX_BUILD_H
#define SIMHASH_INDEX_BUILD_H

#include "access/genam.h"
#include "nodes/execnodes.h"
#include "port/atomics.h"
#include "utils/rel.h"

#include "bits/scheme.h"
#include "index/page.h"
#include "index/sort.h"
#include "index/tree.h"
#include "type/simhash.h"

#define SHIDX_DEFAULT_BLOCKS			4	/* of each part, if it has 48 bits */
#define SHIDX_DEFAULT_DISTANCE			SIMHASH_NEAR_RADIUS
#define SHIDX_LEAST_BLOCK				12	/* bits of a block, by default */

/* what CREATE INDEX ... WITH (...) sets */
typedef struct ShIdxOptions
{
	int32		vl_len_;		/* varlena header (do not touch directly!) */
	int			blocks;			/* of all parts together; 0 if not set */
	int			distance;		/* -1 if not set */
	int			fillfactor;		/* percent of a leaf filled by a build */
	int			bands;			/* 0 if not set */
} ShIdxOptions;

/* the blocks of a part of so many bits: more would be worth little for what they take */
static inline int
shidx_default_blocks(int bits)
{
	return Max(Min(bits / SHIDX_LEAST_BLOCK, SHIDX_DEFAULT_BLOCKS), 1);
}

/* phases of a build, as pg_stat_progress_create_index shows them */
#define SHIDX_PHASE_SCAN			2
#define SHIDX_PHASE_WRITE			3

/*
 * What processes share begins with what the library of the leader was built from.  No
 * release may change these bytes or their place: a worker may have loaded another one.
 */
typedef struct ShIdxBuildId
{
	char		text[40];
} ShIdxBuildId;

typedef struct ShIdxPageWriter ShIdxPageWriter;

/* one process's description of an index that is being built */
typedef struct ShIdxBuild
{
	Relation	index;
	const ShIdxGeometry *geometry;
	int			fillfactor;		/* of leaves, in percent */
	double		rows;			/* with a fingerprint */
	double		nulls;			/* and without */
	bool		is_leader;		/* it reports progress */
	pg_atomic_uint64 *written;	/* entries, over all trees and processes */
	ShIdxRoot  *roots;			/* of all trees */
	ShIdxPageWriter *pages;
} ShIdxBuild;

/* options.c */
extern void shidx_init_options(void);
extern bytea *shidx_options(Datum reloptions, bool validate);
extern ShIdxOptions shidx_get_options(Relation index, int width);
extern bool shidx_is_emptied(Relation heap, Relation index, bool concurrent);
extern ShIdxGeometry *shidx_choose_geometry(Relation heap, Relation index, bool concurrent);
extern int	shidx_default_bands(Oid family, Oid type);
extern int	shidx_fillfactor(Relation index);
extern void shidx_report_pending_options(Relation index, const ShIdxGeometry *geometry);

/* build_pages.c */
extern void shidx_reserve_metapage(Relation index);
extern ShIdxPageWriter *shidx_begin_pages(Relation index, bool logged, bool alone);
extern Page shidx_add_page(ShIdxPageWriter *writer, ShIdxPageList *level, ShIdxKey low);
extern void shidx_end_level(ShIdxPageWriter *writer);
extern Page shidx_metapage(ShIdxPageWriter *writer);
extern void shidx_end_pages(ShIdxPageWriter *writer);

/* build_tree.c */
extern void shidx_report_writing(const ShIdxBuild *build);
extern void shidx_write_tree(ShIdxBuild *build, ShIdxSort *sort, int tree);
extern void shidx_write_metapage(ShIdxBuild *build, bool logged);

/* handler.c: set by the Makefile */
extern const ShIdxBuildId shidx_build_id;

/* build.c */
extern void *shidx_of_this_build(void *shared);
extern IndexBuildResult *shidx_build(Relation heap, Relation index, struct IndexInfo *info);
extern void shidx_buildempty(Relation index);
extern char *shidx_buildphasename(int64 phase);

#endif							/* SIMHASH_INDEX_BUILD_H */
