/*-------------------------------------------------------------------------
 *
 * distributed.h
 *	  Detecting tables that Citus distributes to other machines.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_INDEX_DISTRIBUTED_H
#define SIMHASH_INDEX_DISTRIBUTED_H

#include "postgres.h"

extern void shidx_check_not_distributed(Oid table, Oid index);

#endif							/* SIMHASH_INDEX_DISTRIBUTED_H */
