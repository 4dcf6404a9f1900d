/*-------------------------------------------------------------------------
 *
 * scheme_sql.h
 *	  Showing the tables of a scheme.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_INSPECT_SCHEME_SQL_H
#define SIMHASH_INSPECT_SCHEME_SQL_H

#include "bits/scheme.h"

extern text *shinsp_permutation(const ShBitsScheme *scheme, int table);

#endif							/* SIMHASH_INSPECT_SCHEME_SQL_H */
