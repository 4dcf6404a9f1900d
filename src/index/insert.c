/*-------------------------------------------------------------------------
 *
 * insert.c
 *	  Adding a row to a simhash index.
 *
 * A row adds an entry to one leaf of each table, for each part of its fingerprint.
 * The tables are processed in batches, as many as one WAL record can hold, and the
 * leaves of a batch are locked in their order.  A crash between two batches leaves a
 * row in some tables only, but then its transaction has not committed either.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/generic_xlog.h"
#include "miscadmin.h"
#include "nodes/execnodes.h"
#include "storage/predicate.h"

#include "index/build.h"
#include "index/class.h"
#include "index/handler.h"
#include "index/leaf.h"
#include "index/tree.h"

/*
 * Add keys[i] to tree first + i, for 0 <= i < count <= SHIDX_MAX_APPEND.
 *
 * Holds no lock or pin when it returns.
 */
static void
insert_batch(Relation index, int first, int count, const ShIdxKey *keys)
{
	Buffer		leaves[SHIDX_MAX_APPEND];
	ShIdxAim	aims[SHIDX_MAX_APPEND];
	int			locked = 0;

	for (int i = 0; i < count; i++)
	{
		aims[i].tree = first + i;
		aims[i].key = keys[i];
		aims[i].last = keys[i].fp;
	}
	shidx_read_ahead(index, count, aims);

	while (locked < count)
	{
		Buffer		leaf = shidx_leaf(index, first + locked, keys[locked],
									  &aims[locked].place, BUFFER_LOCK_EXCLUSIVE);

		leaves[locked++] = leaf;
		if (unlikely(!shidx_leaf_takes(BufferGetPage(leaf), keys[locked - 1])))
		{
			int			full = locked - 1;

			/*
			 * Splits happen once in hundreds of inserts.  Restarting is
			 * cheaper than holding the locks during the split.
			 */
			while (locked > 0)
				UnlockReleaseBuffer(leaves[--locked]);
			shidx_make_room(index, first + full, 0, keys[full],
							shidx_fillfactor(index));
		}
	}

	for (int i = 0; i < count; i++)
		CheckForSerializableConflictIn(index, NULL, BufferGetBlockNumber(leaves[i]));
	shidx_append(index, count, leaves, keys);

	while (locked > 0)
		UnlockReleaseBuffer(leaves[--locked]);
}

/* what is looked up once for each statement */
typedef struct InsertState
{
	const ShIdxGeometry *geometry;
	ShIdxFingerprinter fingerprinter;
} InsertState;

static InsertState *
state_of_statement(Relation index, IndexInfo *info)
{
	if (info->ii_AmCache == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(info->ii_Context);
		InsertState *state = palloc(sizeof(InsertState));

		state->geometry = shidx_get_geometry(index);
		shidx_fingerprinter_begin(&state->fingerprinter, index, state->geometry);
		info->ii_AmCache = state;
		MemoryContextSwitchTo(old);
	}
	return (InsertState *) info->ii_AmCache;
}

/*
 * aminsert: add an entry for a heap row.
 */
bool
shidx_insert(Relation index, Datum *values, bool *isnull, ItemPointer heap_tid,
			 Relation heap, IndexUniqueCheck check_unique, bool index_unchanged,
			 struct IndexInfo *info)
{
	InsertState *state = state_of_statement(index, info);
	const ShBitsScheme *scheme = state->geometry->scheme;
	ShIdxRow	tid = shidx_tid_to_int(heap_tid);
	int			column = shidx_fp_column(index);
	uint32		group = shidx_group_of_row(&state->fingerprinter, index, values, isnull);
	int			ntrees = state->geometry->ntrees;
	ShFingerprint parts[SHBITS_MAX_PARTS];
	const ShFingerprint *part = parts;
	int			table = 0;

	if (!shidx_fingerprint(&state->fingerprinter, values[column], isnull[column], parts))
	{
		ShIdxKey	key = shidx_make_key(group, 0, tid);

		insert_batch(index, ntrees, 1, &key);
		return false;
	}

	for (int first = 0; first < ntrees; first += SHIDX_MAX_APPEND)
	{
		int			count = Min(SHIDX_MAX_APPEND, ntrees - first);
		ShIdxKey	keys[SHIDX_MAX_APPEND];

		CHECK_FOR_INTERRUPTS();
		for (int i = 0; i < count; i++)
		{
			keys[i] = shidx_make_key(group, shbits_permute(&scheme->tables[table], *part), tid);
			if (++table == scheme->ntables)
			{
				table = 0;
				part++;
			}
		}
		insert_batch(index, first, count, keys);
	}

	/* the result is about uniqueness, which this access method cannot check */
	return false;
}
