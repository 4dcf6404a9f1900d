# Random statements: conditions and orders of rows (same, keep) by the grammar below, some
# of them spoilt, and texts in databases of several encodings.  Each ends with an answer or
# an error that users may see, and changes nothing; duplicates are near rows that are kept;
# a text has the same fingerprint in each encoding.  SEED in the environment repeats a run,
# MINUTES says how long it goes on.

use FindBin;
use lib "$FindBin::RealBin/../t";
use Encode;
use SimhashTest;

my $seed = $ENV{SEED} || time;
my $minutes = $ENV{MINUTES} || 5;
srand($seed);
diag("SEED=$seed");

my %encodings = (UTF8 => 'UTF-8', LATIN1 => 'iso-8859-1', EUC_JP => 'euc-jp', WIN1251 => 'cp1251');
my $node = make_node('statements', [], 'restart_after_crash = on', "statement_timeout = '60s'",
	'min_parallel_index_scan_size = 0');
$node->start;
foreach my $encoding (sort keys %encodings)
{
	$node->safe_psql('postgres',
		"CREATE DATABASE \"$encoding\" TEMPLATE template0 ENCODING '$encoding' LOCALE 'C'");
	$node->safe_psql($encoding, q{
		CREATE EXTENSION simhash;
		SELECT setseed(0.5);
		CREATE TABLE docs (id int, tenant int, body text, fp simhash, j jsonb, at timestamptz, "Odd ""name" int[]);
		INSERT INTO docs SELECT i, i % 3, (SELECT string_agg(chr(97 + (i / 3 * 7 + w * w) % 26) || w, ' ') FROM generate_series(1, 30) w),
			((i / 4)::bigint * 1000003 # (1 << i % 4))::simhash, jsonb_build_object('n', i % 5),
			timestamptz '2026-01-01' + i * interval '1 hour', ARRAY[i, i % 2] FROM generate_series(1, 200) i;
		INSERT INTO docs (id) SELECT i FROM generate_series(201, 210) i;
		CREATE INDEX docs_fp ON docs USING simhash (fp);
		CREATE INDEX docs_tenant ON docs USING simhash (tenant, fp);
		CREATE INDEX docs_body ON docs USING simhash (body simhash_text_ops);
		CREATE TABLE parts (LIKE docs) PARTITION BY HASH (id);
		CREATE TABLE parts_0 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 0);
		CREATE TABLE parts_1 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 1);
		INSERT INTO parts SELECT * FROM docs;
		CREATE INDEX parts_fp ON parts USING simhash (fp);
		ANALYZE});
}

sub pick { return $_[ rand @_ ]; }

# An expression of a kind over some rows, of limited depth; a string in braces is another one
my %grammar = (
	int => [ '#.id', '#.tenant', '0', '-1', 'NULL', '2147483647', 'length({text})', '({int} + {int})', '({int} / {int})',
		'abs({int})', 'coalesce({int}, {int})', '(#.fp <~> #.fp)', '(#.j->>\'n\')::int', '#."Odd ""name"[{int}]',
		'(SELECT max(id) FROM docs)', 'nullif({int}, {int})', '#.ctid', '(CASE WHEN {bool} THEN {int} END)' ],
	text => [ '#.body', '\'\'', '\'it\'\'s\'', '#.body || {text}', 'lower({text})', 'left({text}, {int})', '#.at::text', '$1', 'E\'\\\\\'', '$q$x$q$' ],
	bool => [ '{int} = {int}', '{int} < {int}', '{text} = {text}', '{text} =~= {text}', '{text} ~& {text}', 'NOT {bool}',
		'({bool} AND {bool})', '({bool} OR {bool})', '{int} IS NULL', '# = #', '# IS NOT NULL', '#.at - #.at < interval \'2 hours\'',
		'simhash_similar({text}, {text}, 0.5)', '#.j @> #.j', 'true', 'NULL', 'random() < 0.5', '{int} IN (1, {int})', '{int}',
		'EXISTS (SELECT FROM docs d)', 'simhash_jaccard({text}, {text}) > 0.8', 'sum({int}) > 1', '{text} ~ {text}' ],
	keep => [ '{int}', '{text} DESC', '{int} NULLS FIRST', '{bool}', '{keep}, {int}', '"Odd ""name"', 'id', 'at USING >', '1', 'docs', 'docs.id' ]);

sub expression
{
	my ($kind, $depth, @rows) = @_;
	my @of = @{ $grammar{$kind} };
	@of = grep { !/\{/ } @of if $depth == 0;
	my $made = pick(@of);
	$made =~ s/\{(\w+)\}/expression($1, $depth - 1, @rows)/ge;
	$made =~ s/#\.?/my $row = pick(@rows); $row eq '' ? ($& eq '#' ? 'docs' : '') : $& eq '#' ? $row : "$row."/ge;
	return $made;
}

# One of ten is spoilt by something that ends or begins another part of a statement.
sub spoilt
{
	my ($text) = @_;
	return $text if rand() < 0.9;
	substr($text, rand(1 + length $text), rand 3) = pick(')', '(', ';', '\'', '"', '--', '/*', ', ', '$$', "\n", ' ; DROP TABLE docs; --', ' a ');
	return $text;
}

sub quoted
{
	my ($text) = @_;
	$text =~ s/'/''/g;
	return "'$text'";
}

# One call of a search with random arguments
sub search
{
	my $index = pick(qw(docs_fp docs_tenant docs_body parts_fp));
	my @arguments = (quoted($index), $index eq 'docs_body' ? 'NULL' : int rand 8);
	my $same = 'same => ' . quoted(spoilt(expression('bool', 3, 'a', 'b')));
	return 'SELECT count(*) || \' rows\' FROM simhash_find_clusters(' . join(', ', @arguments, $same) . ')' if rand() < 0.3;
	push @arguments, 'keep => ' . quoted(spoilt(expression('keep', 2, ''))) if rand() < 0.6;
	push @arguments, $same if rand() < 0.7;
	my $call = 'simhash_find_duplicates(' . join(', ', @arguments) . ')';
	my $far = $index eq 'docs_body' ? 'false' : "distance > $arguments[1]";
	return "SELECT count(*) FILTER (WHERE $far OR n > 1 OR duplicate = keeper AND duplicate_table = keeper_table)"
	  . " FROM (SELECT *, count(*) OVER (PARTITION BY duplicate, duplicate_table) AS n FROM $call) s";
}

# A text whose characters an encoding has, as that of bytes in the encoding
my @characters = map { chr } 0x20 .. 0x7E, 0xA1 .. 0xFF, 0x410 .. 0x44F, 0x3041 .. 0x3096, 0x30A1 .. 0x30FA, 0x4E00 .. 0x4E40, 0xFF10 .. 0xFF3A;

sub text_in
{
	my ($encoding) = @_;
	my $name = $encodings{$encoding};
	my @own = grep { my $c = $_; eval { decode($name, encode($name, $c, Encode::FB_CROAK), Encode::FB_CROAK) eq $c } } @characters;
	return join '', map { rand() < 0.2 ? ' ' : pick(@own) } 1 .. int rand 200;
}

my $end = time + 60 * $minutes;
my ($rounds, $answers, %seen) = (0, 0);
while (time < $end)
{
	my $database = pick(sort keys %encodings);
	my @statements = map { search() } 1 .. 20;
	my ($status, $stdout, $stderr) = $node->psql($database,
		join('', "\\set VERBOSITY verbose\n", map { "$_\n\\g\n" } "SET max_parallel_workers_per_gather = " . pick(0, 2), @statements),
		on_error_stop => 0);
	my @errors = grep { /ERROR:|FATAL:|PANIC:/ } split /\n/, $stderr;
	my @bad = grep { !/ERROR:  (0A|2[0-9A-Z]|42|54|57014)/ } @errors;
	s/^psql:<stdin>:\d+: // foreach @errors;
	$seen{ s/^(\w+: +\w+:).*/$1/r }++ foreach @errors;
	push @bad, "status $status" if $status != 0;
	# of duplicates, the answer is how many are wrong
	push @bad, grep { !/^(0|\d+ rows)$/ } split /\n/, $stdout;
	$answers += () = $stdout =~ /^\d/mg;
	is(join("\n", @bad, map { "--- $_" } @bad ? @statements : ()), '', 'round ' . ++$rounds . " in $database");

	my $text = text_in($database);
	my $bytes = unpack 'H*', encode('UTF-8', $text);
	my $query = "SELECT t = convert_to(convert_from(decode('$bytes', 'hex'), 'UTF8'), 'UTF8'), simhash_minhash(b), simhash_compute(b, 3, 'word'),"
	  . " simhash_jaccard(b, b), simhash_passage_keys(b) FROM (SELECT decode('$bytes', 'hex') AS t, convert_from(decode('$bytes', 'hex'), 'UTF8') AS b) s";
	is($node->safe_psql($database, $query), $node->safe_psql('UTF8', $query), "$database: the same fingerprints of $bytes");
	$node->poll_query_until('postgres', 'SELECT true') or last;
}
foreach my $database (sort keys %encodings)
{
	is($node->safe_psql($database, 'SELECT count(*), sum(id) FROM docs'), '210|22155', "$database: nothing has changed");
}
is(join('', grep { /TRAP:|PANIC|was terminated by signal/ } split /^/, slurp_file($node->logfile)), '', 'no crash');
cmp_ok($answers, '>', 3 * $rounds, 'there are answers');
diag("SEED=$seed: $rounds rounds, $answers answers");
note("$seen{$_} times $_") foreach sort keys %seen;
done_testing();
