--
-- Balls: equality and hashing, by center and radius
--
CREATE SCHEMA type_ball_equality_test;
SET search_path = type_ball_equality_test, public;

CREATE TABLE balls (no int, ball simhash_ball);
INSERT INTO balls VALUES (1, '(0,3)'), (2, '(0,-1)'), (3, '(0,-2)'), (4, '(0,64)'), (5, '(0,65)'),
	(6, '(9223372036854775808,0)'), (7, '(-1,-2147483648)'), (8, '(-1,2147483647)'), (9, NULL),
	(10, '(0,3)'), (11, '(1,3)'), (12, simhash_ball(0, 3));

-- those that hold the same fingerprints are not equal unless they are written alike
SELECT ball, count(*), min(no) FROM balls GROUP BY ball ORDER BY min(no);
SELECT count(*) AS pairs,
	count(*) FILTER (WHERE (x.ball = y.ball) <> (x.no = y.no)) AS eq,
	count(*) FILTER (WHERE (x.ball <> y.ball) <> (x.no <> y.no)) AS ne
FROM unnest('{"(0,-1)","(0,3)","(1,-2)","(9223372036854775807,64)",
		"(9223372036854775808,-2147483648)","(-1,0)"}'::simhash_ball[])
	WITH ORDINALITY AS x(ball, no),
	unnest('{"(0,-1)","(0,3)","(1,-2)","(9223372036854775807,64)",
		"(9223372036854775808,-2147483648)","(-1,0)"}'::simhash_ball[])
	WITH ORDINALITY AS y(ball, no);
SELECT '(1,2)'::simhash_ball = NULL, NULL <> '(1,2)'::simhash_ball;
-- there is no order; versions of the server give other hints
\set VERBOSITY terse
SELECT '(1,2)'::simhash_ball < '(1,3)';
SELECT ball FROM balls ORDER BY ball;
\set VERBOSITY default

-- each way to find what is equal
SELECT count(*) FROM (SELECT DISTINCT ball FROM balls) s;
SELECT ball FROM (SELECT ball FROM balls WHERE no <= 3 EXCEPT SELECT ball FROM balls WHERE no >= 10) s ORDER BY ball::text;
SELECT no FROM balls WHERE ball = ANY ('{"(0,3)","(-1,2147483647)"}'::simhash_ball[]) ORDER BY no;
SELECT no FROM balls WHERE ball IN ('(0,-1)', '(7,7)');
SET enable_nestloop = off;
SET enable_mergejoin = off;
SELECT plan_of('SELECT * FROM balls x JOIN balls y ON x.ball = y.ball') LIKE '%Hash Join%' AS hash_join;
SELECT count(*) FROM balls x JOIN balls y ON x.ball = y.ball;
SELECT count(*) FROM balls x FULL JOIN balls y ON x.ball = y.ball AND y.no > 5;
RESET enable_mergejoin;
RESET enable_nestloop;

-- a hash index, hash partitions
CREATE TABLE many (ball simhash_ball);
INSERT INTO many SELECT simhash_ball(hashint8extended(i % 500, 0), i % 7 - 1) FROM generate_series(1, 7000) i;
CREATE TABLE plain AS SELECT * FROM many;
CREATE INDEX many_hash ON many USING hash (ball);
ANALYZE many;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT plan_of('SELECT * FROM many WHERE ball = ''(5,1)''') LIKE '%Index Scan using many_hash%' AS through_index;
SELECT count(*) AS wrong FROM (SELECT DISTINCT ball FROM plain) p
WHERE (SELECT count(*) FROM many m WHERE m.ball = p.ball) <> 2;
RESET enable_seqscan;
RESET enable_bitmapscan;
SELECT count(DISTINCT simhash_ball_hash(ball)) > 3400 AS spread, count(DISTINCT ball::text) AS of,
	count(*) FILTER (WHERE simhash_ball_hash(ball)::bit(32) <> simhash_ball_hash_extended(ball, 0)::bit(32)) AS differ,
	count(*) FILTER (WHERE simhash_ball_hash_extended(ball, 1) =
		simhash_ball_hash_extended(ball, 2)) < 5 AS seeds_differ
FROM many;
CREATE TABLE parted (ball simhash_ball) PARTITION BY HASH (ball);
CREATE TABLE parted_0 PARTITION OF parted FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO parted SELECT * FROM many;
SELECT (SELECT count(*) FROM parted) AS all_rows, count(*) BETWEEN 2000 AND 5000 AS some_here FROM parted_0;

-- What replication does to find a row of a table without a key: all columns
-- are compared by the default btree or hash class of their type.
SELECT count(*) AS can_be_told_apart
FROM pg_opclass o JOIN pg_am a ON a.oid = o.opcmethod AND a.amname IN ('btree', 'hash')
WHERE o.opcintype = 'simhash_ball'::regtype AND o.opcdefault AND amvalidate(o.oid);

SET client_min_messages = warning;
DROP SCHEMA type_ball_equality_test CASCADE;
