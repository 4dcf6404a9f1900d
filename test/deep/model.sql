-- What test/deep/model.pl asks an index, beside the same asked of the table by
-- brute force: bit_count() over bigints.

-- A fingerprint as a kind of table has them.
CREATE FUNCTION draw(kind text) RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
DECLARE
	x float8 := random();
BEGIN
	RETURN CASE kind
		WHEN 'random' THEN random_bits()
		WHEN 'clustered' THEN
			flip_bits(hashint8extended(floor(random() * 300)::bigint, 7), floor(random() * 6)::integer)
		WHEN 'duplicates' THEN hashint8extended(floor(x * x * x * 40)::bigint, 8)
		WHEN 'mixed' THEN
			CASE WHEN x < 0.1 THEN NULL
				 WHEN x < 0.15 THEN 0
				 WHEN x < 0.2 THEN -1
				 WHEN x < 0.5 THEN floor(random() * 5000)::bigint
				 WHEN x < 0.7 THEN floor(random() * 5000)::bigint << 50
				 ELSE random_bits() END
		END;
END $$;

-- Values of the columns before the fingerprint: few, some of them often, and nulls.
CREATE FUNCTION draw_tenant() RETURNS integer LANGUAGE sql VOLATILE AS $$
	SELECT CASE WHEN x > 0.1 THEN (x * x * x * 8)::integer END FROM random() x $$;
CREATE FUNCTION draw_lang() RETURNS text LANGUAGE sql VOLATILE AS $$
	SELECT ('{en,de,fr,NULL}'::text[])[1 + (x * x * 4)::integer] FROM random() x $$;
CREATE FUNCTION draw_day() RETURNS date LANGUAGE sql VOLATILE AS $$
	SELECT '2026-01-01'::date + (random() * 2)::integer $$;

-- Run a statement as the index answers it, and one by brute force; both may use
-- $1 a center, $2 a radius and $3 further centers.  NULL if the two agree, else
-- how they differ.  The plan must contain a text, unless it is NULL.
CREATE FUNCTION model_check(what text, settings text[], wanted_plan text, statement text, brute text,
							q bigint, r integer, qs bigint[])
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	name text;
	line text;
	plan text := '';
	got text;
	wanted text;
BEGIN
	FOREACH name IN ARRAY settings LOOP
		PERFORM set_config(name, 'off', true);
	END LOOP;
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || statement USING q, r, qs LOOP
		plan := plan || line || E'\n';
	END LOOP;
	EXECUTE format('SELECT s::text FROM (%s) s', statement) INTO got USING q, r, qs;
	FOREACH name IN ARRAY settings LOOP
		PERFORM set_config(name, 'on', true);
	END LOOP;
	IF strpos(plan, wanted_plan) = 0 THEN
		RETURN format('%s: the plan is %s', what, plan);
	END IF;
	EXECUTE format('SELECT s::text FROM (%s) s', brute) INTO wanted USING q, r, qs;
	IF got IS DISTINCT FROM wanted THEN
		RETURN format('%s of %s within %s: %s instead of %s; %s', what, q, r,
			left(got, 500), left(wanted, 500), replace(plan, E'\n', ' '));
	END IF;
	RETURN NULL;
END $$;

-- For each different fingerprint of a table the smallest one, as unsigned
-- numbers go, that it is connected with by steps of at most r bits.  Only those are
-- connected for which an expression over the columns has the same value; null is
-- the same as nothing.
CREATE FUNCTION components(tab regclass, r integer, same text, OUT h bigint, OUT key text, OUT root bigint)
RETURNS SETOF record LANGUAGE plpgsql AS $$
DECLARE
	hs bigint[];
	keys text[];
	parent integer[];
	a integer;
	b integer;
BEGIN
	EXECUTE format('SELECT array_agg(h ORDER BY h # (-1::bigint << 63), key), array_agg(key ORDER BY h # (-1::bigint << 63), key)
		FROM (SELECT DISTINCT fp::bigint AS h, %s AS key FROM %s WHERE fp IS NOT NULL AND %1$s IS NOT NULL) s', same, tab)
	INTO hs, keys;
	parent := ARRAY(SELECT generate_series(1, cardinality(hs)));
	FOR a, b IN SELECT x.n, y.n
		FROM unnest(hs, keys) WITH ORDINALITY x (h, key, n), unnest(hs, keys) WITH ORDINALITY y (h, key, n)
		WHERE x.n < y.n AND x.key = y.key AND distance(x.h, y.h) <= r
	LOOP
		WHILE parent[a] <> a LOOP a := parent[a]; END LOOP;
		WHILE parent[b] <> b LOOP b := parent[b]; END LOOP;
		parent[greatest(a, b)] := least(a, b);
	END LOOP;
	FOR i IN 1 .. coalesce(cardinality(hs), 0) LOOP
		parent[i] := parent[parent[i]];
		h := hs[i];
		key := keys[i];
		root := hs[parent[i]];
		RETURN NEXT;
	END LOOP;
END $$;
