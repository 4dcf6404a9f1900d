-- on the coordinator
-- Then go on with pairs.sql.
CREATE VIEW near_values AS
SELECT p.a, p.b, p.distance
FROM (SELECT block, array_agg(fp) AS fps FROM block_rows GROUP BY block HAVING count(*) > 1) g,
     simhash_find_all_in(g.fps, 3, 4, (g.block % 4)::int) p
UNION ALL
SELECT fp, fp, 0 FROM block_rows WHERE block % 4 = 0 GROUP BY block, fp HAVING count(*) > 1;
