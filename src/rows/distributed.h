/*-------------------------------------------------------------------------
 *
 * distributed.h
 *	  Detecting tables that Citus distributes to other machines.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_ROWS_DISTRIBUTED_H
#define SIMHASH_ROWS_DISTRIBUTED_H

extern void shrows_check_not_distributed(Oid table, Oid index);

#endif							/* SIMHASH_ROWS_DISTRIBUTED_H */
