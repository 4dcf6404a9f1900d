/*-------------------------------------------------------------------------
 *
 * arguments.h
 *	  What a scan key compares a column with.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_INDEX_ARGUMENTS_H
#define SIMHASH_INDEX_ARGUMENTS_H

#include "access/skey.h"

extern int	shidx_get_arguments(ScanKey key, Datum **arguments);

#endif							/* SIMHASH_INDEX_ARGUMENTS_H */
