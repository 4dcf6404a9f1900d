-- on the coordinator
-- New documents, to be looked up together or loaded
CREATE TABLE staging (id bigint PRIMARY KEY, body text, fp simhash);
CREATE INDEX staging_fp ON staging USING simhash (fp);
