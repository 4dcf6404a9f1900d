/*-------------------------------------------------------------------------
 *
 * remembered.h
 *	  Documents that are arguments of one call after the other.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_TEXT_REMEMBERED_H
#define SIMHASH_TEXT_REMEMBERED_H

#include "fmgr.h"

#include "text/features.h"

/*
 * The last document that was an argument and, if it has been one before, the hashes
 * of its features.  To be initialized with zeros.
 */
typedef struct ShTextRemembered
{
	MemoryContext context;
	bool		again;			/* the last argument was the same */
	Size		length;
	Size		size;			/* of the copy; 0 if there is none */
	char	   *bytes;
	int			shingle;		/* of the hashes, as in ShTextFeatures */
	ShTextUnit	unit;
	int			nhashes;
	int			max_hashes;
	uint64	   *hashes;			/* NULL if not known */
} ShTextRemembered;

extern ShTextRemembered *shtext_recall(ShTextRemembered *last, MemoryContext context,
									   const struct varlena *document);
extern ShTextFeatures shtext_remembered_features(ShTextRemembered *last,
												 const ShTextFeatures *features);
extern void shtext_remember_arguments(FunctionCallInfo fcinfo, ShTextFeatures *of_a,
									  ShTextFeatures *of_b);

#endif							/* SIMHASH_TEXT_REMEMBERED_H */
