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
#include "build/options.h"
#include "text/text_kernels.h"

#ifndef USE_FLOAT8_BYVAL
#error "simhash needs a server whose 64-bit types pass by value"
#endif

PG_MODULE_MAGIC;

PGDLLEXPORT void _PG_init(void);

void
_PG_init(void)
{
	shbits_choose_kernels();
	shtext_choose_kernels();
	shbld_init_options();
}
