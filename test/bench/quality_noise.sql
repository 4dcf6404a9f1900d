-- Copies with wrong characters, as scans and typing make them: how many of them are found.  On the documents of
-- quality_documents.sql.
-- Variable: corpus.
SET client_min_messages = warning;
SET work_mem = '256MB';
SET maintenance_work_mem = '256MB';
DROP TABLE IF EXISTS clean, noisy, compared;
CREATE UNLOGGED TABLE clean AS SELECT id, left(body, 2000) AS body FROM document;

-- Of each hundred characters some are wrong: another character of the text stands in their place, or before them, or
-- they are missing.
SELECT setseed(0.5) \g /dev/null
CREATE UNLOGGED TABLE noisy AS
SELECT id, percent, string_agg(CASE WHEN draw >= percent / 100.0 OR c ~ '\s' THEN c
		WHEN kind = 0 THEN other WHEN kind = 1 THEN other || c END, '' ORDER BY n) AS body
FROM (
	SELECT id, percent, n, c, lag(c, 7, 'x') OVER (PARTITION BY id, percent ORDER BY n) AS other,
		random() AS draw, floor(3 * random()) AS kind
	FROM clean, string_to_table(body, NULL) WITH ORDINALITY AS s (c, n), (VALUES (1), (2), (5)) AS p (percent)
	WHERE id IN (SELECT id FROM document WHERE length >= 100 ORDER BY id LIMIT 500)
	OFFSET 0
) AS drawn
GROUP BY id, percent;

ALTER TABLE clean ADD words simhash, ADD chars simhash;
ALTER TABLE noisy ADD words simhash, ADD chars simhash;
UPDATE clean SET words = simhash_minhash(body), chars = simhash_minhash(body, 5, 'char');
UPDATE noisy SET words = simhash_minhash(body), chars = simhash_minhash(body, 5, 'char');
CREATE INDEX clean_words ON clean USING simhash (words);
CREATE INDEX clean_chars ON clean USING simhash (chars);
CREATE INDEX noisy_words ON noisy USING simhash (words);
CREATE INDEX noisy_chars ON noisy USING simhash (chars);
ANALYZE clean, noisy;

-- Candidates, and whether the comparison confirms them; wrong are those whose clean texts share less than half
CREATE UNLOGGED TABLE compared AS
SELECT recipe, percent, distance, same, x.id = y.id AS own,
	same AND x.id <> y.id AND simhash_jaccard(x.body, original.body) < 0.5 AS wrong
FROM (
	SELECT 'words' AS recipe, a, b, distance FROM simhash_find_matches('clean_words', 'noisy_words', 8)
	UNION ALL
	SELECT 'characters', a, b, distance FROM simhash_find_matches('clean_chars', 'noisy_chars', 16)
) AS m JOIN clean x ON x.ctid = m.a JOIN noisy y ON y.ctid = m.b
JOIN clean original ON original.id = y.id,
LATERAL (VALUES (CASE recipe WHEN 'words' THEN simhash_jaccard(x.body, y.body) >= 0.8
	ELSE simhash_jaccard(x.body, y.body, 4, 'char') >= 0.6 END)) AS v (same);
INSERT INTO noise
SELECT :'corpus', percent, c.recipe, radius, (SELECT count(*) FROM noisy n WHERE n.percent = c.percent),
	count(*) FILTER (WHERE same AND own), count(*) FILTER (WHERE same AND wrong), count(*)
FROM compared c JOIN (VALUES ('words', 8), ('characters', 8), ('characters', 12), ('characters', 16)) AS v (recipe, radius)
	ON v.recipe = c.recipe AND distance <= radius
GROUP BY percent, c.recipe, radius;
UPDATE corpus SET seconds = extract(epoch FROM clock_timestamp() - started) WHERE name = :'corpus';
