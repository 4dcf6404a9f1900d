-- Fingerprints of 256 bits for test/bench/compared.  Needs what compared.sql has made.

UPDATE q SET within_31 = (SELECT count(*) FROM t WHERE t.wide <~> q.wide <= 31),
	tenth_wide = (SELECT max(d) FROM (SELECT t.wide <~> q.wide AS d FROM t ORDER BY t.wide <~> q.wide LIMIT 10) n)
WHERE id <= 200;
VACUUM (FULL, FREEZE, ANALYZE) q, t;
CREATE INDEX t_i0 ON t USING simhash (wide);
SET enable_seqscan = off;
SELECT count(*) AS pairs_of_sample FROM sample s JOIN t ON t.wide <~> s.wide <= 31 AND t.id <> s.id \gset
DROP INDEX t_i0;

TRUNCATE ways;
INSERT INTO ways (way, needs, settings, build, indexes, exact, queries, radii, near, nearest, pairs, last) VALUES
('simhash', 'simhash', by_index(), ARRAY['CREATE INDEX t_i0 ON t USING simhash (wide)'], '{t_i0}', true, 200, '{31}',
 'SELECT count(t.h) FROM q JOIN t ON t.wide <~> q.wide <= %1$s WHERE q.id <= %2$s',
 'SELECT count(n.h) FROM q, LATERAL (SELECT h, t.wide <~> q.wide AS d FROM t ORDER BY t.wide <~> q.wide LIMIT 10) n'
 ' WHERE q.id <= %2$s AND n.d <= q.tenth_wide',
 'SELECT count(t.h) FROM sample s JOIN t ON t.wide <~> s.wide <= 31 AND t.id <> s.id', true),
('sequential scan, bit_count', NULL, by_scan(), NULL, NULL, true, 10, '{31}',
 'SELECT count(t.h) FROM q JOIN t ON bit_count(t.w # q.w) <= %1$s WHERE q.id <= %2$s',
 'SELECT count(n.h) FROM q, LATERAL (SELECT h, bit_count(t.w # q.w) AS d FROM t ORDER BY d LIMIT 10) n'
 ' WHERE q.id <= %2$s AND n.d <= q.tenth_wide', NULL, false),
('pgvector, HNSW, ef_search 40', 'vector', by_index() || '{SET hnsw.ef_search = 40}'::text[],
 ARRAY['CREATE INDEX t_i0 ON t USING hnsw (w bit_hamming_ops)'], '{t_i0}', false, 200, '{31}',
 'SELECT count(n.h) FROM q, LATERAL (SELECT h, t.w <~> q.w AS d FROM t ORDER BY t.w <~> q.w LIMIT 40) n'
 ' WHERE q.id <= %2$s AND d <= %1$s',
 'SELECT count(n.h) FROM q, LATERAL (SELECT h, t.w <~> q.w AS d FROM t ORDER BY t.w <~> q.w LIMIT 10) n'
 ' WHERE q.id <= %2$s AND n.d <= q.tenth_wide',
 'SELECT count(n.h) FROM sample s, LATERAL (SELECT id, h, t.w <~> s.w AS d FROM t ORDER BY t.w <~> s.w LIMIT 40) n'
 ' WHERE d <= 31 AND n.id <> s.id', false),
('pgvector, HNSW, ef_search 200', 'vector', by_index() || '{SET hnsw.ef_search = 200}'::text[], NULL, NULL, false, 200, '{31}',
 'SELECT count(n.h) FROM q, LATERAL (SELECT h, t.w <~> q.w AS d FROM t ORDER BY t.w <~> q.w LIMIT 200) n'
 ' WHERE q.id <= %2$s AND d <= %1$s',
 'SELECT count(n.h) FROM q, LATERAL (SELECT h, t.w <~> q.w AS d FROM t ORDER BY t.w <~> q.w LIMIT 10) n'
 ' WHERE q.id <= %2$s AND n.d <= q.tenth_wide',
 'SELECT count(n.h) FROM sample s, LATERAL (SELECT id, h, t.w <~> s.w AS d FROM t ORDER BY t.w <~> s.w LIMIT 200) n'
 ' WHERE d <= 31 AND n.id <> s.id', true),
('pgvector, exact', 'vector', by_scan(), NULL, NULL, true, 10, '{31}',
 'SELECT count(t.h) FROM q JOIN t ON t.w <~> q.w <= %1$s WHERE q.id <= %2$s',
 'SELECT count(n.h) FROM q, LATERAL (SELECT h, t.w <~> q.w AS d FROM t ORDER BY t.w <~> q.w LIMIT 10) n'
 ' WHERE q.id <= %2$s AND n.d <= q.tenth_wide', NULL, false);
CALL plan_jobs('256 bits: ', '{within_31}', :pairs_of_sample);
SELECT calls(:rounds)
\gexec

-- all pairs at once; those of the sample are in both directions
SET enable_seqscan = on;
SET enable_hashjoin = on;
CREATE INDEX t_wide ON t USING simhash (wide);
INSERT INTO jobs (measured, way, repeated, per, statements)
VALUES ('256 bits: all pairs', 'simhash', true, 1, ARRAY['SELECT count(*) FROM simhash_find_all(''t_wide'', 31)']);
SELECT calls(:rounds)
\gexec
SELECT count(*) AS of_sample FROM simhash_find_all('t_wide', 31) p JOIN t ON t.ctid IN (p.a, p.b) WHERE t.id % 100 = 1 \gset
INSERT INTO jobs (measured, way, exact, expected)
VALUES ('256 bits: all pairs of the sample', 'simhash', true, :pairs_of_sample);
INSERT INTO took (measured, way, counted) VALUES ('256 bits: all pairs of the sample', 'simhash', :of_sample);
DROP INDEX t_wide;
CALL require_agreement();
\o
\echo
\echo 'Fingerprints of 256 bits'
SELECT * FROM report('^256') WHERE measured !~ 'sample';
SELECT * FROM sizes('^256');
\o /dev/null
