--
-- All pairs, a table of the scheme at a time: so that several machines can divide
-- the work
--
CREATE SCHEMA batch_table_no_test;
SET search_path = batch_table_no_test, public; SET max_parallel_workers_per_gather = 0; SET client_min_messages = warning;
\pset format unaligned
\pset footer off
\set SHOW_CONTEXT never
\pset null (none)

-- clusters, equal in many bits, few bits set, repeated ones, nulls
CREATE TABLE docs (id int, fp simhash);
INSERT INTO docs
SELECT i, CASE WHEN i <= 300 THEN flip(bits('c' || i / 6), i % 6, 'f' || i)
			   WHEN i <= 500 THEN (bits('low') & ~4095::bigint) | (bits('l' || i) & 4095)
			   WHEN i <= 600 THEN (1::bigint << i % 64) | (1::bigint << i % 7)
			   WHEN i <= 620 THEN bits('c' || i / 6) END
FROM generate_series(1, 640) i;

-- Of each table: how many pairs are there, and do they differ from those of the
-- whole that agree in its prefix, and in that of no table before it?
CREATE FUNCTION compare(distance int, blocks int, OUT tables bigint, OUT pairs bigint, OUT shares text,
	OUT differences bigint)
LANGUAGE sql AS $$
	WITH array_of AS MATERIALIZED (SELECT array_agg(fp) AS fps FROM docs),
		scheme AS (SELECT coalesce(blocks, distance + 1) AS m, distance AS k),
		mask AS MATERIALIZED (SELECT table_no, prefix_mask FROM scheme, simhash_tables(m, k)),
		whole AS MATERIALIZED (
			SELECT p.a, p.b, p.distance,
				(SELECT min(table_no) FROM mask WHERE (p.a::bit(64) # p.b::bit(64)) & prefix_mask =
					0::bit(64)) AS table_no
			FROM array_of, scheme, simhash_find_all_in(fps, k) p),
		part AS MATERIALIZED (
			SELECT p.a, p.b, p.distance, t.table_no
			FROM array_of, scheme, mask t, simhash_find_all_in(fps, k, blocks, t.table_no) p),
		share AS (SELECT table_no, count(*) AS n FROM part GROUP BY table_no)
	SELECT (SELECT count(*) FROM mask), (SELECT count(*) FROM part),
		(SELECT string_agg(table_no || ': ' || n, ', ' ORDER BY table_no) FROM share WHERE table_no < 6),
		(SELECT count(*) FROM ((TABLE whole EXCEPT ALL TABLE part) UNION ALL (TABLE part EXCEPT ALL TABLE whole)) d)
$$;
SELECT distance, blocks, c.*
FROM (VALUES (0, NULL), (1, NULL), (1, 2), (1, 5), (2, NULL), (2, 4), (3, NULL), (3, 4), (3, 6), (5, NULL), (5, 8),
	(8, NULL), (15, NULL), (15, 16)) v (distance, blocks),
	compare(distance, blocks) c ORDER BY distance, blocks;
-- a distance that is not given is 3
SELECT * FROM (SELECT count(*), count(*) FILTER (WHERE distance > 3)
	FROM simhash_find_all_in((SELECT array_agg(fp) FROM docs), NULL,
	NULL, 1)) a,
	(SELECT (SELECT count(*) FROM simhash_find_all_in(array_agg(fp), table_no => 1)) AS pairs FROM docs) b;
-- all of them where no table is
SELECT count(*) = (SELECT count(*) FROM simhash_find_all_in((SELECT array_agg(fp) FROM docs))) AS same
FROM simhash_find_all_in((SELECT array_agg(fp) FROM docs), 3, 6, NULL);
-- more than memory holds
SET maintenance_work_mem = '1MB';
SELECT sum(n), count(*) FROM generate_series(0, 3) t,
	LATERAL (SELECT count(*) AS n FROM simhash_find_all_in(ARRAY(SELECT bits('m' ||
		i / 2) # ((i % 2)::bigint << i % 60) FROM generate_series(0, 59999) i)::simhash[], 3, 4, t)) p;
RESET maintenance_work_mem;

-- out of range
SELECT arguments, a.state, a.message, a.detail
FROM (VALUES (1, '3, 4, -1'), (2, '3, 4, 4'), (3, '3, 6, 19'), (4, '3, 6, 20'), (5, '3, NULL, 4'), (6, '0, NULL, 0'),
	(7, '0, NULL, 1'),
	(8, '15, NULL, 15'), (9, '16, NULL, 0'), (10, '3, 3, 0'), (11, '3, 4, 2147483647'), (12, '3, NULL, -1'),
	(13, '3, 4, -2147483648')) v (no, arguments),
	attempt(format('SELECT FROM simhash_find_all_in(''{1,2}'', %s)', arguments)) a
ORDER BY no;

DROP SCHEMA batch_table_no_test CASCADE;
