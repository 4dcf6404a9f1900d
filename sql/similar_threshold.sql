--
-- simhash_similar: texts and byte strings that share as much as is asked for, by the index
-- of =~=
--
-- The reference is its definition by simhash_minhash, simhash_jaccard and the radius of a
-- similarity, by exact arithmetic here.
--
\pset format unaligned
\pset footer off
SET client_min_messages = warning;
CREATE SCHEMA similar_threshold_test;
SET search_path = similar_threshold_test, public; SET max_parallel_workers_per_gather = 0;

-- the smallest radius that holds at least .945 of the fingerprints of 64 bits, of which each
-- differs with probability (1 - s) / 2
CREATE FUNCTION radius(s numeric) RETURNS int LANGUAGE plpgsql IMMUTABLE STRICT AS $$
DECLARE
	p numeric := (1 - s) / 2;
	term numeric := 1;
	total numeric := 0;
BEGIN
	FOR i IN 1..64 LOOP
		term := round(term * (1 - p), 60);
	END LOOP;
	FOR r IN 0..64 LOOP
		total := total + term;
		IF total >= 0.945 THEN
			RETURN r;
		END IF;
		term := round(term * (64 - r) / (r + 1) * p / (1 - p), 60);
	END LOOP;
END $$;
SELECT string_agg(s || ' ' || radius(s), ', ' ORDER BY s) FROM unnest('{1,.95,.9,.8,.7,.6,.5,.1}'::numeric[]) s;
CREATE FUNCTION radius_of(ball simhash_ball) RETURNS int LANGUAGE sql IMMUTABLE AS $$
	SELECT split_part(trim(ball::text, '()'), ',', 2)::int
$$;
SELECT count(*), count(*) FILTER (WHERE radius_of(simhash_similar_ball('a text', n / 1000.0)) <> radius(n / 1000.0)) AS wrong
FROM generate_series(1, 1000) n;
CREATE FUNCTION radius_of(s float8) RETURNS int LANGUAGE sql IMMUTABLE AS $$
	SELECT radius_of(simhash_similar_ball('a text', s))
$$;
CREATE FUNCTION is_similar(a text, b text, s float8) RETURNS boolean LANGUAGE sql IMMUTABLE STRICT AS $$
	SELECT hamming(simhash_minhash(a), simhash_minhash(b)) <= radius_of(s) AND simhash_jaccard(a, b) >= s
$$;

-- 55 of 100 are .55, although .55 times 100 is more than 55 in floating point; so are the fingerprints near enough
SELECT simhash_jaccard(a, b), 100 * 0.55::float8 > 55 AS rounded_up, simhash_similar(a, b, 0.55), simhash_similar(a, b, 0.5500001) AS more
FROM (SELECT string_agg('w' || w, ' ' ORDER BY w) AS a, string_agg('w' || w + CASE WHEN w > 57 THEN 1000 ELSE 0 END, ' ' ORDER BY w) || ' x' AS b
	FROM generate_series(1, 79) w) t;
-- exactly as much as is asked for, as a real too: it stands for a decimal, while what is exact in both stays itself
CREATE TABLE exact (s numeric, a text, b text, near boolean);
INSERT INTO exact SELECT s, a, b, hamming(simhash_minhash(a), simhash_minhash(b)) <= radius(s)
FROM generate_series(10, 19) n, LATERAL (SELECT n / 20.0, string_agg(md5(n || ' ' || w), ' ' ORDER BY w),
	string_agg(md5(n || ' ' || w + CASE WHEN w > 4 * n + 2 THEN 1000 ELSE 0 END), ' ' ORDER BY w)
	FROM generate_series(1, 42 + 2 * n) w) t (s, a, b);
CREATE INDEX exact_a ON exact USING simhash (a simhash_text_ops);
CREATE INDEX exact_b ON exact USING simhash (b simhash_text_ops);
SELECT count(*) AS pairs, bool_and(simhash_jaccard(a, b) = s) AS exact, count(*) FILTER (WHERE near) AS near,
	count(*) FILTER (WHERE simhash_similar(a, b, s::float8)) AS double,
	count(*) FILTER (WHERE simhash_similar(a, b, s::real)) AS real,
	count(*) FILTER (WHERE simhash_similar(a, b, s::real + 1e-7)) AS more FROM exact;
SELECT s, double.count AS double, real.count AS real FROM unnest('{0.55,0.6,0.8,0.9}'::numeric[]) s,
	LATERAL (SELECT count(*) FROM simhash_find_matches('exact_a', 'exact_b', similarity => s::float8)) double,
	LATERAL (SELECT count(*) FROM simhash_find_matches('exact_a', 'exact_b', similarity => s::real)) real;
-- the default; what has no feature, nulls; what is no similarity
SELECT simhash_similar('a b c d', 'A, B, C; D'), simhash_similar('a', '...', 0.5) AS none, simhash_similar('a', 'a', NULL) AS null,
	simhash_similar(NULL, 'a', 0.5) AS null, simhash_similar('a', 'a', 1) AS equal, simhash_similar('a', 'b', 1e-9) AS nothing,
	simhash_similar('\x0102030405060708'::bytea, '\x0102030405060708', 1) AS bytea, simhash_similar(''::bytea, 'a', 0.5) AS none;
SELECT s, a.state, message, detail FROM unnest('{0,-1,1.0000001,NaN,Infinity}'::float8[]) s,
	attempt(format('SELECT simhash_similar(''a'', ''a'', %L)', s)) a;

--
-- With the index and without, on tables of texts whose words are replaced
--
CREATE FUNCTION words(no int, i int, of int, share float8) RETURNS text LANGUAGE sql IMMUTABLE AS $$
	SELECT string_agg('w' || CASE WHEN bits(no || ' ' || i || ' ' || w) & 1023 < share * 1024 THEN md5(no || ' ' || i || ' ' || w)
		ELSE md5(no || ' ' || i % of || ' ' || w) END, ' ' ORDER BY w) FROM generate_series(1, 20 + no % 5 * 9) w
$$;
CREATE TABLE doc (id int PRIMARY KEY, tenant int, body text, data bytea, s float8);
CREATE INDEX doc_body ON doc USING simhash (body simhash_text_ops);
CREATE INDEX doc_data ON doc USING simhash (data simhash_bytea_ops);
CREATE TABLE query (id int, body text, s float8);
-- a table of 40 texts, 3 of them as queries, each at two similarities; and what is found, by the definition
CREATE PROCEDURE fill(no int) LANGUAGE plpgsql AS $$
BEGIN
	TRUNCATE doc, query;
	INSERT INTO doc SELECT i, i % 3, body, convert_to(body, 'UTF8'), (100 + (bits(no || 's' || i) & 1023) % 900) / 1200.0
	FROM (SELECT i, CASE WHEN i % 20 = 19 THEN '...' WHEN i % 20 = 18 THEN NULL ELSE words(no, i, 4, (i % 11) / 50.0) END AS body
		FROM generate_series(1, 40) i) t;
	INSERT INTO query SELECT id, body, v.s FROM doc CROSS JOIN LATERAL (VALUES (round(doc.s::numeric, 1)),
		((bits(no || 'q' || id) & 1023) / 1024.0)) v(s)
	WHERE id IN (no % 17 + 1, no % 17 + 21, 38, 39) AND v.s > 0;
END $$;
CREATE FUNCTION by_parameter(q text, s float8) RETURNS SETOF int LANGUAGE plpgsql AS $$
BEGIN
	RETURN QUERY SELECT d.id FROM doc d WHERE simhash_similar(d.body, q, by_parameter.s);
END $$;
CREATE FUNCTION answers(OUT kind text, OUT q int, OUT s float8, OUT id int) RETURNS SETOF record LANGUAGE plpgsql AS $$
DECLARE
	row query;
BEGIN
	FOR row IN TABLE query LOOP
		RETURN QUERY EXECUTE format('SELECT ''constant'', %s, %L::float8, id FROM doc WHERE simhash_similar(%L, body, %L)',
			row.id, row.s, row.body, row.s);
		RETURN QUERY SELECT 'parameter', row.id, row.s, p FROM by_parameter(row.body, row.s) p;
		RETURN QUERY EXECUTE format('SELECT ''bytea'', %s, %L::float8, id FROM doc WHERE simhash_similar(data, convert_to(%L, ''UTF8''), %L)',
			row.id, row.s, row.body, row.s);
	END LOOP;
	RETURN QUERY SELECT 'column', x.id, x.s, y.id FROM doc x JOIN doc y ON simhash_similar(x.body, y.body, x.s);
	RETURN QUERY SELECT 'of the row', x.id, x.s, y.id FROM query x JOIN doc y ON simhash_similar(x.body, y.body, y.s);
END $$;
CREATE FUNCTION expected(OUT kind text, OUT q int, OUT s float8, OUT id int) RETURNS SETOF record LANGUAGE sql AS $$
	SELECT kind, x.id, x.s, y.id FROM query x, doc y, unnest('{constant,parameter}'::text[]) kind WHERE is_similar(x.body, y.body, x.s)
	UNION ALL SELECT 'column', x.id, x.s, y.id FROM doc x, doc y WHERE is_similar(x.body, y.body, x.s)
	UNION ALL SELECT 'of the row', x.id, x.s, y.id FROM query x, doc y WHERE is_similar(x.body, y.body, y.s)
	UNION ALL SELECT 'bytea', x.id, x.s, y.id FROM query x, doc y WHERE hamming(simhash_minhash(convert_to(x.body, 'UTF8')),
		simhash_minhash(y.data)) <= radius_of(x.s) AND simhash_jaccard(convert_to(x.body, 'UTF8'), y.data) >= x.s
$$;
-- what has no feature is looked up as well
SELECT use_only('indexscan') \gset
EXPLAIN (COSTS OFF) SELECT id FROM doc WHERE simhash_similar(body, '...');
SELECT use_only('seqscan') \gset
SET plan_cache_mode = force_generic_plan;
CREATE TABLE outcome (form text, kind text, rows bigint, missing bigint, wrong bigint);
DO $$
DECLARE
	tab int;
	node text;
BEGIN
	FOR tab IN 1..effort(8, 100) LOOP
		CALL fill(tab);
		CREATE TEMPORARY TABLE truth AS SELECT * FROM expected();
		FOREACH node IN ARRAY '{indexscan,bitmapscan,seqscan}'::text[] LOOP
			PERFORM use_only(node, '{hashjoin,mergejoin,material}');
			DISCARD PLANS;
			CREATE TEMPORARY TABLE found AS SELECT * FROM answers();
			INSERT INTO outcome SELECT node, kind, c.* FROM (SELECT DISTINCT kind FROM truth) t,
				compare_rows(format('SELECT * FROM found WHERE kind = %L', kind), format('SELECT * FROM truth WHERE kind = %L', kind)) c;
			DROP TABLE found;
		END LOOP;
		DROP TABLE truth;
	END LOOP;
END $$;
SELECT form, kind, sum(rows) > 5 * count(*) AS some, sum(missing) AS missing, sum(wrong) AS wrong FROM outcome
GROUP BY form, kind ORDER BY form, kind;
-- reals
SELECT form, c.* FROM unnest('{indexscan,bitmapscan}'::text[]) form, use_only(form, '{hashjoin,mergejoin,material}'),
	compare_rows('SELECT y.s FROM exact x JOIN exact y ON simhash_similar(y.b, x.a, x.s::real)', 'SELECT s FROM exact') c;

--
-- Plans
--
SELECT use_only('indexscan', '{hashjoin,mergejoin,material}') \gset
SELECT plan('SELECT id FROM doc WHERE simhash_similar(body, ''a b c'', 0.6)');
SELECT plan('SELECT id FROM doc WHERE simhash_similar(''a b c'', body)');
SELECT plan('SELECT id FROM doc WHERE simhash_similar(data, ''a b c'', 0.6)');
SELECT plan('SELECT x.id, y.id FROM doc x JOIN doc y ON simhash_similar(x.body, y.body, x.s)');
PREPARE near(text, float8) AS SELECT id FROM doc WHERE simhash_similar(body, $1, $2);
SELECT plan('EXECUTE near(NULL, NULL)');
SELECT use_only('bitmapscan') \gset
SELECT plan('SELECT id FROM doc WHERE simhash_similar(body, ''a b c'', 0.6) AND tenant = 1');
-- the similarity of the row itself is nothing that an index knows
SELECT plan('SELECT id FROM doc WHERE simhash_similar(body, ''a b c'', s)');
RESET plan_cache_mode;
SELECT use_only(''), set_config('enable_' || setting, 'on', false) IS NULL AS off
FROM unnest('{seqscan,bitmapscan,indexscan,indexonlyscan,hashjoin,mergejoin,material}'::text[]) setting;

-- more texts: the index where it pays; estimates that grow with the radius, and are those of =~=
TRUNCATE doc;
INSERT INTO doc SELECT i, i % 3, words(1, i, 40, (i % 11) / 50.0), NULL, 0.5 + i % 5 / 10.0 FROM generate_series(1, 3000) i;
VACUUM ANALYZE doc;
SELECT s, plan_of(format('SELECT id FROM doc WHERE simhash_similar(body, ''a b c d'', %s)', s)) ~ 'doc_body' AS by_index
FROM unnest('{1,0.9,0.8,0.6,0.5}'::numeric[]) s;
SELECT estimate('SELECT id FROM doc WHERE simhash_similar(body, ''a b c d'')') = estimate('SELECT id FROM doc WHERE body =~= ''a b c d''') AS same,
	estimate('SELECT id FROM doc WHERE simhash_similar(body, ''a b c d'', 0.3)') < 100 AS few,
	estimate('SELECT x.id FROM doc x JOIN doc y ON simhash_similar(x.body, y.body)') =
		estimate('SELECT x.id FROM doc x JOIN doc y ON x.body =~= y.body') AS same_join;

--
-- Columns before it, expressions, other types, several conditions, joins that are not inner
--
SELECT use_only('indexscan', '{hashjoin,mergejoin,material}') \gset
DELETE FROM doc WHERE id > 120;
CREATE TABLE truth AS SELECT x.id AS a, y.id AS b, simhash_jaccard(x.body, y.body) AS j, hamming(simhash_minhash(x.body), simhash_minhash(y.body)) AS d
FROM doc x, doc y;
DROP INDEX doc_body;
CREATE INDEX doc_several ON doc USING simhash (tenant, body simhash_text_ops);
CREATE INDEX doc_part ON doc USING simhash ((body || ' end') simhash_text_ops) WHERE id > 40;
CREATE FUNCTION similar_to(form text, node text, condition text, truth text, OUT rows bigint, OUT missing bigint, OUT wrong bigint)
LANGUAGE plpgsql AS $$
DECLARE
	query text := 'SELECT x.id, y.id FROM doc x JOIN doc y ON ' || condition;
BEGIN
	PERFORM use_only(form, '{hashjoin,mergejoin,material}');
	IF strpos(plan_of(query), node) = 0 THEN
		RAISE EXCEPTION 'the index is not used: %', plan_of(query);
	END IF;
	SELECT c.* INTO rows, missing, wrong FROM compare_rows(query, 'SELECT a, b FROM truth WHERE ' || truth) c;
END $$;
SELECT form, c.* FROM (VALUES ('indexscan', 'Index Scan using '), ('bitmapscan', 'Bitmap Index Scan on ')) v(form, node), LATERAL (
	SELECT 'columns' AS what, s.* FROM similar_to(form, node || 'doc_several', 'simhash_similar(y.body, x.body, 0.6) AND x.tenant = y.tenant',
		'd <= 18 AND j >= 0.6 AND a % 3 = b % 3') s
	UNION ALL SELECT 'all groups', s.* FROM similar_to(form, node || 'doc_several', 'simhash_similar(y.body, x.body, 0.6)', 'd <= 18 AND j >= 0.6') s
	UNION ALL SELECT 'two', s.* FROM similar_to(form, node || 'doc_several', 'simhash_similar(y.body, x.body, 0.6) AND y.body =~= x.body AND y.tenant = 1',
		'd <= 10 AND j >= 0.8 AND b % 3 = 1') s
	UNION ALL SELECT 'expression', s.* FROM similar_to(form, node || 'doc_part', 'simhash_similar(y.body || '' end'', x.body || '' end'', 0.5) AND y.id > 40',
		'(SELECT is_similar(x.body || '' end'', y.body || '' end'', 0.5) FROM doc x, doc y WHERE x.id = a AND y.id = b) AND b > 40') s) c;
DROP INDEX doc_several, doc_part;
CREATE INDEX doc_body ON doc USING simhash (body simhash_text_ops);
SELECT * FROM compare_rows('SELECT id FROM doc x WHERE NOT EXISTS (SELECT FROM doc y WHERE y.id < x.id AND simhash_similar(y.body, x.body, 0.7))',
	'SELECT id FROM doc WHERE NOT EXISTS (SELECT FROM truth WHERE a = id AND b < id AND d <= 14 AND j >= 0.7)');
SELECT * FROM compare_rows('SELECT x.id, y.id FROM doc x LEFT JOIN doc y ON simhash_similar(y.body, x.body, x.s) AND y.id > 60',
	'SELECT doc.id, b FROM doc LEFT JOIN truth ON a = doc.id AND b > 60 AND d <= radius_of(s) AND j >= s');
-- candidates, by balls: no text is compared, and in the index none has to be computed again
SELECT plan('SELECT id FROM doc WHERE body =~@ simhash_similar_ball(''a b c'', 0.6)');
SELECT form, c.* FROM unnest('{indexscan,bitmapscan}'::text[]) form, use_only(form, '{}'),
	compare_rows('SELECT id FROM doc WHERE body =~@ ANY (ARRAY(SELECT simhash_similar_ball(body, s) FROM doc WHERE id % 4 = 0))',
		'SELECT DISTINCT b FROM truth JOIN doc ON id = a AND a % 4 = 0 AND d <= radius_of(s)') c;
-- with so many texts that the index itself compares the candidates
SELECT form, c.* FROM unnest('{indexscan,bitmapscan}'::text[]) form, use_only(form, '{}'),
	compare_rows('SELECT id FROM doc WHERE body =~= ANY (ARRAY(SELECT body FROM doc WHERE id % 4 = 0)) AND simhash_similar(body, (SELECT body FROM doc WHERE id = 44), 0.5)',
		'SELECT b FROM truth WHERE a % 4 = 0 AND d <= 10 AND j >= 0.8 INTERSECT SELECT b FROM truth WHERE a = 44 AND d <= 22 AND j >= 0.5') c;
CREATE TABLE typed (v varchar, c varchar(4000));
INSERT INTO typed SELECT body, body FROM doc;
CREATE INDEX typed_v ON typed USING simhash (v simhash_text_ops);
SELECT use_only('indexscan') \gset
SELECT plan('SELECT count(*) FROM typed WHERE simhash_similar(v, ''a b c'', 0.6)');
SELECT (SELECT count(*) FROM typed t, doc WHERE id = 7 AND simhash_similar(t.v, body, 0.6)) = count(*) AS same FROM truth WHERE a = 7 AND d <= 18 AND j >= 0.6;

--
-- Who may not call what the index condition calls goes without it, and finds the same
--
CREATE ROLE regress_simhash_threshold;
GRANT USAGE ON SCHEMA similar_threshold_test TO regress_simhash_threshold;
GRANT SELECT ON doc TO regress_simhash_threshold;
REVOKE EXECUTE ON FUNCTION simhash_similar_ball(text, float8) FROM public;
SET ROLE regress_simhash_threshold;
SELECT plan('SELECT id FROM doc WHERE simhash_similar(body, ''a b c'', 0.6)');
SELECT count(*) FROM doc WHERE simhash_similar(body, 'a b c', 0.6);
RESET ROLE;
GRANT EXECUTE ON FUNCTION simhash_similar_ball(text, float8) TO public;
SELECT plan('SELECT id FROM doc WHERE simhash_similar(body, ''a b c'', 0.6)');

--
-- Operator classes of one's own
--
CREATE FUNCTION own_fp(text) RETURNS simhash LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE RETURN simhash_minhash($1, 1);
CREATE FUNCTION own_similar(a text, b text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE STRICT AS $$
BEGIN
	RETURN public.simhash_similar(a, b, 0.6);
END $$;
CREATE OPERATOR ~~~ (LEFTARG = text, RIGHTARG = text, FUNCTION = own_similar, COMMUTATOR = ~~~);
-- one for a single threshold finds the same rows
CREATE OPERATOR CLASS own_ops FOR TYPE text USING simhash AS OPERATOR 22 ~~~, FUNCTION 2 simhash_similar_fingerprint(text);
CREATE OPERATOR CLASS other_fp_ops FOR TYPE text USING simhash AS OPERATOR 14 =~=, OPERATOR 2 =~@ (text, simhash_ball), FUNCTION 2 own_fp(text);
CREATE OPERATOR CLASS none_ops FOR TYPE text USING simhash AS OPERATOR 2 =~@ (text, simhash_ball), FUNCTION 2 simhash_similar_fingerprint(text);
CREATE OPERATOR CLASS wrong_ops FOR TYPE text USING simhash AS OPERATOR 2 ~~~ (text, text), OPERATOR 14 =~=, FUNCTION 2 own_fp(text);
SET client_min_messages = info;
SELECT opcname, amvalidate(c.oid) FROM pg_opclass c WHERE opcnamespace = 'similar_threshold_test'::regnamespace ORDER BY 1;
SET client_min_messages = warning;
CREATE INDEX doc_own ON doc USING simhash (body own_ops);
CREATE INDEX doc_none ON doc USING simhash (body none_ops);
\set VERBOSITY terse
CREATE INDEX doc_wrong ON doc USING simhash (body wrong_ops);
\set VERBOSITY default
SELECT * FROM compare_rows('SELECT a, b, distance FROM simhash_find_all(''doc_own'')', 'SELECT a, b, distance FROM simhash_find_all(''doc_body'', similarity => 0.6)');
DROP INDEX doc_body, doc_none;
CREATE INDEX doc_other ON doc USING simhash (body other_fp_ops);
-- no index has the fingerprints that are meant
SELECT plan('SELECT id FROM doc WHERE simhash_similar(body, ''a b c'', 0.6)');
CREATE INDEX doc_none ON doc USING simhash (body none_ops);
SELECT a.* FROM unnest(ARRAY['simhash_find_all(''doc_own'', similarity => 0.8)', 'simhash_find_all(''doc_other'', similarity => 0.8)',
	'simhash_find_all(''doc_none'', similarity => 0.8)', 'simhash_find_all(''doc_own'', 10)', 'simhash_find_all(''doc_none'', 10)']) call,
	attempt('SELECT ' || call) a;

-- parameters of functions make no difference
CREATE INDEX doc_body ON doc USING simhash (body simhash_text_ops);
CREATE TABLE pairs AS SELECT * FROM simhash_find_all('doc_body', similarity => 0.6);
ALTER FUNCTION simhash_similar_op(text, text) SET work_mem = '8MB';
ALTER FUNCTION simhash_similar_fingerprint(text) SET work_mem = '8MB';
SELECT * FROM (SELECT count(*) > 0 AS found FROM pairs) a,
	(SELECT * FROM compare_rows('SELECT a, b, distance FROM pairs',
	'SELECT a, b, distance FROM simhash_find_all(''doc_body'', similarity => 0.6)')) b;
ALTER FUNCTION simhash_similar_op(text, text) RESET ALL;
ALTER FUNCTION simhash_similar_fingerprint(text) RESET ALL;

-- a similarity out of range is an error only where it is used, with an index too
CREATE TABLE nothing (body text);
CREATE INDEX ON nothing USING simhash (body simhash_text_ops);
SELECT count(*) FROM nothing WHERE simhash_similar(body, 'a text of five words', 2);

SELECT use_only('seqscan') \gset
DROP SCHEMA similar_threshold_test CASCADE;
DROP ROLE regress_simhash_threshold;
