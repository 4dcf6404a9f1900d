-- All pairs and clusters of one table, in several ways.  Needs the functions of
-- fingerprints.sql, and the programs inmemory_plain and, if "native" is on,
-- inmemory_native in the directory above that of the data.
-- Variables: rows, rounds, schemes, native, blocks_join.
\pset footer off
\pset null -
SET client_min_messages = warning;
CREATE EXTENSION simhash;

CREATE TABLE s (id integer, fp simhash);
INSERT INTO s SELECT row_number() OVER (), h FROM make_fingerprints(:rows, 0.25) h;
-- the same as an array, stored as it is, and as a file
CREATE TABLE arrays (fps simhash[]);
ALTER TABLE arrays ALTER fps SET STORAGE EXTERNAL;
INSERT INTO arrays SELECT array_agg(fp ORDER BY id) FROM s;
\copy (SELECT fp FROM s ORDER BY id) to 'fingerprints'

SELECT clock_timestamp() AS started \gset
CREATE INDEX s_fp ON s USING simhash (fp);
SELECT round(extract(epoch FROM clock_timestamp() - :'started'), 2) AS seconds,
	   round(pg_relation_size('s_fp') / 1048576.0) AS size \gset index_
VACUUM (FREEZE, ANALYZE) s;

-- A way to find pairs, clusters, or both.  A program finds both at once.
CREATE TABLE way (
	id serial, what text, program text, pairs text, clusters text, duplicates text,
	through_index boolean DEFAULT false, runs integer
);
INSERT INTO way (what, pairs, clusters, runs)
VALUES ('simhash, index',
		'SELECT count(*) FROM simhash_find_all(''s_fp''::regclass)',
		'SELECT count(*) FROM simhash_find_clusters(''s_fp''::regclass)', :rounds),
	   ('simhash, array',
		'SELECT count(*) FROM simhash_find_all_in((SELECT fps FROM arrays))',
		'SELECT count(*) FROM simhash_find_clusters_in((SELECT fps FROM arrays))', :rounds);
UPDATE way SET duplicates = 'SELECT count(*) FROM simhash_find_duplicates(''s_fp''::regclass)' WHERE what = 'simhash, index';
-- and with an order, which takes the rows and a sort
INSERT INTO way (what, duplicates, runs)
VALUES ('simhash, index, by a column',
		'SELECT count(*) FROM simhash_find_duplicates(''s_fp''::regclass, keep => ''id DESC'')', :rounds);
INSERT INTO way (what, program, runs)
SELECT format('in memory (%s), %s', scheme, how),
	   format('../inmemory_%s -r 1 -s %s ../fingerprints', build, scheme), :rounds
FROM string_to_table(trim('4,3' || :'schemes'), ' ') WITH ORDINALITY s(scheme, n),
	 (VALUES (1, 'plain -l', 'as the library', true), (2, 'plain', 'tuned', true),
			 (3, 'native', 'tuned, native', :'native')) b(place, build, how, there)
WHERE there
ORDER BY n, place;
SELECT (SELECT id FROM way WHERE what = 'in memory (4,3), as the library') AS library,
	   (SELECT id FROM way WHERE what = 'in memory (4,3), tuned') AS tuned \gset way_
INSERT INTO way (what, pairs, through_index, runs)
VALUES ('self-join through the index',
		'SELECT count(*) FROM s a JOIN s b ON a.fp <~> b.fp <= 3 AND a.ctid < b.ctid', true, :rounds);
\if :blocks_join
CREATE TABLE d (id integer, h bigint);
INSERT INTO d SELECT id, fp::bigint FROM s;
VACUUM (FREEZE, ANALYZE) d;
INSERT INTO way (what, pairs, runs)
SELECT 'join on equal 16-bit blocks',
	   'SELECT count(*) FROM (' ||
	   string_agg(format('SELECT a.ctid, b.ctid FROM d a JOIN d b ON ((a.h >> %1$s) & 65535) = ((b.h >> %1$s) & 65535)'
						 ' AND a.ctid < b.ctid AND bit_count((a.h # b.h)::bit(64)) <= 3', shift), ' UNION ' ORDER BY shift)
	   || ') pair', 1
FROM unnest('{0,16,32,48}'::integer[]) shift;
\endif

CREATE TABLE took (way integer, kind text, round integer, seconds float8, found bigint);
CREATE TABLE printed (way integer, round integer, name text, value numeric);
CREATE TABLE output (name text, value numeric);

CREATE PROCEDURE time_statement(way integer, kind text, round integer, statement text)
LANGUAGE plpgsql AS $$
DECLARE
	started timestamptz := clock_timestamp();
	found bigint;
BEGIN
	EXECUTE statement INTO found;
	INSERT INTO took SELECT way, kind, round, extract(epoch FROM clock_timestamp() - started), found;
END $$;

CREATE PROCEDURE run_program(way integer, round integer, program text)
LANGUAGE plpgsql AS $$
BEGIN
	TRUNCATE output;
	EXECUTE format('COPY output FROM PROGRAM %L', program);
	INSERT INTO printed SELECT way, round, name, value FROM output;
	INSERT INTO took
	SELECT way, kind, round, s.value, f.value
	FROM (VALUES ('pairs', 'pairs'), ('clusters', 'members')) k(kind, rows)
	JOIN output s ON s.name = 'seconds for ' || kind
	JOIN output f ON f.name = rows;
END $$;

CREATE PROCEDURE measure(way_id integer, round integer) LANGUAGE plpgsql AS $$
DECLARE
	w way;
	line text;
	plan text := '';
BEGIN
	SELECT * FROM way WHERE id = way_id INTO w;
	-- the plan that is meant, whatever the statistics
	PERFORM set_config('enable_' || node, (NOT w.through_index)::text, true)
	FROM unnest('{seqscan,material,memoize}'::text[]) node;
	IF w.through_index THEN
		FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || w.pairs LOOP
			plan := plan || line || E'\n';
		END LOOP;
		IF plan NOT LIKE '%Nested Loop%Index Scan using s_fp on s%' THEN
			RAISE EXCEPTION 'the plan is not the one meant' USING DETAIL = plan;
		END IF;
	END IF;
	IF w.program IS NOT NULL THEN
		CALL run_program(w.id, round, w.program);
	END IF;
	IF w.pairs IS NOT NULL THEN
		CALL time_statement(w.id, 'pairs', round, w.pairs);
	END IF;
	IF w.clusters IS NOT NULL THEN
		CALL time_statement(w.id, 'clusters', round, w.clusters);
	END IF;
	IF w.duplicates IS NOT NULL THEN
		CALL time_statement(w.id, 'duplicates', round, w.duplicates);
	END IF;
END $$;

-- a round of each in turn, so that a slow moment of the machine hits all; round
-- 0 warms up what needs it and does not count
SELECT format('CALL measure(%s, %s)', id, round)
FROM generate_series(0, :rounds) round, way
WHERE round <= runs AND (round > 0 OR clusters IS NOT NULL OR duplicates IS NOT NULL)
ORDER BY round, id
\gexec
DELETE FROM took WHERE round = 0;

\echo
\echo 'index built in ':index_seconds' s, ':index_size' MB'
\echo
WITH medians AS (
	SELECT way, kind, percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds) AS seconds
	FROM took GROUP BY way, kind
), side_by_side AS (
	SELECT w.id, w.what, p.seconds AS pairs, c.seconds AS clusters, d.seconds AS duplicates
	FROM way w
	LEFT JOIN medians p ON p.way = w.id AND p.kind = 'pairs'
	LEFT JOIN medians c ON c.way = w.id AND c.kind = 'clusters'
	LEFT JOIN medians d ON d.way = w.id AND d.kind = 'duplicates'
)
SELECT s.what AS "measured", round(s.pairs::numeric, 3) AS "pairs, s",
	   round((library.pairs / nullif(s.pairs, 0))::numeric, 2) AS "library = 1",
	   round((tuned.pairs / nullif(s.pairs, 0))::numeric, 2) AS "tuned = 1",
	   round(s.clusters::numeric, 3) AS "clusters, s",
	   round((library.clusters / nullif(s.clusters, 0))::numeric, 2) AS "library = 1",
	   round((tuned.clusters / nullif(s.clusters, 0))::numeric, 2) AS "tuned = 1",
	   round((s.clusters / nullif(s.pairs, 0))::numeric, 2) AS "clusters/pairs",
	   round(s.duplicates::numeric, 3) AS "duplicates, s",
	   round((s.duplicates / nullif(index.pairs, 0))::numeric, 2) AS "duplicates/pairs"
FROM side_by_side s
JOIN side_by_side index ON index.what = 'simhash, index'
JOIN side_by_side library ON library.id = :way_library
JOIN side_by_side tuned ON tuned.id = :way_tuned
ORDER BY s.id;

WITH medians AS (
	SELECT way, name, percentile_cont(0.5) WITHIN GROUP (ORDER BY value::float8)::numeric AS value
	FROM printed GROUP BY way, name
)
SELECT what AS "seconds of the program",
	   round(max(value) FILTER (WHERE name = 'tables')) AS tables,
	   round(max(value) FILTER (WHERE name = 'seconds to permute'), 3) AS permute,
	   round(max(value) FILTER (WHERE name = 'seconds to sort'), 3) AS sort,
	   round(max(value) FILTER (WHERE name = 'seconds to compare'), 3) AS compare,
	   round(max(value) FILTER (WHERE name = 'seconds for the graph'), 3) AS graph,
	   round(max(value) FILTER (WHERE name = 'seconds to make the set'), 3) AS "set (not counted)"
FROM medians JOIN way ON way.id = medians.way
GROUP BY way.id, what ORDER BY way.id;

-- Do they all find the same?  First as a set of values, which is what the
-- program and the array are; then as rows, which equal values multiply.
CREATE TABLE answer (subject text, way text, one numeric, two numeric, three numeric);
CREATE VIEW array_pairs AS SELECT * FROM simhash_find_all_in((SELECT fps FROM arrays));
CREATE VIEW array_clusters AS SELECT * FROM simhash_find_clusters_in((SELECT fps FROM arrays));
CREATE VIEW index_pairs AS
SELECT DISTINCT least(a_fp, b_fp) AS a, greatest(a_fp, b_fp) AS b, distance
FROM simhash_find_all('s_fp'::regclass) WHERE a_fp <> b_fp;
CREATE VIEW index_clusters AS
SELECT cluster, fp
FROM (SELECT cluster, fp, count(*) OVER (PARTITION BY cluster) AS n
	  FROM (SELECT DISTINCT cluster, fp FROM simhash_find_clusters('s_fp'::regclass)) m) m
WHERE n > 1;

SELECT format('INSERT INTO answer SELECT ''pairs of values'', ''simhash, %1$s'', count(*),'
			  ' coalesce(sum(a::numeric + b::numeric) %% 18446744073709551616, 0), coalesce(sum(distance), 0) FROM %1$s_pairs', form),
	   format('INSERT INTO answer SELECT ''clusters of values'', ''simhash, %1$s'', count(DISTINCT cluster),'
			  ' count(*), coalesce(sum(cluster::simhash::numeric) %% 18446744073709551616, 0) FROM %1$s_clusters', form)
FROM unnest('{index,array}'::text[]) form
\gexec
INSERT INTO answer
SELECT DISTINCT subject, what, a.value, b.value, c.value
FROM (VALUES ('pairs of values', 'pairs', 'sum of the pairs', 'sum of the distances'),
			 ('clusters of values', 'clusters', 'members', 'sum of the members'' clusters'))
	 names(subject, one, two, three), way,
	 printed a, printed b, printed c
WHERE a.name = one AND b.name = two AND c.name = three
	AND a.way = way.id AND b.way = way.id AND c.way = way.id
	AND a.round = b.round AND a.round = c.round;

CREATE TABLE counted AS SELECT fp, count(*) AS n FROM s GROUP BY fp;
ANALYZE counted;
INSERT INTO answer (subject, way, one)
SELECT DISTINCT 'pairs of rows', what, found
FROM took JOIN way ON way.id = took.way WHERE kind = 'pairs' AND program IS NULL AND what <> 'simhash, array'
UNION ALL
SELECT 'pairs of rows', 'simhash, array, equal values added',
	   (SELECT coalesce(sum(a.n * b.n), 0)
		FROM array_pairs p JOIN counted a ON a.fp = p.a JOIN counted b ON b.fp = p.b)
	   + (SELECT coalesce(sum(n * (n - 1) / 2), 0) FROM counted);
INSERT INTO answer (subject, way, one, two)
SELECT 'clusters of rows', 'simhash, index', count(DISTINCT cluster), count(*)
FROM simhash_find_clusters('s_fp'::regclass)
UNION ALL
SELECT 'clusters of rows', 'simhash, array, equal values added', count(DISTINCT cluster), coalesce(sum(n), 0)
FROM (SELECT coalesce(c.cluster, v.fp::bigint) AS cluster, n
	  FROM counted v LEFT JOIN array_clusters c ON c.fp = v.fp
	  WHERE c.fp IS NOT NULL OR n > 1) m;

SELECT subject, string_agg(way, E'\n' ORDER BY way) AS "found by", one AS number,
	   CASE WHEN subject LIKE 'clusters%' THEN two END AS members
FROM answer GROUP BY subject, one, two, three ORDER BY subject DESC, 2;
SELECT count(*) > count(DISTINCT subject) AS differ
FROM (SELECT DISTINCT subject, one, two, three FROM answer) a \gset
\if :differ
\echo 'THE ANSWERS DIFFER: do not trust the times'
DO $$ BEGIN RAISE EXCEPTION 'the ways do not agree'; END $$;
\else
\echo 'All agree.'
\endif
