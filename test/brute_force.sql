--
-- Brute force: what the index and the searches over whole indexes must find
--
-- The regression tests (sql/init.sql) and the tests in Perl (t/SimhashTest.pm) load
-- this file.  The truth comes from distance(), which is bit_count() over bigints: no
-- index can serve it, and it shares no code with the extension.
--

CREATE FUNCTION distance(a bigint, b bigint) RETURNS int LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
	SELECT bit_count((a # b)::bit(64))::int
$$;

-- Near-duplicate documents share at least so much of their features, and one of so many
-- first bands within a radius.  These are those of the greatest of the similarities here
-- that is not above the one that is asked for.
CREATE FUNCTION similar_bands(similarity float8, of_bytea boolean DEFAULT false) RETURNS int LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
	SELECT (CASE WHEN of_bytea THEN '{31,25,18,14,12,9,8,6,4,3,1}'::int[] ELSE '{32,24,16,13,11,9,7,5,4,3,1}' END)
		[width_bucket(similarity, '{0.5,0.55,0.6,0.65,0.7,0.75,0.8,0.85,0.9,0.95,1}'::float8[])]
$$;
CREATE FUNCTION similar_radius(similarity float8, of_bytea boolean DEFAULT false) RETURNS int LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
	SELECT (CASE WHEN of_bytea THEN '{13,13,12,11,10,9,8,6,5,3,0}'::int[] ELSE '{12,11,11,10,9,9,7,6,5,3,0}' END)
		[width_bucket(similarity, '{0.5,0.55,0.6,0.65,0.7,0.75,0.8,0.85,0.9,0.95,1}'::float8[])]
$$;
CREATE FUNCTION share_band(a simhash_bits, b simhash_bits, similarity float8 DEFAULT 0.8, of_bytea boolean DEFAULT false)
RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
	SELECT simhash_share_band(a, b, similar_radius(similarity, of_bytea), similar_bands(similarity, of_bytea))
$$;
CREATE FUNCTION are_alike(a text, b text, similarity float8 DEFAULT 0.8) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
	SELECT simhash_jaccard(a, b) >= similarity AND share_band(simhash_bands(a), simhash_bands(b), similarity)
$$;
CREATE FUNCTION are_alike(a bytea, b bytea, similarity float8 DEFAULT 0.8) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
	SELECT simhash_jaccard(a, b) >= similarity AND share_band(simhash_bands(a), simhash_bands(b), similarity, true)
$$;

-- the plan of a query, the same in all server versions
CREATE FUNCTION plan(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		CONTINUE WHEN line ~ '^ *(Disabled: true|Replaces: .*)$';
		line := replace(line, ' (returns $0)', '');
		line := regexp_replace(line, '(InitPlan|SubPlan) [a-z]+_([0-9]+)', '\1 \2', 'g');
		RETURN NEXT replace(line, '$0', '(InitPlan 1).col1');
	END LOOP;
END $$;

-- the same as one text
CREATE FUNCTION plan_of(query text) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(line || E'\n', '') FROM plan(query) line
$$;

--
-- Any two queries
--

-- How many rows a query finds, how many rows of another one are missing, and how
-- many are found that the other one has not.  Repeated rows count.
CREATE FUNCTION compare_rows(query text, truth text, OUT rows bigint, OUT missing bigint, OUT wrong bigint)
LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('WITH found AS MATERIALIZED (%s), wanted AS MATERIALIZED (%s)
		SELECT (SELECT count(*) FROM found),
			(SELECT count(*) FROM (TABLE wanted EXCEPT ALL TABLE found) s),
			(SELECT count(*) FROM (TABLE found EXCEPT ALL TABLE wanted) s)', query, truth)
	INTO rows, missing, wrong;
END $$;

-- The same in words; null if the rows are the same.
CREATE FUNCTION difference(query text, truth text) RETURNS text LANGUAGE sql AS $$
	SELECT format('%s rows, %s missing, %s wrong', rows, missing, wrong)
	FROM compare_rows(query, truth) WHERE missing > 0 OR wrong > 0
$$;

--
-- Look-ups: each fingerprint of the table query (qno, fp) at each radius of the
-- table radii (r)
--

-- Note in the table probe what must be found in a table (id, fp), or of each tenant
-- in a table (id, tenant, fp): how many rows, and a sum over them that tells which.
-- Balls of 20 bits and more are large, so only the first queries look at these.
CREATE PROCEDURE expect_lookups(tab regclass, tenants boolean DEFAULT false, large int DEFAULT 2)
LANGUAGE plpgsql AS $$
BEGIN
	IF to_regclass('probe') IS NULL THEN
		CREATE TABLE probe (qno int, fp simhash, r int, tenant int, n bigint, rows numeric);
	END IF;
	TRUNCATE probe;
	EXECUTE format('INSERT INTO probe
		WITH t AS (SELECT id, fp, %2$s AS tenant FROM %1$s)
		SELECT qno, q.fp, r, tenant, coalesce(sum(n) FILTER (WHERE d <= r), 0),
			coalesce(sum(rows) FILTER (WHERE d <= r), 0)
		FROM query q CROSS JOIN radii
			CROSS JOIN (SELECT DISTINCT tenant FROM t WHERE tenant IS NOT NULL UNION SELECT 0 WHERE NOT $1) s
			LEFT JOIN (SELECT qno, tenant, distance(t.fp::bigint, q.fp::bigint) AS d,
					count(*) AS n, sum(hashint8extended(id, 1)) AS rows
				FROM t, query q WHERE qno <= $2 OR distance(t.fp::bigint, q.fp::bigint) < 20 GROUP BY 1, 2, 3) near USING (qno, tenant)
		WHERE r < 20 OR qno <= $2 GROUP BY qno, q.fp, r, tenant',
		tab, CASE WHEN tenants THEN 'tenant' ELSE '0' END)
	USING tenants, large;
	ANALYZE probe;
END $$;

-- Compare what an index finds, through plain and bitmap scans, with what
-- expect_lookups() noted: 'ok', or the differences.  Every query is the inner side of a
-- join, and if literals is true some are constants, too.  Writes nothing, so it runs on a
-- standby.
CREATE FUNCTION compare_lookups(tab regclass, index regclass, tenants boolean DEFAULT false,
	literals boolean DEFAULT false)
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	form text;
	node text;
	statement text;
	diff text;
	p record;
	got record;
BEGIN
	IF NOT EXISTS (SELECT FROM probe) THEN
		RETURN 'there is nothing to compare';
	END IF;
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
		IF strpos(plan_of(statement), node) = 0 THEN
			RETURN 'the join does not use the index: ' || plan_of(statement);
		END IF;
		EXECUTE format('SELECT string_agg(format(''%%s: query %%s radius %%s tenant %%s: %%s rows, not %%s'',
				%L, qno, r, tenant, coalesce(g.n, 0), p.n), E''\n'' ORDER BY r, qno, tenant)
			FROM probe p FULL JOIN (%s) g USING (qno, r, tenant)
			WHERE (p.n, p.rows) IS DISTINCT FROM (coalesce(g.n, 0), coalesce(g.rows, 0))',
			form, statement) INTO diff;
		IF diff IS NOT NULL THEN
			RETURN diff;
		END IF;

		FOR p IN SELECT * FROM probe WHERE literals AND fp IS NOT NULL AND (qno + r) % 5 = 0 ORDER BY r, qno LOOP
			statement := format('SELECT count(*) AS n, coalesce(sum(hashint8extended(id, 1)), 0) AS rows
				FROM %s WHERE fp <~> %L <= %s', tab, p.fp, p.r);
			IF p.r BETWEEN 0 AND 63 AND strpos(plan_of(statement), node) = 0 THEN
				RETURN 'the look-up does not use the index: ' || plan_of(statement);
			END IF;
			EXECUTE statement INTO got;
			IF (p.n, p.rows) IS DISTINCT FROM (got.n, got.rows) THEN
				RETURN format('%s literal: query %s radius %s: %s rows, not %s', form, p.qno, p.r, got.n, p.n);
			END IF;
		END LOOP;
	END LOOP;
	RETURN 'ok';
END $$;

--
-- Look-ups of wide fingerprints
--
-- The truth is bit_count() of bit strings.
--
CREATE FUNCTION wide_distance(a varbit, b varbit) RETURNS int LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
	SELECT bit_count(a # b)::int
$$;

-- Note in the table wide_probe which rows of a table (id, fp) are near each fingerprint
-- of a table (qno, fp), at each radius of the table radii (r).
CREATE PROCEDURE expect_wide_lookups(tab regclass, queries regclass) LANGUAGE plpgsql AS $$
BEGIN
	DROP TABLE IF EXISTS wide_probe;
	EXECUTE format('CREATE TABLE wide_probe AS
		WITH near AS MATERIALIZED (SELECT qno, t.id::bigint AS id, wide_distance(t.fp::varbit, q.fp::varbit) AS d FROM %s t, %s q)
		SELECT qno, q.fp, r, (SELECT coalesce(array_agg(id ORDER BY id), ''{}'') FROM near WHERE near.qno = q.qno AND d <= r) AS ids
		FROM %2$s q, radii', tab, queries);
	ANALYZE wide_probe;
END $$;

-- Compare what an index finds with what expect_wide_lookups() noted, for a condition
-- that has $q for the fingerprint and $r for the radius: through plain and bitmap scans,
-- with literals and as the inner side of a join.  'ok', or the first difference.  Only
-- the radii for which "at" holds are asked for.
CREATE FUNCTION compare_wide_lookups(tab regclass, index regclass, condition text DEFAULT 't.fp <~> $q <= $r',
	at text DEFAULT 'true')
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	form text;
	node text;
	statement text;
	p record;
	answer bigint[];
	diff text;
	compared int := 0;
BEGIN
	PERFORM set_config('enable_seqscan', 'off', true),
			set_config('enable_material', 'off', true),
			set_config('max_parallel_workers_per_gather', '0', true);
	FOREACH form IN ARRAY '{indexscan,bitmapscan}'::text[] LOOP
		PERFORM set_config('enable_indexscan', (form = 'indexscan')::text, true),
				set_config('enable_bitmapscan', (form = 'bitmapscan')::text, true);
		node := CASE form WHEN 'indexscan' THEN 'Index Scan using ' ELSE 'Bitmap Index Scan on ' END || index;
		FOR p IN EXECUTE format('SELECT qno, fp, r, ids FROM wide_probe WHERE %s ORDER BY r, qno', at) LOOP
			statement := format('SELECT id::bigint FROM %s t WHERE %s', tab,
				replace(replace(condition, '$q', quote_literal(p.fp) || '::simhash_bits'), '$r', p.r::text));
			IF strpos(plan_of(statement), node) = 0 THEN
				RETURN 'the look-up does not use the index: ' || plan_of(statement);
			END IF;
			EXECUTE format('SELECT coalesce(array_agg(id ORDER BY id), ''{}'') FROM (%s) s', statement) INTO answer;
			IF answer <> p.ids THEN
				RETURN format('%s: query %s radius %s: %s rows, not %s', form, p.qno, p.r,
					cardinality(answer), cardinality(p.ids));
			END IF;
			compared := compared + 1;
		END LOOP;

		statement := format('SELECT p.qno, p.r, array_agg(t.id::bigint ORDER BY t.id) AS ids
			FROM wide_probe p JOIN %s t ON %s WHERE %s GROUP BY p.qno, p.r', tab,
			replace(replace(condition, '$q', 'p.fp'), '$r', 'p.r'), at);
		IF strpos(plan_of(statement), node) = 0 THEN
			RETURN 'the join does not use the index: ' || plan_of(statement);
		END IF;
		EXECUTE format('SELECT string_agg(format(''%%s: query %%s radius %%s: %%s rows, not %%s'', %L, qno, r,
				coalesce(cardinality(g.ids), 0), cardinality(p.ids)), E''\n'' ORDER BY r, qno)
			FROM wide_probe p LEFT JOIN (%s) g USING (qno, r)
			WHERE (%s) AND p.ids <> coalesce(g.ids, ''{}'')', form, statement, at) INTO diff;
		IF diff IS NOT NULL THEN
			RETURN diff;
		END IF;
	END LOOP;
	RETURN CASE WHEN compared > 0 THEN 'ok' ELSE 'there is nothing to compare' END;
END $$;

--
-- Pairs, clusters and duplicates
--

-- Note all pairs within a radius in the table near (a, b, d), by the ids of the rows:
-- those of a table for which a condition holds, each compared with each.
CREATE PROCEDURE expect_pairs(tab regclass, radius int, fp text DEFAULT 'fp::bigint', condition text DEFAULT 'true')
LANGUAGE plpgsql AS $$
BEGIN
	DELETE FROM near;
	EXECUTE format('WITH r AS MATERIALIZED (SELECT id, %s AS h FROM %s WHERE %s)
		INSERT INTO near SELECT a.id, b.id, distance(a.h, b.h) FROM r a JOIN r b ON a.id < b.id
		WHERE distance(a.h, b.h) <= %s', fp, tab, condition, radius);
	ANALYZE near;
END $$;

-- The same for tables that are too large for this: fingerprints that vary only
-- in the uppermost bits, 64 or 48, and these cut into so many blocks.  Pairs
-- that differ in fewer bits than there are blocks agree in one of them.
CREATE PROCEDURE expect_pairs_by_blocks(tab regclass, bits int, blocks int) LANGUAGE plpgsql AS $$
BEGIN
	DELETE FROM near;
	EXECUTE format('WITH block AS MATERIALIZED (SELECT id, fp::bigint AS h, n,
			(fp::bigint >> (64 - n * %2$s)) & ((1::bigint << %2$s) - 1) AS bits FROM %1$s, generate_series(1, %3$s) n)
		INSERT INTO near SELECT DISTINCT a.id, b.id, distance(a.h, b.h)
		FROM block a JOIN block b USING (n, bits) WHERE a.id < b.id AND distance(a.h, b.h) < %3$s',
		tab, bits / blocks, blocks);
	ANALYZE near;
END $$;

-- Compare the pairs and clusters of an index with those of the rows that this query
-- sees.  Rows a and b are near if a condition on the two holds and their fingerprints
-- differ in at most radius bits; rows are those of the table for which another condition
-- holds.  Says how many pairs and members of clusters are found, how many are missing,
-- and how many are found that should not be.
CREATE FUNCTION compare_batch(tab regclass, index regclass, radius int, condition text DEFAULT 'true',
	fp text DEFAULT 'fp', rows text DEFAULT 'true',
	OUT pairs bigint, OUT pairs_missing bigint, OUT pairs_wrong bigint,
	OUT members bigint, OUT members_missing bigint, OUT members_wrong bigint)
LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('WITH RECURSIVE
		r AS MATERIALIZED (SELECT row_number() OVER (ORDER BY t.tableoid, t.ctid) AS row_no,
				t.tableoid AS row_table, t.ctid AS row_tid, (%s)::bigint AS row_bits, t.*
			FROM %s t WHERE %s),
		-- in arrays, so that the planner does not take a third of all pairs for near: since
		-- 19 a recursive UNION allocates a hash table for as many rows as are expected
		nears AS MATERIALIZED (SELECT array_agg(a.row_no) AS a, array_agg(b.row_no) AS b FROM r a JOIN r b
			ON %s AND distance(a.row_bits, b.row_bits) <= $2 AND a.row_no <> b.row_no),
		near AS MATERIALIZED (SELECT u.a, u.b FROM nears, unnest(nears.a, nears.b) AS u (a, b)),
		reached (a, b) AS (SELECT a, b FROM near
			UNION SELECT reached.a, near.b FROM reached JOIN near ON near.a = reached.b),
		pair AS MATERIALIZED (SELECT a.row_tid, b.row_tid, a.row_bits, b.row_bits,
				distance(a.row_bits, b.row_bits), a.row_table, b.row_table
			FROM near JOIN r a ON a.row_no = near.a JOIN r b ON b.row_no = near.b WHERE near.a < near.b),
		member AS MATERIALIZED (SELECT dense_rank() OVER (ORDER BY min(reached.b)), r.row_tid, r.row_bits,
				count(*), r.row_table
			FROM reached JOIN r ON r.row_no = reached.a GROUP BY r.row_tid, r.row_bits, r.row_table),
		found_pair AS MATERIALIZED (SELECT a, b, a_fp::bigint, b_fp::bigint, f.distance, a_table::oid, b_table::oid
			FROM simhash_find_all($1, $2) f),
		found_member AS MATERIALIZED (SELECT cluster, member, f.fp::bigint, size, member_table::oid
			FROM simhash_find_clusters($1, $2) f)
		SELECT (SELECT count(*) FROM found_pair),
			(SELECT count(*) FROM (TABLE pair EXCEPT ALL TABLE found_pair) s),
			(SELECT count(*) FROM (TABLE found_pair EXCEPT ALL TABLE pair) s),
			(SELECT count(*) FROM found_member),
			(SELECT count(*) FROM (TABLE member EXCEPT ALL TABLE found_member) s),
			(SELECT count(*) FROM (TABLE found_member EXCEPT ALL TABLE member) s)', fp, tab, rows, condition)
	INTO pairs, pairs_missing, pairs_wrong, members, members_missing, members_wrong USING index, radius;
END $$;

-- The same within several distances: how many pairs and members within each of them, and how
-- many are missing or wrong in all.
CREATE FUNCTION compare_batches(tab regclass, index regclass, radii int[], condition text DEFAULT 'true',
	fp text DEFAULT 'fp', rows text DEFAULT 'true', OUT pairs bigint[], OUT members bigint[], OUT wrong bigint)
LANGUAGE sql AS $$
	SELECT array_agg(c.pairs ORDER BY r), array_agg(c.members ORDER BY r),
		sum(pairs_missing + pairs_wrong + members_missing + members_wrong)::bigint
	FROM unnest(radii) r, compare_batch(tab, index, r, condition, fp, rows) c
$$;

-- Of pairs of numbers, the first one below the second: each number, with the least one
-- that it is connected with.
CREATE FUNCTION connected(pair_a bigint[], pair_b bigint[], OUT no bigint, OUT root bigint)
RETURNS SETOF record LANGUAGE plpgsql AS $$
DECLARE
	parent bigint[] := ARRAY(SELECT generate_series(1, (SELECT max(n) FROM unnest(pair_b) n)));
	a bigint;
	b bigint;
BEGIN
	FOR a, b IN SELECT * FROM unnest(pair_a, pair_b) LOOP
		WHILE parent[a] <> a LOOP a := parent[a]; END LOOP;
		WHILE parent[b] <> b LOOP b := parent[b]; END LOOP;
		parent[greatest(a, b)] := least(a, b);
	END LOOP;
	FOR no IN SELECT n FROM unnest(pair_a || pair_b) n GROUP BY n ORDER BY n LOOP
		parent[no] := parent[parent[no]];
		root := parent[no];
		RETURN NEXT;
	END LOOP;
END $$;

-- Of such pairs: the numbers that must go so that one of each is left, taken one after the
-- other, with the nearest one that is kept.
CREATE FUNCTION superfluous(pair_a bigint[], pair_b bigint[], distances integer[],
	OUT no bigint, OUT keeper bigint, OUT d integer)
RETURNS SETOF record LANGUAGE plpgsql AS $$
DECLARE
	pair record;
	gone boolean[] := '{}';
BEGIN
	FOR pair IN SELECT * FROM unnest(pair_a, pair_b, distances) p (earlier, later, distance)
		ORDER BY later, distance, earlier LOOP
		CONTINUE WHEN gone[pair.later] OR gone[pair.earlier];
		gone[pair.later] := true;
		no := pair.later;
		keeper := pair.earlier;
		d := pair.distance;
		RETURN NEXT;
	END LOOP;
END $$;

-- The same for pairs (a, b, d) of ids of a table, given as a query, whose rows are taken in an order.
CREATE FUNCTION superfluous_of(pairs text, tab regclass, keep text, OUT id bigint, OUT keeper bigint, OUT d integer)
RETURNS SETOF record LANGUAGE plpgsql AS $$
BEGIN
	RETURN QUERY EXECUTE format('WITH place AS MATERIALIZED (
			SELECT row_number() OVER (ORDER BY %s) AS place, id::bigint AS id FROM %s),
		p AS (SELECT array_agg(least(x.place, y.place)) AS a, array_agg(greatest(x.place, y.place)) AS b, array_agg(n.d) AS d
			FROM (%s) n (a, b, d) JOIN place x ON x.id = n.a JOIN place y ON y.id = n.b)
		SELECT x.id, y.id, s.d FROM p CROSS JOIN superfluous(p.a, p.b, p.d) s
			JOIN place x ON x.place = s.no JOIN place y ON y.place = s.keeper', keep, tab, pairs);
END $$;

-- The duplicates of a table by the definition: each row that is near one that was kept
-- before it in the order, and of those the nearest.  Rows are near as in compare_batch().
CREATE FUNCTION expect_duplicates(tab regclass, radius int, keep text, condition text DEFAULT 'true',
	OUT duplicate tid, OUT keeper tid, OUT distance int, OUT duplicate_table oid, OUT keeper_table oid)
RETURNS SETOF record LANGUAGE plpgsql AS $$
BEGIN
	RETURN QUERY EXECUTE format('WITH r AS MATERIALIZED (
			SELECT row_number() OVER (ORDER BY %s tableoid, ctid) AS row_no,
				tableoid AS row_table, ctid AS row_tid, fp::bigint AS row_bits, * FROM %s WHERE fp IS NOT NULL),
		near AS (SELECT array_agg(b.row_no) AS b, array_agg(a.row_no) AS a,
				array_agg(distance(a.row_bits, b.row_bits)) AS d
			FROM r a JOIN r b ON b.row_no < a.row_no AND %s WHERE distance(a.row_bits, b.row_bits) <= $1)
		SELECT x.row_tid, y.row_tid, s.d, x.row_table, y.row_table
		FROM near CROSS JOIN superfluous(near.b, near.a, near.d) s
			JOIN r x ON x.row_no = s.no JOIN r y ON y.row_no = s.keeper', keep || ',', tab, condition)
	USING radius;
END $$;

-- Compare the duplicates of an index with these: how many are found, missing, or wrong?
-- And do the guarantees hold: how many pairs of rows that stay are near each other, and
-- how many duplicates are not as far from their keeper as is said, or have none that stays?
CREATE FUNCTION compare_duplicates(tab regclass, index regclass, radius int, keep text, condition text DEFAULT 'true',
	same text DEFAULT NULL, OUT n bigint, OUT missing bigint, OUT wrong bigint, OUT near_kept bigint, OUT far bigint)
LANGUAGE plpgsql AS $$
DECLARE
	near_and_same text := format('(%s) AND (%s)', condition, coalesce(same, 'true'));
BEGIN
	EXECUTE format('WITH
		found AS MATERIALIZED (SELECT duplicate, keeper, distance, duplicate_table::oid, keeper_table::oid
			FROM simhash_find_duplicates($1, $2, keep => $3, same => $6)),
		wanted AS MATERIALIZED (SELECT * FROM expect_duplicates($4, $2, $3, $5)),
		r AS MATERIALIZED (SELECT tableoid AS row_table, ctid AS row_tid, fp::bigint AS row_bits, * FROM %s),
		kept AS MATERIALIZED (SELECT * FROM r
			WHERE (row_table, row_tid) NOT IN (SELECT duplicate_table, duplicate FROM found))
		SELECT (SELECT count(*) FROM found),
			(SELECT count(*) FROM (TABLE wanted EXCEPT ALL TABLE found) s),
			(SELECT count(*) FROM (TABLE found EXCEPT ALL TABLE wanted) s),
			(SELECT count(*) FROM kept a JOIN kept b
				ON (a.row_table, a.row_tid) < (b.row_table, b.row_tid)
					AND distance(a.row_bits, b.row_bits) <= $2 AND %s),
			(SELECT count(*) FROM found f
				JOIN r a ON (a.row_table, a.row_tid) = (duplicate_table, duplicate)
				LEFT JOIN kept b ON (b.row_table, b.row_tid) = (keeper_table, keeper)
				WHERE b.row_tid IS NULL OR distance(a.row_bits, b.row_bits) <> f.distance OR f.distance > $2)',
		tab, near_and_same)
	INTO n, missing, wrong, near_kept, far USING index, radius, keep, tab, near_and_same, same;
END $$;

-- Compare the clusters of rows that are the same with those by the definition: how many
-- rows are in clusters, missing, or wrong?  A row is the same as one before it, in the
-- order of the table, if it is near, a condition holds, and "same" does.
CREATE FUNCTION compare_same_clusters(tab regclass, index regclass, radius int, same text,
	condition text DEFAULT 'true', OUT n bigint, OUT missing bigint, OUT wrong bigint)
LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('WITH r AS MATERIALIZED (SELECT row_number() OVER (ORDER BY t.tableoid, t.ctid) AS row_no,
			t.tableoid AS row_table, t.ctid AS row_tid, fp::bigint AS row_bits, t.* FROM %s t),
		edge AS (SELECT array_agg(b.row_no) AS b, array_agg(a.row_no) AS a FROM r a JOIN r b ON b.row_no < a.row_no
			AND distance(a.row_bits, b.row_bits) <= $2 AND (%s) AND (%s)),
		wanted AS MATERIALIZED (SELECT dense_rank() OVER (ORDER BY root), row_tid, row_bits,
				count(*) OVER (PARTITION BY root) AS size, row_table
			FROM edge CROSS JOIN connected(edge.b, edge.a) c JOIN r ON row_no = c.no),
		found AS MATERIALIZED (SELECT cluster, member, f.fp::bigint, size, member_table::oid
			FROM simhash_find_clusters($1, $2, same => $3) f)
		SELECT (SELECT count(*) FROM found),
			(SELECT count(*) FROM (TABLE wanted EXCEPT ALL TABLE found) s),
			(SELECT count(*) FROM (TABLE found EXCEPT ALL TABLE wanted) s)', tab, condition, same)
	INTO n, missing, wrong USING index, radius, same;
END $$;
