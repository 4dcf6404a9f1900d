--
-- What planner support replaces needs EXECUTE on what is written and on what takes its
-- place.  Without the first, the statement fails as it would without support; without
-- the second, it is done as it is written.
--
CREATE SCHEMA planner_privileges_test;
SET search_path = planner_privileges_test, public; SET max_parallel_workers_per_gather = 0; SET enable_seqscan = off;
SET enable_bitmapscan = off; SET enable_indexonlyscan = off;
\pset format unaligned
\pset tuples_only on
CREATE TABLE docs (id int, fp simhash, r bigint);
INSERT INTO docs SELECT n, n, n % 3 FROM generate_series(1, 300) n;
CREATE INDEX docs_fp ON docs USING simhash (fp);
ANALYZE docs;
CREATE ROLE regress_simhash_reader;
GRANT USAGE ON SCHEMA planner_privileges_test TO regress_simhash_reader;
GRANT SELECT ON docs TO regress_simhash_reader;

-- what each statement gives to the role without EXECUTE on a function
CREATE TABLE statements (no int GENERATED ALWAYS AS IDENTITY, statement text);
INSERT INTO statements (statement) VALUES
	('SELECT count(*) FROM docs WHERE fp <~> 5 <= 1'),
	('SELECT count(*) FROM docs WHERE hamming(fp, 5) < 2::smallint'),
	('SELECT count(*) FROM docs WHERE 1::bigint >= fp <~> 5'),
	('SELECT count(*) FROM docs WHERE fp <~> 5 = 1'),
	('SELECT count(*) FROM docs WHERE NOT (fp <~> 5 > ''1'')'),
	('SELECT count(*) FROM docs WHERE fp <~> 5 < r'),
	('SELECT count(*) FROM docs WHERE fp <~> 5 <= (SELECT 1)'),
	('SELECT count(*) FROM docs WHERE simhash_within(fp, 5, 1)'),
	('SELECT sum(fp <~> 5) FROM docs'),
	('SELECT fp FROM docs ORDER BY fp <~> 5, id LIMIT 1');
CREATE FUNCTION outcomes(function regprocedure) RETURNS TABLE (no int, outcome text) LANGUAGE plpgsql AS $$
DECLARE
	s record;
BEGIN
	FOR s IN SELECT * FROM statements ORDER BY statements.no LOOP
		no := s.no;
		BEGIN
			EXECUTE 'REVOKE EXECUTE ON FUNCTION ' || function || ' FROM PUBLIC';
			SET LOCAL ROLE regress_simhash_reader;
			EXECUTE s.statement INTO outcome;
			RAISE 'undo' USING ERRCODE = 'UNDO0';
		EXCEPTION
			WHEN SQLSTATE 'UNDO0' THEN
				NULL;
			WHEN OTHERS THEN
				outcome := SQLERRM;
		END;
		RETURN NEXT;
	END LOOP;
END $$;
CREATE TABLE truth AS SELECT * FROM outcomes('pg_sleep(double precision)');
TABLE truth;
-- what is written
SELECT * FROM outcomes('hamming(simhash, simhash)');
SELECT * FROM outcomes('simhash_distance_le(simhash_distance, integer)') EXCEPT TABLE truth ORDER BY 1;
SELECT * FROM outcomes('simhash_distance_gt(simhash_distance, simhash_distance)') EXCEPT TABLE truth;
SELECT * FROM outcomes('simhash_within(simhash, simhash, integer)') EXCEPT TABLE truth;
-- what takes its place: no row
SELECT f, o.* FROM unnest(ARRAY['simhash_radius(bigint, boolean)', 'simhash_ball(simhash, integer)',
	'simhash_order_distance(simhash, simhash)', 'simhash_in_ball(simhash, simhash_ball)']::regprocedure[]) f,
	outcomes(f) o EXCEPT SELECT f, t.* FROM unnest(ARRAY(SELECT oid::regprocedure FROM pg_proc WHERE proname ~ '^simhash_')) f,
	truth t;

-- the index is used if all is allowed, and not otherwise
SELECT plan('SELECT * FROM docs WHERE fp <~> 5 <= 1');
BEGIN;
REVOKE EXECUTE ON FUNCTION simhash_ball(simhash, integer) FROM PUBLIC;
SET LOCAL ROLE regress_simhash_reader;
SELECT plan('SELECT * FROM docs WHERE fp <~> 5 <= 1');
ROLLBACK;
BEGIN;
REVOKE EXECUTE ON FUNCTION simhash_within(simhash, simhash, integer) FROM PUBLIC;
SET LOCAL ROLE regress_simhash_reader;
SELECT plan('SELECT * FROM docs WHERE fp <~> 5 <= 1');
ROLLBACK;
BEGIN;
REVOKE EXECUTE ON FUNCTION simhash_order_distance(simhash, simhash) FROM PUBLIC;
SET LOCAL ROLE regress_simhash_reader;
SELECT plan('SELECT * FROM docs ORDER BY fp <~> 5 LIMIT 1');
SELECT plan('SELECT * FROM docs WHERE fp <~> 5 <= 1');
ROLLBACK;

-- a plan that is kept is made again after REVOKE
SET plan_cache_mode = force_generic_plan;
PREPARE near AS SELECT count(*) FROM docs WHERE fp <~> 5 <= 1;
PREPARE within AS SELECT count(*) FROM docs WHERE simhash_within(fp, 5, 1);
PREPARE distances AS SELECT sum(fp <~> 5) FROM docs;
SET ROLE regress_simhash_reader;
EXECUTE near;
EXECUTE within;
EXECUTE distances;
RESET ROLE;
BEGIN;
REVOKE EXECUTE ON FUNCTION hamming(simhash, simhash) FROM PUBLIC;
SET LOCAL ROLE regress_simhash_reader;
SAVEPOINT s;
EXECUTE near;
ROLLBACK TO s;
EXECUTE distances;
ROLLBACK;
BEGIN;
REVOKE EXECUTE ON FUNCTION simhash_distance_le(simhash_distance, integer) FROM PUBLIC;
SET LOCAL ROLE regress_simhash_reader;
EXECUTE near;
ROLLBACK;
BEGIN;
REVOKE EXECUTE ON FUNCTION simhash_within(simhash, simhash, integer) FROM PUBLIC;
SET LOCAL ROLE regress_simhash_reader;
SELECT plan('EXECUTE near');
EXECUTE within;
ROLLBACK;
SET ROLE regress_simhash_reader;
EXECUTE near;
EXECUTE within;
RESET ROLE;

-- also of what is not in the plan, as it has been computed
CREATE TABLE texts AS SELECT 'Some words ' || n AS body FROM generate_series(1, 300) n;
CREATE INDEX texts_body ON texts USING simhash (body simhash_text_ops);
ANALYZE texts;
GRANT SELECT ON texts TO regress_simhash_reader;
PREPARE alike AS SELECT count(*) FROM texts WHERE simhash_similar(body, 'Some words 5', 0.9);
SET ROLE regress_simhash_reader;
SELECT plan('EXECUTE alike');
EXECUTE alike;
RESET ROLE;
BEGIN;
REVOKE EXECUTE ON FUNCTION simhash_similar_ball(text, float8) FROM PUBLIC;
SET LOCAL ROLE regress_simhash_reader;
SELECT plan('EXECUTE alike');
EXECUTE alike;
ROLLBACK;

SET client_min_messages = warning;
DROP SCHEMA planner_privileges_test CASCADE;
DROP ROLE regress_simhash_reader;
