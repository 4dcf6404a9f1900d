-- Builds of an index, beside those of a btree, in turn.
-- Variables: rounds, and lists that begin with a comma: rows, memory, workers,
-- values.

CREATE EXTENSION simhash;
SET client_min_messages = warning;

CREATE TABLE result (
	id serial, rows integer, "values" text, memory text, workers integer,
	simhash float8[] DEFAULT '{}', btree float8[] DEFAULT '{}'
);
CREATE FUNCTION list(text) RETURNS SETOF text LANGUAGE sql AS $$
	SELECT * FROM string_to_table(substr($1, 2), ',')
$$;
CREATE FUNCTION median(float8[]) RETURNS float8 LANGUAGE sql IMMUTABLE AS $$
	SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY x) FROM unnest($1) x
$$;

INSERT INTO result (rows, "values", memory, workers)
SELECT r::integer, v, m, w::integer
FROM list(:'rows') r, list(:'values') v, list(:'memory') m, list(:'workers') w;

-- our table and its twin
CREATE PROCEDURE make_tables(rows integer, "values" text) LANGUAGE plpgsql AS $$
BEGIN
	DROP TABLE IF EXISTS s, d;
	CREATE TABLE d (id integer, h bigint);
	CREATE TABLE s (id integer, fp simhash);
	PERFORM setseed(0.25);
	INSERT INTO d
	SELECT i, CASE WHEN "values" = 'skewed' AND i % 10 < 3 THEN 4611686018427387904
			  ELSE random_bits() END
	FROM generate_series(1, rows) i;
	INSERT INTO s SELECT id, h FROM d ORDER BY id;

	-- so that no build is the first to see that the rows are committed
	COMMIT;
	PERFORM count(*) FROM d;
	PERFORM count(*) FROM s;
END $$;

-- milliseconds that building an index takes
CREATE PROCEDURE measure(statement text, INOUT took float8[]) LANGUAGE plpgsql AS $$
DECLARE
	started timestamptz;
BEGIN
	CHECKPOINT;
	COMMIT;
	started := clock_timestamp();
	EXECUTE statement;
	COMMIT;
	took := took || 1000 * extract(epoch FROM clock_timestamp() - started)::float8;
	DROP INDEX built;
	COMMIT;
END $$;

-- fill in what result has to have
CREATE PROCEDURE run(rounds integer) LANGUAGE plpgsql AS $$
DECLARE
	made text := '';
	setting record;
	ours float8[];
	theirs float8[];
BEGIN
	FOR setting IN SELECT * FROM result ORDER BY id LOOP
		IF made IS DISTINCT FROM setting.rows || setting."values" THEN
			CALL make_tables(setting.rows, setting."values");
			COMMIT;
			made := setting.rows || setting."values";
		END IF;
		PERFORM set_config('maintenance_work_mem', setting.memory, false),
			set_config('max_parallel_maintenance_workers', setting.workers::text, false);
		-- the server gives each worker 32 MB or none, unless the table says how many
		EXECUTE format('ALTER TABLE s SET (parallel_workers = %s)', setting.workers);
		EXECUTE format('ALTER TABLE d SET (parallel_workers = %s)', setting.workers);
		COMMIT;
		ours := '{}';
		theirs := '{}';
		FOR round IN 1 .. rounds LOOP
			CALL measure('CREATE INDEX built ON s USING simhash (fp)', ours);
			CALL measure('CREATE INDEX built ON d (h)', theirs);
		END LOOP;
		UPDATE result SET simhash = ours, btree = theirs WHERE id = setting.id;
		COMMIT;
	END LOOP;
END $$;

\o /dev/null
CALL run(:rounds);
\o
SELECT rows, "values", memory, workers,
	   round(median(simhash)) AS "simhash, ms", round(median(btree)) AS "btree, ms",
	   to_char(median(simhash) / median(btree), 'FM90.00') AS "simhash/btree",
	   to_char((SELECT min(s / b) FROM unnest(simhash, btree) u (s, b)), 'FM90.00') || ' to '
	   || to_char((SELECT max(s / b) FROM unnest(simhash, btree) u (s, b)), 'FM90.00') AS "in the rounds"
FROM result ORDER BY id;
