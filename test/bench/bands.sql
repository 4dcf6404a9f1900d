-- See the file bands.
\pset footer off
SET client_min_messages = warning;
CREATE EXTENSION simhash;
CREATE UNLOGGED TABLE pair (kind text, a text, b text);
\copy pair from 'pairs'

-- those of src/bits/distance.c
CREATE TABLE cell (form text, s numeric, bands int, radius int);
INSERT INTO cell VALUES
('text', 0.95, 3, 3), ('text', 0.9, 4, 5), ('text', 0.85, 5, 6), ('text', 0.8, 7, 7), ('text', 0.75, 9, 9),
('text', 0.7, 11, 9), ('text', 0.65, 13, 10), ('text', 0.6, 16, 11), ('text', 0.55, 24, 11), ('text', 0.5, 32, 12),
('bytea', 0.95, 3, 3), ('bytea', 0.9, 4, 5), ('bytea', 0.85, 6, 6), ('bytea', 0.8, 8, 8), ('bytea', 0.75, 9, 9),
('bytea', 0.7, 12, 10), ('bytea', 0.65, 14, 11), ('bytea', 0.6, 18, 12), ('bytea', 0.55, 25, 13), ('bytea', 0.5, 31, 13);

CREATE UNLOGGED TABLE compared AS
SELECT 'text' AS form, kind, simhash_jaccard(a, b) AS jaccard, simhash_bands(a) AS a, simhash_bands(b) AS b FROM pair
UNION ALL
SELECT 'bytea', kind, simhash_jaccard(a, b), simhash_bands(a), simhash_bands(b)
FROM (SELECT kind, convert_to(a, 'utf8') AS a, convert_to(b, 'utf8') AS b FROM pair OFFSET 0) p;

CREATE TABLE found AS
SELECT form, s, bands, radius, kind, count(*) AS pairs, avg(simhash_share_band(a, b, radius, bands)::int) AS found
FROM compared JOIN cell USING (form) WHERE jaccard >= s AND jaccard < s + 0.02 GROUP BY form, s, bands, radius, kind;
\echo 'Of pairs that share at least so much and less than .02 more, how many share a band: the mean of the kinds of edits, and'
\echo 'the worst kind, with the number of pairs of the rarest kind:'
SELECT form, s AS similarity, bands, radius, round(avg(found), 4) AS mean, round(min(found), 4) AS worst,
	(array_agg(kind ORDER BY found))[1] AS "worst kind", min(pairs) AS pairs
FROM found GROUP BY form, s, bands, radius ORDER BY form DESC, s DESC;
\echo 'The shares of kinds:'
SELECT form, kind, string_agg(round(found, 3)::text, ' ' ORDER BY s DESC) AS "found at 0.95, 0.9 ... 0.5" FROM found GROUP BY form, kind ORDER BY form DESC, kind;
