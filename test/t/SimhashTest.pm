# What the TAP tests of the extension share.  Who uses it also has strict, warnings, Test::More and
# the server's modules.
package SimhashTest;

use strict;
use warnings;
use File::Find;
use FindBin;
use IPC::Run;
use parent 'Exporter';
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(usleep);

our @EXPORT = qw(effort make_node start_node make_standby load_brute_force load_helpers load_pages real_texts library_texts
	is_sound is_exact dumped_objects is_restored restore_each_way victim_command start_pgbench run_pgbench start_after_kill);

sub import
{
	my $caller = caller;
	strict->import;
	warnings->import;
	eval "package $caller; PostgreSQL::Test::Utils->import; Test::More->import; 1" or die $@;
	return __PACKAGE__->export_to_level(1);
}

# A node, initialised but not started.  Further arguments are lines for
# postgresql.conf.
sub make_node
{
	my ($name, $init, @conf) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);
	init_node($node, @$init);
	$node->append_conf(
		'postgresql.conf', join "\n",
		'log_statement = none',
		'autovacuum = off',
		'max_connections = 30',
		'shared_buffers = 16MB',
		'jit = off',
		# how long a test waits, to be asked of by its functions
		"test.timeout = '$PostgreSQL::Test::Utils::timeout_default s'",
		@conf, '');
	return $node;
}

# initdb takes a second, and a copy of what it makes a tenth of that.  From 17 on the
# server's own module looks at INITDB_TEMPLATE.
sub init_node
{
	my ($node, %params) = @_;
	my $run = \&PostgreSQL::Test::Utils::system_or_bail;

	no warnings 'redefine';
	local *PostgreSQL::Test::Utils::system_or_bail = sub {
		return $run->(@_) if $_[0] ne 'initdb' || $params{extra} || !$ENV{INITDB_TEMPLATE};
		$run->('cp', '-RPp', $ENV{INITDB_TEMPLATE}, $node->data_dir);
	};
	$node->init(%params);
	return;
}

# The size of something in a test that test/schedule has for both sizes: the full one
# unless it is to be quick.
sub effort
{
	my ($small, $full) = @_;
	return ($ENV{SIMHASH_EFFORT} // 'small') eq 'full' ? $full : $small;
}

# The command that runs a statement in a session named "victim", which is to be stopped,
# and tells errors by their SQLSTATEs.  Further arguments are parts of the connection
# string.
sub victim_command
{
	my ($node, $statement, @connection) = @_;
	return [
		'psql', '-X', '-q', '-A', '-t', '-v', 'VERBOSITY=sqlstate', '-c', $statement,
		'-d', join ' ', $node->connstr('postgres'), 'application_name=victim', @connection
	];
}

# The objects in a dump of a database, sorted: some versions order rules by their OIDs, and rows
# may lie in another order.  It is left in a file, if there is a name for one.
sub dumped_objects
{
	my ($node, $database, $file) = @_;
	$file //= PostgreSQL::Test::Utils::tempdir . '/dump';
	command_ok([ 'pg_dump', '--no-sync', "--file=$file", $node->connstr($database) ], "pg_dump of $database");
	my $dump = slurp_file($file) =~ s/^\\(un)?restrict.*\n//mgr;
	return join '', sort map { /; Type: TABLE DATA;/ ? join "\n", sort split /\n/ : $_ } split /^(?=--\n-- Name: )/m, $dump;
}

# Restore a dump of a database into a new one, of which a dump is the same.
sub is_restored
{
	my ($node, $old, $new) = @_;
	my $file = PostgreSQL::Test::Utils::tempdir . '/dump';
	my $objects = dumped_objects($node, $old, $file);
	$node->safe_psql('postgres', "CREATE DATABASE $new");
	command_ok([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-f', $file, $node->connstr($new) ], "$new: restore");
	is(dumped_objects($node, $new), $objects, "$new: the dump is equal to that of $old");
	return;
}

# The same in every way of pg_dump and pg_restore.  Returns the new databases.
sub restore_each_way
{
	my ($node, $old, $more) = @_;
	my $dir = PostgreSQL::Test::Utils::tempdir;
	my %options = (custom => [''], directory => ['--jobs=2'],
		sections => [ '--section=pre-data', '--section=data', '--section=post-data' ]);
	is_restored($node, $old, 'plain');
	my @databases = (sort keys %options)[ 0 .. ($more // 3) - 1 ];
	foreach my $database (@databases)
	{
		my $format = $database eq 'directory' ? 'directory' : 'custom';
		my @dump = ('pg_dump', '--no-sync', "--format=$format", "--file=$dir/$database", $node->connstr($old));
		command_ok([ @dump, $format eq 'directory' ? '--jobs=2' : () ], "pg_dump of $old, $format");
		$node->safe_psql('postgres', "CREATE DATABASE $database");
		my @restore = ('pg_restore', '--exit-on-error', '--dbname=' . $node->connstr($database), "$dir/$database");
		command_ok([ @restore, grep { $_ ne '' } $_ ], "$database: pg_restore $_") foreach @{ $options{$database} };
	}
	return 'plain', @databases;
}

# Start pgbench with scripts by their names, behind which there may be weights
sub start_pgbench
{
	my ($node, $scripts, @options) = @_;
	my $dir = PostgreSQL::Test::Utils::tempdir;
	my %run = (out => '', err => '');
	append_to_file("$dir/" . s/@.*//r, $scripts->{$_}) foreach keys %$scripts;
	$run{handle} = IPC::Run::start(
		[ 'pgbench', '--no-vacuum', '--jobs=2', @options, (map { "--file=$dir/$_" } sort keys %$scripts),
			$node->connstr('postgres') ], '>', \$run{out}, '2>', \$run{err});
	return \%run;
}

# Run it to its end.  Of the options, code is called again and again meanwhile.
sub run_pgbench
{
	my ($node, $what, $scripts, $clients, $transactions, @options) = @_;
	my $total = $clients * $transactions;
	my $run = start_pgbench($node, $scripts, "--client=$clients", "--transactions=$transactions",
		grep { !ref } @options);
	foreach my $meanwhile (grep { ref } @options)
	{
		$run->{handle}->pump_nb, $meanwhile->() while $run->{handle}->pumpable;
	}
	$run->{handle}->finish;
	is($run->{handle}->result(0), 0, "$what: pgbench succeeds") or diag($run->{err});
	unlike($run->{err}, qr/ERROR|aborted/, "$what: no statement fails");
	like($run->{out}, qr{transactions actually processed: $total/$total}, "$what: all transactions ran");
	return;
}

# Start a server that was killed: its children leave one by one, then it can.
sub start_after_kill
{
	my ($node) = @_;
	my $tries = 10 * $PostgreSQL::Test::Utils::timeout_default;
	until ($node->start(fail_ok => 1))
	{
		$tries-- > 0 or die 'the server does not start';
		$node->stop('fast', fail_ok => 1);
		usleep(100_000);
	}
	return;
}

# A standby of a node that runs, not started
sub make_standby
{
	my ($primary) = @_;
	my $standby = PostgreSQL::Test::Cluster->new('standby');
	$primary->backup('base');
	$standby->init_from_backup($primary, 'base', has_streaming => 1);
	return $standby;
}

# Create the extension, and the functions of brute_force.sql.
sub load_brute_force
{
	my ($node, $database) = @_;
	$node->safe_psql($database // 'postgres',
		"CREATE EXTENSION simhash;\n" . slurp_file("$FindBin::RealBin/../brute_force.sql"));
	return;
}

# The same with the functions of fingerprints.sql, and the tables in which a test says
# what to look up.
sub load_helpers
{
	my ($node, $database) = @_;
	$database //= 'postgres';
	load_brute_force($node, $database);
	$node->safe_psql($database, slurp_file("$FindBin::RealBin/../fingerprints.sql"));
	$node->safe_psql($database,
		'CREATE TABLE query (qno integer PRIMARY KEY, fp simhash); CREATE TABLE radii (r integer PRIMARY KEY)');
	return;
}

# Create the functions of pages.sql.
sub load_pages
{
	my ($node) = @_;
	$node->safe_psql('postgres', slurp_file("$FindBin::RealBin/../pages.sql"));
	return;
}

# A node with the helpers, started; the arguments are those of make_node()
sub start_node
{
	my $node = make_node(@_);
	$node->start;
	load_helpers($node);
	return $node;
}

# A file of real texts for COPY, with two columns: what it is, and the text.
# Descriptions of packages and some manual pages where there are any, and what Perl has
# in any case.
sub real_texts
{
	my $rows = library_texts(20_000);

	my $to_rows = "perl '$FindBin::RealBin/../rows.pl'";

	system("{ apt-cache dumpavail 2>/dev/null | $to_rows packages;"
		  . " $to_rows manuals /usr/share/man | head -n 3000; } >>'$rows' 2>/dev/null");
	return $rows;
}

# The same of some number of paragraphs of Perl's own library alone
sub library_texts
{
	my ($limit) = @_;
	my $rows = PostgreSQL::Test::Utils::tempdir . '/texts';
	my %seen;

	find({ no_chdir => 1,
		   preprocess => sub { sort @_ },
		   wanted => sub {
			   return if keys %seen >= $limit || !/\.p(od|m)$/ || !-f || !-r _;
			   append_to_file($rows, "paragraph\t$_\n")
				 foreach map { s/\s+/ /gr } grep { /\w{3}/ && !/[\\\x80-\xff]/ && !$seen{$_}++ }
				 split /\n\s*\n/, slurp_file($_);
		   }
		 },
		grep { !ref && m{^/} && -d } @INC);
	return $rows;
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
# that.  On a standby, expect_lookups() must have run on the primary
# before.
sub is_exact
{
	my ($node, $what, $table, $index, %of) = @_;
	my $tenants = $of{tenants} ? 'true' : 'false';
	my $expect =
	  $node->safe_psql('postgres', 'SELECT pg_is_in_recovery()') eq 't'
	  ? ''
	  : "CALL expect_lookups('$table', $tenants);";
	is($node->safe_psql('postgres', "$expect SELECT compare_lookups('$table', '$index', $tenants)"),
		'ok', "$what: $index finds the same rows as brute force");
	return;
}

1;
