-- See the file titles.  Variables: titles and queries, how many.
\pset footer off
SET client_min_messages = warning;
CREATE EXTENSION simhash;
CREATE EXTENSION pg_trgm;
SELECT setseed(0.5) \g /dev/null

--
-- Four fifths are descriptions, and if there are not enough of them, the first half of one and the
-- second half of another; so some share half of their words.  The rest are edited copies.
--
CREATE UNLOGGED TABLE line (body text);
\copy line from 'descriptions'
CREATE UNLOGGED TABLE part AS SELECT row_number() OVER (ORDER BY md5(body))::int AS id, string_to_array(body, ' ') AS words
FROM line WHERE simhash_title_bands(body) IS NOT NULL;
SELECT count(*) AS parts FROM part \gset
CREATE INDEX ON part (id);
ANALYZE part;
CREATE FUNCTION any_word() RETURNS text LANGUAGE sql AS $$
	SELECT words[1 + floor(random() * cardinality(words))::int] FROM part WHERE id = 1 + (SELECT floor(random() * (SELECT max(id) FROM part))::int)
$$;
CREATE FUNCTION edited(title text, kind int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	words text[] := string_to_array(title, ' ');
	n int := 1 + floor(random() * cardinality(words));
BEGIN
	RETURN CASE kind
		WHEN 0 THEN array_to_string(words[: n - 1] || any_word() || words[n + 1 :], ' ')
		WHEN 1 THEN array_to_string(words[: n - 1] || words[n + 1 :], ' ')
		WHEN 2 THEN array_to_string(words[: n] || any_word() || words[n + 1 :], ' ')
		WHEN 3 THEN array_to_string(words[n + 1 :] || words[: n], ' ')
		WHEN 4 THEN CASE WHEN title ~ '[0-9]' THEN regexp_replace(title, '[0-9]', floor(random() * 10)::int::text) ELSE title || ' ' || n END
		ELSE upper(title) || '!' END;
END $$;
CREATE UNLOGGED TABLE title (id int PRIMARY KEY, title text);
INSERT INTO title SELECT i, CASE WHEN i <= :parts THEN array_to_string(a.words, ' ')
		ELSE array_to_string(a.words[: (cardinality(a.words) + 1) / 2] || b.words[(cardinality(b.words) + 1) / 2 + 1 :], ' ') END
FROM generate_series(1, :titles * 4 / 5) i
JOIN part a ON a.id = 1 + (i - 1) % :parts JOIN part b ON b.id = 1 + (hashint4extended(i, 1) & 2147483647) % :parts;
INSERT INTO title SELECT id + :titles * 4 / 5, edited(title, id % 6) FROM title WHERE id <= :titles / 5;
CREATE UNLOGGED TABLE query AS SELECT row_number() OVER ()::int AS id, edited(title, floor(random() * 6)::int) AS title
FROM (SELECT title FROM title ORDER BY md5(id::text) LIMIT :queries) t;
VACUUM ANALYZE title, query;
SELECT count(*) AS titles, round(avg(cardinality(string_to_array(title, ' '))), 1) AS words, pg_size_pretty(pg_relation_size('title')) AS size FROM title;

--
-- What is right: by the definition without the bands
--
CREATE FUNCTION numbers(title text) RETURNS text[] LANGUAGE sql IMMUTABLE AS $$
	SELECT array_agg(n ORDER BY n) FROM (SELECT regexp_replace(m[1], '^0+(.)', '\1') AS n FROM regexp_matches(title, '[0-9]+', 'g') m) s
$$;
CREATE UNLOGGED TABLE word AS SELECT DISTINCT id, w FROM title, unnest(simhash_shingles(title, 1, 'word')) w;
CREATE UNLOGGED TABLE query_word AS SELECT DISTINCT id, w FROM query, unnest(simhash_shingles(title, 1, 'word')) w;
CREATE UNLOGGED TABLE shared AS SELECT q.id AS query, w.id, count(*) AS n FROM query_word q JOIN word w USING (w) GROUP BY 1, 2;
ANALYZE word, query_word, shared;
CREATE UNLOGGED TABLE right_one AS SELECT s.query, s.id FROM shared s
JOIN (SELECT id, count(*) AS n FROM query_word GROUP BY 1) a ON a.id = s.query JOIN (SELECT id, count(*) AS n FROM word GROUP BY 1) b ON b.id = s.id
JOIN query q ON q.id = s.query JOIN title t ON t.id = s.id
WHERE s.n >= 0.7 * (a.n + b.n - s.n) AND numbers(q.title) IS NOT DISTINCT FROM numbers(t.title);
ANALYZE right_one;
SELECT count(*) AS right_rows, round(count(*)::numeric / :queries, 2) AS a_query FROM right_one;

--
-- The ways: how an index is made, and the condition
--
CREATE TABLE way (no int, index text, setting text, condition text);
INSERT INTO way SELECT 1, 'USING simhash (title simhash_title_ops)', NULL, 'title =%= $1';
INSERT INTO way SELECT no, index, threshold, 'title % $1'
FROM (VALUES (2, 'USING gin (title gin_trgm_ops)', '{0.3,0.4,0.5,0.6,0.7}'::text[]), (3, 'USING gist (title gist_trgm_ops)', '{0.3,0.5}'))
	v (no, index, thresholds), unnest(thresholds) threshold;
CREATE TABLE took (no int, setting text, seconds float8, query int, rows bigint, right_rows bigint, candidates float8);
CREATE TABLE built (no int, seconds float8, size bigint);
SET enable_seqscan = off;
-- times of each look-up, behind one that warms up, and the rows; candidates are what the index returns
CREATE PROCEDURE measure(p_no int, p_setting text, condition text) LANGUAGE plpgsql AS $$
DECLARE
	start timestamptz;
	q record;
	ids int[];
	plan json;
BEGIN
	PERFORM set_config('pg_trgm.similarity_threshold', coalesce(p_setting, '0.3'), false);
	FOR round IN 0 .. 1 LOOP
		FOR q IN SELECT * FROM query ORDER BY id LOOP
			start := clock_timestamp();
			EXECUTE 'SELECT array_agg(id) FROM title WHERE ' || condition INTO ids USING q.title;
			CONTINUE WHEN round = 0;
			INSERT INTO took SELECT p_no, p_setting, extract(epoch FROM clock_timestamp() - start), q.id, coalesce(cardinality(ids), 0),
				(SELECT count(*) FROM right_one WHERE query = q.id AND id = ANY (ids));
			IF q.id % 5 = 0 THEN
				EXECUTE 'EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) SELECT id FROM title WHERE ' || replace(condition, '$1', quote_literal(q.title)) INTO plan;
				UPDATE took SET candidates = (plan #>> '{0,Plan,Actual Rows}')::float8 + coalesce((plan #>> '{0,Plan,Rows Removed by Index Recheck}')::float8, 0)
				WHERE no = p_no AND setting IS NOT DISTINCT FROM p_setting AND query = q.id;
			END IF;
		END LOOP;
	END LOOP;
END $$;
DO $$
DECLARE
	start timestamptz;
	w record;
	s record;
BEGIN
	FOR w IN SELECT DISTINCT no, index FROM way ORDER BY no LOOP
		start := clock_timestamp();
		EXECUTE 'CREATE INDEX title_index ON title ' || w.index;
		INSERT INTO built VALUES (w.no, extract(epoch FROM clock_timestamp() - start), pg_relation_size('title_index'));
		FOR s IN SELECT * FROM way WHERE no = w.no ORDER BY setting LOOP
			CALL measure(s.no, s.setting, s.condition);
		END LOOP;
		DROP INDEX title_index;
	END LOOP;
END $$;
\echo 'Found are shares of the right rows, wrong the other rows that are returned; times in ms:'
SELECT split_part(index, ' ', 2) AS index, way.setting AS threshold, round(sum(right_rows) / (SELECT count(*) FROM right_one), 4) AS found,
	round(sum(rows - right_rows) / :queries, 2) AS wrong_a_query, round(avg(candidates)::numeric, 1) AS candidates,
	percentile_disc(0.99) WITHIN GROUP (ORDER BY candidates) AS "p99 of them",
	round((percentile_disc(0.5) WITHIN GROUP (ORDER BY seconds) * 1000)::numeric, 3) AS p50,
	round((percentile_disc(0.99) WITHIN GROUP (ORDER BY seconds) * 1000)::numeric, 3) AS p99
FROM took JOIN way ON took.no = way.no AND took.setting IS NOT DISTINCT FROM way.setting GROUP BY way.no, index, way.setting ORDER BY way.no, way.setting;
SELECT DISTINCT split_part(index, ' ', 2) AS index, round(seconds::numeric, 2) AS build, pg_size_pretty(size) AS size FROM built JOIN way USING (no) ORDER BY 1;
-- what a lookup meets: titles that have one of the prefixes
CREATE UNLOGGED TABLE band AS SELECT id, simhash_title_bands(title) AS bands FROM title;
SELECT round(avg(n), 1) AS met, percentile_disc(0.99) WITHIN GROUP (ORDER BY n) AS "p99 of them", round(avg(near), 1) AS candidates, percentile_disc(0.99) WITHIN GROUP (ORDER BY near) AS "p99 of these"
FROM (SELECT q.id, count(*) AS n, count(*) FILTER (WHERE simhash_share_band(b, bands, 9)) AS near
	FROM query q, simhash_title_bands(title) b JOIN band ON simhash_share_band(b, bands, 32) GROUP BY q.id) s;
