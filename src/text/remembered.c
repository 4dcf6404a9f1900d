/*-------------------------------------------------------------------------
 *
 * remembered.c
 *	  Documents that are compared more than once.
 *
 * A query compares one document with many, an array of documents with each row,
 * the row that is inserted with all that resemble it.  What takes longest is to
 * find and hash the features of a document, so its hashes are kept until the end
 * of the transaction, as long as there is memory.  There are two generations of
 * documents: if the young one has become too large, it replaces the old one.
 * What was used since then has become young again.
 *
 * An array is compared with each row in the same order, so a document is first looked
 * for where it is expected: it is the last one of its argument, or the one that followed
 * that.  Only if it is neither, its bytes are hashed to find it.
 *
 * A row that is compared with an array comes as it is stored, compressed or out of line, each
 * time.  So the last document of each argument is also known by that.
 *
 * One that is too long for that is kept until its argument has another such document: as a
 * query, it would otherwise be read again for each candidate.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "common/pg_prng.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "compat.h"
#include "text/hash_sets.h"
#include "text/remembered.h"
#include "type/hash.h"

/* a document is kept with others if its bytes take at most this share of the memory */
#define LARGEST_SHARE		4

/* what is stored in place of a document, out of line or compressed, takes at most so much */
#define STORED_SIZE			2048

/* of a new table */
#define FIRST_DOCUMENTS		64

/* a table of documents by the hash of their bytes */
typedef struct Place
{
	uint64		hash;
	ShTextRemembered *document;
	char		status;
} Place;

#define SH_PREFIX			places
#define SH_ELEMENT_TYPE		Place
#define SH_KEY_TYPE			uint64
#define SH_KEY				hash
#define SH_HASH_KEY(tb, key)	((uint32) (key))
#define SH_EQUAL(tb, a, b)	((a) == (b))
#define SH_SCOPE			static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

typedef struct Generation
{
	MemoryContext context;
	places_hash *places;
} Generation;

typedef struct Memory
{
	uint64		key;			/* makes hashes unpredictable; odd */
	Generation	young;
	Generation	old;
	ShTextRemembered *last[SHTEXT_ARGUMENTS];	/* of the young; NULL if there
												 * is none */
	ShTextRemembered *stored[SHTEXT_ARGUMENTS]; /* the last, if that is known: */
	char		stored_as[SHTEXT_ARGUMENTS][STORED_SIZE];
	MemoryContext long_ones[SHTEXT_ARGUMENTS];	/* or NULL */
	uint64		seen[SHTEXT_ARGUMENTS]; /* hashes of what
										 * shtext_recall_repeated had last */
	MemoryContextCallback forget;
} Memory;

/* of the current transaction; NULL if there is none yet */
static Memory *memory = NULL;

static void
forget(void *arg)
{
	memory = NULL;
}

static Generation
new_generation(void)
{
	Generation	result;

	result.context = GenerationContextCreate(TopTransactionContext, "simhash documents",
											 ALLOCSET_DEFAULT_SIZES);
	result.places = places_create(result.context, FIRST_DOCUMENTS, NULL);
	return result;
}

static void
begin(void)
{
	Memory	   *new = MemoryContextAllocZero(TopTransactionContext, sizeof(Memory));

	new->key = pg_prng_uint64(&pg_global_prng_state) | 1;
	new->young = new_generation();
	new->old = new_generation();
	new->forget.func = forget;
	new->forget.arg = NULL;
	MemoryContextRegisterResetCallback(TopTransactionContext, &new->forget);
	memory = new;
}

static bool
has_features(const ShTextRemembered *document, const ShTextFeatures *features)
{
	return document->length == VARSIZE_ANY_EXHDR(features->document) &&
		document->shingle == features->shingle && document->unit == features->unit &&
		document->only_whole == features->only_whole &&
		memcmp(document->bytes, VARDATA_ANY(features->document), document->length) == 0;
}

static ShTextRemembered *
find(const Generation *generation, uint64 hash, const ShTextFeatures *features)
{
	Place	   *place = places_lookup(generation->places, hash);
	ShTextRemembered *found = place != NULL ? place->document : NULL;

	return found != NULL && has_features(found, features) ? found : NULL;
}

/*
 * Features of a document, some 8 bytes for each byte of it, may exceed 1 GB.
 */
static uint64 *
copy_numbers(MemoryContext context, const uint64 *numbers, Size n)
{
	uint64	   *result = MemoryContextAllocHuge(context, Max(n, 1) * sizeof(uint64));

	if (n > 0)
		memcpy(result, numbers, n * sizeof(uint64));
	return result;
}

/*
 * Copy a document to a memory context.  old is what is known of it, or NULL.
 */
static ShTextRemembered *
copy_document(MemoryContext context, const ShTextFeatures *features, const ShTextRemembered *old)
{
	Size		length = VARSIZE_ANY_EXHDR(features->document);
	Size		size = offsetof(ShTextRemembered, bytes) + length;
	ShTextRemembered *new = MemoryContextAllocHuge(context, size);

	if (old != NULL)
	{
		memcpy(new, old, size);
		if (old->compared && old->features != NULL)
			new->features = copy_numbers(context, old->features, old->nfeatures);
		if (old->nbands > 0)
			new->bands = copy_numbers(context, old->bands, old->nbands);
	}
	else
	{
		new->compared = false;
		new->nbands = 0;
		new->shingle = features->shingle;
		new->unit = features->unit;
		new->only_whole = features->only_whole;
		new->length = length;
		memcpy(new->bytes, VARDATA_ANY(features->document), length);
	}
	new->next = NULL;
	new->context = context;
	return new;
}

/*
 * The hash of the bytes of a document, and of what its features are.
 */
static uint64
hash_document(const ShTextFeatures *features)
{
	return shtype_hash_seeded(VARDATA_ANY(features->document), VARSIZE_ANY_EXHDR(features->document),
							  memory->key + features->unit + features->only_whole * 4 +
							  features->shingle * 8);
}

/*
 * Find a young document, or make it young.
 */
static ShTextRemembered *
find_or_add(const ShTextFeatures *features, Size limit)
{
	uint64		hash = hash_document(features);
	ShTextRemembered *result = find(&memory->young, hash, features);
	bool		found;

	if (result != NULL)
		return result;
	if (MemoryContextMemAllocated(memory->young.context, false) > limit / 2)
	{
		Generation	young = new_generation();

		MemoryContextDelete(memory->old.context);
		memory->old = memory->young;
		memory->young = young;
		memset(memory->last, 0, sizeof(memory->last));
	}
	result = copy_document(memory->young.context, features, find(&memory->old, hash, features));
	places_insert(memory->young.places, hash, &found)->document = result;
	return result;
}

/*
 * Keep a long document as the last of its argument.
 */
static ShTextRemembered *
keep_long(const ShTextFeatures *features, int argument)
{
	MemoryContext *context = &memory->long_ones[argument];

	memory->last[argument] = NULL;
	if (*context != NULL)
		MemoryContextDelete(*context);
	*context = NULL;
	*context = AllocSetContextCreate(TopTransactionContext, "simhash long document",
									 ALLOCSET_SMALL_SIZES);
	return memory->last[argument] = copy_document(*context, features, NULL);
}

/*
 * The document with these features if it is where it is expected, or NULL.
 */
static ShTextRemembered *
find_expected(const ShTextFeatures *features, int argument)
{
	ShTextRemembered *last = memory->last[argument];

	if (last == NULL || has_features(last, features))
		return last;
	if (last->next == NULL || !has_features(last->next, features))
		return NULL;
	return memory->last[argument] = last->next;
}

/*
 * The document with these features, those of a text or of a byte string, and what
 * is known of it.  NULL if it is empty.  It is valid until the call after the next one.
 *
 * argument is the position of the document among the arguments of a function, from 0.
 */
ShTextRemembered *
shtext_recall(const ShTextFeatures *features, int argument)
{
	Size		length = VARSIZE_ANY_EXHDR(features->document);
	Size		limit;
	ShTextRemembered *last;
	ShTextRemembered *result;

	if (memory == NULL)
		begin();
	memory->stored[argument] = NULL;
	result = find_expected(features, argument);
	if (result != NULL)
		return result;

	limit = get_hash_memory_limit();
	if (length == 0)
		return NULL;
	if (length > limit / LARGEST_SHARE)
		return keep_long(features, argument);
	result = find_or_add(features, limit);
	last = memory->last[argument];	/* none if another generation has begun */
	if (last != NULL && last->context != memory->long_ones[argument])
		last->next = result;
	return memory->last[argument] = result;
}

/* is a value stored in another form, which stands for its bytes? */
static bool
is_stored(Datum value)
{
	Pointer		pointer = DatumGetPointer(value);

	return (VARATT_IS_EXTERNAL_ONDISK(pointer) || VARATT_IS_COMPRESSED(pointer)) &&
		VARSIZE_ANY(pointer) <= STORED_SIZE;
}

/*
 * What is known of the document that is stored as this value, if it was the last of its
 * argument; otherwise NULL.  It is valid until the next call.
 */
ShTextRemembered *
shtext_recall_stored(Datum value, int argument)
{
	if (memory == NULL || memory->stored[argument] == NULL ||
		memory->stored[argument] != memory->last[argument] || !is_stored(value) ||
		memcmp(DatumGetPointer(value), memory->stored_as[argument],
			   VARSIZE_ANY(DatumGetPointer(value))) != 0)
		return NULL;
	return memory->stored[argument];
}

/*
 * The last document of an argument is stored as this value.
 */
void
shtext_know_stored(Datum value, int argument)
{
	if (!is_stored(value))
		return;
	memory->stored[argument] = memory->last[argument];
	memcpy(memory->stored_as[argument], DatumGetPointer(value), VARSIZE_ANY(DatumGetPointer(value)));
}

/*
 * The one of the two documents of a call that the call before had, too, as the same
 * argument; and in *other, the other one.  NULL if there is none.
 *
 * That is a query, and what it is compared with is not remembered.
 */
ShTextRemembered *
shtext_recall_repeated(const ShTextFeatures *a, const ShTextFeatures *b,
					   const ShTextFeatures **other)
{
	const ShTextFeatures *arguments[SHTEXT_ARGUMENTS] = {a, b};
	ShTextRemembered *result = NULL;

	if (memory == NULL)
		begin();
	for (int i = 0; i < SHTEXT_ARGUMENTS && result == NULL; i++)
	{
		result = find_expected(arguments[i], i);
		*other = arguments[1 - i];
	}
	for (int i = 0; i < SHTEXT_ARGUMENTS && result == NULL; i++)
	{
		uint64		hash = hash_document(arguments[i]);

		if (hash == memory->seen[i])
			result = shtext_recall(arguments[i], i);
		memory->seen[i] = hash;
		*other = arguments[1 - i];
	}
	return result;
}

/*
 * Remember the first bands of a document.
 */
void
shtext_know_bands(ShTextRemembered *document, const uint64 *bands, int nbands)
{
	document->bands = copy_numbers(document->context, bands, nbands);
	document->nbands = nbands;
}

/*
 * Find the features of a document, unless they are known.  The arguments are those
 * of shtext_recall and its result.
 */
void
shtext_know_features(ShTextRemembered *document, const ShTextFeatures *features)
{
	ShTextSet	set;

	if (document->compared)
		return;
	document->features = NULL;
	if (shtext_set_read(&set, features))
	{
		document->nfeatures = features->only_whole ? UINT64CONST(1) << set.slot_bits : set.used;
		if (!features->only_whole)
			shtext_set_sort(&set);
		document->features = copy_numbers(document->context, set.slots, document->nfeatures);
		pfree(set.slots);
	}
	document->compared = true;
}
