--
-- Inspection: who may, and as whom the functions of an index run
--
\pset format unaligned
\pset footer off
CREATE ROLE regress_simhash_owner;
CREATE ROLE regress_simhash_other;
CREATE SCHEMA inspect_privileges_test AUTHORIZATION regress_simhash_owner;
GRANT USAGE ON SCHEMA inspect_privileges_test TO regress_simhash_other;
SET SESSION AUTHORIZATION regress_simhash_owner;
CREATE TABLE inspect_privileges_test.docs (id int, fp simhash);
INSERT INTO inspect_privileges_test.docs VALUES (1, 5);
CREATE FUNCTION inspect_privileges_test.same(simhash) RETURNS simhash LANGUAGE plpgsql IMMUTABLE AS
$$ BEGIN RETURN $1; END $$;
CREATE INDEX docs_fp ON inspect_privileges_test.docs USING simhash (inspect_privileges_test.same(fp));
CREATE OR REPLACE FUNCTION inspect_privileges_test.same(simhash) RETURNS simhash LANGUAGE plpgsql IMMUTABLE AS
$$ BEGIN RAISE NOTICE 'run as %', current_user; RETURN $1; END $$;
RESET SESSION AUTHORIZATION;

-- a superuser who checks the index does not run its owner's code as superuser
SELECT simhash_index_check('inspect_privileges_test.docs_fp', true) \gset
SELECT current_user = session_user AS myself_again;
SELECT table_no, permutation, prefix_bits, levels, inner_pages, leaf_pages, entries
FROM simhash_index_info('inspect_privileges_test.docs_fp');

-- the check is for the owner, the information for who may read the table
SET SESSION AUTHORIZATION regress_simhash_other;
SELECT simhash_index_check('inspect_privileges_test.docs_fp');
SELECT count(*) FROM simhash_index_info('inspect_privileges_test.docs_fp');
RESET SESSION AUTHORIZATION;
GRANT SELECT ON inspect_privileges_test.docs TO regress_simhash_other;
SET SESSION AUTHORIZATION regress_simhash_other;
SELECT count(*) FROM simhash_index_info('inspect_privileges_test.docs_fp');
RESET SESSION AUTHORIZATION;

-- an index that has grown is shown as it is
CREATE INDEX docs_plain ON inspect_privileges_test.docs USING simhash (fp);
SELECT DISTINCT levels, entries FROM simhash_index_info('inspect_privileges_test.docs_plain')
WHERE table_no IS NOT NULL;
DROP INDEX inspect_privileges_test.docs_fp;
INSERT INTO inspect_privileges_test.docs
SELECT i, ('x' || left(md5(i::text), 16))::bit(64)::bigint FROM generate_series(1, 2000) i;
SELECT DISTINCT levels, entries FROM simhash_index_info('inspect_privileges_test.docs_plain')
WHERE table_no IS NOT NULL;
SELECT simhash_index_check('inspect_privileges_test.docs_plain', true) \gset

-- rows that a policy hides are counted, as the server does for everybody
VACUUM inspect_privileges_test.docs;
ALTER TABLE inspect_privileges_test.docs ENABLE ROW LEVEL SECURITY;
SET SESSION AUTHORIZATION regress_simhash_other;
SELECT count(*), (SELECT reltuples FROM pg_class WHERE oid = 'inspect_privileges_test.docs'::regclass),
	(SELECT DISTINCT entries FROM simhash_index_info('inspect_privileges_test.docs_plain') WHERE table_no IS NOT NULL)
FROM inspect_privileges_test.docs;
RESET SESSION AUTHORIZATION;

-- what is no simhash index
CREATE INDEX docs_id ON inspect_privileges_test.docs (id);
SELECT simhash_index_check('inspect_privileges_test.docs');
SELECT simhash_index_check('inspect_privileges_test.docs_id');
SELECT * FROM simhash_index_info('inspect_privileges_test.docs_id');
SELECT simhash_index_check(0);

SET client_min_messages = warning;
DROP SCHEMA inspect_privileges_test CASCADE;
DROP ROLE regress_simhash_owner, regress_simhash_other;
