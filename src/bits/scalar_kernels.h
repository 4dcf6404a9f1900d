/*-------------------------------------------------------------------------
 *
 * scalar_kernels.h
 *	  Kernels that compare one key at a time, or 16 where there are as many.
 *
 * This is included once for each way to count bits, after the definition of
 *
 *	SCALAR(name)	the name of a function
 *	SCALAR_TARGET	its attribute, or nothing
 *	SCALAR_COUNT(x) the number of bits that are set
 *	SCALAR_SIXTEEN(keys, width, query, radius)
 *					if there is such a thing: bit 4 * i of the result tells whether the
 *					stored key i, 0 to 15, is within the radius
 *
 * One at a time, a branch that is hardly ever taken is cheaper than a minimum.
 *
 *-------------------------------------------------------------------------
 */

/* the keys from one on, as stored() reads them */
SCALAR_TARGET
static inline int
SCALAR(stored_from) (const char *keys, int width, int i, int nkeys, uint64 query, int radius,
					 uint16 *found, int nfound)
{
	query &= shbits_bytes_mask(width);
#ifdef SCALAR_SIXTEEN
	for (; i + 16 <= nkeys; i += 16)
	{
		uint64		hits = SCALAR_SIXTEEN(keys + i * width, width, query, radius);

		for (; unlikely(hits != 0); hits &= hits - 1)
			found[nfound++] = i + pg_rightmost_one_pos64(hits) / 4;
	}
#endif
	for (; i < nkeys; i++)
	{
		uint64		key = shbits_load_bytes(keys + i * width, width);

		if (unlikely(SCALAR_COUNT(key ^ query) <= radius))
			found[nfound++] = i;
	}
	return nfound;
}

SCALAR_TARGET
static int
SCALAR(stored) (const char *keys, int width, int nkeys, uint64 query, int radius, uint16 *found)
{
	/* the width is a constant where keys are whole */
	if (width == sizeof(uint64))
		return SCALAR(stored_from) (keys, sizeof(uint64), 0, nkeys, query, radius, found, 0);
	return SCALAR(stored_from) (keys, width, 0, nkeys, query, radius, found, 0);
}

/* a bit for each of keys[from .. nkeys - 1] that is within radius bits of key */
SCALAR_TARGET
static inline uint64
SCALAR(near) (uint64 key, const uint64 *keys, int from, int nkeys, int radius)
{
	uint64		found = 0;
	int			i = from;

#ifdef SCALAR_SIXTEEN
	for (; i + 16 <= nkeys; i += 16)
	{
		uint64		hits = SCALAR_SIXTEEN((const char *) (keys + i), sizeof(uint64), key, radius);

		for (; unlikely(hits != 0); hits &= hits - 1)
			found |= UINT64CONST(1) << (i + pg_rightmost_one_pos64(hits) / 4);
	}
#endif
	for (; i < nkeys; i++)
	{
		if (unlikely(SCALAR_COUNT(key ^ keys[i]) <= radius))
			found |= UINT64CONST(1) << i;
	}
	return found;
}

SCALAR_TARGET
static uint64
SCALAR(product) (const uint64 *a, int na, const uint64 *b, int nb, int radius, uint64 *others)
{
	uint64		found = 0;

	for (int i = 0; i < na; i++)
	{
		others[i] = SCALAR(near) (a[i], b, 0, nb, radius);
		found |= (uint64) (others[i] != 0) << i;
	}
	return found;
}

SCALAR_TARGET
static uint64
SCALAR(pairs) (const uint64 *keys, int nkeys, int radius, uint64 *others)
{
	uint64		found = 0;

	for (int i = 0; i < nkeys; i++)
	{
		others[i] = SCALAR(near) (keys[i], keys, i + 1, nkeys, radius);
		found |= (uint64) (others[i] != 0) << i;
	}
	return found;
}

SCALAR_TARGET
static int
SCALAR(bytes) (const uint8 *a, const uint8 *b, int nbytes)
{
	int			result = 0;

	for (; nbytes >= sizeof(uint64); nbytes -= sizeof(uint64))
	{
		uint64		x;
		uint64		y;

		memcpy(&x, a, sizeof(x));
		memcpy(&y, b, sizeof(y));
		result += SCALAR_COUNT(x ^ y);
		a += sizeof(x);
		b += sizeof(y);
	}
	if (nbytes > 0)
	{
		uint64		x = 0;
		uint64		y = 0;

		memcpy(&x, a, nbytes);
		memcpy(&y, b, nbytes);
		result += SCALAR_COUNT(x ^ y);
	}
	return result;
}

#undef SCALAR
#undef SCALAR_TARGET
#undef SCALAR_COUNT
#undef SCALAR_SIXTEEN
