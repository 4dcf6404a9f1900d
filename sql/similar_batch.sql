--
-- Whole tables of texts: pairs, clusters, duplicates and matches by an operator class
-- that computes bands
--
-- The reference is each text with each, and the choice row by row.
--
\pset format unaligned
\pset footer off
SET client_min_messages = warning;
CREATE SCHEMA similar_batch_test;
SET search_path = similar_batch_test, public; SET max_parallel_workers_per_gather = 0;

-- families of texts whose members have up to 9 of 65 words replaced; a template; copies
-- in capitals; texts without a feature; nulls
CREATE TABLE doc (id int PRIMARY KEY, tenant int, body text);
INSERT INTO doc SELECT i, i % 3, CASE
	WHEN i <= 500 THEN (SELECT string_agg('w' || (bits(CASE WHEN w <= i % 10 THEN i || ' ' || w ELSE i / 10 || ' ' || w END) & 1023),
		' ' ORDER BY w) FROM generate_series(1, 65) w)
	WHEN i <= 620 THEN 'Dear customer ' || i || ', your order of today has left our house and will be with you in a few days'
		|| repeat(' or more', i % 4)
	WHEN i <= 640 THEN '...' END
FROM generate_series(1, 650) i;
INSERT INTO doc SELECT id + 1000, tenant, upper(body) || '!' FROM doc WHERE id % 9 = 0;
CREATE TABLE far AS
SELECT a.id AS a, b.id AS b, simhash_jaccard(a.body, b.body) AS j, a.body =~= b.body AS near,
	simhash_similar(a.body, b.body, 0.9) AS nearer
FROM doc a JOIN doc b ON a.id <> b.id AND simhash_similar(a.body, b.body, 0.6);
CREATE TABLE near AS SELECT a, b, j FROM far WHERE near;
CREATE INDEX doc_body ON doc USING simhash (body simhash_text_ops) WITH (bands = 16);
CREATE INDEX ON far (a);
CREATE INDEX ON near (a);
ANALYZE;
SELECT count(*) FILTER (WHERE j < 1) > 0 AS edited, count(*) FILTER (WHERE j = 1) > 0 AS equal, count(*) FROM near;

-- pairs: those of the texts, by default of similarity .8
SELECT * FROM compare_rows('SELECT least(x.id, y.id), greatest(x.id, y.id), similarity FROM simhash_find_all(''doc_body'')
	JOIN doc x ON x.ctid = a JOIN doc y ON y.ctid = b', 'SELECT a, b, j FROM near WHERE a < b');
-- and those of another similarity
SELECT s, c.* FROM (VALUES (0.6, 'true'), (0.8, 'near'), (0.9, 'nearer')) v(s, condition), compare_rows(format(
	'SELECT least(x.id, y.id), greatest(x.id, y.id), similarity FROM simhash_find_all(''doc_body'', similarity => %s)
	JOIN doc x ON x.ctid = a JOIN doc y ON y.ctid = b', s),
	format('SELECT a, b, j FROM far WHERE a < b AND %s', condition)) c;
-- as they are found
SELECT (SELECT count(*) FROM (SELECT simhash_find_all('doc_body')) s) = count(*) AS same FROM near WHERE a < b;
SELECT count(*) FROM (SELECT simhash_find_all('doc_body') LIMIT 5) s;

-- one of each
CREATE TABLE expected (duplicate int, keeper int);
CREATE PROCEDURE expect(keep text, condition text DEFAULT 'true', pairs regclass DEFAULT 'near') LANGUAGE plpgsql AS $$
DECLARE
	row record;
	found_keeper int;
BEGIN
	TRUNCATE expected;
	CREATE TEMPORARY TABLE kept (no serial, id int PRIMARY KEY);
	FOR row IN EXECUTE format('SELECT id FROM doc ORDER BY %s', keep) LOOP
		EXECUTE format('SELECT b FROM %s JOIN kept ON id = b WHERE a = $1 AND (%s) ORDER BY j DESC, no LIMIT 1', pairs, condition)
			INTO found_keeper USING row.id;
		IF found_keeper IS NULL THEN
			INSERT INTO kept (id) VALUES (row.id);
		ELSE
			INSERT INTO expected VALUES (row.id, found_keeper);
		END IF;
	END LOOP;
	DROP TABLE kept;
END $$;
CALL expect('id');
SELECT * FROM compare_rows('SELECT x.id, y.id FROM simhash_find_duplicates(''doc_body'', keep => ''id'')
	JOIN doc x ON x.ctid = duplicate JOIN doc y ON y.ctid = keeper', 'TABLE expected');
CALL expect('length(body) DESC, id');
SELECT * FROM compare_rows('SELECT x.id, y.id FROM simhash_find_duplicates(''doc_body'', keep => ''length(body) DESC, id'')
	JOIN doc x ON x.ctid = duplicate JOIN doc y ON y.ctid = keeper', 'TABLE expected');
CALL expect('id DESC', 'nearer', 'far');
SELECT * FROM compare_rows('SELECT x.id, y.id FROM simhash_find_duplicates(''doc_body'', keep => ''id DESC'', similarity => 0.9)
	JOIN doc x ON x.ctid = duplicate JOIN doc y ON y.ctid = keeper', 'TABLE expected');

-- with a condition: the operator holds as well
CREATE FUNCTION one_of_each(similarity float8, same text) RETURNS TABLE (duplicate int, keeper int) LANGUAGE sql AS $$
	SELECT x.id, y.id FROM simhash_find_duplicates('doc_body', NULL, keep => 'id', same => same, similarity => similarity)
	JOIN doc x ON x.ctid = duplicate JOIN doc y ON y.ctid = keeper
$$;
SELECT count(*) FILTER (WHERE (a - b) % 2 = 0) > 0 AS some, count(*) FILTER (WHERE (a - b) % 2 <> 0) > 0 AS others FROM near;
CALL expect('id', '(a - b) % 2 = 0');
SELECT * FROM (SELECT *
	FROM compare_rows('SELECT * FROM one_of_each(NULL, ''(a.id - b.id) % 2 = 0'')', 'TABLE expected')) a,
	(SELECT min(simhash_jaccard(x.body, y.body)) >= 0.8 AS alike,
	bool_and(x.body =~= y.body) AS near
	FROM one_of_each(NULL, '(a.id - b.id) % 2 = 0') d JOIN doc x ON x.id = d.duplicate JOIN doc y ON y.id = keeper) b;
CALL expect('id');
SELECT * FROM (SELECT * FROM compare_rows('SELECT * FROM one_of_each(NULL, ''true'')', 'TABLE expected')) a,
	(SELECT count(*) FROM one_of_each(NULL, 'NULL')) b;
-- it is evaluated only for rows for which the operator is true
SELECT * FROM compare_rows('SELECT * FROM one_of_each(NULL, ''1 / (a.body =~= b.body)::int = 1'')', 'TABLE expected');

-- so does another similarity
SELECT count(*) FILTER (WHERE j < 0.8) > 0 AS less FROM far;
CALL expect('id', 'true', 'far');
SELECT * FROM compare_rows('SELECT * FROM one_of_each(0.6, NULL)', 'TABLE expected');
CALL expect('id', '(a - b) % 2 = 0', 'far');
SELECT * FROM compare_rows('SELECT * FROM one_of_each(0.6, ''(a.id - b.id) % 2 = 0'')', 'TABLE expected');
-- a distance is refused, which would be another condition; without an operator to compare rows it is the only one
CREATE INDEX doc_fp ON doc USING simhash (simhash_minhash(body));
CREATE INDEX doc_text ON doc USING simhash (body simhash_text_ops);
SELECT a.* FROM unnest(ARRAY['simhash_find_all(''doc_body'', 10)', 'simhash_find_clusters(''doc_body'', 10, same => ''true'')',
	'simhash_find_duplicates(''doc_body'', 10, same => ''true'')', 'simhash_find_duplicates(''doc_body'', 10, similarity => 0.6)',
	'simhash_find_matches(''doc_body'', ''doc_text'', 10)', 'simhash_find_all(''doc_fp'', similarity => 0.8)',
	'simhash_find_all(''doc_fp'', 3, similarity => 0.8)', 'simhash_find_all(''doc_body'', similarity => 0)',
	'simhash_find_all(''doc_body'', similarity => ''NaN'')', 'simhash_find_all(''doc_body'', similarity => 1.01)']) call,
	attempt('SELECT ' || call) a;
DROP INDEX doc_fp, doc_text;

-- clusters
CREATE FUNCTION components(pairs text) RETURNS TABLE (id int, first int, size bigint) LANGUAGE plpgsql AS $$
BEGIN
	RETURN QUERY EXECUTE format('WITH RECURSIVE pair (a, b) AS MATERIALIZED (%s),
		reached (a, b) AS (SELECT a, b FROM pair UNION SELECT r.a, n.b FROM reached r JOIN pair n ON n.a = r.b)
		SELECT a, min(b), count(*) FROM reached GROUP BY a', pairs);
END $$;
CREATE FUNCTION clusters(similarity float8 DEFAULT NULL, same text DEFAULT NULL) RETURNS TABLE (id int, first int, size bigint)
LANGUAGE sql AS $$
	SELECT id, min(id) OVER (PARTITION BY cluster), size FROM simhash_find_clusters('doc_body', NULL, same => same, similarity => similarity)
	JOIN doc ON doc.ctid = member
$$;
SELECT arguments, c.* FROM (VALUES ('', 'near'), ('0.9', 'far WHERE nearer'), ('0.6', 'far'),
	('same => ''(a.id - b.id) % 2 = 0''', 'near WHERE (a - b) % 2 = 0'),
	('0.6, ''(a.id - b.id) % 2 = 0''', 'far WHERE (a - b) % 2 = 0')) v(arguments, pairs),
	compare_rows(format('SELECT * FROM clusters(%s)', arguments), format('SELECT * FROM components(''SELECT a, b FROM %s'')', pairs)) c;

-- several columns; pairs of rows with equal ones only
CREATE INDEX doc_several ON doc USING simhash (tenant, body simhash_text_ops) WITH (bands = 16);
SELECT * FROM compare_rows('SELECT least(x.id, y.id), greatest(x.id, y.id) FROM simhash_find_all(''doc_several'')
	JOIN doc x ON x.ctid = a JOIN doc y ON y.ctid = b',
	'SELECT a, b FROM near JOIN doc x ON x.id = a JOIN doc y ON y.id = b AND x.tenant = y.tenant WHERE a < b');
CREATE TABLE far_of_tenant AS SELECT far.* FROM far JOIN doc x ON x.id = a JOIN doc y ON y.id = b AND x.tenant = y.tenant;
CALL expect('id', 'near AND (a - b) % 2 = 0', 'far_of_tenant');
SELECT * FROM compare_rows('SELECT x.id, y.id FROM simhash_find_duplicates(''doc_several'', NULL, keep => ''id'', same => ''(a.id - b.id) % 2 = 0'')
	JOIN doc x ON x.ctid = duplicate JOIN doc y ON y.ctid = keeper', 'TABLE expected');
CALL expect('id', 'true', 'far_of_tenant');
SELECT * FROM compare_rows('SELECT x.id, y.id FROM simhash_find_duplicates(''doc_several'', keep => ''id'',
	similarity => 0.6) JOIN doc x ON x.ctid = duplicate JOIN doc y ON y.ctid = keeper', 'TABLE expected');

-- partitions, one with its columns in another order
CREATE TABLE parted (id int, tenant int, body text) PARTITION BY LIST (tenant);
CREATE TABLE parted_1 (body text, more int, tenant int, id int);
ALTER TABLE parted_1 DROP more;
ALTER TABLE parted ATTACH PARTITION parted_1 FOR VALUES IN (1);
CREATE TABLE parted_2 PARTITION OF parted DEFAULT;
INSERT INTO parted SELECT * FROM doc;
CREATE INDEX parted_body ON parted USING simhash (body simhash_text_ops) WITH (bands = 16);
CREATE INDEX parted_expression ON parted USING simhash ((body || '.') simhash_text_ops) WITH (bands = 20);
CREATE FUNCTION pairs_of(index regclass) RETURNS TABLE (a int, b int) LANGUAGE sql AS $$
	SELECT least(x.id, y.id), greatest(x.id, y.id) FROM simhash_find_all(index) f
	JOIN parted x ON x.ctid = f.a AND x.tableoid = a_table JOIN parted y ON y.ctid = f.b AND y.tableoid = b_table
$$;
SELECT i, r.* FROM unnest('{parted_body,parted_expression}'::text[]) i,
	compare_rows(format('SELECT * FROM pairs_of(%L)', i), 'SELECT a, b FROM near WHERE a < b') r;
CREATE FUNCTION one_of_each(index regclass, similarity float8, same text) RETURNS TABLE (duplicate int, keeper int)
LANGUAGE sql AS $$
	SELECT x.id, y.id FROM simhash_find_duplicates(index, NULL, keep => 'id', same => same, similarity => similarity)
	JOIN parted x ON x.ctid = duplicate AND x.tableoid = duplicate_table
	JOIN parted y ON y.ctid = keeper AND y.tableoid = keeper_table
$$;
CALL expect('id');
SELECT * FROM compare_rows('SELECT * FROM one_of_each(''parted_expression'', NULL, NULL)', 'TABLE expected');
CALL expect('id', '(a - b) % 2 = 0');
SELECT i, r.* FROM unnest('{parted_body,parted_expression}'::text[]) i,
	compare_rows(format('SELECT * FROM one_of_each(%L, NULL, ''(a.id - b.id) %% 2 = 0'')', i), 'TABLE expected') r;
CALL expect('id', 'true', 'far');
SELECT i, r.* FROM unnest('{parted_body,parted_expression}'::text[]) i,
	compare_rows(format('SELECT * FROM one_of_each(%L, 0.6, NULL)', i), 'TABLE expected') r;

-- with workers
SET min_parallel_index_scan_size = 0;
SELECT c.* FROM unnest('{doc_body,doc_several,parted_expression}'::text[]) i, compare_parallel(ARRAY(
	SELECT format('SELECT * FROM simhash_find_%s(%L, %s)', what, i, arguments)
	FROM unnest('{duplicates,clusters}'::text[]) what, unnest(ARRAY[$$NULL, same => '(a.id - b.id) % 2 = 0'$$,
		'similarity => 0.6']) arguments)) c;
RESET min_parallel_index_scan_size;

-- two tables
CREATE TABLE incoming AS SELECT id, lower(body) AS text, 0 AS more FROM doc WHERE id % 4 = 0;
CREATE INDEX incoming_text ON incoming USING simhash (text simhash_text_ops) WITH (bands = 17);
SELECT c.* FROM (VALUES ('x.id, y.id FROM simhash_find_matches(''incoming_text'', ''doc_body'')
	JOIN incoming x ON x.ctid = a JOIN doc y ON y.ctid = b', 'a, b FROM near WHERE'),
	('y.id, x.id FROM simhash_find_matches(''parted_expression'', ''incoming_text'')
	JOIN incoming x ON x.ctid = b JOIN parted y ON y.ctid = a AND y.tableoid = a_table', 'b, a FROM near WHERE'),
	('x.id, y.id FROM simhash_find_matches(''incoming_text'', ''doc_body'', similarity => 0.6)
	JOIN incoming x ON x.ctid = a JOIN doc y ON y.ctid = b', 'a, b FROM far WHERE')) v(found, pairs),
	compare_rows('SELECT ' || found, format('SELECT %s a %% 4 = 0 UNION ALL
		SELECT id, id FROM doc WHERE id %% 4 = 0 AND simhash_minhash(body) IS NOT NULL', pairs)) c;
SELECT (SELECT count(*) FROM (SELECT simhash_find_matches('incoming_text', 'doc_body')) s) = (SELECT count(*)
	FROM simhash_find_matches('incoming_text', 'doc_body')) AS same;
-- texts of an array
SELECT s, c.* FROM (VALUES ('NULL', 'near'), ('0.6', 'true')) v(s, condition), compare_rows(format('SELECT x.id, y.id, similarity
	FROM simhash_find_matches_in_texts(''doc_body'', ARRAY(SELECT body FROM doc WHERE id %% 4 = 0 ORDER BY id), %s)
	JOIN doc x ON x.id %% 4 = 0 AND x.body = query JOIN doc y ON y.ctid = b AND y.tableoid = b_table', s),
	format('SELECT a, b, j FROM far WHERE a %% 4 = 0 AND %s UNION ALL
		SELECT id, id, 1 FROM doc WHERE id %% 4 = 0 AND simhash_minhash(body) IS NOT NULL', condition)) c;
-- other fingerprints than those of the class
CREATE TABLE other AS SELECT id, simhash_minhash(body) AS fp, convert_to(body, 'UTF8') AS data FROM doc;
CREATE INDEX other_fp ON other USING simhash (fp);
CREATE INDEX other_data ON other USING simhash (data simhash_bytea_ops);
SELECT * FROM simhash_find_matches('doc_body', 'other_fp');
SELECT * FROM simhash_find_matches('other_data', 'doc_body');
SELECT simhash_index_check(index, true) FROM unnest('{doc_body,doc_several,incoming_text,other_data}'::regclass[]) index;

-- functions in the index run as the owner of the table, and see what REINDEX would see
CREATE ROLE regress_simhash_owner;
CREATE ROLE regress_simhash_reader;
GRANT USAGE ON SCHEMA similar_batch_test TO regress_simhash_owner, regress_simhash_reader;
GRANT CREATE ON SCHEMA similar_batch_test TO regress_simhash_owner;
SET ROLE regress_simhash_owner;
CREATE TABLE owned (id int, body text);
CREATE FUNCTION whoami(text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
	IF current_user <> 'regress_simhash_owner' THEN
		RAISE EXCEPTION 'run as %', current_user;
	END IF;
	RETURN $1 || ' by the owner';
END $$;
INSERT INTO owned SELECT i, 'the text of a table with an owner of its own ' || i % 3 FROM generate_series(1, 9) i;
CREATE INDEX owned_body ON owned USING simhash (similar_batch_test.whoami(body) simhash_text_ops);
GRANT SELECT ON owned TO regress_simhash_reader;
SET ROLE regress_simhash_reader;
SELECT count(*) FROM simhash_find_all('owned_body')
UNION ALL SELECT count(*) FROM simhash_find_duplicates('owned_body')
UNION ALL SELECT count(*) FROM simhash_find_clusters('owned_body');
RESET ROLE;
SELECT simhash_index_check('owned_body', true) \gset
-- the operator runs as the caller, who needs the right to do so, as in a query
REVOKE EXECUTE ON FUNCTION simhash_similar_op(text, text) FROM public;
SET ROLE regress_simhash_reader;
SELECT count(*) FROM owned WHERE body =~= 'a';
SELECT count(*) FROM simhash_find_all('owned_body');
SELECT count(*) FROM simhash_find_duplicates('owned_body');
SELECT count(*) FROM simhash_find_duplicates('owned_body', same => 'a.id <> b.id');
SELECT count(*) FROM simhash_find_clusters('owned_body', same => 'a.id <> b.id');
SELECT count(*) FROM simhash_find_duplicates('owned_body', similarity => 0.9);
RESET ROLE;
GRANT EXECUTE ON FUNCTION simhash_similar_op(text, text) TO public;
DROP TABLE owned;
DROP FUNCTION whoami;

-- the statement of the manual
CALL expect('id');
DELETE FROM doc USING simhash_find_duplicates('doc_body', keep => 'id') d WHERE doc.ctid = d.duplicate;
SELECT count(*) = (SELECT count(*) FROM (SELECT id FROM doc EXCEPT SELECT duplicate FROM expected) s) AS as_expected,
	(SELECT count(*) FROM doc a JOIN doc b ON a.id < b.id AND a.body =~= b.body) AS near FROM doc;

DROP SCHEMA similar_batch_test CASCADE;
DROP ROLE regress_simhash_owner, regress_simhash_reader;
