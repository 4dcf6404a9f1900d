--
-- Duplicates with their keepers: the same ones as by brute force
--
CREATE SCHEMA batch_duplicates_test;
SET search_path = batch_duplicates_test, public; SET max_parallel_workers_per_gather = 0; SET client_min_messages = warning;
\pset format unaligned
\pset footer off
\set SHOW_CONTEXT never
\pset null (none)

--
-- A small one, to read
--
CREATE TABLE docs (id int PRIMARY KEY, body text, fp simhash, other simhash);
INSERT INTO docs VALUES
	(1, 'first', 0, 1), (2, 'the longest of all', 7, 1), (3, 'near 2 only', 63, 1), (4, 'as 3', 63, 1),
	(5, 'alone', 281470681808895, 1),
	(6, 'none', NULL, 1), (7, 'none', NULL, 1), (8, NULL, -1, 1), (9, 'of 8', -2, 1), (10, 'of 8', -4, 1);
CREATE INDEX docs_fp ON docs USING simhash (fp);
CREATE FUNCTION named(index regclass, distance int DEFAULT NULL, keep text DEFAULT NULL, OUT duplicate int,
	OUT keeper int, OUT away int)
RETURNS SETOF record LANGUAGE sql STABLE AS $$
	SELECT x.id, y.id, d.distance FROM simhash_find_duplicates(index, distance, keep => keep) d
		JOIN docs x ON x.ctid = d.duplicate JOIN docs y ON y.ctid = d.keeper
$$;
-- by TID, which is the order of insertion here: 3 is not near 1, and kept
SELECT * FROM named('docs_fp') ORDER BY 1;
-- the one in the middle keeps all
SELECT * FROM named('docs_fp', keep => 'length(body) DESC NULLS LAST, id') ORDER BY 1;
-- rows come in the order
SELECT * FROM rows_of($$SELECT x.id FROM simhash_find_duplicates('docs_fp', 3, keep => 'id DESC') WITH ORDINALITY d
	JOIN docs x ON x.ctid = d.duplicate ORDER BY ordinality$$,
	$$SELECT duplicate_table, keeper_table, count(*) FROM simhash_find_duplicates('docs_fp') GROUP BY 1, 2$$);
-- other distances
SELECT * FROM rows_of($$SELECT * FROM named('docs_fp', 0, 'id') ORDER BY 1$$,
	$$SELECT * FROM named('docs_fp', 1, 'id') ORDER BY 1$$,
	$$SELECT * FROM named('docs_fp', 64, 'id DESC') ORDER BY 1$$);
-- a later row of a fingerprint may have a nearer keeper than the first
BEGIN;
UPDATE docs SET fp = NULL;
INSERT INTO docs VALUES (11, 'kept', 0), (12, 'a duplicate of 11', 7), (13, 'kept', 15), (14, 'a duplicate of 13', 7),
	(15, 'kept', 16);
SELECT * FROM named('docs_fp', 3, 'id') ORDER BY 1;
ROLLBACK;
-- of those that are equally near it is the first
BEGIN;
UPDATE docs SET fp = NULL;
INSERT INTO docs VALUES (11, 'kept', 3), (12, 'kept', 48), (13, 'as far from both', 0);
SELECT * FROM rows_of($$SELECT * FROM named('docs_fp', 2, 'id') ORDER BY 1$$,
	$$SELECT * FROM named('docs_fp', 2, 'id % 13, id DESC') ORDER BY 1$$);
ROLLBACK;
SELECT count(*) FROM simhash_find_duplicates(NULL)
UNION ALL SELECT count(*) FROM simhash_find_duplicates(NULL, 3, keep => 'no such list');
SELECT count(*) FROM simhash_find_duplicates('docs_fp', NULL, keep => NULL);

--
-- What may stand in the list
--

CREATE FUNCTION attempt(keep text, OUT message text, OUT context text) LANGUAGE plpgsql AS $$
BEGIN
	message := (SELECT count(*) || ' rows' FROM simhash_find_duplicates('docs_fp', 3, keep => keep));
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, context = PG_EXCEPTION_CONTEXT;
	message := SQLSTATE || ' ' || message;
	context := (regexp_match(context, '^argument [^\n]*'))[1];
END $$;
SELECT keep, a.* FROM unnest(ARRAY[
	'id', 'docs.id', 'ID DESC NULLS FIRST', 'id -- a comment',
	'body COLLATE "C" USING >, id USING OPERATOR(pg_catalog.<)', 'ctid DESC', 'tableoid, id', 'docs', '(id, body)',
	'CASE WHEN body LIKE ''%of%'' THEN 1 END', 'body = current_user', 'fp <~> 5',
	'coalesce(length(body), 0) DESC, id % 3', 'now() + id * interval ''1 s''', 'id, id',
	'', ' ', '-- a comment', 'ORDER BY id', 'id,', 'id)', '(id', 'id asc desc', 'SELECT 1', 'id; DROP TABLE docs',
	'id;', ';', ';id', 'id LIMIT 1', 'id OFFSET 1', 'id LIMIT ALL', 'id FETCH FIRST ROW ONLY',
	'id FOR UPDATE', 'id UNION SELECT 1', 'id INTO x', 'id WHERE true', '*', 'id AS x',
	'nothing', 'other.id', 'batch_duplicates_test.nowhere.id', 'length(id)', 'nothing(id)', '''a''', '1', '1, id',
	'id, NULL', 'now()', '$1', 'xmin', 'age(xmin)', 'point(id, id)', 'id USING <>',
	'id COLLATE "C"', '(SELECT 1)', 'EXISTS (SELECT FROM docs d WHERE d.id < docs.id)', 'id IN (SELECT 1)',
	'ARRAY(SELECT id)', 'max(id)', 'count(*) DESC', 'id, grouping(id)', 'row_number() OVER ()',
	'rank() OVER (ORDER BY id)',
	'generate_series(1, id)', 'random()', 'id + random()', 'nextval(''s'')', 'clock_timestamp(), id', 'id / 0',
	'body::int', 'body < ''a'' COLLATE nowhere', 'id ORDER BY id', '/* no end']) keep,
	attempt(keep) a;
SELECT count(*) FROM docs;
-- errors point at the place
\set SHOW_CONTEXT errors
SELECT FROM simhash_find_duplicates('docs_fp', 3, keep => 'length(bdy) DESC, id');
SELECT FROM simhash_find_duplicates('docs_fp', keep => 'ORDER BY id');
SELECT FROM simhash_find_duplicates('docs_fp', keep => 'length(body) DESC,
	id; DELETE FROM docs');
SELECT FROM simhash_find_duplicates('docs_fp', keep => 'length(body), 2');
SELECT FROM simhash_find_duplicates('docs_fp', keep => 'id, ''äöü'' || max(body)');
SELECT FROM simhash_find_duplicates('docs_fp', keep => '10 / (id - 1)');
SELECT FROM simhash_find_duplicates('docs_fp', 65, keep => 'nothing');
SELECT FROM simhash_find_duplicates('docs', 3, keep => 'nothing');
\set SHOW_CONTEXT never
-- a subquery that looks like a function, since 16, and one within others
SELECT message ~ CASE WHEN current_setting('server_version_num')::int < 160000 AND keep ~ 'JSON' THEN '^42601'
	ELSE '^0A000 subqueries are not allowed in "keep"$' END AS refused
FROM unnest(ARRAY['JSON_ARRAY(SELECT d.id FROM docs d WHERE d.id < docs.id)::text', 'id, JSON_ARRAY(SELECT id)::text',
	'CASE WHEN id > 1 THEN ARRAY[id, coalesce((SELECT id), 1)] END']) keep, attempt(keep);
-- as many items as can be sorted by, and more
SELECT n, a.* FROM unnest('{1661,1662,66000}'::int[]) n,
	attempt((SELECT string_agg('id % ' || i, ', ' ORDER BY i) FROM generate_series(1, n) i)) a;
-- lists within, which nobody could cancel the analysis of
SELECT keep, a.* FROM unnest('{row_number() OVER (ORDER BY,sum(id) OVER (PARTITION BY,max(DISTINCT id ORDER BY,(SELECT id ORDER BY}'::text[]) keep,
	attempt(keep || (SELECT string_agg(' id % ' || i, ',') FROM generate_series(1, 66000) i) || ')') a;
-- names are looked up when the function is called
CREATE SCHEMA elsewhere;
CREATE FUNCTION elsewhere.weight(text) RETURNS int LANGUAGE sql IMMUTABLE AS $$ SELECT length($1) $$;
SELECT * FROM attempt('weight(body) DESC, id');
SET search_path = elsewhere, batch_duplicates_test, public;
SELECT * FROM attempt('weight(body) DESC, id');
SET search_path = batch_duplicates_test, public;

--
-- Who may
--

CREATE ROLE regress_simhash_keeper;
GRANT USAGE ON SCHEMA batch_duplicates_test, elsewhere TO regress_simhash_keeper;
GRANT SELECT (fp, id, ctid, tableoid) ON docs TO regress_simhash_keeper;
SET ROLE regress_simhash_keeper;
SELECT keep, a.*
FROM unnest('{NULL,id,id + 1 DESC,body,"id, length(body)",docs,ctid,elsewhere.weight(id::text)}'::text[]) keep,
	attempt(keep) a;
RESET ROLE;
GRANT SELECT ON docs TO regress_simhash_keeper;
REVOKE EXECUTE ON FUNCTION elsewhere.weight FROM PUBLIC;
SET ROLE regress_simhash_keeper;
SELECT keep, a.* FROM unnest('{body,"id, length(body)",docs,ctid,elsewhere.weight(body)}'::text[]) keep,
	attempt(keep) a;
RESET ROLE;
-- functions in the list run as who calls
CREATE FUNCTION who(int) RETURNS text LANGUAGE plpgsql STABLE AS $$ BEGIN RAISE 'it is %', current_user; END $$;
SET ROLE regress_simhash_keeper;
SELECT * FROM attempt('who(id)');
RESET ROLE;
ALTER TABLE docs ENABLE ROW LEVEL SECURITY;
SET ROLE regress_simhash_keeper;
SELECT * FROM attempt('id');
RESET ROLE;
ALTER TABLE docs DISABLE ROW LEVEL SECURITY;
REVOKE SELECT ON docs FROM regress_simhash_keeper;
SET ROLE regress_simhash_keeper;
SELECT * FROM attempt(NULL);
RESET ROLE;

--
-- Brute force
--

CREATE TABLE many (id int, weight int, lang text, fp simhash, note text)
	WITH (fillfactor = 60, autovacuum_enabled = off);
CREATE INDEX many_fp ON many USING simhash (fp);
CREATE INDEX many_narrow ON many USING simhash (fp) WITH (blocks = 7, distance = 6);
-- random ones
INSERT INTO many SELECT i, (bits('w' || i) % 10)::int, (ARRAY['a', 'B', 'c', NULL])[1 + abs(bits('l' || i) % 4)],
	bits('r' || i), 'new' FROM generate_series(1, 120) i;
SELECT array_agg(n ORDER BY r) AS n, sum(missing + wrong + near_kept + far) AS wrong
FROM unnest('{0,3,6,10,24,64}'::int[]) r, compare_duplicates('many', 'many_fp', r, 'weight, id DESC') c;
-- in clusters, with few bits set, and many that are equal; nulls
INSERT INTO many
SELECT i, (bits('w' || i) % 10)::int, (ARRAY['a', 'B', 'c', NULL])[1 + abs(bits('l' || i) % 4)],
	CASE WHEN i % 41 = 0 THEN NULL
		WHEN i <= 350 THEN flip(bits('c' || i / 15), i % 5, 'f' || i)
		WHEN i <= 420 THEN (1::bigint << i % 64) | (1::bigint << i % 7)
		WHEN i <= 450 THEN 5
		ELSE 5 # (1::bigint << (i % 8) * 8) END, 'new'
FROM generate_series(121, 500) i;
SELECT keep, array_agg(n ORDER BY r) AS n, sum(missing + wrong + near_kept + far) AS wrong
FROM unnest('{0,3,6,10}'::int[]) r,
	unnest('{NULL,id,id DESC,"weight, id","weight DESC, lang COLLATE \"C\" DESC NULLS LAST",
		"lang COLLATE \"C\" NULLS FIRST, weight USING >","lang COLLATE \"en-x-icu\" DESC, weight",
		"fp <~> 5 DESC, note, md5(id::text) COLLATE \"C\""}'::text[])
	WITH ORDINALITY k(keep, no), compare_duplicates('many', 'many_fp', r, keep) c GROUP BY no, keep ORDER BY no;
SELECT array_agg(n ORDER BY r) AS n, sum(missing + wrong + near_kept + far) AS wrong
FROM unnest('{0,3,6,7}'::int[]) r, compare_duplicates('many', 'many_narrow', r, 'id % 7, id') c;
-- rows that are deleted, updated, moved, not committed
DELETE FROM many WHERE id % 7 = 0;
UPDATE many SET note = 'updated' WHERE id % 7 = 1;
UPDATE many SET fp = 4 WHERE id % 7 = 2;
BEGIN;
INSERT INTO many SELECT i, 4, 'a', 5, 'aborted' FROM generate_series(901, 950) i;
UPDATE many SET weight = weight + 1 WHERE id % 7 = 4;
SELECT keep, c.* FROM unnest('{NULL,"weight DESC, id"}'::text[]) keep, compare_duplicates('many', 'many_fp', 3, keep) c;
ROLLBACK;
SELECT keep, c.* FROM unnest('{NULL,"weight DESC, id"}'::text[]) keep, compare_duplicates('many', 'many_fp', 3, keep) c;
VACUUM many;
SELECT keep, c.* FROM unnest('{NULL,"weight DESC, id"}'::text[]) keep, compare_duplicates('many', 'many_fp', 3, keep) c;
-- within equal columns
CREATE INDEX many_columns ON many USING simhash (lang, weight, fp);
SELECT keep, array_agg(n ORDER BY r) AS n, sum(missing + wrong + near_kept + far) AS wrong
FROM unnest('{0,2,3}'::int[]) r, unnest('{NULL,"length(note), id DESC"}'::text[]) keep,
	compare_duplicates('many', 'many_columns', r, keep, 'a.lang = b.lang AND a.weight = b.weight') c GROUP BY keep ORDER BY keep;
-- also where different values have the same hash
CREATE FUNCTION same_hash(int, bigint) RETURNS bigint LANGUAGE sql IMMUTABLE STRICT AS $$ SELECT 7::bigint $$;
CREATE OPERATOR CLASS same_hash_ops FOR TYPE int USING simhash AS OPERATOR 1 =, FUNCTION 1 same_hash(int, bigint);
CREATE INDEX many_same_hash ON many USING simhash (weight same_hash_ops, fp);
SELECT keep, array_agg(n ORDER BY r) AS n, sum(missing + wrong + near_kept + far) AS wrong
FROM unnest('{0,3}'::int[]) r, unnest('{NULL,"length(note), id DESC"}'::text[]) keep,
	compare_duplicates('many', 'many_same_hash', r, keep, 'a.weight = b.weight') c GROUP BY keep ORDER BY keep;
DROP INDEX many_same_hash;
-- a partial index
CREATE INDEX many_partial ON many USING simhash (fp) WHERE id <= 300;
CREATE TABLE part AS SELECT * FROM many WHERE id <= 300 ORDER BY ctid;
SELECT (SELECT array_agg(m.id ORDER BY m.id) FROM simhash_find_duplicates('many_partial', 3, keep => 'id')
	JOIN many m ON m.ctid = duplicate) =
	(SELECT array_agg(p.id ORDER BY p.id) FROM expect_duplicates('part', 3, 'id')
		JOIN part p ON p.ctid = duplicate) AS same;
--
-- Many equal rows, and sorting on disk
--
TRUNCATE many;
INSERT INTO many SELECT i, i % 100, 'a', CASE WHEN i <= 60000 THEN 7 ELSE bits('m' || i / 3) # (i % 3) END,
	repeat('x', 50) FROM generate_series(1, 90000) i;
SELECT count(*), count(DISTINCT keeper), min(weight), max(distance)
FROM simhash_find_duplicates('many_fp', 3, keep => 'weight DESC, id') JOIN many ON ctid = duplicate;
CREATE TEMPORARY TABLE in_memory AS SELECT * FROM simhash_find_duplicates('many_fp', 3, keep => 'weight, note, md5(id::text)');
SELECT count(*), count(DISTINCT keeper), sum(distance) FROM in_memory;
DROP INDEX many_columns, many_narrow, many_partial;
SET maintenance_work_mem = '2MB';
SELECT count(*) FROM (SELECT * FROM simhash_find_duplicates('many_fp', 3, keep => 'weight, note, md5(id::text)')
	EXCEPT ALL TABLE in_memory) s;
-- more pairs than memory holds
TRUNCATE many;
INSERT INTO many SELECT i, 0, 'a', i, NULL FROM generate_series(0, 1023) i;
SET maintenance_work_mem = '1MB';
SELECT * FROM compare_duplicates('many', 'many_fp', 4, 'md5(id::text) COLLATE "C"');
-- 197,120 pairs of 8 bytes are written in any case, and no more if there is memory for them
CREATE FUNCTION temp_written() RETURNS int LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT count(*) FROM simhash_find_duplicates(''many_fp'', 4)' INTO plan;
	RETURN plan -> 0 -> 'Plan' ->> 'Temp Written Blocks';
END $$;
SELECT temp_written() > 600 AS sorted;
SET maintenance_work_mem = '2MB';
SELECT temp_written() BETWEEN 190 AND 210 AS in_memory;
RESET maintenance_work_mem;
DROP TABLE many;

--
-- Where it may stand
--

CREATE VIEW duplicates AS SELECT x.id FROM simhash_find_duplicates('docs_fp', 3, keep => 'id')
	JOIN docs x ON x.ctid = duplicate;
CREATE FUNCTION duplicate_ids() RETURNS SETOF int STABLE BEGIN ATOMIC SELECT x.id
	FROM simhash_find_duplicates('docs_fp', keep => 'id DESC') JOIN docs x ON x.ctid = duplicate; END;
ALTER INDEX docs_fp RENAME TO renamed;
SELECT * FROM rows_of($$SELECT id FROM duplicates ORDER BY id$$, $$SELECT id FROM duplicate_ids() id ORDER BY id$$);
DROP INDEX renamed;
DROP FUNCTION duplicate_ids;
DROP VIEW duplicates;
ALTER INDEX renamed RENAME TO docs_fp;
-- a materialized view, names that need quotes, a cursor
CREATE MATERIALIZED VIEW picture AS SELECT id AS "Id", fp AS "the fp" FROM docs ORDER BY id;
CREATE INDEX picture_fp ON picture USING simhash ("the fp");
SELECT p."Id" FROM simhash_find_duplicates('picture_fp', 3, keep => '"Id" DESC') WITH ORDINALITY
	JOIN picture p ON p.ctid = duplicate ORDER BY ordinality;
BEGIN;
DECLARE c CURSOR FOR SELECT x.id FROM simhash_find_duplicates('docs_fp', 3, keep => 'id') JOIN docs x ON x.ctid = duplicate
	ORDER BY 1;
DELETE FROM docs WHERE id < 5;
FETCH ALL FROM c;
ROLLBACK;
-- columns that were dropped, are generated, or have been added since
ALTER TABLE docs DROP body, ADD size int GENERATED ALWAYS AS (id % 3) STORED;
ALTER TABLE docs ADD added int DEFAULT 7;
SELECT * FROM named('docs_fp', 3, 'added, size DESC, id') ORDER BY 1;
-- nobody searches any more, after errors either
SELECT count(*) FROM simhash_stat_progress;

--
-- Recipes
--

CREATE TABLE corpus (id int PRIMARY KEY, body text, fp simhash GENERATED ALWAYS AS (simhash_compute(body)) STORED);
INSERT INTO corpus SELECT i, (SELECT string_agg(md5(i % 40 || ' ' || w), ' ') FROM generate_series(1, 60) w) ||
	repeat('!', i) FROM generate_series(1, 100) i;
CREATE INDEX corpus_fp ON corpus USING simhash (fp);
-- labels: what each row is a duplicate of, itself if it is none
SELECT count(*), count(DISTINCT label) FROM (
	SELECT x.id, coalesce(y.id, x.id) AS label
	FROM corpus x LEFT JOIN simhash_find_duplicates('corpus_fp', keep => 'length(body) DESC, id') d
		ON d.duplicate = x.ctid
		LEFT JOIN corpus y ON y.ctid = d.keeper) s;
-- keep the longest of each, and delete the others
BEGIN;
DELETE FROM corpus USING simhash_find_duplicates('corpus_fp', keep => 'length(body) DESC, id') d
WHERE corpus.ctid = d.duplicate;
SELECT * FROM (SELECT count(*), min(id), max(id) FROM corpus) a,
	(SELECT count(*) FROM simhash_find_all('corpus_fp')) b;
ROLLBACK;
-- from staging to the corpus: log what is dropped, and for which
TRUNCATE corpus;
CREATE TABLE staging (LIKE corpus INCLUDING GENERATED);
INSERT INTO staging SELECT i, (SELECT string_agg(md5(i % 40 || ' ' || w), ' ') FROM generate_series(1, 60) w) ||
	repeat('!', i) FROM generate_series(1, 100) i;
INSERT INTO staging VALUES (101, '');
CREATE INDEX staging_fp ON staging USING simhash (fp);
CREATE TABLE dropped (id int, keeper int, distance int);
WITH found AS MATERIALIZED (SELECT * FROM simhash_find_duplicates('staging_fp', keep => 'length(body) DESC, id')),
	logged AS (
		INSERT INTO dropped
		SELECT x.id, y.id, distance FROM found JOIN staging x ON x.ctid = duplicate JOIN staging y ON y.ctid = keeper)
INSERT INTO corpus (id, body)
SELECT id, body FROM staging WHERE NOT EXISTS (SELECT FROM found WHERE duplicate = staging.ctid);
SELECT * FROM (SELECT count(*), min(id), max(id) FROM corpus) a,
	(SELECT count(*), count(DISTINCT keeper), count(c.id), max(distance)
	FROM dropped LEFT JOIN corpus c ON c.id = keeper) b;
SELECT count(*) FROM simhash_find_all('corpus_fp');

DROP SCHEMA batch_duplicates_test, elsewhere CASCADE;
DROP ROLE regress_simhash_keeper;
