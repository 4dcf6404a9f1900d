--
-- Whole tables whose columns do not say the width of their wide fingerprints, and arrays
-- of fingerprints of at most 64 bits that do not fit into memory
--
\pset format unaligned
\pset footer off
CREATE SCHEMA batch_bits_widths_test;
SET search_path = batch_bits_widths_test, public; SET max_parallel_workers_per_gather = 0; SET client_min_messages = warning;

--
-- ALTER TABLE can take the width from a column, and the server keeps the index.
--
-- The first 64 bits are 0, so that all rows are alike to who compares no others.  The last
-- ones have clusters of five.
CREATE FUNCTION fingerprint(i int) RETURNS simhash_bits LANGUAGE sql IMMUTABLE AS $$
	SELECT ('0000000000000000' || encode(int8send(flip(bits('c' || i / 5), i % 5, 'f' || i)), 'hex'))::simhash_bits
$$;
CREATE PROCEDURE make_table(tab text, ids int4range) LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE TABLE %s (id int, tenant int, fp simhash_bits(128))', tab);
	EXECUTE format('INSERT INTO %s SELECT i, i %% 3, fingerprint(i) FROM generate_series(%s, %s) i', tab, lower(ids), upper(ids) - 1);
	EXECUTE format('CREATE INDEX %s_fp ON %1$s USING simhash (fp)', tab);
	EXECUTE format('CREATE INDEX %s_tenant ON %1$s USING simhash (tenant, fp)', tab);
END $$;
CALL make_table('t', '[1,301)');
CALL make_table('u', '[200,401)');
CALL make_table('parts_1', '[1,150)');
CALL make_table('parts_2', '[150,301)');
ANALYZE t, u;

-- every function over whole indexes, and look-ups: $t is a table
CREATE TABLE query (number serial, query text);
INSERT INTO query (query)
SELECT replace(form, '$i', i) FROM (VALUES
	('SELECT * FROM simhash_find_all(''$t_$i'', 4)'),
	('SELECT * FROM simhash_find_all(''$t_$i'')'),
	('SELECT * FROM simhash_find_clusters(''$t_$i'', 4)'),
	('SELECT * FROM simhash_find_clusters(''$t_$i'', 4, same => ''(a.id + b.id) % 2 = 1'')'),
	('SELECT * FROM simhash_find_duplicates(''$t_$i'', 4)'),
	('SELECT * FROM simhash_find_duplicates(''$t_$i'', 4, keep => ''id DESC'')'),
	('SELECT * FROM simhash_find_duplicates(''$t_$i'', 4, keep => ''id DESC'', same => ''(a.id + b.id) % 2 = 1'')'),
	('SELECT * FROM simhash_find_matches(''$t_$i'', ''u_$i'', 4)'),
	('SELECT * FROM simhash_find_matches(''u_$i'', ''$t_$i'')'),
	('SELECT * FROM simhash_find_matches_in_bits(''$t_$i'', ARRAY(SELECT fp::simhash_bits FROM u), 4)'),
	('SELECT * FROM simhash_find_matches_in_bits(''$t_$i'', ARRAY(SELECT fp::simhash_bits FROM u), NULL)')) f(form),
	unnest('{fp,tenant}'::text[]) i;
INSERT INTO query (query) VALUES
	('SELECT id FROM $t WHERE fp % fingerprint(44)'),
	('SELECT id FROM $t WHERE fp % ANY (ARRAY[fingerprint(44), fingerprint(91)])'),
	('SELECT id FROM $t WHERE fp <~> fingerprint(44) <= 40'),
	('SELECT id FROM $t WHERE fp = fingerprint(44)'),
	('SELECT id FROM $t WHERE fp <@ simhash_bits_ball(fingerprint(44), 4)'),
	('SELECT id FROM $t WHERE tenant = 1 AND fp % fingerprint(44)'),
	('SELECT * FROM (SELECT fp <~> fingerprint(44) FROM $t ORDER BY fp <~> fingerprint(44) LIMIT 7) s');
CREATE FUNCTION answers(tab text) RETURNS TABLE (number int, answer text[]) LANGUAGE plpgsql AS $$
DECLARE
	q query;
BEGIN
	PERFORM set_config('enable_seqscan', 'off', true);
	FOR q IN SELECT * FROM query LOOP
		number := q.number;
		EXECUTE format('SELECT array_agg(s::text ORDER BY s::text) FROM (%s) s', replace(q.query, '$t', tab)) INTO answer;
		RETURN NEXT;
	END LOOP;
END $$;
CREATE TABLE truth AS SELECT * FROM answers('t');
SELECT count(*) AS answers, count(*) FILTER (WHERE cardinality(answer) BETWEEN 1 AND 5000) AS plausible FROM truth;
SELECT cardinality(answer) = (SELECT count(*) FROM t a JOIN t b ON a.id < b.id
		WHERE wide_distance(a.fp::varbit, b.fp::varbit) <= 4) AS as_by_brute_force
FROM truth JOIN query USING (number) WHERE query = 'SELECT * FROM simhash_find_all(''$t_fp'', 4)';

-- queries with another answer than before
CREATE FUNCTION changed_answers() RETURNS SETOF text LANGUAGE sql AS $$
	SELECT query FROM truth JOIN query USING (number) JOIN answers('t') a USING (number)
	WHERE a.answer IS DISTINCT FROM truth.answer
$$;
CREATE TABLE files AS SELECT relname, relfilenode FROM pg_class WHERE relname ~ '^(t|u|parts_.)_(fp|tenant)$';
SELECT estimate('SELECT FROM t WHERE fp % ''' || fingerprint(44)::text || '''') AS estimate \gset

CREATE DOMAIN any_bits AS simhash_bits;
CREATE PROCEDURE alter_type(type text) LANGUAGE plpgsql AS $$
DECLARE
	tab text;
BEGIN
	FOREACH tab IN ARRAY '{t,u,parts_1,parts_2}'::text[] LOOP
		EXECUTE format('ALTER TABLE %s ALTER fp TYPE %s', tab, type);
	END LOOP;
END $$;
CALL alter_type('simhash_bits');
SELECT * FROM changed_answers();
SELECT estimate('SELECT FROM t WHERE fp % ''' || fingerprint(44)::text || '''') = :estimate AS estimate;
CALL alter_type('any_bits');
SELECT * FROM changed_answers();
SELECT count(*) AS kept FROM pg_class JOIN files USING (relname, relfilenode);

-- partitions: as many rows as in one table
CREATE TABLE parts (id int, tenant int, fp any_bits) PARTITION BY RANGE (id);
CREATE INDEX parts_fp ON ONLY parts USING simhash (fp);
CREATE INDEX parts_tenant ON ONLY parts USING simhash (tenant, fp);
SELECT attempt($$SELECT simhash_find_all('parts_fp', 4)$$);
ALTER TABLE parts ATTACH PARTITION parts_1 FOR VALUES FROM (0) TO (150);
ALTER TABLE parts ATTACH PARTITION parts_2 FOR VALUES FROM (150) TO (400);
SELECT query, cardinality(truth.answer), cardinality(a.answer)
FROM truth JOIN query USING (number) JOIN answers('parts') a USING (number)
WHERE cardinality(a.answer) IS DISTINCT FROM cardinality(truth.answer);

-- the check says that such an index cannot be built again
SELECT simhash_index_check('t_fp', true), simhash_index_check('parts_2_tenant', true) \gset
SELECT attempt('REINDEX INDEX t_fp');
SELECT count(*) FROM simhash_index_info('t_fp') WHERE table_no >= 0;
-- the width of the index holds for new rows and for queries
INSERT INTO t VALUES (401, 1, fingerprint(44));
SELECT id FROM t WHERE fp = fingerprint(44) ORDER BY id;
DELETE FROM t WHERE id = 401;
SELECT attempt($$INSERT INTO t VALUES (402, 1, '0000000000000000')$$);
SELECT attempt($$SELECT simhash_find_matches_in_bits('t_fp', ARRAY['0000000000000000'::simhash_bits], 4)$$)
UNION ALL SELECT attempt($$SELECT simhash_find_all('t_fp', 129)$$);
CREATE TABLE v (id int, tenant int, fp simhash_bits(256));
INSERT INTO v SELECT 400 + i, i, wide('v' || i, 256) FROM generate_series(1, 10) i;
CREATE INDEX v_fp ON v USING simhash (fp);
CREATE INDEX v_tenant ON v USING simhash (tenant, fp);
ALTER TABLE v ALTER fp TYPE any_bits;
SELECT attempt($$SELECT simhash_find_matches('t_fp', 'v_fp', 4)$$);
-- a partition of another width
ALTER TABLE parts ATTACH PARTITION v FOR VALUES FROM (400) TO (500);
SELECT attempt($$SELECT simhash_find_all('parts_fp', 4)$$)
UNION ALL SELECT attempt($$SELECT simhash_find_matches('t_tenant', 'parts_tenant', 4)$$);
-- with its width back, a column is as before
ALTER TABLE t ALTER fp TYPE simhash_bits(128);
SELECT simhash_index_check('t_fp', true) \gset
SELECT count(*) FROM simhash_find_all('t_fp', 4);

--
-- Arrays of fingerprints of one word.  Many are equal, so that they need more than 1 MB,
-- and brute force is quick.
--
SET maintenance_work_mem = '1MB';
CREATE FUNCTION compare_arrays(n int, OUT bits int, OUT pairs bigint, OUT wrong int[]) LANGUAGE plpgsql AS $$
DECLARE
	fps simhash_bits[];
BEGIN
	CREATE TEMP TABLE fp ON COMMIT DROP AS
	SELECT DISTINCT flip_wide(wide('c' || i / 6, n), least(n, i % 6 * 5 / 3), 'f' || i) AS fp FROM generate_series(1, 90) i;
	CREATE TEMP TABLE near ON COMMIT DROP AS
	SELECT a.fp AS a, b.fp AS b, wide_distance(a.fp::varbit, b.fp::varbit) AS distance FROM fp a JOIN fp b ON a.fp < b.fp;
	SELECT array_agg(fp) INTO fps FROM fp, generate_series(1, 400);
	bits := n;
	SELECT count(*) INTO pairs FROM near WHERE distance <= 15;
	SELECT array_agg(d) INTO wrong FROM generate_series(0, least(16, n)) d
	WHERE (SELECT array_agg(s::text ORDER BY s::text) FROM simhash_find_all_in_bits(fps, d) s) IS DISTINCT FROM
		(SELECT array_agg(s::text ORDER BY s::text) FROM (SELECT * FROM near WHERE distance <= d) s);
	DROP TABLE fp, near;
END $$;
SELECT compare.* FROM unnest('{8,32,64}'::int[]) n, compare_arrays(n) compare;

DROP SCHEMA batch_bits_widths_test CASCADE;
