/*-------------------------------------------------------------------------
 *
 * map.c
 *	  What a backend remembers of the inner pages of simhash indexes.
 *
 * Most searches are for leaves, and go from the root down over pages that
 * hardly ever change.  So a backend keeps copies of the inner pages that it
 * has read, in key order, and goes from them directly to the leaf: one page
 * access instead of three.  A new session pays for an inner page once, not for
 * each of the 450 leaves below it.  Without maps, look-ups within 3 bits take 2.2
 * times as long at 1e6 and 1e7 rows, the first ones of a session 1.4 to 1.7 times,
 * and inserts 2.2 times (November 2026, all pages in shared buffers).
 *
 * The copies of a tree form a tree as well.  For each child, a node has its
 * low fence, its block, the buffer where it was last seen, and its node, if
 * there is one.  Only children of nodes become nodes, and only nodes without
 * nodes below them are removed, so a single path down finds everything that is
 * known.
 *
 * A map may be out of date, or even belong to another index.  That does no
 * harm:
 *
 * - Pages are never deleted, and never change their tree, their level or their
 *	low fence.  So within one index a child of a node stays what it was, but it
 *	may have been split since, so that the key is further right.  A search that
 *	finds this updates the map (shbt_map_learn).
 * - The index may have got a new file, by REINDEX, TRUNCATE, VACUUM FULL or
 *	the like.  It then has a new map, since maps are found by the file.  The
 *	old map is removed when others need the space.
 * - The same file may get other contents: a table that was created in
 *	this transaction, or a temporary one, is truncated in place; or the file is
 *	dropped, also by an abort, and much later its number is used again.  The
 *	first goes through ambuild in this backend, which forgets the map.  The
 *	second needs no special care, and neither would any further case.  A page
 *	says itself which tree, level and range of keys it belongs to, and no other
 *	page of the index has the same.  If these fit, it is the right page, no
 *	matter what led there.  If they do not, that is no error: the map is
 *	forgotten, and the search starts again at the metapage.  A wrong page is an
 *	error only if other pages lead to it (descent.c).
 *
 * Anything that depends on the contents in another way is not kept here but in
 * rd_amcache, and is read again after each invalidation (cache.c).
 *
 * All maps of a backend together take at most MAP_BYTES.  When these are used
 * up, new nodes replace those that have not been used lately, but only now and
 * then, since making a node takes longer than dozens of descents without it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "lib/ilist.h"
#include "miscadmin.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"

#include "btree/leaf.h"
#include "btree/map.h"
#include "btree/page.h"
#include "compat.h"

/* what the maps of all indexes may take, in bytes: nearly half a million leaves */
#ifndef SHBT_MAP_BYTES
#define SHBT_MAP_BYTES		(8 * 1024 * 1024)
#endif

/* once that is used up, how many nodes are wanted for each one that is made */
#define REPLACE_INTERVAL	32

/* bytes of the sorted fingerprints of a leaf after a build, as a rule */
#define USUALLY_SORTED		(SHBT_PAGE_SPACE * 6 / 10)

/* how many nodes are examined to find one that may be removed */
#define REPLACE_STEPS		64

typedef struct ShBtMapKey
{
	ShCompatLocator locator;
	int			backend;		/* of a temporary index */
} ShBtMapKey;

typedef struct ShBtMapEntry
{
	ShBtMapKey	key;
	ShBtMap    *map;
} ShBtMapEntry;

struct ShBtMap
{
	ShBtMapKey	key;
	int			ntrees;
	int			nnodes;			/* > 0, otherwise the map is freed */
	ShBtNode   *tops[FLEXIBLE_ARRAY_MEMBER];	/* of the roots, or NULL */
};

struct ShBtNode
{
	/* the children, ascending; the arrays follow in the same chunk */
	ShPermuted *fps;			/* of their low fences */
	ShBtRow    *tids;			/* of these, or NULL if all are 0 */
	uint32	   *groups;			/* of these, or NULL in an index of one column */
	BlockNumber *blocks;
	Buffer	   *buffers;		/* where they were last seen */
	uint16	   *sorted;			/* of leaves, how many bytes of fingerprints
								 * were sorted */
	ShBtNode  **nodes;			/* NULL in a node of level 1 */
	double		scale;			/* children per difference of fingerprints; 0
								 * if useless for estimates */
	int			count;
	int			capacity;

	/* the page */
	BlockNumber block;
	int			level;
	ShBtKey		high;			/* its high fence when it was copied */

	/* its place in the map */
	ShBtMap    *map;
	int			tree;
	ShBtNode   *parent;			/* NULL for a root */
	int			nnodes;			/* how many children have nodes */
	bool		used;			/* since the clock hand was here last */
	dlist_node	clock;
};

uint64		shbt_map_changes = 1;

static MemoryContext map_context = NULL;
static HTAB *map_table = NULL;
static Size map_bytes = 0;		/* of all nodes and maps */
static uint32 map_refusals = 0;

/* all nodes; the clock hand points to the first */
static dlist_head map_clock = DLIST_STATIC_INIT(map_clock);

/*
 * Make the key by which a map is found.
 *
 * Separate maps for each index only save time.  To show that, the tests also
 * run with SHBT_SHARE_MAP, where all indexes share one map, which is then
 * wrong most of the time.
 */
static void
make_key(Relation index, ShBtMapKey *key)
{
#ifdef SHBT_SHARE_MAP
	memset(key, 0, sizeof(ShBtMapKey));
#else
	key->locator = shcompat_locator(index);
	key->backend = (int) index->rd_backend;
#endif
}

static void *
allocate(Size size)
{
	void	   *chunk = MemoryContextAlloc(map_context, size);

	map_bytes += GetMemoryChunkSpace(chunk);
	return chunk;
}

static void
release(void *chunk)
{
	map_bytes -= GetMemoryChunkSpace(chunk);
	pfree(chunk);
}

/*
 * The map of an index, NULL if there is none.
 */
ShBtMap *
shbt_map_find(Relation index, int ntrees)
{
	ShBtMapKey	key;
	ShBtMapEntry *entry;

	if (map_table == NULL)
		return NULL;
	make_key(index, &key);
	entry = hash_search(map_table, &key, HASH_FIND, NULL);
	if (entry == NULL || entry->map == NULL)
		return NULL;
	if (entry->map->ntrees != ntrees)
	{
		shbt_map_forget(index);
		return NULL;
	}
	return entry->map;
}

/*
 * Find the map of an index, or make an empty one.
 */
static ShBtMap *
find_or_make_map(Relation index, int ntrees)
{
	ShBtMapKey	key;
	ShBtMapEntry *entry;
	ShBtMap    *map;
	bool		found;

	if (map_context == NULL)
		map_context = AllocSetContextCreate(CacheMemoryContext, "simhash inner pages",
											ALLOCSET_DEFAULT_SIZES);
	if (map_table == NULL)
	{
		HASHCTL		control = {0};

		control.keysize = sizeof(ShBtMapKey);
		control.entrysize = sizeof(ShBtMapEntry);
		control.hcxt = map_context;
		map_table = hash_create("simhash indexes", 16, &control,
								HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	}

	map = shbt_map_find(index, ntrees);
	if (map != NULL)
		return map;
	make_key(index, &key);
	entry = hash_search(map_table, &key, HASH_ENTER, &found);
	entry->map = NULL;			/* in case of an error */
	map = allocate(offsetof(ShBtMap, tops) + ntrees * sizeof(ShBtNode *));
	map->key = key;
	map->ntrees = ntrees;
	map->nnodes = 0;
	memset(map->tops, 0, ntrees * sizeof(ShBtNode *));
	entry->map = map;
	shbt_map_changes++;
	return map;
}

static void
remove_map(ShBtMap *map)
{
	Assert(map->nnodes == 0);
	hash_search(map_table, &map->key, HASH_REMOVE, NULL);
	release(map);
	shbt_map_changes++;
}

/*
 * Remove a node, and those below it.
 */
static void
remove_nodes(ShBtNode *node)
{
	ShBtNode   *parent = node->parent;

	for (int i = 0; i < node->count && node->nnodes > 0; i++)
	{
		if (node->nodes[i] != NULL)
			remove_nodes(node->nodes[i]);
	}
	if (parent == NULL)
		node->map->tops[node->tree] = NULL;
	else
	{
		int			i = 0;

		while (parent->nodes[i] != node)
			i++;
		parent->nodes[i] = NULL;
		parent->nnodes--;
	}
	node->map->nnodes--;
	dlist_delete(&node->clock);
	release(node);
	shbt_map_changes++;
}

/*
 * Remove a node that turned out to be out of date, and those below it.
 */
void
shbt_map_remove(ShBtNode *node)
{
	ShBtMap    *map = node->map;

	remove_nodes(node);
	if (map->nnodes == 0)
		remove_map(map);
}

/*
 * Forget all that is remembered of the file of an index.
 */
void
shbt_map_forget(Relation index)
{
	ShBtMapKey	key;
	ShBtMapEntry *entry;
	ShBtMap    *map;

	if (map_table == NULL)
		return;
	make_key(index, &key);
	entry = hash_search(map_table, &key, HASH_FIND, NULL);
	if (entry == NULL || entry->map == NULL)
		return;
	map = entry->map;
	for (int tree = 0; tree < map->ntrees; tree++)
	{
		if (map->tops[tree] != NULL)
			remove_nodes(map->tops[tree]);
	}
	remove_map(map);
}

static void
set_scale(ShBtNode *node)
{
	uint64		width = node->fps[node->count - 1] - node->fps[0];

	if (width == 0 ||
		(node->groups != NULL && node->groups[0] != node->groups[node->count - 1]))
		node->scale = 0;
	else
		node->scale = node->count / (double) width;
}

/*
 * Is the key below the low fence of child i?
 */
static inline bool
below_child(const ShBtNode *node, ShBtKey key, int i)
{
	if (node->groups != NULL && key.group != node->groups[i])
		return key.group < node->groups[i];
	if (key.fp != node->fps[i])
		return key.fp < node->fps[i];
	return node->tids != NULL && key.tid < node->tids[i];
}

/*
 * The child whose range holds the key, if that of the node does.
 *
 * Fingerprints are uniformly distributed, as a rule.  So the position of the
 * key between those of the first and the last child, if these have the same
 * group, tells roughly which child it is.
 */
static int
find_child(const ShBtNode *node, ShBtKey key)
{
	int			first = 0;		/* not below this one, or it is the first */
	int			end = node->count;	/* below this one, or it is the end */
	int			step = 1;
	int			at;

	if (node->scale == 0)
		at = node->count / 2;
	else if (key.fp <= node->fps[0])
		at = 0;
	else
		at = (int) Min((key.fp - node->fps[0]) * node->scale, node->count - 1);

	/* bracket it, doubling the step each time */
	if (below_child(node, key, at))
	{
		end = at;
		while (end - step > 0 && below_child(node, key, end - step))
		{
			end -= step;
			step *= 2;
		}
		first = Max(end - step, 0);
	}
	else
	{
		first = at;
		while (first + step < node->count && !below_child(node, key, first + step))
		{
			first += step;
			step *= 2;
		}
		end = Min(first + step, node->count);
	}
	while (end - first > 1)
	{
		int			middle = (first + end) / 2;

		if (below_child(node, key, middle))
			end = middle;
		else
			first = middle;
	}
	return first;
}

static inline void
set_place(ShBtPlace *place, ShBtNode *node, int i)
{
	place->block = node->blocks[i];
	place->level = node->level - 1;
	place->buffer = &node->buffers[i];
	place->parent = node;
}

/*
 * Find the place of the child of a node that holds the key.
 */
void
shbt_map_child(ShBtNode *node, ShBtKey key, ShBtPlace *place)
{
	set_place(place, node, find_child(node, key));
}

/*
 * Move a place from the root of a tree to the lowest page on the path to the
 * key that the map knows: a leaf, or an inner page without a node.
 */
void
shbt_map_locate(ShBtMap *map, int tree, ShBtKey key, ShBtPlace *place)
{
	ShBtNode   *node = map->tops[tree];

	/*
	 * the root is another page now, so the node is of no use
	 */
	if (node != NULL && unlikely(node->block != place->block))
	{
		shbt_map_remove(node);
		return;
	}
	while (node != NULL)
	{
		int			i;

		/* the page was split after its parent was copied */
		if (unlikely(!shbt_key_less(key, node->high)))
			return;
		node->used = true;
		i = find_child(node, key);
		set_place(place, node, i);
		node = node->level > 1 ? node->nodes[i] : NULL;
	}
}

/*
 * Remember the buffer in which the page of a place has been found.
 */
void
shbt_map_note(const ShBtPlace *place, Buffer buffer)
{
	if (place->buffer == NULL)
		return;
	*place->buffer = buffer;
	if (place->parent != NULL && place->level == 0)
	{
		Page		leaf = BufferGetPage(buffer);

		place->parent->sorted[place->buffer - place->parent->buffers] =
			shbt_leaf_sorted(leaf) * shbt_key_width(leaf);
	}
}

/*
 * Estimate where a fingerprint is among the entries of a leaf that has not been
 * read yet, in bytes from the first one, assuming that they are uniformly
 * distributed.
 */
int
shbt_map_expect(const ShBtPlace *place, ShPermuted fp)
{
	const ShBtNode *node = place->parent;
	ShPermuted	low;
	ShPermuted	high;
	int			i;

	if (node == NULL)
		return 0;
	i = place->buffer - node->buffers;
	if (node->groups != NULL)
	{
		uint32		next = i + 1 < node->count ? node->groups[i + 1] : node->high.group;

		if (node->groups[i] != next)
			return node->sorted[i] / 2;
	}
	low = node->fps[i];
	high = i + 1 < node->count ? node->fps[i + 1] : node->high.fp;
	if (fp <= low || high <= low)
		return 0;
	return (int) (node->sorted[i] * Min((double) (fp - low) / (double) (high - low), 1.0));
}

static Size
node_size(int capacity, int level, bool with_tids, bool grouped)
{
	Size		child = sizeof(ShPermuted) + sizeof(BlockNumber) + sizeof(Buffer) + sizeof(uint16);

	if (with_tids)
		child += sizeof(ShBtRow);
	if (grouped)
		child += sizeof(uint32);
	if (level > 1)
		child += sizeof(ShBtNode *);
	return MAXALIGN(sizeof(ShBtNode)) + capacity * child;
}

/*
 * Is the space used up?
 */
bool
shbt_map_is_full(void)
{
	return map_bytes + node_size(shbt_inner_capacity(false), 2, true, false) > SHBT_MAP_BYTES;
}

/*
 * May a node be made?  If the space is used up, this is true only now and
 * then, after removing nodes that have not been used lately.  keep, which may
 * be NULL, is not removed, nor are the nodes above it.
 */
bool
shbt_map_has_room(const ShBtNode *keep)
{
	if (likely(!shbt_map_is_full()))
		return true;
	if (++map_refusals % REPLACE_INTERVAL != 0)
		return false;
	for (int i = 0; i < REPLACE_STEPS && !dlist_is_empty(&map_clock); i++)
	{
		ShBtNode   *node = dlist_head_element(ShBtNode, clock, &map_clock);

		if (node->used || node->nnodes > 0 || node == keep)
		{
			node->used = false;
			dlist_delete(&node->clock);
			dlist_push_tail(&map_clock, &node->clock);
		}
		else
		{
			shbt_map_remove(node);
			if (!shbt_map_is_full())
				return true;
		}
	}
	return false;
}

/*
 * Add the copy of an inner page to the map of an index, which is created if
 * necessary, and return its node.  It replaces an older node of the page.
 *
 * place is where it was found: the root, if place->parent is NULL.
 */
ShBtNode *
shbt_map_add(Relation index, int ntrees, Page page, const ShBtPlace *place)
{
	ShBtMap    *map = find_or_make_map(index, ntrees);
	ShBtSortedEntry *entries = palloc(SHBT_MAX_ENTRIES * sizeof(ShBtSortedEntry));
	int			count = shbt_sort_entries(page, entries);
	bool		grouped = shbt_page_is_grouped(page);
	int			capacity = Min(count + count / 4 + 8, shbt_inner_capacity(grouped));
	int			level = shbt_page_level(page);
	bool		with_tids = false;
	ShBtNode  **link;
	ShBtNode   *node;
	char	   *end;

	for (int i = 0; i < count; i++)
		with_tids |= entries[i].key.tid != 0;
	node = allocate(node_size(capacity, level, with_tids, grouped));

	node->map = map;
	node->tree = shbt_page_tree(page);
	node->level = level;
	node->block = place->block;
	node->high = shbt_page_high(page);
	node->count = count;
	node->capacity = capacity;
	node->nnodes = 0;
	node->used = true;

	/* from the widest type to the narrowest, so that all arrays are aligned */
	end = (char *) node + MAXALIGN(sizeof(ShBtNode));
	node->fps = (ShPermuted *) end;
	end += capacity * sizeof(ShPermuted);
	node->tids = with_tids ? (ShBtRow *) end : NULL;
	end += with_tids ? capacity * sizeof(ShBtRow) : 0;
	node->nodes = level > 1 ? (ShBtNode **) end : NULL;
	end += level > 1 ? capacity * sizeof(ShBtNode *) : 0;
	node->groups = grouped ? (uint32 *) end : NULL;
	end += grouped ? capacity * sizeof(uint32) : 0;
	node->blocks = (BlockNumber *) end;
	end += capacity * sizeof(BlockNumber);
	node->buffers = (Buffer *) end;
	end += capacity * sizeof(Buffer);
	node->sorted = (uint16 *) end;

	for (int i = 0; i < count; i++)
	{
		node->fps[i] = entries[i].key.fp;
		node->blocks[i] = shbt_inner_child(page, entries[i].position);
		node->buffers[i] = InvalidBuffer;
		node->sorted[i] = USUALLY_SORTED;
		if (with_tids)
			node->tids[i] = entries[i].key.tid;
		if (grouped)
			node->groups[i] = entries[i].key.group;
		if (level > 1)
			node->nodes[i] = NULL;
	}
	set_scale(node);
	pfree(entries);

	/* from here on nothing can fail */
	node->parent = place->parent;
	if (node->parent != NULL)
		link = &node->parent->nodes[place->buffer - node->parent->buffers];
	else
		link = &map->tops[node->tree];
	/* an existing node belongs to former contents of the file */
	if (unlikely(*link != NULL))
		remove_nodes(*link);
	*link = node;
	if (node->parent != NULL)
		node->parent->nnodes++;
	map->nnodes++;
	dlist_push_tail(&map_clock, &node->clock);
	return node;
}

/*
 * The search for a key has moved from a place to the page to its right, which
 * the caller has pinned and locked in the given buffer.  Move the place there.
 *
 * Add the page to the parent's node.  If that is not possible, remove the
 * node.
 */
void
shbt_map_learn(ShBtPlace *place, Buffer buffer)
{
	ShBtNode   *node = place->parent;
	ShBtKey		low = shbt_page_low(BufferGetPage(buffer));
	int			at;
	int			after;

	place->block = BufferGetBlockNumber(buffer);
	if (node == NULL)
	{
		place->buffer = NULL;
		return;
	}
	if (node->count == node->capacity || (low.tid != 0 && node->tids == NULL))
	{
		shbt_map_remove(node);
		place->parent = NULL;
		place->buffer = NULL;
		return;
	}

	at = place->buffer - node->buffers + 1;
	after = node->count - at;
	memmove(&node->fps[at + 1], &node->fps[at], after * sizeof(ShPermuted));
	memmove(&node->blocks[at + 1], &node->blocks[at], after * sizeof(BlockNumber));
	memmove(&node->buffers[at + 1], &node->buffers[at], after * sizeof(Buffer));
	memmove(&node->sorted[at + 1], &node->sorted[at], after * sizeof(uint16));
	node->fps[at] = low.fp;
	node->blocks[at] = place->block;
	node->buffers[at] = buffer;
	node->sorted[at] = USUALLY_SORTED;
	if (node->tids != NULL)
	{
		memmove(&node->tids[at + 1], &node->tids[at], after * sizeof(ShBtRow));
		node->tids[at] = low.tid;
	}
	if (node->groups != NULL)
	{
		memmove(&node->groups[at + 1], &node->groups[at], after * sizeof(uint32));
		node->groups[at] = low.group;
	}
	if (node->level > 1)
	{
		memmove(&node->nodes[at + 1], &node->nodes[at], after * sizeof(ShBtNode *));
		node->nodes[at] = NULL;
	}
	node->count++;
	set_scale(node);
	place->buffer = &node->buffers[at];
	shbt_map_changes++;
}
