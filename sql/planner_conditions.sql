--
-- Planner support: every way to ask for near-duplicates becomes an index
-- condition, and means the same as plain integer arithmetic
--
CREATE SCHEMA planner_conditions_test;
SET search_path = planner_conditions_test, public; SET max_parallel_workers_per_gather = 0;
\pset format unaligned
\pset tuples_only on

-- a fingerprint that looks random, the same on every machine
CREATE FUNCTION scattered(n bigint) RETURNS simhash LANGUAGE sql IMMUTABLE STRICT
AS $$ SELECT ('x' || left(md5(n::text), 16))::bit(64)::bigint::simhash $$;

-- the same with the lowest n bits flipped
CREATE FUNCTION flipped(fp simhash, n int) RETURNS simhash LANGUAGE sql IMMUTABLE STRICT
AS $$ SELECT (fp::bigint # ((1::bigint << n) - 1))::simhash $$;

-- 8000 fingerprints of their own, 500 with 1 to 4 versions within 4 bits, nulls
CREATE TABLE docs (id int PRIMARY KEY, fp simhash, title text);
INSERT INTO docs SELECT n, scattered(n), 'text ' || n % 10 FROM generate_series(1, 8500) n;
INSERT INTO docs SELECT 10000 + n * 4 + v, flipped(scattered(n), v), 'version'
FROM generate_series(1, 500) n, generate_series(1, 4) v WHERE v <= 1 + n % 4;
INSERT INTO docs SELECT 20000 + n, NULL, 'empty' FROM generate_series(1, 100) n;
CREATE INDEX docs_fp ON docs USING simhash (fp);

CREATE TABLE queries (id int, fp simhash, small smallint, radius int, large bigint);
INSERT INTO queries
SELECT n, scattered(n), n % 5 - 1, n % 5 - 1, n % 5 - 1 FROM generate_series(1, 20) n
UNION ALL SELECT 21, NULL, 3, 3, 3
UNION ALL SELECT 22, scattered(22), NULL, NULL, NULL;
ANALYZE docs, queries;

--
-- Without any setting: a small radius takes the index, a large one does not
--
SELECT plan('SELECT * FROM docs WHERE fp <~> 5 <= 3');
SELECT plan('SELECT * FROM docs WHERE fp <~> 5 <= 40');
SELECT plan('SELECT * FROM docs WHERE fp <~> 5 <= 3 LIMIT 1');

-- From here on the question is what is possible.
SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_indexonlyscan = off; SET enable_material = off;
SET enable_memoize = off;

--
-- Constants
--
SELECT plan('SELECT * FROM docs WHERE fp <~> 5 <= 3');
SELECT plan('SELECT * FROM docs WHERE 5 <~> fp <= 3');
SELECT plan('SELECT * FROM docs WHERE fp <~> ''0xff'' <= 3');
SELECT plan('SELECT * FROM docs WHERE fp <~> 18446744073709551615 <= 3');
SELECT plan('SELECT * FROM docs WHERE hamming(fp, 5) <= 3');
SELECT plan('SELECT * FROM docs WHERE hamming(5, fp) <= 3');
SELECT plan('SELECT * FROM docs WHERE 3 >= fp <~> 5');
SELECT plan('SELECT * FROM docs WHERE fp <~> 5 < 4');
SELECT plan('SELECT * FROM docs WHERE 4 > fp <~> 5');
SELECT plan('SELECT * FROM docs WHERE fp <~> 5 = 0');
SELECT plan('SELECT * FROM docs WHERE 0 = fp <~> 5');
SELECT plan('SELECT * FROM docs WHERE fp <~> 5 = 2');
SELECT plan('SELECT * FROM docs WHERE 2 = fp <~> 5');
SELECT plan('SELECT * FROM docs WHERE fp <~> 5 BETWEEN 1 AND 3');
SELECT plan('SELECT * FROM docs WHERE fp <~> 5 <= 3::smallint');
SELECT plan('SELECT * FROM docs WHERE fp <~> 5 <= 3::bigint');
SELECT plan('SELECT * FROM docs WHERE 3::smallint >= fp <~> 5');
SELECT plan('SELECT * FROM docs WHERE 4::bigint > fp <~> 5');
SELECT plan('SELECT * FROM docs WHERE fp <~> 5 = 2::smallint');
SELECT plan('SELECT * FROM docs WHERE fp <~> 5 = 2::bigint');
SELECT plan('SELECT * FROM docs WHERE fp <~> 5 <= ''3''');
SELECT plan('SELECT * FROM docs WHERE fp <~> 5 <= 1 + 2');
SELECT plan('SELECT * FROM docs WHERE fp <~> 5 <= -7');
SELECT plan('SELECT * FROM docs WHERE fp <~> 5 = -7');
SELECT plan('SELECT * FROM docs WHERE fp <~> 5 = 65');
SELECT plan('SELECT * FROM docs WHERE fp <~> 5 <= 9223372036854775807');
SELECT plan('SELECT * FROM docs WHERE fp <~> 5 < (-9223372036854775808)::bigint');
SELECT plan('SELECT * FROM docs WHERE fp <~> 5 < (-2147483648)::int');
SELECT plan('SELECT * FROM docs WHERE fp <~> 5 <= NULL');
SELECT plan('SELECT * FROM docs WHERE fp <~> NULL <= 3');
SELECT plan('SELECT * FROM docs WHERE simhash_within(fp, 5, 3)');
SELECT plan('SELECT * FROM docs WHERE simhash_within(5, fp, 3)');
SELECT plan('SELECT * FROM docs WHERE fp % 5');
SELECT plan('SELECT * FROM docs WHERE 5 % fp');
SELECT plan('SELECT * FROM docs WHERE fp <@ simhash_ball(5, 3)');
SELECT plan('SELECT * FROM docs WHERE simhash_ball(5, 3) @> fp');
SELECT plan('SELECT * FROM docs WHERE fp = 5');
SELECT plan('DELETE FROM docs WHERE fp <~> 5 <= 3');

-- Not a bound from above, negated or not, or not our operator: no index condition.
SELECT plan('SELECT * FROM docs WHERE fp <~> 5 > 3');
SELECT plan('SELECT * FROM docs WHERE fp <~> 5 > ''3''');
SELECT plan('SELECT * FROM docs WHERE NOT (fp <~> 5 > 3)');
SELECT plan('SELECT * FROM docs WHERE NOT (fp <~> 5 <= 3)');
SELECT plan('SELECT * FROM docs WHERE fp <~> 5 <= 3.0');
SELECT plan('SELECT * FROM docs WHERE fp <~> 5 <= 3.5::float8');
SELECT plan('SELECT * FROM docs WHERE 3::float8 > fp <~> 5');
SELECT plan('SELECT * FROM docs WHERE fp <~> 5 = 2::float4');
SELECT plan('SELECT * FROM docs WHERE fp <~> 5 IN (0, 1)');
SELECT plan('SELECT * FROM docs WHERE (fp <~> 5)::int <= 3');
SELECT plan('SELECT * FROM docs WHERE fp <~> fp <= 3');
-- Not known before the scan: likewise; and never evaluated twice.  A subquery is known.
SELECT plan('SELECT * FROM docs WHERE fp <~> (random() * 9)::int <= 3');
SELECT plan('SELECT * FROM docs WHERE fp <~> (SELECT fp FROM docs ORDER BY random() LIMIT 1) <= 3');
SELECT plan('SELECT * FROM docs ORDER BY fp <~> (SELECT fp FROM docs ORDER BY random() LIMIT 1) LIMIT 3');
SELECT plan('SELECT * FROM docs WHERE fp <~> 5 <= (random() * 9)::int');
SELECT plan('SELECT * FROM docs WHERE fp <~> 5 = (random() * 9)::int');
SELECT plan('SELECT * FROM docs WHERE fp <~> 5 = (SELECT min(radius) FROM queries)');
-- A query result may be the bound or the center.
SELECT plan('SELECT * FROM docs WHERE fp <~> 5 <= (SELECT min(radius) FROM queries)');
SELECT plan('SELECT * FROM docs WHERE fp <~> (SELECT q.fp FROM queries q LIMIT 1) <= 3');
-- A distance may be the bound of another.
SELECT plan('SELECT * FROM docs d JOIN queries q ON d.fp <~> q.fp <= q.fp <~> 5');
SELECT plan('SELECT * FROM docs WHERE fp <~> 5 <= 3 <~> fp');

--
-- Parameters
--
PREPARE typed_small(simhash, smallint) AS SELECT * FROM docs WHERE fp <~> $1 <= $2;
PREPARE typed_int(simhash, int) AS SELECT * FROM docs WHERE fp <~> $1 <= $2;
PREPARE typed_large(simhash, bigint) AS SELECT * FROM docs WHERE fp <~> $1 <= $2;
PREPARE typed_bigint_center(bigint, int) AS SELECT * FROM docs WHERE fp <~> $1 <= $2;
PREPARE untyped AS SELECT * FROM docs WHERE fp <~> $1 <= $2;
PREPARE untyped_less AS SELECT * FROM docs WHERE fp <~> $1 < $2;
PREPARE untyped_equal AS SELECT * FROM docs WHERE fp <~> $1 = $2;
PREPARE untyped_commuted AS SELECT * FROM docs WHERE $2 >= $1 <~> fp;
PREPARE untyped_within AS SELECT * FROM docs WHERE simhash_within(fp, $1, $2);
PREPARE untyped_ball AS SELECT * FROM docs WHERE fp <@ simhash_ball($1, $2);
PREPARE untyped_near AS SELECT * FROM docs WHERE fp % $1;
PREPARE constant_radius AS SELECT * FROM docs WHERE fp <~> $1 <= 3;
SELECT name, parameter_types FROM pg_prepared_statements WHERE name ~ 'typed' ORDER BY name;

SET plan_cache_mode = force_custom_plan;
SELECT plan(format('EXECUTE %s(5, 3)', name)) FROM unnest('{typed_small,typed_int,typed_large}'::text[]) name;
SELECT plan('EXECUTE typed_bigint_center(-5, 3)');
SELECT plan(format('EXECUTE %s(5, 3)', name)) FROM unnest('{untyped,untyped_less,untyped_equal,untyped_commuted}'::text[]) name;
SET plan_cache_mode = force_generic_plan;
SELECT plan(format('EXECUTE %s(5, 3)', name)) FROM unnest('{typed_small,typed_int,typed_large,typed_bigint_center,
	untyped,untyped_less,untyped_equal,untyped_commuted,untyped_within,untyped_ball}'::text[]) name;
SELECT plan(format('EXECUTE %s(5)', name)) FROM unnest('{untyped_near,constant_radius}'::text[]) name;

-- a generic plan takes the index of its own accord
SET enable_seqscan = on; SET enable_bitmapscan = on;
SELECT plan_of(query) ~ 'docs_fp' AS takes_index FROM unnest('{EXECUTE constant_radius(5),"EXECUTE untyped(5, 3)"}'::text[]) query;
SET enable_seqscan = off; SET enable_bitmapscan = off;

-- and is right whatever it gets
CREATE FUNCTION generic_results() RETURNS TABLE (radius bigint, ids int[]) LANGUAGE plpgsql AS $$
DECLARE
	r bigint;
BEGIN
	FOREACH r IN ARRAY '{NULL,-9223372036854775808,-1,0,1,2,3,4}'::bigint[] LOOP
		radius := r;
		SELECT array_agg(d.id ORDER BY d.id) INTO ids
		FROM docs d WHERE d.fp <~> scattered(3) <= r;
		RETURN NEXT;
	END LOOP;
END $$;
SELECT pg_stat_force_next_flush();
BEGIN;
SELECT * FROM generic_results();
SELECT pg_stat_get_xact_numscans('docs_fp'::regclass) > 0 AS scanned_index,
	pg_stat_get_xact_numscans('docs'::regclass) AS scanned_table;
COMMIT;
RESET plan_cache_mode;
DEALLOCATE ALL;

--
-- Joins
--
SELECT plan('SELECT * FROM queries q JOIN docs d ON d.fp <~> q.fp <= 3');
SELECT plan('SELECT * FROM queries q JOIN docs d ON q.fp <~> d.fp <= 3');
SELECT plan('SELECT * FROM docs d JOIN queries q ON 3 >= hamming(q.fp, d.fp)');
SELECT plan('SELECT * FROM queries q JOIN docs d ON d.fp % q.fp');
SELECT plan('SELECT * FROM queries q JOIN docs d ON q.fp % d.fp');
SELECT plan('SELECT * FROM queries q JOIN docs d ON simhash_ball(q.fp, 3) @> d.fp');
SELECT plan('SELECT * FROM queries q JOIN docs d ON simhash_within(q.fp, d.fp, q.radius)');
SELECT plan('SELECT * FROM queries q JOIN docs d ON d.fp <~> q.fp <= q.small');
SELECT plan('SELECT * FROM queries q JOIN docs d ON d.fp <~> q.fp <= q.radius');
SELECT plan('SELECT * FROM queries q JOIN docs d ON d.fp <~> q.fp <= q.large');
SELECT plan('SELECT * FROM queries q JOIN docs d ON d.fp <~> q.fp < q.small');
SELECT plan('SELECT * FROM queries q JOIN docs d ON d.fp <~> q.fp < q.radius');
SELECT plan('SELECT * FROM queries q JOIN docs d ON d.fp <~> q.fp < q.large');
SELECT plan('SELECT * FROM queries q JOIN docs d ON d.fp <~> q.fp = q.small');
SELECT plan('SELECT * FROM queries q JOIN docs d ON d.fp <~> q.fp = q.radius');
SELECT plan('SELECT * FROM queries q JOIN docs d ON q.large = d.fp <~> q.fp');
SELECT plan('SELECT * FROM queries q JOIN docs d ON d.fp <~> q.fp <= q.radius * 2 + 1');
SELECT plan('SELECT * FROM queries q JOIN docs d ON d.fp <~> scattered(q.id) <= 3');
SELECT plan('SELECT * FROM queries q LEFT JOIN docs d ON d.fp <~> q.fp <= 3');
SELECT plan('SELECT * FROM queries q LEFT JOIN docs d ON d.fp <~> q.fp <= 3 WHERE d.title IS NULL');
SELECT plan('SELECT * FROM queries q WHERE EXISTS (SELECT FROM docs d WHERE d.fp <~> q.fp <= 3)');
SELECT plan('SELECT * FROM queries q WHERE NOT EXISTS (SELECT FROM docs d WHERE d.fp <~> q.fp <= 3)');
SELECT plan('SELECT * FROM queries q, LATERAL (SELECT * FROM docs d WHERE d.fp <~> q.fp <= q.radius LIMIT 2) l');
SELECT plan('WITH q AS MATERIALIZED (SELECT * FROM queries) SELECT * FROM q JOIN docs d ON d.fp <~> q.fp <= q.radius');
SELECT plan('WITH q AS (SELECT * FROM queries) SELECT * FROM q JOIN docs d ON d.fp <~> q.fp <= 3');
SELECT plan('WITH d AS (SELECT *, fp <~> 5 AS distance FROM docs) SELECT * FROM d WHERE distance <= 3');
SELECT plan('SELECT * FROM docs a JOIN docs b ON a.fp <~> b.fp <= 3 AND b.id = 7');
SELECT plan('SELECT * FROM docs a JOIN docs b ON b.fp <~> a.fp <= 3 AND b.id = 7');
SELECT plan('SELECT * FROM (VALUES (1::bigint), (2)) v(h) JOIN docs d ON d.fp <~> h <= 3');
SELECT plan('SELECT * FROM unnest(''{1,2}''::simhash[]) u JOIN docs d ON d.fp <~> u <= 3');

-- A distance that cannot be seen through is a number.
SELECT plan('SELECT * FROM (SELECT *, fp <~> 5 AS distance FROM docs OFFSET 0) d WHERE distance <= 3');

--
-- Several conditions, several tables
--
SELECT plan('SELECT * FROM docs WHERE fp <~> 5 <= 3 AND title = ''text 1''');
SET enable_bitmapscan = on; SET enable_indexscan = off;
SELECT plan('SELECT * FROM docs WHERE fp <~> 5 <= 3 OR fp % 6 OR simhash_within(7, fp, 2)');
SET enable_bitmapscan = off; SET enable_indexscan = on;

CREATE TABLE parts (id int, fp simhash) PARTITION BY RANGE (id);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (0) TO (1000);
CREATE TABLE parts_2 PARTITION OF parts FOR VALUES FROM (1000) TO (2000);
INSERT INTO parts SELECT n, scattered(n) FROM generate_series(0, 1999) n;
CREATE INDEX ON parts USING simhash (fp);
ANALYZE parts;
SELECT plan('SELECT * FROM parts WHERE fp <~> 5 <= 3');
SELECT plan('SELECT * FROM queries q JOIN parts p ON p.fp <~> q.fp <= 3');

CREATE TABLE parent (id int, fp simhash);
CREATE TABLE child (extra int) INHERITS (parent);
CREATE INDEX ON parent USING simhash (fp);
CREATE INDEX ON child USING simhash (fp);
INSERT INTO parent SELECT n, scattered(n) FROM generate_series(0, 999) n;
INSERT INTO child SELECT n, scattered(n), 0 FROM generate_series(1000, 1999) n;
ANALYZE parent, child;
SELECT plan('SELECT * FROM parent WHERE fp <~> 5 <= 3');
SELECT plan('SELECT * FROM (SELECT id, fp FROM parent UNION ALL SELECT id, fp FROM docs) u WHERE fp <~> 5 <= 3');

CREATE TABLE partly (id int, fp simhash, live boolean);
INSERT INTO partly SELECT n, scattered(n), n % 10 = 0 FROM generate_series(0, 999) n;
CREATE INDEX ON partly USING simhash (fp) WHERE live;
ANALYZE partly;
SELECT plan('SELECT * FROM partly WHERE fp <~> 5 <= 3 AND live');
SELECT plan('SELECT * FROM partly WHERE fp <~> 5 <= 3');

--
-- Fingerprints in bigint columns
--
CREATE TABLE numbers (id int, h bigint, g bigint);
INSERT INTO numbers SELECT n, scattered(n)::bigint, scattered(n)::bigint FROM generate_series(0, 999) n;
CREATE INDEX numbers_h ON numbers USING simhash ((h::simhash));
CREATE INDEX numbers_g ON numbers USING simhash (g simhash_ops);
ANALYZE numbers;
SELECT plan('SELECT * FROM numbers WHERE h::simhash <~> 5 <= 3');
SELECT plan('SELECT * FROM numbers WHERE h <~> 5 <= 3');
SELECT plan('SELECT * FROM numbers WHERE g <~> 5 <= 3');
SELECT plan('SELECT * FROM numbers WHERE hamming(5, g) < 4::bigint');
SELECT plan('SELECT * FROM queries q JOIN numbers n ON n.g <~> q.fp <= q.radius');
SELECT plan('SELECT * FROM numbers n JOIN docs d ON n.g <~> d.fp <= 3 AND n.id = 7');

--
-- Views, functions
--
CREATE VIEW near_docs AS SELECT q.id AS query, d.id, d.fp <~> q.fp AS distance
FROM queries q JOIN docs d ON d.fp <~> q.fp <= 3;
CREATE VIEW distances AS SELECT id, title, fp <~> 5 AS distance FROM docs;
CREATE VIEW guarded WITH (security_barrier) AS SELECT * FROM docs WHERE title <> 'secret';
SELECT plan('SELECT * FROM near_docs');
SELECT plan('SELECT * FROM distances WHERE distance <= 3');
SELECT plan('SELECT * FROM guarded WHERE fp <~> 5 <= 3');

-- as pg_dump does it: defined, and created again, with an empty search_path
SET search_path = '';
SELECT pg_catalog.pg_get_viewdef('planner_conditions_test.near_docs') AS definition \gset
SELECT :'definition' OPERATOR(pg_catalog.~) 'OPERATOR\([a-z]+\.<=\)' AS names_our_operator;
CREATE VIEW planner_conditions_test.restored AS :definition
SELECT public.plan('SELECT * FROM planner_conditions_test.restored');
SET search_path = planner_conditions_test, public;

CREATE FUNCTION docs_within(q simhash, r int) RETURNS SETOF docs LANGUAGE sql STABLE
AS $$ SELECT * FROM docs WHERE fp <~> q <= r $$;
CREATE FUNCTION similar(a simhash, b simhash) RETURNS boolean LANGUAGE sql IMMUTABLE
AS $$ SELECT a <~> b <= 3 $$;
SELECT plan('SELECT * FROM docs_within(5, 3)');
SELECT plan('SELECT * FROM queries q, docs_within(q.fp, q.radius)');
SELECT plan('SELECT * FROM docs WHERE similar(5, fp)');

--
-- The same rows, the same nulls, as from plain integer arithmetic
--
CREATE TABLE cases AS
SELECT row_number() OVER () AS id, a, b, l::smallint AS s, l::int AS i, l, d::simhash_distance AS d
FROM unnest(ARRAY[NULL, 0::simhash, scattered(1), '18446744073709551615']) a,
	unnest(ARRAY[NULL, 0::simhash, 1::simhash, scattered(1), flipped(scattered(1), 2),
		flipped(scattered(1), 33), '18446744073709551615']) b,
	(VALUES (NULL::bigint, NULL::int), (-32768, 5), (-1, -1), (0, 0), (1, 1), (2, 2), (3, 3),
		(33, 33), (63, 63), (64, 64), (65, 65), (32767, 32767)) l(l, d);
-- beyond what the narrower types hold
INSERT INTO cases (id, a, b, i, l)
SELECT 1000 + row_number() OVER (), a, b, i, l
FROM unnest(ARRAY[0::simhash, scattered(1)]) a,
	unnest(ARRAY[0::simhash, flipped(scattered(1), 2)]) b,
	(VALUES (-2147483648, (-9223372036854775808)::bigint), (2147483647, 9223372036854775807),
		(NULL, -4294967294), (NULL, 4294967298)) l(i, l);

-- The comparison in the select list, with columns as operands: every row, and
-- whether it is true, false or null.
CREATE FUNCTION compare_columns() RETURNS TABLE (form text, true_rows bigint, null_rows bigint, wrong_rows bigint)
LANGUAGE plpgsql AS $$
DECLARE
	bound text;
	op text;
	forms text[];
BEGIN
	FOREACH bound IN ARRAY '{s,i,l,d}'::text[] LOOP
		FOREACH op IN ARRAY '{<=,<,=,>=,>}'::text[] LOOP
			forms := ARRAY[format('a <~> b %s %s', op, bound),
				format('%s %s hamming(a, b)', bound, op)];
			FOREACH form IN ARRAY forms LOOP
				EXECUTE format('SELECT count(*) FILTER (WHERE %1$s), count(*) FILTER (WHERE (%1$s) IS NULL),
						count(*) FILTER (WHERE (%1$s) IS DISTINCT FROM (%2$s)) FROM cases', form,
					CASE WHEN form = forms[1] THEN format('(a <~> b)::int %s %s', op, replace(bound, 'd', 'd::int'))
						ELSE format('%s %s (hamming(a, b))::int', replace(bound, 'd', 'd::int'), op) END)
				INTO true_rows, null_rows, wrong_rows;
				RETURN NEXT;
			END LOOP;
		END LOOP;
	END LOOP;
END $$;
SELECT * FROM compare_columns();

-- Constant bounds of every type, in a WHERE clause, with and without the index.
CREATE INDEX cases_a ON cases USING simhash (a);
ANALYZE cases;
CREATE FUNCTION rows_where(condition text, use_index boolean) RETURNS bigint[] LANGUAGE plpgsql AS $$
DECLARE
	result bigint[];
BEGIN
	PERFORM set_config('enable_seqscan', (NOT use_index)::text, true);
	PERFORM set_config('enable_indexscan', use_index::text, true);
	EXECUTE 'SELECT array_agg(id ORDER BY id) FROM cases WHERE ' || condition INTO result;
	RETURN coalesce(result, '{}');
END $$;
CREATE FUNCTION compare_constants() RETURNS TABLE (form text, queries bigint, rows_found bigint, wrong text)
LANGUAGE plpgsql AS $$
DECLARE
	type text;
	op text;
	bound bigint;
	literal text;
	condition text;
	expected bigint[];
BEGIN
	FOREACH type IN ARRAY '{smallint,int,bigint}'::text[] LOOP
		FOREACH op IN ARRAY '{<=,<,=,>=,>}'::text[] LOOP
			FOREACH form IN ARRAY ARRAY[format('a <~> %%s %s %%s::%s', op, type),
					format('%%2$s::%s %s hamming(%%1$s, a)', type, translate(op, '<>', '><'))] LOOP
				queries := 0;
				rows_found := 0;
				wrong := NULL;
				FOREACH bound IN ARRAY '{NULL,-9223372036854775808,-2147483648,-32768,-1,0,1,2,3,33,63,64,65,
						32767,2147483647,9223372036854775807}'::bigint[] LOOP
					CONTINUE WHEN type = 'smallint' AND abs(bound::numeric) > 32768 - (bound > 0)::int;
					CONTINUE WHEN type = 'int' AND abs(bound::numeric) > 2147483648 - (bound > 0)::int;
					literal := coalesce('(' || bound || ')', 'NULL');
					condition := format(form, 'flipped(scattered(1), 2)', literal);
					expected := rows_where(format('(a <~> flipped(scattered(1), 2))::int %s %s::%s', op, literal,
						type), false);
					queries := queries + 1;
					rows_found := rows_found + cardinality(expected);
					IF rows_where(condition, true) <> expected OR rows_where(condition, false) <> expected THEN
						wrong := concat_ws(', ', wrong, condition);
					END IF;
				END LOOP;
				RETURN NEXT;
			END LOOP;
		END LOOP;
	END LOOP;
END $$;
\pset null (none)
SELECT * FROM compare_constants();
\pset null ''

-- Joins, with the index and without it, against plain arithmetic.
CREATE FUNCTION compare_joins() RETURNS TABLE (form text, pairs bigint, wrong text)
LANGUAGE plpgsql AS $$
DECLARE
	plain text;
	how text;
	ids text;
	expected text;
BEGIN
	FOR form, plain IN VALUES
		('d.fp <~> q.fp <= 3', '(d.fp <~> q.fp)::int <= 3'),
		('d.fp % q.fp', '(d.fp <~> q.fp)::int <= 3'),
		('q.fp <~> d.fp <= q.small', '(d.fp <~> q.fp)::int <= q.small'),
		('q.radius > d.fp <~> q.fp', '(d.fp <~> q.fp)::int < q.radius'),
		('d.fp <~> q.fp < q.large', '(d.fp <~> q.fp)::int < q.large'),
		('d.fp <~> q.fp = q.large', '(d.fp <~> q.fp)::int = q.large'),
		('q.small = d.fp <~> q.fp', '(d.fp <~> q.fp)::int = q.small'),
		('simhash_within(d.fp, q.fp, q.radius)', '(d.fp <~> q.fp)::int <= q.radius')
	LOOP
		PERFORM set_config('enable_seqscan', 'on', true), set_config('enable_indexscan', 'off', true);
		EXECUTE 'SELECT count(*), string_agg(q.id || ''-'' || d.id, '' '' ORDER BY q.id, d.id) '
			'FROM queries q JOIN docs d ON ' || plain INTO pairs, expected;
		wrong := NULL;
		FOREACH how IN ARRAY '{off,on}'::text[] LOOP
			PERFORM set_config('enable_seqscan', how, true),
				set_config('enable_indexscan', CASE how WHEN 'on' THEN 'off' ELSE 'on' END, true);
			EXECUTE 'SELECT string_agg(q.id || ''-'' || d.id, '' '' ORDER BY q.id, d.id) '
				'FROM queries q JOIN docs d ON ' || form INTO ids;
			IF ids IS DISTINCT FROM expected THEN
				wrong := concat_ws(', ', wrong, 'enable_seqscan ' || how);
			END IF;
		END LOOP;
		RETURN NEXT;
	END LOOP;
END $$;
\pset null (none)
SELECT * FROM compare_joins();
\pset null ''

--
-- Row estimates
--
RESET enable_seqscan; RESET enable_bitmapscan;

-- Is the estimate near the true number: within a factor, and what part of
-- the table it may be at most and must be at least?
CREATE FUNCTION estimates(query text, factor float8, at_least float8 DEFAULT 0, at_most float8 DEFAULT 'infinity')
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	guess float8 := estimate(query);
	truth float8;
BEGIN
	EXECUTE format('SELECT count(*) FROM (%s) q', query) INTO truth;
	IF guess < greatest(truth, 1) / factor OR guess > greatest(truth, 1) * factor THEN
		RETURN format('estimated %s, found %s', guess, truth);
	ELSIF guess < at_least OR guess > at_most THEN
		RETURN format('estimated %s', guess);
	END IF;
	RETURN 'good';
END $$;
CREATE TABLE skewed (id int, fp simhash);
INSERT INTO skewed SELECT n, CASE WHEN n % 4 = 0 THEN scattered(1) ELSE scattered(n) END
FROM generate_series(1, 8000) n;
CREATE INDEX ON skewed USING simhash (fp);
ANALYZE skewed;

-- one fingerprint: stored once, stored in versions, not stored, unknown
SELECT r, estimates(format('SELECT * FROM docs WHERE fp <~> scattered(8000) <= %s', r), 10, 1, 20),
	estimates(format('SELECT * FROM docs WHERE fp <~> scattered(3) <= %s', r), 10, 1, 20),
	estimates(format('SELECT * FROM docs WHERE fp <~> 5 <= %s', r), 10, 1, 20),
	estimates(format('SELECT * FROM docs WHERE fp <~> (SELECT scattered(3) OFFSET 0) <= %s', r), 10, 1, 20)
FROM unnest('{0,1,3,6,10}'::int[]) r;
-- large radius: in the order of the truth, which is a share of the table
SELECT r, estimates(format('SELECT * FROM docs WHERE fp <~> scattered(8000) <= %s', r), 3),
	estimates(format('SELECT * FROM docs WHERE fp <~> (SELECT scattered(3) OFFSET 0) <= %s', r), 3)
FROM unnest('{24,28,32,36,64,1000}'::int[]) r;
SELECT estimates('SELECT * FROM docs WHERE fp <~> 5 <= 40', 2, 3000);
SELECT estimates('SELECT * FROM docs WHERE fp <~> 5 <= -1', 1);
-- all forms alike
SELECT form, estimates('SELECT * FROM docs WHERE ' || form, 10, 1, 10)
FROM unnest(ARRAY['fp % scattered(3)', 'simhash_within(scattered(3), fp, 3)', 'fp <@ simhash_ball(scattered(3), 3)',
	'simhash_ball(scattered(3), 3) @> fp', 'fp <~> scattered(3) < 4', 'fp <~> scattered(3) = 2',
	'fp <@ (SELECT simhash_ball(scattered(3), 3) OFFSET 0)']) form;
-- a value that fills a quarter of the table
SELECT estimates('SELECT * FROM skewed WHERE fp <~> scattered(1) <= 3', 1.5),
	estimates('SELECT * FROM skewed WHERE fp <~> flipped(scattered(1), 2) <= 3', 1.5),
	estimates('SELECT * FROM skewed WHERE fp <~> flipped(scattered(1), 2) <= 1', 20, 1, 20),
	estimates('SELECT * FROM skewed a JOIN skewed b ON a.fp <~> b.fp <= 3', 2);
-- a region that is dense, though no value is frequent: a twentieth of the table is from one template
CREATE TABLE template (id int, fp simhash) WITH (autovacuum_enabled = off);
INSERT INTO template SELECT n, CASE WHEN n % 20 = 0 THEN (scattered(1)::bigint # (n / 20))::simhash ELSE scattered(n) END
FROM generate_series(1, 16000) n;
CREATE INDEX ON template USING simhash (fp);
ANALYZE template;
SELECT r, estimates(format('SELECT * FROM template WHERE fp <~> scattered(1) <= %s', r), 2) FROM unnest('{10,20}'::int[]) r;
-- joins
SELECT estimates('SELECT * FROM queries q JOIN docs d ON d.fp <~> q.fp <= 3', 20, 1, 500),
	estimates('SELECT * FROM queries q LEFT JOIN docs d ON d.fp <~> q.fp <= 3', 20, 22, 500),
	estimates('SELECT * FROM docs a JOIN docs b ON a.fp <~> b.fp <= 3', 5),
	estimates('SELECT * FROM docs a JOIN docs b ON a.fp % b.fp', 5),
	estimates('SELECT * FROM docs a JOIN docs b ON simhash_ball(a.fp, 3) @> b.fp', 5),
	estimates('SELECT * FROM docs a WHERE EXISTS (SELECT FROM docs b WHERE a.fp <~> b.fp <= 3 AND a.id <> b.id)', 10),
	estimates('SELECT * FROM docs a WHERE NOT EXISTS (SELECT FROM docs b WHERE a.fp <~> b.fp <= 3 AND a.id <> b.id)',
		10);
-- few rows of many have a match among few
SELECT estimates('SELECT * FROM docs d WHERE EXISTS (SELECT FROM queries q WHERE d.fp <~> q.fp <= 3)', 30, 1, 500);
-- or among few rows of a join
SELECT estimates('SELECT * FROM docs d WHERE EXISTS
	(SELECT FROM docs q JOIN queries r ON r.fp = q.fp WHERE r.id = 1 AND d.fp <~> q.fp <= 3)', 1000, 0, 500);
-- bigint columns; and a table that was never analyzed
SELECT estimates('SELECT * FROM numbers WHERE g <~> scattered(7) <= 3', 10, 1, 20),
	estimates('SELECT * FROM numbers WHERE h::simhash <~> scattered(7) <= 3', 10, 1, 20);
CREATE TABLE fresh (id int, fp simhash) WITH (autovacuum_enabled = off);
INSERT INTO fresh SELECT n, scattered(n) FROM generate_series(1, 5000) n;
SELECT estimates('SELECT * FROM fresh WHERE fp <~> scattered(7) <= 3', 10, 1, 20),
	estimates('SELECT * FROM fresh a JOIN docs b ON a.fp <~> b.fp <= 3', 5);

SET client_min_messages = warning;
DROP SCHEMA planner_conditions_test CASCADE;
