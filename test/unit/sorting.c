/*-------------------------------------------------------------------------
 *
 * sorting.c
 *	  What stands in for the sort of src/index and the server's temporary files.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <stdio.h>
#include <stdlib.h>

#include "commands/tablespace.h"
#include "storage/buffile.h"

#include "index/sort.h"

/*
 * In place of the sort of src/index, which takes the server's tapes
 */
typedef struct SortedItem
{
	uint32		group;
	ShIdxSortItem item;
} SortedItem;

struct ShIdxSort
{
	SortedItem *items;
	size_t		count;
	size_t		next;
	ShIdxSortItem current;
	uint32		group;
};

ShIdxSort *
shidx_sort_begin_distinct(int memory_kb, bool grouped)
{
	return calloc(1, sizeof(ShIdxSort));
}

void
shidx_sort_add_grouped(ShIdxSort *sort, uint32 group, ShPermuted fp, uint64 value)
{
	if ((sort->count & (sort->count + 1)) == 0)
		sort->items = realloc(sort->items, 2 * (sort->count + 1) * sizeof(SortedItem));
	sort->items[sort->count++] = (SortedItem)
	{
		group, shidx_sort_item(fp, value)
	};
}

void
shidx_sort_add(ShIdxSort *sort, ShPermuted fp, uint64 value)
{
	shidx_sort_add_grouped(sort, 0, fp, value);
}

static int
compare_items(const void *a, const void *b)
{
	SortedItem	x = *(const SortedItem *) a;
	SortedItem	y = *(const SortedItem *) b;

	return shidx_sort_grouped_less(y.item, y.group, x.item, x.group) -
		shidx_sort_grouped_less(x.item, x.group, y.item, y.group);
}

double
shidx_sort_count(const ShIdxSort *sort)
{
	return (double) sort->count;
}

void
shidx_sort_start(ShIdxSort *sort)
{
	qsort(sort->items, sort->count, sizeof(SortedItem), compare_items);
}

size_t
shidx_sort_next_items(ShIdxSort *sort, ShIdxSortItems *items)
{
	if (sort->next == sort->count)
		return 0;
	sort->current = sort->items[sort->next].item;
	sort->group = sort->items[sort->next++].group;
	items->items = &sort->current;
	items->groups = &sort->group;
	return 1;
}

bool
shidx_sort_next(ShIdxSort *sort, ShIdxSortItem *item)
{
	ShIdxSortItems items;

	if (shidx_sort_next_items(sort, &items) == 0)
		return false;
	*item = *items.items;
	return true;
}

void
shidx_sort_end(ShIdxSort *sort)
{
	free(sort->items);
	free(sort);
}

ShIdxSort *
shidx_sort_begin(int memory_kb)
{
	return shidx_sort_begin_distinct(memory_kb, false);
}

/* temporary files */
struct BufFile
{
	FILE	   *file;
};

/* until 15 */
#if PG_VERSION_NUM < 160000
#define WRITTEN		void
#else
#define WRITTEN		const void
#endif

void
PrepareTempTablespaces(void)
{
}

BufFile *
BufFileCreateTemp(bool interXact)
{
	BufFile    *file = malloc(sizeof(BufFile));

	file->file = tmpfile();
	return file;
}

void
BufFileClose(BufFile *file)
{
	fclose(file->file);
	free(file);
}

size_t
BufFileRead(BufFile *file, void *data, size_t size)
{
	return fread(data, 1, size, file->file);
}

void
BufFileWrite(BufFile *file, WRITTEN *data, size_t size)
{
	if (fwrite(data, 1, size, file->file) != size)
		abort();
}

int
BufFileSeek(BufFile *file, int fileno, off_t offset, int whence)
{
	return fseeko(file->file, offset, whence);
}
