--
-- Arrays of the types: they come and go and move with the extension
--
SELECT current_database() AS old_database \gset
CREATE DATABASE regression_array_types TEMPLATE template0;
\c regression_array_types
CREATE VIEW array_types AS
SELECT t.typname, n.nspname
FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace JOIN pg_type i ON i.typarray = t.oid
WHERE i.typname IN ('simhash', 'simhash_ball', 'simhash_bits', 'simhash_bits_ball')
ORDER BY t.typname;
-- the script needs no language but SQL
DROP EXTENSION plpgsql;
CREATE EXTENSION simhash;
SELECT * FROM array_types;

-- what uses them keeps the extension
CREATE TABLE lists (fps simhash[]);
DROP EXTENSION simhash;
DROP TABLE lists;
DROP EXTENSION simhash;
SELECT * FROM array_types;
SELECT count(*) FROM pg_type WHERE typname LIKE '%simhash%';

-- again, and elsewhere
CREATE SCHEMA ext;
CREATE EXTENSION simhash SCHEMA ext;
SELECT * FROM array_types;
CREATE TABLE lists (fps ext.simhash[], balls ext.simhash_ball[]);
DROP EXTENSION simhash CASCADE;
SELECT * FROM array_types;
\d lists
CREATE EXTENSION simhash SCHEMA public;

-- moved
CREATE TABLE lists_2 (fps simhash[], wide simhash_bits[]);
INSERT INTO lists_2 VALUES ('{1,2}', '{00,ff}');
ALTER EXTENSION simhash SET SCHEMA ext;
SELECT * FROM array_types;
SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'lists_2'::regclass AND attnum > 0 ORDER BY attnum;
SELECT * FROM lists_2 WHERE 2::ext.simhash OPERATOR(ext.=) ANY (fps);
\c :old_database
DROP DATABASE regression_array_types;
