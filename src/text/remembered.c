/*-------------------------------------------------------------------------
 *
 * remembered.c
 *	  Documents that are arguments of one call after the other.
 *
 * A query compares one document with many.  What takes longest is to hash its
 * features, which is done twice at most: not before the second call shows that
 * the same document comes again.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "compat.h"
#include "text/remembered.h"

/* longer documents are not remembered, in bytes */
#define MAX_LENGTH			(1024 * 1024)

/* the hashes for which there is room at first */
#define FIRST_HASHES		256

static bool
is_same(const ShTextRemembered *last, const struct varlena *document)
{
	return last->size > 0 && VARSIZE_ANY_EXHDR(document) == last->length &&
		memcmp(last->bytes, VARDATA_ANY(document), last->length) == 0;
}

static void
forget_hashes(ShTextRemembered *last)
{
	if (last->hashes != NULL)
		pfree(last->hashes);
	last->hashes = NULL;
}

static void
remember(ShTextRemembered *last, MemoryContext context, const struct varlena *document)
{
	Size		length = VARSIZE_ANY_EXHDR(document);

	if (length > last->size)
	{
		if (last->size > 0)
			pfree(last->bytes);
		last->size = 0;
		last->bytes = MemoryContextAlloc(context, length);
		last->size = length;
	}
	memcpy(last->bytes, VARDATA_ANY(document), length);
	last->length = length;
	last->context = context;
	forget_hashes(last);
}

/*
 * What is known of an argument, which must not be compressed or stored out of
 * line.  NULL if nothing is, and nothing should be kept.
 */
ShTextRemembered *
shtext_recall(ShTextRemembered *last, MemoryContext context, const struct varlena *document)
{
	Size		length = VARSIZE_ANY_EXHDR(document);

	last->again = is_same(last, document);
	if (last->again)
		return last;
	if (length == 0 || length > MAX_LENGTH)
		return NULL;
	remember(last, context, document);
	return last;
}

/*
 * A consumer of hashes: keeps them.
 */
static void
keep_hashes(void *state, const uint64 *hashes, int nhashes)
{
	ShTextRemembered *last = state;

	if (last->nhashes + nhashes > last->max_hashes)
	{
		last->max_hashes = 2 * (last->nhashes + nhashes);
		last->hashes = repalloc(last->hashes, last->max_hashes * sizeof(uint64));
	}
	memcpy(last->hashes + last->nhashes, hashes, nhashes * sizeof(uint64));
	last->nhashes += nhashes;
}

static void
read_hashes(ShTextRemembered *last, const ShTextFeatures *features)
{
	last->nhashes = 0;
	last->max_hashes = FIRST_HASHES;
	last->hashes = MemoryContextAlloc(last->context, last->max_hashes * sizeof(uint64));
	PG_TRY();
	{
		features->read(features, keep_hashes, last);
	}
	PG_CATCH();
	{
		forget_hashes(last);
		PG_RE_THROW();
	}
	PG_END_TRY();
	last->shingle = features->shingle;
	last->unit = features->unit;
}

/*
 * The features of an argument, those of a text or of a byte string: the same,
 * but from memory if the argument comes again.  last is the result of
 * shtext_recall.
 */
ShTextFeatures
shtext_remembered_features(ShTextRemembered *last, const ShTextFeatures *features)
{
	if (last == NULL || !last->again)
		return *features;
	if (last->hashes != NULL && (last->shingle != features->shingle || last->unit != features->unit))
		forget_hashes(last);
	if (last->hashes == NULL)
		read_hashes(last, features);
	return shtext_features_of_hashes(last->hashes, last->nhashes);
}

/*
 * The same for the features of both documents of a function, its first arguments.
 * They are kept from one call of an expression to the next; outside of an expression
 * nothing should outlive a call.
 */
void
shtext_remember_arguments(FunctionCallInfo fcinfo, ShTextFeatures *of_a, ShTextFeatures *of_b)
{
	FmgrInfo   *function = fcinfo->flinfo;
	ShTextRemembered *last = function->fn_extra;

	if (function->fn_expr == NULL)
		return;
	if (last == NULL)
		last = function->fn_extra = MemoryContextAllocZero(function->fn_mcxt, 2 * sizeof(ShTextRemembered));
	*of_a = shtext_remembered_features(shtext_recall(&last[0], function->fn_mcxt, of_a->document), of_a);
	*of_b = shtext_remembered_features(shtext_recall(&last[1], function->fn_mcxt, of_b->document), of_b);
}
