--
-- All pairs for users who may not read the table, as the documentation says
--
\pset format unaligned
\pset footer off
SET client_min_messages = warning;
\set SHOW_CONTEXT never
CREATE ROLE regress_simhash_pairs;
CREATE TABLE docs (id bigint PRIMARY KEY, fp simhash, body text);
INSERT INTO docs VALUES (1, 0, 'secret'), (2, 1, 'secret'), (3, 65535, 'secret'), (4, NULL, 'secret');
CREATE INDEX docs_fp ON docs USING simhash (fp);

-- a view does not do
CREATE VIEW pairs AS SELECT a_fp, b_fp, distance FROM simhash_find_all('docs_fp');
GRANT SELECT ON pairs TO regress_simhash_pairs;
SET ROLE regress_simhash_pairs;
SELECT * FROM pairs;
RESET ROLE;

-- a function does
CREATE FUNCTION near_docs() RETURNS TABLE (a bigint, b bigint, distance int)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT x.id, y.id, p.distance
    FROM simhash_find_all('docs_fp') p JOIN docs x ON x.ctid = p.a JOIN docs y ON y.ctid = p.b
$$;
REVOKE EXECUTE ON FUNCTION near_docs FROM PUBLIC;
SET ROLE regress_simhash_pairs;
SELECT * FROM near_docs();
RESET ROLE;
GRANT EXECUTE ON FUNCTION near_docs TO regress_simhash_pairs;
SET ROLE regress_simhash_pairs;
SELECT * FROM near_docs();
SELECT * FROM docs;
RESET ROLE;
-- another docs_fp does not come in its way
CREATE TEMPORARY TABLE docs (id bigint, fp simhash);
CREATE INDEX docs_fp ON docs USING simhash (fp);
SELECT * FROM near_docs();

DROP TABLE pg_temp.docs;
DROP FUNCTION near_docs;
DROP VIEW pairs;
DROP TABLE docs;
DROP ROLE regress_simhash_pairs;
