--
-- One of each: the longest stays
--
\pset tuples_only on
\pset format unaligned

-- what goes, to be looked at before
CREATE TABLE duplicates AS
SELECT x.id, x.name, k.id AS keeper, d.distance, simhash_jaccard(x.description, k.description) AS jaccard
FROM simhash_find_duplicates('docs_fp', 3, 'length(description) DESC, id') d
	JOIN docs x ON x.ctid = d.duplicate JOIN docs k ON k.ctid = d.keeper;

\echo One of each: the longest text stays, and those go that are within 3 bits of it and share 0.8 with it.
\echo '    DELETE FROM docs'
\echo '    USING simhash_find_duplicates(''docs_fp'', 3, ''length(description) DESC, id'') d JOIN docs k ON k.ctid = d.keeper'
\echo '    WHERE docs.ctid = d.duplicate AND simhash_jaccard(docs.description, k.description) >= 0.8'
SELECT count(*) AS before, clock_timestamp() AS start FROM docs \gset
DELETE FROM docs
USING simhash_find_duplicates('docs_fp', 3, 'length(description) DESC, id') d JOIN docs k ON k.ctid = d.keeper
WHERE docs.ctid = d.duplicate AND simhash_jaccard(docs.description, k.description) >= 0.8;
SELECT format('Removed %s of %s texts in %s s.  Those that now stand for most:',
		to_char(:before - count(*), 'FM999,999,999'), to_char(:before, 'FM999,999,999'),
		round(extract(epoch FROM clock_timestamp() - :'start'), 2))
FROM docs;
SELECT format('    %s, for %s: %s', keeper, n, names)
FROM (SELECT k.name AS keeper, count(*) AS n,
			string_agg(d.name, ', ' ORDER BY d.name) FILTER (WHERE place <= 3) || ' ...' AS names
		FROM (SELECT *, row_number() OVER (PARTITION BY keeper ORDER BY name) AS place
				FROM duplicates WHERE jaccard >= 0.8) AS d
			JOIN docs k ON k.id = d.keeper
		GROUP BY k.name
		ORDER BY n DESC, k.name LIMIT 4) AS largest
ORDER BY n DESC, keeper;

-- what is left, and why
SELECT count(*) AS alike FROM pairs WHERE distance <= 3 AND jaccard >= 0.8 \gset
SELECT format(E'%s more share less with the nearest text that stays, and stay, too, even if they share more with another.\n'
		'So %s of the %s pairs within 3 bits that share 0.8 are left; doc/recipes.md has a way that leaves none.',
		(SELECT to_char(count(*), 'FM999,999,990') FROM duplicates WHERE jaccard < 0.8),
		to_char(count(*), 'FM999,999,990'), to_char(:alike, 'FM999,999,990'))
FROM pairs JOIN docs x ON x.id = a JOIN docs y ON y.id = b
WHERE distance <= 3 AND jaccard >= 0.8;
\echo
