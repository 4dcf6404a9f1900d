--
-- A distance is a number like others: what is asked of stored distances uses
-- what the server has for smallints; and grouping sets go by it
--
CREATE SCHEMA type_distance_test;
SET search_path = type_distance_test, public; SET max_parallel_workers_per_gather = 0;
\pset format unaligned
\pset footer off

--
-- Grouping sets
--
CREATE TABLE g (fp simhash);
INSERT INTO g VALUES ('0'), ('1'), ('3'), ('7'), ('15'), ('31');
SELECT fp <~> '0' AS d, count(*) FROM g GROUP BY GROUPING SETS ((fp), (fp <~> '0'))
HAVING fp <~> '0' < 2 ORDER BY 1;
SELECT coalesce(fp <~> '0', -1) AS d, count(*) FROM g GROUP BY ROLLUP (fp <~> '0') ORDER BY 1;
SELECT fp <~> '0' AS d, (fp <~> '0') <= 3 AS near, (fp <~> '0') + 1 AS next, count(*)
FROM g GROUP BY ROLLUP (fp <~> '0') ORDER BY 1;
-- an expression must not become what is grouped by, either
CREATE TABLE gd AS SELECT fp, fp <~> '0' AS d FROM g;
SELECT simhash_within(fp, '0', 2) AS near, count(*) FROM g
GROUP BY GROUPING SETS ((simhash_within(fp, '0', 2)), (fp)) HAVING fp <~> '0' <= 2;
SELECT d::int <= 2 AS near, count(*) FROM gd
GROUP BY GROUPING SETS ((d::int <= 2), (d)) HAVING d <= 2;

-- nor what the server makes of it
SELECT d, d::int AS i, count(*) FROM gd GROUP BY GROUPING SETS ((d::int), (d)) HAVING d < 2::bigint ORDER BY 1;
SELECT d, d::int AS i, count(*) FROM gd GROUP BY GROUPING SETS ((d::int), (d), (d < 3)) HAVING d < 2::bigint
ORDER BY 1;
-- a full join needs what is not done beside grouping sets of expressions
SELECT a.d + 1 AS next, count(*) FROM gd a FULL JOIN gd b ON a.d = b.d GROUP BY ROLLUP (a.d + 1) ORDER BY 1;
SELECT a.d, count(*) FROM gd a FULL JOIN gd b ON a.d = b.d GROUP BY ROLLUP (a.d) ORDER BY 1;

-- where columns are grouped the index is used
CREATE TABLE docs (id int, fp simhash, title text);
INSERT INTO docs SELECT n, bits(n::text), 'title ' || n % 5 FROM generate_series(1, 1000) n;
CREATE INDEX docs_fp ON docs USING simhash (fp);
ANALYZE docs;
SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_sort = off;
SELECT plan('SELECT title, count(*) FROM docs WHERE fp <~> 5 <= 3 GROUP BY ROLLUP (title)');
RESET enable_sort;

--
-- Stored distances
--
CREATE TABLE r AS SELECT n AS id, n::bit(64)::bigint::simhash <~> '0' AS d FROM generate_series(1, 1000) n;
CREATE INDEX r_d ON r (d);
ANALYZE r;
SELECT plan('SELECT d FROM r WHERE d = 3');
SELECT plan('SELECT d FROM r WHERE d <= 3');
SELECT plan('SELECT d FROM r WHERE 3 > d AND d >= 1::bigint AND d <> 2');
SELECT plan('SELECT d FROM r WHERE d BETWEEN 1 AND 3::smallint');
SELECT plan('SELECT d FROM r WHERE d = ANY (ARRAY[1, 3])') AS "needs a cast";
SELECT plan('SELECT d FROM r WHERE d::smallint IN (1, 3)');
SELECT plan('SELECT d FROM r ORDER BY d LIMIT 3');
SELECT plan('SELECT d, count(*) FROM r GROUP BY d');
PREPARE untyped AS SELECT d FROM r WHERE d = $1;
SET plan_cache_mode = force_generic_plan;
SELECT plan('EXECUTE untyped(3)');
RESET plan_cache_mode;

CREATE INDEX r_d_id ON r (d, id);
DROP INDEX r_d;
SELECT plan('SELECT d, id FROM r WHERE (d, id) = (3, 7)');
SELECT plan('SELECT d, id FROM r WHERE (d, id) > (3, 7)');
SELECT plan('SELECT d, id FROM r WHERE (d, id) < (3, 7)') AS "needs a cast";
SELECT plan('SELECT d, id FROM r WHERE (d::smallint, id) > (3, 7)');

SELECT count(*) FILTER (WHERE d = 3) AS eq, count(*) FILTER (WHERE d <= 3) AS le,
	count(*) FILTER (WHERE d IN (1, 3)) AS one_of,
	count(*) FILTER (WHERE (d, id) > (3, 7)) AS row_gt, count(*) FILTER (WHERE (d, id) <= (3, 7)) AS row_le,
	count(*) FILTER (WHERE (d, id) IN ((3, 7), (3, 11), (2, 7))) AS row_one_of,
	count(*) FILTER (WHERE (3::bigint, id) >= (d, 7)) AS row_commuted
FROM r;
SELECT count(*) FILTER (WHERE d = 3) AS eq, count(*) FILTER (WHERE d <= 3) AS le,
	count(*) FILTER (WHERE d IN (1, 3)) AS one_of,
	count(*) FILTER (WHERE (d, id) > (3, 7)) AS row_gt, count(*) FILTER (WHERE (d, id) <= (3, 7)) AS row_le,
	count(*) FILTER (WHERE (d, id) IN ((3, 7), (3, 11), (2, 7))) AS row_one_of,
	count(*) FILTER (WHERE (3::bigint, id) >= (d, 7)) AS row_commuted
FROM (SELECT id, d::int FROM r) r;

-- joins
SET enable_nestloop = off; SET enable_mergejoin = off;
SELECT plan('SELECT a.d FROM r a JOIN r b ON a.d = b.d');
SELECT plan('SELECT a.d FROM r a JOIN r b ON a.d = b.id');
SELECT plan('SELECT a.d FROM r a FULL JOIN r b ON a.d = b.d');
SELECT plan('SELECT d FROM r WHERE d IN (SELECT id FROM docs)');
SELECT plan_of('SELECT d FROM r WHERE d NOT IN (SELECT id FROM docs)') ~ 'hashed SubPlan' AS hashed;
SELECT plan_of('SELECT id FROM r WHERE id NOT IN (SELECT d FROM r)') ~ 'hashed SubPlan' AS hashed;
SELECT plan('SELECT docs.id FROM docs JOIN r ON hamming(fp, ''0'') = r.id');
SELECT plan_of('SELECT id FROM docs WHERE fp <~> ''0'' NOT IN (SELECT d FROM r)') ~ 'hashed SubPlan' AS hashed;
SET enable_mergejoin = on; SET enable_hashjoin = off;
SELECT plan('SELECT a.d FROM r a JOIN r b ON a.d = b.d');
SELECT plan('SELECT a.d FROM r a FULL JOIN r b ON a.d = b.d');
SELECT plan('SELECT docs.id FROM docs JOIN r ON hamming(fp, ''0'') = r.id');
RESET enable_nestloop; RESET enable_hashjoin;
SELECT count(*), count(a.d), count(b.d) FROM r a FULL JOIN (SELECT * FROM r WHERE d > 5) b ON a.d = b.d;
SELECT count(*) FROM r WHERE d NOT IN (SELECT d FROM r WHERE d < 5);
SELECT count(*) FROM docs JOIN r ON hamming(fp, '0') = r.id WHERE docs.id <= 100;

-- partitions
CREATE TABLE parts (id int, d simhash_distance) PARTITION BY RANGE (d);
CREATE TABLE parts_0 PARTITION OF parts FOR VALUES FROM (0) TO (4);
CREATE TABLE parts_4 PARTITION OF parts FOR VALUES FROM (4) TO (8);
CREATE TABLE parts_8 PARTITION OF parts FOR VALUES FROM (8) TO (65);
SELECT plan('SELECT * FROM parts WHERE d <= 3');
SELECT plan('SELECT * FROM parts WHERE d = 5');

-- an index on the distance of a fingerprint to a fixed one, and partitions by it
CREATE INDEX docs_distance ON docs (((fp <~> '0')::smallint));
DROP INDEX docs_fp;
ANALYZE docs;
SELECT plan('SELECT fp FROM docs ORDER BY fp <~> ''0'' LIMIT 3');
SELECT plan('SELECT fp FROM docs WHERE (fp <~> ''0'')::smallint <= 20');
SELECT plan('SELECT x.fp FROM r, docs x WHERE r.id = 7 AND hamming(x.fp, ''0'') = r.id');
SELECT plan('SELECT fp FROM docs WHERE (fp <~> ''0'')::smallint IN (1, 20)');
SELECT plan('SELECT fp FROM docs ORDER BY (fp <~> ''0'')::int LIMIT 3') AS "another type";
-- as a condition, the distance is one of fp
SELECT plan('SELECT fp FROM docs WHERE fp <~> ''0'' <= 20');
-- an index on the comparison
CREATE TABLE best (id int, fp simhash);
CREATE UNIQUE INDEX best_near ON best ((fp <~> '0' <= 2));
INSERT INTO best VALUES (1, 3), (2, 15);
INSERT INTO best VALUES (3, 5) ON CONFLICT ((fp <~> '0' <= 2)) DO UPDATE SET id = excluded.id;
SELECT * FROM best ORDER BY id;
SELECT plan('SELECT fp FROM best WHERE fp <~> ''0'' <= 2');
CREATE TABLE near (id int, fp simhash) PARTITION BY RANGE (((fp <~> '0')::int));
CREATE TABLE near_0 PARTITION OF near FOR VALUES FROM (0) TO (32);
CREATE TABLE near_32 PARTITION OF near FOR VALUES FROM (32) TO (65);
SELECT plan('SELECT fp FROM near WHERE (fp <~> ''0'')::int <= 20');
SELECT plan('SELECT fp FROM near WHERE hamming(fp, ''0'')::int > 40');

--
-- Numbers that are no integers: as the server compares them, without the index
--
SELECT count(*) AS wrong
FROM unnest('{-Infinity,-1e300,-1,-0.5,-0,0,1e-300,0.5,1,2.5,3,63.5,64,64.5,65,1e300,Infinity,NaN,NULL}'::float8[]) f,
	(SELECT fp, bit_count(fp::bit(64))::float8 AS d
	 FROM generate_series(0, 64) n, CAST(left(repeat('1', n) || repeat('0', 64), 64)::bit(64) AS simhash) fp) x
WHERE (fp <~> '0' < f) IS DISTINCT FROM (d < f) OR (f > fp <~> '0') IS DISTINCT FROM (d < f)
	OR (fp <~> '0' <= f) IS DISTINCT FROM (d <= f) OR (f >= fp <~> '0') IS DISTINCT FROM (d <= f)
	OR (fp <~> '0' = f) IS DISTINCT FROM (d = f) OR (f = fp <~> '0') IS DISTINCT FROM (d = f)
	OR (fp <~> '0' >= f) IS DISTINCT FROM (d >= f) OR (f <= fp <~> '0') IS DISTINCT FROM (d >= f)
	OR (fp <~> '0' > f) IS DISTINCT FROM (d > f) OR (f < fp <~> '0') IS DISTINCT FROM (d > f);
SELECT '7'::simhash <~> '0' < 3.5 AS less, '7'::simhash <~> '0' < 3.0 AS not_less;
-- of integers, not simplified, as where nothing plans them
SELECT bool_and(simhash_distance_lt(d, n) = (d::int < n) AND simhash_distance_le(d, n) = (d::int <= n)
	AND simhash_distance_eq(d, n) = (d::int = n) AND simhash_distance_eq(n, d) = (d::int = n)
	AND simhash_distance_ge(n, d) = (d::int <= n) AND simhash_distance_gt(n, d) = (d::int < n)) AS right
FROM generate_series(-1, 65) n, (SELECT DISTINCT d FROM r) d;

--
-- Further sort keys: up to version 16 the server sorts anew, since 17 only within
-- equal distances.  The result is the same.
--
CREATE INDEX docs_fp ON docs USING simhash (fp);
SELECT array_agg(id) FROM (SELECT id FROM docs ORDER BY fp <~> 5, id LIMIT 5) x;
SELECT array_agg(id) FROM (SELECT id FROM docs ORDER BY (fp <~> 5)::int + 0, id LIMIT 5) x;
SELECT plan_of('SELECT id FROM docs ORDER BY fp <~> 5, id LIMIT 5')
	~ CASE WHEN current_setting('server_version_num')::int < 170000 THEN 'Sort'
		ELSE 'Incremental Sort.*docs_fp' END AS as_expected;

--
-- A smallint to the server.  4096 bits fit, and functions of integers take one.
--
SELECT repeat('ff', 512)::simhash_bits <~> repeat('00', 512)::simhash_bits AS largest;
SELECT pg_typeof(d * 1.5), pg_typeof(d + 1), pg_typeof(d + d), pg_typeof(sum(d)), pg_typeof(coalesce(d, 0))
FROM (SELECT '7'::simhash <~> '0') x (d) GROUP BY d;
SELECT simhash_within('0', '7', d), simhash_ball('5', d), simhash_minhash_radius(0.8, 64, d / 9.0), left('abcd', d),
	date '2000-01-01' + d, (ARRAY[1, 2, 3])[d], jsonb '[0, 1, 2, "x"]' -> d,
	(SELECT count(*) FROM simhash_find_all_in('{0,7,15}', d)), (SELECT count(*) FROM simhash_find_all('docs_fp', d))
FROM (SELECT '7'::simhash <~> '0') x (d);
-- what needs a cast
PREPARE times AS SELECT ('7'::simhash <~> '0') * $1;
SELECT statement, state, message FROM unnest(ARRAY['EXECUTE times(30000)',
	$$SELECT d * 30000::smallint FROM r WHERE d = 3$$, $$SELECT d FROM r WHERE d <= '100000'$$,
	$$SELECT to_hex(d) FROM r$$, $$SELECT gcd(d, d) FROM r$$, $$SELECT generate_series(d, d) FROM r$$,
	$$SELECT d::boolean FROM r$$, $$SELECT d::bit(8) FROM r$$, $$SELECT d::"char" FROM r$$]) statement, attempt(statement);
SELECT d << 14 AS wraps, d::int << 14 AS shifted FROM r WHERE d = 3 LIMIT 1;

-- what the operators and their family are
SELECT count(*) AS operators, count(*) FILTER (WHERE oprcom = 0) AS no_commutator
FROM pg_operator WHERE 'simhash_distance'::regtype IN (oprleft, oprright);
SELECT count(*) AS members, count(DISTINCT (amoplefttype, amoprighttype)) AS pairs
FROM pg_amop JOIN pg_opfamily f ON f.oid = amopfamily WHERE opfname = 'simhash_distance_ops';

RESET enable_seqscan; RESET enable_bitmapscan;
DEALLOCATE ALL;
SET client_min_messages = warning;
DROP SCHEMA type_distance_test CASCADE;
