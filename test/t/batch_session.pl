# What a long search for pairs or clusters is to its user and to others: it can be
# cancelled, terminated and watched, leaves nothing behind, and works in a shell's
# pipeline.

use lib 'test/t';
use SimhashTest;
use Time::HiRes qw(time);

my $node = start_node('session', [], 'max_wal_size = 2GB', 'maintenance_work_mem = 64MB',
	# in case that something is not cancelled
	'temp_file_limit = 6GB');
$node->safe_psql('postgres', q{
	CREATE TABLE equal (id integer, fp simhash);
	INSERT INTO equal SELECT i, 9223372036854775808 FROM generate_series(1, 60000) i;
	CREATE INDEX equal_fp ON equal USING simhash (fp);
	CREATE INDEX equal_too ON equal USING simhash (fp);
	CREATE TABLE randoms (id integer, fp simhash);
	SELECT setseed(0.5);
	INSERT INTO randoms SELECT i, random_bits() FROM generate_series(1, 60000) i;
	CREATE INDEX randoms_fp ON randoms USING simhash (fp);
	CREATE TABLE groups (id integer, fp simhash);
	INSERT INTO groups SELECT i, hashint8extended(i % 300, 1) FROM generate_series(1, 120000) i;
	CREATE INDEX groups_fp ON groups USING simhash (fp);
	CREATE TABLE many (id integer, fp simhash);
	INSERT INTO many SELECT row_number() OVER (), h FROM make_fingerprints(60000, 0.2) h;
	CREATE INDEX many_fp ON many USING simhash (fp) WITH (blocks = 8, distance = 3);
	CREATE TABLE few (id integer, fp simhash);
	INSERT INTO few SELECT * FROM many WHERE id % 600 = 0;
	CREATE INDEX few_fp ON few USING simhash (fp);
	CREATE TABLE checked AS TABLE randoms;
	CREATE INDEX checked_fp ON checked USING simhash (fp);
	VACUUM ANALYZE;

	CREATE ROLE plain LOGIN;
	CREATE ROLE watcher;
	GRANT pg_read_all_stats TO watcher;
	GRANT SELECT ON equal, randoms, groups, many TO plain;

	-- the session that the test is about
	CREATE VIEW victim AS SELECT * FROM pg_stat_activity WHERE application_name = 'victim' AND backend_type = 'client backend';

	-- Wait until a query returns true.
	CREATE FUNCTION wait_for(query text) RETURNS boolean LANGUAGE plpgsql AS $$
	DECLARE
		deadline timestamptz := clock_timestamp() + current_setting('test.timeout')::interval;
		reached boolean;
	BEGIN
		WHILE clock_timestamp() < deadline LOOP
			PERFORM pg_stat_clear_snapshot();
			EXECUTE query INTO reached;
			IF reached THEN
				RETURN true;
			END IF;
			PERFORM pg_sleep(0.001);
		END LOOP;
		RETURN false;
	END $$;

	-- Wait until a query returns a number that is greater than the one the time before.
	CREATE FUNCTION wait_for_growth(query text) RETURNS boolean LANGUAGE plpgsql AS $$
	DECLARE
		deadline timestamptz := clock_timestamp() + current_setting('test.timeout')::interval;
		number bigint;
		last bigint;
	BEGIN
		WHILE clock_timestamp() < deadline LOOP
			PERFORM pg_stat_clear_snapshot();
			EXECUTE query INTO number;
			IF number > last THEN
				RETURN true;
			END IF;
			last := number;
			PERFORM pg_sleep(0.001);
		END LOOP;
		RETURN false;
	END $$;
});

# Start a statement in a session of its own.  Further arguments are parts of the
# connection string.
sub start_victim
{
	my ($statement, @connection) = @_;
	my %victim = (out => '', err => '');
	$victim{handle} = IPC::Run::start(
		victim_command($node, $statement, @connection),
		'>', \$victim{out}, '2>', \$victim{err},
		IPC::Run::timeout($PostgreSQL::Test::Utils::timeout_default));
	return \%victim;
}

sub reached
{
	my ($query) = @_;
	return $node->safe_psql('postgres', "SELECT wait_for(\$wait\$$query\$wait\$)") eq 't';
}

# A terminated session may still be cleaning up when its client is gone.
sub nothing_is_left
{
	my ($what) = @_;
	ok( reached('SELECT (SELECT count(*) FROM pg_ls_tmpdir()) + (SELECT count(*) FROM simhash_stat_progress) = 0'),
		"$what: no temporary files and no progress are left");
	ok( reached(
			q{SELECT count(*) = 0 FROM pg_locks WHERE pid <> pg_backend_pid() AND relation IN
				(SELECT oid FROM pg_class WHERE relname ~ '^(equal|randoms|groups|many)')}),
		"$what: no locks are left");
	return;
}

# What would go on for hours.  A search that would end is started again and again.
sub for_ever
{
	my ($function, $index, $distance) = @_;
	return "SELECT count(*) FROM generate_series(1, 1000000) g, "
	  . "LATERAL $function(CASE WHEN g > 0 THEN '$index'::regclass END, $distance)";
}
my %search = (
	'all pairs of equal ones' => "SELECT count(*) FROM simhash_find_all('equal_fp')",
	'all pairs of groups of equal ones' => for_ever('simhash_find_all', 'groups_fp', 3),
	'all pairs at all' => "SELECT count(*) FROM simhash_find_all('randoms_fp', 64)",
	'all pairs at all of an array' =>
	  'SELECT count(*) FROM simhash_find_all_in(ARRAY(SELECT fp FROM randoms), 64)',
	'pairs at a distance that few have' => for_ever('simhash_find_all', 'randoms_fp', 16),
	'pairs in several tables' => for_ever('simhash_find_all', 'many_fp', 3),
	'clusters at all' => "SELECT count(*) FROM simhash_find_clusters('randoms_fp', 64)",
	'clusters at all of an array' =>
	  'SELECT count(*) FROM simhash_find_clusters_in(ARRAY(SELECT fp FROM randoms), 64)',
	'clusters of equal ones' => for_ever('simhash_find_clusters', 'equal_fp', 3),
	'clusters at a distance that few have' => for_ever('simhash_find_clusters', 'randoms_fp', 16),
	'clusters in several tables' => for_ever('simhash_find_clusters', 'many_fp', 3),
	'duplicates at all' => "SELECT count(*) FROM simhash_find_duplicates('randoms_fp', 64)",
	'duplicates of equal ones' => for_ever('simhash_find_duplicates', 'equal_fp', "3, keep => 'fp, ctid DESC'"),
	'matches at all' => "SELECT count(*) FROM simhash_find_matches('randoms_fp', 'many_fp', 64)",
	'matches of equal ones' => "SELECT count(*) FROM simhash_find_matches('equal_fp', 'equal_too')",
	'matches in several tables' => for_ever('simhash_find_matches', 'randoms_fp', "'groups_fp', 3"),
	'matches of an array' =>
	  "SELECT count(*) FROM simhash_find_matches_in('many_fp', ARRAY(SELECT fp FROM randoms), 64)");

# Stop a statement when it is seen in a state.
sub stop_when
{
	my ($what, $statement, $how, $state, @connection) = @_;
	my $victim = start_victim($statement, @connection);
	ok(reached("SELECT pg_${how}_backend(pid) FROM victim JOIN simhash_stat_progress p USING (pid) WHERE $state"),
		"$what: it is seen");
	$victim->{handle}->finish;
	like($victim->{err}, $how eq 'cancel' ? qr/57014/ : qr/57P01/, "$what: it is stopped, $how");
	nothing_is_left("$what, $how");
	return;
}

# What is not cancelled promptly runs into the timeout of start_victim.
stop_when($_, $search{$_}, 'cancel', "phase = 'comparing' AND entries_done + found > 0") foreach sort keys %search;

# Cancel in each phase.  Entries are sorted where there is no room for all of them.
my %phases = (
	simhash_find_all => [ 'reading entries to sort', 'comparing' ],
	simhash_find_clusters => [ 'reading entries to sort', 'comparing', 'returning clusters' ],
	simhash_find_duplicates => [ 'reading entries to sort', 'comparing', 'ordering rows', 'returning duplicates' ],
	simhash_find_matches => [ 'reading entries to sort', 'comparing' ]);
my %further = (simhash_find_duplicates => "5, keep => 'fp, ctid DESC'", simhash_find_matches => "'many_fp', 5");
foreach my $function (sort keys %phases)
{
	my $index = $function eq 'simhash_find_all' ? 'many_fp' : 'groups_fp';
	stop_when("$function $_", for_ever($function, $index, $further{$function} // 5), 'cancel',
		"command = '$function' AND phase = '$_' AND entries_done > 0", "options='-c maintenance_work_mem=1MB'")
	  foreach @{ $phases{$function} };
}

# The same in the phases of a search for components, of pairs in an array
$node->safe_psql('postgres',
	'CREATE TABLE joined AS SELECT array_agg(i) AS a, array_agg(i + 1) AS b FROM generate_series(1, 400000) i');
my %components = ('joining pairs' => 400000, 'returning components' => 400001);
stop_when("simhash_components $_", 'SELECT count(*) FROM generate_series(1, 1000000) g, joined,
		LATERAL simhash_components(CASE WHEN g > 0 THEN a END, b)', 'cancel',
	"phase = '$_' AND entries_done > 0 AND entries_done < entries_total
		AND command = 'simhash_components' AND p.relid IS NULL AND entries_total = $components{$_}")
  foreach sort keys %components;

stop_when($_, $search{$_}, 'terminate', 'true')
  foreach 'all pairs of equal ones', 'all pairs at all', 'clusters at all', 'clusters of equal ones';

# After an error the session goes on, as the user that it was, and without locks.
my ($status, $stdout, $stderr) = $node->psql('postgres', q{
	SET ROLE plain;
	BEGIN;
	SAVEPOINT s;
	SET LOCAL statement_timeout = '300ms';
	SELECT count(*) FROM simhash_find_all('equal_fp');
	ROLLBACK TO s;
	SELECT current_user, current_setting('search_path'),
		(SELECT count(*) FROM pg_locks WHERE relation IN ('equal'::regclass, 'equal_fp'::regclass)),
		(SELECT count(*) FROM simhash_stat_progress);
	SELECT count(*), min(cluster), min(size), max(size) FROM simhash_find_clusters('equal_fp');
	SELECT current_user, current_setting('search_path'),
		(SELECT count(*) FROM simhash_stat_progress);
	COMMIT;
}, on_error_stop => 0);
is($stdout, qq{plain|"\$user", public|0|0\n60000|1|60000|60000\nplain|"\$user", public|0},
	'a session goes on after a cancelled search');
like($stderr, qr/canceling statement due to statement timeout/, 'which was cancelled');

# Progress, as others see it
my $watched = 'FROM simhash_stat_progress JOIN victim USING (pid, datid, datname)';
sub grows
{
	my ($number) = @_;
	return $node->safe_psql('postgres', "SELECT wait_for_growth('SELECT $number $watched')") eq 't';
}

sub cancel
{
	my ($victim, $what) = @_;
	$node->safe_psql('postgres', 'SELECT pg_cancel_backend(pid) FROM victim');
	$victim->{handle}->finish;
	like($victim->{err}, qr/57014/, "$what, until it is cancelled");
	return;
}

my $victim = start_victim($search{'all pairs of groups of equal ones'});
ok( reached(
		"SELECT relid = 'groups'::regclass AND indexrelid = 'groups_fp'::regclass AND command = 'simhash_find_all'
			AND phase = 'comparing' AND tables_total = 4 AND tables_done < 4 AND entries_total >= 120000
			AND entries_done > 0 AND datname = 'postgres' $watched"),
	'progress of a search');
ok(grows('entries_done'), 'entries are counted');
cancel($victim, 'it goes on');

# one that takes minutes, and no space on disk
$victim = start_victim($search{'clusters at all'}, 'user=plain');
ok(reached("SELECT relid = 'randoms'::regclass AND indexrelid = 'randoms_fp'::regclass
			AND command = 'simhash_find_clusters'
			AND phase = 'comparing' AND found > 0 $watched"),
	'progress of clusters');
ok(grows('found'), 'pairs are counted');
is($node->safe_psql('postgres', q{
		SET ROLE watcher;
		SELECT count(*), count(datname), count(relid), count(indexrelid), count(command), count(phase),
			count(tables_total),
			count(tables_done), count(entries_done), count(found) FROM simhash_stat_progress}),
	'1|1|1|1|1|1|1|1|1|1', 'a role with the privileges of pg_read_all_stats sees all');
is($node->safe_psql('postgres', q{
		SET ROLE plain;
		SELECT count(*), count(relid) FROM simhash_stat_progress}), '1|1', 'the role that searches sees all');
my $pid = $node->safe_psql('postgres', 'SELECT pid FROM victim');
is($node->safe_psql('postgres', q{
		CREATE ROLE stranger;
		SET ROLE stranger;
		SELECT pid, datid = (SELECT oid FROM pg_database WHERE datname = current_database()), datname,
			num_nulls(relid, indexrelid, command, phase, tables_total, tables_done, entries_total, entries_done, found)
		FROM simhash_stat_progress}), "$pid|t|postgres|9", 'any other role sees where it runs, and no more');
is($node->safe_psql('postgres', q{
		CREATE FUNCTION shown_by_server(pid integer) RETURNS text LANGUAGE plpgsql AS $$
		DECLARE
			view text;
			shown integer;
			views integer := 0;
			wrong text := '';
		BEGIN
			FOR view IN SELECT viewname FROM pg_views
				WHERE schemaname = 'pg_catalog' AND viewname ~ '^pg_stat_progress_' LOOP
				EXECUTE format('SELECT count(*) FROM %I WHERE pid = $1', view) INTO shown USING pid;
				views := views + 1;
				IF shown > 0 THEN
					wrong := wrong || ' ' || view;
				END IF;
			END LOOP;
			-- all of it from one look at the other sessions
			SELECT count(*) INTO shown FROM simhash_stat_progress p WHERE p.pid = $1;
			RETURN (views > 4) || ' ' || shown || wrong;
		END $$;
		SELECT shown_by_server(pid) FROM victim}), 'true 1', 'no view of the server shows a search');
cancel($victim, 'it goes on');

$victim = start_victim($search{'clusters in several tables'});
ok( reached(
		"SELECT command = 'simhash_find_clusters' AND indexrelid = 'many_fp'::regclass AND tables_total = 4
			AND tables_done > 0 AND entries_done > 0 $watched"),
	'progress of clusters in several tables');
ok(grows('tables_done'), 'tables are counted');
cancel($victim, 'it goes on');

$victim = start_victim($search{'all pairs at all of an array'});
ok( reached(
		"SELECT command = 'simhash_find_all' AND relid IS NULL AND indexrelid IS NULL AND phase = 'comparing'
			AND tables_total = 1 AND entries_total = 60000 AND found > 0 $watched"),
	'progress of a search of an array');
# all of them are one group, in which each is compared with each
ok(reached("SELECT entries_done BETWEEN 1 AND 59999 AND tables_done = 0 $watched"), 'within the only table');
ok(grows('entries_done'), 'it grows');
cancel($victim, 'it goes on');

# Both sides are sorted in one phase, and each walk counts all entries, whether they are
# read or skipped: the totals stay what they are.
$victim = start_victim(for_ever('simhash_find_matches', 'groups_fp', "'many_fp', 5"),
	"options='-c maintenance_work_mem=1MB'");
ok(reached("SELECT phase = 'reading entries to sort' AND entries_total = 180000 AND entries_done > 120000 $watched"),
	'the sort of two sides is one phase');
ok( reached(
		"SELECT phase = 'comparing' AND tables_total = 6 AND tables_done > 1 AND entries_total = 6 * 180000
			AND entries_done BETWEEN tables_done * 180000 AND (tables_done + 1) * 180000 $watched"),
	'all entries of a table are done with it');
cancel($victim, 'it goes on');
$victim = start_victim(for_ever('simhash_find_matches', 'few_fp', "'many_fp', 3"));
ok(reached("SELECT tables_total = 4 AND tables_done > 1 AND entries_total = 4 * 60100
			AND entries_done >= tables_done * 60100 $watched"),
	'also those that are skipped');
cancel($victim, 'it goes on');

# pairs count when they are found, not when their rows have been looked up
$victim = start_victim(for_ever('simhash_find_all', 'many_fp', 3));
ok(reached("SELECT phase = 'comparing' AND tables_done = 1 AND found > 0 $watched"), 'pairs are counted at once');
cancel($victim, 'it goes on');

# A check of an index, beside one who inserts, so that its tables are read with
# different rows in them
$victim = start_victim(for_ever('simhash_index_check', 'checked_fp', 'true'));
ok( reached(
		"SELECT relid = 'checked'::regclass AND indexrelid = 'checked_fp'::regclass AND command = 'simhash_index_check'
			AND phase = 'checking tables' AND tables_total = 4 AND tables_done BETWEEN 1 AND 3
			AND entries_total = 4 * 60000 AND entries_done BETWEEN tables_done * 60000 AND (tables_done + 1) * 60000
			AND found IS NULL $watched"),
	'progress of a check');
ok(reached("SELECT phase = 'looking up rows' AND tables_done = 4 AND entries_total = 60000
			AND entries_done BETWEEN 1 AND 59999 $watched"),
	'as it looks up the rows of the table');
my $inserts = IPC::Run::start(
	[
		'psql', '-X', '-q', '-c', 'INSERT INTO checked SELECT i, random_bits() FROM generate_series(1, 100000000) i',
		'-d', $node->connstr('postgres') . ' application_name=inserts'
	],
	'2>', \my $inserts_error);
ok(reached("SELECT phase = 'comparing tables' AND tables_done = 4 AND entries_total >= 2 * 60000
			AND entries_done BETWEEN 1 AND entries_total $watched"),
	'as it compares the tables');
$node->safe_psql('postgres',
	"SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'inserts'");
$inserts->finish;
cancel($victim, 'it goes on');

# a search within another one: only the outer one is shown, and nothing afterwards
is($node->safe_psql('postgres', q{
		CREATE FUNCTION search_and_look(id integer) RETURNS integer LANGUAGE plpgsql STABLE AS $$
		DECLARE
			shown text;
		BEGIN
			PERFORM count(*) FROM simhash_find_all('few_fp');
			PERFORM pg_stat_clear_snapshot();
			SELECT command || ' ' || phase INTO shown FROM simhash_stat_progress;
			IF shown IS DISTINCT FROM 'simhash_find_duplicates ordering rows' THEN
				RAISE EXCEPTION 'shown is %', shown;
			END IF;
			RETURN id;
		END $$;
		SELECT count(*) > 0 FROM simhash_find_duplicates('few_fp', 64, keep => 'search_and_look(id)');
		SELECT count(*) FROM simhash_stat_progress}),
	"t\n0", 'of a search within another one, only the outer one is shown');

# COPY reports its own progress, which a search within it must not disturb: not when
# it begins, and not when it ends.
$victim = start_victim(
	q{COPY (SELECT p.* FROM generate_series(1, 1000000) g, LATERAL simhash_find_all(CASE
		WHEN g > 0 THEN 'many_fp'::regclass END) p) TO '/dev/null'});
is($node->safe_psql('postgres', q{
		CREATE FUNCTION watch_copy(victim_pid integer, rows bigint) RETURNS text LANGUAGE plpgsql AS $$
		DECLARE
			deadline timestamptz := clock_timestamp() + current_setting('test.timeout')::interval;
			started boolean := false;
			seen record;
			searches integer := 0;
		BEGIN
			WHILE clock_timestamp() < deadline LOOP
				PERFORM pg_stat_clear_snapshot();
				SELECT command, type, tuples_processed INTO seen FROM pg_stat_progress_copy WHERE pid = victim_pid;
				started := started OR FOUND;
				IF started AND NOT FOUND THEN
					RETURN 'the COPY is no longer shown';
				END IF;
				searches := searches + (SELECT count(*) FROM simhash_stat_progress WHERE pid = victim_pid);
				IF seen.tuples_processed > rows THEN
					RETURN seen.command || ' ' || seen.type || ' ' || searches;
				END IF;
				PERFORM pg_sleep(0.001);
			END LOOP;
			RETURN 'the COPY does not get on';
		END $$;
		-- before the view is read, which has no row until the victim has connected
		DO $$ BEGIN PERFORM wait_for('SELECT count(*) = 1 FROM pg_stat_progress_copy'); END $$;
		SELECT watch_copy(pid, (SELECT 5 * count(*) FROM simhash_find_all('many_fp'))) FROM victim}),
	'COPY TO FILE 0', 'within COPY, its progress is shown and not that of the searches');
cancel($victim, 'the COPY goes on');
nothing_is_left('COPY');

# a session that wants not to be watched
$victim = start_victim($search{'clusters at all'}, "options='-c track_activities=off'");
ok(reached("SELECT count(*) > 0 FROM pg_locks JOIN victim USING (pid)
			WHERE relation = 'randoms_fp'::regclass AND granted"),
	'a search without track_activities');
is($node->safe_psql('postgres', 'SELECT count(*) FROM simhash_stat_progress'), '0', 'is not shown');
cancel($victim, 'it goes on');

# In a shell: numbers in, a line each; JSON arrays out.
my $dir = PostgreSQL::Test::Utils::tempdir;
my $numbers = "$dir/hashes.txt";
append_to_file($numbers, join "\n", qw(0 1 3 18446744073709551615 18446744073709551614 9223372036854775808
	9223372036854775815 1 81985529216486895 5000000000000000000), '');
local @ENV{ 'PGHOST', 'PGPORT', 'PGDATABASE' } = ($node->host, $node->port, 'postgres');
sub pipeline
{
	my ($statement) = @_;
	my ($out, $err);
	my $result = IPC::Run::run(
		[
			'sh', '-c',
			q{psql -XqAt -c 'CREATE TEMP TABLE h (fp simhash)' -c '\copy h FROM pstdin' }
			  . "-c '$statement' <\"\$1\"", 'sh', $numbers
		],
		'>', \$out, '2>', \$err);
	is($err, '', 'the pipeline says nothing else');
	ok($result, 'the pipeline succeeds');
	return join "\n", sort split /\n/, $out;
}
is( pipeline('SELECT json_build_array(a::numeric, b::numeric) FROM simhash_find_all_in(ARRAY(SELECT fp FROM h), 3, 6)'),
	join("\n", sort
		'[0, 1]', '[0, 3]', '[1, 3]', '[0, 9223372036854775808]', '[1, 9223372036854775808]',
		'[3, 9223372036854775808]', '[1, 9223372036854775815]', '[3, 9223372036854775815]',
		'[9223372036854775808, 9223372036854775815]', '[18446744073709551614, 18446744073709551615]'),
	'pairs as JSON arrays');
is( pipeline('SELECT json_agg(fp::numeric ORDER BY fp) FROM simhash_find_clusters_in(ARRAY(SELECT fp FROM h), 3, 6)
	GROUP BY cluster'),
	join("\n", sort
		'[0, 1, 3, 9223372036854775808, 9223372036854775815]',
		'[18446744073709551614, 18446744073709551615]'),
	'clusters as JSON arrays');
my $clusters =
  pipeline('SELECT json_agg(fp::numeric) FROM simhash_find_clusters_in(ARRAY(SELECT fp FROM h), 3, 6) GROUP BY cluster');
like($clusters, qr/^(\[\d+(, \d+)+\]\n?){2}$/, 'clusters as JSON arrays, in any order');
is($node->safe_psql('postgres', join ' UNION ALL ', map { "SELECT json_typeof('$_'), json_array_length('$_')" }
		  sort { length $b <=> length $a } split /\n/, $clusters),
	"array|5\narray|2", 'which the server can parse');
append_to_file($numbers, "18446744073709551616\n");
command_fails_like(
	[ 'sh', '-c', q{psql -XqAt -v ON_ERROR_STOP=1 -c 'CREATE TEMP TABLE h (fp simhash)' -c '\copy h FROM pstdin' <"$1"},
		'sh', $numbers ],
	qr/"18446744073709551616"/, 'a number that is too large is refused');

# temp_file_limit: the result, the members of clusters, and what is sorted
foreach my $statement (
	"SELECT count(*) FROM simhash_find_all('groups_fp')",
	"SELECT count(*) FROM simhash_find_clusters('groups_fp')",
	"SET maintenance_work_mem = '1MB'; SELECT count(*) FROM simhash_find_all('groups_fp', 5)",
	"SET maintenance_work_mem = '1MB'; SELECT count(*) FROM simhash_find_clusters('groups_fp', 5)",
	"SET maintenance_work_mem = '1MB'; SELECT count(*) FROM simhash_find_all_in(ARRAY(SELECT fp FROM randoms), 3)",
	"SELECT count(*) FROM simhash_find_all_in(ARRAY(SELECT fp FROM randoms), 64)",
	"SELECT count(*) FROM simhash_find_matches('equal_fp', 'equal_too')",
	"SET maintenance_work_mem = '1MB'; SELECT count(*) FROM simhash_find_matches('randoms_fp', 'many_fp', 5)")
{
	($status, $stdout, $stderr) = $node->psql('postgres',
		"SET work_mem = '64kB'; SET temp_file_limit = '1MB'; $statement",
		extra_params => [ '-v', 'VERBOSITY=verbose' ]);
	like($stderr, qr/53400: temporary file size exceeds "?temp_file_limit/, "temp_file_limit: $statement");
	nothing_is_left("temp_file_limit: $statement");
}

# A walk ends when one side does; what it leaves unread on disk goes before the next.
is($node->safe_psql('postgres', q{
	CREATE TABLE grouped AS SELECT id % 50 AS g, fp FROM randoms;
	CREATE INDEX grouped_fp ON grouped USING simhash (g, fp);
	CREATE INDEX one_fp ON grouped USING simhash (g, fp) WHERE g = 7;
	SET maintenance_work_mem = '1MB'; SET temp_file_limit = '5MB';
	SELECT count(*) FROM simhash_find_matches('one_fp', 'grouped_fp', 5)}), '1200', 'a side that is far longer');

# nothing of all this is in the way
is($node->safe_psql('postgres', "SELECT count(*), count(DISTINCT cluster), min(size)
	FROM simhash_find_clusters('groups_fp')"),
	'120000|300|400', 'searches work as before');
is_sound($node, 'afterwards', 'equal_fp', 'randoms_fp', 'groups_fp', 'many_fp');
$node->safe_psql('postgres', "SET lock_timeout = '${PostgreSQL::Test::Utils::timeout_default}s'; DROP TABLE equal, randoms, groups, many");
is(join(' ', grep { !/^\.\.?$/ } map { slurp_dir($_) } grep { -d $_ } $node->data_dir . '/base/pgsql_tmp'),
	'', 'the directory of temporary files is empty');
$node->stop;
done_testing();
