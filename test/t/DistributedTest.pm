# A coordinator and three shards, set up by the statements of examples/shards.
#
# A file has one or more blocks.  The first line of each says where it runs: "-- on each shard",
# "-- on the coordinator" or "-- on each machine".  Names of hosts become those of servers of the test.
# Each block is a session of its own.  On the shards, the role "corpus" and its password are used.
package DistributedTest;

use Exporter 'import';
use FindBin;
use IPC::Run;
use SimhashTest;

our @EXPORT = qw($database make_machines jobs parts_of run_part run_sessions one_of same_rows
  use_coordinator coordinate collect_texts load_rows load_block_rows prepared check_all_jobs
  check_alike check_wide check_step @step_views random_fp near_loads);

our $database = 'corpus';
# the views that show what is wrong with the rows of two tables
our @step_views = ('out_of_step', 'misplaced');
my $demo = "$FindBin::RealBin/../demo";
my $examples = "$FindBin::RealBin/../../examples/shards";
my $coordinator;

# Whom coordinate() asks
sub use_coordinator
{
	($coordinator) = @_;
	return;
}

sub coordinate
{
	my ($sql) = @_;
	return $coordinator->safe_psql($database, $sql);
}

# The coordinator and some number of shards, started, each with a database that a user "corpus"
# owns.  Further arguments are lines for postgresql.conf.
sub make_machines
{
	my ($shards, @conf) = @_;
	my $first = make_node('coordinator', [], 'max_connections = 60', @conf);
	my @nodes = ($first);

	# a foreign server accepts a user other than a superuser only if a password was needed
	my $hba = $first->data_dir . '/pg_hba.conf';
	my $others = slurp_file($hba);
	unlink $hba;
	append_to_file($hba, "local all corpus scram-sha-256\n$others");
	$first->start;
	$first->safe_psql('postgres',
		"CREATE ROLE corpus LOGIN PASSWORD 'secret'; CREATE DATABASE $database TEMPLATE template0 OWNER corpus");
	$first->stop;
	$first->backup_fs_cold('empty');
	foreach my $name (map { "shard_$_" } 1 .. $shards)
	{
		my $node = PostgreSQL::Test::Cluster->new($name);

		$node->init_from_backup($first, 'empty');
		push @nodes, $node;
	}
	$_->start foreach @nodes;
	use_coordinator($first);
	return @nodes;
}

# The blocks of files, by their names without .sql, in this order
sub parts_of
{
	my @parts;

	foreach my $name (@_)
	{
		push @parts, split /^(?=-- on (?:each|the) )/m, slurp_file("$examples/$name.sql");
	}
	return @parts;
}

# What sets up the machines by postgres_fdw and uses them, but for the load that keeps near-duplicates
# in, and for wide fingerprints, whose table it does not make
sub jobs
{
	return parts_of('fdw_shard', 'fdw_shard_guard', 'fdw_coordinator', 'staging', 'load', 'load_documents',
		'change_document', 'look_up_shard', 'look_up', 'fdw_nearest', 'fdw_shard_pairs', 'fdw_pairs', 'pairs',
		'delete_duplicates');
}

# Run a block on the nodes that it names, perhaps in other databases of the coordinator and of
# the shards.  Returns what it prints on the coordinator, rows with a bar between columns.
sub run_part
{
	my ($nodes, $sql, $coordinating, $of_shards) = @_;
	my ($first, @shards) = @$nodes;
	my ($place) = $sql =~ /^-- on (each shard|each machine|the coordinator)\n/
	  or die "a block does not say where it runs:\n$sql";

	$sql =~ s{host 'shard-(\d)\.example'}
		{sprintf("host '%s', port '%d'", $shards[$1 - 1]->host, $shards[$1 - 1]->port)}ge;
	# which may take longer on a busy machine
	$sql =~ s/connect_timeout '5'/connect_timeout '100'/g;
	# Citus: by address and port
	$sql =~ s{'(?:coordinator|worker-(\d))\.example', 5432}
		{sprintf("'127.0.0.1', %d", ($1 ? $shards[$1 - 1] : $first)->port)}ge;
	return $first->safe_psql($coordinating // $database, $sql) if $place eq 'the coordinator';
	if ($place eq 'each machine')
	{
		$_->safe_psql($database, $sql) foreach @$nodes;
		return '';
	}
	local $ENV{PGPASSWORD} = 'secret';
	foreach my $shard (@shards)
	{
		$shard->safe_psql($of_shards // $database, $sql, extra_params => [ '-U', 'corpus' ]);
	}
	return '';
}

# The one block that has some words, but for those of Citus alone
sub one_of
{
	my ($words) = @_;
	my @names = grep { !/^citus_/ } map { m{([^/]+)\.sql$} } sort glob("$examples/*.sql");
	my @found = grep { index($_, $words) >= 0 } parts_of(@names);

	die scalar(@found) . " blocks have \"$words\"" if @found != 1;
	return $found[0];
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
	my $directory = PostgreSQL::Test::Utils::tempdir;
	my @handles;

	foreach my $session (@sessions)
	{
		# from a file, since a pipe would be fed one session after the other
		my $file = "$directory/" . @handles;

		append_to_file($file, $session->{sql});
		$session->{err} = '';
		push @handles,
		  IPC::Run::start(
			[ 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr($session->{database}), '-f', $file ],
			'>', '/dev/null', '2>', \$session->{err});
	}
	foreach my $i (0 .. $#handles)
	{
		$handles[$i]->finish;
		$sessions[$i]{err} ||= 'status ' . $handles[$i]->result if $handles[$i]->result != 0;
	}
	return map { $_->{err} } @sessions;
}

# Real texts: descriptions of packages where there are lists, and in any case what Perl
# brings, by paragraphs
sub collect_texts
{
	my ($file, $rows) = @_;

	system("apt-cache dumpavail 2>/dev/null | perl '$FindBin::RealBin/../rows.pl' packages 2>/dev/null | head -n $rows >'$file'");
	append_to_file($file, slurp_file(library_texts($rows)));
	return;
}

# What a statement gives, and what the same gives of one table; perhaps with other
# words in place of some
sub coordinate_both
{
	my ($sql, %replace) = @_;
	my $of_one;

	while (my ($words, $others) = each %replace)
	{
		die "there are no words $words" if $sql !~ s/\Q$words\E/$others/g;
	}
	$of_one = $sql;
	$of_one =~ s/\bFROM (docs|images)(_\d)?\b/FROM one/g or die "no table in $sql";
	return (coordinate($sql), coordinate($of_one));
}

# Of a block that prepares a statement, this statement alone
sub prepared
{
	my ($name) = @_;
	my ($sql) = one_of("PREPARE $name (") =~ /^(PREPARE \Q$name\E .*?;)/ms;
	return $sql;
}

# The rows of one table, and of the shards
sub load_rows
{
	my ($select) = @_;

	coordinate("TRUNCATE docs, block_rows, one, staging; DROP TABLE IF EXISTS pairs, near_rows, duplicates, deleted_docs;
		INSERT INTO one $select; ANALYZE one; INSERT INTO docs SELECT id, body, fp FROM one");
	load_block_rows();
	return;
}

# The block rows of all rows
sub load_block_rows
{
	my ($fill) = one_of('INSERT INTO docs SELECT id, body, simhash') =~ /^(INSERT INTO block_rows.*?;)/ms;
	coordinate($fill);
	return;
}

my $one_query = '1234567890123456789';

sub check_jobs
{
	my ($what, $of_nearest, @settings) = @_;
	my ($prepare_nearest, $nearest) = $of_nearest =~ /^(PREPARE (\w+) .*?;)/ms;
	my @queries = split /\n/, coordinate('SELECT fp FROM one WHERE fp IS NOT NULL ORDER BY id % 101, id LIMIT 12');

	# look-ups
	my ($literal) = one_of('PREPARE look_up (') =~ /^(SELECT id.*?;)/ms;
	foreach my $query ($one_query, @queries)
	{
		same_rows(coordinate_both($literal, $one_query => $query), "$what: near $query");
	}
	foreach my $setting (@settings)
	{
		same_rows(coordinate_both(join("\n", "$setting;", prepared('look_up'),
					map { "EXECUTE look_up ('$_');" } @queries)),
			"$what: near parameters, $setting");
	}
	my ($words) = coordinate('SELECT min(body) FROM one') || 'none';
	$words =~ s/'/''/g;
	same_rows(coordinate_both("$settings[-1]; " . prepared('look_up_text') . "EXECUTE look_up_text ('$words')"),
		"$what: near a text");

	# many
	coordinate("INSERT INTO staging SELECT -id, body, (fp::bigint # (1::bigint << (id % 61)::int))::simhash
			FROM one WHERE id % 7 = 0;
		ANALYZE staging");
	same_rows(coordinate_both(one_of('WITH near AS MATERIALIZED (SELECT id, fp FROM docs')), "$what: many look-ups");

	# nearest first: where several are equally near, any of them
	foreach my $query (@queries[ 0 .. 3 ])
	{
		my ($got, $expected) = coordinate_both("$settings[-1]; $prepare_nearest EXECUTE $nearest ('$query')");

		s/^\d+\|//mg foreach $got, $expected;
		is(scalar(split /\n/, $got), 10, "$what: ten");
		# with three branches it is not that of one table
		$expected = coordinate("SELECT fp <~> '$query' FROM one ORDER BY fp <~> '$query' LIMIT 10");
		same_rows($got, $expected, "$what: nearest to $query");
	}

	# pairs, clusters, duplicates
	coordinate(one_of('CREATE TABLE pairs'));
	my $pairs = coordinate(one_of('WHERE p.a <> p.b OR'));
	$pairs =~ s/^(\d+)\|(\d+)/$1 < $2 ? "$1|$2" : "$2|$1"/gme;
	cmp_ok(scalar(split /\n/, $pairs), '>', 20, "$what: there are pairs");
	same_rows($pairs,
		coordinate("SELECT least(x.id, y.id), greatest(x.id, y.id), distance
			FROM simhash_find_all('one_fp') JOIN one x ON x.ctid = a JOIN one y ON y.ctid = b"), "$what: pairs");
	same_rows(coordinate(one_of('simhash_components(e.a')),
		coordinate("SELECT min(id) OVER (PARTITION BY cluster), id, size
			FROM simhash_find_clusters('one_fp') JOIN one ON one.ctid = member"), "$what: clusters");
	my $create_duplicates = one_of('CREATE TABLE duplicates');
	my ($alike) = $create_duplicates =~ /^-- (same => '[^']*')/m;
	coordinate($create_duplicates =~ s/body\) DESC, id'/$&, $alike/r);
	same_rows(coordinate('SELECT * FROM duplicates; DROP TABLE duplicates; DROP INDEX near_rows_fp'),
		coordinate("SELECT x.id, y.id, distance
			FROM simhash_find_duplicates('one_fp', keep => 'length(body) DESC, id', $alike)
			JOIN one x ON x.ctid = duplicate JOIN one y ON y.ctid = keeper"), "$what: duplicates, $alike");
	coordinate($create_duplicates);
	my $duplicates = coordinate('SELECT * FROM duplicates');
	same_rows($duplicates,
		coordinate("SELECT x.id, y.id, distance
			FROM simhash_find_duplicates('one_fp', keep => 'length(body) DESC, id')
			JOIN one x ON x.ctid = duplicate JOIN one y ON y.ctid = keeper"), "$what: duplicates");
	my ($delete) = parts_of('delete_duplicates');
	my $keeper = coordinate('SELECT min(keeper) FROM duplicates');
	coordinate("UPDATE docs SET body = body || 'x' WHERE id = $keeper");
	coordinate($delete);
	is(coordinate('SELECT count(*) FROM docs WHERE id = ANY (ARRAY(SELECT duplicate FROM duplicates))'),
		coordinate("SELECT count(*) FROM duplicates WHERE keeper = $keeper"), "$what: spared if the keeper has changed");
	coordinate("UPDATE docs SET body = left(body, -1) WHERE id = $keeper; DROP TABLE deleted_docs");
	coordinate($delete);
	is(coordinate('SELECT count(*) FROM docs'),
		coordinate('SELECT count(*) FROM one') - (split /\n/, $duplicates), "$what: the others are left");
	is(coordinate('SELECT count(*) FROM near_values'), '0', "$what: and not near each other");
	check_step($what);
	return;
}

# Block rows are those of the rows, and all are where they belong
sub check_step
{
	my ($what) = @_;
	is(coordinate("SELECT * FROM $_ LIMIT 10"), '', "$what: $_") foreach @step_views;
	return;
}

# The jobs, on real texts, random fingerprints and many equal ones.  Options: the block that
# prepares a statement for the nearest (nearest), and settings for prepared statements
# (settings).
sub check_all_jobs
{
	my ($rows, %options) = @_;
	my @how = ($options{nearest} // one_of('PREPARE nearest ('),
		@{ $options{settings} // [ 'SET plan_cache_mode = auto', 'SET plan_cache_mode = force_generic_plan' ] });
	my $random = random_fp();

	load_rows('SELECT id, body, simhash_minhash(body) FROM texts');
	check_jobs('real texts', @how);
	load_rows("SELECT i, 'text ' || i, CASE WHEN i % 97 > 0 THEN
			(nth_value(f::bigint, 1) OVER (PARTITION BY CASE WHEN i % 4 = 0 THEN i % 400 ELSE -i END ORDER BY i)
				# (1::bigint << (random() * 63)::int))::simhash END
		FROM (SELECT i, $random AS f FROM generate_series(1, $rows / 2) i) s");
	check_jobs('random fingerprints', @how);
	load_rows("SELECT i, repeat('x', i % 50), CASE WHEN i % 3 > 0 THEN $random
			WHEN i % 2 > 0 THEN (i % 4)::simhash ELSE ((i % 77) * 64 + (i % 5))::simhash END
		FROM generate_series(1, least($rows, 3000) / 2) i");
	check_jobs('many duplicates', @how);
	return;
}

# Look-ups of texts by =~=, with some settings
sub check_alike
{
	my (@settings) = @_;
	my ($many) = one_of('PREPARE alike (text)') =~ /^(WITH alike .*)/ms;

	load_rows('SELECT id, body, simhash_minhash(body) FROM texts');
	coordinate("CREATE INDEX one_body ON one USING simhash (body simhash_text_ops); ANALYZE one;
		INSERT INTO staging SELECT -id, CASE WHEN id % 100 = 0 THEN body ELSE body || ' and more' END, fp
			FROM one WHERE id % 50 = 0;
		ANALYZE staging");
	foreach my $setting (@settings)
	{
		same_rows(coordinate_both(join("\n", "$setting;", prepared('alike'), map { "EXECUTE alike (\$text\$$_\$text\$);" }
					split /\n/, coordinate('SELECT body FROM staging LIMIT 12'))), "alike texts, $setting");
	}
	my @alike = coordinate_both($many);
	same_rows(@alike, 'texts alike to any of many');
	cmp_ok(scalar(split /\n/, $alike[0]), '>', 20, 'there are some');
	coordinate('DROP INDEX one_body; TRUNCATE staging');
	return;
}

# Look-ups and pairs of wide fingerprints, of which there are three near each other
sub check_wide
{
	my (@settings) = @_;
	my ($pairs) = one_of('array_agg(fp) FROM images') =~ /^(SELECT a, b, distance.*)/m;

	coordinate('ALTER TABLE one RENAME TO of_texts;
		CREATE TABLE one (id bigint PRIMARY KEY, fp simhash_bits(256));
		CREATE INDEX one_wide ON one USING simhash (fp);
		INSERT INTO one SELECT i, set_byte(sha256((i / 3)::text::bytea), i % 32, i % 256)::simhash_bits(256)
			FROM generate_series(1, 2000) i');
	coordinate('INSERT INTO images SELECT * FROM one');
	my $fp = coordinate('SELECT fp FROM one WHERE id = 100');
	foreach my $setting (@settings)
	{
		my @near = coordinate_both("$setting; " . prepared('look_up_image') . "EXECUTE look_up_image ('$fp')");

		same_rows(@near, "near a wide fingerprint, $setting");
		is(scalar(split /\n/, $near[0]), 3, 'there are some');
	}
	my $found = coordinate($pairs =~ s/\ba, b\b/least(a, b), greatest(a, b)/r);
	same_rows($found, coordinate("SELECT DISTINCT least(x.fp, y.fp), greatest(x.fp, y.fp), distance
		FROM simhash_find_all('one_wide', 31) JOIN one x ON x.ctid = a JOIN one y ON y.ctid = b WHERE x.fp <> y.fp"),
		'pairs of wide fingerprints');
	cmp_ok(scalar(split /\n/, $found), '>', 1500, 'there are some');
	coordinate('DROP TABLE one; ALTER TABLE of_texts RENAME TO one');
	return;
}

# A session for run_sessions() that loads a row of each of some groups, in batches, which are
# of the same groups in all sessions, in another order.  Rows of a group differ in two bits.
# Options: the call that loads a batch (call), and whether the groups are those of this session
# alone (alone).
sub near_loads
{
	my ($db, $number, $groups, $batches, %options) = @_;
	my $call = $options{call} // 'CALL load_staging()';
	my $seed = $options{alone} ? $number : 0;
	my $sql = 'SET client_min_messages = warning;
		CREATE TEMPORARY TABLE staging (id bigint PRIMARY KEY, body text, fp simhash);
		CREATE INDEX staging_fp ON staging USING simhash (fp);';

	foreach my $batch (1 .. $batches)
	{
		$sql .= "TRUNCATE staging; INSERT INTO staging
			SELECT $number * 1000000 + g, NULL,
				(hashint8extended(g, $seed) # (1::bigint << (g + 7 * $number) % 63))::simhash
			FROM generate_series(1, $groups) g WHERE g % $batches + 1 = $batch ORDER BY hashint8extended(g, $number);
			$call;\n";
	}
	return { database => $db, sql => $sql };
}

# An expression for a random fingerprint
sub random_fp
{
	return '((random() * 9e18)::bigint # ((random() * 2)::bigint << 62))::simhash';
}

1;
