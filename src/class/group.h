/*-------------------------------------------------------------------------
 *
 * group.h
 *	  Groups: what keys store of the columns before the fingerprint.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_CLASS_GROUP_H
#define SIMHASH_CLASS_GROUP_H

#include "fmgr.h"
#include "utils/rel.h"

/* support function of columns before the fingerprint: an extended hash function */
#define SHCLS_HASH_PROC		1

/* the hash of a null */
#define SHCLS_NULL_HASH		UINT64CONST(0x6E756C6C)

/*
 * the position of the fingerprint among the columns of an index, from 0: the
 * last
 */
static inline int
shcls_fp_column(Relation index)
{
	return IndexRelationGetNumberOfKeyAttributes(index) - 1;
}

extern uint32 shcls_group_of_hashes(const uint64 *hashes, int columns);
extern bool shcls_find_hash(Relation index, int column, Oid type, FmgrInfo *function);
extern uint64 shcls_hash_value(Relation index, int column, FmgrInfo *function, Datum value);

#endif							/* SIMHASH_CLASS_GROUP_H */
