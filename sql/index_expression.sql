--
-- Indexes on expressions
--
-- An index on simhash_compute(body) gives what one on a stored fingerprint gives,
-- and does not compute fingerprints of rows that it does not return.
--
\pset format unaligned
\pset footer off
CREATE SCHEMA index_expression_test;
SET search_path = index_expression_test, public; SET client_min_messages = warning;
SET max_parallel_workers_per_gather = 0;
SET default_statistics_target = 100;

-- Documents in families whose members have some of their 60 words replaced; texts
-- without a fingerprint; texts that are stored out of line.  Equal texts, too.
CREATE TABLE doc (id int PRIMARY KEY, lang text, views int, body text) WITH (fillfactor = 50);
ALTER TABLE doc ALTER body SET STORAGE EXTERNAL;
INSERT INTO doc
SELECT i, CASE WHEN i % 3 = 0 THEN 'de' ELSE 'en' END, 0,
	CASE WHEN i % 97 = 0 THEN NULL WHEN i % 89 = 0 THEN '...'
		ELSE (SELECT string_agg(md5(CASE WHEN w <= i % 7 - 3 THEN i || ' ' || w ELSE i % 300 || ' ' || w END), ' '
			ORDER BY w)
			  FROM generate_series(1, CASE WHEN i % 300 < 30 THEN 300 ELSE 60 END) w) END
FROM generate_series(1, 1500) i;
CREATE TABLE stored AS SELECT id, lang, simhash_compute(body) AS fp, simhash_compute(body)::bigint AS h FROM doc;
SELECT count(*) AS rows, count(h) AS fingerprints, count(DISTINCT h) AS values FROM stored;
SELECT pg_relation_size(reltoastrelid) > 0 AS has_toast FROM pg_class WHERE oid = 'doc'::regclass;

CREATE INDEX doc_fp ON doc USING simhash (simhash_compute(body));
CREATE INDEX stored_fp ON stored USING simhash (fp);
ANALYZE doc, stored;
SELECT simhash_index_check('doc_fp', true) \gset

-- the view gives the expression a name
CREATE VIEW docs AS SELECT *, simhash_compute(body) AS fp FROM doc;

--
-- Look-ups, against sequential scans of stored numbers
--
CREATE TABLE query AS
SELECT row_number() OVER (ORDER BY id) AS no, h FROM stored WHERE id % 170 = 0 AND h IS NOT NULL;
INSERT INTO query VALUES (100, 0), (101, bits('far'));
CREATE TABLE condition (no int, form text, truth text);
INSERT INTO condition VALUES
	(1, '$f <~> $q::simhash <= 3', 'distance(h, $q) <= 3'),
	(2, '$q::simhash <~> $f < 7', 'distance(h, $q) < 7'),
	(3, '$f % $q::simhash', 'distance(h, $q) <= 3'),
	(4, '$f <@ simhash_ball($q, 20)', 'distance(h, $q) <= 20'),
	(5, 'simhash_within($f, $q, 30)', 'distance(h, $q) <= 30'),
	(6, '$f = $q::simhash', 'h = $q'),
	(7, '$f % ANY (ARRAY[$q, 42]::simhash[])', 'distance(h, $q) <= 3 OR distance(h, 42) <= 3'),
	(8, '$f <~> $q::simhash <= 6 AND lang = ''de''', 'distance(h, $q) <= 6 AND lang = ''de'''),
	(9, '$f IS NULL', 'h IS NULL'),
	(10, '$f IS NOT NULL AND $f <~> $q::simhash > 25', 'distance(h, $q) > 25');

-- The rows of the stored numbers, and the number of questions that the index
-- answers otherwise.
CREATE FUNCTION compare(scan text, index text DEFAULT 'doc_fp', expression text DEFAULT 'simhash_compute(body)',
	filter text DEFAULT 'true')
RETURNS TABLE (rows bigint, wrong bigint) LANGUAGE plpgsql AS $$
DECLARE
	c record;
	answer int[];
	expected int[];
	statement text;
BEGIN
	rows := 0;
	wrong := 0;
	FOR c IN SELECT replace(replace(form, '$f', expression), '$q', '(''' || h || '''::bigint)') AS form,
			replace(truth, '$q', '(''' || h || '''::bigint)') AS truth
		FROM condition, query ORDER BY condition.no, query.no
	LOOP
		statement := format('SELECT id FROM doc WHERE (%s) AND %s', c.form, filter);
		IF strpos(plan_of(statement), scan || ' ' || index) = 0 AND c.truth !~ '>' THEN
			RAISE EXCEPTION 'the index is not used: %', statement USING DETAIL = plan_of(statement);
		END IF;
		EXECUTE format('SELECT array_agg(id ORDER BY id) FROM (%s) s', statement) INTO answer;
		EXECUTE format('SELECT array_agg(id ORDER BY id) FROM stored WHERE (%s) AND %s', c.truth, filter) INTO expected;
		rows := rows + coalesce(cardinality(expected), 0);
		wrong := wrong + (answer IS DISTINCT FROM expected)::int;
	END LOOP;
	RETURN NEXT;
END $$;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT * FROM compare('using');
SET enable_bitmapscan = on;
SET enable_indexscan = off;
SELECT * FROM compare('Bitmap Index Scan on');
SET enable_indexscan = on;
SET enable_bitmapscan = off;

-- nearest first, with the expression and by its name; nulls last
CREATE FUNCTION nearest_wrong(source text, expression text, rows int) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	q record;
	statement text;
	answer int[];
	expected int[];
	wrong bigint := 0;
BEGIN
	FOR q IN SELECT h FROM query LOOP
		statement := format('SELECT coalesce((%1$s <~> %2$L::simhash)::int, 99) AS d FROM %3$s
			ORDER BY %1$s <~> %2$L::simhash LIMIT %4$s', expression, q.h, source, rows);
		IF strpos(plan_of(statement), 'Index Scan using doc_fp') = 0 OR strpos(plan_of(statement), 'Sort') > 0 THEN
			RAISE EXCEPTION 'the index is not used: %', statement USING DETAIL = plan_of(statement);
		END IF;
		EXECUTE format('SELECT array_agg(d) FROM (%s) s', statement) INTO answer;
		SELECT array_agg(d) FROM (SELECT coalesce(distance(h, q.h), 99) AS d FROM stored ORDER BY 1 LIMIT rows) s
			INTO expected;
		wrong := wrong + (answer IS DISTINCT FROM expected)::int;
	END LOOP;
	RETURN wrong;
END $$;
SELECT rows, nearest_wrong('doc', 'simhash_compute(body)', rows) AS wrong,
	nearest_wrong('docs', 'fp', rows) AS wrong_by_name
FROM unnest('{1,10,200,2000}'::int[]) rows;

-- joins from either side, and what has no match
SELECT plan(query) FROM (VALUES ('SELECT a.id, b.id FROM docs a JOIN docs b ON a.fp <~> b.fp <= 6 WHERE a.id < 50'),
	('SELECT count(*) FROM stored s WHERE NOT EXISTS (SELECT FROM docs WHERE docs.fp % s.fp AND docs.id <> s.id)')) v(query);
SELECT * FROM rows_of($$SELECT count(*) AS pairs, count(*) FILTER (WHERE distance(s.h, t.h) <= 6) AS near
	FROM docs a JOIN docs b ON a.fp <~> b.fp <= 6 JOIN stored s ON s.id = a.id JOIN stored t ON t.id = b.id
	WHERE a.id < 50$$,
	$$SELECT count(*) AS pairs FROM stored s JOIN stored t ON distance(s.h, t.h) <= 6 WHERE s.id < 50$$,
	$$SELECT count(*) AS alone FROM stored s WHERE fp IS NOT NULL AND NOT EXISTS (SELECT FROM docs
	WHERE docs.fp % s.fp AND docs.id <> s.id)$$,
	$$SELECT count(*) AS alone FROM stored s WHERE h IS NOT NULL AND NOT EXISTS (SELECT FROM stored t
	WHERE distance(s.h, t.h) <= 3 AND t.id <> s.id)$$);

--
-- Which fingerprints are computed.  The server counts the calls; the texts that
-- are asked for are not among them.
--
SET track_functions = 'all';
CREATE FUNCTION calls() RETURNS bigint LANGUAGE sql AS $$
	SELECT coalesce(pg_stat_get_xact_function_calls('simhash_compute(text, int, text)'::regprocedure), 0)
$$;
CREATE FUNCTION computed(INOUT what text, statement text, OUT rows bigint, OUT computed bigint) LANGUAGE plpgsql AS $$
BEGIN
	computed := calls();
	EXECUTE statement;
	GET DIAGNOSTICS rows = ROW_COUNT;
	computed := calls() - computed;
END $$;
CREATE VIEW statement AS SELECT no, what, replace(statement, '$q', quote_literal(fp) || '::simhash') AS statement
FROM stored, (VALUES
	(1, 'look-up', 'SELECT id FROM docs WHERE fp <~> $q <= 3'),
	(2, 'look-up with the distance', 'SELECT id, fp <~> $q FROM docs WHERE fp <~> $q <= 3'),
	(3, 'look-up with distance and fingerprint', 'SELECT id, fp, fp <~> $q FROM docs WHERE fp <~> $q <= 3'),
	(4, 'nearest', 'SELECT id FROM docs ORDER BY fp <~> $q LIMIT 10'),
	(5, 'nearest with the distance', 'SELECT id, fp <~> $q AS d FROM docs ORDER BY d LIMIT 10'),
	(6, 'nearest within a radius', 'SELECT id, fp <~> $q AS d FROM docs WHERE fp <~> $q <= 6 ORDER BY d'),
	(7, 'join with stored fingerprints', 'SELECT docs.id FROM stored JOIN docs ON docs.fp % stored.fp
		WHERE stored.id <= 20'),
	(8, 'join with itself', 'SELECT b.id FROM docs a JOIN docs b ON a.fp % b.fp WHERE a.id <= 20'),
	(9, 'pairs', 'SELECT x.id, y.id FROM simhash_find_all(''doc_fp'') JOIN doc x ON x.ctid = a
		JOIN doc y ON y.ctid = b'),
	(10, 'clusters', 'SELECT cluster, member FROM simhash_find_clusters(''doc_fp'')'),
	(11, 'bitmap scan, <~>', 'SELECT id FROM docs WHERE fp <~> $q <= 3'),
	(12, 'bitmap scan, %', 'SELECT id FROM docs WHERE fp % $q'),
	(13, 'bitmap scan, <@', 'SELECT id FROM docs WHERE fp <@ simhash_ball($q, 3)')
) v (no, what, statement) WHERE id = 400 ORDER BY no;
SELECT c.* FROM statement s, computed(s.what, s.statement) c WHERE no <= 10;
-- a bitmap scan computes those that it finds for what planner support rewrites
SET enable_bitmapscan = on;
SET enable_indexscan = off;
SELECT c.* FROM statement s, computed(s.what, s.statement) c WHERE no > 10;
SET enable_indexscan = on;
SET enable_bitmapscan = off;

--
-- Changes.  An update of another column leaves the index alone; nothing is
-- computed unless the row needs a new entry.
--
CREATE FUNCTION hot_updates() RETURNS bigint LANGUAGE sql AS $$
	SELECT pg_stat_get_xact_tuples_hot_updated('index_expression_test.doc'::regclass)
$$;
BEGIN;
SELECT * FROM rows_of(
	$$SELECT * FROM computed('another column', 'UPDATE doc SET views = views + 1 WHERE id BETWEEN 31 AND 50')$$,
	$$SELECT hot_updates() AS hot_updates$$,
	$$SELECT * FROM computed('the text', 'UPDATE doc SET body = body || '' etc.'' WHERE id BETWEEN 31 AND 50')$$,
	$$SELECT hot_updates() AS hot_updates$$,
	$$SELECT * FROM computed('delete', 'DELETE FROM doc WHERE id BETWEEN 31 AND 40')$$,
	$$SELECT * FROM computed('insert', 'INSERT INTO doc SELECT id + 2000, lang, views, body FROM doc
	WHERE id BETWEEN 51 AND 60')$$);
SELECT simhash_index_check('doc_fp', true) \gset
SELECT count(*) AS rows FROM docs d JOIN docs e ON d.fp <~> e.fp <= 0 WHERE d.id > 2000 AND e.id = d.id - 2000;
ROLLBACK;
SELECT * FROM compare('using');

--
-- All pairs and clusters, against those of stored fingerprints
--
CREATE FUNCTION pairs_differ(r int) RETURNS bigint LANGUAGE sql AS $$
	WITH expression AS (
		SELECT least(x.id, y.id) AS a, greatest(x.id, y.id) AS b, distance
		FROM simhash_find_all('doc_fp', r) JOIN doc x ON x.ctid = a JOIN doc y ON y.ctid = b
	), truth AS (
		SELECT x.id AS a, y.id AS b, distance(x.h, y.h) AS distance FROM stored x
			JOIN stored y ON x.id < y.id AND distance(x.h, y.h) <= r
	)
	SELECT count(*) FROM ((TABLE expression EXCEPT ALL TABLE truth)
		UNION ALL (TABLE truth EXCEPT ALL TABLE expression)) d
$$;
SELECT r, count(*) AS pairs, pairs_differ(r) AS differ FROM unnest('{0,3,7}'::int[]) r, simhash_find_all('doc_fp', r)
GROUP BY r ORDER BY r;
WITH expression AS (
	SELECT id, cluster, size, fp FROM simhash_find_clusters('doc_fp') JOIN doc ON ctid = member
), truth AS (
	SELECT id, cluster, size, c.fp FROM simhash_find_clusters('stored_fp') c JOIN stored ON ctid = member
)
SELECT (SELECT count(*) FROM expression) AS members,
	(SELECT count(*) FROM ((TABLE expression EXCEPT ALL TABLE truth)
		UNION ALL (TABLE truth EXCEPT ALL TABLE expression)) d) AS differ;
-- the fingerprint that a function gives is that of the row that it names
SELECT count(*) AS rows, count(*) FILTER (WHERE simhash_compute(body) = a_fp) AS equal
FROM simhash_find_all('doc_fp', 3) JOIN doc ON doc.ctid = a;

--
-- Constraints
--
CREATE TABLE corpus (id int, body text, CONSTRAINT corpus_body EXCLUDE USING simhash ((simhash_compute(body)) WITH %));
INSERT INTO corpus VALUES (1, 'The quick brown fox jumps over the lazy dog near the river bank.');
INSERT INTO corpus VALUES (2, 'THE QUICK BROWN FOX JUMPS OVER THE LAZY DOG, NEAR THE RIVER BANK!');
INSERT INTO corpus VALUES (3, 'Quite another text about the weather of the last summer in the north.'), (4, '...'),
	(5, NULL), (6, '!');
INSERT INTO corpus SELECT id, body FROM corpus ON CONFLICT DO NOTHING;
INSERT INTO corpus VALUES (7, 'the quick brown fox jumps over the lazy dog near the river bank') ON CONFLICT
	ON CONSTRAINT corpus_body DO NOTHING;
UPDATE corpus SET body = 'the quick brown fox jumps over the lazy dog near the river bank' WHERE id = 3;
SELECT id FROM corpus ORDER BY id;
-- a load takes what one that decides row by row takes
TRUNCATE corpus;
INSERT INTO corpus SELECT id, body FROM doc ORDER BY id ON CONFLICT DO NOTHING;
CREATE TABLE column_corpus (id int, fp simhash, EXCLUDE USING simhash (fp WITH %));
INSERT INTO column_corpus SELECT id, fp FROM stored ORDER BY id ON CONFLICT DO NOTHING;
SELECT * FROM (SELECT count(*) AS taken, count(*) FILTER (WHERE c.id IS NOT NULL) AS same FROM corpus
	FULL JOIN column_corpus c USING (id)) a,
	(WITH h AS MATERIALIZED (SELECT id, simhash_compute(body)::bigint AS h FROM corpus)
	SELECT count(*) AS near FROM h a JOIN h b ON a.id < b.id AND distance(a.h, b.h) <= 3) b;
-- deferred, and of part of the table
CREATE TABLE later (id int, lang text, body text,
	EXCLUDE USING simhash ((simhash_compute(body, 3, 'word')) WITH =)
	WHERE (lang = 'en') DEFERRABLE INITIALLY DEFERRED);
INSERT INTO later VALUES (1, 'en', 'one two three four'), (2, 'de', 'one two three four');
BEGIN;
INSERT INTO later VALUES (3, 'en', 'one, two, three, four');
UPDATE later SET lang = 'fr' WHERE id = 1;
COMMIT;
BEGIN;
INSERT INTO later VALUES (4, 'en', 'One two three four');
COMMIT;
SELECT id, lang FROM later ORDER BY id;
-- on what is there already
\set VERBOSITY sqlstate
ALTER TABLE doc ADD CONSTRAINT doc_near EXCLUDE USING simhash ((simhash_compute(body)) WITH %);
\set VERBOSITY default
ALTER TABLE corpus DROP CONSTRAINT corpus_body;
ALTER TABLE corpus ADD CONSTRAINT corpus_near EXCLUDE USING simhash ((simhash_compute(body)) WITH <%>)
	WHERE (id % 300 = 7);
SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conname IN ('corpus_near', 'later_simhash_compute_excl')
ORDER BY 1;
-- who loads with ON CONFLICT computes it for the check, and again for the entry
TRUNCATE corpus;
ALTER TABLE corpus DROP CONSTRAINT corpus_near, ADD EXCLUDE USING simhash ((simhash_compute(body)) WITH %);
BEGIN;
SELECT c.* FROM (VALUES
	(1, 'without ON CONFLICT', 'INSERT INTO corpus SELECT id, body FROM doc WHERE id BETWEEN 51 AND 60'),
	(2, 'all of them refused', 'INSERT INTO corpus SELECT id, body FROM doc
	WHERE id BETWEEN 51 AND 60 ON CONFLICT DO NOTHING'), (3, 'deleted', 'DELETE FROM corpus'),
	(4, 'none of them refused', 'INSERT INTO corpus SELECT id, body FROM doc
	WHERE id BETWEEN 61 AND 70 ON CONFLICT DO NOTHING')) v(no, what, statement), computed(what, statement) c;
ROLLBACK;

--
-- Other expressions: defaults and names of arguments do not matter, units and
-- collations do
--
CREATE TABLE form (id int, title varchar(100), body text COLLATE "C", tags text[]);
INSERT INTO form SELECT id, 'title ' || id, body || '\', ARRAY['t' || id % 5, 't' || id] FROM doc WHERE id <= 300;
CREATE FUNCTION form_fp(form) RETURNS simhash LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN simhash_compute($1.title ||
	' ' || $1.tags[1], 2);
CREATE TABLE expression (no int, expression text, others text[]);
INSERT INTO expression VALUES
	(1, 'simhash_compute(body)', '{"simhash_compute(body, 4)",
		"simhash_compute(document => body, unit => ''char'')", "simhash_compute(body, 2 + 2)"}'),
	(2, 'simhash_compute(title)', '{simhash_compute(title::text)}'),
	(3, 'simhash_compute(body, 3, ''word'')', '{"simhash_compute(body, unit => ''word'', shingle => 3)"}'),
	(4, 'simhash_compute(title || '' '' || body)', '{"simhash_compute(title || '' '' || body, 4)"}'),
	(5, 'simhash_compute(to_tsvector(''simple'', body))', '{}'),
	(6, 'simhash_compute(tags)', '{"simhash_compute(tags, NULL)"}'),
	(7, 'simhash_compute(decode(replace(body, ''\'', ''\\''), ''escape''))', '{}'),
	(8, 'form_fp(form)', '{form.form_fp, "simhash_compute(title || '' '' || tags[1], 2)"}');
SELECT format('CREATE INDEX form_%s ON form USING simhash (%s)', no, '(' || expression || ')') FROM expression
ORDER BY no \gexec
ANALYZE form;
CREATE FUNCTION form_wrong(expression text, index text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	q simhash;
	statement text;
	condition text;
	answer int[];
	expected int[];
	wrong bigint := 0;
BEGIN
	FOR i IN 1..3 LOOP
		EXECUTE format('SELECT %s FROM form WHERE id = %s', expression, 70 * i) INTO STRICT q;
		condition := format('%s <~> %L <= 10', expression, q);
		statement := format('SELECT array_agg(id ORDER BY id) FROM form WHERE %s', condition);
		IF strpos(plan_of(statement), 'Index Scan using ' || index || ' ') = 0 THEN
			RAISE EXCEPTION 'the index is not used: %', statement USING DETAIL = plan_of(statement);
		END IF;
		EXECUTE statement INTO answer;
		EXECUTE format('SELECT array_agg(id ORDER BY id) FROM form WHERE distance((%s)::bigint, %s) <= 10',
			expression, q::bigint) INTO expected;
		wrong := wrong + (answer IS DISTINCT FROM expected OR 70 * i <> ALL (answer))::int;
	END LOOP;
	RETURN wrong;
END $$;
SELECT no, e AS expression, form_wrong(e, 'form_' || no) AS wrong
FROM expression, unnest(expression || others) WITH ORDINALITY u(e, place) ORDER BY no, place;
-- the bytes are those of convert_to, which is not immutable
SELECT state, message FROM attempt('CREATE INDEX ON form USING simhash (simhash_compute(convert_to(body, ''UTF8'')))');
SELECT count(*) AS rows, count(*) FILTER (WHERE simhash_compute(decode(replace(body, '\', '\\'), 'escape')) =
	simhash_compute(convert_to(body, 'UTF8'))) AS equal FROM form WHERE body IS NOT NULL;
-- an expression of another collation or unit is another
SELECT plan('SELECT id FROM form WHERE simhash_compute(' || arguments || ') % 42')
FROM unnest('{"body COLLATE \"POSIX\"","body, 4, ''word''"}'::text[]) arguments;

-- of part of the table
CREATE INDEX doc_german ON doc USING simhash (simhash_compute(body)) WHERE lang = 'de';
ANALYZE doc;
SELECT plan('SELECT id FROM docs WHERE fp % 42 AND lang = ''de''');
SELECT * FROM (SELECT * FROM compare('using', index => 'doc_german', filter => 'lang = ''de''')) a,
	(SELECT count(*) AS pairs, count(*) FILTER (WHERE lang = 'de') AS german FROM simhash_find_all('doc_german')
	JOIN doc ON ctid = a) b,
	(SELECT count(*) AS pairs FROM stored a JOIN stored b ON a.id < b.id AND distance(a.h, b.h) <= 3
	WHERE a.lang = 'de' AND b.lang = 'de') c;
DROP INDEX doc_german;
CREATE INDEX doc_fp_of_some ON doc USING simhash (simhash_compute(body)) WHERE simhash_compute(body) IS NOT NULL;
SELECT sum(entries) AS entries FROM simhash_index_info('doc_fp_of_some') WHERE table_no IS NULL OR table_no = 0;
DROP INDEX doc_fp_of_some;

-- partitions and children, whose columns may have other numbers
CREATE TABLE part (id int, body text) PARTITION BY RANGE (id);
CREATE TABLE part_1 PARTITION OF part FOR VALUES FROM (0) TO (200);
CREATE TABLE part_2 (gone int, body text, id int);
ALTER TABLE part_2 DROP gone;
ALTER TABLE part ATTACH PARTITION part_2 FOR VALUES FROM (200) TO (2000);
CREATE INDEX part_fp ON part USING simhash (simhash_compute(body));
INSERT INTO part SELECT id, body FROM doc;
ANALYZE part;
SELECT plan('SELECT id FROM part WHERE simhash_compute(body) % 42');
SELECT line FROM plan('SELECT id FROM part ORDER BY simhash_compute(body) <~> 42 LIMIT 10') line
WHERE line !~ 'Sort Key';
SELECT count(*) AS wrong FROM query q,
	LATERAL (SELECT array_agg(id ORDER BY id) AS ids FROM part WHERE simhash_compute(body) <~> q.h <= 6) a,
	LATERAL (SELECT array_agg(id ORDER BY id) AS ids FROM stored WHERE distance(h, q.h) <= 6) e
WHERE a.ids IS DISTINCT FROM e.ids;
SELECT count(*) AS wrong FROM query q,
	LATERAL (SELECT array_agg(d) AS ds FROM (SELECT (simhash_compute(body) <~> q.h)::int AS d FROM part
		ORDER BY simhash_compute(body) <~> q.h LIMIT 20) s) a,
	LATERAL (SELECT array_agg(d) AS ds FROM (SELECT distance(h, q.h) AS d FROM stored ORDER BY 1 LIMIT 20) s) e
WHERE a.ds IS DISTINCT FROM e.ds;

--
-- The text as a parameter: a generic plan computes its fingerprint
--
SET plan_cache_mode = force_generic_plan;
PREPARE look_up (text) AS SELECT id FROM docs WHERE fp <~> simhash_compute($1) <= 3 ORDER BY id;
PREPARE nearest (text) AS SELECT fp <~> simhash_compute($1) AS distance FROM docs ORDER BY 1 LIMIT 1;
SELECT plan(query) FROM unnest('{EXECUTE look_up (NULL),EXECUTE nearest (NULL)}'::text[]) query;
SELECT body, h FROM doc JOIN stored USING (id) WHERE id = 400 \gset
SELECT id FROM stored WHERE distance(h, :h) <= 3 ORDER BY id;
EXECUTE look_up (:'body');
EXECUTE nearest (:'body');
EXECUTE look_up ('...');
EXECUTE look_up (NULL);
DEALLOCATE ALL;
RESET plan_cache_mode;

--
-- Statistics of the expression, from ANALYZE of the table
--
CREATE TABLE counted AS SELECT i AS id, CASE WHEN i % 5 = 0 THEN NULL WHEN i % 5 < 3
	THEN 'the same text again and again' ELSE md5(i::text) || md5(-i || '') END AS body
FROM generate_series(1, 2000) i;
CREATE INDEX counted_fp ON counted USING simhash (simhash_compute(body));
ALTER INDEX counted_fp ALTER COLUMN 1 SET STATISTICS 0;
ANALYZE counted;
SELECT count(*) AS statistics FROM pg_stats WHERE tablename = 'counted_fp';
SELECT fp AS frequent FROM (SELECT simhash_compute('the same text again and again') AS fp) s \gset
SELECT estimate('SELECT FROM counted WHERE simhash_compute(body) % ' || :'frequent') < 20 AS few,
	estimate('SELECT FROM counted WHERE simhash_compute(body) % 42') < 20 AS rare_few;
ALTER INDEX counted_fp ALTER COLUMN 1 SET STATISTICS 500;
ANALYZE counted;
SELECT attname, null_frac, n_distinct, most_common_vals::text AS values, array_length(histogram_bounds, 1) AS bounds
FROM pg_stats WHERE tablename = 'counted_fp';
SELECT estimate('SELECT FROM counted WHERE simhash_compute(body) % ' || :'frequent') BETWEEN 700 AND 900 AS many,
	estimate('SELECT FROM counted WHERE simhash_compute(body) % 42') < 20 AS rare_few,
	estimate('SELECT FROM counted WHERE simhash_compute(body) IS NULL') BETWEEN 350 AND 450 AS nulls;
-- a sequential scan, which would compute them all, is dearer
SET enable_seqscan = on;
SELECT plan('SELECT id FROM counted ' || what)
FROM unnest('{WHERE simhash_compute(body) % 42,ORDER BY simhash_compute(body) <~> 42 LIMIT 5}'::text[]) what;
SET enable_seqscan = off;
ALTER INDEX counted_fp ALTER COLUMN 1 SET STATISTICS -1;

SET plan_cache_mode = force_generic_plan;
CREATE FUNCTION fingerprint_of(text) RETURNS simhash
	LANGUAGE plpgsql IMMUTABLE COST 1 AS 'BEGIN RETURN public.simhash_compute($1); END';
PREPARE look_up (text) AS SELECT id FROM stored WHERE fp % fingerprint_of($1);
PREPARE nearest (text) AS SELECT id FROM stored ORDER BY fp <~> fingerprint_of($1) LIMIT 1;
SELECT estimate('EXECUTE look_up (NULL)', 'Total Cost') AS look_up,
	estimate('EXECUTE nearest (NULL)', 'Total Cost') AS nearest \gset
ALTER FUNCTION fingerprint_of(text) COST 400000;
-- 1000, when an operator costs 0.0025
SELECT estimate('EXECUTE look_up (NULL)', 'Total Cost') - :look_up >= 999 AS look_up,
	estimate('EXECUTE nearest (NULL)', 'Total Cost') - :nearest >= 999 AS nearest;
DEALLOCATE ALL;
RESET plan_cache_mode;

--
-- Other ways to build it, also where the search_path does not lead to the
-- extension
--
SET search_path = pg_catalog;
CREATE INDEX doc_schema ON index_expression_test.doc USING simhash (public.simhash_compute(body));
REINDEX INDEX index_expression_test.doc_schema;
REINDEX INDEX CONCURRENTLY index_expression_test.doc_schema;
SELECT pg_get_indexdef('index_expression_test.doc_schema'::regclass);
CREATE INDEX CONCURRENTLY doc_concurrent ON index_expression_test.doc USING simhash (public.simhash_compute(body))
	WITH (blocks = 3, distance = 2);
SET search_path = index_expression_test, public;
SELECT * FROM (SELECT simhash_index_check('doc_schema', true), simhash_index_check('doc_concurrent', true)) a,
	(SELECT count(*) AS same FROM (SELECT a, b FROM simhash_find_all('doc_schema', 3) INTERSECT SELECT a, b
	FROM simhash_find_all('doc_concurrent', 3)) s) b;
DROP INDEX doc_schema, doc_concurrent;
CREATE UNLOGGED TABLE unlogged AS TABLE doc;
CREATE TEMPORARY TABLE temporary AS TABLE doc;
CREATE INDEX unlogged_fp ON unlogged USING simhash (simhash_compute(body));
CREATE INDEX temporary_fp ON temporary USING simhash (simhash_compute(body));
SELECT (SELECT count(*) FROM simhash_find_all('doc_fp')) AS logged,
	(SELECT count(*) FROM simhash_find_all('unlogged_fp')) AS unlogged,
	(SELECT count(*) FROM simhash_find_all('temporary_fp')) AS temporary;
-- TRUNCATE and rewrites build it anew
BEGIN;
TRUNCATE temporary;
INSERT INTO temporary SELECT * FROM doc WHERE id <= 10;
COMMIT;
VACUUM FULL doc;
SELECT * FROM compare('using');
SELECT simhash_index_check('doc_fp', true), simhash_index_check('temporary_fp', true) \gset

DROP VIEW docs;
ALTER TABLE doc ALTER body TYPE varchar;
SELECT pg_get_indexdef('doc_fp'::regclass);
SELECT * FROM compare('using');

--
-- Who may not read the column may not learn of its fingerprints
--
CREATE ROLE regress_simhash_reader;
GRANT USAGE ON SCHEMA index_expression_test TO regress_simhash_reader;
GRANT SELECT (id, lang, ctid, tableoid) ON doc TO regress_simhash_reader;
SET ROLE regress_simhash_reader;
SELECT count(*) FROM simhash_find_all('doc_fp');
SELECT count(*) FROM simhash_index_info('doc_fp');
SELECT count(*) FROM doc WHERE simhash_compute(body) % 42;
RESET ROLE;
GRANT SELECT (body) ON doc TO regress_simhash_reader;
SET ROLE regress_simhash_reader;
SELECT count(*) > 0 AS pairs FROM simhash_find_all('doc_fp');
RESET ROLE;
REVOKE ALL ON doc FROM regress_simhash_reader;
REVOKE ALL ON SCHEMA index_expression_test FROM regress_simhash_reader;
DROP ROLE regress_simhash_reader;

--
-- The functions of an index can read the index in the middle of its build
--
SET client_min_messages = warning;
CREATE TABLE looked_at AS SELECT i::bigint::simhash AS fp FROM generate_series(1, 1000) i;
CREATE FUNCTION looking(simhash) RETURNS simhash LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
	PERFORM public.get_raw_page('index_expression_test.looked_at_fp', 0);
	RETURN $1;
END $$;
CREATE INDEX looked_at_fp ON looked_at USING simhash (looking(fp));
SELECT simhash_index_check('looked_at_fp', true) \gset
CREATE FUNCTION looking_hash(a int, seed bigint) RETURNS bigint LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
	PERFORM public.get_raw_page('index_expression_test.looked_at_a_fp', 0);
	RETURN hashint4extended(a, seed);
END $$;
CREATE OPERATOR CLASS looking_ops FOR TYPE int USING simhash AS OPERATOR 1 =, FUNCTION 1 looking_hash(int, bigint);
ALTER TABLE looked_at ADD a int DEFAULT 1;
CREATE INDEX looked_at_a_fp ON looked_at USING simhash (a looking_ops, fp);
SELECT simhash_index_check('looked_at_a_fp', true) \gset

DROP SCHEMA index_expression_test CASCADE;
