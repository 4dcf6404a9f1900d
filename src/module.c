/*-------------------------------------------------------------------------
 *
 * module.c
 *	  Initialization when the server loads the library.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"

#include "bits/distance.h"
#include "compat.h"
#include "index/index.h"
#include "text/text_kernels.h"

#ifndef USE_FLOAT8_BYVAL
#error "simhash needs a server whose 64-bit types pass by value"
#endif

SHCOMPAT_MODULE_MAGIC("simhash", SIMHASH_VERSION);

PGDLLEXPORT void _PG_init(void);

void
_PG_init(void)
{
	shbits_choose_kernels();
	shtext_choose_kernels();
	shidx_init_options();

	/*
	 * there are no settings, so one that is made with this prefix is a
	 * mistake
	 */
	MarkGUCPrefixReserved("simhash");
}
