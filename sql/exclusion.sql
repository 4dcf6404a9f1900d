--
-- Constraints that keep near-duplicates out
--
-- The reference for a load is the same decision taken row by row without any
-- index: a row is refused if one that was taken before is near it.
--
\pset format unaligned
\pset footer off
CREATE SCHEMA exclusion_test;
SET search_path = exclusion_test, public; SET max_parallel_workers_per_gather = 0; SET client_min_messages = warning;

-- a batch as it comes in: 300 clusters of 2 to 9 whose members differ in up to 7
-- bits from their center, single ones, equal ones, nulls
CREATE TABLE batch (id int PRIMARY KEY, fp simhash);
INSERT INTO batch
SELECT i, CASE WHEN i <= 1500 THEN flip(bits('c' || i % 300), (i * 7) % 8, 'f' || i)
			   WHEN i <= 2300 THEN bits('s' || i)
			   WHEN i <= 2450 THEN bits('e' || i % 3)
			   END
FROM generate_series(1, 2500) i;

-- the ids of the batch that a load in their order must take, given a radius
CREATE FUNCTION taken_ids(radius int) RETURNS int[] LANGUAGE plpgsql AS $$
DECLARE
	row record;
	near bool;
	ids int[] := '{}';
BEGIN
	CREATE TEMPORARY TABLE taken (h bigint);
	FOR row IN SELECT id, fp::bigint AS h FROM batch ORDER BY id LOOP
		SELECT EXISTS (SELECT FROM taken WHERE distance(taken.h, row.h) <= radius) INTO near;
		CONTINUE WHEN near;
		ids := ids || row.id;
		IF row.h IS NOT NULL THEN
			INSERT INTO taken VALUES (row.h);
		END IF;
	END LOOP;
	DROP TABLE taken;
	RETURN ids;
END $$;
CREATE TABLE must_take AS SELECT r, taken_ids(r) AS ids FROM unnest('{0,3,6}'::int[]) r;
SELECT r, cardinality(ids) AS rows FROM must_take ORDER BY r;

--
-- One row after the other
--
CREATE TABLE doc (id int, fp simhash, EXCLUDE USING simhash (fp WITH %));
INSERT INTO doc VALUES (1, 0), (2, 15);
INSERT INTO doc VALUES (3, 7);
INSERT INTO doc VALUES (3, 240);
INSERT INTO doc VALUES (4, 496);
-- null is not near anything
INSERT INTO doc VALUES (5, NULL), (6, NULL);
INSERT INTO doc VALUES (7, NULL) ON CONFLICT DO NOTHING;
-- within one statement, too
INSERT INTO doc VALUES (8, -1), (9, -2);
INSERT INTO doc VALUES (8, -1), (9, -2) ON CONFLICT DO NOTHING;
INSERT INTO doc VALUES (10, -4) ON CONFLICT ON CONSTRAINT doc_fp_excl DO NOTHING;
-- an exclusion constraint does not tell which row to update
INSERT INTO doc VALUES (10, -4) ON CONFLICT ON CONSTRAINT doc_fp_excl DO UPDATE SET id = 0;
-- moved into a conflict, out of reach, within its own neighbourhood, to null
UPDATE doc SET fp = 1 WHERE id = 2;
UPDATE doc SET fp = 31 WHERE id = 2;
UPDATE doc SET fp = 63 WHERE id = 2;
UPDATE doc SET fp = 62 WHERE id = 2;
UPDATE doc SET fp = 1 WHERE id = 5;
UPDATE doc SET fp = NULL WHERE id = 1;
UPDATE doc SET fp = 1 WHERE id = 5;
UPDATE doc SET id = id + 100 WHERE id = 5;
-- what a deleted or undone row held is free
DELETE FROM doc WHERE id = 8;
INSERT INTO doc VALUES (11, -2);
BEGIN;
INSERT INTO doc VALUES (12, 1023 << 20);
ROLLBACK;
INSERT INTO doc VALUES (13, 1022 << 20);
BEGIN;
SAVEPOINT s;
INSERT INTO doc VALUES (14, 1023::bigint << 40);
ROLLBACK TO s;
INSERT INTO doc VALUES (15, 1022::bigint << 40);
DELETE FROM doc WHERE id = 15;
INSERT INTO doc VALUES (16, 1023::bigint << 40);
COMMIT;
SELECT id, hex(fp) FROM doc ORDER BY id;
DROP TABLE doc;

--
-- A load in one statement, in which the batch has duplicates itself
--
CREATE FUNCTION load_and_compare(tab text, r int, OUT rows bigint, OUT wrong bigint, OUT again bigint)
	LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('INSERT INTO %s SELECT id, fp FROM batch ORDER BY id ON CONFLICT DO NOTHING', tab);
	GET DIAGNOSTICS rows = ROW_COUNT;
	EXECUTE format('SELECT count(*) FROM (SELECT id FROM %s) t
		FULL JOIN (SELECT id FROM must_take, unnest(ids) id WHERE r = $1) m
		USING (id) WHERE t.id IS NULL OR m.id IS NULL', tab) INTO wrong USING r;
	EXECUTE format('INSERT INTO %s SELECT id, fp FROM batch WHERE fp IS NOT NULL
		ORDER BY id DESC ON CONFLICT DO NOTHING', tab);
	GET DIAGNOSTICS again = ROW_COUNT;
END $$;
CREATE TABLE doc (id int, fp simhash, EXCLUDE USING simhash (fp WITH %));
SELECT * FROM load_and_compare('doc', 3);
SELECT simhash_index_check('doc_fp_excl', true) \gset
-- it serves look-ups as any other index
SET enable_seqscan = off; SET enable_bitmapscan = off;
SELECT plan_of('SELECT id FROM doc WHERE fp <~> 0 <= 3') LIKE '%Index Scan using doc_fp_excl%' AS through_index,
	(SELECT count(*) FROM batch b WHERE fp IS NOT NULL AND NOT EXISTS (SELECT FROM doc WHERE doc.fp % b.fp));
RESET enable_seqscan; RESET enable_bitmapscan;
DROP TABLE doc;
CREATE TABLE doc (id int, fp simhash, EXCLUDE USING simhash (fp WITH %) WITH (blocks = 6, distance = 3));
SELECT * FROM load_and_compare('doc', 3);
DROP TABLE doc;
-- with a scheme that promises less than the constraint asks for
CREATE TABLE doc (id int, fp simhash, EXCLUDE USING simhash (fp WITH %) WITH (blocks = 2, distance = 1));
SELECT * FROM load_and_compare('doc', 3);
DROP TABLE doc;
-- only equal ones
CREATE TABLE doc (id int, fp simhash, EXCLUDE USING simhash (fp WITH =));
SELECT * FROM load_and_compare('doc', 0);
INSERT INTO doc SELECT 5001, fp FROM doc WHERE id = 5;
DROP TABLE doc;
-- only part of the rows
CREATE TABLE doc (id int, fp simhash, EXCLUDE USING simhash (fp WITH %) WHERE (id >= 100));
INSERT INTO doc VALUES (1, 0), (2, 0), (100, 0), (3, 0);
INSERT INTO doc VALUES (101, 1);
UPDATE doc SET id = 102 WHERE id = 2;
SELECT count(*) FROM doc;
DROP TABLE doc;
-- bigint: by a cast, as % of two bigints is the remainder
\set VERBOSITY sqlstate
CREATE TABLE doc (id int, h bigint, EXCLUDE USING simhash (h WITH %));
\set VERBOSITY default
CREATE TABLE doc (id int, h bigint, EXCLUDE USING simhash ((h::simhash) WITH %));
SELECT * FROM load_and_compare('doc', 3);
DROP TABLE doc;
CREATE TABLE doc (id int, body text, EXCLUDE USING simhash (simhash_compute(body) WITH %));
INSERT INTO doc VALUES (1, 'The quick brown fox jumps over the lazy dog.'), (2, '...'), (3, '!');
\set VERBOSITY terse
INSERT INTO doc VALUES (4, 'the QUICK brown fox: jumps over the lazy dog');
\set VERBOSITY default
INSERT INTO doc VALUES (4, 'An entirely different sentence about another animal.');
DROP TABLE doc;

--
-- Deferred
--
CREATE TABLE doc (id int PRIMARY KEY, fp simhash, CONSTRAINT near EXCLUDE
	USING simhash (fp WITH %) DEFERRABLE INITIALLY DEFERRED);
BEGIN;
INSERT INTO doc VALUES (1, 0), (2, 1), (3, 1023);
COMMIT;
SELECT count(*) FROM doc;
BEGIN;
INSERT INTO doc VALUES (1, 0), (2, 1), (3, 1023);
DELETE FROM doc WHERE id = 1;
COMMIT;
SELECT count(*) FROM doc;
-- an exchange passes through a state that is not allowed
BEGIN;
UPDATE doc SET fp = 1023 WHERE id = 2;
UPDATE doc SET fp = 1 WHERE id = 3;
COMMIT;
BEGIN;
INSERT INTO doc VALUES (4, 3);
SET CONSTRAINTS near IMMEDIATE;
ROLLBACK;
BEGIN;
SET CONSTRAINTS near IMMEDIATE;
INSERT INTO doc VALUES (4, 3);
ROLLBACK;
BEGIN;
INSERT INTO doc VALUES (4, 3);
UPDATE doc SET fp = 1047552 WHERE id = 4;
SET CONSTRAINTS near IMMEDIATE;
COMMIT;
INSERT INTO doc VALUES (5, 0) ON CONFLICT DO NOTHING;
SELECT id, hex(fp) FROM doc ORDER BY id;
DROP TABLE doc;

--
-- Added to a table that has rows
--
CREATE TABLE doc AS SELECT id, fp FROM batch, must_take WHERE r = 3 AND id = ANY (ids);
ALTER TABLE doc ADD CONSTRAINT near EXCLUDE USING simhash (fp WITH %);
ALTER TABLE doc DROP CONSTRAINT near;
INSERT INTO doc SELECT 3001, flip(bits('s2000'), 3, 'x');
ALTER TABLE doc ADD CONSTRAINT near EXCLUDE USING simhash (fp WITH %);
ALTER TABLE doc ADD CONSTRAINT same EXCLUDE USING simhash (fp WITH =);
DELETE FROM doc WHERE id = 3001;
ALTER TABLE doc ADD CONSTRAINT near EXCLUDE USING simhash (fp WITH %);
SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = 'doc'::regclass ORDER BY conname;
-- the near-duplicates can be told beforehand
SELECT count(*) FROM doc a JOIN doc b ON a.fp % b.fp AND a.ctid < b.ctid;
DROP TABLE doc;
CREATE TABLE doc AS SELECT * FROM batch;
SELECT state, message FROM attempt('ALTER TABLE doc ADD CONSTRAINT near EXCLUDE USING simhash (fp WITH <@)');
\set VERBOSITY sqlstate
-- which pair is named depends on the order of the table
ALTER TABLE doc ADD CONSTRAINT near EXCLUDE USING simhash (fp WITH %);
ALTER TABLE doc ADD CONSTRAINT same EXCLUDE USING simhash (fp WITH =);
ALTER TABLE doc ADD CONSTRAINT same EXCLUDE USING simhash (fp WITH <~~>);
\set VERBOSITY default
DROP TABLE doc;

--
-- Partitions: each keeps its own near-duplicates out
--
CREATE TABLE doc (id int, fp simhash, lang text) PARTITION BY LIST (lang);
CREATE TABLE doc_en PARTITION OF doc (EXCLUDE USING simhash (fp WITH %)) FOR VALUES IN ('en');
CREATE TABLE doc_de PARTITION OF doc (EXCLUDE USING simhash (fp WITH %)) FOR VALUES IN ('de');
INSERT INTO doc VALUES (1, 0, 'en'), (2, 0, 'de'), (3, 255, 'en');
INSERT INTO doc VALUES (4, 1, 'de');
INSERT INTO doc VALUES (4, 1, 'de'), (5, 254, 'en'), (6, 254, 'de') ON CONFLICT DO NOTHING;
UPDATE doc SET lang = 'de' WHERE id = 1;
UPDATE doc SET lang = 'en' WHERE id = 6;
SELECT tableoid::regclass, id FROM doc ORDER BY id;
-- an index of the whole, for look-ups
CREATE INDEX ON doc USING simhash (fp);
SET enable_seqscan = off;
SELECT * FROM rows_of($$SELECT id FROM doc WHERE fp <~> 0 <= 3 ORDER BY id$$,
	$$SELECT id FROM doc WHERE fp IS NOT NULL ORDER BY fp <~> 252, id LIMIT 3$$);
RESET enable_seqscan;
DROP TABLE doc;

--
-- Another radius: an operator and an operator class of one's own.  The strategy
-- number is the radius plus four.
--
CREATE FUNCTION near_6(simhash, simhash) RETURNS boolean LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$ BEGIN RETURN simhash_within($1, $2, 6); END $$;
CREATE OPERATOR %% (LEFTARG = simhash, RIGHTARG = simhash, FUNCTION = near_6, COMMUTATOR = %%);
CREATE OPERATOR CLASS near_6_ops FOR TYPE simhash USING simhash AS
	OPERATOR 1 =, OPERATOR 7 %, OPERATOR 10 %%, OPERATOR 2 <@ (simhash, simhash_ball),
	OPERATOR 3 <~~> (simhash, simhash) FOR ORDER BY integer_ops;
SELECT amvalidate(c.oid) FROM pg_opclass c JOIN pg_am a ON a.oid = opcmethod
WHERE opcname = 'near_6_ops' AND amname = 'simhash';
CREATE TABLE doc (id int, fp simhash, EXCLUDE USING simhash (fp near_6_ops WITH %%));
SELECT * FROM load_and_compare('doc', 6);
INSERT INTO doc VALUES (9000, 0), (9001, 127);
INSERT INTO doc VALUES (9002, 63);
DROP TABLE doc;
CREATE TABLE doc AS SELECT * FROM batch;
CREATE INDEX doc_fp ON doc USING simhash (fp near_6_ops);
ANALYZE doc;
SET enable_seqscan = off; SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF) SELECT id FROM doc WHERE fp %% 5;
EXPLAIN (COSTS OFF) SELECT id FROM doc WHERE 5 %% fp;
SELECT plan_of('SELECT count(*) FROM batch b JOIN doc d ON d.fp %% b.fp
	WHERE b.id % 10 = 0') LIKE '%Index%Scan using doc_fp%' AS through_index;
SELECT count(*) FROM batch b JOIN doc d ON d.fp %% b.fp WHERE b.id % 10 = 0
UNION ALL SELECT count(*) FROM batch b JOIN doc d ON distance(d.fp::bigint, b.fp::bigint) <= 6 WHERE b.id % 10 = 0
UNION ALL SELECT count(*) FROM doc WHERE fp %% ANY (ARRAY[bits('c1'), bits('c2'), NULL, bits('e0')]::simhash[])
UNION ALL SELECT count(*) FROM doc WHERE least(distance(fp::bigint, bits('c1')), distance(fp::bigint, bits('c2')),
	distance(fp::bigint, bits('e0'))) <= 6;
SET enable_indexscan = off; SET enable_indexonlyscan = off; SET enable_bitmapscan = on;
SELECT plan_of('SELECT id FROM doc WHERE fp %% bits(''c7'')') LIKE '%Bitmap Index Scan on doc_fp%' AS through_index;
SELECT count(*) FROM doc WHERE fp %% bits('c7')
UNION ALL SELECT count(*) FROM doc WHERE distance(fp::bigint, bits('c7')) <= 6;
RESET enable_seqscan; RESET enable_indexscan; RESET enable_indexonlyscan;
DROP TABLE doc;
-- as an SQL function, and the widest radius
CREATE FUNCTION anything(simhash, simhash) RETURNS boolean LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
AS $$ SELECT simhash_within($1, $2, 64) $$;
CREATE OPERATOR %%% (LEFTARG = simhash, RIGHTARG = simhash, FUNCTION = anything, COMMUTATOR = %%%);
ALTER OPERATOR FAMILY near_6_ops USING simhash ADD OPERATOR 68 %%% (simhash, simhash);
CREATE TABLE doc (id int, fp simhash, EXCLUDE USING simhash (fp near_6_ops WITH %%%));
INSERT INTO doc VALUES (1, 0), (2, NULL);
INSERT INTO doc VALUES (3, -1);
DROP TABLE doc;
SELECT amvalidate(c.oid) FROM pg_opclass c JOIN pg_am a ON a.oid = opcmethod
WHERE opcname = 'near_6_ops' AND amname = 'simhash';
-- what does not belong there
CREATE FUNCTION far(simhash, simhash) RETURNS integer LANGUAGE sql IMMUTABLE STRICT AS $$ SELECT 1 $$;
CREATE OPERATOR %%%% (LEFTARG = simhash, RIGHTARG = simhash, FUNCTION = far, COMMUTATOR = %%%%);
ALTER OPERATOR FAMILY near_6_ops USING simhash ADD OPERATOR 12 %%%% (simhash, simhash);
ALTER OPERATOR FAMILY near_6_ops USING simhash ADD OPERATOR 32768 %%% (simhash, simhash);

-- The family of the extension takes more operators, but a dump leaves them
-- out, and then the constraints that need them fail.
ALTER OPERATOR FAMILY simhash_ops USING simhash ADD OPERATOR 68 %%% (simhash, simhash);
CREATE TABLE doc (id int, fp simhash, EXCLUDE USING simhash (fp WITH %%%));
INSERT INTO doc VALUES (1, 0), (2, NULL);
INSERT INTO doc VALUES (3, -1);
DROP TABLE doc;
ALTER OPERATOR FAMILY simhash_ops USING simhash DROP OPERATOR 68 (simhash, simhash);
-- the family is as it was before
SELECT amopstrategy, amopopr::regoperator FROM pg_amop JOIN pg_opfamily f ON f.oid = amopfamily
WHERE opfname = 'simhash_ops' ORDER BY 1, amopopr::regoperator::text COLLATE "C";

DROP SCHEMA exclusion_test CASCADE;
