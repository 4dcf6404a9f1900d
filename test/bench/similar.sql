-- Tables, and what is measured, for test/bench/similar.
-- Variables: rows, kept, trigrams.

CREATE EXTENSION simhash;
CREATE EXTENSION pg_trgm;
SET client_min_messages = warning;

-- A text of some 20 words; three in ten share most words with another one.
CREATE FUNCTION word(text, bigint) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN substr(md5($1 || $2), 1, 3 + abs(hashint8($2)) % 6);

CREATE FUNCTION make_text(i bigint) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
	SELECT string_agg(CASE WHEN i % 10 < 3 AND abs(hashint8(i * 1000 + w)) % 100 < 3
						   THEN word('changed', i * 1000 + w)
						   ELSE word('', abs(hashint8(o * 1000 + w)) % 20000) END, ' ' ORDER BY w)
	FROM (SELECT CASE WHEN i % 10 < 3 THEN i - i % 10 + 3 ELSE i END AS o) origin,
		 generate_series(1, 15 + abs(hashint8(o)) % 15) w
$$;

CREATE TABLE t (id bigint, body text, fp simhash);
INSERT INTO t SELECT id, body, simhash_minhash(body)
FROM (SELECT id, make_text(id) AS body FROM generate_series(1, :rows) id OFFSET 0) made;
CREATE INDEX t_fp ON t USING simhash (fp);
CREATE INDEX t_body ON t USING simhash (body simhash_text_ops);

CREATE TABLE arriving AS SELECT id, body FROM t WHERE id <= :kept;
ALTER TABLE arriving ADD PRIMARY KEY (id);
CREATE SEQUENCE next_text;
CREATE TABLE by_constraint (id bigint, body text,
	CONSTRAINT by_constraint_body EXCLUDE USING simhash (body simhash_text_ops WITH ~=));
CREATE TABLE by_trigger (id bigint, body text);
CREATE INDEX by_trigger_body ON by_trigger USING simhash (body simhash_text_ops);
CREATE FUNCTION look() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	PERFORM pg_advisory_xact_lock(1);
	IF EXISTS (SELECT FROM by_trigger WHERE body ~= NEW.body) THEN
		RETURN NULL;
	END IF;
	RETURN NEW;
END $$;
CREATE TRIGGER look BEFORE INSERT ON by_trigger FOR EACH ROW EXECUTE FUNCTION look();

CREATE TABLE few AS SELECT id, body FROM t WHERE id <= :trigrams;
CREATE INDEX few_body ON few USING simhash (body simhash_text_ops);
VACUUM ANALYZE;

CREATE TABLE queries (two_steps text, one_step text, same text, class text);
INSERT INTO queries VALUES (
	'SELECT count(t.id) FROM (SELECT body, simhash_minhash(body) AS fp FROM t WHERE id % 97 = 1 LIMIT 1000) q'
	' JOIN t ON t.fp <~> q.fp <= 10 WHERE simhash_jaccard(t.body, q.body) >= 0.8',
	'SELECT count(t.id) FROM (SELECT body FROM t WHERE id % 97 = 1 LIMIT 1000) q JOIN t ON t.body ~= q.body',
	'SELECT count(*) FROM simhash_find_duplicates(''t_fp'', 10, same => ''simhash_jaccard(a.body, b.body) >= 0.8'')',
	'SELECT count(*) FROM simhash_find_duplicates(''t_body'')');

ALTER DATABASE postgres SET client_min_messages = warning;
ALTER DATABASE postgres SET enable_seqscan = off;
ALTER DATABASE postgres SET enable_hashjoin = off;
ALTER DATABASE postgres SET enable_mergejoin = off;
ALTER DATABASE postgres SET enable_material = off;

-- milliseconds that a query takes
CREATE FUNCTION time_of(query text, OUT ms float8) LANGUAGE plpgsql AS $$
DECLARE
	started timestamptz := clock_timestamp();
BEGIN
	EXECUTE query;
	ms := 1000 * extract(epoch FROM clock_timestamp() - started);
END $$;

-- Look up 200 texts, by ~= and by similarity() above thresholds, with the indexes of
-- pg_trgm, and compare the rows with those that share eight tenths of their word triples.
CREATE FUNCTION compare_trigrams() RETURNS TABLE (line text) LANGUAGE plpgsql AS $$
DECLARE
	way record;
	ms float8;
	size bigint;
BEGIN
	SET LOCAL enable_seqscan = on;
	CREATE TEMP TABLE asked AS SELECT id, body FROM few WHERE id % 211 = 1 LIMIT 200;
	CREATE TEMP TABLE truth AS
	SELECT a.id AS a, f.id AS b FROM asked a JOIN few f ON a.id <> f.id AND simhash_jaccard(a.body, f.body) >= 0.8;
	SET LOCAL enable_seqscan = off;
	line := format('%-44s %10s %8s %8s %8s %8s', '200 look-ups', 'ms', 'found', 'missed', 'wrong', 'MB');
	RETURN NEXT;
	FOR way IN VALUES ('~=', 'a.body ~= f.body', NULL, 0),
		('GIN, similarity', 'a.body % f.body', 'gin', 0.5), ('GIN, similarity', 'a.body % f.body', 'gin', 0.7),
		('GiST, similarity', 'a.body % f.body', 'gist', 0.5), ('GiST, similarity', 'a.body % f.body', 'gist', 0.7)
	LOOP
		IF way.column3 IS NULL THEN
			size := pg_relation_size('few_body');
		ELSE
			EXECUTE format('CREATE INDEX few_trigrams ON few USING %s (body %1$s_trgm_ops)', way.column3);
			size := pg_relation_size('few_trigrams');
			PERFORM set_config('pg_trgm.similarity_threshold', way.column4::text, true);
		END IF;
		CREATE TEMP TABLE found (a bigint, b bigint);
		ms := time_of('INSERT INTO found SELECT a.id, f.id FROM asked a JOIN few f ON a.id <> f.id AND ' || way.column2);
		line := format('%-44s %10s %8s %8s %8s %8s', way.column1 || CASE WHEN way.column4 > 0 THEN ' ' || way.column4 ELSE '' END,
			round(ms::numeric, 1), (SELECT count(*) FROM found),
			(SELECT count(*) FROM (TABLE truth EXCEPT TABLE found) missed),
			(SELECT count(*) FROM (TABLE found EXCEPT TABLE truth) wrong), round(size / 1e6, 1));
		RETURN NEXT;
		DROP TABLE found;
		DROP INDEX IF EXISTS few_trigrams;
	END LOOP;
END $$;
