-- Which texts of a table are near-duplicates by the definition of =~=, without an index and
-- without comparing each with each; and what an index finds instead.  Tests and benchmarks
-- with real texts load it behind brute_force.sql.  A table has the columns id and body.

-- Note the pairs of a table in the table similar_pair (a, b, similarity), a being the smaller id, and
-- what a constraint keeps out that sees the rows in the order of ids in superfluous (id).
--
-- Two sets of which four fifths are shared also share one of their rarest members, as many
-- of them as may be missing, and one more.
CREATE PROCEDURE expect_similar(tab regclass) LANGUAGE plpgsql AS $$
BEGIN
	DROP TABLE IF EXISTS feature, features, same, similar_pair, superfluous;
	EXECUTE format('CREATE UNLOGGED TABLE feature AS
		SELECT DISTINCT id::bigint AS id, hashtextextended(shingle, 0) AS hash
		FROM %s, unnest(simhash_shingles(body, 3, ''word'')) AS shingle', tab);
	CREATE UNLOGGED TABLE features AS
	SELECT id, array_agg(rank ORDER BY rank) AS set, count(*)::int AS size
	FROM feature JOIN (SELECT hash, row_number() OVER (ORDER BY count(*), hash)::int AS rank
			FROM feature GROUP BY hash) r USING (hash)
	GROUP BY id;
	DROP TABLE feature;
	-- texts with the same features are compared once
	CREATE UNLOGGED TABLE same AS SELECT id, min(id) OVER (PARTITION BY set) AS first FROM features;
	DELETE FROM features USING same WHERE same.id = features.id AND first < same.id;
	ALTER TABLE features ADD PRIMARY KEY (id);
	ANALYZE features, same;
	EXECUTE format('CREATE UNLOGGED TABLE similar_pair AS
		WITH rare AS MATERIALIZED (SELECT id, size, unnest(set[1 : size - ceil(0.8 * size)::int + 1]) AS feature
				FROM features),
			candidate AS MATERIALIZED (SELECT DISTINCT x.id AS a, y.id AS b FROM rare x JOIN rare y USING (feature)
				WHERE x.id < y.id AND 10 * x.size >= 8 * y.size AND 10 * y.size >= 8 * x.size),
			alike AS MATERIALIZED (SELECT a, b, common::float8 / (x.size + y.size - common) AS similarity
				FROM candidate JOIN features x ON x.id = a JOIN features y ON y.id = b,
					LATERAL (SELECT count(*) AS common FROM (SELECT unnest(x.set) INTERSECT SELECT unnest(y.set)) s) c
				WHERE common::float8 / (x.size + y.size - common) >= 0.8
				UNION ALL SELECT id, id, 1 FROM features),
			bands AS MATERIALIZED (SELECT id, first, simhash_bands(body) AS bands FROM %s JOIN same USING (id))
		SELECT least(p.id, q.id) AS a, greatest(p.id, q.id) AS b, similarity
		FROM alike JOIN bands p ON p.first = a JOIN bands q ON q.first = b
		WHERE (a < b OR p.id < q.id) AND share_band(p.bands, q.bands)', tab);
	CREATE INDEX ON similar_pair (a);
	CREATE INDEX ON similar_pair (b);
	ANALYZE similar_pair;

	CREATE TABLE superfluous AS SELECT id FROM superfluous_of('SELECT a, b, 0 FROM similar_pair', tab, 'id');
	ALTER TABLE superfluous ADD PRIMARY KEY (id);
END $$;

-- Compare what a table has and what its index of simhash_text_ops finds with that: as a
-- condition for some texts, for several of them at once, as a join, as pairs, and as a
-- constraint.
CREATE FUNCTION compare_similar(tab regclass, index regclass, texts integer DEFAULT 300,
	OUT what text, OUT rows bigint, OUT missing bigint, OUT wrong bigint)
RETURNS SETOF record LANGUAGE plpgsql AS $$
DECLARE
	asked bigint[];
	form text;
	node text;
	statement text;
	q record;
BEGIN
	PERFORM set_config('enable_' || name, 'off', true)
	FROM unnest('{seqscan,hashjoin,mergejoin,material,memoize}'::text[]) name;
	SET LOCAL max_parallel_workers_per_gather = 0;
	DROP TABLE IF EXISTS both_ways, answer;
	EXECUTE format('CREATE TEMPORARY TABLE both_ways AS
		SELECT a, b FROM similar_pair UNION ALL SELECT b, a FROM similar_pair
		UNION ALL SELECT id, id FROM %s WHERE simhash_minhash(body) IS NOT NULL', tab);
	CREATE TEMPORARY TABLE answer (a bigint, b bigint);
	-- half of those asked for have near-duplicates
	EXECUTE format('SELECT array_agg(id) FROM (
		(SELECT a AS id FROM (SELECT DISTINCT a FROM similar_pair) s ORDER BY hashint8extended(a, 1) LIMIT $1 / 2)
		UNION (SELECT id FROM %s ORDER BY hashint8extended(id, 2) LIMIT $1 / 2)) s', tab)
	INTO asked USING texts;

	FOREACH form IN ARRAY '{indexscan,bitmapscan}'::text[] LOOP
		PERFORM set_config('enable_indexscan', (form = 'indexscan')::text, true),
				set_config('enable_bitmapscan', (form = 'bitmapscan')::text, true);
		node := CASE form WHEN 'indexscan' THEN 'Index Scan using ' ELSE 'Bitmap Index Scan on ' END || index;
		TRUNCATE answer;
		FOR q IN EXECUTE format('SELECT id, body FROM %s WHERE id = ANY ($1) AND body IS NOT NULL', tab) USING asked LOOP
			statement := format('SELECT %s, id FROM %s WHERE body =~= %L', q.id, tab, q.body);
			IF strpos(plan_of(statement), node) = 0 THEN
				RAISE EXCEPTION 'the index is not used: %', left(plan_of(statement), 1000);
			END IF;
			EXECUTE 'INSERT INTO answer ' || statement;
		END LOOP;
		what := 'condition, ' || form;
		SELECT c.* INTO rows, missing, wrong FROM compare_rows('TABLE answer',
			format('SELECT a, b FROM both_ways WHERE a = ANY (%L)', asked)) c;
		RETURN NEXT;

		what := 'array, ' || form;
		statement := format('SELECT no, id FROM (SELECT hashint8(id) & 63 AS no, array_agg(body) || ''...''::text AS bodies
			FROM %s WHERE id = ANY (%L) GROUP BY 1) q JOIN %1$s ON body =~= ANY (bodies)', tab, asked);
		IF strpos(plan_of(statement), node) = 0 THEN
			RAISE EXCEPTION 'the index is not used: %', left(plan_of(statement), 1000);
		END IF;
		SELECT c.* INTO rows, missing, wrong FROM compare_rows(statement,
			format('SELECT DISTINCT hashint8(a) & 63, b FROM both_ways WHERE a = ANY (%L)', asked)) c;
		RETURN NEXT;
	END LOOP;

	SET LOCAL enable_indexscan = on;
	SET LOCAL enable_bitmapscan = off;
	what := 'join';
	statement := format('SELECT x.id, y.id FROM %s x JOIN %1$s y ON x.body =~= y.body', tab);
	IF strpos(plan_of(statement), 'Index Scan using ' || index) = 0 THEN
		RAISE EXCEPTION 'the index is not used: %', plan_of(statement);
	END IF;
	SELECT c.* INTO rows, missing, wrong FROM compare_rows(statement, 'TABLE both_ways') c;
	RETURN NEXT;

	PERFORM set_config('enable_' || name, 'on', true)
	FROM unnest('{seqscan,hashjoin,mergejoin,material,memoize,bitmapscan}'::text[]) name;
	what := 'constraint';
	DROP TABLE IF EXISTS kept;
	CREATE TABLE kept (id bigint, body text, EXCLUDE USING simhash (body simhash_text_ops WITH =~=));
	EXECUTE format('INSERT INTO kept SELECT id, body FROM %s ORDER BY id ON CONFLICT DO NOTHING', tab);
	SELECT c.* INTO rows, missing, wrong FROM compare_rows('SELECT id FROM kept',
		format('SELECT id FROM %s WHERE id NOT IN (SELECT id FROM superfluous)', tab)) c;
	RETURN NEXT;

	what := 'pairs';
	SELECT c.* INTO rows, missing, wrong FROM compare_rows(
		format('SELECT least(x.id, y.id), greatest(x.id, y.id), f.similarity FROM simhash_find_all(%L) f
			JOIN %s x ON x.ctid = f.a JOIN %2$s y ON y.ctid = f.b', index, tab),
		'TABLE similar_pair') c;
	RETURN NEXT;
END $$;
