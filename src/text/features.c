/*-------------------------------------------------------------------------
 *
 * features.c
 *	  The features of a document, by their hashes.
 *
 * Whoever compares documents may have to read them more than once.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "text/features.h"

static void
read_text(const ShTextFeatures *features, ShTextConsumer consumer, void *state)
{
	shtext_hash_text(features->document, features->shingle, features->unit,
					 consumer, state);
}

/*
 * The features of a text.  The arguments are those of shtext_hash_text; the text
 * must live as long as the result.
 */
ShTextFeatures
shtext_features_of_text(const text *document, int shingle, ShTextUnit unit)
{
	ShTextFeatures features = {read_text, document, shingle, unit};

	return features;
}

static void
read_runs(const ShTextFeatures *features, ShTextConsumer consumer, void *state)
{
	shtext_hash_runs(features->document, features->shingle, consumer, state);
}

/*
 * The runs of some words of a text, none if it is shorter.
 */
ShTextFeatures
shtext_features_of_runs(const text *document, int words)
{
	ShTextFeatures features = {read_runs, document, words, SHTEXT_WORD};

	return features;
}

static void
read_bytes(const ShTextFeatures *features, ShTextConsumer consumer, void *state)
{
	shtext_hash_bytes(features->document, features->shingle, consumer, state);
}

/*
 * The features of a byte string.
 */
ShTextFeatures
shtext_features_of_bytes(const bytea *document, int shingle)
{
	ShTextFeatures features = {read_bytes, document, shingle, SHTEXT_BYTE};

	return features;
}
