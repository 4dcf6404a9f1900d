--
-- The operators <%> and <<%>>: within 6 and 10 bits
--
CREATE SCHEMA planner_near_radii_test;
SET search_path = planner_near_radii_test, public; SET max_parallel_workers_per_gather = 0;
\pset format unaligned
\pset footer off

SELECT n AS bits, '0'::simhash % fp AS "%", '0'::simhash <%> fp AS "<%>", fp <%> '0'::simhash AS commuted,
	'0'::simhash <<%>> fp AS "<<%>>", fp <<%>> '0'::simhash AS commuted, fp <%> NULL AS "null"
FROM (VALUES (0), (3), (4), (6), (7), (10), (11)) t(n), LATERAL (SELECT ((1::bigint << n) - 1)::simhash AS fp) s;

-- clusters of fingerprints that differ from their center in up to 12 bits
CREATE TABLE docs (id int, fp simhash, h bigint);
INSERT INTO docs
SELECT i * 13 + n, h, h
FROM generate_series(1, 400) i, generate_series(0, 12) n,
	LATERAL (SELECT hashint8extended(i, 0) # (((1::bigint << n) - 1) << (i % 50)) AS h) s;
INSERT INTO docs VALUES (0, NULL, NULL);
CREATE INDEX docs_fp ON docs USING simhash (fp);
CREATE INDEX docs_h ON docs USING simhash (h);
ANALYZE docs;

-- the right rows, by the index and without it, from each side and of a join
SET enable_seqscan = off; SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF) SELECT id FROM docs WHERE fp <%> 5;
EXPLAIN (COSTS OFF) SELECT id FROM docs WHERE 5 <<%>> fp;
EXPLAIN (COSTS OFF) SELECT id FROM docs WHERE h <%> 5;
SELECT count(*) AS pairs,
	count(*) FILTER (WHERE six IS DISTINCT FROM distance(fp::bigint, q) <= 6) AS wrong_6,
	count(*) FILTER (WHERE ten IS DISTINCT FROM distance(fp::bigint, q) <= 10) AS wrong_10
FROM (SELECT fp, hashint8extended(c, 0) AS q, fp <%> hashint8extended(c, 0) AS six,
	fp <<%>> hashint8extended(c, 0) AS ten
	FROM docs, generate_series(1, 20) c WHERE fp IS NOT NULL) s;
CREATE TABLE queries AS SELECT i AS no, hashint8extended(i, 0) AS h, hashint8extended(i, 0)::simhash AS fp
	FROM generate_series(1, 40) i;
SELECT plan_of('SELECT * FROM queries q
	JOIN docs d ON q.fp <%> d.fp') LIKE '%Index Scan using docs_fp%' AS through_index,
	plan_of('SELECT * FROM queries q
	JOIN docs d ON d.h <<%>> q.fp') LIKE '%Index Scan using docs_h%' AS through_index,
	(SELECT count(*) FROM queries q JOIN docs d ON q.fp <%> d.fp) AS six,
	(SELECT count(*) FROM queries q JOIN docs d ON d.h <%> q.h) AS six_bigint,
	(SELECT count(*) FROM queries q JOIN docs d ON distance(d.h, q.h) <= 6) AS six_expected,
	(SELECT count(*) FROM queries q JOIN docs d ON d.fp <<%>> q.fp) AS ten,
	(SELECT count(*) FROM queries q JOIN docs d ON d.h <<%>> q.fp) AS ten_bigint,
	(SELECT count(*) FROM queries q JOIN docs d ON distance(d.h, q.h) <= 10) AS ten_expected;
SELECT count(*) FROM docs WHERE fp <%> ANY (ARRAY(SELECT fp FROM queries))
UNION ALL SELECT count(DISTINCT d.id) FROM queries q JOIN docs d ON distance(d.h, q.h) <= 6;
RESET enable_seqscan; RESET enable_bitmapscan;

CREATE FUNCTION near_24(simhash, simhash) RETURNS boolean LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$ BEGIN RETURN simhash_within($1, $2, 24); END $$;
CREATE OPERATOR %% (LEFTARG = simhash, RIGHTARG = simhash, FUNCTION = near_24, COMMUTATOR = %%,
	RESTRICT = simhash_sel, JOIN = simhash_joinsel);
CREATE TABLE scattered AS SELECT ('x' || left(md5(i::text), 16))::bit(64)::bigint::simhash AS fp
	FROM generate_series(1, 10000) i;
ANALYZE scattered;
SELECT estimate('SELECT * FROM scattered WHERE fp %% 5') =
	estimate('SELECT * FROM scattered WHERE fp % 5') AS unknown_radius;
CREATE OPERATOR CLASS near_24_ops FOR TYPE simhash USING simhash AS
	OPERATOR 1 =, OPERATOR 7 %, OPERATOR 28 %%, OPERATOR 2 <@ (simhash, simhash_ball),
	OPERATOR 3 <~~> (simhash, simhash) FOR ORDER BY integer_ops;
SELECT amvalidate(oid) FROM pg_opclass WHERE opcname = 'near_24_ops';
-- 3 % of random fingerprints are within 24 bits
SELECT estimate('SELECT * FROM scattered WHERE fp %% 5') BETWEEN 200 AND 450 AS as_many_as_there_are,
	(SELECT count(*) FROM scattered WHERE fp %% 5) BETWEEN 200 AND 450 AS there_are,
	estimate('SELECT * FROM scattered a JOIN scattered b ON a.fp %% b.fp') BETWEEN 2000000 AND 4500000 AS joined;
SELECT estimate('SELECT * FROM docs WHERE fp <%> 5') = estimate('SELECT * FROM docs WHERE fp <~> 5 <= 6') AS six,
	estimate('SELECT * FROM docs WHERE fp <<%>> 5') = estimate('SELECT * FROM docs WHERE fp <~> 5 <= 10') AS ten,
	estimate('SELECT * FROM docs a JOIN docs b ON a.fp <<%>> b.fp') =
	estimate('SELECT * FROM docs a JOIN docs b ON a.fp <~> b.fp <= 10') AS ten_joined,
	estimate('SELECT * FROM docs a JOIN docs b ON a.fp <<%>> b.fp') > estimate('SELECT * FROM docs a
		JOIN docs b ON a.fp % b.fp') AS more_than_three;
-- the least radius is none that is unknown
SELECT estimate('SELECT * FROM docs WHERE fp <@ ''(5,-2147483648)''::simhash_ball') AS least, estimate('SELECT * FROM docs
	WHERE fp <@ (SELECT ''(5,3)''::simhash_ball)') > 1 AS unknown;

-- an index of such a class answers all that one of the extension's own does
CREATE INDEX scattered_fp ON scattered USING simhash (fp near_24_ops);
SET enable_seqscan = off; SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF) SELECT fp FROM scattered WHERE fp <~> 5 <= 3;
EXPLAIN (COSTS OFF) SELECT fp FROM scattered WHERE hamming(5, fp) < 4;
EXPLAIN (COSTS OFF) SELECT fp FROM scattered WHERE simhash_within(fp, 5, 3);
EXPLAIN (COSTS OFF) SELECT fp FROM scattered WHERE fp %% 5 AND fp % 6;
EXPLAIN (COSTS OFF) SELECT fp FROM scattered ORDER BY fp <~> 5 LIMIT 3;
SELECT count(*) FROM scattered WHERE fp %% 5
UNION ALL SELECT count(*) FROM scattered WHERE fp <~> 5 <= 24;
RESET enable_seqscan; RESET enable_bitmapscan;
SELECT count(*) FROM scattered WHERE distance(fp::bigint, 5) <= 24;

-- Exclusion constraints: of a fingerprint, and of a bigint without a cast,
-- since nothing else is called so.
CREATE TABLE six (id int, fp simhash, EXCLUDE USING simhash (fp WITH <%>));
INSERT INTO six VALUES (1, 0), (2, 127), (3, NULL), (4, NULL);
INSERT INTO six VALUES (5, 63);
INSERT INTO six VALUES (5, 63), (6, 255), (7, 32767) ON CONFLICT DO NOTHING;
SELECT id FROM six ORDER BY id;
CREATE TABLE ten (id int, h bigint, EXCLUDE USING simhash (h WITH <<%>>));
INSERT INTO ten VALUES (1, 0), (2, 2047);
INSERT INTO ten VALUES (3, 1023);
INSERT INTO ten VALUES (4, -1);
CREATE TABLE own (id int, fp simhash, EXCLUDE USING simhash (fp near_24_ops WITH %%));
INSERT INTO own VALUES (1, 0), (2, '0x1ffffff');
INSERT INTO own VALUES (3, '0xffffff');
-- the class of the extension does not have it
-- (the server's message differs between versions)
\set VERBOSITY sqlstate
CREATE TABLE wrong (fp simhash, EXCLUDE USING simhash (fp WITH %%));
\set VERBOSITY default
\d six

-- against brute force
CREATE TABLE loaded (id int, fp simhash, EXCLUDE USING simhash (fp WITH <%>));
INSERT INTO loaded SELECT id, fp FROM docs ON CONFLICT DO NOTHING;
SELECT count(*) AS too_near FROM loaded a JOIN loaded b ON a.id < b.id AND distance(a.fp::bigint, b.fp::bigint) <= 6;
SELECT count(*) AS left_out_without_cause FROM docs d
WHERE NOT EXISTS (SELECT FROM loaded l WHERE l.id = d.id)
	AND NOT EXISTS (SELECT FROM loaded l WHERE distance(l.fp::bigint, d.fp::bigint) <= 6);

SET client_min_messages = warning;
DROP SCHEMA planner_near_radii_test CASCADE;
