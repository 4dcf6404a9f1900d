--
-- Indexes of several columns: the same rows with the index and without it.
--
-- Nothing here depends on which values share a group, so the test can be run
-- with a library that makes collisions common (SHIDX_GROUP_BITS, index/group.c).
--
\pset format unaligned
\pset footer off
SET client_min_messages = warning;
CREATE SCHEMA index_columns_test;
SET search_path = index_columns_test, public; SET max_parallel_workers_per_gather = 0;

-- half of the table has one value of a, others have a few rows or one; of
-- fingerprints there are random ones, clusters, one that is frequent, nulls
CREATE TABLE rows (id int PRIMARY KEY, a int, b text, c bigint, fp simhash);
CREATE FUNCTION add_rows(first int, last int) RETURNS void LANGUAGE sql AS $$
	INSERT INTO rows
	SELECT i,
		CASE WHEN i % 10 < 5 THEN 7 WHEN i % 10 < 7 THEN i % 40 WHEN i % 10 < 9 THEN i END,
		CASE WHEN i % 3 > 0 THEN 'b' || i % 4 END,
		CASE WHEN i % 7 > 0 THEN i % 2 END,
		CASE WHEN i % 11 < 4 THEN bits('r' || i)
			 WHEN i % 11 < 8 THEN flip(bits('c' || i / 40), i % 5, 'f' || i)
			 WHEN i % 11 < 10 THEN bits('e')
		END
	FROM generate_series(first, last) i
$$;
SELECT add_rows(1, 9000) \gset
ANALYZE rows;

CREATE TABLE clauses (clause text);
INSERT INTO clauses VALUES
	('true'), ('a = 7'), ('a = 16'), ('a = 17'), ('a = -1'), ('a IS NULL'), ('a IS NOT NULL'), ('a = NULL'),
	('a = 7::bigint'), ('a = 7::smallint'), ('a = 5000000000'),
	('a = ANY (''{}'')'), ('a = ANY (''{7, NULL, 16, 7, 16, -1, 36}'')'), ('a = ANY (NULL::int[])'),
	('a = ANY (''{7, NULL, 16, 36, 5000000000}''::bigint[])'), ('a = ANY (ARRAY (SELECT generate_series(1, 9000, 3)))'),
	('a = 7 AND a = 16'), ('a = 7 AND a = ANY (''{6, 7, 8}'')'), ('a = 16 AND a IS NULL'),
	('b = ''b1'''), ('b IS NULL'), ('c = 1'),
	('a = 7 AND b = ''b1'''), ('a = 16 AND b IS NULL'), ('a IS NULL AND b = ANY (''{b1, b3, b9}'')'),
	('a IS NULL AND b IS NULL'),
	('a = ANY (''{7, 16, 36}'') AND b = ANY (''{b0, b1}'')'), ('a = 7 AND b IS NOT NULL'), ('a > 20 AND b = ''b2'''),
	('a = 7 AND b = ''b1'' AND c = 1'), ('a = 7 AND b = ''b1'' AND c IS NULL'),
	('a IS NULL AND b IS NULL AND c IS NULL'),
	('a = ANY (ARRAY (SELECT generate_series(1, 9000)))
		AND b = ANY (''{b0, b1, b2, b3, b4, b5}'') AND c = ANY (''{0, 1, 2}'')'),
	-- more combinations than can be counted
	('a = ANY (ARRAY (SELECT generate_series(1, 2000))) AND b = ANY (ARRAY (SELECT ''b'' || i FROM generate_series(0, 2000) i))
		AND c = ANY (ARRAY (SELECT generate_series(0, 2000)::bigint))'),
	('a = 7 AND b = ''b1'' AND c = ANY (''{0, 1, 1}''::int[])');

-- a condition on the fingerprint, and what it says without the extension
CREATE TABLE conditions (condition text, reference text);
INSERT INTO conditions
SELECT format('fp <~> %s <= %s', h::simhash, r), format('distance(fp::bigint, %s) <= %s', h, r)
FROM (VALUES (bits('c50')), (flip(bits('e'), 2, 'q')), (flip(bits('r1001'), 3, 'q'))) h (h),
	 (VALUES (0), (3), (9), (34)) r (r);
INSERT INTO conditions VALUES
	('true', 'true'), ('fp IS NULL', 'fp IS NULL'), ('fp IS NOT NULL', 'fp IS NOT NULL'),
	(format('fp %% ANY (''{%s, %s}'')', bits('c50')::simhash, bits('e')::simhash),
	 format('(distance(fp::bigint, %s) <= 3 OR distance(fp::bigint, %s) <= 3)', bits('c50'), bits('e'))),
	(format('fp <~> %s <= 20 AND fp <~> %s <= 30', bits('c50')::simhash, bits('c51')::simhash),
	 format('distance(fp::bigint, %s) <= 20 AND distance(fp::bigint, %s) <= 30', bits('c50'), bits('c51')));

-- what must be found: how many rows, and a sum over them that tells which; in
-- order of their distances, these.  At the small size, a quarter of all combinations.
CREATE TABLE expected (clause text, condition text, n bigint, rows numeric);
CREATE TABLE expected_order (clause text, condition text, center bigint, lim int, distances text, n bigint,
	rows numeric);

CREATE PROCEDURE expect() LANGUAGE plpgsql AS $$
DECLARE
	c record;
BEGIN
	SET LOCAL enable_indexscan = off;
	SET LOCAL enable_bitmapscan = off;
	TRUNCATE expected, expected_order;
	FOR c IN SELECT * FROM clauses, conditions
		WHERE get_byte(decode(md5(clause || condition), 'hex'), 0) % effort(4, 1) = 0 LOOP
		EXECUTE format('INSERT INTO expected
			SELECT %L, %L, count(*), coalesce(sum(hashint8extended(id, 1)), 0)
			FROM rows WHERE %s AND %s', c.clause, c.condition, c.clause, c.reference);
	END LOOP;
	FOR c IN SELECT * FROM clauses, conditions, unnest(ARRAY[bits('c60'), bits('e')]) center,
			unnest(ARRAY[1, 20, 500, NULL]) lim
		WHERE condition ~ '^true|20 AND|e' AND get_byte(decode(md5(clause || condition || coalesce(lim, 0)), 'hex'), 0) % effort(4, 1) = 0 LOOP
		EXECUTE format('INSERT INTO expected_order
			SELECT %1$L, %2$L, %5$s, %6$L, md5(string_agg(coalesce(d, -1)::text, '' '' ORDER BY d)),
				   count(*), CASE WHEN %6$L IS NULL THEN coalesce(sum(hashint8extended(id, 1)), 0) END
			FROM (SELECT distance(fp::bigint, %5$s) AS d, id FROM rows WHERE %3$s AND %4$s
				  ORDER BY d LIMIT %6$L::int) nearest',
			c.clause, c.condition, c.clause, c.reference, c.center, c.lim);
	END LOOP;
END $$;

-- Compare the answers of the only index with what expect() noted: 'ok', or the
-- first difference.
CREATE FUNCTION compare(index regclass) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	form text;
	node text;
	statement text;
	e record;
	got record;
BEGIN
	PERFORM simhash_index_check(index, true);
	PERFORM set_config('enable_seqscan', 'off', true), set_config('enable_sort', 'off', true);
	FOREACH form IN ARRAY '{indexscan,bitmapscan}'::text[] LOOP
		PERFORM set_config('enable_indexscan', (form = 'indexscan')::text, true),
				set_config('enable_bitmapscan', (form = 'bitmapscan')::text, true);
		node := CASE form WHEN 'indexscan' THEN 'Index Scan using ' ELSE 'Bitmap Index Scan on ' END || index;
		FOR e IN SELECT * FROM expected ORDER BY 1, 2 LOOP
			statement := format('SELECT count(*) AS n, coalesce(sum(hashint8extended(id, 1)), 0) AS rows
				FROM rows WHERE %s AND %s', e.clause, e.condition);
			IF e.condition ~ '<=' AND strpos(plan_of(statement), node) = 0 THEN
				CONTINUE WHEN plan_of(statement) ~ 'One-Time Filter: false';
				RAISE EXCEPTION 'the index is not used' USING DETAIL = plan_of(statement);
			END IF;
			EXECUTE statement INTO got;
			IF (e.n, e.rows) IS DISTINCT FROM (got.n, got.rows) THEN
				RETURN format('%s, %s and %s: %s rows, not %s', form, e.clause, e.condition, got.n, e.n);
			END IF;
		END LOOP;
	END LOOP;

	PERFORM set_config('enable_indexscan', 'on', true);
	FOR e IN SELECT * FROM expected_order ORDER BY 1, 2, 3, 4 LOOP
		statement := format('SELECT id, fp <~> %1$s AS d FROM rows WHERE %2$s AND %3$s
			ORDER BY fp <~> %1$s LIMIT %4$L', e.center::simhash, e.clause, e.condition, e.lim);
		IF plan_of(statement) ~ 'Sort|Seq' THEN
			CONTINUE WHEN plan_of(statement) ~ 'One-Time Filter: false';
			RAISE EXCEPTION 'the index is not used' USING DETAIL = plan_of(statement);
		END IF;
		EXECUTE format('SELECT md5(string_agg(coalesce(d, -1)::text, '' '' ORDER BY place)) AS distances,
				count(*) AS n, CASE WHEN %L IS NULL THEN coalesce(sum(hashint8extended(id, 1)), 0) END AS rows
			FROM (SELECT *, row_number() OVER () AS place FROM (%s) nearest) numbered', e.lim, statement) INTO got;
		IF (e.distances, e.n, e.rows) IS DISTINCT FROM (got.distances, got.n, got.rows) THEN
			RETURN format('order by %s limit %s, %s and %s: %s rows, not %s', e.center, e.lim, e.clause,
						  e.condition, got.n, e.n);
		END IF;
	END LOOP;
	RETURN 'ok';
END $$;

CALL expect();
-- the reference itself: what it finds must not be nothing
SELECT count(*) FILTER (WHERE n > 0) > effort(50, 200) AS finds, sum(n) > effort(25000, 100000) AS much FROM expected;

--
-- One, two and three columns before the fingerprint
--

CREATE INDEX i_a ON rows USING simhash (a, fp);
CALL must_be_ok(compare('i_a'));
DROP INDEX i_a;
CREATE INDEX i_b_a ON rows USING simhash (b, a, fp) WITH (blocks = 5, distance = 3);
CALL must_be_ok(compare('i_b_a'));
DROP INDEX i_b_a;
CREATE INDEX i_c_a_b ON rows USING simhash (c, a, b, fp) WITH (blocks = 2, distance = 1, fillfactor = 50);
CALL must_be_ok(compare('i_c_a_b'));
DROP INDEX i_c_a_b;

--
-- After rows have come and gone
--

CREATE INDEX i_a ON rows USING simhash (a, fp);
BEGIN;
SELECT add_rows(9001, 12000) \gset
DELETE FROM rows WHERE id % 6 = 1;
UPDATE rows SET a = CASE WHEN a = 7 THEN 16 ELSE 7 END WHERE id % 9 = 2;
UPDATE rows SET fp = bits('c50') WHERE id % 97 = 0;
CALL expect();
CALL must_be_ok(compare('i_a'));
COMMIT;
VACUUM rows;
SELECT compare('i_a');

--
-- Joins, parameters, cursors
--

SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_material = off;
CREATE TABLE inner_rows AS SELECT id, a, fp FROM rows WHERE id % 40 = 3;
ANALYZE inner_rows;
SELECT * FROM (SELECT plan_of($$SELECT * FROM inner_rows s JOIN rows t ON t.a = s.a AND
	t.fp <~> s.fp <= 3$$) ~ 'Index Scan using i_a on rows t' AS by_index) a,
	(SELECT count(*), sum(hashint8extended(t.id::bigint * 100000 + s.id, 1))
	= (SELECT sum(hashint8extended(t.id::bigint * 100000 + s.id, 1)) FROM inner_rows s, rows t
	   WHERE t.a + 0 = s.a + 0 AND distance(t.fp::bigint, s.fp::bigint) <= 3) AS right
	FROM inner_rows s JOIN rows t ON t.a = s.a AND t.fp <~> s.fp <= 3) b;
SELECT count(*) AS wrong FROM inner_rows s, LATERAL (
	SELECT array_agg(d) AS got FROM (SELECT fp <~> s.fp AS d FROM rows t WHERE t.a = s.a ORDER BY t.fp <~> s.fp
		LIMIT 5) t) got, LATERAL (
	SELECT array_agg(d) AS want FROM (SELECT distance(fp::bigint, s.fp::bigint) AS d FROM rows t WHERE t.a + 0 = s.a
		ORDER BY 1 LIMIT 5) t) want
WHERE s.fp IS NOT NULL AND got::text IS DISTINCT FROM want::text;

SET plan_cache_mode = force_generic_plan;
PREPARE one (int, simhash, int) AS SELECT count(*) FROM rows WHERE a = $1 AND fp <~> $2 <= $3;
PREPARE large (bigint, simhash, int) AS SELECT count(*) FROM rows WHERE a = $1 AND fp <~> $2 <= $3;
PREPARE several (int[], simhash, int) AS SELECT count(*) FROM rows WHERE a = ANY ($1) AND fp <~> $2 <= $3;
EXECUTE one (7, bits('e'), 3);
EXECUTE large (7, bits('e'), 3);
EXECUTE several ('{7}', bits('e'), 3);
EXECUTE several ('{NULL, 7, 7, 16}', bits('e'), 3);
EXECUTE several ('{}', bits('e'), 3);
EXECUTE several (NULL, bits('e'), 3);
EXECUTE one (NULL, bits('e'), 3);
EXECUTE large (5000000000, bits('e'), 3);
EXECUTE one (7, NULL, 3);
SELECT count(*) FILTER (WHERE a = 7) AS one, count(*) AS several FROM rows
WHERE a + 0 IN (7, 16) AND distance(fp::bigint, bits('e')) <= 3;
RESET plan_cache_mode;

BEGIN;
DECLARE nearest CURSOR FOR SELECT fp <~> bits('e')::simhash AS d FROM rows WHERE a = 16 AND id < 600
	ORDER BY fp <~> bits('e')::simhash;
DECLARE unordered CURSOR FOR SELECT 1 AS any FROM rows WHERE a = 16 AND id < 600;
FETCH 2 FROM nearest;
FETCH 2 FROM unordered;
SELECT array_agg(d ORDER BY d) FROM (SELECT distance(fp::bigint, bits('e')) AS d FROM rows
	WHERE a + 0 = 16 AND id < 600) rows;
DELETE FROM rows WHERE a = 16;
INSERT INTO rows SELECT -i, 16, NULL, NULL, bits('e') FROM generate_series(1, 1000) i;
FETCH ALL FROM nearest;
FETCH ALL FROM unordered;
ROLLBACK;

-- fingerprints before the last column
CREATE TABLE two (id int, x simhash, fp simhash);
INSERT INTO two SELECT i, nullif(bits('x' || i % 50), bits('x3')), bits('t' || i) FROM generate_series(1, 2000) i;
CREATE INDEX two_i ON two USING simhash (x, fp);
ANALYZE two;
-- other operators than = on a column before the last
SELECT count(*) FROM two WHERE x <~> bits('x4')::simhash <= 20
UNION ALL SELECT count(*) FROM two WHERE distance(x::bigint, bits('x4')) <= 20
UNION ALL SELECT count(*) FROM two WHERE x % bits('x4')::simhash AND fp <~> bits('t4')::simhash <= 24
UNION ALL SELECT count(*) FROM two WHERE distance(x::bigint, bits('x4')) <= 3 AND distance(fp::bigint, bits('t4')) <= 24
UNION ALL SELECT count(*) FROM two WHERE x = bits('x4')::simhash;
-- of no column
SELECT count(*) FROM two;

--
-- Types
--

CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE DOMAIN small AS int;
CREATE TABLE types (id int, bool bool, int2 int2, int8 int8, oid oid, text text, varchar varchar(9), bpchar char(9),
	uuid uuid,
	bytea bytea, name name, date date, timestamp timestamp, timestamptz timestamptz, numeric numeric, mood mood,
	small small, fp simhash);
INSERT INTO types
SELECT i, i % 2 = 0, i % 5, i % 5, i % 5, 't' || i % 5, 't' || i % 5, 't' || i % 5, md5((i % 5)::text)::uuid,
	('t' || i % 5)::bytea, 't' || i % 5, '2000-01-01'::date + i % 5,
	'2000-01-01'::timestamp + (i % 5) * interval '1 day',
	'2000-01-01 00:00+00'::timestamptz + (i % 5) * interval '1 day', (i % 5) + 0.50,
	('{sad,ok,happy}'::mood[])[i % 3 + 1], i % 5, bits('t' || i / 20)
FROM generate_series(1, 1000) i;
DO $$
DECLARE
	t text;
	value text;
	n bigint;
	want bigint;
BEGIN
	FOR t, value IN VALUES ('bool', '(SELECT true)'), ('int2', '3::int2'), ('int2', '3'), ('int2', '3::int8'),
		('int8', '3'), ('int8', '3::int2'), ('int8', '3::int8'),
		('oid', '3::oid'), ('text', '''t3'''), ('varchar', '''t3'''), ('varchar', '''t3''::text'),
		('bpchar', '''t3  '''), ('uuid', 'md5(''3'')::uuid'),
		('bytea', '''t3''::bytea'), ('name', '''t3''::name'), ('date', '''2000-01-04''::date'),
		('timestamp', '''2000-01-04''::timestamp'),
		('timestamptz', '''2000-01-04 00:00+00''::timestamptz'), ('numeric', '3.5'), ('numeric', '3.5000'),
		('mood', '''ok'''), ('small', '3') LOOP
		EXECUTE format('CREATE INDEX types_i ON types USING simhash (%I, fp)', t);
		ANALYZE types;
		IF plan_of(format('SELECT FROM types WHERE %I = %s AND fp = %s::simhash', t, value,
			bits('t3'))) !~ 'Index Cond: \(\(.*\) AND ' THEN
			RAISE 'the index is not used for % = %', t, value
			USING DETAIL = plan_of(format('SELECT FROM types WHERE %I = %s AND fp = %s::simhash', t, value,
				bits('t3')));
		END IF;
		EXECUTE format('SELECT count(*) FROM types WHERE %I = %s AND fp = %s::simhash', t, value, bits('t3')) INTO n;
		EXECUTE format('SELECT count(*) FROM types WHERE %I = %s AND fp::bigint + 0 = %s', t, value, bits('t3'))
			INTO want;
		IF n <> want OR n = 0 THEN
			RAISE '% = % finds % rows, not %', t, value, n, want;
		END IF;
		DROP INDEX types_i;
	END LOOP;
END $$;

--
-- Near-duplicates kept out of each group of rows
--

CREATE TABLE kept_out (a int, fp simhash, EXCLUDE USING simhash (a WITH =, fp WITH %));
INSERT INTO kept_out SELECT i, bits('k') FROM generate_series(1, 100) i;
INSERT INTO kept_out VALUES (NULL, bits('k')), (NULL, bits('k')), (1, NULL), (1, NULL);
INSERT INTO kept_out SELECT i, flip(bits('k'), i % 5, 'k' || i) FROM generate_series(1, 100) i ON CONFLICT DO NOTHING;
SELECT count(*), count(*) FILTER (WHERE distance(fp::bigint, bits('k')) = 4) AS far FROM kept_out;
INSERT INTO kept_out VALUES (50, flip(bits('k'), 1, 'k'));

DROP SCHEMA index_columns_test CASCADE;
