# 150,000 fingerprints, and 50,000 with 10 distinct values: the index finds what brute
# force finds, at every radius.  sql/index_exact.sql has more schemes and fewer rows.

use lib 'test/t';
use SimhashTest;

my $node = start_node('exact', [], 'shared_buffers = 256MB',
	'maintenance_work_mem = 256MB', 'work_mem = 64MB', 'max_wal_size = 2GB');
$node->safe_psql('postgres', q{
	CREATE UNLOGGED TABLE mixed (id integer, fp simhash);
	INSERT INTO mixed
	SELECT row_number() OVER (), h FROM make_fingerprints(140000, 0.3) h;
	-- equal in all but one block of 4 and 5; all zeros, all ones, null
	INSERT INTO mixed
	SELECT 140000 + i,
		CASE WHEN i <= 2000 THEN (81985529216486895 & ~65535::bigint) | (i * 31)
			 WHEN i <= 4000 THEN (81985529216486895 & ((1::bigint << 48) - 1)) | ((i * 31)::bigint << 48)
			 WHEN i <= 6000 THEN (81985529216486895 & ~(4095::bigint << 12)) | ((i % 4096)::bigint << 12)
			 WHEN i <= 7500 THEN 0
			 WHEN i <= 9000 THEN -1 END
	FROM generate_series(1, 10000) i;
	CREATE UNLOGGED TABLE few (id integer, fp simhash);
	SELECT setseed(0.4);
	INSERT INTO few
	SELECT i, v.fp
	FROM generate_series(1, 50000) i
	JOIN (SELECT j, flip_bits((ARRAY[0, 1234567890123456789, -9876543210])[1 + j % 3], j) AS fp
		  FROM generate_series(0, 9) j) v ON v.j = i % 10;
	INSERT INTO radii VALUES (-1), (0), (1), (2), (3), (4), (5), (6), (7), (8), (12), (20), (32), (64);
	-- the first two also look at the large balls; then stored fingerprints with
	-- up to 4 bits inverted, the special ones and random ones
	INSERT INTO query SELECT 1, flip_bits(fp::bigint, 2) FROM mixed WHERE id = 4711;
	INSERT INTO query VALUES (2, 1234567890123456789), (3, 0), (4, -1), (5, 81985529216486895),
		(6, flip_bits(81985529216486895, 2)), (7, random_bits()), (8, flip_bits(0, 3)), (9, NULL);
	INSERT INTO query SELECT 9 + i, flip_bits((SELECT fp::bigint FROM mixed WHERE id = i * 17001), i % 5)
	FROM generate_series(1, 8) i;
	INSERT INTO query SELECT 17 + i, random_bits() FROM generate_series(1, 3) i;
	VACUUM ANALYZE mixed;
	VACUUM ANALYZE few;
});

my @schemes = (
	[ 2, 1 ], [ 4, 3 ], [ 5, 3 ], [ 6, 3 ], [ 8, 3 ], [ 4, 0 ], [ 16, 2 ]);
foreach my $table ('few', 'mixed')
{
	$node->safe_psql('postgres', "CALL expect_lookups('$table')");
	my $found = $node->safe_psql('postgres',
		'SELECT bool_and(n > 0) FROM (SELECT r, sum(n) AS n FROM probe WHERE r >= 0 GROUP BY r) s');
	is($found, 't', "$table: there is something to find at every radius");
	foreach my $scheme ($table eq 'few' ? @schemes : @schemes[ 1, 2, 6 ])
	{
		my ($m, $k) = @$scheme;
		$node->safe_psql('postgres',
			"CREATE INDEX i ON $table USING simhash (fp) WITH (blocks = $m, distance = $k)");
		is($node->safe_psql('postgres', "SELECT compare_lookups('$table', 'i')"),
			'ok', "$table ($m,$k) finds the same rows as brute force");
		# a check looks up each row in each permuted table, and the other schemes have 10 to 120
		is_sound($node, "$table ($m,$k)", 'i') if $m * $k <= 12;
		$node->safe_psql('postgres', 'DROP INDEX i');
	}
}

# changes on the large table
$node->safe_psql('postgres', 'CREATE INDEX mixed_fp ON mixed USING simhash (fp)');
foreach my $step (
	'UPDATE mixed SET fp = flip_bits(fp::bigint, id % 3) WHERE id % 20 = 0',
	'DELETE FROM mixed WHERE id % 10 = 1',
	'VACUUM mixed',
	'INSERT INTO mixed SELECT 2000000 + row_number() OVER (), h FROM make_fingerprints(50000, 0.6) h')
{
	$node->safe_psql('postgres', $step);
	(my $what = $step) =~ s/(\w+).*/$1/s;
	is_exact($node, "after $what", 'mixed', 'mixed_fp');
}
is_sound($node, 'after all changes', 'mixed_fp');
$node->stop;
done_testing();
