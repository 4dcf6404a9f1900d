-- on the coordinator
-- The pairs of all shards, and the rows that have these fingerprints
CREATE TABLE pairs AS SELECT a, b, distance FROM near_values;
CREATE TABLE near_rows AS
SELECT id, body, fp FROM docs WHERE fp = ANY (ARRAY(SELECT a FROM pairs UNION SELECT b FROM pairs));
ANALYZE pairs, near_rows;

-- on the coordinator
-- Pairs of rows
SELECT x.id, y.id, p.distance
FROM pairs p JOIN near_rows x ON x.fp = p.a JOIN near_rows y ON y.fp = p.b
WHERE p.a <> p.b OR x.id < y.id;

-- on the coordinator
-- Clusters are the connected components of the pairs.  Each row is linked to the first row with the same fingerprint.
-- component is the smallest id of the cluster.
WITH first_row AS MATERIALIZED (SELECT fp, min(id) AS id FROM near_rows GROUP BY fp),
     edge AS (SELECT x.id AS a, y.id AS b FROM pairs p JOIN first_row x ON x.fp = p.a JOIN first_row y ON y.fp = p.b
              UNION ALL
              SELECT f.id, r.id FROM near_rows r JOIN first_row f USING (fp))
SELECT c.component, c.member, c.size
FROM (SELECT array_agg(a) AS a, array_agg(b) AS b FROM edge) e, simhash_components(e.a, e.b) c;

-- on the coordinator
-- Duplicates.  near_rows has all rows that have a near-duplicate, so keep and same can use its columns, as in
-- same => 'simhash_jaccard(a.body, b.body) >= 0.9'.
CREATE INDEX near_rows_fp ON near_rows USING simhash (fp);
CREATE TABLE duplicates AS
SELECT x.id AS duplicate, y.id AS keeper, d.distance
FROM simhash_find_duplicates('near_rows_fp', keep => 'length(body) DESC, id') d
JOIN near_rows x ON x.ctid = d.duplicate JOIN near_rows y ON y.ctid = d.keeper;

-- on the coordinator
-- Of the texts that are =~=, those whose fingerprints are within the distance of the block rows.
CREATE INDEX near_rows_body ON near_rows USING simhash (body simhash_text_ops);
SELECT x.id, y.id
FROM simhash_find_all('near_rows_body') p JOIN near_rows x ON x.ctid = p.a JOIN near_rows y ON y.ctid = p.b;
