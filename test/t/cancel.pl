# Long scans and builds stop when they are told to, and leave nothing behind.

use lib 'test/t';
use SimhashTest;
use Time::HiRes qw(usleep);

my $node = start_node('cancel', [], 'maintenance_work_mem = 8MB', 'max_wal_size = 2GB');
$node->safe_psql('postgres', q{
	CREATE TABLE a (id integer, fp simhash);
	INSERT INTO a SELECT row_number() OVER (), h FROM make_fingerprints(200000, 0.2) h;
	INSERT INTO a SELECT 200000 + i, 0 FROM generate_series(1, 100000) i;
	INSERT INTO radii VALUES (0), (3), (8);
	INSERT INTO query SELECT id, fp FROM a WHERE id <= 10;
	CREATE INDEX a_fp ON a USING simhash (fp);
});

# Run a statement and poll with a query that cancels the backend named
# "victim" and then returns something.  Gives back what the query returned and
# the error of the statement; both are '' if the statement ended first.
sub cancelled
{
	my ($statement, $poll) = @_;
	my ($out, $err) = ('', '');
	my $psql = IPC::Run::start(victim_command($node, $statement), '>', \$out, '2>', \$err,
		IPC::Run::timer($PostgreSQL::Test::Utils::timeout_default));
	my $what = '';
	while ($what eq '' and $psql->pumpable)
	{
		$psql->pump_nb;
		$what = $node->safe_psql('postgres', $poll);
		$what =~ s/\n//g;
		usleep(5_000);
	}
	$psql->finish;
	return ($what, $err);
}

# Scans that would take days: all rows, for each row.
foreach my $form ('indexscan', 'bitmapscan')
{
	foreach my $radius (3, 40, 64)
	{
		my ($what, $err) = cancelled(
			"SET enable_seqscan = off; SET enable_$form = off; SET enable_material = off; "
			  . "SELECT count(*) FROM a x JOIN a y ON x.fp <~> y.fp <= $radius JOIN a z ON z.fp <~> x.fp <= $radius",
			"SELECT CASE WHEN application_name = 'victim' AND state = 'active' AND query LIKE '%<~>%'
				THEN nullif(pg_cancel_backend(pid), false) END FROM pg_stat_activity");
		like($err, qr/57014/, "a join of radius $radius without $form is cancelled");
	}
}

# A scan that meets the same rows again and again before it returns one: 100,000 rows lie
# in each of 2,000 balls.
{
	my ($what, $err) = cancelled(
		"SET enable_seqscan = off; SELECT count(*) FROM a WHERE fp % ANY (ARRAY(
			SELECT (1::bigint << i | 1::bigint << j)::simhash FROM generate_series(0, 62) i, generate_series(0, i) j))",
		"SELECT CASE WHEN application_name = 'victim' AND state = 'active' AND query LIKE '%ANY%'
			THEN nullif(pg_cancel_backend(pid), false) END FROM pg_stat_activity");
	like($err, qr/57014/, 'a scan of balls that have all rows in common is cancelled');
}
is_exact($node, 'after cancelled scans', 'a', 'a_fp');

# Builds: cancel in a phase that no earlier try was cancelled in, until a build
# runs through because there is no further one.  A build may also win the
# race, so the first success is not the end.
my %phase;
my $tries = 0;
while ($tries++ < 20)
{
	my $known = join ', ', map { "'$_'" } '', keys %phase;
	my ($what, $err) = cancelled(
		'CREATE INDEX a_many ON a USING simhash (fp) WITH (blocks = 8, distance = 3)',
		"SELECT CASE WHEN p.phase NOT IN ($known) AND a.application_name = 'victim' THEN
				CASE WHEN pg_cancel_backend(pid) THEN p.phase END END
		 FROM pg_stat_progress_create_index p JOIN pg_stat_activity a USING (pid)");
	$phase{$what} = 1 if $what ne '';
	if ($err eq '')
	{
		$node->safe_psql('postgres', 'DROP INDEX a_many');
		last if %phase;
		next;
	}
	like($err, qr/57014/, "a build is cancelled in phase: $what");
	is($node->safe_psql('postgres', "SELECT to_regclass('a_many') IS NULL"),
		't', 'the cancelled index does not exist');
}
cmp_ok(scalar(keys %phase), '>', 0, 'some build was cancelled');
# A function that cancels a backend p among some, and returns what a progress view showed of
# it when the signal was sent, and last; null if there was none.
sub make_canceller
{
	my ($name, $victims, $progress) = @_;
	$node->safe_psql('postgres', qq{
		CREATE OR REPLACE FUNCTION $name(OUT at_signal bigint, OUT at_end bigint) LANGUAGE plpgsql AS \$\$
		DECLARE
			victim integer;
			now bigint;
		BEGIN
			SELECT p.pid INTO victim FROM $victims AND pg_cancel_backend(p.pid);
			WHILE victim IS NOT NULL LOOP
				PERFORM pg_stat_clear_snapshot();
				SELECT $progress AND p.pid = victim INTO now;
				EXIT WHEN now IS NULL;
				at_signal := coalesce(at_signal, now);
				at_end := now;
			END LOOP;
			IF victim IS NOT NULL THEN	-- it may have ended at once
				at_signal := coalesce(at_signal, 0);
				at_end := coalesce(at_end, at_signal);
			END IF;
		END
		\$\$});
	return;
}

# A build stops while it writes a table, not at the end of it.  Once the signal
# has been sent, the build can write a few more pages before it looks.  The
# progress view shows every 64 pages, so the last that is seen of it may be that
# much further; but not most of a table.  On a busy machine a table may be written
# before anybody looks: then there are twice as many rows.
$node->safe_psql('postgres', 'CREATE TABLE w (fp simhash)');
my $nrows = 300_000;
while (1)
{
	$node->safe_psql('postgres',
		"INSERT INTO w SELECT simhash_compute(i::text) FROM generate_series(1, $nrows) i");
	$nrows = $node->safe_psql('postgres', 'SELECT count(*) FROM w');
	my $half = $nrows / 2;
	make_canceller('cancel_writing',
		"pg_stat_progress_create_index p JOIN pg_stat_activity a USING (pid)
			WHERE a.application_name = 'victim' AND p.tuples_done BETWEEN 1 AND $half
				AND p.phase LIKE '%writing tables'",
		q{tuples_done FROM pg_stat_progress_create_index p WHERE p.phase LIKE '%writing tables'});
	my ($progress, $err) = cancelled(
		'CREATE INDEX w_two ON w USING simhash (fp) WITH (blocks = 2, distance = 1)',
		q{SELECT at_signal || ' ' || at_end FROM cancel_writing()});
	if ($progress =~ /^(\d+) (\d+)$/ and $1 <= $half)
	{
		like($err, qr/57014/, "a build is cancelled while it writes a table of $nrows rows");
		cmp_ok($2 - $1, '<=', $nrows / 3, 'and at once');
		last;
	}
	if ($nrows > 10_000_000)
	{
		fail('a build is cancelled while it writes a table');
		last;
	}
	$node->safe_psql('postgres', 'DROP INDEX IF EXISTS w_two');
}
is($node->safe_psql('postgres', 'SELECT count(*) FROM pg_ls_tmpdir()'), '0', 'no temporary files are left');

# A search for pairs stops even where each comparison finds one, not when the 64
# keys that are compared together have met all others: that would be up to 4
# million pairs.
make_canceller('cancel_pairs',
	q{simhash_stat_progress p JOIN pg_stat_activity a USING (pid) WHERE a.application_name = 'victim' AND p.found > 0},
	q{p.found FROM simhash_stat_progress p WHERE true});
foreach my $try (1 .. 4)
{
	my ($progress, $err) = cancelled(
		'SELECT count(*) FROM simhash_find_clusters_in(ARRAY(SELECT i::bigint::simhash
			FROM generate_series(1, 60000) i), 20)',
		q{SELECT at_signal || ' ' || at_end FROM cancel_pairs()});
	like($err, qr/57014/, 'a search for clusters is cancelled');
	like($progress, qr/^\d+ \d+$/, 'while it finds pairs');
	my ($at_signal, $at_end) = split / /, $progress;
	cmp_ok($at_end - $at_signal, '<=', 400000, 'and at once');
}

# VACUUM, as it goes through an index: there it stops after each page that it has changed,
# of which there are many more than in the table.
$node->safe_psql('postgres', q{
	CREATE TABLE v (id integer, fp simhash);
	INSERT INTO v SELECT row_number() OVER (), h FROM make_fingerprints(20000, 0.2) h;
	CREATE INDEX v_fp ON v USING simhash (fp) WITH (fillfactor = 10);
	DELETE FROM v WHERE id % 3 = 0;
});
{
	local $ENV{PGOPTIONS} = join ' ', map { "-c vacuum_cost_$_" }
	  qw(page_hit=0 page_miss=0 page_dirty=20 limit=20 delay=20);
	my ($phase, $err) = cancelled(
		'VACUUM v',
		"SELECT CASE WHEN p.phase = 'vacuuming indexes' AND a.application_name = 'victim'
				AND a.wait_event = 'VacuumDelay' THEN CASE WHEN pg_cancel_backend(pid) THEN p.phase END END
		 FROM pg_stat_progress_vacuum p JOIN pg_stat_activity a USING (pid)");
	is($phase, 'vacuuming indexes', 'a vacuum is cancelled in an index');
	like($err, qr/57014/, 'and stops');
}
is_sound($node, 'after a cancelled vacuum', 'v_fp');
is_exact($node, 'after a cancelled vacuum', 'v', 'v_fp');
$node->safe_psql('postgres', 'VACUUM v');
is_sound($node, 'after a vacuum', 'v_fp');
is_exact($node, 'after a vacuum', 'v', 'v_fp');
is_sound($node, 'after what was cancelled', 'a_fp');
$node->stop;
done_testing();
