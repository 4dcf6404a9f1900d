--
-- Constraints that keep near-duplicate texts out
--
-- The reference is the same decision taken row by row without an index.
--
\pset format unaligned
\pset footer off
SET client_min_messages = warning;
CREATE SCHEMA similar_exclusion_test;
SET search_path = similar_exclusion_test, public; SET max_parallel_workers_per_gather = 0;

-- families of texts whose members have up to 9 of 65 words replaced; copies in capitals;
-- texts without a feature; nulls
CREATE TABLE batch (id int PRIMARY KEY, tenant int, body text);
INSERT INTO batch SELECT i, i % 3, CASE
	WHEN i <= 600 THEN (SELECT string_agg('w' || (bits(CASE WHEN w <= i % 10 THEN i || ' ' || w ELSE i / 10 || ' ' || w END) & 1023),
		' ' ORDER BY w) FROM generate_series(1, 65) w)
	WHEN i <= 620 THEN '...'
	WHEN i <= 640 THEN 'short text ' || i % 4 END
FROM generate_series(1, 650) i;
INSERT INTO batch SELECT id + 1000, tenant, upper(body) || '!' FROM batch WHERE id % 5 = 0;

-- the rows that a load in the order of ids must take
CREATE FUNCTION taken_ids(tenants bool) RETURNS int[] LANGUAGE plpgsql AS $$
DECLARE
	row record;
	ids int[] := '{}';
BEGIN
	CREATE TEMPORARY TABLE taken (tenant int, body text);
	FOR row IN SELECT * FROM batch ORDER BY id LOOP
		CONTINUE WHEN EXISTS (SELECT FROM taken t WHERE (NOT tenants OR t.tenant = row.tenant)
			AND are_alike(t.body, row.body));
		ids := ids || row.id;
		INSERT INTO taken VALUES (row.tenant, row.body);
	END LOOP;
	DROP TABLE taken;
	RETURN ids;
END $$;
CREATE TABLE must_take AS SELECT tenants, taken_ids(tenants) AS ids FROM unnest('{f,t}'::bool[]) tenants;
SELECT tenants, cardinality(ids) AS rows FROM must_take ORDER BY 1;

CREATE FUNCTION load_and_compare(tab text, by_tenant bool, OUT rows bigint, OUT wrong bigint, OUT again bigint)
LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('INSERT INTO %s SELECT * FROM batch ORDER BY id ON CONFLICT DO NOTHING', tab);
	GET DIAGNOSTICS rows = ROW_COUNT;
	EXECUTE format('SELECT count(*) FROM (SELECT id FROM %s) t
		FULL JOIN (SELECT id FROM must_take, unnest(ids) id WHERE tenants = $1) m
		USING (id) WHERE t.id IS NULL OR m.id IS NULL', tab) INTO wrong USING by_tenant;
	EXECUTE format('INSERT INTO %s SELECT * FROM batch WHERE simhash_minhash(body) IS NOT NULL
		ORDER BY id DESC ON CONFLICT DO NOTHING', tab);
	GET DIAGNOSTICS again = ROW_COUNT;
END $$;

--
-- One row after the other
--
CREATE TABLE doc (id int, tenant int, body text,
	CONSTRAINT near EXCLUDE USING simhash (body simhash_text_ops WITH =~=));
INSERT INTO doc VALUES (1, 0, 'The quick brown fox jumps over the lazy dog.');
\set VERBOSITY default
INSERT INTO doc VALUES (2, 0, 'the QUICK brown fox; jumps over the lazy dog');
INSERT INTO doc VALUES (2, 0, 'the QUICK brown fox; jumps over the lazy dog') ON CONFLICT DO NOTHING;
INSERT INTO doc VALUES (2, 0, 'the QUICK brown fox; jumps over the lazy dog') ON CONFLICT ON CONSTRAINT near DO NOTHING;
-- nothing is like a text without a feature
INSERT INTO doc VALUES (3, 0, '...'), (4, 0, '...'), (5, 0, NULL), (6, 0, NULL), (7, 0, '');
INSERT INTO doc VALUES (8, 0, 'Another text, and quite another one');
UPDATE doc SET body = 'The quick brown fox jumps over the lazy dog!' WHERE id = 8;
UPDATE doc SET body = 'The quick brown fox jumps over the lazy dog!' WHERE id = 1;
UPDATE doc SET body = 'The quick brown fox jumps over the lazy dog!' WHERE id = 3;
DELETE FROM doc WHERE id = 1;
UPDATE doc SET body = 'The quick brown fox jumps over the lazy dog!' WHERE id = 3;
SELECT id, body FROM doc ORDER BY id;
-- the new text is compared with any number, but its features are found once
BEGIN;
INSERT INTO doc VALUES (9, 0, 'The quick brown fox jumps over the lazy dog?') ON CONFLICT DO NOTHING;
SELECT count(*) > 0 AS remembered FROM pg_backend_memory_contexts WHERE name = 'simhash documents';
COMMIT;
TRUNCATE doc;

--
-- A load in one statement
--
SELECT * FROM load_and_compare('doc', false);
SELECT simhash_index_check('near', true) \gset
SELECT count(*) FROM doc a JOIN doc b ON a.body =~= b.body AND a.id < b.id;
DROP TABLE doc;
CREATE TABLE doc (id int, tenant int, body text,
	EXCLUDE USING simhash (tenant WITH =, body simhash_text_ops WITH =~=) WITH (bands = 12));
SELECT * FROM load_and_compare('doc', true);
DROP TABLE doc;
CREATE TABLE doc (id int, tenant int, body text, EXCLUDE USING simhash (body simhash_text_ops WITH =~=) WHERE (id > 300));
INSERT INTO doc SELECT * FROM batch WHERE id <= 300;
INSERT INTO doc SELECT * FROM batch WHERE id > 300 ORDER BY id ON CONFLICT DO NOTHING;
SELECT count(*) > 300 AS rows, count(*) FILTER (WHERE EXISTS (SELECT FROM doc o WHERE o.id > 300 AND o.id < d.id
	AND d.id > 300 AND o.body =~= d.body)) AS near FROM doc d;
DROP TABLE doc;
-- of an expression
CREATE TABLE doc (id int, tenant int, title text, body text, EXCLUDE USING simhash ((title || ' ' || body) simhash_text_ops WITH =~=));
INSERT INTO doc VALUES (1, 0, 'A title', 'and some text after it');
\set VERBOSITY terse
INSERT INTO doc VALUES (1, 0, 'A title and', 'some text after it');
\set VERBOSITY default
DROP TABLE doc;

--
-- Deferred
--
CREATE TABLE doc (id int PRIMARY KEY, tenant int, body text, CONSTRAINT near EXCLUDE
	USING simhash (body simhash_text_ops WITH =~=) DEFERRABLE INITIALLY DEFERRED);
BEGIN;
INSERT INTO doc VALUES (1, 0, 'one two three four'), (2, 0, 'One, two, three, four');
\set VERBOSITY terse
COMMIT;
\set VERBOSITY default
BEGIN;
INSERT INTO doc VALUES (1, 0, 'one two three four'), (2, 0, 'One, two, three, four');
DELETE FROM doc WHERE id = 1;
COMMIT;
SELECT count(*) FROM doc;
DROP TABLE doc;

--
-- Added to a table that has rows, and kept by partitions
--
CREATE TABLE doc AS SELECT batch.* FROM batch, must_take WHERE NOT tenants AND id = ANY (ids);
ALTER TABLE doc ADD CONSTRAINT near EXCLUDE USING simhash (body simhash_text_ops WITH =~=);
SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = 'doc'::regclass;
-- ON CONFLICT does not infer it, nor does it update; MERGE uses its index, but does not see rows of its own
DELETE FROM doc WHERE body =~= (SELECT body FROM batch WHERE id = 5);
\set merge 'MERGE INTO doc USING (SELECT * FROM batch WHERE id IN (5, 1005)) b ON doc.body =~= b.body WHEN NOT MATCHED THEN INSERT VALUES (b.id, b.tenant, b.body)'
SET enable_seqscan = off;
SELECT plan_of(:'merge') LIKE '%Index Cond: (body =~= batch.body)%' AS index;
RESET enable_seqscan;
\set VERBOSITY sqlstate
INSERT INTO doc VALUES (0, 0, 'a text') ON CONFLICT (body) DO NOTHING;
INSERT INTO doc VALUES (0, 0, 'a text') ON CONFLICT ON CONSTRAINT near DO UPDATE SET id = 0;
:merge;
ALTER TABLE doc DROP CONSTRAINT near;
:merge;
SELECT id FROM doc WHERE id IN (5, 1005) ORDER BY id;
ALTER TABLE doc ADD CONSTRAINT near EXCLUDE USING simhash (body simhash_text_ops WITH =~=);
\set VERBOSITY default
DROP TABLE doc;
CREATE TABLE doc (id int, tenant int, body text) PARTITION BY LIST (tenant);
CREATE TABLE doc_0 PARTITION OF doc (EXCLUDE USING simhash (body simhash_text_ops WITH =~=)) FOR VALUES IN (0);
CREATE TABLE doc_1 PARTITION OF doc (EXCLUDE USING simhash (body simhash_text_ops WITH =~=)) FOR VALUES IN (1);
CREATE TABLE doc_2 PARTITION OF doc (EXCLUDE USING simhash (body simhash_text_ops WITH =~=)) FOR VALUES IN (2);
SELECT * FROM load_and_compare('doc', true);
DROP TABLE doc;

-- other types, and a collation under which other texts are equal
CREATE COLLATION ignore_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE doc (id int, tenant int, body varchar COLLATE ignore_case, EXCLUDE USING simhash (body simhash_text_ops WITH =~=));
SELECT * FROM load_and_compare('doc', false);
DROP TABLE doc;
CREATE TABLE doc (id int, data bytea, EXCLUDE USING simhash (data simhash_bytea_ops WITH =~=));
INSERT INTO doc SELECT id, convert_to(body, 'UTF8') FROM batch WHERE id <= 640 ORDER BY id ON CONFLICT DO NOTHING;
SELECT count(*) BETWEEN 60 AND 639 AS some, (SELECT count(*) FROM doc a JOIN doc b ON a.data =~= b.data AND a.id < b.id) AS near,
	(SELECT count(*) FROM batch t WHERE id <= 640 AND body <> '' AND NOT EXISTS (SELECT FROM doc d WHERE d.data =~= convert_to(t.body, 'UTF8'))) AS lost
FROM doc;

DROP SCHEMA similar_exclusion_test CASCADE;
