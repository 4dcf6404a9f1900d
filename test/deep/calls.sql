-- What test/deep/calls.pl asks of whole tables and arrays, by brute force: all pairs by
-- bit_count() over bit strings, and what doc/reference.md says of them.  Behind model.sql.

-- Fingerprints of a width, of some kinds
CREATE FUNCTION center(seed bigint, width integer) RETURNS varbit LANGUAGE sql IMMUTABLE AS $$
	SELECT left(string_agg(hashint8extended(seed, i)::bit(64)::text, ''), width)::varbit
	FROM generate_series(1, 64) i $$;
CREATE FUNCTION flip(bits varbit, n integer, places integer) RETURNS varbit LANGUAGE sql VOLATILE AS $$
	SELECT bits # coalesce((SELECT bit_or(set_bit(bits # bits, floor(random() * places)::integer, 1))
		FROM generate_series(1, n)), bits # bits) $$;
CREATE FUNCTION draw_bits(kind text, width integer) RETURNS varbit LANGUAGE plpgsql VOLATILE AS $$
DECLARE
	x float8 := random();
	n integer := floor(random() * width);
	bits varbit := center(CASE kind WHEN 'random' THEN x * 1e15 WHEN 'clustered' THEN floor(x * 40)
		WHEN 'duplicates' THEN floor(x * x * x * 20) ELSE 1 END::bigint, width);
BEGIN
	RETURN CASE kind
		WHEN 'clustered' THEN flip(bits, floor(random() * (2 + width / 10))::integer, width)
		-- all agree in all blocks but the first; are one chain; have few bits set, or not set
		WHEN 'prefix' THEN flip(bits, floor(random() * 9)::integer, least(width, 16))
		WHEN 'chain' THEN bits # (repeat('1', n) || repeat('0', width - n))::varbit
		WHEN 'plain' THEN flip(repeat((x < 0.5)::integer::text, width)::varbit, floor(random() * 4)::integer, width)
		ELSE bits END;
END $$;

-- A class of one's own that computes wide fingerprints
CREATE DOMAIN bits_256 AS simhash_bits(256);
CREATE FUNCTION wide_fp(text) RETURNS bits_256 LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN simhash_minhash_bits($1, 256);
CREATE FUNCTION wide_same(a text, b text) RETURNS boolean LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 10000
RETURN hamming(simhash_minhash_bits(a, 256), simhash_minhash_bits(b, 256)) <= 60 AND simhash_jaccard(a, b) >= 0.6;
CREATE OPERATOR ~~~ (LEFTARG = text, RIGHTARG = text, FUNCTION = wide_same, COMMUTATOR = ~~~,
	RESTRICT = simhash_sel, JOIN = simhash_joinsel);
CREATE OPERATOR CLASS wide_text_ops FOR TYPE text USING simhash AS OPERATOR 64 ~~~, FUNCTION 2 wide_fp(text);

-- Note the rows of a table that count in their order, with their bits and what pairs have in
-- common, as "x" and its name.
CREATE PROCEDURE note_rows(tab text, bits text, hash text, key text, condition text) LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE TEMPORARY TABLE x%1$s AS SELECT row_number() OVER (ORDER BY tableoid, ctid)::integer AS no,
			tableoid AS tab, ctid AS tid, *, %2$s::varbit AS bits, %3$s AS hash, %4$s AS key
		FROM %1$s WHERE %2$s IS NOT NULL AND %5$s', tab, bits, hash, key, condition);
	EXECUTE format('ANALYZE x%s', tab);
END $$;

-- Of two such tables "xa" and "xb", note arrays, and all pairs with their distances, and how
-- much texts have in common whose distance is no more than that.  Where
-- it is said whether they are byte strings, they have bands: how much those have in common that
-- share one, also as a distance, and up to which similarity they share one.
CREATE PROCEDURE note_pairs(width integer, farthest integer, of_bytea boolean) LANGUAGE plpgsql AS $$
DECLARE
	bits_d text := 'bit_count(x.bits # y.bits)::integer AS d';
	banded boolean := of_bytea IS NOT NULL;
	share text := 'CASE WHEN share_band(x.bands, y.bands, 0.5, ' || of_bytea || ') THEN %s END AS %s';
	d text := CASE WHEN banded THEN format(share, '(simhash_jaccard(x.fp, y.fp) * -1e9)::integer', 'd') ELSE bits_d END;
	j text := CASE WHEN banded THEN format(share, 'simhash_jaccard(x.fp, y.fp)', 'j')
		ELSE coalesce('CASE WHEN bit_count(x.bits # y.bits) <= ' || farthest || ' THEN simhash_jaccard(x.fp, y.fp) END', '1') || ' AS j' END;
	shared text := CASE WHEN banded THEN format(share, '(SELECT max(s) FROM unnest(''{1,.95,.9,.85,.8,.75,.7,.65,.6,.55,.5}''::float8[]) s
		WHERE share_band(x.bands, y.bands, s, ' || of_bytea || '))', 'shared') ELSE 'NULL::float8 AS shared' END;
	n bigint := (SELECT count(*) FROM xa);
	bits_64 text := CASE WHEN width = 64 THEN 'bits::bit(64)::bigint' ELSE 'NULL::bigint' END;
BEGIN
	EXECUTE format('CREATE TEMPORARY TABLE q AS
		SELECT row_number() OVER (ORDER BY bits)::integer AS no, bits, %s AS hash
		FROM (SELECT DISTINCT bits FROM (SELECT bits FROM xa UNION ALL SELECT bits FROM xb
			UNION ALL SELECT flip(bits, id %% 6, $1) FROM xa UNION ALL SELECT center(no, $1) FROM xb) s
			WHERE random() < 60.0 / $2) s', bits_64) USING width, n;
	CREATE TEMPORARY TABLE arrays AS
	SELECT array_agg(hash::simhash ORDER BY random()) AS v, array_agg(bits::simhash_bits ORDER BY random()) AS v_bits
	FROM (SELECT hash, bits FROM q UNION ALL SELECT hash, bits FROM q WHERE no % 3 = 0
		UNION ALL SELECT NULL, NULL FROM generate_series(1, 3)) s;
	CREATE TEMPORARY TABLE edges AS
	SELECT nullif(a, 7) AS a, CASE WHEN b % 9 = 4 THEN a ELSE nullif(b, 8) END AS b
	FROM (SELECT floor(random() * 300 - 150)::bigint << (i % 3 * 20) AS a, floor(random() * 300 - 150)::bigint AS b
		FROM generate_series(1, 400) i) s;
	IF banded THEN
		ALTER TABLE xa ADD bands simhash_bits;
		ALTER TABLE xb ADD bands simhash_bits;
		UPDATE xa SET bands = simhash_bands(fp);
		UPDATE xb SET bands = simhash_bands(fp);
	END IF;
	EXECUTE format('CREATE TEMPORARY TABLE paa AS SELECT x.no AS a, y.no AS b, %1$s, %2$s, %3$s
			FROM xa x JOIN xa y ON x.no < y.no AND x.key = y.key;
		CREATE TEMPORARY TABLE pab AS SELECT x.no AS a, y.no AS b, %1$s, %2$s, %3$s FROM xa x JOIN xb y ON x.key = y.key;
		CREATE TEMPORARY TABLE pqq AS SELECT x.no AS a, y.no AS b, %4$s FROM q x JOIN q y ON x.no < y.no;
		CREATE TEMPORARY TABLE pqa AS SELECT x.no AS a, y.no AS b, %4$s FROM q x CROSS JOIN xa y', d, j, shared, bits_d);
	-- two indexes of one table
	EXECUTE format('CREATE TEMPORARY VIEW pa AS SELECT a, b, d, j, shared FROM paa UNION ALL SELECT b, a, d, j, shared FROM paa
		UNION ALL SELECT no, no, %s, 1, 1 FROM xa WHERE key IS NOT NULL', CASE WHEN banded THEN -1000000000 ELSE 0 END);
END $$;

-- Clusters of rows that are near by one condition and the same by another, and of arrays: the
-- pairs, and what is returned of the rows.
CREATE FUNCTION true_clusters(near text, same text)
RETURNS TABLE (cluster bigint, member tid, fp bigint, size bigint, tab oid) LANGUAGE plpgsql AS $$
BEGIN
	RETURN QUERY EXECUTE format('WITH n AS (SELECT array_agg(p.a) AS a, array_agg(p.b) AS b
			FROM paa p JOIN xa b ON b.no = p.a JOIN xa a ON a.no = p.b WHERE %s AND (%s))
		SELECT dense_rank() OVER (ORDER BY root), x.tid, x.hash, count(*) OVER (PARTITION BY root), x.tab
		FROM n CROSS JOIN connected(n.a, n.b) c JOIN xa x USING (no)', near, same);
END $$;

-- Duplicates by these, of rows in an order
CREATE FUNCTION true_duplicates(near text, same text, keep text)
RETURNS TABLE (duplicate tid, keeper tid, distance integer, tab oid, keeper_tab oid) LANGUAGE plpgsql AS $$
BEGIN
	RETURN QUERY EXECUTE format('WITH
		o AS MATERIALIZED (SELECT *, row_number() OVER (ORDER BY %s) AS place FROM xa),
		n AS (SELECT array_agg(b.place) AS b, array_agg(a.place) AS a, array_agg(p.d) AS d
			FROM pa p JOIN o b ON b.no = p.b JOIN o a ON a.no = p.a AND b.place < a.place WHERE %s AND (%s))
		SELECT x.tid, y.tid, s.d, x.tab, y.tab FROM n CROSS JOIN superfluous(n.b, n.a, n.d) s
			JOIN o x ON x.place = s.no JOIN o y ON y.place = s.keeper', keep, near, same);
END $$;

-- Components of the first pairs of an array
CREATE FUNCTION true_components(last integer)
RETURNS TABLE (component bigint, member bigint, size bigint) LANGUAGE plpgsql AS $$
BEGIN
	RETURN QUERY
	WITH e AS MATERIALIZED (SELECT a, b FROM (SELECT * FROM edges LIMIT last) s WHERE num_nulls(a, b) = 0),
		v AS (SELECT v, row_number() OVER (ORDER BY v) AS no FROM (SELECT a AS v FROM e UNION SELECT b FROM e) s),
		n AS (SELECT array_agg(least(x.no, y.no)) AS a, array_agg(greatest(x.no, y.no)) AS b
			FROM e JOIN v x ON x.v = e.a JOIN v y ON y.v = e.b)
	SELECT r.v, v.v, count(*) OVER (PARTITION BY root)
	FROM n CROSS JOIN connected(n.a, n.b) c JOIN v ON v.no = c.no JOIN v r ON r.no = c.root;
END $$;

-- Run a call, with the memory that it asks for if it has too little, and the same by brute
-- force: how many rows there are, or how they differ.
CREATE FUNCTION compare_call(call text, truth text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	digest text := 'SELECT count(*) AS n, sum(hash_record_extended(s, 0)) FROM (%s) s';
	got record;
	wanted record;
	hint text;
BEGIN
	BEGIN
		EXECUTE format(digest, call) INTO got;
	EXCEPTION WHEN configuration_limit_exceeded THEN
		GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
		PERFORM set_config('maintenance_work_mem', coalesce(substring(hint FROM 'to (\d+) kB') || 'kB', '64MB'), false);
		EXECUTE format(digest, call) INTO got;
	END;
	-- nothing is known of the pairs, so that the planner may expect few
	PERFORM set_config('work_mem', '256MB', false), set_config('enable_nestloop', 'off', false);
	EXECUTE format(digest, truth) INTO wanted;
	RETURN CASE WHEN got = wanted THEN got.n::text
		ELSE concat_ws(': ', difference(call, truth), call, 'instead of', truth) END;
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE || ' ' || SQLERRM || ': ' || call;
END $$;

-- Larger tables, for calls that are cancelled
CREATE PROCEDURE make_large() LANGUAGE plpgsql AS $$
BEGIN
	CREATE TABLE large AS SELECT row_number() OVER () AS id, h::simhash AS fp FROM make_fingerprints(200000, 0.5) h;
	CREATE INDEX large_fp ON large USING simhash (fp);
	CREATE TABLE equal AS SELECT i AS id, (i % 40)::simhash AS fp FROM generate_series(1, 12000) i;
	CREATE INDEX equal_fp ON equal USING simhash (fp);
	CREATE TABLE wide AS SELECT i AS id, flip_wide(wide('w' || i / 4), i % 30)::simhash_bits(256) AS fp
	FROM generate_series(1, 40000) i;
	ALTER TABLE wide ALTER fp TYPE simhash_bits(256);
	CREATE INDEX wide_fp ON wide USING simhash (fp);
	CREATE TABLE texts AS SELECT i AS id, draw_text('varied') AS fp FROM generate_series(1, 12000) i;
	CREATE INDEX texts_fp ON texts USING simhash (fp simhash_text_ops);
	ANALYZE large, equal, wide, texts;
END $$;
