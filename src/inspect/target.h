/*-------------------------------------------------------------------------
 *
 * target.h
 *	  Opening the index that an inspection function is given.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_INSPECT_TARGET_H
#define SIMHASH_INSPECT_TARGET_H

#include "postgres.h"

#include "utils/rel.h"

typedef struct ShInspTarget
{
	Relation	heap;
	Relation	index;
	Oid			user;			/* who called, and in which context */
	int			security_context;
	int			guc_level;
} ShInspTarget;

extern void shinsp_open(Oid indexoid, bool owner_only, ShInspTarget *target);
extern void shinsp_close(ShInspTarget *target);

#endif							/* SIMHASH_INSPECT_TARGET_H */
