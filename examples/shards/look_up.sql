-- on the coordinator
-- Near a fingerprint
SELECT id, fp <~> '1234567890123456789' AS distance FROM docs WHERE fp <~> '1234567890123456789' <= 3;
PREPARE look_up (simhash) AS SELECT id, fp <~> $1 AS distance FROM docs WHERE fp <~> $1 <= 3;
EXECUTE look_up (1234567890123456789);
EXPLAIN (VERBOSE, COSTS OFF) EXECUTE look_up (1234567890123456789);
-- Async Foreign Scan on public.docs_1
--   Remote SQL: SELECT id, fp FROM public.docs WHERE (public.simhash_within(fp, '1234567890123456789'::public.simhash, 3))

-- on the coordinator
-- Near a text: the subquery is evaluated once, before the condition is sent.
PREPARE look_up_text (text) AS SELECT id FROM docs WHERE fp <~> (SELECT simhash_minhash($1)) <= 3;
EXECUTE look_up_text ('the text at hand');

-- on the coordinator
-- Near any of many fingerprints, those in staging: the shards return the rows that are near any element of the array, and the index on
-- staging tells which element it is.  % stands for radius 3, <%> for 6, and <<%>> for 10.
WITH near AS MATERIALIZED (SELECT id, fp FROM docs WHERE fp % ANY (ARRAY(SELECT fp FROM staging)))
SELECT s.id AS new, near.id AS old, s.fp <~> near.fp AS distance FROM near JOIN staging s ON s.fp % near.fp;

-- on the coordinator
-- Texts, with the index of look_up_shard.sql
PREPARE alike (text) AS SELECT id FROM docs WHERE body =~= $1;
EXECUTE alike ('the text at hand');
CREATE INDEX staging_body ON staging USING simhash (body simhash_text_ops);
WITH alike AS MATERIALIZED (SELECT id, body FROM docs WHERE body =~= ANY (ARRAY(SELECT body FROM staging)))
SELECT s.id AS new, alike.id AS old FROM alike JOIN staging s ON s.body =~= alike.body;
