/*-------------------------------------------------------------------------
 *
 * itemtape.c
 *	  Items on tapes.
 *
 * An item takes 14 bytes: its key, and 48 bits of its value; and 4 more if
 * items have groups.  Tapes are private to a build on one machine, so the
 * bytes are in native order.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "sort/itemtape.h"

#define GROUP_BYTES		sizeof(uint32)
#define KEY_BYTES		sizeof(uint64)
#define VALUE_BYTES		6
#define ITEM_BYTES		(KEY_BYTES + VALUE_BYTES)
#define MAX_ITEM_BYTES	(ITEM_BYTES + GROUP_BYTES)

/* how many items are read at a time, about as many as fit in a block */
#define READ_ITEMS		584

/* how much of a tape is read ahead, in bytes */
#define MAX_READ_BUFFER	(32 * BLCKSZ)

static inline char *
pack(char *to, ShSortItem item)
{
	uint32		low = (uint32) item.value;
	uint16		high = (uint16) (item.value >> 32);

	memcpy(to, &item.key, KEY_BYTES);
	memcpy(to + KEY_BYTES, &low, sizeof(low));
	memcpy(to + KEY_BYTES + sizeof(low), &high, sizeof(high));
	return to + ITEM_BYTES;
}

static inline const char *
unpack(const char *from, ShSortItem *item)
{
	uint32		low;
	uint16		high;

	memcpy(&item->key, from, KEY_BYTES);
	memcpy(&low, from + KEY_BYTES, sizeof(low));
	memcpy(&high, from + KEY_BYTES + sizeof(low), sizeof(high));
	item->value = ((uint64) high << 32) | low;
	return from + ITEM_BYTES;
}

/*
 * Begin to write items to an empty tape.  tape is NULL if it is to be created
 * only when there is an item; the caller then sets it before the first flush.
 */
void
shsort_tape_begin(ShSortTapeWriter *writer, LogicalTape *tape, bool grouped)
{
	writer->tape = tape;
	writer->grouped = grouped;
	memset(&writer->summary, 0, sizeof(ShSortSummary));
	writer->summary.ascending = true;
	writer->count = 0;
}

/*
 * Update the summary with the items that will be written.
 */
static void
summarize(ShSortTapeWriter *writer)
{
	ShSortSummary *summary = &writer->summary;

	if (summary->count == 0)
	{
		summary->first = summary->last = writer->items[0];
		summary->first_group = summary->last_group = writer->groups[0];
	}
	for (int i = 0; i < writer->count; i++)
	{
		summary->varying.keys |= writer->items[i].key ^ summary->first.key;
		summary->varying.values |= writer->items[i].value ^ summary->first.value;
		summary->varying.groups |= writer->groups[i] ^ summary->first_group;
	}
	for (int i = 0; i < writer->count && summary->ascending; i++)
	{
		if (shsort_grouped_less(writer->items[i], writer->groups[i], summary->last, summary->last_group))
			summary->ascending = false;
		summary->last = writer->items[i];
		summary->last_group = writer->groups[i];
	}
	summary->count += writer->count;
}

/*
 * Write the items that are not on the tape yet.
 */
void
shsort_tape_flush(ShSortTapeWriter *writer)
{
	char		bytes[SHSORT_WRITE_ITEMS * MAX_ITEM_BYTES];
	char	   *end = bytes;

	if (writer->count == 0)
		return;
	summarize(writer);
	for (int i = 0; i < writer->count; i++)
	{
		end = pack(end, writer->items[i]);
		if (writer->grouped)
		{
			memcpy(end, &writer->groups[i], GROUP_BYTES);
			end += GROUP_BYTES;
		}
	}
	LogicalTapeWrite(writer->tape, bytes, end - bytes);
	writer->count = 0;
}

/*
 * Rewind a tape with the given number of items for reading.
 */
void
shsort_tape_rewind(LogicalTape *tape, double count)
{
	double		bytes = count * MAX_ITEM_BYTES + BLCKSZ;

	LogicalTapeRewindForRead(tape, bytes < MAX_READ_BUFFER ?
							 TYPEALIGN(BLCKSZ, (Size) bytes) : MAX_READ_BUFFER);
}

/*
 * Read up to "most" items from a tape, with groups if items.groups is set.
 * Returns their number, 0 after the last.
 */
size_t
shsort_tape_read(LogicalTape *tape, ShSortItems items, size_t most)
{
	char		bytes[READ_ITEMS * MAX_ITEM_BYTES];
	Size		width = items.groups != NULL ? MAX_ITEM_BYTES : ITEM_BYTES;
	Size		nread = LogicalTapeRead(tape, bytes, Min(most, READ_ITEMS) * width);
	size_t		count = nread / width;
	const char *from = bytes;

	if (nread % width != 0)
		elog(ERROR, "unexpected end of tape");
	for (size_t i = 0; i < count; i++)
	{
		from = unpack(from, &items.items[i]);
		if (items.groups != NULL)
		{
			memcpy(&items.groups[i], from, GROUP_BYTES);
			from += GROUP_BYTES;
		}
	}
	return count;
}

/*
 * Combine two summaries into *to; the items of *from come after those of *to.
 */
void
shsort_add_summary(ShSortSummary *to, const ShSortSummary *from)
{
	if (from->count == 0)
		return;
	if (to->count == 0)
	{
		*to = *from;
		return;
	}
	to->varying.groups |= from->varying.groups | (to->first_group ^ from->first_group);
	to->varying.keys |= from->varying.keys | (to->first.key ^ from->first.key);
	to->varying.values |= from->varying.values | (to->first.value ^ from->first.value);
	to->ascending &= from->ascending &&
		!shsort_grouped_less(from->first, from->first_group, to->last, to->last_group);
	to->last = from->last;
	to->last_group = from->last_group;
	to->count += from->count;
}
