--
-- Indexes of bands, by an operator class of values that are bands themselves
--
CREATE SCHEMA index_bands_test;
SET search_path = index_bands_test, public;
\pset format unaligned
\pset footer off

CREATE DOMAIN bands_8 AS simhash_bits(512);
CREATE FUNCTION bands_of(simhash_bits) RETURNS bands_8 LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS 'BEGIN RETURN $1; END';
CREATE FUNCTION like_307(simhash_bits, simhash_bits) RETURNS boolean LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1000
	AS 'BEGIN RETURN simhash_share_band($1, $2, 7, 3); END';
CREATE FUNCTION like_502(simhash_bits, simhash_bits) RETURNS boolean LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1000
	AS 'BEGIN RETURN simhash_share_band($1, $2, 2, 5); END';
-- the first words of a value, as many as the center of a ball has
CREATE FUNCTION in_bands(simhash_bits, simhash_bits_ball) RETURNS boolean LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1000 AS $$
DECLARE
	center bytea := decode(split_part(trim('()' FROM $2::text), ',', 1), 'hex');
	radius int := split_part(trim('()' FROM $2::text), ',', 2)::int;
BEGIN
	RETURN radius >= 0 AND simhash_share_band(substr($1::bytea, 1, length(center))::simhash_bits, center::simhash_bits, radius);
END $$;
CREATE OPERATOR ~~~ (LEFTARG = simhash_bits, RIGHTARG = simhash_bits, FUNCTION = like_307, COMMUTATOR = ~~~, RESTRICT = simhash_sel, JOIN = simhash_joinsel);
CREATE OPERATOR ~-~ (LEFTARG = simhash_bits, RIGHTARG = simhash_bits, FUNCTION = like_502, COMMUTATOR = ~-~, RESTRICT = simhash_sel, JOIN = simhash_joinsel);
CREATE OPERATOR ~~@ (LEFTARG = simhash_bits, RIGHTARG = simhash_bits_ball, FUNCTION = in_bands, RESTRICT = simhash_sel, JOIN = simhash_joinsel);
CREATE OPERATOR CLASS bands_ops FOR TYPE simhash_bits USING simhash AS
	OPERATOR 307 ~~~, OPERATOR 502 ~-~, OPERATOR 2 ~~@ (simhash_bits, simhash_bits_ball), FUNCTION 3 bands_of(simhash_bits);
SELECT amvalidate(oid) FROM pg_opclass WHERE opcname = 'bands_ops';

-- Value number i of a cluster: a word has the prefix of the cluster with a probability
-- of a half, and differs from it in 0 to 9 bits of the rest.
CREATE FUNCTION made(cluster bigint, i bigint) RETURNS simhash_bits LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
	SELECT string_agg(int8send((hashint8extended(CASE WHEN i = 0 OR h & 1 = 0 THEN cluster ELSE -i END, t) & 16777215) << 32 |
		(hashint8extended(cluster, 100 + t) & 4294967295 # CASE WHEN i = 0 THEN 0 ELSE
			(SELECT coalesce(bit_or(1::bigint << (h >> 6 * b + 4 & 31)::int), 0) FROM generate_series(1, (h >> 1 & 7)::int) b) END)),
		'' ORDER BY t)::simhash_bits
	FROM (SELECT t, hashint8extended(i, 1000 + t) AS h FROM generate_series(1, 8) t) w
$$;
CREATE TABLE doc (id int, tenant int, fp simhash_bits(512));
INSERT INTO doc SELECT i, i % 3, made(i % 200, i / 200) FROM generate_series(1, 2000) i;
-- one value very often, and nulls
INSERT INTO doc SELECT 20000 + i, i % 3, made(7, 0) FROM generate_series(1, 4500) i;
INSERT INTO doc SELECT 30000 + i, CASE WHEN i % 2 = 0 THEN 1 END, NULL FROM generate_series(1, 50) i;
INSERT INTO doc SELECT 40000 + i, NULL, made(i, 1) FROM generate_series(1, 50) i;
CREATE TABLE query (no int, q simhash_bits);
INSERT INTO query SELECT i, made(i * 3, i % 4) FROM generate_series(0, 4) i;
INSERT INTO query SELECT 90, made(7, 0);
INSERT INTO query SELECT 91, made(100000, 0);

-- ids by brute force
CREATE TABLE truth (no int, kind text, ids int[]);
CREATE PROCEDURE expect() LANGUAGE plpgsql AS $$
BEGIN
	TRUNCATE truth;
	INSERT INTO truth SELECT no, o, array_agg(id ORDER BY id) FILTER (WHERE simhash_share_band(fp, q, r, n))
	FROM query, doc, (VALUES ('~~~', 3, 7), ('~-~', 5, 2), ('@', 2, 9), ('@@', 8, 4), ('~=~', 8, 0)) k(o, n, r)
	GROUP BY no, o;
END $$;
CREATE FUNCTION compare(condition text, kind text, filter text DEFAULT 'true', forms text[] DEFAULT '{indexscan,bitmapscan}') RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
	t record;
	got int[];
	wanted int[];
	form text;
BEGIN
	FOREACH form IN ARRAY forms LOOP
		PERFORM use_only(form);
		FOR t IN SELECT no, q, ids FROM query JOIN truth USING (no) WHERE truth.kind = compare.kind LOOP
			EXECUTE format('SELECT array_agg(id ORDER BY id) FROM doc WHERE %s AND %s', replace(condition, '$q', quote_literal(t.q::text)), filter)
				INTO got;
			PERFORM use_only('seqscan');
			EXECUTE format('SELECT array_agg(id ORDER BY id) FROM doc WHERE id = ANY ($1) AND %s', filter) INTO wanted USING t.ids;
			PERFORM use_only(form);
			IF got IS DISTINCT FROM wanted THEN
				PERFORM use_only('seqscan');
				RETURN format('%s, query %s: %s rows instead of %s', form, t.no, cardinality(got), cardinality(wanted));
			END IF;
		END LOOP;
	END LOOP;
	PERFORM use_only('seqscan');
	RETURN 'ok';
END $$;
CREATE FUNCTION ball(q text, n int, r int) RETURNS simhash_bits_ball LANGUAGE sql IMMUTABLE AS $$
	SELECT simhash_bits_ball(left(q, 16 * n)::simhash_bits, r)
$$;
CREATE VIEW conditions AS SELECT * FROM (VALUES
	('fp ~~~ $q', '~~~'), ('fp ~-~ $q', '~-~'), ('fp ~~@ ball($q, 2, 9)', '@'), ('fp ~~@ ball($q, 8, 4)', '@@'),
	('fp ~~~ ANY (ARRAY[$q, NULL, $q]::simhash_bits[])', '~~~'),
	('fp ~~@ ANY (ARRAY[ball($q, 2, 9), ball($q, 1, 3), ball($q, 2, -1)])', '@'),
	('fp ~-~ $q AND fp ~~@ ball($q, 8, 32)', '~-~')) c(condition, kind);

CALL expect();
SELECT kind, count(ids), sum(cardinality(ids)) > 500 AS many FROM truth GROUP BY kind ORDER BY kind;

CREATE INDEX doc_fp ON doc USING simhash (fp bands_ops) WITH (fillfactor = 30);
ANALYZE doc;
SELECT table_no, permutation, prefix_bits, entries = (SELECT count(fp) FROM doc) AS all_rows FROM simhash_index_info('doc_fp');
SELECT simhash_index_check('doc_fp', true);
SELECT use_only('indexscan') \gset
SELECT plan($$SELECT id FROM doc WHERE fp ~~~ made(5, 0)$$);
SELECT plan($$SELECT id FROM doc WHERE fp ~~@ simhash_bits_ball(made(5, 0), 4)$$);
SELECT use_only('seqscan') \gset
SELECT condition, compare(condition, kind) FROM conditions;
-- more rows than are remembered
SET work_mem = '64kB';
SELECT condition, compare(condition, kind) FROM conditions;
RESET work_mem;

-- pages: one leaf of each table, and one only where one row is wanted
SELECT use_only('indexscan') \gset
SELECT pages_read($$SELECT id FROM doc WHERE fp ~~~ made(100000, 0)$$) <= 3 AS few,
	pages_read($$SELECT EXISTS (SELECT FROM doc WHERE fp ~~~ made(7, 0))$$) <= 5 AS fewer;
SELECT use_only('seqscan') \gset

-- other sessions delete, insert, vacuum
DELETE FROM doc WHERE id % 4 = 0;
INSERT INTO doc SELECT 50000 + i, i % 3, made(i % 30, i) FROM generate_series(1, 300) i;
UPDATE doc SET fp = made(9, 0) WHERE id % 50 = 1;
CALL expect();
SELECT condition, compare(condition, kind) FROM conditions LIMIT 3;
VACUUM doc;
SELECT compare('fp ~-~ $q', '~-~');
SELECT use_only('indexscan') \gset
SELECT count(*) FROM doc WHERE fp IS NULL;
SELECT count(*) = (SELECT sum(x) FROM (SELECT count(*) AS x FROM doc WHERE fp IS NOT NULL UNION ALL SELECT count(*) FROM doc WHERE fp IS NULL) s)
	AS all_rows FROM doc;
SELECT count(*) FROM doc a JOIN doc b ON a.fp ~~~ b.fp WHERE b.id BETWEEN 100 AND 120;
SELECT use_only('seqscan') \gset
SELECT count(*) FROM doc a JOIN doc b ON a.fp ~~~ b.fp WHERE b.id BETWEEN 100 AND 120;
SELECT simhash_index_check('doc_fp', true);
DROP INDEX doc_fp;

--
-- Several columns: with and without a condition on the first
--
CREATE INDEX doc_tenant_fp ON doc USING simhash (tenant, fp bands_ops) WITH (fillfactor = 10, bands = 8);
ANALYZE doc;
SELECT condition, string_agg(compare(condition, kind, filter), ' ') FROM conditions,
	unnest('{true,"tenant IN (0, 2, 5)",tenant IS NULL}'::text[]) filter GROUP BY condition ORDER BY condition;
SET work_mem = '64kB';
SELECT filter, compare('fp ~~~ $q', '~~~', filter) FROM unnest('{true,"tenant IN (0, 2, 5)"}'::text[]) filter;
RESET work_mem;
UPDATE doc SET tenant = id % 700;
VACUUM doc;
SELECT filter, compare('fp ~~@ ball($q, 8, 4)', '@@', filter) FROM unnest('{true,"tenant IN (0, 2, 5)"}'::text[]) filter;
SELECT simhash_index_check('doc_tenant_fp', true);
REINDEX INDEX doc_tenant_fp;
SELECT filter, compare('fp ~-~ $q', '~-~', filter) FROM unnest('{true,"tenant IN (0, 2, 5)"}'::text[]) filter;
SELECT simhash_index_check('doc_tenant_fp', true);
DROP INDEX doc_tenant_fp;

--
-- A constraint
--
CREATE TABLE guarded (id int, tenant int, fp simhash_bits(512), EXCLUDE USING simhash (tenant WITH =, fp bands_ops WITH ~~~));
INSERT INTO guarded SELECT id, tenant % 2, fp FROM doc ORDER BY id ON CONFLICT DO NOTHING;
SELECT count(*) > 100 AS many, (SELECT count(*) FROM guarded a, guarded b WHERE a.id < b.id AND a.tenant = b.tenant AND like_307(a.fp, b.fp)) AS conflicts
FROM guarded;
SELECT state FROM attempt('INSERT INTO guarded SELECT id, tenant, fp FROM guarded WHERE fp IS NOT NULL LIMIT 1');
DO $$
BEGIN
	FOR i IN 1 .. 300 LOOP
		INSERT INTO guarded VALUES (-i, 50, made(7, 0));
		DELETE FROM guarded WHERE id = -i;
	END LOOP;
END $$;
SELECT simhash_index_check('guarded_tenant_fp_excl', true);

--
-- Options and classes
--
SELECT o, a.* FROM unnest(ARRAY['blocks = 4', 'distance = 3', 'bands = 9', 'bands = 4', 'bands = 5', 'bands = 65']) o,
	attempt(format('CREATE INDEX other ON doc USING simhash (fp bands_ops) WITH (%s)', o)) a;
DROP INDEX other;
SELECT * FROM attempt('CREATE INDEX other ON doc USING simhash (fp) WITH (bands = 4)');
-- an operator of the family that compares more
CREATE FUNCTION like_800(simhash_bits, simhash_bits) RETURNS boolean LANGUAGE plpgsql IMMUTABLE STRICT AS 'BEGIN RETURN simhash_share_band($1, $2, 0); END';
CREATE OPERATOR ~=~ (LEFTARG = simhash_bits, RIGHTARG = simhash_bits, FUNCTION = like_800);
ALTER OPERATOR FAMILY bands_ops USING simhash ADD OPERATOR 800 ~=~ (simhash_bits, simhash_bits);
CREATE INDEX doc_fp ON doc USING simhash (fp bands_ops);
SELECT compare('fp ~=~ $q', '~=~'), compare('fp ~~@ ball($q, 8, 4)', '@@');
ALTER INDEX doc_fp SET (bands = 8);
SELECT count(*) FROM simhash_index_info('doc_fp');
REINDEX INDEX doc_fp;
SELECT count(*) FROM simhash_index_info('doc_fp');
SELECT compare('fp ~=~ $q', '~=~'), compare('fp ~~@ ball($q, 8, 4)', '@@');
-- what is no band
SELECT a.* FROM unnest(ARRAY[$$INSERT INTO doc VALUES (1, 1, repeat('ff', 64)::simhash_bits)$$,
	$$SELECT id FROM doc WHERE fp ~~~ repeat('ff', 64)::simhash_bits$$,
	$$SELECT id FROM doc WHERE fp ~~@ '(00ff,1)'$$,
	$$SELECT id FROM doc WHERE fp ~~@ '(00ffffffffffffff,33)'$$]) s, attempt('SET LOCAL enable_seqscan = off; ' || s) a;
-- classes
CREATE FUNCTION try(operators text, OUT valid boolean, OUT message text) LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE OPERATOR CLASS mine FOR TYPE simhash_bits USING simhash AS %s', operators);
	valid := amvalidate(oid) FROM pg_opclass WHERE opcname = 'mine';
	-- since PostgreSQL 17, with a search path of its own
	message := replace(replace(a.message, 'index_bands_test.', ''), 'public.', '') FROM attempt('CREATE INDEX mine ON doc USING simhash (fp mine)') a;
	DROP OPERATOR FAMILY mine USING simhash CASCADE;
END $$;
CREATE FUNCTION narrow(simhash_bits) RETURNS simhash LANGUAGE plpgsql IMMUTABLE STRICT AS 'BEGIN RETURN 0; END';
CREATE FUNCTION unwidth(simhash_bits) RETURNS simhash_bits LANGUAGE plpgsql IMMUTABLE STRICT AS 'BEGIN RETURN $1; END';
SELECT o, r.* FROM unnest(ARRAY['OPERATOR 1 =, FUNCTION 3 bands_of(simhash_bits)', 'OPERATOR 10 ~~~, FUNCTION 3 bands_of(simhash_bits)',
	'OPERATOR 133 ~~~, FUNCTION 3 bands_of(simhash_bits)', 'OPERATOR 907 ~~~, FUNCTION 3 bands_of(simhash_bits)',
	'OPERATOR 832 ~~~, FUNCTION 3 bands_of(simhash_bits)', 'OPERATOR 307 ~~~, FUNCTION 3 narrow(simhash_bits)',
	'OPERATOR 307 ~~~, FUNCTION 3 unwidth(simhash_bits)',
	'OPERATOR 307 ~~~, FUNCTION 2 bands_of(simhash_bits), FUNCTION 3 bands_of(simhash_bits)']) o, try(o) r;

-- leaves that end with the greatest band hold as many entries as their width allows
CREATE FUNCTION hex6(n int) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT lpad(to_hex(hashint4(n) & 16777215), 6, '0') $$;
CREATE TABLE greatest_bands (tenant int, fp simhash_bits(512));
INSERT INTO greatest_bands SELECT i % 2, decode(string_agg('00' || CASE WHEN n % 10 < 6 THEN 'ffffff' ELSE hex6(n) END ||
	CASE WHEN n % 10 < 1 THEN 'ffffffff' ELSE '00' || hex6(n + 7) END, ''), 'hex')::simhash_bits
FROM generate_series(1, 8000) i, generate_series(1, 8) word, hashint4(i * 8 + word) h, abs(h / 2) n GROUP BY i;
DO $$ BEGIN
	FOR i IN 1 .. 12 LOOP
		CREATE INDEX greatest_fp ON greatest_bands USING simhash (fp bands_ops) WITH (bands = 8);
		CREATE INDEX greatest_tenant_fp ON greatest_bands USING simhash (tenant, fp bands_ops) WITH (bands = 8);
		PERFORM simhash_index_check('greatest_fp', true), simhash_index_check('greatest_tenant_fp', true);
		DROP INDEX greatest_fp, greatest_tenant_fp;
		DELETE FROM greatest_bands WHERE ctid IN (SELECT ctid FROM greatest_bands LIMIT 77);
	END LOOP;
END $$;

--
-- The planner counts the rows of a partial index that a threshold with too few bands compares
--
CREATE TABLE letters AS SELECT i AS id, i % 50 AS tenant, CASE WHEN i % 100 > 0 THEN i END AS keeper, 'letter ' || i || ' of ' || i % 7 AS body FROM generate_series(1, 20000) i;
CREATE INDEX letters_body ON letters USING simhash (body simhash_text_ops) WHERE keeper IS NULL;
ANALYZE letters;
RESET enable_seqscan; RESET enable_indexscan; RESET enable_bitmapscan;
SELECT count(*) FROM plan('SELECT * FROM letters WHERE keeper IS NULL AND simhash_similar(body, ''letter 7 of 7'', 0.6)') line WHERE line ~ '^Index Scan using letters_body';
-- a predicate about the group's column, which the group meets, and one about another column
CREATE INDEX letters_tenant ON letters USING simhash (tenant, body simhash_text_ops) WHERE tenant IN (5, 6);
CREATE INDEX letters_keeper ON letters USING simhash (tenant, body simhash_text_ops) WHERE keeper % 3 = 0;
ANALYZE letters;
-- 400 comparisons, of 17.5 each, and 132: a third of the rows, and a fiftieth of these
SELECT estimate('SELECT * FROM letters WHERE tenant = 5 AND simhash_similar(body, ''letter 7 of 7'', 0.6)', 'Total Cost') BETWEEN 400 * 17.5 AND 800 * 17.5 AS compares_group,
	estimate('SELECT * FROM letters WHERE tenant = 7 AND keeper % 3 = 0 AND simhash_similar(body, ''letter 7 of 7'', 0.6)', 'Total Cost') BETWEEN 100 * 17.5 AND 250 * 17.5 AS compares_third;

SET client_min_messages = warning;
DROP SCHEMA index_bands_test CASCADE;
