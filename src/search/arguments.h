/*-------------------------------------------------------------------------
 *
 * arguments.h
 *	  What a scan key compares a column with.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_SEARCH_ARGUMENTS_H
#define SIMHASH_SEARCH_ARGUMENTS_H

#include "access/skey.h"

extern int	shfnd_get_arguments(ScanKey key, Datum **arguments);

#endif							/* SIMHASH_SEARCH_ARGUMENTS_H */
