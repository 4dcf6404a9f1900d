--
-- Memory: many scans in one statement take no more than 1,000
--
-- What a scan, or a function, leaves behind until its statement ends adds up: a constraint
-- begins a scan for each row, and a join starts one again for each row.
--
\pset format unaligned
\pset footer off
CREATE SCHEMA index_memory_test;
SET search_path = index_memory_test, public; SET max_parallel_workers_per_gather = 0; SET client_min_messages = warning;
SET enable_seqscan = off; SET enable_memoize = off; SET enable_material = off;

-- without the documents that are remembered to the end of the transaction, up to a limit
CREATE FUNCTION memory() RETURNS bigint LANGUAGE sql VOLATILE AS $$
	SELECT sum(total_bytes)::bigint FROM pg_backend_memory_contexts WHERE name <> 'simhash documents'
$$;

CREATE TABLE docs (id int, fp simhash, other simhash, wide simhash_bits(256), body text);
INSERT INTO docs SELECT i, bits('m' || i), bits('o' || i), wide('m' || i, 256),
	(SELECT string_agg(md5(i || ' ' || word), ' ') FROM generate_series(1, 6) word)
FROM generate_series(1, effort(4000, 10000)) i;
ANALYZE docs;
CREATE INDEX docs_fp ON docs USING simhash (fp);
CREATE INDEX docs_wide ON docs USING simhash (wide);
CREATE INDEX docs_body ON docs USING simhash (body simhash_text_ops);
CREATE INDEX docs_id ON docs USING simhash (id, other);

-- What is wrong with a query of all rows whose m is set after 1,000 rows and at the end at
-- least; null if memory is about the same
CREATE FUNCTION growth(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	rows int;
	measured int;
	grown bigint;
BEGIN
	EXECUTE format('SELECT count(*), count(m), max(m) - min(m) FROM (%s) s', query) INTO rows, measured, grown;
	RETURN CASE WHEN rows <> (SELECT count(*) FROM docs) OR measured < 2
		THEN format('%s rows, measured %s times', rows, measured)
		WHEN grown > effort(400000, 1000000) THEN format('grown by %s bytes', grown) END;
END $$;

-- scans that are started again, for each row of docs, which finds itself
CREATE TABLE kind AS SELECT * FROM (VALUES
	('docs_fp', 'SELECT count(*) AS n FROM docs d WHERE d.fp % q.fp'),
	('docs_fp', 'SELECT count(*) AS n FROM docs d WHERE d.fp % ANY (ARRAY[q.fp, q.fp])'),
	('docs_fp', 'SELECT count(*) AS n FROM docs d WHERE d.fp % q.fp AND d.fp <~> q.fp <= 9'),
	('docs_fp', 'SELECT count(*) AS n FROM (SELECT FROM docs d ORDER BY d.fp <~> q.fp LIMIT 1) s'),
	('docs_id', 'SELECT count(*) AS n FROM docs d WHERE d.id = q.id AND d.other % q.other'),
	('docs_wide', 'SELECT count(*) AS n FROM docs d WHERE d.wide % q.wide'),
	('docs_wide', 'SELECT count(*) AS n FROM docs d WHERE d.wide % ANY (ARRAY[q.wide, q.wide])'),
	('docs_wide', 'SELECT count(*) AS n FROM docs d WHERE d.wide % q.wide AND d.wide <~> q.wide <= 40'),
	('docs_body', 'SELECT count(*) AS n FROM docs d WHERE d.body =~= q.body'),
	('docs_body', 'SELECT count(*) AS n FROM docs d WHERE d.body =~= ANY (ARRAY[q.body, q.body])')) k(index, scan);
CREATE FUNCTION scan_all(form text, index text, scan text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	query text := format('SELECT CASE WHEN mod(q.id, 3000) = 1000 THEN memory() END AS m
		FROM docs q, LATERAL (%s) s WHERE n = 1', scan);
BEGIN
	PERFORM use_only(form);
	IF plan_of(query) !~ ('(Index Scan using|Bitmap Index Scan on) ' || index) THEN
		RETURN plan_of(query);
	END IF;
	RETURN growth(query);
END $$;
SELECT form, count(*) AS kinds, string_agg(scan || ': ' || problem, E'\n') AS wrong
FROM (SELECT form, scan, scan_all(form, index, scan) AS problem
	  FROM kind, (VALUES ('indexscan'), ('bitmapscan')) f(form)
	  WHERE form = 'indexscan' OR scan !~ 'ORDER BY') s
GROUP BY form ORDER BY form;
SELECT use_only('indexscan') \gset
-- candidates that are sorted on disk
CREATE TABLE equal AS SELECT fp FROM docs UNION ALL SELECT 7::simhash FROM generate_series(1, 5000);
CREATE INDEX equal_fp ON equal USING simhash (fp);
ANALYZE equal;
SET work_mem = '64kB';
SELECT format($$SELECT CASE WHEN q.id IN (20, 220) THEN memory() END AS m FROM docs q,
	LATERAL (SELECT count(*) AS n FROM (SELECT FROM equal e WHERE e.fp = 7::simhash ORDER BY e.fp <~> q.fp LIMIT 1) s) s
	WHERE n = 1 AND q.id <= 220$$) AS query \gset
SELECT plan_of(:'query') ~ 'equal_fp.*Order By' AS ordered;
SELECT max(m) - min(m) < 50000 AS little FROM (:query) s;
RESET work_mem;
-- what an open cursor holds when more than work_mem has been sorted: not its candidates, too
CREATE TABLE many AS SELECT CASE WHEN i % 3 = 0 THEN 7 ELSE bits('y' || i)::bigint END::simhash AS fp FROM generate_series(1, 220000) i;
CREATE INDEX many_fp ON many USING simhash (fp);
ANALYZE many;
BEGIN;
SET LOCAL work_mem = '1MB';
SELECT 'SELECT fp FROM many WHERE fp = 7::simhash ORDER BY fp <~> 5' AS query \gset
SELECT plan_of(:'query') ~ 'many_fp.*Order By' AS ordered;
DECLARE c CURSOR FOR :query;
FETCH c;
SELECT sum(total_bytes) BETWEEN 10000 AND 900000 AS little FROM pg_backend_memory_contexts WHERE name IN ('simhash candidates', 'simhash sort');
MOVE 50000 IN c;
SELECT sum(total_bytes) BETWEEN 10000 AND 900000 AS little FROM pg_backend_memory_contexts WHERE name IN ('simhash candidates', 'simhash sort');
COMMIT;

-- scans that are begun and ended: one for each row that a constraint checks
CREATE FUNCTION insert_all(tab text, col text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('INSERT INTO %s SELECT id, %s, CASE WHEN mod(id, 3000) = 1000 THEN memory() END FROM docs',
		tab, col);
	RETURN growth('SELECT m FROM ' || tab);
END $$;
CREATE TABLE one (id int, fp simhash, m bigint, EXCLUDE USING simhash (fp WITH %));
CREATE TABLE several (id int, fp simhash, m bigint, EXCLUDE USING simhash (id WITH =, fp WITH %));
CREATE TABLE wide (id int, fp simhash_bits(256), m bigint, EXCLUDE USING simhash (fp WITH %));
CREATE TABLE texts (id int, body text, m bigint, EXCLUDE USING simhash (body simhash_text_ops WITH =~=));
SELECT insert_all('one', 'fp') IS NULL AS one, insert_all('several', 'fp') IS NULL AS several,
	insert_all('wide', 'wide') IS NULL AS wide, insert_all('texts', 'body') IS NULL AS texts;

-- scans that end with an error
CREATE FUNCTION insert_again(tab text, col text, OUT all_refused boolean, OUT grown boolean) LANGUAGE plpgsql AS $$
DECLARE
	refused int := 0;
	doc docs;
	before bigint;
BEGIN
	FOR doc IN SELECT * FROM docs LOOP
		IF refused = 1000 THEN
			before := memory();
		END IF;
		BEGIN
			EXECUTE format('INSERT INTO %s SELECT $1.id, $1.%s', tab, col) USING doc;
		EXCEPTION WHEN exclusion_violation THEN
			refused := refused + 1;
		END;
	END LOOP;
	all_refused := refused = (SELECT count(*) FROM docs);
	grown := memory() - before > effort(400000, 1000000);
END $$;
SELECT tab, again.* FROM (VALUES ('one', 'fp'), ('several', 'fp'), ('wide', 'wide'), ('texts', 'body')) c(tab, col),
	insert_again(tab, col) again;

-- parts of texts, which are compared for each row, and looked up in a GIN index
CREATE TABLE long AS SELECT id, concat_ws(' ', body, body, body) AS body FROM docs;
CREATE INDEX long_body ON long USING gin (body simhash_passage_ops);
ANALYZE long;
SELECT growth($$SELECT CASE WHEN mod(id, 3000) = 1000 THEN memory() END AS m FROM long
	WHERE body ~& concat_ws(' ', id, body)$$) IS NULL AS compared;
SELECT use_only('bitmapscan') \gset
SELECT $$SELECT CASE WHEN mod(q.id, 3000) = 1000 THEN memory() END AS m
	FROM long q, LATERAL (SELECT count(*) AS n FROM long l WHERE l.body ~& q.body) s WHERE n = 1$$ AS query \gset
SELECT plan_of(:'query') ~ 'Bitmap Index Scan on long_body' AS indexed, growth(:'query') IS NULL AS found;

-- hash functions of columns before the fingerprint run for each row of a build, a check and
-- an INSERT: those of ranges copy them
CREATE TYPE textrange AS RANGE (subtype = text, collation = "C");
CREATE OPERATOR CLASS range_ops DEFAULT FOR TYPE anyrange USING simhash AS OPERATOR 1 =,
	FUNCTION 1 hash_range_extended(anyrange, bigint);
CREATE TABLE ranged (id int, r textrange, fp simhash);
INSERT INTO ranged SELECT i, textrange(i::text, i || repeat('x', 3000)), bits(i::text)
FROM generate_series(1, 4000) i;
-- the fingerprint, and a warning if memory has grown meanwhile
CREATE FUNCTION watch(id int, fp simhash) RETURNS simhash IMMUTABLE LANGUAGE plpgsql
SET search_path = index_memory_test, public AS $$
BEGIN
	IF id = 1000 THEN
		PERFORM set_config('test.memory', memory()::text, false);
	ELSIF id = 4000 AND memory() - current_setting('test.memory')::bigint > 3000000 THEN
		RAISE WARNING 'grown by % bytes', memory() - current_setting('test.memory')::bigint;
	END IF;
	RETURN fp;
END $$;
SET maintenance_work_mem = '1MB';
CREATE INDEX ranged_r ON ranged USING simhash (r, watch(id, fp));
SELECT simhash_index_check('ranged_r', true) \gset
CREATE TABLE ranged_too (LIKE ranged INCLUDING INDEXES);
INSERT INTO ranged_too SELECT * FROM ranged ORDER BY id;

-- a concurrent build collects each row once, however many permuted tables have it
CREATE TABLE parts AS SELECT i AS id, wide(i::text, 2048)::simhash_bits(2048) AS fp FROM generate_series(1, 5000) i;
SET maintenance_work_mem = '6MB';
CREATE INDEX CONCURRENTLY parts_fp ON parts USING simhash (fp);
SELECT pg_stat_force_next_flush() \g /dev/null
SELECT temp_bytes FROM pg_stat_database WHERE datname = current_database() \gset
REINDEX INDEX CONCURRENTLY parts_fp;
SELECT pg_stat_force_next_flush() \g /dev/null
SELECT temp_bytes = :temp_bytes AS fits FROM pg_stat_database WHERE datname = current_database();
DELETE FROM parts WHERE id % 2 = 0;
VACUUM parts;
SELECT simhash_index_check('parts_fp', true);

DROP SCHEMA index_memory_test CASCADE;
