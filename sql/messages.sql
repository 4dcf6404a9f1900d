--
-- Errors that say what to do instead
--
\pset format unaligned
\pset footer off
CREATE SCHEMA messages_test;
SET search_path = messages_test, public;
\set VERBOSITY default

-- the number of blocks that goes with a distance
CREATE TABLE tickets (id int PRIMARY KEY, fp simhash);
CREATE INDEX ON tickets USING simhash (fp) WITH (distance = 6);
CREATE INDEX ON tickets USING simhash (fp) WITH (distance = 4);
CREATE INDEX ON tickets USING simhash (fp) WITH (distance = 15);
CREATE INDEX ON tickets USING simhash (fp) WITH (blocks = 1, distance = 1);
CREATE INDEX ON tickets USING simhash (fp) WITH (blocks = 16, distance = 8);
CREATE INDEX ON tickets USING simhash (fp) WITH (blocks = 2);
CREATE TABLE images (id int, pdq simhash_bits(256), md5 uuid);
CREATE INDEX ON images USING simhash (pdq) WITH (distance = 60);
CREATE INDEX ON images USING simhash (pdq) WITH (blocks = 20, distance = 3);
CREATE INDEX ON images USING simhash (pdq) WITH (fillfactor = 50);
SELECT * FROM simhash_tables(4, -1);
SELECT * FROM simhash_tables(16, 16);
-- what the hints say is so
SELECT (SELECT count(*) FROM simhash_tables(7, 6)) AS least_6, (SELECT count(*) FROM simhash_tables(10, 6)) AS most_6,
	(SELECT count(*) FROM simhash_tables(16, 15)) AS only_15;
SELECT * FROM simhash_tables(11, 6);

-- the index that was meant
SELECT * FROM simhash_index_info('tickets');
CREATE INDEX tickets_fp ON tickets USING simhash (fp);
SELECT * FROM simhash_index_info('tickets');
SELECT * FROM simhash_index_info('tickets_pkey');
SELECT simhash_index_check('tickets');
CREATE INDEX "an other" ON tickets USING simhash (fp);
SELECT * FROM simhash_index_info('tickets');
RESET search_path;
SELECT * FROM simhash_index_info('messages_test.tickets');
SELECT * FROM simhash_index_info('pg_class');
SELECT * FROM simhash_index_info('pg_stat_activity');
SELECT * FROM simhash_index_info(0);
CREATE ROLE regress_simhash_messages;
GRANT USAGE ON SCHEMA messages_test TO regress_simhash_messages;
SET ROLE regress_simhash_messages;
SELECT * FROM simhash_find_duplicates('messages_test.images');
RESET ROLE;
SELECT * FROM simhash_find_duplicates('messages_test.images');
CREATE VIEW messages_test.open_tickets AS SELECT * FROM messages_test.tickets;
SELECT * FROM simhash_find_all('messages_test.open_tickets');
SET search_path = messages_test, public;
DROP INDEX "an other";

-- what can be indexed
CREATE TABLE articles (id int PRIMARY KEY, account bigint, lang text, title varchar(100), published timestamptz,
	image bytea, fp simhash);
CREATE INDEX ON articles USING simhash (title);
CREATE INDEX ON articles USING simhash (lang, title);
CREATE INDEX ON articles USING simhash (account, title);
CREATE INDEX ON articles USING simhash (title, title);
CREATE INDEX ON articles USING simhash (lower(title));
CREATE INDEX "Titles" ON articles USING simhash (fp, title);
CREATE INDEX ON articles USING simhash (id);
CREATE INDEX ON images USING simhash (md5);
CREATE INDEX ON articles USING simhash (image);
CREATE INDEX ON articles USING simhash (published);
CREATE INDEX ON articles USING simhash (fp, published);
ALTER TABLE articles ADD EXCLUDE USING simhash (fp WITH %, lang WITH =);
ALTER TABLE articles RENAME title TO "the title";
CREATE INDEX ON articles USING simhash ("the title");
CREATE INDEX ON articles USING simhash (simhash_compute("the title"));
-- and what the hints say can be
CREATE TABLE hashes (digits text, "Digits" char(16), v varchar(16), n name, bytes bytea);
INSERT INTO hashes SELECT d, d, d, d, decode(d, 'hex') FROM (VALUES ('f8e5a0b1c2d3e4f5'), ('00000000000000ff')) v (d);
CREATE INDEX ON hashes USING simhash ("Digits");
CREATE INDEX ON hashes USING simhash (n);
CREATE INDEX ON hashes USING simhash ((rpad("Digits", 20)::char(20)));
CREATE INDEX ON hashes USING simhash ((bytes || '\x00'));
CREATE INDEX ON hashes USING simhash ((('0x' || digits)::simhash));
CREATE INDEX ON hashes USING simhash ((('0x' || "Digits")::simhash));
CREATE INDEX ON hashes USING simhash ((('0x' || v)::simhash));
CREATE INDEX ON hashes USING simhash ((('0x' || n)::simhash));
CREATE INDEX ON hashes USING simhash (("Digits"::text) simhash_text_ops);
CREATE INDEX ON hashes USING simhash ((n::text) simhash_text_ops);
CREATE INDEX ON hashes USING simhash ((bytes::simhash));
CREATE INDEX ON hashes USING simhash (simhash_minhash(bytes));
-- what a fingerprint is not is refused when it comes
INSERT INTO hashes (bytes) VALUES ('\x0102030405060708090a');
SELECT digits, ('0x' || digits)::simhash = bytes::simhash AS same FROM hashes;

-- how values are written
SELECT simhash '\xf8e5a0b1c2d3e4f5';
SELECT simhash '\x12';
SELECT simhash '\x';
SELECT simhash '\xf8e5a0b1c2d3e4f5a';
SELECT 'd41d8cd98f00b204e9800998ecf8427e'::simhash;
SELECT simhash_minhash_bits('one two three')::simhash_bits(128);
SELECT simhash_ball 'a title';
SELECT simhash_ball '42';

-- options that wait for a REINDEX
ALTER INDEX tickets_fp SET (blocks = 5);
SELECT count(*) FROM simhash_index_info('tickets_fp');
ALTER INDEX tickets_fp SET (blocks = 3, distance = 2);
SELECT count(*) FROM simhash_index_info('tickets_fp');
REINDEX INDEX tickets_fp;
SELECT count(*) FROM simhash_index_info('tickets_fp');
ALTER INDEX tickets_fp RESET (blocks, distance);
SELECT count(*) FROM simhash_index_info('tickets_fp');
ALTER INDEX tickets_fp SET (blocks = 3, distance = 2, fillfactor = 50);
SELECT count(*) FROM simhash_index_info('tickets_fp');
ALTER INDEX tickets_fp SET (distance = 3);

-- conditions on two rows, and orders of rows
SELECT * FROM simhash_find_duplicates('tickets_fp', same => '.9');
SELECT * FROM simhash_find_duplicates('tickets_fp', same => 'x.id = y.id');
SELECT * FROM simhash_find_duplicates('tickets_fp', same => 'tickets.id = b.id');
SELECT * FROM simhash_find_duplicates('tickets_fp', same => 'id > 3');
SELECT * FROM simhash_find_duplicates('tickets_fp', keep => 'a.id');

-- another threshold
CREATE INDEX articles_lang ON articles USING simhash (lang simhash_text_ops);
SELECT * FROM simhash_find_duplicates('articles_lang', 3);

SET client_min_messages = warning;
DROP SCHEMA messages_test CASCADE;
DROP ROLE regress_simhash_messages;
