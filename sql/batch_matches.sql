--
-- Pairs between two indexes, and between an array and an index: the same ones as by
-- brute force
--
\pset format unaligned
\pset footer off
CREATE SCHEMA batch_matches_test;
SET search_path = batch_matches_test, public; SET max_parallel_workers_per_gather = 0; SET client_min_messages = warning;
\set SHOW_CONTEXT never
\pset null (none)

-- pairs of rows that must be found
CREATE TABLE near (a int, b int, d int);

-- Note all pairs of a row of one table and one of another within a radius.
CREATE PROCEDURE expect(a regclass, b regclass, radius int)
LANGUAGE plpgsql AS $$
BEGIN
	DELETE FROM near;
	EXECUTE format('WITH a AS MATERIALIZED (SELECT id, fp::bigint AS h FROM %s),
		b AS MATERIALIZED (SELECT id, fp::bigint AS h FROM %s)
		INSERT INTO near SELECT a.id, b.id, distance(a.h, b.h) FROM a, b WHERE distance(a.h, b.h) <= %s', a, b, radius);
	ANALYZE near;
END $$;

-- Compare what is found between two indexes with near: null if they agree.
CREATE FUNCTION wrong(a regclass, b regclass, a_index regclass, b_index regclass, radius int) RETURNS text
LANGUAGE sql AS $$
	SELECT format('%s, %s, distance %s: ', a_index, b_index, radius) || difference(
		format('SELECT x.id, y.id, f.distance, (f.a_fp = x.fp AND f.b_fp = y.fp) IS TRUE
			FROM simhash_find_matches(%L, %L, %s) f
				LEFT JOIN %s x ON x.ctid = f.a AND x.tableoid = f.a_table
				LEFT JOIN %s y ON y.ctid = f.b AND y.tableoid = f.b_table', a_index, b_index, radius, a, b),
		format('SELECT a, b, d, true FROM near WHERE d <= %s', radius))
$$;

-- The same between the values of a table, some twice, with nulls, and an index.
CREATE FUNCTION wrong_values(a regclass, b regclass, b_index regclass, radius int) RETURNS text LANGUAGE sql AS $$
	SELECT format('values, %s, distance %s: ', b_index, radius) || difference(
		format('SELECT f.query, y.id, f.distance, (f.b_fp = y.fp) IS TRUE
			FROM simhash_find_matches_in(
					%L, (SELECT array_agg(fp) || array_agg(fp) FILTER (WHERE id %% 3 = 0) FROM %s), %s) f
				LEFT JOIN %s y ON y.ctid = f.b AND y.tableoid = f.b_table', b_index, a, radius, b),
		format('SELECT DISTINCT x.fp, b, d, true FROM near JOIN %s x ON x.id = a WHERE d <= %s', a, radius))
$$;

-- schemes of both sides: the same, another, one that suits no distance but 0
CREATE TABLE schemes (a_blocks int, a_distance int, b_blocks int, b_distance int);
INSERT INTO schemes VALUES (4, 3, 4, 3), (4, 3, 6, 3), (10, 5, 4, 3), (1, 0, 4, 3), (5, 2, 16, 1), (7, 6, 7, 6);

-- Compare two tables by indexes of all schemes, in both directions, and the values of
-- one with the index of the other: how many comparisons, and the wrong ones.
CREATE FUNCTION compare(a regclass, b regclass, radii int[], OUT a_scheme text, OUT b_scheme text,
	OUT comparisons bigint, OUT wrong text)
RETURNS SETOF record LANGUAGE plpgsql AS $$
DECLARE
	s schemes;
BEGIN
	FOR s IN TABLE schemes LOOP
		a_scheme := format('(%s,%s)', s.a_blocks, s.a_distance);
		b_scheme := format('(%s,%s)', s.b_blocks, s.b_distance);
		EXECUTE format('CREATE INDEX a_fp ON %s USING simhash (fp) WITH (blocks = %s, distance = %s)',
					   a, s.a_blocks, s.a_distance);
		EXECUTE format('CREATE INDEX b_fp ON %s USING simhash (fp) WITH (blocks = %s, distance = %s)',
					   b, s.b_blocks, s.b_distance);
		SELECT count(w) + count(*) FILTER (WHERE w IS NULL), string_agg(w, '; ') INTO comparisons, wrong
		FROM unnest(radii) r,
			LATERAL (SELECT wrong(a, b, 'a_fp', 'b_fp', r) AS w UNION ALL SELECT wrong_values(a, b, 'b_fp', r)) c;
		RETURN NEXT;
		DROP INDEX a_fp, b_fp;
	END LOOP;
END $$;

--
-- Small ones, to read
--
CREATE TABLE corpus (id int, fp simhash);
CREATE TABLE staging (id int, fp simhash);
INSERT INTO corpus VALUES (1, 0), (2, 255), (3, 255), (4, 65535), (5, NULL), (6, -1);
INSERT INTO staging VALUES (1, 1), (2, 254), (3, 255), (4, 1048575), (5, NULL), (6, -1);
CREATE INDEX corpus_fp ON corpus USING simhash (fp);
CREATE INDEX staging_fp ON staging USING simhash (fp);
SELECT x.id AS staging, y.id AS corpus, a_fp, b_fp, distance, a_table, b_table
FROM simhash_find_matches('staging_fp', 'corpus_fp') JOIN staging x ON x.ctid = a JOIN corpus y ON y.ctid = b
ORDER BY 1, 2;
SELECT x.id AS staging, y.id AS corpus, distance
FROM simhash_find_matches('staging_fp', 'corpus_fp', 0) JOIN staging x ON x.ctid = a JOIN corpus y ON y.ctid = b
ORDER BY 1, 2;
SELECT a_fp, b_fp, distance FROM simhash_find_matches('corpus_fp', 'staging_fp', 4) ORDER BY 1, 2;
SELECT count(*) FROM simhash_find_matches('corpus_fp', 'staging_fp', 64);
-- each different value once
SELECT query, id, b_fp, distance, b_table
FROM simhash_find_matches_in('corpus_fp', '{1, 254, NULL, 254, 0xFFFF}') JOIN corpus ON ctid = b ORDER BY 1, 2;
SELECT query, b_fp FROM simhash_find_matches_in('corpus_fp', '{{7}, {65535}}', 0);

-- nothing on a side, or nothing but nulls
SELECT * FROM rows_of($$SELECT * FROM simhash_find_matches_in('corpus_fp', '{}')$$,
	$$SELECT * FROM simhash_find_matches_in('corpus_fp', '{NULL}', 64)$$,
	$$SELECT * FROM simhash_find_matches_in('corpus_fp', NULL)$$,
	$$SELECT * FROM simhash_find_matches_in(NULL, '{1}')$$,
	$$SELECT * FROM simhash_find_matches(NULL, 'corpus_fp')$$,
	$$SELECT * FROM simhash_find_matches('corpus_fp', NULL)$$);
CREATE TABLE nothing (id int, fp simhash);
CREATE INDEX nothing_fp ON nothing USING simhash (fp);
SELECT * FROM rows_of($$SELECT * FROM simhash_find_matches('nothing_fp', 'corpus_fp')$$,
	$$SELECT * FROM simhash_find_matches('corpus_fp', 'nothing_fp', 64)$$,
	$$SELECT * FROM simhash_find_matches_in('nothing_fp', '{1}')$$);
INSERT INTO nothing VALUES (1, NULL);
SELECT * FROM simhash_find_matches('nothing_fp', 'corpus_fp', 64);

-- the distance is that of both indexes
CREATE INDEX corpus_wide ON corpus USING simhash (fp) WITH (blocks = 7, distance = 6);
SELECT max(distance) FROM simhash_find_matches('staging_fp', 'corpus_wide')
UNION ALL SELECT max(distance) FROM simhash_find_matches('corpus_wide', 'staging_fp');
SELECT max(distance) FROM simhash_find_matches_in('corpus_wide', '{15}');

-- two indexes of one table: each row with itself, and each pair in both directions
CREATE INDEX corpus_too ON corpus USING simhash (fp);
SELECT x.id AS a, y.id AS b, distance
FROM simhash_find_matches('corpus_fp', 'corpus_too') JOIN corpus x ON x.ctid = a JOIN corpus y ON y.ctid = b
ORDER BY 1, 2;

-- errors
SELECT * FROM simhash_find_matches('corpus_fp', 'corpus_fp');
SELECT * FROM simhash_find_matches('corpus_fp', 'staging');
SELECT * FROM simhash_find_matches('corpus', 'staging_fp');
SELECT * FROM simhash_find_matches('corpus_fp', 'staging_fp', 65);
SELECT * FROM simhash_find_matches('corpus_fp', 'staging_fp', -1);
SELECT * FROM simhash_find_matches_in('staging', '{1}');
SELECT * FROM simhash_find_matches_in('staging_fp', '{1}', 65);

--
-- What libraries have as "find first" and "find all", of one query or of many: an
-- answer for each query, in its place, also where queries repeat or nothing is near
--
CREATE TABLE stored (id int, fp simhash);
INSERT INTO stored SELECT i, bits('h' || i) FROM generate_series(1, 20) i;
INSERT INTO stored SELECT 100 + i, flip(bits('h' || i), 1, 'twice') FROM generate_series(1, 3) i;
CREATE INDEX stored_fp ON stored USING simhash (fp) WITH (blocks = 6, distance = 3);
CREATE TEMPORARY TABLE asked AS
SELECT n, flip(bits('h' || i), i % 5, 'q' || i)::simhash AS query
FROM unnest('{1,2,3,4,5,6,7,8,9,2,30}'::int[]) WITH ORDINALITY a(i, n);
SELECT n, stored.id, f.distance
FROM asked LEFT JOIN (
	SELECT DISTINCT ON (query) * FROM simhash_find_matches_in('stored_fp', ARRAY(SELECT query FROM asked))
	ORDER BY query, distance, b
) f USING (query) LEFT JOIN stored ON stored.ctid = f.b
ORDER BY n;
SELECT n, array_agg(stored.id ORDER BY f.distance, stored.id) FILTER (WHERE stored.id IS NOT NULL) AS ids
FROM asked LEFT JOIN simhash_find_matches_in('stored_fp', ARRAY(SELECT query FROM asked)) f USING (query)
	LEFT JOIN stored ON stored.ctid = f.b
GROUP BY n ORDER BY n;

--
-- Many kinds at once
--

-- Row i of each side: random, near what the other side has, equal in all but 16
-- bits, in all but the first block or in that alone, many times the same, null.
CREATE FUNCTION mixed(i int, side text) RETURNS simhash LANGUAGE sql IMMUTABLE AS $$
	SELECT CASE i % 10
		WHEN 0 THEN bits(side || i)
		WHEN 1 THEN flip(bits('c' || i / 30), i % 7, side || i)
		WHEN 2 THEN flip(bits('d' || i / 20), i % 3, side || i)
		WHEN 3 THEN (bits('low') & ~65535::bigint) | (bits(side || i) & 65535)
		WHEN 4 THEN (bits('high') & ((1::bigint << 48) - 1)) | (bits(side || i) << 48)
		WHEN 5 THEN (bits(side || i) & ~65535::bigint) | 4711
		WHEN 6 THEN bits('same' || i / 100)
		WHEN 7 THEN flip(bits('few'), i % 5, side || i)
		WHEN 8 THEN flip(0, i % 12, side || i)
		END::simhash
$$;
CREATE TABLE left_mixed AS SELECT i AS id, mixed(i, 'l') AS fp FROM generate_series(1, 500) i;
CREATE TABLE right_mixed AS SELECT i AS id, mixed(i, 'r') AS fp FROM generate_series(1, 700) i;
CALL expect('left_mixed', 'right_mixed', 10);
-- the reference itself: what it finds must not be nothing
SELECT d, count(*) > 20 AS finds FROM near GROUP BY d ORDER BY d;
SELECT * FROM compare('left_mixed', 'right_mixed', '{0,1,2,3,4,6,10}');

-- more than are sorted but once
INSERT INTO right_mixed SELECT i, mixed(i, 'r') FROM generate_series(701, 4500) i;
DELETE FROM left_mixed WHERE id > 300;
CALL expect('left_mixed', 'right_mixed', 10);
SELECT * FROM compare('left_mixed', 'right_mixed', '{0,3,6,10}');

--
-- A few against many: leaves that have nothing to compare are not read
--
CREATE TABLE many (id int, fp simhash);
INSERT INTO many SELECT i, bits('m' || i) FROM generate_series(1, 30000) i;
CREATE INDEX many_fp ON many USING simhash (fp);
-- leaves that were split, and are not sorted; rows that are gone
INSERT INTO many SELECT i, bits('m' || i) FROM generate_series(30001, 40000) i;
DELETE FROM many WHERE id % 7 = 0;
CREATE TABLE few (id int, fp simhash);
INSERT INTO few SELECT i, flip(bits('m' || i * 400), i % 5, 'f' || i) FROM generate_series(1, 99) i;
INSERT INTO few VALUES (100, 0), (101, -1);
CREATE INDEX few_fp ON few USING simhash (fp);
CALL expect('few', 'many', 4);
SELECT * FROM rows_of($$SELECT d, count(*) FROM near GROUP BY d ORDER BY d$$,
	$$SELECT r, wrong('few', 'many', 'few_fp', 'many_fp', r), wrong_values('few', 'many', 'many_fp', r)
FROM unnest('{0,3,4}'::int[]) r$$);
SELECT pages_read('SELECT * FROM simhash_find_matches_in(''many_fp'', ''{1, 2, 3}'')') <
	pg_relation_size('many_fp') / 8192 / 4 AS skips;

--
-- Rows with equal fingerprints: a product
--
TRUNCATE few, many;
INSERT INTO few SELECT i, i / 100 FROM generate_series(1, 300) i;
INSERT INTO many SELECT i, i / 5000 << 2 FROM generate_series(1, 10000) i;
VACUUM many;
DELETE FROM many WHERE id % 2 = 0;
SELECT count(*), count(DISTINCT a), count(DISTINCT b), min(distance), max(distance)
FROM simhash_find_matches('few_fp', 'many_fp');
SELECT query, distance, count(*) FROM simhash_find_matches_in('many_fp', '{0, 0, 4, 255}') GROUP BY 1, 2 ORDER BY 1, 2;

-- more than fit: the rows of a fingerprint are in several chunks
SET maintenance_work_mem = '1MB';
INSERT INTO many SELECT i, 0 FROM generate_series(1, 130000) i;
DELETE FROM few WHERE id > 2;
SELECT count(*) FROM simhash_find_matches('few_fp', 'many_fp');
RESET maintenance_work_mem;
SELECT simhash_index_check('many_fp', true) \gset

--
-- Partitions, on either side
--
CREATE TABLE parts (id int, fp simhash) PARTITION BY RANGE (id);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (0) TO (200);
CREATE TABLE parts_2 PARTITION OF parts FOR VALUES FROM (200) TO (210);
CREATE TABLE parts_3 (fp simhash, id int);
ALTER TABLE parts ATTACH PARTITION parts_3 FOR VALUES FROM (210) TO (10000);
CREATE INDEX parts_fp ON parts USING simhash (fp);
INSERT INTO parts SELECT i, mixed(i, 'p') FROM generate_series(1, 900) i;
CREATE INDEX left_mixed_fp ON left_mixed USING simhash (fp);
CREATE INDEX left_mixed_wide ON left_mixed USING simhash (fp) WITH (blocks = 7, distance = 6);
CALL expect('left_mixed', 'parts', 10);
SELECT r, wrong('left_mixed', 'parts', 'left_mixed_fp', 'parts_fp', r),
	wrong('left_mixed', 'parts', 'left_mixed_wide', 'parts_fp', r),
	wrong_values('left_mixed', 'parts', 'parts_fp', r) FROM unnest('{0,3,6,10}'::int[]) r;
CALL expect('parts', 'left_mixed', 10);
SELECT r, wrong('parts', 'left_mixed', 'parts_fp', 'left_mixed_fp', r) FROM unnest('{0,3,6,10}'::int[]) r;
CREATE TABLE empty_parts (id int, fp simhash) PARTITION BY RANGE (id);
CREATE INDEX empty_parts_fp ON empty_parts USING simhash (fp);
SELECT * FROM rows_of($$SELECT * FROM simhash_find_matches('empty_parts_fp', 'left_mixed_fp')$$,
	$$SELECT * FROM simhash_find_matches('parts_fp', 'empty_parts_fp', 10)$$,
	$$SELECT * FROM simhash_find_matches_in('empty_parts_fp', '{1}')$$);
-- a partition and the whole
SELECT count(*) >= (SELECT count(fp) FROM parts_2) AS itself FROM simhash_find_matches('parts_2_fp_idx', 'parts_fp', 0);

--
-- Who may: who may read both sides
--
CREATE ROLE regress_simhash_matches;
GRANT USAGE ON SCHEMA batch_matches_test TO regress_simhash_matches;
SET ROLE regress_simhash_matches;
SELECT count(*) FROM simhash_find_matches('staging_fp', 'corpus_fp');
SELECT count(*) FROM simhash_find_matches_in('corpus_fp', '{1}');
RESET ROLE;
GRANT SELECT ON staging TO regress_simhash_matches;
SET ROLE regress_simhash_matches;
SELECT count(*) FROM simhash_find_matches('staging_fp', 'corpus_fp');
SELECT count(*) FROM simhash_find_matches('corpus_fp', 'staging_fp');
RESET ROLE;
GRANT SELECT (fp, ctid, tableoid) ON corpus TO regress_simhash_matches;
SET ROLE regress_simhash_matches;
SELECT count(*) FROM simhash_find_matches('staging_fp', 'corpus_fp')
UNION ALL SELECT count(*) FROM simhash_find_matches_in('corpus_fp', '{1}');
RESET ROLE;
ALTER TABLE staging ENABLE ROW LEVEL SECURITY;
SET ROLE regress_simhash_matches;
SELECT count(*) FROM simhash_find_matches('corpus_fp', 'staging_fp');
RESET ROLE;

-- one side needs most of the memory, and the other little
CREATE TABLE same_many (fp simhash);
INSERT INTO same_many SELECT 7 FROM generate_series(1, 80000);
CREATE INDEX same_many_fp ON same_many USING simhash (fp);
CREATE TABLE same_few (fp simhash);
INSERT INTO same_few VALUES (6);
CREATE INDEX same_few_fp ON same_few USING simhash (fp);
SET maintenance_work_mem = '1MB';
SELECT count(*) FROM simhash_find_matches('same_many_fp', 'same_few_fp', 1)
UNION ALL SELECT count(*) FROM simhash_find_matches('same_few_fp', 'same_many_fp', 1)
UNION ALL SELECT count(*) FROM simhash_find_matches_in('same_many_fp', '{6}', 1);
-- a value of an array counts once, though it would fill chunks
SELECT count(*), count(DISTINCT b) FROM simhash_find_matches_in('same_few_fp', array_fill('7'::simhash, ARRAY[100000]), 1);
SELECT count(*), count(DISTINCT b) FROM simhash_find_matches_in('same_few_fp', array_fill('6'::simhash, ARRAY[100000]), 0);
CREATE TABLE wide_many AS SELECT wide(i::text, 128)::simhash_bits(128) AS fp FROM generate_series(1, 20000) i;
CREATE INDEX wide_many_fp ON wide_many USING simhash (fp);
SELECT count(*), count(DISTINCT query) FROM simhash_find_matches_in_bits(
	'wide_many_fp', ARRAY(SELECT fp FROM wide_many, generate_series(1, 5)), 3);
RESET maintenance_work_mem;

DROP SCHEMA batch_matches_test CASCADE;
DROP ROLE regress_simhash_matches;
