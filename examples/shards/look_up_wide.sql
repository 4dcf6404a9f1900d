-- on the coordinator
-- Wide fingerprints, in a table images that is made like docs.  They have no block rows, so there is no guard, and all
-- pairs are found in one array.
PREPARE look_up_image (simhash_bits) AS SELECT id, fp <~> $1 AS distance FROM images WHERE fp <~> $1 <= 31;
SELECT a, b, distance FROM simhash_find_all_in_bits((SELECT array_agg(fp) FROM images), 31);
