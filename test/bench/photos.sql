-- Hashes of photographs beside random ones: candidates, look-ups, builds, inserts, sizes.  Needs measure.sql,
-- fingerprints.sql, and the file "hashes" in the directory where psql runs.
-- Variables: rows, inserted, queries, rounds.
SET client_min_messages = warning;
CREATE EXTENSION simhash;
SET search_path = public;

CREATE TABLE hash (n int GENERATED ALWAYS AS IDENTITY, photo simhash_bits(256), random simhash_bits(256));
\copy hash (photo) from 'hashes'
UPDATE hash SET random = sha256(n::text::bytea)::simhash_bits(256);

SELECT setseed(0.5) \g /dev/null
-- Half of the queries are stored hashes with
-- up to 31 bits inverted, and the others are new ones.
CREATE TABLE photos AS SELECT n AS id, photo AS fp FROM hash WHERE n <= :rows;
CREATE TABLE randoms AS SELECT n AS id, random AS fp FROM hash WHERE n <= :rows;
CREATE TABLE narrow AS SELECT n AS id, substr(photo::bytea, 17, 8)::simhash AS fp FROM hash WHERE n <= :rows;
CREATE TABLE query AS
SELECT n - :rows - :inserted AS id, n % 2 = 0 AS planted, 1 + n * 97 % :rows AS original, photo, random
FROM hash WHERE n > :rows + :inserted;
UPDATE query SET photo = flip_wide(p.fp::bit(256), query.id / 2 % 32)::simhash_bits(256),
	random = flip_wide(r.fp::bit(256), query.id / 2 % 32)::simhash_bits(256)
FROM photos p, randoms r WHERE planted AND p.id = original AND r.id = original;
ALTER TABLE photos ALTER fp TYPE simhash_bits(256);
ALTER TABLE randoms ALTER fp TYPE simhash_bits(256);
VACUUM ANALYZE photos, randoms, narrow, query, hash;

-- The blocks of 16 bits that the index sorts by: rows that share one of them with a query, up to one bit, are what a
-- look-up within 31 bits reads.
CREATE FUNCTION blocks(fp simhash_bits) RETURNS TABLE (place int, block bit(16)) LANGUAGE sql IMMUTABLE AS $$
	SELECT i, substring(fp::varbit FROM 16 * i + 1 FOR 16)::bit(16) FROM generate_series(0, 15) AS i
$$;
CREATE TABLE seen AS
SELECT kind, place, block, count(*) AS rows
FROM (SELECT 'photographs' AS kind, fp FROM photos UNION ALL SELECT 'random', fp FROM randoms) AS v, blocks(fp)
GROUP BY kind, place, block;
ANALYZE seen;
SET work_mem = '256MB';
CREATE TABLE candidates AS
SELECT kind, sum(rows) FILTER (WHERE bit < 0) AS equal, sum(rows) AS near
FROM (
	SELECT kind, place, CASE WHEN bit < 0 THEN block ELSE set_bit(block, bit, 1 - get_bit(block, bit)) END AS block, bit
	FROM query, LATERAL (VALUES ('photographs', photo), ('random', random)) AS v (kind, fp), blocks(fp),
		generate_series(-1, 15) AS bit
) AS probe JOIN seen USING (kind, place, block) GROUP BY kind;

\set few 20

-- the rounds of all that is measured, one after the other
CREATE PROCEDURE rounds(rounds int, rows int, inserted int, queries int, few int) LANGUAGE plpgsql AS $$
DECLARE
	kind record;
	search record;
	text text;
BEGIN
	FOR round IN 1 .. rounds LOOP
		DROP INDEX IF EXISTS photos_fp, randoms_fp, narrow_fp;
		CALL measure('build', '64 bits', 1, NULL, 'CREATE INDEX narrow_fp ON narrow USING simhash (fp)');
		CALL measure('build', 'photographs', 1, NULL, 'CREATE INDEX photos_fp ON photos USING simhash (fp)');
		CALL measure('build', 'random', 1, NULL, 'CREATE INDEX randoms_fp ON randoms USING simhash (fp)');
		IF round = 1 THEN
			CREATE TABLE size AS SELECT relname, pg_relation_size(oid) AS bytes FROM pg_class
			WHERE relname IN ('photos_fp', 'randoms_fp', 'narrow_fp');
			COMMIT;
		END IF;
		FOR kind IN
			SELECT * FROM (VALUES ('photographs', 'photos', 'photo'), ('random', 'randoms', 'random')) AS k (name, tab, col)
		LOOP
			FOR search IN SELECT * FROM (VALUES (15, queries), (31, queries), (52, few)) AS s (radius, queries) LOOP
				text := format('SELECT count(t.id) FROM query q JOIN %I t ON t.fp <~> q.%I <= %s WHERE q.id <= %s',
					kind.tab, kind.col, search.radius, search.queries);
				PERFORM set_config('enable_seqscan', 'off', false), set_config('enable_material', 'off', false),
					set_config('enable_indexscan', 'on', false);
				IF round = 1 THEN
					CALL require_plan(text, format('Index Scan using %s_fp', kind.tab));
				END IF;
				CALL measure('look-up within ' || search.radius, kind.name, search.queries, NULL, text);
			END LOOP;
			PERFORM set_config('enable_seqscan', 'on', false), set_config('enable_indexscan', 'off', false),
				set_config('enable_bitmapscan', 'off', false);
			FOR search IN SELECT * FROM (VALUES (31, few), (52, few)) AS s (radius, queries) LOOP
				text := format('SELECT count(t.id) FROM query q JOIN %I t ON t.fp <~> q.%I <= %s WHERE q.id <= %s',
					kind.tab, kind.col, search.radius, search.queries);
				CALL measure('sequential scan within ' || search.radius, kind.name, search.queries, NULL, text);
			END LOOP;
			PERFORM set_config('enable_indexscan', 'on', false), set_config('enable_bitmapscan', 'on', false);
		END LOOP;
		-- of each table the rows that came last go again
		FOR kind IN
			SELECT * FROM (VALUES ('64 bits', 'narrow', 'substr(photo::bytea, 17, 8)::simhash'), ('photographs', 'photos', 'photo'),
				('random', 'randoms', 'random')) AS k (name, tab, col)
		LOOP
			CALL measure('insert', kind.name, inserted, NULL, format(
				'INSERT INTO %I SELECT n, %s FROM hash WHERE n > %s AND n <= %s', kind.tab, kind.col, rows, rows + inserted));
		END LOOP;
		IF round < rounds THEN
			DELETE FROM narrow WHERE id > rows;
			DELETE FROM photos WHERE id > rows;
			DELETE FROM randoms WHERE id > rows;
			COMMIT;
		END IF;
	END LOOP;
END $$;
CALL rounds(:rounds, :rows, :inserted, :queries, :few);

\echo Candidates of a look-up: rows that have a block of 16 bits in common with the query, or but for one bit
SELECT what, round(p / :queries::numeric, 1) AS photographs, round(r / :queries::numeric, 1) AS random,
	round(p / r, 2) AS "to random"
FROM (SELECT x.equal, x.near, y.equal, y.near FROM candidates x, candidates y
	WHERE x.kind = 'photographs' AND y.kind = 'random') AS c (p_equal, p_near, r_equal, r_near),
	LATERAL (VALUES ('an equal block', p_equal, r_equal), ('a block within one bit', p_near, r_near)) AS v (what, p, r);

\echo CPU time in ms; photographs to random bits, and to 64 bits
CREATE TEMP VIEW best AS
SELECT measured, way, min(cpu)::numeric AS cpu, max(counted) AS counted, min(id) AS id FROM took GROUP BY measured, way;
SELECT p.measured, round(1000 * p.cpu, 4) AS photographs, round(1000 * r.cpu, 4) AS random,
	round(1000 * n.cpu, 4) AS "64 bits", round(p.cpu / r.cpu, 2) AS "to random", round(p.cpu / n.cpu, 2) AS "to 64 bits",
	p.counted AS "found, photographs", r.counted AS random
FROM best p JOIN best r ON r.measured = p.measured AND r.way = 'random'
LEFT JOIN best n ON n.measured = p.measured AND n.way = '64 bits'
WHERE p.way = 'photographs' ORDER BY p.id;

\echo A sequential scan takes as long as so many look-ups
SELECT s.way, radius, round(s.cpu / l.cpu, 1) AS times
FROM best s JOIN best l ON l.way = s.way, LATERAL split_part(s.measured, ' ', 4) AS radius
WHERE s.measured LIKE 'sequential%' AND l.measured = 'look-up within ' || radius ORDER BY s.way, radius;

\echo Size after the build
SELECT relname AS index, round(bytes / :rows::numeric, 1) AS "bytes a row" FROM size ORDER BY 1;

-- all have to be found
SET enable_seqscan = off;
SELECT count(*) FILTER (WHERE planted) AS planted, count(p.id) AS "found, photographs", count(r.id) AS random
FROM query q LEFT JOIN photos p ON planted AND p.id = original AND p.fp <~> q.photo <= 31
LEFT JOIN randoms r ON planted AND r.id = original AND r.fp <~> q.random <= 31;
