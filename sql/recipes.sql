--
-- What the documentation says one can do with pairs and clusters, as it says
-- it, where the right result is known
--
\pset format unaligned
\pset footer off
SET client_min_messages = warning;
CREATE SCHEMA recipes_test;
SET search_path = recipes_test, public; SET max_parallel_workers_per_gather = 0; SET jit = off; SET timezone = 'UTC';

-- clusters, equal ones, a chain, single ones, nulls; not in the order of id,
-- and rows that have moved
CREATE TABLE docs (id bigint PRIMARY KEY, body text, fp simhash, added timestamptz) WITH (fillfactor = 50);
INSERT INTO docs
SELECT i, 'text ' || i,
	CASE WHEN i <= 180 THEN flip(bits('d' || i % 30), i / 30, 'f' || i)
		 WHEN i <= 210 THEN bits('e' || i % 10)
		 WHEN i <= 221 THEN (1::bigint << (i - 210) * 3) - 1
		 WHEN i <= 290 THEN bits('s' || i) END,
	now() - interval '1 hour' * (i * 7 % 100 + 0.5)
FROM generate_series(1, 300) i ORDER BY bits('o' || i);
CREATE INDEX docs_fp ON docs USING simhash (fp);
UPDATE docs SET body = 'edited' WHERE id % 3 = 0;
ANALYZE docs;

-- all pairs of the rows there are, and the component of each row, by brute force
CREATE VIEW truth AS
SELECT x.id AS a, y.id AS b, distance(x.fp::bigint, y.fp::bigint) AS d
FROM docs x JOIN docs y ON x.id < y.id AND distance(x.fp::bigint, y.fp::bigint) <= 3;
CREATE VIEW component AS
WITH RECURSIVE near AS MATERIALIZED (SELECT a, b FROM truth UNION ALL SELECT b, a FROM truth),
	reached(a, b) AS (SELECT id, id FROM docs WHERE fp IS NOT NULL UNION SELECT reached.a, near.b FROM reached
		JOIN near ON near.a = reached.b)
SELECT a AS id, min(b) AS oldest, min(fp::numeric) AS smallest, count(*) AS size FROM reached JOIN docs ON docs.id = b
GROUP BY a;
SELECT (SELECT count(*) FROM truth) AS pairs, count(*) AS rows, count(*) FILTER (WHERE size > 1) AS members,
	count(DISTINCT oldest) FILTER (WHERE size > 1) AS clusters, max(size) AS largest
FROM component;

-- pairs with their rows
CREATE TEMPORARY TABLE got (a bigint, b bigint, d int);
INSERT INTO got
SELECT x.id, y.id, p.distance FROM simhash_find_all('docs_fp') p JOIN docs x ON x.ctid = p.a
	JOIN docs y ON y.ctid = p.b;
CREATE VIEW difference AS
SELECT (SELECT count(*) FROM got) AS got,
	(SELECT count(*) FROM (TABLE truth EXCEPT ALL SELECT least(a, b), greatest(a, b), d FROM got) s) AS missing,
	(SELECT count(*) FROM (SELECT least(a, b), greatest(a, b), d FROM got EXCEPT ALL TABLE truth) s) AS wrong;
TABLE difference;

-- pairs that are new since yesterday
TRUNCATE got;
INSERT INTO got
SELECT new.id, old.id, new.fp <~> old.fp AS distance
FROM docs new JOIN docs old ON new.fp <~> old.fp <= 3
WHERE new.added >= now() - interval '1 day' AND (old.added, old.id) < (new.added, new.id);
WITH wanted AS MATERIALIZED (SELECT a, b, d FROM truth JOIN docs x ON x.id = a JOIN docs y ON y.id = b
	WHERE greatest(x.added, y.added) >= now() - interval '1 day')
SELECT (SELECT count(*) FROM got) AS got,
	(SELECT count(*) FROM (TABLE wanted EXCEPT ALL SELECT least(a, b), greatest(a, b), d FROM got) s) AS missing,
	(SELECT count(*) FROM (SELECT least(a, b), greatest(a, b), d FROM got EXCEPT ALL TABLE wanted) s) AS wrong,
	(SELECT count(*) FROM got JOIN docs x ON x.id = a JOIN docs y ON y.id = b WHERE x.added < y.added) AS older_first;
-- a look-up for each new row
SET enable_seqscan = off; SET enable_bitmapscan = off;
SELECT plan_of('SELECT new.id, old.id, new.fp <~> old.fp AS distance
FROM docs new JOIN docs old ON new.fp <~> old.fp <= 3
WHERE new.added >= now() - interval ''1 day'' AND (old.added, old.id) < (new.added, new.id)')
	LIKE '%Index Scan using docs_fp on docs old%' AS index;
RESET enable_seqscan; RESET enable_bitmapscan;

-- labels
CREATE TABLE labels AS
SELECT id, cluster, size FROM simhash_find_clusters('docs_fp') JOIN docs ON docs.ctid = member;
WITH wanted AS MATERIALIZED (SELECT id, oldest, size FROM component WHERE size > 1),
	named AS MATERIALIZED (SELECT id, min(id) OVER (PARTITION BY cluster), size FROM labels)
SELECT (SELECT count(*) FROM named) AS got,
	(SELECT count(*) FROM (TABLE wanted EXCEPT ALL TABLE named) s) AS missing,
	(SELECT count(*) FROM (TABLE named EXCEPT ALL TABLE wanted) s) AS wrong;

-- delete all but one of each, and show first what goes
CREATE VIEW shown AS
SELECT x.id, left(x.body, 60), y.id AS kept, left(y.body, 60) AS kept_body, d.distance
FROM simhash_find_duplicates('docs_fp', keep => 'length(body) DESC, id') d
JOIN docs x ON x.tableoid = d.duplicate_table AND x.ctid = d.duplicate
JOIN docs y ON y.tableoid = d.keeper_table AND y.ctid = d.keeper;
SELECT count(*) AS shown, count(*) FILTER (WHERE d = distance) AS near FROM shown
	LEFT JOIN truth ON a = least(shown.id, kept) AND b = greatest(shown.id, kept);
BEGIN;
CREATE TEMPORARY TABLE gone AS SELECT id FROM shown;
-- rows that move meanwhile go by their key, but not by their ctid
UPDATE docs SET added = added + interval '1 second' WHERE id IN (SELECT id FROM gone);
DELETE FROM docs USING gone WHERE docs.id = gone.id;
SELECT * FROM (SELECT count(*) AS left, count(gone.id) AS wrong FROM docs LEFT JOIN gone USING (id)) a,
	(SELECT count(*) FROM truth) b;
ROLLBACK;
-- labels: the row that stands for each
SELECT count(*), count(DISTINCT label), bool_and(label <= id) AS first FROM (
	SELECT x.id, coalesce(y.id, x.id) AS label
	FROM docs x LEFT JOIN simhash_find_duplicates('docs_fp', keep => 'id') d ON d.duplicate = x.ctid
	LEFT JOIN docs y ON y.ctid = d.keeper) s;

-- delete all but the oldest of each cluster
CREATE TEMPORARY TABLE kept AS SELECT DISTINCT oldest AS id FROM component UNION ALL SELECT id FROM docs
	WHERE fp IS NULL;
BEGIN;
DELETE FROM docs USING (
    SELECT member, row_number() OVER (PARTITION BY cluster ORDER BY id) AS place
    FROM simhash_find_clusters('docs_fp') JOIN docs ON docs.ctid = member) AS ranked
WHERE docs.ctid = ranked.member AND place > 1;
SELECT count(*) AS left, count(kept.id) AS kept, (SELECT count(*) FROM kept) AS to_be_kept FROM docs
	LEFT JOIN kept USING (id);
SELECT count(*) FROM simhash_find_all('docs_fp')
UNION ALL SELECT count(*) FROM truth;
ROLLBACK;
SELECT count(*) FROM docs;

-- the library's programs: numbers in, JSON arrays out
CREATE TEMP TABLE h (fp simhash);
COPY h FROM stdin;
18446744073709551615
18446744073709551614
0
255
239
239
51
9223372036854775808
\.
SELECT json_build_array(a::numeric, b::numeric) FROM simhash_find_all_in(ARRAY(SELECT fp FROM h), 3, 6) ORDER BY a, b;
-- the members of a cluster come in any order
SELECT ARRAY(SELECT value::text::numeric FROM json_array_elements(found) ORDER BY 1) AS cluster
FROM (SELECT json_agg(fp::numeric) FROM simhash_find_clusters_in(ARRAY(SELECT fp FROM h), 3, 6)
	GROUP BY cluster) s(found)
ORDER BY 1;

--
-- A partitioned table
--

ALTER TABLE docs RENAME TO source;
CREATE TABLE docs (id bigint, fp simhash, added timestamptz) PARTITION BY HASH (id);
CREATE TABLE docs_1 PARTITION OF docs FOR VALUES WITH (MODULUS 3, REMAINDER 0);
CREATE TABLE docs_2 PARTITION OF docs FOR VALUES WITH (MODULUS 3, REMAINDER 1);
CREATE TABLE docs_3 PARTITION OF docs FOR VALUES WITH (MODULUS 3, REMAINDER 2);
INSERT INTO docs SELECT id, fp, added FROM source;
SELECT count(DISTINCT tableoid) AS partitions, count(*) FROM docs;
-- the views are still those of the rows as they were
SELECT count(*) = (SELECT count(*) FROM source) AS same FROM docs JOIN source USING (id) WHERE docs.fp IS NOT DISTINCT
FROM source.fp;

-- clusters over all partitions, equal fingerprints included
CREATE TEMPORARY TABLE got_cluster (partition regclass, id bigint, cluster bigint);
INSERT INTO got_cluster
SELECT d.tableoid::regclass, d.id, coalesce(c.smallest, d.fp::bigint) AS cluster
FROM docs d LEFT JOIN (SELECT fp, min(fp) OVER (PARTITION BY cluster)::bigint AS smallest
	FROM simhash_find_clusters_in((SELECT array_agg(fp) FROM docs))) c USING (fp)
WHERE d.fp IS NOT NULL;
WITH wanted AS MATERIALIZED (SELECT d.tableoid::regclass, id, smallest::simhash::bigint FROM component
	JOIN docs d USING (id))
SELECT (SELECT count(*) FROM got_cluster) AS got, (SELECT count(DISTINCT cluster) FROM got_cluster) AS clusters,
	(SELECT count(*) FROM (TABLE wanted EXCEPT ALL TABLE got_cluster) s) AS missing,
	(SELECT count(*) FROM (TABLE got_cluster EXCEPT ALL TABLE wanted) s) AS wrong;

-- and pairs
TRUNCATE got;
INSERT INTO got
SELECT x.id, y.id, distance FROM simhash_find_all_in((SELECT array_agg(fp) FROM docs)) JOIN docs x ON x.fp = a
	JOIN docs y ON y.fp = b
UNION ALL SELECT x.id, y.id, 0 FROM docs x JOIN docs y ON x.fp = y.fp AND x.id < y.id;
TABLE difference;

-- the same by an index on the partitioned table
CREATE INDEX ON docs USING simhash (fp);
TRUNCATE got;
INSERT INTO got
SELECT least(x.id, y.id), greatest(x.id, y.id), distance
FROM simhash_find_all('docs_fp_idx')
JOIN docs x ON x.tableoid = a_table AND x.ctid = a JOIN docs y ON y.tableoid = b_table AND y.ctid = b;
TABLE difference;
-- one of each
DELETE FROM docs USING simhash_find_duplicates('docs_fp_idx', keep => 'added DESC, id') d
WHERE docs.tableoid = d.duplicate_table AND docs.ctid = d.duplicate;
SELECT count(*) FROM simhash_find_all('docs_fp_idx');

DROP SCHEMA recipes_test CASCADE;
