--
-- The format on disk, byte for byte where it matters: what the functions of
-- test/pages.sql read from the pages of an index.
--
\pset format unaligned
\pset footer off
CREATE SCHEMA inspect_pages_test;
SET search_path = inspect_pages_test, public; SET client_min_messages = warning;

CREATE TABLE docs (tenant int, fp simhash);
INSERT INTO docs SELECT i % 3, bits('p' || i) FROM generate_series(1, 1500) i;
INSERT INTO docs VALUES (1, NULL);
CREATE INDEX docs_fp ON docs USING simhash (fp);
CREATE INDEX docs_tenant_fp ON docs USING simhash (tenant, fp) WITH (blocks = 2, distance = 1);

-- the metapage, and where the roots are
SELECT page_type, entries, version, columns, blocks, distance FROM page_info('docs_fp', 0)
UNION ALL SELECT page_type, entries, version, columns, blocks, distance FROM page_info('docs_tenant_fp', 0);
SELECT count(*), count(child), bool_and(r.is_root) AS all_roots
FROM page_items('docs_fp', 0) m, page_info('docs_fp', m.child) r;

CREATE VIEW one_pages AS
SELECT b AS block, i.* FROM generate_series(1, pg_relation_size('docs_fp') / 8192 - 1) b,
	page_info('docs_fp', b) i;
CREATE VIEW two_pages AS
SELECT b AS block, i.* FROM generate_series(1, pg_relation_size('docs_tenant_fp') / 8192 - 1) b,
	page_info('docs_tenant_fp', b) i;

-- what a build fills: 90 percent of 574 entries of a leaf, of 447 with groups
SELECT table_no, page_type, level, count(*), max(entries), sum(entries), sum(sorted) AS sorted, sum(dead) AS dead
FROM one_pages GROUP BY 1, 2, 3 ORDER BY 1, 3;
SELECT table_no, page_type, level, max(entries), sum(entries), sum(sorted) AS sorted, sum(dead) AS dead
FROM two_pages GROUP BY 1, 2, 3 ORDER BY 1, 3;

-- fences: where a page ends its right neighbour begins, and the entries are between
SELECT count(*) AS wrong FROM two_pages l JOIN two_pages r ON r.block = l.right_block
WHERE (l.high_group, l.high_fp, l.high_ctid) IS DISTINCT FROM (r.low_group, r.low_fp, r.low_ctid);
SELECT count(*) AS entries,
	   count(*) FILTER (WHERE (i.group_hash, i.permuted, i.ctid) < (p.low_group, p.low_fp, p.low_ctid)
						   OR (i.group_hash, i.permuted, i.ctid) >= (p.high_group, p.high_fp, p.high_ctid)) AS wrong
FROM two_pages p, page_items('docs_tenant_fp', p.block) i;

-- entries: of each row one in each table, in its group; the permutation is undone
SELECT * FROM rows_of($$SELECT p.table_no, count(*), count(DISTINCT i.group_hash) AS groups,
	   count(*) FILTER (WHERE i.fp IS NOT DISTINCT FROM d.fp) AS same,
	   count(*) FILTER (WHERE i.permuted = simhash_permute(d.fp, 2, 1, p.table_no)) AS permuted
FROM two_pages p, page_items('docs_tenant_fp', p.block) i JOIN docs d ON d.ctid = i.ctid
WHERE p.level = 0 GROUP BY 1 ORDER BY 1$$,
	$$SELECT count(DISTINCT (d.tenant, i.group_hash)) AS tenants_and_groups
FROM two_pages p, page_items('docs_tenant_fp', p.block) i JOIN docs d ON d.ctid = i.ctid
WHERE p.level = 0$$);
SELECT DISTINCT i.group_hash
FROM one_pages p, page_items('docs_fp', p.block) i;

-- the group is a hash of all columns, in their order; it is on disk, so it never changes
CREATE TABLE grouped (a int, b int, fp simhash);
INSERT INTO grouped VALUES (1, 2, 0), (2, 1, 0), (1, NULL, 0), (NULL, 1, 0), (NULL, NULL, 0);
CREATE INDEX grouped_fp ON grouped USING simhash (a, b, fp);
SELECT a, b, group_hash FROM page_items('grouped_fp', (SELECT min(child) FROM page_items('grouped_fp', 0))) i
	JOIN grouped ON grouped.ctid = i.ctid ORDER BY a, b;

-- downlinks: each begins where its child does
SELECT count(*) AS downlinks,
	   count(*) FILTER (WHERE (i.group_hash, i.permuted, i.ctid) = (c.low_group, c.low_fp, c.low_ctid)
	   	AND c.level = p.level - 1) AS good
FROM two_pages p, page_items('docs_tenant_fp', p.block) i, page_info('docs_tenant_fp', i.child) c
WHERE p.level > 0;

-- an insert appends, behind what is sorted
INSERT INTO docs VALUES (7, 0);
SELECT sorted, entries FROM one_pages WHERE table_no = 0 AND sorted < entries;
SELECT i.item, i.permuted, i.fp FROM one_pages p, page_items('docs_fp', p.block) i
WHERE p.table_no = 3 AND p.sorted < p.entries AND i.item >= p.sorted;

-- leaves of one fingerprint, and of nulls, that inserts have filled are as full as those of a build
CREATE TABLE equal (fp simhash);
CREATE INDEX equal_fp ON equal USING simhash (fp) WITH (blocks = 2, distance = 1);
INSERT INTO equal SELECT CASE WHEN i % 2 = 0 THEN bits('e') END FROM generate_series(1, 40000) i;
SELECT simhash_index_check('equal_fp', true) \gset
CREATE TABLE inserted AS SELECT * FROM simhash_index_info('equal_fp');
REINDEX INDEX equal_fp;
SELECT i.table_no, i.entries, i.leaf_pages < 1.2 * b.leaf_pages AS as_full
FROM inserted i, simhash_index_info('equal_fp') b WHERE i.table_no IS NOT DISTINCT FROM b.table_no ORDER BY 1;

-- and are three fifths full, not less, if the rows are put into gaps all over the table
CREATE TABLE mixed (id int, fp simhash);
INSERT INTO mixed SELECT i, 0 FROM generate_series(1, 20000) i;
CREATE INDEX mixed_fp ON mixed USING simhash (fp) WHERE fp IS NULL;
SELECT unnest(ARRAY['DELETE FROM mixed WHERE id % 5 = ' || k, 'VACUUM mixed',
	'INSERT INTO mixed SELECT -1 FROM generate_series(1, 4000)']) FROM generate_series(0, 4) k \gexec
SELECT simhash_index_check('mixed_fp', true) \gset
SELECT entries, leaf_pages < entries / 600 AS full_enough FROM simhash_index_info('mixed_fp') WHERE table_no IS NULL;

--
-- An insert is logged before any of the leaves that it changes can be written
--
CREATE TABLE logged (fp simhash);
INSERT INTO logged SELECT bits('l' || i) FROM generate_series(1, 10) i;
CREATE INDEX logged_fp ON logged USING simhash (fp);
SELECT pg_current_wal_insert_lsn() AS before \gset
INSERT INTO logged VALUES (7), (NULL);
SELECT count(*) AS leaves, bool_and((page_header(get_raw_page('logged_fp', b::int))).lsn > :'before') AS logged
FROM generate_series(1, pg_relation_size('logged_fp') / 8192 - 1) b;

DROP SCHEMA inspect_pages_test CASCADE;
