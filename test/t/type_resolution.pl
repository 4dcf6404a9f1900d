# Whoever does not use the extension's types sees no difference: expressions over
# the server's types resolve with the extension as they do without it.  Only =~= of two
# texts was an error before.

use lib 'test/t';
use SimhashTest;

my $node = make_node('resolution', []);
$node->start;

# types of columns
my @types = (
	qw(smallint integer bigint numeric real float8 text varchar boolean bit money
	  oid regclass int4range), 'integer[]');
my @literals = ('1', '-1', '1.5', '3000000000', '18446744073709551615', "'1'", 'NULL', "B'1'");

# what the extension has operators and functions of that the server has, too
$node->safe_psql('postgres', 'CREATE EXTENSION simhash');
my @operators = split /\n/, $node->safe_psql('postgres', shared('pg_operator', 'oprname', 'oprnamespace'));
my @functions = split /\n/, $node->safe_psql('postgres', shared('pg_proc', 'proname', 'pronamespace'));
$node->safe_psql('postgres', 'DROP EXTENSION simhash');
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

my @columns = map { "c$_ $types[$_]" } 0 .. $#types;
my @operands = ((map { "c$_" } 0 .. $#types), @literals);
my @expressions;
foreach my $left (@operands)
{
	foreach my $right (@operands)
	{
		push @expressions, map { "$left $_ $right" } @operators;
	}
	foreach my $right (grep { /^[^c]/ || /^c[0-5]$/ } @operands)
	{
		push @expressions, map { sprintf $_, $left, $right } @forms;
	}
}
foreach my $operand (@operands)
{
	push @expressions, map { "$_($operand)" } @functions;
}

$node->safe_psql('postgres', 'CREATE TABLE columns (' . join(', ', @columns) . ')');
$node->safe_psql('postgres', slurp_file("$FindBin::RealBin/../resolution.sql"));
$node->safe_psql('postgres', 'CREATE TABLE expressions (expression text, before text)');
$node->safe_psql('postgres', join "\n", 'COPY expressions (expression) FROM stdin;', @expressions, '\.', '');
$node->safe_psql('postgres', 'UPDATE expressions SET before = resolved(expression)');
$node->safe_psql('postgres', 'CREATE EXTENSION simhash');

cmp_ok($node->safe_psql('postgres', q(SELECT count(*) FROM expressions WHERE before LIKE '%Output%')),
	'>', 1000, scalar(@expressions) . ' expressions, and more than a thousand are valid');
is( $node->safe_psql('postgres', q{
		SELECT expression, before, now FROM expressions, resolved(expression) now
		WHERE before IS DISTINCT FROM now AND NOT (expression LIKE '% =~= %' AND before NOT LIKE '%Output%')
		ORDER BY expression COLLATE "C" LIMIT 20}), '', 'all resolve as without the extension');

$node->stop;
done_testing();
