/*-------------------------------------------------------------------------
 *
 * validate.h
 *	  Checking operator classes and their members.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_CLASS_VALIDATE_H
#define SIMHASH_CLASS_VALIDATE_H

#include "nodes/pg_list.h"

extern bool shcls_validate(Oid opclass);
extern void shcls_adjust_members(Oid family, Oid opclass, List *operators, List *functions);
extern bool shcls_is_fingerprint_family(Oid family);

#endif							/* SIMHASH_CLASS_VALIDATE_H */
