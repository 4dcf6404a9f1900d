--
-- Whole tables by indexes of bands: those of texts, and of a class of one's own
--
-- The reference is each row with each by the operator, and the choice row by row.
--
\pset format unaligned
\pset footer off
SET client_min_messages = warning;
CREATE SCHEMA find_bands_test;
SET search_path = find_bands_test, public; SET max_parallel_workers_per_gather = 0;

-- texts of families whose members have some words replaced; many copies of some; empty ones, and nulls
CREATE FUNCTION made(family int, edits int, member int) RETURNS text LANGUAGE sql IMMUTABLE AS $$
	SELECT string_agg('w' || (CASE WHEN w % 30 < edits THEN hashint4(member * 100 + w) ELSE hashint4(family * 100 + w) END & 4095), ' ' ORDER BY w)
	FROM generate_series(1, 30) w
$$;
CREATE TABLE doc (id int PRIMARY KEY, tenant int, body text) WITH (fillfactor = 60);
INSERT INTO doc SELECT i, i % 3, made(i / 10, i % 5, i) FROM generate_series(1, 300) i;
INSERT INTO doc SELECT i, i % 4, made(i % 7, 0, 0) FROM generate_series(601, 670) i;
-- and others as near as equal ones
INSERT INTO doc SELECT i, i % 3, CASE WHEN i % 20 < 10 THEN upper(made(-5, 0, 0)) ELSE made(-5, 0, 0) END FROM generate_series(400, 439) i;
INSERT INTO doc VALUES (701, 1, ''), (702, 1, ' .. '), (703, 1, NULL), (704, 1, NULL), (705, 1, 'One'), (706, 1, 'one'), (707, 1, 'one'),
	(708, NULL, 'one'), (709, NULL, 'one'), (710, 2, 'one two'), (711, 2, 'two one'), (712, 1, 'one two');
CREATE TABLE pair (a int, b int, s float8);
CREATE PROCEDURE expect(condition text, nearness text) LANGUAGE plpgsql AS $$
BEGIN
	TRUNCATE pair;
	EXECUTE format('INSERT INTO pair SELECT a.id, b.id, %s FROM doc a JOIN doc b ON a.id <> b.id AND %s', nearness, condition);
	ANALYZE pair;
END $$;
-- the rows that are not kept, with the keepers of the greatest nearness, and then the first
CREATE FUNCTION choose(keep text, condition text DEFAULT 'true') RETURNS TABLE (duplicate int, keeper int, similarity float8)
LANGUAGE plpgsql AS $$
DECLARE
	kept int[] = '{}';
	row record;
BEGIN
	FOR row IN EXECUTE format('SELECT id FROM doc ORDER BY %s', keep) LOOP
		duplicate := row.id;
		EXECUTE format('SELECT b, s FROM pair WHERE a = $1 AND b = ANY ($2) AND (%s) ORDER BY s DESC, array_position($2, b) LIMIT 1', condition)
			INTO keeper, similarity USING row.id, kept;
		IF keeper IS NULL THEN
			kept := kept || row.id;
		ELSE
			RETURN NEXT;
		END IF;
	END LOOP;
END $$;
CREATE FUNCTION components(condition text DEFAULT 'true') RETURNS TABLE (id int, first int, size bigint) LANGUAGE plpgsql AS $$
BEGIN
	RETURN QUERY EXECUTE format('SELECT member::int, component::int, size FROM simhash_components(
		ARRAY(SELECT a::bigint FROM pair WHERE %1$s ORDER BY a, b), ARRAY(SELECT b::bigint FROM pair WHERE %1$s ORDER BY a, b))', condition);
END $$;
-- what each function finds, and the difference, if there is any
CREATE FUNCTION compare(index text, arguments text DEFAULT '', same text DEFAULT NULL, keep text DEFAULT 'id', tab text DEFAULT 'doc',
	OUT pairs text, OUT clusters text, OUT duplicates text) LANGUAGE plpgsql AS $$
DECLARE
	given text := format('%L', index) || arguments;
	more text := CASE WHEN same IS NOT NULL THEN format(', same => %L', same) ELSE '' END;
	condition text := coalesce(replace(replace(same, 'a.id', 'a'), 'b.id', 'b'), 'true');
	found record;
BEGIN
	SELECT * INTO found FROM compare_rows(format('SELECT least(x.id, y.id), greatest(x.id, y.id), similarity FROM simhash_find_all(%s) f
		JOIN %2$s x ON x.ctid = f.a AND x.tableoid = a_table JOIN %2$s y ON y.ctid = f.b AND y.tableoid = b_table', given, tab),
		'SELECT a, b, s FROM pair WHERE a < b');
	pairs := found;
	SELECT * INTO found FROM compare_rows(format('SELECT id, min(id) OVER (PARTITION BY cluster), size FROM simhash_find_clusters(%s)
		JOIN %s x ON x.ctid = member AND x.tableoid = member_table', given || more, tab),
		format('SELECT * FROM components(%L)', condition));
	clusters := found;
	SELECT * INTO found FROM compare_rows(format('SELECT x.id, y.id, similarity FROM simhash_find_duplicates(%s) f
		JOIN %2$s x ON x.ctid = duplicate AND x.tableoid = duplicate_table JOIN %2$s y ON y.ctid = keeper AND y.tableoid = keeper_table',
		given || more || format(', keep => %L', keep), tab), format('SELECT * FROM choose(%L, %L)', keep, condition));
	duplicates := found;
END $$;

CREATE INDEX doc_body ON doc USING simhash (body simhash_text_ops) WITH (bands = 16);
CALL expect('a.body =~= b.body', 'simhash_jaccard(a.body, b.body)');
SELECT count(*) > 1000 AS many, count(*) FILTER (WHERE s < 1) > 100 AS edited FROM pair;
SELECT * FROM compare('doc_body');
SELECT * FROM compare('doc_body', keep => 'hashint4(id), id');
SELECT * FROM compare('doc_body', same => '(a.id - b.id) % 2 = 0');
SELECT duplicates FROM compare('doc_body', same => '(a.id - b.id) % 3 = 1');
SELECT count(*) = count(a_table) + count(a_fp) + count(b_fp) + count(distance) AS others_null FROM simhash_find_all('doc_body');
SELECT count(*) > 0 AND count(*) = count(*) - count(fp) AS others_null FROM simhash_find_clusters('doc_body');
SELECT count(*) > 0 AND count(*) = count(*) - count(distance) AS others_null FROM simhash_find_duplicates('doc_body');
CALL expect('simhash_similar(a.body, b.body, 0.6)', 'simhash_jaccard(a.body, b.body)');
SELECT * FROM compare('doc_body', ', similarity => 0.6');
CALL expect('simhash_similar(a.body, b.body, 1)', 'simhash_jaccard(a.body, b.body)');
SELECT * FROM compare('doc_body', ', similarity => 1', keep => 'id DESC');

-- rows that are deleted, inserted and updated, in the page or not
DELETE FROM doc WHERE id % 7 = 0;
UPDATE doc SET tenant = tenant + 1 WHERE id % 11 = 0;
UPDATE doc SET body = made(3, id % 2, id) WHERE id % 50 = 1;
INSERT INTO doc SELECT i, 1, made(3, i % 3, i) FROM generate_series(801, 820) i;
CALL expect('a.body =~= b.body', 'simhash_jaccard(a.body, b.body)');
SELECT * FROM compare('doc_body');
VACUUM doc;
UPDATE doc SET id = -id WHERE id % 13 = 1;
CALL expect('a.body =~= b.body', 'simhash_jaccard(a.body, b.body)');
SELECT * FROM compare('doc_body');
SELECT simhash_index_check('doc_body', true);

-- several columns, and partitions: only rows with equal ones make pairs
CREATE INDEX doc_several ON doc USING simhash (tenant, body simhash_text_ops);
CREATE INDEX doc_some ON doc USING simhash (upper(body || ' and more') simhash_text_ops) WHERE tenant = 1;
CREATE TABLE parted (id int, tenant int, body text) PARTITION BY LIST (tenant);
CREATE TABLE parted_1 (body text, more int, tenant int, id int);
ALTER TABLE parted_1 DROP more;
ALTER TABLE parted ATTACH PARTITION parted_1 FOR VALUES IN (1);
CREATE TABLE parted_2 PARTITION OF parted DEFAULT;
INSERT INTO parted SELECT * FROM doc;
CREATE INDEX parted_body ON parted USING simhash (body simhash_text_ops);
CREATE INDEX parted_several ON parted USING simhash (tenant, body simhash_text_ops);
SELECT * FROM compare('parted_body', tab => 'parted');
CALL expect('a.body =~= b.body AND a.tenant = b.tenant', 'simhash_jaccard(a.body, b.body)');
SELECT * FROM compare('doc_several');
SELECT * FROM compare('doc_several', same => '(a.id - b.id) % 2 = 0');
SELECT * FROM compare('parted_several', tab => 'parted');
CALL expect('upper(a.body || '' and more'') =~= upper(b.body || '' and more'') AND a.tenant = 1 AND b.tenant = 1',
	'simhash_jaccard(upper(a.body || '' and more''), upper(b.body || '' and more''))');
SELECT * FROM compare('doc_some');

-- two sides
CREATE TABLE other (id int, tenant int, body text);
INSERT INTO other SELECT id, tenant + id % 2, CASE WHEN id % 3 = 0 THEN body || ' and more' ELSE body END FROM doc WHERE id % 4 < 2;
CREATE INDEX other_body ON other USING simhash (body simhash_text_ops) WITH (bands = 12);
CREATE INDEX other_several ON other USING simhash (tenant, body simhash_text_ops);
SELECT c.* FROM (VALUES ('doc_body', 'other_body', 'NULL', 'x.body =~= y.body'), ('doc_body', 'other_body', '0.7', 'simhash_similar(x.body, y.body, 0.7)'),
	('doc_several', 'other_several', 'NULL', 'x.body =~= y.body AND x.tenant = y.tenant')) v(a, b, similarity, condition),
	compare_rows(format('SELECT x.id, y.id, similarity FROM simhash_find_matches(%L, %L, similarity => %s)
		JOIN doc x ON x.ctid = a JOIN other y ON y.ctid = b', a, b, similarity),
		format('SELECT x.id, y.id, simhash_jaccard(x.body, y.body) FROM doc x JOIN other y ON %s', condition)) c;
SELECT c.* FROM unnest('{doc_body,doc_several}'::text[]) index, compare_rows(format('SELECT query, y.id, similarity
	FROM simhash_find_matches_in_texts(%L, ARRAY(SELECT body FROM other ORDER BY id)) JOIN doc y ON y.ctid = b AND y.tableoid = b_table', index),
	'SELECT q.body, y.id, simhash_jaccard(q.body, y.body) FROM (SELECT DISTINCT body FROM other) q JOIN doc y ON q.body =~= y.body') c;
SELECT c.* FROM compare_rows('SELECT query, y.id, similarity FROM simhash_find_matches_in_texts(''parted_several'',
	ARRAY(SELECT body FROM other ORDER BY id), 0.85) JOIN parted y ON y.ctid = b AND y.tableoid = b_table',
	'SELECT q.body, y.id, simhash_jaccard(q.body, y.body) FROM (SELECT DISTINCT body FROM other) q JOIN doc y ON simhash_similar(q.body, y.body, 0.85)') c;
SELECT count(*) FROM simhash_find_matches_in_texts('doc_body', '{}') UNION ALL SELECT count(*) FROM simhash_find_matches_in_texts('doc_body', NULL)
UNION ALL SELECT count(*) FROM simhash_find_matches_in_texts('doc_body', ARRAY[NULL, '', '..']) UNION ALL
SELECT count(*) - (SELECT count(*) FROM doc WHERE body =~= 'one') FROM simhash_find_matches_in_texts('doc_body', '{{one,one},{NULL,one}}');
SELECT simhash_index_check(index, true) FROM unnest('{doc_several,doc_some,other_body,other_several}'::regclass[]) index;

-- little memory: one text very often, and many pairs
CREATE TABLE often (id int, body text);
INSERT INTO often SELECT i, CASE WHEN i % 3 > 0 THEN made(-1, 0, 0) WHEN i % 1000 = 0 THEN made(-1, i / 1000 % 4, i % 11000) ELSE made(i, 0, 0) END
FROM generate_series(1, 30000) i;
CREATE INDEX often_body ON often USING simhash (body simhash_text_ops);
SET maintenance_work_mem = '1MB';
SELECT count(*) = (SELECT count(*) FROM often WHERE body =~= made(-1, 0, 0)) AS right, count(DISTINCT cluster) FROM simhash_find_clusters('often_body');
SELECT count(*) = (SELECT count(*) - 1 FROM often WHERE body =~= made(-1, 0, 0)) AS right, count(DISTINCT keeper) FROM simhash_find_duplicates('often_body', keep => 'id');
SELECT count(*) = (SELECT count(*) FROM often WHERE body =~= made(-1, 0, 0)) AS right FROM simhash_find_matches_in_texts('often_body', ARRAY[made(-1, 0, 0)]);
INSERT INTO often SELECT i, made(-1, 0, 0) FROM generate_series(1, 20000) i;
-- more rows that are not the first of their text than fit in memory
INSERT INTO often SELECT i, 'repeated ' || made(i % 7000, 3, 0) FROM generate_series(1, 21000) i;
SELECT count(*) = (SELECT count(*) FROM often WHERE body =~= made(-1, 0, 0)) + 21000 AS right, count(DISTINCT cluster)
FROM simhash_find_clusters('often_body');
SELECT count(*) = (SELECT count(*) - 1 FROM often WHERE body =~= made(-1, 0, 0)) + 14000 AS right, count(DISTINCT keeper)
FROM simhash_find_duplicates('often_body', keep => 'id');
SELECT count(*) = (SELECT count(*) - count(DISTINCT body) FROM often) AS right FROM simhash_find_duplicates('often_body', similarity => 1);
DELETE FROM often WHERE body =~= made(-1, 0, 0);
SELECT count(*), count(DISTINCT a), min(similarity), max(similarity) FROM simhash_find_all('often_body');
SELECT simhash_index_check('often_body', true);
RESET maintenance_work_mem;
-- the condition is asked once for each pair of rows
CREATE TABLE alike AS SELECT i AS id, made(-3, 0, 0) AS body, 42::simhash AS fp FROM generate_series(1, 4) i;
CREATE INDEX alike_body ON alike USING simhash (body simhash_text_ops);
CREATE INDEX alike_fp ON alike USING simhash (fp);
CREATE FUNCTION asked(a int, b int) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RAISE WARNING 'asked % %', a, b; RETURN false; END $$;
SELECT count(*) FROM simhash_find_duplicates('alike_body', keep => 'id', same => 'asked(a.id, b.id)');
SELECT count(*) FROM simhash_find_duplicates('alike_fp', keep => 'id', same => 'asked(a.id, b.id)');
SELECT count(*) FROM simhash_find_clusters('alike_body', same => 'asked(a.id, b.id)');
SET maintenance_work_mem = '1MB';
CREATE TABLE form (id int, tenant int, body text);
INSERT INTO form SELECT i, i % 2, made(-2, 1, i) FROM generate_series(1, 400) i;
CREATE INDEX form_body ON form USING simhash (body simhash_text_ops);
CREATE INDEX form_tenant_body ON form USING simhash (tenant, body simhash_text_ops);
SELECT index, count(*) AS pairs, count(DISTINCT (a, b)) = count(*) AS once, min(similarity) >= 0.8 AS near
FROM unnest('{form_body,form_tenant_body}'::text[]) index, simhash_find_all(index::regclass) GROUP BY index ORDER BY index;
SELECT simhash_index_check('form_tenant_body', true);
RESET maintenance_work_mem;
SELECT simhash_index_check('often_body', true);

--
-- A class of one's own, of values that are bands themselves
--
CREATE DOMAIN bands_8 AS simhash_bits(512);
CREATE FUNCTION bands_of(simhash_bits) RETURNS bands_8 LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS 'BEGIN RETURN $1; END';
CREATE FUNCTION like_307(simhash_bits, simhash_bits) RETURNS boolean LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1000
	AS 'BEGIN RETURN simhash_share_band($1, $2, 7, 3); END';
CREATE OPERATOR ~~~ (LEFTARG = simhash_bits, RIGHTARG = simhash_bits, FUNCTION = like_307, COMMUTATOR = ~~~);
CREATE OPERATOR CLASS bands_ops FOR TYPE simhash_bits USING simhash AS OPERATOR 307 ~~~, FUNCTION 3 bands_of(simhash_bits);
-- Value number i of a cluster: a word has the prefix of the cluster with a probability of a half, and all bits of the rest but few.
CREATE FUNCTION made_bands(cluster bigint, i bigint) RETURNS simhash_bits LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
	SELECT string_agg(int8send((hashint8extended(CASE WHEN i = 0 OR h & 1 = 0 THEN cluster ELSE -i END, t) & 16777215) << 32 |
		(hashint8extended(cluster, 100 + t) & 4294967295 # CASE WHEN i = 0 THEN 0 ELSE
			(SELECT coalesce(bit_or(1::bigint << (h >> 6 * b + 4 & 31)::int), 0) FROM generate_series(1, (h >> 1 & 7)::int) b) END)),
		'' ORDER BY t)::simhash_bits
	FROM (SELECT t, hashint8extended(i, 1000 + t) AS h FROM generate_series(1, 8) t) w
$$;
DROP TABLE doc CASCADE;
CREATE TABLE doc (id int, tenant int, fp simhash_bits(512));
INSERT INTO doc SELECT i, i % 3, made_bands(i % 20, i % 200 / 20 + 20 * (i % 20)) FROM generate_series(1, 400) i;
CREATE INDEX doc_fp ON doc USING simhash (fp bands_ops);
CALL expect('a.fp ~~~ b.fp', 'NULL');
SELECT count(*) > 1000 AS many FROM pair;
SELECT * FROM compare('doc_fp');
SELECT * FROM compare('doc_fp', same => '(a.id - b.id) % 2 = 0', keep => 'hashint4(id), id');
CREATE INDEX doc_tenant_fp ON doc USING simhash (tenant, fp bands_ops) WITH (bands = 8);
CALL expect('a.fp ~~~ b.fp AND a.tenant = b.tenant', 'NULL');
SELECT * FROM compare('doc_tenant_fp');
SELECT simhash_index_check(index, true) FROM unnest('{doc_fp,doc_tenant_fp}'::regclass[]) index;

-- one prefix in the first table: a bucket beyond memory, where neighbors have near words, equal words, or equal values
CREATE DOMAIN bands_2 AS simhash_bits(128);
CREATE FUNCTION two_bands(simhash_bits) RETURNS bands_2 LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS 'BEGIN RETURN $1; END';
CREATE FUNCTION like_201(simhash_bits, simhash_bits) RETURNS boolean LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1000
	AS 'BEGIN RETURN simhash_share_band($1, $2, 1, 2); END';
CREATE OPERATOR ~~~~ (LEFTARG = simhash_bits, RIGHTARG = simhash_bits, FUNCTION = like_201, COMMUTATOR = ~~~~);
CREATE OPERATOR CLASS two_bands_ops FOR TYPE simhash_bits USING simhash AS OPERATOR 201 ~~~~, FUNCTION 3 two_bands(simhash_bits);
CREATE TABLE large (id int, word bigint, fp simhash_bits(128));
INSERT INTO large SELECT i, word, (int8send(5::bigint << 32 | word) || int8send(hashint8extended(CASE WHEN i / 2 % 3 < 2 THEN i ELSE -i / 2 END, 1) & (1::bigint << 56) - 1))::simhash_bits
FROM generate_series(1, 26000) i,
	LATERAL (SELECT hashint8extended(i / 2, 0) & 4294967295 # CASE WHEN i / 2 % 3 = 0 AND i % 2 = 0 THEN 1::bigint << i % 32 ELSE 0 END AS word) w;
CREATE INDEX large_fp ON large USING simhash (fp two_bands_ops);
CREATE TABLE large_pair AS SELECT a.id AS a, b.id AS b FROM large a CROSS JOIN (SELECT 0::bigint AS flipped UNION ALL SELECT 1::bigint << i FROM generate_series(0, 31) i) f
JOIN large b ON b.word = a.word # flipped AND b.id > a.id;
SET maintenance_work_mem = '1MB';
SELECT * FROM compare_rows('SELECT least(x.id, y.id), greatest(x.id, y.id) FROM simhash_find_all(''large_fp'') f JOIN large x ON x.ctid = f.a JOIN large y ON y.ctid = f.b',
	'TABLE large_pair');
CREATE TABLE large_2 AS TABLE large;
CREATE INDEX large_2_fp ON large_2 USING simhash (fp two_bands_ops);
SELECT * FROM compare_rows('SELECT x.id, y.id FROM simhash_find_matches(''large_fp'', ''large_2_fp'') f JOIN large x ON x.ctid = f.a JOIN large_2 y ON y.ctid = f.b',
	'SELECT a, b FROM large_pair UNION ALL SELECT b, a FROM large_pair UNION ALL SELECT id, id FROM large');
RESET maintenance_work_mem;
SELECT simhash_index_check(index, true) FROM unnest('{large_fp,large_2_fp}'::regclass[]) index;

-- texts by an operator class of one's own
CREATE FUNCTION own_bands(text) RETURNS bands_8 LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS 'BEGIN RETURN public.simhash_bands($1, bands => 8); END';
CREATE FUNCTION like_text(text, text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
	AS 'BEGIN RETURN simhash_share_band(own_bands($1), own_bands($2), 3, 4); END';
CREATE OPERATOR ~~~~ (LEFTARG = text, RIGHTARG = text, FUNCTION = like_text, COMMUTATOR = ~~~~);
CREATE OPERATOR CLASS own_ops FOR TYPE text USING simhash AS OPERATOR 403 ~~~~, FUNCTION 3 own_bands(text);
CREATE INDEX other_own ON other USING simhash (body own_ops);
SELECT c.* FROM compare_rows('SELECT query, y.id, similarity FROM simhash_find_matches_in_texts(''other_own'', ARRAY(SELECT body FROM other WHERE id % 5 = 0))
	JOIN other y ON y.ctid = b', 'SELECT q.body, y.id, NULL::float8 FROM (SELECT DISTINCT body FROM other WHERE id % 5 = 0) q JOIN other y ON q.body ~~~~ y.body') c;

-- errors
CREATE TABLE none (a int, b text, fp simhash, data bytea, bits simhash_bits(512));
CREATE OPERATOR CLASS no_operator_ops FOR TYPE simhash_bits USING simhash AS FUNCTION 3 bands_of(simhash_bits);
CREATE INDEX none_fp ON none USING simhash (fp);
CREATE INDEX none_b ON none USING simhash (b simhash_text_ops) WITH (bands = 9);
CREATE INDEX none_data ON none USING simhash (data simhash_bytea_ops);
CREATE INDEX none_bits ON none USING simhash (bits no_operator_ops);
SELECT a.* FROM unnest(ARRAY[$$find_all('other_several', 3)$$, $$find_clusters('other_body', 3)$$, $$find_all('other_body', similarity => 0.65)$$,
	$$find_duplicates('other_body', similarity => 0.5)$$, $$find_matches('other_body', 'none_b', similarity => 0.7)$$, $$find_all('none_b', similarity => 0.7)$$,
	$$find_all('none_b', similarity => 0.4)$$, $$find_all('none_b', similarity => 'NaN')$$, $$find_all('none_b', similarity => 1.1)$$,
	$$find_matches_in_texts('none_b', '{a}', 0.49)$$, $$find_matches_in_texts('none_b', '{a}', 0.7)$$, $$find_all('doc_fp', similarity => 0.8)$$,
	$$find_all('doc_fp', 3)$$, $$find_all('none_bits')$$, $$find_matches('none_data', 'none_b')$$, $$find_matches('none_fp', 'none_b')$$,
	$$find_matches_in('none_b', '{0}')$$, $$find_matches_in_bits('none_b', '{00}')$$, $$find_matches_in_bits('doc_fp', '{00}')$$,
	$$find_matches_in_texts('none_fp', '{a}')$$, $$find_matches_in_texts('none_data', '{a}')$$, $$find_matches_in_texts('doc_fp', '{a}')$$,
	$$find_matches_in_texts('none', '{a}')$$, $$find_matches_in_texts('other_own', '{a}', 0.8)$$, $$find_all('none_b', 3, 0.8)$$]) call,
	attempt('SELECT simhash_' || call) a;
ALTER INDEX none_b SET (bands = 11);
SELECT * FROM attempt($$SELECT simhash_find_all('none_b', similarity => 0.7)$$);
REINDEX INDEX none_b;
SELECT count(*) FROM simhash_find_all('none_b', similarity => 0.7) UNION ALL SELECT count(*) FROM simhash_find_clusters('none_data', similarity => 0.85);
-- row security, and privileges
CREATE ROLE regress_simhash_reader;
GRANT USAGE ON SCHEMA find_bands_test TO regress_simhash_reader;
SET ROLE regress_simhash_reader;
SELECT * FROM attempt($$SELECT simhash_find_matches_in_texts('none_b', '{a}')$$);
RESET ROLE;
GRANT SELECT ON none TO regress_simhash_reader;
ALTER TABLE none ENABLE ROW LEVEL SECURITY;
SET ROLE regress_simhash_reader;
SELECT * FROM attempt($$SELECT simhash_find_matches_in_texts('none_b', '{a}')$$);
RESET ROLE;

DROP SCHEMA find_bands_test CASCADE;
DROP ROLE regress_simhash_reader;
