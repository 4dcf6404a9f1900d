/*-------------------------------------------------------------------------
 *
 * types.c
 *	  Fuzzing of the types' input and receive functions; what they take, the output
 *	  functions must write so that it is the same again.
 *
 *-------------------------------------------------------------------------
 */
#include "fuzz.h"

#include <stdarg.h>

#include "fmgr.h"
#include "lib/stringinfo.h"
#include "libpq/pqformat.h"
#include "utils/builtins.h"

#include "type/simhash.h"
#include "type/wide.h"

#undef snprintf
#undef vsnprintf

#define FUNCTIONS(name) \
	extern Datum name##_in(PG_FUNCTION_ARGS); \
	extern Datum name##_out(PG_FUNCTION_ARGS); \
	extern Datum name##_recv(PG_FUNCTION_ARGS)

FUNCTIONS(simhash);
FUNCTIONS(simhash_bits);
FUNCTIONS(simhash_ball);
FUNCTIONS(simhash_bits_ball);

/* What they need of a server beyond server.c */
const char *
pq_getmsgbytes(StringInfo msg, int datalen)
{
	const char *result = &msg->data[msg->cursor];

	if (datalen < 0 || datalen > msg->len - msg->cursor)
		ereport(ERROR, (errcode(ERRCODE_PROTOCOL_VIOLATION), errmsg("insufficient data left in message")));
	msg->cursor += datalen;
	return result;
}

unsigned int
pq_getmsgint(StringInfo msg, int b)
{
	uint32		result;

	memcpy(&result, pq_getmsgbytes(msg, b), sizeof(result));
	return pg_ntoh32(result);
}

int64
pq_getmsgint64(StringInfo msg)
{
	uint64		result;

	memcpy(&result, pq_getmsgbytes(msg, sizeof(result)), sizeof(result));
	return pg_ntoh64(result);
}

int
pg_ulltoa_n(uint64 value, char *a)
{
	char		digits[21];
	int			length = snprintf(digits, sizeof(digits), "%llu", (unsigned long long) value);

	memcpy(a, digits, length);
	return length;
}

char *
psprintf(const char *fmt,...)
{
	char	   *result = palloc(3 * SIMHASH_BITS_MAX_BYTES);
	va_list		args;

	va_start(args, fmt);
	vsnprintf(result, 3 * SIMHASH_BITS_MAX_BYTES, fmt, args);
	va_end(args);
	return result;
}

int
pg_mblen(const char *mbstr)
{
	return pg_encoding_mblen(PG_UTF8, mbstr);
}

struct varlena *
pg_detoast_datum(struct varlena *datum)
{
	return datum;
}

#if PG_VERSION_NUM >= 160000
bool
errsave_start(struct Node *context, const char *domain)
{
	return true;
}

void
errsave_finish(struct Node *context, const char *filename, int lineno, const char *funcname)
{
	errfinish(filename, lineno, funcname);
}
#endif

typedef struct Type
{
	PGFunction	in;
	PGFunction	out;
	PGFunction	recv;			/* NULL if it is that of bigint */
	Size		length;			/* of what is passed by reference; 0 for a varlena */
} Type;

static const Type types[] = {
	{simhash_in, simhash_out, NULL, sizeof(Datum)},
	{simhash_bits_in, simhash_bits_out, simhash_bits_recv, 0},
	{simhash_ball_in, simhash_ball_out, simhash_ball_recv, sizeof(SimhashBall)},
	{simhash_bits_ball_in, simhash_bits_ball_out, simhash_bits_ball_recv, 0}
};

static Datum
call(PGFunction function, Datum argument, int32 typmod)
{
	LOCAL_FCINFO(fcinfo, 3);

	InitFunctionCallInfoData(*fcinfo, NULL, 3, InvalidOid, NULL, NULL);
	fcinfo->args[0].value = argument;
	fcinfo->args[2].value = Int32GetDatum(typmod);
	return function(fcinfo);
}

static void
fuzz_one(void)
{
	const Type *type = &types[take_byte() % lengthof(types)];
	int			kind = take_byte();
	int32		typmod = kind & 1 ? 8 * (1 + take_byte()) : -1;
	Datum		value;
	Datum		again;

	if (kind & 2 && type->recv != NULL)
	{
		StringInfoData message = {.data = palloc(input_left),.len = input_left};

		memcpy(message.data, input, input_left);
		value = call(type->recv, PointerGetDatum(&message), typmod);
	}
	else
	{
		text	   *written = take_text(PG_UTF8, false);
		Size		length = VARSIZE_ANY_EXHDR(written);
		char	   *string = palloc(length + 1);

		memcpy(string, VARDATA(written), length);
		string[length] = '\0';
		value = call(type->in, CStringGetDatum(string), typmod);
	}
	again = call(type->in, call(type->out, value, -1), typmod);
	if (type->recv == NULL)
		require(value == again);
	else
	{
		Pointer		old = DatumGetPointer(value);
		Pointer		new = DatumGetPointer(again);

		require(memcmp(old, new, type->length > 0 ? type->length : VARSIZE(old)) == 0);
	}
}
