--
-- What thresholds would do: simhash_advise
--
-- A sample of as many rows as there are has all of them, and then each number is known by
-- comparing each row with each.
--
\pset format unaligned
\pset footer off
\pset null (none)
SET client_min_messages = warning;
CREATE SCHEMA advise_test;
SET search_path = advise_test, public; SET max_parallel_workers_per_gather = 0;

CREATE FUNCTION made(family int, edits int, member int) RETURNS text LANGUAGE sql IMMUTABLE AS $$
	SELECT string_agg('w' || (CASE WHEN w % 30 < edits THEN hashint4(member * 100 + w) ELSE hashint4(family * 100 + w) END & 4095), ' ' ORDER BY w)
	FROM generate_series(1, 30) w
$$;
CREATE TABLE doc (id int, tenant int, body text, data bytea, fp simhash, wide simhash_bits(256)) PARTITION BY RANGE (id);
CREATE TABLE doc_1 PARTITION OF doc FOR VALUES FROM (0) TO (100);
-- columns in another order
CREATE TABLE doc_2 (wide simhash_bits(256), gone int, fp simhash, data bytea, body text, tenant int, id int);
ALTER TABLE doc_2 DROP COLUMN gone;
ALTER TABLE doc ATTACH PARTITION doc_2 FOR VALUES FROM (100) TO (1000);
INSERT INTO doc (id, tenant, body) SELECT i, i % 3, made(i / 10, i % 7, i) FROM generate_series(1, 120) i;
INSERT INTO doc (id, tenant, body) SELECT i, i % 4, made(i % 7, 0, 0) FROM generate_series(301, 330) i;
INSERT INTO doc (id, tenant, body) VALUES (401, 1, ''), (402, 1, NULL), (403, NULL, made(1, 0, 0)), (404, NULL, made(1, 0, 0)), (405, 1, 'one'), (406, 1, 'ONE');
UPDATE doc SET data = convert_to(body, 'UTF8'), fp = simhash_minhash(body), wide = simhash_minhash_bits(body, 256);
DELETE FROM doc WHERE id % 50 = 0;
CREATE TABLE copy AS SELECT * FROM doc;

-- the thresholds at which the advice differs from the truth, of a condition in which $1 is the threshold
CREATE FUNCTION wrong(index text, condition text, tab text DEFAULT 'copy', rows text DEFAULT 'true', OUT steps bigint, OUT sampled bigint,
	OUT loosest text, OUT wrong text) LANGUAGE plpgsql AS $$
DECLARE
	step record;
	truth record;
BEGIN
	steps := 0;
	FOR step IN SELECT * FROM simhash_advise(index::regclass, 1000000) LOOP
		EXECUTE format('SELECT count(*) AS n, avg((m > 0)::int) AS share, avg(1 - 1.0 / (1 + m)) AS removed, 1 + max(m) AS largest
			FROM (SELECT count(b.ctid) AS m FROM %1$s a LEFT JOIN %1$s b ON (a.tableoid, a.ctid) <> (b.tableoid, b.ctid) AND %3$s AND %2$s WHERE %4$s GROUP BY a.tableoid, a.ctid) x',
			tab, condition, replace(rows, 'a.', 'b.'), rows) INTO truth USING coalesce(step.similarity, step.distance);
		steps := steps + 1;
		sampled := step.sampled;
		loosest := concat_ws(' ', coalesce(step.similarity, step.distance), step.with_near_duplicate, step.removed_at_most, step.largest_group);
		IF (step.sampled, step.largest_group, step.at_least) IS DISTINCT FROM (truth.n, truth.largest, false)
			OR abs(step.with_near_duplicate - truth.share) > 0.00006 OR abs(step.removed_at_most - truth.removed) > 0.00006
			OR step.candidates < step.with_near_duplicate - 0.01 THEN
			wrong := concat_ws(' ', wrong, step, truth);
		END IF;
	END LOOP;
END $$;

--
-- Texts and byte strings, in groups, in partitions, by expressions, with a predicate
--
CREATE INDEX copy_body ON copy USING simhash (body simhash_text_ops);
CREATE INDEX copy_32 ON copy USING simhash (body simhash_text_ops) WITH (bands = 32);
CREATE INDEX copy_data ON copy USING simhash (data simhash_bytea_ops) WITH (bands = 12);
CREATE INDEX copy_tenant ON copy USING simhash (tenant, body simhash_text_ops);
CREATE INDEX copy_upper ON copy USING simhash ((tenant % 2), upper(body) simhash_text_ops) WHERE id % 3 > 0 AND tenant < 3;
CREATE INDEX doc_body ON doc USING simhash (body simhash_text_ops) WITH (bands = 16);
CREATE INDEX doc_tenant ON doc USING simhash (tenant, body simhash_text_ops) WHERE id % 3 > 0;
CREATE INDEX copy_words ON copy USING simhash (translate(body, '0123456789', 'abcdefghij') simhash_title_ops);
SELECT * FROM simhash_advise('copy_body');
SELECT index, w.* FROM (VALUES ('copy_body', 'simhash_similar(a.body, b.body, $1)', 'copy', 'true'),
	('copy_32', 'simhash_similar(a.body, b.body, $1)', 'copy', 'true'),
	('copy_data', 'simhash_similar(a.data, b.data, $1)', 'copy', 'true'),
	('copy_tenant', 'a.tenant = b.tenant AND simhash_similar(a.body, b.body, $1)', 'copy', 'true'),
	('copy_upper', 'a.tenant % 2 = b.tenant % 2 AND simhash_similar(a.body, b.body, $1)', 'copy', 'a.id % 3 > 0 AND a.tenant < 3'),
	('copy_words', 'simhash_similar_titles(translate(a.body, ''0123456789'', ''abcdefghij''), translate(b.body, ''0123456789'', ''abcdefghij''), $1)', 'copy', 'true'),
	('doc_body', 'simhash_similar(a.body, b.body, $1)', 'doc', 'true'),
	('doc_tenant', 'a.tenant = b.tenant AND simhash_similar(a.body, b.body, $1)', 'doc', 'a.id % 3 > 0')) v(index, condition, tab, rows),
	wrong(index, condition, tab, rows) w;

--
-- Fingerprints: by distance; and what computes them, or has an operator, by one threshold
--
CREATE INDEX copy_fp ON copy USING simhash (fp) WITH (blocks = 7, distance = 5);
CREATE INDEX copy_bigint ON copy USING simhash (tenant, (fp::bigint));
CREATE INDEX copy_wide ON copy USING simhash (wide);
CREATE INDEX doc_wide ON doc USING simhash (tenant, wide);
CREATE FUNCTION title_fp(title text) RETURNS simhash LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE RETURN simhash_minhash(title, 1, 'word');
CREATE FUNCTION same_title(a text, b text) RETURNS boolean LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 10000
RETURN hamming(title_fp(a), title_fp(b)) <= 12 AND left(a, 2) = left(b, 2);
CREATE OPERATOR ~~~ (LEFTARG = text, RIGHTARG = text, FUNCTION = same_title, COMMUTATOR = ~~~);
CREATE OPERATOR CLASS title_ops FOR TYPE text USING simhash AS OPERATOR 16 ~~~, FUNCTION 2 title_fp(text);
CREATE OPERATOR CLASS bare_ops FOR TYPE text USING simhash AS FUNCTION 2 title_fp(text);
CREATE DOMAIN bands_8 AS simhash_bits(512);
CREATE FUNCTION own_bands(text) RETURNS bands_8 LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS 'BEGIN RETURN public.simhash_bands($1, bands => 8); END';
CREATE FUNCTION like_text(text, text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
	AS 'BEGIN RETURN simhash_share_band(own_bands($1), own_bands($2), 3, 4); END';
CREATE OPERATOR ~~~~ (LEFTARG = text, RIGHTARG = text, FUNCTION = like_text, COMMUTATOR = ~~~~);
CREATE OPERATOR CLASS own_ops FOR TYPE text USING simhash AS OPERATOR 403 ~~~~, FUNCTION 3 own_bands(text);
CREATE OPERATOR CLASS no_operator_ops FOR TYPE text USING simhash AS FUNCTION 3 own_bands(text);
CREATE INDEX copy_title ON copy USING simhash (body title_ops);
CREATE INDEX copy_bare ON copy USING simhash (body bare_ops);
CREATE INDEX copy_own ON copy USING simhash (tenant, body own_ops);
CREATE INDEX copy_no_operator ON copy USING simhash (body no_operator_ops);
SELECT * FROM simhash_advise('copy_fp');
SELECT similarity, distance, sampled, largest_group, candidates > with_near_duplicate AS candidates, at_least FROM simhash_advise('copy_title');
SELECT index, w.* FROM (VALUES ('copy_fp', 'a.fp <~> b.fp <= $1', 'copy'), ('copy_bigint', 'a.tenant = b.tenant AND a.fp <~> b.fp <= $1', 'copy'),
	('copy_wide', 'a.wide <~> b.wide <= $1', 'copy'), ('doc_wide', 'a.tenant = b.tenant AND a.wide <~> b.wide <= $1', 'doc'),
	('copy_title', 'a.body ~~~ b.body AND $1 IS NULL', 'copy'), ('copy_bare', 'title_fp(a.body) <~> title_fp(b.body) <= $1', 'copy'),
	('copy_own', 'a.tenant = b.tenant AND a.body ~~~~ b.body AND $1 IS NULL', 'copy')) v(index, condition, tab), wrong(index, condition, tab) w;
SELECT format('%s %s', tab, count(*)) AS checked FROM (SELECT CASE WHEN i::text ~ 'doc' THEN 'doc' ELSE 'copy' END AS tab, simhash_index_check(i, true)
	FROM (SELECT c.oid::regclass AS i FROM pg_class c JOIN pg_am a ON a.oid = relam WHERE amname = 'simhash' AND relkind = 'i' AND relnamespace = 'advise_test'::regnamespace) x) y
GROUP BY tab ORDER BY tab;

--
-- Samples of some rows: the same each time, and near the truth
--
CREATE TABLE large AS SELECT i AS id, (hashint8extended(i / CASE WHEN i % 3 = 0 THEN 3 ELSE 1000 END, i % 3 / 2) # CASE WHEN i % 3 = 0 THEN 0 ELSE i END)::simhash AS fp
FROM generate_series(1::bigint, 30000) i;
CREATE INDEX large_fp ON large USING simhash (fp);
CREATE TABLE found AS SELECT d AS distance, (SELECT count(*) / 30000.0 FROM simhash_find_clusters('large_fp', d)) AS near,
	(SELECT count(*) / 30000.0 FROM simhash_find_duplicates('large_fp', d)) AS removed FROM generate_series(0, 3) d;
SELECT distance, sampled, abs(with_near_duplicate - near) < 0.02 AS near, removed_at_most > removed - 0.02 AS removed,
	a = (SELECT b FROM simhash_advise('large_fp', 2000) b WHERE b.distance = a.distance) AS again
FROM simhash_advise('large_fp', 2000) a JOIN found USING (distance) ORDER BY distance;
SELECT sampled FROM simhash_advise('large_fp', 1) UNION ALL SELECT sampled FROM simhash_advise('large_fp', NULL);
-- a partial index whose rows are in few pages
CREATE INDEX large_part ON large USING simhash (fp) WHERE id BETWEEN 20000 AND 20400;
SELECT DISTINCT sampled FROM simhash_advise('large_part', 100);
-- many matches: there are at least 1,000, and those of a stricter threshold are all found
CREATE TABLE many AS SELECT made(i / 1200, i % 5, 1) AS body FROM generate_series(1, 1800) i;
CREATE INDEX many_body ON many USING simhash (body simhash_text_ops) WITH (bands = 12);
SELECT similarity, with_near_duplicate, largest_group, at_least, (SELECT least(max(m), 1001) FROM (SELECT sum(b.n) AS m
	FROM (SELECT DISTINCT body FROM many) a JOIN (SELECT body, count(*) AS n FROM many GROUP BY body) b ON simhash_similar(a.body, b.body, similarity) GROUP BY a.body) x) AS truth
FROM simhash_advise('many_body', 200);
-- too many comparisons: fewer rows
CREATE TABLE form AS SELECT string_agg('w' || CASE WHEN w % 8 = 0 THEN hashint4(i * 100 + w) ELSE w END, ' ' ORDER BY w) AS body
FROM generate_series(1, 1500) i, generate_series(1, 40) w GROUP BY i;
CREATE INDEX form_body ON form USING simhash (body simhash_text_ops) WITH (bands = 16);
SELECT similarity, sampled < 100 AS fewer, sampled > 20 AS some, candidates > 1000 AS candidates FROM simhash_advise('form_body', 100) WHERE similarity IN (1, 0.8);
SELECT simhash_index_check(i, true) FROM unnest('{large_fp,many_body,form_body}'::regclass[]) i;

--
-- Without rows; wrong arguments
--
CREATE TABLE none (a int, body text, fp simhash, wide simhash_bits(16)) PARTITION BY LIST (a);
CREATE INDEX none_body ON none USING simhash (a, body simhash_text_ops);
CREATE INDEX none_wide ON none USING simhash (wide);
SELECT count(*), max(sampled), max(with_near_duplicate) FROM simhash_advise('none_body');
CREATE TABLE none_1 PARTITION OF none FOR VALUES IN (1);
SELECT * FROM simhash_advise('none_body');
SELECT * FROM simhash_advise('none_wide');
INSERT INTO none VALUES (1), (1);
SELECT * FROM simhash_advise('none_wide');
SELECT * FROM simhash_advise(NULL);
SELECT a.* FROM unnest(ARRAY[$$('copy_fp', 0)$$, $$('copy_fp', 1000001)$$, $$('copy_fp', -1)$$, $$('copy')$$, $$('copy_no_operator')$$, $$('no_such')$$]) c, attempt('SELECT FROM simhash_advise' || c) a;

--
-- Privileges: those of a query of the columns; functions of the index run as the owner
--
CREATE ROLE regress_advise_owner; CREATE ROLE regress_advise_reader;
GRANT USAGE ON SCHEMA advise_test TO regress_advise_owner, regress_advise_reader;
CREATE TABLE owned (id int, body text, secret text);
INSERT INTO owned SELECT i, made(i / 2, 0, 1), 'x' FROM generate_series(1, 10) i;
CREATE FUNCTION whose(text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
	IF current_user <> 'regress_advise_owner' AND current_setting('advise.watch', true) = 'on' THEN
		RAISE 'runs as %', current_user;
	END IF;
	RETURN $1;
END $$;
ALTER TABLE owned OWNER TO regress_advise_owner;
GRANT CREATE ON SCHEMA advise_test TO regress_advise_owner;
CREATE INDEX owned_body ON owned USING simhash (whose(body) simhash_text_ops) WHERE whose(id::text) <> '';
SET advise.watch = on;
SELECT similarity, sampled, with_near_duplicate FROM simhash_advise('owned_body') WHERE similarity = 0.8;
SET ROLE regress_advise_reader;
SELECT * FROM attempt('SELECT FROM simhash_advise(''owned_body'')');
RESET ROLE;
GRANT SELECT (id, body, ctid, tableoid) ON owned TO regress_advise_reader;
SET ROLE regress_advise_reader;
SELECT similarity, sampled, with_near_duplicate FROM simhash_advise('owned_body') WHERE similarity = 0.8;
RESET ROLE;
ALTER TABLE owned ENABLE ROW LEVEL SECURITY;
SET ROLE regress_advise_reader;
SELECT * FROM attempt('SELECT FROM simhash_advise(''owned_body'')');
RESET ROLE;
RESET advise.watch;
-- a thousand equal wide fingerprints are enough: what is near them is not sorted
CREATE FUNCTION temporary_blocks(query text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ' || query INTO plan;
	RETURN plan #>> '{0,Plan,Temp Written Blocks}';
END $$;
CREATE TABLE blank AS SELECT i AS id, CASE WHEN i % 50 = 0 THEN wide('b' || i, 256) ELSE wide('blank', 256) END::simhash_bits(256) AS pdq FROM generate_series(1, 12000) i;
CREATE INDEX blank_pdq ON blank USING simhash (pdq);
SET work_mem = '64kB';
SELECT count(*) AS steps, min(largest_group), min(with_near_duplicate) > 0.8 AS many, bool_and(at_least) FROM simhash_advise('blank_pdq', 50);
SELECT temporary_blocks('SELECT * FROM simhash_advise(''blank_pdq'', 50)');
RESET work_mem;
DROP TABLE blank;
-- the snapshot of the query
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT count(*) FROM owned;
DELETE FROM owned WHERE id = 1;
SELECT sampled, largest_group FROM simhash_advise('owned_body') WHERE similarity = 0.8;
ROLLBACK;
DROP TABLE owned;
DROP SCHEMA advise_test CASCADE;
DROP ROLE regress_advise_owner, regress_advise_reader;
