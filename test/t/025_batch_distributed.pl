# Rows on three shards, by postgres_fdw: the statements of doc/several-machines.md give the
# rows that those for one table give.

use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin;
use DistributedTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SimhashTest;
use Test::More;

my $rows = $ENV{ROWS} || 6000;
my @nodes = make_machines();
my ($coordinator, @shards) = @nodes;
my $generic = 'SET plan_cache_mode = force_generic_plan';
my $random = random_fp();

my $texts = PostgreSQL::Test::Utils::tempdir . '/texts';
collect_texts($texts, $rows);
coordinate('CREATE TABLE texts (id bigint GENERATED ALWAYS AS IDENTITY, name text, body text)');
coordinate("COPY texts (name, body) FROM '$texts'");
# and some that are edited
coordinate("DELETE FROM texts WHERE id > $rows;
	INSERT INTO texts (name, body) SELECT name, replace(body, 'the', 'this') FROM texts WHERE id % 5 = 0");
cmp_ok(coordinate('SELECT count(*) FROM texts'), '>', 2000, 'there are texts');

# the page from its beginning to its end
foreach my $part (page_parts('Foreign servers'), page_parts('What can go wrong'))
{
	run_part(\@nodes, $part);
}
pass('the page was run');

coordinate("CREATE TABLE one (id bigint PRIMARY KEY, body text, fp simhash);
	CREATE INDEX one_fp ON one USING simhash (fp)");
# until rows are to be kept out
foreach my $shard (@shards)
{
	$shard->safe_psql($database, "ALTER TABLE block_rows_$_ DROP CONSTRAINT block_rows_${_}_block_fp_excl")
	  foreach 0 .. 3;
}
check_all_jobs($rows);

# What is sent to the shards
sub is_sent
{
	my ($sql, $condition, $what) = @_;
	my $plan = coordinate($sql);
	is(scalar(() = $plan =~ /Remote SQL: .*$condition/g), 3, "sent to all shards: $what") or diag($plan);
	return;
}
is_sent("EXPLAIN (VERBOSE, COSTS OFF) SELECT id FROM docs WHERE fp <~> 5 <= 3", 'simhash_within\(fp, ', 'a literal');
is_sent("$generic; " . prepared('look_up') . 'EXPLAIN (VERBOSE, COSTS OFF) EXECUTE look_up (5)',
	'simhash_within\(fp, \$1', 'a parameter');
is_sent("$generic; " . prepared('look_up_text') . "EXPLAIN (VERBOSE, COSTS OFF) EXECUTE look_up_text ('a')",
	'simhash_within\(fp, \$1', 'a sub-select');
is_sent('EXPLAIN (VERBOSE, COSTS OFF) ' . one_of('WITH near AS MATERIALIZED (SELECT id, fp FROM docs') =~ s/^--.*\n//r,
	'%\) ANY \(\$1', 'an array');
is_sent("$generic; " . prepared('nearest') . 'EXPLAIN (VERBOSE, COSTS OFF) EXECUTE nearest (5)',
	'ORDER BY .*<~~>.* LIMIT 10', 'a limit');

#
# Keeping near-duplicates out
#

sub fill_staging
{
	my ($select) = @_;
	coordinate("TRUNCATE staging; INSERT INTO staging $select");
	return;
}

# What the shards have, each by itself
sub rows_of_shards
{
	return join ' ', map { $_->safe_psql($database,
		'SELECT (SELECT count(*) FROM docs) || \'/\' || (SELECT count(*) FROM block_rows)') }
	  grep { $_->{_pid} } @shards;
}

coordinate('TRUNCATE docs, block_rows, one; ALTER TABLE one ADD EXCLUDE USING simhash (fp WITH %)');
run_part(\@nodes, one_of('ALTER TABLE block_rows_0 ADD EXCLUDE'));
foreach my $half (0, 1)
{
	my $select = "SELECT id, body, simhash_minhash(body) FROM texts WHERE id % 2 = $half ORDER BY id";

	fill_staging($select);
	coordinate("CALL load_staging(); INSERT INTO one $select ON CONFLICT DO NOTHING");
	same_rows(coordinate('SELECT id, fp FROM docs'), coordinate('SELECT id, fp FROM one'),
		'what is kept out of one table');
	check_step('a load');
}

# a row that is near one that is there, by one who does not ask
my ($code, $stdout, $stderr) = $coordinator->psql($database,
	"BEGIN; INSERT INTO docs SELECT -1, body, fp FROM docs WHERE id % 5 = 1 LIMIT 1;
	INSERT INTO block_rows SELECT b.prefix * 4 + b.table_no, (d.fp::bigint # 1)::simhash, -1
	FROM (SELECT fp FROM docs LIMIT 1) d, simhash_blocks((d.fp::bigint # 1)::simhash) b; COMMIT", on_error_stop => 1);
like($stderr, qr/conflicting key value violates exclusion constraint "block_rows_\d_block_fp_excl"/, 'a shard refuses');

# a shard that is not there
my $before = rows_of_shards();
my $new = "SELECT 1000000 + i, 'new ' || i, $random FROM generate_series(1, 300) i";
fill_staging($new);
$shards[1]->stop;
($code, $stdout, $stderr) = $coordinator->psql($database, 'CALL load_staging()');
like($stderr, qr/could not connect to server "shard_2"/, 'a load without a shard');
($code, $stdout, $stderr) = $coordinator->psql($database,
	one_of('INSERT INTO staging SELECT -id') =~ s/.*/SELECT id FROM docs WHERE fp % 0/sr);
like($stderr, qr/could not connect to server "shard_2"/, 'a look-up without a shard');
($code, $stdout, $stderr) = $coordinator->psql($database, 'INSERT INTO docs SELECT * FROM staging');
like($stderr, qr/could not connect to server "shard_2"/, 'an insert without a shard');
($code, $stdout, $stderr) = $coordinator->psql($database, 'SELECT count(*) FROM near_values');
like($stderr, qr/could not connect to server "shard_2"/, 'pairs without a shard');
$shards[1]->start;
is(rows_of_shards(), $before, 'nothing was half loaded');
coordinate('CALL load_staging()');
check_step('a load after that');
is(coordinate('SELECT count(*) FROM docs JOIN staging USING (id)'), '300', 'all of it is there');

# a shard that is lost in the middle of a load
fill_staging("SELECT 2000000 + i, 'new ' || i, $random FROM generate_series(1, 300) i");
$before = rows_of_shards();
$shards[2]->safe_psql(
	$database, q{
	CREATE FUNCTION leave() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
	BEGIN
		PERFORM pg_terminate_backend(pg_backend_pid());
		RETURN NULL;
	END $$;
	CREATE TRIGGER leave AFTER INSERT ON docs EXECUTE FUNCTION leave()});
($code, $stdout, $stderr) = $coordinator->psql($database, 'CALL load_staging()');
isnt($code, 0, 'a load whose session on a shard ends');
is(rows_of_shards(), $before, 'nothing was half loaded');

# a shard that fails at the commit, when another may have committed
$shards[2]->safe_psql(
	$database, q{
	DROP TRIGGER leave ON docs;
	CREATE OR REPLACE FUNCTION leave() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE ''failed at the commit''; END';
	CREATE CONSTRAINT TRIGGER leave AFTER INSERT ON docs DEFERRABLE INITIALLY DEFERRED
		FOR EACH ROW EXECUTE FUNCTION leave()});
($code, $stdout, $stderr) = $coordinator->psql($database, 'CALL load_staging()');
like($stderr, qr/failed at the commit/, 'a load that a shard does not commit');
is(coordinate('SELECT count(*) FROM staging'), '300', 'what it was is known');
$shards[2]->safe_psql($database, 'DROP TRIGGER leave ON docs');
coordinate(one_of('DELETE FROM block_rows WHERE id = ANY (ARRAY(SELECT id FROM staging))'));
is(rows_of_shards(), $before, 'taken back');
check_step('what is taken back');

# sessions of two coordinators
my $sessions = 8;
my $groups = $ENV{SESSION_ROWS} || 240;
my $other = 'corpus_too';
$coordinator->safe_psql('postgres', "CREATE DATABASE $other TEMPLATE template0");
run_part(\@nodes, $_, $other) foreach one_of('CREATE SERVER shard_1'), one_of('CREATE FOREIGN TABLE docs_1');
$coordinator->safe_psql($other,
	'CREATE TABLE staging (id bigint PRIMARY KEY, body text, fp simhash);
	CREATE INDEX staging_fp ON staging USING simhash (fp)');
run_part(\@nodes, one_of('CREATE PROCEDURE load_staging') =~ s/^CALL.*//mr, $other);
coordinate('TRUNCATE docs, block_rows, staging');

# waiting for each other over several shards is ended sooner than the page says, so that it does not take long
foreach my $db ($database, $other)
{
	$coordinator->safe_psql($db, "ALTER SERVER shard_$_ OPTIONS (SET options '-c lock_timeout=1s')") foreach 1 .. 3;
}

my $start = time;
my @errors = run_sessions($coordinator, map { near_loads($_ % 2 ? $database : $other, $_, $groups, 4) } 1 .. $sessions);
my $seconds = time - $start;
is(join('', @errors), '', "$sessions sessions loaded");
diag(sprintf('%d sessions, %d rows each, in %d s', $sessions, $groups, $seconds));
is(coordinate('SELECT count(*), count(DISTINCT id % 1000000) FROM docs'), "$groups|$groups", 'one of each group');
is(coordinate('SELECT count(*) FROM simhash_find_all_in((SELECT array_agg(fp) FROM docs))'), '0',
	'and no two are near each other');
check_step('loads at the same time');
# Two sessions that wait for each other on two shards: none of these sees it.  Both have written
# on one before any goes to the other.
sub waiting_session
{
	my ($number, $first, $second) = @_;
	return {
		database => $database,
		sql => "BEGIN;
			INSERT INTO block_rows_$first VALUES (0, 0, -$number);
			SELECT pg_advisory_lock($number);
			DO \$\$ BEGIN
				WHILE (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted) < 2 LOOP
					PERFORM pg_sleep(0.01);
				END LOOP;
			END \$\$;
			INSERT INTO block_rows_$second VALUES (0, 1, -$number);
			COMMIT;
			SELECT pg_sleep(0.1);"
	};
}
coordinate('TRUNCATE docs, block_rows');
@errors = run_sessions($coordinator, waiting_session(1, 1, 2), waiting_session(2, 2, 1));
like(join('', @errors), qr/lock timeout/, 'a wait over two shards ends');
is(scalar(grep { $_ ne '' && !/canceling statement due to lock timeout/ } @errors), 0, 'by nothing else');
cmp_ok(coordinate('SELECT count(*) FROM block_rows'), '<=', 2, 'at most one of them wrote');
$_->stop foreach @nodes;
done_testing();
