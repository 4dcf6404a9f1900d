--
-- How many rows the planner expects of the functions that return sets: a quarter of
-- those that are searched
--
SET client_min_messages = warning;
CREATE SCHEMA planner_result_rows_test;
SET search_path = planner_result_rows_test, public;

CREATE TABLE docs (id int, fp simhash) WITH (autovacuum_enabled = off);
CREATE INDEX docs_fp ON docs USING simhash (fp);

-- nothing is known yet: as CREATE FUNCTION says
SELECT estimate('SELECT * FROM simhash_find_all(''docs_fp'')'),
	estimate('SELECT * FROM simhash_find_clusters(''docs_fp'')'),
	estimate('SELECT * FROM simhash_find_duplicates(''docs_fp'')');

-- by the number of rows that the build has counted
INSERT INTO docs SELECT i, bits('r' || i)::simhash FROM generate_series(1, 20000) i;
REINDEX TABLE docs;
CREATE INDEX docs_few ON docs USING simhash (fp) WHERE id <= 12;
SELECT estimate('SELECT * FROM simhash_find_all(''docs_fp'')') AS pairs,
	estimate('SELECT * FROM simhash_find_clusters(''docs_fp'')') AS clusters,
	estimate('SELECT * FROM simhash_find_duplicates(''docs_fp'')') AS duplicates,
	estimate('SELECT * FROM simhash_find_matches(''docs_fp'', ''docs_few'')') AS matches,
	estimate('SELECT * FROM simhash_find_matches(''docs_few'', ''docs_fp'')') AS few;

-- of partitions, together
CREATE TABLE parted (id int, fp simhash) PARTITION BY RANGE (id);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (1) TO (5000);
CREATE TABLE parted_2 PARTITION OF parted FOR VALUES FROM (5000) TO (20001) PARTITION BY RANGE (id);
CREATE TABLE parted_3 PARTITION OF parted_2 FOR VALUES FROM (5000) TO (10000);
CREATE TABLE parted_4 PARTITION OF parted_2 FOR VALUES FROM (10000) TO (20001);
INSERT INTO parted SELECT * FROM docs;
CREATE INDEX parted_fp ON parted USING simhash (fp);
SELECT estimate('SELECT * FROM simhash_find_clusters(''parted_fp'')');

-- no index, or one that is not known: an error when it is executed, not before
SELECT estimate('SELECT * FROM simhash_find_all(4294967295::oid::regclass)'),
	estimate('SELECT * FROM simhash_find_all(NULL)'),
	estimate('SELECT * FROM simhash_find_all(''nothing''::text::regclass)');
SELECT * FROM simhash_find_all(4294967295::oid::regclass);

-- parameters: known, and not
PREPARE pairs(regclass) AS SELECT * FROM simhash_find_all($1);
SET plan_cache_mode = force_custom_plan;
SELECT estimate('EXECUTE pairs(''docs_fp'')');
SET plan_cache_mode = force_generic_plan;
SELECT estimate('EXECUTE pairs(''docs_fp'')');
RESET plan_cache_mode;
-- by name, in a view, in a select list
CREATE VIEW near AS SELECT * FROM simhash_find_all(distance => 6, index => 'docs_fp');
SELECT estimate('TABLE near') AS in_a_view, estimate('SELECT simhash_find_all(''docs_fp'', 6)') AS in_a_list;

-- arrays: constant, written, of a parameter, and not known
SELECT estimate('SELECT * FROM simhash_find_clusters_in(''{1,2,3,4,5,6,7,8,9,10,11,12}'')') AS constant,
	estimate('SELECT * FROM simhash_find_clusters_in(ARRAY[random() * 9, 2, 3, 4, 5, 6, 7, 8]::bigint[]::simhash[])')
		AS written,
	estimate('SELECT * FROM simhash_find_matches_in(''{1,2,3,4}''::simhash[], ''docs_fp'')') AS matches,
	estimate('SELECT * FROM simhash_find_clusters_in(ARRAY(SELECT fp FROM docs))') AS not_known;

-- What it is good for: a few rows are looked up, many are not
CREATE FUNCTION joins(index text) RETURNS TABLE (line text) LANGUAGE plpgsql AS $$
BEGIN
	RETURN QUERY SELECT trim(l) FROM plan(format('SELECT * FROM simhash_find_duplicates(%L) d
		JOIN docs ON docs.ctid = d.duplicate', index)) l
		WHERE l ~ 'Join|Nested|Scan on docs';
END $$;
SELECT * FROM joins('docs_fp');
SELECT * FROM joins('docs_few');

DROP SCHEMA planner_result_rows_test CASCADE;
