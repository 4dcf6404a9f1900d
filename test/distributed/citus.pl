# Rows on several machines, by Citus: the statements of examples/shards give
# the rows that those for one table give.  See test/distributed/run.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/../t";
use DistributedTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $rows = $ENV{ROWS} || 6000;
my $shards = $ENV{SHARDS} || 32;
# ports of this machine alone
my @nodes = make_machines(3, "shared_preload_libraries = 'citus'", "listen_addresses = '127.0.0.1'",
	'wal_level = logical', 'max_wal_senders = 10', 'max_replication_slots = 10', 'max_connections = 200',
	"citus.shard_count = $shards");
my ($coordinator, @workers) = @nodes;
# the third worker is added at the end
my $call = 'CALL load_staging(one_at_a_time => true)';

sub coordinator_error
{
	my ($sql) = @_;
	my ($code, $stdout, $stderr) = $coordinator->psql($database, $sql);
	return $stderr;
}

my $texts = PostgreSQL::Test::Utils::tempdir . '/texts';
collect_texts($texts, $rows);
my ($extensions, $tables, $constraint, $load, $nearest, $arrays, $pairs, $add_worker, @others) = parts_of(
	map { "citus_$_" } 'machine', 'tables', 'guard', 'load', 'search', 'pairs', 'add_worker');
is(scalar(@others), 0, 'all statements are known');
@step_views = ('out_of_step');
like($load, qr/^\Q$call\E;/m, 'the example loads so');
run_part(\@nodes, $extensions);
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
run_part(\@nodes, $_) foreach $nearest, $pairs, one_of('CREATE VIEW out_of_step');

check_all_jobs($rows, nearest => $nearest, settings => ['SET plan_cache_mode = auto']);

# the functions of an index, and of an array
like(coordinator_error("SELECT $_"), qr/belongs to a distributed table/, $_)
  foreach "simhash_find_all('docs_fp')", "simhash_find_clusters('docs_fp')", "simhash_index_info('docs_fp')";
load_rows("SELECT i, NULL, (hashint8extended(i / 4, 0) # (i & 3))::simhash FROM generate_series(1, 1000) i");
my $of_arrays = coordinate($arrays =~ s/\ba, b\b/least(a, b), greatest(a, b)/r =~ s/\bcluster\b/NULL/r);
same_rows($of_arrays,
	coordinate("SELECT least(a_fp, b_fp), greatest(a_fp, b_fp), distance FROM simhash_find_all('one_fp');
		SELECT NULL, one.fp, size FROM simhash_find_clusters('one_fp') c JOIN one ON one.ctid = c.member"),
	'arrays of all shards');
cmp_ok(scalar(split /\n/, $of_arrays), '>', 2000, 'there are some');

# texts by =~=, and wide fingerprints
coordinate('CREATE INDEX docs_body ON docs USING simhash (body simhash_text_ops)');
check_alike('SET plan_cache_mode = auto');
coordinate('DROP INDEX docs_body; CREATE TABLE images (id bigint PRIMARY KEY, fp simhash_bits(256))');
coordinate("CREATE INDEX images_fp ON images USING simhash (fp); SELECT create_distributed_table('images', 'id')");
check_wide('SET plan_cache_mode = auto');
diag(sprintf('with ARRAY: %d pairs of wide fingerprints',
		coordinate('SELECT count(*) FROM simhash_find_all_in_bits(ARRAY(SELECT fp FROM images), 31)')));

# with a table of the coordinator
coordinate("TRUNCATE staging; INSERT INTO staging SELECT -id, NULL, fp FROM one WHERE id % 7 = 0; ANALYZE staging");
foreach my $join ('FROM staging s JOIN docs d ON d.fp % s.fp', 'FROM docs d JOIN staging s ON s.id = - d.id')
{
	same_rows(coordinate("SELECT s.id, d.id $join"), coordinate("SELECT s.id, d.id $join" =~ s/\bdocs\b/one/r), $join);
}
like(coordinator_error("SELECT id FROM docs d WHERE $_ (SELECT FROM staging s WHERE d.fp % s.fp)"),
	qr/direct joins between distributed and local tables are not supported/, $_)
  foreach 'EXISTS', 'NOT EXISTS';

# keeping out
coordinate('TRUNCATE docs, block_rows; TRUNCATE one, staging; ALTER TABLE one ADD EXCLUDE USING simhash (fp WITH %)');
run_part(\@nodes, $constraint);
run_part(\@nodes, one_of('CREATE PROCEDURE load_staging'));
foreach my $half (0, 1)
{
	my $select = "SELECT id, body, simhash_minhash(body) FROM texts WHERE id % 2 = $half ORDER BY id";

	coordinate("TRUNCATE staging; INSERT INTO staging $select");
	run_part(\@nodes, $load);
	coordinate("INSERT INTO one $select ON CONFLICT DO NOTHING");
	same_rows(coordinate('SELECT id, fp FROM docs'), coordinate('SELECT id, fp FROM one'),
		'what is kept out of one table');
	check_step('a load');
}
like(coordinator_error($call), qr/has some of these ids already/, 'what is loaded already');

# a worker that is not there
my $last = 1_000_000;

sub fill_with_new
{
	coordinate("TRUNCATE staging; INSERT INTO staging
		SELECT $last + i, NULL, ${\random_fp()} FROM generate_series(1, 300) i");
	$last += 300;
	return;
}

sub rows_of_shards
{
	return coordinate('SELECT (SELECT count(*) FROM docs), (SELECT count(*) FROM block_rows)');
}
my $before = rows_of_shards();
fill_with_new();
$workers[1]->stop;
like(coordinator_error($call), qr/connection to the remote node .* failed/, 'a load without a worker');
like(coordinator_error('SELECT id FROM docs WHERE fp % 0'), qr/connection to the remote node .* failed/,
	'a look-up without a worker');
$workers[1]->start;
is(rows_of_shards(), $before, 'nothing was half loaded');
coordinate($call);
check_step('a load after that');

# a worker that hangs before a session is connected to it
coordinate("ALTER SYSTEM SET citus.node_connection_timeout = '2s'; SELECT pg_reload_conf()");
kill 'STOP', $workers[1]->{_pid};
my $error = coordinator_error('SELECT id FROM docs WHERE fp % 0');
kill 'CONT', $workers[1]->{_pid};
like($error, qr/could not establish any connections to the node .* after 2000 ms/, 'a worker that hangs');
coordinate("ALTER SYSTEM RESET citus.node_connection_timeout; SELECT pg_reload_conf()");

# A shard that fails at the commit, when the others are prepared
my $shard = coordinate("SELECT min(shard_name) FROM citus_shards
	WHERE table_name = 'block_rows'::regclass AND nodeport = ${\$workers[0]->port}");
my $by_hand = 'SET citus.enable_ddl_propagation = off; SET citus.enable_manual_changes_to_shards = on;
	SET citus.override_table_visibility = off';
$workers[0]->safe_psql(
	$database, qq{
	$by_hand;
	CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE ''failed at the commit''; END';
	CREATE CONSTRAINT TRIGGER fail AFTER INSERT ON $shard DEFERRABLE INITIALLY DEFERRED
		FOR EACH ROW EXECUTE FUNCTION fail();
	ALTER TABLE $shard DISABLE TRIGGER fail});

sub fails_at_commit
{
	my ($sql, $what) = @_;
	my $rows = coordinate('SELECT id, fp FROM docs ORDER BY id');

	$before = rows_of_shards();
	$workers[0]->safe_psql($database, "$by_hand; ALTER TABLE $shard ENABLE TRIGGER fail");
	like(coordinator_error($sql), qr/failed at the commit/, "$what that a shard does not commit");
	$workers[0]->safe_psql($database, "$by_hand; ALTER TABLE $shard DISABLE TRIGGER fail");
	is(rows_of_shards(), $before, 'nothing was half written');
	same_rows(coordinate('SELECT id, fp FROM docs ORDER BY id'), $rows, 'nothing is changed');
	check_step($what);
	return;
}
fill_with_new();
fails_at_commit($call, 'a load');
coordinate($call);

# a document that changes; one of its block rows may go to that shard
my $change = one_of("'the new text'") =~ s/\bid = 1\b/id = $last/gr;
my ($shard_id) = $shard =~ /_(\d+)$/;
my $in_shard = coordinate("SELECT 'a text ' || i
	FROM generate_series(1, 10000) i, simhash_blocks(simhash_minhash('a text ' || i)) b
	WHERE get_shard_id_for_distribution_column('block_rows', b.prefix * 4 + b.table_no) = $shard_id LIMIT 1");
fails_at_commit($change =~ s/the new text/$in_shard/gr, 'a change');
coordinate($change);
check_step('a change');
is(coordinate("SELECT body FROM docs WHERE id = $last"), 'the new text', 'it was made');
like(coordinator_error($change =~ s/\bid = $last\b/id = $last - 1/gr),
	qr/violates exclusion constraint/, 'a change that is rejected');
check_step('a change that is rejected');

# block rows without a document
my $deleted = $last - 2;
coordinate("DELETE FROM docs WHERE id = $deleted");
coordinate("TRUNCATE staging; INSERT INTO staging
	SELECT $last + 1, 'near it', (fp::bigint # 1)::simhash FROM block_rows WHERE id = $deleted LIMIT 1");
my ($block, $fp) = coordinator_error($call) =~
  /ERROR:  block_rows has a row without its document\nDETAIL: .* existing key \(block, fp\)=\((\d+), (\d+)\)/;
is(coordinate(one_of('block = 264 AND fp = 66') =~ s/264/$block/gr =~ s/\b66\b/$fp/gr),
	$deleted, 'the row that rejects a load');
# and documents without block rows
coordinate("DELETE FROM block_rows WHERE id = $deleted - 1");
run_part(\@nodes, $_ =~ s/CALL load_staging\(\)/$call/r =~ s/ UNION SELECT id FROM misplaced//r)
  foreach one_of('CREATE TABLE repair'), one_of('DELETE FROM docs WHERE id + 0');
is(run_part(\@nodes, one_of('TABLE repair_docs EXCEPT')), '', 'no document is left out');
run_part(\@nodes, one_of('DROP TABLE repair'));
check_step('a repair');
is(coordinate("SELECT count(*) FROM docs WHERE id = $deleted - 1"), '1', 'what was there is there');
my ($of_docs) = one_of('AS of_docs') =~ /^SELECT \((SELECT sum.*)\) AS of_docs,/m;
isnt(coordinate($of_docs), '', 'there are sums');
is(coordinate($of_docs), coordinate('SELECT sum(hashint8extended(block, id)) FROM block_rows'), 'which are equal');

# what is lost by explaining, of which the page warns
coordinate('TRUNCATE docs, block_rows');
my ($code, $stdout, $stderr) = $coordinator->psql($database, prepared('look_up') . "BEGIN;
	INSERT INTO docs SELECT i, NULL, 0 FROM generate_series(1, 1000) i; EXPLAIN EXECUTE look_up (0); COMMIT");
diag(sprintf('EXPLAIN EXECUTE: %s; %d of 1000 rows are there; %s',
		$stdout =~ /(Error: .*)/, coordinate('SELECT count(*) FROM docs'), $stderr =~ /(WARNING: .*)/));
coordinate("TRUNCATE docs; BEGIN; INSERT INTO docs SELECT i, NULL, 0 FROM generate_series(1, 1000) i;
	EXPLAIN SELECT id FROM docs WHERE fp <~> '0' <= 3; COMMIT");
is(coordinate('SELECT count(*) FROM docs'), '1000', 'and nothing is lost');

# Sessions side by side, while a worker is added and shards move there, with their constraint.
# Batches of several hundred rows, over many shards, deadlock unless one is written after the other.
my $sessions = 8;
my $groups = $ENV{SESSION_ROWS} || 3200;
my $batches = int($groups / 400) || 1;
coordinate('TRUNCATE docs, block_rows; TRUNCATE staging');
my $start = time;
my $port = $workers[2]->port;
my $added = { database => $database, sql => $add_worker =~ s/'worker-3\.example', 5432/'127.0.0.1', $port/r };
my @errors = run_sessions($coordinator,
	$added, map { near_loads($database, $_, $groups, $batches, call => $call) } 1 .. $sessions);
s/^psql:\S+ NOTICE: .*\n(DETAIL: .*\n)?//mg foreach @errors;
is(join('', @errors), '', "$sessions sessions loaded, and a worker was added");
diag(sprintf('%d sessions, %d rows each, in %d s', $sessions, $groups, time - $start));
is(coordinate('SELECT count(*), count(DISTINCT id % 1000000) FROM docs'), "$groups|$groups", 'one of each group');
is(coordinate('SELECT count(*) FROM simhash_find_all_in((SELECT array_agg(fp) FROM docs))'), '0',
	'and no two are near each other');
check_step('loads at the same time');
is(coordinate('SELECT count(DISTINCT nodeport) FROM citus_shards WHERE table_name = \'block_rows\'::regclass'), '3',
	'all workers have block rows');

# the constraint in each of the shards, and in those that move again
coordinate(q{
	CREATE FUNCTION refusing_shards() RETURNS integer LANGUAGE plpgsql AS $$
	DECLARE
		refusing integer := 0;
		r record;
	BEGIN
		FOR r IN SELECT DISTINCT ON (shard) block, fp
			FROM (SELECT get_shard_id_for_distribution_column('block_rows', block) AS shard, * FROM block_rows) b
		LOOP
			BEGIN
				INSERT INTO block_rows VALUES (r.block, (r.fp::bigint # 1)::simhash, -1);
			EXCEPTION
				WHEN exclusion_violation THEN
					refusing := refusing + 1;
			END;
		END LOOP;
		RETURN refusing;
	END $$});
is(coordinate('SELECT refusing_shards()'), $shards, 'every shard refuses');
foreach my $mode ('auto', 'block_writes')
{
	coordinate("SELECT citus_move_shard_placement(min(shardid), '127.0.0.1', ${\$workers[0]->port},
			'127.0.0.1', ${\$workers[1]->port}, shard_transfer_mode => '$mode')
		FROM citus_shards WHERE table_name = 'block_rows'::regclass AND nodeport = ${\$workers[0]->port}");
	is(coordinate('SELECT refusing_shards()'), $shards, "every shard refuses after a move: $mode");
	check_step("a move: $mode");
}

# deadlocks without it, which the page says are usual
coordinate('TRUNCATE docs, block_rows');
@errors = run_sessions($coordinator, map { near_loads($database, $_, $groups, $batches) } 1 .. $sessions);
diag(sprintf('not one at a time: %d of %d sessions failed: %s', scalar(grep { $_ ne '' } @errors), $sessions,
	join(', ', map { /ERROR: +(.{1,60})/ } @errors)));
check_step('loads that fail');
$_->stop('immediate') foreach @nodes;
done_testing();
