-- on the coordinator
-- On every coordinator: hold back the writers until all backups have begun.
BEGIN;
LOCK TABLE docs, block_rows IN SHARE MODE;
-- start pg_dump on every shard now
COMMIT;
