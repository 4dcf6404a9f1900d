-- on the coordinator
-- As a superuser.  Write the names of your machines and the password of the role on the shards.  Grant nobody USAGE on
-- the servers.
CREATE EXTENSION simhash;
DO $$ BEGIN
    ALTER EXTENSION simhash ADD TYPE simhash[];
    ALTER EXTENSION simhash ADD TYPE simhash_bits[];
EXCEPTION WHEN object_not_in_prerequisite_state THEN    -- since PostgreSQL 17
END $$;
CREATE EXTENSION postgres_fdw;
CREATE SERVER shard_1 FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host 'shard-1.example', dbname 'corpus', extensions 'simhash',
    async_capable 'true', fetch_size '10000', batch_size '100', connect_timeout '5', keepalives_idle '30', keepalives_interval '10',
    keepalives_count '3', tcp_user_timeout '60000', options '-c lock_timeout=5s -c statement_timeout=1h', application_name 'layout 1');
CREATE SERVER shard_2 FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host 'shard-2.example', dbname 'corpus', extensions 'simhash',
    async_capable 'true', fetch_size '10000', batch_size '100', connect_timeout '5', keepalives_idle '30', keepalives_interval '10',
    keepalives_count '3', tcp_user_timeout '60000', options '-c lock_timeout=5s -c statement_timeout=1h', application_name 'layout 1');
CREATE SERVER shard_3 FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host 'shard-3.example', dbname 'corpus', extensions 'simhash',
    async_capable 'true', fetch_size '10000', batch_size '100', connect_timeout '5', keepalives_idle '30', keepalives_interval '10',
    keepalives_count '3', tcp_user_timeout '60000', options '-c lock_timeout=5s -c statement_timeout=1h', application_name 'layout 1');
CREATE USER MAPPING FOR PUBLIC SERVER shard_1 OPTIONS (user 'corpus', password 'secret');
CREATE USER MAPPING FOR PUBLIC SERVER shard_2 OPTIONS (user 'corpus', password 'secret');
CREATE USER MAPPING FOR PUBLIC SERVER shard_3 OPTIONS (user 'corpus', password 'secret');

-- on the coordinator
CREATE TABLE docs (id bigint NOT NULL, body text, fp simhash) PARTITION BY HASH (id);
CREATE FOREIGN TABLE docs_1 PARTITION OF docs FOR VALUES WITH (MODULUS 3, REMAINDER 0) SERVER shard_1 OPTIONS (table_name 'docs');
CREATE FOREIGN TABLE docs_2 PARTITION OF docs FOR VALUES WITH (MODULUS 3, REMAINDER 1) SERVER shard_2 OPTIONS (table_name 'docs');
CREATE FOREIGN TABLE docs_3 PARTITION OF docs FOR VALUES WITH (MODULUS 3, REMAINDER 2) SERVER shard_3 OPTIONS (table_name 'docs');

CREATE TABLE block_rows (block bigint NOT NULL, fp simhash NOT NULL, id bigint NOT NULL) PARTITION BY HASH (block);
CREATE FOREIGN TABLE block_rows_1 PARTITION OF block_rows FOR VALUES WITH (MODULUS 3, REMAINDER 0)
    SERVER shard_1 OPTIONS (table_name 'block_rows');
CREATE FOREIGN TABLE block_rows_2 PARTITION OF block_rows FOR VALUES WITH (MODULUS 3, REMAINDER 1)
    SERVER shard_2 OPTIONS (table_name 'block_rows');
CREATE FOREIGN TABLE block_rows_3 PARTITION OF block_rows FOR VALUES WITH (MODULUS 3, REMAINDER 2)
    SERVER shard_3 OPTIONS (table_name 'block_rows');
