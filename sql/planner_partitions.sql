--
-- Many partitions: each is searched by its index, and planning reads less than a page of each
--
\pset format unaligned
\pset footer off
CREATE SCHEMA planner_partitions_test;
SET search_path = planner_partitions_test, public; SET max_parallel_workers_per_gather = 0; SET client_min_messages = warning;

SELECT effort(50, 1000) AS parts \gset
CREATE TABLE docs (id int, fp simhash) PARTITION BY RANGE (id);
CREATE INDEX docs_fp ON docs USING simhash (fp);
CREATE FUNCTION make_parts(parts int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	FOR i IN 1 .. parts LOOP
		EXECUTE format('CREATE TABLE docs_%s PARTITION OF docs FOR VALUES FROM (%s) TO (%s)', i, i * 10, i * 10 + 10);
	END LOOP;
END $$;
SELECT make_parts(:parts) \gset
INSERT INTO docs SELECT i, flip(bits('p' || i % 10), i / 10 % 7, 'f' || i) FROM generate_series(10, :parts * 10 + 9) i;
ANALYZE docs;

SELECT use_only('indexscan') \gset
SELECT q, count(*) FILTER (WHERE line ~ 'Index Scan using docs_[0-9]+_fp_idx') = :parts AS all_indexes,
	least(pages_read(q, 'Planning'), pages_read(q, 'Planning')) < :parts AS few_pages
FROM unnest(ARRAY['SELECT id FROM docs WHERE fp <~> 5 <= 3', 'SELECT id FROM docs WHERE fp % ANY (''{1,2}'')',
	'SELECT id FROM docs ORDER BY fp <~> 5 LIMIT 3']) q, plan(q) line
GROUP BY q ORDER BY q;
SELECT rows > 0 AS rows, missing, wrong FROM unnest(ARRAY[0, 3, 8]) r, compare_rows(
	format('SELECT id FROM docs WHERE fp <~> %L <= %s', bits('p3'), r),
	format('SELECT id FROM docs WHERE distance(fp::bigint, %s) <= %s', bits('p3'), r)) compare;

DROP SCHEMA planner_partitions_test CASCADE;
