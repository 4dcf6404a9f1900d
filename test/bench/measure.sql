-- How the time of statements and programs is measured, and what is kept of it, for the
-- programs of this directory whose SQL needs it.

-- two rows with the same question must have counted the same
CREATE TABLE took (
	id serial, measured text, way text, seconds float8, cpu float8, counted bigint, question text
);

-- CPU seconds that this process has taken; null where the system does not tell.
-- To read the first file makes the kernel bring the second one up to date.
CREATE FUNCTION cpu_time() RETURNS float8 LANGUAGE plpgsql AS $$
BEGIN
	PERFORM pg_read_file('/proc/self/stat');
	RETURN split_part(pg_read_file('/proc/self/schedstat'), ' ', 1)::float8 / 1e9;
EXCEPTION WHEN OTHERS THEN
	RETURN NULL;
END $$;

-- one round of a query that returns a number, or of other statements; times are
-- divided by "per"
CREATE PROCEDURE measure(measured text, way text, per float8, question text, VARIADIC statements text[])
LANGUAGE plpgsql AS $$
DECLARE
	started timestamptz := clock_timestamp();
	started_cpu float8 := cpu_time();
	statement text;
	counted bigint;
BEGIN
	FOREACH statement IN ARRAY statements LOOP
		IF statement LIKE 'SELECT%' THEN
			EXECUTE statement INTO counted;
		ELSE
			EXECUTE statement;
			COMMIT;
		END IF;
	END LOOP;
	INSERT INTO took (measured, way, seconds, cpu, counted, question)
	SELECT measured, way, extract(epoch FROM clock_timestamp() - started) / per,
		(cpu_time() - started_cpu) / per, counted, question;
	COMMIT;
END $$;

-- programs count the CPU time themselves
CREATE PROCEDURE measure_program(measured text, way text, program text) LANGUAGE plpgsql AS $$
BEGIN
	CREATE TEMPORARY TABLE IF NOT EXISTS output (name text, value numeric);
	TRUNCATE output;
	EXECUTE format('COPY output FROM PROGRAM %L', program);
	INSERT INTO took (measured, way, cpu, counted)
	SELECT measured, way, s.value, p.value
	FROM output s, output p
	WHERE s.name = 'seconds for pairs' AND p.name = 'pairs';
END $$;

CREATE PROCEDURE require_plan(query text, VARIADIC nodes text[]) LANGUAGE plpgsql AS $$
DECLARE
	line text;
	node text;
	plan text := '';
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		plan := plan || line || E'\n';
	END LOOP;
	FOREACH node IN ARRAY nodes LOOP
		IF strpos(plan, node) = 0 THEN
			RAISE EXCEPTION 'the plan lacks "%"', node USING DETAIL = plan;
		END IF;
	END LOOP;
END $$;
