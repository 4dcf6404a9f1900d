--
-- Fingerprints of fewer than 64 bits, and wide ones whose parts have fewer: their blocks
-- are cut from the bits that there are
--
-- The truth is bit_count() of bit strings (test/brute_force.sql).
--
\pset format unaligned
\pset footer off
CREATE SCHEMA index_bits_narrow_test;
SET search_path = index_bits_narrow_test, public; SET max_parallel_workers_per_gather = 0; SET client_min_messages = warning;

--
-- Blocks by default, and which are possible
--
CREATE FUNCTION try_options(n int, options text) RETURNS TABLE (state text, message text, detail text, hint text, prefixes text)
LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE TABLE doc (fp simhash_bits(%s))', n);
	SELECT * INTO state, message, detail, hint
	FROM attempt(format('CREATE INDEX doc_fp ON doc USING simhash (fp) %s', 'WITH (' || nullif(options, '') || ')'));
	IF state = 'accepted' THEN
		SELECT string_agg(prefix_bits::text, ' ' ORDER BY table_no) INTO prefixes
		FROM simhash_index_info('doc_fp') WHERE table_no IS NOT NULL;
	END IF;
	RETURN NEXT;
	DROP TABLE doc;
END $$;
SELECT n, prefixes FROM unnest('{8,16,24,32,40,48,56,64,72,96,104,128,160}'::int[]) n, try_options(n, '');
SELECT n, options, t.* FROM (VALUES (8, 'blocks = 8'), (8, 'blocks = 9'), (8, 'blocks = 9, distance = 1'), (8, 'distance = 3'),
	(16, 'blocks = 16'), (16, 'blocks = 3, distance = 1'), (32, 'blocks = 2'), (48, 'distance = 5'),
	(72, 'blocks = 4'), (72, 'blocks = 3'), (72, 'distance = 5'), (136, 'distance = 8'), (136, 'distance = 11')) o(n, options), try_options(n, options) t;

-- a table that is emptied gets these defaults
CREATE TABLE emptied (fp simhash_bits(8));
CREATE INDEX emptied_fp ON emptied USING simhash (fp);
ALTER INDEX emptied_fp SET (blocks = 16, distance = 15);
SET client_min_messages = notice;
TRUNCATE emptied;
SET client_min_messages = warning;

--
-- A lookup reads about as many pages as with 64 bits, and with parts of fewer bits as many
-- as with parts of 64.  Random fingerprints.
--
CREATE FUNCTION pages_within(n int, radius int) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
	result float8;
BEGIN
	EXECUTE format('CREATE TABLE doc (fp simhash_bits(%s))', n);
	INSERT INTO doc SELECT wide('r' || i, n) FROM generate_series(1, 20000) i;
	CREATE INDEX doc_fp ON doc USING simhash (fp);
	ANALYZE doc;
	SELECT avg(pages_read(format('SELECT FROM doc WHERE fp <~> %L <= %s', wide('q' || i, n), radius))) INTO result
	FROM generate_series(1, 10) i;
	DROP TABLE doc;
	RETURN result;
END $$;
SELECT use_only('bitmapscan') \gset
SELECT pages_within(48, 3) AS within_3, pages_within(64, 3) AS within_3_of_64,
	pages_within(104, 7) AS within_7, pages_within(128, 7) AS within_7_of_128 \gset
SELECT :within_3 <= :within_3_of_64 * 1.5 AS within_3, :within_7 <= :within_7_of_128 * 1.5 AS within_7;
SELECT use_only('seqscan') \gset

--
-- Lookups and whole tables against brute force, with many kinds of blocks
--

-- random fingerprints of n bits, clusters, many that are equal, zero but for a few bits, and nulls
CREATE PROCEDURE make_rows(n int) LANGUAGE plpgsql AS $$
BEGIN
	DROP TABLE IF EXISTS t, u, query, radii, near, cross_near, wanted;
	EXECUTE format('CREATE TABLE t (id int, tenant int, fp simhash_bits(%s))', n);
	INSERT INTO t SELECT i, i % 3, CASE
			WHEN i <= 60 THEN wide('r' || i, n)
			WHEN i <= 120 THEN flip_wide(wide('c' || i % 4, n), least(i / 4 % 7, n), 'f' || i)
			WHEN i <= 135 THEN wide('c1', n)
			WHEN i <= 160 THEN flip_wide(repeat('00', n / 8)::simhash_bits, least(i % 9, n), 'z' || i)
		END FROM generate_series(1, 163) i;
	EXECUTE format('CREATE TABLE u (id int, tenant int, fp simhash_bits(%s))', n);
	INSERT INTO u SELECT id, tenant, flip_wide(fp, least(id % 5, n), 'u' || id) FROM t WHERE id % 4 = 0;
	CREATE TABLE query AS SELECT qno, fp FROM unnest(ARRAY[wide('c0', n), wide('c1', n), wide('new', n),
		repeat('00', n / 8)::simhash_bits, flip_wide(wide('c2', n), least(n, 3), 'q')]) WITH ORDINALITY q(fp, qno);
	CREATE TABLE near AS
	SELECT a.id AS a, b.id AS b, wide_distance(a.fp::varbit, b.fp::varbit) AS d, a.tenant = b.tenant AS tenant
	FROM t a, t b WHERE a.id < b.id AND wide_distance(a.fp::varbit, b.fp::varbit) <= 12;
	CREATE TABLE cross_near AS
	SELECT a.id AS a, b.id AS b, wide_distance(a.fp::varbit, b.fp::varbit) AS d FROM t a, u b
	WHERE wide_distance(a.fp::varbit, b.fp::varbit) <= 12;
	CREATE TABLE radii AS SELECT DISTINCT r FROM unnest(ARRAY[-1, 0, 1, 2, 3, 5, 8, 11, n / 2, n - 1, n, n + 1]) r;
	CREATE TABLE wanted AS
	SELECT qno, r, id, tenant FROM query q, t, radii
	WHERE wide_distance(t.fp::varbit, q.fp::varbit) <= r;
	ANALYZE t, u, query, radii, near, cross_near, wanted;
END $$;

-- what is wrong with an index, or null
CREATE FUNCTION wrong(options text, others text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	EXECUTE format('CREATE INDEX t_fp ON t USING simhash (fp) %s', options);
	EXECUTE format('CREATE INDEX t_tenant ON t USING simhash (tenant, fp) %s', options);
	EXECUTE format('CREATE INDEX u_fp ON u USING simhash (fp) %s', others);
	-- some rows are inserted, and some are gone
	INSERT INTO t SELECT id, tenant, fp FROM t WHERE id % 7 = 0;
	DELETE FROM t WHERE ctid IN (SELECT min(ctid) FROM t WHERE id % 7 = 0 GROUP BY id);
	PERFORM use_only('indexscan');
	IF strpos(plan_of('SELECT FROM query q CROSS JOIN radii JOIN t ON t.fp <~> q.fp <= r'), 'Index Scan using t_') = 0 THEN
		RETURN 'no index is used';
	END IF;
	result := concat_ws('; ',
		'lookups: ' || difference('SELECT qno, r, id FROM query q CROSS JOIN radii JOIN t ON t.fp <~> q.fp <= r',
			'SELECT qno, r, id FROM wanted'),
		'any: ' || difference('SELECT r, id FROM radii, t
				WHERE fp <@ ANY (ARRAY(SELECT simhash_bits_ball(q.fp, r) FROM query q))',
			'SELECT DISTINCT r, id FROM wanted'),
		'equal: ' || difference('SELECT id FROM t WHERE fp = ANY (ARRAY(SELECT fp FROM query))',
			'SELECT DISTINCT id FROM wanted WHERE r = 0'),
		'tenant: ' || difference('SELECT qno, r, id FROM query q CROSS JOIN radii
				JOIN t ON t.fp <~> q.fp <= r AND tenant = 1', 'SELECT qno, r, id FROM wanted WHERE tenant = 1'));
	SELECT nullif(concat_ws('; ', nullif(result, ''), string_agg(nullif(concat_ws('; ',
		d || ' all: ' || difference(format('SELECT least(x.id, y.id), greatest(x.id, y.id), distance
				FROM simhash_find_all(''t_fp'', %s) p JOIN t x ON x.ctid = a JOIN t y ON y.ctid = b', d),
			format('SELECT a, b, d FROM near WHERE d <= %s', d)),
		d || ' all of tenants: ' || difference(format('SELECT least(x.id, y.id), greatest(x.id, y.id), distance
				FROM simhash_find_all(''t_tenant'', %s) p JOIN t x ON x.ctid = a JOIN t y ON y.ctid = b', d),
			format('SELECT a, b, d FROM near WHERE tenant AND d <= %s', d)),
		d || ' clusters: ' || difference(format('SELECT id FROM simhash_find_clusters(''t_fp'', %s) JOIN t ON ctid = member', d),
			format('SELECT a FROM near WHERE d <= %s UNION SELECT b FROM near WHERE d <= %1$s', d)),
		d || ' duplicates: ' || difference(format('SELECT y.id, x.id, distance
				FROM simhash_find_duplicates(''t_fp'', %s, keep => ''id'') JOIN t x ON x.ctid = keeper JOIN t y ON y.ctid = duplicate', d),
			format('SELECT id, keeper, d FROM superfluous_of(''SELECT a, b, d FROM near WHERE d <= %s'', ''t'', ''id'')', d)),
		d || ' matches: ' || difference(format('SELECT t.id, u.id, distance
				FROM simhash_find_matches(''t_fp'', ''u_fp'', %s) JOIN t ON t.ctid = a JOIN u ON u.ctid = b', d),
			format('SELECT * FROM cross_near WHERE d <= %s', d)),
		d || ' array: ' || difference(format('SELECT * FROM simhash_find_all_in_bits(ARRAY(SELECT fp::simhash_bits FROM t), %s)', d),
			format('SELECT DISTINCT least(x.fp, y.fp), greatest(x.fp, y.fp), d FROM near JOIN t x ON x.id = a JOIN t y ON y.id = b
				WHERE d BETWEEN 1 AND %s', d))), ''), '; ')), '') INTO result
	FROM unnest('{0,1,3,12}'::int[]) d WHERE d <= 8 OR length((SELECT fp FROM t WHERE id = 1)) > 8;
	PERFORM simhash_index_check('t_fp', true), simhash_index_check('t_tenant', true), simhash_index_check('u_fp', true);
	DROP INDEX t_fp, t_tenant, u_fp;
	RETURN result;
END $$;

CREATE FUNCTION compare(n int, kinds text[]) RETURNS TABLE (bits int, pairs bigint, wrong text) LANGUAGE plpgsql AS $$
BEGIN
	CALL make_rows(n);
	bits := n;
	SELECT count(*) INTO pairs FROM near;
	SELECT string_agg(kinds[i] || ': ' || w, '; ') INTO wrong
	FROM generate_series(1, cardinality(kinds)) i,
		-- the other table has blocks of another kind
		wrong(kinds[i], kinds[i % cardinality(kinds) + 1]) w;
	RETURN NEXT;
END $$;
SELECT c.bits, c.pairs > 500 AS pairs, c.wrong FROM (VALUES
	(8, '{"","WITH (blocks = 8)"}'::text[]),
	(16, '{"","WITH (blocks = 16, distance = 2)"}'),
	(32, '{"","WITH (blocks = 4, distance = 2)","WITH (blocks = 9, distance = 1)"}'),
	(40, '{"","WITH (blocks = 7, distance = 6)"}'),
	(48, '{"","WITH (blocks = 6, distance = 3)"}'),
	(56, '{"","WITH (blocks = 16)"}'),
	(72, '{"","WITH (blocks = 10)"}'),
	(104, '{"","WITH (blocks = 2)"}'),
	(160, '{"","WITH (blocks = 9)"}')) v(n, kinds), compare(n, kinds) c;

-- the default distance of 40 bits, which is 2, also of a partitioned table
CREATE TABLE part (id int, fp simhash_bits(40)) PARTITION BY RANGE (id);
CREATE TABLE part_1 PARTITION OF part FOR VALUES FROM (0) TO (10);
INSERT INTO part VALUES (1, '0000000000'), (2, '0000000003'), (3, '0000000070');
CREATE INDEX part_fp ON part USING simhash (fp);
SELECT a, b, distance FROM simhash_find_all('part_fp');
SELECT a, b, distance FROM simhash_find_all('part_1_fp_idx');

DROP SCHEMA index_bits_narrow_test CASCADE;
