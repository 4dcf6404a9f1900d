/*-------------------------------------------------------------------------
 *
 * map.c
 *	  What a backend remembers of the inner pages of simhash indexes.
 *
 * Most searches are for leaves, and go from the root down over pages that
 * hardly ever change.  So a backend keeps copies of the inner pages that it
 * has read, in key order, and goes from them directly to the leaf: one page
 * access instead of three.  A new session pays for an inner page once, not for
 * each of the 450 leaves below it.  Without maps, lookups within 3 bits take 2.2
 * times as long at 1e6 and 1e7 rows, the first ones of a session 1.4 to 1.7 times,
 * and inserts 2.2 times (November 2026, all pages in shared buffers).
 *
 * A copy is found by the file of the index and the block number of the page, in one
 * table for all indexes.  A search thus goes from copy to copy as it would go from
 * page to page, and the copies need not know of each other.  Why a copy may be out of
 * date, or belong to another index, and does no harm: src/README.md, section 3.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "compat.h"
#include "index/cache.h"
#include "index/leaf.h"
#include "index/page.h"

/* what all copies may take, in bytes: a third of a million leaves */
#ifndef SHIDX_MAP_BYTES
#define SHIDX_MAP_BYTES		(8 * 1024 * 1024)
#endif

/*
 * The table has many more slots than large copies have room.  A copy may be in any of
 * the slots of a set.
 */
#define SET_SLOTS			4
#define SETS_LOG			11
#define SLOTS				(SET_SLOTS << SETS_LOG)

/* once there is no room, how many copies are wanted for each one that is made */
#define REPLACE_INTERVAL	32

/* bytes of the sorted fingerprints of a leaf after a build, as a rule */
#define USUALLY_SORTED		(SHIDX_PAGE_SPACE * 6 / 10)

/* a page below one that has been copied */
typedef struct Child
{
	ShPermuted	fp;				/* of its low fence, */
	uint32		group;			/* which never changes */
	BlockNumber block;
	Buffer		buffer;			/* where it was last seen */
	uint16		sorted;			/* of a leaf, how many bytes of fingerprints
								 * were sorted */
} Child;

/* the copy of an inner page */
typedef struct Copy
{
	ShIdxKey	high;			/* its high fence when it was copied */
	int			tree;
	int			level;
	int			count;
	int			capacity;
	bool		grouped;
	double		scale;			/* children per difference of fingerprints; 0
								 * if useless for estimates */
	ShIdxRow   *tids;			/* of the low fences, or NULL if all are 0 */
	Child		children[FLEXIBLE_ARRAY_MEMBER];	/* ascending; then the
													 * TIDs */
} Copy;

typedef struct Slot
{
	uint64		page;			/* see page_of; 0 if free */
	Copy	   *copy;
} Slot;

static Slot slots[SLOTS];
static MemoryContext map_context = NULL;
static Size map_bytes = 0;		/* of all copies */
static uint32 map_refusals = 0;
static uint32 map_hand = 0;		/* the next slot to be freed, if there is no
								 * room */

/*
 * What identifies a page: the number of the file of its index, and the block.  Files
 * may have the same number in different tablespaces, or if one is temporary; then each
 * meets copies that are wrong for it.
 *
 * Separate copies for each index only save time, since a buffer that a copy names is
 * used only if it has a page of this index (read_place in tree.c).  So the tests also
 * run with SHIDX_SHARE_MAP, where all indexes share them, and most are wrong.
 */
static inline uint64
page_of(Relation index, BlockNumber block)
{
#ifdef SHIDX_SHARE_MAP
	return UINT64CONST(1) << 32 | block;
#else
	return (uint64) shcompat_file_number(index) << 32 | block;
#endif
}

/* the first slot of the set in which a page may be; a Fibonacci hash */
static inline int
set_of(uint64 page)
{
	return (int) (page * UINT64CONST(0x9E3779B97F4A7C15) >> (64 - SETS_LOG)) * SET_SLOTS;
}

/* the slot of a set that has a page, or is free if the page is 0; -1 if none is */
static inline int
find_in_set(int set, uint64 page)
{
	for (int slot = set; slot < set + SET_SLOTS; slot++)
	{
		if (slots[slot].page == page)
			return slot;
	}
	return -1;
}

/*
 * The copy of a page of a tree and level, or NULL.  Sets *slot to where it is.
 */
static inline Copy *
find_copy(Relation index, BlockNumber block, int tree, int level, int *slot)
{
	uint64		page = page_of(index, block);
	Copy	   *copy;

	*slot = find_in_set(set_of(page), page);
	if (unlikely(*slot < 0))
		return NULL;
	copy = slots[*slot].copy;

	/* or else it belongs to former contents of the file */
	return likely(copy->tree == tree && copy->level == level) ? copy : NULL;
}

static void
free_slot(Slot *slot)
{
	if (slot->copy != NULL)
	{
		map_bytes -= GetMemoryChunkSpace(slot->copy);
		pfree(slot->copy);
	}
	slot->copy = NULL;
	slot->page = 0;
}

/*
 * Forget all that is remembered of the file of an index.
 */
void
shidx_map_forget(Relation index)
{
	uint64		file = page_of(index, 0);

	for (int i = 0; i < SLOTS; i++)
	{
		if ((slots[i].page & ~(uint64) PG_UINT32_MAX) == file)
			free_slot(&slots[i]);
	}
}

static void
set_scale(Copy *copy)
{
	const Child *first = &copy->children[0];
	const Child *last = &copy->children[copy->count - 1];

	copy->scale = last->fp == first->fp || last->group != first->group ? 0 :
		copy->count / (double) (last->fp - first->fp);
}

/* a search for a key among the children of a copy */
typedef struct ChildSearch
{
	const Copy *copy;
	ShIdxKey	key;
} ChildSearch;

/*
 * Is the key not below the low fence of child i?
 */
static inline bool
reaches_child(const void *arg, int i)
{
	const ChildSearch *search = arg;
	const Copy *copy = search->copy;
	const Child *child = &copy->children[i];

	if (search->key.group != child->group)
		return search->key.group > child->group;
	if (search->key.fp != child->fp)
		return search->key.fp > child->fp;
	return copy->tids == NULL || search->key.tid >= copy->tids[i];
}

/*
 * The child whose range holds the key, if that of the page does.
 *
 * Fingerprints are uniformly distributed, as a rule.  So the position of the
 * key between those of the first and the last child, if these have the same
 * group, tells roughly which child it is.
 */
static int
find_child(const Copy *copy, ShIdxKey key)
{
	ChildSearch search = {copy, key};
	ShPermuted	first = copy->children[0].fp;
	int			guess = copy->count / 2;

	if (copy->scale != 0)
		guess = key.fp <= first ? 0 : (int) Min((key.fp - first) * copy->scale, copy->count - 1);
	return Max(shidx_count_from(reaches_child, &search, copy->count, guess, 1) - 1, 0);
}

/*
 * Move a place from an inner page to its child that holds the key.  Returns false, with
 * the place unchanged, if there is no copy of the page, or if it has been split since it
 * was copied.
 */
bool
shidx_map_child(Relation index, int tree, ShIdxKey key, ShIdxPlace *place)
{
	int			slot;
	Copy	   *copy = find_copy(index, place->block, tree, place->level, &slot);
	int			i;

	if (unlikely(copy == NULL || !shidx_key_less(key, copy->high)))
		return false;
	i = find_child(copy, key);
	place->block = copy->children[i].block;
	place->level--;
	place->buffer = copy->children[i].buffer;
	place->slot = slot;
	place->child = i;
	return true;
}

/*
 * About how many leaves of the first tree start at keys with low < key <= high, according to
 * the copies at both ends; -1 if these are not known, or not next to each other on a
 * level above the lowest two.
 *
 * Copies lack the leaves of splits that no search has met since (shidx_map_learn).
 */
double
shidx_map_count(Relation index, ShIdxRoot root, ShIdxKey low, ShIdxKey high)
{
	BlockNumber block = root.block;

	for (int level = root.level;; level--)
	{
		int			slot;
		const Copy *copy = find_copy(index, block, 0, level, &slot);
		const Copy *left;
		const Copy *right;
		int			first;
		int			last;

		if (copy == NULL || !shidx_key_less(high, copy->high))
			return -1;
		first = find_child(copy, low);
		last = find_child(copy, high);
		if (level == 1)
			return last - first;
		block = copy->children[first].block;
		if (first == last)
			continue;
		left = find_copy(index, block, 0, level - 1, &slot);
		right = find_copy(index, copy->children[last].block, 0, level - 1, &slot);
		if (left == NULL || right == NULL || level > 2)
			return -1;
		return left->count - 1 - find_child(left, low) + find_child(right, high) + 1 +
			(last - first - 1) * (left->count + right->count) / 2.0;
	}
}

/*
 * The copy that led to a place, if it is still there and has the place; or NULL.
 */
static inline Copy *
parent_of(const ShIdxPlace *place)
{
	Copy	   *copy = place->slot < 0 ? NULL : slots[place->slot].copy;

	return copy != NULL && likely(place->child < copy->count &&
								  copy->children[place->child].block == place->block) ? copy : NULL;
}

/*
 * Remember the buffer in which the page of a place has been found.
 */
void
shidx_map_note(const ShIdxPlace *place, Buffer buffer)
{
	Copy	   *copy = parent_of(place);
	Child	   *child;

	if (copy == NULL)
		return;
	child = &copy->children[place->child];
	child->buffer = buffer;
	if (place->level == 0)
	{
		Page		leaf = BufferGetPage(buffer);

		child->sorted = shidx_leaf_sorted(leaf) * shidx_key_width(leaf);
	}
}

/*
 * Estimate where a fingerprint is among the entries of a leaf that has not been
 * read yet, in bytes from the first one, assuming that they are uniformly
 * distributed.
 */
int
shidx_map_expect(const ShIdxPlace *place, ShPermuted fp)
{
	const Copy *copy = parent_of(place);
	const Child *child;
	bool		last;
	ShPermuted	high;

	if (copy == NULL)
		return 0;
	child = &copy->children[place->child];
	last = place->child == copy->count - 1;
	high = last ? copy->high.fp : child[1].fp;
	if (child->group != (last ? copy->high.group : child[1].group) && copy->grouped)
		return child->sorted / 2;
	if (fp <= child->fp || high <= child->fp)
		return 0;
	return (int) (child->sorted *
				  Min((double) (fp - child->fp) / (double) (high - child->fp), 1.0));
}

static Size
copy_size(int capacity, bool with_tids)
{
	return MAXALIGN(offsetof(Copy, children) + capacity * sizeof(Child)) +
		(with_tids ? capacity * sizeof(ShIdxRow) : 0);
}

/*
 * Is there room for the copy of a page, without removing another page's?
 */
bool
shidx_map_has_room(Relation index, BlockNumber block)
{
	uint64		page = page_of(index, block);

	return map_bytes + copy_size(shidx_inner_capacity(false), true) <= SHIDX_MAP_BYTES &&
		(find_in_set(set_of(page), 0) >= 0 || find_in_set(set_of(page), page) >= 0);
}

/*
 * May a copy be made where there is no room?  It takes as long as dozens of descents,
 * so this is true only now and then.
 */
bool
shidx_map_may_replace(void)
{
	return ++map_refusals % REPLACE_INTERVAL == 0;
}

/*
 * Free the slot of a page, and other ones until its copy has room.
 */
static Slot *
make_slot(Relation index, BlockNumber block, Size size)
{
	uint64		page = page_of(index, block);
	int			set = set_of(page);
	int			slot = find_in_set(set, page);

	if (slot < 0)
		slot = find_in_set(set, 0);
	if (slot < 0)
		slot = set + map_hand++ % SET_SLOTS;
	free_slot(&slots[slot]);
	while (map_bytes > 0 && map_bytes + size > SHIDX_MAP_BYTES)
		free_slot(&slots[map_hand++ % SLOTS]);
	return &slots[slot];
}

/*
 * Copy an inner page.  The copy replaces an older one of the page, and is what led to the
 * place of the child that holds the key.
 */
void
shidx_map_add(Relation index, BlockNumber block, Page page, ShIdxKey key, ShIdxPlace *place)
{
	ShIdxSortedEntry *entries = palloc(SHIDX_MAX_ENTRIES * sizeof(ShIdxSortedEntry));
	int			count = shidx_sort_entries(page, entries);
	int			capacity = Min(count + count / 4 + 8, shidx_page_capacity(page));
	bool		with_tids = false;
	Slot	   *slot;
	Copy	   *copy;

	for (int i = 0; i < count; i++)
		with_tids |= entries[i].key.tid != 0;
	if (map_context == NULL)
		map_context = AllocSetContextCreate(CacheMemoryContext, "simhash inner pages",
											ALLOCSET_DEFAULT_SIZES);
	slot = make_slot(index, block, copy_size(capacity, with_tids));
	copy = MemoryContextAlloc(map_context, copy_size(capacity, with_tids));
	copy->high = shidx_page_high(page);
	copy->tree = shidx_page_tree(page);
	copy->level = shidx_page_level(page);
	copy->count = count;
	copy->capacity = capacity;
	copy->grouped = shidx_page_is_grouped(page);
	copy->tids = with_tids ? (ShIdxRow *) ((char *) copy + copy_size(capacity, false)) : NULL;
	for (int i = 0; i < count; i++)
	{
		ShIdxKey	low = entries[i].key;

		copy->children[i] = (Child)
		{
			low.fp, low.group, shidx_inner_child(page, entries[i].position), InvalidBuffer, USUALLY_SORTED
		};
		if (with_tids)
			copy->tids[i] = low.tid;
	}
	set_scale(copy);
	slot->page = page_of(index, block);
	slot->copy = copy;
	map_bytes += GetMemoryChunkSpace(copy);
	place->slot = slot - slots;
	place->child = find_child(copy, key);
	pfree(entries);
}

/*
 * The search for a key has moved from a place to the page to its right, which
 * the caller has pinned and locked in the given buffer.  Move the place there.
 *
 * Add the page to the copy of the parent.  If that is not possible, remove the copy.
 */
void
shidx_map_learn(ShIdxPlace *place, Buffer buffer)
{
	Copy	   *copy = parent_of(place);
	ShIdxKey	low = shidx_page_low(BufferGetPage(buffer));
	int			at = place->child + 1;
	int			after;

	place->block = BufferGetBlockNumber(buffer);
	place->buffer = buffer;
	place->child = at;
	if (copy == NULL || (at < copy->count && copy->children[at].block == place->block))
		return;
	if (copy->count == copy->capacity || (low.tid != 0 && copy->tids == NULL))
	{
		free_slot(&slots[place->slot]);
		return;
	}

	after = copy->count - at;
	memmove(&copy->children[at + 1], &copy->children[at], after * sizeof(Child));
	copy->children[at] = (Child)
	{
		low.fp, low.group, place->block, buffer, USUALLY_SORTED
	};
	if (copy->tids != NULL)
	{
		memmove(&copy->tids[at + 1], &copy->tids[at], after * sizeof(ShIdxRow));
		copy->tids[at] = low.tid;
	}
	copy->count++;
	set_scale(copy);
}

/*
 * Remove the copy that led to a place, which proved to be out of date.
 */
void
shidx_map_remove(const ShIdxPlace *place)
{
	if (parent_of(place) != NULL)
		free_slot(&slots[place->slot]);
}
