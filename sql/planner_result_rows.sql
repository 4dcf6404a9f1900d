--
-- How many rows the planner expects of the functions that return sets
--
SET client_min_messages = warning;
CREATE SCHEMA planner_result_rows_test;
SET search_path = planner_result_rows_test, public;

-- Is what is expected right, but for a factor of 4?
CREATE FUNCTION is_near(query text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	found numeric;
	rows numeric := estimate(query);
BEGIN
	EXECUTE 'SELECT count(*) FROM (' || query || ') q' INTO found;
	IF rows BETWEEN greatest(found, 1) / 4 AND greatest(found, 1) * 4 THEN
		RETURN true;
	END IF;
	RAISE WARNING '% are expected of %, % found', rows, query, found;
	RETURN false;
END $$;

CREATE TABLE docs (id int, tenant int, fp simhash) WITH (autovacuum_enabled = off);
CREATE INDEX docs_fp ON docs USING simhash (fp);
CREATE INDEX docs_six ON docs USING simhash (fp) WITH (blocks = 7, distance = 6);
CREATE INDEX docs_tenant ON docs USING simhash (tenant, fp);

-- nothing is known yet: as CREATE FUNCTION says
SELECT estimate('SELECT * FROM simhash_find_all(''docs_fp'')'),
	estimate('SELECT * FROM simhash_find_clusters(''docs_fp'')'),
	estimate('SELECT * FROM simhash_find_duplicates(''docs_fp'')');

-- a fifth of 20,000 in clusters of 2 to 11, whose members differ in up to 4 bits
-- from the first; nulls
INSERT INTO docs
SELECT i, i % 3, CASE WHEN i > 16000 THEN flip(bits('c' || i / 5), i % 5, 'f' || i) ELSE bits('r' || i) END::simhash
FROM generate_series(1, 20000) i;
INSERT INTO docs SELECT i, i % 3, NULL FROM generate_series(20001, 21000) i;
REINDEX TABLE docs;
-- without a distance, that of the index, or the smaller one of two
SELECT estimate('SELECT * FROM simhash_find_all(''docs_six'')') =
	estimate('SELECT * FROM simhash_find_all(''docs_six'', 6)') AS of_index,
	estimate('SELECT * FROM simhash_find_matches(''docs_fp'', ''docs_six'')') =
	estimate('SELECT * FROM simhash_find_matches(''docs_fp'', ''docs_six'', 3)') AS of_first,
	estimate('SELECT * FROM simhash_find_matches(''docs_six'', ''docs_fp'')') =
	estimate('SELECT * FROM simhash_find_matches(''docs_six'', ''docs_fp'', 3)') AS of_second,
	estimate('SELECT * FROM simhash_find_matches_in(ARRAY[1, 2]::simhash[], ''docs_six'')') =
	estimate('SELECT * FROM simhash_find_matches_in(ARRAY[1, 2]::simhash[], ''docs_six'', 6)') AS of_array,
	estimate('SELECT * FROM simhash_find_matches(''docs_six'', ''docs_fp'', 3)') <
	estimate('SELECT * FROM simhash_find_matches(''docs_six'', ''docs_fp'', 6)') AS that_matters;
-- by the number of rows that the build has counted; with what ANALYZE finds
SELECT is_near(format('SELECT * FROM simhash_find_all(''docs_fp'', %s)', d)) AS pairs
FROM (VALUES (3), (6), (8)) AS v(d);
ANALYZE docs;
SELECT d, is_near(format('SELECT * FROM simhash_find_all(''docs_fp'', %s)', d)) AS pairs,
	is_near(format('SELECT * FROM simhash_find_clusters(''docs_fp'', %s)', d)) AS clusters,
	is_near(format('SELECT * FROM simhash_find_duplicates(''docs_fp'', %s)', d)) AS duplicates
FROM (VALUES (3), (6), (8)) AS v(d);
-- not more than there are rows, or pairs
SELECT estimate('SELECT * FROM simhash_find_clusters(''docs_fp'', 64)'),
	estimate('SELECT * FROM simhash_find_duplicates(''docs_fp'', 64)'),
	estimate('SELECT * FROM simhash_find_all(''docs_fp'', 64)');
-- as a join expects, of which each pair is two rows, and each row one
SELECT 2 * estimate('SELECT * FROM simhash_find_all(''docs_fp'')') + 20000 AS twice,
	estimate('SELECT * FROM docs a, docs b WHERE a.fp <~> b.fp <= 3') AS "join";

-- the distance of the index; not one that is not known
SELECT estimate('SELECT * FROM simhash_find_all(''docs_six'')') =
	estimate('SELECT * FROM simhash_find_all(''docs_fp'', 6)') AS of_index,
	estimate('SELECT * FROM simhash_find_all(''docs_tenant'', 6)') =
	estimate('SELECT * FROM simhash_find_all(''docs_fp'', 6)') AS of_columns,
	estimate('SELECT * FROM simhash_find_all(''docs_fp'', (random() * 10)::int)') =
	estimate('SELECT * FROM simhash_find_all(''docs_fp'', 3)') AS not_known,
	estimate('SELECT * FROM simhash_find_all(''docs_fp'', -1)') AS refused;

-- many equal ones, and one that a tenth of the rows have
CREATE TABLE equal (fp simhash) WITH (autovacuum_enabled = off);
INSERT INTO equal SELECT bits('e' || i % 500)::simhash FROM generate_series(1, 10000) i;
INSERT INTO equal SELECT 0 FROM generate_series(1, 1000);
CREATE INDEX equal_fp ON equal USING simhash (fp);
ANALYZE equal;
SELECT is_near('SELECT * FROM simhash_find_all(''equal_fp'')') AS pairs,
	is_near('SELECT * FROM simhash_find_clusters(''equal_fp'')') AS clusters,
	is_near('SELECT * FROM simhash_find_duplicates(''equal_fp'')') AS duplicates;

-- random ones: none near, then all
CREATE TABLE randoms (h bigint) WITH (autovacuum_enabled = off);
INSERT INTO randoms SELECT bits('x' || i) FROM generate_series(1, 2000) i;
CREATE INDEX randoms_h ON randoms USING simhash (h);
ANALYZE randoms;
SELECT is_near('SELECT * FROM simhash_find_all(''randoms_h'', 24)') AS pairs,
	is_near('SELECT * FROM simhash_find_clusters(''randoms_h'', 24)') AS clusters,
	is_near('SELECT * FROM simhash_find_duplicates(''randoms_h'', 24)') AS duplicates;

-- an expression; partitions
CREATE TABLE words (body text) WITH (autovacuum_enabled = off);
INSERT INTO words SELECT 'a text of words and of number ' || i / 10 FROM generate_series(1, 5000) i;
CREATE INDEX words_fp ON words USING simhash (simhash_compute(body));
ANALYZE words;
SELECT is_near('SELECT * FROM simhash_find_duplicates(''words_fp'', 0)') AS duplicates;
CREATE TABLE parted (id int, fp simhash) PARTITION BY RANGE (id);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (1) TO (5000) WITH (autovacuum_enabled = off);
CREATE TABLE parted_2 PARTITION OF parted FOR VALUES FROM (5000) TO (20001) PARTITION BY RANGE (id);
CREATE TABLE parted_3 PARTITION OF parted_2 FOR VALUES FROM (5000) TO (10000) WITH (autovacuum_enabled = off);
CREATE TABLE parted_4 PARTITION OF parted_2 FOR VALUES FROM (10000) TO (20001) WITH (autovacuum_enabled = off);
INSERT INTO parted SELECT id, fp FROM docs WHERE fp IS NOT NULL;
CREATE INDEX parted_fp ON parted USING simhash (fp);
ANALYZE parted;
SELECT estimate('SELECT * FROM simhash_find_clusters(''parted_fp'')') =
	estimate('SELECT * FROM simhash_find_clusters(''docs_fp'')') AS same_as_one;

-- no index, or one that is not known: an error when it is executed, not before
SELECT estimate('SELECT * FROM simhash_find_all(4294967295::oid::regclass)'),
	estimate('SELECT * FROM simhash_find_all(''docs''::regclass)'),
	estimate('SELECT * FROM simhash_find_all(''pg_class_oid_index''::regclass)') > 0 AS of_another_kind,
	estimate('SELECT * FROM simhash_find_all(NULL)'),
	estimate('SELECT * FROM simhash_find_all(''nothing''::text::regclass)');
SELECT * FROM simhash_find_all(4294967295::oid::regclass);

-- parameters: known, and not
PREPARE pairs(regclass, int) AS SELECT * FROM simhash_find_all($1, $2);
SET plan_cache_mode = force_custom_plan;
SELECT estimate('EXECUTE pairs(''docs_fp'', 6)') = estimate('SELECT * FROM simhash_find_all(''docs_fp'', 6)') AS same;
SET plan_cache_mode = force_generic_plan;
SELECT estimate('EXECUTE pairs(''docs_fp'', 6)');
RESET plan_cache_mode;
-- by name, in a view, in a select list
CREATE VIEW near AS SELECT * FROM simhash_find_all(distance => 6, index => 'docs_fp');
SELECT estimate('TABLE near') = estimate('SELECT * FROM simhash_find_all(''docs_fp'', 6)') AS in_a_view,
	estimate('SELECT simhash_find_all(''docs_fp'', 6)') =
	estimate('SELECT * FROM simhash_find_all(''docs_fp'', 6)') AS in_a_list;

-- who may not read a table does not learn from an estimate what is in it
CREATE ROLE regress_simhash_rows;
CREATE TABLE mine (fp simhash) WITH (autovacuum_enabled = off);
INSERT INTO mine SELECT 0 FROM generate_series(1, 200);
CREATE INDEX mine_fp ON mine USING simhash (fp);
ANALYZE mine;
GRANT USAGE ON SCHEMA planner_result_rows_test TO regress_simhash_rows;
GRANT SELECT ON mine TO regress_simhash_rows;
SET ROLE regress_simhash_rows;
SELECT estimate('SELECT * FROM simhash_find_matches(''mine_fp'', ''equal_fp'')'),
	estimate('SELECT * FROM simhash_find_all(''equal_fp'')'),
	estimate('SELECT * FROM simhash_find_all(''words_fp'')');
RESET ROLE;
-- but who may read the column, or the table of an expression
GRANT SELECT (fp) ON equal TO regress_simhash_rows;
GRANT SELECT ON words TO regress_simhash_rows;
SET ROLE regress_simhash_rows;
SELECT estimate('SELECT * FROM simhash_find_matches(''mine_fp'', ''equal_fp'')') > 150000 AS by_column,
	estimate('SELECT * FROM simhash_find_all(''words_fp'')') < 100000 AS by_table;
RESET ROLE;
-- and not where it has policies: the function would be refused
ALTER TABLE equal ENABLE ROW LEVEL SECURITY;
SET ROLE regress_simhash_rows;
SELECT estimate('SELECT * FROM simhash_find_matches(''mine_fp'', ''equal_fp'')') AS policies;
RESET ROLE;
ALTER TABLE equal DISABLE ROW LEVEL SECURITY;

--
-- Arrays
--

SELECT d, is_near(format('SELECT * FROM simhash_find_all_in(ARRAY(SELECT fp FROM docs), %s)', d)) AS pairs,
	is_near(format('SELECT * FROM simhash_find_clusters_in(ARRAY(SELECT fp FROM docs), %s)', d)) AS clusters,
	is_near(format('SELECT * FROM simhash_find_clusters_in((SELECT array_agg(fp) FROM docs), %s)', d)) AS aggregated
FROM (VALUES (3), (6)) AS v(d);
SELECT estimate('SELECT * FROM simhash_find_clusters_in(''{1,2,3,4,5,6,7,8,9,10}'', 64)') AS constant,
	estimate('SELECT c.* FROM docs, simhash_find_clusters_in(ARRAY[id, id + 1, 3, 4]::simhash[],
		64) c') / 21000 AS written,
	estimate('SELECT * FROM simhash_find_clusters_in(''{}'', 64)') AS empty,
	estimate('SELECT * FROM simhash_find_clusters_in(NULL, 64)') AS none;
PREPARE clusters(simhash[]) AS SELECT * FROM simhash_find_clusters_in($1, 64);
SET plan_cache_mode = force_custom_plan;
SELECT estimate('EXECUTE clusters(''{1,2,3,4,5}'')');
SET plan_cache_mode = force_generic_plan;
SELECT estimate('EXECUTE clusters(''{1,2,3,4,5}'')');
RESET plan_cache_mode;
-- a part of the work
SELECT estimate('SELECT * FROM simhash_find_all_in(ARRAY(SELECT fp FROM docs), 3, NULL, 0)') * 4 / estimate('SELECT *
	FROM simhash_find_all_in(ARRAY(SELECT fp FROM docs), 3)') AS of_four,
	estimate('SELECT * FROM simhash_find_all_in(ARRAY(SELECT fp FROM docs), 3, 6, 19)') * 20 / estimate('SELECT *
		FROM simhash_find_all_in(ARRAY(SELECT fp FROM docs), 3)') AS of_twenty;
-- aggregated in parallel, as from 16 on
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 4;
SELECT estimate('SELECT * FROM simhash_find_clusters_in((SELECT array_agg(fp) FROM docs), 3)') BETWEEN 10000 AND
	11000 AS in_parallel;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
RESET max_parallel_workers_per_gather;
-- groups, and of a row that is known only then
SELECT estimate('SELECT * FROM simhash_find_clusters_in((SELECT array_agg(fp) FROM docs GROUP BY tenant LIMIT 1),
	64)') > 0 AS limited;
SELECT is_near('SELECT c.* FROM generate_series(0, 2) t,
	simhash_find_clusters_in(ARRAY(SELECT fp FROM docs WHERE id > t), 3) c') AS correlated;

SELECT is_near('SELECT * FROM simhash_components((SELECT array_agg(id) FROM docs),
	(SELECT array_agg(id + 1) FROM docs))') AS chain,
	is_near('SELECT * FROM simhash_components((SELECT array_agg(id) FROM docs),
		(SELECT array_agg(-id) FROM docs))') AS pairs;
SELECT estimate('SELECT * FROM simhash_components(''{1,2,3}'', ''{1,2,3}'')');
SELECT estimate('SELECT * FROM simhash_blocks(1)'), estimate('SELECT * FROM simhash_blocks(1, 6, 3)'),
	estimate('SELECT * FROM simhash_blocks(1, 3, 3)'),
	estimate('SELECT * FROM docs, simhash_blocks(fp, 6, 2)') / 21000 AS each;

--
-- What it is good for: a few rows are looked up, many are not
--
CREATE FUNCTION joins(index text) RETURNS TABLE (line text) LANGUAGE plpgsql AS $$
BEGIN
	RETURN QUERY SELECT trim(l) FROM plan(format('SELECT * FROM simhash_find_duplicates(%L) d
		JOIN docs ON docs.ctid = d.duplicate', index)) l
		WHERE l ~ 'Join|Nested|Scan on docs';
END $$;
CREATE INDEX docs_few ON docs USING simhash (fp) WHERE id < 10;
SELECT * FROM joins('docs_fp');
SELECT * FROM joins('docs_few');

DROP SCHEMA planner_result_rows_test CASCADE;
DROP ROLE regress_simhash_rows;
