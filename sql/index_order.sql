--
-- ORDER BY distance, and index-only scans: the same as without the index
--
\pset format unaligned
\pset footer off
CREATE SCHEMA index_order_test;
SET search_path = index_order_test, public; SET max_parallel_workers_per_gather = 0; SET client_min_messages = warning;

-- random fingerprints, clusters, equal ones, zeros, nulls
CREATE TABLE docs (id int, fp simhash) WITH (autovacuum_enabled = off);
INSERT INTO docs
SELECT i,
	CASE WHEN i <= 3000 THEN bits('r' || i)
		 WHEN i <= 4500 THEN bits('c' || i / 10) # (1::bigint << (i % 10)) # (1::bigint << (20 + i % 7))
		 WHEN i <= 5500 THEN bits('e')
		 WHEN i <= 5600 THEN 0
		 WHEN i <= 5900 THEN i
		 END
FROM generate_series(1, 6000) i;

CREATE TABLE query (qno int, fp simhash);
INSERT INTO query
VALUES (1, 0), (2, -1), (3, bits('r7')), (4, bits('c400')), (5, bits('e')), (6, bits('e') # 5),
	   (7, bits('nowhere')), (8, 5731);

-- Rows by distance from a query, of those that meet a condition, at most so
-- many: 'ok' if these are the nearest ones in the right order, each once and
-- with its own distance, or what is wrong.  The condition has Q for the query
-- and D for the distance.
CREATE FUNCTION ordered(index regclass, q simhash, condition text, n int) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
	statement text := format('SELECT id, fp, fp <~> %1$L AS d FROM docs WHERE %2$s ORDER BY fp <~> %1$L LIMIT %3$s',
							 q, replace(replace(condition, 'D', 'fp <~> Q'), 'Q', quote_literal(q)),
							 coalesce(n::text, 'ALL'));
	brute text := format('SELECT id, d FROM (SELECT id, fp, distance(fp::bigint, %L) AS d FROM docs) b WHERE %s',
						 q::bigint, replace(replace(condition, 'D', 'd'), 'Q', quote_literal(q)));
	got record;
	want record;
BEGIN
	PERFORM set_config('enable_seqscan', 'off', true),
			set_config('enable_sort', 'off', true),
			set_config('enable_bitmapscan', 'off', true);
	IF plan_of(statement) NOT LIKE format('%%Index Scan using %s on docs%%Order By: %%', index)
		OR plan_of(statement) LIKE '%Sort%' THEN
		RETURN E'another plan:\n' || plan_of(statement);
	END IF;
	EXECUTE format('SELECT array_agg(d::int ORDER BY place) AS d, count(*) AS n, count(DISTINCT id) AS ids,
		sum(hashint8extended(id, 1)) AS rows,
						count(*) FILTER (WHERE d IS DISTINCT FROM distance(fp::bigint, %L)) AS wrong
					FROM (SELECT *, row_number() OVER () AS place FROM (%s) r) o', q::bigint, statement) INTO got;
	PERFORM set_config('enable_indexscan', 'off', true),
			set_config('enable_seqscan', 'on', true);
	EXECUTE format('SELECT (array_agg(d ORDER BY d NULLS LAST))[1:coalesce(%L, count(*))]::int[] AS d,
		sum(hashint8extended(id, 1)) AS rows
					FROM (%s) b', n, brute) INTO want;
	PERFORM set_config('enable_indexscan', 'on', true);
	RETURN CASE
		WHEN got.wrong > 0 THEN 'wrong distances'
		WHEN got.ids <> got.n THEN 'rows more than once'
		WHEN got.d IS DISTINCT FROM want.d THEN
			format('distances: %s rows, not %s', got.n, cardinality(want.d))
		WHEN n IS NULL AND got.rows IS DISTINCT FROM want.rows THEN 'other rows'
		ELSE 'ok' END;
END $$;

-- all queries, in make check a part of them, and how the results are: one line if all is well
CREATE FUNCTION all_ordered(index regclass)
RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM simhash_index_check(index, true);
	RETURN QUERY SELECT DISTINCT ordered(index, q.fp, c.condition, l.n)
	FROM query q,
		(VALUES ('true'), ('D <= 3'), ('D <= 9'), ('D <= 40'), ('fp IS NOT NULL'), ('fp <~> 0 <= 30'),
			('id % 3 = 0')) c(condition),
		(VALUES (1), (5), (300), (2000), (NULL)) l(n)
	WHERE get_byte(decode(md5(concat(qno, condition, n)), 'hex'), 0) % effort(4, 1) = 0;
END $$;

-- What an index-only scan returns: 'ok', or what is wrong.
CREATE FUNCTION index_only(index regclass, q simhash, r int) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
	condition text;
	statement text;
	got record;
	want record;
BEGIN
	FOR condition IN VALUES (format('fp <~> %L <= %s', q, r)), (format('fp = %L', q)), ('fp IS NULL'),
		('fp IS NOT NULL') LOOP
		statement := 'SELECT count(*) AS n, count(fp) AS non_null, sum(hashint8extended(fp::bigint, 1)) AS fps
			FROM docs WHERE ' || condition;
		PERFORM set_config('enable_seqscan', 'off', true),
				set_config('enable_bitmapscan', 'off', true);
		IF strpos(plan_of(statement), 'Index Only Scan using ' || index) = 0 THEN
			RETURN E'another plan:\n' || plan_of(statement);
		END IF;
		EXECUTE statement INTO got;
		PERFORM set_config('enable_seqscan', 'on', true),
				set_config('enable_indexscan', 'off', true);
		EXECUTE statement INTO want;
		PERFORM set_config('enable_indexscan', 'on', true);
		IF got IS DISTINCT FROM want THEN
			RETURN format('%s: %s rows, not %s, or other ones', condition, got.n, want.n);
		END IF;
	END LOOP;
	RETURN 'ok';
END $$;
CREATE FUNCTION all_index_only(index regclass)
RETURNS SETOF text LANGUAGE sql AS $$
	SELECT DISTINCT index_only(index, q.fp, r)
	FROM query q, (VALUES (-1), (0), (3), (6), (20), (64)) r(r)
	WHERE (qno + r) % effort(3, 1) = 0
$$;

-- before the first VACUUM no page is known to be visible to all
CREATE INDEX docs_fp ON docs USING simhash (fp);
SELECT * FROM all_ordered('docs_fp')
UNION ALL SELECT * FROM all_index_only('docs_fp');
VACUUM docs;
SELECT * FROM all_index_only('docs_fp');
-- all rows within each radius, the farthest too
SELECT DISTINCT ordered('docs_fp', q.fp, format('D <= %s', r), NULL)
FROM query q, generate_series(0, 64, effort(4, 1)) r WHERE qno IN (2, 3, 6);
-- some pages are, some are not; dead and new rows
DELETE FROM docs WHERE id % 5 = 0 AND id > 2000;
UPDATE docs SET fp = bits('u' || id) WHERE id % 7 = 0 AND id > 3000;
INSERT INTO docs SELECT 10000 + i, i FROM generate_series(1, 300) i;
SELECT * FROM all_ordered('docs_fp')
UNION ALL SELECT * FROM all_index_only('docs_fp');
VACUUM docs;
SELECT * FROM all_ordered('docs_fp')
UNION ALL SELECT * FROM all_index_only('docs_fp');
-- hardly any memory for what is still to be sorted
SET work_mem = '64kB';
SELECT * FROM all_ordered('docs_fp');
RESET work_mem;
DROP INDEX docs_fp;

-- other schemes
CREATE FUNCTION all_with(options text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE INDEX built ON docs USING simhash (fp) WITH (%s)', options);
	RETURN QUERY SELECT * FROM all_ordered('built') UNION ALL SELECT * FROM all_index_only('built');
	DROP INDEX built;
END $$;
SELECT options, a.* FROM unnest('{"blocks = 2, distance = 1","blocks = 6, distance = 3","blocks = 4, distance = 0",
	"blocks = 16, distance = 2","blocks = 1, distance = 0"}'::text[]) options, all_with(options) a;

-- the inner side of a join: a rescan for each query, one of them null
CREATE INDEX docs_fp ON docs USING simhash (fp);
INSERT INTO query VALUES (9, NULL);
SET enable_sort = off;
EXPLAIN (COSTS OFF)
SELECT d.id FROM query q, LATERAL (SELECT id FROM docs ORDER BY docs.fp <~> q.fp LIMIT 10) d;
SELECT q.qno, count(*) AS rows, min(d.d) AS nearest, max(d.d) = want.d[10] AS right_furthest,
	count(DISTINCT d.id) AS different
FROM query q,
	LATERAL (SELECT id, docs.fp <~> q.fp AS d FROM docs ORDER BY docs.fp <~> q.fp LIMIT 10) d,
	LATERAL (SELECT array_agg(d ORDER BY d) AS d
		FROM (SELECT distance(docs.fp::bigint, q.fp::bigint) AS d FROM docs) s) want
GROUP BY q.qno, want.d[10] ORDER BY q.qno;
-- no order at all
SELECT count(*) = (SELECT count(*) FROM docs) AS all, count(DISTINCT id) = count(*) AS once
FROM (SELECT id FROM docs ORDER BY fp <~> (SELECT fp FROM query WHERE qno = 9)) o;

-- of several distances, the index has the order by the first one
SET enable_sort = on;
SELECT n, plan_of(format('SELECT id FROM docs ORDER BY %s LIMIT 1', string_agg(format('fp <~> %s', i), ', '))) ~ 'Presorted Key' AS presorted
FROM (VALUES (1), (2), (5)) AS number(n), generate_series(1, n) i GROUP BY n ORDER BY n;

-- workers do not share a scan of an index
SET max_parallel_workers_per_gather = 2; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0;
SET min_parallel_index_scan_size = 0; SET min_parallel_table_scan_size = 0;
SET enable_bitmapscan = off; SET enable_seqscan = off;
SELECT plan_of('SELECT sum(id) FROM docs WHERE fp <~> 5 <= 40') ~ '-> +Index Scan using docs_fp' AS alone;
RESET enable_bitmapscan; RESET enable_seqscan; SET max_parallel_workers_per_gather = 0;

-- an empty table
TRUNCATE docs;
SELECT id FROM docs ORDER BY fp <~> 0 LIMIT 5;
SELECT count(fp) FROM docs WHERE fp <~> 0 <= 3;
-- only nulls
INSERT INTO docs SELECT i, NULL FROM generate_series(1, 2000) i;
SELECT count(*), count(DISTINCT id) FROM (SELECT id FROM docs ORDER BY fp <~> 0) o;

DROP SCHEMA index_order_test CASCADE;
