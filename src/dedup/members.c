/*-------------------------------------------------------------------------
 *
 * members.c
 *	  The fingerprints that have a near-duplicate, and their rows.
 *
 * Only fingerprints that have a pair are kept in memory, each once, as
 * elements.  Their rows are kept in a temporary file.  So time and memory do
 * not depend on how many rows are equal.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "compat.h"
#include "dedup/members.h"
#include "dedup/progress.h"
#include "pairs/temp_file.h"

/*
 * The number of the element of key i of the bucket.
 */
uint32
shdup_find_element(ShDupUnionFind *elements, const ShPairsBucket *bucket, size_t i,
				   bool *is_new)
{
	uint32		element = shdup_union_find_add(elements, bucket->group, shpairs_key(bucket, i),
											   is_new);

	if (*is_new && elements->nwords > 0)
		memcpy(shdup_element_value(elements, element), shpairs_value(bucket, i),
			   elements->nwords * sizeof(uint64));
	return element;
}

/* A fingerprint without visible rows must not connect others. */
static void
join_pair(ShDupMembers *members, ShDupNumberPair pair)
{
	const ShDupElement *elements = members->elements.elements;

	if (shdup_element_rows(&elements[pair.a]) > 0 && shdup_element_rows(&elements[pair.b]) > 0)
		members->join(members, pair.a, pair.b);
}

/*
 * Look up the rows that have been collected, and join the elements of their
 * pairs.
 */
static void
flush(ShDupMembers *members)
{
	shdup_resolve(members->rows);
	for (size_t i = 0; i < members->rows->count; i++)
	{
		ShDupMember member = {members->rows->numbers[i], members->row_elements[i]};

		shcompat_check_at(i);
		if (member.row == SHDUP_INVISIBLE)
			continue;
		if ((member.row & SHDUP_ODD) != 0)
			members->elements.elements[member.element].number++;
		else
			members->elements.elements[member.element].size++;
		BufFileWrite(members->file, &member, sizeof(ShDupMember));
	}
	for (size_t i = 0; i < members->rows->npairs; i++)
	{
		CHECK_FOR_INTERRUPTS();
		join_pair(members, members->rows->pairs[i]);
	}
	shdup_reset(members->rows);
}

static void
collect_member(ShDupMembers *members, uint32 group, uint32 element, ShPairsRow row)
{
	members->row_elements[members->rows->count] = element;
	shdup_add(members->rows, group, &row, 1);
}

/*
 * Another row of one fingerprint.  Its pairs with the others are not needed,
 * only the row itself.
 *
 * An existing element came from an earlier walk, together with all its rows.
 * (With all that the snapshot sees; these are in all tables.)
 */
static void
collect_repeated(ShPairsSink *base, const ShPairsBucket *bucket, ShPairsRow row)
{
	ShDupMembers *members = (ShDupMembers *) base;
	size_t		last = bucket->nkeys - 1;

	if (shdup_full(members->rows))
		flush(members);
	if (!bucket->last_repeated)
	{
		members->run_element = shdup_find_element(&members->elements, bucket, last,
												  &members->run_is_new);
		if (members->run_is_new)
			collect_member(members, bucket->group, members->run_element,
						   bucket->rows[bucket->starts[last]]);
	}
	if (members->run_is_new)
		collect_member(members, bucket->group, members->run_element, row);
}

/*
 * The number of the element of key i of the bucket.  The rows of a new element
 * are collected.
 */
static uint32
collect_members(ShDupMembers *members, const ShPairsBucket *bucket, size_t i)
{
	bool		is_new;
	uint32		element = shdup_find_element(&members->elements, bucket, i, &is_new);

	if (is_new)
		collect_member(members, bucket->group, element, bucket->rows[bucket->starts[i]]);
	return element;
}

static void
collect_pair(ShPairsSink *base, const ShPairsBucket *x, size_t i, const ShPairsBucket *y, size_t j)
{
	ShDupMembers *members = (ShDupMembers *) base;
	uint32		a;
	uint32		b;

	if (shdup_full(members->rows))
		flush(members);
	a = collect_members(members, x, i);
	b = collect_members(members, y, j);
	shdup_add_pair(members->rows, a, b);
	shdup_progress_found();
}

/*
 * Begin to collect what a search passes to members->sink.  The largest
 * possible number of elements is used for the error message if memory does not
 * suffice.  Fingerprints of several words have nwords of them, others 0.
 *
 * Elements and rows are allocated in the current memory context.
 */
void
shdup_members_begin(ShDupMembers *members, ShDup *rows, double most, int nwords,
					ShDupJoinFunction join)
{
	memset(members, 0, sizeof(ShDupMembers));
	members->sink.repeat = collect_repeated;
	members->sink.pair = collect_pair;
	members->join = join;
	members->rows = rows;

	shdup_union_find_begin(&members->elements, SHDUP_ROWS, most);
	if (nwords > 0)
		shdup_union_find_keep_values(&members->elements, nwords);
	members->row_elements = MemoryContextAllocHuge(CurrentMemoryContext,
												   rows->capacity * sizeof(uint32));
	members->file = shpairs_create_file();
}

/*
 * Finish after the search, so that all members can be read.
 */
void
shdup_members_finish(ShDupMembers *members)
{
	flush(members);
	shdup_union_find_forget_keys(&members->elements);
	pfree(members->row_elements);
	shpairs_rewind_file(members->file);
}

/*
 * Return the next row, of any element.  Returns false after the last.
 *
 * Not all of these rows have a near-duplicate: rows that the snapshot does not
 * see are left out, and a remaining row may be alone.
 */
bool
shdup_members_next(ShDupMembers *members, ShDupMember *member)
{
	return BufFileRead(members->file, member, sizeof(ShDupMember)) == sizeof(ShDupMember);
}

void
shdup_members_end(ShDupMembers *members)
{
	BufFileClose(members->file);
}
