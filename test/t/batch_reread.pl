# Rows are found and read again later, by a new pin of their page.  Meanwhile others prune
# the page, which moves its rows: a reader has to wait for that.  And up to PostgreSQL 16
# old_snapshot_threshold lets rows be removed that a snapshot still sees: an error, then.

use lib 'test/t';
use SimhashTest;
use Time::HiRes qw(usleep);

my $node = make_node('reread');
my $version = `postgres -V` =~ /(\d+)/ ? $1 : die;
$node->append_conf('postgresql.conf', 'old_snapshot_threshold = 0') if $version < 17;
$node->start;

# Rows 1 and 2 are near each other.  Row 1 is on the first page, and reading it waits for a
# lock; row 2 is on the second one, and so read by a new pin.  Behind row 2 is a row that was
# rolled back, which VACUUM removes whatever snapshots there are.
$node->safe_psql('postgres', q{
	CREATE EXTENSION simhash;
	CREATE FUNCTION wait_at(id integer) RETURNS integer LANGUAGE plpgsql STABLE AS $$
	BEGIN
		IF id = 1 THEN
			PERFORM pg_advisory_xact_lock(1);
		END IF;
		RETURN id;
	END $$;
});

my %held;

# A session that has locks 1 and 2 until it is told to release them
sub hold_locks
{
	%held = (in => "SELECT pg_advisory_lock(1), pg_advisory_lock(2);\n", out => '');
	$held{handle} = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres') ], '<', \$held{in}, '>', \$held{out});
	$held{handle}->pump_nb;
	wait_for('both locks are held', 2, q{FROM pg_locks WHERE locktype = 'advisory' AND granted});
	return;
}

sub release
{
	my ($lock) = @_;
	$held{in} .= "SELECT pg_advisory_unlock($lock);\n";
	$held{handle}->pump_nb while length $held{in};
	return;
}

sub begin
{
	my ($name, @statements) = @_;
	my %session = (out => '', err => '');
	$session{handle} = IPC::Run::start(
		[ 'psql', '-XAtq', '-v', 'VERBOSITY=sqlstate', (map { ('-c', $_) } @statements),
		  '-d', $node->connstr('postgres') . " application_name=$name" ],
		'>', \$session{out}, '2>', \$session{err}, IPC::Run::timer($PostgreSQL::Test::Utils::timeout_default));
	return \%session;
}

sub wait_for
{
	my ($what, $count, $from) = @_;
	$node->poll_query_until('postgres', "SELECT count(*) = $count $from") or die "not so: $what";
	return;
}

# Find the duplicates in a new table, until row 1 is going to be read.
sub begin_search
{
	$node->safe_psql('postgres', q{
		DROP TABLE IF EXISTS docs;
		CREATE TABLE docs (id integer, fp simhash, filler text) WITH (autovacuum_enabled = off);
		ALTER TABLE docs ALTER filler SET STORAGE PLAIN;
		INSERT INTO docs VALUES (1, 7, repeat('x', 7000)), (2, 6, repeat('y', 3000));
		BEGIN;
		INSERT INTO docs VALUES (3, 100, repeat('z', 3000));
		ROLLBACK;
		CREATE INDEX docs_fp ON docs USING simhash (fp);
		VACUUM (INDEX_CLEANUP OFF) pg_class, pg_attribute, pg_type, pg_depend, pg_index, pg_proc;
	});
	hold_locks();
	my $search = begin('search', q{SELECT keeper, duplicate FROM simhash_find_duplicates('docs_fp', 3, keep => 'wait_at(id)')});
	wait_for('the search waits', 1, q{FROM pg_stat_activity WHERE application_name = 'search' AND wait_event = 'advisory'});
	return $search;
}

SKIP:
{
	skip 'there is no gdb, with which a session is stopped', 2 if system('gdb --version >/dev/null 2>&1') != 0;

	my $search = begin_search();
	my $pruner = begin('pruner', 'SELECT pg_advisory_lock(2)', 'VACUUM docs');
	wait_for('the other session waits', 1, q{FROM pg_stat_activity WHERE application_name = 'pruner' AND wait_event = 'advisory'});
	my $pid = $node->safe_psql('postgres', q{SELECT pid FROM pg_stat_activity WHERE application_name = 'pruner'});
	my $dir = PostgreSQL::Test::Utils::tempdir;
	my $said = '';
	my $gdb = IPC::Run::start(
		[ 'gdb', '-q', '-nx', '-batch', '-p', $pid, '-ex', 'handle SIGUSR1 nostop noprint pass',
		  '-ex', 'break PageRepairFragmentation', '-ex', "shell touch $dir/attached", '-ex', 'continue',
		  '-ex', "shell touch $dir/stopped; until [ -e $dir/go ]; do sleep 0.05; done", '-ex', 'detach' ],
		'>', \$said, '2>&1', IPC::Run::timer($PostgreSQL::Test::Utils::timeout_default));
	until (-e "$dir/attached") { $gdb->pump_nb; usleep(10_000) }
	release(2);
	until (-e "$dir/stopped") { $gdb->pump_nb; usleep(10_000) }

	# The page is locked, and its rows are about to be moved.
	release(1);
	my $waits = '';
	while ($waits eq '' and $search->{handle}->pumpable)
	{
		$search->{handle}->pump_nb;
		$waits = $node->safe_psql('postgres',
			q{SELECT 'waits' FROM pg_stat_activity WHERE application_name = 'search' AND wait_event LIKE 'Buffer%'});
		usleep(10_000);
	}
	is($waits, 'waits', 'who reads a row waits until its page has been pruned') or diag($said, $search->{out});
	append_to_file("$dir/go", '');
	$_->finish foreach $gdb, $pruner->{handle}, $search->{handle}, delete $held{handle};
	is($search->{out} . $search->{err}, "(0,1)|(1,1)\n", 'and reads it then');
}

SKIP:
{
	skip 'rows that a snapshot sees are never removed since 17', 1 if $version >= 17;

	my $search = begin_search();
	$node->safe_psql('postgres', 'UPDATE docs SET id = 4 WHERE id = 2; UPDATE docs SET id = 5 WHERE id = 4');
	# the server gives even a threshold of 0 five seconds
	wait_for('the snapshot is too old', 1, q{FROM pg_stat_activity
		WHERE application_name = 'search' AND clock_timestamp() > query_start + interval '6 s'});
	$node->safe_psql('postgres', 'VACUUM docs');
	release(1);
	$_->finish foreach $search->{handle}, delete $held{handle};
	like($search->{err}, qr/72000/, 'an error if a row has been removed') or diag($search->{out});
	is($node->safe_psql('postgres', 'SELECT count(*) FROM docs'), '2', 'and the server goes on');
}

$node->stop;
done_testing();
