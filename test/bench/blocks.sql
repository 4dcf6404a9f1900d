-- Multi-index hashing by the server's own B-trees, the best that one has without an extension.  A value of 64 bits,
-- t.h, is cut into n blocks.  One that is within a radius of q.h agrees with it, but for a few bits, in one of them:
-- these few, and one more for each block, add up to the radius and one.  So all near values of a block are looked up.

CREATE FUNCTION block(value text, i int, n int) RETURNS text LANGUAGE sql IMMUTABLE
RETURN format('((%s >> %s) & %s)', value, 64 * i / n, (1::bigint << (64 * (i + 1) / n - 64 * i / n)) - 1);

-- how many bits of block i may differ
CREATE FUNCTION few(radius int, i int, n int) RETURNS int LANGUAGE sql IMMUTABLE
RETURN (radius + n - i) / n - 1;

-- the bits to invert, none to a few of a block
CREATE FUNCTION flips(radius int, i int, n int) RETURNS bigint[] LANGUAGE sql IMMUTABLE AS $$
	WITH RECURSIVE f(bits, flip, highest) AS (
		VALUES (0, 0::bigint, -1)
		UNION ALL
		SELECT bits + 1, flip | (1::bigint << bit), bit
		FROM f, generate_series(highest + 1, 64 * (i + 1) / n - 64 * i / n - 1) bit WHERE bits < few(radius, i, n))
	SELECT array_agg(flip) FROM f
$$;

-- a row that an earlier block has found as well is not returned again
CREATE FUNCTION not_before(radius int, i int, n int, difference text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
	SELECT coalesce(string_agg(format(' AND bit_count(%s::bit(64)) > %s', block(difference, j, n), few(radius, j, n)), ''), '')
	FROM generate_series(0, i - 1) j
$$;

-- Statements for the indexes: plain ones, or covering ones that have all that is asked for, with a further column
CREATE FUNCTION block_indexes(relation text, prefix text, n int, further text DEFAULT NULL) RETURNS text[]
LANGUAGE sql IMMUTABLE AS $$
	SELECT array_agg(format('CREATE INDEX %s%s ON %s (%s%s', prefix, i, relation, block('h', i, n),
							coalesce(', h) INCLUDE (' || further, '') || ')') ORDER BY i)
	FROM generate_series(0, n - 1) i
$$;
CREATE FUNCTION block_condition(radius int, i int, n int) RETURNS text LANGUAGE sql IMMUTABLE AS $$
	SELECT CASE WHEN few(radius, i, n) = 0 THEN format('%s = %s', block('t.h', i, n), block('q.h', i, n))
		ELSE format('%s = ANY (ARRAY(SELECT %s # f FROM unnest(%L::bigint[]) f))', block('t.h', i, n), block('q.h', i, n),
					flips(radius, i, n)) END
$$;
-- the rows of t, from index-only scans of covering indexes, and a condition for a bitmap of the plain ones
CREATE FUNCTION by_covering(radius int, n int, columns text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
	SELECT string_agg(format('SELECT %s FROM t WHERE %s AND bit_count((t.h # q.h)::bit(64)) <= %s%s', columns,
							 block_condition(radius, i, n), radius, not_before(radius, i, n, '(t.h # q.h)')),
					  ' UNION ALL ' ORDER BY i)
	FROM generate_series(0, n - 1) i
$$;
CREATE FUNCTION by_bitmaps(radius int, n int) RETURNS text LANGUAGE sql IMMUTABLE AS $$
	SELECT format('(%s) AND bit_count((t.h # q.h)::bit(64)) <= %s', string_agg(block_condition(radius, i, n), ' OR '), radius)
	FROM generate_series(0, n - 1) i
$$;

-- All pairs by hash joins of near blocks, each pair once: in the direction in which the block grows, or the place.
-- Those of some rows of t only, which a condition chooses.
CREATE FUNCTION by_joins(radius int, n int, some_rows text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
	SELECT 'SELECT count(*) FROM (' || string_agg(format(
		'SELECT FROM (SELECT ctid AS place, h, flip, %1$s # flip AS near FROM t, unnest(%2$L::bigint[]) flip'
		' WHERE (%3$s) AND %1$s # flip >= %1$s) q'
		' JOIN t ON %1$s = near AND bit_count((t.h # q.h)::bit(64)) <= %4$s%5$s AND (flip <> 0 OR t.ctid > place)',
		block('t.h', i, n), flips(radius, i, n), some_rows, radius, not_before(radius, i, n, '(t.h # q.h)')),
		' UNION ALL ') || ') pairs'
	FROM generate_series(0, n - 1) i
$$;
