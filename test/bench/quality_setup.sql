-- What all corpora share: the ways to make a fingerprint, and the tables of results.
SET client_min_messages = warning;
CREATE EXTENSION simhash;
CREATE EXTENSION intarray;		-- the size of an intersection

-- A fingerprint is an expression over body, or, with a unit, what the features
-- of that unit give with a weight, an expression over
--	n			how often the feature occurs in the text
--	documents	how many texts of the corpus have it
--	total		how many texts there are
-- Or it is that of another variant, its candidates, and of the pairs within a radius
-- those are taken that a condition over the bodies a and b verifies.
CREATE TABLE variant (id serial, name text, expression text, shingle int, unit text, weight text,
	candidates text, verification text);
INSERT INTO variant (name, expression) VALUES
	('char 4 (default)', 'simhash_compute(body)'),
	('char 2', 'simhash_compute(body, 2)'),
	('char 3', 'simhash_compute(body, 3)'),
	('char 5', 'simhash_compute(body, 5)'),
	('char 6', 'simhash_compute(body, 6)'),
	('char 8', 'simhash_compute(body, 8)'),
	('char 3, spaces', 'simhash_compute(spaced(body), 3)'),
	('char 4, spaces', 'simhash_compute(spaced(body), 4)'),
	('char 5, spaces', 'simhash_compute(spaced(body), 5)'),
	('word 1', 'simhash_compute(body, 1, ''word'')'),
	('word 2', 'simhash_compute(body, 2, ''word'')'),
	('word 3', 'simhash_compute(body, 3, ''word'')'),
	('tsvector', 'simhash_compute(to_tsvector(configuration, body))'),
	('bytes 8', 'simhash_compute(convert_to(body, ''UTF8''), 8)');
INSERT INTO variant (name, shingle, unit, weight)
SELECT format('%s %s, %s', unit, shingle, w.name), shingle, unit, w.weight
FROM (VALUES (4, 'char'), (1, 'word')) AS f (shingle, unit),
	(VALUES ('set', '1'), ('sqrt', 'sqrt(n)'), ('log', '1 + ln(n)'),
		('tf-idf', 'n * ln(total / documents::float8)')) AS w (name, weight);
INSERT INTO variant (name, candidates, verification) VALUES
	('char 4, verified by words', 'char 4 (default)', 'simhash_jaccard(a, b) >= 0.9'),
	('char 4, by char 4', 'char 4 (default)', 'simhash_jaccard(a, b, 4, ''char'') >= 0.9'),
	('char 4, by bytes 8', 'char 4 (default)', 'simhash_jaccard(convert_to(a, ''UTF8''), convert_to(b, ''UTF8'')) >= 0.8'),
	('word 2, verified by words', 'word 2', 'simhash_jaccard(a, b) >= 0.9');

-- Words with a letter between any two, so that windows of characters see where
-- words end.  Blanks and the punctuation of ASCII are enough for that.
CREATE FUNCTION spaced(body text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN regexp_replace(body, '[[:space:][:punct:]]+', U&'\A015', 'g');

CREATE TABLE corpus (id serial, name text, documents bigint, near bigint, near_documents bigint,
	length float8);
CREATE TABLE class (id int, name text, shortest int);
INSERT INTO class VALUES (1, 'below 200', 0), (2, '200 to 999', 200), (3, '1,000 and more', 1000);

-- Sums over the documents of a corpus and a class: the shares of their near-duplicates
-- that were found, over those that have any; wrong answers; the shares of near-duplicates in
-- the answers, over those with an answer that is one or is wrong.
CREATE TABLE result (corpus text, class int, variant int, radius int, found float8, near bigint,
	wrong bigint, right_share float8, judged bigint);
