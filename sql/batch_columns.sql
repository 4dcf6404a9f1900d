--
-- All pairs and clusters within equal columns: indexes of several columns
--
CREATE SCHEMA batch_columns_test;
SET search_path = batch_columns_test, public; SET max_parallel_workers_per_gather = 0; SET client_min_messages = warning;
\pset format unaligned
\pset footer off
\set SHOW_CONTEXT never
\pset null (none)

--
-- A small one, to read
--
CREATE TABLE small (id int, tenant int, fp simhash);
INSERT INTO small VALUES
	(1, 1, 0), (2, 1, 1), (3, 2, 0), (4, 2, 3), (5, 2, 7), (6, 1, 255), (7, NULL, 0), (8, NULL, 0), (9, 3, 0),
	(10, 3, NULL), (11, 3, NULL), (12, 1, 0);
CREATE INDEX small_fp ON small USING simhash (tenant, fp);
SELECT x.tenant, x.id AS a, y.id AS b, a_fp, b_fp, distance FROM simhash_find_all('small_fp')
	JOIN small x ON x.ctid = a JOIN small y ON y.ctid = b ORDER BY 1, 2, 3;
-- clusters of different values may have the same number
SELECT tenant, cluster, id, f.fp, size FROM simhash_find_clusters('small_fp') f JOIN small ON ctid = member
ORDER BY 1, 2, 3;
SELECT tenant, id, size FROM simhash_find_clusters('small_fp', 0) JOIN small ON ctid = member ORDER BY 1, 2;

--
-- One to three columns, at distances below, at and beyond that of the scheme
--

-- rows near 40 centers, random ones, and many that are equal
CREATE TABLE many (id int, tenant int, lang text, day date, fp simhash, note text)
	WITH (fillfactor = 60, autovacuum_enabled = off);
CREATE INDEX many_1 ON many USING simhash (tenant, fp);
CREATE INDEX many_2 ON many USING simhash (lang, tenant, fp) WITH (blocks = 5, distance = 2);
INSERT INTO many
SELECT i, CASE WHEN i % 31 > 0 THEN bits('t' || i) % 4 END, CASE WHEN i % 37 > 0
	THEN (ARRAY['de', 'en', 'a language with a long name'])[1 + abs(bits('l' || i) % 3)] END,
	date '2024-01-01' + (bits('d' || i) % 2)::int,
	CASE WHEN i % 41 = 0 THEN NULL
		WHEN i <= 500 THEN flip(bits('c' || i / 15), i % 5, 'f' || i)
		WHEN i <= 700 THEN bits('r' || i)
		WHEN i <= 800 THEN 5
		ELSE 5 # (1::bigint << (i % 8) * 8) END, 'new'
FROM generate_series(1, 860) i;
CREATE INDEX many_3 ON many USING simhash (day, lang, tenant, fp) WITH (blocks = 2, distance = 1);
CREATE VIEW many_now AS
SELECT index, r AS radius, c.* FROM (VALUES ('many_1'::regclass, 'a.tenant = b.tenant'),
	('many_2', 'a.tenant = b.tenant AND a.lang = b.lang'),
	('many_3', 'a.tenant = b.tenant AND a.lang = b.lang AND a.day = b.day')) i (index, condition),
	unnest('{0,1,2,3,5}'::int[]) r,
	compare_batch('many', index, r, condition) c ORDER BY index::text, r;
TABLE many_now;
SELECT * FROM compare_batch('small', 'small_fp', 64, 'a.tenant = b.tenant');

-- rows that are deleted, updated, moved to other columns, and not committed
DELETE FROM many WHERE id % 7 = 0;
UPDATE many SET note = 'updated' WHERE id % 7 = 1;
UPDATE many SET tenant = (tenant + 1) % 4 WHERE id % 7 = 2;
UPDATE many SET fp = 4 WHERE id % 7 = 3;
BEGIN;
INSERT INTO many SELECT i, i % 4, 'en', date '2024-01-01', 5, 'aborted' FROM generate_series(901, 950) i;
UPDATE many SET lang = 'de' WHERE id % 7 = 4;
TABLE many_now;
ROLLBACK;
TABLE many_now;
VACUUM many;
SELECT * FROM many_now WHERE radius IN (1, 5);
REINDEX TABLE many;
SELECT * FROM many_now WHERE radius IN (1, 5);

--
-- Values that are equal but not the same, and expressions
--
CREATE TABLE odd (id int, amount numeric, code char(5), name text, big bigint, part uuid, flag bool, fp simhash);
INSERT INTO odd SELECT i, (ARRAY['1', '1.0', '1.000', '2', '-0.5', 'NaN'])[1 + i % 6]::numeric,
	(ARRAY['a', 'a  ', 'b'])[1 + i % 3],
	(ARRAY['One', 'ONE', 'two', NULL])[1 + i % 4] || repeat('!', i % 2 * 3000), (1::bigint << i % 5 * 14),
	md5((i % 4)::text)::uuid, i % 2 = 0, flip(7, i % 4, 'o' || i)
FROM generate_series(1, 60) i;
CREATE INDEX odd_amount ON odd USING simhash (amount, fp);
CREATE INDEX odd_code ON odd USING simhash (code, fp);
CREATE INDEX odd_big ON odd USING simhash (big, fp);
CREATE INDEX odd_part ON odd USING simhash (part, flag, fp);
CREATE INDEX odd_name ON odd USING simhash (lower(name), (big % 3), fp);
SELECT index, c.* FROM (VALUES ('odd_amount'::regclass, 'a.amount = b.amount'), ('odd_code', 'a.code = b.code'),
	('odd_big', 'a.big = b.big'),
	('odd_part', 'a.part = b.part AND a.flag = b.flag'),
	('odd_name', 'lower(a.name) = lower(b.name) AND a.big % 3 = b.big % 3')) i (index, condition),
	compare_batch('odd', index, 3, condition) c ORDER BY index::text;

-- expressions are evaluated as the owner of the table, those of the fingerprint not at all
CREATE ROLE regress_simhash_find_columns;
CREATE FUNCTION tell(tenant int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
	RAISE WARNING 'evaluated as %', current_user;
	RETURN tenant;
END $$;
CREATE FUNCTION tell_fp(fp simhash) RETURNS simhash LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
	RAISE WARNING 'fingerprint';
	RETURN fp;
END $$;
CREATE TABLE owned (tenant int, fp simhash);
CREATE INDEX owned_fp ON owned USING simhash (tell(tenant), tell_fp(fp));
SET client_min_messages = error;
INSERT INTO owned VALUES (1, 0), (1, 1), (2, 5000);
SET client_min_messages = warning;
ALTER TABLE owned OWNER TO regress_simhash_find_columns;
SELECT * FROM simhash_find_all('owned_fp');
SELECT current_user = session_user AS myself;

-- all columns must be readable
GRANT USAGE ON SCHEMA batch_columns_test TO regress_simhash_find_columns;
GRANT SELECT (fp, ctid, tableoid) ON small TO regress_simhash_find_columns;
SET ROLE regress_simhash_find_columns;
SELECT count(*) FROM simhash_find_all('small_fp');
RESET ROLE;
GRANT SELECT (tenant) ON small TO regress_simhash_find_columns;
SET ROLE regress_simhash_find_columns;
SELECT count(*) FROM simhash_find_all('small_fp');
RESET ROLE;

DROP SCHEMA batch_columns_test CASCADE;
DROP ROLE regress_simhash_find_columns;
