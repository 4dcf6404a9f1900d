--
-- ORDER BY distance where fingerprints are not spread evenly: one value fills
-- many pages, so memory does not hold all rows at one distance.
--
-- Brute force, noted once for each query, is the reference.
--
\pset format unaligned
\pset footer off
CREATE SCHEMA index_order_skew_test;
SET search_path = index_order_skew_test, public; SET client_min_messages = warning;
SET max_parallel_workers_per_gather = 0;
SET jit = off;

CREATE FUNCTION distance(a simhash, b simhash) RETURNS int LANGUAGE sql IMMUTABLE AS $$
	SELECT distance(a::bigint, b::bigint)
$$;

-- one value 10,000 times, another 5,000 times, clusters, random ones, nulls; and
-- the distances from the centers that conditions below have
CREATE TABLE doc (id int PRIMARY KEY, fp simhash, part int, heavy int, c2000 int, c2050 int, zero int);
INSERT INTO doc
SELECT id, fp, id % 7, distance(fp, bits('heavy')), distance(fp, bits('c2000')), distance(fp, bits('c2050')),
	distance(fp, 0)
FROM (SELECT i AS id,
		CASE WHEN i <= 10000 THEN bits('heavy')
			 WHEN i <= 15000 THEN flip(bits('heavy'), 9, 'second')
			 WHEN i <= 17000 THEN flip(bits('c' || i / 8), i % 8, 'f' || i)
			 WHEN i <= 20900 THEN bits('r' || i)
			 END::simhash AS fp
	  FROM generate_series(1, 21000) i) made;
VACUUM (ANALYZE) doc;
-- how often each value is there; null as -1
CREATE TABLE value AS
SELECT coalesce(fp::numeric, -1) AS fp, count(*) AS n FROM doc GROUP BY 1;

-- where to look from: in the heavy values and at some distance, in a cluster,
-- nowhere
CREATE TABLE query (qno int PRIMARY KEY, fp simhash);
INSERT INTO query
VALUES (1, bits('heavy')), (2, flip(bits('heavy'), 2, 'q')), (3, flip(bits('heavy'), 9, 'second')),
	   (4, bits('c2000')), (5, flip(bits('c2050'), 3, 'q')), (6, flip(bits('r18000'), 1, 'q')),
	   (7, bits('nowhere')), (8, 0), (9, -1), (10, flip(bits('heavy'), 20, 'q'));
ANALYZE query;

-- What to ask: a condition for the index, $q being the query, and the same
-- without operators of the extension, d being the distance from the query.
CREATE TABLE form (no int PRIMARY KEY, condition text, truth text);
INSERT INTO form VALUES
	(1, 'true', 'true'),
	(2, 'doc.fp IS NOT NULL', 'fp IS NOT NULL'),
	-- the same center
	(3, 'doc.fp <~> $q <= 2', 'd <= 2'),
	(4, 'doc.fp % $q', 'd <= 3'),
	(5, 'doc.fp <~> $q <= 12', 'd <= 12'),
	(6, 'doc.fp <~> $q <= 26', 'd <= 26'),
	(7, 'doc.fp <~> $q <= -1', 'd < 0'),
	-- another center
	(8, 'doc.fp <~> bits(''heavy'') <= 3', 'heavy <= 3'),
	(9, 'doc.fp <~> bits(''heavy'') <= 9', 'heavy <= 9'),
	(10, 'doc.fp <~> bits(''c2000'') <= 6', 'c2000 <= 6'),
	(11, 'doc.fp <~> 0 <= 28', 'zero <= 28'),
	(12, 'doc.fp <~> $q <= 9 AND doc.fp <~> bits(''heavy'') <= 9', 'd <= 9 AND heavy <= 9'),
	(13, 'doc.fp <@ ANY (ARRAY[simhash_ball(bits(''heavy''), 1), simhash_ball(bits(''c2000''), 7),
		simhash_ball(bits(''c2050''), 7), simhash_ball(bits(''c2050''), 2)])',
		'(heavy <= 1 OR c2000 <= 7 OR c2050 <= 7)'),
	-- not all of it is for the index
	(14, 'part = 3', 'part = 3'),
	(15, 'doc.fp <~> $q <= 12 AND part = 3', 'd <= 12 AND part = 3'),
	(16, 'id % 5000 = 17', 'id % 5000 = 17');

-- the distances that must come, in order; those of nulls are null and last
CREATE TABLE expected (qno int, form int, d int[], PRIMARY KEY (qno, form));
\set ECHO none
SELECT format('INSERT INTO expected SELECT qno, %s, array_agg(d ORDER BY d NULLS LAST)
	FROM (SELECT qno, doc.*, distance(doc.fp, query.fp) AS d FROM doc, query) s WHERE %s GROUP BY qno', no, truth)
FROM form ORDER BY no \gexec
\set ECHO all
INSERT INTO expected SELECT qno, no, '{}' FROM query, form ON CONFLICT DO NOTHING;
CREATE TABLE expected_two (a int, b int, d1 int[], d2 int[], PRIMARY KEY (a, b));
INSERT INTO expected_two
SELECT a, b, array_agg(d1 ORDER BY d1 NULLS LAST, d2), array_agg(d2 ORDER BY d1 NULLS LAST, d2)
FROM (SELECT a.qno AS a, b.qno AS b, distance(doc.fp, a.fp) AS d1, distance(doc.fp, b.fp) AS d2
	  FROM doc, query a, query b WHERE a.qno IN (1, 2, 5, 7, 8) AND b.qno IN (1, 4, 10)) s
GROUP BY a, b;
ANALYZE expected, expected_two;
-- what the tests below rely on: distances with many rows, and with few
SELECT qno, cardinality(d) AS rows, d[1] AS nearest, d[10] AS tenth, d[20900] AS farthest, d[20901] AS of_null,
	(SELECT max(n) FROM (SELECT count(*) AS n FROM unnest(d) x GROUP BY x) g) AS most_at_one_distance
FROM expected WHERE form = 1 ORDER BY qno;
SELECT form, sum(cardinality(d)) AS rows FROM expected GROUP BY form ORDER BY form;

-- Leave the planner nothing but one kind of scan and the order of the index.  For
-- index-only scans both settings have to be on.

CREATE FUNCTION require_order(statement text, form text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	plan text := plan_of(statement);
	node text := CASE form WHEN 'indexscan' THEN 'Index Scan using doc_fp' ELSE 'Index Only Scan using doc_fp' END;
BEGIN
	IF strpos(plan, node) = 0 OR strpos(plan, 'Order By: (') = 0 THEN
		RAISE EXCEPTION 'the order does not come from the index: %', statement USING DETAIL = plan;
	END IF;
END $$;

-- Ask for the n nearest to a query that meet a condition: null if they are,
-- else what is wrong.  If no row comes twice, all meet the condition, and the
-- distances are the expected ones in order, then the rows of each distance but
-- the last one are complete.
CREATE FUNCTION ask(q query, f form, n int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	statement text := format('SELECT *, distance(fp, %1$L) AS d FROM doc WHERE %2$s ORDER BY fp <~> %1$L LIMIT %3$s',
							 q.fp, replace(f.condition, '$q', quote_literal(q.fp)), n);
	got record;
	d int[] := (SELECT e.d[:n] FROM expected e WHERE qno = q.qno AND form = f.no);
BEGIN
	PERFORM require_order(statement, 'indexscan');
	EXECUTE format('SELECT coalesce(array_agg(d ORDER BY place), ''{}'') AS d, count(*) - count(DISTINCT id) AS twice,
		count(*) FILTER (WHERE (%s) IS NOT TRUE) AS wrong FROM (SELECT *, row_number() OVER () AS place FROM (%s) s) s',
		f.truth, statement) INTO got;
	IF got.d IS DISTINCT FROM d OR got.twice > 0 OR got.wrong > 0 THEN
		RETURN format('form %s, query %s: %s rows, not %s; %s twice; %s wrong; distances %s', f.no, q.qno,
					  cardinality(got.d), cardinality(d), got.twice, got.wrong,
					  CASE WHEN got.d = d THEN 'agree' ELSE 'differ' END);
	END IF;
	RETURN NULL;
END $$;

-- The same through an index-only scan, which has no ids: so no value may come
-- more often than it is there.
CREATE FUNCTION ask_index_only(q query, f form, n int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	statement text := format('SELECT fp FROM doc WHERE %2$s ORDER BY fp <~> %1$L LIMIT %3$s',
							 q.fp, replace(f.condition, '$q', quote_literal(q.fp)), n);
	got record;
	d int[] := (SELECT e.d[:n] FROM expected e WHERE qno = q.qno AND form = f.no);
BEGIN
	PERFORM require_order(statement, 'indexonlyscan');
	EXECUTE format('WITH s AS MATERIALIZED (%s)
		SELECT coalesce((SELECT array_agg(distance(fp, %L)) FROM s), ''{}'') AS d,
		(SELECT count(*) FROM (SELECT coalesce(fp::numeric, -1) AS fp, count(*) AS n FROM s GROUP BY 1) g
		 LEFT JOIN value v USING (fp) WHERE g.n > coalesce(v.n, 0)) AS wrong', statement, q.fp) INTO got;
	IF got.d IS DISTINCT FROM d OR got.wrong > 0 THEN
		RETURN format('form %s, query %s, index only: %s rows, not %s; %s values too often; distances %s', f.no, q.qno,
					  cardinality(got.d), cardinality(d), got.wrong,
					  CASE WHEN got.d = d THEN 'agree' ELSE 'differ' END);
	END IF;
	RETURN NULL;
END $$;

-- Many queries in one statement: the inner side is rescanned with another query
-- each time, a null one among them.
CREATE FUNCTION ask_lateral(f form, n int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	statement text := format('SELECT q.qno, n.* FROM
		(SELECT qno, fp FROM query WHERE %3$s < 1000 OR qno %% 3 = 1
		 UNION ALL SELECT 0, NULL UNION ALL SELECT 6, NULL ORDER BY qno, fp) q
		CROSS JOIN LATERAL (SELECT row_number() OVER () AS no, s.* FROM
			(SELECT *, distance(doc.fp, q.fp) AS d FROM doc WHERE %1$s ORDER BY doc.fp <~> %2$s LIMIT %3$s) s) n',
		replace(f.condition, '$q', 'q.fp'), 'q.fp', n);
	problem text;
BEGIN
	PERFORM require_order(statement, 'indexscan');
	-- from null all are equally far, but none is within a distance
	EXECUTE format('WITH got AS MATERIALIZED (%s),
		answer AS (SELECT qno, array_agg(d ORDER BY no) AS d, count(*) - count(DISTINCT id) AS twice,
					count(*) FILTER (WHERE (%s) IS NOT TRUE) AS wrong FROM got WHERE qno NOT IN (0, 6) GROUP BY qno)
		SELECT string_agg(format(''query %%s: %%s rows, not %%s; %%s twice; %%s wrong'', qno, cardinality(a.d),
				cardinality(e.d[:%3$s]), twice, wrong), ''; '' ORDER BY qno)
		FROM (SELECT * FROM expected WHERE form = %4$s AND qno <> 6 AND (%3$s < 1000 OR qno %% 3 = 1)) e
			LEFT JOIN answer a USING (qno)
		WHERE coalesce(a.d, ''{}'') IS DISTINCT FROM e.d[:%3$s] OR twice > 0 OR wrong > 0
		', statement, f.truth, n, f.no) INTO problem;
	RETURN format('form %s, lateral: ', f.no) || problem;
END $$;

-- Two keys: equal distances from the first are in the order of the second.
CREATE FUNCTION ask_two_keys(a query, b query, n int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	statement text := format('SELECT id, distance(fp, %1$L) AS d1, distance(fp, %2$L) AS d2 FROM doc
		ORDER BY fp <~> %1$L, fp <~> %2$L LIMIT %3$s', a.fp, b.fp, n);
	got record;
	expected record;
BEGIN
	PERFORM require_order(statement, 'indexscan');
	EXECUTE format('SELECT array_agg(d1 ORDER BY place) AS d1, array_agg(d2 ORDER BY place) AS d2,
		count(*) - count(DISTINCT id) AS twice
		FROM (SELECT *, row_number() OVER () AS place FROM (%s) s) s', statement) INTO got;
	SELECT d1[:n] AS d1, d2[:n] AS d2, 0::bigint AS twice INTO expected
	FROM expected_two e WHERE e.a = $1.qno AND e.b = $2.qno;
	IF got IS DISTINCT FROM expected THEN
		RETURN format('queries %s and %s: %s rows, not %s; %s twice', a.qno, b.qno,
					  cardinality(got.d1), cardinality(expected.d1), got.twice);
	END IF;
	RETURN NULL;
END $$;

-- A cursor that is read in pieces, and moved, with other scans of the index
-- in between.  What was moved over must be missing, and nothing else.
CREATE FUNCTION ask_cursor(q query, taken int, skipped int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	c refcursor;
	statement text := format('SELECT id, distance(fp, %1$L) AS d FROM doc ORDER BY fp <~> %1$L', q.fp);
	ids int[] := '{}';
	distances int[] := '{}';
	expected int[] := (SELECT d FROM expected WHERE qno = q.qno AND form = 1);
	wanted int[] := '{}';
	place int := 0;
	got record;
	moved int;
BEGIN
	PERFORM require_order(statement, 'indexscan');
	OPEN c NO SCROLL FOR EXECUTE statement;
	<<pieces>>
	LOOP
		FOR i IN 1 .. taken LOOP
			FETCH c INTO got;
			EXIT pieces WHEN NOT FOUND;
			place := place + 1;
			ids := ids || got.id;
			distances := distances || got.d;
			wanted := wanted || expected[place];
		END LOOP;
		PERFORM id FROM doc ORDER BY fp <~> 0 LIMIT 1;
		MOVE FORWARD skipped FROM c;
		GET DIAGNOSTICS moved = ROW_COUNT;
		place := place + moved;
	END LOOP;
	IF place <> cardinality(expected) OR distances IS DISTINCT FROM wanted OR
		(SELECT count(DISTINCT id) FROM unnest(ids) id) <> cardinality(ids) THEN
		RETURN format('cursor on query %s: %s rows, not %s; distances %s', q.qno, place, cardinality(expected),
					  CASE WHEN distances = wanted THEN 'agree' ELSE 'differ' END);
	END IF;
	RETURN NULL;
END $$;

-- Everything, with the index as it is now, with memory for all rows and with so
-- little that histogram and streaming are needed: how many questions, and the
-- first wrong answer.  A third of the queries, or all of them.
CREATE FUNCTION compare(third int DEFAULT NULL, OUT memory text, OUT what text, OUT questions bigint, OUT wrong text) RETURNS SETOF record
LANGUAGE plpgsql AS $$
DECLARE
	n int;
	fewer int[];
BEGIN
	FOREACH memory IN ARRAY '{4MB,64kB}'::text[] LOOP
		PERFORM set_config('work_mem', memory, false), use_only('indexscan', '{sort,material,memoize}');
		-- the last one is beyond everything
		FOREACH n IN ARRAY CASE memory WHEN '4MB' THEN '{1,10,30000}' ELSE '{300,30000}' END::int[] LOOP
			what := 'limit ' || n;
			PERFORM use_only('indexscan', '{sort,material,memoize}');
			SELECT count(*), (array_agg(a ORDER BY no, qno) FILTER (WHERE a IS NOT NULL))[1] INTO questions, wrong
			FROM (SELECT qno, no, ask(q, f, n) AS a FROM query q, form f
				  WHERE qno % 3 = coalesce(third, CASE WHEN n > 1000 THEN 1 END, qno % 3)) s;
			RETURN NEXT;
			what := 'limit ' || n || ', lateral';
			SELECT count(*), (array_agg(a ORDER BY no) FILTER (WHERE a IS NOT NULL))[1] INTO questions, wrong
			FROM (SELECT no, ask_lateral(f, n) AS a FROM form f WHERE no IN (1, 4, 5, 15)) s;
			RETURN NEXT;
			PERFORM use_only('indexonlyscan', '{sort,material,memoize}');
			what := 'limit ' || n || ', index only';
			SELECT count(*), (array_agg(a ORDER BY no, qno) FILTER (WHERE a IS NOT NULL))[1] INTO questions, wrong
			FROM (SELECT qno, no, ask_index_only(q, f, n) AS a FROM query q, form f
				  WHERE qno % 3 = coalesce(third, CASE WHEN n > 1000 THEN 1 END, qno % 3) AND f.truth !~ 'part|id') s;
			RETURN NEXT;
			PERFORM use_only('indexscan', '{sort,material,memoize}');
			what := 'limit ' || n || ', two keys';
			SELECT count(*), (array_agg(a ORDER BY qa, qb) FILTER (WHERE a IS NOT NULL))[1] INTO questions, wrong
			FROM (SELECT q.qno AS qa, p.qno AS qb, ask_two_keys(q, p, n) AS a FROM query q, query p
				  WHERE q.qno IN (1, 2, 5, 7, 8) AND p.qno IN (1, 4, 10) AND q.qno % 3 = coalesce(third, q.qno % 3)) s;
			RETURN NEXT;
		END LOOP;
		what := 'cursor';
		SELECT count(*), string_agg(a, '; ') INTO questions, wrong
		FROM (SELECT ask_cursor(q, taken, skipped) AS a FROM (VALUES (1, 700, 1), (6, 3, 500), (7, 1000, 1)) v(qno,
			taken, skipped)
			  JOIN query q USING (qno)) s;
		RETURN NEXT;
	END LOOP;
	RESET work_mem;
END $$;
\pset null (none)

CREATE INDEX doc_fp ON doc USING simhash (fp);
-- how the plans look
SELECT use_only('indexscan', '{sort,material,memoize}') \g /dev/null
EXPLAIN (COSTS OFF) SELECT id FROM doc ORDER BY fp <~> 0 LIMIT 10;
EXPLAIN (COSTS OFF) SELECT id FROM doc WHERE fp <~> 7 <= 3 ORDER BY fp <~> 0, fp <~> -1 LIMIT 10;
SELECT use_only('indexonlyscan', '{sort,material,memoize}') \g /dev/null
EXPLAIN (COSTS OFF) SELECT fp <~> 0 AS distance FROM doc ORDER BY distance LIMIT 10;
-- and without anything forced
RESET ALL;
SET search_path = index_order_skew_test, public;
SET client_min_messages = warning;
SET max_parallel_workers_per_gather = 0;
SET jit = off;
EXPLAIN (COSTS OFF) SELECT id FROM doc ORDER BY fp <~> 0 LIMIT 10;
EXPLAIN (COSTS OFF) SELECT q.qno, n.id FROM query q, LATERAL (SELECT id FROM doc ORDER BY fp <~> q.fp LIMIT 1) n;

SELECT * FROM compare();
DROP INDEX doc_fp;
CREATE INDEX doc_fp ON doc USING simhash (fp) WITH (blocks = 2, distance = 1);
SELECT * FROM compare(1) WHERE wrong IS NOT NULL;
DROP INDEX doc_fp;
CREATE INDEX doc_fp ON doc USING simhash (fp) WITH (blocks = 6, distance = 3);
SELECT * FROM compare(2) WHERE wrong IS NOT NULL;
DROP INDEX doc_fp;
CREATE INDEX doc_fp ON doc USING simhash (fp) WITH (blocks = 4, distance = 0);
SELECT * FROM compare(0) WHERE wrong IS NOT NULL;

--
-- A null query: every row once, in whatever order
--
SELECT use_only('indexscan', '{sort,material,memoize}') \g /dev/null
SELECT require_order('SELECT id FROM doc ORDER BY fp <~> (SELECT NULL::simhash OFFSET 0)', 'indexscan') \g /dev/null
SELECT count(*), count(DISTINCT id), count(fp)
FROM (SELECT id, fp FROM doc ORDER BY fp <~> (SELECT NULL::simhash OFFSET 0)) s;
-- beside another key, it does not decide anything
CREATE FUNCTION beside_null(statement text, OUT rows bigint, OUT in_order boolean) LANGUAGE plpgsql AS $$
BEGIN
	PERFORM require_order(statement, 'indexscan');
	EXECUTE format('SELECT count(*), array_agg(d ORDER BY place) = array_agg(d ORDER BY d)
		FROM (SELECT *, row_number() OVER () AS place FROM (%s) s) s', statement) INTO rows, in_order;
END $$;
SELECT * FROM beside_null('SELECT id, distance(fp, 0) AS d FROM doc WHERE fp IS NOT NULL
	ORDER BY fp <~> 0, fp <~> (SELECT NULL::simhash OFFSET 0)');
SELECT * FROM beside_null('SELECT id, distance(fp, 0) AS d FROM doc WHERE fp IS NOT NULL
	ORDER BY fp <~> (SELECT NULL::simhash OFFSET 0), fp <~> 0');

--
-- Only nulls, one row, no row
--
CREATE TABLE small (id int, fp simhash);
CREATE INDEX small_fp ON small USING simhash (fp);
SELECT plan_of('SELECT id FROM small ORDER BY fp <~> 5') LIKE '%Order By%' AS ordered;
SELECT id FROM small ORDER BY fp <~> 5;
INSERT INTO small VALUES (1, NULL), (2, NULL);
SELECT count(*) FROM (SELECT id FROM small ORDER BY fp <~> 5) s;
SELECT id FROM small WHERE fp IS NOT NULL ORDER BY fp <~> 5;
INSERT INTO small VALUES (3, -1);
SELECT id FROM small ORDER BY fp <~> 5 LIMIT 1;
SELECT count(*) FROM (SELECT id FROM small WHERE fp IS NULL ORDER BY fp <~> 5) s;

--
-- A scrollable cursor
--
BEGIN;
INSERT INTO small SELECT 10 + i, (1::bigint << i) - 1 FROM generate_series(0, 20) i;
DECLARE c SCROLL CURSOR FOR SELECT id FROM small ORDER BY fp <~> 0;
FETCH 3 FROM c;
FETCH BACKWARD 2 FROM c;
MOVE FORWARD 15 FROM c;
FETCH 2 FROM c;
FETCH LAST FROM c;
FETCH FIRST FROM c;
COMMIT;

--
-- Rows that come and go while a cursor is open
--
BEGIN;
SELECT require_order('SELECT id FROM doc ORDER BY fp <~> 0', 'indexscan') \g /dev/null
DECLARE c CURSOR FOR SELECT id FROM doc ORDER BY fp <~> 0;
CREATE TEMPORARY TABLE seen (no serial, id int);
CREATE TEMPORARY TABLE before AS SELECT id, fp FROM doc;
CREATE FUNCTION take(c refcursor, n int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	got int;
BEGIN
	FOR i IN 1 .. n LOOP
		FETCH c INTO got;
		EXIT WHEN NOT FOUND;
		INSERT INTO seen (id) VALUES (got);
	END LOOP;
END $$;
SELECT take('c', 500) \g /dev/null
INSERT INTO doc SELECT 100000 + id, fp, part FROM doc WHERE id % 2 = 0;
UPDATE doc SET part = -1 WHERE id % 10 = 1;
DELETE FROM doc WHERE id % 10 = 2;
SELECT take('c', 50000) \g /dev/null
SELECT count(*), count(DISTINCT seen.id) AS different,
	array_agg(distance(fp, 0) ORDER BY no) = (SELECT d FROM expected WHERE qno = 8 AND form = 1) AS as_expected
FROM seen LEFT JOIN before USING (id);
ROLLBACK;

DROP SCHEMA index_order_skew_test CASCADE;
