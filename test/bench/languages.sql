-- What the defaults find of the texts of languages.py: copies and unrelated texts that share a
-- band, as =~= asks for, that are similar at .6, and that have a passage in common.

CREATE EXTENSION simhash;
CREATE TABLE texts (language text, size int, number int, body text, copy text);
\copy texts FROM texts

CREATE TABLE fingerprints AS
SELECT *, simhash_bands(body) AS bands, simhash_bands(copy) AS copy_bands FROM texts;

CREATE TABLE figures AS
SELECT language, size, texts, found, "similar", passages, pairs, near, alike, common
FROM (SELECT language, size, count(*) AS texts, count(*) FILTER (WHERE simhash_share_band(bands, copy_bands, 7, 7)) AS found,
		count(*) FILTER (WHERE simhash_similar(body, copy, 0.6)) AS "similar",
		count(*) FILTER (WHERE body ~& copy) AS passages
	FROM fingerprints GROUP BY language, size) AS copies
LEFT JOIN (SELECT language, size, count(*) AS pairs, count(*) FILTER (WHERE simhash_share_band(a.bands, b.bands, 7, 7)) AS near,
		count(*) FILTER (WHERE simhash_similar(a.body, b.body, 0.6)) AS alike,
		count(*) FILTER (WHERE a.body ~& b.body) AS common
	FROM fingerprints a JOIN fingerprints b USING (language, size)
	WHERE a.number < b.number GROUP BY language, size) AS unrelated USING (language, size);

SELECT language, size AS characters, texts, found || ' of ' || texts AS "copies that share a band",
	"similar" || ' of ' || texts AS "similar at 0.6",
	passages || ' of ' || texts AS "with a passage in common",
	near || ' of ' || pairs AS "unrelated pairs that share a band",
	alike || ' of ' || pairs AS "similar at 0.6 ",
	common || ' of ' || pairs AS "with a passage in common "
FROM figures ORDER BY language, size;

\copy (SELECT * FROM figures ORDER BY language, size) TO figures WITH (FORMAT csv, HEADER)
