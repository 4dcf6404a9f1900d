--
-- Indexes of wide fingerprints: exact at every width and radius
--
-- The truth is bit_count() of bit strings (test/brute_force.sql).
--
\pset format unaligned
\pset footer off
CREATE SCHEMA index_bits_test;
SET search_path = index_bits_test, public; SET max_parallel_workers_per_gather = 0; SET client_min_messages = warning;

-- the given positions inverted, counted from 0
CREATE FUNCTION invert(fp simhash_bits, positions int[]) RETURNS simhash_bits LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
	b bit varying := fp::varbit;
BEGIN
	FOR i IN 1 .. coalesce(cardinality(positions), 0) LOOP
		b := set_bit(b, positions[i], 1 - get_bit(b, positions[i]));
	END LOOP;
	RETURN b::simhash_bits;
END $$;

-- Rows of n bits: random ones; clusters; the center with bits inverted that are spread
-- evenly, at one end, or within one part; equal ones; zero but for one part; nulls.
CREATE PROCEDURE make_rows(tab text, n int, random int) LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('DROP TABLE IF EXISTS %s; CREATE TABLE %1$s (id int, fp simhash_bits(%s))', tab, n);
	EXECUTE format('INSERT INTO %s SELECT i, wide(''r'' || i, %s) FROM generate_series(1, %s) i', tab, n, random);
	EXECUTE format('INSERT INTO %s SELECT 10000 + i, flip_wide(wide(''c'' || i %% 3, %s), least(i / 4, %2$s), ''f'' || i)
		FROM generate_series(0, 171) i', tab, n);
	EXECUTE format('INSERT INTO %s SELECT 11000 + k, invert(wide(''c0'', %s),
			(SELECT array_agg(DISTINCT (i::bigint * %2$s / k)::int) FROM generate_series(0, k - 1) i))
		FROM generate_series(1, least(%2$s, 60)) k', tab, n);
	EXECUTE format('INSERT INTO %s SELECT 12000 + k, invert(wide(''c0'', %s),
			(SELECT array_agg(i) FROM generate_series(0, k - 1) i)) FROM generate_series(1, least(%2$s, 45)) k
		UNION ALL SELECT 13000 + k, invert(wide(''c0'', %2$s),
			(SELECT array_agg(%2$s - 1 - i) FROM generate_series(0, k - 1) i)) FROM generate_series(1, least(%2$s, 45)) k
		UNION ALL SELECT 14000 + k, invert(wide(''c0'', %2$s),
			(SELECT array_agg(%2$s / 2 - least(i, %2$s / 2)) FROM generate_series(0, k - 1) i)) FROM generate_series(1, least(%2$s / 2, 45)) k', tab, n);
	EXECUTE format('INSERT INTO %s SELECT 15000 + i, wide(''c1'', %s) FROM generate_series(1, 60) i', tab, n);
	EXECUTE format('INSERT INTO %s SELECT 16000 + i, invert(repeat(''00'', %s / 8)::simhash_bits,
			(SELECT array_agg(DISTINCT (i * 7 + j * 13) %% least(64, %2$s)) FROM generate_series(1, i %% 20) j))
		FROM generate_series(1, 80) i', tab, n);
	EXECUTE format('INSERT INTO %s SELECT 17000 + i, NULL FROM generate_series(1, 5) i', tab);
END $$;

CREATE PROCEDURE make_queries(n int) LANGUAGE plpgsql AS $$
BEGIN
	DROP TABLE IF EXISTS query;
	EXECUTE format('CREATE TABLE query (qno int, fp simhash_bits(%s))', n);
	INSERT INTO query VALUES (1, wide('c0', n)), (2, wide('c1', n)), (3, repeat('00', n / 8)::simhash_bits),
		(4, repeat('ff', n / 8)::simhash_bits), (5, wide('new', n)), (6, flip_wide(wide('c2', n), least(9, n), 'q')),
		(7, wide('r77', n));
END $$;

CREATE TABLE radii (r int);

-- all look-ups at one width, before and after the table has changed
CREATE FUNCTION compare_width(n int, random int, options text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	CALL make_rows('doc', n, random / effort(12, 1));
	EXECUTE format('CREATE INDEX doc_fp ON doc USING simhash (fp) WITH (%s)', options);
	CALL make_queries(n);
	TRUNCATE radii;
	INSERT INTO radii SELECT DISTINCT r FROM unnest(ARRAY[-1, 0, 1, 3, 8, 15, 31, 40, n / 2, n - 1, n, n + 1]) r;
	ANALYZE doc, query, radii;

	CALL expect_wide_lookups('doc', 'query');
	result := compare_wide_lookups('doc', 'doc_fp');
	IF result <> 'ok' THEN
		RETURN result;
	END IF;

	-- delete, insert, again
	DELETE FROM doc WHERE id % 3 = 0;
	EXECUTE format('INSERT INTO doc SELECT 20000 + i, flip_wide(wide(''c'' || i %% 3, %s), i %% 9, ''n'' || i)
		FROM generate_series(1, 100) i', n);
	UPDATE doc SET fp = wide('c1', n) WHERE id % 50 = 1;
	CALL expect_wide_lookups('doc', 'query');
	result := compare_wide_lookups('doc', 'doc_fp');
	PERFORM simhash_index_check('doc_fp', true);
	RETURN result;
END $$;

SELECT n, compare_width(n, random, options) FROM (VALUES
	(8, 300, 'fillfactor = 90'),
	(16, 300, 'blocks = 2, distance = 1'),
	(56, 1500, 'fillfactor = 10'),
	(64, 2500, 'fillfactor = 10'),
	(72, 2500, 'fillfactor = 10'),
	(96, 2500, 'fillfactor = 10'),
	(120, 2500, 'fillfactor = 10'),
	(128, 2500, 'fillfactor = 10'),
	(144, 2500, 'fillfactor = 10'),
	(256, 2500, 'fillfactor = 10'),
	(256, 1500, 'fillfactor = 10, blocks = 4'),
	(256, 1500, 'fillfactor = 10, blocks = 32, distance = 31'),
	(576, 1000, 'fillfactor = 10'),
	(4096, 200, 'fillfactor = 90')) v(n, random, options);

--
-- Other conditions, 256 bits
--
CALL make_rows('doc', 256, 3000);
CREATE INDEX doc_fp ON doc USING simhash (fp) WITH (fillfactor = 10);
CALL make_queries(256);
TRUNCATE radii;
INSERT INTO radii VALUES (0), (31);
ANALYZE doc, query, radii;
CALL expect_wide_lookups('doc', 'query');
CALL must_be_ok(compare_wide_lookups('doc', 'doc_fp', 't.fp <@ simhash_bits_ball($q, $r)'));
CALL must_be_ok(compare_wide_lookups('doc', 'doc_fp', 'simhash_bits_ball($q, $r) @> t.fp'));
CALL must_be_ok(compare_wide_lookups('doc', 'doc_fp', 'simhash_within($q, t.fp, $r)'));
CALL must_be_ok(compare_wide_lookups('doc', 'doc_fp', 't.fp % $q', 'r = 31'));
CALL must_be_ok(compare_wide_lookups('doc', 'doc_fp', '$q % t.fp', 'r = 31'));
CALL must_be_ok(compare_wide_lookups('doc', 'doc_fp', 't.fp = $q', 'r = 0'));
CALL must_be_ok(compare_wide_lookups('doc', 'doc_fp', '$r >= hamming($q, t.fp)'));
CALL must_be_ok(compare_wide_lookups('doc', 'doc_fp', 't.fp <~> $q < $r + 1'));
CALL must_be_ok(compare_wide_lookups('doc', 'doc_fp', 't.fp % $q AND t.fp <~> $q <= 200', 'r = 31'));
CALL must_be_ok(compare_wide_lookups('doc', 'doc_fp', 't.fp % $q AND t.fp IS NOT NULL', 'r = 31'));
CALL must_be_ok(compare_wide_lookups('doc', 'doc_fp', 't.fp % ANY (ARRAY[$q, NULL, $q])', 'r = 31'));
CALL must_be_ok(compare_wide_lookups('doc', 'doc_fp', 't.fp = ANY (ARRAY[$q, NULL])', 'r = 0'));
SELECT compare_wide_lookups('doc', 'doc_fp', 't.fp <@ ANY (ARRAY[simhash_bits_ball($q, 3), simhash_bits_ball($q, $r), simhash_bits_ball($q, -1)])', 'r = 31');

-- many balls, of several radii
CREATE FUNCTION compare_any(radius text, balls int, form text, node text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	statement text;
BEGIN
	DROP TABLE IF EXISTS ball;
	EXECUTE format('CREATE TEMP TABLE ball AS SELECT i, wide(CASE WHEN i %% 3 = 0 THEN ''c'' || i %% 4 ELSE ''r'' || i * 3 END, 256) AS center,
		%s AS radius FROM generate_series(1, %s) i', radius, balls);
	PERFORM use_only(form);
	statement := 'SELECT id FROM doc WHERE fp <@ ANY ((SELECT array_agg(simhash_bits_ball(center, radius)) FROM ball)::simhash_bits_ball[])';
	IF strpos(plan_of(statement), node) = 0 THEN
		RETURN plan_of(statement);
	END IF;
	RETURN coalesce(difference(statement, 'SELECT id FROM doc t WHERE EXISTS (SELECT FROM ball
		WHERE wide_distance(t.fp::varbit, center::varbit) <= radius)'), 'ok');
END $$;
SELECT form, radius, balls, compare_any(radius, balls, form, node)
FROM (VALUES ('indexscan', 'Index Scan using doc_fp'), ('bitmapscan', 'Bitmap Index Scan on doc_fp')) f(form, node),
	(VALUES ('31', 2), ('31', 40), ('31', 400), ('i % 50 - 1', 300), ('100 + i % 10', 30), ('0', 300), ('300', 3)) b(radius, balls)
ORDER BY 1, 2, 3;
SELECT use_only('seqscan');

-- nulls, and no condition at all
SELECT use_only('indexscan') \gset
SELECT plan('SELECT id FROM doc WHERE fp IS NULL');
SELECT array_agg(id ORDER BY id) FROM doc WHERE fp IS NULL;
SELECT plan('SELECT count(*) FROM doc WHERE fp IS NOT NULL');
SELECT count(*) FROM doc WHERE fp IS NOT NULL
UNION ALL SELECT count(*) FROM doc WHERE fp IS NULL AND fp % wide('c0', 256)
UNION ALL SELECT count(*) FROM doc WHERE fp % NULL
UNION ALL SELECT count(*) FROM doc WHERE fp % ANY (NULL::simhash_bits[]);
SELECT count(*) FROM doc WHERE fp % ANY ('{}'::simhash_bits[]);

-- a row is returned once, even if memory is full: then the rest is read from one table
SET work_mem = '64kB';
SELECT plan($$SELECT id FROM doc WHERE fp <~> wide('c0', 256) <= 130$$);
SELECT r, difference(format('SELECT id FROM doc WHERE fp <~> wide(''c0'', 256) <= %s', r),
	format('SELECT id FROM doc WHERE wide_distance(fp::varbit, wide(''c0'', 256)::varbit) <= %s', r)) AS difference
FROM unnest('{31,90,110,120,128,132,140,160,255,256}'::int[]) r;
SELECT difference('SELECT id FROM doc WHERE fp <@ ANY (ARRAY[simhash_bits_ball(wide(''c0'', 256), 128), simhash_bits_ball(wide(''c1'', 256), 126)])',
	'SELECT id FROM doc WHERE wide_distance(fp::varbit, wide(''c0'', 256)::varbit) <= 128 OR wide_distance(fp::varbit, wide(''c1'', 256)::varbit) <= 126');
-- the same with many equal rows, each of which is near in all parts
CREATE TABLE equal (id int, fp simhash_bits(256));
INSERT INTO equal SELECT i, CASE WHEN i % 1000 = 0 THEN flip_wide(wide('x', 256), 30, i::text) ELSE wide('x', 256) END
FROM generate_series(1, 9000) i;
CREATE INDEX equal_fp ON equal USING simhash (fp);
SELECT count(*), count(DISTINCT id) FROM equal WHERE fp % wide('x', 256)
UNION ALL SELECT count(*), count(DISTINCT id) FROM equal WHERE fp <~> wide('x', 256) <= 0;
BEGIN;
DECLARE c NO SCROLL CURSOR FOR SELECT id FROM equal WHERE fp % wide('x', 256);
MOVE 8500 IN c;
SELECT sum(total_bytes) < 1000000 AS little FROM pg_backend_memory_contexts WHERE name LIKE 'simhash%';
ROLLBACK;
SELECT count(*), count(DISTINCT id) FROM equal a WHERE EXISTS (SELECT FROM equal b WHERE b.fp % a.fp AND b.id <> a.id) AND id % 500 = 0;
RESET work_mem;
SELECT count(*), count(DISTINCT id) FROM equal WHERE fp % wide('x', 256);
SELECT use_only('bitmapscan') \gset
SELECT count(*), count(DISTINCT id) FROM equal WHERE fp % wide('x', 256);

-- what the index does not do: index-only scans
SET enable_seqscan = off; SET enable_indexscan = on; SET enable_indexonlyscan = on;
SELECT plan($$SELECT fp FROM doc WHERE fp % 'ab'$$);
SELECT id FROM doc WHERE fp % wide('c0', 256) ORDER BY fp <~> wide('c0', 256), id LIMIT 3;

-- fingerprints of other widths
SELECT * FROM attempt($$SELECT id FROM doc WHERE fp % 'abcd'$$);
SELECT * FROM attempt($$SELECT id FROM doc WHERE fp <~> wide('c0', 128) <= 3$$)
UNION ALL SELECT * FROM attempt($$SELECT id FROM doc WHERE fp % ANY (ARRAY[wide('c0', 256), wide('c0', 264)])$$);
SELECT count(*) FROM doc WHERE fp = 'abcd';
SELECT state, message FROM attempt($$INSERT INTO doc VALUES (0, 'abcd')$$);
CREATE TABLE empty (fp simhash_bits(128));
CREATE INDEX ON empty USING simhash (fp);
SELECT * FROM (SELECT state, message FROM attempt($$SELECT * FROM empty WHERE fp % 'abcd'$$)) a,
	(SELECT count(*) FROM empty WHERE fp % wide('c0', 128)) b;
-- a scan compares nothing there, nor what is behind an element that is near
SELECT use_only('seqscan') \gset
SELECT count(*) FROM empty WHERE fp % 'abcd'
UNION ALL SELECT count(*) FROM (VALUES (wide('c0', 256))) AS t (fp) WHERE fp % ANY (ARRAY[wide('c0', 256), 'abcd']);
SELECT state FROM attempt($$SELECT id FROM doc WHERE fp % ANY (ARRAY['abcd', wide('c0', 256)])$$);
RESET enable_seqscan;

DROP SCHEMA index_bits_test CASCADE;
