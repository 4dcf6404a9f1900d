-- on the coordinator
-- Load documents, and keep near-duplicates out.  Keep staging until the call has returned: if it fails at the commit,
-- you need its ids.  Sessions that load at the same time each need a staging of their own, with its index
-- staging_fp; it can be temporary.
TRUNCATE staging;
INSERT INTO staging SELECT id, body, simhash_minhash(body) FROM texts;
CALL load_staging();
