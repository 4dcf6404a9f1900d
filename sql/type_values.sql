--
-- Types simhash and simhash_ball: input, output, casts, order, distance
--
\pset format unaligned
\pset footer off
\set VERBOSITY sqlstate

--
-- Input and output
--
SELECT v::simhash
FROM (VALUES ('0'), ('1'), ('9223372036854775807'), ('9223372036854775808'),
             ('18446744073709551615'), ('00000000000000000000000000000042'),
             ('0x0'), ('0xf'), ('0XaBcDeF'), ('0x8000000000000000'),
             ('0xffffffffffffffff'), (E' \t\n 42 \r\n'), ('-1'), ('-59'), ('-0'), ('+5'),
             ('+18446744073709551615'), ('-9223372036854775808'), (' -00042 ')) AS t(v);

-- not a fingerprint: 22P02; an integer, but not one of 64 bits: 22003
SELECT type, v, (attempt(format('SELECT %L::%s', v, type))).state
FROM (SELECT 'simhash', unnest(ARRAY['', '   ', 'abc', '12a', '1 2', '1.0', '1e3', '+', '-', '+-1', '--1', '- 1', '0x', '0xg', '0x 1', '-0x1',
		'+0x1', '18446744073709551616', '99999999999999999999999999', '99999999999999999999999999x',
		'0x10000000000000000', '0x00000000000000001', '+18446744073709551616', '-9223372036854775809',
		'-18446744073709551615', '-18446744073709551616']) AS v
	UNION ALL SELECT 'simhash_ball', unnest(ARRAY['', '5', '()', '(5)', '(5,)', '(,5)', '(5 3)', '(5,3', '5,3)', '(5,3))', '(5,3,1)', '(5,x)', '(5,1.5)',
		'(5,+-3)', '(18446744073709551616,3)', '(18446744073709551616,x)', '(-9223372036854775809,3)', '(5,2147483648)',
		'(5,-2147483649)', '(5,99999999999999999999)'])) s(type, v);

-- the wording
\set VERBOSITY terse
SELECT 'abc'::simhash;
SELECT '18446744073709551616'::simhash;
SELECT '(5,x)'::simhash_ball;
SELECT '(5,2147483648)'::simhash_ball;
\set VERBOSITY default
SELECT '-9223372036854775809'::simhash;
SELECT '0x10000000000000000'::simhash;
SELECT '(-9223372036854775809,3)'::simhash_ball;
SELECT '(5,2147483648)'::simhash_ball;
-- what it probably was meant to be
SELECT 'the text at hand'::simhash;
SELECT 'Überraschung'::simhash;
SELECT 'f8e5c3a1'::simhash;
SELECT ' 00000000DEADBEEF '::simhash;
SELECT 'f8e5c3a1f8e5c3a10'::simhash;
SELECT 'f8e5 c3a1'::simhash;
SELECT '1.5'::simhash;
SELECT '0xfee'::simhash = ('0x' || to_hex('0xfee'::simhash::bigint))::simhash AS hex_and_back;
\set VERBOSITY sqlstate

-- since 16 the caller may ask that bad input be no error
SELECT current_setting('server_version_num')::int >= 160000 AS soft_errors \gset
\set bad_accepted f
\set good_accepted t
\if :soft_errors
SELECT bool_or(pg_input_is_valid(v, t)) AS bad_accepted
FROM (VALUES ('x', 'simhash'), ('fe', 'simhash'), ('-9223372036854775809', 'simhash'),
	('18446744073709551616', 'simhash'), ('(5,x)', 'simhash_ball'),
             ('(5,2147483648)', 'simhash_ball')) AS t(v, t) \gset
SELECT bool_and(pg_input_is_valid(v, t)) AS good_accepted
FROM (VALUES ('18446744073709551615', 'simhash'), ('(5,3)', 'simhash_ball')) AS t(v, t) \gset
\endif
SELECT :'bad_accepted' AS bad_accepted, :'good_accepted' AS good_accepted;

SELECT v::simhash_ball
FROM (VALUES ('(0,0)'), ('(18446744073709551615,64)'), ('(0xff,3)'),
             (' ( 5 , -1 ) '), ('(5,+3)'), ('( -1 ,3)'), ('(-9223372036854775808,3)'), ('(7,2147483647)'),
             ('(7,-2147483648)'), ('(7,1000)')) AS t(v);
SELECT simhash_ball(5::bigint, 3), simhash_ball(-1, -2147483648), simhash_ball(NULL, 3), simhash_ball(5, NULL);

-- a negative number is the fingerprint with the bits of the bigint, wherever
-- text becomes a fingerprint
SELECT count(*) AS numbers, count(*) FILTER (WHERE v < 0) BETWEEN 400 AND 600 AS half_negative,
	count(*) FILTER (WHERE v::text::simhash IS DISTINCT FROM v::simhash) AS wrong,
	count(*) FILTER (WHERE v::text::simhash::text::simhash::bigint IS DISTINCT FROM v) AS lost,
	count(*) FILTER (WHERE v::numeric::simhash IS DISTINCT FROM v::simhash) AS wrong_numeric
FROM (SELECT hashint8extended(i, 0) AS v FROM generate_series(1, 1000) i) s;
CREATE TABLE copied (no int, fp simhash, ball simhash_ball);
COPY copied FROM stdin;
1	-59	(-59,3)
2	18446744073709551557	(18446744073709551557,3)
3	\N	\N
\.
INSERT INTO copied SELECT * FROM jsonb_to_recordset('[{"no": 4, "fp": -59, "ball": "(-59,3)"},
	{"no": 5, "fp": "-59"}, {"no": 6, "fp": 18446744073709551557}, {"no": 7, "fp": null}]')
	AS t(no int, fp simhash, ball simhash_ball);
PREPARE as_text AS INSERT INTO copied VALUES ($1, $2, $3);
EXECUTE as_text('8', '-59', '(-59,3)');
DEALLOCATE as_text;
SELECT no, fp, ball, fp <~> '-59' AS distance, '-59' <@ ball AS inside FROM copied ORDER BY no;
DROP TABLE copied;

-- binary output: most significant byte first
SELECT simhash_send(v::simhash)
FROM (VALUES ('0'), ('0x0123456789abcdef'), ('0xfedcba9876543210')) AS t(v);
SELECT simhash_ball_send(v::simhash_ball)
FROM (VALUES ('(0x0123456789abcdef,3)'), ('(0xfedcba9876543210,-2)')) AS t(v);

-- binary input, through a file in the server's directory
CREATE TABLE binary_out (fp simhash, ball simhash_ball);
CREATE TABLE binary_in (LIKE binary_out);
INSERT INTO binary_out VALUES
	('0', '(0,0)'), ('0x0123456789abcdef', '(0x0123456789abcdef,3)'),
	('18446744073709551615', '(18446744073709551615,-2147483648)'),
	('9223372036854775808', NULL), (NULL, '(9223372036854775808,2147483647)');
SELECT current_setting('data_directory') || '/simhash_types.copy' AS file \gset
COPY binary_out TO :'file' (FORMAT binary);
COPY binary_in FROM :'file' (FORMAT binary);
SELECT fp, ball FROM binary_in;
-- a value of the wrong length is refused
CREATE TABLE binary_short (fp int, ball bigint);
INSERT INTO binary_short VALUES (1, 1);
COPY binary_short TO :'file' (FORMAT binary);
COPY binary_in FROM :'file' (FORMAT binary);
COPY (SELECT) TO PROGRAM 'cat >/dev/null; rm simhash_types.copy';
DROP TABLE binary_out, binary_in, binary_short;

--
-- Casts
--
-- integer and bigint: bit for bit
SELECT v::bigint::simhash, v::bigint::simhash::bigint = v::bigint AS same
FROM (VALUES ('0'), ('1'), ('-1'), ('9223372036854775807'), ('-9223372036854775808')) AS t(v);
SELECT v::int::simhash, v::int::simhash = v::bigint::simhash AS as_bigint
FROM (VALUES ('0'), ('1'), ('-1'), ('2147483647'), ('-2147483648')) AS t(v);
SELECT '18446744073709551615'::simhash::bigint, '9223372036854775808'::simhash::bigint;

-- numeric: by value; a negative one as a bigint
SELECT v::numeric::simhash
FROM (VALUES ('0'), ('1'), ('1.000'), ('-0.0'), ('1e3'), ('9223372036854775808'),
             ('18446744073709551615'), ('18446744073709551615.00'), ('-1'), ('-1.00'),
             ('-9223372036854775808')) AS t(v);
SELECT v::simhash::numeric
FROM (VALUES ('0'), ('9223372036854775807'), ('9223372036854775808'), ('18446744073709551615')) AS t(v);
SELECT left(v, 30) AS v, (attempt(format('SELECT %L::numeric::simhash', v))).state
FROM unnest('{-9223372036854775809,-9223372036854775808.5,18446744073709551616,1e1000,0.5,-0.5,18446744073709551615.5,NaN,Infinity,-Infinity}'::text[]) v;
\set VERBOSITY default
SELECT 18446744073709551616::simhash;
SELECT 0.5::simhash;
SELECT 'NaN'::numeric::simhash;
SELECT 'Infinity'::numeric::simhash;
SELECT B'101'::simhash;
SELECT '\x010203'::bytea::simhash;
\set VERBOSITY sqlstate

-- bit(64): bit for bit, most significant first
SELECT v::simhash::bit(64), v::simhash::bit(64)::simhash = v::simhash AS same
FROM (VALUES ('0'), ('1'), ('0x0123456789abcdef'), ('9223372036854775808'), ('18446744073709551615')) AS t(v);
SELECT repeat('1', 64)::bit(64)::simhash;
SELECT B''::simhash;
SELECT repeat('1', 63)::bit(63)::simhash;
SELECT repeat('1', 65)::bit(65)::simhash;

-- 8 bytes: the first byte most significant, as hex() and decode have them; also where
-- they are stored with headers of either size, and not aligned
SELECT v::simhash::bytea, v::simhash::bytea::simhash = v::simhash AS same,
	v::simhash::bytea = decode(hex(v::simhash), 'hex') AS hex
FROM (VALUES ('0'), ('1'), ('0x0123456789abcdef'), ('9223372036854775808'), ('18446744073709551615')) AS t(v);
CREATE TABLE bytes (filler "char", short bytea, long bytea);
ALTER TABLE bytes ALTER long SET STORAGE PLAIN;
INSERT INTO bytes SELECT 'x', b, b FROM (VALUES ('\x0123456789abcdef'::bytea), ('\xfedcba9876543210'), (NULL)) v (b);
SELECT hex(short::simhash) AS short, hex(long::simhash) AS long FROM bytes;
DROP TABLE bytes;
SELECT '\x'::bytea::simhash;
SELECT '\x01020304050607'::bytea::simhash;
SELECT '\x010203040506070809'::bytea::simhash;
SELECT repeat('a', 100000)::bytea::simhash;
-- only where the cast is written
CREATE TABLE assigned (fp simhash, b bytea);
INSERT INTO assigned (fp) VALUES ('\x0102030405060708'::bytea);
INSERT INTO assigned (b) VALUES ('1'::simhash);
DROP TABLE assigned;

-- as hexadecimal digits, by the server's functions; of a number that these do not take
-- there is none
SELECT to_hex(v::simhash::bigint), encode(v::simhash::bytea, 'hex')
FROM (VALUES ('0'), ('255'), ('0xFEDCBA9876543210'), ('18446744073709551615')) AS t(v);
SELECT to_hex(255), to_hex(255::bigint);
SELECT to_hex(255::numeric);
SELECT to_hex(18446744073709551615);

-- how many bits are set: also by the server's function, since ours would be one of all numbers
SELECT v::simhash, bit_count(v::simhash::bit(64))
FROM (VALUES ('0'), ('1'), ('0xFEDCBA9876543210'), ('18446744073709551615'), (NULL)) AS t(v);
CREATE FUNCTION bit_count(bigint) RETURNS text LANGUAGE sql AS 'SELECT ''somebody''''s own''';
SELECT bit_count(1), bit_count(1::smallint);
DROP FUNCTION bit_count(bigint);

-- columns take all of them, in both directions
CREATE TABLE assigned (fp simhash);
INSERT INTO assigned VALUES (1), (5000000000), (-1), (18446744073709551615), ('7'), ('0x8'),
	(9::bigint), (10::numeric), (B'1011'::bit(64)), (repeat('01', 32)::varbit), (NULL);
SELECT fp, hex(fp) FROM assigned ORDER BY fp;
CREATE TABLE assigned_back (b bigint, n numeric, bits bit(64), varying varbit);
INSERT INTO assigned_back SELECT fp, fp, fp, fp FROM assigned WHERE fp > '9223372036854775807';
SELECT * FROM assigned_back;
DROP TABLE assigned, assigned_back;

--
-- Order and equality: unsigned
--
CREATE TABLE ordered (id int, fp simhash);
INSERT INTO ordered VALUES (1, '9223372036854775808'), (2, '18446744073709551615'),
	(3, '0'), (4, '9223372036854775807'), (5, '1'), (6, NULL),
	(7, '0'), (8, '18446744073709551615');
SELECT array_agg(fp ORDER BY fp) AS up, array_agg(fp ORDER BY fp DESC) AS down FROM ordered;
SELECT a.fp AS a, b.fp AS b, a.fp = b.fp AS eq, a.fp <> b.fp AS ne, a.fp < b.fp AS lt,
	a.fp <= b.fp AS le, a.fp > b.fp AS gt, a.fp >= b.fp AS ge, simhash_cmp(a.fp, b.fp) AS cmp
FROM ordered a, ordered b
WHERE a.id < 5 AND b.id < 5
ORDER BY 1, 2;
SELECT '1'::simhash = NULL, NULL < '1'::simhash, simhash_cmp(NULL, '1');
SELECT simhash_smaller('1', '9223372036854775808'), simhash_larger('1', '9223372036854775808');

SELECT DISTINCT fp FROM ordered ORDER BY fp;
SELECT fp, count(*) FROM ordered GROUP BY fp ORDER BY fp;
SELECT min(fp), max(fp), min(fp) FILTER (WHERE fp IS NULL) AS none, max(fp) FILTER (WHERE fp IS NULL) AS none FROM ordered;

-- with literals and columns of the types that cast to it
SELECT array_agg(id) FILTER (WHERE fp = 1) AS int, array_agg(id) FILTER (WHERE fp = 9223372036854775807) AS bigint,
	array_agg(id) FILTER (WHERE fp = 18446744073709551615) AS numeric,
	array_agg(id) FILTER (WHERE 18446744073709551615 = fp) AS commuted,
	array_agg(id) FILTER (WHERE fp IN ('0', '1')) AS list,
	array_agg(id) FILTER (WHERE fp = ANY ('{0,0x8000000000000000}'::simhash[])) AS "any",
	array_agg(id) FILTER (WHERE fp = (-1)::bigint) AS cast_bigint,
	array_agg(id) FILTER (WHERE fp = ANY ('{-1,0}'::bigint[])) AS any_bigint
FROM (SELECT * FROM ordered ORDER BY id) s;

-- how many lines of a query's plan match a pattern
CREATE FUNCTION pg_temp.plan_lines(query text, pattern text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
	line text;
	result int := 0;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		IF line ~ pattern THEN
			result := result + 1;
		END IF;
	END LOOP;
	RETURN result;
END $$;

-- btree and hash indexes
CREATE TABLE indexed (fp simhash);
INSERT INTO indexed SELECT hashint8extended(i, 0) FROM generate_series(1, 2000) i;
INSERT INTO indexed SELECT fp FROM indexed LIMIT 100;
CREATE TABLE indexed_too AS SELECT * FROM indexed;
CREATE TABLE indexed_few AS SELECT * FROM indexed LIMIT 50;
CREATE INDEX indexed_btree ON indexed USING btree (fp);
ANALYZE indexed, indexed_too, indexed_few;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT pg_temp.plan_lines('SELECT min(fp) FROM indexed', 'Index Only Scan using indexed_btree') AS min,
	pg_temp.plan_lines('SELECT max(fp) FROM indexed', 'Index Only Scan Backward using indexed_btree') AS max,
	min(i.fp) = (SELECT fp FROM indexed_too ORDER BY fp::numeric LIMIT 1) AS min,
	max(i.fp) = (SELECT fp FROM indexed_too ORDER BY fp::numeric DESC LIMIT 1) AS max
FROM indexed i;
SELECT (SELECT array_agg(fp ORDER BY fp::numeric) FROM indexed_too) =
	(SELECT array_agg(fp) FROM (SELECT fp FROM indexed ORDER BY fp) s) AS ordered_as_numeric;
EXPLAIN (COSTS OFF) SELECT count(*) FROM indexed WHERE fp >= 9223372036854775808;
SELECT (SELECT count(*) FROM indexed WHERE fp >= 9223372036854775808) =
	(SELECT count(*) FROM indexed_too WHERE fp::bigint < 0) AS same;
DROP INDEX indexed_btree;
CREATE INDEX indexed_hash ON indexed USING hash (fp);
EXPLAIN (COSTS OFF) SELECT count(*) FROM indexed WHERE fp = 42;
SELECT count(*) AS found FROM indexed_too t
WHERE (SELECT count(*) FROM indexed i WHERE i.fp = t.fp) = 0;
DROP INDEX indexed_hash;
RESET enable_seqscan;
RESET enable_bitmapscan;

-- the hash that takes a seed extends the other one
SELECT (SELECT count(*) AS differ FROM indexed
	WHERE simhash_hash_value(fp)::bit(32) <> simhash_hash_value_extended(fp, 0)::bit(32)),
	(SELECT count(*) > 1900 AS seeds_differ FROM indexed
	WHERE simhash_hash_value_extended(fp, 1) <> simhash_hash_value_extended(fp, 2)),
	(SELECT count(DISTINCT simhash_hash_value(fp)) > 1900 AS spread FROM indexed);
-- the same on every processor: XXH3 of the bytes that are sent
SELECT fp, simhash_hash_value(fp) AS hash, simhash_hash_value_extended(fp, 0) AS extended,
	simhash_hash_value_extended(fp, 72623859790382856) AS seeded
FROM (VALUES ('0'::simhash), ('1'), ('0x0123456789abcdef'), ('0x8000000000000000'), ('0xffffffffffffffff')) t (fp);

-- joins and grouping in each way
SET enable_nestloop = off;
SET enable_mergejoin = off;
SELECT pg_temp.plan_lines('SELECT * FROM indexed a JOIN indexed_few b ON a.fp = b.fp', 'Hash Join'),
	(SELECT count(*) FROM indexed a JOIN indexed_few b ON a.fp = b.fp);
SET enable_hashjoin = off;
SET enable_mergejoin = on;
SELECT pg_temp.plan_lines('SELECT * FROM indexed a JOIN indexed_few b ON a.fp = b.fp', 'Merge Join'),
	(SELECT count(*) FROM indexed a JOIN indexed_few b ON a.fp = b.fp);
RESET enable_nestloop;
RESET enable_mergejoin;
RESET enable_hashjoin;
SET enable_sort = off;
SELECT pg_temp.plan_lines('SELECT fp, count(*) FROM indexed GROUP BY fp', 'HashAggregate'),
	(SELECT count(*) FROM (SELECT fp, count(*) FROM indexed GROUP BY fp) s);
RESET enable_sort;
SET enable_hashagg = off;
SELECT pg_temp.plan_lines('SELECT fp, count(*) FROM indexed GROUP BY fp', 'GroupAggregate'),
	(SELECT count(*) FROM (SELECT fp, count(*) FROM indexed GROUP BY fp) s);
RESET enable_hashagg;

-- min and max of parallel workers' results
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
SELECT pg_temp.plan_lines('SELECT min(fp), max(fp) FROM indexed', 'Partial Aggregate'),
	(SELECT min(fp) FROM indexed) = (SELECT fp FROM indexed ORDER BY fp LIMIT 1) AS min,
	(SELECT max(fp) FROM indexed) = (SELECT fp FROM indexed ORDER BY fp DESC LIMIT 1) AS max;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
RESET max_parallel_workers_per_gather;

-- hash partitioning
CREATE TABLE parted (fp simhash) PARTITION BY HASH (fp);
CREATE TABLE parted_0 PARTITION OF parted FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO parted SELECT fp FROM indexed;
SELECT * FROM (SELECT (SELECT count(*) FROM parted) AS all_rows, count(*) > 500 AS some_here FROM parted_0) a,
	(SELECT count(*) AS missed FROM indexed i WHERE NOT EXISTS (SELECT FROM parted p WHERE p.fp = i.fp)) b;
DROP TABLE parted, indexed, indexed_too, indexed_few, ordered;

--
-- Hamming distance
--
SELECT hamming(a::simhash, b::simhash), a::simhash <~> b::simhash AS op, b::simhash <~> a::simhash AS commuted
FROM (VALUES ('0', '0'), ('0', '1'), ('0', '0xffffffffffffffff'), ('0x5555555555555555', '0xaaaaaaaaaaaaaaaa'),
             ('0x8000000000000000', '0'), ('0xff', '0x0f'), (NULL, '0'), ('0', NULL)) AS t(a, b);
SELECT pg_typeof(hamming(1, 2)), pg_typeof('1'::simhash <~> '2');
-- against a count over the text of the difference
SELECT count(*) AS wrong
FROM generate_series(1, 1000) i,
	LATERAL (SELECT hashint8extended(i, 1) AS a, hashint8extended(i, 2) AS b) s
WHERE a::simhash <~> b::simhash <> length(replace((a # b)::bit(64)::text, '0', ''));
-- a distance is a number like any other
SELECT avg('3'::simhash <~> '0'), ('3'::simhash <~> '0') + 1 AS plus, ('3'::simhash <~> '0') * 2.5 AS times;

-- literals of any size, parameters and columns of any type
SELECT '5'::simhash <~> 4 AS int, '5'::simhash <~> 5000000000 AS bigint,
	'5'::simhash <~> 18446744073709551615 AS numeric, '5'::simhash <~> '4' AS unknown,
	'5'::simhash <~> -1 AS negative,
	4 <~> '5'::simhash AS int, 5000000000 <~> '5'::simhash AS bigint,
	18446744073709551615 <~> '5'::simhash AS numeric, '4' <~> '5'::simhash AS unknown;
PREPARE untyped AS SELECT '5'::simhash <~> $1;
EXECUTE untyped('18446744073709551615');
EXECUTE untyped(4);
PREPARE typed(int, bigint, numeric, simhash) AS
	SELECT '5'::simhash <~> $1 AS int, '5'::simhash <~> $2 AS bigint, '5'::simhash <~> $3 AS numeric,
		$4 <~> '5'::simhash AS simhash, $4 <~> $2 AS both, hamming($2, $3) AS func;
EXECUTE typed(4, -1, 18446744073709551615, '0x5');
EXECUTE typed(NULL, NULL, NULL, NULL);
DEALLOCATE untyped;
DEALLOCATE typed;
CREATE TABLE signed (i int, b bigint, n numeric, fp simhash);
INSERT INTO signed VALUES (4, -1, 18446744073709551615, '5'), (NULL, NULL, NULL, NULL);
SELECT fp <~> i AS int, fp <~> b AS bigint, fp <~> n AS numeric, b <~> fp AS bigint, b <~> n AS neither FROM signed;
DROP TABLE signed;

--
-- Within a radius
--
SELECT r AS radius, simhash_within('0', '7', r) AS within_3, simhash_within('0', '0xffffffffffffffff', r) AS within_64,
	simhash_within('9', '9', r) AS within_0, '7' <@ simhash_ball('0', r) AS in_3,
	simhash_ball('0', r) @> '7' AS contains_3
FROM (VALUES (-2147483648), (-1), (0), (2), (3), (4), (63), (64), (65), (2147483647), (NULL)) AS t(r);
SELECT simhash_within(NULL, '7', 3), simhash_within('0', NULL, 3), NULL <@ simhash_ball('0', 3), '7'::simhash <@ NULL,
	NULL @> '7'::simhash, simhash_ball('0', 3) @> NULL;
SELECT '7'::simhash <@ '(0,3)'::simhash_ball, '(0,2)'::simhash_ball @> '7'::simhash;

-- % is radius 3
SELECT '0'::simhash % '7' AS three, '7'::simhash % '0' AS commuted, '0'::simhash % '15' AS four,
	'0'::simhash % NULL AS "null", simhash_near('1', '1') AS same;

-- all ways agree
WITH s AS (
	SELECT hashint8extended(i, 1)::simhash AS a, (hashint8extended(i, 1) # f.flips)::simhash AS b, i % 9 - 1 AS r
	FROM generate_series(1, 1000) i,
		LATERAL (SELECT bit_xor(1::bigint << (hashint8extended(i * 10 + j, 2) & 63)::int) AS flips
				 FROM generate_series(0, i % 7) j) f
)
SELECT count(*) AS pairs, count(*) FILTER (WHERE a <~> b <= r) BETWEEN 100 AND 900 AS some_near,
	count(*) FILTER (WHERE (a <~> b <= r) IS DISTINCT FROM simhash_within(a, b, r)
		OR simhash_within(a, b, r) IS DISTINCT FROM simhash_within(b, a, r)
		OR simhash_within(a, b, r) IS DISTINCT FROM (a <@ simhash_ball(b, r))
		OR simhash_within(a, b, r) IS DISTINCT FROM (simhash_ball(a, r) @> b)
		OR (a % b) IS DISTINCT FROM simhash_within(a, b, 3)) AS disagree
FROM s;

-- the radius that a bound stands for
SELECT b AS bound, simhash_radius(b, false) AS le, simhash_radius(b, true) AS lt
FROM (VALUES (-9223372036854775808), (-2), (-1), (0), (1), (3), (63), (64), (65), (66),
             (4294967299), (9223372036854775807), (NULL)) AS t(b);
SELECT count(*) AS wrong
FROM generate_series(-3, 70) b, generate_series(0, 64) d
WHERE (d <= simhash_radius(b, false)) <> (d <= b) OR (d <= simhash_radius(b, true)) <> (d < b);

--
-- Catalog
--
-- what may be used in an index, below a security barrier, and in a worker
SELECT proname, count(*), bool_and(provolatile = 'i') AS immutable, bool_and(proisstrict) AS strict,
	bool_and(proleakproof) AS leakproof, bool_and(proparallel = 's') AS safe
FROM pg_proc p JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
JOIN pg_extension e ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid AND e.extname = 'simhash'
WHERE NOT 'simhash_bits'::regtype = ANY (proargtypes) AND (proname IN ('hamming', 'simhash_within', 'simhash_radius', 'simhash_near', 'simhash_ball',
	'simhash_in_ball', 'simhash_ball_contains', 'simhash_eq', 'simhash_ne', 'simhash_lt', 'simhash_le',
	'simhash_gt', 'simhash_ge', 'simhash_cmp', 'simhash_hash_value', 'simhash_hash_value_extended',
	'simhash_from_int2', 'simhash_from_int4')
	OR proname LIKE 'simhash\_distance\___')
GROUP BY proname
ORDER BY proname COLLATE "C";

-- functions, operators, types and views without a comment; types of arrays and
-- of rows, which belong to an extension since 17, need none
SELECT pg_describe_object(d.classid, d.objid, 0) AS uncommented
FROM pg_depend d
JOIN pg_extension e ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid AND e.extname = 'simhash'
WHERE d.deptype = 'e'
	AND d.classid IN ('pg_proc'::regclass, 'pg_operator'::regclass, 'pg_type'::regclass, 'pg_am'::regclass,
		'pg_class'::regclass)
	AND obj_description(d.objid, d.classid::regclass::text::name) IS NULL
	AND NOT (d.classid = 'pg_type'::regclass AND EXISTS (
		SELECT FROM pg_type t WHERE t.typarray = d.objid OR (t.oid = d.objid AND t.typrelid <> 0)))
ORDER BY 1;

SELECT amname, opcname, amvalidate(o.oid) AS valid
FROM pg_opclass o JOIN pg_am a ON a.oid = o.opcmethod
WHERE opcintype = 'simhash'::regtype AND amname IN ('btree', 'hash')
ORDER BY amname;
