-- on each shard
-- To drop a column, begin with the coordinator.
ALTER TABLE docs ADD COLUMN added timestamptz;

-- on the coordinator
-- A default belongs here: the coordinator sends a value for every column.
ALTER TABLE docs ADD COLUMN added timestamptz DEFAULT now();
