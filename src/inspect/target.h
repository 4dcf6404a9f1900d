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

extern void shinsp_open(Oid indexoid, bool owner_only, Relation *heap, Relation *index);
extern void shinsp_close(Relation heap, Relation index);

#endif							/* SIMHASH_INSPECT_TARGET_H */
