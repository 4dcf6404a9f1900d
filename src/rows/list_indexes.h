/*-------------------------------------------------------------------------
 *
 * list_indexes.h
 *	  Listing the simhash indexes of a table.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_ROWS_LIST_INDEXES_H
#define SIMHASH_ROWS_LIST_INDEXES_H

extern bool shrows_is_simhash_index(Oid relation, char **name, char *relkind);
extern char *shrows_written_name(Oid relation);
extern char *shrows_list_indexes(Oid table);

#endif							/* SIMHASH_ROWS_LIST_INDEXES_H */
