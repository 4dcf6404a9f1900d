# Rows on three shards, by postgres_fdw: the statements of examples/shards give the rows that
# those for one table give.  Their operation is in batch_distributed_operation.pl.

use lib 'test/t';
use DistributedTest;
use SimhashTest;

my $rows = $ENV{ROWS} || 6000;
my @nodes = make_machines(3);
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

# what doc/several-machines.md shows is of an example
my @examples = map { slurp_file($_) } glob("$FindBin::RealBin/../../examples/shards/*.sql");
foreach my $shown (slurp_file("$FindBin::RealBin/../../doc/several-machines.md") =~ /^```sql\n(.*?)^```$/gms)
{
	ok(scalar(grep { index($_, $shown) >= 0 } @examples), 'an example has what the page shows') or diag($shown);
}

# the examples from beginning to end
run_part(\@nodes, $_) foreach jobs(), map { one_of("CREATE VIEW $_") } @step_views;
pass('the examples were run');

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
is_sent('EXPLAIN (VERBOSE, COSTS OFF) ' . one_of('WITH near AS MATERIALIZED (SELECT id, fp FROM docs') =~ s/^--.*\n//gmr,
	'%\) ANY \(\$1', 'an array');
is_sent("$generic; " . prepared('nearest') . 'EXPLAIN (VERBOSE, COSTS OFF) EXECUTE nearest (5)',
	'ORDER BY .*<~~>.* LIMIT 10', 'a limit');

#
# Texts by =~=, and wide fingerprints
#

my @settings = ('SET plan_cache_mode = auto', $generic);
check_alike(@settings);
my ($alike_to_many) = one_of('PREPARE alike (text)') =~ /^(WITH alike .*)/ms;
is_sent("$generic; " . prepared('alike') . "EXPLAIN (VERBOSE, COSTS OFF) EXECUTE alike ('a')",
	'body OPERATOR\(public.=~=\) \$1', 'a text');
is_sent("EXPLAIN (VERBOSE, COSTS OFF) $alike_to_many", 'body OPERATOR\(public.=~=\) ANY \(\$1', 'an array of texts');
coordinate('DROP INDEX staging_body; CREATE TABLE images (id bigint, fp simhash_bits(256)) PARTITION BY HASH (id)');
foreach my $i (0 .. $#shards)
{
	$shards[$i]->safe_psql($database, 'CREATE TABLE images (id bigint PRIMARY KEY, fp simhash_bits(256));
		CREATE INDEX images_fp ON images USING simhash (fp); ALTER TABLE images OWNER TO corpus');
	coordinate(sprintf "CREATE FOREIGN TABLE images_%d PARTITION OF images FOR VALUES WITH (MODULUS %d, REMAINDER %d)
		SERVER shard_%1\$d OPTIONS (table_name 'images')", $i + 1, scalar(@shards), $i);
}
check_wide(@settings);
is_sent("$generic; " . prepared('look_up_image') . "EXPLAIN (VERBOSE, COSTS OFF) EXECUTE look_up_image (NULL)",
	'simhash_within\(fp, \$1', 'a wide fingerprint');

#
# Keeping near-duplicates out
#

sub fill_staging
{
	my ($select) = @_;
	coordinate("TRUNCATE staging; INSERT INTO staging $select");
	return;
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

# rows that are loaded already
($code, $stdout, $stderr) = $coordinator->psql($database, 'CALL load_staging()');
like($stderr, qr/has some of these ids already.*HINT: .*delete what it left/s, 'rows that are loaded already');

# sessions of two coordinators
my $sessions = 8;
my $groups = $ENV{SESSION_ROWS} || 240;
my $other = 'corpus_too';
$coordinator->safe_psql('postgres', "CREATE DATABASE $other TEMPLATE template0");
run_part(\@nodes, $_, $other) foreach one_of('CREATE SERVER shard_1'), one_of('CREATE FOREIGN TABLE docs_1');
$coordinator->safe_psql($other,
	'CREATE TABLE staging (id bigint PRIMARY KEY, body text, fp simhash);
	CREATE INDEX staging_fp ON staging USING simhash (fp)');
run_part(\@nodes, one_of('CREATE PROCEDURE load_staging'), $other);
coordinate('TRUNCATE docs, block_rows, staging');

# waiting for each other over several shards is ended sooner than in the examples, so that it does not take long
foreach my $db ($database, $other)
{
	$coordinator->safe_psql($db, "ALTER SERVER shard_$_ OPTIONS (SET options '-c lock_timeout=1s')") foreach 1 .. 3;
}

foreach my $call ('CALL load_staging()', 'CALL load_staging(one_at_a_time => true)')
{
	coordinate('TRUNCATE docs, block_rows');
	my $start = time;
	my @errors = run_sessions($coordinator,
		map { near_loads($_ % 2 ? $database : $other, $_, $groups, 4, call => $call) } 1 .. $sessions);
	is(join('', @errors), '', "$sessions sessions: $call");
	diag(sprintf('%d sessions, %d rows each, in %d s', $sessions, $groups, time - $start));
	is(coordinate('SELECT count(*), count(DISTINCT id % 1000000) FROM docs'), "$groups|$groups", 'one of each group');
	is(coordinate('SELECT count(*) FROM simhash_find_all_in((SELECT array_agg(fp) FROM docs))'), '0',
		'and no two are near each other');
	check_step('loads at the same time');
}

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
my @errors = run_sessions($coordinator, waiting_session(1, 1, 2), waiting_session(2, 2, 1));
like(join('', @errors), qr/lock timeout/, 'a wait over two shards ends');
is(scalar(grep { $_ ne '' && !/canceling statement due to lock timeout/ } @errors), 0, 'by nothing else');
cmp_ok(coordinate('SELECT count(*) FROM block_rows'), '<=', 2, 'at most one of them wrote');
$_->stop foreach @nodes;
done_testing();
