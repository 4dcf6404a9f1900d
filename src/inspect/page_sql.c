/*-------------------------------------------------------------------------
 *
 * page_sql.c
 *	  SQL functions that show a page of a simhash index as it is.
 *
 * They are for superusers and members of pg_read_server_files, since the
 * contents of a page are subject neither to a snapshot nor to policies.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "fmgr.h"
#include "funcapi.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"

#include "dedup/open.h"
#include "index/index.h"
#include "type/simhash.h"

PG_FUNCTION_INFO_V1(simhash_page_info);
PG_FUNCTION_INFO_V1(simhash_page_items);

#define INFO_COLUMNS	21
#define ITEM_COLUMNS	7

/* a page, copied */
typedef struct PageCopy
{
	ShBitsScheme *scheme;
	int			ntrees;			/* and that of the nulls */
	BlockNumber block;
	PGAlignedBlock page;
} PageCopy;

/*
 * Copy the page given by arguments 0 and 1 of the calling function: the index
 * and the block number.  Reports an error if there is no such page, if it is
 * damaged, or if the current user lacks the privileges.
 */
static void
copy_page(FunctionCallInfo fcinfo, PageCopy *copy)
{
	int64		block = PG_GETARG_INT64(1);
	ShDupOpened target;
	Buffer		buffer;
	Page		page = (Page) copy->page.data;
	const char *problem = NULL;

	shdup_open(PG_GETARG_OID(0), SHDUP_ACCESS_PAGES, &target);
	if (block < 0 || block >= RelationGetNumberOfBlocks(target.index))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("index \"%s\" has no block %lld",
						RelationGetRelationName(target.index), (long long) block)));

	/* read the index itself, not what this backend remembers */
	shidx_forget_cache(target.index);
	copy->scheme = shidx_get_scheme(target.index);
	copy->ntrees = shidx_get_cache(target.index)->ntrees - 1;
	copy->block = (BlockNumber) block;
	buffer = ReadBuffer(target.index, copy->block);
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	memcpy(page, BufferGetPage(buffer), BLCKSZ);
	UnlockReleaseBuffer(buffer);

	if (copy->block != SHIDX_METAPAGE_BLOCK && !PageIsNew(page))
		problem = shidx_page_problem_anywhere(page);
	if (problem != NULL)
		shidx_report_corrupted(target.index, copy->block, problem);
	shdup_close(&target);
}

/*
 * Convert a key to the values of three columns.  The third points to *tid.
 */
static void
fill_key(ShIdxKey key, ItemPointer tid, Datum *values)
{
	shidx_int_to_tid(key.tid, tid);
	values[0] = Int64GetDatum(key.group);
	values[1] = SimhashGetDatum(key.fp);
	values[2] = PointerGetDatum(tid);
}

/*
 * Number of entries of a leaf that are marked as dead.
 */
static int
count_dead(Page leaf)
{
	int			dead = 0;

	for (int i = 0; i < shidx_page_count(leaf); i++)
		dead += shidx_is_dead(leaf, i);
	return dead;
}

/*
 * simhash_page_info(index regclass, block bigint) -> record
 *
 * Shows the header and the special area, or the contents of the metapage.  An
 * empty page, which remains after an interrupted extension, is 'new'.  Locks
 * the page in share mode while it is copied.
 */
Datum
simhash_page_info(PG_FUNCTION_ARGS)
{
	PageCopy	copy;
	Page		page = (Page) copy.page.data;
	TupleDesc	desc;
	Datum		values[INFO_COLUMNS] = {0};
	bool		nulls[INFO_COLUMNS];
	ItemPointerData low_tid;
	ItemPointerData high_tid;

	copy_page(fcinfo, &copy);
	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	memset(nulls, true, sizeof(nulls));
	nulls[0] = false;

	if (PageIsNew(page))
		values[0] = CStringGetTextDatum("new");
	else if (copy.block == SHIDX_METAPAGE_BLOCK)
	{
		ShIdxMetaPageData *meta = ShIdxPageGetMeta(page);

		values[0] = CStringGetTextDatum("metapage");
		values[4] = Int32GetDatum(meta->ntrees);
		values[16] = Int32GetDatum(meta->version);
		values[17] = Int32GetDatum(meta->columns);
		values[18] = Int32GetDatum(meta->blocks);
		values[19] = Int32GetDatum(meta->distance);
		values[20] = Int32GetDatum(meta->width);
		nulls[4] = false;
		memset(&nulls[16], false, 5);
	}
	else
	{
		bool		leaf = shidx_page_is_leaf(page);

		values[0] = CStringGetTextDatum(leaf ? "leaf" : "inner");
		values[1] = Int32GetDatum(shidx_page_tree(page));
		values[2] = Int32GetDatum(shidx_page_level(page));
		values[3] = BoolGetDatum(shidx_page_is_root(page));
		values[4] = Int32GetDatum(shidx_page_count(page));
		values[5] = Int32GetDatum(shidx_leaf_sorted(page));
		values[6] = Int32GetDatum(leaf ? count_dead(page) : 0);
		values[7] = Int32GetDatum(shidx_key_width(page));
		values[8] = Int32GetDatum(shidx_row_width(page));
		values[9] = Int64GetDatum(shidx_page_right(page));
		fill_key(shidx_page_low(page), &low_tid, &values[10]);
		fill_key(shidx_page_high(page), &high_tid, &values[13]);
		memset(&nulls[1], false, 15);

		/* the tree of the null fingerprints is not a table */
		nulls[1] = shidx_page_tree(page) == copy.ntrees;
		memset(&nulls[5], !leaf, 4);

		/* the last page of a level has no high fence */
		if (!BlockNumberIsValid(shidx_page_right(page)))
			nulls[9] = nulls[13] = nulls[14] = nulls[15] = true;
	}
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values, nulls)));
}

/*
 * simhash_page_items(index regclass, block bigint) -> a row for each entry
 *
 * For the metapage, there is a row for each tree, with the place of its root.
 * Locks the page in share mode while it is copied.
 */
Datum
simhash_page_items(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	PageCopy	copy;
	Page		page = (Page) copy.page.data;
	bool		is_meta;
	int			count;

	InitMaterializedSRF(fcinfo, 0);
	copy_page(fcinfo, &copy);
	if (PageIsNew(page))
		return (Datum) 0;
	is_meta = copy.block == SHIDX_METAPAGE_BLOCK;
	count = is_meta ? ShIdxPageGetMeta(page)->ntrees : shidx_page_count(page);
	for (int i = 0; i < count; i++)
	{
		Datum		values[ITEM_COLUMNS] = {0};
		bool		nulls[ITEM_COLUMNS] = {0};
		ItemPointerData tid;

		values[0] = Int32GetDatum(i);
		if (is_meta)
		{
			memset(&nulls[1], true, ITEM_COLUMNS - 1);
			values[5] = Int64GetDatum(ShIdxPageGetMeta(page)->roots[i].block);
			nulls[5] = false;
		}
		else
		{
			bool		leaf = shidx_page_is_leaf(page);

			int			tree = shidx_page_tree(page);
			ShIdxKey	key = shidx_page_key(page, i);

			fill_key(key, &tid, &values[1]);
			if (tree < copy.ntrees)
				values[4] = SimhashGetDatum(shbits_unpermute(&copy.scheme->tables[tree % copy.scheme->ntables],
															 key.fp));
			else
				nulls[4] = true;
			if (leaf)
				values[6] = BoolGetDatum(shidx_is_dead(page, i));
			else
				values[5] = Int64GetDatum(shidx_inner_child(page, i));
			nulls[5] = leaf;
			nulls[6] = !leaf;
		}
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	}
	return (Datum) 0;
}
