--
-- Indexes of tables that Citus distributes: what it leaves of them has no rows, so
-- an error and not an empty answer.  A list like that of Citus stands in for it.
--
CREATE SCHEMA batch_distributed_test;
SET search_path = batch_distributed_test, public; SET client_min_messages = warning;
\set SHOW_CONTEXT never

CREATE TABLE docs (id int PRIMARY KEY, fp simhash);
CREATE TABLE "Docs" (id int PRIMARY KEY, fp simhash);
CREATE INDEX docs_fp ON docs USING simhash (fp);
CREATE INDEX docs_upper_fp ON "Docs" USING simhash (fp);
-- a shard
CREATE TABLE docs_102008 (id int PRIMARY KEY, fp simhash);
CREATE INDEX docs_fp_102008 ON docs_102008 USING simhash (fp);
INSERT INTO docs_102008 VALUES (1, 0), (2, 1);

CREATE VIEW what_happens AS
SELECT statement, a.*
FROM (VALUES (1, 'find_all(''docs_fp'')'), (2, 'find_clusters(''docs_fp'', 1)'), (3, 'find_duplicates(''docs_fp'')'),
	(4, 'index_info(''docs_fp'')'), (5, 'index_check(''docs_fp'')'),
	(6, 'find_all(''docs_upper_fp'')'), (7, 'find_all(''docs_fp_102008'')')) v (no, statement),
	attempt('SELECT FROM simhash_' || statement) a
ORDER BY no;
\x
\pset format unaligned

-- nothing is distributed
SELECT statement, state FROM what_happens;

BEGIN;
SET LOCAL allow_system_table_mods = on;
CREATE TABLE pg_catalog.pg_dist_partition (
	logicalrelid regclass NOT NULL, partmethod "char" NOT NULL, partkey text, colocationid int NOT NULL DEFAULT 0,
	repmodel "char" NOT NULL DEFAULT 's', autoconverted boolean NOT NULL DEFAULT false);
SELECT statement, state FROM what_happens WHERE statement ~ 'find_all';
INSERT INTO pg_catalog.pg_dist_partition VALUES ('docs', 'h', 'id'), ('"Docs"', 'n', NULL);
SELECT * FROM what_happens;
-- by its index; and what planner and executor do with such tables is up to Citus
CREATE UNIQUE INDEX pg_dist_partition_logical_relid_index ON pg_catalog.pg_dist_partition (logicalrelid);
SELECT statement, state FROM what_happens;
SELECT count(*) FROM docs WHERE fp % 0;
-- who may not read the table is told only that
CREATE ROLE regress_find_distributed;
GRANT USAGE ON SCHEMA batch_distributed_test TO regress_find_distributed;
SET LOCAL ROLE regress_find_distributed;
SELECT state, message, detail FROM attempt('SELECT FROM simhash_find_all(''docs_fp'')');
RESET ROLE;
-- where the table must be named with its schema
SET LOCAL search_path = public;
SELECT hint FROM attempt('SELECT FROM simhash_find_all(''batch_distributed_test.docs_upper_fp'')');
SET LOCAL search_path = batch_distributed_test, public;
-- no longer distributed
DELETE FROM pg_catalog.pg_dist_partition WHERE logicalrelid = 'docs'::regclass;
SELECT statement, state FROM what_happens;
ROLLBACK;

-- something else of that name
BEGIN;
SET LOCAL allow_system_table_mods = on;
CREATE VIEW pg_catalog.pg_dist_partition AS SELECT 'docs'::regclass AS logicalrelid;
SELECT statement, state FROM what_happens WHERE statement ~ 'find_all';
ROLLBACK;
BEGIN;
SET LOCAL allow_system_table_mods = on;
CREATE TABLE pg_catalog.pg_dist_partition (id int);
INSERT INTO pg_catalog.pg_dist_partition VALUES ('docs'::regclass::oid::int);
SELECT statement, state FROM what_happens WHERE statement ~ 'find_all';
ROLLBACK;
BEGIN;
CREATE TABLE pg_dist_partition (logicalrelid regclass);
INSERT INTO pg_dist_partition VALUES ('docs');
SELECT statement, state FROM what_happens WHERE statement ~ 'find_all';
ROLLBACK;

SELECT statement, state FROM what_happens;
DROP SCHEMA batch_distributed_test CASCADE;
