--
-- Pairs in a select list, a cursor or a loop: the same as in FROM, once and whole
--
\pset format unaligned
\pset footer off
CREATE SCHEMA batch_stream_test;
SET search_path = batch_stream_test, public; SET max_parallel_workers_per_gather = 0; SET client_min_messages = warning;
\set SHOW_CONTEXT never
\pset null (none)

-- random ones, clusters, many that are equal in all but 16 bits, and so in one
-- bucket, and many equal ones; in two tables
CREATE FUNCTION mixed(i int, side text) RETURNS simhash LANGUAGE sql IMMUTABLE AS $$
	SELECT CASE i % 4
		WHEN 0 THEN bits(side || i)
		WHEN 1 THEN flip(bits('c' || i / 40), i % 7, side || i)
		WHEN 2 THEN (bits('low') & ~65535::bigint) | (bits(side || i) & 65535)
		WHEN 3 THEN bits('same' || i / 500)
		END::simhash
$$;
CREATE TABLE docs (id int, tenant int, fp simhash);
CREATE TABLE others (id int, tenant int, fp simhash);
INSERT INTO docs SELECT i, nullif(i % 5, 0), mixed(i, 'd') FROM generate_series(1, 2000) i;
INSERT INTO others SELECT i, nullif(i % 5, 0), mixed(i, 'o') FROM generate_series(1, 1000) i;
CREATE INDEX docs_fp ON docs USING simhash (fp);
CREATE INDEX others_fp ON others USING simhash (fp);
CREATE INDEX docs_tenant ON docs USING simhash (tenant, fp);
CREATE INDEX others_tenant ON others USING simhash (tenant, fp);

-- the same rows both ways
CREATE FUNCTION compare(call text, OUT rows bigint, OUT missing bigint, OUT too_many bigint) LANGUAGE sql AS $$
	SELECT * FROM compare_rows(format('SELECT (p).* FROM (SELECT %s p OFFSET 0) s', call), 'SELECT * FROM ' || call)
$$;
SELECT d, c.* FROM unnest('{0,3,6,10,20}'::int[]) d, compare(format('simhash_find_all(''docs_fp'', %s)', d)) c;
SELECT d, c.* FROM unnest('{0,3,6,10,20}'::int[]) d, compare(format('simhash_find_all(''docs_tenant'', %s)', d)) c;
SELECT d, c.* FROM unnest('{0,3,6,10,20}'::int[]) d,
	compare(format('simhash_find_matches(''others_fp'', ''docs_fp'', %s)', d)) c;
SELECT d, c.* FROM unnest('{0,3,10}'::int[]) d,
	compare(format('simhash_find_matches(''docs_tenant'', ''others_tenant'', %s)', d)) c;
SELECT d, c.* FROM unnest('{0,3,10}'::int[]) d,
	compare(format('simhash_find_matches_in(''docs_fp'', ARRAY(SELECT fp FROM others), %s)', d)) c;
SELECT simhash_find_all(NULL), simhash_find_matches('docs_fp', NULL), simhash_find_matches_in('docs_fp', NULL);
SELECT simhash_find_matches('docs_fp', 'docs_fp');
SELECT simhash_find_all('docs');

--
-- Cursors: with tags of commands, which tell how many rows there were
--
\set QUIET off
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT simhash_find_all('docs_fp', 10) AS p;
DECLARE m CURSOR FOR SELECT simhash_find_matches('docs_fp', 'others_fp', 10) AS p;
MOVE 5 IN c;
MOVE 700 IN m;
-- they are done
SELECT count(*) FROM simhash_stat_progress;
SELECT count(*) = (SELECT count(*) FROM simhash_find_all('docs_fp', 10)) AS same
FROM (SELECT simhash_find_all('docs_fp', 10)) s;
-- what is done meanwhile is not seen
INSERT INTO docs SELECT -i, 1, mixed(i, 'd') FROM generate_series(1, 2000) i;
DELETE FROM docs WHERE id % 3 = 0;
MOVE ALL IN c;
CLOSE c;
MOVE 1 IN m;
CLOSE m;
DROP TABLE docs;
ROLLBACK;
SELECT count(*) - 5 AS rest FROM simhash_find_all('docs_fp', 10);
-- in a subtransaction, and after one that was rolled back
BEGIN;
DECLARE c CURSOR FOR SELECT simhash_find_all('docs_fp', 10) AS p;
SAVEPOINT s;
MOVE 5 IN c;
ROLLBACK TO s;
MOVE 1000 IN c;
SAVEPOINT s;
DECLARE d CURSOR FOR SELECT simhash_find_all('docs_fp', 10) AS p;
MOVE 10 IN d;
ROLLBACK TO s;
MOVE ALL IN c;
COMMIT;
-- an error in the middle
BEGIN;
DECLARE c CURSOR FOR SELECT 1 / ((p).distance - 10), p FROM (SELECT simhash_find_all('docs_fp', 10) AS p OFFSET 0) s;
MOVE ALL IN c;
ROLLBACK;
-- that outlives its transaction
BEGIN;
DECLARE h CURSOR WITH HOLD FOR SELECT simhash_find_matches('others_fp', 'docs_fp', 10) AS p;
MOVE 3 IN h;
COMMIT;
MOVE ALL IN h;
CLOSE h;
SELECT count(*) - 3 AS rest FROM simhash_find_matches('others_fp', 'docs_fp', 10);
\set QUIET on

--
-- In functions
--
CREATE FUNCTION first_rows(n int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
	p record;
	seen int := 0;
BEGIN
	FOR p IN SELECT simhash_find_all('docs_fp', 10) LOOP
		seen := seen + 1;
		IF seen = n THEN
			EXIT;
		END IF;
		BEGIN
			IF seen % 10 = 0 THEN
				RAISE division_by_zero;
			END IF;
		EXCEPTION WHEN division_by_zero THEN
			NULL;
		END;
	END LOOP;
	RETURN seen;
END $$;
SELECT first_rows(35), first_rows(1000);
CREATE PROCEDURE commit_between(n int) LANGUAGE plpgsql AS $$
DECLARE
	p record;
	seen int := 0;
BEGIN
	FOR p IN SELECT simhash_find_all('docs_fp', 3) LOOP
		seen := seen + 1;
		EXIT WHEN seen = n;
		COMMIT;
	END LOOP;
	RAISE INFO '% rows', seen;
END $$;
CALL commit_between(100);
CREATE FUNCTION pairs_sql(d int) RETURNS SETOF record LANGUAGE sql STABLE AS $$
	SELECT simhash_find_all('docs_fp', d) $$;
SELECT count(*) FROM (SELECT pairs_sql(10) LIMIT 77) s;
-- for each of several rows
SELECT d, (SELECT count(*) FROM (SELECT simhash_find_all('docs_fp', d) LIMIT 50) s) FROM unnest('{0,3,10}'::int[]) d;
SELECT d, p::text IS NOT NULL AS found FROM unnest('{0,3,10}'::int[]) d,
	LATERAL (SELECT simhash_find_all('docs_fp', d) AS p LIMIT 2) s;
SELECT count(*) FROM (SELECT d, simhash_find_all('docs_fp', d) FROM unnest('{0,0}'::int[]) d) s;
-- two in step, the shorter filled with nulls
SELECT count(a), count(b) FROM (SELECT simhash_find_all('docs_fp', 3) a,
	simhash_find_matches('docs_fp', 'others_fp', 0) b OFFSET 0) s;

-- COPY shows its own progress, also if a search was left by an error before
SELECT count(*) FROM simhash_find_duplicates('docs_fp', 10, keep => '1 / (id - id)');
COPY (SELECT p::text IS NOT NULL, (SELECT command || ' ' || type FROM pg_stat_progress_copy WHERE pid = pg_backend_pid())
	FROM (SELECT simhash_find_all('docs_fp') AS p LIMIT 1) s) TO STDOUT;

DROP SCHEMA batch_stream_test CASCADE;
