-- What must be the same before and after a dump and restore, or an upgrade, of
-- what objects.sql made.  Run by psql -XAtq; compare the output.  Each
-- line that ends in f is wrong by itself.
SET search_path = public, ext;
SELECT 'docs', count(*), count(fp), sum(fp::numeric), sum(given::numeric), count(DISTINCT hex) FROM docs;
SELECT 'options', c.relname, reloptions FROM pg_class c WHERE relname LIKE 'docs\_%' AND relkind = 'i' AND reloptions IS NOT NULL ORDER BY 2;
SELECT 'valid', c.oid::regclass, i.indisvalid FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am a ON a.oid = relam
WHERE amname = 'simhash' ORDER BY c.relname;
SELECT 'sound', c.oid::regclass, simhash_index_check(c.oid::regclass, true) FROM pg_class c JOIN pg_am a ON a.oid = relam
WHERE amname = 'simhash' AND relkind = 'i' ORDER BY c.relname;
SELECT 'tables', c.oid::regclass, (SELECT count(*) FROM simhash_index_info(c.oid::regclass)) FROM pg_class c JOIN pg_am a ON a.oid = relam
WHERE amname = 'simhash' AND relkind = 'i' ORDER BY c.relname;
SELECT 'class', opcname, amvalidate(o.oid) FROM pg_opclass o JOIN pg_am a ON a.oid = opcmethod WHERE amname = 'simhash' ORDER BY 2;

SELECT 'member', t, EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_type'::regclass AND objid = t AND refclassid = 'pg_extension'::regclass AND deptype = 'e')
FROM unnest('{simhash,simhash_ball,simhash_bits,simhash_bits_ball}'::regtype[]) t;

SELECT 'refused', t, c, bits, is_refused(t::regclass, ((1::bigint << bits) - 1)::text) = (bits <= r) AS as_it_should
FROM (VALUES ('corpus_0', 0), ('corpus_3', 3), ('corpus_6', 6), ('tenants', 6), ('corpus_8', 8), ('corpus_10', 10)) AS tables(t, r)
JOIN LATERAL (SELECT conname FROM pg_constraint WHERE conrelid = t::regclass AND contype = 'x') AS constraints(c) ON true,
	LATERAL (VALUES (0), (r), (r + 1)) AS tried(bits) ORDER BY t, bits;

SELECT 'refused', 'corpus_wide', fp, is_refused('corpus_wide', fp, 'fp') = refused AS as_it_should
FROM (VALUES ('000000000000007f', true), ('00000000000000ff', false), ('ff00ffffffffffff', false)) t (fp, refused);
SELECT 'refused', 'library', column_name, value, is_refused('library', value, column_name) = refused AS as_it_should
FROM (VALUES ('title', md5('title7') || '!', true), ('title', md5('another title'), false), ('title', '!', false),
	('body', 'The 7; BOOK is about ' || md5('7') || ' and: ' || md5('b7'), true),
	('body', 'The 7. book is about ' || md5('8') || ' and ' || md5('b7'), false), ('body', '...', false))
	t (column_name, value, refused);

SELECT 'index', uses_index(q, i), q
FROM (VALUES ('SELECT * FROM near', 'docs_given'), ('SELECT * FROM near_hamming', 'docs_given'),
	('SELECT * FROM near_eight', 'docs_given'), ('SELECT * FROM nearest', 'docs_given'),
	('SELECT * FROM near_operator', 'parted_0_fp_idx'),
	('SELECT * FROM docs WHERE h <%> 5', 'docs_h'),
	('SELECT * FROM docs WHERE fp % simhash_compute(''a'')', 'docs_fp'),
	('SELECT * FROM docs WHERE simhash_compute(body, 1, ''word'') % 7 AND id % 2 = 0', 'docs_words'),
	('SELECT * FROM corpus_8 WHERE fp %% 5', 'corpus_8_excl'),
	('SELECT * FROM corpus_8 WHERE fp <~> 5 <= 2', 'corpus_8_excl'),
	('SELECT * FROM tenants WHERE tenant = 2 AND lang = ''de'' AND fp <%> 5', 'tenants_excl'),
	('SELECT * FROM hosts WHERE host = ''10.0.0.2'' AND fp % 5', 'hosts_fp'),
	('SELECT * FROM minhashes WHERE fp <~> simhash_minhash(''a'') <= 6', 'minhashes_fp'),
	('SELECT * FROM minhashes WHERE simhash_minhash(body, 1) % 7', 'minhashes_words'),
	('SELECT * FROM alike', 'minhashes_fp'),
	('SELECT * FROM quoting', 'minhashes_passages'),
	('SELECT * FROM wides WHERE fp % ''00''::simhash_bits', 'wides_near'),
	('SELECT * FROM corpus_wide WHERE fp <~> ''0000000000000001'' <= 3', 'corpus_wide_excl'),
	('SELECT * FROM text_pairs', 'library_all'),
	('SELECT * FROM text_any', 'library_all'),
	('SELECT * FROM text_bytes', 'library_data'),
	('SELECT * FROM text_titles', 'library_title'),
	('SELECT * FROM text_bands', 'library_titles'),
	('SELECT * FROM text_similar', 'library_all'),
	('SELECT * FROM library WHERE id % 1000 = 7 AND left(body, 60) =~= ''a b c''', 'library_several')) AS t(q, i);
SELECT 'near', count(*), sum(wanted), sum(id) FROM near;
SELECT 'near_hamming', count(*), sum(id) FROM near_hamming;
SELECT 'near_eight', count(*), sum(id) FROM near_eight;
SELECT 'near_operator', count(*), sum(id) FROM near_operator;
SELECT 'tenant', tenant, lang, count(*) FROM tenants WHERE tenant = ANY ('{2,3}') AND lang IN ('en', 'de') AND fp <~> 5 <= 3
GROUP BY tenant, lang ORDER BY tenant, lang;
SELECT 'host', h.host, count(*) FROM hosts h JOIN docs d ON d.id = 1234 AND h.host IN ('10.0.0.0', '10.0.0.2') AND h.fp <%> d.given GROUP BY h.host ORDER BY h.host;
SELECT 'host_pairs', distance, count(*) FROM host_pairs GROUP BY distance ORDER BY distance;
SELECT 'minhashes', count(*), sum(fp::numeric), sum(simhash_minhash(body, 1)::numeric), bool_and(fp = simhash_minhash(body)) FROM minhashes;
SELECT 'alike', count(*), sum(a), sum(b), round(min(jaccard)::numeric, 9), round(sum(jaccard)::numeric, 9) FROM alike;
SELECT 'quoting', count(*), sum(id) FROM quoting;
SELECT 'matches', distance, count(*) FROM matches GROUP BY distance ORDER BY distance;
SELECT 'duplicates', count(*), sum(keeper), sum(duplicate) FROM duplicates;
SELECT 'groups', count(DISTINCT component), sum(component), sum(member), max(size) FROM groups;
SELECT 'searches', count(*) FROM searches;
SELECT 'nearest', array_agg(distance ORDER BY distance) FROM nearest;
SELECT 'hexes', count(*), md5(string_agg(hex, ',' ORDER BY id)) FROM hexes;
SELECT 'pairs', count(*), sum(a), sum(b) FROM pairs;
REFRESH MATERIALIZED VIEW pairs;
SELECT 'pairs', count(*), sum(a), sum(b) FROM pairs;
SELECT 'count_near', count_near(given, 3), count_near(given, 20) FROM docs WHERE id = 1234;
SELECT 'btree', count(*) FROM docs WHERE given >= 9223372036854775808;
SELECT 'parted', tableoid::regclass, count(*) FROM parted GROUP BY tableoid ORDER BY tableoid::regclass::text;
SELECT 'others', * FROM others ORDER BY ball::text;
SELECT 'hashed', tableoid::regclass, count(*), md5(string_agg(line, ';' ORDER BY line COLLATE "C"))
FROM hashed, concat_ws(',', ball, wide, wide_ball) AS line GROUP BY tableoid ORDER BY tableoid::regclass::text;
SELECT 'wides', count(*), md5(string_agg(concat_ws(',', fp, ball, fps, minhash, bit_count(fp)), ';' ORDER BY id)), bool_and(minhash = simhash_minhash_bits(body, 128)),
	bool_and(fps[1]::simhash <@ ('(' || fps[1]::simhash || ',0)')::simhash_ball) FROM wides;
SELECT 'wide_near', count(*), sum(distance) FROM wide_near;
SELECT 'wide_literals', count(*) FROM wide_literals;
SELECT 'text_pairs', count(*), sum(a), sum(b), bool_and(b = a + 1000) FROM text_pairs;
SELECT 'text_any', count(*), sum(id) FROM text_any;
SELECT 'text_bytes', count(*), sum(a), sum(b) FROM text_bytes;
SELECT 'text_titles', count(*), sum(id) FROM text_titles;
SELECT 'text_bands', count(*), sum(id) FROM text_bands;
SELECT 'text_similar', count(*), sum(a), sum(b) FROM text_similar;
SELECT 'text_duplicates', count(*), bool_and(keeper = id + 1000) FROM text_duplicates;
SELECT 'text_matches', count(*), round(sum(similarity)::numeric, 9) FROM text_matches;
REFRESH MATERIALIZED VIEW text_matches;
SELECT 'text_matches', count(*), round(sum(similarity)::numeric, 9) FROM text_matches;
SELECT 'wide types', attname, format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'wides'::regclass AND attnum > 2 ORDER BY attnum;
