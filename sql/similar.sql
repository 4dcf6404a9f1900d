--
-- The operator =~= of documents, and indexes for it
--
-- The reference is its definition by simhash_bands and simhash_jaccard, of each
-- document with each, without an index.
--
\pset format unaligned
\pset footer off
CREATE SCHEMA similar_test;
SET search_path = similar_test, public; SET max_parallel_workers_per_gather = 0; SET client_min_messages = warning;

-- Words that are as frequent as those of a language; families of texts whose members
-- have some words replaced, at the edges of what is similar; a template with some fields
-- of its own; copies that differ in letter case and punctuation; equal ones; short ones;
-- ones without a feature; nulls.
CREATE FUNCTION word(seed text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
	SELECT 'w' || floor(exp((bits(seed) & 65535) / 65536.0 * ln(3000)))
$$;
CREATE FUNCTION body(i int) RETURNS text LANGUAGE sql IMMUTABLE AS $$
	SELECT CASE
		WHEN i <= 320 THEN (SELECT string_agg(word(CASE WHEN w <= i % 10 THEN i || ' ' || w
				ELSE i / 10 || ' ' || w END), ' ' ORDER BY w) FROM generate_series(1, 65) w)
		WHEN i <= 400 THEN 'Dear ' || word('n' || i) || ', your order ' || i || ' of '
			|| repeat(word('p' || i % 3) || ' ', 1 + i % 4)
			|| 'has left our house today and will be with you in a few days. Thank you for the trust that you place in us.'
		WHEN i <= 440 THEN upper(body(i - 400)) || '!'
		WHEN i <= 460 THEN body(i / 5)
		WHEN i <= 490 THEN (SELECT string_agg(word('s' || i / 4 || w), ', ') FROM generate_series(1, i % 5) w)
		WHEN i <= 495 THEN (ARRAY['', '.', '...', ' ! ', E'\n'])[i - 490]
	END
$$;
CREATE TABLE doc (id int PRIMARY KEY, tenant int, body text);
INSERT INTO doc SELECT i, i % 3, body(i) FROM generate_series(1, 500) i;
CREATE TABLE truth AS
WITH doc AS MATERIALIZED (SELECT *, simhash_bands(body) AS bands FROM doc)
SELECT a.id AS a, b.id AS b, share_band(a.bands, b.bands) AS share, simhash_jaccard(a.body, b.body) AS jaccard
FROM doc a, doc b;
CREATE INDEX ON truth (a);
ALTER TABLE truth ADD alike bool;
UPDATE truth SET alike = share AND jaccard >= 0.8;
ANALYZE truth;
SELECT count(*) FILTER (WHERE alike AND a < b) AS alike,
	count(*) FILTER (WHERE jaccard >= 0.8 AND NOT share) > 0 AS no_band,
	count(*) FILTER (WHERE jaccard < 0.8 AND share) > 0 AS too_different,
	count(*) FILTER (WHERE jaccard = 0.8) > 0 AS at_the_edge,
	count(*) FILTER (WHERE alike IS NULL) AS unknown
FROM truth;

-- the function is what it is said to be, either way round
SELECT count(*) AS wrong FROM truth t JOIN doc a ON a.id = t.a JOIN doc b ON b.id = t.b
WHERE (a.body =~= b.body) IS DISTINCT FROM alike;
-- also if little of what is remembered of the documents fits into memory; it is gone with
-- the transaction
SET work_mem = '64kB';
BEGIN;
SELECT count(*) AS wrong FROM truth t JOIN doc a ON a.id = t.a JOIN doc b ON b.id = t.b
WHERE (a.body =~= b.body) IS DISTINCT FROM alike
UNION ALL SELECT count(*) AS wrong FROM truth t JOIN doc a ON a.id = t.a JOIN doc b ON b.id = t.b
WHERE simhash_jaccard(a.body, b.body) IS DISTINCT FROM jaccard;
SELECT count(*) > 0 AS some, sum(total_bytes) < 256 * 1024 AS few
FROM pg_backend_memory_contexts WHERE name = 'simhash documents';
COMMIT;
SELECT count(*) AS remembered FROM pg_backend_memory_contexts WHERE name = 'simhash documents';
RESET work_mem;
SELECT 'a b c d' =~= 'A, B, C; D' AS text, '...' =~= 'a' AS none, NULL::text =~= 'a' AS null, 'a' =~= 'a' AS short,
	'\x0102030405060708'::bytea =~= '\x0102030405060708' AS bytea, ''::bytea =~= 'a' AS none;
-- within one call: what is remembered of the last document does not leak into the next
SELECT string_agg(coalesce((x =~= y)::text, 'null'), ' ' ORDER BY n) FROM (VALUES
	(1, 'a b c', 'a b c'), (2, 'a b c', 'd e f'), (3, 'd e f', 'd e f'), (4, 'd e f', 'a b c'), (5, '', 'a b c'),
	(6, 'a b c', ''), (7, '.', '.'), (8, 'a b c', 'a b c'), (9, repeat('x y z', 300000), 'a b c'),
	(10, 'a b c', 'a b c')) v(n, x, y);

--
-- Conditions, by each kind of scan, against the truth
--
CREATE INDEX doc_body ON doc USING simhash (body simhash_text_ops);
ANALYZE doc;
SELECT simhash_index_check('doc_body', true) \gset
SELECT table_no, entries FROM simhash_index_info('doc_body') ORDER BY 1;
-- the rows that each document finds, with a condition that has $q for it
CREATE FUNCTION wrong(form text, index text, condition text, truth text, tab text DEFAULT 'doc',
	OUT searched bigint, OUT rows bigint, OUT wrong bigint)
LANGUAGE plpgsql AS $$
DECLARE
	q record;
	answer int[];
	expected int[];
	statement text;
	node text := CASE form WHEN 'indexscan' THEN 'Index Scan using ' WHEN 'bitmapscan' THEN 'Bitmap Index Scan on '
		ELSE 'Seq Scan on ' END || index;
BEGIN
	PERFORM use_only(form);
	searched := 0;
	rows := 0;
	wrong := 0;
	FOR q IN SELECT id, body FROM doc WHERE id % 7 = 0 OR id > 485 LOOP
		statement := format('SELECT id FROM %s WHERE %s', tab, replace(condition, '$q', quote_nullable(q.body) || '::text'));
		IF strpos(plan_of(statement), node) = 0 AND q.body IS NOT NULL THEN
			RAISE EXCEPTION 'the index is not used: %', plan_of(statement);
		END IF;
		EXECUTE format('SELECT array_agg(id ORDER BY id) FROM (%s) s', statement) INTO answer;
		EXECUTE format('SELECT array_agg(b ORDER BY b) FROM truth WHERE a = $1 AND (%s)', truth) INTO expected USING q.id;
		searched := searched + 1;
		rows := rows + coalesce(cardinality(answer), 0);
		wrong := wrong + (answer IS DISTINCT FROM expected)::int;
	END LOOP;
	PERFORM use_only('seqscan');
END $$;
SELECT w.* FROM (VALUES
	('indexscan', 'body =~= $q', 'alike'),
	('bitmapscan', 'body =~= $q', 'alike'),
	('indexscan', '$q =~= body', 'alike'),
	('bitmapscan', '$q =~= body AND tenant = 1', 'alike AND b % 3 = 1'),
	('indexscan', 'body =~= $q AND body =~= (SELECT body FROM doc WHERE id = 14)',
		'alike AND b IN (SELECT t.b FROM truth t WHERE t.a = 14 AND t.alike)'),
	('indexscan', 'body =~= ANY (ARRAY[$q, NULL, ''...'', body(77)])',
		'alike OR b IN (SELECT t.b FROM truth t WHERE t.a = 77 AND t.alike)'),
	('bitmapscan', 'body =~= ANY (ARRAY[$q, NULL, ''...'', body(77)])',
		'alike OR b IN (SELECT t.b FROM truth t WHERE t.a = 77 AND t.alike)'),
	('bitmapscan', 'body =~= $q OR body =~= body(321)',
		'alike OR b IN (SELECT t.b FROM truth t WHERE t.a = 321 AND t.alike)'))
	v(form, condition, truth), wrong(form, 'doc_body', condition, truth) w;
SELECT form, n, c.* FROM unnest('{indexscan,bitmapscan}'::text[]) form, unnest('{17,100,500}'::int[]) n, use_only(form),
	compare_rows(format('SELECT id FROM doc WHERE body =~= ANY (ARRAY(SELECT body FROM doc WHERE id <= %s))', n),
		format('SELECT DISTINCT b FROM truth WHERE alike AND a <= %s', n)) c;
-- negated, it is no condition of the index
SELECT * FROM wrong('seqscan', 'doc', 'NOT body =~= $q', 'NOT alike');

-- nulls: documents without a feature are stored like them
SELECT use_only('indexscan') \gset
SELECT plan(query) FROM unnest('{SELECT id FROM doc WHERE body IS NULL,SELECT count(*) FROM doc WHERE body IS NOT NULL}'::text[])
	query;
SELECT * FROM rows_of($$SELECT array_agg(id ORDER BY id) FROM doc WHERE body IS NULL$$,
	$$SELECT count(*), max(id) FROM doc WHERE body IS NOT NULL$$,
	$$SELECT count(*) FROM doc WHERE body IS NOT NULL AND body =~= '.'$$,
	$$SELECT use_only('bitmapscan')$$,
	$$SELECT array_agg(id ORDER BY id) FROM doc WHERE body IS NULL$$,
	$$SELECT count(*), max(id) FROM doc WHERE body IS NOT NULL$$,
	$$SELECT count(*) FROM doc WHERE body =~= '.' OR body =~= NULL OR body =~= ANY (NULL::text[]) OR body =~= ANY ('{}')$$);
-- the index has no texts
SELECT use_only('indexonlyscan') \gset
SELECT plan(query) FROM unnest(ARRAY['SELECT body FROM doc WHERE body =~= ''a b c''',
	'SELECT count(*) FROM doc WHERE body IS NOT NULL']) query;

-- joins, also those that are not inner
SELECT use_only('indexscan', '{hashjoin,mergejoin,material}') \gset
SELECT plan('SELECT a.id, b.id FROM doc a JOIN doc b ON a.body =~= b.body');
SELECT c.* FROM (VALUES ('SELECT a.id, b.id FROM doc a JOIN doc b ON a.body =~= b.body',
		'SELECT a, b FROM truth WHERE alike'),
	('SELECT a.id FROM doc a WHERE NOT EXISTS (SELECT FROM doc b WHERE b.id < a.id AND b.body =~= a.body)',
		'SELECT id FROM doc WHERE NOT EXISTS (SELECT FROM truth WHERE a = id AND b < id AND alike)'),
	('SELECT a.id, b.id FROM doc a LEFT JOIN doc b ON b.body =~= a.body AND b.id > 300',
		'SELECT id, b FROM doc LEFT JOIN truth ON a = id AND alike AND b > 300'),
	('SELECT a.id, b.id FROM doc a JOIN doc b ON a.body =~= ANY (ARRAY[b.body, body(5)])',
		'SELECT a, b FROM truth WHERE alike UNION SELECT a, id FROM truth, doc WHERE b = 5 AND alike')) v(query, truth),
	compare_rows(query, truth) c;
-- a plan for any parameter
PREPARE near(text) AS SELECT count(*), sum(id) FROM doc WHERE body =~= $1;
SET plan_cache_mode = force_generic_plan;
SELECT plan('EXECUTE near(NULL)');
EXECUTE near(body(17));
EXECUTE near('...');
EXECUTE near(NULL);
RESET plan_cache_mode;
SELECT count(*), sum(b) FROM truth WHERE a = 17 AND alike;
-- EXPLAIN tells candidates from rows that remain
CREATE FUNCTION refuted(form text, query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	plan jsonb;
BEGIN
	PERFORM use_only(form);
	EXECUTE 'EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) ' || query INTO plan;
	RETURN jsonb_path_query_first(plan, 'strict $.** ? (exists (@."Rows Removed by Index Recheck"))') ->> 'Rows Removed by Index Recheck';
END $$;
SELECT count(*) FILTER (WHERE share) - count(*) FILTER (WHERE alike) AS expected,
	refuted('indexscan', 'SELECT id FROM doc WHERE body =~= body(325)') AS by_index_scan,
	refuted('bitmapscan', 'SELECT id FROM doc WHERE body =~= body(325)') AS by_bitmap_scan
FROM truth WHERE a = 325;

--
-- Columns before it, other types, predicates, collations
--
DROP INDEX doc_body;
CREATE INDEX doc_several ON doc USING simhash (tenant, body simhash_text_ops);
SELECT simhash_index_check('doc_several', true) \gset
SELECT * FROM wrong('indexscan', 'doc_several', 'tenant = 2 AND body =~= $q', 'alike AND b % 3 = 2')
UNION ALL SELECT * FROM wrong('bitmapscan', 'doc_several', 'tenant IN (0, 2) AND body =~= $q', 'alike AND b % 3 <> 1')
UNION ALL SELECT * FROM wrong('indexscan', 'doc_several', 'body =~= $q', 'alike');
SELECT use_only('bitmapscan') \gset
SELECT count(*) FROM doc WHERE tenant = 1 AND body IS NOT NULL
UNION ALL SELECT count(*) FROM doc WHERE id % 3 = 1 AND id <= 495;
DROP INDEX doc_several;
-- a text before the text
CREATE INDEX doc_several ON doc USING simhash ((tenant::text), body simhash_text_ops);
SELECT * FROM wrong('indexscan', 'doc_several', 'tenant::text = ''1'' AND body =~= $q', 'alike AND b % 3 = 1');
DROP INDEX doc_several;
CREATE INDEX doc_part ON doc USING simhash (body simhash_text_ops) WHERE id > 200;
SELECT simhash_index_check('doc_part', true) \gset
SELECT * FROM wrong('indexscan', 'doc_part', 'body =~= $q AND id > 200', 'alike AND b > 200');
DROP INDEX doc_part;
CREATE INDEX doc_expression ON doc USING simhash ((body || ' end of text') simhash_text_ops);
SELECT * FROM wrong('indexscan', 'doc_expression', '(body || '' end of text'') =~= ($q || '' end of text'')',
	'(SELECT (x.body || '' end of text'') =~= (y.body || '' end of text'') FROM doc x, doc y WHERE x.id = a AND y.id = b)');
DROP INDEX doc_expression;
CREATE TABLE bytes AS SELECT id, convert_to(body, 'UTF8') AS data FROM doc;
CREATE INDEX bytes_data ON bytes USING simhash (data simhash_bytea_ops);
SELECT simhash_index_check('bytes_data', true) \gset
CREATE TABLE bytes_near AS
WITH doc AS MATERIALIZED (SELECT *, simhash_bands(data) AS bands FROM bytes)
SELECT x.id AS x, y.id AS y FROM doc x JOIN doc y ON share_band(x.bands, y.bands, 0.8, true) AND simhash_jaccard(x.data, y.data) >= 0.8;
SELECT * FROM wrong('indexscan', 'bytes_data', 'data =~= convert_to($q, ''UTF8'')',
	'(a, b) IN (TABLE bytes_near)', 'bytes');

CREATE DOMAIN essay AS text CHECK (length(value) < 1000000);
CREATE TABLE typed (id int, v varchar, e essay, w varchar(2000));
INSERT INTO typed SELECT id, body, body, body FROM doc;
CREATE INDEX typed_v ON typed USING simhash (v simhash_text_ops);
CREATE INDEX typed_e ON typed USING simhash (e simhash_text_ops);
CREATE INDEX typed_w ON typed USING simhash (id, w simhash_text_ops);
SELECT * FROM wrong('indexscan', 'typed_v', 'v =~= $q', 'alike', 'typed')
UNION ALL SELECT * FROM wrong('indexscan', 'typed_e', '$q =~= e', 'alike', 'typed')
UNION ALL
SELECT * FROM wrong('bitmapscan', 'typed_w', 'w =~= $q AND id = 14', 'alike AND b = 14', 'typed')
UNION ALL
SELECT * FROM wrong('indexscan', 'typed_v', 'v =~= ANY (ARRAY[$q]::varchar[])', 'alike', 'typed');
-- a character value needs a cast
\set VERBOSITY terse
CREATE TABLE padded (c character(40));
CREATE INDEX ON padded USING simhash (c simhash_text_ops);
CREATE INDEX ON padded USING simhash ((c::text) simhash_text_ops);
\set VERBOSITY default

-- partitions; the columns of one are in another order
CREATE TABLE parted (id int, tenant int, body text) PARTITION BY LIST (tenant);
CREATE TABLE parted_0 PARTITION OF parted FOR VALUES IN (0);
CREATE TABLE parted_1 (body text, more int, tenant int, id int);
ALTER TABLE parted_1 DROP more;
ALTER TABLE parted ATTACH PARTITION parted_1 FOR VALUES IN (1);
CREATE TABLE parted_2 PARTITION OF parted DEFAULT;
INSERT INTO parted SELECT * FROM doc;
CREATE INDEX parted_body ON parted USING simhash (body simhash_text_ops);
SELECT * FROM wrong('indexscan', 'parted_1_body_idx', 'body =~= $q', 'alike', 'parted');

-- built concurrently and by workers
CREATE INDEX CONCURRENTLY doc_concurrently ON doc USING simhash (body simhash_text_ops) WITH (bands = 12);
SELECT simhash_index_check('doc_concurrently', true) \gset
SELECT * FROM wrong('indexscan', 'doc_concurrently', 'body =~= $q', 'alike');
ALTER INDEX doc_concurrently SET (bands = 32);
REINDEX INDEX CONCURRENTLY doc_concurrently;
SELECT count(*) FROM simhash_index_info('doc_concurrently') WHERE table_no IS NOT NULL;
SELECT * FROM wrong('bitmapscan', 'doc_concurrently', 'body =~= $q', 'alike');
DROP INDEX doc_concurrently;
SET min_parallel_table_scan_size = 0; SET max_parallel_maintenance_workers = 3;
CREATE INDEX doc_parallel ON doc USING simhash (body simhash_text_ops);
SELECT simhash_index_check('doc_parallel', true) \gset
SELECT * FROM wrong('indexscan', 'doc_parallel', 'body =~= $q', 'alike');
RESET min_parallel_table_scan_size;

-- changes, and VACUUM
UPDATE doc SET body = body || ' ' WHERE id % 4 = 0;
DELETE FROM doc WHERE id % 11 = 0;
VACUUM doc;
INSERT INTO doc SELECT i, i % 3, body(i) FROM generate_series(1, 500) i WHERE i % 11 = 0;
SELECT simhash_index_check('doc_parallel', true) \gset
SELECT * FROM wrong('indexscan', 'doc_parallel', 'body =~= $q', 'alike');

-- estimates: few rows
ANALYZE doc;
SELECT use_only('seqscan') \gset
SELECT estimate('SELECT id FROM doc WHERE body =~= ''a b c''') BETWEEN 1 AND 10 AS few,
	estimate('SELECT a.id FROM doc a JOIN doc b ON a.body =~= b.body') BETWEEN 500 AND 10000 AS few_each;

-- a long text, stored out of line
SELECT string_agg('w' || i % 40000, ' ' ORDER BY i) AS long FROM generate_series(1, 500000) i \gset
INSERT INTO doc VALUES (1001, 0, :'long'), (1002, 0, :'long' || ' and a few more words');
SELECT use_only('indexscan') \gset
SELECT id FROM doc WHERE body =~= (:'long' || '.') ORDER BY 1;
SELECT simhash_index_check('doc_parallel', true) \gset

SELECT use_only('seqscan') \gset
-- from how many words on one in the middle may be another
SELECT min(n) FILTER (WHERE share >= 0.8), max(n) FILTER (WHERE share < 0.8)
FROM generate_series(3, 60) n, LATERAL (SELECT string_agg('w' || w, ' ' ORDER BY w) AS a,
	string_agg(CASE w WHEN n / 2 + 1 THEN 'another' ELSE 'w' || w END, ' ' ORDER BY w) AS b FROM generate_series(1, n) w) t,
	simhash_jaccard(a, b) share;

SET client_min_messages = warning;
DROP SCHEMA similar_test CASCADE;
