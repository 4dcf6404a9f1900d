-- Fingerprints of 256 bits: what growth.sql measures, by an index of the default class.
-- Needs what growth.sql has made, and the functions of wide_fingerprints.sql.
-- Variables: rows, rounds.
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
	   'SELECT sum(n.d) FROM q, LATERAL (SELECT t.fp <~> q.fp AS d FROM t ORDER BY t.fp <~> q.fp LIMIT 10) n'
	   ' WHERE q.id <= 20' AS nearest,
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
CALL require_plan(:'nearest', 'Nested Loop', 'Index Scan using t_fp', 'Order By');
CALL require_plan(:'self_join', 'Nested Loop', 'Index Scan using t_fp');
SELECT format('CALL measure(%L, ''simhash'', %s, NULL, %L)',
			  CASE WHEN round > 0 THEN measured ELSE 'warming up' END, per, statement)
FROM generate_series(0, :rounds) round,
	(VALUES (1, 'look-up 15', 1000, format(:'within', 15, 1000)),
			(2, 'look-up 31', 1000, format(:'within', 31, 1000)),
			(3, 'look-up 52', 100, format(:'within', 52, 100)),
			(4, 'nearest 10', 20, :'nearest'))
		s(place, measured, per, statement)
ORDER BY place, round
\gexec
SELECT format('CALL measure(''agreement'', ''simhash'', 1, %L, %L)', question, format(statement, :'one_fp'))
FROM (VALUES ('one of 256 bits within 31', 'SELECT count(b) FROM t WHERE fp <~> %L <= 31'),
			 ('nearest of one of 256 bits',
			  'SELECT sum(d::integer) FROM (SELECT fp <~> %1$L AS d FROM t ORDER BY fp <~> %1$L LIMIT 10) n'))
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
SELECT 'CALL measure(''pairs 31'', ''simhash'', 1, NULL,'
	   ' ''SELECT count(*) FROM simhash_find_all(''''t_fp''''::regclass, 31)'')'
FROM generate_series(1, :rounds)
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
