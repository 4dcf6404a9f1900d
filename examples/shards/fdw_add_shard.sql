-- on each shard
-- 1. Set up the new shard like the others, with all that was created on each shard.  Then refuse writes on all shards.
-- This waits for the loads that have begun.
BEGIN;
LOCK TABLE layout IN EXCLUSIVE MODE;
UPDATE layout SET name = 'moving to layout 2';
COMMIT;

-- on the coordinator
-- 2. Connect the new shard to each coordinator.
CREATE SERVER IF NOT EXISTS shard_4 FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host 'shard-4.example', dbname 'corpus', extensions 'simhash',
    async_capable 'true', fetch_size '10000', batch_size '100', connect_timeout '5', keepalives_idle '30', keepalives_interval '10',
    keepalives_count '3', tcp_user_timeout '60000', options '-c lock_timeout=5s -c statement_timeout=1h', application_name 'layout 2');
CREATE USER MAPPING IF NOT EXISTS FOR PUBLIC SERVER shard_4 OPTIONS (user 'corpus', password 'secret');
CREATE FOREIGN TABLE IF NOT EXISTS docs_4 (id bigint NOT NULL, body text, fp simhash) SERVER shard_4 OPTIONS (table_name 'docs');
CREATE FOREIGN TABLE IF NOT EXISTS block_rows_4 (block bigint NOT NULL, fp simhash NOT NULL, id bigint NOT NULL)
    SERVER shard_4 OPTIONS (table_name 'block_rows');
CREATE FOREIGN TABLE IF NOT EXISTS near_values_4 (a simhash, b simhash, distance int) SERVER shard_4 OPTIONS (table_name 'near_values');

-- on the coordinator
-- 3. Copy the rows, on one coordinator and in a new session.  OFFSET 0 is necessary: without it, the shard would
-- evaluate the condition, and there docs has another OID.
SET postgres_fdw.application_name = 'moving to layout 2';
BEGIN;
INSERT INTO docs_4 SELECT * FROM (SELECT * FROM docs_1 OFFSET 0) d
WHERE satisfies_hash_partition('docs'::regclass, 6, 3, id) AND NOT EXISTS (SELECT FROM docs_4);
INSERT INTO block_rows_4 SELECT * FROM (SELECT * FROM block_rows_1 OFFSET 0) b
WHERE satisfies_hash_partition('block_rows'::regclass, 6, 3, block) AND NOT EXISTS (SELECT FROM block_rows_4);
COMMIT;

-- on the coordinator
-- 4. Switch each coordinator.  The error "docs_4" is already a partition means that this is done.  Also add docs_4 to
-- fdw_nearest.sql.
BEGIN;
ALTER TABLE docs DETACH PARTITION docs_1;
ALTER TABLE docs ATTACH PARTITION docs_1 FOR VALUES WITH (MODULUS 6, REMAINDER 0);
ALTER TABLE docs ATTACH PARTITION docs_4 FOR VALUES WITH (MODULUS 6, REMAINDER 3);
ALTER TABLE block_rows DETACH PARTITION block_rows_1;
ALTER TABLE block_rows ATTACH PARTITION block_rows_1 FOR VALUES WITH (MODULUS 6, REMAINDER 0);
ALTER TABLE block_rows ATTACH PARTITION block_rows_4 FOR VALUES WITH (MODULUS 6, REMAINDER 3);
CREATE OR REPLACE VIEW near_values AS
TABLE near_values_1 UNION ALL TABLE near_values_2 UNION ALL TABLE near_values_3 UNION ALL TABLE near_values_4;
ALTER SERVER shard_1 OPTIONS (SET application_name 'layout 2');
ALTER SERVER shard_2 OPTIONS (SET application_name 'layout 2');
ALTER SERVER shard_3 OPTIONS (SET application_name 'layout 2');
COMMIT;

-- on the coordinator
-- 5. Delete what was copied, on one coordinator and in a new session.  An array holds about 25 million block rows: to
-- delete more, add WHERE id % 16 = 0 to both subqueries, and repeat this with 1 to 15.
SET postgres_fdw.application_name = 'moving to layout 2';
BEGIN;
DELETE FROM docs_1 WHERE id = ANY (ARRAY(SELECT id FROM docs_4));
DELETE FROM block_rows_1 WHERE int8send(block) || int8send(id) = ANY (ARRAY(SELECT int8send(block) || int8send(id) FROM block_rows_4));
COMMIT;

-- on each shard
-- 6. Accept writes again, from the coordinators that have switched.
UPDATE layout SET name = 'layout 2';
