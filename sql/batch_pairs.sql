--
-- All pairs: the same ones as by brute force
--
\pset format unaligned
\pset footer off
CREATE SCHEMA batch_pairs_test;
SET search_path = batch_pairs_test, public; SET max_parallel_workers_per_gather = 0; SET client_min_messages = warning;
\set SHOW_CONTEXT never
\pset null (none)

-- pairs of rows that must be found
CREATE TABLE near (a int, b int, d int);

-- Compare what an index finds with near: null if they agree.  The pairs must
-- be sorted, those of existing rows, and with the fingerprints and the
-- distance of these.
CREATE FUNCTION wrong(tab regclass, index regclass, radius int, fp text DEFAULT 'fp::bigint') RETURNS text
LANGUAGE sql AS $$
	SELECT format('%s, distance %s: ', index, radius) || difference(
		format('SELECT least(x.id, y.id), greatest(x.id, y.id), f.distance,
				(f.a < f.b AND f.a_fp::bigint = x.h AND f.b_fp::bigint = y.h) IS TRUE
			FROM simhash_find_all(%L, %s) f
				LEFT JOIN (SELECT ctid, id, %s AS h FROM %s) x ON x.ctid = f.a
				LEFT JOIN (SELECT ctid, id, %3$s AS h FROM %4$s) y ON y.ctid = f.b', index, radius, fp, tab),
		format('SELECT a, b, d, true FROM near WHERE d <= %s', radius))
$$;

-- The same for the array form, with the different values of a table.
CREATE FUNCTION wrong_values(tab regclass, radius int, blocks int DEFAULT NULL) RETURNS text LANGUAGE sql AS $$
	SELECT format('%s, distance %s, %s blocks: ', tab, radius, blocks) || difference(
		format('SELECT a, b, distance, a < b FROM simhash_find_all_in(ARRAY(SELECT fp FROM %s), %s, %L)',
			tab, radius, blocks),
		format('SELECT DISTINCT least(x.fp, y.fp), greatest(x.fp, y.fp), d, true
			FROM near JOIN %1$s x ON x.id = a JOIN %1$s y ON y.id = b WHERE d BETWEEN 1 AND %s', tab, radius))
$$;

--
-- Many kinds at once, small distances
--

CREATE TABLE mixed AS SELECT * FROM mixed_rows();
CALL expect_pairs('mixed', 10);
-- the reference itself: what it finds must not be nothing
SELECT d, count(*) > 20 AS finds FROM near GROUP BY d ORDER BY d;
SELECT * FROM compare_schemes('mixed', '{0,1,2,3,4,6}');
CREATE INDEX mixed_fp ON mixed USING simhash (fp);
SELECT count(*), string_agg(wrong('mixed', 'mixed_fp', r), '; ') FROM unnest('{5,7,10}'::int[]) r;
-- the distance of the index where none is given
SELECT count(*), max(distance) FROM simhash_find_all('mixed_fp')
UNION ALL SELECT count(*), max(distance) FROM simhash_find_all('mixed_fp', NULL)
UNION ALL SELECT count(*), max(d) FROM near WHERE d <= 3;
DROP INDEX mixed_fp;

--
-- Any distance, fewer rows
--

CREATE TABLE wide AS SELECT * FROM wide_rows();
CALL expect_pairs('wide', 64);
SELECT count(*), count(DISTINCT d), min(d), max(d) FROM near;
SELECT * FROM compare_schemes('wide', '{0,1,2,3,4,5,6,7,8,9,10,11,12,15,16,20,32,63,64}');

--
-- Large groups with a prefix in common
--

CREATE TABLE common AS SELECT * FROM common_rows();
CALL expect_pairs_by_blocks('common', 48, 6);
SELECT * FROM rows_of($$SELECT count(DISTINCT fp) > 4096 AS many FROM common$$,
	$$SELECT d, count(*) > 20 AS finds FROM near GROUP BY d ORDER BY d$$);
CREATE INDEX common_fp ON common USING simhash (fp);
SELECT count(*), string_agg(wrong('common', 'common_fp', r), '; ') FROM generate_series(0, 5) r;
DROP INDEX common_fp;
CREATE INDEX common_fp ON common USING simhash (fp) WITH (blocks = 2, distance = 1);
SELECT count(*), string_agg(wrong('common', 'common_fp', r), '; ') FROM generate_series(0, 5) r
UNION ALL SELECT count(*), string_agg(wrong_values('common', r), '; ') FROM generate_series(0, 5) r;
-- few enough to be one group however far apart they may be
DELETE FROM common WHERE id > 3000;
DELETE FROM near WHERE b > 3000;
SELECT count(*), string_agg(wrong('common', 'common_fp', r), '; ') FROM generate_series(0, 5) r;
SELECT count(*), string_agg(wrong_values('common', r), '; ') FROM generate_series(0, 5) r;

-- Parts of the fingerprints that tell few of them apart: numbers, and some
-- fingerprints that vary in all bits; the same in the uppermost bits
CREATE TABLE uneven (id int PRIMARY KEY, fp simhash);
INSERT INTO uneven
SELECT i, CASE WHEN i < 500 THEN i WHEN i < 560 THEN bits('n' || i / 3) # (1::bigint << i % 60) ELSE i - 60 END
FROM generate_series(0, 620) i;
CALL expect_pairs('uneven', 3);
SELECT count(*), string_agg(wrong_values('uneven', r), '; ') FROM unnest('{0,2,3}'::int[]) r;
UPDATE uneven SET fp = (fp::bigint << 54) | (fp::bigint >> 10 & ((1::bigint << 54) - 1));
SELECT count(*), string_agg(wrong_values('uneven', r), '; ') FROM unnest('{1,3}'::int[]) r;
CREATE INDEX uneven_fp ON uneven USING simhash (fp);
SELECT count(*), string_agg(wrong('uneven', 'uneven_fp', r), '; ') FROM unnest('{1,3}'::int[]) r;

-- All combinations of a few bits, and small numbers.  How many pairs there are
-- is known, and so it is enough that there are as many different ones and each
-- is right.
CREATE TABLE few_bits (id int PRIMARY KEY, fp simhash);
CREATE FUNCTION wrong_few_bits(index regclass, radius int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	got record;
BEGIN
	WITH mask AS (SELECT m FROM generate_series(1, 8191) m WHERE bit_count(m::bit(13)) <= radius)
	SELECT count(*) AS wanted INTO got FROM few_bits a JOIN mask ON true JOIN few_bits b ON b.id = a.id # m
	WHERE a.id < b.id;
	IF index IS NULL THEN
		WITH found AS MATERIALIZED (SELECT * FROM simhash_find_all_in(ARRAY(SELECT fp FROM few_bits), radius)),
			pair AS MATERIALIZED (SELECT x.id AS a, y.id AS b, f.a < f.b
				AND distance = bit_count((x.id # y.id)::bit(13))
					AND distance <= radius AS sound
				FROM found f LEFT JOIN few_bits x ON x.fp = f.a LEFT JOIN few_bits y ON y.fp = f.b)
		SELECT got.wanted, count(*) AS n, count(*) FILTER (WHERE sound) AS sound,
			(SELECT count(*) FROM (SELECT DISTINCT a, b FROM pair) s) AS different INTO got FROM pair;
	ELSE
		WITH found AS MATERIALIZED (SELECT * FROM simhash_find_all(index, radius)),
			pair AS MATERIALIZED (SELECT x.id AS a, y.id AS b, f.a < f.b AND x.fp = a_fp AND y.fp = b_fp
					AND distance = bit_count((x.id # y.id)::bit(13)) AND distance <= radius AS sound
				FROM found f LEFT JOIN few_bits x ON x.ctid = f.a LEFT JOIN few_bits y ON y.ctid = f.b)
		SELECT got.wanted, count(*) AS n, count(*) FILTER (WHERE sound) AS sound,
			(SELECT count(*) FROM (SELECT DISTINCT a, b FROM pair) s) AS different INTO got FROM pair;
	END IF;
	IF got.n <> got.wanted OR got.n <> got.sound OR got.n <> got.different OR radius > 0 AND got.n < 5000 THEN
		RETURN format('distance %s: %s', radius, got);
	END IF;
	RETURN NULL;
END $$;
-- the bits of a number, so far apart from one another, from the first one on
CREATE FUNCTION spread(n int, step int, first int) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
	SELECT sum((n >> i & 1) * (1::bigint << i * step))::bigint << first FROM generate_series(0, 12) i
$$;

-- 2048 in one block
INSERT INTO few_bits SELECT n, spread(n, 1, 2) FROM generate_series(0, 2047) n;
CREATE INDEX few_bits_fp ON few_bits USING simhash (fp);
SELECT count(*), string_agg(wrong_few_bits(index, r), '; ') FROM unnest('{0,1,2}'::int[]) r,
	unnest('{few_bits_fp,NULL}'::regclass[]) index;
TRUNCATE few_bits;
-- in all blocks
INSERT INTO few_bits SELECT n, spread(n, 5, 0) FROM generate_series(0, 2047) n;
SELECT count(*), string_agg(wrong_few_bits(index, r), '; ') FROM unnest('{1,2}'::int[]) r,
	unnest('{few_bits_fp,NULL}'::regclass[]) index;
TRUNCATE few_bits;
-- 1024 in one block
INSERT INTO few_bits SELECT n, spread(n, 1, 50) FROM generate_series(0, 1023) n;
SELECT count(*), string_agg(wrong_few_bits(index, r), '; ') FROM unnest('{1,3}'::int[]) r,
	unnest('{few_bits_fp,NULL}'::regclass[]) index;
TRUNCATE few_bits;
-- 0 to 5000
INSERT INTO few_bits SELECT n, n FROM generate_series(0, 5000) n;
SELECT count(*), string_agg(wrong_few_bits(index, r), '; ') FROM unnest('{0,1}'::int[]) r,
	unnest('{few_bits_fp,NULL}'::regclass[]) index;
DROP INDEX few_bits_fp;
CREATE INDEX few_bits_fp ON few_bits USING simhash (fp) WITH (blocks = 2, distance = 1);
SELECT count(*), string_agg(wrong_few_bits('few_bits_fp', r), '; ') FROM unnest('{1}'::int[]) r;
DROP TABLE few_bits;

--
-- Repeated fingerprints
--

-- 400 of one, 200 of a near one, 2 of a far one: all pairs are known again
CREATE TABLE repeated (id int PRIMARY KEY, fp simhash);
INSERT INTO repeated
SELECT i, CASE WHEN i <= 400 THEN bits('one') WHEN i <= 600 THEN bits('one') # 1024 ELSE bits('two') END
FROM generate_series(1, 602) i ORDER BY i % 7, i;
CREATE INDEX repeated_fp ON repeated USING simhash (fp);
CREATE FUNCTION repeated_pairs(radius int) RETURNS TABLE (distance int, pairs bigint, different bigint, sound boolean)
LANGUAGE sql AS $$
	WITH found AS MATERIALIZED (SELECT * FROM simhash_find_all('repeated_fp', radius))
	SELECT distance, count(*), (SELECT count(*) FROM (SELECT DISTINCT d.a, d.b FROM found d
		WHERE d.distance = f.distance) s),
		bool_and((f.a < f.b AND x.fp = a_fp AND y.fp = b_fp AND f.distance = distance(x.fp::bigint,
			y.fp::bigint)) IS TRUE)
	FROM found f LEFT JOIN repeated x ON x.ctid = f.a LEFT JOIN repeated y ON y.ctid = f.b
	GROUP BY distance ORDER BY distance
$$;
SELECT * FROM (SELECT 400 * 399 / 2 + 200 * 199 / 2 + 1 AS equal, 400 * 200 AS near) a,
	(SELECT * FROM repeated_pairs(0)) b;
SELECT * FROM repeated_pairs(3);
SET work_mem = '64kB';
SELECT * FROM repeated_pairs(4);
RESET work_mem;
SELECT * FROM simhash_find_all_in(ARRAY(SELECT fp FROM repeated), 64) ORDER BY distance;
DROP TABLE repeated;

-- More rows than are looked up at once, with little memory: 3 equal ones, then
-- 2 of each
CREATE TABLE twins (id int, fp simhash);
INSERT INTO twins SELECT i, 0 FROM generate_series(-3, -1) i;
INSERT INTO twins SELECT i, bits('t' || i / 2) FROM generate_series(0, 69999) i;
CREATE INDEX twins_fp ON twins USING simhash (fp);
CREATE FUNCTION twins_found(OUT pairs bigint, OUT missing bigint, OUT wrong bigint) LANGUAGE sql AS $$
	SELECT * FROM compare_rows('SELECT a, b, a_fp FROM simhash_find_all(''twins_fp'', 0)',
		'SELECT a.ctid, b.ctid, a.fp FROM twins a JOIN twins b ON a.fp = b.fp AND a.ctid < b.ctid')
$$;
SELECT * FROM twins_found();
SET maintenance_work_mem = '1MB';
SELECT * FROM twins_found();
RESET maintenance_work_mem;
DROP TABLE twins;

--
-- Few rows or none
--

CREATE TABLE small (id int, fp simhash);
CREATE INDEX small_fp ON small USING simhash (fp);
SELECT count(*) FROM unnest('{0,3,4,64}'::int[]) r, simhash_find_all('small_fp', r);
INSERT INTO small VALUES (1, NULL), (2, NULL);
SELECT count(*) FROM unnest('{0,3,4,64}'::int[]) r, simhash_find_all('small_fp', r);
INSERT INTO small VALUES (3, 0);
SELECT count(*) FROM unnest('{0,3,4,64}'::int[]) r, simhash_find_all('small_fp', r);
INSERT INTO small VALUES (4, -1);
SELECT r, p.* FROM unnest('{0,3,4,63,64}'::int[]) r, simhash_find_all('small_fp', r) p;
INSERT INTO small VALUES (5, 0), (6, 7);
SELECT r, p.* FROM unnest('{0,2,3,4}'::int[]) r, simhash_find_all('small_fp', r) p ORDER BY r, a, b;

--
-- Arrays
--

-- a set of values, whatever the array's form
SELECT name, p.*
FROM (VALUES (1, '{}'::simhash[]), (2, '{NULL}'), (3, '{NULL,NULL}'), (4, '{5}'), (5, '{5,5,5}'), (6, '{5,7,5,NULL,7}'),
	  (7, '{{7,5},{NULL,6}}'), (8, '[3:4]={18446744073709551615,18446744073709551614}'),
	  (9, '[-1:0][2:3]={{0,1},{1,0}}'), (10, '{{{9}},{{8}}}'), (11, NULL)) v(name, fps)
	LEFT JOIN LATERAL simhash_find_all_in(fps) p ON true
ORDER BY name, a, b;
-- unsigned
SELECT * FROM simhash_find_all_in(ARRAY[-1, 0, 1, -2]::bigint[], 64) ORDER BY a, b;
SELECT * FROM simhash_find_all_in('{0,15}'::simhash[], 4);
SELECT * FROM simhash_find_all_in('{0,15}'::simhash[]);
SELECT * FROM simhash_find_all_in('{0,7}'::simhash[], NULL)
UNION ALL SELECT * FROM simhash_find_all_in('{0,7}'::simhash[], NULL, NULL);
SELECT * FROM rows_of($$SELECT * FROM simhash_find_all_in(NULL)$$,
	$$SELECT * FROM simhash_find_all_in(NULL, 3, 6, 1)$$,
	$$SELECT * FROM simhash_find_all_in('{0,1}'::simhash[], 0)$$);
SELECT count(*), count(DISTINCT (a, b)), bool_and(a < b)
FROM simhash_find_all_in(ARRAY(SELECT i::simhash FROM generate_series(0, 255) i), 16);

--
-- The find-all examples of simhash-py, for blocks 4 to 9
--

CREATE TABLE vector AS SELECT * FROM library_examples();
CREATE TABLE vector_pair (example text, a simhash, b simhash, PRIMARY KEY (example, a, b));
INSERT INTO vector_pair SELECT * FROM library_pairs();

CREATE FUNCTION check_vectors(blocks int, OUT example text, OUT pairs bigint, OUT missing bigint, OUT wrong bigint,
	OUT of_values bigint, OUT missing_of_values bigint, OUT wrong_of_values bigint)
RETURNS SETOF record LANGUAGE plpgsql AS $$
BEGIN
	FOREACH example IN ARRAY '{basic,diverse}'::text[] LOOP
		EXECUTE format('CREATE INDEX vector_fp ON vector USING simhash (fp) WITH (blocks = %s, distance = 3)
			WHERE example = %L', blocks, example);
		WITH wanted AS (SELECT a, b FROM vector_pair v WHERE v.example = $2),
			found AS (SELECT least(a_fp, b_fp) AS a, greatest(a_fp, b_fp) AS b FROM simhash_find_all('vector_fp')),
			of_value AS (SELECT a, b FROM simhash_find_all_in(ARRAY(SELECT fp FROM vector v WHERE v.example = $2), 3,
				blocks))
		SELECT (SELECT count(*) FROM found), (SELECT count(*) FROM (TABLE wanted EXCEPT ALL TABLE found) s),
			(SELECT count(*) FROM (TABLE found EXCEPT ALL TABLE wanted) s),
			(SELECT count(*) FROM of_value), (SELECT count(*) FROM (TABLE wanted EXCEPT ALL TABLE of_value) s),
			(SELECT count(*) FROM (TABLE of_value EXCEPT ALL TABLE wanted) s)
		INTO pairs, missing, wrong, of_values, missing_of_values, wrong_of_values;
		RETURN NEXT;
		DROP INDEX vector_fp;
	END LOOP;
END $$;
SELECT blocks, v.* FROM generate_series(4, 9) blocks, check_vectors(blocks) v;

DROP SCHEMA batch_pairs_test CASCADE;
