-- Index against brute force, for the tests in t/.  The reference is
-- bit_count() over bigints, which no index can serve and which shares no code
-- with the extension.

-- what to look up; the caller fills these two
CREATE TABLE query (qno integer PRIMARY KEY, fp simhash);
CREATE TABLE radii (r integer PRIMARY KEY);

-- each (query, radius), and the tenant where these matter, with what must be
-- found: how many rows, and a sum over them that tells which
CREATE TABLE probe (qno integer, fp simhash, r integer, tenant integer, n bigint, rows numeric);

-- Note what must be found in a table (id, fp), or of each tenant in a table (id,
-- tenant, fp).  Balls of 20 bits and more are large, so only the first queries look
-- at these.
CREATE PROCEDURE expect(tab regclass, tenants boolean DEFAULT false) LANGUAGE plpgsql AS $$
BEGIN
	TRUNCATE probe;
	EXECUTE format('INSERT INTO probe
		WITH t AS (SELECT id, fp, %2$s AS tenant FROM %1$s)
		SELECT qno, q.fp, r, tenant, coalesce(sum(n) FILTER (WHERE d <= r), 0),
			   coalesce(sum(rows) FILTER (WHERE d <= r), 0)
		FROM query q CROSS JOIN radii CROSS JOIN (SELECT DISTINCT tenant FROM t WHERE tenant IS NOT NULL) s LEFT JOIN
			 (SELECT qno, tenant, bit_count((t.fp::bigint # q.fp::bigint)::bit(64)) AS d,
					 count(*) AS n, sum(hashint8extended(id, 1)) AS rows
			  FROM t, query q GROUP BY 1, 2, 3) near USING (qno, tenant)
		WHERE r < 20 OR qno <= 2 GROUP BY qno, q.fp, r, tenant', tab, CASE WHEN tenants THEN 'tenant' ELSE '0' END);
END $$;

-- Compare what an index finds, through plain and bitmap scans, with what
-- expect() noted: 'ok', or the differences.  Writes nothing, so it runs on a
-- standby too.
CREATE FUNCTION compare(tab regclass, index regclass, tenants boolean DEFAULT false)
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	form text;
	node text;
	statement text;
	line text;
	plan text;
	diff text;
BEGIN
	PERFORM set_config('enable_seqscan', 'off', true),
			set_config('enable_material', 'off', true),
			set_config('max_parallel_workers_per_gather', '0', true);
	FOREACH form IN ARRAY '{indexscan,bitmapscan}'::text[] LOOP
		PERFORM set_config('enable_indexscan', (form = 'indexscan')::text, true),
				set_config('enable_bitmapscan', (form = 'bitmapscan')::text, true);
		node := CASE form WHEN 'indexscan' THEN 'Index Scan using ' ELSE 'Bitmap Index Scan on ' END || index;
		statement := format('SELECT p.qno, p.r, p.tenant, count(*) AS n, sum(hashint8extended(id, 1)) AS rows
			FROM probe p JOIN %s t ON t.fp <~> p.fp <= p.r %s GROUP BY p.qno, p.r, p.tenant',
			tab, CASE WHEN tenants THEN 'AND t.tenant = p.tenant' END);
		plan := '';
		FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || statement LOOP
			plan := plan || line || E'\n';
		END LOOP;
		IF strpos(plan, node) = 0 THEN
			RETURN 'the index is not used: ' || plan;
		END IF;
		EXECUTE format('SELECT string_agg(format(''%%s: query %%s radius %%s tenant %%s: %%s rows, not %%s'',
					%L, qno, r, tenant, coalesce(g.n, 0), p.n), E''\n'' ORDER BY r, qno, tenant)
			FROM probe p FULL JOIN (%s) g USING (qno, r, tenant)
			WHERE (p.n, p.rows) IS DISTINCT FROM (coalesce(g.n, 0), coalesce(g.rows, 0))',
			form, statement) INTO diff;
		IF diff IS NOT NULL THEN
			RETURN diff;
		END IF;
	END LOOP;
	RETURN 'ok';
END $$;
