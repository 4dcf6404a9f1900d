# Searches of whole tables with parallel workers that are stopped at random moments:
# the session or a worker is cancelled, terminated or killed, the time is over, or the
# client has gone.  The session answers what comes next, if there still is one, as other
# sessions do; and nothing is left of the search: no process, lock, file, or shared memory.
# Then as many are cancelled in one session: how much of a CPU they still take, and what they
# leave of its memory.
#
# SEED in the environment repeats what is run and how it is stopped, but not when it really
# happens.  MINUTES says how many stops there are, 20 for each, which takes about as long; and
# the cancels half as long.

use FindBin;
use lib "$FindBin::RealBin/../t";
use List::Util qw(max shuffle sum);
use SimhashTest;
use Time::HiRes qw(usleep);

my $seed = $ENV{SEED} || time;
my $stops = int 20 * ($ENV{MINUTES} || 10);
srand($seed);
diag("SEED=$seed");

my $node = start_node('stops', [],
	'max_worker_processes = 16', 'max_parallel_workers = 16', 'min_parallel_index_scan_size = 0',
	'restart_after_crash = on', 'client_connection_check_interval = 100ms',
	# segments of shared memory are files in the directory of the server
	'dynamic_shared_memory_type = mmap',
	# in case that something is not cancelled
	'temp_file_limit = 6GB');
$node->safe_psql('postgres', q{
	SELECT setseed(0.5);
	CREATE TABLE a (id integer, tenant integer, fp simhash);
	INSERT INTO a SELECT i, i % 3, random_bits() FROM generate_series(1, 40000) i;
	INSERT INTO a SELECT 40000 + id, tenant, flip_bits(fp::bigint, 2) FROM a WHERE id % 10 = 0;
	CREATE INDEX a_fp ON a USING simhash (fp);
	CREATE INDEX a_tenant ON a USING simhash (tenant, fp);
	CREATE TABLE b (id integer, fp simhash);
	INSERT INTO b SELECT id, flip_bits(fp::bigint, id % 6) FROM a WHERE id % 2 = 0;
	CREATE INDEX b_fp ON b USING simhash (fp);
	CREATE TABLE parts (id integer, fp simhash) PARTITION BY HASH (id);
	CREATE TABLE parts_0 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 0);
	CREATE TABLE parts_1 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 1);
	INSERT INTO parts SELECT id, fp FROM a;
	CREATE INDEX parts_fp ON parts USING simhash (fp);
	CREATE TABLE w (id integer, tenant integer, fp simhash_bits(256));
	INSERT INTO w SELECT i, i % 2, wide('w' || i)::simhash_bits(256) FROM generate_series(1, 15000) i;
	INSERT INTO w SELECT 20000 + id, tenant, flip_wide(fp::bit(256), id % 25)::simhash_bits(256) FROM w WHERE id % 5 = 0;
	CREATE INDEX w_fp ON w USING simhash (fp);
	CREATE INDEX w_tenant ON w USING simhash (tenant, fp);
	CREATE TABLE v (id integer, fp simhash_bits(256));
	INSERT INTO v SELECT id, flip_wide(fp::bit(256), id % 9)::simhash_bits(256) FROM w WHERE id % 4 = 0;
	CREATE INDEX v_fp ON v USING simhash (fp);

	-- delete rows, and take it back
	CREATE FUNCTION delete_duplicates() RETURNS bigint LANGUAGE plpgsql AS $$
	DECLARE
		n bigint;
	BEGIN
		DELETE FROM a USING simhash_find_duplicates('a_fp', 3) d WHERE a.ctid = d.duplicate;
		GET DIAGNOSTICS n = ROW_COUNT;
		RAISE EXCEPTION 'take it back';
	EXCEPTION WHEN raise_exception THEN
		RETURN n;
	END $$;

	CREATE VIEW victim AS SELECT * FROM pg_stat_activity WHERE application_name = 'victim';

	-- wait for the session that is going to stop this one
	CREATE FUNCTION await_stop() RETURNS void LANGUAGE plpgsql AS $$
	BEGIN
		WHILE NOT EXISTS (SELECT FROM pg_stat_activity WHERE query LIKE 'SELECT stop(%' AND state = 'active')
			AND clock_timestamp() < statement_timestamp() + interval '10 s' LOOP
			PERFORM pg_sleep(0.001);
			PERFORM pg_stat_clear_snapshot();
		END LOOP;
	END $$;

	-- Some time after the victim has begun its first search, stop it or one of its workers,
	-- as soon as it has one.  Returns the process, or null if it has ended before.  The
	-- server warns of a process that has just ended.  A victim that is over before it was
	-- noticed is not waited for much longer.
	CREATE FUNCTION stop(how text, delay float8) RETURNS integer LANGUAGE plpgsql
	SET log_min_messages = error AS $$
	DECLARE
		session record;
		leader integer;
		target integer;
	BEGIN
		WHILE clock_timestamp() < statement_timestamp() + interval '10 s' LOOP
			PERFORM pg_stat_clear_snapshot();
			SELECT pid, query LIKE 'SELECT ''%' AS searches INTO session FROM victim WHERE leader_pid IS NULL;
			EXIT WHEN session.searches OR leader IS NOT NULL AND session.pid IS NULL;
			leader := session.pid;
			PERFORM pg_sleep(0.001);
		END LOOP;
		leader := coalesce(session.pid, leader);
		PERFORM pg_sleep(delay);
		target := leader;
		WHILE how ~ 'worker' LOOP
			PERFORM pg_stat_clear_snapshot();
			SELECT pid INTO target FROM victim WHERE leader_pid = leader ORDER BY random() LIMIT 1;
			EXIT WHEN FOUND OR NOT EXISTS (SELECT FROM victim WHERE pid = leader);
			PERFORM pg_sleep(0.001);
		END LOOP;
		PERFORM pg_stat_clear_snapshot();
		SELECT pid INTO target FROM victim WHERE pid = target;
		IF how ~ '^cancel' THEN
			PERFORM pg_cancel_backend(target);
		ELSIF how ~ '^terminate' THEN
			PERFORM pg_terminate_backend(target);
		END IF;
		RETURN target;
	END $$;
	VACUUM ANALYZE;
});

my @searches = (
	"count(*), sum(distance) FROM simhash_find_all('a_fp', 3)",
	# a single bucket, in slices
	"count(*), sum(distance) FROM simhash_find_all('a_fp', 12)",
	"count(*), sum(distance) FROM simhash_find_all('a_tenant', 8)",
	"count(*), sum(distance) FROM simhash_find_all('parts_fp', 9)",
	"count(*), sum(size) FROM simhash_find_clusters('a_fp', 10)",
	"count(*), sum(size) FROM simhash_find_clusters('parts_fp', 3, same => 'a.id % 2 <> b.id % 3')",
	"count(*), sum(distance) FROM simhash_find_duplicates('a_fp', 9, keep => 'id DESC')",
	"count(*), sum(distance) FROM simhash_find_duplicates('a_tenant', 3, same => 'a.id % 2 <> b.id % 3')",
	"count(*), sum(distance) FROM simhash_find_matches('a_fp', 'b_fp', 3)",
	"count(*), sum(distance) FROM simhash_find_matches('b_fp', 'a_fp', 8)",
	"count(*), sum(distance) FROM simhash_find_all('w_fp', 31)",
	"count(*), sum(size) FROM simhash_find_clusters('w_tenant', 52)",
	"count(*), sum(distance) FROM simhash_find_matches('w_fp', 'v_fp', 40)",
	'count(*), sum(distance) FROM simhash_find_all_in(ARRAY(SELECT (hashint8extended(i / 2, 1) # (i & 1))::simhash'
	  . ' FROM generate_series(1, 200000) i), 3)',
	'delete_duplicates()');

my $dir = PostgreSQL::Test::Utils::tempdir;
my $settings = "SET maintenance_work_mem = '64MB'; SET max_parallel_workers_per_gather =";
my (@truth, @seconds);
foreach my $search (@searches)
{
	push @truth, $node->safe_psql('postgres', "$settings 0; SELECT $search");
	my $clock = 'SELECT extract(epoch FROM clock_timestamp())';
	my ($begun, $answer, $end) =
	  split /\n/, $node->safe_psql('postgres', "$settings 2; $clock; SELECT $search; $clock");
	is($answer, $truth[-1], "with workers: $search");
	push @seconds, $end - $begun;
}
is((grep { /^0\b/ } @truth), 0, 'all of them find something');

# segments of shared memory that are there when no worker runs
sub segments
{
	$node->poll_query_until('postgres',
		"SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE backend_type = 'parallel worker')");
	return $node->safe_psql('postgres', "SELECT count(*) FROM pg_ls_dir('pg_dynshmem')");
}
my $segments = segments();

# Of a way to stop: what may be said of it, how often it is taken of 25, and whether
# the session goes on.
my $gone = 'lost|server closed|reset by peer|could not send|terminating';
my %way = (
	'cancel' => [ '57014', 6, 1 ],
	'cancel worker' => [ '57014', 3, 1 ],
	# also one that has not begun
	'terminate worker' => [ '57P01|55000|08006', 6, 1 ],
	'time out' => [ '57014', 2, 1 ],
	'terminate' => [ "57P01|$gone", 4, 0 ],
	'leave' => [ '', 2, 0 ],
	'kill worker' => [ "57P0[123]|$gone", 1, 0 ],
	'kill' => [ "57P0[123]|$gone", 1, 0 ]);
my @deck;

sub pick { return $_[ int rand @_ ]; }

my ($rounds, $stopped, $kills) = (0, 0, 0);
my %seen;
while ($stopped < $stops && $rounds < 10 * $stops)
{
	$rounds++;
	@deck = shuffle(map { ($_) x $way{$_}[1] } sort keys %way) unless @deck;
	my $how = shift @deck;
	my ($allowed, undef, $goes_on) = @{ $way{$how} };
	my @chosen = map { int rand @searches } 1 .. 1 + int rand 3;
	my $workers = 1 + int rand 4;
	my $memory = pick('1MB', '4MB', '64MB', '64MB');
	my $in_transaction = rand() < 0.5;
	my $delay = rand() * 0.8 * sum(@seconds[@chosen]);
	my $timeout = $how eq 'time out' ? int(1000 * $delay / @chosen) + 1 : 0;
	my $what = "round $rounds: $how, searches @chosen";

	my $file = "$dir/$rounds.sql";
	append_to_file($file, join '',
		map { "$_;\n" } "SET maintenance_work_mem = '$memory'", "SET max_parallel_workers_per_gather = $workers",
		($timeout ? "SET statement_timeout = $timeout" : 'DO $$ BEGIN PERFORM await_stop(); END $$'),
		($in_transaction ? 'BEGIN' : ()),
		(map { "SELECT '$_', $searches[$_]" } @chosen), ($in_transaction ? 'COMMIT' : ()));
	my ($out, $err) = ('', '');
	my $psql = IPC::Run::start(
		[ 'psql', '-XqAt', '-v', 'VERBOSITY=sqlstate', '-v', 'ON_ERROR_ROLLBACK=on', '-f', $file,
			'-d', $node->connstr('postgres') . ' application_name=victim' ],
		'>', \$out, '2>', \$err, IPC::Run::timer(2 * $PostgreSQL::Test::Utils::timeout_default));
	if (!$timeout)
	{
		my $pid = $node->safe_psql('postgres', "SELECT stop('$how', $delay)");
		my $offset = -s $node->logfile;
		if ($how =~ /^kill/ && $pid ne '' && kill('KILL', $pid))
		{
			$kills++;
			# the server accepts connections again
			$node->wait_for_log(qr/database system is ready/, $offset);
			$segments = segments();
		}
		$psql->signal('KILL') if $how eq 'leave' && $psql->pumpable;
	}
	$psql->finish;
	unlink $file;

	my @errors = grep { /ERROR|FATAL|PANIC|WARNING|psql:|server closed/ } split /\n/, $err;
	my @bad = grep { $allowed eq '' || !/$allowed/ } @errors;
	my @answers = split /\n/, $out;
	# the last line of a client that has gone may be a part
	pop @answers if $how eq 'leave' && $out !~ /\n\z/;
	my @wanted = map { "$_|$truth[$_]" } @chosen;
	foreach my $answer (@answers)
	{
		shift @wanted while @wanted && $wanted[0] ne $answer;
		push @bad, "wrong: $answer" unless @wanted;
		shift @wanted;
	}
	my $missing = @chosen - @answers;
	push @bad, "$missing of " . @chosen . ' answers are missing, and there are ' . @errors . ' errors'
	  if $goes_on && ($missing > @errors || !$timeout && @errors > 1);
	$stopped++ if $missing > 0;
	$seen{"$how: " . (/(?:ERROR|FATAL|WARNING): +(\w{5})/ ? $1 : 'connection lost')}++ foreach $errors[0] // ();
	is(join("\n", @bad), '', $what);

	$node->poll_query_until(
		'postgres', qq{SELECT NOT EXISTS (SELECT FROM victim)
			AND NOT EXISTS (SELECT FROM pg_stat_activity WHERE backend_type = 'parallel worker')
			AND NOT EXISTS (SELECT FROM pg_locks WHERE relation >= 16384 AND pid <> pg_backend_pid())
			AND NOT EXISTS (SELECT FROM pg_ls_dir('base/pgsql_tmp', true, false))
			AND (SELECT count(*) FROM pg_ls_dir('pg_dynshmem')) = $segments})
	  or fail("$what: something is left") or last;
}
cmp_ok($stopped, '>=', $stops, "$stops searches were stopped");
cmp_ok($kills, '>', 0, 'processes were killed') if $stops >= 25;

# The session that is cancelled: begin something there, and what it prints, errors included.
my ($in, $out, $err) = ('', '', '');
my $session = IPC::Run::start([ 'psql', '-XqAt', '-v', 'VERBOSITY=sqlstate', '-d', $node->connstr('postgres') ],
	'<', \$in, '>', \$out, '2>', \$err);

sub begin
{
	($out, $err) = ('', '');
	$in .= "$_[0];\n\\echo ready\n";
	$session->pump_nb while $in ne '';
	return;
}

sub is_done { return $out =~ /ready\n\z/; }

sub answer
{
	begin(@_) if @_;
	$session->pump until is_done();
	return $err . $out =~ s/\n?ready\n\z//r;
}

# The seconds of a CPU that each child of the server has had
my ($server) = split /\n/, slurp_file($node->data_dir . '/postmaster.pid');

sub first_line
{
	open my $file, '<', $_[0] or return '';
	return scalar(<$file>) // '';
}

sub consumed
{
	return map { first_line("/proc/$_/schedstat") =~ /^(\d+)/ ? ($_ => $1 / 1e9) : () }
	  split ' ', first_line("/proc/$server/task/$server/children");
}

# What is left of a search, and the memory of the session but for copies of inner pages
my $left = q{SELECT concat_ws(' ', (SELECT count(*) FROM pg_ls_dir('base/pgsql_tmp', true, false)),
	(SELECT count(*) FROM pg_locks JOIN pg_class c ON c.oid = relation WHERE c.oid >= 16384 AND relkind <> 'v'), (SELECT count(*) FROM simhash_stat_progress),
	(SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'parallel worker'),
	(SELECT count(*) FROM pg_backend_memory_contexts WHERE name LIKE 'simhash%' AND name <> 'simhash inner pages'))};
my $memory = q{SELECT sum(total_bytes) FROM pg_backend_memory_contexts WHERE name <> 'simhash inner pages'};
my $pid = answer('SELECT pg_backend_pid()');
my (@taken, @memory);
foreach (1 .. 10 * $stops)
{
	last if @taken >= $stops;
	my $n = int rand @searches;
	answer("SET maintenance_work_mem = '" . pick('1MB', '4MB', '64MB', '1GB')
		  . "'; SET max_parallel_workers_per_gather = " . int rand 4);
	begin("SELECT $searches[$n]");
	usleep(1e6 * rand() * $seconds[$n]);
	my %at = my %then = consumed();
	kill 'INT', $pid unless is_done();
	until (is_done())
	{
		%then = (%then, consumed());
		usleep(300);
		$session->pump_nb;
	}
	%then = (%then, consumed());
	my $said = answer();
	next if $said eq $truth[$n];
	push @taken, [ max(map { $then{$_} - ($at{$_} // 0) } keys %then), $searches[$n] ];
	is($said, "ERROR:  57014\n", "a cancelled search: $searches[$n]");
	is(answer($left), '0 0 0 0 0', 'nothing is left of it');
	is(answer("SELECT $searches[$n]"), $truth[$n], 'the next one is right') if rand() < 0.3;
	push @memory, answer($memory);
}
$in = "\\q\n";
$session->finish;
@taken = sort { $a->[0] <=> $b->[0] } @taken;
is(scalar @taken, $stops, "$stops searches were cancelled");
cmp_ok($taken[-1][0], '<', 0.2, "seconds of a CPU after it: $taken[-1][1]");
# the first ones fill the caches of the server
my $grown = $memory[-1] - $memory[ @memory / 4 ];
cmp_ok($grown, '<', 2048 * @memory, 'the session needs no more memory than before');
diag(sprintf 'seconds of a CPU after a cancel: %.3f in half of the cases, at most %.3f; %d bytes more',
	$taken[ @taken / 2 ][0], $taken[-1][0], $grown);

foreach my $i (0 .. $#searches)
{
	is($node->safe_psql('postgres', "$settings 2; SELECT $searches[$i]"), $truth[$i], "at the end: $searches[$i]");
}
$node->stop;
# a killed process, and what the others say then
my @log = grep { /TRAP:|PANIC|WARNING|was terminated by signal| leak/ } split /^/, slurp_file($node->logfile);
my @killed = grep { /was terminated by signal 9/ } @log;
is(scalar @killed, $kills, 'no crash but those that were asked for');
is(join('', grep { !/was terminated by signal 9|terminating connection because of crash of another/ } @log),
	'', 'no warning');
diag("SEED=$seed: $rounds rounds, $stopped searches stopped, $kills processes killed");
note("$seen{$_} times $_") foreach sort keys %seen;
done_testing();
