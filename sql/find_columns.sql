--
-- All pairs and clusters within equal columns: indexes of several columns
--
SET client_min_messages = warning;
CREATE SCHEMA find_columns_test;
SET search_path = find_columns_test, public;
SET max_parallel_workers_per_gather = 0;
SET jit = off;
\set SHOW_CONTEXT never
\pset null (none)

-- Compare what is found in an index with brute force over the rows that this
-- query sees: pairs for which the condition on rows a and b is true.  Says how
-- many pairs and members of clusters there are, how many are missing, and how
-- many are there that should not be.
CREATE FUNCTION compare(tab regclass, index regclass, condition text, radius int,
	OUT pairs bigint, OUT pairs_missing bigint, OUT pairs_wrong bigint,
	OUT members bigint, OUT members_missing bigint, OUT members_wrong bigint)
LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('WITH RECURSIVE
		r AS MATERIALIZED (SELECT t.ctid AS tid, fp::bigint AS h, t.* FROM %s t),
		near AS MATERIALIZED (SELECT a.tid AS a, b.tid AS b, a.h AS a_h, b.h AS b_h, distance(a.h, b.h) AS d
			FROM r a JOIN r b ON %s AND distance(a.h, b.h) <= $2 AND a.tid <> b.tid),
		reached(a, b, h) AS (SELECT a, b, b_h FROM near UNION SELECT reached.a, near.b, near.b_h FROM reached JOIN near ON near.a = reached.b),
		pair AS MATERIALIZED (SELECT a, b, a_h, b_h, d, $3::oid, $3::oid FROM near WHERE a < b),
		member AS MATERIALIZED (SELECT min(h # (-1::bigint << 63)) # (-1::bigint << 63), a, max(h) FILTER (WHERE a = b), count(*), $3::oid FROM reached GROUP BY a),
		found_pair AS MATERIALIZED (SELECT a, b, a_fp::bigint, b_fp::bigint, f.distance, a_table::oid, b_table::oid FROM simhash_find_all($1, $2) f),
		found_member AS MATERIALIZED (SELECT cluster, member, f.fp::bigint, size, member_table::oid FROM simhash_find_clusters($1, $2) f)
		SELECT (SELECT count(*) FROM found_pair),
			(SELECT count(*) FROM (TABLE pair EXCEPT ALL TABLE found_pair) s),
			(SELECT count(*) FROM (TABLE found_pair EXCEPT ALL TABLE pair) s),
			(SELECT count(*) FROM found_member),
			(SELECT count(*) FROM (TABLE member EXCEPT ALL TABLE found_member) s),
			(SELECT count(*) FROM (TABLE found_member EXCEPT ALL TABLE member) s)', tab, condition)
	INTO pairs, pairs_missing, pairs_wrong, members, members_missing, members_wrong USING index, radius, tab;
END $$;

--
-- A small one, to read
--
CREATE TABLE small (id int, tenant int, fp simhash);
INSERT INTO small VALUES
	(1, 1, 0), (2, 1, 1), (3, 2, 0), (4, 2, 3), (5, 2, 7), (6, 1, 255), (7, NULL, 0), (8, NULL, 0), (9, 3, 0), (10, 3, NULL), (11, 3, NULL), (12, 1, 0);
CREATE INDEX small_fp ON small USING simhash (tenant, fp);
SELECT x.tenant, x.id AS a, y.id AS b, a_fp, b_fp, distance FROM simhash_find_all('small_fp') JOIN small x ON x.ctid = a JOIN small y ON y.ctid = b ORDER BY 1, 2, 3;
-- clusters of different values may have the same number
SELECT tenant, cluster, id, f.fp, size FROM simhash_find_clusters('small_fp') f JOIN small ON ctid = member ORDER BY 1, 2, 3;
SELECT tenant, id, size FROM simhash_find_clusters('small_fp', 0) JOIN small ON ctid = member ORDER BY 1, 2;

--
-- One to three columns, at distances below, at and beyond that of the scheme
--

-- rows near 40 centers, random ones, and many that are equal
CREATE TABLE many (id int, tenant int, lang text, day date, fp simhash, note text) WITH (fillfactor = 60, autovacuum_enabled = off);
CREATE INDEX many_1 ON many USING simhash (tenant, fp);
CREATE INDEX many_2 ON many USING simhash (lang, tenant, fp) WITH (blocks = 5, distance = 2);
INSERT INTO many
SELECT i, CASE WHEN i % 31 > 0 THEN bits('t' || i) % 4 END, CASE WHEN i % 37 > 0 THEN (ARRAY['de', 'en', 'a language with a long name'])[1 + abs(bits('l' || i) % 3)] END,
	date '2024-01-01' + (bits('d' || i) % 2)::int,
	CASE WHEN i % 41 = 0 THEN NULL
		WHEN i <= 500 THEN flip(bits('c' || i / 15), i % 5, 'f' || i)
		WHEN i <= 700 THEN bits('r' || i)
		WHEN i <= 800 THEN 5
		ELSE 5 # (1::bigint << (i % 8) * 8) END, 'new'
FROM generate_series(1, 860) i;
CREATE INDEX many_3 ON many USING simhash (day, lang, tenant, fp) WITH (blocks = 2, distance = 1);
CREATE VIEW many_now AS
SELECT index, r AS radius, c.* FROM (VALUES ('many_1'::regclass, 'a.tenant = b.tenant'), ('many_2', 'a.tenant = b.tenant AND a.lang = b.lang'),
	('many_3', 'a.tenant = b.tenant AND a.lang = b.lang AND a.day = b.day')) i (index, condition), unnest('{0,1,2,3,5,64}'::int[]) r,
	compare('many', index, condition, r) c ORDER BY index::text, r;
TABLE many_now;

-- rows that are deleted, updated, moved to other columns, and not committed
DELETE FROM many WHERE id % 7 = 0;
UPDATE many SET note = 'updated' WHERE id % 7 = 1;
UPDATE many SET tenant = (tenant + 1) % 4 WHERE id % 7 = 2;
UPDATE many SET fp = 4 WHERE id % 7 = 3;
BEGIN;
INSERT INTO many SELECT i, i % 4, 'en', date '2024-01-01', 5, 'aborted' FROM generate_series(901, 950) i;
UPDATE many SET lang = 'de' WHERE id % 7 = 4;
TABLE many_now;
ROLLBACK;
TABLE many_now;
VACUUM many;
SELECT * FROM many_now WHERE radius IN (1, 5);
REINDEX TABLE many;
SELECT * FROM many_now WHERE radius IN (1, 5);
