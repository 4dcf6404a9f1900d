--
-- Text that the server cannot convert, wholly or in part, and text whose
-- conversion is long: the encodings of text_encodings are the easy ones
--
\pset format unaligned
\pset footer off
\set VERBOSITY terse
SELECT 'dbname=' || current_database() || ' client_encoding=UTF8' AS back \gset
CREATE DATABASE regression_win1252 ENCODING 'WIN1252'
	LOCALE_PROVIDER libc LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0;
CREATE DATABASE regression_win1258 ENCODING 'WIN1258'
	LOCALE_PROVIDER libc LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0;
CREATE DATABASE regression_latin1 ENCODING 'LATIN1' LOCALE_PROVIDER libc LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0;
CREATE DATABASE regression_euc_jp ENCODING 'EUC_JP' LOCALE_PROVIDER libc LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0;
CREATE DATABASE regression_jis_2004 ENCODING 'EUC_JIS_2004'
	LOCALE_PROVIDER libc LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0;
CREATE DATABASE regression_euc_kr ENCODING 'EUC_KR' LOCALE_PROVIDER libc LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0;
CREATE DATABASE regression_euc_cn ENCODING 'EUC_CN' LOCALE_PROVIDER libc LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0;
CREATE DATABASE regression_euc_tw ENCODING 'EUC_TW' LOCALE_PROVIDER libc LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0;

--
-- Random text of all characters of two bytes, and others, which the pieces
-- that are converted at a time divide in different places
--
CREATE FUNCTION characters_of(encoding name) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text := 'aB9 .é';
	bytes bytea;
	c text;
BEGIN
	FOR code IN 0..94 * 94 - 1 LOOP
		CONTINUE WHEN code % 4 <> 0;
		bytes := set_byte(set_byte('\x0000', 0, 161 + code / 94), 1, 161 + code % 94);
		BEGIN
			c := convert_from(bytes, encoding);
			IF convert_to(c, encoding) = bytes THEN
				result := result || c;
			END IF;
		EXCEPTION WHEN OTHERS THEN
			NULL;
		END;
	END LOOP;
	IF encoding <> 'EUC_JP' AND encoding <> 'EUC_CN' THEN
		result := replace(result, 'é', '');
	END IF;
	RETURN result;
END $$;
SELECT characters_of('EUC_JP') AS jp, characters_of('EUC_KR') AS kr, characters_of('EUC_CN') AS cn,
	characters_of('EUC_TW') AS tw \gset
SELECT length(:'jp') > 1500 AND length(:'kr') > 1500 AND length(:'cn') > 1500 AND length(:'tw') > 1000 AS many;

-- fingerprints of texts of one to six pieces; nothing here depends on the encoding
SELECT $function$
	CREATE FUNCTION fingerprints(letters text) RETURNS text LANGUAGE sql RETURN (
		WITH b (body) AS MATERIALIZED (
			SELECT string_agg(c, '' ORDER BY i)
			FROM (SELECT length(letters) OFFSET 0) AS n (n), generate_series(1, 20000) i,
				unnest(string_to_array(letters, NULL)) WITH ORDINALITY AS l (c, place)
			WHERE place = 1 + (hashint8extended(i, 7) & 2147483647) % n)
		SELECT string_agg(concat_ws(' ', simhash_compute(document), simhash_compute(document, 2, 'word'),
				simhash_compute(document, 1), simhash_hash(document)), ',' ORDER BY k)
		FROM b, generate_series(0, 7) k,
			LATERAL (SELECT repeat('.', k) || left(body, 20000 - 2300 * k)) AS d (document));
$function$ AS make_function \gset
:make_function
SELECT fingerprints(:'jp') AS jp_result, fingerprints(:'kr') AS kr_result, fingerprints(:'cn') AS cn_result,
	fingerprints(:'tw') AS tw_result \gset
SELECT length(:'jp_result') > 500 AS there, count(DISTINCT r) AS different
FROM unnest(ARRAY[:'jp_result', :'kr_result', :'cn_result', :'tw_result']) r;
DROP FUNCTION characters_of, fingerprints;
SELECT simhash_compute('µm') AS micro, simhash_compute('Việt Nam, thể thao') AS viet,
	simhash_compute('plain ASCII') AS ascii, simhash_hash('plain') AS plain \gset

\connect regression_euc_jp
SET client_encoding = 'UTF8';
CREATE EXTENSION simhash;
:make_function
SELECT fingerprints(:'jp') = :'jp_result' AS same;
-- characters that are valid here but in no table, of two and of three bytes
SELECT simhash_hash(E'\xa9\xa1') AS two, simhash_hash(E'\x8f\xa1\xa1') AS three, simhash_hash(E'a\xa9\xa1b') AS between,
	array_length(simhash_shingles(E'a\xa9\xa1, b\x8f\xa1\xa1c', 1), 1) AS characters,
	simhash_shingles(E'a\xa9\xa1, b\x8f\xa1\xa1C', 1) = ARRAY['a', E'\xa9\xa1', 'b', E'\x8f\xa1\xa1', 'c'] AS kept;

-- a letter with a mark that is one character here; the pieces of a shingle and of a text
-- divide it nowhere
\connect regression_jis_2004
SET client_encoding = 'UTF8';
CREATE EXTENSION simhash;
SELECT count(*) AS shingles, count(*) FILTER (WHERE simhash_shingles(word || ' end', 1, 'word') <> ARRAY[word, 'end']) AS wrong
FROM generate_series(8180, 8200) n, LATERAL (SELECT repeat('a', n) || 'か゚æ̀b') w (word);
SELECT p.* FROM simhash_passages('x か゚æ̀, y か゚ Z. か゚', 'y か゚ z', 2) p;

\connect regression_euc_kr
SET client_encoding = 'UTF8';
CREATE EXTENSION simhash;
:make_function
SELECT fingerprints(:'kr') = :'kr_result' AS same;

\connect regression_euc_cn
SET client_encoding = 'UTF8';
CREATE EXTENSION simhash;
:make_function
SELECT fingerprints(:'cn') = :'cn_result' AS same;

\connect regression_euc_tw
SET client_encoding = 'UTF8';
CREATE EXTENSION simhash;
:make_function
SELECT fingerprints(:'tw') = :'tw_result' AS same;
-- four bytes
SELECT simhash_hash(E'\x8e\xa7\xa1\xa1') AS four, simhash_shingles(E'x\x8e\xa7\xa1\xa1Y',
	2) = ARRAY[E'x\x8e\xa7\xa1\xa1', E'\x8e\xa7\xa1\xa1y'] AS kept;

--
-- Bytes that mean nothing are letters without case; what is stored stays usable
--
\connect regression_win1252
CREATE EXTENSION simhash;
CREATE TABLE docs (id int, body text, fp simhash GENERATED ALWAYS AS (simhash_compute(body)) STORED,
	words simhash GENERATED ALWAYS AS (simhash_compute(body, 2, 'word')) STORED);
INSERT INTO docs VALUES (1, E'The \x81 and the rest of it'), (2, E'the \x81, AND THE REST of it!'),
	(3, E'The \x8d and the rest of it'),
	(4, E'\x81\x8d\x8f\x90\x9d'), (5, E'\x81'), (6, repeat(E'\x81. a\x8d', 10000)), (7, 'The  and the rest of it');
SELECT (SELECT fp FROM docs WHERE id = 2) = fp AS same, (SELECT fp FROM docs WHERE id = 3) <> fp AS other,
	(SELECT fp FROM docs WHERE id = 7) <> fp AS not_dropped
FROM docs WHERE id = 1;
SELECT id, simhash_compute(simhash_shingles(body)) = fp AS of_features,
	simhash_compute(simhash_shingles(body, 2, 'word')) = words AS of_words,
	array_length(simhash_shingles(body, 1), 1) AS characters,
	array_length(simhash_shingles(body, 1, 'word'), 1) AS words
FROM docs ORDER BY id;
SELECT simhash_hash(E'\x81') AS byte, simhash_hash(E'a\x81b') AS between,
	simhash_shingles(E'A\x81b', 2) = ARRAY[E'a\x81', E'\x81b'] AS kept,
	simhash_compute(array_to_tsvector(ARRAY[E'\x81'])) = simhash_hash(E'\x81')::simhash AS lexeme,
	simhash_compute(ARRAY[E'\x81']) = simhash_hash(E'\x81')::simhash AS element;
-- across the border of two pieces
SELECT count(DISTINCT simhash_compute(repeat('.', n) || E'x\x81\x8dy\x81')) AS fingerprints
FROM generate_series(8180, 8200) n;

-- before marks, which are put in order behind it
\connect regression_win1258
SET client_encoding = 'WIN1258';
CREATE EXTENSION simhash;
SELECT simhash_compute(E'\x8a\xcc\xf2x', 1) = simhash_compute(E'\x8a\xf2\xccx', 1) AS canonical,
	simhash_compute(E'\x8a\xf2\xcc') <> simhash_compute(E'\x8a\xf2') AS counted,
	simhash_compute(E'e\xcc\x8a') = simhash_compute(E'\xe8\x8a') AS composed;
SET client_encoding = 'UTF8';
SELECT simhash_compute(U&'Vi\00EA\0323t Nam, th\00EA\0309 thao') = :'viet' AS same;
\set VERBOSITY default
SELECT simhash_shingles(U&'Vi\00EA\0323t');
\set VERBOSITY sqlstate
SELECT simhash_shingles(U&'Vi\00EA\0323t');

\connect regression_latin1
SET client_encoding = 'UTF8';
CREATE EXTENSION simhash;
SELECT simhash_compute('µm') = :'micro' AS same;
-- the server's own conversion is taken, whatever the search path says: this one is an error
CREATE SCHEMA other;
CREATE DEFAULT CONVERSION other.conversion FOR 'LATIN1' TO 'UTF8' FROM iso8859_1_to_utf8;
UPDATE pg_conversion SET conproc = 'win_to_utf8'::regproc WHERE conname = 'conversion';
\connect
SET client_encoding = 'UTF8'; SET search_path = other, pg_catalog, public;
SELECT simhash_compute('µm') = :'micro' AS same;
RESET search_path;
\set VERBOSITY default
SELECT simhash_shingles('µm');
SELECT simhash_shingles(repeat('a', 10000) || 'µm', 1, 'word');
\set VERBOSITY terse

-- no conversion at all: an encoding that servers have up to 18
\connect :back
SELECT current_setting('server_version_num')::int < 190000 AS has_mule \gset
\if :has_mule
	CREATE DATABASE regression_mule ENCODING 'MULE_INTERNAL'
		LOCALE_PROVIDER libc LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0;
	\connect "dbname=regression_mule client_encoding=MULE_INTERNAL"
	CREATE EXTENSION simhash;
	CREATE TABLE docs (body text, fp simhash GENERATED ALWAYS AS (simhash_compute(body)) STORED);
	INSERT INTO docs VALUES ('plain ASCII'), (E'\x81\xe4rger'), (repeat(E'\x81\xe4 \x92\xb0\xa1x', 5000));
	SELECT simhash_compute('plain ASCII') = :'ascii' AND simhash_hash('plain') = :plain AND
		simhash_shingles('Plain ASCII!', 1, 'word') = '{plain,ascii}' AS ascii_right,
		simhash_hash(E'\x81\xe4') = 348660094082823080 AND
		array_length(simhash_shingles(E'\x81\xe4x\x92\xb0\xa1', 1), 1) = 3 AS bytes_right,
		(SELECT count(fp) = 3 AND count(DISTINCT fp) = 3 AND bool_and(fp = simhash_compute(simhash_shingles(body)))
			FROM docs) AS docs_right \gset
	\connect :back
	DROP DATABASE regression_mule;
\else
	\set ascii_right true
	\set bytes_right true
	\set docs_right true
\endif
SELECT :'ascii_right'::bool AS ascii, :'bytes_right'::bool AS bytes, :'docs_right'::bool AS docs;

DROP DATABASE regression_win1252;
DROP DATABASE regression_win1258;
DROP DATABASE regression_latin1;
DROP DATABASE regression_euc_jp;
DROP DATABASE regression_jis_2004;
DROP DATABASE regression_euc_kr;
DROP DATABASE regression_euc_cn;
DROP DATABASE regression_euc_tw;
