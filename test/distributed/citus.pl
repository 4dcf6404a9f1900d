# Rows on two machines, by Citus: the statements of doc/several-machines.md give the rows that
# those for one table give.  See test/distributed/run.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/../t";
use DistributedTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $rows = $ENV{ROWS} || 6000;
# ports of this machine alone
my @nodes = make_machines("shared_preload_libraries = 'citus'", "listen_addresses = '127.0.0.1'",
	'wal_level = logical', 'max_prepared_transactions = 60', 'citus.shard_count = 6');
my ($coordinator, @workers) = @nodes;
$workers[2]->stop;

sub coordinator_error
{
	my ($sql) = @_;
	my ($code, $stdout, $stderr) = $coordinator->psql($database, $sql);
	return $stderr;
}

my $texts = PostgreSQL::Test::Utils::tempdir . '/texts';
collect_texts($texts, $rows);
my ($extensions, $tables, @others) = page_parts('Citus');
run_part([ @nodes[ 0 .. 2 ] ], $extensions);
diag(coordinate('SELECT citus_version()'));
coordinate('CREATE TABLE texts (id bigint GENERATED ALWAYS AS IDENTITY, name text, body text)');
coordinate("COPY texts (name, body) FROM '$texts'");
coordinate("DELETE FROM texts WHERE id > $rows;
	INSERT INTO texts (name, body) SELECT name, replace(body, 'the', 'this') FROM texts WHERE id % 5 = 0;
	CREATE TABLE one (id bigint PRIMARY KEY, body text, fp simhash);
	CREATE INDEX one_fp ON one USING simhash (fp)");
cmp_ok(coordinate('SELECT count(*) FROM texts'), '>', 2000, 'there are texts');
run_part(\@nodes, $tables);
run_part(\@nodes, one_of('CREATE TABLE staging'));
run_part(\@nodes, $_) foreach @others;
coordinate('ALTER TABLE block_rows DROP CONSTRAINT block_rows_near');

check_all_jobs($rows, nearest => 'nearest_of_all', settings => ['SET plan_cache_mode = auto']);

# the functions of an index, and of an array
like(coordinator_error("SELECT $_"), qr/belongs to a distributed table/, $_)
  foreach "simhash_find_all('docs_fp')", "simhash_find_clusters('docs_fp')", "simhash_index_info('docs_fp')";
load_rows("SELECT i, NULL, (hashint8extended(i / 4, 0) # (i & 3))::simhash FROM generate_series(1, 1000) i");
is(coordinate('SELECT count(*) FROM simhash_find_all_in((SELECT array_agg(fp) FROM docs))'),
	coordinate("SELECT count(*) FROM simhash_find_all('one_fp')"), 'an aggregate is over all shards');

# keeping out
coordinate('TRUNCATE docs, block_rows; TRUNCATE one, staging; ALTER TABLE one ADD EXCLUDE USING simhash (fp WITH %)');
run_part(\@nodes, $others[2]);
run_part(\@nodes, one_of('CREATE PROCEDURE load_staging'));
foreach my $half (0, 1)
{
	my $select = "SELECT id, body, simhash_minhash(body) FROM texts WHERE id % 2 = $half ORDER BY id";

	coordinate("TRUNCATE staging; INSERT INTO staging $select");
	coordinate('CALL load_staging()');
	coordinate("INSERT INTO one $select ON CONFLICT DO NOTHING");
	same_rows(coordinate('SELECT id, fp FROM docs'), coordinate('SELECT id, fp FROM one'), 'what is kept out of one table');
	check_step('a load');
}

# a shard that moves keeps the constraint
my $near = 'INSERT INTO block_rows SELECT b.prefix * 4 + b.table_no, (d.fp::bigint # 1)::simhash, -1
	FROM (SELECT fp FROM docs ORDER BY id LIMIT 1) d, simhash_blocks((d.fp::bigint # 1)::simhash) b';
my $refused = qr/conflicting key value violates exclusion constraint "block_rows_near/;
like(coordinator_error($near), $refused, 'a shard refuses');
my $moved = coordinate("SELECT citus_move_shard_placement(shardid, nodename, nodeport, nodename,
		CASE nodeport WHEN ${\$workers[0]->port} THEN ${\$workers[1]->port} ELSE ${\$workers[0]->port} END, 'block_writes')
	FROM citus_shards WHERE table_name = 'block_rows'::regclass AND nodeport <> ${\$coordinator->port} ORDER BY shardid");
cmp_ok(length $moved, '>', 0, 'shards moved');
like(coordinator_error($near), $refused, 'and when it has moved');
check_step('a move');

# a worker that is not there
my $before = coordinate('SELECT (SELECT count(*) FROM docs), (SELECT count(*) FROM block_rows)');
coordinate("TRUNCATE staging; INSERT INTO staging SELECT 1000000 + i, NULL, ${\random_fp()} FROM generate_series(1, 300) i");
$workers[1]->stop;
like(coordinator_error('CALL load_staging()'), qr/connection to the remote node .* failed/, 'a load without a worker');
like(coordinator_error('SELECT id FROM docs WHERE fp % 0'), qr/connection to the remote node .* failed/, 'a look-up without a worker');
$workers[1]->start;
is(coordinate('SELECT (SELECT count(*) FROM docs), (SELECT count(*) FROM block_rows)'), $before, 'nothing was half loaded');
coordinate('CALL load_staging()');
check_step('a load after that');

# a shard that fails at the commit, when the others are prepared
$before = coordinate('SELECT (SELECT count(*) FROM docs), (SELECT count(*) FROM block_rows)');
coordinate("TRUNCATE staging; INSERT INTO staging SELECT 2000000 + i, NULL, ${\random_fp()} FROM generate_series(1, 300) i");
my $shard = coordinate("SELECT min(shard_name) FROM citus_shards
	WHERE table_name = 'docs'::regclass AND nodeport = ${\$workers[0]->port}");
my $by_hand = 'SET citus.enable_ddl_propagation = off; SET citus.enable_manual_changes_to_shards = on;
	SET citus.override_table_visibility = off';
$workers[0]->safe_psql(
	$database, qq{
	$by_hand;
	CREATE FUNCTION leave() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE ''failed at the commit''; END';
	CREATE CONSTRAINT TRIGGER leave AFTER INSERT ON $shard DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION leave()});
like(coordinator_error('CALL load_staging()'), qr/failed at the commit/, 'a load that a shard does not commit');
is(coordinate('SELECT (SELECT count(*) FROM docs), (SELECT count(*) FROM block_rows)'), $before, 'nothing was half loaded');
$workers[0]->safe_psql($database, "$by_hand; DROP TRIGGER leave ON $shard");

# sessions side by side
my $sessions = 8;
my $groups = $ENV{SESSION_ROWS} || 240;
coordinate('TRUNCATE docs, block_rows; TRUNCATE staging');
my $start = time;
my @errors = run_sessions($coordinator, map { near_loads($database, $_, $groups, 4) } 1 .. $sessions);
is(join('', @errors), '', "$sessions sessions loaded");
diag(sprintf('%d sessions, %d rows each, in %d s', $sessions, $groups, time - $start));
is(coordinate('SELECT count(*), count(DISTINCT id % 1000000) FROM docs'), "$groups|$groups", 'one of each group');
is(coordinate('SELECT count(*) FROM simhash_find_all_in((SELECT array_agg(fp) FROM docs))'), '0', 'and no two are near each other');
check_step('loads at the same time');
$_->stop('immediate') foreach @nodes[ 0 .. 2 ];
done_testing();
