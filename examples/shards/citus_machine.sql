-- on each machine
-- This needs shared_preload_libraries = 'citus' and wal_level = logical.
CREATE EXTENSION citus;
CREATE EXTENSION simhash;
