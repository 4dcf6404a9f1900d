-- More than objects.sql has: an index of many pages, some of them split, with dead entries, and
-- searches of whole indexes.  many_checks.sql asks.  Needs fingerprints.sql and the extension.
SET search_path = public, ext;

CREATE TABLE many (id integer, fp simhash);
INSERT INTO many SELECT row_number() OVER (), h FROM make_fingerprints(20000, 0.2) h;
CREATE INDEX many_fp ON many USING simhash (fp);
CREATE INDEX many_two ON many USING simhash (fp) WITH (blocks = 2, distance = 1);
INSERT INTO many SELECT 20000 + row_number() OVER (), h FROM make_fingerprints(5000, 0.3) h;
DELETE FROM many WHERE id % 7 = 0;

CREATE VIEW all_pairs AS SELECT a_fp, b_fp, distance FROM simhash_find_all('many_fp'::regclass, 3);
CREATE VIEW clusters AS SELECT fp, size FROM simhash_find_clusters('many_two'::regclass, 3);
CREATE MATERIALIZED VIEW pair_counts AS SELECT distance, count(*) FROM all_pairs GROUP BY distance;
CREATE FUNCTION count_pairs(radius integer) RETURNS bigint LANGUAGE sql STABLE
BEGIN ATOMIC
	SELECT count(*) FROM simhash_find_all('many_fp'::regclass, radius);
END;
