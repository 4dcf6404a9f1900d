/*-------------------------------------------------------------------------
 *
 * scheme.c
 *	  Computing the permuted-block tables of a scheme, and rejecting those that
 *	  cannot be used.
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
init_table(ShBitsTable *table, const ShBitsScheme *scheme, uint32 chosen)
{
	int			nblocks = scheme->blocks;
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
		int			start = shbits_block_start(scheme, block);
		int			width = shbits_block_start(scheme, block + 1) - start;

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
shbits_scheme_init(ShBitsScheme *scheme, int bits, int blocks, int distance)
{
	int			nchosen = blocks - distance;
	int			choice[SHBITS_MAX_BLOCKS];	/* ascending block numbers */

	memset(scheme, 0, offsetof(ShBitsScheme, tables));
	scheme->bits = bits;
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
		init_table(&scheme->tables[table_no], scheme, chosen);

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

/*
 * Add a hint about the numbers of blocks, up to max_blocks, that make a scheme with the
 * distance, if there are any, and the advice of shbits_check_scheme.  Called within ereport,
 * for its side effect.
 */
static int
hint_at_blocks(int max_blocks, int distance, const char *advice)
{
	int			least;
	int			most;

	if (distance < 0 || distance >= max_blocks)
		return 0;
	/* with one block more than the distance there are "least" tables */
	least = most = distance + 1;
	while (most < max_blocks &&
		   shbits_ntables(most + 1, distance) <= SHBITS_MAX_TABLES)
		most++;
	if (least == most)
		return errhint("Use blocks = %d.%s", least, advice);
	return errhint("Use blocks = %d; with distance = %d it can be at most %d.%s",
				   least, distance, most, advice);
}

void
shbits_check_scheme(int bits, int blocks, int distance, const char *advice)
{
	int			max_blocks = Min(bits, SHBITS_MAX_BLOCKS);
	int			ntables;

	if (blocks < 1 || blocks > max_blocks)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("number of blocks %d is out of range", blocks),
				 bits < SHBITS_MAX_BLOCKS ?
				 errdetail("A scheme of %d bits has 1 to %d blocks.", bits, max_blocks) :
				 errdetail("A scheme has 1 to %d blocks.", max_blocks)));

	if (distance < 0 || distance >= blocks)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg_plural("distance %d is out of range for %d block",
							   "distance %d is out of range for %d blocks",
							   blocks, distance, blocks),
				 errdetail("The distance must be at least 0 and less than the number of blocks."),
				 hint_at_blocks(max_blocks, distance, advice)));

	ntables = shbits_ntables(blocks, distance);
	if (ntables > SHBITS_MAX_TABLES)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%d blocks and distance %d make too many tables",
						blocks, distance),
				 errdetail("They make %d tables; at most %d are allowed.",
						   ntables, SHBITS_MAX_TABLES),
				 hint_at_blocks(max_blocks, distance, advice)));
}

void
shbits_check_table(const ShBitsScheme *scheme, int table_no)
{
	if (table_no < 0 || table_no >= scheme->ntables)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("table number %d is out of range", table_no),
				 errdetail("The tables of %d blocks and distance %d are numbered from 0 to %d.",
						   scheme->blocks, scheme->distance, scheme->ntables - 1)));
}

ShBitsScheme *
shbits_make_scheme(int bits, int blocks, int distance)
{
	ShBitsScheme *scheme;

	shbits_check_scheme(bits, blocks, distance, "");
	scheme = palloc(shbits_scheme_size(shbits_ntables(blocks, distance)));
	shbits_scheme_init(scheme, bits, blocks, distance);
	return scheme;
}
