-- Look-ups, builds, inserts and searches of one table, in several ways.
-- Needs the functions of fingerprints.sql, measure.sql and blocks.sql, and the programs inmemory_plain
-- and inmemory_native in the directory above that of the data.
-- Variables: rows, rounds, distances (of the pairs, besides 3), share (of the
-- rows, in percent, that the self-join looks up), programs (a list of library,
-- tuned and far), schemes (of indexes besides the default one).
\pset footer off
\pset null -
SET client_min_messages = warning;
CREATE EXTENSION simhash;
SET simhash_bench.rows = :rows;
SET simhash_bench.bits = 64;
ALTER TABLE took ADD bits integer DEFAULT current_setting('simhash_bench.bits')::integer;

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

\o /dev/null

-- Builds, a round of each in turn, with the size of what was built.  Those of the
-- last round stay.
SELECT statement
FROM generate_series(1, :rounds) round,
	unnest(ARRAY[
		'DROP INDEX IF EXISTS t_fp, t_h',
		'CHECKPOINT',
		'CALL measure(''build'', ''simhash'', 1, NULL, ''CREATE INDEX t_fp ON t USING simhash (fp)'','
		' ''SELECT pg_relation_size(''''t_fp'''')'')',
		'CHECKPOINT',
		'CALL measure(''build'', ''one btree'', 1, NULL, ''CREATE INDEX t_h ON t (h)'','
		' ''SELECT pg_relation_size(''''t_h'''')'')'
	]) WITH ORDINALITY s(statement, step)
ORDER BY round, step
\gexec
ANALYZE t;
CHECKPOINT;

-- Look-ups: all queries in one nested loop, or the first ones where they take
-- long.
SELECT 'SELECT count(t.h) FROM q JOIN t ON t.fp <~> q.fp <= %s WHERE q.id <= %s' AS within,
	   'SELECT count(n.h) FROM q, LATERAL (SELECT h FROM t ORDER BY t.fp <~> q.fp LIMIT 10) n'
	   ' WHERE q.id <= 1000' AS nearest,
	   'SELECT count(*) FROM t a JOIN t b ON a.fp <~> b.fp <= 3 AND a.ctid < b.ctid'
	   || CASE WHEN :share < 100
			   THEN format(' WHERE a.ctid < ''(%s,0)''', :share * pg_relation_size('t') / 8192 / 100)
			   ELSE '' END AS self_join,
	   h AS one
FROM q WHERE id = 2
\gset
SELECT format(:'within', 3, 10000) AS within_3 \gset

SET enable_seqscan = off;
SET enable_material = off;
SET enable_memoize = off;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
CALL require_plan(:'within_3', 'Nested Loop', 'Index Scan using t_fp');
CALL require_plan(:'nearest', 'Nested Loop', 'Index Scan using t_fp', 'Order By');
CALL require_plan(:'self_join', 'Nested Loop', 'Index Scan using t_fp');
SELECT format('CALL measure(%L, ''simhash'', %s, %L, %L)',
			  CASE WHEN round > 0 THEN measured ELSE 'warming up' END, per,
			  CASE WHEN place = 3 THEN 'all within 3' END, statement)
FROM generate_series(0, :rounds) round,
	(SELECT radius, 'look-up ' || radius, queries, format(:'within', radius, queries)
	 FROM (VALUES (3, 10000), (6, 1000), (7, 1000), (8, 1000), (10, 1000), (11, 1000)) r(radius, queries)
	 UNION ALL VALUES (12, 'nearest 10', 1000, :'nearest')) s(place, measured, per, statement)
ORDER BY place, round
\gexec

-- Multi-index hashing by btrees: each kind is built, asked, and dropped.  Beyond 3 bits it
-- answers fewer queries.  A covering one is scanned alone, and has a further column.
CREATE FUNCTION measure_blocks(way text, n integer, further text, rounds integer) RETURNS SETOF text LANGUAGE sql AS $$
	SELECT unnest(ARRAY['DROP INDEX IF EXISTS t_b0, t_b1, t_b2, t_b3', 'CHECKPOINT',
		format('CALL measure(''build'', %L, 1, NULL, VARIADIC %L::text[])', way, block_indexes('t', 't_b', n, further)
			   || 'SELECT sum(pg_relation_size(oid)) FROM pg_class WHERE relname ~ ''^t_b\d$'''::text)])
	FROM generate_series(1, rounds)
	UNION ALL
	SELECT 'ANALYZE t'
	UNION ALL
	SELECT unnest(ARRAY[format('CALL require_plan(%L, ''Nested Loop'', %L)', statement,
							   CASE WHEN further IS NULL THEN 'BitmapOr' ELSE 'Index Only Scan using t_b1' END),
						format('CALL measure(''warming up'', NULL, 1, NULL, %L)', statement)]
				  || array_fill(format('CALL measure(''look-up %s'', %L, %s, ''first %3$s within %1$s'', %4$L)', radius, way,
									   queries, statement), ARRAY[rounds]))
	FROM (VALUES (3, 1), (7, 20), (8, 20), (11, 20)) r(radius, slow),
		LATERAL (SELECT least(10000, 2e10 / current_setting('simhash_bench.rows')::float8)::integer / slow) q(queries),
		LATERAL (SELECT CASE WHEN further IS NULL THEN format('SELECT count(t.h) FROM q JOIN t ON %s', by_bitmaps(radius, n))
						ELSE format('SELECT count(t.h) FROM q, LATERAL (%s) t', by_covering(radius, n, 'h, ' || further)) END
						|| ' WHERE q.id <= ' || queries) s(statement)
$$;
SELECT measure_blocks('four btrees', 4, NULL, :rounds)
\gexec
SELECT measure_blocks('four covering btrees', 4, 'fp', :rounds)
\gexec
SELECT measure_blocks('three covering btrees', 3, 'fp', :rounds)
\gexec
DROP INDEX t_b0, t_b1, t_b2;
SELECT DISTINCT format('CALL measure(''agreement'', ''simhash'', 1, %L, %L)', question,
					   format(:'within', split_part(question, ' ', 4), split_part(question, ' ', 2)))
FROM took WHERE question ~ '^first'
\gexec

-- One query is enough for the sequential scans, since each reads all rows.  The
-- nearest agree in the sum of their distances; of rows that are equally far, any
-- may be among them.
SELECT format('CALL measure(''agreement'', ''simhash'', 1, %L, %L)', question, format(statement, :one))
FROM (VALUES ('one within 3', 'SELECT count(h) FROM t WHERE fp <~> %s <= 3'),
			 ('one within 8', 'SELECT count(h) FROM t WHERE fp <~> %s <= 8'),
			 ('nearest of one',
			  'SELECT sum(d::integer) FROM (SELECT fp <~> %1$s AS d FROM t ORDER BY fp <~> %1$s LIMIT 10) n'))
		s(question, statement)
\gexec
RESET enable_seqscan;
SET enable_indexscan = off;
SET enable_bitmapscan = off;
SELECT format('CALL require_plan(%L, ''Seq Scan on t'')', format(statement, :one)),
	   format('CALL measure(%L, ''sequential scan'', 1, %L, %L)', measured, question, format(statement, :one))
FROM generate_series(1, :rounds) round,
	(VALUES (1, 'look-up 3', 'one within 3', 'SELECT count(h) FROM t WHERE bit_count((h # %s)::bit(64)) <= 3'),
			(2, 'look-up 8', 'one within 8', 'SELECT count(h) FROM t WHERE bit_count((h # %s)::bit(64)) <= 8'),
			(3, 'nearest 10', 'nearest of one',
			 'SELECT sum(d) FROM (SELECT bit_count((h # %s)::bit(64)) AS d FROM t ORDER BY d LIMIT 10) n'))
		s(place, measured, question, statement)
ORDER BY place, round
\gexec
RESET enable_indexscan;
RESET enable_bitmapscan;

-- all pairs of the table
SELECT format('CALL measure(%L, ''simhash'', 1, %L, %L)', 'pairs ' || distance, 'pairs within ' || distance,
			  format('SELECT count(*) FROM simhash_find_all(''t_fp''::regclass, %s)', distance))
FROM generate_series(1, :rounds) round, regexp_split_to_table(trim('3 ' || :'distances'), ' +') distance
ORDER BY distance::integer, round
\gexec
SET enable_seqscan = off;
SELECT format('CALL measure(''pairs 3'', ''self-join'', %s, %L, %L)',
			  :share / 100.0, CASE WHEN :share = 100 THEN 'pairs within 3' END, :'self_join')
FROM generate_series(1, :rounds)
\gexec

-- clusters and duplicates, and matches of smaller sets, of which every fourth row has something near
SELECT format('CALL measure(%L, %L, 1, NULL, %L)', measured, way, statement)
FROM generate_series(1, :rounds) round,
	(VALUES (1, 'clusters 3', 'simhash', 'SELECT count(*) FROM simhash_find_clusters(''t_fp''::regclass)'),
			(2, 'duplicates 3', 'simhash', 'SELECT count(*) FROM simhash_find_duplicates(''t_fp''::regclass)'),
			(3, 'duplicates 3', 'by a column',
			 'SELECT count(*) FROM simhash_find_duplicates(''t_fp''::regclass, keep => ''h DESC'')'))
		s(place, measured, way, statement)
ORDER BY place, round
\gexec
SELECT setseed(0.625) \g /dev/null
SELECT unnest(ARRAY[
	format('CREATE TABLE set_%1$s AS SELECT h::simhash AS fp FROM (SELECT CASE WHEN row_number() OVER () %% 4 = 0'
		   ' THEN flip_bits(h, floor(random() * 5)::integer) ELSE random_bits() END AS h FROM t LIMIT %1$s) m', n),
	format('CREATE INDEX set_%1$s_fp ON set_%1$s USING simhash (fp)', n),
	format('VACUUM (FREEZE, ANALYZE) set_%s', n)])
FROM (SELECT :rows / part AS n FROM unnest('{1000,100,5}'::integer[]) part) n
\gexec
SET enable_hashjoin = on;
SELECT format('CALL measure(''matches of %1$s'', %2$L, 1, ''matches of %1$s'', %3$L)', n, way, format(statement, n))
FROM generate_series(1, :rounds) round, (SELECT :rows / part AS n FROM unnest('{1000,100,5}'::integer[]) part) n,
	(VALUES (1, 'simhash', 'SELECT count(*) FROM simhash_find_matches(''set_%1$s_fp'', ''t_fp'')'),
			(2, 'simhash, of an array', 'SELECT count(*) FROM simhash_find_matches_in(''t_fp'', ARRAY(SELECT fp FROM set_%1$s))'
			 ' JOIN set_%1$s ON fp = query'),
			(3, 'join', 'SELECT count(*) FROM set_%1$s x JOIN t ON x.fp <~> t.fp <= 3')) s(place, way, statement)
ORDER BY n, place, round
\gexec

-- The best SQL for pairs within 8, with four blocks or three, up to a million rows: of some rows, and of one, to know
-- what does not grow with them.
SET enable_hashjoin = on;
SELECT least(1, 1e10 / (:rows::float8 * :rows)) AS part, :rows <= 1000000 AS not_too_many \gset
\if :not_too_many
SELECT format('CALL measure(''agreement'', ''joins of %s, %s'', 1, %L, %L)', way, n, question,
			  by_joins(8, n, format('t.ctid < ''%s''', up_to)))
FROM (VALUES ('some', CASE WHEN :part = 1 THEN 'pairs within 8' END,
			  format('(%s,0)', ceil(:part * pg_relation_size('t') / 8192))), ('one', NULL, '(0,2)')) s(way, question, up_to),
	(VALUES (4), (3)) b(n)
\gexec
INSERT INTO took (measured, way, seconds, cpu)
SELECT 'pairs 8', 'hash joins of blocks', o.seconds + (s.seconds - o.seconds) / :part, o.cpu + (s.cpu - o.cpu) / :part
FROM took s JOIN took o ON o.way = replace(s.way, 'some', 'one') WHERE s.way ~ '^joins of some';
\endif
SET enable_hashjoin = off;
SELECT trim(:'programs') <> '' AS any_program \gset
\if :any_program
\copy (SELECT fp FROM t) to 'fingerprints'
SELECT format('CALL measure_program(%L, %L, %L)', measured, 'in memory, ' || way,
			  format('../inmemory_%s ../fingerprints', program))
FROM generate_series(1, :rounds) round,
	(VALUES (1, 'library', 'pairs 3', 'library', 'plain -l'), (2, 'tuned', 'pairs 3', 'tuned', 'native'),
			(3, 'far', 'pairs 8', 'tuned', 'native -s 9,8'))
		s(place, name, measured, way, program)
WHERE name = ANY (string_to_array(:'programs', ' '))
ORDER BY place, round
\gexec
\endif

-- Inserts of random fingerprints into copies of the table, heap and index together: first
-- without an index, then with one that was just built.
CREATE TABLE more AS SELECT h, h::simhash AS fp FROM (SELECT random_bits() AS h FROM generate_series(1, :rows / 50)) m;
CREATE FUNCTION measure_inserts(way text, index_options text, rounds integer) RETURNS SETOF text LANGUAGE sql AS $$
	SELECT statement
	FROM generate_series(1, rounds) round,
		unnest(ARRAY[
			'CREATE TABLE grown AS TABLE t',
			'CREATE INDEX ON grown USING simhash (fp) ' || index_options,
			format('CALL measure(''insert'', %L, %s, NULL, ''INSERT INTO grown SELECT * FROM more'')', way,
				   (SELECT count(*) FROM more)),
			'DROP TABLE grown']) WITH ORDINALITY s(statement, step)
	WHERE statement IS NOT NULL
	ORDER BY round, step
$$;
SELECT measure_inserts('no index', NULL, :rounds)
\gexec
SELECT measure_inserts('simhash', '', :rounds)
\gexec

-- other schemes, each in place of the default index
SELECT statement
FROM string_to_table(:'schemes', ' ') WITH ORDINALITY s(scheme, place),
	generate_series(1, 2 * :rounds + 1) round,
	unnest(CASE WHEN round <= :rounds
		   THEN ARRAY['DROP INDEX IF EXISTS t_fp',
					  'CHECKPOINT',
					  format('CALL measure(''build'', %L, 1, NULL, %L, ''SELECT pg_relation_size(''''t_fp'''')'')',
							 'simhash ' || scheme,
							 format('CREATE INDEX t_fp ON t USING simhash (fp) WITH (blocks = %s, distance = %s)',
									split_part(scheme, ',', 1), split_part(scheme, ',', 2)))]
		   ELSE ARRAY[format('CALL measure(%L, %L, 10000, ''all within 3'', %L)',
							 CASE WHEN round > :rounds + 1 THEN 'look-up 3' ELSE 'warming up' END,
							 'simhash ' || scheme, :'within_3')] END) WITH ORDINALITY o(statement, step)
ORDER BY place, round, step
\gexec
SELECT measure_inserts('simhash ' || scheme, format('WITH (blocks = %s, distance = %s)',
													split_part(scheme, ',', 1), split_part(scheme, ',', 2)), :rounds)
FROM string_to_table(:'schemes', ' ') scheme
\gexec
RESET enable_seqscan;

-- The same with fingerprints of 256 bits, by an index of the default class
SET simhash_bench.bits = 256;
DROP TABLE t, q, more;

-- Clusters as those of 64 bits are, with up to 16 bits inverted, which lie beside each
-- other.  A column for each side: fp, and b for the server's own type.
CREATE TABLE t (b bit(256), fp simhash_bits(256));
SELECT setseed(0.25) \g /dev/null
INSERT INTO t
SELECT b, b::simhash_bits(256)
FROM (SELECT flip_wide(wide('cluster ' || count(*) FILTER (WHERE first) OVER (ORDER BY i)),
					   CASE WHEN alone THEN 0 ELSE floor(random() * 17)::integer END) AS b
	  FROM (SELECT i, first, first AND coalesce(lead(first) OVER (ORDER BY i), true) AS alone
			FROM (SELECT i, bit_count((h # lag(h, 1, ~h) OVER (ORDER BY i))::bit(64)) > 8 AS first
				  FROM make_fingerprints(:rows, 0.25) WITH ORDINALITY f(h, i)) f) f) made;
VACUUM (FREEZE, ANALYZE) t;

-- half of the queries are a stored fingerprint with up to 15 bits inverted, the others are
-- random
CREATE TABLE q AS
SELECT i AS id, b, b::simhash_bits(256) AS fp
FROM (SELECT i, CASE WHEN i % 2 = 0 THEN flip_wide(t.b, floor(random() * 16)::integer) ELSE wide('query ' || i) END AS b
	  FROM (SELECT i, format('(%s,1)', floor(random() * (pg_relation_size('t') / 8192)))::tid AS place
			FROM generate_series(1, 1000) i OFFSET 0) pick
	  JOIN t ON t.ctid = place) made
ORDER BY id;
VACUUM (FREEZE, ANALYZE) q;

SELECT statement
FROM generate_series(1, :rounds) round,
	unnest(ARRAY[
		'DROP INDEX IF EXISTS t_fp',
		'CHECKPOINT',
		'CALL measure(''build'', ''simhash'', 1, NULL, ''CREATE INDEX t_fp ON t USING simhash (fp)'','
		' ''SELECT pg_relation_size(''''t_fp'''')'')']) WITH ORDINALITY s(statement, step)
ORDER BY round, step
\gexec
CHECKPOINT;

-- Look-ups as those of 64 bits.  The rows of the first hundredth of the pages are looked up
-- for the self-join, whose time is multiplied.
SELECT 'SELECT count(t.b) FROM q JOIN t ON t.fp <~> q.fp <= %s WHERE q.id <= %s' AS within,
	   format('''(%s,0)''::tid', greatest(1, pg_relation_size('t') / 8192 / 100)) AS sample_end,
	   b AS one, fp AS one_fp
FROM q WHERE id = 2
\gset
SELECT 'SELECT count(*) FROM t a JOIN t b ON a.fp <~> b.fp <= 31 AND a.ctid < b.ctid WHERE a.ctid < ' || :'sample_end'
	   AS self_join,
	   count(*)::float8 / :rows AS share
FROM t WHERE ctid < :sample_end
\gset
SET enable_seqscan = off;
CALL require_plan(format(:'within', 31, 1000), 'Nested Loop', 'Index Scan using t_fp');
CALL require_plan(:'self_join', 'Nested Loop', 'Index Scan using t_fp');
SELECT format('CALL measure(%L, ''simhash'', %s, NULL, %L)',
			  CASE WHEN round > 0 THEN measured ELSE 'warming up' END, per, statement)
FROM generate_series(0, :rounds) round,
	(VALUES (0, 'look-up 2', 1000, format(:'within', 2, 1000)),
			(1, 'look-up 15', 1000, format(:'within', 15, 1000)),
			(2, 'look-up 31', 1000, format(:'within', 31, 1000)),
			(3, 'look-up 52', 100, format(:'within', 52, 100)))
		s(place, measured, per, statement)
ORDER BY place, round
\gexec
SELECT format('CALL measure(''agreement'', ''simhash'', 1, %L, %L)', question, format(statement, :'one_fp'))
FROM (VALUES ('one of 256 bits within 31', 'SELECT count(b) FROM t WHERE fp <~> %L <= 31'))
		s(question, statement)
\gexec
RESET enable_seqscan;
SET enable_indexscan = off;
SET enable_bitmapscan = off;
SELECT format('CALL require_plan(%L, ''Seq Scan on t'')', statement),
	   format('CALL measure(%L, %L, 1, %L, %L)', measured, way, question, statement)
FROM generate_series(1, :rounds) round,
	(VALUES (1, 'look-up 31', 'sequential scan', 'one of 256 bits within 31',
			 format('SELECT count(b) FROM t WHERE bit_count(b # %L) <= 31', :'one')),
			(2, 'look-up 31', 'sequential scan with <~>', 'one of 256 bits within 31',
			 format('SELECT count(b) FROM t WHERE fp <~> %L <= 31', :'one_fp')),
			(3, 'nearest 10', 'sequential scan', 'nearest of one of 256 bits',
			 format('SELECT sum(d) FROM (SELECT bit_count(b # %L) AS d FROM t ORDER BY d LIMIT 10) n', :'one')),
			(4, 'nearest 10', 'sequential scan with <~>', 'nearest of one of 256 bits',
			 format('SELECT sum(d) FROM (SELECT fp <~> %L AS d FROM t ORDER BY d LIMIT 10) n', :'one_fp')))
		s(place, measured, way, question, statement)
ORDER BY place, round
\gexec
RESET enable_indexscan;
RESET enable_bitmapscan;

-- all pairs
SELECT format('CALL measure(%L, ''simhash'', 1, NULL, %L)', 'pairs ' || distance,
			  format('SELECT count(*) FROM simhash_find_all(''t_fp''::regclass, %s)', distance))
FROM generate_series(1, :rounds) round, (VALUES (2), (8), (31)) d(distance)
ORDER BY distance, round
\gexec
SET enable_seqscan = off;
SELECT format('CALL measure(''pairs 31'', ''self-join'', %s, ''pairs within 31 of some rows'', %L)', :share, :'self_join')
FROM generate_series(1, :rounds)
\gexec
RESET enable_seqscan;
SELECT format('CALL measure(''agreement'', ''simhash'', 1, ''pairs within 31 of some rows'', %L)',
			  'SELECT count(*) FROM simhash_find_all(''t_fp''::regclass, 31) WHERE least(a, b) < ' || :'sample_end')
\gexec

CREATE TABLE more AS
SELECT b, b::simhash_bits(256) AS fp FROM (SELECT wide('more ' || i) AS b FROM generate_series(1, :rows / 50) i) m;
SELECT measure_inserts('no index', NULL, :rounds)
\gexec
SELECT measure_inserts('simhash', '', :rounds)
\gexec

-- The report.  The run ends if two ways have not found the same.
\o
SELECT count(*) > 0 AS differ
FROM (SELECT FROM took WHERE question IS NOT NULL GROUP BY question HAVING count(DISTINCT counted) > 1) q
\gset
\if :differ
SELECT * FROM took WHERE question IS NOT NULL ORDER BY question, id;
DO $$ BEGIN RAISE EXCEPTION 'the ways do not find the same'; END $$;
\endif

CREATE VIEW figures AS
SELECT min(id) AS id, bits, measured, way, min(seconds) AS seconds, min(cpu) AS cpu,
	   count(*) AS rounds, min(counted) AS counted
FROM took WHERE measured NOT IN ('warming up', 'agreement')
GROUP BY bits, measured, way;
SELECT f.bits, f.measured, f.way, round((1000 * f.seconds)::numeric, 4) AS "ms",
	   round((1000 * f.cpu)::numeric, 4) AS "ms of CPU",
	   to_char(f.cpu / nullif(s.cpu, 0), 'FM9999990.00') AS "CPU, simhash = 1"
FROM figures f JOIN figures s ON s.bits = f.bits AND s.measured = f.measured AND s.way = 'simhash'
ORDER BY f.id;
CREATE VIEW csv AS
SELECT current_setting('simhash_bench.rows') AS rows, bits, measured, way,
	   round(seconds::numeric, 9) AS seconds,
	   round(cpu::numeric, 9) AS cpu, rounds, counted
FROM figures ORDER BY id;
\copy (SELECT * FROM csv) to 'figures.csv' csv
