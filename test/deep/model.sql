-- What test/deep/model.pl asks an index, beside the same asked of the table by
-- brute force: bit_count() over bigints and bit strings, and the definition of =~=.

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
		-- most agree in their first 16 bits, more than fit in what one process searches
		WHEN 'skewed' THEN
			CASE WHEN x < 0.01 THEN NULL
				 WHEN x < 0.85 THEN
					(flip_bits(hashint8extended(floor(random() * 8000)::bigint, 9), floor(random() * 7)::integer)
						& x'0000ffffffffffff'::bigint) | x'1234000000000000'::bigint
				 ELSE flip_bits(hashint8extended(floor(random() * 6000)::bigint, 10), floor(random() * 7)::integer) END
		WHEN 'mixed' THEN
			CASE WHEN x < 0.1 THEN NULL
				 WHEN x < 0.15 THEN 0
				 WHEN x < 0.2 THEN -1
				 WHEN x < 0.5 THEN floor(random() * 5000)::bigint
				 WHEN x < 0.7 THEN floor(random() * 5000)::bigint << 50
				 ELSE random_bits() END
		END;
END $$;

-- The same of 128 bits.  Clusters are as wide as % reaches and a little more; some
-- fingerprints have one of their halves in common.
CREATE FUNCTION flip_wide(fp simhash_bits, n integer) RETURNS simhash_bits LANGUAGE plpgsql VOLATILE AS $$
DECLARE
	bits varbit := fp::varbit;
	place integer;
BEGIN
	FOR i IN 1 .. n LOOP
		place := floor(random() * length(bits));
		bits := set_bit(bits, place, 1 - get_bit(bits, place));
	END LOOP;
	RETURN bits::simhash_bits;
END $$;
CREATE FUNCTION wide_of(high bigint, low bigint) RETURNS simhash_bits LANGUAGE sql IMMUTABLE AS $$
	SELECT (high::bit(64) || low::bit(64))::simhash_bits $$;
CREATE FUNCTION draw_wide(kind text) RETURNS simhash_bits LANGUAGE plpgsql VOLATILE AS $$
DECLARE
	x float8 := random();
	family bigint := floor(random() * 200);
BEGIN
	RETURN CASE kind
		WHEN 'clustered' THEN
			flip_wide(wide_of(hashint8extended(family, 7), hashint8extended(family, 8)), floor(random() * 20)::integer)
		WHEN 'mixed' THEN
			CASE WHEN x < 0.1 THEN NULL
				 WHEN x < 0.15 THEN wide_of(0, 0)
				 WHEN x < 0.2 THEN wide_of(-1, -1)
				 WHEN x < 0.4 THEN wide_of(draw('mixed'), 0)
				 WHEN x < 0.6 THEN wide_of(draw('duplicates'), draw('clustered'))
				 WHEN x < 0.8 THEN wide_of(draw('clustered'), draw('duplicates'))
				 ELSE wide_of(random_bits(), random_bits()) END
		END;
END $$;

-- Texts: of families, with other words at the front or anywhere, so that they share
-- from a half to all of their runs of three words; of a frame with few words of their
-- own; short ones, equal ones, some without a feature, and nulls.
CREATE FUNCTION change_text(body text, n integer) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
BEGIN
	FOR i IN 1 .. n LOOP
		body := regexp_replace(body, '\w+', 'x' || floor(random() * 500), 1, 1 + floor(random() * 40)::integer);
	END LOOP;
	RETURN body;
END $$;
CREATE FUNCTION words(seed bigint, first integer, last integer) RETURNS text LANGUAGE sql IMMUTABLE AS $$
	SELECT string_agg('w' || (hashint8extended(seed, i) & 1023), ' ' ORDER BY i) FROM generate_series(first, last) i $$;
CREATE FUNCTION draw_text(kind text) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
	x float8 := random();
	family bigint := floor(random() * 150);
	own integer := floor(random() * 7);
BEGIN
	RETURN CASE
		WHEN x < 0.03 THEN NULL
		WHEN x < 0.06 THEN (ARRAY['', '.', '...', E'\n'])[1 + own % 4]
		WHEN x < 0.1 THEN words(family, 1, own)
		WHEN kind = 'framed' AND x < 0.7 THEN
			words(floor(random() * 100000)::bigint, 1, own) || words(own % 3, 1, 30) || repeat(' and more', own)
		WHEN x < 0.5 THEN concat_ws(' ', words(floor(random() * 100000)::bigint, 1, own), words(family, 1 + own, 40))
		WHEN x < 0.9 THEN change_text(words(family, 1, 40), own % 4)
		ELSE upper(words(family, 1, 40)) || '!' END;
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
							q anyelement, r integer, qs anyarray)
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
