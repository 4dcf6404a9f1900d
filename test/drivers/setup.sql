-- What each program of this directory finds: fingerprints that are near each
-- other and above 2^63, one that is far away, and none.
DROP TABLE IF EXISTS docs, corpus, texts, images, photos;
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
-- texts of which one is like what is asked for, and hashes of which two are near each other
CREATE TABLE texts (id int PRIMARY KEY, body text,
	CONSTRAINT texts_body EXCLUDE USING simhash (body simhash_text_ops WITH ~=));
INSERT INTO texts VALUES
	(1, 'The harbor bridge is closed until Monday, and buses take the tunnel.'),
	(2, 'Beat the eggs with the sugar until they are white.'),
	(3, '...');
CREATE TABLE images (id int PRIMARY KEY, pdq simhash_bits(256));
CREATE INDEX images_pdq ON images USING simhash (pdq);
INSERT INTO images VALUES
	(1, repeat('0f', 32)::simhash_bits),
	(2, (repeat('0f', 28) || '00000000')::simhash_bits),
	(3, repeat('f0', 32)::simhash_bits);
-- hashes in a column of numbers with sign
CREATE TABLE photos (id int PRIMARY KEY, hash bigint);
CREATE INDEX photos_hash ON photos USING simhash (hash);
INSERT INTO photos VALUES (1, -605606607495205899), (2, 1);
