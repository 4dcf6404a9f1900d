--
-- All pairs and clusters: of which rows
--
\pset format unaligned
\pset footer off
CREATE SCHEMA batch_visibility_test;
SET search_path = batch_visibility_test, public; SET max_parallel_workers_per_gather = 0; SET client_min_messages = warning;
\set SHOW_CONTEXT never
\pset null (none)

--
-- Rows that come, change and go
--

CREATE TABLE life (id int, fp simhash, note text, part int) WITH (fillfactor = 30, autovacuum_enabled = off);
CREATE INDEX life_part ON life (part);
CREATE INDEX life_fp ON life USING simhash (fp);
CREATE VIEW life_now AS SELECT * FROM compare_batches('life', 'life_fp', '{0,2,3,5}');
TABLE life_now;
-- clusters of six, with equal ones, a chain, nulls
INSERT INTO life
SELECT i, CASE WHEN i <= 60 THEN flip(bits('c' || i / 6), i % 6 / 2, 'f' || i)
			   WHEN i <= 80 THEN (1::bigint << (i - 60) * 3) - 1
			   WHEN i <= 100 THEN bits('r' || i) END, 'new', i % 10
FROM generate_series(1, 105) i;
TABLE life_now;
-- the row that an index entry leads to has moved within its page
BEGIN;
SELECT pg_stat_get_xact_tuples_hot_updated('life'::regclass) AS before \gset
UPDATE life SET note = 'once' WHERE id % 2 = 0;
UPDATE life SET note = 'twice' WHERE id % 4 = 0;
SELECT pg_stat_get_xact_tuples_hot_updated('life'::regclass) - :before AS hot;
TABLE life_now;
COMMIT;
TABLE life_now;
-- and to another place when the old ones were pruned
VACUUM life;
TABLE life_now;
UPDATE life SET note = 'again' WHERE id % 3 = 0;
VACUUM life;
TABLE life_now;
-- it has got another index entry
BEGIN;
SELECT pg_stat_get_xact_tuples_hot_updated('life'::regclass) AS before \gset
UPDATE life SET part = part + 1 WHERE id % 2 = 1;
SELECT pg_stat_get_xact_tuples_hot_updated('life'::regclass) - :before AS hot;
TABLE life_now;
COMMIT;
TABLE life_now;
-- another fingerprint, none, one at last
UPDATE life SET fp = fp::bigint # 1 WHERE id % 5 = 0;
UPDATE life SET fp = NULL WHERE id % 7 = 0;
UPDATE life SET fp = bits('c' || id) WHERE fp IS NULL;
TABLE life_now;
-- a deleted row connects nothing
DELETE FROM life WHERE id % 6 = 1 OR id = 70;
TABLE life_now;
VACUUM life;
TABLE life_now;
-- and others are in its place
INSERT INTO life SELECT i, flip(bits('n' || i / 3), i % 3, 'f' || i), 'filled', 0 FROM generate_series(200, 240) i;
TABLE life_now;
-- rows of a transaction that is not done, of a part of it, and of none
BEGIN;
INSERT INTO life SELECT 1000 + id, fp, 'own', part FROM life WHERE id < 20;
DELETE FROM life WHERE id BETWEEN 10 AND 30;
TABLE life_now;
SAVEPOINT s;
INSERT INTO life SELECT 2000 + id, fp::bigint # 2, 'part', part FROM life WHERE id < 40;
UPDATE life SET note = 'part' WHERE id BETWEEN 40 AND 50;
DELETE FROM life WHERE id > 50 AND id % 2 = 0;
TABLE life_now;
ROLLBACK TO s;
TABLE life_now;
ROLLBACK;
TABLE life_now;
TRUNCATE life;
TABLE life_now;
BEGIN;
INSERT INTO life VALUES (1, 0), (2, 1);
SELECT a, b, distance FROM simhash_find_all('life_fp');
ROLLBACK;
TABLE life_now;
DROP TABLE life CASCADE;

-- two clusters that a row connects
CREATE TABLE bridge (id int, fp simhash);
CREATE INDEX bridge_fp ON bridge USING simhash (fp);
CREATE VIEW bridge_clusters AS
SELECT cluster, array_agg(id ORDER BY id) AS ids, size FROM simhash_find_clusters('bridge_fp')
	JOIN bridge ON ctid = member GROUP BY cluster, size ORDER BY cluster;
INSERT INTO bridge VALUES (1, '0x00'), (2, '0x01'), (3, '0x0f'), (4, '0x7f'), (5, '0xff');
TABLE bridge_clusters;
BEGIN;
DELETE FROM bridge WHERE id = 3;
TABLE bridge_clusters;
ROLLBACK;
TABLE bridge_clusters;
UPDATE bridge SET fp = '0xf0000000' WHERE id = 3;
TABLE bridge_clusters;
UPDATE bridge SET fp = '0x0f' WHERE id = 3;
UPDATE bridge SET id = 30 WHERE id = 3;
TABLE bridge_clusters;
-- of two equal ones either connects
INSERT INTO bridge VALUES (31, '0x0f');
DELETE FROM bridge WHERE id = 30;
TABLE bridge_clusters;
DELETE FROM bridge WHERE id = 31;
TABLE bridge_clusters;
VACUUM bridge;
TABLE bridge_clusters;

-- a statement sees what was there when it began
WITH gone AS (DELETE FROM bridge RETURNING id) SELECT (SELECT count(*) FROM gone) AS gone, count(*)
FROM simhash_find_all('bridge_fp');
SELECT count(*) FROM simhash_find_all('bridge_fp');
INSERT INTO bridge VALUES (1, '0x00'), (2, '0x01'), (3, '0x10000000');
WITH new AS (INSERT INTO bridge SELECT 10 + row_number() OVER (), a_fp FROM simhash_find_all('bridge_fp') RETURNING id)
SELECT (SELECT count(*) FROM new) AS new, count(*) FROM simhash_find_all('bridge_fp');
SELECT count(*) FROM simhash_find_all('bridge_fp');
DELETE FROM bridge WHERE ctid IN (SELECT b FROM simhash_find_all('bridge_fp'));
SELECT id FROM bridge ORDER BY id;

-- a cursor what was there when it was declared, though it begins to search
-- only when it is read
BEGIN;
INSERT INTO bridge VALUES (4, '0x03');
DECLARE pairs CURSOR FOR SELECT x.id, y.id, distance FROM simhash_find_all('bridge_fp') JOIN bridge x ON x.ctid = a
	JOIN bridge y ON y.ctid = b ORDER BY 1, 2;
DECLARE members SCROLL CURSOR FOR SELECT cluster, id, size FROM simhash_find_clusters('bridge_fp')
	JOIN bridge ON ctid = member ORDER BY id;
DECLARE held CURSOR WITH HOLD FOR SELECT cluster, id, size FROM simhash_find_clusters('bridge_fp')
	JOIN bridge ON ctid = member ORDER BY id;
DECLARE partly CURSOR FOR SELECT a_fp, b_fp FROM simhash_find_all('bridge_fp'::regclass) ORDER BY a;
UPDATE bridge SET fp = '0x10000001' WHERE id = 4;
DELETE FROM bridge WHERE id = 1;
INSERT INTO bridge VALUES (5, '0x02'), (6, '0x02');
FETCH ALL FROM pairs;
FETCH 1 FROM members;
FETCH ALL FROM members;
FETCH FIRST FROM members;
FETCH 1 FROM partly;
SELECT x.id, y.id, distance FROM simhash_find_all('bridge_fp') JOIN bridge x ON x.ctid = a JOIN bridge y ON y.ctid = b
ORDER BY least(x.id, y.id), greatest(x.id, y.id);
COMMIT;
DELETE FROM bridge;
FETCH ALL FROM held;
CLOSE held;

-- a snapshot that is kept
INSERT INTO bridge VALUES (1, 0), (2, 1);
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT count(*) FROM simhash_find_all('bridge_fp');
INSERT INTO bridge VALUES (3, 3);
SELECT * FROM rows_of($$SELECT count(*) FROM simhash_find_all('bridge_fp')$$,
	$$SELECT cluster, size FROM simhash_find_clusters('bridge_fp')$$);
DELETE FROM bridge WHERE id = 2;
SELECT count(*) FROM simhash_find_all('bridge_fp', 1)
UNION ALL SELECT count(*) FROM simhash_find_all('bridge_fp', 2);
COMMIT;
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT count(*) FROM simhash_find_all('bridge_fp', 2)
UNION ALL SELECT count(*) FROM simhash_find_clusters('bridge_fp', 2);
COMMIT;
DROP TABLE bridge CASCADE;

--
-- Kinds of indexes and tables
--

CREATE TABLE kinds (id int, fp simhash, h bigint, b bit(64)) WITH (autovacuum_enabled = off);
INSERT INTO kinds SELECT i, h, h, h::bit(64)
FROM (SELECT i, CASE WHEN i <= 180 THEN flip(bits('k' || i / 6), i % 6, 'f' || i) WHEN i <= 190 THEN i - 185 END AS h
	FROM generate_series(1, 200) i) s;
CREATE INDEX kinds_partial ON kinds USING simhash (fp) WHERE id % 3 > 0;
CREATE INDEX kinds_bigint ON kinds USING simhash (h) WITH (blocks = 2, distance = 1);
CREATE INDEX kinds_bit ON kinds USING simhash ((b::simhash));
CREATE INDEX kinds_expression ON kinds USING simhash ((CASE WHEN id % 5 > 0 THEN h # id END)) WHERE h IS NOT NULL;
CREATE VIEW kinds_now AS
SELECT index, c.* FROM (VALUES (1, 'kinds_partial', 'fp', 'id % 3 > 0'),
	(2, 'kinds_bigint', 'h', 'true'),
		(3, 'kinds_bit', 'b', 'true'), (4, 'kinds_expression', 'CASE WHEN id % 5 > 0 THEN h # id END', 'true')) v(no,
		index, fp, condition),
	compare_batches('kinds', index::regclass, '{0,1,3,6}', fp => fp, rows => condition) c ORDER BY no;
TABLE kinds_now;
-- rows begin and cease to meet the predicate
UPDATE kinds SET id = id + 1 WHERE id % 4 = 0;
DELETE FROM kinds WHERE id % 7 = 0;
INSERT INTO kinds SELECT id + 1000, fp::bigint # 1, h # 4, b # b'1'::bit(64) FROM kinds WHERE id % 8 = 1;
TABLE kinds_now;
VACUUM kinds;
TABLE kinds_now;
DROP TABLE kinds CASCADE;

-- temporary, unlogged, a partition, a materialized view
CREATE TEMPORARY TABLE made (id int, fp simhash) ON COMMIT DELETE ROWS;
CREATE INDEX made_fp ON made USING simhash (fp);
BEGIN;
INSERT INTO made SELECT i, flip(bits('m' || i / 4), i % 4, 'f' || i) FROM generate_series(1, 80) i;
SELECT * FROM compare_batch('made', 'made_fp', 3);
COMMIT;
SELECT * FROM compare_batch('made', 'made_fp', 3);
DROP TABLE made;
CREATE UNLOGGED TABLE made (id int, fp simhash);
CREATE INDEX made_fp ON made USING simhash (fp);
INSERT INTO made SELECT i, flip(bits('m' || i / 4), i % 4, 'f' || i) FROM generate_series(1, 80) i;
SELECT * FROM compare_batch('made', 'made_fp', 3);
CREATE MATERIALIZED VIEW view_of_made AS SELECT id, fp FROM made WHERE id > 10 WITH NO DATA;
CREATE INDEX view_fp ON view_of_made USING simhash (fp);
REFRESH MATERIALIZED VIEW view_of_made;
SELECT * FROM compare_batch('view_of_made', 'view_fp', 4);
CREATE TABLE parted (id int, fp simhash) PARTITION BY RANGE (id);
CREATE TABLE part_1 PARTITION OF parted FOR VALUES FROM (0) TO (40);
CREATE TABLE part_2 (fp simhash, id int);
ALTER TABLE parted ATTACH PARTITION part_2 FOR VALUES FROM (40) TO (100);
CREATE INDEX parted_fp ON parted USING simhash (fp);
INSERT INTO parted SELECT * FROM made;
SELECT relid, c.* FROM pg_partition_tree('parted_fp') t JOIN pg_index i ON i.indexrelid = t.relid,
	compare_batch(i.indrelid, t.relid, 3) c WHERE isleaf ORDER BY relid::text;
DROP TABLE parted, made CASCADE;

-- a column was dropped, another added
CREATE TABLE altered (gone text, id int, fp simhash);
INSERT INTO altered SELECT 'x', i, flip(bits('a' || i / 4), i % 4, 'f' || i) FROM generate_series(1, 40) i;
CREATE INDEX altered_fp ON altered USING simhash (fp);
ALTER TABLE altered DROP COLUMN gone, ADD COLUMN more int DEFAULT 7;
SELECT * FROM compare_batch('altered', 'altered_fp', 3);
DROP TABLE altered;

--
-- An index that has grown, and shrunk
--

CREATE TABLE grown (id int, fp simhash) WITH (autovacuum_enabled = off);
CREATE INDEX grown_fp ON grown USING simhash (fp);
-- the reference: pairs within 3 bits agree in one of four blocks
CREATE FUNCTION compare_grown(OUT pairs bigint, OUT missing bigint, OUT wrong bigint, OUT repeated_fps bigint,
	OUT members bigint, OUT clusters_differ bigint)
LANGUAGE sql AS $$
	WITH block AS MATERIALIZED (SELECT ctid AS tid, fp::bigint AS h, n, (fp::bigint >> n * 16) & 65535 AS bits
		FROM grown, generate_series(0, 3) n),
		wanted AS MATERIALIZED (SELECT DISTINCT a.tid AS a, b.tid AS b, distance(a.h, b.h) AS d
			FROM block a JOIN block b USING (n, bits) WHERE a.tid < b.tid AND distance(a.h, b.h) <= 3),
		found AS MATERIALIZED (SELECT a, b, distance FROM simhash_find_all('grown_fp')),
		member AS MATERIALIZED (SELECT cluster, member FROM simhash_find_clusters('grown_fp'))
	SELECT (SELECT count(*) FROM found), (SELECT count(*) FROM (TABLE wanted EXCEPT ALL TABLE found) s),
		(SELECT count(*) FROM (TABLE found EXCEPT ALL TABLE wanted) s),
		(SELECT count(*) FROM wanted WHERE d = 0),
		(SELECT count(*) FROM member),
		-- members are those that have a pair, and both of a pair are in one cluster
		(SELECT count(*) FROM (SELECT a FROM wanted UNION SELECT b FROM wanted) w FULL JOIN member m ON m.member = w.a
			WHERE w.a IS NULL OR m.member IS NULL)
		+ (SELECT count(*) FROM wanted JOIN member x ON x.member = a JOIN member y ON y.member = b
			WHERE x.cluster <> y.cluster)
$$;
INSERT INTO grown SELECT i, bits('g' || i / 3) # CASE WHEN i % 3 > 0 THEN 3::bigint << i % 60 ELSE 0 END
FROM generate_series(1, 12000) i;
SELECT * FROM compare_grown();
DELETE FROM grown WHERE id % 5 < 2;
SELECT * FROM compare_grown();
VACUUM grown;
SELECT * FROM compare_grown();
INSERT INTO grown SELECT i, bits('g' || i / 4) FROM generate_series(10000, 15000) i ORDER BY bits('o' || i);
SELECT * FROM compare_grown();
DELETE FROM grown WHERE id % 40 > 5;
VACUUM grown;
SELECT * FROM compare_grown();
INSERT INTO grown SELECT i, bits('g' || i / 2) FROM generate_series(1, 1000) i;
SELECT * FROM compare_grown();
REINDEX INDEX grown_fp;
SELECT * FROM compare_grown();

DROP SCHEMA batch_visibility_test CASCADE;
