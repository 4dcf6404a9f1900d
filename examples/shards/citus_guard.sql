-- on the coordinator
-- Experimental: this keeps near-duplicates out.  It belongs to the distributed table, and shards keep it when they
-- are moved.
ALTER TABLE block_rows ADD CONSTRAINT block_rows_near EXCLUDE USING simhash (block WITH =, fp WITH %) WITH (blocks = 1, distance = 0);
