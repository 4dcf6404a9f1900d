/*-------------------------------------------------------------------------
 *
 * list_indexes.h
 *	  What catalogs say of a table: its simhash indexes, and whether Citus keeps its
 *	  rows elsewhere.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_ROWS_LIST_INDEXES_H
#define SIMHASH_ROWS_LIST_INDEXES_H

extern bool shrows_is_simhash_index(Oid relation, char **name, char *relkind);
extern char *shrows_written_name(Oid relation);
extern char *shrows_list_indexes(Oid table);
extern void shrows_check_not_distributed(Oid table, Oid index);

#endif							/* SIMHASH_ROWS_LIST_INDEXES_H */
