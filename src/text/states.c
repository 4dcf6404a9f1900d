/*-------------------------------------------------------------------------
 *
 * states.c
 *	  Transition states of the aggregates, in the form of a bytea.
 *
 * Anyone can call the functions in SQL, with any state.  Adding a row is safe
 * with any numbers, so only the head is checked then, if that is sufficient.
 * The numbers are verified when a state comes from elsewhere, and before the
 * result is computed.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "port/pg_bitutils.h"

#include "text/states.h"
#include "type/wide.h"

/*
 * Partial states may be combined on another machine, of another architecture or
 * with another release of the extension, so the layouts are fixed.  All numbers
 * have their least significant byte first.  A state begins with three letters and
 * the version of the layout.
 *
 * A sketch has the bits of its result and the minima of a band, or 0, in two bytes each,
 * and its parts.  A part has four bytes for each bin, the least value that has fallen into
 * it or, if none has, the first visit; and the set of the bins into which none
 * has, where bit b is bin b.
 */
#define SKETCH_MAGIC	"min\001"
#define MAGIC_LENGTH	4
#define WIDTH_OFFSET	MAGIC_LENGTH
#define MINIMA_OFFSET	(WIDTH_OFFSET + 2)
#define PARTS_OFFSET	(MINIMA_OFFSET + 2)

/* of a part */
#define EMPTY_OFFSET	(SHTEXT_BINS * 4)
#define PART_LENGTH		(EMPTY_OFFSET + 8)

/*
 * Counters, if all rows have weight 1, are the number of rows, and how many of
 * them have each bit set, in four bytes each.
 */
#define COUNTER_MAGIC	"sim\001"
#define COUNT_OFFSET	MAGIC_LENGTH
#define COUNTERS_OFFSET	(COUNT_OFFSET + 4)
#define COUNTED_LENGTH	(COUNTERS_OFFSET + SHBITS_WIDTH * 4)

/*
 * If they have other weights, or are more than can be counted, there are sums in
 * units of 2^-32 instead: of the absolute weights, of the weights, and for each bit
 * of the weights of rows that have it set, in two's complements of 16 bytes.
 */
#define MAGNITUDE_OFFSET	MAGIC_LENGTH
#define TOTAL_OFFSET	(MAGNITUDE_OFFSET + 16)
#define ONES_OFFSET		(TOTAL_OFFSET + 16)
#define SUMS_LENGTH		(ONES_OFFSET + SHBITS_WIDTH * 16)

/*
 * A state of so many bytes, all 0 after its head.
 */
static bytea *
make_state(const char *magic, Size length)
{
	bytea	   *state = palloc0(VARHDRSZ + length);

	SET_VARSIZE(state, VARHDRSZ + length);
	memcpy(VARDATA(state), magic, MAGIC_LENGTH);
	return state;
}

/*
 * Raise ERRCODE_INVALID_BINARY_REPRESENTATION.  The detail has not been translated
 * yet.
 */
void
shtext_report_invalid_state(const char *detail)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
			 errmsg("invalid state of a simhash aggregate"),
			 errdetail_internal("%s", _(detail))));
}

static void
check_head(const bytea *state, const char *magic, bool length_fits)
{
	if (unlikely(!length_fits))
		shtext_report_invalid_state(gettext_noop("It has a wrong length."));
	if (unlikely(memcmp(VARDATA_ANY(state), magic, MAGIC_LENGTH) != 0))
		shtext_report_invalid_state(gettext_noop("It is of another version, or no state at all."));
}

static Size
sketch_length(int width, int minima)
{
	return PARTS_OFFSET + shtext_sketch_nparts(width, minima) * PART_LENGTH;
}

static void
write_part(char *data, const ShTextSketchPart *part)
{
	for (int bin = 0; bin < SHTEXT_BINS; bin++)
		shbits_store_bytes(data + bin * 4,
						   part->empty >> bin & 1 ? part->visits[bin] : part->values[bin], 4);
	shbits_store_bytes(data + EMPTY_OFFSET, part->empty, 8);
}

static void
read_part(const char *data, ShTextSketchPart *part)
{
	part->empty = shbits_load_bytes(data + EMPTY_OFFSET, 8);
	if (part->empty == PG_UINT64_MAX)
		shtext_report_invalid_state(gettext_noop("It has no feature."));
	for (int bin = 0; bin < SHTEXT_BINS; bin++)
	{
		part->values[bin] = shbits_load_bytes(data + bin * 4, 4);
		part->visits[bin] = PG_UINT16_MAX;
	}
	for (uint64 bins = part->empty; bins != 0; bins &= bins - 1)
	{
		int			bin = pg_rightmost_one_pos64(bins);

		if (part->values[bin] > PG_UINT16_MAX)
			shtext_report_invalid_state(gettext_noop("It has a visit at a time that does not exist."));
		part->visits[bin] = part->values[bin];
		part->values[bin] = PG_UINT32_MAX;
	}
}

bytea *
shtext_sketch_state_make(const ShTextSketch *sketch)
{
	bytea	   *state = make_state(SKETCH_MAGIC, sketch_length(sketch->width, sketch->minima));

	shbits_store_bytes(VARDATA(state) + WIDTH_OFFSET, sketch->width, 2);
	shbits_store_bytes(VARDATA(state) + MINIMA_OFFSET, sketch->minima, 2);
	for (int p = 0; p < sketch->nparts; p++)
		write_part(VARDATA(state) + PARTS_OFFSET + p * PART_LENGTH, &sketch->parts[p]);
	return state;
}

int
shtext_sketch_state_head(const bytea *state, int *width)
{
	Size		length = VARSIZE_ANY_EXHDR(state);
	int			minima = 0;

	*width = 0;
	if (length >= sketch_length(SIMHASH_BITS_MIN_WIDTH, 0))
	{
		*width = shbits_load_bytes(VARDATA_ANY(state) + WIDTH_OFFSET, 2);
		minima = shbits_load_bytes(VARDATA_ANY(state) + MINIMA_OFFSET, 2);
	}
	check_head(state, SKETCH_MAGIC,
			   shtype_is_width(*width) && minima <= SHTEXT_MAX_MINIMA &&
			   (minima == 0 || *width % SHBITS_WIDTH == 0) && length == sketch_length(*width, minima));
	return minima;
}

void
shtext_sketch_state_read(const bytea *state, ShTextSketch *sketch)
{
	int			width;
	int			minima = shtext_sketch_state_head(state, &width);

	shtext_sketch_init(sketch, width, minima);
	for (int p = 0; p < sketch->nparts; p++)
		read_part(VARDATA_ANY(state) + PARTS_OFFSET + p * PART_LENGTH, &sketch->parts[p]);
}

static void
add_to_part(char *data, uint64 number)
{
	char	   *at = data + shtext_bin(number) * 4;

	/* if no bin is empty, a feature can change only one minimum */
	if (shbits_load_bytes(data + EMPTY_OFFSET, 8) != 0)
	{
		ShTextSketchPart part;

		read_part(data, &part);
		shtext_sketch_add_to_part(&part, &number, 1);
		write_part(data, &part);
	}
	else if (shtext_value(number) < shbits_load_bytes(at, 4))
		shbits_store_bytes(at, shtext_value(number), 4);
}

/*
 * Add a row, in place.
 */
void
shtext_sketch_state_add(bytea *state, uint64 hash)
{
	int			width;
	int			minima = shtext_sketch_state_head(state, &width);
	int			nparts = shtext_sketch_nparts(width, minima);
	char	   *data = VARDATA(state) + PARTS_OFFSET;
	uint64		number = shtext_number(hash);

	add_to_part(data, number);
	for (int p = 1; p < nparts; p++)
		add_to_part(data + p * PART_LENGTH, shtext_number(shtext_hash_in_part(number, p)));
}

static inline uint128
load_sum(const char *at)
{
	return (uint128) shbits_load_bytes(at + 8, 8) << 64 | shbits_load_bytes(at, 8);
}

static inline void
store_sum(char *at, uint128 x)
{
	shbits_store_bytes(at, (uint64) x, 8);
	shbits_store_bytes(at + 8, (uint64) (x >> 64), 8);
}

bytea *
shtext_counter_state_make(void)
{
	return make_state(COUNTER_MAGIC, COUNTED_LENGTH);
}

static bool
is_counted(const bytea *state)
{
	return VARSIZE_ANY_EXHDR(state) == COUNTED_LENGTH;
}

void
shtext_counter_state_check(const bytea *state)
{
	check_head(state, COUNTER_MAGIC, is_counted(state) || VARSIZE_ANY_EXHDR(state) == SUMS_LENGTH);
}

static void
read_sums(const bytea *state, ShTextWeights *sums)
{
	const char *data = VARDATA_ANY(state);

	if (!is_counted(state))
	{
		sums->magnitude = load_sum(data + MAGNITUDE_OFFSET);
		sums->total = (int128) load_sum(data + TOTAL_OFFSET);
		for (int i = 0; i < SHBITS_WIDTH; i++)
			sums->ones[i] = (int128) load_sum(data + ONES_OFFSET + i * 16);
		return;
	}
	sums->total = shbits_load_bytes(data + COUNT_OFFSET, 4) * SHTEXT_WEIGHT_ONE;
	sums->magnitude = sums->total;
	for (int i = 0; i < SHBITS_WIDTH; i += 2)
	{
		uint64		two = shbits_load_bytes(data + COUNTERS_OFFSET + i * 4, 8);

		sums->ones[i] = (two & PG_UINT32_MAX) * SHTEXT_WEIGHT_ONE;
		sums->ones[i + 1] = (two >> 32) * SHTEXT_WEIGHT_ONE;
	}
}

static bytea *
make_sums(const ShTextWeights *sums)
{
	bytea	   *state = make_state(COUNTER_MAGIC, SUMS_LENGTH);

	store_sum(VARDATA(state) + MAGNITUDE_OFFSET, sums->magnitude);
	store_sum(VARDATA(state) + TOTAL_OFFSET, (uint128) sums->total);
	for (int i = 0; i < SHBITS_WIDTH; i++)
		store_sum(VARDATA(state) + ONES_OFFSET + i * 16, (uint128) sums->ones[i]);
	return state;
}

void
shtext_counter_state_verify(const bytea *state)
{
	ShTextWeights sums;

	shtext_counter_state_check(state);
	read_sums(state, &sums);
	if (!shtext_weights_are_possible(&sums))
		shtext_report_invalid_state(gettext_noop("Its sums contradict each other."));
}

static void
count_row(char *data, uint64 count, uint64 hash)
{
	shbits_store_bytes(data + COUNT_OFFSET, count + 1, 4);
	for (int i = 0; i < SHBITS_WIDTH; i += 2)
	{
		char	   *two = data + COUNTERS_OFFSET + i * 4;

		/*
		 * a counter does not exceed the count, so none is carried to the next
		 * one
		 */
		shbits_store_bytes(two, shbits_load_bytes(two, 8) +
						   ((hash >> i & 1) | (hash >> i & 2) << 31), 8);
	}
}

static void
add_to_sum(char *at, uint128 weight)
{
	store_sum(at, load_sum(at) + weight);
}

bytea *
shtext_counter_state_add(bytea *state, uint64 hash, int128 weight)
{
	char	   *data = VARDATA(state);

	if (is_counted(state))
	{
		uint64		count = shbits_load_bytes(data + COUNT_OFFSET, 4);
		ShTextWeights sums;

		if (weight == SHTEXT_WEIGHT_ONE && count < PG_UINT32_MAX)
		{
			count_row(data, count, hash);
			return state;
		}
		read_sums(state, &sums);
		state = make_sums(&sums);
		data = VARDATA(state);
	}

	store_sum(data + MAGNITUDE_OFFSET,
			  shtext_add_magnitude(load_sum(data + MAGNITUDE_OFFSET), weight));
	/* unsigned, so that impossible numbers do no harm */
	add_to_sum(data + TOTAL_OFFSET, weight);
	for (int i = 0; i < SHBITS_WIDTH; i++)
		add_to_sum(data + ONES_OFFSET + i * 16, (uint128) weight & -(uint128) (hash >> i & 1));
	return state;
}

bytea *
shtext_counter_state_combine(const bytea *state, const bytea *other)
{
	ShTextWeights sums;
	ShTextWeights others;
	bytea	   *result;

	read_sums(state, &sums);
	read_sums(other, &others);
	shtext_weights_combine(&sums, &others);
	if (!is_counted(state) || !is_counted(other) ||
		sums.total > PG_UINT32_MAX * SHTEXT_WEIGHT_ONE)
		return make_sums(&sums);

	result = shtext_counter_state_make();
	shbits_store_bytes(VARDATA(result) + COUNT_OFFSET, sums.total >> SHTEXT_WEIGHT_BITS, 4);
	for (int i = 0; i < SHBITS_WIDTH; i++)
		shbits_store_bytes(VARDATA(result) + COUNTERS_OFFSET + i * 4,
						   sums.ones[i] >> SHTEXT_WEIGHT_BITS, 4);
	return result;
}

bool
shtext_counter_state_result(const bytea *state, ShFingerprint *result)
{
	ShTextWeights sums;

	read_sums(state, &sums);
	return shtext_weights_result(&sums, result);
}
