-- Texts for test/bench/compared.  Needs what compared.sql has made, and compared.py in the
-- directory of psql.
-- Variables: texts, rounds, python (whether there is one).

CREATE EXTENSION IF NOT EXISTS pg_trgm;
SET enable_seqscan = on;
SET enable_indexscan = on;
SET enable_bitmapscan = on;

-- Three texts in ten have the words of another one, of which up to some per cent are changed;
-- of those the third is in capitals.
CREATE FUNCTION some_word(what text, i bigint) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN substr(translate(lower(encode(decode(md5(what || i), 'hex'), 'base64')), '+/=', 'xyz'), 1, 3 + abs(hashint8(i)) % 6);
CREATE TABLE texts AS
SELECT id::int, CASE WHEN id % 10 = 2 THEN upper(body) ELSE body END AS body
FROM (SELECT id, string_agg(CASE WHEN id % 10 < 3 AND abs(hashint8(id * 1000 + place)) % 1000 < changed
								 THEN some_word('changed', id * 1000 + place)
								 ELSE some_word('', abs(hashint8(original * 1000 + place)) % 20000) END,
							' ' ORDER BY place) AS body
	  FROM (SELECT id, CASE WHEN id % 10 < 3 THEN id - id % 10 + 3 ELSE id END AS original,
				   abs(hashint8(id)) % 60 AS changed
			FROM generate_series(1, :texts) id) o,
		   generate_series(1, 40 + abs(hashint8(original)) % 80) place
	  GROUP BY id) made
ORDER BY id;
ALTER TABLE texts ADD fp simhash GENERATED ALWAYS AS (simhash_minhash(body)) STORED;
VACUUM (FULL, FREEZE, ANALYZE) texts;
CREATE TABLE asked AS SELECT * FROM texts WHERE id <= 100;
VACUUM (FREEZE, ANALYZE) asked;
CREATE TABLE true_pairs (a int, b int);
\copy (SELECT id, body FROM texts ORDER BY id) to 'texts'
\if :python
\! python3 compared.py texts
\copy true_pairs from 'true_pairs'
\else
-- all that a search at a distance far beyond the class's finds
CREATE INDEX texts_fp ON texts USING simhash (fp);
INSERT INTO true_pairs SELECT least(x.id, y.id), greatest(x.id, y.id) FROM simhash_find_all('texts_fp', 16) p
JOIN texts x ON x.ctid = p.a JOIN texts y ON y.ctid = p.b WHERE simhash_jaccard(x.body, y.body) >= 0.8;
DROP INDEX texts_fp;
\endif
CREATE INDEX ON true_pairs (a, b);
ANALYZE true_pairs;
SELECT count(*) AS disagree FROM true_pairs JOIN texts x ON x.id = a JOIN texts y ON y.id = b
WHERE simhash_jaccard(x.body, y.body) < 0.8 \gset
SELECT count(*) AS true_pairs FROM true_pairs \gset

-- what of these texts need not be the same for them to be equal
CREATE FUNCTION same_text(body text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN md5(lower(body));

SET pg_trgm.similarity_threshold = 0.8;

-- "among" are the texts whose partners are asked for to see what is found and what not.
CREATE TABLE text_ways (place serial, way text, build text, condition text, all_pairs text, among text);
INSERT INTO text_ways (way, build, condition, all_pairs, among) VALUES
('simhash, =~=', 'CREATE INDEX texts_i ON texts USING simhash (body simhash_text_ops)', 'x.body =~= y.body',
 'SELECT count(*) FROM simhash_find_all(''texts_i''::regclass)', 'texts'),
('md5 of the text in lower case', 'CREATE INDEX texts_i ON texts (same_text(body))', 'same_text(x.body) = same_text(y.body)',
 'SELECT sum(n * (n - 1) / 2) FROM (SELECT count(*) AS n FROM texts GROUP BY same_text(body)) s', 'texts'),
('pg_trgm, GIN', 'CREATE INDEX texts_i ON texts USING gin (body gin_trgm_ops)', 'x.body % y.body', NULL, 'asked'),
('pg_trgm, GiST', 'CREATE INDEX texts_i ON texts USING gist (body gist_trgm_ops)', 'x.body % y.body', NULL, 'asked');
CREATE TABLE found (way text, a int, b int);
INSERT INTO jobs (measured, way, repeated, per, statements)
SELECT 'texts: ' || measured, way, repeated, per, statements
FROM text_ways, LATERAL (VALUES
	(1, 'build', false, 1, ARRAY[build, 'SELECT pg_relation_size(''texts_i'')']),
	(2, 'look-up', true, 100,
	 by_index() || format('SELECT count(y.fp) FROM asked x JOIN texts y ON %s WHERE x.id <> y.id', condition)),
	(3, 'all pairs', true, 1, CASE WHEN all_pairs IS NOT NULL THEN by_index() || all_pairs END),
	(4, 'what is found', false, 1, ARRAY[format('INSERT INTO found SELECT %L, x.id, y.id FROM %I x JOIN texts y ON %s'
												' WHERE x.id <> y.id', way, among, condition), 'DROP INDEX texts_i']))
	s(step, measured, repeated, per, statements)
WHERE build IS NOT NULL
ORDER BY place, step;

CREATE TABLE texts_kept_0 (LIKE texts, EXCLUDE USING simhash (body simhash_text_ops WITH =~=));
CREATE TABLE texts_kept_1 (LIKE texts);
CREATE UNIQUE INDEX ON texts_kept_1 (same_text(body));
INSERT INTO jobs (measured, way, per, statements)
SELECT 'texts: keep out, a row', way, least(:texts, 5000),
	ARRAY[format('INSERT INTO %I SELECT * FROM texts WHERE id <= 5000 ON CONFLICT DO NOTHING', kept)]
FROM (VALUES (0, 'simhash, =~=', 'texts_kept_0'), (1, 'md5 of the text in lower case', 'texts_kept_1')) s(place, way, kept)
ORDER BY place;
SELECT calls(:rounds)
\gexec

CREATE VIEW text_shares AS
SELECT place, way, found, right_ones, all_right
FROM text_ways w,
	LATERAL (SELECT count(*) AS all_right FROM true_pairs CROSS JOIN LATERAL (VALUES (a), (b)) v(id)
			 WHERE w.among = 'texts' OR id <= 100) r,
	LATERAL (SELECT count(*) AS found, count(t.a) AS right_ones
			 FROM found f LEFT JOIN true_pairs t ON t.a = least(f.a, f.b) AND t.b = greatest(f.a, f.b)
			 WHERE f.way = w.way) f;

\o
\echo
\echo 'Texts'
SELECT * FROM report('^texts: (build|look-up|all|keep)');
SELECT * FROM sizes('^texts');
SELECT way, round(100.0 * right_ones / nullif(all_right, 0), 1) AS "found, %", all_right - right_ones AS missed,
	found - right_ones AS "below .8"
FROM text_shares ORDER BY place;
SELECT (SELECT count(*) FROM texts_kept_0) AS "kept by =~=", (SELECT count(*) FROM texts_kept_1) AS "kept by md5";
\o /dev/null

-- Real texts and edited copies, of which it is known what MinHash finds
CREATE TABLE edited (kind text, a text, b text, jaccard float8, bands boolean[]);
CREATE TABLE noisy (wrong text, a text, b text, bands boolean);
\if :python
\copy edited from 'edited'
\copy noisy from 'noisy'
\endif
DO $$ BEGIN
	IF EXISTS (SELECT FROM edited WHERE abs(jaccard - simhash_jaccard(a, b)) > 1e-9) THEN
		RAISE EXCEPTION 'the program and simhash_jaccard disagree';
	END IF;
END $$;
CREATE TABLE edit_shares AS
SELECT s.range, coalesce(kind, 'all') AS kind, way, count(*) FILTER (WHERE found[place]) AS found, count(*) AS pairs
FROM (SELECT kind, jaccard, (a =~= b) || bands AS found FROM edited WHERE jaccard >= 0.8) e
JOIN (VALUES ('.80 to .82', 0.82), ('from .8', 2)) s(range, below) ON jaccard < below,
	unnest(ARRAY['=~=', '9 x 13', '14 x 8', '16 x 8', '20 x 13']) WITH ORDINALITY w(way, place)
GROUP BY GROUPING SETS ((s.range, way, kind), (s.range, way));
CREATE TABLE noise_shares AS
SELECT wrong, way, count(*) FILTER (WHERE found[place]) AS found, count(*) AS pairs
FROM (SELECT wrong, ARRAY[a =~= b, bits <= 12 AND jaccard >= 0.6, bits <= 16 AND jaccard >= 0.6, bits <= 16 AND jaccard >= 0.4, bands]
	  FROM (SELECT *, simhash_minhash(a, 5, 'char') <~> simhash_minhash(b, 5, 'char') AS bits, simhash_jaccard(a, b, 4, 'char') AS jaccard
			FROM noisy OFFSET 0) n) m(wrong, found),
	unnest(ARRAY['=~=', '12, .6', '16, .6', '16, .4', '25 x 4']) WITH ORDINALITY w(way, place)
GROUP BY wrong, way, place ORDER BY wrong, place;
\o
\echo 'Real texts and edited copies: of the pairs with a Jaccard coefficient, % that are found'
SELECT format('%s of %s, %s pairs', range, kind, pairs) AS "J and kind", way, round(100.0 * found / pairs, 1) AS share
FROM edit_shares ORDER BY range, kind = 'all', kind, way <> '=~=', way \crosstabview
\echo 'Wrong characters: % found by =~=, by characters within so many bits and from a coefficient on, and by MinHash'
SELECT format('%s, %s pairs', wrong, pairs) AS wrong, way, round(100.0 * found / pairs, 1) AS share FROM noise_shares \crosstabview

-- What test/bench/compared has measured, as a file, figures.csv: of each question the fastest
-- round and the least CPU time, the rows counted, or the bytes of an index, and how many rows
-- are right.  Shares of pairs of texts have no time.
\copy (SELECT j.measured, j.way, round(min(k.seconds)::numeric, 9), round(min(k.cpu)::numeric, 9), count(*), min(k.counted), j.expected FROM jobs j JOIN took k USING (measured, way) WHERE j.measured !~ '^cleaning' GROUP BY j.place, j.measured, j.way, j.expected ORDER BY j.place) to 'figures.csv' csv
\copy (SELECT 'texts: right pairs', way, NULL, NULL, NULL, right_ones, all_right FROM text_shares UNION ALL SELECT 'texts: other pairs', way, NULL, NULL, NULL, found - right_ones, NULL FROM text_shares UNION ALL SELECT 'edits ' || range || ': ' || kind, way, NULL, NULL, NULL, found, pairs FROM edit_shares UNION ALL SELECT 'noise: ' || wrong, way, NULL, NULL, NULL, found, pairs FROM noise_shares) to 'shares.csv' csv
