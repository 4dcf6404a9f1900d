# Scans mark entries whose rows are dead, and later ones pass them over.  The
# marks hide nothing else: not from older snapshots, nor after splits, VACUUM, a
# crash, on a standby, or where nothing is logged.

use lib 'test/t';
use SimhashTest;

# with checksums a mark is logged as an image of the page
my $node = start_node(
	'dead', [ allows_streaming => 1, extra => ['--data-checksums'] ],
	"wal_consistency_checking = 'all'", 'max_prepared_transactions = 1',
	'max_wal_size = 1GB', 'wal_keep_size = 1GB');

# How many rows of the table an index-only scan looks at.  It is also a scan that
# marks.
sub visits
{
	my ($table, $where) = @_;
	my $plan = $node->safe_psql('postgres', "SET enable_seqscan = off; SET enable_bitmapscan = off;
		EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) SELECT count(*) FROM $table WHERE $where");
	$plan =~ /Heap Fetches: (\d+)/ or die $plan;
	return $1;
}

$node->safe_psql('postgres', q{
	INSERT INTO radii VALUES (0), (3), (8), (64);
	INSERT INTO query VALUES (1, 7), (2, 0), (3, -1);
	CREATE TABLE a (id bigint GENERATED ALWAYS AS IDENTITY, fp simhash);
	INSERT INTO a (fp) SELECT make_fingerprints(3000, 0.3);
	CREATE INDEX a_fp ON a USING simhash (fp);
	INSERT INTO a (fp) SELECT 7 FROM generate_series(1, 300);
	INSERT INTO a (fp) SELECT NULL FROM generate_series(1, 200);
});

# what an older transaction might still see is not marked
$node->safe_psql('postgres', q{
	BEGIN; CREATE TABLE older (); PREPARE TRANSACTION 'older';
	DELETE FROM a WHERE fp = 7 OR fp IS NULL;
});
is(visits('a', 'fp <~> 7 <= 0'), 300, "$_: an older transaction may see the rows")
  foreach 'first scan', 'second scan';
$node->safe_psql('postgres', "ROLLBACK PREPARED 'older'");

# a plain scan marks, as nothing has changed since it read the leaf
my $plain = q{SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_indexonlyscan = off;
	SELECT count(*) FROM a WHERE fp <~> 7 <= 0};
is($node->safe_psql('postgres', $plain), '0', 'a plain scan');
is(visits('a', 'fp <~> 7 <= 0'), 0, 'a plain scan has marked the entries');

# an index-only scan marks
is(visits('a', 'fp IS NULL'), 200, 'a first index-only scan visits the rows');
is(visits('a', 'fp IS NULL'), 0, 'a second one does not');

# so does a scan of one group in an index of several columns, which marks no
# entries of others
$node->safe_psql('postgres', q{
	CREATE TABLE g (tenant int, fp simhash);
	INSERT INTO g SELECT i % 2, fp FROM make_fingerprints(1000, 0.3) WITH ORDINALITY f (fp, i);
	INSERT INTO g SELECT i % 2, NULL FROM generate_series(1, 200) i;
	CREATE INDEX g_fp ON g USING simhash (tenant, fp);
	DELETE FROM g WHERE tenant = 1;
});

# how many pages a scan of a tenant reads
sub tenant_pages
{
	my $plan = $node->safe_psql('postgres', "SET enable_seqscan = off; SET enable_bitmapscan = off;
		EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF) SELECT FROM g WHERE tenant = $_[0]");
	$plan =~ /Index Scan using g_fp.*?Buffers: shared hit=(\d+)/s or die $plan;
	return $1;
}
cmp_ok(tenant_pages(1), '>', 100, 'a first scan of a group visits the rows');
cmp_ok(tenant_pages(1), '<', 20, 'a second one does not');
is($node->safe_psql('postgres', "SET enable_seqscan = off; SELECT count(*) FROM g WHERE tenant = 0"),
	'600', 'rows of another group are there');

# the check of an exclusion constraint marks, logged or not
foreach my $kind ('', 'UNLOGGED')
{
	my $table = "e$kind";
	$node->safe_psql('postgres', qq{
		CREATE $kind TABLE $table (id bigint GENERATED ALWAYS AS IDENTITY, fp simhash,
			CONSTRAINT ${table}_fp EXCLUDE USING simhash (fp WITH %));
		CREATE PROCEDURE cycle$kind() LANGUAGE plpgsql AS \$\$
		BEGIN
			FOR i IN 1 .. 700 LOOP
				INSERT INTO $table (fp) VALUES (7); COMMIT;
				DELETE FROM $table; COMMIT;
			END LOOP;
		END \$\$;
		CALL cycle$kind()});
	cmp_ok(visits($table, 'fp % 7'), '<=', 2, "$kind the constraint has marked all but the last");
}
$node->backup('marked');

# A split moves the last keys to a new leaf, here the marked ones, and others take their places.
# Where nothing is logged, the server does not empty the space in which the marks are.  The
# keys are first or last in each table.
$node->safe_psql('postgres', q{
	CREATE UNLOGGED TABLE s (fp simhash);
	CREATE INDEX s_fp ON s USING simhash (fp) WITH (blocks = 4, distance = 3);
	INSERT INTO s SELECT fp::bigint | x'8000800080008000'::bigint FROM make_fingerprints(200, 0.3) fp;
	DELETE FROM s});
is(visits('s', 'fp <~> 0 <= 64'), 200, 'a first scan of what is last visits the rows');
is(visits('s', 'fp <~> 0 <= 64'), 0, 'a second one does not');
$node->safe_psql('postgres', q{
	INSERT INTO s SELECT fp::bigint & x'7fff7fff7fff7fff'::bigint FROM make_fingerprints(700, 0.3) fp});
is($node->safe_psql('postgres', 'SET enable_seqscan = off; SELECT count(*) FROM s WHERE fp <~> 0 <= 64'), '700',
	'a split leaves no mark to a row that takes the place of a dead one');
is_sound($node, 'after the split', 's_fp');

# marked leaves grow, are split, are vacuumed and filled again
foreach my $round (1, 2)
{
	foreach my $table ('a', 'e', 'eUNLOGGED')
	{
		$node->safe_psql('postgres', qq{
			INSERT INTO $table (fp) SELECT make_fingerprints(2000, 0.3) ON CONFLICT DO NOTHING;
			DELETE FROM $table WHERE id % 3 = 0;
			SET enable_seqscan = off;
			SELECT count(*) FROM query q JOIN $table t ON t.fp <~> q.fp <= 64;
			INSERT INTO $table (fp) SELECT 7 FROM generate_series(1, 300) ON CONFLICT DO NOTHING;
			INSERT INTO $table (fp) VALUES (NULL)});
		is_sound($node, "round $round, before VACUUM", "${table}_fp");
		$node->safe_psql('postgres', "VACUUM $table");
		is_sound($node, "round $round, after VACUUM", "${table}_fp");
		$node->safe_psql('postgres',
			"INSERT INTO $table (fp) SELECT make_fingerprints(500, 0.1) ON CONFLICT DO NOTHING");
		is_sound($node, "round $round, filled again", "${table}_fp");
		is_exact($node, "round $round", $table, "${table}_fp");
	}
}

# a standby that began with the marks, and checked each page that it replayed
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'marked', has_streaming => 1);
$standby->start;
foreach my $table ('a', 'e')
{
	$node->safe_psql('postgres', "DELETE FROM $table WHERE id % 5 = 0");
	visits($table, 'fp <~> 7 <= 64') foreach 1, 2;
	$node->safe_psql('postgres', "INSERT INTO $table (fp) SELECT make_fingerprints(500, 0.1) ON CONFLICT DO NOTHING");
	is_exact($node, 'primary', $table, "${table}_fp");
	$node->wait_for_catchup($standby);
	is_exact($standby, 'standby', $table, "${table}_fp");
	is_sound($standby, 'standby', "${table}_fp");
}
unlike(slurp_file($standby->logfile), qr/inconsistent page found/, 'replay made the same pages');

# a crash, and another server in charge
$node->stop('immediate');
$node->start;
$standby->promote;
foreach my $server ($node, $standby)
{
	my $name = $server->name;
	foreach my $table ('a', 'e')
	{
		$server->safe_psql('postgres',
			"INSERT INTO $table (fp) SELECT make_fingerprints(500, 0.1) ON CONFLICT DO NOTHING");
		is_sound($server, "$name in the end", "${table}_fp");
		is_exact($server, "$name in the end", $table, "${table}_fp");
	}
}
$standby->stop;
$node->stop;
done_testing();
