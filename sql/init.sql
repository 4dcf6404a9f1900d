--
-- The extension, for all tests that follow, and what several of them use
--
\pset format unaligned
\pset footer off
CREATE EXTENSION simhash;

-- compiling queries that run but once would take most of the time
SELECT current_database() AS database \gset
ALTER DATABASE :"database" SET jit = off;

-- brute force
\getenv directory PG_ABS_SRCDIR
\set file :directory '/test/brute_force.sql'
\set pages :directory '/test/pages.sql'
\set ECHO none
\i :file
\i :pages
\set ECHO all

-- 64 bits that depend on nothing but the text
CREATE FUNCTION bits(text) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
	SELECT ('x' || substr(md5($1), 1, 16))::bit(64)::bigint
$$;

-- the 16 hexadecimal digits of a fingerprint
CREATE FUNCTION hex(simhash) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT encode($1::bytea, 'hex') $$;

-- n distinct bits inverted, chosen by the text
CREATE FUNCTION flip(h bigint, n int, how text) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
	SELECT h # coalesce(bit_or(1::bigint << pos), 0)
	FROM (SELECT pos FROM generate_series(0, 63) pos
		  ORDER BY md5(how || pos) LIMIT n) chosen
$$;

-- the same for fingerprints of n bits
CREATE FUNCTION wide(what text, n int) RETURNS simhash_bits LANGUAGE sql IMMUTABLE AS $$
	SELECT substr(string_agg(decode(md5(what || '/' || i), 'hex'), '' ORDER BY i), 1, n / 8)::simhash_bits
	FROM generate_series(0, n / 128) i
$$;
CREATE FUNCTION flip_wide(fp simhash_bits, n int, how text) RETURNS simhash_bits LANGUAGE sql IMMUTABLE AS $$
	SELECT (fp::varbit # coalesce(bit_or(set_bit(fp::varbit # fp::varbit, pos - 1, 1)), fp::varbit # fp::varbit))::varbit::simhash_bits
	FROM (SELECT pos FROM generate_series(1, length(fp::varbit)) pos ORDER BY md5(how || pos) LIMIT n) chosen
$$;

-- The size of something in a test that test/schedule has for both sizes: the full one
-- only in "make check-all" and where the test is named
CREATE FUNCTION effort(small int, whole int) RETURNS int LANGUAGE sql STABLE AS $$
	SELECT CASE current_setting('test.effort', true) WHEN 'full' THEN whole ELSE small END
$$;

-- Allow one kind of scan, and switch off what else is named.
CREATE FUNCTION use_only(form text, others text[] DEFAULT '{}') RETURNS void LANGUAGE sql AS $$
	SELECT set_config('enable_' || setting,
		CASE WHEN setting = form OR setting || form = 'indexscanindexonlyscan' THEN 'on' ELSE 'off' END, false)
	FROM unnest('{seqscan,bitmapscan,indexscan,indexonlyscan}'::text[] || others) setting
$$;

-- what becomes of a statement
CREATE FUNCTION attempt(statement text, OUT state text, OUT message text, OUT detail text, OUT hint text)
LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE statement;
	state := 'accepted';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT,
		detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
END $$;

-- nothing, unless an answer such as that of compare_lookups() is another one than "ok"
CREATE PROCEDURE must_be_ok(answer text) LANGUAGE plpgsql AS $$
BEGIN
	IF answer IS DISTINCT FROM 'ok' THEN
		RAISE EXCEPTION '%', answer;
	END IF;
END $$;

-- what queries find, each in one line: its rows in their order
CREATE FUNCTION rows_of(VARIADIC queries text[], OUT no int, OUT rows text) RETURNS SETOF record LANGUAGE plpgsql AS $$
DECLARE
	query text;
BEGIN
	no := 0;
	FOREACH query IN ARRAY queries LOOP
		no := no + 1;
		EXECUTE format('SELECT string_agg("the row"::text, '' '') FROM (%s) "the row"', query) INTO rows;
		RETURN NEXT;
	END LOOP;
END $$;

-- what the planner expects of a query: 'Plan Rows' or 'Total Cost'
CREATE FUNCTION estimate(query text, what text DEFAULT 'Plan Rows') RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
	RETURN plan -> 0 -> 'Plan' ->> what;
END $$;

-- how many pages a query reads, or what plans it
CREATE FUNCTION pages_read(query text, phase text DEFAULT 'Plan') RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) ' || query INTO plan;
	RETURN (plan -> 0 -> phase ->> 'Shared Hit Blocks')::bigint
		+ (plan -> 0 -> phase ->> 'Shared Read Blocks')::bigint;
END $$;

-- texts of many kinds and lengths, and a short one
CREATE FUNCTION sample_texts(short text) RETURNS SETOF text LANGUAGE sql AS $$
	SELECT unnest(ARRAY['', '.', 'a', 'ab c', short, 'The quick brown fox jumps over the lazy dog',
		'我能吞下玻璃而不伤身体。', 'Straße und ÄRGER', U&'de\0301ja\0300 vu', 'いろはにほへと ちりぬるを',
		'ऋषियों को सताने वाले दुष्ट राक्षसों', '한국어 글, 한글 text', '🙂 smile 🙂',
		repeat('word ', 3000), repeat('x', 20000), repeat('漢字 kana かな, ', 2000)])
	UNION ALL
	(SELECT string_agg(md5(i::text || n), CASE n % 3 WHEN 0 THEN ' ' WHEN 1 THEN 'é' ELSE '' END ORDER BY i)
		FROM generate_series(1, 400) i, generate_series(1, 6) n GROUP BY n ORDER BY n)
	UNION ALL
	SELECT string_agg(chr(300 + (i * i) % 5000), '' ORDER BY i) FROM generate_series(1, 20000) i
$$;

--
-- For pairs and clusters
--

-- random ones, clusters, 30 % that repeat an earlier one, equal in all but 24
-- bits, in all but one block, in one block only, near one
-- fingerprint, nulls
CREATE FUNCTION mixed_rows(OUT id int, OUT fp simhash) RETURNS SETOF record LANGUAGE sql AS $$
	SELECT i,
		CASE WHEN i <= 200 THEN bits('r' || i)
			 WHEN i <= 500 THEN flip(bits('c' || i / 6), i % 6, 'f' || i)
			 WHEN i <= 600 THEN bits('e' || CASE WHEN i % 10 < 3 THEN i / 50 ELSE i END)
			 WHEN i <= 640 THEN bits('one')
			 WHEN i <= 1200 THEN (bits('low') & ~16777215::bigint) | (bits('l' || i) & 16777215)
			 WHEN i <= 1300 THEN (bits('high') & ((1::bigint << 48) - 1)) | (bits('h' || i) << 48)
			 WHEN i <= 1400 THEN flip(bits('b' || i / 5), i % 5, 'g' || i) & ~65535::bigint | 4711
			 WHEN i <= 1500 THEN flip(bits('few'), i % 5, 'x' || i)
			 END
	FROM generate_series(1, 1520) i
$$;

-- all zeros and all ones, few bits set or clear, random ones, clusters, equal ones, nulls
CREATE FUNCTION wide_rows(OUT id int, OUT fp simhash) RETURNS SETOF record LANGUAGE sql AS $$
	SELECT i,
		CASE WHEN i <= 2 THEN 0
			 WHEN i <= 4 THEN -1
			 WHEN i <= 24 THEN 1::bigint << (i - 5) * 3 % 64
			 WHEN i <= 44 THEN ~(1::bigint << (i - 20) * 7 % 64)
			 WHEN i <= 64 THEN (1::bigint << (i - 44) * 3) - 1
			 WHEN i <= 74 THEN bits('r' || i)
			 WHEN i <= 100 THEN flip(bits('c' || i / 6), i % 6 * 3, 'f' || i)
			 END
	FROM generate_series(1, 105) i
$$;

-- low 16 bits that are equal, so that all rows of a table are one group; the others are
-- random, with clusters
CREATE FUNCTION common_rows(OUT id int, OUT fp simhash) RETURNS SETOF record LANGUAGE sql AS $$
	SELECT i, (bits('p' || i / 3) & ~65535::bigint | 4711)
		# CASE WHEN i % 3 > 0 THEN 1::bigint << 16 + i % 48 ELSE 0 END
		# CASE WHEN i % 4 > 0 THEN 5::bigint << 16 + i / 50 % 45 ELSE 0 END
	FROM generate_series(1, 4800) i
$$;

-- the find-all examples of simhash-py
CREATE FUNCTION library_examples(OUT example text, OUT fp simhash) RETURNS SETOF record LANGUAGE sql AS $$
	SELECT 'basic', (h << shift)::simhash
	FROM unnest('{255,239,238,206,51}'::bigint[]) h, unnest('{0,8,16,24}'::int[]) shift
	UNION ALL
	SELECT 'diverse', x FROM unnest('{0x00000000,0x10101000,0x10100010,0x10001010,0x00101010,
		0x01010100,0x01010001,0x01000101,0x00010101}'::simhash[]) x
$$;

-- and their pairs within 3 bits, as that library's tests have them; a < b
CREATE FUNCTION library_pairs(OUT example text, OUT a simhash, OUT b simhash) RETURNS SETOF record
LANGUAGE sql AS $$
	SELECT 'basic', (a << shift)::simhash, (b << shift)::simhash
	FROM (VALUES (239::bigint, 255::bigint), (238, 239), (238, 255), (206, 238), (206, 239), (206, 255)) v(a, b),
		unnest('{0,8,16,24}'::int[]) shift
	UNION ALL VALUES
		('diverse', '0x00000000'::simhash, '0x10101000'::simhash), ('diverse', '0x00000000', '0x10100010'),
		('diverse', '0x00000000', '0x10001010'), ('diverse', '0x00000000', '0x00101010'),
		('diverse', '0x00000000', '0x01010100'), ('diverse', '0x00000000', '0x01010001'),
		('diverse', '0x00000000', '0x01000101'), ('diverse', '0x00000000', '0x00010101'),
		('diverse', '0x00101010', '0x10001010'), ('diverse', '0x00101010', '0x10100010'),
		('diverse', '0x00101010', '0x10101000'), ('diverse', '0x10001010', '0x10100010'),
		('diverse', '0x10001010', '0x10101000'), ('diverse', '0x10100010', '0x10101000'),
		('diverse', '0x00010101', '0x01000101'), ('diverse', '0x00010101', '0x01010001'),
		('diverse', '0x00010101', '0x01010100'), ('diverse', '0x01000101', '0x01010001'),
		('diverse', '0x01000101', '0x01010100'), ('diverse', '0x01010001', '0x01010100')
$$;

-- Compare an index of each of some schemes, and the array form with each number of
-- blocks that goes with a distance: how many comparisons, and the wrong ones.  The test's
-- own functions wrong() and wrong_values() compare.
CREATE FUNCTION compare_schemes(tab regclass, radii int[], OUT scheme text, OUT comparisons bigint, OUT wrong text)
RETURNS SETOF record LANGUAGE plpgsql AS $$
DECLARE
	s record;
BEGIN
	FOR s IN SELECT * FROM (VALUES (4, 3), (2, 1), (6, 3), (1, 0), (10, 5), (16, 1), (5, 2)) v(blocks, distance) LOOP
		scheme := format('(%s,%s)', s.blocks, s.distance);
		EXECUTE format('CREATE INDEX compared ON %s USING simhash (fp) WITH (blocks = %s, distance = %s)',
					   tab, s.blocks, s.distance);
		SELECT count(*), string_agg(w, '; ') INTO comparisons, wrong
		FROM (SELECT wrong(tab, 'compared', r) AS w FROM unnest(radii) r) c;
		RETURN NEXT;
		DROP INDEX compared;
	END LOOP;
	scheme := 'array';
	SELECT count(*), string_agg(w, '; ') INTO comparisons, wrong
	FROM (SELECT wrong_values(tab, r, blocks) AS w FROM unnest(radii) r,
		  LATERAL (SELECT NULL AS blocks UNION ALL SELECT generate_series(r + 1, least(r + 2, 16))
				   UNION ALL SELECT 16 WHERE r <= 2) b) c;
	RETURN NEXT;
END $$;

-- The number of rows of a query and a digest of them, in any order, with so many
-- parallel workers, and perhaps without help of the leader.
CREATE FUNCTION answer_of(query text, workers integer, helped boolean DEFAULT true) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	PERFORM set_config('max_parallel_workers_per_gather', workers::text, true);
	PERFORM set_config('parallel_leader_participation', helped::text, true);
	EXECUTE format('SELECT count(*) || '' '' || coalesce(sum(hashtextextended(r::text, 0)), 0) FROM (%s) r', query)
	INTO result;
	RETURN result;
END $$;

-- Queries whose answer differs with parallel workers, and the number of queries.  With
-- "every", only each second or third one, and so on, is compared.
CREATE FUNCTION compare_parallel(queries text[], every integer DEFAULT 1)
RETURNS TABLE (query text, alone text, parallel text, by_workers text) LANGUAGE plpgsql AS $$
DECLARE
	compared integer := 0;
	rows bigint := 0;
BEGIN
	FOREACH query IN ARRAY queries LOOP
		compared := compared + 1;
		CONTINUE WHEN compared % least(every, cardinality(queries)) > 0;
		alone := answer_of(query, 0);
		parallel := answer_of(query, 2);
		by_workers := answer_of(query, 2, false);
		rows := rows + split_part(alone, ' ', 1)::bigint;
		IF alone IS DISTINCT FROM parallel OR alone IS DISTINCT FROM by_workers THEN
			RETURN NEXT;
		END IF;
	END LOOP;
	query := format('%s queries', compared);
	alone := CASE WHEN rows > compared / every THEN 'with rows' END;
	parallel := alone;
	by_workers := alone;
	RETURN NEXT;
END $$;

-- All searches of one index, at some distances
CREATE FUNCTION searches_of(index text, distances integer[]) RETURNS text[] LANGUAGE sql AS $$
SELECT array_agg(format('SELECT * FROM simhash_%s(%L, %s)', f, index, d))
FROM unnest('{find_all,find_duplicates,find_clusters}'::text[]) f, unnest(distances) d
$$;
