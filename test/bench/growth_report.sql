-- What growth.sql and growth_wide.sql have measured, as a table and in the file figures.csv.
-- Ends the run if two ways have not found the same.

\o
SELECT count(*) > 0 AS differ
FROM (SELECT FROM took WHERE question IS NOT NULL GROUP BY question HAVING count(DISTINCT counted) > 1) q
\gset
\if :differ
SELECT * FROM took WHERE question IS NOT NULL ORDER BY question, id;
DO $$ BEGIN RAISE EXCEPTION 'the ways do not find the same'; END $$;
\endif

CREATE VIEW figures AS
SELECT min(id) AS id, bits, measured, way, min(seconds) AS seconds, min(cpu) AS cpu,
	   count(*) AS rounds, min(counted) AS counted
FROM took WHERE measured NOT IN ('warming up', 'agreement')
GROUP BY bits, measured, way;
SELECT f.bits, f.measured, f.way, round((1000 * f.seconds)::numeric, 4) AS "ms",
	   round((1000 * f.cpu)::numeric, 4) AS "ms of CPU",
	   to_char(f.cpu / nullif(s.cpu, 0), 'FM9999990.00') AS "CPU, simhash = 1"
FROM figures f JOIN figures s ON s.bits = f.bits AND s.measured = f.measured AND s.way = 'simhash'
ORDER BY f.id;
CREATE VIEW csv AS
SELECT current_setting('simhash_bench.rows') AS rows, bits, measured, way,
	   round(seconds::numeric, 9) AS seconds,
	   round(cpu::numeric, 9) AS cpu, rounds, counted
FROM figures ORDER BY id;
\copy (SELECT * FROM csv) to 'figures.csv' csv
