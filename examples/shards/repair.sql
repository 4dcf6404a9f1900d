-- on the coordinator
-- 1. Copy the documents that check.sql and fdw_check.sql list.  With Citus, leave out UNION SELECT id FROM misplaced.
BEGIN;
CREATE TABLE repair AS SELECT id FROM out_of_step UNION SELECT id FROM misplaced;
CREATE TABLE repair_docs AS SELECT id, body, fp FROM docs WHERE id + 0 = ANY (ARRAY(SELECT id FROM repair));
COMMIT;

-- on the coordinator
-- 2. Delete everything that has these ids, and load the documents again.  id + 0 asks all shards, not only the one where
-- a document belongs.  The temporary table hides the ordinary staging.  Repeat this, in a new session, until it succeeds.
BEGIN;
DELETE FROM docs WHERE id + 0 = ANY (ARRAY(SELECT id FROM repair));
DELETE FROM block_rows WHERE id = ANY (ARRAY(SELECT id FROM repair));
COMMIT;
CREATE TEMPORARY TABLE staging (id bigint PRIMARY KEY, body text, fp simhash);
CREATE INDEX staging_fp ON staging USING simhash (fp);
INSERT INTO staging SELECT DISTINCT ON (id) id, body, fp FROM repair_docs;
CALL load_staging();

-- on the coordinator
-- 3. The documents that were left out because they are near others.  Decide what to do with them.
TABLE repair_docs EXCEPT SELECT id, body, fp FROM docs WHERE id = ANY (ARRAY(SELECT id FROM repair_docs));

-- on the coordinator
-- 4.
DROP TABLE repair, repair_docs;
