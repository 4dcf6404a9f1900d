--
-- Constraints that keep near-duplicates out within equal columns
--
-- The reference for a load is the same decision taken row by row without any
-- index: a row is refused if one of the same tenant that was taken before is
-- near it.
--
\pset format unaligned
\pset footer off
SET client_min_messages = warning;
CREATE SCHEMA exclusion_columns_test;
SET search_path = exclusion_columns_test, public; SET max_parallel_workers_per_gather = 0;

-- does the server take an exclusion constraint on a partitioned table?
SELECT current_setting('server_version_num')::int >= 170000 AS takes_partitioned \gset

--
-- One row after the other
--
CREATE TABLE doc (id int, tenant int, fp simhash, EXCLUDE USING simhash (tenant WITH =, fp WITH %));
INSERT INTO doc VALUES (1, 1, 0), (2, 1, 15);
INSERT INTO doc VALUES (3, 1, 7);
INSERT INTO doc VALUES (3, 2, 7);
-- null conflicts with nothing, whichever column it is in
INSERT INTO doc VALUES (4, NULL, 0), (5, NULL, 0), (6, 1, NULL), (7, 1, NULL), (8, NULL, NULL);
-- within one statement, too
INSERT INTO doc VALUES (9, 3, -1), (10, 3, -2);
INSERT INTO doc VALUES (9, 3, -1), (10, 3, -2), (11, 4, -2) ON CONFLICT DO NOTHING;
INSERT INTO doc VALUES (12, 3, -4) ON CONFLICT ON CONSTRAINT doc_tenant_fp_excl DO NOTHING;
-- moved into a conflict: by the fingerprint, by the tenant, and out of reach again
UPDATE doc SET fp = 1 WHERE id = 2;
UPDATE doc SET tenant = 1 WHERE id = 3;
UPDATE doc SET tenant = 1 WHERE id = 4;
UPDATE doc SET tenant = 2 WHERE id = 2;
UPDATE doc SET tenant = 5 WHERE id = 3;
UPDATE doc SET tenant = 2 WHERE id = 2;
UPDATE doc SET tenant = NULL WHERE id = 1;
UPDATE doc SET tenant = 1 WHERE id = 4;
UPDATE doc SET id = id + 100 WHERE id = 4;
-- what a deleted or undone row held is free
DELETE FROM doc WHERE id = 9;
INSERT INTO doc VALUES (13, 3, -2);
BEGIN;
INSERT INTO doc VALUES (14, 6, 5);
ROLLBACK;
INSERT INTO doc VALUES (15, 6, 4);
SELECT id, tenant, hex(fp) FROM doc ORDER BY id;
SELECT simhash_index_check('doc_tenant_fp_excl', true) \gset
DROP TABLE doc;

--
-- A load in one statement: groups of near-duplicates in each of 6 tenants, and
-- the same fingerprints in several
--
CREATE TABLE batch (id int PRIMARY KEY, tenant int, lang text, kind smallint, fp simhash);
INSERT INTO batch
SELECT i, nullif(i % 7, 6), (ARRAY['de', 'DE', 'en', NULL])[i % 4 + 1], i / 28 % 2,
	CASE WHEN i % 20 > 0 THEN flip(bits('c' || i / 150), i % 3, 'f' || i) END
FROM generate_series(1, 1200) i;

-- the ids that a load in their order must take; equal is a condition on taken and row
CREATE FUNCTION taken_ids(equal text) RETURNS int[] LANGUAGE plpgsql AS $$
DECLARE
	row record;
	near bool;
	ids int[] := '{}';
BEGIN
	CREATE TEMPORARY TABLE taken (tenant int, lang text, kind smallint, h bigint);
	FOR row IN SELECT id, tenant, lang, kind, fp::bigint AS h FROM batch ORDER BY id LOOP
		EXECUTE 'SELECT EXISTS (SELECT FROM taken WHERE ' || equal || ' AND distance(h, $4) <= 3)'
			INTO near USING row.tenant, row.lang, row.kind, row.h;
		CONTINUE WHEN near;
		ids := ids || row.id;
		INSERT INTO taken VALUES (row.tenant, row.lang, row.kind, row.h);
	END LOOP;
	DROP TABLE taken;
	RETURN ids;
END $$;

-- load table doc, in which the constraint goes by that
CREATE FUNCTION load_and_compare(equal text, OUT rows bigint, OUT wrong bigint, OUT again bigint) LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO doc SELECT id, tenant, lang, kind, fp FROM batch ORDER BY id ON CONFLICT DO NOTHING;
	GET DIAGNOSTICS rows = ROW_COUNT;
	SELECT count(*) INTO wrong FROM doc FULL JOIN unnest(taken_ids(equal)) t (id) ON t.id = doc.id
	WHERE doc.id IS NULL OR t.id IS NULL;
	-- of these none is taken again, if the constraint holds for it
	INSERT INTO doc SELECT id, tenant, lang, kind, fp FROM batch WHERE (tenant, lang, kind, fp) IS NOT NULL
	ORDER BY id DESC ON CONFLICT DO NOTHING;
	GET DIAGNOSTICS again = ROW_COUNT;
END $$;
CREATE TABLE doc (id int, tenant int, lang text, kind smallint, fp simhash);
ALTER TABLE doc ADD CONSTRAINT near EXCLUDE USING simhash (tenant WITH =, fp WITH %);
SELECT * FROM load_and_compare('tenant = $1');
SELECT simhash_index_check('near', true) \gset
-- it serves look-ups as any other index
SET enable_seqscan = off; SET enable_bitmapscan = off;
SELECT plan('SELECT id FROM doc WHERE tenant = 5 AND fp <~> 0 <= 3');
SELECT count(*) FROM batch b WHERE fp IS NOT NULL AND tenant IS NOT NULL
	AND NOT EXISTS (SELECT FROM doc WHERE doc.tenant = b.tenant AND doc.fp % b.fp);
RESET enable_seqscan; RESET enable_bitmapscan;
-- two and three columns, in any order, of a collation that ignores case, and a
-- scheme that promises less than the constraint asks for
TRUNCATE doc;
ALTER TABLE doc DROP CONSTRAINT near, ADD CONSTRAINT near EXCLUDE USING simhash (lang WITH =, tenant WITH =, fp WITH %);
SELECT * FROM load_and_compare('tenant = $1 AND lang = $2');
TRUNCATE doc;
ALTER TABLE doc DROP CONSTRAINT near, ADD CONSTRAINT near EXCLUDE USING simhash (tenant WITH =, lang WITH =, kind
	WITH =, fp WITH %) WITH (blocks = 2, distance = 1);
SELECT * FROM load_and_compare('tenant = $1 AND lang = $2 AND kind = $3');
TRUNCATE doc;
CREATE COLLATION ignore_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
ALTER TABLE doc DROP CONSTRAINT near, ADD CONSTRAINT near EXCLUDE USING simhash (lang COLLATE ignore_case WITH =,
	fp WITH %);
SELECT * FROM load_and_compare('lower(lang) = lower($2)');
TRUNCATE doc;
ALTER TABLE doc DROP CONSTRAINT near, ADD CONSTRAINT near EXCLUDE USING simhash (lower(lang) WITH =, (tenant % 10)
	WITH =, fp WITH %) WHERE (kind = 1);
SELECT * FROM load_and_compare('lower(lang) = lower($2) AND tenant % 10 = $1 % 10 AND kind = 1 AND $3 = 1');
TRUNCATE doc;
CREATE DOMAIN tenant_no AS int CHECK (VALUE >= 0);
ALTER TABLE doc DROP CONSTRAINT near, ALTER tenant TYPE tenant_no;
ALTER TABLE doc ADD CONSTRAINT near EXCLUDE USING simhash (tenant WITH =, fp WITH =);
SELECT * FROM load_and_compare('tenant = $1 AND h = $4');
-- a bigint, and a fingerprint, before the fingerprint
ALTER TABLE doc DROP CONSTRAINT near, ALTER tenant TYPE bigint;
TRUNCATE doc;
ALTER TABLE doc ADD CONSTRAINT near EXCLUDE USING simhash (tenant WITH =, fp WITH %);
SELECT * FROM load_and_compare('tenant = $1');
ALTER TABLE doc DROP CONSTRAINT near, ALTER tenant TYPE simhash;
TRUNCATE doc;
ALTER TABLE doc ADD CONSTRAINT near EXCLUDE USING simhash (tenant WITH =, fp WITH %);
SELECT * FROM load_and_compare('tenant = $1');
-- made for rows that are there
ALTER TABLE doc DROP CONSTRAINT near;
ALTER TABLE doc ADD CONSTRAINT near EXCLUDE USING simhash (tenant WITH =, fp WITH %);
INSERT INTO doc SELECT 20000 + id, tenant, lang, kind, fp FROM doc WHERE tenant = 3 AND fp IS NOT NULL ORDER BY id
LIMIT 1;
ALTER TABLE doc DROP CONSTRAINT near;
INSERT INTO doc VALUES (30000, 3, NULL, NULL, 0), (30001, 3, NULL, NULL, 1);
ALTER TABLE doc ADD CONSTRAINT near EXCLUDE USING simhash (tenant WITH =, fp WITH %);
DROP TABLE doc;

--
-- Deferred
--
CREATE TABLE doc (id int, tenant int, fp simhash, EXCLUDE USING simhash (tenant WITH =,
	fp WITH %) DEFERRABLE INITIALLY DEFERRED);
BEGIN;
INSERT INTO doc VALUES (1, 1, 0), (2, 1, 1), (3, 2, 0);
UPDATE doc SET tenant = 3 WHERE id = 2;
COMMIT;
BEGIN;
-- exchanged
UPDATE doc SET tenant = 2 WHERE id = 1;
UPDATE doc SET tenant = 1 WHERE id = 3;
COMMIT;
BEGIN;
UPDATE doc SET tenant = 2 WHERE id = 2;
SET CONSTRAINTS ALL IMMEDIATE;
ROLLBACK;
BEGIN;
INSERT INTO doc VALUES (4, 3, 3);
COMMIT;
INSERT INTO doc VALUES (4, 3, 3) ON CONFLICT DO NOTHING;
SELECT id, tenant FROM doc ORDER BY id;
DROP TABLE doc;

--
-- What is made like it, made anew, and made while others write
--
CREATE TABLE doc (id int, tenant int, fp simhash, EXCLUDE USING simhash (tenant WITH =, fp WITH %));
CREATE TABLE copy (LIKE doc INCLUDING ALL);
INSERT INTO copy VALUES (1, 1, 0), (2, 2, 0);
INSERT INTO copy VALUES (3, 2, 1);
INSERT INTO doc SELECT i, i % 50, bits(i::text) FROM generate_series(1, 3000) i;
REINDEX TABLE doc;
DELETE FROM doc WHERE id % 3 = 0;
VACUUM doc;
INSERT INTO doc SELECT i, i % 50, bits(i::text) FROM generate_series(1, 3000) i ON CONFLICT DO NOTHING;
SELECT count(*) FROM doc;
CREATE INDEX CONCURRENTLY doc_by_tenant ON doc USING simhash (tenant, fp);
REINDEX INDEX CONCURRENTLY doc_by_tenant;
SELECT indexrelid::regclass, indisvalid, simhash_index_check(indexrelid, true) FROM pg_index
WHERE indrelid = 'doc'::regclass ORDER BY 1::text COLLATE "C";
VACUUM FULL doc;
INSERT INTO doc VALUES (0, 1, bits('1'));
ALTER TABLE doc ALTER tenant TYPE bigint;
INSERT INTO doc VALUES (0, 1, bits('1'));
INSERT INTO doc VALUES (0, 4294967297, bits('1'));
DROP TABLE doc, copy;

--
-- Partitions.  Before 17 each of them has the constraint.
--
CREATE TABLE parts (id int, tenant int, fp simhash) PARTITION BY LIST (tenant);
CREATE TABLE p1 PARTITION OF parts FOR VALUES IN (1);
CREATE TABLE p2 PARTITION OF parts FOR VALUES IN (2, NULL);
\if :takes_partitioned
ALTER TABLE parts ADD EXCLUDE USING simhash (tenant WITH =, fp WITH %);
\else
ALTER TABLE p1 ADD EXCLUDE USING simhash (tenant WITH =, fp WITH %);
ALTER TABLE p2 ADD EXCLUDE USING simhash (tenant WITH =, fp WITH %);
\endif
INSERT INTO parts VALUES (1, 1, 0), (2, 2, 0), (3, NULL, 0), (4, NULL, 0);
INSERT INTO parts VALUES (5, 1, 1);
INSERT INTO parts VALUES (5, 2, 1), (6, 1, 255) ON CONFLICT DO NOTHING;
UPDATE parts SET tenant = 2 WHERE id = 1;
UPDATE parts SET tenant = 2 WHERE id = 6;
-- a table that comes in later
CREATE TABLE p3 (id int, tenant int, fp simhash);
INSERT INTO p3 VALUES (7, 3, 0), (8, 3, 1);
\if :takes_partitioned
\set constrain 'ALTER TABLE parts ATTACH PARTITION p3 FOR VALUES IN (3)'
\set attach ''
\else
\set constrain 'ALTER TABLE p3 ADD EXCLUDE USING simhash (tenant WITH =, fp WITH %)'
\set attach 'ALTER TABLE parts ATTACH PARTITION p3 FOR VALUES IN (3)'
\endif
:constrain;
DELETE FROM p3 WHERE id = 8;
:constrain;
:attach;
INSERT INTO parts VALUES (8, 3, 1);
ALTER TABLE parts DETACH PARTITION p3;
INSERT INTO p3 VALUES (8, 3, 1);
SELECT tableoid::regclass, id, tenant FROM parts ORDER BY id;
-- an index on all of them, and on one that is attached
CREATE INDEX parts_fp ON parts USING simhash (tenant, fp);
CREATE INDEX p3_fp ON p3 USING simhash (tenant, fp);
ALTER TABLE parts ATTACH PARTITION p3 FOR VALUES IN (3);
SELECT inhrelid::regclass, simhash_index_check(inhrelid::regclass, true) FROM pg_inherits
WHERE inhparent = 'parts_fp'::regclass ORDER BY 1::text COLLATE "C";
SET enable_seqscan = off;
SELECT * FROM rows_of($$SELECT id FROM parts WHERE tenant = ANY ('{1,2}') AND fp <~> 0 <= 3 ORDER BY id$$,
	$$SELECT id FROM parts WHERE tenant IS NULL AND fp <~> 0 <= 3 ORDER BY id$$,
	$$SELECT id, fp <~> 0 AS d FROM parts WHERE tenant = 1 ORDER BY fp <~> 0$$);
RESET enable_seqscan;

DROP SCHEMA exclusion_columns_test CASCADE;
