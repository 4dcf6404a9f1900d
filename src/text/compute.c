/*-------------------------------------------------------------------------
 *
 * compute.c
 *	  SQL functions that compute the fingerprint of a document.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "mb/pg_wchar.h"
#include "compat.h"
#include "text/fingerprint.h"
#include "text/normalise.h"
#include "type/simhash.h"

/* characters of a window */
#define DEFAULT_SHINGLE		4

PG_FUNCTION_INFO_V1(simhash_compute_text);

/*
 * simhash_compute(text) -> simhash
 *
 * Null if the text has no letter, mark or number.
 */
Datum
simhash_compute_text(PG_FUNCTION_ARGS)
{
	text	   *document = PG_GETARG_TEXT_PP(0);
	ShTextReader reader;
	ShTextChunk chunk;
	ShTextFingerprint fingerprint;
	uint64		result;
	bool		more;

	shtext_reader_init(&reader, VARDATA_ANY(document),
					   VARSIZE_ANY_EXHDR(document), GetDatabaseEncoding());
	shtext_chunk_clear(&chunk);
	shtext_fingerprint_init(&fingerprint, DEFAULT_SHINGLE);
	do
	{
		more = shtext_read(&reader, &chunk);
		shtext_fingerprint_add(&fingerprint, &chunk);
	} while (more);

	PG_FREE_IF_COPY(document, 0);
	if (!shtext_fingerprint_result(&fingerprint, &chunk, &result))
		PG_RETURN_NULL();
	PG_RETURN_SIMHASH(result);
}
