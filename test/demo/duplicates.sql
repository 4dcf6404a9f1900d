--
-- Every pair of near-duplicates, some of them side by side, and the clusters
--
\pset tuples_only on
\pset format unaligned

SELECT clock_timestamp() AS start \gset
CREATE TABLE pairs AS
SELECT x.id AS a, y.id AS b, p.distance
FROM simhash_find_all('docs_fp') p JOIN docs x ON x.ctid = p.a JOIN docs y ON y.ctid = p.b;
SELECT format(E'Found %s pairs of texts within 3 bits, with simhash_find_all, in %s s;\n'
		'%s texts have another one that near.  Pairs by distance:',
		to_char(count(*), 'FM999,999,999'),
		round(extract(epoch FROM clock_timestamp() - :'start'), 2),
		(SELECT to_char(count(*), 'FM999,999,999') FROM (SELECT a FROM pairs UNION SELECT b FROM pairs) AS t))
FROM pairs;
SELECT format('    %s: %s', distance, to_char(count(*), 'FM999,999,999'))
FROM pairs GROUP BY distance ORDER BY distance;

SELECT clock_timestamp() AS start \gset
CREATE TABLE clusters AS
SELECT id, cluster, size FROM simhash_find_clusters('docs_fp') JOIN docs ON ctid = member;
SELECT format(E'\nThey make %s clusters, with simhash_find_clusters, in %s s; one of each would do,\n'
		'which leaves out %s of %s texts.  The largest:',
		to_char(count(DISTINCT cluster), 'FM999,999,999'),
		round(extract(epoch FROM clock_timestamp() - :'start'), 2),
		to_char(count(*) - count(DISTINCT cluster), 'FM999,999,999'),
		(SELECT to_char(count(*), 'FM999,999,999') FROM docs))
FROM clusters;
SELECT format('    %s texts: %s', size, names)
FROM (SELECT size, cluster,
			string_agg(name, ', ' ORDER BY name) FILTER (WHERE place <= 3) || ' ...' AS names
		FROM (SELECT *, row_number() OVER (PARTITION BY cluster ORDER BY name) AS place
				FROM clusters JOIN docs USING (id)) AS members
		GROUP BY cluster, size
		ORDER BY size DESC, cluster LIMIT 4) AS largest
ORDER BY size DESC, cluster;

-- lines of at most some characters, from about where two texts begin to differ
CREATE FUNCTION pg_temp.excerpt(text, at int, width int, OUT line text, OUT n bigint) RETURNS SETOF record
AS $$
	SELECT m[1], n
	FROM regexp_matches(
			CASE WHEN at > 1 THEN '... ' ELSE '' END || regexp_replace(substr($1, at), '\s+', ' ', 'g'),
			'\S.{0,' || width - 1 || '}(?=\s|$)', 'g') WITH ORDINALITY AS r (m, n)
	WHERE n <= 8
$$ LANGUAGE sql;

-- 0-based number of the first character in which two texts differ
CREATE FUNCTION pg_temp.first_difference(a text, b text) RETURNS int
AS $$
	SELECT coalesce(min(i), 0) FROM generate_series(1, least(length(a), length(b))) i
	WHERE substr(a, i, 1) <> substr(b, i, 1)
$$ LANGUAGE sql;

-- one pair for each distance, of texts that do not look related by their names
\echo
\echo Some of them, from about where the texts begin to differ:
WITH chosen AS MATERIALIZED (
	SELECT DISTINCT ON (distance)
		distance, a.name AS name_a, b.name AS name_b, a.description AS text_a, b.description AS text_b
	FROM pairs p JOIN docs a ON a.id = p.a JOIN docs b ON b.id = p.b
	WHERE distance > 0
	ORDER BY distance,
		length(a.description) BETWEEN 200 AND 1500 DESC,
		left(regexp_replace(a.name, '^lib([xno]?32|64)?', ''), 3) <> left(regexp_replace(b.name, '^lib([xno]?32|64)?', ''), 3) DESC,
		md5(a.name || ' ' || b.name)
), placed AS (
	-- back up to the beginning of a word
	SELECT *, CASE WHEN d <= 60 THEN 1
			ELSE d - 60 + strpos(translate(substr(text_a, d - 60, 60), E'\n', ' '), ' ') END AS at
	FROM chosen, pg_temp.first_difference(text_a, text_b) AS d
)
SELECT E'\n' || format('distance %s: %s | %s', distance, name_a, name_b) || E'\n' ||
	(SELECT string_agg(format('  %s | %s', rpad(coalesce(a.line, ''), 46), b.line), E'\n' ORDER BY n)
	FROM pg_temp.excerpt(text_a, at, 46) AS a FULL JOIN pg_temp.excerpt(text_b, at, 46) AS b USING (n))
FROM placed
ORDER BY distance;
\echo
