--
-- Conditions with many balls: each row once, whatever the balls have in common,
-- and no more work than the cheapest condition takes
--
\pset format unaligned
\pset footer off
CREATE SCHEMA index_many_balls_test;
SET search_path = index_many_balls_test, public; SET max_parallel_workers_per_gather = 0; SET client_min_messages = warning;

-- random, in clusters, equal, small numbers, null
CREATE TABLE doc (id int, fp simhash);
INSERT INTO doc
SELECT i, CASE WHEN i <= 700 THEN bits('r' || i)
			   WHEN i <= 1400 THEN flip(bits('c' || i % 50), i % 9, 'f' || i)
			   WHEN i <= 1700 THEN bits('e')
			   WHEN i <= 1950 THEN i
		  END
FROM generate_series(1, 2000) i;

-- sets of balls, the reason in their name; a null ball has a null center
CREATE TABLE ball (kind text, center bigint, radius int);
INSERT INTO ball
-- they overlap, and some are there twice, or with another radius
SELECT 'narrow', flip(bits('c' || i % 50), i % 5, 'n' || i % 700), i % 4 FROM generate_series(1, 1000) i
UNION ALL SELECT 'narrow', bits('r' || i), 3 FROM generate_series(1, 50) i
UNION ALL SELECT 'some', flip(bits('c' || i % 50), i % 4, 's' || i), 2 + i % 2 FROM generate_series(1, 150) i
UNION ALL SELECT 'mixed', flip(bits('c' || i % 50), i % 7, 'm' || i), i % 11 - 2 FROM generate_series(1, 300) i
UNION ALL SELECT 'mixed', CASE WHEN i % 3 = 0 THEN bits('e') ELSE i END, i % 7 FROM generate_series(1, 50) i
UNION ALL SELECT 'mixed', NULL, 3 FROM generate_series(1, 5) i
UNION ALL SELECT 'wide', bits('w' || i), 7 + i % 13 FROM generate_series(1, 300) i
-- more than are compared with at once
UNION ALL SELECT 'equally wide', flip(bits('c' || i % 50), 8, 'w' || i), 7 FROM generate_series(1, 1100) i
-- centers that agree in most blocks
UNION ALL SELECT 'alike', i, i % 3 FROM generate_series(1, 2000, 8) i
UNION ALL SELECT 'few', bits('c' || i), i FROM generate_series(1, 16) i
UNION ALL SELECT 'more', bits('c' || i), i FROM generate_series(1, 17) i
UNION ALL SELECT 'points', bits('r' || i % 150), 0 FROM generate_series(1, 300) i
UNION ALL SELECT 'all', bits('r' || i), CASE i WHEN 50 THEN 64 WHEN 51 THEN 100 ELSE i % 5 END
FROM generate_series(1, 60) i
UNION ALL SELECT 'none', bits('r' || i), -1 - i % 3 FROM generate_series(1, 50) i
UNION ALL SELECT 'none', NULL, 3
UNION ALL SELECT 'null', NULL, 3 FROM generate_series(1, 40) i;
CREATE TABLE kind AS
SELECT kind, array_agg(CASE WHEN center IS NOT NULL THEN simhash_ball(center::simhash, radius) END) AS balls,
	count(*) AS n
FROM ball GROUP BY kind;

-- the truth, by no code of the extension; and how far each row is from a query
CREATE TABLE truth AS
SELECT DISTINCT kind, id, distance(fp, bits('c7')) AS d
FROM (SELECT id, fp::bigint AS fp FROM doc OFFSET 0) doc JOIN ball ON distance(fp, center) <= radius;
SELECT kind, n AS balls, (SELECT count(*) FROM truth WHERE truth.kind = kind.kind) AS rows FROM kind ORDER BY kind;

-- Ask for the rows in a set of balls that meet another condition, in some
-- order or in none: 'ok', or what is wrong.
CREATE FUNCTION ask(k kind, condition text, truth text, ordering text DEFAULT '') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	statement text := format('SELECT id, distance(fp::bigint, bits(''c7'')) AS d FROM doc
		WHERE fp <@ ANY ($1) AND %s %s', condition, ordering);
	plan text := plan_of(replace(statement, '$1', quote_literal(k.balls::text) || '::simhash_ball[]'));
	got record;
	want record;
BEGIN
	IF plan LIKE '%Seq Scan%' OR plan LIKE '%Sort%' OR (plan LIKE '%Filter%' AND plan NOT LIKE '%Bitmap%') THEN
		RAISE EXCEPTION 'another plan' USING DETAIL = plan;
	END IF;
	EXECUTE format('SELECT count(*) AS n, count(DISTINCT id) AS ids, array_agg(id ORDER BY id) AS ids_of_all,
		array_agg(d ORDER BY place) AS d
		FROM (SELECT *, row_number() OVER () AS place FROM (%s) s) s', statement) USING k.balls INTO got;
	EXECUTE format('SELECT array_agg(id ORDER BY id) AS ids_of_all, array_agg(d ORDER BY d) AS d FROM truth
		WHERE kind = $1 AND %s', truth) USING k.kind INTO want;
	RETURN CASE WHEN got.n <> got.ids THEN 'rows more than once'
		WHEN got.ids_of_all IS DISTINCT FROM want.ids_of_all THEN format('%s rows, not %s', got.n,
			cardinality(want.ids_of_all))
		WHEN ordering <> '' AND got.d IS DISTINCT FROM want.d THEN 'not in order'
		ELSE 'ok' END;
END $$;
CREATE FUNCTION ask_all() RETURNS TABLE (form text, kinds bigint, alone text, more text, filter text, ordered text)
	LANGUAGE plpgsql AS $$
BEGIN
	PERFORM simhash_index_check('doc_fp', true);
	FOREACH form IN ARRAY '{indexscan,bitmapscan}'::text[] LOOP
		PERFORM use_only(form, '{sort}');
		SELECT count(*), string_agg(DISTINCT ask(k, 'true', 'true'), ', '),
			string_agg(DISTINCT ask(k, 'fp <~> bits(''c7'') <= 30', 'd <= 30'), ', '),
			string_agg(DISTINCT ask(k, 'fp <~> bits(''c7'') <= 5', 'd <= 5'), ', '),
			CASE form WHEN 'indexscan'
				THEN string_agg(DISTINCT ask(k, 'true', 'true', 'ORDER BY fp <~> bits(''c7'')'), ', ') END
		INTO kinds, alone, more, filter, ordered FROM kind k;
		RETURN NEXT;
	END LOOP;
END $$;
-- a small index, of which a ball reads whole tables
CREATE INDEX doc_fp ON doc USING simhash (fp);
SELECT * FROM ask_all();
DROP INDEX doc_fp;
CREATE INDEX doc_fp ON doc USING simhash (fp) WITH (blocks = 6, distance = 3);
SELECT * FROM ask_all();
DROP INDEX doc_fp;
-- more leaves, of which a ball reads some
CREATE INDEX doc_fp ON doc USING simhash (fp) WITH (fillfactor = 10);
SELECT * FROM ask_all();
DROP INDEX doc_fp;

-- Which condition drives the scan: how often the pages of the index are
-- accessed.
CREATE FUNCTION accesses(condition text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	before bigint := pg_stat_get_xact_blocks_fetched('doc_fp'::regclass);
	plan text;
BEGIN
	plan := plan_of('SELECT id FROM doc WHERE ' || condition);
	IF strpos(plan, 'Index Scan using doc_fp') = 0 OR strpos(plan, 'Filter') > 0 THEN
		RAISE EXCEPTION 'another plan' USING DETAIL = plan;
	END IF;
	before := pg_stat_get_xact_blocks_fetched('doc_fp'::regclass);
	EXECUTE 'SELECT id FROM doc WHERE ' || condition;
	RETURN pg_stat_get_xact_blocks_fetched('doc_fp'::regclass) - before;
END $$;
INSERT INTO doc SELECT i, bits('more' || i) FROM generate_series(10001, 40000) i;
CREATE INDEX doc_fp ON doc USING simhash (fp);
SELECT use_only('indexscan', '{sort}') \g /dev/null
CREATE TABLE points AS
SELECT format('ARRAY(SELECT bits(''more'' || i)::simhash FROM generate_series(10001, %s) i)', 10000 + n) AS list, n
FROM (VALUES (500), (5000)) v(n);
SELECT n, accesses(format('fp = ANY (%s) AND fp %% %L', list, bits('more10050')::simhash)) < 50 AS by_ball,
	accesses(format('fp = ANY (%s) AND fp %% ANY (%s)', list, 'ARRAY[1, 2, 3]::simhash[]')) < 150 AS by_three_balls
FROM points;

-- the cost of wide balls in an array is theirs, as if they stood alone
CREATE FUNCTION cost(condition text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE format('EXPLAIN SELECT id FROM doc WHERE %s ORDER BY fp <~> 0::bigint::simhash LIMIT 5',
		condition) LOOP
		IF strpos(line, 'Index Scan using doc_fp') > 0 THEN
			RETURN substring(line FROM 'cost=([0-9.]+)');
		END IF;
	END LOOP;
END $$;
SELECT radius, cost(format('fp <@ ANY (ARRAY[simhash_ball(5, %s)])', radius)) =
	cost(format('fp <@ simhash_ball(5, %s)', radius)) AS constant,
	cost(format('fp <@ ANY (ARRAY[simhash_ball((SELECT 5::bigint::simhash), %s)])', radius)) =
	cost(format('fp <@ simhash_ball((SELECT 5::bigint::simhash), %s)', radius)) AS unknown
FROM (VALUES (2), (3), (20), (64)) v(radius);

-- one row in more balls than there is memory for
CREATE TABLE one AS SELECT 1 AS id, 5::bigint::simhash AS fp;
CREATE INDEX one_fp ON one USING simhash (fp);
SET work_mem = '64kB';
SELECT count(*) FROM (SELECT id FROM one WHERE fp <@ ANY (ARRAY(
	SELECT simhash_ball(i::bigint::simhash, 16) FROM generate_series(1, 5000) i)) OFFSET 0) found;

-- 800 rows, each in 100 balls: no file is written
INSERT INTO one SELECT i, i::bigint::simhash FROM generate_series(1000, 1798) i;
CREATE FUNCTION files(query text, OUT node text, OUT rows int, OUT written int) LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) ' || query INTO plan;
	plan := plan -> 0 -> 'Plan';
	node := plan ->> 'Node Type';
	rows := (plan ->> 'Actual Rows')::float8;
	written := plan ->> 'Temp Written Blocks';
END $$;
SELECT * FROM files('SELECT id FROM one
	WHERE fp <@ ANY (ARRAY(SELECT simhash_ball(i::bigint::simhash, 11) FROM generate_series(1, 100) i))');

-- the cost counts the files of rows that are many
CREATE FUNCTION costs(query text) RETURNS float8[] LANGUAGE sql AS
	'SELECT ARRAY[estimate(query, ''Startup Cost''), estimate(query, ''Total Cost'')]';
CREATE TABLE cost AS SELECT costs($$SELECT id FROM doc WHERE fp <@ ANY ('{"(5,40)","(6,40)"}')$$);
RESET work_mem;
SELECT old.costs[1] > new[1] AS startup, old.costs[2] > new[2] AS total
FROM cost old, costs($$SELECT id FROM doc WHERE fp <@ ANY ('{"(5,40)","(6,40)"}')$$) new;

DROP SCHEMA index_many_balls_test CASCADE;
