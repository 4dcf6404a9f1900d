-- Tables, and what is measured, for test/bench/passages.
-- Variables: rows, few, queries; the documents are in the file "rows".
CREATE EXTENSION simhash;
CREATE EXTENSION pg_trgm;
SET client_min_messages = warning;

CREATE TABLE loaded (id bigint GENERATED ALWAYS AS IDENTITY, name text, body text);
\copy loaded (name, body) FROM 'rows'
CREATE TABLE doc AS
SELECT row_number() OVER (ORDER BY md5(body))::int AS id, body, words
FROM (SELECT DISTINCT ON (body) body, cardinality(simhash_shingles(body, 1, 'word')) AS words FROM loaded) d
WHERE words >= 13 LIMIT :rows;
DROP TABLE loaded;
CREATE TABLE few AS SELECT * FROM doc WHERE id <= :few;
VACUUM ANALYZE;

-- CPU seconds that this session has used
CREATE FUNCTION cpu() RETURNS float8 LANGUAGE sql VOLATILE AS $$
	SELECT split_part(pg_read_file('/proc/self/schedstat', 0, 1000, true), ' ', 1)::float8 / 1e9 $$;
CREATE FUNCTION cpu_of(statement text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
	began float8 := cpu();
BEGIN
	EXECUTE statement;
	RETURN cpu() - began;
END $$;
CREATE FUNCTION line(what text, VARIADIC figures float8[]) RETURNS text LANGUAGE sql AS $$
	SELECT rpad(what, 46) || string_agg(lpad(coalesce(round(f::numeric, CASE WHEN abs(f) < 10 THEN 3 ELSE 1 END)::text, ''), 12), '' ORDER BY n)
	FROM unnest(figures) WITH ORDINALITY AS u (f, n) $$;

-- What is found by each way: a condition for $1, a quote
CREATE TABLE way (no int, name text, tab text, condition text);
INSERT INTO way VALUES (1, '~&', 'few', 'body ~& $1'),
	(2, 'pg_trgm, LIKE', 'few', 'body LIKE ''%%'' || replace(replace(replace($1, ''\'', ''\\''), ''%%'', ''\%%''), ''_'', ''\_'') || ''%%'''),
	(3, 'text[] of 13 words', 'few', 'simhash_shingles(body, 13, ''word'') && simhash_shingles($1, 13, ''word'')'),
	(4, 'sentences', 'few', 'id IN (SELECT s.doc FROM sentences($1) q JOIN sentence s ON s.fp <~> simhash_minhash(q) <= 3)'),
	(5, '~&, all documents', 'doc', 'body ~& $1');

CREATE FUNCTION sentences(body text) RETURNS SETOF text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
	SELECT s FROM regexp_split_to_table(body, '[.!?]\s+|[。！？]|\n\s*\n') AS s
	WHERE cardinality(simhash_shingles(s, 1, 'word')) >= 5 $$;

\echo Documents
SELECT line(t || ': documents, words a document, MB', count, words / count, bytes / 1e6)
FROM (SELECT 'all' AS t, count(*), sum(words) AS words, sum(octet_length(body)) AS bytes FROM doc
	UNION ALL SELECT 'few', count(*), sum(words), sum(octet_length(body)) FROM few) s;

\echo
\echo Builds: CPU seconds, ratio to computing fingerprints, bytes a word
CREATE TABLE built (no serial, name text, cpu float8, bytes float8, words float8);
CREATE PROCEDURE build(what text, tab regclass, index text, statement text) LANGUAGE plpgsql AS $$
DECLARE
	cpu float8 := cpu_of(statement);
BEGIN
	EXECUTE format('INSERT INTO built (name, cpu, bytes, words) SELECT $1, $2, pg_total_relation_size(to_regclass($3)), sum(words) FROM %s', tab)
	USING what, cpu, nullif(index, '');
END $$;
CALL build('fingerprints, all', 'doc', '', 'SELECT count(simhash_minhash(body)) FROM doc');
CALL build('keys without an index, all', 'doc', '', 'SELECT sum(cardinality(simhash_passage_keys(body))) FROM doc');
CALL build('simhash_passage_ops, all', 'doc', 'doc_body', 'CREATE INDEX doc_body ON doc USING gin (body simhash_passage_ops)');
CALL build('fingerprints, few', 'few', '', 'SELECT count(simhash_minhash(body)) FROM few');
CALL build('simhash_passage_ops, few', 'few', 'few_body', 'CREATE INDEX few_body ON few USING gin (body simhash_passage_ops)');
CALL build('pg_trgm, few', 'few', 'few_trgm', 'CREATE INDEX few_trgm ON few USING gin (body gin_trgm_ops)');
CALL build('text[] of 13 words, few', 'few', 'few_shingles', 'CREATE INDEX few_shingles ON few USING gin (simhash_shingles(body, 13, ''word''))');
CALL build('sentences with their index, few', 'few', 'sentence',
	'CREATE TABLE sentence AS SELECT id AS doc, simhash_minhash(s) AS fp FROM few, sentences(body) s;
	 CREATE INDEX sentence_fp ON sentence USING simhash (fp)');
SELECT line(name, cpu, cpu / first_value(cpu) OVER (PARTITION BY name LIKE '%, all' ORDER BY no), bytes / words) FROM built ORDER BY no;
VACUUM ANALYZE;

-- Quotes of 60 words as they stand, from anywhere; beginning and ending with sentences; with words changed; halves of
-- documents; documents of 50 to 500 words between a frame of as many words again.  In one that comes from a frame,
-- a quote begins where the runs are in most documents.
\echo
\echo Recall of quotes of 60 words
CREATE FUNCTION part(body text, first int, number int, changed int DEFAULT 0) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	words text[] := (regexp_split_to_array(btrim(body), '\s+'))[first : first + number - 1];
BEGIN
	FOR i IN 1 .. changed LOOP
		words[1 + floor(random() * cardinality(words))::int] := 'changed' || floor(random() * 1e6);
	END LOOP;
	RETURN array_to_string(words, ' ');
END $$;
SELECT setseed(.5);
CREATE TABLE source AS SELECT id, body, words, cardinality(regexp_split_to_array(btrim(body), '\s+')) AS parts
FROM few WHERE words >= 120 ORDER BY md5(body || 1) LIMIT :queries;
CREATE TABLE quote (kind text, n int GENERATED ALWAYS AS IDENTITY, id int, body text);
INSERT INTO quote (kind, id, body)
SELECT '1 as it stands', id, substr(body, (1 + random() * (length(body) - 360))::int, 360) FROM source WHERE length(body) > 400
UNION ALL SELECT '2 words from anywhere', id, part(body, 1 + floor(random() * greatest(parts - 60, 1))::int, 60) FROM source
UNION ALL SELECT '3 two words changed', id, part(body, 1 + floor(random() * greatest(parts - 60, 1))::int, 60, 2) FROM source
UNION ALL SELECT '4 four words changed', id, part(body, 1 + floor(random() * greatest(parts - 60, 1))::int, 60, 4) FROM source
UNION ALL SELECT '5 sentences, 60 words and more', id, (SELECT string_agg(s, '. ' ORDER BY n) FROM (SELECT s, n,
		sum(cardinality(regexp_split_to_array(s, '\s+'))) OVER (ORDER BY n) - cardinality(regexp_split_to_array(s, '\s+')) AS before
		FROM regexp_split_to_table(body, '[.!?]\s+|\n\s*\n') WITH ORDINALITY AS u (s, n)) w WHERE before BETWEEN 60 AND 120) FROM source
UNION ALL SELECT '6 first half', id, left(body, length(body) / 2) FROM source WHERE words < 2000
UNION ALL SELECT '7 another frame', s.id, part(f.body, 1, 100) || ' ' || s.body || ' ' || part(f.body, 101, 100)
FROM source s, (SELECT body FROM doc WHERE words > 250 ORDER BY md5(body || 2) LIMIT 1) f WHERE s.words BETWEEN 120 AND 500;
DELETE FROM quote WHERE body IS NULL OR cardinality(simhash_shingles(body, 1, 'word')) < 40;
CREATE TABLE answer (way int, n int, found bigint, mine bool, ms float8);
CREATE PROCEDURE look_up(ways int[], quotes text) LANGUAGE plpgsql AS $$
DECLARE
	w record;
	q record;
	a answer;
	began float8;
BEGIN
	FOR w IN SELECT * FROM way WHERE no = ANY (ways) LOOP
		FOR q IN EXECUTE quotes LOOP
			a := (w.no, q.n, NULL, NULL, NULL);
			began := cpu();
			-- the clock of the kernel has ticks of some milliseconds
			FOR round IN 1 .. 100 LOOP
				EXECUTE format('SELECT count(*), bool_or(id = $2) FROM %s WHERE ' || w.condition, w.tab) INTO a.found, a.mine USING q.body, q.id;
				a.ms := (cpu() - began) * 1000 / round;
				EXIT WHEN a.ms * round > 20;
			END LOOP;
			INSERT INTO answer SELECT a.*;
		END LOOP;
	END LOOP;
END $$;
SET plan_cache_mode = force_custom_plan;
SET enable_seqscan = off;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET statement_timeout = 0;
CALL look_up('{1,4,5}', 'SELECT * FROM quote');
CALL look_up('{2,3}', 'SELECT * FROM quote WHERE kind < ''6''');
SELECT kind || ': ' || string_agg(format('%s %s of %s', name, hits, of), ', ' ORDER BY no)
FROM (SELECT kind, way.no, name, count(*) AS of, count(*) FILTER (WHERE mine) AS hits
	FROM answer JOIN quote USING (n) JOIN way ON way.no = way GROUP BY kind, way.no, name) s GROUP BY kind ORDER BY kind;

\echo
\echo Look-ups of 60 words from anywhere: ms of CPU median, 99 %, worst; rows found: median, mean; ratio of the medians to ~&
SELECT line(name, median, p99, worst, median_found, found, median / first_value(median) OVER (ORDER BY no))
FROM (SELECT no, name, percentile_cont(.5) WITHIN GROUP (ORDER BY ms) AS median, percentile_cont(.99) WITHIN GROUP (ORDER BY ms) AS p99,
		max(ms) AS worst, percentile_cont(.5) WITHIN GROUP (ORDER BY found) AS median_found, avg(found) AS found
	FROM answer JOIN quote USING (n) JOIN way ON no = way WHERE kind LIKE '2%' GROUP BY no, name) s ORDER BY no;

\echo
\echo The same for the keys that most documents have: a quote around each
CREATE TABLE frame AS SELECT key, count(*) FROM doc, unnest(simhash_passage_keys(body)) AS key GROUP BY key ORDER BY 2 DESC LIMIT 200;
TRUNCATE quote, answer;
INSERT INTO quote (kind, id, body)
SELECT 'frame', id, part(body, greatest(first - 24, 1)::int, 60)
FROM (SELECT DISTINCT ON (key) key, id, body FROM doc, unnest(simhash_passage_keys(body)) AS key
		WHERE words < 3000 AND key IN (SELECT key FROM frame)) s,
	LATERAL (SELECT n AS first FROM unnest(simhash_shingles(body, 6, 'word')) WITH ORDINALITY AS r (run, n)
		WHERE simhash_hash(run) = key LIMIT 1) r;
CALL look_up('{5}', 'SELECT * FROM quote');
SELECT line('documents with the most frequent keys', max(count), percentile_cont(.5) WITHIN GROUP (ORDER BY count), NULL) FROM frame;
SELECT line(name, percentile_cont(.5) WITHIN GROUP (ORDER BY ms), percentile_cont(.99) WITHIN GROUP (ORDER BY ms), max(ms), avg(found))
FROM answer JOIN way ON no = way GROUP BY no, name;
SET gin_fuzzy_search_limit = 1000;
TRUNCATE answer;
CALL look_up('{5}', 'SELECT * FROM quote');
SELECT line('with gin_fuzzy_search_limit = 1000', percentile_cont(.5) WITHIN GROUP (ORDER BY ms), percentile_cont(.99) WITHIN GROUP (ORDER BY ms), max(ms), avg(found))
FROM answer JOIN way ON no = way GROUP BY no, name;
RESET gin_fuzzy_search_limit;

\echo
\echo Each document as a query: ms median, worst; words of the longest
SELECT setseed(.5);
TRUNCATE quote, answer;
INSERT INTO quote (kind, id, body) SELECT 'document', id, body FROM (TABLE source ORDER BY id LIMIT 100) s;
INSERT INTO quote (kind, id, body) (SELECT 'document', id, body FROM doc ORDER BY words DESC LIMIT 3);
CALL look_up('{5}', 'SELECT * FROM quote');
SELECT line(name, percentile_cont(.5) WITHIN GROUP (ORDER BY ms), max(ms), (SELECT max(words) FROM doc)) FROM answer JOIN way ON no = way GROUP BY name;
