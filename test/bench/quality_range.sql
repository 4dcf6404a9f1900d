-- What the recommended recipe finds, and how many candidates it compares: simhash_minhash(body), a radius, and then
-- simhash_jaccard, which is the yardstick.  On the documents of quality_documents.sql.
-- Variable: corpus.
SET client_min_messages = warning;
SET maintenance_work_mem = '256MB';
DROP TABLE IF EXISTS fp;
CREATE UNLOGGED TABLE fp AS SELECT id, simhash_minhash(body) AS fp FROM document;
CREATE INDEX fp_index ON fp USING simhash (fp);
ANALYZE fp;
INSERT INTO range
SELECT :'corpus', radius, count(*) FILTER (WHERE jaccard >= 0.8), count(*)
FROM simhash_find_all('fp_index', 10) JOIN fp x ON x.ctid = a JOIN fp y ON y.ctid = b
LEFT JOIN related r ON r.a = least(x.id, y.id) AND r.b = greatest(x.id, y.id)
JOIN (VALUES (3), (6), (8), (10)) AS v (radius) ON distance <= radius
GROUP BY radius;
UPDATE corpus SET seconds = extract(epoch FROM clock_timestamp() - started) WHERE name = :'corpus';
