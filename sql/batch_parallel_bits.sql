-- Searches of wide fingerprints with parallel workers: the same answers as with none.
-- How many workers are started depends on the machine; batch_parallel.pl looks
-- at that.
\pset format unaligned
\pset footer off
SET client_min_messages = warning;
CREATE SCHEMA batch_parallel_bits_test;
SET search_path = batch_parallel_bits_test, public; SET min_parallel_index_scan_size = 0;
SET maintenance_work_mem = '16MB';

-- rows of n bits: clusters, rows that are equal, and rows near those
CREATE PROCEDURE make_clusters(name text, n int, rows int) LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE TABLE %s (id int, tenant int, fp simhash_bits(%s))', name, n);
	EXECUTE format('INSERT INTO %s SELECT i, i / 8 %% 2, flip_wide(wide(''c'' || i / 4, %2$s), i %% 23 %% (%2$s / 6), i::text)
		FROM generate_series(1, %s) i', name, n, rows);
	EXECUTE format('INSERT INTO %s SELECT 10000 + i, i %% 2, flip_wide(wide(''equal'', %2$s), i %% 3, ''e'' || i %% 20)
		FROM generate_series(1, 150) i', name, n);
	EXECUTE format('CREATE INDEX %1$s_fp ON %1$s USING simhash (fp)', name);
	EXECUTE format('CREATE INDEX %1$s_tenant ON %1$s USING simhash (tenant, fp)', name);
END $$;
CALL make_clusters('narrow', 72, 1000);
CALL make_clusters('middle', 128, 1200);
CALL make_clusters('wide', 256, 1500);
CALL make_clusters('widest', 576, 600);

SELECT c.* FROM unnest('{narrow_fp,narrow_tenant}'::text[]) i, compare_parallel(searches_of(i, '{0,3,9,20}')) c;
SELECT c.* FROM unnest('{middle_fp,middle_tenant}'::text[]) i, compare_parallel(searches_of(i, '{0,1,15,30}')) c;
SELECT c.* FROM unnest('{wide_fp,wide_tenant}'::text[]) i, compare_parallel(searches_of(i, '{2,31,52}')) c;
SELECT c.* FROM unnest('{widest_fp,widest_tenant}'::text[]) i, compare_parallel(searches_of(i, '{5,71}')) c;

-- Parts that are the same in all rows, or nearly; that have few values; and a pair whose
-- parts are all equal but one.  All pairs are compared where nothing else is cheaper.
CREATE TABLE skewed (id int, fp simhash_bits(256));
INSERT INTO skewed SELECT i, (CASE i % 4
	WHEN 0 THEN overlay(wide('s' || i, 256)::varbit PLACING repeat('0', 130)::varbit FROM 1)
	WHEN 1 THEN overlay(wide('t' || i, 256)::varbit PLACING repeat('01', 64)::varbit FROM 100)
	WHEN 2 THEN overlay(wide('u', 256)::varbit PLACING substring(wide('v' || i / 4, 256)::varbit FOR 12) FROM 65)
	ELSE flip_wide(wide('w', 256), i % 40, i::text)::varbit END)::simhash_bits
FROM generate_series(1, 1600) i;
CREATE INDEX skewed_fp ON skewed USING simhash (fp);
SELECT * FROM compare_parallel(searches_of('skewed_fp', '{0,8,40}'));
CREATE TABLE constant (id int, fp simhash_bits(128));
INSERT INTO constant SELECT i, flip_wide(wide('k', 128), i % 2 * 9, i::text) FROM generate_series(1, 900) i;
CREATE INDEX constant_fp ON constant USING simhash (fp);
SELECT * FROM compare_parallel(searches_of('constant_fp', '{1,17,18}'));

-- keep and same
SELECT * FROM compare_parallel(ARRAY[
	$q$SELECT * FROM simhash_find_duplicates('wide_fp', 31, keep => 'id % 10 DESC, id')$q$,
	$q$SELECT * FROM simhash_find_duplicates('wide_fp', 40, same => 'a.tenant = b.tenant OR a.id = b.id + 1')$q$,
	$q$SELECT * FROM simhash_find_clusters('wide_tenant', 31, same => 'a.id % 2 = b.id % 2')$q$]);

-- two sides: of the same size, and one much larger than the other; columns
CREATE TABLE too AS SELECT id, tenant, flip_wide(fp, id % 9, 'too' || id)::simhash_bits(256) AS fp FROM wide;
CREATE INDEX too_fp ON too USING simhash (fp);
CREATE INDEX too_tenant ON too USING simhash (tenant, fp);
CREATE TABLE few AS SELECT * FROM too WHERE id % 30 = 0;
CREATE INDEX few_fp ON few USING simhash (fp);
CREATE TABLE skewed_too AS SELECT id, flip_wide(fp, id % 20, 'too' || id)::simhash_bits(256) AS fp FROM skewed WHERE id % 2 = 1;
CREATE INDEX skewed_too_fp ON skewed_too USING simhash (fp);
SELECT c.* FROM (VALUES ('wide_fp', 'too_fp'), ('wide_fp', 'few_fp'), ('few_fp', 'wide_fp'), ('too_tenant', 'wide_tenant'),
	('skewed_fp', 'skewed_too_fp')) s (a, b),
	compare_parallel(ARRAY(SELECT format('SELECT * FROM simhash_find_matches(%L, %L, %s)', a, b, d) FROM unnest('{0,31,60}'::int[]) d)) c;

-- partitions
CREATE TABLE parts (id int, tenant int, fp simhash_bits(256)) PARTITION BY LIST (tenant);
CREATE TABLE parts_0 PARTITION OF parts FOR VALUES IN (0);
CREATE TABLE parts_1 PARTITION OF parts DEFAULT;
INSERT INTO parts TABLE wide;
CREATE INDEX parts_fp ON parts USING simhash (fp);
SELECT * FROM compare_parallel(searches_of('parts_fp', '{31}'));

-- rows that are compared chunk by chunk: the last one, which is small, leaves memory for
-- a worker
CREATE TABLE many (id int, fp simhash_bits(256));
INSERT INTO many SELECT i, wide('m' || i % 16500, 256) FROM generate_series(1, 17500) i;
UPDATE many SET fp = flip_wide(fp, id % 30, 'm') WHERE id <= 300;
CREATE INDEX many_fp ON many USING simhash (fp);
SET maintenance_work_mem = '2MB';
SELECT * FROM compare_parallel(searches_of('many_fp', '{31}'));
SELECT * FROM compare_parallel(ARRAY['SELECT * FROM simhash_find_matches(''many_fp'', ''wide_fp'', 40)',
	'SELECT * FROM simhash_find_matches(''few_fp'', ''many_fp'', 40)', 'SELECT * FROM simhash_find_matches(''wide_fp'', ''too_fp'', 31)']);
SET maintenance_work_mem = '16MB';

-- rows deleted, moved, and new in the same transaction
BEGIN;
DELETE FROM wide WHERE id % 11 = 0;
UPDATE wide SET id = id + 1 WHERE id % 13 = 0;
INSERT INTO wide SELECT 20000 + i, 1, wide('n' || i / 2, 256) FROM generate_series(1, 300) i;
SELECT * FROM compare_parallel(searches_of('wide_fp', '{31}'));
DELETE FROM wide USING simhash_find_duplicates('wide_fp', 0, keep => 'id') d WHERE wide.ctid = d.duplicate AND id > 20000;
SELECT count(*) FROM wide WHERE id > 20000;
ROLLBACK;

-- an error after a parallel search, and one during it, and another search
CREATE FUNCTION caught() RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM count(*) FROM simhash_find_duplicates('wide_fp', 31, same => '1 / (a.id - a.id) = 1');
	RETURN 'no error';
EXCEPTION WHEN division_by_zero THEN
	RETURN (SELECT 'division by zero, then ' || (count(*) > 0) FROM simhash_find_all('wide_fp', 31));
END $$;
SELECT caught();
CREATE FUNCTION caught_in_search() RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	SET LOCAL work_mem = '64kB';
	SET LOCAL temp_file_limit = '100kB';
	PERFORM count(*) FROM simhash_find_all('constant_fp', 128);
	RETURN 'no error';
EXCEPTION WHEN configuration_limit_exceeded THEN
	RETURN (SELECT 'limit exceeded, then ' || (count(*) > 0) FROM simhash_find_clusters('constant_fp', 9));
END $$;
SELECT caught_in_search();

DROP SCHEMA batch_parallel_bits_test CASCADE;
