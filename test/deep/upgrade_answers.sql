-- What test/deep/upgrade asks before and after: the answers must be the same.
SET enable_seqscan = off;

SELECT 'near', count(*), sum(id) FROM near;
SELECT 'index', count(*), sum(q.id * d.id) FROM docs q JOIN docs d ON d.fp <~> q.fp <= 4 WHERE q.id % 50 = 1;
SELECT 'nulls', id FROM docs WHERE fp IS NULL;
SELECT 'nearest', array_agg(d) FROM (SELECT fp <~> 12345 AS d FROM docs ORDER BY fp <~> 12345 LIMIT 50) s;
SELECT 'pairs', distance, count(*), sum(hashtextextended(format('%s %s', a_fp, b_fp), 1)) FROM pairs GROUP BY distance ORDER BY distance;
SELECT 'pair_count', p.* FROM pair_count p ORDER BY distance;
SELECT 'clusters', count(*), sum(size), sum(hashtextextended(fp::text, 1)) FROM clusters;
SELECT 'balls', count(*), sum(id) FROM docs JOIN balls ON fp <@ ball;
SELECT 'options', relname, reloptions FROM pg_class WHERE relname LIKE 'docs%' ORDER BY relname;
SELECT 'tables', count(*) FROM simhash_index_info('docs_two');

-- no two rows that a constraint forbids, and none that it would let in
SELECT 'kept', count(*), count(fp) FROM kept;
SELECT 'kept', count(*) FROM kept a JOIN kept b ON b.fp % a.fp AND a.ctid < b.ctid;
SELECT 'apart', count(*), count(fp) FROM apart;
SELECT 'apart', count(*) FROM apart a JOIN apart b ON b.fp %% a.fp AND a.ctid < b.ctid;
BEGIN;
INSERT INTO kept SELECT id, fp::bigint # 1 FROM kept WHERE fp IS NOT NULL ON CONFLICT DO NOTHING RETURNING 'let in';
INSERT INTO apart SELECT id, fp::bigint # 21 FROM apart WHERE fp IS NOT NULL ON CONFLICT DO NOTHING RETURNING 'let in';
ROLLBACK;

SELECT 'check', c.relname, simhash_index_check(c.oid::regclass, true)
FROM pg_class c JOIN pg_am a ON a.oid = relam WHERE amname = 'simhash' ORDER BY 2;
