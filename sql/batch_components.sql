--
-- Connected components of pairs of numbers
--
\pset format unaligned
\pset footer off
CREATE SCHEMA batch_components_test;
SET search_path = batch_components_test, public; SET client_min_messages = warning;
\set SHOW_CONTEXT never

SELECT * FROM simhash_components('{5,3,8}', '{3,1,9}') ORDER BY component, member;
-- a number with itself is one of its own
SELECT * FROM rows_of($$SELECT * FROM simhash_components('{7}', '{7}')$$,
	$$SELECT * FROM simhash_components('{7,7,7}', '{7,8,7}') ORDER BY member$$);
-- as signed numbers
SELECT * FROM simhash_components('{-1,9223372036854775807,-9223372036854775808,3,-4}',
	'{0,0,-9223372036854775807,-9223372036854775808,4}') ORDER BY component, member;

-- pairs of less than two numbers are none
SELECT * FROM rows_of($$SELECT * FROM simhash_components('{1,NULL,2,NULL}', '{NULL,1,3,NULL}') ORDER BY member$$,
	$$SELECT * FROM simhash_components('{NULL}', '{NULL}')$$, $$SELECT * FROM simhash_components('{}', '{}')$$,
	$$SELECT * FROM simhash_components(NULL, '{1}')$$, $$SELECT * FROM simhash_components('{1}', NULL)$$);
-- the shape of an array does not count
SELECT * FROM simhash_components('{{1,2},{3,4}}', '[5:8]={2,3,9,9}') ORDER BY component, member;

-- what is refused
SELECT * FROM simhash_components('{1,2}', '{1}');
\set VERBOSITY sqlstate
SELECT * FROM simhash_components('{}', '{NULL}');
\set VERBOSITY default

--
-- Brute force: the smallest number is handed on along the pairs until nothing changes
--
CREATE TABLE pairs (no int, a bigint, b bigint);
CREATE FUNCTION wanted(OUT component bigint, OUT member bigint, OUT size bigint) RETURNS SETOF record
	LANGUAGE plpgsql AS $$
DECLARE
	changed bigint;
BEGIN
	CREATE TEMP TABLE edges AS SELECT DISTINCT a, b FROM pairs WHERE a IS NOT NULL AND b IS NOT NULL
		UNION SELECT b, a FROM pairs WHERE a IS NOT NULL AND b IS NOT NULL;
	CREATE TEMP TABLE labels AS SELECT DISTINCT a AS id, a AS label FROM edges;
	ANALYZE edges, labels;
	LOOP
		UPDATE labels SET label = l.label
		FROM (SELECT e.a AS id, min(n.label) AS label FROM edges e JOIN labels n ON n.id = e.b GROUP BY e.a) l
		WHERE l.id = labels.id AND l.label < labels.label;
		GET DIAGNOSTICS changed = ROW_COUNT;
		EXIT WHEN changed = 0;
	END LOOP;
	RETURN QUERY SELECT label, id, count(*) OVER (PARTITION BY label) FROM labels;
	DROP TABLE edges, labels;
END $$;
-- the pairs in their order, backwards, and in an order of chance; both ways round
CREATE FUNCTION compare(OUT members bigint, OUT components bigint, OUT largest bigint, OUT differences bigint)
	LANGUAGE plpgsql AS $$
BEGIN
	CREATE TEMP TABLE expected AS SELECT * FROM wanted();
	SELECT count(*), count(DISTINCT component), max(size) INTO members, components, largest FROM expected;
	SELECT count(*) INTO differences FROM (
		SELECT array_agg(a ORDER BY no) AS a, array_agg(b ORDER BY no) AS b FROM pairs
		UNION ALL SELECT array_agg(a ORDER BY no DESC), array_agg(b ORDER BY no DESC) FROM pairs
		UNION ALL SELECT array_agg(b ORDER BY hashint4extended(no, 1)), array_agg(a ORDER BY hashint4extended(no, 1))
		FROM pairs
	) orders, LATERAL (
		SELECT count(*) FROM (
			(SELECT * FROM simhash_components(orders.a, orders.b) EXCEPT ALL TABLE expected)
			UNION ALL (TABLE expected EXCEPT ALL SELECT * FROM simhash_components(orders.a, orders.b))) d
	) d WHERE d.count > 0;
	DROP TABLE expected;
END $$;

-- graphs of chance: sparse, at the threshold where one component is most of it, dense
INSERT INTO pairs SELECT i, hashint4extended(i, 1) & 4095, hashint4extended(i, 2) & 4095
FROM generate_series(1, 1000) i;
SELECT members > 1000 AS many, components > 100 AS several, differences FROM compare();
TRUNCATE pairs;
INSERT INTO pairs SELECT i, (hashint4extended(i, 1) & 4095) - 2048, (hashint4extended(i, 2) & 4095) - 2048
FROM generate_series(1, 2100) i;
SELECT largest > 10 AS large, components > 10 AS several, differences FROM compare();
TRUNCATE pairs;
INSERT INTO pairs SELECT i, hashint4extended(i, 1) & 255, hashint4extended(i, 2) & 255 FROM generate_series(1, 3000) i;
SELECT * FROM compare();
-- of all 64 bits, with nulls and numbers with themselves
TRUNCATE pairs;
INSERT INTO pairs SELECT i, hashint4extended(hashint4(i) & 1023, 3),
	CASE i % 10 WHEN 0 THEN NULL WHEN 1 THEN hashint4extended(hashint4(i) & 1023, 3)
	ELSE hashint4extended(hashint4(-i) & 1023, 3) END FROM generate_series(1, 800) i;
INSERT INTO pairs VALUES (0, 9223372036854775807, -9223372036854775808), (0, NULL, 5), (0, NULL, NULL);
SELECT members > 500 AS many, components > 50 AS several, differences FROM compare();
-- chains, a star, pairs that come twice and both ways round
TRUNCATE pairs;
INSERT INTO pairs SELECT i, i, i + 1 FROM generate_series(1, 200) i;
INSERT INTO pairs SELECT i, 1000 + (i * 77) % 101, 1000 + (i * 77 + 77) % 101 FROM generate_series(1, 100) i;
INSERT INTO pairs SELECT i, -5000, -5000 + i FROM generate_series(1, 300) i;
INSERT INTO pairs SELECT no, b, a FROM pairs WHERE no % 3 = 0;
INSERT INTO pairs TABLE pairs;
SELECT * FROM compare();
DROP TABLE pairs;

-- long chains, from either end and from all over; a row for each member
CREATE FUNCTION summary(a bigint[], b bigint[], OUT members bigint, OUT "different" bigint, OUT components bigint,
	OUT first bigint, OUT size text) LANGUAGE sql AS $$
	SELECT count(*), count(DISTINCT member), count(DISTINCT component), min(component), min(size) || '-' || max(size)
	FROM simhash_components(a, b)
$$;
SET maintenance_work_mem = '256MB';
SELECT s.* FROM (SELECT array_agg(i) AS a, array_agg(i + 1) AS b FROM generate_series(1, 200000) i) p, summary(a, b) s
UNION ALL SELECT s.* FROM (SELECT array_agg(i) AS a, array_agg(i + 1) AS b FROM generate_series(200000, 1, -1) i) p,
	summary(a, b) s
UNION ALL SELECT s.* FROM (SELECT array_agg(i ORDER BY hashint4(i)) AS a, array_agg(i + 1 ORDER BY hashint4(i)) AS b
	FROM generate_series(1, 200000) i) p, summary(a, b) s;
-- in blocks that are joined in the end
SELECT s.* FROM (SELECT array_agg(i ORDER BY i % 2 = 0, i) AS a, array_agg(i + 1 ORDER BY i % 2 = 0, i) AS b
	FROM generate_series(1, 200000) i) p, summary(a, b) s;
SELECT * FROM (SELECT s.* FROM (SELECT array_agg(i) AS a, array_agg(-i) AS b
	FROM generate_series(0, 200000) i) p, summary(a, b) s) a,
	(SELECT s.* FROM (SELECT array_agg(1) AS a, array_agg(1) AS b
	FROM generate_series(1, 200000) i) p, summary(a, b) s) b;
-- whose bits are alike: multiples of large powers of two
SELECT s.* FROM (SELECT array_agg(i::bigint << 44) AS a, array_agg((i + 1)::bigint << 44) AS b
	FROM generate_series(1, 200000) i) p, summary(a, b) s;

-- what the components of fingerprints are
WITH fps AS (SELECT array_agg(i::simhash) AS fps FROM generate_series(1, 3000, 7) i),
clusters AS (SELECT c.* FROM fps, simhash_find_clusters_in(fps, 2) c),
components AS (
	SELECT dense_rank() OVER (ORDER BY c.component), c.member::simhash, c.size
	FROM (SELECT array_agg(a::bigint) AS a, array_agg(b::bigint) AS b FROM fps, simhash_find_all_in(fps, 2)) p,
		simhash_components(a, b) c)
SELECT (SELECT count(*) FROM clusters) > 300 AS many, (SELECT count(*)
	FROM (TABLE clusters EXCEPT ALL TABLE components) d) AS missing,
	(SELECT count(*) FROM (TABLE components EXCEPT ALL TABLE clusters) d) AS more;

--
-- Memory: what does not fit is an error, and what its hint asks for is enough
--
SET maintenance_work_mem = '1MB';
SELECT count(*) FROM simhash_components((SELECT array_agg(i) FROM generate_series(1, 8000) i),
	(SELECT array_agg(i + 1) FROM generate_series(1, 8000) i));
SELECT count(*) FROM simhash_components((SELECT array_agg(i) FROM generate_series(1, 100000) i),
	(SELECT array_agg(-i) FROM generate_series(1, 100000) i));
SET maintenance_work_mem = '14336kB';
SELECT count(*) FROM simhash_components((SELECT array_agg(i) FROM generate_series(1, 100000) i),
	(SELECT array_agg(-i) FROM generate_series(1, 100000) i));
-- pairs alone need none
SET maintenance_work_mem = '1MB';
SELECT count(*) FROM simhash_components((SELECT array_agg(i % 5000) FROM generate_series(1, 1000000) i),
	(SELECT array_agg(i % 4999) FROM generate_series(1, 1000000) i));
-- nor where there is just enough for the members
SELECT count(*) FROM simhash_components((SELECT array_agg(i) FROM generate_series(1, 8192) i) || 5::bigint,
	(SELECT array_agg(-i) FROM generate_series(1, 8192) i) || 6::bigint);
RESET maintenance_work_mem;

-- arrays as plpgsql keeps them, and as tables store them
CREATE TABLE stored (a bigint[], b bigint[]);
INSERT INTO stored SELECT array_agg(i), array_agg(i + 1) FROM generate_series(1, 10000) i;
SELECT s.* FROM stored, summary(a, b) s;
DO $$
DECLARE
	a bigint[] := (SELECT array_agg(i) FROM generate_series(1, 1000) i);
	b bigint[] := a;
BEGIN
	a[500] := 2000;
	b[501] := NULL;
	RAISE WARNING '%', (SELECT array_agg(c) FROM (SELECT * FROM simhash_components(a, b)
		WHERE component <> member OR member > 998 ORDER BY member) c);
END $$;

DROP SCHEMA batch_components_test CASCADE;
