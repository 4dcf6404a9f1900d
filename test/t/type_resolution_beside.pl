# Whoever uses other extensions sees no difference when this one joins them in their schema:
# what resolved before resolves to the same afterwards, but for a few expressions without any
# type.  With the extensions of contrib, and with PostGIS, pgvector and pg_similarity where
# they are installed.

use lib 'test/t';
use SimhashTest;

my $node = make_node('beside', []);
$node->start;
my $available = $node->safe_psql('postgres', 'SELECT name FROM pg_available_extensions');
my @others;

# Operators of two others may be ambiguous beside each other, so each is alone with this
# extension as well.
foreach my $other (qw(btree_gist citext cube hstore intarray isn ltree pg_trgm seg pg_similarity postgis vector))
{
  SKIP:
	{
		skip "$other is not installed", 1 unless $available =~ /^$other$/m;
		compare($other, $other);
		push @others, $other;
	}
}
compare('together', @others) if @others > 1;

$node->stop;
done_testing();

sub compare
{
	my ($database, @beside) = @_;
	my %has = map { $_ => 1 } @beside;
	$node->safe_psql('postgres', "CREATE DATABASE $database");

	# Operands are columns of the server's types and of all types of the others that have
	# operators, a literal, and parameters whose types are not given.
	$node->safe_psql($database, join ';', map({ "CREATE EXTENSION $_" } @beside),
		slurp_file("$FindBin::RealBin/../resolution.sql"));
	$node->safe_psql($database, <<'END');
CREATE TABLE operands AS
SELECT format('%I', type) AS operand, type
FROM (SELECT format_type(t.oid, NULL) FROM pg_type t
	JOIN pg_depend ON classid = 'pg_type'::regclass AND objid = t.oid AND deptype = 'e'
	WHERE typtype = 'b' AND EXISTS (SELECT FROM pg_operator WHERE t.oid IN (oprleft, oprright))
	UNION ALL SELECT unnest('{integer,bigint,numeric,float8,text,varchar,bytea,bit,varbit,jsonb,point,box,
		int4range,integer[],text[]}'::text[])) types (type)
UNION ALL VALUES ($$'a'$$, NULL), ('$1', NULL), ('$2', NULL);

SELECT format('CREATE TABLE columns (%s)', string_agg(operand || ' ' || type, ', ')) FROM operands \gexec

-- names of this extension that somebody else has, too, and all names of the others
CREATE EXTENSION simhash;
CREATE TABLE operators AS
SELECT oprname AS name, bool_or(oprnamespace = 'pg_catalog'::regnamespace) AS of_server, bool_or(ours) AS of_ours
FROM (SELECT oprname, oprnamespace, extname, coalesce(extname = 'simhash', false) AS ours FROM pg_operator
	LEFT JOIN pg_depend d ON classid = 'pg_operator'::regclass AND objid = pg_operator.oid AND deptype = 'e'
	LEFT JOIN pg_extension e ON e.oid = refobjid) o
GROUP BY oprname HAVING NOT bool_and(ours) AND bool_or(extname IS NOT NULL);
CREATE TABLE functions AS
SELECT DISTINCT proname AS name, pronargs AS arguments FROM pg_proc p
JOIN pg_depend d ON classid = 'pg_proc'::regclass AND objid = p.oid AND deptype = 'e'
JOIN pg_extension e ON e.oid = refobjid AND extname = 'simhash'
WHERE EXISTS (SELECT FROM pg_proc other WHERE other.proname = p.proname AND other.oid NOT IN (
	SELECT objid FROM pg_depend mine WHERE mine.classid = d.classid AND mine.refobjid = e.oid));
DROP EXTENSION simhash;

-- every pair of operands for a name that this extension has, too; for another one, which gets
-- no new meaning without a new cast, those of one type and those with a literal
CREATE TABLE pairs AS
SELECT l.operand AS l, r.operand AS r,
	l.operand = r.operand OR $$'a'$$ IN (l.operand, r.operand) AS likely
FROM operands l, operands r
WHERE l.operand <> '$2' AND CASE l.operand WHEN '$1' THEN r.operand <> '$1' ELSE r.operand <> '$2' END;
CREATE TABLE expressions AS
SELECT concat_ws(' ', l, name, r) AS expression, of_server, NULL::text AS before, NULL::text AS now
FROM operators, pairs WHERE of_ours OR likely
UNION ALL SELECT format('%s(%s, %s)', name, l, r), false, NULL, NULL FROM functions, pairs WHERE arguments = 2
UNION ALL SELECT format('%s(%s)', name, operand), false, NULL, NULL FROM functions, operands
WHERE arguments = 1 AND operand <> '$2';
END

	# Two operands without a type: nothing says whose operator or function is meant.
	my @untyped;
	foreach my $pair ([q('a'), q('a')], [q('a'), '$1'], ['$1', q('a')], ['$1', '$2'])
	{
		push @untyped, map { "$pair->[0] $_ $pair->[1]" } '<%>', '<~>' if $has{vector};
		push @untyped, "hamming($pair->[0], $pair->[1])" if $has{pg_similarity};
	}

	# What was an error may become valid, unless the server has such an operator.
	$node->safe_psql($database, 'UPDATE expressions SET before = resolved(expression)');
	$node->safe_psql($database, 'CREATE EXTENSION simhash; UPDATE expressions SET now = resolved(expression)');
	cmp_ok($node->safe_psql($database, q(SELECT count(*) FROM expressions WHERE before ~ 'Output')),
		'>', 100, "$database: more than a hundred expressions are valid");
	is( $node->safe_psql($database, q{
			SELECT expression, before, now FROM expressions
			WHERE before <> now AND (of_server OR before !~ '^(42725|42883) ') AND expression NOT IN (}
			  . join(', ', "''", map { "\$\$$_\$\$" } @untyped) . q{)
			ORDER BY expression COLLATE "C" LIMIT 20}), '', "$database: all resolve as without the extension");
	is( $node->safe_psql($database, q{
			SELECT expression FROM expressions WHERE before !~ '^(42725|42883) '
			AND now ~ '^42725 .* unknown' ORDER BY expression COLLATE "C"}),
		join("\n", sort @untyped), "$database: but for what has no type at all");
	return;
}
