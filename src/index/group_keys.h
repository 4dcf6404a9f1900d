/*-------------------------------------------------------------------------
 *
 * group_keys.h
 *	  Finding the groups that a scan has to read.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_INDEX_GROUP_KEYS_H
#define SIMHASH_INDEX_GROUP_KEYS_H

#include "access/skey.h"
#include "utils/rel.h"

typedef struct ShIdxGroups
{
	bool		all;			/* no group can be left out */
	int			count;			/* otherwise how many; ascending */
	const uint32 *list;
} ShIdxGroups;

extern const ShIdxGroups shidx_only_group;

extern void shidx_read_group_keys(ShIdxGroups *groups, Relation index,
								  ScanKey keys, int nkeys);

#endif							/* SIMHASH_INDEX_GROUP_KEYS_H */
