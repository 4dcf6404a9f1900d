--
-- ORDER BY distance where the ball around the query grows by rings: enough rows
-- that this is less than to read a table, and neighbours at every distance
--
-- Brute force, noted once for each query, is the reference.
--
\pset format unaligned
\pset footer off
SET client_min_messages = warning;
CREATE SCHEMA index_order_rings_test;
SET search_path = index_order_rings_test, public; SET max_parallel_workers_per_gather = 0;

-- random ones, clusters, one value that fills many leaves and others that share
-- a block with it
CREATE TABLE docs (id int, fp simhash) WITH (autovacuum_enabled = off);
CREATE FUNCTION rows_between(first int, last int) RETURNS TABLE (id int, fp simhash) LANGUAGE sql AS $$
	SELECT i, CASE WHEN i % 10 < 6 THEN bits('r' || i)
				   WHEN i % 10 < 8 THEN bits('c' ||
				   	i / 500) # (1::bigint << (i % 64)) # (1::bigint << (i / 3 % 64)) # (1::bigint << (i / 7 % 64))
				   WHEN i % 10 < 9 THEN bits('e')
				   ELSE (bits('e') & 65535) | (bits('b' || i) << 16) END
	FROM generate_series(first, last) i
$$;
INSERT INTO docs SELECT * FROM rows_between(1, 250000);
CREATE INDEX docs_fp ON docs USING simhash (fp);
-- leaves that have been split, and are not in order inside
INSERT INTO docs SELECT * FROM rows_between(250001, 300000);
-- entries that lead nowhere
DELETE FROM docs WHERE id % 37 = 0;
VACUUM (ANALYZE) docs;
DELETE FROM docs WHERE id % 41 = 0;

CREATE TABLE query (qno int, fp simhash);
INSERT INTO query
SELECT n, flip(bits('c' || n * 7), n, 'q') FROM generate_series(2, 11) n
UNION ALL
VALUES (20, bits('e')), (21, flip(bits('e'), 5, 'q')), (22, flip(bits('e'), 9, 'q')), (23, 0), (24, bits('nowhere'));
CREATE TABLE counts AS
SELECT qno, distance(docs.fp::bigint, query.fp::bigint) AS d, count(*) AS rows FROM query, docs GROUP BY 1, 2;
CREATE TABLE expected AS
SELECT qno, array_agg(d ORDER BY d) AS d FROM counts, generate_series(1, rows) GROUP BY qno;

-- The nearest n rows of a query, of those that the executor lets pass: 'ok' if
-- each comes once, with the distances of the reference.
CREATE FUNCTION nearest(query query, n int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	statement text := format('SELECT id, fp FROM docs ORDER BY fp <~> %L LIMIT %L', query.fp, n);
	got int[];
	ids bigint;
	want int[];
BEGIN
	IF plan_of(statement) !~ 'Index Scan using docs_fp on docs\n *Order By: ' THEN
		RETURN plan_of(statement);
	END IF;
	EXECUTE format('SELECT array_agg(distance(fp::bigint, %L) ORDER BY place), count(DISTINCT id)
					FROM (SELECT *, row_number() OVER () AS place FROM (%s) s) s',
				   query.fp::bigint, statement) INTO got, ids;
	SELECT d[1:coalesce(n, cardinality(d))] INTO want FROM expected WHERE qno = query.qno;
	RETURN CASE WHEN got IS DISTINCT FROM want THEN format('query %s, limit %s: other distances', query.qno, n)
				WHEN ids <> cardinality(want) THEN format('query %s, limit %s: not each row once', query.qno, n)
				ELSE 'ok' END;
END $$;
SET enable_seqscan = off; SET enable_sort = off;
SELECT nearest(query, n) AS result, count(*)
FROM query, (VALUES (1), (2), (10), (100), (1500), (40000)) v(n)
WHERE n < 10000 OR qno % 4 = 1
GROUP BY 1 ORDER BY 1;
-- what rings come across beyond themselves does not fit in memory
SET work_mem = '64kB';
SELECT nearest(query, n) AS result, count(*)
FROM query, (VALUES (1), (10), (1500), (40000)) v(n)
WHERE n < 10000 OR qno % 4 = 1
GROUP BY 1 ORDER BY 1;
-- to the end, within memory and beyond
SELECT nearest(query, NULL) FROM query WHERE qno = 7;
SET work_mem = '64MB';
SELECT nearest(query, NULL) FROM query WHERE qno = 21;
RESET work_mem;

-- Rescans, some of them in the middle of a ring
SELECT count(*) AS queries, bool_and(got.d = expected.d[1:n]) AS as_expected
FROM query JOIN expected USING (qno), (VALUES (1), (7), (300)) v(n),
	LATERAL (SELECT array_agg(distance(r.fp::bigint, query.fp::bigint)) AS d
			 FROM (SELECT docs.fp FROM docs ORDER BY docs.fp <~> query.fp LIMIT n) r) got;

-- Within a condition that reads too much to be collected, and one that the
-- executor checks
CREATE FUNCTION in_order(q simhash, condition text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	statement text := format('SELECT distance(fp::bigint, %L) AS d FROM docs WHERE %s', q::bigint, condition);
	got int[];
	want int[];
BEGIN
	EXECUTE format('SELECT array_agg(d) FROM (%s ORDER BY fp <~> %L LIMIT 50) s', statement, q) INTO got;
	EXECUTE format('SELECT (array_agg(d ORDER BY d))[1:50] FROM (%s) s', statement) INTO want;
	RETURN got = want;
END $$;
SELECT condition, count(*) AS queries, bool_and(in_order(fp, condition)) AS as_expected
FROM query, (VALUES ('fp <~> 7 <= 31'), ('id % 3 = 0'), ('fp <~> 7 <= 33 AND id % 3 = 0')) v(condition)
WHERE qno IN (4, 8, 21, 24)
GROUP BY 1 ORDER BY 1;

SELECT qno, expected.d[1] AS distance,
	pages_read(format('SELECT id FROM docs ORDER BY fp <~> %L LIMIT 1', fp)) <
	pg_relation_size('docs_fp') / current_setting('block_size')::int / 4 / 4 AS a_part
FROM query JOIN expected USING (qno) WHERE qno BETWEEN 4 AND 8 ORDER BY qno;
-- Leaves are split between the rings of a scan, and entries are removed.  The
-- rows that the cursor's snapshot sees must all come, each once.
CREATE FUNCTION while_written(query query) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	q bigint := query.fp::bigint;
	nearest CURSOR FOR SELECT id, fp FROM docs ORDER BY fp <~> query.fp;
	row record;
	got int[] := '{}';
	ids int[] := '{}';
	want int[];
BEGIN
	want := (SELECT array_agg(d) FROM (SELECT distance(fp::bigint, q) AS d FROM docs ORDER BY d LIMIT 400) s);
	OPEN nearest;
	FOR i IN 1..400 LOOP
		FETCH nearest INTO row;
		got := got || distance(row.fp::bigint, q);
		ids := ids || row.id;
		IF i % 20 = 1 THEN
			INSERT INTO docs
			SELECT 1000000 * query.qno + 1000 * i + n, q # (((1::bigint << (n % 12)) - 1) << (n % 50))
			FROM generate_series(1, 600) n;
			DELETE FROM docs WHERE id = row.id;
		END IF;
	END LOOP;
	CLOSE nearest;
	RETURN CASE WHEN got IS DISTINCT FROM want THEN 'other distances'
				WHEN (SELECT count(DISTINCT id) FROM unnest(ids) id) < 400 THEN 'not each row once'
				ELSE 'ok' END;
END $$;
BEGIN;
SELECT while_written(query) AS result, count(*) FROM query WHERE qno IN (5, 9, 24) GROUP BY 1;
ROLLBACK;

--
-- A crowd near the query: balls and rings take more pages than was expected, and are given up
--
CREATE TABLE crowd (id int, fp simhash);
CREATE INDEX crowd_fp ON crowd USING simhash (fp) WITH (fillfactor = 10);
-- All rows, and the nearest: how many, whether in order, and how many within 4 bits.
CREATE FUNCTION ask_crowd(n int, OUT rows bigint, OUT in_order boolean, OUT near bigint) LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('SELECT count(DISTINCT id), array_agg(d ORDER BY place) = array_agg(d ORDER BY d),
			count(*) FILTER (WHERE d <= 4)
		FROM (SELECT *, row_number() OVER () AS place FROM (SELECT id, distance(fp::bigint, bits(''crowd'')) AS d
			FROM crowd ORDER BY fp <~> bits(''crowd'') LIMIT %L) s) s', n) INTO rows, in_order, near;
END $$;
-- a bit flipped in each of some blocks: where all blocks differ, only a ring finds them
CREATE FUNCTION fill_crowd(near int, blocks int) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
	TRUNCATE crowd;
	INSERT INTO crowd SELECT i, CASE WHEN i > near THEN bits('r' || i)
		ELSE bits('crowd') # (1::bigint << (i % 16)) # (1::bigint << (i / 16 % 16 + 16)) # (1::bigint << (i / 256 % 16 + 32))
			# CASE WHEN blocks = 4 THEN 1::bigint << (i / 4096 % 16 + 48) ELSE 0 END END
	FROM generate_series(1, 40000) i;
	REINDEX INDEX crowd_fp;
	RETURN (SELECT count(*) FROM crowd WHERE distance(fp::bigint, bits('crowd')) <= 4);
END $$;
SELECT plan('SELECT id FROM crowd ORDER BY fp <~> bits(''crowd'')');
SELECT * FROM rows_of($$SELECT fill_crowd(30000, 3)$$,
	$$SELECT n, s.* FROM unnest('{10,40000}'::int[]) n, ask_crowd(n) s$$, $$SELECT fill_crowd(30000, 4)$$,
	$$SELECT n, s.* FROM unnest('{10,40000}'::int[]) n, ask_crowd(n) s$$);
-- the ring would do, but does not fit in memory
SELECT fill_crowd(8000, 4);
SET work_mem = '64kB';
SELECT n, s.* FROM unnest('{10,40000}'::int[]) n, ask_crowd(n) s;
RESET work_mem;

SELECT simhash_index_check('docs_fp', true) \gset

-- another scheme, whose tables are searched for longer prefixes
DROP INDEX docs_fp;
CREATE INDEX docs_fp ON docs USING simhash (fp) WITH (blocks = 2, distance = 1);
SELECT nearest(query, n) AS result, count(*)
FROM query, (VALUES (1), (100), (3000)) v(n)
GROUP BY 1 ORDER BY 1;

DROP SCHEMA index_order_rings_test CASCADE;
