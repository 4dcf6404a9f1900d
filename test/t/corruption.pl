# Damaged index files give errors with SQLSTATE XX002 that name the index, and
# the block where it is one; the server stays up.

use lib 'test/t';
use SimhashTest;

my $block_size = 8192;

# page checksums would find the damage first
my ($help) = run_command([ 'initdb', '--help' ]);
my $node = start_node('corrupt',
	[ extra => [ $help =~ /--no-data-checksums/ ? '--no-data-checksums' : () ] ]);
$node->safe_psql('postgres', q{
	CREATE TABLE a (id bigint GENERATED ALWAYS AS IDENTITY, fp simhash);
	INSERT INTO a (fp) SELECT make_fingerprints(20000, 0.2);
	INSERT INTO a (fp) SELECT NULL FROM generate_series(1, 100);
	INSERT INTO a (fp) SELECT 0 FROM generate_series(1, 2000);
	CREATE INDEX a_fp ON a USING simhash (fp);
});
my $pages = $node->safe_psql('postgres',
	"SELECT pg_relation_size('a_fp') / $block_size");
my $file =
  $node->data_dir . '/' . $node->safe_psql('postgres', "SELECT pg_relation_filepath('a_fp')");
my $heap =
  $node->data_dir . '/' . $node->safe_psql('postgres', "SELECT pg_relation_filepath('a')");
my @roots = split /\n/, $node->safe_psql('postgres',
	"SELECT root_block FROM simhash_index_info('a_fp') WHERE table_no IS NOT NULL ORDER BY table_no");
$node->stop;
my $sound = slurp_file($file);
is(length($sound), $pages * $block_size, 'the whole file was read');

# what is run over each damaged index: every row, by every way in, and writes
my %statement = (
	scan => 'SET enable_seqscan = off; SET enable_bitmapscan = off; SELECT count(*) FROM a WHERE fp <~> 0 <= 64',
	bitmap => 'SET enable_seqscan = off; SET enable_indexscan = off; SELECT count(*) FROM a WHERE fp <~> 0 <= 64',
	lookup => 'SET enable_seqscan = off; SELECT count(*) FROM query q JOIN a ON a.fp <~> q.fp <= 4',
	nulls => 'SET enable_seqscan = off; SELECT count(*) FROM a WHERE fp IS NULL',
	insert => 'BEGIN; INSERT INTO a (fp) SELECT make_fingerprints(500, 0.7); INSERT INTO a (fp) VALUES (NULL), (0),
		(-1); ROLLBACK',
	check => q{SELECT simhash_index_check('a_fp')},
	rows => q{SELECT simhash_index_check('a_fp', true)},
	clusters => q{SELECT count(*) FROM simhash_find_clusters('a_fp'::regclass)},
	duplicates => q{SELECT count(*) FROM simhash_find_duplicates('a_fp'::regclass, 3, keep => 'id DESC')},
	info => q{SELECT count(*) FROM simhash_index_info('a_fp')},
	# a row that is inserted is found
	inserted => q{BEGIN; INSERT INTO a (fp) SELECT 0 FROM generate_series(1, 50); SET enable_seqscan = off;
		SELECT 1 / (count(*) >= 50)::int FROM a WHERE fp <~> 0 <= 0 AND xmin = pg_current_xact_id()::xid; ROLLBACK},
	# a row on the last leaf of each tree
	highest => 'BEGIN; INSERT INTO a (fp) VALUES (-1); ROLLBACK',
	# the rows that were just rolled back are dead
	vacuum => 'VACUUM (INDEX_CLEANUP ON) a');

$node->start;
$node->safe_psql('postgres',
	'INSERT INTO query SELECT row_number() OVER (), fp FROM a WHERE id % 50 = 0; DELETE FROM a WHERE id % 10 = 0');
$node->stop;
my $heap_is_ready = slurp_file($file);
is($heap_is_ready eq $sound, 1, 'preparing the heap leaves the index as it was');

# Put an image in place of the index, run the named statements, or all, and
# return the results: '' for success, else the SQLSTATE and the message.
sub results_with
{
	my ($image, @names) = @_;
	@names = qw(scan bitmap lookup nulls check clusters info insert vacuum) if !@names;
	my $limit = $PostgreSQL::Test::Utils::timeout_default;
	open(my $out, '+<:raw', $file) or die $!;
	print $out $image;
	truncate $out, length $image;
	close $out;
	$node->start;
	# a session each
	my ($status, $stdout, $stderr) = $node->psql('postgres',
		join('', "\\set VERBOSITY verbose\n",
			map { "\\c\n\\warn at $_\nSET statement_timeout = '${limit}s';\n$statement{$_};\n" } @names),
		on_error_stop => 0, timeout => (@names + 1) * $limit);
	my (undef, %said) = split /^at (\w+)\n?/m, $stderr, -1;
	diag($stderr) if grep { !defined $said{$_} } @names;
	my %result = map {
		my $said = $said{$_} // 'not run';
		$_ => $said =~ /ERROR:\s*(\w{5}): (.*)/ ? "$1 $2" : $said
	} @names;
	# not 'immediate': recovery would replay the changes into the next image
	$node->stop;
	return %result;
}

# No result but success or a clear complaint, of the index or, for a page
# header that makes no sense, of the server.  A damaged page that a statement
# does not look at does no harm to it.
sub is_handled
{
	my ($what, $image, @must_complain) = @_;
	my %result = results_with($image);
	my $bad = join "\n", map { "$_: $result{$_}" }
	  grep { $result{$_} ne '' and $result{$_} !~ /^XX00[12] .*"a_fp"|^XX001 invalid page in block/ } sort keys %result;
	is($bad, '', "$what: success or a clear error");
	like($result{$_}, qr/^XX002 .*"a_fp"/, "$what: $_ complains") foreach @must_complain;
	return %result;
}

sub page { my ($image, $no) = @_; return substr($image, $no * $block_size, $block_size); }
sub with_page
{
	my ($no, $page) = @_;
	my $image = $sound;
	substr($image, $no * $block_size, $block_size) = $page;
	return $image;
}
# bytes from ... of a page replaced
sub with_bytes
{
	my ($no, $offset, $bytes) = @_;
	my $image = $sound;
	substr($image, $no * $block_size + $offset, length $bytes) = $bytes;
	return $image;
}

my %clean = results_with($sound);
is(join('', values %clean), '', 'the sound index gives no error');

# the metapage: magic and version are the first things after the page header
is_handled('magic', with_bytes(0, 24, "\x00\x01\x02\x03"), 'scan', 'bitmap', 'lookup', 'nulls', 'check',
	'info', 'insert');
is_handled('version', with_bytes(0, 28, pack('L', 999)), 'scan', 'bitmap', 'lookup', 'nulls', 'check',
	'info', 'insert');
like({ results_with(with_bytes(0, 28, pack('L', $_)), 'scan') }->{scan},
	qr/^XX002 .*"a_fp" has format version $_,/, "version $_ is named")
  foreach 1, 2, 999;
is_handled('zeroed metapage', with_page(0, "\0" x $block_size), 'scan', 'check', 'insert');
is_handled('garbage in the metapage', with_bytes(0, 32, "\xa5" x 200), 'check');
is_handled('a data page as metapage', with_page(0, page($sound, 1)), 'scan', 'check', 'insert');

# a root: zeroed, another table's, the metapage, garbage
is_handled('zeroed root', with_page($roots[0], "\0" x $block_size), 'scan', 'bitmap', 'lookup', 'check');
is_handled("another table's root", with_page($roots[0], page($sound, $roots[1])), 'lookup', 'check');
is_handled('the metapage as root', with_page($roots[0], page($sound, 0)), 'scan', 'lookup', 'check');
is_handled('garbage in the root', with_bytes($roots[0], 24, "\xff" x 2000), 'check');
is_handled('garbage at the end of the root', with_bytes($roots[0], $block_size - 64, "\xff" x 64), 'lookup', 'check');

# every kind of damage to pages all over the file
my @some = map { 1 + int(($pages - 1) * $_ / 8) } 0 .. 7;
foreach my $no (@some)
{
	is_handled("block $no zeroed", with_page($no, "\0" x $block_size), 'check');
	is_handled("block $no: special space", with_bytes($no, $block_size - 40, "\x5a" x 40), 'check');
	is_handled("block $no: contents", with_bytes($no, 24, "\x5a" x 400), 'check');
	my $other = $no == 1 ? 2 : $no - 1;
	is_handled("block $no: copy of block $other", with_page($no, page($sound, $other)), 'check');
}
# Links to where nothing is, or can be: the next page, a child, a root.  Block 1
# is the first leaf of table 0; a right link is 20 bytes before the end.
foreach my $where (0, $pages, $pages + 1_000_000, 0xFFFFFFFE, 0xFFFFFFFF)
{
	my $half = pack('SS', $where >> 16, $where & 0xFFFF);
	is_handled("right link to $where", with_bytes(1, $block_size - 20, pack('L', $where)),
		'scan', 'bitmap', 'check', 'clusters', 'info');
	is_handled("downlink to $where", with_bytes($roots[0], $block_size - 52, $half), 'scan', 'check', 'info');
	is_handled("root $where", with_bytes(0, 68, pack('L', $where)),
		'scan', 'bitmap', 'lookup', 'check', 'clusters', 'info', 'insert');
}

# Links that lead from tree 1 to the leaf of tree 0 that an insert has locked: a root, a
# downlink, a right link.  It must not wait for itself.
my ($locked, $last) = map {
	my $tree = $_;
	grep {
		my ($right, $of, $level) = unpack('L x8 S C', substr(page($sound, $_), $block_size - 20));
		$right == 0xFFFFFFFF and $of == $tree and $level == 0;
	} 1 .. $pages - 1
} 0, 1;
my $to_locked = page($sound, $roots[1]);
foreach my $entry (1 .. (unpack('S', substr($to_locked, 12, 2)) - 24) / 8)
{
	substr($to_locked, $block_size - 48 - 10 * $entry + 6, 4) = pack('SS', $locked >> 16, $locked & 0xFFFF);
}
my $cut_short = page($sound, $last);
substr($cut_short, $block_size - 40, 8) = pack('Q', ~1);    # the high fence
substr($cut_short, $block_size - 26, 10) = pack('x6 L', $locked);
substr($cut_short, $block_size - 12, 4) = pack('L', 0);
foreach my $damage ([ 'root', with_bytes(0, 76, pack('LL', $locked, 0)) ],
	[ 'downlink', with_page($roots[1], $to_locked) ], [ 'right link', with_page($last, $cut_short) ])
{
	my ($what, $image) = @$damage;
	like({ results_with($image, 'highest') }->{highest},
		qr/^XX002 index "a_fp" has a page of another tree at block $locked$/, "$what to a page that is locked: no wait");
}

# what VACUUM meets in the order of the blocks, not by a link, is one of this index, too
like({ results_with(with_bytes($last, $block_size - 8, pack('S', 999)), 'insert', 'vacuum') }->{vacuum},
	qr/^XX002 index "a_fp" has a page of another tree at block $last$/, 'a page of no tree: VACUUM complains');

# How many bytes a leaf stores of a fingerprint and of a row, how many entries it has
# and can have, and where the marks of dead entries begin.
sub leaf_layout
{
	my ($page) = @_;
	my $flags = unpack('C', substr($page, $block_size - 48 + 43, 1));
	my %leaf = (fp => 8 - ($flags >> 4 & 3), row => 6 - ($flags >> 6));
	$leaf{count} = (unpack('S', substr($page, 12, 2)) - 24) / $leaf{fp};
	$leaf{most} = int(($block_size - 24 - 48 - 1) * 8 / (8 * ($leaf{fp} + $leaf{row}) + 1));
	$leaf{marks} = 24 + $leaf{most} * $leaf{fp};
	return %leaf;
}

# TIDs: no row can have the first two; the third leads out of the table.  A leaf that
# stores whole TIDs, of 6 bytes each, has them before the special area of 48 bytes.
my %first = leaf_layout(page($sound, 1));
my $entries = $first{count} < 400 ? $first{count} : 400;
my $with_tids = sub {
	my ($block, $offset) = @_;
	my $page = page($sound, 1);
	substr($page, 12, 4) = pack('SS', 24 + $entries * $first{fp}, $block_size - 48 - 6 * $entries);
	substr($page, $block_size - 48 + 43, 1) = pack('C', 8 - $first{fp} << 4);
	substr($page, $block_size - 4, 2) = pack('S', 0);
	substr($page, $block_size - 48 - 6 * $entries, 6 * $entries) = pack('SL', $offset, $block) x $entries;
	return with_page(1, $page);
};
foreach my $damage ([ 'no block', 0xFFFFFFFF, 1 ], [ 'no offset', 0, 0 ])
{
	my ($what, @tid) = @$damage;
	my $size = -s $heap;
	my %result = results_with($with_tids->(@tid), qw(scan bitmap clusters));
	is(-s $heap, $size, "TIDs with $what: the table has not grown");
	is_handled("TIDs with $what", $with_tids->(@tid), qw(scan bitmap check clusters vacuum));
}
like({ results_with($with_tids->(0x7000, 1), 'check') }->{check},
	qr/^XX002 .*"a_fp"/, 'TIDs beyond the end of the table: check complains');

# Widths that are not those of the entries: of fingerprints, of rows, of both.
foreach my $change (0x10, 0x30, 0x40, 0xC0, 0x50, 0xF0)
{
	my $flags = unpack('C', substr(page($sound, 1), $block_size - 48 + 43, 1));
	is_handled(sprintf('widths changed by %x', $change),
		with_bytes(1, $block_size - 48 + 43, pack('C', $flags ^ $change)), 'scan', 'bitmap', 'check', 'clusters', 'vacuum');
}
my $inner = unpack('C', substr(page($sound, $roots[0]), $block_size - 48 + 43, 1));
is_handled('widths of an inner page',
	with_bytes($roots[0], $block_size - 48 + 43, pack('C', $inner | 0x40)), 'lookup', 'check');

# Marks of dead entries, a bit each: of rows that are visible, and of an entry that is
# not there.
like({ results_with(with_bytes(1, $first{marks}, "\xff" x 8), 'rows') }->{rows},
	qr/^XX002 .*"a_fp" has marked the row/, 'marks of visible rows: check complains');
is_handled('a mark of no entry',
	with_bytes(1, $first{marks} + ($first{most} - 1 >> 3), pack('C', 1 << ($first{most} - 1 & 7))), 'check');

# Marks behind the last entry of each leaf do not hide what is inserted there.
my $marked = $sound;
foreach my $no (1 .. $pages - 1)
{
	my $page = page($sound, $no);
	next if unpack('C', substr($page, $block_size - 48 + 42, 1)) > 0;    # no leaf
	my %leaf = leaf_layout($page);
	foreach my $entry ($leaf{count} .. $leaf{most} - 1)
	{
		vec($marked, ($no * $block_size + $leaf{marks}) * 8 + $entry, 1) = 1;
	}
}
my %result = results_with($marked, qw(inserted check));
is($result{inserted}, '', 'marks of no entry: what is inserted is found');
like($result{check}, qr/^XX002 .*"a_fp" has a dead mark without an entry/, 'marks of no entry: check complains');

# A lost write of a page that was split: it is as it was before, sound in itself, and leads
# past the new page, which has a downlink still; or it is the root that it was.
{
	local $statement{check} = q{SELECT simhash_index_check('b_fp')};
	$node->start;
	$node->safe_psql('postgres', 'CREATE TABLE b (fp simhash); CREATE INDEX b_fp ON b USING simhash (fp)');
	my $file_of_a = $file;
	$file = $node->data_dir . '/' . $node->safe_psql('postgres', "SELECT pg_relation_filepath('b_fp')");
	my @images = map {
		$node->safe_psql('postgres', "INSERT INTO b SELECT random_bits() FROM generate_series(1, $_)");
		$node->stop;
		my $image = slurp_file($file);
		$node->start;
		$image;
	} 300, 20000, 5000;
	$node->stop;
	my @problems = ('has a root below its root at', 'has a page that does not end at the next downlink, at');
	foreach my $time (0, 1)
	{
		my ($before, $after) = @images[ $time, $time + 1 ];
		# leaves whose right link has changed
		my @split = grep {
			unpack('C', substr(page($before, $_), $block_size - 6, 1)) == 0
			  && substr(page($before, $_), $block_size - 20, 4) ne substr(page($after, $_), $block_size - 20, 4)
		} 1 .. length($before) / $block_size - 1;
		cmp_ok(scalar(@split), '>=', 4, 'pages were split');
		foreach my $no (@split[ 0, 1, -1 ])
		{
			my $image = $after;
			substr($image, $no * $block_size, $block_size) = page($before, $no);
			like({ results_with($image, 'check') }->{check}, qr/^XX002 index "b_fp" $problems[$time] block $no$/,
				'a page as it was before its split: check complains');
		}
		is({ results_with($after, 'check') }->{check}, '', 'without it, the index is sound');
	}
	$file = $file_of_a;
}

# Of fewer than 64 bits, a stored fingerprint ends with zeros.
{
	local $statement{check} = q{SELECT simhash_index_check('c_fp')};
	$node->start;
	$node->safe_psql('postgres', q{
		CREATE TABLE c (fp simhash_bits(48));
		INSERT INTO c SELECT substr(decode(md5(i::text), 'hex'), 1, 6)::simhash_bits FROM generate_series(1, 100) i;
		CREATE INDEX c_fp ON c USING simhash (fp)});
	my $file_of_a = $file;
	$file = $node->data_dir . '/' . $node->safe_psql('postgres', "SELECT pg_relation_filepath('c_fp')");
	$node->stop;
	my $image = slurp_file($file);
	is({ results_with($image, 'check') }->{check}, '', 'an index of 48 bits is sound');
	substr($image, $block_size + 24, 1) = "\1";
	like({ results_with($image, 'check') }->{check},
		qr/^XX002 index "c_fp" has a fingerprint of too many bits at block 1$/, 'bits beyond the 48: check complains');
	$file = $file_of_a;
}

# a file cut short
is_handled('half a file', substr($sound, 0, int($pages / 2) * $block_size));

# REINDEX repairs
results_with(with_bytes(0, 24, "\x00\x01\x02\x03"));
$node->start;
$node->safe_psql('postgres', 'REINDEX INDEX a_fp; INSERT INTO radii VALUES (0), (3), (64)');
is_sound($node, 'after REINDEX', 'a_fp');
is_exact($node, 'after REINDEX', 'a', 'a_fp');
$node->stop;
unlike(slurp_file($node->logfile), qr/terminated by signal|TRAP:|PANIC/, 'no crash');
done_testing();
