/*-------------------------------------------------------------------------
 *
 * scheme.h
 *	  Showing the tables of a scheme.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_INSPECT_SCHEME_H
#define SIMHASH_INSPECT_SCHEME_H

#include "postgres.h"

#include "bits/scheme.h"

extern text *shinsp_permutation(const ShBitsScheme *scheme, int table);

#endif							/* SIMHASH_INSPECT_SCHEME_H */
