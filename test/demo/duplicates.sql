--
-- The near-duplicates of the whole table, and texts that were copied for another program
--
\pset tuples_only on
\pset format unaligned

\echo All near-duplicates of the table.  The longest text of each group would stay:
\echo '    SELECT * FROM simhash_find_duplicates(''docs_body'', keep => ''length(body) DESC, id'');'
SELECT clock_timestamp() AS start \gset
CREATE TABLE found AS SELECT * FROM simhash_find_duplicates('docs_body', keep => 'length(body) DESC, id');
SELECT format(E'%s of %s texts, in %s s.', to_char((SELECT count(*) FROM found), 'FM999,999,999'),
		to_char(count(*), 'FM999,999,999'), round(extract(epoch FROM clock_timestamp() - :'start'), 2))
FROM docs;

-- Families are alike and wanted, such as a dictionary for each language, and so are the parts of
-- one program.  So: texts of programs of which neither text names the other one.
CREATE TABLE copies AS
SELECT DISTINCT ON (keeper_program) x.name, k.name AS keeper, x.body, k.body AS keeper_body,
	simhash_jaccard(x.body, k.body) AS share
FROM (SELECT *, count(*) OVER (PARTITION BY keeper) AS copies FROM found) d
	JOIN docs x ON x.ctid = d.duplicate JOIN docs k ON k.ctid = d.keeper,
	split_part(x.name, '-', 1) AS program, split_part(k.name, '-', 1) AS keeper_program
WHERE copies <= 2 AND length(x.body) > 400 AND left(program, 2) <> left(keeper_program, 2)
	AND strpos(lower(k.body), program) = 0 AND strpos(lower(x.body), keeper_program) = 0
	AND x.name || ' ' || k.name !~ '\m(lib|python|ruby|golang|php|cl-|elpa|qml|qt)|-(\w\w|dev|doc|data)\M'
ORDER BY keeper_program, share DESC, x.name;
\echo Many belong to families, such as one dictionary for each language, and are wanted:
\echo a condition can spare them.  These were written for one program and copied for another:
\echo
SELECT format(E'  %s, like %s: %s %%\n%s', name, keeper, round(100 * share), marked(body, keeper_body))
FROM copies WHERE share < 1 ORDER BY share DESC, name LIMIT 4;
\echo
