/*-------------------------------------------------------------------------
 *
 * validate.h
 *	  Which operator classes, and which columns of an index, are possible?
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_CLASS_VALIDATE_H
#define SIMHASH_CLASS_VALIDATE_H

#include "nodes/execnodes.h"
#include "utils/rel.h"

#include "compat.h"

extern bool shcls_validate(Oid opclass);
SHCOMPAT_NORETURN extern void shcls_report_no_width(Relation index);
extern void shcls_check_operator(Relation index, Oid left, Oid right, int strategy,
								 bool orders);
extern void shcls_check_columns(Relation index, const struct IndexInfo *info);

#endif							/* SIMHASH_CLASS_VALIDATE_H */
