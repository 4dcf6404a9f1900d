# Indexes that CREATE INDEX makes of random tables: 200,000 to 2,000,000 rows in 1 to 50
# groups, or of one column, of 8 to 576 bits, at any fillfactor, with and without workers,
# in memory and on tapes.  Half of them then get rows, lose some and are vacuumed.  After
# that simhash_index_check() finds each row in each.  At these sizes groups have as many
# leaves as it takes for them to have leading bytes in common.
#
# SEED in the environment repeats the tables.  MINUTES says how many there are, four for
# each, which takes about as long.

use FindBin;
use lib "$FindBin::RealBin/../t";
use SimhashTest;

my $seed = $ENV{SEED} || time;
my $builds = int 4 * ($ENV{MINUTES} || 10);
srand($seed);
diag("SEED=$seed");

my $node = start_node('builds', [], 'max_wal_size = 4GB', 'autovacuum = off', 'wal_level = minimal',
	'max_wal_senders = 0', 'min_parallel_table_scan_size = 0');

sub pick
{
	return $_[ rand @_ ];
}

my $problems = 0;
foreach my $build (1 .. $builds)
{
	my $width = pick(64, 64, 64, 8 * (1 + int rand 72));
	my $parts = int(($width + 63) / 64);
	# as many entries, whatever the width, beyond a million rows
	my $most = $parts > 2 ? 2000000 / ($parts / 2) : 2000000;
	$most = 300000 if $most < 300000;
	my $rows = int(200000 * ($most / 200000)**rand);
	my $groups = pick(1, 1 + int rand 8, 1 + int rand 50);
	my $fillfactor = pick(undef, 50 + int rand 51);
	my $workers = pick(0, 0, 2);
	my $memory = pick('1MB', '16MB', '1GB');
	my $columns = $groups == 1 ? pick('fp', 'g, fp') : 'g, fp';
	# the first bytes of all, and how many fingerprints there are
	my $first = pick('', '', '00', 'ff', 'ffff', 'fffefdfc');
	my $different = pick($rows, $rows, $rows, int($rows / 1000) + 1);
	my $changed = pick(0, 1);
	my $bytes = $width / 8;
	my $type = $width == 64 ? pick('simhash', 'simhash_bits(64)') : "simhash_bits($width)";
	my $fp = sub {
		my ($i) = @_;
		my $value = join ' || ', "'\\x$first'::bytea",
		  map { "sha512(('$seed/$build/$_/' || ($i) % $different)::bytea)" } 1 .. ($bytes > 64 ? 2 : 1);
		return "substr($value, 1, $bytes)::simhash_bits"
		  . ($type eq 'simhash' ? '(64)::simhash' : "($width)");
	};
	# of the first groups there are more rows, or as many of all
	my $group = pick("i % $groups", "floor($groups * power(hashint4(i)::int8 / 4294967296.0 + 0.5, 2))::int");
	my $options = defined $fillfactor ? "WITH (fillfactor = $fillfactor)" : '';
	my $what = "$build: $rows rows in $groups groups, ($columns) of $type, $different different ones after '$first', "
	  . "$options, $workers workers, $memory" . ($changed ? ', changed' : '');
	my $statements = qq{
		SET max_parallel_maintenance_workers = $workers;
		SET maintenance_work_mem = '$memory';
		BEGIN;
		CREATE TABLE t (g int, fp $type) WITH (parallel_workers = 2);
		INSERT INTO t SELECT $group, } . $fp->('i') . qq{ FROM generate_series(1, $rows) i;
		CREATE INDEX t_fp ON t USING simhash ($columns) $options;
		COMMIT;
	};
	$statements .= qq{
		INSERT INTO t SELECT $group, } . $fp->("$rows - 3 * i") . qq{ FROM generate_series(1, $rows / 50) i;
		DELETE FROM t WHERE (ctid::text::point)[0]::int % 40 = 7;
		VACUUM (INDEX_CLEANUP ON, PARALLEL 0) t;
		INSERT INTO t SELECT $group, } . $fp->("$rows + i") . qq{ FROM generate_series(1, $rows / 100) i;
	} if $changed;
	my ($status, $stdout, $stderr) =
	  $node->psql('postgres', "$statements SELECT simhash_index_check('t_fp', true);", on_error_stop => 1);
	is("$status $stderr", '0 ', $what) or $problems++;
	$node->safe_psql('postgres', 'ROLLBACK; DROP TABLE IF EXISTS t');
}
diag("$builds builds, $problems problems");
done_testing();
