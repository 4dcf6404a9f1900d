--
-- Columns before the fingerprint: values that are equal have the same group
--
\pset format unaligned
\pset footer off
SET client_min_messages = warning;
CREATE SCHEMA index_columns_hashes_test;
SET search_path = index_columns_hashes_test, public; SET max_parallel_workers_per_gather = 0;

-- Under these collations strings are equal that have not the same bytes.  A server without
-- ICU has no such collations, and gets others.
DO $$
DECLARE
	c record;
BEGIN
	FOR c IN SELECT * FROM (VALUES ('ignore_case', 'und-u-ks-level2'), ('ignore_accents', 'und-u-ks-level1'),
		('ignore_blanks', 'und-u-ka-shifted')) v(name, locale)
	LOOP
		IF EXISTS (SELECT FROM pg_collation WHERE collprovider = 'i') THEN
			EXECUTE format('CREATE COLLATION %I (provider = icu, locale = %L, deterministic = false)', c.name,
				c.locale);
		ELSE
			EXECUTE format('CREATE COLLATION %I FROM "C"', c.name);
		END IF;
	END LOOP;
END $$;

--
-- Blanks at the end do not count in a value of type character
--
CREATE TABLE codes (code character(5) COLLATE ignore_case, fp simhash);
INSERT INTO codes SELECT 'ab', g FROM generate_series(1, 1000) g;
CREATE INDEX codes_fp ON codes USING simhash (code, fp);
SELECT use_only('indexscan') \gset
SELECT plan('SELECT FROM codes WHERE code = ''ab'' AND fp <~> 0 <= 1');
SELECT count(*) FROM codes WHERE code = 'ab' AND fp <~> 0 <= 1
UNION ALL SELECT count(*) FROM codes WHERE code = ANY ('{ab,"ab  ",c}'::bpchar[]) AND fp <~> 0 <= 1
UNION ALL SELECT count(*) FROM (SELECT FROM codes WHERE code = 'ab ' ORDER BY fp <~> 0 LIMIT 10) nearest;
DROP TABLE codes;
-- without a length they are stored as well
CREATE TABLE codes (code bpchar COLLATE ignore_case, fp simhash,
	EXCLUDE USING simhash (code WITH =, fp WITH %));
INSERT INTO codes VALUES ('ab', 0), ('ab  ', 1);
INSERT INTO codes VALUES ('ab', 0);
INSERT INTO codes VALUES ('ab    ', 1), ('ab ', 255), ('c ', 1) ON CONFLICT DO NOTHING;
SELECT code || '.' AS code, fp FROM codes ORDER BY fp, code;
ALTER TABLE codes DROP CONSTRAINT codes_code_fp_excl;
INSERT INTO codes VALUES ('ab    ', 1), ('c', 3);
CREATE INDEX codes_fp ON codes USING simhash (code, fp);
SELECT a_fp, b_fp FROM simhash_find_all('codes_fp') ORDER BY 1, 2;
SELECT * FROM (SELECT count(*) FROM simhash_find_duplicates('codes_fp')) a,
	(SELECT count(*), count(DISTINCT cluster) FROM simhash_find_clusters('codes_fp')) b;
CREATE TABLE other_codes AS SELECT rpad(code, 9)::bpchar COLLATE ignore_case AS code, fp FROM codes;
CREATE INDEX other_codes_fp ON other_codes USING simhash (code, fp);
SELECT a_fp, b_fp FROM simhash_find_matches('codes_fp', 'other_codes_fp') ORDER BY 1, 2;
DROP TABLE codes, other_codes;

--
-- All operator classes for these columns, with random values
--
CREATE TYPE mood AS ENUM ('good', 'bad', 'odd');
CREATE DOMAIN text_domain AS text;
CREATE DOMAIN character_domain AS character(8);
CREATE DOMAIN numeric_domain AS numeric CHECK (VALUE IS NOT NULL);

-- types of columns, with the types of their operator classes
CREATE TABLE types (no serial, type text, class_type regtype);
INSERT INTO types (type, class_type) VALUES
	('text', 'text'), ('varchar', 'text'), ('varchar(8)', 'text'), ('text_domain', 'text'), ('name', 'name'),
	('bpchar', 'bpchar'), ('character(8)', 'bpchar'), ('character_domain', 'bpchar'), ('smallint', 'smallint'),
	('integer', 'integer'), ('bigint', 'bigint'), ('simhash', 'simhash'), ('oid', 'oid'), ('regtype', 'oid'),
	('boolean', 'boolean'), ('bytea', 'bytea'), ('numeric', 'numeric'), ('numeric(9,3)', 'numeric'),
	('numeric_domain', 'numeric'), ('uuid', 'uuid'), ('date', 'date'), ('timestamp', 'timestamp'),
	('timestamptz', 'timestamptz'), ('mood', 'anyenum'),
	('simhash_bits(16)', 'simhash_bits');
-- no class is missing
SELECT opcname
FROM pg_opclass c JOIN pg_depend d ON d.classid = 'pg_opclass'::regclass AND d.objid = c.oid AND deptype = 'e'
WHERE opcmethod = (SELECT oid FROM pg_am WHERE amname = 'simhash') AND opcintype NOT IN (SELECT class_type FROM types);

-- and in all families the functions for a type are the same
SELECT amproclefttype::regtype
FROM pg_amproc a JOIN pg_opfamily f ON f.oid = amprocfamily
WHERE opfmethod = (SELECT oid FROM pg_am WHERE amname = 'simhash') AND amproclefttype IN (SELECT class_type FROM types) AND amprocnum = 1
GROUP BY amproclefttype HAVING count(DISTINCT amproc) > 1;

-- random values as they may be written, many of which are equal
CREATE FUNCTION random_values(class_type regtype) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	letters text[] := ARRAY['a', 'A', 'á', U&'a\0301', 'Á', 'b', 'B', 'ß', 'ss', 'ａ', '-', ' ', '  ', '1', '01', ''];
	forms text[] := CASE class_type
		WHEN 'numeric'::regtype THEN '{%s,%s.,%s.000,0%s,%se3,%s000.00,%se-2,0.0%s,%s.5,NaN,-0}'
		WHEN 'boolean'::regtype THEN '{t,yes,1,f,no,0}'
		WHEN 'oid'::regtype THEN '{2%s}'
		WHEN 'uuid'::regtype THEN '{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a1%s,"{A0EEBC999C0B4EF8BB6D6BB9BD380A1%s}"}'
		WHEN 'date'::regtype THEN '{2000-01-1%s,"Jan 1%s, 2000",infinity,-infinity,"1%s January 44 BC"}'
		WHEN 'timestamp'::regtype THEN '{2000-01-1%s,2000-01-1%s 00:00:00.000,2000-01-1%s 24:00,infinity,-infinity}'
		WHEN 'timestamptz'::regtype THEN '{2000-01-1%s 00:00+00,2000-01-1%s 01:00+01,2000-01-1%s 24:00+00,infinity}'
		WHEN 'anyenum'::regtype THEN '{good,bad,odd}'
		WHEN 'simhash_bits'::regtype THEN '{000%s,0x000%s,ab0%s,AB0%s,0xAb0%s}'
		ELSE '{%s,-%s,0%s}' END;
BEGIN
	FOR i IN 1 .. 100 LOOP
		IF class_type IN ('text'::regtype, 'name'::regtype, 'bpchar'::regtype, 'bytea'::regtype) THEN
			RETURN NEXT (SELECT string_agg(letters[1 + floor(random() * 16)], '') FROM generate_series(0, i % 3)) ||
				repeat(' ', floor(random() * 3)::int);
		ELSE
			RETURN NEXT format(forms[1 + floor(random() * cardinality(forms))], i % 4);
		END IF;
	END LOOP;
END $$;

-- the group of each row of a table, as it is stored in an index
CREATE FUNCTION groups(index regclass, OUT tid tid, OUT number bigint) RETURNS SETOF record LANGUAGE sql AS $$
	SELECT i.ctid, i.group_hash
	FROM generate_series(1, pg_relation_size(index) / current_setting('block_size')::int - 1) block,
		page_info(index, block) p, page_items(index, block) i
	WHERE p.page_type = 'leaf' AND p.table_no = 0
$$;

-- Compare the values of each pair of types that can be compared: how many are equal, how
-- many of these are not the same, and how many have different groups, which is wrong.
CREATE TABLE results (collated text, l text, r text, equal bigint, not_same bigint, wrong bigint);
CREATE FUNCTION compare_groups(collated text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	strings regtype[] := '{text,name,bpchar}';
	t types;
	o record;
BEGIN
	FOR t IN SELECT * FROM types WHERE (class_type = ANY (strings)) = (collated <> '') LOOP
		EXECUTE format('CREATE TABLE v%s (v %s %s, fp simhash)', t.no, t.type, collated);
		EXECUTE format('INSERT INTO v%s SELECT v::%s, 0 FROM random_values(%L) v', t.no, t.type, t.class_type);
		EXECUTE format('CREATE INDEX i%s ON v%1$s USING simhash (v, fp)', t.no);
		EXECUTE format('CREATE TABLE g%s AS SELECT v, number FROM v%1$s JOIN groups(''i%1$s'') ON tid = ctid', t.no);
	END LOOP;
	FOR o IN
		SELECT DISTINCT l.no AS l_no, r.no AS r_no, l.type AS l, r.type AS r,
			format('OPERATOR(%s.%s)', oprnamespace::regnamespace, oprname) AS operator
		FROM pg_amop JOIN types l ON l.class_type = amoplefttype JOIN types r ON r.class_type = amoprighttype
			JOIN pg_operator p ON p.oid = amopopr
		WHERE amopmethod = (SELECT oid FROM pg_am WHERE amname = 'simhash') AND amopstrategy = 1
			AND (l.class_type = ANY (strings)) = (collated <> '')
	LOOP
		-- written with the blanks at the end, which a cast to text would remove
		EXECUTE format('INSERT INTO results SELECT $1, $2, $3, count(*),
			count(*) FILTER (WHERE format(''%%s'', x.v) <> format(''%%s'', y.v) COLLATE "C"),
			count(*) FILTER (WHERE x.number <> y.number)
			FROM g%s x JOIN g%s y ON x.v %s y.v', o.l_no, o.r_no, o.operator) USING collated, o.l, o.r;
	END LOOP;
	FOR t IN SELECT * FROM types WHERE (class_type = ANY (strings)) = (collated <> '') LOOP
		EXECUTE format('DROP TABLE v%s, g%1$s', t.no);
	END LOOP;
END $$;
-- equal is what the operator says, whatever the server would join by
SELECT use_only('seqscan', '{hashjoin,mergejoin}') \gset
SELECT setseed(.5) \gset
SELECT * FROM rows_of($$SELECT compare_groups(c)
FROM unnest('{"",COLLATE \"C\",COLLATE ignore_case,COLLATE ignore_accents,COLLATE ignore_blanks}'::text[]) c$$,
	$$SELECT * FROM results WHERE wrong > 0 OR equal = 0$$,
	$$SELECT collated, count(*) FROM results GROUP BY collated ORDER BY collated COLLATE "C"$$);
-- there are such values
SELECT l, r FROM results WHERE not_same > 0 AND collated IN ('', 'COLLATE "C"') ORDER BY l COLLATE "C", r COLLATE "C";
SELECT collated, l, r FROM results
WHERE not_same = 0 AND collated ~ 'ignore' AND EXISTS (SELECT FROM pg_collation WHERE collprovider = 'i');

-- compressed and out of line, or not
CREATE TABLE long_values (a text, b bytea, c bpchar COLLATE ignore_case, fp simhash);
INSERT INTO long_values SELECT v, v::bytea, v || '  ', 1 FROM repeat('ab', 5000) v;
ALTER TABLE long_values ALTER a SET STORAGE EXTERNAL, ALTER b SET STORAGE EXTERNAL, ALTER c SET STORAGE EXTERNAL;
INSERT INTO long_values SELECT v, v::bytea, v, 1 FROM repeat('ab', 5000) v;
CREATE INDEX long_values_fp ON long_values USING simhash (a, b, c, fp);
SELECT * FROM (SELECT count(DISTINCT pg_column_size(a)) AS a, count(DISTINCT pg_column_size(b)) AS b,
	count(DISTINCT pg_column_size(c)) AS c
	FROM long_values) a, (SELECT count(*), count(DISTINCT number) FROM groups('long_values_fp')) b;
SELECT count(*) FROM simhash_find_all('long_values_fp');

DROP SCHEMA index_columns_hashes_test CASCADE;
