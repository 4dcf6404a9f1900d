-- on the coordinator
-- Load all documents, near-duplicates too, where there is no guard.  Every transaction must write to both tables.  When
-- docs has rows already, load new ids only, and add WHERE d.id = ANY (ARRAY(SELECT id FROM texts)).
BEGIN;
INSERT INTO docs SELECT id, body, simhash_minhash(body) FROM texts;
INSERT INTO block_rows SELECT b.prefix * 4 + b.table_no, d.fp, d.id FROM docs d, simhash_blocks(d.fp) b;
COMMIT;
