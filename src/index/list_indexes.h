/*-------------------------------------------------------------------------
 *
 * list_indexes.h
 *	  Listing the simhash indexes of a table.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_INDEX_LIST_INDEXES_H
#define SIMHASH_INDEX_LIST_INDEXES_H

#include "postgres.h"

extern char *shidx_written_name(Oid relation);
extern char *shidx_list_indexes(Oid table);

#endif							/* SIMHASH_INDEX_LIST_INDEXES_H */
