# Whoever does not use the extension's types sees no difference: expressions over
# the server's types, and those of contrib, resolve with the extension as they do
# without it.  Only =~= of two texts was an error before.

use lib 'test/t';
use SimhashTest;

my $node = make_node('resolution', []);
$node->start;

# types of columns, of the server and of extensions
my @types = (
	qw(smallint integer bigint numeric real float8 text varchar boolean bit money
	  oid regclass int4range), 'integer[]');
my %contrib = (
	btree_gist => [],
	citext => ['citext'],
	cube => ['cube'],
	hstore => ['hstore'],
	intarray => ['query_int'],
	isn => [ 'ean13', 'issn' ],
	ltree => [ 'ltree', 'lquery' ],
	pg_trgm => [],
	seg => ['seg']);

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

my @columns;
sub columns_of
{
	my @names;
	foreach my $type (@_)
	{
		push @names, 'c' . @columns;
		push @columns, "$names[-1] $type";
	}
	return @names;
}
my @operands = (columns_of(@types), @literals);
my @contrib;
my $available = $node->safe_psql('postgres', 'SELECT name FROM pg_available_extensions');
foreach my $extension (sort keys %contrib)
{
  SKIP:
	{
		skip "$extension is not installed", 1 unless $available =~ /^$extension$/m;
		is(($node->psql('postgres', "CREATE EXTENSION $extension"))[0], 0, "$extension is beside it");
		push @contrib, columns_of(@{ $contrib{$extension} });
	}
}

# every pair of the server's; and of contrib's and the server's, either way
my @pairs;
foreach my $left (@operands, @contrib)
{
	push @pairs, map { [ $left, $_ ] } @operands, @contrib;
}
my @expressions;
foreach my $pair (@pairs)
{
	push @expressions, map { "$pair->[0] $_ $pair->[1]" } @operators;
}
foreach my $left (@operands)
{
	foreach my $right (grep { /^[^c]/ || /^c[0-5]$/ } @operands)
	{
		push @expressions, map { sprintf $_, $left, $right } @forms;
	}
}
foreach my $operand (@operands, @contrib)
{
	push @expressions, map { "$_($operand)" } @functions;
}

# The plan shows which casts were chosen, and the type that literals were given.
$node->safe_psql('postgres', 'CREATE TABLE columns (' . join(', ', @columns) . ')');
$node->safe_psql('postgres', <<'END');
CREATE FUNCTION resolved(expression text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE format('EXPLAIN (VERBOSE, COSTS OFF) SELECT pg_typeof(%1$s), %1$s
		FROM columns', expression) LOOP
		IF line LIKE '%Output: %' THEN
			RETURN line;
		END IF;
	END LOOP;
EXCEPTION
	WHEN OTHERS THEN
		RETURN SQLSTATE;
END $$;
CREATE TABLE expressions (expression text, before text);
END
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
