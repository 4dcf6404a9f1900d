/*-------------------------------------------------------------------------
 *
 * group_keys.h
 *	  Finding the groups that a scan has to read.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_SEARCH_GROUP_KEYS_H
#define SIMHASH_SEARCH_GROUP_KEYS_H

#include "access/skey.h"
#include "utils/rel.h"

/*
 * More groups than this are not listed, and all are read: they would be more than a
 * few pages, and their number has no bound.
 */
#define SHFND_MAX_GROUPS	100000

typedef struct ShFndGroups
{
	bool		all;			/* no group can be left out */
	int			count;			/* otherwise how many; ascending */
	const uint32 *list;
} ShFndGroups;

extern const ShFndGroups shfnd_only_group;

extern int	shfnd_key_arguments(ScanKey key, Datum **arguments);
extern void shfnd_read_group_keys(ShFndGroups *groups, Relation index,
								  ScanKey keys, int nkeys);

#endif							/* SIMHASH_SEARCH_GROUP_KEYS_H */
