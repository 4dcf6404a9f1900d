--
-- One of each: the longest stays
--
\pset tuples_only on
\pset format unaligned

-- what goes, to be looked at before
CREATE TABLE duplicates AS
SELECT x.name, k.name AS keeper
FROM simhash_find_duplicates('docs_fp', 8, 'length(description) DESC, id',
		'simhash_jaccard(a.description, b.description) >= 0.8') d
	JOIN docs x ON x.ctid = d.duplicate JOIN docs k ON k.ctid = d.keeper;

\echo One of each: the longest text stays, and those go that are within 8 bits of it and share 0.8 with it.
\echo '    DELETE FROM docs'
\echo '    USING simhash_find_duplicates(''docs_fp'', 8, ''length(description) DESC, id'','
\echo '                                  ''simhash_jaccard(a.description, b.description) >= 0.8'') d'
\echo '    WHERE docs.ctid = d.duplicate'
SELECT count(*) AS before, clock_timestamp() AS start FROM docs \gset
DELETE FROM docs
USING simhash_find_duplicates('docs_fp', 8, 'length(description) DESC, id',
		'simhash_jaccard(a.description, b.description) >= 0.8') d
WHERE docs.ctid = d.duplicate;
SELECT format('Removed %s of %s texts in %s s.  Those that now stand for most:',
		to_char(:before - count(*), 'FM999,999,999'), to_char(:before, 'FM999,999,999'),
		round(extract(epoch FROM clock_timestamp() - :'start'), 2))
FROM docs;
SELECT format('    %s, for %s: %s', keeper, count(*),
		string_agg(name, ', ' ORDER BY name) FILTER (WHERE place <= 3) || ' ...')
FROM (SELECT *, row_number() OVER (PARTITION BY keeper ORDER BY name) AS place FROM duplicates) AS d
GROUP BY keeper ORDER BY count(*) DESC, keeper LIMIT 4;

-- what is left
SELECT format(E'Of the %s pairs within 8 bits that share 0.8, %s are left.',
		to_char(count(*), 'FM999,999,990'), to_char(count(*) FILTER (WHERE x.id IS NOT NULL AND y.id IS NOT NULL), 'FM999,999,990'))
FROM pairs LEFT JOIN docs x ON x.id = a LEFT JOIN docs y ON y.id = b
WHERE jaccard >= 0.8;
\echo
