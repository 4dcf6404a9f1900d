-- on each shard
-- Experimental: this keeps near-duplicates out.  Do not make it deferrable: it would fail at the commit.
ALTER TABLE block_rows_0 ADD EXCLUDE USING simhash (block WITH =, fp WITH %) WITH (blocks = 1, distance = 0);
ALTER TABLE block_rows_1 ADD EXCLUDE USING simhash (block WITH =, fp WITH %) WITH (blocks = 1, distance = 0);
ALTER TABLE block_rows_2 ADD EXCLUDE USING simhash (block WITH =, fp WITH %) WITH (blocks = 1, distance = 0);
ALTER TABLE block_rows_3 ADD EXCLUDE USING simhash (block WITH =, fp WITH %) WITH (blocks = 1, distance = 0);
