/*-------------------------------------------------------------------------
 *
 * group.h
 *	  Groups: hashes of the columns before the fingerprint.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_INDEX_GROUP_H
#define SIMHASH_INDEX_GROUP_H

#include "access/skey.h"
#include "fmgr.h"
#include "utils/rel.h"

/* support function of columns before the fingerprint: an extended hash function */
#define SHIDX_HASH_PROC		1

/* the hash of a null */
#define SHIDX_NULL_HASH		UINT64CONST(0x6E756C6C)

/*
 * More groups than this are not listed, and all are read: they would be more than a
 * few pages, and their number has no bound.
 */
#define SHIDX_MAX_GROUPS	100000

typedef struct ShIdxGroups
{
	bool		all;			/* no group can be left out */
	double		total;			/* if so, about how many there are; otherwise 0 */
	int			count;			/* otherwise how many; ascending */
	const uint32 *list;
} ShIdxGroups;

extern uint32 shidx_group_of_hashes(const uint64 *hashes, int columns);
extern bool shidx_find_hash(Relation index, int column, Oid type, FmgrInfo *function);
extern uint64 shidx_hash_value(Relation index, int column, FmgrInfo *function, Datum value);
extern const ShIdxGroups shidx_only_group;
extern int	shidx_key_arguments(ScanKey key, Datum **arguments);
extern void shidx_read_group_keys(ShIdxGroups *groups, Relation index,
								  ScanKey keys, int nkeys);

#endif							/* SIMHASH_INDEX_GROUP_H */
