--
-- simhash_similar: texts and byte strings that share as much as is asked for, by the index
-- of =~=
--
-- The reference is its definition by simhash_bands and simhash_jaccard, with the bands and
-- the radius of a similarity (test/brute_force.sql).
--
\pset format unaligned
\pset footer off
SET client_min_messages = warning;
CREATE SCHEMA similar_threshold_test;
SET search_path = similar_threshold_test, public; SET max_parallel_workers_per_gather = 0;

-- the bands and the radius: at each thousandth, right below and right above it
SELECT string_agg(format('%s: %s, %s; %s, %s', s, similar_bands(s), similar_radius(s), similar_bands(s, true), similar_radius(s, true)), E'\n' ORDER BY s DESC)
FROM unnest('{1,.95,.9,.85,.8,.75,.7,.65,.6,.55,.5}'::float8[]) s;
SELECT count(*), count(*) FILTER (WHERE simhash_similar_ball('a text'::text, s)::text
		<> simhash_bits_ball(simhash_bands('a text', bands => similar_bands(s)), similar_radius(s))::text) AS wrong,
	count(*) FILTER (WHERE simhash_similar_ball('a text'::bytea, s)::text
		<> simhash_bits_ball(simhash_bands('a text'::bytea, bands => similar_bands(s, true)), similar_radius(s, true))::text) AS wrong_bytea
FROM generate_series(500, 1000) n, unnest('{0,1e-15,-1e-15}'::float8[]) e, LATERAL (SELECT n / 1000.0::float8 + e AS s) v WHERE s BETWEEN 0.5 AND 1;
-- neither falls as the similarity falls
SELECT count(*) FROM unnest('{1,.95,.9,.85,.8,.75,.7,.65,.6,.55}'::float8[]) s, unnest('{t,f}'::bool[]) of_bytea
WHERE similar_bands(s, of_bytea) > similar_bands(s - 0.04, of_bytea) OR similar_radius(s, of_bytea) > similar_radius(s - 0.04, of_bytea);

-- 55 of 100 are .55, although .55 times 100 is more than 55 in floating point; they share a band, too
SELECT simhash_jaccard(a, b), 100 * 0.55::float8 > 55 AS rounded_up, simhash_similar(a, b, 0.55), simhash_similar(a, b, 0.5500001) AS more
FROM (SELECT string_agg('w' || w, ' ' ORDER BY w) AS a, string_agg('w' || w + CASE WHEN w > 57 THEN 1000 ELSE 0 END, ' ' ORDER BY w) || ' x' AS b
	FROM generate_series(1, 79) w) t;
-- exactly as much as is asked for, as a real too: it stands for a decimal, while what is exact in both stays itself
CREATE TABLE exact (s numeric, a text, b text, near boolean);
INSERT INTO exact SELECT s, a, b, share_band(simhash_bands(a), simhash_bands(b), s::float8)
FROM generate_series(10, 19) n, LATERAL (SELECT n / 20.0, string_agg(md5(n || '/' || w), ' ' ORDER BY w),
	string_agg(md5(n || '/' || w + CASE WHEN w > 4 * n + 2 THEN 1000 ELSE 0 END), ' ' ORDER BY w)
	FROM generate_series(1, 42 + 2 * n) w) t (s, a, b);
CREATE INDEX exact_a ON exact USING simhash (a simhash_text_ops) WITH (bands = 32);
CREATE INDEX exact_b ON exact USING simhash (b simhash_text_ops) WITH (bands = 32);
SELECT count(*) AS pairs, bool_and(simhash_jaccard(a, b) = s) AS exact, count(*) FILTER (WHERE near) AS near,
	count(*) FILTER (WHERE simhash_similar(a, b, s::float8)) AS double,
	count(*) FILTER (WHERE simhash_similar(a, b, s::real)) AS real,
	count(*) FILTER (WHERE simhash_similar(a, b, s::real + 1e-7)) AS more FROM exact;
-- the default; what has no feature, nulls; what is no similarity
SELECT simhash_similar('a b c d', 'A, B, C; D'), simhash_similar('a', '...', 0.5) AS none, simhash_similar('a', 'a', NULL) AS null,
	simhash_similar(NULL, 'a', 0.5) AS null, simhash_similar('a', 'a', 1) AS equal, simhash_similar('a', 'b', 0.5) AS nothing,
	simhash_similar('\x0102030405060708'::bytea, '\x0102030405060708', 1) AS bytea, simhash_similar(''::bytea, 'a', 0.5) AS none;
SELECT s, a.state, message, detail FROM unnest('{0,-1,0.4999999,1.0000001,NaN,Infinity}'::float8[]) s,
	attempt(format('SELECT simhash_similar(''a'', ''a'', %L)', s)) a;

--
-- With the index and without, on tables of texts whose words are replaced
--
CREATE FUNCTION words(no int, i int, of int, share float8) RETURNS text LANGUAGE sql IMMUTABLE AS $$
	SELECT string_agg('w' || CASE WHEN bits(no || ' ' || i || ' ' || w) & 1023 < share * 1024 THEN md5(no || ' ' || i || ' ' || w)
		ELSE md5(no || ' ' || i % of || ' ' || w) END, ' ' ORDER BY w) FROM generate_series(1, 20 + no % 5 * 9) w
$$;
CREATE TABLE doc (id int PRIMARY KEY, tenant int, body text, data bytea, s float8);
CREATE TABLE query (id int, body text, s float8);
-- An index of each kind: of as many bands as =~= compares, or of more up to 32; after another column.
CREATE PROCEDURE make_indexes(no int) LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE INDEX doc_body ON doc USING simhash (%s body simhash_text_ops) WITH (bands = %s)',
		CASE WHEN no % 5 = 0 THEN 'tenant,' END, 7 + (bits('t' || no) & 1023) % 26);
	EXECUTE format('CREATE INDEX doc_data ON doc USING simhash (%s data simhash_bytea_ops) WITH (bands = %s, fillfactor = %s)',
		CASE WHEN no % 6 = 0 THEN '(tenant % 2),' END, 8 + (bits('v' || no) & 1023) % 25, 10 + no % 90);
END $$;
-- a table of 40 texts, 3 of them as queries, each at two similarities; and what is found, by the definition
CREATE PROCEDURE fill(no int) LANGUAGE plpgsql AS $$
BEGIN
	TRUNCATE doc, query;
	DROP INDEX IF EXISTS doc_body, doc_data;
	IF no % 2 = 0 THEN
		CALL make_indexes(no);
	END IF;
	INSERT INTO doc SELECT i, i % 3, body, convert_to(body, 'UTF8'), 0.5 + (bits(no || 's' || i) & 1023) % 601 / 1200.0
	FROM (SELECT i, CASE WHEN i % 20 = 19 THEN '...' WHEN i % 20 = 18 THEN NULL ELSE words(no, i, 4, (i % 11) / 100.0) END AS body
		FROM generate_series(1, 40) i) t;
	IF no % 2 = 1 THEN
		CALL make_indexes(no);
	END IF;
	INSERT INTO query SELECT id, body, v.s FROM doc CROSS JOIN LATERAL (VALUES (round(doc.s::numeric, 1)),
		(0.5 + (bits(no || 'q' || id) & 1023) / 2046.0)) v(s)
	WHERE id IN (no % 17 + 1, no % 17 + 21, 38, 39);
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
	SELECT kind, x.id, x.s, y.id FROM query x, doc y, unnest('{constant,parameter}'::text[]) kind WHERE are_alike(x.body, y.body, x.s)
	UNION ALL SELECT 'column', x.id, x.s, y.id FROM doc x, doc y WHERE are_alike(x.body, y.body, x.s)
	UNION ALL SELECT 'of the row', x.id, x.s, y.id FROM query x, doc y WHERE are_alike(x.body, y.body, y.s)
	UNION ALL SELECT 'bytea', x.id, x.s, y.id FROM query x, doc y WHERE are_alike(convert_to(x.body, 'UTF8'), y.data, x.s)
$$;
-- what has no feature is looked up as well
CALL make_indexes(1);
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
	FOR tab IN 1..effort(8, 200) LOOP
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

-- many pairs that share none of as many bands as an index has
CREATE TABLE far AS SELECT n, string_agg(md5(n || ' ' || w), ' ' ORDER BY w) AS a,
	string_agg(md5(n || ' ' || CASE WHEN w > 42 THEN -w ELSE w END), ' ' ORDER BY w) AS b
FROM generate_series(1, 100) n, generate_series(1, 60) w GROUP BY n;
SELECT count(*) FILTER (WHERE alike) > 90 AS many, count(*) FILTER (WHERE alike AND NOT simhash_share_band(simhash_bands(a), simhash_bands(b), 12, 7)) > 10 AS beyond
FROM far, are_alike(a, b, 0.5) alike;
CREATE FUNCTION compare_far(columns text, OUT form text, OUT rows bigint, OUT missing bigint, OUT wrong bigint) RETURNS SETOF record LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE INDEX far_b ON far USING simhash (%s)', columns);
	FOREACH form IN ARRAY '{indexscan,bitmapscan}'::text[] LOOP
		PERFORM use_only(form, '{hashjoin,mergejoin,material}');
		IF plan_of('SELECT x.n FROM far x JOIN far y ON simhash_similar(y.b, x.a, 0.5)') !~ 'far_b.*Index Cond' THEN
			RAISE EXCEPTION 'the index is not used';
		END IF;
		SELECT c.* INTO rows, missing, wrong FROM compare_rows('SELECT x.n FROM far x JOIN far y ON simhash_similar(y.b, x.a, 0.5)',
			'SELECT n FROM far WHERE are_alike(a, b, 0.5)') c;
		RETURN NEXT;
	END LOOP;
	DROP INDEX far_b;
END $$;
SELECT columns, c.* FROM unnest('{b simhash_text_ops,"(n % 5), b simhash_text_ops"}'::text[]) columns, compare_far(columns) c;

--
-- Plans, with the number of bands instead of these
--
CREATE FUNCTION plan_in_short(query text) RETURNS SETOF text LANGUAGE sql AS $$
	SELECT coalesce(replace(line, bands, length(bands) / 16 || ' bands'), line)
	FROM plan(query) line, LATERAL (SELECT substring(line, '''\(([0-9a-f]+),') AS bands) b
$$;
DROP INDEX doc_body, doc_data;
CREATE INDEX doc_body ON doc USING simhash (body simhash_text_ops);
CREATE INDEX doc_data ON doc USING simhash (data simhash_bytea_ops);
SELECT use_only('indexscan', '{hashjoin,mergejoin,material}') \gset
SELECT plan_in_short('SELECT id FROM doc WHERE simhash_similar(body, ''a b c'', 0.6)');
SELECT plan_in_short('SELECT id FROM doc WHERE simhash_similar(''a b c'', body)');
SELECT plan_in_short('SELECT id FROM doc WHERE simhash_similar(data, ''a b c'', 0.6)');
SELECT plan_in_short('SELECT x.id, y.id FROM doc x JOIN doc y ON simhash_similar(x.body, y.body, x.s)');
PREPARE near(text, float8) AS SELECT id FROM doc WHERE simhash_similar(body, $1, $2);
SELECT plan_in_short('EXECUTE near(NULL, NULL)');
SELECT use_only('bitmapscan') \gset
SELECT plan_in_short('SELECT id FROM doc WHERE simhash_similar(body, ''a b c'', 0.6) AND tenant = 1');
-- the similarity of the row itself is nothing that an index knows
SELECT plan_in_short('SELECT id FROM doc WHERE simhash_similar(body, ''a b c'', s)');
RESET plan_cache_mode;
SELECT use_only(''), set_config('enable_' || setting, 'on', false) IS NULL AS off
FROM unnest('{seqscan,bitmapscan,indexscan,indexonlyscan,hashjoin,mergejoin,material}'::text[]) setting;

-- more texts: the index where it has bands enough; estimates are those of =~=
TRUNCATE doc;
INSERT INTO doc SELECT i, i % 3, words(1, i, 40, (i % 11) / 100.0), NULL, 0.5 + i % 5 / 10.0 FROM generate_series(1, 3000) i;
VACUUM ANALYZE doc;
CREATE FUNCTION by_index() RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(s || CASE WHEN plan_of(format('SELECT id FROM doc WHERE simhash_similar(body, ''a b c d'', %s)', s)) ~ 'doc_body' THEN ' yes' ELSE ' no' END, ', ' ORDER BY s DESC)
	FROM unnest('{1,0.9,0.8,0.79,0.6,0.5}'::numeric[]) s
$$;
SELECT by_index();
ALTER INDEX doc_body SET (bands = 16);
SELECT by_index() AS as_before;
REINDEX INDEX doc_body;
SELECT by_index();
ALTER INDEX doc_body SET (bands = 32);
REINDEX INDEX doc_body;
SELECT by_index();
SELECT estimate('SELECT id FROM doc WHERE simhash_similar(body, ''a b c d'')') = estimate('SELECT id FROM doc WHERE body =~= ''a b c d''') AS same,
	estimate('SELECT id FROM doc WHERE simhash_similar(body, ''a b c d'', 0.5)') < 100 AS few,
	estimate('SELECT x.id FROM doc x JOIN doc y ON simhash_similar(x.body, y.body)') =
		estimate('SELECT x.id FROM doc x JOIN doc y ON x.body =~= y.body') AS same_join;

--
-- Columns before it, expressions, other types, several conditions, joins that are not inner
--
SELECT use_only('indexscan', '{hashjoin,mergejoin,material}') \gset
DELETE FROM doc WHERE id > 120;
CREATE TABLE truth AS WITH doc AS MATERIALIZED (SELECT *, simhash_bands(body) AS bands FROM doc)
SELECT x.id AS a, y.id AS b, simhash_jaccard(x.body, y.body) AS j, x.bands AS x, y.bands AS y FROM doc x, doc y;
DROP INDEX doc_body;
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
CREATE FUNCTION several(tables int) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE INDEX doc_several ON doc USING simhash (tenant, body simhash_text_ops) WITH (bands = %s)', tables);
	EXECUTE format('CREATE INDEX doc_part ON doc USING simhash ((body || '' end'') simhash_text_ops) WITH (bands = %s) WHERE id > 40', tables);
	RETURN QUERY SELECT concat_ws(' ', form, c) FROM (VALUES ('indexscan', 'Index Scan using '), ('bitmapscan', 'Bitmap Index Scan on ')) v(form, node), LATERAL (
		SELECT 'columns' AS what, s.* FROM similar_to(form, node || 'doc_several', 'simhash_similar(y.body, x.body, 0.6) AND x.tenant = y.tenant',
			'j >= 0.6 AND share_band(x, y, 0.6) AND a % 3 = b % 3') s
		UNION ALL SELECT 'all groups', s.* FROM similar_to(form, node || 'doc_several', 'simhash_similar(y.body, x.body, 0.6)', 'j >= 0.6 AND share_band(x, y, 0.6)') s
		UNION ALL SELECT 'two', s.* FROM similar_to(form, node || 'doc_several', 'simhash_similar(y.body, x.body, 0.6) AND y.body =~= x.body AND y.tenant = 1',
			'j >= 0.8 AND share_band(x, y) AND b % 3 = 1') s
		UNION ALL SELECT 'expression', s.* FROM similar_to(form, node || 'doc_part', 'simhash_similar(y.body || '' end'', x.body || '' end'', 0.5) AND y.id > 40',
			'(SELECT are_alike(x.body || '' end'', y.body || '' end'', 0.5) FROM doc x, doc y WHERE x.id = a AND y.id = b) AND b > 40') s) c;
	DROP INDEX doc_several, doc_part;
END $$;
SELECT tables, several(tables) FROM unnest('{7,16,32}'::int[]) tables;
CREATE INDEX doc_body ON doc USING simhash (body simhash_text_ops);
SELECT * FROM compare_rows('SELECT id FROM doc x WHERE NOT EXISTS (SELECT FROM doc y WHERE y.id < x.id AND simhash_similar(y.body, x.body, 0.7))',
	'SELECT id FROM doc WHERE NOT EXISTS (SELECT FROM truth WHERE a = id AND b < id AND j >= 0.7 AND share_band(x, y, 0.7))');
SELECT * FROM compare_rows('SELECT x.id, y.id FROM doc x LEFT JOIN doc y ON simhash_similar(y.body, x.body, x.s) AND y.id > 60',
	'SELECT doc.id, b FROM doc LEFT JOIN truth ON a = doc.id AND b > 60 AND j >= s AND share_band(x, y, s)');
-- candidates, by balls: no text is compared, and in the index none has to be computed again
SELECT plan_in_short('SELECT id FROM doc WHERE body =~@ simhash_similar_ball(''a b c'', 0.6)');
SELECT form, c.* FROM unnest('{indexscan,bitmapscan}'::text[]) form, use_only(form, '{}'),
	compare_rows('SELECT id FROM doc WHERE body =~@ ANY (ARRAY(SELECT simhash_similar_ball(body, s) FROM doc WHERE id % 4 = 0))',
		'SELECT DISTINCT b FROM truth JOIN doc ON id = a AND a % 4 = 0 AND share_band(x, y, s)') c;
-- with so many texts that the index itself compares the candidates
SELECT form, c.* FROM unnest('{indexscan,bitmapscan}'::text[]) form, use_only(form, '{}'),
	compare_rows('SELECT id FROM doc WHERE body =~= ANY (ARRAY(SELECT body FROM doc WHERE id % 4 = 0)) AND simhash_similar(body, (SELECT body FROM doc WHERE id = 44), 0.5)',
		'SELECT b FROM truth WHERE a % 4 = 0 AND j >= 0.8 AND share_band(x, y) INTERSECT SELECT b FROM truth WHERE a = 44 AND j >= 0.5 AND share_band(x, y, 0.5)') c;
CREATE TABLE typed (v varchar, c varchar(4000));
INSERT INTO typed SELECT body, body FROM doc;
CREATE INDEX typed_v ON typed USING simhash (v simhash_text_ops);
SELECT use_only('indexscan') \gset
SELECT plan_in_short('SELECT count(*) FROM typed WHERE simhash_similar(v, ''a b c'', 0.6)');
SELECT (SELECT count(*) FROM typed t, doc WHERE id = 7 AND simhash_similar(t.v, body, 0.6)) = count(*) AS same FROM truth WHERE a = 7 AND j >= 0.6 AND share_band(x, y, 0.6);

--
-- Who may not call what the index condition calls goes without it, and finds the same
--
CREATE ROLE regress_simhash_threshold;
GRANT USAGE ON SCHEMA similar_threshold_test TO regress_simhash_threshold;
GRANT SELECT ON doc TO regress_simhash_threshold;
REVOKE EXECUTE ON FUNCTION simhash_similar_ball(text, float8) FROM public;
SET ROLE regress_simhash_threshold;
SELECT plan_in_short('SELECT id FROM doc WHERE simhash_similar(body, ''a b c'', 0.6)');
SELECT count(*) FROM doc WHERE simhash_similar(body, 'a b c', 0.6);
RESET ROLE;
GRANT EXECUTE ON FUNCTION simhash_similar_ball(text, float8) TO public;
SELECT plan_in_short('SELECT id FROM doc WHERE simhash_similar(body, ''a b c'', 0.6)');

--
-- Operator classes of one's own
--
CREATE DOMAIN own_bits AS simhash_bits(512);
CREATE FUNCTION own_bands(text) RETURNS own_bits LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE RETURN simhash_bands($1, 1, bands => 8);
CREATE FUNCTION own_similar(a text, b text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE STRICT AS $$
BEGIN
	RETURN public.simhash_similar(a, b, 0.6);
END $$;
CREATE OPERATOR ~~~ (LEFTARG = text, RIGHTARG = text, FUNCTION = own_similar, COMMUTATOR = ~~~);
-- one for a single threshold finds the same rows
CREATE OPERATOR CLASS own_ops FOR TYPE text USING simhash AS OPERATOR 1611 ~~~, FUNCTION 3 simhash_bands_text(text);
CREATE OPERATOR CLASS other_bands_ops FOR TYPE text USING simhash AS OPERATOR 707 =~=, OPERATOR 2 =~@ (text, simhash_bits_ball), FUNCTION 3 own_bands(text);
CREATE OPERATOR CLASS none_ops FOR TYPE text USING simhash AS OPERATOR 2 =~@ (text, simhash_bits_ball), FUNCTION 3 simhash_bands_text(text);
CREATE OPERATOR CLASS wrong_ops FOR TYPE text USING simhash AS OPERATOR 2 ~~~ (text, text), OPERATOR 707 =~=, FUNCTION 3 own_bands(text);
-- a ball of fingerprints is none of bands, nor the other way round
CREATE FUNCTION own_fp(text) RETURNS simhash LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE RETURN simhash_minhash($1);
CREATE OPERATOR CLASS wrong_fp_ops FOR TYPE text USING simhash AS OPERATOR 2 =~@ (text, simhash_bits_ball), FUNCTION 2 own_fp(text);
SET client_min_messages = info;
SELECT opcname, amvalidate(c.oid) FROM pg_opclass c WHERE opcnamespace = 'similar_threshold_test'::regnamespace ORDER BY 1;
SET client_min_messages = warning;
CREATE INDEX doc_own ON doc USING simhash (body own_ops);
-- since PostgreSQL 17, with a search path of its own
SELECT replace(message, 'public.', '') AS message FROM unnest('{wrong_ops,wrong_fp_ops}'::text[]) class,
	attempt(format('CREATE INDEX doc_wrong ON doc USING simhash (body %s)', class));
SELECT form, c.* FROM unnest('{indexscan,bitmapscan}'::text[]) form, use_only(form, '{hashjoin,mergejoin,material}'),
	compare_rows('SELECT x.id, y.id FROM doc x JOIN doc y ON y.body ~~~ x.body', 'SELECT a, b FROM truth WHERE j >= 0.6 AND share_band(x, y, 0.6)') c;
DROP INDEX doc_body;
CREATE INDEX doc_other ON doc USING simhash (body other_bands_ops);
-- no index has the bands that are meant
SELECT plan('SELECT id FROM doc WHERE simhash_similar(body, ''a b c'', 0.6)');
-- an index without an operator but that of balls has all bands
CREATE INDEX doc_none ON doc USING simhash (body none_ops);
SELECT index, count(*) FROM unnest('{doc_own,doc_other,doc_none}'::text[]) index, simhash_index_info(index) WHERE table_no IS NOT NULL GROUP BY index ORDER BY index;
SELECT use_only('indexscan', '{hashjoin,mergejoin,material}') \gset
SELECT plan_in_short('SELECT id FROM doc WHERE simhash_similar(body, ''a b c'')');
SELECT * FROM compare_rows('SELECT x.id, y.id FROM doc x JOIN doc y ON simhash_similar(y.body, x.body, 0.5)',
	'SELECT a, b FROM truth WHERE j >= 0.5 AND share_band(x, y, 0.5)');
DROP INDEX doc_none, doc_other;
CREATE INDEX doc_body ON doc USING simhash (body simhash_text_ops) WITH (bands = 16);

-- a similarity out of range is an error only where it is used, with an index too
CREATE TABLE nothing (body text);
CREATE INDEX ON nothing USING simhash (body simhash_text_ops);
SELECT count(*) FROM nothing WHERE simhash_similar(body, 'a text of five words', 2);

--
-- Whole tables
--
SELECT use_only('seqscan') \gset
SELECT s, double.count AS double, real.count AS real FROM unnest('{0.55,0.6,0.8,0.9}'::numeric[]) s,
	LATERAL (SELECT count(*) FROM simhash_find_matches('exact_a', 'exact_b', similarity => s::float8)) double,
	LATERAL (SELECT count(*) FROM simhash_find_matches('exact_a', 'exact_b', similarity => s::real)) real;
SELECT * FROM compare_rows('SELECT a, b FROM simhash_find_all(''doc_own'')', 'SELECT a, b FROM simhash_find_all(''doc_body'', similarity => 0.6)');
-- parameters of functions make no difference
CREATE TABLE pairs AS SELECT * FROM simhash_find_all('doc_body', similarity => 0.6);
ALTER FUNCTION simhash_similar_op(text, text) SET work_mem = '8MB';
ALTER FUNCTION simhash_bands_text(text) SET work_mem = '8MB';
SELECT * FROM (SELECT count(*) > 0 AS found FROM pairs) a,
	(SELECT * FROM compare_rows('TABLE pairs', 'SELECT * FROM simhash_find_all(''doc_body'', similarity => 0.6)')) b;
ALTER FUNCTION simhash_similar_op(text, text) RESET ALL;
ALTER FUNCTION simhash_bands_text(text) RESET ALL;

DROP SCHEMA similar_threshold_test CASCADE;
DROP ROLE regress_simhash_threshold;
