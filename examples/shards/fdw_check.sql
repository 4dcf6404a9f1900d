-- on the coordinator
-- If this is false while no rows are being written, go on with check.sql.
CREATE FOREIGN TABLE shard_state_1 (of_docs numeric, of_block_rows numeric) SERVER shard_1 OPTIONS (table_name 'shard_state');
CREATE FOREIGN TABLE shard_state_2 (of_docs numeric, of_block_rows numeric) SERVER shard_2 OPTIONS (table_name 'shard_state');
CREATE FOREIGN TABLE shard_state_3 (of_docs numeric, of_block_rows numeric) SERVER shard_3 OPTIONS (table_name 'shard_state');
CREATE VIEW shard_state AS TABLE shard_state_1 UNION ALL TABLE shard_state_2 UNION ALL TABLE shard_state_3;
SELECT coalesce(sum(of_docs), 0) = coalesce(sum(of_block_rows), 0) AS in_step FROM shard_state;

-- on the coordinator
-- Rows on a shard to which they do not belong.  This fetches all rows.
CREATE VIEW misplaced AS
WITH place AS MATERIALIZED (
    SELECT oid, bound[1]::int AS modulus, bound[2]::int AS remainder
    FROM pg_class, regexp_match(pg_get_expr(relpartbound, oid), 'modulus (\d+), remainder (\d+)') bound
    WHERE oid IN (SELECT inhrelid FROM pg_inherits WHERE inhparent IN ('docs'::regclass, 'block_rows'::regclass)))
SELECT id, NULL AS block, place.oid::regclass AS place
FROM (SELECT tableoid, id FROM docs OFFSET 0) d JOIN place ON place.oid = d.tableoid
WHERE NOT satisfies_hash_partition('docs'::regclass, modulus, remainder, id)
UNION ALL
SELECT id, block, place.oid::regclass
FROM (SELECT tableoid, id, block FROM block_rows OFFSET 0) b JOIN place ON place.oid = b.tableoid
WHERE NOT satisfies_hash_partition('block_rows'::regclass, modulus, remainder, block);
SELECT * FROM misplaced;
