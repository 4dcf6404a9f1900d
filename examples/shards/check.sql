-- on the coordinator
-- Blocks that are in one table only.  This fetches all rows.
CREATE VIEW out_of_step AS
SELECT id, block, 'lacks this block row' AS problem
FROM (SELECT d.id, b.prefix * 4 + b.table_no AS block FROM docs d, simhash_blocks(d.fp) b
      EXCEPT SELECT id, block FROM block_rows) d
UNION ALL
SELECT id, block, 'block row without its document'
FROM (SELECT id, block FROM block_rows
      EXCEPT SELECT d.id, b.prefix * 4 + b.table_no FROM docs d, simhash_blocks(d.fp) b) b;
SELECT * FROM out_of_step;
