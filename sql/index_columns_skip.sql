--
-- Indexes of several columns: where the groups are few, a scan that is not told the columns
-- goes from group to group.  It finds the rows of a sequential scan, and reads few pages.
--
\pset format unaligned
\pset footer off
SET client_min_messages = warning;
CREATE SCHEMA index_columns_skip_test;
SET search_path = index_columns_skip_test, public; SET max_parallel_workers_per_gather = 0;

-- 1, 3, 50 and 5,000 groups, with nulls, and one group that has nine rows of ten; random
-- fingerprints, clusters, some that are frequent, nulls
CREATE TABLE doc (id int, one int, few int, many int, most int, large int, fp simhash) WITH (autovacuum_enabled = off);
CREATE FUNCTION add_rows(first int, last int) RETURNS void LANGUAGE sql AS $$
	INSERT INTO doc
	SELECT i, 1, CASE WHEN i % 5 < 3 THEN 7 WHEN i % 5 = 3 THEN 8 END, nullif(i / 3 % 50, 0), i * 7 % 5000,
		CASE WHEN i % 10 = 0 THEN i END,
		CASE WHEN i % 50 = 0 THEN NULL
			 WHEN i % 4 = 0 THEN bits('r' || i)
			 WHEN i % 4 < 3 THEN flip(bits('c' || i / 40), i % 6, 'f' || i)
			 ELSE bits('e' || i % 3) END
	FROM generate_series(first, last) i
$$;
SELECT add_rows(1, 10000) \gset
UPDATE doc SET large = 0 WHERE large IS NULL;
CREATE TABLE query (no int, q simhash);
INSERT INTO query VALUES (1, bits('c50')), (2, bits('e0')), (3, flip(bits('e1'), 2, 'q')), (4, flip(bits('r4000'), 3, 'q')),
	(5, bits('no'));
CREATE TABLE radius AS SELECT unnest('{0,3,5,9,24}'::int[]) r;
-- what is near the queries, by brute force
CREATE TABLE near (no int, d int, LIKE doc);
CREATE PROCEDURE expect() LANGUAGE sql AS $$
	DELETE FROM near;
	INSERT INTO near SELECT no, d, doc.* FROM query, doc, distance(q::bigint, fp::bigint) d WHERE d <= 24;
$$;
-- what an index finds that it should not, or does not find
CREATE FUNCTION compare(index regclass) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	form text;
	query text;
	truth text;
BEGIN
	PERFORM simhash_index_check(index, true);
	FOREACH form IN ARRAY '{indexscan,bitmapscan}'::text[] LOOP
		PERFORM use_only(form, '{hashjoin,mergejoin,material}');
		FOR query, truth IN VALUES
			('SELECT no, r, id FROM query, radius, doc WHERE fp <@ simhash_ball(q, r)',
			 'SELECT no, r, id FROM near, radius WHERE d <= r'),
			('SELECT no, id FROM query, doc WHERE fp <@ ANY (ARRAY[simhash_ball(q, 4), simhash_ball(q, 0), simhash_ball(77, 2)])',
			 'SELECT no, id FROM near WHERE d <= 4'),
			('SELECT DISTINCT id FROM doc WHERE fp <@ ANY (ARRAY(SELECT simhash_ball(q, 3) FROM query))',
			 'SELECT DISTINCT id FROM near WHERE d <= 3'),
			('SELECT no, id FROM query, doc WHERE fp <@ simhash_ball(q, 3) AND fp <@ simhash_ball(bits(''c50''), 34)',
			 'SELECT no, id FROM near WHERE d <= 3 AND distance(fp::bigint, bits(''c50'')) <= 34'),
			-- conditions of which no group is known
			('SELECT no, id FROM query, doc WHERE fp <@ simhash_ball(q, 3) AND few IS NOT NULL AND many > 20 AND most <> 7',
			 'SELECT no, id FROM near WHERE d <= 3 AND few IS NOT NULL AND many > 20 AND most <> 7'),
			('SELECT no, EXISTS (SELECT FROM doc WHERE fp <@ simhash_ball(q, 2)) FROM query',
			 'SELECT no, EXISTS (SELECT FROM near n WHERE n.no = q.no AND d <= 2) FROM query q'),
			('SELECT no, count(*) FROM query, LATERAL (SELECT FROM doc WHERE fp <@ simhash_ball(q, 3) LIMIT 7) l GROUP BY no',
			 'SELECT no, least(count(*), 7) FROM near WHERE d <= 3 GROUP BY no') LOOP
			IF strpos(plan_of(query), index::text) = 0 THEN
				RETURN NEXT plan_of(query);
			END IF;
			RETURN QUERY SELECT concat_ws(': ', form, query, d) FROM difference(query, truth) d WHERE d IS NOT NULL;
		END LOOP;
	END LOOP;
	PERFORM use_only('indexscan', '{sort}');
	RETURN QUERY SELECT d FROM difference(
		'SELECT no, array_agg(d) FROM query, LATERAL (SELECT fp <~> q AS d FROM doc WHERE fp IS NOT NULL ORDER BY fp <~> q LIMIT 30) l GROUP BY no',
		'SELECT no, array_agg(d ORDER BY d) FROM query, LATERAL (SELECT distance(q::bigint, fp::bigint) d FROM doc
			WHERE fp IS NOT NULL ORDER BY 1 LIMIT 30) l GROUP BY no') d WHERE d IS NOT NULL
	UNION ALL SELECT d FROM difference(
		'SELECT no, array_agg(d) FROM query, LATERAL (SELECT fp <~> q AS d FROM doc WHERE fp <@ simhash_ball(q, 3) ORDER BY fp <~> q LIMIT 30) l GROUP BY no',
		'SELECT no, (array_agg(d::smallint ORDER BY d))[1:30] FROM near WHERE d <= 3 GROUP BY no') d WHERE d IS NOT NULL;
	PERFORM use_only('seqscan');
END $$;
-- How many pages a scan reads that finds nothing, for each hundred leaves of a table: the
-- least of several times, as a session that does not know the inner pages reads these.
CREATE FUNCTION percent(index regclass, condition text) RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE
	pages int;
BEGIN
	PERFORM use_only('indexscan');
	SELECT min(pages_read('SELECT FROM doc WHERE ' || condition)) INTO pages FROM generate_series(1, 3);
	PERFORM use_only('seqscan');
	RETURN 100.0 * pages / leaf_pages FROM simhash_index_info(index) WHERE table_no = 0;
END $$;
-- an index from its build to its end: what is wrong, and what share of a table a scan reads
CREATE FUNCTION live(columns text, options text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	percents numeric[];
BEGIN
	EXECUTE format('CREATE INDEX i ON doc USING simhash (%s, fp) WITH (%s)', columns, options);
	RETURN QUERY SELECT compare('i');
	percents := ARRAY[percent('i', $c$fp <@ simhash_ball(bits('no'), 3)$c$), percent('i', $c$fp <@ simhash_ball(bits('no'), 0)$c$),
		percent('i', $c$fp <@ simhash_ball(bits('no'), 1) AND few IS NOT NULL AND id > 3$c$)];
	RETURN NEXT format('%s: %s', columns, (SELECT string_agg(CASE WHEN p < 20 THEN 'few' WHEN p < 50 THEN 'some'
		WHEN p < 105 THEN 'all' ELSE p::text END, ', ') FROM unnest(percents) p));
	DROP INDEX i;
END $$;
CALL expect();
ANALYZE doc;
SELECT live(columns, options) FROM (VALUES ('one', 'fillfactor = 10'), ('few', 'fillfactor = 10'),
	('many', 'fillfactor = 10, blocks = 2, distance = 1'), ('most', 'fillfactor = 10'), ('large', 'fillfactor = 10'),
	('few, one', 'fillfactor = 10, blocks = 5, distance = 2'), ('few', 'fillfactor = 90')) v(columns, options);

-- A scan that plans by what it has counted before: rows, and then groups, that came later,
-- and rows that went.
CREATE INDEX i ON doc USING simhash (few, fp) WITH (fillfactor = 10);
SELECT compare('i');
BEGIN;
SELECT add_rows(10001, 12000) \gset
DELETE FROM doc WHERE id % 6 = 1;
UPDATE doc SET few = id WHERE id % 97 = 0;
UPDATE doc SET few = 9 WHERE few = 8;
UPDATE doc SET fp = bits('c50') WHERE id % 91 = 0;
CALL expect();
SELECT compare('i');
COMMIT;
VACUUM doc;
SELECT compare('i');
SELECT add_rows(12001, 14000) \gset
CALL expect();
SET work_mem = '64kB';
SELECT compare('i');
RESET work_mem;
DELETE FROM doc WHERE few = 7;
VACUUM doc;
CALL expect();
SELECT compare('i');

-- each table of bands, as none speaks for the others
CREATE TABLE text (id int, tenant int, body text) WITH (autovacuum_enabled = off);
INSERT INTO text SELECT i, i % 3, 'text ' || (SELECT string_agg(md5((CASE WHEN w <= i % 3 THEN i ELSE i / 5 END + w)::text), ' ') FROM generate_series(1, 30) w)
FROM generate_series(1, 2500) i;
INSERT INTO text SELECT 5000 + i, nullif(i % 3, 2), (SELECT body FROM text WHERE id = 9) FROM generate_series(1, 600) i;
CREATE TABLE asked AS SELECT id, body FROM text WHERE id IN (9, 100, 1002, 2004);
CREATE TABLE alike AS SELECT a.id, t.id AS found FROM asked a, text t WHERE are_alike(a.body, t.body);
SELECT count(*) > 600, count(DISTINCT id) FROM alike;
CREATE INDEX j ON text USING simhash (tenant, body simhash_text_ops) WITH (fillfactor = 10);
ANALYZE text;
SELECT use_only(form, '{hashjoin,mergejoin,material}'),
	difference('SELECT a.id, t.id FROM asked a, text t WHERE t.body =~= a.body', 'TABLE alike'),
	difference('SELECT a.id, t.id FROM asked a, text t WHERE t.body =~= a.body AND tenant > 0',
		'SELECT s.id, found FROM alike s, text t WHERE t.id = found AND tenant + 0 > 0'),
	difference('SELECT DISTINCT t.id FROM text t WHERE t.body =~= ANY (ARRAY(SELECT body FROM asked))', 'SELECT DISTINCT found FROM alike'),
	plan_of('SELECT a.id, t.id FROM asked a, text t WHERE t.body =~= a.body') ~ ' j\y' AS by_index
FROM unnest('{indexscan,bitmapscan}'::text[]) form;
SELECT use_only('indexscan') \gset
SELECT pages_read($$SELECT FROM text WHERE body =~= 'nothing that there is in it'$$) < 0.2 * sum(leaf_pages) AS few
FROM simhash_index_info('j') WHERE table_no IS NOT NULL;

-- and each part of wide fingerprints that is searched
CREATE TABLE wide (id int, tenant int, fp simhash_bits(128)) WITH (autovacuum_enabled = off);
INSERT INTO wide SELECT i, nullif(i % 3, 2), CASE WHEN i % 10 > 0 THEN wide('r' || i, 128)
	ELSE flip_wide(wide('c' || i / 200, 128), i / 10 % 9 * 2, 'f' || i) END
FROM generate_series(1, 9000) i;
CREATE INDEX k ON wide USING simhash (tenant, fp) WITH (fillfactor = 10);
ANALYZE wide;
SELECT use_only(form), difference(format('SELECT id FROM wide WHERE fp <~> %L <= %s', q, r),
	format('SELECT id FROM wide WHERE wide_distance(fp::varbit, %L::simhash_bits::varbit) <= %s', q, r))
FROM unnest('{indexscan,bitmapscan}'::text[]) form, unnest('{0,6,10,40}'::int[]) r, (SELECT wide('c10', 128) q) q;
SELECT use_only('indexscan') \gset
SELECT pages_read(format('SELECT FROM wide WHERE fp <~> %L <= 6', wide('no', 128))) < 0.5 * leaf_pages AS some
FROM simhash_index_info('k') WHERE table_no = 0;

SELECT use_only('seqscan') \gset
SELECT simhash_index_check(index, true) FROM unnest('{i,j,k}'::regclass[]) index;
DROP SCHEMA index_columns_skip_test CASCADE;
