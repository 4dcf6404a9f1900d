# What the TAP tests of the extension share.
package SimhashTest;

use strict;
use warnings;
use Exporter 'import';
use FindBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

our @EXPORT = qw(make_node load_helpers is_sound is_exact);

# A node, initialised but not started.  Further arguments are lines for
# postgresql.conf.
sub make_node
{
	my ($name, $init, @conf) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);
	$node->init(@$init);
	$node->append_conf(
		'postgresql.conf', join "\n",
		'log_statement = none',
		'autovacuum = off',
		'max_connections = 30',
		'shared_buffers = 16MB',
		'jit = off',
		@conf, '');
	return $node;
}

# Create the extension and the functions of fingerprints.sql and exact.sql.
sub load_helpers
{
	my ($node, $database) = @_;
	$database //= 'postgres';
	$node->safe_psql($database, 'CREATE EXTENSION simhash');
	foreach my $file ('fingerprints.sql', 'exact.sql')
	{
		$node->safe_psql($database, slurp_file("$FindBin::RealBin/../$file"));
	}
	return;
}

# The structure of the indexes is right, and every row is in them.
sub is_sound
{
	my ($node, $what, @indexes) = @_;
	foreach my $index (@indexes)
	{
		my ($status, $stdout, $stderr) =
		  $node->psql('postgres', "SELECT simhash_index_check('$index', true)");
		is("$status $stderr", '0 ', "$what: $index is sound");
	}
	return;
}

# The index finds what brute force finds, of each tenant if its first column is
# that.  On a standby, expect() must have run on the primary before.
sub is_exact
{
	my ($node, $what, $table, $index, %of) = @_;
	my $tenants = $of{tenants} ? 'true' : 'false';
	my $expect =
	  $node->safe_psql('postgres', 'SELECT pg_is_in_recovery()') eq 't'
	  ? ''
	  : "CALL expect('$table', $tenants);";
	is($node->safe_psql('postgres', "$expect SELECT compare('$table', '$index', $tenants)"),
		'ok', "$what: $index finds the same rows as brute force");
	return;
}

1;
