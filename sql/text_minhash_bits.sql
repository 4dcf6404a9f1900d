--
-- MinHash fingerprints of 8 to 4096 bits, and what their distances say
--
\pset format unaligned
\pset footer off
CREATE SCHEMA text_minhash_bits_test;
SET search_path = text_minhash_bits_test, public;

--
-- What they consist of
--
SELECT simhash_minhash_bits('To be, or not to be'), simhash_minhash_bits('To be, or not to be', 64),
	simhash_minhash_bits('To be, or not to be', 8),
	hex(simhash_minhash('To be, or not to be')) AS of_64_bits;
CREATE TABLE texts AS SELECT row_number() OVER () AS id, t FROM sample_texts('To be, or not to be') t;
-- a shorter one is the beginning of a longer one, and the first 64 bits are simhash_minhash
SELECT count(*) AS texts, count(longest) AS not_null,
	count(*) FILTER (WHERE left(longest::text, 16) <> hex(simhash_minhash(t))
		OR (longest IS NULL) <> (simhash_minhash(t) IS NULL)) AS wrong_beginning,
	count(*) FILTER (WHERE left(simhash_minhash_bits(t, 4096, 5, 'char')::text, 16) <> hex(simhash_minhash(t, 5,
		'char'))) AS wrong_chars,
	count(*) FILTER (WHERE EXISTS (SELECT FROM unnest('{8,16,56,64,72,120,128,136,256,576,1024,4088}'::int[]) n
		WHERE simhash_minhash_bits(t, n)::text <> left(longest::text, n / 4))) AS wrong_prefix,
	count(*) FILTER (WHERE simhash_minhash_bits(t) IS DISTINCT FROM simhash_minhash_bits(t, 256, 2, 'word')
		OR simhash_minhash_bits(t, bits => 128, shingle => 3) IS DISTINCT FROM simhash_minhash_bits(t, 128, 3, 'word'))
			AS wrong_defaults
FROM (SELECT t, simhash_minhash_bits(t, 4096) AS longest FROM texts) s;
-- the definition: the other parts are simhash_minhash of other hashes
CREATE FUNCTION xor_shifted(x numeric, n int) RETURNS numeric LANGUAGE sql IMMUTABLE
RETURN (x::simhash::bit(64) # div(x, 2::numeric ^ n)::simhash::bit(64))::simhash::numeric;
CREATE FUNCTION splitmix64(seed numeric) RETURNS numeric LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
	x numeric := mod(seed + '0x9E3779B97F4A7C15'::simhash::numeric, 2::numeric ^ 64);
BEGIN
	x := mod(xor_shifted(x, 30) * '0xBF58476D1CE4E5B9'::simhash::numeric, 2::numeric ^ 64);
	x := mod(xor_shifted(x, 27) * '0x94D049BB133111EB'::simhash::numeric, 2::numeric ^ 64);
	RETURN xor_shifted(x, 31);
END $$;
CREATE FUNCTION defined(hashes bigint[], bits int) RETURNS text LANGUAGE sql AS $$
	SELECT left(string_agg(part, '' ORDER BY p), bits / 4)
	FROM generate_series(0, (bits - 1) / 64) p, LATERAL (
		SELECT hex(simhash_minhash(CASE p WHEN 0 THEN hashes ELSE ARRAY(
			SELECT (splitmix64(h::simhash::numeric)::simhash::bit(64) # splitmix64(p)::simhash::bit(64))::bigint
				FROM unnest(hashes) h) END)) AS part) s
$$;
SELECT n, count(*) AS comparisons,
	count(*) FILTER (WHERE simhash_minhash_bits(hashes, bits)::text <> defined(hashes, bits)) AS wrong
FROM (SELECT n, ARRAY(SELECT bits('d' || n || i) FROM generate_series(1, n) i) AS hashes
	FROM unnest('{1,2,7,100,400}'::int[]) n) sets,
	unnest('{8,72,256,1000}'::int[]) bits GROUP BY n ORDER BY n;

--
-- The forms agree
--
SELECT * FROM rows_of($$SELECT count(*) AS texts,
	count(*) FILTER (WHERE features <> of_text OR (features IS NULL) <> (of_text IS NULL)) AS wrong_features,
	count(*) FILTER (WHERE hashes IS DISTINCT FROM of_text) AS wrong_hashes,
	count(*) FILTER (WHERE aggregate IS DISTINCT FROM of_text) AS wrong_aggregate
FROM (SELECT simhash_minhash_bits(t, bits, 3, 'char') AS of_text, simhash_minhash_bits(f, bits) AS features, a.hashes,
	a.aggregate
	FROM texts, unnest('{8,64,200,256,4096}'::int[]) bits, simhash_shingles(t, 3) f,
		LATERAL (SELECT simhash_minhash_bits(array_agg(h), bits) AS hashes, simhash_minhash_bits_agg(h, bits)
			AS aggregate
			FROM (SELECT simhash_hash(e) AS h FROM unnest(f) e) s) a
	WHERE length(t) < 1000 OR bits = 256) s$$,
	$$SELECT simhash_minhash_bits('\x00010203'::bytea, 128), simhash_minhash_bits('\x00010203'::bytea, 128, 2),
	simhash_minhash_bits('cat:1,5 rat:3'::tsvector, 128) = simhash_minhash_bits('{cat,rat}'::text[], 128) AS tsvector,
	hex(simhash_minhash('\x00010203'::bytea)) AS of_64_bits$$,
	$$SELECT simhash_minhash_bits('{c,b,a,a}'::text[]) = simhash_minhash_bits('{a,b,c}'::text[]) AS is_set$$);
-- nothing
SELECT simhash_minhash_bits('...') AS text, simhash_minhash_bits(''::bytea) AS bytea,
	simhash_minhash_bits(''::tsvector) AS tsvector,
	simhash_minhash_bits('{}'::text[]) AS features, simhash_minhash_bits('{}'::bigint[]) AS hashes,
	simhash_minhash_bits('a', NULL) AS no_width, (SELECT simhash_minhash_bits_agg(1, 64) WHERE false) AS no_row,
	(SELECT simhash_minhash_bits_agg(NULL, 64)) AS null_row, (SELECT simhash_minhash_bits_agg(1, NULL)) AS null_width;
SELECT statement, attempt.* FROM unnest(ARRAY[
	$$SELECT simhash_minhash_bits('a', 0)$$,
	$$SELECT simhash_minhash_bits('a', 63)$$,
	$$SELECT simhash_minhash_bits('a', 4104)$$,
	$$SELECT simhash_minhash_bits('a', -8)$$,
	$$SELECT simhash_minhash_bits('a', 64, 0)$$,
	$$SELECT simhash_minhash_bits('a', 64, 65)$$,
	$$SELECT simhash_minhash_bits('a', 64, 2, 'line')$$,
	$$SELECT simhash_minhash_bits('\x00'::bytea, 12)$$,
	$$SELECT simhash_minhash_bits('{a,NULL}'::text[], 64)$$,
	$$SELECT simhash_minhash_bits('{1}'::bigint[], 1)$$,
	$$SELECT simhash_minhash_bits_agg(1, 12)$$,
	$$SELECT simhash_minhash_bits_agg(1, n) FROM (VALUES (64), (128)) v (n)$$,
	$$CREATE TEMP TABLE t AS SELECT simhash_minhash_bits('a', 128)::simhash_bits(256)$$])
	WITH ORDINALITY AS t (statement, no), attempt(statement) ORDER BY no;

--
-- The aggregate: in any order, in parallel, in parts
--
CREATE TABLE hashes AS SELECT i AS id, i % 50 AS doc, bits('h' || i % 7919) AS h FROM generate_series(1, 40000) i;
ALTER TABLE hashes SET (parallel_workers = 2);
SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;
SELECT plan_of($$SELECT simhash_minhash_bits_agg(h, 256) FROM hashes$$) ~ 'Partial Aggregate' AS parallel,
	(SELECT (SELECT simhash_minhash_bits_agg(h, 256) FROM hashes) = simhash_minhash_bits(array_agg(h ORDER BY id DESC))
	AS same FROM hashes);
RESET parallel_setup_cost; RESET parallel_tuple_cost; RESET min_parallel_table_scan_size;
SELECT count(*) AS docs, count(*) FILTER (WHERE agg <> of_array) AS wrong
FROM (SELECT simhash_minhash_bits_agg(h, 576) AS agg, simhash_minhash_bits(array_agg(h), 576) AS of_array
	FROM hashes GROUP BY doc) s;
-- states
CREATE FUNCTION state(n int) RETURNS bytea LANGUAGE sql RETURN simhash_minhash_bits_agg_add(NULL, 1, n);
SELECT left(encode(state, 'hex'), 16) AS head, length(state) - 8 - 264 * parts AS rest
FROM (VALUES (8, 1), (64, 1), (72, 2), (256, 4), (4096, 64)) v (n, parts), simhash_minhash_bits_agg_add(NULL, 42,
	n) state ORDER BY n;
SELECT simhash_minhash_bits_agg_result(simhash_minhash_agg_combine(simhash_minhash_bits_agg_add(NULL, 1, 256),
	simhash_minhash_bits_agg_add(NULL, 2, 256))) = simhash_minhash_bits('{1,2}'::bigint[]) AS combined,
	simhash_minhash_agg_add(NULL, 1) = state(64) AS like_those_of_minhash_agg;
SELECT statement, attempt.* FROM unnest(ARRAY[
	$$SELECT simhash_minhash_bits_agg_result('')$$,
	$$SELECT simhash_minhash_bits_agg_result('\x6d696e014000')$$,
	$$SELECT simhash_minhash_bits_agg_result(overlay(state(64) PLACING '\x48' FROM 5))$$,
	$$SELECT simhash_minhash_bits_agg_result(overlay(state(64) PLACING '\x3c' FROM 5))$$,
	$$SELECT simhash_minhash_bits_agg_result(overlay(state(64) PLACING '\x62' FROM 3))$$,
	$$SELECT simhash_minhash_bits_agg_result(overlay(state(64) PLACING '\xffffffffffffffff' FROM 265))$$,
	$$SELECT simhash_minhash_bits_agg_add(overlay(state(64) PLACING '\xffff' FROM 11), 2, 64)$$,
	$$SELECT simhash_minhash_bits_agg_add(state(64), 2, 128)$$,
	$$SELECT simhash_minhash_agg_combine(state(64), state(72))$$,
	$$SELECT simhash_minhash_bits_agg_add(simhash_agg_add(NULL, 1), 1, 64)$$])
	WITH ORDINALITY AS t (statement, no), attempt(statement) ORDER BY no;

--
-- Radii
--
SELECT simhash_minhash_radius(0.8) AS of_64, simhash_minhash_radius(0.8, 64) AS the_same, simhash_minhash_radius(0.8,
	256) AS of_256,
	simhash_minhash_radius(0, 4096) AS none, simhash_minhash_radius(1, 4096) AS equal;
SELECT statement, attempt.* FROM unnest(ARRAY['SELECT simhash_minhash_radius(0.8, 60)', 'SELECT simhash_minhash_radius(1.1, 256)',
	'SELECT simhash_minhash_radius(0.5, 0)', $$SELECT simhash_minhash_radius('nan', 256)$$])
	WITH ORDINALITY AS t (statement, no), attempt(statement) ORDER BY no;
-- Sets with a known coefficient, of 200 and of 20 features: the mean estimate is right,
-- and scatters as that of so many independent bits does, sqrt((1 - J^2) / bits).
SELECT size, round(jaccard, 2) AS jaccard, bits, abs(avg(estimate) - jaccard) < 5 * expected / sqrt(count(*)) AS mean,
	stddev(estimate) / expected BETWEEN 0.8 AND 1.2 AS deviation, round(expected::numeric, 2) AS deviation_expected
FROM (SELECT size, jaccard, bits, sqrt((1 - jaccard ^ 2) / bits) AS expected,
		1 - 2.0 * (simhash_minhash_bits(ARRAY(SELECT bits(size || 'q' || pair || '/' || i) FROM generate_series(1,
			size) i), bits)
		<~> simhash_minhash_bits(ARRAY(SELECT bits(size || 'q' || pair || '/' || i)
			FROM generate_series(size - common + 1, 2 * size - common) i), bits))
		/ bits AS estimate
	FROM (VALUES (200, 100), (200, 178), (20, 12)) v (size, common), unnest('{64,256,1024}'::int[]) bits,
		generate_series(1, 300) pair,
		LATERAL (SELECT common / (2 * size - common)::numeric AS jaccard) j) s
GROUP BY size, jaccard, bits, expected ORDER BY size, jaccard, bits;

SET client_min_messages = warning;
DROP SCHEMA text_minhash_bits_test CASCADE;
