--
-- Indexes of wide fingerprints: options, columns, expressions, partitions, constraints,
-- builds
--
\pset format unaligned
\pset footer off
CREATE SCHEMA index_bits_forms_test;
SET search_path = index_bits_forms_test, public; SET max_parallel_workers_per_gather = 0; SET client_min_messages = warning;

CREATE TABLE doc (id int, tenant int, fp simhash_bits(256), free simhash_bits);
INSERT INTO doc SELECT i, i % 7, CASE WHEN i % 100 > 0 THEN flip_wide(wide('c' || i / 8, 256), i % 8 * 6, 'f' || i) END,
	wide('c' || i / 8, 256) FROM generate_series(1, 1500) i;

--
-- What cannot be an index
--
SELECT * FROM attempt('CREATE INDEX ON doc USING simhash (free)') \gx
SELECT * FROM attempt($$CREATE INDEX ON doc USING simhash (simhash_minhash_bits('a b'))$$) \gx
SELECT state, message, hint FROM attempt('CREATE INDEX ON doc USING simhash (fp, tenant)') \gx
SELECT options, a.* FROM unnest('{blocks=6,blocks=68,blocks=1000000,distance=3,"blocks=16,distance=3","blocks=16,distance=14","blocks=32,distance=3",blocks=0}'::text[]) options,
	attempt(format('CREATE INDEX ON doc USING simhash (fp) WITH (%s)', options)) a;
CREATE TABLE narrow (fp simhash, fp_bits simhash_bits(64));
SELECT options, a.* FROM unnest('{blocks=2,blocks=17,blocks=16,"blocks=16,distance=3","blocks=17,distance=16","blocks=8,distance=3",blocks=8,distance=7}'::text[]) options,
	attempt(format('CREATE INDEX ON narrow USING simhash (fp) WITH (%s)', options)) a;
SELECT options, a.* FROM unnest('{blocks=2,"blocks=8,distance=3"}'::text[]) options,
	attempt(format('CREATE INDEX ON narrow USING simhash (fp_bits) WITH (%s)', options)) a;
-- the distance alone goes with the default of blocks
CREATE TABLE pdq (fp simhash_bits(256));
SELECT options, a.* FROM unnest('{distance=14,distance=15,distance=31}'::text[]) options,
	attempt(format('CREATE INDEX ON pdq USING simhash (fp) WITH (%s)', options)) a;
CREATE TABLE widest (fp simhash_bits(4096));
SELECT options, a.* FROM unnest('{blocks=960,blocks=1024}'::text[]) options,
	attempt(format('CREATE INDEX ON widest USING simhash (fp) WITH (%s)', options)) a;
DROP TABLE narrow, pdq, widest;

-- options that take effect later
CREATE INDEX doc_fp ON doc USING simhash (fp);
SELECT * FROM (SELECT count(DISTINCT table_no) AS tables, min(prefix_bits), max(prefix_bits), sum(entries)
	FROM simhash_index_info('doc_fp')) a,
	(SELECT columns, blocks, distance, width, entries AS trees FROM page_info('doc_fp', 0)) b;
SELECT table_no, count(*) AS leaves, sum(entries) AS entries
FROM generate_series(1, pg_relation_size('doc_fp') / 8192 - 1) b, page_info('doc_fp', b)
WHERE page_type = 'leaf' GROUP BY 1 ORDER BY 1;
-- the entries are those of the parts, the most significant bits first
WITH item AS (SELECT i.fp, i.ctid, p.table_no / 4 AS part
	FROM generate_series(1, pg_relation_size('doc_fp') / 8192 - 1) b, page_info('doc_fp', b) p,
		page_items('doc_fp', b) i WHERE p.page_type = 'leaf' AND p.table_no IS NOT NULL)
SELECT count(*), count(*) FILTER (WHERE item.fp::bit(64) <> substring(doc.fp::varbit, part * 64 + 1, 64)::bit(64)) AS wrong
FROM item JOIN doc ON doc.ctid = item.ctid;
SET client_min_messages = notice;
ALTER INDEX doc_fp SET (blocks = 32);
SELECT count(DISTINCT table_no) FROM simhash_index_info('doc_fp');
REINDEX INDEX doc_fp;
SELECT count(DISTINCT table_no) FROM simhash_index_info('doc_fp');
ALTER INDEX doc_fp RESET (blocks);
REINDEX INDEX doc_fp;
SET client_min_messages = warning;

--
-- Queries of several forms of indexes
--
CREATE TABLE query AS SELECT row_number() OVER ()::int AS qno, fp FROM doc WHERE id IN (9, 77, 201, 902, 1403);
CREATE TABLE radii AS SELECT r FROM unnest('{0,8,31,60}'::int[]) r;
DROP INDEX doc_fp;

-- columns before it
CREATE INDEX doc_tenant ON doc USING simhash (tenant, fp) WITH (fillfactor = 10);
ANALYZE doc;
CREATE VIEW tenant_3 AS SELECT id, fp FROM doc WHERE tenant = 3;
CALL expect_wide_lookups('tenant_3', 'query');
CALL must_be_ok(compare_wide_lookups('doc', 'doc_tenant', 't.fp <~> $q <= $r AND t.tenant = 3'));
CALL must_be_ok(compare_wide_lookups('doc', 'doc_tenant', 't.fp <~> $q <= $r AND t.tenant = ANY (''{3,99}'')'));
CALL must_be_ok(compare_wide_lookups('doc', 'doc_tenant', 't.fp % $q AND t.tenant = 3', 'r = 31'));
CALL expect_wide_lookups('doc', 'query');
CALL must_be_ok(compare_wide_lookups('doc', 'doc_tenant', 't.fp <~> $q <= $r AND t.tenant >= 0'));
CALL must_be_ok(compare_wide_lookups('doc', 'doc_tenant', 't.fp <~> $q <= $r AND t.tenant = ANY (''{0,1,2,3,4,5,6}'')'));
CALL must_be_ok(compare_wide_lookups('doc', 'doc_tenant'));
SELECT simhash_index_check('doc_tenant', true) \gset
-- memory is full in one of the groups, or when all are read
SET work_mem = '64kB';
SELECT use_only('indexscan') \gset
CREATE TABLE full_groups AS SELECT i AS id, i % 2 AS tenant, wide('x', 256) AS fp FROM generate_series(1, 6000) i;
ALTER TABLE full_groups ALTER fp TYPE simhash_bits(256);
CREATE INDEX full_groups_fp ON full_groups USING simhash (tenant, fp);
SELECT plan($$SELECT id FROM full_groups WHERE fp % wide('x', 256) AND tenant = 1$$);
SELECT count(*), count(DISTINCT id) FROM full_groups WHERE fp % wide('x', 256) AND tenant = 1
UNION ALL SELECT count(*), count(DISTINCT id) FROM full_groups WHERE fp % wide('x', 256);
RESET work_mem;
SELECT use_only('seqscan') \gset
-- as a column before another fingerprint, it is compared for equality
CREATE INDEX doc_both ON doc USING simhash (fp, tenant, (fp::bytea::simhash_bits(256)));
SELECT use_only('indexscan') \gset
SELECT id FROM doc WHERE fp = (SELECT fp FROM doc WHERE id = 77) AND tenant = 0 AND fp::bytea::simhash_bits(256) % (SELECT fp FROM doc WHERE id = 77) ORDER BY 1;
SELECT use_only('seqscan') \gset
DROP INDEX doc_tenant, doc_both;

-- partial, of an expression, concurrently
CREATE INDEX doc_partial ON doc USING simhash (fp) WHERE tenant = 3;
CALL expect_wide_lookups('tenant_3', 'query');
CALL must_be_ok(compare_wide_lookups('doc', 'doc_partial', 't.fp <~> $q <= $r AND t.tenant = 3'));
DROP INDEX doc_partial;
CALL expect_wide_lookups('doc', 'query');
ALTER TABLE doc ADD hex text, ADD bytes bytea, ADD b bit(256);
UPDATE doc SET hex = upper(fp::text), bytes = fp::bytea, b = fp::bit(256);
VACUUM doc;
CREATE INDEX doc_hex ON doc USING simhash ((hex::simhash_bits(256)));
CREATE INDEX doc_bytes ON doc USING simhash ((bytes::simhash_bits(256)));
CREATE INDEX doc_bit ON doc USING simhash ((b::simhash_bits(256)));
CALL must_be_ok(compare_wide_lookups('doc', 'doc_hex', 't.hex::simhash_bits(256) <~> $q <= $r'));
CALL must_be_ok(compare_wide_lookups('doc', 'doc_bytes', 't.bytes::simhash_bits(256) <~> $q <= $r'));
CALL must_be_ok(compare_wide_lookups('doc', 'doc_bit', 't.b::simhash_bits(256) <~> $q <= $r'));
DROP INDEX doc_hex, doc_bytes, doc_bit;
CREATE INDEX CONCURRENTLY doc_fp ON doc USING simhash (fp);
CALL must_be_ok(compare_wide_lookups('doc', 'doc_fp'));
REINDEX INDEX CONCURRENTLY doc_fp;
CALL must_be_ok(compare_wide_lookups('doc', 'doc_fp'));

-- deleted rows: before VACUUM, and after it, when others are in their places
DELETE FROM doc WHERE id % 4 = 1;
CALL expect_wide_lookups('doc', 'query');
CALL must_be_ok(compare_wide_lookups('doc', 'doc_fp'));
VACUUM doc;
SELECT sum(entries) / 16 AS entries FROM simhash_index_info('doc_fp') WHERE table_no IS NOT NULL;
INSERT INTO doc (id, tenant, fp) SELECT 5000 + i, 3, flip_wide(wide('c' || i / 3, 256), i % 40, 'n' || i) FROM generate_series(1, 700) i;
CALL expect_wide_lookups('doc', 'query');
CALL must_be_ok(compare_wide_lookups('doc', 'doc_fp'));
SELECT simhash_index_check('doc_fp', true) \gset
DROP INDEX doc_fp;

-- a domain with a width; a width that is dropped from the column
CREATE DOMAIN pdq AS simhash_bits(256);
CREATE TABLE typed (id int, fp pdq);
INSERT INTO typed SELECT id, fp FROM doc;
CREATE INDEX typed_fp ON typed USING simhash (fp);
ANALYZE typed;
CALL expect_wide_lookups('typed', 'query');
CALL must_be_ok(compare_wide_lookups('typed', 'typed_fp'));
ALTER TABLE typed ALTER fp TYPE simhash_bits(256);
CALL must_be_ok(compare_wide_lookups('typed', 'typed_fp'));
SELECT * FROM attempt('ALTER TABLE typed ALTER fp TYPE simhash_bits');
CALL must_be_ok(compare_wide_lookups('typed', 'typed_fp'));
SELECT state, message, detail FROM attempt($$INSERT INTO typed VALUES (0, 'abcd')$$);
SELECT state, message, detail FROM attempt('ALTER TABLE typed ALTER fp TYPE simhash_bits(128)');
DROP TABLE typed;

-- a class for another radius
CREATE FUNCTION within_40(simhash_bits, simhash_bits) RETURNS bool LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS 'BEGIN RETURN hamming($1, $2) <= 40; END';
CREATE OPERATOR <%%%> (LEFTARG = simhash_bits, RIGHTARG = simhash_bits, FUNCTION = within_40, COMMUTATOR = <%%%>,
	RESTRICT = simhash_sel, JOIN = simhash_joinsel);
CREATE OPERATOR CLASS bits_40 FOR TYPE simhash_bits USING simhash AS OPERATOR 44 <%%%>(simhash_bits, simhash_bits);
SELECT amvalidate(oid) FROM pg_opclass WHERE opcname IN ('bits_40', 'simhash_bits_ops') ORDER BY opcname;
CREATE INDEX doc_40 ON doc USING simhash (fp bits_40);
INSERT INTO radii VALUES (40);
CALL expect_wide_lookups('doc', 'query');
CALL must_be_ok(compare_wide_lookups('doc', 'doc_40', 't.fp <%%%> $q', 'r = 40'));
DROP INDEX doc_40;
--
-- Builds: in little memory, by several processes, unlogged, and by inserts
--
CREATE TABLE built (id int, fp simhash_bits(144));
INSERT INTO built SELECT i, CASE WHEN i % 50 > 0 THEN wide('b' || i / 3, 144) END FROM generate_series(1, 20000) i;
SET max_parallel_maintenance_workers = 0;
CREATE INDEX built_alone ON built USING simhash (fp);
SET maintenance_work_mem = '1MB';
CREATE INDEX built_small ON built USING simhash (fp);
SET max_parallel_maintenance_workers = 3;
ALTER TABLE built SET (parallel_workers = 3);
SET min_parallel_table_scan_size = 0;
RESET maintenance_work_mem;
SET maintenance_work_mem = '200MB';
CREATE INDEX built_parallel ON built USING simhash (fp);
RESET maintenance_work_mem;
SELECT count(*) FROM (SELECT table_no, entries, leaf_pages FROM simhash_index_info('built_alone')
	EXCEPT SELECT table_no, entries, leaf_pages FROM simhash_index_info('built_small')) s
UNION ALL SELECT count(*) FROM (SELECT table_no, entries, leaf_pages FROM simhash_index_info('built_alone')
	EXCEPT SELECT table_no, entries, leaf_pages FROM simhash_index_info('built_parallel')) s;
SELECT simhash_index_check(index, true) FROM unnest('{built_alone,built_small,built_parallel}'::regclass[]) index;
CREATE UNLOGGED TABLE unlogged (id int, fp simhash_bits(144));
CREATE INDEX unlogged_fp ON unlogged USING simhash (fp);
INSERT INTO unlogged SELECT * FROM built WHERE id <= 3000;
SELECT simhash_index_check('unlogged_fp', true) \gset
TRUNCATE unlogged;
SELECT simhash_index_check('unlogged_fp', true) \gset
DROP TABLE built, unlogged;

--
-- Partitions
--
CREATE TABLE many (id int, fp simhash_bits(128)) PARTITION BY RANGE (id);
CREATE TABLE many_1 PARTITION OF many FOR VALUES FROM (0) TO (500);
CREATE INDEX many_fp ON many USING simhash (fp);
CREATE TABLE many_2 PARTITION OF many FOR VALUES FROM (500) TO (2000);
INSERT INTO many SELECT i, flip_wide(wide('p' || i / 6, 128), i % 6 * 5, 'p' || i) FROM generate_series(1, 1200) i;
ANALYZE many;
DROP TABLE query;
CREATE TABLE query AS SELECT id AS qno, fp FROM many WHERE id % 200 = 7;
CALL expect_wide_lookups('many', 'query');
CALL must_be_ok(compare_wide_lookups('many', 'many_1_fp_idx'));
CREATE TABLE unknown (id int, fp simhash_bits) PARTITION BY RANGE (id);
CREATE INDEX ON unknown USING simhash (fp);
SELECT state, message FROM attempt('CREATE TABLE unknown_1 PARTITION OF unknown DEFAULT');

--
-- Constraints
--
CREATE TABLE batch AS SELECT i AS id, i % 3 AS tenant, CASE WHEN i % 40 > 0 THEN flip_wide(wide('e' || i / 9, 256), i % 9 * 5, 'e' || i) END AS fp
FROM generate_series(1, 900) i;
-- the rows that a load in their order must take
CREATE FUNCTION taken_ids(radius int, by_tenant bool) RETURNS int[] LANGUAGE plpgsql AS $$
DECLARE
	row record;
	ids int[] := '{}';
BEGIN
	CREATE TEMPORARY TABLE taken (tenant int, fp varbit);
	FOR row IN SELECT id, tenant, fp::varbit AS b FROM batch ORDER BY id LOOP
		CONTINUE WHEN EXISTS (SELECT FROM taken WHERE wide_distance(taken.fp, row.b) <= radius
			AND (taken.tenant = row.tenant OR NOT by_tenant));
		ids := ids || row.id;
		IF row.b IS NOT NULL THEN
			INSERT INTO taken VALUES (row.tenant, row.b);
		END IF;
	END LOOP;
	DROP TABLE taken;
	RETURN ids;
END $$;
CREATE TABLE kept (id int, tenant int, fp simhash_bits(256), EXCLUDE USING simhash (fp WITH %));
INSERT INTO kept SELECT * FROM batch ORDER BY id ON CONFLICT DO NOTHING;
SELECT count(*) AS rows, array_agg(id ORDER BY id) = taken_ids(31, false) AS right FROM kept;
SELECT state, message FROM attempt($$INSERT INTO kept SELECT 5000, 0, flip_wide(fp, 31, 'a') FROM kept WHERE id = 1$$);
SELECT state, message FROM attempt($$INSERT INTO kept SELECT 5000, 0, flip_wide(fp, 32, 'a') FROM kept WHERE id = 1$$);
-- each row again: only the row itself is near it
UPDATE kept SET fp = flip_wide(fp, 1, 'u'), tenant = tenant + 10 WHERE id % 5 = 0;
UPDATE kept SET tenant = tenant + 10;
DELETE FROM kept WHERE id < 100;
INSERT INTO kept SELECT * FROM batch WHERE id < 100 ORDER BY id ON CONFLICT DO NOTHING;
SELECT count(*) AS pairs FROM kept a JOIN kept b ON a.id < b.id AND wide_distance(a.fp::varbit, b.fp::varbit) <= 31;
SELECT simhash_index_check('kept_fp_excl', true) \gset
DROP TABLE kept;
-- by tenant, deferred, within another radius, in partitions
CREATE TABLE kept (id int, tenant int, fp simhash_bits(256), EXCLUDE USING simhash (tenant WITH =, fp WITH %));
INSERT INTO kept SELECT * FROM batch ORDER BY id ON CONFLICT DO NOTHING;
SELECT count(*) AS rows, array_agg(id ORDER BY id) = taken_ids(31, true) AS right FROM kept;
DROP TABLE kept;
CREATE TABLE kept (id int, tenant int, fp simhash_bits(256), EXCLUDE USING simhash (fp bits_40 WITH <%%%>));
INSERT INTO kept SELECT * FROM batch ORDER BY id ON CONFLICT DO NOTHING;
SELECT count(*) AS rows, array_agg(id ORDER BY id) = taken_ids(40, false) AS right FROM kept;
DROP TABLE kept;
CREATE TABLE kept (id int, fp simhash_bits(256), EXCLUDE USING simhash (fp WITH %) DEFERRABLE INITIALLY DEFERRED);
INSERT INTO kept VALUES (1, wide('k', 256));
BEGIN;
INSERT INTO kept VALUES (2, flip_wide(wide('k', 256), 20, 'k'));
DELETE FROM kept WHERE id = 1;
COMMIT;
BEGIN;
INSERT INTO kept VALUES (3, flip_wide(wide('k', 256), 20, 'k'));
SELECT count(*) FROM kept;
COMMIT;
SELECT id FROM kept;
-- equal rows that are dead fill no memory but are met in each part
SET work_mem = '64kB';
CREATE TABLE again (fp simhash_bits(256), EXCLUDE USING simhash (fp WITH %));
DO $$
BEGIN
	FOR i IN 1 .. 2500 LOOP
		INSERT INTO again VALUES (wide('again', 256));
		DELETE FROM again;
	END LOOP;
END $$;
INSERT INTO again VALUES (wide('again', 256));
INSERT INTO again VALUES (wide('again', 256)) ON CONFLICT DO NOTHING;
SELECT count(*) FROM again;
RESET work_mem;

DROP SCHEMA index_bits_forms_test CASCADE;
