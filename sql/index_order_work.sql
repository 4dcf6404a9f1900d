--
-- How much an ordered scan reads, and what memory it takes: bounded whatever
-- is asked for
--
\pset format unaligned
\pset footer off
CREATE SCHEMA index_order_work_test;
SET search_path = index_order_work_test, public; SET max_parallel_workers_per_gather = 0; SET client_min_messages = warning;

-- nothing but the index, and that in order
SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_indexonlyscan = off; SET enable_sort = off;

-- How often a query reads the pages of one table of an index, of which it has
-- so many: rounded up, after allowing for the way down to what it starts with.
CREATE FUNCTION readings(query text, index regclass, tables int DEFAULT 4) RETURNS int
LANGUAGE plpgsql AS $$
DECLARE
	pages float8 := pg_relation_size(index) / current_setting('block_size')::float8 / tables;
	before bigint;
	plan text := plan_of(query);
BEGIN
	IF strpos(plan, format('Index Scan using %s on ', index)) = 0 OR strpos(plan, 'Order By: (') = 0 THEN
		RAISE EXCEPTION 'the order does not come from the index: %', query USING DETAIL = plan;
	END IF;
	before := pg_stat_get_xact_blocks_fetched(index);
	EXECUTE query;
	RETURN ceil((pg_stat_get_xact_blocks_fetched(index) - before - 20) / pages);
END $$;

CREATE TABLE random (id int, fp simhash);
INSERT INTO random SELECT i, bits('r' || i) FROM generate_series(1, 30000) i;
CREATE INDEX random_fp ON random USING simhash (fp);
-- one value in all rows
CREATE TABLE equal (id int, fp simhash);
INSERT INTO equal SELECT i, bits('e') FROM generate_series(1, 30000) i;
CREATE INDEX equal_fp ON equal USING simhash (fp);
-- small numbers, so that the first tables hardly tell them apart
CREATE TABLE small (id int, fp simhash);
INSERT INTO small SELECT i, i FROM generate_series(1, 30000) i;
CREATE INDEX small_fp ON small USING simhash (fp);
VACUUM (ANALYZE) random, equal, small;

CREATE TABLE query (q simhash);
INSERT INTO query VALUES (0), ((-1)::bigint), (bits('r7')), (bits('e')), (flip(bits('e'), 5, 'q')), (5731);

-- conditions that no row meets, seen by the executor only: each scan goes on to
-- the end; at most four readings
CREATE FUNCTION most_readings(source regclass, condition text DEFAULT 'true')
RETURNS TABLE (memory text, at_most_four bool, keys_two bool) LANGUAGE plpgsql AS $$
BEGIN
	FOREACH memory IN ARRAY '{64kB,16MB}'::text[] LOOP
		PERFORM set_config('work_mem', memory, true);
		SELECT bool_and(readings(format('SELECT id FROM %s WHERE id = -1 AND %s ORDER BY fp <~> %L LIMIT 1',
										source, condition, q), (source || '_fp')::regclass) <= 4),
			bool_and(readings(format('SELECT id FROM %s WHERE id = -1 AND %s ORDER BY fp <~> %L, fp <~> 7',
									 source, condition, q), (source || '_fp')::regclass) <= 4)
		INTO at_most_four, keys_two
		FROM query;
		RETURN NEXT;
	END LOOP;
END $$;
SELECT * FROM most_readings('random');
SELECT * FROM most_readings('equal');
SELECT * FROM most_readings('small');
SELECT * FROM most_readings('random', 'fp <~> 0 <= 30');
SELECT * FROM most_readings('equal', format('fp %% %L', bits('e')::simhash));
SELECT * FROM most_readings('small', 'fp <@ ANY (ARRAY[simhash_ball(7, 3), simhash_ball(900, 3), simhash_ball(0, 9)])');
-- the nearest ones take no more than they did: a ball by probes, a table
SELECT bool_and(readings(format('SELECT id FROM random ORDER BY fp <~> %L LIMIT 10', bits('q' || i)::simhash),
	'random_fp') <= 2) AS ten
FROM generate_series(1, 20) i;
-- all rows far away, where few are expected: the first reading of a table finds none, and
-- the second one expects nothing
CREATE TABLE far (id int, fp simhash);
INSERT INTO far SELECT i, flip(-1, 10, 'f' || i) FROM generate_series(1, 30000) i;
CREATE INDEX far_fp ON far USING simhash (fp) WITH (fillfactor = 10);
SELECT n, readings(format('SELECT id FROM far ORDER BY fp <~> 0 LIMIT %s', n), 'far_fp')
FROM unnest('{1,1000}'::int[]) n;
-- a table that is not yet in order inside its leaves, and has dead entries
UPDATE random SET fp = bits('u' || id) WHERE id % 9 = 0;
SELECT * FROM most_readings('random');

-- Memory: what the contexts of a scan have while a cursor is open.  All rows
-- are at one distance from the first center, so the server sorts all by the
-- second one.
CREATE FUNCTION scan_memory() RETURNS bigint LANGUAGE sql AS $$
	SELECT sum(total_bytes)::bigint FROM pg_backend_memory_contexts
	WHERE name LIKE 'simhash%' AND name NOT IN ('simhash inner pages', 'simhash indexes')
$$;
SET work_mem = '64kB';
BEGIN;
DECLARE two CURSOR FOR SELECT id FROM equal ORDER BY fp <~> 0, fp <~> 1;
FETCH 1 FROM two \g /dev/null
SELECT scan_memory() < 100000 AS little_memory;
MOVE FORWARD 15000 FROM two;
SELECT scan_memory() < 100000 AS little_memory;
COMMIT;
RESET work_mem;

-- Cursors: pieces of any size, two at once, one that is left in the middle, a
-- subtransaction that fails while files are open, and one that outlives its
-- transaction.  What comes must be what a sort gives.
CREATE TABLE mixed (id int, fp simhash);
INSERT INTO mixed
SELECT i, CASE WHEN i % 3 = 0 THEN bits('e') WHEN i % 3 = 1 THEN bits('r' || i) WHEN i % 30 = 2 THEN NULL ELSE i END
FROM generate_series(1, 30000) i;
CREATE INDEX mixed_fp ON mixed USING simhash (fp);
VACUUM (ANALYZE) mixed;
CREATE FUNCTION in_pieces(q simhash, r simhash, pieces int[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	one CURSOR FOR SELECT id, fp FROM mixed ORDER BY fp <~> q;
	two CURSOR FOR SELECT id, fp FROM mixed ORDER BY fp <~> r, fp <~> q;
	left_open CURSOR FOR SELECT id FROM mixed ORDER BY fp <~> r, fp <~> 0;
	row record;
	d int;
	last_one int := -1;
	last_two int[] := '{-1,-1}';
	ids_one int[] := '{}';
	ids_two int[] := '{}';
	more bool := true;
	piece int := 0;
BEGIN
	OPEN one;
	OPEN two;
	BEGIN
		OPEN left_open;
		MOVE FORWARD 20000 FROM left_open;
		RAISE division_by_zero;
	EXCEPTION WHEN division_by_zero THEN
	END;
	WHILE more LOOP
		more := false;
		piece := piece % cardinality(pieces) + 1;
		FOR i IN 1..pieces[piece] LOOP
			FETCH one INTO row;
			EXIT WHEN NOT FOUND;
			more := true;
			ids_one := ids_one || row.id;
			d := coalesce(distance(row.fp::bigint, q::bigint), 65);
			IF d < last_one THEN RETURN 'one: not in order'; END IF;
			last_one := d;
		END LOOP;
		FOR i IN 1..pieces[piece] LOOP
			FETCH two INTO row;
			EXIT WHEN NOT FOUND;
			more := true;
			ids_two := ids_two || row.id;
			IF ARRAY[coalesce(distance(row.fp::bigint, r::bigint), 65),
				coalesce(distance(row.fp::bigint, q::bigint), 65)] < last_two THEN
				RETURN 'two: not in order';
			END IF;
			last_two := ARRAY[coalesce(distance(row.fp::bigint, r::bigint), 65),
				coalesce(distance(row.fp::bigint, q::bigint), 65)];
		END LOOP;
	END LOOP;
	RETURN concat_ws(', ', 'in order',
		(SELECT CASE WHEN count(*) = 30000 AND count(DISTINCT id) = 30000 THEN 'all once'
			ELSE count(DISTINCT id) || ' of ' || count(*) END FROM unnest(ids_one) id),
		(SELECT CASE WHEN count(*) = 30000 AND count(DISTINCT id) = 30000 THEN 'all once'
			ELSE count(DISTINCT id) || ' of ' || count(*) END FROM unnest(ids_two) id));
END $$;
SELECT plan('SELECT id FROM mixed ORDER BY fp <~> 5, fp <~> 7');
SET work_mem = '64kB';
SELECT in_pieces(bits('e'), 0, '{1,500,7,3000}');
SELECT in_pieces(-1, bits('r4'), '{10000}');
RESET work_mem;
SELECT in_pieces(bits('e'), 0, '{1,500,7,3000}');
SELECT in_pieces(bits('nowhere'), bits('r4'), '{300}');

BEGIN;
SET LOCAL work_mem = '64kB';
DECLARE kept CURSOR WITH HOLD FOR SELECT id FROM mixed ORDER BY fp <~> 0, fp <~> 5;
FETCH 2 FROM kept \g /dev/null
COMMIT;
MOVE FORWARD ALL FROM kept;
CLOSE kept;
-- there and back: the executor keeps what it has seen
BEGIN;
SET LOCAL work_mem = '64kB';
DECLARE back SCROLL CURSOR FOR SELECT coalesce(distance(fp::bigint, 0), 65) AS d FROM mixed ORDER BY fp <~> 0;
MOVE FORWARD ALL FROM back;
FETCH PRIOR FROM back;
FETCH FIRST FROM back;
FETCH ABSOLUTE 15000 FROM back;
COMMIT;

-- rescans, some of them in the middle of what was collected, with conditions or
-- without; the distances must be those of a sort
SET work_mem = '64kB';
CREATE TABLE rescan (qno int, fp simhash, n int);
INSERT INTO rescan
SELECT i, CASE i % 4 WHEN 0 THEN bits('e') WHEN 1 THEN bits('r' || i) WHEN 2 THEN i * 1000 ELSE NULL END,
	i * 997 % 12000
FROM generate_series(1, 16) i;
CREATE FUNCTION rescans(condition text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	got text;
	want text;
BEGIN
	EXECUTE format('SELECT string_agg(concat_ws('':'', qno, n, d), '','' ORDER BY qno)
		FROM (SELECT qno, count(*) AS n, sum(r.d) AS d FROM rescan,
		LATERAL (SELECT coalesce(distance(m.fp::bigint, rescan.fp::bigint), 65) AS d FROM mixed m WHERE %s
				 ORDER BY m.fp <~> rescan.fp LIMIT rescan.n) r GROUP BY qno) s', condition) INTO got;
	EXECUTE format('SELECT string_agg(concat_ws('':'', qno, n, d), '','' ORDER BY qno)
		FROM (SELECT qno, count(*) AS n, sum(r.d) AS d FROM rescan,
		LATERAL (SELECT coalesce(distance(m.fp::bigint, rescan.fp::bigint), 65) AS d FROM mixed m WHERE %s
				 ORDER BY d LIMIT rescan.n) r GROUP BY qno) s', condition) INTO want;
	RETURN CASE WHEN got = want THEN 'the same' ELSE concat(got, ' not ', want) END;
END $$;
SELECT rescans('true'), rescans('m.id % 2 = 0'), rescans('m.fp <~> 0 <= 32');
SELECT rescans('m.fp % bits(''e'')');

-- several keys, sorted on disk as well: the distances must be those of a sort
CREATE FUNCTION keys(n int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	centers bigint[] := ARRAY[0, 1, -1, 5731, 77, bits('e')];
	orders text := (SELECT string_agg(format('fp <~> %L', c), ', ' ORDER BY i) FROM unnest(centers[:n]) WITH ORDINALITY u(c, i));
	distances text := (SELECT string_agg(format('distance(fp::bigint, %L)', c), ', ' ORDER BY i) FROM unnest(centers[:n]) WITH ORDINALITY u(c, i));
	query text := format('SELECT concat_ws('':'', %s) AS d FROM mixed WHERE fp IS NOT NULL ORDER BY %s', distances, orders);
	got text;
	want text;
BEGIN
	IF plan_of(query) NOT LIKE '%Order By: %' THEN
		RETURN plan_of(query);
	END IF;
	EXECUTE format('SELECT md5(string_agg(d, '','')) FROM (%s) s', query) INTO got;
	EXECUTE format('SELECT md5(string_agg(concat_ws('':'', %1$s), '','' ORDER BY %1$s)) FROM mixed WHERE fp IS NOT NULL', distances) INTO want;
	RETURN CASE WHEN got = want THEN 'the same' ELSE concat(got, ' not ', want) END;
END $$;
SELECT memory, n, keys(n) FROM unnest('{64kB,16MB}'::text[]) memory, unnest('{1,2,3,4}'::int[]) n
WHERE set_config('work_mem', memory, false) = memory ORDER BY memory, n;
RESET work_mem;

DROP SCHEMA index_order_work_test CASCADE;
