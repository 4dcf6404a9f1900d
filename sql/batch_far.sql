--
-- All pairs at large distances: in memory, and in walks where that is short
--
\pset format unaligned
\pset footer off
CREATE SCHEMA batch_far_test;
SET search_path = batch_far_test, public; SET max_parallel_workers_per_gather = 0; SET client_min_messages = warning;
\set SHOW_CONTEXT never
\pset null (none)

-- up to n bits inverted
CREATE FUNCTION flipped(h bigint, n int, i int) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
	SELECT h # coalesce(bit_or(1::bigint << (i * 29 + k * k * 11 + k * 7) % 64), 0) FROM generate_series(1, n) k
$$;

-- More different ones than 1 MB has room for: random ones, clusters of different
-- width, large ones too, equal in 32 bits, and some of which few bits vary; a
-- column that has few values
CREATE TABLE docs (id int PRIMARY KEY, part int, fp simhash);
INSERT INTO docs
SELECT i, i * 7 % 3,
	CASE WHEN i <= 14500 THEN bits('r' || i)
		 WHEN i <= 18500 THEN flipped(bits('c' || i / 8), i % 14, i)
		 WHEN i <= 20000 THEN flipped(bits('large' || i / 500), 2 + i % 11, i * 13)
		 WHEN i <= 21200 THEN (bits('e' || i) & 4294967295) | (bits('equal') & ~4294967295::bigint)
		 WHEN i <= 21400 THEN bits('few' || i) & x'00f00f00000000ff'::bigint
		 ELSE bits('r' || i / 2)
	END
FROM generate_series(1, 22000) i;
CREATE INDEX docs_fp ON docs USING simhash (fp);
CREATE INDEX docs_part ON docs USING simhash (part, fp);
VACUUM ANALYZE docs;
SELECT count(DISTINCT fp) > 20500 AS many FROM docs;

-- the pairs of some rows, by comparing them with all
CREATE TABLE sample AS SELECT id, ctid AS tid, part, fp::bigint AS h FROM docs
	WHERE id % 311 = 5 OR id BETWEEN 19900 AND 19905 OR id BETWEEN 21380 AND 21385;
CREATE TABLE near AS
SELECT least(s.tid, d.ctid) AS a, greatest(s.tid, d.ctid) AS b, distance(s.h, d.fp::bigint) AS d,
	s.part = d.part AS same
FROM sample s JOIN docs d ON s.tid <> d.ctid AND distance(s.h, d.fp::bigint) <= 16;
SELECT d, count(*) > 10 AS finds FROM near WHERE d > 3 GROUP BY d ORDER BY d;

-- how many pairs a statement finds, their sum, and those of the sample that are
-- missing, or found but not near
CREATE FUNCTION pairs(statement text, radius int, condition boolean,
					  OUT n bigint, OUT total numeric, OUT missing bigint, OUT wrong bigint)
LANGUAGE plpgsql AS $$
BEGIN
	CREATE TEMP TABLE found AS SELECT NULL::tid AS a, NULL::tid AS b, 0 AS distance LIMIT 0;
	EXECUTE 'INSERT INTO found SELECT a, b, distance FROM ' || statement USING radius;
	SELECT count(*), sum((hashtid(f.a)::bigint * 31 + hashtid(f.b)) * (f.distance + 1)) INTO n, total FROM found f;
	WITH wanted AS MATERIALIZED (SELECT DISTINCT w.a, w.b, w.d FROM near w
		WHERE w.d <= radius AND (w.same OR NOT condition)),
		of_sample AS MATERIALIZED (SELECT f.a, f.b, f.distance FROM found f
			WHERE f.a IN (SELECT tid FROM sample) OR f.b IN (SELECT tid FROM sample))
	SELECT (SELECT count(*) FROM (TABLE wanted EXCEPT ALL TABLE of_sample) s),
		(SELECT count(*) FROM (TABLE of_sample EXCEPT ALL TABLE wanted) s) INTO missing, wrong;
	DROP TABLE found;
END $$;
-- the values of arrays, as rows that have them
CREATE FUNCTION values_found(radius int, OUT n bigint, OUT total numeric) LANGUAGE sql AS $$
	SELECT count(*), sum((a::bigint % 1000003) * 31 + b::bigint % 1000003 + distance)
	FROM simhash_find_all_in(ARRAY(SELECT fp FROM docs), radius)
$$;
CREATE TABLE result (how text, memory text, radius int, n bigint, total numeric, missing bigint, wrong bigint);
CREATE PROCEDURE find_all(radii int[]) LANGUAGE plpgsql AS $$
DECLARE
	memory text := current_setting('maintenance_work_mem');
BEGIN
	INSERT INTO result SELECT 'index', memory, r, p.* FROM unnest(radii) r, pairs('simhash_find_all(''docs_fp'', $1)',
		r, false) p;
	INSERT INTO result SELECT 'two columns', memory, r, p.* FROM unnest(radii) r,
		pairs('simhash_find_all(''docs_part'', $1)', r, true) p;
	INSERT INTO result SELECT 'array', memory, r, p.*, 0, 0 FROM unnest(radii) r, values_found(r) p;
END $$;

SET maintenance_work_mem = '16MB';
CALL find_all('{4,6,8,10,14}');
SET maintenance_work_mem = '1MB';
-- from 16 on there is no scheme: what does not fit is searched in chunks
CALL find_all('{4,6,10,14,16}');
SET maintenance_work_mem = '16MB';
CALL find_all('{16}');
RESET maintenance_work_mem;

SELECT how, radius, count(*) AS ways, count(DISTINCT (n, total)) AS answers, min(n) > 1000 AS many,
	sum(missing) AS missing, sum(wrong) AS wrong
FROM result GROUP BY how, radius ORDER BY how, radius;
-- more at each distance
SELECT how, bool_and(n > before) AS more
FROM (SELECT how, n, lag(n) OVER (PARTITION BY how ORDER BY radius) AS before FROM result WHERE memory = '16MB') r
GROUP BY how ORDER BY how;

DROP SCHEMA batch_far_test CASCADE;
