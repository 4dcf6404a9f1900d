--
-- Whole tables of wide fingerprints: the same as by brute force at every width and radius
--
-- The truth comes from bit_count() of bit strings (test/brute_force.sql), and from a
-- greedy choice in PL/pgSQL.
--
\pset format unaligned
\pset footer off
CREATE SCHEMA batch_bits_test;
SET search_path = batch_bits_test, public; SET max_parallel_workers_per_gather = 0; SET client_min_messages = warning;

-- n bits that are 0 but for some of 64 from a position on
CREATE FUNCTION partly(what text, n int, start int) RETURNS simhash_bits LANGUAGE sql IMMUTABLE AS $$
	SELECT overlay(repeat('0', n)::varbit PLACING substring(bits(what)::bit(64)::varbit FOR least(n - start, 64))
		FROM start + 1)::simhash_bits
$$;

-- Rows of n bits: random ones; clusters of six, with more and more bits inverted; many
-- that are equal; such as vary in their first 64 bits only, or in their last ones; nulls.
-- And another table, with some rows near these.
CREATE PROCEDURE make_rows(n int) LANGUAGE plpgsql AS $$
BEGIN
	DROP TABLE IF EXISTS t, u, near, cross_near;
	EXECUTE format('CREATE TABLE t (id int, tenant int, fp simhash_bits(%s))', n);
	EXECUTE format('CREATE TABLE u (id int, tenant int, fp simhash_bits(%s))', n);
	INSERT INTO t
	SELECT i, nullif(i % 4, 3), CASE
			WHEN i <= 30 THEN wide('r' || i, n)
			WHEN i <= 84 THEN flip_wide(wide('c' || i / 6, n), least(n, (i % 6) * (1 + i / 15)), 'f' || i)
			WHEN i <= 110 THEN flip_wide(wide('equal', n), i / 109, 'e')
			WHEN i <= 125 THEN partly('p' || i / 2, n, 0)
			WHEN i <= 140 THEN partly('l' || i / 2, n, n - 8)
		END
	FROM generate_series(1, 143) i ORDER BY hashint4(i);
	INSERT INTO u
	SELECT id + 1000, tenant, flip_wide(fp, least(n, id % 7), 'u' || id) FROM t WHERE id % 3 = 0;
	CREATE INDEX t_fp ON t USING simhash (fp);
	CREATE INDEX t_tenant ON t USING simhash (tenant, fp);
	CREATE INDEX u_fp ON u USING simhash (fp);
	CREATE INDEX u_tenant ON u USING simhash (tenant, fp);
	CALL note_pairs();
END $$;

-- the truth, after a change
CREATE PROCEDURE note_pairs() LANGUAGE plpgsql AS $$
BEGIN
	DROP TABLE IF EXISTS near, cross_near;
	CREATE TABLE near AS
	SELECT a.ctid AS a, b.ctid AS b, a.id AS a_id, b.id AS b_id, wide_distance(a.fp::varbit, b.fp::varbit) AS distance,
		a.tenant = b.tenant AS equal, (a.id + b.id) % 3 > 0 AS same
	FROM t a JOIN t b ON a.ctid < b.ctid WHERE a.fp IS NOT NULL AND b.fp IS NOT NULL;
	CREATE TABLE cross_near AS
	SELECT a.ctid AS a, b.ctid AS b, a.fp AS a_fp, wide_distance(a.fp::varbit, b.fp::varbit) AS distance,
		b.fp AS b_fp, a.tenant = b.tenant AS equal
	FROM t a CROSS JOIN u b WHERE a.fp IS NOT NULL AND b.fp IS NOT NULL;
	ANALYZE near, cross_near;
END $$;

-- The rows that go if rows are taken in an order, as (duplicate, keeper, distance): those
-- near one kept before, and the same.  A condition is one on pairs, of near.
CREATE FUNCTION greedy(radius int, keep text, condition text)
RETURNS TABLE (duplicate tid, keeper tid, distance int) LANGUAGE plpgsql AS $$
DECLARE
	n int := 0;
BEGIN
	DROP TABLE IF EXISTS both_ways, kept;
	EXECUTE format('CREATE TEMP TABLE both_ways AS
		SELECT a AS x, b AS y, distance FROM near WHERE distance <= $1 AND (%s)
		UNION ALL SELECT b, a, distance FROM near WHERE distance <= $1 AND (%1$s)', condition) USING radius;
	CREATE INDEX ON both_ways (x);
	CREATE TEMP TABLE kept (y tid PRIMARY KEY, no int);
	FOR duplicate IN EXECUTE format('SELECT ctid FROM t WHERE fp IS NOT NULL ORDER BY %s', keep) LOOP
		n := n + 1;
		SELECT k.y, w.distance INTO keeper, distance FROM both_ways w JOIN kept k USING (y)
		WHERE w.x = greedy.duplicate ORDER BY w.distance, k.no LIMIT 1;
		IF FOUND THEN
			RETURN NEXT;
		ELSE
			INSERT INTO kept VALUES (duplicate, n);
		END IF;
	END LOOP;
END $$;

-- The clusters, as (cluster, member, size), numbered by their first rows.
CREATE FUNCTION connected(radius int, condition text)
RETURNS TABLE (cluster bigint, member tid, size bigint) LANGUAGE plpgsql AS $$
DECLARE
	changed bigint;
BEGIN
	-- each row is connected to the one with the least number that it can be reached from
	DROP TABLE IF EXISTS label;
	CREATE TEMP TABLE label AS SELECT ctid AS row, row_number() OVER (ORDER BY ctid) AS no FROM t;
	LOOP
		EXECUTE format('WITH least AS (
			SELECT p.row, min(other.no) AS no FROM (
				SELECT a AS row, b AS other FROM near WHERE distance <= $1 AND (%s)
				UNION ALL SELECT b, a FROM near WHERE distance <= $1 AND (%1$s)) p
			JOIN label other ON other.row = p.other GROUP BY p.row)
			UPDATE label SET no = least.no FROM least WHERE label.row = least.row AND least.no < label.no', condition)
		USING radius;
		GET DIAGNOSTICS changed = ROW_COUNT;
		EXIT WHEN changed = 0;
	END LOOP;
	RETURN QUERY SELECT dense_rank() OVER (ORDER BY no), row, members
	FROM (SELECT *, count(*) OVER (PARTITION BY no) AS members FROM label) l WHERE members > 1;
END $$;

-- compare everything at one radius; what differs, or null
CREATE FUNCTION compare_at(radius int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
	tenants boolean;
	condition text;
	index text;
	"order" text;
BEGIN
	FOREACH tenants IN ARRAY '{f,t}'::boolean[] LOOP
		index := CASE WHEN tenants THEN 't_tenant' ELSE 't_fp' END;
		condition := CASE WHEN tenants THEN 'equal' ELSE 'true' END;
		result := coalesce(
			'all ' || difference(
				format('SELECT a, b, a_fp, b_fp, distance, a_table FROM simhash_find_all(%L, %s)', index, radius),
				format('SELECT a, b, NULL::simhash, NULL::simhash, distance, ''t''::regclass FROM near WHERE %s AND distance <= %s',
					condition, radius)),
			'clusters ' || difference(
				format('SELECT cluster, member, fp, size FROM simhash_find_clusters(%L, %s)', index, radius),
				format('SELECT cluster, member, NULL::simhash, size FROM connected(%s, %L)', radius, condition)),
			'same clusters ' || difference(
				format('SELECT cluster, member, fp, size FROM simhash_find_clusters(%L, %s, same => ''(a.id + b.id) %% 3 > 0'')', index, radius),
				format('SELECT cluster, member, NULL::simhash, size FROM connected(%s, %L)', radius, condition || ' AND same')),
			'matches ' || difference(
				format('SELECT a, b, a_fp, b_fp, distance FROM simhash_find_matches(%L, %L, %s)', index, replace(index, 't_', 'u_'), radius),
				format('SELECT a, b, NULL::simhash, NULL::simhash, distance FROM cross_near WHERE %s AND distance <= %s', condition, radius)));
		EXIT WHEN result IS NOT NULL;
		FOREACH "order" IN ARRAY '{ctid,id DESC}'::text[] LOOP
			result := coalesce(
				'duplicates ' || difference(
					format('SELECT duplicate, keeper, distance FROM simhash_find_duplicates(%L, %s, keep => %L)', index, radius,
						nullif("order", 'ctid')),
					format('SELECT * FROM greedy(%s, %L, %L)', radius, "order", condition)),
				'same duplicates ' || difference(
					format('SELECT duplicate, keeper, distance FROM simhash_find_duplicates(%L, %s, keep => %L, same => ''(a.id + b.id) %% 3 > 0'')',
						index, radius, nullif("order", 'ctid')),
					format('SELECT * FROM greedy(%s, %L, %L)', radius, "order", condition || ' AND same')));
			EXIT WHEN result IS NOT NULL;
		END LOOP;
		EXIT WHEN result IS NOT NULL;
	END LOOP;
	RETURN radius || ': ' || coalesce(result,
		'all of array ' || difference(
			format('SELECT * FROM simhash_find_all_in_bits(ARRAY(SELECT fp FROM t), %s)', radius),
			format('SELECT DISTINCT least(a.fp, b.fp), greatest(a.fp, b.fp), distance
				FROM near JOIN t a ON a.ctid = near.a JOIN t b ON b.ctid = near.b WHERE distance BETWEEN 1 AND %s', radius)),
		'clusters of array ' || difference(
			format('SELECT cluster, fp, size FROM simhash_find_clusters_in_bits(ARRAY(SELECT fp FROM t ORDER BY id), %s)', radius),
			format('WITH c AS (SELECT cluster, t.fp FROM connected(%s, ''true'') JOIN t ON ctid = member GROUP BY cluster, t.fp),
				counted AS (SELECT fp, count(*) OVER w AS size, min(fp) OVER w AS first FROM c WINDOW w AS (PARTITION BY cluster))
				SELECT dense_rank() OVER (ORDER BY first), fp, size FROM counted WHERE size > 1', radius)),
		'matches of array ' || difference(
			format('SELECT query, b, b_fp, distance FROM simhash_find_matches_in_bits(''u_tenant'', ARRAY(SELECT fp FROM t), %s)', radius),
			format('SELECT DISTINCT a_fp, b, b_fp, distance FROM cross_near WHERE distance <= %s', radius)));
END $$;

-- radii at one width: none, small ones, that of %, those beyond which no part is selective, and
-- all; in make check some of them
CREATE FUNCTION compare_width(n int) RETURNS TABLE (bits int, pairs bigint, differences text) LANGUAGE plpgsql AS $$
BEGIN
	CALL make_rows(n);
	RETURN QUERY SELECT n, (SELECT count(*) FROM near), string_agg(compare_at(r), '; ' ORDER BY r)
	FROM (SELECT DISTINCT unnest(CASE effort(0, 1) WHEN 0 THEN ARRAY[1, n / 8 - 1, n / 3]
		ELSE ARRAY[0, 1, n / 32, n / 8 - 1, n / 3, n - 1, n] END) AS r) radii WHERE r >= 0;
END $$;
SELECT * FROM compare_width(8)
UNION ALL SELECT * FROM compare_width(64)
UNION ALL SELECT * FROM compare_width(72)
UNION ALL SELECT * FROM compare_width(128)
UNION ALL SELECT * FROM compare_width(576);
SELECT * FROM compare_width(256);

-- rows that are deleted, updated, and not committed
DELETE FROM t WHERE id % 7 = 0;
UPDATE t SET tenant = 1 WHERE id % 7 = 1;
UPDATE t SET fp = flip_wide(fp, 3, 'updated') WHERE id % 7 = 2;
CALL note_pairs();
SELECT r, compare_at(r) FROM unnest('{0,31,100,256}'::int[]) r;
VACUUM t;
INSERT INTO t SELECT id + 500, tenant, fp FROM t WHERE id % 5 = 0;
CALL note_pairs();
SELECT r, compare_at(r) FROM unnest('{0,31,100,256}'::int[]) r;
BEGIN;
DELETE FROM t WHERE id % 5 = 1;
CALL note_pairs();
SELECT r, compare_at(r) FROM unnest('{31}'::int[]) r;
ROLLBACK;
CALL note_pairs();

-- the default distance: that of the index, and an eighth of the bits for arrays
SELECT (SELECT count(*) FROM simhash_find_all('t_fp')) = (SELECT count(*) FROM near WHERE distance <= 15) AS of_index,
	(SELECT count(*) FROM simhash_find_all_in_bits(ARRAY(SELECT fp FROM t))) =
		(SELECT count(*) FROM simhash_find_all_in_bits(ARRAY(SELECT fp FROM t), 31)) AS of_array,
	(SELECT count(*) FROM simhash_find_clusters_in_bits(ARRAY(SELECT fp FROM t), NULL)) =
		(SELECT count(*) FROM simhash_find_clusters_in_bits(ARRAY(SELECT fp FROM t), 31)) AS of_clusters,
	(SELECT count(*) FROM simhash_find_matches('t_fp', 'u_fp')) =
		(SELECT count(*) FROM cross_near WHERE distance <= 15) AS of_matches,
	(SELECT count(*) FROM simhash_find_matches_in_bits('u_fp', ARRAY(SELECT fp FROM t))) =
		(SELECT count(*) FROM simhash_find_matches_in_bits('u_fp', ARRAY(SELECT fp FROM t), 15)) AS of_values;
CREATE INDEX t_blocks ON t USING simhash (fp) WITH (blocks = 24);
SELECT (SELECT count(*) FROM simhash_find_all('t_blocks')) = (SELECT count(*) FROM near WHERE distance <= 23) AS of_blocks;

-- one row after the other, up to a limit
SELECT * FROM (SELECT count(*) FROM (SELECT simhash_find_all('t_fp', 256) LIMIT 10) s) a,
	(SELECT count(*) = (SELECT count(*) FROM near WHERE distance <= 31) AS all,
	count(*) FILTER (WHERE (p).a_fp IS NULL AND (p).b_fp IS NULL) = count(*) AS null
	FROM (SELECT simhash_find_all('t_fp', 31) AS p) s) b,
	(SELECT count(*) = (SELECT count(*) FROM cross_near WHERE distance <= 31) AS all, count((p).a_fp)
	FROM (SELECT simhash_find_matches('t_fp', 'u_fp', 31) AS p) s) c;
SELECT count(*) = (SELECT count(DISTINCT (a_fp, b)) FROM cross_near WHERE distance <= 31) AS all,
	count(*) FILTER (WHERE wide_distance((p).query::varbit, (p).b_fp::varbit) = (p).distance) = count(*) AS right
FROM (SELECT simhash_find_matches_in_bits('u_fp', ARRAY(SELECT fp FROM t), 31) AS p) s;

-- the order of duplicates is that of keep
SELECT array_agg(id ORDER BY ordinality) = array_agg(id ORDER BY id DESC) AS ordered, count(*) > 30 AS many
FROM simhash_find_duplicates('t_fp', 31, keep => 'id DESC') WITH ORDINALITY d JOIN t ON ctid = duplicate;

DROP SCHEMA batch_bits_test CASCADE;
