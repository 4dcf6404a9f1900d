--
-- Duplicates and clusters of rows that are near and the same: the same ones as by brute force
--
CREATE SCHEMA batch_same_test;
SET search_path = batch_same_test, public; SET max_parallel_workers_per_gather = 0; SET client_min_messages = warning;
\pset format unaligned
\pset footer off
\set SHOW_CONTEXT never
\pset null (none)

--
-- A small one, to read
--
CREATE TABLE docs (id int PRIMARY KEY, kind text, fp simhash);
CREATE INDEX docs_fp ON docs USING simhash (fp);
INSERT INTO docs VALUES
	(1, 'a', 0), (2, 'b', 0), (3, 'a', 1), (4, 'b', 1), (5, 'a', 7), (6, 'c', 7), (7, NULL, 7), (8, 'a', 1023),
	(9, 'c', 1023), (10, NULL, NULL);
CREATE FUNCTION named(same text, keep text DEFAULT 'id', distance int DEFAULT 3)
RETURNS TABLE (duplicate int, keeper int, away int) LANGUAGE sql STABLE AS $$
	SELECT x.id, y.id, d.distance FROM simhash_find_duplicates('docs_fp', named.distance, keep => keep, same => same)
		WITH ORDINALITY d JOIN docs x ON x.ctid = d.duplicate JOIN docs y ON y.ctid = d.keeper
	ORDER BY ordinality
$$;
CREATE FUNCTION clusters(same text, distance int DEFAULT 3)
RETURNS TABLE (cluster bigint, ids int[], size bigint) LANGUAGE sql STABLE AS $$
	SELECT c.cluster, array_agg(id ORDER BY id), c.size FROM simhash_find_clusters('docs_fp', distance, same => same) c
		JOIN docs ON ctid = member GROUP BY c.cluster, c.size ORDER BY c.cluster
$$;
-- by the fingerprints alone, 1 keeps all that are near it
SELECT * FROM named(NULL);
-- the keeper of each is of its kind; 7 is the same as none
SELECT * FROM rows_of($$SELECT * FROM named('a.kind = b.kind')$$,
	$$SELECT * FROM named('a.kind = b.kind', 'id DESC')$$,
	$$SELECT * FROM named('a.kind = b.kind', distance => 10)$$);
-- the nearest that is the same, not the first
SELECT * FROM named('a.kind IS NOT DISTINCT FROM b.kind OR b.id = 2');
-- a is judged, b was kept before it
SELECT * FROM rows_of($$SELECT * FROM named('b.id < a.id AND a.id <> 5', 'id DESC')$$,
	$$SELECT * FROM named('b.id > a.id AND a.id <> 5', 'id DESC')$$,
	$$SELECT same, (SELECT string_agg(duplicate::text, ' ') FROM named(same)) AS duplicates
FROM unnest('{true,false,NULL::boolean,a.id % 2 = 0,b.id > 1}'::text[]) same$$);
-- clusters, numbered by their first rows; 1 and 2 have the same fingerprint
SELECT * FROM rows_of($$SELECT * FROM clusters('a.kind = b.kind')$$,
	$$SELECT * FROM clusters('a.kind = b.kind', 10)$$);
-- chains
SELECT * FROM rows_of($$SELECT * FROM clusters('a.id = b.id + 1')$$, $$SELECT * FROM clusters('b.id = a.id + 1')$$,
	$$SELECT same, (SELECT string_agg(ids::text, ' ') FROM clusters(same)) AS clusters
FROM unnest('{true,false,NULL::boolean,a.id % 2 = 0,b.id > 1}'::text[]) same$$,
	$$SELECT count(*) FROM simhash_find_duplicates(NULL, same => 'no condition')$$);
SELECT count(*) FROM simhash_find_clusters(NULL, same => 'no condition');

--
-- What may stand in the condition
--
CREATE FUNCTION attempt(same text, OUT message text, OUT context text) LANGUAGE plpgsql AS $$
BEGIN
	message := (SELECT count(*) || ' rows' FROM simhash_find_duplicates('docs_fp', 3, keep => NULL, same => same)) || ', ' ||
		(SELECT count(*) || ' in clusters' FROM simhash_find_clusters('docs_fp', 3, same => same));
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, context = PG_EXCEPTION_CONTEXT;
	message := SQLSTATE || ' ' || message;
	context := (regexp_match(context, '^argument [^\n]*'))[1];
END $$;
-- volatile by the default of an argument
CREATE FUNCTION at_random(int, float8 DEFAULT random()) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
	RETURN $2 > 0.5;
END $$;
SELECT same, a.* FROM unnest(ARRAY[
	'a.kind = b.kind', 'A.KIND=B.kind -- a comment', '(a).kind = (b).kind', 'a.kind = b.kind COLLATE "C"',
	'a.fp <~> b.fp < 2', 'a.kind IN (b.kind, ''c'')', 'a = b', 'a.* IS NOT DISTINCT FROM b', 'a.ctid < b.ctid',
	'a.tableoid = b.tableoid', 'a.kind = current_user', '''true''', 'a.id < b.id AND now() > ''2000-01-01''',
	'CASE WHEN a.id > 5 THEN b.id > 3 END', 'a.id BETWEEN b.id AND b.id + 2',
	'', ' ', '-- a comment', 'WHERE true', 'true)', '(true', 'a.id = b.id,', 'true; DROP TABLE docs', 'true;', ';', ';true',
	'true LIMIT 1', 'true OFFSET 1', 'true ORDER BY 1', 'true GROUP BY 1', 'true HAVING true', 'true FOR UPDATE',
	'true UNION SELECT 1', 'true INTO x', 'true WINDOW w AS ()', 'true AS x', 'FROM docs', '1 WHERE true', '*', 'a.*', '/* no end',
	'id = 3', 'kind = b.kind', 'docs.id = 1', 'c.id = 1', 'a.nothing = 1', 'batch_same_test.docs.id = 1', 'nothing(a.id)',
	'a.id', '1', '''maybe''', 'NULL', 'a.kind', '$1', 'a.xmin = b.xmin', 'b.cmax = a.cmax', 'age(b.xmin) > 0',
	'(b).xmin IS NOT NULL', 'point(a.id, 1) = point(b.id, 1)',
	'(SELECT true)', 'EXISTS (SELECT FROM docs d WHERE d.id < a.id)', 'a.id IN (SELECT b.id)', 'ARRAY(SELECT a.id) = ''{1}''',
	'max(a.id) > 1', 'count(*) > 1', 'grouping(a.id) = 1', 'row_number() OVER () > 1', 'rank() OVER (ORDER BY a.id) > 1',
	'generate_series(1, a.id) > 1', 'generate_series(1, a.id) = b.id', 'random() < .5', 'a.id + random() > b.id', 'at_random(a.id)', 'at_random(b.id, a.id)',
	'nextval(''s'') > 1', 'clock_timestamp() > now()', 'a.id / 0 = b.id', 'a.kind::int = 1',
	'a.kind = b.kind COLLATE nowhere', 'CURRENT OF c']) same,
	attempt(same) a;
SELECT count(*) FROM docs;
-- errors point at the place
\set SHOW_CONTEXT errors
SELECT FROM simhash_find_duplicates('docs_fp', 3, keep => 'id', same => 'a.kind = b.knd');
SELECT FROM simhash_find_clusters('docs_fp', same => 'a.kind = b.kind ORDER BY 1');
SELECT FROM simhash_find_duplicates('docs_fp', same => 'a.kind = b.kind AND
	kind > ''a''');
SELECT FROM simhash_find_duplicates('docs_fp', same => 'WHERE true');
SELECT FROM simhash_find_duplicates('docs_fp', same => 'a.kind > ''äöü'' AND a.id IN (SELECT 1)');
SELECT FROM simhash_find_duplicates('docs_fp', same => '''äöü'' > a.kind OR a.xmax = b.xmax');
SELECT FROM simhash_find_clusters('docs_fp', same => '10 / (a.id - 3) > 0');
SELECT FROM simhash_find_duplicates('docs_fp', keep => '10 / (id - 1)', same => 'true');
SELECT FROM simhash_find_duplicates('docs_fp', 65, same => 'nothing');
SELECT FROM simhash_find_clusters('docs', 3, same => 'nothing');
\set SHOW_CONTEXT never

--
-- Who may
--
CREATE SCHEMA elsewhere;
CREATE FUNCTION elsewhere.like_it(text, text) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$ SELECT $1 = $2 $$;
SELECT * FROM attempt('like_it(a.kind, b.kind)');
CREATE ROLE regress_simhash_same;
GRANT USAGE ON SCHEMA batch_same_test, elsewhere TO regress_simhash_same;
GRANT SELECT (fp, id, ctid, tableoid) ON docs TO regress_simhash_same;
SET ROLE regress_simhash_same;
SELECT same, a.* FROM unnest('{NULL,a.id > b.id,a.kind = b.kind,a.id > 1 OR b.kind > a.kind,a = b,
	"elsewhere.like_it(a.id::text, b.id::text)"}'::text[]) same, attempt(same) a;
RESET ROLE;
GRANT SELECT ON docs TO regress_simhash_same;
REVOKE EXECUTE ON FUNCTION elsewhere.like_it FROM PUBLIC;
-- functions in the condition run as who calls
CREATE FUNCTION who(int) RETURNS boolean LANGUAGE plpgsql STABLE AS $$ BEGIN RAISE 'it is %', current_user; END $$;
SET ROLE regress_simhash_same;
SELECT same, a.* FROM unnest('{a.kind = b.kind,"elsewhere.like_it(a.kind, b.kind)","who(a.id)"}'::text[]) same,
	attempt(same) a;
RESET ROLE;
DROP SCHEMA elsewhere CASCADE;

--
-- Each pair once, and no more than the definition needs
--
CREATE FUNCTION note(a int, b int, same boolean) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
	PERFORM set_config('batch_same_test.pairs', current_setting('batch_same_test.pairs') || a || ':' || b || ' ', false);
	RETURN same;
END $$;
SET batch_same_test.pairs = '';
SELECT * FROM named('note(a.id, b.id, a.kind = b.kind)');
SHOW batch_same_test.pairs;
SET batch_same_test.pairs = '';
SELECT * FROM clusters('note(a.id, b.id, a.kind = b.kind)');
SHOW batch_same_test.pairs;
-- of many equal rows that are the same, one check each
TRUNCATE docs;
INSERT INTO docs SELECT i, 'a', CASE WHEN i % 2 = 0 THEN 7 ELSE 6 END FROM generate_series(1, 200) i;
SET batch_same_test.pairs = '';
SELECT * FROM (SELECT count(*) FROM named('note(a.id, b.id, true)')) a,
	(SELECT count(*), max(size) FROM simhash_find_clusters('docs_fp', 3, same => 'note(a.id, b.id, true)')) b;
SELECT array_length(string_to_array(current_setting('batch_same_test.pairs'), ' '), 1) - 1 AS checks;
-- progress counts the checks, and finds 199: 2 times 99 of equal fingerprints, and one of different ones
CREATE FUNCTION watch(a int, b int) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
	-- a search within another is not shown
	PERFORM simhash_find_all_in_bits('{}');
	PERFORM pg_stat_clear_snapshot();
	PERFORM set_config('batch_same_test.progress',
		(SELECT format('%s: %s, rows %s of %s, found %s, checked %s', command, phase, entries_done, entries_total,
				p.found, checked)
			FROM simhash_stat_progress p WHERE pid = pg_backend_pid()), false);
	RETURN true;
END $$;
SELECT count(*) FROM named('watch(a.id, b.id)');
SHOW batch_same_test.progress;
SELECT count(*) FROM simhash_find_clusters('docs_fp', 3, same => 'watch(a.id, b.id)');
SHOW batch_same_test.progress;
-- a cancel is obeyed between checks: these are some hundred million
TRUNCATE docs;
INSERT INTO docs SELECT i, 'a', 7 FROM generate_series(1, 50000) i;
SET statement_timeout = '1s';
SELECT * FROM attempt('a.id < 0');
SELECT FROM simhash_find_duplicates('docs_fp', 3, keep => NULL, same => 'a.id < 0');
SELECT FROM simhash_find_clusters('docs_fp', 3, same => 'a.id < 0');
RESET statement_timeout;
SELECT count(*) FROM simhash_stat_progress;

--
-- Brute force
--
CREATE TABLE many (id int, weight int, lang text, fp simhash, note text)
	WITH (fillfactor = 60, autovacuum_enabled = off);
CREATE INDEX many_fp ON many USING simhash (fp);
-- random ones; in clusters, with few bits set, and many that are equal; nulls
INSERT INTO many SELECT i, (bits('w' || i) % 10)::int, (ARRAY['a', 'B', 'c', NULL])[1 + abs(bits('l' || i) % 4)],
	CASE WHEN i <= 120 THEN bits('r' || i)
		WHEN i % 41 = 0 THEN NULL
		WHEN i <= 350 THEN flip(bits('c' || i / 15), i % 5, 'f' || i)
		WHEN i <= 420 THEN (1::bigint << i % 64) | (1::bigint << i % 7)
		WHEN i <= 450 THEN 5
		ELSE 5 # (1::bigint << (i % 8) * 8) END, repeat(md5('n' || i % 3), 1 + i % 4)
FROM generate_series(1, 500) i;
CREATE TABLE condition (no int, same text);
INSERT INTO condition VALUES (1, 'a.weight = b.weight'), (2, 'abs(a.weight - b.weight) <= 1'),
	(3, 'a.lang IS NOT DISTINCT FROM b.lang AND a.weight % 2 = b.weight % 2'),
	(4, 'a.note = b.note'), (5, '(a.weight * b.weight) % 5 < 2');
SELECT no, keep, array_agg(n ORDER BY r) AS n, sum(missing + wrong + near_kept + far) AS wrong
FROM condition, unnest('{0,3,8}'::int[]) r, unnest('{NULL,"weight, id DESC"}'::text[]) keep,
	compare_duplicates('many', 'many_fp', r, keep, same => same) c GROUP BY no, keep ORDER BY no, keep;
SELECT no, array_agg(n ORDER BY r) AS n, sum(missing + wrong) AS wrong FROM condition, unnest('{0,3,8}'::int[]) r,
	compare_same_clusters('many', 'many_fp', r, same) c GROUP BY no ORDER BY no;
-- which of the two is a matters; rows that stay can then be near and the same the other way round
SELECT same, keep, n, missing, wrong, far
FROM unnest('{a.weight < b.weight,a.id > b.id,"a.lang = ''a'' AND b.weight > 2"}'::text[]) same,
	unnest('{NULL,"weight DESC, id"}'::text[]) keep,
	compare_duplicates('many', 'many_fp', 6, keep, same => same);
SELECT same, c.* FROM unnest('{a.weight < b.weight,a.id > b.id,"a.lang = ''a'' AND b.weight > 2"}'::text[]) same,
	compare_same_clusters('many', 'many_fp', 6, same) c;
-- rows that are deleted, updated, moved, not committed
DELETE FROM many WHERE id % 7 = 0;
UPDATE many SET note = 'updated' WHERE id % 7 = 1;
UPDATE many SET fp = 4 WHERE id % 7 = 2;
BEGIN;
UPDATE many SET weight = weight + 1 WHERE id % 7 = 4;
SELECT * FROM (SELECT c.* FROM compare_duplicates('many', 'many_fp', 3, 'id', same => 'a.weight = b.weight') c) a,
	(SELECT c.* FROM compare_same_clusters('many', 'many_fp', 3, 'a.weight = b.weight') c) b;
ROLLBACK;
SELECT * FROM (SELECT c.* FROM compare_duplicates('many', 'many_fp', 3, 'id', same => 'a.weight = b.weight') c) a,
	(SELECT c.* FROM compare_same_clusters('many', 'many_fp', 3, 'a.weight = b.weight') c) b;
-- within equal columns, also where different values have the same hash
CREATE INDEX many_columns ON many USING simhash (lang, fp);
SELECT * FROM (SELECT c.*
	FROM compare_duplicates('many', 'many_columns', 3, 'id', 'a.lang = b.lang', 'a.weight = b.weight') c) a,
	(SELECT c.* FROM compare_same_clusters('many', 'many_columns', 3, 'a.weight = b.weight', 'a.lang = b.lang') c) b;
CREATE FUNCTION same_hash(int, bigint) RETURNS bigint LANGUAGE sql IMMUTABLE STRICT AS $$ SELECT 7::bigint $$;
CREATE OPERATOR CLASS same_hash_ops FOR TYPE int USING simhash AS OPERATOR 1 =, FUNCTION 1 same_hash(int, bigint);
CREATE INDEX many_same_hash ON many USING simhash (weight same_hash_ops, fp);
SELECT * FROM (SELECT c.*
	FROM compare_duplicates('many', 'many_same_hash', 3, 'id', 'a.weight = b.weight', 'a.lang = b.lang') c) a,
	(SELECT c.* FROM compare_same_clusters('many', 'many_same_hash', 3, 'a.lang = b.lang', 'a.weight = b.weight') c) b;
DROP INDEX many_same_hash, many_columns;
-- values that are compressed, or out of line
ALTER TABLE many ALTER note SET STORAGE EXTERNAL;
UPDATE many SET note = repeat(note, 100) WHERE id % 3 = 0;
ALTER TABLE many ALTER note SET STORAGE EXTENDED;
UPDATE many SET note = repeat(note, 400) WHERE id % 3 = 1;
SELECT c.* FROM compare_duplicates('many', 'many_fp', 6, 'id', same => 'a.note = b.note') c;
SELECT c.* FROM compare_same_clusters('many', 'many_fp', 6, 'a.note = b.note') c;

--
-- Partitions, whose columns differ: the rows are those of the table that is named
--
CREATE TABLE parts (id int, weight int, lang text, fp simhash) PARTITION BY LIST (lang);
CREATE TABLE parts_b (fp simhash, dropped int, lang text, weight int, id int);
ALTER TABLE parts_b DROP dropped;
CREATE TABLE parts_a PARTITION OF parts FOR VALUES IN ('a');
ALTER TABLE parts ATTACH PARTITION parts_b FOR VALUES IN ('B');
CREATE TABLE parts_c PARTITION OF parts DEFAULT PARTITION BY LIST (lang);
CREATE TABLE parts_d (weight int, fp simhash, lang text, id int);
ALTER TABLE parts_c ATTACH PARTITION parts_d DEFAULT;
CREATE INDEX parts_fp ON parts USING simhash (fp);
INSERT INTO parts SELECT id, weight, lang, fp FROM many ORDER BY id;
SELECT same, keep, c.* FROM unnest('{a.weight = b.weight,a.lang = b.lang,"(a.weight, a.lang) = (b.weight, b.lang)",
	"(a).weight % 3 = (b).weight % 3"}'::text[]) same, unnest('{NULL,"weight DESC, id"}'::text[]) keep,
	compare_duplicates('parts', 'parts_fp', 6, keep, same => same) c;
SELECT same, n > 200 AS some, missing, wrong FROM unnest('{a.weight = b.weight,a.lang = b.lang,a.weight > b.weight}'::text[]) same,
	compare_same_clusters('parts', 'parts_fp', 6, same) c;
-- rows know where they are stored
SELECT count(*) AS rows, count(*) FILTER (WHERE duplicate_table <> keeper_table) AS wrong
FROM simhash_find_duplicates('parts_fp', 6, keep => 'id', same => 'a.tableoid = b.tableoid');
SELECT count(*) FROM (SELECT * FROM simhash_find_duplicates('parts_fp', 6, keep => 'id', same => 'a.tableoid = b.tableoid')
	EXCEPT SELECT * FROM simhash_find_duplicates('parts_fp', 6, keep => 'id', same => 'a.lang IS NOT DISTINCT FROM b.lang OR
		coalesce(a.lang, ''c'') = ''c'' AND coalesce(b.lang, ''c'') = ''c''')) s
UNION ALL
SELECT count(*) FROM simhash_find_duplicates('parts_fp', 6, keep => 'id', same => 'a.ctid = b.ctid AND a.tableoid = b.tableoid');
-- whole rows have the type of that table
CREATE FUNCTION like_rows(parts, parts) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$ SELECT $1.weight = $2.weight $$;
SELECT count(*) FROM (SELECT * FROM simhash_find_duplicates('parts_fp', 6, keep => 'id', same => 'like_rows(a, b)')
	EXCEPT SELECT * FROM simhash_find_duplicates('parts_fp', 6, keep => 'id', same => 'a.weight = b.weight')) s;

--
-- Beyond memory
--
TRUNCATE many;
INSERT INTO many SELECT i, i % 3, 'a', i, NULL FROM generate_series(0, 1023) i;
INSERT INTO many SELECT 1024 + i, i % 2, 'a', i, NULL FROM generate_series(0, 99) i;
SET maintenance_work_mem = '1MB';
-- more pairs than it holds
SELECT * FROM (SELECT *
	FROM compare_duplicates('many', 'many_fp', 4, 'md5(id::text) COLLATE "C"', same => 'a.weight = b.weight')) a,
	(SELECT * FROM compare_same_clusters('many', 'many_fp', 4, 'a.weight = b.weight AND (a.id + b.id) % 5 = 0')) b;
-- more rows
TRUNCATE many;
INSERT INTO many SELECT i, 0, 'a', bits('m' || i / 8), NULL FROM generate_series(1, 40000) i;
SELECT FROM simhash_find_duplicates('many_fp', 0, keep => NULL, same => 'false');
SELECT FROM simhash_find_clusters('many_fp', 0, same => 'false');
SET maintenance_work_mem = '4MB';
SELECT * FROM (SELECT count(*), min(distance), max(distance)
	FROM simhash_find_duplicates('many_fp', 0, keep => NULL, same => 'a.id % 4 = b.id % 4')) a,
	(SELECT count(*), count(DISTINCT cluster), max(cluster), max(size)
	FROM simhash_find_clusters('many_fp', 0, same => 'a.id % 4 = b.id % 4')) b;
RESET maintenance_work_mem;
-- more fingerprints that have near rows than 16 bits can number, and the longest list with a condition
TRUNCATE many;
INSERT INTO many SELECT i, 0, 'a', bits('m' || i / 2), NULL FROM generate_series(1, 140001) i;
CREATE FUNCTION wrong_twins(keep text, OUT duplicates bigint, OUT wrong bigint, OUT kept bigint) LANGUAGE sql AS $$
	SELECT count(*), count(*) FILTER (WHERE x.id / 2 <> y.id / 2 OR x.id = y.id), count(*) FILTER (WHERE y.id % 2 = 0)
	FROM simhash_find_duplicates('many_fp', 0, keep => keep, same => 'a.weight = b.weight') d
		JOIN many x ON x.ctid = duplicate JOIN many y ON y.ctid = keeper
$$;
SELECT keep, w.* FROM unnest('{id,id DESC,"md5(id::text) COLLATE \"C\""}'::text[]) keep, wrong_twins(keep) w;
SELECT count(*), count(DISTINCT cluster), max(cluster), max(size)
FROM simhash_find_clusters('many_fp', 0, same => 'a.weight = b.weight');
CREATE TABLE few AS SELECT i AS id, 1::bigint::simhash AS fp FROM generate_series(1, 5) i;
CREATE INDEX few_fp ON few USING simhash (fp);
SELECT count(*) FROM simhash_find_duplicates('few_fp', 3,
	keep => (SELECT string_agg('id % ' || i, ', ' ORDER BY i) FROM generate_series(1, 1661) i), same => 'true');
SELECT count(*) FROM simhash_stat_progress;

--
-- A table whose texts share a frame: each has one twin
--
CREATE TABLE site (id int PRIMARY KEY, body text, fp simhash GENERATED ALWAYS AS (simhash_minhash(body)) STORED);
INSERT INTO site
SELECT i * 2 + k, (SELECT string_agg('frame' || w, ' ') FROM generate_series(1, 300) w) || ' ' ||
	(SELECT string_agg('own' || i || 'x' || w, ' ') FROM generate_series(1, 40) w) || CASE k WHEN 1 THEN ' copy' ELSE '' END
FROM generate_series(1, 200) i, generate_series(0, 1) k;
CREATE INDEX site_fp ON site USING simhash (fp);
CREATE VIEW twins AS SELECT duplicate FROM simhash_find_duplicates('site_fp', 8, keep => 'id',
	same => 'simhash_jaccard(a.body, b.body) >= 0.8');
DELETE FROM site USING twins WHERE ctid = duplicate;
SELECT count(*), count(*) FILTER (WHERE id % 2 = 0) AS even FROM site;

DROP SCHEMA batch_same_test CASCADE;
DROP ROLE regress_simhash_same;
