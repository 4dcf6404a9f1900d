--
-- postgres_fdw: what is sent of queries that group by a distance is valid there, and
-- other conditions are sent as what an index can serve
--
\pset format unaligned
\pset footer off
CREATE SCHEMA planner_foreign_test;
SET search_path = planner_foreign_test, public; SET client_min_messages = warning;
CREATE EXTENSION postgres_fdw;
-- through a socket, where no password is needed
SELECT coalesce(nullif(split_part(current_setting('unix_socket_directories'), ',', 1), ''), :'HOST') AS host \gset
CREATE SERVER simhash_loop FOREIGN DATA WRAPPER postgres_fdw
	OPTIONS (host :'host', port :'PORT', dbname :'DBNAME', extensions 'simhash');
CREATE USER MAPPING FOR CURRENT_USER SERVER simhash_loop;
CREATE TABLE docs (id int, fp simhash, grp int);
INSERT INTO docs SELECT n, n % 40, n % 3 FROM generate_series(1, 1000) n;
CREATE INDEX docs_fp ON docs USING simhash (fp);
CREATE FOREIGN TABLE far (id int, fp simhash, grp int) SERVER simhash_loop
	OPTIONS (schema_name 'planner_foreign_test', table_name 'docs');
CREATE TABLE parts (id int, fp simhash, grp int) PARTITION BY LIST (grp);
CREATE FOREIGN TABLE part_0 PARTITION OF parts FOR VALUES IN (0) SERVER simhash_loop
	OPTIONS (schema_name 'planner_foreign_test', table_name 'docs_0');
CREATE FOREIGN TABLE part_1 PARTITION OF parts FOR VALUES IN (1, 2) SERVER simhash_loop
	OPTIONS (schema_name 'planner_foreign_test', table_name 'docs_1');
CREATE VIEW docs_0 AS SELECT * FROM docs WHERE grp = 0;
CREATE VIEW docs_1 AS SELECT * FROM docs WHERE grp > 0;
ANALYZE docs;
CREATE FUNCTION near(simhash) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT $1 <~> 5 <= 2';
CREATE FUNCTION distance(simhash) RETURNS simhash_distance LANGUAGE sql IMMUTABLE AS 'SELECT $1 <~> 5';

-- the plan says what is sent
CREATE FUNCTION sent(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (VERBOSE, COSTS OFF) ' || query LOOP
		IF line ~ 'Remote SQL' THEN
			RETURN NEXT regexp_replace(line, '.*(FROM|WHERE)', '\1');
		END IF;
	END LOOP;
END $$;
SELECT sent('SELECT id FROM far WHERE fp <~> 5 <= 2');
SELECT sent('SELECT fp, count(*) FROM far WHERE fp <~> 5 <= 2 GROUP BY fp');

-- in each query %s is a table, and the rows are those of the local one
CREATE TABLE queries (query text);
INSERT INTO queries VALUES
	('SELECT fp <~> 5 AS d, CASE WHEN fp <~> 5 <= 2 THEN ''near'' ELSE ''far'' END, count(*) FROM %s GROUP BY fp <~> 5'),
	('SELECT fp <~> 5 AS d, fp <~> 5 > 2, count(*) FROM %s WHERE fp <~> 5 <= 4 GROUP BY fp <~> 5'),
	('SELECT fp <~> 5 AS d, fp <~> 5 <= 4, count(*) FROM %s WHERE fp <~> 5 <= 4 GROUP BY fp <~> 5'),
	('SELECT fp <~> 5 AS d, count(*) FROM %s GROUP BY fp <~> 5 HAVING count(*) > 300 OR fp <~> 5 <= 2'),
	('SELECT hamming(5, fp) AS d, count(*) FROM %s GROUP BY hamming(5, fp) HAVING count(*) > 12 OR hamming(5, fp) < 1.5::float8'),
	('SELECT fp <~> 5 + grp AS d, count(*) FROM %s GROUP BY fp <~> 5 + grp HAVING count(*) > 12 OR fp <~> 5 + grp = 1'),
	('SELECT fp <~> 5 <= 2 AS near, count(*) FROM %s GROUP BY fp <~> 5 <= 2'),
	('SELECT near(fp), count(*) FROM %s GROUP BY near(fp) HAVING count(*) > 900 OR near(fp)'),
	('SELECT distance(fp), distance(fp) <= 2, count(*) FROM %s GROUP BY distance(fp)'),
	('SELECT fp, fp <~> 5 <= 2, count(*) FROM %s GROUP BY fp HAVING fp <~> 5 = 1'),
	('SELECT grp, fp <~> 5, count(*) FROM %s GROUP BY ROLLUP (grp, fp <~> 5) HAVING fp <~> 5 <= 2 OR count(*) > 100'),
	('SELECT a.fp <~> b.fp AS d, a.fp <~> b.fp <= 2, count(*) FROM %1$s a JOIN %1$s b ON a.fp <~> b.fp <= 3
		WHERE a.id < 50 GROUP BY a.fp <~> b.fp');
CREATE FUNCTION compare_tables(OUT tab text, OUT wanted bigint, OUT query text, OUT difference text)
RETURNS SETOF record LANGUAGE plpgsql AS $$
BEGIN
	FOR query, tab IN SELECT q.query, t FROM queries q, unnest('{far,parts}'::text[]) t LOOP
		EXECUTE format('SELECT count(*) FROM (%s) s', format(query, 'docs')) INTO wanted;
		difference := difference(format(query, tab), format(query, 'docs'));
		RETURN NEXT;
	END LOOP;
END $$;
SELECT count(*) AS compared, min(wanted) > 0 AS with_rows FROM compare_tables();
SELECT * FROM compare_tables() WHERE difference IS NOT NULL;
SET enable_partitionwise_aggregate = on;
SELECT * FROM compare_tables() WHERE difference IS NOT NULL;

-- a join that is found to be useless leaves the foreign table alone
CREATE TABLE loc (id int PRIMARY KEY, x int);
SELECT count(*) > 0 AS groups FROM (SELECT far.fp <~> 5 AS d, count(*) FROM far LEFT JOIN loc USING (id)
	GROUP BY far.fp <~> 5 HAVING far.fp <~> 5 <= 2 OR count(*) > 300) s;

-- a local table keeps its index
SET enable_seqscan = off; SET enable_bitmapscan = off;
SELECT bool_or(p ~ 'Index Cond: \(fp <@ ') AS takes_index
FROM plan('SELECT id % 2, count(*) FROM docs WHERE fp <~> 5 <= 1 GROUP BY ROLLUP (id % 2)') p;

DROP SCHEMA planner_foreign_test CASCADE;
