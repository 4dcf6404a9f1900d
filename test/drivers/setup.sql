-- What each program of this directory finds: fingerprints that are near each
-- other and above 2^63, one that is far away, and none.
DROP TABLE IF EXISTS docs, corpus;
CREATE TABLE docs (id int PRIMARY KEY, fp simhash);
CREATE INDEX docs_fp ON docs USING simhash (fp);
INSERT INTO docs VALUES
	(1, '17841137466214345717'),
	(2, '17841137466214345716'),
	(3, '1'),
	(4, NULL);
CREATE TABLE corpus (
	body text,
	fp simhash GENERATED ALWAYS AS (simhash_minhash(body)) STORED,
	EXCLUDE USING simhash (fp WITH %));
