--
-- Look up a text, mark how what is found differs, and refuse it
--
\pset tuples_only on
\pset format unaligned

-- A text that is not in the table: one that is, with a word changed; if it is there, one that
-- another package has copied.
SELECT name, regexp_replace(body, '\m(is|are|has|for|of)\M', 'WAS') AS edited
FROM docs
WHERE length(body) BETWEEN 500 AND 2000
ORDER BY name = 'fricas' DESC, md5(name)
LIMIT 1 \gset
\echo Look up the text of :name, with a word changed.  Brackets mark what differs:
\echo '    SELECT name FROM docs WHERE body =~= $1 ORDER BY simhash_jaccard(body, $1) DESC LIMIT 4;'
\echo
SELECT format(E'  %s, which shares %s %%\n%s', name, round(100 * simhash_jaccard(body, :'edited')), marked(body, :'edited'))
FROM docs WHERE body =~= :'edited' ORDER BY simhash_jaccard(body, :'edited') DESC, name LIMIT 4;
\echo

-- the same query both ways
CREATE FUNCTION pg_temp.ms(query text, times int) RETURNS float8
AS $$
DECLARE
	start timestamptz := clock_timestamp();
BEGIN
	FOR i IN 1 .. times LOOP
		PERFORM count(*) FROM docs WHERE body =~= query;
	END LOOP;
	RETURN extract(epoch FROM clock_timestamp() - start) * 1000 / times;
END
$$ LANGUAGE plpgsql;

SELECT pg_temp.ms(:'edited', 100) AS index_ms \gset
SET enable_indexscan = off;
SET enable_bitmapscan = off;
SET max_parallel_workers_per_gather = 0;
DISCARD PLANS;
SELECT pg_temp.ms(:'edited', 1) AS seq_ms \gset
SELECT format(E'This takes %s ms with the index, and %s ms without it.\n',
		round(:index_ms::numeric, 2), round(:seq_ms::numeric));
RESET ALL;

\echo Keep such texts out:
\echo '    ALTER TABLE kept ADD CONSTRAINT no_copies EXCLUDE USING simhash (body simhash_text_ops WITH =~=);'
\echo '    INSERT INTO kept VALUES ($1);'
CREATE TABLE kept AS SELECT body FROM docs WHERE name = :'name';
ALTER TABLE kept ADD CONSTRAINT no_copies EXCLUDE USING simhash (body simhash_text_ops WITH =~=);
CREATE FUNCTION pg_temp.insert_error(body text) RETURNS text
AS $$
BEGIN
	INSERT INTO kept VALUES (body);
	RETURN 'It was inserted.';
EXCEPTION WHEN exclusion_violation THEN
	RETURN 'ERROR:  ' || SQLERRM;
END
$$ LANGUAGE plpgsql;
SELECT pg_temp.insert_error(:'edited');
\echo
