/*-------------------------------------------------------------------------
 *
 * server.c
 *	  What the sources need of a server, for programs without one.
 *
 * Memory that was allocated before an error is lost, unless it is tracked.  There are
 * no conversions.
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
#include "storage/s_lock.h"
#include "utils/memutils.h"

#include "index/sort.h"

#include "server.h"

jmp_buf    *server_catch = NULL;
int			server_sqlstate = 0;

int			server_checks = 0;
void		(*server_at_check) (void) = NULL;

volatile sig_atomic_t InterruptPending = false;
MemoryContext CurrentMemoryContext = NULL;

void
ProcessInterrupts(void)
{
	server_checks++;
	if (server_at_check != NULL)
		server_at_check();
}

int
s_lock(volatile slock_t *lock, const char *file, int line, const char *func)
{
	abort();
}

Size		server_max_piece = MaxAllocHugeSize;
Size		server_memory_limit = UINT64CONST(1) << 40;
Size		server_allocated = 0;

bool		server_tracks = false;
static void **tracked = NULL;
static int	ntracked = 0;
static MemoryContextCallback *at_reset = NULL;

MemoryContext TopTransactionContext = NULL;

/*
 * The place of a piece of memory in the list, a new one if it is not there.  The last
 * piece is the likeliest.
 */
static void **
place_of(void *pointer)
{
	static void *untracked;
	int			i = ntracked;

	if (!server_tracks)
		return &untracked;
	while (i > 0 && tracked[i - 1] != pointer)
		i--;
	if (i > 0)
		return &tracked[i - 1];
	if ((ntracked & (ntracked - 1)) == 0)
		tracked = realloc(tracked, (2 * ntracked + 1) * sizeof(void *));
	return &tracked[ntracked++];
}

static void *
keep(void **place, void *new)
{
	if (new == NULL)
		abort();
	return *place = new;
}

void
server_reset(void)
{
	if (at_reset != NULL)
		at_reset->func(at_reset->arg);
	at_reset = NULL;
	while (ntracked > 0)
		free(tracked[--ntracked]);
}

void *
MemoryContextAllocHuge(MemoryContext context, Size size)
{
	return keep(place_of(NULL), malloc(size));
}

void *
repalloc_huge(void *pointer, Size size)
{
	void	  **place = place_of(pointer);

	return keep(place, realloc(pointer, size));
}

void *
repalloc(void *pointer, Size size)
{
	return repalloc_huge(pointer, size);
}

void
pfree(void *pointer)
{
	void	  **place = place_of(pointer);

	if (server_tracks)
		*place = tracked[--ntracked];
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
	return keep(place_of(NULL), calloc(1, size));
}

void *
MemoryContextAlloc(MemoryContext context, Size size)
{
	if (size > server_max_piece)
		elog(ERROR, "invalid memory alloc request size %zu", size);
	return palloc(size);
}

void *
MemoryContextAllocExtended(MemoryContext context, Size size, int flags)
{
	return flags & MCXT_ALLOC_ZERO ? palloc0(size) : palloc(size);
}

void *
MemoryContextAllocZero(MemoryContext context, Size size)
{
	return palloc0(size);
}

MemoryContext
GenerationContextCreate(MemoryContext parent, const char *name,
						Size minContextSize, Size initBlockSize, Size maxBlockSize)
{
	return NULL;
}

MemoryContext
AllocSetContextCreateInternal(MemoryContext parent, const char *name, Size minContextSize,
							  Size initBlockSize, Size maxBlockSize)
{
	return NULL;
}

void
MemoryContextReset(MemoryContext context)
{
}

void
MemoryContextRegisterResetCallback(MemoryContext context, MemoryContextCallback *cb)
{
	at_reset = cb;
}

Size
MemoryContextMemAllocated(MemoryContext context, bool recurse)
{
	return server_allocated;
}

void
MemoryContextDelete(MemoryContext context)
{
}

int			work_mem = 4096;
int			maintenance_work_mem = 65536;

size_t
get_hash_memory_limit(void)
{
	return server_memory_limit;
}

struct varlena *
pg_detoast_datum_packed(struct varlena *datum)
{
	return datum;
}

/* as said above */
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
errcode_for_file_access(void)
{
	return 0;
}

int
errmsg(const char *fmt,...)
{
	return 0;
}

int
errmsg_plural(const char *fmt_singular, const char *fmt_plural, unsigned long n,...)
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
	int			clipped = 0;

	while (clipped < len && clipped + pg_encoding_mblen(encoding, mbstr + clipped) <= limit)
		clipped += pg_encoding_mblen(encoding, mbstr + clipped);
	return clipped;
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
