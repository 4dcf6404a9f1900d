/*-------------------------------------------------------------------------
 *
 * candidates.c
 *	  Matches that wait for their turn in an ordered scan.
 *
 * They are kept in an array, and sorted there, while work_mem holds them.
 * Beyond that the server sorts them, on disk if need be, as strings of bytes:
 * the distances, a byte each, then the TID, so that rows at one distance are
 * looked up in the order of the table, then the fingerprint.
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
#include "index/candidates.h"

#define FIRST_CAPACITY	256

/* in the key of a tuplesort, behind the distances */
#define TID_BYTES		6
#define FP_BYTES		8

/*
 * Prepare to collect candidates; they will be sorted by at most max_centres
 * distances.
 */
void
shidx_candidates_begin(ShIdxCandidates *candidates, int max_centres)
{
	memset(candidates, 0, sizeof(*candidates));
	candidates->centres = palloc(max_centres * sizeof(uint64));
	candidates->context = AllocSetContextCreate(CurrentMemoryContext, "simhash candidates",
												ALLOCSET_DEFAULT_SIZES);
	candidates->max = Max(work_mem * INT64CONST(1024) / sizeof(ShIdxCandidate), 1024);
}

/*
 * Free all that there is.
 */
void
shidx_candidates_end(ShIdxCandidates *candidates)
{
	shidx_forget_candidates(candidates);
	MemoryContextDelete(candidates->context);
	pfree(candidates->centres);
}

/*
 * Free all candidates, and the files they may be in.
 */
void
shidx_forget_candidates(ShIdxCandidates *candidates)
{
	if (candidates->sort != NULL)
		tuplesort_end(candidates->sort);
	MemoryContextReset(candidates->context);
	candidates->sort = NULL;
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

static void
put_into_sort(ShIdxCandidates *candidates, const ShIdxCandidate *candidate)
{
	unsigned char *bytes = (unsigned char *) VARDATA(candidates->key);

	*bytes++ = candidate->distance;
	for (int i = 1; i < candidates->ncentres; i++)
		*bytes++ = shbits_distance(candidate->fp, candidates->centres[i]);
	write_bytes(bytes, shbt_tid_to_int(&candidate->tid), TID_BYTES);
	write_bytes(bytes + TID_BYTES, candidate->fp, FP_BYTES);
	tuplesort_putdatum(candidates->sort, PointerGetDatum(candidates->key), false);
}

/*
 * Memory is used up: leave the candidates to the server.
 */
static void
start_sort(ShIdxCandidates *candidates)
{
	MemoryContext old = MemoryContextSwitchTo(candidates->context);
	TypeCacheEntry *type = lookup_type_cache(BYTEAOID, TYPECACHE_LT_OPR);
	Size		size = VARHDRSZ + candidates->ncentres + TID_BYTES + FP_BYTES;

	candidates->key = palloc(size);
	SET_VARSIZE(candidates->key, size);
	candidates->sort = tuplesort_begin_datum(BYTEAOID, type->lt_opr, InvalidOid, false,
											 work_mem, NULL, TUPLESORT_NONE);
	MemoryContextSwitchTo(old);

	for (int64 i = 0; i < candidates->count; i++)
		put_into_sort(candidates, &candidates->array[i]);
	if (candidates->array != NULL)
		pfree(candidates->array);
	candidates->array = NULL;
}

static void
enlarge(ShIdxCandidates *candidates)
{
	int64		capacity = Max(2 * candidates->capacity, FIRST_CAPACITY);

	capacity = Min(capacity, candidates->max);
	if (candidates->array == NULL)
		candidates->array = MemoryContextAlloc(candidates->context,
											   capacity * sizeof(ShIdxCandidate));
	else
		candidates->array = repalloc_huge(candidates->array,
										  capacity * sizeof(ShIdxCandidate));
	candidates->capacity = capacity;
}

/*
 * Add a match and its distance from the first centre.
 *
 * While count < max it stays in memory, else all go to the server's sort.
 */
void
shidx_add_candidate(ShIdxCandidates *candidates, uint64 fp, ItemPointerData tid, int distance)
{
	ShIdxCandidate candidate = {.fp = fp,.tid = tid,.distance = distance};

	if (candidates->sort == NULL && candidates->count == candidates->max)
		start_sort(candidates);
	if (candidates->sort != NULL)
		put_into_sort(candidates, &candidate);
	else
	{
		if (candidates->count == candidates->capacity)
			enlarge(candidates);
		candidates->array[candidates->count] = candidate;
	}
	candidates->count++;
	candidates->counts[distance]++;
}

/*
 * Drop the candidates that are farther away.  All must be in memory.
 */
void
shidx_drop_beyond(ShIdxCandidates *candidates, int distance)
{
	int64		kept = 0;

	Assert(candidates->sort == NULL);
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
 * Compare candidates at one distance by those from the other centres.
 */
static int
compare_further(const ShIdxCandidate *a, const ShIdxCandidate *b,
				const ShIdxCandidates *candidates)
{
	for (int i = 1; i < candidates->ncentres; i++)
	{
		int			x = shbits_distance(a->fp, candidates->centres[i]);
		int			y = shbits_distance(b->fp, candidates->centres[i]);

		if (x != y)
			return x < y ? -1 : 1;
	}
	return 0;
}

#define ST_SORT sort_further
#define ST_ELEMENT_TYPE ShIdxCandidate
#define ST_COMPARE(a, b, candidates) compare_further(a, b, candidates)
#define ST_COMPARE_ARG_TYPE const ShIdxCandidates
#define ST_CHECK_FOR_INTERRUPTS
#define ST_SCOPE static
#define ST_DEFINE
#include "lib/sort_template.h"

/*
 * Sort the array.  How many there are at each distance is known, and so the
 * places that they have in the end: each is swapped into one of its own.
 * Beyond a distance the other centres do not matter.
 */
static void
sort_array(ShIdxCandidates *candidates, int distance)
{
	ShIdxCandidate *array = candidates->array;
	int64		next[SHBITS_WIDTH + 1]; /* place to fill */
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
			ShIdxCandidate candidate = array[next[d]];
			int64		place = next[candidate.distance]++;

			if (candidate.distance != d)
			{
				array[next[d]] = array[place];
				array[place] = candidate;
			}
		}
		if (candidates->ncentres > 1 && d <= distance && end - start > 1)
			sort_further(array + start, end - start, candidates);
	}
}

/*
 * Forget those that have been returned.
 */
static void
drop_returned(ShIdxCandidates *candidates)
{
	if (candidates->next == 0)
		return;
	for (int64 i = 0; i < candidates->next; i++)
		candidates->counts[candidates->array[i].distance]--;
	candidates->count -= candidates->next;
	memmove(candidates->array, candidates->array + candidates->next,
			candidates->count * sizeof(ShIdxCandidate));
	candidates->sorted = 0;
	candidates->next = 0;
}

/*
 * Sort the candidates up to a distance; shidx_next_candidate then returns
 * them.  Others stay for later, and more may be added, if all are in memory;
 * else they must not be farther away.
 */
void
shidx_sort_candidates(ShIdxCandidates *candidates, int distance)
{
	if (candidates->sort != NULL)
	{
		tuplesort_performsort(candidates->sort);
		return;
	}
	Assert(candidates->next == 0);
	candidates->sorted = 0;
	for (int d = 0; d <= Min(distance, SHBITS_WIDTH); d++)
		candidates->sorted += candidates->counts[d];
	if (candidates->sorted > 0 && candidates->count > 1)
		sort_array(candidates, distance);
}

static bool
next_of_sort(ShIdxCandidates *candidates, uint64 *fp, ItemPointer tid)
{
	Datum		key;
	bool		is_null;
	const unsigned char *bytes;

	if (!shcompat_tuplesort_getdatum(candidates->sort, true, &key, &is_null))
		return false;
	bytes = (const unsigned char *) VARDATA(DatumGetPointer(key)) + candidates->ncentres;
	shbt_int_to_tid(read_bytes(bytes, TID_BYTES), tid);
	*fp = read_bytes(bytes + TID_BYTES, FP_BYTES);
	pfree(DatumGetPointer(key));
	return true;
}

/*
 * The next of those that have been sorted.  Returns false after the last.
 */
bool
shidx_next_candidate(ShIdxCandidates *candidates, uint64 *fp, ItemPointer tid)
{
	const ShIdxCandidate *candidate;

	if (candidates->sort != NULL)
		return next_of_sort(candidates, fp, tid);
	if (candidates->next == candidates->sorted)
	{
		drop_returned(candidates);
		return false;
	}
	candidate = &candidates->array[candidates->next++];
	*fp = candidate->fp;
	*tid = candidate->tid;
	return true;
}
