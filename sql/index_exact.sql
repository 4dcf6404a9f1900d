--
-- The index access method: the same rows with the index and without it.
--
\pset format unaligned
\pset footer off
CREATE SCHEMA index_exact_test;
SET search_path = index_exact_test, public; SET client_min_messages = warning;
SET max_parallel_workers_per_gather = 0;

-- 20,000 rows, at the small size a fifth of these: random ones, clusters, equal in all but one block, all zeros and all
-- ones, many equal ones, nulls
CREATE VIEW mixed_rows AS
SELECT i AS id,
	CASE WHEN i <= 11000 THEN bits('r' || i)
		 WHEN i <= 17000 THEN flip(bits('c' || i / 6), i % 6, 'f' || i)
		 WHEN i <= 17800 THEN (bits('low') & ~65535::bigint) | (bits('l' || i) & 65535)
		 WHEN i <= 18600 THEN (bits('high') & ((1::bigint << 48) - 1)) | (bits('h' || i) << 48)
		 WHEN i <= 19400 THEN bits('e' || i % 2)
		 WHEN i <= 19550 THEN 0
		 WHEN i <= 19700 THEN -1
		 END AS fp
FROM generate_series(1, 20000) i;
CREATE TABLE mixed (id int PRIMARY KEY, fp simhash);
INSERT INTO mixed SELECT * FROM mixed_rows WHERE id % effort(5, 1) = 0;

-- 20,000 rows, 10 distinct values, some of them near one another
CREATE TABLE few (id int PRIMARY KEY, fp simhash);
INSERT INTO few
SELECT i, flip(bits('v' || i % 10 / 3), i % 10 % 3, 'w' || i % 10)
FROM generate_series(1, 20000 / effort(5, 1)) i;

CREATE TABLE radii (r int PRIMARY KEY);
INSERT INTO radii VALUES (-1), (0), (1), (2), (3), (4), (5), (6), (7), (8), (12), (20), (32), (64), (100);

-- stored fingerprints with a few bits inverted, random ones, 0, all ones
CREATE TABLE query (qno int PRIMARY KEY, fp simhash);
INSERT INTO query
VALUES (1, 0), (2, flip(bits('r2'), 3, 'q')), (3, NULL), (4, flip(-1, 2, 'q')), (5, bits('r1')), (6, -1),
	   (7, bits('c2000')), (8, flip(bits('c2500'), 2, 'q')), (9, bits('low')),
	   (10, flip(bits('high'), 1, 'q')), (11, bits('e0')), (12, flip(bits('e1'), 3, 'q')),
	   (13, bits('v0')), (14, flip(bits('v1'), 1, 'q')), (15, bits('nowhere')), (16, 1);

-- Through an index: whether it is sound, and what it finds.
CREATE FUNCTION compare(tab regclass, index regclass) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM simhash_index_check(index, true);
	RETURN compare_lookups(tab, index, literals => true);
END $$;

-- An index that must find in a table what there is.
CREATE PROCEDURE must_be_exact(tab regclass, index regclass) LANGUAGE plpgsql AS $$
BEGIN
	CALL expect_lookups(tab, large => 3);
	CALL must_be_ok(compare(tab, index));
END $$;

--
-- Built over rows
--

CREATE PROCEDURE must_be_exact_with(tab regclass, options text[]) LANGUAGE plpgsql AS $$
DECLARE
	option text;
	answer text;
BEGIN
	CALL expect_lookups(tab, large => 3);
	FOREACH option IN ARRAY options LOOP
		EXECUTE format('CREATE INDEX built ON %s USING simhash (fp) %s', tab, option);
		answer := compare(tab, 'built');
		IF answer IS DISTINCT FROM 'ok' THEN
			RAISE EXCEPTION '%: %', option, answer;
		END IF;
		DROP INDEX built;
	END LOOP;
END $$;
CALL must_be_exact_with('mixed', '{"WITH (blocks = 2, distance = 1)", "", "WITH (blocks = 4, distance = 3)",
	"WITH (blocks = 5, distance = 3)", "WITH (blocks = 6, distance = 3, fillfactor = 100)",
	"WITH (blocks = 8, distance = 3)", "WITH (blocks = 4, distance = 0, fillfactor = 50)",
	"WITH (blocks = 16, distance = 2)", "WITH (blocks = 1, distance = 0)"}');
-- the reference itself: what it finds must not be nothing
SELECT r, sum(n) > 0 AS finds FROM probe GROUP BY r ORDER BY r;
CALL must_be_exact_with('few', '{"WITH (blocks = 2, distance = 1)", "WITH (blocks = 4, distance = 3)",
	"WITH (blocks = 6, distance = 3)", "WITH (blocks = 1, distance = 0)"}');

--
-- Filled, changed and vacuumed after it was created
--

-- What a table goes through, with rows of several sources and indexes of several schemes;
-- after each step the index must still agree.  Equal fingerprints fill many pages; more
-- tables get fewer rows.
CREATE TABLE life (id int, fp simhash);
CREATE VIEW life_steps AS
SELECT s.statement
FROM (VALUES (1, 'mixed', ''), (2, 'mixed', 'WITH (blocks = 2, distance = 1, fillfactor = 100)'),
		(3, 'few', 'WITH (blocks = 4, distance = 3)'),
		(4, '(SELECT * FROM mixed WHERE id % 10 < 2)', 'WITH (blocks = 6, distance = 3)'),
		(5, '(SELECT * FROM mixed WHERE id % 20 < 2)', 'WITH (blocks = 16, distance = 2)')) source(no, rows, options),
	(VALUES (1, 'CREATE INDEX life_fp ON life USING simhash (fp) %2$s'),
		(2, 'INSERT INTO life SELECT * FROM %s s WHERE id %% 2 = 0'),
		(3, 'INSERT INTO life SELECT * FROM %s s WHERE id %% 2 = 1 ORDER BY fp'),
		(4, 'UPDATE life SET fp = bits(''u'' || id) WHERE id %% 3 = 0'),
		(5, 'UPDATE life SET fp = NULL WHERE id %% 50 = 0'),
		(6, 'DELETE FROM life WHERE id %% 4 = 0 OR fp::bigint = bits(''e0'')'),
		(7, 'VACUUM life'),
		(8, 'INSERT INTO life SELECT id + 100000, fp FROM %s s WHERE id %% 4 = 0'),
		(9, 'DELETE FROM life'),
		(10, 'VACUUM life'),
		(11, 'INSERT INTO life SELECT * FROM %s s'),
		(12, 'VACUUM life'),
		(13, 'TRUNCATE life')) step(no, statement),
	LATERAL (VALUES (1, format(step.statement, rows, options)), (2, 'CALL must_be_exact(''life'', ''life_fp'')'),
		(3, CASE step.no WHEN 13 THEN 'DROP INDEX life_fp' END)) s(part, statement)
ORDER BY source.no, step.no, part;
SELECT count(statement) FROM life_steps;
\set ECHO none
SELECT statement FROM life_steps \gexec
\set ECHO all
DROP TABLE life;

--
-- Statements that change what they scan
--

INSERT INTO mixed SELECT * FROM mixed_rows WHERE id % effort(5, 1) > 0;

CREATE TABLE life (id int, fp simhash);
INSERT INTO life SELECT * FROM mixed WHERE id % 4 = 0;
CREATE INDEX life_fp ON life USING simhash (fp);
-- makes a plan with life_fp the only choice, or says what it is instead
CREATE FUNCTION change(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	n bigint;
BEGIN
	PERFORM set_config('enable_seqscan', 'off', true),
			set_config('enable_bitmapscan', 'off', true);
	IF strpos(plan_of(statement), 'Index Scan using life_fp') = 0 THEN
		RETURN plan_of(statement);
	END IF;
	EXECUTE statement;
	GET DIAGNOSTICS n = ROW_COUNT;
	RETURN n || ' rows';
END $$;
SELECT change(statement) FROM (VALUES
	(1, 'INSERT INTO life SELECT id + 100000, fp FROM life WHERE fp <~> 0 <= 40'),
	(2, 'UPDATE life SET fp = fp::bigint # 1 WHERE fp <~> 0 <= 40'),
	(3, 'UPDATE life SET id = id + 1 WHERE fp <~> -1 <= 40'),
	(4, 'DELETE FROM life USING query q WHERE life.fp <~> q.fp <= 5 AND q.qno > 4')) v(no, statement);
CALL must_be_exact('life', 'life_fp');
-- undone together with the changes of the index itself
BEGIN;
TRUNCATE life;
INSERT INTO life SELECT * FROM mixed WHERE id % 4 = 1;
SAVEPOINT s;
ALTER INDEX life_fp SET (blocks = 5);
REINDEX INDEX life_fp;
INSERT INTO life SELECT * FROM mixed WHERE id % 4 = 2;
CALL must_be_exact('life', 'life_fp');
ROLLBACK TO s;
CALL must_be_exact('life', 'life_fp');
ROLLBACK;
CALL must_be_ok(compare('life', 'life_fp'));
DROP TABLE life;

--
-- Exclusion constraints
--

CREATE TABLE x (id int, fp simhash, EXCLUDE USING simhash (fp WITH %));
INSERT INTO x VALUES (1, 0), (2, 15), (3, NULL), (4, NULL);
INSERT INTO x VALUES (5, 7);
INSERT INTO x VALUES (5, 7), (6, 255), (7, 254) ON CONFLICT DO NOTHING;
UPDATE x SET fp = fp::bigint # 1 WHERE id = 2;
UPDATE x SET fp = 1 WHERE id = 2;
INSERT INTO x SELECT id + 100, fp FROM mixed WHERE id <= 18000 ON CONFLICT DO NOTHING;
SELECT id, hex(fp) FROM x WHERE id < 10 ORDER BY id;
-- no two are near each other, and no row was refused without a reason
SELECT count(*) FROM x a JOIN x b ON a.fp % b.fp AND a.ctid < b.ctid
UNION ALL SELECT count(*) FROM x a JOIN x b ON distance(a.fp::bigint, b.fp::bigint) <= 3 AND a.ctid <> b.ctid
WHERE a.id % 100 = 0;
SELECT count(*) > 0 AS refused, bool_and(EXISTS (SELECT FROM x WHERE x.fp % m.fp)) AS with_reason
FROM mixed m WHERE id <= 18000 AND fp IS NOT NULL AND NOT EXISTS (SELECT FROM x WHERE x.id = m.id + 100);
SELECT simhash_index_check('x_fp_excl', true) \gset
ALTER TABLE x ADD EXCLUDE USING simhash (fp WITH =) WITH (blocks = 6) DEFERRABLE INITIALLY DEFERRED;
\set VERBOSITY sqlstate
ALTER TABLE x ADD EXCLUDE USING simhash (fp WITH <~>);
\set VERBOSITY default
DROP TABLE x;

--
-- Other conditions
--

CREATE INDEX mixed_fp ON mixed USING simhash (fp);
CREATE FUNCTION through_index(condition text, form text DEFAULT 'indexscan')
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	statement text := 'SELECT count(*), sum(hashint8extended(id, 1)) FROM mixed WHERE ' || condition;
	plan text;
	plain record;
	indexed record;
BEGIN
	PERFORM set_config('enable_indexscan', 'off', true),
			set_config('enable_bitmapscan', 'off', true);
	IF plan_of(statement) LIKE '%Index%' THEN
		RAISE EXCEPTION 'no sequential scan' USING DETAIL = plan_of(statement);
	END IF;
	EXECUTE statement INTO plain;
	PERFORM set_config('enable_' || form, 'on', true),
			set_config('enable_seqscan', 'off', true);
	plan := plan_of(statement);
	EXECUTE statement INTO indexed;
	PERFORM set_config('enable_' || form, 'off', true),
			set_config('enable_seqscan', 'on', true);
	RETURN format('%s rows, %s, %s', indexed.count,
				  CASE WHEN plain IS NOT DISTINCT FROM indexed THEN 'agrees'
					   ELSE format('SEQUENTIAL SCAN FINDS %s', plain.count) END,
				  coalesce(substring(plan FROM 'Bitmap Index Scan on mixed_fp|Index Scan using mixed_fp'), 'no index'));
END $$;
SELECT condition, form, through_index(condition, form)
FROM (VALUES
	(1, 'fp IS NULL'),
	(2, 'fp IS NOT NULL'),
	(3, 'fp IS NULL AND fp = 0'),
	(4, 'fp IS NOT NULL AND fp <~> 0 <= 3'),
	(5, 'fp = 0'),
	(6, 'fp = -1'),
	(7, 'fp = 1'),
	(8, 'fp = bits(''r7'')'),
	(9, 'fp % 0'),
	(10, 'fp % bits(''c2000'')'),
	(11, 'bits(''c2000'')::simhash % fp'),
	(12, 'fp <@ simhash_ball(bits(''c2000''), 6)'),
	(13, 'simhash_ball(bits(''c2000''), 6) @> fp'),
	(14, 'fp <@ simhash_ball(bits(''c2000''), 64)'),
	(15, 'fp <@ simhash_ball(bits(''c2000''), -1)'),
	(16, 'fp <@ NULL::simhash_ball'),
	(17, 'fp <~> 0 <= 5 AND fp <~> 7 <= 3'),
	(18, 'fp <~> 0 <= 5 AND fp % 7 AND fp IS NOT NULL AND fp = 0'),
	(19, 'fp <~> 0 <= 3 AND fp <~> -1 <= 3'),
	(20, 'fp <~> 0 = 0'),
	(21, 'fp % 0 OR fp % -1'),
	(22, 'fp = ANY (ARRAY[0, -1]::simhash[])')
	) c(no, condition),
	(VALUES ('indexscan'), ('bitmapscan')) f(form)
-- the last ones need bitmaps
WHERE no <= 20 OR form = 'bitmapscan'
ORDER BY form DESC, no;

-- rescans of one scan with and without null keys
SET enable_seqscan = off;
SELECT q.i, (SELECT count(*) FROM mixed WHERE fp = q.fp),
	(SELECT count(*) FROM mixed WHERE fp <~> q.fp <= q.r)
FROM (VALUES (1, 0, 0), (2, NULL, 3), (3, -1, NULL), (4, -1, 3), (5, NULL, NULL), (6, 0, 64)) q(i, fp, r)
ORDER BY i;
RESET enable_seqscan;

-- a cursor that goes back and forth
BEGIN;
SET LOCAL enable_seqscan = off;
DECLARE c SCROLL CURSOR FOR SELECT id, fp FROM mixed WHERE fp = bits('r7');
FETCH ALL c;
FETCH BACKWARD ALL c;
FETCH FIRST c;
FETCH NEXT c;
COMMIT;

--
-- The find-all examples of simhash-py, for blocks 4 to 9
--

CREATE TABLE vector AS SELECT * FROM library_examples();
CREATE TABLE vector_pair (example text, a simhash, b simhash, PRIMARY KEY (example, a, b));
INSERT INTO vector_pair SELECT * FROM library_pairs();

CREATE FUNCTION check_vectors(blocks int) RETURNS TABLE (example text, pairs bigint, missing bigint, wrong bigint)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
	statement text := 'SELECT a.example, a.fp AS a, b.fp AS b FROM vector a JOIN vector b
		ON b.fp <~> a.fp <= 3 WHERE a.example = b.example AND a.fp < b.fp';
BEGIN
	EXECUTE format('CREATE INDEX vector_fp ON vector USING simhash (fp) WITH (blocks = %s, distance = 3)', blocks);
	PERFORM set_config('enable_seqscan', 'off', true),
			set_config('enable_bitmapscan', 'off', true),
			set_config('enable_hashjoin', 'off', true),
			set_config('enable_mergejoin', 'off', true);
	IF plan_of(statement) NOT LIKE '%Index Scan using vector_fp on vector b%' THEN
		RAISE EXCEPTION 'the join does not use the index' USING DETAIL = plan_of(statement);
	END IF;
	RETURN QUERY EXECUTE format(
		'SELECT example, count(f.a), count(*) FILTER (WHERE f.a IS NULL), count(f.a) FILTER (WHERE v IS NULL)
		 FROM (%s) f FULL JOIN (SELECT true AS v, * FROM vector_pair) v USING (example, a, b)
		 GROUP BY example ORDER BY example', statement);
	PERFORM set_config('enable_seqscan', 'on', true);
	DROP INDEX vector_fp;
END $$;
SELECT blocks, v.* FROM generate_series(4, 9) blocks, check_vectors(blocks) v;

--
-- Options
--

CREATE TABLE o (id int, fp simhash, other simhash, h bigint);
INSERT INTO o SELECT i, bits('o' || i), bits('p' || i), bits('o' || i) FROM generate_series(1, 2000) i;
\set VERBOSITY default
CREATE INDEX ON o USING simhash (fp) WITH (blocks = 0);
CREATE INDEX ON o USING simhash (fp) WITH (blocks = 1);
CREATE INDEX ON o USING simhash (fp) WITH (blocks = 17);
CREATE INDEX ON o USING simhash (fp) WITH (blocks = -4);
CREATE INDEX ON o USING simhash (fp) WITH (blocks = 'many');
CREATE INDEX ON o USING simhash (fp) WITH (distance = -1);
CREATE INDEX ON o USING simhash (fp) WITH (distance = 4);
CREATE INDEX ON o USING simhash (fp) WITH (blocks = 3);
CREATE INDEX ON o USING simhash (fp) WITH (blocks = 3, distance = 3);
CREATE INDEX ON o USING simhash (fp) WITH (blocks = 4, distance = 16);
CREATE INDEX ON o USING simhash (fp) WITH (blocks = 12, distance = 6);
CREATE INDEX ON o USING simhash (fp) WITH (fillfactor = 5);
CREATE INDEX ON o USING simhash (fp) WITH (fillfactor = 101);
CREATE INDEX ON o USING simhash (fp) WITH (tables = 4);
-- what the access method does not do
CREATE UNIQUE INDEX ON o USING simhash (fp);
CREATE INDEX ON o USING simhash (fp) INCLUDE (id);
SELECT message FROM attempt('CREATE INDEX ON o USING simhash (fp DESC)');
SELECT message FROM attempt('CREATE INDEX ON o USING simhash (fp NULLS FIRST)');
CREATE INDEX ON o USING simhash (id);
CREATE INDEX o_fp ON o USING simhash (fp);
CLUSTER o USING o_fp;
DROP INDEX o_fp;
SELECT count(*) FROM pg_index WHERE indrelid = 'o'::regclass;
-- a bigint is a fingerprint without its sign, so such a column can be indexed
CREATE INDEX o_h ON o USING simhash (h);
SELECT simhash_index_check('o_h', true) \gset
BEGIN;
SET LOCAL enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT count(*) FROM o WHERE h::simhash <~> bits('o77') <= 3;
SELECT id FROM o WHERE h::simhash <~> bits('o77') <= 3;
COMMIT;
DROP INDEX o_h;

-- blocks and distance are those of the last build, whatever was set since
CREATE INDEX o_fp ON o USING simhash (fp);
SELECT count(*) FILTER (WHERE table_no IS NOT NULL) AS tables FROM simhash_index_info('o_fp');
ALTER INDEX o_fp SET (blocks = 5, distance = 2, fillfactor = 70);
SELECT count(*) FILTER (WHERE table_no IS NOT NULL) AS tables FROM simhash_index_info('o_fp');
CALL must_be_exact('o', 'o_fp');
INSERT INTO o SELECT i, bits('o' || i % 3000) FROM generate_series(2001, 4000) i;
CALL must_be_exact('o', 'o_fp');
REINDEX INDEX o_fp;
SELECT count(*) FILTER (WHERE table_no IS NOT NULL) AS tables FROM simhash_index_info('o_fp');
CALL must_be_ok(compare('o', 'o_fp'));
ALTER INDEX o_fp RESET (blocks, distance, fillfactor);
REINDEX INDEX o_fp;
SELECT count(*) FILTER (WHERE table_no IS NOT NULL) AS tables FROM simhash_index_info('o_fp');
-- each is in range, the two together are not; with fewer blocks, fingerprints of more
-- bits could have an index, so only its build knows
ALTER INDEX o_fp SET (blocks = 2);
REINDEX INDEX o_fp;
CALL must_be_ok(compare('o', 'o_fp'));
ALTER INDEX o_fp RESET (blocks);

--
-- Ways to build
--

REINDEX INDEX CONCURRENTLY o_fp;
CALL must_be_ok(compare('o', 'o_fp'));
CREATE INDEX CONCURRENTLY o_concurrently ON o USING simhash (fp) WITH (blocks = 6);
DROP INDEX o_fp;
CALL must_be_ok(compare('o', 'o_concurrently'));
DROP INDEX o_concurrently;
CREATE INDEX o_partial ON o USING simhash (fp) WHERE id % 2 = 0;
SELECT simhash_index_check('o_partial', true) \gset
UPDATE o SET id = id + 1 WHERE id % 4 = 0;
VACUUM o;
SELECT simhash_index_check('o_partial', true) \gset
BEGIN;
SET LOCAL enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT count(*) FROM o WHERE fp <~> bits('o78') <= 3 AND id % 2 = 0;
SELECT id FROM o WHERE fp <~> bits('o78') <= 3 AND id % 2 = 0 ORDER BY id;
COMMIT;
DROP TABLE o;

CREATE UNLOGGED TABLE u (id int, fp simhash);
CREATE INDEX u_fp ON u USING simhash (fp);
INSERT INTO u TABLE mixed;
CALL must_be_exact('u', 'u_fp');
ALTER TABLE u SET LOGGED;
CALL must_be_ok(compare('u', 'u_fp'));
ALTER TABLE u SET UNLOGGED;
CALL must_be_ok(compare('u', 'u_fp'));
DROP TABLE u;

CREATE TEMPORARY TABLE t (id int, fp simhash) ON COMMIT DELETE ROWS;
CREATE INDEX t_fp ON t USING simhash (fp);
BEGIN;
INSERT INTO t SELECT * FROM mixed WHERE id % 4 = 0;
CALL must_be_exact('t', 't_fp');
COMMIT;
BEGIN;
INSERT INTO t SELECT * FROM mixed WHERE id % 4 = 1;
CALL must_be_exact('t', 't_fp');
ROLLBACK;
CALL must_be_exact('t', 't_fp');
DROP TABLE t;

-- rows of a transaction that rolled back, and of a subtransaction
CREATE TABLE b (id int, fp simhash);
CREATE INDEX b_fp ON b USING simhash (fp);
BEGIN;
INSERT INTO b SELECT * FROM mixed WHERE id % 4 = 0;
ROLLBACK;
BEGIN;
INSERT INTO b SELECT * FROM mixed WHERE id % 4 = 1;
SAVEPOINT s;
INSERT INTO b SELECT * FROM mixed WHERE id % 4 = 2;
ROLLBACK TO s;
INSERT INTO b SELECT * FROM mixed WHERE id % 4 = 3;
COMMIT;
CALL must_be_exact('b', 'b_fp');
VACUUM b;
CALL must_be_ok(compare('b', 'b_fp'));
DROP TABLE b;

-- a build that does not fit into its memory
CREATE TABLE big (id int, fp simhash);
INSERT INTO big SELECT i, CASE WHEN i % 100 > 0 THEN bits('b' || i / 2) END
FROM generate_series(1, effort(50000, 200000)) i;
CREATE INDEX big_fp ON big USING simhash (fp);
CREATE TEMPORARY TABLE info AS SELECT * FROM simhash_index_info('big_fp');
CALL must_be_exact('big', 'big_fp');
DROP INDEX big_fp;
SET maintenance_work_mem = '1MB';
CREATE INDEX big_fp ON big USING simhash (fp);
RESET maintenance_work_mem;
CALL must_be_ok(compare('big', 'big_fp'));
SELECT count(*) AS tables, bool_and(a.entries = b.entries) AS same_entries
FROM info a JOIN simhash_index_info('big_fp') b ON a.table_no IS NOT DISTINCT FROM b.table_no;
DROP TABLE big, info;

--
-- The functions that inspect an index want a simhash index
--

SELECT simhash_index_check('mixed');
SELECT simhash_index_check('mixed_pkey');
SELECT simhash_index_info('mixed');
SELECT simhash_index_info('mixed_pkey');
SELECT simhash_index_check(0);

DROP SCHEMA index_exact_test CASCADE;
