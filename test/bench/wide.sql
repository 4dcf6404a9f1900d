-- Wide fingerprints: build, size and inserts of an index beside one of 64 bits, and
-- look-ups beside a sequential scan.  Half of the queries are a stored fingerprint with up
-- to 31 bits inverted, and must find it.
--
-- usage: psql -X -v rows=1000000 -f test/bench/wide.sql, in a database with the extension;
-- it works in a schema simhash_wide, which it drops.
\set ON_ERROR_STOP on
\if :{?rows}
\else
	\set rows 1000000
\endif
\pset footer off
SET client_min_messages = warning;
DROP SCHEMA IF EXISTS simhash_wide CASCADE;
CREATE SCHEMA simhash_wide;
SET search_path = simhash_wide, public;
SET max_parallel_workers_per_gather = 0;
SET max_parallel_maintenance_workers = 0;
SET maintenance_work_mem = '256MB';
SET jit = off;

CREATE FUNCTION fingerprint(what text) RETURNS simhash_bits LANGUAGE sql IMMUTABLE AS $$
	SELECT sha256(convert_to(what, 'UTF8'))::simhash_bits
$$;
-- n places are drawn with replacement, so at most n bits are inverted
CREATE FUNCTION flip(fp simhash_bits, n int) RETURNS simhash_bits LANGUAGE plpgsql AS $$
DECLARE
	bits varbit := fp::varbit;
	place int;
BEGIN
	FOR i IN 1 .. n LOOP
		place := floor(random() * 256);
		bits := set_bit(bits, place, 1 - get_bit(bits, place));
	END LOOP;
	RETURN bits::simhash_bits;
END $$;

SELECT setseed(0.5);
CREATE TABLE wide (id int, fp simhash_bits(256));
INSERT INTO wide SELECT i, fingerprint(i::text) FROM generate_series(1, :rows) i;
CREATE TABLE narrow AS SELECT id, substr(fp::bytea, 1, 8)::simhash AS fp FROM wide;
CREATE TABLE query AS SELECT i, CASE WHEN i % 2 = 0 THEN flip(fingerprint((i * 97 % :rows + 1)::text), i / 2 % 32)
	ELSE fingerprint('new ' || i) END::simhash_bits(256) AS fp, i % 2 = 0 AS planted
FROM generate_series(1, 2000) i;
VACUUM ANALYZE wide, narrow, query;

CREATE TABLE took (what text, ms float8);
-- the shortest of several runs
CREATE PROCEDURE measure(what text, statement text, per float8 DEFAULT 1, runs int DEFAULT 3) LANGUAGE plpgsql AS $$
DECLARE
	start timestamptz;
	best float8;
BEGIN
	FOR run IN 1 .. runs LOOP
		start := clock_timestamp();
		EXECUTE statement;
		best := least(best, extract(epoch FROM clock_timestamp() - start) * 1000 / per);
	END LOOP;
	INSERT INTO took VALUES (what, best);
END $$;
CALL measure('build, 64 bits', 'DROP INDEX IF EXISTS narrow_fp; CREATE INDEX narrow_fp ON narrow USING simhash (fp)');
CALL measure('build, 256 bits', 'DROP INDEX IF EXISTS wide_fp; CREATE INDEX wide_fp ON wide USING simhash (fp)');
SELECT pg_relation_size('narrow_fp') / :rows AS bytes_a_row_64, pg_relation_size('wide_fp') / :rows AS bytes_a_row_256;

SET enable_seqscan = off;
SET enable_material = off;
SELECT count(*) AS planted_rows, count(w.id) AS found_by_index
FROM query q LEFT JOIN wide w ON w.fp <~> q.fp <= 31 AND w.id = q.i * 97 % :rows + 1 WHERE planted;
EXPLAIN (COSTS OFF) SELECT count(w.id) FROM query q JOIN wide w ON w.fp <~> q.fp <= 31;
CALL measure('look-up within 31', 'SELECT count(w.id) FROM query q JOIN wide w ON w.fp <~> q.fp <= 31', 2000);
CALL measure('look-up within 15', 'SELECT count(w.id) FROM query q JOIN wide w ON w.fp <~> q.fp <= 15', 2000);
CALL measure('look-up within 52', 'SELECT count(w.id) FROM query q JOIN wide w ON w.fp <~> q.fp <= 52 WHERE q.i <= 50', 50);
SET enable_bitmapscan = off;
SET enable_indexscan = off;
SET enable_seqscan = on;
CALL measure('sequential scan within 31', format('SELECT count(id) FROM wide WHERE fp <~> %L <= 31', fingerprint('new 1')));
CALL measure('insert, 64 bits, a row', 'INSERT INTO narrow SELECT 0, fp::bytea::simhash
	FROM (SELECT substr(fingerprint(random()::text)::bytea, 1, 8) AS fp FROM generate_series(1, 20000)) s', 20000);
CALL measure('insert, 256 bits, a row', 'INSERT INTO wide SELECT 0, fingerprint(random()::text) FROM generate_series(1, 20000)', 20000);
SELECT what, round(ms::numeric, 4) AS ms FROM took;
SELECT simhash_index_check('wide_fp', true);
DROP SCHEMA simhash_wide CASCADE;
