-- on the coordinator
-- Citus sends the LIMIT to the shards.
PREPARE nearest_of_all (simhash) AS SELECT id, fp <~> $1 AS distance FROM docs ORDER BY fp <~> $1 LIMIT 10;

-- on the coordinator
-- Of small tables: all fingerprints in one array.  Write array_agg here, never ARRAY(SELECT ...).
SELECT a, b, distance FROM simhash_find_all_in((SELECT array_agg(fp) FROM docs));
SELECT cluster, fp, size FROM simhash_find_clusters_in((SELECT array_agg(fp) FROM docs));
