--
-- All pairs, clusters and duplicates of partitioned tables
--
CREATE SCHEMA batch_partitions_test;
SET search_path = batch_partitions_test, public; SET max_parallel_workers_per_gather = 0; SET client_min_messages = warning;
\pset format unaligned
\pset footer off
\set SHOW_CONTEXT never
\pset null (none)

--
-- A small one, to read
--
CREATE TABLE docs (id int, body text, fp simhash) PARTITION BY RANGE (id);
CREATE INDEX docs_fp ON docs USING simhash (fp);
-- no partition yet
SELECT count(*) FROM simhash_find_all('docs_fp')
UNION ALL SELECT count(*) FROM simhash_find_clusters('docs_fp')
UNION ALL SELECT count(*) FROM simhash_find_duplicates('docs_fp', keep => 'length(body), id');
-- the second partition is the older one, and has its columns in another order
CREATE TABLE docs_2 (dropped int, fp simhash, body text, id int);
ALTER TABLE docs_2 DROP dropped;
CREATE TABLE docs_1 PARTITION OF docs FOR VALUES FROM (0) TO (10);
ALTER TABLE docs ATTACH PARTITION docs_2 FOR VALUES FROM (10) TO (20);
INSERT INTO docs VALUES (1, 'one', 0), (2, 'of two', 1), (3, 'alone', -1), (4, 'null', NULL), (5, 'of two', 1),
	(11, 'the longest of all', 0), (12, 'near 1, but not 2', 7 << 30), (13, 'null', NULL);
SELECT a_table, x.id AS a, b_table, y.id AS b, a_fp, b_fp, distance
FROM simhash_find_all('docs_fp') JOIN docs x ON x.tableoid = a_table AND x.ctid = a
	JOIN docs y ON y.tableoid = b_table AND y.ctid = b ORDER BY x.id, y.id;
SELECT cluster, member_table, id, f.fp, size FROM simhash_find_clusters('docs_fp') f
	JOIN docs ON tableoid = member_table AND ctid = member ORDER BY id;
SELECT duplicate_table, x.id AS duplicate, keeper_table, y.id AS keeper, distance
FROM simhash_find_duplicates('docs_fp', keep => 'length(body) DESC, id')
	JOIN docs x ON x.tableoid = duplicate_table AND x.ctid = duplicate
	JOIN docs y ON y.tableoid = keeper_table AND y.ctid = keeper ORDER BY x.id;
-- without a list, the table with the lower OID comes first
SELECT 'docs_2'::regclass::oid < 'docs_1'::regclass::oid AS second_is_older;
SELECT duplicate_table, x.id AS duplicate, keeper_table, y.id AS keeper, distance
FROM simhash_find_duplicates('docs_fp') JOIN docs x ON x.tableoid = duplicate_table AND x.ctid = duplicate
	JOIN docs y ON y.tableoid = keeper_table AND y.ctid = keeper ORDER BY x.id;
-- one statement removes them
BEGIN;
WITH gone AS (
	DELETE FROM docs USING simhash_find_duplicates('docs_fp', keep => 'length(body) DESC, id') d
	WHERE tableoid = d.duplicate_table AND ctid = d.duplicate RETURNING id)
SELECT id FROM gone ORDER BY id;
SELECT count(*) FROM simhash_find_duplicates('docs_fp');
ROLLBACK;
-- what may stand in the list: columns of the table that is named, and of its rows as they are stored
CREATE FUNCTION kept(keep text) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(x.id || ':' || y.id, ' ' ORDER BY x.id)
	FROM simhash_find_duplicates('docs_fp', keep => keep) JOIN docs x ON x.tableoid = duplicate_table
		AND x.ctid = duplicate
		JOIN docs y ON y.tableoid = keeper_table AND y.ctid = keeper
$$;
SELECT keep, kept(keep)
FROM unnest('{id DESC,"tableoid, ctid","tableoid DESC, id","docs.body COLLATE \"C\", id","docs DESC",
	"(docs).id DESC","tableoid::regclass::text, id","(docs.*)::text DESC"}'::text[]) keep;
SELECT kept('docs_1.id');
SELECT kept('dropped');

--
-- Brute force
--

-- twelve leaf partitions in two levels, made in no order, with columns in other orders and dropped ones
CREATE TABLE many (id int, tenant int, lang text, body text, fp simhash) PARTITION BY RANGE (id);
CREATE TABLE many_top (fp simhash, gone text, body text, lang text, id int, gone_too int, tenant int);
ALTER TABLE many_top DROP gone, DROP gone_too;
CREATE TABLE many_high (tenant int, id int, fp simhash, body text, lang text) PARTITION BY LIST (tenant);
CREATE TABLE many_high_2 PARTITION OF many_high FOR VALUES IN (2);
CREATE TABLE many_high_default PARTITION OF many_high DEFAULT;
CREATE TABLE many_high_null PARTITION OF many_high FOR VALUES IN (NULL);
CREATE TABLE many_high_1 (gone int, body text, tenant int, fp simhash, lang text, id int) WITH (fillfactor = 50);
ALTER TABLE many_high_1 DROP gone;
ALTER TABLE many_high ATTACH PARTITION many_high_1 FOR VALUES IN (1);
ALTER TABLE many ATTACH PARTITION many_high FOR VALUES FROM (500) TO (900);
CREATE TABLE many_mid (lang text, tenant int, body text, fp simhash, id int);
ALTER TABLE many ATTACH PARTITION many_mid FOR VALUES FROM (250) TO (500);
ALTER TABLE many ATTACH PARTITION many_top FOR VALUES FROM (900) TO (MAXVALUE);
CREATE TABLE many_low PARTITION OF many FOR VALUES FROM (0) TO (250) PARTITION BY HASH (id);
CREATE TABLE many_low_4 PARTITION OF many_low FOR VALUES WITH (MODULUS 5, REMAINDER 4);
CREATE TABLE many_low_3 PARTITION OF many_low FOR VALUES WITH (MODULUS 5, REMAINDER 3);
CREATE TABLE many_low_0 PARTITION OF many_low FOR VALUES WITH (MODULUS 5, REMAINDER 0);
CREATE TABLE many_low_1 PARTITION OF many_low FOR VALUES WITH (MODULUS 5, REMAINDER 1);
CREATE TABLE many_low_2 PARTITION OF many_low FOR VALUES WITH (MODULUS 5, REMAINDER 2);
CREATE TABLE many_none PARTITION OF many DEFAULT;
SELECT count(*) FILTER (WHERE isleaf) AS leaves, max(level) AS levels FROM pg_partition_tree('many');
-- the first index is there before the rows, the others after
CREATE INDEX many_fp ON many USING simhash (fp);
-- clusters of eight, some of them chains, equal ones, random ones, nulls; and some rows
-- have older versions, or are gone
INSERT INTO many
SELECT i * 7919 % 1009, CASE WHEN i % 9 > 0 THEN i % 4 END, (ARRAY['de', 'EN', 'en'])[1 + i % 3], repeat('x', i % 23),
	CASE WHEN i <= 200 THEN flip(bits('c' || i / 8), i % 8, 'f' || i) WHEN i <= 240 THEN bits('e' || i % 3)
		WHEN i <= 260 THEN (1::bigint << (i - 240) * 3) - 1
		 WHEN i <= 400 THEN bits('r' || i) END
FROM generate_series(1, 420) i;
UPDATE many SET body = body || 'y' WHERE id % 5 = 0;
UPDATE many SET fp = flip(fp::bigint, 1, id::text) WHERE id % 11 = 0;
DELETE FROM many WHERE id % 13 = 0;
VACUUM many_mid, many_low_1;
INSERT INTO many SELECT id + 1, tenant, lang, body, fp FROM many WHERE id % 7 = 0;
CREATE INDEX many_columns ON many USING simhash (tenant, lower(lang), fp);
SELECT count(DISTINCT tableoid) AS with_rows FROM many;
SELECT * FROM compare_batches('many', 'many_fp', '{0,3,6,10}')
UNION ALL SELECT * FROM compare_batches('many', 'many_columns', '{0,3,6,10}',
	'a.tenant = b.tenant AND lower(a.lang) = lower(b.lang)');
SELECT index, keep, array_agg(c.n ORDER BY distance) AS n, sum(missing + wrong + near_kept + far) AS wrong
FROM (VALUES (1, 'many_fp', 'true'),
	(2, 'many_columns', 'a.tenant = b.tenant AND lower(a.lang) = lower(b.lang)')) i(n, index, condition),
	unnest('{0,3,6,10}'::int[]) distance,
	unnest('{NULL,"length(body) DESC, id","lang COLLATE \"C\", tenant NULLS FIRST, body, id"}'::text[])
	WITH ORDINALITY k(keep, k), compare_duplicates('many', index, distance, keep, condition) c
GROUP BY i.n, index, k, keep ORDER BY i.n, k;
-- each row of a pair is where it is said to be
SELECT count(*) AS wrong FROM simhash_find_all('many_fp', 6) LEFT JOIN many x ON x.tableoid = a_table AND x.ctid = a
	LEFT JOIN many y ON y.tableoid = b_table AND y.ctid = b
WHERE x.fp IS DISTINCT FROM a_fp OR y.fp IS DISTINCT FROM b_fp OR (a_table::oid, a) >= (b_table::oid, b);
-- a level below, and a leaf
SELECT c.* FROM (VALUES (1, 'many_low', 'many_low_fp_idx'), (2, 'many_high', 'many_high_fp_idx'),
	(3, 'many_high_1', 'many_high_1_fp_idx')) v(n, tab, index), compare_batch(tab, index, 6) c ORDER BY n;
-- little memory
SET maintenance_work_mem = '1MB';
SELECT * FROM (SELECT c.* FROM compare_batch('many', 'many_fp', 6) c) a,
	(SELECT c.* FROM compare_duplicates('many', 'many_columns', 6, 'length(body), id',
	'a.tenant = b.tenant AND lower(a.lang) = lower(b.lang)') c) b;
RESET maintenance_work_mem;
-- a transaction's own rows
BEGIN;
INSERT INTO many SELECT id, tenant, lang, 'new', flip(fp::bigint, 2, 'n' || id) FROM many WHERE id % 3 = 0;
DELETE FROM many WHERE id % 17 = 0;
SELECT c.* FROM compare_batch('many', 'many_fp', 3) c;
ROLLBACK;
-- all is serializable
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT * FROM (SELECT c.* FROM compare_batch('many', 'many_fp', 3) c) a,
	(SELECT c.* FROM compare_duplicates('many', 'many_fp', 3, 'length(body), id') c) b;
SELECT count(DISTINCT relation) AS locked_whole FROM pg_locks
WHERE mode = 'SIReadLock' AND locktype = 'relation' AND relation::regclass::text LIKE 'many%fp_idx';
COMMIT;

-- partitions whose indexes are built by other schemes are no less searched
ALTER INDEX many_mid_fp_idx SET (blocks = 6, distance = 2);
REINDEX INDEX many_mid_fp_idx;
ALTER INDEX many_low_3_fp_idx SET (blocks = 8, distance = 6);
REINDEX INDEX many_low_3_fp_idx;
SELECT * FROM compare_batches('many', 'many_fp', '{0,2,3,6,10}');
SELECT c.* FROM compare_duplicates('many', 'many_fp', 3, 'length(body) DESC, id') c;
-- a distance is not said: that of the partitioned index
SELECT count(*) = (SELECT count(*) FROM simhash_find_all('many_fp', 3)) AS by_default FROM simhash_find_all('many_fp');
CREATE INDEX many_5 ON many USING simhash (fp) WITH (blocks = 7, distance = 5);
SELECT count(*) = (SELECT count(*) FROM simhash_find_all('many_fp', 5)) AS by_option FROM simhash_find_all('many_5');
SELECT * FROM compare_batches('many', 'many_5', '{3,5,6}');
DROP INDEX many_5;

-- attached, detached, dropped
ALTER TABLE many DETACH PARTITION many_top;
ALTER TABLE many_low DETACH PARTITION many_low_3;
DROP TABLE many_none;
SELECT c.* FROM compare_batch('many', 'many_fp', 3) c;
ALTER TABLE many ATTACH PARTITION many_top FOR VALUES FROM (900) TO (MAXVALUE);
SELECT c.* FROM compare_batch('many', 'many_fp', 3) c;
SELECT c.* FROM compare_duplicates('many', 'many_columns', 3, 'length(body), id',
	'a.tenant = b.tenant AND lower(a.lang) = lower(b.lang)') c;

--
-- Many rows: as in one table
--

-- Compare what is found with what is found in a plain table, by the ids of rows.
CREATE FUNCTION differences(plain_index regclass, parted_index regclass, distance int, OUT pairs bigint,
	OUT members bigint, OUT duplicates bigint, OUT wrong bigint)
LANGUAGE plpgsql AS $$
BEGIN
	CREATE TEMP TABLE plain_row ON COMMIT DROP AS SELECT id, ctid AS tid FROM plain;
	CREATE TEMP TABLE parted_row ON COMMIT DROP AS SELECT id, tableoid AS t, ctid AS tid FROM parted;
	WITH plain_pair AS MATERIALIZED (SELECT least(x.id, y.id), greatest(x.id, y.id)
		FROM simhash_find_all(plain_index, distance) JOIN plain_row x ON x.tid = a JOIN plain_row y ON y.tid = b),
		parted_pair AS MATERIALIZED (SELECT least(x.id, y.id), greatest(x.id, y.id)
			FROM simhash_find_all(parted_index, distance) JOIN parted_row x ON (x.t, x.tid) = (a_table, a)
				JOIN parted_row y ON (y.t, y.tid) = (b_table, b)),
		plain_member AS MATERIALIZED (SELECT id, min(id) OVER (PARTITION BY cluster), size FROM simhash_find_clusters(plain_index, distance)
			JOIN plain_row ON tid = member),
		parted_member AS MATERIALIZED (SELECT id, min(id) OVER (PARTITION BY cluster), size FROM simhash_find_clusters(parted_index, distance)
			JOIN parted_row ON (t, tid) = (member_table, member)),
		plain_duplicate AS MATERIALIZED (SELECT x.id AS x, y.id AS y
			FROM simhash_find_duplicates(plain_index, distance, keep => 'md5(id::text)') JOIN plain_row x ON x.tid = duplicate
				JOIN plain_row y ON y.tid = keeper),
		parted_duplicate AS MATERIALIZED (SELECT x.id AS x, y.id AS y
			FROM simhash_find_duplicates(parted_index, distance, keep => 'md5(id::text)')
				JOIN parted_row x ON (x.t, x.tid) = (duplicate_table, duplicate)
				JOIN parted_row y ON (y.t, y.tid) = (keeper_table, keeper))
	SELECT (SELECT count(*) FROM plain_pair), (SELECT count(*) FROM plain_member),
		(SELECT count(*) FROM plain_duplicate),
		(SELECT count(*) FROM ((TABLE plain_pair EXCEPT ALL TABLE parted_pair)
			UNION ALL (TABLE parted_pair EXCEPT ALL TABLE plain_pair)) s)
		+ (SELECT count(*) FROM ((TABLE plain_member EXCEPT ALL TABLE parted_member)
			UNION ALL (TABLE parted_member EXCEPT ALL TABLE plain_member)) s)
		+ (SELECT count(*) FROM ((TABLE plain_duplicate EXCEPT ALL TABLE parted_duplicate)
			UNION ALL (TABLE parted_duplicate EXCEPT ALL TABLE plain_duplicate)) s)
	INTO pairs, members, duplicates, wrong;
	DROP TABLE plain_row, parted_row;
END $$;
CREATE PROCEDURE make_parts(tab text, number int) LANGUAGE plpgsql AS $$
BEGIN
	FOR i IN 0 .. number - 1 LOOP
		EXECUTE format('CREATE TABLE %1$s_%2$s PARTITION OF %1$s FOR VALUES WITH (MODULUS %3$s, REMAINDER %2$s)', tab, i, number);
	END LOOP;
END $$;
CREATE TABLE plain (id int, tenant int, fp simhash);
CREATE TABLE parted (LIKE plain) PARTITION BY HASH (id);
CALL make_parts('parted', 7);
CREATE INDEX plain_fp ON plain USING simhash (fp);
CREATE INDEX plain_tenant ON plain USING simhash (tenant, fp);
CREATE INDEX parted_fp ON parted USING simhash (fp);
CREATE INDEX parted_tenant ON parted USING simhash (tenant, fp);
-- groups of a third of the rows and of a few, equal fingerprints, some that differ but in their last bits, clusters
INSERT INTO plain
SELECT i, CASE WHEN i % 3 > 0 THEN i % 3 ELSE i % 300 END,
	CASE WHEN i % 4 = 0 THEN bits('e' || i / 100) WHEN i % 4 = 1 AND i < 3000 THEN i::bigint << 8
		ELSE flip(bits('c' || i / 12), i % 4, 'f' || i) END
FROM generate_series(1, 8000) i;
INSERT INTO parted TABLE plain;
SELECT i.*, distance, d.* FROM (VALUES ('plain_fp', 'parted_fp'), ('plain_tenant', 'parted_tenant')) i(plain, parted),
	unnest('{0,3}'::int[]) distance, differences(plain, parted, distance) d ORDER BY 1, 3;
-- built anew, with leaves that are in order and full
REINDEX TABLE parted;
SELECT i.*, d.* FROM (VALUES ('plain_fp', 'parted_fp'), ('plain_tenant', 'parted_tenant')) i(plain, parted),
	differences(plain, parted, 3) d ORDER BY 1;
DROP TABLE plain, parted;

--
-- Hundreds of partitions
--
CREATE TABLE wide (id int, fp simhash) PARTITION BY HASH (id);
CALL make_parts('wide', 300);
CREATE INDEX wide_fp ON wide USING simhash (fp);
INSERT INTO wide SELECT i, flip(bits('c' || i / 3), i % 3, 'f' || i) FROM generate_series(1, 600) i;
SELECT c.* FROM compare_batch('wide', 'wide_fp', 3) c
UNION ALL SELECT c.* FROM compare_batch('wide', 'wide_fp', 6) c;
SELECT c.* FROM compare_duplicates('wide', 'wide_fp', 3, 'id DESC') c;
-- equal ones, more than a page has
TRUNCATE wide;
INSERT INTO wide SELECT i, i % 2 FROM generate_series(1, 30000) i;
SELECT * FROM (SELECT count(*), min(size), max(size), count(DISTINCT member_table)
	FROM simhash_find_clusters('wide_fp')) a,
	(SELECT count(*), count(DISTINCT keeper), sum(distance) FROM simhash_find_duplicates('wide_fp', keep => 'id')) b;
-- and those that are alike at first, or only there
TRUNCATE wide;
INSERT INTO wide SELECT i, i FROM generate_series(1, 20000) i;
SELECT count(*) FROM simhash_find_all('wide_fp', 1)
UNION ALL SELECT count(*) FROM generate_series(1, 20000) i, generate_series(0, 14) bit
WHERE i & (1 << bit) = 0 AND i | (1 << bit) <= 20000;
DROP TABLE wide;

--
-- Temporary, unlogged
--
CREATE TEMP TABLE passing (id int, fp simhash) PARTITION BY RANGE (id);
CREATE TEMP TABLE passing_1 PARTITION OF passing FOR VALUES FROM (0) TO (10);
CREATE TEMP TABLE passing_2 PARTITION OF passing FOR VALUES FROM (10) TO (20);
CREATE INDEX passing_fp ON passing USING simhash (fp);
INSERT INTO passing SELECT i, i FROM generate_series(0, 19) i;
SELECT c.* FROM compare_batch('passing', 'passing_fp', 3) c;
DROP TABLE passing;
CREATE UNLOGGED TABLE docs_3 PARTITION OF docs FOR VALUES FROM (20) TO (30);
INSERT INTO docs VALUES (21, 'unlogged', 0);
SELECT c.* FROM compare_batch('docs', 'docs_fp', 3) c;

--
-- Who may
--
CREATE FUNCTION attempts() RETURNS TABLE (call text, state text, message text) LANGUAGE sql AS $$
	SELECT call, a.state, a.message
	FROM unnest('{simhash_find_all(''docs_fp''),simhash_find_clusters(''docs_fp''),
			"simhash_find_duplicates(''docs_fp'', keep => ''id'')",simhash_find_all(''docs_1_fp_idx'')}'::text[])
		WITH ORDINALITY c(call, n),
		attempt('SELECT count(*) FROM ' || call) a ORDER BY n
$$;
CREATE ROLE regress_simhash_parts;
GRANT USAGE ON SCHEMA batch_partitions_test TO regress_simhash_parts;
-- rights on the partitions do not do
GRANT SELECT ON docs_1, docs_2, docs_3 TO regress_simhash_parts;
SET ROLE regress_simhash_parts;
SELECT * FROM attempts();
RESET ROLE;
-- rights on the table do, on its columns too
REVOKE SELECT ON docs_1, docs_2, docs_3 FROM regress_simhash_parts;
GRANT SELECT (fp, ctid, tableoid) ON docs TO regress_simhash_parts;
SET ROLE regress_simhash_parts;
SELECT * FROM attempts();
RESET ROLE;
GRANT SELECT ON docs TO regress_simhash_parts;
SET ROLE regress_simhash_parts;
SELECT * FROM attempts();
RESET ROLE;
-- so do policies
ALTER TABLE docs_1 ENABLE ROW LEVEL SECURITY;
SET ROLE regress_simhash_parts;
SELECT * FROM attempts();
RESET ROLE;
ALTER TABLE docs ENABLE ROW LEVEL SECURITY;
SET ROLE regress_simhash_parts;
SELECT * FROM attempts();
RESET ROLE;
ALTER TABLE docs DISABLE ROW LEVEL SECURITY;
ALTER TABLE docs_1 DISABLE ROW LEVEL SECURITY;

--
-- What is refused
--
-- a partition that has no such index, or one that is not valid
CREATE TABLE partial (id int, fp simhash) PARTITION BY RANGE (id);
CREATE TABLE partial_1 PARTITION OF partial FOR VALUES FROM (0) TO (10);
CREATE TABLE partial_2 PARTITION OF partial FOR VALUES FROM (10) TO (20) PARTITION BY RANGE (id);
CREATE TABLE partial_2_1 PARTITION OF partial_2 FOR VALUES FROM (10) TO (20);
INSERT INTO partial SELECT i, i FROM generate_series(0, 19) i;
CREATE INDEX partial_fp ON ONLY partial USING simhash (fp);
SELECT * FROM attempt('SELECT FROM simhash_find_all(''partial_fp'')');
CREATE INDEX partial_1_fp ON partial_1 USING simhash (fp);
ALTER INDEX partial_fp ATTACH PARTITION partial_1_fp;
CREATE INDEX partial_2_fp ON ONLY partial_2 USING simhash (fp);
ALTER INDEX partial_fp ATTACH PARTITION partial_2_fp;
-- one that is not attached is none
CREATE INDEX partial_2_1_fp ON partial_2_1 USING simhash (fp);
SELECT f, a.* FROM unnest('{simhash_find_all,simhash_find_clusters,simhash_find_duplicates}'::text[]) f,
	attempt(format('SELECT FROM %s(''partial_fp'')', f)) a;
ALTER INDEX partial_2_fp ATTACH PARTITION partial_2_1_fp;
SELECT * FROM attempt('SELECT FROM simhash_find_all(''partial_fp'')');
SELECT c.* FROM compare_batch('partial', 'partial_fp', 3) c;
UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'partial_2_1_fp'::regclass;
SELECT * FROM attempt('SELECT FROM simhash_find_all(''partial_fp'')');
UPDATE pg_index SET indisvalid = true WHERE indexrelid = 'partial_2_1_fp'::regclass;
-- a foreign one
CREATE FOREIGN DATA WRAPPER nowhere;
CREATE SERVER nowhere FOREIGN DATA WRAPPER nowhere;
CREATE FOREIGN TABLE partial_far PARTITION OF partial FOR VALUES FROM (20) TO (30) SERVER nowhere;
SELECT f, a.* FROM unnest('{simhash_find_all,simhash_find_clusters,simhash_find_duplicates}'::text[]) f,
	attempt(format('SELECT FROM %s(''partial_fp'')', f)) a;
-- its sisters can be searched
SELECT count(*) > 0 AS found FROM simhash_find_all('partial_2_fp');
DROP SERVER nowhere CASCADE;
DROP FOREIGN DATA WRAPPER nowhere;
-- what shows an index shows those of partitions
SELECT f, a.*
FROM unnest('{simhash_index_info(''docs_fp''),simhash_index_check(''docs_fp''),simhash_find_all(''docs'')}'::text[]) f,
	attempt(format('SELECT FROM %s', f)) a;
SELECT relid::regclass, simhash_index_check(relid, true) FROM pg_partition_tree('docs_fp') WHERE isleaf
ORDER BY relid::regclass::text;

DROP TABLE docs, many, many_low_3, partial;
DROP OWNED BY regress_simhash_parts;
DROP ROLE regress_simhash_parts;
