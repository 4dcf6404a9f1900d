-- on the coordinator
-- load_staging reports "block_rows has a row without its document", with a block and a fingerprint.  Write these here.  If
-- the second query has no row, delete the id from block_rows.  If it has another fingerprint, replace its block rows
-- as in change_document.sql.
SELECT id FROM block_rows WHERE block = 264 AND fp = 66;
SELECT id, fp FROM docs WHERE id = ANY (ARRAY(SELECT id FROM block_rows WHERE block = 264 AND fp = 66));
