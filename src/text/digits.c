/*-------------------------------------------------------------------------
 *
 * digits.c
 *	  The numbers in a text, of whatever script their digits are.
 *
 * Titles of different things often differ in nothing else.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "mb/pg_wchar.h"
#include "miscadmin.h"

#include "compat.h"
#include "text/document.h"
#include "text/unicode.h"

/* what is found of the numbers of a text */
typedef struct FoundNumbers
{
	ShTextBuffer digits;		/* of all of them, a space behind each */
	Size		start;			/* of the number that goes on, */
	bool		open;			/* if there is one */
} FoundNumbers;

/*
 * The value of a decimal digit, or -1 if the character is none.
 */
static int
value_of_digit(uint32 code)
{
	int			low = 0;
	int			high = code < shtext_zeros[1] ? 1 : shtext_nzeros;

	while (high - low > 1)
	{
		int			middle = (low + high) / 2;

		if (shtext_zeros[middle] <= code)
			low = middle;
		else
			high = middle;
	}
	return code - shtext_zeros[low] < 10 ? (int) (code - shtext_zeros[low]) : -1;
}

/*
 * Add the next character, whose value as a digit this is.  Zeros before other digits say
 * nothing of the value, and one is left of those that stand alone.
 */
static void
add_digit(FoundNumbers *numbers, int value)
{
	ShTextBuffer *digits = &numbers->digits;

	if (value < 0 && !numbers->open)
		return;
	shtext_buffer_reserve(digits, 1);
	if (!numbers->open)
		numbers->start = digits->length;
	else if (value >= 0 && digits->length == numbers->start + 1 && digits->bytes[numbers->start] == '0')
		digits->length--;
	digits->bytes[digits->length++] = value < 0 ? ' ' : '0' + value;
	numbers->open = value >= 0;
}

/*
 * Find the numbers in what is normalized, from a byte on.  Of SQL_ASCII, other bytes than
 * those of ASCII mean nothing.
 */
static void
read_digits(FoundNumbers *numbers, const ShTextBuffer *text, Size from, int encoding)
{
	const unsigned char *bytes = (const unsigned char *) text->bytes;

	for (Size i = from; i < text->length;)
	{
		bool		is_byte = bytes[i] < 0x80 || encoding == PG_SQL_ASCII;

		shcompat_check_at(i);
		add_digit(numbers, value_of_digit(is_byte ? bytes[i] : utf8_to_unicode(bytes + i)));
		i += is_byte ? 1 : pg_utf_mblen(bytes + i);
	}
}

/* where a number begins, which ends with a space */
typedef const char *Number;

/* in any order in which equal ones stand together */
static int
compare_numbers(Number a, Number b)
{
	for (; *a == *b && *a != ' '; a++)
		b++;
	return (unsigned char) *a - (unsigned char) *b;
}

#define ST_SORT sort_numbers
#define ST_ELEMENT_TYPE Number
#define ST_COMPARE(a, b) compare_numbers(*(a), *(b))
#define ST_CHECK_FOR_INTERRUPTS
#define ST_SCOPE static
#define ST_DECLARE
#define ST_DEFINE
#include "lib/sort_template.h"

static ShTextBuffer
sorted_numbers(const ShTextBuffer *digits)
{
	ShTextBuffer result = {0};
	Number	   *starts = MemoryContextAllocHuge(CurrentMemoryContext,
												digits->length / 2 * sizeof(Number));
	Size		n = 0;

	for (Size i = 0; i < digits->length; i++)
	{
		shcompat_check_at(i);
		if (i == 0 || digits->bytes[i - 1] == ' ')
			starts[n++] = digits->bytes + i;
	}
	sort_numbers(starts, n);
	shtext_buffer_reserve(&result, digits->length);
	for (Size i = 0; i < n; i++)
	{
		Number		next = starts[i];

		shcompat_check_at(i);
		do
			result.bytes[result.length++] = *next;
		while (*next++ != ' ');
	}
	pfree(starts);
	return result;
}

/*
 * The numbers of a text, which are the runs of decimal digits in its words: by their values,
 * in digits of ASCII with a space behind each, sorted.  Empty if there is none; shtext_free_array
 * frees the bytes.
 */
ShTextBuffer
shtext_numbers(const text *document)
{
	ShTextReader reader;
	FoundNumbers numbers = {0};
	ShTextBuffer result;
	Size		done = 0;

	shtext_reader_begin(&reader, document, SHTEXT_WORD);
	while (shtext_normalize(&reader.normalizer, &reader.buffer))
	{
		read_digits(&numbers, &reader.buffer, done, reader.normalizer.encoding);
		/* while a word goes on, the normalizer looks at the end of the buffer */
		if (!reader.normalizer.in_word)
			reader.buffer.length = 0;
		done = reader.buffer.length;
	}
	shtext_reader_end(&reader);
	if (numbers.digits.length == 0)
		return numbers.digits;
	result = sorted_numbers(&numbers.digits);
	shtext_free_array(numbers.digits.bytes);
	return result;
}
