--
-- Conditions that use the index, those that cannot, and messages: what doc/troubleshooting.md says of
-- them, and rarer ones
--
\pset format unaligned
\pset footer off
CREATE SCHEMA troubleshooting_test;
SET search_path = troubleshooting_test, public; SET max_parallel_workers_per_gather = 0;

CREATE TABLE docs (id bigint PRIMARY KEY, lang text, body text,
	fp simhash GENERATED ALWAYS AS (simhash_minhash(body)) STORED);
INSERT INTO docs
SELECT i, 'en', 'Document ' || i || ' about ' || md5(i::text) || ' and ' || md5((i / 3)::text)
FROM generate_series(1, 20000) i;
CREATE INDEX docs_fp ON docs USING simhash (fp);
CREATE INDEX docs_expression ON docs USING simhash (simhash_minhash(body, 3, 'word')) WHERE lang = 'en';
CREATE TABLE images AS SELECT i AS id, hashint8extended(i, 0) AS h FROM generate_series(1, 1000) i;
CREATE INDEX images_h ON images USING simhash (h);
CREATE TABLE photos AS SELECT i AS id, sha256(i::text::bytea)::simhash_bits(256) AS pdq FROM generate_series(1, 1000) i;
CREATE INDEX photos_pdq ON photos USING simhash (pdq);
CREATE TABLE letters AS SELECT id, body, body::character(20) AS code, body COLLATE "POSIX" AS posix FROM docs;
CREATE INDEX letters_body ON letters USING simhash (body simhash_text_ops);
CREATE INDEX letters_posix ON letters USING simhash (posix simhash_text_ops);
CREATE DOMAIN radius AS int;
CREATE FUNCTION near(a simhash, b simhash) RETURNS bool LANGUAGE plpgsql IMMUTABLE AS
	'BEGIN RETURN a <~> b <= 3; END';
CREATE FUNCTION volatile_text() RETURNS text LANGUAGE plpgsql AS 'BEGIN RETURN ''a text''; END';
CREATE FUNCTION near_sql(a simhash, b simhash) RETURNS bool LANGUAGE sql IMMUTABLE AS
	'SELECT a <~> b <= 3';
ANALYZE;
PREPARE float8_radius(float8) AS SELECT id FROM docs WHERE fp <~> 42 <= $1;
PREPARE numeric_radius(numeric) AS SELECT id FROM docs WHERE fp <~> 42 <= $1;

-- Which queries, or conditions on docs, do not search a simhash index although they should, or do
-- although they should not.  To read it from end to end is no search.
CREATE FUNCTION wrong(searching bool, VARIADIC queries text[]) RETURNS SETOF text LANGUAGE sql
SET enable_seqscan = off AS $$
	SELECT query
	FROM unnest(queries) query,
		LATERAL (SELECT string_agg(line, E'\n')
				 FROM plan(CASE WHEN query ~ '^(EXECUTE|SELECT) ' THEN query
								ELSE 'SELECT id FROM docs WHERE ' || query END) line) explained (lines)
	WHERE lines !~ 'Scan' OR searching <>
		(lines ~ 'Scan [^\n]*(docs_fp|docs_expression|images_h|photos_pdq|letters)[^\n]*\n *(Index Cond|Order By): ')
$$;

SELECT * FROM wrong(true,
	'fp <~> 42 <= 3', 'fp <~> 42 < 4', 'fp <~> 42 = 2', 'fp <~> 42 BETWEEN 1 AND 3', '3 >= fp <~> 42',
	'fp <~> 42 <= 3::smallint', 'fp <~> 42 <= 3::bigint',
	'fp <~> 42 <= (SELECT 3)', '(SELECT 4) > fp <~> 42',
	'SELECT d.id FROM (VALUES (3), (4)) v (r) JOIN docs d ON d.fp <~> 42 <= v.r',
	'hamming(fp, 42) <= 3', 'simhash_within(fp, 42, 3)',
	'SELECT id FROM letters WHERE simhash_similar(body, ''a text'', 0.6)',
	'SELECT id FROM letters WHERE simhash_similar(body, ''a text'' COLLATE "C")',
	'fp <@ simhash_ball(42, 3)', 'fp % 42', 'fp <%> 42', 'fp <<%>> 42',
	'fp <~> (SELECT fp FROM docs WHERE id = 1) <= 3', 'fp = 42', 'fp IN (42, 43)',
	'fp % ANY (ARRAY[42, 43]::simhash[])', 'fp IS NULL', 'SELECT id FROM images WHERE h <~> 42 <= 3',
	'SELECT id FROM images WHERE h <%> 42', 'SELECT id FROM images WHERE h = 42',
	'SELECT id FROM images WHERE h::simhash % 42',
	'SELECT a.id FROM photos a JOIN photos b ON a.pdq <~> b.pdq <= 31',
	'SELECT a.id FROM photos a JOIN photos b ON a.pdq % b.pdq',
	'SELECT a.id FROM photos a JOIN photos b ON a.pdq <@ simhash_bits_ball(b.pdq, 31)',
	'SELECT id FROM photos WHERE pdq = (SELECT pdq FROM photos WHERE id = 1)',
	'SELECT id FROM photos WHERE pdq % ANY (ARRAY(SELECT pdq FROM photos WHERE id < 3))',
	'SELECT a.id FROM docs a JOIN docs b ON a.fp <~> b.fp <= 3',
	'SELECT a.id FROM docs a LEFT JOIN docs b ON a.fp <~> b.fp <= 3',
	'SELECT id FROM letters WHERE body =~= ''a text''', 'SELECT id FROM letters WHERE ''a text'' =~= body',
	'SELECT id FROM letters WHERE body =~= ANY (ARRAY[''a text'', ''another''])',
	'SELECT id FROM letters WHERE body IS NULL',
	'SELECT a.id FROM letters a JOIN letters b ON a.body =~= b.body',
	'SELECT a.id FROM letters a JOIN letters b ON a.body =~= (b.posix COLLATE "default")',
	'SELECT id FROM letters WHERE posix =~= ''a text''',
	'fp <~> 42 <= 3::numeric::int', 'fp <~> 42 <= 3::radius::int',
	'fp <~> 42 <= simhash_minhash_radius(0.9)', 'fp <~> 42 <= floor(32 * (1 - 0.9))::int',
	'SELECT id FROM letters WHERE body =~= (SELECT volatile_text())', 'fp <~> 42 <= 3 AND fp <~> 42 IN (1, 3)',
	'fp % ANY (ARRAY(SELECT fp FROM docs WHERE id < 3))',
	'SELECT id FROM unnest(''{42,43}''::simhash[]) q JOIN docs ON fp <~> q <= 3',
	'fp % (SELECT fp FROM docs ORDER BY random() LIMIT 1)', 'lang = ''en'' AND fp <~> 42 <= 3',
	'fp <~> 42 <= 3 OR id = 1', 'near_sql(fp, 42)', 'fp = ''0x2a''',
	'fp <~> (SELECT fp FROM docs ORDER BY random() LIMIT 1) <= 3',
	'SELECT simhash_hash(lang) FROM docs WHERE fp % 42 GROUP BY ROLLUP (simhash_hash(lang))',
	'SELECT simhash_hash(lang) FROM (SELECT * FROM docs WHERE fp <~> 42 <= 3 OFFSET 0) s
		GROUP BY ROLLUP (simhash_hash(lang))',
	'SELECT id FROM (SELECT id, fp FROM docs UNION ALL SELECT id, fp FROM docs) s WHERE fp <~> 42 <= 3');

SELECT * FROM wrong(false,
	'body =~= ''a text''', 'SELECT id FROM letters WHERE simhash_minhash(body) <~> 42 <= 3',
	'SELECT id FROM letters WHERE lower(body) =~= ''a text''',
	'SELECT id FROM letters WHERE code =~= ''a text''', 'SELECT id FROM letters WHERE NOT body =~= ''a text''',
	'SELECT a.id FROM letters a JOIN letters b ON a.posix =~= (b.body COLLATE "C")',
	'SELECT id FROM letters WHERE body =~= ''a text'' COLLATE "C"',
	'SELECT id FROM letters WHERE body =~= volatile_text()',
	'fp <~> 42 <= 3.0', 'fp <~> 42 < 3.5', 'fp <~> 42 <= 3::real', 'EXECUTE numeric_radius(3)',
	'fp <~> 42 <= 3.5::float8', 'EXECUTE float8_radius(3)', 'NOT (fp <~> 42 > 3)',
	'fp <~> 42 <= 3::radius', '(fp <~> 42)::int <= 3', 'hamming(fp, 42) + 0 <= 3', '64 - (fp <~> 42) >= 61',
	'1 - hamming(fp, 42) / 64.0 >= 0.95', '1 - (fp <~> 42) / 32.0 >= 0.9',
	'fp <~> 42 IN (0, 1, 2, 3)', 'fp <~> 42 = ANY (''{0,1}'')', 'fp <~> 42 = (SELECT 2)',
	'EXISTS (SELECT FROM unnest(''{42,43}''::simhash[]) q WHERE fp <~> q <= 3)',
	'fp % ANY (SELECT unnest(''{42,43}''::simhash[]))',
	'CASE WHEN lang = ''en'' THEN fp <~> 42 <= 3 END', '(fp <~> 42 <= 3) IS TRUE',
	'fp <~> 42 <= 3 OR body = ''x''', 'near(fp, 42)',
	'SELECT id FROM images WHERE bit_count((h # 42)::bit(64)) <= 3', 'fp::text = ''42''',
	'to_hex(fp::bigint) = ''2a''', 'fp IS NOT DISTINCT FROM 42', 'fp > 42',
	'SELECT id FROM docs ORDER BY fp', 'NOT (fp <~> 42 <= 3)', 'fp <~> 42 > 3',
	'SELECT * FROM (SELECT DISTINCT id, fp <~> 42 AS d FROM docs) s WHERE d <= 3',
	'SELECT * FROM (SELECT id, fp <~> 42 AS d FROM docs UNION ALL SELECT id, 0 FROM docs) s WHERE d <= 3',
	'SELECT * FROM (SELECT id, fp <~> 42 AS d FROM docs OFFSET 0) s WHERE d <= 3',
	'SELECT * FROM (SELECT id, fp <~> 42 AS d, row_number() OVER () FROM docs) s WHERE d <= 3',
	'SELECT fp <~> 41 FROM docs WHERE fp <~> 42 <= 3 GROUP BY ROLLUP (fp <~> 41)');

-- The distance that stands for a coefficient is not the radius that finds nearly all such pairs.
SELECT count(*) FILTER (WHERE (1 - d / 32.0 >= j) <> (d <= floor(32 * (1 - j)))) AS wrong,
	count(*) FILTER (WHERE (1 - d / 32.0 >= j) <> (d <= simhash_minhash_radius(j))) > 0 AS by_radius_wrong
FROM generate_series(0, 64) d, (SELECT i / 1000.0 FROM generate_series(1, 1000) i) v (j);

-- ORDER BY
SELECT * FROM wrong(true,
	'SELECT id FROM docs ORDER BY fp <~> 42 LIMIT 10',
	'SELECT id FROM docs ORDER BY hamming(fp, 42) LIMIT 10',
	'SELECT * FROM (SELECT id, fp <~> 42 AS d FROM docs ORDER BY fp <~> 42 LIMIT 100) s ORDER BY d, id LIMIT 10');
SELECT * FROM wrong(current_setting('server_version_num')::int >= 170000,
	'SELECT id FROM docs ORDER BY fp <~> 42, id LIMIT 10');
SELECT * FROM wrong(false,
	'SELECT id FROM docs ORDER BY fp <~> 42 DESC LIMIT 10',
	'SELECT id FROM docs ORDER BY fp <~> 42 NULLS FIRST LIMIT 10',
	'SELECT id FROM docs ORDER BY 64 - (fp <~> 42) DESC LIMIT 10',
	'SELECT id FROM docs ORDER BY 1 - (fp <~> 42) / 32.0 DESC LIMIT 10',
	'SELECT id FROM docs ORDER BY (fp <~> 42)::float8 LIMIT 10',
	'SELECT id FROM docs ORDER BY least(fp <~> 42, fp <~> 43) LIMIT 10');

-- an index on an expression, and a partial one
PREPARE partial(text) AS
	SELECT id FROM docs WHERE simhash_minhash(body, 3, 'word') <~> 42 <= 3 AND lang = $1;
SELECT * FROM wrong(true,
	'simhash_minhash(body, 3, ''word'') <~> 42 <= 3 AND lang = ''en''',
	'simhash_minhash(document => body, unit => ''word'', shingle => 3) <~> 42 <= 3 AND lang = ''en''');
SELECT * FROM wrong(false,
	'simhash_minhash(body) <~> 42 <= 3 AND lang = ''en''',
	'simhash_minhash(lower(body), 3, ''word'') <~> 42 <= 3 AND lang = ''en''',
	'simhash_minhash(body COLLATE "C", 3, ''word'') <~> 42 <= 3 AND lang = ''en''',
	'simhash_compute(body, 3, ''word'') <~> 42 <= 3 AND lang = ''en''',
	'simhash_minhash(body, 3, ''word'') <~> 42 <= 3',
	'simhash_minhash(body) <~> 42 <= 3');
SET plan_cache_mode = force_custom_plan;
SELECT * FROM wrong(true,
	'EXECUTE partial(''en'')');
SET plan_cache_mode = force_generic_plan;
SELECT * FROM wrong(false,
	'EXECUTE partial(''en'')');
RESET plan_cache_mode;

-- Messages that are not as the page has them
SELECT statement, message
FROM (VALUES
	($$SELECT '18446744073709551616'::simhash$$, 'value "18446744073709551616" is out of range for type simhash'),
	($$SELECT body <~> 'a text' FROM docs$$, 'operator does not exist: text <~> unknown'),
	($$SELECT body % 'a text' FROM docs$$, 'operator does not exist: text \% unknown'),
	($$SELECT pdq <~> repeat('0', 64) FROM photos$$, 'operator does not exist: simhash_bits <~> text'),
	($$SELECT fp <~> repeat('0', 16) FROM docs$$, 'operator does not exist: simhash <~> text'),
	($$SELECT pdq::bit(256) <~> '0' FROM photos$$, 'operator does not exist: bit <~> unknown'),
	($$SELECT pdq <~> repeat('01', 128)::simhash_bits FROM photos$$,
		'cannot compare fingerprints of different widths bit by bit'),
	($$SELECT pdq <~> repeat('01', 128)::varbit::simhash_bits FROM photos; SELECT 1 / 0$$, 'division by zero'),
	($$SELECT ('0x' || repeat('1f', 32))::simhash$$, 'value "%" is out of range for type simhash'),
	($$SELECT 1.5::simhash$$, 'cannot convert a number with a fraction to simhash'),
	($$SET LOCAL search_path = pg_catalog; SELECT 1 FROM troubleshooting_test.docs WHERE fp <~> 42 <= 3$$,
		'operator does not exist: public.simhash <~> integer'),
	($$SET LOCAL search_path = pg_catalog; SELECT simhash_minhash('a')$$,
		'function simhash_minhash(unknown) does not exist'),
	($$SET LOCAL search_path = pg_catalog; CREATE INDEX ON troubleshooting_test.docs USING simhash (body simhash_text_ops)$$,
		'operator class "simhash_text_ops" does not exist for access method "simhash"'),
	($$SET LOCAL search_path = pg_catalog; SELECT NULL::simhash$$, 'type "simhash" does not exist'),
	($$SET LOCAL search_path = pg_catalog;
	   CREATE INDEX ON troubleshooting_test.docs USING simhash (body simhash_text_ops)$$,
		'operator class "simhash_text_ops" does not exist for access method "simhash"'),
	($$PREPARE untyped AS SELECT simhash_compute($1, $2)$$, 'function simhash_compute(unknown, unknown) is not unique'),
	($$CREATE FUNCTION hamming_distance(bit, bit) RETURNS float8 LANGUAGE sql IMMUTABLE AS 'SELECT 0.0::float8';
	   CREATE OPERATOR <~> (LEFTARG = bit, RIGHTARG = bit, FUNCTION = hamming_distance);
	   SELECT '1' <~> '2'$$, 'operator is not unique: unknown <~> unknown'),
	($$CREATE FUNCTION hamming_distance(bit, bit) RETURNS float8 LANGUAGE sql IMMUTABLE AS 'SELECT 0.0::float8';
	   CREATE OPERATOR <~> (LEFTARG = bit, RIGHTARG = bit, FUNCTION = hamming_distance);
	   SELECT '1'::simhash <~> '2', fp <~> '0' FROM docs LIMIT 1; SELECT 1 / 0$$, 'division by zero'),
	($$CREATE FUNCTION hamming(varbit, varbit) RETURNS float8 LANGUAGE sql IMMUTABLE AS 'SELECT 0.0::float8';
	   SELECT hamming('1', '2')$$, 'function hamming(unknown, unknown) is not unique'),
	($$CREATE FUNCTION hamming(varbit, varbit) RETURNS float8 LANGUAGE sql IMMUTABLE AS 'SELECT 0.0::float8';
	   SELECT hamming('1'::simhash, '2'); SELECT 1 / 0$$, 'division by zero'),
	($$SELECT 1 FROM images WHERE h % 42$$, 'argument of WHERE must be type boolean, not type bigint'),
	($$SELECT 1 FROM docs WHERE fp <~> 5$$, 'argument of WHERE must be type boolean, not type simhash_distance'),
	($$SELECT 1 FROM docs WHERE body =~= lang || body$$, 'argument of WHERE must be type boolean, not type text'),
	($$SELECT 1 FROM docs WHERE body =~= (lang || body); SELECT 1 / 0$$, 'division by zero'),
	($$SELECT array_agg(fp <~> 1) = '{1}'::int[] FROM docs$$,
		'operator does not exist: simhash_distance[] = integer[]'),
	($$CREATE INDEX ON docs USING simhash (body)$$, '%column "body" of index "docs_body_idx" is not a fingerprint'),
	($$CREATE TABLE bad (body text, EXCLUDE USING simhash (body WITH =~=))$$,
		'operator %=~=(text,text) is not a member of operator family "text_ops"'),
	($$CREATE TABLE bad (body text, bytes bytea, EXCLUDE USING simhash (body simhash_text_ops WITH =~=),
		EXCLUDE USING simhash (bytes simhash_bytea_ops WITH =~=)); SELECT 1 / 0$$, 'division by zero'),
	($$CREATE TABLE bad (doc jsonb); CREATE INDEX ON bad USING simhash (doc)$$,
		'data type jsonb has no default operator class for access method "simhash"'),
	($$SELECT '{}'::jsonb =~= 'a text'$$, 'operator does not exist: jsonb =~= unknown'),
	($$SELECT simhash_minhash('{}'::jsonb)$$, 'function simhash_minhash(jsonb) does not exist'),
	($$CREATE TABLE good (doc jsonb); CREATE INDEX ON good USING simhash ((doc->>'body') simhash_text_ops);
		SELECT FROM good WHERE doc->>'body' =~= 'a text'; SELECT 1 / 0$$, 'division by zero'),
	($$CREATE INDEX ON docs USING simhash (('{1}'::int[]), fp)$$,
		'data type integer[] has no default operator class for access method "simhash"'),
	($$CREATE TABLE bad (t text, EXCLUDE USING simhash (t WITH %))$$, 'operator does not exist: text \% text'),
	($$ALTER TABLE photos ALTER pdq TYPE simhash_bits; REINDEX TABLE photos$$,
		'column "pdq" of index "photos_pdq" does not say how many bits its fingerprints have'),
	($$CREATE UNIQUE INDEX ON docs USING simhash (fp)$$, 'access method "simhash" does not support unique indexes'),
	($$CREATE INDEX ON docs USING simhash (simhash_compute(to_tsvector(body)))$$,
		'functions in index expression must be marked IMMUTABLE'),
	($$CREATE TABLE bad (t text, fp simhash GENERATED ALWAYS AS (simhash_compute(to_tsvector(t))) STORED)$$,
		'generation expression is not immutable'),
	($$INSERT INTO docs SELECT -id, lang, body FROM docs WHERE id = 1;
		ALTER TABLE docs ADD EXCLUDE USING simhash (fp WITH %)$$,
		'could not create exclusion constraint "docs_fp_excl"'),
	($$ALTER TABLE images ADD EXCLUDE USING simhash (h WITH %)$$, 'operator \%(bigint,bigint) is not commutative'),
	($$ALTER TABLE docs ADD EXCLUDE USING simhash (fp WITH <~>)$$,
		'operator %<~>(%simhash,%simhash) is not a member of operator family "simhash_ops"'),
	($$CREATE TABLE good (fp simhash, EXCLUDE USING simhash (fp WITH %), EXCLUDE USING simhash (fp WITH <%>),
		EXCLUDE USING simhash (fp WITH <<%>>)); SELECT 1 / 0$$, 'division by zero'),
	($$SELECT simhash_find_duplicates('docs_fp', 'id')$$, 'invalid input syntax for type integer: "id"'),
	($$SELECT simhash_find_duplicates('docs_fp', 0.9)$$,
		'function simhash_find_duplicates(unknown, numeric) does not exist'),
	($$SELECT simhash_find_all('no_such_index')$$, 'relation "no_such_index" does not exist'),
	($$SELECT simhash_find_duplicates('docs_fp', threshold => .9)$$,
		'function simhash_find_duplicates(unknown, threshold => numeric) does not exist'),
	($$SELECT simhash_find_duplicates('docs_fp', .9)$$,
		'function simhash_find_duplicates(unknown, numeric) does not exist'),
	($$SELECT simhash_find_matches_in('letters_body', array['a text'])$$,
		'function simhash_find_matches_in(unknown, text[]) does not exist'),
	($$SELECT * FROM unnest(array['a text']) q JOIN letters ON body =~= q; SELECT 1 / 0$$, 'division by zero'),
	($$SELECT simhash_find_duplicates('docs_fp', same => 'simhash_jaccard(a.body, b.body) >= 0.9'); SELECT 1 / 0$$,
		'division by zero'),
	($$SELECT simhash_find_duplicates('docs_fp', same => 'a.id IN (SELECT 1)')$$,
		'subqueries are not allowed in "same"'),
	($$SELECT simhash_find_duplicates('docs_fp', keep => '(SELECT 1)')$$, 'subqueries are not allowed in "keep"'),
	($$SELECT simhash_find_duplicates('docs_fp', same => 'random() < 0.5')$$,
		'volatile functions are not allowed in "same"'),
	($$SELECT simhash_find_duplicates('docs_fp', keep => 'random()')$$, 'volatile functions are not allowed in "keep"'),
	($$SELECT 1 FROM docs a FULL JOIN docs b ON a.fp <~> b.fp <= 3$$,
		'FULL JOIN is only supported with merge-joinable or hash-joinable join conditions')
) v (statement, expected), attempt(statement)
WHERE message IS NULL OR message NOT LIKE expected;

-- nobody but a superuser moves the extension, not even its owner
SET client_min_messages = warning;
CREATE ROLE regress_simhash_user;
SELECT current_database() AS database \gset
BEGIN;
DROP EXTENSION simhash CASCADE;
GRANT CREATE ON DATABASE :"database" TO regress_simhash_user;
SET LOCAL ROLE regress_simhash_user;
CREATE SCHEMA of_a_user;
CREATE EXTENSION simhash SCHEMA of_a_user;
CREATE SCHEMA another;
SET LOCAL search_path = of_a_user, public;
-- which object it names depends on where their rows lie
SELECT message ~ '^must be owner of ' AS refused FROM attempt('ALTER EXTENSION simhash SET SCHEMA another');
ROLLBACK;
DROP ROLE regress_simhash_user;

DROP SCHEMA troubleshooting_test CASCADE;
