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
#include "nodes/execnodes.h"
#include "storage/predicate.h"

#include "btree/ahead.h"
#include "btree/cache.h"
#include "btree/change.h"
#include "btree/leaf.h"
#include "btree/search.h"
#include "build/options.h"
#include "class/fingerprint.h"
#include "index/insert.h"

/*
 * Add keys[i] to tree first + i, for 0 <= i < count <= SHBT_MAX_APPEND.
 *
 * Holds no lock or pin when it returns.
 */
static void
insert_batch(Relation index, int first, int count, const ShBtKey *keys)
{
	Buffer		leaves[SHBT_MAX_APPEND];
	ShBtAim		aims[SHBT_MAX_APPEND];
	int			locked = 0;

	for (int i = 0; i < count; i++)
	{
		aims[i].tree = first + i;
		aims[i].key = keys[i];
		aims[i].last = keys[i].fp;
	}
	shbt_read_ahead(index, count, aims);

	while (locked < count)
	{
		Buffer		leaf = shbt_search_at(index, first + locked, keys[locked],
										  &aims[locked].place, BUFFER_LOCK_EXCLUSIVE);

		leaves[locked++] = leaf;
		if (unlikely(!shbt_leaf_takes(BufferGetPage(leaf), keys[locked - 1])))
		{
			int			full = locked - 1;

			/*
			 * Splits happen once in hundreds of inserts.  Restarting is
			 * cheaper than holding the locks during the split.
			 */
			while (locked > 0)
				UnlockReleaseBuffer(leaves[--locked]);
			shbt_make_room(index, first + full, 0, keys[full],
						   shbld_fillfactor(index));
		}
	}

	for (int i = 0; i < count; i++)
		CheckForSerializableConflictIn(index, NULL, BufferGetBlockNumber(leaves[i]));
	shbt_append(index, count, leaves, keys);

	while (locked > 0)
		UnlockReleaseBuffer(leaves[--locked]);
}

/* what is looked up once for each statement */
typedef struct InsertState
{
	const ShBitsScheme *scheme;
	ShClsFingerprinter fingerprinter;
} InsertState;

static InsertState *
state_of_statement(Relation index, IndexInfo *info)
{
	if (info->ii_AmCache == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(info->ii_Context);
		InsertState *state = palloc(sizeof(InsertState));

		state->scheme = shbt_get_scheme(index);
		shcls_fingerprinter_begin(&state->fingerprinter, index, shbt_width(index));
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
	const ShBitsScheme *scheme = state->scheme;
	ShBtRow		tid = shbt_tid_to_int(heap_tid);
	int			column = shcls_fp_column(index);
	uint32		group = shcls_group_of_row(&state->fingerprinter, index, values, isnull);
	int			ntrees = state->fingerprinter.nparts * scheme->ntables;
	ShFingerprint parts[SHBITS_MAX_PARTS];
	const ShFingerprint *part = parts;
	int			table = 0;

	if (!shcls_fingerprint(&state->fingerprinter, values[column], isnull[column], parts))
	{
		ShBtKey		key = shbt_make_key(group, 0, tid);

		insert_batch(index, ntrees, 1, &key);
		return false;
	}

	for (int first = 0; first < ntrees; first += SHBT_MAX_APPEND)
	{
		int			count = Min(SHBT_MAX_APPEND, ntrees - first);
		ShBtKey		keys[SHBT_MAX_APPEND];

		for (int i = 0; i < count; i++)
		{
			keys[i] = shbt_make_key(group, shbits_permute(&scheme->tables[table], *part), tid);
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
