--
-- Clusters: the same ones as by brute force
--
-- The reference is brute force, and a search for connected components that shares no
-- code with the extension.
--
\pset format unaligned
\pset footer off
CREATE SCHEMA batch_clusters_test;
SET search_path = batch_clusters_test, public; SET max_parallel_workers_per_gather = 0; SET client_min_messages = warning;
\set SHOW_CONTEXT never
\pset null (none)

-- pairs of rows that are near
CREATE TABLE near (a int, b int, d int);

-- the smallest id that each row is connected with
CREATE TABLE component (radius int, id int, root int, PRIMARY KEY (radius, id));

-- Note the components that the pairs in near make of rows 1 to n.
CREATE PROCEDURE expect_components(n int, radii int[]) LANGUAGE plpgsql AS $$
DECLARE
	parent int[] := ARRAY(SELECT generate_series(1, n));
	r int;
	done int := -1;
	a int;
	b int;
BEGIN
	DELETE FROM component;
	FOREACH r IN ARRAY radii LOOP
		FOR a, b IN SELECT near.a, near.b FROM near WHERE d > done AND d <= r LOOP
			WHILE parent[a] <> a LOOP a := parent[a]; END LOOP;
			WHILE parent[b] <> b LOOP b := parent[b]; END LOOP;
			parent[greatest(a, b)] := least(a, b);
		END LOOP;
		FOR i IN 1 .. n LOOP
			parent[i] := parent[parent[i]];
		END LOOP;
		INSERT INTO component SELECT r, id, root FROM unnest(parent) WITH ORDINALITY p(root, id);
		done := r;
	END LOOP;
	ANALYZE component;
END $$;

-- Compare what is found in an index with the components: null if they agree.
CREATE FUNCTION wrong(tab regclass, index regclass, r int) RETURNS text LANGUAGE sql AS $$
	SELECT format('%s, distance %s: ', index, r) || difference(
		format('SELECT x.id, f.cluster, f.size, f.fp::bigint
			FROM simhash_find_clusters(%L, %s) f LEFT JOIN %s x ON x.ctid = f.member', index, r, tab),
		format('SELECT * FROM (
				SELECT id, dense_rank() OVER (ORDER BY first), size, h
				FROM (SELECT id, min(x.ctid) OVER root AS first, count(*) OVER root AS size, fp::bigint AS h
					FROM component JOIN %s x USING (id) WHERE radius = %s WINDOW root AS (PARTITION BY root)) s
				WHERE size > 1) c', tab, r))
$$;

-- The same for the array form, with the different values of a table.
CREATE FUNCTION wrong_values(tab regclass, r int, blocks int DEFAULT NULL) RETURNS text LANGUAGE sql AS $$
	SELECT format('%s, distance %s, %s blocks: ', tab, r, blocks) || difference(
		format('SELECT cluster, size, fp::bigint FROM simhash_find_clusters_in(ARRAY(SELECT fp FROM %s), %s, %L)',
			tab, r, blocks),
		format('SELECT * FROM (
				SELECT dense_rank() OVER (ORDER BY first), size, fp::bigint
				FROM (SELECT fp, min(fp) OVER root AS first, count(*) OVER root AS size
					FROM (SELECT DISTINCT root, fp FROM component JOIN %s USING (id)
						WHERE radius = %s AND fp IS NOT NULL) v
					WINDOW root AS (PARTITION BY root)) s
				WHERE size > 1) c', tab, r))
$$;

--
-- Many kinds at once, small distances
--

CREATE TABLE mixed AS SELECT * FROM mixed_rows();
CALL expect_pairs('mixed', 8);
CALL expect_components(1520, '{0,1,2,3,4,5,6,8}');
-- the reference itself: there are several clusters at each distance
SELECT radius, count(*) > 20 AS clusters, sum(size) > 40 AS rows, max(size) > 35 AS large
FROM (SELECT radius, count(*) AS size FROM component GROUP BY radius, root HAVING count(*) > 1) c GROUP BY radius
ORDER BY radius;
SELECT * FROM compare_schemes('mixed', '{0,1,2,3,4,5,6,8}');
CREATE INDEX mixed_fp ON mixed USING simhash (fp);
-- the distance of the index where none is given
SELECT count(*), count(DISTINCT cluster) FROM simhash_find_clusters('mixed_fp')
UNION ALL SELECT count(*), count(DISTINCT cluster) FROM simhash_find_clusters('mixed_fp', NULL)
UNION ALL SELECT count(*), count(DISTINCT cluster) FROM simhash_find_clusters('mixed_fp', 3);
DROP INDEX mixed_fp;

--
-- Any distance, fewer rows
--

CREATE TABLE wide AS SELECT * FROM wide_rows();
CALL expect_pairs('wide', 64);
CALL expect_components(105, '{0,1,2,3,4,5,6,7,8,9,10,11,12,15,16,20,32,63,64}');
SELECT radius, count(*) AS clusters, sum(size) AS rows
FROM (SELECT radius, count(*) AS size FROM component GROUP BY radius, root HAVING count(*) > 1) c GROUP BY radius
ORDER BY radius;
SELECT * FROM compare_schemes('wide', '{0,1,2,3,4,5,6,7,8,9,10,11,12,15,16,20,32,63,64}');

--
-- Large groups with a prefix in common
--

CREATE TABLE common AS SELECT * FROM common_rows();
CALL expect_pairs_by_blocks('common', 48, 6);
CALL expect_components(4800, '{0,1,2,3,5}');
CREATE INDEX common_fp ON common USING simhash (fp);
SELECT radius, count(*) > 100 AS clusters, wrong('common', 'common_fp', radius), wrong_values('common', radius)
FROM (SELECT radius, count(*) AS size FROM component GROUP BY radius, root HAVING count(*) > 1) c GROUP BY radius
ORDER BY radius;

-- numbers: all one cluster, with many more pairs than members
CREATE TABLE number (fp simhash);
INSERT INTO number SELECT generate_series(1, 4095);
CREATE INDEX number_fp ON number USING simhash (fp);
SELECT * FROM rows_of(
	$$SELECT r, cluster, count(*), count(DISTINCT member) AS members, count(DISTINCT fp) AS fps, min(size), max(size)
FROM unnest('{0,1,2,4}'::int[]) r, simhash_find_clusters('number_fp', r) GROUP BY r, cluster ORDER BY r$$,
	$$SELECT r, cluster, count(*), count(DISTINCT fp) AS fps, min(size), max(size)
FROM unnest('{0,1,2,4}'::int[]) r, simhash_find_clusters_in(ARRAY(SELECT fp FROM number), r) GROUP BY r, cluster
ORDER BY r$$);
DROP TABLE number;

-- a chain: each is near the one before and the one after only
CREATE TABLE chain (id int, fp simhash);
INSERT INTO chain SELECT i, CASE i WHEN 64 THEN -1 ELSE ~(-1::bigint << i) END FROM generate_series(0, 64) i
ORDER BY i % 7, i;
CREATE INDEX chain_fp ON chain USING simhash (fp);
CREATE FUNCTION chains(r int) RETURNS TABLE (cluster bigint, min int, max int, count bigint, min_size bigint, max_size bigint)
LANGUAGE sql AS $$
	SELECT cluster, min(id), max(id), count(*), min(size), max(size) FROM simhash_find_clusters('chain_fp', r)
		JOIN chain ON ctid = member GROUP BY cluster ORDER BY 2
$$;
SELECT * FROM chains(1);
-- without a link that connects two parts there are two clusters, or fewer members
DELETE FROM chain WHERE id = 20;
SELECT * FROM chains(1);
DELETE FROM chain WHERE id IN (22, 62, 63);
SELECT * FROM rows_of('SELECT * FROM chains(1)', 'SELECT * FROM chains(2)');
VACUUM chain;
SELECT * FROM rows_of('SELECT * FROM chains(1)');
-- all but one of some equal ones
INSERT INTO chain SELECT 100 + i, bits('equal') FROM generate_series(1, 5) i;
SELECT count(*), min(size) FROM simhash_find_clusters('chain_fp', 0);
DELETE FROM chain WHERE id BETWEEN 101 AND 104;
SELECT count(*), min(size) FROM simhash_find_clusters('chain_fp', 0);
DROP TABLE chain;

--
-- Repeated fingerprints
--

-- rows of one fingerprint take no memory, whatever their number
CREATE TABLE repeated (id int, fp simhash);
INSERT INTO repeated SELECT i, bits('one') FROM generate_series(1, 100000) i;
CREATE INDEX repeated_fp ON repeated USING simhash (fp);
CREATE FUNCTION summary(distance int) RETURNS TABLE (cluster bigint, members bigint, different bigint,
	in_table bigint, min_size bigint, max_size bigint)
LANGUAGE sql AS $$
	SELECT f.cluster, count(*), count(DISTINCT f.member), count(x.id), min(f.size), max(f.size)
	FROM simhash_find_clusters('repeated_fp', distance) f LEFT JOIN repeated x ON x.ctid = f.member AND x.fp = f.fp
	GROUP BY f.cluster ORDER BY f.cluster
$$;
SET maintenance_work_mem = '1MB'; SET work_mem = '64kB';
SELECT * FROM summary(3)
UNION ALL SELECT * FROM summary(4);
-- a near one, a far one, and others that are gone
INSERT INTO repeated VALUES (-1, bits('one') # 9), (-2, bits('two'));
DELETE FROM repeated WHERE id % 10 < 9 AND id > 0;
SELECT * FROM summary(0)
UNION ALL SELECT * FROM summary(3);
DELETE FROM repeated WHERE id > 10;
SELECT * FROM rows_of($$SELECT * FROM summary(0)$$, $$SELECT * FROM summary(3)$$,
	$$SELECT * FROM simhash_find_clusters_in(ARRAY(SELECT fp FROM repeated)) ORDER BY fp$$);
DROP INDEX repeated_fp;
TRUNCATE repeated;
-- more rows than are looked up at once: 15 equal ones, then 16 of each
INSERT INTO repeated SELECT i, 0 FROM generate_series(-15, -1) i;
INSERT INTO repeated SELECT i, bits('r' || i / 16) FROM generate_series(0, 71999) i;
CREATE INDEX repeated_fp ON repeated USING simhash (fp);
SELECT members, min_size, count(*), bool_and(members = different AND members = in_table AND min_size = max_size)
FROM summary(3) GROUP BY 1, 2 ORDER BY 1;
RESET work_mem; RESET maintenance_work_mem;
SELECT members, min_size, count(*), bool_and(members = different AND members = in_table AND min_size = max_size)
FROM summary(3) GROUP BY 1, 2 ORDER BY 1;
DROP TABLE repeated;

--
-- Few rows or none
--

CREATE TABLE small (id int, fp simhash);
CREATE INDEX small_fp ON small USING simhash (fp);
SELECT count(*) FROM unnest('{0,3,4,64}'::int[]) r, simhash_find_clusters('small_fp', r);
INSERT INTO small VALUES (1, NULL), (2, NULL);
SELECT count(*) FROM unnest('{0,3,4,64}'::int[]) r, simhash_find_clusters('small_fp', r);
INSERT INTO small VALUES (3, 0);
SELECT count(*) FROM unnest('{0,3,4,64}'::int[]) r, simhash_find_clusters('small_fp', r);
INSERT INTO small VALUES (4, -1);
SELECT r, c.* FROM unnest('{0,3,4,63,64}'::int[]) r, simhash_find_clusters('small_fp', r) c ORDER BY r, member;
INSERT INTO small VALUES (5, 0), (6, 7), (7, -2);
SELECT r, c.* FROM unnest('{0,2,3,4}'::int[]) r, simhash_find_clusters('small_fp', r) c ORDER BY r, member;
-- the number of a cluster is its smallest fingerprint
SELECT id, cluster::simhash, c.fp, size FROM simhash_find_clusters('small_fp') c JOIN small ON ctid = member
ORDER BY id;

--
-- Arrays
--

-- a set of values, whatever the array's form
SELECT name, c.*
FROM (VALUES (1, '{}'::simhash[]), (2, '{NULL}'), (3, '{NULL,NULL}'), (4, '{5}'), (5, '{5,5,5}'), (6, '{5,7,5,NULL,7}'),
	  (7, '{{7,5},{NULL,16}}'), (8, '[3:4]={18446744073709551615,18446744073709551614}'),
	  (9, '[-1:0][2:3]={{0,1},{1,0}}'), (10, '{{{9}},{{8}}}'), (11, NULL)) v(name, fps)
	LEFT JOIN LATERAL simhash_find_clusters_in(fps, 2) c ON true
ORDER BY name, fp;
SELECT * FROM rows_of($$SELECT * FROM simhash_find_clusters_in(ARRAY[-1, 0, 1, -2]::bigint[], 1) ORDER BY fp$$,
	$$SELECT * FROM simhash_find_clusters_in('{0,7,15}'::simhash[]) ORDER BY fp$$,
	$$SELECT * FROM simhash_find_clusters_in('{0,7}'::simhash[], NULL, NULL) ORDER BY fp$$,
	$$SELECT * FROM simhash_find_clusters_in('{0,7}'::simhash[], 2)$$,
	$$SELECT * FROM simhash_find_clusters_in(NULL)$$, $$SELECT * FROM simhash_find_clusters_in(NULL, 3, 6)$$);
-- the examples of batch_pairs.sql, for blocks 4 to 9
SELECT blocks, cluster, array_agg(fp ORDER BY fp) FROM generate_series(4, 9) blocks, simhash_find_clusters_in(
	ARRAY(SELECT (h << shift)::simhash FROM unnest('{255,239,238,206,51}'::bigint[]) h,
		unnest('{0,8,16,24}'::int[]) shift), 3, blocks)
GROUP BY blocks, cluster ORDER BY cluster, blocks;

DROP SCHEMA batch_clusters_test CASCADE;
