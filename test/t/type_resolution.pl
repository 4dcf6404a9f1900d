# Whoever does not use the extension's types sees no difference: expressions over
# the server's types resolve with the extension as they do without it.  Only =~= of two
# texts was an error before.  So it is where casts of one's own to integer are implicit; of
# those to smallint CREATE EXTENSION warns.

use lib 'test/t';
use SimhashTest;

my $node = make_node('resolution', []);
$node->start;

# types of columns
my @types = (
	qw(smallint integer bigint numeric real float8 text varchar boolean bit money
	  oid regclass int4range mood), 'integer[]');
my @literals = ('1', '-1', '1.5', '3000000000', '18446744073709551615', "'1'", 'NULL', "B'1'");

# what the extension has operators and functions of that the server has, too
$node->safe_psql('postgres', 'CREATE EXTENSION simhash');
my @operators = split /\n/, $node->safe_psql('postgres', shared('pg_operator', 'oprname', 'oprnamespace'));
my @functions = split /\n/, $node->safe_psql('postgres', shared('pg_proc', 'proname', 'pronamespace'));
cmp_ok(scalar(@operators), '>', 5, 'the extension shares names of operators with the server');
cmp_ok(scalar(@functions), '>', 2, 'and of functions');
my @forms = ('%s IN (%s, 1)', 'row(%s, 1) < row(%s, 1)', 'nullif(%s, %s)', 'CASE %s WHEN %s THEN 1 END',
	'%s = ANY (ARRAY[%s])', 'coalesce(%s, %s)');

sub shared
{
	my ($catalog, $name, $namespace) = @_;
	return qq{
		SELECT $name FROM $catalog
		JOIN pg_depend ON classid = '$catalog'::regclass AND objid = $catalog.oid AND deptype = 'e'
		INTERSECT SELECT $name FROM $catalog WHERE $namespace = 'pg_catalog'::regnamespace ORDER BY 1};
}

my @columns = map { 'c_' . s/\W/_/gr . " $_" } @types;
my @operands = ((map { /^(\S+)/ } @columns), @literals);
my @expressions;
foreach my $left (@operands)
{
	foreach my $right (@operands)
	{
		push @expressions, map { "$left $_ $right" } @operators;
	}
	foreach my $right (grep { /^[^c]|^c_(smallint|integer|bigint|numeric|real|float8)$/ } @operands)
	{
		push @expressions, map { sprintf $_, $left, $right } @forms;
	}
}
foreach my $operand (@operands)
{
	push @expressions, map { "$_($operand)" } @functions;
}

# Fill a table of a new database with what expressions mean before and after CREATE
# EXTENSION, and return what that wrote.
sub compare
{
	my ($database, $casts, @of_these) = @_;
	$node->safe_psql('postgres', "CREATE DATABASE $database");
	$node->safe_psql($database, "CREATE TYPE mood AS ENUM ('1', '2'); $casts");
	$node->safe_psql($database, 'CREATE TABLE columns (' . join(', ', @columns) . ')');
	$node->safe_psql($database, slurp_file("$FindBin::RealBin/../resolution.sql"));
	$node->safe_psql($database, 'CREATE TABLE expressions (expression text, before text, now text)');
	$node->safe_psql($database, join "\n", 'COPY expressions (expression) FROM stdin;', @of_these, '\.', '');
	$node->safe_psql($database, 'UPDATE expressions SET before = resolved(expression)');
	my $stderr;
	$node->psql($database, 'CREATE EXTENSION simhash', stderr => \$stderr, on_error_die => 1);
	$node->safe_psql($database, 'UPDATE expressions SET now = resolved(expression)');
	cmp_ok($node->safe_psql($database, q(SELECT count(*) FROM expressions WHERE before LIKE '%Output%')),
		'>', @of_these / 10, "$database: of " . @of_these . ' expressions more than a tenth is valid');
	return $stderr;
}

# What resolves to something else since CREATE EXTENSION, or columns of the query for it
sub changed
{
	my ($database, $columns) = @_;
	$columns //= 'expression, before, now';
	return $node->safe_psql($database, qq{
		SELECT DISTINCT $columns FROM expressions
		WHERE before IS DISTINCT FROM now AND NOT (expression LIKE '% =~= %' AND before NOT LIKE '%Output%')
		ORDER BY 1 LIMIT 100});
}

is(compare('without_casts', '', @expressions), '', 'CREATE EXTENSION warns of nothing');
is(changed('without_casts'), '', 'all resolve as without the extension');

# Casts of one's own
my @own = ('boolean', 'character varying', 'mood');
my @of_own = grep { /c_(boolean|varchar|mood)\b/ } @expressions;
is( compare('to_integer', q{
	CREATE CAST (varchar AS integer) WITH INOUT AS IMPLICIT;
	CREATE CAST (mood AS integer) WITH INOUT AS IMPLICIT;
	UPDATE pg_cast SET castcontext = 'i' WHERE castsource = 'boolean'::regtype AND casttarget = 'integer'::regtype},
		@of_own), '', 'nor where casts to integer are implicit');
is(changed('to_integer'), '', 'all resolve as without the extension');

# Known: what has such a cast is ambiguous beside a number, as the distance that is compared
# with it, and beside another that has one.
my @ambiguous;
foreach my $own (@own)
{
	foreach my $number (qw(smallint integer bigint))
	{
		push @ambiguous, map({ "$own $_ $number" } qw(< <= =)), map({ "$number $_ $own" } qw(> >= =));
	}
	foreach my $other (grep { $_ ne $own } @own)
	{
		push @ambiguous, map { "$own $_ $other" } qw(< <= = >= >);
	}
}
like( compare('to_smallint', q{
	CREATE CAST (varchar AS smallint) WITH INOUT AS IMPLICIT;
	CREATE CAST (mood AS smallint) WITH INOUT AS IMPLICIT;
	CREATE CAST (boolean AS smallint) WITH INOUT AS IMPLICIT},
		@of_own),
	qr/WARNING: .*\n.*DETAIL: .*:@{[join '', map { "(?=.* $_)" } @own]}/, 'it does where casts to smallint are');
is( changed('to_smallint', q{substring(now, '^42725 operator is not unique: (.*)$') COLLATE "C"}),
	join("\n", sort @ambiguous), 'comparisons are ambiguous');

# the ways out
$node->safe_psql('to_smallint', 'DELETE FROM expressions WHERE before = now');
$node->safe_psql('to_smallint', "DROP CAST ($_ AS smallint)") foreach @own;
$node->safe_psql('to_smallint', q{
	CREATE CAST (varchar AS integer) WITH INOUT AS IMPLICIT;
	CREATE CAST (mood AS integer) WITH INOUT AS IMPLICIT;
	CREATE CAST (boolean AS smallint) WITH INOUT AS ASSIGNMENT;
	UPDATE expressions SET now = resolved(expression)});
my $now = 'SELECT DISTINCT left(now, 5) FROM expressions WHERE expression';
is($node->safe_psql('to_smallint', "$now !~ 'boolean'"), '  Out', 'which are valid with casts to integer');
is($node->safe_psql('to_smallint', "$now ~ 'boolean'"), '42883', 'and with casts AS ASSIGNMENT need an explicit one');

$node->stop;
done_testing();
