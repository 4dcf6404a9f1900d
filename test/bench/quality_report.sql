-- Print what quality.sql has collected.
\pset footer off
\pset null ''
\echo
SELECT name AS corpus, documents, documents * (documents - 1) / 2 AS "all pairs", round(length) AS "median length",
	near AS "pairs J >= .9", near_documents AS "documents in these", similar_pairs AS "pairs J >= .8", round(seconds) AS seconds
FROM corpus ORDER BY id;

SELECT EXISTS (SELECT FROM range) AS ranges, EXISTS (SELECT FROM wide) AS wides, EXISTS (SELECT FROM noise) AS noises, EXISTS (SELECT FROM parts) AS parts,
	EXISTS (SELECT FROM result) AS fingerprints \gset

\if :ranges
\echo simhash_minhash(body), compared: the share of the pairs with J >= .8 that are found by radius, and candidates for each found
SELECT corpus, c.similar_pairs AS "pairs J >= .8",
	round(max(r.similar_pairs::numeric / c.similar_pairs) FILTER (WHERE radius = 3), 3) AS "found 3",
	round(max(r.similar_pairs::numeric / c.similar_pairs) FILTER (WHERE radius = 6), 3) AS "found 6",
	round(max(r.similar_pairs::numeric / c.similar_pairs) FILTER (WHERE radius = 8), 3) AS "found 8",
	round(max(r.similar_pairs::numeric / c.similar_pairs) FILTER (WHERE radius = 10), 3) AS "found 10",
	round(max(candidates::numeric / r.similar_pairs) FILTER (WHERE radius = 8 AND r.similar_pairs > 0), 1) AS "candidates 8",
	round(max(candidates::numeric / r.similar_pairs) FILTER (WHERE radius = 10 AND r.similar_pairs > 0), 1) AS "candidates 10"
FROM range r JOIN corpus c ON c.name = corpus WHERE c.similar_pairs > 0 GROUP BY c.id, corpus, c.similar_pairs ORDER BY c.id;
\endif

\if :wides
-- Pairs within each radius that was searched, also where no pair has that distance
CREATE TEMP VIEW within AS
SELECT s.corpus, s.fingerprint, radius, coalesce(sum(pairs), 0) AS pairs, coalesce(sum(related), 0) AS related,
	coalesce(sum(similar_pairs), 0) AS similar_pairs, coalesce(sum(near), 0) AS near
FROM (SELECT corpus, fingerprint, radius
	FROM (SELECT DISTINCT corpus FROM wide) AS c,
		(VALUES ('64 bits, words 2', 10), ('256 bits, words 2', 40), ('256 bits, words 3', 40)) AS f (fingerprint, largest),
		generate_series(0, largest) AS radius) AS s
LEFT JOIN wide w ON w.corpus = s.corpus AND w.fingerprint = s.fingerprint AND distance <= radius
GROUP BY s.corpus, s.fingerprint, radius;

\echo simhash_minhash(body) of 64 bits and simhash_minhash_bits(body, 256, words), without a comparison, all corpora: the share
\echo of the pairs that are within the radius (the least of a corpus in parentheses), and the pairs that come with them
SELECT fingerprint, radius,
	format('%s (%s)', round(sum(w.near) / sum(c.near), 3), round(min(w.near / nullif(c.near, 0)), 3)) AS "found J >= .9",
	format('%s (%s)', round(sum(w.similar_pairs) / sum(c.similar_pairs), 3),
		round(min(w.similar_pairs / nullif(c.similar_pairs, 0)), 3)) AS "found J >= .8",
	sum(pairs) AS pairs, sum(w.similar_pairs) AS "J >= .8", sum(w.related - w.similar_pairs) AS "J .5 to .8",
	sum(pairs - w.related) AS "J < .5", round(sum(w.similar_pairs) / sum(pairs), 3) AS "share J >= .8"
FROM within w JOIN corpus c ON c.name = corpus
WHERE fingerprint LIKE '64%' AND radius IN (3, 6, 8, 10) OR fingerprint LIKE '256%' AND radius IN (12, 16, 20, 24, 26, 28, 31, 32, 36, 40)
GROUP BY fingerprint, radius ORDER BY fingerprint DESC, radius;

\echo The same for each corpus: 64 bits within 8, and the radius of 256 bits that finds as many pairs with J >= .8
SELECT DISTINCT ON (c.id, w.fingerprint) w.corpus, c.similar_pairs AS "pairs J >= .8", n.similar_pairs AS "64 bits: found", n.pairs AS "pairs",
	w.fingerprint, w.radius, w.similar_pairs AS found, w.pairs, w.related - w.similar_pairs AS "J .5 to .8", w.pairs - w.related AS "J < .5"
FROM within w JOIN corpus c ON c.name = w.corpus
JOIN within n ON n.corpus = w.corpus AND n.fingerprint LIKE '64%' AND n.radius = 8
WHERE w.fingerprint LIKE '256%' AND w.similar_pairs >= n.similar_pairs AND c.similar_pairs > 0
ORDER BY c.id, w.fingerprint, w.radius;
\endif

\if :noises
\echo Wrong characters: the share of the copies that are found, and wrong pairs; by words with J >= .8, and by shingles of
\echo five characters of which two texts must share .6 of those of four
SELECT corpus, percent, max(copies) AS copies,
	round(coalesce(sum(found / copies::numeric) FILTER (WHERE recipe = 'words'), 0), 3) AS "words 8",
	round(coalesce(sum(found / copies::numeric) FILTER (WHERE recipe <> 'words' AND radius = 8), 0), 3) AS "characters 8",
	round(coalesce(sum(found / copies::numeric) FILTER (WHERE recipe <> 'words' AND radius = 12), 0), 3) AS "characters 12",
	round(coalesce(sum(found / copies::numeric) FILTER (WHERE recipe <> 'words' AND radius = 16), 0), 3) AS "characters 16",
	coalesce(sum(wrong) FILTER (WHERE recipe = 'words'), 0) AS "wrong words 8",
	coalesce(sum(wrong) FILTER (WHERE recipe <> 'words' AND radius = 12), 0) AS "wrong 12",
	coalesce(sum(wrong) FILTER (WHERE recipe <> 'words' AND radius = 16), 0) AS "wrong 16",
	round(sum(candidates / copies::numeric) FILTER (WHERE recipe <> 'words' AND radius = 12), 1) AS "candidates 12",
	round(sum(candidates / copies::numeric) FILTER (WHERE recipe <> 'words' AND radius = 16), 1) AS "candidates 16"
FROM noise n JOIN corpus c ON c.name = corpus GROUP BY c.id, corpus, percent ORDER BY c.id, percent;
\endif

\if :parts
\echo Sentences: the share of the copies that are found by a share of their sentences from .5 and from .8, and by whole texts
\echo within 8 bits with J >= .8; and wrong pairs
SELECT corpus, kind, copies, round(found_half / copies::numeric, 3) AS "found .5", round(found_most / copies::numeric, 3) AS "found .8",
	round(found_whole / copies::numeric, 3) AS "found whole",
	wrong_half AS "wrong .5", wrong_most AS "wrong .8", wrong_whole AS "wrong whole"
FROM parts p JOIN corpus c ON c.name = corpus ORDER BY c.id, world;
\echo All corpora together, wrong pairs for each hundred copies
SELECT kind, sum(copies) AS copies, round(sum(found_half) / sum(copies), 3) AS "found .5",
	round(sum(found_most) / sum(copies), 3) AS "found .8", round(sum(found_whole) / sum(copies), 3) AS "found whole",
	round(100 * sum(wrong_half) / sum(copies), 1) AS "wrong .5", round(100 * sum(wrong_most) / sum(copies), 1) AS "wrong .8",
	round(100 * sum(wrong_whole) / sum(copies), 1) AS "wrong whole"
FROM parts GROUP BY world, kind ORDER BY world;
\endif

\if :fingerprints
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

-- The radius that finds nine tenths of the pairs with a coefficient from 0.8, and what comes with it
CREATE TEMP VIEW up_to AS
SELECT corpus, class, variant, distance, sum(pairs) OVER w AS pairs, sum(similar_pairs) OVER w AS similar_pairs,
	sum(related) OVER w AS related,
	sum(similar_pairs) OVER (PARTITION BY corpus, class, variant) AS all_similar
FROM (
	SELECT corpus, class, variant, distance, sum(pairs) AS pairs, sum(similar_pairs) AS similar_pairs, sum(related) AS related
	FROM spread GROUP BY GROUPING SETS ((corpus, variant, distance), (class, variant, distance))
) AS summed
WINDOW w AS (PARTITION BY corpus, class, variant ORDER BY distance);
CREATE TEMP VIEW nine_tenths AS
SELECT DISTINCT ON (corpus, class, variant) corpus, class, variant, all_similar AS "pairs J >= .8",
	distance AS radius,
	CASE WHEN distance <= 16 THEN pairs END AS "all pairs",
	CASE WHEN distance <= 16 THEN pairs - related END AS wrong
FROM up_to WHERE similar_pairs >= 0.9 * all_similar AND all_similar > 0
ORDER BY corpus, class, variant, distance;

\echo Near-duplicates are pairs with J >= .9, wrong ones those with J < .5
SELECT corpus, v.name AS fingerprint, "found 3", "found 6", "found 10", "wrong 3", "wrong 6", "wrong 10",
	"F1 3", "F1 6", "F1 10", "best F1", "at"
FROM line JOIN variant v ON v.id = variant JOIN corpus c ON c.name = corpus WHERE throw IS NULL ORDER BY c.id, v.id;

\echo Documents of all corpora, by their length in letters and digits
SELECT c.name AS length, (SELECT sum(near) FROM result WHERE class = c.id AND variant = v.id AND radius = 0) AS "in near-duplicates",
	v.name AS fingerprint, "found 3", "found 6", "found 10", "wrong 3", "wrong 6", "wrong 10",
	"F1 3", "F1 6", "F1 10", "best F1", "at"
FROM line JOIN variant v ON v.id = variant JOIN class c ON c.id = class WHERE throw IS NULL ORDER BY c.id, v.id;

\echo The radius that finds nine tenths of the pairs with J >= .8
SELECT corpus, v.name AS fingerprint, "pairs J >= .8", radius, "all pairs", wrong
FROM nine_tenths JOIN variant v ON v.id = variant JOIN corpus c ON c.name = corpus WHERE throw IS NULL ORDER BY c.id, v.id;

\echo The same of all corpora, by the length of the shorter text in letters and digits
SELECT c.name AS length, v.name AS fingerprint, "pairs J >= .8", radius, "all pairs", wrong
FROM nine_tenths JOIN variant v ON v.id = variant JOIN class c ON c.id = class WHERE throw IS NULL ORDER BY c.id, v.id;

\echo What goes if only the rows stay that simhash_find_duplicates keeps, by J of a row and its keeper; what goes if
\echo rows are the same only with J >= .8, and the rows that are left over then, with this to an earlier one that is left
SELECT corpus, v.name AS fingerprint, radius, removed, dissimilar AS "J < .8", wrong AS "J < .5",
	compared, left_over AS "left over"
FROM removed r JOIN variant v ON v.id = variant JOIN corpus c ON c.name = corpus
WHERE throw IS NULL ORDER BY c.id, v.id, radius;

\echo Mean of 1 - distance / 32 less the mean of J of the same features, by tenths of J
SELECT v.name AS fingerprint, tenth / 10.0::float8 AS "J from", sum(pairs) AS pairs,
	round((sum(estimate - jaccard) / sum(pairs))::numeric, 4) AS bias
FROM bias LEFT JOIN variant v ON v.id = variant
GROUP BY GROUPING SETS ((v.id, v.name, tenth), (tenth)) ORDER BY v.id NULLS FIRST, tenth;

SELECT :throws > 0 AS thrown \gset
\if :thrown
\echo The same fingerprints with other hashes: means of these throws, and the smallest and largest
SELECT corpus, v.name AS fingerprint, count(*) AS throws,
	round(avg("found 3"), 3) AS "found 3", round(avg("found 6"), 3) AS "found 6", round(avg("found 10"), 3) AS "found 10",
	format('%s (%s to %s)', round(avg("wrong 3"), 1), min("wrong 3"), max("wrong 3")) AS "wrong 3",
	format('%s (%s to %s)', round(avg("wrong 6"), 1), min("wrong 6"), max("wrong 6")) AS "wrong 6",
	format('%s (%s to %s)', round(avg("wrong 10")), min("wrong 10"), max("wrong 10")) AS "wrong 10"
FROM line JOIN variant v ON v.id = variant JOIN corpus c ON c.name = corpus
WHERE throw IS NOT NULL GROUP BY c.id, corpus, v.name ORDER BY c.id, min(v.id);
\endif

-- for those who draw them
\copy (SELECT corpus, v.name AS fingerprint, radius, round(found::numeric, 4) AS found, round(wrong) AS wrong FROM score JOIN variant v ON v.id = variant JOIN corpus c ON c.name = corpus WHERE v.name ~ '^(simhash, char 4|minhash, word 2)($|, then)' ORDER BY c.id, v.id, radius) to 'figures.csv' csv header
\endif
