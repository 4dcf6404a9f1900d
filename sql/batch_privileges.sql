--
-- All pairs and clusters: who may, what is refused, and where the functions
-- may stand
--
CREATE SCHEMA batch_privileges_test;
SET search_path = batch_privileges_test, public; SET max_parallel_workers_per_gather = 0; SET client_min_messages = warning;
\pset format unaligned
\pset footer off
\set SHOW_CONTEXT never
\pset null (none)

CREATE TABLE docs (id int PRIMARY KEY, fp simhash, other simhash, h bigint);
INSERT INTO docs VALUES (1, 0, 1000, 5), (2, 1, 0, 4), (3, 3, -1, 4096), (4, 65535, 0, NULL), (5, NULL, NULL, 5);
CREATE INDEX docs_fp ON docs USING simhash (fp);
CREATE INDEX docs_other ON docs USING simhash (other) WITH (blocks = 2, distance = 1);

--
-- What the functions say of themselves
--

SELECT p.oid::regprocedure AS function, provolatile AS volatile, proparallel AS parallel, proisstrict AS strict,
	proretset AS set, proleakproof AS leakproof,
	prosecdef AS definer, pg_get_function_arguments(p.oid) AS arguments
FROM pg_proc p JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
	JOIN pg_extension e ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid
WHERE extname = 'simhash' AND proname ~ 'find|progress' ORDER BY p.oid::regprocedure::text COLLATE "C";
-- each has a comment, and so has the view
SELECT p.oid::regprocedure AS function, obj_description(p.oid, 'pg_proc') IS NOT NULL AS comment
FROM pg_proc p WHERE proname ~ '^simhash_(find|progress)' ORDER BY p.oid::regprocedure::text COLLATE "C";
SELECT obj_description('simhash_stat_progress'::regclass, 'pg_class') IS NOT NULL AS comment;

--
-- Where they may stand
--

SELECT * FROM simhash_find_all('docs_fp') ORDER BY a, b;
SELECT * FROM rows_of($$SELECT * FROM simhash_find_all('batch_privileges_test.docs_fp'::regclass) ORDER BY a, b$$,
	$$SELECT * FROM simhash_find_all('docs_fp'::text::regclass, 1) ORDER BY a, b$$,
	$$SELECT * FROM simhash_find_all(index => 'docs_fp', distance => 1) ORDER BY a, b$$,
	$$SELECT * FROM simhash_find_all(distance => 1, index => 'docs_fp'::regclass) ORDER BY a, b$$,
	$$SELECT * FROM simhash_find_all_in(fingerprints => '{0,1,3}', distance => 1, blocks => 9) ORDER BY a, b$$,
	$$SELECT * FROM simhash_find_all_in(fingerprints => ARRAY[0, 1, 3]) ORDER BY a, b$$,
	$$SELECT * FROM simhash_find_clusters('docs_fp') ORDER BY member$$,
	$$SELECT * FROM simhash_find_clusters('docs_fp'::regclass, 1) ORDER BY member$$,
	$$SELECT * FROM simhash_find_clusters(index => 'docs_fp', distance => 16) ORDER BY member$$,
	$$SELECT * FROM simhash_find_clusters_in(fingerprints => '{0,1,3}', blocks => 4) ORDER BY fp$$);
-- by OID, as the catalogs have it
SELECT count(*) FROM pg_class c, simhash_find_all(c.oid) WHERE relname = 'docs_fp';
-- names as regclass knows them
CREATE INDEX "Docs ""fp""" ON docs USING simhash (fp);
SELECT count(*) FROM simhash_find_all('"Docs ""fp"""');
DROP INDEX "Docs ""fp""";
-- a parameter of no type is an index, by its name, or its OID
PREPARE pairs AS SELECT a_fp, b_fp FROM simhash_find_all($1, $2) ORDER BY 1, 2;
PREPARE clusters AS SELECT cluster, fp FROM simhash_find_clusters($1) ORDER BY 1, 2;
SELECT name, parameter_types FROM pg_prepared_statements ORDER BY name;
EXECUTE pairs('docs_fp', 1);
EXECUTE clusters('docs_fp');
SET plan_cache_mode = force_generic_plan;
EXECUTE pairs('docs_other', 0);
EXECUTE clusters('docs_other');
EXECUTE pairs(NULL, 0);
RESET plan_cache_mode;
PREPARE pairs_of (regclass, int) AS SELECT a_fp, b_fp FROM simhash_find_all($1, $2) ORDER BY 1, 2;
EXECUTE pairs_of('docs_fp', NULL);
PREPARE pairs_among (simhash[], int) AS SELECT a, b FROM simhash_find_all_in($1, $2) ORDER BY 1, 2;
EXECUTE pairs_among('{1,2,4}', 2);
DEALLOCATE ALL;
-- several indexes
SELECT * FROM rows_of(
	$$SELECT index, p.a_fp, p.b_fp FROM (VALUES ('docs_fp'), ('docs_other')) v(index), simhash_find_all(index::regclass) p
ORDER BY 1, 2, 3$$,
	$$SELECT indexrelid::regclass, c.cluster, c.size FROM pg_index JOIN pg_class i ON i.oid = indexrelid
	JOIN pg_am a ON a.oid = i.relam,
	simhash_find_clusters(indexrelid::regclass) c
WHERE indrelid = 'docs'::regclass AND amname = 'simhash' ORDER BY 1, 2, c.member$$,
	$$SELECT index, p.a_fp FROM (VALUES ('docs_fp'::regclass), (NULL)) v(index)
	LEFT JOIN LATERAL simhash_find_all(index, 1) p ON true ORDER BY 1, 2$$);
-- in the list of results, limited, in a CTE, a subquery, with ordinality
SELECT * FROM rows_of($$SELECT (simhash_find_all('docs_fp')).a_fp ORDER BY 1$$,
	$$SELECT (p).* FROM (SELECT simhash_find_all('docs_fp'::regclass, 1) AS p) s ORDER BY 1, 2$$,
	$$SELECT id, simhash_find_clusters('docs_fp') IS NOT NULL FROM docs WHERE id = 1$$,
	$$SELECT simhash_find_all_in('{8,9}'::simhash[]), simhash_find_clusters_in('{8,9}'::simhash[]) ORDER BY 2$$);
SELECT count(*) FROM (SELECT FROM simhash_find_all('docs_fp') LIMIT 2) s
UNION ALL SELECT count(*) FROM (SELECT simhash_find_all('docs_fp'::regclass) LIMIT 1) s
UNION ALL SELECT count(*) FROM (SELECT FROM simhash_find_all('docs_fp') LIMIT 0) s;
WITH p AS (SELECT * FROM simhash_find_all('docs_fp')) SELECT x.a_fp, y.b_fp FROM p x JOIN p y ON x.b = y.a
ORDER BY 1, 2;
SELECT id FROM docs WHERE EXISTS (SELECT FROM simhash_find_all('docs_fp', 1) WHERE ctid IN (a, b)) ORDER BY id;
SELECT max(n) FROM simhash_find_all('docs_fp') WITH ORDINALITY p(a, b, a_fp, b_fp, distance, a_table, b_table, similarity, n);
SELECT f.a_fp, g FROM ROWS FROM (simhash_find_all('docs_fp', 1), generate_series(1, 3)) f(a, b, a_fp, b_fp, distance,
	a_table, b_table, similarity, g) ORDER BY g;
CREATE VIEW pairs AS SELECT a_fp, b_fp FROM simhash_find_all('docs_fp', 1);
SELECT * FROM pairs ORDER BY 1, 2;
DROP VIEW pairs;
CREATE TABLE labels AS SELECT id, c.* FROM simhash_find_clusters('docs_fp') c JOIN docs ON ctid = member;
SELECT id, cluster, size FROM labels ORDER BY id;
DROP TABLE labels;
DO $$
DECLARE
	p record;
	n int := 0;
BEGIN
	FOR p IN SELECT * FROM simhash_find_all('docs_fp') ORDER BY a, b LOOP
		-- another search within
		n := n + (SELECT count(*) FROM simhash_find_clusters('docs_fp', p.distance));
		INSERT INTO docs VALUES (100 + n, p.a_fp);
	END LOOP;
	RAISE WARNING '%', n;
	DELETE FROM docs WHERE id >= 100;
END $$;

--
-- What is refused
--

CREATE TABLE parted (id int, fp simhash) PARTITION BY RANGE (id);
CREATE INDEX parted_fp ON parted USING simhash (fp);
CREATE TABLE parted_1 PARTITION OF parted DEFAULT;
CREATE FUNCTION fail(simhash) RETURNS simhash LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RAISE 'no fingerprint'; END $$;
CREATE INDEX CONCURRENTLY docs_invalid ON docs USING simhash (fail(fp));
SELECT f.name, a.*
FROM (VALUES
	(1, '''docs_fp'', -1'), (2, '''docs_fp'', 65'), (3, '''docs_fp''::regclass, 2147483647'), (4, 'NULL::regclass, -1'),
	(5, '''docs'''), (6, '''docs_pkey'''), (7, '''docs_pkey''::regclass'), (8, '''parted_fp'''), (9, '''parted'''),
	(10, '''docs_invalid'''),
	(11, '''nowhere'''), (12, '''nowhere''::regclass'), (13, '0::oid'), (14, '1::oid'), (15, ''''''),
	(16, 'ARRAY[1]::simhash[], -1'), (17, 'ARRAY[1]::simhash[], 65'), (18, 'ARRAY[1]::simhash[], 3, 3'),
	(19, 'ARRAY[1]::simhash[], 3, 0'),
	(20, 'ARRAY[1]::simhash[], 3, -1'), (21, 'ARRAY[1]::simhash[], 3, 17'), (22, 'ARRAY[1]::simhash[], 3, 16'),
	(23, 'ARRAY[1]::simhash[], 16, 16'),
	(24, '''{}''::simhash[], 0, 0'), (25, 'NULL::simhash[], -1')
	) v(no, arguments),
	(VALUES ('simhash_find_all'), ('simhash_find_clusters')) f(name),
	attempt(format('SELECT FROM %s%s(%s)', f.name, CASE WHEN no >= 16 THEN '_in' END, arguments)) a
ORDER BY no, f.name;
-- nothing in, nothing out
SELECT count(*) FROM simhash_find_all(NULL)
UNION ALL SELECT count(*) FROM simhash_find_all(NULL::regclass, 3)
UNION ALL SELECT count(*) FROM simhash_find_all_in(NULL, 3, 4, 99)
UNION ALL SELECT count(*) FROM simhash_find_clusters(NULL)
UNION ALL SELECT count(*) FROM simhash_find_clusters(NULL::regclass, NULL);
SELECT count(*) FROM simhash_find_clusters_in(NULL);

--
-- Memory
--

-- numbers: a large group of different ones with the same prefix
CREATE TABLE many (id int, fp simhash);
INSERT INTO many SELECT i, i FROM generate_series(1, 40000) i;
CREATE INDEX many_fp ON many USING simhash (fp);
SET maintenance_work_mem = '1MB';
SELECT * FROM (SELECT count(*) FROM simhash_find_all('many_fp', 1)) a,
	(SELECT state, hint LIKE '%maintenance_work_mem%' AS hint
	FROM attempt('SELECT FROM simhash_find_clusters(''many_fp'')')) b,
	(SELECT count(*) FROM simhash_find_all_in(ARRAY(SELECT fp FROM many), 1)) c,
	(SELECT state, hint LIKE '%maintenance_work_mem%' AS hint
	FROM attempt('SELECT FROM simhash_find_clusters_in(ARRAY(SELECT fp FROM many), 64)')) d;
-- and outside of any function, too
\set VERBOSITY sqlstate
SELECT count(*) FROM simhash_find_clusters('many_fp'::regclass, 2);
\set VERBOSITY default
-- equal ones are found where they are next to each other
SELECT count(*) FROM simhash_find_all('many_fp', 0)
UNION ALL SELECT count(*) FROM simhash_find_clusters('many_fp', 0);
RESET maintenance_work_mem;
SELECT count(DISTINCT cluster), count(*) FROM simhash_find_clusters('many_fp', 1);
DROP INDEX many_fp;
TRUNCATE many;
-- small groups, but many that are in clusters
INSERT INTO many SELECT i, bits('m' || i / 2) # i % 2 FROM generate_series(0, 39999) i;
CREATE INDEX many_fp ON many USING simhash (fp);
SET maintenance_work_mem = '1MB';
SELECT state, hint LIKE '%maintenance_work_mem%' AS hint FROM attempt('SELECT FROM simhash_find_clusters(''many_fp'')')
UNION ALL SELECT state, hint LIKE '%maintenance_work_mem%' AS hint
FROM attempt('SELECT FROM simhash_find_clusters_in(ARRAY(SELECT fp FROM many))');
-- sorted on disk: the array, and what is farther apart than the index is made for
SELECT count(*), count(DISTINCT a) FROM simhash_find_all('many_fp', 4)
UNION ALL SELECT count(*), count(DISTINCT a) FROM simhash_find_all_in(ARRAY(SELECT fp FROM many));
SET work_mem = '64kB';
SELECT count(*), count(DISTINCT a), sum(distance) FROM simhash_find_all('many_fp')
UNION ALL SELECT count(*), count(DISTINCT a), sum(distance) FROM simhash_find_all_in(ARRAY(SELECT fp FROM many));
RESET maintenance_work_mem;
SELECT count(*), count(DISTINCT member), count(DISTINCT cluster), sum(size) FROM simhash_find_clusters('many_fp')
UNION ALL SELECT count(*), count(DISTINCT fp), count(DISTINCT cluster), sum(size)
FROM simhash_find_clusters_in(ARRAY(SELECT fp FROM many));
RESET work_mem;
DROP INDEX many_fp;
TRUNCATE many;
-- rows of one fingerprint, too many for a list of them
INSERT INTO many SELECT i, 7 FROM generate_series(1, 150000) i;
CREATE INDEX many_fp ON many USING simhash (fp);
SET maintenance_work_mem = '1MB';
SELECT * FROM (SELECT count(*), count(DISTINCT keeper) FROM simhash_find_duplicates('many_fp')) a,
	(SELECT count(*), min(size), max(size) FROM simhash_find_clusters('many_fp')) b;
RESET maintenance_work_mem;
SELECT simhash_index_check('many_fp', true) \gset
DROP TABLE many;

-- nobody searches any more, after errors either
SELECT count(*) FROM simhash_stat_progress;
BEGIN;
SAVEPOINT s;
SELECT count(*) FROM simhash_find_all_in(ARRAY[1, 2], 3, 17);
ROLLBACK TO s;
SELECT * FROM rows_of($$SELECT count(*) FROM simhash_stat_progress$$,
	$$SELECT count(*) FROM simhash_find_all('docs_fp')$$, $$SELECT count(*) FROM simhash_stat_progress$$);
COMMIT;
SELECT * FROM simhash_progress(0);

--
-- Who may
--

CREATE ROLE regress_simhash_owner;
CREATE ROLE regress_simhash_reader;
CREATE ROLE regress_simhash_bypass BYPASSRLS;
GRANT USAGE, CREATE ON SCHEMA batch_privileges_test TO regress_simhash_owner;
GRANT USAGE ON SCHEMA batch_privileges_test TO regress_simhash_reader, regress_simhash_bypass;
ALTER TABLE docs OWNER TO regress_simhash_owner;
CREATE INDEX docs_partial ON docs USING simhash (fp) WHERE id > 1;
CREATE INDEX docs_expression ON docs USING simhash ((h # id));
CREATE INDEX docs_row ON docs USING simhash (fp) WHERE docs IS NOT NULL;
-- What a role may search, with indexes of which all is the same in one line.
CREATE FUNCTION may(who text, indexes text[] DEFAULT '{docs_fp,docs_other,docs_partial,docs_expression,docs_row}',
	row_security text DEFAULT 'on') RETURNS TABLE (index text, pairs text, clusters text) LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('role', who, false), set_config('row_security', row_security, false);
	RETURN QUERY SELECT string_agg(i, ' ' ORDER BY no), concat_ws(' ', p.state, p.message), concat_ws(' ', c.state, c.message)
	FROM unnest(indexes) WITH ORDINALITY u(i, no), attempt(format('SELECT FROM simhash_find_all(%L)', i)) p,
		attempt(format('SELECT FROM simhash_find_clusters(%L::regclass)', i)) c
	GROUP BY 2, 3 ORDER BY min(no);
	RESET ROLE;
	RESET row_security;
END $$;
SELECT * FROM may('regress_simhash_reader');
-- values of the user's own
SET ROLE regress_simhash_reader;
SELECT * FROM simhash_find_all_in('{1,2}'::simhash[]);
RESET ROLE;
CREATE MATERIALIZED VIEW empty AS SELECT fp FROM docs WITH NO DATA;
CREATE INDEX empty_fp ON empty USING simhash (fp);
SELECT * FROM simhash_find_all('empty_fp');
REFRESH MATERIALIZED VIEW empty;
SELECT count(*) FROM simhash_find_all('empty_fp');
DROP MATERIALIZED VIEW empty;
-- columns: all that a query needs which returns the same, and so those that name a row
CREATE INDEX docs_constant ON docs USING simhash ((7::simhash));
CREATE FUNCTION may_with_columns(OUT granted text, OUT query text, OUT docs_fp text, OUT other_query text,
	OUT docs_constant text) RETURNS SETOF record LANGUAGE plpgsql AS $$
BEGIN
	FOR n IN 1 .. 7 LOOP
		granted := concat_ws(', ', CASE WHEN n & 1 > 0 THEN 'fp' END, CASE WHEN n & 2 > 0 THEN 'ctid' END,
			CASE WHEN n & 4 > 0 THEN 'tableoid' END);
		EXECUTE format('GRANT SELECT (%s) ON docs TO regress_simhash_reader', granted);
		SET ROLE regress_simhash_reader;
		query := (attempt('SELECT fp, ctid, tableoid FROM docs')).state;
		docs_fp := (attempt('SELECT FROM simhash_find_all(''docs_fp'')')).state;
		other_query := (attempt('SELECT ctid, tableoid FROM docs')).state;
		docs_constant := (attempt('SELECT FROM simhash_find_all(''docs_constant'')')).state;
		RESET ROLE;
		REVOKE SELECT (fp, ctid, tableoid) ON docs FROM regress_simhash_reader;
		RETURN NEXT;
	END LOOP;
END $$;
SELECT * FROM may_with_columns();
DROP INDEX docs_constant;
GRANT SELECT (fp, ctid, tableoid) ON docs TO regress_simhash_reader;
SELECT * FROM may('regress_simhash_reader');
SET ROLE regress_simhash_reader;
SELECT a_fp, b_fp FROM simhash_find_all('docs_fp') ORDER BY 1, 2;
RESET ROLE;
GRANT SELECT (id) ON docs TO regress_simhash_reader;
SELECT * FROM may('regress_simhash_reader');
GRANT SELECT (h) ON docs TO regress_simhash_reader;
REVOKE SELECT (fp) ON docs FROM regress_simhash_reader;
SELECT * FROM may('regress_simhash_reader');
-- a role that the user is a member of
GRANT SELECT ON docs TO regress_simhash_bypass;
GRANT regress_simhash_bypass TO regress_simhash_reader;
SELECT * FROM may('regress_simhash_reader');
REVOKE regress_simhash_bypass FROM regress_simhash_reader;
-- what a function does as its owner
CREATE FUNCTION pairs_of_docs() RETURNS bigint LANGUAGE sql SECURITY DEFINER SET search_path = batch_privileges_test,
	public AS $$ SELECT count(*) FROM simhash_find_all('docs_other') $$;
ALTER FUNCTION pairs_of_docs() OWNER TO regress_simhash_owner;
SET ROLE regress_simhash_reader;
SELECT pairs_of_docs();
RESET ROLE;
-- the owner without the privilege
REVOKE SELECT ON docs FROM regress_simhash_owner;
SELECT * FROM may('regress_simhash_owner', '{docs_fp}');
GRANT SELECT ON docs TO regress_simhash_owner, regress_simhash_reader;
SELECT * FROM may('regress_simhash_reader');

-- the schema: who may not name the table may not name its index by an OID, either
CREATE SCHEMA batch_privileges_closed;
CREATE TABLE batch_privileges_closed.docs AS SELECT * FROM docs;
CREATE INDEX docs_fp ON batch_privileges_closed.docs USING simhash (fp);
SELECT 'batch_privileges_closed.docs_fp'::regclass::oid AS closed \gset
CREATE VIEW pairs_of_closed AS SELECT * FROM simhash_find_all('batch_privileges_closed.docs_fp');
ALTER TABLE parted_1 SET SCHEMA batch_privileges_closed;
INSERT INTO parted SELECT id, fp FROM docs;
ALTER TABLE batch_privileges_closed.docs OWNER TO regress_simhash_owner;
GRANT SELECT ON batch_privileges_closed.docs, pairs_of_closed, parted TO regress_simhash_reader;
CREATE FUNCTION may_open(closed oid) RETURNS SETOF text LANGUAGE sql AS $$
	SELECT concat_ws(' ', call, state, message)
	FROM unnest(ARRAY['find_all(%s)', 'find_clusters(%s)', 'find_duplicates(%s)', 'find_matches(%s, ''docs_fp'')',
		'find_matches(''docs_fp'', %s)', 'find_matches_in(%s, ''{1}'')', 'index_info(%s)', 'index_check(%s)']) call,
		attempt('SELECT simhash_' || format(call, closed))
	UNION ALL
	SELECT concat_ws(' ', query, state, message)
	FROM unnest(ARRAY['SELECT FROM batch_privileges_closed.docs', 'SELECT FROM pairs_of_closed',
		'SELECT FROM parted', 'SELECT FROM simhash_find_all(''parted_fp'')']) query,
		attempt(query)
$$;
\pset tuples_only on
SET ROLE regress_simhash_reader;
SELECT may_open(:closed);
SET ROLE regress_simhash_owner;
SELECT may_open(:closed) LIMIT 8;
RESET ROLE;
GRANT USAGE ON SCHEMA batch_privileges_closed TO regress_simhash_reader;
SET ROLE regress_simhash_reader;
SELECT may_open(:closed);
RESET ROLE;
\pset tuples_only off
DROP SCHEMA batch_privileges_closed CASCADE;

-- row-level security
CREATE POLICY later ON docs USING (id > 2);
SELECT * FROM may('regress_simhash_reader', '{docs_fp}');
ALTER TABLE docs ENABLE ROW LEVEL SECURITY;
SELECT * FROM may('regress_simhash_reader');
SET ROLE regress_simhash_reader;
SELECT * FROM attempt('SELECT FROM simhash_find_all(''docs_fp'')');
-- as the hint says
SELECT a.id, b.id FROM docs a JOIN docs b ON a.fp <~> b.fp <= 64 WHERE a.id < b.id;
RESET ROLE;
SELECT who, row_security, m.* FROM (VALUES ('regress_simhash_reader', 'off'), ('regress_simhash_bypass', 'on'),
	('regress_simhash_owner', 'on'), ('none', 'on')) v(who, row_security), may(who, '{docs_fp}', row_security) m;
ALTER TABLE docs FORCE ROW LEVEL SECURITY;
SELECT who, row_security, m.* FROM (VALUES ('regress_simhash_owner', 'on'), ('regress_simhash_owner', 'off'),
	('regress_simhash_bypass', 'on'), ('none', 'on')) v(who, row_security), may(who, '{docs_fp}', row_security) m;
ALTER TABLE docs DISABLE ROW LEVEL SECURITY;

-- as whom the expressions of an index run, and that all is as it was afterwards
CREATE FUNCTION same(simhash) RETURNS simhash LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN $1; END $$;
ALTER FUNCTION same(simhash) OWNER TO regress_simhash_owner;
CREATE INDEX docs_same ON docs USING simhash (same(fp));
CREATE OR REPLACE FUNCTION same(simhash) RETURNS simhash
	LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RAISE WARNING 'run as %', current_user; RETURN $1; END $$;
SET ROLE regress_simhash_reader;
SELECT * FROM rows_of($$SELECT a_fp, b_fp FROM simhash_find_all('docs_same', 1) ORDER BY 1, 2$$,
	$$SELECT current_user$$, $$SELECT state FROM attempt('SELECT FROM simhash_find_all(''docs_pkey'')')$$,
	$$SELECT current_user, current_schemas(false)$$);
-- what others search is for them
SELECT count(*) FROM simhash_stat_progress;
RESET ROLE;

DROP SCHEMA batch_privileges_test CASCADE;
DROP ROLE regress_simhash_owner, regress_simhash_reader, regress_simhash_bypass;

--
-- In a schema of its own that is not on the search path
--

-- a database of its own, since other tests use the extension
SELECT current_database() AS old_database \gset
-- Functions that could be called in place of those of the extension, or make a call ambiguous:
-- with the same arguments, before the types of the extension are there, and others with
-- defaults.
SELECT string_agg(DISTINCT format('CREATE FUNCTION hostile.%I(%s) RETURNS integer LANGUAGE sql AS ''SELECT 1 / 0''',
		proname, concat_ws(', ', arguments, more)), ';') AS hostile, count(DISTINCT proname) > 80 AS many
FROM pg_depend d JOIN pg_proc p ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
	JOIN pg_extension e ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid AND extname = 'simhash',
	LATERAL (SELECT string_agg(CASE WHEN typtype = 'p' OR t.oid >= 16384 THEN 'anyelement' ELSE t.oid::regtype::text END,
		', ' ORDER BY n) FROM unnest(proargtypes::oid[]) WITH ORDINALITY a(type, n) JOIN pg_type t ON t.oid = type)
		a(arguments),
	(VALUES ('attack integer DEFAULT 1'), ('VARIADIC attack integer[] DEFAULT ''{}''')) m(more) \gset
\echo :many
CREATE DATABASE regression_find_schema TEMPLATE template0;
\c regression_find_schema
SET client_min_messages = warning;
CREATE SCHEMA hostile;
\set ECHO none
:hostile;
\set ECHO all
CREATE EXTENSION simhash SCHEMA hostile;
SELECT pg_describe_object(refclassid, refobjid, 0) FROM pg_depend JOIN pg_rewrite r ON r.oid = objid
WHERE classid = 'pg_rewrite'::regclass AND refclassid = 'pg_proc'::regclass
	AND ev_class = 'hostile.simhash_stat_progress'::regclass;
SELECT count(*) FROM hostile.simhash_stat_progress;
DROP SCHEMA hostile CASCADE;
CREATE SCHEMA ext;
CREATE SCHEMA elsewhere;
CREATE EXTENSION simhash SCHEMA ext;
CREATE TABLE docs (id int, fp ext.simhash);
INSERT INTO docs VALUES (1, 0), (2, 1), (3, 3), (4, -1);
CREATE INDEX docs_fp ON docs USING simhash (fp);
SELECT * FROM ext.simhash_find_all('docs_fp') ORDER BY a, b;
SELECT (SELECT array_agg(f) FROM (SELECT * FROM ext.simhash_find_all('docs_fp'::regclass, 1) ORDER BY a, b) f) AS pairs,
	(SELECT array_agg(f) FROM (SELECT * FROM ext.simhash_find_all_in(ARRAY(SELECT fp FROM docs), 1) ORDER BY a, b) f) AS among,
	(SELECT array_agg(f) FROM (SELECT * FROM ext.simhash_find_clusters('docs_fp') ORDER BY member) f) AS clusters;
SELECT * FROM ext.simhash_find_clusters('docs_fp'::regclass, 64) ORDER BY member;
SELECT * FROM ext.simhash_find_clusters_in('{7,8,15}'::ext.simhash[], 1) ORDER BY fp;
SELECT * FROM ext.simhash_stat_progress;
SET search_path = '';
SELECT count(*) FROM ext.simhash_find_all('public.docs_fp')
UNION ALL SELECT count(*) FROM ext.simhash_find_clusters('public.docs_fp'::pg_catalog.regclass);
SELECT count(*) FROM ext.simhash_stat_progress;
SELECT count(*) FROM ext.simhash_find_all('docs_fp');
RESET search_path;
ALTER EXTENSION simhash SET SCHEMA elsewhere;
SELECT count(*) FROM elsewhere.simhash_find_all('docs_fp')
UNION ALL SELECT count(*) FROM elsewhere.simhash_find_clusters('docs_fp', 2);
SELECT count(*) FROM elsewhere.simhash_stat_progress;
\c :old_database
DROP DATABASE regression_find_schema;
