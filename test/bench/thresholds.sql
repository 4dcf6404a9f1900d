-- See the file thresholds.  Variable: texts, how many.
\pset footer off
SET client_min_messages = warning;
CREATE EXTENSION simhash;
SELECT setseed(0.5) \g /dev/null
CREATE TABLE threshold (s float8);
INSERT INTO threshold VALUES (0.95), (0.9), (0.8), (0.7), (0.6), (0.5);

CREATE UNLOGGED TABLE manual (name text, body text);
\copy manual from 'manuals'
DELETE FROM manual WHERE cardinality(simhash_shingles(body, 1, 'word')) < 60;

CREATE UNLOGGED TABLE page AS
SELECT row_number() OVER (ORDER BY md5(name))::int AS id, words[1:400] AS words
FROM manual, LATERAL regexp_split_to_array(body, '\s+') AS words ORDER BY md5(name) LIMIT 1500;
CREATE FUNCTION any_word() RETURNS text LANGUAGE sql RETURN 'word' || floor(random() * 20000);
CREATE FUNCTION edited(words text[], kind text, share float8) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	n int := cardinality(words);
	cut int := floor(random() * n * (1 - share));
BEGIN
	RETURN CASE kind
		WHEN 'words replaced' THEN (SELECT string_agg(CASE WHEN random() < share / 2 THEN any_word() ELSE w END, ' ' ORDER BY no)
			FROM unnest(words) WITH ORDINALITY AS u (w, no))
		WHEN 'a passage replaced' THEN array_to_string(words[1:cut], ' ') || ' ' || (SELECT string_agg(any_word(), ' ')
			FROM generate_series(1, 1 + round(share * n / 2)::int)) || ' ' || array_to_string(words[cut + 1 + round(share * n / 2)::int : n], ' ')
	END;
END $$;
CREATE UNLOGGED TABLE passage AS SELECT row_number() OVER ()::int AS id, array_to_string(words[start:start + 3], ' ') AS passage
FROM page, generate_series(1, cardinality(words) - 3, 4) AS start;
SELECT count(*) AS passages FROM passage \gset
CREATE UNLOGGED TABLE document (id int PRIMARY KEY, body text);
-- passages of four words in random order, so that nothing but copies is alike
INSERT INTO document SELECT i, string_agg(passage, ' ') FROM generate_series(1, :texts) i
CROSS JOIN LATERAL generate_series(1, 15 + i % 31) n JOIN passage ON passage.id = 1 + mod(hashint8extended(i, n) & 9223372036854775807, :passages)
WHERE i % 10 <> 0 GROUP BY i;
INSERT INTO document SELECT id + 1, edited(string_to_array(body, ' '), CASE WHEN random() < 0.5 THEN 'words replaced' ELSE 'a passage replaced' END,
	random() * 0.5) FROM document WHERE id % 10 = 9;
\timing on
\echo 'the index, as it is by default, and for all thresholds:'
CREATE INDEX document_body ON document USING simhash (body simhash_text_ops);
CREATE INDEX document_32 ON document USING simhash (body simhash_text_ops) WITH (bands = 32);
\timing off
VACUUM ANALYZE document;
SELECT count(*) AS texts, pg_size_pretty(pg_relation_size('document')) AS size, pg_size_pretty(pg_relation_size('document_body')) AS index,
	pg_size_pretty(pg_relation_size('document_32')) AS "32 bands" FROM document;

-- as a class of one's own, of one threshold, finds them
CREATE FUNCTION similar_90(a text, b text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE STRICT COST 7000 AS $$
BEGIN
	RETURN simhash_similar(a, b, 0.9);
END $$;
CREATE FUNCTION similar_60(a text, b text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE STRICT COST 7000 AS $$
BEGIN
	RETURN simhash_similar(a, b, 0.6);
END $$;
CREATE OPERATOR =~~= (LEFTARG = text, RIGHTARG = text, FUNCTION = similar_90, COMMUTATOR = =~~=, RESTRICT = simhash_sel, JOIN = simhash_joinsel);
CREATE OPERATOR ~~~~ (LEFTARG = text, RIGHTARG = text, FUNCTION = similar_60, COMMUTATOR = ~~~~, RESTRICT = simhash_sel, JOIN = simhash_joinsel);
CREATE OPERATOR CLASS own_90_ops FOR TYPE text USING simhash AS OPERATOR 405 =~~=, FUNCTION 3 simhash_bands_text(text);
CREATE OPERATOR CLASS own_60_ops FOR TYPE text USING simhash AS OPERATOR 1611 ~~~~, FUNCTION 3 simhash_bands_text(text);

CREATE UNLOGGED TABLE query AS SELECT id, body FROM document ORDER BY md5(id::text) LIMIT 200;
ANALYZE query;
CREATE TABLE cost (what text, s float8, round int, seconds float8, rows bigint);
CREATE PROCEDURE measure(what text, s float8, statement text, rounds int DEFAULT 3) LANGUAGE plpgsql AS $$
DECLARE
	start timestamptz;
	found bigint;
BEGIN
	FOR i IN 0 .. rounds LOOP
		start := clock_timestamp();
		EXECUTE statement INTO found;
		INSERT INTO cost VALUES (what, s, i, extract(epoch FROM clock_timestamp() - start), found);
		COMMIT;
	END LOOP;
END $$;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
CREATE PROCEDURE measure_all() LANGUAGE plpgsql AS $$
DECLARE
	t float8;
BEGIN
	FOR t IN SELECT s FROM threshold ORDER BY s DESC LOOP
		CALL measure('simhash_similar', t, format('SELECT count(*) FROM query q JOIN document d ON simhash_similar(d.body, q.body, %s)', t), 2);
		CALL measure('candidates', t, format('SELECT count(*) FROM query q JOIN document d ON d.body =~@ simhash_similar_ball(q.body, %s)', t), 0);
		CALL measure('find_duplicates', t, format('SELECT count(*) FROM simhash_find_duplicates(''document_32'', similarity => %s)', t), 0);
	END LOOP;
END $$;
CALL measure('=~=', 0.8, 'SELECT count(*) FROM query q JOIN document d ON d.body =~= q.body');
DROP INDEX document_body;
CALL measure_all();
DROP INDEX document_32;
CREATE INDEX own_90 ON document USING simhash (body own_90_ops);
CREATE INDEX own_60 ON document USING simhash (body own_60_ops);
CALL measure('class of its own', 0.9, 'SELECT count(*) FROM query q JOIN document d ON d.body =~~= q.body');
CALL measure('class of its own', 0.6, 'SELECT count(*) FROM query q JOIN document d ON d.body ~~~~ q.body');
\echo 'Look-ups of 200 texts, and duplicates in the whole table, in seconds, and what they find:'
SELECT s AS similarity, what, round(min(seconds)::numeric, 3) AS time, max(rows) AS rows
FROM cost GROUP BY what, s ORDER BY s DESC, what;
