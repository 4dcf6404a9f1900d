--
-- What doc/moving-in.md makes of other extensions' conditions and functions uses the index
-- and finds the same rows
--
CREATE SCHEMA moving_in_test;
SET search_path = moving_in_test, public; SET max_parallel_workers_per_gather = 0; SET client_min_messages = warning;
\pset format unaligned
\pset tuples_only on

-- bktree's condition
CREATE TYPE bktree_area AS (center bigint, distance bigint);
CREATE FUNCTION bktree_within(bigint, bktree_area) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS 'SELECT simhash_within($1::simhash, ($2).center::simhash, ($2).distance::int)';
CREATE OPERATOR <@ (LEFTARG = bigint, RIGHTARG = bktree_area, FUNCTION = bktree_within);
CREATE FUNCTION bktree_get_distance(bigint, bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT hamming($1::simhash, $2::simhash)::bigint';
CREATE OPERATOR <-> (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = bktree_get_distance);
CREATE FUNCTION int64_to_bitstring(bigint) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT $1::bit(64)::text';
CREATE FUNCTION bitstring_to_int64(text) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT $1::varbit::simhash_bits(64)::simhash::bigint';
SELECT int64_to_bitstring(-2), bitstring_to_int64(int64_to_bitstring(-2));

-- single ones, near ones, equal ones, a chain, extreme ones, nulls, and those of another kind
CREATE TABLE fingerprints (id int PRIMARY KEY, hash bigint, algorithm text NOT NULL);
INSERT INTO fingerprints
SELECT i, CASE WHEN i <= 2000 THEN flip(bits('m' || i / 5), i % 5 * 2, 'n' || i)
			   WHEN i <= 2300 THEN bits('equal')
			   WHEN i <= 2320 THEN (1::bigint << (i - 2300) * 3) - 1
			   WHEN i = 2321 THEN -1
			   WHEN i = 2322 THEN '-9223372036854775808'::bigint
			   WHEN i <= 3000 THEN bits('single ' || i) END,
	CASE WHEN i % 11 = 0 THEN 'OSHASH' ELSE 'PHASH' END
FROM generate_series(1, 3010) i;
CREATE INDEX fingerprints_phash ON fingerprints USING simhash (hash) WHERE algorithm = 'PHASH';
CREATE TABLE queries (id int, phash bigint, radius int);
INSERT INTO queries
SELECT i, CASE WHEN i % 3 = 0 THEN bits('q' || i) ELSE flip(bits('m' || i), i % 7, 'o' || i) END, i % 13 - 1
FROM generate_series(1, 60) i
UNION ALL VALUES (61, bits('equal'), 0), (62, bits('equal'), 8), (63, -1, 5), (64, 0, 64), (65, 0, 100), (66, NULL, 3), (67, 5, NULL);
ANALYZE fingerprints, queries;

SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_indexonlyscan = off; SET enable_material = off;
SET enable_memoize = off; SET enable_hashjoin = off; SET enable_mergejoin = off;
SELECT plan('SELECT id FROM fingerprints WHERE hash <@ (5, 3) AND algorithm = ''PHASH''');
SELECT plan('SELECT id FROM fingerprints WHERE hash <@ ROW(5, 3)::bktree_area AND algorithm = ''PHASH''');
SELECT plan('SELECT id FROM fingerprints WHERE hash <@ ''(5,3)'' AND algorithm = ''PHASH''');
SELECT plan('SELECT id, hash <-> 5 FROM fingerprints WHERE hash <@ (5, 3) AND algorithm = ''PHASH''');
SELECT plan('SELECT f.id FROM unnest(ARRAY[1, 2]::bigint[]) phash
	JOIN fingerprints f ON f.hash <@ (phash, 4) AND f.algorithm = ''PHASH''');
SELECT plan('SELECT f.id FROM queries q JOIN fingerprints f ON f.hash <@ (q.phash, q.radius) AND f.algorithm = ''PHASH''');

-- parameters of each type that drivers give, in a custom and a generic plan
PREPARE typed (bigint, bigint) AS SELECT id FROM fingerprints WHERE hash <@ ($1, $2) AND algorithm = 'PHASH';
PREPARE mixed (bigint, int) AS SELECT id FROM fingerprints WHERE hash <@ ($1, $2::int) AND algorithm = 'PHASH';
PREPARE untyped AS SELECT id FROM fingerprints WHERE hash <@ ($1, $2) AND algorithm = 'PHASH';
PREPARE many (bigint[], int) AS
SELECT f.id, f.hash FROM unnest($1) phash JOIN fingerprints f ON f.hash <@ (phash, $2) AND f.algorithm = 'PHASH';
SET plan_cache_mode = force_custom_plan;
SELECT plan('EXECUTE typed (5, 3)');
SET plan_cache_mode = force_generic_plan;
SELECT plan('EXECUTE typed (5, 3)');
SELECT plan('EXECUTE mixed (5, 3)');
SELECT plan('EXECUTE untyped (5, 3)');
SELECT plan('EXECUTE many (ARRAY[1, 2], 3)');
RESET plan_cache_mode;

-- the same rows, with a row for each time a query finds one
SELECT * FROM compare_rows(
	'SELECT q.id, f.id FROM queries q JOIN fingerprints f ON f.hash <@ (q.phash, q.radius) AND f.algorithm = ''PHASH''',
	'SELECT q.id, f.id FROM queries q JOIN fingerprints f ON distance(f.hash, q.phash) <= q.radius AND f.algorithm = ''PHASH''');
SELECT * FROM compare_rows(
	'SELECT q.id, f.id, f.hash <-> q.phash FROM queries q JOIN fingerprints f ON f.hash <@ (q.phash, 8) AND f.algorithm = ''PHASH''',
	'SELECT q.id, f.id, distance(f.hash, q.phash) FROM queries q JOIN fingerprints f
	 ON distance(f.hash, q.phash) <= 8 AND f.algorithm = ''PHASH''');
SELECT message FROM attempt('SELECT FROM fingerprints WHERE hash <@ (5, 3000000000) AND algorithm = ''PHASH''');

-- a function of one's own on texts of zeros and ones
CREATE TABLE old_images (id int PRIMARY KEY, hash varchar);
INSERT INTO old_images SELECT id, hash::bit(64)::text FROM fingerprints;
CREATE FUNCTION hash_distance(a varchar, b varchar) RETURNS simhash_distance
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS 'SELECT hamming(a::bit(64)::simhash, b::bit(64)::simhash)';
CREATE INDEX old_images_hash ON old_images USING simhash ((hash::bit(64)::simhash));
ANALYZE old_images;
SELECT plan('SELECT id FROM old_images WHERE hash_distance(hash, repeat(''01'', 32)) <= 5');
SELECT plan('SELECT id FROM old_images WHERE hash_distance(repeat(''01'', 32), hash) < 5');
SELECT * FROM compare_rows(
	'SELECT q.id, i.id FROM queries q JOIN old_images i ON hash_distance(i.hash, q.phash::bit(64)::text) <= 5',
	'SELECT q.id, i.id FROM queries q JOIN fingerprints i ON distance(i.hash, q.phash) <= 5');

-- the lowest bits of minimum hashes
CREATE FUNCTION lowest_bits(hashvalues bigint[]) RETURNS simhash_bits
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT string_agg((value & 1)::text, '' ORDER BY place)::varbit::simhash_bits
    FROM unnest(hashvalues) WITH ORDINALITY s(value, place)
$$;
SELECT lowest_bits('{1,2,3,4,5,6,7,9}'), lowest_bits(array_fill(3, '{128}'));
-- sets of 100 of 100 to 200 features, so the coefficient falls from 1 to 0
CREATE TABLE signatures AS
SELECT id, array_agg(least ORDER BY p) AS hashvalues
FROM (SELECT id, p, min(('x' || left(md5(p || ' ' || f), 8))::bit(32)::bigint) AS least
	  FROM generate_series(0, 100, 10) id, generate_series(id + 1, id + 100) f, generate_series(1, 128) p GROUP BY id, p) m
GROUP BY id;
-- the estimate is within .2, which is more than twice its standard error
SELECT bool_and(abs(1 - (lowest_bits(a.hashvalues) <~> lowest_bits(b.hashvalues)) / 64.0
					- (100.0 - b.id) / (100 + b.id)) < 0.2) AS estimates
FROM signatures a, signatures b WHERE a.id = 0;

DROP SCHEMA moving_in_test CASCADE;
