--
-- Operator classes of one's own that compute fingerprints
--
\pset format unaligned
\pset footer off
SET client_min_messages = warning;
CREATE SCHEMA similar_classes_test;
SET search_path = similar_classes_test, public; SET max_parallel_workers_per_gather = 0;

-- titles: noise in characters
CREATE FUNCTION title_fp(title text) RETURNS simhash LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN simhash_minhash(title, 5, 'char');
CREATE FUNCTION same_title(a text, b text) RETURNS boolean LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 10000
RETURN hamming(title_fp(a), title_fp(b)) <= 12 AND simhash_jaccard(a, b, 5, 'char') >= 0.6;
CREATE OPERATOR ~~~ (LEFTARG = text, RIGHTARG = text, FUNCTION = same_title, COMMUTATOR = ~~~,
	RESTRICT = simhash_sel, JOIN = simhash_joinsel);
CREATE FUNCTION title_in_ball(title text, ball simhash_ball) RETURNS boolean LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1000
AS 'BEGIN RETURN title_fp(title) <@ ball; END';
CREATE OPERATOR ~~@ (LEFTARG = text, RIGHTARG = simhash_ball, FUNCTION = title_in_ball, RESTRICT = simhash_sel, JOIN = simhash_joinsel);
CREATE OPERATOR CLASS title_ops FOR TYPE text USING simhash AS
	OPERATOR 16 ~~~, OPERATOR 2 ~~@ (text, simhash_ball), FUNCTION 2 title_fp(text);
CREATE FUNCTION valid(class text) RETURNS boolean LANGUAGE sql AS $$
	SELECT amvalidate(c.oid) FROM pg_opclass c JOIN pg_am a ON a.oid = opcmethod WHERE opcname = class AND amname = 'simhash'
$$;
SELECT valid('title_ops');

CREATE TABLE title (id int PRIMARY KEY, title text);
INSERT INTO title SELECT i, CASE WHEN i > 590 THEN '!' ELSE overlay('a title of some length, numbered ' || md5((i / 6)::text)
	PLACING chr(97 + i % 26) FROM 3 + i % 6 * (1 + i % 7) FOR i % 3) END FROM generate_series(1, 600) i;
CREATE INDEX title_title ON title USING simhash (title title_ops);
ANALYZE title;
SELECT simhash_index_check('title_title', true) \gset
CREATE TABLE truth AS SELECT a.id AS a, b.id AS b FROM title a, title b
WHERE simhash_jaccard(a.title, b.title, 5, 'char') >= 0.6
	AND hamming(simhash_minhash(a.title, 5, 'char'), simhash_minhash(b.title, 5, 'char')) <= 12;
SELECT use_only('indexscan', '{hashjoin,mergejoin,material}') \gset
SELECT plan('SELECT a.id, b.id FROM title a JOIN title b ON a.title ~~~ b.title');
SELECT * FROM compare_rows('SELECT a.id, b.id FROM title a JOIN title b ON a.title ~~~ b.title', 'TABLE truth')
UNION ALL
SELECT * FROM compare_rows('SELECT least(x.id, y.id), greatest(x.id, y.id) FROM simhash_find_all(''title_title'')
	JOIN title x ON x.ctid = a JOIN title y ON y.ctid = b', 'SELECT a, b FROM truth WHERE a < b');
-- balls: of a row, of any of several, and with the operator
CREATE TABLE ball AS SELECT id, title, simhash_ball(title_fp(title), id % 25) AS ball FROM title WHERE id % 9 = 1;
CREATE TABLE in_ball AS SELECT b.id AS a, t.id AS b FROM ball b JOIN title t ON distance(title_fp(t.title)::bigint, title_fp(b.title)::bigint) <= b.id % 25;
CREATE FUNCTION compare_balls(OUT form text, OUT what text, OUT rows bigint, OUT missing bigint, OUT wrong bigint)
RETURNS SETOF record LANGUAGE plpgsql AS $$
DECLARE
	query text;
	truth text;
BEGIN
	FOREACH form IN ARRAY '{indexscan,bitmapscan}'::text[] LOOP
		PERFORM use_only(form, '{hashjoin,mergejoin,material}');
		FOR what, query, truth IN VALUES ('one', 'SELECT q.id, t.id FROM ball q JOIN title t ON t.title ~~@ q.ball', 'TABLE in_ball'),
			('any', 'SELECT id FROM title WHERE title ~~@ ANY (ARRAY(SELECT ball FROM ball))', 'SELECT DISTINCT b FROM in_ball'),
			('both', 'SELECT q.id, t.id FROM ball q JOIN title t ON t.title ~~@ q.ball AND t.title ~~~ q.title', 'TABLE in_ball INTERSECT TABLE truth')
		LOOP
			IF plan_of(query) !~ ('(Index Scan using|Bitmap Index Scan on) title_title.*Index Cond: [^\n]*~~@') THEN
				RAISE EXCEPTION 'the index is not used: %', plan_of(query);
			END IF;
			SELECT c.* INTO rows, missing, wrong FROM compare_rows(query, truth) c;
			RETURN NEXT;
		END LOOP;
	END LOOP;
	PERFORM use_only('seqscan');
END $$;
SELECT * FROM compare_balls();
-- behind another column, of some rows, of an expression, in partitions
DROP INDEX title_title;
CREATE TABLE parted (LIKE title) PARTITION BY HASH (id);
CREATE TABLE parted_0 PARTITION OF parted FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO parted SELECT * FROM title;
CREATE FUNCTION compare_index(definition text, condition text, truth text,
	OUT rows bigint, OUT missing bigint, OUT wrong bigint)
LANGUAGE plpgsql AS $$
DECLARE
	query text := format('SELECT q.id, t.id FROM ball q JOIN %s t ON %s', split_part(definition, ' ', 1), condition);
BEGIN
	EXECUTE 'CREATE INDEX compared ON ' || definition;
	PERFORM use_only('indexscan', '{hashjoin,mergejoin,material}');
	IF plan_of(query) !~ 'Index Scan using (compared|parted_1).*Index Cond: [^\n]*~~~' THEN
		RAISE EXCEPTION 'the index is not used: %', plan_of(query);
	END IF;
	SELECT c.* INTO rows, missing, wrong
	FROM compare_rows(query, 'SELECT a, b FROM truth WHERE a IN (SELECT id FROM ball) AND ' || truth) c;
	DROP INDEX compared;
	PERFORM use_only('seqscan');
END $$;
SELECT definition, c.* FROM (VALUES
	('title USING simhash ((id % 3), title title_ops)', 't.title ~~~ q.title AND t.id % 3 = 1', 'b % 3 = 1'),
	('title USING simhash ((id % 3), title title_ops) WITH (blocks = 3, distance = 1)', 't.title ~~~ q.title', 'true'),
	('title USING simhash (title title_ops) WHERE id > 200', 't.title ~~~ q.title AND t.id > 200', 'b > 200'),
	('title USING simhash ((title || '''') title_ops)', 'q.title ~~~ (t.title || '''')', 'true'),
	('parted USING simhash (title title_ops)', 't.title ~~~ q.title', 'true')) v(definition, condition, truth),
	compare_index(definition, condition, truth) c;
-- with other blocks; what has no fingerprint is not null
SET min_parallel_table_scan_size = 0; SET max_parallel_maintenance_workers = 2;
INSERT INTO title VALUES (0, NULL);
CREATE INDEX title_parallel ON title USING simhash (title title_ops) WITH (blocks = 5, distance = 2);
RESET min_parallel_table_scan_size;
SELECT simhash_index_check('title_parallel', true) \gset
SELECT form, nulls, others FROM unnest('{indexscan,bitmapscan}'::text[]) form, use_only(form),
	LATERAL (SELECT count(*) AS nulls FROM title WHERE title IS NULL AND form <> '') a,
	LATERAL (SELECT count(*) AS others FROM title WHERE title IS NOT NULL AND form <> '') b;
SELECT use_only('seqscan') \gset
DELETE FROM title WHERE id = 0;
DROP INDEX title_parallel;
CREATE INDEX CONCURRENTLY title_title ON title USING simhash (title title_ops) WITH (blocks = 6, distance = 3);
SELECT simhash_index_check('title_title', true) \gset
SELECT count(*) FROM simhash_index_info('title_title') WHERE table_no IS NOT NULL;
SELECT * FROM compare_balls();
SELECT * FROM attempt('CREATE INDEX title_bands ON title USING simhash (title title_ops) WITH (bands = 7)');
SELECT option, a.* FROM unnest('{blocks = 4,distance = 3,"bands = 6","bands = 33"}'::text[]) option,
	attempt(format('CREATE INDEX title_bands ON title USING simhash (title simhash_text_ops) WITH (%s)', option)) a;
SELECT option, a.* FROM unnest('{bands = 7,"bands = 33"}'::text[]) option,
	attempt(format('CREATE INDEX title_bands ON title USING simhash ((title::bytea) simhash_bytea_ops) WITH (%s)', option)) a;
DELETE FROM title USING simhash_find_duplicates('title_title', keep => 'id') d WHERE title.ctid = d.duplicate;
SELECT count(*) FROM title a JOIN title b ON a.id < b.id AND same_title(a.title, b.title);
ALTER TABLE title ADD EXCLUDE USING simhash (title title_ops WITH ~~~);
\set VERBOSITY terse
INSERT INTO title SELECT 1000, title || '?' FROM title WHERE id = 6;
\set VERBOSITY default
INSERT INTO title SELECT 1000, title || '?' FROM title WHERE id = 6 ON CONFLICT DO NOTHING;

-- a function that the planner replaces by its body, although it is strict: queries do without the index and
-- find the same rows, constraints go by the operator
CREATE FUNCTION near_title(a text, b text) RETURNS boolean LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN hamming(title_fp(a), title_fp(b)) <= 12;
CREATE OPERATOR ~~= (LEFTARG = text, RIGHTARG = text, FUNCTION = near_title, COMMUTATOR = ~~=,
	RESTRICT = simhash_sel, JOIN = simhash_joinsel);
CREATE OPERATOR CLASS near_title_ops FOR TYPE text USING simhash AS
	OPERATOR 16 ~~=, FUNCTION 2 title_fp(text);
CREATE TABLE heading (title text, CONSTRAINT heading_title EXCLUDE USING simhash (title near_title_ops WITH ~~=));
INSERT INTO heading SELECT title FROM title ORDER BY id LIMIT 9 ON CONFLICT DO NOTHING;
SELECT count(*) FROM heading;
CREATE INDEX heading_same ON heading USING simhash (title title_ops);
SELECT use_only('indexscan') \gset
SELECT operator, bool_or(line LIKE '%Index Scan%') AS index
FROM unnest('{~~=,~~~}'::text[]) operator, plan(format('SELECT FROM heading WHERE title %s ''x''', operator)) line
GROUP BY operator ORDER BY index;
SELECT * FROM compare_rows('SELECT id FROM heading h JOIN title t ON h.title ~~= upper(t.title)',
	'SELECT id FROM heading h, title t WHERE hamming(title_fp(h.title), title_fp(t.title)) <= 12');
INSERT INTO heading SELECT title || '?' FROM heading ON CONFLICT DO NOTHING RETURNING title;
SELECT use_only('seqscan');

-- a type that is no text, and a function that is no SQL; how often it is called
CREATE TYPE point3 AS (x int, y int, z int);
CREATE SEQUENCE call;
CREATE FUNCTION point3_fp(point3) RETURNS simhash LANGUAGE plpgsql IMMUTABLE STRICT AS $$
BEGIN
	PERFORM nextval('similar_classes_test.call');
	IF $1.x < 0 THEN
		RETURN NULL;
	END IF;
	RETURN public.simhash_minhash(ARRAY[($1).x / 100, ($1).y / 100, ($1).z / 100]::bigint[]);
END $$;
CREATE FUNCTION same_point(point3, point3) RETURNS boolean LANGUAGE plpgsql IMMUTABLE STRICT AS $$
BEGIN
	RETURN $1.x >= 0 AND $2.x >= 0 AND $1.x / 100 = $2.x / 100 AND $1.y / 100 = $2.y / 100 AND $1.z / 100 = $2.z / 100;
END $$;
CREATE OPERATOR ~~~ (LEFTARG = point3, RIGHTARG = point3, FUNCTION = same_point, COMMUTATOR = ~~~,
	RESTRICT = simhash_sel, JOIN = simhash_joinsel);
CREATE OPERATOR CLASS point3_ops DEFAULT FOR TYPE point3 USING simhash AS
	OPERATOR 4 ~~~, FUNCTION 2 point3_fp(point3);
SELECT valid('point3_ops');
CREATE TABLE place (id int, p point3);
INSERT INTO place SELECT i, (i % 40 * 10 - 20, i % 7, i / 3)::point3 FROM generate_series(1, 1000) i;
CREATE FUNCTION computed(statement text, OUT rows bigint, OUT computed bigint) LANGUAGE plpgsql AS $$
BEGIN
	computed := nextval('call');
	EXECUTE statement;
	GET DIAGNOSTICS rows = ROW_COUNT;
	computed := nextval('call') - computed - 1;
END $$;
SET min_parallel_table_scan_size = 0; SET max_parallel_maintenance_workers = 2;
-- not parallel safe, so no workers
SELECT computed FROM computed('CREATE INDEX place_p ON place USING simhash (p)');
RESET min_parallel_table_scan_size;
ANALYZE place;
SELECT use_only('indexscan') \gset
SELECT * FROM computed('SELECT id FROM place WHERE p ~~~ (110, 3, 55)');
SELECT * FROM computed('SELECT id FROM place WHERE p ~~~ ANY (ARRAY[(110, 3, 55), (210, 3, 55), (-10, 3, 55), NULL]::point3[])');
SELECT * FROM computed('INSERT INTO place SELECT i, (i, i, i)::point3 FROM generate_series(1, 50) i');
SELECT * FROM compare_rows('SELECT id FROM place WHERE p ~~~ (110, 3, 55)', 'SELECT id FROM place WHERE same_point(p, (110, 3, 55))');
SELECT count(*) FROM place WHERE p ~~~ (-10, 3, 55)
UNION ALL SELECT count(*) FROM place WHERE p IS NULL;
SELECT simhash_index_check('place_p', true) \gset

--
-- What is no such class
--
-- the result, the number of arguments, their type, volatility
CREATE FUNCTION fp_text(text) RETURNS text LANGUAGE sql IMMUTABLE STRICT AS 'SELECT $1';
CREATE FUNCTION fp_two(text, int) RETURNS simhash LANGUAGE sql IMMUTABLE STRICT AS 'SELECT 1::simhash';
CREATE FUNCTION fp_point(point3) RETURNS simhash LANGUAGE sql IMMUTABLE STRICT AS 'SELECT 1::simhash';
CREATE FUNCTION fp_stable(text) RETURNS simhash LANGUAGE sql STABLE STRICT AS 'SELECT 1::simhash';
CREATE FUNCTION fp_set(text) RETURNS SETOF simhash LANGUAGE sql IMMUTABLE STRICT AS 'SELECT 1::simhash';
CREATE TABLE doc (id int, tenant int, body text);
CREATE FUNCTION refused(fp text, operators text DEFAULT 'OPERATOR 14 =~=', OUT valid boolean, OUT message text, OUT detail text)
LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE OPERATOR CLASS wrong_ops FOR TYPE text USING simhash AS %s, FUNCTION 2 %s', operators, fp);
	valid := valid('wrong_ops');
	-- servers since 17 build indexes with a search path of their own
	SELECT replace(a.message, 'similar_classes_test.', ''), a.detail INTO message, detail FROM attempt('CREATE INDEX doc_body ON doc USING simhash (body wrong_ops)') a;
	DROP OPERATOR FAMILY wrong_ops USING simhash CASCADE;
END $$;
SET client_min_messages = info;
SELECT * FROM refused('fp_text(text)');
SELECT * FROM refused('fp_two(text, int)');
SELECT * FROM refused('fp_point(point3)');
SELECT * FROM refused('fp_stable(text)');
SELECT * FROM refused('fp_set(text)');
SELECT * FROM refused('title_fp(text)', 'OPERATOR 1 =');
SELECT * FROM refused('title_fp(text)', 'OPERATOR 14 =~=, OPERATOR 13 = (text, name)');
SET client_min_messages = warning;
-- operators that come later
CREATE OPERATOR CLASS late_ops FOR TYPE text USING simhash AS OPERATOR 16 ~~~, FUNCTION 2 title_fp(text);
CREATE INDEX doc_late ON doc USING simhash (body late_ops);
ALTER OPERATOR FAMILY late_ops USING simhash ADD OPERATOR 1 = (text, text);
SET enable_bitmapscan = off;
SELECT id FROM doc WHERE body = 'a';
SELECT id FROM doc WHERE body ~~~ 'a';
DROP OPERATOR FAMILY late_ops USING simhash CASCADE;
RESET enable_bitmapscan;
-- the fingerprint has to be the last; no order by distance
CREATE INDEX ON doc USING simhash (body simhash_text_ops, tenant);
CREATE INDEX ON doc USING simhash (body simhash_text_ops, (simhash_minhash(body)));
SELECT message, detail FROM attempt('CREATE TABLE wrong (tenant int, body text,
	EXCLUDE USING simhash (tenant WITH =, body simhash_text_ops WITH =))');
CREATE INDEX doc_body ON doc USING simhash (body simhash_text_ops);
SELECT pg_index_column_has_property('doc_body', 1, p) FROM unnest('{distance_orderable,returnable,search_array,search_nulls}'::text[]) p;

-- a condition on an expression is rechecked, also that it is null
CREATE FUNCTION title(text) RETURNS text IMMUTABLE COST 1 LANGUAGE plpgsql AS 'BEGIN RETURN $1; END';
CREATE TABLE titled AS SELECT CASE WHEN i % 10 > 0 THEN 'a b c ' || i END AS body FROM generate_series(1, 2000) i;
CREATE INDEX titled_body ON titled USING simhash (title(body) simhash_text_ops);
ANALYZE titled;
SELECT use_only('indexscan') \gset
SELECT plan('SELECT FROM titled WHERE title(body) IS NULL');
SELECT estimate('SELECT FROM titled WHERE title(body) IS NULL', 'Total Cost') AS cheap \gset
ALTER FUNCTION title(text) COST 10000;
SELECT estimate('SELECT FROM titled WHERE title(body) IS NULL', 'Total Cost') > 10 * :cheap AS counted;

SELECT use_only('seqscan') \gset
DROP SCHEMA similar_classes_test CASCADE;
