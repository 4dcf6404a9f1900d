/*-------------------------------------------------------------------------
 *
 * options.h
 *	  Options of CREATE INDEX ... USING simhash ... WITH (...).
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BUILD_OPTIONS_H
#define SIMHASH_BUILD_OPTIONS_H

#include "utils/rel.h"

#include "bits/scheme.h"
#include "type/simhash.h"

#define SHBLD_DEFAULT_BLOCKS			4	/* of each part */
#define SHBLD_DEFAULT_DISTANCE			SIMHASH_NEAR_RADIUS

/* what CREATE INDEX ... WITH (...) sets */
typedef struct ShBldOptions
{
	int32		vl_len_;		/* varlena header (do not touch directly!) */
	int			blocks;			/* of all parts together; 0 if not set */
	int			distance;		/* -1 if not set */
	int			fillfactor;		/* percent of a leaf filled by a build */
} ShBldOptions;

extern void shbld_init_options(void);
extern bytea *shbld_options(Datum reloptions, bool validate);
extern ShBldOptions shbld_get_options(Relation index, int width);
extern int	shbld_choose_width(Relation heap, Relation index, bool concurrent);
extern ShBitsScheme *shbld_make_scheme(Relation heap, Relation index, bool concurrent,
									  int width);
extern int	shbld_fillfactor(Relation index);
extern bool shbld_have_same_options(Relation a, Relation b);
extern void shbld_report_pending_options(Relation index, const ShBitsScheme *scheme, int width);

#endif							/* SIMHASH_BUILD_OPTIONS_H */
