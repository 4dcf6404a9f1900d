/*-------------------------------------------------------------------------
 *
 * tree.c
 *	  Tests of whole trees without a server: what a build writes, and what
 *	  inserts, splits, wider rows and VACUUM make of it, compared with a sorted
 *	  list of keys.
 *
 * Leaves leave out the bytes that all fingerprints between their fences share, so
 * what matters is where fences are: at fingerprints 0 and 2^64-1 and beside them,
 * at group 0 and 2^32-1, between groups that follow each other and others, with
 * 0 to 4 bytes in common that are 0x00, 0xFF or others.
 *
 *-------------------------------------------------------------------------
 */
#include "unit.h"

#include "access/genam.h"
#include "access/generic_xlog.h"
#include "access/xlog.h"
#include "access/xloginsert.h"
#include "catalog/pg_class.h"
#include "catalog/pg_index.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "storage/predicate.h"
#include "utils/backend_progress.h"

#include "index/tree.h"
#include "index/tree.h"
#include "index/leaf.h"
#include "index/tree.h"
#include "index/build.h"

#define MAX_PAGES	10000
#define MAX_KEYS	30000

/*
 * Pages in memory: block n is in buffer n + 1, and nothing is locked or logged.
 */
char	   *BufferBlocks;
int			NBuffers = MAX_PAGES;
int32		NLocBuffer = 0;
Block	   *LocalBufferBlockPointers = NULL;
volatile uint32 CritSectionCount = 0;
int			wal_level = 0;

static BlockNumber npages;

static Page
page_of(BlockNumber block)
{
	return (Page) (BufferBlocks + (Size) block * BLCKSZ);
}

static BlockNumber
new_page(void)
{
	if (npages == MAX_PAGES)
		bail_out("too many pages");
	memset(page_of(npages), 0, BLCKSZ);
	return npages++;
}

BlockNumber
BufferGetBlockNumber(Buffer buffer)
{
	return buffer - 1;
}

Buffer
ReadBuffer(Relation relation, BlockNumber block)
{
	return block + 1;
}

#if PG_VERSION_NUM >= 160000
Buffer
ExtendBufferedRel(BufferManagerRelation relation, ForkNumber fork,
				  BufferAccessStrategy strategy, uint32 flags)
{
	return new_page() + 1;
}
#else
Buffer
ReadBufferExtended(Relation relation, ForkNumber fork, BlockNumber block, ReadBufferMode mode,
				   BufferAccessStrategy strategy)
{
	return block == P_NEW ? new_page() + 1 : block + 1;
}

void
LockRelationForExtension(Relation relation, LOCKMODE mode)
{
}

void
UnlockRelationForExtension(Relation relation, LOCKMODE mode)
{
}

bool
IsInParallelMode(void)
{
	return false;
}
#endif

#if PG_VERSION_NUM >= 190000
void
LockBufferInternal(Buffer buffer, BufferLockMode mode)
{
}

void
UnlockBuffer(Buffer buffer)
{
}
#else
void
LockBuffer(Buffer buffer, int mode)
{
}
#endif

void
ReleaseBuffer(Buffer buffer)
{
}

void
UnlockReleaseBuffer(Buffer buffer)
{
}

void
MarkBufferDirty(Buffer buffer)
{
}

void
PredicateLockPageSplit(Relation relation, BlockNumber old, BlockNumber new)
{
}

/* no index here is logged */
void
XLogBeginInsert(void)
{
	abort();
}

void
XLogRegisterBuffer(uint8 id, Buffer buffer, uint8 flags)
{
	abort();
}

#if PG_VERSION_NUM >= 180000
void
XLogRegisterBufData(uint8 id, const void *data, uint32 length)
#elif PG_VERSION_NUM >= 160000
void
XLogRegisterBufData(uint8 id, char *data, uint32 length)
#else
void
XLogRegisterBufData(uint8 id, char *data, int length)
#endif
{
	abort();
}

XLogRecPtr
XLogInsert(RmgrId rmgr, uint8 info)
{
	abort();
}

/* as in the server, the hole is not copied back */
struct GenericXLogState
{
	int			count;
	Buffer		buffers[MAX_GENERIC_XLOG_PAGES];
	PGAlignedBlock images[MAX_GENERIC_XLOG_PAGES];
};

GenericXLogState *
GenericXLogStart(Relation relation)
{
	return calloc(1, sizeof(GenericXLogState));
}

Page
GenericXLogRegisterBuffer(GenericXLogState *state, Buffer buffer, int flags)
{
	char	   *image = state->images[state->count].data;

	memcpy(image, page_of(buffer - 1), BLCKSZ);
	state->buffers[state->count++] = buffer;
	return (Page) image;
}

XLogRecPtr
GenericXLogFinish(GenericXLogState *state)
{
	for (int i = 0; i < state->count; i++)
	{
		char	   *image = state->images[i].data;
		PageHeader	header = (PageHeader) image;

		memset(image + header->pd_lower, 0, header->pd_upper - header->pd_lower);
		memcpy(page_of(state->buffers[i] - 1), image, BLCKSZ);
	}
	free(state);
	return InvalidXLogRecPtr;
}

void
pgstat_progress_update_param(int index, int64 value)
{
}

/*
 * What the parts above and beside the tested ones do.
 */
struct ShIdxSort
{
	ShIdxSortItems items;
	size_t		left;
};

size_t
shidx_sort_next_items(ShIdxSort *sort, ShIdxSortItems *items)
{
	size_t		count = sort->left;

	*items = sort->items;
	sort->left = 0;
	return count;
}

/* the last page of the level that is written */
static BlockNumber last_of_level = InvalidBlockNumber;

Page
shidx_add_page(ShIdxPageWriter *writer, ShIdxPageList *level, ShIdxKey low)
{
	BlockNumber block = new_page();

	if (BlockNumberIsValid(last_of_level))
		shidx_set_right(page_of(last_of_level), block);
	last_of_level = block;
	shidx_list_add(level, low, block);
	return page_of(block);
}

void
shidx_end_level(ShIdxPageWriter *writer)
{
	last_of_level = InvalidBlockNumber;
}

void
shidx_forget_metapage(Relation index)
{
}

void
shidx_check_metapage(Relation index, Buffer buffer)
{
}

Buffer
shidx_search(Relation index, int tree, int level, ShIdxKey key, int lockmode)
{
	BlockNumber block = ShIdxPageGetMeta(page_of(0))->roots[0].block;

	while (shidx_page_level(page_of(block)) > level)
		block = shidx_inner_child(page_of(block), shidx_find_downlink(page_of(block), key));
	return block + 1;
}

/*
 * An index of one tree, and the keys that it should have.
 */
static FormData_pg_class class;
static FormData_pg_index attributes;
static RelationData index_data;
static Relation index_ = &index_data;
static ShIdxKey keys[MAX_KEYS];
static int	nkeys;

static int
compare_keys(const void *a, const void *b)
{
	const		ShIdxKey *left = a;
	const		ShIdxKey *right = b;

	return shidx_key_less(*left, *right) ? -1 : shidx_key_less(*right, *left);
}

static void
sort_keys(void)
{
	qsort(keys, nkeys, sizeof(ShIdxKey), compare_keys);
}

/* what the keys of a tree are made of */
typedef struct Shape
{
	bool		grouped;
	uint32		groups[4];
	int			ngroups;
	uint64		first;			/* the bytes that they share */
	int			shared;			/* and how many */
	int			row_width;
	bool		equal;			/* many have the same fingerprint */
} Shape;

/*
 * A row that needs so many bytes, and that no other key has.
 */
static uint64
next_row(int width)
{
	static const int block_bits[] = {15, 23, 31, 32};
	static uint64 row = 0;
	int			bits = block_bits[width - 3];
	uint64		block = ++row * 40503 & ((UINT64CONST(1) << bits) - 1);

	if (width > 3)
		block |= UINT64CONST(1) << (bits - 1);
	return Min(block, UINT64CONST(0xFFFFFFFE)) << 16 |
		(width < 6 ? 1 + (row >> 15) % 511 : 65535 - row % 65000);
}

static ShIdxKey
random_key(const Shape *shape)
{
	uint64		others = shape->shared == 8 ? 0 : PG_UINT64_MAX >> shape->shared * 8;
	uint64		fp = next_random() & others;

	if (shape->equal && next_random() % 4 > 0)
		fp = others / 3 * (next_random() % 4);
	else if (next_random() % 200 == 0)
		fp = next_random() % 2 ? next_random() % 3 : others - next_random() % 3;
	return shidx_make_key(shape->groups[next_random() % shape->ngroups],
						 (shape->first & ~others) | (fp & others),
						 next_row(next_random() % 20 ? 3 : shape->row_width));
}

/*
 * Where a search among the sorted entries of a leaf of several groups ends.
 */
static bool
finds_sorted(Page leaf)
{
	int			sorted = shidx_leaf_sorted(leaf);

	for (int round = 0; round < 3 && sorted > 0; round++)
	{
		ShIdxKey		key = shidx_leaf_key(leaf, round == 2 ? sorted - 1 : next_random() % sorted);
		ShPermuted	low = round == 1 ? 0 : key.fp;
		ShPermuted	high = round == 0 ? key.fp : PG_UINT64_MAX;
		int			first;
		int			end;

		shidx_find_about(leaf, key.group, low, high, &first, &end);
		if (first < 0 || first > end || end > sorted)
			return false;
		for (int i = 0; i < sorted; i++)
		{
			ShIdxKey		other = shidx_leaf_key(leaf, i);

			if (other.group == key.group && other.fp >= low && other.fp <= high &&
				(i < first || i >= end))
				return false;
		}
	}
	return true;
}

/*
 * Is a page of a level right?  Adds its keys to found[] and, if it is a leaf, its
 * entries, else the children, to what is there.
 */
static const char *
page_problem(const Shape *shape, Page page, int level, ShIdxKey low, ShIdxKey *found, int *nfound)
{
	static ShIdxSortedEntry entries[SHIDX_MAX_ENTRIES];
	const char *problem = shidx_page_problem(page, 0, level);
	int			count;

	if (problem != NULL)
		return problem;
	if (!shidx_key_equal(shidx_page_low(page), low))
		return "a gap between pages";
	count = shidx_sort_entries(page, entries);
	if (*nfound + count > MAX_KEYS)
		return "too many entries";
	for (int i = 0; i < count; i++)
	{
		if (shidx_key_less(entries[i].key, low) ||
			!shidx_key_less(entries[i].key, shidx_page_high(page)))
			return "an entry outside of the fences";
		found[(*nfound)++] = entries[i].key;
	}
	if (level > 0)
		return NULL;
	if (!shidx_has_widths(page, shidx_row_width(page)))
		return "a leaf of other widths than the fences require";
	for (int i = count; i < shidx_page_capacity(page); i++)
	{
		if (shidx_is_dead(page, i))
			return "a mark without an entry";
	}
	for (int i = 1; i < shidx_leaf_sorted(page); i++)
	{
		ShIdxKey		left = shidx_leaf_key(page, i - 1);
		ShIdxKey		right = shidx_leaf_key(page, i);

		if (left.group > right.group || (left.group == right.group && left.fp > right.fp))
			return "a run that is not sorted";
	}
	return finds_sorted(page) ? NULL : "a search that misses an entry";
}

/*
 * What is wrong with the tree; NULL if it has the keys and nothing else.
 */
static const char *
tree_problem(const Shape *shape)
{
	static ShIdxKey found[MAX_KEYS];
	static ShIdxKey lows[MAX_KEYS];
	const ShIdxRoot *root = &ShIdxPageGetMeta(page_of(0))->roots[0];
	BlockNumber first = root->block;

	for (int level = root->level; level >= 0; level--)
	{
		int			nfound = 0;
		int			npages_of_level = 0;
		ShIdxKey		low = SHIDX_LOWEST_KEY;
		BlockNumber below = level > 0 ?
			shidx_inner_child(page_of(first), shidx_find_downlink(page_of(first), low)) : 0;

		for (BlockNumber block = first; BlockNumberIsValid(block); block = shidx_page_right(page_of(block)))
		{
			const char *problem = page_problem(shape, page_of(block), level, low, found, &nfound);

			if (problem != NULL)
				return problem;
			/* the level above has told where it begins */
			if (level < (int) root->level && !shidx_key_equal(lows[npages_of_level], low))
				return "a page without a downlink";
			npages_of_level++;
			low = shidx_page_high(page_of(block));
		}
		if (!shidx_key_equal(low, SHIDX_HIGHEST_KEY))
			return "a level without an end";
		if (level > 0)
			memcpy(lows, found, nfound * sizeof(ShIdxKey));
		else
		{
			for (int i = 0; i < Max(nfound, nkeys); i++)
			{
				if (nfound != nkeys || !shidx_key_equal(found[i], keys[i]))
					return "other entries";
			}
		}
		first = below;
	}
	return NULL;
}

static void
build(const Shape *shape, int count, int fillfactor)
{
	static ShIdxSortItem items[MAX_KEYS];
	static uint32 groups[MAX_KEYS];
	ShIdxGeometry *geometry = shidx_make_geometry(SHBITS_WIDTH, 4, 3, false);
	ShIdxSort		sort;
	pg_atomic_uint64 written;
	ShIdxRoot	root;
	ShIdxBuild	state = {.index = index_,.geometry = geometry,.fillfactor = fillfactor,
	.written = &written,.roots = &root};

	class.relpersistence = RELPERSISTENCE_UNLOGGED;
	attributes.indnatts = shape->grouped ? 2 : 1;
	index_->rd_rel = &class;
	index_->rd_index = &attributes;
	npages = 0;
	shidx_init_metapage(page_of(new_page()), geometry, attributes.indnatts);

	for (nkeys = 0; nkeys < count;)
		keys[nkeys++] = random_key(shape);
	sort_keys();
	for (int i = 0; i < nkeys; i++)
	{
		items[i] = shidx_sort_item(keys[i].fp, keys[i].tid);
		groups[i] = keys[i].group;
	}
	sort.items.items = items;
	sort.items.groups = shape->grouped ? groups : NULL;
	sort.left = nkeys;
	pg_atomic_init_u64(&written, 0);
	shidx_write_tree(&state, &sort, 0);
	shidx_set_root(page_of(0), 0, root.block, root.level);
	pfree(geometry);
}

/* as insert.c does */
static void
insert(const Shape *shape, int count, int fillfactor)
{
	for (int i = 0; i < count; i++)
	{
		ShIdxKey		key = random_key(shape);
		Buffer		leaf;

		for (int tries = 0;; tries++)
		{
			leaf = shidx_search(index_, 0, 0, key, BUFFER_LOCK_EXCLUSIVE);
			if (shidx_leaf_takes(page_of(leaf - 1), key))
				break;
			if (tries == 5)
				bail_out("there is no room");
			shidx_make_room(index_, 0, 0, key, fillfactor);
		}
		shidx_append(index_, 1, &leaf, &key);
		keys[nkeys++] = key;
	}
}

/* as VACUUM does: of each leaf some entries, or all, or those whose rows are far behind */
static void
vacuum(void)
{
	int			kept = 0;

	for (BlockNumber block = 1; block < npages; block++)
	{
		Page		page = page_of(block);
		uint16		positions[SHIDX_MAX_ENTRIES];
		int			npositions = 0;
		int			how = next_random() % 4;

		if (!shidx_page_is_leaf(page))
			continue;
		/* marks of entries that move must not stay */
		memset(shidx_dead_marks(page), 0xFF, shidx_page_count(page) / BITS_PER_BYTE);
		for (int i = 0; i < shidx_page_count(page); i++)
		{
			ShIdxKey		key = shidx_leaf_key(page, i);

			if (how == 0 || next_random() % 5 == 0 || (how == 1 && shidx_row_width_of(key.tid) > 3))
				positions[npositions++] = i;
			else
				keys[kept++] = key;
		}
		if (npositions > 0)
			shidx_remove(index_, block + 1, positions, npositions);
		else
			shidx_clear_dead(page);
	}
	nkeys = kept;
	sort_keys();
}

/* what is wrong after each step */
static bool
is_right(const Shape *shape, const char *when)
{
	const char *problem;

	sort_keys();
	problem = tree_problem(shape);
	if (problem != NULL)
		printf("# %s, groups %u .. %u, %d bytes of %016llx: %s\n", when,
			   shape->groups[0], shape->groups[shape->ngroups - 1], shape->shared,
			   (unsigned long long) shape->first, problem);
	return problem == NULL;
}

static const char *const steps[] = {"built", "with inserts", "vacuumed", "filled again"};

/* Add what becomes of trees of a shape, step by step. */
static void
test_shape(const Shape *shape, bool *passed)
{
	static const int fillfactors[] = {50, 90, 100};
	int			count = 900 + next_random() % 4000;
	int			fillfactor = fillfactors[next_random() % lengthof(fillfactors)];

	build(shape, count, fillfactor);
	passed[0] &= is_right(shape, steps[0]);
	/* what has been built wrong cannot be searched */
	if (!passed[0])
		return;
	insert(shape, count / 2, fillfactor);
	passed[1] &= is_right(shape, steps[1]);
	vacuum();
	passed[2] &= is_right(shape, steps[2]);
	insert(shape, count, fillfactor);
	passed[3] &= is_right(shape, steps[3]);
}

static void
test_trees(const char *subject, bool grouped, const uint32 *groups, int ngroups)
{
	static const uint64 firsts[] = {0, PG_UINT64_MAX, UINT64CONST(0x123456789ABCDEF0)};
	bool		passed[] = {true, true, true, true};

	for (int shared = 0; shared <= 4; shared++)
	{
		for (int first = 0; first < lengthof(firsts); first++)
		{
			for (int row_width = 3; row_width <= 6; row_width++)
			{
				Shape		shape = {.grouped = grouped,.ngroups = ngroups,.first = firsts[first],
				.shared = shared,.row_width = row_width,.equal = next_random() % 4 == 0};

				memcpy(shape.groups, groups, ngroups * sizeof(uint32));
				test_shape(&shape, passed);
			}
		}
	}
	/* all have one fingerprint, as the nulls have */
	for (int first = 0; first < lengthof(firsts); first++)
	{
		Shape		shape = {.grouped = grouped,.ngroups = ngroups,.first = firsts[first],
		.shared = 8,.row_width = 4};

		memcpy(shape.groups, groups, ngroups * sizeof(uint32));
		test_shape(&shape, passed);
	}
	for (int i = 0; i < lengthof(steps); i++)
		report(passed[i], subject, steps[i]);
}

int
main(void)
{
	BufferBlocks = allocate((Size) MAX_PAGES * BLCKSZ);
	test_trees("one column", false, (uint32[]) {0}, 1);
	test_trees("the first group", true, (uint32[]) {0}, 1);
	test_trees("the last group", true, (uint32[]) {PG_UINT32_MAX}, 1);
	test_trees("a group", true, (uint32[]) {5}, 1);
	test_trees("groups that follow each other", true, (uint32[]) {0, 1, 2}, 3);
	test_trees("other groups", true, (uint32[]) {7, 300, 70000}, 3);
	test_trees("the first and the last group", true, (uint32[]) {0, PG_UINT32_MAX}, 2);
	test_trees("the last two groups", true, (uint32[]) {PG_UINT32_MAX - 1, PG_UINT32_MAX}, 2);
	return finish();
}
