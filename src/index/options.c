/*-------------------------------------------------------------------------
 *
 * options.c
 *	  Options of CREATE INDEX ... USING simhash ... WITH (...).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/reloptions.h"
#include "utils/rel.h"

#include "bits/scheme.h"
#include "index/am.h"

static relopt_kind options_kind;

/*
 * Register the options, when the library is loaded.
 */
void
shidx_init_options(void)
{
	options_kind = add_reloption_kind();
	add_int_reloption(options_kind, "blocks",
					  "Number of blocks that the 64 bits are cut into",
					  SHIDX_DEFAULT_BLOCKS, 1, SHBITS_MAX_BLOCKS, AccessExclusiveLock);
	add_int_reloption(options_kind, "distance",
					  "Largest distance that is found by exact prefixes alone",
					  SHIDX_DEFAULT_DISTANCE, 0, SHBITS_MAX_BLOCKS - 1, AccessExclusiveLock);
	add_int_reloption(options_kind, "fillfactor",
					  "Percentage of a leaf page that a build fills",
					  SHIDX_DEFAULT_FILLFACTOR, SHIDX_MIN_FILLFACTOR, 100,
					  ShareUpdateExclusiveLock);
}

/*
 * amoptions: parse and check the options of an index
 *
 * With validate, a scheme that cannot be used is an error.  The server sets
 * validate when an index is created and when its options are changed, but does
 * not say which, or for which index.  So this function cannot report options
 * that do not take effect before REINDEX; see shidx_report_pending_options.
 */
bytea *
shidx_options(Datum reloptions, bool validate)
{
	static const relopt_parse_elt elements[] = {
		{"blocks", RELOPT_TYPE_INT, offsetof(ShIdxOptions, blocks)},
		{"distance", RELOPT_TYPE_INT, offsetof(ShIdxOptions, distance)},
		{"fillfactor", RELOPT_TYPE_INT, offsetof(ShIdxOptions, fillfactor)},
	};
	ShIdxOptions *options;

	options = (ShIdxOptions *) build_reloptions(reloptions, validate, options_kind,
												sizeof(ShIdxOptions),
												elements, lengthof(elements));
	if (validate && options != NULL)
		shbits_check_scheme(options->blocks, options->distance,
							"  An index answers every radius, so its distance need not be that large.");
	return (bytea *) options;
}

/*
 * The options of an index, defaults filled in.
 *
 * blocks and distance are those that the next build will use; the current ones
 * are in the metapage.
 */
ShIdxOptions
shidx_get_options(Relation index)
{
	ShIdxOptions defaults = {
		.blocks = SHIDX_DEFAULT_BLOCKS,
		.distance = SHIDX_DEFAULT_DISTANCE,
		.fillfactor = SHIDX_DEFAULT_FILLFACTOR,
	};

	return index->rd_options != NULL ? *(ShIdxOptions *) index->rd_options : defaults;
}

/*
 * Notify the user if the index was built with another scheme than its options
 * now specify.
 */
void
shidx_report_pending_options(Relation index, const ShBitsScheme *scheme)
{
	ShIdxOptions options = shidx_get_options(index);

	if (options.blocks != scheme->blocks || options.distance != scheme->distance)
		ereport(NOTICE,
				(errmsg("index \"%s\" was built with blocks = %d, distance = %d",
						RelationGetRelationName(index), scheme->blocks, scheme->distance),
				 errdetail("Its options blocks = %d, distance = %d take effect at the next REINDEX.",
						   options.blocks, options.distance)));
}
