/*-------------------------------------------------------------------------
 *
 * pages.c
 *	  Fuzzing of src/index/page.c, leaf.c and cache.c: pages as they are written, with
 *	  damage.  What the check of a page lets pass, all that reads one must bear.
 *
 *-------------------------------------------------------------------------
 */
#include "fuzz.h"

#include "access/genam.h"
#include "access/transam.h"
#include "catalog/pg_class.h"
#include "catalog/pg_index.h"
#include "storage/bufmgr.h"

#include "index/leaf.h"
#include "index/tree.h"

/* What they need of a server beyond server.c: a buffer, and an index of one column */
static PGAlignedBlock *block;
char	   *BufferBlocks;
int			NBuffers = 1;
Block	   *LocalBufferBlockPointers = NULL;

static FormData_pg_class class = {.relnatts = 1};
static FormData_pg_index attributes = {.indnatts = 1,.indnkeyatts = 1};

Buffer
ReadBuffer(Relation relation, BlockNumber blockno)
{
	return 1;
}

#if PG_VERSION_NUM >= 190000
void
LockBufferInternal(Buffer buffer, BufferLockMode mode)
{
}
#else
void
LockBuffer(Buffer buffer, int mode)
{
}
#endif

void
UnlockReleaseBuffer(Buffer buffer)
{
}

BlockNumber
BufferGetBlockNumber(Buffer buffer)
{
	return buffer - 1;
}

RegProcedure
index_getprocid(Relation relation, AttrNumber attnum, uint16 procnum)
{
	return FirstNormalObjectId; /* any: only the metapage has the width */
}

BlockNumber
RelationGetNumberOfBlocksInFork(Relation relation, ForkNumber fork)
{
	return 1000;
}

/* up to 64 bytes are replaced */
static void
damage(void)
{
	for (int n = take_byte() % 65; n > 0; n--)
	{
		Size		at = take_integer(2) % BLCKSZ;

		/* most often in the header or the special area */
		if (take_byte() % 4 > 0)
			at = at % 2 ? at / 2 % SizeOfPageHeaderData : BLCKSZ - 1 - at / 2 % sizeof(ShIdxOpaqueData);
		block->data[at] = take_byte();
	}
}

static ShIdxKey
take_key(bool grouped)
{
	uint64		fp = take_integer(8);
	uint64		tid = take_integer(6);

	return shidx_make_key(grouped ? take_integer(4) : 0, fp, tid);
}

/* a page between fences, of entries that a generator makes from a byte */
static void
make_page(bool grouped, int level)
{
	Page		page = block->data;
	ShIdxKey	low = take_key(grouped);
	ShIdxKey	high = take_byte() % 2 ? SHIDX_HIGHEST_KEY : take_key(grouped);
	int			row_width = SHIDX_MIN_ROW_WIDTH + take_byte() % 4;
	uint64		random = take_byte();
	int			count = take_integer(2);

	shidx_init_page(page, 0, level, grouped ? SHIDX_GROUPED : 0, low, high,
					shidx_key_equal(high, SHIDX_HIGHEST_KEY) ? InvalidBlockNumber : 7);
	if (level == 0)
		shidx_set_widths(page, row_width);
	count %= shidx_page_capacity(page) + 1;
	shidx_set_count(page, count);
	for (int i = 0; i < count; i++)
	{
		random = random * UINT64CONST(0x9E3779B97F4A7C15) + 1;
		memcpy(PageGetContents(page) + i * shidx_key_width(page), &random, shidx_key_width(page));
		memcpy(shidx_page_pointer(page, i), (char *) &random + 2, 6);
	}
	shidx_set_sorted(page, take_byte() % 2 ? count : 0);
}

static int
naive_filter(Page leaf, int first, int end, ShPermuted query, int radius, uint16 *found)
{
	int			n = 0;

	for (int i = first; i < end; i++)
	{
		if (__builtin_popcountll(shidx_leaf_fp(leaf, i) ^ query) <= radius)
			found[n++] = i - first;
	}
	return n;
}

/* what is wrong with a page of whatever tree and level it claims to be of */
static const char *
problem_of(Page page)
{
	return shidx_page_problem(page, shidx_page_tree(page), shidx_page_level(page));
}

static void
read_leaf(Page leaf, ShIdxKey key)
{
	static const char *const names[] = {"portable", "neon", "popcnt", "avx2", "avx512"};
	static ShPermuted fps[SHIDX_MAX_ENTRIES];
	static ShIdxRow rows[SHIDX_MAX_ENTRIES];
	static uint32 groups[SHIDX_MAX_ENTRIES];
	uint16		found[SHIDX_MAX_ENTRIES];
	uint16		expected[SHIDX_MAX_ENTRIES];
	ShIdxRow	row = take_integer(6);
	int			count = shidx_read_leaf(leaf, fps, rows, groups);
	int			radius = take_byte() % 70 - 2;
	int			first;
	int			end;
	int			nexpected;
	int			dead = 0;

	first = shidx_find_sorted(leaf, key.group, key.fp);
	require(first >= 0 && first <= shidx_leaf_sorted(leaf));
	shidx_find_about(leaf, key.group, key.fp, Max(key.fp, take_integer(8)), &first, &end);
	require(first >= 0 && end <= count);
	if (first > end)
		first = end;

	nexpected = naive_filter(leaf, first, end, key.fp, radius, expected);
	for (int i = 0; i < lengthof(names); i++)
	{
		if (shbits_kernels_named(names[i]) == NULL)
			continue;
		shbits_kernels = shbits_kernels_named(names[i]);
		require(shidx_filter_leaf(leaf, first, end, key.fp, radius, found) == nexpected &&
				memcmp(found, expected, nexpected * sizeof(uint16)) == 0);
	}

	for (int i = 0; i < count; i++)
	{
		require(shidx_key_equal(shidx_leaf_key(leaf, i), shidx_make_key(groups[i], fps[i], rows[i])));
		dead += shidx_is_dead(leaf, i);
	}
	require(dead <= count);
	if (shidx_leaf_takes(leaf, shidx_make_key(0, 0, row)))
	{
		shidx_set_count(leaf, count + 1);
		shidx_set_entry(leaf, count, shidx_make_key(key.group, key.fp, row));
		require(shidx_leaf_row(leaf, count) == row && problem_of(leaf) == NULL);
	}
	shidx_clear_dead(leaf);
}

static void
read_page(Page page, ShIdxKey key)
{
	static ShIdxSortedEntry entries[SHIDX_MAX_ENTRIES];
	int			count = shidx_sort_entries(page, entries);

	require(count <= shidx_page_capacity(page) && count <= SHIDX_MAX_ENTRIES);
	for (int i = 1; i < count; i++)
		require(!shidx_key_less(entries[i].key, entries[i - 1].key));
	if (shidx_page_is_leaf(page))
		read_leaf(page, key);
	else
	{
		int			child = shidx_find_downlink(page, key);

		require(child < count && (child >= 0 || shidx_key_less(key, entries[0].key)));
		if (child >= 0)
			shidx_inner_child(page, child);
	}
}

static void
fuzz_metapage(void)
{
	RelationData index = {.rd_rel = &class,.rd_index = &attributes};
	TupleDesc	desc = palloc0(sizeof(struct TupleDescData) + 2 * sizeof(FormData_pg_attribute));
	static const int widths[] = {64, 8, 128, 4096};
	int			width = widths[take_byte() % lengthof(widths)];
	int			distance = 1 + take_byte() % 4;
	int			blocks = distance + 1 + take_byte() % 3;
	ShIdxGeometry *geometry = shidx_make_geometry(width, blocks, distance, false);
	ShIdxCache *cache;

	desc->natts = 1;
	index.rd_att = desc;
	if (geometry->ntrees >= SHIDX_MAX_TREES)
		return;
	shidx_init_metapage(block->data, geometry, 1);
	for (int tree = 0; tree <= geometry->ntrees; tree++)
		shidx_set_root(block->data, tree, 1 + tree, 0);
	for (int n = take_byte() % 65; n > 0; n--)
	{
		Size		at = take_byte();

		block->data[SizeOfPageHeaderData + at] = take_byte();
	}
	damage();
	cache = shidx_read_cache(&index);
	geometry = &cache->geometry;
	require(geometry->ntrees == shbits_nparts(geometry->width) * geometry->scheme->ntables);
	for (int i = 0; i < geometry->scheme->ntables; i++)
	{
		const ShBitsTable *table = &geometry->scheme->tables[i];
		uint64		fp = take_integer(8) >> (64 - geometry->scheme->bits);

		require(shbits_unpermute(table, shbits_permute(table, fp)) == fp);
	}
}

static void
fuzz_one(void)
{
	int			kind = take_byte();
	ShIdxKey	key;

	block = palloc0(BLCKSZ);
	BufferBlocks = block->data;
	if (kind % 8 == 0)
		return fuzz_metapage();
	make_page(kind & 1, kind & 2 ? 1 + kind / 64 : 0);
	key = take_key(kind & 1);
	damage();
	if (problem_of(block->data) == NULL)
		read_page(block->data, key);
}
