# Dumps of a database that uses the extension in every way, among them an
# exclusion constraint with an operator class of the user's own, restored in
# every way: the constraints refuse what they refused, and all results are the
# same.

use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SimhashTest;
use Test::More;

my $node = make_node('dump_radius', []);
$node->start;
my $dir = PostgreSQL::Test::Utils::tempdir;
my $checks = slurp_file("$FindBin::RealBin/../upgrade/checks.sql");

sub dump_to
{
	my ($file, @options) = @_;
	command_ok([ 'pg_dump', '--no-sync', @options, "--file=$dir/$file", $node->connstr('old') ], "pg_dump $file");
	return;
}

# Restore into a database of that name.
sub restore
{
	my ($database, $file, @options) = @_;
	command_ok([ 'pg_restore', '--exit-on-error', @options, '--dbname=' . $node->connstr($database), "$dir/$file" ],
		"$database: pg_restore @options");
	return;
}

$node->safe_psql('postgres', "CREATE DATABASE $_") foreach 'old', 'plain', 'custom', 'directory', 'sections';
$node->safe_psql('old', slurp_file("$FindBin::RealBin/../upgrade/objects.sql"));
my $expected = $node->safe_psql('old', $checks);
unlike($expected, qr/\|f(\||$)/m, 'the original passes the checks');
like($expected, qr/^refused\|corpus_8\|corpus_8_excl\|8\|t$/m, 'the checks try the constraint with a class of its own');

dump_to('old.sql');
dump_to('old.custom', '--format=custom');
dump_to('old.directory', '--format=directory', '--jobs=2');

command_ok([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-f', "$dir/old.sql", $node->connstr('plain') ],
	'plain: psql');
restore('custom', 'old.custom');
restore('directory', 'old.directory', '--jobs=2');
restore('sections', 'old.custom', "--section=$_") foreach 'pre-data', 'data', 'post-data';

foreach my $database ('plain', 'custom', 'directory', 'sections')
{
	$node->safe_psql($database, 'VACUUM ANALYZE');
	is($node->safe_psql($database, $checks), $expected, "$database: all results are the same");
	my ($status, $stdout, $stderr) = $node->psql($database, "INSERT INTO corpus_8 VALUES (9, '0xff00')");
	like($stderr, qr/violates exclusion constraint "corpus_8_excl"/, "$database: a near-duplicate is refused");
}

command_ok([ 'pg_dump', '--no-sync', "--file=$dir/new.sql", $node->connstr('custom') ], 'dump of the copy');
is(dumped_objects("$dir/new.sql"), dumped_objects("$dir/old.sql"), 'the dumps are equal');

# Why the class must be one's own: what is added to the family of the extension
# is not in the dump.  There is a warning, and the restore fails.
$node->safe_psql('postgres', "CREATE DATABASE $_") foreach 'lost', 'lost_copy';
my ($status, $stdout, $stderr) = $node->psql(
	'lost', q{
	CREATE EXTENSION simhash;
	CREATE FUNCTION within_8(simhash, simhash) RETURNS boolean LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
	RETURN simhash_within($1, $2, 8);
	CREATE OPERATOR %% (LEFTARG = simhash, RIGHTARG = simhash, FUNCTION = within_8, COMMUTATOR = %%);
	ALTER OPERATOR FAMILY simhash_ops USING simhash ADD OPERATOR 12 %% (simhash, simhash);
	CREATE TABLE corpus (fp simhash, EXCLUDE USING simhash (fp WITH %%));
});
is($status, 0, 'an operator can be added to the family of the extension');
like($stderr, qr/WARNING: .*are not dumped/, 'with a warning');
command_ok([ 'pg_dump', '--no-sync', "--file=$dir/lost.sql", $node->connstr('lost') ], 'pg_dump of that');
command_fails([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-f', "$dir/lost.sql", $node->connstr('lost_copy') ],
	'which cannot be restored');

$node->stop;
done_testing();
