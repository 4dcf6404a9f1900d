-- Fingerprints for test/bench/compared, and what its parts have in common.
-- Needs the functions of fingerprints.sql, blocks.sql and measure.sql, and the programs inmemory_plain
-- and inmemory_native in the directory above that of the data.
-- Variables: rows, rounds.
\pset footer off
\pset null -
SET client_min_messages = warning;
SET compared.rows = :rows;
SELECT setseed(0.5) \g /dev/null
\o /dev/null

-- What is done, in the order of the places.  A way that needs an extension which is not
-- there is left out.  "expected" is how many rows an exact way counts; one that says it is
-- exact and counts another number ends the run.
CREATE TABLE jobs (
	place serial, measured text, way text, needs text, repeated boolean DEFAULT false, per float8, exact boolean,
	expected bigint, statements text[]
);
-- Settings: each query looks by itself, with an index or without one.
CREATE FUNCTION one_by_one() RETURNS text[] LANGUAGE sql RETURN ARRAY[
	'SET enable_hashjoin = off', 'SET enable_mergejoin = off', 'SET enable_material = off', 'SET enable_memoize = off'];
CREATE FUNCTION by_index() RETURNS text[] LANGUAGE sql RETURN one_by_one() || ARRAY[
	'SET enable_seqscan = off', 'SET enable_indexscan = on', 'SET enable_bitmapscan = on'];
CREATE FUNCTION by_scan() RETURNS text[] LANGUAGE sql RETURN one_by_one() || ARRAY[
	'SET enable_seqscan = on', 'SET enable_indexscan = off', 'SET enable_bitmapscan = off'];

-- Statements that call measure() for all jobs that wait
CREATE FUNCTION calls(rounds int) RETURNS SETOF text LANGUAGE sql AS $$
	SELECT format('CALL measure(%L, %L, %s, NULL, VARIADIC %L::text[])', measured, way, per, statements)
	FROM jobs, generate_series(1, CASE WHEN repeated THEN rounds ELSE 1 END) round
	WHERE statements IS NOT NULL AND (needs IS NULL OR needs IN (SELECT extname FROM pg_extension))
	  AND NOT EXISTS (SELECT FROM took WHERE took.measured = jobs.measured AND took.way = jobs.way)
	ORDER BY place, round
$$;

-- A table for each thing that is measured, with the ratio to the first way
CREATE FUNCTION report(pattern text) RETURNS TABLE (measured text, way text, ms numeric, "ms of CPU" numeric,
	"simhash = 1" text, "found, %" text) LANGUAGE sql AS $$
	SELECT t.measured, t.way, round((1000 * t.seconds)::numeric, 4), round((1000 * t.cpu)::numeric, 4),
		to_char(t.cpu / nullif(first_value(t.cpu) OVER (PARTITION BY t.measured ORDER BY t.place), 0), 'FM9999990.00'),
		to_char(100.0 * t.counted / nullif(t.expected, 0), 'FM990.0')
	FROM (SELECT j.place, j.measured, j.way, j.expected, min(k.seconds) AS seconds, min(k.cpu) AS cpu,
				 min(k.counted) AS counted
		  FROM jobs j JOIN took k USING (measured, way)
		  WHERE j.measured ~ pattern AND j.measured <> 'cleaning up'
		  GROUP BY j.place, j.measured, j.way, j.expected) t
	ORDER BY min(t.place) OVER (PARTITION BY t.measured), t.place
$$;
CREATE FUNCTION sizes(pattern text) RETURNS TABLE (size text, way text, "MB" numeric, "simhash = 1" text)
LANGUAGE sql AS $$
	SELECT replace(j.measured, 'build', 'size'), j.way, round(k.counted / 1e6, 1),
		to_char(k.counted / first_value(k.counted::numeric) OVER (PARTITION BY j.measured ORDER BY j.place), 'FM9999990.00')
	FROM jobs j JOIN took k USING (measured, way)
	WHERE j.measured ~ pattern AND j.measured ~ 'build'
	ORDER BY j.place
$$;
CREATE PROCEDURE require_agreement() LANGUAGE plpgsql AS $$
DECLARE
	wrong record;
BEGIN
	FOR wrong IN
		SELECT j.measured, j.way, j.expected, k.counted FROM jobs j JOIN took k USING (measured, way)
		WHERE j.exact AND j.expected IS DISTINCT FROM k.counted
	LOOP
		RAISE EXCEPTION '%, %: % rows, not %', wrong.measured, wrong.way, wrong.counted, wrong.expected;
	END LOOP;
END $$;

-- The rows, with a column for each way.  Members of a cluster lie beside each other, so a
-- row more than 8 bits away from the one before it begins another.  The wide fingerprints
-- have the same clusters, with up to 16 bits inverted.
CREATE TABLE t AS
SELECT id, h, h::simhash AS fp, h::bit(64) AS b, w::bit(256) AS w, NULL::simhash_bits(256) AS wide
FROM (SELECT id, h, flip_wide(wide('cluster ' || count(*) FILTER (WHERE first) OVER (ORDER BY id)),
							  floor(random() * 17)::int) AS w
	  FROM (SELECT id, h, bit_count((h # lag(h, 1, ~h) OVER (ORDER BY id))::bit(64)) > 8 AS first
			FROM make_fingerprints(:rows, 0.25) WITH ORDINALITY f(h, id)) g) s;
UPDATE t SET wide = w::simhash_bits(256);
VACUUM (FULL, FREEZE, ANALYZE) t;

-- Half of the queries are a stored fingerprint with 0 to 3 bits inverted, up to 15 of a
-- wide one, the others are random.
CREATE TABLE q AS
SELECT id, h, h::simhash AS fp, h::bit(64) AS b, w, w::simhash_bits(256) AS wide,
	0 AS within_3, 0 AS within_8, 0 AS tenth, 0 AS within_31, 0 AS tenth_wide
FROM (SELECT i AS id, CASE WHEN i % 2 = 0 THEN flip_bits(t.h, floor(random() * 4)::int) ELSE random_bits() END AS h,
			 CASE WHEN i % 2 = 0 THEN flip_wide(t.w, floor(random() * 16)::int) ELSE wide('query ' || i) END AS w
	  FROM (SELECT i, 1 + floor(random() * :rows)::int AS place FROM generate_series(1, 1000) i OFFSET 0) p
	  JOIN t ON t.id = place) made
ORDER BY id;
-- for all pairs: a hundredth of the rows, where a way takes long
CREATE TABLE sample AS SELECT * FROM t WHERE id % 100 = 1;
CREATE TABLE more AS SELECT :rows + i AS id, h, h::simhash AS fp, h::bit(64) AS b, w, w::simhash_bits(256) AS wide
FROM (SELECT i, random_bits() AS h, wide('more ' || i) AS w FROM generate_series(1, 2000) i) m;
VACUUM (FREEZE, ANALYZE) q, sample, more;

-- What is right.  It comes from the index of the extension, and the exact ways confirm it.
CREATE INDEX t_i0 ON t USING simhash (fp);
SET enable_seqscan = off;
UPDATE q SET within_3 = (SELECT count(*) FROM t WHERE t.fp <~> q.fp <= 3),
	within_8 = (SELECT count(*) FROM t WHERE t.fp <~> q.fp <= 8),
	tenth = (SELECT max(d) FROM (SELECT t.fp <~> q.fp AS d FROM t ORDER BY t.fp <~> q.fp LIMIT 10) n);
SELECT count(*) AS pairs_of_sample FROM sample s JOIN t ON t.fp <~> s.fp <= 3 AND t.id <> s.id \gset
RESET enable_seqscan;
DROP INDEX t_i0;
VACUUM (FULL, FREEZE, ANALYZE) q;

CREATE FUNCTION expect(what text, queries int) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	counted bigint;
BEGIN
	EXECUTE format('SELECT sum(%I) FROM q WHERE id <= %s', what, queries) INTO counted;
	RETURN counted;
END $$;

-- A branch of bktree has a plan for up to 64 hashes at once, in an array.
CREATE TABLE batches AS SELECT max(id) AS id, array_agg(h) AS hashes FROM q WHERE id <= 640 GROUP BY (id - 1) / 64;
CREATE TABLE sample_batches AS
SELECT array_agg(h) AS hashes FROM (SELECT h, row_number() OVER () AS n FROM sample) s GROUP BY n / 64;
CREATE FUNCTION bktree_batch(hashes bigint[], radius int) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	found bigint;
BEGIN
	EXECUTE 'SELECT count(t.w) FROM unnest($1) hash JOIN t ON t.h <@ (hash, $2)' INTO found USING hashes, radius;
	RETURN found;
END $$;

-- Ways to ask, each with the number of queries that it has time for.  Strings for format:
-- %1$s is the radius or the distance that counts, %2$s the number of queries, and %3$s and
-- %4$s what finds the rows by plain btrees on blocks and by covering ones.
CREATE TABLE ways (
	place serial, way text, needs text, settings text[], build text[], indexes text[], exact boolean, queries int,
	radii int[], near text, nearest text, pairs text, last boolean DEFAULT true
);
INSERT INTO ways (way, needs, settings, build, indexes, exact, queries, radii, near, nearest, pairs) VALUES
('simhash', 'simhash', by_index(), ARRAY['CREATE INDEX t_i0 ON t USING simhash (fp)'], '{t_i0}', true, 1000, '{3,8}',
 'SELECT count(t.w) FROM q JOIN t ON t.fp <~> q.fp <= %1$s WHERE q.id <= %2$s',
 'SELECT count(*) FROM q, LATERAL (SELECT w, t.fp <~> q.fp AS d FROM t ORDER BY t.fp <~> q.fp LIMIT 10) n'
 ' WHERE q.id <= %2$s AND n.d <= q.tenth AND n.w IS NOT NULL',
 'SELECT count(t.w) FROM sample s JOIN t ON t.fp <~> s.fp <= 3 AND t.id <> s.id'),
('sequential scan, bit_count', NULL, by_scan(), NULL, NULL, true, 10, '{3,8}',
 'SELECT count(t.w) FROM q JOIN t ON bit_count((t.h # q.h)::bit(64)) <= %1$s WHERE q.id <= %2$s',
 'SELECT count(*) FROM q, LATERAL (SELECT w, bit_count((t.h # q.h)::bit(64)) AS d FROM t ORDER BY d LIMIT 10) n'
 ' WHERE q.id <= %2$s AND n.d <= q.tenth AND n.w IS NOT NULL',
 NULL),
('four btrees', NULL, by_index(), block_indexes('t', 't_i', 4), '{t_i0,t_i1,t_i2,t_i3}', true, 1000, '{3,8}',
 'SELECT count(t.w) FROM q JOIN t ON %3$s WHERE q.id <= %2$s', NULL,
 'SELECT count(t.w) FROM sample q JOIN t ON %3$s AND t.id <> q.id'),
('four covering btrees', NULL, by_index() || '{SET enable_bitmapscan = off}'::text[], block_indexes('t', 't_i', 4, 'id'), '{t_i0,t_i1,t_i2,t_i3}', true, 1000, '{3,8}',
 'SELECT count(t.id) FROM q, LATERAL (%4$s) t WHERE q.id <= %2$s', NULL,
 'SELECT count(t.id) FROM sample q, LATERAL (%4$s) t WHERE t.id <> q.id'),
('bktree', 'bktree', by_index(), ARRAY['CREATE INDEX t_i0 ON t USING spgist (h bktree_ops)'], '{t_i0}', true, 100, '{3,8}',
 'SELECT count(t.w) FROM q JOIN t ON t.h <@ (q.h, %1$s) WHERE q.id <= %2$s', NULL,
 'SELECT count(t.w) FROM sample s JOIN t ON t.h <@ (s.h, 3) AND t.id <> s.id'),
('bktree, 64 at once', 'bktree', by_index() || '{LOAD ''bktree''}'::text[], NULL, NULL, true, 640, '{3,8}',
 'SELECT sum(bktree_batch(hashes, %1$s)) FROM batches WHERE id <= %2$s', NULL,
 'SELECT sum(bktree_batch(hashes, 3)) - (SELECT count(*) FROM sample) FROM sample_batches'),
('pgvector, HNSW, ef_search 40', 'vector', by_index() || '{SET hnsw.ef_search = 40}'::text[],
 ARRAY['CREATE INDEX t_i0 ON t USING hnsw (b bit_hamming_ops)'], '{t_i0}', false, 200, '{3,8}',
 'SELECT count(n.w) FROM q, LATERAL (SELECT w, t.b <~> q.b AS d FROM t ORDER BY t.b <~> q.b LIMIT 40) n'
 ' WHERE q.id <= %2$s AND d <= %1$s',
 'SELECT count(n.w) FROM q, LATERAL (SELECT w, t.b <~> q.b AS d FROM t ORDER BY t.b <~> q.b LIMIT 10) n'
 ' WHERE q.id <= %2$s AND n.d <= q.tenth',
 'SELECT count(n.w) FROM sample s, LATERAL (SELECT id, w, t.b <~> s.b AS d FROM t ORDER BY t.b <~> s.b LIMIT 40) n'
 ' WHERE d <= 3 AND n.id <> s.id'),
('pgvector, HNSW, ef_search 200', 'vector', by_index() || '{SET hnsw.ef_search = 200}'::text[],
 NULL, NULL, false, 200, '{3,8}',
 'SELECT count(n.w) FROM q, LATERAL (SELECT w, t.b <~> q.b AS d FROM t ORDER BY t.b <~> q.b LIMIT 200) n'
 ' WHERE q.id <= %2$s AND d <= %1$s',
 'SELECT count(n.w) FROM q, LATERAL (SELECT w, t.b <~> q.b AS d FROM t ORDER BY t.b <~> q.b LIMIT 10) n'
 ' WHERE q.id <= %2$s AND n.d <= q.tenth',
 'SELECT count(n.w) FROM sample s, LATERAL (SELECT id, w, t.b <~> s.b AS d FROM t ORDER BY t.b <~> s.b LIMIT 200) n'
 ' WHERE d <= 3 AND n.id <> s.id'),
('pgvector, exact', 'vector', by_scan(), NULL, NULL, true, 10, '{3,8}',
 'SELECT count(t.w) FROM q JOIN t ON t.b <~> q.b <= %1$s WHERE q.id <= %2$s',
 'SELECT count(n.w) FROM q, LATERAL (SELECT w, t.b <~> q.b AS d FROM t ORDER BY t.b <~> q.b LIMIT 10) n'
 ' WHERE q.id <= %2$s AND n.d <= q.tenth', NULL);
UPDATE ways SET last = false WHERE build IS NULL AND way !~ '200|at once' OR way ~ 'ef_search 40' OR way = 'bktree';

-- Jobs of all ways: build, ask, insert, and drop the index again, so that there is never
-- another one on the table.
CREATE PROCEDURE plan_jobs(prefix text, right_answers text[], sample_pairs bigint) LANGUAGE plpgsql AS $$
DECLARE
	w ways;
	index_way text;
BEGIN
	FOR w IN SELECT * FROM ways ORDER BY place LOOP
		index_way := regexp_replace(w.way, ', (ef_search|64).*', '');
		INSERT INTO jobs (measured, way, needs, per, statements)
		SELECT prefix || 'build', index_way, w.needs, 1,
			w.build || ('SELECT ' || string_agg(format('pg_relation_size(%L)', f), ' + '))
		FROM unnest(w.indexes) f HAVING w.build IS NOT NULL;

		INSERT INTO jobs (measured, way, needs, repeated, per, exact, expected, statements)
		SELECT prefix || 'look-up within ' || r, w.way, w.needs, true, w.queries, w.exact,
			expect(right_answers[n], w.queries), w.settings || format(w.near, r, w.queries, by_bitmaps(r, 4), by_covering(r, 4, 'id'))
		FROM unnest(w.radii) WITH ORDINALITY u(r, n)
		UNION ALL
		SELECT prefix || 'nearest 10', w.way, w.needs, true, w.queries, w.exact, 10 * w.queries,
			w.settings || format(w.nearest, NULL, w.queries)
		WHERE w.nearest IS NOT NULL
		UNION ALL
		SELECT prefix || 'all pairs, each row looked up', w.way, w.needs, false, 0.01, w.exact, sample_pairs,
			w.settings || format(w.pairs, NULL, NULL, by_bitmaps(3, 4), by_covering(3, 4, 'id'))
		WHERE w.pairs IS NOT NULL;

		CONTINUE WHEN NOT w.last;
		INSERT INTO jobs (measured, way, needs, per, statements) VALUES
		(prefix || 'insert, a row', index_way, w.needs, 2000, ARRAY['INSERT INTO t SELECT * FROM more']),
		('cleaning up', prefix || w.way, w.needs, 1, ARRAY['DROP INDEX IF EXISTS t_i0, t_i1, t_i2, t_i3',
			'DELETE FROM t WHERE id > ' || current_setting('compared.rows')]);
	END LOOP;
END $$;
CALL plan_jobs('', '{within_3,within_8}', :pairs_of_sample);

INSERT INTO jobs (measured, way, per, statements) VALUES
('insert, a row', 'no index', 2000, ARRAY['INSERT INTO t SELECT * FROM more']),
('cleaning up', 'no index', 1, ARRAY['DELETE FROM t WHERE id > ' || :rows]);

-- Keep near-duplicates out: the constraint, and a trigger that takes a lock and looks,
-- which is what one writes with an index that has no constraints.
CREATE TABLE arriving AS SELECT id, h, fp, b FROM t WHERE id <= 10000 ORDER BY md5(id::text);
CREATE TABLE kept_0 (LIKE arriving, EXCLUDE USING simhash (fp WITH %));
CREATE TABLE kept_1 (LIKE arriving);
SELECT unnest(block_indexes('kept_1', 'kept_1_', 4, 'id'))
\gexec
CREATE TABLE kept_2 (LIKE arriving);
CREATE TABLE kept_3 (LIKE arriving);
CREATE TABLE kept_4 (LIKE arriving, UNIQUE (h));
SELECT statement FROM (VALUES ('bktree', 'CREATE INDEX ON kept_2 USING spgist (h bktree_ops)'),
							  ('vector', 'CREATE INDEX ON kept_3 USING hnsw (b bit_hamming_ops)')) s(needs, statement)
JOIN pg_extension ON extname = needs
\gexec
SELECT format('CREATE FUNCTION near_in_blocks(bigint) RETURNS boolean LANGUAGE plpgsql AS ''BEGIN RETURN EXISTS (%s); END''',
	replace(replace(by_covering(3, 4, 'id'), 'FROM t', 'FROM kept_1 t'), 'q.h', '$1'))
\gexec
CREATE FUNCTION keep_out() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
	conflicts boolean;
BEGIN
	PERFORM pg_advisory_xact_lock(1);
	IF TG_TABLE_NAME = 'kept_1' THEN
		conflicts := near_in_blocks(NEW.h);
	ELSIF TG_TABLE_NAME = 'kept_2' THEN
		conflicts := EXISTS (SELECT FROM kept_2 k WHERE k.h <@ (NEW.h, 3));
	ELSE
		conflicts := EXISTS (SELECT FROM (SELECT k.b <~> NEW.b AS d FROM kept_3 k ORDER BY k.b <~> NEW.b LIMIT 10) n
							 WHERE d <= 3);
	END IF;
	RETURN CASE WHEN NOT conflicts THEN NEW END;
END $$;
CREATE TRIGGER keep_out BEFORE INSERT ON kept_1 FOR EACH ROW EXECUTE FUNCTION keep_out();
CREATE TRIGGER keep_out BEFORE INSERT ON kept_2 FOR EACH ROW EXECUTE FUNCTION keep_out();
CREATE TRIGGER keep_out BEFORE INSERT ON kept_3 FOR EACH ROW EXECUTE FUNCTION keep_out();
INSERT INTO jobs (measured, way, needs, per, statements)
SELECT 'keep out, a row', way, needs, least(:rows, 10000), by_index() || '{SET hnsw.ef_search = 40}'::text[] ||
	format('INSERT INTO %I SELECT * FROM arriving ON CONFLICT DO NOTHING', kept) || by_scan() ||
	format('SELECT count(*) FROM %I', kept)
FROM (VALUES (0, 'simhash', 'simhash', 'kept_0'), (1, 'four btrees and a lock', NULL, 'kept_1'),
			 (2, 'bktree and a lock', 'bktree', 'kept_2'), (3, 'pgvector, HNSW, and a lock', 'vector', 'kept_3'),
			 (4, 'a unique index', NULL, 'kept_4')) s(place, way, needs, kept)
ORDER BY place;

SELECT calls(:rounds)
\gexec

-- all pairs at once, by the function and by programs in memory, which know values, not rows
SET enable_seqscan = on;
CREATE INDEX t_fp ON t USING simhash (fp);
SELECT count(*) AS pairs, count(DISTINCT (least(x.h, y.h), greatest(x.h, y.h))) FILTER (WHERE x.h <> y.h) AS of_values
FROM simhash_find_all('t_fp', 3) p JOIN t x ON x.ctid = p.a JOIN t y ON y.ctid = p.b \gset
INSERT INTO jobs (measured, way, repeated, per, exact, expected, statements)
VALUES ('all pairs', 'simhash', true, 1, true, :pairs, ARRAY['SELECT count(*) FROM simhash_find_all(''t_fp'', 3)']);
SELECT calls(:rounds)
\gexec
INSERT INTO jobs (measured, way, exact, expected)
VALUES ('all pairs', 'in memory, like simhash-cpp', true, :of_values), ('all pairs', 'in memory, tuned', true, :of_values);
\copy (SELECT h FROM t) to 'fingerprints'
CALL measure_program('all pairs', 'in memory, like simhash-cpp', '../inmemory_plain -l ../fingerprints');
CALL measure_program('all pairs', 'in memory, tuned', '../inmemory_native ../fingerprints');
DROP INDEX t_fp;
CALL require_agreement();

CREATE FUNCTION near_pairs(kept regclass) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	pairs bigint;
BEGIN
	EXECUTE format('CREATE INDEX kept_fp ON %s USING simhash (fp)', kept);
	SELECT count(*) INTO pairs FROM simhash_find_all('kept_fp', 3);
	DROP INDEX kept_fp;
	RETURN pairs;
END $$;
\o
\echo
\echo 'Fingerprints of 64 bits'
SELECT * FROM report('');
SELECT * FROM sizes('');
SELECT way AS "keep out", counted AS "rows kept, of 10,000", near_pairs(kept::regclass) AS "pairs within 3 bits left"
FROM jobs JOIN took USING (measured, way), regexp_substr(array_to_string(statements, ' '), 'kept_.') kept
WHERE measured = 'keep out, a row' ORDER BY place;
\o /dev/null

-- Fingerprints of 256 bits
UPDATE q SET within_31 = (SELECT count(*) FROM t WHERE t.wide <~> q.wide <= 31),
	tenth_wide = (SELECT max(d) FROM (SELECT t.wide <~> q.wide AS d FROM t ORDER BY t.wide <~> q.wide LIMIT 10) n)
WHERE id <= 200;
VACUUM (FULL, FREEZE, ANALYZE) q, t;
CREATE INDEX t_i0 ON t USING simhash (wide);
SET enable_seqscan = off;
SELECT count(*) AS pairs_of_sample FROM sample s JOIN t ON t.wide <~> s.wide <= 31 AND t.id <> s.id \gset
DROP INDEX t_i0;

TRUNCATE ways;
INSERT INTO ways (way, needs, settings, build, indexes, exact, queries, radii, near, nearest, pairs, last) VALUES
('simhash', 'simhash', by_index(), ARRAY['CREATE INDEX t_i0 ON t USING simhash (wide)'], '{t_i0}', true, 200, '{31}',
 'SELECT count(t.h) FROM q JOIN t ON t.wide <~> q.wide <= %1$s WHERE q.id <= %2$s',
 NULL,
 'SELECT count(t.h) FROM sample s JOIN t ON t.wide <~> s.wide <= 31 AND t.id <> s.id', true),
('sequential scan, bit_count', NULL, by_scan(), NULL, NULL, true, 10, '{31}',
 'SELECT count(t.h) FROM q JOIN t ON bit_count(t.w # q.w) <= %1$s WHERE q.id <= %2$s',
 'SELECT count(n.h) FROM q, LATERAL (SELECT h, bit_count(t.w # q.w) AS d FROM t ORDER BY d LIMIT 10) n'
 ' WHERE q.id <= %2$s AND n.d <= q.tenth_wide', NULL, false),
('pgvector, HNSW, ef_search 40', 'vector', by_index() || '{SET hnsw.ef_search = 40}'::text[],
 ARRAY['CREATE INDEX t_i0 ON t USING hnsw (w bit_hamming_ops)'], '{t_i0}', false, 200, '{31}',
 'SELECT count(n.h) FROM q, LATERAL (SELECT h, t.w <~> q.w AS d FROM t ORDER BY t.w <~> q.w LIMIT 40) n'
 ' WHERE q.id <= %2$s AND d <= %1$s',
 'SELECT count(n.h) FROM q, LATERAL (SELECT h, t.w <~> q.w AS d FROM t ORDER BY t.w <~> q.w LIMIT 10) n'
 ' WHERE q.id <= %2$s AND n.d <= q.tenth_wide',
 'SELECT count(n.h) FROM sample s, LATERAL (SELECT id, h, t.w <~> s.w AS d FROM t ORDER BY t.w <~> s.w LIMIT 40) n'
 ' WHERE d <= 31 AND n.id <> s.id', false),
('pgvector, HNSW, ef_search 200', 'vector', by_index() || '{SET hnsw.ef_search = 200}'::text[], NULL, NULL, false, 200, '{31}',
 'SELECT count(n.h) FROM q, LATERAL (SELECT h, t.w <~> q.w AS d FROM t ORDER BY t.w <~> q.w LIMIT 200) n'
 ' WHERE q.id <= %2$s AND d <= %1$s',
 'SELECT count(n.h) FROM q, LATERAL (SELECT h, t.w <~> q.w AS d FROM t ORDER BY t.w <~> q.w LIMIT 10) n'
 ' WHERE q.id <= %2$s AND n.d <= q.tenth_wide',
 'SELECT count(n.h) FROM sample s, LATERAL (SELECT id, h, t.w <~> s.w AS d FROM t ORDER BY t.w <~> s.w LIMIT 200) n'
 ' WHERE d <= 31 AND n.id <> s.id', true),
('pgvector, exact', 'vector', by_scan(), NULL, NULL, true, 10, '{31}',
 'SELECT count(t.h) FROM q JOIN t ON t.w <~> q.w <= %1$s WHERE q.id <= %2$s',
 'SELECT count(n.h) FROM q, LATERAL (SELECT h, t.w <~> q.w AS d FROM t ORDER BY t.w <~> q.w LIMIT 10) n'
 ' WHERE q.id <= %2$s AND n.d <= q.tenth_wide', NULL, false);
CALL plan_jobs('256 bits: ', '{within_31}', :pairs_of_sample);
SELECT calls(:rounds)
\gexec

-- all pairs at once; those of the sample are in both directions
SET enable_seqscan = on;
SET enable_hashjoin = on;
CREATE INDEX t_wide ON t USING simhash (wide);
INSERT INTO jobs (measured, way, repeated, per, statements)
VALUES ('256 bits: all pairs', 'simhash', true, 1, ARRAY['SELECT count(*) FROM simhash_find_all(''t_wide'', 31)']);
SELECT calls(:rounds)
\gexec
SELECT count(*) AS of_sample FROM simhash_find_all('t_wide', 31) p JOIN t ON t.ctid IN (p.a, p.b) WHERE t.id % 100 = 1 \gset
INSERT INTO jobs (measured, way, exact, expected)
VALUES ('256 bits: all pairs of the sample', 'simhash', true, :pairs_of_sample);
INSERT INTO took (measured, way, counted) VALUES ('256 bits: all pairs of the sample', 'simhash', :of_sample);
DROP INDEX t_wide;
CALL require_agreement();
\o
\echo
\echo 'Fingerprints of 256 bits'
SELECT * FROM report('^256') WHERE measured !~ 'sample';
SELECT * FROM sizes('^256');
\o /dev/null
