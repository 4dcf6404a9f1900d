--
-- Arrays of the types belong to the extension, so that postgres_fdw sends them
--
SELECT current_database() AS old_database \gset
CREATE DATABASE simhash_array_types TEMPLATE template0;
\c simhash_array_types
CREATE VIEW array_members AS
SELECT t.typname, n.nspname, e.extname
FROM pg_type t JOIN pg_namespace n ON n.oid = typnamespace JOIN pg_type i ON i.typarray = t.oid
LEFT JOIN pg_depend d ON d.classid = 'pg_type'::regclass AND d.objid = t.oid AND d.deptype = 'e'
AND d.refclassid = 'pg_extension'::regclass
LEFT JOIN pg_extension e ON e.oid = d.refobjid
WHERE i.typname IN ('simhash', 'simhash_ball', 'simhash_bits', 'simhash_bits_ball')
ORDER BY t.typname;
CREATE EXTENSION simhash;
SELECT * FROM array_members;

-- what uses them keeps the extension
CREATE TABLE lists (fps simhash[]);
DROP EXTENSION simhash;
DROP TABLE lists;
DROP EXTENSION simhash;
SELECT * FROM array_members;
SELECT count(*) FROM pg_type WHERE typname LIKE '%simhash%';

-- again, and elsewhere
CREATE SCHEMA ext;
CREATE EXTENSION simhash SCHEMA ext;
SELECT * FROM array_members;
CREATE TABLE lists (fps ext.simhash[], balls ext.simhash_ball[]);
DROP EXTENSION simhash CASCADE;
SELECT * FROM array_members;
\d lists
CREATE EXTENSION simhash SCHEMA public;
SELECT * FROM array_members;

-- moved: before 17 the server does not move arrays that belong to an extension
DO $$ BEGIN
	IF current_setting('server_version_num')::int < 170000 THEN
		ALTER EXTENSION simhash DROP TYPE simhash[];
		ALTER EXTENSION simhash DROP TYPE simhash_ball[];
		ALTER EXTENSION simhash DROP TYPE simhash_bits[];
		ALTER EXTENSION simhash DROP TYPE simhash_bits_ball[];
	END IF;
	ALTER EXTENSION simhash SET SCHEMA ext;
	IF current_setting('server_version_num')::int < 170000 THEN
		ALTER EXTENSION simhash ADD TYPE ext.simhash[];
		ALTER EXTENSION simhash ADD TYPE ext.simhash_ball[];
		ALTER EXTENSION simhash ADD TYPE ext.simhash_bits[];
		ALTER EXTENSION simhash ADD TYPE ext.simhash_bits_ball[];
	END IF;
END $$;
SELECT * FROM array_members;
\c :old_database
DROP DATABASE simhash_array_types;
