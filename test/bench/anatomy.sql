-- What look-ups read, by radius; and what pages, a look-up and a split look like in
-- a real index.  Needs the extension, and the functions of
-- pages.sql and fingerprints.sql.  Writes radius.csv,
-- page.csv, lookup.csv, split.csv and split_wal.csv to the current directory.
-- Variables: rows, queries.
\pset footer off
SET client_min_messages = warning;
CREATE EXTENSION pg_walinspect;

-- Pages by radius, for three schemes: those that EXPLAIN counts for index-only
-- scans of a table that is all-visible, whose visibility map is one page.
CREATE TABLE s (fp simhash);
SELECT setseed(0.25) \g /dev/null
INSERT INTO s SELECT random_bits() FROM generate_series(1, :rows);
CREATE TABLE q AS SELECT i, random_bits()::simhash AS fp FROM generate_series(1, :queries) i;
VACUUM (FREEZE, ANALYZE) s;

CREATE TABLE cost (scheme text, radius integer, pages float8, table_pages bigint);
CREATE PROCEDURE measure(blocks integer, distance integer) LANGUAGE plpgsql AS $$
DECLARE
	query record;
	plan jsonb;
	pages float8;
	leaves bigint;
BEGIN
	EXECUTE format('CREATE INDEX s_fp ON s USING simhash (fp) WITH (blocks = %s, distance = %s)',
				   blocks, distance);
	SELECT leaf_pages FROM simhash_index_info('s_fp') WHERE table_no = 0 INTO leaves;
	FOR radius IN 0 .. 64 LOOP
		pages := 0;
		-- the first one, which does not count, makes the session remember inner pages
		FOR query IN SELECT 0 AS i, fp FROM q WHERE i = 1 UNION ALL SELECT * FROM q ORDER BY i LOOP
			EXECUTE format('EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, SUMMARY OFF, FORMAT JSON)'
						   ' SELECT fp FROM s WHERE fp <~> %L <= %s', query.fp, radius) INTO plan;
			plan := plan -> 0 -> 'Plan';
			IF plan ->> 'Index Name' IS DISTINCT FROM 's_fp' OR plan ->> 'Heap Fetches' <> '0' THEN
				RAISE EXCEPTION 'the plan is not the one meant' USING DETAIL = plan;
			END IF;
			IF query.i > 0 THEN
				pages := pages + (plan ->> 'Shared Hit Blocks')::float8
					+ (plan ->> 'Shared Read Blocks')::float8
					- ((plan ->> 'Actual Rows')::float8 > 0)::integer;
			END IF;
		END LOOP;
		INSERT INTO cost
		SELECT format('%s,%s', blocks, distance), radius, pages / count(*), leaves FROM q;
	END LOOP;
	DROP INDEX s_fp;
END $$;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
CALL measure(2, 1);
CALL measure(4, 3);
CALL measure(6, 3);
RESET enable_seqscan;
RESET enable_bitmapscan;
CREATE VIEW radius_figures AS
SELECT scheme, radius, round(pages::numeric, 2) AS pages, table_pages, :rows AS rows FROM cost ORDER BY 1, 2;
\copy (SELECT * FROM radius_figures) to 'radius.csv' csv header
SELECT scheme, max(pages) FILTER (WHERE radius = 3) AS "pages at 3",
	   max(pages) FILTER (WHERE radius = 6) AS "at 6",
	   max(pages) FILTER (WHERE radius = 10) AS "at 10", max(table_pages) AS "one table",
	   min(radius) FILTER (WHERE pages >= 0.99 * table_pages) AS "all of one from radius"
FROM cost GROUP BY scheme ORDER BY scheme;
DROP VIEW radius_figures;
DROP TABLE s, q;

-- The pages of an index, after some rows were inserted
CREATE TABLE d (fp simhash);
INSERT INTO d SELECT * FROM make_fingerprints(200000, 0.25);
CREATE INDEX d_fp ON d USING simhash (fp);
INSERT INTO d SELECT random_bits() FROM generate_series(1, 14000);
CREATE VIEW pages AS
SELECT block, i.*
FROM generate_series(0, pg_relation_size('d_fp') / 8192 - 1) block, page_info('d_fp', block) i;

-- one that is nearly full, of those that leave out a byte of the fingerprints
CREATE TABLE leaf AS
SELECT * FROM pages WHERE table_no = 0 AND level = 0 AND right_block IS NOT NULL AND low_fp > 0
	AND sorted < entries AND key_width = 7
ORDER BY abs(entries + 14 - 8119 * 8 / ((key_width + row_width) * 8 + 1)), block LIMIT 1;
CREATE VIEW leaf_figures AS
SELECT block, entries, sorted, key_width, row_width, right_block, encode(low_fp::bytea, 'hex') AS low, encode(high_fp::bytea, 'hex') AS high FROM leaf;
\copy (SELECT * FROM leaf_figures) to 'page.csv' csv header

-- A look-up of a stored fingerprint of which three bits are inverted, each in
-- another block: what it reads of each table
CREATE TABLE query AS
SELECT (a_fp::bigint # ((1::bigint << 60) | (1::bigint << 41) | (1::bigint << 3)))::simhash AS fp
FROM simhash_find_all('d_fp', 3) GROUP BY a, a_fp HAVING count(*) >= 3 ORDER BY a LIMIT 1;
VACUUM (FREEZE, ANALYZE) d;
CREATE VIEW lookup AS
SELECT encode(q.fp::bytea, 'hex') AS query, t.table_no, encode(wanted::bytea, 'hex') AS permuted, leaf.block,
	   (SELECT p.block FROM pages p, page_items('d_fp', p.block) i
		WHERE p.table_no = t.table_no AND p.level = 1 AND i.child = leaf.block) AS parent,
	   leaf.entries, encode(leaf.low_fp::bytea, 'hex') AS low, encode(leaf.high_fp::bytea, 'hex') AS high,
	   in_leaf.same_prefix, in_leaf.matches, in_leaf.own
FROM query q, simhash_tables(4, 3) t, simhash_permute(q.fp, 4, 3, t.table_no) wanted,
	LATERAL (SELECT * FROM pages WHERE pages.table_no = t.table_no AND level = 0
			 AND low_fp <= wanted AND (high_fp > wanted OR high_fp IS NULL)
			 ORDER BY low_fp DESC LIMIT 1) leaf,
	LATERAL (SELECT count(*) FILTER (WHERE same) AS same_prefix,
					count(*) FILTER (WHERE same AND i.fp <~> q.fp <= 3) AS matches,
					count(*) FILTER (WHERE same AND i.fp <~> q.fp <= 3
						AND simhash_first_table(i.fp, q.fp) = t.table_no) AS own
			 FROM page_items('d_fp', leaf.block) i,
				LATERAL (VALUES ((i.permuted::bigint >> 48) = (wanted::bigint >> 48))) v (same)) in_leaf;
\copy (SELECT * FROM lookup ORDER BY table_no) to 'lookup.csv' csv header

-- A leaf of which inserts make two, with the WAL record of that.  What is inserted
-- belongs on it by table 0, and anywhere by the other tables.
CREATE TABLE watched AS
SELECT p.block, p.low_fp::bigint AS low, p.high_fp::bigint AS high, parent.block AS parent
FROM (SELECT * FROM pages
	  WHERE table_no = 0 AND level = 0 AND low_fp::bigint > 0 AND high_fp::bigint > 0
	  ORDER BY entries DESC, block LIMIT 1) p,
	pages parent, page_items('d_fp', parent.block) i
WHERE parent.table_no = 0 AND parent.level = 1 AND i.child = p.block;
CREATE TABLE seen AS SELECT 'before' AS at, pages.* FROM pages WHERE false;
CREATE TABLE record (lsn pg_lsn, pages bigint[]);
CREATE PROCEDURE split() LANGUAGE plpgsql AS $$
DECLARE
	leaf watched := (SELECT w FROM watched w);
	started pg_lsn;
BEGIN
	CHECKPOINT;
	WHILE (SELECT count(*) FROM seen WHERE at = 'after') = 0 LOOP
		DELETE FROM seen;
		INSERT INTO seen
		SELECT 'before', p, i.*
		FROM unnest(ARRAY[leaf.block, leaf.parent]) p, page_info('d_fp', p) i;
		started := pg_current_wal_insert_lsn();
		INSERT INTO d
		SELECT simhash_unpermute((leaf.low + floor(random() * (leaf.high - leaf.low))::bigint)::simhash, 4, 3, 0);
		COMMIT;
		INSERT INTO seen
		SELECT 'after', p, i.*
		FROM page_info('d_fp', leaf.block) l,
			unnest(ARRAY[leaf.block, l.right_block, leaf.parent]) p,
			page_info('d_fp', p) i
		WHERE l.right_block <> (SELECT right_block FROM seen WHERE block = leaf.block);
	END LOOP;
	INSERT INTO record
	SELECT start_lsn, ARRAY(SELECT (regexp_matches(block_ref, ' blk ([0-9]+)', 'g'))[1]::bigint)
	FROM pg_get_wal_records_info(started, pg_current_wal_flush_lsn()) WHERE resource_manager = 'Generic';
	COMMIT;
END $$;
CALL split();
CREATE VIEW split_figures AS
SELECT at, block, page_type, level, entries, sorted, key_width, row_width, right_block,
	   encode(low_fp::bytea, 'hex') AS low, encode(high_fp::bytea, 'hex') AS high
FROM seen ORDER BY at DESC, block;
\copy (SELECT * FROM split_figures) to 'split.csv' csv header
\copy (SELECT array_to_string(pages, ' ') AS pages FROM record ORDER BY lsn) to 'split_wal.csv' csv header
