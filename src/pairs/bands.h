/*-------------------------------------------------------------------------
 *
 * bands.h
 *	  Pairs of elements from the words of several tables.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_PAIRS_BANDS_H
#define SIMHASH_PAIRS_BANDS_H

#include "pairs/keys.h"

/* entries in order: by group, if they have groups, and word */
typedef struct ShPairsEntryArrays
{
	size_t		count;
	uint32	   *groups;			/* or NULL */
	uint64	   *words;
	ShPairsRow *rows;
} ShPairsEntryArrays;

static inline uint32
shpairs_entry_group(const ShPairsEntryArrays *entries, size_t i)
{
	return entries->groups != NULL ? entries->groups[i] : 0;
}

static inline bool
shpairs_same_word(const ShPairsEntryArrays *entries, size_t i, size_t j)
{
	return entries->words[i] == entries->words[j] &&
		shpairs_entry_group(entries, i) == shpairs_entry_group(entries, j);
}

/* copy an entry to an earlier place, without its row */
static inline void
shpairs_move_entry(ShPairsEntryArrays *entries, size_t to, size_t from)
{
	entries->words[to] = entries->words[from];
	if (entries->groups != NULL)
		entries->groups[to] = entries->groups[from];
}

typedef struct ShPairsBands ShPairsBands;

extern ShPairsBands *shpairs_bands_begin(ShPairsSink *sink, bool two_sides, bool grouped);
extern void shpairs_bands_start(ShPairsBands *bands, int table);
extern void shpairs_bands_settle(ShPairsBands *bands, ShPairsEntryArrays *entries);
extern void shpairs_bands_add(ShPairsBands *bands, const ShPairsBucket *a, size_t i,
							  const ShPairsBucket *b, size_t j);
extern void shpairs_bands_finish(ShPairsBands *bands, bool of_array, ShPairsProgress *progress);

#endif							/* SIMHASH_PAIRS_BANDS_H */
