-- The answers of searches, for each kind of index: the same with enable_seqscan off and with
-- all other scans off.
SET search_path = public, ext;

SELECT 'simhash', count(*), sum(a.id::bigint * b.id) FROM docs a JOIN docs b ON b.given <~> a.given <= 5 WHERE a.id % 50 = 1;
SELECT 'balls', count(*), sum(a.id::bigint * b.id) FROM docs a JOIN docs b ON b.given <@ simhash_ball(a.given, a.id % 9) WHERE a.id % 50 = 2;
SELECT 'radius of a class', count(*), sum(a.id::bigint * b.id) FROM docs a JOIN parted b ON b.fp %% a.given WHERE a.id % 50 = 3;
SELECT 'constraint', count(*), sum(a.id::bigint * b.id) FROM docs a JOIN corpus_8 b ON b.fp %% a.given WHERE a.id % 50 = 3;
SELECT 'columns', count(*), sum(a.id::bigint * b.id) FROM docs a JOIN tenants b ON b.tenant = 4 AND b.lang = 'de' AND b.fp <%> a.given WHERE a.id % 50 = 4;
SELECT 'wide', count(*), sum(a.id::bigint * b.id) FROM wides a JOIN wides b ON b.fp <~> a.fp <= 30 WHERE a.id % 100 = 4;
SELECT 'bytea', count(*), sum(a.id::bigint * b.id) FROM library a JOIN library b ON b.data =~= a.data WHERE a.id % 50 = 6;
SELECT 'text', count(*), sum(a.id::bigint * b.id) FROM library a JOIN library b ON b.body =~= a.body WHERE a.id % 50 = 7;
SELECT 'similar', count(*), sum(a.id::bigint * b.id) FROM library a JOIN library b ON simhash_similar(b.body, a.body, 0.5) WHERE a.id % 50 = 8;
SELECT 'bands', count(*), sum(a.id::bigint * b.id) FROM library a JOIN library b ON b.title ~~~~ a.title WHERE a.id % 50 = 9;
SELECT 'passages', count(*), sum(id) FROM quoting;
SELECT 'hash index', count(*), sum(a.id::bigint * b.id) FROM docs a JOIN docs b ON b.given = a.given WHERE a.id % 50 = 8;
SELECT 'B-tree', count(*), sum(id) FROM docs WHERE given BETWEEN 1 AND 9223372036854775807;
SELECT 'nearest', array_agg(d) FROM (SELECT fp <~> 12345 AS d FROM many ORDER BY fp <~> 12345 LIMIT 50) s;
SELECT 'nearest', array_agg(d) FROM (SELECT fp <~> repeat('5a', 32)::simhash_bits AS d FROM wides ORDER BY 1 LIMIT 50) s;
SELECT 'many', count(*), sum(a.id::bigint * b.id) FROM many a JOIN many b ON b.fp <~> a.fp <= 4 WHERE a.id % 200 = 1;
