--
-- Operator classes of one's own for fingerprints: which ones are valid, that an index is
-- neither built nor searched with others, and integers beside a bigint
--
SET client_min_messages = warning;
CREATE SCHEMA index_classes_test;
SET search_path = index_classes_test, public; SET max_parallel_workers_per_gather = 0;
\pset format unaligned
\pset footer off

CREATE TABLE t (id int, b bigint, f float8, s simhash, w simhash_bits(128));
INSERT INTO t SELECT i, i, i, i, wide(i::text, 128) FROM generate_series(-20, 20) i;
INSERT INTO t VALUES (100, 0, '-0', 0, NULL);

--
-- Is a class valid, and what becomes of an index?
--
CREATE FUNCTION ball_text(bigint, text) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN $1 = length($2); END';
CREATE OPERATOR <@@ (LEFTARG = bigint, RIGHTARG = text, FUNCTION = ball_text);
CREATE FUNCTION wide_number(simhash_bits, bigint) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN length($1::text) = $2; END';
CREATE OPERATOR <@@ (LEFTARG = simhash_bits, RIGHTARG = bigint, FUNCTION = wide_number);
CREATE FUNCTION wide_ball(simhash_bits, simhash_ball) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN $2 IS NOT NULL; END';
CREATE OPERATOR <@@ (LEFTARG = simhash_bits, RIGHTARG = simhash_ball, FUNCTION = wide_ball);
CREATE FUNCTION narrow_ball(simhash, simhash_bits_ball) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN $2 IS NOT NULL; END';
CREATE OPERATOR <@@ (LEFTARG = simhash, RIGHTARG = simhash_bits_ball, FUNCTION = narrow_ball);
CREATE FUNCTION wide_distance(simhash_bits, bigint) RETURNS int
LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN length($1::text) - $2; END';
CREATE OPERATOR <~~~> (LEFTARG = simhash_bits, RIGHTARG = bigint, FUNCTION = wide_distance);
CREATE FUNCTION integer_distance(simhash, simhash) RETURNS int LANGUAGE sql IMMUTABLE RETURN $1 <~~> $2;
CREATE OPERATOR <~~~> (LEFTARG = simhash, RIGHTARG = simhash, FUNCTION = integer_distance);
CREATE FUNCTION bigint_distance(bigint, bigint) RETURNS bigint LANGUAGE sql IMMUTABLE RETURN $1::simhash <~~> $2::simhash;
CREATE OPERATOR <~~~> (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = bigint_distance);

CREATE FUNCTION try(kind text, operators text, OUT valid boolean, OUT state text, OUT message text, OUT detail text)
LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE OPERATOR CLASS mine FOR TYPE %s USING simhash AS %s', kind, operators);
	valid := amvalidate(oid) FROM pg_opclass WHERE opcname = 'mine';
	SELECT a.state, replace(replace(a.message, 'index_classes_test.', ''), 'public.', ''), a.detail INTO state, message, detail
	FROM attempt(format('CREATE INDEX mine ON t USING simhash (%s mine)', (SELECT attname FROM pg_attribute
		WHERE attrelid = 't'::regclass AND attnum > 1 AND atttypid = kind::regtype))) a;
	DROP OPERATOR FAMILY mine USING simhash CASCADE;
END $$;
SELECT k, o, r.* FROM (VALUES
	('bigint', 'OPERATOR 1 =, OPERATOR 4 <>'),
	('bigint', 'OPERATOR 1 = (bigint, smallint), OPERATOR 4 <>'),
	('simhash', 'OPERATOR 1 =, OPERATOR 2 <@ (simhash, simhash_ball), OPERATOR 3 <~~> FOR ORDER BY integer_ops'),
	('simhash', 'OPERATOR 1 =, OPERATOR 3 <~~~> FOR ORDER BY integer_ops'),
	('simhash_bits', 'OPERATOR 1 =, OPERATOR 2 <@ (simhash_bits, simhash_bits_ball)'),
	-- a distance that is neither smallint nor integer
	('bigint', 'OPERATOR 1 =, OPERATOR 3 <~~~> FOR ORDER BY integer_ops'),
	-- a type whose equality is not that of its bits
	('float8', 'OPERATOR 4 ='),
	('float8', 'OPERATOR 1 =, OPERATOR 4 <>'),
	-- what is not a ball, or another one
	('bigint', 'OPERATOR 1 =, OPERATOR 2 <='),
	('bigint', 'OPERATOR 1 =, OPERATOR 2 <@@ (bigint, text)'),
	('float8', 'OPERATOR 2 ='),
	('simhash', 'OPERATOR 2 ='),
	('simhash', 'OPERATOR 2 <@@ (simhash, simhash_bits_ball)'),
	('simhash_bits', 'OPERATOR 2 ='),
	('simhash_bits', 'OPERATOR 2 <@@ (simhash_bits, simhash_ball)'),
	-- what is not a fingerprint
	('bigint', 'OPERATOR 1 =, OPERATOR 5 <@@ (bigint, text)'),
	('bigint', 'OPERATOR 7 = (bigint, integer)'),
	('simhash_bits', 'OPERATOR 5 <@@ (simhash_bits, bigint)'),
	('simhash_bits', 'OPERATOR 3 <~~~> (simhash_bits, bigint) FOR ORDER BY integer_ops'),
	-- the distance is for ORDER BY, and no other strategy is
	('simhash', 'OPERATOR 3 <>'),
	('simhash', 'OPERATOR 1 =, OPERATOR 4 <~~> FOR ORDER BY integer_ops'),
	('simhash_bits', 'OPERATOR 5 <~~~> (simhash_bits, bigint) FOR ORDER BY integer_ops')) v(k, o), try(k, o) r;

--
-- Operators that come after the index
--
CREATE OPERATOR CLASS late_b FOR TYPE bigint USING simhash AS OPERATOR 4 =;
CREATE OPERATOR CLASS late_w FOR TYPE simhash_bits USING simhash AS OPERATOR 4 =;
CREATE INDEX t_b ON t USING simhash (b late_b);
CREATE INDEX t_w ON t USING simhash (w late_w);
ALTER OPERATOR FAMILY late_b USING simhash ADD OPERATOR 2 <= (bigint, bigint), OPERATOR 2 <@@ (bigint, text),
	OPERATOR 1 = (bigint, integer);
ALTER OPERATOR FAMILY late_w USING simhash ADD OPERATOR 2 <@@ (simhash_bits, bigint),
	OPERATOR 3 <~~~> (simhash_bits, bigint) FOR ORDER BY integer_ops;
SELECT use_only('indexscan') \gset
SELECT q, a.* FROM unnest(ARRAY['b <= 5::bigint', 'b <= ANY (''{5,6}''::bigint[])', 'b <@@ ''abc''',
	'w <@@ 5', 'w <@@ ANY (''{5,6}''::bigint[])', 'true ORDER BY w <~~~> 5::bigint LIMIT 1']) q,
	attempt('SELECT id FROM t WHERE ' || q) a;
-- the others go on
SELECT array_agg(id ORDER BY id) FROM t WHERE b = 5::bigint
UNION ALL SELECT array_agg(id ORDER BY id) FROM t WHERE b = -5;
SELECT use_only('seqscan') \gset
SELECT count(*) FROM t WHERE b <= 5::bigint;
DROP OPERATOR FAMILY late_b USING simhash CASCADE;
DROP OPERATOR FAMILY late_w USING simhash CASCADE;

-- of which one is for the wrong purpose: an order that is not one of distances is sorted
CREATE FUNCTION nearness(simhash, simhash) RETURNS int
LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN 64 - hamming($1, $2); END';
CREATE OPERATOR <~-~> (LEFTARG = simhash, RIGHTARG = simhash, FUNCTION = nearness);
CREATE FUNCTION other_number(simhash, bigint) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN $1::bigint <> $2; END';
CREATE OPERATOR <@@ (LEFTARG = simhash, RIGHTARG = bigint, FUNCTION = other_number);
CREATE OPERATOR CLASS late_s FOR TYPE simhash USING simhash AS OPERATOR 1 =, OPERATOR 3 <~~> FOR ORDER BY integer_ops;
CREATE INDEX t_s ON t USING simhash (s late_s);
ALTER OPERATOR FAMILY late_s USING simhash ADD OPERATOR 4 <~-~> (simhash, simhash) FOR ORDER BY integer_ops,
	OPERATOR 3 <@@ (simhash, bigint);
SELECT use_only('indexscan') \gset
SELECT plan('SELECT s FROM t ORDER BY s <~~> 1, s <~~> 6 LIMIT 3');
SELECT * FROM rows_of($$SELECT s FROM t ORDER BY s <~~> 1, s <~~> 6 LIMIT 3$$,
	$$SELECT s <~-~> 1 AS nearness FROM t ORDER BY s <~-~> 1 LIMIT 3$$,
	$$SELECT s <~~> 1 AS distance, s <~-~> 6 AS nearness FROM t ORDER BY s <~~> 1, s <~-~> 6 LIMIT 4$$,
	$$SELECT * FROM attempt('SELECT id FROM t WHERE s <@@ 1::bigint')$$);
SELECT use_only('seqscan') \gset
DROP OPERATOR FAMILY late_s USING simhash CASCADE;

--
-- Of a shorter integer only its own bits count.  A function in C may leave the others as
-- they are: these ones return what they are given.
--
CREATE FUNCTION as_int4(bigint) RETURNS integer LANGUAGE internal IMMUTABLE STRICT AS 'int8up';
CREATE FUNCTION as_int2(bigint) RETURNS smallint LANGUAGE internal IMMUTABLE STRICT AS 'int8up';
CREATE INDEX t_b ON t USING simhash (b);
SELECT use_only('indexscan') \gset
SELECT plan('SELECT id FROM t WHERE b = as_int4(5)');
SELECT as_int4(4294967291), as_int2(65531);
SELECT id FROM t WHERE b = as_int4(4294967291)
UNION ALL SELECT id FROM t WHERE b = as_int4(4294967301)
UNION ALL SELECT id FROM t WHERE b = as_int2(65531);
SELECT id FROM t WHERE b = ANY (ARRAY[as_int4(4294967291), as_int4(5)]) ORDER BY id;
SELECT id FROM t WHERE b = ANY ('{-5,5}'::smallint[]) ORDER BY id;

--
-- A hash function that must not run in a worker: one that catches errors cannot
--
CREATE FUNCTION hash_unsafe(int, bigint) RETURNS bigint LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL UNSAFE AS $$
BEGIN
	BEGIN
		RETURN hashint4extended($1, $2);
	EXCEPTION WHEN others THEN
		RETURN 0;
	END;
END $$;
CREATE OPERATOR CLASS unsafe_ops FOR TYPE int USING simhash AS OPERATOR 1 =, FUNCTION 1 hash_unsafe(int, bigint);
CREATE TABLE grouped AS SELECT i % 7 AS g, bits(i::text)::simhash AS fp FROM generate_series(1, 5000) i;
SET min_parallel_table_scan_size = 0; SET maintenance_work_mem = '256MB'; SET max_parallel_maintenance_workers = 2;
CREATE INDEX grouped_fp ON grouped USING simhash (g unsafe_ops, fp);
SELECT simhash_index_check('grouped_fp', true) \gset

DROP SCHEMA index_classes_test CASCADE;
