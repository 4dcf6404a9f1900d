-- What must be the same before and after, of what many.sql made.
SET search_path = public, ext;
SET enable_seqscan = off;

SELECT 'look-ups', count(*), sum(q.id::bigint * m.id) FROM many q JOIN many m ON m.fp <~> q.fp <= 4 WHERE q.id % 50 = 1;
SELECT 'nearest', array_agg(d) FROM (SELECT fp <~> 12345 AS d FROM many ORDER BY fp <~> 12345 LIMIT 50) s;
SELECT 'all_pairs', distance, count(*), md5(string_agg(pair, ',' ORDER BY pair COLLATE "C"))
FROM all_pairs, format('%s %s', least(a_fp, b_fp), greatest(a_fp, b_fp)) AS pair GROUP BY distance ORDER BY distance;
SELECT 'clusters', count(*), sum(size), md5(string_agg(fp::text, ',' ORDER BY fp, size)) FROM clusters;
SELECT 'pair_counts', p.* FROM pair_counts p ORDER BY distance;
REFRESH MATERIALIZED VIEW pair_counts;
SELECT 'pair_counts', p.* FROM pair_counts p ORDER BY distance;
SELECT 'count_pairs', count_pairs(2);
SELECT 'sound', simhash_index_check('many_fp', true), simhash_index_check('many_two', true);
