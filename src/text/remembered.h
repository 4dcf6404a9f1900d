/*-------------------------------------------------------------------------
 *
 * remembered.h
 *	  Documents that are compared more than once.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_TEXT_REMEMBERED_H
#define SIMHASH_TEXT_REMEMBERED_H

#include "text/document.h"
#include "type/simhash.h"

/* how many arguments of a function are documents */
#define SHTEXT_ARGUMENTS	2

/* A document, and what is known of it. */
typedef struct ShTextRemembered
{
	/*
	 * The different features: numbers that stand for them, ascending, or of
	 * runs the slots of a set; NULL if they take too much memory
	 */
	bool		compared;		/* they are known: */
	Size		nfeatures;		/* how many numbers or slots, */
	uint64	   *features;		/* and these */

	/* the first bands, which only =~= and its kind need */
	int			nbands;			/* how many are known, or: */
#define SHTEXT_NO_BANDS		(-1)	/* it has no feature */
	uint64	   *bands;

	struct ShTextRemembered *next;	/* what was recalled after it; NULL if
									 * unknown */
	MemoryContext context;		/* where it is kept */
	int			shingle;		/* of the features */
	ShTextUnit	unit;
	bool		only_whole;
	Size		length;
	char		bytes[FLEXIBLE_ARRAY_MEMBER];
} ShTextRemembered;

extern ShTextRemembered *shtext_recall(const ShTextFeatures *features, int argument);
extern ShTextRemembered *shtext_recall_stored(Datum value, int argument);
extern void shtext_know_stored(Datum value, int argument);
extern ShTextRemembered *shtext_recall_repeated(const ShTextFeatures *a, const ShTextFeatures *b,
												const ShTextFeatures **other);
extern void shtext_know_bands(ShTextRemembered *document, const uint64 *bands, int nbands);
extern void shtext_know_features(ShTextRemembered *document, const ShTextFeatures *features);

#endif							/* SIMHASH_TEXT_REMEMBERED_H */
