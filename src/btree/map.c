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
 * The copies of a tree form a tree as well.  Only children of nodes become nodes,
 * and only nodes without nodes below them are removed, so a single path down finds
 * everything that is known.  Why a map may be out of date, or belong to another
 * index, and does no harm: src/README.md, section 3.
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

/* what the maps of all indexes may take, in bytes: a third of a million leaves */
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

/* a page below that of a node */
typedef struct ShBtChild
{
	ShPermuted	fp;				/* of its low fence, */
	uint32		group;			/* which never changes */
	BlockNumber block;
	Buffer		buffer;			/* where it was last seen */
	uint16		sorted;			/* of a leaf, how many bytes of fingerprints
								 * were sorted */
} ShBtChild;

struct ShBtNode
{
	/* the children, ascending; the arrays follow in the same chunk */
	ShBtChild  *children;
	ShBtRow    *tids;			/* of their low fences, or NULL if all are 0 */
	ShBtNode  **nodes;			/* NULL in a node of level 1 */
	double		scale;			/* children per difference of fingerprints; 0
								 * if useless for estimates */
	int			count;
	int			capacity;
	bool		grouped;

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
 * What the table has of the file of an index, NULL if nothing.
 */
static ShBtMap *
find_map(Relation index)
{
	ShBtMapKey	key;
	ShBtMapEntry *entry;

	if (map_table == NULL)
		return NULL;
	make_key(index, &key);
	entry = hash_search(map_table, &key, HASH_FIND, NULL);
	return entry == NULL ? NULL : entry->map;
}

/*
 * The map of an index, NULL if there is none.
 */
ShBtMap *
shbt_map_find(Relation index, int ntrees)
{
	ShBtMap    *map = find_map(index);

	if (map != NULL && map->ntrees != ntrees)
	{
		shbt_map_forget(index);
		return NULL;
	}
	return map;
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
	ShBtMap    *map = find_map(index);

	if (map == NULL)
		return;
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
	const ShBtChild *first = &node->children[0];
	const ShBtChild *last = &node->children[node->count - 1];

	node->scale = last->fp == first->fp || last->group != first->group ? 0 :
		node->count / (double) (last->fp - first->fp);
}

/* a search for a key among the children of a node */
typedef struct Search
{
	const ShBtNode *node;
	ShBtKey		key;
} Search;

/*
 * Is the key not below the low fence of child i?
 */
static inline bool
reaches_child(const void *arg, int i)
{
	const Search *search = arg;
	const ShBtNode *node = search->node;
	const ShBtChild *child = &node->children[i];

	if (search->key.group != child->group)
		return search->key.group > child->group;
	if (search->key.fp != child->fp)
		return search->key.fp > child->fp;
	return node->tids == NULL || search->key.tid >= node->tids[i];
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
	Search		search = {node, key};
	ShPermuted	first = node->children[0].fp;
	int			guess = node->count / 2;

	if (node->scale != 0)
		guess = key.fp <= first ? 0 : (int) Min((key.fp - first) * node->scale, node->count - 1);
	return Max(shbt_count_from(reaches_child, &search, node->count, guess, 1) - 1, 0);
}

static inline void
set_place(ShBtPlace *place, ShBtNode *node, int i)
{
	place->block = node->children[i].block;
	place->level = node->level - 1;
	place->buffer = &node->children[i].buffer;
	place->parent = node;
}

/* the child that a place with a parent is */
static inline ShBtChild *
child_of(const ShBtPlace *place)
{
	return (ShBtChild *) ((char *) place->buffer - offsetof(ShBtChild, buffer));
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
 * About how many leaves of a tree start at keys with low < key <= high, according to
 * the nodes at both ends; -1 if these are not known.  root is the root of the tree.
 *
 * The nodes do not have the leaves of splits by other backends since the pages were
 * copied.  A scan that plans by too small a number reads a large group leaf by leaf,
 * which is slow once: where its searches miss the leaves that are expected, the copies
 * are brought up to date.
 */
double
shbt_map_count(const ShBtMap *map, int tree, BlockNumber root, ShBtKey low, ShBtKey high)
{
	const ShBtNode *node = map->tops[tree];

	if (node == NULL || node->block != root)
		return -1;
	for (;;)
	{
		int			first = find_child(node, low);
		int			last = find_child(node, high);
		const ShBtNode *left;
		const ShBtNode *right;

		if (!shbt_key_less(high, node->high))
			return -1;
		if (node->level == 1)
			return last - first;
		left = node->nodes[first];
		right = node->nodes[last];
		if (left == NULL || right == NULL)
			return -1;
		if (left != right)
			return node->level > 2 ? -1 :
				left->count - 1 - find_child(left, low) + find_child(right, high) + 1 +
				(last - first - 1) * (left->count + right->count) / 2.0;
		node = left;
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

		child_of(place)->sorted = shbt_leaf_sorted(leaf) * shbt_key_width(leaf);
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
	const ShBtChild *child;
	bool		last;
	ShPermuted	high;

	if (node == NULL)
		return 0;
	child = child_of(place);
	last = child == &node->children[node->count - 1];
	high = last ? node->high.fp : child[1].fp;
	if (child->group != (last ? node->high.group : child[1].group) && node->grouped)
		return child->sorted / 2;
	if (fp <= child->fp || high <= child->fp)
		return 0;
	return (int) (child->sorted *
				  Min((double) (fp - child->fp) / (double) (high - child->fp), 1.0));
}

static Size
node_size(int capacity, int level, bool with_tids)
{
	return sizeof(ShBtNode) +
		capacity * (sizeof(ShBtChild) + (with_tids ? sizeof(ShBtRow) : 0) +
					(level > 1 ? sizeof(ShBtNode *) : 0));
}

/*
 * Is the space used up?
 */
bool
shbt_map_is_full(void)
{
	return map_bytes + node_size(shbt_inner_capacity(false), 2, true) > SHBT_MAP_BYTES;
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
	int			capacity = Min(count + count / 4 + 8, shbt_page_capacity(page));
	int			level = shbt_page_level(page);
	bool		with_tids = false;
	ShBtNode  **link;
	ShBtNode   *node;

	for (int i = 0; i < count; i++)
		with_tids |= entries[i].key.tid != 0;
	node = allocate(node_size(capacity, level, with_tids));

	node->map = map;
	node->tree = shbt_page_tree(page);
	node->level = level;
	node->block = place->block;
	node->high = shbt_page_high(page);
	node->count = count;
	node->capacity = capacity;
	node->nnodes = 0;
	node->used = true;

	node->grouped = shbt_page_is_grouped(page);

	node->children = (ShBtChild *) (node + 1);
	node->tids = with_tids ? (ShBtRow *) &node->children[capacity] : NULL;
	node->nodes = level == 1 ? NULL :
		(ShBtNode **) ((ShBtRow *) &node->children[capacity] + (with_tids ? capacity : 0));
	for (int i = 0; i < count; i++)
	{
		ShBtKey		low = entries[i].key;

		node->children[i] = (ShBtChild)
		{
			low.fp, low.group, shbt_inner_child(page, entries[i].position), InvalidBuffer, USUALLY_SORTED
		};
		if (with_tids)
			node->tids[i] = low.tid;
		if (level > 1)
			node->nodes[i] = NULL;
	}
	set_scale(node);
	pfree(entries);

	/* from here on nothing can fail */
	node->parent = place->parent;
	if (node->parent != NULL)
		link = &node->parent->nodes[child_of(place) - node->parent->children];
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

	at = child_of(place) - node->children + 1;
	after = node->count - at;
	memmove(&node->children[at + 1], &node->children[at], after * sizeof(ShBtChild));
	node->children[at] = (ShBtChild)
	{
		low.fp, low.group, place->block, buffer, USUALLY_SORTED
	};
	if (node->tids != NULL)
	{
		memmove(&node->tids[at + 1], &node->tids[at], after * sizeof(ShBtRow));
		node->tids[at] = low.tid;
	}
	if (node->level > 1)
	{
		memmove(&node->nodes[at + 1], &node->nodes[at], after * sizeof(ShBtNode *));
		node->nodes[at] = NULL;
	}
	node->count++;
	set_scale(node);
	place->buffer = &node->children[at].buffer;
	shbt_map_changes++;
}
