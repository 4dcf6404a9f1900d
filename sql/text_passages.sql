--
-- ~&, its GIN index, simhash_passages and simhash_containment: what texts share in part
--
\pset format unaligned
\pset footer off
CREATE SCHEMA text_passages_test;
SET search_path = text_passages_test, public;

CREATE FUNCTION numbers(first int, last int) RETURNS text LANGUAGE sql IMMUTABLE AS
$$ SELECT string_agg('n' || i, ' ' ORDER BY i) FROM generate_series(first, last) i $$;

--
-- What it means, at the least length
--
SELECT numbers(1, 30) ~& numbers(18, 50) AS thirteen, numbers(1, 30) ~& numbers(19, 50) AS twelve,
	numbers(1, 13) ~& numbers(1, 13) AS same, numbers(1, 12) ~& numbers(1, 12) AS short,
	numbers(1, 12) ~& numbers(1, 13) AS shorter, 'a' ~& 'a' AS word, '' ~& '' AS empty, '...' ~& '!' AS dropped,
	repeat('a ', 13) ~& repeat('a ', 100) AS repeated, repeat('a ', 12) ~& repeat('a ', 100) AS repeated_short;
SELECT NULL ~& 'a' IS NULL AS "null", simhash_shares_passage('a', NULL) IS NULL AS other,
	simhash_shares_passage(b => numbers(1, 13), a => numbers(0, 20)) AS named,
	upper(numbers(1, 13)) ~& replace(numbers(1, 13), ' ', E'...\n') AS folded,
	('naïve café ' || numbers(1, 11)) ~& (U&'nai\0308ve cafe\0301 ' || numbers(1, 11)) AS equivalent,
	'天地玄黃，宇宙洪荒。日月盈昃辰' ~& '「天地玄黃宇宙洪荒日月盈昃辰」' AS ideographs,
	'天地玄黃，宇宙洪荒。日月盈昃' ~& '天地玄黃宇宙洪荒日月盈昃' AS twelve_ideographs,
	numbers(1, 13) ~& (numbers(1, 6) || ' x ' || numbers(7, 13)) AS divided;

--
-- Against sets of runs: texts of pieces of others, of few and of many words, in several scripts
--
CREATE FUNCTION pieces(n int, seed float8, words text[]) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	texts text[] := '{}';
	piece text[];
BEGIN
	PERFORM setseed(seed);
	FOR i IN 1 .. n LOOP
		piece := ARRAY(SELECT words[1 + floor(random() * cardinality(words))::int]
			FROM generate_series(1, floor(random() * 40 + i % 2 * 200)::int));
		-- a part of each of two earlier ones
		FOR j IN 1 .. CASE WHEN i > 2 THEN 2 ELSE 0 END LOOP
			DECLARE
				other text[] := string_to_array(texts[1 + floor(random() * (i - 1))::int], ' ');
				start int := floor(random() * (cardinality(other) + 1))::int;
				cut int := floor(random() * (cardinality(piece) + 1))::int;
			BEGIN
				piece := piece[:cut] || other[start : start + floor(8 + random() * 12)::int] || piece[cut + 1 :];
			END;
		END LOOP;
		texts := texts || array_to_string(piece, ' ');
		RETURN NEXT texts[i];
	END LOOP;
END $$;
CREATE TABLE doc (id serial PRIMARY KEY, script text, body text);
INSERT INTO doc (script, body) SELECT 'latin', pieces(150, .1, ARRAY(SELECT 'w' || i FROM generate_series(1, 500) i));
INSERT INTO doc (script, body) SELECT 'few', pieces(60, .2, ARRAY['a', 'b', 'c', 'd']);
INSERT INTO doc (script, body) SELECT 'han', pieces(80, .3, ARRAY(SELECT chr(20000 + i) || chr(20100 + i) FROM generate_series(1, 99) i));
INSERT INTO doc (script, body) SELECT 'mixed', pieces(80, .4, ARRAY['Straße', 'ΑΣ', 'ναΐ', U&'e\0301te\0301', '...', 'мир', '日本',
	'が', U&'か\3099', U&'soft\00ADhyphen', '東京都', 'ก็', '한국', U&'\1112\1161\11AB', 'x_y', '½', '١٢', '😀', 'a', 'B']);
INSERT INTO doc (script, body) VALUES ('none', NULL), ('none', ''), ('none', '?!'), ('few', 'a'), ('few', numbers(1, 12));

CREATE TABLE runs AS SELECT id, run FROM doc, unnest(simhash_shingles(body, 13, 'word')) AS run
	WHERE cardinality(simhash_shingles(body, 1, 'word')) >= 13;
CREATE INDEX ON runs (run COLLATE "C");
CREATE TABLE wanted AS SELECT DISTINCT a.id AS a, b.id AS b FROM runs a JOIN runs b ON a.run COLLATE "C" = b.run COLLATE "C";
SELECT * FROM rows_of($$SELECT script, count(*) > 100 AS pairs, count(*) < (count(DISTINCT a) ^ 2) * 0.9 AS not_all
FROM wanted JOIN doc ON id = a WHERE a <> b GROUP BY script ORDER BY script COLLATE "C"$$,
	$$SELECT rows > 1000 AS rows, missing, wrong FROM compare_rows(
	'SELECT x.id, y.id FROM doc x JOIN doc y ON x.body ~& y.body', 'TABLE wanted')$$);
SELECT rows > 100 AS rows, missing, wrong FROM compare_rows(
	'SELECT x.id, y.id FROM doc x JOIN doc y ON simhash_jaccard(x.body, y.body, 13) > 0
		WHERE cardinality(simhash_shingles(x.body, 1, ''word'')) >= 13 AND x.id % 7 = 1', 'SELECT a, b FROM wanted WHERE a % 7 = 1');

--
-- An index gives the same rows: built, filled row by row with and without pending lists, vacuumed
--
CREATE FUNCTION by_index() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	query text := 'SELECT x.id, y.id FROM doc x JOIN doc y ON y.body ~& x.body';
BEGIN
	PERFORM use_only('bitmapscan', '{hashjoin,mergejoin,material,memoize}');
	IF strpos(plan_of(query), 'Bitmap Index Scan on doc_body') = 0 THEN
		RETURN plan_of(query);
	END IF;
	RETURN (SELECT format('%s rows, %s missing, %s wrong', CASE WHEN rows > 500 THEN 'many' ELSE rows::text END, missing, wrong)
		FROM compare_rows(query, 'SELECT a, b FROM wanted WHERE EXISTS (SELECT FROM doc WHERE id = a)
			AND EXISTS (SELECT FROM doc WHERE id = b)'));
END $$;
CREATE INDEX doc_body ON doc USING gin (body simhash_passage_ops);
ANALYZE doc;
SELECT by_index();
DELETE FROM doc WHERE id % 3 = 0;
SELECT by_index();
VACUUM doc;
SELECT by_index();
CREATE TABLE copy AS SELECT * FROM doc;
TRUNCATE doc;
INSERT INTO doc SELECT * FROM copy;
SELECT by_index() AS pending, gin_clean_pending_list('doc_body') > 0 AS cleaned, by_index();
TRUNCATE doc;
ALTER INDEX doc_body SET (fastupdate = off);
INSERT INTO doc SELECT * FROM copy;
SELECT by_index() AS one_by_one, gin_clean_pending_list('doc_body');
UPDATE doc SET body = body || ' ';
SELECT by_index();
REINDEX INDEX CONCURRENTLY doc_body;
SELECT by_index();

-- in either order, with other conditions, several texts, and texts that share nothing
SELECT use_only('bitmapscan', '{hashjoin,mergejoin,material,memoize}') \gset
SELECT plan('SELECT id FROM doc WHERE ' || condition) FROM unnest(ARRAY['numbers(1, 20) ~& body',
	'body ~& ANY (ARRAY[numbers(1, 20), numbers(30, 50)]) AND id > 7', 'NOT body ~& numbers(1, 20)']) condition;
INSERT INTO doc (script, body) SELECT 'numbers', numbers(i, i + 15) FROM generate_series(1, 60, 3) i;
SELECT (SELECT array_agg(id - least) AS first FROM doc, (SELECT min(id) AS least FROM doc WHERE script = 'numbers') s
	WHERE body ~& numbers(1, 20)),
	(SELECT array_agg(id - least ORDER BY id) AS "any" FROM doc, (SELECT min(id) AS least
	FROM doc WHERE script = 'numbers') s
	WHERE body ~& ANY (ARRAY[numbers(1, 20), 'x', numbers(30, 50), NULL])),
	(SELECT array_agg(id - least ORDER BY id) AS both FROM doc, (SELECT min(id) AS least
	FROM doc WHERE script = 'numbers') s
	WHERE body ~& numbers(1, 20) AND body ~& numbers(4, 18)),
	(SELECT count(*) AS none FROM doc WHERE body ~& numbers(1, 12)),
	(SELECT count(*) AS empty FROM doc WHERE body ~& ''), (SELECT count(*) AS "null" FROM doc WHERE body ~& NULL),
	(SELECT count(*) AS no_others FROM doc WHERE body ~& numbers(1, 20) AND body ~& '');
-- the whole collection as one text
SELECT count(*) = (SELECT count(DISTINCT id) FROM runs JOIN doc USING (id)) AS "all" FROM doc
WHERE body ~& (SELECT string_agg(body, ' ') FROM doc WHERE script <> 'numbers') AND script <> 'numbers';
RESET ALL; SET search_path = text_passages_test, public;

-- estimates do not depend on the text; a thousandth
SELECT estimate('SELECT FROM generate_series(1, 50000) i WHERE i::text ~& ''a''') AS rows,
	estimate('SELECT FROM generate_series(1, 50000) i WHERE i::text ~& (SELECT ''b'')') AS unknown;

-- other types and collations, expressions, partitions, partial indexes
CREATE COLLATION ignore_case (provider = icu, locale = 'und-u-ks-level1', deterministic = false);
CREATE DOMAIN essay AS text COLLATE ignore_case CHECK (value <> 'a');
CREATE FUNCTION of_type(t text, OUT answer int, OUT by_index boolean) LANGUAGE plpgsql AS $$
DECLARE
	query text := format('SELECT count(*) FROM typed WHERE body ~& numbers(1, 20)::%s', t);
BEGIN
	EXECUTE format('CREATE TABLE typed (id int, body %s)', t);
	INSERT INTO typed SELECT i, numbers(i, i + 15) FROM generate_series(1, 60, 3) i;
	CREATE INDEX ON typed USING gin (body simhash_passage_ops);
	PERFORM use_only('bitmapscan');
	EXECUTE query INTO answer;
	by_index := strpos(plan_of(query), 'Bitmap Index Scan') > 0;
	DROP TABLE typed;
END $$;
SELECT t AS type, answer, by_index
FROM unnest('{text,text COLLATE ignore_case,varchar,varchar(3000) COLLATE ignore_case,essay}'::text[]) WITH ORDINALITY u (t, n),
	of_type(t) ORDER BY n;
RESET ALL; SET search_path = text_passages_test, public;
CREATE TABLE parted (id int, raw bytea) PARTITION BY RANGE (id);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (1) TO (31);
CREATE TABLE parted_2 PARTITION OF parted FOR VALUES FROM (31) TO (100);
CREATE FUNCTION body_of(raw bytea) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT convert_from(raw, 'UTF8') $$;
CREATE INDEX ON parted USING gin (body_of(raw) simhash_passage_ops) WHERE id <> 16;
INSERT INTO parted SELECT i, numbers(i, i + 15)::bytea FROM generate_series(1, 60, 3) i;
SET enable_seqscan = off;
SELECT plan('SELECT id FROM parted WHERE body_of(raw) ~& numbers(20, 40) AND id <> 16');
SELECT array_agg(id ORDER BY id) FROM parted WHERE body_of(raw) ~& numbers(20, 40) AND id <> 16;
RESET enable_seqscan;

--
-- Passages
--
SELECT * FROM simhash_passages('The quick, brown Fox -- jumps over the lazy dog! Again.',
	'a brown fox jumps over the cat; the lazy dog again', 2);
SELECT * FROM simhash_passages(numbers(1, 40), 'x ' || numbers(5, 17) || ' y ' || numbers(20, 31) || ' ' || numbers(28, 40));
SELECT a_word, b_word, words FROM simhash_passages('天地玄黃，宇宙洪荒。日月盈昃', '地玄黃宇宙洪荒', 2);
SELECT count(*) FROM simhash_passages('a', NULL)
UNION ALL SELECT count(*) FROM simhash_passages('a', 'a');
SELECT * FROM (SELECT * FROM simhash_passages('(a)', 'b "A"', 1)) a,
	(SELECT count(*) FROM simhash_passages('', '', 1)) b;
-- characters that decompose into a sign and a mark, and pairs that compose into a sign: words are
-- counted as the normalization leaves them, wherever it finds them in the text
SELECT * FROM (SELECT * FROM simhash_passages(normalize('for all x ≠ 0 the inverse exists and is unique', NFD),
	'so the inverse exists and is unique', 3)) a,
	(SELECT count(*) AS texts, count(*) FILTER (WHERE passage IS DISTINCT
	FROM 'b' OR a_word <> cardinality(all_words) - 1) AS wrong
	FROM (SELECT 'a ' || chr(i) || mark || ' b, a.' AS body
	FROM generate_series(161, 11000) i, unnest(ARRAY['', U&'\0338', U&'\0301', U&'\0345\0323', U&'\3099']) mark
	WHERE i < 1400 OR i > 7600) t
	LEFT JOIN LATERAL simhash_passages(body, 'b', 1) ON true, simhash_shingles(body, 1, 'word') all_words) b;
-- as many rows as words at most, however often a text repeats itself
SELECT count(*), sum(words), max(words) FROM simhash_passages(repeat('w ', 1000), repeat('w ', 300));
SELECT * FROM (SELECT count(*), sum(words), max(words) FROM simhash_passages(repeat('w ', 300), repeat('w ', 1000))) a,
	(SELECT count(*), sum(words), max(words)
	FROM simhash_passages(repeat(numbers(1, 20) || ' x ', 50), repeat(numbers(1, 20) || ' y ', 50))) b;
SELECT attempt(format('SELECT FROM simhash_passages(''a'', ''a'', %s)', n)) FROM unnest('{0,65,1,64}'::int[]) n;

-- For all pairs of texts: each is in both; no longer at its place; none within another; and
-- what is in none is shared by no run.
CREATE FUNCTION wrong_passages(a text, b text, min_words int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	x text[] := coalesce(simhash_shingles(a, 1, 'word'), '{}');
	y text[] := coalesce(simhash_shingles(b, 1, 'word'), '{}');
	covered boolean[] := array_fill(false, ARRAY[cardinality(x) + 1]);
	shared text[] := CASE WHEN cardinality(y) >= min_words THEN simhash_shingles(b, min_words, 'word') ELSE '{}' END;
	last_start int := 0;
	last_end int := 0;
	p record;
BEGIN
	FOR p IN SELECT *, a_word + words - 1 AS a_end, b_word + words - 1 AS b_end FROM simhash_passages(a, b, min_words) LOOP
		IF p.words < min_words OR x[p.a_word : p.a_end] <> y[p.b_word : p.b_end]
			OR simhash_shingles(p.passage, 1, 'word') <> x[p.a_word : p.a_end] THEN
			RETURN 'another: ' || p;
		ELSIF x[p.a_word - 1] = y[p.b_word - 1] OR x[p.a_end + 1] = y[p.b_end + 1] THEN
			RETURN 'not maximal: ' || p;
		ELSIF p.a_word <= last_start OR p.a_end <= last_end THEN
			RETURN 'within another: ' || p;
		ELSIF strpos(a, p.passage) = 0 THEN
			RETURN 'not as it stands: ' || p;
		END IF;
		last_start := p.a_word;
		last_end := p.a_end;
		FOR i IN p.a_word .. p.a_end LOOP
			covered[i] := true;
		END LOOP;
	END LOOP;
	FOR i IN 1 .. cardinality(x) - min_words + 1 LOOP
		IF false = ANY (covered[i : i + min_words - 1]) AND array_to_string(x[i : i + min_words - 1], ' ') = ANY (shared) THEN
			RETURN 'missing: ' || i;
		END IF;
	END LOOP;
	RETURN NULL;
END $$;
SELECT x.script, min_words, count(*) > 5 AS pairs, string_agg(wrong_passages(x.body, y.body, min_words), '; ') AS wrong
FROM copy x JOIN copy y ON x.script = y.script AND x.id % 4 = 1 AND y.id % 16 = 2, unnest('{1,3,13,20}'::int[]) min_words
GROUP BY x.script, min_words HAVING count(*) > 1 ORDER BY x.script COLLATE "C", min_words;
-- any character leaves the words where they are
SELECT count(*) > 5000 AS blocks, count(*) FILTER (WHERE passage <> 'zzz' OR passage IS NULL) AS wrong
FROM (SELECT string_agg('x' || chr(i) || 'y ' || chr(i) || ' ' || chr(i) || chr(i - i % 7 + 1), ' ' ORDER BY i) AS body
	FROM generate_series(1, 205000) i WHERE i NOT BETWEEN 55288 AND 57343 GROUP BY i / 32) s
LEFT JOIN LATERAL simhash_passages(body || ' (zzz).', 'zzz', 1) ON true;

--
-- Containment
--
SELECT simhash_containment('a b c d e f', 'x c d e f') AS half, simhash_containment('x c d e f', 'a b c d e f') AS other,
	simhash_containment('a b', 'a b') AS short, simhash_containment('a b', 'a b c') AS shorter,
	simhash_containment('a b', '?') AS nothing, simhash_containment('?', 'a') IS NULL AS "null",
	simhash_containment('abcde', 'bcdx', 2, 'char') AS characters, simhash_containment(b => 'a a b', a => 'a b b c', shingle => 1) AS named;
SELECT count(*) AS pairs, count(*) FILTER (WHERE c IS DISTINCT FROM (SELECT count(*) FILTER (WHERE f = ANY (y.features))::float8
		/ nullif(count(*), 0) FROM (SELECT DISTINCT unnest(x.features) COLLATE "C" AS f) s)) AS wrong
FROM (SELECT body, simhash_shingles(body, 3, 'word') AS features FROM copy WHERE id % 19 = 1) x,
	(SELECT body, simhash_shingles(body, 3, 'word') AS features FROM copy WHERE id % 7 = 1) y,
	simhash_containment(x.body, y.body) c;
-- beyond the memory of a hash table
SET work_mem = '64kB'; SET hash_mem_multiplier = 1;
SELECT * FROM (SELECT simhash_containment(numbers(1, 40000), numbers(10001, 90000), 1) AS containment,
	numbers(1, 40000) ~& numbers(39980, 90000) AS shared, numbers(1, 40000) ~& numbers(39990, 90000) AS nothing,
	numbers(1, 90000) ~& numbers(89985, 89999) AS quote) a,
	(SELECT a_word, b_word, words FROM simhash_passages(numbers(1, 40000), numbers(39980, 90000))) b;
RESET work_mem; RESET hash_mem_multiplier;
-- the same texts call after call, but other questions
CREATE TABLE repeated AS SELECT numbers(1, 30) AS a, numbers(i, i + 25) AS b FROM unnest('{18,18,19,19,5,5}'::int[]) i;
SELECT array_agg(a ~& b) AS shares, array_agg(b ~& a) AS commuted, array_agg(simhash_containment(b, a) > 0.43) AS contained
FROM (TABLE repeated OFFSET 0) r;

--
-- In databases of other encodings
--
SELECT current_database() AS utf8_database \gset
CREATE DATABASE regression_passages_latin1 ENCODING 'LATIN1'
	LOCALE_PROVIDER libc LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0;
CREATE DATABASE regression_passages_euc_jp ENCODING 'EUC_JP'
	LOCALE_PROVIDER libc LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0;
CREATE DATABASE regression_passages_sql_ascii ENCODING 'SQL_ASCII'
	LOCALE_PROVIDER libc LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0;
SELECT 'SET enable_seqscan = off; CREATE TABLE doc (id int, body text); CREATE INDEX ON doc USING gin (body simhash_passage_ops);'
	AS setup \gset

\connect regression_passages_latin1
SET client_encoding = 'UTF8';
CREATE EXTENSION simhash;
:setup
INSERT INTO doc VALUES (1, 'Zwölf Äpfel für 5 µm, größer als ÄTNA: à la carte «garçon» ñandú'), (2, 'zwölf äpfel');
SELECT id, p.* FROM doc, simhash_passages(body, 'x ZWÖLF ÄPFEL FÜR 5 µM -- größer ALS ätna, À LA CARTE garçon ñandú y') p
WHERE body ~& 'ZWÖLF ÄPFEL FÜR 5 µM größer ALS ätna À LA CARTE garçon ñandú';

\connect regression_passages_euc_jp
SET client_encoding = 'UTF8';
CREATE EXTENSION simhash;
:setup
INSERT INTO doc VALUES (1, '「日本語の文章を、比べる」東京都千代田区永田町'), (2, '日本語');
SELECT id, p.* FROM doc, simhash_passages(body, '東京都千代田区永田町', 2) p WHERE body ~& '(章を比べる 東京都千代田区永田町)';

\connect regression_passages_sql_ascii
CREATE EXTENSION simhash;
:setup
INSERT INTO doc VALUES (1, E'\xff\x80 a, B \xc4 d e f \xe3\x81 h i j k L m.');
SELECT id, a_word, b_word, words, convert_to(passage, 'SQL_ASCII') FROM doc,
	simhash_passages(body, E'\xff\x80 A b \xc4 d e f \xe3\x81 h i j k l m') p WHERE body ~& E'\xff\x80 A b \xc4 d e f \xe3\x81 h i j k l m';

\connect :utf8_database
SET client_min_messages = warning;
DROP DATABASE regression_passages_latin1;
DROP DATABASE regression_passages_euc_jp;
DROP DATABASE regression_passages_sql_ascii;
DROP SCHEMA text_passages_test CASCADE;
