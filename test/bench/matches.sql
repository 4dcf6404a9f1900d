-- Two sets against each other, in three ways.  Needs the functions of
-- fingerprints.sql.  Variables: rows, sizes, rounds.
\pset footer off
SET client_min_messages = warning;
CREATE EXTENSION simhash;

-- The larger set, and of each size a smaller one: one row in four has something near
-- in the larger set.
CREATE TABLE corpus (id integer, fp simhash);
INSERT INTO corpus SELECT row_number() OVER (), h FROM make_fingerprints(:rows, 0.25) h;
CREATE INDEX corpus_fp ON corpus USING simhash (fp);
CREATE TABLE size (n integer, place integer);
INSERT INTO size SELECT n::integer, place FROM string_to_table(:'sizes', ' ') WITH ORDINALITY s(n, place);
SELECT max(n) AS largest FROM size \gset
CREATE TABLE pool (id integer, fp simhash);
INSERT INTO pool
SELECT row_number() OVER (), h
FROM (SELECT h FROM make_fingerprints(:largest - :largest / 4, 0.5) h
	  UNION ALL SELECT flip_bits(fp::bigint, floor(random() * 5)::integer) FROM corpus WHERE id <= :largest / 4
	  ORDER BY 1) s;
-- in no order that is that of the fingerprints
CREATE TABLE mixed AS SELECT row_number() OVER (ORDER BY md5(id::text)) AS id, fp FROM pool;
SELECT format('CREATE TABLE set_%1$s AS SELECT id::integer, fp FROM mixed WHERE id <= %1$s; CREATE INDEX set_%1$s_fp ON set_%1$s USING simhash (fp)', n)
FROM size \gexec
VACUUM (FREEZE, ANALYZE);

CREATE TABLE took (n integer, way text, round integer, seconds float8, found bigint);
CREATE PROCEDURE time_statement(n integer, way text, round integer, statement text) LANGUAGE plpgsql AS $$
DECLARE
	started timestamptz := clock_timestamp();
	found bigint;
BEGIN
	EXECUTE statement INTO found;
	INSERT INTO took SELECT n, way, round, extract(epoch FROM clock_timestamp() - started), found;
END $$;

-- a round of each in turn, so that a slow moment of the machine hits all; round 0
-- warms up and does not count
SET enable_seqscan = off;
SET enable_material = off;
SET enable_memoize = off;
SELECT format('CALL time_statement(%s, %L, %s, %L)', n, way, round, format(statement, n))
FROM generate_series(0, :rounds) round, size,
	 (VALUES ('indexes', 'SELECT count(*) FROM simhash_find_matches(''set_%1$s_fp'', ''corpus_fp'')'),
			 ('array', 'SELECT count(*) FROM simhash_find_matches_in(ARRAY(SELECT fp FROM set_%1$s), ''corpus_fp'') JOIN set_%1$s ON fp = query'),
			 ('join', 'SELECT count(*) FROM set_%1$s x JOIN corpus y ON x.fp <~> y.fp <= 3')) w(way, statement)
ORDER BY round, place, way
\gexec
DELETE FROM took WHERE round = 0;

DO $$
BEGIN
	IF EXISTS (SELECT FROM took GROUP BY n HAVING count(DISTINCT took.found) > 1) THEN
		RAISE EXCEPTION 'not all find equally many pairs';
	END IF;
END $$;
WITH median AS (
	SELECT n, way, percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds) * 1000 AS ms, min(found) AS found
	FROM took GROUP BY n, way)
SELECT i.n AS "rows", i.found AS pairs, round(i.ms::numeric, 2) AS "indexes, ms", round(a.ms::numeric, 2) AS "array, ms",
	round(j.ms::numeric, 2) AS "join, ms", round((j.ms / i.ms)::numeric, 2) AS "join/indexes", round((j.ms / a.ms)::numeric, 2) AS "join/array"
FROM median i JOIN median a USING (n) JOIN median j USING (n)
WHERE i.way = 'indexes' AND a.way = 'array' AND j.way = 'join'
ORDER BY i.n;
