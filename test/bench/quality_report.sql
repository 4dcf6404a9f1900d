-- Print what quality.sql has collected.
\pset footer off
\pset null ''
\echo
SELECT name AS corpus, documents, documents * (documents - 1) / 2 AS "all pairs", round(length) AS "median length",
	near AS "near-duplicate pairs", near_documents AS "documents in these"
FROM corpus ORDER BY id;

CREATE TEMP VIEW score AS
SELECT corpus, class, variant, radius, found, wrong, 2 * found * precision / nullif(found + precision, 0) AS f1
FROM (
	SELECT corpus, class, variant, radius, sum(found) / nullif(sum(near), 0) AS found,
		sum(wrong) / 2 AS wrong,	-- each pair has two documents
		sum(right_share) / nullif(sum(judged), 0) AS precision
	FROM result GROUP BY GROUPING SETS ((corpus, variant, radius), (class, variant, radius))
) AS summed;

CREATE TEMP VIEW line AS
SELECT corpus, class, variant,
	round(max(found) FILTER (WHERE radius = 3)::numeric, 3) AS "found 3",
	round(max(found) FILTER (WHERE radius = 6)::numeric, 3) AS "found 6",
	round(max(found) FILTER (WHERE radius = 10)::numeric, 3) AS "found 10",
	round(max(wrong) FILTER (WHERE radius = 3)) AS "wrong 3",
	round(max(wrong) FILTER (WHERE radius = 6)) AS "wrong 6",
	round(max(wrong) FILTER (WHERE radius = 10)) AS "wrong 10",
	round(max(f1) FILTER (WHERE radius = 3)::numeric, 3) AS "F1 3",
	round(max(f1) FILTER (WHERE radius = 6)::numeric, 3) AS "F1 6",
	round(max(f1) FILTER (WHERE radius = 10)::numeric, 3) AS "F1 10",
	round(max(f1)::numeric, 3) AS "best F1",
	(array_agg(radius ORDER BY f1 DESC NULLS LAST, radius))[1] AS "at"
FROM score GROUP BY corpus, class, variant;

SELECT corpus, v.name AS fingerprint, "found 3", "found 6", "found 10", "wrong 3", "wrong 6", "wrong 10",
	"F1 3", "F1 6", "F1 10", "best F1", "at"
FROM line JOIN variant v ON v.id = variant JOIN corpus c ON c.name = corpus ORDER BY c.id, v.id;

\echo Documents of all corpora, by their length in letters and digits
SELECT c.name AS length, (SELECT sum(near) FROM result WHERE class = c.id AND variant = v.id AND radius = 0) AS "in near-duplicates",
	v.name AS fingerprint, "found 3", "found 6", "found 10", "wrong 3", "wrong 6", "wrong 10",
	"F1 3", "F1 6", "F1 10", "best F1", "at"
FROM line JOIN variant v ON v.id = variant JOIN class c ON c.id = class ORDER BY c.id, v.id;
