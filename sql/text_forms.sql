--
-- All forms of simhash_compute, the aggregates, and their errors
--
\pset format unaligned
\pset footer off

--
-- What goes into a fingerprint
--
SELECT simhash_shingles('Hello, World!'),
	simhash_shingles('Hello, World!', 9), simhash_shingles('Hello, World!', 10),
	simhash_shingles('Hello, World!', 64);
SELECT simhash_shingles('One two, three-four', 2, 'word'), simhash_shingles('One two', 3, 'word'),
	simhash_shingles('one', unit => 'word'),
	simhash_shingles('我爱 PostgreSQL数据库', 1, 'word'), simhash_shingles('我爱PG', 2, 'word'),
	simhash_shingles('ＳＱＬ', 1);
-- what is invisible does not divide a word; a mark begins one behind an ideograph
SELECT simhash_shingles(U&'co\00ADop\200Ber\2060a\FE0Fte x\200Dy a\E000b', 1, 'word') AS invisible,
	simhash_shingles(U&'a漢b', 1, 'word') AS ideograph, array_length(simhash_shingles(U&'漢\3099b', 1, 'word'),
		1) AS mark,
	simhash_shingles('〇 〡々〆 ㋀ カタカナ', 1, 'word') AS others,
	simhash_shingles('') IS NULL AS empty, simhash_shingles('. ! ?', 1, 'word') IS NULL AS dropped,
	simhash_shingles(NULL) IS NULL AS "null";
SELECT array_ndims(s), array_lower(s, 1), array_upper(s, 1), pg_typeof(s) FROM simhash_shingles('abcdef') s;
SELECT simhash_hash('abcd'), simhash_hash(''), simhash_hash('ÄÖÜ'), simhash_hash(repeat('x', 1000));

-- a fingerprint is that of its features, and of their hashes
CREATE TABLE texts (id int GENERATED ALWAYS AS IDENTITY, body text);
INSERT INTO texts (body) SELECT sample_texts('abcd');
SELECT unit, shingle, count(*) AS texts, count(fp) AS fingerprints, count(DISTINCT fp) > 10 AS differ,
	bool_and(fp IS NOT DISTINCT FROM simhash_compute(simhash_shingles(body, shingle, unit))) AS of_features,
	bool_and(fp IS NOT DISTINCT FROM (SELECT simhash_agg(simhash_hash(f))
		FROM unnest(simhash_shingles(body, shingle, unit)) f)) AS of_rows,
	bool_and(fp IS NOT DISTINCT FROM (SELECT simhash_compute(array_agg(simhash_hash(f)))
		FROM unnest(simhash_shingles(body, shingle, unit)) f)) AS of_hashes,
	bool_and(fp IS NOT DISTINCT FROM (SELECT simhash_weighted_agg(simhash_hash(f), n) FROM
		(SELECT f, count(*) AS n FROM unnest(simhash_shingles(body, shingle, unit)) f GROUP BY f) AS t)) AS of_weights
FROM (VALUES ('char', 1), ('char', 3), ('char', 4), ('char', 5), ('char', 17), ('char', 64), ('word', 1), ('word', 3),
	('word', 64)) AS o (unit, shingle),
	LATERAL (SELECT body, simhash_compute(body, shingle, unit) AS fp FROM texts) AS t
GROUP BY unit, shingle ORDER BY unit, shingle;
DROP TABLE texts;

-- named, and left out
SELECT simhash_compute('one two three four', unit => 'word') = simhash_compute('one two three four', 4, 'word') AS unit,
	simhash_compute(document => 'some text', shingle => 3) = simhash_compute('some text', 3, 'char') AS shingle,
	simhash_compute('some text'::varchar) = simhash_compute('some text') AS "varchar",
	simhash_compute('the same words, the same words', 2, 'word') =
	simhash_compute('THE SAME - words the (same) words', 2, 'word') AS words,
	simhash_compute('the same words', 1, 'word') <> simhash_compute('thesamewords', 1, 'word') AS spaces_count;
SELECT simhash_compute(NULL::text) IS NULL AS text, simhash_compute('a', NULL::int) IS NULL AS shingle,
	simhash_compute('a', 4, NULL) IS NULL AS unit,
	simhash_compute(NULL::bytea) IS NULL AS bytea, simhash_compute(NULL::tsvector) IS NULL AS tsvector,
	simhash_compute(NULL::text[]) IS NULL AS texts, simhash_compute(NULL::bigint[], '{1}') IS NULL AS bigints;

--
-- Bytes
--
SELECT simhash_compute('\x'::bytea) IS NULL AS empty, simhash_compute('\x00'::bytea) AS zero,
	simhash_compute('\x0001ff80c0fe0a'::bytea) AS short,
	simhash_compute('\x0001ff80c0fe0a27'::bytea) AS one_window, simhash_compute('\x0001ff80c0fe0a2730'::bytea) AS two;
SELECT simhash_compute('abcdefgh'::bytea) = simhash_hash('abcdefgh')::simhash AS is_the_hash,
	simhash_compute('Abc'::bytea) <> simhash_compute('abc'::bytea) AS no_folding,
	simhash_compute(convert_to(t, 'UTF8'), 4) = simhash_compute(t) AS as_text,
	simhash_compute(convert_to(t, 'UTF8')) = simhash_compute(t, 8) AS as_text_8
FROM (SELECT string_agg(md5(i::text), '' ORDER BY i) FROM generate_series(1, 300) i) AS g (t);
-- all windows occur equally often: one more or less of any would tell
SELECT count(DISTINCT simhash_compute(convert_to(repeat('abcdefgh', n) || 'abcdefg', 'UTF8'))) AS fingerprints
FROM unnest(ARRAY[1, 2, 127, 128, 129, 1024, 100000]) n;

--
-- tsvector: the number of positions is the weight
--
SELECT simhash_compute(''::tsvector) IS NULL AS empty,
	simhash_compute('cat:3 dog:1,2,4 fish'::tsvector) = simhash_compute(ARRAY['cat', 'dog', 'fish'],
		ARRAY[1, 3, 1]) AS weighted,
	simhash_compute(to_tsvector('simple', 'b a b ä')) = simhash_compute(ARRAY['a', 'b', 'b', 'ä']) AS counted,
	simhash_compute(to_tsvector('english', 'The cats sit on the mats')) =
	simhash_compute(to_tsvector('english', 'a cat, sitting on a mat')) AS stemmed,
	simhash_compute('cat:1A dog:2B'::tsvector) = simhash_compute('cat:5 dog:6'::tsvector) AS labels_do_not_count;

--
-- Arrays of features and of hashes
--
SELECT simhash_compute('{}'::text[]) IS NULL AS empty, simhash_compute('{}'::bigint[], '{}') IS NULL AS empty_too,
	simhash_compute(ARRAY['a']) = simhash_hash('a')::simhash AS one,
	simhash_compute(ARRAY['']) = simhash_hash('')::simhash AS empty_feature,
	simhash_compute(ARRAY['A', 'b', 'c']) <> simhash_compute(ARRAY['a', 'b', 'c']) AS not_normalised,
	simhash_compute('{{a,b},{c,d}}'::text[]) = simhash_compute(ARRAY['d', 'c', 'b', 'a']) AS dimensions;
-- a bit is set if it is in more than half of them
SELECT * FROM rows_of(
	$$SELECT hex(simhash_compute('{1,3,7}'::bigint[])) AS majority, hex(simhash_compute('{1,2}'::bigint[])) AS tie,
	hex(simhash_compute('{1,1,2,2,4}'::bigint[])) AS none,
	hex(simhash_compute('{-1,-1,0}'::bigint[])) AS all_ones,
	hex(simhash_compute('[5:6]={-9223372036854775808,-1}'::bigint[])) AS highest$$,
	$$SELECT hex(simhash_compute('{1,2,4}'::bigint[], '{3,1,1}')) AS heaviest,
	hex(simhash_compute('{1,2}'::bigint[], '{1,1}')) AS tie,
	hex(simhash_compute('{1,2}'::bigint[], '{1.0000000002,1}')) AS hardly,
	hex(simhash_compute('{1,2}'::bigint[], '{1.0000000001,1}')) AS rounded,
	hex(simhash_compute('{1,3}'::bigint[], '{-1,2}')) AS negative,
	hex(simhash_compute('{1,1}'::bigint[], '{1,-1}')) AS cancelled,
	hex(simhash_compute('{1,2}'::bigint[], '{-1,-1}')) AS against$$,
	$$SELECT simhash_compute('{1,2}'::bigint[], '{0,0}') IS NULL AS zero,
	simhash_compute('{1,2}'::bigint[], '{0,-0}') IS NULL AS minus_zero,
	simhash_compute('{1}'::bigint[], '{1e-10}') IS NULL AS too_small,
	hex(simhash_compute('{5}'::bigint[], '{2e-10}')) AS smallest,
	hex(simhash_compute('{5,3}'::bigint[], '{9.223372036854775e18,1}')) AS largest,
	simhash_compute('{1,2,3}'::bigint[], NULL) = simhash_compute('{1,2,3}'::bigint[]) AS no_weights$$);
-- sums are exact: in any order of floating-point additions the small ones would be lost
SELECT hex(simhash_compute('{1,2,2,1}'::bigint[], '{4e18,1e-9,4e18,2e-9}')) AS a,
	hex(simhash_compute('{1,2,2,1}'::bigint[], '{4e18,2e-9,4e18,1e-9}')) AS b,
	hex(simhash_compute('{2,1,1,2}'::bigint[], '{1e-9,2e-9,4e18,4e18}')) AS c;
-- more than any batch, and a vector as simhash-cpp has it
SELECT simhash_compute(array_agg(h)) = simhash_compute(array_agg(h), array_agg(1::float8)) AS same,
	simhash_compute(array_agg(h)) = simhash_agg(h) AS same_rows,
	simhash_compute(array_agg(h)) = (SELECT bit_or(CASE WHEN 2 * ones > n THEN 1::bigint << b ELSE 0 END) FROM
		(SELECT b, sum((x >> b) & 1) AS ones, count(*) AS n FROM generate_series(0, 63) b, unnest(array_agg(h)) x
			GROUP BY b) AS t) AS counted
FROM (SELECT hashint8extended(i, 0) AS h FROM generate_series(1, 5000) i) AS t;

--
-- The aggregates
--
SELECT * FROM (SELECT simhash_agg(h) IS NULL AS no_rows, simhash_weighted_agg(h, 1) IS NULL AS no_rows_weighted
	FROM (SELECT 1::bigint AS h WHERE false) AS t) a,
	(SELECT simhash_agg(h) = 5 AS plain, simhash_weighted_agg(h, w) = 4 AS weighted,
	simhash_weighted_agg(h, 0) IS NULL AS zero, simhash_weighted_agg(h, NULL) IS NULL AS nulls
	FROM (VALUES (5, 1), (NULL, 100), (5, NULL), (4, 1.5)) AS t (h, w)) b;
SELECT * FROM rows_of($$SELECT g, simhash_agg(h ORDER BY h DESC) AS ordered, simhash_agg(DISTINCT h) AS "distinct",
	simhash_agg(h) FILTER (WHERE h > 2) AS filtered
FROM (VALUES (1, 1), (1, 1), (1, 2), (2, 4), (2, 7), (3, NULL)) AS t (g, h) GROUP BY g ORDER BY g$$,
	$$SELECT n, simhash_agg(n) OVER (ORDER BY n), simhash_weighted_agg(n, 1 / n::float8)
	OVER (ORDER BY n ROWS 1 PRECEDING) AS two FROM generate_series(1, 4) n$$);
-- title three times the body
SELECT simhash_weighted_agg(simhash_hash(f), w) = simhash_compute(simhash_shingles('a title') ||
	simhash_shingles('a title') || simhash_shingles('a title') || simhash_shingles('the body')) AS fields
FROM (VALUES ('a title', 3), ('the body', 1)) AS t (field, w), unnest(simhash_shingles(field)) f;

-- in parallel, in parts, and serially
CREATE TABLE hashes (g int, h bigint, w float8);
INSERT INTO hashes SELECT i % 7, CASE WHEN i % 11 <> 0 THEN hashint8extended(i, 0) END,
	CASE WHEN i % 13 <> 0 THEN ((i * 7919) % 1000 - 300) * 10.0 ^ (i % 20 - 8) END
FROM generate_series(1, 50000) i;
ANALYZE hashes;
CREATE TEMPORARY TABLE results AS
SELECT 'serial' AS how, 7 + g AS g, simhash_agg(h) AS plain, simhash_weighted_agg(h, w) AS weighted FROM hashes
GROUP BY g;
INSERT INTO results SELECT 'serial', 0, simhash_agg(h), simhash_weighted_agg(h, w) FROM hashes;
SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2; SET parallel_leader_participation = off;
EXPLAIN (COSTS OFF) SELECT simhash_agg(h), simhash_weighted_agg(h, w) FROM hashes;
INSERT INTO results SELECT 'parallel', 0, simhash_agg(h), simhash_weighted_agg(h, w) FROM hashes;
INSERT INTO results SELECT 'parallel', 7 + g, simhash_agg(h), simhash_weighted_agg(h, w) FROM hashes GROUP BY g;
RESET parallel_setup_cost; RESET parallel_tuple_cost; RESET min_parallel_table_scan_size;
RESET max_parallel_workers_per_gather; RESET parallel_leader_participation;
CREATE TABLE parts (LIKE hashes) PARTITION BY LIST (g);
CREATE TABLE parts_0 PARTITION OF parts FOR VALUES IN (0, 1);
CREATE TABLE parts_1 PARTITION OF parts DEFAULT;
INSERT INTO parts SELECT * FROM hashes;
SET enable_partitionwise_aggregate = on;
INSERT INTO results SELECT 'in parts', 0, simhash_agg(h), simhash_weighted_agg(h, w) FROM parts;
RESET enable_partitionwise_aggregate;
INSERT INTO results SELECT 'backwards', 0, simhash_agg(h ORDER BY h), simhash_weighted_agg(h, w ORDER BY w DESC)
FROM hashes;
SELECT g, count(*), count(DISTINCT plain) AS plain, count(DISTINCT weighted) AS weighted FROM results GROUP BY g
ORDER BY g;
SELECT count(DISTINCT plain) AS plain, count(DISTINCT weighted) AS weighted FROM results;
DROP TABLE parts, hashes;

--
-- Generated columns and indexes on expressions
--
CREATE TABLE docs (
	id int, title text, body text, tags text[],
	fp simhash GENERATED ALWAYS AS (simhash_compute(body, 3, 'word')) STORED,
	bytes_fp simhash GENERATED ALWAYS AS (simhash_compute(body::bytea)) STORED,
	tags_fp simhash GENERATED ALWAYS AS (simhash_compute(tags)) STORED,
	vector_fp simhash GENERATED ALWAYS AS (simhash_compute(to_tsvector('simple', body))) STORED,
	shingles text[] GENERATED ALWAYS AS (simhash_shingles(title)) STORED
);
CREATE INDEX docs_body ON docs USING simhash (simhash_compute(body));
CREATE INDEX docs_title ON docs (simhash_compute(title, 2));
CREATE INDEX docs_hash ON docs (simhash_hash(title));
INSERT INTO docs SELECT i, 'title ' || i, 'The body of document ' || md5(i::text) || ' and so on',
	ARRAY['tag', i::text] FROM generate_series(1, 500) i;
SELECT count(*) AS docs, count(fp) AS fp, count(bytes_fp) AS bytes, count(tags_fp) AS tags,
	count(vector_fp) AS vectors, count(shingles) AS shingles FROM docs;
SET enable_seqscan = off; SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF) SELECT id FROM docs WHERE simhash_compute(body) <~> 5 <= 3;
SELECT id FROM docs WHERE simhash_compute(body) <~> simhash_compute('the body of DOCUMENT ' || md5('77') ||
	', and so on!') <= 3;
EXPLAIN (COSTS OFF) SELECT id FROM docs WHERE simhash_compute(title, 2) = 5::simhash;
SELECT id FROM docs WHERE simhash_compute(title, 2) = simhash_compute('Title 42', 2) AND id = 42
UNION ALL SELECT id FROM docs WHERE simhash_hash(title) = simhash_hash('title 42');
RESET enable_seqscan; RESET enable_bitmapscan;
DROP TABLE docs;

--
-- Errors
--
SELECT simhash_compute('a', 0);
SELECT simhash_compute('a', 65);
SELECT simhash_compute('a', -1);
SELECT simhash_shingles('a', 2147483647, 'word');
SELECT simhash_compute('\x00'::bytea, 0);
SELECT simhash_compute('a', 4, 'words');
SELECT simhash_compute('a', 4, 'Char');
SELECT simhash_compute('a', 4, '');
SELECT simhash_compute(ARRAY['a', NULL]);
SELECT simhash_compute(ARRAY[1, NULL]::bigint[]);
SELECT simhash_compute(ARRAY['a'], ARRAY[NULL]::float8[]);
SELECT simhash_compute(ARRAY['a', 'b'], '{1}');
SELECT simhash_compute('{}'::text[], '{1}');
SELECT simhash_compute('{1}'::bigint[], '{1,2}');
SELECT simhash_compute('{1}'::bigint[], '{NaN}');
SELECT simhash_compute('{1}'::bigint[], '{Infinity}');
SELECT simhash_compute('{1}'::bigint[], '{-Infinity}');
SELECT simhash_compute('{1}'::bigint[], '{9223372036854775808}');
SELECT simhash_compute('{1}'::bigint[], '{-1e300}');
SELECT simhash_weighted_agg(1, 'NaN');
SELECT simhash_weighted_agg(1, 1e19);
\set VERBOSITY sqlstate
SELECT simhash_compute('a', 0);
SELECT simhash_compute('a', 4, 'words');
SELECT simhash_compute(ARRAY['a', NULL]);
SELECT simhash_compute(ARRAY['a'], '{}');
SELECT simhash_compute('{1}'::bigint[], '{NaN}');
SELECT simhash_compute('{1}'::bigint[], '{1e19}');
