--
-- What pg_stat_user_indexes, pg_statio_user_indexes and EXPLAIN (ANALYZE) say of
-- the use of an index
--
\pset format unaligned
\pset footer off
CREATE SCHEMA index_statistics_test;
SET search_path = index_statistics_test, public; SET max_parallel_workers_per_gather = 0; SET client_min_messages = warning;
SET enable_seqscan = off; SET enable_bitmapscan = off;

-- Run a query.  Returns what scans the index in its plan, and notes how many searches
-- EXPLAIN has counted, as it does since 18.
CREATE TABLE explained (searches bigint);
INSERT INTO explained VALUES (NULL);
CREATE FUNCTION run(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	plan jsonb;
	node jsonb;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) ' || query INTO plan;
	node := jsonb_path_query_first(plan, 'strict $.** ? (@."Index Name" starts with "docs_")');
	IF current_setting('server_version_num')::int >= 180000 AND NOT node ? 'Index Searches' THEN
		RAISE 'EXPLAIN has counted no searches';
	END IF;
	UPDATE explained SET searches = (node ->> 'Index Searches')::bigint;
	RETURN coalesce(node ->> 'Node Type', 'none');
END $$;

-- What the server has counted since the last call, and whether EXPLAIN says the same; shown with what has run.
CREATE FUNCTION counted(OUT searches bigint, OUT read bigint, OUT fetched bigint, OUT agrees boolean)
LANGUAGE plpgsql AS $$
DECLARE
	index oid;
BEGIN
	SELECT indexrelid, idx_scan, idx_tup_read, idx_tup_fetch INTO STRICT index, searches, read, fetched
	FROM pg_stat_user_indexes WHERE schemaname = 'index_statistics_test' AND indexrelname ^@ 'docs_';
	UPDATE explained e SET searches = NULL FROM explained old
	RETURNING coalesce(old.searches, counted.searches) = counted.searches INTO agrees;
	PERFORM pg_stat_reset_single_table_counters(index);
END $$;
\set flush 'DO $$ BEGIN PERFORM pg_stat_force_next_flush(); END $$;'
\set counted :flush 'SELECT :\'run\' AS run, * FROM counted();'
\set run 'nothing yet'

-- 10,000 fingerprints, each in two rows that differ in a bit; and two nulls
CREATE TABLE docs (id int, kind int, fp simhash) WITH (autovacuum_enabled = off);
INSERT INTO docs SELECT i, i % 7, bits((i / 2)::text) # (i % 2) FROM generate_series(0, 19999) i;
INSERT INTO docs VALUES (-1, 1, NULL), (-2, 2, NULL);
CREATE INDEX docs_fp ON docs USING simhash (fp);
VACUUM (ANALYZE, FREEZE) docs;
CREATE TABLE queries AS SELECT i AS id, bits((i * 3)::text)::simhash AS fp FROM generate_series(1, 100) i;
SELECT bits('5')::simhash AS q \gset
:counted

-- a look-up is one search, which reads four tables
SELECT run(format('SELECT id FROM docs WHERE fp <~> %L <= 3', :q)) \gset
:counted
SELECT run(format('SELECT id FROM docs WHERE fp %% %L', :q)) \gset
:counted
-- and an exact one reads a single table
SELECT run(format('SELECT id FROM docs WHERE fp = %L', :q)) \gset
:counted
-- by a bitmap, whose rows are counted as those of the table
SET enable_bitmapscan = on; SET enable_indexscan = off;
SELECT run(format('SELECT id FROM docs WHERE fp <~> %L <= 3', :q)) \gset
:counted
RESET enable_indexscan;
SET enable_bitmapscan = off;
-- index-only: no row is fetched
SET enable_indexscan = off;
SELECT run(format('SELECT fp FROM docs WHERE fp <@ simhash_ball(%L, 3)', :q)) \gset
:counted
RESET enable_indexscan;
-- nulls
SELECT run('SELECT id FROM docs WHERE fp IS NULL') \gset
:counted
-- nothing can be near a null
SELECT run('SELECT id FROM docs WHERE fp <~> NULL::simhash <= 3') \gset
:counted
-- all rows: a table from end to end, and the nulls
SELECT run('SELECT id FROM docs ORDER BY fp <~> ''0''') \gset
:counted
-- the nearest, which is within the distance of the index
SELECT run(format('SELECT id FROM docs ORDER BY fp <~> %L LIMIT 2', :q)) \gset
:counted
-- one look-up for each element
SELECT run('SELECT id FROM docs WHERE fp % ANY (ARRAY(SELECT fp FROM queries WHERE id <= 3))') \gset
:counted
-- and for each row of the other side
SET enable_hashjoin = off; SET enable_mergejoin = off;
SELECT run('SELECT docs.id FROM queries q, docs WHERE docs.fp <~> q.fp <= 3') \gset
:counted
RESET enable_hashjoin; RESET enable_mergejoin;
-- beyond the distance of the index
SELECT run(format('SELECT id FROM docs WHERE fp <~> %L <= 5', :q)) \gset
:counted

-- functions over whole indexes: one search, each walk of which reads all entries
SELECT count(*) AS run FROM simhash_find_all('docs_fp', 3) \gset
:counted
SELECT count(*) AS run FROM simhash_find_all('docs_fp', 0) \gset
:counted
SELECT count(*) AS run FROM simhash_find_clusters('docs_fp', 3) \gset
:counted
-- these read the index for other reasons, and count nothing
SELECT simhash_index_check('docs_fp', true) \gset
SELECT count(*) AS run FROM simhash_index_info('docs_fp') \gset
:counted

-- Pages: a look-up looks at four leaves at least, most of them in buffers that are
-- remembered
SELECT run('SELECT docs.id FROM queries q, docs WHERE docs.fp <~> q.fp <= 3');
:flush
SELECT idx_blks_hit >= 400 AS hits FROM pg_statio_user_indexes
WHERE schemaname = 'index_statistics_test' AND indexrelname = 'docs_fp';
DROP TABLE docs;

-- several columns: one search, of all groups
CREATE TABLE docs (id int, kind int, fp simhash) WITH (autovacuum_enabled = off);
INSERT INTO docs SELECT i, i / 10, bits(i::text) FROM generate_series(1, 10000) i;
CREATE INDEX docs_kind_fp ON docs USING simhash (kind, fp);
VACUUM (ANALYZE, FREEZE) docs;
SELECT run('SELECT id FROM docs WHERE kind = 10 AND fp <~> ''0'' <= 64') \gset
:counted
SELECT run('SELECT id FROM docs WHERE kind IN (10, 500) AND fp <~> ''0'' <= 64') \gset
:counted
DROP TABLE docs;

-- exclusion constraints
CREATE TABLE docs (fp simhash, CONSTRAINT docs_near_fp EXCLUDE USING simhash (fp WITH %))
	WITH (autovacuum_enabled = off);
INSERT INTO docs SELECT bits(i::text) FROM generate_series(1, 10000) i;
\set run 'inserts'
:flush
SELECT searches FROM counted();
INSERT INTO docs VALUES (bits('a'));
:counted
-- it ends with the first conflict
INSERT INTO docs VALUES (bits('5'));
:counted

DROP SCHEMA index_statistics_test CASCADE;
