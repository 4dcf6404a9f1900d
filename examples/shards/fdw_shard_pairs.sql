-- on each shard
-- The pairs among the block rows of this shard.  The last argument of simhash_find_all_in leaves out pairs that an
-- earlier block has found.  A fingerprint of several rows is returned as a pair with itself.
CREATE VIEW near_values AS
SELECT p.a, p.b, p.distance
FROM simhash_tables(4, 3) t,
     simhash_find_all_in(ARRAY(SELECT fp FROM block_rows r WHERE r.block % 4 = t.table_no), 3, 4, t.table_no) p
UNION ALL
SELECT DISTINCT fp, fp, 0 FROM simhash_find_clusters('block_rows_0_fp', 0);
