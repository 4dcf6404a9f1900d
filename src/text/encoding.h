/*-------------------------------------------------------------------------
 *
 * encoding.h
 *	  Features in the encoding of the database, and in UTF-8.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_TEXT_ENCODING_H
#define SIMHASH_TEXT_ENCODING_H

#include "postgres.h"

extern uint64 shtext_hash_converted(const char *bytes, Size length);
extern const char *shtext_from_utf8(const char *bytes, Size length,
									Size *converted);

#endif							/* SIMHASH_TEXT_ENCODING_H */
