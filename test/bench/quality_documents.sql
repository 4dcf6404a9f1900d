-- The documents of a corpus, from the rows of the files old and new, and which of them are alike.
-- Variables: corpus, the number of documents.
SET client_min_messages = warning;
SET work_mem = '256MB';
DROP TABLE IF EXISTS old, new, name, document, member, trigrams, related;
INSERT INTO corpus (name) VALUES (:'corpus');

CREATE UNLOGGED TABLE old (name text, body text);
CREATE UNLOGGED TABLE new (name text, body text);
\copy old from 'old'
\copy new from 'new'

-- The names whose text has changed come first.  Four times as many as are wanted are enough, though many
-- have the same words.
CREATE UNLOGGED TABLE name AS
SELECT name, old.body AS old, new.body AS new,
	row_number() OVER (ORDER BY old.body IS NOT DISTINCT FROM new.body OR old IS NULL OR new IS NULL, md5(name)) AS place
FROM old FULL JOIN new USING (name);
DELETE FROM name WHERE place > 4 * :documents;

-- One document for each sequence of words: what is the same to the yardstick is the
-- same to each fingerprint that drops what is between words.
CREATE UNLOGGED TABLE document AS
SELECT row_number() OVER (ORDER BY md5(words))::int AS id, body, length,
	(SELECT max(class.id) FROM class WHERE shortest <= length) AS class
FROM (
	SELECT DISTINCT ON (words) body, words, length, place
	FROM name, LATERAL (VALUES (old), (new)) AS version (body),
		LATERAL array_to_string(simhash_shingles(body, 1, 'word'), ' ') AS words,
		LATERAL cardinality(simhash_shingles(body, 1)) AS length
	WHERE words <> '' ORDER BY words, place, body
) AS distinct_words
ORDER BY place LIMIT :documents;
ALTER TABLE document ADD PRIMARY KEY (id);
ANALYZE document;

-- The yardstick: sets of word trigrams, numbered so that the rarest come first.
CREATE UNLOGGED TABLE member AS
SELECT id, simhash_hash(trigram) AS trigram
FROM document, unnest(simhash_shingles(body, 3, 'word')) AS trigram GROUP BY 1, 2;
CREATE UNLOGGED TABLE trigrams AS
SELECT id, array_agg(rank::int ORDER BY rank) AS set, count(*)::int AS size
FROM member JOIN (
	SELECT trigram, row_number() OVER (ORDER BY count(*), trigram) AS rank FROM member GROUP BY trigram
) AS ranked USING (trigram)
GROUP BY id;
ALTER TABLE trigrams ADD PRIMARY KEY (id);
ANALYZE trigrams;

-- All pairs that are not wrong: sets of which half of the members are shared also share one
-- of their rarest members, as many of them as may be missing, and one more.
CREATE UNLOGGED TABLE related AS
WITH prefix AS (
	SELECT id, size, unnest(set[1 : size - ceil(0.5 * size)::int + 1]) AS trigram FROM trigrams
), candidate AS (
	SELECT DISTINCT a.id AS a, b.id AS b FROM prefix a JOIN prefix b USING (trigram)
	WHERE a.id < b.id AND 2 * a.size >= b.size AND 2 * b.size >= a.size
)
SELECT c.a, c.b, common::float8 / (a.size + b.size - common) AS jaccard
FROM candidate c JOIN trigrams a ON a.id = c.a JOIN trigrams b ON b.id = c.b, icount(a.set & b.set) AS common
WHERE common::float8 / (a.size + b.size - common) >= 0.5;
ALTER TABLE related ADD PRIMARY KEY (a, b);
ANALYZE related;

UPDATE corpus SET documents = (SELECT count(*) FROM document),
	similar_pairs = (SELECT count(*) FROM related WHERE jaccard >= 0.8),
	near = (SELECT count(*) FROM related WHERE jaccard >= 0.9),
	near_documents = (SELECT count(DISTINCT id) FROM related, LATERAL (VALUES (a), (b)) AS member (id) WHERE jaccard >= 0.9),
	length = (SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY document.length) FROM document),
	seconds = extract(epoch FROM clock_timestamp() - started)
WHERE name = :'corpus';
