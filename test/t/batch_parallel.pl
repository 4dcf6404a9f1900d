# Searches of whole tables with parallel workers: when there are any, and that nothing
# is left behind when they are stopped.  sql/batch_parallel.sql compares answers.

use lib 'test/t';
use SimhashTest;
use Time::HiRes qw(usleep);

my $node = make_node('parallel', [],
	'max_worker_processes = 16', 'max_parallel_workers = 16', 'max_wal_size = 2GB',
	'maintenance_work_mem = 64MB', 'min_parallel_index_scan_size = 0',
	'max_parallel_workers_per_gather = 2', 'restart_after_crash = on',
	# in case that something is not cancelled
	'temp_file_limit = 6GB',
	# what the tests look at
	'log_min_messages = debug1');
{
	# what reads memory that has been freed finds something else there
	local $ENV{MALLOC_PERTURB_} = 165;
	$node->start;
}
load_helpers($node);
$node->safe_psql('postgres', q{
	CREATE TABLE a (id integer, fp simhash);
	SELECT setseed(0.5);
	INSERT INTO a SELECT i, random_bits() FROM generate_series(1, 60000) i;
	INSERT INTO a SELECT 60000 + id, flip_bits(fp::bigint, 2)::simhash FROM a WHERE id % 10 = 0;
	CREATE INDEX a_fp ON a USING simhash (fp);
	CREATE TABLE one (id integer, fp simhash) WITH (parallel_workers = 1);
	INSERT INTO one TABLE a;
	CREATE INDEX one_fp ON one USING simhash (fp);
	CREATE TABLE none (id integer, fp simhash) WITH (parallel_workers = 0);
	INSERT INTO none TABLE a;
	CREATE INDEX none_fp ON none USING simhash (fp);
	CREATE FUNCTION unsafe(integer) RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT $1 % 3';
	CREATE INDEX a_unsafe ON a USING simhash (unsafe(id), fp);
	CREATE TABLE w (fp simhash_bits(256));
	INSERT INTO w SELECT wide('w' || i)::simhash_bits(256) FROM generate_series(1, 6000) i;
	INSERT INTO w SELECT flip_wide(wide('w' || i), i % 31)::simhash_bits(256) FROM generate_series(1, 200) i;
	CREATE INDEX w_fp ON w USING simhash (fp);
	CREATE TABLE w_long AS SELECT wide('l' || i)::simhash_bits(256) AS fp FROM generate_series(1, 40000) i;
	CREATE INDEX w_long_fp ON w_long USING simhash (fp);
	CREATE VIEW victim AS SELECT * FROM pg_stat_activity WHERE application_name = 'victim';
	VACUUM ANALYZE;
});

# Run statements; what they return, and the workers of each search in the log, as
# "launched of wanted".
sub searches
{
	my ($sql) = @_;
	my $offset = -s $node->logfile;
	my $answer = $node->safe_psql('postgres', $sql);
	my $log = substr(slurp_file($node->logfile), $offset);

	return ($answer, join(' ', $log =~ /search with (\d+ of \d+) parallel workers/g));
}

# All workers that are wanted can be had as soon as the server knows that those of the last
# search have ended.
sub workers_are
{
	my ($sql, $wanted, $what) = @_;
	my ($answer, $workers);

	my $until = time + $PostgreSQL::Test::Utils::timeout_default;
	do
	{
		($answer, $workers) = searches($sql);
	} until $workers eq $wanted || time > $until;
	is($workers, $wanted, $what);
	return $answer;
}

my $find_all = "SELECT count(*), sum(distance) FROM simhash_find_all('a_fp', 6)";
my $truth = workers_are("SET max_parallel_workers_per_gather = 0; $find_all", '', 'no workers if none are allowed');
is(workers_are($find_all, '2 of 2', 'two workers'), $truth, 'the answer with two workers');
is(workers_are("SET max_parallel_workers = 0; $find_all", '0 of 2', 'no worker can be had'),
	$truth, 'the answer without any');
workers_are("SELECT count(*) FROM simhash_find_$_", '2 of 2', "two workers: $_")
  foreach "duplicates('a_fp', 6)", "clusters('a_fp', 6)", "matches('a_fp', 'one_fp', 6)", "all('a_fp', 12)";
workers_are("SELECT count(*) FROM simhash_find_all('a_fp', 3)", '', "no workers within the index's distance");
workers_are("SET maintenance_work_mem = '1MB'; SELECT count(*) FROM simhash_find_all('a_fp', 6)",
	'', 'no workers if memory is short');

# wide fingerprints
{
	my $wide = "SELECT count(*), sum(distance) FROM simhash_find_all('w_fp', 31)";
	my $wide_truth = workers_are("SET max_parallel_workers_per_gather = 0; $wide", '', 'wide: no workers');

	is(workers_are($wide, '2 of 2', 'wide: two workers'), $wide_truth, 'wide: the answer');
	is(workers_are("SET max_parallel_workers = 0; $wide", '0 of 2', 'wide: no worker can be had'),
		$wide_truth, 'wide: the answer without any');
	is(workers_are("SET maintenance_work_mem = '1MB'; $wide", '', 'wide: no memory for workers'),
		$wide_truth, 'wide: the answer without memory');
	is(workers_are("SET maintenance_work_mem = '2800kB'; $wide", '1 of 1', 'wide: memory for one worker'),
		$wide_truth, 'wide: the answer with one');
	workers_are("SELECT count(*) FROM simhash_find_$_", '2 of 2', "wide: two workers: $_")
	  foreach "duplicates('w_fp')", "clusters('w_fp')";
	$node->safe_psql('postgres', 'ALTER TABLE w SET (parallel_workers = 2)');
	workers_are("SET min_parallel_index_scan_size = '512kB'; $wide", '', 'wide: no workers for a short search');
	workers_are("SELECT count(*) FROM simhash_find_all('w_fp', 0)", '', 'wide: no workers at distance 0');
}
workers_are("SELECT count(*) FROM simhash_find_all('one_fp', 6)", '1 of 1', 'parallel_workers = 1');
workers_are("SELECT count(*) FROM simhash_find_all('none_fp', 6)", '', 'parallel_workers = 0');
workers_are("SET min_parallel_index_scan_size = '512kB'; SELECT count(*) FROM simhash_find_all('a_fp', 0)",
	'', 'no workers for a short search');
workers_are("SET max_parallel_workers_per_gather = 8; SELECT count(*) FROM simhash_find_all('a_fp', 16)",
	'6 of 6', 'more workers for more pages');
workers_are("SELECT count(*) FROM (SELECT simhash_find_all('a_fp', 6)) s", '2 of 2', 'two workers in a select list');
workers_are("SELECT count(*) FROM simhash_find_all('a_unsafe', 6)", '', 'no workers with an unsafe function');
workers_are(
	"CREATE TEMP TABLE t AS TABLE a; CREATE INDEX t_fp ON t USING simhash (fp); "
	  . "SELECT count(*) FROM simhash_find_all('t_fp', 6)", '', 'no workers for a temporary table');
workers_are("BEGIN; INSERT INTO a VALUES (-1, 0), (-2, 0); DELETE FROM a USING simhash_find_duplicates('a_fp', 6) d "
	  . "WHERE a.ctid = d.duplicate; ROLLBACK", '2 of 2', 'two workers for a DELETE');
{
	my $query = "SELECT (SELECT count(*) FROM simhash_find_all('a_fp', 6)) > 0, sum(id) > 0 FROM a";
	my $settings = 'SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; ';

	# code in an index or in "same" may not run in parallel mode
	unlike($node->safe_psql('postgres', $settings . "EXPLAIN $query"), qr/Gather/, 'a query with a search is not parallel');
	is(workers_are($settings . $query, '2 of 2', 'but the search has workers'), 't|t', 'the answer in it');
}

# Many pairs, so that the leader looks up rows while workers search, and their queues fill.
$node->safe_psql('postgres', q{
	CREATE TABLE many (fp simhash, other text) WITH (parallel_workers = 2);
	INSERT INTO many SELECT (hashint8extended(i / 2, 1) # (i % 2))::simhash, repeat('x', 150) FROM generate_series(1, 330000) i;
	CREATE INDEX many_fp ON many USING simhash (fp);
	CREATE TABLE others AS SELECT fp FROM many WHERE fp::bigint % 2 = 0;
	CREATE INDEX others_fp ON others USING simhash (fp);
	ANALYZE many, others;
});
foreach my $search ("all('many_fp', 8)", "matches('many_fp', 'others_fp', 8)", "duplicates('many_fp', 8)")
{
	my $sql = "SET maintenance_work_mem = '128MB'; SELECT count(*), sum(hashtextextended(f::text, 0)) FROM simhash_find_$search f";

	is(workers_are("SET parallel_leader_participation = off; $sql", '2 of 2', "many pairs: $search"),
		$node->safe_psql('postgres', "SET max_parallel_workers_per_gather = 0; $sql"), "the answer: $search");
}

# a search that takes long
my $long = "SELECT count(*) FROM simhash_find_clusters('a_fp', 27)";

# Nothing is left: no process, lock or file.
sub nothing_left
{
	my ($what) = @_;

	ok($node->poll_query_until('postgres',
			q{SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE backend_type = 'parallel worker')
				AND NOT EXISTS (SELECT FROM victim WHERE state = 'active')
				AND NOT EXISTS (SELECT FROM pg_locks WHERE relation IN ('a'::regclass, 'a_fp'::regclass))
				AND NOT EXISTS (SELECT FROM pg_ls_tmpdir())}),
		"$what: nothing is left");
	is($node->safe_psql('postgres', $find_all), $truth, "$what: the next search");
	return;
}

# Run a statement of "victim" until a query says that it has been stopped, or to its end.  It has
# an error with this SQLSTATE, and leaves nothing.
sub is_stopped
{
	my ($what, $error, $statement, $stop) = @_;
	my ($out, $err) = ('', '');
	my $psql = IPC::Run::start(victim_command($node, $statement), '>', \$out, '2>', \$err,
		IPC::Run::timer($PostgreSQL::Test::Utils::timeout_default));
	while ($psql->pumpable)
	{
		$psql->pump_nb;
		my (undef, $done) = $node->psql('postgres', $stop // 'SELECT NULL');
		last if ($done // '') eq 't';
		usleep(20_000);
	}
	$psql->finish;
	like($err, $error, $what);
	nothing_left($what);
	return;
}

# the leader, while it has a worker that has begun, and a worker
my $leader = q{FROM victim v WHERE leader_pid IS NULL
	AND EXISTS (SELECT FROM pg_stat_activity w WHERE w.leader_pid = v.pid AND w.state = 'active')};
my $worker = q{FROM pg_stat_activity WHERE leader_pid IN (SELECT pid FROM victim) AND state = 'active' LIMIT 1};
is_stopped('a search is cancelled', qr/57014/, $long, "SELECT pg_cancel_backend(pid) $leader");
is_stopped('a worker is terminated', qr/57P01/, $long, "SELECT pg_terminate_backend(pid) $worker");
is_stopped('a search is terminated', qr/57P01|server closed/, $long, "SELECT pg_terminate_backend(pid) $leader");
is_stopped('a search times out', qr/57014/, "SET statement_timeout = '1s'; $long");
is_stopped('temporary files exceed their limit', qr/53400/,
	"SET temp_file_limit = '20MB'; SET work_mem = '1MB'; SELECT count(*) FROM simhash_find_all('a_fp', 20)");
is_stopped('entries to sort exceed the limit', qr/53400/,
	"SET maintenance_work_mem = '1MB'; SET temp_file_limit = '100kB'; SELECT count(*) FROM simhash_find_all('a_fp', 6)");
is_stopped('an error in a condition', qr/22012/, "SET maintenance_work_mem = '300MB';
	SELECT count(*) FROM simhash_find_duplicates('a_fp', 6, same => 'a.id / (a.id - a.id) > 0')");

my $long_of_wide = "SELECT count(*) FROM simhash_find_all('w_long_fp', 90)";
is_stopped('a search of wide fingerprints is cancelled', qr/57014/, $long_of_wide,
	"SELECT pg_cancel_backend(pid) $leader");
is_stopped('a worker for wide fingerprints is terminated', qr/57P01/, $long_of_wide,
	"SELECT pg_terminate_backend(pid) $worker");

# Progress sums what all processes have done.
is_stopped('progress of a parallel search is shown', qr/57014/, "SELECT count(*) FROM simhash_find_all('a_fp', 24)",
	q{SELECT pg_cancel_backend(p.pid) FROM simhash_stat_progress p JOIN victim USING (pid)
		WHERE entries_done > 0 AND entries_done <= entries_total AND found > 0});

# The server restarts if a worker is killed, and removes what is left.
SKIP:
{
	skip 'no signals', 2 if $windows_os;
	my $killed = 0;
	my ($out, $err) = ('', '');
	my $psql = IPC::Run::start(victim_command($node, $long), '>', \$out, '2>', \$err,
		IPC::Run::timer($PostgreSQL::Test::Utils::timeout_default));
	while ($psql->pumpable && !$killed)
	{
		$psql->pump_nb;
		my $pid = $node->safe_psql('postgres', "SELECT pid $worker");
		$killed = kill('KILL', $pid) if $pid ne '';
		usleep(20_000);
	}
	$psql->finish;
	is($killed, 1, 'a worker was killed');
	# without input, which a psql that ends at once would not read
	usleep(100_000) until run_log([ 'psql', '-XAqc', 'SELECT', $node->connstr('postgres') ]);
	nothing_left('worker killed');
}

is_sound($node, 'afterwards', 'many_fp', 'others_fp');
$node->stop;
done_testing();
