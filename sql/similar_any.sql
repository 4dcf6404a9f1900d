--
-- Long arrays of documents
--
-- The documents are fingerprints in hexadecimal digits and a letter, so that all
-- distances are known.
--
\pset format unaligned
\pset footer off
CREATE SCHEMA similar_any_test;
SET search_path = similar_any_test, public; SET max_parallel_workers_per_gather = 0; SET client_min_messages = warning;
CREATE FUNCTION fp(doc text) RETURNS simhash LANGUAGE sql IMMUTABLE STRICT
RETURN CASE WHEN doc ~ '^[0-9a-f]{16}' THEN ('x' || left(doc, 16))::bit(64)::bigint::simhash END;
-- Are the letters of two documents the same?  Null if the second one has a question mark.  The
-- function is not strict.
CREATE FUNCTION same(a text, b text) RETURNS boolean LANGUAGE sql IMMUTABLE
RETURN CASE WHEN b LIKE '%?' THEN NULL ELSE right(a, 1) = right(b, 1) END;
CREATE PROCEDURE make_class(r int, operator text) LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE FUNCTION same_%s(a text, b text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE COST 100 AS
		''BEGIN
			IF a LIKE ''''%%!'''' THEN
				RAISE EXCEPTION ''''cannot compare %%'''', a;
			END IF;
			RETURN public.hamming(similar_any_test.fp(a), similar_any_test.fp(b)) <= %1$s AND similar_any_test.same(a, b);
		END''', r);
	EXECUTE format('CREATE OPERATOR %s (LEFTARG = text, RIGHTARG = text, FUNCTION = same_%s,
		RESTRICT = simhash_sel, JOIN = simhash_joinsel)', operator, r);
	EXECUTE format('CREATE OPERATOR CLASS class_%s FOR TYPE text USING simhash AS OPERATOR %s %s, FUNCTION 2 fp(text)',
		r, 4 + r, operator);
END $$;
CALL make_class(0, '~~=');
CALL make_class(5, '~~~');
CALL make_class(12, '~~~~');
-- families whose members are within up to 18 bits, two of them with each fingerprint; equal
-- documents; some without a fingerprint; nulls
CREATE TABLE doc (id int PRIMARY KEY, tenant int, body text);
INSERT INTO doc SELECT i, nullif(i % 7, 6) % 3,
	lpad(to_hex(flip(bits('f' || i / 8), i % 8 / 2 * 3, 'd' || i / 2)), 16, '0') || (ARRAY['a', 'a', 'b', 'b', '?'])[1 + i % 5]
FROM generate_series(1, 460) i;
INSERT INTO doc SELECT i, i % 3, body FROM generate_series(461, 480) i JOIN doc ON id = i - 450;
INSERT INTO doc SELECT i, i % 3, CASE WHEN i <= 485 THEN 'none' END FROM generate_series(481, 490) i;
ANALYZE doc;
CREATE TABLE near AS
WITH doc AS MATERIALIZED (SELECT *, fp(body) AS fp FROM doc)
SELECT x.id AS a, y.id AS b, y.body, hamming(x.fp, y.fp) AS d, same(x.body, y.body) AS same, x.tenant AS tenant
FROM doc x JOIN doc y ON hamming(x.fp, y.fp) <= 12;
CREATE INDEX ON near (b);
ANALYZE near;
-- The rows that are found for an array of documents, in comparison with the truth.
CREATE FUNCTION any_of(form text, operator text, r int, ids int[], condition text DEFAULT 'true', truth text DEFAULT 'true',
	document text DEFAULT 'body', OUT rows bigint, OUT missing bigint, OUT wrong bigint)
LANGUAGE plpgsql AS $$
DECLARE
	query text := format('SELECT id FROM doc WHERE %s %s ANY (ARRAY(SELECT body FROM unnest(%L::int[]) n LEFT JOIN doc ON id = n)) AND %s',
		document, operator, ids, condition);
	index text := CASE form WHEN 'indexscan' THEN 'Index Scan using' ELSE 'Bitmap Index Scan on' END
		|| ' doc_body[^\n]*\n *Index Cond: [^\n]*' || operator || ' ANY ';
BEGIN
	PERFORM use_only(form);
	IF plan_of(query) !~ index THEN
		RAISE EXCEPTION 'the index is not used: %', plan_of(query);
	END IF;
	SELECT * INTO rows, missing, wrong
	FROM compare_rows(query, format('SELECT DISTINCT a FROM near WHERE b = ANY (%L) AND d <= %s AND same AND %s', ids, r, truth));
	PERFORM use_only('seqscan');
END $$;
-- how many documents; each more than once; with nulls, and none
CREATE TABLE arrays AS SELECT n, kind, CASE kind
	WHEN 'once' THEN ids WHEN 'often' THEN ids || ids || ids || ids ELSE ids || '{0,485,490}'::int[] || ids END AS ids
FROM unnest('{0,1,17,60,160}'::int[]) n, unnest('{once,often,nulls}'::text[]) kind,
	LATERAL (SELECT ARRAY(SELECT id FROM doc ORDER BY md5(id::text) LIMIT n) AS ids) s
WHERE n < 60 OR kind = 'once';
CREATE TABLE class AS SELECT * FROM (VALUES (0, '~~='), (5, '~~~'), (12, '~~~~')) v(r, operator);
CREATE PROCEDURE compare_all(columns text, condition text DEFAULT 'true', truth text DEFAULT 'true',
	document text DEFAULT 'body', radii int[] DEFAULT '{12}')
LANGUAGE plpgsql AS $$
DECLARE
	c record;
	line text;
BEGIN
	FOR c IN SELECT * FROM class WHERE r = ANY (radii) ORDER BY r LOOP
		EXECUTE format('CREATE INDEX doc_body ON doc USING simhash (%s class_%s)', columns, c.r);
		ANALYZE doc;
		FOR line IN
			SELECT concat_ws(' ', 'within', c.r, form, n, kind, a)
			FROM unnest('{indexscan,bitmapscan}'::text[]) form, arrays,
				any_of(form, c.operator, c.r, ids, condition, truth, document) a
			WHERE missing > 0 OR wrong > 0 OR rows < n / 16
			ORDER BY form, n, kind
		LOOP
			RAISE WARNING '%', line;
		END LOOP;
		DROP INDEX doc_body;
	END LOOP;
END $$;
CALL compare_all('body', radii => '{0,5,12}');
-- columns before it, whose conditions are checked with the row as well
CALL compare_all('tenant, body', 'tenant = 1', 'tenant = 1');
CALL compare_all('tenant, body', 'tenant = ANY (''{0,NULL,2}'')', 'tenant IN (0, 2)');
CALL compare_all('tenant, body', 'tenant IS NULL', 'tenant IS NULL');
CALL compare_all('(tenant % 2), body', 'tenant % 2 = 1', 'tenant = 1');
-- not null, an expression, and a condition that is none of the index
CALL compare_all('body', 'body IS NOT NULL');
CALL compare_all('(body || '''')', 'id % 2 = 0', 'a % 2 = 0', '(body || '''')');

-- several conditions on the documents
CREATE INDEX doc_body ON doc USING simhash (body class_12);
CREATE FUNCTION docs(first int, last int) RETURNS text[] LANGUAGE sql STABLE AS $$
	SELECT ARRAY(SELECT body FROM doc WHERE id BETWEEN first AND last)
$$;
CREATE FUNCTION near(first int, last int) RETURNS SETOF int LANGUAGE sql STABLE AS $$
	SELECT DISTINCT a FROM near WHERE b BETWEEN first AND last AND same
$$;
CREATE FUNCTION compare_forms(query text, truth text, OUT form text, OUT rows bigint, OUT missing bigint, OUT wrong bigint)
RETURNS SETOF record LANGUAGE plpgsql AS $$
BEGIN
	FOREACH form IN ARRAY '{indexscan,bitmapscan}'::text[] LOOP
		PERFORM use_only(form);
		SELECT * INTO rows, missing, wrong FROM compare_rows(query, truth);
		RETURN NEXT;
	END LOOP;
	PERFORM use_only('seqscan');
END $$;
SELECT * FROM compare_forms('SELECT id FROM doc WHERE body ~~~~ ANY (docs(1, 200)) AND body ~~~~ ANY (docs(150, 300))',
	'SELECT near(1, 200) INTERSECT SELECT near(150, 300)');
SELECT * FROM compare_forms('SELECT id FROM doc WHERE body ~~~~ ANY (docs(1, 200)) AND body ~~~~ (docs(18, 18))[1]',
	'SELECT near(1, 200) INTERSECT SELECT near(18, 18)');
SELECT * FROM compare_forms('SELECT id FROM doc WHERE body ~~~~ ANY (docs(1, 200)) OR body ~~~~ ANY (docs(250, 300))',
	'SELECT near(1, 200) UNION SELECT near(250, 300)');
SELECT * FROM compare_forms('SELECT id FROM doc WHERE body ~~~~ ANY (docs(1, 200)) AND body IS NULL', 'SELECT 1 WHERE false');
-- arrays of other rows: the scan begins anew
SELECT * FROM compare_forms('SELECT n * 1000 + id FROM generate_series(0, 400, 20) n, LATERAL (SELECT id FROM doc WHERE body ~~~~ ANY (docs(n, n + n / 4))) d',
	'SELECT n * 1000 + near(n, n + n / 4) FROM generate_series(0, 400, 20) n');

-- a bitmap of more pages than there is memory for
CREATE TABLE large (id int, body text, filler text) WITH (fillfactor = 10);
INSERT INTO large SELECT n * 1000 + id, body, repeat('x', 500) FROM doc, generate_series(1, 10) n;
CREATE INDEX large_body ON large USING simhash (body class_12);
SELECT use_only('bitmapscan') \gset
SET work_mem = '64kB';
CREATE FUNCTION lossy_pages(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	plan jsonb;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) ' || query INTO plan;
	RETURN jsonb_path_query_first(plan, 'strict $.** ? (exists (@."Lossy Heap Blocks"))') ->> 'Lossy Heap Blocks';
END $$;
SELECT * FROM (SELECT lossy_pages('SELECT id FROM large WHERE body ~~~~ ANY (docs(1, 100))') > 0 AS lossy) a,
	(SELECT * FROM compare_rows('SELECT id FROM large WHERE body ~~~~ ANY (docs(1, 100))',
	'SELECT n * 1000 + near(1, 100) FROM generate_series(1, 10) n')) b;
RESET work_mem;

-- an error of the operator
BEGIN;
INSERT INTO doc SELECT 1000, 0, left(body, 16) || '!' FROM doc WHERE id = 99;
SELECT message FROM unnest('{indexscan,bitmapscan}'::text[]) form, use_only(form),
	attempt('SELECT count(*) FROM doc WHERE body ~~~~ ANY (docs(1, 200))');
ROLLBACK;

-- what changes while it is read, and rows that are gone
SELECT use_only('indexscan') \gset
CREATE TABLE old AS SELECT * FROM doc;
DO $$
DECLARE
	row record;
	found int := 0;
BEGIN
	FOR row IN SELECT id FROM doc WHERE body ~~~~ ANY (docs(1, 200)) LOOP
		IF found = 5 THEN
			DELETE FROM doc WHERE id % 3 = 0;
			UPDATE doc SET tenant = 9 WHERE id % 3 = 1;
			UPDATE doc SET body = '0123456789abcdefa' WHERE id % 9 = 2;
		END IF;
		found := found + 1;
	END LOOP;
	RAISE WARNING 'found %, expected %', found, (SELECT count(*) FROM near(1, 200));
END $$;
BEGIN;
INSERT INTO doc SELECT 1000 + id, 0, body FROM doc;
ROLLBACK;
DELETE FROM near WHERE a % 3 = 0 OR a % 9 = 2;
-- the second time the entries of dead rows may be known
SELECT * FROM generate_series(1, 2), compare_forms('SELECT id FROM doc WHERE body ~~~~ ANY (ARRAY(SELECT body FROM old WHERE id <= 200))',
	'SELECT near(1, 200)');
SELECT simhash_index_check('doc_body', true) \gset

SELECT use_only('seqscan') \gset

-- rows that are compressed, out of line, both or neither, and stored in the same way as a text
-- and a byte string, against documents that are not
CREATE TABLE stored (id int, body text, data bytea);
ALTER TABLE stored ALTER body SET STORAGE EXTERNAL;
INSERT INTO stored SELECT i, body, convert_to(body, 'UTF8')
FROM generate_series(1, 24) i, LATERAL (
	SELECT string_agg(CASE WHEN n = i % 3 * 7 THEN 'edited' ELSE md5((n + i / 3 * 1000)::text) END, ' ')
		|| CASE WHEN i % 2 = 0 THEN repeat(' and more of it', 150) ELSE '' END AS body
	FROM generate_series(0, (ARRAY[20, 50, 100, 200])[1 + i / 3 % 4]) n) s
ORDER BY md5(i::text);
ALTER TABLE stored ALTER body SET STORAGE EXTENDED;
INSERT INTO stored SELECT id + 100, body || '', data || '' FROM stored;
SELECT count(DISTINCT (pg_column_size(body) < octet_length(body), pg_column_size(body) < 2000)) AS kinds FROM stored;
WITH plain AS MATERIALIZED (SELECT id, body || '.' AS body, data || ' ' AS data FROM stored),
	pair AS MATERIALIZED (SELECT a.id, b.id AS with, a.body || '' =~= b.body AS texts, a.data || '' =~= b.data AS bytes
		FROM stored a, plain b),
	queries AS MATERIALIZED (SELECT n, array_agg(body ORDER BY id) AS texts, array_agg(data ORDER BY id) AS bytes,
		array_agg(id) AS ids FROM plain, generate_series(1, 4) n WHERE id % 4 < n AND id < 100 GROUP BY n),
	tried AS MATERIALIZED (
		SELECT s.id, ids, s.body =~= ANY (texts) AS texts, NULL AS bytes FROM queries, stored s
		UNION ALL SELECT s.id, ids, NULL, s.data =~= ANY (bytes) FROM queries, stored s
		UNION ALL SELECT s.id, ids, s.body =~= ANY (texts), s.data =~= ANY (bytes) FROM queries, stored s)
SELECT count(texts) AS texts, count(bytes) AS bytes,
	count(*) FILTER (WHERE texts <> (SELECT bool_or(p.texts) FROM pair p WHERE p.id = t.id AND p.with = ANY (ids))) AS wrong,
	count(*) FILTER (WHERE bytes <> (SELECT bool_or(p.bytes) FROM pair p WHERE p.id = t.id AND p.with = ANY (ids))) AS wrong
FROM tried t;

DROP SCHEMA similar_any_test CASCADE;
