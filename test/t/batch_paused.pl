# Pages that are split, filled and vacuumed right under a search.  The searching
# process is stopped; if it is then in the middle of a table, much is changed before
# it goes on.  It must find what its snapshot has always had.

use lib 'test/t';
use SimhashTest;
use Time::HiRes qw(time usleep);

# memory for all, so that the search is not often stopped while it replaces a page
my $node = start_node('paused', [], 'max_wal_size = 2GB', 'shared_buffers = 128MB');
my $rows = 20000;
$node->safe_psql('postgres', qq{
	CREATE TABLE original (id integer, fp simhash);
	INSERT INTO original SELECT row_number() OVER (), h FROM make_fingerprints($rows, 0.2) h;
	CREATE TABLE docs (id integer, fp simhash);
	CREATE INDEX docs_fp ON docs USING simhash (fp);
	-- Search until a file is there.  Returns how often, and what each of the searches found.
	CREATE FUNCTION search(statement text, file text, OUT n bigint, OUT result text) LANGUAGE plpgsql AS \$\$
	DECLARE
		again text;
	BEGIN
		n := 0;
		WHILE (pg_stat_file(file, true)).size IS NULL LOOP
			EXECUTE format('SELECT count(*) || '' '' || sum(hashtextextended(s::text, 1)) FROM %s s', statement)
				INTO again;
			n := n + 1;
			IF again <> result THEN
				RAISE EXCEPTION 'search % finds %, the one before %', n, again, result;
			END IF;
			result := again;
		END LOOP;
	END \$\$;
	-- Stop a process where a query finds a row: if it has gone on meanwhile, it goes on until the
	-- next time.  Returns what is found, if that is before long; it may be left stopped if not.
	CREATE FUNCTION stop_when(query text, pid integer) RETURNS text LANGUAGE plpgsql AS \$\$
	DECLARE
		deadline timestamptz := clock_timestamp() + current_setting('test.timeout')::interval / 20;
		found text;
		stopped boolean := false;
	BEGIN
		WHILE clock_timestamp() < deadline LOOP
			PERFORM pg_stat_clear_snapshot();
			EXECUTE query INTO found;
			IF stopped AND found IS NOT NULL THEN
				RETURN found;
			ELSIF stopped OR found IS NOT NULL THEN
				stopped := NOT stopped;
				EXECUTE format('COPY (SELECT) TO PROGRAM ''kill -%s %s; cat >/dev/null''',
					CASE WHEN stopped THEN 'STOP' ELSE 'CONT' END, pid);
			END IF;
			PERFORM pg_sleep(0.0005);
		END LOOP;
		RETURN NULL;
	END \$\$;
});

# Run statements while the search is stopped, but not for long: they may wait for
# a lock that it has.  To be finished when it goes on.  How many seconds they take
# depends on the machine, so they get more and more.
my $patience = 1;
sub run_beside
{
	my (@statements) = @_;
	my %run = (out => '', err => '');
	my $handle = $run{handle} = IPC::Run::start(
		[
			'psql', '-X', '-q', '-A', '-t', '-v', 'ON_ERROR_STOP=1', (map { ('-c', $_) } @statements),
			'-d', $node->connstr('postgres')
		],
		'>', \$run{out}, '2>', \$run{err});
	my $deadline = time + $patience;
	while ($handle->pumpable and time < $deadline)
	{
		$handle->pump_nb;
		usleep(2_000);
	}
	$run{ended} = !$handle->pumpable;
	return \%run;
}

# What is rolled back can be removed at once, whatever snapshots there are.
my $random = "INSERT INTO docs SELECT i, random_bits() FROM generate_series(1, 3 * $rows) i";
my @split = ('BEGIN', $random, 'ROLLBACK');
# the search has a lock for which VACUUM waits five seconds before it gives up truncating
my $vacuum = 'VACUUM (INDEX_CLEANUP ON, TRUNCATE OFF) docs';
my %change = (
	'pages are split' => \@split,
	'rows are removed' => [$vacuum],
	'rows take the places of others' => [
		$vacuum,
		'INSERT INTO docs SELECT -id, flip_bits(fp::bigint, 1) FROM original',
		'DELETE FROM docs WHERE id % 3 = 0',
		'UPDATE docs SET fp = random_bits() WHERE id % 3 = 1' ]);
# in what phase a process must be when it is stopped
my %search = (
	"simhash_find_all('docs_fp')" => 'comparing',
	"simhash_find_clusters('docs_fp')" => 'comparing',
	"simhash_find_all('docs_fp', 5)" => 'reading entries to sort');

my $leaf_pages = "SELECT leaf_pages FROM simhash_index_info('docs_fp') WHERE table_no = 0";
my $searches = 0;
foreach my $statement (sort keys %search)
{
	$searches++;
	my $file = "enough$searches";
	$node->safe_psql('postgres', "TRUNCATE docs; INSERT INTO docs TABLE original; REINDEX INDEX docs_fp");
	# in the index, but not for the search
	$node->safe_psql('postgres',
		"INSERT INTO docs SELECT 0, random_bits() FROM original; DELETE FROM docs WHERE id = 0");
	my $leaves = $node->safe_psql('postgres', $leaf_pages);
	my $before = $node->safe_psql('postgres',
		"SELECT count(*) || ' ' || sum(hashtextextended(s::text, 1)) FROM $statement s");

	my ($out, $err) = ('', '');
	my $victim = IPC::Run::start(
		[
			'psql', '-X', '-q', '-A', '-t', '-v', 'ON_ERROR_STOP=1',
			# entries are sorted where there is no room for all of them
			'-c', $search{$statement} =~ /sort/ ? "SET maintenance_work_mem = '1MB'" : '',
			'-c', 'BEGIN ISOLATION LEVEL REPEATABLE READ',
			'-c', "SELECT n > 0, result FROM search(\$s\$$statement\$s\$, '$file')",
			'-d', $node->connstr('postgres') . " application_name=$file"
		],
		'>', \$out, '2>', \$err);
	my $searching = "FROM simhash_stat_progress JOIN pg_stat_activity USING (pid)
		WHERE application_name = '$file'";
	if (!$node->poll_query_until('postgres', "SELECT count(*) = 1 $searching"))
	{
		$victim->pump_nb;
		die "no search is seen: $out$err";
	}
	my $pid = $node->safe_psql('postgres',
		"SELECT pid FROM pg_stat_activity WHERE application_name = '$file' AND backend_type = 'client backend'");
	foreach my $what ('rows are removed', 'pages are split', 'rows take the places of others')
	{
		my $deadline = time + $PostgreSQL::Test::Utils::timeout_default;
		my $done = 0;
		my $tries = 0;
		while (!$done and time < $deadline)
		{
			$tries++;
			# it ends early only if it fails
			kill(0, $pid) or last;
			# neither at the beginning nor at the end
			my $least = 1 + int rand($rows / 2);
			# it could have a lock that the function needs to end
			my ($status, $where, $wrong) = $node->psql('postgres', "SELECT stop_when(\$\$
				SELECT entries_done || ' entries and ' || tables_done || ' tables' FROM simhash_stat_progress
				WHERE pid = $pid AND phase = '$search{$statement}'
					AND entries_done BETWEEN $least AND greatest(tables_total, 1) * $rows - 1000\$\$, $pid)",
				timeout => $PostgreSQL::Test::Utils::timeout_default / 10, timed_out => \my $stuck);
			my $beside = $where ? run_beside(@{ $change{$what} }) : undef;
			kill 'CONT', $pid;
			if ($stuck)
			{
				# what was stuck goes on, and must not let the search go on in the next try
				$node->poll_query_until('postgres', q{SELECT NOT EXISTS
					(SELECT FROM pg_stat_activity WHERE query ~ '^SELECT stop_when' AND state = 'active')}) or die;
				kill 'CONT', $pid;
			}
			die $wrong if !$stuck && $status != 0;
			next if !$beside;
			$beside->{handle}->finish;
			die $beside->{err} if $beside->{handle}->result(0) != 0;
			$done = $beside->{ended};
			note("$tries tries; after $where") if $done;
			$patience *= 1.2 if !$done;
		}
		ok($done, "$statement: $what while it is stopped");
		cmp_ok($node->safe_psql('postgres', $leaf_pages), '>', 1.5 * $leaves, "$statement: there are many more pages")
		  if $what eq 'pages are split';
	}
	append_to_file($node->data_dir . "/$file", "\n");
	$victim->finish;
	is($err, '', "$statement: no error");
	is($out, "t|$before\n", "$statement: what its snapshot has");
	isnt($node->safe_psql('postgres',
			"SELECT count(*) || ' ' || sum(hashtextextended(s::text, 1)) FROM $statement s"),
		$before, "$statement: not what a later one has");
	is_sound($node, $statement, 'docs_fp');
}
$node->stop;
done_testing();
