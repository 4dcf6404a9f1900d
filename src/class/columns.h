/*-------------------------------------------------------------------------
 *
 * columns.h
 *	  The columns of an index.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_CLASS_COLUMNS_H
#define SIMHASH_CLASS_COLUMNS_H

#include "access/amapi.h"
#include "nodes/execnodes.h"

extern int	shcls_check_columns(Relation index, const struct IndexInfo *info);
extern bool shcls_property(Oid index_oid, int attno, IndexAMProperty prop,
						   const char *propname, bool *res, bool *isnull);

#endif							/* SIMHASH_CLASS_COLUMNS_H */
