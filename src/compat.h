/*-------------------------------------------------------------------------
 *
 * compat.h
 *	  Differences between the server versions we build for, 15 to 19.
 *
 * The only place that looks at PG_VERSION_NUM.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_COMPAT_H
#define SIMHASH_COMPAT_H

#if PG_VERSION_NUM < 150000
#error "simhash needs PostgreSQL 15 or later"
#endif

#include "access/amapi.h"
#include "access/xact.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "parser/parsetree.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "storage/smgr.h"
#include "utils/guc.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

/* access to varlena headers moved out of postgres.h in 16 */
#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif

/* what the library is, which the server shows since 18 */
#if PG_VERSION_NUM >= 180000
#define SHCOMPAT_MODULE_MAGIC(name_, version_)	PG_MODULE_MAGIC_EXT(.name = name_, .version = version_)
#else
#define SHCOMPAT_MODULE_MAGIC(name_, version_)	PG_MODULE_MAGIC
#endif

/* before a declaration: the function does not return */
#if PG_VERSION_NUM >= 180000
#define SHCOMPAT_NORETURN	pg_noreturn
#else
#define SHCOMPAT_NORETURN	pg_attribute_noreturn()
#endif

/* check for interrupts now and then, at iteration i of a loop over memory */
static inline void
shcompat_check_at(size_t i)
{
	if (unlikely(i % 4096 == 4095))
		CHECK_FOR_INTERRUPTS();
}

/*
 * Since 18 the target list of a query refers to its grouping expressions by
 * variables.  Get the expression of a node that may be such a variable.
 */
static inline Node *
shcompat_grouping_expression(Query *parse, Node *expr)
{
#if PG_VERSION_NUM >= 180000
	if (parse->hasGroupRTE && IsA(expr, Var) &&
		((Var *) expr)->varlevelsup == 0)
	{
		RangeTblEntry *rte = rt_fetch(((Var *) expr)->varno, parse->rtable);

		if (rte->rtekind == RTE_GROUP)
			return (Node *) list_nth(rte->groupexprs,
									 ((Var *) expr)->varattno - 1);
	}
#endif
	return expr;
}

/*
 * Extend a relation by one zeroed page; its buffer is returned pinned and
 * exclusively locked.  VACUUM of an index relies on new pages to be at its end.
 */
static inline Buffer
shcompat_extend(Relation relation, ForkNumber fork)
{
#if PG_VERSION_NUM >= 160000
	return ExtendBufferedRel(BMR_REL(relation), fork, NULL, EB_LOCK_FIRST);
#else
	Buffer		buffer;
	bool		lock = !RELATION_IS_LOCAL(relation) || IsInParallelMode();

	if (lock)
		LockRelationForExtension(relation, ExclusiveLock);
	buffer = ReadBufferExtended(relation, fork, P_NEW, RBM_NORMAL, NULL);
	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	if (lock)
		UnlockRelationForExtension(relation, ExclusiveLock);
	return buffer;
#endif
}

/*
 * Allocate the struct that the handler of an index access method fills in.  Up
 * to 18 the server copies it and frees it; since 19 it keeps the pointer
 * forever.
 */
static inline IndexAmRoutine *
shcompat_make_am_routine(void)
{
#if PG_VERSION_NUM >= 190000
	static IndexAmRoutine routine = {.type = T_IndexAmRoutine};

	return &routine;
#else
	return makeNode(IndexAmRoutine);
#endif
}

/* scans of a table got flags in 19, none of which are needed */
#if PG_VERSION_NUM >= 190000
#define shcompat_index_fetch_begin(relation)	table_index_fetch_begin((relation), SO_NONE)
#define shcompat_beginscan_parallel(relation, scan) \
	table_beginscan_parallel((relation), (scan), SO_NONE)
#define shcompat_beginscan_tidrange(relation, snapshot, first, last) \
	table_beginscan_tidrange((relation), (snapshot), (first), (last), SO_NONE)
#else
#define shcompat_index_fetch_begin(relation)	table_index_fetch_begin(relation)
#define shcompat_beginscan_parallel(relation, scan) \
	table_beginscan_parallel((relation), (scan))
#define shcompat_beginscan_tidrange(relation, snapshot, first, last) \
	table_beginscan_tidrange((relation), (snapshot), (first), (last))
#endif

/* and those of an index, which got counters in 18 */
#if PG_VERSION_NUM >= 190000
#define shcompat_index_beginscan(relation, index, snapshot, nkeys) \
	index_beginscan((relation), (index), (snapshot), NULL, (nkeys), 0, SO_NONE)
#elif PG_VERSION_NUM >= 180000
#define shcompat_index_beginscan(relation, index, snapshot, nkeys) \
	index_beginscan((relation), (index), (snapshot), NULL, (nkeys), 0)
#else
#define shcompat_index_beginscan(relation, index, snapshot, nkeys) \
	index_beginscan((relation), (index), (snapshot), (nkeys), 0)
#endif

/*
 * The number of workers for a build.  Since 17 the server determines it if the
 * access method requests that; before, it did so for btree only.
 */
#if PG_VERSION_NUM >= 170000
#define SHCOMPAT_SET_BUILD_PARALLEL(am)	((am)->amcanbuildparallel = true)
#define shcompat_build_workers(heap, index, info)	((info)->ii_ParallelWorkers)
#else
#define SHCOMPAT_SET_BUILD_PARALLEL(am)	((void) 0)
#define shcompat_build_workers(heap, index, info) \
	plan_create_index_workers(RelationGetRelid(heap), RelationGetRelid(index))
#endif

/* vacuum_delay_point got a parameter in 18 */
#if PG_VERSION_NUM >= 180000
#define shcompat_vacuum_delay_point()	vacuum_delay_point(false)
#else
#define shcompat_vacuum_delay_point()	vacuum_delay_point()
#endif

/* where EXPLAIN (ANALYZE) counts the searches of a scan, as since 18; or NULL */
#if PG_VERSION_NUM >= 180000
#define shcompat_search_counter(scan) \
	((scan)->instrument != NULL ? &(scan)->instrument->nsearches : NULL)
#else
#define shcompat_search_counter(scan)	((void) (scan), (uint64 *) NULL)
#endif

/* does a role own a relation? */
#if PG_VERSION_NUM >= 160000
#define shcompat_owns_relation(relation, role) \
	object_ownercheck(RelationRelationId, (relation), (role))
#else
#define shcompat_owns_relation(relation, role)	pg_class_ownercheck((relation), (role))
#endif

/* does a role have USAGE on a schema? */
#if PG_VERSION_NUM >= 160000
#define shcompat_may_use_schema(schema, role) \
	(object_aclcheck(NamespaceRelationId, (schema), (role), ACL_USAGE) == ACLCHECK_OK)
#else
#define shcompat_may_use_schema(schema, role) \
	(pg_namespace_aclcheck((schema), (role), ACL_USAGE) == ACLCHECK_OK)
#endif

/* does a role have EXECUTE on a function? */
#if PG_VERSION_NUM >= 160000
#define shcompat_may_execute(function, role) \
	(object_aclcheck(ProcedureRelationId, (function), (role), ACL_EXECUTE) == ACLCHECK_OK)
#else
#define shcompat_may_execute(function, role) \
	(pg_proc_aclcheck((function), (role), ACL_EXECUTE) == ACLCHECK_OK)
#endif

/* the next datum of a sort, copied; there was no choice before 16 */
#if PG_VERSION_NUM >= 160000
#define shcompat_tuplesort_getdatum(sort, forward, datum, is_null) \
	tuplesort_getdatum((sort), (forward), true, (datum), (is_null), NULL)
#else
#define shcompat_tuplesort_getdatum(sort, forward, datum, is_null) \
	tuplesort_getdatum((sort), (forward), (datum), (is_null), NULL)
#endif

/*
 * the planner's estimate of the length of an array, which takes root since 17
 */
#if PG_VERSION_NUM >= 170000
#define shcompat_estimate_array_length(root, array)	estimate_array_length((root), (array))
#else
#define shcompat_estimate_array_length(root, array)	estimate_array_length(array)
#endif

/*
 * Functions run as another user must not depend on the caller's search_path: the
 * caller could have them call functions of his own.  To be called in a new nesting
 * level of settings, which ends the setting.
 */
static inline void
shcompat_restrict_search_path(void)
{
#if PG_VERSION_NUM >= 170000
	RestrictSearchPath();
#else
	set_config_option("search_path", "pg_catalog, pg_temp", PGC_USERSET, PGC_S_SESSION,
					  GUC_ACTION_SAVE, true, 0, false);
#endif
}

/* raise "snapshot too old"; old_snapshot_threshold was removed in 17 */
#if PG_VERSION_NUM < 170000
#define shcompat_test_old_snapshot(snapshot, relation, page) \
	TestForOldSnapshot((snapshot), (relation), (page))
#else
#define shcompat_test_old_snapshot(snapshot, relation, page)	((void) 0)
#endif

/*
 * Prune a heap page that is not locked.  Since 19 this can also mark the page as
 * all-visible, if the query does not change the table; that is not known here.
 */
#if PG_VERSION_NUM >= 190000
#define shcompat_heap_prune(heap, buffer) \
	do { \
		Buffer		map_buffer_ = InvalidBuffer; \
		heap_page_prune_opt((heap), (buffer), &map_buffer_, false); \
		if (BufferIsValid(map_buffer_)) \
			ReleaseBuffer(map_buffer_); \
	} while (0)
#else
#define shcompat_heap_prune(heap, buffer)	heap_page_prune_opt((heap), (buffer))
#endif

/*
 * Change hints on a page that is locked in share mode, between "begin" and
 * "finish".  Since 19 the server writes a page from the buffer itself, not from a
 * copy, so it must know of the change beforehand.  If "begin" returns false, the
 * hints must be left alone: another backend is writing the page, or changes hints.
 */
#if PG_VERSION_NUM >= 190000
#define shcompat_begin_hints(buffer)	BufferBeginSetHintBits(buffer)
#define shcompat_finish_hints(buffer)	BufferFinishSetHintBits((buffer), true, true)
#else
#define shcompat_begin_hints(buffer)	((void) (buffer), true)
#define shcompat_finish_hints(buffer)	MarkBufferDirtyHint((buffer), true)
#endif

/* compute the checksum of a page in local memory; there is no other way since 19 */
#if PG_VERSION_NUM >= 190000
#define shcompat_set_checksum(page, block)	PageSetChecksum((page), (block))
#else
#define shcompat_set_checksum(page, block)	PageSetChecksumInplace((page), (block))
#endif

/*
 * Iterate over an array of elements of 8 bytes, or of type bytea, with array_iter.
 * Their layout is an argument of the first step since 19, and of each step before.
 */
#define SHCOMPAT_ELEMENT_LAYOUT	sizeof(int64), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE
#define SHCOMPAT_BYTEA_LAYOUT	-1, false, TYPALIGN_INT

#if PG_VERSION_NUM >= 190000
#define shcompat_array_begin(iterator, array) \
	array_iter_setup((iterator), (array), SHCOMPAT_ELEMENT_LAYOUT)
#define shcompat_array_next(iterator, is_null, i) \
	array_iter_next((iterator), (is_null), (i))
#define shcompat_bytea_array_begin(iterator, array) \
	array_iter_setup((iterator), (array), SHCOMPAT_BYTEA_LAYOUT)
#define shcompat_bytea_array_next(iterator, is_null, i) \
	array_iter_next((iterator), (is_null), (i))
#else
#define shcompat_array_begin(iterator, array)	array_iter_setup((iterator), (array))
#define shcompat_array_next(iterator, is_null, i) \
	array_iter_next((iterator), (is_null), (i), SHCOMPAT_ELEMENT_LAYOUT)
#define shcompat_bytea_array_begin(iterator, array)	array_iter_setup((iterator), (array))
#define shcompat_bytea_array_next(iterator, is_null, i) \
	array_iter_next((iterator), (is_null), (i), SHCOMPAT_BYTEA_LAYOUT)
#endif

/* a new tuple descriptor has got all its attributes; 19 wants to know */
#if PG_VERSION_NUM >= 190000
#define shcompat_finish_tuple_desc(desc)	TupleDescFinalize(desc)
#else
#define shcompat_finish_tuple_desc(desc)	((void) 0)
#endif

/*
 * status of a backend, by its number from 1 to pgstat_fetch_stat_numbackends()
 */
#if PG_VERSION_NUM >= 160000
#define shcompat_get_backend_status(n)	pgstat_get_local_beentry_by_index(n)
#else
#define shcompat_get_backend_status(n)	pgstat_fetch_stat_local_beentry(n)
#endif

/* report an error if the current user may not select what has been parsed */
#if PG_VERSION_NUM >= 160000
#define shcompat_check_permissions(pstate) \
	((void) ExecCheckPermissions((pstate)->p_rtable, (pstate)->p_rteperminfos, true))
#else
#define shcompat_check_permissions(pstate) \
	((void) ExecCheckRTPerms((pstate)->p_rtable, true))
#endif

/* expand virtual generated columns, which exist since 18 */
#if PG_VERSION_NUM >= 180000
#define shcompat_expand_generated_columns(node, relation, varno) \
	expand_generated_columns_in_expr((node), (relation), (varno))
#else
#define shcompat_expand_generated_columns(node, relation, varno)	(node)
#endif

/* the locator of the files of a relation */
#if PG_VERSION_NUM >= 160000
typedef RelFileLocator ShCompatLocator;

#define shcompat_locator(relation)	((relation)->rd_locator)
#define shcompat_file_number(relation)	((relation)->rd_locator.relNumber)
#else
typedef RelFileNode ShCompatLocator;

#define shcompat_locator(relation)	((relation)->rd_node)
#define shcompat_file_number(relation)	((relation)->rd_node.relNode)
#endif

/* has the current transaction given a relation a new file? */
#if PG_VERSION_NUM >= 160000
#define shcompat_has_new_file(relation) \
	((relation)->rd_newRelfilelocatorSubid != InvalidSubTransactionId)
#else
#define shcompat_has_new_file(relation) \
	((relation)->rd_newRelfilenodeSubid != InvalidSubTransactionId)
#endif

/* alignment in memory of pages that are read or written without buffers */
#if PG_VERSION_NUM >= 160000
#define SHCOMPAT_IO_ALIGNMENT	PG_IO_ALIGN_SIZE
#else
#define SHCOMPAT_IO_ALIGNMENT	MAXIMUM_ALIGNOF
#endif

/*
 * Extend a relation from its end, which the caller gives, by a number of zeroed
 * pages, with disk space allocated for them.  Since 16 the server can allocate
 * space without writing.
 */
static inline void
shcompat_reserve_pages(Relation relation, BlockNumber end, int count)
{
#if PG_VERSION_NUM >= 160000
	smgrzeroextend(RelationGetSmgr(relation), MAIN_FORKNUM, end, count, true);
#else
	char	   *zeros = palloc0(BLCKSZ);

	for (int i = 0; i < count; i++)
		smgrextend(RelationGetSmgr(relation), MAIN_FORKNUM, end + i, zeros, true);
	pfree(zeros);
#endif
}

/*
 * Drop the buffers of the main fork of a relation; what is in them is not written.
 */
static inline void
shcompat_drop_buffers(Relation relation)
{
	ForkNumber	fork = MAIN_FORKNUM;
	BlockNumber first = 0;

#if PG_VERSION_NUM >= 160000
	DropRelationBuffers(RelationGetSmgr(relation), &fork, 1, &first);
#else
	DropRelFileNodeBuffers(RelationGetSmgr(relation), &fork, 1, &first);
#endif
}

/* does the tag of a buffer name a block of a relation's main fork? */
#if PG_VERSION_NUM >= 160000
#define shcompat_tag_is(tag, relation, block) \
	((tag)->blockNum == (block) && \
	 BufTagMatchesRelFileLocator((tag), &(relation)->rd_locator) && \
	 BufTagGetForkNum(tag) == MAIN_FORKNUM)
#else
#define shcompat_tag_is(tag, relation, number) \
	((tag)->blockNum == (number) && \
	 RelFileNodeEquals((tag)->rnode, (relation)->rd_node) && \
	 (tag)->forkNum == MAIN_FORKNUM)
#endif

/* prefetch a cache line; harmless for any address */
#if defined(__GNUC__) || defined(__clang__)
#define shcompat_prefetch(address)	__builtin_prefetch(address)
#else
#define shcompat_prefetch(address)	((void) 0)
#endif

/*
 * Versions whose generic WAL records are known to have the format that
 * index/split.c writes.  Others take the generic WAL API.
 */
#if PG_VERSION_NUM < 200000
#define SHCOMPAT_GENERIC_WAL_FORMAT_KNOWN
#endif

/*
 * Input functions report bad input by ereturn, which since 16 passes the error
 * to a caller that has requested that; before, all errors are thrown.
 */
#if PG_VERSION_NUM < 160000
#define ereturn(context, dummy_value, ...) \
	do { \
		(void) (context); \
		ereport(ERROR, __VA_ARGS__); \
		return (dummy_value); \
	} while (0)
#endif

#endif							/* SIMHASH_COMPAT_H */
