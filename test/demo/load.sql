--
-- Load the texts, compute their fingerprints, build the index
--
\pset tuples_only on
\pset format unaligned

CREATE EXTENSION simhash;
CREATE TABLE docs (id int GENERATED ALWAYS AS IDENTITY, name text, description text);

SELECT clock_timestamp() AS start \gset
\copy docs (name, description) from 'texts'
SELECT format('Loaded %s texts, %s, in %s s.', to_char(count(*), 'FM999,999,999'),
		pg_size_pretty(sum(octet_length(description))),
		round(extract(epoch FROM clock_timestamp() - :'start'), 2))
FROM docs;

SELECT clock_timestamp() AS start \gset
ALTER TABLE docs ADD COLUMN fp simhash GENERATED ALWAYS AS (simhash_minhash(description, 2, 'word')) STORED;
SELECT format(E'Computed their fingerprints in %s s, as a generated column, with simhash_minhash: of short\n'
		'texts it finds more than simhash_compute (doc/choosing.md).',
		round(extract(epoch FROM clock_timestamp() - :'start'), 2));

SELECT clock_timestamp() AS start \gset
CREATE INDEX docs_fp ON docs USING simhash (fp);
SELECT format('Built the index in %s s; it takes %s.',
		round(extract(epoch FROM clock_timestamp() - :'start'), 2),
		pg_size_pretty(pg_relation_size('docs_fp')));

SELECT simhash_index_check('docs_fp', heapallindexed => true) AS checked \gset
SELECT E'Verified it with simhash_index_check: every row is in it.\n';

VACUUM ANALYZE docs;
