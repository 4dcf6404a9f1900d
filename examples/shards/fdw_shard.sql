-- on each shard
-- Run this as the role that the user mappings name.  block_rows is needed for pairs and for the guard.
CREATE EXTENSION simhash;
CREATE TABLE docs (id bigint PRIMARY KEY, body text, fp simhash);
CREATE INDEX docs_fp ON docs USING simhash (fp);

CREATE TABLE block_rows (block bigint NOT NULL, fp simhash NOT NULL, id bigint NOT NULL) PARTITION BY LIST ((block % 4));
CREATE TABLE block_rows_0 PARTITION OF block_rows FOR VALUES IN (0);
CREATE TABLE block_rows_1 PARTITION OF block_rows FOR VALUES IN (1);
CREATE TABLE block_rows_2 PARTITION OF block_rows FOR VALUES IN (2);
CREATE TABLE block_rows_3 PARTITION OF block_rows FOR VALUES IN (3);
CREATE INDEX ON block_rows (id);
CREATE INDEX block_rows_0_fp ON block_rows_0 USING simhash (fp) WITH (blocks = 1, distance = 0);

-- on each shard
-- A shard refuses writes of a coordinator that does not know where rows have moved.  For that, the arrangement of the
-- rows has a name, which coordinators send as application_name.
CREATE TABLE layout (name text NOT NULL);
INSERT INTO layout VALUES ('layout 1');
CREATE FUNCTION check_layout() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    written text := current_setting('application_name');
    wanted text;
BEGIN
    SELECT name INTO wanted FROM public.layout FOR SHARE;
    IF written IS DISTINCT FROM wanted THEN
        RAISE object_not_in_prerequisite_state
            USING MESSAGE = format('this shard has "%s", but what writes to it has "%s"', wanted, written),
            HINT = 'On a coordinator, finish "Add a shard" first. In a session on the shard itself, set application_name.';
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER check_layout BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON docs EXECUTE FUNCTION check_layout();
CREATE TRIGGER check_layout BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON block_rows EXECUTE FUNCTION check_layout();
