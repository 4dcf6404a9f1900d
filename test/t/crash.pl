# Kill the server in the middle of concurrent inserts, updates, deletes and
# vacuums; after recovery every index must be sound and exact.

use lib 'test/t';
use SimhashTest;
use Time::HiRes qw(usleep);

my $rounds = 6;

# Few buffers, so that pages are written out while they change, and frequent
# checkpoints, so that recovery starts at different points.
my $node = start_node('crash', [], 'restart_after_crash = on',
	'shared_buffers = 2MB', 'max_wal_size = 32MB', 'min_wal_size = 32MB',
	'checkpoint_completion_target = 0');
$node->safe_psql('postgres', q{
	CREATE TABLE a (id bigint GENERATED ALWAYS AS IDENTITY, fp simhash);
	CREATE TABLE b (id bigint GENERATED ALWAYS AS IDENTITY, fp simhash);
	CREATE TABLE c (id bigint GENERATED ALWAYS AS IDENTITY, tenant integer, fp simhash);
	CREATE INDEX a_fp ON a USING simhash (fp) WITH (blocks = 4, distance = 3);
	CREATE INDEX b_fp ON b USING simhash (fp) WITH (blocks = 6, distance = 3);
	CREATE INDEX c_tenant_fp ON c USING simhash (tenant, fp);
	INSERT INTO radii VALUES (0), (1), (3), (5), (8), (64);
	INSERT INTO query VALUES (1, 0), (2, 1234567890123456789), (3, -1), (4, -1234567890123456789);
});

# A fifth of the rows are near one of a few fingerprints, and a few are null.
my %script = ('insert@30' => q{
\set pick random(0, 3)
INSERT INTO a (fp) SELECT CASE WHEN i % 50 = 0 THEN NULL WHEN i % 5 = 0
	THEN flip_bits((ARRAY[0, 1234567890123456789, -1, -1234567890123456789])[:pick + 1], i % 4)
	ELSE random_bits() END FROM generate_series(1, 40) i;
INSERT INTO b (fp) SELECT CASE WHEN i % 50 = 0 THEN NULL WHEN i % 5 = 0
	THEN flip_bits((ARRAY[0, 1234567890123456789, -1, -1234567890123456789])[:pick + 1], i % 4)
	ELSE random_bits() END FROM generate_series(1, 20) i;
INSERT INTO c (tenant, fp) SELECT CASE WHEN i % 9 > 0 THEN 1 + i % 3 END, CASE WHEN i % 50 = 0 THEN NULL WHEN i % 5 = 0
	THEN flip_bits((ARRAY[0, 1234567890123456789, -1, -1234567890123456789])[:pick + 1], i % 4)
	ELSE random_bits() END FROM generate_series(1, 20) i;
}, 'change@1' => q{
DELETE FROM a WHERE id % 7 = 0 AND id > (SELECT max(id) - 500 FROM a);
UPDATE b SET fp = random_bits() WHERE id % 7 = 0 AND id > (SELECT max(id) - 500 FROM b);
UPDATE c SET tenant = 4 WHERE id % 7 = 0 AND id > (SELECT max(id) - 500 FROM c);
VACUUM a;
VACUUM b;
VACUUM c;
});

sub is_right
{
	my ($what) = @_;
	is_sound($node, $what, 'a_fp', 'b_fp', 'c_tenant_fp');
	is_exact($node, $what, 'a', 'a_fp');
	is_exact($node, $what, 'b', 'b_fp');
	is_exact($node, $what, 'c', 'c_tenant_fp', tenants => 1);
	return;
}

foreach my $round (1 .. $rounds)
{
	my $size = $node->safe_psql('postgres', 'SELECT count(*) FROM a');
	my $run = start_pgbench($node, \%script, '--client=4', '--transactions=1000000');
	$node->poll_query_until('postgres',
		"SELECT count(*) > $size + 3000 FROM a")
	  or die 'the rows do not come';

	if ($round % 2)
	{
		# one backend: the postmaster kills the others and recovers
		my $pid = $node->safe_psql('postgres',
			q{SELECT max(pid) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()});
		kill(9, $pid) == 1 or die "cannot kill $pid";
		eval { $run->{handle}->finish };
		my $tries = 10 * $PostgreSQL::Test::Utils::timeout_default;
		until (run_log([ 'pg_isready', '--quiet', '-d', $node->connstr('postgres') ]))
		{
			$tries-- > 0 or die 'the server does not come back';
			usleep(100_000);
		}
	}
	else
	{
		$node->kill9;
		eval { $run->{handle}->finish };
		start_after_kill($node);
	}
	is_right("round $round");
}

# and it all still works
$node->safe_psql('postgres',
	'DELETE FROM a WHERE id % 2 = 0; DELETE FROM b WHERE id % 2 = 0; DELETE FROM c WHERE id % 2 = 0');
$node->safe_psql('postgres', 'VACUUM a, b, c');
$node->safe_psql('postgres',
	'INSERT INTO a (fp) SELECT make_fingerprints(5000, 0.1); INSERT INTO b (fp) SELECT make_fingerprints(5000, 0.1);'
	  . 'INSERT INTO c (tenant, fp) SELECT hashint8(fp::bigint) % 3, fp FROM make_fingerprints(5000, 0.1) fp'
);
is_right('afterwards');
$node->stop;
done_testing();
