/*-------------------------------------------------------------------------
 *
 * unicode.h
 *	  Properties of characters, canonical decompositions and case foldings.
 *
 * A text is normalized to NFC(fold(NFD(text))): it is canonically decomposed,
 * its case is folded in full, and it is composed again.  Nearly all characters
 * are normalized to one character, independent of their context; the flags
 * tell which.
 *
 * The tables are defined in unicode_table.c.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_TEXT_UNICODE_H
#define SIMHASH_TEXT_UNICODE_H

/*
 * Flags of a character.  The first three, and SHTEXT_UNSPACED, are about the character
 * itself, not about its normalization.
 */

/* letter, mark or number, or unassigned and taken for a letter; and not ignorable */
#define SHTEXT_KEPT			0x01
/* Default_Ignorable_Code_Point */
#define SHTEXT_IGNORABLE	0x02
/* letter or number of the script Han, or unassigned and taken for one */
#define SHTEXT_IDEOGRAPH	0x04

/*
 * The normalization of this character, and of what follows, does not depend on
 * what is before it, nor the other way round: its decomposition, folded or
 * not, begins with a starter that is not the second of any composition.
 */
#define SHTEXT_START		0x08

/*
 * Normalized to one character, code + delta, whose flags about the character are the
 * same: if SHTEXT_START is set, whenever another such character follows; else
 * it is a mark that is left as it is, and where it follows a SHTEXT_START that
 * is plain, and no mark of higher combining class, this stays so.
 */
#define SHTEXT_PLAIN		0x10

/*
 * Codes from here to twice this value stand for characters of other encodings
 * without an equivalent in Unicode.  Nothing is known about them, so they are
 * treated as letters without case.
 */
#define SHTEXT_FOREIGN		0x40000000
#define SHTEXT_IS_FOREIGN(code)	((code) >> 30 == 1)

/* has a canonical decomposition */
#define SHTEXT_DECOMPOSES	0x20

/* is the second character of some composition */
#define SHTEXT_SECOND		0x40

/* letter of a script that is written without spaces between words */
#define SHTEXT_UNSPACED		0x80

typedef struct ShTextCharRecord
{
	uint8		flags;
	uint8		combining_class;
	int32		delta;			/* 0 unless SHTEXT_PLAIN */
} ShTextCharRecord;

/* one step of a decomposition */
typedef struct ShTextDecomposition
{
	uint32		code;
	uint32		first;			/* may decompose further */
	uint32		second;			/* 0 if there is none */
} ShTextDecomposition;

/* the full case folding of a character that is neither plain nor decomposes */
typedef struct ShTextFolding
{
	uint32		code;
	uint32		folded[3];		/* 0 where there are fewer */
} ShTextFolding;

#define SHTEXT_BLOCK_BITS	7
#define SHTEXT_BLOCK_SIZE	(1 << SHTEXT_BLOCK_BITS)

/* the folding of an ASCII character, or 0 if it is dropped */
extern const uint8 shtext_ascii_fold[128];

extern const ShTextCharRecord shtext_records[];

/* blocks that are listed; all further ones are as the last of these */
extern const uint32 shtext_nblocks;
extern const uint16 shtext_stage1[];
extern const uint8 shtext_stage2[];

/* in the order of code; without Hangul syllables, which are computed */
extern const int shtext_ndecompositions;
extern const ShTextDecomposition shtext_decompositions[];

/* decompositions that are composed again, in the order of (first, second) */
extern const int shtext_ncompositions;
extern const uint16 shtext_compositions[];

/* in the order of code */
extern const int shtext_nfoldings;
extern const ShTextFolding shtext_foldings[];

/* the digits 0 of general category Nd, ascending; each is followed by 1 to 9 */
extern const int shtext_nzeros;
extern const uint32 shtext_zeros[];

/*
 * The record of any code point, or of a character without one.  Other numbers
 * are treated like the last code points, for private use, which are dropped.
 */
static inline const ShTextCharRecord *
shtext_record(uint32 code)
{
	static const ShTextCharRecord foreign = {
		SHTEXT_KEPT | SHTEXT_START | SHTEXT_PLAIN, 0, 0
	};
	uint32		block = code >> SHTEXT_BLOCK_BITS;

	if (unlikely(block >= shtext_nblocks))
	{
		if (SHTEXT_IS_FOREIGN(code))
			return &foreign;
		block = shtext_nblocks - 1;
	}
	return &shtext_records[shtext_stage2[shtext_stage1[block] * SHTEXT_BLOCK_SIZE +
										 code % SHTEXT_BLOCK_SIZE]];
}

#endif							/* SIMHASH_TEXT_UNICODE_H */
