--
-- Titles: =%=, simhash_similar_titles and simhash_title_ops
--
-- The reference is the definition: words by simhash_jaccard, numbers by regular expressions, and
-- the bands without the numbers, since equal numbers change them alike.
--
\pset format unaligned
\pset footer off
SET client_min_messages = warning;
CREATE SCHEMA similar_titles_test;
SET search_path = similar_titles_test, public; SET max_parallel_workers_per_gather = 0;

--
-- What is similar
--
SELECT a, b, simhash_jaccard(a, b, 1)::numeric(3,2) AS share, a =%= b AS alike, b =%= a AS other_way, simhash_similar_titles(a, b, 1) AS at_1
FROM (VALUES ('The Old Man and the Sea', 'Old Man and the Sea, The'), ('The Old Man and the Sea', 'the old man & the sea'),
	('a b c d e f', 'a b c d e x'), ('a b c d e', 'a b c d x'), ('a b c d', 'a b c'), ('a b c', 'a b'), ('a b c', 'a b c d'), ('a b', 'a b c'),
	('no no never', 'never no'),
	-- the numbers: other ones; zeros before them; as often; in any order; in words; of other scripts
	('Radeon HD 7470 graphics card by AMD', 'Radeon HD 7350 graphics card by AMD'),
	('the agent 007 and the gold of the seas', 'the agent 7 and the gold of the seas'),
	('room 0 of the house on the hill', 'room of the house on the hill'), ('room 0 of the house on the hill', 'room 00 of the house on the hill'),
	('all 3 of 3 parts in the box', 'all 3 of the parts in the box'), ('page 10 to 2 of the book', 'page 2 to 10 of the book'),
	('a new card of the kind rtx4090 for games', 'a new card of the kind rtx4080 for games'),
	('a new card of the kind rtx4090 for games', 'a new card of the kind gtx4090 for games'),
	('chapter 15 of the very long book', U&'chapter \FF11\FF15 of the very long book'),
	('chapter 15 of the very long book', U&'chapter \0661\FF15 of the very long book'),
	('chapter 15 of the very long book', U&'chapter \0661\0666 of the very long book'),
	('version 3.10 of the very good book', 'version 310 of the very good book'), ('1,000 pages of the good old book', '1000 pages of the good old book'),
	(U&'version 3 of the book\00B2 and of others', 'version 3 of the book and of others'), ('1 23', '12 3'), ('12', U&'1\200B2')) v (a, b);
SELECT '' =%= 'a' AS nothing, '...' =%= '...' AS only_marks, NULL =%= 'a' AS no_title, simhash_title_bands('. .') AS no_bands,
	simhash_similar_titles('a b c d', 'a b c d e', 0.8::real) AS "real", simhash_similar_titles('a b c', 'a b c d e f', 0.7) AS half;
SELECT statement, attempt.* FROM unnest(ARRAY['0.69', '0', '1.01', '''NaN'''])
	s, LATERAL format('SELECT simhash_similar_titles(''a'', ''a'', %s)', s) AS statement, attempt(statement);
-- the bands are those of the words, but the numbers change all prefixes alike
CREATE FUNCTION changes(title text) RETURNS SETOF bigint LANGUAGE sql IMMUTABLE AS $$
	SELECT DISTINCT ('x' || substr(a, n, 16))::bit(64)::bigint # ('x' || substr(b, n, 16))::bit(64)::bigint
	FROM simhash_title_bands(title) x, simhash_bands(title, 1, 'word', 4, 16) y, LATERAL (SELECT x::text AS a, y::text AS b) s, generate_series(1, 256, 16) n
$$;
SELECT left(t, 30) AS title, (SELECT array_agg(c) FROM changes(t) c) = ARRAY[CASE WHEN numbers = '' THEN 0 ELSE (simhash_hash(numbers) >> 40 & x'ffffff'::bigint) << 32 END] AS right
FROM (VALUES ('The Old Man and the Sea', ''), ('agent 007', '7 '), ('10 9 x010 9a', '10 10 9 9 '), ('0', '0 '),
	-- in two pieces of what is read
	(repeat('a', 8190) || '4090', '4090 '), (repeat('a ', 4095) || '4090 1', '1 4090 ')) v (t, numbers);

-- by chance, the hashes of two numbers are equal in what bands have of them; the operator and the functions compare the numbers
CREATE TABLE annual (id int PRIMARY KEY, title text);
INSERT INTO annual VALUES (1, 'the annual report of 2004 on the state of the old house'), (2, 'the annual report of 2525 on the state of the old house');
CREATE INDEX annual_title ON annual USING simhash (title simhash_title_ops);
SELECT simhash_share_band(simhash_title_bands(a.title), simhash_title_bands(b.title), 9) AS share_band, a.title =%= b.title AS alike,
	simhash_jaccard(a.title, b.title, 1) >= 0.7 AS words, (SELECT count(*) FROM simhash_find_all('annual_title')) AS pairs
FROM annual a, annual b WHERE a.id = 1 AND b.id = 2;

--
-- An index finds what the operator does: titles of few words and families, many of them equal
--
CREATE FUNCTION made(family int, edits int, member int) RETURNS text LANGUAGE sql IMMUTABLE AS $$
	SELECT string_agg((ARRAY['The', 'old', 'sea', 'king', 'of', 'night', 'stars', 'and', 'house', 'red', 'river', 'light', 'queen', 'war', 'glass', 'moon'])
		[1 + (bits(CASE WHEN w <= edits THEN family || ' ' || w || ' ' || member ELSE family || ' ' || w END) & 15)], ' ' ORDER BY bits(member || ' ' || w))
		|| (ARRAY['', '', ' 7', U&' \FF17', ' 007', ' part 2', ' 2 of 7', ' 7, 2'])[1 + ((family + member) & 7)]
	FROM generate_series(1, 2 + family % 8) w
$$;
CREATE TABLE title (id int PRIMARY KEY, tenant int, title text) WITH (fillfactor = 70);
INSERT INTO title SELECT i, i % 3, made(i / 8, i % 3, i % 16) FROM generate_series(1, 400) i;
INSERT INTO title SELECT i, i % 3, made(i % 4 + 20, 0, 0) FROM generate_series(401, 460) i;
INSERT INTO title SELECT i, i % 3, CASE WHEN i % 2 = 0 THEN '...' END FROM generate_series(461, 470) i;
CREATE FUNCTION numbers(title text) RETURNS text[] LANGUAGE sql IMMUTABLE AS $$
	SELECT coalesce(array_agg(n ORDER BY n), '{}') FROM (SELECT regexp_replace(m[1], '^0+(.)', '\1') AS n FROM regexp_matches(translate(title, U&'\FF17', '7'), '[0-9]+', 'g') m) s
$$;
CREATE TABLE pair (a int, b int, s float8, tenants boolean);
CREATE PROCEDURE expect() LANGUAGE sql AS $$
	TRUNCATE pair;
	WITH t AS MATERIALIZED (SELECT *, numbers(title) AS numbers, simhash_bands(title, 1, 'word', 4, 16) AS bands FROM title)
	INSERT INTO pair SELECT x.id, y.id, s, x.tenant = y.tenant FROM t x JOIN t y ON x.numbers = y.numbers AND x.id <> y.id,
		LATERAL (SELECT simhash_jaccard(x.title, y.title, 1) AS s OFFSET 0) j WHERE s >= 0.7 AND simhash_share_band(x.bands, y.bands, 9, 16)
$$;
CALL expect();
SELECT count(*) > 1000 AS many, count(*) FILTER (WHERE s < 1) > 300 AS edited, count(*) FILTER (WHERE s < 0.8) > 50 AS far FROM pair;

CREATE INDEX title_title ON title USING simhash (title simhash_title_ops);
SELECT count(table_no) AS tables FROM simhash_index_info('title_title');
SELECT attempt.* FROM attempt('CREATE INDEX ON title USING simhash (title simhash_title_ops) WITH (bands = 15)');
SELECT attempt.* FROM attempt('CREATE INDEX ON title USING simhash (title simhash_title_ops) WITH (bands = 17)');
CREATE INDEX title_several ON title USING simhash (tenant, title simhash_title_ops);
SELECT amvalidate(oid) FROM pg_opclass WHERE opcname = 'simhash_title_ops';
-- nothing else is a condition
SELECT use_only('indexscan');
SELECT q, plan_of('SELECT FROM title WHERE ' || q) ~ 'Index Cond' AS served FROM unnest(ARRAY['title =%= ''a''', '''a'' =%= title', 'title =%= ANY (''{a,b}'')',
	'title =~= ''a''', 'simhash_similar(title, ''a'', 0.8)', 'simhash_similar_titles(title, ''a'')']) q;
CREATE FUNCTION found(by text, query text) RETURNS TABLE (how text, rows bigint, missing bigint, wrong bigint) LANGUAGE plpgsql AS $$
BEGIN
	PERFORM use_only(by, '{hashjoin,mergejoin,material}');
	how := by || CASE WHEN plan_of(query) ~ 'Index Cond: .*=%=' THEN ', index' ELSE '' END;
	SELECT * INTO rows, missing, wrong FROM compare_rows(query, 'SELECT a, b FROM pair WHERE ' || CASE WHEN query ~ 'tenant' THEN 'tenants' ELSE 'true' END);
	RETURN NEXT;
END $$;
SELECT f.* FROM (VALUES (1, 'seqscan', ''), (2, 'indexscan', ''), (3, 'bitmapscan', ''), (4, 'seqscan', ' AND x.tenant = y.tenant'), (5, 'indexscan', ' AND x.tenant = y.tenant')) v (no, by, more),
	found(by, 'SELECT x.id, y.id FROM title x JOIN title y ON y.title =%= x.title AND x.id <> y.id' || more) f ORDER BY no;
SELECT use_only('indexscan');
SELECT * FROM compare_rows('SELECT id FROM title WHERE title =%= ANY (ARRAY(SELECT title FROM title WHERE id % 50 = 3))',
	'SELECT b FROM pair WHERE a % 50 = 3 UNION SELECT id FROM title WHERE id % 50 = 3');
SELECT simhash_index_check('title_title', true), simhash_index_check('title_several', true);
-- few rows are expected
SELECT estimate('SELECT FROM title WHERE title =%= ''the old sea''') < 30 AS few;
-- a compressed document whose bands for =~= are remembered, and those of the other one for =%=; in
-- between, some titles that are far from each other
CREATE TABLE long AS SELECT repeat('some words again and again, ', 200) AS body;
BEGIN;
SELECT body =%= 'and again words some' AS by_words FROM long;
SELECT count(*) FROM generate_series(1, 20) i WHERE ('a ' || i) =%= ('b ' || i);
SELECT simhash_similar(body, 'and again words some', 0.5) AS by_runs, body =%= 'and again words some' AS by_words FROM long;
COMMIT;

--
-- Whole tables
--
RESET enable_hashjoin; RESET enable_mergejoin; RESET enable_material; RESET enable_seqscan; RESET enable_bitmapscan;
CREATE FUNCTION whole(index text, arguments text, condition text) RETURNS TABLE (pairs text, clusters text, duplicates text) LANGUAGE sql AS $$
	SELECT compare_rows(format('SELECT least(x.id, y.id), greatest(x.id, y.id), similarity FROM simhash_find_all(%s)
			JOIN title x ON x.ctid = a JOIN title y ON y.ctid = b', given), 'SELECT a, b, s FROM pair WHERE a < b AND ' || condition)::text,
		compare_rows(format('SELECT id, min(id) OVER (PARTITION BY cluster) FROM simhash_find_clusters(%s) JOIN title ON ctid = member', given),
			format('SELECT c.* FROM (SELECT array_agg(a::bigint) AS a, array_agg(b::bigint) AS b FROM pair WHERE a < b AND %s) p, connected(p.a, p.b) c', condition))::text,
		compare_rows(format('SELECT x.id, y.id, similarity FROM simhash_find_duplicates(%s, keep => ''id'') JOIN title x ON x.ctid = duplicate
			JOIN title y ON y.ctid = keeper', given), format('SELECT x.id, keeper, s FROM superfluous_of(''SELECT a, b, -round(s * 1e6)::int FROM pair
			WHERE a < b AND %s'', ''title'', ''id'') x JOIN pair ON a = x.id AND b = keeper', condition))::text
	FROM (SELECT format('%L', index) || arguments AS given) g
$$;
SELECT w.* FROM (VALUES (1, 'title_title', '', 'true'), (2, 'title_title', ', similarity => 0.8', 's >= 0.8'), (3, 'title_title', ', similarity => 1', 's >= 1'),
	(4, 'title_several', '', 'tenants')) v (no, index, arguments, condition), whole(index, arguments, condition) w ORDER BY no;
CREATE TABLE other AS SELECT * FROM title WHERE id % 5 = 2;
CREATE INDEX other_title ON other USING simhash (title simhash_title_ops);
SELECT compare_rows('SELECT x.id, y.id, similarity FROM simhash_find_matches(''other_title'', ''title_title'') JOIN other x ON x.ctid = a JOIN title y ON y.ctid = b WHERE x.id <> y.id',
	'SELECT a, b, s FROM pair WHERE a % 5 = 2') AS matches,
	compare_rows('SELECT query, y.id, similarity FROM simhash_find_matches_in_texts(''title_title'', ARRAY(SELECT title FROM other)) JOIN title y ON y.ctid = b',
	'SELECT q, y.id, simhash_jaccard(q, title, 1) FROM (SELECT DISTINCT title AS q FROM other) o JOIN title y ON title =%= q') AS in_texts;
SELECT attempt.* FROM unnest('{similarity => 0.6,distance => 3}'::text[]) a, attempt(format('SELECT * FROM simhash_find_all(''title_title'', %s)', a));

--
-- A constraint, each tenant for itself, of a user who owns nothing but the table
--
CREATE ROLE regress_simhash_titles;
GRANT CREATE, USAGE ON SCHEMA similar_titles_test TO regress_simhash_titles;
GRANT SELECT ON title TO regress_simhash_titles;
SET ROLE regress_simhash_titles;
CREATE TABLE product (id int, tenant int, name text, CONSTRAINT product_name EXCLUDE USING simhash (tenant WITH =, name simhash_title_ops WITH =%=));
INSERT INTO product VALUES (1, 1, 'Radeon HD 7470 graphics card'), (2, 2, 'radeon hd 7470: graphics card'), (3, 1, 'Radeon HD 7350 graphics card'), (4, NULL, 'Radeon HD 7470 graphics card');
INSERT INTO product VALUES (5, 1, 'RADEON HD 7470 card, graphics');
INSERT INTO product VALUES (6, 1, 'RADEON HD 7470 card, graphics'), (7, 1, 'GeForce GTX 460'), (8, 1, '...'), (9, 1, '...') ON CONFLICT DO NOTHING;
SELECT array_agg(id ORDER BY id) FROM product;
CREATE TABLE library (id int, title text, EXCLUDE USING simhash (title simhash_title_ops WITH =%=));
INSERT INTO library SELECT id, title FROM title ORDER BY id ON CONFLICT DO NOTHING;
SELECT compare_rows('SELECT id FROM title WHERE title IS NOT NULL AND id NOT IN (SELECT id FROM library)',
	'SELECT id FROM superfluous_of(''SELECT a, b, 0 FROM similar_titles_test.pair'', ''title'', ''id'')') FROM (SELECT set_config('role', 'none', true)) r;
SET ROLE regress_simhash_titles;
DROP TABLE product, library;
RESET ROLE;

-- rows that change
DELETE FROM title WHERE id % 9 = 0;
UPDATE title SET title = made(5, id % 3, id % 16) WHERE id % 20 = 1;
VACUUM title;
CALL expect();
SELECT f.* FROM found('indexscan', 'SELECT x.id, y.id FROM title x JOIN title y ON y.title =%= x.title AND x.id <> y.id') f;
SELECT * FROM whole('title_title', '', 'true');
SELECT simhash_index_check('title_title', true);

\set VERBOSITY terse
DROP SCHEMA similar_titles_test CASCADE;
DROP ROLE regress_simhash_titles;
