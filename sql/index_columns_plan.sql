--
-- Indexes of several columns: what can be one, and when the planner takes it
--
\pset format unaligned
\pset footer off
SET client_min_messages = warning;
CREATE SCHEMA index_columns_plan_test;
SET search_path = index_columns_plan_test, public; SET max_parallel_workers_per_gather = 0;

--
-- The last column is the fingerprint
--
CREATE TABLE docs (id int, tenant int, lang text, account bigint, at timestamp, address macaddr, fp simhash,
	other simhash);
CREATE INDEX ON docs USING simhash (fp, tenant);
CREATE INDEX ON docs USING simhash (tenant);
CREATE INDEX ON docs USING simhash (fp, at);
CREATE INDEX ON docs USING simhash (fp, account);
CREATE INDEX ON docs USING simhash (address, fp);
ALTER TABLE docs ADD EXCLUDE USING simhash (fp WITH %, lang WITH =);
ALTER TABLE docs ADD EXCLUDE USING simhash (fp WITH %, account WITH =);
ALTER TABLE docs ADD EXCLUDE USING simhash (fp WITH %, other WITH %);
-- a class of one's own, for another radius, knows no hash
CREATE OPERATOR CLASS bare_ops FOR TYPE simhash USING simhash AS OPERATOR 1 =, OPERATOR 4 %;
CREATE INDEX ON docs USING simhash (other bare_ops, fp);
CREATE INDEX ON docs USING simhash (tenant, fp bare_ops);
-- one that knows nothing but equality is none of fingerprints
CREATE OPERATOR CLASS equal_ops FOR TYPE simhash USING simhash AS OPERATOR 1 =,
	FUNCTION 1 hashint8extended(bigint, bigint);
CREATE INDEX ON docs USING simhash (tenant, fp equal_ops);
CREATE INDEX ON docs USING simhash (other equal_ops, fp);
-- of a partitioned table when there is a partition
CREATE TABLE parts (tenant int, fp simhash) PARTITION BY LIST (tenant);
CREATE INDEX ON parts USING simhash (fp, tenant);
CREATE TABLE part PARTITION OF parts FOR VALUES IN (1);
DROP TABLE parts;
-- unlogged, temporary, and with options as ever
CREATE UNLOGGED TABLE unlogged (tenant int, fp simhash);
CREATE INDEX ON unlogged USING simhash (fp, tenant);
CREATE INDEX ON unlogged USING simhash (tenant, fp) WITH (blocks = 6, distance = 3, fillfactor = 70);
CREATE INDEX ON unlogged USING simhash (tenant, fp) WITH (blocks = 2, distance = 3);
CREATE INDEX ON unlogged USING simhash (tenant, fp) INCLUDE (tenant);
CREATE UNIQUE INDEX ON unlogged USING simhash (tenant, fp);
INSERT INTO unlogged SELECT i % 3, i FROM generate_series(1, 10) i;
SELECT simhash_index_check('unlogged_tenant_fp_idx', true) \gset
DROP TABLE unlogged;
SELECT indexrelid::regclass, pg_get_indexdef(indexrelid) FROM pg_index WHERE indrelid = 'docs'::regclass
ORDER BY 1::text COLLATE "C";

--
-- Properties: order by the distance from the last one
--
SELECT no, p, pg_index_column_has_property('docs_tenant_fp_idx', no, p)
FROM generate_series(0, 3) no, unnest('{distance_orderable,orderable,returnable,search_array,search_nulls}'::text[]) p;
SELECT no, pg_index_column_has_property('docs_other_fp_idx', no, 'distance_orderable') FROM generate_series(1, 2) no;
SELECT pg_indexam_has_property(oid, 'can_multi_col'), pg_indexam_has_property(oid, 'can_include') FROM pg_am
WHERE amname = 'simhash';
DROP INDEX docs_tenant_fp_idx, docs_other_fp_idx;

--
-- Operator classes that are not right
--
CREATE FUNCTION hash_seedless(macaddr) RETURNS bigint LANGUAGE sql IMMUTABLE STRICT AS 'SELECT 0::bigint';
CREATE FUNCTION hash_short(macaddr, bigint) RETURNS integer LANGUAGE sql IMMUTABLE STRICT AS 'SELECT 0';
CREATE FUNCTION near_text(text, text) RETURNS boolean LANGUAGE sql IMMUTABLE STRICT AS 'SELECT true';
CREATE OPERATOR ~~~~ (LEFTARG = text, RIGHTARG = text, FUNCTION = near_text);
CREATE FUNCTION is_valid(class text, members text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	result boolean;
BEGIN
	EXECUTE format('CREATE OPERATOR CLASS mine FOR TYPE %s USING simhash AS %s', class, members);
	SET LOCAL client_min_messages = info;
	SELECT amvalidate(oid) INTO result FROM pg_opclass WHERE opcname = 'mine';
	SET LOCAL client_min_messages = warning;
	DROP OPERATOR FAMILY mine USING simhash;
	RETURN result;
END $$;
SELECT no, is_valid(class, members) FROM (VALUES
	(1, 'macaddr', 'OPERATOR 1 =, FUNCTION 1 hashmacaddrextended(macaddr, bigint)'),
	(2, 'macaddr', 'OPERATOR 1 ='),
	(3, 'macaddr', 'FUNCTION 1 hashmacaddrextended(macaddr, bigint)'),
	(4, 'macaddr', 'OPERATOR 1 <, OPERATOR 2 =, FUNCTION 1 hashmacaddrextended(macaddr, bigint)'),
	(5, 'macaddr', 'OPERATOR 1 =, FUNCTION 1 hashmacaddr(macaddr)'),
	(6, 'macaddr', 'OPERATOR 1 =, FUNCTION 1 hash_seedless(macaddr)'),
	(7, 'macaddr', 'OPERATOR 1 =, FUNCTION 1 hash_short(macaddr, bigint)'),
	(8, 'macaddr', 'OPERATOR 1 =, FUNCTION 1 hashinetextended(inet, bigint)'),
	(9, 'macaddr', 'OPERATOR 1 =, FUNCTION 1 (macaddr, inet) hashmacaddrextended(macaddr, bigint)'),
	(10, 'integer', 'OPERATOR 1 =, OPERATOR 1 = (integer, bigint), FUNCTION 1 hashint4extended(integer, bigint)'),
	(11, 'text', 'OPERATOR 1 =, OPERATOR 4 ~~~~, FUNCTION 1 hashtextextended(text, bigint)'),
	(12, 'simhash', 'OPERATOR 1 =, OPERATOR 4 %'),
	(13, 'simhash', 'OPERATOR 1 =, OPERATOR 4 %, FUNCTION 1 hashint8extended(bigint, bigint)'),
	(14, 'simhash', 'OPERATOR 4 %, OPERATOR 1 = (bigint, integer), FUNCTION 1 hashint8extended(bigint, bigint)'),
	(15, 'simhash', 'OPERATOR 4 %, OPERATOR 1 = (integer, bigint)')) v(no, class, members);

--
-- Which index, and which part of it
--
INSERT INTO docs (id, tenant, lang, account, fp, other)
SELECT i, i % 1000, (ARRAY['de', 'en', 'fr'])[i % 3 + 1], i % 50, bits(i::text), bits((i % 10)::text)
FROM generate_series(1, 20000) i;
CREATE INDEX docs_fp ON docs USING simhash (fp);
CREATE INDEX docs_tenant_fp ON docs USING simhash (tenant, fp);
CREATE INDEX docs_tenant_lang_fp ON docs USING simhash (tenant, lang, fp);
ANALYZE docs;
-- the name of the index in the plan
CREATE FUNCTION index_of(query text) RETURNS text LANGUAGE sql AS $$
	SELECT coalesce(string_agg(DISTINCT name, ', '), 'none')
	FROM plan(query) line, substring(line, '(?:Index Scan using|Bitmap Index Scan on) (\w+)') name
	WHERE name IS NOT NULL
$$;
SELECT q, index_of('SELECT id FROM docs WHERE ' || q) FROM unnest(ARRAY[
	'tenant = 5 AND fp <~> 0 <= 3',
	'tenant = ANY (''{5,6,7}'') AND fp <~> 0 <= 3',
	'tenant = ANY (''{5,6,7}'') AND fp % ANY (''{1,2,3}'')',
	'tenant IS NULL AND fp <~> 0 <= 3',
	'tenant = 5 AND lang = ''de'' AND fp <~> 0 <= 3',
	'tenant = 5 AND lang = ANY (''{de,en}'') AND fp <~> 0 <= 20',
	'tenant = 5 ORDER BY fp <~> 0 LIMIT 3',
	'tenant = 5 AND fp <~> 0 <= 30 ORDER BY fp <~> 0 LIMIT 3',
	-- not bound
	'fp <~> 0 <= 3',
	'lang = ''de'' AND fp <~> 0 <= 3',
	'tenant > 5 AND fp <~> 0 <= 3',
	'tenant IS NOT NULL AND fp <~> 0 <= 3']) q;
SELECT plan(query) FROM (VALUES ('SELECT id FROM docs WHERE tenant = 5 ORDER BY fp <~> 0 LIMIT 3'),
	('SELECT d.id FROM (VALUES (1), (2)) v (t) CROSS JOIN LATERAL (SELECT id FROM docs
	WHERE tenant = t ORDER BY fp <~> 0 LIMIT 3) d'), ('SELECT id FROM docs a WHERE EXISTS (SELECT FROM docs b
	WHERE b.tenant = a.tenant AND b.fp <~> a.fp <= 3 AND b.id < a.id) AND id = 7')) v(query);
PREPARE look (int, simhash) AS SELECT id FROM docs WHERE tenant = $1 AND fp <~> $2 <= 3;
SET plan_cache_mode = force_generic_plan;
SELECT plan('EXECUTE look (5, 0)');
RESET plan_cache_mode;
DEALLOCATE look;

-- Costs: the estimate of a path, once it is the only one.
CREATE FUNCTION cost_of(query text) RETURNS float8 LANGUAGE sql
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off AS $$
	SELECT estimate(query, 'Total Cost')
$$;
DROP INDEX docs_fp, docs_tenant_lang_fp;
CREATE VIEW costs AS SELECT
	cost_of('SELECT id FROM docs WHERE tenant = 5 AND fp <~> 0 <= 3') AS one,
	cost_of('SELECT id FROM docs WHERE tenant = ANY (''{5,6,7,8}'') AND fp <~> 0 <= 3') AS four,
	cost_of('SELECT id FROM docs WHERE tenant IS NULL AND fp <~> 0 <= 3') AS null_tenant,
	cost_of('SELECT id FROM docs WHERE fp <~> 0 <= 3') AS unbound,
	cost_of('SELECT id FROM docs WHERE tenant = 5 AND fp <~> 0 <= 30') AS wide,
	cost_of('SELECT id FROM docs WHERE fp <~> 0 <= 30') AS wide_unbound,
	cost_of('SELECT id FROM docs WHERE tenant = 5 ORDER BY fp <~> 0') AS ordered,
	cost_of('SELECT id FROM docs ORDER BY fp <~> 0') AS ordered_unbound;
SELECT four BETWEEN 2 * one AND 5 * one, null_tenant < 2 * one, unbound > 4 * one, wide < wide_unbound / 4,
	ordered < ordered_unbound / 10 FROM costs;
-- where all groups are read, rows are fetched that the other columns then rule out
CREATE INDEX docs_two ON docs USING simhash (tenant, account, fp);
DROP INDEX docs_tenant_fp;
SELECT cost_of('SELECT id FROM docs WHERE tenant = 5') > 0.9 * cost_of('SELECT id FROM docs WHERE fp IS NOT NULL'),
	index_of('SELECT id FROM docs WHERE tenant = 5'),
	index_of('SELECT id FROM docs WHERE tenant = 5 AND account = 5');
-- as where the values make more than 100,000 groups
SELECT n, cost_of(format('SELECT id FROM docs WHERE tenant = ANY (%1$L) AND account = ANY (%1$L)', array_agg(5000 + i))) >
	0.9 * cost_of('SELECT id FROM docs WHERE fp IS NOT NULL') AS all_read
FROM unnest('{316,317}'::int[]) n, generate_series(1, n) i GROUP BY n ORDER BY n;
SET enable_seqscan = off;
-- A fingerprint before the last column is searched for equal ones.  Other
-- conditions on it are checked with the row, and there is no order by it.
DROP INDEX docs_two;
CREATE INDEX docs_other_fp ON docs USING simhash (other, fp);
SELECT plan('SELECT id FROM docs WHERE other = 5 AND fp <~> 0 <= 3');
SET enable_bitmapscan = off;
SELECT plan('SELECT id FROM docs WHERE other <~> 5 <= 3 AND fp <~> 0 <= 3');
RESET enable_bitmapscan;
SELECT * FROM (SELECT count(*), count(*) FILTER (WHERE other <~> bits('4') <= 3)
	FROM docs WHERE other % bits('4') AND fp <~> 0 <= 28) a,
	(SELECT count(*) FROM docs WHERE distance(other::bigint, bits('4')) <= 3 AND distance(fp::bigint, 0) <= 28) b,
	(SELECT plan_of('SELECT id FROM docs ORDER BY other <~> 77 LIMIT 5000') ~ 'Order By' AS ordered) c,
	(WITH by_index AS (SELECT id, other <~> 77 AS d FROM docs ORDER BY other <~> 77 LIMIT 5000)
	SELECT count(*), count(*) FILTER (WHERE b.d <> distance(other::bigint, 77)),
	max(b.d) = (SELECT max(d) FROM (SELECT distance(other::bigint, 77) AS d FROM docs ORDER BY 1 LIMIT 5000) s)
	FROM by_index b JOIN docs USING (id)) d;
RESET enable_seqscan;
SELECT index_of('SELECT id FROM docs ORDER BY other <~> 77 LIMIT 10');

DROP SCHEMA index_columns_plan_test CASCADE;
