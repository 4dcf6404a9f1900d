--
-- Operator classes of one's own that compute wide fingerprints
--
-- The reference is each text with each: bit_count() of bit strings, and the features.
--
SET client_min_messages = warning;
CREATE SCHEMA similar_bits_test;
SET search_path = similar_bits_test, public; SET max_parallel_workers_per_gather = 0;
\pset format unaligned
\pset footer off

-- a class of n bits and its operator, which is true within a seventh of them
CREATE PROCEDURE make_class(n int) LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE DOMAIN fp_%1$s AS simhash_bits(%1$s)', n);
	EXECUTE format('CREATE FUNCTION fp_of_%1$s(text) RETURNS fp_%1$s LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
		RETURN simhash_minhash_bits($1, %1$s, 3)', n);
	EXECUTE format('CREATE FUNCTION same_%1$s(a text, b text) RETURNS boolean LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 10000
		RETURN hamming(fp_of_%1$s(a), fp_of_%1$s(b)) <= %2$s AND simhash_jaccard(a, b) >= 0.8', n, n / 7);
	EXECUTE format('CREATE OPERATOR ~%2$s~ (LEFTARG = text, RIGHTARG = text, FUNCTION = same_%1$s, COMMUTATOR = ~%2$s~,
		RESTRICT = simhash_sel, JOIN = simhash_joinsel)', n, translate(n::text, '0123456789', '<>=@#%^&|?'));
	EXECUTE format('CREATE OPERATOR CLASS class_%1$s FOR TYPE text USING simhash AS
		OPERATOR %2$s ~%3$s~, FUNCTION 2 fp_of_%1$s(text)', n, n / 7 + 4, translate(n::text, '0123456789', '<>=@#%^&|?'));
END $$;
CREATE FUNCTION operator_of(n int) RETURNS text LANGUAGE sql AS $$
	SELECT '~' || translate(n::text, '0123456789', '<>=@#%^&|?') || '~'
$$;
CREATE FUNCTION valid(class text) RETURNS boolean LANGUAGE sql AS $$
	SELECT amvalidate(c.oid) FROM pg_opclass c JOIN pg_am a ON a.oid = opcmethod WHERE opcname = class AND amname = 'simhash'
$$;
DO $$
DECLARE
	n int;
BEGIN
	FOREACH n IN ARRAY '{16,64,72,256,1000}'::int[] LOOP
		CALL make_class(n);
	END LOOP;
END $$;
SELECT n, valid('class_' || n) FROM unnest('{16,64,72,256,1000}'::int[]) n;

-- families of texts whose members have up to 9 of 65 words replaced; texts without a feature; nulls
CREATE TABLE source (id int PRIMARY KEY, tenant int, body text);
INSERT INTO source SELECT i, i % 3, CASE
	WHEN i <= 250 THEN (SELECT string_agg('w' || (bits(CASE WHEN w <= i % 10 THEN i || ' ' || w ELSE i / 10 || ' ' || w END) & 1023),
		' ' ORDER BY w) FROM generate_series(1, 65) w)
	WHEN i <= 260 THEN '...' END
FROM generate_series(1, 270) i;

-- the pairs of each text with each that are near, both ways and each with itself
CREATE TABLE pair (n int, a int, b int, d int, j float8);
DO $$
DECLARE
	n int;
BEGIN
	FOREACH n IN ARRAY '{16,64,72,256,1000}'::int[] LOOP
		INSERT INTO pair
		WITH fps AS MATERIALIZED (SELECT id, body, simhash_minhash_bits(body, n, 3)::varbit AS fp FROM source)
		SELECT n, x.id, y.id, wide_distance(x.fp, y.fp), simhash_jaccard(x.body, y.body)
		FROM fps x JOIN fps y ON wide_distance(x.fp, y.fp) <= n / 4;
	END LOOP;
END $$;
CREATE INDEX ON pair (n, a);
ANALYZE pair;
CREATE VIEW near AS SELECT * FROM pair WHERE d <= n / 7 AND j >= 0.8;
SELECT n, count(*) FILTER (WHERE d > n / 7 AND j >= 0.8) > 0 AS too_far, count(*) FILTER (WHERE d <= n / 7 AND j < 0.8) > 0 AS other
FROM pair GROUP BY n ORDER BY n;

-- look-ups of all kinds; the index is made before, in between, or after
CREATE FUNCTION compare_width(n int, form text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	operator text := operator_of(n);
	result text := '';
	query text;
	truth text;
	p text;
BEGIN
	DROP TABLE IF EXISTS doc;
	CREATE TABLE doc (id int, tenant int, body text);
	INSERT INTO doc SELECT * FROM source WHERE id <= 80;
	EXECUTE format('CREATE INDEX doc_body ON doc USING simhash (body class_%s)', n);
	INSERT INTO doc SELECT * FROM source WHERE id > 80;
	DELETE FROM doc WHERE id % 10 = 7;
	INSERT INTO doc SELECT * FROM source WHERE id % 10 = 7;
	ANALYZE doc;
	PERFORM simhash_index_check('doc_body', true);
	PERFORM use_only(form, '{hashjoin,mergejoin,material}');
	FOR query, truth IN VALUES
		(format('SELECT x.id, y.id FROM source x JOIN doc y ON y.body %s x.body WHERE x.id %% 4 = 0', operator),
			format('SELECT a, b FROM near WHERE n = %s AND a %% 4 = 0', n)),
		(format('SELECT x.id, y.id FROM source x JOIN doc y ON y.body %s ANY (ARRAY[x.body, ''...'', NULL]) WHERE x.id %% 40 = 0', operator),
			format('SELECT a, b FROM near WHERE n = %s AND a %% 40 = 0', n)),
		(format('SELECT id FROM doc WHERE body %s ANY (ARRAY(SELECT body FROM source WHERE id %% 50 < 3))', operator),
			format('SELECT DISTINCT b FROM near WHERE n = %s AND a %% 50 < 3', n)),
		(format('SELECT x.id, y.id FROM source x JOIN doc y ON y.body %1$s x.body AND y.body %1$s (x.body || ''?'') WHERE x.id %% 50 = 0', operator),
			format('SELECT a, b FROM near WHERE n = %s AND a %% 50 = 0', n)),
		('SELECT id FROM doc WHERE body IS NULL', 'SELECT id FROM source WHERE coalesce(body) IS NULL'),
		('SELECT id FROM doc WHERE body IS NOT NULL', 'SELECT id FROM source WHERE id <= 260')
	LOOP
		p := plan_of(query);
		IF p NOT LIKE '%Index Scan%doc_body%' THEN
			RETURN p;
		END IF;
		result := concat_ws(', ', nullif(result, ''), difference(query, truth), (SELECT rows FROM compare_rows(query, truth)));
	END LOOP;
	RETURN result;
END $$;
SELECT form, n, compare_width(n, form) FROM unnest('{16,64,72,256,1000}'::int[]) n, unnest('{indexscan,bitmapscan}'::text[]) form
ORDER BY n, form;
SELECT use_only('seqscan');

-- estimates: the radius is one of 256 bits
DROP TABLE doc;
CREATE TABLE doc AS SELECT * FROM source;
CREATE INDEX doc_body ON doc USING simhash (body class_256);
ANALYZE doc;
SELECT estimate('SELECT FROM doc WHERE body ~=%^~ ''a b c''') < 20 AS few;
-- no order, no values
SELECT p, pg_index_column_has_property('doc_body', 1, p) FROM unnest('{distance_orderable,returnable,search_array,search_nulls}'::text[]) p;

-- whole tables: by default within the radius of the operator
CREATE FUNCTION pairs_of(index regclass) RETURNS TABLE (a int, b int, d int) LANGUAGE sql AS $$
	SELECT least(x.id, y.id), greatest(x.id, y.id), f.distance FROM simhash_find_all(index) f
	JOIN doc x ON x.ctid = f.a JOIN doc y ON y.ctid = f.b
$$;
SELECT * FROM (SELECT *
	FROM compare_rows('SELECT * FROM pairs_of(''doc_body'')', 'SELECT a, b, d FROM near WHERE n = 256 AND a < b')) a,
	(SELECT count(*) = (SELECT count(*) FROM near WHERE n = 256 AND a < b) AS same
	FROM (SELECT simhash_find_all('doc_body')) s) b;
CREATE TABLE expected (duplicate int, keeper int, d int);
CREATE PROCEDURE expect(condition text) LANGUAGE plpgsql AS $$
DECLARE
	row record;
	found record;
BEGIN
	TRUNCATE expected;
	CREATE TEMPORARY TABLE kept (no serial, id int PRIMARY KEY);
	FOR row IN SELECT id FROM doc ORDER BY id DESC LOOP
		EXECUTE format('SELECT b, d FROM pair JOIN kept ON id = b WHERE n = 256 AND a = $1 AND (%s) ORDER BY d, no LIMIT 1', condition)
			INTO found USING row.id;
		IF found.b IS NULL THEN
			INSERT INTO kept (id) VALUES (row.id);
		ELSE
			INSERT INTO expected VALUES (row.id, found.b, found.d);
		END IF;
	END LOOP;
	DROP TABLE kept;
END $$;
CREATE FUNCTION one_of_each(same text) RETURNS TABLE (duplicate int, keeper int, d int) LANGUAGE sql AS $$
	SELECT x.id, y.id, f.distance FROM simhash_find_duplicates('doc_body', NULL, keep => 'id DESC', same => same) f
	JOIN doc x ON x.ctid = duplicate JOIN doc y ON y.ctid = keeper
$$;
CALL expect('d <= 36 AND j >= 0.8');
SELECT * FROM compare_rows('SELECT * FROM one_of_each(NULL)', 'TABLE expected');
CALL expect('d <= 36 AND j >= 0.8 AND (a - b) % 2 = 0');
SELECT * FROM compare_rows('SELECT * FROM one_of_each(''(a.id - b.id) % 2 = 0'')', 'TABLE expected');
SELECT * FROM compare_rows('SELECT id, min(id) OVER (PARTITION BY cluster), size FROM simhash_find_clusters(''doc_body'')
	JOIN doc ON doc.ctid = member', 'WITH RECURSIVE reached (a, b) AS (
		SELECT a, b FROM near WHERE n = 256 UNION SELECT r.a, p.b FROM reached r JOIN near p ON p.n = 256 AND p.a = r.b)
	SELECT a, min(b), count(*) FROM reached GROUP BY a HAVING count(*) > 1');
-- two sides, and values, which have no text
CREATE TABLE incoming AS SELECT id, lower(body) || '!' AS body FROM source WHERE id % 4 = 0;
CREATE INDEX incoming_body ON incoming USING simhash (body class_256);
SELECT * FROM compare_rows('SELECT x.id, y.id, distance FROM simhash_find_matches(''incoming_body'', ''doc_body'')
	JOIN incoming x ON x.ctid = a JOIN doc y ON y.ctid = b', 'SELECT a, b, d FROM near WHERE n = 256 AND a % 4 = 0');
SELECT * FROM compare_rows('SELECT id, distance FROM simhash_find_matches_in_bits(''doc_body'',
	ARRAY(SELECT fp_of_256(body)::simhash_bits FROM doc WHERE id = 50), 60) JOIN doc ON doc.ctid = b', 'SELECT b, d FROM pair WHERE n = 256 AND a = 50 AND d <= 60');
CREATE TABLE other AS SELECT id, fp_of_256(body)::simhash_bits(256) AS fp, body FROM source;
CREATE INDEX other_fp ON other USING simhash (fp);
CREATE INDEX other_72 ON other USING simhash (body class_72);
SELECT message, detail FROM unnest(ARRAY['SELECT simhash_find_matches(''doc_body'', ''other_fp'')',
	'SELECT simhash_find_matches(''other_72'', ''doc_body'')', 'SELECT simhash_find_matches_in(''doc_body'', ''{1}''::simhash[])',
	'SELECT simhash_find_matches_in_bits(''doc_body'', ARRAY[wide(''x'', 72)], 1)']) s, attempt(s);
-- with workers
SET min_parallel_index_scan_size = 0;
SELECT * FROM compare_parallel(ARRAY['SELECT * FROM simhash_find_all(''doc_body'')',
	'SELECT * FROM simhash_find_clusters(''doc_body'')', 'SELECT * FROM simhash_find_duplicates(''doc_body'')',
	'SELECT * FROM simhash_find_matches(''incoming_body'', ''doc_body'')']);
RESET min_parallel_index_scan_size;

-- several columns, expressions, partitions
CREATE INDEX doc_several ON doc USING simhash (tenant, body class_256);
SELECT * FROM compare_rows('SELECT a, b, d FROM pairs_of(''doc_several'')',
	'SELECT a, b, d FROM near WHERE n = 256 AND a < b AND (a - b) % 3 = 0');
DROP INDEX doc_body;
SELECT use_only('indexscan', '{hashjoin,mergejoin,material}') \gset
SELECT r.* FROM unnest('{"x.tenant = y.tenant","true"}'::text[]) columns,
	compare_rows('SELECT x.id, y.id FROM doc x JOIN doc y ON x.body ~=%^~ y.body AND x.id % 5 = 0 AND ' || columns,
		'SELECT a, b FROM near JOIN source x ON x.id = a JOIN source y ON y.id = b WHERE n = 256 AND a % 5 = 0 AND ' || columns) r;
SELECT use_only('seqscan') \gset
CREATE TABLE parted (id int, tenant int, body text) PARTITION BY LIST (tenant);
CREATE TABLE parted_1 (body text, more int, tenant int, id int);
ALTER TABLE parted_1 DROP more;
ALTER TABLE parted ATTACH PARTITION parted_1 FOR VALUES IN (1);
CREATE TABLE parted_2 PARTITION OF parted DEFAULT;
INSERT INTO parted SELECT * FROM source;
CREATE INDEX parted_expression ON parted USING simhash ((body || '.') class_256);
SELECT * FROM compare_rows('SELECT least(x.id, y.id), greatest(x.id, y.id), distance FROM simhash_find_all(''parted_expression'')
	JOIN parted x ON x.ctid = a AND x.tableoid = a_table JOIN parted y ON y.ctid = b AND y.tableoid = b_table',
	'SELECT a, b, d FROM near WHERE n = 256 AND a < b');

-- builds: by workers, and again
SET min_parallel_table_scan_size = 0;
CREATE INDEX CONCURRENTLY doc_parallel ON doc USING simhash (body class_256);
REINDEX INDEX doc_parallel;
RESET min_parallel_table_scan_size;
SELECT simhash_index_check('doc_parallel', true) \gset
SELECT count(*) FROM simhash_index_info('doc_parallel');

-- a constraint keeps what the operator is not true for
CREATE TABLE library (id int PRIMARY KEY, body text, EXCLUDE USING simhash (body class_256 WITH ~=%^~));
INSERT INTO library SELECT id, body FROM source ORDER BY id DESC ON CONFLICT DO NOTHING;
CALL expect('d <= 36 AND j >= 0.8');
SELECT * FROM compare_rows('SELECT id FROM library', 'SELECT id FROM doc EXCEPT SELECT duplicate FROM expected');
\set VERBOSITY terse
INSERT INTO library SELECT 1000, upper(body) FROM library WHERE id = 249;
INSERT INTO library SELECT 1000 + id, 'one more ' || body FROM library WHERE id = 239;
\set VERBOSITY default
VACUUM library;
SELECT simhash_index_check('library_body_excl', true) \gset

--
-- What is no such class
--
CREATE FUNCTION fp_unknown(text) RETURNS simhash_bits LANGUAGE sql IMMUTABLE STRICT RETURN simhash_minhash_bits($1);
CREATE DOMAIN any_width AS simhash_bits;
CREATE FUNCTION fp_any(text) RETURNS any_width LANGUAGE sql IMMUTABLE STRICT RETURN simhash_minhash_bits($1);
CREATE FUNCTION fp_bytes(text) RETURNS bytea LANGUAGE sql IMMUTABLE STRICT RETURN $1::bytea;
CREATE FUNCTION refused(fp text, OUT valid boolean, OUT message text, OUT detail text, OUT hint text) LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE OPERATOR CLASS wrong_ops FOR TYPE text USING simhash AS OPERATOR 12 =~=, FUNCTION 2 %s(text)', fp);
	valid := valid('wrong_ops');
	-- servers since 17 build indexes with a search path of their own
	SELECT replace(a.message, 'similar_bits_test.', ''), a.detail, a.hint INTO message, detail, hint
	FROM attempt('CREATE INDEX ON doc USING simhash (body wrong_ops)') a;
	DROP OPERATOR FAMILY wrong_ops USING simhash CASCADE;
END $$;
SET client_min_messages = info;
SELECT r.* FROM unnest('{fp_unknown,fp_any,fp_bytes}'::text[]) f, refused(f) r;
SET client_min_messages = warning;
-- a value of another width than the domain says is its error
CREATE FUNCTION fp_wrong(text) RETURNS fp_256 LANGUAGE sql IMMUTABLE STRICT RETURN simhash_minhash_bits($1, 64);
CREATE OPERATOR CLASS wrong_ops FOR TYPE text USING simhash AS OPERATOR 12 =~=, FUNCTION 2 fp_wrong(text);
SELECT state, message, detail FROM attempt('CREATE INDEX ON doc USING simhash (body wrong_ops)');

DROP SCHEMA similar_bits_test CASCADE;
