-- What test/deep/upgrade takes from one version of the server to the next.  Run
-- after test/fingerprints.sql.
CREATE EXTENSION simhash;

CREATE TABLE docs (id integer PRIMARY KEY, fp simhash);
INSERT INTO docs SELECT row_number() OVER (), h FROM make_fingerprints(20000, 0.2) h;
INSERT INTO docs VALUES (30000, 18446744073709551615), (30001, 0), (30003, NULL);
CREATE INDEX docs_fp ON docs USING simhash (fp);
CREATE INDEX docs_two ON docs USING simhash (fp) WITH (blocks = 2, distance = 1, fillfactor = 70);
-- pages that were split, and entries that are dead
INSERT INTO docs SELECT 40000 + row_number() OVER (), h FROM make_fingerprints(5000, 0.3) h;
DELETE FROM docs WHERE id % 7 = 0;

-- a constraint of the extension's radius, and one of a radius of the user's own
CREATE TABLE kept (id integer, fp simhash, EXCLUDE USING simhash (fp WITH %));
INSERT INTO kept SELECT * FROM docs ON CONFLICT DO NOTHING;
CREATE FUNCTION within_five(simhash, simhash) RETURNS boolean
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS 'SELECT simhash_within($1, $2, 5)';
CREATE OPERATOR %% (LEFTARG = simhash, RIGHTARG = simhash, FUNCTION = within_five, COMMUTATOR = %%);
CREATE OPERATOR CLASS five_ops FOR TYPE simhash USING simhash AS
	OPERATOR 1 = (simhash, simhash), OPERATOR 6 %% (simhash, simhash);
CREATE TABLE apart (id integer, fp simhash, EXCLUDE USING simhash (fp five_ops WITH %%));
INSERT INTO apart SELECT * FROM docs ON CONFLICT DO NOTHING;

CREATE VIEW near AS SELECT id FROM docs WHERE fp <~> 0 <= 24;
CREATE VIEW pairs AS SELECT a_fp, b_fp, distance FROM simhash_find_all('docs_fp'::regclass, 3);
CREATE VIEW clusters AS SELECT fp, size FROM simhash_find_clusters('docs_fp'::regclass, 3);
CREATE MATERIALIZED VIEW pair_count AS SELECT distance, count(*) FROM pairs GROUP BY distance;
CREATE TABLE balls (ball simhash_ball);
INSERT INTO balls SELECT simhash_ball(fp, id % 8) FROM docs WHERE id <= 50;
