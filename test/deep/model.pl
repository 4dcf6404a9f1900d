# Random operations on rows and indexes, in several sessions at once and with
# crashes, against brute force: whatever was done, each kind of scan finds the
# rows that a comparison of all finds, and so does each search of a whole table,
# with parallel workers or without, and in little memory.
#
# SEED in the environment repeats the operations of another run (what sessions
# do to each other remains chance); MINUTES says how long to go on.

use FindBin;
use lib "$FindBin::RealBin/../t";
use SimhashTest;
use List::Util qw(min);
use Time::HiRes qw(usleep);

my $seed = $ENV{SEED} || time;
my $minutes = $ENV{MINUTES} || 10;
srand($seed);
diag("SEED=$seed");

# what a table holds, the blocks and the distance of its index, or its bands, how many rows it should have, how
# all pairs of these can be had by brute force if they can, the columns of the
# index before the fingerprint, and the type of that if it is not simhash
my %table = (
	random => { kind => 'random', options => [ 4, 3 ], rows => 20000 },
	clustered => { kind => 'clustered', options => [ 6, 3 ], rows => 1500, pairs => 'each' },
	duplicates => { kind => 'duplicates', options => [ 2, 1 ], rows => 1200, pairs => 'each' },
	mixed => { kind => 'mixed', options => [ 3, 2 ], rows => 1500, pairs => 'each' },
	tenants => { kind => 'clustered', options => [ 4, 3 ], rows => 2500, pairs => 'each', columns => ['tenant'] },
	languages => { kind => 'random', options => [ 5, 2 ], rows => 15000, columns => [ 'tenant', 'lang' ] },
	# few groups and many leaves, so that scans go from group to group
	few_days => { kind => 'clustered', options => [ 4, 3 ], rows => 20000, columns => ['day'] },
	days => { kind => 'mixed', options => [ 3, 2 ], rows => 2000, pairs => 'each', columns => [ 'tenant', 'lang', 'day' ] },
	excluded => { kind => 'clustered', rows => 1000, pairs => 'each' },
	excluded_tenants => { kind => 'clustered', rows => 1000, pairs => 'each', columns => ['tenant'] },
	many => { kind => 'skewed', options => [ 4, 3 ], rows => 22000, pairs => 'blocks' },
	more => { kind => 'skewed', options => [ 4, 3 ], rows => 22000, pairs => 'blocks' },
	wide => { type => 'wide', kind => 'mixed', options => [ 8, 7 ], rows => 2000, pairs => 'each' },
	wide_tenants =>
	  { type => 'wide', kind => 'clustered', options => [ 6, 5 ], rows => 1500, pairs => 'each', columns => ['tenant'] },
	# enough rows of a group for its parts to be searched, and clusters
	wide_clustered => { type => 'wide', kind => 'clustered', options => [ 6, 5 ], rows => 1800, pairs => 'each' },
	excluded_wide => { type => 'wide', kind => 'clustered', rows => 800, pairs => 'each' },
	excluded_wide_tenants =>
	  { type => 'wide', kind => 'clustered', rows => 800, pairs => 'each', columns => ['tenant'] },
	texts => { type => 'text', kind => 'varied', options => [16], rows => 1200, pairs => 'each' },
	texts_tenants =>
	  { type => 'text', kind => 'framed', options => [7], rows => 1200, pairs => 'each', columns => ['tenant'] },
	excluded_texts => { type => 'text', kind => 'varied', rows => 700, pairs => 'each' });

# Of a type: the SQL type, what stands behind the column in an index, the operator of a
# constraint, and what two rows are that it forbids; functions that draw a value of a
# kind, change one by a number, and draw any; a value as COPY reads it; radii, and
# conditions with their equivalents by brute force, where fp is the column, $1 a value,
# $2 a radius, and $3 an array of values.
#
# Of nearest rows: $1 as the index is asked, the distance, and a condition as above.
# Of pairs: what they are compared by, and the function that does; the distance of a search
# by an index without options; distances, or the similarities of texts.
my %type = (
	simhash => {
		sql => 'simhash',
		class => '',
		operator => '%',
		forbidden => 'distance(a.fp::bigint, b.fp::bigint) <= 3',
		draw => 'draw',
		value => 'fp::bigint',
		change => 'flip_bits',
		any => 'random_bits()',
		copied => sub { sprintf '0x%08x%08x', rand(2**32), rand(2**32) },
		radii => [ 0 .. 8, 12, 20, 64 ],
		center => '$1::simhash',
		distance => 'distance(fp::bigint, $1)',
		any_near => [ 'fp % ANY ($3::simhash[])', 'EXISTS (SELECT FROM unnest($3) h WHERE distance(fp::bigint, h) <= 3)' ],
		hash => 'fp::bigint',
		pair_distance => 'distance',
		default_distance => 3,
		pair_radii => [ 0 .. 6, 10 ],
		conditions => sub {
			my $any = 'EXISTS (SELECT FROM unnest($3) h WHERE distance(fp::bigint, h) <= ';
			return (
				'fp <~> $1::simhash <= $2' => 'distance(fp::bigint, $1) <= $2',
				'fp = $1::simhash' => 'fp::bigint = $1',
				'fp = ANY ($3::simhash[])' => 'fp::bigint = ANY ($3)',
				'fp % ANY ($3::simhash[])' => "$any 3)",
				'fp <@ ANY (ARRAY(SELECT simhash_ball(h::simhash, $2) FROM unnest($3) h))' => "$any \$2)",
				'fp <~> $1::simhash <= $2 AND fp % ANY ($3::simhash[])' =>
				  "distance(fp::bigint, \$1) <= \$2 AND $any 3)",
				'fp IS NULL' => 'fp::bigint IS NULL',
				'fp IS NOT NULL' => 'fp::bigint IS NOT NULL');
		} },
	wide => {
		sql => 'simhash_bits(128)',
		class => '',
		operator => '%',
		forbidden => 'wide_distance(a.fp::varbit, b.fp::varbit) <= 15',
		draw => 'draw_wide',
		value => 'fp',
		change => 'flip_wide',
		any => 'wide_of(random_bits(), random_bits())',
		copied => sub { join '', map { sprintf '%08x', rand(2**32) } 1 .. 4 },
		radii => [ 0 .. 20, 31, 40, 128 ],
		hash => 'fp::varbit',
		pair_distance => 'wide_distance',
		default_distance => 7,
		pair_radii => [ 0 .. 20, 31, 40 ],
		conditions => sub {
			my $distance = 'wide_distance(fp::varbit, $1::varbit)';
			my $any = 'EXISTS (SELECT FROM unnest($3) h WHERE wide_distance(fp::varbit, h::varbit) <= ';
			return (
				'fp <~> $1 <= $2' => "$distance <= \$2",
				'fp % $1' => "$distance <= 15",
				'fp = $1' => 'fp::varbit = $1::varbit',
				'fp = ANY ($3)' => "$any 0)",
				'fp % ANY ($3)' => "$any 15)",
				'fp <@ ANY (ARRAY(SELECT simhash_bits_ball(h, $2) FROM unnest($3) h))' => "$any \$2)",
				'fp <~> $1 <= $2 AND fp % ANY ($3)' => "$distance <= \$2 AND $any 15)",
				'fp IS NULL' => 'fp::varbit IS NULL',
				'fp IS NOT NULL' => 'fp::varbit IS NOT NULL');
		} },
	text => {
		sql => 'text',
		class => ' simhash_text_ops',
		operator => '=~=',
		forbidden => 'are_alike(a.fp, b.fp)',
		draw => 'draw_text',
		value => 'fp',
		change => 'change_text',
		any => 'words(floor(random() * 100000)::bigint, 1, 30)',
		copied => sub { join ' ', map { 'w' . int rand 40 } 1 .. upto(12) },
		radii => [ 0 .. 10, 64 ],
		hash => 'simhash_bands(fp)',
		# of whole tables, the shares that are asked for; no distance
		similarities => [ 0.95, 0.9, 0.83, 0.8 ],
		pair_radii => [],
		conditions => sub {
			my $any = 'EXISTS (SELECT FROM unnest($3) h WHERE are_alike(fp, h))';
			return (
				'fp =~= $1' => 'are_alike(fp, $1)',
				'$1 =~= fp' => 'are_alike(fp, $1)',
				'fp =~= ANY ($3)' => $any,
				'fp =~= $1 AND fp =~= ANY ($3)' => "are_alike(fp, \$1) AND $any",
				# the index need not have the bands
				(map { ("simhash_similar(fp, \$1, $_)" => "are_alike(fp, \$1, $_)") } 1, 0.9, 0.7, 0.6, 0.5),
				'fp =~@ ANY (ARRAY(SELECT simhash_similar_ball(h, 0.5 + $2 / 128.0) FROM unnest($3) h))' =>
				  'EXISTS (SELECT FROM unnest($3) h WHERE share_band(simhash_bands(fp), simhash_bands(h), 0.5 + $2 / 128.0))',
				'fp IS NULL' => "fp || '' IS NULL",
				'fp IS NOT NULL' => "fp || '' IS NOT NULL",
				"fp IS NOT NULL AND fp =~= '...'" => 'false');
		} });
my @tables = sort keys %table;
my %index = map { $_ => is_excluded($_) ? "${_}_excl" : "${_}_fp" } @tables;

my $node = start_node('model', [], 'shared_buffers = 4MB', 'max_wal_size = 64MB',
	'deadlock_timeout = 100ms', 'max_worker_processes = 16', 'max_parallel_workers = 12');
$node->safe_psql('postgres', slurp_file("$FindBin::RealBin/model.sql"));
$node->safe_psql('postgres', join ';', map {
	"CREATE TABLE $_ (id bigint GENERATED ALWAYS AS IDENTITY, fp " . type($_)->{sql} . ', note integer DEFAULT 0,'
	  . ' tenant integer DEFAULT draw_tenant(), lang text DEFAULT draw_lang(), day date DEFAULT draw_day()'
	  . (is_excluded($_) ? ", CONSTRAINT ${_}_excl EXCLUDE USING simhash ("
		. join('', map { "$_ WITH =, " } columns($_)) . 'fp' . type($_)->{class} . ' WITH ' . type($_)->{operator} . '))' : ')')
} @tables);

my $dir = PostgreSQL::Test::Utils::tempdir;
my $files = 0;

sub is_excluded { return $_[0] =~ /^excluded/; }
sub columns { return @{ $table{ $_[0] }{columns} // [] }; }
sub type { return $type{ $table{ $_[0] }{type} // 'simhash' }; }
sub draw { return type($_[0])->{draw} . "('$table{$_[0]}{kind}')"; }

sub pick { return $_[ int rand @_ ]; }
sub chance { return rand() < $_[0]; }
sub upto { return 1 + int rand $_[0]; }

#
# What is done to a table: functions that give SQL
#

sub create_index
{
	my ($name, $how) = @_;
	my ($blocks, $distance) = @{ $table{$name}{options} };
	my $options = defined $distance ? "blocks = $blocks, distance = $distance" : "bands = $blocks";
	my $fillfactor = pick(10, 50, 90, 100);
	return "CREATE INDEX $how $index{$name} ON $name USING simhash (" . join(', ', columns($name), 'fp' . type($name)->{class}) . ')'
	  . " WITH ($options, fillfactor = $fillfactor)";
}

sub insert
{
	my ($name) = @_;
	my $n = upto($table{$name}{rows} / 8);
	return "INSERT INTO $name (fp) SELECT " . draw($name) . " FROM generate_series(1, $n)"
	  . (is_excluded($name) ? ' ON CONFLICT DO NOTHING' : '');
}

# a part of the rows: the older the fewer
sub some { my $of = upto(12) + 2; return "id % $of = " . int rand $of; }

my %change = (
	insert => \&insert,
	delete => sub { "DELETE FROM $_[0] WHERE " . some() },
	update => sub { "UPDATE $_[0] SET fp = " . draw($_[0]) . ' WHERE ' . some() },
	# the row stays in its page, and the index learns nothing of it
	note => sub { "UPDATE $_[0] SET note = note + 1 WHERE " . some() },
	tenant => sub { "UPDATE $_[0] SET tenant = draw_tenant(), lang = draw_lang() WHERE " . some() },
	one => sub { "INSERT INTO $_[0] (fp) VALUES (" . draw($_[0]) . ')' },
	copy => sub {
		my $file = "$dir/" . $files++ . '.copy';
		append_to_file($file, join '',
			map { chance(0.1) ? "\\N\n" : type($_[0])->{copied}->() . "\n" } 1 .. upto(300));
		return "COPY $_[0] (fp) FROM '$file'";
	});

# statements that end with a semicolon
sub statement
{
	my ($name) = @_;
	return $change{ pick(sort keys %change) }->($name) . ";\n";
}

sub shrink
{
	my ($name) = @_;
	return "DELETE FROM $name WHERE id < (SELECT max(id) - $table{$name}{rows} FROM $name)"
	  . " AND " . some() . ";\n";
}

sub transaction
{
	my ($name) = @_;
	my $sql = "BEGIN;\n";
	foreach (1 .. upto(4))
	{
		$sql .= statement($name);
		$sql .= "SAVEPOINT s;\n" . statement($name)
		  . pick('ROLLBACK TO s', 'RELEASE s', '') . ";\n"
		  if chance(0.5);
	}
	return $sql . pick('COMMIT', 'COMMIT', 'ROLLBACK') . ";\n";
}

sub vacuum
{
	my ($name) = @_;
	return 'VACUUM ('
	  . pick('INDEX_CLEANUP ON', 'INDEX_CLEANUP OFF', 'FREEZE', 'ANALYZE', 'PARALLEL 2')
	  . ") $name;\n";
}

# by one session only, so that none waits for another's index that is gone
sub rebuild
{
	my ($name) = @_;
	my $index = $index{$name};
	return pick("REINDEX INDEX $index;\n", "VACUUM FULL $name;\n", "TRUNCATE $name;\n")
	  if is_excluded($name);
	return pick(
		"REINDEX INDEX $index;\n",
		"REINDEX INDEX CONCURRENTLY $index;\n",
		"REINDEX INDEX CONCURRENTLY $index;\n",
		"DROP INDEX $index;\n" . create_index($name, 'CONCURRENTLY') . ";\n",
		"DROP INDEX CONCURRENTLY $index;\n" . create_index($name, '') . ";\n",
		"VACUUM FULL $name;\n",
		"CLUSTER $name USING ${name}_id;\n",
		chance(0.2) ? "TRUNCATE $name;\n" : "REINDEX TABLE $name;\n");
}

#
# What is compared
#

my $rows = 'count(*), sum(hashint8extended(id, 1))';
my $index_only = 'count(*), sum(hashint8extended(fp::bigint, 1))';

# The distances in order, and of the rows before the last of them which they are.
sub in_order
{
	my ($source) = @_;
	return 'SELECT array_agg(d), sum(hashint8extended(id, 1)) FILTER (WHERE d < last)'
	  . " FROM (SELECT id, d, max(d) OVER () AS last FROM ($source) s) s";
}

# A condition on some of the columns before the fingerprint, and one that no index
# answers.
sub on_columns
{
	my ($name) = @_;
	my %condition = (
		tenant => [
			[ 'tenant = 0', 'tenant + 0 = 0' ], [ 'tenant = 2::bigint', 'tenant + 0 = 2' ],
			[ 'tenant = 9', 'false' ], [ 'tenant IS NULL', 'tenant + 0 IS NULL' ],
			[ "tenant = ANY ('{1,NULL,3,1}')", 'tenant + 0 IN (1, 3)' ],
			[ 'tenant IS NOT NULL', 'tenant + 0 IS NOT NULL' ] ],
		lang => [
			[ "lang = 'en'", "lang || '' = 'en'" ], [ 'lang IS NULL', "lang || '' IS NULL" ],
			[ "lang IN ('de', 'fr', 'xx')", "lang || '' IN ('de', 'fr')" ] ],
		day => [
			[ "day = '2026-01-02'", "day + 0 = '2026-01-02'" ],
			[ "day = ANY ('{2026-01-01,2026-01-03}')", "day + 0 IN ('2026-01-01', '2026-01-03')" ] ]);
	my @chosen = map { chance(0.8) ? pick(@{ $condition{$_} }) : () } columns($name);
	return map { my $side = $_; join ' AND ', 'true', map { $_->[$side] } @chosen } 0, 1;
}

# What rows must have in common to be paired, as a text; null if with no other.
sub in_common
{
	my ($name, $alias) = @_;
	my $columns = join ', ', map { "$alias$_" } columns($name);
	return $columns eq '' ? "''" : "CASE WHEN num_nulls($columns) = 0 THEN concat_ws('/', $columns) END";
}

# The distances are those by brute force here, too: what is asked for is the order.
sub nearest
{
	my ($name, $condition, $brute_condition, $limit) = @_;
	my $type = type($name);
	my $rows = "SELECT id, $type->{distance} AS d FROM $name";
	return [ "nearest $condition $limit", ['enable_bitmapscan'], "Index Scan using $index{$name}",
		in_order("$rows $condition ORDER BY fp <~> $type->{center} $limit"),
		in_order("$rows $brute_condition ORDER BY d $limit") ];
}

# A condition on the fingerprint with some on the other columns.
sub within_columns
{
	my ($name, $where, $brute_where) = @_;
	my ($asked, $by_force) = on_columns($name);
	my $bitmap = chance(0.5);
	return [ "within columns, $where AND $asked",
		[ 'enable_indexonlyscan', $bitmap ? 'enable_indexscan' : 'enable_bitmapscan' ],
		($bitmap ? 'Bitmap Index Scan on ' : 'Index Scan using ') . $index{$name},
		"SELECT $rows FROM $name WHERE $where AND $asked", "SELECT $rows FROM $name WHERE $brute_where AND $by_force" ];
}

# [ what, settings, plan, statement, by brute force ]
sub forms
{
	my ($name) = @_;
	my $index = $index{$name};
	my $type = $table{$name}{type} // 'simhash';
	# these are there for the searches; the same scans are those of other large tables
	return pairs_forms($name) if ($table{$name}{pairs} // '') eq 'blocks';
	my %where = type($name)->{conditions}->();
	my @forms;
	foreach my $where (sort keys %where)
	{
		my $brute = "FROM $name WHERE $where{$where}";
		push @forms,
		  [ "index scan, $where", [ 'enable_bitmapscan', 'enable_indexonlyscan' ],
			"Index Scan using $index", "SELECT $rows FROM $name WHERE $where", "SELECT $rows $brute" ],
		  [ "bitmap scan, $where", [ 'enable_indexscan', 'enable_indexonlyscan' ],
			"Bitmap Index Scan on $index", "SELECT $rows FROM $name WHERE $where", "SELECT $rows $brute" ];
		push @forms, within_columns($name, $where, $where{$where}) if columns($name);
		push @forms,
		  [ "index-only scan, $where", ['enable_bitmapscan'],
			"Index Only Scan using $index", "SELECT $index_only FROM $name WHERE $where",
			"SELECT $index_only $brute" ]
		  if !columns($name) && $type eq 'simhash';
	}
	push @forms, nearest_forms($name) if $type eq 'simhash';
	push @forms, join_of_texts($name) if $type eq 'text';
	push @forms, pairs_forms($name) if $table{$name}{pairs};
	return @forms;
}

sub nearest_forms
{
	my ($name) = @_;
	my $type = type($name);
	my ($near, $near_brute) = ("fp <~> $type->{center} <= \$2", "$type->{distance} <= \$2");
	my ($any, $any_brute) = @{ $type->{any_near} };
	my $limit = 'LIMIT ' . upto(40);
	my @forms = (nearest($name, '', '', $limit), nearest($name, '', '', ''),
		nearest($name, "WHERE $near", "WHERE $near_brute", pick('', $limit)),
		nearest($name, 'WHERE id % 7 = 3', 'WHERE id % 7 = 3', $limit),
		nearest($name, "WHERE $any", "WHERE $any_brute", pick('', $limit)));
	if (columns($name))
	{
		my ($asked, $by_force) = on_columns($name);
		push @forms, nearest($name, "WHERE $asked", "WHERE $by_force", pick('', $limit)),
		  nearest($name, "WHERE $asked AND $near", "WHERE $by_force AND $near_brute", pick('', $limit));
	}
	return @forms;
}

# The pairs of similar texts, both ways and each with itself.
sub join_of_texts
{
	my ($name) = @_;
	my $same = in_common($name, '');
	my $columns = join ' AND ', 'true', map { "x.$_ = y.$_" } columns($name);
	my $pairs = "count(*), sum(hashtextextended(format('%s %s', x.id, y.id), 1))";

	return [ 'join', [ 'enable_bitmapscan', 'enable_hashjoin', 'enable_mergejoin', 'enable_material' ],
		"Index Scan using $index{$name} on",
		"SELECT $pairs FROM $name x JOIN $name y ON x.fp =~= y.fp AND $columns",
		"WITH t AS MATERIALIZED (SELECT id, fp, simhash_bands(fp) AS h, $same AS key FROM $name)"
		  . " SELECT $pairs FROM t x, t y WHERE x.key = y.key AND share_band(x.h, y.h)"
		  . ' AND simhash_jaccard(x.fp, y.fp) >= 0.8' ];
}

#
# Searches of whole tables.  The truth is a table "near" of all pairs of rows within
# a distance, that of the options if it is not given.  Rows have numbers, in an order,
# and the first row of a pair comes first in it, unless it is of another table.
#

# Common table expressions: x, the rows with their numbers; y, those of the other table
# or the same; and near.
sub near
{
	my ($name, %of) = @_;
	my $type = type($name);
	my $other = $of{other} // $name;
	my $order = $of{order} // 'ctid';
	my $similarity = $of{similarity} // 0.8;
	my $distance = $of{distance} // min(map { default_distance($_) } $name, $other);
	my @rows = map {
		"SELECT row_number() OVER (ORDER BY $order) AS no, id, tenant, ctid AS tid, fp, $type->{hash} AS h, "
		  . in_common($_, '') . " AS key FROM $_ WHERE fp IS NOT NULL"
	} $name, $other;
	my $texts = $type->{similarities};
	my $d = $texts ? '-simhash_jaccard(x.fp, y.fp)' : "$type->{pair_distance}(x.h, y.h)";
	my @where = $texts ? "share_band(x.h, y.h, $similarity)" : "$d <= $distance";

	push @where, 'x.no < y.no' unless $of{other};
	# b is the first of a pair, and a the second, which is judged
	push @where, $of{same} =~ s/\bb\./x./gr =~ s/\ba\./y./gr if $of{same};
	push @where, "simhash_jaccard(x.fp, y.fp) >= $similarity" if $texts;
	my $with = "WITH x AS MATERIALIZED ($rows[0]), y AS MATERIALIZED ($rows[1])";
	my ($x, $y) = ('x', 'y');
	if ($table{$name}{pairs} eq 'each')
	{
		push @where, 'x.key = y.key';
	}
	else
	{
		# Of two blocks of bits more than there are bits that differ, two are the same.
		# This is the only condition by which the planner can join.
		my $last = $distance + 1;
		my $bits = int 48 / ($last + 1);
		my ($i, $j) = map { "(h >> ($_ * $bits)) & ((1::bigint << $bits) - 1)" } 'i', 'j';
		$with .= ", ${_}_cells AS MATERIALIZED (SELECT $_.*, (i * 8 + j)::bigint << 48 | ($i) << $bits | ($j) AS cell"
		  . " FROM $_, generate_series(0, $last) i, generate_series(0, $last) j WHERE i < j)"
		  foreach $x, $y;
		($x, $y) = ('x_cells x', 'y_cells y');
		push @where, 'x.cell = y.cell';
	}
	return "$with, near AS MATERIALIZED ("
	  . "SELECT DISTINCT x.no AS a, y.no AS b, x.tid AS a_tid, y.tid AS b_tid, x.h AS a_h, y.h AS b_h, $d AS d"
	  . " FROM $x, $y WHERE " . join(' AND ', @where) . ') ';
}

# that of a search if none is given
sub default_distance
{
	my $options = $table{ $_[0] }{options};
	return $options ? $options->[1] // 0 : type($_[0])->{default_distance} // 0;
}

# Tables whose rows can be matched with those of another one.
sub partners
{
	my ($name) = @_;
	my $kind = sub { join ' ', $table{ $_[0] }{type} // '', $table{ $_[0] }{pairs} // '', columns($_[0]) };
	return grep { $_ ne $name && $kind->($_) eq $kind->($name) } @tables;
}

# the number of rows, and a sum that tells which
sub digest
{
	my $format = join ' ', ('%s') x @_;
	return "count(*), sum(hashtextextended(format('$format', " . join(', ', @_) . '), 1))';
}

# A search of a whole table, and what must be found by brute force: columns of the result,
# and the same of other rows.
sub search
{
	my ($what, $arguments, $columns, $brute, $brute_columns, $from) = @_;
	return [ "$what($arguments)", [], '', 'SELECT ' . digest(@$columns) . " FROM simhash_find_$what($arguments)",
		"$brute SELECT " . digest(@$brute_columns) . " FROM $from" ];
}

sub pairs_forms
{
	my ($name) = @_;
	my $type = type($name);
	my $index = "'$index{$name}'::regclass";
	my @radii = (undef, grep { $table{$name}{pairs} ne 'blocks' || $_ <= 6 } @{ $type->{pair_radii} });
	# fingerprints in a result, where wide ones are null
	my @bits = map { $type->{hash} eq 'fp::bigint' ? $_ : 'NULL' } 'a_h', 'b_h', 'h';
	# how far two rows are from each other, or how much of texts is the same; the nearest
	# is kept, by an integer
	my $texts = $type->{similarities};
	my ($nearness, $d, $rank) = $texts ? ('similarity', '-d', '(d * 1e9)::integer') : ('distance', 'd', 'd');
	my $arrays = "(SELECT array_agg(a) AS a, array_agg(b) AS b, array_agg($rank) AS d FROM near) p";
	my $argument = sub { defined $_[0] ? "'$_[0]'" : 'NULL' };
	my $same = sub { pick(undef, undef, 'a.id % 5 <> b.id % 3', 'a.tenant >= b.tenant') };
	my @shares = (undef, @{ $texts // [] });
	my $asked = sub { defined $_[0] ? ", similarity => $_[0]" : '' };
	my @forms;

	my $distance = pick(@radii);
	my $share = pick(@shares);
	push @forms,
	  search('all', "$index, " . ($distance // 'NULL') . $asked->($share), [ 'a', 'b', 'a_fp::bigint', 'b_fp::bigint', $nearness ],
		near($name, distance => $distance, similarity => $share), [ 'a_tid', 'b_tid', $bits[0], $bits[1], $d ], 'near');

	my $condition = $same->();
	$distance = pick(@radii);
	$share = pick(@shares);
	push @forms,
	  search('clusters', "$index, " . ($distance // 'NULL') . ', same => ' . $argument->($condition) . $asked->($share),
		[ 'cluster', 'member', 'fp::bigint', 'size' ],
		near($name, distance => $distance, similarity => $share, same => $condition),
		[ 'number', 'tid', $bits[2], 'size' ],
		"(SELECT dense_rank() OVER (ORDER BY root) AS number, tid, h, count(*) OVER w AS size FROM $arrays"
		  . ' CROSS JOIN connected(p.a, p.b) c JOIN x USING (no) WINDOW w AS (PARTITION BY root)) s');

	my $keep = pick(undef, 'id', 'note DESC, id DESC', 'tenant, id');
	$condition = $same->();
	$distance = pick(@radii);
	$share = pick(@shares);
	push @forms,
	  search('duplicates',
		"$index, " . ($distance // 'NULL') . ', keep => ' . $argument->($keep) . ', same => ' . $argument->($condition)
		  . $asked->($share),
		[ 'duplicate', 'keeper', $texts ? '(similarity * 1e9)::integer' : 'distance' ],
		near($name, distance => $distance, similarity => $share, order => $keep, same => $condition),
		[ 'x.tid', 'k.tid', $texts ? '-s.d' : 's.d' ],
		"$arrays CROSS JOIN superfluous(p.a, p.b, p.d) s JOIN x USING (no) JOIN x k ON k.no = s.keeper");

	foreach my $other (partners($name))
	{
		$distance = pick(@radii);
		$share = pick(@shares);
		push @forms,
		  search('matches', "$index, '$index{$other}'::regclass, " . ($distance // 'NULL') . $asked->($share),
			[ 'a', 'b', 'a_fp::bigint', 'b_fp::bigint', $nearness ],
			near($name, distance => $distance, similarity => $share, other => $other),
			[ 'a_tid', 'b_tid', $bits[0], $bits[1], $d ], 'near')
		  if chance(0.4);
	}
	return @forms;
}

# The memory and the workers of a transaction that compares a table.
sub resources
{
	my ($name, $workers) = @_;
	# of many rows, pairs do not fit in 1MB, and brute force would take long in little memory
	my $many = ($table{$name}{pairs} // '') eq 'blocks';
	my $sql = "SET LOCAL work_mem = '" . ($many ? '64MB' : pick('64kB', '4MB', '4MB')) . "';\n"
	  . "SET LOCAL maintenance_work_mem = '" . pick($many ? () : '1MB', '3MB', '64MB') . "';\n"
	  . "SET LOCAL max_parallel_workers_per_gather = $workers;\n";
	# workers also for tables of a few pages, and a message that says how many there are
	$sql .= "SET LOCAL min_parallel_index_scan_size = 0;\nSET LOCAL client_min_messages = debug1;\n" if $workers;
	return $sql;
}

# SQL that compares some of the forms, and prints only what is wrong.
sub comparisons
{
	my ($name, $share, $plans) = @_;
	my $type = type($name);
	my $center = "(SELECT coalesce($type->{change}((SELECT $type->{value} FROM $name WHERE fp IS NOT NULL"
	  . " ORDER BY random() LIMIT 1), %d), $type->{any}))";
	my $sql = '';
	foreach my $form (grep { chance($share) } forms($name))
	{
		my ($what, $settings, $plan, @statements) = @$form;
		my $centers = join ', ', map { sprintf $center, int rand 6 } 1 .. upto(6);
		my $radius = pick(@{ $type->{radii} });
		$plan = $plans ? "\$q\$$plan\$q\$" : 'NULL';
		$sql .= "SELECT model_check(\$q\$$name: $what\$q\$, '{" . join(',', 'enable_seqscan', @$settings)
		  . "}', $plan, " . join(', ', map { "\$q\$$_\$q\$" } @statements)
		  . ', ' . sprintf($center, int rand 8) . ", $radius, ARRAY[$centers]);\n";
	}
	return $sql;
}

#
# Sessions
#


# Start a session that runs a script to its end, whatever fails.
sub start_session
{
	my ($sql) = @_;
	my $file = "$dir/" . $files++ . '.sql';
	append_to_file($file,
		"\\set VERBOSITY verbose\nSET statement_timeout = '" . 2 * $PostgreSQL::Test::Utils::timeout_default . "s';\nSELECT setseed("
		  . rand() . ");\n$sql");
	my %run = (out => '', err => '', file => $file);
	$run{handle} = IPC::Run::start(
		[ 'psql', '-XqAt', '-d', $node->connstr('postgres'), '-f', $file ],
		'>', \$run{out}, '2>', \$run{err});
	return \%run;
}

# Searches that had workers
my $searches_with_workers = 0;

# Finish it, and return what it said that it must not, given a pattern of errors
# that are no fault.
sub finish_session
{
	my ($run, $allowed) = @_;
	$run->{handle}->finish;
	my @bad = grep { $_ ne '' } split /\n/, $run->{out};
	push @bad, grep { /ERROR:|FATAL:|PANIC:|WARNING:|psql:/ and !/ DEBUG:  / and !/$allowed/ } split /\n/, $run->{err};
	$searches_with_workers++ while $run->{err} =~ /search with [1-9]\d* of \d+ parallel workers/g;
	unlink $run->{file};
	return @bad;
}

# conflicts between sessions: deadlock, exclusion, serialization, lock not
# available; and what follows of them
my $conflict = 'ERROR:  (40P01|23P01|40001|55P03|25P02|3B001)|WARNING:  25P01';
# an index that another session is just replacing, or creating concurrently
my $replaced = 'ERROR:  (42P01|42704|42P07)|ERROR:  XX000: could not open relation with OID'
  . '|ERROR:  55000: index "\w+" is not valid';
my $crash = 'connection|terminat|ERROR:  57P0|FATAL: |WARNING:  57P02';

# At least one valid index on each table, none that is not valid.
sub repair_indexes
{
	foreach my $name (@tables)
	{
		my $bad = $node->safe_psql('postgres',
			"SELECT string_agg(format('DROP INDEX %s', indexrelid::regclass), ';') FROM pg_index WHERE indrelid = '$name'::regclass AND NOT indisvalid");
		$node->safe_psql('postgres', $bad) if $bad ne '';
		$node->safe_psql('postgres', create_index($name, '')) if $node->safe_psql('postgres', "SELECT to_regclass('$index{$name}') IS NULL") eq 't';
	}
	return;
}

# CLUSTER needs an index that can order
$node->safe_psql('postgres',
	join ';', map { "CREATE INDEX ${_}_id ON $_ (id)" } grep { !is_excluded($_) } @tables);
repair_indexes();

# half of the tables are empty at first, but not those in which searches need many rows
$node->safe_psql('postgres',
	join ';', 'SELECT setseed(' . rand() . ')',
	map { "INSERT INTO $_ (fp) SELECT " . draw($_) . " FROM generate_series(1, $table{$_}{rows})" }
	grep { !is_excluded($_) && (chance(0.5) || ($table{$_}{pairs} // '') eq 'blocks') } @tables);

my $end = time + 60 * $minutes;
my $phase = 0;
my $phases_with_workers = 0;
my $crashes = 0;
do
{
	$phase++;
	my $workers = pick(0, 0, 0, 1 .. 4);
	$phases_with_workers++ if $workers;
	# one that also rebuilds indexes, two that change rows, one that compares in a
	# snapshot while all this goes on
	my @sql = ('', '', '');
	foreach my $n (0 .. $#sql)
	{
		foreach (1 .. upto(12))
		{
			my $name = pick(@tables);
			$sql[$n] .=
			    chance(0.15) ? vacuum($name)
			  : chance(0.2) ? transaction($name)
			  : chance(0.2) ? shrink($name)
			  : $n == 0 && chance(0.3) ? rebuild($name)
			  : statement($name);
		}
	}
	push @sql, map {
		"BEGIN ISOLATION LEVEL REPEATABLE READ;\n" . resources($_, $workers) . comparisons($_, 0.2, 0) . "COMMIT;\n"
	} @tables
	  if chance(0.7);
	my @sessions = map { start_session($_) } @sql;
	my $allowed = "$conflict|$replaced";
	if (chance(0.2))
	{
		usleep(1000 * rand 3000);
		$node->stop('immediate');
		$crashes++;
		$allowed .= "|$crash";
	}
	my @bad = map { finish_session($_, $allowed) } @sessions;
	$node->start unless defined $node->{_pid};
	is(join("\n", @bad), '', "phase $phase: sessions");

	repair_indexes();
	foreach my $name (@tables)
	{
		my $run = start_session("BEGIN;\n" . resources($name, $workers) . comparisons($name, 0.6, 1) . "COMMIT;\n"
			  . "SELECT simhash_index_check('$index{$name}', true);\n");
		is(join("\n", finish_session($run, '^$')), '', "phase $phase: $name");
	}
	foreach my $name (grep { is_excluded($_) } @tables)
	{
		is($node->safe_psql('postgres', "SELECT count(*) FROM $name a JOIN $name b"
				  . ' ON a.ctid < b.ctid AND ' . type($name)->{forbidden} . ' AND '
				  . in_common($name, 'a.') . ' = ' . in_common($name, 'b.')),
			0,
			"phase $phase: $name has no two rows that the constraint forbids");
	}
} while (time < $end);
$node->stop;
is(join('', grep { /TRAP:|PANIC|was terminated by signal/ } split /^/, slurp_file($node->logfile)),
	'', 'no crash but those that were asked for');
cmp_ok($searches_with_workers, '>', 0, 'searches had workers') if $phases_with_workers;
diag("SEED=$seed: $phase phases, $crashes crashes, $phases_with_workers phases with workers,"
	  . " $searches_with_workers searches that had any");
done_testing();
