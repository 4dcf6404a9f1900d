-- Index texts by an expression and by a generated column.
-- Variables: megabytes, length, workers, rounds.
\pset footer off
SET client_min_messages = warning;
CREATE EXTENSION simhash;

-- Texts of sentences of made-up words, of which few are frequent.  One in ten is
-- the one before with another word at its end.
SELECT setseed(0.5) \g /dev/null
CREATE TABLE sentence AS
SELECT s AS no, string_agg(substr(translate(md5(w::text), '0123456789', 'etaoinshrl'), 1, 2 + w % 9), ' ') || '.' AS words
FROM (SELECT s, (random() ^ 4 * 3000)::int AS w FROM generate_series(0, 9999) s, generate_series(1, 10)) word GROUP BY s;
CREATE TABLE docs (id int PRIMARY KEY, body text);
INSERT INTO docs
SELECT d, string_agg(words, ' ' ORDER BY place)
	FILTER (WHERE place <= (:length * (0.5 + (hashint8(original) & 1023) / 1023.0) / 65)::int)
	|| CASE WHEN original < d THEN ' Another.' ELSE '' END
FROM generate_series(1, :megabytes * 1000000 / :length) d,
	LATERAL (SELECT d - (d % 10 = 0)::int AS original) o,
	generate_series(1, (:length * 1.5 / 65)::int) place,
	LATERAL (SELECT hashint8extended(original, place) & 9999 AS pick) p
	JOIN sentence ON no = pick
GROUP BY d, original;
VACUUM ANALYZE docs;

CREATE TABLE measured (no serial, what text, seconds float8, wal numeric);
CREATE PROCEDURE measure(what text, statement text, drops text) LANGUAGE plpgsql AS $$
DECLARE
	start timestamptz;
	lsn pg_lsn;
BEGIN
	-- all begin with nothing to be written out
	CHECKPOINT;
	lsn := pg_current_wal_insert_lsn();
	start := clock_timestamp();
	EXECUTE statement;
	INSERT INTO measured (what, seconds, wal)
	VALUES (what, extract(epoch FROM clock_timestamp() - start), pg_current_wal_insert_lsn() - lsn);
	EXECUTE drops;
	COMMIT;
END $$;
CREATE PROCEDURE measure_all(workers int, rounds int) LANGUAGE plpgsql AS $$
DECLARE
	rewrite text := 'ALTER TABLE docs ADD fp simhash GENERATED ALWAYS AS (simhash_compute(body)) STORED';
BEGIN
	FOR i IN 0 .. rounds LOOP
		PERFORM set_config('max_parallel_maintenance_workers', '0', false);
		CALL measure('index on the expression, no workers', 'CREATE INDEX docs_fp ON docs USING simhash (simhash_compute(body))', 'DROP INDEX docs_fp');
		PERFORM set_config('max_parallel_maintenance_workers', workers::text, false);
		CALL measure(format('index on the expression, %s workers', workers), 'CREATE INDEX docs_fp ON docs USING simhash (simhash_compute(body))', 'DROP INDEX docs_fp');
		CALL measure('generated column: rewrite of the table', rewrite, 'SELECT');
		CALL measure('generated column: index on it', 'CREATE INDEX docs_fp ON docs USING simhash (fp)', 'ALTER TABLE docs DROP fp');
		-- the first round only warms up
		IF i = 0 THEN
			TRUNCATE measured;
		END IF;
	END LOOP;
END $$;
CALL measure_all(:workers, :rounds);

\echo
SELECT count(*) AS texts, pg_size_pretty(sum(octet_length(body))) AS text,
	pg_size_pretty(pg_relation_size('docs')) AS "table",
	pg_size_pretty(pg_relation_size((SELECT reltoastrelid FROM pg_class WHERE oid = 'docs'::regclass))) AS "TOAST table"
FROM docs;

-- a ratio above 1: so many times faster
WITH median AS (
	SELECT what, min(no) AS no, percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds) AS seconds, max(wal) AS wal
	FROM measured GROUP BY what
)
SELECT what, round(seconds::numeric, 3) AS seconds,
	round((first_value(seconds) OVER (ORDER BY no) / seconds)::numeric, 2) AS "no workers = 1", pg_size_pretty(max(wal)) AS "WAL"
FROM median GROUP BY no, what, seconds ORDER BY no;

-- the same questions to both
ALTER TABLE docs ADD fp simhash GENERATED ALWAYS AS (simhash_compute(body)) STORED;
CREATE INDEX docs_fp ON docs USING simhash (fp);
CREATE INDEX docs_expression ON docs USING simhash (simhash_compute(body));
CREATE TABLE query AS SELECT simhash_compute(body) AS q FROM docs WHERE id % 10 = 0 ORDER BY id LIMIT 1000;
VACUUM ANALYZE docs, query;
CREATE TABLE question (no serial, what text, statement text);
INSERT INTO question (what, statement) VALUES
	('look-up of radius 3', 'SELECT sum(d.id) FROM query, LATERAL (SELECT id FROM docs WHERE @fp@ <~> q <= 3) d'),
	('look-up of radius 3, with the distance', 'SELECT sum(d.id + d) FROM query, LATERAL (SELECT id, @fp@ <~> q AS d FROM docs WHERE @fp@ <~> q <= 3) d'),
	('nearest 10', 'SELECT sum(d) FROM query, LATERAL (SELECT @fp@ <~> q AS d FROM docs ORDER BY @fp@ <~> q LIMIT 10) d');
TRUNCATE measured;
CREATE PROCEDURE measure_questions(rounds int) LANGUAGE plpgsql AS $$
DECLARE
	q record;
	expected bigint;
	got bigint;
	start timestamptz;
	line text;
	plan text;
BEGIN
	SET enable_seqscan = off;
	SET enable_bitmapscan = off;
	FOR i IN 0 .. rounds LOOP
		FOR q IN SELECT question.*, way, replace(statement, '@fp@', way) AS query
			FROM question, unnest(ARRAY['fp', 'simhash_compute(body)']) way ORDER BY question.no, way
		LOOP
			plan := '';
			FOR line IN EXECUTE 'EXPLAIN ' || q.query LOOP
				plan := plan || line || E'\n';
			END LOOP;
			IF strpos(plan, CASE q.way WHEN 'fp' THEN 'docs_fp' ELSE 'docs_expression' END) = 0 THEN
				RAISE EXCEPTION 'the index is not used: %', q.query USING DETAIL = plan;
			END IF;
			start := clock_timestamp();
			EXECUTE q.query INTO got;
			IF i > 0 THEN
				INSERT INTO measured (what, seconds, wal)
				VALUES (q.what || q.way, extract(epoch FROM clock_timestamp() - start), 0);
			END IF;
			IF q.way = 'fp' THEN
				expected := got;
			ELSIF got IS DISTINCT FROM expected THEN
				RAISE EXCEPTION 'not the same answer: %', q.query;
			END IF;
		END LOOP;
	END LOOP;
END $$;
CALL measure_questions(:rounds);
WITH median AS (
	SELECT what, percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds) AS seconds FROM measured GROUP BY what
)
SELECT q.what AS "1,000 questions", round((1000 * c.seconds)::numeric, 1) AS "column, ms",
	round((1000 * e.seconds)::numeric, 1) AS "expression, ms", round((e.seconds / c.seconds)::numeric, 2) AS "expression/column"
FROM question q JOIN median c ON c.what = q.what || 'fp' JOIN median e ON e.what = q.what || 'simhash_compute(body)' ORDER BY no;
