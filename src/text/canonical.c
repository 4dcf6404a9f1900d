/*-------------------------------------------------------------------------
 *
 * canonical.c
 *	  Canonical decomposition, full case folding and canonical composition.
 *
 * This follows chapter 3 of the Unicode Standard, and is used for the few
 * places of a text where the normalization of a character depends on its
 * neighbors.
 *
 * A decomposed character is kept with its combining class in the upper byte.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "compat.h"
#include "text/normalize.h"
#include "text/unicode.h"

#define CODE(x)				((x) & 0xFFFFFF)
#define COMBINING_CLASS(x)	((x) >> 24)

/* Hangul syllables: leading consonant, vowel and perhaps trailing consonant */
#define SYLLABLE_BASE		0xAC00
#define LEADING_BASE		0x1100
#define VOWEL_BASE			0x1161
#define TRAILING_BASE		0x11A7	/* stands for none */
#define NLEADING			19
#define NVOWEL				21
#define NTRAILING			28
#define NSYLLABLES			(NLEADING * NVOWEL * NTRAILING)

/* runs of marks up to this length are sorted by insertion */
#define SHORT_RUN			32

static void
append(ShTextCodes *codes, uint32 value)
{
	shtext_codes_reserve(codes, 1);
	codes->codes[codes->length++] = value;
}

/*
 * Append the full canonical decomposition of a character.
 */
void
shtext_decompose(ShTextCodes *codes, uint32 code)
{
	const ShTextCharRecord *record = shtext_record(code);
	uint32		syllable = code - SYLLABLE_BASE;
	int			low = 0;
	int			high = shtext_ndecompositions - 1;

	if (!(record->flags & SHTEXT_DECOMPOSES))
	{
		append(codes, code | (uint32) record->combining_class << 24);
		return;
	}

	if (syllable < NSYLLABLES)
	{
		append(codes, LEADING_BASE + syllable / (NVOWEL * NTRAILING));
		append(codes, VOWEL_BASE + syllable / NTRAILING % NVOWEL);
		if (syllable % NTRAILING != 0)
			append(codes, TRAILING_BASE + syllable % NTRAILING);
		return;
	}

	while (low < high)
	{
		int			middle = (low + high) / 2;

		if (shtext_decompositions[middle].code < code)
			low = middle + 1;
		else
			high = middle;
	}
	Assert(shtext_decompositions[low].code == code);
	shtext_decompose(codes, shtext_decompositions[low].first);
	if (shtext_decompositions[low].second != 0)
		shtext_decompose(codes, shtext_decompositions[low].second);
}

static void
sort_run(uint32 *run, Size length, ShTextCodes *scratch)
{
	Size		position[256] = {0};
	Size		next = 0;

	if (length <= SHORT_RUN)
	{
		for (Size i = 1; i < length; i++)
		{
			uint32		value = run[i];
			Size		j = i;

			for (; j > 0 && COMBINING_CLASS(run[j - 1]) > COMBINING_CLASS(value); j--)
				run[j] = run[j - 1];
			run[j] = value;
		}
		return;
	}

	/* counting sort, so that the time is linear for runs of any length */
	scratch->length = 0;
	shtext_codes_reserve(scratch, length);
	for (Size i = 0; i < length; i++)
	{
		shcompat_check_at(i);
		scratch->codes[i] = run[i];
		position[COMBINING_CLASS(run[i])]++;
	}
	for (int c = 0; c < lengthof(position); c++)
	{
		Size		count = position[c];

		position[c] = next;
		next += count;
	}
	for (Size i = 0; i < length; i++)
	{
		shcompat_check_at(i);
		run[position[COMBINING_CLASS(scratch->codes[i])]++] = scratch->codes[i];
	}
}

/*
 * Canonical order: each run of characters whose combining class is not 0 is
 * sorted by it, and those of one class keep their order.
 */
static void
sort_marks(ShTextCodes *codes, ShTextCodes *scratch)
{
	Size		start = 0;

	for (Size i = 0; i <= codes->length; i++)
	{
		shcompat_check_at(i);
		if (i < codes->length && COMBINING_CLASS(codes->codes[i]) != 0)
			continue;
		if (i - start > 1)
			sort_run(codes->codes + start, i - start, scratch);
		start = i + 1;
	}
}

/*
 * Full case folding.  The result need not be decomposed or sorted again;
 * generate_unicode.pl makes sure of that.
 */
static void
fold(const ShTextCodes *decomposed, ShTextCodes *result)
{
	result->length = 0;
	for (Size i = 0; i < decomposed->length; i++)
	{
		uint32		value = decomposed->codes[i];
		const ShTextCharRecord *record = shtext_record(CODE(value));
		const ShTextFolding *folding = NULL;

		shcompat_check_at(i);
		if (record->flags & SHTEXT_PLAIN)
		{
			append(result, value + record->delta);
			continue;
		}
		for (int f = 0; f < shtext_nfoldings && folding == NULL; f++)
		{
			if (shtext_foldings[f].code == CODE(value))
				folding = &shtext_foldings[f];
		}
		if (folding == NULL)
			append(result, value);
		else
		{
			/* all of them starters */
			for (int f = 0; f < lengthof(folding->folded) &&
				 folding->folded[f] != 0; f++)
				append(result, folding->folded[f]);
		}
	}
}

/*
 * The composition of two characters, 0 if there is none.
 */
static uint32
composite(uint32 first, uint32 second)
{
	int			low = 0;
	int			high = shtext_ncompositions - 1;

	if (!(shtext_record(second)->flags & SHTEXT_SECOND))
		return 0;

	if (first - LEADING_BASE < NLEADING && second - VOWEL_BASE < NVOWEL)
		return SYLLABLE_BASE +
			((first - LEADING_BASE) * NVOWEL + (second - VOWEL_BASE)) * NTRAILING;
	if (first - SYLLABLE_BASE < NSYLLABLES &&
		(first - SYLLABLE_BASE) % NTRAILING == 0 &&
		second > TRAILING_BASE && second < TRAILING_BASE + NTRAILING)
		return first + (second - TRAILING_BASE);

	while (low <= high)
	{
		int			middle = (low + high) / 2;
		const ShTextDecomposition *pair =
			&shtext_decompositions[shtext_compositions[middle]];

		if (pair->first == first && pair->second == second)
			return pair->code;
		if (pair->first < first ||
			(pair->first == first && pair->second < second))
			low = middle + 1;
		else
			high = middle - 1;
	}
	return 0;
}

/*
 * Canonical composition, in place.  What remains are code points.
 */
static void
compose(ShTextCodes *codes)
{
	uint32	   *values = codes->codes;
	Size		length = 0;		/* of the composed part */
	bool		has_starter = false;
	Size		starter = 0;	/* the last one */
	uint32		last_class = 0; /* of the last character of the composed part */

	for (Size i = 0; i < codes->length; i++)
	{
		uint32		value = values[i];
		uint32		class = COMBINING_CLASS(value);

		shcompat_check_at(i);

		/*
		 * A character of the same or a higher combining class in between
		 * blocks the composition.  Marks are in order, so the last one tells.
		 */
		if (has_starter &&
			(length == starter + 1 || last_class < class))
		{
			uint32		composed = composite(values[starter], CODE(value));

			if (composed != 0)
			{
				values[starter] = composed;
				continue;
			}
		}
		if (class == 0)
		{
			has_starter = true;
			starter = length;
		}
		values[length++] = CODE(value);
		last_class = class;
	}
	codes->length = length;
}

/*
 * Normalize decomposed characters, which are not in canonical order yet.
 *
 * The input is overwritten.  The result is stored in *result, as code points.
 */
void
shtext_fold_and_compose(ShTextCodes *decomposed, ShTextCodes *result)
{
	sort_marks(decomposed, result);
	fold(decomposed, result);
	compose(result);
}
