-- on the coordinator
-- Look at duplicates first.  A document stays if it or its keeper has changed since pairs.sql, or is gone.  deleted_docs
-- has whole rows, to bring back what should have stayed.
CREATE TEMPORARY TABLE found AS
SELECT id, body, fp FROM docs WHERE id = ANY (ARRAY(SELECT duplicate FROM duplicates UNION SELECT keeper FROM duplicates));
CREATE TEMPORARY TABLE unchanged AS TABLE found INTERSECT TABLE near_rows;
CREATE TABLE deleted_docs AS
SELECT x.* FROM duplicates d JOIN unchanged x ON x.id = d.duplicate JOIN unchanged y ON y.id = d.keeper;
BEGIN;
DELETE FROM docs WHERE id = ANY (ARRAY(SELECT id FROM deleted_docs));
DELETE FROM block_rows WHERE id = ANY (ARRAY(SELECT id FROM deleted_docs));
COMMIT;
