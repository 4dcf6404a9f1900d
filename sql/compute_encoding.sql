--
-- simhash_compute(text) in databases of other encodings: the fingerprint of a
-- text is that of the text in UTF-8
--
\set VERBOSITY terse
SELECT current_database() AS utf8_database \gset
SELECT simhash_compute('Äpfel, Öl und Übermut') AS latin, simhash_compute('naïve café') AS cafe,
	simhash_compute('日本語の文章を比べる') AS japanese,
	simhash_compute(repeat('日本語、Text! ', 10000) || '終わり') AS long \gset
CREATE DATABASE simhash_latin1 ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0;
CREATE DATABASE simhash_euc_jp ENCODING 'EUC_JP' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0;
CREATE DATABASE simhash_sql_ascii ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0;

\connect simhash_latin1
SET client_encoding = 'UTF8';
CREATE EXTENSION simhash;
SELECT simhash_compute('Äpfel, Öl und Übermut') = :'latin' AS latin, simhash_compute('naïve café') = :'cafe' AS cafe;
SELECT simhash_compute('ÄÖÜ') = simhash_compute('äöü') AS folded, simhash_compute('«»¿¡') IS NULL AS none;

\connect simhash_euc_jp
SET client_encoding = 'UTF8';
CREATE EXTENSION simhash;
SELECT simhash_compute('日本語の文章を比べる') = :'japanese' AS japanese,
	simhash_compute(repeat('日本語、Text! ', 10000) || '終わり') = :'long' AS long,
	simhash_compute('。、「」') IS NULL AS none;

-- SQL_ASCII: bytes above 127 are letters of which nothing else is known
\connect simhash_sql_ascii
CREATE EXTENSION simhash;
SELECT simhash_compute('Hello, world') = simhash_compute('HELLO WORLD') AS folded,
	simhash_compute(E'\xc4\xd6\xdc') IS NOT NULL AS letters,
	simhash_compute(E'\xc4\xd6\xdc') = simhash_compute(E'\xe4\xf6\xfc') AS folded_beyond_ascii,
	simhash_compute(E'\xc4 \xd6!') = simhash_compute(E'\xc4\xd6') AS dropped,
	simhash_compute(repeat(E'\xff\x80', 10000)) = simhash_compute(repeat(E'\xff\x80', 3)) IS NOT NULL AS long;

\connect :utf8_database
DROP DATABASE simhash_latin1;
DROP DATABASE simhash_euc_jp;
DROP DATABASE simhash_sql_ascii;
