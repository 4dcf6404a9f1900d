--
-- Pairs between two indexes of several columns: those of rows that are equal in the
-- columns before the fingerprint
--
\pset format unaligned
\pset footer off
CREATE SCHEMA batch_matches_columns_test;
SET search_path = batch_matches_columns_test, public; SET client_min_messages = warning;
SET max_parallel_workers_per_gather = 0;
\set SHOW_CONTEXT never
\pset null (none)

-- Compare what is found between two indexes with brute force: pairs for which the
-- condition on rows a and b is true.  Says how many there are, how many are missing,
-- and how many are there that should not be.
CREATE FUNCTION compare(a regclass, b regclass, a_index regclass, b_index regclass, condition text, radius int,
	OUT pairs bigint, OUT missing bigint, OUT wrong bigint)
LANGUAGE sql AS $$
	SELECT * FROM compare_rows(
		format('SELECT f.a, f.b, a_fp::bigint, b_fp::bigint, f.distance, a_table::oid, b_table::oid
			FROM simhash_find_matches(%L, %L, %s) f', a_index, b_index, radius),
		format('SELECT a.ctid, b.ctid, a.fp::bigint, b.fp::bigint, distance(a.fp::bigint, b.fp::bigint),
				a.tableoid, b.tableoid
			FROM %s a JOIN %s b ON %s AND distance(a.fp::bigint, b.fp::bigint) <= %s', a, b, condition, radius))
$$;

-- The same for the values of a table, some twice: columns do not count then.
CREATE FUNCTION compare_values(a regclass, b regclass, b_index regclass, radius int,
	OUT pairs bigint, OUT missing bigint, OUT wrong bigint)
LANGUAGE sql AS $$
	SELECT * FROM compare_rows(
		format('SELECT f.query::bigint, f.b, b_fp::bigint, f.distance, b_table::oid
			FROM simhash_find_matches_in(%L, (SELECT array_agg(fp) FROM %s), %s) f', b_index, a, radius),
		format('SELECT a.h, b.ctid, b.fp::bigint, distance(a.h, b.fp::bigint), b.tableoid
			FROM (SELECT DISTINCT fp::bigint AS h FROM %s) a
				JOIN %s b ON distance(a.h, b.fp::bigint) <= %s', a, b, radius))
$$;

-- not in the same places in the two tables, and a column that is gone
CREATE TABLE staging (id int, tenant int, lang text, fp simhash) WITH (autovacuum_enabled = off);
CREATE TABLE corpus (lang text, fp simhash, gone int, id int, tenant int) WITH (autovacuum_enabled = off);
ALTER TABLE corpus DROP gone;
CREATE FUNCTION make(i int, side text, OUT tenant int, OUT lang text, OUT fp simhash) LANGUAGE sql AS $$
	SELECT nullif(bits('t' || i) & 3, 0)::int, (ARRAY['de', 'en', 'a language with a long name'])[bits('l' || i) & 3],
		CASE i % 5
			WHEN 0 THEN bits(side || i)
			WHEN 1 THEN bits('same' || i / 50)
			WHEN 2 THEN flip(bits('c' || i / 100), i % 7, side || i)
			WHEN 3 THEN flip(0, i % 9, side || i)
			END
$$;
CREATE INDEX staging_1 ON staging USING simhash (tenant, fp);
CREATE INDEX corpus_1 ON corpus USING simhash (tenant, fp);
INSERT INTO staging SELECT i, make.* FROM generate_series(1, 500) i, make(i, 's');
INSERT INTO corpus (id, tenant, lang, fp) SELECT i, make.* FROM generate_series(1, 800) i, make(i, 'c');
CREATE INDEX staging_2 ON staging USING simhash (tenant, upper(lang), fp);
CREATE INDEX corpus_2 ON corpus USING simhash (tenant, upper(lang), fp) WITH (blocks = 5, distance = 3);
CREATE INDEX corpus_wide ON corpus USING simhash (tenant, fp) WITH (blocks = 7, distance = 6);
-- rows that moved
UPDATE staging SET id = -id WHERE id % 3 = 0;
DELETE FROM corpus WHERE id % 11 = 0;

SELECT * FROM rows_of(
	$$SELECT r, c.* FROM unnest('{0,3,6,10}'::int[]) r, compare('staging', 'corpus', 'staging_1', 'corpus_1',
	'a.tenant = b.tenant', r) c$$,
	$$SELECT r, c.* FROM unnest('{0,3,6,10}'::int[]) r, compare('corpus', 'staging', 'corpus_wide', 'staging_1',
	'a.tenant = b.tenant', r) c$$,
	$$SELECT r, c.* FROM unnest('{0,3,6,10}'::int[]) r, compare('staging', 'corpus', 'staging_2', 'corpus_2',
	'a.tenant = b.tenant AND upper(a.lang) = upper(b.lang)', r) c$$,
	$$SELECT r, c.* FROM unnest('{0,3,6,10}'::int[]) r, compare_values('staging', 'corpus', 'corpus_1', r) c$$);
SELECT r, c.* FROM unnest('{3,10}'::int[]) r, compare_values('staging', 'corpus', 'corpus_2', r) c;

-- with partitions
CREATE TABLE parts (id int, tenant int, lang text, fp simhash) PARTITION BY LIST (tenant);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES IN (1);
CREATE TABLE parts_2 (fp simhash, lang text, tenant int, id int);
ALTER TABLE parts ATTACH PARTITION parts_2 FOR VALUES IN (2);
CREATE TABLE parts_others PARTITION OF parts DEFAULT;
CREATE INDEX parts_fp ON parts USING simhash (tenant, fp);
INSERT INTO parts SELECT i, make.* FROM generate_series(1, 500) i, make(i, 'p');
SELECT * FROM rows_of(
	$$SELECT r, c.* FROM unnest('{0,3,10}'::int[]) r, compare('parts', 'corpus', 'parts_fp', 'corpus_1',
	'a.tenant = b.tenant', r) c$$,
	$$SELECT r, c.* FROM unnest('{0,3,10}'::int[]) r, compare('corpus', 'parts', 'corpus_1', 'parts_fp',
	'a.tenant = b.tenant', r) c$$);
SELECT r, c.* FROM unnest('{0,3,10}'::int[]) r, compare_values('staging', 'parts', 'parts_fp', r) c;

-- the columns must be alike
CREATE INDEX staging_fp ON staging USING simhash (fp);
CREATE INDEX staging_bigint ON staging USING simhash ((tenant::bigint), fp);
CREATE INDEX staging_c ON staging USING simhash (tenant, (upper(lang) COLLATE "C"), fp);
SELECT * FROM simhash_find_matches('staging_fp', 'corpus_1');
SELECT * FROM simhash_find_matches('corpus_1', 'staging_bigint');
SELECT * FROM simhash_find_matches('staging_2', 'corpus_1');
SELECT * FROM simhash_find_matches('staging_c', 'corpus_2');

DROP SCHEMA batch_matches_columns_test CASCADE;
