--
-- All pairs and clusters: how much is read, and what fits into memory
--
CREATE SCHEMA batch_work_test;
SET search_path = batch_work_test, public; SET max_parallel_workers_per_gather = 0; SET client_min_messages = warning;
\pset format unaligned
\pset footer off
\set SHOW_CONTEXT never
\pset null (none)

--
-- The rows of a fingerprint are looked up once in each walk, however many
-- neighbours it has
--

-- How often a statement reads each page of docs and docs_fp on average.
CREATE FUNCTION readings(statement text) RETURNS numeric LANGUAGE plpgsql AS $$
BEGIN
	RETURN pages_read(statement)::numeric
		/ ((pg_relation_size('docs') + pg_relation_size('docs_fp')) / current_setting('block_size')::int);
END $$;
-- all pairs, by brute force
CREATE FUNCTION differences(radius int) RETURNS bigint LANGUAGE sql AS $$
	SELECT missing + wrong FROM compare_rows(format('SELECT a, b FROM simhash_find_all(''docs_fp'', %s)', radius),
		format('SELECT a.ctid, b.ctid FROM docs a JOIN docs b
			ON a.ctid < b.ctid AND distance(a.fp::bigint, b.fp::bigint) <= %s', radius))
$$;

-- one that 80,000 rows have had, of which one is left, and 300 neighbours
CREATE TABLE docs (id int, fp simhash) WITH (autovacuum_enabled = off);
INSERT INTO docs SELECT i, 0 FROM generate_series(1, 80000) i;
INSERT INTO docs
SELECT 80000 + row_number() OVER (), (1::bigint << a) | (1::bigint << b)
FROM generate_series(0, 62) a, generate_series(0, 62) b WHERE a < b LIMIT 300;
CREATE INDEX docs_fp ON docs USING simhash (fp);
DELETE FROM docs WHERE id BETWEEN 2 AND 80000;
SELECT readings('SELECT FROM simhash_find_all(''docs_fp'', 2)') < 10 AS few;
SELECT readings('SELECT FROM simhash_find_clusters(''docs_fp'', 2)') < 10 AS few;
SELECT * FROM (SELECT count(*) FILTER (WHERE 0 IN (a_fp, b_fp)) AS neighbours, count(*) > 300 AS more
	FROM simhash_find_all('docs_fp', 2)) a, (SELECT differences(2)) b,
	(SELECT cluster, size, count(*) FROM simhash_find_clusters('docs_fp', 2) GROUP BY 1, 2) c;
DROP TABLE docs;

-- 300 with 700 rows each, of which one or none is left, all near each other
CREATE TABLE docs (id int, fp simhash) WITH (autovacuum_enabled = off);
INSERT INTO docs SELECT i, (1::bigint << i % 25) | (1::bigint << 30 + i % 300 / 25)
FROM generate_series(1, 300 * 700) i;
CREATE INDEX docs_fp ON docs USING simhash (fp);
DELETE FROM docs WHERE id > 200;
SELECT readings('SELECT FROM simhash_find_all(''docs_fp'', 4)') < 20 AS few;
SELECT (SELECT count(*) FROM simhash_find_all('docs_fp', 4)), differences(4);
-- where some rows are still there, they count with each neighbour
INSERT INTO docs SELECT i, 7 FROM generate_series(1, 40) i;
UPDATE docs SET id = -id WHERE id % 3 = 0;
SELECT differences(r) FROM unnest('{0,2,4}'::int[]) r;
DROP TABLE docs;

-- many rows of one, of which some are there
CREATE TABLE docs (id int, fp simhash) WITH (autovacuum_enabled = off);
INSERT INTO docs SELECT i, 0 FROM generate_series(1, 90000) i;
INSERT INTO docs SELECT i, 1 << i FROM generate_series(1, 3) i;
CREATE INDEX docs_fp ON docs USING simhash (fp);
DELETE FROM docs WHERE id % 450 > 0 AND fp = 0;
SELECT differences(1), differences(3);
DROP TABLE docs;

--
-- Fingerprints whose hashes are equal, unless these are seeded: inverses of the
-- finalizer of MurmurHash3, each with a near one
--

CREATE FUNCTION times(a bigint, b numeric) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
	SELECT ((a::simhash::numeric * b) % 18446744073709551616)::simhash::bigint
$$;
-- the xor of a number and itself shifted by 33 bits to the right, which is its own inverse
CREATE FUNCTION fold(a bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
	SELECT a # (a >> 33 & 2147483647)
$$;
-- 0xc4ceb9fe1a85ec53 and 0xff51afd7ed558ccd times these are 1
CREATE TABLE colliding AS
SELECT fold(times(fold(times(fold(i::bigint << 32 | 12345), 11291846944257947611)), 5725274745694666757)) AS h
FROM generate_series(1, 10000) i;
-- it is the inverse
SELECT count(*), count(DISTINCT h), count(DISTINCT fold(times(fold(times(fold(h), 18397679294719823053)),
	14181476777654086739)) & 4294967295) AS hashes
FROM colliding;
-- Equal hashes would make the hash table several times as large.
SET maintenance_work_mem = '3MB';
SELECT count(*), count(DISTINCT cluster), max(size)
FROM simhash_find_clusters_in(ARRAY(SELECT h FROM colliding UNION ALL SELECT h # 1 FROM colliding)::simhash[], 1);
RESET maintenance_work_mem;

--
-- What a message asks for is enough
--

CREATE TABLE docs (id int, fp simhash);
INSERT INTO docs SELECT i, bits('m' || i / 2) # i % 2 FROM generate_series(0, 79999) i;
CREATE INDEX docs_fp ON docs USING simhash (fp);
CREATE FUNCTION enough(statement text, OUT state text, OUT obeyed text) LANGUAGE plpgsql AS $$
DECLARE
	hint text;
BEGIN
	SET LOCAL maintenance_work_mem = '1MB';
	SELECT a.state, a.hint INTO state, hint FROM attempt(statement) a;
	PERFORM set_config('maintenance_work_mem', substring(hint FROM 'which is now 1024 kB, to (\d+ kB)'), true);
	obeyed := (attempt(statement)).state;
	RESET maintenance_work_mem;
END $$;
SELECT * FROM enough('SELECT FROM simhash_find_clusters(''docs_fp'')')
UNION ALL SELECT * FROM enough('SELECT FROM simhash_find_clusters(''docs_fp'', 4)')
UNION ALL SELECT * FROM enough('SELECT FROM simhash_find_clusters_in(ARRAY(SELECT fp FROM docs))');
-- for an array it is known
SET maintenance_work_mem = '1MB';
SELECT state, message, hint FROM attempt('SELECT FROM simhash_find_clusters_in(ARRAY(SELECT fp FROM docs))');
RESET maintenance_work_mem;

--
-- Fingerprints with a common prefix that do not fit are searched in chunks.  The rows of
-- one may be in several of them, and one may have more than fit.
--

-- each with another one at distance 1, and of one to nine rows
CREATE TABLE crowd AS SELECT row_number() OVER () AS id, fp FROM (
	SELECT ((bits('c' || i / 2) & ~65535::bigint | 77) # ((i % 2)::bigint << 40))::simhash AS fp
	FROM generate_series(0, 12499) i, LATERAL generate_series(0, i % 9) ORDER BY hashint4(i)) c;
CREATE INDEX crowd_fp ON crowd USING simhash (fp);
CREATE TABLE visitors AS SELECT id, fp FROM crowd WHERE id % 4 = 0;
CREATE INDEX visitors_fp ON visitors USING simhash (fp);
WITH n AS (SELECT fp::bigint AS h, count(*) AS n FROM crowd GROUP BY fp)
SELECT (SELECT sum(n * (n - 1) / 2) FROM n) + (SELECT sum(a.n * b.n) FROM n a JOIN n b ON a.h = b.h # (1::bigint << 40)) / 2
	= (SELECT count(*) FROM simhash_find_all('crowd_fp', 1)) AS equal;
CREATE TABLE enough_memory AS
SELECT query, answer_of(query, 0) AS found FROM unnest(ARRAY[
	$$SELECT a, b, distance FROM simhash_find_all('crowd_fp', 1)$$,
	$$SELECT * FROM simhash_find_clusters('crowd_fp', 1)$$,
	$$SELECT duplicate, keeper, distance FROM simhash_find_duplicates('crowd_fp', 1, keep => 'id DESC')$$,
	$$SELECT a, b, distance FROM simhash_find_matches('crowd_fp', 'visitors_fp', 1)$$,
	$$SELECT b, a, distance FROM simhash_find_matches('visitors_fp', 'crowd_fp', 0)$$,
	$$SELECT * FROM simhash_find_all_in(ARRAY(SELECT fp FROM crowd), 1, 4)$$,
	$$SELECT * FROM simhash_find_all_in(ARRAY(SELECT fp FROM crowd), 1, 4, 1)$$,
	$$SELECT * FROM simhash_find_clusters_in(ARRAY(SELECT fp FROM crowd), 1, 4)$$]) query;
SELECT min(split_part(found, ' ', 1)::int) > 1000 AS many FROM enough_memory;
SET maintenance_work_mem = '1MB';
SELECT query FROM enough_memory WHERE answer_of(query, 0) <> found;
-- chunks that end at any row
CREATE FUNCTION found_in(kilobytes int) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('maintenance_work_mem', kilobytes || 'kB', true);
	RETURN answer_of('SELECT a, b, distance FROM simhash_find_all(''crowd_fp'', 1)', 0);
END $$;
SELECT count(*) AS ways, bool_and(found_in(1024 + i) = found) AS right
FROM generate_series(1, 7) i, enough_memory WHERE query ~ 'find_all\(';
CREATE TABLE single AS SELECT i AS id, 5::simhash AS fp FROM generate_series(1, 150000) i;
CREATE INDEX single_fp ON single USING simhash (fp);
CREATE TABLE few AS SELECT i AS id, (i * 4)::simhash AS fp FROM generate_series(1, 2) i;
CREATE INDEX few_fp ON few USING simhash (fp);
SELECT count(*), count(DISTINCT a) FROM simhash_find_matches('single_fp', 'few_fp', 1)
UNION ALL SELECT count(*), count(DISTINCT b) FROM simhash_find_matches('few_fp', 'single_fp', 20);
SELECT * FROM (SELECT count(*), max(size) FROM simhash_find_clusters('single_fp', 3)) a,
	(SELECT count(*) FROM simhash_find_duplicates('single_fp', 20)) b;
RESET maintenance_work_mem;
SELECT simhash_index_check('single_fp', true) \gset
DROP TABLE single;

--
-- The memory of a search is free when rows are put in order
--

CREATE TABLE watched AS SELECT i AS id, bits('w' || CASE WHEN i <= 200 THEN i / 2 ELSE i END) AS fp
FROM generate_series(1, 90000) i;
ALTER TABLE watched ALTER fp TYPE simhash USING fp::simhash;
CREATE INDEX watched_fp ON watched USING simhash (fp);
CREATE FUNCTION used() RETURNS bigint LANGUAGE sql AS 'SELECT sum(total_bytes) FROM pg_backend_memory_contexts';
CREATE FUNCTION watch(id int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
	IF id = 150 AND batch_work_test.used() > current_setting('batch_work.most')::bigint THEN
		RAISE 'too much memory is in use';
	END IF;
	RETURN id;
END $$;
SELECT set_config('batch_work.most', (used() + 5000000)::text, false) <> '' AS set;
SELECT count(*) FROM simhash_find_duplicates('watched_fp', 10, keep => 'batch_work_test.watch(id)');

--
-- Arrays as plpgsql keeps them, and as tables store them
--

DO $$
DECLARE
	fps simhash[];
BEGIN
	FOR i IN 0 .. 999 LOOP
		fps[i] := CASE WHEN i % 5 > 0 THEN (i / 10)::simhash END;
	END LOOP;
	fps[17] := 1 << 20;
	RAISE WARNING '% pairs, % members',
		(SELECT count(*) FROM simhash_find_all_in(fps, 1)), (SELECT count(*) FROM simhash_find_clusters_in(fps, 1));
END $$;
CREATE TABLE stored (how text, fps simhash[]);
INSERT INTO stored SELECT how, array_agg(CASE WHEN i % 5 > 0 THEN i / 10 END)
FROM generate_series(0, 49999) i, unnest('{plain,compressed}'::text[]) how GROUP BY how;
SELECT how, (SELECT count(*) FROM simhash_find_all_in(fps, 1)) FROM stored ORDER BY how;

-- values of columns before the fingerprint that are very long: never those of many
-- rows, not even at first
CREATE TABLE very_long (id int, fp simhash);
INSERT INTO very_long SELECT i, i FROM generate_series(1, 2000) i, generate_series(1, 2);
-- a column that tells what is remembered when it is computed
CREATE FUNCTION long_name(id int) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
	remembered bigint := (SELECT sum(total_bytes) FROM pg_backend_memory_contexts WHERE name = 'simhash values');
BEGIN
	IF remembered > 8000000 THEN
		RAISE 'the values of too many rows are remembered';
	END IF;
	RETURN repeat(md5(id::text), 1000);
END $$;
CREATE INDEX very_long_fp ON very_long USING simhash (long_name(id), fp);
SET maintenance_work_mem = '1MB';
SELECT count(*), sum(distance) FROM simhash_find_all('very_long_fp');
RESET maintenance_work_mem;

DROP SCHEMA batch_work_test CASCADE;
