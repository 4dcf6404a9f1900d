# ALTER EXTENSION ... UPDATE leads to what CREATE EXTENSION makes of the new version:
# the same members with the same definitions, comments and privileges.  What was stored
# before is as it was, and the indexes are used.
#
# The new version is made up: the upgrade script below, and the script of the current
# version with the same statements at its end.  Each older version that has a script of
# its own, sql/simhash--X.Y.sql, is updated as well, to the current version and to the
# made-up one.  So this is also the test of the upgrade script of a release: see
# CONTRIBUTING.md.

use lib 'test/t';
use File::Basename;
use File::Path qw(make_path);
use SimhashTest;

my $test = "$FindBin::RealBin/..";
my %config = map { $_ => `pg_config --$_` =~ s/\n//r } 'bindir', 'sharedir', 'pkglibdir';

# What a later version may do: add objects, also to the operator class, and change some.
my $statements = <<'END';
CREATE FUNCTION simhash_near_8(simhash, simhash) RETURNS boolean
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE RETURN simhash_within($1, $2, 8);
COMMENT ON FUNCTION simhash_near_8(simhash, simhash) IS 'implementation of <%%> operator';
REVOKE EXECUTE ON FUNCTION simhash_near_8(simhash, simhash) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION simhash_near_8(simhash, simhash) TO pg_monitor;
CREATE OPERATOR <%%> (
	LEFTARG = simhash, RIGHTARG = simhash, FUNCTION = simhash_near_8,
	COMMUTATOR = <%%>, RESTRICT = simhash_sel, JOIN = simhash_joinsel
);
COMMENT ON OPERATOR <%%>(simhash, simhash) IS 'differ in at most 8 bits';
ALTER OPERATOR FAMILY simhash_ops USING simhash ADD OPERATOR 12 <%%> (simhash, simhash);
ALTER FUNCTION simhash_hash(text) COST 5;
CREATE OR REPLACE VIEW simhash_stat_progress AS
SELECT p.pid, p.datid, d.datname, p.relid, p.indexrelid, p.command, p.phase,
	p.tables_total, p.tables_done, p.entries_total, p.entries_done, p.found, p.checked, true AS running
FROM simhash_progress('0'::simhash) p LEFT JOIN pg_catalog.pg_database d ON d.oid OPERATOR(pg_catalog.=) p.datid;
END

# Links to all that is in a directory, but one name
sub link_files
{
	my ($from, $to, $but) = @_;
	make_path($to);
	foreach (grep { $_ ne $but } map { basename($_) } glob("$from/*"))
	{
		symlink("$from/$_", "$to/$_") or die "$to/$_: $!";
	}
	return;
}

# A copy of the server's installation to which files can be added.  Programs find the
# other files relative to where they lie, so these can be links.
sub copy_installation
{
	my ($root) = @_;
	make_path("$root$config{bindir}", dirname("$root$config{pkglibdir}"));
	foreach ('postgres', 'initdb', 'pg_config', 'pg_ctl', 'psql')
	{
		system_or_bail('cp', '-L', "$config{bindir}/$_", "$root$config{bindir}/");
	}
	link_files($config{sharedir}, "$root$config{sharedir}", 'extension');
	link_files("$config{sharedir}/extension", "$root$config{sharedir}/extension", 'simhash.control');
	symlink($config{pkglibdir}, "$root$config{pkglibdir}") or die "$config{pkglibdir}: $!";
	return;
}

my $root = PostgreSQL::Test::Utils::tempdir . '/installation';
copy_installation($root);
my $extension = "$root$config{sharedir}/extension";
my $control = slurp_file("$config{sharedir}/extension/simhash.control");
my ($current) = $control =~ /^default_version = '(\S+)'$/m or die 'no version in simhash.control';
my $next = $current =~ s/(\d+)$/$1 + 1/er;
my $wrong = "$next.wrong";
my @released = sort map { /simhash--([\d.]+)\.sql$/ ? $1 : () } glob("$extension/simhash--*.sql");

# A version whose upgrade script has some statements, and whose own script has others.
sub make_version
{
	my ($version, $upgrade, $own) = @_;
	append_to_file("$extension/simhash--$current--$version.sql", $upgrade);
	append_to_file("$extension/simhash--$version.sql", slurp_file("$extension/simhash--$current.sql") . $own);
	return;
}
append_to_file("$extension/simhash.control", $control =~ s/^(default_version = ).*$/$1'$next'/mr);
make_version($next, $statements, $statements);
make_version($wrong, $statements =~ s/^COMMENT ON OPERATOR.*\n//mr, $statements =~ s/COST 5/COST 6/r);

my $node = PostgreSQL::Test::Cluster->new('update', install_path => $root . dirname($config{bindir}));
$node->init;
$node->append_conf('postgresql.conf', "autovacuum = off\njit = off\n");
$node->start;
is( $node->safe_psql('postgres', "SELECT default_version FROM pg_available_extensions WHERE name = 'simhash'"),
	$next, 'there is a newer version');
is(scalar(grep { $_ eq $current } @released), 1, "and $current");

my $superuser = $node->safe_psql('postgres', 'SELECT current_user');
$node->safe_psql('postgres', 'CREATE ROLE plain LOGIN; CREATE ROLE other LOGIN');
my $databases = 0;
my $members = slurp_file("$test/upgrade/members.sql");

sub as_user
{
	my ($database, $user, $sql) = @_;
	return $node->safe_psql($database, $sql, extra_params => [ '-U', $user ]);
}

# A new database with the extension, created by its owner
sub make_database
{
	my ($owner, $version) = @_;
	my $database = 'database_' . ++$databases;
	$node->safe_psql('postgres', "CREATE DATABASE $database TEMPLATE template0 OWNER $owner");
	as_user($database, $owner, "CREATE SCHEMA ext; CREATE EXTENSION simhash SCHEMA ext VERSION '$version'");
	return $database;
}

sub version_of
{
	my ($database) = @_;
	return $node->safe_psql($database, "SELECT extversion FROM pg_extension WHERE extname = 'simhash'");
}

# How the catalogs of two databases differ: lines of the first with -, of the second with +
sub differences
{
	my @lines = map { { map { $_ => 1 } split /\n/ } } map { scalar($node->safe_psql($_, $members)) } @_;
	die 'the catalogs cannot be read' if grep { keys %$_ < 1000 } @lines;
	return join '', map { "$_\n" }
	  (map { "- $_" } grep { !$lines[1]{$_} } sort keys %{ $lines[0] }),
	  (map { "+ $_" } grep { !$lines[0]{$_} } sort keys %{ $lines[1] });
}

# What a superuser makes, and one who is none; and what must be the same afterwards
my %objects = (
	$superuser => slurp_file("$test/upgrade/objects.sql"),
	plain => q{
		SET search_path = public, ext;
		CREATE TABLE docs (id integer PRIMARY KEY, body text, fp simhash GENERATED ALWAYS AS (simhash_compute(body)) STORED);
		INSERT INTO docs SELECT i, format('%s is said in document %s', md5(i::text), i) FROM generate_series(1, 2000) i;
		CREATE INDEX docs_fp ON docs USING simhash (fp);
		CREATE TABLE corpus (fp simhash, EXCLUDE USING simhash (fp WITH %));
		INSERT INTO corpus VALUES (0);
		CREATE VIEW near AS SELECT x.id AS a, y.id AS b, x.fp <~> y.fp AS distance FROM docs x JOIN docs y ON x.fp <~> y.fp <= 12;
		CREATE VIEW searches AS SELECT * FROM simhash_stat_progress;
	});
my %checks = (
	$superuser => slurp_file("$test/upgrade/checks.sql"),
	plain => q{
		SET search_path = public, ext;
		SELECT 'near', distance, count(*), sum(a), sum(b) FROM near GROUP BY distance ORDER BY distance;
		SELECT 'sound', simhash_index_check('docs_fp', true);
		SELECT 'pairs', count(*) FROM simhash_find_all('docs_fp', 12);
		SELECT 'fingerprints', sum(simhash_compute(body)::numeric), sum(fp::numeric) FROM docs;
		INSERT INTO corpus VALUES (7) ON CONFLICT DO NOTHING;
		SELECT 'corpus', fp FROM corpus;
		SELECT 'searches', count(*) FROM searches;
	});
my %expected = ($superuser => qr/^refused\|corpus_3\|/m, plain => qr/^near\|0\|2000\|.*^corpus\|0$/ms);

# Update a database of a user, and compare it with one that has the new version from
# the beginning.
sub update
{
	my ($user, $from, $to) = @_;
	my $what = "$from to $to by " . ($user eq $superuser ? 'a superuser' : $user);
	my $database = make_database($user, $from);

	as_user($database, $user, $objects{$user});
	my $before = as_user($database, $user, $checks{$user});
	like($before, $expected{$user}, "$what: the objects are there");
	unlike($before, qr/\|f(\||$)/m, "$what: and right");
	as_user($database, $user, "ALTER EXTENSION simhash UPDATE TO '$to'");
	is(version_of($database), $to, "$what: updated");
	is(as_user($database, $user, $checks{$user}), $before, "$what: all answers are the same");
	is(differences(make_database($user, $to), $database), '', "$what: the same as a fresh one");
	return $database;
}

foreach my $from (@released)
{
	foreach my $to (grep { $_ ne $from } $current, $next)
	{
		update('plain', $from, $to);
		my $database = update($superuser, $from, $to);
		next if $to ne $next;

		# what is new works, with an index that is old
		like(
			$node->safe_psql($database, q{SET enable_seqscan = off; SET search_path = public, ext;
					EXPLAIN (COSTS OFF) SELECT * FROM docs WHERE fp <%%> 5}),
			qr/Index.* on docs_fp/, "$from to $to: the new operator uses an old index");
		my ($status, $stdout, $stderr) = $node->psql($database, q{SET search_path = public, ext;
				CREATE TABLE corpus (fp simhash, EXCLUDE USING simhash (fp WITH <%%>));
				INSERT INTO corpus VALUES (0), (511);
				INSERT INTO corpus VALUES (255)});
		like($stderr, qr/violates exclusion constraint/, "$from to $to: and makes a constraint");
	}
}

# who may
my $database = make_database('plain', $current);
my ($status, $stdout, $stderr) =
  $node->psql($database, 'ALTER EXTENSION simhash UPDATE', extra_params => [ '-U', 'other' ]);
like($stderr, qr/must be owner of extension simhash/, 'another role cannot update it');
is(version_of($database), $current, 'it is not updated');

# what is not the same in the two scripts is seen
$database = make_database($superuser, $current);
$node->safe_psql($database, "ALTER EXTENSION simhash UPDATE TO '$wrong'");
my @found = split /\n/, differences(make_database($superuser, $wrong), $database);
is(scalar(grep { /^- comment \| operator ext\.<%%>/ } @found), 1, 'a comment that is missing is seen');
is(scalar(grep { /^[-+] pg_proc \| function ext\.simhash_hash\(text\) .*"procost": "[56]"/ } @found),
	2, 'another cost is seen');
is(scalar(@found), 3, 'and nothing else differs');

# from a directory beside the installation, whose newest version is another one
SKIP:
{
	skip 'extension_control_path came with PostgreSQL 18', 3 if $node->pg_version < 18;
	my $beside = PostgreSQL::Test::Utils::tempdir . '/beside';
	make_path("$beside/extension", "$beside/lib");
	system_or_bail('cp', "$config{sharedir}/extension/simhash.control",
		"$config{sharedir}/extension/simhash--$current.sql", "$beside/extension/");
	system_or_bail('cp', "$config{pkglibdir}/simhash.so", "$beside/lib/");
	$node->append_conf('postgresql.conf', "extension_control_path = '$beside'\ndynamic_library_path = '$beside/lib'\n");
	$node->restart;
	$node->safe_psql('postgres', 'CREATE DATABASE beside TEMPLATE template0');
	$node->safe_psql('beside', 'CREATE EXTENSION simhash');
	is(version_of('beside'), $current, 'extension_control_path: the version that is there');
	is( $node->safe_psql('beside', q{CREATE TABLE docs (body text); INSERT INTO docs VALUES ('Thank you!');
			CREATE INDEX ON docs USING simhash (body simhash_text_ops); SET enable_seqscan = off;
			SELECT count(*) FROM docs WHERE body =~= 'thank you'}), 1, 'extension_control_path: a row is found');
	is( $node->safe_psql('beside', q{SELECT simhash_hash('a');
			SELECT count(*) FROM pg_get_loaded_modules() WHERE module_name = 'simhash'}) =~ s/^.*\n//r, 1,
		'extension_control_path: the library has its name');
}

# A package replaces the library while sessions run.  Their workers load the new one.  It lies in
# a directory of its own, and so do both of its versions, of which one is made up.
my $dir = PostgreSQL::Test::Utils::tempdir . '/lib';
my $library = slurp_file("$config{pkglibdir}/simhash.so");
make_path($dir);
append_to_file("$dir/simhash.so", $library);
append_to_file("$dir/new", $library =~ s/(?<=simhash build )(\d)/9 - $1/er);
$database = make_database($superuser, $current);
$node->safe_psql($database, qq{
	UPDATE pg_proc SET probin = '$dir/simhash' WHERE probin = '\$libdir/simhash';
	ALTER DATABASE $database SET dynamic_library_path = '$dir';
	ALTER DATABASE $database SET min_parallel_index_scan_size = 0;
	ALTER DATABASE $database SET search_path = ext;
	CREATE TABLE ext.docs (fp bigint) WITH (parallel_workers = 2)});
my $search = "SELECT count(*) FROM simhash_find_all('docs_fp', 16)";
my $build = 'CREATE INDEX ON docs USING simhash ((fp::simhash))';
($status, $stdout, $stderr) = $node->psql($database, qq{
	INSERT INTO docs SELECT hashint8extended(i, 1) FROM generate_series(1, 6000) i;
	CREATE INDEX docs_fp ON docs USING simhash ((fp::simhash));
	SET client_min_messages = debug1;
	$search;
	\\! mv $dir/new $dir/simhash.so
	$search;
	$build;
	\\c
	$search;
	$build;
}, on_error_stop => 0);
like($stderr, qr/search with 2 of 2 parallel workers/, 'a search with workers');
like($stdout, qr/^([1-9]\d+)\n\1$/, 'a search before the library is replaced, and one of a new session');
is(() = $stderr =~ /ERROR: .* was replaced after this session had loaded it/g, 2,
	'the search and the build of the session between them fail');
is(() = $stderr =~ /ERROR/g, 2, 'and nothing else does') or diag($stderr);

$node->stop;
done_testing();
