# Random calls of each function that searches a whole index or an array, against brute force: of
# small tables of all types, widths and classes, partitioned, with groups, nulls, dead and updated
# rows; with all arguments; with workers or without, and in any memory.
#
# SEED in the environment repeats the calls, MINUTES says how long they go on.

use FindBin;
use lib "$FindBin::RealBin/../t";
use List::Util qw(max min);
use SimhashTest;

my $seed = $ENV{SEED} || time;
my $minutes = $ENV{MINUTES} || 10;
srand(int $seed);
diag("SEED=$seed");
my $node = start_node('calls', [], 'max_worker_processes = 16', 'max_parallel_workers = 16',
	'min_parallel_index_scan_size = 0');
$node->safe_psql('postgres', slurp_file("$FindBin::RealBin/$_.sql")) foreach 'model', 'calls';
my $least = $node->safe_psql('postgres', "SELECT min_val FROM pg_settings WHERE name = 'maintenance_work_mem'");

sub pick { return $_[ rand @_ ]; }
sub chance { return rand() < $_[0]; }
sub quoted { return defined $_[0] ? "'" . $_[0] =~ s/'/''/gr . "'" : 'NULL'; }

sub settings
{
	my $memory = pick("${least}kB", $least * (1 + int rand 4) . 'kB', '4MB', '64MB', '1GB');
	return "SET maintenance_work_mem = '$memory'; SET work_mem = '" . pick('64kB', '4MB')
	  . "'; SET max_parallel_workers_per_gather = " . pick(0, 0, 1, 2, 4);
}

# similarities of texts and of byte strings, and how many bands an index must have for them
my %bands = (
	text => { 1 => 1, 0.95 => 3, 0.9 => 4, 0.83 => 7, 0.8 => 7, 0.75 => 9, 0.7 => 11, 0.6 => 16, 0.5 => 32 },
	bytea => { 1 => 1, 0.95 => 3, 0.9 => 4, 0.83 => 8, 0.8 => 8, 0.75 => 9, 0.7 => 12, 0.6 => 18, 0.5 => 31 });

# What a table has: the SQL type, a value, its column in an index, and the bits of that
sub random_type
{
	my $name = pick(qw(simhash simhash bigint expression bits bits bits bits text text bytea wide));
	my $width = $name ne 'bits' ? 64 : chance(0.3) ? pick(8, 16, 64, 72, 128, 1024, 2048, 4096) : 8 * (1 + int rand 40);
	my $bits = "draw_bits('" . pick(qw(random clustered clustered duplicates prefix chain plain)) . "', $width)";
	my $text = "draw_text('" . pick('varied', 'framed') . "')";
	my $minhash = 'simhash_minhash(fp)::bit(64)';
	my %of = (
		simhash => [ 'simhash', "$bits\::bit(64)::simhash", 'fp', 'fp::bit(64)' ],
		bigint => [ 'bigint', "$bits\::bit(64)::bigint", 'fp', 'fp::bit(64)' ],
		expression => [ 'bigint', "$bits\::bit(64)::bigint", '(fp # 12345)', '(fp # 12345)::bit(64)' ],
		bits => [ "simhash_bits($width)", "$bits\::simhash_bits", 'fp', 'fp::varbit' ],
		text => [ 'text', $text, 'fp simhash_text_ops', $minhash ],
		bytea => [ 'bytea', "convert_to($text, 'UTF8')", 'fp simhash_bytea_ops', $minhash ],
		wide => [ 'text', $text, 'fp wide_text_ops', 'simhash_minhash_bits(fp, 256)::varbit', 60, 0.6 ]);
	my %type = (name => $name, width => $name eq 'wide' ? 256 : $width, bands => $bands{$name}, wide => $name =~ /bits|wide/);
	@type{qw(sql value column bits radius share)} = $of{$name}->@*;
	return \%type;
}

# Options of an index, and its distance, or how many bands it has
sub options
{
	my ($type) = @_;
	if ($type->{bands})
	{
		my $least = $type->{bands}{0.8};
		my $bands = pick($least, $least + int rand(33 - $least), 32);
		return ('', $least) if chance(0.4);
		return (" WITH (bands = $bands, fillfactor = " . pick(10, 90, 100) . ')', $bands);
	}
	my $parts = int(($type->{width} + 63) / 64);
	# blocks of 12 bits or more, of parts of one length but for a bit
	my $of_part = max(1, min(4, int(int($type->{width} / $parts) / 12)));
	return ('', $type->{radius} // $of_part * $parts - 1) if chance(0.4);
	my $blocks = $parts * (1 + int rand($parts > 1 ? max(2, 6 - $parts) : 7));
	my $distance = $parts > 1 ? $blocks - 1 : int rand $blocks;
	return (" WITH (blocks = $blocks, distance = $distance, fillfactor = " . pick(10, 90, 100) . ')',
		$type->{radius} // $distance);
}

# Distances of the indexes x and y of a table, changes for the transaction that searches, and
# what makes the table and changes it before
sub make_table
{
	my ($t, $rows, $type, $columns, $where) = @_;
	my $create = pick('CREATE', 'CREATE', 'CREATE TEMPORARY') . " TABLE $t";
	my $by = pick('', '', '', 'HASH (id)', 'RANGE (id)');
	my $n = int $rows / 3;
	my @bounds = map { "FOR VALUES $_" } $by =~ /HASH/ ? map { "WITH (MODULUS 3, REMAINDER $_)" } 0 .. 2
	  : ("FROM (MINVALUE) TO ($n)", "FROM ($n) TO (9000)", 'FROM (9000) TO (MAXVALUE)');
	my @made = "$create (id int, note int, g int, l text, fp $type->{sql})" . ($by && " PARTITION BY $by");
	# one of them has its columns in another order, and one has partitions of its own
	push @made, "${create}_0 (fp $type->{sql}, gone int, l text, note int, g int, id int)",
	  "ALTER TABLE ${t}_0 DROP gone", "ALTER TABLE $t ATTACH PARTITION ${t}_0 $bounds[0]",
	  "${create}_1 PARTITION OF $t $bounds[1]",
	  "${create}_2 PARTITION OF $t $bounds[2] PARTITION BY HASH (note)",
	  "${create}_2_0 PARTITION OF ${t}_2 FOR VALUES WITH (MODULUS 1, REMAINDER 0)" if $by;
	my $some = sub { my $of = 2 + int rand 9; " WHERE id % $of = " . int rand $of };
	my $insert = sub {
		return "INSERT INTO $t SELECT i, n * 5, n * n * 4, ('{en,de,NULL}'::text[])[1 + n * 2], $type->{value} FROM"
		  . ' (SELECT i, CASE WHEN random() < 0.9 THEN random() END AS n FROM generate_series(1, ' . int($_[0] // 20) . ') i) s';
	};
	my $update = sub {
		my @changes = ('note = note + 1', "fp = $type->{value}", 'id = id + 10000', 'fp = NULL', 'g = id % 3');
		return "UPDATE $t SET " . pick(@changes) . $some->();
	};
	my $delete = sub { "DELETE FROM $t" . $some->() };
	my @any = map { $_->() } grep { chance(0.5) } $delete, ($update) x 3, sub { $insert->($rows / 5) },
	  sub { "VACUUM $t" }, sub { join '; ', 'BEGIN', $update->(), $delete->(), 'ROLLBACK' };
	my @indexes = map { [ $_, options($type) ] } 'x', 'y';
	splice @any, rand(1 + @any), 0, "CREATE INDEX ${t}_$$_[0] ON $t USING simhash ("
	  . join(', ', @$columns, $type->{column}) . ")$$_[1]" . ($where eq 'true' ? '' : " WHERE $where") foreach @indexes;
	my @late = map { $_->() } grep { chance(0.5) } $update, $insert,
	  sub { join '; ', 'SAVEPOINT s', $delete->(), 'ROLLBACK TO s' };
	return ([ map { $$_[2] } @indexes ], \@late, @made, $insert->($rows), @any);
}

# A call of each function: its name, the call, and the same by brute force
sub calls
{
	my ($type, $distances, $most) = @_;
	my ($width, $wide, $class) = @$type{qw(width wide radius)};
	my @calls;
	my $call = sub { push @calls, [ $_[0], "SELECT $_[2] FROM simhash_$_[0]($_[1])", $_[3] ] };
	my @far = chance($most) ? (int rand $width, $width) : ();
	my $distance = sub { pick(undef, 0, 1, int rand 8, @far, map { int rand($width / $_ + 1) } 8, 8, 12) };
	# the distance, further arguments, and which pairs are near by these
	my $near = sub {
		my ($default) = @_;
		my $d = $distance->();
		if ($type->{bands})
		{
			my $share = pick(undef, grep { $type->{bands}{$_} <= $default } sort keys $type->{bands}->%*);
			return ('NULL', $share ? ", similarity => $share" : '', sprintf 'j >= %s AND shared >= %.2f', $share // 0.8,
				int(($share // 0.8) * 20 + 1e-9) / 20);
		}
		return ('NULL', '', "d <= $class AND j >= $type->{share}") if $class;
		return ($d // 'NULL', '', 'd <= ' . ($d // $default));
	};
	my @same = (undef, undef, 'a.id % 5 <> b.id % 3', 'a.note >= b.note', 'a.note IS DISTINCT FROM b.note', 'false',
		'b.id + a.id > 200', $type->{sql} eq 'text' ? 'simhash_jaccard(a.fp, b.fp) >= 0.9' : 'a.fp <> b.fp',
		"a.l || b.l ~ 'e' OR a.g = b.g");
	my $i = int rand 2;
	my ($index, $default) = ("'a_" . qw(x y)[$i] . "'", $distances->{a}[$i]);
	# the nearest of texts share most
	my $d_column = $type->{bands} ? '(similarity * -1e9)::integer' : 'distance';
	my $pair = "a, b, a_fp::bigint, b_fp::bigint, $d_column, a_table::oid, b_table::oid";
	my $rows = 'SELECT x.tid, y.tid, x.hash, y.hash, d, x.tab, y.tab FROM';
	my ($d, $more, $where) = $near->($default);
	$call->('find_all', "$index, $d$more", $pair, "$rows paa p JOIN xa x ON x.no = p.a JOIN xa y ON y.no = p.b WHERE $where");
	my $if = pick(@same);
	($d, $more, $where) = $near->($default);
	$call->('find_clusters', "$index, $d, same => " . quoted($if) . $more, 'cluster, member, fp::bigint, size, member_table::oid',
		'SELECT * FROM true_clusters(' . join(', ', map { quoted($_) } $where, $if // 'true') . ')');
	my $keep = pick(undef, 'id', 'note NULLS FIRST', 'note DESC NULLS LAST, id', 'g, l DESC', 'fp', 'length(l), -id',
		'id % 3 = 0, fp DESC');
	$if = pick(@same);
	($d, $more, $where) = $near->($default);
	$call->('find_duplicates', "$index, $d, keep => " . quoted($keep) . ', same => ' . quoted($if) . $more,
		"duplicate, keeper, $d_column, duplicate_table::oid, keeper_table::oid", 'SELECT * FROM true_duplicates('
		  . join(', ', map { quoted($_) } $where, $if // 'true', join ', ', grep { defined } $keep, 'tab, tid') . ')');

	# of another table, or of this one by its other index
	my ($b, $j) = chance(0.7) ? ('b', int rand 2) : ('a', 1 - $i);
	($d, $more, $where) = $near->(min($default, $distances->{$b}[$j]));
	$call->('find_matches', "$index, '${b}_" . qw(x y)[$j] . "', $d$more", $pair,
		"$rows " . ($b eq 'a' ? 'pa' : 'pab') . " p JOIN xa x ON x.no = p.a JOIN x$b y ON y.no = p.b WHERE $where");

	# arrays, also of fingerprints of 64 bits as wide ones
	my ($suffix, $of, $cast) = $wide ? ('_bits', 'bits::simhash_bits', '') : ('', 'hash', '::bigint');
	$d = $distance->();
	# not of bands
	$call->("find_matches_in$suffix", "$index, (SELECT v$suffix FROM arrays), " . ($d // 'NULL'),
		"query$cast, b, b_fp$cast, distance, b_table::oid",
		"SELECT q.$of, x.tid, x.$of, d, x.tab FROM pqa p JOIN q ON q.no = p.a JOIN xa x ON x.no = p.b WHERE d <= "
		  . ($d // $default))
	  unless $type->{bands};
	if ($type->{name} eq 'text')
	{
		($d, $more, $where) = $near->($default);
		my $some = 'no % 7 = ' . int rand 7;
		$call->('find_matches_in_texts', "$index, (SELECT array_agg(fp) FROM xa WHERE $some)$more", 'query, b, b_table::oid, similarity',
			"SELECT fp, tid, tab, j FROM (SELECT q.fp, x.tid, x.tab, simhash_jaccard(q.fp, x.fp) AS j,"
			  . ' (SELECT max(s) FROM unnest(ARRAY[1, .95, .9, .85, .8, .75, .7, .65, .6, .55, .5]::float8[]) s'
			  . ' WHERE share_band(q.bands, x.bands, s, false)) AS shared'
			  . " FROM (SELECT DISTINCT fp, bands FROM xa WHERE $some) q CROSS JOIN xa x) s WHERE $where");
	}

	($suffix, $of, $cast) = $width != 64 || chance(0.2) ? ('_bits', 'bits::simhash_bits', '') : ('', 'hash', '::bigint');
	$d = $distance->();
	my $within = $d // ($suffix ? int(($width - 1) / 8) : 3);
	my ($array, $first) = ("(SELECT v$suffix FROM arrays), " . ($d // 'NULL'), 'true');
	$call->("find_clusters_in$suffix", $array, "cluster, fp$cast, size",
		"WITH n AS (SELECT array_agg(a) AS a, array_agg(b) AS b FROM pqq WHERE d <= $within)"
		  . " SELECT dense_rank() OVER (ORDER BY root), q.$of, count(*) OVER (PARTITION BY root)"
		  . ' FROM n CROSS JOIN connected(n.a, n.b) c JOIN q USING (no)');
	if (!$suffix && $within < 15 && chance(0.6))
	{
		# one or two blocks more than the distance
		my $blocks = $within + 1 + int rand 2;
		my $table = pick(undef, int rand($blocks == $within + 1 ? $blocks : $blocks * ($blocks - 1) / 2));
		$array .= ", $blocks, " . ($table // 'NULL');
		$first = "simhash_first_table(x.hash, y.hash, $blocks, $within) = $table" if defined $table;
	}
	$call->("find_all_in$suffix", $array, "a$cast, b$cast, distance",
		"SELECT x.$of, y.$of, d FROM pqq p JOIN q x ON x.no = p.a JOIN q y ON y.no = p.b WHERE d <= $within AND $first");
	my $last = int rand 400;
	$call->('components', join(', ', map { "(SELECT array_agg($_) FROM (SELECT * FROM edges LIMIT $last) s)" } 'a', 'b'),
		'component, member, size', "SELECT * FROM true_components($last)");
	return @calls;
}

my (%calls, %found, %distances);
my ($round, $differences, $end) = (0, 0, time + 60 * $minutes);
while (time < $end && -e $node->data_dir . '/postmaster.pid')
{
	my $type = random_type();
	my @columns = pick([], [], ['g'], [ 'l', 'g' ])->@*;
	my ($key, @late) = join ', ', @columns;
	my $where = pick(('true') x 5, 'id % 6 <> 4');
	my $rows = 200 * 15**(rand()**(chance(0.25) ? 0.5 : 4));
	$rows = 50 + int($rows / (1 + $type->{width} / 400) / ($type->{radius} ? 2 : 1));
	my @setup = ('SET client_min_messages = warning', 'DROP TABLE IF EXISTS a, b',
		'DO $$ BEGIN PERFORM setseed(' . rand() . '); END $$');
	foreach my $name ('a', 'b')
	{
		($distances{$name}, my $late, my @made) = make_table($name, $rows, $type, \@columns, $where);
		push @late, @$late;
		push @setup, @made;
	}
	push @setup, 'BEGIN', @late if chance(0.4);
	$key = @columns ? "CASE WHEN num_nulls($key) = 0 THEN concat_ws('/', $key) END" : "''";
	my $how = join ', ', map { quoted($_) } $type->{bits}, $type->{wide} || $type->{bands} ? 'NULL::bigint' : "$type->{bits}::bigint", $key, $where;
	my $farthest = $type->{radius} // 'NULL';
	my $of_bytea = $type->{bands} ? $type->{name} eq 'bytea' ? 'true' : 'false' : 'NULL';
	push @setup, "CALL note_rows('a', $how)", "CALL note_rows('b', $how)", "CALL note_pairs($type->{width}, $farthest, $of_bytea)";
	my @compare = map { settings(), "SELECT '$$_[0]', compare_call(" . join(', ', map { quoted($_) } @$_[ 1, 2 ]) . ')' }
	  map { calls($type, \%distances, $rows < 700 ? 0.3 : 0.05) } 1 .. ($rows < 700 ? 10 : 4);
	my (undef, $out, @bad) = $node->psql('postgres', join('', map { "$_;\n" } @setup, @compare), on_error_stop => 1);
	/^(\w+)\|(\d+)$/ ? ($calls{$1}++, $2 > 0 && $found{$1}++) : push @bad, $_ foreach split /\n/, $out;
	is(join("\n", @bad), '', 'round ' . ++$round . ": $type->{name} $type->{width}, $rows rows")
	  or $differences++, diag(join ";\n", @setup);
}
diag(join "\n", "SEED=$seed: $round rounds, $differences with differences",
	map { "$_: $calls{$_} calls, $found{$_} found something" } sort keys %calls);
is(scalar keys %calls, 12, 'each function was called');
$node->stop;
is(join('', grep { /TRAP:|PANIC|WARNING|terminated by signal/ } split /^/, slurp_file($node->logfile)), '', 'no crash');
done_testing();
