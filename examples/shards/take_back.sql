-- on the coordinator
-- After a load that has failed at the commit, when all machines are there again: delete its rows, and load again.
BEGIN;
DELETE FROM docs WHERE id = ANY (ARRAY(SELECT id FROM staging));
DELETE FROM block_rows WHERE id = ANY (ARRAY(SELECT id FROM staging));
COMMIT;
CALL load_staging();
