--
-- Look up a text, with and without the index
--
\pset tuples_only on
\pset format unaligned

-- A text that is not in the table: one that is, in capitals, with a remark.
SELECT name, upper(description) || ' (Slightly edited.)' AS edited,
	simhash_minhash(upper(description) || ' (Slightly edited.)', 2, 'word') AS query
FROM docs
WHERE length(description) BETWEEN 800 AND 2000
ORDER BY name IN ('postgresql-15', 'postgresql-16', 'postgresql-17', 'postgresql-18') DESC, md5(name)
LIMIT 1 \gset
\echo Look-up of the text of :name in capitals and with two words more:
\echo '    SELECT fp <~> query AS distance, name FROM docs WHERE fp <~> query <= 3 ORDER BY 1 LIMIT 5'
SELECT format('    %s  %s', fp <~> :'query', name)
FROM docs WHERE fp <~> :'query' <= 3 ORDER BY fp <~> :'query', name LIMIT 5;
\echo
\echo How the server does it:
EXPLAIN (COSTS OFF) SELECT name, fp <~> :'query' AS distance FROM docs WHERE fp <~> :'query' <= 3;
\echo

-- the same queries both ways; the sequential scan gets fewer of them
CREATE TABLE queries AS SELECT fp FROM docs WHERE fp IS NOT NULL ORDER BY md5(name) LIMIT 2000;
ANALYZE queries;

CREATE FUNCTION pg_temp.look_up(how_many int, OUT hits bigint, OUT ms float8)
AS $$
DECLARE
	start timestamptz := clock_timestamp();
	q simhash;
	n bigint;
BEGIN
	hits := 0;
	FOR q IN SELECT fp FROM queries LIMIT how_many LOOP
		SELECT count(*) INTO n FROM docs WHERE fp <~> q <= 3;
		hits := hits + n;
	END LOOP;
	ms := extract(epoch FROM clock_timestamp() - start) * 1000 / how_many;
END
$$ LANGUAGE plpgsql;

SELECT ms AS index_ms FROM pg_temp.look_up(2000) \gset
SELECT hits AS index_hits FROM pg_temp.look_up(50) \gset
SET enable_indexscan = off;
SET enable_bitmapscan = off;
SET max_parallel_workers_per_gather = 0;
DISCARD PLANS;
SELECT ms AS seq_ms, hits AS seq_hits FROM pg_temp.look_up(50) \gset
SELECT format(E'One look-up of this kind takes %s ms with the index and %s ms without it;\n'
		'50 of them found %s rows with the index and %s without.',
		round(:index_ms::numeric, 3), round(:seq_ms::numeric, 1), :index_hits, :seq_hits);
\echo
