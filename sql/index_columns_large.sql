--
-- Indexes of several columns with few large groups: the leaves of a group then have
-- leading bytes in common, which they leave out; built, split, and vacuumed
--
\pset format unaligned
\pset footer off
CREATE SCHEMA index_columns_large_test;
SET search_path = index_columns_large_test, public; SET client_min_messages = warning;

-- the greatest fingerprint ends a group, and others follow or not
CREATE TABLE ones (g int, fp simhash);
INSERT INTO ones SELECT 1, -1 FROM generate_series(1, 1100);
CREATE INDEX ones_fp ON ones USING simhash (g, fp);
SELECT simhash_index_check('ones_fp', true) \gset
INSERT INTO ones SELECT g, -1 FROM generate_series(1, 5) g, generate_series(1, 1100);
SELECT simhash_index_check('ones_fp', true) \gset
REINDEX INDEX ones_fp;
SELECT simhash_index_check('ones_fp', true) \gset
SELECT g, count(*) FROM ones WHERE g = ANY ('{1, 3, 7}') AND fp <~> '-1' <= 2 GROUP BY g ORDER BY g;

-- Groups whose fingerprints begin with some bytes, in each table of the scheme at another
-- place, as those of groups that are 256 times as large do.
CREATE TABLE beginnings (mask bigint, ones bigint);
INSERT INTO beginnings
SELECT m, sign * m FROM unnest(ARRAY[x'ff00ff00ff00ff00', x'ffff000000000000', x'ffff00000000ff00', x'ffff00000000ffff']::bit(64)[]) b,
	LATERAL (SELECT b::bigint AS m) m, generate_series(0, 1) sign;
CREATE FUNCTION problems(fillfactor int) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	b beginnings;
BEGIN
	FOR b IN SELECT * FROM beginnings LOOP
		DROP TABLE IF EXISTS t;
		CREATE TABLE t (g int, fp simhash) WITH (autovacuum_enabled = off);
		INSERT INTO t SELECT i % 3, bits('t' || i) & ~b.mask | b.ones FROM generate_series(1, 5000) i;
		EXECUTE format('CREATE INDEX t_fp ON t USING simhash (g, fp) WITH (fillfactor = %s)', fillfactor);
		PERFORM simhash_index_check('t_fp', true);
		INSERT INTO t SELECT i % 4, bits('t' || i) & ~b.mask | b.ones FROM generate_series(5001, 9000) i;
		PERFORM simhash_index_check('t_fp', true);
	END LOOP;
EXCEPTION WHEN index_corrupted THEN
	RETURN NEXT format('fillfactor %s, %s: %s', fillfactor, b, SQLERRM);
END $$;
SELECT problems(f) FROM unnest('{50, 90, 100}'::int[]) f;

-- large ones: from some 130,000 rows on most leaves of a group have a byte in common
CREATE TABLE large (g int, fp simhash) WITH (autovacuum_enabled = off);
INSERT INTO large SELECT g, bits(g || 'l' || i)
FROM generate_series(1, effort(130000, 300000)) i, generate_series(1, CASE i % effort(5, 2) WHEN 0 THEN 2 ELSE 1 END) g;
CREATE INDEX large_fp ON large USING simhash (g, fp);
SELECT simhash_index_check('large_fp', true) \gset
INSERT INTO large SELECT g, bits(g || 'm' || i)
FROM generate_series(1, 3) g, generate_series(1, effort(5000, 50000)) i;
SELECT simhash_index_check('large_fp', true) \gset
DELETE FROM large WHERE (ctid::text::point)[0]::int % 10 = 3;
VACUUM (INDEX_CLEANUP ON) large;
SELECT simhash_index_check('large_fp', true) \gset
-- each row where it should be
SET enable_seqscan = off;
SELECT count(*) > 100 AS some, count(*) = sum(found) AS all_found
FROM (SELECT * FROM large WHERE bits(fp::text) % 1000 = 0 LIMIT 1000) q,
	LATERAL (SELECT count(DISTINCT l.fp) AS found FROM large l WHERE l.g = q.g AND l.fp <~> q.fp <= 0) f;

DROP SCHEMA index_columns_large_test CASCADE;
