-- Look-ups, builds and all pairs of one table, in several ways.  Needs the
-- functions of fingerprints.sql, and the programs inmemory_plain and
-- inmemory_native in the directory above that of the data.
-- Variables: rows, rounds, share (of the rows, in percent, that the self-join
-- looks up), programs (a list of library and tuned).
\pset footer off
\pset null -
SET client_min_messages = warning;
CREATE EXTENSION simhash;
SET simhash_bench.rows = :rows;

-- Two columns of the same values, one for each side.  Made in parts, so that
-- what the function returns fits into memory.
CREATE TABLE t (h bigint, fp simhash);
SELECT format('INSERT INTO t SELECT h, h FROM make_fingerprints(%s, %s) h',
			  least(10000000, :rows - start), 0.25 + start / 1e10)
FROM generate_series(0, :rows - 1, 10000000) start
ORDER BY start
\gexec
VACUUM (FREEZE, ANALYZE) t;

-- half of the queries are a stored fingerprint with 0 to 3 bits inverted, the
-- other half are random
CREATE TABLE q (id integer, h bigint, fp simhash);
SELECT setseed(0.5) \g /dev/null
INSERT INTO q
SELECT i, h, h
FROM (SELECT i, CASE WHEN i % 2 = 0 THEN flip_bits(t.h, flips) ELSE bits END AS h
	  FROM (SELECT i, floor(random() * 4)::integer AS flips, random_bits() AS bits,
				   format('(%s,%s)', floor(random() * (pg_relation_size('t') / 8192 - 1)),
						  1 + floor(random() * 100))::tid AS place
			FROM generate_series(1, 10000) i) pick
	  JOIN t ON t.ctid = place) made;
VACUUM (FREEZE, ANALYZE) q;

CREATE TABLE took (
	id serial, measured text, way text, seconds float8, cpu float8, counted bigint
);

-- CPU seconds that this process has taken; null where the system does not tell.
-- To read the first file makes the kernel bring the second one up to date.
CREATE FUNCTION cpu_time() RETURNS float8 LANGUAGE plpgsql AS $$
BEGIN
	PERFORM pg_read_file('/proc/self/stat');
	RETURN split_part(pg_read_file('/proc/self/schedstat'), ' ', 1)::float8 / 1e9;
EXCEPTION WHEN OTHERS THEN
	RETURN NULL;
END $$;

-- one round of a query that returns a count, or of another statement; times are
-- divided by the second number
CREATE PROCEDURE measure(measured text, way text, per float8, VARIADIC statements text[])
LANGUAGE plpgsql AS $$
DECLARE
	started timestamptz := clock_timestamp();
	started_cpu float8 := cpu_time();
	statement text;
	counted bigint;
BEGIN
	FOREACH statement IN ARRAY statements LOOP
		IF statement LIKE 'SELECT%' THEN
			EXECUTE statement INTO counted;
		ELSE
			EXECUTE statement;
			COMMIT;
		END IF;
	END LOOP;
	INSERT INTO took (measured, way, seconds, cpu, counted)
	SELECT measured, way, extract(epoch FROM clock_timestamp() - started) / per,
		(cpu_time() - started_cpu) / per, counted;
	COMMIT;
END $$;

-- programs count the CPU time themselves
CREATE PROCEDURE measure_program(way text, program text) LANGUAGE plpgsql AS $$
BEGIN
	CREATE TEMPORARY TABLE IF NOT EXISTS output (name text, value numeric);
	TRUNCATE output;
	EXECUTE format('COPY output FROM PROGRAM %L', program);
	INSERT INTO took (measured, way, cpu, counted)
	SELECT 'pairs', way, s.value, p.value
	FROM output s, output p
	WHERE s.name = 'seconds for pairs' AND p.name = 'pairs';
END $$;

CREATE PROCEDURE require_plan(query text, VARIADIC nodes text[]) LANGUAGE plpgsql AS $$
DECLARE
	line text;
	node text;
	plan text := '';
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		plan := plan || line || E'\n';
	END LOOP;
	FOREACH node IN ARRAY nodes LOOP
		IF strpos(plan, node) = 0 THEN
			RAISE EXCEPTION 'the plan lacks "%"', node USING DETAIL = plan;
		END IF;
	END LOOP;
END $$;

\o /dev/null

-- Builds, a round of each in turn.  Those of the last round stay.
SELECT statement
FROM generate_series(1, :rounds) round,
	unnest(ARRAY[
		'DROP INDEX IF EXISTS t_fp, t_h, t_b0, t_b1, t_b2, t_b3',
		'CHECKPOINT',
		'CALL measure(''build'', ''simhash'', 1, ''CREATE INDEX t_fp ON t USING simhash (fp)'')',
		'CHECKPOINT',
		'CALL measure(''build'', ''one btree'', 1, ''CREATE INDEX t_h ON t (h)'')',
		'DROP INDEX t_h',
		'CHECKPOINT',
		'CALL measure(''build'', ''four btrees'', 1, ''CREATE INDEX t_b0 ON t ((h & 65535))'','
		' ''CREATE INDEX t_b1 ON t (((h >> 16) & 65535))'','
		' ''CREATE INDEX t_b2 ON t (((h >> 32) & 65535))'','
		' ''CREATE INDEX t_b3 ON t (((h >> 48) & 65535))'')'
	]) WITH ORDINALITY s(statement, step)
ORDER BY round, step
\gexec
ANALYZE t;
CHECKPOINT;

-- Look-ups: all queries in one nested loop.  The four btrees get fewer where they
-- take long; on these both must find the same.
SELECT greatest(100, least(10000, 20000000000 / :rows)) AS few,
	   'SELECT count(t.h) FROM q JOIN t ON t.fp <~> q.fp <= 3 WHERE q.id <= %s' AS ours,
	   'SELECT count(t.h) FROM q JOIN t ON ((t.h & 65535) = (q.h & 65535)'
	   ' OR ((t.h >> 16) & 65535) = ((q.h >> 16) & 65535)'
	   ' OR ((t.h >> 32) & 65535) = ((q.h >> 32) & 65535)'
	   ' OR ((t.h >> 48) & 65535) = ((q.h >> 48) & 65535))'
	   ' AND bit_count((t.h # q.h)::bit(64)) <= 3 WHERE q.id <= %s' AS btrees,
	   (SELECT format('SELECT count(h) FROM t WHERE bit_count((h # %s)::bit(64)) <= 3', h)
		FROM q WHERE id = 2) AS scan,
	   'SELECT count(*) FROM t a JOIN t b ON a.fp <~> b.fp <= 3 AND a.ctid < b.ctid'
	   || CASE WHEN :share < 100
			   THEN format(' WHERE a.ctid < ''(%s,0)''', :share * pg_relation_size('t') / 8192 / 100)
			   ELSE '' END AS self_join
\gset
SELECT format(:'ours', 10000) AS ours, format(:'ours', :few) AS ours_few,
	   format(:'btrees', :few) AS btrees \gset

SET enable_seqscan = off;
SET enable_material = off;
SET enable_memoize = off;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
CALL require_plan(:'ours', 'Nested Loop', 'Index Scan using t_fp');
CALL require_plan(:'btrees', 'Nested Loop', 'BitmapOr', 't_b0', 't_b1', 't_b2', 't_b3');
CALL require_plan(:'self_join', 'Nested Loop', 'Index Scan using t_fp');
SELECT format('CALL measure(%L, %L, %s, %L)',
			  CASE WHEN round > 0 THEN 'look-up' ELSE 'warming up' END, way, per, statement)
FROM generate_series(0, :rounds) round,
	(VALUES (1, 'simhash', 10000, :'ours'), (2, 'four btrees', :few, :'btrees'))
		s(place, way, per, statement)
ORDER BY place, round
\gexec
CALL measure('agreement', 'simhash', 1, :'ours_few');
RESET enable_seqscan;
SET enable_indexscan = off;
SET enable_bitmapscan = off;
CALL require_plan(:'scan', 'Seq Scan on t');
SELECT format('CALL measure(''look-up'', ''sequential scan'', 1, %L)', :'scan')
FROM generate_series(1, :rounds)
\gexec
RESET enable_indexscan;
RESET enable_bitmapscan;

-- all pairs of the table
SELECT format('CALL measure(''pairs'', ''simhash'', 1, %L)',
			  'SELECT count(*) FROM simhash_find_all(''t_fp''::regclass)')
FROM generate_series(1, :rounds)
\gexec
SET enable_seqscan = off;
SELECT format('CALL measure(''pairs'', ''self-join'', %s, %L)', :share / 100.0, :'self_join')
FROM generate_series(1, :rounds)
\gexec
RESET enable_seqscan;
SELECT trim(:'programs') <> '' AS any_program \gset
\if :any_program
\copy (SELECT fp FROM t) to 'fingerprints'
SELECT format('CALL measure_program(%L, %L)', way, format('../inmemory_%s -c -r 1 ../fingerprints', program))
FROM generate_series(1, :rounds) round,
	(VALUES (1, 'library', 'plain -l'), (2, 'tuned', 'native')) s(place, name, program),
	LATERAL (VALUES ('in memory, ' || name)) w(way)
WHERE name = ANY (string_to_array(:'programs', ' '))
ORDER BY place, round
\gexec
\endif

\o
SELECT count(DISTINCT counted) FILTER (WHERE measured <> 'pairs') > 1
	   OR :share = 100 AND count(DISTINCT counted) FILTER (WHERE measured = 'pairs') > 1 AS differ
FROM took
WHERE measured = 'agreement' OR (measured = 'look-up' AND way = 'four btrees')
	OR (measured = 'pairs' AND way IN ('simhash', 'self-join'))
\gset
\if :differ
SELECT * FROM took;
DO $$ BEGIN RAISE EXCEPTION 'the ways do not find the same'; END $$;
\endif

CREATE VIEW figures AS
SELECT min(id) AS id, measured, way, min(seconds) AS seconds, min(cpu) AS cpu,
	   count(*) AS rounds, min(counted) AS counted
FROM took WHERE measured IN ('look-up', 'build', 'pairs')
GROUP BY measured, way;
SELECT f.measured, f.way, round((1000 * f.seconds)::numeric, 4) AS "ms",
	   round((1000 * f.cpu)::numeric, 4) AS "ms of CPU",
	   to_char(f.cpu / nullif(s.cpu, 0), 'FM9999990.00') AS "CPU, simhash = 1"
FROM figures f JOIN figures s ON s.measured = f.measured AND s.way = 'simhash'
ORDER BY f.id;
CREATE VIEW csv AS
SELECT current_setting('simhash_bench.rows') AS rows, measured, way,
	   round(seconds::numeric, 9) AS seconds,
	   round(cpu::numeric, 9) AS cpu, rounds, counted
FROM figures ORDER BY id;
\copy (SELECT * FROM csv) to 'figures.csv' csv
