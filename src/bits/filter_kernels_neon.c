/*-------------------------------------------------------------------------
 *
 * filter_kernels_neon.c
 *	  Kernels of shbits_filter and similar functions for 64-bit ARM.
 *
 * NEON counts the bits of each byte.  Three rounds of adding neighbors leave one
 * register with a byte for each of 16 keys, in their order.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "bits/distance.h"

#ifdef SHBITS_NEON_KERNELS

#include <arm_neon.h>

/*
 * How many bits of each byte of two stored keys differ from the query.  Reads
 * 16 bytes.
 */
static pg_attribute_always_inline uint8x16_t
differences(const char *keys, int width, uint8x16_t order, uint8x16_t query)
{
	uint8x16_t	pair = vld1q_u8((const uint8 *) keys);

	if (width != sizeof(uint64))
		pair = vqtbl1q_u8(pair, order);
	return vcntq_u8(veorq_u8(pair, query));
}

/* the sums of two bytes each of four keys */
static pg_attribute_always_inline uint8x16_t
added_once(const char *keys, int width, uint8x16_t order, uint8x16_t query)
{
	return vpaddq_u8(differences(keys, width, order, query),
					 differences(keys + 2 * width, width, order, query));
}

static pg_attribute_always_inline uint64
sixteen(const char *keys, int width, uint64 query, int radius)
{
	const uint8x16_t vquery = vreinterpretq_u8_u64(vdupq_n_u64(query));
	uint8		order_bytes[16];
	uint8x16_t	order;
	uint8x16_t	distances;
	uint8x16_t	within;

	if (radius < 0)
		return 0;

	/* a byte of order that is too large gives zero */
	for (int i = 0; i < lengthof(order_bytes); i++)
		order_bytes[i] = i % 8 < width ? i / 8 * width + i % 8 : 0xff;
	order = vld1q_u8(order_bytes);

	distances = vpaddq_u8(vpaddq_u8(added_once(keys, width, order, vquery),
									added_once(keys + 4 * width, width, order, vquery)),
						  vpaddq_u8(added_once(keys + 8 * width, width, order, vquery),
									added_once(keys + 12 * width, width, order, vquery)));
	within = vcleq_u8(distances, vdupq_n_u8(Min(radius, 64)));

	/*
	 * four bits of each byte, which are all ones or zeros; one of them is
	 * enough
	 */
	return vget_lane_u64(vreinterpret_u64_u8(vshrn_n_u16(vreinterpretq_u16_u8(within), 4)), 0) &
		UINT64CONST(0x1111111111111111);
}

#define SCALAR(name)	name ## _neon
#define SCALAR_TARGET
#define SCALAR_COUNT(x) __builtin_popcountll(x)
#define SCALAR_SIXTEEN	sixteen
#include "bits/scalar_kernels.h"

const ShBitsKernels shbits_kernels_neon = {
	"neon", stored_neon, product_neon, pairs_neon, bytes_neon
};

#endif							/* SHBITS_NEON_KERNELS */
