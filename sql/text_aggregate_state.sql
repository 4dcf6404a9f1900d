--
-- The state of the aggregates: a bytea that may travel, and may be forged
--
\pset format unaligned
\pset footer off

-- no pseudo-type, and no name for two aggregates: a comma that is one too many
-- in simhash_agg(hash ORDER BY weight) must not mean another one
SELECT a.aggfnoid, a.aggtranstype::regtype AS state, a.aggcombinefn <> 0 AS combines,
	a.aggserialfn <> 0 AS serializes, p.proparallel
FROM pg_aggregate a JOIN pg_proc p ON p.oid = a.aggfnoid WHERE p.proname LIKE 'simhash%agg'
ORDER BY a.aggfnoid::text COLLATE "C";
SELECT p.proname FROM pg_proc p JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid
	AND d.deptype = 'e'
	JOIN pg_extension e ON e.oid = d.refobjid AND d.refclassid = 'pg_extension'::regclass
WHERE e.extname = 'simhash' AND p.prokind = 'a' GROUP BY p.proname, p.pronamespace
HAVING count(DISTINCT p.pronargs) > 1;
\set VERBOSITY terse
SELECT simhash_agg(1::bigint, 1);

-- version 1 of the layout, which no machine and no release may change
SELECT md5(simhash_agg_add(NULL, 5)), encode(substr(simhash_agg_add(NULL, 5), 1, 28), 'hex') AS head,
	length(simhash_agg_add(NULL, 5));
SELECT md5(s), encode(substr(s, 5, 48), 'hex') AS sums, length(s)
FROM simhash_weighted_agg_add(simhash_agg_add(NULL, 5), -1, -2.5) AS s;
SELECT simhash_agg_add(NULL, NULL) IS NULL AS add, simhash_weighted_agg_add(NULL, 1, NULL) IS NULL AS add_weighted,
	simhash_weighted_agg_add(NULL, NULL, 1) IS NULL AS add_null, simhash_agg_combine(NULL, NULL) IS NULL AS combine,
	simhash_agg_result(NULL) IS NULL AS result,
	simhash_agg_result(simhash_weighted_agg_add(NULL, 1, 0)) IS NULL AS nothing;

-- called in SQL the functions leave their arguments as they are, wherever
-- these come from: in line, compressed and out of line
CREATE TABLE states (id int, state bytea) WITH (toast_tuple_target = 128);
INSERT INTO states SELECT 1, simhash_agg_add(NULL, 5);
INSERT INTO states SELECT 2, simhash_weighted_agg_add(state, 6, 0.5) FROM states;
ALTER TABLE states ALTER state SET STORAGE EXTERNAL;
INSERT INTO states SELECT 3, simhash_weighted_agg_add(simhash_agg_add(NULL, 9), 3, i) FROM generate_series(1, 3) i;
CREATE TABLE before AS SELECT * FROM states;
SELECT id, simhash_agg_result(simhash_agg_add(state, 3)) AS add,
	simhash_agg_result(simhash_weighted_agg_add(state, 3, -1)) AS add_weighted,
	simhash_agg_result(simhash_agg_combine(state, state)) AS twice, simhash_agg_result(state) AS result,
	simhash_agg_combine(NULL, state) = state AS alone, simhash_agg_combine(state, NULL) = state AS alone_too
FROM states ORDER BY id, state;
SELECT count(*) AS changed FROM (TABLE states EXCEPT TABLE before) AS t;

-- what other engines do: partial states of parts, in any order, of any shape
CREATE TABLE numbers AS
SELECT i, i % 7 AS part, CASE WHEN i % 11 <> 0 THEN hashint8extended(i, 0) END AS h,
	CASE WHEN i % 13 <> 0 THEN ((i * 7919) % 1000 - 300) * 10.0 ^ (i % 20 - 8) END::float8 AS w
FROM generate_series(1, 3000) i;
CREATE AGGREGATE partial_agg(bigint) (SFUNC = simhash_agg_add, STYPE = bytea);
CREATE AGGREGATE partial_weighted_agg(bigint, float8) (SFUNC = simhash_weighted_agg_add, STYPE = bytea);
CREATE AGGREGATE combine_agg(bytea) (SFUNC = simhash_agg_combine, STYPE = bytea, FINALFUNC = simhash_agg_result);
SELECT combine_agg(plain ORDER BY part) = all_plain AND combine_agg(plain ORDER BY part DESC) = all_plain AS plain,
	combine_agg(weighted ORDER BY part) = all_weighted AND combine_agg(weighted
		ORDER BY part DESC) = all_weighted AS weighted,
	combine_agg(CASE WHEN part < 3 THEN plain ELSE weighted END ORDER BY part) = all_mixed
	AND combine_agg(CASE WHEN part < 3 THEN plain ELSE weighted END ORDER BY part DESC) = all_mixed AS mixed
FROM (SELECT part, partial_agg(h) AS plain, partial_weighted_agg(h, w) AS weighted FROM numbers GROUP BY part
	UNION ALL SELECT 8, NULL, NULL) AS p,
	(SELECT simhash_agg(h) AS all_plain, simhash_weighted_agg(h, w) AS all_weighted,
		simhash_weighted_agg(h, CASE WHEN part < 3 THEN 1 ELSE w END) AS all_mixed FROM numbers) AS a
GROUP BY all_plain, all_weighted, all_mixed;

-- more rows than the counters have room for
CREATE FUNCTION little_endian(x bigint) RETURNS bytea LANGUAGE sql
RETURN (SELECT string_agg(substr(int8send(x), 9 - i, 1), '' ORDER BY i) FROM generate_series(1, 4) i);
CREATE FUNCTION make_state(count bigint, bits bigint, each bigint DEFAULT 1) RETURNS bytea LANGUAGE sql
RETURN '\x73696d01'::bytea || little_endian(count)
	|| (SELECT string_agg(little_endian(((bits >> i) & 1) * each), '' ORDER BY i) FROM generate_series(0, 63) i);
CREATE FUNCTION make_sums(sums bytea) RETURNS bytea LANGUAGE sql RETURN '\x73696d01'::bytea || sums;
SELECT make_state(1, 5) = simhash_agg_add(NULL, 5) AS made;
SELECT length(full_state) AS counted, length(more) AS moved, simhash_agg_result(full_state) AS "full",
	simhash_agg_result(more) AS more,
	simhash_agg_result(simhash_agg_combine(full_state, more)) AS both,
	simhash_agg_result(simhash_agg_combine(more, full_state)) AS both_again,
	simhash_agg_combine(full_state, simhash_agg_add(NULL, 8)) = more AS combined,
	simhash_agg_result(simhash_weighted_agg_add(more, 12, 1e10)) AS outweighed,
	simhash_agg_result(simhash_agg_add(more, 3)) AS one_more
FROM (SELECT make_state(4294967295, 7, 2147483648)) AS f (full_state), simhash_agg_add(full_state, 8) AS more;

-- what is no state
CREATE FUNCTION try(state bytea) RETURNS TABLE (function text, result text) LANGUAGE plpgsql AS $$
DECLARE
	detail text;
BEGIN
	FOR i IN 1..5 LOOP
		function := (ARRAY['add', 'add_weighted', 'combine', 'combine_other', 'result'])[i];
		BEGIN
			result := CASE i WHEN 1 THEN simhash_agg_result(simhash_agg_add(state, 1))
				WHEN 2 THEN simhash_agg_result(simhash_weighted_agg_add(state, 1, 2))
				WHEN 3 THEN simhash_agg_result(simhash_agg_combine(state, simhash_agg_add(NULL, 1)))
				WHEN 4 THEN simhash_agg_result(simhash_agg_combine(simhash_agg_add(NULL, 1), state))
				ELSE simhash_agg_result(state) END::text;
		EXCEPTION WHEN OTHERS THEN
			GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
			result := SQLSTATE || ' ' || SQLERRM || ': ' || detail;
		END;
		RETURN NEXT;
	END LOOP;
END $$;
\set sums 'decode(repeat(\'00\', 1056), \'hex\')'
SELECT what, result, string_agg(function, ' ' ORDER BY function) AS functions
FROM (VALUES ('empty', ''::bytea), ('one byte', '\x73'), ('one byte short', substr(make_state(1, 5), 1, 263)),
	('one byte too many', make_state(1, 5) || '\x00'),
	('another version', overlay(make_state(1, 5) PLACING '\x02'::bytea FROM 4)),
	('no state', decode(repeat('ff', 264), 'hex')),
	('no state, longer', decode(repeat('ff', 1060), 'hex')),
	('more bits than rows', make_state(1, 5, 2)), ('bits of no row', make_state(0, 1)),
	('all counters full', make_state(4294967295, -1, 4294967295)),
	('a sum of nothing', make_sums(overlay(:sums PLACING '\x01'::bytea FROM 17))),
	('ones of nothing', make_sums(overlay(:sums PLACING '\x01'::bytea FROM 1056 - 15))),
	('more than all', make_sums(overlay(overlay(:sums PLACING '\x05'::bytea FROM 1) PLACING '\x06'::bytea
		FROM 17))),
	('ones and zeros together more than all',
		make_sums(overlay(overlay(:sums PLACING '\x05'::bytea FROM 1) PLACING '\x03'::bytea FROM 33))),
	('sums of 128 bits', make_sums(decode(repeat('ff', 1056), 'hex'))),
	('the least number of 128 bits', make_sums(overlay(:sums PLACING '\x80'::bytea FROM 32))),
	('a sum that is too large', make_sums(overlay(:sums PLACING '\x40'::bytea FROM 16)))) AS t (what,
	state), try(state)
GROUP BY what, result ORDER BY what COLLATE "C", result COLLATE "C";
-- the largest sum there can be
SELECT function, result FROM try(make_sums(
	overlay(overlay(overlay(:sums PLACING decode(repeat('ff', 15) || '3f', 'hex') FROM 1)
	PLACING decode(repeat('ff', 15) || '3f', 'hex') FROM 17) PLACING decode(repeat('ff', 15) || '3f', 'hex')
	FROM 33))) ORDER BY 1;

-- within an aggregate only the head of a state is looked at for each row, so
-- its rows can be added; no result comes of them
CREATE AGGREGATE forged_agg(bigint) (SFUNC = simhash_agg_add, STYPE = bytea, FINALFUNC = simhash_agg_result,
	INITCOND = '\x00');
SELECT forged_agg(1);
DROP AGGREGATE forged_agg(bigint);
DO $$
BEGIN
	EXECUTE format('CREATE AGGREGATE forged_agg(bigint) (SFUNC = simhash_agg_add, STYPE = bytea,
		FINALFUNC = simhash_agg_result, INITCOND = %L)',
		make_state(100, -1, 4294967295));
	EXECUTE format('CREATE AGGREGATE forged_weighted_agg(bigint, float8) (SFUNC = simhash_weighted_agg_add,
		STYPE = bytea, FINALFUNC = simhash_agg_result, INITCOND = %L)',
		make_sums(decode(repeat('00', 32) || repeat(repeat('ff', 15) || '7f', 64), 'hex')));
	EXECUTE format('CREATE AGGREGATE forged_sum_agg(bigint, float8) (SFUNC = simhash_weighted_agg_add, STYPE = bytea,
		FINALFUNC = simhash_agg_result, INITCOND = %L)',
		make_sums(decode(repeat('ff', 1056), 'hex')));
	EXECUTE format('CREATE AGGREGATE started_agg(bigint) (SFUNC = simhash_agg_add, STYPE = bytea,
		FINALFUNC = simhash_agg_result, INITCOND = %L)',
		make_state(4294967293, 0));
END $$;
SELECT forged_agg(1);
SELECT forged_weighted_agg(h, 2) FROM numbers;
SELECT forged_sum_agg(h, 2) FROM numbers;
-- one that is right begins anew with each group, and is moved to sums on the way
SELECT g, started_agg(h), started_agg(h) FILTER (WHERE h > 100) AS none
FROM (SELECT i % 2 AS g, 1::bigint AS h FROM generate_series(1, 20) i) AS t GROUP BY g ORDER BY g;

-- frames, groups, and rows that do not count
SELECT i, simhash_agg(h) OVER w AS plain, simhash_weighted_agg(h, i) OVER w AS weighted,
	simhash_agg(h) FILTER (WHERE i > 2) OVER w AS filtered
FROM (VALUES (1, 1::bigint), (2, 3), (3, NULL), (4, 7), (5, 15)) AS t (i, h)
WINDOW w AS (ORDER BY i ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) ORDER BY i;
SELECT simhash_weighted_agg(DISTINCT h, w) AS "distinct", simhash_weighted_agg(h, w) AS "all"
FROM (VALUES (1::bigint, 2::float8), (1, 2), (1, 2), (6, 3)) AS t (h, w);

DROP AGGREGATE partial_agg(bigint), partial_weighted_agg(bigint, float8), combine_agg(bytea), forged_agg(bigint),
	forged_weighted_agg(bigint, float8), forged_sum_agg(bigint, float8), started_agg(bigint);
DROP FUNCTION try, make_state, make_sums, little_endian;
DROP TABLE states, before, numbers;
