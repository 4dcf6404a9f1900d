--
-- All pairs and clusters by indexes of several columns, of more rows than fit in memory, and
-- with many rows, values or neighbours of one group
--
CREATE SCHEMA batch_columns_large_test;
SET search_path = batch_columns_large_test, public; SET max_parallel_workers_per_gather = 0; SET client_min_messages = warning;
\pset format unaligned
\pset footer off

--
-- Many groups of a few rows, on many pages that are not in order
--
CREATE TABLE few (id int, tenant int, fp simhash) WITH (autovacuum_enabled = off);
CREATE INDEX few_fp ON few USING simhash (tenant, fp);
INSERT INTO few SELECT i, i / 3, bits('f' || i / 3) # (1::bigint << i % 3 * 20) FROM generate_series(1, 9000) i;
SELECT * FROM compare_batches('few', 'few_fp', '{0,2,4}', 'a.tenant = b.tenant');
-- more than fits in memory
INSERT INTO few SELECT i, i / 3, bits('f' || i / 3) # (1::bigint << i % 3 * 20) FROM generate_series(9001, 40000) i;
SET maintenance_work_mem = '1MB';
SELECT count(*) AS pairs, count(DISTINCT x.tenant) AS tenants, count(*) FILTER (WHERE x.tenant <> y.tenant) AS wrong
FROM simhash_find_all('few_fp', 6) f JOIN few x ON x.ctid = a JOIN few y ON y.ctid = b;
SELECT count(*) AS pairs FROM few x JOIN few y ON x.tenant = y.tenant AND x.id < y.id
	AND distance(x.fp::bigint, y.fp::bigint) <= 6;
RESET maintenance_work_mem;

-- a fingerprint of many rows, few of which are left
CREATE TABLE dead (id int, tenant int, fp simhash) WITH (autovacuum_enabled = off);
INSERT INTO dead SELECT i, i % 5, CASE WHEN i % 2000 < 10 THEN 1 ELSE 0 END FROM generate_series(1, 25000) i;
CREATE INDEX dead_fp ON dead USING simhash (tenant, fp);
DELETE FROM dead WHERE id % 1500 > 5;
SELECT * FROM compare_batches('dead', 'dead_fp', '{0,1,4}', 'a.tenant = b.tenant');

-- many fingerprints with a common prefix, the same ones in all tenants
CREATE TABLE common (id int, tenant text, fp simhash) WITH (autovacuum_enabled = off);
INSERT INTO common SELECT i, 'tenant ' || i / 2 % 5, (bits('c' || i / 10) & x'fffffffffff'::bigint) # i % 2
FROM generate_series(0, 19999) i;
CREATE INDEX common_fp ON common USING simhash (tenant, fp);
SET maintenance_work_mem = '4MB';
SELECT * FROM rows_of($$SELECT r AS radius, count(*) AS pairs, count(*) FILTER (WHERE x.tenant <> y.tenant) AS wrong
FROM unnest('{0,1,3,4}'::int[]) r, simhash_find_all('common_fp', r) f JOIN common x ON x.ctid = a
	JOIN common y ON y.ctid = b GROUP BY r ORDER BY r$$,
	$$SELECT count(*) AS members, min(size), max(size) FROM simhash_find_clusters('common_fp')$$);
-- each fingerprint many times, too
INSERT INTO common SELECT id, tenant, fp FROM common WHERE id < 5000;
INSERT INTO common SELECT id, tenant, fp FROM common WHERE id < 200;
SELECT * FROM (SELECT count(*) AS pairs, count(*) FILTER (WHERE x.tenant <> y.tenant) AS wrong
	FROM simhash_find_all('common_fp', 2) f JOIN common x ON x.ctid = a JOIN common y ON y.ctid = b) a,
	(SELECT sum(n * (n - 1) / 2) AS pairs FROM (SELECT count(*) AS n FROM common GROUP BY tenant, id / 2) s) b;
SELECT size, count(*) AS members FROM simhash_find_clusters('common_fp') GROUP BY size ORDER BY size;
RESET maintenance_work_mem;

-- a collation that ignores case
CREATE COLLATION ignore_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE cased (id int, lang text COLLATE ignore_case, fp simhash);
CREATE INDEX cased_fp ON cased USING simhash (lang, fp);
INSERT INTO cased SELECT i, (ARRAY['en', 'En', 'EN', 'de', 'fr'])[1 + i % 5], flip(bits('c' || i / 20), i % 4, 'f' || i)
FROM generate_series(1, 200) i;
SELECT * FROM compare_batches('cased', 'cased_fp', '{0,3,5}', 'a.lang = b.lang');

-- fingerprints with many neighbours each, found while the rows of others are looked up
CREATE TABLE dense (tenant text, fp simhash) WITH (autovacuum_enabled = off);
INSERT INTO dense SELECT 'tenant ' || t, fp FROM generate_series(0, 19) t, generate_series(0, 2047) fp
ORDER BY bits(t || '/' || fp);
CREATE INDEX dense_fp ON dense USING simhash (tenant, fp);
SELECT count(*) AS pairs, 20 * 11 * 2048 / 2 AS expected, count(*) FILTER (WHERE x.tenant <> y.tenant) AS wrong
FROM simhash_find_all('dense_fp', 1) f JOIN dense x ON x.ctid = a JOIN dense y ON y.ctid = b;
SELECT size, members, count(*) AS tenants, count(DISTINCT tenant) AS different, min(cluster), max(cluster) FROM (
	SELECT tenant, cluster, size, count(*) AS members FROM simhash_find_clusters('dense_fp', 1)
		JOIN dense ON ctid = member GROUP BY 1, 2, 3) s GROUP BY 1, 2;

-- long values: those of the first row of each class are kept as long as there is room, and then read again
CREATE TABLE long (name text, fp simhash);
INSERT INTO long SELECT repeat(md5((i / 2)::text), 20), i % 2 FROM generate_series(1, 8001) i;
CREATE INDEX long_fp ON long USING simhash (name, fp);
SET maintenance_work_mem = '1MB';
SELECT count(*) FROM simhash_find_all('long_fp', 0)
UNION ALL SELECT count(*) FROM simhash_find_all('long_fp')
UNION ALL SELECT count(*) FROM simhash_find_duplicates('long_fp');
SELECT count(*), min(size), max(size), max(cluster) FROM simhash_find_clusters('long_fp');
CREATE TABLE longer (name text, fp simhash);
INSERT INTO longer SELECT repeat('x', 5000) || least(i / 2, 200), 7 FROM generate_series(1, 36000) i;
CREATE INDEX longer_fp ON longer USING simhash (name, fp);
SELECT count(*), min(size), max(size), max(cluster) FROM simhash_find_clusters('longer_fp');
SELECT count(*), count(DISTINCT keeper) AS keepers FROM simhash_find_duplicates('longer_fp');
RESET maintenance_work_mem;
-- two fingerprints that are near each other, with many classes each
CREATE TABLE classes (name int, fp simhash) WITH (autovacuum_enabled = off);
INSERT INTO classes SELECT i / 2, i % 2 FROM generate_series(0, 39999) i ORDER BY bits(i::text);
CREATE INDEX classes_fp ON classes USING simhash (name, fp);
SELECT count(*), count(*) FILTER (WHERE x.name <> y.name) AS wrong
FROM simhash_find_all('classes_fp', 1) f JOIN classes x ON x.ctid = a JOIN classes y ON y.ctid = b;
SELECT count(*), min(size), max(size), max(cluster) FROM simhash_find_clusters('classes_fp', 1);
SELECT count(*), count(DISTINCT keeper) AS keepers, max(distance) FROM simhash_find_duplicates('classes_fp', 1);
-- numbers that the server's hash function does not tell apart, whatever its seed
CREATE TABLE alike (number bigint, fp simhash);
INSERT INTO alike SELECT (i / 2)::bigint << 32 | i / 2, i % 2 FROM generate_series(2, 40001) i;
CREATE INDEX alike_fp ON alike USING simhash (number, fp);
SELECT count(*) FROM simhash_find_all('alike_fp', 1)
UNION ALL SELECT count(*) FROM simhash_find_clusters('alike_fp', 1);
-- an operator that changes its argument in place, of arrays that differ in their bounds alone
CREATE FUNCTION array_of(length int) RETURNS int[] IMMUTABLE LANGUAGE plpgsql AS $$
DECLARE a int[]; BEGIN a[length] := 1; a[length + 1] := 7; RETURN a; END $$;
CREATE FUNCTION same_arrays(a int[], b int[]) RETURNS bool IMMUTABLE STRICT LANGUAGE plpgsql AS $$
BEGIN a[1] := a[1]; b[1] := b[1]; RETURN a = b; END $$;
CREATE OPERATOR === (LEFTARG = int[], RIGHTARG = int[], FUNCTION = same_arrays, COMMUTATOR = ===);
CREATE OPERATOR CLASS changing_ops FOR TYPE int[] USING simhash AS OPERATOR 1 === (int[], int[]),
	FUNCTION 1 hash_array_extended(anyarray, bigint);
CREATE TABLE arrays (length int, fp simhash);
INSERT INTO arrays SELECT i % 10 + 2, 5 FROM generate_series(1, 100) i;
CREATE INDEX arrays_fp ON arrays USING simhash (array_of(length) changing_ops, fp);
SELECT count(*), count(*) FILTER (WHERE x.length <> y.length) AS wrong
FROM simhash_find_all('arrays_fp', 0) f JOIN arrays x ON x.ctid = a JOIN arrays y ON y.ctid = b;
-- clusters are numbered in the order of their first rows, also where columns of one fingerprint differ
CREATE TABLE long_wide (name text, fp simhash_bits(128));
INSERT INTO long_wide SELECT 'many', wide('m', 128) FROM generate_series(1, 40000);
INSERT INTO long_wide SELECT repeat(md5((i / 2)::text), 20), wide('w' || i / 2, 128) FROM generate_series(1, 4001) i;
INSERT INTO long_wide SELECT 'many', wide('z', 128) FROM generate_series(1, 2);
CREATE INDEX long_wide_fp ON long_wide USING simhash (name, fp);
SELECT count(*) AS members, max(cluster) AS clusters, count(DISTINCT (name, size)) AS names,
	count(*) FILTER (WHERE cluster <> rank) AS wrong
FROM (SELECT c.*, l.name, dense_rank() OVER (ORDER BY first) AS rank
	FROM (SELECT *, min(member) OVER (PARTITION BY cluster) AS first FROM simhash_find_clusters('long_wide_fp')) c
		JOIN long_wide l ON l.ctid = member) s;

DROP SCHEMA batch_columns_large_test CASCADE;
