-- on each shard
-- The blocks that the documents should have, and those that there are, added up
CREATE VIEW shard_state AS
SELECT (SELECT sum(hashint8extended(b.prefix * 4 + b.table_no, d.id)) FROM docs d, simhash_blocks(d.fp) b) AS of_docs,
       (SELECT sum(hashint8extended(block, id)) FROM block_rows) AS of_block_rows;
