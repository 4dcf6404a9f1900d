-- A database of objects that depend on the extension in every way we know of, to
-- be dumped and restored, or upgraded.  checks.sql tells whether they came through.
-- The extension is created here, unless it is there already.
CREATE SCHEMA IF NOT EXISTS ext;
CREATE EXTENSION IF NOT EXISTS simhash SCHEMA ext;
SET search_path = public, ext;

-- does a query use an index?
CREATE FUNCTION uses_index(query text, index text) RETURNS boolean LANGUAGE plpgsql
SET enable_seqscan = off SET search_path = public, ext AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		IF line ~ ('Index.* (using|on) ' || index || '( |$)') THEN
			RETURN true;
		END IF;
	END LOOP;
	RETURN false;
END $$;

-- is a row refused by an exclusion constraint?
CREATE FUNCTION is_refused(tab regclass, value text, attribute text DEFAULT 'fp') RETURNS boolean LANGUAGE plpgsql
SET search_path = public, ext AS $$
BEGIN
	EXECUTE format('INSERT INTO %s (id, %I) VALUES (-1, %L)', tab, attribute, value);
	EXECUTE format('DELETE FROM %s WHERE id = -1', tab);
	RETURN false;
EXCEPTION WHEN exclusion_violation THEN
	RETURN true;
END $$;

-- 200 clusters of 10, whose members differ in up to 9 bits, and nulls
CREATE TABLE docs (id integer PRIMARY KEY, body text,
	fp simhash GENERATED ALWAYS AS (simhash_compute(body)) STORED,
	h bigint, given simhash, hex text GENERATED ALWAYS AS (encode(simhash_compute(body)::bytea, 'hex')) STORED);
INSERT INTO docs (id, body, h, given)
SELECT i * 10 + n, md5(i::text) || ' is said in document ' || i || repeat('!', n), h, h
FROM generate_series(1, 200) i, generate_series(0, 9) n,
	LATERAL (SELECT ('x' || left(md5(i::text), 16))::bit(64)::bigint # ((1::bigint << n) - 1) AS h) s;
INSERT INTO docs (id, body) VALUES (1, '...'), (2, NULL);
INSERT INTO docs (id, given) VALUES (3, 18446744073709551615), (4, '0x0123456789abcdef'), (5, '-59');
CREATE INDEX docs_fp ON docs USING simhash (fp);
CREATE INDEX docs_given ON docs USING simhash (given) WITH (blocks = 5, distance = 3, fillfactor = 75);
CREATE INDEX docs_h ON docs USING simhash (h);
CREATE INDEX docs_words ON docs USING simhash (simhash_compute(body, 1, 'word')) WHERE id % 2 = 0;
CREATE INDEX docs_btree ON docs (given);
CREATE INDEX docs_hash ON docs USING hash (given);

-- another radius: an operator and an operator class of the user's own
CREATE FUNCTION within_8(simhash, simhash) RETURNS boolean LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN simhash_within($1, $2, 8);
CREATE OPERATOR %% (LEFTARG = simhash, RIGHTARG = simhash, FUNCTION = within_8, COMMUTATOR = %%,
	RESTRICT = simhash_sel, JOIN = simhash_joinsel);
CREATE OPERATOR CLASS simhash_8_ops FOR TYPE simhash USING simhash AS
	OPERATOR 1 =,
	OPERATOR 7 %,
	OPERATOR 12 %%,
	OPERATOR 2 <@ (simhash, simhash_ball),
	OPERATOR 3 <~~> (simhash, simhash) FOR ORDER BY integer_ops;

-- a constraint for each radius
CREATE TABLE corpus_0 (id integer, fp simhash, CONSTRAINT corpus_0_excl EXCLUDE USING simhash (fp WITH =));
CREATE TABLE corpus_3 (id integer, fp simhash, CONSTRAINT corpus_3_excl EXCLUDE USING simhash (fp WITH %) DEFERRABLE);
CREATE TABLE corpus_6 (id integer, fp simhash, CONSTRAINT corpus_6_excl EXCLUDE USING simhash (fp WITH <%>));
CREATE TABLE corpus_8 (id integer, fp simhash, CONSTRAINT corpus_8_excl EXCLUDE USING simhash (fp simhash_8_ops WITH %%));
CREATE TABLE corpus_10 (id integer, fp bigint, CONSTRAINT corpus_10_excl EXCLUDE USING simhash (fp WITH <<%>>) WHERE (id <> 2));
INSERT INTO corpus_0 VALUES (1, 0), (2, -1);
INSERT INTO corpus_3 SELECT * FROM corpus_0;
INSERT INTO corpus_6 SELECT * FROM corpus_0;
INSERT INTO corpus_8 SELECT * FROM corpus_0;
INSERT INTO corpus_10 SELECT id, fp FROM corpus_0;
-- one that is all there is to tell a partition's rows from each other
CREATE TABLE parted (id integer, fp simhash) PARTITION BY HASH (fp);
CREATE TABLE parted_0 PARTITION OF parted FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO parted SELECT id, given FROM docs WHERE given IS NOT NULL;
CREATE INDEX parted_fp ON parted USING simhash (fp simhash_8_ops);

-- Several columns: near-duplicates are kept out within a tenant and a language.  The
-- hash of an enum is that of its OID, which an upgrade must keep; the class for inet
-- is the user's own.
CREATE TYPE language AS ENUM ('en', 'de');
CREATE OPERATOR CLASS inet_ops DEFAULT FOR TYPE inet USING simhash AS
	OPERATOR 1 =,
	FUNCTION 1 hashinetextended(inet, bigint);
CREATE TABLE tenants (id integer, tenant integer DEFAULT 1, lang language DEFAULT 'en', fp simhash,
	CONSTRAINT tenants_excl EXCLUDE USING simhash (tenant WITH =, lang WITH =, fp WITH <%>));
INSERT INTO tenants SELECT 10 * t + l, t, language, 0
FROM generate_series(1, 3) t, unnest(enum_range(NULL::language)) WITH ORDINALITY AS u(language, l);
INSERT INTO tenants SELECT id, 4, 'de', given FROM docs WHERE id % 10 = 0;
CREATE TABLE hosts (host inet, fp simhash);
INSERT INTO hosts SELECT format('10.0.0.%s', id % 3)::inet, given FROM docs;
CREATE INDEX hosts_fp ON hosts USING simhash (host, fp);

-- MinHash fingerprints: in a column, and in an index without one
CREATE TABLE minhashes (id integer PRIMARY KEY, body text,
	fp simhash GENERATED ALWAYS AS (simhash_minhash(body)) STORED);
INSERT INTO minhashes SELECT id, format('%s, as everybody who has ever been there says at least once a year, for the %s. time', body, id % 10)
FROM docs WHERE id > 100;
CREATE INDEX minhashes_fp ON minhashes USING simhash (fp) WITH (blocks = 7, distance = 6);
CREATE INDEX minhashes_words ON minhashes USING simhash (simhash_minhash(body, 1));
CREATE INDEX minhashes_passages ON minhashes USING gin (body simhash_passage_ops);

-- columns of the other types
-- pg_upgrade restores domains before casts, so 0 without quotes would fail there
CREATE DOMAIN fingerprint AS simhash CHECK (VALUE <> '0');
CREATE TABLE others (ball simhash_ball, distance simhash_distance, fp fingerprint, fps simhash[],
	CHECK (fp <~> 0 > 0));
INSERT INTO others VALUES ('(-1,3)', 3, -1, '{1,-1,NULL}'), ('(0,-1)', 0, '0xff', '{}'), ('(0,64)', NULL, NULL, NULL);
CREATE TABLE hashed (ball simhash_ball, wide simhash_bits, wide_ball simhash_bits_ball) PARTITION BY HASH (wide);
CREATE TABLE hashed_0 PARTITION OF hashed FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE hashed_1 PARTITION OF hashed FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO hashed SELECT simhash_ball(given, id % 5), b, simhash_bits_ball(b, id % 7)
FROM docs, LATERAL (SELECT repeat(encode(given::bytea, 'hex'), 1 + id % 32)::simhash_bits AS b) s WHERE id > 1000;

-- wide fingerprints
CREATE TABLE wides (id integer PRIMARY KEY, body text, fp simhash_bits(256), ball simhash_bits_ball, fps simhash_bits(64)[],
	minhash simhash_bits(128) GENERATED ALWAYS AS (simhash_minhash_bits(body, 128)) STORED, CHECK (bit_count(fp) > 0));
INSERT INTO wides SELECT id, body, (given::bytea || h::simhash::bytea || decode(md5(body), 'hex'))::simhash_bits, simhash_bits_ball(given::simhash_bits, id % 7),
	ARRAY[given::simhash_bits, h::simhash::simhash_bits]
FROM docs WHERE id > 100;
CREATE INDEX wides_fp ON wides (fp);
CREATE INDEX wides_hash ON wides USING hash (minhash);
CREATE INDEX wides_near ON wides USING simhash (fp) WITH (blocks = 8, distance = 7, fillfactor = 80);
CREATE TABLE corpus_wide (id integer, fp simhash_bits(64), CONSTRAINT corpus_wide_excl EXCLUDE USING simhash (fp WITH %));
INSERT INTO corpus_wide VALUES (1, '0000000000000000'), (2, 'ffffffffffffffff');
CREATE INDEX wides_expression ON wides ((left(body, 32)::bytea::simhash_bits(256)));
CREATE VIEW wide_near AS SELECT a.id AS a, b.id AS b, a.fp <~> b.fp AS distance FROM wides a JOIN wides b ON a.fp <~> b.fp <= 70 AND a.id < b.id
	WHERE a.id % 100 = 0 AND b.id < a.id + 20;
CREATE VIEW wide_literals AS SELECT id FROM wides WHERE minhash % '00112233445566778899aabbccddeeff' OR fps[1] <@ '(0123456789abcdef,20)';

-- Texts: indexes and constraints for =~=, and operator classes of the user's own that
-- compute fingerprints, or bands.  Only rows from 1001 on have near-duplicates.
CREATE FUNCTION title_fingerprint(title text) RETURNS simhash LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN simhash_minhash(title, 5, 'char');
CREATE FUNCTION same_title(a text, b text) RETURNS boolean LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 10000
RETURN hamming(title_fingerprint(a), title_fingerprint(b)) <= 12 AND simhash_jaccard(a, b, 5, 'char') >= 0.6;
CREATE OPERATOR ~~~ (LEFTARG = text, RIGHTARG = text, FUNCTION = same_title, COMMUTATOR = ~~~,
	RESTRICT = simhash_sel, JOIN = simhash_joinsel);
CREATE OPERATOR CLASS title_ops FOR TYPE text USING simhash AS
	OPERATOR 16 ~~~,
	FUNCTION 2 title_fingerprint(text);
CREATE DOMAIN bands_9 AS simhash_bits(576);
CREATE FUNCTION title_bands(title text) RETURNS bands_9 LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN simhash_bands(title, 5, 'char', 2, 9);
CREATE FUNCTION share_title(a text, b text) RETURNS boolean LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 10000
RETURN simhash_share_band(title_bands(a), title_bands(b), 9, 8) AND simhash_jaccard(a, b, 5, 'char') >= 0.6;
CREATE OPERATOR ~~~~ (LEFTARG = text, RIGHTARG = text, FUNCTION = share_title, COMMUTATOR = ~~~~,
	RESTRICT = simhash_sel, JOIN = simhash_joinsel);
CREATE OPERATOR CLASS title_bands_ops FOR TYPE text USING simhash AS
	OPERATOR 809 ~~~~,
	FUNCTION 3 title_bands(text);
CREATE DOMAIN essay AS varchar(2000) CHECK (VALUE <> '');
CREATE TABLE library (id integer PRIMARY KEY, title text, body essay, data bytea,
	CONSTRAINT library_title EXCLUDE USING simhash (title title_ops WITH ~~~),
	CONSTRAINT library_body EXCLUDE USING simhash (body simhash_text_ops WITH =~=) WHERE (id <= 1000));
INSERT INTO library SELECT i, md5('title' || i), format('The %s. book is about %s and %s', i, md5(i::text), md5('b' || i)), NULL
FROM generate_series(1, 300) i;
INSERT INTO library VALUES (999, '!', '...'), (1000, NULL, NULL);
INSERT INTO library SELECT 1000 + id, NULL, upper(body) || '!' FROM library WHERE id <= 100;
UPDATE library SET data = convert_to(lower(left(body, 60)), 'UTF8');
CREATE INDEX library_all ON library USING simhash (body simhash_text_ops) WITH (bands = 16, fillfactor = 70);
CREATE INDEX library_titles ON library USING simhash (title title_bands_ops) WITH (bands = 9);
CREATE INDEX library_several ON library USING simhash ((id % 1000), left(body, 60) simhash_text_ops);
CREATE INDEX library_data ON library USING simhash (data simhash_bytea_ops);
CREATE VIEW text_pairs AS SELECT a.id AS a, b.id AS b FROM library a JOIN library b ON a.body =~= b.body AND a.id < b.id;
CREATE VIEW text_any AS SELECT id FROM library
	WHERE body =~= ANY (ARRAY(SELECT l.body::text FROM library l WHERE l.id % 50 = 7) || '{...}'::text[]);
CREATE VIEW text_bytes AS SELECT a.id AS a, b.id AS b FROM library a JOIN library b ON a.data =~= b.data AND a.id < b.id;
CREATE VIEW text_titles AS SELECT id FROM library WHERE title ~~~ (md5('title5') || '.');
CREATE VIEW text_bands AS SELECT id FROM library WHERE title ~~~~ (md5('title5') || '.');
CREATE VIEW text_similar AS SELECT a.id AS a, b.id AS b FROM library a JOIN library b ON simhash_similar(b.body, a.body, 0.6) AND a.id < b.id;
CREATE VIEW text_duplicates AS SELECT x.id, k.id AS keeper FROM simhash_find_duplicates('library_all', keep => 'id DESC') d
	JOIN library x ON x.ctid = d.duplicate JOIN library k ON k.ctid = d.keeper;
CREATE MATERIALIZED VIEW text_matches AS SELECT similarity FROM simhash_find_matches('library_all', 'library_body');

-- what is stored as an expression
CREATE VIEW near AS SELECT w.id AS wanted, d.id, d.given FROM docs w JOIN docs d ON d.given <~> w.given <= 3 WHERE w.id % 100 = 0;
CREATE VIEW near_hamming AS SELECT id FROM docs WHERE hamming(given, 81985529216486895) < 4::bigint;
CREATE VIEW near_eight AS SELECT id FROM docs WHERE within_8(given, 81985529216486895);
CREATE VIEW quoting AS SELECT id FROM minhashes
	WHERE body ~& (md5('77') || ' is said in document 77, as everybody who has ever been there');
CREATE VIEW near_operator AS SELECT id FROM parted WHERE fp %% 81985529216486895;
CREATE VIEW nearest AS SELECT id, given <~> 81985529216486895 AS distance FROM docs ORDER BY given <~> 81985529216486895 LIMIT 3;
CREATE VIEW hexes AS SELECT id, encode(given::bytea, 'hex') AS hex FROM docs;
CREATE MATERIALIZED VIEW pairs AS
	SELECT a.id AS a, b.id AS b FROM docs a JOIN docs b ON b.given <%> a.given AND b.id > a.id WHERE a.id % 100 = 0;
CREATE FUNCTION count_near(query simhash, radius integer) RETURNS bigint LANGUAGE sql STABLE
BEGIN ATOMIC
	SELECT count(*) FROM docs WHERE given <~> query <= radius;
END;
CREATE VIEW host_pairs AS SELECT a_fp, b_fp, distance FROM simhash_find_all('hosts_fp', 6);
CREATE VIEW matches AS SELECT a_fp, b_fp, distance FROM simhash_find_matches('docs_fp', 'parted_fp', 20);
CREATE VIEW duplicates AS SELECT k.id AS keeper, x.id AS duplicate
	FROM simhash_find_duplicates('docs_given', 6, keep => 'id') d JOIN docs x ON x.ctid = d.duplicate JOIN docs k ON k.ctid = d.keeper;
CREATE VIEW groups AS SELECT c.*
	FROM (SELECT array_agg(keeper) AS a, array_agg(duplicate) AS b FROM duplicates) p, simhash_components(a, b) c;
CREATE VIEW alike AS SELECT a.id AS a, b.id AS b, simhash_jaccard(a.body, b.body, 2) AS jaccard
	FROM minhashes a JOIN minhashes b ON b.fp <~> a.fp <= simhash_minhash_radius(0.8) AND b.id > a.id WHERE a.id % 100 = 0;
CREATE VIEW searches AS SELECT * FROM simhash_stat_progress;
RESET search_path;
VACUUM ANALYZE;
