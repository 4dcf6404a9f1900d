-- Tables, indexes of both sides, and the helpers that measure.
-- Variables: rows, queries, inserts, blocks, distance, radius, rounds.

-- what the report prints, in the order in which it was measured
CREATE TABLE result (
	id serial, what text, unit text,
	ours float8, baseline float8, baseline_name text
);

CREATE TABLE setting (
	rows integer, queries integer, inserts integer, blocks integer,
	distance integer, radius integer, rounds integer
);
INSERT INTO setting
VALUES (:rows, :queries, :inserts, :blocks, :distance, :radius, :rounds);

-- the baseline's table and its twin
CREATE TABLE d (id integer, h bigint);
CREATE TABLE s (id integer, fp simhash);
-- half of the queries are a stored fingerprint with 0 to 3 bits inverted, the
-- other half are random
CREATE TABLE q (id integer, h bigint, fp simhash);
-- rows to insert later
CREATE TABLE more (id integer, h bigint, fp simhash);

INSERT INTO d
SELECT row_number() OVER (), h FROM make_fingerprints(:rows, 0.25) h;
INSERT INTO s SELECT id, h FROM d ORDER BY id;
INSERT INTO more
SELECT :rows + row_number() OVER (), h, h FROM make_fingerprints(:inserts, 0.75) h;

CREATE INDEX d_id ON d (id);
SELECT setseed(0.5) \g /dev/null
INSERT INTO q
SELECT i, h, h
FROM (SELECT i,
			 CASE WHEN i % 2 = 0
				  THEN flip_bits((SELECT d.h FROM d WHERE d.id = pick.id), pick.flips)
				  ELSE pick.bits END AS h
	  FROM (SELECT i, 1 + floor(random() * :rows)::integer AS id,
				   floor(random() * 4)::integer AS flips, random_bits() AS bits
			FROM generate_series(1, :queries) i) pick) made;
DROP INDEX d_id;

-- the baseline's four indexes, on a table of the shape of d
CREATE PROCEDURE make_baseline_indexes(tab text) LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE INDEX %1$s_b0 ON %1$s ((h & 65535))', tab);
	EXECUTE format('CREATE INDEX %1$s_b1 ON %1$s (((h >> 16) & 65535))', tab);
	EXECUTE format('CREATE INDEX %1$s_b2 ON %1$s (((h >> 32) & 65535))', tab);
	EXECUTE format('CREATE INDEX %1$s_b3 ON %1$s (((h >> 48) & 65535))', tab);
END $$;

CREATE PROCEDURE make_our_index(tab text) LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE INDEX %1$s_fp ON %1$s USING simhash (fp)'
				   ' WITH (blocks = %2$s, distance = %3$s)',
				   tab, (SELECT blocks FROM setting), (SELECT distance FROM setting));
END $$;

CREATE FUNCTION median(float8[]) RETURNS float8
LANGUAGE sql IMMUTABLE AS $$
	SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY x) FROM unnest($1) x
$$;

-- the plan of a query, one line per node
CREATE FUNCTION plan_of(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
	RETURN QUERY EXECUTE 'EXPLAIN (COSTS OFF) ' || query;
END $$;

-- milliseconds that a query returning one bigint takes, after one run to warm
-- up; its result goes into answer
CREATE FUNCTION measure_query(query text, rounds integer,
							  OUT ms float8, OUT answer bigint)
LANGUAGE plpgsql AS $$
DECLARE
	started timestamptz;
	took float8[];
BEGIN
	EXECUTE query INTO answer;
	FOR i IN 1 .. rounds LOOP
		started := clock_timestamp();
		EXECUTE query INTO answer;
		took := took || 1000 * extract(epoch FROM clock_timestamp() - started)::float8;
	END LOOP;
	ms := median(took);
END $$;

-- milliseconds that a query takes as it comes
CREATE FUNCTION measure_once(query text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
	started timestamptz := clock_timestamp();
BEGIN
	EXECUTE query;
	RETURN 1000 * extract(epoch FROM clock_timestamp() - started);
END $$;

-- milliseconds that building an index takes; the index is dropped again
CREATE PROCEDURE measure_build(statement text, index_name text, rounds integer,
							   INOUT ms float8)
LANGUAGE plpgsql AS $$
DECLARE
	started timestamptz;
	took float8[];
BEGIN
	FOR i IN 1 .. rounds LOOP
		started := clock_timestamp();
		EXECUTE statement;
		took := took || 1000 * extract(epoch FROM clock_timestamp() - started)::float8;
		COMMIT;
		EXECUTE 'DROP INDEX ' || index_name;
		COMMIT;
	END LOOP;
	ms := median(took);
END $$;

VACUUM (FREEZE, ANALYZE) d;
VACUUM (FREEZE, ANALYZE) s;
VACUUM (FREEZE, ANALYZE) q;
VACUUM (FREEZE, ANALYZE) more;
