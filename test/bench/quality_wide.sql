-- What fingerprints of 256 bits find in one step, beside those of 64 bits: all pairs within each distance, by their
-- coefficients.  On the documents of quality_documents.sql.
-- Variable: corpus.
SET client_min_messages = warning;
SET maintenance_work_mem = '256MB';
DROP TABLE IF EXISTS fp;
CREATE UNLOGGED TABLE fp AS
SELECT id, simhash_minhash(body) AS narrow, simhash_minhash_bits(body)::simhash_bits(256) AS words_2,
	simhash_minhash_bits(body, 256, 3)::simhash_bits(256) AS words_3
FROM document;
CREATE INDEX fp_narrow ON fp USING simhash (narrow);
CREATE INDEX fp_words_2 ON fp USING simhash (words_2);
CREATE INDEX fp_words_3 ON fp USING simhash (words_3);
ANALYZE fp;

-- 40 of 256 bits are 10 of 64
INSERT INTO wide
SELECT :'corpus', fingerprint, distance, count(*), count(jaccard), count(*) FILTER (WHERE jaccard >= 0.8),
	count(*) FILTER (WHERE jaccard >= 0.9)
FROM (
	SELECT '64 bits, words 2' AS fingerprint, a, b, distance FROM simhash_find_all('fp_narrow', 10)
	UNION ALL
	SELECT '256 bits, words 2', a, b, distance FROM simhash_find_all('fp_words_2', 40)
	UNION ALL
	SELECT '256 bits, words 3', a, b, distance FROM simhash_find_all('fp_words_3', 40)
) AS found JOIN fp x ON x.ctid = found.a JOIN fp y ON y.ctid = found.b
LEFT JOIN related r ON r.a = least(x.id, y.id) AND r.b = greatest(x.id, y.id)
GROUP BY fingerprint, distance;
UPDATE corpus SET seconds = extract(epoch FROM clock_timestamp() - started) WHERE name = :'corpus';
