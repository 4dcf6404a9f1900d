--
-- Databases of other encodings: the fingerprint of a text is that of the text
-- in UTF-8
--
\pset format unaligned
\pset footer off
\set VERBOSITY terse
SELECT current_database() AS utf8_database \gset
SELECT simhash_compute('Äpfel, Öl und Übermut') AS latin, simhash_compute('naïve café') AS cafe,
	simhash_compute('日本語の文章を比べる') AS japanese,
	simhash_compute(repeat('日本語、Text! ', 10000) || '終わり') AS long \gset
SELECT simhash_compute('Съешь же ещё этих мягких булок', 2, 'word') AS russian, simhash_hash('Съешь') AS russian_hash,
	simhash_compute(ARRAY['мягких', 'булок'], '{1,2}') AS russian_array,
	simhash_compute('ещё:1,2 этих:3'::tsvector) AS russian_vector,
	simhash_compute('日本語の text を比べる', 1, 'word') AS japanese_words,
	simhash_compute('Übergröße', 3) AS shingle3 \gset
CREATE DATABASE regression_win1251 ENCODING 'WIN1251'
	LOCALE_PROVIDER libc LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0;
CREATE DATABASE regression_latin1 ENCODING 'LATIN1' LOCALE_PROVIDER libc LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0;
CREATE DATABASE regression_euc_jp ENCODING 'EUC_JP' LOCALE_PROVIDER libc LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0;
CREATE DATABASE regression_sql_ascii ENCODING 'SQL_ASCII'
	LOCALE_PROVIDER libc LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0;

\connect regression_latin1
SET client_encoding = 'UTF8';
CREATE EXTENSION simhash;
SELECT simhash_compute('Äpfel, Öl und Übermut') = :'latin' AS latin, simhash_compute('naïve café') = :'cafe' AS cafe,
	simhash_compute('ÄÖÜ') = simhash_compute('äöü') AS folded, simhash_compute('«»¿¡') IS NULL AS none,
	simhash_compute('Übergröße', 3) = :'shingle3' AS shingle3, simhash_shingles('Straße: Ärger', 1, 'word') AS words,
	simhash_compute(simhash_shingles('Äpfel, Öl und Übermut')) = :'latin' AS of_features,
	simhash_compute('Ä'::bytea) = simhash_compute('\xc4'::bytea) AS bytes;
-- a feature that does not exist here: the folding of the micro sign is a Greek letter
SELECT simhash_compute('µm') IS NOT NULL AS fingerprint;
SELECT simhash_shingles('µm');

\connect regression_euc_jp
SET client_encoding = 'UTF8';
CREATE EXTENSION simhash;
SELECT simhash_compute('日本語の文章を比べる') = :'japanese' AS japanese,
	simhash_compute(repeat('日本語、Text! ', 10000) || '終わり') = :'long' AS long,
	simhash_compute('。、「」') IS NULL AS none;

SELECT simhash_compute('日本語の text を比べる', 1, 'word') = :'japanese_words' AS words,
	simhash_shingles('日本語の text を比べる', 1, 'word');

\connect regression_win1251
SET client_encoding = 'UTF8';
CREATE EXTENSION simhash;
SELECT simhash_compute('Съешь же ещё этих мягких булок', 2, 'word') = :'russian' AS words,
	simhash_hash('Съешь') = :'russian_hash' AS hash,
	simhash_compute(ARRAY['мягких', 'булок'], '{1,2}') = :'russian_array' AS "array",
	simhash_compute('ещё:1,2 этих:3'::tsvector) = :'russian_vector' AS vector,
	simhash_compute('МОСКВА') = simhash_compute('москва') AS folded, simhash_shingles('СЪЕШЬ же', 3);
-- text of many pieces, with a window across each border
SELECT count(DISTINCT simhash_compute(repeat('.', n) || repeat('Ты, я; ', 5000))) AS fingerprints
FROM generate_series(0, 8) n;

-- SQL_ASCII: bytes above 127 are letters of which nothing else is known
\connect regression_sql_ascii
CREATE EXTENSION simhash;
SELECT simhash_compute('Hello, world') = simhash_compute('HELLO WORLD') AS folded,
	simhash_compute(E'\xc4\xd6\xdc') IS NOT NULL AS letters,
	simhash_compute(E'\xc4\xd6\xdc') = simhash_compute(E'\xe4\xf6\xfc') AS folded_beyond_ascii,
	simhash_compute(E'\xc4 \xd6!') = simhash_compute(E'\xc4\xd6') AS dropped,
	simhash_compute(repeat(E'\xff\x80', 10000)) = simhash_compute(repeat(E'\xff\x80', 3)) IS NOT NULL AS long;
SELECT array_length(simhash_shingles(E'\xc3\xa4\xff\x80ab'), 1) AS windows,
	simhash_hash(E'\xff') <> simhash_hash(E'\xfe') AS hashes_differ,
	simhash_compute(E'\xc3\xa4\xff\x80Ab') = simhash_compute('\xc3a4ff806162'::bytea, 4) AS as_bytes,
	array_length(simhash_shingles(E'a\xff, \x80b!c', 1, 'word'), 1) AS words,
	simhash_compute(ARRAY[E'\xff']) = simhash_hash(E'\xff')::simhash AS feature;

\connect :utf8_database
DROP DATABASE regression_win1251;
DROP DATABASE regression_latin1;
DROP DATABASE regression_euc_jp;
DROP DATABASE regression_sql_ascii;
