# Rows on three shards, by postgres_fdw: the statements of doc/several-machines.md give the
# rows that those for one table give.

use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin;
use DistributedTest;
use File::Find;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SimhashTest;
use Test::More;

my $demo = "$FindBin::RealBin/../demo";
my $rows = $ENV{ROWS} || 6000;
my @nodes = make_machines();
my ($coordinator, @shards) = @nodes;

sub coordinate
{
	return $coordinator->safe_psql($database, @_);
}

# Real texts: descriptions of packages where there are lists, and in any case what Perl
# brings, by paragraphs
sub collect_texts
{
	my ($file) = @_;
	my $paragraphs = 0;

	system("apt-cache dumpavail 2>/dev/null | perl '$demo/packages.pl' 2>/dev/null | head -n $rows >'$file'");
	find({ no_chdir => 1,
		   preprocess => sub { sort @_ },
		   wanted => sub {
			   return if $paragraphs >= $rows || !/\.p(od|m)$/ || !-f || !-r _;
			   my @found = map { s/\s+/ /gr } grep { /\w{3}/ && !/[\\\x80-\xff]/ } split /\n\s*\n/, slurp_file($_);
			   append_to_file($file, join '', map { "paragraph\t$_\n" } @found);
			   $paragraphs += @found;
		   }
		 },
		grep { !ref && m{^/} && -d } @INC);
	return;
}

my $texts = PostgreSQL::Test::Utils::tempdir . '/texts';
collect_texts($texts);
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

# What a statement of the page gives, and what the same gives of one table; perhaps with other
# words in place of some
sub coordinate_both
{
	my ($sql, %replace) = @_;
	my $of_one;

	while (my ($words, $others) = each %replace)
	{
		die "there are no words $words" if $sql !~ s/\Q$words\E/$others/g;
	}
	$of_one = $sql;
	$of_one =~ s/\bFROM docs(_\d)?\b/FROM one/g or die "no table in $sql";
	return (coordinate($sql), coordinate($of_one));
}

# Of a block that prepares a statement, this statement alone
sub prepared
{
	my ($name) = @_;
	my ($sql) = one_of("PREPARE $name (") =~ /^(PREPARE \Q$name\E .*?;)/ms;
	return $sql;
}

# The rows of one table, and of the shards
sub load_rows
{
	my ($select) = @_;

	coordinate("TRUNCATE docs, block_rows, one, staging; DROP TABLE IF EXISTS pairs, near_rows, duplicates;
		INSERT INTO one $select; ANALYZE one; INSERT INTO docs SELECT id, body, fp FROM one");
	my ($fill) = one_of('INSERT INTO block_rows SELECT b.prefix * 4 + b.table_no, d.fp') =~ /^(INSERT INTO block_rows.*?;)/ms;
	coordinate($fill);
	return;
}

my $generic = 'SET plan_cache_mode = force_generic_plan';
my $one_query = '1234567890123456789';

sub check_jobs
{
	my ($what) = @_;
	my @queries = split /\n/, coordinate('SELECT fp FROM one WHERE fp IS NOT NULL ORDER BY id % 101, id LIMIT 12');

	# look-ups
	my ($literal) = one_of('PREPARE look_up (') =~ /^(SELECT id.*?;)/ms;
	foreach my $query ($one_query, @queries)
	{
		same_rows(coordinate_both($literal, $one_query => $query), "$what: near $query");
	}
	foreach my $setting ('SET plan_cache_mode = auto', $generic)
	{
		same_rows(coordinate_both(join("\n", "$setting;", prepared('look_up'), map { "EXECUTE look_up ('$_');" } @queries)),
			"$what: near parameters, $setting");
	}
	my ($words) = coordinate('SELECT min(body) FROM one') || 'none';
	$words =~ s/'/''/g;
	same_rows(coordinate_both("$generic; " . prepared('look_up_text') . "EXECUTE look_up_text ('$words')"),
		"$what: near a text");

	# many
	coordinate("INSERT INTO staging SELECT -id, body, (fp::bigint # (1::bigint << (id % 61)::int))::simhash FROM one WHERE id % 7 = 0;
		ANALYZE staging");
	same_rows(coordinate_both(one_of('WITH near AS MATERIALIZED (SELECT id, fp FROM docs')), "$what: many look-ups");

	# nearest first: where several are equally near, any of them
	foreach my $query (@queries[ 0 .. 3 ])
	{
		my ($got, $expected) = coordinate_both("$generic; " . prepared('nearest') . "EXECUTE nearest ('$query')");

		s/^\d+\|//mg foreach $got, $expected;
		is(scalar(split /\n/, $got), 10, "$what: ten");
		# each of three branches over one table gives the same
		$expected = coordinate("SELECT fp <~> '$query' FROM one ORDER BY fp <~> '$query' LIMIT 10");
		same_rows($got, $expected, "$what: nearest to $query");
	}

	# pairs, clusters, duplicates
	coordinate(one_of('CREATE TABLE pairs'));
	my $pairs = coordinate(one_of('WHERE p.a <> p.b OR'));
	$pairs =~ s/^(\d+)\|(\d+)/$1 < $2 ? "$1|$2" : "$2|$1"/gme;
	cmp_ok(scalar(split /\n/, $pairs), '>', 20, "$what: there are pairs");
	same_rows($pairs,
		coordinate("SELECT least(x.id, y.id), greatest(x.id, y.id), distance
			FROM simhash_find_all('one_fp') JOIN one x ON x.ctid = a JOIN one y ON y.ctid = b"), "$what: pairs");
	same_rows(coordinate(one_of('simhash_components(e.a')),
		coordinate("SELECT min(id) OVER (PARTITION BY cluster), id, size
			FROM simhash_find_clusters('one_fp') JOIN one ON one.ctid = member"), "$what: clusters");
	coordinate(one_of('CREATE TABLE duplicates'));
	my $duplicates = coordinate('SELECT * FROM duplicates');
	same_rows($duplicates,
		coordinate("SELECT x.id, y.id, distance
			FROM simhash_find_duplicates('one_fp', keep => 'length(body) DESC, id')
			JOIN one x ON x.ctid = duplicate JOIN one y ON y.ctid = keeper"), "$what: duplicates");
	coordinate(one_of('SELECT duplicate FROM duplicates'));
	is(coordinate('SELECT count(*) FROM docs'),
		coordinate('SELECT count(*) FROM one') - (split /\n/, $duplicates), "$what: the others are left");
	is(coordinate('SELECT count(*) FROM near_values'), '0', "$what: and not near each other");
	check_step($what);
	return;
}

# Block rows are those of the rows
sub check_step
{
	my ($what) = @_;
	is(coordinate(one_of('lacks_block_row')), '', "$what: rows and block rows are in step");
	return;
}

coordinate("CREATE TABLE one (id bigint PRIMARY KEY, body text, fp simhash);
	CREATE INDEX one_fp ON one USING simhash (fp)");
# until rows are to be kept out
foreach my $shard (@shards)
{
	$shard->safe_psql($database, "ALTER TABLE block_rows_$_ DROP CONSTRAINT block_rows_${_}_block_fp_excl") foreach 0 .. 3;
}
load_rows('SELECT id, body, simhash_compute(body) FROM texts');
check_jobs('real texts');
my $random = '((random() * 9e18)::bigint # ((random() * 2)::bigint << 62))::simhash';
load_rows("SELECT i, 'text ' || i, CASE WHEN i % 97 > 0 THEN
		(nth_value(f::bigint, 1) OVER (PARTITION BY CASE WHEN i % 4 = 0 THEN i % 400 ELSE -i END ORDER BY i)
			# (1::bigint << (random() * 63)::int))::simhash END
	FROM (SELECT i, $random AS f FROM generate_series(1, $rows / 2) i) s");
check_jobs('random fingerprints');
load_rows("SELECT i, repeat('x', i % 50), CASE WHEN i % 3 > 0 THEN $random
		WHEN i % 2 > 0 THEN (i % 4)::simhash ELSE ((i % 77) * 64 + (i % 5))::simhash END
	FROM generate_series(1, least($rows, 3000) / 2) i");
check_jobs('many duplicates');

# What is sent to the shards
sub is_sent
{
	my ($sql, $condition, $what) = @_;
	my $plan = coordinate($sql);
	is(scalar(() = $plan =~ /Remote SQL: .*$condition/g), 3, "sent to all shards: $what") or diag($plan);
	return;
}
is_sent("EXPLAIN (VERBOSE, COSTS OFF) SELECT id FROM docs WHERE fp <~> 5 <= 3", 'simhash_within\(fp, ', 'a literal');
is_sent("$generic; " . prepared('look_up') . 'EXPLAIN (VERBOSE, COSTS OFF) EXECUTE look_up (5)', 'simhash_within\(fp, \$1', 'a parameter');
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
	return join ' ', map { $_->safe_psql($database, 'SELECT (SELECT count(*) FROM docs) || \'/\' || (SELECT count(*) FROM block_rows)') }
	  grep { $_->{_pid} } @shards;
}

coordinate('TRUNCATE docs, block_rows, one; ALTER TABLE one ADD EXCLUDE USING simhash (fp WITH %)');
run_part(\@nodes, one_of('ALTER TABLE block_rows_0 ADD EXCLUDE'));
foreach my $half (0, 1)
{
	my $select = "SELECT id, body, simhash_compute(body) FROM texts WHERE id % 2 = $half ORDER BY id";

	fill_staging($select);
	coordinate("CALL load_staging(); INSERT INTO one $select ON CONFLICT DO NOTHING");
	same_rows(coordinate('SELECT id, fp FROM docs'), coordinate('SELECT id, fp FROM one'), 'what is kept out of one table');
	check_step('a load');
}

# a row that is near one that is there, by one who does not ask
my ($code, $stdout, $stderr) = $coordinator->psql($database, "BEGIN; INSERT INTO docs SELECT -1, body, fp FROM docs WHERE id % 5 = 1 LIMIT 1;
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
($code, $stdout, $stderr) = $coordinator->psql($database, one_of('INSERT INTO staging SELECT -id') =~ s/.*/SELECT id FROM docs WHERE fp % 0/sr);
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
	CREATE CONSTRAINT TRIGGER leave AFTER INSERT ON docs DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION leave()});
($code, $stdout, $stderr) = $coordinator->psql($database, 'CALL load_staging()');
like($stderr, qr/failed at the commit/, 'a load that a shard does not commit');
is(coordinate('SELECT count(*) FROM staging'), '300', 'what it was is known');
$shards[2]->safe_psql($database, 'DROP TRIGGER leave ON docs');
coordinate(one_of('DELETE FROM block_rows WHERE id = ANY (ARRAY(SELECT id FROM staging))'));
is(rows_of_shards(), $before, 'taken back');
check_step('what is taken back');

# sessions of two coordinators
my $sessions = 8;
my $groups = $ENV{GROUPS} || 240;
my $batches = 4;
my $other = 'corpus_too';
$coordinator->safe_psql('postgres', "CREATE DATABASE $other TEMPLATE template0");
run_part(\@nodes, $_, $other) foreach one_of('CREATE SERVER shard_1'), one_of('CREATE FOREIGN TABLE docs_1');
$coordinator->safe_psql($other, 'CREATE TABLE staging (id bigint PRIMARY KEY, body text, fp simhash); CREATE INDEX staging_fp ON staging USING simhash (fp)');
run_part(\@nodes, one_of('CREATE PROCEDURE load_staging') =~ s/^CALL.*//mr, $other);
coordinate('TRUNCATE docs, block_rows, staging');

# Each loads a row of each group; rows of a group differ in two bits.
sub session
{
	my ($s) = @_;
	my $sql = 'CREATE TEMPORARY TABLE staging (id bigint PRIMARY KEY, body text, fp simhash);
		CREATE INDEX staging_fp ON staging USING simhash (fp);';

	foreach my $batch (1 .. $batches)
	{
		$sql .= "TRUNCATE staging; INSERT INTO staging
			SELECT $s * 1000000 + g, NULL, (hashint8extended(g, 0) # (1::bigint << (g + 7 * $s) % 63))::simhash
			FROM generate_series(1, $groups) g WHERE (g + $s) % $batches + 1 = $batch;
			CALL load_staging();\n";
	}
	return { database => $s % 2 ? $database : $other, sql => $sql };
}
my $start = time;
my @errors = run_sessions($coordinator, map { session($_) } 1 .. $sessions);
my $seconds = time - $start;
is(join('', @errors), '', "$sessions sessions loaded");
diag(sprintf('%d sessions, %d rows each, in %d s', $sessions, $groups, $seconds));
is(coordinate('SELECT count(*), count(DISTINCT id % 1000000) FROM docs'), "$groups|$groups", 'one of each group');
is(coordinate('SELECT count(*) FROM simhash_find_all_in((SELECT array_agg(fp) FROM docs))'), '0', 'and no two are near each other');
check_step('loads at the same time');
$_->stop foreach @nodes;
done_testing();
