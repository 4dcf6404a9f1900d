-- Measure functions of a text on the rows of the files manuals and packages.
-- Variable: rounds.
\pset footer off
SET client_min_messages = warning;
CREATE EXTENSION simhash;

-- stored as they are, so that nobody's time is that of decompression
CREATE TABLE texts (source text, name text, body text);
ALTER TABLE texts ALTER body SET STORAGE EXTERNAL;
CREATE TABLE rows (name text, body text);
\copy rows from 'manuals'
-- enough of them, for to_tsvector takes its time
DELETE FROM rows WHERE name NOT IN (SELECT name FROM rows ORDER BY md5(name) LIMIT 3000);
INSERT INTO texts SELECT 'manual pages', name, body FROM rows;
INSERT INTO texts SELECT 'manual pages in one', NULL, string_agg(body, E'\n' ORDER BY name) FROM rows HAVING count(*) > 0;
TRUNCATE rows;
\copy rows from 'packages'
INSERT INTO texts SELECT 'package descriptions', name, body FROM rows;

-- each with another one, for functions of two
ALTER TABLE texts ADD other text;
ALTER TABLE texts ALTER other SET STORAGE EXTERNAL;
UPDATE texts SET other = previous FROM (
	SELECT ctid AS row, coalesce(lag(body) OVER (PARTITION BY source ORDER BY name), body) AS previous FROM texts) AS p
WHERE texts.ctid = row;
VACUUM FULL ANALYZE texts;

CREATE TABLE measured (source text, function text, seconds float8);
CREATE TABLE function (id serial, call text, texts int GENERATED ALWAYS AS (CASE WHEN call LIKE '%other%' THEN 2 ELSE 1 END) STORED);
INSERT INTO function (call)
VALUES ('simhash_compute(body)'), ('simhash_compute(body, 3, ''word'')'), ('simhash_compute(convert_to(body, ''UTF8''))'),
	('simhash_minhash(body)'), ('simhash_minhash(body, 8, ''char'')'),
	('simhash_jaccard(body, other)'), ('simhash_jaccard(body, other, 4, ''char'')'),
	('md5(body)'), ('to_tsvector(''english'', body)'), ('length(body)');

CREATE FUNCTION measure(rounds int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	f record;
	s text;
	start timestamptz;
	failed bool;
BEGIN
	FOR i IN 0 .. rounds LOOP
		FOR s IN SELECT DISTINCT source FROM texts ORDER BY 1 LOOP
			FOR f IN SELECT * FROM function ORDER BY id LOOP
				failed := false;
				start := clock_timestamp();
				BEGIN
					EXECUTE format('SELECT count(%s) FROM texts WHERE source = %L', f.call, s);
				EXCEPTION WHEN program_limit_exceeded THEN
					failed := true;		-- not a text for that function
				END;
				-- the first round only warms up
				CONTINUE WHEN failed OR i = 0;
				INSERT INTO measured VALUES (s, f.call, extract(epoch FROM clock_timestamp() - start));
			END LOOP;
		END LOOP;
	END LOOP;
END $$;
SELECT FROM measure(:rounds) \g /dev/null

\echo
SELECT source, count(*) AS texts, pg_size_pretty(sum(octet_length(body))) AS size FROM texts GROUP BY source ORDER BY source;

-- MB of all texts that a function is given; a ratio above 1: so many times faster
WITH medians AS (
	SELECT source, function, percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds) AS seconds
	FROM measured GROUP BY source, function
)
SELECT m.source, m.function, round((texts * size / 1e6 / m.seconds)::numeric) AS "MB/s",
	round((texts * m5.seconds / m.seconds)::numeric, 2) AS "md5 = 1", round((texts * ts.seconds / m.seconds)::numeric, 2) AS "to_tsvector = 1"
FROM medians m
JOIN function f ON f.call = m.function
JOIN (SELECT source, sum(octet_length(body)) AS size FROM texts GROUP BY source) AS t USING (source)
LEFT JOIN medians m5 ON m5.source = m.source AND m5.function LIKE 'md5%'
LEFT JOIN medians ts ON ts.source = m.source AND ts.function LIKE 'to_tsvector%'
ORDER BY m.source, f.id;
