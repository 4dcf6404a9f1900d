--
-- Hamming distance of wide fingerprints, and conditions on it
--
\pset format unaligned
\pset footer off
CREATE SCHEMA type_bits_distance_test;
SET search_path = type_bits_distance_test, public;

-- all widths; distances from 0 to all bits, the near ones often
CREATE TABLE pairs AS
SELECT n, wide('a' || n, n) AS a, flip_wide(wide('a' || n, n), d, 'd' || n) AS b, d
FROM generate_series(8, 4096, 8) n, LATERAL (VALUES (0), (1), (least(n, n / 8)), (n / 8 - 1), (n / 2), (n)) AS v (d)
WHERE n <= 640 OR n % 256 IN (0, 8, 248)
UNION ALL
SELECT n, wide('a' || n || i, n), wide('b' || n || i, n), NULL
	FROM unnest('{8,64,72,128,144,256,576,1024,4096}'::int[]) n, generate_series(1, 20) i;
ANALYZE pairs;
-- brute force: the server's own count of the bits that differ
CREATE VIEW truth AS SELECT *, bit_count(a::varbit # b::varbit)::int AS distance FROM pairs;
SELECT count(*) AS pairs, count(DISTINCT n) AS widths, count(DISTINCT distance) > 100 AS many_distances,
	count(*) FILTER (WHERE d <> distance) AS bad_test,
	count(*) FILTER (WHERE a <~> b <> distance) AS distance,
	count(*) FILTER (WHERE b <~> a <> distance) AS commuted,
	count(*) FILTER (WHERE hamming(a, b) <> distance) AS hamming,
	count(*) FILTER (WHERE a % b <> (distance * 8 < n)) AS near,
	count(*) FILTER (WHERE b % a <> (distance * 8 < n)) AS near_commuted,
	count(*) FILTER (WHERE a % b) > 300 AS some_near
FROM truth;
SELECT count(*) AS comparisons, count(*) FILTER (WHERE simhash_within(a, b, r)) AS within,
	count(*) FILTER (WHERE simhash_within(a, b, r) <> (distance <= r)) AS wrong,
	count(*) FILTER (WHERE (a <@ simhash_bits_ball(b, r)) <> (distance <= r)) AS wrong_in_ball,
	count(*) FILTER (WHERE (simhash_bits_ball(b, r) @> a) <> (distance <= r)) AS wrong_contains,
	count(*) FILTER (WHERE (a <~> b <= r) <> (distance <= r)) AS wrong_at_most,
	count(*) FILTER (WHERE (a <~> b < r) <> (distance < r)) AS wrong_below,
	count(*) FILTER (WHERE (a <~> b = r) <> (distance = r)) AS wrong_equal,
	count(*) FILTER (WHERE (a <~> b >= r) <> (distance >= r)) AS wrong_at_least,
	count(*) FILTER (WHERE (r < a <~> b) <> (distance > r)) AS wrong_above
FROM truth, LATERAL (VALUES (-2147483648), (-1), (0), (3), (distance - 1), (distance), (distance + 1), (64), (65), (n),
	(2147483647)) AS radii (r);
-- with constants, as the planner simplifies them
SELECT count(*) FILTER (WHERE a <~> b <= 31) = count(*) FILTER (WHERE distance <= 31) AS at_most_31,
	count(*) FILTER (WHERE a <~> b < 100.5) = count(*) FILTER (WHERE distance < 100.5) AS below_100,
	count(*) FILTER (WHERE NOT a <~> b > 64) = count(*) FILTER (WHERE distance <= 64) AS at_most_64,
	count(*) FILTER (WHERE a <~> b <= 4000::bigint) = count(*) FILTER (WHERE distance <= 4000) AS at_most_4000,
	count(*) FILTER (WHERE hamming(a, b) = 128::smallint) = count(*) FILTER (WHERE distance = 128) AS equal
FROM truth;
-- an eighth of the bits, exactly
SELECT n, max(d) FILTER (WHERE flip_wide(wide('e', n), d, 'e') % wide('e', n)) AS near,
	min(d) FILTER (WHERE NOT flip_wide(wide('e', n), d, 'e') % wide('e', n)) AS far
FROM unnest('{8,16,64,72,128,256,576}'::int[]) n, generate_series(0, n) d GROUP BY n ORDER BY n;

-- values in rows, with headers of one byte and so at any address; nearest first; joins
CREATE TABLE fingerprints AS SELECT i AS id, repeat('x', i % 8) AS padding,
	CASE WHEN i % 10 < 3 THEN flip_wide(wide('c' || i / 40, 256), i % 40, 'f' || i) ELSE wide('r' || i,
		256) END::simhash_bits(256) AS fp
FROM generate_series(1, 2000) i;
SELECT count(*) > 100 AS some, count(*) FILTER (WHERE ours <> truth) AS wrong
FROM (SELECT a.fp % b.fp AS ours, bit_count(a.fp::bit(256) # b.fp::bit(256)) <= 31 AS truth
	FROM fingerprints a, fingerprints b WHERE a.id % 4 = 0 AND b.id % 4 = 1) p WHERE ours OR truth;
SELECT compare_rows($$SELECT id FROM fingerprints ORDER BY fp <~> wide('c3', 256), id LIMIT 20$$,
	$$SELECT id FROM fingerprints ORDER BY bit_count(fp::bit(256) # wide('c3', 256)::bit(256)), id LIMIT 20$$),
	compare_rows($$SELECT a.id, b.id FROM fingerprints a JOIN fingerprints b
		ON a.fp <~> b.fp <= 31 AND a.id < b.id AND b.id < 400$$,
	$$SELECT a.id, b.id FROM fingerprints a JOIN fingerprints b
		ON bit_count(a.fp::bit(256) # b.fp::bit(256)) <= 31 AND a.id < b.id AND b.id < 400$$);
SELECT count(*) AS any FROM fingerprints WHERE fp % ANY (ARRAY[wide('c3', 256), wide('c4', 256)]);
PREPARE nearer (simhash_bits, int) AS SELECT count(*) FROM fingerprints WHERE fp <~> $1 <= $2;
SET plan_cache_mode = force_generic_plan;
EXECUTE nearer (wide('c3', 256), 31);
RESET plan_cache_mode;
EXECUTE nearer (wide('c3', 256), 31);

-- different widths
SELECT statement, attempt.* FROM unnest(ARRAY[
	$$SELECT 'ab'::simhash_bits <~> 'abcd'$$,
	$$SELECT hamming('ab'::simhash_bits, 'abcd')$$,
	$$SELECT simhash_within('ab'::simhash_bits, 'abcd', 3)$$,
	$$SELECT simhash_within('ab'::simhash_bits, 'abcd', -1)$$,
	$$SELECT 'ab'::simhash_bits % 'abcd'$$,
	$$SELECT 'ab'::simhash_bits <@ '(abcd,3)'$$,
	$$SELECT '(abcd,3)'::simhash_bits_ball @> 'ab'$$,
	$$SELECT fp <~> wide('x', 128) FROM fingerprints$$,
	$$SELECT count(*) FROM fingerprints WHERE fp % wide('x', 128)$$])
	WITH ORDINALITY AS t (statement, no), attempt(statement) ORDER BY no;
-- nulls
SELECT 'ab'::simhash_bits <~> NULL AS distance, simhash_within('ab'::simhash_bits, 'ab', NULL) AS within,
	NULL::simhash_bits % 'ab' AS near,
	NULL::simhash_bits_ball @> 'ab'::simhash_bits AS contains;
-- of 64 bits, the distance is that of the type simhash
SELECT count(*) AS wrong FROM (SELECT bits('a' || i) AS a, flip(bits('a' || i), i % 65, 'b' || i) AS b
	FROM generate_series(1, 1000) i) p
WHERE a::simhash::simhash_bits <~> b::simhash::simhash_bits IS DISTINCT FROM a <~> b;

SET client_min_messages = warning;
DROP SCHEMA type_bits_distance_test CASCADE;
