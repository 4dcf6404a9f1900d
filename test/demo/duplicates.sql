--
-- Every pair of near-duplicates, verified, and some of them side by side
--
\pset tuples_only on
\pset format unaligned

SELECT clock_timestamp() AS start \gset
CREATE TABLE found AS SELECT * FROM simhash_find_all('docs_fp', 8);
SELECT format(E'Found %s pairs of texts within 3 bits, and %s within 8, with simhash_find_all, in %s s.',
		to_char(count(*) FILTER (WHERE distance <= 3), 'FM999,999,999'), to_char(count(*), 'FM999,999,999'),
		round(extract(epoch FROM clock_timestamp() - :'start'), 2))
FROM found;

SELECT clock_timestamp() AS start \gset
CREATE TABLE pairs AS
SELECT x.id AS a, y.id AS b, p.distance, simhash_jaccard(x.description, y.description) AS jaccard
FROM found p JOIN docs x ON x.ctid = p.a JOIN docs y ON y.ctid = p.b;
SELECT format(E'Verified them with simhash_jaccard, in %s s: how many of their runs of three words two texts share.\n',
		round(extract(epoch FROM clock_timestamp() - :'start'), 2));
SELECT format('    %s%s%s%s', rpad('distance', 12), rpad('pairs', 12), rpad('share 0.8 or more', 21), 'less than half');
SELECT format('    %s%s%s%s', rpad(distance::text, 12), rpad(to_char(count(*), 'FM999,999,999'), 12),
		rpad(to_char(count(*) FILTER (WHERE jaccard >= 0.8), 'FM999,999,999'), 21),
		to_char(count(*) FILTER (WHERE jaccard < 0.5), 'FM999,999,990'))
FROM pairs GROUP BY distance ORDER BY distance;

-- lines of at most some characters, from about where two texts begin to differ
CREATE FUNCTION pg_temp.excerpt(text, at int, width int, OUT line text, OUT n bigint) RETURNS SETOF record
AS $$
	SELECT m[1], n
	FROM regexp_matches(
			CASE WHEN at > 1 THEN '... ' ELSE '' END || regexp_replace(substr($1, at), '\s+', ' ', 'g'),
			'\S.{0,' || width - 1 || '}(?=\s|$)', 'g') WITH ORDINALITY AS r (m, n)
	WHERE n <= 6
$$ LANGUAGE sql;

-- 0-based number of the first character in which two texts differ
CREATE FUNCTION pg_temp.first_difference(a text, b text) RETURNS int
AS $$
	SELECT coalesce(min(i), 0) FROM generate_series(1, least(length(a), length(b))) i
	WHERE substr(a, i, 1) <> substr(b, i, 1)
$$ LANGUAGE sql;

-- some pairs that are verified, and one that is not, of texts that do not look related by
-- their names
\echo
\echo Some that share 0.8 or more, and one that does not, from about where the texts begin to differ:
WITH chosen AS MATERIALIZED (
	SELECT DISTINCT ON (jaccard >= 0.8, distance)
		distance, jaccard, a.name AS name_a, b.name AS name_b, a.description AS text_a, b.description AS text_b
	FROM pairs p JOIN docs a ON a.id = p.a JOIN docs b ON b.id = p.b
	WHERE CASE WHEN jaccard >= 0.8 THEN distance IN (1, 4, 8) ELSE distance = 8 END
	ORDER BY jaccard >= 0.8, distance,
		length(a.description) BETWEEN 200 AND 1500 DESC,
		left(regexp_replace(a.name, '^lib([xno]?32|64)?', ''), 3) <> left(regexp_replace(b.name, '^lib([xno]?32|64)?', ''), 3) DESC,
		CASE WHEN jaccard < 0.8 THEN jaccard END,
		md5(a.name || ' ' || b.name)
), placed AS (
	-- back up to the beginning of a word
	SELECT *, CASE WHEN d <= 60 THEN 1
			ELSE d - 60 + strpos(translate(substr(text_a, d - 60, 60), E'\n', ' '), ' ') END AS at
	FROM chosen, pg_temp.first_difference(text_a, text_b) AS d
)
SELECT E'\n' || format('distance %s, Jaccard %s: %s | %s', distance, round(jaccard::numeric, 2), name_a, name_b) || E'\n' ||
	(SELECT string_agg(format('  %s | %s', rpad(coalesce(a.line, ''), 46), b.line), E'\n' ORDER BY n)
	FROM pg_temp.excerpt(text_a, at, 46) AS a FULL JOIN pg_temp.excerpt(text_b, at, 46) AS b USING (n))
FROM placed
ORDER BY jaccard >= 0.8 DESC, distance;
\echo
