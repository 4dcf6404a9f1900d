--
-- Orders by distance that the index does not have: of wide fingerprints, and of
-- fingerprints before the last column
--
-- The rows are sorted.  The truth is bit_count() of bit strings (test/brute_force.sql).
--
\pset format unaligned
\pset footer off
SET client_min_messages = warning;
CREATE SCHEMA index_bits_nearest_test;
SET search_path = index_bits_nearest_test, public; SET max_parallel_workers_per_gather = 0;

-- rows that are 1 to 120 bits away from a center, others, and nulls
CREATE TABLE doc (id int, tenant int, fp simhash_bits(256));
INSERT INTO doc SELECT i, i % 2, flip_wide(wide('c', 256), i, 'f' || i) FROM generate_series(1, 120) i;
INSERT INTO doc SELECT 1000 + i, i % 4, wide('r' || i, 256) FROM generate_series(1, 5000) i;
INSERT INTO doc SELECT 10000 + i, i % 4, NULL FROM generate_series(1, 100) i;
CREATE INDEX doc_fp ON doc USING simhash (fp);
CREATE INDEX doc_tenant ON doc USING simhash (tenant, fp);
VACUUM ANALYZE doc;

-- with a radius, the index finds what is sorted; without one, all is
SELECT plan_of($$SELECT id FROM doc WHERE fp <~> wide('c', 256) <= 60 ORDER BY fp <~> wide('c', 256) LIMIT 10$$)
	~ 'Sort.*Index Scan (using|on) doc_fp' AS by_index,
	plan_of($$SELECT id FROM doc ORDER BY fp <~> wide('c', 256) LIMIT 10$$) ~ 'Sort.*Seq Scan on doc' AS by_scan;
SELECT array_agg(id) FROM (SELECT id FROM doc WHERE fp <~> wide('c', 256) <= 60 ORDER BY fp <~> wide('c', 256) LIMIT 10) s;
SELECT array_agg(id) FROM (SELECT id FROM doc ORDER BY fp <~> wide('c', 256) LIMIT 10) s;
SELECT opcname, amvalidate(o.oid), pg_index_column_has_property('doc_fp'::regclass, 1, 'distance_orderable')
FROM pg_opclass o WHERE opcname = 'simhash_bits_ops' AND opcmethod = (SELECT oid FROM pg_am WHERE amname = 'simhash');

-- Whatever else the planner may choose, and even if a
-- class claims to have the order: null distances come first, and the second distance tells these rows apart
CREATE FUNCTION no_fp() RETURNS simhash_bits LANGUAGE plpgsql STABLE AS 'BEGIN RETURN NULL; END';
CREATE FUNCTION compare_order(orders text, truth text, condition text DEFAULT 'true') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	form text;
	got text;
	expected text;
BEGIN
	EXECUTE format('SELECT array_agg(d) FROM (SELECT wide_distance(fp::varbit, wide(''c'', 256)::varbit) AS d
		FROM doc WHERE %s ORDER BY %s LIMIT 50) s', condition, truth) INTO expected;
	FOREACH form IN ARRAY '{seqscan,indexscan,bitmapscan}'::text[] LOOP
		PERFORM use_only(form, CASE form WHEN 'indexscan' THEN '{sort}' ELSE '{}' END::text[]);
		EXECUTE format('SELECT array_agg(d) FROM (SELECT wide_distance(fp::varbit, wide(''c'', 256)::varbit) AS d
			FROM (SELECT fp FROM doc WHERE %s ORDER BY %s LIMIT 50) s) s', condition, orders) INTO got;
		IF got IS DISTINCT FROM expected THEN
			RETURN format('%s: %s instead of %s', form, got, expected);
		END IF;
	END LOOP;
	PERFORM use_only('seqscan');
	RETURN 'ok';
END $$;
CREATE FUNCTION far(simhash_bits, simhash_bits) RETURNS int LANGUAGE plpgsql IMMUTABLE STRICT AS 'BEGIN RETURN hamming($1, $2); END';
CREATE OPERATOR <~~~> (LEFTARG = simhash_bits, RIGHTARG = simhash_bits, FUNCTION = far);
CREATE OPERATOR CLASS bits_far FOR TYPE simhash_bits USING simhash AS
	OPERATOR 2 <@ (simhash_bits, simhash_bits_ball), OPERATOR 3 <~~~> (simhash_bits, simhash_bits) FOR ORDER BY integer_ops;
SELECT amvalidate(oid) FROM pg_opclass WHERE opcname = 'bits_far';
CREATE INDEX doc_far ON doc USING simhash (fp bits_far);
SELECT orders, condition, compare_order(orders, truth, condition)
FROM (VALUES ($$fp <~> wide('c', 256)$$, 'd'), ($$fp <~> (SELECT no_fp()), fp <~> wide('c', 256)$$, 'd'),
		($$fp <~> wide('c', 256), fp <~> (SELECT no_fp())$$, 'd'), ($$fp <~~~> wide('c', 256)$$, 'd'),
		($$fp <~~~> (SELECT no_fp()), fp <~~~> wide('c', 256)$$, 'd')) o(orders, truth),
	unnest('{true,tenant = 1,fp IS NULL}'::text[]) condition ORDER BY 1, 2;

-- a fingerprint before the last column
CREATE TABLE two (id int, x simhash, fp simhash);
INSERT INTO two SELECT i, nullif(bits('x' || i % 50), bits('x3')), bits('t' || i) FROM generate_series(1, 2000) i;
CREATE INDEX two_i ON two USING simhash (x, fp);
ANALYZE two;
CREATE FUNCTION compare_two(orders text, truth text, condition text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	got text;
	expected text;
BEGIN
	EXECUTE format('SELECT array_agg((x, fp) ORDER BY x, fp) FROM (SELECT distance(x::bigint, 5) AS x, distance(fp::bigint, 5) AS fp
		FROM two WHERE %s ORDER BY %s LIMIT 60) s', condition, truth) INTO expected;
	PERFORM use_only('indexscan', '{sort}');
	EXECUTE format('SELECT array_agg((x, fp) ORDER BY x, fp) FROM (SELECT distance(x::bigint, 5) AS x, distance(fp::bigint, 5) AS fp
		FROM (SELECT x, fp FROM two WHERE %s ORDER BY %s LIMIT 60) s) s', condition, orders) INTO got;
	PERFORM use_only('seqscan');
	RETURN CASE WHEN got = expected THEN 'ok' ELSE format('%s instead of %s', got, expected) END;
END $$;
SELECT orders, condition, compare_two(orders, truth, condition)
FROM (VALUES ('x <~> 5, fp <~> 5', '1, 2'), ('fp <~> 5, x <~> 5', '2, 1')) o(orders, truth),
	unnest(ARRAY['true', 'x IS NULL', 'x IS NULL OR x = ' || bits('x4')]) condition ORDER BY 1, 2;
SELECT count(*), count(x) FROM (SELECT x FROM two ORDER BY x <~> 5::simhash) ordered;

DROP SCHEMA index_bits_nearest_test CASCADE;
