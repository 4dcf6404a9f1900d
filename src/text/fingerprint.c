/*-------------------------------------------------------------------------
 *
 * fingerprint.c
 *	  The fingerprint of a document.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"

#include "text/fingerprint.h"
#include "text/hash.h"

static void hash_run(const char *bytes, int n, int shingle, uint64 *hashes);
static void count_batch(ShTextFingerprint *fingerprint);

/*
 * Start a fingerprint.  shingle is 1..SHTEXT_MAX_SHINGLE.
 */
void
shtext_fingerprint_init(ShTextFingerprint *fingerprint, ShTextUnit unit,
						int shingle)
{
	shtext_windows_init(&fingerprint->windows, unit, shingle);
	shtext_majority_init(&fingerprint->majority);
	fingerprint->nhashes = 0;
}

/*
 * Add all windows of a buffer that were not yet added.  Checks for interrupts.
 */
void
shtext_fingerprint_add(ShTextFingerprint *fingerprint,
					   const ShTextBuffer *buffer)
{
	ShTextWindows *windows = &fingerprint->windows;
	const char *bytes;
	ShTextSpan	span;

	for (;;)
	{
		int			n;

		if (fingerprint->nhashes == SHTEXT_BATCH)
		{
			CHECK_FOR_INTERRUPTS();
			count_batch(fingerprint);
		}

		n = shtext_windows_run(windows, buffer,
							   SHTEXT_BATCH - fingerprint->nhashes, &bytes);
		if (n > 0)
		{
			hash_run(bytes, n, windows->shingle,
					 &fingerprint->hashes[fingerprint->nhashes]);
			fingerprint->nhashes += n;
			continue;
		}
		if (!shtext_windows_next(windows, buffer, &span))
			break;
		fingerprint->hashes[fingerprint->nhashes++] =
			shtext_hash(span.bytes, span.length);
	}
}

/*
 * Finish a fingerprint, of which all has been added.  Returns false if there
 * is no feature, and so no fingerprint.
 */
bool
shtext_fingerprint_result(ShTextFingerprint *fingerprint,
						  const ShTextBuffer *buffer, uint64 *result)
{
	ShTextSpan	span;

	/* if there is one, there is nothing else */
	if (shtext_windows_rest(&fingerprint->windows, buffer, &span))
		fingerprint->hashes[fingerprint->nhashes++] =
			shtext_hash(span.bytes, span.length);
	count_batch(fingerprint);
	*result = shtext_majority_result(&fingerprint->majority);
	return fingerprint->majority.count > 0;
}

/*
 * Hash n windows, each of shingle bytes and one byte after the one before.
 */
static void
hash_run(const char *bytes, int n, int shingle, uint64 *hashes)
{
	/* where the length is a constant, the compiler drops most of the hash */
	switch (shingle)
	{
		case 4:
			shtext_kernels->hash_fours(bytes, n, hashes);
			break;
		case 8:
			for (int i = 0; i < n; i++)
				hashes[i] = shtext_hash(bytes + i, 8);
			break;
		default:
			for (int i = 0; i < n; i++)
				hashes[i] = shtext_hash(bytes + i, shingle);
			break;
	}
}

static void
count_batch(ShTextFingerprint *fingerprint)
{
	shtext_majority_add(&fingerprint->majority, fingerprint->hashes,
						fingerprint->nhashes);
	fingerprint->nhashes = 0;
}
