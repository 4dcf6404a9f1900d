--
-- Conditions of all kinds, on columns of all types that hold fingerprints, and
-- through all kinds of scans: the same rows as without the index.
--
\pset format unaligned
\pset footer off
CREATE SCHEMA index_conditions_test;
SET search_path = index_conditions_test, public; SET client_min_messages = warning;
SET max_parallel_workers_per_gather = 0;
SET jit = off;

-- Leave the planner nothing but one kind of scan.  For index-only scans both
-- settings have to be on.

-- random values, clusters, many equal ones, all zeros and all ones and what is
-- near them, nulls; as four types
CREATE TABLE doc (id int PRIMARY KEY, fp simhash, h bigint, signed bigint, b bit(64));
INSERT INTO doc
SELECT id, h, h, h, h::bit(64)
FROM (SELECT i AS id,
		CASE WHEN i <= 6000 THEN bits('r' || i)
			 WHEN i <= 9000 THEN flip(bits('c' || i / 6), i % 6, 'f' || i)
			 WHEN i <= 10000 THEN bits('e' || i % 2)
			 WHEN i <= 10100 THEN 0
			 WHEN i <= 10200 THEN -1
			 WHEN i <= 10300 THEN flip(0, i % 9, 'z' || i)
			 WHEN i <= 10400 THEN flip(-1, i % 9, 'o' || i)
			 END AS h
	  FROM generate_series(1, 10600) i) made;
CREATE INDEX doc_fp ON doc USING simhash (fp);
CREATE INDEX doc_h ON doc USING simhash (h);
CREATE INDEX doc_signed ON doc USING simhash ((signed::simhash)) WITH (blocks = 2, distance = 1);
CREATE INDEX doc_b ON doc USING simhash ((b::simhash));
VACUUM (ANALYZE) doc;
SELECT count(*) AS rows, count(fp) AS fingerprints, count(*) FILTER (WHERE h < 0) > 4000 AS above_2_63 FROM doc;

-- What to ask of a column, $c, and the same as arithmetic with h.
CREATE TABLE condition (no int PRIMARY KEY, condition text, truth text);
INSERT INTO condition VALUES
	(1, '$c = bits(''r77'')::simhash', 'h = bits(''r77'')'),
	(2, '$c = (-1)::simhash', 'h = -1'),
	(3, '$c % 0', 'distance(h, 0) <= 3'),
	(4, '$c <~> bits(''c1200'') <= 5', 'distance(h, bits(''c1200'')) <= 5'),
	(5, '7 >= -1 <~> $c', 'distance(h, -1) <= 7'),
	(6, '$c <@ simhash_ball(0, 8)', 'distance(h, 0) <= 8'),
	-- arrays: equality
	(10, '$c = ANY (ARRAY[0, -1]::simhash[])', 'h IN (0, -1)'),
	(11, '$c IN (0::simhash, bits(''e0'')::simhash, bits(''absent'')::simhash)', 'h IN (0, bits(''e0''))'),
	(12, '$c = ANY (ARRAY[0, NULL, -1, 0, NULL, -1]::simhash[])', 'h IN (0, -1)'),
	(13, '$c = ANY (ARRAY[NULL, NULL]::simhash[])', 'false'),
	(14, '$c = ANY (''{}''::simhash[])', 'false'),
	(15, '$c = ANY (NULL::simhash[])', 'false'),
	(16, '$c = ANY (ARRAY[[0, -1], [NULL, bits(''e1'')]]::simhash[])', 'h IN (0, -1, bits(''e1''))'),
	-- arrays: within 3
	(20, '$c % ANY (ARRAY[0, -1]::simhash[])', '(distance(h, 0) <= 3 OR distance(h, -1) <= 3)'),
	(21, '$c % ANY (ARRAY[0, 1, 3, 7, 15, 0, NULL]::simhash[])',
		'(distance(h, 0) <= 3 OR distance(h, 1) <= 3 OR distance(h, 3) <= 3 OR distance(h, 7) <= 3
			OR distance(h, 15) <= 3)'),
	(22, '$c % ANY (''{}''::simhash[])', 'false'),
	-- arrays: balls that overlap, lie in one another, are empty, hold everything
	(30, '$c <@ ANY (ARRAY[simhash_ball(0, 2), simhash_ball(1, 4), simhash_ball(255, 8)])',
		'(distance(h, 0) <= 2 OR distance(h, 1) <= 4 OR distance(h, 255) <= 8)'),
	(31, '$c <@ ANY (ARRAY[simhash_ball(0, 5), simhash_ball(0, 2), simhash_ball(0, 5), NULL, simhash_ball(-1, -1)])',
		'distance(h, 0) <= 5'),
	(32, '$c <@ ANY (ARRAY[simhash_ball(bits(''c1200''), 6), simhash_ball(bits(''c1300''), 0),
			simhash_ball(bits(''c1400''), 64)])', 'h IS NOT NULL'),
	(33, '$c <@ ANY (ARRAY[simhash_ball(bits(''c1200''), 30), simhash_ball(bits(''c1300''), 30),
			simhash_ball(bits(''c1400''), 12)])',
		'(distance(h, bits(''c1200'')) <= 30 OR distance(h, bits(''c1300'')) <= 30
			OR distance(h, bits(''c1400'')) <= 12)'),
	(34, '$c <@ ANY (ARRAY[simhash_ball(0, -1), NULL])', 'false'),
	(35, '$c <@ ANY ((SELECT array_agg(simhash_ball(bits(''c'' || i), i % 7))
		FROM generate_series(1000, 1400) i)::simhash_ball[])',
		'EXISTS (SELECT FROM center WHERE distance(h, c) <= r)'),
	-- several at once
	(40, '$c <~> 0 <= 5 AND $c <~> 7 <= 4', 'distance(h, 0) <= 5 AND distance(h, 7) <= 4'),
	(41, '$c <~> bits(''c1200'') <= 40 AND $c <~> 0 <= 33 AND $c <~> -1 <= 34',
		'distance(h, bits(''c1200'')) <= 40 AND distance(h, 0) <= 33 AND distance(h, -1) <= 34'),
	(42, '$c % ANY (ARRAY[0, -1]::simhash[])
			AND $c <@ ANY (ARRAY[simhash_ball(1, 2), simhash_ball(-2, 2), simhash_ball(5, 64)])',
		'(distance(h, 0) <= 3 OR distance(h, -1) <= 3)'),
	(43, '$c = ANY (ARRAY[0, -1, bits(''e0'')]::simhash[]) AND $c <~> bits(''e0'') <= 20', 'h = bits(''e0'')'),
	(44, '$c <~> 0 <= 5 AND id % 3 = 0', 'distance(h, 0) <= 5 AND id % 3 = 0'),
	(45, '$c <@ ANY (ARRAY[simhash_ball(0, 8), simhash_ball(-1, 8)])
			AND $c = ANY (ARRAY[0, 1, -1]::simhash[]) AND $c % 0',
		'h IN (0, 1)'),
	-- that exclude one another
	(50, '$c % 0 AND $c % -1', 'false'),
	(51, '$c = 0::simhash AND $c = 1::simhash', 'false'),
	(52, '$c = 0::simhash AND $c <~> 0 <= -1', 'false'),
	(53, '$c IS NULL AND $c % 0', 'false'),
	(54, '$c IS NULL AND $c IS NOT NULL', 'false'),
	-- nulls
	(60, '$c IS NULL', 'h IS NULL'),
	(61, '$c IS NOT NULL', 'h IS NOT NULL'),
	(62, '$c IS NOT NULL AND $c <~> 0 <= 5', 'distance(h, 0) <= 5'),
	(63, '$c IS NULL AND id % 2 = 0', 'h IS NULL AND id % 2 = 0'),
	-- values known only when the scan starts
	(70, '$c <~> (SELECT bits(''c1200'') OFFSET 0)::simhash <= (SELECT 5 OFFSET 0)',
		'distance(h, bits(''c1200'')) <= 5'),
	(71, '$c % (SELECT NULL::simhash OFFSET 0)', 'false'),
	(72, '$c = ANY ((SELECT ARRAY[0, NULL, -1]::simhash[] OFFSET 0)::simhash[])', 'h IN (0, -1)'),
	(73, '$c <@ ANY ((SELECT NULL::simhash_ball[] OFFSET 0)::simhash_ball[])', 'false');

CREATE TABLE center AS SELECT bits('c' || i) AS c, i % 7 AS r FROM generate_series(1000, 1400) i;

-- what must come: how many rows, sums over them that tell which
CREATE TABLE expected (no int PRIMARY KEY, n bigint, ids numeric, hs numeric);
\set ECHO none
SELECT format('INSERT INTO expected SELECT %s, count(*), sum(hashint8extended(id, 1)), sum(hashint8extended(h, 1))
	FROM doc WHERE %s', no, truth)
FROM condition ORDER BY no \gexec
\set ECHO all
SELECT no, n FROM expected ORDER BY no;

-- Ask through one index and one kind of scan: null if the answer is right, else
-- what is wrong.
CREATE FUNCTION ask(c condition, col text, index text, form text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	node text := CASE form WHEN 'bitmapscan' THEN 'Bitmap Index Scan on ' WHEN 'indexscan' THEN 'Index Scan using '
		ELSE 'Index Only Scan using ' END || index;
	what text := CASE WHEN form <> 'indexonlyscan' THEN 'sum(hashint8extended(id, 1)) AS sum'
		WHEN col = 'fp' THEN 'sum(hashint8extended(fp::bigint, 1)) AS sum'
		-- the column itself, not the fingerprint
		ELSE 'sum(hashint8extended(h, 1)) AS sum' END;
	statement text := format('SELECT count(*) AS n, %s FROM doc WHERE %s', what, replace(c.condition, '$c', col));
	plan text := plan_of(statement);
	got record;
	expected record;
BEGIN
	-- what the planner knows to be false needs no scan
	IF strpos(plan, node || E' ') = 0 AND strpos(plan, node || E'\n') = 0 AND plan !~ 'One-Time Filter: false' THEN
		RAISE EXCEPTION 'the index is not used: %', statement USING DETAIL = plan;
	END IF;
	EXECUTE statement INTO got;
	SELECT n, CASE form WHEN 'indexonlyscan' THEN hs ELSE ids END AS sum FROM expected WHERE no = c.no INTO expected;
	IF got IS DISTINCT FROM expected THEN
		RETURN format('condition %s: %s rows, not %s', c.no, got.n, expected.n);
	END IF;
	RETURN NULL;
END $$;

CREATE FUNCTION compare(OUT col text, OUT scan text, OUT questions bigint, OUT wrong text) RETURNS SETOF record
LANGUAGE plpgsql AS $$
DECLARE
	indexes text[];
BEGIN
	FOREACH indexes SLICE 1 IN ARRAY ARRAY[['fp', 'doc_fp'], ['h::simhash', 'doc_h'],
		['signed::simhash', 'doc_signed'], ['b::simhash', 'doc_b']] LOOP
		col := indexes[1];
		FOREACH scan IN ARRAY '{indexscan,bitmapscan,indexonlyscan}'::text[] LOOP
			-- the expression of an index is not a column that it could return
			CONTINUE WHEN scan = 'indexonlyscan' AND col IN ('signed::simhash', 'b::simhash');
			PERFORM use_only(scan);
			SELECT count(*), string_agg(a, '; ' ORDER BY no) INTO questions, wrong
			FROM (SELECT c.no, ask(c, col, indexes[2], scan) AS a FROM condition c
				  -- a null test looks for the column, not the fingerprint
				  WHERE (col <> 'h::simhash' OR condition !~ '::simhash IS')
				  	AND (scan <> 'indexonlyscan' OR condition !~ 'id ')) s;
			RETURN NEXT;
		END LOOP;
	END LOOP;
END $$;
\pset null (none)
SELECT * FROM compare();
DROP INDEX doc_fp;
CREATE INDEX doc_fp ON doc USING simhash (fp) WITH (blocks = 6, distance = 3);
SELECT * FROM compare() WHERE wrong IS NOT NULL;
DROP INDEX doc_fp;
CREATE INDEX doc_fp ON doc USING simhash (fp) WITH (blocks = 4, distance = 0);
SELECT * FROM compare() WHERE wrong IS NOT NULL;
DROP INDEX doc_fp;
CREATE INDEX doc_fp ON doc USING simhash (fp);

-- Neither an implicit cast nor a bigint as the query needs the simhash to be named.
SELECT use_only('indexscan') \g /dev/null
SELECT plan(format('SELECT id FROM doc %s', format(what, col)))
FROM unnest('{WHERE %s <~> 5 <= 3,ORDER BY %s <~> 5 LIMIT 3}'::text[]) what, unnest('{h,signed,b::simhash}'::text[]) col;
SELECT count(*) FROM doc d JOIN doc o ON d.h <~> o.h <= 2 WHERE o.id BETWEEN 8001 AND 8100
UNION ALL SELECT count(*) FROM doc d JOIN doc o ON distance(d.h, o.h) <= 2 WHERE o.id BETWEEN 8001 AND 8100;
SELECT (SELECT array_agg(distance(h, -1)) FROM (SELECT h FROM doc ORDER BY h <~> -1 LIMIT 150) s) = right_ones AS nearest,
	(SELECT array_agg(distance(signed, -1)) FROM (SELECT signed FROM doc ORDER BY signed <~> -1 LIMIT 150) s) = right_ones
		AS nearest_signed
FROM (SELECT array_agg(d ORDER BY d) AS right_ones FROM (SELECT distance(h, -1) AS d FROM doc ORDER BY 1 LIMIT 150) s) s;

-- What an index-only scan returns, above 2^63 too
SELECT use_only('indexonlyscan') \g /dev/null
SELECT plan(format('SELECT %1$s FROM doc WHERE %1$s <~> -1 <= 1', col)) FROM unnest('{fp,h}'::text[]) col;
SELECT fp, hex(fp), count(*) FROM doc WHERE fp <~> -1 <= 1 GROUP BY fp ORDER BY fp;
SELECT h, count(*) FROM doc WHERE h <~> -1 <= 1 GROUP BY h ORDER BY h;
SELECT count(*), count(fp), min(fp), max(fp) FROM doc WHERE fp % ANY (ARRAY[0, -1]::simhash[]);
-- all rows, nulls among them
EXPLAIN (COSTS OFF) SELECT count(*) FROM doc;
SELECT count(fp), sum(fp::numeric) =
	(SELECT sum(hex::numeric) FROM (SELECT b::simhash::numeric AS hex FROM doc) s) AS same FROM doc;
-- not seen by everyone, so the table has to be asked
BEGIN;
UPDATE doc SET fp = 12345 WHERE id = 10001;
DELETE FROM doc WHERE id IN (10002, 10003);
INSERT INTO doc (id, fp) VALUES (20001, 1), (20002, NULL);
SELECT (SELECT count(*) FROM doc WHERE fp = 0), (SELECT fp FROM doc WHERE fp <~> 12345 <= 1),
	(SELECT count(*) - count(fp) AS nulls FROM doc);
ROLLBACK;
SELECT count(*) FROM doc WHERE fp = 0;

--
-- The first match will do
--
RESET enable_seqscan; RESET enable_bitmapscan; RESET enable_indexscan; RESET enable_indexonlyscan;
-- some are new, some are known, some are null
CREATE TABLE staging (id int, fp simhash, h bigint);
INSERT INTO staging
SELECT i, h, h FROM (SELECT i, CASE WHEN i % 10 = 0 THEN NULL WHEN i % 3 = 0 THEN flip(bits('r' || i), i % 7, 's' || i)
		WHEN i % 3 = 1 THEN bits('n' || i) ELSE bits('e1') END AS h
	FROM generate_series(1, 300) i) made;
ANALYZE staging;
SELECT plan(query) FROM unnest('{SELECT s.id FROM staging s WHERE EXISTS (SELECT FROM doc WHERE doc.fp <~> s.fp <= 3),
	SELECT s.id FROM staging s WHERE NOT EXISTS (SELECT FROM doc WHERE doc.fp <~> s.fp <= 3),
	SELECT s.id FROM staging s WHERE NOT EXISTS (SELECT FROM doc WHERE doc.fp % s.fp),
	SELECT s.id FROM staging s WHERE NOT EXISTS (SELECT FROM doc WHERE doc.h <~> s.h <= 3),
	SELECT s.id FROM staging s LEFT JOIN doc ON doc.fp <~> s.fp <= 3 WHERE doc.fp IS NULL,
	SELECT id FROM doc WHERE fp % bits(''r77'') LIMIT 1}'::text[]) query;
SELECT plan_of('SELECT EXISTS (SELECT FROM doc WHERE fp % -1)') LIKE '%Index Only Scan using doc_fp%' AS through_index;
CREATE TABLE known AS
SELECT id, EXISTS (SELECT FROM doc WHERE distance(doc.h, s.h) <= 3) AS known FROM staging s;
SELECT known, count(*) FROM known GROUP BY known ORDER BY known;
SELECT count(*) FROM (SELECT id FROM staging s WHERE EXISTS (SELECT FROM doc WHERE doc.fp <~> s.fp <= 3)
	EXCEPT ALL SELECT id FROM known WHERE known) wrong
UNION ALL SELECT count(*) FROM (SELECT id FROM known WHERE known
	EXCEPT ALL SELECT id FROM staging s WHERE EXISTS (SELECT FROM doc WHERE doc.fp <~> s.fp <= 3)) wrong
UNION ALL SELECT count(*) FROM (SELECT id FROM staging s WHERE NOT EXISTS (SELECT FROM doc WHERE doc.fp % s.fp)
	EXCEPT ALL SELECT id FROM known WHERE NOT known) wrong
UNION ALL SELECT count(*) FROM (SELECT id FROM known WHERE NOT known
	EXCEPT ALL SELECT id FROM staging s WHERE NOT EXISTS (SELECT FROM doc WHERE doc.fp % s.fp)) wrong
UNION ALL SELECT count(*) FROM (SELECT id FROM known WHERE NOT known
	EXCEPT ALL SELECT s.id FROM staging s LEFT JOIN doc ON doc.h <~> s.h <= 3 WHERE doc.id IS NULL) wrong;
SELECT count(*) AS asked, count(*) FILTER (WHERE found IS DISTINCT FROM known) AS wrong
FROM (SELECT id, EXISTS (SELECT FROM doc WHERE doc.fp <~> s.fp <= 3) AS found FROM staging s) f JOIN known USING (id);
-- one of them, whichever
SELECT * FROM rows_of(
	$$SELECT count(*) AS asked, count(one) AS answers, count(*) FILTER (WHERE (one IS NOT NULL) <> known) AS wrong,
	count(*) FILTER (WHERE distance(one, h) > 3) AS far
FROM (SELECT id, h, (SELECT doc.h FROM doc WHERE doc.fp <~> s.fp <= 3 LIMIT 1) AS one FROM staging s) f
	JOIN known USING (id)$$, $$SELECT count(*) FROM (SELECT id FROM doc WHERE fp % -1 LIMIT 1) s$$,
	$$SELECT EXISTS (SELECT FROM doc WHERE fp % -1), EXISTS (SELECT FROM doc WHERE fp % bits('absent'))$$);
-- scans that are left before their end leave the index as it was
SELECT simhash_index_check('doc_fp', true) \gset

--
-- Radii beyond the distance of the scheme
--

-- 50,000 random values; around each query three rows at each distance up to 20
CREATE TABLE wide (id int, fp simhash, near int);
INSERT INTO wide SELECT i, bits('w' || i), NULL FROM generate_series(1, 50000) i;
CREATE TABLE query (qno int PRIMARY KEY, fp simhash);
INSERT INTO query VALUES (1, bits('w1')), (2, 0), (3, bits('q3')), (4, flip(-1, 3, 'q')), (5, bits('q5'));
INSERT INTO wide
SELECT 50000 + qno * 1000 + d * 10 + i, flip(fp::bigint, d, 'n' || qno || i || d), d
FROM query, generate_series(0, 20) d, generate_series(1, 3) i;
CREATE TABLE truth AS
SELECT qno, r, count(*) AS n, sum(hashint8extended(id, 1)) AS rows
FROM (SELECT qno, id, distance(wide.fp::bigint, query.fp::bigint) AS d FROM wide, query) s, generate_series(0, 24) r
WHERE d <= r GROUP BY qno, r;
ANALYZE wide, query, truth;
SELECT r, sum(n) AS rows FROM truth GROUP BY r ORDER BY r;
CREATE FUNCTION compare_radii(options text, form text, OUT questions bigint, OUT wrong text) LANGUAGE plpgsql AS $$
DECLARE
	node text := CASE form WHEN 'bitmapscan' THEN 'Bitmap Index Scan on wide_fp' ELSE 'Index Scan using wide_fp' END;
	statement text;
	got record;
	t record;
BEGIN
	EXECUTE format('CREATE INDEX wide_fp ON wide USING simhash (fp) WITH (%s)', options);
	PERFORM use_only(form);
	questions := 0;
	FOR t IN SELECT * FROM truth JOIN query USING (qno) ORDER BY r, qno LOOP
		statement := format('SELECT count(*) AS n, sum(hashint8extended(id, 1)) AS rows FROM wide
			WHERE fp <~> %L <= %s', t.fp, t.r);
		IF strpos(plan_of(statement), node) = 0 THEN
			RAISE EXCEPTION 'the index is not used: %', statement USING DETAIL = plan_of(statement);
		END IF;
		EXECUTE statement INTO got;
		questions := questions + 1;
		IF (got.n, got.rows) IS DISTINCT FROM (t.n, t.rows) THEN
			wrong := concat_ws('; ', wrong, format('query %s radius %s: %s rows, not %s', t.qno, t.r, got.n, t.n));
		END IF;
	END LOOP;
	DROP INDEX wide_fp;
END $$;
SELECT * FROM (VALUES ('blocks = 4, distance = 3', 'indexscan'), ('blocks = 4, distance = 3', 'bitmapscan'),
	('blocks = 2, distance = 1', 'indexscan'), ('blocks = 6, distance = 3', 'indexscan'),
	('blocks = 8, distance = 3', 'indexscan')) v(options, form), compare_radii(options, form);
CREATE INDEX wide_fp ON wide USING simhash (fp);
SELECT use_only('indexscan') \g /dev/null
CREATE TABLE costs AS
SELECT r, estimate(format('SELECT id FROM wide WHERE fp <~> 0 <= %s', r), 'Total Cost') AS cost
FROM generate_series(0, 16) r;
SELECT (SELECT array_agg(cost ORDER BY r) = array_agg(cost ORDER BY cost) FROM costs WHERE r <= 3) AS grows,
	(SELECT min(cost) FROM costs WHERE r > 3) > (SELECT max(cost) FROM costs WHERE r <= 3) AS more_beyond,
	(SELECT max(cost) FROM costs) < 2 * (SELECT cost FROM costs WHERE r = 16) AS bounded;

DROP SCHEMA index_conditions_test CASCADE;
