--
-- Types of the columns before the fingerprint
--
SET client_min_messages = warning;
CREATE SCHEMA index_columns_types_test;
SET search_path = index_columns_types_test, public; SET max_parallel_workers_per_gather = 0;
\pset format unaligned
\pset tuples_only on

CREATE TYPE mood AS ENUM ('good', 'bad', 'odd');
CREATE DOMAIN even AS integer CHECK (VALUE % 2 = 0);
CREATE DOMAIN any_mood AS mood;
CREATE DOMAIN code AS varchar(10);
CREATE COLLATION ignore_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE COLLATION ignore_accents (provider = icu, locale = 'und-u-ks-level1-kc-true', deterministic = false);

-- Does the plan have a condition on the column in the index?
CREATE FUNCTION uses_column(query text) RETURNS boolean LANGUAGE sql AS $$
	SELECT coalesce(bool_or(line ~ 'Index Cond: .*\ma\M'), false) FROM plan(query) line
$$;

-- the numbers of the rows that a query finds, by the index or without
CREATE FUNCTION find(query text, by_index boolean) RETURNS int[] LANGUAGE plpgsql AS $$
DECLARE
	ids int[];
BEGIN
	PERFORM set_config('enable_seqscan', (NOT by_index)::text, true);
	PERFORM set_config('enable_indexscan', by_index::text, true);
	PERFORM set_config('enable_bitmapscan', 'false', true);
	EXECUTE 'SELECT array(' || query || ' ORDER BY 1)' INTO ids;
	RETURN ids;
END $$;

-- What is wrong with a condition on column a of table t: nothing, if the index
-- is searched by it, and what it finds is what is found without.
CREATE FUNCTION problem(condition text, expected boolean DEFAULT true) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	query text := 'SELECT id FROM t WHERE ' || condition || ' AND fp <~> 0 <= 40';
	found int[] := find(query, true);
BEGIN
	IF found IS DISTINCT FROM find(query, false) THEN
		RETURN 'wrong';
	END IF;
	PERFORM set_config('enable_seqscan', 'false', true);
	PERFORM set_config('enable_indexscan', 'true', true);
	RETURN CASE WHEN uses_column(query) <> expected THEN 'index condition: ' || (NOT expected)
		WHEN found = '{}' THEN 'finds nothing' END;
END $$;

-- a table and index with a column of that type, in which each of the values
-- stands several times
CREATE FUNCTION make_table(type text, literals text[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	DROP TABLE IF EXISTS t;
	EXECUTE 'CREATE TABLE t (id int, a ' || type || ', fp simhash)';
	CREATE INDEX t_a_fp ON t USING simhash (a, fp);
	FOR i IN 1 .. 6 * cardinality(literals) LOOP
		EXECUTE format('INSERT INTO t VALUES (%s, %L, CASE WHEN %s %% 5 > 0 THEN bits(%s::text) END)',
			i, literals[i % cardinality(literals) + 1], i, i);
	END LOOP;
	INSERT INTO t SELECT 1000 + i, NULL, bits(i::text) FROM generate_series(1, 9) i;
	REINDEX TABLE t;
	FOR i IN 1 .. cardinality(literals) LOOP
		EXECUTE format('INSERT INTO t VALUES (2000 + %s, %L, bits(%s::text))', i, literals[i], i);
	END LOOP;
END $$;

-- Each value with =, all of them with ANY, NULL.  The parameters are of the
-- column's type, or of that named.
CREATE FUNCTION check_type(type text, literals text[], parameter text DEFAULT NULL) RETURNS SETOF text
	LANGUAGE plpgsql AS $$
DECLARE
	bare text := coalesce(parameter, regexp_replace(type, ' COLLATE .*', ''));
BEGIN
	PERFORM make_table(type, literals);
	RETURN QUERY SELECT type || ' = ' || v || ': ' || problem(format('a = %L::%s', v, bare))
		FROM unnest(literals) v WHERE problem(format('a = %L::%s', v, bare)) IS NOT NULL;
	RETURN QUERY SELECT type || ' = ANY: ' || p FROM problem(format('a = ANY (%L::%s[])', literals, bare)) p
		WHERE p IS NOT NULL;
	RETURN QUERY SELECT type || ' IS NULL: ' || p FROM problem('a IS NULL') p WHERE p IS NOT NULL;
	PERFORM simhash_index_check('t_a_fp', true);
END $$;

-- Nothing is wrong with any.
SELECT check_type('smallint', '{-32768,-1,0,1,32767}');
SELECT check_type('integer', '{-2147483648,-1,0,1,2147483647}');
SELECT check_type('bigint', '{-9223372036854775808,-1,0,1,4294967296,9223372036854775807}');
SELECT check_type('simhash', '{0,1,-1,9223372036854775808}');
SELECT check_type('oid', '{0,1,4294967295}');
SELECT check_type('regclass', '{pg_class,pg_type}');
SELECT check_type('text', '{"",a,A,"a ",é,naïve}');
SELECT check_type('varchar', '{"",a,A,"a ",é}');
SELECT check_type('varchar(5)', '{"",a,A,"a ",é}');
SELECT check_type('character(5)', '{"",a,A,é}');
SELECT check_type('name', '{"",a,A,"a ",é}');
SELECT check_type('uuid', '{00000000-0000-0000-0000-000000000000,a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}');
SELECT check_type('bytea', '{"","\\x00","\\x0000","\\xdeadbeef"}');
SELECT check_type('date', '{2000-01-01,1999-12-31,infinity,-infinity,"0044-03-15 BC"}');
SELECT check_type('timestamp', '{2000-01-01,"1999-12-31 23:59:59.999999",infinity,-infinity}');
SELECT check_type('timestamptz', '{2000-01-01 00:00 UTC,"1999-12-31 23:59:59.999999 UTC",infinity,-infinity}');
SELECT check_type('numeric', '{0,1,1.0,1.00,-1,1e100,1e-100,NaN,Infinity,-Infinity}');
SELECT check_type('numeric(10,2)', '{0,1,-1,12345.67}');
SELECT check_type('mood', '{good,bad,odd}');
SELECT check_type('even', '{0,2,-2}');
SELECT check_type('code', '{"",a,"a "}');
SELECT check_type('text COLLATE ignore_case', '{"",a,A,b,B,é,É}');
SELECT check_type('text COLLATE ignore_case', '{"",a,A,b,B,é,É}', 'varchar');
SELECT check_type('varchar COLLATE ignore_accents', '{"",e,E,é,É}');
SELECT check_type('character(5) COLLATE ignore_case', '{"",a,A}');
SELECT check_type('name COLLATE ignore_case', '{"",a,A,b}', 'text');

-- A condition on a boolean that is known when the query is planned is a mere "a"
-- or "NOT a", which the server takes to the index since 16 only.
SELECT make_table('boolean', '{t,f}');
SELECT problem('a = ANY (ARRAY[true])'), problem('a = ANY (ARRAY[false, NULL])'), problem('a IS NULL');
SET enable_seqscan = off;
SELECT v, problem(v, uses_column('SELECT FROM t WHERE ' || v || ' AND fp <~> 0 <= 40'))
FROM unnest('{a,NOT a,a = true,a = false,a IS TRUE,a IS NOT FALSE}'::text[]) v
WHERE problem(v, uses_column('SELECT FROM t WHERE ' || v || ' AND fp <~> 0 <= 40')) IS NOT NULL;
RESET enable_seqscan;

--
-- Columns compared with values of another type
--
-- integers: all nine pairs, from either side, and literals without a type
CREATE FUNCTION check_integers(type text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM make_table(type, '{-32768,-1,0,1,32767}');
	RETURN QUERY SELECT type || ' with ' || c || ': ' || problem(c)
	FROM unnest('{smallint,integer,bigint}'::text[]) other, unnest('{-32768,-1,0,32767}'::text[]) v,
		LATERAL (VALUES (format('a = (%L)::%s', v, other)), (format('(%L)::%s = a', v, other)), ('a = ' || v),
			(format('a = %L', v)),
			(format('a = ANY (ARRAY[%L, 3]::%s[])', v, other))) AS form (c)
	WHERE problem(c) IS NOT NULL;
	-- there is none such
	RETURN QUERY SELECT type || ' with ' || c || ': ' || problem(c)
	FROM (VALUES ('a = 70000'), ('a = 4294967295')) AS form (c) WHERE problem(c) <> 'finds nothing';
END $$;
SELECT check_integers('smallint');
SELECT check_integers('integer');
SELECT check_integers('bigint');
-- as the fingerprint of an index of one column, too
CREATE TABLE h (id int, a bigint);
INSERT INTO h SELECT i, i - 50 FROM generate_series(1, 100) i;
CREATE INDEX ON h USING simhash (a);
SET enable_seqscan = off;
SELECT v, array(SELECT id FROM h WHERE a = v), array(SELECT id FROM h WHERE a = v::integer),
	array(SELECT id FROM h WHERE a = v::bigint)
FROM unnest('{-3,0,7}'::smallint[]) v;
SET enable_bitmapscan = off;
SELECT plan('SELECT id FROM h WHERE a = -3');
RESET enable_bitmapscan;
SELECT id FROM h WHERE a = -3;
SELECT id FROM h WHERE a = ANY ('{-3,7,NULL}'::integer[]) ORDER BY 1;
SELECT id FROM h WHERE a = ANY ('{-3,7,NULL}'::smallint[]) ORDER BY 1;
RESET enable_seqscan;
DROP TABLE h;

-- a literal without a type; names and texts, also where the collation ignores case
CREATE FUNCTION check_conditions(VARIADIC conditions text[]) RETURNS SETOF text LANGUAGE sql AS $$
	SELECT c || ': ' || problem(c) FROM unnest(conditions) c WHERE problem(c) IS NOT NULL
$$;
SELECT make_table('varchar(10)', '{"",a,A,b}');
SELECT check_conditions('a = $$a$$', 'a = $$a$$::text', '$$A$$::varchar = a');
SELECT make_table('text', '{"",a,A,b}');
SELECT check_conditions('a = $$a$$', 'a = $$a$$::varchar', '$$A$$::name COLLATE "default" = a');
SELECT make_table('name', '{"",a,A,b}');
SELECT check_conditions('a = $$a$$', 'a = $$a$$::text', '$$A$$::varchar = a', 'a = ANY (ARRAY[$$a$$, $$b$$]::text[])');
SELECT make_table('name COLLATE ignore_case', '{"",a,A,b}');
SELECT check_conditions('a = $$a$$::text', '$$A$$::varchar = a', 'a = $$A$$::name COLLATE ignore_case',
	'a = ANY (ARRAY[$$A$$, $$b$$]::text[])');
SELECT make_table('text COLLATE ignore_case', '{"",a,A,b}');
SELECT check_conditions('a = $$a$$', '$$A$$::varchar = a', 'a = $$A$$::name COLLATE ignore_case',
	'a = ANY (ARRAY[$$A$$, $$b$$]::text[])');
-- another collation than that of the index finds the right rows, but not by the column
SELECT problem('a = $$a$$ COLLATE "C"', false);
SELECT make_table('character(4)', '{"",a,A,b}');
SELECT check_conditions('a = $$a$$', 'a = $$a  $$', 'a = $$a$$::character');
-- the server compares a domain over an enum as the enum
SELECT make_table('any_mood', '{good,bad,odd}');
SELECT check_conditions('a::mood = $$good$$', '$$bad$$::mood = a::mood', 'a::mood = ANY ($${good,odd}$$)', 'a IS NULL');
-- a number with a fraction has to be numeric
SELECT make_table('numeric', '{0,1,2.50}');
SELECT check_conditions('a = 1', 'a = 2.5', 'a = $$2.5$$', 'a = 1::smallint', 'a = ANY ($${1,2.5}$$)');
-- these are converted before they are compared, so the column is not searched by
SELECT make_table('integer', '{0,1}');
SELECT problem('a = 1::numeric', false), problem('a = 1::float8', false);
SELECT make_table('date', '{2000-01-01,2000-01-02}');
SELECT problem('a = timestamp ''2000-01-01''', false), problem('a = ''2000-01-01''');
SELECT make_table('timestamp', '{2000-01-01,2000-01-02}');
SELECT problem('a = date ''2000-01-01''', false), problem('a = ''2000-01-01''');
SELECT make_table('character(4)', '{"",a,A,b}');
SELECT problem('a = ''a''::text', false);
-- a name has the collation C
SELECT make_table('text', '{"",a,A,b}');
SELECT problem('a = ''a''::name', false), problem('a = ''a''::name::text', false),
	problem('a = ''a''::name COLLATE "default"');

--
-- A type that has no operator class, until somebody makes one
--
CREATE TABLE m (id int, a macaddr, fp simhash);
CREATE INDEX ON m USING simhash (a, fp);
CREATE OPERATOR CLASS macaddr_ops DEFAULT FOR TYPE macaddr USING simhash AS
	OPERATOR 1 =,
	FUNCTION 1 hashmacaddrextended(macaddr, bigint);
SELECT check_type('macaddr', '{08:00:2b:01:02:03,00:00:00:00:00:00}');
CREATE OPERATOR CLASS inet_ops DEFAULT FOR TYPE inet USING simhash AS
	OPERATOR 1 =,
	FUNCTION 1 hashinetextended(inet, bigint);
SELECT check_type('inet', '{10.0.0.1,10.0.0.0/8,::1}');
CREATE OPERATOR CLASS array_ops DEFAULT FOR TYPE anyarray USING simhash AS
	OPERATOR 1 =,
	FUNCTION 1 hash_array_extended(anyarray, bigint);
SELECT make_table('int[]', '{"{}","{1}","{1,2}","{NULL}"}');
SELECT check_conditions('a = $${1}$$', 'a = $${}$$', 'a = $${NULL}$$', 'a IS NULL');
SELECT opcname, amvalidate(oid) FROM pg_opclass WHERE opcname IN ('macaddr_ops', 'inet_ops', 'array_ops')
	AND opcmethod = (SELECT oid FROM pg_am WHERE amname = 'simhash') ORDER BY opcname;

--
-- A type that gets the operator class of another one, whose equality is not its own
--
CREATE EXTENSION citext;
CREATE EXTENSION cube;
CREATE EXTENSION hstore;
CREATE EXTENSION isn;
CREATE EXTENSION lo;
CREATE EXTENSION ltree;
CREATE EXTENSION seg;
CREATE DOMAIN shop AS citext;
-- from 17 on there are names of schemas in them
CREATE FUNCTION messages_of(statement text) RETURNS text LANGUAGE sql AS $$
	SELECT replace(concat_ws(' / ', message, nullif(detail, ''), nullif(hint, '')), 'index_columns_types_test.', '')
	FROM attempt(statement)
$$;
CREATE FUNCTION message_of_index(type text, class text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	DROP TABLE IF EXISTS t;
	EXECUTE 'CREATE TABLE t (id int, a ' || type || ', fp simhash)';
	RETURN split_part(messages_of('CREATE INDEX ON t USING simhash (a ' || class || ', fp)'), ' / ', 1);
END $$;
SELECT type, class, message_of_index(type, class)
FROM unnest('{citext,shop,cube,hstore,ean13,isbn,lo,ltree,seg,xid,json,name,varchar,regclass}'::text[]) type,
	unnest('{"",text_ops}'::text[]) class
WHERE class = '' OR type IN ('citext', 'varchar');
DROP TABLE t;
CREATE TABLE t (id int, a text, fp simhash);
INSERT INTO t SELECT i, CASE WHEN i % 2 = 0 THEN 'Shop' ELSE 'shop' END, bits((i / 2)::text)
FROM generate_series(1, 99) i;
CREATE INDEX t_a_fp ON t USING simhash (a, fp);
ALTER TABLE t ALTER a TYPE citext;
SELECT count(*) FROM simhash_find_all('t_a_fp');
-- a warning if the index exists, and none if the table is emptied
\set VERBOSITY terse
REINDEX INDEX t_a_fp;
VACUUM FULL t;
BEGIN;
TRUNCATE t;
ROLLBACK;
-- an error if it is new, or built beside the old one
SELECT messages_of('CREATE INDEX ON t USING simhash (a, fp)');
SELECT split_part(messages_of('ALTER TABLE t ADD EXCLUDE USING simhash (a WITH =, fp WITH =)'), ' / ', 1);
REINDEX INDEX CONCURRENTLY t_a_fp;
DROP INDEX t_a_fp_ccnew;
-- what the hint says: an expression
CREATE INDEX t_lower_fp ON t USING simhash (lower(a::text), fp);
SELECT count(*) FROM simhash_find_all('t_lower_fp');
SELECT message FROM attempt('ALTER TABLE t ADD EXCLUDE USING simhash (lower(a::text) WITH =, fp WITH =)');
SET enable_seqscan = off;
SELECT plan('SELECT id FROM t WHERE lower(a::text) = ''shop'' AND fp <~> 0 <= 3');
RESET enable_seqscan;
-- and a class
DROP INDEX t_a_fp, t_lower_fp;
CREATE OPERATOR CLASS citext_ops DEFAULT FOR TYPE citext USING simhash AS
	OPERATOR 1 =, FUNCTION 1 citext_hash_extended(citext, bigint);
CREATE INDEX t_a_fp ON t USING simhash (a, fp);
SELECT count(*) FROM simhash_find_all('t_a_fp');
SELECT message FROM attempt('ALTER TABLE t ADD EXCLUDE USING simhash (a WITH =, fp WITH =)');
DELETE FROM t WHERE id % 2 = 0;
ALTER TABLE t ADD EXCLUDE USING simhash (a WITH =, fp WITH =);
INSERT INTO t SELECT id, 'SHOP', fp FROM t ON CONFLICT DO NOTHING;
SELECT count(*) FROM t;
SELECT check_type('citext', '{"",a,A,"a ",b}');
SELECT check_type('shop', '{"",a,A,"a ",b}');
-- a class for the type itself may compare as it likes
CREATE FUNCTION same_letters(text, text) RETURNS boolean LANGUAGE sql IMMUTABLE STRICT RETURN lower($1) = lower($2);
CREATE OPERATOR === (LEFTARG = text, RIGHTARG = text, FUNCTION = same_letters, COMMUTATOR = ===);
CREATE FUNCTION hash_letters(text, bigint) RETURNS bigint LANGUAGE sql IMMUTABLE STRICT RETURN hashtextextended(lower($1), $2);
CREATE OPERATOR CLASS letters_ops FOR TYPE text USING simhash AS OPERATOR 1 ===, FUNCTION 1 hash_letters(text, bigint);
CREATE TABLE letters AS SELECT chr(64 + i % 2 * 32 + i / 2) AS a, bits('letters')::simhash AS fp FROM generate_series(2, 9) i;
CREATE INDEX letters_fp ON letters USING simhash (a letters_ops, fp);
SELECT count(*) FROM simhash_find_all('letters_fp');

-- several of them, of different types, and what is not a column
DROP TABLE t;
CREATE TABLE t (id int, x text, b bigint, c mood, a uuid, fp simhash);
CREATE INDEX t_all ON t USING simhash (lower(x), b, c, a, fp);
INSERT INTO t SELECT i, CASE WHEN i % 7 > 0 THEN chr(65 + i % 5) END, i % 3, (enum_range(NULL::mood))[i % 4],
	md5((i % 2)::text)::uuid, bits((i % 40)::text)
FROM generate_series(1, 800) i;
SELECT problem('lower(x) = ''b'' AND b = 2 AND c = ''bad'' AND a = md5(''0'')::uuid'),
	problem('lower(x) IS NULL AND b = ANY (''{0,2}'') AND c IS NULL AND a = md5(''0'')::uuid'),
	problem('lower(x) = ANY (''{a,c,e}'') AND b = ANY (''{0,2,5}'') AND c = ANY (''{good,odd}'')
		AND a = ANY (ARRAY[md5(''0''), md5(''1'')]::uuid[])'),
	-- not all columns are given
	problem('lower(x) = ''b'' AND c = ''bad'' AND a = md5(''0'')::uuid');
SELECT simhash_index_check('t_all', true) \gset

DROP SCHEMA index_columns_types_test CASCADE;
