# Operation of rows on several shards, by postgres_fdw, with the statements of examples/shards:
# shards that are down or hang, rows and block rows out of step, changes of documents and
# tables, another shard, another distance.

use lib 'test/t';
use DistributedTest;
use SimhashTest;

my ($coordinator, @shards) = make_machines(4);
my $new_shard = pop @shards;
my @nodes = ($coordinator, @shards);
my $random = random_fp();

sub error_of
{
	my ($sql, @params) = @_;
	my ($code, $stdout, $stderr) =
	  $coordinator->psql($database, $sql, on_error_stop => 1, extra_params => [@params]);
	isnt($code, 0, 'there is an error') or diag($sql);
	return $stderr;
}

# The examples, but for what is added at the end, a shard and a column
coordinate("CREATE TABLE texts (id bigint PRIMARY KEY, body text);
	INSERT INTO texts SELECT i, concat_ws(' ', i, sqrt(i), i * i) FROM generate_series(1, 1000) i");
my ($close, $connect, $copy, $switch, $delete, $open, @others) = parts_of('fdw_add_shard');
is(scalar(@others), 0, 'all steps to add a shard are known');
my @add_column = parts_of('fdw_add_column');
my @parts = (jobs(), parts_of('fdw_backup', 'take_back', 'fdw_check_shard', 'fdw_check', 'check', 'repair', 'find_block_row'));
run_part(\@nodes, $_) foreach @parts;
check_step('the examples');
cmp_ok(coordinate('SELECT count(*) FROM docs'), '>', 500, 'there are documents');

#
# Loads
#

my $last = 1_000_000;

sub fill_staging
{
	my ($select) = @_;
	coordinate("TRUNCATE staging; INSERT INTO staging $select");
	return;
}

# Documents that are near nothing, with new ids, to be loaded
sub fill_with_new
{
	fill_staging("SELECT $last + i, 'new ' || i, $random FROM generate_series(1, 300) i");
	$last += 300;
	return;
}

sub loaded
{
	my ($what) = @_;
	check_step($what);
	is(coordinate('SELECT count(*) FROM docs JOIN staging USING (id)'), '300', "$what: all of it is there");
	return;
}

# What the shards have, each by itself
sub rows_of_shards
{
	return join ' ', map { $_->safe_psql($database,
		'SELECT (SELECT count(*) FROM docs) || \'/\' || (SELECT count(*) FROM block_rows)') }
	  grep { $_->{_pid} } @shards;
}

# Are the sums equal?
my ($in_step) = one_of('AS in_step FROM shard_state') =~ /^(SELECT .* AS in_step FROM shard_state;)/m;

# What the examples do about all that is out of step
sub repair
{
	my ($what) = @_;
	run_part(\@nodes, $_) foreach one_of('CREATE TABLE repair'), (one_of('DELETE FROM docs WHERE id + 0')) x 2;
	is(run_part(\@nodes, one_of('TABLE repair_docs EXCEPT')), '', "$what: no document is left out");
	run_part(\@nodes, one_of('DROP TABLE repair'));
	check_step("$what: repaired");
	is(coordinate($in_step), 't', "$what: equal sums");
	return;
}

#
# A shard that is down, and one that hangs
#

fill_with_new();
my $before = rows_of_shards();
$shards[1]->stop;
foreach my $sql ('CALL load_staging()', 'SELECT id FROM docs WHERE fp % 0', 'INSERT INTO docs SELECT * FROM staging',
	'SELECT count(*) FROM near_values')
{
	like(error_of($sql), qr/could not connect to server "shard_2"/, "$sql without a shard");
}
$shards[1]->start;
is(rows_of_shards(), $before, 'nothing was half loaded');
coordinate('CALL load_staging()');
loaded('after that');

# Run something while the process of a server that accepts connections is stopped.
sub while_it_hangs
{
	my ($node, $run) = @_;
	kill 'STOP', $node->{_pid};
	my $result = eval { $run->() };
	my $error = $@;
	kill 'CONT', $node->{_pid};
	die $error if $error;
	return $result;
}
my ($of_sessions) = one_of('CREATE SERVER shard_1') =~ /, options '(.*?)'/ or die 'no options of sessions';
# Sooner than in the examples.  From 16 on, connect_timeout is not used.
coordinate("ALTER SERVER shard_2 OPTIONS (SET connect_timeout '2')");
like(while_it_hangs($shards[1], sub { error_of("SET statement_timeout = '4s'; SELECT id FROM docs WHERE fp % 0") }),
	qr/could not connect to server "shard_2".*timeout expired|due to statement timeout/s,
	'a look-up when a shard hangs');
# and later, if this machine is busy
coordinate("ALTER SERVER shard_2 OPTIONS (SET connect_timeout '100')");
isnt(my $shorter = $of_sessions =~ s/\bstatement_timeout=\K\d+\w+/1s/r, $of_sessions, 'the servers limit statements');
coordinate("ALTER SERVER shard_2 OPTIONS (SET options '$shorter')");
$shards[1]->safe_psql($database,
	'CREATE VIEW slow AS SELECT pg_sleep(600)::text AS slept; GRANT SELECT ON slow TO corpus');
coordinate('CREATE FOREIGN TABLE slow (slept text) SERVER shard_2');
like(error_of('SELECT * FROM slow'), qr/canceling statement due to statement timeout/, 'a statement that hangs');
coordinate("ALTER SERVER shard_2 OPTIONS (SET options '$of_sessions')");

#
# Out of step
#

# a shard that is lost in the middle of a load
$shards[2]->safe_psql(
	$database, q{
	CREATE FUNCTION leave() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
	BEGIN
		PERFORM pg_terminate_backend(pg_backend_pid());
		RETURN NULL;
	END $$;
	CREATE TRIGGER leave AFTER INSERT ON docs EXECUTE FUNCTION leave()});
fill_with_new();
$before = rows_of_shards();
error_of('CALL load_staging()');
is(rows_of_shards(), $before, 'nothing was half loaded when the session on a shard ended');

# One that fails at the commit.  Others have committed already if it is not the first, and the
# order is not known; so whichever leaves half a load.
$shards[2]->safe_psql($database, 'DROP TRIGGER leave ON docs');
$_->safe_psql($database, q{
	CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE ''failed at the commit''; END';
	CREATE CONSTRAINT TRIGGER fail AFTER INSERT ON docs DEFERRABLE INITIALLY DEFERRED
		FOR EACH ROW EXECUTE FUNCTION fail();
	ALTER TABLE docs DISABLE TRIGGER fail}) foreach @shards;

sub load_half
{
	$before = rows_of_shards();
	foreach my $shard (@shards)
	{
		$shard->safe_psql($database, 'ALTER TABLE docs ENABLE TRIGGER fail');
		like(error_of('CALL load_staging()'), qr/failed at the commit/, 'a load that a shard does not commit');
		$shard->safe_psql($database, 'ALTER TABLE docs DISABLE TRIGGER fail');
		last if rows_of_shards() ne $before;
	}
	isnt(rows_of_shards(), $before, 'a part of it is there');
	return;
}
load_half();
foreach my $try ('once', 'twice')
{
	like(error_of('CALL load_staging()'), qr/has some of these ids already/, "loaded again $try");
}
is(coordinate('SELECT count(*) FROM staging'), '300', 'what it was is known');
run_part(\@nodes, one_of('DELETE FROM block_rows WHERE id = ANY (ARRAY(SELECT id FROM staging))'));
loaded('taken back and loaded again');

# the same if nobody knows which load it was
fill_with_new();
load_half();
my $there = coordinate('SELECT id FROM docs JOIN staging USING (id)');
isnt($there, '', 'some documents are there');
is(coordinate($in_step), 'f', 'but the sums differ');
repair('half a load');
same_rows(coordinate("SELECT id FROM docs WHERE id > $last - 300"), $there, 'half a load: the documents are kept');
run_part(\@nodes, one_of('DELETE FROM block_rows WHERE id = ANY (ARRAY(SELECT id FROM staging))'));
loaded('half a load, repaired and loaded again');

# block rows whose document was deleted, and then a load
fill_with_new();
coordinate('CALL load_staging()');
my ($deleted, $near) = ($last - 1, $last + 1);
coordinate("DELETE FROM docs WHERE id = $deleted");
fill_staging("SELECT $near, 'near it', (fp::bigint # 1)::simhash FROM block_rows WHERE id = $deleted LIMIT 1");
$last++;
foreach my $try ('once', 'twice')
{
	my ($block, $fp) = error_of('CALL load_staging()') =~
	  /ERROR:  block_rows has a row without its document\nDETAIL: .* existing key \(block, fp\)=\((\d+), (\d+)\)/;

	is(run_part(\@nodes, one_of('block = 264 AND fp = 66') =~ s/264/$block/gr =~ s/\b66\b/$fp/gr), $deleted,
		"the row that rejects a load, $try");
}
is(coordinate('SELECT count(*) FROM staging'), '1', 'the load is still known');
coordinate("DELETE FROM block_rows WHERE id = $deleted; CALL load_staging()");
check_step('a load after that');
is(coordinate("SELECT body FROM docs WHERE id = $near"), 'near it', 'and it is there');

# a shard that is restored to an earlier state
$shards[1]->safe_psql($database,
	'CREATE TABLE old_docs AS TABLE docs; CREATE TABLE old_block_rows AS TABLE block_rows');
fill_with_new();
coordinate('CALL load_staging()');
my $kept = coordinate("SELECT d.id FROM docs d JOIN staging USING (id) WHERE d.tableoid <> 'docs_2'::regclass");
cmp_ok(scalar(split /\n/, $kept), '<', 300, 'the shard has some of the documents');
my $restore = 'TRUNCATE docs, block_rows; INSERT INTO docs TABLE old_docs; INSERT INTO block_rows TABLE old_block_rows';
my ($code, $stdout, $stderr) = $shards[1]->psql($database, $restore);
like($stderr, qr/this shard has "layout 1", but what writes to it has "[\w.]+"\n.*set application_name/, 'a session of the shard itself');
$shards[1]->safe_psql($database, "SET application_name = 'layout 1'; $restore");
isnt(coordinate('SELECT count(*) FROM out_of_step'), '0', 'an earlier state of one shard is out of step');
repair('an earlier state');
same_rows(coordinate("SELECT id FROM docs WHERE id > $last - 300"), $kept, 'an earlier state: the others are kept');

# rows on a shard to which they do not belong: all that one has, on another
$before = coordinate('SELECT * FROM docs');
my @placed = map { coordinate("SELECT id, block, '$_' FROM $_" =~ s/block, '(?=docs)/NULL, '/r) =~ s/_1$/_2/gmr }
  'docs_1', 'block_rows_1';
coordinate('INSERT INTO docs_2 TABLE docs_1; DELETE FROM docs_1;
	INSERT INTO block_rows_2 TABLE block_rows_1; DELETE FROM block_rows_1');
is(coordinate('SELECT count(*) FROM out_of_step'), '0', 'rows and block rows of another shard are in step');
same_rows(coordinate('SELECT * FROM misplaced'), join("\n", @placed), 'but known to be misplaced');
repair('misplaced rows');
same_rows(coordinate('SELECT * FROM docs'), $before, 'misplaced rows: none is lost');

#
# Changes
#

my $change = one_of("'the new text'") =~ s/the new text/a text/gr =~ s/\bid = 1\b/id = $near/gr;
coordinate($change);
check_step('a change');
is(coordinate("SELECT body, fp = simhash_minhash(body) FROM docs WHERE id = $near"), 'a text|t', 'it was made');
coordinate($change =~ s/\bid = $near/id = 0/gr);
check_step('a change of a document that is not there');
$before = coordinate('SELECT id, fp FROM docs');
my $another = coordinate("SELECT max(id) FROM docs WHERE id <> $near");
like(error_of($change =~ s/\bid = $near/id = $another/gr),
	qr/violates exclusion constraint/, 'a change that is rejected');
same_rows(coordinate('SELECT id, fp FROM docs'), $before, 'nothing has changed');
check_step('a change that is rejected');

my $backup = one_of('LOCK TABLE docs');
$backup =~ s/^-- start pg_dump.*$/SELECT count(*) FROM pg_locks
	WHERE relation IN ('docs_2'::regclass, 'block_rows_2'::regclass) AND mode = 'ShareLock' AND granted;/m
  or die 'the example does not say when to begin';
is(coordinate($backup), '2', 'writers wait for a backup');

# what a row that is rejected shows, of a hundred that are sent with it
fill_staging('SELECT -id, NULL, fp FROM docs LIMIT 300');
my $rejected = error_of("INSERT INTO block_rows
	SELECT b.prefix * 4 + b.table_no, s.fp, s.id FROM staging s, simhash_blocks(s.fp) b ORDER BY 1");
like($rejected, qr/violates exclusion constraint.*INSERT INTO/s, 'a row is rejected');
cmp_ok(length($rejected), '<', 5000, 'and the error is not too long');

# roles
coordinate('CREATE ROLE reader LOGIN; GRANT SELECT ON docs TO reader');
is($coordinator->safe_psql($database, "SELECT body FROM docs WHERE id = $near", extra_params => [ '-U', 'reader' ]),
	'a text', 'another role');
like(error_of('SELECT count(*) FROM block_rows', '-U', 'reader'), qr/permission denied/, 'has its own privileges');

#
# Another shard, and a column
#

# A second coordinator, in another database of the first
my $other = 'corpus_too';

$coordinator->safe_psql('postgres', "CREATE DATABASE $other TEMPLATE template0");
run_part(\@nodes, $_, $other)
  foreach one_of('CREATE SERVER shard_1'), one_of('CREATE FOREIGN TABLE docs_1'),
  one_of('CREATE FOREIGN TABLE near_values_1'), one_of('CREATE TABLE staging'),
  one_of('CREATE PROCEDURE load_staging');
run_part([ $coordinator, $new_shard ], $_) foreach grep { /^-- on each shard/ } @parts;
push @nodes, $new_shard;
push @shards, $new_shard;

# What is known of the documents, whatever a coordinator sees of them
foreach my $db ($database, $other)
{
	$coordinator->safe_psql($db, 'CREATE TABLE known (id bigint, fp simhash)');
	my $file = PostgreSQL::Test::Utils::tempdir . '/known';
	coordinate("COPY (SELECT id, fp FROM docs) TO '$file'");
	$coordinator->safe_psql($db, "COPY known FROM '$file'");
}
my %expected = map { $_ => 1 } split /\n/, coordinate('SELECT id FROM docs');
my $refusal = qr/ERROR:  this shard has "(moving to )?layout 2", but what writes to it has "(moving to )?layout [12]"\n.*HINT:.*"Add a shard"/s;

# Load new documents, and some that are near what is known, by a coordinator that is not to be
# relied upon: either all of it is refused, with words about what to do, or it is as if nothing
# had happened.
sub write_anyhow
{
	my ($db, $what) = @_;

	$coordinator->safe_psql($db, "TRUNCATE staging;
		INSERT INTO staging SELECT $last + i, 'new ' || i, $random FROM generate_series(1, 20) i;
		INSERT INTO staging SELECT -$last - id, 'near', (fp::bigint # 5)::simhash FROM known WHERE fp IS NOT NULL");
	$last += 20;
	my $written = $coordinator->psql($db, 'CALL load_staging()', stderr => \my $error) == 0;
	if ($written)
	{
		$expected{$_} = 1 foreach split /\n/, $coordinator->safe_psql($db, 'SELECT id FROM staging');
	}
	else
	{
		like($error, $refusal, "$what: a load is refused");
	}
	# the other statements that write
	foreach my $sql ('DELETE FROM docs WHERE id = (SELECT min(id) FROM docs)', 'UPDATE docs SET body = body', 'TRUNCATE docs')
	{
		next if $written;
		$coordinator->psql($db, $sql, stderr => \$error);
		like($error, $refusal, "$what: $sql");
	}
	return $written;
}

sub all_documents
{
	my ($db, $what) = @_;
	same_rows($coordinator->safe_psql($db, 'SELECT DISTINCT id FROM docs'), join("\n", keys %expected), $what);
	return;
}

# Run a block of the coordinator, and stop its server while one of the shards commits.  The
# shard does commit, some time later.
sub run_and_lose
{
	my ($sql, $shard) = @_;
	my $hold = $shard->data_dir . '/hold';

	append_to_file($hold, '');
	$shard->safe_psql($database, q{
		CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
		BEGIN
			WHILE (pg_stat_file('hold', true)).size IS NOT NULL LOOP
				PERFORM pg_sleep(0.01);
			END LOOP;
			RETURN NULL;
		END $$;
		CREATE CONSTRAINT TRIGGER hold AFTER INSERT OR DELETE ON docs DEFERRABLE INITIALLY DEFERRED
			FOR EACH ROW EXECUTE FUNCTION hold()});
	my $session = IPC::Run::start([ 'psql', '-XAtq', '-d', $coordinator->connstr($database), '-c', $sql ],
		'>', '/dev/null', '2>', \my $error);
	my $commits = "SELECT count(*) = 1 FROM pg_stat_activity WHERE state = 'active' AND query = 'COMMIT TRANSACTION'";
	while ($shard->safe_psql($database, $commits) eq 'f')
	{
		$session->pump_nb;
		die "nothing is committed: $error" if !$session->pumpable;
	}
	$coordinator->stop('immediate');
	unlink $hold or die;
	$session->finish;
	$shard->poll_query_until($database, $commits, 'f') or die 'the commit does not end';
	$shard->safe_psql($database, 'DROP FUNCTION hold() CASCADE');
	$coordinator->start;
	return;
}

run_part(\@nodes, $close) foreach 1, 2;
write_anyhow($_, 'closed') foreach $database, $other;
run_part(\@nodes, $connect) foreach 1, 2;
like(error_of($copy =~ s/^SET .*\n//mr), $refusal, 'a copy by a session that is not to move rows');
run_and_lose($copy, $new_shard);
all_documents($database, 'lost while it copied');
run_part(\@nodes, $copy);
write_anyhow($_, 'copied') foreach $database, $other;
run_part(\@nodes, $switch);
like(error_of($switch), qr/"docs_4" is already a partition/, 'switched again');
all_documents($database, 'switched');
write_anyhow($_, 'switched') foreach $database, $other;
is(scalar(grep { coordinate("EXPLAIN (VERBOSE, COSTS OFF) $_") =~ /Remote SQL: DELETE FROM .* = ANY / } $delete =~ /^(DELETE .*)/mg),
	2, 'the shard itself deletes');
run_and_lose($delete, $shards[0]);
all_documents($database, 'lost while it deleted');
run_part(\@nodes, $_) foreach $delete, $copy, $delete;
write_anyhow($_, 'deleted') foreach $database, $other;
run_part(\@nodes, $open) foreach 1, 2;
run_part(\@nodes, $copy);
like(error_of($delete), $refusal, 'rows are deleted only while they move');
ok(!write_anyhow($other, 'with the old layout'), 'a coordinator that has not switched may not write');
ok(write_anyhow($database, 'with the new layout'), 'one that has may');
run_part(\@nodes, $_, $other) foreach $connect, $switch;
ok(write_anyhow($other, 'switched later'), 'and one that has later');
all_documents($_, "another shard: the rows by $_") foreach $database, $other;
is(coordinate('SELECT count(*) FROM docs'), scalar(keys %expected), 'and none twice');
is(coordinate('SELECT count(*) FROM simhash_find_all_in((SELECT array_agg(fp) FROM docs))'), '0',
	'another shard: no two are near each other');
check_step('another shard');
is(coordinate("SELECT count(DISTINCT tableoid) FROM $_"), '4', "another shard: all have some of $_")
  foreach 'docs', 'block_rows';

run_part(\@nodes, $_) foreach @add_column;
fill_with_new();
coordinate('CALL load_staging()');
loaded('another column');
is(coordinate('SELECT count(added) FROM docs'), '300', 'another column: new rows have its default');

# pairs of rows that are on any two shards
foreach my $shard (@shards)
{
	$shard->safe_psql($database, "ALTER TABLE block_rows_$_ DROP CONSTRAINT block_rows_${_}_block_fp_excl")
	  foreach 0 .. 3;
}
coordinate("TRUNCATE docs, block_rows; DROP TABLE pairs, near_rows;
	INSERT INTO docs SELECT i, NULL, (hashint8extended(i / 2, 0) # (i & 1))::simhash FROM generate_series(2, 1001) i;
	INSERT INTO block_rows SELECT b.prefix * 4 + b.table_no, d.fp, d.id FROM docs d, simhash_blocks(d.fp) b");
run_part(\@nodes, one_of('CREATE TABLE pairs'));
same_rows(coordinate(one_of('WHERE p.a <> p.b OR')) =~ s/^(\d+)\|(\d+)/$1 < $2 ? "$1|$2" : "$2|$1"/gmer,
	join("\n", map { 2 * $_ . '|' . (2 * $_ + 1) . '|1' } 1 .. 500), 'another shard: pairs');

#
# Another distance
#

# Databases with the statements changed as doc/several-machines.md says for another distance
my ($far, %changes, %made);

sub like_3
{
	my ($line, $partition) = @_;
	return $line =~ s/\bblock_rows_3\b/block_rows_$partition/r =~ s/\(3\)/($partition)/r;
}

sub run_far
{
	my ($sql) = @_;
	my $blocks = $changes{'block % 4'} =~ s/.* //r;
	foreach my $words (keys %changes)
	{
		my $number = $sql =~ s/\Q$words\E/$changes{$words}/g;
		$made{$words} += $number;
	}
	# further partitions are like 3
	$sql =~ s/^(.*\bblock_rows_3\b.*\n)/join '', map { like_3($1, $_) } 3 .. $blocks - 1/gme
	  if $sql =~ /^-- on each shard/;
	return run_part([ $coordinator, @shards[ 0 .. 2 ] ], $sql, $far, $far);
}

sub make_far
{
	my ($distance, $operator) = @_;
	my $blocks = $distance + 1;

	$far = "corpus_$distance";
	%made = ();
	%changes = (
		'simhash_blocks(d.fp)' => "simhash_blocks(d.fp, $blocks, $distance)",
		'simhash_blocks(s.fp)' => "simhash_blocks(s.fp, $blocks, $distance)",
		'prefix * 4' => "prefix * $blocks",
		'block % 4' => "block % $blocks",
		'simhash_tables(4, 3)' => "simhash_tables($blocks, $distance)",
		'3, 4, t.table_no' => "$distance, $blocks, t.table_no",
		'fp WITH %' => "fp WITH $operator",
		'fp % ANY' => "fp $operator ANY",
		's.fp % near.fp' => "s.fp $operator near.fp",
		"'staging_fp', 3" => "'staging_fp', $distance",
		"'near_rows_fp'" => "'near_rows_fp', $distance",
		"dbname 'corpus'" => "dbname '$far'");
	$_->safe_psql('postgres', "CREATE DATABASE $far TEMPLATE template0 OWNER corpus")
	  foreach $coordinator, @shards[ 0 .. 2 ];
	ask_far('CREATE TABLE texts (id bigint, body text)');
	run_far($_)
	  foreach jobs(), one_of('CREATE VIEW out_of_step'), grep { /VIEW shard_state/ } @parts;
	is(join(', ', grep { !$made{$_} } sort keys %changes), '', "all changes for distance $distance were made");
	ask_far('CREATE TABLE one (id bigint PRIMARY KEY, body text, fp simhash);
		CREATE INDEX one_fp ON one USING simhash (fp)');
	return;
}

sub ask_far
{
	my ($sql) = @_;
	return $coordinator->safe_psql($far, $sql);
}

# Load all rows, near-duplicates too.
sub load_far
{
	my $blocks = $changes{'block % 4'} =~ s/.* //r;
	foreach my $shard (@shards[ 0 .. 2 ])
	{
		$shard->safe_psql($far, "ALTER TABLE block_rows_$_ DROP CONSTRAINT block_rows_${_}_block_fp_excl")
		  foreach 0 .. $blocks - 1;
	}
	ask_far('TRUNCATE docs, block_rows; DROP TABLE pairs, near_rows, duplicates; INSERT INTO docs TABLE one');
	run_far(one_of('INSERT INTO docs SELECT id, body, simhash'));
	run_far(one_of('CREATE TABLE pairs'));
	return;
}

# a pair of numbers in the order of the numbers
sub in_order
{
	my ($pairs) = @_;
	return $pairs =~ s/^(\d+)\|(\d+)/$1 < $2 ? "$1|$2" : "$2|$1"/gmer;
}

# rows in twos, which differ in 0 to 8 bits
make_far(6, '<%>');
ask_far('INSERT INTO one
	SELECT i, \'\', (hashint8extended(i / 2, 0) # ((1::bigint << ((i & 1) * (i / 2 % 9))::int) - 1))::simhash
	FROM generate_series(2, 2001) i;
	TRUNCATE staging; INSERT INTO staging TABLE one; CALL load_staging()');
same_rows(ask_far('SELECT id FROM docs'), ask_far('SELECT id FROM one
	EXCEPT SELECT x.id FROM one x JOIN one y ON x.ctid <> y.ctid AND x.fp <%> y.fp AND y.id < x.id'),
	'another distance: near-duplicates are kept out');
is(ask_far('SELECT count(*) FROM out_of_step'), '0', 'another distance: in step');
is(ask_far($in_step), 't', 'another distance: equal sums');
is(ask_far('SELECT count(*) FROM near_values'), '0', 'another distance: no pairs are left');

load_far();
my $pairs = in_order(run_far(one_of('WHERE p.a <> p.b OR')));
same_rows($pairs, join("\n", map { 2 * $_ . '|' . (2 * $_ + 1) . '|' . $_ % 9 } grep { $_ % 9 <= 6 } 1 .. 1000),
	'another distance: pairs');
run_far(one_of('CREATE TABLE duplicates'));
is(ask_far('SELECT count(*) FROM duplicates'), scalar(split /\n/, $pairs), 'another distance: duplicates');

# texts in fours, of which some are alike, and their fingerprints within 10 bits
make_far(10, '<<%>>');
ask_far("INSERT INTO one SELECT id, body, simhash_minhash(body)
	FROM (SELECT i AS id, (SELECT string_agg(CASE WHEN w < i % 4 * 2 THEN md5((i * w)::text) ELSE md5((i / 4 * 1000 + w)::text) END, ' ')
			FROM generate_series(1, 60 + i % 100) w) AS body
		FROM generate_series(1, 1200) i) t;
	CREATE INDEX one_body ON one USING simhash (body simhash_text_ops)");
load_far();
my $alike = in_order(run_far(one_of('CREATE INDEX near_rows_body')));
same_rows($alike, ask_far("SELECT x.id, y.id FROM one x JOIN one y ON x.body =~= y.body AND x.id < y.id"),
	'pairs of texts that are alike');
cmp_ok(scalar(split /\n/, $alike), '>', 500, 'there are some');
cmp_ok(ask_far('SELECT count(*) FROM near_rows'), '<', 1200, 'not all rows are needed');

$_->stop foreach $coordinator, @shards;
done_testing();
