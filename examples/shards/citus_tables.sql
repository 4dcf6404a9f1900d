-- on the coordinator
-- Write the names of your machines.  block_rows is needed for pairs and for the guard, not for lookups.
SELECT citus_set_coordinator_host('coordinator.example', 5432);
SELECT citus_add_node('worker-1.example', 5432);
SELECT citus_add_node('worker-2.example', 5432);

CREATE TABLE docs (id bigint PRIMARY KEY, body text, fp simhash);
CREATE INDEX docs_fp ON docs USING simhash (fp);
SELECT create_distributed_table('docs', 'id');

CREATE TABLE block_rows (block bigint NOT NULL, fp simhash NOT NULL, id bigint NOT NULL, PRIMARY KEY (id, block));
SELECT create_distributed_table('block_rows', 'block');
