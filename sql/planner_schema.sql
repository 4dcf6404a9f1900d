--
-- Planner support finds the extension's objects wherever they are, and after
-- they have moved
--
-- A database of its own, since other tests use the extension.
SELECT current_database() AS old_database, pg_get_functiondef('plan'::regproc) AS plan \gset
CREATE DATABASE regression_planner_schema TEMPLATE template0;
\c regression_planner_schema
SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_indexonlyscan = off;
\pset format unaligned
\pset tuples_only on

:plan;

CREATE SCHEMA ext;
CREATE SCHEMA elsewhere;
CREATE EXTENSION simhash SCHEMA ext;
CREATE TABLE docs (id int, fp ext.simhash);
INSERT INTO docs SELECT n, n::ext.simhash FROM generate_series(1, 1000) n;
CREATE INDEX ON docs USING simhash (fp);
ANALYZE docs;

-- off search_path: both operators have to be named in full
SELECT public.plan('SELECT * FROM docs WHERE (fp OPERATOR(ext.<~>) 5) OPERATOR(ext.<=) 3');
SELECT public.plan('SELECT * FROM docs WHERE ext.hamming(fp, 5) OPERATOR(ext.<) 4::bigint');
SELECT public.plan('SELECT * FROM docs WHERE ext.simhash_within(fp, 5, 3)');
SELECT public.plan('SELECT * FROM docs WHERE fp OPERATOR(ext.%) 5');
-- the server's own "<=" is right, too, but says nothing to an index
SELECT public.plan('SELECT * FROM docs WHERE fp OPERATOR(ext.<~>) 5 <= 3');
SELECT count(*) FROM docs WHERE fp OPERATOR(ext.<~>) 5 <= 3;

-- on search_path
SET search_path = public, ext;
SELECT public.plan('SELECT * FROM docs WHERE fp <~> 5 <= 3');
CREATE VIEW near_docs AS SELECT id FROM docs WHERE fp <~> 5 <= 3::bigint;
PREPARE near_docs(simhash, smallint) AS SELECT count(*) FROM docs WHERE fp <~> $1 < $2;
SET plan_cache_mode = force_generic_plan;
SELECT public.plan('EXECUTE near_docs(5, 4::smallint)');

-- objects of the same names are not ours
RESET search_path;
CREATE FUNCTION public.simhash_within(ext.simhash, ext.simhash, integer) RETURNS boolean
LANGUAGE sql IMMUTABLE AS 'SELECT false';
CREATE FUNCTION public.hamming(ext.simhash, ext.simhash) RETURNS ext.simhash_distance
LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN 0; END';
SET search_path = public, ext;
SELECT public.plan('SELECT * FROM docs WHERE fp <~> 5 <= 3');
SELECT public.plan('SELECT * FROM docs WHERE public.hamming(fp, 5) <= 3');
DROP FUNCTION public.simhash_within, public.hamming;

-- moved while the session lives
RESET search_path;
CREATE TABLE notes (id int, body text, EXCLUDE USING simhash (body ext.simhash_text_ops WITH OPERATOR(ext.=~=)));
INSERT INTO notes VALUES (1, 'A text of one sentence that is long enough'), (2, 'Another');
ALTER EXTENSION simhash SET SCHEMA elsewhere;
-- its indexes, constraints and functions go with it
SELECT elsewhere.simhash_index_check('docs_fp_idx', true), elsewhere.simhash_index_check('notes_body_excl', true);
SELECT count(*) FROM elsewhere.simhash_find_all('docs_fp_idx', 1);
INSERT INTO docs VALUES (1001, 5);
DELETE FROM docs WHERE id = 1001;
\set VERBOSITY sqlstate
INSERT INTO notes VALUES (3, 'a TEXT of one sentence, that is long enough!');
\set VERBOSITY default
INSERT INTO notes VALUES (3, 'Something else');
SELECT id FROM notes WHERE body OPERATOR(elsewhere.=~=) 'something ELSE';
SELECT count(*) AS left_behind FROM pg_depend d JOIN pg_extension e ON d.refobjid = e.oid AND e.extname = 'simhash'
JOIN pg_proc p ON d.classid = 'pg_proc'::regclass AND p.oid = d.objid AND pronamespace <> 'elsewhere'::regnamespace;
SELECT public.plan('SELECT * FROM near_docs');
SELECT public.plan('SELECT * FROM docs WHERE (fp OPERATOR(elsewhere.<~>) 5) OPERATOR(elsewhere.<=) 3');
SET search_path = public, elsewhere;
SELECT public.plan('EXECUTE near_docs(5, 4::smallint)');
EXECUTE near_docs(5, 4::smallint);
RESET search_path;

-- moved, and the move undone
BEGIN;
ALTER EXTENSION simhash SET SCHEMA ext;
SELECT public.plan('SELECT * FROM near_docs');
ROLLBACK;
SELECT public.plan('SELECT * FROM near_docs');

-- other objects come and go without the extension's being looked for again
BEGIN;
CREATE TEMP TABLE passing (id int);
CREATE FUNCTION pg_temp.passing() RETURNS int LANGUAGE sql AS 'SELECT 1';
SELECT pg_stat_get_xact_numscans('pg_depend_depender_index'::regclass) AS scans \gset
SELECT public.plan('SELECT * FROM near_docs');
SELECT pg_stat_get_xact_numscans('pg_depend_depender_index'::regclass) = :scans
	OR current_setting('debug_discard_caches')::int > 0 AS kept;
ROLLBACK;

-- something is missing: no index, but no error
BEGIN;
ALTER FUNCTION elsewhere.simhash_radius(bigint, boolean) RENAME TO renamed;
SELECT public.plan('SELECT * FROM docs WHERE (fp OPERATOR(elsewhere.<~>) 5) OPERATOR(elsewhere.<=) 3');
SELECT count(*) FROM docs WHERE (fp OPERATOR(elsewhere.<~>) 5) OPERATOR(elsewhere.<=) 3;
-- and one of the same name that is not the extension's does not help
CREATE FUNCTION elsewhere.simhash_radius(bigint, boolean) RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT -1';
SELECT public.plan('SELECT * FROM docs WHERE (fp OPERATOR(elsewhere.<~>) 5) OPERATOR(elsewhere.<=) 3');
ROLLBACK;
SELECT public.plan('SELECT * FROM near_docs');

-- dropped and created again
DEALLOCATE ALL;
DROP VIEW near_docs;
DROP TABLE docs, notes;
DROP EXTENSION simhash;
CREATE EXTENSION simhash SCHEMA public;
CREATE TABLE docs (id int, fp simhash);
INSERT INTO docs SELECT n, n::simhash FROM generate_series(1, 1000) n;
CREATE INDEX ON docs USING simhash (fp);
ANALYZE docs;
SELECT public.plan('SELECT * FROM docs WHERE fp <~> 5 <= 3');
SELECT count(*) FROM docs WHERE fp <~> 5 <= 3;

\c :old_database
DROP DATABASE regression_planner_schema;
