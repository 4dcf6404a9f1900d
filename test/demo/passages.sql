--
-- Parts of texts
--
\pset tuples_only on
\pset format unaligned

SELECT clock_timestamp() AS start \gset
CREATE INDEX docs_passages ON docs USING gin (body simhash_passage_ops);
SELECT round(extract(epoch FROM clock_timestamp() - :'start'), 2) AS built \gset

-- a text that is quoted in few others, which are not like it
SELECT x.name, x.body
FROM (SELECT * FROM docs WHERE length(body) BETWEEN 600 AND 3000 ORDER BY name = 'gnupg' DESC, md5(name) LIMIT 300) x
	JOIN docs y ON y.body ~& x.body AND y.name <> x.name AND NOT y.body ~= x.body
		AND left(y.name, 4) <> left(x.name, 4)
GROUP BY x.name, x.body HAVING count(*) <= 5
ORDER BY max(simhash_containment(y.body, x.body)) DESC, x.name LIMIT 1 \gset
\echo Find texts that share 13 words in a row, though the whole is different:
\echo '    CREATE INDEX ON docs USING gin (body simhash_passage_ops);'
\echo '    SELECT name, passage FROM docs, simhash_passages(body, $1) WHERE body ~& $1;'
\echo The index took :built s.  With the text of :name as the query:
\echo
SELECT DISTINCT ON (docs.name) format(E'  %s shares %s words:\n%s', docs.name, words,
	(SELECT string_agg('    ' || m[1], E'\n' ORDER BY n)
	FROM regexp_matches(regexp_replace(passage, '\s+', ' ', 'g'), '\S.{0,83}(?=\s|$)', 'g')
		WITH ORDINALITY AS r (m, n) WHERE n <= 3))
FROM docs, simhash_passages(docs.body, :'body')
WHERE docs.body ~& :'body' AND docs.name <> :'name' AND NOT docs.body ~= :'body'
ORDER BY docs.name, words DESC LIMIT 2;
\echo
