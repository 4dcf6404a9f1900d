-- What test/bench/compared has measured, as a file, figures.csv: of each question the fastest
-- round and the least CPU time, the rows counted, or the bytes of an index, and how many rows
-- are right.  Shares of pairs of texts have no time.
\copy (SELECT j.measured, j.way, round(min(k.seconds)::numeric, 9), round(min(k.cpu)::numeric, 9), count(*), min(k.counted), j.expected FROM jobs j JOIN took k USING (measured, way) WHERE j.measured !~ '^cleaning' GROUP BY j.place, j.measured, j.way, j.expected ORDER BY j.place) to 'figures.csv' csv
\copy (SELECT 'texts: right pairs', way, NULL, NULL, NULL, right_ones, all_right FROM text_shares UNION ALL SELECT 'texts: other pairs', way, NULL, NULL, NULL, found - right_ones, NULL FROM text_shares UNION ALL SELECT 'edits ' || range || ': ' || kind, way, NULL, NULL, NULL, found, pairs FROM edit_shares UNION ALL SELECT 'noise: ' || wrong, way, NULL, NULL, NULL, found, pairs FROM noise_shares) to 'shares.csv' csv
