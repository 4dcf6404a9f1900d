--
-- The prefixes of a fingerprint in the tables of a scheme, to join by
--
\pset format unaligned
\pset footer off

SELECT * FROM rows_of($$SELECT table_no, prefix, to_hex(prefix) FROM simhash_blocks('0x4444333322221111')$$,
	$$SELECT table_no, to_hex(prefix) FROM simhash_blocks('0x4444333322221111', 4, 2)$$);
SELECT table_no, to_hex(prefix) FROM simhash_blocks('0x4444333322221111', blocks => 5);
-- the whole fingerprint: the only prefix that can be negative
SELECT * FROM simhash_blocks('0xffffffffffffffff', 1, 0)
UNION ALL SELECT * FROM simhash_blocks('0x8000000000000000', 4, 0);
SELECT * FROM simhash_blocks('0xffffffffffffffff', 4, 1);

SELECT simhash_first_table('0x0', '0x0'), simhash_first_table('0x0', '0x1'),
	simhash_first_table('0x0', '0x10001'), simhash_first_table('0x0', '0x100010001'),
	simhash_first_table('0x0', '0x1000100010001') IS NULL AS none;
SELECT simhash_first_table('0x0', '0x1', 4, 2), simhash_first_table('0x0', '0x10000', 4, 2),
	simhash_first_table('0x0', '0x1', 1, 0) IS NULL AS none;

-- of nulls nothing
SELECT * FROM rows_of($$SELECT * FROM simhash_blocks(NULL)$$, $$SELECT * FROM simhash_blocks('1', NULL)$$,
	$$SELECT * FROM simhash_blocks('1', 4, NULL)$$);
SELECT simhash_first_table(NULL, '1') IS NULL, simhash_first_table('1', NULL) IS NULL,
	simhash_first_table('1', '1', NULL) IS NULL, simhash_first_table('1', '1', 4, NULL) IS NULL;

-- what is refused
SELECT * FROM simhash_blocks('1', 4, 4);
SELECT * FROM simhash_blocks('1', 16, 8);
SELECT simhash_first_table('1', '1', 0, 0);
SELECT state, message FROM attempt($$SELECT simhash_blocks('1') + 1$$);
-- a distance at the end of the integers, with which no number of blocks goes
SELECT f.name, a.state, a.message, a.hint IS NOT DISTINCT FROM '' AS no_hint
FROM (VALUES ('tables(4, %s)'), ('permute(1, 4, %s, 0)'), ('unpermute(1, 4, %s, 0)'), ('blocks(1, 4, %s)'),
		('first_table(1, 1, 4, %s)')) f(name),
	unnest('{16,2147483647,-2147483648}'::int[]) distance,
	attempt(format('SELECT simhash_' || f.name, distance)) a
ORDER BY f.name, distance;

-- in a select list, of several fingerprints, and not to the end
SELECT i, (simhash_blocks(i)).* FROM generate_series(1, 2) i;
SELECT i, b.*, simhash_blocks(i * 65536, 2, 1) FROM generate_series(1, 2) i, LATERAL simhash_blocks(i, i + 1, i) b;
SELECT * FROM rows_of($$SELECT i, (SELECT table_no FROM (SELECT (simhash_blocks(i)).*) b LIMIT 1) AS first,
	(SELECT simhash_blocks(i) LIMIT 1) AS first_too
FROM generate_series(1, 3) i$$,
	$$SELECT i FROM generate_series(1, 3) i WHERE EXISTS (SELECT simhash_blocks(i, i, i - 1) OFFSET 2)$$);
BEGIN;
DECLARE c CURSOR FOR SELECT simhash_blocks(i) FROM generate_series(1, 2) i;
FETCH 2 FROM c;
CLOSE c;
COMMIT;

--
-- As simhash_permute says, for every scheme that can be used; two calls in one
-- expression have different schemes
--
CREATE TABLE scheme AS
	SELECT m, k FROM generate_series(1, 16) m, generate_series(0, m - 1) k
	WHERE factorial(m) / (factorial(k) * factorial(m - k)) <= 256;

WITH permuted AS (
	SELECT i, m, k, t.table_no, t.prefix_bits,
		substring(simhash_permute(hashint8extended(i, 1), m, k, t.table_no)::bit(64) FROM 1 FOR t.prefix_bits) AS prefix
	FROM scheme, generate_series(1, 20) i, simhash_tables(m, k) t
)
SELECT count(*) > 10000 AS many, count(b.table_no) = count(*) AS complete,
	bool_and(b.prefix >= 0 OR p.prefix_bits = 64) AS not_negative,
	bool_and(substring(b.prefix::bit(64) FROM 65 - p.prefix_bits) = p.prefix) AS same,
	(SELECT count(*) FROM scheme, generate_series(1, 20) i, simhash_blocks(hashint8extended(i, 1), m, k)) =
	count(*) AS no_more
FROM permuted p LEFT JOIN LATERAL simhash_blocks(hashint8extended(p.i, 1), p.m, p.k) b ON b.table_no = p.table_no;

-- two within the distance share a table, and the first of them is simhash_first_table
WITH pairs AS (
	SELECT m, k, i, hashint8extended(i, 3) AS a, hashint8extended(i, 3) # flips AS b
	FROM scheme, generate_series(1, 30) i,
		LATERAL (SELECT coalesce(bit_xor(1::bigint << (hashint8extended(i * 100 + j, m * 16 + k) & 63)::int),
			0) AS flips
				 FROM generate_series(1, k + i % 3) j) f
), shared AS (
	SELECT m, k, (a::simhash <~> b) <= k AS near, simhash_first_table(a, b, m, k) AS first, min(x.table_no) AS shared
	FROM pairs, simhash_blocks(a, m, k) x LEFT JOIN LATERAL simhash_blocks(b, m, k) y USING (table_no, prefix)
	WHERE y.table_no IS NOT NULL
	GROUP BY m, k, i, a, b
)
SELECT count(*) FILTER (WHERE near) > 1000 AS near, count(*) FILTER (WHERE NOT near) > 100 AS others_too,
	bool_and(first = shared) AS first,
	count(*) FILTER (WHERE near) = (SELECT count(*) FROM pairs WHERE (a::simhash <~> b) <= k) AS all_near
FROM shared;
-- where none is shared it is null
SELECT count(*) > 50 AS many, bool_and(simhash_first_table(a, b, m, k) IS NULL) AS none
FROM scheme, LATERAL (SELECT hashint8extended(m, k) AS a, ~hashint8extended(m, k) AS b) s;

--
-- A join by blocks finds what simhash_find_all_in finds, and divides it as that
-- does: random fingerprints, clusters around them, and a dense one
--
CREATE TABLE fps AS
	SELECT DISTINCT fp::simhash AS fp FROM (
		SELECT hashint8extended(i, 5) FROM generate_series(1, 200) i
		UNION ALL
		SELECT hashint8extended(i % 40, 5) # flips FROM generate_series(1, 400) i,
			LATERAL (SELECT bit_xor(1::bigint << (hashint8extended(i * 100 + j, 6) & 63)::int) AS flips
					 FROM generate_series(1, 1 + i % 3) j) f
		UNION ALL
		SELECT i::bigint << 13 FROM generate_series(0, 63) i
	) s(fp);

CREATE VIEW divided AS
	SELECT m, k, t.table_no, p.a, p.b
	FROM scheme, simhash_tables(m, k) t,
		LATERAL simhash_find_all_in((SELECT array_agg(fp ORDER BY fp) FROM fps), k, m, t.table_no) p
	WHERE (m, k) IN ((1, 0), (4, 3), (5, 3), (6, 3), (6, 2), (8, 3), (7, 6), (11, 10));
CREATE TABLE joined AS
	SELECT m, k, x.table_no, x.fp AS a, y.fp AS b
	FROM (SELECT DISTINCT m, k FROM divided) s,
		LATERAL (SELECT fp, (simhash_blocks(fp, m, k)).* FROM fps) x
		JOIN LATERAL (SELECT fp, (simhash_blocks(fp, m, k)).* FROM fps) y
			ON x.table_no = y.table_no AND x.prefix = y.prefix AND x.fp < y.fp
	WHERE (x.fp <~> y.fp) <= k AND simhash_first_table(x.fp, y.fp, m, k) = x.table_no;
SELECT m, k, count(*) > 300 AS pairs, count(DISTINCT table_no) AS tables FROM joined GROUP BY m, k ORDER BY m, k;
SELECT count(*) FROM (TABLE divided EXCEPT ALL TABLE joined) d;
SELECT count(*) FROM (TABLE joined EXCEPT ALL TABLE divided) d;

DROP VIEW divided;
DROP TABLE fps, joined, scheme;
