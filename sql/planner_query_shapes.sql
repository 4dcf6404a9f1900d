--
-- Planner support never changes a result: wherever an expression can stand, a
-- query gives what it gives with twins of our functions, which return plain
-- integers and which the planner knows nothing of.  The text is the same; the
-- search_path decides.
--
CREATE SCHEMA ours;
CREATE SCHEMA twin;
SET search_path = ours, public; SET max_parallel_workers_per_gather = 0;
\pset format unaligned

CREATE FUNCTION twin.hamming(simhash, simhash) RETURNS integer
LANGUAGE c IMMUTABLE STRICT AS '$libdir/simhash', 'simhash_hamming';
CREATE FUNCTION twin.simhash_within(simhash, simhash, integer) RETURNS boolean
LANGUAGE c IMMUTABLE STRICT AS '$libdir/simhash', 'simhash_within';
CREATE FUNCTION twin.near(simhash, simhash) RETURNS boolean
LANGUAGE c IMMUTABLE STRICT AS '$libdir/simhash', 'simhash_near';
CREATE OPERATOR twin.<~> (LEFTARG = simhash, RIGHTARG = simhash, FUNCTION = twin.hamming);
CREATE OPERATOR twin.% (LEFTARG = simhash, RIGHTARG = simhash, FUNCTION = twin.near);

-- what is inlined
CREATE FUNCTION ours.dist(simhash) RETURNS simhash_distance LANGUAGE sql IMMUTABLE
RETURN $1 OPERATOR(public.<~>) '0';
CREATE FUNCTION twin.dist(simhash) RETURNS integer LANGUAGE sql IMMUTABLE
RETURN $1 OPERATOR(twin.<~>) '0';

-- rows at few distances from 0, some equal, some null
CREATE TABLE ours.t (id int PRIMARY KEY, fp simhash, grp int, bound int, wide bigint);
INSERT INTO t
SELECT n, CASE WHEN n % 7 <> 0 THEN (1 << n % 5)::simhash END,
	n % 3, n % 4, nullif(n % 5, 4)
FROM generate_series(1, 24) n;
INSERT INTO t VALUES (30, 0, 0, 0, 0), (31, 3, 1, 2, 1), (32, 7, 2, 3, 3), (33, 15, 0, NULL, 2), (34, 31, 1, 5, 9);
CREATE INDEX ON t USING simhash (fp);
CREATE INDEX ON t USING simhash (fp) WHERE fp <~> '0' <= 2;
CREATE INDEX ON t (id) WHERE fp <~> '0' <= 2;
CREATE INDEX ON t ((fp <~> '0'));
CREATE TABLE twin.t (LIKE ours.t, PRIMARY KEY (id));
INSERT INTO twin.t TABLE ours.t;

-- distances that are stored
CREATE TABLE ours.r AS SELECT id, fp <~> '0' AS d, bound FROM t;
CREATE TABLE twin.r AS SELECT id, d::int, bound FROM ours.r;
CREATE INDEX ON ours.r (d);
CREATE INDEX ON twin.r (d);
ANALYZE ours.t, ours.r, twin.t, twin.r;

-- The rows of the last statement, sorted, or the error, of a list of statements
-- that are separated by semicolons, with all they do undone.
CREATE FUNCTION public.outcome(statements text, path text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	list text[] := string_to_array(statements, ';');
	lines text[] := '{}';
	line record;
BEGIN
	BEGIN
		PERFORM set_config('search_path', path, true);
		FOR i IN 1 .. cardinality(list) - 1 LOOP
			EXECUTE list[i];
		END LOOP;
		FOR line IN EXECUTE list[cardinality(list)] LOOP
			lines := lines || line::text;
		END LOOP;
		RAISE 'undo' USING ERRCODE = 'UNDO0';
	EXCEPTION
		WHEN SQLSTATE 'UNDO0' THEN
			RETURN (SELECT coalesce(string_agg(l, E'\n' ORDER BY l COLLATE "C"), '') FROM unnest(lines) l);
		WHEN OTHERS THEN
			RETURN 'error ' || SQLSTATE || ' ' || SQLERRM;
	END;
END $$;

-- In a shape @D is a distance, @B a condition on it, @S an expression over it,
-- @G an expression to group by.
CREATE TABLE public.distances (d text);
INSERT INTO distances VALUES ('(fp <~> ''0'')'), ('hamming(''3'', fp)'), ('dist(fp)');
CREATE TABLE public.conditions (b text);
INSERT INTO conditions VALUES
	('@D <= 2'), ('@D < 2::bigint'), ('2::smallint >= @D'), ('@D = 1'), ('@D = 0'), ('1 <> @D'),
	('@D > 1'), ('NOT (@D > 2)'), ('@D >= 1 IS NOT TRUE'), ('@D <= 1.5::float8'), ('@D < 1.5'),
	('@D IN (1, 3)'), ('@D BETWEEN 1 AND 2'), ('(@D, 1) > (1, 0)'), ('(@D, 1) = (2, 1)');
CREATE TABLE public.scalars (s text);
INSERT INTO scalars VALUES
	('@D'), ('@D + 1'), ('coalesce(@D, -1)'), ('@D <= 2'), ('@D = 1'), ('(@D)::int'), ('(@D)::bigint'),
	('CASE WHEN @D < 2 THEN ''near'' ELSE ''far'' END'), ('CASE @D WHEN 1 THEN 2 END'),
	('nullif(@D, 1)'), ('greatest(@D, 2)'), ('@D IS DISTINCT FROM 1'), ('ARRAY[@D, 1]'), ('row(@D, @D > 1)');
CREATE TABLE public.groupings (g text);
INSERT INTO groupings VALUES
	('@D'), ('@D, fp'), ('GROUPING SETS ((fp), (@D))'), ('GROUPING SETS ((@D), (fp), ())'),
	('ROLLUP (@D)'), ('ROLLUP (@D, fp)'), ('CUBE (@D, grp)'), ('ROLLUP (grp), ROLLUP (@D)');

CREATE TABLE public.shapes (n int GENERATED ALWAYS AS IDENTITY, shape text);
INSERT INTO shapes (shape) VALUES
-- one table
('SELECT id, @S FROM t'),
('SELECT id FROM t WHERE @B'),
('SELECT id FROM t WHERE @B AND id > 3 OR NOT @B AND id < 5'),
('SELECT id FROM t WHERE (@B) IS NULL'),
('SELECT count(*) FILTER (WHERE @B), max(@D), min(@D), sum(@D), avg(@D) FROM t'),
('SELECT array_agg(@S ORDER BY @D, id), string_agg(DISTINCT (@D)::text, '','') FROM t'),
('SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY @D), mode() WITHIN GROUP (ORDER BY @S) FROM t'),
('SELECT id, @S FROM t ORDER BY @D, id LIMIT 5'),
('SELECT id FROM t WHERE @B ORDER BY @D DESC NULLS LAST, id LIMIT 5'),
('SELECT DISTINCT @S FROM t'),
('SELECT DISTINCT ON (@D) @D, @S, id FROM t ORDER BY @D, id'),
('SELECT DISTINCT ON (@D) grp, id FROM t WHERE @B ORDER BY @D, id'),
-- groups
('SELECT @S, count(*) FROM t GROUP BY @S'),
('SELECT @S, count(*) FROM t GROUP BY ROLLUP (@S)'),
('SELECT @S, count(*) FROM t WHERE @B GROUP BY @D'),
('SELECT @S, count(*) FROM t GROUP BY @G'),
('SELECT @D, count(*) FROM t GROUP BY @G HAVING @B'),
('SELECT @D, @D, @D + 1, grouping(@D), count(*) FROM t WHERE @B GROUP BY @G'),
('SELECT @S, sum(count(*)) OVER (PARTITION BY @D <= 1 ORDER BY @D) FROM t GROUP BY @G'),
('SELECT count(*) FROM t GROUP BY @G HAVING @B OR count(*) > 2'),
('SELECT @S, count(*) FROM t GROUP BY @G ORDER BY @D, 2'),
('SELECT DISTINCT @S FROM t GROUP BY @G'),
('SELECT grp, @B, count(*) FROM t GROUP BY GROUPING SETS ((grp, @B), (@B), (@D, grp)) HAVING count(*) > 0 OR @B'),
('SELECT simhash_within(fp, ''0'', 2), count(*) FROM t
	GROUP BY GROUPING SETS ((simhash_within(fp, ''0'', 2)), (fp)) HAVING @B'),
('SELECT grp, count(*) FROM t WHERE @B GROUP BY ROLLUP (grp)'),
('SELECT id % 2, count(*) FROM t WHERE @B GROUP BY ROLLUP (id % 2)'),
('SELECT wide::int, fp, count(*) FROM t GROUP BY GROUPING SETS ((wide::int, fp), (wide, fp)) HAVING @D < wide'),
('SELECT d, d <= 2, d + 1, count(*) FROM (SELECT @D AS d FROM t) x GROUP BY ROLLUP (d) HAVING d <= 2 OR d IS NULL'),
('SELECT s, count(*) FROM (SELECT @S AS s FROM t) x GROUP BY CUBE (s)'),
('SELECT (SELECT count(*) FROM t i WHERE i.fp <~> o.fp <= 1), count(*) FROM t o GROUP BY ROLLUP (fp)'),
('SELECT @D, (SELECT max(id) FROM t i WHERE i.bound >= @D), count(*) FROM t GROUP BY ROLLUP (fp)'),
-- windows
('SELECT id, rank() OVER (ORDER BY @D), count(*) OVER (PARTITION BY @S), lag(@D) OVER (ORDER BY id) FROM t'),
('SELECT id, sum(id) FILTER (WHERE @B) OVER w FROM t WINDOW w AS (PARTITION BY @D ORDER BY id)'),
('SELECT * FROM (SELECT id, row_number() OVER (PARTITION BY @D ORDER BY id) AS n FROM t) x WHERE n <= 2'),
('SELECT id, count(*) OVER (ORDER BY @D RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING) FROM t'),
-- set operations
('SELECT @D AS d FROM t UNION SELECT bound FROM t'),
('SELECT @S FROM t INTERSECT SELECT @S FROM t WHERE @B'),
('SELECT id, @D FROM t EXCEPT ALL SELECT id, @D FROM t WHERE @B'),
('SELECT d FROM (SELECT @D AS d FROM t UNION ALL SELECT bound FROM t) x WHERE d <= 1'),
-- sub-queries
('SELECT o.id FROM t o WHERE EXISTS (SELECT FROM t WHERE id <> o.id AND @B AND fp = o.fp)'),
('SELECT o.id FROM t o WHERE NOT EXISTS (SELECT FROM t WHERE id <> o.id AND fp <~> o.fp <= 1)'),
('SELECT id FROM t WHERE @D IN (SELECT bound FROM t)'),
('SELECT id FROM t WHERE @D NOT IN (SELECT bound FROM t WHERE bound IS NOT NULL)'),
('SELECT id FROM t WHERE @D NOT IN (SELECT d FROM r)'),
('SELECT id FROM t WHERE bound IN (SELECT @D FROM t)'),
('SELECT id FROM t WHERE bound = ANY (SELECT @D FROM t WHERE @B)'),
('SELECT id FROM t WHERE (@D, grp) IN (SELECT bound, grp FROM t)'),
('SELECT id FROM t WHERE @D <= ALL (SELECT bound FROM t WHERE @B AND bound > 0)'),
('SELECT id FROM t WHERE @D = (SELECT min(bound) FROM t)'),
('SELECT id, (SELECT count(*) FROM t i WHERE i.bound = @D) FROM t'),
('SELECT o.id, l.* FROM t o, LATERAL (SELECT id, @S FROM t WHERE fp <~> o.fp <= o.bound ORDER BY @D, id LIMIT 2) l'),
('SELECT * FROM (SELECT id, @D AS d FROM t OFFSET 0) x WHERE d <= 2 AND (d, id) > (1, 3)'),
-- joins, with sides that may be null
('SELECT a.id, b.id FROM t a JOIN t b ON a.fp <~> b.fp <= 1'),
('SELECT a.id, b.id FROM t a JOIN t b ON a.fp <~> b.fp = b.bound AND a.fp <~> b.fp < a.wide'),
('SELECT a.id, b.id FROM t a LEFT JOIN t b ON a.fp <~> b.fp <= a.bound AND a.id <> b.id'),
('SELECT a.id, b.d, b.d <= 1, b.s FROM t a LEFT JOIN (SELECT id, @D AS d, @S AS s FROM t) b ON a.id = b.id + 1'),
('SELECT a.id FROM t a LEFT JOIN (SELECT id, @D AS d FROM t) b ON a.id = b.id + 1 WHERE b.d <= 1'),
('SELECT a.id FROM t a LEFT JOIN (SELECT id, @D AS d FROM t) b ON a.id = b.id + 1 WHERE (b.d <= 1) IS NOT TRUE'),
('SELECT a.id, b.d FROM (SELECT id, @D AS d FROM t) b RIGHT JOIN t a ON b.d = a.bound'),
('SELECT a.id, b.id FROM (SELECT id, @D AS d FROM t) a FULL JOIN (SELECT id, @D AS d FROM t
	WHERE id < 9) b ON a.d = b.d'),
('SELECT * FROM (SELECT id, @D AS d FROM t) a FULL JOIN (SELECT bound AS d, wide FROM t) b USING (d)'),
('SELECT * FROM r a FULL JOIN r b ON a.d = b.bound'),
('SELECT a.d, count(b.*) FROM (SELECT id, @D AS d FROM t) a LEFT JOIN r b ON a.d = b.d AND b.d <= 2
	GROUP BY CUBE (a.d, b.d)'),
('SELECT a.d, a.d + 1, b.d < 2, count(*) FROM r a FULL JOIN r b ON a.d = b.d AND b.d > 0.5::float8
	GROUP BY CUBE (a.d + 1, a.d), b.d HAVING a.d < 3::float8 OR b.d >= 1'),
('SELECT @D, count(b.*) FROM t a FULL JOIN r b ON a.id = b.d GROUP BY ROLLUP (@D) HAVING @B'),
('SELECT a.id, b.d FROM t a LEFT JOIN (SELECT id, @D AS d FROM t) b ON a.id = b.id + 1 GROUP BY ROLLUP (a.id, b.d)
	HAVING b.d <= 2'),
-- common table expressions
('WITH x AS (SELECT id, @D AS d, @S AS s FROM t) SELECT s, d < 3 FROM x WHERE d <= 2'),
('WITH x AS MATERIALIZED (SELECT id, @D AS d, @S AS s FROM t) SELECT s, d < 3 FROM x WHERE d <= 2'),
('WITH x AS (SELECT @D AS d FROM t) SELECT a.d, b.d FROM x a JOIN x b ON a.d = b.d'),
-- changes
('INSERT INTO t SELECT id + 100, fp, @D FROM t WHERE @B RETURNING id, @S, @B'),
('INSERT INTO t (id, fp) SELECT id, fp FROM t ON CONFLICT (id) DO UPDATE SET bound = t.bound + 1
	WHERE t.fp <~> ''0'' <= 2 RETURNING id, bound'),
('UPDATE t SET bound = @D, grp = (@B)::int WHERE @B RETURNING id, bound, grp, @S'),
('UPDATE t SET bound = x.d FROM (SELECT id, @D AS d FROM t) x
	WHERE x.id = t.bound AND x.d <= 2 RETURNING t.id, t.bound'),
('DELETE FROM t WHERE @B RETURNING id, @S'),
('DELETE FROM t USING (SELECT @D AS d FROM t) x WHERE x.d = t.bound RETURNING id'),
('MERGE INTO t USING (SELECT id + id % 2 * 100 AS i, fp AS f, @D AS d FROM t) x ON t.id = x.i AND x.d <= 3
	WHEN MATCHED AND t.fp <~> x.f < 2 THEN UPDATE SET bound = x.d
	WHEN MATCHED THEN DELETE
	WHEN NOT MATCHED AND x.d = 1 THEN INSERT VALUES (x.i + 200, x.f, x.d);
	SELECT * FROM t'),
-- definitions
('CREATE TABLE n (id int, fp simhash, d int GENERATED ALWAYS AS (@D) STORED, b bool GENERATED ALWAYS AS (@B) STORED);
	INSERT INTO n SELECT id, fp FROM t; SELECT * FROM n'),
('CREATE TABLE n (id int, fp simhash, CHECK (@B)); INSERT INTO n SELECT id, fp FROM t WHERE (@B) IS NOT FALSE;
	SELECT * FROM n WHERE @B'),
('CREATE TABLE n (id int, fp simhash, CHECK (@B)); INSERT INTO n SELECT id, fp FROM t; SELECT'),
('CREATE TABLE n AS SELECT id, fp FROM t; CREATE INDEX ON n (id) WHERE @B; CREATE INDEX ON n ((@D)); SELECT id, @S
	FROM n WHERE @B'),
('CREATE TABLE n AS SELECT id, fp FROM t; CREATE UNIQUE INDEX ON n ((@D), id) WHERE @B;
	INSERT INTO n SELECT id, fp FROM t ON CONFLICT DO NOTHING; SELECT * FROM n'),
('CREATE TABLE n (d int, fp simhash); CREATE UNIQUE INDEX ON n ((@D));
	INSERT INTO n VALUES (0, 1), (0, 7); INSERT INTO n VALUES (0, 7),
		(0, 6) ON CONFLICT ((@D)) DO UPDATE SET d = n.d + 1; SELECT * FROM n'),
('CREATE TABLE n (id int, fp simhash) PARTITION BY LIST ((@D));
	CREATE TABLE n1 PARTITION OF n FOR VALUES IN (1); CREATE TABLE n2 PARTITION OF n DEFAULT;
	INSERT INTO n SELECT id, fp FROM t; SELECT id, tableoid = ''n1''::regclass FROM n WHERE @B'),
('CREATE MATERIALIZED VIEW n AS SELECT id, @D AS d, @S AS s FROM t; SELECT * FROM n WHERE d <= 2 OR d IN (3, 4)'),
('CREATE VIEW n AS SELECT id, fp, @D AS d FROM t; SELECT d, @S, d = 1 FROM n WHERE d <= 2 ORDER BY d, id'),
('CREATE VIEW n AS SELECT id, @D AS d FROM t; SELECT d, d < 2, count(*) FROM n GROUP BY ROLLUP (d)
	HAVING d < 4 OR d IS NULL'),
('CREATE VIEW n WITH (security_barrier) AS SELECT id, fp, @D AS d FROM t WHERE @B; SELECT * FROM n WHERE d > 0'),
('CREATE VIEW n AS SELECT id, fp FROM t WHERE @B WITH CHECK OPTION; UPDATE n SET fp = 1; SELECT * FROM t'),
('CREATE TABLE n (id int, d int); CREATE RULE n AS ON UPDATE TO t
	WHERE new.fp <~> ''0'' <= 2 DO ALSO INSERT INTO n VALUES (new.id, new.fp <~> ''0'');
	UPDATE t SET grp = 9 WHERE @B; SELECT * FROM n'),
('CREATE FUNCTION n(simhash, int) RETURNS bool LANGUAGE sql IMMUTABLE AS ''SELECT $1 <~> ''''0'''' <= $2'';
	SELECT n(fp, 2), count(*) FROM t WHERE n(fp, bound) GROUP BY ROLLUP (n(fp, 2))'),
-- stored distances
('SELECT id, d <= 2, d = 1, (d, id) > (1, 3), d + 1 FROM r WHERE d <= 2 AND d IN (0, 1, 2)'),
('SELECT a.id, b.id FROM r a, r b WHERE a.d = b.d AND a.d < b.bound'),
('SELECT a.id, b.id FROM r a, r b WHERE (a.d, a.id) = (b.bound, b.id) OR (a.d, a.id) < (b.d, b.id) AND a.id = 30'),
('SELECT d <= 2, d, count(*) FROM r GROUP BY GROUPING SETS ((d <= 2), (d)) HAVING d <= 2'),
('SELECT id FROM r WHERE d NOT IN (SELECT bound FROM r WHERE bound IS NOT NULL)'),
('SELECT CASE d WHEN 1 THEN ''one'' WHEN 2 THEN ''two'' END, nullif(d, 2), d BETWEEN SYMMETRIC 3 AND 1 FROM r'),
-- prepared, with a plan for any value
('PREPARE n(int) AS SELECT id, @D <= $1, @D > $1 FROM t WHERE @D <= $1 AND NOT (@D > $1 + 1); EXECUTE n(2)'),
('PREPARE n(bigint) AS SELECT @D, @D < $1, count(*) FROM t GROUP BY ROLLUP (@D)
	HAVING @D < $1 OR @D IS NULL; EXECUTE n(2)'),
('PREPARE n AS SELECT id FROM t WHERE @D = $1; EXECUTE n(1)'),
('PREPARE n(float8) AS SELECT id FROM t WHERE $1 > @D AND fp % ''1''; EXECUTE n(1.5)'),
('PREPARE n AS SELECT id, d < $1 FROM r WHERE d = $1; EXECUTE n(1)');

-- Each shape with everything that can be put in, not every condition with every
-- grouping and expression.
CREATE TABLE public.queries AS
SELECT DISTINCT n, replace(replace(replace(replace(shape, '@G', g), '@S', s), '@B', '(' || b || ')'), '@D', d) AS query
FROM shapes, distances, conditions, scalars, groupings
WHERE (shape LIKE '%@G%' OR g = '@D') AND (shape LIKE '%@S%' OR s = '@D') AND (shape LIKE '%@B%' OR b = '@D <= 2')
	AND (shape NOT LIKE '%@B%' OR shape NOT SIMILAR TO '%@[GS]%' OR b ~ '<=|=.1|NOT');

-- The queries of each shape, how many raise an error, how many are refused because a
-- full join needs what is not done beside grouping sets of expressions, and the first
-- that differs from the twin.
CREATE FUNCTION public.compare_shapes() RETURNS TABLE (queries bigint, errors bigint, refused bigint, differ bigint,
	example text)
LANGUAGE plpgsql AS $$
DECLARE
	shape int;
	query text;
	found text;
	expected text;
BEGIN
	FOR shape IN SELECT n FROM shapes ORDER BY n LOOP
		queries := 0;
		errors := 0;
		refused := 0;
		differ := 0;
		example := NULL;
		FOR query IN SELECT q.query FROM queries q WHERE q.n = shape ORDER BY q.query COLLATE "C" LOOP
			found := outcome(query, 'ours, public');
			DEALLOCATE ALL;
			expected := outcome(query, 'twin, public');
			DEALLOCATE ALL;
			queries := queries + 1;
			errors := errors + (expected LIKE 'error%')::int;
			IF found LIKE 'error 0A000 FULL JOIN %' AND query ~ 'FULL JOIN.*(CUBE|ROLLUP)' AND expected NOT LIKE 'error%' THEN
				refused := refused + 1;
			ELSIF found <> expected AND (found NOT LIKE 'error%' OR left(found, 11) <> left(expected, 11)) THEN
				differ := differ + 1;
				example := coalesce(example, concat_ws(E'\n', '', query, '-- expected', expected, '-- found', found));
			END IF;
		END LOOP;
		RETURN NEXT;
	END LOOP;
END $$;
SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off;
CREATE TABLE public.results AS SELECT * FROM compare_shapes();
SELECT count(*) AS shapes, sum(queries) AS queries, sum(errors) AS errors, sum(refused) AS refused,
	sum(differ) AS differ FROM results;
SELECT example FROM results WHERE differ > 0;

SET client_min_messages = warning;
DROP SCHEMA ours, twin CASCADE;
DROP TABLE public.distances, public.conditions, public.scalars, public.groupings, public.shapes, public.queries,
	public.results;
DROP FUNCTION public.outcome, public.compare_shapes;
