-- Measure all fingerprints on the rows of the files old and new.
-- Variables: corpus, its text search configuration, the number of documents.
SET client_min_messages = warning;
SET work_mem = '256MB';
SET maintenance_work_mem = '256MB';
DROP TABLE IF EXISTS old, new, name, document, member, trigrams, near, pair, judged, fp, feature;

CREATE UNLOGGED TABLE old (name text, body text);
CREATE UNLOGGED TABLE new (name text, body text);
\copy old from 'old'
\copy new from 'new'

-- The names whose text has changed come first.
CREATE UNLOGGED TABLE name AS
SELECT name, old.body AS old, new.body AS new,
	row_number() OVER (ORDER BY old.body IS NOT DISTINCT FROM new.body OR old IS NULL OR new IS NULL, md5(name)) AS place
FROM old FULL JOIN new USING (name);

-- One document for each sequence of words: what is the same to the yardstick is the
-- same to each fingerprint that drops what is between words.
CREATE UNLOGGED TABLE document AS
SELECT row_number() OVER (ORDER BY md5(words))::int AS id, body, length
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

CREATE OR REPLACE FUNCTION jaccard(a int[], b int[]) RETURNS float8 LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN (SELECT common::float8 / (cardinality(a) + cardinality(b) - common) FROM (VALUES (icount(a & b))) AS i (common));

-- All near-duplicates: sets of which 9 of 10 members are shared also share one of
-- their rarest members, as many of them as may be missing, and one more.
CREATE UNLOGGED TABLE near AS
WITH prefix AS (
	SELECT id, unnest(set[1 : size - ceil(0.9 * size)::int + 1]) AS trigram FROM trigrams
), candidate AS (
	SELECT DISTINCT a.id AS a, b.id AS b FROM prefix a JOIN prefix b USING (trigram) WHERE a.id < b.id
)
SELECT c.a, c.b FROM candidate c JOIN trigrams a ON a.id = c.a JOIN trigrams b ON b.id = c.b
WHERE jaccard(a.set, b.set) >= 0.9;

-- All pairs that a fingerprint takes for similar
CREATE UNLOGGED TABLE fp (variant int, id int, fp simhash);
CREATE UNLOGGED TABLE pair (variant int, a int, b int, distance int);
SELECT format('INSERT INTO fp SELECT %s, id, %s FROM document', id,
	replace(expression, 'configuration', quote_literal(:'configuration')))
FROM variant WHERE expression IS NOT NULL ORDER BY id \gexec
CREATE UNLOGGED TABLE feature (id int, hash bigint, n bigint, documents bigint);
SELECT format('TRUNCATE feature'),
	format('WITH f AS MATERIALIZED (SELECT id, simhash_hash(f) AS hash, count(*) AS n
		FROM document, unnest(simhash_shingles(body, %s, %L)) AS f GROUP BY 1, 2)
		INSERT INTO feature SELECT id, hash, n, documents
		FROM f JOIN (SELECT hash, count(*) AS documents FROM f GROUP BY hash) AS d USING (hash)', shingle, unit),
	format('INSERT INTO fp SELECT variant, id, fp FROM (SELECT id, %s
		FROM feature, (SELECT count(*) AS total FROM document) AS t GROUP BY id) AS w,
		LATERAL (VALUES %s) AS v (variant, fp)',
		string_agg(format('simhash_weighted_agg(hash, %s) AS v%s', weight, id), ', ' ORDER BY id),
		string_agg(format('(%s, v%s)', id, id), ', ' ORDER BY id))
FROM variant WHERE unit IS NOT NULL GROUP BY shingle, unit ORDER BY unit, shingle \gexec
ANALYZE fp;
SELECT format('INSERT INTO pair SELECT %s, a.id, b.id, a.fp <~> b.fp
	FROM (SELECT * FROM fp WHERE variant = %1$s) a JOIN (SELECT * FROM fp WHERE variant = %1$s) b
	ON a.fp <~> b.fp <= 10 WHERE a.id < b.id', id)
FROM variant WHERE candidates IS NULL ORDER BY id \gexec

-- Of these pairs, those that are verified
SELECT format('INSERT INTO pair SELECT %s, p.a, p.b, distance
	FROM pair p JOIN document x ON x.id = p.a JOIN document y ON y.id = p.b
	WHERE variant = %s AND EXISTS (SELECT FROM (VALUES (x.body, y.body)) AS body (a, b) WHERE %s)', v.id, c.id, v.verification)
FROM variant v JOIN variant c ON c.name = v.candidates ORDER BY v.id \gexec

CREATE UNLOGGED TABLE judged AS
SELECT p.a, p.b, jaccard(a.set, b.set) AS jaccard
FROM (SELECT DISTINCT a, b FROM pair) p JOIN trigrams a ON a.id = p.a JOIN trigrams b ON b.id = p.b;
ANALYZE near, pair, judged;

INSERT INTO corpus (name, documents, near, near_documents, length)
SELECT :'corpus', (SELECT count(*) FROM document), count(*) / 2, count(DISTINCT a),
	(SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY length) FROM document)
FROM (SELECT a FROM near UNION ALL SELECT b FROM near) AS both_ways;

-- Each document asks for its neighbours, and counts as one however many it has.
WITH class_of AS (
	SELECT d.id, max(c.id) AS class FROM document d JOIN class c ON c.shortest <= d.length GROUP BY d.id
), neighbour AS (
	SELECT a AS id, count(*) AS neighbours
	FROM (SELECT a FROM near UNION ALL SELECT b FROM near) AS both_ways GROUP BY a
), hit AS (
	SELECT p.variant, radius, p.a, p.b, j.jaccard
	FROM pair p JOIN judged j USING (a, b) JOIN generate_series(0, 10) AS radius ON distance <= radius
), answer AS (
	SELECT variant, radius, a AS id, count(*) FILTER (WHERE jaccard >= 0.9) AS found,
		count(*) FILTER (WHERE jaccard < 0.5) AS wrong
	FROM (SELECT variant, radius, a, jaccard FROM hit UNION ALL SELECT variant, radius, b, jaccard FROM hit) AS both_ways
	GROUP BY variant, radius, a
)
INSERT INTO result
SELECT :'corpus', c.class, v.id, r.radius,
	sum(coalesce(found, 0) / neighbours::float8), count(neighbours),
	coalesce(sum(wrong), 0), sum(found / nullif(found + wrong, 0)::float8), count(nullif(found + wrong, 0))
FROM class_of c CROSS JOIN variant v CROSS JOIN generate_series(0, 10) AS r (radius)
LEFT JOIN neighbour n ON n.id = c.id
LEFT JOIN answer w ON w.id = c.id AND w.variant = v.id AND w.radius = r.radius
GROUP BY c.class, v.id, r.radius;
