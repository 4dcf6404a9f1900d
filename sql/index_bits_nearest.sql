--
-- Indexes of wide fingerprints: nearest first
--
-- The truth is bit_count() of bit strings (test/brute_force.sql).
--
SET client_min_messages = warning;
CREATE SCHEMA index_bits_nearest_test;
SET search_path = index_bits_nearest_test, public;
SET statement_timeout = '3min';

-- Rows of n bits: random ones; clusters; equal ones; those that are constant but for one
-- part; those that agree with the first query in one part only; nulls.
CREATE PROCEDURE make_rows(tab text, n int, random int, equal int DEFAULT 60) LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('DROP TABLE IF EXISTS %s; CREATE TABLE %1$s (id int, tenant int, fp simhash_bits(%s))', tab, n);
	EXECUTE format('INSERT INTO %s SELECT i, i %% 4, wide(''r'' || i, %s) FROM generate_series(1, %s) i', tab, n, random);
	EXECUTE format('INSERT INTO %s SELECT 10000 + i, i %% 3, flip_wide(wide(''c'' || i %% 3, %s), least(i / 3, %2$s), ''f'' || i)
		FROM generate_series(0, 200) i', tab, n);
	EXECUTE format('INSERT INTO %s SELECT 20000 + i, 1, wide(''c1'', %s) FROM generate_series(1, %s) i', tab, n, equal);
	EXECUTE format('INSERT INTO %s SELECT 30000 + i, i %% 2,
			(repeat(''00'', %s / 8 - least(8, %2$s / 8)) || left(wide(''p'' || i, 64)::text, least(16, %2$s / 4)))::simhash_bits
		FROM generate_series(1, 90) i', tab, n);
	EXECUTE format('INSERT INTO %s SELECT 31000 + i, i %% 2, overlay(wide(''r'' || 5000 + i, %s)::text
			PLACING substr(wide(''c0'', %2$s)::text, 1 + (i * 16) %% (%2$s / 4), 16) FROM 1 + (i * 16) %% (%2$s / 4))::simhash_bits
		FROM generate_series(1, 60) i WHERE %2$s %% 64 = 0', tab, n);
	EXECUTE format('INSERT INTO %s SELECT 40000 + i, CASE WHEN i %% 2 = 0 THEN 1 END, NULL FROM generate_series(1, 7) i', tab);
END $$;

CREATE PROCEDURE make_queries(n int) LANGUAGE plpgsql AS $$
BEGIN
	DROP TABLE IF EXISTS query;
	EXECUTE format('CREATE TABLE query (qno int, fp simhash_bits(%s))', n);
	INSERT INTO query VALUES (1, wide('c0', n)), (2, wide('c1', n)), (3, repeat('00', n / 8)::simhash_bits),
		(4, wide('new', n)), (5, flip_wide(wide('c2', n), least(20, n), 'q')), (6, wide('r77', n));
END $$;

-- the distances of all rows from each query; null if a fingerprint is
CREATE PROCEDURE expect_distances(tab text) LANGUAGE plpgsql AS $$
BEGIN
	DROP TABLE IF EXISTS expected;
	EXECUTE format('CREATE TABLE expected AS SELECT qno, id, tenant, t.fp, wide_distance(t.fp::varbit, q.fp::varbit) AS d FROM %s t, query q', tab);
	CREATE INDEX ON expected (qno, id);
	ANALYZE expected;
END $$;

-- Compare the first n rows (all if null) that an index returns with those expected:
-- 'ok', or what is wrong.  The condition is on d, the distance, and the columns; $c is
-- what it is for the index.
CREATE FUNCTION compare_nearest(tab text, index text, condition text, rows int, query_no int) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
	q text := (SELECT quote_literal(fp) || '::simhash_bits' FROM query WHERE qno = query_no);
	statement text;
	ids int[];
	distances int[];
	expected_distances int[];
BEGIN
	statement := format('SELECT id FROM %s t WHERE %s ORDER BY fp <~> %s LIMIT %s', tab,
		regexp_replace(condition, '\md\M', format('(fp <~> %s)', q), 'g'), q, coalesce(rows::text, 'ALL'));
	IF plan_of(statement) !~ ('Index Scan using ' || index || ' .*Order By: ') THEN
		RETURN 'the index is not used: ' || plan_of(statement);
	END IF;
	EXECUTE format('SELECT array_agg(id) FROM (%s) s', statement) INTO ids;
	EXECUTE format('SELECT array_agg(d ORDER BY no) FROM unnest($1) WITH ORDINALITY u(row_id, no)
		JOIN expected ON id = row_id AND qno = $2 WHERE %s', condition) INTO distances USING ids, query_no;
	EXECUTE format('SELECT array_agg(d) FROM (SELECT d FROM expected WHERE qno = %s AND (%s) ORDER BY d LIMIT %s) s',
		query_no, condition, coalesce(rows::text, 'ALL')) INTO expected_distances;
	IF distances IS DISTINCT FROM expected_distances THEN
		RETURN format('query %s, %s, limit %s: %s rows, not %s; %s, not %s', query_no, condition, rows,
			cardinality(ids), cardinality(expected_distances), distances[:12], expected_distances[:12]);
	END IF;
	IF cardinality(ids) <> (SELECT count(DISTINCT id) FROM unnest(ids) id) THEN
		RETURN format('query %s, %s, limit %s: rows are repeated', query_no, condition, rows);
	END IF;
	RETURN 'ok';
END $$;

-- the same for each query, with several conditions and limits: what came of it, and how often
CREATE FUNCTION compare_table(tab text, index text, conditions text[] DEFAULT
		'{true, d <= 0, d <= 3, d <= 31, d <= 60, d <= 110, d < 10000, fp IS NOT NULL, id % 3 = 0}',
	limits int[] DEFAULT '{1, 2, 10, 100, NULL}')
RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	RETURN (SELECT string_agg(result || ' ' || times, E'\n' ORDER BY result) FROM (
		SELECT compare_nearest(tab, index, condition, rows, qno) AS result, count(*) AS times
		FROM query, unnest(limits) rows, unnest(conditions) condition GROUP BY 1) s);
END $$;

CREATE FUNCTION compare_width(n int, random int, options text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	results text;
BEGIN
	PERFORM use_only('indexscan', '{sort,material}');
	CALL make_rows('doc', n, random);
	EXECUTE format('CREATE INDEX doc_fp ON doc USING simhash (fp) WITH (%s)', options);
	CALL make_queries(n);
	CALL expect_distances('doc');
	ANALYZE doc;
	results := compare_table('doc', 'doc_fp');

	-- delete, update, insert, again
	DELETE FROM doc WHERE id % 3 = 0;
	EXECUTE format('INSERT INTO doc SELECT 50000 + i, i %% 4, flip_wide(wide(''c'' || i %% 3, %s), i %% 9, ''n'' || i)
		FROM generate_series(1, 60) i', n);
	UPDATE doc SET fp = wide('c0', n) WHERE id % 50 = 1;
	CALL expect_distances('doc');
	RETURN results || '; ' || compare_table('doc', 'doc_fp');
END $$;

SELECT n, options, compare_width(n, random, options) FROM (VALUES
	(8, 300, 'fillfactor = 90'),
	(16, 300, 'blocks = 2, distance = 1'),
	(40, 1500, 'blocks = 5, distance = 2, fillfactor = 10'),
	(56, 1500, 'fillfactor = 10'),
	(64, 2500, 'fillfactor = 10'),
	(64, 1500, 'blocks = 6, distance = 3, fillfactor = 10'),
	(72, 1500, 'fillfactor = 10'),
	(96, 1500, 'fillfactor = 10'),
	(128, 2500, 'fillfactor = 10'),
	(144, 1500, 'fillfactor = 10'),
	(256, 2500, 'fillfactor = 10'),
	(256, 1500, 'fillfactor = 10, blocks = 32, distance = 31'),
	(576, 1000, 'fillfactor = 10'),
	(4096, 100, 'fillfactor = 90')) v(n, random, options);
