--
-- simhash_jaccard: the share of the features of two documents that both have
--
\pset format unaligned
\pset footer off
CREATE SCHEMA text_jaccard_test;
SET search_path = text_jaccard_test, public;

-- the same by sets of the features themselves
CREATE FUNCTION by_sets(a text[], b text[]) RETURNS float8 LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
	SELECT count(*) FILTER (WHERE in_a AND in_b)::float8 / nullif(count(*), 0)
	FROM (SELECT bool_or(side = 1) AS in_a, bool_or(side = 2) AS in_b
		FROM (SELECT 1 AS side, f FROM unnest(a) f UNION ALL SELECT 2, f FROM unnest(b) f) AS features
		GROUP BY f COLLATE "C") AS sets
	HAVING bool_or(in_a) AND bool_or(in_b)
$$;

--
-- Texts
--
SELECT simhash_jaccard('one two three four', 'one two three five') AS words,
	simhash_jaccard('abcde', 'bcdef', 4, 'char') AS characters,
	simhash_jaccard('one two', 'two one', 1) AS "order", simhash_jaccard('one one one one', 'one', 1) AS repetitions,
	simhash_jaccard('One, TWO: three!', 'one two (three)') AS folded, simhash_jaccard('a', 'b') AS nothing,
	simhash_jaccard('a', 'a b c d') AS short,
	simhash_jaccard('', 'a') IS NULL AS empty, simhash_jaccard('a', '...') IS NULL AS dropped,
	simhash_jaccard('', '') IS NULL AS both,
	simhash_jaccard(NULL, 'a') IS NULL AS "null", simhash_jaccard('a', 'a', NULL) IS NULL AS shingle,
	simhash_jaccard('a', 'a', 3, NULL) IS NULL AS unit;
SELECT simhash_jaccard(a => 'a b c d', b => 'b c d e', shingle => 2, unit => 'word') AS named,
	simhash_jaccard('Straße', 'STRASSE', 2, 'char') AS folded,
	simhash_jaccard('我爱数据库', '我爱 PG 数据库', 1) AS ideographs,
	simhash_jaccard('naïve café', U&'nai\0308ve cafe\0301') AS equivalent;

-- every two of texts of all scripts, in each unit and many lengths of a shingle
CREATE TABLE texts (id serial, body text);
INSERT INTO texts (body) VALUES ('a'), ('.'), (''), ('The quick brown fox jumps over the lazy dog'),
	('The quick brown cat jumps over the lazy dog.'),
	('Äpfel, Öl und Übermut'), ('Übermut, Äpfel und Öl'), ('Ξεσκεπάζω τὴν ψυχοφθόρα βδελυγμία'),
	('Съешь же ещё этих мягких французских булок'),
	('съешь ещё этих мягких французских булок, да выпей чаю'), ('天地玄黃，宇宙洪荒。日月盈昃，辰宿列張。'),
	('天地玄黃，宇宙洪荒。寒來暑往，秋收冬藏。'),
	('نص حكيم له سر قاطع'), ('ऋषियों को सताने वाले'), ('เป็นมนุษย์สุดประเสริฐ'), ('いろはにほへと ちりぬるを'),
	('키스의 고유조건은'), ('𐀀𐀁𐐀𝟎𐐁🙂'), ('word word word word');
INSERT INTO texts (body) SELECT string_agg(CASE i % 5 WHEN 0 THEN 'Ω' ELSE '' END || 'w' ||
	abs(hashint4(i * seed)) % (seed * 40), ' ' ORDER BY i)
FROM generate_series(1, 10) seed, generate_series(1, seed * 60) i GROUP BY seed;
INSERT INTO texts (body) SELECT replace(body, 'w7', '，日本') FROM texts WHERE length(body) > 1000;
SELECT unit, shingle, count(*) AS pairs, count(j) AS coefficients,
	count(*) FILTER (WHERE j > 0 AND j < 1) > 0 AS between,
	bool_and(j IS NOT DISTINCT FROM by_sets(x.features, y.features)) AS as_sets,
	bool_and(j IS NOT DISTINCT FROM simhash_jaccard(x.features, y.features)) AS as_arrays,
	bool_and(j IS NOT DISTINCT FROM simhash_jaccard(y.body, x.body, shingle, unit)) AS symmetric
FROM (VALUES ('char', 1), ('char', 2), ('char', 4), ('char', 5), ('char', 17), ('word', 1), ('word', 2), ('word', 3),
	('word', 64)) AS o (unit, shingle),
	LATERAL (SELECT body, simhash_shingles(body, shingle, unit) AS features FROM texts) AS x,
	LATERAL (SELECT body, simhash_shingles(body, shingle, unit) AS features FROM texts WHERE id % 4 = 0) AS y,
	LATERAL simhash_jaccard(x.body, y.body, shingle, unit) AS j
GROUP BY unit, shingle ORDER BY unit, shingle;

--
-- Byte strings and arrays
--
SELECT simhash_jaccard('abcdefghi'::bytea, 'bcdefghij'::bytea) AS eight,
	simhash_jaccard('Ab'::bytea, 'aB'::bytea, 1) AS not_folded,
	simhash_jaccard('\x0001'::bytea, '\x0001'::bytea, 3) AS short,
	simhash_jaccard(''::bytea, 'a'::bytea) IS NULL AS empty,
	simhash_jaccard(NULL, 'a'::bytea, 3) IS NULL AS "null";
WITH bytes AS (SELECT id, convert_to(body, 'UTF8') AS body FROM texts WHERE length(body) BETWEEN 1 AND 1500)
SELECT shingle, count(*) AS pairs, bool_and(simhash_jaccard(x.body, y.body, shingle) =
	by_sets(x.features, y.features)) AS as_sets
FROM unnest(ARRAY[1, 3, 4, 8, 9, 64]) AS shingle,
	LATERAL (SELECT body, ARRAY(SELECT encode(substr(body, i, shingle), 'hex')
		FROM generate_series(1, greatest(length(body) - shingle + 1, 1)) i) AS features FROM bytes) AS x,
	LATERAL (SELECT body, ARRAY(SELECT encode(substr(body, i, shingle), 'hex')
		FROM generate_series(1, greatest(length(body) - shingle + 1, 1)) i) AS features FROM bytes
			WHERE id % 4 = 0) AS y
GROUP BY shingle ORDER BY shingle;

SELECT simhash_jaccard('{a,b,b,c}'::text[], '{c,b,d}') AS sets,
	simhash_jaccard('{{a,b},{c,d}}'::text[], '{d,c,b,a}') AS dimensions,
	simhash_jaccard('{A,"",a b}'::text[], '{a,"",ab}') AS as_they_are,
	simhash_jaccard('{}'::text[], '{a}') IS NULL AS empty, simhash_jaccard(NULL::text[], '{a}') IS NULL AS "null";

--
-- Large ones, in one range and in many: of n and n features 3/4 n are in both
--
CREATE FUNCTION numbers(first int, last int) RETURNS text[] LANGUAGE sql IMMUTABLE AS
$$ SELECT array_agg('n' || i) FROM generate_series(first, last) i $$;
SELECT n, simhash_jaccard(numbers(1, n), numbers(n / 4 + 1, n + n / 4)) = 0.6 AS right
FROM unnest(ARRAY[4, 28, 32, 36, 60, 64, 68, 1000, 1024, 8188, 8192, 32768, 65536, 150000, 262144]) n ORDER BY n;
SET work_mem = '64kB'; SET hash_mem_multiplier = 1;
SELECT n, simhash_jaccard(numbers(1, n), numbers(n / 4 + 1, n + n / 4)) = 0.6 AS right,
	simhash_jaccard(numbers(1, n), numbers(n + 1, 2 * n)) = 0 AS nothing,
	simhash_jaccard(numbers(1, n), numbers(1, n)) = 1 AS "all",
	simhash_jaccard(numbers(1, n), numbers(1, 4)) = 4.0 / n AS few,
	simhash_jaccard(numbers(1, 4), numbers(1, n)) = 4.0 / n AS few_first
FROM unnest(ARRAY[1000, 1636, 1640, 2044, 2048, 2052, 4096, 20000, 50000]) n ORDER BY n;
SELECT simhash_jaccard(array_to_string(numbers(1, 40000), ', '), array_to_string(numbers(10001, 50000), ' '), 1) =
	0.6 AS words,
	simhash_jaccard(array_to_string(numbers(1, 40000), ', '), '', 1) IS NULL AS empty,
	simhash_jaccard('.', array_to_string(numbers(1, 40000), ', '), 1) IS NULL AS empty_first;
CREATE TABLE long AS SELECT array_to_string(numbers(1, 8000), '') AS a, array_to_string(numbers(2001, 10000), '') AS b;
SELECT simhash_jaccard(convert_to(a, 'UTF8'), convert_to(b, 'UTF8')) AS bytes,
	simhash_jaccard(a, b, 8, 'char') AS characters FROM long \gset narrow_
RESET work_mem; RESET hash_mem_multiplier;
SELECT simhash_jaccard(convert_to(a, 'UTF8'), convert_to(b, 'UTF8')) = :narrow_bytes AS bytes,
	simhash_jaccard(a, b, 8, 'char') = :narrow_characters AS characters,
	:narrow_bytes = by_sets(simhash_shingles(a, 8), simhash_shingles(b, 8)) AS as_sets
FROM long;

-- stored by themselves, compressed or not; the same text again and again
CREATE TABLE stored (how text, body text);
ALTER TABLE stored ALTER body SET STORAGE EXTERNAL;
INSERT INTO stored VALUES ('external', array_to_string(numbers(1, 4000), ' '));
ALTER TABLE stored ALTER body SET STORAGE EXTENDED;
INSERT INTO stored VALUES ('compressed', array_to_string(numbers(1001, 5000), ' '));
INSERT INTO stored VALUES ('short', 'n1');
SELECT x.how, y.how, simhash_jaccard(x.body, y.body, 1) AS words,
	simhash_jaccard(x.body, y.body, 1) = simhash_jaccard(string_to_array(x.body, ' '),
		string_to_array(y.body, ' ')) AS same,
	simhash_jaccard(x.body::bytea, y.body::bytea) = simhash_jaccard(x.body || '', y.body || '', 8,
		'char') IS NOT NULL AS bytes
FROM stored x, stored y ORDER BY x.how, y.how;
-- the same two documents call after call, but other features of them
CREATE TABLE repeated AS SELECT 'one two three four five six' AS a, 'two three four six one five' AS b;
SELECT count(DISTINCT jaccard) AS different, bool_and(jaccard = of_sets) AS right
FROM (SELECT simhash_jaccard(a, b, shingle, unit) AS jaccard,
		by_sets(simhash_shingles(a, shingle, unit), simhash_shingles(b, shingle, unit)) AS of_sets
	FROM repeated, (VALUES ('word', 2), ('word', 2), ('word', 3), ('char', 3), ('char', 3), ('char', 5), ('word', 5),
		('word', 2), ('char', 2), ('word', 2)) o (unit, shingle) OFFSET 0) s;
SELECT count(DISTINCT jaccard) AS different, bool_and(jaccard = of_sets) AS right
FROM (SELECT simhash_jaccard(convert_to(a, 'UTF8'), convert_to(b, 'UTF8'), shingle) AS jaccard,
		by_sets(simhash_shingles(a, shingle), simhash_shingles(b, shingle)) AS of_sets
	FROM (SELECT replace(a, ' ', '') AS a, replace(b, ' ', '') AS b FROM repeated OFFSET 0) r,
		unnest('{4,4,5,5,3,3,4}'::int[]) shingle OFFSET 0) s;
SELECT simhash_jaccard(repeat('a b ', 1000000), 'a b a b') AS words,
	simhash_jaccard(repeat('天', 1000000), '天天天天天', 4, 'char') AS characters;

--
-- Candidates by fingerprints, verified, are what a comparison of all pairs finds
--
CREATE TABLE docs (id serial, body text, fp simhash GENERATED ALWAYS AS (simhash_compute(body)) STORED);
INSERT INTO docs (body) SELECT string_agg(CASE WHEN i % 97 = version THEN 'other'
	ELSE 'w' || abs(hashint4(i * 31 + seed)) % 500 END, ' ' ORDER BY i)
FROM generate_series(1, 20) seed, generate_series(1, 5) version, generate_series(1, 250) i GROUP BY seed, version;
CREATE INDEX docs_fp ON docs USING simhash (fp) WITH (distance = 3);
SELECT count(*) AS pairs, min(jaccard) >= 0.8 AS verified,
	count(*) = (SELECT count(*) FROM docs x JOIN docs y ON x.id < y.id
		WHERE simhash_jaccard(x.body, y.body) >= 0.8) AS "all"
FROM simhash_find_all('docs_fp', 10) JOIN docs x ON x.ctid = a
	JOIN docs y ON y.ctid = b, simhash_jaccard(x.body, y.body) AS jaccard
WHERE jaccard >= 0.8;
SET enable_seqscan = off; SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF) SELECT id FROM docs WHERE simhash_jaccard(body, 'some text') >= 0.8
	AND fp <~> simhash_compute('some text') <= 6;
SELECT count(*) FROM docs WHERE simhash_jaccard(body, (SELECT body FROM docs WHERE id = 1)) >= 0.8
	AND fp <~> (SELECT fp FROM docs WHERE id = 1) <= 10;
RESET enable_seqscan; RESET enable_bitmapscan;

--
-- Errors, and how the planner may use it
--
SELECT oid::regprocedure AS function, provolatile, proparallel, proisstrict, procost > 1000 AS expensive
FROM pg_proc WHERE proname = 'simhash_jaccard' ORDER BY oid::regprocedure::text COLLATE "C";
SELECT simhash_jaccard('a', 'b', 0);
SELECT simhash_jaccard('a', 'b', 65, 'char');
SELECT simhash_jaccard('a', 'b', 3, 'line');
SELECT simhash_jaccard('a'::bytea, 'b'::bytea, 65);
SELECT simhash_jaccard('{a,NULL}'::text[], '{b}');
SELECT simhash_jaccard('{a}'::text[], '{NULL}');

--
-- In databases of other encodings
--
\set VERBOSITY terse
SELECT current_database() AS utf8_database \gset
SELECT simhash_jaccard('Äpfel, Öl und Übermut µm', 'Übermut, ÄPFEL und Öl µm', 3, 'char') AS latin,
	simhash_jaccard('日本語の文章を、比べる', '日本語の text を比べる', 2) AS japanese,
	simhash_jaccard('{Ä,Ö}'::text[], '{Ö,Ü}') AS features \gset
CREATE DATABASE regression_jaccard_latin1 ENCODING 'LATIN1'
	LOCALE_PROVIDER libc LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0;
CREATE DATABASE regression_jaccard_euc_jp ENCODING 'EUC_JP'
	LOCALE_PROVIDER libc LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0;
CREATE DATABASE regression_jaccard_sql_ascii ENCODING 'SQL_ASCII'
	LOCALE_PROVIDER libc LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0;

\connect regression_jaccard_latin1
SET client_encoding = 'UTF8';
CREATE EXTENSION simhash;
-- one of these texts has features that do not exist in this encoding
SELECT simhash_jaccard('Äpfel, Öl und Übermut µm', 'Übermut, ÄPFEL und Öl µm', 3, 'char') = :latin AS latin,
	simhash_jaccard('{Ä,Ö}'::text[], '{Ö,Ü}') = :features AS features;

\connect regression_jaccard_euc_jp
SET client_encoding = 'UTF8';
CREATE EXTENSION simhash;
SELECT simhash_jaccard('日本語の文章を、比べる', '日本語の text を比べる', 2) = :japanese AS japanese;

-- bytes above 127 are characters
\connect regression_jaccard_sql_ascii
CREATE EXTENSION simhash;
SELECT simhash_jaccard(E'\xc4\xd6 A', E'\xd6, a', 1, 'char') AS characters,
	simhash_jaccard(E'\xc4\xd6 A', E'\xe4\xf6 a', 1) AS words,
	simhash_jaccard(E'\xff\x80', E'\xff\x80'::text, 2, 'char') AS same;

\connect :utf8_database
SET client_min_messages = warning;
DROP DATABASE regression_jaccard_latin1;
DROP DATABASE regression_jaccard_euc_jp;
DROP DATABASE regression_jaccard_sql_ascii;
DROP SCHEMA text_jaccard_test CASCADE;
