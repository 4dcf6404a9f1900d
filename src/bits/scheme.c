/*-------------------------------------------------------------------------
 *
 * scheme.c
 *	  Computing the permuted-block tables of a scheme.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "bits/scheme.h"

/* mask with the given number of low bits set, 1..64 */
static inline uint64
low_bits(int nbits)
{
	return PG_UINT64_MAX >> (SHBITS_WIDTH - nbits);
}

int
shbits_ntables(int blocks, int distance)
{
	int			result = 1;

	if (blocks < 1 || blocks > SHBITS_MAX_BLOCKS ||
		distance < 0 || distance >= blocks)
		return 0;

	/*
	 * after step i this is C(blocks - distance + i, i), so the division is
	 * exact
	 */
	for (int i = 1; i <= distance; i++)
		result = result * (blocks - distance + i) / i;
	return result;
}

Size
shbits_scheme_size(int ntables)
{
	return offsetof(ShBitsScheme, tables) + ntables * sizeof(ShBitsTable);
}

/*
 * Record that the bits in mask, of the permuted fingerprint, are filled by
 * rotating the fingerprint to the left.  Blocks that move by the same amount
 * share one move.
 */
static void
add_move(ShBitsTable *table, uint64 mask, int rotate)
{
	ShBitsMove *move;

	for (int i = 0; i < table->nmoves; i++)
	{
		if (table->moves[i].rotate == rotate)
		{
			table->moves[i].mask |= mask;
			return;
		}
	}

	move = &table->moves[table->nmoves++];
	move->mask = mask;
	move->rotate = rotate;
}

/*
 * Fill in the table whose prefix is made of the chosen blocks, a bit set in
 * which bit i stands for block i.
 */
static void
init_table(ShBitsTable *table, int nblocks, uint32 chosen)
{
	int			norder = 0;
	int			position = SHBITS_WIDTH;	/* lowest bit used of the permuted
											 * value */

	/* unused array members are zero, so that equal tables are equal bytes */
	memset(table, 0, sizeof(ShBitsTable));

	for (int block = 0; block < nblocks; block++)
	{
		if (chosen & (1U << block))
			table->order[norder++] = block;
	}
	for (int block = 0; block < nblocks; block++)
	{
		if (!(chosen & (1U << block)))
			table->order[norder++] = block;
	}

	for (int i = 0; i < nblocks; i++)
	{
		int			block = table->order[i];
		int			start = shbits_block_start(block, nblocks);
		int			width = shbits_block_start(block + 1, nblocks) - start;

		position -= width;
		if (chosen & (1U << block))
		{
			table->prefix_bits += width;
			table->prefix_mask |= low_bits(width) << start;
		}
		add_move(table, low_bits(width) << position, (position - start) & 63);
	}
}

void
shbits_scheme_init(ShBitsScheme *scheme, int blocks, int distance)
{
	int			nchosen = blocks - distance;
	int			choice[SHBITS_MAX_BLOCKS];	/* ascending block numbers */

	memset(scheme, 0, offsetof(ShBitsScheme, tables));
	scheme->blocks = blocks;
	scheme->distance = distance;
	scheme->ntables = shbits_ntables(blocks, distance);

	for (int i = 0; i < nchosen; i++)
		choice[i] = i;

	for (int table_no = 0; table_no < scheme->ntables; table_no++)
	{
		uint32		chosen = 0;
		int			i;

		for (i = 0; i < nchosen; i++)
			chosen |= 1U << choice[i];
		init_table(&scheme->tables[table_no], blocks, chosen);

		/*
		 * Step to the next choice in lexicographic order: advance the last
		 * member that has room above it, and let its successors follow it
		 * closely.  After the last choice there is none, and i becomes -1.
		 */
		for (i = nchosen - 1; i >= 0 && choice[i] == distance + i; i--)
			;
		if (i >= 0)
		{
			choice[i]++;
			for (i++; i < nchosen; i++)
				choice[i] = choice[i - 1] + 1;
		}
	}
}
