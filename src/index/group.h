/*-------------------------------------------------------------------------
 *
 * group.h
 *	  Groups: what keys store of the columns before the fingerprint.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_INDEX_GROUP_H
#define SIMHASH_INDEX_GROUP_H

#include "fmgr.h"
#include "utils/rel.h"

/* the hash of a null */
#define SHIDX_NULL_HASH		UINT64CONST(0x6E756C6C)

/*
 * the position of the fingerprint among the columns of an index, from 0: the
 * last
 */
static inline int
shidx_fp_column(Relation index)
{
	return IndexRelationGetNumberOfKeyAttributes(index) - 1;
}

extern uint32 shidx_group_of_hashes(const uint64 *hashes, int columns);
extern uint32 shidx_group_of_row(Relation index, const Datum *values, const bool *isnull);
extern bool shidx_find_hash(Relation index, int column, Oid type, FmgrInfo *function);
extern uint64 shidx_hash_value(Relation index, int column, FmgrInfo *function, Datum value);

#endif							/* SIMHASH_INDEX_GROUP_H */
