/*-------------------------------------------------------------------------
 *
 * as_owner.h
 *	  Running the functions of an index as the owner of its table.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_ROWS_AS_OWNER_H
#define SIMHASH_ROWS_AS_OWNER_H

#include "utils/rel.h"

/* the calling user and former settings */
typedef struct ShRowsCaller
{
	Oid			user;
	int			security_context;
	int			guc_level;
} ShRowsCaller;

extern void shrows_become_owner(ShRowsCaller *caller, Relation table);
extern void shrows_become_caller(const ShRowsCaller *caller);

#endif							/* SIMHASH_ROWS_AS_OWNER_H */
