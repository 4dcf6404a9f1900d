--
-- All forms of simhash_minhash, the aggregate, and their errors
--
\pset format unaligned
\pset footer off

-- a fingerprint is that of the set of its features, and of their hashes
CREATE TABLE texts (id int GENERATED ALWAYS AS IDENTITY, body text);
INSERT INTO texts (body) SELECT sample_texts('abcdefgh');
SELECT unit, shingle, count(*) AS texts, count(fp) AS fingerprints, count(DISTINCT fp) > 10 AS differ,
	bool_and(fp IS NOT DISTINCT FROM simhash_minhash(simhash_shingles(body, shingle, unit))) AS of_features,
	bool_and(fp IS NOT DISTINCT FROM (SELECT simhash_minhash_agg(simhash_hash(f))
		FROM unnest(simhash_shingles(body, shingle, unit)) f)) AS of_rows,
	bool_and(fp IS NOT DISTINCT FROM (SELECT simhash_minhash_agg(h) FROM
		(SELECT DISTINCT simhash_hash(f) FROM unnest(simhash_shingles(body, shingle, unit)) f
			ORDER BY 1 DESC) AS t (h))) AS of_the_set,
	bool_and(fp IS NOT DISTINCT FROM (SELECT simhash_minhash(array_agg(simhash_hash(f)))
		FROM unnest(simhash_shingles(body, shingle, unit)) f)) AS of_hashes
FROM (VALUES ('char', 1), ('char', 3), ('char', 8), ('char', 17), ('char', 64), ('word', 1), ('word', 2),
	('word', 64)) AS o (unit, shingle),
	LATERAL (SELECT body, simhash_minhash(body, shingle, unit) AS fp FROM texts) AS t
GROUP BY unit, shingle ORDER BY unit, shingle;
DROP TABLE texts;

-- named, and left out
SELECT simhash_minhash('one two three four') = simhash_minhash('one two three four', 2, 'word') AS defaults,
	simhash_minhash('one two three four', unit => 'char') = simhash_minhash('one two three four', 2, 'char') AS unit,
	simhash_minhash(document => 'one two three four', shingle => 3) =
	simhash_minhash('one two three four', 3, 'word') AS shingle,
	simhash_minhash('some text'::varchar) = simhash_minhash('some text') AS "varchar",
	simhash_minhash('the same words, the same words') =
	simhash_minhash('SAME - words, the (same) words') AS set_of_words,
	simhash_minhash('some text') <> simhash_compute('some text') AS another_way;
SELECT simhash_minhash(NULL::text) IS NULL AS text, simhash_minhash('a', NULL::int) IS NULL AS shingle,
	simhash_minhash('a', 4, NULL) IS NULL AS unit,
	simhash_minhash(NULL::bytea) IS NULL AS bytea, simhash_minhash(NULL::tsvector) IS NULL AS tsvector,
	simhash_minhash(NULL::text[]) IS NULL AS texts, simhash_minhash(NULL::bigint[]) IS NULL AS bigints;

-- bytes
SELECT simhash_minhash('\x'::bytea) IS NULL AS empty, simhash_minhash('abcdefgh'::bytea) =
	simhash_minhash(ARRAY['abcdefgh']) AS one_window,
	simhash_minhash('Abc'::bytea) <> simhash_minhash('abc'::bytea) AS no_folding,
	simhash_minhash(convert_to(t, 'UTF8'), 4) = simhash_minhash(t, 4, 'char') AS as_text,
	simhash_minhash(convert_to(t, 'UTF8')) = simhash_minhash(t, 8, 'char') AS as_text_8
FROM (SELECT string_agg(md5(i::text), '' ORDER BY i) FROM generate_series(1, 300) i) AS g (t);

-- tsvector: positions and labels do not count
WITH words (word) AS (SELECT translate(md5(i::text), '0123456789', 'ghijklmnop') FROM generate_series(1, 3000) i)
SELECT simhash_minhash(''::tsvector) IS NULL AS empty,
	simhash_minhash('cat:3 dog:1,2A,4 fish'::tsvector) = simhash_minhash(ARRAY['fish', 'dog', 'cat']) AS lexemes,
	simhash_minhash((SELECT to_tsvector('simple', string_agg(word, ' ')) FROM words)) =
	simhash_minhash(ARRAY(SELECT word FROM words)) AS many;

-- arrays
SELECT simhash_minhash('{}'::text[]) IS NULL AS empty, simhash_minhash('{}'::bigint[]) IS NULL AS empty_too,
	simhash_minhash(ARRAY['a', 'b', 'a']) = simhash_minhash(ARRAY['b', 'a']) AS set,
	simhash_minhash(ARRAY['']) <> simhash_minhash(ARRAY[' ']) AS not_normalised,
	simhash_minhash('{{a,b},{c,d}}'::text[]) = simhash_minhash(ARRAY['d', 'c', 'b', 'a']) AS dimensions,
	simhash_minhash('[5:6]={7,-7}'::bigint[]) = simhash_minhash('{-7,7,7}'::bigint[]) AS bounds;

--
-- What a distance says
--
SELECT j, simhash_minhash_radius(j) FROM unnest(ARRAY[1, 0.99, 0.95, 0.9, 0.85, 0.8, 0.7, 0.5, 0.25, 0.02,
	0]::float8[]) j;
SELECT found, array_agg(simhash_minhash_radius(j, 64, found) ORDER BY j DESC) AS radii
FROM unnest(ARRAY[0, 1e-9, 0.5, 0.8, 0.94, 0.9999, 1]) found, unnest(ARRAY[1, 0.95, 0.8, 0.5, 0]) j GROUP BY found ORDER BY found;
-- the binomial distribution, summed exactly
CREATE FUNCTION pg_temp.radius(j numeric, bits int, found numeric) RETURNS int LANGUAGE sql AS $$
	SELECT min(r)::int FROM (SELECT r, sum(factorial(bits) / (factorial(r) * factorial(bits - r)) * ((1 - j) / 2) ^ r * ((1 + j) / 2) ^ (bits - r))
		OVER (ORDER BY r) AS within FROM generate_series(0, bits) r) x WHERE within >= found
$$;
SELECT count(*), count(*) FILTER (WHERE simhash_minhash_radius(j, bits, found) <> pg_temp.radius(j, bits, found)) AS wrong
FROM generate_series(0.1, 0.9, 0.2) j, unnest(ARRAY[8, 64, 128]) bits, unnest(ARRAY[0.5, 0.8, 0.94, 0.99]) found;
SELECT simhash_minhash_radius(NULL) IS NULL AS "null", simhash_minhash_radius('-0') = simhash_minhash_radius(0) AS minus_zero;
SELECT simhash_minhash_radius(0.8, found => 1.01);
SELECT simhash_minhash_radius(0.8, found => 'NaN');
SELECT simhash_minhash_radius(1.0000001);
SELECT simhash_minhash_radius(-1e-9);
SELECT simhash_minhash_radius('NaN');
SELECT simhash_minhash_radius('-infinity');

-- sets of n of which `common` are in both: the mean distance of 500 pairs lies
-- within four standard errors of what it should be
SELECT n, common, abs(avg(d) - expected) < 4 * sqrt(expected * (1 - expected / 64) / 500) OR common = n
	AND max(d) = 0 AS as_expected
FROM (VALUES (1, 0), (1, 1), (2, 1), (6, 5), (30, 15), (30, 28), (100, 90), (300, 200), (1000, 900)) AS t (n, common),
	LATERAL (SELECT 32 * (1 - common / (2.0 * n - common)) AS expected) AS e, generate_series(1, 500) pair,
	LATERAL (SELECT array_agg(hashint8extended(i, pair) ORDER BY i) AS h
		FROM generate_series(1, 2 * n - common) i) AS u,
	LATERAL (SELECT hamming(simhash_minhash(h[:n]), simhash_minhash(h[n - common + 1:])) AS d) AS f
GROUP BY n, common, expected ORDER BY n, common;

--
-- The aggregate
--
SELECT * FROM (SELECT simhash_minhash_agg(h) IS NULL AS no_rows FROM (SELECT 1::bigint AS h WHERE false) AS t) a,
	(SELECT simhash_minhash_agg(h) = simhash_minhash(ARRAY[5, 4]::bigint[]) AS nulls_left_out,
	simhash_minhash_agg(NULL) IS NULL AS only_nulls,
	simhash_minhash_agg(DISTINCT h) = simhash_minhash_agg(h) AS "distinct",
	simhash_minhash_agg(h) FILTER (WHERE h > 4) = simhash_minhash('{5}'::bigint[]) AS filtered
	FROM (VALUES (5), (NULL), (5), (4)) AS t (h)) b;
SELECT bool_and(simhash_minhash(a) = fp) AS window_of_rows
FROM (SELECT array_agg(i) OVER (ORDER BY i) AS a, simhash_minhash_agg(i) OVER (ORDER BY i) AS fp
	FROM generate_series(1::bigint, 400) i) AS t;

-- in parallel, in parts, and serially
CREATE TABLE hashes (g int, h bigint);
INSERT INTO hashes SELECT i % 7, CASE WHEN i % 11 <> 0 THEN hashint8extended(i % (50 * (i % 7 + 1) * (i % 7 + 1)),
	0) END FROM generate_series(1, 50000) i;
ANALYZE hashes;
CREATE TEMPORARY TABLE results AS
SELECT 'serial' AS how, 7 + g AS g, simhash_minhash_agg(h) AS fp FROM hashes GROUP BY g;
INSERT INTO results SELECT 'serial', 0, simhash_minhash_agg(h) FROM hashes;
INSERT INTO results SELECT 'array', 7 + g, simhash_minhash(array_agg(h) FILTER (WHERE h IS NOT NULL)) FROM hashes
GROUP BY g;
SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2; SET parallel_leader_participation = off;
EXPLAIN (COSTS OFF) SELECT simhash_minhash_agg(h) FROM hashes;
INSERT INTO results SELECT 'parallel', 0, simhash_minhash_agg(h) FROM hashes;
INSERT INTO results SELECT 'parallel', 7 + g, simhash_minhash_agg(h) FROM hashes GROUP BY g;
RESET parallel_setup_cost; RESET parallel_tuple_cost; RESET min_parallel_table_scan_size;
RESET max_parallel_workers_per_gather; RESET parallel_leader_participation;
INSERT INTO results SELECT 'backwards', 0, simhash_minhash_agg(h ORDER BY h DESC) FROM hashes;
SELECT g, count(*), count(DISTINCT fp) AS fingerprints FROM results GROUP BY g ORDER BY g;
SELECT count(DISTINCT fp) AS fingerprints FROM results;

-- what other engines do: partial states of parts, in any order
CREATE AGGREGATE partial_agg(bigint) (SFUNC = simhash_minhash_agg_add, STYPE = bytea);
CREATE AGGREGATE combine_agg(bytea) (SFUNC = simhash_minhash_agg_combine, STYPE = bytea,
	FINALFUNC = simhash_minhash_agg_result);
SELECT parts, combine_agg(state ORDER BY part) = fp AS ascending,
	combine_agg(state ORDER BY part DESC) = fp AS descending,
	combine_agg(state ORDER BY md5(part::text)) = fp AS any_order
FROM (VALUES (2), (7), (1000)) AS n (parts), LATERAL (SELECT part, partial_agg(h) AS state
	FROM (SELECT h, (row_number() OVER (ORDER BY h)) * 7919 % parts AS part FROM hashes WHERE g < 2) AS t
	GROUP BY part UNION ALL SELECT -1, NULL) AS p,
	(SELECT simhash_minhash_agg(h) AS fp FROM hashes WHERE g < 2) AS a
GROUP BY parts, fp ORDER BY parts;
-- the state of the set tells the set of its parts: equal sets, equal states
SELECT partial_agg(h ORDER BY h) = partial_agg(DISTINCT h ORDER BY h DESC) AS same_state FROM hashes WHERE g < 2;
DROP TABLE hashes;

-- version 1 of the layout, which no machine and no release may change
SELECT length(s), encode(substr(s, 1, 28), 'hex') AS head, md5(s) FROM simhash_minhash_agg_add(NULL, 5) s
UNION ALL SELECT length(s), encode(substr(s, 1, 28), 'hex') AS head, md5(s)
FROM (SELECT partial_agg(i) FROM generate_series(1, 1000) i) AS t (s);
SELECT simhash_minhash_agg_add(NULL, NULL) IS NULL AS add, simhash_minhash_agg_combine(NULL, NULL) IS NULL AS combine,
	simhash_minhash_agg_result(NULL) IS NULL AS result;

-- called in SQL the functions leave their arguments as they are, wherever
-- these come from: in line, compressed and out of line
CREATE TABLE states (id int, state bytea) WITH (toast_tuple_target = 128);
INSERT INTO states SELECT 1, simhash_minhash_agg_add(NULL, 5);
INSERT INTO states SELECT 2, simhash_minhash_agg_add(state, 6) FROM states;
ALTER TABLE states ALTER state SET STORAGE EXTERNAL;
INSERT INTO states SELECT 3, state FROM states;
CREATE TABLE before AS SELECT * FROM states;
SELECT id, simhash_minhash_agg_result(simhash_minhash_agg_add(state, 3)) AS add,
	simhash_minhash_agg_result(simhash_minhash_agg_combine(state, simhash_minhash_agg_add(NULL, 3))) AS combine,
	simhash_minhash_agg_result(state) AS result, simhash_minhash_agg_combine(state, state) = state AS twice,
	simhash_minhash_agg_combine(NULL, state) = state AS alone,
	simhash_minhash_agg_combine(state, NULL) = state AS alone_too
FROM states ORDER BY id, state;
SELECT count(*) AS changed FROM (TABLE states EXCEPT TABLE before) AS t;
DROP TABLE states, before;

-- what is no state
CREATE FUNCTION try_minhash(state bytea) RETURNS TABLE (function text, result text) LANGUAGE plpgsql AS $$
DECLARE
	detail text;
BEGIN
	FOR i IN 1..4 LOOP
		function := (ARRAY['add', 'combine', 'combine_other', 'result'])[i];
		BEGIN
			result := CASE i WHEN 1 THEN simhash_minhash_agg_result(simhash_minhash_agg_add(state, 1))
				WHEN 2 THEN simhash_minhash_agg_result(simhash_minhash_agg_combine(state,
					simhash_minhash_agg_add(NULL, 1)))
				WHEN 3 THEN simhash_minhash_agg_result(simhash_minhash_agg_combine(simhash_minhash_agg_add(NULL, 1),
					state))
				ELSE simhash_minhash_agg_result(state) END::text;
		EXCEPTION WHEN OTHERS THEN
			GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
			result := SQLSTATE || ' ' || SQLERRM || ': ' || detail;
		END;
		RETURN NEXT;
	END LOOP;
END $$;
SELECT what, result, string_agg(function, ' ' ORDER BY function) AS functions
FROM simhash_minhash_agg_add(NULL, 1) AS one,
	LATERAL (VALUES ('empty', ''::bytea), ('one byte', '\x6d'), ('one byte short', substr(one, 1, 271)),
		('one byte too many', one || '\x00'),
	('another version', overlay(one PLACING '\x02'::bytea FROM 4)),
	('the state of simhash_agg', simhash_agg_add(NULL, 1)),
	('another width', simhash_minhash_bits_agg_add(NULL, 1, 128)),
	('no state', overlay(one PLACING '\xffffffff'::bytea FROM 1)),
	('no feature', overlay(one PLACING decode(repeat('ff', 8), 'hex') FROM 265)),
	('a visit too late', overlay(one PLACING '\x01'::bytea FROM 8 + 4 * CASE
		WHEN get_bit(one, 8 * 264) = 1 THEN 0 ELSE 1 END + 3))) AS t (what, state), try_minhash(state)
GROUP BY what, result ORDER BY what COLLATE "C", result COLLATE "C";
SELECT simhash_agg_result(simhash_minhash_agg_add(NULL, 1));
DROP FUNCTION try_minhash;
DROP AGGREGATE partial_agg(bigint), combine_agg(bytea);

--
-- Errors, as those of simhash_compute
--
SELECT simhash_minhash('a', 0);
SELECT simhash_minhash('a', 65);
SELECT simhash_minhash('a'::bytea, -1);
SELECT simhash_minhash('a', 4, 'line');
SELECT simhash_minhash(ARRAY['a', NULL]);
SELECT simhash_minhash(ARRAY[1, NULL]::bigint[]);

--
-- Generated columns and indexes on expressions
--
CREATE TABLE docs (id int, body text, tags text[], fp simhash GENERATED ALWAYS AS (simhash_minhash(body)) STORED);
INSERT INTO docs SELECT i, string_agg(md5((i / 2 * 1000 + w)::text), ' ' ORDER BY w) ||
	CASE i % 2 WHEN 0 THEN '' ELSE ' more' END, ARRAY[i::text, (i / 2)::text]
FROM generate_series(0, 199) i, generate_series(1, 30) w GROUP BY i;
CREATE INDEX ON docs USING simhash (fp);
CREATE INDEX docs_tags ON docs USING simhash (simhash_minhash(tags));
SELECT count(*) AS pairs, bool_and(a.body = left(b.body, -5)) AS the_same_text FROM docs a, docs b
WHERE a.id < b.id AND a.fp % b.fp;
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT id FROM docs WHERE simhash_minhash(tags) <~> simhash_minhash(ARRAY['7', '3']) <= 0;
SELECT id FROM docs WHERE simhash_minhash(tags) <~> simhash_minhash(ARRAY['3', '7']) <= 0;
RESET enable_seqscan;
DELETE FROM docs WHERE id % 2 = 1;
ALTER TABLE docs DROP COLUMN fp, ADD EXCLUDE USING simhash ((simhash_minhash(body)) WITH =);
INSERT INTO docs SELECT 1000, upper(body) FROM docs WHERE id = 6 ON CONFLICT DO NOTHING RETURNING id;
DROP TABLE docs;
