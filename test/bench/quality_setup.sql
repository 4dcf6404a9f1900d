-- What all corpora share: the ways to make a fingerprint, and the tables of results.
-- Variables: every, whether also those ways that are no better than others; throws, how often to repeat
-- some with other hashes.
SET client_min_messages = warning;
CREATE EXTENSION simhash;
CREATE EXTENSION intarray;		-- the size of an intersection

-- A fingerprint is an expression over body, or, with a weight, what the features of the
-- shingle and the unit give with this weight, an expression over
--	n			how often the feature occurs in the text
--	documents	how many texts of the corpus have it
--	total		how many texts there are
-- Or it is that of another variant, its candidates, and of the pairs within a radius
-- those are taken that a condition over the bodies a and b verifies.
-- Of a fingerprint of a set, own_jaccard is the coefficient that its distance estimates.
-- Several with a throw are the same fingerprint with other hashes of the features.
CREATE TABLE variant (id serial, name text, expression text, shingle int, unit text, weight text,
	own_jaccard text, candidates text, verification text, throw int);
INSERT INTO variant (name, expression)
SELECT format('simhash, %s %s', unit, shingle), format('simhash_compute(body, %s, %L)', shingle, unit)
FROM (VALUES ('char', 3), ('char', 4), ('char', 5), ('char', 8), ('char', 12),
	('word', 1), ('word', 2), ('word', 3)) AS f (unit, shingle);
INSERT INTO variant (name, expression) VALUES
	('simhash, bytes 8', 'simhash_compute(convert_to(body, ''UTF8''), 8)'),
	('simhash, tsvector', 'simhash_compute(to_tsvector(configuration, body))');
INSERT INTO variant (name, expression, own_jaccard)
SELECT format('minhash, %s %s', unit, shingle), format('simhash_minhash(body, %s, %L)', shingle, unit),
	CASE WHEN unit = 'word' OR shingle % 4 = 0 THEN format('simhash_jaccard(a, b, %s, %L)', shingle, unit) END
FROM (VALUES ('char', 4), ('char', 5), ('char', 6), ('char', 8), ('char', 12),
	('word', 1), ('word', 2), ('word', 3)) AS f (unit, shingle);
INSERT INTO variant (name, expression) VALUES
	('minhash, bytes 8', 'simhash_minhash(convert_to(body, ''UTF8''), 8)'),
	('minhash, bytes 12', 'simhash_minhash(convert_to(body, ''UTF8''), 12)'),
	('minhash, tsvector', 'simhash_minhash(to_tsvector(configuration, body))');
\if :every
INSERT INTO variant (name, expression) VALUES
	('simhash, char 2', 'simhash_compute(body, 2)'),
	('simhash, char 6', 'simhash_compute(body, 6)'),
	('simhash, char 3, spaces', 'simhash_compute(spaced(body), 3)'),
	('simhash, char 4, spaces', 'simhash_compute(spaced(body), 4)'),
	('simhash, char 5, spaces', 'simhash_compute(spaced(body), 5)');
INSERT INTO variant (name, shingle, unit, weight)
SELECT format('simhash, %s %s, %s', unit, shingle, w.name), shingle, unit, w.weight
FROM (VALUES (4, 'char'), (1, 'word')) AS f (shingle, unit),
	(VALUES ('set', '1'), ('sqrt', 'sqrt(n)'), ('log', '1 + ln(n)'),
		('tf-idf', 'n * ln(total / documents::float8)')) AS w (name, weight);
\endif
INSERT INTO variant (name, candidates, verification)
SELECT format('%s, then %s', c.name, v.name), c.name, v.condition
FROM (VALUES ('simhash, char 4'), ('minhash, word 2')) AS c (name),
	(VALUES ('word 3 .9', 'simhash_jaccard(a, b) >= 0.9'),
		('char 4 .9', 'simhash_jaccard(a, b, 4, ''char'') >= 0.9'),
		('char 4 .8', 'simhash_jaccard(a, b, 4, ''char'') >= 0.8')) AS v (name, condition);
INSERT INTO variant (name, throw, expression)
SELECT format('%s, %s %s', f, unit, shingle), throw,
	format('%s(ARRAY(SELECT feature || ''%s'' FROM unnest(simhash_shingles(body, %s, %L)) AS feature))', function, throw, shingle, unit)
FROM (VALUES ('simhash', 'simhash_compute', 'char', 4), ('minhash', 'simhash_minhash', 'word', 2),
		('minhash', 'simhash_minhash', 'char', 8)) AS v (f, function, unit, shingle),
	generate_series(1, :throws) AS throw;

-- Words with a letter between any two, so that windows of characters see where
-- words end.  Blanks and the punctuation of ASCII are enough for that.
CREATE FUNCTION spaced(body text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN regexp_replace(body, '[[:space:][:punct:]]+', U&'\A015', 'g');

CREATE TABLE corpus (id serial, name text, documents bigint, similar_pairs bigint, near bigint, near_documents bigint,
	length float8, started timestamptz DEFAULT clock_timestamp(), seconds float8);
CREATE TABLE class (id int, name text, shortest int);
INSERT INTO class VALUES (1, 'below 100', 0), (2, '100 to 199', 100), (3, '200 to 399', 200), (4, '400 to 799', 400),
	(5, '800 to 1,599', 800), (6, '1,600 to 6,399', 1600), (7, '6,400 and more', 6400);

-- Sums over the documents of a corpus and a class: the shares of their near-duplicates
-- that were found, over those that have any; wrong answers; the shares of near-duplicates in
-- the answers, over those with an answer that is one or is wrong.
CREATE TABLE result (corpus text, class int, variant int, radius int, found float8, near bigint,
	wrong bigint, right_share float8, judged bigint);

-- How many pairs have a distance: all of them, up to a distance of 16; and those with a coefficient
-- from 0.8 and from 0.5, at any distance.  The class is that of the shorter text.
CREATE TABLE spread (corpus text, class int, variant int, distance int, pairs bigint, similar_pairs bigint, related bigint);

-- Rows that are removed if each but the keepers goes, by the coefficient of a row and its keeper; those that are
-- if a keeper must share four fifths with the row, and how many are left then that do so with an earlier one that is left
CREATE TABLE removed (corpus text, variant int, radius int, removed bigint, dissimilar bigint, wrong bigint,
	compared bigint, left_over bigint);

-- Do two documents share four fifths?  The table is another one for each corpus.
CREATE FUNCTION similar(x int, y int) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
	RETURN EXISTS (SELECT FROM related WHERE a = least(x, y) AND b = greatest(x, y) AND jaccard >= 0.8);
END $$;

-- Fingerprints of sets: pairs by tenths of their own coefficient, and sums
CREATE TABLE bias (corpus text, variant int, tenth int, pairs bigint, estimate float8, jaccard float8);

-- Pairs at a distance, by their coefficients: all, from 0.5, from 0.8, and from 0.9
CREATE TABLE wide (corpus text, fingerprint text, distance int, pairs bigint, related bigint, similar_pairs bigint, near bigint);

-- The recommended recipe: pairs within a radius, and those of them with a coefficient from 0.8
CREATE VIEW range AS
SELECT corpus, radius, sum(similar_pairs) AS similar_pairs, sum(pairs) AS candidates
FROM wide JOIN (VALUES (3), (6), (8), (10)) AS v (radius) ON distance <= radius
WHERE fingerprint = '64 bits, words 2' GROUP BY corpus, radius;

-- Copies of which so many characters of a hundred are wrong: how many are found, and pairs with wrong texts
CREATE TABLE noise (corpus text, percent int, recipe text, radius int, copies bigint, found bigint, wrong bigint,
	candidates bigint);

-- Copies of parts of texts, and in frames: those that share half or four fifths of their sentences with their
-- originals, pairs with wrong texts that do so, and what is found by whole texts
CREATE TABLE parts (corpus text, world int, kind text, copies bigint, found_half bigint, wrong_half bigint,
	found_most bigint, wrong_most bigint, found_whole bigint, wrong_whole bigint);

-- As in doc/texts.md
CREATE FUNCTION sentences(body text) RETURNS SETOF text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
	SELECT s FROM regexp_split_to_table(body, '[.!?]\s+|[。！？]|\n\s*\n') AS s
	WHERE cardinality(simhash_shingles(s, 1, 'word')) >= 5 $$;
