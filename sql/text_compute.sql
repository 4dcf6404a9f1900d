--
-- simhash_compute(text): what counts and what does not
--
-- People store fingerprints for years: none of these numbers may ever change.
--
\pset format unaligned
\pset footer off
SELECT what, simhash_compute(text), hex(simhash_compute(text)) AS hex
FROM (VALUES ('one letter', 'a'), ('three', 'abc'), ('four', 'abcd'), ('five', 'abcde'),
	('one digit', '0'), ('ten', '1234567890'),
	('English', 'The quick brown fox jumps over the lazy dog'),
	('German', 'Äpfel, Öl und Übermut'),
	('Greek', 'Ξεσκεπάζω τὴν ψυχοφθόρα βδελυγμία'),
	('Russian', 'Съешь же ещё этих мягких французских булок'),
	('Chinese', '天地玄黃，宇宙洪荒。'),
	('Arabic', 'نص حكيم له سر قاطع'),
	('Hindi', 'ऋषियों को सताने वाले'),
	('Thai', 'เป็นมนุษย์สุดประเสริฐ'),
	('Japanese', 'いろはにほへと ちりぬるを'),
	('Korean', '키스의 고유조건은'),
	('four bytes each', '𐀀𐀁𐐀𝟎𐐁🙂')) AS t (what, text);

-- a long text: many chunks, and counters of many digits
SELECT simhash_compute(string_agg(md5(i::text), ' ' ORDER BY i)) AS long_ascii,
	simhash_compute(string_agg('Ω' || i || '天', '、' ORDER BY i)) AS long_unicode
FROM generate_series(1, 40000) i;

--
-- What does not count
--

-- no letter, mark or number: no fingerprint
SELECT what, simhash_compute(text) IS NULL AS none
FROM (VALUES ('empty', ''), ('space', ' '), ('control', E'\t\n'), ('ASCII', '.,;:!?'), ('many', '--- *** ---'),
	('full width', '，。！？'), ('symbols', '🙂🙂€™'), ('invisible', U&'\200B\200D\FE0F\00AD'), ('null', NULL),
	('one letter', '.x')) AS t (what, text);
SELECT simhash_compute(repeat('. ', 500000)) IS NULL AS none;

-- case, punctuation, white space and invisible characters
SELECT count(*) AS texts, count(DISTINCT simhash_compute(text)) AS fingerprints
FROM (VALUES ('Hello, world'), ('hello world'), ('HELLO WORLD!'), ('helloworld'),
	(E'hel\nlo\twor\r\nld'), ('„Hello“ – (world)…'), (U&'hel\00ADlo wor\200Bld\FE0F')) AS t (text);

-- case of every script that has one, also where its folding needs more bytes
-- (U+023A) or fewer (U+212A), and where three characters are one (Greek sigma)
SELECT what, simhash_compute(a) = simhash_compute(b) AS same
FROM (VALUES ('Latin', 'ÀÉÎÕÜ', 'àéîõü'), ('Greek', 'ΟΔΥΣΣΕΥΣ', 'οδυσσευς'), ('Cyrillic', 'МОСКВА', 'москва'),
	('Armenian', 'ԵՐԵՎԱՆ', 'երեվան'), ('more bytes', U&'\023A\023E', U&'\2C65\2C66'),
	('fewer bytes', U&'\212Aelvin', 'kelvin'),
	('digraphs', 'ǄǅǆǇ', 'ǆǆǆǉ'), ('Roman numerals', 'ⅫⅣ', 'ⅻⅳ'), ('Deseret', '𐐀𐐁𐐂', '𐐨𐐩𐐪'), ('sharp s', 'ẞ', 'ß'),
	('Turkish dotted I', 'İstanbul', 'istanbul'), ('accents', 'resume', 'résumé')) AS t (what, a, b);

-- full case folding, to several characters
SELECT what, simhash_compute(a) = simhash_compute(b) AS same
FROM (VALUES ('sharp s', 'Straße', 'STRASSE'), ('ligature', 'eﬃcient ﬂow', 'EFFICIENT FLOW'), ('Armenian', 'և', 'ԵՒ'),
	('iota below', 'ᾳᾼ', 'ΑΙαι'), ('iota below, of its own', U&'\03B1\0345', 'αι'),
	('iota below, behind a mark', U&'\1F00\0345', U&'\03B1\0345\0313'),
	('dotted I', 'İ', U&'i\0307'), ('n with apostrophe', 'ŉ', U&'\02BCn')) AS t (what, a, b);

-- canonically equivalent texts have one fingerprint
SELECT what, simhash_compute(a) = simhash_compute(b) AS same,
	simhash_compute(a, 2, 'word') = simhash_compute(b, 2, 'word') AS same_words
FROM (VALUES ('composed', 'Übergröße, naïve café', U&'U\0308bergro\0308ße, nai\0308ve cafe\0301'),
	('two marks', 'Việt Nam, thể thao', U&'Vie\0323\0302t Nam, the\0302\0309 thao'),
	('order of marks', U&'o\0323\0302', U&'o\0302\0323'), ('the same composed in part', 'ộ', U&'\1ECD\0302'),
	('mark below a composed letter', U&'\00F4\0323', 'ộ'), ('single', U&'\212B\2126', 'Åω'),
	('Hangul', '한국어 글', U&'\1112\1161\11AB\1100\116E\11A8\110B\1165 \1100\1173\11AF'),
	('Hangul, the last by itself', '한', U&'\D558\11AB'), ('excluded from composition', U&'\0958\FB2A',
		U&'\0915\093C\05E9\05C1'),
	('ideograph', U&'\F900\+02F800', U&'\8C48\4E3D'), ('music', U&'\+01D15E', U&'\+01D157\+01D165'),
	('Arabic', U&'\0623\064E\0628', U&'\0627\064E\0654\0628'), ('not equal sign', U&'a\2260b', U&'a=\0338b'),
	('many marks', 'a' || repeat(U&'\0301\0323', 5000), U&'\1EA1' || repeat(U&'\0323', 4999) || repeat(U&'\0301',
		5000))) AS t (what, a, b);
SELECT count(*) AS texts, count(DISTINCT simhash_compute(text)) AS fingerprints
FROM (VALUES ('a'), ('á'), ('ạ'), (U&'a\034F\0301'), (U&'a\200D\0301'), (U&'a\0316\0301')) AS t (text);

-- all of a plane of Unicode, decomposed and composed
SELECT count(*) AS characters, count(fp) AS fingerprints, bool_and(fp IS NOT DISTINCT FROM nfd AND fp IS NOT DISTINCT
	FROM nfc) AS same
FROM (SELECT simhash_compute(c || 'x') AS fp, simhash_compute(normalize(c || 'x', NFD)) AS nfd,
	simhash_compute(normalize(c || 'x', NFC)) AS nfc
	FROM (SELECT chr(i) FROM generate_series(1, 65535) i WHERE i NOT BETWEEN 55296 AND 57343) AS t (c)) AS t;

--
-- Near and far
--
CREATE TABLE texts (name text, body text);
INSERT INTO texts VALUES
('original', 'PostgreSQL is a powerful, open source object-relational database system that has earned '
	'a strong reputation for reliability, feature robustness, and performance over many years of active development. '
	'It runs on all major operating systems and has been compliant with the rules of transactions '
	'from early on.'),
('edited', 'PostgreSQL is a powerful open-source object-relational database system, which has earned '
	'a strong reputation for reliability, feature robustness and performance over many years of active development. '
	'It runs on all major operating systems and has been compliant with the rules of transactions '
	'from early on!'),
('other', 'A near-duplicate of a page differs from it in a small part only, such as an advertisement, a counter '
	'or the date. Crawlers meet great numbers of them, and a fingerprint of which few bits differ tells '
	'them apart from pages that merely treat the same subject.');
SELECT a.name, b.name,
	hamming(simhash_compute(a.body), simhash_compute(b.body)) <= 6 AS near,
	hamming(simhash_compute(a.body), simhash_compute(b.body)) >= 20 AS far
FROM texts a JOIN texts b ON a.name < b.name ORDER BY 1, 2;
DROP TABLE texts;

-- the order of the text and the number of repetitions count
SELECT simhash_compute('one two three') <> simhash_compute('three two one') AS order_counts,
	simhash_compute('abcd efgh efgh') <> simhash_compute('abcd abcd efgh') AS repetition_counts;

--
-- Wherever the text comes from
--
CREATE TABLE stored (
	how text, body text,
	fp simhash GENERATED ALWAYS AS (simhash_compute(body)) STORED
);
ALTER TABLE stored ALTER body SET STORAGE EXTERNAL;
INSERT INTO stored SELECT 'external', string_agg(md5(i::text), ' ' ORDER BY i) FROM generate_series(1, 2000) i;
ALTER TABLE stored ALTER body SET STORAGE EXTENDED;
INSERT INTO stored SELECT 'compressed', body || '' FROM stored;
INSERT INTO stored SELECT 'short', left(body, 20) FROM stored WHERE how = 'external';
SELECT how, fp = (SELECT simhash_compute(CASE how WHEN 'short' THEN left(s, 20) ELSE s END)
	FROM (SELECT string_agg(md5(i::text), ' ' ORDER BY i) FROM generate_series(1, 2000) i) AS g (s)) AS same,
	fp = simhash_compute(body) AS same_again
FROM stored ORDER BY how;
DROP TABLE stored;

-- a window across the border of two pieces of 8192 bytes is a window as any
-- other: a text of characters of one to four bytes, moved step by step
SELECT n, count(DISTINCT simhash_compute(repeat(c, a) || body)) AS fingerprints
FROM (VALUES (8189, '.'), (2731, '，'), (2048, '🙂')) AS t (n, c),
	generate_series(n - 20, n + 3) a,
	(SELECT repeat('Ωmega天地𐐀', 3)) AS b (body)
GROUP BY n ORDER BY n;

-- marks that lie across that border belong to the letter before it
SELECT count(DISTINCT simhash_compute(repeat('. ', 4080 + n / 2) || repeat('.', n % 2) || body)) AS fingerprints,
	count(DISTINCT simhash_compute(repeat('天', 2725 + n) || body)) AS long
FROM generate_series(1, 40) n, (SELECT U&'e\0323\0302\0301o\0323\0302xyz') AS b (body) WHERE n < 40;

-- so is one across the border of two batches of 1024 features: here all four
-- windows occur equally often, so that one more or less of any would tell; bits
-- of exactly half of the features are not set
SELECT count(*) AS texts, count(DISTINCT simhash_compute(repeat('abcd', n) || 'abc')) AS fingerprints,
	bool_and(simhash_compute(repeat('abcd', n) || 'abc') = simhash_compute('abcdabc')) AS same
FROM unnest(ARRAY[1, 2, 3, 4, 5, 254, 255, 256, 257, 258, 510, 511, 512, 513, 1024, 262144]) n;
SELECT count(DISTINCT simhash_compute(repeat('abcd', n))) AS fingerprints,
	bool_and(simhash_compute(repeat('abcd', n)) = simhash_compute('abcdabc')) AS same
FROM unnest(ARRAY[2, 3, 4, 5, 254, 255, 256, 257, 258, 510, 511, 512, 513, 1024, 262144]) n;

-- a text of one character repeated has one feature
SELECT count(DISTINCT simhash_compute(repeat('天', n))) AS fingerprints
FROM unnest(ARRAY[4, 5, 1023, 1024, 1025, 1027, 1028, 2730, 2731, 100000]) n;

--
-- How the planner may use it
--
SELECT oid::regprocedure AS function, provolatile, proparallel, proisstrict, procost > 1 AS expensive
FROM pg_proc WHERE proname IN ('simhash_compute', 'simhash_shingles', 'simhash_hash')
ORDER BY oid::regprocedure::text COLLATE "C";

-- not a text
\set VERBOSITY sqlstate
SELECT simhash_compute(1);
