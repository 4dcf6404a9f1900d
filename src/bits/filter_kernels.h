/*-------------------------------------------------------------------------
 *
 * filter_kernels.h
 *	  The kernels of shbits_filter and similar functions for each kind of CPU.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BITS_FILTER_KERNELS_H
#define SIMHASH_BITS_FILTER_KERNELS_H

#include "bits/distance.h"

/* function attributes and CPU detection as GCC and Clang have them */
#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define SHBITS_X86_KERNELS
#endif

#ifdef SHBITS_X86_KERNELS
extern const ShBitsKernels shbits_kernels_popcnt;
extern const ShBitsKernels shbits_kernels_avx2;
extern const ShBitsKernels shbits_kernels_avx512;
#endif

#endif							/* SIMHASH_BITS_FILTER_KERNELS_H */
