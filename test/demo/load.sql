--
-- Load the texts and build the index
--
\pset tuples_only on
\pset format unaligned

CREATE EXTENSION simhash;
CREATE TABLE docs (id int GENERATED ALWAYS AS IDENTITY, name text, body text);

SELECT clock_timestamp() AS start \gset
\copy docs (name, body) from 'texts'
SELECT format('Loaded %s texts, %s, in %s s.', to_char(count(*), 'FM999,999,999'),
		pg_size_pretty(sum(octet_length(body))),
		round(extract(epoch FROM clock_timestamp() - :'start'), 2))
FROM docs;

SELECT clock_timestamp() AS start \gset
CREATE INDEX docs_body ON docs USING simhash (body simhash_text_ops);
SELECT format(E'    CREATE INDEX docs_body ON docs USING simhash (body simhash_text_ops);\nIn %s s, and %s.\n',
		round(extract(epoch FROM clock_timestamp() - :'start'), 2),
		pg_size_pretty(pg_relation_size('docs_body')));
VACUUM ANALYZE docs;

-- A text from about where it begins to differ from another one, in lines; what the other one
-- does not have is in brackets.
CREATE FUNCTION marked(body text, other text) RETURNS text AS $$
DECLARE
	shared record;
	result text := '';
	rest text := body;
	last_word int := 0;
	place int;
BEGIN
	FOR shared IN SELECT * FROM simhash_passages(body, other, 2) ORDER BY a_word LOOP
		place := strpos(rest, shared.passage);
		CONTINUE WHEN place = 0 OR shared.a_word <= last_word;
		result := result || CASE WHEN left(rest, place - 1) ~ '\w' THEN regexp_replace(left(rest, place - 1),
			'^(\W*)(.*?)(\W*)$', '\1[\2]\3') ELSE left(rest, place - 1) END || shared.passage;
		rest := substr(rest, place + length(shared.passage));
		last_word := shared.a_word + shared.words - 1;
	END LOOP;
	result := regexp_replace(result || CASE WHEN rest ~ '\w'
		THEN regexp_replace(rest, '^(\W*)(.*?)(\W*)$', '\1[\2]\3') ELSE rest END, '\s+', ' ', 'g');
	place := greatest(strpos(result, '[') - 70, 0);
	IF place > 0 THEN
		result := '... ' || regexp_replace(substr(result, place), '^\S*\s', '');
	END IF;
	RETURN (SELECT string_agg('    ' || m[1], E'\n' ORDER BY n)
		FROM regexp_matches(result, '\S.{0,83}(?=\s|$)', 'g') WITH ORDINALITY AS r (m, n) WHERE n <= 3);
END
$$ LANGUAGE plpgsql;
