-- What must be the same before and after a dump and restore, or an upgrade, of
-- what upgrade_objects.sql made.  Run by psql -XAtq; compare the output.  Each
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
FROM unnest('{simhash,simhash[],simhash_ball,simhash_ball[]}'::regtype[]) t;

SELECT 'refused', t, c, bits, is_refused(t::regclass, ((1::bigint << bits) - 1)::text) = (bits <= r) AS as_it_should
FROM (VALUES ('corpus_0', 0), ('corpus_3', 3), ('corpus_6', 6), ('corpus_8', 8), ('corpus_10', 10)) AS tables(t, r)
JOIN LATERAL (SELECT conname FROM pg_constraint WHERE conrelid = t::regclass AND contype = 'x') AS constraints(c) ON true,
	LATERAL (VALUES (0), (r), (r + 1)) AS tried(bits) ORDER BY r, bits;

SELECT 'index', uses_index(q, i), q
FROM (VALUES ('SELECT * FROM near', 'docs_given'), ('SELECT * FROM near_hamming', 'docs_given'),
	('SELECT * FROM near_eight', 'docs_given'), ('SELECT * FROM nearest', 'docs_given'),
	('SELECT * FROM near_operator', 'parted_0_fp_idx'),
	('SELECT * FROM docs WHERE h <%> 5', 'docs_h'),
	('SELECT * FROM docs WHERE fp % simhash_compute(''a'')', 'docs_fp'),
	('SELECT * FROM docs WHERE simhash_compute(body, 1, ''word'') % 7 AND id % 2 = 0', 'docs_words'),
	('SELECT * FROM corpus_8 WHERE fp %% 5', 'corpus_8_excl'),
	('SELECT * FROM corpus_8 WHERE fp <~> 5 <= 2', 'corpus_8_excl')) AS t(q, i);
SELECT 'near', count(*), sum(wanted), sum(id) FROM near;
SELECT 'near_hamming', count(*), sum(id) FROM near_hamming;
SELECT 'near_eight', count(*), sum(id) FROM near_eight;
SELECT 'near_operator', count(*), sum(id) FROM near_operator;
SELECT 'nearest', array_agg(distance ORDER BY distance) FROM nearest;
SELECT 'hexes', count(*), md5(string_agg(hex, ',' ORDER BY id)) FROM hexes;
SELECT 'pairs', count(*), sum(a), sum(b) FROM pairs;
REFRESH MATERIALIZED VIEW pairs;
SELECT 'pairs', count(*), sum(a), sum(b) FROM pairs;
SELECT 'count_near', count_near(given, 3), count_near(given, 20) FROM docs WHERE id = 1234;
SELECT 'btree', count(*) FROM docs WHERE given >= 9223372036854775808;
SELECT 'parted', tableoid::regclass, count(*) FROM parted GROUP BY tableoid ORDER BY tableoid::regclass::text;
SELECT 'others', * FROM others ORDER BY ball;
