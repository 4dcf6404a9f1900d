-- Parts of texts, and texts in frames: what the recipe of sentences in doc/texts.md finds, beside whole texts.  On
-- the documents of quality_documents.sql.
-- Variable: corpus.
SET client_min_messages = warning;
SET work_mem = '256MB';
SET maintenance_work_mem = '256MB';
DROP TABLE IF EXISTS original, part, frame, placed, story, sentence, label, got;

-- Texts of 5 to 60 sentences.  The first ones lend their sentences to frames, and the next ones are copied.
CREATE UNLOGGED TABLE original AS
SELECT row_number() OVER (ORDER BY id)::int AS id, id AS document, body, sentences,
	(SELECT count(DISTINCT f) FROM unnest(simhash_shingles(body, 3, 'word')) AS f) AS trigrams
FROM document, LATERAL (SELECT count(DISTINCT s) AS sentences FROM sentences(body) AS s) AS c
WHERE sentences BETWEEN 5 AND 60;
DELETE FROM original WHERE id > 1000;
CREATE UNLOGGED TABLE part AS
SELECT id, n, s FROM original, regexp_split_to_table(body, '[.!?]\s+|[。！？]|\n\s*\n') WITH ORDINALITY AS p (s, n)
WHERE s ~ '\S';

-- A frame has as many sentences as give it a share of the text.  There are as many frames, by their number of sites,
-- as give each to 10 or to 50 texts.
CREATE UNLOGGED TABLE frame AS
SELECT sites, id % sites AS site, row_number() OVER (PARTITION BY sites, id % sites ORDER BY id, n) AS n, s
FROM part, (VALUES (30), (6)) AS v (sites) WHERE id <= 200;
CREATE INDEX ON frame (sites, site, n);
CREATE OR REPLACE FUNCTION framed(body text, sentences bigint, share float8, sites int, site int) RETURNS text LANGUAGE sql STABLE AS $$
	SELECT coalesce(string_agg(s, '. ' ORDER BY n) || E'.\n\n', '') || body
	FROM frame f WHERE f.sites = framed.sites AND f.site = framed.site AND n <= round(sentences * share / (1 - share)) $$;

-- Each kind of copies is a world of its own, with all other texts as they are.
CREATE UNLOGGED TABLE story (id int GENERATED ALWAYS AS IDENTITY, world int, kind text, original int, copy bool, body text);
INSERT INTO story (world, kind, original, copy, body)
SELECT 1, 'first half', id, true, left(body, length(body) / 2) FROM original WHERE id BETWEEN 201 AND 500
UNION ALL
SELECT 2, 'sentences shuffled', id, true, string_agg(s, '. ' ORDER BY md5(s)) FROM part WHERE id BETWEEN 201 AND 500 GROUP BY id
UNION ALL
SELECT 3 + place, format('frame of %s %%, in %s texts', percent, 300 / sites), id, true,
	framed(body, sentences, percent / 100.0, sites, id % sites)
FROM original, (VALUES (0, 20, 30), (1, 35, 30), (2, 50, 30), (3, 20, 6), (4, 35, 6), (5, 50, 6)) AS v (place, percent, sites)
WHERE id BETWEEN 201 AND 500
UNION ALL
SELECT 9 + place, format('two frames of %s %%', percent), id, copy, framed(body, sentences, percent / 100.0, 6, (id + copy::int) % 6)
FROM original, (VALUES (0, 20), (1, 35), (2, 50)) AS v (place, percent), (VALUES (false), (true)) AS c (copy)
WHERE id BETWEEN 201 AND 500;
INSERT INTO story (world, kind, original, copy, body)
SELECT world, kind, o.id, false, o.body
FROM (SELECT DISTINCT world, kind FROM story) AS w JOIN original o ON o.id > CASE WHEN world < 9 THEN 200 ELSE 500 END;
ALTER TABLE story ADD fp simhash, ADD PRIMARY KEY (id);
UPDATE story SET fp = simhash_minhash(body);
CREATE INDEX story_fp ON story USING simhash (world, fp);
ANALYZE story;

-- The recipe
CREATE UNLOGGED TABLE sentence AS
SELECT row_number() OVER () AS id, world, story.id AS story, simhash_minhash(s) AS fp FROM story, sentences(body) AS s;
CREATE INDEX sentence_fp ON sentence USING simhash (world, fp);
ANALYZE sentence;
CREATE UNLOGGED TABLE label AS
SELECT DISTINCT x.world, x.story, coalesce(k.id, x.id) AS label
FROM sentence x LEFT JOIN simhash_find_duplicates('sentence_fp', 3, keep => 'id') d ON d.duplicate = x.ctid
LEFT JOIN sentence k ON k.ctid = d.keeper;
ANALYZE label;
CREATE UNLOGGED TABLE got AS
WITH rare AS MATERIALIZED (
	SELECT story, label, count(*) OVER (PARTITION BY story) AS sentences
	FROM (SELECT story, label, count(*) OVER (PARTITION BY label) AS stories FROM label) AS l WHERE stories <= 20
)
SELECT a.story AS a, b.story AS b, count(*)::float8 / least(a.sentences, b.sentences) AS share
FROM rare a JOIN rare b USING (label) WHERE a.story < b.story
GROUP BY a.story, b.story, a.sentences, b.sentences HAVING count(*) >= 0.5 * least(a.sentences, b.sentences)
UNION ALL
SELECT x.id, y.id, NULL FROM simhash_find_all('story_fp', 8) JOIN story x ON x.ctid = a JOIN story y ON y.ctid = b
WHERE simhash_jaccard(x.body, y.body) >= 0.8;

-- Found are copies with their originals.  Wrong is a copy with another text if less than half of the one without its
-- frame is in the other: of its trigrams.
INSERT INTO parts
SELECT :'corpus', world, kind, copies,
	count(*) FILTER (WHERE own AND share >= 0.5), count(*) FILTER (WHERE wrong AND share >= 0.5),
	count(*) FILTER (WHERE own AND share >= 0.8), count(*) FILTER (WHERE wrong AND share >= 0.8),
	count(*) FILTER (WHERE own AND share IS NULL), count(*) FILTER (WHERE wrong AND share IS NULL)
FROM (SELECT world, kind, count(*) AS copies FROM story WHERE copy GROUP BY world, kind) AS w
LEFT JOIN (
	SELECT x.world, share, x.original = y.original AND x.copy <> y.copy AS own,
		x.original <> y.original
		AND 2 * jaccard / (1 + jaccard) * (o.trigrams + p.trigrams) < least(o.trigrams, p.trigrams) AS wrong
	FROM got JOIN story x ON x.id = got.a JOIN story y ON y.id = got.b
	JOIN original o ON o.id = x.original JOIN original p ON p.id = y.original,
	simhash_jaccard(o.body, p.body) AS jaccard
	WHERE x.copy OR y.copy
) AS judged USING (world)
GROUP BY world, kind, copies;
UPDATE corpus SET seconds = extract(epoch FROM clock_timestamp() - started) WHERE name = :'corpus';
