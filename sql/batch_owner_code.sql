--
-- The functions in an index are its owner's, who may be an attacker.  Whatever a superuser
-- does with the index runs them with the owner's privileges, or not at all.
--
SET client_min_messages = warning;
\set VERBOSITY terse
CREATE ROLE regress_simhash_attacker;
CREATE SCHEMA batch_owner_code_test AUTHORIZATION regress_simhash_attacker;
SET search_path = batch_owner_code_test, public;
\pset format unaligned
\pset footer off

SET ROLE regress_simhash_attacker;
-- what has run, as whom, and what it did that the attacker may not
CREATE TABLE runs (place text, who name, success text);
CREATE TABLE later (place text);
CREATE FUNCTION attack(place text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	statement text;
BEGIN
	INSERT INTO batch_owner_code_test.runs VALUES (place, current_user);
	FOREACH statement IN ARRAY ARRAY['ALTER ROLE regress_simhash_attacker CREATEROLE',
		'CREATE ROLE regress_simhash_made', 'GRANT pg_read_all_data TO regress_simhash_attacker',
		'CREATE TABLE public.regress_simhash_made ()', 'CREATE TEMPORARY TABLE made ()', 'RESET ROLE',
		'SET SESSION AUTHORIZATION DEFAULT']
	LOOP
		BEGIN
			EXECUTE statement;
			INSERT INTO batch_owner_code_test.runs VALUES (place, current_user, statement);
		EXCEPTION WHEN OTHERS THEN
			NULL;
		END;
	END LOOP;
	-- as whoever commits
	BEGIN
		INSERT INTO batch_owner_code_test.later SELECT 'later' WHERE place <> 'later';
	EXCEPTION WHEN OTHERS THEN
		NULL;
	END;
	SET application_name = 'attacked';
END $$;
CREATE FUNCTION attack_later() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	PERFORM batch_owner_code_test.attack(NEW.place);
	RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER later AFTER INSERT ON later DEFERRABLE INITIALLY DEFERRED
	FOR EACH ROW EXECUTE FUNCTION attack_later();

-- With constants only, this runs as soon as the index is looked at.
CREATE TABLE armed (yes boolean);
CREATE FUNCTION run(place text, value integer) RETURNS integer LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
	IF EXISTS (SELECT FROM batch_owner_code_test.armed) THEN
		PERFORM batch_owner_code_test.attack(place);
	END IF;
	RETURN value;
END $$;
CREATE TABLE docs (id integer, a integer, fp simhash);
CREATE INDEX predicate ON docs USING simhash (a, fp) WHERE run('predicate', 1) = 1;
CREATE INDEX row_predicate ON docs USING simhash (a, fp) WHERE run('predicate, row', id) > 0;
CREATE INDEX expression ON docs USING simhash ((a + run('column', 0)), fp);
CREATE INDEX row_expression ON docs USING simhash (run('column, row', a), fp);
CREATE INDEX fingerprint ON docs USING simhash (a, (fp::bigint # run('fingerprint', 0) # run('fingerprint, row', a)));
CREATE INDEX one_column ON docs USING simhash ((fp::bigint # run('fingerprint', 0) # run('fingerprint, row', a)))
	WHERE run('predicate', 1) = 1 AND run('predicate, row', id) > 0;
CREATE TABLE parted (LIKE docs) PARTITION BY LIST (id);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES IN (1, 2);
CREATE TABLE parted_2 PARTITION OF parted DEFAULT;
CREATE INDEX parted_predicate ON parted USING simhash (a, fp) WHERE run('predicate', 1) = 1;
CREATE INDEX parted_expression ON parted
	USING simhash ((a + run('column', 0) + run('column, row', 0)), fp);
INSERT INTO docs SELECT i, 1, i FROM generate_series(1, 4) i;
-- not valid, which leaves it to the extension whether to look at it
CREATE TABLE failed (a integer, fp simhash);
INSERT INTO failed VALUES (1, 1), (1, 1);
CREATE UNIQUE INDEX CONCURRENTLY invalid ON failed ((a + run('column', 0)));
INSERT INTO parted SELECT * FROM docs;
RESET ROLE;

-- Run a statement with each index: how many rows there are, what has run as whom, and what
-- it succeeded in.  Transactions end in between, so that the session forgets what it knows of
-- the index, and runs what was left for later.
CREATE TABLE own (id integer, a integer, fp simhash);
INSERT INTO own SELECT * FROM docs;
CREATE INDEX own_fp ON own USING simhash (a, fp);
CREATE TABLE results (no serial, statement text, index text, rows bigint, ran text, who text, success text);
CREATE PROCEDURE use_indexes(statement text, indexes text[]) LANGUAGE plpgsql AS $$
DECLARE
	named text;
	part regclass;
	nrows bigint;
BEGIN
	FOREACH named IN ARRAY indexes LOOP
		TRUNCATE runs;
		INSERT INTO armed VALUES (true);
		SET application_name = 'regress';
		FOR part IN SELECT oid FROM pg_class WHERE relkind = 'i' AND (oid = named::regclass
			OR oid IN (SELECT inhrelid FROM pg_inherits WHERE inhparent = named::regclass))
		LOOP
			EXECUTE format('ALTER INDEX %s SET (fillfactor = 90)', part);
		END LOOP;
		COMMIT;
		EXECUTE format(statement, named);
		GET DIAGNOSTICS nrows = ROW_COUNT;
		COMMIT;
		INSERT INTO runs SELECT 'settings', current_user, 'SET'
		WHERE current_setting('application_name') <> 'regress' OR current_user <> session_user;
		INSERT INTO results (statement, index, rows, ran, who, success)
		SELECT use_indexes.statement, named, nrows, string_agg(DISTINCT place, '; '), string_agg(DISTINCT who, '; '),
			string_agg(DISTINCT runs.success, '; ')
		FROM runs;
		DELETE FROM armed;
	END LOOP;
END $$;
DO $$
DECLARE
	statement text;
BEGIN
	FOREACH statement IN ARRAY ARRAY['SELECT FROM simhash_find_all(%L)', 'SELECT simhash_find_all(%L) LIMIT 1',
		'SELECT FROM simhash_find_duplicates(%L)', 'SELECT FROM simhash_find_duplicates(%L, 3, keep => ''id DESC'')',
		'SELECT FROM simhash_find_clusters(%L)', 'SELECT FROM simhash_find_matches(%L, ''own_fp'')',
		'SELECT simhash_find_matches(''own_fp'', %L) LIMIT 1', 'SELECT FROM simhash_find_matches_in(%L, ''{1}'')']
	LOOP
		CALL use_indexes(statement, '{predicate,row_predicate,expression,row_expression,fingerprint,
			parted_predicate,parted_expression}');
	END LOOP;
	CALL use_indexes('SELECT FROM simhash_find_all(%L)', '{one_column}');
	FOREACH statement IN ARRAY ARRAY['SELECT simhash_index_check(%L)', 'SELECT simhash_index_check(%L, true)',
		'SELECT FROM simhash_index_info(%L)']
	LOOP
		CALL use_indexes(statement, '{predicate,row_predicate,expression,row_expression,fingerprint,one_column}');
	END LOOP;
	CALL use_indexes('SELECT FROM failed WHERE fp <~> 1 <= 3', '{invalid}');
END $$;
\pset null none
SELECT * FROM results ORDER BY no;
SELECT rolname, rolcreaterole, pg_has_role(oid, 'pg_read_all_data', 'MEMBER') AS reader FROM pg_roles
WHERE rolname IN ('regress_simhash_attacker', 'regress_simhash_made');
\pset null ''

--
-- The other way round: a caller who may only read a table chooses search_path, and so what
-- the names in the owner's functions mean, but not when they run as the owner.
--
CREATE ROLE regress_simhash_owner;
CREATE SCHEMA owned AUTHORIZATION regress_simhash_owner;
SET ROLE regress_simhash_owner;
CREATE FUNCTION owned.norm(text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN lower($1); END';
CREATE FUNCTION owned.number(text) RETURNS integer LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN length($1); END';
SET search_path = public;
CREATE TABLE owned.docs (id integer, body text);
INSERT INTO owned.docs SELECT i, 'the same few words for all of the rows' FROM generate_series(1, 3) i;
CREATE INDEX docs_fp ON owned.docs USING simhash (simhash_compute(owned.norm(body)));
CREATE INDEX docs_text ON owned.docs USING simhash (owned.norm(body) simhash_text_ops);
CREATE INDEX docs_again ON owned.docs USING simhash (owned.norm(body) simhash_text_ops);
CREATE INDEX docs_number ON owned.docs USING simhash (owned.number(body), simhash_compute(body));
GRANT USAGE ON SCHEMA owned TO regress_simhash_attacker;
GRANT SELECT ON owned.docs TO regress_simhash_attacker;
RESET ROLE;
CREATE SCHEMA trap AUTHORIZATION regress_simhash_attacker;
SET ROLE regress_simhash_attacker;
CREATE TABLE trap.runs (who name);
GRANT ALL ON SCHEMA trap TO PUBLIC;
GRANT ALL ON trap.runs TO PUBLIC;
CREATE FUNCTION trap.lower(text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO trap.runs VALUES (current_user);
	RETURN pg_catalog.lower($1);
END $$;
CREATE FUNCTION trap.length(text) RETURNS integer LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO trap.runs VALUES (current_user);
	RETURN pg_catalog.length($1);
END $$;
SET search_path = trap, pg_catalog, public;
SELECT count(*) FROM simhash_find_all('owned.docs_fp');
SELECT count(*) FROM simhash_find_all('owned.docs_text');
SELECT count(*) FROM simhash_find_all('owned.docs_number');
SELECT count(*) FROM simhash_find_duplicates('owned.docs_text', keep => 'id', same => 'a.id IS NOT NULL');
SELECT count(*) FROM simhash_find_clusters('owned.docs_number');
SELECT count(*) FROM simhash_find_matches('owned.docs_text', 'owned.docs_again');
SELECT current_setting('search_path'), (SELECT count(*) FROM trap.runs);
-- a superuser who checks an index
RESET ROLE;
SELECT simhash_index_check('owned.docs_fp', true), simhash_index_check('owned.docs_text', true),
	simhash_index_check('owned.docs_number', true) \gset
SELECT current_setting('search_path'), (SELECT count(*) FROM trap.runs);
-- the trap works where the caller's own code runs
SELECT owned.number('four'), (SELECT count(*) FROM trap.runs WHERE who = current_user);
RESET search_path;

DROP SCHEMA batch_owner_code_test, owned, trap CASCADE;
DROP ROLE regress_simhash_attacker, regress_simhash_owner;
