-- What the defaults find of the texts of languages.py: copies and unrelated texts, within 10
-- bits and by a passage in both.

CREATE EXTENSION simhash;
CREATE TABLE texts (language text, size int, number int, body text, copy text);
\copy texts FROM texts

CREATE TABLE fingerprints AS
SELECT *, simhash_minhash(body) AS fp, simhash_minhash(copy) AS copy_fp FROM texts;

CREATE TABLE figures AS
SELECT language, size, texts, found, passages, pairs, near, common
FROM (SELECT language, size, count(*) AS texts, count(*) FILTER (WHERE fp <~> copy_fp <= 10) AS found,
		count(*) FILTER (WHERE body ~& copy) AS passages
	FROM fingerprints GROUP BY language, size) AS copies
LEFT JOIN (SELECT language, size, count(*) AS pairs, count(*) FILTER (WHERE a.fp <~> b.fp <= 10) AS near,
		count(*) FILTER (WHERE a.body ~& b.body) AS common
	FROM fingerprints a JOIN fingerprints b USING (language, size)
	WHERE a.number < b.number GROUP BY language, size) AS unrelated USING (language, size);

SELECT language, size AS characters, texts, found || ' of ' || texts AS "copies within 10 bits",
	passages || ' of ' || texts AS "with a passage in common",
	near || ' of ' || pairs AS "unrelated pairs within 10 bits",
	common || ' of ' || pairs AS "with a passage in common "
FROM figures ORDER BY language, size;

\copy (SELECT * FROM figures ORDER BY language, size) TO figures WITH (FORMAT csv, HEADER)
