--
-- Balls: order, equality and hashing, by center and then radius
--
CREATE SCHEMA type_ball_order_test;
SET search_path = type_ball_order_test, public;

CREATE TABLE balls (no int, ball simhash_ball);
INSERT INTO balls VALUES (1, '(0,3)'), (2, '(0,-1)'), (3, '(0,-2)'), (4, '(0,64)'), (5, '(0,65)'),
	(6, '(9223372036854775808,0)'), (7, '(-1,-2147483648)'), (8, '(-1,2147483647)'), (9, NULL),
	(10, '(0,3)'), (11, '(1,3)'), (12, simhash_ball(0, 3));

-- the center is unsigned, the radius is not; those that hold the same
-- fingerprints are not equal unless they are written alike
SELECT ball, array_agg(no ORDER BY no) AS rows FROM balls GROUP BY ball ORDER BY ball;
SELECT ball FROM balls ORDER BY ball DESC NULLS LAST, no;
SELECT count(*) AS pairs,
	count(*) FILTER (WHERE (x.ball = y.ball) <> (x.no = y.no)) AS eq,
	count(*) FILTER (WHERE (x.ball <> y.ball) <> (x.no <> y.no)) AS ne,
	count(*) FILTER (WHERE (x.ball < y.ball) <> (x.no < y.no)) AS lt,
	count(*) FILTER (WHERE (x.ball <= y.ball) <> (x.no <= y.no)) AS le,
	count(*) FILTER (WHERE (x.ball > y.ball) <> (x.no > y.no)) AS gt,
	count(*) FILTER (WHERE (x.ball >= y.ball) <> (x.no >= y.no)) AS ge,
	count(*) FILTER (WHERE simhash_ball_cmp(x.ball, y.ball) <> sign(x.no - y.no)) AS cmp
FROM unnest('{"(0,-1)","(0,3)","(1,-2)","(9223372036854775807,64)",
		"(9223372036854775808,-2147483648)","(-1,0)"}'::simhash_ball[])
	WITH ORDINALITY AS x(ball, no),
	unnest('{"(0,-1)","(0,3)","(1,-2)","(9223372036854775807,64)",
		"(9223372036854775808,-2147483648)","(-1,0)"}'::simhash_ball[])
	WITH ORDINALITY AS y(ball, no);
SELECT '(1,2)'::simhash_ball = NULL, NULL < '(1,2)'::simhash_ball;

-- each way to find what is equal
SELECT count(*) FROM (SELECT DISTINCT ball FROM balls) s;
SELECT count(DISTINCT ball) FROM balls;
SET enable_sort = off;
SELECT count(*) FROM (SELECT ball FROM balls GROUP BY ball) s;
RESET enable_sort;
SET enable_hashagg = off;
SELECT count(*) FROM (SELECT ball FROM balls GROUP BY ball) s;
RESET enable_hashagg;
SELECT ball FROM balls WHERE no <= 3 EXCEPT SELECT ball FROM balls WHERE no >= 10 ORDER BY 1;
SELECT no FROM balls WHERE ball = ANY ('{"(0,3)","(-1,2147483647)"}'::simhash_ball[]) ORDER BY no;
SELECT no FROM balls WHERE ball IN ('(0,-1)', '(7,7)');
SET enable_nestloop = off;
SET enable_mergejoin = off;
SELECT plan_of('SELECT * FROM balls x JOIN balls y ON x.ball = y.ball') LIKE '%Hash Join%' AS hash_join;
SELECT count(*) FROM balls x JOIN balls y ON x.ball = y.ball;
RESET enable_mergejoin;
SET enable_hashjoin = off;
SELECT plan_of('SELECT * FROM balls x JOIN balls y ON x.ball = y.ball') LIKE '%Merge Join%' AS merge_join;
SELECT count(*) FROM balls x JOIN balls y ON x.ball = y.ball;
SELECT count(*) FROM balls x FULL JOIN balls y ON x.ball = y.ball AND y.no > 5;
RESET enable_hashjoin;
RESET enable_nestloop;

-- a btree that keeps equal values together, a hash index, hash partitions
CREATE TABLE many (ball simhash_ball);
INSERT INTO many SELECT simhash_ball(hashint8extended(i % 500, 0), i % 7 - 1) FROM generate_series(1, 7000) i;
CREATE TABLE plain AS SELECT * FROM many;
CREATE INDEX many_btree ON many (ball);
ANALYZE many;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT plan_of('SELECT * FROM many WHERE ball = ''(5,1)''') LIKE '%Index Only Scan using many_btree%' AS through_index;
SELECT count(*) AS wrong FROM (SELECT DISTINCT ball FROM plain) p
WHERE (SELECT count(*) FROM many m WHERE m.ball = p.ball) <> 2;
SELECT plan_of('SELECT ball FROM many ORDER BY ball') LIKE 'Index Only Scan using many_btree%' AS through_index,
	(SELECT array_agg(ball) FROM (SELECT ball FROM many ORDER BY ball) s) =
	(SELECT array_agg(ball ORDER BY split_part(btrim(ball::text, '()'), ',', 1)::numeric,
		split_part(btrim(ball::text, '()'), ',', 2)::int) FROM plain) AS as_written;
DROP INDEX many_btree;
CREATE INDEX many_hash ON many USING hash (ball);
SELECT plan_of('SELECT * FROM many WHERE ball = ''(5,1)''') LIKE '%Index Scan using many_hash%' AS through_index;
SELECT count(*) AS wrong FROM (SELECT DISTINCT ball FROM plain) p
WHERE (SELECT count(*) FROM many m WHERE m.ball = p.ball) <> 2;
RESET enable_seqscan;
RESET enable_bitmapscan;
SELECT count(DISTINCT simhash_ball_hash(ball)) > 3400 AS spread, count(DISTINCT ball) AS of,
	count(*) FILTER (WHERE simhash_ball_hash(ball)::bit(32) <> simhash_ball_hash_extended(ball, 0)::bit(32)) AS differ,
	count(*) FILTER (WHERE simhash_ball_hash_extended(ball, 1) =
		simhash_ball_hash_extended(ball, 2)) < 5 AS seeds_differ
FROM many;
CREATE TABLE parted (ball simhash_ball) PARTITION BY HASH (ball);
CREATE TABLE parted_0 PARTITION OF parted FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO parted SELECT * FROM many;
SELECT (SELECT count(*) FROM parted) AS all_rows, count(*) BETWEEN 2000 AND 5000 AS some_here FROM parted_0;

-- constraints
CREATE TABLE unique_balls (ball simhash_ball PRIMARY KEY);
INSERT INTO unique_balls VALUES ('(0,3)'), ('(0,-1)'), ('(0,-2)');
INSERT INTO unique_balls VALUES ('( 0x0 , +3 )');
INSERT INTO unique_balls VALUES ('(0,3)') ON CONFLICT DO NOTHING;
CREATE TABLE refers (ball simhash_ball REFERENCES unique_balls);
INSERT INTO refers VALUES ('(0,3)');
INSERT INTO refers VALUES ('(0,4)');

-- What replication does to find a row of a table without a key: all columns
-- are compared by the default btree or hash class of their type.
SELECT count(*) AS can_be_told_apart
FROM pg_opclass o JOIN pg_am a ON a.oid = o.opcmethod AND a.amname IN ('btree', 'hash')
WHERE o.opcintype = 'simhash_ball'::regtype AND o.opcdefault AND amvalidate(o.oid);

SET client_min_messages = warning;
DROP SCHEMA type_ball_order_test CASCADE;
