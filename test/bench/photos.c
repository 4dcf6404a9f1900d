/*-------------------------------------------------------------------------
 *
 * photos.c
 *	  Hashes of simulated photographs, of the kind of PDQ: 256 bits each.
 *
 * What an index sees of photographs is how their bits depend on each other, so
 * each picture is made of what photographs are made of: noise whose spectrum
 * falls with the frequency (clouds, leaves, skin), light that changes from one
 * side to the other, and things before it, with an edge that is sharp or not.
 * How much there is of each differs from picture to picture.
 *
 * The hash is made as that of PDQ is: luminance, averaged to 64 x 64 values; the
 * lowest 16 x 16 frequencies of its cosine transform in either direction, without
 * the constant one; a bit for each, set if it is above the median.
 *
 * usage: photos NUMBER [SEED]
 *
 * Prints a hash on each line, in hexadecimal.  The same on every machine as far as its
 * floating-point numbers are.
 *
 *-------------------------------------------------------------------------
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIDE		128			/* of a picture */
#define SMALL		64			/* of what is transformed */
#define LOW			16			/* frequencies in either direction */
#define BITS		(LOW * LOW)

static const float pi = 3.14159265f;

static uint64_t state;

/* from 0 to 1 */
static float
draw(void)
{
	uint64_t	x = (state += 0x9E3779B97F4A7C15);

	x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9;
	x = (x ^ x >> 27) * 0x94D049BB133111EB;
	x ^= x >> 31;
	return (float) (x >> 40) / (1 << 24);
}

static float
draw_between(float low, float high)
{
	return low + (high - low) * draw();
}

/* 0 before the edge, 1 behind it; softness is the width of the change */
static float
step(float distance, float softness)
{
	float		t = distance / softness + 0.5f;

	if (t <= 0 || t >= 1)
		return t >= 1;
	return t * t * (3 - 2 * t);
}

/* values at the points of a lattice, and between them what lies between */
static void
add_octave(float *picture, int points, float weight)
{
	static float lattice[(SIDE + 1) * (SIDE + 1)];
	int			cell[SIDE];		/* that a row or column is in */
	float		across[SIDE];	/* from 0 to 1 */

	for (int i = 0; i < (points + 1) * (points + 1); i++)
		lattice[i] = draw_between(-weight, weight);
	for (int i = 0; i < SIDE; i++)
	{
		cell[i] = i * points / SIDE;
		across[i] = step((float) i * points / SIDE - cell[i] - 0.5f, 1);
	}
	for (int y = 0; y < SIDE; y++)
	{
		const float *above = lattice + cell[y] * (points + 1);
		const float *below = above + points + 1;
		float		between[SIDE + 1];

		for (int i = 0; i <= points; i++)
			between[i] = above[i] + across[y] * (below[i] - above[i]);
		for (int x = 0; x < SIDE; x++)
			picture[y * SIDE + x] += between[cell[x]] + across[x] * (between[cell[x] + 1] - between[cell[x]]);
	}
}

/*
 * In photographs each octave has about the same energy; less in the high ones if
 * they are out of focus.
 */
static void
add_noise(float *picture)
{
	float		weight = draw_between(10, 60);
	float		ratio = draw_between(0.6f, 1);

	for (int points = 2; points <= SIDE / 2; points *= 2, weight *= ratio)
		add_octave(picture, points, weight);
}

static void
add_light(float *picture)
{
	float		angle = draw_between(0, 2 * pi);
	float		slope = draw_between(0, 100) / SIDE;
	float		dark = draw_between(0, 60);		/* in the corners */

	for (int y = 0; y < SIDE; y++)
		for (int x = 0; x < SIDE; x++)
		{
			float		u = x - SIDE / 2.0f;
			float		v = y - SIDE / 2.0f;

			picture[y * SIDE + x] += 128 + slope * (u * cosf(angle) + v * sinf(angle))
				- dark * (u * u + v * v) / (SIDE * SIDE / 2.0f);
		}
}

/* an ellipse, a box, or all that is on one side of a line, such as the ground */
static void
add_thing(float *picture)
{
	int			kind = (int) (3 * draw());
	float		x0 = draw_between(0, SIDE);
	float		y0 = draw_between(0, SIDE);
	float		size = SIDE * 0.4f * draw() * draw() + 3;
	float		width = size * draw_between(0.5f, 2);
	float		angle = draw_between(0, pi);
	float		c = cosf(angle);
	float		s = sinf(angle);
	float		light = draw_between(0, 255);
	float		cover = draw_between(0.5f, 1);
	float		softness = 0.5f + 8 * draw() * draw();

	for (int y = 0; y < SIDE; y++)
		for (int x = 0; x < SIDE; x++)
		{
			float		u = c * (x - x0) + s * (y - y0);
			float		v = c * (y - y0) - s * (x - x0);
			float		inside;
			float	   *p = picture + y * SIDE + x;

			if (kind == 0)
				inside = (1 - sqrtf(u * u / (width * width) + v * v / (size * size))) * fminf(width, size);
			else if (kind == 1)
				inside = fminf(width - fabsf(u), size - fabsf(v));
			else
				inside = v - size;
			*p += cover * step(inside, softness) * (light - *p);
		}
}

static void
make_picture(float *picture)
{
	int			things = (int) (10 * draw());
	int			behind = things > 0 ? (int) (draw() * (things + 1)) : 0;

	memset(picture, 0, SIDE * SIDE * sizeof(float));
	add_light(picture);
	for (int i = 0; i < behind; i++)
		add_thing(picture);
	add_noise(picture);
	for (int i = behind; i < things; i++)
		add_thing(picture);
	for (int i = 0; i < SIDE * SIDE; i++)
		picture[i] = roundf(fminf(fmaxf(picture[i], 0), 255));
}

static int
compare_floats(const void *a, const void *b)
{
	float		x = *(const float *) a;
	float		y = *(const float *) b;

	return (x > y) - (x < y);
}

static void
print_hash(const float *picture)
{
	static float wave[LOW][SMALL];
	static float small[SMALL][SMALL];
	static float half[LOW][SMALL];
	float		coefficients[BITS];
	float		sorted[BITS];
	float		median;

	if (wave[0][0] == 0)
		for (int i = 0; i < LOW; i++)
			for (int j = 0; j < SMALL; j++)
				wave[i][j] = cosf(pi / (2 * SMALL) * (i + 1) * (2 * j + 1));

	for (int y = 0; y < SMALL; y++)
		for (int x = 0; x < SMALL; x++)
		{
			const float *p = picture + 2 * y * SIDE + 2 * x;

			small[y][x] = p[0] + p[1] + p[SIDE] + p[SIDE + 1];
		}
	memset(half, 0, sizeof(half));
	for (int i = 0; i < LOW; i++)
		for (int y = 0; y < SMALL; y++)
			for (int x = 0; x < SMALL; x++)
				half[i][x] += wave[i][y] * small[y][x];
	for (int i = 0; i < LOW; i++)
		for (int j = 0; j < LOW; j++)
		{
			float		sum = 0;

			for (int x = 0; x < SMALL; x++)
				sum += wave[j][x] * half[i][x];
			coefficients[i * LOW + j] = sum;
		}

	memcpy(sorted, coefficients, sizeof(sorted));
	qsort(sorted, BITS, sizeof(float), compare_floats);
	median = (sorted[BITS / 2 - 1] + sorted[BITS / 2]) / 2;

	/* the highest frequencies come first, as PDQ's programs print them */
	for (int i = BITS - 4; i >= 0; i -= 4)
	{
		int			digit = 0;

		for (int bit = 0; bit < 4; bit++)
			digit |= (coefficients[i + bit] > median) << bit;
		putchar("0123456789abcdef"[digit]);
	}
	putchar('\n');
}

int
main(int argc, char **argv)
{
	static float picture[SIDE * SIDE];
	long		number;

	if (argc < 2 || argc > 3 || (number = atol(argv[1])) <= 0)
	{
		fprintf(stderr, "usage: photos NUMBER [SEED]\n");
		return 2;
	}
	state = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
	while (number-- > 0)
	{
		make_picture(picture);
		print_hash(picture);
	}
	return fflush(stdout) != 0;
}
