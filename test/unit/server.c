/*-------------------------------------------------------------------------
 *
 * server.c
 *	  What the sources need of a server, for programs without one.
 *
 * Memory that was allocated before an error is lost.  There are no conversions.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <stdio.h>
#include <stdlib.h>

#include "catalog/pg_conversion.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "storage/bufpage.h"
#include "utils/memutils.h"

#include "server.h"

jmp_buf    *server_catch = NULL;
int			server_sqlstate = 0;

int			server_checks = 0;

volatile sig_atomic_t InterruptPending = false;
MemoryContext CurrentMemoryContext = NULL;

void
ProcessInterrupts(void)
{
	server_checks++;
}

void *
MemoryContextAllocHuge(MemoryContext context, Size size)
{
	void	   *result = malloc(size);

	if (result == NULL)
		abort();
	return result;
}

void *
repalloc_huge(void *pointer, Size size)
{
	pointer = realloc(pointer, size);
	if (pointer == NULL)
		abort();
	return pointer;
}

void *
repalloc(void *pointer, Size size)
{
	return repalloc_huge(pointer, size);
}

void
pfree(void *pointer)
{
	free(pointer);
}

void *
palloc(Size size)
{
	return MemoryContextAllocHuge(CurrentMemoryContext, size);
}

void *
palloc0(Size size)
{
	void	   *result = calloc(1, size);

	if (result == NULL)
		abort();
	return result;
}

/* memory is lost by errors, as said above */
const char *__asan_default_options(void);

const char *
__asan_default_options(void)
{
	return "detect_leaks=0";
}

bool
errstart(int elevel, const char *domain)
{
	return true;
}

bool
errstart_cold(int elevel, const char *domain)
{
	return true;
}

int
errcode(int sqlerrcode)
{
	server_sqlstate = sqlerrcode;
	return 0;
}

int
errmsg(const char *fmt,...)
{
	return 0;
}

int
errmsg_internal(const char *fmt,...)
{
	return 0;
}

int
errdetail_internal(const char *fmt,...)
{
	return 0;
}

int
errdetail(const char *fmt,...)
{
	return 0;
}

int
errhint(const char *fmt,...)
{
	return 0;
}

void
errfinish(const char *filename, int lineno, const char *funcname)
{
	if (server_catch == NULL)
		abort();
	longjmp(*server_catch, 1);
}

#ifdef USE_ASSERT_CHECKING
void
ExceptionalCondition(const char *conditionName,
#if PG_VERSION_NUM < 160000
					 const char *errorType,
#endif
					 const char *fileName, int lineNumber)
{
	fprintf(stderr, "%s:%d: %s\n", fileName, lineNumber, conditionName);
	abort();
}
#endif

int
GetDatabaseEncoding(void)
{
	return PG_UTF8;
}

Oid
FindDefaultConversion(Oid connamespace, int32 for_encoding, int32 to_encoding)
{
	return InvalidOid;
}

int
pg_encoding_mbcliplen(int encoding, const char *mbstr, int len, int limit)
{
	abort();
}

int
pg_do_encoding_conversion_buf(Oid proc, int src_encoding, int dest_encoding,
							  unsigned char *src, int srclen,
							  unsigned char *dest, int destlen, bool noError)
{
	abort();
}

void
PageInit(Page page, Size pageSize, Size specialSize)
{
	PageHeader	header = (PageHeader) page;

	memset(page, 0, pageSize);
	header->pd_lower = SizeOfPageHeaderData;
	header->pd_special = header->pd_upper = pageSize - MAXALIGN(specialSize);
	PageSetPageSizeAndVersion(page, pageSize, PG_PAGE_LAYOUT_VERSION);
}
