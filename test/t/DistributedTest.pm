# A coordinator and three shards, set up by the statements of doc/several-machines.md.
#
# The first line of each block of SQL on that page says where it runs: "-- on each shard" or
# "-- on the coordinator".  The page's names of hosts become those of servers of the test.
# Each block is a session of its own.
package DistributedTest;

use strict;
use warnings;
use Exporter 'import';
use DocumentTest;
use FindBin;
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SimhashTest;
use Test::More;

our @EXPORT = qw($page $database make_machines page_parts run_part run_sessions one_of same_rows);

our $page = 'doc/several-machines.md';
our $database = 'corpus';

# The coordinator and the shards, started, each with a database that a user "corpus" owns.
# Arguments are lines for postgresql.conf.
sub make_machines
{
	my (@conf) = @_;
	my $coordinator = make_node('coordinator', [], 'max_connections = 60', @conf);
	my @nodes = ($coordinator);

	$coordinator->start;
	$coordinator->safe_psql('postgres',
		"CREATE ROLE corpus LOGIN; CREATE DATABASE $database TEMPLATE template0 OWNER corpus");
	$coordinator->stop;
	$coordinator->backup_fs_cold('empty');
	foreach my $name ('shard_1', 'shard_2', 'shard_3')
	{
		my $node = PostgreSQL::Test::Cluster->new($name);

		$node->init_from_backup($coordinator, 'empty');
		push @nodes, $node;
	}
	$_->start foreach @nodes;
	return @nodes;
}

# Parts of the page: the blocks below a heading of the first level
sub page_parts
{
	my ($heading) = @_;
	my $content = slurp_file("$FindBin::RealBin/../../$page");

	$content =~ /^# \Q$heading\E\n(.*?)(?=^# |\z)/ms or die "there is no heading $heading";
	return map { $_->{sql} } DocumentTest::blocks($1);
}

# Run a block on the nodes that it names, on the coordinator perhaps in another database.
# Returns what it prints there, rows with a bar between columns.
sub run_part
{
	my ($nodes, $sql, $coordinating) = @_;
	my ($coordinator, @shards) = @$nodes;
	my ($place) = $sql =~ /^-- on (each shard|the coordinator)\n/ or die "a block does not say where it runs:\n$sql";

	$sql =~ s/host 'shard-(\d)\.example'/sprintf("host '%s', port '%d'", $shards[$1 - 1]->host, $shards[$1 - 1]->port)/ge;
	return $coordinator->safe_psql($coordinating // $database, $sql) if $place eq 'the coordinator';
	foreach my $shard (@shards)
	{
		$shard->safe_psql($database, $sql, extra_params => [ '-U', 'corpus' ]);
	}
	return '';
}

# The one block of the page that has some words
sub one_of
{
	my ($words) = @_;
	return page_statements($page, $words);
}

# Lines of two results are the same, in any order.
sub same_rows
{
	my ($got, $expected, $what) = @_;
	my $differ = join "\n", sort split /\n/, $got;
	my $wanted = join "\n", sort split /\n/, $expected;

	# not is(), which would print all of them
	ok($differ eq $wanted, $what)
	  or diag(sprintf("%d rows instead of %d", scalar(split /\n/, $differ), scalar(split /\n/, $wanted)));
	return;
}

# Run sessions of a node at the same time: a database and statements for each.  Returns what
# each tells of errors, or of its exit status if there are none.
sub run_sessions
{
	my ($node, @sessions) = @_;
	my @handles;

	foreach my $session (@sessions)
	{
		my ($in, $db) = @$session{ 'sql', 'database' };

		$session->{err} = '';
		push @handles,
		  IPC::Run::start([ 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr($db) ],
			'<', \$in, '>', '/dev/null', '2>', \$session->{err});
	}
	foreach my $i (0 .. $#handles)
	{
		$handles[$i]->finish;
		$sessions[$i]{err} ||= 'status ' . $handles[$i]->result if $handles[$i]->result != 0;
	}
	return map { $_->{err} } @sessions;
}

1;
