-- on the coordinator
-- PostgreSQL sends a LIMIT only to a shard that is queried alone.
PREPARE nearest (simhash) AS
SELECT id, distance
FROM ((SELECT id, fp <~> $1 AS distance FROM docs_1 ORDER BY fp <~> $1 LIMIT 10) UNION ALL
      (SELECT id, fp <~> $1 AS distance FROM docs_2 ORDER BY fp <~> $1 LIMIT 10) UNION ALL
      (SELECT id, fp <~> $1 AS distance FROM docs_3 ORDER BY fp <~> $1 LIMIT 10)) n
ORDER BY distance LIMIT 10;
EXECUTE nearest (1234567890123456789);
