/* sql/simhash--1.0.sql */

-- complain if script is sourced in psql, rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION simhash" to load this file. \quit

--
-- Contents
--
--  1. Type simhash
--  2. Casts
--  3. Order and equality of fingerprints
--  4. Hamming distance
--  5. Radii and balls
--  6. Index access method
--  7. Operator classes for columns before the fingerprint
--  8. Comparisons of a distance with a number
--  9. Fingerprints of documents
-- 10. MinHash fingerprints of documents
-- 11. Verification of candidates
-- 12. Schemes: permuted tables and their prefixes
-- 13. Inspection of indexes
-- 14. Searches of whole indexes
-- 15. Searches of arrays
-- 16. Progress of searches
-- 17. Type simhash_bits: wide fingerprints
-- 18. Order and equality of wide fingerprints
-- 19. Hamming distance and balls of wide fingerprints
-- 20. Wide MinHash fingerprints of documents, and bands
-- 21. Near-duplicate documents
-- 22. Searches of arrays of wide fingerprints
-- 23. Parts of texts
--
-- Each object has a COMMENT, which says "internal:" of a function that is not to be
-- called.  doc/reference.md describes them all, and a test compares it with the catalogs.
-- A change after a release needs an upgrade script as well: see CONTRIBUTING.md.
--

--
-- 1. Type simhash
--

CREATE TYPE simhash;

CREATE FUNCTION simhash_in(cstring) RETURNS simhash
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_in(cstring) IS 'I/O';

CREATE FUNCTION simhash_out(simhash) RETURNS cstring
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_out(simhash) IS 'I/O';

CREATE FUNCTION simhash_recv(internal) RETURNS simhash
AS 'int8recv' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_recv(internal) IS 'I/O';

CREATE FUNCTION simhash_send(simhash) RETURNS bytea
AS 'int8send' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_send(simhash) IS 'I/O';

-- The category is our own, and shared with wide fingerprints (section 17).  As simhash
-- is the preferred type in it, literals without a type are fingerprints of 64 bits
-- where they could be either: hamming('1', '2').
CREATE TYPE simhash (
	INPUT = simhash_in,
	OUTPUT = simhash_out,
	RECEIVE = simhash_recv,
	SEND = simhash_send,
	INTERNALLENGTH = 8,
	PASSEDBYVALUE,
	ALIGNMENT = double,
	CATEGORY = '#',
	PREFERRED = true
);
COMMENT ON TYPE simhash IS '64-bit fingerprint of a document; similar documents differ in few bits';

--
-- 2. Casts
--

-- Not int8(integer) of the server: a cast by a function that returns bigint needs the
-- cast of bigint to exist, and pg_upgrade makes casts in the order of the types' names.
CREATE FUNCTION simhash_from_int2(smallint) RETURNS simhash
AS 'int28' LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION simhash_from_int2(smallint) IS
	'internal: the fingerprint with the bits of a smallint, sign-extended to 64 bits';

CREATE FUNCTION simhash_from_int4(integer) RETURNS simhash
AS 'int48' LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION simhash_from_int4(integer) IS
	'internal: the fingerprint with the bits of an integer, sign-extended to 64 bits';

CREATE FUNCTION simhash_from_numeric(numeric) RETURNS simhash
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_from_numeric(numeric) IS
	'internal: the fingerprint of an integral value from -2^63 to 2^64-1; negative values as for bigint';

CREATE FUNCTION simhash_to_numeric(simhash) RETURNS numeric
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_to_numeric(simhash) IS 'internal: a fingerprint as an unsigned integral value';

CREATE FUNCTION simhash_from_bit(bit) RETURNS simhash
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_from_bit(bit) IS
	'internal: the fingerprint with the bits of a bit(64), first bit most significant';

CREATE FUNCTION simhash_to_bit(simhash) RETURNS bit
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_to_bit(simhash) IS
	'internal: the bits of a fingerprint as a bit(64), most significant bit first';

CREATE FUNCTION simhash_from_bytea(bytea) RETURNS simhash
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_from_bytea(bytea) IS
	'internal: the fingerprint with the bits of 8 bytes, first byte most significant';

-- The casts to simhash are implicit because drivers bind integers, and because the
-- type of an integer literal follows from its size: integer, bigint, or, from 2^63
-- on, numeric.  Drivers, too, send unsigned integers of that size as numeric, and
-- half of all fingerprints are that large.  Operators that take a numeric would be
-- no substitute for the cast: beside those of the server they would make
-- numeric % integer ambiguous.
--
-- A function of another name than simhash_... must not take a simhash alone, since it
-- takes all numbers then: bit_count(simhash) would make the call bit_count(1) of
-- somebody's own bit_count(bigint) ambiguous.
CREATE CAST (bigint AS simhash) WITHOUT FUNCTION AS IMPLICIT;
COMMENT ON CAST (bigint AS simhash) IS 'bit for bit';

CREATE CAST (simhash AS bigint) WITHOUT FUNCTION AS ASSIGNMENT;
COMMENT ON CAST (simhash AS bigint) IS 'bit for bit';

CREATE CAST (smallint AS simhash) WITH FUNCTION simhash_from_int2(smallint) AS IMPLICIT;
COMMENT ON CAST (smallint AS simhash) IS 'bit for bit, sign-extended';

CREATE CAST (integer AS simhash) WITH FUNCTION simhash_from_int4(integer) AS IMPLICIT;
COMMENT ON CAST (integer AS simhash) IS 'bit for bit, sign-extended';

CREATE CAST (numeric AS simhash) WITH FUNCTION simhash_from_numeric(numeric) AS IMPLICIT;
COMMENT ON CAST (numeric AS simhash) IS 'by value; negative values as for bigint';

CREATE CAST (simhash AS numeric) WITH FUNCTION simhash_to_numeric(simhash) AS ASSIGNMENT;
COMMENT ON CAST (simhash AS numeric) IS 'by value, unsigned';

CREATE CAST (bit AS simhash) WITH FUNCTION simhash_from_bit(bit) AS ASSIGNMENT;
COMMENT ON CAST (bit AS simhash) IS 'bit for bit, first bit most significant';

CREATE CAST (simhash AS bit) WITH FUNCTION simhash_to_bit(simhash) AS ASSIGNMENT;
COMMENT ON CAST (simhash AS bit) IS 'bit for bit, most significant bit first';

CREATE CAST (bit varying AS simhash) WITH FUNCTION simhash_from_bit(bit) AS ASSIGNMENT;
COMMENT ON CAST (bit varying AS simhash) IS 'bit for bit, first bit most significant';

CREATE CAST (simhash AS bit varying) WITH FUNCTION simhash_to_bit(simhash) AS ASSIGNMENT;
COMMENT ON CAST (simhash AS bit varying) IS 'bit for bit, most significant bit first';

-- Not even on assignment: a document would be stored where its fingerprint belongs, if
-- it had 8 bytes.
CREATE CAST (bytea AS simhash) WITH FUNCTION simhash_from_bytea(bytea);
COMMENT ON CAST (bytea AS simhash) IS '8 bytes, first byte most significant';

CREATE CAST (simhash AS bytea) WITH FUNCTION simhash_send(simhash);
COMMENT ON CAST (simhash AS bytea) IS '8 bytes, most significant byte first';

--
-- 3. Order and equality of fingerprints
--
-- As unsigned integers, by the server's functions for xid8
--

CREATE FUNCTION simhash_eq(simhash, simhash) RETURNS boolean
AS 'xid8eq' LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION simhash_eq(simhash, simhash) IS 'implementation of = operator';
CREATE OPERATOR = (
	LEFTARG = simhash, RIGHTARG = simhash, FUNCTION = simhash_eq,
	COMMUTATOR = =, NEGATOR = <>,
	RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES
);
COMMENT ON OPERATOR =(simhash, simhash) IS 'equal';

CREATE FUNCTION simhash_ne(simhash, simhash) RETURNS boolean
AS 'xid8ne' LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION simhash_ne(simhash, simhash) IS 'implementation of <> operator';
CREATE OPERATOR <> (
	LEFTARG = simhash, RIGHTARG = simhash, FUNCTION = simhash_ne,
	COMMUTATOR = <>, NEGATOR = =,
	RESTRICT = neqsel, JOIN = neqjoinsel
);
COMMENT ON OPERATOR <>(simhash, simhash) IS 'not equal';

CREATE FUNCTION simhash_lt(simhash, simhash) RETURNS boolean
AS 'xid8lt' LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION simhash_lt(simhash, simhash) IS 'implementation of < operator';
CREATE OPERATOR < (
	LEFTARG = simhash, RIGHTARG = simhash, FUNCTION = simhash_lt,
	COMMUTATOR = >, NEGATOR = >=,
	RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);
COMMENT ON OPERATOR <(simhash, simhash) IS 'less than, as unsigned integers';

CREATE FUNCTION simhash_le(simhash, simhash) RETURNS boolean
AS 'xid8le' LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION simhash_le(simhash, simhash) IS 'implementation of <= operator';
CREATE OPERATOR <= (
	LEFTARG = simhash, RIGHTARG = simhash, FUNCTION = simhash_le,
	COMMUTATOR = >=, NEGATOR = >,
	RESTRICT = scalarlesel, JOIN = scalarlejoinsel
);
COMMENT ON OPERATOR <=(simhash, simhash) IS 'less than or equal, as unsigned integers';

CREATE FUNCTION simhash_gt(simhash, simhash) RETURNS boolean
AS 'xid8gt' LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION simhash_gt(simhash, simhash) IS 'implementation of > operator';
CREATE OPERATOR > (
	LEFTARG = simhash, RIGHTARG = simhash, FUNCTION = simhash_gt,
	COMMUTATOR = <, NEGATOR = <=,
	RESTRICT = scalargtsel, JOIN = scalargtjoinsel
);
COMMENT ON OPERATOR >(simhash, simhash) IS 'greater than, as unsigned integers';

CREATE FUNCTION simhash_ge(simhash, simhash) RETURNS boolean
AS 'xid8ge' LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION simhash_ge(simhash, simhash) IS 'implementation of >= operator';
CREATE OPERATOR >= (
	LEFTARG = simhash, RIGHTARG = simhash, FUNCTION = simhash_ge,
	COMMUTATOR = <=, NEGATOR = <,
	RESTRICT = scalargesel, JOIN = scalargejoinsel
);
COMMENT ON OPERATOR >=(simhash, simhash) IS 'greater than or equal, as unsigned integers';

CREATE FUNCTION simhash_cmp(simhash, simhash) RETURNS integer
AS 'xid8cmp' LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION simhash_cmp(simhash, simhash) IS 'internal: less-equal-greater, as unsigned integers';

CREATE FUNCTION simhash_sortsupport(internal) RETURNS void
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_sortsupport(internal) IS 'internal: sort support';

CREATE FUNCTION simhash_hash_value(simhash) RETURNS integer
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION simhash_hash_value(simhash) IS 'internal: hash for hash joins and hash indexes';

CREATE FUNCTION simhash_hash_value_extended(simhash, bigint) RETURNS bigint
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION simhash_hash_value_extended(simhash, bigint) IS 'internal: seeded hash for hash partitioning';

CREATE OPERATOR CLASS simhash_btree_ops
DEFAULT FOR TYPE simhash USING btree AS
	OPERATOR 1 <,
	OPERATOR 2 <=,
	OPERATOR 3 =,
	OPERATOR 4 >=,
	OPERATOR 5 >,
	FUNCTION 1 simhash_cmp(simhash, simhash),
	FUNCTION 2 simhash_sortsupport(internal),
	FUNCTION 4 btequalimage(oid);
COMMENT ON OPERATOR CLASS simhash_btree_ops USING btree IS 'fingerprints as unsigned integers';
COMMENT ON OPERATOR FAMILY simhash_btree_ops USING btree IS 'fingerprints as unsigned integers';

CREATE OPERATOR CLASS simhash_hash_ops
DEFAULT FOR TYPE simhash USING hash AS
	OPERATOR 1 =,
	FUNCTION 1 simhash_hash_value(simhash),
	FUNCTION 2 simhash_hash_value_extended(simhash, bigint);
COMMENT ON OPERATOR CLASS simhash_hash_ops USING hash IS 'equality of fingerprints';
COMMENT ON OPERATOR FAMILY simhash_hash_ops USING hash IS 'equality of fingerprints';

CREATE FUNCTION simhash_smaller(simhash, simhash) RETURNS simhash
AS 'xid8_smaller' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_smaller(simhash, simhash) IS 'internal: smaller of two';
CREATE AGGREGATE min(simhash) (
	SFUNC = simhash_smaller, STYPE = simhash, COMBINEFUNC = simhash_smaller,
	SORTOP = <, PARALLEL = SAFE
);
COMMENT ON AGGREGATE min(simhash) IS 'smallest fingerprint, as an unsigned integer';

CREATE FUNCTION simhash_larger(simhash, simhash) RETURNS simhash
AS 'xid8_larger' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_larger(simhash, simhash) IS 'internal: larger of two';
CREATE AGGREGATE max(simhash) (
	SFUNC = simhash_larger, STYPE = simhash, COMBINEFUNC = simhash_larger,
	SORTOP = >, PARALLEL = SAFE
);
COMMENT ON AGGREGATE max(simhash) IS 'largest fingerprint, as an unsigned integer';

--
-- 4. Hamming distance
--

-- The distance is a domain so that comparing it with a number can be an operator of
-- the extension (section 8), which the planner can turn into an index condition.  It is
-- one over smallint because these operators also take what has an implicit cast to the
-- base type: some databases have such casts to integer, and few have any to smallint.
CREATE DOMAIN simhash_distance AS smallint;
COMMENT ON DOMAIN simhash_distance IS 'number of differing bits';

CREATE FUNCTION simhash_hamming_support(internal) RETURNS internal
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_hamming_support(internal) IS 'internal: planner support of hamming';

CREATE FUNCTION hamming(simhash, simhash) RETURNS simhash_distance
AS 'MODULE_PATHNAME', 'simhash_hamming' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
SUPPORT simhash_hamming_support;
COMMENT ON FUNCTION hamming(simhash, simhash) IS 'number of bits in which two fingerprints differ';
CREATE OPERATOR <~> (
	LEFTARG = simhash, RIGHTARG = simhash, FUNCTION = hamming,
	COMMUTATOR = <~>
);
COMMENT ON OPERATOR <~>(simhash, simhash) IS 'Hamming distance; ORDER BY can use a simhash index';

-- An index can order by an operator only if the type of its result has a btree
-- operator class of its own, and a domain has none.  In plans, the support function
-- of hamming replaces <~> by this operator.
CREATE FUNCTION simhash_order_distance(simhash, simhash) RETURNS smallint
AS 'MODULE_PATHNAME', 'simhash_hamming' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION simhash_order_distance(simhash, simhash) IS 'implementation of <~~> operator';
CREATE OPERATOR <~~> (
	LEFTARG = simhash, RIGHTARG = simhash, FUNCTION = simhash_order_distance,
	COMMUTATOR = <~~>
);
COMMENT ON OPERATOR <~~>(simhash, simhash) IS 'Hamming distance as a smallint; what <~> becomes in a plan';

--
-- 5. Radii and balls
--
-- A ball is a center and a radius: the right operand of an index condition.
--

CREATE FUNCTION simhash_within_support(internal) RETURNS internal
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_within_support(internal) IS 'internal: planner support of simhash_within and simhash_similar';

CREATE FUNCTION simhash_within(a simhash, b simhash, radius integer) RETURNS boolean
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
SUPPORT simhash_within_support;
COMMENT ON FUNCTION simhash_within(simhash, simhash, integer) IS
	'do two fingerprints differ in at most radius bits?';

-- Bounds that are not constants when a query is planned: "distance <= bound" becomes
-- simhash_within(a, b, simhash_radius(bound, false)).
CREATE FUNCTION simhash_radius(bound bigint, strict boolean) RETURNS integer
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION simhash_radius(bigint, boolean) IS
	'internal: largest radius, -1..4096, whose distances are <= bound, or < bound if strict';

CREATE TYPE simhash_ball;

CREATE FUNCTION simhash_ball_in(cstring) RETURNS simhash_ball
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_ball_in(cstring) IS 'I/O';

CREATE FUNCTION simhash_ball_out(simhash_ball) RETURNS cstring
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_ball_out(simhash_ball) IS 'I/O';

CREATE FUNCTION simhash_ball_recv(internal) RETURNS simhash_ball
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_ball_recv(internal) IS 'I/O';

CREATE FUNCTION simhash_ball_send(simhash_ball) RETURNS bytea
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_ball_send(simhash_ball) IS 'I/O';

CREATE TYPE simhash_ball (
	INPUT = simhash_ball_in,
	OUTPUT = simhash_ball_out,
	RECEIVE = simhash_ball_recv,
	SEND = simhash_ball_send,
	INTERNALLENGTH = 16,
	ALIGNMENT = double
);
COMMENT ON TYPE simhash_ball IS 'a center and a radius: all fingerprints within the radius of the center';

CREATE FUNCTION simhash_ball(center simhash, radius integer) RETURNS simhash_ball
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION simhash_ball(simhash, integer) IS
	'the fingerprints that differ from the center in at most radius bits; none if radius < 0';

CREATE FUNCTION simhash_sel(internal, oid, internal, integer) RETURNS float8
AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_sel(internal, oid, internal, integer) IS
	'restriction selectivity of the near-duplicate operators';

CREATE FUNCTION simhash_joinsel(internal, oid, internal, smallint, internal) RETURNS float8
AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_joinsel(internal, oid, internal, smallint, internal) IS
	'join selectivity of the near-duplicate operators';

CREATE FUNCTION simhash_in_ball(simhash, simhash_ball) RETURNS boolean
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION simhash_in_ball(simhash, simhash_ball) IS 'implementation of <@ operator';
CREATE OPERATOR <@ (
	LEFTARG = simhash, RIGHTARG = simhash_ball, FUNCTION = simhash_in_ball,
	COMMUTATOR = @>, RESTRICT = simhash_sel, JOIN = simhash_joinsel
);
COMMENT ON OPERATOR <@(simhash, simhash_ball) IS 'is in the ball; can use a simhash index';

CREATE FUNCTION simhash_ball_contains(simhash_ball, simhash) RETURNS boolean
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION simhash_ball_contains(simhash_ball, simhash) IS 'implementation of @> operator';
CREATE OPERATOR @> (
	LEFTARG = simhash_ball, RIGHTARG = simhash, FUNCTION = simhash_ball_contains,
	COMMUTATOR = <@, RESTRICT = simhash_sel, JOIN = simhash_joinsel
);
COMMENT ON OPERATOR @>(simhash_ball, simhash) IS 'contains; can use a simhash index';

CREATE FUNCTION simhash_near(simhash, simhash) RETURNS boolean
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION simhash_near(simhash, simhash) IS 'implementation of % operator';
CREATE OPERATOR % (
	LEFTARG = simhash, RIGHTARG = simhash, FUNCTION = simhash_near,
	COMMUTATOR = %, RESTRICT = simhash_sel, JOIN = simhash_joinsel
);
COMMENT ON OPERATOR %(simhash, simhash) IS
	'near-duplicates: differ in at most 3 bits; can use a simhash index';

CREATE FUNCTION simhash_near_6(simhash, simhash) RETURNS boolean
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION simhash_near_6(simhash, simhash) IS 'implementation of <%> operator';
CREATE OPERATOR <%> (
	LEFTARG = simhash, RIGHTARG = simhash, FUNCTION = simhash_near_6,
	COMMUTATOR = <%>, RESTRICT = simhash_sel, JOIN = simhash_joinsel
);
COMMENT ON OPERATOR <%>(simhash, simhash) IS 'differ in at most 6 bits; can use a simhash index';

CREATE FUNCTION simhash_near_10(simhash, simhash) RETURNS boolean
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION simhash_near_10(simhash, simhash) IS 'implementation of <<%>> operator';
CREATE OPERATOR <<%>> (
	LEFTARG = simhash, RIGHTARG = simhash, FUNCTION = simhash_near_10,
	COMMUTATOR = <<%>>, RESTRICT = simhash_sel, JOIN = simhash_joinsel
);
COMMENT ON OPERATOR <<%>>(simhash, simhash) IS 'differ in at most 10 bits; can use a simhash index';

--
-- 6. Index access method
--

CREATE FUNCTION simhash_handler(internal) RETURNS index_am_handler
AS 'MODULE_PATHNAME' LANGUAGE C;
COMMENT ON FUNCTION simhash_handler(internal) IS 'internal: handler of the simhash index access method';

CREATE ACCESS METHOD simhash TYPE INDEX HANDLER simhash_handler;
COMMENT ON ACCESS METHOD simhash IS
	'finds all fingerprints within a Hamming distance, by permuted-block tables';

-- Strategy 1 is equality, 2 "lies in the ball", 3 the distance, to order by, and 4 + r
-- "differ in at most r bits".
CREATE OPERATOR CLASS simhash_ops
DEFAULT FOR TYPE simhash USING simhash AS
	OPERATOR 1 = (simhash, simhash),
	OPERATOR 2 <@ (simhash, simhash_ball),
	OPERATOR 3 <~~> (simhash, simhash) FOR ORDER BY integer_ops,
	OPERATOR 7 % (simhash, simhash),
	OPERATOR 10 <%> (simhash, simhash),
	OPERATOR 14 <<%>> (simhash, simhash),
	-- of a bigint column, which this class is for as well
	OPERATOR 1 = (bigint, bigint),
	OPERATOR 1 = (bigint, integer),
	OPERATOR 1 = (bigint, smallint),
	FUNCTION 1 hashint8extended(bigint, bigint),
	FUNCTION 1 (bigint, bigint) hashint8extended(bigint, bigint),
	FUNCTION 1 (integer, integer) hashint4extended(integer, bigint),
	FUNCTION 1 (smallint, smallint) hashint2extended(smallint, bigint);
COMMENT ON OPERATOR CLASS simhash_ops USING simhash IS
	'fingerprints within a Hamming distance, and nearest first';
COMMENT ON OPERATOR FAMILY simhash_ops USING simhash IS
	'fingerprints within a Hamming distance, and nearest first';

--
-- 7. Operator classes for columns before the fingerprint
--
-- Strategy 1 is equality; support function 1 is the extended hash function for it.
--

CREATE OPERATOR FAMILY integer_ops USING simhash;
COMMENT ON OPERATOR FAMILY integer_ops USING simhash IS 'equality, for columns before the fingerprint';

CREATE OPERATOR CLASS int2_ops
DEFAULT FOR TYPE smallint USING simhash FAMILY integer_ops AS
	OPERATOR 1 =,
	FUNCTION 1 hashint2extended(smallint, bigint);
COMMENT ON OPERATOR CLASS int2_ops USING simhash IS 'equality, for columns before the fingerprint';

CREATE OPERATOR CLASS int4_ops
DEFAULT FOR TYPE integer USING simhash FAMILY integer_ops AS
	OPERATOR 1 =,
	FUNCTION 1 hashint4extended(integer, bigint);
COMMENT ON OPERATOR CLASS int4_ops USING simhash IS 'equality, for columns before the fingerprint';

-- Comparisons between sizes.  bigint columns have the class simhash_ops, since they
-- can hold fingerprints.
ALTER OPERATOR FAMILY integer_ops USING simhash ADD
	OPERATOR 1 = (smallint, integer),
	OPERATOR 1 = (smallint, bigint),
	OPERATOR 1 = (integer, smallint),
	OPERATOR 1 = (integer, bigint),
	FUNCTION 1 (bigint, bigint) hashint8extended(bigint, bigint);

CREATE OPERATOR CLASS bool_ops
DEFAULT FOR TYPE boolean USING simhash AS
	OPERATOR 1 =,
	FUNCTION 1 hashcharextended("char", bigint);
COMMENT ON OPERATOR CLASS bool_ops USING simhash IS 'equality, for columns before the fingerprint';
COMMENT ON OPERATOR FAMILY bool_ops USING simhash IS 'equality, for columns before the fingerprint';

-- Version 15 of the server hashes the trailing blanks of a character value under a
-- nondeterministic collation, though they do not count when it is compared.
CREATE FUNCTION simhash_hash_bpchar(character, bigint) RETURNS bigint
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_hash_bpchar(character, bigint) IS 'internal: hash of a character value without its trailing blanks';

CREATE OPERATOR CLASS bpchar_ops
DEFAULT FOR TYPE character USING simhash AS
	OPERATOR 1 =,
	FUNCTION 1 simhash_hash_bpchar(character, bigint);
COMMENT ON OPERATOR CLASS bpchar_ops USING simhash IS 'equality, for columns before the fingerprint';
COMMENT ON OPERATOR FAMILY bpchar_ops USING simhash IS 'equality, for columns before the fingerprint';

CREATE OPERATOR CLASS bytea_ops
DEFAULT FOR TYPE bytea USING simhash AS
	OPERATOR 1 =,
	FUNCTION 1 hashvarlenaextended(internal, bigint);
COMMENT ON OPERATOR CLASS bytea_ops USING simhash IS 'equality, for columns before the fingerprint';
COMMENT ON OPERATOR FAMILY bytea_ops USING simhash IS 'equality, for columns before the fingerprint';

CREATE OPERATOR CLASS date_ops
DEFAULT FOR TYPE date USING simhash AS
	OPERATOR 1 =,
	FUNCTION 1 hashint4extended(integer, bigint);
COMMENT ON OPERATOR CLASS date_ops USING simhash IS 'equality, for columns before the fingerprint';
COMMENT ON OPERATOR FAMILY date_ops USING simhash IS 'equality, for columns before the fingerprint';

CREATE OPERATOR CLASS enum_ops
DEFAULT FOR TYPE anyenum USING simhash AS
	OPERATOR 1 =,
	FUNCTION 1 hashenumextended(anyenum, bigint);
COMMENT ON OPERATOR CLASS enum_ops USING simhash IS 'equality, for columns before the fingerprint';
COMMENT ON OPERATOR FAMILY enum_ops USING simhash IS 'equality, for columns before the fingerprint';

CREATE OPERATOR CLASS numeric_ops
DEFAULT FOR TYPE numeric USING simhash AS
	OPERATOR 1 =,
	FUNCTION 1 hash_numeric_extended(numeric, bigint);
COMMENT ON OPERATOR CLASS numeric_ops USING simhash IS 'equality, for columns before the fingerprint';
COMMENT ON OPERATOR FAMILY numeric_ops USING simhash IS 'equality, for columns before the fingerprint';

CREATE OPERATOR CLASS oid_ops
DEFAULT FOR TYPE oid USING simhash AS
	OPERATOR 1 =,
	FUNCTION 1 hashoidextended(oid, bigint);
COMMENT ON OPERATOR CLASS oid_ops USING simhash IS 'equality, for columns before the fingerprint';
COMMENT ON OPERATOR FAMILY oid_ops USING simhash IS 'equality, for columns before the fingerprint';

CREATE OPERATOR FAMILY text_ops USING simhash;
COMMENT ON OPERATOR FAMILY text_ops USING simhash IS 'equality, for columns before the fingerprint';

CREATE OPERATOR CLASS text_ops
DEFAULT FOR TYPE text USING simhash FAMILY text_ops AS
	OPERATOR 1 =,
	FUNCTION 1 hashtextextended(text, bigint);
COMMENT ON OPERATOR CLASS text_ops USING simhash IS 'equality, for columns before the fingerprint';

-- The server hashes a name without regard to collation but compares it with a text
-- under one, so names need a hash function of their own.
CREATE FUNCTION simhash_hash_name(name, bigint) RETURNS bigint
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_hash_name(name, bigint) IS 'internal: hash of a name, the same as that of an equal text';

CREATE OPERATOR CLASS name_ops
DEFAULT FOR TYPE name USING simhash FAMILY text_ops AS
	OPERATOR 1 =,
	FUNCTION 1 simhash_hash_name(name, bigint);
COMMENT ON OPERATOR CLASS name_ops USING simhash IS 'equality, for columns before the fingerprint';

ALTER OPERATOR FAMILY text_ops USING simhash ADD
	OPERATOR 1 = (name, text),
	OPERATOR 1 = (text, name);

CREATE OPERATOR CLASS timestamp_ops
DEFAULT FOR TYPE timestamp without time zone USING simhash AS
	OPERATOR 1 =,
	FUNCTION 1 timestamp_hash_extended(timestamp, bigint);
COMMENT ON OPERATOR CLASS timestamp_ops USING simhash IS 'equality, for columns before the fingerprint';
COMMENT ON OPERATOR FAMILY timestamp_ops USING simhash IS 'equality, for columns before the fingerprint';

CREATE OPERATOR CLASS timestamptz_ops
DEFAULT FOR TYPE timestamp with time zone USING simhash AS
	OPERATOR 1 =,
	FUNCTION 1 timestamp_hash_extended(timestamp, bigint);
COMMENT ON OPERATOR CLASS timestamptz_ops USING simhash IS 'equality, for columns before the fingerprint';
COMMENT ON OPERATOR FAMILY timestamptz_ops USING simhash IS 'equality, for columns before the fingerprint';

CREATE OPERATOR CLASS uuid_ops
DEFAULT FOR TYPE uuid USING simhash AS
	OPERATOR 1 =,
	FUNCTION 1 uuid_hash_extended(uuid, bigint);
COMMENT ON OPERATOR CLASS uuid_ops USING simhash IS 'equality, for columns before the fingerprint';
COMMENT ON OPERATOR FAMILY uuid_ops USING simhash IS 'equality, for columns before the fingerprint';

--
-- 8. Comparisons of a distance with a number
--
-- They compare as the server does, and have a planner support function that turns them
-- into simhash_within or into operators of the server.  An index serves bounds from
-- above.  Those from below are compared by the server's own operators for smallint, of
-- which the domain is one; only for two distances is there the whole set, since a
-- literal or parameter without a type is a distance, too.
--
-- There are none for numeric: a smallint can stand for a distance as well as for a
-- numeric, so numeric > smallint would become ambiguous.
--

CREATE FUNCTION simhash_distance_support(internal) RETURNS internal
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_distance_support(internal) IS 'internal: planner support of comparisons with a distance';

-- two distances; also a distance and a literal or parameter without a type
CREATE FUNCTION simhash_distance_lt(simhash_distance, simhash_distance) RETURNS boolean AS 'int2lt'
LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE SUPPORT simhash_distance_support;
COMMENT ON FUNCTION simhash_distance_lt(simhash_distance, simhash_distance) IS 'implementation of < operator';
CREATE OPERATOR < (LEFTARG = simhash_distance, RIGHTARG = simhash_distance, FUNCTION = simhash_distance_lt,
	COMMUTATOR = >, NEGATOR = >=, RESTRICT = scalarltsel, JOIN = scalarltjoinsel);
COMMENT ON OPERATOR <(simhash_distance, simhash_distance) IS 'distance below bound; can use a simhash index';

CREATE FUNCTION simhash_distance_le(simhash_distance, simhash_distance) RETURNS boolean AS 'int2le'
LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE SUPPORT simhash_distance_support;
COMMENT ON FUNCTION simhash_distance_le(simhash_distance, simhash_distance) IS
	'implementation of <= operator';
CREATE OPERATOR <= (LEFTARG = simhash_distance, RIGHTARG = simhash_distance, FUNCTION = simhash_distance_le,
	COMMUTATOR = >=, NEGATOR = >, RESTRICT = scalarlesel, JOIN = scalarlejoinsel);
COMMENT ON OPERATOR <=(simhash_distance, simhash_distance) IS
	'distance at most bound; can use a simhash index';

CREATE FUNCTION simhash_distance_eq(simhash_distance, simhash_distance) RETURNS boolean AS 'int2eq'
LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE SUPPORT simhash_distance_support;
COMMENT ON FUNCTION simhash_distance_eq(simhash_distance, simhash_distance) IS 'implementation of = operator';
CREATE OPERATOR = (LEFTARG = simhash_distance, RIGHTARG = simhash_distance, FUNCTION = simhash_distance_eq,
	COMMUTATOR = =, RESTRICT = eqsel, JOIN = eqjoinsel);
COMMENT ON OPERATOR =(simhash_distance, simhash_distance) IS 'distance equals bound; can use a simhash index';

CREATE FUNCTION simhash_distance_ge(simhash_distance, simhash_distance) RETURNS boolean AS 'int2ge'
LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE SUPPORT simhash_distance_support;
COMMENT ON FUNCTION simhash_distance_ge(simhash_distance, simhash_distance) IS
	'implementation of >= operator';
CREATE OPERATOR >= (LEFTARG = simhash_distance, RIGHTARG = simhash_distance, FUNCTION = simhash_distance_ge,
	COMMUTATOR = <=, NEGATOR = <, RESTRICT = scalargesel, JOIN = scalargejoinsel);
COMMENT ON OPERATOR >=(simhash_distance, simhash_distance) IS
	'distance at least bound; can use a simhash index';

CREATE FUNCTION simhash_distance_gt(simhash_distance, simhash_distance) RETURNS boolean AS 'int2gt'
LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE SUPPORT simhash_distance_support;
COMMENT ON FUNCTION simhash_distance_gt(simhash_distance, simhash_distance) IS 'implementation of > operator';
CREATE OPERATOR > (LEFTARG = simhash_distance, RIGHTARG = simhash_distance, FUNCTION = simhash_distance_gt,
	COMMUTATOR = <, NEGATOR = <=, RESTRICT = scalargtsel, JOIN = scalargtjoinsel);
COMMENT ON OPERATOR >(simhash_distance, simhash_distance) IS 'distance above bound; can use a simhash index';

-- a distance and a smallint
CREATE FUNCTION simhash_distance_lt(simhash_distance, smallint) RETURNS boolean AS 'int2lt'
LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE SUPPORT simhash_distance_support;
COMMENT ON FUNCTION simhash_distance_lt(simhash_distance, smallint) IS 'implementation of < operator';
CREATE OPERATOR < (LEFTARG = simhash_distance, RIGHTARG = smallint, FUNCTION = simhash_distance_lt,
	COMMUTATOR = >, RESTRICT = scalarltsel, JOIN = scalarltjoinsel);
COMMENT ON OPERATOR <(simhash_distance, smallint) IS 'distance below bound; can use a simhash index';

CREATE FUNCTION simhash_distance_le(simhash_distance, smallint) RETURNS boolean AS 'int2le'
LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE SUPPORT simhash_distance_support;
COMMENT ON FUNCTION simhash_distance_le(simhash_distance, smallint) IS 'implementation of <= operator';
CREATE OPERATOR <= (LEFTARG = simhash_distance, RIGHTARG = smallint, FUNCTION = simhash_distance_le,
	COMMUTATOR = >=, RESTRICT = scalarlesel, JOIN = scalarlejoinsel);
COMMENT ON OPERATOR <=(simhash_distance, smallint) IS 'distance at most bound; can use a simhash index';

CREATE FUNCTION simhash_distance_eq(simhash_distance, smallint) RETURNS boolean AS 'int2eq'
LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE SUPPORT simhash_distance_support;
COMMENT ON FUNCTION simhash_distance_eq(simhash_distance, smallint) IS 'implementation of = operator';
CREATE OPERATOR = (LEFTARG = simhash_distance, RIGHTARG = smallint, FUNCTION = simhash_distance_eq,
	COMMUTATOR = =, RESTRICT = eqsel, JOIN = eqjoinsel);
COMMENT ON OPERATOR =(simhash_distance, smallint) IS 'distance equals bound; can use a simhash index';

-- a smallint and a distance
CREATE FUNCTION simhash_distance_eq(smallint, simhash_distance) RETURNS boolean AS 'int2eq'
LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE SUPPORT simhash_distance_support;
COMMENT ON FUNCTION simhash_distance_eq(smallint, simhash_distance) IS 'implementation of = operator';
CREATE OPERATOR = (LEFTARG = smallint, RIGHTARG = simhash_distance, FUNCTION = simhash_distance_eq,
	COMMUTATOR = =, RESTRICT = eqsel, JOIN = eqjoinsel);
COMMENT ON OPERATOR =(smallint, simhash_distance) IS 'bound equals distance; can use a simhash index';

CREATE FUNCTION simhash_distance_ge(smallint, simhash_distance) RETURNS boolean AS 'int2ge'
LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE SUPPORT simhash_distance_support;
COMMENT ON FUNCTION simhash_distance_ge(smallint, simhash_distance) IS 'implementation of >= operator';
CREATE OPERATOR >= (LEFTARG = smallint, RIGHTARG = simhash_distance, FUNCTION = simhash_distance_ge,
	COMMUTATOR = <=, RESTRICT = scalargesel, JOIN = scalargejoinsel);
COMMENT ON OPERATOR >=(smallint, simhash_distance) IS 'bound at least distance; can use a simhash index';

CREATE FUNCTION simhash_distance_gt(smallint, simhash_distance) RETURNS boolean AS 'int2gt'
LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE SUPPORT simhash_distance_support;
COMMENT ON FUNCTION simhash_distance_gt(smallint, simhash_distance) IS 'implementation of > operator';
CREATE OPERATOR > (LEFTARG = smallint, RIGHTARG = simhash_distance, FUNCTION = simhash_distance_gt,
	COMMUTATOR = <, RESTRICT = scalargtsel, JOIN = scalargtjoinsel);
COMMENT ON OPERATOR >(smallint, simhash_distance) IS 'bound above distance; can use a simhash index';

-- a distance and an integer
CREATE FUNCTION simhash_distance_lt(simhash_distance, integer) RETURNS boolean AS 'int24lt'
LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE SUPPORT simhash_distance_support;
COMMENT ON FUNCTION simhash_distance_lt(simhash_distance, integer) IS 'implementation of < operator';
CREATE OPERATOR < (LEFTARG = simhash_distance, RIGHTARG = integer, FUNCTION = simhash_distance_lt,
	COMMUTATOR = >, RESTRICT = scalarltsel, JOIN = scalarltjoinsel);
COMMENT ON OPERATOR <(simhash_distance, integer) IS 'distance below bound; can use a simhash index';

CREATE FUNCTION simhash_distance_le(simhash_distance, integer) RETURNS boolean AS 'int24le'
LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE SUPPORT simhash_distance_support;
COMMENT ON FUNCTION simhash_distance_le(simhash_distance, integer) IS 'implementation of <= operator';
CREATE OPERATOR <= (LEFTARG = simhash_distance, RIGHTARG = integer, FUNCTION = simhash_distance_le,
	COMMUTATOR = >=, RESTRICT = scalarlesel, JOIN = scalarlejoinsel);
COMMENT ON OPERATOR <=(simhash_distance, integer) IS 'distance at most bound; can use a simhash index';

CREATE FUNCTION simhash_distance_eq(simhash_distance, integer) RETURNS boolean AS 'int24eq'
LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE SUPPORT simhash_distance_support;
COMMENT ON FUNCTION simhash_distance_eq(simhash_distance, integer) IS 'implementation of = operator';
CREATE OPERATOR = (LEFTARG = simhash_distance, RIGHTARG = integer, FUNCTION = simhash_distance_eq,
	COMMUTATOR = =, RESTRICT = eqsel, JOIN = eqjoinsel);
COMMENT ON OPERATOR =(simhash_distance, integer) IS 'distance equals bound; can use a simhash index';

-- an integer and a distance
CREATE FUNCTION simhash_distance_eq(integer, simhash_distance) RETURNS boolean AS 'int42eq'
LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE SUPPORT simhash_distance_support;
COMMENT ON FUNCTION simhash_distance_eq(integer, simhash_distance) IS 'implementation of = operator';
CREATE OPERATOR = (LEFTARG = integer, RIGHTARG = simhash_distance, FUNCTION = simhash_distance_eq,
	COMMUTATOR = =, RESTRICT = eqsel, JOIN = eqjoinsel);
COMMENT ON OPERATOR =(integer, simhash_distance) IS 'bound equals distance; can use a simhash index';

CREATE FUNCTION simhash_distance_ge(integer, simhash_distance) RETURNS boolean AS 'int42ge'
LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE SUPPORT simhash_distance_support;
COMMENT ON FUNCTION simhash_distance_ge(integer, simhash_distance) IS 'implementation of >= operator';
CREATE OPERATOR >= (LEFTARG = integer, RIGHTARG = simhash_distance, FUNCTION = simhash_distance_ge,
	COMMUTATOR = <=, RESTRICT = scalargesel, JOIN = scalargejoinsel);
COMMENT ON OPERATOR >=(integer, simhash_distance) IS 'bound at least distance; can use a simhash index';

CREATE FUNCTION simhash_distance_gt(integer, simhash_distance) RETURNS boolean AS 'int42gt'
LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE SUPPORT simhash_distance_support;
COMMENT ON FUNCTION simhash_distance_gt(integer, simhash_distance) IS 'implementation of > operator';
CREATE OPERATOR > (LEFTARG = integer, RIGHTARG = simhash_distance, FUNCTION = simhash_distance_gt,
	COMMUTATOR = <, RESTRICT = scalargtsel, JOIN = scalargtjoinsel);
COMMENT ON OPERATOR >(integer, simhash_distance) IS 'bound above distance; can use a simhash index';

-- a distance and a bigint
CREATE FUNCTION simhash_distance_lt(simhash_distance, bigint) RETURNS boolean AS 'int28lt'
LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE SUPPORT simhash_distance_support;
COMMENT ON FUNCTION simhash_distance_lt(simhash_distance, bigint) IS 'implementation of < operator';
CREATE OPERATOR < (LEFTARG = simhash_distance, RIGHTARG = bigint, FUNCTION = simhash_distance_lt,
	COMMUTATOR = >, RESTRICT = scalarltsel, JOIN = scalarltjoinsel);
COMMENT ON OPERATOR <(simhash_distance, bigint) IS 'distance below bound; can use a simhash index';

CREATE FUNCTION simhash_distance_le(simhash_distance, bigint) RETURNS boolean AS 'int28le'
LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE SUPPORT simhash_distance_support;
COMMENT ON FUNCTION simhash_distance_le(simhash_distance, bigint) IS 'implementation of <= operator';
CREATE OPERATOR <= (LEFTARG = simhash_distance, RIGHTARG = bigint, FUNCTION = simhash_distance_le,
	COMMUTATOR = >=, RESTRICT = scalarlesel, JOIN = scalarlejoinsel);
COMMENT ON OPERATOR <=(simhash_distance, bigint) IS 'distance at most bound; can use a simhash index';

CREATE FUNCTION simhash_distance_eq(simhash_distance, bigint) RETURNS boolean AS 'int28eq'
LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE SUPPORT simhash_distance_support;
COMMENT ON FUNCTION simhash_distance_eq(simhash_distance, bigint) IS 'implementation of = operator';
CREATE OPERATOR = (LEFTARG = simhash_distance, RIGHTARG = bigint, FUNCTION = simhash_distance_eq,
	COMMUTATOR = =, RESTRICT = eqsel, JOIN = eqjoinsel);
COMMENT ON OPERATOR =(simhash_distance, bigint) IS 'distance equals bound; can use a simhash index';

-- a bigint and a distance
CREATE FUNCTION simhash_distance_eq(bigint, simhash_distance) RETURNS boolean AS 'int82eq'
LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE SUPPORT simhash_distance_support;
COMMENT ON FUNCTION simhash_distance_eq(bigint, simhash_distance) IS 'implementation of = operator';
CREATE OPERATOR = (LEFTARG = bigint, RIGHTARG = simhash_distance, FUNCTION = simhash_distance_eq,
	COMMUTATOR = =, RESTRICT = eqsel, JOIN = eqjoinsel);
COMMENT ON OPERATOR =(bigint, simhash_distance) IS 'bound equals distance; can use a simhash index';

CREATE FUNCTION simhash_distance_ge(bigint, simhash_distance) RETURNS boolean AS 'int82ge'
LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE SUPPORT simhash_distance_support;
COMMENT ON FUNCTION simhash_distance_ge(bigint, simhash_distance) IS 'implementation of >= operator';
CREATE OPERATOR >= (LEFTARG = bigint, RIGHTARG = simhash_distance, FUNCTION = simhash_distance_ge,
	COMMUTATOR = <=, RESTRICT = scalargesel, JOIN = scalargejoinsel);
COMMENT ON OPERATOR >=(bigint, simhash_distance) IS 'bound at least distance; can use a simhash index';

CREATE FUNCTION simhash_distance_gt(bigint, simhash_distance) RETURNS boolean AS 'int82gt'
LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE SUPPORT simhash_distance_support;
COMMENT ON FUNCTION simhash_distance_gt(bigint, simhash_distance) IS 'implementation of > operator';
CREATE OPERATOR > (LEFTARG = bigint, RIGHTARG = simhash_distance, FUNCTION = simhash_distance_gt,
	COMMUTATOR = <, RESTRICT = scalargtsel, JOIN = scalargtjoinsel);
COMMENT ON OPERATOR >(bigint, simhash_distance) IS 'bound above distance; can use a simhash index';

-- For comparisons of rows, such as (fp <~> q, id) < (3, 17).  The family has no operator
-- class, so it orders no index.  A distance is an integer to the server's functions.
CREATE OPERATOR FAMILY simhash_distance_ops USING btree;
COMMENT ON OPERATOR FAMILY simhash_distance_ops USING btree IS
	'comparisons of a distance with a number, for row comparisons';

ALTER OPERATOR FAMILY simhash_distance_ops USING btree ADD
	OPERATOR 1 < (simhash_distance, simhash_distance),
	OPERATOR 2 <= (simhash_distance, simhash_distance),
	OPERATOR 3 = (simhash_distance, simhash_distance),
	OPERATOR 4 >= (simhash_distance, simhash_distance),
	OPERATOR 5 > (simhash_distance, simhash_distance),
	FUNCTION 1 (simhash_distance, simhash_distance) btint2cmp(smallint, smallint),
	OPERATOR 1 < (simhash_distance, smallint),
	OPERATOR 2 <= (simhash_distance, smallint),
	OPERATOR 3 = (simhash_distance, smallint),
	FUNCTION 1 (simhash_distance, smallint) btint2cmp(smallint, smallint),
	OPERATOR 3 = (smallint, simhash_distance),
	OPERATOR 4 >= (smallint, simhash_distance),
	OPERATOR 5 > (smallint, simhash_distance),
	FUNCTION 1 (smallint, simhash_distance) btint2cmp(smallint, smallint),
	OPERATOR 1 < (simhash_distance, integer),
	OPERATOR 2 <= (simhash_distance, integer),
	OPERATOR 3 = (simhash_distance, integer),
	FUNCTION 1 (simhash_distance, integer) btint24cmp(smallint, integer),
	OPERATOR 3 = (integer, simhash_distance),
	OPERATOR 4 >= (integer, simhash_distance),
	OPERATOR 5 > (integer, simhash_distance),
	FUNCTION 1 (integer, simhash_distance) btint42cmp(integer, smallint),
	OPERATOR 1 < (simhash_distance, bigint),
	OPERATOR 2 <= (simhash_distance, bigint),
	OPERATOR 3 = (simhash_distance, bigint),
	FUNCTION 1 (simhash_distance, bigint) btint28cmp(smallint, bigint),
	OPERATOR 3 = (bigint, simhash_distance),
	OPERATOR 4 >= (bigint, simhash_distance),
	OPERATOR 5 > (bigint, simhash_distance),
	FUNCTION 1 (bigint, simhash_distance) btint82cmp(bigint, smallint);

-- What has an implicit cast to smallint can stand for a distance, too.  The server has no
-- such cast.
CREATE FUNCTION simhash_warn_of_casts() RETURNS void AS 'MODULE_PATHNAME' LANGUAGE C;
SELECT simhash_warn_of_casts();
DROP FUNCTION simhash_warn_of_casts();

--
-- 9. Fingerprints of documents
--
-- COST is that of a document of some thousand characters, in units of
-- cpu_operator_cost.  It makes looking up an index on such an expression cheaper than
-- computing the expression for each row of a table, however few pages a table has
-- whose texts are stored out of line.
--

CREATE FUNCTION simhash_compute(document text, shingle integer DEFAULT 4, unit text DEFAULT 'char') RETURNS simhash
AS 'MODULE_PATHNAME', 'simhash_compute_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION simhash_compute(text, integer, text) IS
	'fingerprint of a text, from its runs of shingle characters or words; null if it has no letter, mark or number';

CREATE FUNCTION simhash_compute(document bytea, shingle integer DEFAULT 8) RETURNS simhash
AS 'MODULE_PATHNAME', 'simhash_compute_bytea' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION simhash_compute(bytea, integer) IS
	'fingerprint of a byte string, from its runs of shingle bytes; null if it is empty';

CREATE FUNCTION simhash_compute(document tsvector) RETURNS simhash
AS 'MODULE_PATHNAME', 'simhash_compute_tsvector' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION simhash_compute(tsvector) IS
	'fingerprint of lexemes, weighted by their number of positions; null if there are none';

-- Not strict: without weights, each feature has the weight 1.
CREATE FUNCTION simhash_compute(features text[], weights float8[] DEFAULT NULL) RETURNS simhash
AS 'MODULE_PATHNAME', 'simhash_compute_array' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION simhash_compute(text[], float8[]) IS
	'fingerprint of features, with optional weights; null if no feature has a weight';

CREATE FUNCTION simhash_compute(hashes bigint[], weights float8[] DEFAULT NULL) RETURNS simhash
AS 'MODULE_PATHNAME', 'simhash_compute_array' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION simhash_compute(bigint[], float8[]) IS
	'fingerprint of features given by their hashes, with optional weights; null if no feature has a weight';

CREATE FUNCTION simhash_shingles(document text, shingle integer DEFAULT 4, unit text DEFAULT 'char') RETURNS text[]
AS 'MODULE_PATHNAME', 'simhash_shingles' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 3000;
COMMENT ON FUNCTION simhash_shingles(text, integer, text) IS
	'the features of a text from which simhash_compute makes a fingerprint, in order; null if there are none';

CREATE FUNCTION simhash_hash(feature text) RETURNS bigint
AS 'MODULE_PATHNAME', 'simhash_hash_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2;
COMMENT ON FUNCTION simhash_hash(text) IS 'hash of a feature: XXH3 of its bytes in UTF-8';

CREATE FUNCTION simhash_agg_add(state bytea, hash bigint) RETURNS bytea
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION simhash_agg_add(bytea, bigint) IS 'internal: aggregate transition function';

CREATE FUNCTION simhash_weighted_agg_add(state bytea, hash bigint, weight float8) RETURNS bytea
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 10;
COMMENT ON FUNCTION simhash_weighted_agg_add(bytea, bigint, float8) IS 'internal: aggregate transition function';

CREATE FUNCTION simhash_agg_combine(state bytea, other bytea) RETURNS bytea
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 10;
COMMENT ON FUNCTION simhash_agg_combine(bytea, bytea) IS 'internal: aggregate combine function';

CREATE FUNCTION simhash_agg_result(state bytea) RETURNS simhash
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 10;
COMMENT ON FUNCTION simhash_agg_result(bytea) IS 'internal: aggregate final function';

CREATE AGGREGATE simhash_agg(hash bigint) (
	SFUNC = simhash_agg_add, STYPE = bytea, SSPACE = 268,
	FINALFUNC = simhash_agg_result, COMBINEFUNC = simhash_agg_combine,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE simhash_agg(bigint) IS 'fingerprint of features given by their hashes, one per row';

CREATE AGGREGATE simhash_weighted_agg(hash bigint, weight float8) (
	SFUNC = simhash_weighted_agg_add, STYPE = bytea, SSPACE = 1064,
	FINALFUNC = simhash_agg_result, COMBINEFUNC = simhash_agg_combine,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE simhash_weighted_agg(bigint, float8) IS
	'fingerprint of features given by their hashes and weights, one per row';

--
-- 10. MinHash fingerprints of documents
--
-- Never to be compared with those of section 9
--

CREATE FUNCTION simhash_minhash(document text, shingle integer DEFAULT 2, unit text DEFAULT 'word') RETURNS simhash
AS 'MODULE_PATHNAME', 'simhash_minhash_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION simhash_minhash(text, integer, text) IS
	'MinHash fingerprint of a text, from the set of its runs of shingle words or characters; null if it has no letter, mark or number';

CREATE FUNCTION simhash_minhash(document bytea, shingle integer DEFAULT 8) RETURNS simhash
AS 'MODULE_PATHNAME', 'simhash_minhash_bytea' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION simhash_minhash(bytea, integer) IS
	'MinHash fingerprint of a byte string, from the set of its runs of shingle bytes; null if it is empty';

CREATE FUNCTION simhash_minhash(document tsvector) RETURNS simhash
AS 'MODULE_PATHNAME', 'simhash_minhash_tsvector' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION simhash_minhash(tsvector) IS
	'MinHash fingerprint of the set of lexemes; null if there are none';

CREATE FUNCTION simhash_minhash(features text[]) RETURNS simhash
AS 'MODULE_PATHNAME', 'simhash_minhash_array' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION simhash_minhash(text[]) IS
	'MinHash fingerprint of a set of features; null if there are none';

CREATE FUNCTION simhash_minhash(hashes bigint[]) RETURNS simhash
AS 'MODULE_PATHNAME', 'simhash_minhash_array' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION simhash_minhash(bigint[]) IS
	'MinHash fingerprint of a set of features given by their hashes; null if there are none';

CREATE FUNCTION simhash_minhash_radius(similarity float8, bits integer DEFAULT 64, found float8 DEFAULT 0.94) RETURNS integer
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_minhash_radius(float8, integer, float8) IS
	'least radius that is expected to find a share of the pairs of sets with a Jaccard coefficient, by MinHash fingerprints of so many bits';

CREATE FUNCTION simhash_minhash_agg_add(state bytea, hash bigint) RETURNS bytea
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION simhash_minhash_agg_add(bytea, bigint) IS 'internal: aggregate transition function';

CREATE FUNCTION simhash_minhash_agg_combine(state bytea, other bytea) RETURNS bytea
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 10;
COMMENT ON FUNCTION simhash_minhash_agg_combine(bytea, bytea) IS 'internal: aggregate combine function';

CREATE FUNCTION simhash_minhash_agg_result(state bytea) RETURNS simhash
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 10;
COMMENT ON FUNCTION simhash_minhash_agg_result(bytea) IS 'internal: aggregate final function';

CREATE AGGREGATE simhash_minhash_agg(hash bigint) (
	SFUNC = simhash_minhash_agg_add, STYPE = bytea, SSPACE = 276,
	FINALFUNC = simhash_minhash_agg_result, COMBINEFUNC = simhash_minhash_agg_combine,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE simhash_minhash_agg(bigint) IS
	'MinHash fingerprint of a set of features given by their hashes, one per row';

--
-- 11. Verification of candidates
--

CREATE FUNCTION simhash_jaccard(a text, b text, shingle integer DEFAULT 3, unit text DEFAULT 'word') RETURNS float8
AS 'MODULE_PATHNAME', 'simhash_jaccard_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5000;
COMMENT ON FUNCTION simhash_jaccard(text, text, integer, text) IS
	'Jaccard coefficient of two texts: share of their runs of shingle words or characters that both have; null if either has none';

CREATE FUNCTION simhash_jaccard(a bytea, b bytea, shingle integer DEFAULT 8) RETURNS float8
AS 'MODULE_PATHNAME', 'simhash_jaccard_bytea' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5000;
COMMENT ON FUNCTION simhash_jaccard(bytea, bytea, integer) IS
	'Jaccard coefficient of two byte strings: share of their runs of shingle bytes that both have; null if either is empty';

CREATE FUNCTION simhash_jaccard(a text[], b text[]) RETURNS float8
AS 'MODULE_PATHNAME', 'simhash_jaccard_text_array' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5000;
COMMENT ON FUNCTION simhash_jaccard(text[], text[]) IS
	'Jaccard coefficient of two sets of features: share of them that both have; null if either is empty';

CREATE FUNCTION simhash_containment(a text, b text, shingle integer DEFAULT 3, unit text DEFAULT 'word') RETURNS float8
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5000;
COMMENT ON FUNCTION simhash_containment(text, text, integer, text) IS
	'share of the runs of shingle words or characters of a that b has; null if a has none';

--
-- 12. Schemes: permuted tables and their prefixes
--

CREATE FUNCTION simhash_tables(
	blocks integer, distance integer,
	OUT table_no integer, OUT permutation text, OUT prefix_bits integer, OUT prefix_mask bit(64)
) RETURNS SETOF record
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE ROWS 10;
COMMENT ON FUNCTION simhash_tables(integer, integer) IS
	'permuted tables of a scheme: order of the blocks, length of the prefix, bits of the fingerprint in the prefix';

CREATE FUNCTION simhash_permute(fp simhash, blocks integer, distance integer, table_no integer) RETURNS simhash
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_permute(simhash, integer, integer, integer) IS
	'a fingerprint as a permuted table of a scheme stores it';

CREATE FUNCTION simhash_unpermute(fp simhash, blocks integer, distance integer, table_no integer) RETURNS simhash
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_unpermute(simhash, integer, integer, integer) IS 'inverse of simhash_permute';

CREATE FUNCTION simhash_blocks(
	fp simhash, blocks integer DEFAULT 4, distance integer DEFAULT 3,
	OUT table_no integer, OUT prefix bigint
) RETURNS SETOF record
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE ROWS 4;
COMMENT ON FUNCTION simhash_blocks(simhash, integer, integer) IS
	'prefix of a fingerprint in each permuted table of a scheme; two fingerprints within the distance share one';

CREATE FUNCTION simhash_first_table(a simhash, b simhash, blocks integer DEFAULT 4, distance integer DEFAULT 3) RETURNS integer
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_first_table(simhash, simhash, integer, integer) IS
	'first permuted table of a scheme in which two fingerprints have the same prefix; null if there is none';

--
-- 13. Inspection of indexes
--

CREATE FUNCTION simhash_index_info(
	index regclass,
	OUT table_no integer, OUT permutation text, OUT prefix_bits integer,
	OUT root_block bigint, OUT levels integer, OUT inner_pages bigint,
	OUT leaf_pages bigint, OUT entries bigint, OUT avg_leaf_fill float8
) RETURNS SETOF record
AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED ROWS 10;
COMMENT ON FUNCTION simhash_index_info(regclass) IS
	'permuted tables of a simhash index, with their pages and entries; the last row, with table_no null, is for null fingerprints';

CREATE FUNCTION simhash_index_check(index regclass, heapallindexed boolean DEFAULT false) RETURNS void
AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION simhash_index_check(regclass, boolean) IS
	'verify the structure of a simhash index; with heapallindexed, also that each visible row is in each permuted table';

--
-- 14. Searches of whole indexes
--
-- Among the rows that the calling query sees.  They are not strict, because a null
-- distance stands for that of the index.  An index is given as a regclass and in no
-- other way: a literal is then resolved when a query is parsed, and a view keeps the
-- index that it names.
--

CREATE FUNCTION simhash_find_all(
	index regclass, distance integer DEFAULT NULL, similarity float8 DEFAULT NULL,
	OUT a tid, OUT b tid, OUT a_fp simhash, OUT b_fp simhash, OUT distance integer,
	OUT a_table regclass, OUT b_table regclass, OUT similarity float8
) RETURNS SETOF record
AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL UNSAFE COST 1000000 ROWS 100000;
COMMENT ON FUNCTION simhash_find_all(regclass, integer, float8) IS
	'all pairs of rows whose fingerprints differ in at most distance bits, by default the distance of the index, or of documents as similar as that, by default by the operator of the class, and whose columns before it are equal';

CREATE FUNCTION simhash_find_clusters(
	index regclass, distance integer DEFAULT NULL, similarity float8 DEFAULT NULL, same text DEFAULT NULL,
	OUT cluster bigint, OUT member tid, OUT fp simhash, OUT size bigint,
	OUT member_table regclass
) RETURNS SETOF record
AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL UNSAFE COST 1000000 ROWS 100000;
COMMENT ON FUNCTION simhash_find_clusters(regclass, integer, float8, text) IS
	'rows that have near-duplicates, by connected component of all pairs, or of those for which the condition same holds as well; cluster is a number from 1, in the order of the first rows of the components';

-- keep is an ORDER BY list over the columns of the table, and same a condition on
-- two of its rows, a and b.
CREATE FUNCTION simhash_find_duplicates(
	index regclass, distance integer DEFAULT NULL, similarity float8 DEFAULT NULL,
	same text DEFAULT NULL, keep text DEFAULT NULL,
	OUT duplicate tid, OUT keeper tid, OUT distance integer,
	OUT duplicate_table regclass, OUT keeper_table regclass, OUT similarity float8
) RETURNS SETOF record
AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL UNSAFE COST 1000000 ROWS 100000;
COMMENT ON FUNCTION simhash_find_duplicates(regclass, integer, float8, text, text) IS
	'rows to remove so that no two of the rest are near-duplicates for which the condition same holds: rows are taken in the order of keep, and each that is near a row kept before, and the same, is returned, with the nearest of these';

CREATE FUNCTION simhash_find_matches(
	a regclass, b regclass, distance integer DEFAULT NULL, similarity float8 DEFAULT NULL,
	OUT a tid, OUT b tid, OUT a_fp simhash, OUT b_fp simhash, OUT distance integer,
	OUT a_table regclass, OUT b_table regclass, OUT similarity float8
) RETURNS SETOF record
AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL UNSAFE COST 1000000 ROWS 100000;
COMMENT ON FUNCTION simhash_find_matches(regclass, regclass, integer, float8) IS
	'all pairs of a row of index a and a row of index b whose fingerprints differ in at most distance bits, by default the smaller distance of the two indexes, or of documents as similar as that, by default by the operator of the class, and whose columns before it are equal';

CREATE FUNCTION simhash_find_matches_in(
	index regclass, queries simhash[], distance integer DEFAULT NULL,
	OUT query simhash, OUT b tid, OUT b_fp simhash, OUT distance integer, OUT b_table regclass
) RETURNS SETOF record
AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL UNSAFE COST 1000000 ROWS 100000;
COMMENT ON FUNCTION simhash_find_matches_in(regclass, simhash[], integer) IS
	'all pairs of a value of the array and a row whose fingerprint differs from it in at most distance bits, by default the distance of the index; each distinct value once';

CREATE FUNCTION simhash_find_matches_in_texts(
	index regclass, queries text[], similarity float8 DEFAULT NULL,
	OUT query text, OUT b tid, OUT b_table regclass, OUT similarity float8
) RETURNS SETOF record
AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL UNSAFE COST 1000000 ROWS 100000;
COMMENT ON FUNCTION simhash_find_matches_in_texts(regclass, text[], float8) IS
	'all pairs of a text of the array and a row that is as similar, by default as the operator of the class says; each distinct text once';

-- a threshold for such a search, before it
CREATE FUNCTION simhash_advise(
	index regclass, sample integer DEFAULT 10000,
	OUT similarity float8, OUT distance integer, OUT sampled bigint, OUT with_near_duplicate float8,
	OUT removed_at_most float8, OUT largest_group bigint, OUT candidates float8, OUT at_least boolean
) RETURNS SETOF record
AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 10;
COMMENT ON FUNCTION simhash_advise(regclass, integer) IS
	'for each similarity or distance that the index serves, by a sample of rows: the share that have near-duplicates, the share that would be removed at most, the largest group seen, and the rows that a lookup compares; with at_least, some lookup has stopped after 1,000 matches';

--
-- 15. Searches of arrays
--
-- Among the different values of an array; components, among pairs of any numbers
--
-- Those of type simhash_bits[] are in section 22.
--

CREATE FUNCTION simhash_find_all_in(
	fingerprints simhash[], distance integer DEFAULT NULL, blocks integer DEFAULT NULL, table_no integer DEFAULT NULL,
	OUT a simhash, OUT b simhash, OUT distance integer
) RETURNS SETOF record
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION simhash_find_all_in(simhash[], integer, integer, integer) IS
	'all pairs of distinct values that differ in at most distance bits, by default 3; with table_no, only those whose first shared prefix is that of this permuted table';

CREATE FUNCTION simhash_find_clusters_in(
	fingerprints simhash[], distance integer DEFAULT NULL, blocks integer DEFAULT NULL,
	OUT cluster bigint, OUT fp simhash, OUT size bigint
) RETURNS SETOF record
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION simhash_find_clusters_in(simhash[], integer, integer) IS
	'distinct values that have near-duplicates, by connected component of all pairs that differ in at most distance bits, by default 3; cluster is a number from 1, in the order of the smallest values of the components';

CREATE FUNCTION simhash_components(
	a bigint[], b bigint[],
	OUT component bigint, OUT member bigint, OUT size bigint
) RETURNS SETOF record
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION simhash_components(bigint[], bigint[]) IS
	'the numbers in the pairs (a[i], b[i]), by connected component; component is the smallest number in it';

--
-- 16. Progress of searches
--

-- The view below has the only call in this script.  The argument makes it unambiguous:
-- functions of the same name that the schema has already, perhaps with defaults, cannot
-- have one of this type.
CREATE FUNCTION simhash_progress(
	simhash,
	OUT pid integer, OUT datid oid, OUT relid oid, OUT indexrelid oid,
	OUT command text, OUT phase text, OUT tables_total integer, OUT tables_done integer,
	OUT entries_total bigint, OUT entries_done bigint, OUT found bigint, OUT checked bigint
) RETURNS SETOF record
AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED ROWS 10;
COMMENT ON FUNCTION simhash_progress(simhash) IS
	'internal: sessions that search for pairs, clusters, duplicates, matches or components, or check an index; see the view simhash_stat_progress';

CREATE VIEW simhash_stat_progress AS
SELECT p.pid, p.datid, d.datname, p.relid, p.indexrelid, p.command, p.phase,
	p.tables_total, p.tables_done, p.entries_total, p.entries_done, p.found, p.checked
FROM simhash_progress('0'::simhash) p LEFT JOIN pg_catalog.pg_database d ON d.oid OPERATOR(pg_catalog.=) p.datid;
COMMENT ON VIEW simhash_stat_progress IS
	'progress of sessions that search for pairs, clusters, duplicates, matches or components, or check an index';
GRANT SELECT ON simhash_stat_progress TO PUBLIC;

--
-- 17. Type simhash_bits: wide fingerprints
--
-- n bits are n/8 bytes, the first one most significant.  Values are stored in the row,
-- where scans read them, with a header of one byte up to 1008 bits.  They look random,
-- so compressing them would be a waste of time.
--

CREATE TYPE simhash_bits;

CREATE FUNCTION simhash_bits_in(cstring, oid, integer) RETURNS simhash_bits
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_bits_in(cstring, oid, integer) IS 'I/O';

CREATE FUNCTION simhash_bits_out(simhash_bits) RETURNS cstring
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_bits_out(simhash_bits) IS 'I/O';

CREATE FUNCTION simhash_bits_recv(internal, oid, integer) RETURNS simhash_bits
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_bits_recv(internal, oid, integer) IS 'I/O';

CREATE FUNCTION simhash_bits_send(simhash_bits) RETURNS bytea
AS 'byteasend' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_bits_send(simhash_bits) IS 'I/O';

CREATE FUNCTION simhash_bits_typmod_in(cstring[]) RETURNS integer
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_bits_typmod_in(cstring[]) IS 'I/O typmod';

CREATE FUNCTION simhash_bits_typmod_out(integer) RETURNS cstring
AS 'bittypmodout' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_bits_typmod_out(integer) IS 'I/O typmod';

CREATE TYPE simhash_bits (
	INPUT = simhash_bits_in,
	OUTPUT = simhash_bits_out,
	RECEIVE = simhash_bits_recv,
	SEND = simhash_bits_send,
	TYPMOD_IN = simhash_bits_typmod_in,
	TYPMOD_OUT = simhash_bits_typmod_out,
	INTERNALLENGTH = VARIABLE,
	ALIGNMENT = int4,
	STORAGE = main,
	CATEGORY = '#'
);
COMMENT ON TYPE simhash_bits IS
	'fingerprint of 8, 16, 24 ... or 4096 bits; similar images, videos or documents differ in few';

-- A value of another width is of another kind.  It is never padded or cut, not even by
-- an explicit cast.
CREATE FUNCTION simhash_bits_check_width(simhash_bits, integer, boolean) RETURNS simhash_bits
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_bits_check_width(simhash_bits, integer, boolean) IS
	'internal: the same fingerprint; an error if it has another width than the type modifier';

CREATE CAST (simhash_bits AS simhash_bits)
WITH FUNCTION simhash_bits_check_width(simhash_bits, integer, boolean) AS IMPLICIT;
COMMENT ON CAST (simhash_bits AS simhash_bits) IS 'the same; an error if the widths differ';

CREATE FUNCTION simhash_bits_from_bit(bit) RETURNS simhash_bits
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_bits_from_bit(bit) IS
	'internal: the fingerprint with the bits of a bit string, in their order';

CREATE FUNCTION simhash_bits_to_bit(simhash_bits) RETURNS bit
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_bits_to_bit(simhash_bits) IS
	'internal: the bits of a fingerprint as a bit string of its width';

CREATE FUNCTION simhash_bits_from_bytea(bytea) RETURNS simhash_bits
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_bits_from_bytea(bytea) IS
	'internal: the fingerprint with the bits of 1 to 512 bytes, first byte most significant';

CREATE FUNCTION simhash_bits_from_simhash(simhash) RETURNS simhash_bits
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_bits_from_simhash(simhash) IS
	'internal: a fingerprint as one of the type simhash_bits(64), most significant byte first';

CREATE FUNCTION simhash_bits_to_simhash(simhash_bits) RETURNS simhash
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_bits_to_simhash(simhash_bits) IS
	'internal: a fingerprint of 64 bits as one of the type simhash';

-- None implicit, and those of documents and of the other type explicit: a document is no
-- fingerprint, and fingerprints of the two types are not to be mixed unnoticed.
CREATE CAST (bit AS simhash_bits) WITH FUNCTION simhash_bits_from_bit(bit) AS ASSIGNMENT;
COMMENT ON CAST (bit AS simhash_bits) IS 'bit for bit';

CREATE CAST (bit varying AS simhash_bits) WITH FUNCTION simhash_bits_from_bit(bit) AS ASSIGNMENT;
COMMENT ON CAST (bit varying AS simhash_bits) IS 'bit for bit';

CREATE CAST (simhash_bits AS bit) WITH FUNCTION simhash_bits_to_bit(simhash_bits) AS ASSIGNMENT;
COMMENT ON CAST (simhash_bits AS bit) IS 'bit for bit';

CREATE CAST (simhash_bits AS bit varying) WITH FUNCTION simhash_bits_to_bit(simhash_bits) AS ASSIGNMENT;
COMMENT ON CAST (simhash_bits AS bit varying) IS 'bit for bit';

CREATE CAST (bytea AS simhash_bits) WITH FUNCTION simhash_bits_from_bytea(bytea);
COMMENT ON CAST (bytea AS simhash_bits) IS 'byte for byte';

CREATE CAST (simhash_bits AS bytea) WITHOUT FUNCTION;
COMMENT ON CAST (simhash_bits AS bytea) IS 'byte for byte';

CREATE CAST (simhash AS simhash_bits) WITH FUNCTION simhash_bits_from_simhash(simhash);
COMMENT ON CAST (simhash AS simhash_bits) IS '64 bits, most significant byte first';

CREATE CAST (simhash_bits AS simhash) WITH FUNCTION simhash_bits_to_simhash(simhash_bits);
COMMENT ON CAST (simhash_bits AS simhash) IS '64 bits, most significant byte first';

CREATE FUNCTION bit_count(simhash_bits) RETURNS bigint
AS 'MODULE_PATHNAME', 'simhash_bits_count' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bit_count(simhash_bits) IS 'number of bits that are set';

CREATE FUNCTION length(simhash_bits) RETURNS integer
AS 'MODULE_PATHNAME', 'simhash_bits_length' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION length(simhash_bits) IS 'number of bits';

--
-- 18. Order and equality of wide fingerprints
--
-- As byte strings, by the server's functions for bytea
--

CREATE FUNCTION simhash_bits_eq(simhash_bits, simhash_bits) RETURNS boolean
AS 'byteaeq' LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION simhash_bits_eq(simhash_bits, simhash_bits) IS 'implementation of = operator';
CREATE OPERATOR = (
	LEFTARG = simhash_bits, RIGHTARG = simhash_bits, FUNCTION = simhash_bits_eq,
	COMMUTATOR = =, NEGATOR = <>,
	RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES
);
COMMENT ON OPERATOR =(simhash_bits, simhash_bits) IS 'equal';

CREATE FUNCTION simhash_bits_ne(simhash_bits, simhash_bits) RETURNS boolean
AS 'byteane' LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION simhash_bits_ne(simhash_bits, simhash_bits) IS 'implementation of <> operator';
CREATE OPERATOR <> (
	LEFTARG = simhash_bits, RIGHTARG = simhash_bits, FUNCTION = simhash_bits_ne,
	COMMUTATOR = <>, NEGATOR = =,
	RESTRICT = neqsel, JOIN = neqjoinsel
);
COMMENT ON OPERATOR <>(simhash_bits, simhash_bits) IS 'not equal';

CREATE FUNCTION simhash_bits_lt(simhash_bits, simhash_bits) RETURNS boolean
AS 'bytealt' LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION simhash_bits_lt(simhash_bits, simhash_bits) IS 'implementation of < operator';
CREATE OPERATOR < (
	LEFTARG = simhash_bits, RIGHTARG = simhash_bits, FUNCTION = simhash_bits_lt,
	COMMUTATOR = >, NEGATOR = >=,
	RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);
COMMENT ON OPERATOR <(simhash_bits, simhash_bits) IS 'less than, as byte strings';

CREATE FUNCTION simhash_bits_le(simhash_bits, simhash_bits) RETURNS boolean
AS 'byteale' LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION simhash_bits_le(simhash_bits, simhash_bits) IS 'implementation of <= operator';
CREATE OPERATOR <= (
	LEFTARG = simhash_bits, RIGHTARG = simhash_bits, FUNCTION = simhash_bits_le,
	COMMUTATOR = >=, NEGATOR = >,
	RESTRICT = scalarlesel, JOIN = scalarlejoinsel
);
COMMENT ON OPERATOR <=(simhash_bits, simhash_bits) IS 'less than or equal, as byte strings';

CREATE FUNCTION simhash_bits_gt(simhash_bits, simhash_bits) RETURNS boolean
AS 'byteagt' LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION simhash_bits_gt(simhash_bits, simhash_bits) IS 'implementation of > operator';
CREATE OPERATOR > (
	LEFTARG = simhash_bits, RIGHTARG = simhash_bits, FUNCTION = simhash_bits_gt,
	COMMUTATOR = <, NEGATOR = <=,
	RESTRICT = scalargtsel, JOIN = scalargtjoinsel
);
COMMENT ON OPERATOR >(simhash_bits, simhash_bits) IS 'greater than, as byte strings';

CREATE FUNCTION simhash_bits_ge(simhash_bits, simhash_bits) RETURNS boolean
AS 'byteage' LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION simhash_bits_ge(simhash_bits, simhash_bits) IS 'implementation of >= operator';
CREATE OPERATOR >= (
	LEFTARG = simhash_bits, RIGHTARG = simhash_bits, FUNCTION = simhash_bits_ge,
	COMMUTATOR = <=, NEGATOR = <,
	RESTRICT = scalargesel, JOIN = scalargejoinsel
);
COMMENT ON OPERATOR >=(simhash_bits, simhash_bits) IS 'greater than or equal, as byte strings';

CREATE FUNCTION simhash_bits_cmp(simhash_bits, simhash_bits) RETURNS integer
AS 'byteacmp' LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION simhash_bits_cmp(simhash_bits, simhash_bits) IS
	'internal: less-equal-greater, as byte strings';

CREATE FUNCTION simhash_bits_sortsupport(internal) RETURNS void
AS 'bytea_sortsupport' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_bits_sortsupport(internal) IS 'internal: sort support';

CREATE FUNCTION simhash_bits_hash_value(simhash_bits) RETURNS integer
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION simhash_bits_hash_value(simhash_bits) IS 'internal: hash for hash joins and hash indexes';

CREATE FUNCTION simhash_bits_hash_value_extended(simhash_bits, bigint) RETURNS bigint
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION simhash_bits_hash_value_extended(simhash_bits, bigint) IS
	'internal: seeded hash for hash partitioning';

CREATE OPERATOR CLASS simhash_bits_btree_ops
DEFAULT FOR TYPE simhash_bits USING btree AS
	OPERATOR 1 <,
	OPERATOR 2 <=,
	OPERATOR 3 =,
	OPERATOR 4 >=,
	OPERATOR 5 >,
	FUNCTION 1 simhash_bits_cmp(simhash_bits, simhash_bits),
	FUNCTION 2 simhash_bits_sortsupport(internal),
	FUNCTION 4 btequalimage(oid);
COMMENT ON OPERATOR CLASS simhash_bits_btree_ops USING btree IS 'wide fingerprints as byte strings';
COMMENT ON OPERATOR FAMILY simhash_bits_btree_ops USING btree IS
	'wide fingerprints as byte strings';

CREATE OPERATOR CLASS simhash_bits_hash_ops
DEFAULT FOR TYPE simhash_bits USING hash AS
	OPERATOR 1 =,
	FUNCTION 1 simhash_bits_hash_value(simhash_bits),
	FUNCTION 2 simhash_bits_hash_value_extended(simhash_bits, bigint);
COMMENT ON OPERATOR CLASS simhash_bits_hash_ops USING hash IS 'equality of wide fingerprints';
COMMENT ON OPERATOR FAMILY simhash_bits_hash_ops USING hash IS 'equality of wide fingerprints';

CREATE FUNCTION simhash_bits_smaller(simhash_bits, simhash_bits) RETURNS simhash_bits
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_bits_smaller(simhash_bits, simhash_bits) IS 'internal: smaller of two';
CREATE AGGREGATE min(simhash_bits) (
	SFUNC = simhash_bits_smaller, STYPE = simhash_bits, COMBINEFUNC = simhash_bits_smaller,
	SORTOP = <, PARALLEL = SAFE
);
COMMENT ON AGGREGATE min(simhash_bits) IS 'smallest fingerprint, as a byte string';

CREATE FUNCTION simhash_bits_larger(simhash_bits, simhash_bits) RETURNS simhash_bits
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_bits_larger(simhash_bits, simhash_bits) IS 'internal: larger of two';
CREATE AGGREGATE max(simhash_bits) (
	SFUNC = simhash_bits_larger, STYPE = simhash_bits, COMBINEFUNC = simhash_bits_larger,
	SORTOP = >, PARALLEL = SAFE
);
COMMENT ON AGGREGATE max(simhash_bits) IS 'largest fingerprint, as a byte string';

--
-- 19. Hamming distance and balls of wide fingerprints
--
-- Of different widths it is an error, so nothing here is leakproof.
--

CREATE FUNCTION hamming(simhash_bits, simhash_bits) RETURNS simhash_distance
AS 'MODULE_PATHNAME', 'simhash_bits_hamming' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION hamming(simhash_bits, simhash_bits) IS
	'number of bits in which two fingerprints of the same width differ';
CREATE OPERATOR <~> (
	LEFTARG = simhash_bits, RIGHTARG = simhash_bits, FUNCTION = hamming,
	COMMUTATOR = <~>
);
COMMENT ON OPERATOR <~>(simhash_bits, simhash_bits) IS 'Hamming distance';

CREATE FUNCTION simhash_within(a simhash_bits, b simhash_bits, radius integer) RETURNS boolean
AS 'MODULE_PATHNAME', 'simhash_bits_within' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
SUPPORT simhash_within_support;
COMMENT ON FUNCTION simhash_within(simhash_bits, simhash_bits, integer) IS
	'do two fingerprints of the same width differ in at most radius bits?';

CREATE FUNCTION simhash_bits_near(simhash_bits, simhash_bits) RETURNS boolean
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_bits_near(simhash_bits, simhash_bits) IS 'implementation of % operator';
CREATE OPERATOR % (
	LEFTARG = simhash_bits, RIGHTARG = simhash_bits, FUNCTION = simhash_bits_near,
	COMMUTATOR = %, RESTRICT = simhash_sel, JOIN = simhash_joinsel
);
COMMENT ON OPERATOR %(simhash_bits, simhash_bits) IS
	'near-duplicates: fewer than an eighth of the bits differ';

CREATE TYPE simhash_bits_ball;

CREATE FUNCTION simhash_bits_ball_in(cstring) RETURNS simhash_bits_ball
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_bits_ball_in(cstring) IS 'I/O';

CREATE FUNCTION simhash_bits_ball_out(simhash_bits_ball) RETURNS cstring
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_bits_ball_out(simhash_bits_ball) IS 'I/O';

CREATE FUNCTION simhash_bits_ball_recv(internal) RETURNS simhash_bits_ball
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_bits_ball_recv(internal) IS 'I/O';

CREATE FUNCTION simhash_bits_ball_send(simhash_bits_ball) RETURNS bytea
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_bits_ball_send(simhash_bits_ball) IS 'I/O';

CREATE TYPE simhash_bits_ball (
	INPUT = simhash_bits_ball_in,
	OUTPUT = simhash_bits_ball_out,
	RECEIVE = simhash_bits_ball_recv,
	SEND = simhash_bits_ball_send,
	INTERNALLENGTH = VARIABLE,
	ALIGNMENT = int4,
	STORAGE = main
);
COMMENT ON TYPE simhash_bits_ball IS
	'a center and a radius: all fingerprints of its width within the radius of the center';

CREATE FUNCTION simhash_bits_ball(center simhash_bits, radius integer) RETURNS simhash_bits_ball
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_bits_ball(simhash_bits, integer) IS
	'the fingerprints that differ from the center in at most radius bits; none if radius < 0';

CREATE FUNCTION simhash_bits_in_ball(simhash_bits, simhash_bits_ball) RETURNS boolean
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_bits_in_ball(simhash_bits, simhash_bits_ball) IS
	'implementation of <@ operator';
CREATE OPERATOR <@ (
	LEFTARG = simhash_bits, RIGHTARG = simhash_bits_ball, FUNCTION = simhash_bits_in_ball,
	COMMUTATOR = @>, RESTRICT = simhash_sel, JOIN = simhash_joinsel
);
COMMENT ON OPERATOR <@(simhash_bits, simhash_bits_ball) IS 'is in the ball';

CREATE FUNCTION simhash_bits_ball_contains(simhash_bits_ball, simhash_bits) RETURNS boolean
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_bits_ball_contains(simhash_bits_ball, simhash_bits) IS
	'implementation of @> operator';
CREATE OPERATOR @> (
	LEFTARG = simhash_bits_ball, RIGHTARG = simhash_bits, FUNCTION = simhash_bits_ball_contains,
	COMMUTATOR = <@, RESTRICT = simhash_sel, JOIN = simhash_joinsel
);
COMMENT ON OPERATOR @>(simhash_bits_ball, simhash_bits) IS 'contains';

-- As in section 6, but conditions are checked again with the row, and there is no order.
-- The radius of % depends on the width: strategy 10000 says "fewer than an eighth of the
-- bits differ".
CREATE OPERATOR CLASS simhash_bits_ops
DEFAULT FOR TYPE simhash_bits USING simhash AS
	OPERATOR 1 = (simhash_bits, simhash_bits),
	OPERATOR 2 <@ (simhash_bits, simhash_bits_ball),
	OPERATOR 10000 % (simhash_bits, simhash_bits),
	FUNCTION 1 simhash_bits_hash_value_extended(simhash_bits, bigint);
COMMENT ON OPERATOR CLASS simhash_bits_ops USING simhash IS
	'wide fingerprints within a Hamming distance';
COMMENT ON OPERATOR FAMILY simhash_bits_ops USING simhash IS
	'wide fingerprints within a Hamming distance';

--
-- 20. Wide MinHash fingerprints of documents, and bands
--
-- Fingerprints begin with the bits of those of section 10.
--

CREATE FUNCTION simhash_minhash_bits(
	document text, bits integer DEFAULT 256, shingle integer DEFAULT 2, unit text DEFAULT 'word'
) RETURNS simhash_bits
AS 'MODULE_PATHNAME', 'simhash_minhash_bits_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1200;
COMMENT ON FUNCTION simhash_minhash_bits(text, integer, integer, text) IS
	'MinHash fingerprint of so many bits of a text, from the set of its runs of shingle words or characters; null if it has no letter, mark or number';

CREATE FUNCTION simhash_minhash_bits(
	document bytea, bits integer DEFAULT 256, shingle integer DEFAULT 8
) RETURNS simhash_bits
AS 'MODULE_PATHNAME', 'simhash_minhash_bits_bytea' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1200;
COMMENT ON FUNCTION simhash_minhash_bits(bytea, integer, integer) IS
	'MinHash fingerprint of so many bits of a byte string, from the set of its runs of shingle bytes; null if it is empty';

CREATE FUNCTION simhash_minhash_bits(document tsvector, bits integer DEFAULT 256) RETURNS simhash_bits
AS 'MODULE_PATHNAME', 'simhash_minhash_bits_tsvector' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1200;
COMMENT ON FUNCTION simhash_minhash_bits(tsvector, integer) IS
	'MinHash fingerprint of so many bits of the set of lexemes; null if there are none';

CREATE FUNCTION simhash_minhash_bits(features text[], bits integer DEFAULT 256) RETURNS simhash_bits
AS 'MODULE_PATHNAME', 'simhash_minhash_bits_array' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1200;
COMMENT ON FUNCTION simhash_minhash_bits(text[], integer) IS
	'MinHash fingerprint of so many bits of a set of features; null if there are none';

CREATE FUNCTION simhash_minhash_bits(hashes bigint[], bits integer DEFAULT 256) RETURNS simhash_bits
AS 'MODULE_PATHNAME', 'simhash_minhash_bits_array' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1200;
COMMENT ON FUNCTION simhash_minhash_bits(bigint[], integer) IS
	'MinHash fingerprint of so many bits of a set of features given by their hashes; null if there are none';

CREATE FUNCTION simhash_minhash_bits_agg_add(state bytea, hash bigint, bits integer) RETURNS bytea
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION simhash_minhash_bits_agg_add(bytea, bigint, integer) IS
	'internal: aggregate transition function';

CREATE FUNCTION simhash_minhash_bits_agg_result(state bytea) RETURNS simhash_bits
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 40;
COMMENT ON FUNCTION simhash_minhash_bits_agg_result(bytea) IS 'internal: aggregate final function';

CREATE AGGREGATE simhash_minhash_bits_agg(hash bigint, bits integer) (
	SFUNC = simhash_minhash_bits_agg_add, STYPE = bytea, SSPACE = 1072,
	FINALFUNC = simhash_minhash_bits_agg_result, COMBINEFUNC = simhash_minhash_agg_combine,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE simhash_minhash_bits_agg(bigint, integer) IS
	'MinHash fingerprint of so many bits of a set of features given by their hashes, one per row';

CREATE FUNCTION simhash_bands(
	document text, shingle integer DEFAULT 2, unit text DEFAULT 'word', minima integer DEFAULT 3, bands integer DEFAULT 32
) RETURNS simhash_bits
AS 'MODULE_PATHNAME', 'simhash_bands_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION simhash_bands(text, integer, text, integer, integer) IS
	'MinHash bands of a text, 64 bits for each, from the set of its runs of shingle words or characters; null if it has no letter, mark or number';

CREATE FUNCTION simhash_bands(
	document bytea, shingle integer DEFAULT 8, minima integer DEFAULT 3, bands integer DEFAULT 32
) RETURNS simhash_bits
AS 'MODULE_PATHNAME', 'simhash_bands_bytea' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION simhash_bands(bytea, integer, integer, integer) IS
	'MinHash bands of a byte string, 64 bits for each, from the set of its runs of shingle bytes; null if it is empty';

CREATE FUNCTION simhash_bands(document tsvector, minima integer DEFAULT 3, bands integer DEFAULT 32) RETURNS simhash_bits
AS 'MODULE_PATHNAME', 'simhash_bands_tsvector' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION simhash_bands(tsvector, integer, integer) IS
	'MinHash bands of the set of lexemes, 64 bits for each; null if there are none';

CREATE FUNCTION simhash_bands(features text[], minima integer DEFAULT 3, bands integer DEFAULT 32) RETURNS simhash_bits
AS 'MODULE_PATHNAME', 'simhash_bands_array' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION simhash_bands(text[], integer, integer) IS
	'MinHash bands of a set of features, 64 bits for each; null if there are none';

CREATE FUNCTION simhash_bands(hashes bigint[], minima integer DEFAULT 3, bands integer DEFAULT 32) RETURNS simhash_bits
AS 'MODULE_PATHNAME', 'simhash_bands_array' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION simhash_bands(bigint[], integer, integer) IS
	'MinHash bands of a set of features given by their hashes, 64 bits for each; null if there are none';

CREATE FUNCTION simhash_bands_agg_add(state bytea, hash bigint, minima integer, bands integer) RETURNS bytea
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION simhash_bands_agg_add(bytea, bigint, integer, integer) IS
	'internal: aggregate transition function';

CREATE AGGREGATE simhash_bands_agg(hash bigint, minima integer, bands integer) (
	SFUNC = simhash_bands_agg_add, STYPE = bytea, SSPACE = 548,
	FINALFUNC = simhash_minhash_bits_agg_result, COMBINEFUNC = simhash_minhash_agg_combine,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE simhash_bands_agg(bigint, integer, integer) IS
	'MinHash bands of a set of features given by their hashes, one per row; 64 bits for each band';

CREATE FUNCTION simhash_share_band(a simhash_bits, b simhash_bits, radius integer, bands integer DEFAULT NULL)
RETURNS boolean
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION simhash_share_band(simhash_bits, simhash_bits, integer, integer) IS
	'one of the first bands, or of all, has the same prefix in both, and at most radius of its other bits differ';

--
-- 21. Near-duplicate documents
--
-- Support function 3 of an operator class computes the bands of a value.  Its operators
-- imply that values share one of them, and are evaluated for each candidate.
--

CREATE FUNCTION simhash_similar(a text, b text, similarity float8 DEFAULT 0.8) RETURNS boolean
AS 'MODULE_PATHNAME', 'simhash_similar_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 7000
SUPPORT simhash_within_support;
COMMENT ON FUNCTION simhash_similar(text, text, float8) IS
	'similar texts: share at least so much of their runs of 3 words, and a band as such texts do; from 0.5 to 1; can use a simhash index';

CREATE FUNCTION simhash_similar_op(a text, b text) RETURNS boolean
AS 'MODULE_PATHNAME', 'simhash_similar_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 7000;
COMMENT ON FUNCTION simhash_similar_op(text, text) IS 'implementation of =~= operator';
CREATE OPERATOR =~= (
	LEFTARG = text, RIGHTARG = text, FUNCTION = simhash_similar_op,
	COMMUTATOR = =~=, RESTRICT = simhash_sel, JOIN = simhash_joinsel
);
COMMENT ON OPERATOR =~=(text, text) IS
	'near-duplicate texts: share at least 0.8 of their runs of 3 words, and one of 7 bands within 7 bits; can use a simhash index';

CREATE FUNCTION simhash_similar(a bytea, b bytea, similarity float8 DEFAULT 0.8) RETURNS boolean
AS 'MODULE_PATHNAME', 'simhash_similar_bytea' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 7000
SUPPORT simhash_within_support;
COMMENT ON FUNCTION simhash_similar(bytea, bytea, float8) IS
	'similar byte strings: share at least so much of their runs of 8 bytes, and a band as such byte strings do; from 0.5 to 1; can use a simhash index';

CREATE FUNCTION simhash_similar_op(a bytea, b bytea) RETURNS boolean
AS 'MODULE_PATHNAME', 'simhash_similar_bytea' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 7000;
COMMENT ON FUNCTION simhash_similar_op(bytea, bytea) IS 'implementation of =~= operator';
CREATE OPERATOR =~= (
	LEFTARG = bytea, RIGHTARG = bytea, FUNCTION = simhash_similar_op,
	COMMUTATOR = =~=, RESTRICT = simhash_sel, JOIN = simhash_joinsel
);
COMMENT ON OPERATOR =~=(bytea, bytea) IS
	'near-duplicate byte strings: share at least 0.8 of their runs of 8 bytes, and one of 8 bands within 8 bits; can use a simhash index';

-- The width of what support function 3 of an operator class returns is that of a domain,
-- since results of functions have none.

CREATE DOMAIN simhash_bits_2048 AS simhash_bits(2048);
COMMENT ON DOMAIN simhash_bits_2048 IS 'wide fingerprint of 2048 bits, such as 32 bands';

CREATE FUNCTION simhash_bands_text(document text) RETURNS simhash_bits_2048
AS 'MODULE_PATHNAME', 'simhash_similar_bands_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION simhash_bands_text(text) IS
	'internal: bands of a text in an index, which are simhash_bands(document)';

CREATE FUNCTION simhash_bands_bytea(document bytea) RETURNS simhash_bits_2048
AS 'MODULE_PATHNAME', 'simhash_similar_bands_bytea' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION simhash_bands_bytea(bytea) IS
	'internal: bands of a byte string in an index, which are simhash_bands(document)';

-- The condition of an index for simhash_similar.  Not <@, since a literal before <@ and a
-- ball would then be a text.

CREATE FUNCTION simhash_similar_ball(document text, similarity float8) RETURNS simhash_bits_ball
AS 'MODULE_PATHNAME', 'simhash_similar_ball_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION simhash_similar_ball(text, float8) IS
	'internal: bands of which similar texts share one, with the radius within which they do';

-- As expensive as simhash_similar, which computes the bands of each document as well: an
-- index of fewer bands, which has to compute those of all rows, saves nothing.
CREATE FUNCTION simhash_similar_in_ball(document text, ball simhash_bits_ball) RETURNS boolean
AS 'MODULE_PATHNAME', 'simhash_similar_in_ball_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 7000;
COMMENT ON FUNCTION simhash_similar_in_ball(text, simhash_bits_ball) IS 'implementation of =~@ operator';
CREATE OPERATOR =~@ (
	LEFTARG = text, RIGHTARG = simhash_bits_ball, FUNCTION = simhash_similar_in_ball,
	RESTRICT = simhash_sel, JOIN = simhash_joinsel
);
COMMENT ON OPERATOR =~@(text, simhash_bits_ball) IS
	'the text shares a band with the center of the ball, within its radius; condition of an index for simhash_similar';

CREATE FUNCTION simhash_similar_ball(document bytea, similarity float8) RETURNS simhash_bits_ball
AS 'MODULE_PATHNAME', 'simhash_similar_ball_bytea' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION simhash_similar_ball(bytea, float8) IS
	'internal: bands of which similar byte strings share one, with the radius within which they do';

CREATE FUNCTION simhash_similar_in_ball(document bytea, ball simhash_bits_ball) RETURNS boolean
AS 'MODULE_PATHNAME', 'simhash_similar_in_ball_bytea' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 7000;
COMMENT ON FUNCTION simhash_similar_in_ball(bytea, simhash_bits_ball) IS 'implementation of =~@ operator';
CREATE OPERATOR =~@ (
	LEFTARG = bytea, RIGHTARG = simhash_bits_ball, FUNCTION = simhash_similar_in_ball,
	RESTRICT = simhash_sel, JOIN = simhash_joinsel
);
COMMENT ON OPERATOR =~@(bytea, simhash_bits_ball) IS
	'the byte string shares a band with the center of the ball, within its radius; condition of an index for simhash_similar';

CREATE OPERATOR CLASS simhash_text_ops
FOR TYPE text USING simhash AS
	OPERATOR 2 =~@ (text, simhash_bits_ball),
	OPERATOR 707 =~= (text, text),
	FUNCTION 3 simhash_bands_text(text);
COMMENT ON OPERATOR CLASS simhash_text_ops USING simhash IS 'near-duplicate texts';
COMMENT ON OPERATOR FAMILY simhash_text_ops USING simhash IS 'near-duplicate texts';

CREATE OPERATOR CLASS simhash_bytea_ops
FOR TYPE bytea USING simhash AS
	OPERATOR 2 =~@ (bytea, simhash_bits_ball),
	OPERATOR 808 =~= (bytea, bytea),
	FUNCTION 3 simhash_bands_bytea(bytea);
COMMENT ON OPERATOR CLASS simhash_bytea_ops USING simhash IS 'near-duplicate byte strings';
COMMENT ON OPERATOR FAMILY simhash_bytea_ops USING simhash IS 'near-duplicate byte strings';

-- Titles and other short texts.  Only the operator becomes a condition of an index: whatever
-- the similarity, the bands are the same.

CREATE FUNCTION simhash_similar_titles(a text, b text, similarity float8 DEFAULT 0.7) RETURNS boolean
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 300;
COMMENT ON FUNCTION simhash_similar_titles(text, text, float8) IS
	'similar titles: share at least so much of their words, and a band, and have the same numbers; from 0.7 to 1';

CREATE FUNCTION simhash_similar_titles_op(a text, b text) RETURNS boolean
AS 'MODULE_PATHNAME', 'simhash_similar_titles' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 300;
COMMENT ON FUNCTION simhash_similar_titles_op(text, text) IS 'implementation of =%= operator';
CREATE OPERATOR =%= (
	LEFTARG = text, RIGHTARG = text, FUNCTION = simhash_similar_titles_op,
	COMMUTATOR = =%=, RESTRICT = simhash_sel, JOIN = simhash_joinsel
);
COMMENT ON OPERATOR =%=(text, text) IS
	'near-duplicate titles: share at least 0.7 of their words, and one of 16 bands within 9 bits, and have the same numbers; can use a simhash index';

CREATE DOMAIN simhash_bits_1024 AS simhash_bits(1024);
COMMENT ON DOMAIN simhash_bits_1024 IS 'wide fingerprint of 1024 bits, such as 16 bands';

CREATE FUNCTION simhash_title_bands(title text) RETURNS simhash_bits_1024
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION simhash_title_bands(text) IS
	'16 MinHash bands of the words of a title, which its numbers change; null if it has no letter, mark or number';

CREATE OPERATOR CLASS simhash_title_ops
FOR TYPE text USING simhash AS
	OPERATOR 1609 =%= (text, text),
	FUNCTION 3 simhash_title_bands(text);
COMMENT ON OPERATOR CLASS simhash_title_ops USING simhash IS 'near-duplicate titles';
COMMENT ON OPERATOR FAMILY simhash_title_ops USING simhash IS 'near-duplicate titles';

--
-- 22. Searches of arrays of wide fingerprints
--
-- As in sections 14 and 15.  They have names of their own, so that an array without a
-- type, such as a literal, is one of type simhash[] there.
--

CREATE FUNCTION simhash_find_matches_in_bits(
	index regclass, queries simhash_bits[], distance integer DEFAULT NULL,
	OUT query simhash_bits, OUT b tid, OUT b_fp simhash_bits, OUT distance integer,
	OUT b_table regclass
) RETURNS SETOF record
AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL UNSAFE COST 1000000 ROWS 100000;
COMMENT ON FUNCTION simhash_find_matches_in_bits(regclass, simhash_bits[], integer) IS
	'all pairs of a value of the array and a row whose wide fingerprint differs from it in at most distance bits, by default the distance of the index; each distinct value once';

CREATE FUNCTION simhash_find_all_in_bits(
	fingerprints simhash_bits[], distance integer DEFAULT NULL,
	OUT a simhash_bits, OUT b simhash_bits, OUT distance integer
) RETURNS SETOF record
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION simhash_find_all_in_bits(simhash_bits[], integer) IS
	'all pairs of distinct wide fingerprints that differ in at most distance bits, by default in fewer than an eighth of their bits';

CREATE FUNCTION simhash_find_clusters_in_bits(
	fingerprints simhash_bits[], distance integer DEFAULT NULL,
	OUT cluster bigint, OUT fp simhash_bits, OUT size bigint
) RETURNS SETOF record
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION simhash_find_clusters_in_bits(simhash_bits[], integer) IS
	'distinct wide fingerprints that have near-duplicates, by connected component of all pairs that differ in at most distance bits, by default in fewer than an eighth of their bits; cluster is a number from 1, in the order of the smallest fingerprints of the components';

--
-- 23. Parts of texts
--
-- The keys of an index are hashes, as many as needed so that texts that share a passage
-- share a key.
--

CREATE FUNCTION simhash_shares_passage(a text, b text) RETURNS boolean
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 7000;
COMMENT ON FUNCTION simhash_shares_passage(text, text) IS 'implementation of ~& operator';
CREATE OPERATOR ~& (
	LEFTARG = text, RIGHTARG = text, FUNCTION = simhash_shares_passage,
	COMMUTATOR = ~&, RESTRICT = contsel, JOIN = contjoinsel
);
COMMENT ON OPERATOR ~&(text, text) IS
	'share a passage: both have the same run of 13 words; can use a GIN index';

CREATE FUNCTION simhash_passage_keys(document text) RETURNS bigint[]
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION simhash_passage_keys(text) IS
	'keys of a text in an index of simhash_passage_ops, ascending, each once; texts that share a passage have one in common';

CREATE FUNCTION simhash_passage_extract_value(text, internal) RETURNS internal
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION simhash_passage_extract_value(text, internal) IS 'internal: GIN support: keys of a text';

CREATE FUNCTION simhash_passage_extract_query(text, internal, smallint, internal, internal, internal, internal)
RETURNS internal
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION simhash_passage_extract_query(text, internal, smallint, internal, internal, internal, internal) IS
	'internal: GIN support: keys to look for';

CREATE FUNCTION simhash_passage_triconsistent(internal, smallint, text, integer, internal, internal, internal)
RETURNS "char"
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_passage_triconsistent(internal, smallint, text, integer, internal, internal, internal) IS
	'internal: GIN support: rows that may have any of the keys are candidates';

CREATE OPERATOR CLASS simhash_passage_ops
FOR TYPE text USING gin AS
	OPERATOR 1 ~& (text, text),
	FUNCTION 1 btint8cmp(bigint, bigint),
	FUNCTION 2 simhash_passage_extract_value(text, internal),
	FUNCTION 3 simhash_passage_extract_query(text, internal, smallint, internal, internal, internal, internal),
	FUNCTION 6 simhash_passage_triconsistent(internal, smallint, text, integer, internal, internal, internal),
	STORAGE bigint;
COMMENT ON OPERATOR CLASS simhash_passage_ops USING gin IS 'texts that share a passage';
COMMENT ON OPERATOR FAMILY simhash_passage_ops USING gin IS 'texts that share a passage';

CREATE FUNCTION simhash_passages(
	a text, b text, min_words integer DEFAULT 13,
	OUT a_word integer, OUT b_word integer, OUT words integer, OUT passage text
) RETURNS SETOF record
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10000 ROWS 10;
COMMENT ON FUNCTION simhash_passages(text, text, integer) IS
	'passages of at least so many words that both texts have, as long as each can be: the numbers of their first words in a and b, how many words they are, and that part of a';
