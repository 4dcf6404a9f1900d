--
-- Estimates for fingerprints of any width: as many as there are by chance
--
\pset format unaligned
\pset footer off
SET client_min_messages = warning;
CREATE SCHEMA planner_widths_test;
SET search_path = planner_widths_test, public; SET max_parallel_workers_per_gather = 0;

-- Random fingerprints of n bits: estimates of how many rows are within the radii, of a look-up
-- and for each row of a join, where they are not about as many as there are on average
CREATE FUNCTION compare_estimates(n int, radii int[]) RETURNS TABLE (width int, radius int, wrong text) LANGUAGE plpgsql AS $$
DECLARE
	there float8;
	looked_up float8;
	joined float8;
BEGIN
	CREATE TEMPORARY TABLE docs AS SELECT i AS id, wide('w' || i, n) AS fp FROM generate_series(1, 1000) i;
	EXECUTE format('ALTER TABLE docs ALTER fp TYPE simhash_bits(%s)', n);
	ANALYZE docs;
	width := n;
	FOREACH radius IN ARRAY radii LOOP
		SELECT count(*) INTO there FROM docs a, docs b
		WHERE bit_count(a.fp::varbit # b.fp::varbit) <= radius AND a.id <= 100;
		there := there / 100;
		looked_up := estimate(format('SELECT FROM docs WHERE fp <~> %L <= %s', (SELECT fp FROM docs WHERE id = 1), radius));
		joined := estimate(format('SELECT FROM docs a JOIN docs b ON a.fp <~> b.fp <= %s', radius)) / 1000;
		wrong := CASE WHEN greatest(looked_up, joined) > 3 * there + 1 OR least(looked_up, joined) < there / 2
			THEN format('%s, looked up %s, joined %s', there, looked_up, joined) END;
		RETURN NEXT;
	END LOOP;
	DROP TABLE docs;
END $$;
SELECT width, radius, wrong
FROM (VALUES (8, '{0,1,2,3,8}'::int[]), (16, '{0,1,2,4,6,8}'), (64, '{7,13,20,24,32}'), (128, '{15,40,52,64}'),
	(256, '{31,52,100,110,128}'), (1024, '{127,450,480,512}'), (4096, '{511,1900,2000,2048}')) w(n, r),
	compare_estimates(n, r);

-- the same in other words: a column, a constant or a ball tells the width
CREATE TABLE docs (fp simhash_bits(16), any_width simhash_bits);
INSERT INTO docs SELECT wide('w' || i, 16), wide('w' || i, 16) FROM generate_series(1, 1000) i;
ANALYZE docs;
SELECT query, estimate(query) = estimate('SELECT FROM docs WHERE fp <~> ''1234'' <= 4') AS same
FROM (VALUES ('SELECT FROM docs WHERE any_width <~> ''1234'' <= 4'),
	('SELECT FROM docs WHERE any_width <@ simhash_bits_ball(''1234'', 4)'),
	('SELECT FROM docs WHERE simhash_bits_ball(''1234'', 4) @> any_width'),
	('SELECT FROM docs WHERE fp <~> (SELECT wide(''q'', 16)) <= 4')) q(query);
SELECT query, estimate(query) = estimate('SELECT FROM docs WHERE fp <~> ''1234'' <= 1') AS same
FROM (VALUES ('SELECT FROM docs WHERE fp % ''1234'''), ('SELECT FROM docs WHERE any_width % ''1234''')) q(query);

DROP SCHEMA planner_widths_test CASCADE;
