/*-------------------------------------------------------------------------
 *
 * partitions.c
 *	  Opening the partitions of the index that is passed to a function.
 *
 * A partitioned index stands for the indexes of all leaf partitions of its
 * table, at any depth.  As in a query of that table, privileges on the
 * partitions and their policies do not matter, only those of the table that is
 * named.
 *
 * Each leaf must have such an index; otherwise its rows would be missing
 * silently.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/table.h"
#include "catalog/index.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "dedup/open.h"
#include "index/index.h"

typedef struct IndexOfTable
{
	Oid			table;
	Oid			index;
} IndexOfTable;

static int
compare_tables(const void *a, const void *b)
{
	Oid			x = ((const IndexOfTable *) a)->table;
	Oid			y = ((const IndexOfTable *) b)->table;

	return x < y ? -1 : x > y;
}

/*
 * The indexes below a partitioned one that are not partitioned themselves,
 * sorted by table.  Locks them.
 */
static IndexOfTable *
indexes_of_leaves(Oid partitioned, int *count)
{
	List	   *oids = find_all_inheritors(partitioned, AccessShareLock, NULL);
	IndexOfTable *indexes = palloc(list_length(oids) * sizeof(IndexOfTable));
	ListCell   *cell;

	*count = 0;
	foreach(cell, oids)
	{
		Oid			index = lfirst_oid(cell);

		if (get_rel_relkind(index) == RELKIND_INDEX)
		{
			indexes[*count].index = index;
			indexes[*count].table = IndexGetRelation(index, false);
			(*count)++;
		}
	}
	qsort(indexes, *count, sizeof(IndexOfTable), compare_tables);
	return indexes;
}

static void
report_foreign(const ShDupOpened *named, Oid table)
{
	ereport(ERROR,
			(errcode(ERRCODE_WRONG_OBJECT_TYPE),
			 errmsg("index \"%s\" does not cover partition \"%s\", which is a foreign table",
					RelationGetRelationName(named->index), get_rel_name(table)),
			 errhint("Use the function for arrays with (SELECT array_agg(fp) FROM %s), or search the index of each partition on its server.",
					 shdup_written_name(RelationGetRelid(named->heap)))));
}

static void
report_uncovered(const ShDupOpened *named, Oid table)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("index \"%s\" does not cover partition \"%s\"",
					RelationGetRelationName(named->index), get_rel_name(table)),
			 errhint("Create an index on the partition, and attach it with ALTER INDEX ... ATTACH PARTITION.")));
}

/*
 * Open the leaf partitions of the table that is named, and their indexes.
 *
 * They are locked in the order in which a query locks them, tables first.  A
 * partition that is being detached is left out if a query would leave it out.
 * Between the two catalog scans a partition may be attached, or a detach may
 * be completed, so there may be indexes of tables that are not partitions for
 * us.
 */
static void
open_leaves(ShDupPartitions *target)
{
	List	   *tables = find_all_inheritors(RelationGetRelid(target->named.heap),
											 AccessShareLock, NULL);
	int			nindexes;
	IndexOfTable *indexes = indexes_of_leaves(RelationGetRelid(target->named.index), &nindexes);
	ListCell   *cell;

	target->count = 0;
	target->leaves = palloc(list_length(tables) * sizeof(ShDupOpened));
	list_sort(tables, list_oid_cmp);
	foreach(cell, tables)
	{
		IndexOfTable wanted = {lfirst_oid(cell), InvalidOid};
		char		relkind = get_rel_relkind(wanted.table);
		const IndexOfTable *found;
		ShDupOpened *leaf;

		if (relkind == RELKIND_PARTITIONED_TABLE)
			continue;
		if (relkind == RELKIND_FOREIGN_TABLE)
			report_foreign(&target->named, wanted.table);
		found = bsearch(&wanted, indexes, nindexes, sizeof(IndexOfTable), compare_tables);
		if (found == NULL)
			report_uncovered(&target->named, wanted.table);

		leaf = &target->leaves[target->count++];
		leaf->heap = table_open(found->table, NoLock);
		leaf->index = index_open(found->index, NoLock);
		leaf->release = NoLock;
		shdup_replace_invalid(leaf->heap, &leaf->index);
		shdup_check_state(leaf->heap, leaf->index);
	}
	list_free(tables);
	pfree(indexes);
}

/*
 * Open an index for a function that returns rows, with AccessShareLock on it,
 * its table, and all their partitions, until the end of the transaction.
 *
 * Reports errors as shdup_open does, using the privileges of the current user
 * on the table that is named, and also if a leaf partition has no valid index.
 */
void
shdup_open_partitions(Oid indexoid, ShDupPartitions *target)
{
	shdup_open_named(indexoid, &target->named);
	if (shdup_is_partitioned(target))
		open_leaves(target);
	else
	{
		target->count = 1;
		target->leaves = &target->named;
	}
}

/*
 * Close everything.  The locks are kept.
 */
void
shdup_close_partitions(ShDupPartitions *target)
{
	for (int i = 0; shdup_is_partitioned(target) && i < target->count; i++)
		shdup_close(&target->leaves[i]);
	shdup_close(&target->named);
}

/*
 * The operator by which the operator class of an index compares the values
 * themselves, and its radius.  InvalidOid if the values are fingerprints.
 */
Oid
shdup_named_operator(const ShDupPartitions *target, int *radius)
{
	Relation	index = target->named.index;
	int			column = shidx_fp_column(index);

	if (!shidx_computes_fingerprints(index))
		return InvalidOid;
	return shidx_near_operator(index->rd_opfamily[column], index->rd_opcintype[column], radius);
}

/*
 * The function that computes the fingerprints of an index; InvalidOid if its values are
 * fingerprints.
 */
Oid
shdup_named_fingerprint(const ShDupPartitions *target)
{
	return shidx_fingerprint_function(target->named.index);
}

/*
 * The number of bits of the fingerprints in an index that is not partitioned, on a
 * column of type simhash_bits; 0 for any other.
 */
int
shdup_width_of_wide(Relation index)
{
	return shidx_is_wide(index) ? shidx_stored_width(index) : 0;
}

/*
 * The same for an index that may be partitioned, by its first partition.  Without
 * partitions only the type of the column can say it.
 */
int
shdup_wide_width(const ShDupPartitions *target)
{
	Relation	index = target->named.index;

	if (target->count > 0)
		return shdup_width_of_wide(target->leaves[0].index);
	if (!shidx_is_wide(index))
		return 0;
	if (shidx_index_width(index) == 0)
		shidx_report_no_width(index);
	return shidx_index_width(index);
}

/*
 * The distance of an index: the radius of the operator that compares its values,
 * or else that of its tables.  The indexes of partitions may have been built
 * with other options; for a partitioned index, its own options count.
 */
int
shdup_named_distance(const ShDupPartitions *target)
{
	Relation	index = target->named.index;
	int			width = Max(shdup_wide_width(target), SHBITS_WIDTH);
	int			nparts = shbits_nparts(width);
	int			radius;

	if (OidIsValid(shdup_named_operator(target, &radius)))
		return radius;
	if (shdup_is_partitioned(target))
		return shidx_get_options(index, width).distance;
	if (nparts > 1)
		return nparts * shidx_get_scheme(index)->blocks - 1;
	return Min(shidx_get_scheme(index)->distance, width);
}
