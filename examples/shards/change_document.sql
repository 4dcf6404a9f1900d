-- on the coordinator
-- If the new text is near another document, the guard rejects it and nothing is changed.
BEGIN;
DELETE FROM block_rows WHERE id = 1;
UPDATE docs SET body = 'the new text', fp = simhash_minhash('the new text') WHERE id = 1;
INSERT INTO block_rows SELECT b.prefix * 4 + b.table_no, d.fp, d.id FROM docs d, simhash_blocks(d.fp) b WHERE d.id = 1 ORDER BY 1;
COMMIT;
