/*-------------------------------------------------------------------------
 *
 * candidates.c
 *	  Matches waiting to be returned by an ordered scan.
 *
 * They are kept and sorted in an array as long as they fit in work_mem.
 * Beyond that they are written to tapes of a temporary file, one for each
 * distance from the first center.  If there is only one center, the tapes need
 * no sorting.  The buffers of the tapes, of one block each, are not counted
 * against work_mem.  With more centers, one tape at a time is read and sorted.
 * If it does not fit in memory, the server sorts it as byte strings: the other
 * distances, one byte each, then the TID, so that rows at equal distances are
 * fetched in heap order, then the fingerprint.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/typcache.h"

#include "btree/page.h"
#include "compat.h"
#include "search/candidates.h"

#define FIRST_CAPACITY	256

/* in the key of a tuplesort, after the distances */
#define TID_BYTES		6
#define FP_BYTES		8

/* size of a candidate on a tape */
#define TAPE_BYTES		(sizeof(ShFingerprint) + sizeof(ItemPointerData))

/* how much of a tape is read at a time, in bytes */
#define READ_BUFFER		(8 * BLCKSZ)

/* how often interrupts are checked for, in candidates */
#define CHECK_INTERVAL	4096

/*
 * Prepare to collect candidates, to be sorted by distances from at most
 * max_centers centers.
 *
 * Allocates in the current memory context.
 */
void
shfnd_candidates_begin(ShFndCandidates *candidates, int max_centers)
{
	memset(candidates, 0, sizeof(*candidates));
	candidates->centers = palloc(max_centers * sizeof(ShFingerprint));
	candidates->context = AllocSetContextCreate(CurrentMemoryContext, "simhash candidates",
												ALLOCSET_DEFAULT_SIZES);
	candidates->max = Max(work_mem * INT64CONST(1024) / sizeof(ShFndCandidate), 1024);
}

/*
 * Free all candidates, and the files they may be in.
 */
void
shfnd_forget_candidates(ShFndCandidates *candidates)
{
	if (candidates->sort != NULL)
		tuplesort_end(candidates->sort);
	if (candidates->tape_set != NULL)
		LogicalTapeSetClose(candidates->tape_set);
	MemoryContextReset(candidates->context);
	candidates->tape_set = NULL;
	candidates->reading = NULL;
	candidates->sort = NULL;
	candidates->key = NULL;
	candidates->array = NULL;
	candidates->capacity = 0;
	candidates->count = 0;
	candidates->sorted = 0;
	candidates->next = 0;
	memset(candidates->counts, 0, sizeof(candidates->counts));
}

/* number of bytes, most significant first */
static void
write_bytes(unsigned char *bytes, uint64 number, int nbytes)
{
	while (nbytes-- > 0)
	{
		bytes[nbytes] = (unsigned char) number;
		number >>= 8;
	}
}

static uint64
read_bytes(const unsigned char *bytes, int nbytes)
{
	uint64		number = 0;

	for (int i = 0; i < nbytes; i++)
		number = number << 8 | bytes[i];
	return number;
}

/*
 * Called in the memory context of the candidates.
 */
static void
write_to_tape(ShFndCandidates *candidates, const ShFndCandidate *candidate)
{
	LogicalTape **tape = &candidates->tapes[candidate->distance];
	char		bytes[TAPE_BYTES];

	memcpy(bytes, &candidate->fp, sizeof(candidate->fp));
	memcpy(bytes + sizeof(candidate->fp), &candidate->tid, sizeof(candidate->tid));
	if (*tape == NULL)
		*tape = LogicalTapeCreate(candidates->tape_set);
	LogicalTapeWrite(*tape, bytes, TAPE_BYTES);
}

/*
 * Returns false at the end of the tape.
 */
static bool
read_from_tape(LogicalTape *tape, ShFndCandidate *candidate)
{
	char		bytes[TAPE_BYTES];
	size_t		nread = LogicalTapeRead(tape, bytes, TAPE_BYTES);

	if (nread == 0)
		return false;
	if (nread != TAPE_BYTES)
		elog(ERROR, "unexpected end of a tape of candidates");
	memcpy(&candidate->fp, bytes, sizeof(candidate->fp));
	memcpy(&candidate->tid, bytes + sizeof(candidate->fp), sizeof(candidate->tid));
	return true;
}

/*
 * Start to write the candidates to tapes, as memory is full.  Called in their
 * memory context.
 */
static void
start_tapes(ShFndCandidates *candidates)
{
	candidates->tape_set = LogicalTapeSetCreate(true, NULL, -1);
	memset(candidates->tapes, 0, sizeof(candidates->tapes));
	for (int64 i = 0; i < candidates->count; i++)
		write_to_tape(candidates, &candidates->array[i]);
	if (candidates->array != NULL)
		pfree(candidates->array);
	candidates->array = NULL;
	candidates->capacity = 0;
}

static void
enlarge(ShFndCandidates *candidates)
{
	int64		capacity = Max(2 * candidates->capacity, FIRST_CAPACITY);

	capacity = Min(capacity, candidates->max);
	if (candidates->array == NULL)
		candidates->array = MemoryContextAllocHuge(candidates->context,
												   capacity * sizeof(ShFndCandidate));
	else
		candidates->array = repalloc_huge(candidates->array,
										  capacity * sizeof(ShFndCandidate));
	candidates->capacity = capacity;
}

static void
add_to_array(ShFndCandidates *candidates, const ShFndCandidate *candidate)
{
	if (candidates->count == candidates->capacity)
		enlarge(candidates);
	candidates->array[candidates->count++] = *candidate;
}

/*
 * Add a match and its distance from the first center.
 *
 * While count < max it stays in memory; otherwise all candidates go to disk.
 */
void
shfnd_add_candidate(ShFndCandidates *candidates, ShFingerprint fp, ItemPointerData tid, int distance)
{
	ShFndCandidate candidate = {.fp = fp,.tid = tid,.distance = distance};

	if (candidates->tape_set == NULL && candidates->count < candidates->max)
		add_to_array(candidates, &candidate);
	else
	{
		MemoryContext old = MemoryContextSwitchTo(candidates->context);

		if (candidates->tape_set == NULL)
			start_tapes(candidates);
		write_to_tape(candidates, &candidate);
		candidates->count++;
		MemoryContextSwitchTo(old);
	}
	candidates->counts[distance]++;
}

/*
 * Drop the candidates beyond a distance.  All must be in memory.
 */
void
shfnd_drop_beyond(ShFndCandidates *candidates, int distance)
{
	int64		kept = 0;

	Assert(candidates->tape_set == NULL);
	for (int64 i = 0; i < candidates->count; i++)
	{
		if (candidates->array[i].distance <= distance)
			candidates->array[kept++] = candidates->array[i];
	}
	candidates->count = kept;
	for (int d = distance + 1; d <= SHBITS_WIDTH; d++)
		candidates->counts[d] = 0;
}

/*
 * Compare candidates at equal distances from the first center by their
 * distances from the other centers.
 */
static int
compare_further(const ShFndCandidate *a, const ShFndCandidate *b,
				const ShFndCandidates *candidates)
{
	for (int i = 1; i < candidates->ncenters; i++)
	{
		int			x = shbits_distance(a->fp, candidates->centers[i]);
		int			y = shbits_distance(b->fp, candidates->centers[i]);

		if (x != y)
			return x < y ? -1 : 1;
	}
	return 0;
}

#define ST_SORT sort_further
#define ST_ELEMENT_TYPE ShFndCandidate
#define ST_COMPARE(a, b, candidates) compare_further(a, b, candidates)
#define ST_COMPARE_ARG_TYPE const ShFndCandidates
#define ST_CHECK_FOR_INTERRUPTS
#define ST_SCOPE static
#define ST_DEFINE
#include "lib/sort_template.h"

/*
 * Sort the array.  The number of candidates at each distance is known, and
 * hence the range of positions where they belong: each one is swapped into its
 * range.  Candidates beyond the given distance are not compared by the other
 * centers.
 */
static void
sort_array(ShFndCandidates *candidates, int distance)
{
	ShFndCandidate *array = candidates->array;
	int64		next[SHBITS_WIDTH + 1]; /* next position to fill */
	int64		end = 0;

	for (int d = 0; d <= SHBITS_WIDTH; d++)
	{
		next[d] = end;
		end += candidates->counts[d];
	}
	end = 0;
	for (int d = 0; d <= SHBITS_WIDTH; d++)
	{
		int64		start = end;

		end += candidates->counts[d];
		CHECK_FOR_INTERRUPTS();
		while (next[d] < end)
		{
			ShFndCandidate candidate = array[next[d]];
			int64		place = next[candidate.distance]++;

			if (candidate.distance != d)
			{
				array[next[d]] = array[place];
				array[place] = candidate;
			}
		}
		if (candidates->ncenters > 1 && d <= distance && end - start > 1)
			sort_further(array + start, end - start, candidates);
	}
}

/*
 * Remove the candidates that have been returned.
 */
static void
drop_returned(ShFndCandidates *candidates)
{
	if (candidates->next == 0)
		return;
	for (int64 i = 0; i < candidates->next; i++)
		candidates->counts[candidates->array[i].distance]--;
	candidates->count -= candidates->next;
	memmove(candidates->array, candidates->array + candidates->next,
			candidates->count * sizeof(ShFndCandidate));
	candidates->sorted = 0;
	candidates->next = 0;
}

/*
 * Sort the candidates up to a distance; shfnd_next_candidate then returns
 * them.  If all are in memory, candidates beyond the distance stay for later,
 * and more may be added.  If not, there must be none beyond it.
 */
void
shfnd_sort_candidates(ShFndCandidates *candidates, int distance)
{
	if (candidates->tape_set != NULL)
	{
		/* the array now holds one tape at a time */
		candidates->count = 0;
		return;
	}
	Assert(candidates->next == 0);
	candidates->sorted = 0;
	for (int d = 0; d <= Min(distance, SHBITS_WIDTH); d++)
		candidates->sorted += candidates->counts[d];
	if (candidates->sorted > 0 && candidates->count > 1)
		sort_array(candidates, distance);
}

static void
put_into_sort(ShFndCandidates *candidates, const ShFndCandidate *candidate)
{
	unsigned char *bytes = (unsigned char *) VARDATA(candidates->key);

	for (int i = 1; i < candidates->ncenters; i++)
		*bytes++ = shbits_distance(candidate->fp, candidates->centers[i]);
	write_bytes(bytes, shbt_tid_to_int(&candidate->tid), TID_BYTES);
	write_bytes(bytes + TID_BYTES, candidate->fp, FP_BYTES);
	tuplesort_putdatum(candidates->sort, PointerGetDatum(candidates->key), false);
}

static void
start_sort(ShFndCandidates *candidates)
{
	TypeCacheEntry *type = lookup_type_cache(BYTEAOID, TYPECACHE_LT_OPR);
	Size		size = VARHDRSZ + candidates->ncenters - 1 + TID_BYTES + FP_BYTES;

	if (candidates->key == NULL)
		candidates->key = palloc(size);
	SET_VARSIZE(candidates->key, size);
	candidates->sort = tuplesort_begin_datum(BYTEAOID, type->lt_opr, InvalidOid, false,
											 work_mem, NULL, TUPLESORT_NONE);
}

/*
 * Sort the candidates of a tape, which all have the same distance from the
 * first center, by their distances from the others.
 */
static void
sort_tape(ShFndCandidates *candidates, LogicalTape *tape, int64 count)
{
	bool		in_memory = count <= candidates->max;
	ShFndCandidate candidate = {0};

	if (!in_memory)
	{
		if (candidates->array != NULL)
			pfree(candidates->array);
		candidates->array = NULL;
		candidates->capacity = 0;
		start_sort(candidates);
	}
	candidates->count = 0;
	for (int64 i = 0; read_from_tape(tape, &candidate); i++)
	{
		if (i % CHECK_INTERVAL == 0)
			CHECK_FOR_INTERRUPTS();
		if (in_memory)
			add_to_array(candidates, &candidate);
		else
			put_into_sort(candidates, &candidate);
	}
	LogicalTapeClose(tape);

	if (!in_memory)
		tuplesort_performsort(candidates->sort);
	else
		sort_further(candidates->array, candidates->count, candidates);
	candidates->sorted = candidates->count;
	candidates->next = 0;
}

/*
 * Turn to the next tape.  Returns false after the last.
 */
static bool
start_tape(ShFndCandidates *candidates)
{
	for (int d = 0; d <= SHBITS_WIDTH; d++)
	{
		LogicalTape *tape = candidates->tapes[d];

		if (tape == NULL)
			continue;
		candidates->tapes[d] = NULL;
		LogicalTapeRewindForRead(tape, READ_BUFFER);
		if (candidates->ncenters == 1)
			candidates->reading = tape;
		else
			sort_tape(candidates, tape, candidates->counts[d]);
		return true;
	}
	return false;
}

static bool
next_of_tape(ShFndCandidates *candidates, ShFingerprint *fp, ItemPointer tid)
{
	ShFndCandidate candidate;

	if (!read_from_tape(candidates->reading, &candidate))
	{
		LogicalTapeClose(candidates->reading);
		candidates->reading = NULL;
		return false;
	}
	*fp = candidate.fp;
	*tid = candidate.tid;
	return true;
}

static bool
next_of_sort(ShFndCandidates *candidates, ShFingerprint *fp, ItemPointer tid)
{
	Datum		key;
	bool		is_null;
	const unsigned char *bytes;

	if (!shcompat_tuplesort_getdatum(candidates->sort, true, &key, &is_null))
	{
		tuplesort_end(candidates->sort);
		candidates->sort = NULL;
		return false;
	}
	bytes = (const unsigned char *) VARDATA(DatumGetPointer(key)) + candidates->ncenters - 1;
	shbt_int_to_tid(read_bytes(bytes, TID_BYTES), tid);
	*fp = read_bytes(bytes + TID_BYTES, FP_BYTES);
	pfree(DatumGetPointer(key));
	return true;
}

static bool
next_of_array(ShFndCandidates *candidates, ShFingerprint *fp, ItemPointer tid)
{
	const ShFndCandidate *candidate;

	if (candidates->next == candidates->sorted)
		return false;
	candidate = &candidates->array[candidates->next++];
	*fp = candidate->fp;
	*tid = candidate->tid;
	return true;
}

/*
 * The same where the candidates are on tapes.
 */
static bool
next_of_tapes(ShFndCandidates *candidates, ShFingerprint *fp, ItemPointer tid)
{
	/* what is read from a tape, and its buffer, must outlive this call */
	MemoryContext old = MemoryContextSwitchTo(candidates->context);
	bool		found;

	do
	{
		if (candidates->reading != NULL)
			found = next_of_tape(candidates, fp, tid);
		else if (candidates->sort != NULL)
			found = next_of_sort(candidates, fp, tid);
		else
			found = next_of_array(candidates, fp, tid);
	} while (!found && start_tape(candidates));
	MemoryContextSwitchTo(old);
	return found;
}

/*
 * Return the next of the sorted candidates.  Returns false after the last.
 */
bool
shfnd_next_candidate(ShFndCandidates *candidates, ShFingerprint *fp, ItemPointer tid)
{
	if (candidates->tape_set != NULL)
		return next_of_tapes(candidates, fp, tid);
	if (next_of_array(candidates, fp, tid))
		return true;
	drop_returned(candidates);
	return false;
}
