--
-- MinHash bands of documents, and whether two documents share one
--
\pset format unaligned
\pset footer off
CREATE SCHEMA text_bands_test;
SET search_path = text_bands_test, public;

--
-- What they consist of
--
SELECT simhash_bands('To be, or not to be', bands => 4);
CREATE TABLE texts AS SELECT row_number() OVER () AS id, t FROM sample_texts('To be, or not to be') t;
-- fewer bands are the beginning of more, and the defaults are what they are
SELECT count(*) AS texts, count(most) AS not_null,
	count(*) FILTER (WHERE EXISTS (SELECT FROM generate_series(1, 63) n
		WHERE simhash_bands(t, bands => n)::text <> left(most::text, n * 16))) AS wrong_prefix,
	count(*) FILTER (WHERE EXISTS (SELECT FROM unnest('{1,2,7,8,16,61}'::int[]) n
		WHERE simhash_bands(t, 5, 'char', 8, n)::text <> left(simhash_bands(t, 5, 'char', 8, 64)::text, n * 16))) AS wrong_chars,
	count(*) FILTER (WHERE simhash_bands(t)::text <> left(most::text, 32 * 16)
		OR simhash_bands(t) IS DISTINCT FROM simhash_bands(t, 2, 'word', 3, 32)
		OR (most IS NULL) <> (simhash_minhash(t) IS NULL)) AS wrong_defaults,
	count(*) FILTER (WHERE length(simhash_bands(t)) <> 2048 OR most::text !~ '^(00.{14})*$') AS wrong_width
FROM (SELECT t, simhash_bands(t, bands => 64) AS most FROM texts) s;
-- the last half of a word has bits of simhash_minhash_bits, in the order of the minima
CREATE FUNCTION minimum_bit(parts varbit, minimum int) RETURNS int LANGUAGE sql
RETURN get_bit(parts, minimum / 64 * 64 + 63 - minimum % 64);
SELECT minima, count(*) AS bits,
	count(*) FILTER (WHERE get_bit(bands, band * 64 + 63 - bit) <> minimum_bit(parts, minima * (band + 1) + bit)) AS wrong
FROM texts, unnest('{1,2,3,5,8}'::int[]) minima, generate_series(0, 63) band, generate_series(0, 31) bit,
	LATERAL (SELECT simhash_bands(t, minima => minima, bands => 64)::varbit AS bands,
		simhash_minhash_bits(t, 576)::varbit AS parts OFFSET 0) f
WHERE id BETWEEN 3 AND 7 GROUP BY minima ORDER BY minima;

--
-- The forms agree
--
SELECT * FROM rows_of($$SELECT count(*) AS texts,
	count(*) FILTER (WHERE features <> of_text OR (features IS NULL) <> (of_text IS NULL)) AS wrong_features,
	count(*) FILTER (WHERE hashes IS DISTINCT FROM of_text) AS wrong_hashes,
	count(*) FILTER (WHERE aggregate IS DISTINCT FROM of_text) AS wrong_aggregate
FROM (SELECT simhash_bands(t, 3, 'char', minima, bands) AS of_text, simhash_bands(f, minima, bands) AS features, a.*
	FROM texts, (VALUES (3, 7), (3, 32), (1, 64), (8, 64)) v (minima, bands), simhash_shingles(t, 3) f,
		LATERAL (SELECT simhash_bands(array_agg(h), minima, bands) AS hashes, simhash_bands_agg(h, minima, bands) AS aggregate
			FROM (SELECT simhash_hash(e) AS h FROM unnest(f) e) s) a
	WHERE length(t) < 1000 OR minima = 3) s$$,
	$$SELECT simhash_bands('\x00010203'::bytea, bands => 1) = simhash_bands('\x00010203'::bytea, 8, 3, 1) AS bytea,
	simhash_bands('cat:1,5 rat:3'::tsvector, 3, 2) = simhash_bands('{cat,rat}'::text[], 3, 2) AS tsvector,
	simhash_bands('{c,b,a,a}'::text[]) = simhash_bands('{a,b,c}'::text[]) AS is_set$$);
-- as in an index
SELECT count(*) AS texts, pg_typeof(min(simhash_bands_text(t))), pg_typeof(simhash_bands_text('a b')) AS of_one,
	count(*) FILTER (WHERE simhash_bands_text(t) IS DISTINCT FROM simhash_bands(t)
		OR simhash_bands_bytea(bytes) IS DISTINCT FROM simhash_bands(bytes)) AS wrong
FROM texts, LATERAL (SELECT convert_to(t, 'utf8') AS bytes) b;
-- nothing
SELECT simhash_bands('...') AS text, simhash_bands(''::bytea) AS bytea, simhash_bands(''::tsvector) AS tsvector,
	simhash_bands('{}'::text[]) AS features, simhash_bands('{}'::bigint[]) AS hashes,
	simhash_bands('a', bands => NULL) AS no_number, (SELECT simhash_bands_agg(1, 3, 7) WHERE false) AS no_row,
	(SELECT simhash_bands_agg(NULL, 3, 7)) AS null_row, (SELECT simhash_bands_agg(1, 3, NULL)) AS null_number;
SELECT statement, attempt.* FROM unnest(ARRAY[
	$$SELECT simhash_bands('a', minima => 0)$$,
	$$SELECT simhash_bands('a', minima => 9)$$,
	$$SELECT simhash_bands('a', bands => 0)$$,
	$$SELECT simhash_bands('a', bands => 65)$$,
	$$SELECT simhash_bands('a', bands => 2147483647)$$,
	$$SELECT simhash_bands('a', 0)$$,
	$$SELECT simhash_bands('a', 2, 'line')$$,
	$$SELECT simhash_bands('\x00'::bytea, 8, -1)$$,
	$$SELECT simhash_bands('{a,NULL}'::text[])$$,
	$$SELECT simhash_bands('{1}'::bigint[], 3, 65)$$,
	$$SELECT simhash_bands_agg(1, 3, 65)$$,
	$$SELECT simhash_bands_agg(1, 9, 1)$$,
	$$SELECT simhash_bands_agg(1, 3, n) FROM (VALUES (7), (8)) v (n)$$,
	$$SELECT simhash_bands_agg(1, n, 8) FROM (VALUES (3), (4)) v (n)$$])
	WITH ORDINALITY AS t (statement, no), attempt(statement) ORDER BY no;

--
-- The aggregate: in parts, and its states
--
SELECT minima, bands, length(state) - 8 - 264 * ((minima * bands + 32 + 63) / 64) AS rest,
	simhash_minhash_bits_agg_result(simhash_minhash_agg_combine(simhash_bands_agg_add(state, 2, minima, bands),
		simhash_bands_agg_add(NULL, 3, minima, bands))) = simhash_bands('{1,2,3}'::bigint[], minima, bands) AS combined
FROM (VALUES (1, 1), (3, 7), (3, 10), (3, 11), (3, 32), (8, 64)) v (minima, bands),
	simhash_bands_agg_add(NULL, 1, minima, bands) state ORDER BY minima, bands;
CREATE FUNCTION state(minima int, bands int) RETURNS bytea LANGUAGE sql RETURN simhash_bands_agg_add(NULL, 1, minima, bands);
SELECT left(encode(state(3, 32), 'hex'), 16) AS head;
SELECT statement, attempt.* FROM unnest(ARRAY[
	$$SELECT simhash_minhash_agg_result(state(1, 1))$$,
	$$SELECT simhash_minhash_agg_combine(state(3, 7), state(3, 8))$$,
	$$SELECT simhash_minhash_agg_combine(state(3, 7), state(4, 7))$$,
	$$SELECT simhash_minhash_bits_agg_add(state(3, 1), 1, 64)$$,
	$$SELECT simhash_bands_agg_add(simhash_minhash_agg_add(NULL, 1), 1, 3, 1)$$,
	$$SELECT simhash_minhash_bits_agg_result(overlay(state(3, 1) PLACING '\x09' FROM 7))$$,
	$$SELECT simhash_minhash_bits_agg_result(overlay(state(3, 1) PLACING '\x48' FROM 5))$$,
	$$SELECT simhash_minhash_bits_agg_result(overlay(state(3, 10) PLACING '\xc0' FROM 5))$$])
	WITH ORDINALITY AS t (statement, no), attempt(statement) ORDER BY no;

--
-- simhash_share_band
--
CREATE FUNCTION word(prefix int, others bigint) RETURNS text LANGUAGE sql
RETURN '00' || lpad(to_hex(prefix), 6, '0') || lpad(to_hex(others), 8, '0');
SELECT radius, simhash_share_band(word(1, 0)::simhash_bits, word(1, 7)::simhash_bits, radius) AS equal_prefix,
	simhash_share_band(word(1, 0)::simhash_bits, word(2, 0)::simhash_bits, radius) AS other,
	simhash_share_band(word(1, 0)::simhash_bits, (word(8388609, 0))::simhash_bits, radius) AS other_in_first_bit,
	simhash_share_band(word(1, 0)::simhash_bits, word(1, 4294967295)::simhash_bits, radius) AS none_equal
FROM unnest('{0,2,3,31,32}'::int[]) radius ORDER BY radius;
-- in which band
SELECT bands, simhash_share_band((word(1, 0) || word(2, 0) || word(3, 0))::simhash_bits,
	(word(9, 0) || word(2, 3) || word(3, 0))::simhash_bits, radius, bands) AS shared, radius
FROM unnest('{1,2,3,NULL}'::int[]) bands, unnest('{0,2}'::int[]) radius ORDER BY bands, radius;
SELECT simhash_share_band(NULL, word(1, 0)::simhash_bits, 1) AS a, simhash_share_band(word(1, 0)::simhash_bits, NULL, 1) AS b,
	simhash_share_band(word(1, 0)::simhash_bits, word(1, 0)::simhash_bits, NULL, 1) AS radius;
-- against the definition, of real bands of texts that share some of their words
CREATE TABLE pair AS SELECT i, a AS text_a, b AS text_b, simhash_bands(a, bands => 16) AS a, simhash_bands(b, bands => 16) AS b
FROM generate_series(1, 300) i, LATERAL (SELECT string_agg('w' || n, ' ') AS a,
	string_agg(CASE WHEN (bits(i || 'x' || n) & 1023) % 60 < i % 12 THEN 'other' || n ELSE 'w' || n END, ' ') AS b
	FROM generate_series(i, i + 60) n) t;
SELECT radius, bands, count(*) FILTER (WHERE shared) > 10 AS some, count(*) FILTER (WHERE NOT shared) > 10 AS some_not,
	count(*) FILTER (WHERE shared <> EXISTS (SELECT FROM generate_series(0, bands - 1) n
		WHERE substr(a::text, n * 16 + 1, 8) = substr(b::text, n * 16 + 1, 8)
			AND bit_count(substr((a::varbit # b::varbit)::bit(1024)::text, n * 64 + 33, 32)::bit(32)) <= radius)) AS wrong
FROM pair, unnest('{3,7}'::int[]) radius, unnest('{1,7,16}'::int[]) bands, simhash_share_band(a, b, radius, bands) shared
GROUP BY radius, bands ORDER BY radius, bands;
SELECT statement, attempt.* FROM unnest(ARRAY[
	$$SELECT simhash_share_band(word(1, 0)::simhash_bits, word(1, 0)::simhash_bits, -1)$$,
	$$SELECT simhash_share_band(word(1, 0)::simhash_bits, word(1, 0)::simhash_bits, 33)$$,
	$$SELECT simhash_share_band(word(1, 0)::simhash_bits, word(1, 0)::simhash_bits, 7, 0)$$,
	$$SELECT simhash_share_band(word(1, 0)::simhash_bits, word(1, 0)::simhash_bits, 7, 2)$$,
	$$SELECT simhash_share_band(word(1, 0)::simhash_bits, '00', 7)$$,
	$$SELECT simhash_share_band('00', '00', 7)$$,
	$$SELECT simhash_share_band((word(1, 0) || '00')::simhash_bits, (word(1, 0) || '00')::simhash_bits, 7)$$,
	$$SELECT simhash_share_band((word(1, 0) || '01' || word(1, 0))::simhash_bits, (word(1, 0) || '00' || word(1, 0))::simhash_bits, 7, 1)$$,
	$$SELECT simhash_share_band('8000000000000000', '0000000000000000', 7)$$,
	$$SELECT simhash_share_band((word(1, 0) || '0100000000000000')::simhash_bits, (word(1, 0) || word(2, 0))::simhash_bits, 7)$$,
	$$SELECT simhash_share_band((word(1, 0) || word(2, 0))::simhash_bits, (word(1, 0) || '0100000000000000')::simhash_bits, 7)$$])
	WITH ORDINALITY AS t (statement, no), attempt(statement) ORDER BY no;
-- words that are not asked for may be anything
SELECT simhash_share_band((word(1, 0) || 'ff00000000000000')::simhash_bits, (word(1, 0) || 'ff00000000000000')::simhash_bits, 7, 1) AS first;

--
-- Balls: how many bands and which radius go with a similarity, and which documents are in them
--
SELECT s, length(split_part(t::text, ',', 1)) / 16 AS bands, split_part(trim(')' FROM t::text), ',', 2) AS radius,
	length(split_part(b::text, ',', 1)) / 16 AS of_bytea, split_part(trim(')' FROM b::text), ',', 2) AS radius,
	substr(t::text, 2, 16) = left(simhash_bands('a b c')::text, 16) AND substr(b::text, 2, 16) = left(simhash_bands('abc'::bytea)::text, 16) AS same_bands
FROM unnest('{1,0.999,0.95,0.9,0.85,0.8,0.79,0.75,0.7,0.65,0.6,0.55,0.5}'::float8[]) s,
	simhash_similar_ball('a b c'::text, s) t, simhash_similar_ball('abc'::bytea, s) b ORDER BY s DESC;
-- documents are remembered with different numbers of bands
SELECT s, count(*) FILTER (WHERE text_b =~@ simhash_similar_ball(text_a, s)) > 10 AS some,
	count(*) FILTER (WHERE (text_b =~@ simhash_similar_ball(text_a, s)) IS DISTINCT FROM simhash_share_band(
		simhash_bands(text_a), simhash_bands(text_b), substring(ball, ',(\d+)')::int, length(ball) / 16)) AS wrong,
	count(*) FILTER (WHERE (bytes_b =~@ simhash_similar_ball(bytes_a, s)) IS DISTINCT FROM simhash_share_band(
		simhash_bands(bytes_a), simhash_bands(bytes_b), substring(ball_bytea, ',(\d+)')::int, length(ball_bytea) / 16)) AS wrong_bytea
FROM pair, unnest('{0.8,0.5,0.95}'::float8[]) s, LATERAL (SELECT text_a::bytea AS bytes_a, text_b::bytea AS bytes_b) c,
	LATERAL (SELECT simhash_similar_ball(text_a, s)::text AS ball, simhash_similar_ball(bytes_a, s)::text AS ball_bytea OFFSET 0) f
GROUP BY s ORDER BY s;
SELECT 'a b'::text =~@ simhash_bits_ball(simhash_bands('a b', bands => 64), 0) AS most_bands,
	'a b'::text =~@ simhash_bits_ball(simhash_bands('a b', bands => 64), -1) AS none,
	'...'::text =~@ simhash_bits_ball(simhash_bands('a b'), 7) AS no_feature, simhash_similar_ball('...'::text, 0.8) AS no_ball,
	''::bytea =~@ simhash_bits_ball(simhash_bands('a b'), 7) AS no_byte, simhash_similar_ball(''::bytea, 0.8) AS no_ball;
SELECT statement, attempt.* FROM unnest(ARRAY[
	$$SELECT simhash_similar_ball('a'::text, 0.49999)$$,
	$$SELECT simhash_similar_ball('a'::bytea, 1.00001)$$,
	$$SELECT simhash_similar_ball('a'::text, 'nan')$$,
	$$SELECT 'a'::text =~@ simhash_bits_ball('000000000000000000', 7)$$,
	$$SELECT 'a'::text =~@ simhash_bits_ball('00', 7)$$,
	$$SELECT 'a'::text =~@ simhash_bits_ball('0000000000000000', 33)$$,
	$$SELECT 'a'::bytea =~@ simhash_bits_ball('0100000000000000', 7)$$])
	WITH ORDINALITY AS t (statement, no), attempt(statement) ORDER BY no;

SET client_min_messages = warning;
DROP SCHEMA text_bands_test CASCADE;
