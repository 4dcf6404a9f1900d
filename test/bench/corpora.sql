-- One corpus of test/bench/corpora, from the file rows.  Variables: texts, queries.
SET client_min_messages = warning;
DROP TABLE IF EXISTS source, doc;
CREATE UNLOGGED TABLE source (name text, body text);
\copy source from 'rows'
CREATE UNLOGGED TABLE doc AS
SELECT row_number() OVER ()::bigint AS id, body FROM (SELECT body FROM source ORDER BY md5(name) LIMIT :texts) s;
ALTER TABLE doc ADD PRIMARY KEY (id);
CREATE INDEX doc_body ON doc USING simhash (body simhash_text_ops);
CREATE INDEX doc_fp ON doc USING simhash (simhash_minhash(body));
VACUUM ANALYZE doc;
CALL expect_similar('doc');
SELECT 'texts', count(*) FROM doc;
SELECT 'pairs within 10 bits', count(*) FROM simhash_find_all('doc_fp', 10);
SELECT 'pairs by definition', count(*) FROM similar_pair;
SELECT '  ' || what, rows, missing, wrong FROM compare_similar('doc', 'doc_body', :queries);
SELECT simhash_index_check(i, true) FROM unnest('{doc_body,kept_body_excl}'::regclass[]) i \g /dev/null
