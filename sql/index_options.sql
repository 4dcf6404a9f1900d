--
-- Options that no index of the column can have, which ALTER INDEX cannot refuse, and a
-- column that lost its width, which ALTER TABLE takes
--
\pset format unaligned
\pset footer off
CREATE SCHEMA index_options_test;
SET search_path = index_options_test, public; SET client_min_messages = warning;

CREATE TABLE narrow (fp simhash);
CREATE TABLE wide (fp simhash_bits(256));
CREATE UNLOGGED TABLE unlogged (fp simhash);
CREATE TEMPORARY TABLE emptied (fp simhash) ON COMMIT DELETE ROWS;
-- a new index is refused, also if there are no rows
SELECT message FROM attempt('CREATE INDEX ON narrow USING simhash (fp) WITH (blocks = 32, distance = 31)');
SELECT message FROM attempt('CREATE INDEX ON wide USING simhash (fp) WITH (blocks = 5)');

CREATE INDEX CONCURRENTLY refused ON narrow USING simhash (fp) WITH (blocks = 32, distance = 31);
DROP INDEX refused;

CREATE INDEX narrow_fp ON narrow USING simhash (fp) WITH (blocks = 5);
CREATE INDEX wide_fp ON wide USING simhash (fp) WITH (blocks = 8);
CREATE INDEX unlogged_fp ON unlogged USING simhash (fp);
CREATE INDEX emptied_fp ON emptied USING simhash (fp);
INSERT INTO narrow SELECT i FROM generate_series(1, 10) i;
INSERT INTO wide SELECT wide(i::text, 256) FROM generate_series(1, 10) i;
INSERT INTO unlogged SELECT i FROM generate_series(1, 10) i;
ALTER INDEX narrow_fp SET (blocks = 32, distance = 31);
ALTER INDEX wide_fp SET (blocks = 5);
ALTER INDEX unlogged_fp SET (blocks = 32, distance = 31);
ALTER INDEX emptied_fp SET (blocks = 32, distance = 31);

-- with rows an error, after which all is as before
REINDEX INDEX narrow_fp;
REINDEX INDEX wide_fp;
SELECT message FROM attempt('TRUNCATE narrow; INSERT INTO narrow VALUES (1); REINDEX INDEX narrow_fp');
SELECT count(*) FROM narrow;
SELECT simhash_index_check('narrow_fp', true), simhash_index_check('wide_fp', true) \gset

-- a warning by what removes the rows, and by nothing else, whatever other tables there are
DO $$ BEGIN EXECUTE format('CREATE TABLE pg_temp_%s ()', 'narrow'::regclass::oid); END $$;
TRUNCATE narrow, wide, unlogged;
DO $$ BEGIN EXECUTE format('DROP TABLE pg_temp_%s', 'narrow'::regclass::oid); END $$;
BEGIN;
INSERT INTO emptied SELECT i FROM generate_series(1, 10) i;
COMMIT;
VACUUM FULL narrow;
REINDEX INDEX wide_fp;
INSERT INTO narrow VALUES (1);
INSERT INTO wide SELECT wide(i::text, 256) FROM generate_series(1, 10) i;
INSERT INTO unlogged VALUES (1);
BEGIN;
INSERT INTO emptied VALUES (1), (2);
SET LOCAL enable_seqscan = off;
SELECT count(*) FROM emptied WHERE fp <~> 1 <= 3;
COMMIT;
SELECT i, simhash_index_check(i::regclass, true) FROM unnest('{narrow_fp,wide_fp,unlogged_fp,emptied_fp}'::text[]) i;
SELECT count(*) AS trees_of_wide FROM simhash_index_info('wide_fp');

-- and without these options all is well
ALTER INDEX narrow_fp RESET (blocks, distance);
REINDEX INDEX narrow_fp;
SELECT simhash_index_check('narrow_fp', true) \gset

DROP TABLE emptied;

--
-- A column without a width, on which there is an index already
--
SELECT message FROM attempt('CREATE TABLE widthless (fp simhash_bits); CREATE INDEX ON widthless USING simhash (fp)');
CREATE TABLE lost (g int, fp simhash_bits(128), id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY);
CREATE UNLOGGED TABLE lost_unlogged (fp simhash_bits(128));
CREATE TEMPORARY TABLE lost_emptied (fp simhash_bits(128)) ON COMMIT DELETE ROWS;
CREATE INDEX lost_fp ON lost USING simhash (fp) WITH (blocks = 8);
CREATE INDEX lost_g_fp ON lost USING simhash (g, fp);
CREATE INDEX lost_unlogged_fp ON lost_unlogged USING simhash (fp);
CREATE INDEX lost_emptied_fp ON lost_emptied USING simhash (fp);
ALTER TABLE lost ALTER fp TYPE simhash_bits;
ALTER TABLE lost_unlogged ALTER fp TYPE simhash_bits;
ALTER TABLE lost_emptied ALTER fp TYPE simhash_bits;
INSERT INTO lost SELECT i % 2, wide(i::text, 128) FROM generate_series(1, 10) i;

-- with rows an error, after which all is as before
REINDEX TABLE lost;
VACUUM FULL lost;
REINDEX INDEX CONCURRENTLY lost_fp;
DROP INDEX lost_fp_ccnew;
SELECT count(*) FROM lost;
SELECT simhash_index_check('lost_fp', true), simhash_index_check('lost_g_fp', true) \gset

-- no less without rows, unless they have just been removed
DELETE FROM lost;
VACUUM lost;
REINDEX INDEX lost_fp;
VACUUM FULL lost;
CLUSTER lost USING lost_pkey;
SELECT message FROM attempt('ALTER TABLE lost SET UNLOGGED');
SELECT message FROM attempt('TRUNCATE lost; CLUSTER lost USING lost_pkey');
INSERT INTO lost SELECT i % 2, wide(i::text, 128) FROM generate_series(1, 10) i;
SELECT simhash_index_check('lost_fp', true), simhash_index_check('lost_g_fp', true) \gset

-- by TRUNCATE a warning
BEGIN;
TRUNCATE lost;
SAVEPOINT s;
TRUNCATE lost;
REINDEX INDEX lost_fp;
COMMIT;
TRUNCATE lost_unlogged;
BEGIN;
COMMIT;
-- the index is for 64 bits, until the column has a width
INSERT INTO lost SELECT i % 2, wide(i::text, 64) FROM generate_series(1, 10) i;
INSERT INTO lost_unlogged SELECT wide(i::text, 64) FROM generate_series(1, 10) i;
SELECT message FROM attempt('INSERT INTO lost VALUES (1, wide(''11'', 128))');
SELECT i, simhash_index_check(i::regclass, true) FROM unnest('{lost_fp,lost_g_fp,lost_unlogged_fp}'::text[]) i;
BEGIN;
SELECT message FROM attempt('INSERT INTO lost_emptied VALUES (wide(''1'', 128))');
INSERT INTO lost_emptied SELECT wide(i::text, 64) FROM generate_series(1, 10) i;
SET LOCAL enable_seqscan = off;
SELECT count(*) FROM lost_emptied WHERE fp = wide('3', 64);
COMMIT;
TRUNCATE lost;
ALTER TABLE lost ALTER fp TYPE simhash_bits(128);
ALTER TABLE lost_emptied ALTER fp TYPE simhash_bits(128);
INSERT INTO lost SELECT i % 2, wide(i::text, 128) FROM generate_series(1, 10) i;
REINDEX TABLE lost;
SELECT simhash_index_check('lost_fp', true), simhash_index_check('lost_g_fp', true) \gset
BEGIN;
INSERT INTO lost_emptied SELECT wide(i::text, 128) FROM generate_series(1, 10) i;
COMMIT;

-- a function that computes fingerprints and is no longer immutable: an emptied index stays as it was
CREATE FUNCTION title_fp(title text) RETURNS simhash LANGUAGE sql IMMUTABLE STRICT RETURN public.simhash_minhash(title);
CREATE FUNCTION same_title(a text, b text) RETURNS boolean LANGUAGE sql IMMUTABLE STRICT RETURN a = b;
CREATE OPERATOR ~== (LEFTARG = text, RIGHTARG = text, FUNCTION = same_title, COMMUTATOR = ~==);
CREATE OPERATOR CLASS title_ops FOR TYPE text USING simhash AS OPERATOR 4 ~==, FUNCTION 2 title_fp(text);
CREATE TEMP TABLE titles (title text) ON COMMIT DELETE ROWS;
CREATE INDEX titles_title ON titles USING simhash (title title_ops);
ALTER FUNCTION title_fp STABLE;
INSERT INTO titles VALUES ('one title');
-- from 17 on with the name of the schema
SELECT state, replace(message, 'index_options_test.', '') AS message FROM attempt('REINDEX TABLE titles');
BEGIN;
INSERT INTO titles VALUES ('one title');
SELECT simhash_index_check('titles_title', true) \gset
COMMIT;

DROP TABLE titles, lost_emptied;
DROP SCHEMA index_options_test CASCADE;
