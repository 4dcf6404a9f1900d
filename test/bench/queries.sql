-- What else one may ask, on random fingerprints: the nearest, large radii, a
-- smaller index, and a load past an exclusion constraint.  The sequential scans
-- use the same operators; both sides answer the same literal queries, one by one,
-- and a run whose two answers differ stops.

SET max_parallel_workers_per_gather = 0;
SET jit = off;

CREATE TABLE u (id integer, fp simhash);
SELECT setseed(0.125) \g /dev/null
INSERT INTO u SELECT i, random_bits() FROM setting, generate_series(1, rows) i;
-- random ones, and stored ones with two bits inverted
CREATE TABLE qu (id integer, fp simhash, near boolean);
INSERT INTO qu SELECT i, random_bits(), false FROM generate_series(1, 1000) i;
INSERT INTO qu SELECT 1000 + row_number() OVER (), fp::bigint # 1 # (1::bigint << 40), true FROM u WHERE id % (SELECT greatest(rows / 1000, 1) FROM setting) = 0 LIMIT 1000;
CREATE INDEX u_fp ON u USING simhash (fp);
VACUUM (FREEZE, ANALYZE) u;
VACUUM (FREEZE, ANALYZE) qu;

-- Milliseconds a query for a statement with $q for the query, over the first
-- random ones, and the sum of its answers.  "how" is the plan's node that must be
-- there; null if the planner may choose.
CREATE FUNCTION measure_each(statement text, how text, queries integer, OUT ms float8, OUT answer numeric)
LANGUAGE plpgsql AS $$
DECLARE
	started timestamptz;
	took float8[];
	texts text[] := (SELECT array_agg(replace(statement, '$q', quote_literal(fp)) ORDER BY id) FROM qu WHERE id <= queries);
	one numeric;
	plan text := (SELECT string_agg(p, E'\n') FROM plan_of(texts[1]) p);
BEGIN
	IF how IS NOT NULL AND plan NOT LIKE '%' || how || '%' THEN
		RAISE EXCEPTION 'the plan lacks "%"', how USING DETAIL = plan;
	END IF;
	FOR i IN 0 .. (SELECT rounds FROM setting) LOOP
		answer := 0;
		started := clock_timestamp();
		FOR k IN 1 .. queries LOOP
			EXECUTE texts[k] INTO one;
			answer := answer + one;
		END LOOP;
		-- the first round warms up
		IF i > 0 THEN
			took := took || 1000 * extract(epoch FROM clock_timestamp() - started)::float8 / queries;
		END IF;
	END LOOP;
	ms := median(took);
END $$;

CREATE PROCEDURE use_only(form text) LANGUAGE sql AS $$
	SELECT set_config('enable_' || setting, CASE WHEN form IN (setting, 'any') OR setting || form = 'indexscanindexonlyscan' THEN 'on' ELSE 'off' END, false)
	FROM unnest('{seqscan,bitmapscan,indexscan,indexonlyscan}'::text[]) setting
$$;

CREATE PROCEDURE compare_each(what text, statement text, ours_form text, ours_node text, queries integer)
LANGUAGE plpgsql AS $$
DECLARE
	ours record;
	base record;
BEGIN
	CALL use_only(ours_form);
	SELECT * FROM measure_each(statement, ours_node, queries) INTO ours;
	CALL use_only('seqscan');
	SELECT * FROM measure_each(statement, 'Seq Scan on u', queries) INTO base;
	CALL use_only('any');
	IF ours.answer IS DISTINCT FROM base.answer THEN
		RAISE EXCEPTION '%: the index finds %, the sequential scan %', what, ours.answer, base.answer;
	END IF;
	INSERT INTO result (what, unit, ours, baseline, baseline_name)
	VALUES (what, 'ms', ours.ms, base.ms, 'sequential scan');
END $$;

CALL compare_each('nearest 10', 'SELECT sum(d::integer) FROM (SELECT fp <~> $q AS d, id FROM u ORDER BY fp <~> $q LIMIT 10) s',
				  'indexscan', 'Index Scan using u_fp%Order By:', 5);
SELECT format('CALL compare_each(%L, %L, ''indexscan'', ''Index Scan using u_fp'', 5)', 'radius ' || r,
			  'SELECT count(id) FROM u WHERE fp <~> $q <= ' || r)
FROM unnest('{3,7,10,14,20,24}'::integer[]) r
\gexec
-- beyond that a table of the index is read from end to end, if need be
SELECT format('CALL compare_each(%L, %L, ''indexonlyscan'', ''Index Only Scan using u_fp'', 5)', format('radius %s, index only', r),
			  'SELECT count(fp) FROM u WHERE fp <~> $q <= ' || r)
FROM unnest('{20,24,32}'::integer[]) r
\gexec
-- as the planner likes
SELECT format('CALL compare_each(%L, %L, ''any'', NULL, 5)', format('radius %s, plan chosen freely', r),
			  'SELECT count(id) FROM u WHERE fp <~> $q <= ' || r)
FROM unnest('{20,24,32}'::integer[]) r
\gexec

-- one near neighbour: the nearest, beside a look-up of all that are near
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET enable_material = off;
SET enable_memoize = off;
INSERT INTO result (what, unit, ours, baseline, baseline_name)
SELECT 'nearest 1, one within distance 2', 'us/query', 1000 * o.ms / n, 1000 * b.ms / n, 'look-up, radius 3'
FROM (SELECT count(*) AS n FROM qu WHERE near) n,
	measure_query('SELECT count(o.id) FROM qu, LATERAL (SELECT id FROM u ORDER BY u.fp <~> qu.fp LIMIT 1) o WHERE near', (SELECT rounds FROM setting)) o,
	measure_query('SELECT count(u.id) FROM qu JOIN u ON u.fp <~> qu.fp <= 3 WHERE near', (SELECT rounds FROM setting)) b;

-- the small index beside the default one
SELECT pg_relation_size('u_fp') / 1048576.0 AS size, ms, answer
FROM measure_query('SELECT count(u.id) FROM qu JOIN u ON u.fp <~> qu.fp <= 3', (SELECT rounds FROM setting)) \gset default_
DROP INDEX u_fp;
CREATE INDEX u_fp ON u USING simhash (fp) WITH (blocks = 2, distance = 1);
SELECT pg_relation_size('u_fp') / 1048576.0 AS size, ms, answer
FROM measure_query('SELECT count(u.id) FROM qu JOIN u ON u.fp <~> qu.fp <= 3', (SELECT rounds FROM setting)) \gset small_
DO $$ BEGIN IF (SELECT count(*) FROM plan_of('SELECT count(u.id) FROM qu JOIN u ON u.fp <~> qu.fp <= 3') p WHERE p LIKE '%Index Scan using u_fp%') = 0
	THEN RAISE EXCEPTION 'the index is not used'; END IF; END $$;
SELECT :default_answer <> :small_answer AS differ \gset
\if :differ
\echo 'THE TWO SCHEMES FOUND DIFFERENT NUMBERS OF ROWS'
\quit
\endif
INSERT INTO result (what, unit, ours, baseline, baseline_name)
SELECT 'index size, scheme (2,1)', 'MB', :small_size, :default_size, 'scheme (4,3)'
UNION ALL
SELECT 'look-up, radius 3, scheme (2,1)', 'us/query', 1000 * :small_ms / n, 1000 * :default_ms / n, 'scheme (4,3)'
FROM (SELECT count(*) AS n FROM qu) n;
RESET enable_seqscan;
RESET enable_bitmapscan;
DROP TABLE u, qu;

-- a load of which the near-duplicates are refused, beside one that refuses nothing
CREATE PROCEDURE measure_load(definition text, INOUT ms float8) LANGUAGE plpgsql AS $$
DECLARE
	started timestamptz;
	took float8[];
BEGIN
	FOR i IN 1 .. (SELECT rounds FROM setting) LOOP
		EXECUTE definition;
		started := clock_timestamp();
		INSERT INTO c SELECT id, fp FROM more ON CONFLICT DO NOTHING;
		took := took || 1000 * extract(epoch FROM clock_timestamp() - started)::float8;
		COMMIT;
		DROP TABLE c;
		COMMIT;
	END LOOP;
	ms := median(took);
END $$;
CALL measure_load('CREATE TABLE c (id integer, fp simhash, EXCLUDE USING simhash (fp WITH %))', NULL) \gset constraint_
CALL measure_load('CREATE TABLE c (id integer, fp simhash); CREATE INDEX ON c USING simhash (fp)', NULL) \gset index_
INSERT INTO result (what, unit, ours, baseline, baseline_name)
SELECT format('load of %s rows, exclusion constraint', inserts), 'us/row', 1000 * :constraint_ms / inserts, 1000 * :index_ms / inserts,
	   'index, no constraint'
FROM setting;
RESET ALL;
