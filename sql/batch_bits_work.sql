--
-- Whole tables of wide fingerprints: by parts, in little memory, and what is refused
--
\pset format unaligned
\pset footer off
CREATE SCHEMA batch_bits_work_test;
SET search_path = batch_bits_work_test, public; SET max_parallel_workers_per_gather = 0; SET client_min_messages = warning;
\set SHOW_CONTEXT never

-- the bits of another one from a position on
CREATE FUNCTION patch(fp simhash_bits, other simhash_bits, start int, n int) RETURNS simhash_bits
LANGUAGE sql IMMUTABLE AS $$
	SELECT overlay(fp::varbit PLACING substring(other::varbit FROM start + 1 FOR n) FROM start + 1)::simhash_bits
$$;

--
-- Enough rows for parts to be searched: the same pairs as by comparing all rows
--

-- Random ones and clusters of four; then such as have one of 3 values in all bits but
-- those of one part, so that this part alone is selective; then such as agree in one part
CREATE PROCEDURE make_rows(n int, rows int) LANGUAGE plpgsql AS $$
BEGIN
	DROP TABLE IF EXISTS t, pair;
	EXECUTE format('CREATE TABLE t (id int, tenant int, fp simhash_bits(%s))', n);
	INSERT INTO t
	SELECT i, i % 2, CASE i % 4
			WHEN 0 THEN wide('r' || i, n)
			WHEN 1 THEN flip_wide(wide('c' || i / 16, n), least(n, i % 13 * n / 100), 'f' || i)
			WHEN 2 THEN patch(wide('v' || i / 4 % 3, n), flip_wide(wide('p' || i / 12, n), i % 7, 'g' || i), greatest(n - 64, 0), 64)
			ELSE patch(flip_wide(wide('s' || i / 12, n), i % 11, 'h' || i), wide('v0', n), 0, 64)
		END
	FROM generate_series(1, rows) i;
	CREATE INDEX t_fp ON t USING simhash (fp);
	CREATE INDEX t_tenant ON t USING simhash (tenant, fp);
	CREATE TABLE pair AS SELECT a.ctid AS a, b.ctid AS b, (a.fp <~> b.fp)::int AS distance, a.tenant = b.tenant AS equal
	FROM t a JOIN t b ON a.ctid < b.ctid AND NOT simhash_within(a.fp, b.fp, -1) AND a.fp <~> b.fp <= n / 4 + 8 OFFSET 0;
END $$;
CREATE FUNCTION compare_width(n int, rows int) RETURNS TABLE (bits int, radius int, found boolean, different text)
LANGUAGE plpgsql AS $$
BEGIN
	SET LOCAL enable_indexscan = off;
	SET LOCAL enable_bitmapscan = off;
	CALL make_rows(n, rows);
	RETURN QUERY SELECT n, r, (SELECT count(*) > 100 FROM simhash_find_all('t_fp', r)), coalesce(
		difference(format('SELECT a, b, distance FROM simhash_find_all(''t_fp'', %s)', r),
			format('SELECT a, b, distance FROM pair WHERE distance <= %s', r)),
		difference(format('SELECT a, b, distance FROM simhash_find_all(''t_tenant'', %s)', r),
			format('SELECT a, b, distance FROM pair WHERE distance <= %s AND equal', r)),
		difference(format('SELECT a, b, distance FROM simhash_find_all_in_bits(ARRAY(SELECT fp FROM t), %s)', r),
			format('SELECT DISTINCT least(x.fp, y.fp), greatest(x.fp, y.fp), distance
				FROM pair JOIN t x ON x.ctid = a JOIN t y ON y.ctid = b WHERE distance BETWEEN 1 AND %s', r)),
		difference(format('SELECT query, y.id, distance FROM simhash_find_matches_in_bits(''t_tenant'', ARRAY(SELECT fp FROM t WHERE id %% 5 = 0), %s)
				JOIN t y ON y.ctid = b', r),
			format('SELECT DISTINCT x.fp, y.id, (x.fp <~> y.fp)::int FROM t x JOIN t y ON x.id %% 5 = 0 AND x.fp <~> y.fp <= %s', r)))
	FROM unnest(ARRAY[0, 1, n / 32, n / 12, n / 8 - 1, n / 5, n / 4 + 8]) r;
END $$;
SELECT * FROM compare_width(72, 1200);
SELECT * FROM compare_width(128, 1200);
SELECT * FROM compare_width(256, 1500);
SELECT * FROM compare_width(576, 1200);

--
-- Little memory: a group is searched in chunks
--
CREATE TABLE many (id int, tenant int, fp simhash_bits(128));
INSERT INTO many SELECT i, i / 9000, CASE
		WHEN i <= 11000 THEN flip_wide(wide('m' || i / 2, 128), i % 9, 'm' || i)
		WHEN i <= 15500 THEN wide('d' || i % 40, 128)
		ELSE patch(wide('r' || i, 128), wide('few' || i % 5, 128), 0, 64) END
FROM generate_series(1, 20000) i ORDER BY hashint4(i);
CREATE INDEX many_fp ON many USING simhash (fp);
CREATE INDEX many_tenant ON many USING simhash (tenant, fp);
CREATE TABLE others AS SELECT id, flip_wide(fp, id % 5, 'o') AS fp FROM many WHERE id % 2 = 0;
ALTER TABLE others ALTER fp TYPE simhash_bits(128);
CREATE INDEX others_fp ON others USING simhash (fp);
VACUUM ANALYZE many, others;

CREATE TABLE enough AS
SELECT query, answer_of(query, 0) AS found FROM unnest(ARRAY[
	$$SELECT a, b, distance FROM simhash_find_all('many_fp', 12) WHERE distance > 0$$,
	$$SELECT count(*) FROM simhash_find_all('many_fp', 0)$$,
	$$SELECT a, b, distance FROM simhash_find_all('many_tenant', 8) WHERE distance > 0$$,
	$$SELECT cluster, member, size FROM simhash_find_clusters('many_fp', 12)$$,
	$$SELECT duplicate, keeper, distance FROM simhash_find_duplicates('many_fp', 12, keep => 'id DESC')$$,
	$$SELECT duplicate, keeper, distance FROM simhash_find_duplicates('many_tenant', 12, keep => 'id', same => 'a.id % 3 <> b.id % 3')$$,
	$$SELECT a, b, distance FROM simhash_find_matches('many_fp', 'others_fp', 6) WHERE distance > 2$$,
	$$SELECT * FROM simhash_find_all_in_bits(ARRAY(SELECT fp FROM many), 12)$$,
	$$SELECT * FROM simhash_find_clusters_in_bits(ARRAY(SELECT fp FROM many), 12)$$,
	$$SELECT query, b, distance FROM simhash_find_matches_in_bits('many_fp', ARRAY(SELECT fp FROM others WHERE id % 3 = 0), 6)$$]) query;
SELECT (SELECT count(*) FROM simhash_find_all('many_fp', 0)) AS equal,
	(SELECT sum(n * (n - 1) / 2) FROM (SELECT count(*) AS n FROM many GROUP BY fp) c) AS by_group;
SET maintenance_work_mem = '1MB';
SELECT query, split_part(found, ' ', 1)::int > 0 AS found, 'different' AS different FROM enough
WHERE query !~ 'clusters_in|duplicates' AND answer_of(query, 0) <> found;
-- one row after the other, too
SELECT count(*) = (SELECT split_part(found, ' ', 1)::int FROM enough WHERE query ~ 'many_fp'', 12\) WHERE') AS all
FROM (SELECT simhash_find_all('many_fp', 12) AS p) s WHERE (p).distance > 0;
-- a value counts once, however many chunks and rows there are: 800 of them fit
CREATE TABLE repeated AS SELECT row_number() OVER () AS id, fp FROM (SELECT flip_wide(wide('v' || v, 128), n, 'v') AS fp FROM generate_series(0, 399) v, generate_series(0, 1) n OFFSET 0) s, generate_series(1, 50);
ALTER TABLE repeated ALTER fp TYPE simhash_bits(128);
CREATE INDEX repeated_fp ON repeated USING simhash (fp);
SELECT * FROM (SELECT count(*), count(DISTINCT cluster) FROM simhash_find_clusters('repeated_fp', 1)) a,
	(SELECT count(*) FROM simhash_find_duplicates('repeated_fp', 1)) b;
-- clusters and duplicates need memory for fingerprints that are near others
SELECT state, message ~ 'do not fit into maintenance_work_mem' AS memory FROM attempt($$SELECT FROM simhash_find_clusters_in_bits(ARRAY(SELECT fp FROM many), 12)$$);
SELECT state, message ~ 'do not fit into maintenance_work_mem' AS memory FROM attempt($$SELECT FROM simhash_find_duplicates('many_fp', 12)$$);
SET maintenance_work_mem = '3MB';
SELECT query FROM enough WHERE answer_of(query, 0) <> found;
RESET maintenance_work_mem;

--
-- One value that very many rows have, in one group: the column before it tells what
-- memory is in use when it is computed
--
CREATE TABLE single AS SELECT i AS id, wide('single', 128) AS fp FROM generate_series(1, 100000) i;
ALTER TABLE single ALTER fp TYPE simhash_bits(128);
CREATE FUNCTION used() RETURNS bigint LANGUAGE sql AS 'SELECT sum(total_bytes) FROM pg_catalog.pg_backend_memory_contexts';
CREATE FUNCTION watch(id int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
	IF id % 30000 = 0 AND batch_bits_work_test.used() > current_setting('batch_bits_work.most', true)::bigint THEN
		RAISE 'too much memory is in use';
	END IF;
	RETURN 0;
END $$;
CREATE INDEX single_fp ON single USING simhash (watch(id), fp);
SET maintenance_work_mem = '1MB';
SELECT set_config('batch_bits_work.most', (used() + 6000000)::text, false) <> '' AS set;
SELECT count(*), max(size) FROM simhash_find_clusters('single_fp', 3);
SELECT count(*) FROM simhash_find_duplicates('single_fp', 3);

--
-- Groups that do not quite fit: each is divided by its own size, and not by that of the
-- rest of the table, so there are few files
--
CREATE TABLE grouped AS SELECT i AS id, i / 10000 AS g, decode(md5(i::text), 'hex')::simhash_bits(128) AS fp
FROM generate_series(0, 59999) i;
ALTER TABLE grouped ALTER fp TYPE simhash_bits(128);
CREATE INDEX grouped_fp ON grouped USING simhash (g, fp);
SELECT pg_stat_force_next_flush() \gset
SELECT temp_files AS before FROM pg_stat_database WHERE datname = current_database() \gset
SELECT count(*) FROM simhash_find_all('grouped_fp', 12);
SELECT pg_stat_force_next_flush() \gset
SELECT temp_files - :before BETWEEN 1 AND 30 AS few FROM pg_stat_database WHERE datname = current_database();
RESET maintenance_work_mem;

--
-- Partitions, expressions and some of the rows
--
CREATE TABLE part (id int, fp simhash_bits(72), note text) PARTITION BY HASH (id);
CREATE TABLE part_0 PARTITION OF part FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE part_1 (note text, fp simhash_bits(72), id int);
ALTER TABLE part ATTACH PARTITION part_1 FOR VALUES WITH (MODULUS 2, REMAINDER 1);
CREATE INDEX part_fp ON part USING simhash (fp);
CREATE TABLE plain (id int, fp simhash_bits(72), hex text);
INSERT INTO plain SELECT i, fp, fp FROM generate_series(1, 300) i,
	LATERAL (SELECT flip_wide(wide('p' || i / 10, 72), i % 10, 'p' || i) AS fp) f;
INSERT INTO part SELECT id, fp, 'a note' FROM plain;
CREATE INDEX plain_fp ON plain USING simhash (fp);
CREATE INDEX plain_hex ON plain USING simhash ((hex::simhash_bits(72))) WHERE id % 2 = 0;
CREATE VIEW near_ids AS SELECT a.id AS a, b.id AS b, (a.fp <~> b.fp)::int AS distance FROM plain a JOIN plain b ON a.id < b.id;
SELECT difference($$SELECT least(x.id, y.id), greatest(x.id, y.id), distance FROM simhash_find_all('part_fp', 9)
		JOIN part x ON (x.tableoid, x.ctid) = (a_table, a) JOIN part y ON (y.tableoid, y.ctid) = (b_table, b)$$,
	'SELECT * FROM near_ids WHERE distance <= 9') AS of_partitions,
	difference($$SELECT least(x.id, y.id), greatest(x.id, y.id), distance FROM simhash_find_all('plain_hex', 9)
		JOIN plain x ON x.ctid = a JOIN plain y ON y.ctid = b$$,
	'SELECT * FROM near_ids WHERE distance <= 9 AND a % 2 = 0 AND b % 2 = 0') AS of_some,
	difference($$SELECT x.id, y.id, distance FROM simhash_find_matches('part_fp', 'plain_hex', 9)
		JOIN part x ON (x.tableoid, x.ctid) = (a_table, a) JOIN plain y ON y.ctid = b$$,
	'SELECT x.id, y.id, (x.fp <~> y.fp)::int FROM part x JOIN plain y ON y.id % 2 = 0 AND x.fp <~> y.fp <= 9') AS of_both;
SELECT difference($$SELECT x.id, y.id, distance FROM simhash_find_duplicates('part_fp', 9, keep => 'id', same => 'a.note = b.note')
		JOIN part x ON (x.tableoid, x.ctid) = (duplicate_table, duplicate)
		JOIN part y ON (y.tableoid, y.ctid) = (keeper_table, keeper)$$,
	$$SELECT x.id, y.id, distance FROM simhash_find_duplicates('plain_fp', 9, keep => 'id')
		JOIN plain x ON x.ctid = duplicate JOIN plain y ON y.ctid = keeper$$) AS of_partitions;
-- the default of a partitioned index
SELECT (SELECT count(*) FROM simhash_find_all('part_fp')) = (SELECT count(*) FROM near_ids WHERE distance <= 5) AS default;
-- nothing to find
CREATE TABLE empty (fp simhash_bits(256));
CREATE INDEX empty_fp ON empty USING simhash (fp);
SELECT count(*) FROM simhash_find_all('empty_fp');
INSERT INTO empty VALUES (NULL), (NULL), (wide('one', 256));
SELECT (SELECT count(*) FROM simhash_find_all('empty_fp', 256)), (SELECT count(*) FROM simhash_find_duplicates('empty_fp', 0)),
	(SELECT count(*) FROM simhash_find_clusters('empty_fp', 0));

--
-- Bad input
--
CREATE TABLE narrow (fp simhash);
CREATE INDEX narrow_fp ON narrow USING simhash (fp);
CREATE TABLE wide_64 (fp simhash_bits(64));
CREATE INDEX wide_64_fp ON wide_64 USING simhash (fp);
SELECT * FROM attempt($$SELECT FROM simhash_find_matches('plain_fp', 'empty_fp')$$);
SELECT * FROM attempt($$SELECT FROM simhash_find_matches('empty_fp', 'narrow_fp')$$);
SELECT * FROM attempt($$SELECT FROM simhash_find_matches('narrow_fp', 'wide_64_fp')$$);
SELECT state, message FROM attempt($$SELECT FROM simhash_find_matches('plain_fp', 'plain_fp')$$);
SELECT * FROM attempt($$SELECT FROM simhash_find_matches_in_bits('empty_fp', ARRAY[wide('a', 128)], 3)$$);
SELECT * FROM attempt($$SELECT FROM simhash_find_matches_in_bits('narrow_fp', ARRAY[wide('a', 64)], 3)$$);
-- the type is checked before the elements are read
SELECT * FROM attempt($$SELECT FROM simhash_find_matches_in_bits('narrow_fp', ARRAY[wide('a', 64), wide('a', 72)], 3)$$);
SELECT * FROM attempt($$SELECT FROM simhash_find_matches_in('empty_fp', '{1}'::simhash[], 3)$$);
SELECT * FROM attempt($$SELECT FROM simhash_find_all_in_bits(ARRAY[wide('a', 128), NULL, wide('a', 136)], 3)$$);
SELECT * FROM attempt($$SELECT FROM simhash_find_all('empty_fp', 257)$$);
SELECT state, message FROM attempt($$SELECT FROM simhash_find_duplicates('empty_fp', -1)$$)
UNION ALL SELECT state, message FROM attempt($$SELECT FROM simhash_find_clusters_in_bits(ARRAY[wide('a', 128)], 129)$$);
SELECT state, message FROM attempt($$SELECT FROM simhash_find_duplicates('empty_fp', 3, keep => 'nothing')$$);
-- nulls, and nothing
SELECT * FROM rows_of(
	$$SELECT * FROM simhash_find_all_in_bits(ARRAY['00', NULL, '01', '01', 'f0']::simhash_bits[], 1)$$,
	$$SELECT * FROM simhash_find_clusters_in_bits(ARRAY['f0', '00', NULL, 'f1', '01', '03', '3c']::simhash_bits[], 1)$$);
SELECT count(*) FROM simhash_find_all_in_bits(ARRAY[NULL]::simhash_bits[], 1)
UNION ALL SELECT count(*) FROM simhash_find_all_in_bits('{}'::simhash_bits[], 1)
UNION ALL SELECT count(*) FROM simhash_find_all_in_bits(NULL::simhash_bits[], NULL)
UNION ALL SELECT count(*) FROM simhash_find_matches_in_bits('empty_fp', ARRAY[NULL]::simhash_bits[], 1);
-- literals without a type are still of type simhash[]
SELECT * FROM simhash_find_all_in('{0,1}')
UNION ALL SELECT * FROM simhash_find_all_in('{0,1}', 2);
SELECT * FROM simhash_find_clusters_in('{0,1}', 2);
SELECT count(*) FROM simhash_find_matches_in('narrow_fp', '{0,1}', 2);

-- Equal rows in different chunks: of those that are kept and the same as a row, the first
-- one is its keeper, wherever it is stored.
CREATE TABLE far_apart (id int, fp simhash_bits(4096));
INSERT INTO far_apart SELECT CASE i WHEN 1 THEN 3 WHEN 2 THEN 2 WHEN 2100 THEN 1 ELSE i END,
	wide(CASE WHEN i IN (1, 2, 2100) THEN 'equal' ELSE i::text END, 4096) FROM generate_series(1, 2100) i;
CREATE INDEX far_apart_fp ON far_apart USING simhash (fp);
SET maintenance_work_mem = '1MB';
SELECT d.id AS duplicate, k.id AS keeper, distance
FROM simhash_find_duplicates('far_apart_fp', 3, keep => 'id', same => 'a.id = 3') f
	JOIN far_apart d ON d.ctid = f.duplicate JOIN far_apart k ON k.ctid = f.keeper;
RESET maintenance_work_mem;

-- a wrong list or condition is told before anything is read
SELECT pages_read($$SELECT state, message FROM attempt('SELECT FROM simhash_find_duplicates(''far_apart_fp'', 3, keep => ''nothing'')')$$) * 10
		< pages_read($$SELECT count(*) FROM simhash_find_duplicates('far_apart_fp', 3)$$) AS keep,
	pages_read($$SELECT state, message FROM attempt('SELECT FROM simhash_find_clusters(''far_apart_fp'', 3, same => ''nothing'')')$$) * 10
		< pages_read($$SELECT count(*) FROM simhash_find_clusters('far_apart_fp', 3)$$) AS same;

DROP SCHEMA batch_bits_work_test CASCADE;
