--
-- Schemes: the tables of (blocks, distance)
--
\pset format unaligned
\pset footer off

-- the default
SELECT * FROM simhash_tables(4, 3);
-- several chosen blocks, in lexicographic order of the choice
SELECT table_no, permutation, prefix_bits, hex(prefix_mask::simhash) FROM simhash_tables(4, 2);
-- blocks of unequal width
SELECT table_no, permutation, prefix_bits, hex(prefix_mask::simhash) FROM simhash_tables(5, 3);
-- the plain sorted table
SELECT * FROM (SELECT * FROM simhash_tables(1, 0)) a,
	(SELECT table_no, permutation, prefix_bits FROM simhash_tables(4, 0)) b;
SELECT count(*), min(table_no), max(table_no), min(prefix_bits), max(prefix_bits) FROM simhash_tables(16, 2);
SELECT * FROM simhash_tables(NULL, 3);
SELECT * FROM simhash_tables(4, NULL);

-- the blocks move: 64 bits as four hex digits a block
SELECT table_no, hex(simhash_permute('0x3333222211110000', 4, 3, table_no)) AS permuted,
	hex(simhash_unpermute('0x3333222211110000', 4, 3, table_no)) AS unpermuted
FROM simhash_tables(4, 3);
SELECT table_no, permutation, hex(simhash_permute('0x3333222211110000', 4, 2, table_no)) AS permuted
FROM simhash_tables(4, 2);
SELECT simhash_permute(NULL, 4, 3, 0), simhash_permute('1', NULL, 3, 0), simhash_unpermute('1', 4, 3, NULL);

-- what is refused
\set VERBOSITY default
SELECT * FROM simhash_tables(0, 0);
SELECT * FROM simhash_tables(-1, -2);
SELECT * FROM simhash_tables(17, 3);
SELECT * FROM simhash_tables(4, 4);
SELECT * FROM simhash_tables(4, -1);
SELECT * FROM simhash_tables(16, 3);
SELECT * FROM simhash_tables(2147483647, 2147483647);
SELECT simhash_permute('1', 4, 4, 0);
SELECT simhash_unpermute('1', 0, 0, 0);
SELECT simhash_permute('1', 4, 3, -1);
SELECT simhash_permute('1', 4, 3, 4);
SELECT simhash_unpermute('1', 4, 3, 4);
\set VERBOSITY sqlstate
SELECT * FROM simhash_tables(16, 8);
SELECT simhash_permute('1', 4, 3, 4);
\set VERBOSITY default

--
-- Properties of every scheme that can be used
--
CREATE FUNCTION pg_temp.binomial(n int, k int) RETURNS numeric LANGUAGE sql AS
	$$ SELECT factorial(n) / (factorial(k) * factorial(n - k)) $$;
CREATE TEMP TABLE scheme AS
	SELECT m, k FROM generate_series(1, 16) m, generate_series(0, m - 1) k
	WHERE pg_temp.binomial(m, k) <= 256;
SELECT count(*) FROM scheme;

-- each choice of blocks once, in lexicographic order, ascending in prefix and rest
WITH t AS (
	SELECT m, k, table_no, prefix_bits, prefix_mask,
		string_to_array(trim(split_part(permutation, '|', 1)), ' ')::int[] AS chosen,
		string_to_array(trim(split_part(permutation, '|', 2)), ' ')::int[] AS others
	FROM scheme, simhash_tables(m, k)
), checked AS (
	SELECT m, k, table_no, chosen,
		cardinality(chosen) = m - k
		AND chosen = ARRAY(SELECT unnest(chosen) ORDER BY 1)
		AND others = ARRAY(SELECT unnest(others) ORDER BY 1)
		AND ARRAY(SELECT unnest(chosen || others) ORDER BY 1) =
		ARRAY(SELECT generate_series(0, m - 1)) AS permutation_ok,
		prefix_bits = (SELECT sum((b + 1) * 64 / m - b * 64 / m) FROM unnest(chosen) b) AS bits_ok,
		prefix_mask = (SELECT bit_or(1::bigint << bit) FROM unnest(chosen) b,
					   generate_series(b * 64 / m, (b + 1) * 64 / m - 1) bit)::bit(64) AS mask_ok,
		table_no = row_number() OVER (PARTITION BY m, k ORDER BY chosen) - 1 AS order_ok
	FROM t
)
SELECT count(*) AS tables, bool_and(permutation_ok) AS permutation, bool_and(bits_ok) AS bits,
	bool_and(mask_ok) AS mask, bool_and(order_ok) AS "order",
	count(DISTINCT (m, k, chosen)) = count(*) AS "distinct",
	(SELECT sum(pg_temp.binomial(m, k)) FROM scheme) = count(*) AS complete
FROM checked;

-- permuting can be undone, and keeps the distance
SELECT count(*) > 20000 AS many,
	bool_and(simhash_unpermute(simhash_permute(a, m, k, table_no), m, k, table_no) = a) AS undone,
	bool_and(simhash_permute(simhash_unpermute(a, m, k, table_no), m, k, table_no) = a) AS redone,
	bool_and(simhash_permute(a, m, k, table_no) <~> simhash_permute(b, m, k, table_no) = (a <~> b)) AS same_distance
FROM scheme, simhash_tables(m, k),
	(SELECT hashint8extended(i, 1)::simhash AS a, hashint8extended(i, 2)::simhash AS b FROM generate_series(1, 10) i) s;

-- each single bit goes where the permutation says
SELECT bool_and(simhash_permute((1::bigint << bit), m, k, table_no)::bigint = 1::bigint << position) AS placed
FROM (
	SELECT m, k, table_no, bit, (64 - row_number() OVER (PARTITION BY m, k, table_no ORDER BY place,
		bit DESC))::int AS position
	FROM scheme, simhash_tables(m, k),
		unnest(string_to_array(replace(replace(permutation, ' |', ''), '  ', ' '), ' ')::int[])
		WITH ORDINALITY AS o(block, place),
		generate_series(block * 64 / m, (block + 1) * 64 / m - 1) bit
	WHERE m <= 9
) s;

-- what is within the distance shares the prefix in some table
WITH pairs AS (
	SELECT m, k, i, hashint8extended(i, 3) AS a, hashint8extended(i, 3) # flips AS b
	FROM scheme, generate_series(1, 30) i,
		LATERAL (SELECT coalesce(bit_xor(1::bigint << (hashint8extended(i * 100 + j, m * 16 + k) & 63)::int),
			0) AS flips
				 FROM generate_series(1, k) j) f
), found AS (
	SELECT m, k, i, bool_or(shared) AS found, bool_and(shared = masked) AS mask_agrees
	FROM pairs, simhash_tables(m, k),
		LATERAL (SELECT substring(simhash_permute(a, m, k, table_no)::bit(64) FROM 1 FOR prefix_bits) =
						substring(simhash_permute(b, m, k, table_no)::bit(64) FROM 1 FOR prefix_bits) AS shared,
						((a # b)::bit(64) & prefix_mask) = 0::bit(64) AS masked) s
	GROUP BY m, k, i
)
SELECT count(*) > 1000 AS many, bool_and(found) AS all_found, bool_and(mask_agrees) AS mask_agrees
FROM found;

DROP TABLE scheme;
