--
-- Indexes and constraints that compare texts, in databases of other encodings, on columns
-- with collations and of domains: the same rows with the index and without it
--
-- The truth is the definition of =~= without an index.  Where an encoding has the
-- characters, the pairs are also those of the same texts in UTF-8.
--
\pset format unaligned
\pset footer off
\set VERBOSITY terse
SET client_min_messages = warning;
SELECT current_database() AS utf8_database \gset

-- What each database gets: texts of so many words out of some, in families whose members
-- differ in the first words; copies in capitals; short ones; some without a feature.
SELECT $setup$
SET client_min_messages = warning;
SET max_parallel_workers_per_gather = 0;
CREATE FUNCTION essay(words text[], family int, own int) RETURNS text LANGUAGE sql IMMUTABLE AS $$
	SELECT string_agg(words[1 + (('x' || substr(md5(CASE WHEN i <= own THEN own || ' ' || family || ' ' || i
			ELSE family || ' ' || i END), 1, 7))::bit(28)::int % cardinality(words))], ' ' ORDER BY i)
	FROM generate_series(1, 45) i $$;
CREATE FUNCTION fill(words text[], capitals text[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	CREATE TABLE doc (id int PRIMARY KEY, body text);
	INSERT INTO doc
	SELECT i, CASE WHEN i <= 240 THEN essay(words, i / 8, i % 8)
		WHEN i <= 280 THEN essay(capitals, (i - 240) * 3 / 8, (i - 240) * 3 % 8) || '!'
		WHEN i <= 290 THEN words[i % 3 + 1]
		WHEN i <= 295 THEN '?!' END
	FROM generate_series(1, 300) i;
	CREATE TABLE near AS WITH d AS MATERIALIZED (SELECT *, simhash_bands(body) AS bands FROM doc)
	SELECT a.id AS a, b.id AS b FROM d a, d b WHERE simhash_share_band(a.bands, b.bands, 7, 7) AND simhash_jaccard(a.body, b.body) >= 0.8;
END $$;
-- the pairs, as one value
CREATE FUNCTION pairs() RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	RETURN (SELECT count(*) || ' ' || md5(string_agg(a || '-' || b, ' ' ORDER BY a, b)) FROM near WHERE a < b);
END $$;
-- What a kind of scan finds in a table, for each row of doc
CREATE FUNCTION differences(form text, tab text, condition text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	query text := format('SELECT q.id AS a, d.id AS b FROM doc q JOIN %s d ON %s', tab, condition);
	plan text := '';
	line text;
	answer text;
BEGIN
	PERFORM set_config('enable_' || name, (name = form)::text, true)
	FROM unnest('{seqscan,indexscan,bitmapscan,hashjoin,mergejoin,material}'::text[]) name;
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		plan := plan || line || E'\n';
	END LOOP;
	EXECUTE format('WITH found AS MATERIALIZED (%s) SELECT format(''%%s rows, %%s missing, %%s wrong'', count(*),
		(SELECT count(*) FROM (TABLE near EXCEPT ALL TABLE found) s),
		(SELECT count(*) FROM (TABLE found EXCEPT ALL TABLE near) s))
		FROM found', query) INTO answer;
	RETURN CASE WHEN plan !~ ('Index.* (on|using) ' || tab || '_body') THEN plan ELSE answer END;
END $$;
-- The rows that a constraint lets in, beside those that it must let in.
CREATE FUNCTION constrained(of_type text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	row record;
	taken int[] := '{}';
	answer text;
BEGIN
	FOR row IN SELECT * FROM doc ORDER BY id LOOP
		CONTINUE WHEN EXISTS (SELECT FROM near WHERE a = row.id AND b = ANY (taken));
		taken := taken || row.id;
	END LOOP;
	EXECUTE format('CREATE TABLE kept (id int, body %s,
		EXCLUDE USING simhash (body simhash_text_ops WITH =~=))', of_type);
	INSERT INTO kept SELECT * FROM doc ORDER BY id ON CONFLICT DO NOTHING;
	SELECT format('%s rows, %s missing, %s wrong', count(*),
		(SELECT count(*) FROM unnest(taken) t WHERE t NOT IN (SELECT id FROM kept)),
		count(*) FILTER (WHERE id <> ALL (taken))) INTO answer FROM kept;
	PERFORM simhash_index_check('kept_body_excl', true);
	DROP TABLE kept;
	RETURN answer;
END $$;
$setup$ AS setup \gset

-- and what is asked in each
SELECT $ask$
SELECT count(*) > 500 AS pairs, count(*) FILTER (WHERE a > 240 AND b <= 240) > 50 AS with_capitals FROM near;
SELECT simhash_index_check('doc_body_idx', true);
SELECT form, differences(form, 'doc', 'd.body =~= q.body') AS column,
	differences(form, 'doc', 'd.body =~= ANY (ARRAY[''?'', NULL, q.body])') AS array
FROM unnest('{indexscan,bitmapscan}'::text[]) form;
SELECT (SELECT count(*) FROM doc q JOIN doc d ON d.body =~= q.body) = (SELECT count(*) FROM near) AS without_index;
SELECT constrained('text');
WITH found AS MATERIALIZED (SELECT x.id AS a, y.id AS b FROM simhash_find_all('doc_body_idx') f
	JOIN doc x ON x.ctid = f.a JOIN doc y ON y.ctid = f.b)
SELECT count(*) AS pairs, (SELECT count(*) FROM near WHERE a < b) - count(near.a) AS missing,
	count(*) - count(near.a) AS wrong
FROM found LEFT JOIN near ON near.a = least(found.a, found.b) AND near.b = greatest(found.a, found.b);
$ask$ AS ask \gset

SELECT 'ARRAY[''apfel'', ''öl'', ''übermut'', ''straße'', ''naïve'', ''café'',
		''señor'', ''ça'', ''fähre'', ''grün'', ''und'', ''der'']' AS latin,
	'ARRAY[''APFEL'', ''ÖL'', ''ÜBERMUT'', ''STRAßE'', ''NAÏVE'', ''CAFÉ'',
		''SEÑOR'', ''ÇA'', ''FÄHRE'', ''GRÜN'', ''UND'', ''DER'']' AS latin_capitals,
	'ARRAY[''日本語'', ''の'', ''文章'', ''を'', ''比べる'', ''東京'', ''テキスト'', ''text'', ''мир'', ''同じ'']' AS japanese,
	'ARRAY[''日本語、'', ''の'', ''文章'', ''を'', ''比べる'', ''東京'', ''テキスト'', ''TEXT'', ''МИР'', ''同じ。'']' AS japanese_capitals \gset

CREATE DATABASE regression_similar_utf8 ENCODING 'UTF8'
	LOCALE_PROVIDER libc LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0;
CREATE DATABASE regression_similar_latin1 ENCODING 'LATIN1'
	LOCALE_PROVIDER libc LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0;
CREATE DATABASE regression_similar_euc_jp ENCODING 'EUC_JP'
	LOCALE_PROVIDER libc LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0;
CREATE DATABASE regression_similar_sql_ascii ENCODING 'SQL_ASCII'
	LOCALE_PROVIDER libc LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0;

-- what must come out in the others
\connect regression_similar_utf8
CREATE EXTENSION simhash;
:setup
SELECT fill(:latin, :latin_capitals) \gset
SELECT pairs() AS latin_pairs \gset
DROP TABLE doc, near;
SELECT fill(:japanese, :japanese_capitals) \gset
SELECT pairs() AS japanese_pairs \gset

-- collations: those that find texts equal which differ play no role
CREATE COLLATION ignore_case (provider = icu, locale = 'und-u-ks-level1', deterministic = false);
CREATE DOMAIN essay_type AS text COLLATE ignore_case CHECK (value <> 'a');
CREATE DOMAIN shorter AS essay_type CHECK (length(value) < 10000);
CREATE DOMAIN name_of_it AS varchar(2000);
SELECT 'é' COLLATE ignore_case = 'E' AS equal, 'é' COLLATE ignore_case =~= 'E' AS alike,
	'é' COLLATE ignore_case =~= 'É' AS alike_in_case;
CREATE FUNCTION of_type(t text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer text;
BEGIN
	EXECUTE format('CREATE TABLE typed (id int, body %s)', t);
	INSERT INTO typed SELECT * FROM doc;
	CREATE INDEX typed_body ON typed USING simhash (body simhash_text_ops);
	ANALYZE typed;
	PERFORM simhash_index_check('typed_body', true);
	answer := concat_ws('; ', differences('indexscan', 'typed', 'd.body =~= q.body::' || t),
		differences('bitmapscan', 'typed', 'd.body =~= ANY (ARRAY[q.body::' || t || ', NULL])'), constrained(t));
	DROP TABLE typed;
	RETURN answer;
END $$;
SELECT t AS type, of_type(t)
FROM unnest('{text,text COLLATE ignore_case,varchar,varchar(3000) COLLATE ignore_case,essay_type,shorter,name_of_it}'
	::text[]) WITH ORDINALITY u (t, n) ORDER BY n;

\connect regression_similar_latin1
SET client_encoding = 'UTF8';
CREATE EXTENSION simhash;
:setup
SELECT fill(:latin, :latin_capitals) \gset
CREATE INDEX ON doc USING simhash (body simhash_text_ops);
ANALYZE doc;
SELECT pairs() = :'latin_pairs' AS same_as_in_utf8;
:ask

\connect regression_similar_euc_jp
SET client_encoding = 'UTF8';
CREATE EXTENSION simhash;
:setup
SELECT fill(:japanese, :japanese_capitals) \gset
CREATE INDEX ON doc USING simhash (body simhash_text_ops);
ANALYZE doc;
SELECT pairs() = :'japanese_pairs' AS same_as_in_utf8;
:ask

-- bytes above 127 are letters of which nothing else is known, also where they are no UTF-8
\connect regression_similar_sql_ascii
CREATE EXTENSION simhash;
:setup
SELECT fill(ARRAY['a', E'\xc4\xd6', E'\xff\x80', E'\xc3\xa4', 'the', 'of', 'text', E'\xe3\x81', 'b', E'\xf0'],
	ARRAY['A', E'\xc4\xd6', E'\xff\x80', E'\xc3\xa4', 'THE', 'OF', 'TEXT', E'\xe3\x81', 'B', E'\xf0']) \gset
CREATE INDEX ON doc USING simhash (body simhash_text_ops);
ANALYZE doc;
:ask

\connect :utf8_database
DROP DATABASE regression_similar_utf8;
DROP DATABASE regression_similar_latin1;
DROP DATABASE regression_similar_euc_jp;
DROP DATABASE regression_similar_sql_ascii;
