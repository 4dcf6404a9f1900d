# Index files with random damage: what reads or changes such an index ends with an
# answer or a clear error; the server stays up, and the table is not touched.
#
# Damage of a fingerprint cannot be told from another fingerprint, so answers are
# not compared.  But rows that are found by parts of wide fingerprints are checked, so
# there are no more than there should be.  SEED in the environment repeats a run, MINUTES says how long it goes on.

use FindBin;
use lib "$FindBin::RealBin/../t";
use SimhashTest;

my $seed = $ENV{SEED} || time;
my $minutes = $ENV{MINUTES} || 5;
srand($seed);
diag("SEED=$seed");
my $block_size = 8192;

# page checksums would find the damage first
my ($help) = run_command([ 'initdb', '--help' ]);
my $node = make_node('damage',
	[ extra => [ $help =~ /--no-data-checksums/ ? '--no-data-checksums' : () ] ],
	'restart_after_crash = on', "statement_timeout = '${PostgreSQL::Test::Utils::timeout_default}s'", "maintenance_work_mem = '16MB'");
$node->start;
$node->safe_psql('postgres', 'CREATE DATABASE sound');
load_helpers($node, 'sound');
# in half of the runs the index has several columns, and in two thirds wide fingerprints
my $columns = rand() < 0.5 ? 'fp' : 'tenant, fp';
my ($type, $bits, $options) = @{ (
		[ 'simhash', 64, 'blocks = 3, distance = 2' ],
		# a part of 64 bits and one that is too short to be searched
		[ 'simhash_bits(72)', 72, 'blocks = 6, distance = 5' ],
		[ 'simhash_bits(256)', 256, 'blocks = 12, distance = 11' ])[ int rand 3 ] };
my $wide = $type ne 'simhash';
# a fingerprint like one of 64 bits, and one that differs from another in one bit
my ($made, $changed) =
  $wide
  ? ("substring(repeat(h::bit(64)::text, 4)::varbit FOR $bits)::simhash_bits",
	'set_bit(fp::varbit, 5, 1 - get_bit(fp::varbit, 5))::simhash_bits')
  : ('h::simhash', '(fp::bigint # 1)::simhash');
# low fillfactors, so that there are inner pages, and several levels of them
$node->safe_psql(
	'sound', qq{
	CREATE FUNCTION made(h bigint) RETURNS $type LANGUAGE sql IMMUTABLE AS \$\$ SELECT $made \$\$;
	CREATE FUNCTION changed(fp $type) RETURNS $type LANGUAGE sql IMMUTABLE AS \$\$ SELECT $changed \$\$;
	CREATE TABLE a (id bigint GENERATED ALWAYS AS IDENTITY, fp $type, tenant integer DEFAULT random() * 5);
	INSERT INTO a (fp) SELECT made(h) FROM make_fingerprints(3000, 0.2) h;
	INSERT INTO a (fp) SELECT NULL FROM generate_series(1, 300);
	INSERT INTO a (fp) SELECT made(0) FROM generate_series(1, 600);
	CREATE INDEX a_fp ON a USING simhash ($columns) WITH ($options, fillfactor = 10);
	INSERT INTO a (fp) SELECT made(h) FROM make_fingerprints(1000, 0.3) h;
	DELETE FROM a WHERE id % 10 = 0;
	CREATE TABLE b AS SELECT tenant, changed(fp) AS fp FROM a WHERE id % 3 = 0;
	ALTER TABLE b ALTER fp TYPE $type;
	CREATE INDEX b_fp ON b USING simhash ($columns);
	ALTER TABLE query DROP fp;
	ALTER TABLE query ADD fp $type;
	INSERT INTO query SELECT row_number() OVER (), fp FROM a WHERE id % 50 = 1 AND fp IS NOT NULL});

# all that reads or changes an index; rolled back, so that the next finds the same
my $index_scan = 'SET enable_seqscan = off; SET enable_bitmapscan = off;';
my $d = int $bits / 64;
my ($two, $three, $four) = (2 * $d, 3 * $d, 4 * $d);
my @statements = (
	"$index_scan SELECT count(*) FROM a WHERE fp <~> made(0) <= $bits",
	"$index_scan SELECT count(id) FROM query q JOIN a ON a.fp <~> q.fp <= $four",
	"$index_scan SELECT count(id) FROM a WHERE fp % ANY (ARRAY(SELECT fp FROM query))",
	"$index_scan SELECT count(id) FROM a WHERE fp IS NULL",
	"$index_scan SELECT count(id) FROM query q JOIN a ON a.fp <~> q.fp <= $four AND tenant = qno % 6",
	"$index_scan SELECT count(*) FROM (SELECT id, fp FROM a WHERE tenant IN (2, 4) ORDER BY fp <~> made(5) LIMIT 100) s",
	"$index_scan SELECT count(*) FROM (SELECT id, fp FROM a ORDER BY fp <~> made(5) LIMIT 100) s",
	"$index_scan SELECT count(*) FROM (SELECT id, fp FROM a ORDER BY fp <~> made(5)) s",
	'SET enable_seqscan = off; SET enable_indexscan = off;'
	  . " SELECT count(id) FROM query q JOIN a ON a.fp <~> q.fp <= $three",
	"SELECT count(*) FROM simhash_find_all('a_fp'::regclass, $two)",
	"SELECT count(*) FROM simhash_find_clusters('a_fp'::regclass, $three)",
	"SELECT count(*) FROM simhash_find_duplicates('a_fp'::regclass, $three, keep => 'id DESC')",
	"SELECT count(*) FROM simhash_find_matches('b_fp'::regclass, 'a_fp'::regclass, $two)",
	"SELECT count(*) FROM simhash_index_info('a_fp')",
	"SELECT simhash_index_check('a_fp', true)",
	'INSERT INTO a (fp) SELECT made(h) FROM make_fingerprints(500, 0.7) h;'
	  . ' INSERT INTO a (fp) VALUES (NULL), (made(0)), (made(-1))',
	'UPDATE a SET fp = changed(fp) WHERE id % 9 = 1');
my @last = ('VACUUM (INDEX_CLEANUP ON) a', "SELECT simhash_index_check('a_fp')");

# how many rows there are at most
my %most = map { $_ => $node->safe_psql('sound', $_) } grep { $wide && /FROM a\b|JOIN a\b/ && !/IS NULL/ } @statements;

my ($file, $heap) = split /\|/, $node->safe_psql('sound',
	"SELECT pg_relation_filenode('a_fp'), pg_relation_filenode('a')");

# A copy of the database, of whose files the server has read nothing yet.  Returns
# its directory.
sub copy_database
{
	$node->safe_psql('postgres',
		'CREATE DATABASE damaged TEMPLATE sound STRATEGY file_copy');
	return $node->data_dir . '/base/'
	  . $node->safe_psql('postgres', "SELECT oid FROM pg_database WHERE datname = 'damaged'");
}

my $sound = slurp_file(copy_database() . "/$file");
$node->safe_psql('postgres', 'DROP DATABASE damaged');
my $pages = length($sound) / $block_size;
cmp_ok($pages, '>', 50, 'the index has many pages');

# Damage an image; returns what was done.
sub damage
{
	my ($image) = @_;
	my $page = rand() < 0.2 ? 0 : int rand $pages;
	my $from = $page * $block_size;
	my $kind = int rand 9;
	# anywhere, or what describes the page
	my $offset = (0, 24, $block_size - 64)[ int rand 3 ];
	my $at = $from + (rand() < 0.5 ? int rand $block_size : $offset + int rand 64);
	if ($kind == 0)
	{
		vec($$image, $at * 8 + int rand 8, 1) ^= 1;
		return "bit of byte $at";
	}
	if ($kind <= 2)
	{
		my $n = 1 + int rand 8;
		substr($$image, $at, $n) = join '', map { chr int rand 256 } 1 .. $n
		  if $at + $n <= length $$image;
		return "$n bytes at $at";
	}
	if ($kind == 3)
	{
		my $value = (0, 1, 0xffffffff, 0x7fffffff, 0xffff, $pages, int rand $pages)[ int rand 7 ];
		$at -= $at % 4;
		substr($$image, $at, 4) = pack('L', $value);
		return "word $value at $at";
	}
	if ($kind == 4)
	{
		my $other = int rand $pages;
		substr($$image, $from, $block_size) = substr($sound, $other * $block_size, $block_size);
		return "page $page is page $other";
	}
	if ($kind == 5)
	{
		my $half = rand() < 0.5 ? $block_size / 2 : 0;
		my $n = $half ? $half : $block_size;
		substr($$image, $from + $half, $n) = "\0" x $n;
		return "zeros from $half of page $page";
	}
	if ($kind == 6)
	{
		my $n = 16 + int rand 500;
		$n = $block_size - $at % $block_size if $n > $block_size - $at % $block_size;
		substr($$image, $at, $n) = join '', map { chr int rand 256 } 1 .. $n;
		return "$n bytes at $at";
	}
	if ($kind == 7)
	{
		# two parts of a page change places
		my $other = $from + 24 + int rand($block_size - 100);
		my $part = substr($$image, $other, 16);
		my $here = $from + 24 + int rand($block_size - 100);
		substr($$image, $other, 16) = substr($$image, $here, 16);
		substr($$image, $here, 16) = $part;
		return "swap of $here and $other";
	}
	my $n = int rand 256;
	substr($$image, $from + 24, $block_size - 24) = chr($n) x ($block_size - 24);
	return "bytes $n in page $page";
}

# What an error may be: damage that the index finds, or the server in a page; and
# what the server says of a TID that no row has, as an index does not know how
# many pages a table has, and how many rows there can be in one.
my $allowed = '^ERROR:  (XX00[12]: |(XX000|58P01): could not open file .* previous segment is only'
  . '|XX000: tuple offset out of range)';

my $end = time + 60 * $minutes;
my $rounds = 0;
my %seen;
while (time < $end)
{
	my $image = $sound;
	my @damage = map { damage(\$image) } 1 .. (rand() < 0.6 ? 1 : 1 + int rand 5);
	if (rand() < 0.05)
	{
		my $left = 1 + int rand($pages - 1);
		$image = substr($image, 0, $left * $block_size);
		push @damage, "cut after $left pages";
	}
	my @order = map { $_->[1] } sort { $a->[0] <=> $b->[0] } map { [ rand, $_ ] } @statements;
	$rounds++;

	my $directory = copy_database();
	open(my $out, '>:raw', "$directory/$file") or die "$directory/$file: $!";
	print $out $image;
	close $out or die "$directory/$file: $!";
	my $heap_size = -s "$directory/$heap";

	my @bad;
	foreach my $statement (@order, @last)
	{
		my $timed_out = 0;
		# with workers also in searches that are short
		my $begin = rand() < 0.5 ? 'BEGIN; SET LOCAL min_parallel_index_scan_size = 0' : 'BEGIN';
		my $sql = $statement =~ /^VACUUM/ ? $statement : "$begin; $statement; ROLLBACK";
		my ($status, $stdout, $stderr) = $node->psql('damaged', "\\set VERBOSITY verbose\n$sql;",
			timeout => 2 * $PostgreSQL::Test::Utils::timeout_default, timed_out => \$timed_out);
		my @errors = grep { /ERROR:|FATAL:|PANIC:|psql:/ } split /\n/, $stderr;
		s/^psql:<stdin>:\d+: // foreach @errors;
		$seen{ s/^\w+: +\w+: .*?\K\d.*//r }++ foreach @errors;
		push @bad, "timed out: $statement" if $timed_out;
		push @bad, "$stdout rows instead of $most{$statement}: $statement"
		  if $most{$statement} && $stdout =~ /^\d+$/ && $stdout > $most{$statement};
		push @bad, map { "$_: $statement" } grep { !/$allowed/ } @errors;
		last if $timed_out or $status == 2;
	}
	# a row takes less than 50 bytes, and 1,100 are inserted and updated
	my $grown = (-s "$directory/$heap") - $heap_size;
	push @bad, "the table has grown by $grown bytes" if $grown > 50 * 1100;
	is(join("\n", @bad), '', "round $rounds: " . join(', ', @damage));
	# after a crash there is a recovery first
	$node->poll_query_until('postgres', 'SELECT true') or last;
	$node->safe_psql('postgres', 'DROP DATABASE damaged');
}
is(join('', grep { /TRAP:|PANIC|was terminated by signal/ } split /^/, slurp_file($node->logfile)),
	'', 'no crash');
diag("SEED=$seed: $rounds rounds, index on ($columns) of $type");
note("$seen{$_} times $_") foreach sort keys %seen;
done_testing();
