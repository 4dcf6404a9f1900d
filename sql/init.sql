--
-- The extension, for all tests that follow, and what several of them use
--
CREATE EXTENSION simhash;

-- compiling queries that run but once would take most of the time
SELECT current_database() AS database \gset
ALTER DATABASE :"database" SET jit = off;

-- 64 bits that depend on nothing but the text
CREATE FUNCTION bits(text) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
	SELECT ('x' || substr(md5($1), 1, 16))::bit(64)::bigint
$$;

-- n distinct bits inverted, chosen by the text
CREATE FUNCTION flip(h bigint, n int, how text) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
	SELECT h # coalesce(bit_or(1::bigint << pos), 0)
	FROM (SELECT pos FROM generate_series(0, 63) pos
		  ORDER BY md5(how || pos) LIMIT n) chosen
$$;

-- the distance, by no code of the extension
CREATE FUNCTION distance(a bigint, b bigint) RETURNS int LANGUAGE sql IMMUTABLE AS $$
	SELECT bit_count((a # b)::bit(64))::int
$$;

-- the plan, the same for all server versions
CREATE FUNCTION plan(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		CONTINUE WHEN line ~ '^ *Disabled: true$';
		line := replace(line, ' (returns $0)', '');
		RETURN NEXT replace(line, '$0', '(InitPlan 1).col1');
	END LOOP;
END $$;

-- the same as one text
CREATE FUNCTION plan_of(query text) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(line || E'\n', '') FROM plan(query) line
$$;
