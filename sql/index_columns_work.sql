--
-- Indexes of several columns: a scan reads only the groups that it asks for (which
-- does not hold where many groups collide)
--
\pset format unaligned
\pset footer off
SET client_min_messages = warning;
CREATE SCHEMA index_columns_work_test;
SET search_path = index_columns_work_test, public; SET max_parallel_workers_per_gather = 0;

-- half of the rows are of tenant 0, the others have 100 each
CREATE TABLE docs (id int, tenant int, fp simhash) WITH (autovacuum_enabled = off);
INSERT INTO docs SELECT i, CASE WHEN i % 2 = 0 THEN 0 ELSE i / 2 % 200 + 1 END, bits('d' || i)
FROM generate_series(1, 40000) i;
CREATE INDEX docs_fp ON docs USING simhash (tenant, fp);
ANALYZE docs;
SET enable_seqscan = off; SET enable_bitmapscan = off;

-- How many pages of the index a statement reads that finds nothing: the least of several
-- times, as a session now and then counts again, at random, the leaves of a group that it
-- knows.
CREATE FUNCTION pages(statement text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
	plan json;
	least_pages int;
BEGIN
	FOR i IN 1..9 LOOP
		EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) ' || statement INTO plan;
		plan := plan -> 0 -> 'Plan';
		IF plan ->> 'Node Type' <> 'Index Scan' OR (plan ->> 'Actual Rows')::float > 0 THEN
			RAISE 'another plan: %', plan;
		END IF;
		least_pages := least(least_pages,
			(plan ->> 'Shared Hit Blocks')::int + (plan ->> 'Shared Read Blocks')::int);
	END LOOP;
	RETURN least_pages;
END $$;
-- so many has a table of the scheme, about
SELECT pg_relation_size('docs_fp') / current_setting('block_size')::int / 4 AS leaves \gset

SELECT pages($$SELECT FROM docs WHERE tenant = 5 AND fp <~> bits('no')::simhash <= 3$$) <= 8 AS one_small,
	pages($$SELECT FROM docs WHERE tenant = 0 AND fp <~> bits('no')::simhash <= 3$$) <= 24 AS one_large,
	pages($$SELECT FROM docs WHERE tenant = 5000 AND fp <~> bits('no')::simhash <= 3$$) <= 8 AS none,
	pages($$SELECT FROM docs WHERE tenant IS NULL$$) <= 12 AS nothing,
	pages($$SELECT FROM docs WHERE tenant = 5 AND fp IS NULL$$) <= 2 AS no_null,
	pages($$SELECT FROM docs WHERE tenant = ANY ('{5, 6, 7, 5}')
	AND fp <~> bits('no')::simhash <= 3$$) <= 24 AS three,
	pages($$SELECT FROM docs WHERE tenant = 5 AND tenant = 6 + id * 0
	AND fp <~> bits('no')::simhash <= 3$$) <= 8 AS with_filter;
-- how many leaves a group has is known without reading pages for it: 2, 5 and 59 with that
SELECT pages($$SELECT FROM docs WHERE tenant = 5000 AND fp <~> bits('no')::simhash <= 3$$) <= 1 AS none,
	pages($$SELECT FROM docs WHERE tenant = 0 AND fp <~> bits('no')::simhash <= 3$$) <= 4 AS one_large,
	pages($$SELECT FROM docs WHERE tenant = ANY (ARRAY (SELECT generate_series(1, 32)))
		AND fp <~> bits('no')::simhash <= 3$$) <= 40 AS many;
-- each leaf once, however many groups are on it
SELECT pages($$SELECT FROM docs WHERE tenant = ANY (ARRAY (SELECT generate_series(1, 200)))
	AND fp <~> bits('no')::simhash <= 3$$) < 2 * :leaves AS all_small;
-- a table, if nothing is known of the tenant
SELECT pages($$SELECT FROM docs WHERE fp <~> bits('no')::simhash <= 3$$) < 1.2 * :leaves AS not_known;
PREPARE one (int, simhash) AS SELECT FROM docs WHERE tenant = $1 AND fp <~> $2 <= 3;
SET plan_cache_mode = force_generic_plan;
SELECT pages($$EXECUTE one (5, bits('no'))$$) <= 8 AS one_small;
SELECT pages($$EXECUTE one (NULL, bits('no'))$$) = 0 AS nothing;

-- nothing, if no tenant is asked for, though any id would do
CREATE TABLE numbered AS TABLE docs LIMIT 5000;
CREATE INDEX numbered_fp ON numbered USING simhash (tenant, id, fp);
ANALYZE numbered;
SELECT pages($$SELECT FROM numbered WHERE tenant = ANY (ARRAY (SELECT generate_series(1, 0)))
	AND fp <~> bits('no')::simhash <= 3$$) = 0 AS nothing;

DROP SCHEMA index_columns_work_test CASCADE;
