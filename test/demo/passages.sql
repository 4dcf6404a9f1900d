--
-- Parts of texts
--
\pset tuples_only on
\pset format unaligned

SELECT clock_timestamp() AS start \gset
CREATE INDEX docs_passages ON docs USING gin (body simhash_passage_ops);
SELECT round(extract(epoch FROM clock_timestamp() - :'start'), 2) AS built \gset

-- a text of which few others have a part, one of them of another name and not like it
CREATE TABLE quoted AS
SELECT x.name, x.body
FROM (SELECT * FROM docs WHERE length(body) BETWEEN 600 AND 3000 ORDER BY md5(name) LIMIT 300) x,
	LATERAL (SELECT name, body FROM docs WHERE docs.body ~& x.body LIMIT 6) y
GROUP BY x.name, x.body
HAVING count(*) <= 5 AND bool_or(NOT y.body =~= x.body AND left(y.name, 4) <> left(x.name, 4))
ORDER BY max(CASE WHEN NOT y.body =~= x.body THEN simhash_containment(y.body, x.body) END) DESC, x.name LIMIT 1;
SELECT count(*) > 0 AS any FROM quoted \gset
\if :any
SELECT name, body FROM quoted \gset
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
WHERE docs.body ~& :'body' AND docs.name <> :'name' AND NOT docs.body =~= :'body'
ORDER BY docs.name, words DESC LIMIT 2;
\echo
\endif
