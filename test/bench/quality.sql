-- Measure all fingerprints on the documents of quality_documents.sql.
-- Variables: corpus, its text search configuration; unspaced, whether the fingerprints are made of texts without
-- spaces.
SET client_min_messages = warning;
SET work_mem = '256MB';
SET maintenance_work_mem = '256MB';
DROP TABLE IF EXISTS pair, fp, feature, duplicate, sample;

-- As in scripts that do not write them; the yardstick has seen where words end.  What is no text of its own
-- does not count among those of its length.
\if :unspaced
UPDATE document SET body = regexp_replace(body, '[[:space:]]+', '', 'g'), class = NULL;
\endif

-- The fingerprints, and all pairs within 16 bits
CREATE UNLOGGED TABLE fp (variant int, id int, fp simhash);
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
FROM variant WHERE weight IS NOT NULL GROUP BY shingle, unit ORDER BY unit, shingle \gexec
CREATE INDEX fp_index ON fp USING simhash (variant, fp);
ANALYZE fp;
CREATE UNLOGGED TABLE pair AS
SELECT x.variant, least(x.id, y.id) AS a, greatest(x.id, y.id) AS b, distance
FROM simhash_find_all('fp_index', 16) JOIN fp x ON x.ctid = a JOIN fp y ON y.ctid = b;

INSERT INTO spread
SELECT :'corpus', class, variant, distance, sum(pairs), sum(similar_pairs), sum(related)
FROM (
	SELECT least(x.class, y.class) AS class, variant, distance, 1 AS pairs, 0 AS similar_pairs, 0 AS related
	FROM pair JOIN document x ON x.id = a JOIN document y ON y.id = b
	UNION ALL
	SELECT least(x.class, y.class), f.variant, f.fp <~> g.fp, 0, (jaccard >= 0.8)::int, 1
	FROM related JOIN document x ON x.id = a JOIN document y ON y.id = b
	JOIN fp f ON f.id = a JOIN fp g ON g.id = b AND g.variant = f.variant
) AS distances
GROUP BY class, variant, distance;
DELETE FROM pair WHERE distance > 10;

-- Of these pairs, those that are verified
SELECT format('INSERT INTO pair SELECT v.id, a, b, distance
	FROM (
		SELECT d.a, d.b FROM (SELECT DISTINCT a, b FROM pair WHERE variant = ANY (%L)) AS d
		JOIN document x ON x.id = d.a JOIN document y ON y.id = d.b
		WHERE EXISTS (SELECT FROM (VALUES (x.body, y.body)) AS body (a, b) WHERE %s) OFFSET 0
	) AS verified JOIN pair USING (a, b)
	JOIN variant c ON c.id = variant JOIN variant v ON v.candidates = c.name AND v.verification = %L',
	array_agg(c.id), v.verification, v.verification)
FROM variant v JOIN variant c ON c.name = v.candidates GROUP BY v.verification ORDER BY min(v.id) \gexec
ANALYZE pair;

-- Each document asks for its neighbours, and counts as one however many it has.
WITH neighbour AS (
	SELECT id, count(*) AS neighbours
	FROM (SELECT a, b, jaccard FROM related UNION ALL SELECT b, a, jaccard FROM related) AS both_ways (id, other, jaccard)
	WHERE jaccard >= 0.9 GROUP BY id
), hit AS (
	SELECT variant, distance, id, count(*) FILTER (WHERE jaccard >= 0.9) AS found, count(*) FILTER (WHERE jaccard IS NULL) AS wrong
	FROM pair LEFT JOIN related USING (a, b), LATERAL (VALUES (a), (b)) AS member (id)
	GROUP BY variant, distance, id
), answer AS (
	SELECT variant, radius, id, sum(found) AS found, sum(wrong) AS wrong
	FROM hit JOIN generate_series(0, 10) AS radius ON distance <= radius GROUP BY variant, radius, id
)
INSERT INTO result
SELECT :'corpus', d.class, v.id, r.radius,
	sum(coalesce(found, 0) / neighbours::float8), count(neighbours),
	coalesce(sum(wrong), 0), sum(found / nullif(found + wrong, 0)::float8), count(nullif(found + wrong, 0))
FROM document d CROSS JOIN variant v CROSS JOIN generate_series(0, 10) AS r (radius)
LEFT JOIN neighbour n ON n.id = d.id
LEFT JOIN answer w ON w.id = d.id AND w.variant = v.id AND w.radius = r.radius
GROUP BY d.class, v.id, r.radius;

-- What goes if only the keepers stay: by the fingerprints alone, and compared
CREATE UNLOGGED TABLE duplicate AS
SELECT same IS NOT NULL AS compared, x.variant, radius, x.id, jaccard
FROM (VALUES (3), (6), (8), (10)) AS r (radius), (VALUES (NULL), ('similar(a.id, b.id)')) AS s (same),
	simhash_find_duplicates('fp_index', radius, keep => 'id', same => same)
JOIN fp x ON x.ctid = duplicate JOIN fp y ON y.ctid = keeper
LEFT JOIN related ON a = least(x.id, y.id) AND b = greatest(x.id, y.id);
ANALYZE duplicate;
INSERT INTO removed
SELECT :'corpus', variant, radius, removed, dissimilar, wrong, compared, coalesce(left_over, 0)
FROM (
	SELECT variant, radius, count(*) FILTER (WHERE NOT compared) AS removed,
		count(*) FILTER (WHERE NOT compared AND (jaccard IS NULL OR jaccard < 0.8)) AS dissimilar,
		count(*) FILTER (WHERE NOT compared AND jaccard IS NULL) AS wrong, count(*) FILTER (WHERE compared) AS compared
	FROM duplicate GROUP BY variant, radius
) AS gone LEFT JOIN (
	SELECT variant, radius, count(DISTINCT b) AS left_over
	FROM (SELECT DISTINCT variant, radius FROM duplicate) AS v
	JOIN related r ON jaccard >= 0.8
	WHERE NOT EXISTS (SELECT FROM duplicate d
		WHERE d.variant = v.variant AND d.radius = v.radius AND d.id = r.a AND d.compared)
	AND NOT EXISTS (SELECT FROM duplicate d
		WHERE d.variant = v.variant AND d.radius = v.radius AND d.id = r.b AND d.compared)
	GROUP BY variant, radius
) AS remaining USING (variant, radius);

-- Pairs of all coefficients, chosen whatever their fingerprints are: of each tenth of the yardstick
-- as many, and no document twice, since all pairs of a family err the same way.  Below 0.5 they are such as
-- share a rare trigram.
CREATE UNLOGGED TABLE sample AS
WITH pairs AS (
	SELECT a, b, jaccard FROM related
	UNION ALL
	SELECT c.a, c.b, common::float8 / (a.size + b.size - common)
	FROM (
		SELECT a, b FROM (
			SELECT ids[i] AS a, ids[i + 1] AS b
			FROM (
				SELECT array_agg(id ORDER BY id) AS ids FROM member GROUP BY trigram HAVING count(*) BETWEEN 2 AND 5
			) AS rare, generate_subscripts(ids, 1) AS i
		) AS pairs WHERE b IS NOT NULL GROUP BY a, b ORDER BY md5(a || ' ' || b) LIMIT 20000
	) AS c JOIN trigrams a ON a.id = c.a JOIN trigrams b ON b.id = c.b, icount(a.set & b.set) AS common
	WHERE NOT EXISTS (SELECT FROM related r WHERE r.a = c.a AND r.b = c.b)
), first_of_a AS (
	SELECT DISTINCT ON (tenth, a) tenth, a, b FROM pairs, floor(10 * jaccard) AS tenth ORDER BY tenth, a, md5(a || ' ' || b)
), first_of_b AS (
	SELECT DISTINCT ON (tenth, b) tenth, a, b FROM first_of_a ORDER BY tenth, b, md5(a || ' ' || b)
)
SELECT a, b FROM (
	SELECT a, b, row_number() OVER (PARTITION BY tenth ORDER BY md5(a || ' ' || b)) AS place FROM first_of_b
) AS placed WHERE place <= 200 AND NOT :'unspaced'::bool;
SELECT format('INSERT INTO bias
	SELECT %L, %s, least(floor(10 * jaccard), 9), count(*), sum(1 - (f.fp <~> g.fp) / 32.0), sum(jaccard)
	FROM sample s JOIN document x ON x.id = s.a JOIN document y ON y.id = s.b
	JOIN fp f ON f.id = s.a AND f.variant = %2$s JOIN fp g ON g.id = s.b AND g.variant = %2$s,
	LATERAL (SELECT %s FROM (VALUES (x.body, y.body)) AS body (a, b)) AS own (jaccard)
	GROUP BY 3', :'corpus', id, own_jaccard)
FROM variant WHERE own_jaccard IS NOT NULL ORDER BY id \gexec

UPDATE corpus SET seconds = extract(epoch FROM clock_timestamp() - started) WHERE name = :'corpus';
