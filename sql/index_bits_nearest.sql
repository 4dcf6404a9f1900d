--
-- Indexes of wide fingerprints: nearest first
--
-- The truth is bit_count() of bit strings (test/brute_force.sql).
--
SET client_min_messages = warning;
CREATE SCHEMA index_bits_nearest_test;
SET search_path = index_bits_nearest_test, public;

-- Rows of n bits: random ones; clusters; equal ones; those that are constant but for one
-- part; those that agree with the first query in one part only; nulls.
CREATE PROCEDURE make_rows(tab text, n int, random int, equal int DEFAULT 60) LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('DROP TABLE IF EXISTS %s; CREATE TABLE %1$s (id int, tenant int, fp simhash_bits(%s))', tab, n);
	EXECUTE format('INSERT INTO %s SELECT i, i %% 4, wide(''r'' || i, %s) FROM generate_series(1, %s) i', tab, n, random);
	EXECUTE format('INSERT INTO %s SELECT 10000 + i, i %% 3, flip_wide(wide(''c'' || i %% 3, %s), least(i / 3, %2$s), ''f'' || i)
		FROM generate_series(0, least(200, 60000 / %2$s)) i', tab, n);
	EXECUTE format('INSERT INTO %s SELECT 20000 + i, 1, wide(''c1'', %s) FROM generate_series(1, %s) i', tab, n, equal);
	EXECUTE format('INSERT INTO %s SELECT 30000 + i, i %% 2,
			(repeat(''00'', %s / 8 - least(8, %2$s / 8)) || left(wide(''p'' || i, 64)::text, least(16, %2$s / 4)))::simhash_bits
		FROM generate_series(1, 90) i', tab, n);
	EXECUTE format('INSERT INTO %s SELECT 31000 + i, i %% 2, overlay(wide(''r'' || 5000 + i, %s)::text
			PLACING substr(wide(''c0'', %2$s)::text, 1 + (i * 16) %% (%2$s / 4), 16) FROM 1 + (i * 16) %% (%2$s / 4))::simhash_bits
		FROM generate_series(1, 60) i WHERE %2$s %% 64 = 0', tab, n);
	EXECUTE format('INSERT INTO %s SELECT 40000 + i, CASE WHEN i %% 2 = 0 THEN 1 END, NULL FROM generate_series(1, 7) i', tab);
END $$;

CREATE PROCEDURE make_queries(n int) LANGUAGE plpgsql AS $$
BEGIN
	DROP TABLE IF EXISTS query;
	EXECUTE format('CREATE TABLE query (qno int, fp simhash_bits(%s))', n);
	INSERT INTO query VALUES (1, wide('c0', n)), (2, wide('c1', n)), (3, repeat('00', n / 8)::simhash_bits),
		(4, wide('new', n)), (5, flip_wide(wide('c2', n), least(20, n), 'q')), (6, wide('r77', n));
END $$;

-- the distances of all rows from each query; null if a fingerprint is
CREATE PROCEDURE expect_distances(tab text) LANGUAGE plpgsql AS $$
BEGIN
	DROP TABLE IF EXISTS expected;
	EXECUTE format('CREATE TABLE expected AS SELECT qno, id, tenant, t.fp, wide_distance(t.fp::varbit, q.fp::varbit) AS d FROM %s t, query q', tab);
	CREATE INDEX ON expected (qno, id);
	ANALYZE expected;
END $$;

-- Compare the first n rows (all if null) that an index returns with those expected:
-- 'ok', or what is wrong.  The condition is on d, the distance, and the columns; if it is
-- written in another form, $q is the fingerprint.
CREATE FUNCTION compare_nearest(tab text, index text, condition text, rows int, query_no int, form text DEFAULT NULL)
RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
	q text := (SELECT quote_literal(fp) || '::simhash_bits' FROM query WHERE qno = query_no);
	statement text;
	ids int[];
	distances int[];
	expected_distances int[];
BEGIN
	statement := format('SELECT id FROM %s t WHERE %s ORDER BY fp <~> %s LIMIT %s', tab,
		replace(coalesce(form, regexp_replace(condition, '\md\M', '(fp <~> $q)', 'g')), '$q', q), q, coalesce(rows::text, 'ALL'));
	IF plan_of(statement) !~ ('Index Scan using ' || index || ' .*Order By: ') THEN
		RETURN 'the index is not used: ' || plan_of(statement);
	END IF;
	EXECUTE format('SELECT array_agg(id) FROM (%s) s', statement) INTO ids;
	EXECUTE format('SELECT array_agg(d ORDER BY no) FROM unnest($1) WITH ORDINALITY u(row_id, no)
		JOIN expected ON id = row_id AND qno = $2 WHERE %s', condition) INTO distances USING ids, query_no;
	EXECUTE format('SELECT array_agg(d) FROM (SELECT d FROM expected WHERE qno = %s AND (%s) ORDER BY d LIMIT %s) s',
		query_no, condition, coalesce(rows::text, 'ALL')) INTO expected_distances;
	IF distances IS DISTINCT FROM expected_distances THEN
		RETURN format('query %s, %s, limit %s: %s rows, not %s; %s, not %s', query_no, condition, rows,
			cardinality(ids), cardinality(expected_distances), distances[:12], expected_distances[:12]);
	END IF;
	IF cardinality(ids) <> (SELECT count(DISTINCT id) FROM unnest(ids) id) THEN
		RETURN format('query %s, %s, limit %s: rows are repeated', query_no, condition, rows);
	END IF;
	RETURN 'ok';
END $$;

-- the same for each query, with several conditions and limits: what came of it, and how often
CREATE FUNCTION compare_table(tab text, index text, conditions text[] DEFAULT
		'{true, d <= 0, d <= 31, d <= 110, d < 10000, fp IS NOT NULL, id % 3 = 0}',
	limits int[] DEFAULT '{1, 10, NULL}')
RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	RETURN (SELECT string_agg(result || ' ' || times, E'\n' ORDER BY result) FROM (
		SELECT compare_nearest(tab, index, condition, rows, qno) AS result, count(*) AS times
		FROM query, unnest(limits) rows, unnest(conditions) condition WHERE fp IS NOT NULL GROUP BY 1) s);
END $$;

CREATE FUNCTION compare_width(n int, random int, options text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	results text;
BEGIN
	PERFORM use_only('indexscan', '{sort,material}');
	CALL make_rows('doc', n, random);
	EXECUTE format('CREATE INDEX doc_fp ON doc USING simhash (fp) WITH (%s)', options);
	CALL make_queries(n);
	CALL expect_distances('doc');
	ANALYZE doc;
	results := compare_table('doc', 'doc_fp');

	-- delete, update, insert, again
	DELETE FROM doc WHERE id % 3 = 0;
	EXECUTE format('INSERT INTO doc SELECT 50000 + i, i %% 4, flip_wide(wide(''c'' || i %% 3, %s), i %% 9, ''n'' || i)
		FROM generate_series(1, 60) i', n);
	UPDATE doc SET fp = wide('c0', n) WHERE id % 50 = 1;
	CALL expect_distances('doc');
	RETURN results || '; ' || compare_table('doc', 'doc_fp', '{true, d <= 31}');
END $$;

SELECT n, options, compare_width(n, random, options) FROM (VALUES
	(8, 300, 'fillfactor = 90'),
	(40, 1000, 'blocks = 5, distance = 2, fillfactor = 10'),
	(64, 1500, 'fillfactor = 10'),
	(64, 1000, 'blocks = 6, distance = 3, fillfactor = 10'),
	(72, 1000, 'fillfactor = 10'),
	(104, 800, 'fillfactor = 10'),
	(128, 1500, 'fillfactor = 10'),
	(144, 1000, 'fillfactor = 10'),
	(256, 2000, 'fillfactor = 10'),
	(256, 800, 'fillfactor = 10, blocks = 32, distance = 31'),
	(576, 600, 'fillfactor = 10'),
	(4096, 100, 'fillfactor = 90')) v(n, random, options);

--
-- 256 bits: what is read, little memory, equal rows
--
CALL make_rows('doc', 256, 4000, 3000);
CREATE INDEX doc_fp ON doc USING simhash (fp) WITH (fillfactor = 10);
CALL make_queries(256);
INSERT INTO query VALUES (7, NULL);
CALL expect_distances('doc');
VACUUM ANALYZE doc;

-- a near row is found, and known to be the nearest, without reading a table
SELECT plan($$SELECT id FROM doc ORDER BY fp <~> 'ab' LIMIT 1$$);
CREATE FUNCTION pages_of(relation text) RETURNS bigint LANGUAGE sql AS $$
	SELECT pg_relation_size(relation) / current_setting('block_size')::int
$$;
SELECT bits, pages_read(format('SELECT id FROM doc ORDER BY fp <~> %L::simhash_bits LIMIT 1',
	flip_wide(wide('r77', 256), bits, 'n'))) * 16.0 / pages_of('doc_fp') < share AS few_pages
FROM (VALUES (0, 0.7), (1, 0.7), (7, 0.7), (15, 0.7), (20, 2)) v(bits, share);
-- when there is none, a table of each part is read, and the rows that are returned are visited
SELECT (pages_read(format('SELECT id FROM doc ORDER BY fp <~> %L::simhash_bits LIMIT 5', wide('far', 256))) - 50) * 16.0
	/ pages_of('doc_fp') BETWEEN 3 AND 7 AS some_tables;
-- and not more rows if the distances do not fit in memory
SELECT format('SELECT id FROM doc ORDER BY fp <~> %L::simhash_bits LIMIT 5', wide('far', 256)) AS query \gset
SELECT pages_read(:'query') AS pages \gset
SET work_mem = '64kB';
SELECT pages_read(:'query') BETWEEN 0.5 * :pages AND 1.5 * :pages AS as_many;
RESET work_mem;
SELECT bits, id, fp <~> flip_wide(wide('r77', 256), bits, 'n') AS distance
FROM (VALUES (0), (1), (7), (15), (24), (30), (60)) v(bits),
	LATERAL (SELECT id, fp FROM doc ORDER BY fp <~> flip_wide(wide('r77', 256), bits, 'n') LIMIT 1) d;

SELECT compare_table('doc', 'doc_fp', '{true, d <= 31, d <= 120}', '{1, 10, 2000, NULL}');
SET work_mem = '64kB';
SELECT compare_table('doc', 'doc_fp', '{true, d <= 31, d <= 120}', '{1, 10, 2000, NULL}');
RESET work_mem;

-- conditions in other forms
SELECT form, string_agg(DISTINCT compare_nearest('doc', 'doc_fp', condition, rows, qno, form), '; ')
FROM query, (VALUES (1), (20), (NULL)) l(rows),
	(VALUES ('d < 32', 'fp % $q'), ('d < 32', '$q % fp'), ('d = 0', 'fp = $q'), ('d <= 70', 'fp <@ simhash_bits_ball($q, 70)'),
		('d <= 20 AND tenant = 1', 'fp <~> $q <= 20 AND tenant = 1'), ('d < 32 AND d > 5', 'fp % $q AND fp <~> $q > 5'),
		('d < 32', 'fp % $q AND fp <~> $q <= 200'), ('d <= 9', 'fp <@ ANY (ARRAY[simhash_bits_ball($q, 9), simhash_bits_ball($q, -1)])'),
		('false', 'fp <@ simhash_bits_ball($q, -1)'), ('fp IS NULL', 'fp IS NULL'), ('fp = wide(''c1'', 256)', 'fp = wide(''c1'', 256)'),
		('fp <~> wide(''c0'', 256) <= 25', 'fp <~> wide(''c0'', 256) <= 25'),
		('fp <~> wide(''c0'', 256) <= 140', 'fp <~> wide(''c0'', 256) <= 140')) f(condition, form)
WHERE qno < 7 GROUP BY form ORDER BY form;

-- many leaves, so that balls grow far: 12 rows around each of 40 centers, 3 to 47 bits away
CREATE TABLE many (id int, fp simhash_bits(256));
INSERT INTO many SELECT i, sha256(i::text::bytea)::simhash_bits FROM generate_series(1, 20000) i;
CREATE TABLE center AS SELECT c AS no, wide('center' || c, 256) AS fp FROM generate_series(1, 40) c;
INSERT INTO many SELECT no * 100000 + i, flip_wide(fp, i * 4 - 1, no || ' ' || i) FROM center, generate_series(1, 12) i;
CREATE INDEX many_fp ON many USING simhash (fp) WITH (fillfactor = 10);
ANALYZE many;
SELECT plan('SELECT q.no, n.id FROM center q, LATERAL (SELECT id FROM many t ORDER BY t.fp <~> q.fp LIMIT 5) n');
SELECT n, count(*) FROM unnest('{1,3,5,8,10,11,12}'::int[]) n, center q
WHERE (SELECT array_agg(id) FROM (SELECT id FROM many t ORDER BY t.fp <~> q.fp LIMIT n) s)
	= (SELECT array_agg(no * 100000 + i) FROM generate_series(1, n) i)
GROUP BY 1 ORDER BY 1;
SET work_mem = '64kB';
SELECT n, count(*) FROM unnest('{1,3,5,8,10,11,12}'::int[]) n, center q
WHERE (SELECT array_agg(id) FROM (SELECT id FROM many t ORDER BY t.fp <~> q.fp LIMIT n) s)
	= (SELECT array_agg(no * 100000 + i) FROM generate_series(1, n) i)
GROUP BY 1 ORDER BY 1;
RESET work_mem;
SELECT n, max(pages_read(format('SELECT id FROM many ORDER BY fp <~> %L::simhash_bits LIMIT %s', fp, n))) * 16.0 / pages_of('many_fp') < 2.7 AS few_pages
FROM center, unnest('{1,4,6}'::int[]) n GROUP BY 1 ORDER BY 1;
-- a condition around another fingerprint, which tells nothing of the parts in which these differ
CREATE TABLE shifted AS
SELECT center, overlay(center::varbit PLACING ~ substring(center::varbit FOR 20) FROM 1)::simhash_bits AS fp
FROM (SELECT wide('shifted', 256) AS center) c;
INSERT INTO many SELECT i, flip_wide(fp, i, 's' || i) FROM shifted, generate_series(0, 11) i;
SELECT plan('SELECT n.id FROM shifted q,
	LATERAL (SELECT id FROM many t WHERE t.fp <~> q.center <= 31 ORDER BY t.fp <~> q.fp) n');
SELECT array_agg(id) FROM (SELECT n.id FROM shifted q,
	LATERAL (SELECT id FROM many t WHERE t.fp <~> q.center <= 31 ORDER BY t.fp <~> q.fp) n) s;

-- nulls: they come last, and a distance from one orders nothing
SELECT count(*), count(*) FILTER (WHERE last > total - 7) FROM
	(SELECT fp, row_number() OVER () AS last, count(*) OVER () AS total
		FROM (SELECT fp FROM doc ORDER BY fp <~> wide('c0', 256) OFFSET 0) s) s WHERE fp IS NULL;
SELECT plan('SELECT id FROM doc ORDER BY fp <~> (SELECT fp FROM query WHERE qno = 7)');
SELECT count(*), count(DISTINCT id) FROM (SELECT id FROM doc ORDER BY fp <~> (SELECT fp FROM query WHERE qno = 7) LIMIT 1000000) s;
SELECT array_agg(id) FROM (SELECT id FROM doc WHERE fp IS NULL ORDER BY fp <~> wide('c0', 256)) s;

-- several distances
CREATE FUNCTION compare_two(rows int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	p record;
	ordered text;
	got text;
	wanted text;
BEGIN
	FOR p IN SELECT a.fp AS a, b.fp AS b FROM query a, query b WHERE a.qno <> b.qno AND (a.qno < 4 OR a.qno = 7) AND (b.qno IN (1, 2, 4, 7)) LOOP
		ordered := format('SELECT id, fp FROM doc ORDER BY fp <~> %L::simhash_bits, fp <~> %L::simhash_bits LIMIT %s', p.a, p.b, coalesce(rows::text, 'ALL'));
		IF plan_of(ordered) !~ 'Order By: ' AND p.a IS NOT NULL AND p.b IS NOT NULL THEN
			RETURN plan_of(ordered);
		END IF;
		EXECUTE format('SELECT md5(string_agg(concat(wide_distance(fp::varbit, %L::simhash_bits::varbit), '' '',
			wide_distance(fp::varbit, %L::simhash_bits::varbit)), '','')) FROM (%s) s', p.a, p.b, ordered) INTO got;
		EXECUTE format('SELECT md5(string_agg(concat(a, '' '', b), '','')) FROM (SELECT wide_distance(fp::varbit, %L::simhash_bits::varbit) AS a,
			wide_distance(fp::varbit, %L::simhash_bits::varbit) AS b FROM doc ORDER BY 1, 2 LIMIT %s) s', p.a, p.b, coalesce(rows::text, 'ALL')) INTO wanted;
		IF got IS DISTINCT FROM wanted THEN
			RETURN format('%s, %s', p.a, p.b);
		END IF;
	END LOOP;
	RETURN 'ok';
END $$;
SELECT compare_two(1), compare_two(200), compare_two(NULL);

-- many blocks of few rows and some of many: with little memory, the sums of the rows do not fit in it
CALL make_rows('source', 256, 2000);
CREATE TABLE blocks (id int, tenant int, fp simhash_bits(256), pad text);
ALTER TABLE blocks ALTER pad SET STORAGE plain;
INSERT INTO blocks SELECT id, tenant, fp FROM source WHERE id % 9 >= 7;
INSERT INTO blocks SELECT id, tenant, fp, repeat('x', 3000) FROM source WHERE id % 9 < 7 ORDER BY id % 7;
INSERT INTO blocks SELECT 60000 + i, 1, wide('b' || i, 256), repeat('x', 3000) FROM generate_series(1, 3000) i;
DELETE FROM blocks WHERE id % 11 = 5;
CREATE INDEX blocks_fp ON blocks USING simhash (fp);
VACUUM ANALYZE blocks;
CALL expect_distances('blocks');
SELECT compare_table('blocks', 'blocks_fp', '{true, d <= 31, d <= 120, id % 3 = 0}');
SET work_mem = '64kB';
SELECT compare_table('blocks', 'blocks_fp', '{true, d <= 31, d <= 120, id % 3 = 0}');
CREATE FUNCTION sums_memory() RETURNS bigint LANGUAGE sql AS $$
	SELECT sum(total_bytes)::bigint FROM pg_backend_memory_contexts WHERE name = 'simhash distances of rows'
$$;
BEGIN;
DECLARE little CURSOR FOR SELECT id FROM blocks ORDER BY fp <~> wide('new', 256);
FETCH 1 FROM little \g /dev/null
SELECT sums_memory() < 300000 AS little_memory;
COMMIT;
RESET work_mem;
BEGIN;
DECLARE enough CURSOR FOR SELECT id FROM blocks ORDER BY fp <~> wide('new', 256);
FETCH 1 FROM enough \g /dev/null
SELECT sums_memory() > 400000 AS more_memory;
COMMIT;
CALL expect_distances('doc');

-- an index of equal rows, filled to the last byte; with little memory, those of one distance do not fit in it
CREATE TABLE equal AS SELECT i AS id, wide('x', 256)::simhash_bits(256) AS fp FROM generate_series(1, 9000) i;
CREATE INDEX equal_fp ON equal USING simhash (fp) WITH (fillfactor = 100);
ANALYZE equal;
SELECT plan($$SELECT id FROM equal ORDER BY fp <~> wide('y', 256)$$);
SELECT count(DISTINCT id) FROM (SELECT id FROM equal ORDER BY fp <~> wide('y', 256) LIMIT 10000) s;
SELECT count(DISTINCT id) FROM (SELECT id FROM equal ORDER BY fp <~> wide('x', 256) LIMIT 10000) s;
SET work_mem = '64kB';
SELECT count(DISTINCT id) FROM (SELECT id FROM equal ORDER BY fp <~> wide('y', 256) LIMIT 10000) s;
SELECT count(DISTINCT id) FROM (SELECT id FROM equal ORDER BY fp <~> wide('x', 256) LIMIT 10000) s;
RESET work_mem;

--
-- Joins, cursors, statements that change the table
--
SELECT plan('SELECT q.qno, d.id FROM query q, LATERAL (SELECT id FROM doc t ORDER BY t.fp <~> q.fp LIMIT 40) d');
SELECT q.qno, array_agg(e.d ORDER BY d.no) = (SELECT array_agg(d) FROM (SELECT d FROM expected x WHERE x.qno = q.qno ORDER BY d LIMIT 40) s) AS right
FROM query q, LATERAL (SELECT id, row_number() OVER () AS no FROM (SELECT id FROM doc t ORDER BY t.fp <~> q.fp LIMIT 40) s) d
	JOIN expected e ON e.id = d.id WHERE e.qno = q.qno AND q.qno < 7 GROUP BY 1 ORDER BY 1;

BEGIN;
DECLARE c CURSOR FOR SELECT fp <~> wide('c2', 256) AS distance FROM doc ORDER BY fp <~> wide('c2', 256);
FETCH 3 FROM c;
-- rows that come and go are none of its own
DELETE FROM doc WHERE fp <~> wide('c2', 256) <= 60;
INSERT INTO doc SELECT 60000 + i, 0, flip_wide(wide('c2', 256), 2, i::text) FROM generate_series(1, 20) i;
FETCH 3 FROM c;
MOVE 60 IN c;
FETCH 3 FROM c;
SELECT state, message FROM attempt('MOVE BACKWARD 1 IN c');
ROLLBACK;

-- deleted rows, before and after VACUUM
DELETE FROM doc WHERE fp <~> wide('c2', 256) <= 30 OR id % 3 = 0;
CALL expect_distances('doc');
SELECT compare_table('doc', 'doc_fp', '{true, d <= 31}');
SELECT compare_table('doc', 'doc_fp', '{true, d <= 31}');
VACUUM doc;
SELECT compare_table('doc', 'doc_fp', '{true, d <= 31}');
INSERT INTO doc SELECT 60000 + i, 2, flip_wide(wide('c2', 256), i, i::text) FROM generate_series(1, 90) i;
CALL expect_distances('doc');
SELECT compare_table('doc', 'doc_fp', '{true, d <= 31}');
SELECT simhash_index_check('doc_fp', true) IS NOT NULL;

--
-- Several columns
--
CREATE INDEX doc_tenant ON doc USING simhash (tenant, fp) WITH (fillfactor = 10);
DROP INDEX doc_fp;
UPDATE doc SET tenant = NULL WHERE id % 11 = 0;
CALL expect_distances('doc');
ANALYZE doc;
SELECT condition, compare_table('doc', 'doc_tenant', ARRAY[condition]) FROM unnest(ARRAY['tenant = 1', 'tenant IN (0, 2, 17)',
	'tenant IS NULL', 'tenant = 1 AND d <= 31', 'tenant = 1 AND d <= 100', 'tenant = ANY (''{1, 3}'') AND d < 32', 'tenant = 17', 'true', 'd <= 31']) condition;
SET work_mem = '64kB';
SELECT condition, compare_table('doc', 'doc_tenant', ARRAY[condition]) FROM unnest(ARRAY['tenant = 1', 'tenant IN (0, 2, 17)', 'true']) condition;
RESET work_mem;
DROP INDEX doc_tenant;

--
-- Partial and expression indexes, partitions
--
CREATE INDEX doc_part ON doc USING simhash (fp) WITH (fillfactor = 10) WHERE tenant = 1;
SELECT compare_table('doc', 'doc_part', '{tenant = 1, tenant = 1 AND d <= 60}');
DROP INDEX doc_part;
CREATE TABLE texts (id int, hex text);
INSERT INTO texts SELECT id, fp::text FROM doc;
CREATE INDEX texts_hex ON texts USING simhash ((hex::simhash_bits(256)));
ANALYZE texts;
SELECT plan($$SELECT id FROM texts ORDER BY hex::simhash_bits(256) <~> wide('c0', 256) LIMIT 50$$);
SELECT (SELECT array_agg(d) FROM (SELECT (hex::simhash_bits(256) <~> wide('c0', 256))::int AS d FROM texts
		ORDER BY hex::simhash_bits(256) <~> wide('c0', 256) LIMIT 50) s) =
	(SELECT array_agg(d) FROM (SELECT d FROM expected WHERE qno = 1 ORDER BY d LIMIT 50) s) AS right;

CREATE TABLE parted (id int, tenant int, fp simhash_bits(256)) PARTITION BY HASH (id);
CREATE TABLE parted_0 PARTITION OF parted FOR VALUES WITH (MODULUS 3, REMAINDER 0);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES WITH (MODULUS 3, REMAINDER 1);
CREATE TABLE parted_2 PARTITION OF parted FOR VALUES WITH (MODULUS 3, REMAINDER 2);
INSERT INTO parted SELECT id, tenant, fp FROM doc;
CREATE INDEX parted_fp ON parted USING simhash (fp) WITH (fillfactor = 10);
ANALYZE parted;
SELECT plan($$SELECT id FROM parted ORDER BY fp <~> 'ab' LIMIT 5$$);
SELECT compare_table('parted', 'parted_._fp_idx', '{true, d <= 31}');

--
-- A class with an order of its own; properties; errors
--
CREATE FUNCTION far(simhash_bits, simhash_bits) RETURNS int LANGUAGE plpgsql IMMUTABLE STRICT AS 'BEGIN RETURN hamming($1, $2); END';
CREATE OPERATOR <~~~> (LEFTARG = simhash_bits, RIGHTARG = simhash_bits, FUNCTION = far);
CREATE OPERATOR CLASS bits_far FOR TYPE simhash_bits USING simhash AS OPERATOR 3 <~~~> (simhash_bits, simhash_bits) FOR ORDER BY integer_ops;
SELECT amvalidate(oid) FROM pg_opclass WHERE opcname IN ('bits_far', 'simhash_bits_ops') ORDER BY opcname;
CREATE INDEX doc_far ON doc USING simhash (fp bits_far);
SELECT plan($$SELECT id FROM doc ORDER BY fp <~~~> wide('c0', 256) LIMIT 5$$);
SELECT fp <~> wide('c0', 256) AS distance FROM doc ORDER BY fp <~~~> wide('c0', 256) LIMIT 5;
DROP INDEX doc_far;

CREATE INDEX doc_both ON doc USING simhash (tenant, fp);
SELECT no, pg_index_column_has_property('doc_both'::regclass, no, 'distance_orderable') FROM generate_series(1, 2) no;
SELECT * FROM attempt($$SELECT id FROM doc WHERE tenant = 1 ORDER BY fp <~> wide('c0', 128) LIMIT 1$$);
CREATE TABLE empty (fp simhash_bits(128));
CREATE INDEX ON empty USING simhash (fp);
SELECT plan($$SELECT * FROM empty ORDER BY fp <~> 'ab'$$);
SELECT * FROM empty ORDER BY fp <~> wide('c0', 128);
INSERT INTO empty VALUES (wide('c0', 128)), (NULL);
SELECT fp <~> wide('c0', 128) AS distance FROM empty ORDER BY fp <~> wide('c0', 128);

--
-- The choice of the planner: where the nearest rows are far away, the index would read
-- and add up more than a sequential scan; not so with a condition that finds few rows
--
RESET enable_seqscan;
RESET enable_bitmapscan;
RESET enable_sort;
SET max_parallel_workers_per_gather = 0;
CREATE TABLE scattered AS SELECT i AS id, wide('s' || i, 256)::simhash_bits(256) AS fp FROM generate_series(1, 20000) i;
CREATE INDEX scattered_fp ON scattered USING simhash (fp);
ANALYZE scattered;
SELECT plan($$SELECT id FROM scattered ORDER BY fp <~> wide('far', 256) LIMIT 10$$);
SELECT plan($$SELECT id FROM scattered WHERE fp <~> wide('far', 256) <= 15 ORDER BY fp <~> wide('far', 256) LIMIT 10$$);

DROP SCHEMA index_bits_nearest_test CASCADE;
