-- on the coordinator
-- Create both extensions on the new worker first, by citus_machine.sql.  Loads and lookups can go on.
SELECT citus_add_node('worker-3.example', 5432);
SELECT rebalance_table_shards();
