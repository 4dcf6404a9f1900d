# Leaves store no more bytes than their entries need.  Here rows are so far behind in
# the table that they need more: the file of the table is extended by pages of zeros,
# which take no disk space, up to 2^15, 2^23 and 2^31 blocks.  Leaves get wider, are
# split, get narrower, under several sessions and through a crash.

use lib 'test/t';
use SimhashTest;

my $block_size = 8192;
my $segment = 131072;    # blocks of a file

my $node = make_node('widths');
$node->append_conf('postgresql.conf', "autovacuum = off\n");
$node->start;
load_helpers($node);
load_pages($node);
# The rows are in a second table as well, since the first cannot be read as a whole
# when it has billions of pages.
$node->safe_psql('postgres', q{
	CREATE TABLE t (id bigint GENERATED ALWAYS AS IDENTITY, fp simhash);
	CREATE TABLE rows (id bigint, fp simhash);
	CREATE TABLE queries AS SELECT row_number() OVER () AS id, fp::simhash FROM make_fingerprints(40, 0.5) fp;
	CREATE FUNCTION add_rows(n int) RETURNS void LANGUAGE sql AS $$
		WITH added AS (INSERT INTO t (fp) SELECT make_fingerprints(n, random()) RETURNING id, fp)
		INSERT INTO rows SELECT * FROM added $$;
	-- rows that lookups by the index and those by brute force do not both find
	CREATE FUNCTION differences(radius int) RETURNS bigint LANGUAGE plpgsql AS $$
	DECLARE result bigint; BEGIN
		SET LOCAL enable_seqscan = off;
		CREATE TEMP TABLE by_index ON COMMIT DROP AS
			SELECT q.id AS query, t.id FROM queries q CROSS JOIN LATERAL
				(SELECT id FROM t WHERE t.fp <~> q.fp <= radius OFFSET 0) t;
		SET LOCAL enable_seqscan = on;
		SELECT count(*) INTO result FROM by_index i FULL JOIN (SELECT q.id AS query, r.id
			FROM queries q JOIN rows r ON bit_count((q.fp::bigint # r.fp::bigint)::bit(64)) <= radius) b USING (query, id)
			WHERE i.id IS NULL OR b.id IS NULL;
		RETURN result; END $$;
	SELECT add_rows(20000);
	INSERT INTO queries SELECT 1000 + id, fp FROM rows WHERE id % 500 = 0;
	CREATE INDEX t_fp ON t USING simhash (fp);
	ANALYZE t;
});
my $heap = $node->data_dir . '/' . $node->safe_psql('postgres', q{SELECT pg_relation_filepath('t')});

# how many leaves store rows in how many bytes
sub widths
{
	return $node->safe_psql('postgres', qq{
		SELECT string_agg(format('%s', row_width), ' ' ORDER BY row_width) FROM (SELECT DISTINCT row_width
		FROM generate_series(1, pg_relation_size('t_fp') / $block_size - 1) block,
			page_info('t_fp', block) WHERE page_type = 'leaf' AND table_no IS NOT NULL) w});
}

sub extend_to
{
	my ($blocks) = @_;
	$node->stop;
	for (my $first = 0; $first < $blocks; $first += $segment)
	{
		my $file = $heap . ($first > 0 ? '.' . $first / $segment : '');
		my $here = $blocks - $first < $segment ? $blocks - $first : $segment;
		open(my $out, '>>:raw', $file) or die "$file: $!";
		truncate $out, $here * $block_size or die "$file: $!";
		close $out;
	}
	$node->start;
}

# What lookups find, and the structure of the index; there are at least entries for all
# rows, and after a crash some for those of transactions that it ended.
sub is_right
{
	my ($what) = @_;
	is($node->safe_psql('postgres', "SELECT differences($_)"), '0', "$what: the same rows within $_ bits") foreach 0, 3, 8;
	is($node->safe_psql('postgres', q{SELECT simhash_index_check('t_fp')}), '', "$what: the index is sound");
	is( $node->safe_psql('postgres', q{
			SELECT sum(entries) >= (SELECT count(*) FROM rows) FROM simhash_index_info('t_fp') WHERE table_no = 0}),
		't', "$what: an entry for each row");
	return;
}

is(widths(), '3', 'a small table needs three bytes for a row');
is_right('small');

my $bytes = 3;
foreach my $bits (15, 23, 31)
{
	my $what = "2^$bits blocks";
	extend_to(2**$bits - 2);
	if ($bits == 15)
	{
		$node->safe_psql('postgres', 'SELECT add_rows(100)');
		like(widths(), qr/^3( 4)?$/, 'in the last pages before that leaves are split at most');
	}
	$node->safe_psql('postgres', 'SELECT add_rows(1000)');
	$bytes++;
	like(widths(), qr/\b$bytes$/, "$what: rows of $bytes bytes");
	is_right($what);

	# several sessions, and a crash among them
	my $script = $node->basedir . '/add.sql';
	append_to_file($script, 'SELECT add_rows(20);') if !-e $script;
	my @pgbench = ('pgbench', '-n', '-f', $script, '-c', '4', '-j', '1');
	$node->command_ok([ @pgbench, '-t', '25', 'postgres' ], "$what: four sessions insert");
	is_right("$what, several sessions");
	my $before = $node->safe_psql('postgres', 'SELECT count(*) FROM rows');
	my $bench = IPC::Run::start([ @pgbench, '-h', $node->host, '-p', $node->port, '-T', '600', 'postgres' ],
		'<', \undef, '>', \my $out, '2>', \my $err);
	$node->poll_query_until('postgres', "SELECT count(*) > $before + 400 FROM rows") or die;
	$node->stop('immediate');
	$bench->finish;
	$node->start;
	$node->safe_psql('postgres', 'SELECT add_rows(200)');
	is_right("$what, after a crash");
}

# An index that was built before has room for the wider rows: few leaves are split.
$node->safe_psql('postgres', q{CREATE TABLE built (fp simhash)});
$heap = $node->data_dir . '/' . $node->safe_psql('postgres', q{SELECT pg_relation_filepath('built')});
extend_to(2**14 + 1);
$node->safe_psql('postgres', 'INSERT INTO built SELECT make_fingerprints(20000, 0.7);
	CREATE INDEX built_fp ON built USING simhash (fp)');
my $leaves = q{SELECT sum(leaf_pages) FROM simhash_index_info('built_fp')};
my $built = $node->safe_psql('postgres', $leaves);
extend_to(2**15 + 1);
$node->safe_psql('postgres', 'INSERT INTO built SELECT make_fingerprints(100, 0.8)');
cmp_ok($node->safe_psql('postgres', $leaves), '<', 1.3 * $built, 'wider rows: leaves are not split all over');
is_sound($node, 'wider rows', 'built_fp');

# A table that shrinks: without the rows behind 2^15 blocks three bytes are enough again.
$node->safe_psql('postgres', 'DROP TABLE t; CREATE TABLE t (id bigint, fp simhash); INSERT INTO t SELECT * FROM rows LIMIT 20000;
	TRUNCATE rows; INSERT INTO rows SELECT * FROM t; CREATE INDEX t_fp ON t USING simhash (fp)');
$heap = $node->data_dir . '/' . $node->safe_psql('postgres', q{SELECT pg_relation_filepath('t')});
extend_to(2**15);
$node->safe_psql('postgres', q{
	INSERT INTO t SELECT i, fp FROM (SELECT fp, 1000000 + row_number() OVER () AS i FROM make_fingerprints(3000, 0.9) fp) f});
is(widths(), '4', 'rows that will be deleted');
$node->safe_psql('postgres', 'DELETE FROM t WHERE id > 1000000');
$node->safe_psql('postgres', 'VACUUM (INDEX_CLEANUP ON) t');
is(widths(), '3', 'without them: three bytes');
is_right('after VACUUM');

unlike(slurp_file($node->logfile), qr/terminated by signal|TRAP:|PANIC/, 'no crash but those');
done_testing();
