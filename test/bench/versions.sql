-- Tables, and what is measured, for test/bench/versions.  Only what the earlier
-- version has as well, under the same names.
-- Variables: rows, queries, inserts.

CREATE TABLE s (id integer, fp simhash);
CREATE TABLE q (id integer, fp simhash);
CREATE TABLE more (id integer, fp simhash);
CREATE TABLE wide (id integer, fp simhash_bits(256));
CREATE TABLE texts (body text);

INSERT INTO s
SELECT row_number() OVER (), h FROM make_fingerprints(:rows, 0.25) h;
INSERT INTO more
SELECT :rows + row_number() OVER (), h FROM make_fingerprints(:inserts, 0.75) h;
SELECT setseed(0.5) \g /dev/null
INSERT INTO q
SELECT row_number() OVER (),
	   CASE WHEN id % 2 = 0 THEN flip_bits(fp::bigint, id % 4) ELSE random_bits() END
FROM (SELECT id, fp FROM s ORDER BY hamming(fp, 0), id LIMIT :queries) picked;
INSERT INTO texts
SELECT string_agg(md5((i * 1000 + j)::text), ' ') FROM generate_series(1, 500) i, generate_series(1, 200) j
GROUP BY i;
INSERT INTO wide
SELECT i, flip_wide(wide('cluster ' || i / 3), floor(random() * 17)::integer)::simhash_bits(256) FROM generate_series(1, :rows / 4) i;
CREATE INDEX s_fp ON s USING simhash (fp);
CREATE INDEX more_fp ON more USING simhash (fp);
CREATE INDEX wide_fp ON wide USING simhash (fp);
VACUUM ANALYZE;
CHECKPOINT;

CREATE TABLE queries (lookups text, some_lookups text, nearest text, pairs text, clusters text, duplicates text,
	matches text, wide_lookups text, wide_pairs text, texts text);
INSERT INTO queries VALUES (
	'SELECT count(s.id) FROM q JOIN s ON s.fp <~> q.fp <= %s',
	'SELECT count(s.id) FROM (SELECT * FROM q LIMIT 100) q JOIN s ON s.fp <~> q.fp <= %s',
	'SELECT count(n.id) FROM (SELECT * FROM q WHERE id %% 2 = 0 LIMIT %s) q,'
	' LATERAL (SELECT s.id FROM s ORDER BY s.fp <~> q.fp LIMIT %s) n',
	'SELECT count(*) FROM simhash_find_all(''s_fp''::regclass, %s)',
	'SELECT count(*) FROM simhash_find_clusters(''s_fp''::regclass)',
	'SELECT count(*) FROM simhash_find_duplicates(''s_fp''::regclass)',
	'SELECT count(*) FROM simhash_find_matches(''s_fp'', ''more_fp'', 3)',
	'SELECT count(s.id) FROM (SELECT * FROM wide LIMIT 100) q JOIN wide s ON s.fp <~> q.fp <= 20',
	'SELECT count(*) FROM simhash_find_all(''wide_fp''::regclass, 20)',
	'SELECT count(DISTINCT simhash_compute(body)) FROM texts');

ALTER DATABASE postgres SET enable_seqscan = off;
ALTER DATABASE postgres SET enable_hashjoin = off;
ALTER DATABASE postgres SET enable_mergejoin = off;
ALTER DATABASE postgres SET enable_material = off;

-- milliseconds of CPU that a query takes
CREATE FUNCTION time_once(query text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
	started float8 := cpu_time();
BEGIN
	IF started IS NULL THEN
		RAISE EXCEPTION 'this system does not tell the CPU time of a process';
	END IF;
	EXECUTE query;
	RETURN 1000 * (cpu_time() - started);
END $$;

-- the same after it has been run
CREATE FUNCTION time_query(query text) RETURNS float8 LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE query;
	RETURN time_once(query);
END $$;

CREATE PROCEDURE time_build(INOUT ms float8 DEFAULT NULL) LANGUAGE plpgsql AS $$
BEGIN
	ms := time_once('CREATE INDEX s_new ON s USING simhash (fp)');
	DROP INDEX s_new;
END $$;

-- bytes of WAL that a row takes, in the table and in the index; there is no checkpoint
-- after which pages would be logged as a whole
CREATE PROCEDURE wal_of_insert(INOUT bytes float8 DEFAULT NULL) LANGUAGE plpgsql AS $$
DECLARE
	before pg_lsn;
BEGIN
	CREATE TABLE t AS SELECT * FROM s;
	CREATE INDEX ON t USING simhash (fp);
	before := pg_current_wal_insert_lsn();
	INSERT INTO t SELECT * FROM more;
	bytes := (pg_current_wal_insert_lsn() - before) / (SELECT count(*) FROM more);
	DROP TABLE t;
END $$;

CREATE PROCEDURE time_insert(INOUT ms float8 DEFAULT NULL) LANGUAGE plpgsql AS $$
BEGIN
	CREATE TABLE t (id integer, fp simhash);
	CREATE INDEX ON t USING simhash (fp);
	ms := time_once('INSERT INTO t SELECT * FROM more');
	DROP TABLE t;
END $$;

-- a row looks for another one before it is inserted
CREATE PROCEDURE time_constraint(INOUT ms float8 DEFAULT NULL) LANGUAGE plpgsql AS $$
BEGIN
	CREATE TABLE t (id integer, fp simhash, EXCLUDE USING simhash (fp WITH %));
	ms := time_once('INSERT INTO t SELECT * FROM more ON CONFLICT DO NOTHING');
	DROP TABLE t;
END $$;
