# A standby that verifies every replayed page answers like the primary.  After
# a crash, an index of an unlogged table is empty and works.

use lib 'test/t';
use SimhashTest;

my $primary = start_node('primary', [ allows_streaming => 1 ],
	"wal_consistency_checking = 'all'", 'max_wal_size = 1GB', 'wal_keep_size = 8GB');
my $standby = make_standby($primary);
$standby->start;

$primary->safe_psql('postgres', q{
	CREATE TABLE a (id bigint GENERATED ALWAYS AS IDENTITY, fp simhash);
	CREATE TABLE b (id bigint GENERATED ALWAYS AS IDENTITY, fp simhash);
	CREATE TABLE e (id bigint GENERATED ALWAYS AS IDENTITY, fp simhash);
	CREATE TABLE c (id bigint GENERATED ALWAYS AS IDENTITY, tenant integer, fp simhash);
	CREATE INDEX c_tenant_fp ON c USING simhash (tenant, fp);
	CREATE INDEX a_fp ON a USING simhash (fp) WITH (blocks = 4, distance = 3);
	CREATE INDEX e_fp ON e USING simhash (fp);
	INSERT INTO b (fp) SELECT make_fingerprints(10000, 0.2);
	CREATE INDEX b_fp ON b USING simhash (fp) WITH (blocks = 6, distance = 3, fillfactor = 100);
	INSERT INTO radii VALUES (-1), (0), (1), (3), (5), (8), (64);
	INSERT INTO query VALUES (1, 0), (2, 1234567890123456789), (3, -1);
	INSERT INTO query SELECT 3 + id, fp FROM b WHERE id <= 10;
});

my $script = PostgreSQL::Test::Utils::tempdir . '/change.sql';
append_to_file($script, q{
\set pick random(0, 2)
\set part random(0, 19)
INSERT INTO a (fp) SELECT CASE WHEN i % 40 = 0 THEN NULL WHEN i % 5 = 0
	THEN flip_bits((ARRAY[0, 1234567890123456789, -1])[:pick + 1], i % 4)
	ELSE random_bits() END FROM generate_series(1, 30) i;
INSERT INTO b (fp) SELECT random_bits() FROM generate_series(1, 10) i;
INSERT INTO c (tenant, fp) SELECT CASE WHEN i % 9 > 0 THEN 1 + i % 3 END, CASE WHEN i % 40 > 0 THEN random_bits() END
FROM generate_series(1, 20) i;
DELETE FROM a WHERE id % 20 = :part AND id > (SELECT max(id) - 2000 FROM a);
UPDATE b SET fp = random_bits() WHERE id % 20 = :part AND id > (SELECT max(id) - 500 FROM b);
UPDATE c SET tenant = 4 WHERE id % 20 = :part AND id > (SELECT max(id) - 500 FROM c);
});
foreach my $round (1 .. 3)
{
	$primary->command_ok(
		[
			'pgbench', '--no-vacuum', '--client=4', '--jobs=2',
			'--transactions=' . effort(20, 75), "--file=$script", $primary->connstr('postgres')
		],
		"round $round: changes");
	$primary->safe_psql('postgres', 'VACUUM a, b, c');
	$primary->safe_psql('postgres', 'CHECKPOINT') if $round == 2;
}
# many equal fingerprints; pages that VACUUM empties
$primary->safe_psql('postgres', q{
	INSERT INTO e (fp) SELECT i % 3 FROM generate_series(1, 4000) i;
	INSERT INTO e (fp) SELECT NULL FROM generate_series(1, 2000) i;
	DELETE FROM e WHERE fp IS NULL OR fp = 1;
});
$primary->safe_psql('postgres', 'VACUUM e');
$primary->safe_psql('postgres', 'INSERT INTO e (fp) SELECT make_fingerprints(3000, 0.3)');

foreach my $pass ('changed', 'rebuilt')
{
	if ($pass eq 'rebuilt')
	{
		$primary->safe_psql('postgres', "REINDEX INDEX a_fp");
		$primary->safe_psql('postgres', "REINDEX INDEX c_tenant_fp");
		$primary->safe_psql('postgres', "REINDEX INDEX CONCURRENTLY b_fp");
		$primary->safe_psql('postgres', 'TRUNCATE e; INSERT INTO e (fp) SELECT make_fingerprints(1000, 0.3)');
	}
	is_sound($primary, "primary, $pass", 'a_fp', 'b_fp', 'c_tenant_fp', 'e_fp');
	foreach my $table ('a', 'b', 'c', 'e')
	{
		my @asked = $table eq 'c' ? ('c', 'c_tenant_fp', tenants => 1) : ($table, "${table}_fp");
		is_exact($primary, "primary, $pass", @asked);
		$primary->wait_for_catchup($standby);
		is_exact($standby, "standby, $pass", @asked);
	}
	is_sound($standby, "standby, $pass", 'a_fp', 'b_fp', 'c_tenant_fp', 'e_fp');
}
unlike(slurp_file($standby->logfile), qr/inconsistent page found/, 'replay made the same pages');

# A build leaves out rows that are dead for the primary, and an older snapshot of a standby
# may see them.
$primary->safe_psql('postgres', q{
	CREATE TABLE d (id integer, fp simhash);
	INSERT INTO d SELECT i, 1 FROM generate_series(1, 3) i;
	CREATE FUNCTION wait_for_replay(until pg_lsn) RETURNS void LANGUAGE plpgsql AS $$
	DECLARE
		deadline timestamptz := clock_timestamp() + current_setting('test.timeout')::interval;
	BEGIN
		WHILE pg_last_wal_replay_lsn() < until AND clock_timestamp() < deadline LOOP
			PERFORM pg_sleep(0.01);
		END LOOP;
	END $$;
});
foreach my $build ('CREATE INDEX d_fp ON d USING simhash (fp)', 'REINDEX INDEX d_fp')
{
	$primary->wait_for_catchup($standby);
	local $ENV{BUILD} = join ' ', 'psql -X -q -A -t', '-d', "'" . $primary->connstr('postgres') . "'",
	  '-c', "'DELETE FROM d WHERE id = (SELECT max(id) FROM d)'", '-c', "'$build'", '-c', "'SELECT pg_current_wal_lsn()'";
	my $search = "SELECT count(*) FROM simhash_find_all('d_fp'::regclass)";
	my ($status, $out, $err) = $standby->psql('postgres', qq{
		BEGIN ISOLATION LEVEL REPEATABLE READ;
		SELECT count(*) FROM pg_class WHERE relname = 'no table';
		\\set lsn `eval "\$BUILD"`
		SELECT wait_for_replay(:'lsn');
		$search;
	});
	like($err, qr/ERROR:  index "d_fp" was built after the snapshot of this query was taken/, "an older snapshot: $build");
	is($standby->safe_psql('postgres', $search), $build =~ /^CREATE/ ? '1' : '0', "a new snapshot: $build");
}

# the standby takes over
$standby->promote;
$standby->safe_psql('postgres', 'INSERT INTO a (fp) SELECT make_fingerprints(3000, 0.4);
	DELETE FROM b WHERE id % 2 = 0');
$standby->safe_psql('postgres', 'VACUUM b');
is_sound($standby, 'promoted', 'a_fp', 'b_fp', 'c_tenant_fp', 'e_fp');
is_exact($standby, 'promoted', 'a', 'a_fp');
is_exact($standby, 'promoted', 'b', 'b_fp');
$standby->stop;

# unlogged
$primary->safe_psql('postgres', q{
	CREATE UNLOGGED TABLE u (id bigint GENERATED ALWAYS AS IDENTITY, fp simhash);
	CREATE INDEX u_fp ON u USING simhash (fp) WITH (blocks = 5, distance = 3);
	INSERT INTO u (fp) SELECT make_fingerprints(5000, 0.5);
});
is_sound($primary, 'unlogged', 'u_fp');
is_exact($primary, 'unlogged', 'u', 'u_fp');
$primary->stop('immediate');
$primary->start;
is($primary->safe_psql('postgres', 'SELECT count(*) FROM u'), '0',
	'the unlogged table is empty after a crash');
is_sound($primary, 'unlogged after a crash', 'u_fp');
is_exact($primary, 'unlogged after a crash', 'u', 'u_fp');
$primary->safe_psql('postgres', 'INSERT INTO u (fp) SELECT make_fingerprints(5000, 0.5)');
is_sound($primary, 'unlogged, filled again', 'u_fp');
is_exact($primary, 'unlogged, filled again', 'u', 'u_fp');
is($primary->safe_psql('postgres',
		"SELECT count(*) FILTER (WHERE table_no IS NOT NULL) FROM simhash_index_info('u_fp')"),
	'10', 'the unlogged index kept its scheme');
$primary->stop;
done_testing();
