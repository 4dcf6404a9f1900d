--
-- Types simhash_bits and simhash_bits_ball: input, output, width, casts, order
--
\pset format unaligned
\pset footer off
CREATE SCHEMA type_bits_values_test;
SET search_path = type_bits_values_test, public;

--
-- Input and output
--
SELECT v::simhash_bits
FROM (VALUES ('00'), ('ff'), ('0xff'), ('0XFF'), ('0102AbCdEf'), (E' \t\n f8e5c3a1 \r\n'), ('0000000000000000'))
	AS t (v);
SELECT v, attempt.* FROM unnest(ARRAY['', '  ', '0x', '0x 00', 'f', '0xf', '123', 'fg', '0xffx', 'f0 0f', '-f0', '+f0',
	'\xff',
	'00 é', 'x', '0b01', '0x0x00', '1e5']) WITH ORDINALITY AS t (v, no),
	attempt(format('SELECT %L::simhash_bits', v)) ORDER BY no;
SELECT state, left(message, 50) AS message, detail FROM unnest('{512,513,1000000}'::int[]) n,
	attempt(format('SELECT %L::simhash_bits', repeat('ab', n))) ORDER BY n;
SELECT state, right(message, 20) AS message, detail FROM attempt(format('SELECT %L::simhash_bits', repeat('a', 1023)));
-- what is read is written
SELECT count(*) AS values, count(*) FILTER (WHERE fp::text <> encode(fp::bytea, 'hex')
	OR upper(fp::text)::simhash_bits <> fp OR ('0x' || fp::text)::simhash_bits <> fp OR fp::text::simhash_bits <> fp)
		AS wrong
FROM generate_series(8, 4096, 8) n, wide('io', n) AS fp;

-- since 16 the caller may ask that bad input be no error
SELECT current_setting('server_version_num')::int >= 160000 AS soft_errors \gset
\set bad_accepted f
\set good_accepted t
\if :soft_errors
SELECT bool_or(pg_input_is_valid(v, t)) AS bad_accepted
FROM (VALUES ('', 'simhash_bits'), ('x', 'simhash_bits'), ('f', 'simhash_bits'), (repeat('a', 1026), 'simhash_bits'),
	('ff', 'simhash_bits(16)'), ('(ff)', 'simhash_bits_ball'), ('(f,3)', 'simhash_bits_ball'),
	('(ff,2147483648)', 'simhash_bits_ball')) AS t (v, t) \gset
SELECT bool_and(pg_input_is_valid(v, t)) AS good_accepted
FROM (VALUES ('ff', 'simhash_bits'), ('ff00', 'simhash_bits(16)'), ('(ff,3)', 'simhash_bits_ball')) AS t (v, t) \gset
\endif
SELECT :'bad_accepted' AS bad_accepted, :'good_accepted' AS good_accepted;

--
-- Width
--
CREATE TABLE widths (id int, a simhash_bits(8), b simhash_bits(256), c simhash_bits(4096), d simhash_bits,
	e simhash_bits(16)[]);
SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute
WHERE attrelid = 'widths'::regclass AND attnum > 1 ORDER BY attnum;
SELECT width, attempt.*
	FROM unnest('{0, 7, 8, 12, -8, 4096, 4097, 4104, 2147483647, 2147483648, "8, 8", "a", "null"}'::text[])
	WITH ORDINALITY AS t (width, no), attempt(format('SELECT NULL::simhash_bits(%s)', width))
ORDER BY no;
INSERT INTO widths VALUES (1, 'ab', wide('b', 256), wide('c', 4096), 'abcdef', '{abcd,ABCE}');
-- a value of another width is never stored, cut or padded, whichever way it comes
SELECT statement, attempt.* FROM unnest(ARRAY[
	$$INSERT INTO widths (a) VALUES ('abcd')$$,
	$$INSERT INTO widths (b) VALUES ('abcd')$$,
	$$INSERT INTO widths (b) SELECT wide('b', 264)$$,
	$$UPDATE widths SET a = d$$,
	$$INSERT INTO widths (e) VALUES ('{abcd,ab}')$$,
	$$INSERT INTO widths (e) VALUES (ARRAY['abcd', 'ab']::simhash_bits[])$$,
	$$SELECT 'abcd'::simhash_bits(8)$$,
	$$SELECT d::simhash_bits(8) FROM widths$$,
	$$SELECT d::simhash_bits(4096) FROM widths$$,
	$$SELECT CAST('abcd'::text AS simhash_bits(8))$$,
	$$SELECT B'10101010'::simhash_bits(16)$$,
	$$SELECT '\xabcd'::bytea::simhash_bits(8)$$,
	$$SELECT 1::simhash::simhash_bits(72)$$,
	$$ALTER TABLE widths ALTER d TYPE simhash_bits(16)$$,
	$$ALTER TABLE widths ALTER a TYPE simhash_bits(16)$$,
	$$DO 'DECLARE v simhash_bits(16) := $q$abcdef$q$; BEGIN END'$$,
	$$SELECT * FROM json_populate_record(NULL::widths, '{"a": "abcd"}')$$,
	$$PREPARE p AS INSERT INTO widths (a) VALUES ($1); EXECUTE p ('abcd')$$])
	WITH ORDINALITY AS t (statement, no), attempt(statement) ORDER BY no;
-- what has the right one is
INSERT INTO widths (id, a, b) VALUES (2, B'10101011'::simhash_bits, ('\x' || repeat('0f',
	32))::bytea::simhash_bits(256));
ALTER TABLE widths ALTER d TYPE simhash_bits(24);
SELECT id, a, b, left(c::text, 10) AS c, d, e FROM widths ORDER BY id;
\set VERBOSITY terse
COPY widths (id, a) FROM stdin;
3	abcd
\.
\set VERBOSITY default
CREATE DOMAIN pdq AS simhash_bits(256);
SELECT attempt.* FROM attempt($$SELECT 'ab'::pdq$$);
SELECT pg_typeof(wide('x', 256)::pdq), wide('x', 256)::pdq = wide('x', 256) AS same;

-- in a row: a header of one byte up to 1008 bits, of four beyond
CREATE TABLE stored AS SELECT n, wide('stored', n) AS fp FROM unnest('{8,64,256,576,1008,1016,4096}'::int[]) n;
SELECT n, pg_column_size(fp) - n / 8 AS header FROM stored ORDER BY n;
-- and out of it
CREATE TABLE outside (n int, fp simhash_bits, padding text) WITH (toast_tuple_target = 128);
ALTER TABLE outside ALTER fp SET STORAGE EXTERNAL;
ALTER TABLE outside ALTER padding SET STORAGE PLAIN;
INSERT INTO outside SELECT n, repeat('ab', n / 8)::simhash_bits, repeat('x', 2000) FROM generate_series(3200, 4096,
	128) n;
SELECT pg_relation_size(reltoastrelid) > 0 AS toasted FROM pg_class WHERE oid = 'outside'::regclass;
SELECT count(*) AS rows, count(*) FILTER (WHERE fp = repeat('ab', n / 8)::simhash_bits AND fp <~> fp = 0
	AND fp::text = repeat('ab', n / 8) AND bit_count(fp) = n / 8 * 5 AND fp <@ simhash_bits_ball(fp, 0)
	AND max = fp AND simhash_bits_ball(fp, 1)::text = '(' || fp || ',1)') AS right
FROM outside, LATERAL (SELECT max(o.fp) FROM outside o WHERE o.n <= outside.n) m;

--
-- Binary input and output, through a file in the server's directory
--
SELECT simhash_bits_send('0123456789abcdef01'), simhash_bits_ball_send('(0123,-2)');
CREATE TABLE binary_out (fp simhash_bits, ball simhash_bits_ball);
CREATE TABLE binary_in (LIKE binary_out);
INSERT INTO binary_out SELECT wide('binary', n), simhash_bits_ball(wide('ball', n), n - 100)
FROM generate_series(8, 4096, 72) n UNION ALL SELECT NULL, NULL;
SELECT current_setting('data_directory') || '/simhash_bits.copy' AS file \gset
COPY binary_out TO :'file' (FORMAT binary);
COPY binary_in FROM :'file' (FORMAT binary);
SELECT count(*) AS rows FROM binary_in;
SELECT fp, ball::text FROM binary_in EXCEPT SELECT fp, ball::text FROM binary_out;
-- lengths that are none, and another width
CREATE TABLE binary_bytes (fp bytea);
CREATE TABLE binary_narrow (fp simhash_bits(64));
CREATE TABLE binary_balls (ball simhash_bits_ball);
\set VERBOSITY terse
INSERT INTO binary_bytes VALUES ('');
COPY binary_bytes TO :'file' (FORMAT binary);
COPY binary_in (fp) FROM :'file' (FORMAT binary);
COPY binary_balls FROM :'file' (FORMAT binary);
UPDATE binary_bytes SET fp = '\x00000001';
COPY binary_bytes TO :'file' (FORMAT binary);
COPY binary_balls FROM :'file' (FORMAT binary);
COPY binary_narrow FROM :'file' (FORMAT binary);
UPDATE binary_bytes SET fp = decode(repeat('00', 513), 'hex');
COPY binary_bytes TO :'file' (FORMAT binary);
COPY binary_in (fp) FROM :'file' (FORMAT binary);
\set VERBOSITY default
COPY (SELECT) TO PROGRAM 'cat >/dev/null; rm simhash_bits.copy';

--
-- Casts
--
SELECT castsource::regtype, casttarget::regtype, castcontext, castmethod FROM pg_cast
WHERE 'simhash_bits'::regtype IN (castsource, casttarget) ORDER BY 1, 2;
SELECT * FROM (SELECT B'1010101111001101'::simhash_bits, 'abcd'::simhash_bits::bit(16), 'abcd'::simhash_bits::varbit,
	'\xabcd'::bytea::simhash_bits, 'abcd'::simhash_bits::bytea, '0x0123456789abcdef'::simhash::simhash_bits,
	hex('0123456789abcdef'::simhash_bits::simhash), 'ABCD'::text::simhash_bits, 'abcd'::simhash_bits::text) a,
	(SELECT count(*) AS widths, count(*) FILTER (WHERE fp::varbit::simhash_bits <> fp OR fp::bytea::simhash_bits <> fp
	OR fp::text::simhash_bits <> fp OR length(fp::varbit) <> n OR fp::varbit::text <> ltrim(fp::bit varying::text)
	OR ('x' || fp::text)::varbit <> fp::varbit) AS wrong
	FROM generate_series(8, 4096, 8) n, wide('casts', n) AS fp) b;
-- with strings of bits also on assignment
CREATE TABLE given (a simhash_bits(16), b bit(8), c varbit, d bit(16));
INSERT INTO given (a) VALUES (B'1010101111001101'), (B'1010101111001101'::varbit);
UPDATE given SET c = a, d = a;
SELECT * FROM given;
SELECT state FROM unnest(ARRAY['bit(16)', 'varbit']) t, attempt(format('SELECT a <~> B''1010101111001101''::%s FROM given', t));
SELECT statement, attempt.* FROM unnest(ARRAY[
	$$SELECT B''::simhash_bits$$,
	$$SELECT B'1010101'::simhash_bits$$,
	$$SELECT B'101010101'::varbit::simhash_bits$$,
	$$SELECT repeat('1', 4104)::varbit::simhash_bits$$,
	$$SELECT ''::bytea::simhash_bits$$,
	$$SELECT decode(repeat('00', 513), 'hex')::simhash_bits$$,
	$$SELECT 'ab'::simhash_bits::simhash$$,
	$$SELECT wide('x', 128)::simhash$$,
	$$SELECT 1::simhash_bits$$,
	$$SELECT 1::bigint::simhash_bits$$,
	$$SELECT 'ab'::simhash_bits::bigint$$,
	$$INSERT INTO given (a) VALUES (B'10101010')$$,
	$$INSERT INTO given (b) SELECT a FROM given$$,
	$$INSERT INTO widths (a) VALUES ('\xab'::bytea)$$,
	$$INSERT INTO widths (a) VALUES ('ab'::text)$$,
	$$INSERT INTO widths (a) VALUES (1::simhash)$$])
	WITH ORDINALITY AS t (statement, no), attempt(statement) ORDER BY no;
SELECT count(*) AS fingerprints, count(*) FILTER (WHERE fp::simhash_bits::simhash <> fp
	OR fp::simhash_bits::bytea <> fp::bytea OR fp::simhash_bits::text <> hex(fp)) AS wrong
FROM (SELECT bits('c' || i)::simhash AS fp FROM generate_series(1, 1000) i) s;
SELECT count(*) AS widths, count(*) FILTER (WHERE bit_count(fp) <> bit_count(fp::bytea)) AS wrong,
	count(*) FILTER (WHERE length(fp) <> n) AS wrong_length, pg_typeof(min(bit_count(fp)))
FROM generate_series(8, 4096, 8) n, wide('count', n) AS fp;

--
-- Order: that of byte strings, and the shorter one first
--
SELECT 'ab'::simhash_bits < 'ab00' AS prefix_first, 'ac'::simhash_bits > 'abff' AS by_bytes, 'ff'::simhash_bits > '7f'
	AS unsigned,
	'ab'::simhash_bits = 'ab00' AS equal, 'AB'::simhash_bits = 'ab' AS no_case;
CREATE TABLE ordered AS SELECT i, CASE i % 7 WHEN 0 THEN wide('o' || i / 50, 8 * (1 + i % 40)) WHEN 1
	THEN wide('few' || i % 5, 256)
	WHEN 2 THEN flip_wide('0000000000000000ffffffffffffffff', i % 9, 'o' || i) WHEN 3 THEN NULL ELSE wide('o' || i,
		256) END AS fp
FROM generate_series(1, 5000) i;
ANALYZE ordered;
SELECT compared.operator, count(*) AS pairs, count(*) FILTER (WHERE ours) AS true,
	count(*) FILTER (WHERE ours <> truth) AS wrong
FROM (SELECT a.fp AS a, b.fp AS b FROM ordered a, ordered b WHERE a.i % 20 = 1 AND b.i % 23 = 2 OR a.i = b.i) pairs,
	LATERAL (VALUES ('=', a = b, a::bytea = b::bytea), ('<>', a <> b, a::bytea <> b::bytea), ('<', a < b,
		a::bytea < b::bytea),
		('<=', a <= b, a::bytea <= b::bytea), ('>', a > b, a::bytea > b::bytea), ('>=', a >= b, a::bytea >= b::bytea),
		('min', simhash_bits_smaller(a, b) = a, a::bytea <= b::bytea), ('max', simhash_bits_larger(a, b) = a,
			a::bytea >= b::bytea))
		AS compared (operator, ours, truth)
GROUP BY compared.operator ORDER BY 1;
SELECT * FROM (SELECT array_agg(i ORDER BY fp, i) = array_agg(i ORDER BY fp::bytea, i) AS sorted,
	array_agg(i ORDER BY fp DESC NULLS LAST, i) = array_agg(i ORDER BY fp::bytea DESC NULLS LAST, i) AS reversed,
	count(DISTINCT fp) = count(DISTINCT fp::bytea) AS distinct,
	min(fp)::bytea = (SELECT fp::bytea FROM ordered ORDER BY fp::bytea LIMIT 1) AS min,
	max(fp)::bytea = (SELECT fp::bytea FROM ordered WHERE fp IS NOT NULL ORDER BY fp::bytea DESC LIMIT 1) AS max
	FROM ordered) a,
	(SELECT count(*) AS groups, sum(n) AS rows FROM (SELECT fp, count(*) AS n FROM ordered GROUP BY fp) g) b;
-- joins of each kind, and indexes
SELECT count(*) AS truth FROM ordered a JOIN ordered b ON a.fp::bytea = b.fp::bytea \gset
CREATE FUNCTION joins(kind text, OUT count bigint, OUT as_wanted boolean) LANGUAGE plpgsql AS $$
DECLARE
	query text := 'SELECT count(*) FROM ordered a JOIN ordered b ON a.fp = b.fp';
BEGIN
	PERFORM set_config('enable_' || k, (k = kind)::text, true) FROM unnest('{hashjoin,mergejoin,nestloop}'::text[]) k;
	EXECUTE query INTO count;
	as_wanted := plan_of(query) ~* CASE kind WHEN 'hashjoin' THEN 'hash join' WHEN 'mergejoin'
		THEN 'merge join' ELSE 'nested loop' END;
END $$;
SELECT kind, count = :truth AS right, as_wanted FROM unnest('{hashjoin,mergejoin}'::text[]) kind, joins(kind);
CREATE INDEX ordered_btree ON ordered (fp);
CREATE INDEX ordered_hash ON ordered USING hash (fp);
SET enable_seqscan = off;
SELECT plan('SELECT ' || what) FROM unnest('{i FROM ordered WHERE fp = ''ab'',i FROM ordered WHERE fp >= ''f0'' ORDER BY fp LIMIT 3,
	max(fp) FROM ordered}'::text[]) what;
SELECT (SELECT count(*) FILTER (WHERE fp >= 'f0') = count(*) FILTER (WHERE fp::bytea >= '\xf0') AS same FROM ordered),
	(SELECT count(*) FROM ordered WHERE fp = wide('few1', 256));
RESET enable_seqscan;
CREATE TABLE unique_fp (fp simhash_bits(16) PRIMARY KEY);
INSERT INTO unique_fp VALUES ('abcd'), ('abce');
INSERT INTO unique_fp VALUES ('ABCD') ON CONFLICT DO NOTHING;
SELECT * FROM unique_fp ORDER BY fp;
CREATE TABLE parted (fp simhash_bits) PARTITION BY HASH (fp);
CREATE TABLE parted_0 PARTITION OF parted FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO parted SELECT fp FROM ordered;
SELECT count(*) = (SELECT count(*) FROM ordered) AS all_there, count(DISTINCT tableoid) FROM parted;

--
-- Balls
--
SELECT v::simhash_bits_ball FROM (VALUES ('(ff,0)'), (' ( 0xFF00 , -1 ) '), ('(abcd,+3)'), ('(00,2147483647)'),
	('(00,-2147483648)'), ('(' || repeat('ab', 40) || ',31)')) AS t (v);
SELECT v, attempt.*
	FROM unnest('{"", "ff", "()", "(ff)", "(ff,)", "(,5)", "(ff 3)", "(ff,3", "ff,3)", "(ff,3))", "(ff,3,1)", "(f,3)",
	"(fg,3)", "(ff,x)", "(ff,1.5)", "(ff,2147483648)", "(,2147483648)"}'::text[]) WITH ORDINALITY AS t (v, no),
	attempt(format('SELECT %L::simhash_bits_ball', v)) ORDER BY no;
SELECT simhash_bits_ball('abcd', 3), simhash_bits_ball('ab', -2147483648), simhash_bits_ball(NULL, 3),
	simhash_bits_ball('ab', NULL);
-- they are not compared: write ball::text
SELECT state, message FROM unnest(ARRAY[$$SELECT '(ab,1)'::simhash_bits_ball = '(ab,1)'$$,
	$$SELECT '(1,1)'::simhash_ball <> '(1,1)'$$, $$SELECT DISTINCT simhash_ball(1, 1)$$]) s, attempt(s);

-- hashes are the same on every processor
SELECT fp, simhash_bits_hash_value(fp) AS hash, simhash_bits_hash_value_extended(fp, 72623859790382856) AS seeded
FROM (VALUES ('00'::simhash_bits), ('0123'), (repeat('0123456789abcdef', 4)::simhash_bits)) t (fp);

--
-- An index needs a width; see index_bits.
--
SELECT state, message, hint FROM attempt('CREATE INDEX ON stored USING simhash (fp)');

SELECT oid::regtype, typcategory, typispreferred, typstorage, typalign FROM pg_type
WHERE oid IN ('simhash'::regtype, 'simhash_bits'::regtype) ORDER BY 1;

SET client_min_messages = warning;
DROP SCHEMA type_bits_values_test CASCADE;
