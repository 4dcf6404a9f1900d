--
-- What expressions mean: wide fingerprints beside the types that there were before, and
-- literals without a type
--
\pset format unaligned
\pset footer off
CREATE SCHEMA type_bits_resolution_test;
SET search_path = type_bits_resolution_test, public;

-- literals are fingerprints of 64 bits where they could be either
SELECT hamming('1', '3'), '1' <~> '3' AS distance, simhash_within('1', '3', 1) AS within, simhash_within('256', 0, 3)
	AS numbers,
	'7' <~> 0 AS one_number;
SELECT fp <~> '5' AS distance, fp % '5' AS near, fp = '5' AS equal, fp <@ '(5,3)' AS inside, fp IN ('5', '7') AS listed,
	fp = ANY ('{5,7}') AS any
FROM (VALUES ('5'::simhash)) AS t (fp);
SELECT fp <~> '05' AS distance, fp % '05' AS near, fp = '05' AS equal, fp <@ '(05,3)' AS inside, fp IN ('05', '07')
	AS listed,
	fp = ANY ('{05,07}') AS any, coalesce(fp, 'ff') AS coalesced, '05' <~> fp AS commuted
FROM (VALUES ('05'::simhash_bits)) AS t (fp);

-- a column of each type
CREATE TABLE operands (
	c_simhash simhash, c_bits simhash_bits, c_bits_256 simhash_bits(256), c_ball simhash_ball,
		c_bits_ball simhash_bits_ball,
	c_distance simhash_distance, c_simhashes simhash[], c_bitses simhash_bits[],
	c_smallint smallint, c_integer integer, c_bigint bigint, c_numeric numeric, c_bit bit(64), c_varbit varbit,
		c_bytea bytea,
	c_text text, c_boolean boolean, c_uuid uuid, c_bigints bigint[], c_tsvector tsvector);
CREATE TABLE expressions (expression text PRIMARY KEY, wide boolean, resolved text, without text);

-- operators between any two operands; functions of one and of two
WITH operands AS (
	SELECT attname::text AS name, attname ~ 'bits' AS wide, attname ~ 'bits|simhash|ball|distance' AS ours
	FROM pg_attribute WHERE attrelid = 'operands'::regclass AND attnum > 0
	UNION ALL
	SELECT name, false, true FROM unnest(ARRAY[$$'1'$$, 'NULL', '1', '18446744073709551615', $$B'1'$$, $$X'ff'$$]) name
), pairs AS (
	-- type_resolution.pl has the others
	SELECT a.name AS a, b.name AS b, a.wide OR b.wide AS wide FROM operands a, operands b WHERE a.ours OR b.ours
)
INSERT INTO expressions
SELECT a || ' ' || op || ' ' || b, wide
FROM pairs, unnest(ARRAY['<~>', '<~~>', '%', '<%>', '<<%>>', '<@', '@>', '=', '<>', '<', '<=', '>', '>=', '&', '#',
	'||', '-', '+',
	'IS DISTINCT FROM']) op
UNION ALL
SELECT format(form, a, b), wide
FROM pairs, unnest(ARRAY['hamming(%s, %s)', 'simhash_within(%s, %s, 3)', 'simhash_ball(%s, %s)',
	'simhash_bits_ball(%s, %s)',
	'coalesce(%s, %s)', 'nullif(%s, %s)', 'greatest(%s, %s)', 'ARRAY[%s, %s]', 'CASE WHEN true THEN %s ELSE %s END',
		'%s IN (%s, NULL)',
	'%s = ANY (ARRAY[%s])', '%s = ANY (%s)', '%s <~> ANY (%s)', '%s %% ANY (%s)', 'row(%s, 1) < row(%s, 1)',
	'(SELECT 1 FROM (SELECT %s UNION SELECT %s) u LIMIT 1)',
	'simhash_minhash_bits(%s, %s)', 'simhash_minhash(%s, %s)', 'simhash_minhash_radius(%s, %s)',
	'simhash_compute(%s, %s)', 'simhash_jaccard(%s, %s)']) form
UNION ALL
SELECT format(form, name), wide
FROM operands, unnest(ARRAY['bit_count(%s)', 'min(%s)', 'max(%s)', 'simhash_minhash_bits(%s)',
	'simhash_minhash(%s)',
	'simhash_minhash_radius(%s)', 'simhash_compute(%s)', '%s::simhash', '%s::text',
		'%s::bit(64)', '%s::bigint',
	'%s::bytea', 'length(%s)', 'octet_length(%s)', 'abs(%s)', 'simhash_eq(%s, %1$s)', 'simhash_cmp(%s, %1$s)',
		'hashint8(%s)',
	'array_agg(%s)', 'simhash_agg(%s)', 'simhash_minhash_agg(%s)', 'simhash_send(%s)']) form;

-- The plan shows which casts were chosen, and the type that literals were given.
CREATE FUNCTION resolve(expression text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE format('EXPLAIN (VERBOSE, COSTS OFF) SELECT pg_typeof(%1$s), %1$s FROM operands',
		expression) LOOP
		IF line LIKE '%Output: %' THEN
			RETURN line;
		END IF;
	END LOOP;
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE;
END $$;
UPDATE expressions SET resolved = resolve(expression);

-- what the new type takes part in: the operators, and the types of the other operand
SELECT op, count(*), string_agg(other, ' ' ORDER BY other COLLATE "C")
FROM (SELECT split_part(expression, ' ', 2) AS op, split_part(expression, ' ', 3) AS other FROM expressions
	WHERE expression ~ '^c_bits [^I]\S* \S+$' AND resolved LIKE '%Output%') valid
GROUP BY op ORDER BY op COLLATE "C";
SELECT expression FROM expressions
WHERE expression ~ '^\w+\(c_(bits|bits_ball|bitses)(, (c_bits|c_integer|''1''))?\)$'
	AND resolved LIKE '%Output%' ORDER BY expression COLLATE "C";

-- As if there were no wide fingerprints: nothing else changes its meaning.  What is an
-- error may be another one.
UPDATE expressions SET wide = true WHERE expression ~ 'simhash_(minhash_)?bits';
SELECT count(*) > 10000 AS many, count(*) FILTER (WHERE resolved LIKE '%Output%') > 1500 AS many_valid FROM expressions
	WHERE NOT wide;
CREATE PROCEDURE forget_wide_types() LANGUAGE plpgsql AS $$
DECLARE
	member text;
BEGIN
	-- array types are members of their own up to 16
	FOR member IN
		SELECT format('%s %s', CASE WHEN type IN ('function', 'aggregate') THEN 'routine' ELSE type END, identity)
		FROM pg_depend d, pg_identify_object(d.classid, d.objid, 0)
		WHERE refclassid = 'pg_extension'::regclass AND deptype = 'e'
			AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'simhash')
			AND identity ~ 'simhash_(minhash_)?bits|simhash_bands|simhash_title_|simhash_similar_ball|simhash_(text|bytea)_ops'
			AND (identity !~ '\[\]$' OR current_setting('server_version_num')::int < 170000)
	LOOP
		EXECUTE 'ALTER EXTENSION simhash DROP ' || member;
	END LOOP;
	ALTER TABLE operands DROP c_bits, DROP c_bits_256, DROP c_bits_ball, DROP c_bitses;
	DROP TYPE simhash_bits_ball CASCADE;
	DROP TYPE simhash_bits CASCADE;
	UPDATE pg_type SET typcategory = 'U', typispreferred = false WHERE oid = 'simhash'::regtype;
END $$;
CREATE VIEW changed AS
SELECT expression, without, resolved FROM expressions
WHERE NOT wide AND regexp_replace(without, '^\w{5}$', 'error') <> regexp_replace(resolved, '^\w{5}$', 'error')
ORDER BY expression COLLATE "C" LIMIT 60;
SET client_min_messages = warning;
BEGIN;
CALL forget_wide_types();
UPDATE expressions SET without = resolve(expression) WHERE NOT wide;
SELECT count(*) > 10000 AS compared FROM expressions WHERE without IS NOT NULL;
TABLE changed;
ROLLBACK;
-- the test notices a type that is not preferred
BEGIN;
UPDATE pg_type SET typispreferred = false WHERE oid = 'simhash'::regtype;
SELECT expression, left(resolved, 40) AS resolved, resolve(expression) AS now FROM expressions
WHERE NOT wide AND expression ~ '<~>|hamming' AND resolve(expression) <> resolved ORDER BY expression COLLATE "C";
ROLLBACK;

-- the same beside another extension that has these operators for bit strings, such as pgvector
CREATE FUNCTION other_distance(bit, bit) RETURNS float8 LANGUAGE sql IMMUTABLE STRICT RETURN bit_count($1 # $2);
CREATE OPERATOR <~> (LEFTARG = bit, RIGHTARG = bit, FUNCTION = other_distance, COMMUTATOR = <~>);
CREATE OPERATOR <%> (LEFTARG = bit, RIGHTARG = bit, FUNCTION = other_distance, COMMUTATOR = <%>);
DELETE FROM expressions WHERE expression !~ '<[~%]>';
UPDATE expressions SET resolved = resolve(expression);
SELECT count(*) FILTER (WHERE resolved ~ 'Output.*bit.*double') > 5 AS of_bits,
	count(*) FILTER (WHERE wide AND resolved ~ 'Output') AS wide FROM expressions;
SELECT expression, CASE WHEN resolved ~ '^\w{5}$' THEN resolved ELSE substring(resolved,
	'bit_count|simhash_bits|simhash') END AS resolved
FROM unnest(ARRAY[$$'1' <~> '1'$$, $$c_bit <~> '1'$$, $$c_varbit <~> c_bit$$, $$c_bits <~> '01'$$,
	$$'1' <~> c_simhash$$,
	$$c_bit <~> c_bits$$, $$c_simhash <~> c_bits$$]) expression, resolve(expression) AS resolved;
BEGIN;
CALL forget_wide_types();
UPDATE expressions SET without = resolve(expression) WHERE NOT wide;
SELECT count(*) > 1000 AS compared FROM expressions WHERE without IS NOT NULL;
TABLE changed;
ROLLBACK;

DROP SCHEMA type_bits_resolution_test CASCADE;
