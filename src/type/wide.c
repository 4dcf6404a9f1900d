/*-------------------------------------------------------------------------
 *
 * wide.c
 *	  What all files on wide fingerprints need: their widths and distances.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "port/pg_bswap.h"
#include "utils/lsyscache.h"

#include "bits/distance.h"
#include "bits/scheme.h"
#include "type/wide.h"

/* of wide_io.c */
extern Datum simhash_bits_in(PG_FUNCTION_ARGS);

bool
shtype_has_input(Oid type, int length, PGFunction input)
{
	Oid			input_oid;
	Oid			parameter;
	FmgrInfo	function;

	/* where the extension is does not matter, nor how its types are named */
	if (get_typlen(type) != length || get_typtype(type) != TYPTYPE_BASE)
		return false;
	getTypeInputInfo(type, &input_oid, &parameter);
	fmgr_info(input_oid, &function);
	return function.fn_addr == input;
}

bool
shtype_is_bits(Oid type)
{
	return shtype_has_input(type, -1, simhash_bits_in);
}

void
shtype_check_width(int32 width)
{
	if (!shtype_is_width(width))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("type %s cannot have %d bits", "simhash_bits", width),
				 errdetail(SHTYPE_WIDTH_DETAIL)));
}

void
shtype_report_widths(int a_bits, int b_bits)
{
	ereport(ERROR,
			(errcode(ERRCODE_STRING_DATA_LENGTH_MISMATCH),
			 errmsg("cannot compare fingerprints of different widths bit by bit"),
			 errdetail("One has %d bits, the other %d.", a_bits, b_bits)));
}

int
shtype_bits_distance(const uint8 *a, int a_bytes, const uint8 *b, int b_bytes)
{
	if (unlikely(a_bytes != b_bytes))
		shtype_report_widths(a_bytes * BITS_PER_BYTE, b_bytes * BITS_PER_BYTE);
	return shbits_kernels->bytes(a, b, a_bytes);
}

bool
shtype_share_band(const uint8 *a, const uint8 *b, int nwords, int radius)
{
	for (int i = 0; i < nwords; i++)
	{
		uint64		word_a;
		uint64		word_b;

		memcpy(&word_a, a + i * sizeof(uint64), sizeof(uint64));
		memcpy(&word_b, b + i * sizeof(uint64), sizeof(uint64));
		if (shbits_same_band(pg_ntoh64(word_a), pg_ntoh64(word_b), radius))
			return true;
	}
	return false;
}

void
shtype_check_bands(const uint8 *bytes, int nbytes, int nbands)
{
	if (nbytes % sizeof(uint64) != 0 || nbytes < nbands * (int64) sizeof(uint64))
		ereport(ERROR,
				(errcode(ERRCODE_STRING_DATA_LENGTH_MISMATCH),
				 errmsg("fingerprint of %d bits does not have the bands to compare",
						nbytes * BITS_PER_BYTE),
				 errdetail("It must consist of %d or more bands of %d bits each.",
						   nbands, SHBITS_WIDTH)));
	for (int i = 0; i < nbands; i++)
	{
		if (unlikely(bytes[i * sizeof(uint64)] != 0))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
					 errmsg("fingerprint has no bands"),
					 errdetail("Word %d has bits above its lowest %d.", i + 1, SHBITS_BAND_BITS),
					 errhint("Bands are made by simhash_bands.")));
	}
}

int
shtype_ball_bands(const SimhashBitsBall *ball)
{
	int			nbytes = shtype_ball_bytes(ball);
	int			nbands = Max(nbytes / (int) sizeof(uint64), 1);

	shtype_check_bands(ball->center, nbytes, nbands);
	if (ball->radius > SHBITS_BAND_OTHER_BITS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("radius %d is out of range", ball->radius),
				 errdetail("The radius of bands is at most %d bits.", SHBITS_BAND_OTHER_BITS)));
	return nbands;
}

void
shtype_split_bits(const uint8 *bytes, int width, uint64 *parts)
{
	uint128		bits = 0;
	int			nbits = 0;		/* that belong to no part yet, the least
								 * significant ones */
	int			wanted = shbits_part_bits(width, 0);
	int			part = 0;

	for (int i = 0; i < width / BITS_PER_BYTE; i++)
	{
		bits = bits << BITS_PER_BYTE | bytes[i];
		nbits += BITS_PER_BYTE;
		if (nbits < wanted)
			continue;
		nbits -= wanted;
		parts[part++] = (uint64) (bits >> nbits);
		bits &= (1 << nbits) - 1;
		wanted = shbits_part_bits(width, part);
	}
}

bytea *
shtype_join_bits(const uint64 *parts, int width)
{
	uint8		bytes[SIMHASH_BITS_MAX_BYTES];
	uint128		bits = 0;
	int			nbits = 0;		/* that have not become bytes */
	int			nbytes = 0;

	for (int part = 0; part < shbits_nparts(width); part++)
	{
		bits = bits << shbits_part_bits(width, part) | parts[part];
		nbits += shbits_part_bits(width, part);
		for (; nbits >= BITS_PER_BYTE; nbits -= BITS_PER_BYTE)
			bytes[nbytes++] = (uint8) (bits >> (nbits - BITS_PER_BYTE));
	}
	return shtype_new_bits(bytes, nbytes);
}

bytea *
shtype_bits_of_words(const uint64 *words, int width)
{
	uint64		bytes[SIMHASH_BITS_MAX_BYTES / sizeof(uint64)];

	for (int i = 0; i < (width + SHBITS_WIDTH - 1) / SHBITS_WIDTH; i++)
		bytes[i] = pg_hton64(words[i]);
	return shtype_new_bits((const uint8 *) bytes, width / BITS_PER_BYTE);
}
