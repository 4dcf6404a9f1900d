-- Searches of whole tables with parallel workers: the same answers as with none.
-- How many workers are started depends on the machine; batch_parallel.pl looks
-- at that.
\pset format unaligned
\pset footer off
CREATE SCHEMA batch_parallel_test;
SET search_path = batch_parallel_test, public; SET min_parallel_index_scan_size = 0; SET client_min_messages = warning;
SET maintenance_work_mem = '16MB';

-- clusters around random centers
CREATE TABLE clustered (id integer, tenant integer, fp simhash);
INSERT INTO clustered SELECT i, i / 8 % 5, flip(bits('c' || i / 4), i % 7, i::text)::simhash FROM generate_series(1, 9000) i;
-- many equal rows, and near those; some deleted, some moved
CREATE TABLE duplicated (id integer, tenant integer, fp simhash);
INSERT INTO duplicated SELECT i, i % 3, (CASE WHEN i % 3 = 0 THEN 77 ELSE 77 # (1::bigint << (i % 9)) END)::simhash
FROM generate_series(1, 600) i;
INSERT INTO duplicated SELECT 1000 + i, i % 3, bits('c' || i)::simhash FROM generate_series(1, 5000) i;
DELETE FROM duplicated WHERE id % 11 = 0;
UPDATE duplicated SET id = id + 1 WHERE id % 13 = 0;
-- most rows in one bucket of each table but one, which is large
CREATE TABLE skewed (id integer, tenant integer, fp simhash);
INSERT INTO skewed SELECT i, i % 2, ((bits('s' || i) & x'0000ffffffffffff'::bigint) | x'1234000000000000'::bigint)::simhash
FROM generate_series(1, 20000) i;
INSERT INTO skewed SELECT 30000 + id, tenant, flip(fp::bigint, id % 5, id::text)::simhash FROM skewed WHERE id % 7 = 0;
INSERT INTO skewed SELECT 40000 + id, tenant, fp FROM clustered WHERE id <= 4000;
DO $$
DECLARE
	t text;
BEGIN
	FOREACH t IN ARRAY '{clustered,duplicated,skewed}'::text[] LOOP
		EXECUTE format('CREATE INDEX %1$s_43 ON %1$s USING simhash (fp)', t);
		EXECUTE format('CREATE INDEX %1$s_62 ON %1$s USING simhash (fp) WITH (blocks = 6, distance = 2)', t);
		EXECUTE format('CREATE INDEX %1$s_tenant ON %1$s USING simhash (tenant, fp)', t);
	END LOOP;
END $$;
SELECT c.* FROM unnest('{clustered,duplicated,skewed}'::text[]) t, (VALUES ('43', '{0,3,9}'::int[]), ('62', '{7}'),
	('tenant', '{3}')) i (i, radii), compare_parallel(searches_of(t || '_' || i, radii), effort(3, 1)) c;

-- memory that does not suffice for the large bucket in each process, and for
-- which entries are sorted
SET maintenance_work_mem = '3MB';
SELECT c.* FROM unnest('{clustered,duplicated,skewed}'::text[]) t, compare_parallel(searches_of(t || '_43', '{3,6}'), effort(3, 1)) c;
SELECT c.* FROM unnest('{clustered,skewed}'::text[]) t, compare_parallel(searches_of(t || '_tenant', '{6}'), effort(3, 1)) c;
SET maintenance_work_mem = '16MB';

-- keep and same
SELECT * FROM compare_parallel(ARRAY[
	$q$SELECT * FROM simhash_find_duplicates('clustered_43', 5, keep => 'id % 10 DESC, id')$q$,
	$q$SELECT * FROM simhash_find_duplicates('clustered_43', 6, same => 'a.tenant = b.tenant OR a.id = b.id + 1')$q$,
	$q$SELECT * FROM simhash_find_clusters('skewed_62', 3, same => 'a.id % 2 = b.id % 2')$q$], effort(3, 1));

-- two sides: equal and different schemes, one large bucket in both, columns
SELECT c.* FROM (VALUES ('clustered_43', 'duplicated_43'), ('skewed_43', 'clustered_43'), ('clustered_62', 'skewed_43'),
	('skewed_tenant', 'clustered_tenant'), ('skewed_62', 'skewed_43')) s (a, b),
	compare_parallel(ARRAY(SELECT format('SELECT * FROM simhash_find_matches(%L, %L, %s)', a, b, d)
		FROM unnest(CASE WHEN (a, b) = ('skewed_62', 'skewed_43') THEN '{1}'::integer[] ELSE '{0,2,3,6}' END) d), effort(3, 1)) c;
CREATE TABLE skewed_too AS SELECT id, tenant, flip(fp::bigint, 2, id::text)::simhash AS fp FROM skewed;
CREATE INDEX skewed_too_43 ON skewed_too USING simhash (fp);
SELECT * FROM compare_parallel(ARRAY(SELECT format('SELECT * FROM simhash_find_matches(''skewed_43'', ''skewed_too_43'', %s)', d)
	FROM unnest('{2,6}'::integer[]) d), effort(3, 1));

-- large buckets of some walks of several
CREATE INDEX skewed_98 ON skewed USING simhash (fp) WITH (blocks = 9, distance = 8);
CREATE INDEX skewed_too_98 ON skewed_too USING simhash (fp) WITH (blocks = 9, distance = 8);
SELECT * FROM compare_parallel(searches_of('skewed_98', '{7}') || $q$SELECT * FROM simhash_find_matches('skewed_98', 'skewed_too_98', 6)$q$::text, effort(3, 1));

-- partitions, one of which has an index of its own
CREATE TABLE parts (id integer, tenant integer, fp simhash) PARTITION BY LIST (tenant);
CREATE TABLE parts_0 PARTITION OF parts FOR VALUES IN (0);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES IN (1);
CREATE TABLE parts_2 PARTITION OF parts DEFAULT;
INSERT INTO parts SELECT * FROM clustered UNION ALL SELECT * FROM skewed WHERE id <= 18000;
CREATE INDEX parts_43 ON parts USING simhash (fp);
CREATE INDEX parts_odd ON parts USING simhash ((id % 2), fp);
CREATE INDEX parts_1_62 ON parts_1 USING simhash (fp) WITH (blocks = 6, distance = 2);
SELECT c.* FROM unnest('{parts_43,parts_odd}'::text[]) i, compare_parallel(searches_of(i, '{0,3,6}'), effort(3, 1)) c;
DROP INDEX parts_43;
CREATE INDEX parts_mixed ON ONLY parts USING simhash (fp);
CREATE INDEX parts_0_43 ON parts_0 USING simhash (fp);
CREATE INDEX parts_2_43 ON parts_2 USING simhash (fp);
ALTER INDEX parts_mixed ATTACH PARTITION parts_0_43;
ALTER INDEX parts_mixed ATTACH PARTITION parts_1_62;
ALTER INDEX parts_mixed ATTACH PARTITION parts_2_43;
SELECT * FROM compare_parallel(searches_of('parts_mixed', '{3,6}'), effort(3, 1));

-- a class that compares the values
CREATE TABLE texts (id integer, body text);
INSERT INTO texts SELECT i, format('this is text number %s of some texts that are nearly alike, as many as %s', i / 3, i % 2)
FROM generate_series(1, 600) i;
CREATE INDEX texts_body ON texts USING simhash (body simhash_text_ops);
SELECT * FROM compare_parallel(ARRAY[$q$SELECT * FROM simhash_find_all('texts_body')$q$,
	$q$SELECT * FROM simhash_find_duplicates('texts_body')$q$, $q$SELECT * FROM simhash_find_clusters('texts_body')$q$], effort(3, 1));

-- functions that must not run in parallel mode: these searches have no workers
CREATE FUNCTION careful(integer) RETURNS integer LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
	BEGIN
		RETURN $1 / ($1 % 2);
	EXCEPTION WHEN division_by_zero THEN
		RETURN 0;
	END;
END $$;
CREATE INDEX clustered_careful ON clustered USING simhash (careful(id), fp);
SELECT * FROM compare_parallel(searches_of('clustered_careful', '{3}'), effort(3, 1));

-- where parallel mode cannot be entered: temporary tables
SET max_parallel_workers_per_gather = 2;
CREATE TEMP TABLE passing AS SELECT * FROM clustered;
CREATE INDEX passing_fp ON passing USING simhash (fp);
SELECT * FROM compare_parallel(searches_of('passing_fp', '{3}'), effort(3, 1));
SELECT count(*) FROM (SELECT simhash_find_all('clustered_43')) s
UNION ALL SELECT count(*) FROM simhash_find_all('clustered_43');
-- in a query that would be parallel otherwise, which would keep the function from catching errors
SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;
SELECT plan('SELECT sum(id) FROM clustered');
SELECT count(*) > 0 AS found, (SELECT sum(id) > 0 FROM clustered) AS rest
FROM simhash_find_duplicates('clustered_43', 3, keep => 'careful(id), id', same => 'careful(a.id) >= 0');
SELECT count(*) > 0 AS found, (SELECT sum(id) > 0 FROM clustered) AS rest
FROM simhash_find_clusters('clustered_43', 3, same => 'careful(a.id) >= 0');
SELECT count(*) > 0 AS found, (SELECT sum(id) > 0 FROM clustered) AS rest FROM simhash_find_all('clustered_careful', 3);
SELECT simhash_index_check('clustered_careful', true), (SELECT sum(id) > 0 FROM clustered) AS rest;
RESET parallel_setup_cost; RESET parallel_tuple_cost; RESET min_parallel_table_scan_size;

-- a transaction that has written sees its own rows, also after a savepoint, and
-- deletes
BEGIN;
INSERT INTO clustered SELECT 20000 + i, 1, bits('n' || i)::simhash FROM generate_series(1, 500) i;
SAVEPOINT s;
INSERT INTO clustered SELECT 30000 + i, 1, bits('n' || i)::simhash FROM generate_series(1, 500) i;
DELETE FROM clustered WHERE id = 20001;
DELETE FROM clustered USING simhash_find_duplicates('clustered_43', 0, keep => 'id') d WHERE clustered.ctid = d.duplicate;
SELECT count(*) FILTER (WHERE id > 30000) AS second, count(*) FILTER (WHERE id BETWEEN 20000 AND 30000) AS first FROM clustered;
ROLLBACK TO s;
SELECT count(*) FROM clustered WHERE id > 20000;
CREATE TABLE new_here AS SELECT * FROM clustered;
CREATE INDEX new_here_fp ON new_here USING simhash (fp);
SELECT * FROM compare_parallel(searches_of('new_here_fp', '{3}'), effort(3, 1));
-- rows that are written while rows are taken, and a search for each of them
INSERT INTO new_here SELECT n.id + 100000, 0, n.fp FROM clustered n,
	LATERAL (SELECT count(*) AS count FROM simhash_find_all('clustered_62', n.id % 3)) f WHERE n.id IN (17, 18, 19) AND f.count > 0;
SELECT count(*) FROM new_here WHERE id > 100000;
ROLLBACK;
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT * FROM compare_parallel(searches_of('clustered_62', '{2}'), effort(3, 1));
COMMIT;

-- in a function of PL/pgSQL that catches errors
CREATE FUNCTION caught() RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM count(*) FROM simhash_find_duplicates('clustered_43', 3, same => '1 / (a.id - a.id) = 1');
	RETURN 'no error';
EXCEPTION WHEN division_by_zero THEN
	RETURN (SELECT 'division by zero, then ' || (count(*) > 0) FROM simhash_find_all('clustered_43', 3));
END $$;
SELECT caught();

-- the same after an error in parallel mode
CREATE FUNCTION caught_in_search() RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	SET LOCAL work_mem = '64kB';
	SET LOCAL temp_file_limit = '100kB';
	PERFORM count(*) FROM simhash_find_all('skewed_43', 12);
	RETURN 'no error';
EXCEPTION WHEN configuration_limit_exceeded THEN
	INSERT INTO clustered VALUES (-1, 1, 4711), (-2, 1, 4711);
	RETURN (SELECT 'limit exceeded, then ' || count(*) FROM simhash_find_duplicates('clustered_43', 0) d
		JOIN clustered ON ctid = duplicate WHERE id < 0);
END $$;
SELECT caught_in_search();

-- functions that parallel mode does not allow: a search does not run the predicate of an
-- index, nor a build hash functions in a worker
CREATE FUNCTION caught(text) RETURNS text IMMUTABLE LANGUAGE plpgsql AS $$
BEGIN
	RETURN lower($1);
EXCEPTION WHEN others THEN
	RETURN NULL;
END $$;
CREATE TABLE partial (grp text, fp simhash);
INSERT INTO partial SELECT 'a', flip(bits((i / 2)::text), i % 2, 'f')::simhash FROM generate_series(1, 20000) i;
CREATE INDEX partial_fp ON partial USING simhash (grp, fp) WHERE grp >= caught('A');
-- forget what CREATE INDEX has evaluated
\c -
SET client_min_messages = warning; SET search_path = batch_parallel_test, public;
SET min_parallel_index_scan_size = 0;
SELECT count(*) >= 9999 AS found FROM simhash_find_all('partial_fp', 10);
CREATE FUNCTION hash_caught(text, bigint) RETURNS bigint IMMUTABLE LANGUAGE plpgsql AS $$
BEGIN
	RETURN hashtextextended(batch_parallel_test.caught($1), $2);
END $$;
CREATE OPERATOR CLASS caught_ops FOR TYPE text USING simhash AS OPERATOR 1 =, FUNCTION 1 hash_caught(text, bigint);
ALTER TABLE partial SET (parallel_workers = 2);
CREATE INDEX partial_hash ON partial USING simhash (grp caught_ops, fp);
SELECT simhash_index_check('partial_hash', true) \gset

DROP SCHEMA batch_parallel_test CASCADE;
