/*-------------------------------------------------------------------------
 *
 * options.c
 *	  Options of CREATE INDEX ... USING simhash ... WITH (...).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/reloptions.h"
#include "catalog/index.h"
#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "bits/scheme.h"
#include "compat.h"
#include "index/build.h"
#include "index/class.h"
#include "index/page.h"
#include "type/wide.h"

#define MOST_DEFAULT_BLOCKS		8	/* if there are more for a large radius */
#define DEFAULT_FILLFACTOR		90
#define MIN_FILLFACTOR			10

static relopt_kind options_kind;

/* for the hint of an error about a scheme */
#define ADVICE	"  An index answers every radius, so its distance need not be that large."

/*
 * Register the options, when the library is loaded.
 */
void
shidx_init_options(void)
{
	options_kind = add_reloption_kind();
	add_int_reloption(options_kind, "blocks",
					  "Number of blocks that the bits are cut into",
					  0, 1, SHBITS_MAX_BLOCKS * SHBITS_MAX_PARTS, AccessExclusiveLock);
	add_int_reloption(options_kind, "distance",
					  "Largest distance that is found by exact prefixes alone",
					  -1, 0, SHBITS_MAX_BLOCKS * SHBITS_MAX_PARTS - 1, AccessExclusiveLock);
	add_int_reloption(options_kind, "bands",
					  "Number of bands that have a table",
					  0, 1, SHBITS_MAX_PARTS, AccessExclusiveLock);
	add_int_reloption(options_kind, "fillfactor",
					  "Percentage of a leaf page that a build fills",
					  DEFAULT_FILLFACTOR, MIN_FILLFACTOR, 100,
					  ShareUpdateExclusiveLock);
}

/*
 * Could blocks and distance be those of fingerprints of more than 64 bits,
 * whatever their number?
 */
static bool
may_be_wide(const ShIdxOptions *options)
{
	if (options->blocks == 0)
	{
		/* distance alone has to agree with the default of blocks */
		for (int width = SHBITS_WIDTH; width <= SIMHASH_BITS_MAX_WIDTH; width += BITS_PER_BYTE)
		{
			int			blocks = shidx_default_blocks(shbits_part_bits(width, 0));

			if (options->distance + 1 == shbits_nparts(width) * blocks)
				return true;
		}
		return false;
	}
	return options->distance < 0 || options->distance == options->blocks - 1;
}

/*
 * amoptions: parse and check the options of an index
 *
 * With validate, a scheme that no index can use is an error.  The server sets
 * validate when an index is created and when its options are changed, but does
 * not say which, or for which index.  So this function cannot know the width of
 * its fingerprints, on which more depends (shidx_choose_geometry).  Nor can it report
 * options that do not take effect before REINDEX; see
 * shidx_report_pending_options.
 */
bytea *
shidx_options(Datum reloptions, bool validate)
{
	static const relopt_parse_elt elements[] = {
		{"blocks", RELOPT_TYPE_INT, offsetof(ShIdxOptions, blocks)},
		{"distance", RELOPT_TYPE_INT, offsetof(ShIdxOptions, distance)},
		{"bands", RELOPT_TYPE_INT, offsetof(ShIdxOptions, bands)},
		{"fillfactor", RELOPT_TYPE_INT, offsetof(ShIdxOptions, fillfactor)},
	};
	ShIdxOptions *options;

	options = (ShIdxOptions *) build_reloptions(reloptions, validate, options_kind,
												sizeof(ShIdxOptions),
												elements, lengthof(elements));
	if (!validate || options == NULL || may_be_wide(options))
		return (bytea *) options;
	if (options->blocks == 0 && options->distance >= 2 * SHIDX_DEFAULT_BLOCKS - 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("distance %d is out of range", options->distance),
				 errdetail("The distance must be less than the number of blocks, by default up to %d for each %d bits; of fingerprints of more than %d bits it is that number minus 1.",
						   SHIDX_DEFAULT_BLOCKS, SHBITS_WIDTH, SHBITS_WIDTH),
				 errhint("Leave out the option distance." ADVICE)));
	shbits_check_scheme(SHBITS_WIDTH, options->blocks > 0 ? options->blocks : SHIDX_DEFAULT_BLOCKS,
						options->distance >= 0 ? options->distance : SHIDX_DEFAULT_DISTANCE,
						ADVICE);
	return (bytea *) options;
}

/*
 * The options of an index as they are set.
 */
static ShIdxOptions
get_set_options(Relation index)
{
	ShIdxOptions none = {
		.blocks = 0,
		.distance = -1,
		.fillfactor = DEFAULT_FILLFACTOR,
	};

	return index->rd_options != NULL ? *(ShIdxOptions *) index->rd_options : none;
}

/*
 * The blocks of an index of fingerprints of so many bits, at most 64, whose distance is
 * one less, if nothing else is set.
 *
 * A class that computes fingerprints has lookups of one radius only.  If it is
 * large, more blocks make less work: those that a lookup must find may differ in
 * fewer bits, and so have fewer values.
 */
static int
default_blocks(Relation index, int width)
{
	int			column = shidx_fp_column(index);
	ShIdxMeaning meaning;

	if (width < SHBITS_WIDTH || !shidx_computes_fingerprints(index) ||
		!OidIsValid(shidx_near_operator(index->rd_opfamily[column],
										index->rd_opcintype[column], &meaning)))
		return shidx_default_blocks(width);
	return Min(Max(meaning.radius / 2, SHIDX_DEFAULT_BLOCKS), MOST_DEFAULT_BLOCKS);
}

/*
 * Fill in the defaults of the options of an index for fingerprints of so many bits.
 */
static ShIdxOptions
fill_in(Relation index, int width, ShIdxOptions options)
{
	int			nparts = shbits_nparts(width);

	if (options.blocks == 0 && options.distance < 0 && nparts == 1)
	{
		options.blocks = default_blocks(index, width);
		options.distance = options.blocks - 1;
	}
	if (options.blocks == 0)
		options.blocks = nparts == 1 ? SHIDX_DEFAULT_BLOCKS :
			nparts * shidx_default_blocks(shbits_part_bits(width, 0));
	if (options.distance < 0)
		options.distance = width == SHBITS_WIDTH ? SHIDX_DEFAULT_DISTANCE : options.blocks - 1;
	return options;
}

/*
 * The options of an index for fingerprints of so many bits, defaults filled in.
 *
 * blocks and distance are those that the next build will use; the current ones
 * are in the metapage.
 */
ShIdxOptions
shidx_get_options(Relation index, int width)
{
	return fill_in(index, width, get_set_options(index));
}

/*
 * The largest number of blocks of each of so many parts.
 */
static int
max_blocks(int nparts)
{
	return Min(SHBITS_MAX_BLOCKS, (SHIDX_MAX_TREES - 1) / nparts);
}

/*
 * Do options make a scheme for each part of fingerprints of so many bits?
 */
static bool
make_scheme(const ShIdxOptions *options, int width)
{
	int			nparts = shbits_nparts(width);
	int			ntables = shbits_ntables(options->blocks, options->distance);

	if (nparts == 1)
		return options->blocks <= width && ntables >= 1 && ntables <= SHBITS_MAX_TABLES;
	return options->blocks % nparts == 0 && options->blocks <= nparts * max_blocks(nparts) &&
		options->distance == options->blocks - 1;
}

/*
 * Is the server writing a new copy of a table, as VACUUM FULL, CLUSTER and some forms of
 * ALTER TABLE do?  Until indexes have been built, there is also a table for the old file,
 * by the name that make_new_heap() gives it.  Anybody could take that name, but only the
 * server says whose copy a table is.
 */
static bool
is_rewritten(Relation heap)
{
	char	   *name = psprintf("pg_temp_%u", RelationGetRelid(heap));
	Oid			file = get_relname_relid(name, RelationGetNamespace(heap));
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(file));
	bool		result = false;

	if (HeapTupleIsValid(tuple))
	{
		result = ((Form_pg_class) GETSTRUCT(tuple))->relrewrite == RelationGetRelid(heap);
		ReleaseSysCache(tuple);
	}
	return result;
}

/*
 * Is an index that exists built because its table has just been emptied, or is it one
 * that pg_upgrade is going to replace?
 *
 * ALTER INDEX may have set options that are not possible, ALTER TABLE may have taken the
 * width from the type of the column, and ALTER FUNCTION may have made the function that
 * computes fingerprints one that an index cannot have.  That must not keep anybody from emptying the
 * table, which cannot always be undone: TRUNCATE of a temporary table at each commit
 * leaves an empty file if the build fails.  All else that builds an index of an empty
 * table can be rolled back.  So an index that this transaction has made gets errors.
 *
 * If a transaction that has taken the width of a temporary table's column fails after its
 * ON COMMIT truncation, the index keeps 64 bits until REINDEX or the next truncation, and
 * says so to who inserts.
 *
 * TRUNCATE gives the table a new file and rebuilds its indexes, or empties the file that
 * the transaction has made, as at a commit, and only then builds indexes that exist
 * without REINDEX.  A concurrent build always makes a new index.
 */
bool
shidx_is_emptied(Relation heap, Relation index, bool concurrent)
{
	if (RelationGetNumberOfBlocks(heap) > 0 || concurrent)
		return false;
	if (IsBinaryUpgrade)
		return true;
	if (index->rd_createSubid != InvalidSubTransactionId)
		return false;
	return !ReindexIsProcessingIndex(RelationGetRelid(index)) ||
		(shcompat_has_new_file(heap) && !is_rewritten(heap));
}

/*
 * The width of the fingerprints for a build, in bits.  If neither the column nor the
 * operator class says it, an index that is emptied gets fingerprints of 64 bits, as its
 * old metapage is gone already.
 *
 * Raises ERRCODE_INVALID_OBJECT_DEFINITION if there is no width.
 */
static int
choose_width(Relation heap, Relation index, bool concurrent)
{
	int			width = shidx_index_width(index);

	if (width > 0)
		return width;
	if (!shidx_is_emptied(heap, index, concurrent))
		shidx_report_no_width(index);
	ereport(WARNING,
			(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
			 errmsg("empty index \"%s\" is built for fingerprints of %d bits",
					RelationGetRelationName(index), SHBITS_WIDTH),
			 errdetail("Its column does not say how many bits they have."),
			 errhint("Change the type of the column to one with a width, such as simhash_bits(256).")));
	return SHBITS_WIDTH;
}

/*
 * The options for a build.  An index that is emptied gets the defaults if its options
 * are not possible.
 */
static ShIdxOptions
options_for_build(Relation heap, Relation index, bool concurrent, int width)
{
	ShIdxOptions options = shidx_get_options(index, width);
	ShIdxOptions defaults = {.blocks = 0,.distance = -1};

	if (shidx_kind(index) == SHIDX_BANDED || make_scheme(&options, width) || !shidx_is_emptied(heap, index, concurrent))
		return options;
	defaults = fill_in(index, width, defaults);
	ereport(WARNING,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("empty index \"%s\" is built with blocks = %d, distance = %d",
					RelationGetRelationName(index), defaults.blocks, defaults.distance),
			 errdetail("Its options blocks = %d, distance = %d are not possible for %d bits.",
					   options.blocks, options.distance, width),
			 errhint("Use ALTER INDEX ... RESET (blocks, distance).")));
	return defaults;
}

/*
 * How many bands an index has by default, given the operator family and the type of its
 * values: as many as the operators of the class compare, or all.
 */
int
shidx_default_bands(Oid family, Oid type)
{
	int			most = shidx_function_width(shidx_fingerprint_function_in(family, type)) / SHBITS_WIDTH;
	int			needed = shidx_needed_bands(family, type, false);

	return Max(needed > 0 ? Min(needed, most) : most, 1);
}

/*
 * What is wrong with the options of an index of bands, which has so many at most: an
 * error, but a warning if the table has just been emptied.  Returns whether they are possible.
 */
static bool
check_bands(Relation index, ShIdxOptions options, int most, int elevel)
{
	int			column = shidx_fp_column(index);
	int			needed = shidx_needed_bands(index->rd_opfamily[column], index->rd_opcintype[column],
											false);

	if (options.blocks > 0 || options.distance >= 0)
		ereport(elevel,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("index \"%s\" cannot have the options blocks and distance",
						RelationGetRelationName(index)),
				 errdetail("It has a table for each band."),
				 errhint("Use the option bands.")));
	else if (options.bands > most)
		ereport(elevel,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("index \"%s\" cannot have %d bands", RelationGetRelationName(index),
						options.bands),
				 errdetail("Its operator class makes %d.", most)));
	else if (options.bands > 0 && options.bands < needed)
		ereport(elevel,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("index \"%s\" cannot have only %d bands", RelationGetRelationName(index),
						options.bands),
				 errdetail("An operator of its class compares %d.", needed)));
	else
		return true;
	return false;
}

/*
 * The trees that a build of an index of bands makes.
 */
static ShIdxGeometry *
choose_bands(Relation heap, Relation index, bool concurrent, int width)
{
	int			column = shidx_fp_column(index);
	Oid			family = index->rd_opfamily[column];
	Oid			type = index->rd_opcintype[column];
	ShIdxOptions options = get_set_options(index);
	int			bands = shidx_default_bands(family, type);
	int			needed = Min(shidx_needed_bands(family, type, true), width / SHBITS_WIDTH);

	if (check_bands(index, options, width / SHBITS_WIDTH,
					shidx_is_emptied(heap, index, concurrent) ? WARNING : ERROR) &&
		options.bands > 0)
		bands = options.bands;
	if (needed > bands)
		ereport(WARNING,
				(errmsg("index \"%s\" has fewer bands than an operator of its family compares",
						RelationGetRelationName(index)),
				 errdetail("With that operator, a search reads a whole table."),
				 errhint("Use WITH (bands = %d).", needed)));
	return shidx_make_geometry(bands * SHBITS_WIDTH, 1, 0, true);
}

/*
 * The trees that a build makes, by the options of an index, in the current memory context.
 *
 * Raises ERRCODE_INVALID_PARAMETER_VALUE if they are not possible.
 */
ShIdxGeometry *
shidx_choose_geometry(Relation heap, Relation index, bool concurrent)
{
	int			width = choose_width(heap, index, concurrent);
	ShIdxOptions options = options_for_build(heap, index, concurrent, width);
	int			nparts = shbits_nparts(width);
	int			most = max_blocks(nparts);

	if (shidx_kind(index) == SHIDX_BANDED)
		return choose_bands(heap, index, concurrent, width);
	if (options.bands > 0)
		ereport(shidx_is_emptied(heap, index, concurrent) ? WARNING : ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("index \"%s\" cannot have the option bands", RelationGetRelationName(index)),
				 errdetail("Its operator class makes no bands.")));
	if (nparts == 1)
	{
		if (options.distance >= options.blocks && get_set_options(index).distance < 0)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("the default, distance = %d, is out of range for blocks = %d",
							options.distance, options.blocks),
					 errhint("Set the option distance as well, such as distance = %d." ADVICE,
							 options.blocks - 1)));
		shbits_check_scheme(width, options.blocks, options.distance, ADVICE);
		return shidx_make_geometry(width, options.blocks, options.distance, false);
	}
	if (options.blocks % nparts != 0 || options.blocks > nparts * most)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%d bits cannot be cut into %d blocks", width, options.blocks),
				 errdetail("An index cuts them into %d parts, each of which has 1 to %d blocks.",
						   nparts, most),
				 errhint("Use a multiple of %d up to %d, such as blocks = %d.",
						 nparts, nparts * most, nparts * SHIDX_DEFAULT_BLOCKS)));
	if (options.distance != options.blocks - 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("distance %d is not possible for %d bits in %d blocks",
						options.distance, width, options.blocks),
				 errdetail("The distance of fingerprints of more than %d bits is the number of blocks minus 1.",
						   SHBITS_WIDTH),
				 errhint("Leave out the option distance.")));
	return shidx_make_geometry(width, options.blocks / nparts, options.blocks / nparts - 1, false);
}

/*
 * How full a build makes leaves, in percent.
 */
int
shidx_fillfactor(Relation index)
{
	return get_set_options(index).fillfactor;
}

/*
 * Notify the user if the index was built with other trees than its options now specify.
 */
void
shidx_report_pending_options(Relation index, const ShIdxGeometry *geometry)
{
	ShIdxOptions options = shidx_get_options(index, geometry->width);
	int			blocks = geometry->nparts * geometry->scheme->blocks;
	int			distance = geometry->nparts > 1 ? blocks - 1 : geometry->scheme->distance;
	int			column = shidx_fp_column(index);

	if (geometry->prefix_bits > 0)
	{
		int			bands = options.bands > 0 ? options.bands :
			shidx_default_bands(index->rd_opfamily[column], index->rd_opcintype[column]);

		if (bands != geometry->nparts)
			ereport(NOTICE,
					(errmsg("index \"%s\" was built with bands = %d",
							RelationGetRelationName(index), geometry->nparts),
					 errdetail("Its option bands = %d takes effect at the next REINDEX.", bands)));
		return;
	}
	if (options.blocks != blocks || options.distance != distance)
		ereport(NOTICE,
				(errmsg("index \"%s\" was built with blocks = %d, distance = %d",
						RelationGetRelationName(index), blocks, distance),
				 errdetail("Its options blocks = %d, distance = %d take effect at the next REINDEX.",
						   options.blocks, options.distance)));
}
