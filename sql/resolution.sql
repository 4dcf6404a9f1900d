--
-- The implicit casts to simhash change the meaning of no expression that does
-- without the extension: operators and functions whose names the server has as
-- well are tried on every two of the commonest types, with the extension on the
-- search_path and without it.
--
CREATE SCHEMA resolution_test;
SET search_path = resolution_test, public;

CREATE TABLE members AS
SELECT d.classid, d.objid
FROM pg_depend d
JOIN pg_extension e ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid AND e.extname = 'simhash'
WHERE d.deptype = 'e';

CREATE TABLE operands AS
SELECT format('NULL::%s', t) AS operand
FROM unnest('{boolean,smallint,integer,bigint,numeric,double precision,oid,text,bit,date,jsonb,int4range,int8[]}'::text[]) t
UNION ALL VALUES ('NULL'), (quote_literal(1)), ('1.5'), ('18446744073709551615');

CREATE TABLE expressions AS
SELECT format('%s %s %s', a.operand, o.oprname, b.operand) AS expression
FROM (SELECT DISTINCT oprname FROM pg_operator JOIN members ON classid = 'pg_operator'::regclass AND objid = oid
	INTERSECT SELECT oprname FROM pg_operator WHERE oprnamespace = 'pg_catalog'::regnamespace) o, operands a, operands b
UNION ALL
SELECT format('%s(%s)', p.proname, arguments)
FROM (SELECT DISTINCT proname FROM pg_proc JOIN members ON classid = 'pg_proc'::regclass AND objid = oid
	INTERSECT SELECT proname FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace) p,
	(SELECT operand FROM operands UNION ALL SELECT a.operand || ', ' || b.operand FROM operands a, operands b) t(arguments);

-- the type of an expression, or why it has none
CREATE FUNCTION outcome(expression text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	type regtype;
BEGIN
	EXECUTE format('SELECT pg_typeof(%s)', expression) INTO type;
	RETURN type;
EXCEPTION WHEN others THEN
	RETURN SQLSTATE;
END $$;
CREATE FUNCTION outcome_without(expression text) RETURNS text LANGUAGE sql
SET search_path = pg_catalog
RETURN resolution_test.outcome(expression);

-- does an expression use an object of the extension?
CREATE FUNCTION is_ours(expression text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	result boolean;
BEGIN
	EXECUTE format('CREATE TEMP VIEW tried AS SELECT %s AS value', expression);
	SELECT count(*) > 0 INTO result
	FROM pg_depend d JOIN pg_rewrite r ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid
	JOIN members m ON d.refclassid = m.classid AND d.refobjid = m.objid
	WHERE r.ev_class = 'pg_temp.tried'::regclass;
	DROP VIEW tried;
	RETURN result;
END $$;

SET client_min_messages = warning;
CREATE TABLE results AS SELECT expression, outcome(expression) AS with_it, outcome_without(expression) AS without_it FROM expressions;
-- the test would see what is ours
SELECT is_ours('1 <~> 2'), is_ours('1 % 2'), is_ours('min(''1''::simhash)'), outcome_without('1 <~> 2');
SELECT count(*) > 2000 AS many, count(*) FILTER (WHERE without_it !~ '^[0-9A-Z]{5}$') > 400 AS many_are_valid FROM results;
-- nothing is found
SELECT expression, without_it, with_it FROM results WHERE with_it <> without_it ORDER BY expression COLLATE "C" LIMIT 20;
SELECT expression FROM results WHERE with_it !~ '^[0-9A-Z]{5}$' AND is_ours(expression) ORDER BY expression COLLATE "C" LIMIT 20;

DROP SCHEMA resolution_test CASCADE;
