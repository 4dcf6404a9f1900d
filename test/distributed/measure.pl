# What the jobs of examples/shards cost over three shards of this machine, beside one
# table.  Prints a table of times; tests nothing.  See test/distributed/run.
#
# Times are the best of several, with those of one table and of the shards in turns.  Processor
# time is that of all processes of a server; on a busy machine it says more.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/../t";
use DistributedTest;
use POSIX;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes;

my $rows = $ENV{ROWS} || 300_000;
my @nodes = make_machines(3, 'shared_buffers = 64MB', 'work_mem = 32MB', 'maintenance_work_mem = 128MB', 'fsync = off');
my ($coordinator, @shards) = @nodes;

# Seconds that the processes of a server that have ended, and their own, took.  Those of a
# session count when it has ended.
sub processor_time
{
	my ($node) = @_;
	my ($pid) = slurp_file($node->data_dir . '/postmaster.pid') =~ /^(\d+)/;
	my @fields = split / /, slurp_file("/proc/$pid/stat") =~ s/^.*\) //sr;

	# utime, stime, cutime, cstime
	my $ticks = 0;
	$ticks += $_ foreach @fields[ 11 .. 14 ];
	return $ticks / POSIX::sysconf(POSIX::_SC_CLK_TCK());
}

# Best times in ms of statements that take turns, in one session; after some that are not
# measured
sub best_times
{
	my ($times, $before, @statements) = @_;
	my $sql = "$before;\n" . join('', map { "\\timing on\n$_;\n\\timing off\n" } @statements) x ($times + 1);
	my @found = map { /^Time: ([\d.]+) ms/ ? $1 : () } split /\n/, coordinate($sql);
	my @best;

	die scalar(@found) . ' times' if @found != @statements * ($times + 1);
	# the first turn connects
	foreach my $i (@statements .. $#found)
	{
		my $s = $i % @statements;
		$best[$s] = $found[$i] if !defined $best[$s] || $found[$i] < $best[$s];
	}
	return @best;
}

# Processor time in ms of each server for a statement, on average of several in one session, with
# its beginning and end
sub processor_times
{
	my ($before, $sql) = @_;
	my $times = 10;
	my @start = map { processor_time($_) } @nodes;

	coordinate("$before;\n" . "$sql;\n" x $times);
	sleep 1;
	return map { (processor_time($nodes[$_]) - $start[$_]) * 1000 / $times } 0 .. $#nodes;
}

sub show_line
{
	my ($format, @values) = @_;
	diag(sprintf($format, @values));
	return;
}

sub show_times
{
	my ($job, $one, $distributed) = @_;
	show_line('%-36s %9.2f %9.2f %6.2f', $job, $one, $distributed, $distributed / $one);
	return;
}

# Measure a job: what it is, how many are in a statement, what comes before, the statement over
# one table and over the shards.
sub measure
{
	my ($job, $number, $before, @statements) = @_;
	my @times = best_times(5, $before, @statements);
	my @alone = processor_times($before, $statements[0]);
	my @shares = processor_times($before, $statements[1]);

	show_line('%-36s %9.2f %9.2f %6.2f   %9.2f %9.2f   %s', $job, (map { $_ / $number } @times), $times[1] / $times[0],
		$alone[0] / $number, $shares[0] / $number, join ' ', map { sprintf '%.2f', $_ / $number } @shares[ 1 .. 3 ]);
	return;
}

coordinate('CREATE TABLE texts (id bigint, body text)');
run_part(\@nodes, $_) foreach jobs();
coordinate('CREATE TABLE one (id bigint PRIMARY KEY, body text, fp simhash);
	CREATE INDEX one_fp ON one USING simhash (fp)');
foreach my $shard (@shards)
{
	$shard->safe_psql($database, "ALTER TABLE block_rows_$_ DROP CONSTRAINT block_rows_${_}_block_fp_excl")
	  foreach 0 .. 3;
}
load_rows("SELECT i, NULL, CASE WHEN i % 20 = 0
		THEN (hashint8extended(i - 1, 0) # (1::bigint << (i % 61)::int) # (1::bigint << (i % 59)::int))::simhash
		ELSE hashint8extended(i, 0)::simhash END
	FROM generate_series(1, $rows) i");
coordinate('VACUUM ANALYZE one');
$_->safe_psql($database, 'VACUUM ANALYZE') foreach @shards;
coordinate("INSERT INTO staging
	SELECT -i, NULL, hashint8extended(i * ($rows / 10000), 0) # 1 FROM generate_series(1, 10000) i; ANALYZE staging");

show_line('%d rows: ms, best of 5; and of processor time', $rows);
show_line('%-36s %9s %9s %6s   %9s %9s   %s', '', 'one table', '3 shards', 'ratio', 'one table', 'coord.', 'shards');
my $look_ups = 'DO $$ DECLARE q simhash; BEGIN
	FOR q IN SELECT fp FROM staging LIMIT 200 LOOP PERFORM id FROM %s WHERE fp <~> q <= 3; END LOOP; END $$';
measure('a look-up', 200, '', map { sprintf $look_ups, $_ } 'one', 'docs');

my $batch = 'SELECT count(*) FROM %s WHERE fp %% ANY (ARRAY(SELECT fp FROM staging))';
measure('10,000 look-ups at once', 1, '', map { sprintf $batch, $_ } 'one', 'docs');

my $nearest = prepared('nearest');
my $nearest_of_one = 'PREPARE of_one (simhash) AS
	SELECT id, fp <~> $1 AS distance FROM one ORDER BY fp <~> $1 LIMIT 10;';
measure('10 nearest', 1, "$nearest $nearest_of_one", map { "EXECUTE $_ (1234567890123456789)" } 'of_one', 'nearest');
# the shards sort their rows, whether the index of the one table has them in order or not
foreach my $index ('grown', 'built')
{
	coordinate('REINDEX INDEX one_fp') if $index eq 'built';
	measure("pairs, index $index", 1, '',
		"SELECT count(*) FROM simhash_find_all('one_fp')", 'SELECT count(*) FROM near_values');
}

coordinate('DROP TABLE IF EXISTS pairs, near_rows');
my $start = [ Time::HiRes::gettimeofday() ];
coordinate(one_of('CREATE TABLE pairs'));
show_line('%-46s %9.2f', 'pairs and their rows, to tables', 1000 * Time::HiRes::tv_interval($start));
my $clusters = one_of('simhash_components(e.a') =~ s/^--.*\n//gmr =~ s/;\s*$//r;
measure('clusters, of these', 1, '',
	"SELECT count(*) FROM simhash_find_clusters('one_fp')", "SELECT count(*) FROM ($clusters) c");

coordinate('TRUNCATE docs, block_rows, staging, one; ALTER TABLE one ADD EXCLUDE USING simhash (fp WITH %)');
run_part(\@nodes, one_of('ALTER TABLE block_rows_0 ADD EXCLUDE'));
foreach my $part (1 .. 3)
{
	coordinate("TRUNCATE staging; INSERT INTO staging SELECT i, NULL, hashint8extended(i, 7)
		FROM generate_series($part * 10000, $part * 10000 + 9999) i");
	my ($of_one, $of_shards) = map {
		my $begin = [ Time::HiRes::gettimeofday() ];
		coordinate($_);
		1000 * Time::HiRes::tv_interval($begin)
	} ('INSERT INTO one SELECT * FROM staging ON CONFLICT DO NOTHING', 'CALL load_staging()');
	show_times('10,000 rows loaded, others kept out', $of_one, $of_shards);
}
# sessions that load at the same time: near-duplicates of each other, or rows of their own
foreach my $sessions (1, 8)
{
	foreach my $alone (0, 1)
	{
		foreach my $one_at_a_time ('false', 'true')
		{
			my $groups = 4000;
			my $kept = $alone ? $sessions * $groups : $groups;

			coordinate('TRUNCATE docs, block_rows, staging');
			my $begin = [ Time::HiRes::gettimeofday() ];
			my %options = (alone => $alone, call => "CALL load_staging($one_at_a_time)");
			my @errors =
			  run_sessions($coordinator, map { near_loads($database, $_, $groups, 10, %options) } 1 .. $sessions);
			my $seconds = Time::HiRes::tv_interval($begin);
			die "@errors" if join('', @errors) ne '';
			show_line('%d sessions load %d rows each, %s, one at a time %s: %.1f s, %.0f rows/s, %.0f of them kept/s',
				$sessions, $groups, $alone ? 'rows of their own' : 'near-duplicates', $one_at_a_time,
				$seconds, $sessions * $groups / $seconds, $kept / $seconds);
		}
	}
}
$_->stop('immediate') foreach @nodes;
ok(1);
done_testing();
