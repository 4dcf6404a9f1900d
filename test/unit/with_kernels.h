/*-------------------------------------------------------------------------
 *
 * with_kernels.h
 *	  A test of functions over texts with all kernels that this machine can run.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_TEST_WITH_KERNELS_H
#define SIMHASH_TEST_WITH_KERNELS_H

#include "unit.h"

#include "text/text_kernels.h"

/* First with those that the library chooses, then with each set by its name */
static void
with_text_kernels(void (*test) (const char *subject))
{
	static const char *const names[] = {"portable", "avx2", "avx512", "avx512vbmi2"};

	shtext_choose_kernels();
	test("chosen kernels");
	for (int i = 0; i < lengthof(names); i++)
	{
		const ShTextKernels *kernels = shtext_kernels_named(names[i]);
		char		subject[40];

		snprintf(subject, sizeof(subject), "kernels %s", names[i]);
		if (kernels == NULL)
		{
			skip(subject, "this machine cannot run them");
			continue;
		}
		shtext_kernels = kernels;
		test(subject);
		report(shtext_kernels == kernels, subject, "were those that ran");
	}
}

#endif							/* SIMHASH_TEST_WITH_KERNELS_H */
