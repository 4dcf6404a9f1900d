-- on the coordinator
-- Then go on with pairs.sql.
CREATE FOREIGN TABLE near_values_1 (a simhash, b simhash, distance int) SERVER shard_1 OPTIONS (table_name 'near_values');
CREATE FOREIGN TABLE near_values_2 (a simhash, b simhash, distance int) SERVER shard_2 OPTIONS (table_name 'near_values');
CREATE FOREIGN TABLE near_values_3 (a simhash, b simhash, distance int) SERVER shard_3 OPTIONS (table_name 'near_values');
CREATE VIEW near_values AS TABLE near_values_1 UNION ALL TABLE near_values_2 UNION ALL TABLE near_values_3;
