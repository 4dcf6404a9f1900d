# Operation of rows on several shards, by postgres_fdw, as doc/several-machines.md describes it:
# shards that are down or hang, rows and block rows out of step, changes of documents and
# tables, another shard, another distance.

use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin;
use DistributedTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SimhashTest;
use Test::More;

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

# The page, but for what is added at the end, a shard and a column
coordinate("CREATE TABLE texts (id bigint PRIMARY KEY, body text);
	INSERT INTO texts SELECT i, concat_ws(' ', i, sqrt(i), i * i) FROM generate_series(1, 1000) i");
my @add_shard = (one_of('CREATE SERVER shard_4'), one_of('DETACH PARTITION docs_1'));
my @add_column = (one_of('ADD COLUMN added timestamptz;'), one_of('ADD COLUMN added timestamptz DEFAULT'));
my %later = map { $_ => 1 } @add_shard, @add_column;
my @parts = grep { !$later{$_} } page_parts('Foreign servers'), page_parts('Operation');
run_part(\@nodes, $_) foreach @parts;
check_step('the page');
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

# Are the sums of the page equal?
my ($in_step) = one_of('AS in_step FROM shard_state') =~ /^(SELECT .* AS in_step FROM shard_state;)/m;

# What the page does about all that is out of step
sub repair
{
	my ($what) = @_;
	run_part(\@nodes, $_)
	  foreach one_of('CREATE TABLE repair'), one_of('DELETE FROM docs WHERE id = ANY (ARRAY(SELECT id FROM repair))'),
	  one_of('DROP TABLE repair');
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
my $options = one_of('ALTER SERVER shard_2');
my ($of_sessions) = $options =~ /^ALTER SERVER shard_2 OPTIONS \(SET options '(.*?)', ADD connect_timeout '\d+',/m
  or die "no options in $options";
# Sooner than the page says.  From 16 on, connect_timeout is not used.
coordinate("ALTER SERVER shard_2 OPTIONS (SET connect_timeout '2')");
like(while_it_hangs($shards[1], sub { error_of("SET statement_timeout = '4s'; SELECT id FROM docs WHERE fp % 0") }),
	qr/could not connect to server "shard_2".*timeout expired|due to statement timeout/s,
	'a look-up when a shard hangs');
# and later, if this machine is busy
coordinate("ALTER SERVER shard_2 OPTIONS (SET connect_timeout '100')");
isnt(my $shorter = $of_sessions =~ s/\bstatement_timeout=\K\d+\w+/1s/r, $of_sessions, 'the page limits statements');
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
$_->safe_psql(
	$database, q{
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
coordinate('TRUNCATE staging');
is(coordinate($in_step), 'f', 'but the sums differ');
repair('half a load');
same_rows(coordinate("SELECT id FROM docs WHERE id > $last - 300"), $there, 'half a load: the documents are kept');

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
$shards[1]->safe_psql($database,
	'TRUNCATE docs, block_rows; INSERT INTO docs TABLE old_docs; INSERT INTO block_rows TABLE old_block_rows');
isnt(coordinate('SELECT count(*) FROM out_of_step'), '0', 'an earlier state of one shard is out of step');
repair('an earlier state');
same_rows(coordinate("SELECT id FROM docs WHERE id > $last - 300"), $kept, 'an earlier state: the others are kept');

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
  or die 'the page does not say when to begin';
is(coordinate($backup), '2', 'writers wait for a backup');

# what a row that is rejected shows, of a hundred that are sent with it
fill_staging('SELECT -id, NULL, fp FROM docs LIMIT 300');
my $rejected = error_of("INSERT INTO block_rows
	SELECT b.prefix * 4 + b.table_no, s.fp, s.id FROM staging s, simhash_blocks(s.fp) b ORDER BY 1");
like($rejected, qr/violates exclusion constraint.*INSERT INTO/s, 'a row is rejected');
cmp_ok(length($rejected), '<', 5000, 'and the error is not too long');

# roles
is($coordinator->safe_psql($database, "SELECT body FROM docs WHERE id = $near", extra_params => [ '-U', 'reader' ]),
	'a text', 'a role with user mappings');
like(error_of('SELECT count(*) FROM block_rows', '-U', 'reader'), qr/permission denied/, 'has its own privileges');
coordinate('CREATE ROLE stranger LOGIN; GRANT SELECT ON docs TO stranger');
like(error_of('SELECT count(*) FROM docs', '-U', 'stranger'), qr/user mapping not found/, 'a role without');

#
# Another shard, and a column
#

run_part([ $coordinator, $new_shard ], $_) foreach grep { /^-- on each shard/ } @parts;
push @nodes, $new_shard;
push @shards, $new_shard;
$before = coordinate('SELECT * FROM docs');
run_part(\@nodes, $_) foreach @add_shard;
same_rows(coordinate('SELECT * FROM docs'), $before, 'another shard: the same rows');
check_step('another shard');
is(coordinate("SELECT count(DISTINCT tableoid) FROM $_"), '4', "another shard: all have some of $_")
  foreach 'docs', 'block_rows';
fill_staging('SELECT -id, NULL, (fp::bigint # 5)::simhash FROM docs WHERE fp IS NOT NULL');
coordinate("INSERT INTO staging VALUES (0, 'new', $random); CALL load_staging()");
is(coordinate('SELECT id FROM docs WHERE id <= 0'), '0', 'another shard: near-duplicates are kept out');
check_step('another shard: a load');

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

my $of_6 = 'corpus_6';
# what the page changes for 6
my %changes = (
	'simhash_blocks(d.fp)' => 'simhash_blocks(d.fp, 7, 6)',
	'simhash_blocks(s.fp)' => 'simhash_blocks(s.fp, 7, 6)',
	'prefix * 4' => 'prefix * 7',
	'block % 4' => 'block % 7',
	'simhash_tables(4, 3)' => 'simhash_tables(7, 6)',
	'3, 4, t.table_no' => '6, 7, t.table_no',
	'fp WITH %' => 'fp WITH <%>',
	'fp % ANY' => 'fp <%> ANY',
	's.fp % near.fp' => 's.fp <%> near.fp',
	"'staging_fp', 3" => "'staging_fp', 6",
	"'near_rows_fp'" => "'near_rows_fp', 6",
	"dbname 'corpus'" => "dbname '$of_6'");
my %made;

sub like_3
{
	my ($line, $partition) = @_;
	return $line =~ s/\bblock_rows_3\b/block_rows_$partition/r =~ s/\(3\)/($partition)/r;
}

sub run_for_6
{
	my ($sql) = @_;
	foreach my $words (keys %changes)
	{
		my $number = $sql =~ s/\Q$words\E/$changes{$words}/g;
		$made{$words} += $number;
	}
	# partitions 4 to 6 are like 3
	$sql =~ s/^(.*\bblock_rows_3\b.*\n)/join '', map { like_3($1, $_) } 3 .. 6/gme if $sql =~ /^-- on each shard/;
	return run_part([ $coordinator, @shards[ 0 .. 2 ] ], $sql, $of_6, $of_6);
}

sub ask_6
{
	my ($sql) = @_;
	return $coordinator->safe_psql($of_6, $sql);
}

# rows in twos, which differ in 0 to 8 bits
$_->safe_psql('postgres', "CREATE DATABASE $of_6 TEMPLATE template0 OWNER corpus")
  foreach $coordinator, @shards[ 0 .. 2 ];
ask_6('CREATE TABLE texts (id bigint, body text)');
run_for_6($_)
  foreach page_parts('Foreign servers'), one_of('CREATE VIEW out_of_step'), grep { /VIEW shard_state/ } @parts;
is(join(', ', grep { !$made{$_} } sort keys %changes), '', 'all changes for another distance were made');
ask_6('CREATE TABLE one (id bigint PRIMARY KEY, body text, fp simhash);
	CREATE INDEX one_fp ON one USING simhash (fp);
	INSERT INTO one
	SELECT i, \'\', (hashint8extended(i / 2, 0) # ((1::bigint << ((i & 1) * (i / 2 % 9))::int) - 1))::simhash
	FROM generate_series(2, 2001) i;
	TRUNCATE staging; INSERT INTO staging TABLE one; CALL load_staging()');
same_rows(ask_6('SELECT id FROM docs'), ask_6('SELECT id FROM one
	EXCEPT SELECT x.id FROM one x JOIN one y ON x.ctid <> y.ctid AND x.fp <%> y.fp AND y.id < x.id'),
	'another distance: near-duplicates are kept out');
is(ask_6('SELECT count(*) FROM out_of_step'), '0', 'another distance: in step');
is(ask_6($in_step), 't', 'another distance: equal sums');
is(ask_6('SELECT count(*) FROM near_values'), '0', 'another distance: no pairs are left');

foreach my $shard (@shards[ 0 .. 2 ])
{
	$shard->safe_psql($of_6, "ALTER TABLE block_rows_$_ DROP CONSTRAINT block_rows_${_}_block_fp_excl") foreach 0 .. 6;
}
ask_6('TRUNCATE docs, block_rows; DROP TABLE pairs, near_rows, duplicates; INSERT INTO docs TABLE one');
run_for_6(one_of('simhash_minhash(body) FROM texts;'));
run_for_6(one_of('CREATE TABLE pairs'));
my $pairs = run_for_6(one_of('WHERE p.a <> p.b OR')) =~ s/^(\d+)\|(\d+)/$1 < $2 ? "$1|$2" : "$2|$1"/gmer;
same_rows($pairs, join("\n", map { 2 * $_ . '|' . (2 * $_ + 1) . '|' . $_ % 9 } grep { $_ % 9 <= 6 } 1 .. 1000),
	'another distance: pairs');
run_for_6(one_of('CREATE TABLE duplicates'));
is(ask_6('SELECT count(*) FROM duplicates'), scalar(split /\n/, $pairs), 'another distance: duplicates');

$_->stop foreach $coordinator, @shards;
done_testing();
